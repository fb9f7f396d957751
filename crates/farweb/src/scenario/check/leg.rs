//! Rules of legs: their order along the path, and what carrier, TCP, programs and TLS of a leg allow each other.

use serde::Serialize;

use super::{Check, DELAY_MAX};
use crate::http::Release;
use crate::http::credit::Window;
use crate::http::tls::parts::MESSAGE_MAX;
use crate::http::tls::{SmallRecord, Start, Version};
use crate::http::webmux::FIELD_MAX;
use crate::scenario::tls::TICKET_LIFETIME_MAX;
use crate::scenario::{Application, Carrier, HostOr, Leg, Scenario, Tcp, TcpEnd, Tls};
use crate::tcp::ProfileName;
use crate::tcp::segment::{BUFFER_BYTES_MIN, MSS_BYTES};
use crate::units::{Bytes, Duration};

/// Longest time that a program takes to wake. Chosen: as the longest delay.
const WAKE_MAX: Duration = DELAY_MAX;

/// Most bytes in a record of TLS (RFC 8446, section 5.1).
const RECORD_MAX: u64 = 16_384;

/// Largest flight of a handshake. Chosen: more than a chain of certificates ever has.
const FLIGHT_MAX: u64 = 1 << 20;

impl Check {
    pub(super) fn legs(&mut self, scenario: &Scenario) {
        let nodes = &scenario.path.nodes;
        if scenario.leg.is_empty() {
            self.report("leg", "there is none; write one [[leg]] from the first node to the last");
        }
        let mut ends = Vec::new();
        for (index, leg) in scenario.leg.iter().enumerate() {
            let from = self.end(&format!("leg.{index}.from"), &leg.from, nodes);
            let to = self.end(&format!("leg.{index}.to"), &leg.to, nodes);
            if let (Some(from), Some(to)) = (from, to) {
                ends.push((index, from, to));
                self.splits(&format!("leg.{index}"), leg, (from, to), scenario);
            }
            self.tcp(&format!("leg.{index}.tcp"), &leg.tcp);
            self.transfer(&format!("leg.{index}"), leg);
            self.carrier(&format!("leg.{index}"), leg, scenario);
            self.application(&format!("leg.{index}.application"), leg);
            if let Some(tls) = &leg.tls {
                self.no_transfer(&format!("leg.{index}.tls"), leg);
                self.tls(&format!("leg.{index}.tls"), tls);
            }
        }
        if ends.len() == scenario.leg.len() && nodes.len() >= 2 {
            self.chain(&ends, nodes);
        }
    }

    fn end(&mut self, key: &str, name: &str, nodes: &[String]) -> Option<usize> {
        let found = nodes.iter().position(|node| node == name);
        if found.is_none() {
            self.report(key, format!("{name:?} is not a node; the nodes are {}", nodes.join(", ")));
        }
        found
    }

    /// Legs follow one another from the first node to the last. `ends` are their places among the nodes.
    fn chain(&mut self, ends: &[(usize, usize, usize)], nodes: &[String]) {
        let mut reached = 0;
        for &(index, from, to) in ends {
            if from >= to {
                let message = format!(
                    "goes from {} to {}; a leg goes towards the servers, in the order of path.nodes",
                    nodes[from], nodes[to]
                );
                return self.report(format!("leg.{index}"), message);
            }
            if from != reached {
                let what = if from > reached { "a gap" } else { "an overlap" };
                let wanted = &nodes[reached];
                let message =
                    format!("starts at {}, which leaves {what}; it must start at {wanted}", nodes[from]);
                return self.report(format!("leg.{index}.from"), message);
            }
            reached = to;
        }
        let last = nodes.len() - 1;
        if reached != last && !ends.is_empty() {
            let index = ends.len() - 1;
            let message = format!("the last leg ends at {}; it must end at {}", nodes[reached], nodes[last]);
            self.report(format!("leg.{index}.to"), message);
        }
    }

