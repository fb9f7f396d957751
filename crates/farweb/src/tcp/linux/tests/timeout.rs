//! The retransmission timeout: its length, its cost, and undoing an unneeded one.
//!
//! RFC 6298; RFC 5681, section 3.1; RFC 5682; RFC 7323, section 4; Linux 6.18 `tcp_input.c`, `tcp_rtt_estimator()`, `tcp_enter_loss()`, `tcp_process_loss()`; `tcp_timer.c`.

use super::{classic, classic_with, script, server, server_with};

/// RFC 6298, section 2.2.
#[test]
fn the_first_sample_gives_three_round_trips() {
    // 120 ms and four times half of it.
    server("       = srtt 120 ms, rto 360 ms");
}

/// RFC 6298, section 2.4 (1 s there); Linux 6.18 `TCP_RTO_MIN`.
#[test]
fn the_variance_counts_200_ms_at_least() {
    // A round trip of 20 ms: 20 + max(4 · 10, 200).
    script(
        "profile linux
         set timestamps false
         0 ms   < S 0:0 win 65535 mss 1000 sackOK scale 7
                > S. 0:0 ack 1 mss 1460 sackOK scale 10
         20 ms  < . 1:1 ack 1
                = srtt 20 ms, rto 220 ms",
    );
}

/// RFC 5681, section 3.1.
#[test]
fn a_timeout_begins_again_with_one_segment() {
    server_with(
        "set tail_loss_probe false",
        "121 ms write 10000
                > . 1:9001 ack 1 each 1000
                > P. 9001:10001 ack 1
         481..517 ms > . 1:1001 ack 1
                = cwnd 1000, ssthresh 7000, timeouts 1
         620 ms < . 1:1 ack 1001
                > . 1001:3001 ack 1 each 1000
                = cwnd 2000
         740 ms < . 1:1 ack 3001
                > . 3001:7001 ack 1 each 1000",
    );
}

/// RFC 6298, section 5.5.
#[test]
fn timeouts_double() {
    server_with(
        "set tail_loss_probe false",
        "121 ms write 1000
                > P. 1:1001 ack 1
         481..517 ms > P. 1:1001 ack 1
         1200..1280 ms > P. 1:1001 ack 1
         2640..2800 ms > P. 1:1001 ack 1
         5500..5900 ms > P. 1:1001 ack 1
                = timeouts 4, retransmits 4",
    );
}

/// RFC 6298, section 5.7; Linux 6.18 `tcp_ack_update_rtt()`.
#[test]
fn an_ack_of_new_data_ends_backing_off() {
    // Timestamps give a sample of the segment that was sent again, where Karn's rule would have none.
    script(
        "profile linux
         set tail_loss_probe false
         peer timestamps
         0 ms   < S 0:0 win 65535 mss 1012 sackOK scale 7
                > S. 0:0 ack 1 mss 1460 sackOK scale 10
         120 ms < . 1:1 ack 1
         121 ms write 1000
                > P. 1:1001 ack 1
         481..517 ms > P. 1:1001 ack 1
                = rto 720 ms
         632 ms < . 1:1 ack 1001
                = rto 360 ms",
    );
}

/// RFC 6298, section 3 (Karn).
#[test]
fn of_a_segment_sent_twice_there_is_no_sample() {
    classic(
        "121 ms write 1000
                > P. 1:1001 ack 1
         481..517 ms > P. 1:1001 ack 1
         900 ms < . 1:1 ack 1001
                = srtt 120 ms",
    );
}

/// RFC 9293, section 3.8.3 (MUST-20); Linux 6.18 `retransmits_timed_out()`.
#[test]
fn a_connection_without_an_answer_is_given_up() {
    // Three retries from 200 ms on would take (2^4 - 1) · 200 ms = 3 s.
    server_with(
        "set retries_max 3
         set tail_loss_probe false",
        "121 ms write 1000
                > P. 1:1001 ack 1
         481..517 ms > P. 1:1001 ack 1
         1200..1280 ms > P. 1:1001 ack 1
         2640..2800 ms > P. 1:1001 ack 1
         7 s    = state closed, timer none",
    );
}

