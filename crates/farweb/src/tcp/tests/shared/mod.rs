//! Scripts that every stack with connections passes: behaviour that the RFCs prescribe to all.
//!
//! Segments have 1460 B at most. Timestamps are off and need no words in the lines, and the first window has room for two
//! segments however small: Linux counts segments, 4.4BSD bytes.

mod closing;
mod sending;

use super::script::script;

/// A stack that scripts run on.
struct Stack {
    settings: &'static str,
    /// Options beside the MSS that its SYN offers, and the peer's.
    offers: &'static str,
    peer: &'static str,
}

const STACKS: [Stack; 3] = [
    Stack { settings: "profile bsd44-lite", offers: "", peer: "" },
    Stack { settings: "profile linux-classic\nset initial_cwnd_segments 2", offers: "", peer: "" },
    Stack {
        settings: "profile linux\nset timestamps false",
        offers: "sackOK scale 10",
        peer: "sackOK scale 7",
    },
];

/// Runs a script on an endpoint of each stack that opens a connection.
fn opening(text: &str) {
    for Stack { settings, offers, .. } in STACKS {
        script(&format!(
            "{settings}
             0 ms   connect
                    > S 0:0 mss 1460 {offers}
             {text}"
        ));
    }
}

/// Runs a script on an endpoint of each stack that opened a connection 120 ms before, with a round-trip time of 120 ms.
fn client(text: &str) {
    for Stack { settings, offers, peer } in STACKS {
        script(&format!(
            "{settings}
             0 ms   connect
                    > S 0:0 mss 1460 {offers}
             120 ms < S. 0:0 ack 1 mss 1460 {peer}
                    > . 1:1 ack 1
             {text}"
        ));
    }
}

/// Runs a script on an endpoint of each stack that accepted a connection: SYN at 0 ms, ACK of the SYN-ACK at 120 ms.
fn server(text: &str) {
    server_with("", text);
}

/// As [`server`], with lines for before the opening.
fn server_with(more: &str, text: &str) {
    for Stack { settings, offers, peer } in STACKS {
        script(&format!(
            "{settings}
             {more}
             0 ms   < S 0:0 mss 1460 {peer}
                    > S. 0:0 ack 1 mss 1460 {offers}
             120 ms < . 1:1 ack 1
             {text}"
        ));
    }
}
