//! Bytes on the wire by connection, put together from recorded packets as a listener would.

use std::collections::BTreeMap;

use farweb::tcp::Flags;

use crate::run::{Tables, codes, ints};

/// One direction of a connection.
#[derive(Debug, Clone, Default)]
pub(super) struct Half {
    /// Bytes of the stream that were sent.
    pub(super) sent: u64,
    /// Bytes that have arrived, from the first one on without a gap.
    pub(super) arrived: u64,
    /// Segments that brought a new byte.
    pub(super) news: u64,
    /// Bytes that arrived behind a gap, as (start, end).
    ahead: Vec<(u64, u64)>,
}

/// A connection.
#[derive(Debug, Clone, Default)]
pub(super) struct Wire {
    /// By direction: up, down.
    pub(super) halves: [Half; 2],
    /// When the client end sent, or received, the first segment that ends the connection.
    pub(super) ends_at: Option<i64>,
    /// True when the client end has reset it.
    pub(super) is_reset: bool,
}

const SEND: i32 = 0;
const RECEIVE: i32 = 1;
const UP: i32 = 0;

/// The connections of a run, by number.
pub(super) fn listen(tables: &Tables) -> BTreeMap<i64, Wire> {
    let mut wires: BTreeMap<i64, Wire> = BTreeMap::new();
    let column = |name| ints(tables, "packets", name);
    let word = |name| codes(tables, "packets", name);
    let (times, connections) = (column("time_ns"), column("connection"));
    let (seqs, payloads) = (column("seq"), column("payload_bytes"));
    let (events, directions, flags) = (word("event"), word("direction"), word("flags"));
    for row in 0..times.len() {
        let wire = wires.entry(connections[row]).or_default();
        let (event, direction) = (events[row], directions[row]);
        let half = &mut wire.halves[direction as usize];
        // The SYN has the number 0.
        let (start, end) = (seqs[row] as u64, (seqs[row] + payloads[row]) as u64);
        match event {
            SEND if end > start => half.sent = half.sent.max(end - 1),
            RECEIVE if end > start => half.receive(start - 1, end - 1),
            _ => {}
        }
        let is_near = (event == SEND) == (direction == UP);
        let resets = flags[row] & i32::from(Flags::RST.bits()) != 0;
        wire.is_reset |= is_near && event == SEND && resets;
        // Words of flags are numbered by their bits.
        let ends = flags[row] & i32::from((Flags::FIN | Flags::RST).bits()) != 0;
        if is_near && ends && matches!(event, SEND | RECEIVE) {
            wire.ends_at.get_or_insert(times[row]);
        }
    }
    wires
}

impl Half {
    fn receive(&mut self, start: u64, end: u64) {
        if end <= self.arrived || self.ahead.contains(&(start, end)) {
            return;
        }
        self.news += 1;
        self.ahead.push((start, end));
        self.ahead.sort_unstable();
        for (start, end) in &self.ahead {
            if *start <= self.arrived {
                self.arrived = self.arrived.max(*end);
            }
        }
        let arrived = self.arrived;
        self.ahead.retain(|(_, end)| *end > arrived);
    }
}
