//! Cells with several requests on one connection: two endpoints, two directions of a link, and their applications.

use std::collections::VecDeque;

use farweb::tcp::{Config, Connection, HostClock, Notice, Output, ProfileName, Segment};
use farweb::units::{BitRate, Bytes, Duration, Instant};

use super::cells::Cell;
use super::stacks::stack;

const REQUEST_BYTES: u64 = 300;

/// One direction of the link: drop-tail queues of these cells lose nothing.
struct Direction {
    rate: BitRate,
    delay: Duration,
    free: Instant,
    in_flight: VecDeque<(Instant, Segment)>,
}

impl Direction {
    fn new(cell: &Cell, delay_ms: u64) -> Self {
        let rate = BitRate::from_bps(cell.rate_bps).expect("a rate above zero");
        Self { rate, delay: Duration::from_millis(delay_ms), free: Instant::ZERO, in_flight: VecDeque::new() }
    }

    fn send(&mut self, now: Instant, segment: Segment) {
        let bytes = Bytes::new(u64::from(segment.packet_bytes()));
        self.free = self.free.max(now) + self.rate.time_to_send(bytes);
        self.in_flight.push_back((self.free + self.delay, segment));
    }

    fn next(&self) -> Option<Instant> {
        self.in_flight.front().map(|(at, _)| *at)
    }

    fn arrived(&mut self, now: Instant) -> Option<Segment> {
        self.in_flight.pop_front_if(|(at, _)| *at <= now).map(|(_, segment)| segment)
    }
}

struct Scene<'a> {
    cell: &'a Cell,
    config: Config,
    now: Instant,
    server_clock: HostClock,
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
    // Hosts whose ticks lie anywhere: seconds and microseconds of no common measure.
    let clock = |host: u64| HostClock {
        uptime: Duration::from_micros(1_000_003 * seed + 1_937 * host),
        ..HostClock::default()
    };
    let config = config(cell);
    let mut out = Output::default();
    let client = Connection::connect(Instant::ZERO, &config, clock(seed), &mut out);
    let mut scene = Scene {
        cell,
        config,
        now: Instant::ZERO,
        server_clock: clock(seed + 1),
        client,
        server: None,
        up: Direction::new(cell, cell.delay_up_ms),
        down: Direction::new(cell, cell.delay_down_ms),
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
    Config { profile, mss: stack.mss, send_buffer: None, receive_buffer: stack.buffer }
}

impl Scene<'_> {
    fn step(&mut self) {
        let server_timeout = self.server.as_ref().and_then(Connection::next_timeout);
        let next =
            [self.up.next(), self.down.next(), self.client.next_timeout(), server_timeout, self.next_request];
        self.now = next.into_iter().flatten().min().expect("something happens").max(self.now);
        let mut out = Output::default();
        if let Some(segment) = self.up.arrived(self.now) {
            match &mut self.server {
                Some(server) => server.on_segment(self.now, &segment, &mut out),
                None => {
                    let server =
                        Connection::accept(self.now, &self.config, self.server_clock, &segment, &mut out);
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
