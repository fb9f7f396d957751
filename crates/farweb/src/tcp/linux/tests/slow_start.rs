//! Slow start and congestion avoidance of Linux: the initial window, growth by segments, and what idleness costs.
//!
//! RFC 5681, section 3.1; RFC 6928; RFC 9438; RFC 7661 (by `tcp_is_cwnd_limited()`); Linux 6.18 `tcp_cong.c`, `tcp_cubic.c`, `tcp_output.c`.

use super::{classic, script, server, server_with};

/// RFC 6928, section 2.
#[test]
fn the_first_flight_is_ten_segments() {
    server(
        "121 ms write 30000
                > . 1:10001 ack 1 each 1000
                = cwnd 10000",
    );
}

/// RFC 5681, section 3.1.
#[test]
fn every_acknowledged_segment_lets_two_go() {
    server(
        "121 ms write 30000
                > . 1:10001 ack 1 each 1000
         241 ms < . 1:1 ack 1001
                > . 10001:12001 ack 1 each 1000
                = cwnd 11000
         242 ms < . 1:1 ack 2001
                > . 12001:14001 ack 1 each 1000
                = cwnd 12000",
    );
}

/// RFC 5681, section 3.1 (byte counting, RFC 3465); Linux 6.18 `tcp_slow_start()`.
#[test]
fn an_ack_of_two_segments_counts_twice() {
    server(
        "121 ms write 30000
                > . 1:10001 ack 1 each 1000
         241 ms < . 1:1 ack 2001
                > . 10001:14001 ack 1 each 1000
         242 ms < . 1:1 ack 4001
                > . 14001:18001 ack 1 each 1000
                = cwnd 14000",
    );
}

/// RFC 5681, section 3.1; Linux 6.18 `tcp_slow_start()`.
#[test]
fn an_ack_of_a_whole_flight_doubles_the_window() {
    server(
        "121 ms write 30000
                > . 1:10001 ack 1 each 1000
         241 ms < . 1:1 ack 10001
                > . 10001:29001 ack 1 each 1000
                > P. 29001:30001 ack 1
                = cwnd 20000",
    );
}

/// RFC 2001; Linux route option `initcwnd` 1.
#[test]
fn classic_starts_with_one_segment() {
    classic(
        "121 ms write 30000
                > . 1:1001 ack 1
         241 ms < . 1:1 ack 1001
                > . 1001:3001 ack 1 each 1000
         361 ms < . 1:1 ack 3001
                > . 3001:7001 ack 1 each 1000
         481 ms < . 1:1 ack 7001
                > . 7001:15001 ack 1 each 1000
                = cwnd 8000",
    );
}

/// RFC 7661, section 4; Linux 6.18 `tcp_is_cwnd_limited()`.
#[test]
fn a_window_that_is_used_by_less_than_half_does_not_grow() {
    server(
        "121 ms write 3000
                > . 1:2001 ack 1 each 1000
                > P. 2001:3001 ack 1
         241 ms < . 1:1 ack 3001
                = cwnd 10000",
    );
}

/// RFC 7661, section 4; Linux 6.18 `tcp_is_cwnd_limited()`.
#[test]
fn a_window_used_by_nine_tenths_grows_to_twice_what_was_sent() {
    server(
        "121 ms write 9000
                > . 1:8001 ack 1 each 1000
                > P. 8001:9001 ack 1
         241 ms < . 1:1 ack 1001
                < . 1:1 ack 2001
                < . 1:1 ack 3001
                < . 1:1 ack 4001
                < . 1:1 ack 5001
                < . 1:1 ack 6001
                < . 1:1 ack 7001
                < . 1:1 ack 8001
                = cwnd 18000
                < . 1:1 ack 9001
                = cwnd 18000",
    );
}

/// RFC 5681, section 4.1; Linux 6.18 `tcp_cwnd_restart()`.
#[test]
fn a_pause_of_an_rto_halves_a_grown_window() {
    // The RTO is about 350 ms, and nothing was sent for 599 ms: one whole RTO of pause halves the window once.
    server(
        "121 ms write 40000
                > . 1:10001 ack 1 each 1000
         241 ms < . 1:1 ack 10001
                > . 10001:30001 ack 1 each 1000
         361 ms < . 1:1 ack 30001
                > . 30001:39001 ack 1 each 1000
                > P. 39001:40001 ack 1
                = cwnd 40000
         481 ms < . 1:1 ack 40001
                = cwnd 40000
         960 ms write 1000
                > P. 40001:41001 ack 1
                = cwnd 20000",
    );
}

