//! Loss: duplicate ACKs, the timer, and what 4.4BSD-Lite does not repair.

use super::{client, server, server_with};

/// Four segments in flight with the first one lost, cwnd 5840.
const FOUR_IN_FLIGHT: &str = "
    121 ms write 32120
           > . 1:1461 ack 1
           > . 1461:2921 ack 1
    241 ms < . 1:1 ack 1461 win 5840
           > . 2921:4381 ack 1
           > . 4381:5841 ack 1
    242 ms < . 1:1 ack 2921
           > . 5841:7301 ack 1
           > . 7301:8761 ack 1
           = cwnd 5840, flight 5840
";

fn four_in_flight(settings: &str, text: &str) {
    server_with(settings, &format!("{FOUR_IN_FLIGHT}{text}"));
}

/// RFC 2001, section 3.
#[test]
fn the_third_duplicate_sends_the_first_segment_again() {
    four_in_flight(
        "",
        "361 ms < . 1:1 ack 2921
         362 ms < . 1:1 ack 2921
                = cwnd 5840
         363 ms < . 1:1 ack 2921
                > . 2921:4381 ack 1
                = ssthresh 2920, cwnd 7300, retransmits 1, timeouts 0",
    );
}

/// RFC 2525, section 2.8; 4.4BSD-Lite `tcp_input.c` 8.5.
#[test]
fn exactly_three_duplicates_do_not_deflate() {
    // The window 7300 B stays, and grows as in congestion avoidance: by 1460²/7300 + 1460/8.
    four_in_flight(
        "",
        "361 ms < . 1:1 ack 2921
         362 ms < . 1:1 ack 2921
         363 ms < . 1:1 ack 2921
                > . 2921:4381 ack 1
         483 ms < . 1:1 ack 8761 win 16060
                > . 8761:10221 ack 1
                > . 10221:11681 ack 1
                > . 11681:13141 ack 1
                > . 13141:14601 ack 1
                > . 14601:16061 ack 1
                = cwnd 7774",
    );
}

/// RFC 2001, section 4.
#[test]
fn exactly_three_duplicates_deflate_when_the_profile_says_so() {
    four_in_flight(
        "set deflate_at_threshold true",
        "361 ms < . 1:1 ack 2921
         362 ms < . 1:1 ack 2921
         363 ms < . 1:1 ack 2921
                > . 2921:4381 ack 1
         483 ms < . 1:1 ack 8761 win 16060
                > . 8761:10221 ack 1
                > . 10221:11681 ack 1
                > . 11681:13141 ack 1
                = cwnd 4380",
    );
}

/// RFC 2001, section 4.
#[test]
fn more_duplicates_inflate_and_then_deflate() {
    server(
        "121 ms write 32120
                > . 1:1461 ack 1
                > . 1461:2921 ack 1
         241 ms < . 1:1 ack 1461
                > . 2921:4381 ack 1
                > . 4381:5841 ack 1
         242 ms < . 1:1 ack 2921
                > . 5841:7301 ack 1
                > . 7301:8761 ack 1
         361 ms < . 1:1 ack 2921
         362 ms < . 1:1 ack 2921
         363 ms < . 1:1 ack 2921
                > . 2921:4381 ack 1
                = cwnd 7300
         364 ms < . 1:1 ack 2921
                > . 8761:10221 ack 1
                > . 10221:11681 ack 1
                = cwnd 8760
         483 ms < . 1:1 ack 8761
                > . 11681:13141 ack 1
                = cwnd 4380                # 2920 by deflating, and a segment for this ACK",
    );
}

