//! Connections that a capture shows, from SYN to FIN: who answered, when, and with what window.

use std::net::{IpAddr, SocketAddr};

use rustc_hash::FxHashMap;

use super::headers::Header;
use super::report::ProbeReport;
use super::servers::{Answer, Servers};
use crate::tcp::segment::WINDOW_SCALE_MAX;

/// Silence that ends a connection. Chosen: four times 4.4BSD's wait for an answer to its SYN (75 s, `TCPTV_KEEP_INIT`).
const IDLE_NS: u64 = 300_000_000_000;

/// Longest time from a SYN to the same one, captured twice and not sent again. Chosen: no TCP sends a SYN
/// again so soon, and no switch takes as long to copy a packet.
const COPY_NS: u64 = 10_000_000;

/// A connection as an interface sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Key {
    interface: u32,
    client: SocketAddr,
    server: SocketAddr,
}

#[derive(Debug, Clone, Copy)]
struct Syn {
    time_ns: Option<u64>,
    seq: u32,
    scales: bool,
    /// True when it was sent again.
    again: bool,
}

#[derive(Debug, Clone, Copy)]
struct Connection {
    /// `None`: the capture began later.
    syn: Option<Syn>,
    answer: Option<Answer>,
    /// True when the client has acknowledged the answer.
    acknowledged: bool,
    last_ns: u64,
}

/// Connections that have not ended.
#[derive(Debug, Default)]
pub(super) struct Connections {
    open: FxHashMap<Key, Connection>,
    /// The latest time of any packet.
    now_ns: u64,
    swept_ns: u64,
}

impl Connections {
    /// A packet was seen.
    pub(super) fn on_packet(
        &mut self,
        interface: u32,
        time_ns: Option<u64>,
        header: &Header,
        servers: &mut Servers,
        report: &mut ProbeReport,
    ) {
        self.now_ns = self.now_ns.max(time_ns.unwrap_or(0));
        if self.now_ns - self.swept_ns > IDLE_NS {
            self.sweep(servers, report);
        }
        let up = Key { interface, client: header.from, server: header.to };
        let down = Key { interface, client: header.to, server: header.from };
        match (header.flags.syn, header.flags.ack) {
            _ if header.flags.rst => self.on_reset(up, down, servers, report),
            (true, false) => self.on_syn(up, time_ns, header, servers, report),
            (true, true) => self.on_answer(down, time_ns, header, report),
            (false, true) => self.on_segment(up, down, header, servers, report),
            (false, false) => {}
        }
    }

    /// The capture has ended, and so have its connections.
    pub(super) fn finish(&mut self, servers: &mut Servers, report: &mut ProbeReport) {
        for (key, connection) in self.open.drain() {
            settle(key.server.ip(), &connection, servers, report);
        }
        *self = Self::default();
    }

    fn on_syn(
        &mut self,
        key: Key,
        time_ns: Option<u64>,
        header: &Header,
        servers: &mut Servers,
        report: &mut ProbeReport,
    ) {
        let now_ns = self.now_ns;
        if let Some(Connection { syn: Some(syn), answer, last_ns, .. }) = self.open.get_mut(&key)
            && syn.seq == header.seq
        {
            *last_ns = now_ns;
            if answer.is_some() {
                return; // the answer to the first one was lost behind the capture, and its time is known
            }
            let is_copy =
                syn.time_ns.zip(time_ns).is_some_and(|(sent, now)| now.saturating_sub(sent) < COPY_NS);
            report.retransmitted += u64::from(!is_copy && !syn.again);
            syn.again |= !is_copy;
            return;
        }
        let syn = Syn { time_ns, seq: header.seq, scales: header.scale.is_some(), again: false };
        let new = Connection { syn: Some(syn), answer: None, acknowledged: false, last_ns: now_ns };
        report.connections += 1;
        if let Some(before) = self.open.insert(key, new) {
            settle(key.server.ip(), &before, servers, report);
        }
    }

