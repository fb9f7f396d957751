//! Rules of a scenario that its shape does not say.

use super::cache;
use super::{
    Application, CapturePoint, Carrier, Clients, CopiesHosts, Family, HostOr, Http2, Http2End, Leg,
    LinkDirection, LoadScale, Loss, OpenRule, QueueCounts, QueueLimit, Scenario, Tcp, TcpEnd, Until,
    Workload,
};
use crate::http::credit::Window;
use crate::http::h2::endpoint::Role;
use crate::http::h2::settings::Settings;
use crate::http::tls::{Start, Version};
use crate::http::webmux::FIELD_MAX;
use crate::tcp::ProfileName;
use crate::tcp::segment::{BUFFER_BYTES_MIN, MSS_BYTES};
use crate::units::{Bytes, Duration};

/// Longest time that a program takes to wake. Chosen: as the longest delay.
const WAKE_MAX: Duration = DELAY_MAX;

/// Longest time that a client waits. Chosen: as the longest delay.
const WAIT_MAX: Duration = DELAY_MAX;

/// Most nodes of a path. Chosen: a packet carries the number of its destination in a byte.
const NODES_MAX: usize = 255;

/// Most data in a frame of HTTP/2 before a setting allows more (RFC 9113, section 6.5.2).
const FRAGMENT_MAX: u64 = 16_384;

/// Largest header block. Chosen: what fits one frame of it.
const BLOCK_MAX: u64 = 16_384;

/// Most bytes in a record of TLS (RFC 8446, section 5.1).
const RECORD_MAX: u64 = 16_384;

/// Largest flight of a handshake. Chosen: more than a chain of certificates ever has.
const FLIGHT_MAX: u64 = 1 << 20;

/// Longest propagation delay. Chosen: light takes less to Neptune and back, and sums of delays stay far below 584 years.
const DELAY_MAX: Duration = Duration::from_secs(24 * 3_600);

/// Latest start of a copy of the workload, in nanoseconds. Chosen: half of what time can hold, so that a run can end.
const COPIES_LAST: u128 = 1 << 63;

/// Every broken rule of `scenario`: the dotted key and what is wrong there.
pub(super) fn problems(scenario: &Scenario) -> Vec<(String, String)> {
    let mut check = Check { problems: Vec::new() };
    check.one_line("name", &scenario.name);
    check.path(scenario);
    check.legs(scenario);
    check.problems.extend(cache::problems(scenario));
    check.clients(scenario.clients);
    check.workload(scenario);
    check.run(scenario);
    check.record(scenario);
    check.problems
}

struct Check {
    problems: Vec<(String, String)>,
}

impl Check {
    fn report(&mut self, key: impl Into<String>, message: impl Into<String>) {
        self.problems.push((key.into(), message.into()));
    }

    /// Names stand in reports, tables and figures, a line each.
    fn one_line(&mut self, key: &str, name: &str) {
        if name.contains(char::is_control) {
            self.report(key, format!("found {name:?}; a name is one line without control characters"));
        }
    }

    fn clients(&mut self, clients: Clients) {
        if clients.give_up == Some(Duration::ZERO) {
            let message =
                "found 0 s; write a duration above zero, or leave the key out for clients that wait for ever";
            self.report("clients.give_up", message);
        }
        if let Some(wait) = clients.give_up.filter(|wait| *wait > WAIT_MAX) {
            self.report("clients.give_up", format!("found {wait}; it is at most 24 h"));
        }
    }

    fn path(&mut self, scenario: &Scenario) {
        let nodes = &scenario.path.nodes;
        if !(2..=NODES_MAX).contains(&nodes.len()) {
            let found = count(nodes.len(), "node");
            self.report("path.nodes", format!("found {found}; a path has 2 to {NODES_MAX} nodes"));
        }
        for (index, node) in nodes.iter().enumerate() {
            let key = format!("path.nodes.{index}");
            self.one_line(&key, node);
            if node.trim().is_empty() {
                self.report(key, "found an empty name; a node needs one");
            } else if nodes[..index].contains(node) {
                self.report(key, format!("{node:?} is there twice; each node needs a name of its own"));
            }
        }
        let (links, wanted) = (scenario.path.link.len(), nodes.len().saturating_sub(1));
        if links != wanted && nodes.len() >= 2 {
            let found = format!("found {} for {}", count(links, "link"), count(nodes.len(), "node"));
            self.report("path.link", format!("{found}; write {wanted}, one between each node and the next"));
        }
        for (index, link) in scenario.path.link.iter().enumerate() {
            self.direction(&format!("path.link.{index}.up"), &link.up);
            self.direction(&format!("path.link.{index}.down"), &link.down);
        }
    }

