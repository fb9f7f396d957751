//! Opening: segments and their times, agreed options, and failures.

use super::script;

/// RFC 793, section 3.4, figure 7.
#[test]
fn active_open_then_request_in_a_segment_of_its_own() {
    script(
        "0 ms   connect
                > S 0:0 win 32120 mss 1460
         120 ms < S. 0:0 ack 1 win 32120 mss 1460
                > . 1:1 ack 1 win 32120
                ! connected
                = cwnd 1460, state established
                write 300
                > P. 1:301 ack 1",
    );
}

/// RFC 793, section 3.4; 4.4BSD-Lite `tcp_input.c` 8.5.
#[test]
fn passive_open_may_send_two_segments_at_first() {
    // The ACK of the SYN-ACK is an ACK of something new, and opens the window like any other.
    script(
        "0 ms   < S 0:0 mss 1460
                > S. 0:0 ack 1 win 32120 mss 1460
                = state syn-received
         120 ms < . 1:1 ack 1
                ! connected
                = cwnd 2920
         121 ms < P. 1:301 ack 1
                write 10000
                > . 1:1461 ack 301
                > . 1461:2921 ack 301",
    );
}

/// RFC 2414, section 2; RFC 3390, section 1.
#[test]
fn a_passive_open_without_credit_for_its_syn_starts_with_one_segment() {
    script(
        "set syn_ack_opens_cwnd false
         0 ms   < S 0:0 mss 1460
                > S. 0:0 ack 1 win 32120 mss 1460
         120 ms < . 1:1 ack 1
                ! connected
                = cwnd 1460
         121 ms < P. 1:301 ack 1
                write 10000
                > . 1:1461 ack 301
         240 ms < . 301:301 ack 1461
                > . 1461:2921 ack 301
                > . 2921:4381 ack 301
                = cwnd 2920",
    );
}

/// RFC 1122, section 4.2.3.5; 4.4BSD-Lite `tcp_timer.c` 8.1.
#[test]
fn an_unanswered_syn_goes_out_three_times_and_fails_after_75_s() {
    // 12 ticks, then 48 ticks, the first of them perhaps short: after more than 5.5 s and at most 6 s.
    script(
        "0 ms     connect
                  > S 0:0 mss 1460
         6 s      > S 0:0 mss 1460
         30 s     > S 0:0 mss 1460
         75 s     ! closed: timed out
                  = state closed, timer none",
    );
    script(
        "host slow 1 ms fast 0 ms
         0 ms     connect
                  > S 0:0 mss 1460
         5501 ms  > S 0:0 mss 1460
         29501 ms > S 0:0 mss 1460
         74501 ms ! closed: timed out",
    );
    script(
        "host slow 499 ms fast 0 ms
         0 ms     connect
                  > S 0:0 mss 1460
         5999 ms  > S 0:0 mss 1460
         29999 ms > S 0:0 mss 1460
         74999 ms ! closed: timed out",
    );
}

/// RFC 1122, section 4.2.3.1 (Karn); 4.4BSD-Lite `tcp_input.c` 8.5.
#[test]
fn a_syn_that_was_sent_again_gives_no_sample_and_its_timeout_stays() {
    script(
        "0 ms     connect
                  > S 0:0 mss 1460
         6 s      > S 0:0 mss 1460
         6120 ms  < S. 0:0 ack 1 mss 1460
                  > . 1:1 ack 1
                  = srtt none, rto 24 s, retransmits 1, timeouts 1
                  write 100
                  > P. 1:101 ack 1
         30 s     > P. 1:101 ack 1",
    );
}

/// RFC 2001, section 1; 4.4BSD-Lite `tcp_timer.c` 8.1.
#[test]
fn a_lost_syn_ends_slow_start_before_it_begins() {
    // The timeout sets ssthresh to two segments, of 512 B as long as the peer has not said otherwise.
    script(
        "0 ms     connect
                  > S 0:0 mss 1460
         6 s      > S 0:0 mss 1460
         6120 ms  < S. 0:0 ack 1 mss 1460
                  > . 1:1 ack 1
                  = ssthresh 1024, cwnd 1460
                  write 3000
                  > . 1:1461 ack 1
         6240 ms  < . 1:1 ack 1461
                  > . 1461:2921 ack 1
                  > P. 2921:3001 ack 1
                  = cwnd 3102                # 1460²/1460 + 1460/8 more",
    );
}

/// RFC 793, section 3.9; 4.4BSD-Lite `tcp_timer.c` 8.1.
#[test]
fn a_syn_ack_is_sent_again_by_the_timer_and_for_every_copy_of_the_syn() {
    script(
        "0 ms   < S 0:0 mss 1460
                > S. 0:0 ack 1 mss 1460
         100 ms < S 0:0 mss 1460
                > S. 0:0 ack 1 mss 1460
         6 s    > S. 0:0 ack 1 mss 1460
         6.1 s  < . 1:1 ack 1
                ! connected",
    );
}

/// 4.4BSD-Lite `tcp_timer.c` 8.1.
#[test]
fn a_passive_open_that_is_never_completed_is_given_up_with_a_reset() {
    script(
        "0 ms   < S 0:0 mss 1460
                > S. 0:0 ack 1 mss 1460
         6 s    > S. 0:0 ack 1 mss 1460
         30 s   > S. 0:0 ack 1 mss 1460
         75 s   > R. 1:1 ack 1 win 0
                ! closed: timed out",
    );
}

