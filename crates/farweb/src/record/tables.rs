//! The tables of a results folder.

use super::columns::{
    BLOCK, Column, Dictionary, Ranges, column, column_type, nullable, store, stored_type, table, value_type,
};
use crate::schema::{ColumnSpec, ColumnType, NULL_CODE, NULL_ID, NULL_INT, TableSpec};
use crate::tcp::Codepoint;

/// The tables of a results folder, in the order of usual reading.
pub const TABLES: [TableSpec; 8] = [REQUESTS, CONNECTIONS, EXCHANGES, LINKS, LEGS, CACHES, PACKETS, FRAMES];

const DIRECTIONS: Dictionary = Dictionary::Fixed(&["up", "down"]);

/// Outcome of a request, by its number in the column `status`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// The whole response arrived.
    Done,
    /// It failed before that.
    Failed,
    /// The run ended before the client knew either.
    Unfinished,
}

/// Place of a request in the visit of its client, by the numbers of the column `visit_request`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VisitRequest {
    /// It begins the visit.
    First,
    /// Another one of the same visit came before it.
    Later,
}

/// Why a request has no whole response, by its number in the column `failure`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Failure {
    /// A reset answered the SYN or the SYN-ACK of its connection.
    Refused,
    /// Nothing answered the SYN or the SYN-ACK, however often that was sent again.
    HandshakeTimedOut,
    /// A reset came on its established connection.
    Reset,
    /// The end that sends the response gave the connection up, or closed it before the response was whole.
    ServerGaveUp,
    /// The client ended it, or the client's end of the connection gave that up.
    ClientGaveUp,
    /// It was lost on a leg behind a proxy.
    ProxyLost,
    /// The run ended first, or nothing was left to happen that would have ended it.
    RunEnded,
}

impl Failure {
    /// Its names, in the order of its numbers.
    pub const NAMES: [&str; 7] = [
        "refused",
        "handshake timed out",
        "reset",
        "server gave up",
        "client gave up",
        "proxy lost",
        "run ended",
    ];
}

/// Event of a packet, by its number in the column `event`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PacketEvent {
    /// An endpoint sent it.
    Send,
    /// An endpoint received it.
    Receive,
    /// A link dropped it.
    Drop,
    /// It passed the tap of a link.
    Pass,
}

/// The protocol of a frame, by its number in the column `protocol`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameProtocol {
    /// HTTP/2.
    Http2,
    /// W3C MUX in the layout of 1996.
    Mux1996,
    /// W3C MUX in the layout of 1998.
    Mux1998,
}

impl FrameProtocol {
    /// Its names, in the order of its numbers.
    pub const NAMES: [&str; 3] = ["http/2", "webmux 1996", "webmux 1998"];

    /// All of them, in the order of their numbers.
    pub const ALL: [Self; 3] = [Self::Http2, Self::Mux1996, Self::Mux1998];
}

/// Kind of a frame, by its number in the column `kind`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are those of RFC 9113, section 6, and of W3C MUX")]
pub enum FrameKind {
    Settings,
    SettingsAck,
    WindowUpdate,
    Headers,
    Data,
    RstStream,
    GoAway,
    Ping,
    PingAck,
    Syn,
    Fragment,
    Fin,
    Rst,
    AddCredit,
}

impl FrameKind {
    /// Its names, in the order of its numbers.
    pub const NAMES: [&str; 14] = [
        "SETTINGS",
        "SETTINGS ACK",
        "WINDOW_UPDATE",
        "HEADERS",
        "DATA",
        "RST_STREAM",
        "GOAWAY",
        "PING",
        "PING ACK",
        "SYN",
        "FRAGMENT",
        "FIN",
        "RST",
        "AddCredit",
    ];

    /// All of them, in the order of their numbers.
    pub const ALL: [Self; 14] = [
        Self::Settings,
        Self::SettingsAck,
        Self::WindowUpdate,
        Self::Headers,
        Self::Data,
        Self::RstStream,
        Self::GoAway,
        Self::Ping,
        Self::PingAck,
        Self::Syn,
        Self::Fragment,
        Self::Fin,
        Self::Rst,
        Self::AddCredit,
    ];
}

