//! Opening as Linux does it: options, retransmitted SYNs, and answers that do not fit.
//!
//! RFC 9293, sections 3.5 and 3.10; RFC 6298, sections 2 and 5.7; RFC 7323; RFC 2018; RFC 6928; Linux 6.18 `tcp_input.c`, `tcp_timer.c`.

use super::{client, script, server};

/// RFC 9293, section 3.7.1; RFC 7323, sections 2.2 and 3.2; RFC 2018, section 2.
#[test]
fn a_syn_offers_every_option() {
    // A receive buffer of up to 32 MiB is 2^25 B, which a window of 16 bits needs a shift of 10 for.
    script(
        "profile linux
         0 ms   connect
                > S 0:0 win 64240 mss 1460 sackOK ts 0:0 scale 10
         120 ms < S. 0:0 ack 1 win 65160 mss 1460 sackOK ts 700:0 scale 7
                > . 1:1 ack 1 win 63 ts 120:700
                ! connected
                = state established, cwnd 14480",
    );
}

/// RFC 9293, section 3.7.1.
#[test]
fn a_classic_syn_offers_the_mss_alone() {
    script(
        "profile linux-classic
         0 ms   connect
                > S 0:0 win 64240 mss 1460
         120 ms < S. 0:0 ack 1 win 32767 mss 1460 sackOK scale 7
                > . 1:1 ack 1 win 64240
                = cwnd 1460",
    );
}

/// RFC 7323, sections 2.2 and 3.2; RFC 2018, section 2.
#[test]
fn options_are_used_only_when_both_offer_them() {
    script(
        "profile linux
         0 ms   < S 0:0 win 32767 mss 1000
                > S. 0:0 ack 1 win 64240 mss 1460
         120 ms < . 1:1 ack 1
                < . 1001:2001 ack 1
                > . 1:1 ack 1                     # and says nothing of what came early",
    );
}

/// RFC 7323, sections 2.2 and 3.2; RFC 2018, section 2.
#[test]
fn a_syn_ack_answers_each_option() {
    script(
        "profile linux
         0 ms   < S 0:0 win 32767 mss 1460 sackOK ts 700:0 scale 7
                > S. 0:0 ack 1 win 65160 mss 1460 sackOK ts 0:700 scale 10",
    );
}

/// RFC 9293, section 3.7.1 (MUST-15).
#[test]
fn a_peer_without_mss_gets_536_bytes() {
    script(
        "profile linux-classic
         0 ms   < S 0:0 win 32767
                > S. 0:0 ack 1 mss 1460
         120 ms < . 1:1 ack 1
         130 ms write 1000
                > . 1:537 ack 1",
    );
}

/// RFC 6298, section 5.7; Linux 6.18 `tcp_syn_linear_timeouts` 4, `tcp_syn_retries` 6.
#[test]
fn a_syn_is_repeated_each_second_and_then_with_doubling() {
    // Ten retransmissions: the linear ones do not count against the six. Each timer may run up to 36 ms late.
    script(
        "profile linux
         set timestamps false
         0 ms     connect
                  > S 0:0 mss 1460 sackOK scale 10
         1000..1036 ms  > S 0:0 mss 1460 sackOK scale 10
         2000..2072 ms  > S 0:0 mss 1460 sackOK scale 10
         3000..3108 ms  > S 0:0 mss 1460 sackOK scale 10
         4000..4144 ms  > S 0:0 mss 1460 sackOK scale 10
         5000..5180 ms  > S 0:0 mss 1460 sackOK scale 10
         7000..7300 ms  > S 0:0 mss 1460 sackOK scale 10
         11000..11700 ms > S 0:0 mss 1460 sackOK scale 10
         19000..20500 ms > S 0:0 mss 1460 sackOK scale 10
         35..38 s   > S 0:0 mss 1460 sackOK scale 10
         67..72 s   > S 0:0 mss 1460 sackOK scale 10
         150 s      = state closed, retransmits 10, timer none",
    );
}

/// RFC 6298, section 5.5; Linux 6.18 `tcp_synack_retries` 5.
#[test]
fn a_syn_ack_is_repeated_five_times_with_doubling() {
    script(
        "profile linux
         set timestamps false
         0 ms     < S 0:0 win 32767 mss 1000 sackOK scale 7
                  > S. 0:0 ack 1 mss 1460 sackOK scale 10
         1000..1036 ms  > S. 0:0 ack 1 mss 1460 sackOK scale 10
         3000..3200 ms  > S. 0:0 ack 1 mss 1460 sackOK scale 10
         7000..7500 ms  > S. 0:0 ack 1 mss 1460 sackOK scale 10
         15000..16000 ms > S. 0:0 ack 1 mss 1460 sackOK scale 10
         31..33 s       > S. 0:0 ack 1 mss 1460 sackOK scale 10
         70 s           = state closed",
    );
}

