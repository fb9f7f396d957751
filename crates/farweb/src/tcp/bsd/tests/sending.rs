//! When data leaves: Nagle, silly windows, the pieces of a write, probes of a shut window, restart after idleness.

use super::{client, client_with, script, server, server_with};

/// RFC 896; 4.4BSD-Lite `tcp_output.c` 8.3.
#[test]
fn a_write_on_an_idle_connection_leaves_whole() {
    // Idleness is judged once for both segments: the small one does not wait for the ACK of the full one.
    server(
        "121 ms write 2000
                > . 1:1461 ack 1
                > P. 1461:2001 ack 1",
    );
}

/// RFC 896; RFC 1122, section 4.2.3.4.
#[test]
fn a_small_write_waits_for_the_ack_of_what_is_outstanding() {
    server(
        "121 ms write 100
                > P. 1:101 ack 1
         125 ms write 100
         130 ms write 100
         241 ms < . 1:1 ack 101
                > P. 101:301 ack 1",
    );
}

/// RFC 1122, section 4.2.3.4.
#[test]
fn a_write_that_fills_a_segment_does_not_wait() {
    server(
        "121 ms write 100
                > P. 1:101 ack 1
         125 ms write 1000
         130 ms write 459
         131 ms write 1
                > P. 101:1561 ack 1",
    );
}

/// 4.4BSD-Lite `tcp_output.c` 8.3.
#[test]
fn a_fin_rides_on_the_last_data_only_if_it_is_known_in_time() {
    server(
        "121 ms write 1460
                > P. 1:1461 ack 1
         122 ms close
                > F. 1461:1461 ack 1",
    );
}

/// RFC 1122, section 4.2.3.4 (SWS avoidance); 4.4BSD-Lite `tcp_output.c` 8.3.
#[test]
fn half_of_the_largest_window_is_worth_sending() {
    server(
        "121 ms < . 1:1 ack 1 win 32120
         122 ms write 1460
                > P. 1:1461 ack 1
         242 ms < . 1:1 ack 1461 win 700      # 700 B of 32120 B are not
                write 5000
         243 ms < . 1:1 ack 1461 win 1459
         244 ms < . 1:1 ack 1461 win 1460
                > . 1461:2921 ack 1",
    );
    script(
        "0 ms   < S 0:0 win 1000 mss 1460
                > S. 0:0 ack 1 mss 1460
         120 ms < . 1:1 ack 1
         122 ms write 5000
                > . 1:1001 ack 1
         242 ms < . 1:1 ack 1001 win 499
         243 ms < . 1:1 ack 1001 win 500
                > . 1001:1501 ack 1",
    );
}

/// 4.4BSD-Lite `uipc_socket.c` 8.3, `sosend()`.
#[test]
fn a_small_write_is_copied_in_two_pieces_of_which_the_second_waits() {
    client_with(
        "set socket_cluster 2048 B
         set socket_small_pieces true",
        "121 ms write 150
                > P. 1:101 ack 1
         241 ms < . 1:1 ack 101
                > P. 101:151 ack 1",
    );
    client_with(
        "set socket_cluster 2048 B
         set socket_small_pieces true",
        "121 ms write 208
                > P. 1:209 ack 1",
    );
}

/// 4.4BSD-Lite `uipc_socket.c` 8.3, `sosend()`.
#[test]
fn a_large_write_is_copied_cluster_by_cluster() {
    // The first 2048 B leave before TCP sees the rest: 1460 B and, the connection being idle, 588 B.
    server_with(
        "set socket_cluster 2048 B",
        "121 ms write 10000
                > . 1:1461 ack 1
                > P. 1461:2049 ack 1",
    );
}

/// 4.4BSD-Lite `uipc_socket.c` 8.3, `sosend()`.
#[test]
fn a_writer_that_does_not_fit_waits_for_2048_free_bytes() {
    server_with(
        "buffer 4380",
        "121 ms write 10000 takes 4380
                > . 1:1461 ack 1
                > . 1461:2921 ack 1
         130 ms write 5620 takes 0
         240 ms < . 1:1 ack 1461
                > P. 2921:4381 ack 1
         241 ms < . 1:1 ack 2921
                ! writable
                write 5620 takes 2920
                > . 4381:5841 ack 1
                > P. 5841:7301 ack 1",
    );
}

