//! Properties that hold on any path: bytes arrive once and in order, the windows are kept, both ends finish.

use std::num::NonZeroU16;

use proptest::prelude::*;

use super::invariants::{self, Watch};
use super::operation::{self, Operation};
use super::pipe::{Application, End, Fate, Pipe, Sent};
use super::script::written;
use crate::tcp::bsd::{self, HeaderPrediction};
use crate::tcp::linux::{self, CongestionControl, EcnKind, HystartKind, PacingKind};
use crate::tcp::*;
use crate::units::{Bytes, Duration};

/// An end and its application.
#[derive(Debug, Clone)]
struct Side {
    mss: u16,
    send_buffer: u64,
    receive_buffer: u64,
    phases: (u64, u64),
    writes: Vec<u64>,
    read_max: u64,
    read_pause_ms: u64,
}

/// How often a segment is lost, sent twice, or late, in percent, and by how much late at most.
#[derive(Debug, Clone)]
struct Trouble {
    seed: u64,
    lost: u64,
    doubled: u64,
    late: u64,
    late_ms: u64,
}

fn side() -> impl Strategy<Value = Side> {
    (
        prop::sample::select(vec![32_u16, 216, 512, 536, 1024, 1460]),
        prop::sample::select(vec![64_u64, 500, 4096, 8192, 32767, 70000, 200_000]),
        prop::sample::select(vec![64_u64, 500, 4096, 8192, 32767, 70000, 200_000]),
        (0..500_u64, 0..200_u64),
        prop::collection::vec(1..20_000_u64, 1..6),
        prop::sample::select(vec![1_u64, 100, 1000, 5000, u64::MAX]),
        prop::sample::select(vec![0_u64, 0, 1, 30, 700]),
    )
        .prop_map(|(mss, send_buffer, receive_buffer, phases, writes, read_max, read_pause_ms)| Side {
            mss,
            send_buffer,
            receive_buffer,
            phases,
            writes,
            // A byte at a time is read without a pause, or the transfer would take days.
            read_pause_ms: if read_max < 1000 { 0 } else { read_pause_ms },
            read_max,
        })
}

fn trouble() -> impl Strategy<Value = Trouble> {
    (any::<u64>(), 0..30_u64, 0..20_u64, 0..20_u64, 1..500_u64)
        .prop_map(|(seed, lost, doubled, late, late_ms)| Trouble { seed, lost, doubled, late, late_ms })
}

prop_compose! {
    fn bsd44_lite()(
        timestamps: bool, window_scaling: bool, nagle: bool, delayed_ack: bool, fixed: bool, deflate: bool,
        cluster in prop::sample::select(vec![0_u64, 1024, 2048]), small: bool, initial in 1..5_u32,
        (ack_on_read, delayed_ack_on_grid, nagle_each_segment, join_writes) in any::<(bool, bool, bool, bool)>(),
        ack_every in 0..4_u32,
    ) -> Profile {
        bsd::Profile {
            timestamps, window_scaling, nagle, delayed_ack,
            ack_on_read, delayed_ack_on_grid, nagle_each_segment, join_writes, ack_every,
            header_prediction: if fixed { HeaderPrediction::Fixed } else { HeaderPrediction::Lite },
            deflate_at_threshold: deflate,
            socket_cluster: Bytes::new(cluster), socket_small_pieces: small,
            initial_cwnd_segments: initial,
            // BSD counts timeouts between two round-trip samples, and after a loss a sample may be long in coming.
            retries_max: 200,
            connect_timeout: Duration::from_secs(3600),
            // A FIN may be lost for longer than a minute, and a TIME_WAIT that is over answers it with a reset.
            msl: Duration::from_secs(3600),
            ..bsd::Profile::bsd44_lite()
        }
        .into()
    }
}

