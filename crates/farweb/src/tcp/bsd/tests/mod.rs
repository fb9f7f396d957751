//! Scripts of `bsd44-lite`: 4.4BSD-Lite to the letter, its flaws included.

mod acknowledging;
mod closing;
mod handshake;
mod limits;
mod loss;
mod options;
mod reassembly;
mod sending;
mod timing;
mod transfer;

use crate::tcp::tests::script::script;

/// Runs a script on an endpoint that opened a connection 120 ms before, with a round-trip time of 120 ms.
fn client(text: &str) {
    client_with("", text);
}

/// As [`client`], with lines for before the opening.
fn client_with(settings: &str, text: &str) {
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
fn server(text: &str) {
    server_with("", text);
}

/// As [`server`], with lines for before the opening.
fn server_with(settings: &str, text: &str) {
    script(&format!(
        "{settings}
         0 ms   < S 0:0 mss 1460
                > S. 0:0 ack 1 mss 1460
         120 ms < . 1:1 ack 1
         {text}"
    ));
}