    pub(super) fn tcp(&mut self, key: &str, tcp: &Tcp) {
        if let Err(error) = tcp.profile().check() {
            self.report(format!("{key}.constants.{}", error.constant), error.to_string());
        }
        self.mss(&format!("{key}.mss"), Some(tcp.mss));
        self.buffer(&format!("{key}.buffer"), tcp.buffer);
        for (name, end) in [("from", tcp.from), ("to", tcp.to)] {
            if let Some(end) = end {
                self.mss(&format!("{key}.{name}.mss"), end.mss);
                self.buffer(&format!("{key}.{name}.buffer"), end.buffer);
            }
        }
    }

    /// Checks one-way agents: transfers need them, and no other carrier has them. Their packets have one
    /// size, and their window is a constant.
    fn transfer(&mut self, key: &str, leg: &Leg) {
        let (is_transfer, is_one_way) =
            (leg.carrier == Carrier::Transfer {}, leg.tcp.profile == ProfileName::Ns2Reno);
        if is_transfer && !is_one_way {
            let why = "the carrier \"transfer\" has no connections";
            self.report(format!("{key}.tcp.profile"), format!("{why}; write profile = \"ns2-reno\""));
        }
        if is_one_way && !is_transfer {
            let why = "the profile \"ns2-reno\" has no connections";
            self.report(format!("{key}.carrier.kind"), format!("{why}; write kind = \"transfer\""));
        }
        if !is_one_way {
            return;
        }
        let Tcp { mss, buffer, from, to, .. } = &leg.tcp;
        let set = [
            ("mss", *mss != Tcp::default().mss, "constants.packet_size"),
            ("buffer", buffer.is_some(), "constants.window"),
            ("from", from.is_some(), "constants"),
            ("to", to.is_some(), "constants"),
        ];
        for (name, _, instead) in set.iter().filter(|(_, is_set, _)| *is_set) {
            let message =
                format!("the profile \"ns2-reno\" does not have this key; set {key}.tcp.{instead} instead");
            self.report(format!("{key}.tcp.{name}"), message);
        }
    }

    /// Checks the place of a carrier among the legs: a mux is between two proxies, a transfer alone, and only a connection
    /// for requests to one host can have that host's values.
    fn carrier(&mut self, key: &str, leg: &Leg, scenario: &Scenario) {
        let is_last = scenario.path.nodes.last() == Some(&leg.to);
        let is_alone = matches!(leg.carrier, Carrier::Http10 { .. } | Carrier::Http11 { .. });
        let alone = match scenario.origin.release {
            Release::ClosedLoop => Some("closed-loop"),
            Release::Regulated => Some("regulated"),
            _ => None,
        };
        if let Some(found) = alone.filter(|_| is_last && !is_alone) {
            self.report(
                "origin.release",
                format!(
                    "found \"{found}\", for which a response has its connection to itself; give {key} \
                     carrier.kind = \"http/1.0\" or \"http/1.1\", or write \"paced\""
                ),
            );
        }
        if is_last && leg.tls.is_some() && scenario.origin.release == Release::Regulated {
            let message = "found \"regulated\", whose rate is of plain bytes; leave the leg's tls out, or write \"paced\"";
            self.report("origin.release", message);
        }
        match leg.carrier {
            Carrier::Mux { .. } if is_last => {
                let message = format!(
                    "a mux ends at a proxy, and {} is where the origin servers are; end this leg at a node before it, and \
                     write another leg from there",
                    leg.to
                );
                self.report(format!("{key}.carrier.kind"), message);
            }
            Carrier::WebMux { credit, write_buffer, read_buffer, fragment, .. } => {
                self.webmux(&format!("{key}.carrier"), [credit, write_buffer, read_buffer, fragment]);
            }
            Carrier::Http11 { idle_timeout: Duration::ZERO, .. } => {
                let message = "found 0 s; write a duration above zero, or kind = \"http/1.0\" for a connection per request";
                self.report(format!("{key}.carrier.idle_timeout"), message);
            }
            Carrier::Http2(ref http2) => self.http2(&format!("{key}.carrier"), http2, is_last),
            Carrier::Transfer {} if scenario.leg.len() > 1 => {
                let message =
                    "a transfer cannot go on from a proxy; write one leg from the first node to the last";
                self.report(format!("{key}.carrier.kind"), message);
            }
            _ => {}
        }
        let uses = leg.carrier.connection_use();
        let belongs_to_no_host = uses.standing || (uses.reused && !is_last);
        if belongs_to_no_host {
            self.no_host_values(&format!("{key}.tcp"), &leg.tcp);
            for (index, split) in leg.split.iter().enumerate() {
                split
                    .tcp
                    .iter()
                    .for_each(|tcp| self.no_host_values(&format!("{key}.split.{index}.tcp"), tcp));
            }
        }
    }

