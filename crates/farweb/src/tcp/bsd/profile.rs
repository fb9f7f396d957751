//! The constants of `bsd44-lite`.
//!
//! Durations that BSD counts in ticks are rounded up to whole ticks of [`Profile::slow_tick`] by
//! [`SharedProfile`](super::SharedProfile). Models every value that the code of the stack reads. Leaves out limits of the
//! host, such as a limit of all buffers together.
//!
//! Source of the values: 4.4BSD-Lite (1994), `sys/netinet/tcp_timer.h` 8.1, `tcp_var.h` 8.3, `tcp_input.c` 8.5,
//! `tcp_output.c` 8.3, `tcp_subr.c` 8.1, `sys/kern/uipc_socket.c` 8.3, `sys/sys/mbuf.h`. Other sources stand beside a
//! value.

use serde::{Deserialize, Serialize};

use crate::tcp::constants::constants;
use crate::tcp::profile::ProfileError;
use crate::units::{Bytes, Duration};

/// Handling by header prediction of the ACK that ends a fast recovery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum HeaderPrediction {
    /// As released: the ACK may take the fast path, and then the inflated cwnd stays (RFC 2525, section 2.8).
    Lite,
    /// As later systems have it: no fast path while the duplicate-ACK threshold is reached.
    Fixed,
}

/// When an idle connection starts again with a small window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum IdleRestart {
    /// When nothing is outstanding and nothing was received for one RTO: to one segment (4.4BSD-Lite `tcp_output.c`).
    SinceReceived,
    /// When nothing is outstanding and no data was sent for one RTO: to the initial window (RFC 2581, section 4.1).
    SinceSent,
    /// Never.
    Off,
}

