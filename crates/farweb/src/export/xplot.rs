//! Time–sequence plots for xplot and jPlot, in the vocabulary of tcptrace.
//!
//! One connection, one direction, seen at one point: data that way, acknowledgements the other.
//!
//! * A segment is a line from its first to its last byte between two arrows, white. Its upper end is a diamond around a
//!   dot with PSH. Sent again it is red, with an R. SYN and FIN are orange and named. A segment into a closed window
//!   has a P below. A segment without payload is two arrows that meet.
//! * The green stair is acknowledged data, with a tick down for each duplicate acknowledgement and a 3 at the third.
//!   The yellow stair is the limit of the advertised window, with a tick up where it stays, and a Z where the window is
//!   closed. SACK blocks are purple, numbered if several, under an S.
//! * The blue stair, absent from tcptrace, is the limit of the sender's stream by the credit of its carrier: in plots
//!   from the sender's end, and as long as a credit limits it.
//! * RST_IN and RST_OUT, magenta, are resets.
//!
//! Sequence numbers are relative, SYN 0, as with tcptrace's `-zy`. xplot reads times to the microsecond. Left out are
//! the letters for tcptrace's guesses: O for segments out of order, HD for duplicates of the hardware.
//!
//! Source: manual of tcptrace 6.6 (S. Ostermann, Ohio University) and its output; manual of xplot (T. Shepard, MIT).

use std::fmt::{self, Write as _};

use crate::record::PacketEvent;
use crate::tcp::{Flags, Segment};

use super::rows::{ExportError, Packets, Point, Reader, Route, Sighting};

const DATA: &str = "white";
const AGAIN: &str = "red";
const ENDS: &str = "orange";
const ACK: &str = "green";
const WINDOW: &str = "yellow";
const SACK: &str = "purple";
const CREDIT: &str = "blue";
const TEXT: &str = "magenta";

/// Writes a plot.
#[derive(Debug)]
pub struct Xplot {
    route: Route,
    point: Point,
    connection: u64,
    up: bool,
    /// The newest acknowledgement.
    newest: Option<Acknowledgement>,
    /// Number of its repetitions.
    repeated: u32,
    /// Limit of the sender's credit last, and when.
    credit: Option<(Time, u64)>,
    /// True when the receiver has ever opened a window. The one-way agents of ns-2 have none.
    has_window: bool,
    /// Time of the first packet of the connection.
    began: Option<Time>,
    /// The colour of the next thing drawn, unless another is set.
    colour: &'static str,
    packets: u64,
}

/// Draws in colours. A colour holds until the next.
struct Pen<'a> {
    out: &'a mut String,
    colour: &'static str,
}

#[derive(Debug, Clone, Copy)]
struct Acknowledgement {
    time: Time,
    ack: u64,
    /// The end of the window.
    edge: u64,
}

/// A time as xplot reads it: seconds with six digits behind the point.
#[derive(Debug, Clone, Copy)]
struct Time(u64);

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:06}", self.0 / 1_000_000_000, self.0 / 1_000 % 1_000_000)
    }
}

impl Xplot {
    /// A plot of what `connection` sends up or down, as seen at `point`.
    #[must_use]
    pub const fn new(route: Route, point: Point, connection: u64, up: bool) -> Self {
        Self {
            route,
            point,
            connection,
            up,
            newest: None,
            repeated: 0,
            credit: None,
            has_window: false,
            began: None,
            colour: "",
            packets: 0,
        }
    }

    /// Appends the title and the names of the axes to `out`. `leg` is the number of the connection's leg.
    ///
    /// # Errors
    /// When the scenario has no such leg.
    pub fn start(&self, leg: usize, out: &mut String) -> Result<(), ExportError> {
        let (client, server) = self.route.leg(leg)?;
        let (from, to) = if self.up { (client, server) } else { (server, client) };
        let (from, to) = (self.route.node(from), self.route.node(to));
        let seen = self.route.name(self.point);
        let title =
            format!("{from}_==>_{to} (time sequence graph), connection {} at {seen}", self.connection);
        let title = title.replace(['\n', '\r'], " ");
        let _ = write!(out, "timeval signed\ntitle\n{title}\nxlabel\ntime\nylabel\nsequence offset\n");
        Ok(())
    }

