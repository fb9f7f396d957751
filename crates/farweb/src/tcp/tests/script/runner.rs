//! Runs the lines of a script on one endpoint.

use std::collections::VecDeque;
use std::ops::RangeInclusive;

use super::peer::PeerClock;
use super::segment::{Line, written};
use crate::tcp::*;
use crate::units::{Duration, Instant};

/// Buffers of a `bsd44-lite` endpoint without the line `buffer`: 22 segments.
const BSD_BUFFER: Option<u64> = Some(32120);

/// A script in the middle of its run.
pub(super) struct Runner {
    host: HostClock,
    profile: ProfileName,
    config: Config,
    constants: serde_json::Map<String, serde_json::Value>,
    reads_at_once: bool,
    connection: Option<Connection>,
    now: Instant,
    sent: VecDeque<(Instant, Segment)>,
    notices: VecDeque<(Instant, Notice)>,
    /// Window of the segment that arrived last.
    window: u16,
    peer: Option<PeerClock>,
    place: String,
}

impl Runner {
    pub(super) fn new() -> Self {
        let name = ProfileName::Bsd44Lite;
        Self {
            host: HostClock::default(),
            profile: name,
            config: Config {
                profile: name.profile(),
                mss: 1460,
                send_buffer: BSD_BUFFER,
                receive_buffer: BSD_BUFFER,
                random: Random::default(),
            },
            constants: serde_json::Map::new(),
            reads_at_once: false,
            connection: None,
            now: Instant::ZERO,
            sent: VecDeque::new(),
            notices: VecDeque::new(),
            window: 32120,
            peer: None,
            place: String::new(),
        }
    }

    fn fail(&self, problem: &str) -> ! {
        panic!("{}\n  {:?} at {}: {problem}", self.place, self.profile, self.now)
    }

    /// Runs `code`, which stands at `place`.
    pub(super) fn run_line(&mut self, code: &str, place: String) {
        self.place = place;
        let words: Vec<&str> = code.split_whitespace().collect();
        let (times, words) = match words[0].starts_with(|first: char| first.is_ascii_digit()) {
            true => (self.times(&words[..2]), &words[2..]),
            false => (self.now..=self.now, &words[..]),
        };
        match words {
            [">", segment @ ..] => self.expect(times, segment),
            _ => {
                self.advance(*times.end());
                self.expect_silence();
                self.run_verb(words);
            }
        }
    }

    /// Nothing may be left over at the end of the script.
    pub(super) fn end(&mut self) {
        self.place = "end of script".to_owned();
        self.expect_silence();
    }

    fn run_verb(&mut self, words: &[&str]) {
        match words {
            ["host", "slow", slow, slow_unit, "fast", fast, fast_unit] => {
                let (slow_phase, fast_phase) = (self.span(&[slow, slow_unit]), self.span(&[fast, fast_unit]));
                self.host = HostClock { slow_phase, fast_phase, ..self.host };
            }
            ["host", "up", span @ ..] => self.host.uptime = self.span(span),
            ["profile", name] => self.choose(name),
            ["peer", "timestamps"] => self.peer = Some(PeerClock::default()),
            ["mss", mss] => self.config.mss = mss.parse().unwrap(),
            ["buffer", size] => {
                self.config.send_buffer = Some(size.parse().unwrap());
                self.config.receive_buffer = self.config.send_buffer;
            }
            ["set", constant, value @ ..] => self.set(constant, &value.join(" ")),
            ["reader", "fast"] => self.reads_at_once = true,
            ["connect"] => {
                let mut out = Output::default();
                self.connection = Some(Connection::connect(self.now, &self.config, self.host, &mut out));
                self.collect(out);
            }
            ["<", segment @ ..] => self.receive(segment),
            ["!", notice @ ..] => self.expect_notice(&notice.join(" ")),
            ["=", facts @ ..] => facts.join(" ").split(", ").for_each(|fact| self.check(fact)),
            ["silence"] => {}
            _ => self.command(words),
        }
    }

    fn choose(&mut self, name: &str) {
        self.profile =
            serde_json::from_value(name.into()).unwrap_or_else(|_| self.fail("there is no such profile"));
        self.config.profile = self.profile.profile();
        if self.profile != ProfileName::Bsd44Lite {
            (self.config.send_buffer, self.config.receive_buffer) = (None, None);
        }
    }

