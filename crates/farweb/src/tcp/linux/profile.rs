//! The constants of `linux` and of `linux-classic`.
//!
//! Models every value that the code of the stack reads. Leaves out the sysctls of what the stack leaves out.
//!
//! Source of the values: Linux 6.18, `include/net/tcp.h`, `Documentation/networking/ip-sysctl.rst` and the sysctls of a
//! running kernel (`net.ipv4.tcp_*`, named beside a value). Other sources stand beside a value.

use serde::{Deserialize, Serialize};

use crate::tcp::constants::constants;
use crate::tcp::profile::ProfileError;
use crate::units::{Bytes, Duration};

/// Congestion control: how much may fly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum CongestionControl {
    /// CUBIC (RFC 9438), Linux's default.
    Cubic,
    /// Reno (RFC 5681).
    Reno,
    /// BBR, version 1: by a model of the path.
    Bbr,
}

/// Pacing: a time between departures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum PacingKind {
    /// `internal` with BBR, `none` with others.
    Auto,
    /// By the sender itself: at the pace of BBR, or at 200 or 120 % of cwnd a round trip with others.
    Internal,
    /// Not at all; BBR then sets the window alone.
    None,
}

/// Explicit congestion notification: routers mark packets in place of dropping them (RFC 3168).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum EcnKind {
    /// Not used.
    Off,
    /// Agreed to where the peer asks for it, as Linux does by default.
    Accept,
    /// Asked for in SYNs too.
    Request,
}

/// How CUBIC leaves its first slow start before a loss.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum HystartKind {
    /// Not at all.
    Off,
    /// At a long train of ACKs or a grown round-trip time, as Linux's `tcp_cubic.c` has it.
    Linux,
    /// HyStart++ (RFC 9406): on a grown round-trip time into slower growth first.
    PlusPlus,
}

