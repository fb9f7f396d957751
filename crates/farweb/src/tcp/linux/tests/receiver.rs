//! The receiver alone, fed by a peer that sends 1448 bytes a segment.

use crate::tcp::host::HostClock;
use crate::tcp::linux::clock::Clock;
use crate::tcp::linux::input::Incoming;
use crate::tcp::linux::receive::{AckDue, Agreed, Arrival, Context, Receiver};
use crate::tcp::linux::rtt::Rtt;
use crate::tcp::linux::{Profile, SharedProfile};
use crate::tcp::segment::{Codepoint, Flags, Options, Segment, Timestamps};
use crate::units::{Duration, Instant};

/// A receiver, and the state lent to it.
struct Scene {
    receiver: Receiver,
    profile: SharedProfile,
    clock: Clock,
    rtt: Rtt,
}

const LEN: u64 = 1448;

impl Scene {
    fn new(profile: Profile) -> Self {
        let profile = SharedProfile::new(profile);
        let clock = Clock::new(Instant::from_nanos(1_000_000_000), HostClock::default(), &profile);
        let mut receiver = Receiver::new(&profile, 1460, None);
        let agreed =
            Agreed { scaling: true, timestamps: true, sack: true, ecn: false, mss: LEN, passive: false };
        receiver.start(&clock, 1, agreed);
        receiver.advertise();
        receiver.on_ack_sent(&profile);
        let mut rtt = Rtt::new(&profile);
        rtt.on_sample(Duration::from_millis(100), 1, 1, &profile);
        Self { receiver, profile, clock, rtt }
    }

    fn pass(&mut self, millis: u64) {
        self.clock.advance(self.clock.now() + Duration::from_millis(millis));
    }

    /// A segment of full size at the `n`-th place of the stream, and what becomes due. A due ACK leaves.
    fn full(&mut self, n: u64) -> AckDue {
        self.segment(1 + n * LEN, LEN as u32, Flags::ACK)
    }

    fn segment(&mut self, seq: u64, len: u32, flags: Flags) -> AckDue {
        self.pass(1);
        let segment =
            Segment { seq, ack: 1, len, window: 100, flags, ecn: Codepoint::NotEct, options: Options::NONE };
        self.take(&segment);
        self.settle()
    }

    fn take(&mut self, segment: &Segment) -> Arrival {
        let context = Context { clock: &self.clock, profile: &self.profile, rtt: &self.rtt };
        self.receiver.on_segment(&context, Incoming { plain: &segment.plain(), rare: Some(&segment.options) })
    }

    fn read(&mut self) -> AckDue {
        self.receiver.read(self.clock.now(), u64::MAX, &self.profile);
        self.settle()
    }

    fn settle(&mut self) -> AckDue {
        let due = self.receiver.ack_due();
        if due == AckDue::Now {
            self.receiver.advertise();
            self.receiver.on_ack_sent(&self.profile);
        }
        due
    }

    /// Blocks, in segments.
    fn blocks(&self) -> Vec<(u64, u64)> {
        self.receiver.sack_blocks().map(|block| ((block.start - 1) / LEN, (block.end - 1) / LEN)).collect()
    }
}

#[test]
fn the_first_22_segments_are_acknowledged_one_by_one_then_every_second() {
    // 16 quick ACKs, made odd once for each of the six segments that open the window.
    let mut scene = Scene::new(Profile::linux());
    for n in 0..22 {
        assert_eq!(scene.full(n), AckDue::Now, "segment {n}");
        scene.read();
    }
    for pair in 11..20 {
        assert!(matches!(scene.full(2 * pair), AckDue::At(_)), "segment {}", 2 * pair);
        assert!(matches!(scene.read(), AckDue::At(_)));
        assert_eq!(scene.full(2 * pair + 1), AckDue::Now);
        scene.read();
    }
}

#[test]
fn a_lone_segment_waits_40_ms_and_a_tick() {
    let mut scene = Scene::new(Profile::linux());
    (0..22).for_each(|n| {
        scene.full(n);
        scene.read();
    });
    let due = scene.full(22);
    let wait = Duration::from_millis(44);
    let tick = scene.clock.now().as_nanos() / 4_000_000 * 4_000_000;
    assert_eq!(due, AckDue::At(Instant::from_nanos(tick) + wait));
}

#[test]
fn reading_a_pushed_segment_sends_its_ack() {
    let mut scene = Scene::new(Profile::linux());
    (0..22).for_each(|n| {
        scene.full(n);
        scene.read();
    });
    let due = scene.segment(1 + 22 * LEN, LEN as u32, Flags::ACK | Flags::PSH);
    assert!(matches!(due, AckDue::At(_)));
    assert_eq!(scene.read(), AckDue::Now);
}

#[test]
fn a_gap_is_reported_at_once_and_its_end_too() {
    let mut scene = Scene::new(Profile::linux());
    scene.full(0);
    for n in 2..5 {
        assert_eq!(scene.full(n), AckDue::Now);
        assert_eq!(scene.blocks(), [(2, n + 1)]);
    }
    assert_eq!(scene.receiver.rcv_nxt(), 1 + LEN);
    assert_eq!(scene.full(1), AckDue::Now);
    assert_eq!((scene.receiver.rcv_nxt(), scene.receiver.readable()), (1 + 5 * LEN, 5 * LEN));
    assert!(scene.blocks().is_empty());
}

