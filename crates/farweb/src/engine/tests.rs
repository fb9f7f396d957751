//! The event queue against a sorted list.

use proptest::prelude::*;

use super::*;
use crate::units::Duration;

const fn at(nanos: u64) -> Instant {
    Instant::from_nanos(nanos)
}

/// The next event, be it of a channel or not.
fn pop<E: Copy>(queue: &mut EventQueue<E>) -> Option<(Instant, E)> {
    queue.begin_slice(|_| true);
    if let Some(next) = queue.next_on_channel(None) {
        queue.rearm(None);
        return Some(next);
    }
    queue.pop()
}

/// All pending events, in the order they leave.
fn drain<E: Copy>(queue: &mut EventQueue<E>) -> Vec<(Instant, E)> {
    std::iter::from_fn(|| pop(queue)).collect()
}

#[test]
fn events_leave_in_order_of_time() {
    let mut queue = EventQueue::new();
    for nanos in [75_000_000_000, 3, 350_000, 60_000_000, u64::MAX, 0, 1 << SLICE_BITS, (1 << SLICE_BITS) - 1]
    {
        queue.push(at(nanos), nanos);
    }
    let order: Vec<_> = drain(&mut queue).into_iter().map(|(_, nanos)| nanos).collect();
    assert_eq!(order, [0, 3, 65_535, 65_536, 350_000, 60_000_000, 75_000_000_000, u64::MAX]);
    assert_eq!(queue.now(), at(u64::MAX));
}

#[test]
fn events_of_one_instant_leave_in_the_order_they_entered() {
    for nanos in [0, 5, 60_000_000, 75_000_000_000] {
        let mut queue = EventQueue::new();
        for number in 0..1000 {
            queue.push(at(nanos), number);
            // Others around it do not disturb the order.
            queue.push(at(nanos + 1 + number % 7), 10_000 + number);
        }
        let order: Vec<_> = drain(&mut queue).into_iter().take(1000).map(|(_, number)| number).collect();
        assert!(order.iter().copied().eq(0..1000), "{nanos}");
    }
}

#[test]
fn an_event_pushed_for_now_leaves_after_those_already_there() {
    let mut queue = EventQueue::new();
    queue.push(at(10), "first");
    queue.push(at(10), "second");
    assert_eq!(queue.pop(), Some((at(10), "first")));
    queue.push(at(10), "third");
    assert_eq!(drain(&mut queue), [(at(10), "second"), (at(10), "third")]);
}

#[test]
fn an_event_before_the_slice_that_was_looked_at_still_leaves_first() {
    let mut queue = EventQueue::new();
    queue.push(at(75_000_000_000), "timer");
    assert_eq!(queue.next_at(), Some(at(75_000_000_000)));
    queue.push(at(60_000_000), "packet");
    assert_eq!(queue.next_at(), Some(at(60_000_000)));
    assert_eq!(drain(&mut queue), [(at(60_000_000), "packet"), (at(75_000_000_000), "timer")]);
}

#[test]
fn an_event_of_the_current_slice_leaves_between_those_sorted_before() {
    let mut queue = EventQueue::new();
    for nanos in [100, 200, 300] {
        queue.push(at(1_000_000 + nanos), nanos);
    }
    assert_eq!(queue.pop(), Some((at(1_000_100), 100)));
    for nanos in [250, 200, 400] {
        queue.push(at(1_000_000 + nanos), 1000 + nanos);
    }
    let order: Vec<_> = drain(&mut queue).into_iter().map(|(_, nanos)| nanos).collect();
    assert_eq!(order, [200, 1200, 1250, 300, 1400]);
}

#[test]
fn length_counts_events_wherever_they_are() {
    let mut queue = EventQueue::default();
    assert!(queue.is_empty() && queue.next_at().is_none() && queue.pop().is_none());
    for nanos in [1, 1_000_000, 1_000_000_000] {
        queue.push(at(nanos), ());
    }
    assert_eq!(queue.len(), 3);
    queue.pop();
    assert_eq!((queue.len(), queue.is_empty()), (2, false));
    drain(&mut queue);
    assert!(queue.is_empty());
}

#[test]
fn events_that_do_not_live_are_left_out_and_their_time_passes_all_the_same() {
    let mut queue: EventQueue<_> = EventQueue::new();
    let (dead, alive) =
        ([2_000_000_000, 3_000_000_002, 70_000_000_000], [1_000_000, 3_000_000_000, 3_000_000_001]);
    dead.iter().chain(&alive).for_each(|nanos| queue.push(at(*nanos), *nanos));
    let mut left = Vec::new();
    while !queue.is_empty() {
        queue.begin_slice(|nanos| alive.contains(&nanos));
        left.extend(queue.pop());
    }
    assert_eq!(left, alive.map(|nanos| (at(nanos), nanos)));
    assert_eq!(queue.now(), at(70_000_000_000));
}

#[test]
fn an_event_of_a_channel_is_replaced_by_its_next() {
    let mut queue = EventQueue::new();
    let [first, second] = ["first", "second"].map(|name| queue.add_channel(name));
    queue.push_on(first, at(10));
    queue.push_on(second, at(20));
    queue.push(at(25), "other");
    assert_eq!(queue.next_on_channel(Some(at(9))), None, "not due by then");
    assert_eq!(queue.next_on_channel(Some(at(10))), Some((at(10), "first")));
    queue.rearm(Some(at(20)));
    assert_eq!(queue.next_on_channel(None), Some((at(20), "second")), "it entered before");
    queue.rearm(None);
    assert_eq!((queue.next_on_channel(None), queue.len()), (Some((at(20), "first")), 2));
    queue.rearm(Some(at(30)));
    assert_eq!(queue.next_on_channel(None), None, "another event is first");
    assert_eq!(drain(&mut queue), [(at(25), "other"), (at(30), "first")]);
}

