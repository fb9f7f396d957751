//! Building of a world: the keys of a scenario become numbers of nodes, rules and sizes.

use crate::client::Clients;
use crate::conn::{CONNECT_BYTES, Connections, Event, Hosts, Leg, LegConfig, OPEN_BYTES, Split, Stretch};
use crate::context::Context;
use crate::http::h2::endpoint::Role;
use crate::http::http11::Limits;
use crate::http::webmux;
use crate::node::Node;
use crate::observe::Observer;
use crate::pool::{AssignStream, Bundle, Each, OpenRule, Pool, Reuse, Rules, Shared, Transfer};
use crate::rng::RandomStreams;
use crate::scenario::{self, Carrier, ClientShare, Scenario, SplitBy, SplitOpen};
use crate::session::{self, Application, ProtocolConfig};
use crate::tcp::Output;
use crate::units::Instant;
use crate::workload::Directory;

use super::network::Network;
use super::{Progress, Upcoming, World};

impl World {
    /// Builds what `scenario` describes, with the hosts that `directory` knows so far.
    ///
    /// The same scenario, seed and requests give the same rows in any process.
    #[must_use]
    pub fn new(scenario: &Scenario, seed: u64, directory: Directory) -> Self {
        let streams = RandomStreams::new(seed);
        let legs = scenario.leg.iter().map(|keys| Leg::new(leg(scenario, keys))).collect();
        let pools =
            scenario.leg.iter().enumerate().map(|(index, keys)| pool(scenario, index, keys)).collect();
        let nodes = Node::all(scenario, &streams);
        let hosts = Hosts::new(streams, (nodes.len() - 1) as u8);
        let tunnels = scenario.clients.tunnels.handshake();
        let context = Context::new(legs, hosts, directory, Observer::new(scenario), tunnels);
        let mut network = Network::new(scenario, &streams, nodes, pools, context);
        network.context.queue.push(Instant::ZERO, Event::Begin);
        if let Some(interval) = network.context.observer.interval() {
            network.context.queue.push(Instant::ZERO + interval, Event::IntervalEnds);
        }
        Self {
            connections: Connections::new(),
            network,
            upcoming: Upcoming::Unread,
            until: scenario.run.until,
            clients: Clients::new(scenario.clients.give_up),
            progress: Progress::default(),
            output: Output::default(),
        }
    }
}

/// Number of a node.
fn node(scenario: &Scenario, name: &str) -> u8 {
    let place = scenario.path.nodes.iter().position(|node| node == name);
    place.expect("a checked scenario names nodes of its path") as u8
}

fn leg(scenario: &Scenario, keys: &scenario::Leg) -> LegConfig {
    let nodes @ [near, far] = [&keys.from, &keys.to].map(|name| node(scenario, name));
    let ends_at_servers = scenario.path.nodes.last() == Some(&keys.to);
    let is_inside = |cache: &scenario::Cache| (near + 1..far).contains(&node(scenario, &cache.node));
    let stretch =
        |tcp: &scenario::Tcp| Stretch { profile: tcp.profile(), sizes: tcp.sizes(&scenario.workload) };
    LegConfig {
        nodes,
        tells_clients_apart: near == 0 && scenario.clients.share == ClientShare::Each,
        ends_at_servers,
        has_bare_tunnels: ends_at_servers && scenario.clients.tunnels.tls.is_some(),
        has_caches: scenario.cache.iter().any(is_inside),
        application: application(keys),
        stretches: keys.stretches().map(stretch).collect(),
        splits: splits(scenario, keys),
        framing: match keys.carrier {
            Carrier::Mux { overhead, .. } => Some(overhead),
            _ => None,
        },
        sessions: sessions(keys),
    }
}

fn application(leg: &scenario::Leg) -> Application {
    let keys = &leg.application;
    Application { wake: keys.wake, chunk: keys.write.map(|bytes| bytes.get()), head: keys.head.get() }
}

