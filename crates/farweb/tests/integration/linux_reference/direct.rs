//! Cells by two endpoints, two directions of a link, and their applications, without a world between.
//!
//! For several requests on one connection, which no carrier has yet, and for cells that depend on one clock for both hosts:
//! the hosts of the reference were namespaces of one kernel, but a world gives every host a clock of its own.

use farweb::net::{
    CountedOver, DropTail, Enqueued, Link, LinkConfig, Loss, Packet, PacketKind, QueueConfig, QueueCounts,
    QueueLimit, Timeline,
};
use farweb::rng::RandomStreams;
use farweb::tcp::{Config, Connection, Flags, HostClock, Notice, Output, ProfileName, Random, Segment};
use farweb::units::{BitRate, Duration, Instant};

use super::cells::Cell;
use super::stacks::stack;

const REQUEST_BYTES: u64 = 300;

/// A segment on the wire.
#[derive(Clone)]
struct Wire(Segment);

impl Packet for Wire {
    fn bytes(&self) -> u32 {
        self.0.packet_bytes()
    }

    fn flow(&self) -> u64 {
        0
    }

    fn kind(&self) -> PacketKind {
        let has = |flags| self.0.flags.contains(flags);
        match self.0.len {
            _ if has(Flags::RST) => PacketKind::Reset,
            _ if has(Flags::SYN | Flags::ACK) => PacketKind::SynAck,
            _ if has(Flags::SYN) => PacketKind::Syn,
            0 if has(Flags::FIN) => PacketKind::Fin,
            0 => PacketKind::Ack,
            _ => PacketKind::Data,
        }
    }
}

/// One direction of the link, and when its head arrives.
struct Direction {
    link: Link<Wire>,
    head: Option<Instant>,
}

impl Direction {
    fn new(cell: &Cell, delay_ms: u64, name: &str) -> Self {
        let drop = cell.drops(name).iter().map(|drop| drop.parse().expect("packets")).collect();
        let limit = QueueLimit::Packets(cell.queue_packets);
        let config = LinkConfig {
            rate: BitRate::from_bps(cell.rate_bps),
            delay: Duration::from_millis(delay_ms),
            queue: QueueConfig::DropTail(DropTail { limit, counts: QueueCounts::All }),
            loss: Loss::List { drop, mark: vec![], of: CountedOver::default() },
            timeline: Timeline::default(),
        };
        Self { link: Link::new(&config, |purpose| RandomStreams::new(0).stream(purpose, 0)), head: None }
    }

    fn send(&mut self, now: Instant, segment: Segment) {
        if let Enqueued::Queued { event: Some(head) } = self.link.enqueue(now, &Wire(segment)) {
            self.head = Some(head);
        }
    }

    /// Handles arrivals at `now`.
    fn arrived(&mut self, now: Instant) -> Option<Segment> {
        if self.head != Some(now) {
            return None;
        }
        let (arrived, next) = self.link.on_event(now);
        self.head = next;
        Some(arrived.0)
    }
}

struct Scene<'a> {
    cell: &'a Cell,
    config: Config,
    now: Instant,
    clock: HostClock,
    client: Connection,
    server: Option<Connection>,
    up: Direction,
    down: Direction,
    /// When the next request is written.
    next_request: Option<Instant>,
    asked_at: Instant,
    received: u64,
    /// Bytes of the response that the server has still to write.
    unwritten: u64,
    /// Times of the requests, in ms.
    took: Vec<f64>,
}

/// Time of the cell's request in ms, and segments that were sent again.
pub(super) fn transfer(cell: &Cell, seed: u64) -> (f64, i64) {
    // Ticks that lie anywhere: times of no common measure with the ticks of 4 ms and the wheel's 32 ms.
    let clock = HostClock { uptime: Duration::from_micros(1_003_019 * seed), ..HostClock::default() };
    let config = config(cell);
    let mut out = Output::default();
    let client = Connection::connect(Instant::ZERO, &config, clock, &mut out);
    let mut scene = Scene {
        cell,
        config,
        now: Instant::ZERO,
        clock,
        client,
        server: None,
        up: Direction::new(cell, cell.delay_up_ms, "ab"),
        down: Direction::new(cell, cell.delay_down_ms, "ba"),
        next_request: None,
        asked_at: Instant::ZERO,
        received: 0,
        unwritten: 0,
        took: Vec::new(),
    };
    scene.on_client_output(out);
    while scene.took.len() < cell.requests {
        scene.step();
    }
    let server = scene.server.expect("a request was answered");
    (scene.took[cell.request], (scene.client.retransmits() + server.retransmits()) as i64)
}