    fn direction(&mut self, key: &str, direction: &LinkDirection) {
        if direction.delay > DELAY_MAX {
            self.report(format!("{key}.delay"), format!("found {}; it is at most 24 h", direction.delay));
        }
        let is_zero =
            matches!(direction.queue, Some(QueueLimit::Bytes(Bytes::ZERO) | QueueLimit::Packets(0)));
        if is_zero && direction.queue_counts == QueueCounts::All {
            let why = "the limit counts the packet in transmission, so nothing would pass";
            self.report(format!("{key}.queue"), format!("found 0; {why}; leave the key out for no limit"));
        }
        self.loss(&format!("{key}.loss"), &direction.loss);
    }

    fn loss(&mut self, key: &str, loss: &Loss) {
        let mut probability = |name: &str, value: f64| {
            if !(0.0..=1.0).contains(&value) {
                self.report(format!("{key}.{name}"), format!("found {value}; a probability is 0 to 1"));
            }
        };
        match loss {
            Loss::None | Loss::List { .. } => {}
            Loss::Bernoulli { probability: value } => probability("probability", *value),
            Loss::GilbertElliott { good_to_bad, bad_to_good, loss_good, loss_bad } => {
                probability("good_to_bad", *good_to_bad);
                probability("bad_to_good", *bad_to_good);
                probability("loss_good", *loss_good);
                probability("loss_bad", *loss_bad);
            }
        }
    }

    fn legs(&mut self, scenario: &Scenario) {
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
            }
            self.tcp(&format!("leg.{index}.tcp"), &leg.tcp);
            self.transfer(&format!("leg.{index}"), leg);
            self.carrier(&format!("leg.{index}"), leg, scenario);
            self.application(&format!("leg.{index}.application"), leg);
            self.tls(&format!("leg.{index}"), leg);
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

    /// Legs follow one another from the first node to the last; `ends` are their places among the nodes.
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

