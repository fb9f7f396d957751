//! ns-2's agents with ns-2's random numbers: transfers with losses, one by one.
//!
//! With losses a transfer depends on the phase of its agent's clock. A world draws phases of its own, so this file puts agents
//! on links itself and gives each the phase that ns-2 drew for it: the numbers of its generator, in the order in which
//! agents were made. Then not only means agree, but every loss, every fast retransmit and every timeout.

use std::collections::VecDeque;

use farweb::engine::EventQueue;
use farweb::rng::Streams;
use farweb::tcp::ns2::{Profile, Sender, Sink};
use farweb::tcp::{Notice, Output, Segment};
use farweb::units::{Duration, Instant};
use farweb::workload::{Directory, Request, RequestSource};

use crate::ns2::{Transfer, Workload, differences, ns2_results};

const RENO: Profile = Profile::ns2_reno();

/// Nodes in the order of the path.
const NODES: [&str; 4] = ["clients", "child", "parent", "server"];

/// Delays of the links between them, in ms.
const DELAYS: [u64; 3] = [1, 5, 30];

/// Of each queue: a packet is dropped that would be the 100th to wait.
const QUEUE_LIMIT: usize = 100;

/// Time of a byte at 10 Mbit/s, in ns.
const BYTE_NANOS: u64 = 800;

/// Transfers of good-80 for which ns-2 gives other values when all starts are moved by whole seconds, as in
/// [`TIES`](crate::ns2::TIES): ACKs and packets that meet in the same nanosecond.
const TIES: [(usize, u64, u64); 0] = [];

#[derive(Debug, Clone, Copy)]
struct Packet {
    transfer: usize,
    segment: Segment,
    down: bool,
}

#[derive(Debug, Clone, Copy)]
enum Event {
    Start,
    Arrival(usize, Packet),
    /// The transmitter of a link is free: link and direction.
    Free(usize, bool),
    Timer(usize),
}

/// One direction of a link as ns-2 drives it: an event when a packet's last bit has left, and one for its arrival that is
/// entered when its transmission begins.
#[derive(Debug, Default)]
struct Link {
    waiting: VecDeque<Packet>,
    is_busy: bool,
}

struct Agents {
    request: Request,
    node: usize,
    sender: Sender,
    sink: Sink,
    timer: Option<Instant>,
    delivered: Instant,
    acked: Option<Instant>,
}

/// The generator of ns-2 with its default seed: MRG32k3a (P. L'Ecuyer, "Good Parameters and Implementations for Combined
/// Multiple Recursive Random Number Generators", Operations Research 47(1), 1999), numbers in (0, 1).
struct Mrg32k3a {
    first: [u64; 3],
    second: [u64; 3],
}

impl Mrg32k3a {
    const fn new() -> Self {
        Self { first: [12_345; 3], second: [12_345; 3] }
    }

    fn uniform(&mut self) -> f64 {
        const M1: u64 = 4_294_967_087;
        const M2: u64 = 4_294_944_443;
        let [x, y, z] = self.first;
        let next = (1_403_580 * y + (M1 - 810_728 % M1) * x) % M1;
        self.first = [y, z, next];
        let [x, y, z] = self.second;
        let other = (527_612 * z + (M2 - 1_370_589 % M2) * x) % M2;
        self.second = [y, z, other];
        let number = if next > other { next - other } else { next + M1 - other };
        number as f64 / (M1 + 1) as f64
    }
}

struct Study {
    queue: EventQueue<Event>,
    /// Up and down by link.
    links: [[Link; 2]; 3],
    transfers: Vec<Agents>,
    source: Workload,
    directory: Directory,
    upcoming: Option<Request>,
    phases: Mrg32k3a,
    output: Output,
}

impl Study {
    fn new(rate: u64, case: &'static str) -> Self {
        let mut study = Self {
            queue: EventQueue::new(),
            links: Default::default(),
            transfers: Vec::new(),
            source: Workload::new(rate, case),
            directory: Directory::default(),
            upcoming: None,
            phases: Mrg32k3a::new(),
            output: Output::default(),
        };
        study.read();
        study
    }

    fn read(&mut self) {
        self.upcoming = self.source.next_request(&mut self.directory).expect("rows");
        if let Some(request) = self.upcoming {
            self.queue.push(request.start, Event::Start);
        }
    }

    fn run(mut self) -> Vec<Transfer> {
        while self.upcoming.is_some() || self.transfers.iter().rev().any(|agents| agents.acked.is_none()) {
            let (now, event) = self.queue.pop().expect("something is to happen");
            match event {
                Event::Start => self.start(now),
                Event::Arrival(link, packet) => self.arrive(now, link, packet),
                Event::Free(link, down) => {
                    self.links[link][usize::from(down)].is_busy = false;
                    self.transmit(now, link, down);
                }
                Event::Timer(transfer) => {
                    let agents = &mut self.transfers[transfer];
                    if agents.timer == Some(now) && agents.acked.is_none() {
                        agents.timer = None;
                        agents.sender.on_timeout(now, &mut self.output);
                        self.settle(now, transfer);
                    }
                }
            }
        }
        let transfer = |agents: &Agents| Transfer {
            delivered: (agents.delivered - agents.request.start).as_nanos(),
            acked: (agents.acked.expect("all are") - agents.request.start).as_nanos(),
            retransmits: agents.sender.retransmits(),
        };
        self.transfers.iter().map(transfer).collect()
    }

