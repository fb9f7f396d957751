//! Closing: who ends when, and the ways to end badly.
//!
//! RFC 9293, sections 3.6 and 3.10; RFC 5961; RFC 1122, section 4.2.3.6 (keep-alive); RFC 2525, section 2.17; Linux 6.18 `tcp.c`, `tcp_input.c`, `tcp_minisocks.c`.

use super::{classic, classic_with};

/// RFC 9293, section 3.6.1 (MUST-13; 2 MSL there); Linux 6.18 `TCP_TIMEWAIT_LEN`.
#[test]
fn who_closes_first_waits_60_s() {
    classic(
        "130 ms close
                > F. 1:1 ack 1
                = state finwait1
         250 ms < . 1:1 ack 2
                = state finwait2
         260 ms < F. 1:1 ack 2
                > . 2:2 ack 2
                = state timewait
         60 s   = state timewait
         63 s   = state closed, timer none",
    );
}

/// RFC 9293, section 3.6.
#[test]
fn who_closes_last_is_gone_with_the_ack_of_its_fin() {
    classic(
        "130 ms < F. 1:1 ack 1
                ! end of stream
                = state closewait
                close
                > F. 1:1 ack 2
                = state lastack
         260 ms < . 2:2 ack 2
                ! closed: finished
                = state closed, timer none",
    );
}

/// RFC 9293, section 3.6 (half-close).
#[test]
fn a_peer_that_has_finished_can_still_be_sent_to() {
    classic_with(
        "set initial_cwnd_segments 10",
        "130 ms < F. 1:1 ack 1
                write 500
                > P. 1:501 ack 2
         141 ms shutdown
                > F. 501:501 ack 2
         260 ms < . 2:2 ack 502
                ! closed: finished",
    );
}

/// RFC 9293, section 3.6, figure 13.
#[test]
fn both_may_close_at_the_same_time() {
    classic(
        "130 ms close
                > F. 1:1 ack 1
         190 ms < F. 1:1 ack 1
                > . 2:2 ack 2
                = state closing
         250 ms < . 2:2 ack 2
                = state timewait",
    );
}

/// RFC 9293, section 3.10.7.4.
#[test]
fn a_repeated_fin_in_time_wait_is_acknowledged() {
    classic(
        "130 ms close
                > F. 1:1 ack 1
         250 ms < F. 1:1 ack 2
                > . 2:2 ack 2
         1 s    < F. 1:1 ack 2
                > . 2:2 ack 2
                = state timewait",
    );
}

/// RFC 9293, section 3.6.
#[test]
fn a_fin_rides_on_the_last_data() {
    classic(
        "121 ms write 1500
                > . 1:1001 ack 1
         130 ms shutdown
         241 ms < . 1:1 ack 1001
                > FP. 1001:1501 ack 1",
    );
}

/// RFC 2525, section 2.17; RFC 1122, section 4.2.2.13.
#[test]
fn data_that_was_not_read_makes_a_close_a_reset() {
    classic(
        "130 ms < P. 1:101 ack 1
                > . 1:1 ack 101
         140 ms close
                > R. 1:1 ack 101
                = state closed",
    );
}

/// Linux 6.18 `tcp_fin_timeout` (RFC 9293 would wait for ever).
#[test]
fn a_closed_connection_waits_60_s_for_the_fin_of_the_peer() {
    classic(
        "130 ms close
                > F. 1:1 ack 1
         250 ms < . 1:1 ack 2
         60 s   = state finwait2
         63 s   = state closed",
    );
}

/// RFC 5961, section 3.2.
#[test]
fn a_reset_elsewhere_in_the_window_is_questioned() {
    classic(
        "130 ms < R 101:101
                > . 1:1 ack 1
                = state established",
    );
}

/// RFC 5961, section 3.2.
#[test]
fn a_reset_outside_the_window_is_ignored() {
    classic(
        "130 ms < R 40000:40000
                silence
                = state established",
    );
}

/// RFC 5961, section 4.2.
#[test]
fn a_syn_in_an_open_connection_is_questioned() {
    classic(
        "130 ms < S 5:5
                > . 1:1 ack 1
                = state established",
    );
}

/// RFC 5961, section 7; Linux 6.18 `tcp_invalid_ratelimit` 500 ms.
#[test]
fn questions_are_asked_twice_a_second_at_most() {
    classic(
        "130 ms < S 5:5
                > . 1:1 ack 1
         140 ms < S 5:5
                silence
         700 ms < S 5:5
                > . 1:1 ack 1",
    );
}

/// RFC 9293, section 3.10.5.
#[test]
fn aborting_sends_a_reset() {
    classic(
        "130 ms write 100
                > P. 1:101 ack 1
         140 ms abort
                > R. 101:101 ack 1
                ! closed: aborted
                = state closed, timer none",
    );
}

/// RFC 9293, section 3.10.7.1.
#[test]
fn what_reaches_a_closed_connection_is_reset() {
    classic(
        "140 ms abort
                > R. 1:1 ack 1
         150 ms < . 1:1 ack 1
                > R 1:1 win 0
         160 ms < P 1:11
                > R. 0:0 ack 11 win 0",
    );
}

/// RFC 1122, section 4.2.3.6; RFC 9293, section 3.8.4.
#[test]
fn an_idle_peer_is_probed_when_keepalive_is_on() {
    classic_with(
        "set keepalive true",
        "7200..7340 s > . 0:0 ack 1
                < . 1:1 ack 1
         7600 s silence
                = state established",
    );
}

/// RFC 1122, section 4.2.3.6; Linux 6.18 `tcp_keepalive_probes`.
#[test]
fn a_peer_that_answers_no_probe_is_given_up() {
    classic_with(
        "set keepalive true
         set keepalive_probes 2
         set keepalive_idle 10 s
         set keepalive_interval 2 s",
        "10..11 s > . 0:0 ack 1
         12..14 s > . 0:0 ack 1
         14..17 s > R. 1:1 ack 1
                = state closed",
    );
}

/// RFC 5482, section 4.2; Linux 6.18 `tcp_keepalive_timer()`.
#[test]
fn a_user_timeout_stands_for_the_number_of_probes() {
    classic_with(
        "set keepalive true
         set keepalive_idle 10 s
         set keepalive_interval 2 s
         set user_timeout 13 s",
        "10..11 s > . 0:0 ack 1
         12..14 s > . 0:0 ack 1
         14..17 s > R. 1:1 ack 1
                = state closed",
    );
}

/// RFC 9293, section 3.8.4 (MUST-25: off).
#[test]
fn an_idle_connection_needs_no_timer() {
    classic("       = timer none");
}