/// 4.4BSD-Lite `uipc_socket.c` 8.3, `sosend()`.
#[test]
fn a_write_that_fits_does_not_wait() {
    server_with(
        "buffer 4380",
        "121 ms write 4000
                > . 1:1461 ack 1
                > . 1461:2921 ack 1
                write 300",
    );
}

/// 4.4BSD-Lite `uipc_socket.c` 8.3.
#[test]
fn a_writer_that_has_ended_the_stream_gets_no_notice() {
    server_with(
        "buffer 4380",
        "121 ms write 10000 takes 4380
                > . 1:1461 ack 1
                > . 1461:2921 ack 1
                shutdown
         240 ms < . 1:1 ack 2921
                > FP. 2921:4381 ack 1
                ! nothing",
    );
}

/// RFC 1122, section 4.2.2.17; 4.4BSD-Lite `tcp_timer.c` 8.1.
#[test]
fn probes_of_a_shut_window_at_5_5_5_8_16_32_60_60_s() {
    // SRTT 7/8 tick, deviation 3/4 tick: a base of 2 ticks, doubled each time, between 5 s and 60 s.
    let probe = |at: u64| format!("{at} s > . 101:102 ack 1\n");
    let probes: String = [5, 10, 15, 23, 39, 71, 131, 191].iter().map(|at| probe(*at)).collect();
    server(&format!(
        "121 ms write 100
                > P. 1:101 ack 1
         241 ms < . 1:1 ack 101 win 0
                = srtt 437500 us, rto 1500 ms
                write 500
         {probes}"
    ));
}

/// RFC 1122, section 4.2.2.17; 4.4BSD-Lite `tcp_timer.c` 8.1.
#[test]
fn probes_of_a_shut_window_from_a_base_of_3_ticks() {
    // Two samples of 2 ticks leave SRTT 15/8 and deviation 4/4: the sequence 5, 5, 6, 12, 24, 48, 60.
    let probe = |at: u64| format!("{at} s > . 101:102 ack 1\n");
    let probes: String = [6, 11, 17, 29, 53, 101, 161, 221].iter().map(|at| probe(*at)).collect();
    script(&format!(
        "0 ms   < S 0:0 mss 1460
                > S. 0:0 ack 1 mss 1460
         500 ms < . 1:1 ack 1
                = rto 3 s
                write 100
                > P. 1:101 ack 1
         1 s    < . 1:1 ack 101 win 0
                = rto 2500 ms
                write 500
         {probes}"
    ));
}

/// RFC 1122, section 4.2.2.17; 4.4BSD-Lite `tcp_output.c` 8.3.
#[test]
fn a_probe_that_is_taken_moves_on_and_an_open_window_ends_probing() {
    server(
        "121 ms write 100
                > P. 1:101 ack 1
         241 ms < . 1:1 ack 101 win 0
                write 500
         5 s    > . 101:102 ack 1
         5.1 s  < . 1:1 ack 102 win 0
         10 s   > . 102:103 ack 1
         10.1 s < . 1:1 ack 102 win 0
         11 s   < . 1:1 ack 102 win 32120
                > P. 102:601 ack 1
                = retransmits 1
         11.1 s < . 1:1 ack 601
                = timer none",
    );
}

/// RFC 1122, section 4.2.2.17; 4.4BSD-Lite `tcp_output.c` 8.3.
#[test]
fn a_window_that_is_shut_on_what_is_in_flight_is_probed_and_not_retransmitted_into() {
    server(
        "121 ms write 2920
                > . 1:1461 ack 1
                > P. 1461:2921 ack 1
         130 ms < . 1:2 ack 1
         131 ms < . 2:3 ack 1 win 0
         200 ms > . 1:1 ack 3
         250 ms < . 3:3 ack 1461 win 0
         5 s    > . 1461:1462 ack 3
                = timeouts 0",
    );
}