fn config(cell: &Cell) -> Config {
    let stack = stack(&cell.stack);
    let name: ProfileName = serde_json::from_str(&format!("\"{}\"", stack.profile)).expect("a profile");
    let profile = name.profile().with(&stack.overrides(cell)).expect("constants of the profile");
    Config {
        profile,
        mss: stack.mss,
        send_buffer: None,
        receive_buffer: stack.buffer,
        random: Random::default(),
    }
}

impl Scene<'_> {
    fn step(&mut self) {
        let server_timeout = self.server.as_ref().and_then(Connection::next_timeout);
        let next =
            [self.up.head, self.down.head, self.client.next_timeout(), server_timeout, self.next_request];
        self.now = next.into_iter().flatten().min().expect("something happens").max(self.now);
        let mut out = Output::default();
        if let Some(segment) = self.up.arrived(self.now) {
            match &mut self.server {
                Some(server) => server.on_segment(self.now, &segment, &mut out),
                None => {
                    let server = Connection::accept(self.now, &self.config, self.clock, &segment, &mut out);
                    self.server = Some(server);
                }
            }
            self.on_server_output(out);
        } else if let Some(segment) = self.down.arrived(self.now) {
            self.client.on_segment(self.now, &segment, &mut out);
            self.on_client_output(out);
        } else if self.next_request.is_some_and(|at| at <= self.now) {
            self.next_request = None;
            self.ask();
        } else if self.client.next_timeout().is_some_and(|at| at <= self.now) {
            self.client.on_timeout(self.now, &mut out);
            self.on_client_output(out);
        } else if let Some(server) = &mut self.server {
            server.on_timeout(self.now, &mut out);
            self.on_server_output(out);
        }
    }

    fn ask(&mut self) {
        let mut out = Output::default();
        if !self.took.is_empty() {
            self.asked_at = self.now;
        }
        self.client.write(self.now, REQUEST_BYTES, &mut out);
        self.on_client_output(out);
    }

    fn on_client_output(&mut self, mut out: Output) {
        out.segments.drain(..).for_each(|segment| self.up.send(self.now, segment));
        for notice in out.notices {
            match notice {
                Notice::Connected => self.ask(),
                Notice::Readable => self.read_response(),
                _ => {}
            }
        }
    }

    fn read_response(&mut self) {
        let mut out = Output::default();
        self.received += self.client.read(self.now, u64::MAX, &mut out);
        self.on_client_output(out);
        if self.received == self.cell.size {
            self.received = 0;
            self.took.push((self.now - self.asked_at).as_nanos() as f64 / 1e6);
            let gap = Duration::from_secs_f64(self.cell.gap_s).expect("a gap");
            self.next_request = Some(self.now + gap);
        }
    }

    fn on_server_output(&mut self, mut out: Output) {
        out.segments.drain(..).for_each(|segment| self.down.send(self.now, segment));
        for notice in out.notices {
            match notice {
                Notice::Readable => self.read_request(),
                Notice::Writable => self.write_response(),
                _ => {}
            }
        }
    }

    fn read_request(&mut self) {
        let mut out = Output::default();
        let server = self.server.as_mut().expect("the server has read");
        // A request is one segment.
        if server.read(self.now, u64::MAX, &mut out) == REQUEST_BYTES {
            self.unwritten += self.cell.size;
        }
        self.on_server_output(out);
        self.write_response();
    }

    fn write_response(&mut self) {
        let mut out = Output::default();
        let server = self.server.as_mut().expect("the server writes");
        self.unwritten -= server.write(self.now, self.unwritten, &mut out);
        self.on_server_output(out);
    }
}
