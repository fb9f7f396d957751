//! ns-2's agents on links with ns-2's clock, order of events and random numbers: every transfer, with losses too.
//!
//! A world orders events of the same nanosecond by when they were entered, enters one event for the head of a link, and
//! draws the phases of agents' clocks itself. ns-2 keeps time in floating point, and a rounding error may put either of two
//! simultaneous events first. It enters the arrival of a packet when its transmission begins, and draws phases from its own
//! generator. With these three as in ns-2, and the agents of a world, all transfers agree. So the agents equal ns-2's, and a
//! world differs from ns-2 in these three points only.

use std::collections::{BTreeMap, VecDeque};

use farweb::rng::RandomStreams;
use farweb::tcp::ns2::{Profile, Sender, Sink};
use farweb::tcp::{Notice, Output, Segment};
use farweb::units::{Duration, Instant};
use farweb::workload::{Directory, Request, RequestSource};

use crate::ns2::{Transfer, Workload, differences, ns2_results};

const RENO: Profile = Profile::ns2_reno();

/// Nodes in the order of the path.
const NODES: [&str; 4] = ["clients", "child", "parent", "server"];

/// Delays of the links between them, in s.
const DELAYS: [f64; 3] = [0.001, 0.005, 0.03];

/// Rate of each link, in bit/s.
const RATE: f64 = 10e6;

/// Of each queue: a packet is dropped that would be the 100th to wait.
const QUEUE_LIMIT: usize = 100;

#[derive(Debug, Clone, Copy)]
struct Packet {
    transfer: usize,
    segment: Segment,
    down: bool,
}

#[derive(Debug, Clone, Copy)]
enum Event {
    Start(usize),
    Arrival(usize, Packet),
    /// The transmitter of a link is free: link and direction.
    Free(usize, bool),
    Timer(usize),
}

/// One direction of a link.
#[derive(Debug, Default)]
struct Link {
    waiting: VecDeque<Packet>,
    is_busy: bool,
}

struct Agents {
    start: f64,
    node: usize,
    sender: Sender,
    sink: Sink,
    timer: Option<Instant>,
    delivered: f64,
    acked: Option<f64>,
}

/// The generator of ns-2 as it is when no seed is set (its Tcl command `all-seeds` prints the state): MRG32k3a (P. L'Ecuyer, "Good Parameters and Implementations for Combined
/// Multiple Recursive Random Number Generators", Operations Research 47(1), 1999), numbers from 0 to 1.
struct Mrg32k3a {
    first: [u64; 3],
    second: [u64; 3],
}

struct Study {
    /// By time, then in order of entry. The bits of a positive `f64` sort as the number does.
    events: BTreeMap<(u64, u64), Event>,
    entered: u64,
    /// Up and down by link.
    links: [[Link; 2]; 3],
    requests: Vec<Request>,
    directory: Directory,
    transfers: Vec<Agents>,
    phases: Mrg32k3a,
    output: Output,
}

impl Mrg32k3a {
    const fn new() -> Self {
        Self { first: [1, 1, 1], second: [1, 1, 1] }
    }

    fn uniform(&mut self) -> f64 {
        const M1: u64 = 4_294_967_087;
        const M2: u64 = 4_294_944_443;
        let [x, y, z] = self.first;
        let first = (1_403_580 * y + (M1 - 810_728) * x % M1) % M1;
        self.first = [y, z, first];
        let [x, y, z] = self.second;
        let second = (527_612 * z + (M2 - 1_370_589) * x % M2) % M2;
        self.second = [y, z, second];
        let number = if first > second { first - second } else { first + M1 - second };
        // ns-2 makes a whole number below 2^31 of it first.
        let whole = number as f64 / (M1 + 1) as f64 * f64::from(1_u32 << 31);
        whole.floor() / f64::from(i32::MAX)
    }
}

/// The instant that an agent gets.
fn instant(seconds: f64) -> Instant {
    Instant::ZERO + Duration::from_secs_f64(seconds).expect("a time of the run")
}

fn nanos(seconds: f64) -> u64 {
    Duration::from_secs_f64(seconds).expect("a latency").as_nanos()
}

impl Study {
    fn new(rate: u64, case: &'static str) -> Self {
        let mut directory = Directory::default();
        let mut workload = Workload::new(rate, case);
        let requests =
            std::iter::from_fn(|| workload.next_request(&mut directory).expect("rows of requests")).collect();
        let mut study = Self {
            events: BTreeMap::new(),
            entered: 0,
            links: Default::default(),
            requests,
            directory,
            transfers: Vec::new(),
            phases: Mrg32k3a::new(),
            output: Output::default(),
        };
        for number in 0..study.requests.len() {
            study.enter(study.requests[number].start.as_secs_f64(), Event::Start(number));
        }
        study
    }

    fn enter(&mut self, at: f64, event: Event) {
        self.events.insert((at.to_bits(), self.entered), event);
        self.entered += 1;
    }

