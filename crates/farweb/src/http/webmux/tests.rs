//! Both ends together: writes, credits, turns, and that nothing waits for ever.

use std::collections::{BTreeMap, VecDeque};

use proptest::prelude::*;

use super::*;

const EXPERIMENT: Config = Config {
    layout: Layout::Y1996,
    credit: 4096,
    write_buffer: 8192,
    fragment: 512,
    chunk: Some(4096),
    head: 0,
};

/// Writes of a sender until it waits: sizes of writes, and bytes of payload.
fn writes(sender: &mut Sender<char>) -> (Vec<u64>, u64) {
    let (mut writes, mut open, mut payload) = (Vec::new(), 0, 0);
    while let Some(step) = sender.next_step() {
        match step {
            Step::Header(_, _, bytes) | Step::Padding(bytes) | Step::Frame(_, _, bytes) => open += bytes,
            Step::Payload(_, bytes) => {
                open += bytes;
                payload += bytes;
            }
            Step::Whole(_) => {}
            Step::Flush => writes.push(std::mem::take(&mut open)),
        }
    }
    assert_eq!(open, 0, "what was put into the buffer is flushed");
    (writes, payload)
}

/// A sender that has `bytes` of one message, and all of the credit that it needs.
fn sender(config: Config, bytes: u64) -> Sender<char> {
    let mut sender = Sender::new(Config { credit: config.credit.max(bytes), ..config });
    sender.accept('a', 3);
    sender.write('a', bytes, Ending::More);
    sender
}

#[test]
fn what_does_not_fit_the_buffer_is_a_write_of_its_own() {
    let mut large = sender(Config { chunk: None, ..EXPERIMENT }, 17 * 512 + 100);
    assert_eq!(writes(&mut large).0, [15 * 516 + 4, 512, 516 + 104]);
    let small = Config { write_buffer: 2048, chunk: None, ..EXPERIMENT };
    assert_eq!(writes(&mut sender(small, 8 * 512 + 7)).0, [1552, 512, 1552, 512, 4 + 7 + 1]);
}

#[test]
fn a_fragment_costs_its_header_and_its_padding() {
    let cases = [(1, 4 + 4), (4, 4 + 4), (512, 516), (513, 516 + 4 + 4), (65_536, 128 * 516)];
    for (bytes, on_the_wire) in cases {
        for layout in [Layout::Y1996, Layout::Y1998] {
            let config = Config { layout, chunk: None, ..EXPERIMENT };
            // Credit to the byte: no empty fragment follows.
            let mut sender = Sender::new(Config { credit: bytes, ..config });
            sender.accept('a', 3);
            sender.write('a', bytes, Ending::More);
            assert_eq!(writes(&mut sender).0.iter().sum::<u64>(), on_the_wire, "{bytes} B");
        }
    }
}

#[test]
fn a_chunk_that_fills_its_fragments_is_followed_by_an_empty_one_in_1996() {
    let one = |layout| writes(&mut sender(Config { layout, credit: 9999, ..EXPERIMENT }, 2 * 4096)).0;
    assert_eq!(one(Layout::Y1996).iter().sum::<u64>(), 16 * 516 + 2 * 4);
    assert_eq!(one(Layout::Y1998).iter().sum::<u64>(), 16 * 516);
}

#[test]
fn a_head_goes_by_itself() {
    let mut sender = sender(Config { head: 250, ..EXPERIMENT }, 250 + 600);
    assert_eq!(writes(&mut sender).0, [4 + 250 + 2 + 516 + 4 + 88]);
}

#[test]
fn whole_fragments_go_while_there_is_credit() {
    let mut sender = Sender::new(Config { credit: 1000, chunk: None, ..EXPERIMENT });
    sender.accept('a', 3);
    sender.write('a', 10_000, Ending::More);
    assert_eq!((writes(&mut sender), sender.credit('a')), ((vec![2 * 516], 1024), Some(-24)));
    sender.on_grant('a', 24);
    assert_eq!(writes(&mut sender), (vec![], 0), "a credit of zero is none");
    sender.on_grant('a', 1);
    assert_eq!((writes(&mut sender), sender.credit('a')), ((vec![516], 512), Some(-511)));
}