constants! {
    "LinuxConstants"
    /// Linux 6.18 with its defaults.
    linux

    /// Period of the kernel's tick, on which all timers but pacing are counted (`CONFIG_HZ` 250, the reference machine).
    jiffy: Duration = Duration::from_millis(4);

    /// Retransmission timeout before any sample (`TCP_TIMEOUT_INIT`, RFC 6298, section 2.1).
    rto_initial: Duration = Duration::from_secs(1);
    /// Floor of the variance term of the retransmission timeout (`tcp_rto_min_us`).
    rto_min: Duration = Duration::from_millis(200);
    /// Largest retransmission timeout (`tcp_rto_max_ms`).
    rto_max: Duration = Duration::from_secs(120);
    /// Time over which the smallest round-trip time is kept (`tcp_min_rtt_wlen`).
    min_rtt_window: Duration = Duration::from_secs(300);
    /// Retransmissions of a SYN before connecting fails (`tcp_syn_retries`).
    syn_retries: u32 = 6;
    /// Retransmissions of a SYN before its timeout begins to double (`tcp_syn_linear_timeouts`).
    syn_linear_timeouts: u32 = 4;
    /// Retransmissions of a SYN-ACK before the connection is forgotten (`tcp_synack_retries`).
    synack_retries: u32 = 5;
    /// Timeouts that a connection outlives, as the time that they would take from `rto_min` on (`tcp_retries2`).
    retries_max: u32 = 15;
    /// The same for a connection that its application has closed (`tcp_orphan_retries` 0, which means 8).
    orphan_retries: u32 = 8;
    /// Time in FIN_WAIT_2 after the application has closed (`tcp_fin_timeout`).
    fin_wait_2_timeout: Duration = Duration::from_secs(60);
    /// Time in TIME_WAIT (`TCP_TIMEWAIT_LEN`).
    time_wait: Duration = Duration::from_secs(60);
    /// True when idle connections are probed (`SO_KEEPALIVE`).
    keepalive: bool = false;
    /// Idle time before the first keepalive probe (`tcp_keepalive_time`).
    keepalive_idle: Duration = Duration::from_secs(7200);
    /// Time between keepalive probes (`tcp_keepalive_intvl`).
    keepalive_interval: Duration = Duration::from_secs(75);
    /// Keepalive probes without an answer after which the connection is given up (`tcp_keepalive_probes`).
    keepalive_probes: u32 = 9;
    /// Time for which what is sent again, a probe of a shut window or of an idle peer may go unanswered before the connection is
    /// given up, in place of counts of retries and probes; 0 s: those count (`TCP_USER_TIMEOUT`, which programs set; RFC 5482).
    user_timeout: Duration = Duration::ZERO;
    /// Shortest time between answers to segments that are out of the window (`tcp_invalid_ratelimit`).
    invalid_rate_limit: Duration = Duration::from_millis(500);

    /// Congestion window of a new connection, in segments (`TCP_INIT_CWND`, RFC 6928).
    initial_cwnd_segments: u32 = 10;
    /// MSS of a peer that offers none (`TCP_MSS_DEFAULT`).
    mss_default: Bytes = Bytes::new(536);
    /// Smallest MSS (`tcp_min_snd_mss`).
    mss_min: Bytes = Bytes::new(48);
    /// Congestion control (`tcp_congestion_control`).
    congestion_control: CongestionControl = CongestionControl::Cubic;
    /// Pacing of the sender (`sk_pacing_status`, which BBR sets, and programs do by `SO_MAX_PACING_RATE`).
    pacing: PacingKind = PacingKind::Auto;
    /// Explicit congestion notification (`tcp_ecn`: 0, 2, 1; a kernel's own is 2, `accept`). Chosen: off, so that a transfer is
    /// the same whatever the peer asks for.
    ecn: EcnKind = EcnKind::Off;
    /// How CUBIC leaves slow start before a loss (`tcp_cubic.hystart`, `hystart_detect` 3).
    hystart: HystartKind = HystartKind::Linux;
    /// Window in segments below which HyStart does not look (`hystart_low_window`).
    hystart_low_window: u32 = 16;
    /// Largest gap between ACKs of one train (`hystart_ack_delta_us`).
    hystart_ack_delta: Duration = Duration::from_micros(2000);
    /// CUBIC's window after a loss, in 1024ths of the window before (`tcp_cubic.beta`, RFC 9438: 0.7).
    cubic_beta_1024ths: u32 = 717;
    /// CUBIC's steepness C, in 10/1024ths of a segment over a second cubed (`bic_scale`, RFC 9438: 0.4).
    cubic_scale: u32 = 41;
    /// True when CUBIC gives way when a loss comes below the last maximum (`tcp_cubic.fast_convergence`).
    cubic_fast_convergence: bool = true;
    /// True when CUBIC grows at least as Reno would (`tcp_cubic.tcp_friendliness`).
    cubic_reno_friendly: bool = true;
    /// True when an idle connection loses half of cwnd for every RTO (`tcp_slow_start_after_idle`).
    slow_start_after_idle: bool = true;

    /// Duplicate ACKs, or segments SACKed above, that show a loss before any reordering was seen (`tcp_reordering`).
    reordering: u32 = 3;
    /// Largest reordering that is allowed for, in segments (`tcp_max_reordering`).
    reordering_max: u32 = 300;
    /// True when losses are found by time with the RACK reordering window (`tcp_recovery` 1; RFC 8985).
    rack: bool = true;
    /// True when the end of a flight is probed before the timeout (`tcp_early_retrans` 3; RFC 8985, section 7).
    tail_loss_probe: bool = true;
    /// True when timeouts are checked for being spurious (`tcp_frto` 2; RFC 5682).
    frto: bool = true;
    /// True when selective acknowledgement is offered (`tcp_sack`, RFC 2018).
    sack: bool = true;
    /// True when duplicates are reported (`tcp_dsack`, RFC 2883).
    dsack: bool = true;
    /// True when timestamps are offered (`tcp_timestamps`, RFC 7323).
    timestamps: bool = true;
    /// True when window scaling is offered (`tcp_window_scaling`, RFC 7323).
    window_scaling: bool = true;

    /// True when small segments wait for the ACK of outstanding data (no `TCP_NODELAY`).
    nagle: bool = true;
    /// True when every segment is acknowledged at once (route option `quickack`).
    quick_ack_always: bool = false;
    /// ACKs that are sent at once at the start and after a hole (`TCP_MAX_QUICKACKS`).
    quick_acks_max: u32 = 16;
    /// Shortest time that an ACK waits for data or a second segment (`TCP_DELACK_MIN`, `TCP_ATO_MIN`).
    delayed_ack_min: Duration = Duration::from_millis(40);
    /// Longest time that an ACK waits (`TCP_DELACK_MAX`).
    delayed_ack_max: Duration = Duration::from_millis(200);
    /// Answers to received data after which a connection counts as a dialogue (`tcp_pingpong_thresh`).
    pingpong_threshold: u32 = 1;
    /// Longest time that a further duplicate ACK waits to become one with the next (`tcp_comp_sack_delay_ns`).
    compressed_ack_delay: Duration = Duration::from_millis(1);
    /// Duplicate ACKs that become one at most (`tcp_comp_sack_nr`).
    compressed_acks_max: u32 = 44;

    /// Smallest receive buffer, in bytes of memory (`tcp_rmem`, first value).
    receive_buffer_min: Bytes = Bytes::new(4096);
    /// Receive buffer of a new connection, in bytes of memory (`tcp_rmem`, second value).
    receive_buffer_initial: Bytes = Bytes::new(131_072);
    /// Receive buffer to which auto-tuning grows, in bytes of memory (`tcp_rmem`, third value).
    receive_buffer_max: Bytes = Bytes::new(33_554_432);
    /// True when the receive buffer follows the rate (`tcp_moderate_rcvbuf`).
    receive_buffer_tuning: bool = true;
    /// Smallest send buffer, in bytes of memory (`tcp_wmem`, first value).
    send_buffer_min: Bytes = Bytes::new(4096);
    /// Send buffer of a new connection, in bytes of memory (`tcp_wmem`, second value). Chosen: large enough never to limit, as in
    /// the reference transfers; a kernel that nobody has configured begins with 16384 B.
    send_buffer_initial: Bytes = Bytes::new(16_777_216);
    /// Send buffer to which auto-tuning grows, in bytes of memory (`tcp_wmem`, third value; a kernel's own is 4194304 B).
    send_buffer_max: Bytes = Bytes::new(33_554_432);
}

