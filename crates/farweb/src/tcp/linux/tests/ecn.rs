//! Explicit congestion notification: agreed in the handshake, marks echoed, and one reduction a window.
//!
//! RFC 3168; Linux 6.18 `include/net/tcp_ecn.h`, `tcp_input.c`, `tcp_data_ecn_check()`, `tcp_enter_cwr()`.

use crate::tcp::tests::script::script;

/// Runs a script on a server of `linux` that accepts ECN: SYN at 0 ms, ACK of the SYN-ACK at 120 ms.
fn marked_server(settings: &str, text: &str) {
    script(&format!(
        "profile linux
         set timestamps false
         set send_buffer_initial 1 MB
         set ecn accept
         {settings}
         0 ms   < SEW 0:0 win 65535 mss 1000 sackOK scale 7
                > S.E 0:0 ack 1 mss 1460 sackOK scale 10
         120 ms < . 1:1 ack 1
         {text}"
    ));
}

/// Runs a script on a client of `linux` that asks for ECN and is answered after 120 ms by `answer`.
fn asking_client(answer: &str, text: &str) {
    script(&format!(
        "profile linux
         set timestamps false
         set send_buffer_initial 1 MB
         set ecn request
         0 ms   connect
                > SEW 0:0 mss 1460 sackOK scale 10
         120 ms < {answer} 0:0 ack 1 win 65535 mss 1000 sackOK scale 7
                > . 1:1 ack 1
         {text}"
    ));
}

/// RFC 3168, section 6.1.1.
#[test]
fn a_peer_that_agrees_gets_ect_data() {
    asking_client("S.E", "121 ms write 500\n > P. 1:501 ack 1 ect");
}

/// RFC 3168, section 6.1.1.
#[test]
fn other_answers_do_not_agree() {
    for answer in ["S.", "S.EW", "S.W"] {
        asking_client(answer, "121 ms write 500\n > P. 1:501 ack 1");
    }
}

/// RFC 3168, section 6.1.1.
#[test]
fn who_is_asked_agrees_unless_ecn_is_off() {
    let answer = |ecn: &str, syn: &str, answer: &str| {
        script(&format!(
            "profile linux
             set timestamps false
             set ecn {ecn}
             0 ms   < {syn} 0:0 win 65535 mss 1000
                    > {answer} 0:0 ack 1 mss 1460"
        ));
    };
    for (ecn, asked) in [("off", "S."), ("accept", "S.E"), ("request", "S.E")] {
        answer(ecn, "SEW", asked);
        answer(ecn, "SE", "S.");
        answer(ecn, "S", "S.");
    }
}

/// RFC 3168, section 6.1.1.1.
#[test]
fn a_syn_that_is_sent_again_asks_for_nothing_but_may_be_answered_for_the_first() {
    script(
        "profile linux
         set timestamps false
         set ecn request
         0 ms   connect
                > SEW 0:0 mss 1460 sackOK scale 10
         1000..1036 ms > S 0:0 mss 1460 sackOK scale 10
         1100 ms < S.E 0:0 ack 1 win 65535 mss 1000
                > . 1:1 ack 1
         1101 ms write 500
                # The timeout counts as a reduction.
                > P.W 1:501 ack 1 ect",
    );
}

/// RFC 3168, section 6.1.2.
#[test]
fn a_mark_reduces_the_window_once_and_sends_nothing_again() {
    marked_server(
        "",
        "121 ms write 30000
                > . 1:10001 ack 1 each 1000 ect
         241 ms < .E 1:1 ack 1001
                > .W 10001:11001 ack 1 ect
                = ssthresh 7000, ece_cuts 1
         # Seven leave for ten that arrive.
         242 ms < .E 1:1 ack 2001
                > . 11001:12001 ack 1 ect
         243 ms < . 1:1 ack 3001
                > . 12001:13001 ack 1 ect
         244 ms < . 1:1 ack 4001
         245 ms < . 1:1 ack 10001
                > . 13001:17001 ack 1 each 1000 ect
         # More than what left before the cut is acknowledged.
         361 ms < . 1:1 ack 11001
                > . 17001:18001 ack 1 ect
                = cwnd 7000, ece_cuts 1, retransmits 0, timeouts 0",
    );
}