#[test]
fn sessions_take_turns_and_frames_go_first() {
    let mut sender = Sender::new(EXPERIMENT);
    for (message, session) in [('a', 3), ('b', 5)] {
        sender.open(message, session);
        sender.write(message, 1000, Ending::Session);
    }
    let grant = Frame::Control(Control::AddCredit { session: 7, bytes: 99 });
    sender.send('c', grant);
    let steps: Vec<_> = std::iter::from_fn(|| sender.next_step()).collect();
    let payload = |message, session, bytes| {
        let frame = Frame::fragment(session, bytes as u32);
        [Step::Header(message, frame, 4), Step::Payload(message, bytes)]
    };
    let mut expected =
        vec![Step::Frame('a', Frame::open(3, HTTP), 8), Step::Frame('b', Frame::open(5, HTTP), 8)];
    expected.extend([Step::Frame('c', grant, 8), Step::Flush]);
    expected.extend([payload('a', 3, 512), payload('b', 5, 512), payload('a', 3, 488)].concat());
    expected.extend([Step::Whole('a'), Step::Frame('a', Frame::end(3, false), 4), Step::Flush]);
    expected.extend(payload('b', 5, 488));
    expected.extend([Step::Whole('b'), Step::Frame('b', Frame::end(5, false), 4), Step::Flush]);
    assert_eq!(steps, expected);
}

#[test]
fn a_session_out_of_credit_flushes_what_is_there() {
    let mut sender = Sender::new(Config { credit: 512, ..EXPERIMENT });
    for (message, session) in [('a', 3), ('b', 5)] {
        sender.accept(message, session);
        sender.write(message, 1000, Ending::More);
    }
    assert_eq!(writes(&mut sender), (vec![516, 516], 1024), "a write for each session that has to wait");
}

#[test]
fn more_than_half_of_the_credit_is_granted_at_once() {
    let mut receiver = Receiver::new(EXPERIMENT);
    receiver.open('a', 3);
    let mut take = |reads: &[u64]| {
        reads.iter().for_each(|bytes| receiver.on_payload('a', *bytes));
        let (message, bytes) = receiver.next_piece().unwrap();
        receiver.on_taken(message, bytes)
    };
    assert_eq!(take(&[1448]), None);
    assert_eq!(take(&[600]), None, "half is not more than half");
    let grant = |bytes| Some(Frame::Control(Control::AddCredit { session: 3, bytes }));
    assert_eq!(take(&[1]), grant(2049));
    assert_eq!(take(&[1448, 1448]), grant(2896), "what stands together is one piece");
}

#[test]
fn a_session_that_is_over_is_granted_nothing() {
    let mut receiver = Receiver::new(EXPERIMENT);
    receiver.open('a', 3);
    receiver.close('a');
    receiver.on_payload('a', 4000);
    assert_eq!(receiver.next_piece(), Some(('a', 4000)));
    assert_eq!(receiver.on_taken('a', 4000), None);
}

#[test]
fn frames_have_the_bits_of_their_layout() {
    let syn = Frame::open(3, HTTP);
    assert_eq!(syn.encode(Layout::Y1996), [80, 0, 0x0C, 0xA0, 0, 0, 0, 0]);
    assert_eq!(syn.encode(Layout::Y1998), [0x03, 0x44, 0, 80, 0, 0, 0, 0]);
    let fin = Frame::end(3, false);
    assert_eq!(fin.encode(Layout::Y1996), [0, 0, 0x0C, 0x10]);
    assert_eq!(fin.encode(Layout::Y1998), [0x03, 0x20, 0, 0]);
    let rst = Frame::end(255, true);
    assert_eq!(rst.encode(Layout::Y1996), [0, 0, 0xFC, 0x0B]);
    assert_eq!(rst.encode(Layout::Y1998), [0xFF, 0x10, 0, 0]);
    let fragment = Frame::fragment(5, 512);
    assert_eq!(fragment.encode(Layout::Y1996), [0, 2, 0x14, 0]);
    assert_eq!(fragment.encode(Layout::Y1998), [5, 0, 2, 0]);
    let credit = Frame::Control(Control::AddCredit { session: 3, bytes: 2896 });
    assert_eq!(credit.encode(Layout::Y1996), [0, 0, 0x0C, 0xCC, 0x50, 0x0B, 0, 0]);
    assert_eq!(credit.encode(Layout::Y1998), [3, 0x98, 0x0B, 0x50]);
    let mss = Frame::Control(Control::SetMss { session: 0, bytes: 512 });
    assert_eq!(mss.encode(Layout::Y1996), [0, 2, 0, 0x48]);
    assert_eq!(mss.encode(Layout::Y1998), [0, 0x90, 2, 0]);
}