#[test]
fn from_the_fourth_on_acks_of_a_gap_wait_a_millisecond() {
    let quiet = Profile { quick_acks_max: 0, ..Profile::linux() };
    let mut scene = Scene::new(quiet);
    // The first segment opens the window, which makes one quick ACK. So do those beyond the gap until it is wide open.
    (0..9).for_each(|n| {
        scene.full(n);
        scene.read();
    });
    // The receiver learns from a timestamp that a round trip takes 100 ms. A twentieth would be 5 ms.
    scene.pass(1);
    let stamps = Timestamps { value: 1, echo: scene.clock.timestamp_ms() - 100 };
    let options = Options { timestamps: Some(stamps), ..Options::NONE };
    scene.take(&Segment {
        seq: 1 + 9 * LEN,
        ack: 1,
        len: LEN as u32,
        window: 100,
        flags: Flags::ACK,
        ecn: Codepoint::NotEct,
        options,
    });
    scene.settle();
    scene.read();
    scene.segment(1 + 10 * LEN, 0, Flags::ACK);
    let due: Vec<AckDue> = (11..20).map(|n| scene.full(n)).collect();
    let at_once = due.iter().take_while(|due| **due == AckDue::Now).count();
    assert!((3..=4).contains(&at_once), "{due:?}");
    assert_eq!(
        due[at_once],
        AckDue::At(Instant::from_nanos(scene.clock.now().as_nanos() - 1_000_000 * (7 - at_once as u64)))
    );
}

#[test]
fn a_copy_is_acknowledged_at_once_and_reported() {
    let mut scene = Scene::new(Profile::linux());
    (0..3).for_each(|n| {
        scene.full(n);
    });
    scene.pass(1);
    let copy = Segment {
        seq: 1,
        ack: 1,
        len: LEN as u32,
        window: 100,
        flags: Flags::ACK,
        ecn: Codepoint::NotEct,
        options: Options::NONE,
    };
    scene.take(&copy);
    assert_eq!(scene.blocks(), [(0, 1)]);
    assert_eq!(scene.settle(), AckDue::Now);
    assert!(scene.blocks().is_empty());
}

#[test]
fn a_fin_beyond_a_gap_counts_when_the_gap_is_filled() {
    let mut scene = Scene::new(Profile::linux());
    scene.segment(1 + LEN, 10, Flags::ACK | Flags::FIN);
    assert_eq!(scene.receiver.rcv_nxt(), 1);
    let segment = Segment {
        seq: 1,
        ack: 1,
        len: LEN as u32,
        window: 100,
        flags: Flags::ACK,
        ecn: Codepoint::NotEct,
        options: Options::NONE,
    };
    let arrival = scene.take(&segment);
    assert_eq!(arrival, Arrival { delivered: LEN + 10, fin: true });
    assert_eq!(scene.receiver.rcv_nxt(), 1 + LEN + 11);
}

#[test]
fn a_stalled_reader_shuts_the_window_and_reading_opens_it() {
    let fixed = Profile { receive_buffer_tuning: false, ..Profile::linux() };
    let mut scene = Scene::new(fixed);
    let mut n = 0;
    while scene.receiver.rcv_adv() >= scene.receiver.rcv_nxt() + LEN {
        scene.full(n);
        scene.receiver.advertise();
        n += 1;
    }
    // The rest of the window is less than a segment, and no more is offered.
    assert!(scene.receiver.rcv_adv() < scene.receiver.rcv_nxt() + LEN);
    assert_eq!(scene.receiver.readable(), n * LEN);
    assert_eq!(scene.read(), AckDue::Now);
    assert!(scene.receiver.rcv_adv() > scene.receiver.rcv_nxt() + 40 * LEN);
}

#[test]
fn segments_outside_the_window_are_not_acceptable() {
    let mut scene = Scene::new(Profile::linux());
    scene.full(0);
    let (rcv_nxt, edge) = (scene.receiver.rcv_nxt(), scene.receiver.rcv_adv());
    assert!(scene.receiver.is_acceptable(rcv_nxt, rcv_nxt + 1));
    assert!(scene.receiver.is_acceptable(edge, edge));
    assert!(!scene.receiver.is_acceptable(edge + 1, edge + 1));
    assert!(!scene.receiver.is_acceptable(1, rcv_nxt - 1));
    // Unread data: nothing beyond the edge is taken.
    assert!(!scene.receiver.is_acceptable(rcv_nxt, edge + 1));
    scene.read();
    assert!(scene.receiver.is_acceptable(rcv_nxt, edge + 1));
}

#[test]
fn a_silence_longer_than_the_timeout_brings_quick_acks_back() {
    let mut scene = Scene::new(Profile::linux());
    (0..24).for_each(|n| {
        scene.full(n);
        scene.read();
    });
    assert!(matches!(scene.full(24), AckDue::At(_)));
    scene.pass(50);
    scene.receiver.on_delayed_ack_timer(&scene.clock, &scene.profile);
    assert_eq!(scene.settle(), AckDue::Now);
    scene.pass(150);
    assert!(matches!(scene.full(25), AckDue::At(_)));
    scene.full(26);
    scene.pass(400);
    assert_eq!(scene.full(27), AckDue::Now);
}