impl Profile {
    /// Linux set as stacks of the 1990s were: Reno with an initial window of one segment, no options but the MSS, and
    /// no recovery that came later than NewReno.
    #[must_use]
    pub const fn linux_classic() -> Self {
        Self {
            initial_cwnd_segments: 1,
            congestion_control: CongestionControl::Reno,
            sack: false,
            dsack: false,
            timestamps: false,
            window_scaling: false,
            rack: false,
            tail_loss_probe: false,
            frto: false,
            ..Self::linux()
        }
    }

    /// True when segments leave at a pace.
    pub(super) fn paces(&self) -> bool {
        match self.pacing {
            PacingKind::Auto => self.congestion_control == CongestionControl::Bbr,
            PacingKind::Internal => true,
            PacingKind::None => false,
        }
    }

    /// Checks that a connection can run with these values.
    ///
    /// # Errors
    /// The first constant that is out of range.
    pub fn check(&self) -> Result<(), ProfileError> {
        let above_zero = |span: Duration| span > Duration::ZERO;
        ProfileError::first(&[
            ("jiffy", self.jiffy >= Duration::from_millis(1), "at least 1 ms"),
            ("jiffy", self.jiffy <= Duration::from_millis(10), "at most 10 ms"),
            ("rto_min", above_zero(self.rto_min), "above zero"),
            ("rto_initial", above_zero(self.rto_initial), "above zero"),
            (
                "rto_max",
                self.rto_max >= self.rto_initial && self.rto_max >= self.rto_min,
                "at least `rto_initial` and `rto_min`",
            ),
            ("syn_retries", self.syn_retries <= 127, "at most 127"),
            ("synack_retries", self.synack_retries <= 255, "at most 255"),
            ("retries_max", self.retries_max <= 255, "at most 255"),
            ("orphan_retries", self.orphan_retries <= 255, "at most 255"),
            ("keepalive_idle", above_zero(self.keepalive_idle), "above zero"),
            ("keepalive_interval", above_zero(self.keepalive_interval), "above zero"),
            ("initial_cwnd_segments", self.initial_cwnd_segments > 0, "at least 1"),
            ("cubic_beta_1024ths", (1..1024).contains(&self.cubic_beta_1024ths), "1 to 1023"),
            ("cubic_scale", (1..=1024).contains(&self.cubic_scale), "1 to 1024"),
            ("reordering", self.reordering > 0, "at least 1"),
            ("reordering_max", self.reordering_max >= self.reordering, "at least `reordering`"),
            ("delayed_ack_min", self.delayed_ack_min >= self.jiffy, "at least `jiffy`"),
            ("delayed_ack_max", self.delayed_ack_max >= self.delayed_ack_min, "at least `delayed_ack_min`"),
            // Timestamps and SACK blocks take 40 bytes of a segment, and each must carry data beside them.
            ("mss_min", self.mss_min.get() >= 48, "at least 48 B"),
            ("mss_default", self.mss_default >= self.mss_min, "at least `mss_min`"),
            ("receive_buffer_initial", self.receive_buffer_initial.get() >= 2304, "at least 2304 B"),
            (
                "receive_buffer_max",
                self.receive_buffer_max >= self.receive_buffer_initial,
                "at least `receive_buffer_initial`",
            ),
            ("receive_buffer_max", self.receive_buffer_max.get() < 1 << 30, "below 1 GiB"),
            ("send_buffer_initial", self.send_buffer_initial.get() >= 4608, "at least 4608 B"),
            (
                "send_buffer_max",
                self.send_buffer_max >= self.send_buffer_initial,
                "at least `send_buffer_initial`",
            ),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_profiles_can_run() {
        assert_eq!(Profile::linux().check(), Ok(()));
        assert_eq!(Profile::linux_classic().check(), Ok(()));
    }

    #[test]
    fn a_profile_that_cannot_run_is_refused() {
        let stopped = Profile { jiffy: Duration::ZERO, ..Profile::linux() };
        assert_eq!(stopped.check().unwrap_err().to_string(), "`jiffy` must be at least 1 ms");
    }
}
