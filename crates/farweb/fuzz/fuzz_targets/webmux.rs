//! W3C MUX: any bytes as frames, and two ends that exchange messages in any order over a transport that holds little.

#![no_main]

use std::collections::VecDeque;

use arbitrary::Arbitrary;
use farweb::http::webmux::{Config, Control, Ending, Frame, Layout, Receiver, Sender, Step};
use libfuzzer_sys::fuzz_target;

/// Most bytes of a message, and steps that the transport holds.
const MESSAGE_MAX: u64 = 2_000;
const TRANSPORT: usize = 6;

#[derive(Debug, Arbitrary)]
struct Input {
    bytes: Vec<u8>,
    is_1998: bool,
    credit: u16,
    write_buffer: u16,
    fragment: u16,
    chunk: Option<u16>,
    head: u16,
    messages: Vec<u16>,
    steps: Vec<(u8, u8, u16)>,
}

/// Sender and receiver, steps and grants on their way to them, and bytes that applications have to take
/// and have taken.
struct Line {
    sender: Sender<usize>,
    receiver: Receiver<usize>,
    down: VecDeque<Step<usize>>,
    grants: VecDeque<(usize, u64)>,
    untaken: Vec<u64>,
    got: Vec<u64>,
}

impl Line {
    fn send(&mut self) -> bool {
        if self.down.len() >= TRANSPORT {
            return false;
        }
        let step = self.sender.next_step();
        self.down.extend(step);
        step.is_some()
    }

    fn read(&mut self) -> bool {
        let step = self.down.pop_front();
        if let Some(Step::Payload(message, bytes)) = step {
            self.receiver.on_payload(message, bytes);
            while let Some((message, bytes)) = self.receiver.next_piece() {
                self.untaken[message] += bytes;
            }
        }
        step.is_some()
    }

    fn take(&mut self, message: usize, most: u64) -> bool {
        let bytes = most.min(self.untaken[message]);
        self.untaken[message] -= bytes;
        self.got[message] += bytes;
        if let Some(Frame::Control(Control::AddCredit { bytes, .. })) = self.receiver.on_taken(message, bytes) {
            self.grants.push_back((message, bytes.into()));
        }
        bytes > 0
    }

    fn grant(&mut self) -> bool {
        let grant = self.grants.pop_front();
        if let Some((message, bytes)) = grant {
            self.sender.on_grant(message, bytes);
        }
        grant.is_some()
    }
}

fuzz_target!(|input: Input| {
    let layout = if input.is_1998 { Layout::Y1998 } else { Layout::Y1996 };
    if let Ok(Some(frame)) = Frame::decode(&input.bytes, layout) {
        let written = frame.encode(layout);
        assert_eq!(written, input.bytes[..written.len()]);
        assert_eq!(Frame::decode(&written, layout), Ok(Some(frame)));
    }
    let config = Config {
        layout,
        credit: u64::from(input.credit).max(1),
        write_buffer: u64::from(input.write_buffer).max(8),
        fragment: u64::from(input.fragment).max(1),
        chunk: input.chunk.map(|bytes| u64::from(bytes).max(1)),
        head: input.head.into(),
    };
    let sizes: Vec<_> = input.messages.iter().take(8).map(|bytes| u64::from(*bytes).clamp(1, MESSAGE_MAX)).collect();
    let count = sizes.len();
    let mut line = Line {
        sender: Sender::new(config),
        receiver: Receiver::new(config),
        down: VecDeque::new(),
        grants: VecDeque::new(),
        untaken: vec![0; count],
        got: vec![0; count],
    };
    for (message, bytes) in sizes.iter().enumerate() {
        let session = 3 + 2 * message as u8;
        line.sender.open(message, session);
        line.sender.write(message, *bytes, Ending::Session);
        line.receiver.open(message, session);
    }
    for (what, message, bytes) in input.steps {
        let most = config.credit + config.fragment;
        assert!(line.untaken.iter().all(|untaken| *untaken < most), "more than the credit promised");
        match what % 4 {
            0 => _ = line.send(),
            1 => _ = line.read(),
            2 => _ = line.grant(),
            _ if count > 0 => _ = line.take(usize::from(message) % count, bytes.into()),
            _ => {}
        }
    }
    while line.send() | line.read() | line.grant() | (0..count).fold(false, |any, message| any | line.take(message, u64::MAX)) {}
    assert_eq!(line.got, sizes);
});
