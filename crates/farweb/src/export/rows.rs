//! Rows of the packet table, read back: columns in, packets with where they were seen out.
//!
//! The table may come from any file, so every value is checked: values that no recorder writes are an error, never a
//! panic.

use std::num::NonZeroU16;

use crate::record::{NULL_INT, PacketEvent, Ranges};
use crate::tcp::{Codepoint, Flags, Options, SackBlocks, Segment, Timestamps};
use crate::workload::Words;

/// Some rows of the packet table, by column. All columns are equally long.
///
/// A missing whole number is [`NULL_INT`].
#[derive(Debug, Clone, Default)]
#[expect(missing_docs, reason = "the columns of the packet table, which says what they are")]
pub struct Packets {
    pub time_ns: Vec<i64>,
    pub connection: Vec<i64>,
    pub leg: Vec<i64>,
    pub host: Words,
    pub node: Words,
    pub link: Vec<i64>,
    pub event: Words,
    pub direction: Words,
    pub packet: Vec<i64>,
    pub seq: Vec<i64>,
    pub ack: Vec<i64>,
    pub payload_bytes: Vec<i64>,
    pub window_bytes: Vec<i64>,
    pub window_field: Vec<i64>,
    pub flags: Words,
    /// None of results from before there was ECN.
    pub ecn: Option<Words>,
    pub retransmission: Vec<bool>,
    pub mss_bytes: Vec<i64>,
    pub window_scale: Vec<i64>,
    pub sack_permitted: Vec<bool>,
    pub sack: Vec<Ranges>,
    pub timestamp: Vec<i64>,
    pub timestamp_echo: Vec<i64>,
    pub credit_limit: Vec<i64>,
}

/// The path that packets took: its nodes from the clients to the servers, and where its legs begin and end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    nodes: Vec<String>,
    legs: Vec<(usize, usize)>,
}

/// Point where packets were seen: an end of a leg, or a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Point {
    /// At the endpoint on the node with this number, from 0 at the clients.
    End(usize),
    /// On the link with this number, from 0 at the clients.
    Link(usize),
}

/// Why rows are no packet table's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("column {column}: found {found}; {allowed}")]
pub struct ExportError {
    column: &'static str,
    found: String,
    allowed: &'static str,
}

/// A packet, as it was seen somewhere.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Sighting<'a> {
    /// Nanoseconds since the start of the run.
    pub(super) time_ns: u64,
    pub(super) connection: u64,
    pub(super) host: &'a str,
    pub(super) point: Point,
    pub(super) event: PacketEvent,
    pub(super) up: bool,
    /// Nodes of the leg's ends: the client's and the server's.
    pub(super) leg: (usize, usize),
    /// Its number among its sender's packets on the connection.
    pub(super) number: u64,
    pub(super) segment: Segment,
    /// The window, scaled.
    pub(super) window_bytes: u64,
    pub(super) retransmission: bool,
    /// Limit of the stream by credit, at the observing end.
    pub(super) credit_limit: Option<u64>,
}

/// The words of a few rows, understood once.
pub(super) struct Reader<'a> {
    packets: &'a Packets,
    route: &'a Route,
    nodes: Vec<Option<usize>>,
    events: Vec<Option<PacketEvent>>,
    directions: Vec<Option<bool>>,
    flags: Vec<Option<Flags>>,
    ecn: Vec<Option<Codepoint>>,
}

impl Route {
    /// The path with these nodes, and its legs by the numbers of their first and last nodes.
    ///
    /// # Errors
    /// When a leg does not lead from a node to one nearer to the servers, or there are more than 256 nodes.
    pub fn new(nodes: Vec<String>, legs: Vec<(usize, usize)>) -> Result<Self, ExportError> {
        let wrong = legs.iter().find(|(from, to)| from >= to || *to >= nodes.len() || nodes.len() > 256);
        match wrong {
            Some(leg) => {
                Err(ExportError::new("leg", format!("{leg:?}"), "a leg joins two nodes of the path"))
            }
            None => Ok(Self { nodes, legs }),
        }
    }

    /// The first and last node of leg `leg`.
    pub(super) fn leg(&self, leg: usize) -> Result<(usize, usize), ExportError> {
        let unknown = || ExportError::new("leg", leg.to_string(), "the scenario has no leg of that number");
        self.legs.get(leg).copied().ok_or_else(unknown)
    }