/// RFC 6298, section 5.7; Linux 6.18 `tcp_init_transfer()`.
#[test]
fn one_lost_syn_costs_no_window() {
    // RFC 5681, section 3.1, would start with one segment. Linux does so from the second retransmission on.
    script(
        "profile linux
         set timestamps false
         0 ms     connect
                  > S 0:0 mss 1460 sackOK scale 10
         1000..1036 ms > S 0:0 mss 1460 sackOK scale 10
         1200 ms  < S. 0:0 ack 1 win 65535 mss 1000 sackOK scale 7
                  > . 1:1 ack 1
                  = cwnd 10000",
    );
}

/// RFC 5681, section 3.1; RFC 6298, section 5.7.
#[test]
fn two_lost_syns_cost_the_initial_window() {
    script(
        "profile linux
         set timestamps false
         0 ms     connect
                  > S 0:0 mss 1460 sackOK scale 10
         1000..1036 ms > S 0:0 mss 1460 sackOK scale 10
         2000..2072 ms > S 0:0 mss 1460 sackOK scale 10
         2200 ms  < S. 0:0 ack 1 win 65535 mss 1000 sackOK scale 7
                  > . 1:1 ack 1
                  = cwnd 1000",
    );
}

/// RFC 9293, section 3.5, figure 8.
#[test]
fn syns_that_cross_open_one_connection() {
    script(
        "profile linux-classic
         0 ms   connect
                > S 0:0 mss 1460
         60 ms  < S 0:0 win 32767 mss 1000
                > S. 0:0 ack 1 mss 1460
                = state syn-received
         120 ms < S. 0:0 ack 1
                > . 1:1 ack 1
                ! connected
                = state established",
    );
}

/// RFC 9293, section 3.10.7.3.
#[test]
fn a_reset_of_the_syn_refuses_the_connection() {
    script(
        "profile linux
         set timestamps false
         0 ms   connect
                > S 0:0 mss 1460 sackOK scale 10
         120 ms < R. 0:0 ack 1
                ! closed: refused
                = state closed, timer none",
    );
}

/// RFC 9293, section 3.10.7.3.
#[test]
fn a_reset_that_acknowledges_nothing_is_ignored() {
    script(
        "profile linux
         set timestamps false
         0 ms   connect
                > S 0:0 mss 1460 sackOK scale 10
         120 ms < R 0:0
                = state synsent",
    );
}

/// RFC 9293, section 3.10.7.3; Linux 6.18 `tcp_rcv_synsent_state_process()`.
#[test]
fn an_ack_of_something_never_sent_is_reset_and_the_syn_goes_again() {
    // Left over from an earlier connection of the peer: its answer to the reset is worth a new SYN at once, in two ticks.
    script(
        "profile linux
         set timestamps false
         0 ms   connect
                > S 0:0 mss 1460 sackOK scale 10
         120 ms < . 77:77 ack 5
                > R 5:5 win 0
         128..136 ms > S 0:0 mss 1460 sackOK scale 10
                = state synsent",
    );
}

/// RFC 9293, section 3.10.7.4; RFC 5961, section 4.
#[test]
fn a_repeated_syn_ack_is_acknowledged() {
    client(
        "200 ms < S. 0:0 ack 1 mss 1000 sackOK scale 7
                > . 1:1 ack 1
                = state established",
    );
}

/// RFC 9293, section 3.10.7.4.
#[test]
fn data_with_the_last_ack_of_the_handshake_is_taken() {
    script(
        "profile linux-classic
         0 ms   < S 0:0 win 32767 mss 1000
                > S. 0:0 ack 1 mss 1460
         120 ms < P. 1:301 ack 1
                > . 1:1 ack 301
                ! readable
                = state established, readable 300",
    );
}

/// RFC 7323, section 2.2.
#[test]
fn a_window_in_a_syn_is_not_scaled() {
    server(
        "       = wnd 8388480                     # 65535 · 2^7 from the ACK; in the SYN the same field stood for 65535",
    );
}

/// RFC 9293, section 3.10.7.4.
#[test]
fn a_reset_in_syn_received_refuses() {
    script(
        "profile linux-classic
         0 ms   < S 0:0 win 32767 mss 1000
                > S. 0:0 ack 1 mss 1460
         120 ms < R 1:1
                ! closed: refused
                = state closed",
    );
}
