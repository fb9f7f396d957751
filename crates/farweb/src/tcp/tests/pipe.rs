//! Two endpoints on a pipe with a fixed delay each way, and the fate of each segment in it.
//!
//! The fuzz targets take this file as it is, so it names nothing beside itself but `tcp` and `units`.

use std::collections::BTreeMap;

use crate::tcp::{
    CloseReason, Codepoint, Config, Connection, Flags, HostClock, Notice, Output, Segment, reset_for,
};
use crate::units::{Duration, Instant};

/// One of the two ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// Opens the connection.
    Client,
    /// Accepts it.
    Server,
}

/// Event in the pipe or at an end.
#[derive(Debug, Clone, Copy)]
enum Event {
    Arrival(End, Segment),
    Timer(End),
    /// The application of an end reads and writes as far as it can.
    Application(End),
}

/// Treatment of a segment by the pipe: the extra delay of each copy that arrives. A late one has met a queue, and is marked if it
/// is ECT.
pub(crate) type Fate = Vec<Duration>;

/// Application: writes, reads as it can, and closes.
#[derive(Debug, Clone)]
pub(crate) struct Application {
    /// Bytes still to be written, in pieces.
    pub(crate) writes: Vec<u64>,
    /// Largest read, and the pause before the next.
    pub(crate) read_max: u64,
    pub(crate) read_pause: Duration,
    /// True when the writing waits for the peer's stream to end.
    pub(crate) answers: bool,
    /// Bytes read.
    pub(crate) received: u64,
    pub(crate) reason: Option<CloseReason>,
    pending: bool,
    connected: bool,
    ended: bool,
    finished: bool,
}

/// A segment as an end sent it, with the time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sent {
    pub(crate) at: Instant,
    pub(crate) from: End,
    pub(crate) segment: Segment,
    /// Its congestion window before the call that sent this.
    pub(crate) cwnd_before: u64,
}

/// The pipe, its ends and their applications.
pub(crate) struct Pipe<F> {
    /// Events to come, by time and then in order of scheduling.
    events: BTreeMap<(Instant, u64), Event>,
    scheduled: u64,
    delay: Duration,
    fate: F,
    configs: [(Config, HostClock); 2],
    pub(crate) ends: [Option<Connection>; 2],
    pub(crate) applications: [Application; 2],
    pub(crate) sent: Vec<Sent>,
    timers: [Option<Instant>; 2],
    /// Congestion windows after the last call.
    cwnds: [u64; 2],
}

impl Application {
    pub(crate) const fn new(writes: Vec<u64>) -> Self {
        Self {
            writes,
            read_max: u64::MAX,
            read_pause: Duration::ZERO,
            answers: false,
            received: 0,
            reason: None,
            pending: false,
            connected: false,
            ended: false,
            finished: false,
        }
    }

    /// An application that writes when the peer's stream has ended.
    pub(crate) fn answering(writes: Vec<u64>) -> Self {
        Self { answers: true, ..Self::new(writes) }
    }
}

impl End {
    const fn other(self) -> Self {
        match self {
            Self::Client => Self::Server,
            Self::Server => Self::Client,
        }
    }
}

impl<F: FnMut(&Sent, Option<&Connection>) -> Fate> Pipe<F> {
    pub(crate) fn new(
        delay: Duration,
        configs: [(Config, HostClock); 2],
        applications: [Application; 2],
        fate: F,
    ) -> Self {
        let ends = [None, None];
        Self {
            events: BTreeMap::new(),
            scheduled: 0,
            delay,
            fate,
            configs,
            ends,
            applications,
            sent: Vec::new(),
            timers: [None; 2],
            cwnds: [0; 2],
        }
    }

    pub(crate) const fn end(&self, end: End) -> &Connection {
        self.ends[end as usize].as_ref().expect("the end exists")
    }