/// RFC 793, section 3.9; 4.4BSD-Lite `tcp_input.c` 8.5.
#[test]
fn the_same_number_and_ack_bring_only_a_larger_window() {
    server(
        "121 ms < . 1:1 ack 1 win 1000
                = wnd 32120
         122 ms < . 1:1 ack 1 win 40000
                = wnd 40000",
    );
}

/// RFC 793, section 3.9; 4.4BSD-Lite `tcp_input.c` 8.5.
#[test]
fn an_older_segment_does_not_bring_a_window_but_its_ack_uses_up_the_last_one() {
    server(
        "121 ms write 1460
                > P. 1:1461 ack 1
         130 ms < . 1461:2921 ack 1 win 5000
                > . 1461:1461 ack 1
         250 ms < . 1:1 ack 1461 win 9000
                = wnd 3540",
    );
}

/// 4.4BSD-Lite `tcp_output.c` 8.3.
#[test]
fn a_bare_ack_sent_into_a_shut_window_does_not_stop_the_probing() {
    server(
        "121 ms write 600
                > P. 1:601 ack 1
                write 100
         241 ms < P. 1:11 ack 601 win 0
         400 ms > . 601:601 ack 11
         5 s    > . 601:602 ack 11
         5.1 s  < P. 11:21 ack 601
         5.2 s  > . 601:601 ack 21        # the probe's byte does not count as sent",
    );
    // The ACK that shuts the window comes with something that must be answered at once.
    server(
        "121 ms write 600
                > P. 1:601 ack 1
                write 100
         241 ms < F. 1:1 ack 601 win 0
                > . 601:601 ack 2
         5 s    > . 601:602 ack 2",
    );
}

/// RFC 5681, section 4.1 (idle since the last segment received); 4.4BSD-Lite `tcp_output.c` 8.3.
#[test]
fn a_server_that_hears_requests_keeps_its_window_over_any_pause() {
    server(
        "121 ms < P. 1:101 ack 1
                write 2920
                > . 1:1461 ack 101
                > P. 1461:2921 ack 101
         241 ms < . 101:101 ack 2921
                = cwnd 4380
         60 s   < P. 101:201 ack 2921
                write 5840
                > . 2921:4381 ack 201
                > . 4381:5841 ack 201
                > . 5841:7301 ack 201
                = cwnd 4380",
    );
}

/// RFC 5681, section 4.1; 4.4BSD-Lite `tcp_output.c` 8.3.
#[test]
fn a_pipe_whose_peer_was_silent_for_an_rto_restarts_with_one_segment() {
    server(
        "121 ms write 2920
                > . 1:1461 ack 1
                > P. 1461:2921 ack 1
         241 ms < . 1:1 ack 2921
                = cwnd 4380, rto 1500 ms
         1.9 s  write 5840
                > . 2921:4381 ack 1
                = cwnd 1460",
    );
}

/// RFC 5681, section 4.1; 4.4BSD-Lite `tcp_output.c` 8.3.
#[test]
fn silence_shorter_than_an_rto_keeps_the_window() {
    // Two tick boundaries since the last segment arrived, of an RTO of three.
    server(
        "121 ms write 2920
                > . 1:1461 ack 1
                > P. 1461:2921 ack 1
         241 ms < . 1:1 ack 2921
         1.4 s  write 5840
                > . 2921:4381 ack 1
                > . 4381:5841 ack 1
                > . 5841:7301 ack 1",
    );
}

/// 4.4BSD-Lite `tcp_output.c` 8.3.
#[test]
fn silence_does_not_matter_while_something_is_outstanding() {
    server(
        "1.2 s  write 1460
                > P. 1:1461 ack 1
         1.6 s  write 1460                # three ticks after the last segment received
                > P. 1461:2921 ack 1
                = cwnd 2920",
    );
}

