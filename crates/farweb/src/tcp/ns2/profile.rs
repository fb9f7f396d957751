//! The constants of `ns2-reno`.
//!
//! The values are ns-2's defaults before May 2001, with the packet size of the study of web cache hierarchies by Williamson
//! and Markatchev (SPECTS 2003). With the code of ns-2.35 they reproduce its results. Where a default of ns-2 changed
//! later, the date stands beside the constant: the profile can be set as any release. Leaves out defaults of parts left out
//! by [`ns2`](super).
//!
//! Source: ns-2.35, `tcl/lib/ns-default.tcl` for names, values and dates, `CHANGES.html` for dates.

use crate::tcp::constants::constants;
use crate::tcp::profile::ProfileError;
use crate::tcp::segment::MSS_BYTES;
use crate::units::{Bytes, Duration};

constants! {
    "Ns2Constants"
    /// ns-2's one-way Reno with the defaults from before May 2001.
    ns2_reno

    /// Payload of a packet (`packetSize_`, 1000 by default; the study sets 512).
    packet_size: Bytes = Bytes::new(512);
    /// True when 40 B of headers come on top of the payload of every packet but the first (`useHeaders_`; not before 28 November
    /// 2001). On, although the other values are older: so were the reference runs.
    headers: bool = true;
    /// Largest number of packets in flight (`window_`).
    window: u32 = 20;

    /// True when packet 0 is a SYN of 40 B without data (`syn_`, on since 17 May 2001).
    syn: bool = false;
    /// True when the window is set to its initial value again when packet 0 is acknowledged, and is one packet before that
    /// where `syn` is on (`delay_growth_`, on since 17 May 2001).
    delay_growth: bool = false;
    /// Congestion window of a new agent, in packets (`windowInit_`, 2 since 26 May 2001).
    initial_cwnd_segments: u32 = 1;
    /// True when an agent whose window was idle for a retransmission timeout goes back to one packet (`slow_start_restart_`).
    slow_start_restart: bool = true;

    /// Resolution of the clock that round-trip times are measured with (`tcpTick_`, 10 ms since 7 March 2002).
    tick: Duration = Duration::from_millis(100);
    /// Retransmission timeout before the first sample (`rtxcur_init_`, 3 s since 21 January 2006).
    rto_initial: Duration = Duration::from_secs(6);
    /// Smallest retransmission timeout, besides two ticks (`minrto_`, 1 s since 14 May 2001, 200 ms since 14 October 2004).
    rto_min: Duration = Duration::ZERO;
    /// Largest retransmission timeout (`maxrto_`, 100,000 s before 28 March 2007).
    rto_max: Duration = Duration::from_secs(60);
    /// True when `rto_min` is applied before backing off instead of after it, and backing off ends at `rto_max` instead of at a
    /// factor of 64 (`rfc2988_`, on since March 2002). Makes no difference without `rto_min` and losses of one packet in a row.
    rfc2988: bool = true;
    /// True when an ACK restarts the retransmission timer after it has updated the round-trip time and not before
    /// (`timerfix_`, on since 11 May 2001).
    timer_after_rtt: bool = true;

    /// Timeouts in a row after which an agent gives up. ns-2's never does. Chosen: an hour and a half of them, so that a run ends.
    timeouts_max: u32 = 100;

    /// Duplicate ACKs that start a fast retransmit (`numdupacks_`).
    duplicate_ack_threshold: u32 = 3;
    /// True when a new packet may be sent for each duplicate ACK below the threshold (`singledup_`, on since 28 November 2001).
    limited_transmit: bool = false;
    /// True when one window of data can start only one fast retransmit (`bugFix_`).
    bug_fix: bool = true;
    /// True when the loss of the second packet may start one although `bug_fix` is on, and whether the loss of the first
    /// lowers the initial window (`bugfix_ss_`, on since 13 June 2006).
    bug_fix_start: bool = true;
    /// True when duplicate ACKs let out new packets only after a fast retransmit (`exitFastRetrans_`, on since 28 July 2003).
    exit_fast_retransmit: bool = true;
    /// True when half a window keeps its fraction (`precisionReduce_`, on since January 2006).
    precise_halving: bool = false;

    /// Most packets that leave at once, 0 for any number (`maxburst_`).
    burst_max: u32 = 0;
    /// A burst waits a random time up to this before it is sent (`overhead_`).
    overhead: Duration = Duration::ZERO;

    /// True when the sink is the delaying one (`Agent/TCPSink/DelAck`).
    delayed_ack: bool = false;
    /// How long the delaying sink waits for a second packet (`interval_`).
    delayed_ack_interval: Duration = Duration::from_millis(100);
    /// True when the delaying sink acknowledges at once a segment that fills a gap (`RFC2581_immediate_ack_`, since 2000).
    immediate_ack_in_gap: bool = true;
    /// True when the delaying sink acknowledges packet 0 at once (`SYN_immediate_ack_`, on since 2 February 2010).
    immediate_ack_of_first: bool = true;
}

impl Profile {
    /// Checks that agents can run with these values.
    ///
    /// # Errors
    /// The first constant that is out of range.
    pub fn check(&self) -> Result<(), ProfileError> {
        let rules = [
            (
                "packet_size",
                (1..=u64::from(*MSS_BYTES.end())).contains(&self.packet_size.get()),
                "1 B to 65495 B",
            ),
            ("window", self.window > 0, "at least 1"),
            ("initial_cwnd_segments", self.initial_cwnd_segments > 0, "at least 1"),
            ("tick", self.tick >= Duration::from_micros(1), "at least 1 us"),
            ("rto_initial", self.rto_initial > Duration::ZERO, "above zero"),
            ("rto_max", self.rto_max >= self.rto_min, "at least `rto_min`"),
            ("rto_max", self.rto_max >= self.tick * 2, "at least two ticks"),
            ("timeouts_max", self.timeouts_max > 0, "at least 1"),
            ("duplicate_ack_threshold", self.duplicate_ack_threshold > 0, "at least 1"),
            ("delayed_ack_interval", self.delayed_ack_interval > Duration::ZERO, "above zero"),
        ];
        ProfileError::first(&rules)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_that_cannot_run_is_refused() {
        let reno = Profile::ns2_reno();
        assert_eq!(reno.check(), Ok(()));
        let stopped = Profile { tick: Duration::ZERO, ..reno };
        assert_eq!(stopped.check().unwrap_err().to_string(), "`tick` must be at least 1 us");
        let shut = Profile { window: 0, ..reno };
        assert_eq!(shut.check().unwrap_err().to_string(), "`window` must be at least 1");
        let huge = Profile { packet_size: Bytes::new(65_496), ..reno };
        assert_eq!(huge.check().unwrap_err().to_string(), "`packet_size` must be 1 B to 65495 B");
    }
}
