//! A small language for scripts: what arrives when, and what must leave when, one line a segment.
//!
//! A line is `[TIME] VERB …`; without a time it happens at the time of the line before. `#` begins a comment.
//!
//! | line | meaning |
//! |---|---|
//! | `host slow 300 ms fast 100 ms` | phases of the host's grids; 0 ms without this line |
//! | `mss 1460`, `buffer 8760` | what the endpoint is made with; 1460 B and 32120 B (22 segments) without these lines |
//! | `set delayed_ack false` | another value for a constant of `bsd44-lite` |
//! | `reader fast` | the application reads everything at once as it arrives |
//! | `connect` | active open; without it, the first SYN that arrives is accepted |
//! | `< S. 0:0 ack 1 win 8760 mss 1460` | a segment arrives: flags, first byte and end of the data, acknowledgement … |
//! | `> . 1:1 ack 1` | exactly this segment leaves now, before anything else |
//! | `write 300`, `write 9000 takes 8760` | the application writes |
//! | `read 1460`, `close`, `shutdown`, `abort`, `local drop` | other commands |
//! | `! connected` | the application is told so now; other notices before it are skipped |
//! | `! nothing` | the application is told nothing now |
//! | `= cwnd 2920, state established` | what the endpoint says of itself |
//! | `silence` | nothing leaves up to here |
//!
//! Flags are `S F R P .` as tcpdump has them. Of a segment that must leave, all is compared but a window that the line
//! does not give; one that arrives has the window of the one before it unless the line gives one.

use std::collections::VecDeque;

use super::super::*;
use crate::units::{Duration, Instant};

/// Runs a script on one endpoint.
///
/// # Panics
/// At the first line that does not hold, with the line and what happened instead.
pub(super) fn script(text: &str) {
    let mut runner = Runner::new();
    for (number, line) in text.lines().enumerate() {
        let code = line.split('#').next().unwrap_or_default().trim();
        if !code.is_empty() {
            runner.place = format!("line {}: {}", number + 1, line.trim());
            runner.run_line(code);
        }
    }
    runner.place = "end of script".to_owned();
    runner.expect_silence();
}

/// Runs a script on an endpoint that opened a connection 120 ms before, with a round-trip time of 120 ms.
pub(super) fn client(text: &str) {
    client_with("", text);
}

/// As [`client`], with lines for before the opening.
pub(super) fn client_with(settings: &str, text: &str) {
    script(&format!(
        "{settings}
         0 ms   connect
                > S 0:0 mss 1460
         120 ms < S. 0:0 ack 1 mss 1460
                > . 1:1 ack 1
         {text}"
    ));
}

/// Runs a script on an endpoint that accepted a connection: SYN at 0 ms, ACK of the SYN-ACK at 120 ms.
pub(super) fn server(text: &str) {
    server_with("", text);
}

/// As [`server`], with lines for before the opening.
pub(super) fn server_with(settings: &str, text: &str) {
    script(&format!(
        "{settings}
         0 ms   < S 0:0 mss 1460
                > S. 0:0 ack 1 mss 1460
         120 ms < . 1:1 ack 1
         {text}"
    ));
}

struct Runner {
    host: HostClock,
    config: Config,
    constants: serde_json::Map<String, serde_json::Value>,
    reads_at_once: bool,
    connection: Option<Connection>,
    now: Instant,
    sent: VecDeque<(Instant, Segment)>,
    told: VecDeque<(Instant, Notice)>,
    window: u16,
    place: String,
}

impl Runner {
    fn new() -> Self {
        let profile = ProfileName::Bsd44Lite.profile();
        Self {
            host: HostClock::default(),
            config: Config { profile, mss: 1460, send_buffer: Some(32120), receive_buffer: Some(32120) },
            constants: serde_json::Map::new(),
            reads_at_once: false,
            connection: None,
            now: Instant::ZERO,
            sent: VecDeque::new(),
            told: VecDeque::new(),
            window: 32120,
            place: String::new(),
        }
    }

    fn fail(&self, problem: &str) -> ! {
        panic!("{}\n  at {}: {problem}", self.place, self.now)
    }

    fn run_line(&mut self, code: &str) {
        let words: Vec<&str> = code.split_whitespace().collect();
        let (at, words) = match words[0].starts_with(|first: char| first.is_ascii_digit()) {
            true => (Instant::ZERO + self.span(&words[..2]), &words[2..]),
            false => (self.now, &words[..]),
        };
        match words {
            [">", segment @ ..] => self.expect_segment(at, segment),
            _ => {
                self.advance(at);
                self.expect_silence();
                self.run_verb(words);
            }
        }
    }

    fn run_verb(&mut self, words: &[&str]) {
        match words {
            ["host", "slow", slow, slow_unit, "fast", fast, fast_unit] => {
                let (slow_phase, fast_phase) = (self.span(&[slow, slow_unit]), self.span(&[fast, fast_unit]));
                self.host = HostClock { slow_phase, fast_phase, ..HostClock::default() };
            }
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
            ["<", segment @ ..] => self.inject(segment),
            ["!", notice @ ..] => self.expect_notice(&notice.join(" ")),
            ["=", facts @ ..] => facts.join(" ").split(", ").for_each(|fact| self.check(fact)),
            ["silence"] => {}
            _ => self.command(words),
        }
    }

