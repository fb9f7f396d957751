//! Operations: anything that may happen to one endpoint.
//!
//! The fuzz targets take this file as it is, so it names nothing beside itself but `tcp` and `units`.

use super::invariants::{self, Watch};
use crate::tcp::{
    Codepoint, Config, Connection, Flags, HostClock, Notice, Options, Output, SackBlocks, Segment, State,
};
use crate::units::{Duration, Instant};

/// An event at an endpoint, a call of its application, or time that passes.
#[derive(Debug, Clone)]
pub(super) enum Operation {
    /// A segment. Its numbers are relative to the endpoint's expectation, and some are nearly right.
    Segment {
        flags: u8,
        seq: i64,
        ack: i64,
        len: u32,
        window: u16,
        ecn: Codepoint,
        /// Options other than the blocks of SACK.
        options: Options,
        /// SACK blocks: start relative to the acknowledged bytes, and length.
        sack: Vec<(i32, u16)>,
    },
    Write(u64),
    Read(u64),
    Shutdown,
    Close,
    Abort,
    LocalDrop,
    /// This many milliseconds pass.
    Wait(u64),
}

/// Opens an endpoint, actively or by a SYN with `syn_options`, and does `operations` on it.
///
/// # Panics
/// When an invariant does not hold, a timer is stuck or sending never ends.
pub(super) fn perform(config: &Config, host: HostClock, opening: Option<Options>, operations: &[Operation]) {
    let mut out = Output::default();
    let mut connection = match opening {
        None => Connection::connect(Instant::ZERO, config, host, &mut out),
        Some(options) => {
            let syn = Segment {
                seq: 0,
                ack: 0,
                len: 0,
                window: 5000,
                flags: Flags::SYN,
                ecn: Codepoint::NotEct,
                options,
            };
            Connection::accept(Instant::ZERO, config, host, &syn, &mut out)
        }
    };
    let mut run = Run { now: Instant::ZERO, watch: Watch::default(), cwnd: 0, closed: 0 };
    run.settle(&connection, &mut out);
    for operation in operations {
        run.step(&mut connection, operation, &mut out);
    }
    assert_eq!(run.closed, usize::from(connection.state() == State::Closed));
}

struct Run {
    now: Instant,
    watch: Watch,
    /// Congestion window after the last call.
    cwnd: u64,
    /// Number of notices of the end to the application.
    closed: usize,
}

impl Run {
    fn step(&mut self, connection: &mut Connection, operation: &Operation, out: &mut Output) {
        let now = self.now;
        match *operation {
            Operation::Segment { .. } => connection.on_segment(now, &segment_for(connection, operation), out),
            Operation::Write(bytes) => assert!(connection.write(now, bytes, out) <= bytes),
            Operation::Read(bytes) => {
                let readable = connection.readable();
                assert_eq!(connection.read(now, bytes, out), bytes.min(readable));
            }
            Operation::Shutdown => connection.shutdown_write(now, out),
            Operation::Close => connection.close(now, out),
            Operation::Abort => connection.abort(now, out),
            Operation::LocalDrop => connection.on_local_drop(),
            Operation::Wait(millis) => self.wait(connection, Duration::from_millis(millis), out),
        }
        self.settle(connection, out);
    }

    fn wait(&mut self, connection: &mut Connection, span: Duration, out: &mut Output) {
        let until = self.now + span;
        while let Some(due) = connection.next_timeout().filter(|due| *due <= until) {
            self.now = self.now.max(due);
            connection.on_timeout(self.now, out);
            assert!(connection.next_timeout().is_none_or(|next| next > due), "a timer is stuck at {due}");
            self.settle(connection, out);
        }
        self.now = until;
    }

    fn settle(&mut self, connection: &Connection, out: &mut Output) {
        invariants::check(connection);
        assert!(out.segments.len() < 20_000, "sending never ends");
        for segment in out.segments.drain(..) {
            // After the last word of a connection only resets follow, and they promise nothing.
            self.watch.check(&segment, connection, self.cwnd);
            assert!(u64::from(segment.len) <= connection.mss().max(536));
        }
        self.cwnd = connection.cwnd();
        let is_end = |notice: &Notice| matches!(notice, Notice::Closed(_));
        self.closed += out.notices.drain(..).filter(is_end).count();
    }
}

/// The segment of `operation`, in the numbers of `connection`.
fn segment_for(connection: &Connection, operation: &Operation) -> Segment {
    let Operation::Segment { flags, seq, ack, len, window, ecn, options, ref sack } = *operation else {
        unreachable!("only segments are asked for")
    };
    let flags = Flags::all().nth(usize::from(flags)).expect("all that eight bits name");
    let ack = connection.snd_una().saturating_add_signed(ack);
    let blocks = sack.iter().map(|(start, len)| {
        let start = ack.saturating_add_signed(i64::from(*start));
        start..start + u64::from(*len)
    });
    let sack = SackBlocks::new(ack, blocks);
    Segment {
        seq: connection.rcv_nxt().saturating_add_signed(seq),
        ack,
        len,
        window,
        flags,
        ecn,
        options: Options { sack, ..options },
    }
}
