//! Losses with selective acknowledgement: all holes of a flight in one recovery, sent in step with what arrives.
//!
//! RFC 6675; RFC 2018; RFC 9937; RFC 3042; Linux 6.18 `tcp_input.c`, `tcp_sacktag_write_queue()`, `tcp_cwnd_reduction()`, `tcp_recovery.c`.

use super::{server, server_with};

/// RFC 6675, section 5; RFC 3042, section 2.
#[test]
fn a_hole_is_filled_at_the_third_sacked_segment() {
    server(
        "121 ms write 30000
                > . 1:10001 ack 1 each 1000
         241 ms < . 1:1 ack 1 sack 1001:2001
                > . 10001:11001 ack 1
         242 ms < . 1:1 ack 1 sack 1001:3001
                > . 11001:12001 ack 1
         243 ms < . 1:1 ack 1 sack 1001:4001
                > . 1:1001 ack 1
                = ssthresh 7000, retransmits 1",
    );
}

/// RFC 9937, section 6.
#[test]
fn sending_slows_down_in_proportion() {
    // The goal is 7 of 10: CUBIC's. 7 segments leave for 10 that arrive until no more than 7 fly. Then one leaves for each.
    server(
        "121 ms write 30000
                > . 1:10001 ack 1 each 1000
         241 ms < . 1:1 ack 1 sack 1001:2001
                > . 10001:11001 ack 1
         242 ms < . 1:1 ack 1 sack 1001:3001
                > . 11001:12001 ack 1
         243 ms < . 1:1 ack 1 sack 1001:4001
                > . 1:1001 ack 1
         244 ms < . 1:1 ack 1 sack 1001:5001
                > . 12001:13001 ack 1
         245 ms < . 1:1 ack 1 sack 1001:6001
                > . 13001:14001 ack 1
         246 ms < . 1:1 ack 1 sack 1001:7001
         247 ms < . 1:1 ack 1 sack 1001:8001
                = cwnd 7000
         248 ms < . 1:1 ack 1 sack 1001:9001
                > . 14001:15001 ack 1
         249 ms < . 1:1 ack 1 sack 1001:10001
                > . 15001:16001 ack 1
         361 ms < . 1:1 ack 1 sack 1001:11001
                > . 16001:17001 ack 1
         362 ms < . 1:1 ack 1 sack 1001:12001
                > . 17001:18001 ack 1
         363 ms < . 1:1 ack 12001
                > . 18001:19001 ack 1
                = cwnd 7000, retransmits 1, timeouts 0",
    );
}

/// RFC 9937, section 6 (SafeACK).
#[test]
fn after_heavy_loss_the_window_is_built_up_again() {
    // Of 20 segments 4 arrived: as many leave as arrived, and one more for an ACK that shows no further loss.
    server_with(
        "set initial_cwnd_segments 20",
        "121 ms write 20000
                > . 1:19001 ack 1 each 1000
                > P. 19001:20001 ack 1
         241 ms < . 1:1 ack 1 sack 16001:20001
                > . 1:4001 ack 1 each 1000
                = ssthresh 14000
         361 ms < . 1:1 ack 1001 sack 16001:20001
                > . 4001:6001 ack 1 each 1000
         362 ms < . 1:1 ack 2001 sack 16001:20001
                > . 6001:8001 ack 1 each 1000",
    );
}

/// RFC 8985, section 6.2 (RFC 6675 would wait for the timeout).
#[test]
fn a_lost_retransmission_is_sent_again_in_the_same_recovery() {
    server(
        "121 ms write 30000
                > . 1:10001 ack 1 each 1000
         241 ms < . 1:1 ack 1 sack 1001:10001
                > . 1:1001 ack 1
                > . 10001:16001 ack 1 each 1000
         361 ms < . 1:1 ack 1 sack 1001:11001
                > . 1:1001 ack 1
                > . 16001:17001 ack 1
                = retransmits 2, timeouts 0",
    );
}