    fn on_answer(&mut self, key: Key, time_ns: Option<u64>, header: &Header, report: &mut ProbeReport) {
        let now_ns = self.now_ns;
        let known = self.open.entry(key).or_insert_with(|| {
            report.connections += 1;
            Connection { syn: None, answer: None, acknowledged: false, last_ns: now_ns }
        });
        known.last_ns = now_ns;
        if known.answer.is_some() {
            return; // sent or captured once more
        }
        // It acknowledges the SYN, and with TCP Fast Open (RFC 7413) data that came with it.
        let fits = |syn: &Syn| (1..=1 << 16).contains(&header.ack.wrapping_sub(syn.seq));
        let syn = known.syn.filter(fits);
        let sent_ns = syn.filter(|syn| !syn.again).and_then(|syn| syn.time_ns);
        let rtt_ns = sent_ns.zip(time_ns).and_then(|(sent, now)| now.checked_sub(sent));
        let scales = known.syn.is_none_or(|syn| syn.scales);
        let answer = Answer {
            mss: header.mss,
            options_cut: !header.options_whole && header.mss.is_none(),
            shift: header.scale.filter(|_| scales).map(|shift| shift.min(WINDOW_SCALE_MAX)),
            window: u64::from(header.window),
            rtt_ns,
        };
        known.answer = Some(answer);
        report.answered += 1;
        report.without_syn += u64::from(known.syn.is_none());
        report.rtt_samples += u64::from(rtt_ns.is_some());
        report.options_cut += u64::from(answer.options_cut);
    }

    fn on_segment(
        &mut self,
        up: Key,
        down: Key,
        header: &Header,
        servers: &mut Servers,
        report: &mut ProbeReport,
    ) {
        if let Some(connection) = self.open.get_mut(&up) {
            connection.acknowledged = true;
            connection.last_ns = self.now_ns;
            return;
        }
        let Some(connection) = self.open.get_mut(&down) else { return };
        connection.last_ns = self.now_ns;
        // The field of a SYN is never scaled, so it cannot show a window of more than 64 KiB. Later ones can.
        if let Some(Answer { shift: Some(shift), window, .. }) = &mut connection.answer {
            *window = (*window).max(u64::from(header.window) << *shift);
        }
        if header.flags.fin {
            self.end(down, servers, report);
        }
    }

    fn on_reset(&mut self, up: Key, down: Key, servers: &mut Servers, report: &mut ProbeReport) {
        if self.open.get(&down).is_some_and(|connection| connection.answer.is_none()) {
            self.open.remove(&down);
            report.refused += 1;
            servers.of(down.server.ip()).refused += 1;
            return;
        }
        let key = if self.open.contains_key(&down) { down } else { up };
        self.end(key, servers, report);
    }

    fn end(&mut self, key: Key, servers: &mut Servers, report: &mut ProbeReport) {
        if let Some(connection) = self.open.remove(&key) {
            settle(key.server.ip(), &connection, servers, report);
        }
    }

    /// Ends long silent connections: memory holds open ones only.
    fn sweep(&mut self, servers: &mut Servers, report: &mut ProbeReport) {
        self.swept_ns = self.now_ns;
        let now_ns = self.now_ns;
        self.open.retain(|key, connection| {
            let stays = now_ns - connection.last_ns <= IDLE_NS;
            if !stays {
                settle(key.server.ip(), connection, servers, report);
            }
            stays
        });
    }
}

/// Records the facts of a finished connection.
fn settle(server: IpAddr, connection: &Connection, servers: &mut Servers, report: &mut ProbeReport) {
    match &connection.answer {
        Some(answer) => {
            report.half_open += u64::from(!connection.acknowledged);
            servers.of(server).take(answer, connection.acknowledged);
        }
        None => {
            report.unanswered += 1;
            servers.of(server).unanswered += 1;
        }
    }
}