/// RFC 2525, section 2.8; 4.4BSD-Lite `tcp_input.c` 8.5.
#[test]
fn header_prediction_may_leave_the_window_inflated() {
    // The window field is the same and cwnd is not below it: the ACK is predicted, and cwnd stays at 8760 B.
    let four_duplicates = "
         361 ms < . 1:1 ack 2921
         362 ms < . 1:1 ack 2921
         363 ms < . 1:1 ack 2921
                > . 2921:4381 ack 1
         364 ms < . 1:1 ack 2921
                = cwnd 8760
         483 ms < . 1:1 ack 8761
                > . 8761:10221 ack 1
                > . 10221:11681 ack 1";
    four_in_flight(
        "",
        &format!("{four_duplicates}\n > . 11681:13141 ack 1\n > . 13141:14601 ack 1\n = cwnd 8760"),
    );
    four_in_flight(
        "set header_prediction fixed",
        &format!("{four_duplicates}\n > . 11681:13141 ack 1\n = cwnd 4380"),
    );
}

/// RFC 2001, section 3; 4.4BSD-Lite `tcp_input.c` 8.5.
#[test]
fn a_window_update_starts_the_count_again() {
    four_in_flight(
        "",
        "361 ms < . 1:1 ack 2921
         362 ms < . 1:1 ack 2921
         363 ms < . 1:1 ack 2921 win 5850
         364 ms < . 1:1 ack 2921
         365 ms < . 1:1 ack 2921
                silence
         366 ms < . 1:1 ack 2921
                > . 2921:4381 ack 1",
    );
}

/// 4.4BSD-Lite `tcp_input.c` 8.5.
#[test]
fn data_between_duplicates_starts_the_count_again_unless_it_was_predicted() {
    four_in_flight(
        "",
        "361 ms < . 1:1 ack 2921
         362 ms < . 1:1 ack 2921
         363 ms < . 1:11 ack 2921         # in order: predicted
         364 ms < . 11:11 ack 2921
                > . 2921:4381 ack 11",
    );
    four_in_flight(
        "",
        "361 ms < . 1:1 ack 2921
         362 ms < . 1:1 ack 2921
         363 ms < . 11:21 ack 2921        # out of order: not predicted
                > . 8761:8761 ack 1
         364 ms < . 1:1 ack 2921
         365 ms < . 1:1 ack 2921
                silence
         366 ms < . 1:1 ack 2921
                > . 2921:4381 ack 1",
    );
}

/// 4.4BSD-Lite `tcp_input.c` 8.5.
#[test]
fn while_something_is_sent_again_nothing_is_predicted() {
    four_in_flight(
        "",
        "1.5 s  > . 2921:4381 ack 1
         1.6 s  < . 1:1 ack 2921
         1.61 s < . 1:1 ack 2921
         1.62 s < . 1:11 ack 2921         # in order, but starts the count of duplicates again
         1.63 s < . 11:11 ack 2921
                silence",
    );
}

/// RFC 1122, section 4.2.3.1 (Karn).
#[test]
fn an_ack_after_a_fast_retransmit_gives_no_sample() {
    // The segment in question was being timed. Its time of three ticks would raise the timeout to 3 s.
    four_in_flight(
        "",
        "361 ms < . 1:1 ack 2921
         362 ms < . 1:1 ack 2921
         363 ms < . 1:1 ack 2921
                > . 2921:4381 ack 1
         1.4 s  < . 1:1 ack 4381 win 5000
                = rto 1500 ms",
    );
}

/// RFC 2001, section 3; 4.4BSD-Lite `tcp_input.c` 8.5.
#[test]
fn duplicates_while_nothing_is_outstanding_mean_nothing() {
    client(
        "130 ms < . 1:1 ack 1
         131 ms < . 1:1 ack 1
         132 ms < . 1:1 ack 1
         133 ms < . 1:1 ack 1
                = cwnd 1460, retransmits 0",
    );
}

/// RFC 6582, section 1 (what came before it); 4.4BSD-Lite `tcp_input.c` 8.5.
#[test]
fn a_second_loss_in_the_window_waits_for_the_timer() {
    four_in_flight(
        "",
        "361 ms < . 1:1 ack 2921
         362 ms < . 1:1 ack 2921
         363 ms < . 1:1 ack 2921
                > . 2921:4381 ack 1
         483 ms < . 1:1 ack 5841          # the third segment is lost as well
                > . 8761:10221 ack 1
                > . 10221:11681 ack 1
         1.5 s  > . 5841:7301 ack 1
                = timeouts 1, cwnd 1460, ssthresh 2920",
    );
}

