//! When Linux acknowledges: at once at the start and around holes, every second segment then, a single one after 40 ms.
//!
//! RFC 9293, section 3.8.6.3; RFC 5681, section 4.2; Linux 6.18 `tcp_input.c`, `tcp_output.c`, `tcp_timer.c`.

use super::{client, client_with, script, server, server_with};

/// Linux 6.18 `tcp_incr_quickack()`, 16 at most; RFC 5681, section 4.2 allows it.
#[test]
fn the_first_segments_are_acknowledged_one_by_one() {
    client_with(
        "reader fast",
        "130 ms < . 1:1001 ack 1
                > . 1:1 ack 1001
         131 ms < . 1001:2001 ack 1
                > . 1:1 ack 2001
         132 ms < . 2001:3001 ack 1
                > . 1:1 ack 3001",
    );
}

/// Linux 6.18 `tcp_event_data_recv()`.
#[test]
fn a_request_is_acknowledged_at_once_the_first_time() {
    server(
        "121 ms < P. 1:301 ack 1
                > . 1:1 ack 301",
    );
}

/// RFC 9293, section 3.8.6.3; Linux 6.18 `tcp_event_data_sent()`.
#[test]
fn in_a_dialogue_the_answer_carries_the_ack() {
    server_with(
        "reader fast",
        "121 ms < P. 1:301 ack 1
                > . 1:1 ack 301
                write 1000
                > P. 1:1001 ack 301
         241 ms < P. 301:601 ack 1001
         242 ms write 1000
                > P. 1001:2001 ack 601",
    );
}

/// RFC 9293, section 3.8.6.3; Linux 6.18 `TCP_DELACK_MIN`.
#[test]
fn in_a_dialogue_an_ack_without_answer_leaves_after_40_ms() {
    server(
        "121 ms < P. 1:301 ack 1
                > . 1:1 ack 301
                write 1000
                > P. 1:1001 ack 301
         241 ms < P. 301:601 ack 1001
         281..285 ms > . 1001:1001 ack 601",
    );
}

/// RFC 5681, section 4.2; RFC 9293, section 3.8.6.3 (SHLD-19).
#[test]
fn after_the_quick_acks_every_second_segment_is_acknowledged() {
    client_with(
        "reader fast
         set quick_acks_max 1",
        "130 ms < . 1:1001 ack 1
                > . 1:1 ack 1001
         131 ms < . 1001:2001 ack 1
         132 ms < . 2001:3001 ack 1
                > . 1:1 ack 3001
         133 ms < . 3001:4001 ack 1
         134 ms < . 4001:5001 ack 1
                > . 1:1 ack 5001",
    );
}

/// RFC 9293, section 3.8.6.3 (MUST-58: less than 500 ms).
#[test]
fn a_single_segment_waits_40_ms_for_company() {
    client_with(
        "reader fast
         set quick_acks_max 1",
        "130 ms < . 1:1001 ack 1
                > . 1:1 ack 1001
         131 ms < . 1001:2001 ack 1
         171..175 ms > . 1:1 ack 2001",
    );
}

/// Linux route option `quickack`; RFC 9293, section 3.8.6.3.
#[test]
fn with_the_route_option_every_segment_is_acknowledged() {
    client_with(
        "reader fast
         set quick_ack_always true
         set quick_acks_max 1",
        "130 ms < . 1:1001 ack 1
                > . 1:1 ack 1001
         131 ms < . 1001:2001 ack 1
                > . 1:1 ack 2001
         150 ms < . 2001:3001 ack 1
                > . 1:1 ack 3001",
    );
}

/// RFC 5681, section 4.2.
#[test]
fn a_segment_beyond_a_hole_is_acknowledged_at_once() {
    client_with(
        "reader fast
         set quick_acks_max 1",
        "130 ms < . 1:1001 ack 1
                > . 1:1 ack 1001
         131 ms < . 2001:3001 ack 1
                > . 1:1 ack 1001 sack 2001:3001",
    );
}

/// RFC 5681, section 4.2.
#[test]
fn the_segment_that_fills_a_hole_is_acknowledged_at_once() {
    client_with(
        "set quick_acks_max 1",
        "130 ms < . 1001:2001 ack 1
                > . 1:1 ack 1 sack 1001:2001
         140 ms < . 1:1001 ack 1
                > . 1:1 ack 2001",
    );
}

/// RFC 9293, section 3.10.7.4; Linux 6.18 `tcp_fin()`.
#[test]
fn a_fin_waits_for_the_fin_of_the_application() {
    // It counts as the end of a dialogue, and its ACK rides on our FIN if that comes within the delay.
    client_with(
        "reader fast",
        "130 ms < FP. 1:301 ack 1
                ! end of stream
         140 ms close
                > F. 1:1 ack 302
                = state lastack",
    );
}

/// RFC 9293, section 3.8.6.3; Linux 6.18 `tcp_fin()`.
#[test]
fn a_fin_without_an_answer_is_acknowledged_after_40_ms() {
    client(
        "130 ms < FP. 1:301 ack 1
         170..174 ms > . 1:1 ack 302",
    );
}

/// Linux 6.18 `__tcp_ack_snd_check()`, `tcp_comp_sack_delay_ns` 1 ms.
#[test]
fn further_duplicates_with_sack_are_reported_together() {
    // Three leave at once. The next ones wait for 1 ms at most, a twentieth of the round trip if that is less, and one ACK reports
    // all of them. The echo of the first ACK gives the round trip.
    script(
        "profile linux
         peer timestamps
         set quick_acks_max 1
         reader fast
         0 ms   connect
                > S 0:0 mss 1460 sackOK scale 10
         120 ms < S. 0:0 ack 1 win 65535 mss 1012 sackOK scale 7
                > . 1:1 ack 1
         250 ms < . 1:1001 ack 1
                > . 1:1 ack 1001
         380 ms < . 2001:3001 ack 1
                > . 1:1 ack 1001 sack 2001:3001
                < . 3001:4001 ack 1
                > . 1:1 ack 1001 sack 2001:4001
                < . 4001:5001 ack 1
                > . 1:1 ack 1001 sack 2001:5001
                < . 5001:6001 ack 1
                < . 6001:7001 ack 1
                silence
         381 ms > . 1:1 ack 1001 sack 2001:7001",
    );
}
