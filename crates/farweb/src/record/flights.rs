//! Packets on their way: when each reached the link that it crossed, or that dropped it.
//!
//! The table of packets says when a packet left a link and arrived behind it. Nodes take no time, so it reached the link as it
//! was sent or as it arrived from the link before. That needs rows of both ends and of every link on the way
//! (`record.points`). Where those before are missing, a packet reached its place at the row's own time.

use rustc_hash::FxHashMap;

use super::{Column, NULL_INT, PacketEvent};

/// A packet: connection, stretch, direction, and number among its sender's.
type Flight = (i64, i64, i32, i64);

/// Time in ns when the packet of each row of the packet table reached the place where it was seen.
///
/// A packet waits in the queue of a link, and is transmitted, from this time to `left_ns`.
///
/// # Panics
/// When a column of the table is missing.
#[must_use]
pub fn reached(packets: &[(&'static str, Column)]) -> Vec<i64> {
    let column = |name| {
        let found = packets.iter().find(|(own, _)| *own == name);
        found.map(|(_, column)| column).unwrap_or_else(|| panic!("the table of packets has a column {name}"))
    };
    let (time, arrived) = (ints(column("time_ns")), ints(column("arrived_ns")));
    let (connection, stretch) = (ints(column("connection")), ints(column("stretch")));
    let (direction, number) = (codes(column("direction")), ints(column("packet")));
    let event = codes(column("event"));
    let mut last: FxHashMap<Flight, i64> = FxHashMap::default();
    let row = |row: usize| {
        let flight = (connection[row], stretch[row], direction[row], number[row]);
        let ends = event[row] == PacketEvent::Receive as i32 || event[row] == PacketEvent::Drop as i32;
        let before = if ends {
            last.remove(&flight)
        } else {
            let behind = if arrived[row] == NULL_INT { time[row] } else { arrived[row] };
            last.insert(flight, behind)
        };
        before.unwrap_or(time[row])
    };
    (0..time.len()).map(row).collect()
}

fn ints(column: &Column) -> &[i64] {
    let Column::Int(values) = column else { unreachable!("a time or a number is whole") };
    values
}

fn codes(column: &Column) -> &[i32] {
    let Column::Word(values, _) = column else { unreachable!("an event or a direction is a word") };
    values
}