/// RFC 3168, section 6.1.2; RFC 5681, section 3.1.
#[test]
fn reno_halves_it() {
    marked_server(
        "set congestion_control reno",
        "121 ms write 10000
                > . 1:9001 ack 1 each 1000 ect
                > P. 9001:10001 ack 1 ect
         241 ms < .E 1:1 ack 2001
                = ssthresh 5000, ece_cuts 1
         242 ms < .E 1:1 ack 4001
                = ssthresh 5000, ece_cuts 1
         # With the last ACK of the window the state holds, so that CWR goes out with the next data.
         243 ms < . 1:1 ack 10001
         244 ms write 1000
                > P.W 10001:11001 ack 1 ect
         364 ms < . 1:1 ack 11001
                = cwnd 5000, ece_cuts 1",
    );
}

/// RFC 3168, section 6.1.5.
#[test]
fn what_is_sent_again_is_not_ect_and_a_loss_has_cwr_too() {
    marked_server(
        "",
        "121 ms write 30000
                > . 1:10001 ack 1 each 1000 ect
         241 ms < . 1:1 ack 1 sack 1001:4001
                > . 1:1001 ack 1
                = ssthresh 7000, ece_cuts 0, retransmits 1
         242 ms < . 1:1 ack 1 sack 1001:5001
                > .W 10001:11001 ack 1 ect",
    );
}

/// Linux 6.18 `tcp_fastretrans_alert()`.
#[test]
fn a_reduction_that_a_mark_asked_for_too_is_not_undone() {
    let after = |flags: &str, ssthresh: u64, next: &str| {
        marked_server(
            "",
            &format!(
                "121 ms write 10000
                        > . 1:9001 ack 1 each 1000 ect
                        > P. 9001:10001 ack 1 ect
                 241 ms < {flags} 1:1 ack 1 sack 1001:10001
                        > . 1:1001 ack 1
                        = ssthresh 7000, ece_cuts 0
                 242 ms < . 1:1 ack 10001
                 361 ms < . 1:1 ack 10001 sack 1:1001
                        = ssthresh {ssthresh}
                 362 ms write 500
                        > {next} 10001:10501 ack 1 ect"
            ),
        );
    };
    after(".", 1_073_725_440, "P.");
    after(".E", 7000, "P.W");
}

/// RFC 3168, section 6.1.3.
#[test]
fn a_mark_is_echoed_at_once_and_until_the_peer_has_answered() {
    marked_server(
        "set quick_acks_max 0\n reader fast",
        "200 ms < . 1:1001 ack 1 ce
                > .E 1:1 ack 1001
         201 ms < . 1001:2001 ack 1 ect
                > .E 1:1 ack 2001
         202 ms < . 2001:3001 ack 1 ce
         203 ms < . 3001:4001 ack 1 ect
                > .E 1:1 ack 4001
         204 ms < .W 4001:5001 ack 1 ect
                > . 1:1 ack 5001
         205 ms < . 5001:6001 ack 1 ect
         206 ms silence",
    );
}

/// Linux 6.18 `tcp_data_ecn_check()`.
#[test]
fn data_without_ect_behind_some_with_it_is_acknowledged_at_once() {
    marked_server(
        "set quick_acks_max 0\n reader fast",
        "200 ms < . 1:2001 ack 1 each 1000 ect
                > . 1:1 ack 2001
         202 ms < . 2001:3001 ack 1
                > . 1:1 ack 3001",
    );
}

/// Linux 6.18 `tcp_ecn_accept_cwr()`.
#[test]
fn an_ack_without_data_may_say_that_the_window_is_reduced() {
    marked_server(
        "",
        "200 ms < . 1:1001 ack 1 ce
                > .E 1:1 ack 1001
         201 ms < .W 1001:1001 ack 1
         202 ms < . 1001:2001 ack 1 ect
                > . 1:1 ack 2001",
    );
}

/// RFC 3168, section 6.1.3.
#[test]
fn without_agreement_marks_and_echoes_mean_nothing() {
    super::server(
        "200 ms < . 1:1001 ack 1 ce
                > . 1:1 ack 1001
         201 ms write 10000
                > . 1:9001 ack 1001 each 1000
                > P. 9001:10001 ack 1001
         321 ms < .E 1001:1001 ack 2001
                = cwnd 12000",
    );
}

/// Linux 6.18 `tcp_bbr.c`: no `ssthresh` of its own.
#[test]
fn bbr_keeps_its_window() {
    marked_server(
        "set congestion_control bbr\n set pacing none",
        "121 ms write 30000
                > . 1:10001 ack 1 each 1000 ect
         241 ms < .E 1:1 ack 2001
                > .W 10001:11001 ack 1 ect
                > . 11001:14001 ack 1 each 1000 ect
                = cwnd 12000, ece_cuts 0",
    );
}