    fn set(&mut self, constant: &str, value: &str) {
        let value = serde_json::from_str(value).unwrap_or_else(|_| value.into());
        self.constants.insert(constant.to_owned(), value);
        let profile = self.profile.profile().with(&Overrides(self.constants.clone()));
        self.config.profile = profile.unwrap_or_else(|error| self.fail(&error.to_string()));
        assert_eq!(self.config.profile.check(), Ok(()));
    }

    fn command(&mut self, words: &[&str]) {
        let (now, mut out) = (self.now, Output::default());
        let mut connection = self.connection.take().unwrap_or_else(|| self.fail("there is no connection"));
        let number = |word: &&str| word.parse::<u64>().unwrap();
        // Bytes accepted, and bytes expected.
        let (taken, wanted) = match words {
            ["write", bytes] => (connection.write(now, number(bytes), &mut out), number(bytes)),
            ["write", bytes, "takes", taken] => {
                (connection.write(now, number(bytes), &mut out), number(taken))
            }
            ["read", bytes] => (connection.read(now, number(bytes), &mut out), number(bytes)),
            _ => {
                self.end_by(&mut connection, words, &mut out);
                (0, 0)
            }
        };
        self.connection = Some(connection);
        if taken != wanted {
            self.fail(&format!("{taken} B are taken"));
        }
        self.collect(out);
    }

    fn end_by(&self, connection: &mut Connection, words: &[&str], out: &mut Output) {
        match words {
            ["close"] => connection.close(self.now, out),
            ["shutdown"] => connection.shutdown_write(self.now, out),
            ["abort"] => connection.abort(self.now, out),
            ["local", "drop"] => connection.on_local_drop(),
            _ => self.fail("this is not a line of a script"),
        }
    }

    /// Runs timers up to and including `at`.
    fn advance(&mut self, at: Instant) {
        while self.run_timer_before(at) {}
        self.now = at;
    }

    fn run_timer_before(&mut self, at: Instant) -> bool {
        let Some(connection) = &mut self.connection else { return false };
        let Some(due) = connection.next_timeout().filter(|due| *due <= at) else { return false };
        let mut out = Output::default();
        connection.on_timeout(due, &mut out);
        assert!(
            connection.next_timeout() > Some(due) || connection.next_timeout().is_none(),
            "a timer is stuck"
        );
        self.now = due;
        self.collect(out);
        true
    }

    fn collect(&mut self, out: Output) {
        for segment in out.segments {
            self.sent.push_back((self.now, segment));
            if let Some(peer) = &mut self.peer {
                peer.on_sent(segment);
            }
        }
        self.notices.extend(out.notices.iter().map(|notice| (self.now, *notice)));
        if self.reads_at_once && out.notices.contains(&Notice::Readable) {
            let mut out = Output::default();
            self.connection.as_mut().unwrap().read(self.now, u64::MAX, &mut out);
            self.collect(out);
        }
    }

    fn receive(&mut self, words: &[&str]) {
        let line = self.line(words);
        self.window = line.window.unwrap_or(self.window);
        for segment in line.segments() {
            self.inject(Segment { window: self.window, ..segment });
        }
    }

    fn inject(&mut self, mut segment: Segment) {
        if let Some(peer) = &mut self.peer
            && segment.options.timestamps.is_none()
        {
            segment.options.timestamps = Some(peer.stamp(self.now, &segment));
        }
        let mut out = Output::default();
        match &mut self.connection {
            Some(connection) => connection.on_segment(self.now, &segment, &mut out),
            None => {
                let accepted = Connection::accept(self.now, &self.config, self.host, &segment, &mut out);
                self.connection = Some(accepted);
            }
        }
        self.collect(out);
    }

    fn expect(&mut self, times: RangeInclusive<Instant>, words: &[&str]) {
        let line = self.line(words);
        let mut times = times;
        for segment in line.segments() {
            self.expect_segment(times, segment, line.window);
            times = self.now..=self.now;
        }
    }