prop_compose! {
    fn linux()(
        timestamps: bool, window_scaling: bool, sack: bool, dsack: bool,
        rack: bool, tail_loss_probe: bool, frto: bool,
        nagle: bool, quick_ack_always: bool, slow_start_after_idle: bool, initial_cwnd_segments in 1..12_u32,
        hystart in prop::sample::select(vec![HystartKind::Off, HystartKind::Linux, HystartKind::PlusPlus]),
        congestion_control in prop::sample::select(vec![
            CongestionControl::Cubic, CongestionControl::Reno, CongestionControl::Bbr,
        ]),
        pacing in prop::sample::select(vec![PacingKind::Auto, PacingKind::Internal, PacingKind::None]),
        ecn in prop::sample::select(vec![EcnKind::Off, EcnKind::Accept, EcnKind::Request]),
    ) -> Profile {
        lasting(linux::Profile {
            timestamps, window_scaling, sack, dsack, rack, tail_loss_probe, frto, nagle, quick_ack_always,
            slow_start_after_idle, initial_cwnd_segments, hystart, congestion_control, pacing, ecn,
            ..linux::Profile::linux()
        })
    }
}

/// `linux-classic` but for what keeps a connection alive.
fn linux_classic() -> impl Strategy<Value = Profile> {
    (any::<bool>(), any::<bool>(), 1..4_u32).prop_map(|(nagle, quick_ack_always, initial_cwnd_segments)| {
        let classic = linux::Profile::linux_classic();
        lasting(linux::Profile { nagle, quick_ack_always, initial_cwnd_segments, ..classic })
    })
}

/// `linux` with more patience than any path of these tests needs.
fn lasting(linux: linux::Profile) -> Profile {
    linux::Profile {
        syn_retries: 127,
        synack_retries: 255,
        retries_max: 255,
        fin_wait_2_timeout: Duration::from_secs(3600),
        time_wait: Duration::from_secs(3600),
        ..linux
    }
    .into()
}

/// Decides the fate of each segment. After 60 losses the path is a good one, and no connection is given up.
fn fate_of(trouble: Trouble) -> impl FnMut(&Sent, Option<&Connection>) -> Fate {
    let mut watches = [Watch::default(), Watch::default()];
    let (mut state, mut losses) = (trouble.seed, 0);
    let mut draw = move |below: u64| {
        // SplitMix64 (G. Steele, D. Lea, C. Flood, OOPSLA 2014).
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % below
    };
    move |sent, connection| {
        if let Some(connection) = connection {
            watches[sent.from as usize].check(&sent.segment, connection, sent.cwnd_before);
        }
        if losses < 60 && draw(100) < trouble.lost {
            losses += 1;
            return vec![];
        }
        let copies = 1 + usize::from(draw(100) < trouble.doubled);
        let mut late = || if draw(100) < trouble.late { draw(trouble.late_ms) } else { 0 };
        (0..copies).map(|_| Duration::from_millis(late())).collect()
    }
}

/// The end as the pipe takes it.
fn config_of(side: &Side, profile: Profile) -> (Config, HostClock) {
    let (slow, fast) = side.phases;
    let host = HostClock {
        slow_phase: Duration::from_millis(slow),
        fast_phase: Duration::from_millis(fast),
        ..HostClock::default()
    };
    let Side { mss, send_buffer, receive_buffer, .. } = *side;
    (
        Config {
            profile,
            mss,
            send_buffer: Some(send_buffer),
            receive_buffer: Some(receive_buffer),
            random: Random::default(),
        },
        host,
    )
}

fn application_of(side: &Side) -> Application {
    let mut application = Application::new(side.writes.clone());
    application.read_max = side.read_max;
    application.read_pause = Duration::from_millis(side.read_pause_ms);
    application
}

/// A transfer in both directions.
#[derive(Debug, Clone)]
struct Transfer {
    client: (Side, Profile),
    server: (Side, Profile),
    trouble: Trouble,
    delay_ms: u64,
    /// True when the server writes only when the client's stream has ended.
    answers: bool,
}

fn transfer(
    client: impl Strategy<Value = Profile>,
    server: impl Strategy<Value = Profile>,
) -> impl Strategy<Value = Transfer> {
    let delay = prop::sample::select(vec![0_u64, 1, 60, 320]);
    ((side(), client), (side(), server), trouble(), delay, any::<bool>()).prop_map(
        |(client, server, trouble, delay_ms, answers)| Transfer {
            client,
            server,
            trouble,
            delay_ms,
            answers,
        },
    )
}