#[test]
fn padding_fills_words_behind_the_header() {
    let padding = |length| Frame::fragment(3, length).padding(Layout::Y1998);
    assert_eq!([0, 1, 4, 509, FIELD_MAX].map(padding), [0, 3, 0, 3, 1]);
    let long = Frame::fragment(3, FIELD_MAX + 1);
    assert_eq!((long.header(Layout::Y1996), long.padding(Layout::Y1996)), (8, 0));
    assert_eq!(Frame::fragment(3, FIELD_MAX + 2).padding(Layout::Y1996), 7);
}

#[test]
fn what_a_layout_does_not_have_is_no_frame() {
    let no_op = Frame::Control(Control::NoOp { length: 8 });
    assert_eq!(Frame::decode(&no_op.encode(Layout::Y1998), Layout::Y1998), Ok(Some(no_op)));
    assert_eq!(Frame::decode(&[0, 0, 0, 0x54], Layout::Y1996), Err(WireError::UnknownCode(5)));
    let error = Frame::decode(&[3, 0xF8, 0, 0], Layout::Y1998).unwrap_err();
    assert_eq!(error.to_string(), "15 is no code of a control message");
}

fn layouts() -> impl Strategy<Value = Layout> {
    prop_oneof![Just(Layout::Y1996), Just(Layout::Y1998)]
}

fn frames() -> impl Strategy<Value = Frame> {
    let flags = any::<[bool; 4]>().prop_map(|[syn, fin, rst, push]| Flags { syn, fin, rst, push });
    let fragment = (any::<u8>(), flags, 0..=FIELD_MAX, any::<u32>(), any::<bool>()).prop_map(
        |(session, flags, field, length, long)| {
            let (protocol, length) = match (flags.syn, long) {
                (true, true) => (field, length),
                (true, false) => (field, 0),
                (false, true) => (0, length),
                (false, false) => (0, field),
            };
            Frame::Fragment { session, flags, protocol, length, long }
        },
    );
    let control =
        (0..4_u8, 0..=255_u32, any::<u8>(), any::<u32>()).prop_map(|(kind, id, session, number)| {
            Frame::Control(match kind {
                0 => Control::DefineString { id, length: number },
                1 => Control::DefineStack { id, length: number },
                2 => Control::SetMss { session, bytes: number },
                _ => Control::AddCredit { session, bytes: number },
            })
        });
    prop_oneof![fragment, control]
}

proptest! {
    #[test]
    fn a_frame_is_read_as_it_was_written(frame in frames(), layout in layouts(), rest: Vec<u8>) {
        let mut bytes = frame.encode(layout);
        prop_assert_eq!(bytes.len() as u64, frame.header(layout));
        for short in 0..bytes.len() {
            prop_assert_eq!(Frame::decode(&bytes[..short], layout), Ok(None));
        }
        bytes.extend(rest);
        prop_assert_eq!(Frame::decode(&bytes, layout), Ok(Some(frame)));
    }

    #[test]
    fn bytes_that_are_a_frame_are_that_frame_written(bytes: [u8; 8], layout in layouts()) {
        if let Ok(Some(frame)) = Frame::decode(&bytes, layout) {
            let written = frame.encode(layout);
            prop_assert_eq!(&bytes[..written.len()], &written[..]);
        }
    }
}

/// An end: its sender and receiver, and bytes waiting for its applications.
struct Peer {
    sender: Sender<u8>,
    receiver: Receiver<u8>,
    untaken: BTreeMap<u8, u64>,
    got: BTreeMap<u8, u64>,
}

/// Two ends, and the bytes in flight to each.
struct Pair {
    peers: [Peer; 2],
    on_the_way: [VecDeque<Step<u8>>; 2],
    config: Config,
}

