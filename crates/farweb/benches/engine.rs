//! The event queue on the patterns that a simulation of the web makes, beside a plain binary heap.
//!
//! One item is one pop and one push. `near` events are link heads, 10 µs to 1 ms ahead. `far` ones are timers, 0.2 to
//! 75 s ahead. Each event that leaves is pushed again as one of its kind, and the mixture stays.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use farweb::engine::EventQueue;
use farweb::rng::{RandomStream, RandomStreams};
use farweb::units::{Duration, Instant};

/// As large as the events of a world: 16 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Event {
    far: bool,
    owner: u64,
}

trait Queue: Default {
    fn push(&mut self, at: Instant, event: Event);
    fn pop(&mut self) -> (Instant, Event);
}

impl Queue for EventQueue<Event> {
    fn push(&mut self, at: Instant, event: Event) {
        Self::push(self, at, event);
    }
    fn pop(&mut self) -> (Instant, Event) {
        Self::pop(self).expect("events are pending")
    }
}

/// Yardstick of the event queue: a binary heap with the same order.
#[derive(Default)]
struct Heap {
    events: BinaryHeap<Reverse<(Instant, u64, Event)>>,
    pushed: u64,
}

impl Queue for Heap {
    fn push(&mut self, at: Instant, event: Event) {
        self.events.push(Reverse((at, self.pushed, event)));
        self.pushed += 1;
    }
    fn pop(&mut self) -> (Instant, Event) {
        let Reverse((at, _, event)) = self.events.pop().expect("events are pending");
        (at, event)
    }
}

/// A mixture: how many near events, how many far ones.
#[derive(Debug, Clone, Copy)]
struct Mix {
    near: u64,
    far: u64,
}

const MIXES: [Mix; 5] = [
    Mix { near: 4, far: 0 },
    Mix { near: 4, far: 1_000 },
    Mix { near: 4, far: 50_000 },
    Mix { near: 128, far: 0 },
    Mix { near: 128, far: 50_000 },
];

const STEPS: usize = 100_000;

fn span(random: &mut RandomStream, far: bool) -> Duration {
    let (low, high) = if far { (200_000_000, 75_000_000_000) } else { (10_000, 1_000_000) };
    Duration::from_nanos(low + random.below(high - low))
}

/// A queue in its steady state, and the spans to push next: drawn beforehand, to measure only the queue.
fn steady<Q: Queue>(mix: Mix) -> (Q, Vec<(Duration, Duration)>) {
    let mut random = RandomStreams::new(1).stream("bench", 0);
    let mut queue = Q::default();
    for owner in 0..mix.near + mix.far {
        let far = owner >= mix.near;
        // Timers in their steady state are spread evenly from now on.
        let span =
            if far { Duration::from_nanos(random.below(75_000_000_000)) } else { span(&mut random, false) };
        queue.push(Instant::ZERO + span, Event { far, owner });
    }
    let spans = (0..STEPS).map(|_| (span(&mut random, false), span(&mut random, true))).collect();
    (queue, spans)
}

#[divan::bench(types = [EventQueue<Event>, Heap], args = MIXES, sample_count = 20)]
fn pop_and_push<Q: Queue>(bencher: Bencher, mix: Mix) {
    bencher.counter(ItemsCount::new(STEPS)).with_inputs(|| steady::<Q>(mix)).bench_values(
        |(mut queue, spans)| {
            for (near, far) in &spans {
                let (now, event) = queue.pop();
                queue.push(now + if event.far { *far } else { *near }, event);
            }
            black_box(queue)
        },
    );
}

fn main() {
    divan::main();
}