impl Transfer {
    /// Every byte arrives once and in order, and both ends finish.
    ///
    /// Exception: Linux, however patient, gives a connection up if the peer shut its window on bytes in flight and was
    /// silent for four minutes. That ends the check.
    fn check(self) -> Result<(), TestCaseError> {
        let sides = [&self.client, &self.server];
        let configs = sides.map(|(side, profile)| config_of(side, profile.clone()));
        let mut applications = sides.map(|(side, _)| application_of(side));
        applications[End::Server as usize].answers = self.answers;
        let delay = Duration::from_millis(self.delay_ms);
        let mut pipe = Pipe::new(delay, configs, applications, fate_of(self.trouble));
        pipe.run(invariants::check);
        let is_shut_out = |end: End| {
            matches!(pipe.end(end), Connection::Linux(_))
                && pipe.applications[end as usize].reason == Some(CloseReason::TimedOut)
                && pipe.end(end).snd_wnd() == 0
        };
        if [End::Client, End::Server].into_iter().any(is_shut_out) {
            return Ok(());
        }
        for (end, peer) in [(End::Client, End::Server), (End::Server, End::Client)] {
            let written: u64 = sides[end as usize].0.writes.iter().sum();
            let reason = pipe.applications[end as usize].reason;
            prop_assert_eq!(reason, Some(CloseReason::Finished), "{:?}\n{}", end, tail(&pipe.sent));
            prop_assert_eq!(pipe.applications[peer as usize].received, written, "{}", tail(&pipe.sent));
            prop_assert_eq!(pipe.end(end).bytes_acknowledged(), written, "{}", tail(&pipe.sent));
        }
        Ok(())
    }
}

/// The last segments, for a test that fails.
fn tail(sent: &[Sent]) -> String {
    let last = &sent[sent.len().saturating_sub(40)..];
    last.iter().map(|sent| format!("{} {:?} {}\n", sent.at, sent.from, written(&sent.segment))).collect()
}

fn options() -> impl Strategy<Value = Options> {
    (any::<Option<u16>>(), any::<Option<u8>>(), any::<Option<(u8, u8)>>(), any::<bool>()).prop_map(
        |(mss, window_scale, clocks, sack_permitted)| {
            let timestamps =
                clocks.map(|(value, echo)| Timestamps { value: u32::from(value), echo: u32::from(echo) });
            let mss = mss.and_then(NonZeroU16::new);
            Options { mss, window_scale, timestamps, sack_permitted, ..Options::NONE }
        },
    )
}

fn operation() -> impl Strategy<Value = Operation> {
    let near = prop_oneof![4 => Just(0_i64), 4 => -3000..3000_i64, 1 => -40_000..200_000_i64];
    let flags = prop_oneof![6 => Just(Flags::ACK.bits()), 2 => any::<u8>(), 1 => Just((Flags::ACK | Flags::FIN).bits())];
    let sack = prop::collection::vec((-5000..60_000_i32, 0..4000_u16), 0..5);
    let ecn = prop::sample::select(Codepoint::ALL.to_vec());
    let segment = (flags, near.clone(), near, 0..3000_u32, any::<u16>(), ecn, options(), sack).prop_map(
        |(flags, seq, ack, len, window, ecn, options, sack)| Operation::Segment {
            flags,
            seq,
            ack,
            len,
            window,
            ecn,
            options,
            sack,
        },
    );
    prop_oneof![
        20 => segment,
        6 => (1..50_000_u64).prop_map(Operation::Write),
        6 => (1..50_000_u64).prop_map(Operation::Read),
        6 => (0..90_000_u64).prop_map(Operation::Wait),
        1 => Just(Operation::Shutdown),
        1 => Just(Operation::Close),
        1 => Just(Operation::LocalDrop),
        1 => prop::sample::select(vec![Operation::Abort, Operation::Wait(0)]),
    ]
}