    /// The number of the last node, where the origin servers are.
    pub(super) const fn last(&self) -> usize {
        self.nodes.len() - 1
    }

    /// Name of a point: the node's name, or the link's number.
    pub(super) fn name(&self, point: Point) -> String {
        match point {
            Point::End(node) => self.node(node).to_owned(),
            Point::Link(link) => format!("link {link}"),
        }
    }

    pub(super) fn node(&self, node: usize) -> &str {
        self.nodes.get(node).map_or("?", String::as_str)
    }
}

impl ExportError {
    pub(super) const fn new(column: &'static str, found: String, allowed: &'static str) -> Self {
        Self { column, found, allowed }
    }
}

impl<'a> Reader<'a> {
    /// Prepares to read `packets`.
    ///
    /// # Errors
    /// When a column is shorter or longer than the first.
    pub(super) fn new(packets: &'a Packets, route: &'a Route) -> Result<Self, ExportError> {
        packets.check_lengths()?;
        let node = |name: &String| route.nodes.iter().position(|node| node == name);
        Ok(Self {
            packets,
            route,
            nodes: packets.node.words.iter().map(node).collect(),
            events: packets.event.words.iter().map(|word| event(word)).collect(),
            directions: packets.direction.words.iter().map(|word| is_up(word)).collect(),
            flags: packets.flags.words.iter().map(|word| flags(word)).collect(),
            ecn: packets.ecn.iter().flat_map(|ecn| &ecn.words).map(|word| codepoint(word)).collect(),
        })
    }

    /// Number of rows.
    pub(super) fn len(&self) -> usize {
        self.packets.time_ns.len()
    }

    /// The sighting in row `row`.
    ///
    /// # Errors
    /// When a value is none that a recorder writes.
    pub(super) fn sighting(&self, row: usize) -> Result<Sighting<'a>, ExportError> {
        let packets = self.packets;
        let point = match packets.link[row] {
            NULL_INT => Point::End(self.word("node", &packets.node, row, &self.nodes)?),
            link => Point::Link(natural("link", link)?),
        };
        Ok(Sighting {
            time_ns: natural("time_ns", packets.time_ns[row])?,
            connection: natural("connection", packets.connection[row])?,
            host: text("host", &packets.host, row)?,
            point,
            event: self.word("event", &packets.event, row, &self.events)?,
            up: self.word("direction", &packets.direction, row, &self.directions)?,
            leg: self.route.leg(natural("leg", packets.leg[row])?)?,
            number: natural("packet", packets.packet[row])?,
            segment: self.segment(row)?,
            window_bytes: natural("window_bytes", packets.window_bytes[row])?,
            retransmission: packets.retransmission[row],
            credit_limit: optional("credit_limit", packets.credit_limit[row])?,
        })
    }

    fn segment(&self, row: usize) -> Result<Segment, ExportError> {
        let packets = self.packets;
        let ack = natural("ack", packets.ack[row])?;
        let mut blocks = [(); Ranges::CAPACITY].map(|()| 0..0);
        let ranges = packets.sack[row].as_slice();
        for (block, (start, end)) in blocks.iter_mut().zip(ranges) {
            *block = natural("sack", *start)?..natural("sack", *end)?;
        }
        let (value, echo) = (packets.timestamp[row], packets.timestamp_echo[row]);
        let timestamps = match optional("timestamp", value)? {
            Some(value) => Some(Timestamps { value, echo: natural("timestamp_echo", echo)? }),
            None => None,
        };
        Ok(Segment {
            seq: natural("seq", packets.seq[row])?,
            ack,
            len: natural("payload_bytes", packets.payload_bytes[row])?,
            window: natural("window_field", packets.window_field[row])?,
            flags: self.word("flags", &packets.flags, row, &self.flags)?,
            ecn: match &packets.ecn {
                Some(words) => self.word("ecn", words, row, &self.ecn)?,
                None => Codepoint::NotEct,
            },
            options: Options {
                mss: optional("mss_bytes", packets.mss_bytes[row])?.and_then(NonZeroU16::new),
                window_scale: optional("window_scale", packets.window_scale[row])?,
                timestamps,
                sack_permitted: packets.sack_permitted[row],
                sack: SackBlocks::new(ack, blocks.into_iter().take(ranges.len())),
            },
        })
    }

    fn word<T: Copy>(
        &self,
        column: &'static str,
        words: &Words,
        row: usize,
        meanings: &[Option<T>],
    ) -> Result<T, ExportError> {
        let found = text(column, words, row)?;
        let meaning = usize::try_from(words.codes[row]).ok().and_then(|code| meanings.get(code).copied());
        meaning.flatten().ok_or_else(|| {
            ExportError::new(
                column,
                format!("\"{found}\""),
                "that is not a word of the packet table of this scenario",
            )
        })
    }
}

