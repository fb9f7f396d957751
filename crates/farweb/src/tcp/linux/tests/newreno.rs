//! Losses without selective acknowledgement: duplicate ACKs, limited transmit, and one hole filled a round trip.
//!
//! RFC 5681, section 3.2; RFC 6582; RFC 3042; RFC 9937; Linux 6.18 `tcp_input.c`, `tcp_newreno_mark_lost()`, `tcp_add_reno_sack()`, `tcp_cwnd_reduction()`.

use super::{classic_with, script};

/// RFC 5681, section 3.2; RFC 3042, section 2.
#[test]
fn the_third_duplicate_retransmits_and_the_first_two_send_new_data() {
    classic_with(
        "set initial_cwnd_segments 10",
        "121 ms write 30000
                > . 1:10001 ack 1 each 1000
         241 ms < . 1:1 ack 1
                > . 10001:11001 ack 1
         242 ms < . 1:1 ack 1
                > . 11001:12001 ack 1
         243 ms < . 1:1 ack 1
                > . 1:1001 ack 1
                = ssthresh 5000, retransmits 1",
    );
}

/// RFC 9937, section 6; Linux 6.18 `tcp_cwnd_reduction()`.
#[test]
fn during_recovery_one_segment_leaves_for_two_that_arrive() {
    // 10 were in flight, half of that is the goal: of 12 outstanding, 3 arrived and 1 is lost, so sending goes on at half the rate.
    classic_with(
        "set initial_cwnd_segments 10",
        "121 ms write 30000
                > . 1:10001 ack 1 each 1000
         241 ms < . 1:1 ack 1
                > . 10001:11001 ack 1
         242 ms < . 1:1 ack 1
                > . 11001:12001 ack 1
         243 ms < . 1:1 ack 1
                > . 1:1001 ack 1
         244 ms < . 1:1 ack 1
         245 ms < . 1:1 ack 1
                > . 12001:13001 ack 1
         246 ms < . 1:1 ack 1
         247 ms < . 1:1 ack 1
                > . 13001:14001 ack 1
         248 ms < . 1:1 ack 1
         249 ms < . 1:1 ack 1
                = cwnd 5000
         361 ms < . 1:1 ack 1
                > . 14001:15001 ack 1
         362 ms < . 1:1 ack 1
                > . 15001:16001 ack 1
         363 ms < . 1:1 ack 12001
                > . 16001:17001 ack 1
                = cwnd 5000, retransmits 1, timeouts 0",
    );
}

/// RFC 5681, section 3.2.
#[test]
fn two_duplicates_are_not_enough() {
    classic_with(
        "set initial_cwnd_segments 3",
        "121 ms write 3000
                > . 1:2001 ack 1 each 1000
                > P. 2001:3001 ack 1
         241 ms < . 1:1 ack 1
         242 ms < . 1:1 ack 1
         481..517 ms > . 1:1001 ack 1
                = timeouts 1",
    );
}

/// RFC 5681, section 2.
#[test]
fn a_larger_window_is_no_duplicate() {
    // A smaller one would count: Linux takes no window from it.
    script(
        "profile linux-classic
         set initial_cwnd_segments 10
         0 ms   < S 0:0 win 65535 mss 1000
                > S. 0:0 ack 1 mss 1460
         120 ms < . 1:1 ack 1 win 40000
         121 ms write 5000
                > . 1:4001 ack 1 each 1000
                > P. 4001:5001 ack 1
         241 ms < . 1:1 ack 1 win 50000
         242 ms < . 1:1 ack 1 win 55000
         243 ms < . 1:1 ack 1 win 60000
                silence
                = retransmits 0",
    );
}

/// RFC 5681, section 2.
#[test]
fn data_in_an_ack_makes_it_no_duplicate() {
    classic_with(
        "set initial_cwnd_segments 10
         set quick_ack_always true",
        "121 ms write 10000
                > . 1:9001 ack 1 each 1000
                > P. 9001:10001 ack 1
         241 ms < . 1:101 ack 1
                > . 10001:10001 ack 101
         242 ms < . 101:201 ack 1
                > . 10001:10001 ack 201
         243 ms < . 201:301 ack 1
                > . 10001:10001 ack 301
                = retransmits 0",
    );
}

/// RFC 6582, section 3.2; RFC 5681, section 3.2.
#[test]
fn up_to_ten_losses_of_twenty_are_filled_one_a_round_trip() {
    for lost in 1..=10_u64 {
        let duplicates = "< . 1:1 ack 1\n".repeat(17 - lost as usize);
        // The ACK of each retransmission shows the next hole.
        let hole = |n: u64| {
            let (at, start) = (241 + 120 * n, 1000 * n + 1);
            format!("{at} ms < . 1:1 ack {start}\n > . {start}:{} ack 1\n", start + 1000)
        };
        let holes: String = (1..lost).map(hole).collect();
        classic_with(
            "set initial_cwnd_segments 20",
            &format!(
                "121 ms write 20000
                        > . 1:19001 ack 1 each 1000
                        > P. 19001:20001 ack 1
                 241 ms < . 1:1 ack 1
                        < . 1:1 ack 1
                        < . 1:1 ack 1
                        > . 1:1001 ack 1
                        {duplicates}
                        {holes}
                 {} ms  < . 1:1 ack 20001
                        = retransmits {lost}, timeouts 0, flight 0",
                241 + 120 * lost
            ),
        );
    }
}