table! {
    REQUESTS "requests" "One row a request, in the order in which they ended (last byte acknowledged, or failed)."
    RequestRow RequestColumns {
        request: [int] "" "Number of the request, from 0, by start time.",
        client: [id?] "" "Who asks, from the request table's `client`: the number there, or the 64-bit FNV-1a hash of the text; null where the table does not say.",
        visit_request: [word? Dictionary::Fixed(&["first", "later"])] "" "`first`: the client had asked nothing for 30 minutes, or ever; `later`: one more of the same visit; null where the table does not say who asks.",
        host: [word Dictionary::Hosts] "" "Key of the origin server.",
        object: [id?] "" "Id of the object that it asks for, from the request table's `object`: the number there, or the 64-bit FNV-1a hash of the text; null where the table names none.",
        source: [word? Dictionary::Sources] "" "Node that serves it according to the request table; null where the table does not say.",
        tag: [word? Dictionary::Tags] "" "The request table's tag; `sample` marks requests measured in every run.",
        status: [word Dictionary::Fixed(&["done", "failed", "unfinished"])] "" "`done`: the whole response arrived; `failed`: it will not; `unfinished`: the run ended before the client knew either.",
        start_ns: [int] "ns" "Time at which the first node got the request, since the start of the run, as are all times.",
        connect_ns: [int?] "ns" "Time at which its connection was established at the first node.",
        first_byte_ns: [int?] "ns" "Time at which the first byte of the response was there for the first node to read.",
        end_ns: [int?] "ns" "Time at which the last byte of the response was there for the first node to read; `end_ns - start_ns` is the latency.",
        acked_ns: [int?] "ns" "Time at which the sender of the response had the last byte acknowledged.",
        request_bytes: [int] "B" "Size of the request, headers included.",
        response_bytes: [int] "B" "Size of the response that the request table asks for, headers included.",
        served_bytes: [int?] "B" "Size of the response that serves it, headers included: another than `response_bytes` where a cache had, or was fetching, another version of the object; null before the node that serves it, for a delayed hit the one that serves the fetch, had the request.",
        connection: [int?] "" "Number of the connection of the first leg that carried the response, or the request when no response came; null when none carried it.",
        retransmits: [int] "" "Retransmissions, by either end of that connection, while it carried the request.",
        timeouts: [int] "" "Retransmission timeouts, at either end of that connection, while it carried the request.",
        served_by: [word? Dictionary::Nodes] "" "Node that served the response, known from the time its first byte was there to be sent: the cache or server that holds it, or for a delayed hit the cache with the fetch under way; null when no response began. A request that its client gave up is still served where it was on its way.",
        failure: [word? Dictionary::Fixed(&Failure::NAMES)] "" "Reason why there is no whole response, as far as anything in the run knew; null with the status `done`. `refused`: a reset answered the SYN or the SYN-ACK; `handshake timed out`: nothing answered the SYN or the SYN-ACK, however often it was sent again; `reset`: a reset came on the established connection; `server gave up`: the end that sends the response, a server or a proxy, had no answer to what it sent again or to its probes, or closed before the response was whole; `client gave up`: the client ended the request after `clients.give_up`, or its end of the connection had no answer to what it sent again or to its probes; `proxy lost`: one of these happened on a leg behind a proxy, which passed it on; `run ended`: the end of the run came first, or nothing was left to happen.",
        failed_ns: [int?] "ns" "Time at which the first end of a connection, or the client itself, noticed the failure; for `run ended` the end of the run; null with the status `done`. A client that does not learn of a failure goes on waiting.",
    }
}

