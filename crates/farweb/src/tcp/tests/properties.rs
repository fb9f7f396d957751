//! Properties that hold on any path: what is written arrives once and in order, the windows are kept, both ends finish.

use std::num::NonZeroU16;

use proptest::prelude::*;

use super::super::bsd::{self, HeaderPrediction};
use super::super::*;
use super::pipe::{Application, End, Fate, Pipe, Sent};
use crate::units::{Bytes, Duration, Instant};

/// An end and what its application does.
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
    fn profile()(
        timestamps: bool, window_scaling: bool, nagle: bool, delayed_ack: bool, fixed: bool, deflate: bool,
        cluster in prop::sample::select(vec![0_u64, 1024, 2048]), small: bool, initial in 1..5_u32,
    ) -> bsd::Profile {
        bsd::Profile {
            timestamps, window_scaling, nagle, delayed_ack,
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
    }
}

/// Decides what happens to each segment; after 60 losses the path is a good one, so that no connection is given up.
fn fate_of(trouble: Trouble) -> impl FnMut(&Sent, Option<&Connection>) -> Fate {
    let mut watch = Watch::default();
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
            watch.check(sent, connection);
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

/// What must hold of every segment when it is sent, and of the end that sends it.
#[derive(Default)]
struct Watch {
    /// Last ACK and right edge of the window, of the client and of the server.
    edges: [(u64, u64); 2],
}

impl Watch {
    fn check(&mut self, sent: &Sent, connection: &Connection) {
        let Segment { seq, ack, len, window, flags, .. } = sent.segment;
        if flags.contains(Flags::RST) || !flags.contains(Flags::ACK) {
            return;
        }
        let (last_ack, last_edge) = &mut self.edges[sent.from as usize];
        assert!(ack >= *last_ack, "the ACK goes back from {last_ack}: {sent:?}");
        let scale = if flags.contains(Flags::SYN) { 0 } else { connection.window_shift() };
        let edge = ack + (u64::from(window) << scale);
        // The field counts whole units of 2^scale, so the edge may seem to move back by less than one.
        assert!(edge + (1 << scale) > *last_edge, "the window shrinks from {last_edge}: {sent:?}");
        (*last_ack, *last_edge) = (ack, edge.max(*last_edge));
        let allowed = connection.snd_una() + connection.snd_wnd().min(connection.cwnd());
        let is_probe = len == 1 && connection.snd_wnd() == 0;
        let end = seq + u64::from(len);
        assert!(len == 0 || is_probe || end <= allowed, "beyond the window {allowed}: {sent:?}");
        assert!(len == 0 || seq >= connection.snd_una(), "already acknowledged: {sent:?}");
    }
}

fn check_end(connection: &Connection) {
    assert!(connection.snd_una() <= connection.snd_nxt());
    assert!(connection.snd_nxt() <= connection.snd_max());
    assert!(connection.state() == State::Closed || connection.cwnd() >= connection.mss());
    assert!(connection.rto() >= Duration::from_secs(1) && connection.rto() <= Duration::from_secs(64));
}

/// The end as the pipe takes it.
fn config_of(side: &Side, profile: bsd::Profile) -> (Config, HostClock) {
    let (slow, fast) = side.phases;
    let host = HostClock {
        slow_phase: Duration::from_millis(slow),
        fast_phase: Duration::from_millis(fast),
        ..HostClock::default()
    };
    let Side { mss, send_buffer, receive_buffer, .. } = *side;
    (
        Config {
            profile: profile.into(),
            mss,
            send_buffer: Some(send_buffer),
            receive_buffer: Some(receive_buffer),
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

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn every_byte_arrives_once_and_both_ends_finish(
        client in side(), server in side(), profiles in (profile(), profile()), trouble in trouble(),
        delay_ms in prop::sample::select(vec![0_u64, 1, 60, 320]), answers: bool,
    ) {
        let configs = [config_of(&client, profiles.0), config_of(&server, profiles.1)];
        let mut applications = [application_of(&client), application_of(&server)];
        applications[End::Server as usize].answers = answers;
        let mut pipe = Pipe::new(Duration::from_millis(delay_ms), configs, applications, fate_of(trouble));
        pipe.run(check_end);
        for (end, peer, side) in [(End::Client, End::Server, &client), (End::Server, End::Client, &server)] {
            let written: u64 = side.writes.iter().sum();
            prop_assert_eq!(pipe.applications[end as usize].reason, Some(CloseReason::Finished), "{}", pipe.tail());
            prop_assert_eq!(pipe.applications[peer as usize].received, written, "{}", pipe.tail());
            prop_assert_eq!(pipe.end(end).bytes_acknowledged(), written, "{}", pipe.tail());
        }
    }
}

/// Anything that may happen to one endpoint.
#[derive(Debug, Clone)]
enum Operation {
    /// A segment; numbers are relative to what the endpoint expects, so that some are nearly right.
    Segment {
        flags: u8,
        seq: i64,
        ack: i64,
        len: u32,
        window: u16,
        options: Options,
    },
    Write(u64),
    Read(u64),
    Shutdown,
    Close,
    Abort,
    LocalDrop,
    Wait(u64),
}

fn options() -> impl Strategy<Value = Options> {
    (any::<Option<u16>>(), any::<Option<u8>>(), any::<Option<(u8, u8)>>()).prop_map(
        |(mss, window_scale, clocks)| {
            let timestamps =
                clocks.map(|(value, echo)| Timestamps { value: u32::from(value), echo: u32::from(echo) });
            Options { mss: mss.and_then(NonZeroU16::new), window_scale, timestamps, ..Options::NONE }
        },
    )
}

fn operation() -> impl Strategy<Value = Operation> {
    let near = prop_oneof![4 => Just(0_i64), 4 => -3000..3000_i64, 1 => -40_000..200_000_i64];
    let flags =
        prop_oneof![6 => Just(Flags::ACK.bits()), 2 => 0..32_u8, 1 => Just((Flags::ACK | Flags::FIN).bits())];
    let segment = (flags, near.clone(), near, 0..3000_u32, any::<u16>(), options()).prop_map(
        |(flags, seq, ack, len, window, options)| Operation::Segment {
            flags,
            seq,
            ack,
            len,
            window,
            options,
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

/// Does `operation` at `now` and runs the timers of the time that it waits. Gives the time afterwards.
fn perform(connection: &mut Connection, operation: &Operation, now: Instant, out: &mut Output) -> Instant {
    match *operation {
        Operation::Segment { flags, seq, ack, len, window, options } => {
            let all = [Flags::FIN, Flags::SYN, Flags::RST, Flags::PSH, Flags::ACK];
            let chosen = all.into_iter().filter(|flag| flags & flag.bits() != 0);
            let segment = Segment {
                seq: connection.rcv_nxt().saturating_add_signed(seq),
                ack: connection.snd_una().saturating_add_signed(ack),
                len,
                window,
                flags: chosen.fold(Flags::NONE, Flags::union),
                options,
            };
            connection.on_segment(now, &segment, out);
        }
        Operation::Write(bytes) => assert!(connection.write(now, bytes, out) <= bytes),
        Operation::Read(bytes) => assert!(connection.read(now, bytes, out) <= bytes),
        Operation::Shutdown => connection.shutdown_write(now, out),
        Operation::Close => connection.close(now, out),
        Operation::Abort => connection.abort(now, out),
        Operation::LocalDrop => connection.on_local_drop(),
        Operation::Wait(millis) => {
            let until = now + Duration::from_millis(millis);
            while let Some(due) = connection.next_timeout().filter(|due| *due <= until) {
                connection.on_timeout(due, out);
                assert!(connection.next_timeout().is_none_or(|next| next > due), "a timer is stuck");
            }
            return until;
        }
    }
    now
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn no_sequence_of_operations_breaks_an_endpoint(
        side in side(), profile in profile(), opens: bool, operations in prop::collection::vec(operation(), 1..80),
    ) {
        let (config, host) = config_of(&side, profile);
        let (mut now, mut out) = (Instant::ZERO, Output::default());
        let syn = Segment { seq: 0, ack: 0, len: 0, window: 5000, flags: Flags::SYN, options: Options::NONE };
        let mut connection = if opens {
            Connection::connect(now, &config, host, &mut out)
        } else {
            Connection::accept(now, &config, host, &syn, &mut out)
        };
        let mut closed = 0;
        for operation in &operations {
            now = perform(&mut connection, operation, now, &mut out);
            check_end(&connection);
            prop_assert!(connection.readable() <= connection.buffers().1, "more than the buffer holds");
            prop_assert!(out.segments.iter().all(|segment| u64::from(segment.len) <= connection.mss().max(512)));
            prop_assert!(out.segments.len() < 20_000, "sending never ends");
            closed += out.notices.iter().filter(|notice| matches!(notice, Notice::Closed(_))).count();
            out.segments.clear();
            out.notices.clear();
        }
        prop_assert_eq!(closed, usize::from(connection.state() == State::Closed));
    }
}