#[test]
fn memory_is_that_of_the_most_events_at_once_and_not_of_what_each_slot_had() {
    let mut queue = EventQueue::new();
    for burst in 0..200_u64 {
        let start = at(queue.now().as_nanos() + (burst << SLICE_BITS));
        (0..5000).for_each(|number| queue.push(start + Duration::from_micros(number), number));
        assert_eq!(drain(&mut queue).len(), 5000);
    }
    let slots = &queue.wheel.slots;
    let blocks: usize =
        slots.iter().map(|slot| slot.full.len() + usize::from(slot.open.capacity() > 0)).sum();
    assert!(queue.wheel.spare.len() + blocks < 5000 / BLOCK + slots.len());
}

#[test]
#[should_panic(expected = "an event for 0.000000009 s was scheduled at 0.000000010 s")]
fn an_event_in_the_past_is_a_bug() {
    let mut queue: EventQueue<_> = EventQueue::new();
    queue.push(at(10), ());
    queue.pop();
    queue.push(at(9), ());
}

/// Next operation on a queue.
#[derive(Debug, Clone)]
enum Step {
    Push(u64),
    Pop,
    Look,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    // Spans of every magnitude, many of them equal: ties, slices and all levels of the wheel occur.
    let span = (0..64_u32, 0..4_u64).prop_map(|(magnitude, units)| units << magnitude.min(60));
    let step = prop_oneof![4 => span.prop_map(Step::Push), 3 => Just(Step::Pop), 1 => Just(Step::Look)];
    prop::collection::vec(step, 0..400)
}

proptest! {
    #[test]
    fn events_leave_as_from_a_list_sorted_by_time_and_order_of_entry(steps in steps()) {
        let mut queue = EventQueue::new();
        let mut list: Vec<(Instant, usize)> = Vec::new();
        for (number, step) in steps.into_iter().enumerate() {
            match step {
                Step::Push(span) => {
                    let Some(due) = queue.now().as_nanos().checked_add(span).map(at) else { continue };
                    queue.push(due, number);
                    let place = list.partition_point(|(other, _)| *other <= due);
                    list.insert(place, (due, number));
                }
                Step::Pop => {
                    let expected = (!list.is_empty()).then(|| list.remove(0));
                    prop_assert_eq!(queue.pop(), expected);
                    prop_assert!(expected.is_none_or(|(due, _)| queue.now() == due));
                }
                Step::Look => prop_assert_eq!(queue.next_at(), list.first().map(|(due, _)| *due)),
            }
            prop_assert_eq!(queue.len(), list.len());
        }
        prop_assert_eq!(drain(&mut queue), list);
    }

    #[test]
    fn events_of_channels_leave_among_the_others_in_order_of_time_and_entry(
        steps in prop::collection::vec((0..4_usize, 0..2_000_000_u64, 0..3_u8), 1..400),
    ) {
        let mut queue = EventQueue::new();
        let channels = [0, 1, 2].map(|channel| queue.add_channel(channel));
        let mut list: Vec<(Instant, usize)> = Vec::new();
        for (number, (owner, span, pops)) in steps.into_iter().enumerate() {
            // Rounded: instants are often equal.
            let due = queue.now() + Duration::from_nanos(span / 50_000 * 50_000);
            let is_free = !list.iter().any(|(_, event)| *event == owner);
            let event = match channels.get(owner) {
                Some(channel) if is_free => {
                    queue.push_on(*channel, due);
                    owner
                }
                _ => {
                    queue.push(due, 3 + number);
                    3 + number
                }
            };
            let place = list.partition_point(|(other, _)| *other <= due);
            list.insert(place, (due, event));
            prop_assert_eq!(queue.len(), list.len());
            for _ in 0..pops {
                prop_assert_eq!(queue.next_at(), list.first().map(|(due, _)| *due));
                prop_assert_eq!(queue.is_empty(), list.is_empty());
                let expected = (!list.is_empty()).then(|| list.remove(0));
                prop_assert_eq!(pop(&mut queue), expected);
            }
        }
        prop_assert_eq!(drain(&mut queue), list);
    }

    #[test]
    fn a_steady_state_of_near_events_and_timers_keeps_the_order(
        near in prop::collection::vec(1..400_000_u64, 1..6),
        far in prop::collection::vec(200_000_000..75_000_000_000_u64, 1..30),
    ) {
        let mut queue: EventQueue<_> = EventQueue::new();
        let spans: Vec<_> = near.into_iter().chain(far).collect();
        for (owner, span) in spans.iter().enumerate() {
            queue.push(at(*span), owner);
        }
        let mut last = Instant::ZERO;
        for _ in 0..2000 {
            let (now, owner) = queue.pop().unwrap();
            prop_assert!(now >= last);
            prop_assert_eq!(now.as_nanos() % spans[owner], 0, "an owner's events come at multiples of its span");
            last = now;
            queue.push(now + Duration::from_nanos(spans[owner]), owner);
        }
    }
}