/// How many steps a transport holds before it takes no more. Chosen: fewer than a credit's worth of small fragments.
const TRANSPORT: usize = 6;

impl Pair {
    fn new(config: Config, messages: &[(bool, u64)]) -> Self {
        let peer = || Peer {
            sender: Sender::new(config),
            receiver: Receiver::new(config),
            untaken: BTreeMap::new(),
            got: BTreeMap::new(),
        };
        let mut pair =
            Self { peers: [peer(), peer()], on_the_way: [VecDeque::new(), VecDeque::new()], config };
        for (message, (up, bytes)) in messages.iter().enumerate() {
            let (from, message) = (usize::from(*up), message as u8);
            pair.peers[from].sender.open(message, 3 + 2 * message);
            pair.peers[from].sender.write(message, *bytes, Ending::Message);
            pair.peers[1 - from].receiver.open(message, 3 + 2 * message);
        }
        pair
    }

    /// `from` sends a step, if it has one and the transport takes it. True if it did.
    fn send(&mut self, from: usize) -> bool {
        if self.on_the_way[1 - from].len() >= TRANSPORT {
            return false;
        }
        let step = self.peers[from].sender.next_step();
        self.on_the_way[1 - from].extend(step);
        step.is_some()
    }

    /// `at` reads the first bytes in flight, and never refuses them. True if there were any.
    fn read(&mut self, at: usize) -> bool {
        let Some(step) = self.on_the_way[at].pop_front() else {
            return false;
        };
        let peer = &mut self.peers[at];
        match step {
            Step::Payload(message, bytes) => {
                peer.receiver.on_payload(message, bytes);
                let (message, bytes) = peer.receiver.next_piece().expect("it has just arrived");
                let untaken = peer.untaken.entry(message).or_default();
                *untaken += bytes;
                assert!(
                    *untaken < self.config.credit + self.config.fragment,
                    "more than the credit promised"
                );
            }
            Step::Frame(message, Frame::Control(Control::AddCredit { bytes, .. }), _) => {
                peer.sender.on_grant(message, u64::from(bytes));
            }
            _ => {}
        }
        true
    }

    /// The application of a message takes up to `bytes` of the available ones.
    fn take(&mut self, at: usize, message: u8, bytes: u64) -> bool {
        let peer = &mut self.peers[at];
        let Some(untaken) = peer.untaken.get_mut(&message) else {
            return false;
        };
        let taken = bytes.min(*untaken);
        *untaken -= taken;
        *peer.got.entry(message).or_default() += taken;
        if let Some(grant) = peer.receiver.on_taken(message, taken) {
            peer.sender.send(message, grant);
        }
        taken > 0
    }
}

proptest! {
    /// Any interleaving of several sessions in both directions, with applications that read as slowly as they like and a transport
    /// that holds little, ends with every byte at its application.
    #[test]
    fn nothing_waits_for_good(
        layout in layouts(),
        (credit, fragment, write_buffer) in (1..3000_u64, 1..700_u64, 16..3000_u64),
        messages in prop::collection::vec((any::<bool>(), 1..9000_u64), 1..6),
        steps in prop::collection::vec((0..6_u8, any::<bool>(), 0..6_u8, 1..2000_u64), 0..200),
    ) {
        let config = Config { layout, credit, write_buffer, fragment, chunk: Some(1000), head: 10 };
        let mut pair = Pair::new(config, &messages);
        for (what, end, message, bytes) in steps {
            let end = usize::from(end);
            match what {
                0..2 => _ = pair.send(end),
                2..4 => _ = pair.read(end),
                _ => _ = pair.take(end, message, bytes),
            }
        }
        loop {
            let mut goes_on = false;
            for end in [0, 1] {
                goes_on |= pair.send(end) | pair.read(end);
                for message in 0..messages.len() as u8 {
                    goes_on |= pair.take(end, message, u64::MAX);
                }
            }
            if !goes_on {
                break;
            }
        }
        for (message, (up, bytes)) in messages.iter().enumerate() {
            let got = pair.peers[1 - usize::from(*up)].got.get(&(message as u8));
            prop_assert_eq!(got, Some(bytes), "message {}", message);
        }
    }
}