constants! {
    "BsdConstants"
    /// The TCP of 4.4BSD-Lite with RFC 1323 options off, the setting of the studies of 1998 to 2001.
    bsd44_lite

    /// Period of the host's slow grid, on which every timer but the delayed ACK is counted (`PR_SLOWHZ` 2).
    slow_tick: Duration = Duration::from_millis(500);
    /// Period of the host's fast grid, on which delayed ACKs leave (`PR_FASTHZ` 5).
    fast_tick: Duration = Duration::from_millis(200);

    /// Retransmission timeout before any sample: 12 ticks, from `TCPTV_SRTTDFLT`.
    rto_initial: Duration = Duration::from_secs(6);
    /// Deviation of the round-trip time before any sample (`TCPTV_SRTTDFLT`, kept times 4 in ticks: 24).
    rttvar_initial: Duration = Duration::from_secs(3);
    /// Smallest retransmission timeout (`TCPTV_MIN`).
    rto_min: Duration = Duration::from_secs(1);
    /// Largest retransmission timeout (`TCPTV_REXMTMAX`).
    rto_max: Duration = Duration::from_secs(64);
    /// Largest power of two by which backing off multiplies a timeout (`tcp_backoff`: 1, 2, 4 … 64, 64).
    backoff_doublings_max: u32 = 6;
    /// Timeouts of one segment in a row after which the connection is given up (`TCP_MAXRXTSHIFT`).
    retries_max: u32 = 12;

    /// Time for a connection to be established (`TCPTV_KEEP_INIT`).
    connect_timeout: Duration = Duration::from_secs(75);
    /// Assumed lifetime of a segment; TIME_WAIT lasts twice that (`TCPTV_MSL`).
    msl: Duration = Duration::from_secs(30);
    /// Shortest time between zero-window probes (`TCPTV_PERSMIN`).
    persist_min: Duration = Duration::from_secs(5);
    /// Longest time between zero-window probes (`TCPTV_PERSMAX`).
    persist_max: Duration = Duration::from_secs(60);
    /// Idle time after which a closed connection in FIN_WAIT_2 is given up (`tcp_maxidle`: 8 times 75 s).
    fin_wait_2_timeout: Duration = Duration::from_secs(600);
    /// True when idle connections are probed (`SO_KEEPALIVE`).
    keepalive: bool = false;
    /// Idle time before the first keepalive probe (`TCPTV_KEEP_IDLE`).
    keepalive_idle: Duration = Duration::from_secs(7200);
    /// Time between keepalive probes, and between looks at a connection in FIN_WAIT_2 (`TCPTV_KEEPINTVL`).
    keepalive_interval: Duration = Duration::from_secs(75);
    /// Silence after the first keepalive probe at which the connection is given up (`tcp_maxidle`).
    keepalive_timeout: Duration = Duration::from_secs(600);

    /// Congestion window of a new connection, in segments.
    initial_cwnd_segments: u32 = 1;
    /// True when the ACK of a SYN-ACK opens cwnd as an ACK of data does: the passive opener starts with a segment more
    /// (`tcp_input.c`: `SYN_RECEIVED` falls through). RFC 2414, section 2, and RFC 3390, section 1, ask that it does not.
    syn_ack_opens_cwnd: bool = true;
    /// MSS of a peer that offers none (`TCP_MSS`).
    mss_default: Bytes = Bytes::new(512);
    /// Smallest MSS (`tcp_mss`).
    mss_min: Bytes = Bytes::new(32);
    /// Send and receive buffer of an end that is given none: the largest socket buffer of the systems of 1997 (as below).
    buffer_default: Bytes = Bytes::new(32767);
    /// Buffers are rounded up to whole segments, but not beyond this (`SB_MAX` where a system sets none: `tcp_var.h`).
    buffer_rounding_max: Bytes = Bytes::new(32767);

    /// True when congestion avoidance adds an eighth of a segment an ACK (RFC 2525, section 2.6).
    additive_eighth: bool = true;
    /// Duplicate ACKs that start a fast retransmit (`tcprexmtthresh`).
    duplicate_ack_threshold: u32 = 3;
    /// True when cwnd is deflated after exactly the threshold's number of duplicates too; BSD tests for more than that.
    deflate_at_threshold: bool = false;
    /// Handling by header prediction of the ACK that ends a fast recovery.
    header_prediction: HeaderPrediction = HeaderPrediction::Lite;
    /// When an idle connection starts again with a small window.
    idle_restart: IdleRestart = IdleRestart::SinceReceived;
    /// True when a segment that the host's own queue refuses sets cwnd to one segment (`tcp_quench`). Off, because the
    /// queues of a path belong to routers.
    source_quench: bool = false;

    /// True when small segments wait for the ACK of outstanding data (RFC 896).
    nagle: bool = true;
    /// True when Nagle's rule is asked for each segment; 4.4BSD asks once for all that a write, or an ACK, lets go.
    nagle_each_segment: bool = false;
    /// True when ACKs of in-order data wait for the fast grid.
    delayed_ack: bool = true;
    /// True when they wait for a tick of the host's fast grid; else for `fast_tick` from the first segment that is not acknowledged.
    delayed_ack_on_grid: bool = true;
    /// Segments in order behind the last ACK that send one at once; 0: any number (4.4BSD has `ack_on_read` for that).
    ack_every: u32 = 0;
    /// True when a read that can move the window by two segments sends an ACK; half of the buffer does always.
    ack_on_read: bool = true;
    /// True when window scaling is offered (RFC 1323). The released system did; the studies' systems did not.
    window_scaling: bool = false;
    /// True when timestamps are offered (RFC 1323). The released system did; the studies' systems did not.
    timestamps: bool = false;

    /// Free space of the send buffer at which a blocked writer goes on (`sb_lowat`: `MCLBYTES`).
    send_low_water: Bytes = Bytes::new(2048);
    /// Largest piece of a write that is handed to TCP at once (`MCLBYTES`, 2048 B); 0 B hands over the whole write.
    socket_cluster: Bytes = Bytes::ZERO;
    /// True when a rest of a write below 208 B is handed over in pieces of 100 B (`MINCLSIZE`, `MHLEN`).
    socket_small_pieces: bool = false;
    /// True when a segment may have the end of a write and the beginning of the next one; stacks of STREAMS end it there.
    join_writes: bool = true;
}