    fn set(&mut self, constant: &str, value: &str) {
        let value = serde_json::from_str(value).unwrap_or_else(|_| value.into());
        self.constants.insert(constant.to_owned(), value);
        let overrides = Overrides(self.constants.clone());
        self.config.profile = ProfileName::Bsd44Lite.profile().with(&overrides).unwrap();
        assert_eq!(self.config.profile.check(), Ok(()));
    }

    fn command(&mut self, words: &[&str]) {
        let (now, mut out) = (self.now, Output::default());
        let mut connection = self.connection.take().unwrap_or_else(|| self.fail("there is no connection"));
        let number = |word: &&str| word.parse::<u64>().unwrap();
        // What is taken, and what should be.
        let (taken, wanted) = match words {
            ["write", bytes] => (connection.write(now, number(bytes), &mut out), number(bytes)),
            ["write", bytes, "takes", taken] => {
                (connection.write(now, number(bytes), &mut out), number(taken))
            }
            ["read", bytes] => (connection.read(now, number(bytes), &mut out), number(bytes)),
            _ => {
                self.end(&mut connection, words, &mut out);
                (0, 0)
            }
        };
        self.connection = Some(connection);
        if taken != wanted {
            self.fail(&format!("{taken} B are taken"));
        }
        self.collect(out);
    }

    fn end(&self, connection: &mut Connection, words: &[&str], out: &mut Output) {
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
        self.sent.extend(out.segments.into_iter().map(|segment| (self.now, segment)));
        self.told.extend(out.notices.iter().map(|notice| (self.now, *notice)));
        if self.reads_at_once && out.notices.contains(&Notice::Readable) {
            let mut out = Output::default();
            self.connection.as_mut().unwrap().read(self.now, u64::MAX, &mut out);
            self.collect(out);
        }
    }

    fn inject(&mut self, words: &[&str]) {
        let (mut segment, window) = self.parse_segment(words);
        self.window = window.unwrap_or(self.window);
        segment.window = self.window;
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

    fn expect_segment(&mut self, at: Instant, words: &[&str]) {
        while self.sent.is_empty() && self.run_timer_before(at) {}
        self.now = at;
        let Some((left, segment)) = self.sent.pop_front() else { self.fail("nothing leaves") };
        let (mut expected, window) = self.parse_segment(words);
        expected.window = window.unwrap_or(segment.window);
        if (left, segment) != (at, expected) {
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
            if self.told.iter().any(|(at, _)| *at == self.now) {
                self.fail(&format!("the application was told {:?}", self.told));
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
        let told = std::mem::take(&mut self.told);
        if !told.contains(&(self.now, wanted)) {
            self.fail(&format!("the application was told {told:?}"));
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
            "retransmits" => connection.retransmits().to_string(),
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

    fn span(&self, words: &[&str]) -> Duration {
        words.join(" ").parse().unwrap_or_else(|error| self.fail(&format!("{error}")))
    }

    fn parse_segment(&self, words: &[&str]) -> (Segment, Option<u16>) {
        let [flags, range, rest @ ..] = words else { self.fail("a segment has flags and a range") };
        let (start, end) = range.split_once(':').unwrap_or_else(|| self.fail("a range is `first:end`"));
        let (seq, end): (u64, u64) = (start.parse().unwrap(), end.parse().unwrap());
        let flags = flags.chars().fold(Flags::NONE, |all, letter| {
            let letters = [
                ('S', Flags::SYN),
                ('F', Flags::FIN),
                ('R', Flags::RST),
                ('P', Flags::PSH),
                ('.', Flags::ACK),
            ];
            let flag = letters.iter().find(|(name, _)| *name == letter);
            all | flag.unwrap_or_else(|| self.fail("flags are S F R P .")).1
        });
        let len = u32::try_from(end - seq).unwrap();
        let mut segment = Segment { seq, ack: 0, len, window: 0, flags, options: Options::NONE };
        let mut window = None;
        for pair in rest.chunks(2) {
            match pair {
                ["ack", value] => segment.ack = value.parse().unwrap(),
                ["win", value] => window = Some(value.parse().unwrap()),
                ["mss", value] => segment.options.mss = Some(value.parse().unwrap()),
                ["scale", value] => segment.options.window_scale = Some(value.parse().unwrap()),
                ["ts", value] => {
                    let (value, echo) =
                        value.split_once(':').unwrap_or_else(|| self.fail("`ts` is `value:echo`"));
                    let timestamps =
                        Timestamps { value: value.parse().unwrap(), echo: echo.parse().unwrap() };
                    segment.options.timestamps = Some(timestamps);
                }
                _ => {
                    self.fail("after the range come `ack`, `win`, `mss`, `scale` and `ts`, each with a value")
                }
            }
        }
        (segment, window)
    }
}

/// A segment as a line of a script has it.
pub(super) fn written(segment: &Segment) -> String {
    let Segment { seq, ack, len, window, flags, options } = segment;
    let mut text = format!("{flags} {seq}:{} ", seq + u64::from(*len));
    if flags.contains(Flags::ACK) {
        text += &format!("ack {ack} ");
    }
    text += &format!("win {window}");
    if let Some(mss) = options.mss {
        text += &format!(" mss {mss}");
    }
    if let Some(scale) = options.window_scale {
        text += &format!(" scale {scale}");
    }
    if let Some(Timestamps { value, echo }) = options.timestamps {
        text += &format!(" ts {value}:{echo}");
    }
    text
}