    fn start(&mut self, now: Instant) {
        let request = self.upcoming.expect("its event was pushed");
        let word = &*self.directory.sources.words()[request.source.expect("the column is there")];
        let node = NODES.iter().position(|node| *node == word).expect("a node");
        let phase = Duration::from_secs_f64(self.phases.uniform() * RENO.tick.as_secs_f64()).expect("a span");
        let random = Streams::new(0).stream("unused", 0);
        let mut sender = Sender::new(&RENO, phase, random);
        sender.write(now, request.response_bytes, &mut self.output);
        let sink = Sink::new(&RENO);
        self.transfers.push(Agents { request, node, sender, sink, timer: None, delivered: now, acked: None });
        self.settle(now, self.transfers.len() - 1);
        self.read();
    }

    fn arrive(&mut self, now: Instant, number: usize, packet: Packet) {
        let down = packet.down;
        let agents = &mut self.transfers[packet.transfer];
        if down && number > 0 {
            return self.enqueue(now, number - 1, packet);
        }
        if !down && number + 1 < agents.node {
            return self.enqueue(now, number + 1, packet);
        }
        if down {
            agents.sink.on_segment(now, &packet.segment, &mut self.output);
            if self.output.notices.contains(&Notice::Readable) {
                agents.delivered = now;
            }
            self.output.notices.clear();
            for ack in std::mem::take(&mut self.output.segments) {
                self.enqueue(now, 0, Packet { transfer: packet.transfer, segment: ack, down: false });
            }
        } else if agents.acked.is_none() {
            agents.sender.on_segment(now, &packet.segment, &mut self.output);
            self.settle(now, packet.transfer);
        }
    }

    /// Sends what the sender has let out, and sets its timer.
    fn settle(&mut self, now: Instant, transfer: usize) {
        let node = self.transfers[transfer].node;
        for segment in std::mem::take(&mut self.output.segments) {
            self.enqueue(now, node - 1, Packet { transfer, segment, down: true });
        }
        let agents = &mut self.transfers[transfer];
        if agents.sender.is_done() {
            agents.acked = Some(now);
        } else if let Some(at) = agents.sender.next_timeout()
            && agents.timer.is_none_or(|pending| at < pending)
        {
            agents.timer = Some(at);
            self.queue.push(at, Event::Timer(transfer));
        }
    }

    fn enqueue(&mut self, now: Instant, link: usize, packet: Packet) {
        let Link { waiting, is_busy } = &mut self.links[link][usize::from(packet.down)];
        if waiting.len() + 1 >= QUEUE_LIMIT {
            return;
        }
        waiting.push_back(packet);
        if !*is_busy {
            self.transmit(now, link, packet.down);
        }
    }

    fn transmit(&mut self, now: Instant, link: usize, down: bool) {
        let Link { waiting, is_busy } = &mut self.links[link][usize::from(down)];
        let Some(packet) = waiting.pop_front() else {
            return;
        };
        *is_busy = true;
        let free = now + Duration::from_nanos(u64::from(RENO.packet_bytes(&packet.segment)) * BYTE_NANOS);
        self.queue.push(free + Duration::from_millis(DELAYS[link]), Event::Arrival(link, packet));
        self.queue.push(free, Event::Free(link, down));
    }
}

/// The first numbers of ns-2.35, as its Tcl command `uniform 0 0.1` prints them.
#[test]
fn the_generator_is_that_of_ns_2() {
    let mut generator = Mrg32k3a::new();
    for number in [3.395_769_746_692_744_1e-5, 0.055_588_071_586_372_37, 0.001_420_466_043_716_513_7] {
        assert!((generator.uniform() * 0.1 - number).abs() < 1e-16);
    }
}

#[test]
fn every_transfer_with_losses_goes_as_in_ns_2() {
    let (ours, mut theirs) = (Study::new(80, "source").run(), ns2_results("good-80.csv.gz"));
    for (id, delivered, acked) in TIES {
        theirs[id].1 = Transfer { delivered, acked, retransmits: 0 };
    }
    let lines = differences(&ours, &theirs);
    assert!(lines.is_empty(), "{} of 5000 differ:\n{}", lines.len(), lines.join("\n"));
    assert_eq!(ours.iter().filter(|transfer| transfer.retransmits > 0).count(), 37);
}

#[test]
fn temporary() {
    for (file, rate, case) in [
        ("good-10.csv.gz", 10, "source"),
        ("average-40.csv.gz", 40, "source_average"),
        ("good-80.csv.gz", 80, "source"),
    ] {
        let (ours, theirs) = (Study::new(rate, case).run(), ns2_results(file));
        let lines = differences(&ours, &theirs);
        println!("STUDY {file} {} differ\n{}", lines.len(), lines.join("\n"));
        let (ours, theirs) = (crate::ns2::farweb(rate, case, 1), ns2_results(file));
        let lines = differences(&ours, &theirs);
        println!("WORLD {file} {} differ\n{}", lines.len(), lines.join("\n"));
    }
}