    fn webmux(&mut self, key: &str, values: [Bytes; 4]) {
        let names = ["credit", "write_buffer", "read_buffer", "fragment"];
        // A buffer holds the longest header. Lengths have 18 bits, and credits end where HTTP/2's do.
        let least = [1, 8, 1, 1];
        let most = [Window::MAX, Window::MAX, Window::MAX, u64::from(FIELD_MAX)];
        for (((name, value), least), most) in names.iter().zip(values).zip(least).zip(most) {
            if !(least..=most).contains(&value.get()) {
                let message = format!("found {value}; it is {least} B to {most} B");
                self.report(format!("{key}.{name}"), message);
            }
        }
    }

    /// Checks the programs at the ends of a leg.
    fn application(&mut self, key: &str, leg: &Leg) {
        let Application { wake, write, head } = leg.application;
        if matches!(leg.carrier, Carrier::Http2(_)) {
            let keys = [("write", write), ("head", Some(head).filter(|head| *head > Bytes::ZERO))];
            for (name, found) in keys.into_iter().filter_map(|(name, found)| Some((name, found?))) {
                let message = format!(
                    "found {found}; HTTP/2 writes frames as its preset says: leave the key out, or write \
                     carrier.server.fragment for smaller ones"
                );
                self.report(format!("{key}.{name}"), message);
            }
        }
        if leg.carrier == (Carrier::Transfer {}) && leg.application != Application::default() {
            let message = "a transfer has no programs at its ends; leave the table out";
            self.report(key, message);
        }
        if wake > WAKE_MAX {
            self.report(format!("{key}.wake"), format!("found {wake}; it is at most {WAKE_MAX}"));
        }
        if write == Some(Bytes::ZERO) {
            self.report(format!("{key}.write"), "found 0 B; write at least 1 B, or leave it out");
        }
    }

    /// Checks the parts of handshakes: what TLS 1.2 has no place for, and what their fields can hold.
    fn handshake_parts(&mut self, key: &str, tls: &Tls) {
        let Some(parts) = tls.parts() else { return };
        if tls.version == Version::V12 {
            let newer = [
                (
                    "key_exchange",
                    parts.key_exchange.is_post_quantum(),
                    word(&parts.key_exchange),
                    "has no ML-KEM; write \"x25519\"",
                ),
                (
                    "certificates",
                    parts.certificates.is_post_quantum(),
                    word(&parts.certificates),
                    "has no post-quantum signatures; write \"ecdsa-p256\"",
                ),
                (
                    "compression",
                    parts.compression.is_some(),
                    word(&parts.compression),
                    "compresses no certificates (RFC 8879); leave it out",
                ),
                (
                    "suppress_intermediates",
                    parts.suppress_intermediates,
                    word(&true),
                    "has no flags; leave it out",
                ),
            ];
            for (name, _, found, why) in newer.iter().filter(|(_, is_newer, _, _)| *is_newer) {
                let message =
                    format!("found {found} beside version = \"1.2\", which {why}, or version = \"1.3\"");
                self.report(format!("{key}.{name}"), message);
            }
        }
        if !parts.certificates.has_chain() {
            let of_a_chain = [
                ("intermediates", parts.intermediates > 0, word(&parts.intermediates)),
                ("scts", parts.scts > 0, word(&parts.scts)),
                ("ocsp", parts.ocsp, word(&true)),
            ];
            for (name, _, found) in of_a_chain.iter().filter(|(_, is_there, _)| *is_there) {
                let message = format!(
                    "found {found} beside certificates = \"merkle-tree\", which the landmark of its tree vouches for alone; leave it out"
                );
                self.report(format!("{key}.{name}"), message);
            }
        }
        if let Some(ratio) = parts.compression.filter(|ratio| !(*ratio > 0.0 && *ratio <= 1.0)) {
            let message = format!("found {ratio}; a share of the plain message is above 0, at most 1");
            self.report(format!("{key}.compression"), message);
        }
        let message = parts.certificate_message(tls.version);
        if message > MESSAGE_MAX {
            self.report(
                format!("{key}.intermediates"),
                format!(
                    "found {}, a Certificate message of {message} B; its length has 24 bits: at most {MESSAGE_MAX} B",
                    parts.intermediates
                ),
            );
        }
    }