/// RFC 2581, section 4.1; RFC 5681, section 4.1.
#[test]
fn since_sent_a_server_that_hears_requests_restarts_as_well() {
    server_with(
        "set idle_restart since-sent",
        "121 ms < P. 1:101 ack 1
                write 2920
                > . 1:1461 ack 101
                > P. 1461:2921 ack 101
         241 ms < . 101:101 ack 2921
                = cwnd 4380, rto 1500 ms
         1.4 s  < P. 101:201 ack 2921        # two tick boundaries since data was sent, of an RTO of three
                write 1460
                > P. 2921:4381 ack 201
                = cwnd 4380
         1.52 s < . 201:201 ack 4381
                = cwnd 5840
         60 s   < P. 201:301 ack 4381
                write 5840
                > . 4381:5841 ack 301
                = cwnd 1460, limit cwnd",
    );
}

/// RFC 2581, section 4.1 (the restart window is the initial one).
#[test]
fn since_sent_the_initial_window_is_left_and_a_smaller_one_too() {
    server_with(
        "set idle_restart since-sent
         set initial_cwnd_segments 3",
        "121 ms write 2920
                > . 1:1461 ack 1
                > P. 1461:2921 ack 1
         241 ms < . 1:1 ack 2921
                = cwnd 7300
         60 s   write 10000
                > . 2921:7301 ack 1 each 1460
                = cwnd 4380",
    );
}

/// RFC 5681, section 4.1.
#[test]
fn restart_can_be_switched_off() {
    server_with(
        "set idle_restart off",
        "121 ms write 2920
                > . 1:1461 ack 1
                > P. 1461:2921 ack 1
         241 ms < . 1:1 ack 2921
         60 s   write 4380
                > . 2921:4381 ack 1
                > . 4381:5841 ack 1
                > P. 5841:7301 ack 1",
    );
}

/// RFC 1122, section 4.2.3.9; 4.4BSD-Lite `tcp_output.c` 8.3.
#[test]
fn a_full_queue_of_the_host_itself_counts_only_with_source_quench() {
    server(
        "121 ms write 2920
                   > . 1:1461 ack 1
                   > P. 1461:2921 ack 1
                   local drop
                   = cwnd 2920",
    );
    server_with(
        "set source_quench true",
        "121 ms write 2920
                > . 1:1461 ack 1
                > P. 1461:2921 ack 1
                local drop
                = cwnd 1460",
    );
}

/// RFC 2001, section 1; 4.4BSD-Lite `tcp_input.c` 8.5 (header prediction).
#[test]
fn cwnd_stops_growing_when_it_has_reached_a_window_that_stays_the_same() {
    // Below the window ACKs take the slow path and open cwnd. From there on they are predicted.
    client(
        "121 ms write 10000
                > . 1:1461 ack 1
         241 ms < . 1:1 ack 1461 win 2920
                > . 1461:2921 ack 1
                > . 2921:4381 ack 1
                = cwnd 2920
         361 ms < . 1:1 ack 4381 win 2920
                > . 4381:5841 ack 1
                > . 5841:7301 ack 1
                = cwnd 2920",
    );
}

/// RFC 896; RFC 1122, section 4.2.3.4.
#[test]
fn nagle_may_hold_the_small_rest_of_a_write() {
    server_with(
        "set nagle_each_segment true",
        "121 ms write 2000
                > . 1:1461 ack 1
         241 ms < . 1:1 ack 1461
                > P. 1461:2001 ack 1",
    );
}

/// RFC 1122, section 4.2.2.2.
#[test]
fn a_segment_may_end_with_its_write() {
    server_with(
        "set join_writes false
         set nagle_each_segment true",
        "121 ms write 100
                > P. 1:101 ack 1
         122 ms write 4096
                > . 101:1561 ack 1
         123 ms write 512
         241 ms < . 1:1 ack 1561
                > . 1561:3021 ack 1
                > . 3021:4197 ack 1       # more is behind it, so that it is not a small rest
         361 ms < . 1:1 ack 4197
                > P. 4197:4709 ack 1",
    );
}
