//! Building of a world: the keys of a scenario become numbers of nodes, rules and sizes.

use crate::cache;
use crate::client::Clients;
use crate::conn::{
    CONNECT_BYTES, Connections, Event, Hosts, Leg, LegConfig, OPEN_BYTES, PacketPath, Split, Stretch,
};
use crate::context::Context;
use crate::http::h2::endpoint::Role;
use crate::http::http11::Limits;
use crate::http::webmux;
use crate::net::Direction;
use crate::node::{Contents, Hits, Node, Origin, Proxy};
use crate::observe::{self, Observer};
use crate::pool::{AssignStream, Bundle, Each, OpenRule, Pool, Reuse, Rules, Shared, Transfer};
use crate::rng::RandomStreams;
use crate::scenario::{self, Carrier, ClientShare, Scenario, SplitBy, SplitOpen, Until};
use crate::session::{self, Application, ProtocolConfig};
use crate::tcp::Output;
use crate::units::Instant;
use crate::workload::Directory;

use super::network::Network;
use super::{Progress, Upcoming, World};

impl World {
    /// Builds the world of `scenario`, with the hosts already in `directory`.
    ///
    /// The same scenario, seed and requests give the same rows in any process.
    ///
    /// # Panics
    /// When files of its links were not read ([`Source::complete`](scenario::Source::complete)).
    #[must_use]
    pub fn new(scenario: &Scenario, seed: u64, directory: Directory) -> Self {
        assert!(scenario.is_complete(), "files of links are read before the run");
        let streams = RandomStreams::new(seed);
        let legs = scenario.leg.iter().map(|keys| Leg::new(leg(scenario, keys))).collect();
        let pools =
            scenario.leg.iter().enumerate().map(|(index, keys)| pool(scenario, index, keys)).collect();
        let nodes = nodes(scenario, &streams);
        let hosts = Hosts::new(streams, (nodes.len() - 1) as u8);
        let tunnels = scenario.clients.tunnels.handshake();
        let context = Context::new(legs, hosts, directory, Observer::new(observation(scenario)), tunnels);
        let path = path(scenario, &streams);
        let until = match scenario.run.until {
            Until::Done => None,
            Until::Time(limit) => Some(Instant::ZERO + limit),
        };
        let until = [until, path.ends()].into_iter().flatten().min();
        let mut network = Network::new(path, nodes, pools, context);
        network.context.queue.push(Instant::ZERO, Event::Begin);
        if let Some(interval) = network.context.observer.interval() {
            network.context.queue.push(Instant::ZERO + interval, Event::IntervalEnds);
        }
        Self {
            connections: Connections::new(),
            network,
            upcoming: Upcoming::Unread,
            until,
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
        tells_schemes_apart: ends_at_servers || keys.tls.is_some(),
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

fn nodes(scenario: &Scenario, streams: &RandomStreams) -> Vec<Node> {
    let last = scenario.path.nodes.len() - 1;
    let kind = |(place, name): (usize, &String)| {
        let legs_meet = scenario.leg.iter().any(|leg| leg.to == *name);
        let cache = scenario.cache.iter().position(|cache| cache.node == *name);
        match cache {
            _ if place == last => Node::Origin(Origin::new(scenario.origin.release)),
            Some(index) => {
                let cache = &scenario.cache[index];
                let contents = Contents::new(index, place as u8, hits(scenario, index, streams));
                Node::cache(place as u8, contents, cache.mode_at(legs_meet), cache.coalesce)
            }
            None if legs_meet => Node::Proxy(Proxy),
            None => Node::Router,
        }
    };
    scenario.path.nodes.iter().enumerate().map(kind).collect()
}

/// Requests that cache number `index` serves.
fn hits(scenario: &Scenario, index: usize, streams: &RandomStreams) -> Hits {
    let cache = &scenario.cache[index];
    match (cache.live(), cache.hit_ratio) {
        (Some(config), _) => {
            let sibling = |sibling: u32| {
                let stream = u64::from(sibling) << u32::BITS | index as u64;
                cache::Cache::new(&config, |purpose| streams.stream(purpose, stream))
            };
            Hits::Live { siblings: (0..cache.siblings).map(sibling).collect(), divide_by: cache.divide_by }
        }
        (None, Some(share)) => {
            // Behind the shares of the caches nearer to the clients.
            let place = |cache: &scenario::Cache| node(scenario, &cache.node);
            let before = scenario.cache.iter().filter(|other| place(other) < place(cache));
            let from = before.filter_map(|other| other.hit_ratio).sum();
            Hits::Drawn { streams: *streams, from, to: from + share }
        }
        (None, None) => {
            let is_cache = |node: &&String| scenario.cache.iter().any(|cache| cache.node == **node);
            let nodes = &scenario.path.nodes;
            let servers = nodes.iter().filter(is_cache).chain(nodes.last()).cloned().collect();
            Hits::Listed { node: cache.node.clone(), servers }
        }
    }
}

fn path(scenario: &Scenario, streams: &RandomStreams) -> PacketPath {
    let ways = [Direction::Up, Direction::Down];
    let links = scenario.path.link.iter().map(|link| ways.map(|way| link.config(way)));
    let mut path = PacketPath::new(scenario.path.nodes.clone(), links, streams);
    if scenario.record.sojourn {
        path.measure_waits();
    }
    path
}

fn observation(scenario: &Scenario) -> observe::Config {
    observe::Config {
        record: scenario.record.clone(),
        links: scenario.path.link.len(),
        legs: scenario.leg.len(),
        cache_nodes: scenario.cache.iter().map(|cache| node(scenario, &cache.node).into()).collect(),
        warmup: scenario.run.warmup,
        measure: scenario.run.measure,
    }
}