    /// Appends the rows of the connection to `out` and leaves out others.
    ///
    /// # Errors
    /// When a row is none of a packet table.
    pub fn add(&mut self, rows: &Packets, out: &mut String) -> Result<(), ExportError> {
        let route = self.route.clone();
        let reader = Reader::new(rows, &route)?;
        let mut pen = Pen { out, colour: self.colour };
        for row in 0..reader.len() {
            let packet = reader.sighting(row)?;
            let is_seen = packet.point == self.point && packet.event != PacketEvent::Drop;
            if packet.connection != self.connection || !is_seen {
                continue;
            }
            self.packets += 1;
            let began = *self.began.get_or_insert(Time(packet.time_ns));
            if packet.up == self.up {
                self.draw_segment(&packet, began, &mut pen);
            } else {
                self.draw_answer(&packet, &mut pen);
            }
            if (packet.up == self.up) == (packet.event == PacketEvent::Send) {
                self.draw_credit(&packet, &mut pen);
            }
        }
        self.colour = pen.colour;
        Ok(())
    }

    /// Appends the end of the file to `out`.
    pub fn finish(&self, out: &mut String) {
        out.push_str("go\n");
    }

    /// Packets of the connection that have been drawn.
    #[must_use]
    pub const fn packets(&self) -> u64 {
        self.packets
    }

    fn draw_segment(&self, packet: &Sighting<'_>, began: Time, pen: &mut Pen<'_>) {
        let (time, segment) = (Time(packet.time_ns), &packet.segment);
        let is = |flag| segment.flags.contains(flag);
        let is_probe = self.has_window && self.newest.is_some_and(|newest| newest.edge == newest.ack);
        let again = packet.retransmission && !is_probe;
        if is_probe && segment.sequence_len() > 0 {
            pen.text(ENDS, "btext", time, segment.seq + u64::from(segment.len), "P");
        }
        if is(Flags::SYN) {
            if is(Flags::ACK) {
                // Where the connection began: plots of both directions begin at the same time.
                pen.mark(ACK, "dot", began, segment.seq);
            }
            draw_syn(segment, time, again, pen);
        } else if is(Flags::FIN) {
            draw_fin(segment, time, again, pen);
        } else {
            draw_data(segment, time, again, pen);
        }
        if is(Flags::RST) {
            pen.text(TEXT, "atext", time, segment.seq, "RST_OUT");
        }
    }

    /// Draws an answer: acknowledgement, window, SACK blocks.
    fn draw_answer(&mut self, packet: &Sighting<'_>, pen: &mut Pen<'_>) {
        let (time, segment) = (Time(packet.time_ns), &packet.segment);
        if segment.flags.contains(Flags::RST) {
            let ack = self.newest.map_or(0, |newest| newest.ack);
            let place = if segment.flags.contains(Flags::ACK) { segment.ack } else { ack };
            return pen.text(TEXT, "atext", time, place, "RST_IN");
        }
        if !segment.flags.contains(Flags::ACK) {
            return;
        }
        let new = Acknowledgement { time, ack: segment.ack, edge: segment.ack + packet.window_bytes };
        self.has_window |= packet.window_bytes > 0;
        if self.has_window && packet.window_bytes == 0 {
            pen.text(TEXT, "atext", time, new.edge, "Z");
        }
        if let Some(old) = self.newest {
            self.draw_stairs(old, new, segment.len == 0, pen);
        }
        draw_sack(packet, time, pen);
        self.newest = Some(new);
    }

    /// The next step of how far the credit of the sender, who has just sent the packet or got it, goes.
    fn draw_credit(&mut self, packet: &Sighting<'_>, pen: &mut Pen<'_>) {
        let time = Time(packet.time_ns);
        if let Some((from, old)) = self.credit {
            pen.line(CREDIT, (from, old), (time, old));
            if let Some(new) = packet.credit_limit.filter(|new| *new != old) {
                pen.line(CREDIT, (time, old), (time, new));
            }
        }
        self.credit = packet.credit_limit.map(|limit| (time, limit));
    }

