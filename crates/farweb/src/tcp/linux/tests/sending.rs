//! When data leaves: Nagle as Linux has it, silly windows, and probes of a window that is closed.
//!
//! RFC 9293, sections 3.7.4, 3.8.6.1 and 3.8.6.2; RFC 896; Linux 6.18 `tcp_output.c`, `tcp_nagle_check()`, `tcp_snd_wnd_test()`, `tcp_send_probe0()`.

use super::{script, server, server_with};

/// RFC 896; RFC 9293, section 3.7.4.
#[test]
fn a_small_segment_waits_for_the_small_one_before_it() {
    server(
        "121 ms write 100
                > P. 1:101 ack 1
         122 ms write 100
         123 ms write 50
         241 ms < . 1:1 ack 101
                > P. 101:251 ack 1",
    );
}

/// Linux 6.18 `tcp_minshall_check()`; RFC 896 would hold it back.
#[test]
fn a_small_segment_does_not_wait_for_full_ones() {
    server(
        "121 ms write 2100
                > . 1:2001 ack 1 each 1000
                > P. 2001:2101 ack 1",
    );
}

/// RFC 896; RFC 9293, section 3.7.4.
#[test]
fn what_waits_leaves_when_it_makes_a_full_segment() {
    server(
        "121 ms write 100
                > P. 1:101 ack 1
         122 ms write 999
         123 ms write 1
                > P. 101:1101 ack 1",
    );
}

/// RFC 9293, section 3.8.6.2.1.
#[test]
fn less_than_a_segment_of_window_is_not_used_at_once() {
    // 512 B of window and 1000 B to send: they go as a probe when the timeout has passed.
    script(
        "profile linux
         set timestamps false
         0 ms   < S 0:0 win 65535 mss 1000 sackOK scale 7
                > S. 0:0 ack 1 mss 1460 sackOK scale 10
         120 ms < . 1:1 ack 1 win 4
         121 ms write 1000
         481..517 ms > P. 1:513 ack 1",
    );
}

/// RFC 9293, section 3.8.6; Linux 6.18 `tcp_may_update_window()`.
#[test]
fn a_window_is_not_taken_back_by_the_segment_that_gave_it() {
    server(
        "121 ms < . 1:1 ack 1 win 4
                = wnd 8388480
         122 ms < . 1:1 ack 1 win 0
                = wnd 0
         123 ms < . 1:1 ack 1 win 512
                = wnd 65536",
    );
}

/// RFC 9293, section 3.8.6.1 (MUST-35, SHLD-29, SHLD-30).
#[test]
fn a_closed_window_is_probed_with_doubling_intervals() {
    // A probe has a number already known to the peer, which has to answer. The next interval counts from the answer.
    server(
        "121 ms write 1000
                > P. 1:1001 ack 1
         241 ms < . 1:1 ack 1001 win 0
                write 1000
         601..637 ms > . 1000:1000 ack 1
         721 ms < . 1:1 ack 1001 win 0
         1441..1477 ms > . 1000:1000 ack 1
         1600 ms < . 1:1 ack 1001 win 0
         3040..3300 ms > . 1000:1000 ack 1
                = timeouts 0, retransmits 0",
    );
}

/// RFC 5482, section 3; Linux 6.18 `tcp_clamp_probe0_to_user_timeout()`.
#[test]
fn a_window_that_stays_shut_is_given_up_after_the_user_timeout() {
    server_with(
        "set user_timeout 3 s",
        "121 ms write 1000
                > P. 1:1001 ack 1
         241 ms < . 1:1 ack 1001 win 0
                write 1000
         601..637 ms > . 1000:1000 ack 1
         721 ms < . 1:1 ack 1001 win 0
         1441..1477 ms > . 1000:1000 ack 1
         1600 ms < . 1:1 ack 1001 win 0
         3040..3300 ms > . 1000:1000 ack 1
         3400 ms < . 1:1 ack 1001 win 0
         3590 ms = state established
         3720 ms = state closed, timer none",
    );
}

/// RFC 9293, section 3.8.6.1.
#[test]
fn an_open_window_ends_probing() {
    server(
        "121 ms write 1000
                > P. 1:1001 ack 1
         241 ms < . 1:1 ack 1001 win 0
                write 1000
         601..637 ms > . 1000:1000 ack 1
         721 ms < . 1:1 ack 1001 win 512
                > P. 1001:2001 ack 1
         841 ms < . 1:1 ack 2001
                = timer none",
    );
}

/// RFC 9293, sections 3.8.6 (SHLD-14) and 3.8.6.2.2; RFC 9293, section 3.8.6.1 (MUST-36).
#[test]
fn a_full_buffer_offers_nothing_and_reading_opens_it() {
    // Five segments of 1460 B are promised at first, and the right edge stays where it is while nothing is read.
    script(
        "profile linux-classic
         set quick_ack_always true
         set receive_buffer_tuning false
         set receive_buffer_initial 16 kB
         0 ms   < S 0:0 win 32767 mss 1000
                > S. 0:0 ack 1 mss 1460
         120 ms < . 1:1 ack 1
         130 ms < . 1:1001 ack 1
                > . 1:1 ack 1001
         131 ms < . 1001:2001 ack 1
                > . 1:1 ack 2001
         132 ms < . 2001:3001 ack 1
                > . 1:1 ack 3001
         133 ms < . 3001:4001 ack 1
                > . 1:1 ack 4001
         134 ms < . 4001:5001 ack 1
                > . 1:1 ack 5001
         135 ms < . 5001:6001 ack 1
                > . 1:1 ack 6001
         136 ms < . 6001:7001 ack 1
                > . 1:1 ack 7001 win 300
         137 ms < P. 7001:7301 ack 1
                > . 1:1 ack 7301 win 0
         500 ms < . 7300:7300 ack 1              # a probe is answered
                > . 1:1 ack 7301 win 0
         600 ms read 7300
                > . 1:1 ack 7301",
    );
}

/// RFC 9293, section 3.8.
#[test]
fn an_urgent_reader_gets_its_bytes_in_order() {
    server(
        "121 ms < P. 1:301 ack 1
                > . 1:1 ack 301
                ! readable
                read 300
                = readable 0",
    );
}
