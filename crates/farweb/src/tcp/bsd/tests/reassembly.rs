//! Segments out of order, overlapping, repeated: the parts trimmed and the parts delivered.

use super::{client, script};

/// RFC 1122, section 4.2.2.20; 4.4BSD-Lite `tcp_input.c` 8.5, `tcp_reass()`.
#[test]
fn what_comes_early_is_kept_and_delivered_with_what_was_missing() {
    client(
        "130 ms < . 201:301 ack 1
                > . 1:1 ack 1
         131 ms < . 401:501 ack 1
                > . 1:1 ack 1
         132 ms < . 1:101 ack 1
                > . 1:1 ack 101
                = readable 100
         133 ms < . 101:201 ack 1
                > . 1:1 ack 301
                = readable 300
         134 ms < . 301:401 ack 1
                > . 1:1 ack 501
                = readable 500",
    );
}

/// RFC 793, section 3.9; 4.4BSD-Lite `tcp_input.c` 8.5, `tcp_reass()`.
#[test]
fn overlaps_count_once() {
    client(
        "130 ms < . 101:301 ack 1
                > . 1:1 ack 1
         131 ms < . 201:401 ack 1
                > . 1:1 ack 1
         132 ms < . 51:151 ack 1
                > . 1:1 ack 1
         133 ms < . 1:101 ack 1
                > . 1:1 ack 401
                = readable 400",
    );
}

/// RFC 793, section 3.9.
#[test]
fn a_segment_that_is_partly_known_gives_its_new_part() {
    client(
        "130 ms < . 1:101 ack 1
         140 ms < . 51:201 ack 1
         200 ms > . 1:1 ack 201
                = readable 200",
    );
}

/// 4.4BSD-Lite `tcp_input.c` 8.5, `tcp_reass()`.
#[test]
fn a_segment_around_a_kept_one_replaces_it() {
    client(
        "130 ms < . 101:201 ack 1
                > . 1:1 ack 1
         131 ms < . 1:301 ack 1
                > . 1:1 ack 301
                = readable 300",
    );
}

/// RFC 793, section 3.4.
#[test]
fn data_on_a_syn_waits_for_the_connection() {
    script(
        "0 ms   < S 0:100 mss 1460
                > S. 0:0 ack 1 mss 1460
                = readable 0
         120 ms < . 101:101 ack 1
                ! readable
                = readable 100",
    );
}
