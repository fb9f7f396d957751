//! Selective acknowledgements of Linux's receiver, duplicates included.
//!
//! RFC 2018, sections 3 and 4; RFC 2883; Linux 6.18 `tcp_input.c`, `tcp_sack_new_ofo_skb()`, `tcp_dsack_set()`.

use super::{classic, client, client_with, script};

/// RFC 2018, section 4.
#[test]
fn the_block_that_just_grew_comes_first() {
    client(
        "130 ms < . 1001:2001 ack 1
                > . 1:1 ack 1 sack 1001:2001
         131 ms < . 3001:4001 ack 1
                > . 1:1 ack 1 sack 3001:4001,1001:2001
         132 ms < . 5001:6001 ack 1
                > . 1:1 ack 1 sack 5001:6001,3001:4001,1001:2001",
    );
}

/// RFC 2018, section 3.
#[test]
fn no_more_than_four_blocks_fit() {
    client(
        "130 ms < . 1001:2001 ack 1
                > . 1:1 ack 1 sack 1001:2001
         131 ms < . 3001:4001 ack 1
                > . 1:1 ack 1 sack 3001:4001,1001:2001
         132 ms < . 5001:6001 ack 1
                > . 1:1 ack 1 sack 5001:6001,3001:4001,1001:2001
         140 ms < . 7001:8001 ack 1
                > . 1:1 ack 1 sack 7001:8001,5001:6001,3001:4001,1001:2001
         150 ms < . 9001:10001 ack 1
                > . 1:1 ack 1 sack 9001:10001,7001:8001,5001:6001,3001:4001",
    );
}

/// RFC 2018, section 3; RFC 7323, section 3.2.
#[test]
fn beside_timestamps_three_blocks_fit() {
    script(
        "profile linux
         peer timestamps
         0 ms   connect
                > S 0:0 mss 1460 sackOK scale 10
         120 ms < S. 0:0 ack 1 win 65535 mss 1012 sackOK scale 7
                > . 1:1 ack 1
         130 ms < . 1001:2001 ack 1
                > . 1:1 ack 1 sack 1001:2001
         131 ms < . 3001:4001 ack 1
                > . 1:1 ack 1 sack 3001:4001,1001:2001
         132 ms < . 5001:6001 ack 1
                > . 1:1 ack 1 sack 5001:6001,3001:4001,1001:2001
         140 ms < . 7001:8001 ack 1
         140..141 ms > . 1:1 ack 1 sack 7001:8001,5001:6001,3001:4001",
    );
}

/// RFC 2018, section 3.
#[test]
fn blocks_that_touch_become_one() {
    client(
        "130 ms < . 1001:2001 ack 1
                > . 1:1 ack 1 sack 1001:2001
         131 ms < . 3001:4001 ack 1
                > . 1:1 ack 1 sack 3001:4001,1001:2001
         132 ms < . 2001:3001 ack 1
                > . 1:1 ack 1 sack 1001:4001",
    );
}

/// RFC 2018, section 4.
#[test]
fn blocks_vanish_as_holes_are_filled() {
    client(
        "130 ms < . 1001:2001 ack 1
                > . 1:1 ack 1 sack 1001:2001
         131 ms < . 3001:4001 ack 1
                > . 1:1 ack 1 sack 3001:4001,1001:2001
         132 ms < . 1:1001 ack 1
                > . 1:1 ack 2001 sack 3001:4001
         133 ms < . 2001:3001 ack 1
                > . 1:1 ack 4001",
    );
}

/// RFC 2883, section 4.
#[test]
fn a_copy_of_what_was_acknowledged_is_reported_first() {
    client(
        "130 ms < . 1:1001 ack 1
                > . 1:1 ack 1001
         131 ms < . 1:1001 ack 1
                > . 1:1 ack 1001 sack 1:1001",
    );
}

/// RFC 2883, section 4.
#[test]
fn a_copy_below_and_blocks_above_are_reported_together() {
    client(
        "130 ms < . 1:1001 ack 1
                > . 1:1 ack 1001
         131 ms < . 2001:3001 ack 1
                > . 1:1 ack 1001 sack 2001:3001
         132 ms < . 1:1001 ack 1
                > . 1:1 ack 1001 sack 1:1001,2001:3001",
    );
}

/// RFC 2883, section 4.
#[test]
fn a_copy_of_what_waits_beyond_a_hole_is_reported_first() {
    client(
        "130 ms < . 1001:2001 ack 1
                > . 1:1 ack 1 sack 1001:2001
         131 ms < . 1001:2001 ack 1
                > . 1:1 ack 1 sack 1001:2001,1001:2001",
    );
}

/// RFC 2883; Linux 6.18 `tcp_dsack` 0.
#[test]
fn without_dsack_a_copy_is_just_acknowledged() {
    client_with(
        "set dsack false",
        "130 ms < . 1:1001 ack 1
                > . 1:1 ack 1001
         131 ms < . 1:1001 ack 1
                > . 1:1 ack 1001",
    );
}

/// RFC 2018, section 2.
#[test]
fn without_permission_nothing_is_reported() {
    classic(
        "121 ms < . 1001:2001 ack 1
                > . 1:1 ack 1
         122 ms < . 2001:3001 ack 1
                > . 1:1 ack 1
         123 ms < . 1:1001 ack 1
                > . 1:1 ack 3001",
    );
}
