//! Losses found by time: RACK's reordering window, and probes of the end of a flight.
//!
//! RFC 8985; Linux 6.18 `tcp_recovery.c`, `tcp_output.c`, `tcp_schedule_loss_probe()`, `tcp_send_loss_probe()`; `tcp_input.c`, `tcp_process_tlp_ack()`.

use super::{server, server_with};

/// RFC 8985, section 6.2.
#[test]
fn a_segment_that_was_overtaken_is_waited_for_a_quarter_of_a_round_trip() {
    // Sent at 121 ms. 120 ms of round trip, 30 ms of window and the 2 ms of the timer later it is lost.
    server(
        "121 ms write 2000
                > . 1:1001 ack 1
                > P. 1001:2001 ack 1
         241 ms < . 1:1 ack 1 sack 1001:2001
         271..285 ms > . 1:1001 ack 1
                = timeouts 0",
    );
}

/// RFC 8985, section 6.2.
#[test]
fn a_segment_that_comes_within_the_reordering_window_is_not_sent_again() {
    server(
        "121 ms write 2000
                > . 1:1001 ack 1
                > P. 1001:2001 ack 1
         241 ms < . 1:1 ack 1 sack 1001:2001
         260 ms < . 1:1 ack 2001
         1 s    = retransmits 0, timer none",
    );
}

/// RFC 8985, section 6.2 (reordering not seen).
#[test]
fn three_sacked_segments_need_no_reordering_window() {
    server(
        "121 ms write 4000
                > . 1:3001 ack 1 each 1000
                > P. 3001:4001 ack 1
         241 ms < . 1:1 ack 1 sack 1001:4001
                > . 1:1001 ack 1",
    );
}

/// RFC 8985, section 6.2.
#[test]
fn once_reordering_was_seen_three_sacked_segments_wait_as_well() {
    server(
        "121 ms write 4000
                > . 1:3001 ack 1 each 1000
                > P. 3001:4001 ack 1
         241 ms < . 1:1 ack 1 sack 1001:2001
         250 ms < . 1:1 ack 4001
         260 ms write 5000
                > . 4001:8001 ack 1 each 1000
                > P. 8001:9001 ack 1
         380 ms < . 1:1 ack 4001 sack 5001:9001
         410..424 ms > . 4001:5001 ack 1",
    );
}

/// RFC 8985, section 7.2.
#[test]
fn the_end_of_a_flight_is_probed_after_two_round_trips() {
    // 2 · 120 ms and 2 ms, in whole ticks.
    server(
        "121 ms write 5000
                > . 1:4001 ack 1 each 1000
                > P. 4001:5001 ack 1
         363..373 ms > P. 4001:5001 ack 1
                = timeouts 0, retransmits 1",
    );
}

/// RFC 8985, section 7.3.
#[test]
fn a_probe_is_new_data_if_there_is_any() {
    server(
        "121 ms write 12000
                > . 1:10001 ack 1 each 1000
         363..373 ms > . 10001:11001 ack 1
                = retransmits 0",
    );
}

/// RFC 8985, sections 6.2 and 7.4; RFC 9937, section 6.
#[test]
fn what_the_probe_shows_to_be_lost_is_sent_again() {
    server(
        "121 ms write 5000
                > . 1:4001 ack 1 each 1000
                > P. 4001:5001 ack 1
         363..373 ms > P. 4001:5001 ack 1
         490 ms < . 1:1 ack 1 sack 4001:5001
                > . 1:1001 ack 1
                = ssthresh 7000
         610 ms < . 1:1 ack 1001 sack 4001:5001
                > . 1001:3001 ack 1 each 1000
         730 ms < . 1:1 ack 3001 sack 4001:5001
                > . 3001:4001 ack 1
         850 ms < . 1:1 ack 5001
                = timeouts 0, flight 0",
    );
}

/// Linux 6.18 `tcp_rack_advance()` (RFC 8985, section 6.2, would take the round trip of the newest).
#[test]
fn a_late_ack_of_an_old_segment_stretches_the_round_trip_of_rack() {
    // The same with the first segment acknowledged, 369 ms after it was sent: that counts, and the others have 30 ms left.
    server(
        "121 ms write 5000
                > . 1:4001 ack 1 each 1000
                > P. 4001:5001 ack 1
         363..373 ms > P. 4001:5001 ack 1
         490 ms < . 1:1 ack 1001 sack 4001:5001
         520..530 ms > . 1001:2001 ack 1
         650 ms < . 1:1 ack 2001 sack 4001:5001
                > . 2001:4001 ack 1 each 1000
         770 ms < . 1:1 ack 5001
                = timeouts 0, flight 0",
    );
}

/// RFC 8985, section 7.2.
#[test]
fn a_single_segment_is_given_the_time_of_a_delayed_ack() {
    // 2 · 120 ms and 200 ms are more than the timeout of 360 ms, which bounds them.
    server(
        "121 ms write 1000
                > P. 1:1001 ack 1
         481..517 ms > P. 1:1001 ack 1
                = timeouts 0",
    );
}

/// RFC 8985, section 7.3.
#[test]
fn after_a_probe_comes_the_timeout() {
    server(
        "121 ms write 5000
                > . 1:4001 ack 1 each 1000
                > P. 4001:5001 ack 1
         363..373 ms > P. 4001:5001 ack 1
                = timeouts 0
         725..769 ms > . 1:1001 ack 1
                = timeouts 1",
    );
}

/// RFC 8985, section 7.4.2.
#[test]
fn a_probe_that_repaired_a_loss_costs_window_once_more_is_acknowledged() {
    server(
        "121 ms write 5000
                > . 1:4001 ack 1 each 1000
                > P. 4001:5001 ack 1
         241 ms < . 1:1 ack 4001
         601..640 ms > P. 4001:5001 ack 1
         721 ms < . 1:1 ack 5001
                = cwnd 10000
         730 ms write 1000
                > P. 5001:6001 ack 1
         850 ms < . 1:1 ack 6001
                = cwnd 7000, ssthresh 7000",
    );
}

/// RFC 8985, section 7.4.2.
#[test]
fn a_probe_that_came_as_a_copy_costs_nothing() {
    server(
        "121 ms write 5000
                > . 1:4001 ack 1 each 1000
                > P. 4001:5001 ack 1
         241 ms < . 1:1 ack 4001
         601..640 ms > P. 4001:5001 ack 1
         721 ms < . 1:1 ack 5001
         722 ms < . 1:1 ack 5001 sack 4001:5001
         730 ms write 1000
                > P. 5001:6001 ack 1
         850 ms < . 1:1 ack 6001
                = cwnd 10000",
    );
}

/// Linux 6.18 `tcp_early_retrans` 0.
#[test]
fn without_probes_the_timeout_comes_first() {
    server_with(
        "set tail_loss_probe false",
        "121 ms write 5000
                > . 1:4001 ack 1 each 1000
                > P. 4001:5001 ack 1
         481..517 ms > . 1:1001 ack 1
                = timeouts 1",
    );
}
