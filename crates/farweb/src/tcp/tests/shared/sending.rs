//! When data leaves, where every stack does the same.

use super::{opening, server, server_with};

/// RFC 9293, section 3.10.2.
#[test]
fn before_the_handshake_is_over_nothing_is_taken_and_the_handshake_holds() {
    opening(
        "       write 100 takes 0
                = sent 0, limit none, limit_with_more handshake
                close
                = state closed, limit none",
    );
}

/// RFC 896; 4.4BSD-Lite `tcp_output.c` 8.3; Linux 6.18 `tcp_minshall_check()`.
#[test]
fn a_small_segment_is_held_by_a_rule() {
    server(
        "121 ms write 100
                > P. 1:101 ack 1
         122 ms write 50
                = limit nagle
         241 ms < . 1:1 ack 101
                > P. 101:151 ack 1
                = limit none",
    );
}

/// RFC 1122, section 4.2.3.4; RFC 9293, section 3.7.4 (MUST-17).
#[test]
fn without_nagle_small_writes_leave_at_once() {
    server_with(
        "set nagle false",
        "121 ms write 100
                > P. 1:101 ack 1
         125 ms write 100
                > P. 101:201 ack 1",
    );
}

/// RFC 896; RFC 9293, section 3.6; 4.4BSD-Lite `tcp_output.c` 8.3.
#[test]
fn a_fin_takes_the_waiting_rest_along() {
    server(
        "121 ms write 100
                > P. 1:101 ack 1
         125 ms write 100
         130 ms close
                > FP. 101:201 ack 1",
    );
}
