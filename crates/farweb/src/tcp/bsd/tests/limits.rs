//! Limits that hold a sender: its congestion window, the peer's window, its own buffer, or a rule.
//!
//! RFC 5681, section 3.1; RFC 9293, section 3.8.6; 4.4BSD-Lite `tcp_output.c` 8.3.

use super::{client, script, server, server_with};

/// RFC 5681, section 3.1.
#[test]
fn the_congestion_window_holds_what_the_peer_would_take() {
    server(
        "121 ms write 5840
                > . 1:1461 ack 1
                > . 1461:2921 ack 1
                = outstanding 5840, sent 2920, limit cwnd, limit_with_more cwnd
         241 ms < . 1:1 ack 2921
                > . 2921:4381 ack 1
                > P. 4381:5841 ack 1
                = outstanding 2920, limit none
         361 ms < . 1:1 ack 5841
                = outstanding 0, limit none",
    );
}

/// RFC 9293, section 3.8.6; RFC 5681, section 3.1.
#[test]
fn the_window_of_the_peer_holds_also_where_cwnd_has_no_room_either() {
    script(
        "0 ms   < S 0:0 win 2920 mss 1460
                > S. 0:0 ack 1 mss 1460
         120 ms < . 1:1 ack 1
         121 ms write 9000
                > . 1:1461 ack 1
                > . 1461:2921 ack 1
                = cwnd 2920, limit window
         241 ms < . 1:1 ack 2921
                > . 2921:4381 ack 1
                > . 4381:5841 ack 1
                = limit window
         361 ms < . 1:1 ack 5841 win 3000     # 80 B of room are no segment
                > . 5841:7301 ack 1
                > . 7301:8761 ack 1
                = cwnd 4380, limit window
         481 ms < . 1:1 ack 8761 win 0
                = limit window
         5 s    > . 8761:8762 ack 1
                = limit window
         5.1 s  < . 1:1 ack 8762 win 9000
                > P. 8762:9001 ack 1
                = limit none",
    );
}

/// 4.4BSD-Lite `uipc_socket.c` 8.3.
#[test]
fn a_buffer_without_a_whole_segment_holds_a_writer_who_has_more() {
    server_with(
        "buffer 2920",
        "121 ms write 9000 takes 2920
                > . 1:1461 ack 1
                > P. 1461:2921 ack 1
                = limit none, limit_with_more buffer
         241 ms < . 1:1 ack 1461              # 1460 B are below the low-water mark
                ! nothing
                = limit none, limit_with_more buffer",
    );
}

/// RFC 9293, section 3.9.1; 4.4BSD-Lite `tcp_timer.c` 8.1.
#[test]
fn what_is_sent_again_after_a_timeout_is_held_by_cwnd() {
    client(
        "121 ms write 1460
                > P. 1:1461 ack 1
         241 ms < . 1:1 ack 1461
                write 2920
                > . 1461:2921 ack 1
                > P. 2921:4381 ack 1
                = limit none
         1.5 s  > . 1461:2921 ack 1
                = limit cwnd",
    );
}