/// RFC 5482, section 3; Linux 6.18 `tcp_clamp_rto_to_user_timeout()`.
#[test]
fn a_user_timeout_counts_from_the_first_retransmission_and_is_noticed_when_it_is_over() {
    // The next timeout would be at 2640 ms.
    server_with(
        "set user_timeout 2 s
         set tail_loss_probe false",
        "121 ms write 1000
                > P. 1:1001 ack 1
         481..517 ms > P. 1:1001 ack 1
         1200..1280 ms > P. 1:1001 ack 1
         2470 ms = state established
         2610 ms = state closed, timer none, retransmits 2",
    );
}

/// RFC 5682, section 2.1 (F-RTO, step 2b).
#[test]
fn new_data_after_a_timeout_shows_whether_it_was_needed() {
    server_with(
        "set tail_loss_probe false",
        "121 ms write 30000
                > . 1:10001 ack 1 each 1000
         481..517 ms > . 1:1001 ack 1
         620 ms < . 1:1 ack 1001
                > . 10001:12001 ack 1 each 1000",
    );
}

/// RFC 5682, section 3.1 (SACK-enhanced F-RTO).
#[test]
fn a_timeout_that_was_not_needed_is_taken_back() {
    // The ACK is for a segment that was never sent again: it belongs to the original flight, only late.
    server_with(
        "set tail_loss_probe false",
        "121 ms write 10000
                > . 1:9001 ack 1 each 1000
                > P. 9001:10001 ack 1
         481..517 ms > . 1:1001 ack 1
                = cwnd 1000
         520 ms < . 1:1 ack 3001
                = ssthresh 1073725440, retransmits 1
         1 s    < . 1:1 ack 10001
                = retransmits 1",
    );
}

/// RFC 5681, section 3.1; Linux 6.18 `tcp_frto` 0.
#[test]
fn without_f_rto_everything_is_sent_again() {
    server_with(
        "set tail_loss_probe false
         set frto false",
        "121 ms write 30000
                > . 1:10001 ack 1 each 1000
         481..517 ms > . 1:1001 ack 1
         620 ms < . 1:1 ack 1001
                > . 1001:3001 ack 1 each 1000",
    );
}

/// RFC 4015; RFC 3522 (Eifel); Linux 6.18 `tcp_may_undo()`.
#[test]
fn timestamps_show_that_a_timeout_was_not_needed() {
    // The ACK echoes the time of the original, before the retransmission.
    script(
        "profile linux
         set tail_loss_probe false
         set frto false
         0 ms   < S 0:0 win 65535 mss 1012 sackOK scale 7 ts 700:0
                > S. 0:0 ack 1 mss 1460 sackOK scale 10 ts 0:700
         120 ms < . 1:1 ack 1 ts 820:0
         121 ms write 10000
                > . 1:9001 ack 1 ts 121:820 each 1000
                > P. 9001:10001 ack 1 ts 121:820
         512 ms > . 1:1001 ack 1 ts 512:820
                = cwnd 1000
         520 ms < . 1:1 ack 1001 ts 1220:121
                = ssthresh 1073725440, retransmits 1",
    );
}

/// RFC 9293, section 3.8.1; RFC 6298, section 5.
#[test]
fn a_lost_fin_is_sent_again() {
    classic(
        "130 ms shutdown
                > F. 1:1 ack 1
         490..526 ms > F. 1:1 ack 1
                = timeouts 1, retransmits 1
         610 ms < . 1:1 ack 2
                = state finwait2",
    );
}

/// RFC 6298, section 5.3.
#[test]
fn an_ack_restarts_the_timer() {
    server_with(
        "set tail_loss_probe false",
        "121 ms write 2000
                > . 1:1001 ack 1
                > P. 1001:2001 ack 1
         400 ms < . 1:1 ack 1001
                = timeouts 0
         600 ms silence",
    );
}

/// Linux 6.18 `tcp_rtx_probe0_timed_out()`.
#[test]
fn a_window_shut_on_what_is_in_flight_is_given_up_after_four_minutes_of_silence_and_of_sending_again() {
    classic_with(
        "set initial_cwnd_segments 2
         set rto_min 50 s",
        "121 ms write 3000
                > . 1:2001 ack 1 each 1000
         241 ms < . 1:1 ack 1001 win 0
         50..54 s > . 1001:2001 ack 1
         150..158 s > . 1001:2001 ack 1
         270..280 s > . 1001:2001 ack 1       # silent for longer, but sent again for less
         389 s  = state established, timeouts 0
         405 s  = state closed, retransmits 3",
    );
}