table! {
    CONNECTIONS "connections" "One row a connection, in the order in which they closed and their last packet left the path."
    ConnectionRow ConnectionColumns {
        connection: [int] "" "Number of the connection, from 0, by opening time.",
        leg: [int] "" "Leg that it belongs to, from 0.",
        client: [id?] "" "The client that it belongs to; null where clients share connections.",
        host: [word? Dictionary::Hosts] "" "Key of the origin server that it is for; null where it belongs to no host, between two proxies.",
        handshake: [word? Dictionary::Fixed(&["full", "resumed", "0-rtt"])] "" "Handshake of TLS with which it began; null without TLS.",
        open_ns: [int] "ns" "Time at which its first SYN was sent, since the start of the run.",
        close_ns: [int?] "ns" "Time at which both ends were closed or in TIME_WAIT, since the start of the run.",
        bytes_up: [int] "B" "IP bytes sent towards the servers, headers and retransmissions included.",
        bytes_down: [int] "B" "IP bytes sent towards the clients, headers and retransmissions included.",
        segments_up: [int] "" "Segments sent towards the servers.",
        segments_down: [int] "" "Segments sent towards the clients.",
        retransmits: [int] "" "Retransmissions, by either end.",
        timeouts: [int] "" "Retransmission timeouts, at either end.",
        ece_cuts: [int] "" "Times that an end reduced its window because routers had marked packets (ECN), at most once a window.",
        requests: [int] "" "Requests that it carried: the request, the response, or both.",
        requests_max: [int] "" "Most requests on it at once.",
        busy_ns: [int] "ns" "Time with at least one request on it.",
        held_cwnd_ns: [int?] "ns" "Time in which the sender of responses had bytes to send and its congestion window held them. The columns `held_*_ns` add up to the time from `open_ns` to `close_ns`, or to the end of the run; null without `record.exchanges`.",
        held_pacing_ns: [int?] "ns" "Time in which pacing held bytes of the sender, with room in its congestion window.",
        held_window_ns: [int?] "ns" "Time in which the peer's window held bytes of the sender.",
        held_buffer_ns: [int?] "ns" "Time in which the sender's own send buffer held bytes: it was full and contained no whole segment.",
        held_nagle_ns: [int?] "ns" "Time in which a rule against small segments (Nagle's) held bytes of the sender.",
        held_recovery_ns: [int?] "ns" "Time in which the recovery from a loss held bytes of the sender, with room in all windows.",
        held_handshake_ns: [int?] "ns" "Time in which bytes of the sender waited because the connection was not established.",
        held_credit_ns: [int?] "ns" "Time in which the credit of the carrier held bytes of the sender, after all that it allowed was sent.",
        held_application_ns: [int?] "ns" "Time in which the sender waited for its program: a response was asked for, and all that was there of it had been sent.",
        held_nothing_ns: [int?] "ns" "Time in which the sender had nothing to send.",
        relay_held_cwnd_ns: [int?] "ns" "Time in which the congestion window of a split held what it had to send towards the clients, the sum of all splits; null where the leg is not split, or without `record.exchanges`.",
        bbr_startup_ns: [int?] "ns" "Time that the server's BBR was in STARTUP, up to its last event; null with another congestion control.",
        bbr_drain_ns: [int?] "ns" "Time in DRAIN, likewise.",
        bbr_probe_bw_ns: [int?] "ns" "Time in PROBE_BW, likewise.",
        bbr_probe_rtt_ns: [int?] "ns" "Time in PROBE_RTT, likewise.",
        bbr_min_rtt_ns: [int?] "ns" "Shortest round trip of the server's BBR at the end; null with another congestion control.",
        bbr_rate_bps: [int?] "bit/s" "Rate of the path by the server's BBR at the end, in payload; null with another congestion control.",
        tls_cwnd_ns: [int?] "ns" "Part of `held_cwnd_ns` before requests might go, in which flights of the TLS handshake waited for the server's window; null without TLS, or without `record.exchanges`.",
    }
}

