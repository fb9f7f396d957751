//! A link: one item is a packet offered to it and taken at the far end.

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use farweb::net::{
    CountedOver, DropTail, Enqueued, Link, LinkConfig, Loss, Packet, PacketKind, QueueConfig, QueueCounts,
    QueueLimit, Step, Timeline,
};
use farweb::rng::RandomStreams;
use farweb::units::{BitRate, Bytes, Duration, Instant};

/// As large as a TCP segment with its addresses: 72 bytes.
#[derive(Debug, Clone, Copy)]
struct Segment {
    flow: u64,
    bytes: u32,
    header: [u64; 7],
}

impl Packet for Segment {
    fn bytes(&self) -> u32 {
        self.bytes
    }
    fn flow(&self) -> u64 {
        self.flow
    }
    fn kind(&self) -> PacketKind {
        if self.bytes > 40 { PacketKind::Data } else { PacketKind::Ack }
    }
}

const PACKETS: usize = 100_000;

/// An E3 line with 60 ms of delay, some 170 packets in flight when it is full.
fn e3(loss: Loss) -> Link<Segment> {
    let limit = QueueLimit::Bytes(Bytes::new(256_000));
    let config = LinkConfig {
        rate: BitRate::from_bps(34_368_000),
        delay: Duration::from_millis(60),
        queue: QueueConfig::DropTail(DropTail { limit, counts: QueueCounts::All }),
        loss,
        timeline: Timeline::default(),
    };
    Link::new(&config, |purpose| RandomStreams::new(1).stream(purpose, 0))
}

/// The line with a rate and a delay that change every 100 ms.
fn changing() -> Link<Segment> {
    let step = |number: u64| Step {
        at: Duration::from_millis(100 * number),
        rate: BitRate::from_bps(if number.is_multiple_of(2) { 34_368_000 } else { 17_184_000 }),
        delay: Some(Duration::from_millis(50 + number % 20)),
        loss: None,
    };
    let config = LinkConfig {
        rate: BitRate::from_bps(34_368_000),
        delay: Duration::from_millis(60),
        queue: QueueConfig::Unlimited,
        loss: Loss::None,
        timeline: Timeline { steps: (1..1000).map(step).collect(), ..Timeline::default() },
    };
    Link::new(&config, |purpose| RandomStreams::new(1).stream(purpose, 0))
}

/// A link that takes no time, as between a proxy and servers beside it.
fn without_time() -> Link<Segment> {
    let config = LinkConfig {
        rate: None,
        delay: Duration::ZERO,
        queue: QueueConfig::Unlimited,
        loss: Loss::None,
        timeline: Timeline::default(),
    };
    Link::new(&config, |purpose| RandomStreams::new(1).stream(purpose, 0))
}

/// Gaps and sizes of a web load: mostly full segments, every eighth one the rest of a response, at `load` of the line.
fn offers(load: f64) -> Vec<(Duration, u32)> {
    let mut random = RandomStreams::new(1).stream("bench", 0);
    let line = BitRate::from_bps(34_368_000).expect("above zero");
    let offer = |_| {
        let bytes = if random.below(8) == 0 { 41 + random.below(1459) as u32 } else { 1500 };
        let time = line.time_to_send(Bytes::new(u64::from(bytes))).as_secs_f64();
        let gap = Duration::from_secs_f64(2.0 * random.uniform() * time / load).expect("a short span");
        (gap, bytes)
    };
    (0..PACKETS).map(offer).collect()
}

/// Offers every packet, taking arrivals when they are due, as an event loop would.
fn carry(mut link: Link<Segment>, offers: &[(Duration, u32)]) -> u64 {
    let (mut now, mut due, mut sum) = (Instant::ZERO, None, 0);
    for ((gap, bytes), number) in offers.iter().zip(0..) {
        now += *gap;
        while let Some(time) = due.filter(|time| *time <= now) {
            let (arrived, next) = link.on_event(time);
            sum += u64::from(arrived.bytes) + arrived.header[6];
            due = next;
        }
        // Fifty segments a connection.
        let packet = Segment { flow: number / 50, bytes: *bytes, header: [number; 7] };
        if let Enqueued::Queued { event: Some(head) } = link.enqueue(now, &packet) {
            due = Some(head);
        }
    }
    black_box(link.totals(now));
    sum
}

fn bench(bencher: Bencher, load: f64, link: &Link<Segment>) {
    let offers = offers(load);
    let counter = ItemsCount::new(PACKETS);
    bencher.counter(counter).with_inputs(|| link.clone()).bench_values(|link| carry(link, &offers));
}

#[divan::bench(args = [0.5, 0.95, 1.5], sample_count = 20)]
fn without_loss(bencher: Bencher, load: f64) {
    bench(bencher, load, &e3(Loss::None));
}

#[divan::bench(sample_count = 20)]
fn bernoulli(bencher: Bencher) {
    bench(bencher, 0.95, &e3(Loss::Bernoulli { probability: 0.01 }));
}

#[divan::bench(sample_count = 20)]
fn list(bencher: Bencher) {
    let drop =
        ["data 8", "syn 1", "data 13..15"].map(|text| text.parse().expect("packets by kind and number"));
    bench(bencher, 0.95, &e3(Loss::List { drop: drop.to_vec(), mark: vec![], of: CountedOver::default() }));
}

#[divan::bench(sample_count = 20)]
fn steps(bencher: Bencher) {
    bench(bencher, 0.5, &changing());
}

#[divan::bench(sample_count = 20)]
fn unlimited(bencher: Bencher) {
    bench(bencher, 0.95, &without_time());
}

fn main() {
    divan::main();
}
