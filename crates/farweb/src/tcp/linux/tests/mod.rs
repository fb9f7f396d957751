//! Scripts of `linux` and `linux-classic`: Linux 6.18, where it follows the RFCs and where it does not.
//!
//! Segments have 1000 B unless a script says otherwise: that is what the peer takes, and timestamps are off. Ranges of time allow
//! for the timer wheel, which is never early and up to 32 ms late for timeouts of 252 ms and more.

mod acknowledging;
mod closing;
mod ecn;
mod handshake;
mod limits;
mod newreno;
mod rack;
mod reassembly;
mod receiver;
mod sack;
mod sack_recovery;
mod sender;
mod sending;
mod slow_start;
mod timeout;

use crate::tcp::tests::script::script;

/// Runs a script on an endpoint of `linux` that opened a connection 120 ms before, with a round-trip time of 120 ms.
fn client(text: &str) {
    client_with("", text);
}

/// As [`client`], with lines for before the opening.
fn client_with(settings: &str, text: &str) {
    script(&format!(
        "profile linux
         set timestamps false
         set send_buffer_initial 1 MB
         {settings}
         0 ms   connect
                > S 0:0 mss 1460 sackOK scale 10
         120 ms < S. 0:0 ack 1 win 65535 mss 1000 sackOK scale 7
                > . 1:1 ack 1
         {text}"
    ));
}

/// Runs a script on an endpoint of `linux` that accepted a connection: SYN at 0 ms, ACK of the SYN-ACK at 120 ms.
fn server(text: &str) {
    server_with("", text);
}

/// As [`server`], with lines for before the opening.
fn server_with(settings: &str, text: &str) {
    script(&format!(
        "profile linux
         set timestamps false
         set send_buffer_initial 1 MB
         {settings}
         0 ms   < S 0:0 win 65535 mss 1000 sackOK scale 7
                > S. 0:0 ack 1 mss 1460 sackOK scale 10
         120 ms < . 1:1 ack 1
         {text}"
    ));
}

/// As [`server`], of `linux-classic` with a window of 32767 B.
fn classic(text: &str) {
    classic_with("", text);
}

/// As [`classic`], with lines for before the opening.
fn classic_with(settings: &str, text: &str) {
    script(&format!(
        "profile linux-classic
         buffer 32767
         set send_buffer_initial 1 MB
         {settings}
         0 ms   < S 0:0 win 65535 mss 1000
                > S. 0:0 ack 1 mss 1460
         120 ms < . 1:1 ack 1
         {text}"
    ));
}