table! {
    EXCHANGES "exchanges" "One row a request and leg, in the order in which they ended there."
    ExchangeRow ExchangeColumns {
        request: [int] "" "Number of the request.",
        leg: [int] "" "Leg, from 0 at the clients.",
        connection_up: [int?] "" "Number of the connection that carried the request; null when none did.",
        connection_down: [int?] "" "Number of the connection that carried the response; null when none did.",
        cache_answer: [word? Dictionary::Fixed(&["hit", "delayed hit", "revalidated", "miss", "bypass"])] "" "Answer of the cache that was asked last on this leg, at its server end or inside it. `delayed hit`: a fetch was under way; `revalidated`: a stale copy that a conditional request found unchanged; `bypass`: a miss whose response is of a size that the cache does not keep; null where none was asked.",
        resent: [int] "" "Times that the request was sent again, because the reused connection that it was on was closed or lost.",
        start_ns: [int] "ns" "Time at which the request was there to be sent at the leg's client end, since the start of the run, as are all times.",
        connect_ns: [int?] "ns" "Time at which it had an established connection there; equal to `start_ns` when one was free.",
        tunnel_ready_ns: [int?] "ns" "Time at which the client end of a tunnel had the handshake of TLS inside it; `requested_ns`, `ready_first_ns` and `first_byte_ns` are then of what follows. Null without `clients.tunnels.tls`.",
        requested_ns: [int?] "ns" "Time at which the whole request was at the leg's server end.",
        ready_first_ns: [int?] "ns" "Time at which the first byte of the response was there to be sent at the server end.",
        ready_last_ns: [int?] "ns" "Time at which the last byte of the response was there to be sent at the server end.",
        sent_last_ns: [int?] "ns" "Time at which the last byte of the response was sent for the first time.",
        relayed_last_ns: [int?] "ns" "Time at which the split nearest to the clients sent it for the first time; null where the leg is not split.",
        pace_ns: [int?] "ns" "Time from `sent_last_ns` in which the server's own pace held the last byte below TCP (`origin.release = \"regulated\"`); else 0.",
        cwnd_ns: [int?] "ns" "Time from `ready_first_ns` to `sent_last_ns` in which the sender had bytes to send and its congestion window held them.",
        pacing_ns: [int?] "ns" "Time from `ready_first_ns` to `sent_last_ns` in which pacing held bytes, with room in the congestion window.",
        window_ns: [int?] "ns" "Time from `ready_first_ns` to `sent_last_ns` in which the peer's window or the sender's own buffer held bytes.",
        buffer_ns: [int?] "ns" "Part of `window_ns` in which the sender's own buffer held them.",
        nagle_ns: [int?] "ns" "Time from `ready_first_ns` to `sent_last_ns` in which a rule against small segments (Nagle's) held bytes.",
        recovery_ns: [int?] "ns" "Time from `ready_first_ns` to `sent_last_ns` in which the recovery from a loss held bytes, with room in all windows.",
        handshake_ns: [int?] "ns" "Time from `ready_first_ns` to `sent_last_ns` in which the connection was not established.",
        credit_ns: [int?] "ns" "Time from `ready_first_ns` to `sent_last_ns` in which the credit of the carrier held bytes, after all that it allowed was sent.",
        application_ns: [int?] "ns" "Time from `ready_first_ns` to `sent_last_ns` in which the sender waited for its program to hand over more. With `cwnd_ns`, `pacing_ns`, `window_ns`, `nagle_ns`, `recovery_ns`, `handshake_ns` and `credit_ns` it adds up to all of that time.",
        first_byte_ns: [int?] "ns" "Time at which the first byte of the response was read at the client end.",
        end_ns: [int?] "ns" "Time at which the last byte of the response was read at the client end.",
    }
}

table! {
    LINKS "links" "One row a link, direction and interval, by time, then link, then direction."
    LinkRow LinkColumns {
        link: [int] "" "Link, from 0 at the clients.",
        direction: [word DIRECTIONS] "" "`up`: towards the servers; `down`: towards the clients.",
        time_ns: [int] "ns" "End of the interval, since the start of the run.",
        interval_ns: [int] "ns" "Length of the interval.",
        bytes: [int] "B" "IP bytes whose transmission ended in the interval.",
        packets: [int] "" "Packets whose transmission ended in the interval.",
        drops: [int] "" "Packets dropped, by a full queue, active queue management or the loss process.",
        drops_full: [int] "" "Packets dropped for a full queue.",
        drops_aqm: [int] "" "Packets dropped by active queue management.",
        drops_loss: [int] "" "Packets lost by the loss process.",
        marks: [int] "" "Packets marked by ECN, by the queue or the loss process: congestion experienced.",
        queue_bytes_mean: [float] "B" "Time-weighted mean of the bytes in the queue, the packet in transmission included.",
        queue_bytes_max: [int] "B" "Most bytes in the queue, the packet in transmission included.",
        busy: [float] "1" "Share of the interval in which the link was transmitting, 0 to 1.",
        available_bytes: [int?] "B" "Bytes that the rate in force could have carried in the interval; null where it is unlimited, and behind a million changes.",
        rate_bps_mean: [float?] "bit/s" "Time-weighted mean of the rate in force; null as above.",
        sojourn_mean_s: [float?] "s" "Mean time that packets waited whose transmission began in the interval, up to that begin; null without record.sojourn, at an unlimited rate, and where there are none.",
        sojourn_p50_s: [float?] "s" "Median of these times, to 1 %; null likewise.",
        sojourn_p95_s: [float?] "s" "Their 95th percentile.",
        sojourn_p99_s: [float?] "s" "Their 99th percentile.",
        sojourn_max_s: [float?] "s" "The longest of them, exactly.",
        granted_bytes: [int?] "B" "Bytes granted in the frames that began in the interval; null without `dama`.",
        granted_unused_bytes: [int?] "B" "Of these, bytes that nothing was there for; null likewise.",
    }
}

