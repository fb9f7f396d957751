//! Segments out of order, overlapping, repeated, beyond the window: what Linux trims, delivers and answers.
//!
//! RFC 9293, sections 3.4 and 3.10.7.4; Linux 6.18 `tcp_input.c`, `tcp_data_queue()`, `tcp_sequence()`.

use super::{classic, script};

/// RFC 9293, section 3.10.7.4 (SHLD-31).
#[test]
fn what_comes_early_is_delivered_with_what_was_missing() {
    classic(
        "121 ms < . 1001:2001 ack 1
                > . 1:1 ack 1
                ! nothing
         122 ms < . 1:1001 ack 1
                > . 1:1 ack 2001
                ! readable
                = readable 2000",
    );
}

/// RFC 9293, section 3.4.
#[test]
fn the_part_that_is_known_is_trimmed() {
    classic(
        "121 ms < . 1:1001 ack 1
                > . 1:1 ack 1001
         122 ms < . 501:1501 ack 1
                > . 1:1 ack 1501
                = readable 1500",
    );
}

/// RFC 9293, section 3.10.7.4.
#[test]
fn overlapping_early_segments_count_once() {
    classic(
        "121 ms < . 1001:2001 ack 1
                > . 1:1 ack 1
         122 ms < . 1501:2501 ack 1
                > . 1:1 ack 1
         123 ms < . 501:1701 ack 1
                > . 1:1 ack 1
         124 ms < . 1:601 ack 1
                > . 1:1 ack 2501
                = readable 2500",
    );
}

/// RFC 9293, section 3.10.7.4.
#[test]
fn a_large_segment_swallows_small_ones() {
    classic(
        "121 ms < . 1001:1101 ack 1
                > . 1:1 ack 1
         122 ms < . 1301:1401 ack 1
                > . 1:1 ack 1
         123 ms < . 501:1501 ack 1
                > . 1:1 ack 1
         124 ms < . 1:501 ack 1
                > . 1:1 ack 1501
                = readable 1500",
    );
}

/// RFC 9293, section 3.10.7.4.
#[test]
fn a_segment_beyond_the_window_is_answered_and_dropped() {
    classic(
        "121 ms < . 40001:41001 ack 1
                > . 1:1 ack 1
                = readable 0",
    );
}

/// RFC 9293, section 3.10.7.4.
#[test]
fn a_fin_beyond_a_hole_waits() {
    classic(
        "121 ms < F. 1001:2001 ack 1
                > . 1:1 ack 1
                = state established
         122 ms < . 1:1001 ack 1
                > . 1:1 ack 2002
                ! end of stream
                = state closewait, readable 2000",
    );
}

/// RFC 9293, section 3.10.7.4.
#[test]
fn a_segment_without_ack_is_dropped() {
    classic(
        "121 ms < P 1:1001
                silence
                = readable 0",
    );
}

/// RFC 9293, section 3.10.7.4 (where it is answered); Linux 6.18 `tcp_ack()`.
#[test]
fn an_ack_of_what_was_never_sent_is_dropped_with_its_data() {
    classic(
        "121 ms < . 1:1001 ack 500
                silence
                = readable 0",
    );
}

/// RFC 7323, section 5.3.
#[test]
fn an_old_timestamp_marks_a_copy_from_long_ago() {
    script(
        "profile linux
         0 ms   connect
                > S 0:0 mss 1460 sackOK ts 0:0 scale 10
         120 ms < S. 0:0 ack 1 win 65535 mss 1012 sackOK ts 700:0 scale 7
                > . 1:1 ack 1 ts 120:700
         130 ms < . 1:1001 ack 1 ts 710:120
                > . 1:1 ack 1001 ts 130:710
         140 ms < . 1001:2001 ack 1 ts 650:120
                > . 1:1 ack 1001 ts 140:710
                = readable 1000",
    );
}