/// RFC 2001, section 1; 4.4BSD-Lite `tcp_timer.c` 8.1.
#[test]
fn the_timer_goes_back_and_sends_all_again_in_slow_start() {
    four_in_flight(
        "",
        "1.5 s  > . 2921:4381 ack 1
                = cwnd 1460, ssthresh 2920, snd_nxt 4381
         2.2 s  < . 1:1 ack 4381
                > . 4381:5841 ack 1
                > . 5841:7301 ack 1
         2.3 s  < . 1:1 ack 8761          # the peer had kept the rest
                > . 8761:10221 ack 1
                > . 10221:11681 ack 1
                > . 11681:13141 ack 1
                = snd_nxt 13141, retransmits 3",
    );
}

/// 4.4BSD-Lite `tcp_timer.c` 8.1.
#[test]
fn a_timeout_starts_the_count_of_duplicates_again() {
    four_in_flight(
        "",
        "361 ms < . 1:1 ack 2921
         362 ms < . 1:1 ack 2921
         1.5 s  > . 2921:4381 ack 1
         1.6 s  < . 1:1 ack 2921
         1.7 s  < . 1:1 ack 2921
                silence
                = cwnd 1460",
    );
}

/// RFC 1122, section 4.2.3.1; 4.4BSD-Lite `tcp_timer.c` 8.1.
#[test]
fn the_timer_fires_after_more_than_two_and_at_most_three_ticks() {
    for (phase, fires) in [(0, 1500), (121, 1621), (122, 1122), (499, 1499)] {
        server_with(
            &format!("host slow {phase} ms fast 0 ms"),
            &format!(
                "121 ms   = rto 1500 ms
                          write 100
                          > P. 1:101 ack 1
                 {fires} ms > P. 1:101 ack 1"
            ),
        );
    }
}

/// RFC 1122, section 4.2.3.1; RFC 1122, section 4.2.3.5; 4.4BSD-Lite `tcp_timer.c` 8.1.
#[test]
fn backing_off_doubles_to_64_s_and_gives_up_after_twelve_retries() {
    // One sample: 3 ticks. Then times 2, 4, 8, 16, 32, and 64 s from there on. The first may be short.
    let mut at = 0.0;
    let mut retries = String::new();
    for wait in [1.5, 3.0, 6.0, 12.0, 24.0, 48.0, 64.0, 64.0, 64.0, 64.0, 64.0, 64.0] {
        at += wait;
        retries += &format!("{at} s > P. 1:101 ack 1\n");
    }
    server(&format!(
        "121 ms write 100
                > P. 1:101 ack 1
         {retries}
         {} s   > R. 101:101 ack 1 win 0
                ! closed: timed out
                = state closed, timeouts 13, timer none",
        at + 64.0
    ));
}

/// RFC 1122, section 4.2.3.1 (Karn).
#[test]
fn an_ack_of_what_was_sent_again_gives_no_sample_and_the_longer_timeout_stays() {
    server(
        "121 ms write 100
                > P. 1:101 ack 1
         1.5 s  > P. 1:101 ack 1
         1.6 s  < . 1:1 ack 101
                = rto 3 s
                write 100
                > P. 101:201 ack 1
         1.7 s  < . 1:1 ack 201
                = rto 1500 ms",
    );
}

/// RFC 793, section 3.7; 4.4BSD-Lite `tcp_timer.c` 8.1.
#[test]
fn a_lost_fin_is_sent_again() {
    server(
        "121 ms write 100
                > P. 1:101 ack 1
                close
                > F. 101:101 ack 1
         241 ms < . 1:1 ack 101
         1.5 s  > F. 101:101 ack 1
                = retransmits 1, timeouts 1
         2.1 s  < . 1:1 ack 102
                = state fin-wait-2",
    );
}

/// RFC 793, section 3.9.
#[test]
fn an_ack_of_something_never_sent_is_answered_and_dropped() {
    client(
        "130 ms < . 1:1 ack 500
                > . 1:1 ack 1
                = flight 0",
    );
}
