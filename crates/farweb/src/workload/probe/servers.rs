//! Servers over all their connections, and the rows of the host table that they make.
//!
//! A host that was seen several times has the MSS that it advertised most often (of equally many the largest), its largest
//! window, and its least round-trip time: queues only add to that. Its other values are counted.

use std::net::IpAddr;

use rustc_hash::FxHashMap;
use serde::Serialize;

use crate::tcp::segment::{BUFFER_BYTES_MIN, MSS_BYTES};

/// Values that a server showed in a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Answer {
    /// MSS that its SYN|ACK advertised.
    pub(super) mss: Option<u16>,
    /// True when an option beyond the captured bytes may have advertised one.
    pub(super) options_cut: bool,
    /// Shift of its windows, when both ends scale.
    pub(super) shift: Option<u8>,
    /// Largest window advertised so far, in bytes, or the SYN|ACK's without scaling.
    pub(super) window: u64,
    /// Time from the SYN to the SYN|ACK.
    pub(super) rtt_ns: Option<u64>,
}

/// A server, over all its connections.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Server {
    /// Number of times that it advertised each MSS, by first appearance. `None` is no MSS.
    mss: Vec<(Option<u16>, u64)>,
    /// Answers with options cut before an MSS.
    options_cut: u64,
    /// Smallest window of a connection, and the largest with its shift.
    window_min: Option<u64>,
    window_max: Option<(u64, Option<u8>)>,
    rtt_ns: Option<u64>,
    rtt_samples: u64,
    connections: u64,
    half_open: u64,
    pub(super) refused: u64,
    pub(super) unanswered: u64,
}

impl Server {
    /// A connection has ended.
    pub(super) fn take(&mut self, answer: &Answer, acknowledged: bool) {
        self.connections += 1;
        self.half_open += u64::from(!acknowledged);
        if answer.options_cut {
            self.options_cut += 1;
        } else {
            self.vote(answer.mss.filter(|mss| MSS_BYTES.contains(mss)), 1);
        }
        self.window_min = Some(self.window_min.map_or(answer.window, |least| least.min(answer.window)));
        self.window_max = self.window_max.max(Some((answer.window, answer.shift)));
        self.take_rtt(answer.rtt_ns, u64::from(answer.rtt_ns.is_some()));
    }

    /// Adds what another address of the same host has shown.
    fn add(&mut self, other: &Self) {
        for (mss, times) in &other.mss {
            self.vote(*mss, *times);
        }
        self.options_cut += other.options_cut;
        self.window_min = self.window_min.into_iter().chain(other.window_min).min();
        self.window_max = self.window_max.max(other.window_max);
        self.take_rtt(other.rtt_ns, other.rtt_samples);
        self.connections += other.connections;
        self.half_open += other.half_open;
        self.refused += other.refused;
        self.unanswered += other.unanswered;
    }

    fn vote(&mut self, mss: Option<u16>, times: u64) {
        match self.mss.iter_mut().find(|(known, _)| *known == mss) {
            Some((_, so_far)) => *so_far += times,
            None => self.mss.push((mss, times)),
        }
    }

    fn take_rtt(&mut self, rtt_ns: Option<u64>, samples: u64) {
        self.rtt_ns = self.rtt_ns.into_iter().chain(rtt_ns).min();
        self.rtt_samples += samples;
    }

    fn row(&self, host: String, addresses: Vec<IpAddr>) -> ProbedHost {
        let advertised = self.mss.iter().filter_map(|(mss, times)| mss.map(|mss| (*times, mss)));
        let mss_bytes = advertised.max().map(|(_, mss)| mss);
        let window = self.window_max.filter(|(window, _)| *window >= BUFFER_BYTES_MIN);
        ProbedHost {
            host,
            addresses,
            window_bytes: window.map(|(window, _)| window),
            mss_bytes,
            rtt_ns: self.rtt_ns,
            window_scale: window.and_then(|(_, shift)| shift),
            silent: mss_bytes.is_none() && self.connections > 0 && self.options_cut == 0,
            mss_differs: self.mss.len() > 1,
            window_differs: self.window_min != self.window_max.map(|(window, _)| window),
            connections: self.connections,
            rtt_samples: self.rtt_samples,
            half_open: self.half_open,
            refused: self.refused,
            unanswered: self.unanswered,
        }
    }
}

/// A host as captures show it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ProbedHost {
    /// Its name where one was given for its address, else the address.
    pub host: String,
    /// Its addresses.
    pub addresses: Vec<IpAddr>,
    /// Largest window that it advertised, in bytes.
    pub window_bytes: Option<u64>,
    /// MSS that it advertised most often.
    pub mss_bytes: Option<u16>,
    /// Least time from a SYN to its SYN|ACK.
    pub rtt_ns: Option<u64>,
    /// Shift of its windows in the connection with the largest one. `None`: they were not scaled.
    pub window_scale: Option<u8>,
    /// True when it never advertised an MSS.
    pub silent: bool,
    /// True when it advertised another MSS, or none, at other times.
    pub mss_differs: bool,
    /// True when the window was smaller in another connection.
    pub window_differs: bool,
    /// Connections that it answered.
    pub connections: u64,
    /// Number of them that gave a round-trip time.
    pub rtt_samples: u64,
    /// Answered ones that the client never acknowledged.
    pub half_open: u64,
    /// Connections that it, or something on the way, answered with a reset.
    pub refused: u64,
    /// Connections that nothing answered.
    pub unanswered: u64,
}

/// All servers.
#[derive(Debug, Default)]
pub(super) struct Servers {
    servers: Vec<(IpAddr, Server)>,
    by_address: FxHashMap<IpAddr, usize>,
}

impl Servers {
    /// The server at an address.
    pub(super) fn of(&mut self, address: IpAddr) -> &mut Server {
        let Self { servers, by_address } = self;
        let place = *by_address.entry(address).or_insert_with(|| {
            servers.push((address, Server::default()));
            servers.len() - 1
        });
        &mut servers[place].1
    }

    /// The hosts, by name: an address may have several, each a host of its own, and a name several addresses. Addresses
    /// without a name follow as hosts of their own, unless `only_named`.
    pub(super) fn hosts(&self, names: &[(IpAddr, String)], only_named: bool) -> Vec<ProbedHost> {
        let mut named: Vec<(&str, IpAddr)> =
            names.iter().map(|(address, name)| (&**name, *address)).collect();
        named.sort_unstable();
        named.dedup();
        let mut hosts = Vec::new();
        for same in named.chunk_by(|a, b| a.0 == b.0) {
            let seen: Vec<IpAddr> = same
                .iter()
                .map(|(_, address)| *address)
                .filter(|a| self.by_address.contains_key(a))
                .collect();
            let mut all = Server::default();
            for address in &seen {
                all.add(&self.servers[self.by_address[address]].1);
            }
            if !seen.is_empty() {
                hosts.push(all.row(same[0].0.to_owned(), seen));
            }
        }
        if !only_named {
            let mut known: Vec<IpAddr> = named.iter().map(|(_, address)| *address).collect();
            known.sort_unstable();
            let unnamed = |server: &&(IpAddr, Server)| known.binary_search(&server.0).is_err();
            let mut others: Vec<&(IpAddr, Server)> = self.servers.iter().filter(unnamed).collect();
            others.sort_unstable_by_key(|(address, _)| *address);
            hosts.extend(
                others.iter().map(|(address, server)| server.row(address.to_string(), vec![*address])),
            );
        }
        hosts
    }
}
