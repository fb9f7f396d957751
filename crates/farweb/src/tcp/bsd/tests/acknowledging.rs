//! When ACKs leave: the 200 ms grid, the window-update rule that looks like "every second segment", and ACKs at once.

use super::{client, client_with, script};

/// RFC 1122, section 4.2.3.2; 4.4BSD-Lite `tcp_timer.c` 8.1, `tcp_fasttimo()`.
#[test]
fn a_single_segment_is_acknowledged_at_the_next_fast_tick() {
    client(
        "reader fast
         130 ms < . 1:1461 ack 1
         200 ms > . 1:1 ack 1461 win 32120
         250 ms < . 1461:2921 ack 1
         400 ms > . 1:1 ack 2921",
    );
    client_with(
        "host slow 0 ms fast 150 ms",
        "reader fast
         130 ms < . 1:1461 ack 1
         150 ms > . 1:1 ack 1461",
    );
}

/// 4.4BSD-Lite `tcp_timer.c` 8.1, `tcp_fasttimo()`.
#[test]
fn a_tick_at_the_instant_of_arrival_has_passed() {
    client(
        "reader fast
         200 ms < . 1:1461 ack 1
         400 ms > . 1:1 ack 1461",
    );
}

/// RFC 1122, section 4.2.3.2; 4.4BSD-Lite `tcp_output.c` 8.3.
#[test]
fn a_fast_reader_acknowledges_every_second_full_segment() {
    client(
        "reader fast
         130 ms < . 1:1461 ack 1
         131 ms < . 1461:2921 ack 1
                > . 1:1 ack 2921 win 32120
         132 ms < . 2921:4381 ack 1
         133 ms < . 4381:5841 ack 1
                > . 1:1 ack 5841 win 32120",
    );
}

/// RFC 1122, section 4.2.3.2; 4.4BSD-Lite `tcp_output.c` 8.3; 4.4BSD-Lite `tcp_usrreq.c` 8.2, `PRU_RCVD`.
#[test]
fn a_slow_reader_acknowledges_when_it_reads_or_at_the_tick() {
    client(
        "130 ms < . 1:1461 ack 1
         131 ms < . 1461:2921 ack 1
         132 ms < . 2921:4381 ack 1
                silence
         150 ms read 2000                 # the window moves by 2000: less than two segments
         160 ms read 1000
                > . 1:1 ack 4381 win 30740
         170 ms < . 4381:5841 ack 1
         200 ms > . 1:1 ack 5841 win 29280",
    );
}

/// RFC 2525, section 2.13 (stretch ACK); 4.4BSD-Lite `tcp_output.c` 8.3.
#[test]
fn with_timestamps_every_third_segment_is_acknowledged() {
    // Segments carry 1448 B, so two of them move the window by less than twice the MSS of 1460 B.
    script_with_timestamps(
        "131 ms < . 1:1449 ack 1 ts 9:1
         132 ms < . 1449:2897 ack 1 ts 9:1
         133 ms < . 2897:4345 ack 1 ts 9:1
                > . 1:1 ack 4345 ts 1:9
         134 ms < . 4345:5793 ack 1 ts 9:1",
    );
}

fn script_with_timestamps(text: &str) {
    script(&format!(
        "set timestamps true
         reader fast
         0 ms   connect
                > S 0:0 mss 1460 ts 1:0
         120 ms < S. 0:0 ack 1 mss 1460 ts 9:1
                > . 1:1 ack 1 ts 1:9
         {text}
         200 ms > . 1:1 ack 5793 ts 1:9"
    ));
}

/// RFC 1122, section 4.2.3.2; 4.4BSD-Lite `tcp_output.c` 8.3.
#[test]
fn small_segments_are_acknowledged_when_together_they_make_two_full_ones() {
    // 29 of 100 B move the window by 2900 B, the 30th by 3000 B.
    let arrive = |n: u64| format!("{} ms < P. {}:{} ack 1\n", 130 + n, 1 + 100 * n, 101 + 100 * n);
    let segments: String = (0..30).map(arrive).collect();
    client(&format!("reader fast\n{segments} > . 1:1 ack 3001 win 32120"));
}

/// 4.4BSD-Lite `tcp_output.c` 8.3.
#[test]
fn with_a_buffer_of_two_segments_every_segment_is_acknowledged() {
    client_with(
        "buffer 2920",
        "reader fast
         130 ms < . 1:1461 ack 1
                > . 1:1 ack 1461 win 2920
         131 ms < . 1461:2921 ack 1
                > . 1:1 ack 2921",
    );
}

/// RFC 1122, section 4.2.3.2.
#[test]
fn without_delay_every_segment_is_acknowledged_as_it_arrives() {
    client_with(
        "set delayed_ack false",
        "reader fast
         130 ms < . 1:1461 ack 1
                > . 1:1 ack 1461 win 30660",
    );
}

/// RFC 793, section 3.9.
#[test]
fn any_segment_carries_the_ack() {
    client(
        "reader fast
         130 ms < . 1:1461 ack 1
         140 ms write 100
                > P. 1:101 ack 1461
         300 ms silence",
    );
}

