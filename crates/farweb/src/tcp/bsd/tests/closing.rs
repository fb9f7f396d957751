//! Closing: the order of both ends, ACKs, and the ways to end badly.

use super::{client, client_with, server};

/// RFC 793, section 3.5; 4.4BSD-Lite `tcp_timer.c` 8.1.
#[test]
fn a_server_that_closes_first_waits_60_s() {
    server(
        "121 ms < P. 1:301 ack 1
                write 1000
                > P. 1:1001 ack 301
                close
                > F. 1001:1001 ack 301
                = state fin-wait-1
         241 ms < . 301:301 ack 1002
                = state fin-wait-2
         242 ms < F. 301:301 ack 1002
                > . 1002:1002 ack 302
                = state time-wait
         59.9 s silence
         60 s   ! closed: finished        # at the 120th tick after 0.242 s
                silence",
    );
}

/// RFC 793, section 3.5.
#[test]
fn a_client_that_closes_last_is_gone_with_the_ack_of_its_fin() {
    client(
        "130 ms < F. 1:1 ack 1
                > . 1:1 ack 2
                ! end of stream
                = state close-wait
         140 ms close
                > F. 1:1 ack 2
                = state last-ack
         260 ms < . 2:2 ack 2
                ! closed: finished
                = state closed, timer none",
    );
}

/// RFC 793, section 3.5; RFC 1122, section 4.2.2.13.
#[test]
fn a_peer_that_has_finished_can_still_be_sent_to() {
    server(
        "121 ms < FP. 1:301 ack 1
                > . 1:1 ack 302
                = state close-wait
         130 ms write 500
                > P. 1:501 ack 302
         131 ms shutdown
                > F. 501:501 ack 302
                = state last-ack
         250 ms < . 302:302 ack 501
         251 ms < . 302:302 ack 502
                ! closed: finished",
    );
}

/// RFC 793, section 3.5, figure 14.
#[test]
fn both_may_close_at_the_same_time() {
    client(
        "130 ms close
                > F. 1:1 ack 1
         190 ms < F. 1:1 ack 1
                > F. 1:1 ack 2
                = state closing
         250 ms < . 2:2 ack 2
                = state time-wait",
    );
}

/// RFC 793, section 3.9.
#[test]
fn a_repeated_fin_in_time_wait_is_acknowledged_and_starts_the_wait_anew() {
    client(
        "130 ms close
                > F. 1:1 ack 1
         250 ms < F. 1:1 ack 2
                > . 2:2 ack 2
         30 s   < F. 1:1 ack 2
                > . 2:2 ack 2
         89.9 s silence
         90 s   ! closed: finished",
    );
}

/// RFC 2525, section 2.17; 4.4BSD-Lite `tcp_usrreq.c` 8.2.
#[test]
fn unread_data_is_forgotten_at_close_and_a_fin_is_sent() {
    client(
        "130 ms < P. 1:101 ack 1
         140 ms close
                > F. 1:1 ack 101
                = readable 0",
    );
}

/// 4.4BSD-Lite `tcp_input.c` 8.5; 4.4BSD-Lite `tcp_timer.c` 8.1.
#[test]
fn a_closed_connection_does_not_wait_for_ever_in_fin_wait_2() {
    // 600 s, and then every 75 s until the peer has been silent for more than 600 s.
    client(
        "130 ms  close
                 > F. 1:1 ack 1
         250 ms  < . 1:1 ack 2
                 = state fin-wait-2, timer 600 s
         600 s   silence
         600.1 s = state fin-wait-2
         675 s   ! closed: finished",
    );
}

/// 4.4BSD-Lite `tcp_timer.c` 8.1.
#[test]
fn in_fin_wait_2_silence_counts_from_the_last_segment_and_of_exactly_600_s_is_borne() {
    // Heard last 149 ticks after the timer was set: 1200 ticks of silence when it is looked at for the second time.
    client(
        "130 ms  close
                 > F. 1:1 ack 1
         250 ms  < . 1:1 ack 2
         74.6 s  < . 1:1 ack 2
         675 s   = state fin-wait-2
         750 s   ! closed: finished",
    );
}

/// RFC 793, section 3.4.
#[test]
fn a_reset_beyond_the_window_is_dropped() {
    client(
        "130 ms < R 40000:40000          # beyond the window
                = state established",
    );
}

/// RFC 793, section 3.9; 4.4BSD-Lite `tcp_input.c` 8.5.
#[test]
fn a_reset_while_the_last_fin_is_on_its_way_is_no_error() {
    client(
        "130 ms < F. 1:1 ack 1
                > . 1:1 ack 2
         140 ms close
                > F. 1:1 ack 2
         200 ms < R 2:2
                ! closed: finished",
    );
}

/// RFC 793, section 3.9; 4.4BSD-Lite `tcp_input.c` 8.5.
#[test]
fn a_syn_in_the_window_ends_the_connection_with_a_reset() {
    client(
        "130 ms < S 5:5
                > R. 0:0 ack 6 win 0
                ! closed: reset",
    );
}

/// RFC 793, section 3.9 (ABORT).
#[test]
fn aborting_sends_a_reset() {
    client(
        "130 ms write 100
                > P. 1:101 ack 1
         140 ms abort
                > R. 101:101 ack 1 win 0
                ! closed: aborted
         150 ms < . 1:1 ack 101
                > R 101:101 win 0",
    );
}

/// RFC 793, section 3.9.
#[test]
fn what_arrives_without_ack_is_dropped() {
    client(
        "130 ms < P 1:101
                silence
                = readable 0",
    );
}

/// RFC 793, section 3.9.
#[test]
fn a_fin_beyond_a_gap_waits_for_the_gap() {
    client(
        "130 ms < F. 101:201 ack 1
                > . 1:1 ack 1
                = state established
         140 ms < . 1:101 ack 1
                > . 1:1 ack 202
                ! end of stream
                = state close-wait, readable 200",
    );
}

/// 4.4BSD-Lite `tcp_input.c` 8.5.
#[test]
fn a_fin_on_data_that_is_known_already_counts() {
    client(
        "130 ms < P. 1:101 ack 1
         140 ms < FP. 1:101 ack 1
                > . 1:1 ack 102
                ! end of stream",
    );
}

/// RFC 1122, section 4.2.3.6; 4.4BSD-Lite `tcp_timer.c` 8.1.
#[test]
fn an_idle_peer_is_probed_when_keepalive_is_on() {
    // Idle time is counted after the timers of a tick, so the eighth probe sees one tick less than 600 s of silence.
    let probes: String = (0..9).map(|n| format!("{} s > . 0:0 ack 1\n", 7200 + 75 * n)).collect();
    client_with(
        "set keepalive true",
        &format!(
            "{probes}
             7875 s > R. 1:1 ack 1 win 0
                    ! closed: timed out"
        ),
    );
    client_with(
        "set keepalive true",
        "7200 s   > . 0:0 ack 1
         7200.1 s < . 1:1 ack 1
         14400 s  > . 0:0 ack 1",
    );
}

/// RFC 1122, section 4.2.3.6.
#[test]
fn an_idle_connection_needs_no_timer() {
    client("= timer none");
}
