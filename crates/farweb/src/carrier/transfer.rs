//! Transfers: responses that one of ns-2's senders sends to a sink at the first node, from the node that serves them.
//!
//! Models the studies of web traffic with ns-2: the server sends all of a response as soon as the request is made. Leaves out
//! the request and its way, the opening and closing of a connection, and the server's time.
//!
//! Source: C. Williamson and N. Markatchev, "Network-Level Impacts on User-Level Web Performance", SPECTS 2003.

use std::sync::Arc;

use crate::conn::{Connection, ConnectionId, Connections, End, ExchangeId, Transport};
use crate::rng::RandomStreams;
use crate::scenario::Scenario;
use crate::tcp::ns2::{Profile, Sender, Sink};
use crate::tcp::{self, Output};
use crate::units::Duration;
use crate::workload::{Request, WorkloadError};

use super::{Carry, Context};

/// The transfers of a leg.
pub(crate) struct Transfer {
    leg: usize,
    profile: Arc<Profile>,
    /// Names of the nodes, and where the leg's first and last ones are.
    nodes: Vec<String>,
    first: usize,
    last: usize,
    streams: RandomStreams,
}

impl Transfer {
    pub(crate) fn new(leg: usize, scenario: &Scenario, streams: RandomStreams) -> Self {
        let tcp::Profile::Ns2(profile) = scenario.leg[leg].tcp.profile() else {
            panic!("a checked scenario has the profile of ns-2 beside transfers");
        };
        let nodes = scenario.path.nodes.clone();
        let place = |name: &str| nodes.iter().position(|node| node == name).expect("a node of the path");
        let (first, last) = (place(&scenario.leg[leg].from), place(&scenario.leg[leg].to));
        Self { leg, profile, nodes, first, last, streams }
    }

    /// The node that serves a request where no cache decides it: that in its column `source`, or the last one of the leg.
    fn source_node(&self, request: &Request, cx: &Context) -> Result<u8, WorkloadError> {
        let Some(symbol) = request.source else {
            return Ok(self.last as u8);
        };
        let word = &*cx.directory.sources.words()[symbol];
        let servers = &self.nodes[self.first + 1..=self.last];
        match servers.iter().position(|node| node == word) {
            Some(place) => Ok((self.first + 1 + place) as u8),
            None => Err(WorkloadError(format!(
                "request table: column source: found {word:?} for the request at {}; write the node that serves it ({}), \
                 or nothing for {}",
                request.start,
                servers.join(", "),
                self.nodes[self.last]
            ))),
        }
    }
}

impl Carry for Transfer {
    fn row_waits(&self) -> bool {
        true
    }

    fn check(&self, request: &Request, cx: &Context) -> Result<(), WorkloadError> {
        self.source_node(request, cx).map(|_| ())
    }

    fn send_request(&mut self, cx: &mut Context, connections: &mut Connections, id: ExchangeId) {
        let exchange = cx.exchanges.get(id).expect("it goes on");
        let (request, decided) = (exchange.request, exchange.source);
        let source =
            decided.unwrap_or_else(|| self.source_node(&request, cx).expect("the request was checked"));
        let on = cx.open(connections, self.leg, Some(request.host), [self.first as u8, source]);
        cx.assign(connections, id, on, true);
        cx.exchanges.serve(id, source);
        let connection = connections.get_mut(on).expect("it has just been added");
        cx.queue_response(on, connection, id, request.response_bytes, 0);
    }

    fn start(&mut self, cx: &mut Context, connection: &mut Connection, out: &mut Output) -> End {
        let exchange = connection.exchange.and_then(|id| cx.exchanges.get(id)).expect("it has its exchange");
        // An agent is made for each transfer, so its clock has a phase of its own.
        let mut random = self.streams.stream("ns-2 agent", exchange.number);
        let phase = random.duration_between(Duration::ZERO, self.profile.tick);
        let mut sender = Sender::new(&self.profile, phase, random);
        sender.write(cx.now, exchange.request.response_bytes, out);
        connection.end_mut(End::Client).transport = Some(Transport::Sink(Box::new(Sink::new(&self.profile))));
        connection.end_mut(End::Server).transport = Some(Transport::Sender(Box::new(sender)));
        End::Server
    }

    /// The agents are never lost: they send until they are done.
    fn on_lost(&mut self, _cx: &mut Context, _on: ConnectionId, _connection: &mut Connection, _end: End) {}
}