    /// Runs until nothing is pending, calling `inspect` after every event of an end.
    pub(crate) fn run(&mut self, mut inspect: impl FnMut(&Connection)) {
        let (config, host) = &self.configs[End::Client as usize];
        let mut out = Output::default();
        self.ends[End::Client as usize] = Some(Connection::connect(Instant::ZERO, config, *host, &mut out));
        self.settle(End::Client, Instant::ZERO, out);
        while let Some(((now, _), event)) = self.events.pop_first() {
            assert!(now < Instant::ZERO + Duration::from_secs(1_000_000), "the transfer never ends");
            let mut out = Output::default();
            let end = match event {
                Event::Arrival(end, segment) => {
                    self.arrive(end, now, &segment, &mut out);
                    end
                }
                Event::Timer(end) => {
                    if self.timers[end as usize] != Some(now) {
                        continue;
                    }
                    self.timers[end as usize] = None;
                    self.connection(end).on_timeout(now, &mut out);
                    end
                }
                Event::Application(end) => {
                    self.applications[end as usize].pending = false;
                    self.act(end, now, &mut out);
                    end
                }
            };
            self.settle(end, now, out);
            if let Some(connection) = &self.ends[end as usize] {
                inspect(connection);
            }
        }
    }

    fn schedule(&mut self, at: Instant, event: Event) {
        self.events.insert((at, self.scheduled), event);
        self.scheduled += 1;
    }

    const fn connection(&mut self, end: End) -> &mut Connection {
        self.ends[end as usize].as_mut().expect("the end exists")
    }

    fn arrive(&mut self, end: End, now: Instant, segment: &Segment, out: &mut Output) {
        match &mut self.ends[end as usize] {
            Some(connection) => connection.on_segment(now, segment, out),
            None if segment.flags.without(Flags::ECE | Flags::CWR) == Flags::SYN => {
                let (config, host) = &self.configs[end as usize];
                self.ends[end as usize] = Some(Connection::accept(now, config, *host, segment, out));
            }
            None => out.segments.extend(reset_for(&segment.plain()).map(|reset| reset.segment())),
        }
    }

    /// Puts segments into the pipe, lets the application know, and schedules the next timer.
    fn settle(&mut self, end: End, now: Instant, out: Output) {
        for segment in out.segments {
            let sent = Sent { at: now, from: end, segment, cwnd_before: self.cwnds[end as usize] };
            self.sent.push(sent);
            for extra in (self.fate)(&sent, self.ends[end as usize].as_ref()) {
                let is_marked = extra > Duration::ZERO && segment.ecn != Codepoint::NotEct;
                let ecn = if is_marked { Codepoint::Ce } else { segment.ecn };
                let arrival = Event::Arrival(end.other(), Segment { ecn, ..segment });
                self.schedule(now + self.delay + extra, arrival);
            }
        }
        self.cwnds[end as usize] = self.ends[end as usize].as_ref().map_or(0, Connection::cwnd);
        let application = &mut self.applications[end as usize];
        let mut news = false;
        for notice in out.notices {
            match notice {
                Notice::Connected => application.connected = true,
                Notice::EndOfStream => application.ended = true,
                Notice::Closed(reason) => {
                    assert_eq!(application.reason.replace(reason), None, "closed twice");
                }
                Notice::Readable | Notice::Writable => {}
            }
            news = true;
        }
        if news && !application.pending {
            // A fast application acts before the next segment of a burst arrives.
            if application.read_pause == Duration::ZERO {
                let mut out = Output::default();
                self.act(end, now, &mut out);
                return self.settle(end, now, out);
            }
            application.pending = true;
            self.schedule(now, Event::Application(end));
        }
        let due = self.ends[end as usize].as_ref().and_then(Connection::next_timeout);
        if due != self.timers[end as usize] {
            self.timers[end as usize] = due;
            if let Some(due) = due {
                self.schedule(due, Event::Timer(end));
            }
        }
    }

    /// Reads, writes and closes as far as the application can now.
    fn act(&mut self, end: End, now: Instant, out: &mut Output) {
        let mut application = self.applications[end as usize].clone();
        let connection = self.connection(end);
        application.received += connection.read(now, application.read_max, out);
        let may_write = application.connected && (!application.answers || application.ended);
        while may_write && let Some(bytes) = application.writes.first_mut() {
            let accepted = connection.write(now, *bytes, out);
            *bytes -= accepted;
            if *bytes > 0 {
                break;
            }
            application.writes.remove(0);
        }
        if may_write && application.writes.is_empty() && !application.finished {
            application.finished = true;
            connection.shutdown_write(now, out);
        }
        let more = connection.readable() > 0 && !application.pending;
        if more {
            application.pending = true;
            self.schedule(now + application.read_pause, Event::Application(end));
        }
        self.applications[end as usize] = application;
    }
}