table! {
    LEGS "legs" "One row a leg and interval, by time, then leg. A connection is open from its first SYN until both ends are closed or in TIME_WAIT, and busy while a request is on it."
    LegRow LegColumns {
        leg: [int] "" "Leg, from 0 at the clients.",
        time_ns: [int] "ns" "End of the interval, since the start of the run.",
        interval_ns: [int] "ns" "Length of the interval.",
        open_mean: [float] "" "Time-weighted mean of the open connections.",
        open_max: [int] "" "Most connections open at once.",
        busy_mean: [float] "" "Time-weighted mean of the busy connections.",
        busy_max: [int] "" "Most connections busy at once.",
        requests_mean: [float] "" "Time-weighted mean of the requests on the leg, including those that wait for a connection.",
        requests_max: [int] "" "Most requests on the leg at once.",
        connection_requests_max: [int] "" "Most requests on one connection at once.",
    }
}

table! {
    CACHES "caches" "One row a cache and interval, by time, then place on the path; one row a cache for the whole run where no interval is set. A request that was neither a hit nor a delayed hit nor a bypass is a miss."
    CacheRow CacheColumns {
        node: [word Dictionary::Nodes] "" "Node that the cache is at.",
        time_ns: [int] "ns" "End of the interval, since the start of the run.",
        interval_ns: [int] "ns" "Length of the interval.",
        requests: [int] "" "Requests that came to the cache.",
        hits: [int] "" "Requests served from its contents, delayed hits not included.",
        delayed_hits: [int] "" "Requests that waited for a fetch that was under way.",
        bypasses: [int] "" "Requests whose responses are of a size that the cache does not keep, by its capacity or admission.",
        revalidations: [int] "" "Hits on stale copies that a conditional request found unchanged; they count when the answer is back.",
        request_bytes: [int] "B" "Bytes of the responses asked for, headers included.",
        hit_bytes: [int] "B" "Bytes of the responses of hits, headers included.",
        delayed_hit_bytes: [int] "B" "Bytes of the responses of delayed hits, headers included.",
        objects: [int] "" "Objects held at the end of the interval; 0 where hits are drawn or listed.",
        bytes: [int] "B" "Bytes held at the end of the interval; 0 where hits are drawn or listed.",
    }
}

table! {
    PACKETS "packets" "One row for each time that a packet was sent, received, dropped or seen on a link, in order of time."
    PacketRow PacketColumns {
        time_ns: [int] "ns" "Time of the event, since the start of the run.",
        connection: [int] "" "Number of the connection.",
        leg: [int] "" "Leg of the connection, from 0.",
        stretch: [int] "" "Stretch of the leg between its ends and splits, from 0 at the clients; 0 where it is not split.",
        host: [word? Dictionary::Hosts] "" "Key of the origin server; null where the connection belongs to no host.",
        node: [word Dictionary::Nodes] "" "Node of the event: of the endpoint that sent or received the packet, before the link that dropped it, or on the clients' side of the link that it passed.",
        link: [int?] "" "Link that dropped it, or on which it was seen; null where an endpoint sent or received it.",
        event: [word Dictionary::Fixed(&["send", "receive", "drop", "pass"])] "" "Event: an endpoint sent or received the packet, a link dropped it, or it passed the tap of a link.",
        direction: [word DIRECTIONS] "" "Direction of the packet: `up` towards the servers, `down` towards the clients.",
        packet: [int] "" "Number of the packet among those that its sender sent on the connection, from 0: the same wherever the packet is seen.",
        seq: [int] "" "Sequence number: 0 is the SYN, 1 the first byte.",
        ack: [int] "" "Next sequence number expected; 0 without the flag ACK.",
        payload_bytes: [int] "B" "Bytes of payload.",
        window_bytes: [int] "B" "Advertised window, scaled.",
        window_field: [int] "" "Window field of the header, not scaled.",
        flags: [word Dictionary::Flags] "" "Flags as tcpdump writes them: S SYN, F FIN, R RST, P PSH, . ACK, E ECE, W CWR.",
        ecn: [word Dictionary::Fixed(&Codepoint::NAMES)] "" "ECN in the IP header: `Not-ECT`: its sender takes no marks; `ECT(0)`: it does; `CE`: a router has marked it.",
        retransmission: [bool] "" "True when any of its sequence numbers had been sent before.",
        mss_bytes: [int?] "B" "Option: largest segment that the sender of a SYN accepts; null without it.",
        window_scale: [int?] "" "Option: shift of the sender's window field, in a SYN; null without it.",
        sack_permitted: [bool] "" "Option: whether the sender of a SYN understands SACK.",
        sack: [ranges] "" "Option: SACK blocks in the order of the header, each from its first sequence number to the one after its last; empty without it.",
        timestamp: [int?] "" "Option: clock of the sender, in its ticks; null without timestamps.",
        timestamp_echo: [int?] "" "Option: clock of the other side as it is echoed, in its ticks; null without timestamps.",
        cwnd_bytes: [int?] "B" "Congestion window of the endpoint after the event; null on links.",
        ssthresh_bytes: [int?] "B" "Slow-start threshold of the endpoint after the event; null on links.",
        credit_limit: [int?] "" "Sequence number up to which the endpoint's application may fill its stream with the credit of all messages that it sends, before it reads what the event brings; bytes in the stream count with their framing, further ones without. Null on links, and where no credit limits a message.",
        left_ns: [int?] "ns" "Time at which its last bit left the transmitter of the link; null but on rows of a link's tap, as the next one.",
        arrived_ns: [int?] "ns" "Time at which it arrives at the far end of that link.",
    }
}