    fn expect_segment(&mut self, times: RangeInclusive<Instant>, mut expected: Segment, window: Option<u16>) {
        while self.sent.is_empty() && self.run_timer_before(*times.end()) {}
        let Some((left, segment)) = self.sent.pop_front() else {
            self.now = *times.end();
            self.fail("nothing leaves")
        };
        self.now = left;
        expected.window = window.unwrap_or(segment.window);
        if self.peer.is_some() && expected.options.timestamps.is_none() && !segment.flags.contains(Flags::RST)
        {
            expected.options.timestamps = segment.options.timestamps;
        }
        if !times.contains(&left) || segment != expected {
            self.fail(&format!("this leaves at {left}: {}", written(&segment)));
        }
    }

    fn expect_silence(&self) {
        if let Some((left, segment)) = self.sent.front() {
            self.fail(&format!("no line for what leaves at {left}: {}", written(segment)));
        }
    }

    fn expect_notice(&mut self, name: &str) {
        if name == "nothing" {
            if self.notices.iter().any(|(at, _)| *at == self.now) {
                self.fail(&format!("the application got the notices {:?}", self.notices));
            }
            return;
        }
        let wanted = match name {
            "connected" => Notice::Connected,
            "readable" => Notice::Readable,
            "writable" => Notice::Writable,
            "end of stream" => Notice::EndOfStream,
            "closed: finished" => Notice::Closed(CloseReason::Finished),
            "closed: refused" => Notice::Closed(CloseReason::Refused),
            "closed: reset" => Notice::Closed(CloseReason::Reset),
            "closed: timed out" => Notice::Closed(CloseReason::TimedOut),
            "closed: aborted" => Notice::Closed(CloseReason::Aborted),
            _ => self.fail("there is no such notice"),
        };
        let notices = std::mem::take(&mut self.notices);
        if !notices.contains(&(self.now, wanted)) {
            self.fail(&format!("the application got the notices {notices:?}"));
        }
    }

    fn check(&self, fact: &str) {
        let Some(connection) = &self.connection else { self.fail("there is no connection") };
        let (name, value) = fact.split_once(' ').unwrap_or_else(|| self.fail("a fact is a name and a value"));
        let actual = match name {
            "state" => format!("{:?}", connection.state()),
            "cwnd" => connection.cwnd().to_string(),
            "ssthresh" => connection.ssthresh().to_string(),
            "mss" => connection.mss().to_string(),
            "wnd" => connection.snd_wnd().to_string(),
            "flight" => connection.flight_size().to_string(),
            "acknowledged" => connection.bytes_acknowledged().to_string(),
            "readable" => connection.readable().to_string(),
            "sent" => connection.bytes_sent().to_string(),
            "outstanding" => connection.bytes_unsent_or_unacknowledged().to_string(),
            "limit" => format!("{:?}", connection.limit(false)),
            "limit_with_more" => format!("{:?}", connection.limit(true)),
            "retransmits" => connection.retransmits().to_string(),
            "ece_cuts" => connection.ece_cuts().to_string(),
            "timeouts" => connection.timeouts().to_string(),
            "snd_nxt" => connection.snd_nxt().to_string(),
            "rto" => connection.rto().to_string(),
            "srtt" => connection.srtt().map_or("none".to_owned(), |srtt| srtt.to_string()),
            "buffer" => connection.buffers().0.to_string(),
            "timer" => {
                connection.next_timeout().map_or("none".to_owned(), |at| (at - Instant::ZERO).to_string())
            }
            _ => self.fail("there is no such fact"),
        };
        if actual.to_lowercase() != value.replace(['-', '_'], "").to_lowercase() {
            self.fail(&format!("{name} is {actual}"));
        }
    }

    /// `120 ms`, or `1000..1036 ms`.
    fn times(&self, words: &[&str]) -> RangeInclusive<Instant> {
        let [number, unit] = words else { self.fail("a time is a number and a unit") };
        let (first, last) = number.split_once("..").unwrap_or((number, number));
        let time = |number| Instant::ZERO + self.span(&[number, unit]);
        time(first)..=time(last)
    }

    fn span(&self, words: &[&str]) -> Duration {
        words.join(" ").parse().unwrap_or_else(|error| self.fail(&format!("{error}")))
    }

    fn line(&self, words: &[&str]) -> Line {
        Line::parse(words).unwrap_or_else(|error| self.fail(&error))
    }
}