/// RFC 5681, section 4.1; Linux 6.18 `tcp_cwnd_restart()`.
#[test]
fn a_long_pause_brings_the_initial_window_back_and_no_less() {
    server(
        "121 ms write 30000
                > . 1:10001 ack 1 each 1000
         241 ms < . 1:1 ack 10001
                > . 10001:29001 ack 1 each 1000
                > P. 29001:30001 ack 1
         361 ms < . 1:1 ack 30001
         60 s   write 20000
                > . 30001:40001 ack 1 each 1000
                = cwnd 10000",
    );
}

/// RFC 5681, section 4.1 (a SHOULD); Linux 6.18 `tcp_slow_start_after_idle` 0.
#[test]
fn without_restart_a_pause_costs_nothing() {
    server_with(
        "set slow_start_after_idle false",
        "121 ms write 30000
                > . 1:10001 ack 1 each 1000
         241 ms < . 1:1 ack 10001
                > . 10001:29001 ack 1 each 1000
                > P. 29001:30001 ack 1
         361 ms < . 1:1 ack 30001
         60 s   write 20000
                > . 30001:49001 ack 1 each 1000
                > P. 49001:50001 ack 1",
    );
}

/// RFC 5681, section 3.1; Linux 6.18 `tcp_cong_avoid_ai()`.
#[test]
fn reno_grows_by_a_segment_a_window_above_ssthresh() {
    // The timeout leaves ssthresh 2: half of the one segment in flight, at least two.
    classic(
        "121 ms write 30000
                > . 1:1001 ack 1
         481..517 ms > . 1:1001 ack 1
                = ssthresh 2000, cwnd 1000
         620 ms < . 1:1 ack 1001
                > . 1001:3001 ack 1 each 1000
                = cwnd 2000
         740 ms < . 1:1 ack 2001
                > . 3001:4001 ack 1
                = cwnd 2000
         741 ms < . 1:1 ack 3001
                > . 4001:6001 ack 1 each 1000
                = cwnd 3000
         860 ms < . 1:1 ack 6001
                > . 6001:10001 ack 1 each 1000
                = cwnd 4000",
    );
}

/// RFC 9293, section 3.8.6; RFC 5681, section 3.1.
#[test]
fn the_window_of_the_peer_bounds_a_flight() {
    script(
        "profile linux
         set timestamps false
         0 ms   < S 0:0 win 65535 mss 1000 sackOK scale 7
                > S. 0:0 ack 1 mss 1460 sackOK scale 10
         120 ms < . 1:1 ack 1 win 40             # 40 · 2^7 = 5120 B
         121 ms write 9000
                > . 1:5001 ack 1 each 1000",
    );
}

/// RFC 9406, section 4 (the delay rule); Linux 6.18 `hystart_update()`.
#[test]
fn hystart_ends_slow_start_when_round_trips_grow() {
    // Eight samples of a round are 160 ms where the one before had 120 ms, more than an eighth above: the next ACK ends slow start.
    server(
        "121 ms write 100000
                > . 1:10001 ack 1 each 1000
         241 ms < . 1:1 ack 10001
                > . 10001:30001 ack 1 each 1000
         401 ms < . 1:1 ack 11001
                > . 30001:32001 ack 1 each 1000
                < . 1:1 ack 12001
                > . 32001:34001 ack 1 each 1000
                < . 1:1 ack 13001
                > . 34001:36001 ack 1 each 1000
                < . 1:1 ack 14001
                > . 36001:38001 ack 1 each 1000
                < . 1:1 ack 15001
                > . 38001:40001 ack 1 each 1000
                < . 1:1 ack 16001
                > . 40001:42001 ack 1 each 1000
                < . 1:1 ack 17001
                > . 42001:44001 ack 1 each 1000
                < . 1:1 ack 18001
                > . 44001:46001 ack 1 each 1000
                < . 1:1 ack 19001
                > . 46001:47001 ack 1
                = ssthresh 28000",
    );
}