/// Properties of one stack. `$profile` draws its profiles.
macro_rules! properties_of {
    ($stack:ident, $profile:expr) => {
        mod $stack {
            use super::*;

            proptest! {
                #[test]
                fn every_byte_arrives_once_and_both_ends_finish(transfer in transfer($profile, $profile)) {
                    transfer.check()?;
                }

                #[test]
                fn no_sequence_of_operations_breaks_an_endpoint(
                    side in side(), profile in $profile, opening in prop::option::of(options()),
                    operations in prop::collection::vec(operation(), 1..80),
                ) {
                    let (config, host) = config_of(&side, profile);
                    operation::perform(&config, host, opening, &operations);
                }
            }
        }
    };
}

/// Any profile of any stack.
fn any_profile() -> impl Strategy<Value = Profile> {
    prop_oneof![bsd44_lite(), linux(), linux_classic()]
}

properties_of!(of_bsd44_lite, bsd44_lite());
properties_of!(of_linux, linux());
properties_of!(of_linux_classic, linux_classic());
properties_of!(of_stacks_that_meet, any_profile());

/// An end with an MSS of 32 B and a receive buffer of 4096 B, with any writes and reads.
fn small_side(phases: (u64, u64), send_buffer: u64, writes: Vec<u64>, reads: (u64, u64)) -> Side {
    let (read_max, read_pause_ms) = reads;
    Side { mss: 32, send_buffer, receive_buffer: 4096, phases, writes, read_max, read_pause_ms }
}

/// Linux without what came after Reno, but for CUBIC.
fn plain_linux(initial_cwnd_segments: u32) -> Profile {
    lasting(linux::Profile {
        initial_cwnd_segments,
        slow_start_after_idle: false,
        rack: false,
        tail_loss_probe: false,
        frto: false,
        sack: false,
        dsack: false,
        timestamps: false,
        window_scaling: false,
        nagle: false,
        hystart: HystartKind::Off,
        ..linux::Profile::linux()
    })
}

/// Found by the property: a delayed ACK that leaves with data at the instant of the third duplicate ACK leaves before cwnd is
/// halved.
#[test]
fn a_tick_at_the_instant_of_a_duplicate_ack_sends_into_the_window_before_it() {
    let bsd = bsd::Profile {
        initial_cwnd_segments: 3,
        nagle: false,
        window_scaling: true,
        retries_max: 200,
        ..bsd::Profile::bsd44_lite()
    };
    let transfer = Transfer {
        client: (small_side((213, 198), 4096, vec![734, 17_031], (100, 0)), bsd.into()),
        server: (small_side((0, 0), 64, vec![3105, 12_096], (1000, 1)), plain_linux(3)),
        trouble: Trouble { seed: 450_670_129_240_206_913, lost: 9, doubled: 14, late: 18, late_ms: 453 },
        delay_ms: 320,
        answers: false,
    };
    transfer.check().expect("every byte arrives once and both ends finish");
}

/// Found by the property: the window of the peer seems shut, as the update that opened it was lost, and the FIN behind it is
/// lost again and again.
#[test]
fn a_window_that_only_seems_shut_is_not_given_up_too_soon() {
    let bsd = bsd::Profile {
        initial_cwnd_segments: 3,
        nagle: false,
        delayed_ack: false,
        retries_max: 200,
        connect_timeout: Duration::from_secs(3600),
        msl: Duration::from_secs(3600),
        ..bsd::Profile::bsd44_lite()
    };
    let client = Side { mss: 1460, receive_buffer: 64, ..small_side((446, 0), 4096, vec![13_141], (100, 0)) };
    let server = Side { mss: 1460, receive_buffer: 8192, ..small_side((0, 0), 64, vec![1344], (1, 0)) };
    let transfer = Transfer {
        client: (client, bsd.into()),
        server: (server, plain_linux(1)),
        trouble: Trouble { seed: 8_773_501_362_027_788_977, lost: 25, doubled: 13, late: 10, late_ms: 36 },
        delay_ms: 0,
        answers: false,
    };
    transfer.check().expect("every byte arrives once and both ends finish");
}
