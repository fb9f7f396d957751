//! What a recording shows of its network: round trips, server times, shared connections, and the rate of its line.

use std::collections::BTreeMap;

use super::har::median;
use super::sent::{Protocol, Sent, at_least_0};

/// A span below is none, or measured where the network is not. Chosen.
const SOME_MS: f64 = 0.5;

/// Round trip to a host that shows none, where no other does either. Chosen.
const USUAL_MS: f64 = 20.0;

/// More streams open at once, and the wait holds other streams' bodies. Chosen.
const STREAMS: usize = 6;

const WINDOW_MS: f64 = 200.0;

/// Round trip to each host in ms: the least of its handshakes and waits, or else the median of other hosts.
pub(super) fn round_trips(sent: &[Sent]) -> Vec<(String, f64)> {
    let mut seen: Vec<(&str, Option<f64>)> = Vec::new();
    for each in sent {
        let handshake = if each.protocol == Protocol::H3 { each.tls_ms } else { each.tcp_ms };
        let wait = if each.is_pushed { 0.0 } else { each.wait_ms() };
        let least = [handshake, wait].into_iter().filter(|span| *span > SOME_MS).reduce(f64::min);
        match seen.iter_mut().find(|(host, _)| *host == each.host) {
            Some((_, before)) => *before = [*before, least].into_iter().flatten().reduce(f64::min),
            None => seen.push((&each.host, least)),
        }
    }
    let usual = median(seen.iter().filter_map(|(_, rtt)| *rtt)).unwrap_or(USUAL_MS);
    seen.into_iter().map(|(host, rtt)| (host.to_owned(), rtt.unwrap_or(usual))).collect()
}

/// The wait of each for the first byte beyond a round trip, in ms.
///
/// Where many streams shared the connection it is the lower quartile of the host.
pub(super) fn server_times(sent: &[Sent], rtt_ms: &[(String, f64)]) -> Vec<f64> {
    if let Some(stated) = sent.iter().map(|each| Some(each.stated.as_ref()?.server_ms)).collect() {
        return stated;
    }
    let rtt_ms: BTreeMap<_, _> = rtt_ms.iter().map(|(host, rtt)| (host.as_str(), *rtt)).collect();
    let raw: Vec<f64> =
        sent.iter().map(|each| at_least_0(each.wait_ms() - rtt_ms[each.host.as_str()])).collect();
    let mut by_host: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (place, each) in sent.iter().enumerate() {
        by_host.entry(&each.host).or_default().push(place);
    }
    let mut found = raw.clone();
    for places in by_host.values() {
        let sorted = |value: &dyn Fn(usize) -> f64| {
            let mut values: Vec<f64> = places.iter().map(|place| value(*place)).collect();
            values.sort_by(f64::total_cmp);
            values
        };
        let usual = sorted(&|place| raw[place])[places.len() / 4];
        let (sends, ends) = (sorted(&|place| sent[place].send_ms), sorted(&|place| sent[place].end_ms));
        for place in places {
            let each = &sent[*place];
            let upto = |times: &[f64]| times.partition_point(|time| *time <= each.send_ms);
            if each.protocol != Protocol::H1 && upto(&sends) > upto(&ends) + STREAMS {
                found[*place] = usual;
            }
        }
    }
    found
}

/// For each request the host that shares a connection with its own: the first on the recorded connection.
pub(super) fn origins(sent: &[Sent]) -> Vec<String> {
    let mut first: BTreeMap<&str, &str> = BTreeMap::new();
    let mut origin: BTreeMap<&str, &str> = BTreeMap::new();
    for each in sent.iter().filter(|each| each.protocol != Protocol::H1 && !each.connection.is_empty()) {
        let own = origin.get(each.host.as_str()).copied().unwrap_or(&each.host);
        let leader = *first.entry(&each.connection).or_insert(own);
        origin.entry(&each.host).or_insert(leader);
    }
    sent.iter().map(|each| origin.get(each.host.as_str()).copied().unwrap_or(&each.host).to_owned()).collect()
}

/// Bits a second in the busiest fifth of a second, each response spread over its transfer.
pub(super) fn busiest_bps(sent: &[Sent]) -> f64 {
    let of =
        |each: &Sent| (each.first_ms, each.end_ms.max(each.first_ms + 1.0), 8.0 * each.response_bytes as f64);
    let transfers: Vec<_> = sent.iter().map(of).collect();
    let bits_from = |from: f64| {
        let share = |(begin, end, bits): &(f64, f64, f64)| {
            bits * (at_least_0(end.min(from + WINDOW_MS) - begin.max(from)) / (end - begin))
        };
        transfers.iter().map(share).sum::<f64>()
    };
    let most = transfers.iter().map(|(begin, ..)| bits_from(*begin)).fold(0.0, f64::max);
    most / (WINDOW_MS / 1000.0)
}
