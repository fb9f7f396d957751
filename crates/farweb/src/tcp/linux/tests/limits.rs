//! Limits that hold a sender: its congestion window, the peer's window, its own buffer, or a rule.
//!
//! RFC 5681, section 3.1; RFC 9293, section 3.8.6; Linux 6.18 `tcp_output.c`, `tcp_chrono_start()`.

use super::{classic_with, server, server_with};

/// RFC 5681, section 3.1.
#[test]
fn the_congestion_window_holds_what_the_peer_would_take() {
    server(
        "121 ms write 15000
                > . 1:10001 ack 1 each 1000
                = outstanding 15000, limit cwnd, limit_with_more cwnd
         241 ms < . 1:1 ack 10001
                > . 10001:14001 ack 1 each 1000
                > P. 14001:15001 ack 1
                = outstanding 5000, limit none",
    );
}

/// RFC 9293, section 3.8.6; Linux 6.18 `tcp_chrono_start()`.
#[test]
fn the_window_of_the_peer_holds_also_where_cwnd_has_no_room_either() {
    classic_with(
        "set initial_cwnd_segments 3",
        "121 ms write 30000
                > . 1:3001 ack 1 each 1000
                = limit cwnd
         241 ms < . 1:1 ack 1001 win 4000
                > . 3001:5001 ack 1 each 1000
                = cwnd 4000, limit window
         361 ms < . 1:1 ack 3001 win 65535
                > . 5001:9001 ack 1 each 1000
                = cwnd 6000, limit cwnd",
    );
}

/// Linux 6.18 `tcp_sendmsg_locked()`; Linux 6.18 `tcp_chrono_start()`.
#[test]
fn a_buffer_without_a_whole_segment_holds_a_writer_who_has_more() {
    server_with(
        "set send_buffer_initial 4608 B
         set send_buffer_max 4608 B",
        "121 ms write 30000 takes 3000
                > . 1:2001 ack 1 each 1000
                > P. 2001:3001 ack 1
                = limit none, limit_with_more buffer",
    );
}
