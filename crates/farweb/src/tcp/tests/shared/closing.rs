//! Closing, where every stack does the same.

use super::client;

/// RFC 793, section 3.5; RFC 9293, section 3.6 (half-close); RFC 1122, section 4.2.2.13.
#[test]
fn a_half_closed_connection_still_receives() {
    client(
        "130 ms shutdown
                > F. 1:1 ack 1
         250 ms < . 1:1 ack 2
                = state fin-wait-2
         300 ms < P. 1:101 ack 2
                > . 2:2 ack 101
                ! readable
                read 100
         400 ms < F. 101:101 ack 2
                > . 2:2 ack 102
                ! end of stream
                = state time-wait",
    );
}

/// RFC 793, section 3.5; RFC 9293, section 3.6.
#[test]
fn a_half_closed_connection_waits_for_ever_in_fin_wait_2() {
    client(
        "130 ms shutdown
                > F. 1:1 ack 1
         250 ms < . 1:1 ack 2
                = state fin-wait-2, timer none",
    );
}

/// RFC 793, section 3.9; RFC 9293, section 3.6.
#[test]
fn the_fin_of_the_peer_may_bring_the_ack_of_ours() {
    client(
        "130 ms close
                > F. 1:1 ack 1
         250 ms < F. 1:1 ack 2
                > . 2:2 ack 2
                = state time-wait",
    );
}

/// RFC 1122, section 4.2.2.13; RFC 9293, section 3.6.1; 4.4BSD-Lite `tcp_input.c` 8.5.
#[test]
fn data_for_an_application_that_has_closed_is_answered_with_a_reset() {
    client(
        "130 ms close
                > F. 1:1 ack 1
         250 ms < . 1:1 ack 2
         300 ms < P. 1:101 ack 2
                > R 2:2 win 0
                ! closed: reset
                = state closed",
    );
}

/// RFC 793, section 3.4; RFC 9293, section 3.10.7.4; RFC 5961, section 3.2.
#[test]
fn a_reset_with_the_number_expected_ends_the_connection() {
    client(
        "130 ms < R 1:1
                ! closed: reset
                = state closed, timer none",
    );
}