    /// Checks TLS inside tunnels: it has flights, and nothing else that a path could see.
    pub(super) fn tunnels(&mut self, scenario: &Scenario) {
        let Some(tls) = &scenario.clients.tunnels.tls else { return };
        let key = "clients.tunnels.tls";
        scenario.leg.iter().for_each(|leg| self.no_transfer(key, leg));
        self.tls(key, tls);
        let usual = Tls::default();
        let of_connections = [
            ("ticket_lifetime", tls.ticket_lifetime != usual.ticket_lifetime),
            ("record", tls.record != usual.record),
            ("small_record", tls.small_record.is_some()),
            ("small_until", tls.small_until != usual.small_until),
        ];
        for (name, _) in of_connections.iter().filter(|(_, is_set)| *is_set) {
            let message =
                "proxies pass a tunnel on byte by byte, with the same handshake in each; leave the key out";
            self.report(format!("{key}.{name}"), message);
        }
    }

    fn no_transfer(&mut self, key: &str, leg: &Leg) {
        if leg.carrier == (Carrier::Transfer {}) {
            self.report(key, "the carrier \"transfer\" has no connections; leave the table out");
        }
    }

    fn tls(&mut self, key: &str, tls: &Tls) {
        if (tls.version, tls.start) == (Version::V12, Start::EarlyData) {
            let message =
                "found \"0-rtt\" beside version = \"1.2\", which has no early data; write \"resumed\"";
            self.report(format!("{key}.start"), message);
        }
        self.handshake_parts(key, tls);
        if tls.ticket_lifetime > TICKET_LIFETIME_MAX {
            let message = format!("found {}; it is at most 7 days (168 h)", tls.ticket_lifetime);
            self.report(format!("{key}.ticket_lifetime"), message);
        }
        let sizes = [
            ("record", Some(tls.record), RECORD_MAX),
            ("small_record", tls.small_record.and_then(SmallRecord::size), RECORD_MAX),
            ("client_hello", tls.client_hello, FLIGHT_MAX),
            ("server_flight", tls.server_flight, FLIGHT_MAX),
        ];
        for (name, size, high) in sizes {
            if let Some(size) = size.filter(|size| !(1..=high).contains(&size.get())) {
                self.report(format!("{key}.{name}"), format!("found {size}; it is 1 B to {high} B"));
            }
        }
    }

    fn no_host_values(&mut self, key: &str, tcp: &Tcp) {
        let of = |end: Option<TcpEnd>| end.map_or((None, None), |end| (end.mss, end.buffer));
        let (from, to) = (of(tcp.from), of(tcp.to));
        let values = [
            ("mss", Some(tcp.mss)),
            ("buffer", tcp.buffer),
            ("from.mss", from.0),
            ("from.buffer", from.1),
            ("to.mss", to.0),
            ("to.buffer", to.1),
        ];
        for (name, _) in values.iter().filter(|(_, value)| *value == Some(HostOr::Host)) {
            let message = "found \"host\"; a connection between two proxies belongs to no host: write a size";
            self.report(format!("{key}.{name}"), message);
        }
    }

    pub(super) fn mss(&mut self, key: &str, mss: Option<HostOr>) {
        if let Some(HostOr::Size(mss)) = mss
            && !u16::try_from(mss.get()).is_ok_and(|mss| MSS_BYTES.contains(&mss))
        {
            let (least, most) = MSS_BYTES.into_inner();
            self.report(key, format!("found {mss}; an MSS is {least} B to {most} B"));
        }
    }

    pub(super) fn buffer(&mut self, key: &str, buffer: Option<HostOr>) {
        if let Some(HostOr::Size(buffer)) = buffer
            && buffer.get() < BUFFER_BYTES_MIN
        {
            self.report(key, format!("found {buffer}; a buffer is at least {BUFFER_BYTES_MIN} B"));
        }
    }
}

/// A value as a scenario writes it.
fn word(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("a word or a number")
}