/// RFC 793, section 3.4.
#[test]
fn a_reset_refuses_the_connection() {
    script(
        "0 ms   connect
                > S 0:0 mss 1460
         60 ms  < R 0:0                   # acknowledges nothing: not for our SYN
                = state syn-sent
         120 ms < R. 0:0 ack 1
                ! closed: refused",
    );
    script(
        "0 ms   < S 0:0 mss 1460
                > S. 0:0 ack 1 mss 1460
         120 ms < R 1:1
                ! closed: refused",
    );
}

/// RFC 793, section 3.4.
#[test]
fn an_answer_to_something_never_sent_is_reset() {
    script(
        "0 ms   connect
                > S 0:0 mss 1460
         120 ms < S. 0:0 ack 7 mss 1460
                > R 7:7 win 0
                = state syn-sent
         121 ms < . 1:1 ack 1             # acceptable number, but no SYN
                silence",
    );
    script(
        "0 ms   < S 0:0 mss 1460
                > S. 0:0 ack 1 mss 1460
         120 ms < . 1:1 ack 2
                > R 2:2 win 0
                = state syn-received",
    );
}

/// RFC 793, section 3.4, figure 8.
#[test]
fn two_syns_that_cross_make_one_connection() {
    script(
        "0 ms   connect
                > S 0:0 mss 1460
         60 ms  < S 0:0 mss 1460
                > S. 0:0 ack 1 mss 1460
                = state syn-received
         120 ms < S. 0:0 ack 1 mss 1460
                ! connected
                = state established
                write 100
                > P. 1:101 ack 1",
    );
}

/// 4.4BSD-Lite `tcp_input.c` 8.5.
#[test]
fn a_second_syn_ack_is_not_acknowledged() {
    // Fixed in 4.4BSD-Lite2. The lost ACK of the handshake is made good by whatever is sent next.
    script(
        "0 ms   connect
                > S 0:0 mss 1460
         120 ms < S. 0:0 ack 1 mss 1460
                > . 1:1 ack 1
         6 s    < S. 0:0 ack 1 mss 1460
                silence",
    );
}

/// RFC 1122, section 4.2.2.6 (536 B there); 4.4BSD-Lite `tcp_input.c` 8.5.
#[test]
fn a_peer_without_mss_option_gets_segments_of_512_bytes() {
    // Sending the SYN has set cwnd to the MSS that we offered, so two of the smaller segments leave at first.
    script(
        "0 ms   connect
                > S 0:0 mss 1460
         120 ms < S. 0:0 ack 1
                > . 1:1 ack 1
                = mss 512, cwnd 1460, buffer 32120
                write 3000
                > . 1:513 ack 1
                > . 513:1025 ack 1",
    );
}

/// RFC 879, section 3; 4.4BSD-Lite `tcp_input.c` 8.5, `tcp_mss()`.
#[test]
fn the_smaller_mss_counts() {
    script(
        "buffer 8192
         0 ms   connect
                > S 0:0 mss 1460
         120 ms < S. 0:0 ack 1 mss 536
                > . 1:1 ack 1
                = mss 536, cwnd 536, buffer 8576",
    );
    script(
        "mss 1024
         0 ms   < S 0:0 mss 4312
                > S. 0:0 ack 1 mss 1024
                = mss 1024, cwnd 1024",
    );
    script(
        "mss 1024
         0 ms   connect
                > S 0:0 mss 1024
         120 ms < S. 0:0 ack 1 mss 4312
                > . 1:1 ack 1
                = mss 1024, cwnd 1024",
    );
}

/// 4.4BSD-Lite `tcp_input.c` 8.5, `tcp_mss()`.
#[test]
fn a_passive_opener_that_offers_more_than_its_peer_starts_with_what_it_offers() {
    script(
        "0 ms   < S 0:0 mss 512
                > S. 0:0 ack 1 mss 1460
                = mss 512, cwnd 1460
         120 ms < . 1:1 ack 1
                = cwnd 1972",
    );
}

/// 4.4BSD-Lite `tcp_input.c` 8.5, `tcp_mss()`.
#[test]
fn buffers_become_whole_segments() {
    for (size, rounded) in [(8192, 8760), (32767, 32767), (60000, 60000), (700, 700)] {
        let mss = size.min(1460);
        script(&format!(
            "buffer {size}
             0 ms < S 0:0 mss 1460
                  > S. 0:0 ack 1 mss 1460 win {rounded}
                  = buffer {rounded}, mss {mss}"
        ));
    }
}

/// RFC 793, section 3.9 (CLOSE).
#[test]
fn what_is_not_yet_established_vanishes_when_it_is_closed() {
    for how in ["close", "shutdown"] {
        script(&format!(
            "0 ms  connect
                   > S 0:0 mss 1460
             10 ms {how}
                   ! closed: aborted
             60 ms < S. 0:0 ack 1 mss 1460
                   > R 1:1 win 0"
        ));
    }
}

/// 4.4BSD-Lite `uipc_socket.c` 8.3.
#[test]
fn nothing_is_taken_for_sending_before_the_connection_is_established() {
    script(
        "0 ms  connect
               > S 0:0 mss 1460
               write 100 takes 0",
    );
}
