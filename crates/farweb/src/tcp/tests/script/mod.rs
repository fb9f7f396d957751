//! A small language for scripts: what arrives when, and what must leave when, one line a segment.
//!
//! A line is `[TIME] VERB …`. Without a time it happens at the time of the line before. `#` begins a comment.
//!
//! | line | meaning |
//! |---|---|
//! | `profile linux` | which TCP, `bsd44-lite` without this line |
//! | `host slow 300 ms fast 100 ms`, `host up 5 ms` | phases of the host's grids, time since its start, 0 ms without |
//! | `mss 1460`, `buffer 8760` | what the endpoint is made with, else 1460 B, and 32120 B (22 segments) for `bsd44-lite` |
//! | `set delayed_ack false` | another value for a constant of the profile |
//! | `peer timestamps` | the peer uses timestamps: what arrives has them, and those that leave are not compared |
//! | `reader fast` | the application reads everything at once as it arrives |
//! | `connect` | active open. Without it, the first SYN that arrives is accepted |
//! | `< S. 0:0 ack 1 win 8760 mss 1460` | a segment arrives: flags, first byte and end of the data, acknowledgement … |
//! | `> . 1:1 ack 1` | exactly this segment leaves now, before anything else |
//! | `1000..1036 ms > S 0:0` | it leaves at a time from one to the other, and what follows is at that time |
//! | `> . 1:4001 ack 1 each 1000` | these segments of 1000 B leave, or arrive, one after the other |
//! | `write 300`, `write 9000 takes 8760` | the application writes |
//! | `read 1460`, `close`, `shutdown`, `abort`, `local drop` | other commands |
//! | `! connected` | the application gets this notice now. Other notices before it are skipped |
//! | `! nothing` | the application gets no notice now |
//! | `= cwnd 2920, state established` | what the endpoint says of itself |
//! | `silence` | nothing leaves up to here |
//!
//! Flags are `S F R P . E W` as tcpdump has them, `ect` and `ce` codepoints of ECN. Further options of a segment are `sackOK`,
//! `scale 7`, `ts 9:1` (own clock and echo) and `sack 2921:4381,5841:7301`. Of a segment that must leave, all is compared but a window that the line does not
//! give. One that arrives has the window of the one before it unless the line gives one.

mod peer;
mod runner;
mod segment;

pub(super) use segment::written;

use runner::Runner;

/// Runs a script on one endpoint.
///
/// # Panics
/// At the first line that does not hold, with the line and what happened instead.
pub(in crate::tcp) fn script(text: &str) {
    let mut runner = Runner::new();
    for (number, line) in text.lines().enumerate() {
        let code = line.split('#').next().unwrap_or_default().trim();
        if !code.is_empty() {
            runner.run_line(code, format!("line {}: {}", number + 1, line.trim()));
        }
    }
    runner.end();
}