/// RFC 2883, section 5; Linux 6.18 `tcp_is_sackblock_valid()`.
#[test]
fn blocks_below_the_ack_do_not_count() {
    server(
        "121 ms write 10000
                > . 1:9001 ack 1 each 1000
                > P. 9001:10001 ack 1
         241 ms < . 1:1 ack 3001
         242 ms < . 1:1 ack 3001 sack 1:1001
         243 ms < . 1:1 ack 3001 sack 1001:2001
         244 ms < . 1:1 ack 3001 sack 2001:3001
                = retransmits 0",
    );
}

/// RFC 2018, section 5.1; Linux 6.18 `tcp_is_sackblock_valid()`.
#[test]
fn blocks_beyond_what_was_sent_do_not_count() {
    server(
        "121 ms write 10000
                > . 1:9001 ack 1 each 1000
                > P. 9001:10001 ack 1
         241 ms < . 1:1 ack 1 sack 10001:20001
                < . 1:1 ack 1 sack 10001:20001
                < . 1:1 ack 1 sack 10001:20001
                = retransmits 0",
    );
}

/// RFC 2883, section 5; RFC 3708; Linux 6.18 `tcp_try_undo_dsack()`.
#[test]
fn a_recovery_without_a_loss_is_taken_back() {
    // The hole was only late: the retransmission comes as a copy, which DSACK reports, and the window is as it was.
    server(
        "121 ms write 10000
                > . 1:9001 ack 1 each 1000
                > P. 9001:10001 ack 1
         241 ms < . 1:1 ack 1 sack 1001:10001
                > . 1:1001 ack 1
                = ssthresh 7000
         242 ms < . 1:1 ack 10001
         361 ms < . 1:1 ack 10001 sack 1:1001
                = cwnd 10000, ssthresh 1073725440",
    );
}

/// RFC 6675, section 5; RFC 2018, section 5; RFC 9937, section 6.
#[test]
fn up_to_ten_losses_of_twenty_are_filled_in_a_round_trip() {
    for lost in 1..=10_u64 {
        let arrived = 1000 * lost + 1;
        server_with(
            "set initial_cwnd_segments 20",
            &format!(
                "121 ms write 20000
                        > . 1:19001 ack 1 each 1000
                        > P. 19001:20001 ack 1
                 241 ms < . 1:1 ack 1 sack {arrived}:20001
                        > . 1:{arrived} ack 1 each 1000
                        = ssthresh 14000
                 361 ms < . 1:1 ack 20001
                        = retransmits {lost}, timeouts 0, flight 0, cwnd 14000"
            ),
        );
    }
}

/// RFC 2018, section 3; Linux 6.18 `tcp_output.c`, `__tcp_retransmit_skb()`.
#[test]
fn a_retransmission_makes_room_for_sack_blocks() {
    // A block and its padding take 12 B.
    server(
        "121 ms write 5000
                > . 1:4001 ack 1 each 1000
                > P. 4001:5001 ack 1
         130 ms < . 1001:2001 ack 1
                > . 5001:5001 ack 1 sack 1001:2001
         241 ms < . 2001:2001 ack 1 sack 1001:5001
                > . 1:989 ack 1 sack 1001:2001
                > . 989:1001 ack 1 sack 1001:2001
                = retransmits 2
         361 ms < . 2001:2001 ack 989 sack 1001:5001
         362 ms < . 2001:2001 ack 5001
                = retransmits 2, timeouts 0",
    );
}

/// Linux 6.18 `tcp_output.c`, `tcp_fragment()`.
#[test]
fn the_flags_of_a_split_segment_go_with_its_end() {
    server(
        "121 ms write 1000
                > P. 1:1001 ack 1
         130 ms < . 1001:2001 ack 1
                > . 1001:1001 ack 1 sack 1001:2001
         400..700 ms > . 1:989 ack 1 sack 1001:2001",
    );
}