    fn tcp(&mut self, key: &str, tcp: &Tcp) {
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

    /// One-way agents go with transfers, and nothing else does; their packets have one size, and their window is a constant.
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
                format!("the profile \"ns2-reno\" has no such thing; set {key}.tcp.{instead} instead");
            self.report(format!("{key}.tcp.{name}"), message);
        }
    }

    /// What a carrier needs of its place among the legs: a mux is between two proxies, a transfer alone, and only a connection
    /// for requests to one host can have that host's values.
    fn carrier(&mut self, key: &str, leg: &Leg, scenario: &Scenario) {
        let is_last = scenario.path.nodes.last() == Some(&leg.to);
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
                let message =
                    "found 0 s; write a duration above zero, or kind = \"http/1.0\" for a connection each";
                self.report(format!("{key}.carrier.idle_timeout"), message);
            }
            Carrier::Http2(ref http2) => self.http2(&format!("{key}.carrier"), http2, is_last),
            Carrier::Transfer {} if scenario.leg.len() > 1 => {
                let message =
                    "a transfer has no proxy to go on from; write one leg from the first node to the last";
                self.report(format!("{key}.carrier.kind"), message);
            }
            _ => {}
        }
        let uses = leg.carrier.connection_use();
        let belongs_to_no_host = uses.standing || (uses.reused && !is_last);
        if belongs_to_no_host {
            self.no_host_values(&format!("{key}.tcp"), &leg.tcp);
        }
    }

    fn webmux(&mut self, key: &str, values: [Bytes; 4]) {
        let names = ["credit", "write_buffer", "read_buffer", "fragment"];
        // A buffer holds the longest header; lengths have 18 bits, and credits end where those of HTTP/2 do.
        let least = [1, 8, 1, 1];
        let most = [Window::MAX, Window::MAX, Window::MAX, u64::from(FIELD_MAX)];
        for (((name, value), least), most) in names.iter().zip(values).zip(least).zip(most) {
            if !(least..=most).contains(&value.get()) {
                let message = format!("found {value}; it is {least} B to {most} B");
                self.report(format!("{key}.{name}"), message);
            }
        }
    }

    /// What the programs at the ends of a leg can be.
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

    fn http2(&mut self, key: &str, http2: &Http2, is_last: bool) {
        if http2.open_rule == OpenRule::Fixed && is_last {
            let why = "connections on the last leg are each to one host, and open when a request to it comes";
            self.report(
                format!("{key}.open_rule"),
                format!("found \"fixed\"; {why}: write \"at-session-limit\""),
            );
        }
        if http2.idle_timeout == Duration::ZERO {
            self.report(format!("{key}.idle_timeout"), "found 0 s; write a duration above zero");
        }
        let ends = [("", &http2.both), (".client", &http2.client), (".server", &http2.server)];
        for (name, end) in ends {
            self.http2_end(&format!("{key}{name}"), end);
        }
        self.growth(key, http2);
    }

    /// What the keys that let credits grow go with.
    fn growth(&mut self, key: &str, http2: &Http2) {
        let ends = [(Role::Client, &http2.client, ".client"), (Role::Server, &http2.server, ".server")];
        let ends = ends.map(|(role, own, name)| (http2.end(role), http2.config(role).credit, own, name));
        let all_grow = [
            (http2.both.credit_max, ends.iter().any(|(_, credit, ..)| credit.tuning.is_some()), ""),
            (http2.client.credit_max, ends[0].1.tuning.is_some(), ".client"),
            (http2.server.credit_max, ends[1].1.tuning.is_some(), ".server"),
        ];
        for (max, _, name) in all_grow.into_iter().filter(|(max, grows, _)| max.is_some() && !grows) {
            let message = format!(
                "found {}, and no credit grows; write tuning = \"bdp-grpc\", \"bdp-hyper\" or \"drain-eighth\" beside it, or \
                 leave it out",
                max.unwrap_or_default()
            );
            self.report(format!("{key}{name}.credit_max"), message);
        }
        let mut wrong = Vec::new();
        for (end, credit, own, name) in ends {
            let Some(growth) = credit.tuning else { continue };
            if let Some((raised, _)) = credit.raised {
                let message = format!(
                    "credits grow with the path, or are raised once, and this end raises that of a stream to {raised} B; write \
                     \"none\", or another preset"
                );
                let place = if own.tuning.is_some() || own.preset.is_some() { name } else { "" };
                wrong.push((format!("{key}{place}.tuning"), message));
            }
            if growth.max < credit.stream {
                let message = format!(
                    "a stream begins with {} B, and grows to {} B; write at least as much",
                    credit.stream, growth.max
                );
                let place = if own.credit_max.is_some() || end.credit_max.is_none() { name } else { "" };
                wrong.push((format!("{key}{place}.credit_max"), message));
            }
        }
        wrong.dedup();
        for (place, message) in wrong {
            self.report(place, message);
        }
    }

    fn http2_end(&mut self, key: &str, end: &Http2End) {
        let limits = [
            ("session_credit", end.session_credit, 0, Window::MAX),
            ("session_credit_raised", end.session_credit_raised, 0, Window::MAX),
            ("connection_credit", end.connection_credit, Settings::DEFAULT.initial_window, Window::MAX),
            ("credit_max", end.credit_max, 1, Window::MAX),
            ("fragment", end.fragment, 1, FRAGMENT_MAX),
            ("header_first", end.header_first, 1, BLOCK_MAX),
            ("header_repeat", end.header_repeat, 1, BLOCK_MAX),
        ];
        for (name, size, low, high) in limits {
            if let Some(size) = size.filter(|size| !(low..=high).contains(&size.get())) {
                self.report(format!("{key}.{name}"), format!("found {size}; it is {low} B to {high} B"));
            }
        }
    }

    fn tls(&mut self, key: &str, leg: &Leg) {
        let Some(tls) = &leg.tls else {
            return;
        };
        if leg.carrier == (Carrier::Transfer {}) {
            self.report(
                format!("{key}.tls"),
                "the carrier \"transfer\" has no connections; leave the table out",
            );
        }
        if (tls.version, tls.start) == (Version::V12, Start::EarlyData) {
            let message =
                "found \"0-rtt\" beside version = \"1.2\", which has no early data; write \"resumed\"";
            self.report(format!("{key}.tls.start"), message);
        }
        let sizes = [
            ("record", Some(tls.record), RECORD_MAX),
            ("small_record", tls.small_record, RECORD_MAX),
            ("client_hello", tls.client_hello, FLIGHT_MAX),
            ("server_flight", tls.server_flight, FLIGHT_MAX),
        ];
        for (name, size, high) in sizes {
            if let Some(size) = size.filter(|size| !(1..=high).contains(&size.get())) {
                self.report(format!("{key}.tls.{name}"), format!("found {size}; it is 1 B to {high} B"));
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

    fn mss(&mut self, key: &str, mss: Option<HostOr>) {
        if let Some(HostOr::Size(mss)) = mss
            && !u16::try_from(mss.get()).is_ok_and(|mss| MSS_BYTES.contains(&mss))
        {
            let (least, most) = MSS_BYTES.into_inner();
            self.report(key, format!("found {mss}; an MSS is {least} B to {most} B"));
        }
    }

    fn buffer(&mut self, key: &str, buffer: Option<HostOr>) {
        if let Some(HostOr::Size(buffer)) = buffer
            && buffer.get() < BUFFER_BYTES_MIN
        {
            self.report(key, format!("found {buffer}; a buffer is at least {BUFFER_BYTES_MIN} B"));
        }
    }

    fn workload(&mut self, scenario: &Scenario) {
        let workload = &scenario.workload;
        match (&workload.requests, workload.family) {
            (Some(_), Some(_)) => {
                let message =
                    "stands beside requests; write one of the two: a table, or a family that is generated";
                self.report("workload.family", message);
            }
            (None, None) => {
                let message = "missing, and there is no family; write for example requests = \"requests.csv\" or \
                               family = \"nzix\"";
                self.report("workload.requests", message);
            }
            (Some(requests), None) => self.tables(requests, workload),
            (None, Some(family)) => self.family(family, workload),
        }
        if workload.period == Some(Duration::ZERO) {
            self.report("workload.period", "found 0 s; write a time above zero, or leave the key out");
        }
        if workload.scale == LoadScale::Rate && workload.copies_hosts == CopiesHosts::Renamed {
            let message = "a rate has no copies; leave the key out, or write scale = \"copies\"";
            self.report("workload.copies_hosts", message);
        }
        let copies = workload.load().load;
        let last = u128::from(workload.copies_offset.as_nanos()) * u128::from(copies);
        if last >= COPIES_LAST {
            let message = format!("{copies} copies {} apart start over 292 years", workload.copies_offset);
            self.report("workload.copies_offset", message);
        }
        self.mss("workload.default_mss", Some(HostOr::Size(workload.default_mss)));
        self.buffer("workload.default_window", Some(HostOr::Size(workload.default_window)));
    }

    fn tables(&mut self, requests: &str, workload: &Workload) {
        if requests.trim().is_empty() {
            self.report("workload.requests", "found an empty name; write the file of the request table");
        }
        if workload.hosts.as_ref().is_some_and(|hosts| hosts.trim().is_empty()) {
            self.report(
                "workload.hosts",
                "found an empty name; write the file of the host table, or leave the key out",
            );
        }
        let set = [("days", workload.days.is_some()), ("parameters", !workload.parameters.is_empty())];
        for (key, _) in set.iter().filter(|(_, is_set)| *is_set) {
            let message = "belongs to a family, and there is none; leave the key out, or write family = \"nzix\" \
                           instead of requests";
            self.report(format!("workload.{key}"), message);
        }
    }

    fn family(&mut self, family: Family, workload: &Workload) {
        if workload.hosts.is_some() {
            self.report("workload.hosts", "a family has hosts of its own; leave the key out");
        }
        if workload.speed.is_some() {
            let message = "a family is as fast as it is; leave the key out, and write load for more of it";
            self.report("workload.speed", message);
        }
        if let Err(error) = workload.parameters.check(family) {
            self.report(format!("workload.parameters.{}", error.parameter), error.to_string());
        }
        if workload.days.is_some() && family != Family::Nzix {
            self.report("workload.days", "only traces of the family nzix have days; leave the key out");
        }
        if let (Some(found), Some(least)) = (workload.period, family.period())
            && found < least
            && found > Duration::ZERO
        {
            self.report(
                "workload.period",
                format!("found {found}; a trace of the family is {least} long: write {least} or more"),
            );
        }
    }

    fn run(&mut self, scenario: &Scenario) {
        if scenario.run.until == Until::Time(Duration::ZERO) {
            self.report("run.until", "found 0 s; write a duration above zero, or \"done\"");
        }
    }

    fn record(&mut self, scenario: &Scenario) {
        let record = &scenario.record;
        if record.links_every == Some(Duration::ZERO) {
            self.report(
                "record.links_every",
                "found 0 s; write an interval above zero, or leave the key out",
            );
        }
        if record.points.is_empty() {
            let message = "found an empty list; write where packets are seen, such as \"ends\" or \"link 0\"";
            self.report("record.points", message);
        }
        let links = scenario.path.link.len();
        for (index, point) in record.points.iter().enumerate() {
            if let CapturePoint::Link { link, .. } = point
                && *link as usize >= links
            {
                let there_are = match links {
                    1 => "the path has only link 0".to_owned(),
                    links => format!("the path has links 0 to {}", links.saturating_sub(1)),
                };
                self.report(
                    format!("record.points.{index}"),
                    format!("there is no link {link}; {there_are}"),
                );
            }
        }
    }
}

/// "1 node", "3 nodes".
fn count(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}
