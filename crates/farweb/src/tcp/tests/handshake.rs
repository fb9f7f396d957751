//! Opening: who sends what when, what is agreed, and how it fails.

use super::script::script;

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

#[test]
fn an_unanswered_syn_goes_out_three_times_and_fails_after_75_s() {
    // 12 ticks, then 48 ticks, of which the first may be short: after more than 5.5 s and at most 6 s.
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
         5.501 s  > S 0:0 mss 1460
         29.501 s > S 0:0 mss 1460
         74.501 s ! closed: timed out",
    );
    script(
        "host slow 499 ms fast 0 ms
         0 ms     connect
                  > S 0:0 mss 1460
         5.999 s  > S 0:0 mss 1460
         29.999 s > S 0:0 mss 1460
         74.999 s ! closed: timed out",
    );
}