impl Profile {
    /// The TCP of Solaris 2.5, as far as constants of this stack describe it: counts of segments on a path without loss.
    /// `docs/models/tcp-bsd.md` lists the known facts about it, and how sure they are.
    ///
    /// Source: Sun Microsystems, *Solaris Tunable Parameters Reference Manual*, TCP; W. R. Stevens, *UNIX Network
    /// Programming*, volume 1, 2nd edition, chapter on XTI, for writes that are messages. The page above lists
    /// assumptions.
    #[must_use]
    pub const fn solaris_2_5() -> Self {
        Self {
            fast_tick: Duration::from_millis(50),
            delayed_ack_on_grid: false,
            ack_every: 2,
            ack_on_read: false,
            nagle_each_segment: true,
            join_writes: false,
            buffer_default: Bytes::new(8192),
            ..Self::bsd44_lite()
        }
    }
}

impl Profile {
    /// Checks that a connection can run with these values.
    ///
    /// # Errors
    /// The first constant that is out of range.
    pub fn check(&self) -> Result<(), ProfileError> {
        let millisecond = Duration::from_millis(1);
        let rules = [
            ("slow_tick", self.slow_tick >= millisecond, "at least 1 ms"),
            ("fast_tick", self.fast_tick >= millisecond, "at least 1 ms"),
            ("rto_min", self.rto_min > Duration::ZERO, "above zero"),
            ("rto_max", self.rto_max >= self.rto_min, "at least `rto_min`"),
            ("persist_min", self.persist_min > Duration::ZERO, "above zero"),
            ("persist_max", self.persist_max >= self.persist_min, "at least `persist_min`"),
            ("backoff_doublings_max", self.backoff_doublings_max <= 16, "at most 16"),
            ("retries_max", self.retries_max <= 255, "at most 255"),
            ("connect_timeout", self.connect_timeout > Duration::ZERO, "above zero"),
            ("keepalive_interval", self.keepalive_interval > Duration::ZERO, "above zero"),
            ("initial_cwnd_segments", self.initial_cwnd_segments > 0, "at least 1"),
            ("duplicate_ack_threshold", self.duplicate_ack_threshold > 0, "at least 1"),
            // Options take 20 bytes of a SYN and 12 of any other segment, and each must carry data beside them.
            ("mss_min", self.mss_min.get() >= 32, "at least 32 B"),
            ("buffer_default", self.buffer_default.get() >= 32, "at least 32 B"),
            ("mss_default", self.mss_default >= self.mss_min, "at least `mss_min`"),
        ];
        ProfileError::first(&rules)
    }

    /// A buffer of `size` bytes, rounded up to whole segments of `mss` bytes, but by rounding not beyond the profile's
    /// largest buffer.
    #[must_use]
    pub fn rounded_buffer(&self, size: u64, mss: u64) -> u64 {
        size.next_multiple_of(mss).min(size.max(self.buffer_rounding_max.get()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overrides_change_what_they_name_and_nothing_else() {
        let overrides: Overrides = serde_json::from_str(
            r#"{"delayed_ack": false, "rto_min": "500 ms", "header_prediction": "fixed"}"#,
        )
        .unwrap();
        let changed = Profile::bsd44_lite().with(&overrides);
        let expected = Profile {
            delayed_ack: false,
            rto_min: Duration::from_millis(500),
            header_prediction: HeaderPrediction::Fixed,
            ..Profile::bsd44_lite()
        };
        assert_eq!(changed, expected);
    }

    #[test]
    fn buffers_are_rounded_up_to_segments_but_not_beyond_the_largest() {
        let lite = Profile::bsd44_lite();
        let cases = [
            (8192, 1460, 8760),
            (8192, 512, 8192),
            (4096, 1460, 4380),
            (32767, 1460, 32767),
            (32767, 512, 32767),
        ];
        for (size, mss, rounded) in cases {
            assert_eq!(lite.rounded_buffer(size, mss), rounded, "{size} B with MSS {mss}");
        }
        assert_eq!(lite.rounded_buffer(65536, 1460), 65536);
    }

    #[test]
    fn a_profile_that_cannot_run_is_refused() {
        assert_eq!(Profile::bsd44_lite().check(), Ok(()));
        let stopped = Profile { slow_tick: Duration::ZERO, ..Profile::bsd44_lite() };
        assert_eq!(stopped.check().unwrap_err().to_string(), "`slow_tick` must be at least 1 ms");
    }
}