impl Packets {
    fn check_lengths(&self) -> Result<(), ExportError> {
        let rows = self.time_ns.len();
        let lengths = [
            ("connection", self.connection.len()),
            ("leg", self.leg.len()),
            ("host", self.host.codes.len()),
            ("node", self.node.codes.len()),
            ("link", self.link.len()),
            ("event", self.event.codes.len()),
            ("direction", self.direction.codes.len()),
            ("packet", self.packet.len()),
            ("seq", self.seq.len()),
            ("ack", self.ack.len()),
            ("payload_bytes", self.payload_bytes.len()),
            ("window_bytes", self.window_bytes.len()),
            ("window_field", self.window_field.len()),
            ("flags", self.flags.codes.len()),
            ("ecn", self.ecn.as_ref().map_or(rows, |ecn| ecn.codes.len())),
            ("retransmission", self.retransmission.len()),
            ("mss_bytes", self.mss_bytes.len()),
            ("window_scale", self.window_scale.len()),
            ("sack_permitted", self.sack_permitted.len()),
            ("sack", self.sack.len()),
            ("timestamp", self.timestamp.len()),
            ("timestamp_echo", self.timestamp_echo.len()),
            ("credit_limit", self.credit_limit.len()),
        ];
        check_lengths("every column has as many as time_ns", rows, &lengths)
    }
}

/// # Errors
/// When a column has not `rows` values.
pub(super) fn check_lengths(
    allowed: &'static str,
    rows: usize,
    lengths: &[(&'static str, usize)],
) -> Result<(), ExportError> {
    match lengths.iter().find(|(_, length)| *length != rows) {
        Some((column, length)) => Err(ExportError::new(column, format!("{length} values"), allowed)),
        None => Ok(()),
    }
}

/// A whole number that is there and fits.
pub(super) fn natural<T: TryFrom<i64>>(column: &'static str, value: i64) -> Result<T, ExportError> {
    let found = || if value == NULL_INT { "nothing".to_owned() } else { value.to_string() };
    T::try_from(value).map_err(|_| ExportError::new(column, found(), "nothing recorded has that value"))
}

pub(super) fn optional<T: TryFrom<i64>>(column: &'static str, value: i64) -> Result<Option<T>, ExportError> {
    if value == NULL_INT { Ok(None) } else { natural(column, value).map(Some) }
}

pub(super) fn text<'a>(column: &'static str, words: &'a Words, row: usize) -> Result<&'a str, ExportError> {
    let word = usize::try_from(words.codes[row]).ok().and_then(|code| words.words.get(code));
    word.map(String::as_str)
        .ok_or_else(|| ExportError::new(column, "nothing".to_owned(), "everything recorded has a value"))
}

fn event(word: &str) -> Option<PacketEvent> {
    match word {
        "send" => Some(PacketEvent::Send),
        "receive" => Some(PacketEvent::Receive),
        "drop" => Some(PacketEvent::Drop),
        "pass" => Some(PacketEvent::Pass),
        _ => None,
    }
}

pub(super) fn is_up(word: &str) -> Option<bool> {
    match word {
        "up" => Some(true),
        "down" => Some(false),
        _ => None,
    }
}

fn codepoint(word: &str) -> Option<Codepoint> {
    let place = Codepoint::NAMES.iter().position(|name| *name == word)?;
    Some(Codepoint::ALL[place])
}

fn flags(word: &str) -> Option<Flags> {
    Flags::all().find(|flags| flags.to_string() == word)
}