/// RFC 2001, section 3; 4.4BSD-Lite `tcp_input.c` 8.5.
#[test]
fn out_of_order_and_hole_filling_segments_are_acknowledged_at_once() {
    client(
        "reader fast
         130 ms < . 1461:2921 ack 1
                > . 1:1 ack 1
         131 ms < . 2921:4381 ack 1
                > . 1:1 ack 1
         132 ms < . 1:1461 ack 1
                > . 1:1 ack 4381 win 27740
                > . 1:1 ack 4381 win 32120    # when the application has read",
    );
}

/// RFC 793, section 3.9; 4.4BSD-Lite `tcp_input.c` 8.5.
#[test]
fn what_is_known_already_is_acknowledged_at_once() {
    client(
        "reader fast
         130 ms < . 1:1461 ack 1
         140 ms < . 1:1461 ack 1
                > . 1:1 ack 1461",
    );
}

/// RFC 793, section 3.9; 4.4BSD-Lite `tcp_input.c` 8.5.
#[test]
fn a_fin_is_acknowledged_at_once_with_the_data_before_it() {
    client(
        "reader fast
         130 ms < F. 1:1001 ack 1
                > . 1:1 ack 1002
                ! end of stream
                = state close-wait",
    );
}

/// 4.4BSD-Lite `tcp_input.c` 8.5.
#[test]
fn every_segment_after_our_fin_is_acknowledged_at_once() {
    client(
        "reader fast
         130 ms shutdown
                > F. 1:1 ack 1
         250 ms < . 1:1 ack 2
                = state fin-wait-2
         251 ms < . 1:101 ack 2
                > . 2:2 ack 101
         252 ms < . 101:201 ack 2
                > . 2:2 ack 201",
    );
}

/// RFC 1122, section 4.2.3.3; 4.4BSD-Lite `tcp_output.c` 8.3.
#[test]
fn a_full_buffer_advertises_zero_until_two_segments_are_free() {
    client_with(
        "buffer 8760",
        "130 ms < . 1:1461 ack 1
         131 ms < . 1461:2921 ack 1
         132 ms < . 2921:4381 ack 1
         133 ms < . 4381:5841 ack 1
         134 ms < . 5841:7301 ack 1
         135 ms < . 7301:8761 ack 1
         200 ms > . 1:1 ack 8761 win 0
         210 ms read 1000                 # free: 1000 B
         5 s    < P. 8761:8762 ack 1      # a probe is taken, but so small a window is not offered
         5.2 s  > . 1:1 ack 8762 win 0
         5.3 s  read 1460                 # free: 2459 B
         5.4 s  read 460                  # free: 2919 B
         5.5 s  read 1
                > . 1:1 ack 8762 win 2920",
    );
}

/// RFC 793, section 3.7; RFC 1122, section 4.2.2.16.
#[test]
fn the_right_edge_of_the_window_never_moves_back() {
    // 860 B free are less than a segment and less than a quarter, but were promised.
    client_with(
        "buffer 8760",
        "130 ms < . 1:1461 ack 1
         131 ms < . 1461:2921 ack 1
         132 ms < . 2921:4381 ack 1
         133 ms < . 4381:5841 ack 1
         134 ms < . 5841:7301 ack 1
         135 ms < P. 7301:7901 ack 1
         200 ms > . 1:1 ack 7901 win 860",
    );
}

/// RFC 793, section 3.9; RFC 1122, section 4.2.2.17.
#[test]
fn data_beyond_the_window_is_cut_off_and_a_probe_of_a_shut_window_is_answered() {
    client_with(
        "buffer 1460",
        "130 ms < . 1:1461 ack 1
         200 ms > . 1:1 ack 1461 win 0
         5 s    < . 1461:1462 ack 1
                > . 1:1 ack 1461 win 0
         5.5 s  < . 1561:1661 ack 1
                > . 1:1 ack 1461 win 0
         6 s    read 1460
                > . 1:1 ack 1461 win 1460
         6.1 s  < . 1461:4381 ack 1
         6.2 s  > . 1:1 ack 2921 win 0",
    );
}

/// RFC 1122, section 4.2.3.2.
#[test]
fn a_count_of_segments_may_send_an_ack_and_a_read_none() {
    client_with(
        "set ack_every 2
         set ack_on_read false",
        "130 ms < . 1:1461 ack 1
         131 ms < . 1461:2921 ack 1
                > . 1:1 ack 2921 win 29200
         132 ms read 2920
                silence
         133 ms < . 2921:4381 ack 1
         134 ms write 10
                > P. 1:11 ack 4381
         135 ms < . 4381:5841 ack 1       # the data carried the ACK: this is the first behind it
         136 ms < . 5841:7301 ack 1
                > . 11:11 ack 7301",
    );
}

/// RFC 1122, section 4.2.3.2.
#[test]
fn a_delayed_ack_may_have_a_timer_of_its_own() {
    client_with(
        "set fast_tick 50 ms
         set delayed_ack_on_grid false
         set ack_every 3",
        "reader fast
         130 ms < . 1:101 ack 1
         160 ms < . 101:201 ack 1
         180 ms > . 1:1 ack 201
         190 ms < . 201:301 ack 1
         240 ms > . 1:1 ack 301",
    );
}
