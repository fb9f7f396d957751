//! RFC 1323 as the released 4.4BSD-Lite had it: timestamps and window scaling.

use super::script;

/// RFC 1323, section 3.2.
#[test]
fn timestamps_are_used_when_both_offer_them() {
    // The clock counts slow ticks. At 0 ms the first one has happened.
    script(
        "set timestamps true
         0 ms   connect
                > S 0:0 mss 1460 ts 1:0
         700 ms < S. 0:0 ack 1 mss 1460 ts 7:1
                > . 1:1 ack 1 ts 2:7
                write 3000
                > . 1:1449 ack 1 ts 2:7",
    );
    script(
        "set timestamps true
         0 ms   connect
                > S 0:0 mss 1460 ts 1:0
         700 ms < S. 0:0 ack 1 mss 1460
                > . 1:1 ack 1
                write 3000
                > . 1:1461 ack 1",
    );
    script(
        "set timestamps true
         0 ms   < S 0:0 mss 1460
                > S. 0:0 ack 1 mss 1460",
    );
}

/// RFC 1323, section 3.3.
#[test]
fn with_timestamps_every_ack_gives_a_sample_even_of_what_was_sent_again() {
    // Sent at tick 1, again at tick 3, acknowledged at tick 4: the echo shows which one it was.
    script(
        "set timestamps true
         0 ms   connect
                > S 0:0 mss 1460 ts 1:0
         120 ms < S. 0:0 ack 1 mss 1460 ts 7:1
                > . 1:1 ack 1 ts 1:7
                write 100
                > P. 1:101 ack 1 ts 1:7
         1.5 s  > P. 1:101 ack 1 ts 3:7    # its own tick is counted only after the timers
                = rto 3 s
         1.9 s  < . 1:1 ack 101 ts 11:3
                = rto 1500 ms",
    );
}

/// RFC 1323, section 4.2 (PAWS).
#[test]
fn a_copy_from_long_ago_is_known_by_its_timestamp() {
    script(
        "set timestamps true
         0 ms   connect
                > S 0:0 mss 1460 ts 1:0
         120 ms < S. 0:0 ack 1 mss 1460 ts 7:1
                > . 1:1 ack 1 ts 1:7
         130 ms < P. 1:101 ack 1 ts 9:1
         200 ms > . 1:1 ack 101 ts 1:9
         300 ms < P. 101:201 ack 1 ts 8:1
                > . 1:1 ack 101 ts 1:9
                = readable 100",
    );
}

/// RFC 1323, section 3.4.
#[test]
fn the_timestamp_to_echo_is_that_of_the_segment_the_last_ack_asked_for() {
    // The second segment carries a newer one, but the first is what the ACK to come answers.
    script(
        "set timestamps true
         0 ms   connect
                > S 0:0 mss 1460 ts 1:0
         120 ms < S. 0:0 ack 1 mss 1460 ts 7:1
                > . 1:1 ack 1 ts 1:7
         130 ms < P. 1:101 ack 1 ts 9:1
         140 ms < P. 101:201 ack 1 ts 10:1
         200 ms > . 1:1 ack 201 ts 1:9
         210 ms < . 201:201 ack 1 ts 20:1   # an ACK without data is not it
         220 ms write 100
                > P. 1:101 ack 201 ts 1:9",
    );
}

/// RFC 1323, section 2.2.
#[test]
fn windows_are_scaled_when_both_offer_it() {
    // 200,000 B need a shift of 2. The window of a SYN is never scaled.
    script(
        "set window_scaling true
         buffer 200000
         0 ms   connect
                > S 0:0 win 65535 mss 1460 scale 2
         120 ms < S. 0:0 ack 1 win 1460 mss 1460 scale 3
                > . 1:1 ack 1 win 50000
                < S. 0:0 ack 1 win 2000 mss 1460 scale 3
                = wnd 2000
         121 ms write 100000
                > . 1:1461 ack 1
         241 ms < . 1:1 ack 1461 win 365
                > . 1461:2921 ack 1
                > . 2921:4381 ack 1
                = cwnd 2920",
    );
}

/// RFC 1323, section 2.2.
#[test]
fn windows_are_not_scaled_when_only_one_offers_it() {
    script(
        "set window_scaling true
         buffer 200000
         0 ms   connect
                > S 0:0 win 65535 mss 1460 scale 2
         120 ms < S. 0:0 ack 1 win 32120 mss 1460
                > . 1:1 ack 1 win 65535",
    );
    script(
        "set window_scaling true
         buffer 200000
         0 ms   < S 0:0 mss 1460
                > S. 0:0 ack 1 win 65535 mss 1460",
    );
}