    fn draw_stairs(&mut self, old: Acknowledgement, new: Acknowledgement, empty: bool, pen: &mut Pen<'_>) {
        pen.line(ACK, (old.time, old.ack), (new.time, old.ack));
        let is_repeated = old.ack == new.ack;
        self.repeated = if is_repeated && empty && old.edge == new.edge { self.repeated + 1 } else { 0 };
        if is_repeated {
            pen.mark(ACK, "dtick", new.time, new.ack);
        } else {
            pen.line(ACK, (new.time, old.ack), (new.time, new.ack));
        }
        if self.repeated == 3 {
            pen.text(ACK, "atext", new.time, new.ack, "3");
        }
        if !self.has_window {
            return;
        }
        pen.line(WINDOW, (old.time, old.edge), (new.time, old.edge));
        if old.edge == new.edge {
            pen.mark(WINDOW, "utick", new.time, new.edge);
        } else {
            pen.line(WINDOW, (new.time, old.edge), (new.time, new.edge));
        }
    }
}

fn draw_syn(segment: &Segment, time: Time, again: bool, pen: &mut Pen<'_>) {
    let (low, high) = (segment.seq, segment.seq + 1);
    let (colour, name) = if again { (AGAIN, "R SYN") } else { (ENDS, "SYN") };
    pen.mark(colour, "diamond", time, low);
    pen.text(colour, "atext", time, high, name);
    pen.mark(colour, "uarrow", time, high);
    pen.line(colour, (time, low), (time, high));
}

fn draw_fin(segment: &Segment, time: Time, again: bool, pen: &mut Pen<'_>) {
    let (low, high) = (segment.seq, segment.seq + u64::from(segment.len));
    let (colour, name) = if again { (AGAIN, "R FIN") } else { (ENDS, "FIN") };
    if segment.len > 0 {
        pen.mark(DATA, "darrow", time, low);
        pen.line(DATA, (time, low), (time, high));
    } else {
        pen.mark(colour, "darrow", time, high);
    }
    pen.line(colour, (time, high), (time, high + 1));
    pen.mark(colour, "box", time, high + 1);
    pen.text(colour, "atext", time, high + 1, name);
}

fn draw_data(segment: &Segment, time: Time, again: bool, pen: &mut Pen<'_>) {
    let (low, high) = (segment.seq, segment.seq + u64::from(segment.len));
    if segment.len == 0 {
        pen.mark(DATA, "darrow", time, low);
        pen.mark(DATA, "uarrow", time, low);
        return;
    }
    let colour = if again { AGAIN } else { DATA };
    if again {
        pen.text(colour, "atext", time, high, "R");
    }
    pen.mark(colour, "darrow", time, low);
    if segment.flags.contains(Flags::PSH) {
        pen.mark(DATA, "diamond", time, high);
        pen.mark(DATA, "dot", time, high);
    } else {
        pen.mark(colour, "uarrow", time, high);
    }
    pen.line(colour, (time, low), (time, high));
}

fn draw_sack(packet: &Sighting<'_>, time: Time, pen: &mut Pen<'_>) {
    let blocks = || packet.segment.sack_blocks();
    let several = blocks().nth(1).is_some();
    for (number, block) in blocks().enumerate() {
        pen.line(SACK, (time, block.start), (time, block.end));
        pen.mark(SACK, "htick", time, block.start);
        pen.mark(SACK, "htick", time, block.end);
        if several {
            pen.text(SACK, "rtext", time, block.end, &(number + 1).to_string());
        }
    }
    if let Some(top) = blocks().map(|block| block.end).max() {
        pen.text(SACK, "atext", time, top, "S");
    }
}

impl Pen<'_> {
    fn line(&mut self, colour: &'static str, from: (Time, u64), to: (Time, u64)) {
        self.write(colour, format_args!("line {} {} {} {}", from.0, from.1, to.0, to.1));
    }

    fn mark(&mut self, colour: &'static str, what: &str, time: Time, number: u64) {
        self.write(colour, format_args!("{what} {time} {number}"));
    }

    fn text(&mut self, colour: &'static str, place: &str, time: Time, number: u64, words: &str) {
        self.write(colour, format_args!("{place} {time} {number}\n{words}"));
    }

    fn write(&mut self, colour: &'static str, drawn: fmt::Arguments<'_>) {
        if colour != self.colour {
            let _ = writeln!(self.out, "{colour}"); // a string takes all
            self.colour = colour;
        }
        let _ = writeln!(self.out, "{drawn}");
    }
}