fn splits(scenario: &Scenario, leg: &scenario::Leg) -> Vec<Split> {
    let behind = |index: usize| leg.split.get(index + 1).map_or(&leg.to, |next| &next.at);
    let stands = |index: usize| leg.split[index].open == SplitOpen::Ready;
    let split = |(index, split): (usize, &scenario::Split)| {
        let [near, far] = [&split.at, behind(index)].map(|name| node(scenario, name));
        let links = &scenario.path.link[near.into()..far.into()];
        Split {
            node: near,
            request: match split.by {
                SplitBy::Connect => CONNECT_BYTES,
                SplitBy::Syn if index > 0 && stands(index - 1) => OPEN_BYTES,
                SplitBy::Syn => 0,
            },
            answers: split.by == SplitBy::Connect,
            standing: stands(index).then(|| links.iter().map(|link| link.up.delay + link.down.delay).sum()),
        }
    };
    leg.split.iter().enumerate().map(split).collect()
}

fn sessions(leg: &scenario::Leg) -> session::Config {
    let protocol = match &leg.carrier {
        Carrier::Http2(keys) => {
            let end = |role| http2_end(keys, role, leg.tls.is_some());
            ProtocolConfig::Http2(Box::new([Role::Client, Role::Server].map(end)))
        }
        Carrier::WebMux { credit, write_buffer, read_buffer, fragment, layout } => {
            let Application { chunk, head, .. } = application(leg);
            let sender = webmux::Config {
                layout: *layout,
                credit: credit.get(),
                write_buffer: write_buffer.get(),
                fragment: fragment.get(),
                chunk,
                head,
            };
            ProtocolConfig::WebMux(session::webmux::Config { sender, read_buffer: read_buffer.get() })
        }
        _ => ProtocolConfig::Plain,
    };
    let tls = leg.tls.as_ref().map(|tls| (tls.settings(), tls.start, tls.ticket_lifetime));
    session::Config { protocol, tls }
}

fn http2_end(keys: &scenario::Http2, role: Role, has_tls: bool) -> session::http2::End {
    let preset = keys.preset(role);
    session::http2::End {
        endpoint: keys.config(role),
        role,
        nodelay: keys.is_nodelay(role, has_tls),
        speaks_first: role == Role::Server && preset.speaks_first(has_tls),
        heads_apart: preset.writes_heads_apart(role),
        text: match role {
            Role::Client => keys.request_text.get(),
            Role::Server => keys.response_text.get(),
        },
    }
}

/// Pool of leg number `index`.
fn pool(scenario: &Scenario, index: usize, leg: &scenario::Leg) -> Pool {
    match &leg.carrier {
        Carrier::Http10 { closed_by } => Pool::Each(Each::new(index, *closed_by)),
        Carrier::Http11 { idle_timeout, closed_by, per_host, total, per_connection } => {
            let limits = Limits { per_host: *per_host, total: *total };
            Pool::Reuse(Reuse::new(index, *idle_timeout, *closed_by, limits, *per_connection))
        }
        Carrier::Mux { connections, assign, ties, .. } => {
            Pool::Bundle(Bundle::new(index, *connections, *assign, *ties))
        }
        Carrier::Http2(keys) => {
            let rules = Rules {
                connections: keys.connections,
                open: keys.open_rule,
                assign: keys.assign,
                idle_timeout: (keys.open_rule != OpenRule::Fixed).then_some(keys.idle_timeout),
                repeats: true,
            };
            Pool::Shared(Shared::new(index, rules))
        }
        Carrier::WebMux { .. } => {
            let rules = Rules {
                connections: 1,
                open: OpenRule::AtSessionLimit,
                assign: AssignStream::FirstWithRoom,
                idle_timeout: None,
                repeats: false,
            };
            Pool::Shared(Shared::new(index, rules))
        }
        Carrier::Transfer {} => {
            let first = node(scenario, &leg.from);
            let servers = &scenario.path.nodes[usize::from(first) + 1..=node(scenario, &leg.to).into()];
            Pool::Transfer(Transfer::new(index, first, servers.to_vec()))
        }
    }
}