    fn run(mut self) -> Vec<Transfer> {
        while let Some(((bits, _), event)) = self.events.pop_first() {
            let now = f64::from_bits(bits);
            match event {
                Event::Start(number) => self.start(now, number),
                Event::Arrival(link, packet) => self.arrive(now, link, packet),
                Event::Free(link, down) => {
                    self.links[link][usize::from(down)].is_busy = false;
                    self.transmit(now, link, down);
                }
                Event::Timer(transfer) => self.on_timer(now, transfer),
            }
        }
        let transfer = |agents: &Agents| Transfer {
            delivered: nanos(agents.delivered - agents.start),
            acked: nanos(agents.acked.expect("every transfer ends") - agents.start),
            retransmits: agents.sender.retransmits(),
        };
        self.transfers.iter().map(transfer).collect()
    }

    fn start(&mut self, now: f64, number: usize) {
        let request = self.requests[number];
        let word = &*self.directory.sources.words()[request.source.expect("the column is there")];
        let node = NODES.iter().position(|node| *node == word).expect("a node");
        let phase = self.phases.uniform() * RENO.tick.as_secs_f64();
        let phase = Duration::from_secs_f64(phase).expect("a span");
        let mut sender = Sender::new(&RENO, phase, RandomStreams::new(0).stream("not asked", 0));
        sender.write(instant(now), request.response_bytes, &mut self.output);
        let sink = Sink::new(&RENO);
        self.transfers.push(Agents {
            start: now,
            node,
            sender,
            sink,
            timer: None,
            delivered: now,
            acked: None,
        });
        self.settle(now, number);
    }

    fn arrive(&mut self, now: f64, link: usize, packet: Packet) {
        let agents = &mut self.transfers[packet.transfer];
        if packet.down && link > 0 {
            self.enqueue(now, link - 1, packet);
        } else if !packet.down && link + 1 < agents.node {
            self.enqueue(now, link + 1, packet);
        } else if packet.down {
            agents.sink.on_segment(instant(now), &packet.segment, &mut self.output);
            if self.output.notices.contains(&Notice::Readable) {
                agents.delivered = now;
            }
            self.output.notices.clear();
            for ack in std::mem::take(&mut self.output.segments) {
                self.enqueue(now, 0, Packet { segment: ack, down: false, ..packet });
            }
        } else if agents.acked.is_none() {
            agents.sender.on_segment(instant(now), &packet.segment, &mut self.output);
            self.settle(now, packet.transfer);
        }
    }

    fn on_timer(&mut self, now: f64, transfer: usize) {
        let agents = &mut self.transfers[transfer];
        if agents.acked.is_none() && agents.timer == Some(instant(now)) {
            agents.timer = None;
            agents.sender.on_timeout(instant(now), &mut self.output);
            self.settle(now, transfer);
        }
    }

    /// Sends what the sender has let out, and sets its timer.
    fn settle(&mut self, now: f64, transfer: usize) {
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
            self.enter(at.as_secs_f64(), Event::Timer(transfer));
        }
    }

    fn enqueue(&mut self, now: f64, link: usize, packet: Packet) {
        let Link { waiting, is_busy } = &mut self.links[link][usize::from(packet.down)];
        if waiting.len() + 1 >= QUEUE_LIMIT {
            return;
        }
        waiting.push_back(packet);
        if !*is_busy {
            self.transmit(now, link, packet.down);
        }
    }

    fn transmit(&mut self, now: f64, link: usize, down: bool) {
        let Link { waiting, is_busy } = &mut self.links[link][usize::from(down)];
        let Some(packet) = waiting.pop_front() else {
            return;
        };
        *is_busy = true;
        let on_wire = 8.0 * f64::from(RENO.packet_bytes(&packet.segment)) / RATE;
        self.enter(now + (on_wire + DELAYS[link]), Event::Arrival(link, packet));
        self.enter(now + on_wire, Event::Free(link, down));
    }
}

/// The first numbers of ns-2.35, as its Tcl command `uniform 0 0.1` prints them.
#[test]
fn the_generator_is_that_of_ns_2() {
    let mut generator = Mrg32k3a::new();
    for number in [3.395_769_746_692_744e-5, 0.055_588_071_586_372_37, 0.001_420_466_043_716_513_7] {
        assert!((generator.uniform() * 0.1 / number - 1.0).abs() < 1e-12);
    }
}

#[test]
fn every_transfer_goes_as_in_ns_2() {
    for (file, rate, case, with_losses) in [
        ("good-10.csv.gz", 10, "source", 0),
        ("average-40.csv.gz", 40, "source_average", 0),
        ("good-80.csv.gz", 80, "source", 37),
    ] {
        let (ours, theirs) = (Study::new(rate, case).run(), ns2_results(file));
        let lines = differences(&ours, &theirs);
        assert!(lines.is_empty(), "{file}: {} of 5000 transfers differ: {lines:#?}", lines.len());
        assert_eq!(ours.iter().filter(|transfer| transfer.retransmits > 0).count(), with_losses, "{file}");
    }
}