table! {
    FRAMES "frames" "One row a frame of HTTP/2 or W3C MUX that an end put into its stream, in order of time; only for connections without TLS whose packets were recorded from the first one on."
    FrameRow FrameColumns {
        time_ns: [int] "ns" "Time at which the frame entered the stream, since the start of the run; it is sent later.",
        connection: [int] "" "Number of the connection.",
        leg: [int] "" "Leg of the connection, from 0.",
        direction: [word DIRECTIONS] "" "Direction of the frame: `up` towards the servers, `down` towards the clients.",
        seq: [int] "" "Sequence number of its first byte, as in the table of packets.",
        protocol: [word Dictionary::Fixed(&FrameProtocol::NAMES)] "" "Protocol of the frame; for W3C MUX with the layout.",
        kind: [word Dictionary::Fixed(&FrameKind::NAMES)] "" "Type of the frame, by its name in RFC 9113; for W3C MUX by its flag, FRAGMENT for payload, AddCredit for a grant (SendCredit in 1996).",
        stream: [int?] "" "Number of its stream or session; null where it concerns the connection.",
        request: [int?] "" "Number of the request on that stream; null where there is none.",
        framing_bytes: [int] "B" "Bytes of the frame without its data; for a client's first SETTINGS the preface included.",
        data_bytes: [int] "B" "Bytes of data.",
        ends: [bool] "" "True when the message ends with it.",
        credit_bytes: [int?] "B" "Credit that a WINDOW_UPDATE or an AddCredit grants, or that SETTINGS give each stream; null for other frames.",
        frame_bytes_max: [int?] "B" "Largest payload of a frame that SETTINGS allow; null for other frames.",
        streams_max: [int?] "" "Streams that SETTINGS let the other end have open; null where they do not say.",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_becomes_a_value_in_every_column() {
        let mut columns = LinkColumns::default();
        let row = LinkRow {
            link: 1,
            direction: 0,
            time_ns: 5,
            interval_ns: 5,
            bytes: 1500,
            packets: 1,
            drops: 0,
            drops_full: 0,
            drops_aqm: 0,
            drops_loss: 0,
            marks: 0,
            queue_bytes_mean: 2.5,
            queue_bytes_max: 3000,
            busy: 0.5,
            available_bytes: None,
            rate_bps_mean: None,
            sojourn_mean_s: None,
            sojourn_p50_s: None,
            sojourn_p95_s: None,
            sojourn_p99_s: None,
            sojourn_max_s: None,
            granted_bytes: None,
            granted_unused_bytes: None,
        };
        let times = 0..=BLOCK as i64; // more than wait for the columns
        times.clone().for_each(|time_ns| columns.push(LinkRow { time_ns, ..row }));
        let taken = columns.take();
        assert!(columns.take().iter().all(|(_, column)| column.is_empty()));
        let names: Vec<_> = taken.iter().map(|(name, _)| *name).collect();
        let declared: Vec<_> = LINKS.columns.iter().map(|column| column.name).collect();
        assert_eq!(names, declared);
        assert_eq!(taken[1].1, Column::Word(vec![0; BLOCK + 1], DIRECTIONS));
        assert_eq!(taken[2].1, Column::Int(times.collect()));
        assert_eq!(taken[11].1, Column::Float(vec![2.5; BLOCK + 1]));
    }
}
