//! Carries out events and actions, connection by connection.
//!
//! Models nothing by itself: it finds the connection of an event, has the network settle it, and carries out the remaining
//! actions.

use crate::conn::{Closing, ConnectionId, Connections, End, ExchangeId};
use crate::context::{Action, Context};
use crate::net::{Dropped, LinkId};
use crate::node::{self, Route, Stand, on_node};
use crate::pool::{Allot, Pool, on_pool};
use crate::record::Status;
use crate::units::{Instant, When};

use super::network::{Network, Settled};
use super::{Upcoming, World};

impl World {
    /// A packet arrives at the far end of a link.
    #[inline(always)]
    pub(super) fn on_link(&mut self, mut link: LinkId) {
        let Self { connections, network, output, .. } = self;
        let packet = network.run_link(link);
        self.progress.packet_hops += 1;
        while link.far_node() != packet.destination && network.pass(link.next(), &packet) {
            link = link.next();
            self.progress.packet_hops += 1;
            self.progress.events += 1;
        }
        let id = packet.connection;
        if link.far_node() == packet.destination {
            let connection = connections.get_mut(id).expect("a connection outlives its packets");
            let settled = network.deliver(connection, &packet, output);
            self.on_settled(id, settled);
            return;
        }
        let recorded = if packet.mark().recorded { connections.get(id) } else { None };
        if !network.enqueue(link.next(), &packet, recorded) {
            connections.get_mut(id).expect("a connection outlives its packets").in_flight -= 1;
            self.end_if_over(id);
        }
    }

    pub(super) fn on_timer(&mut self, id: ConnectionId, end: End) {
        if let Some(connection) = self.connections.get_mut(id)
            && let Some(settled) = self.network.fire_timer(id, connection, end, &mut self.output)
        {
            self.on_settled(id, settled);
        }
    }

    pub(super) fn on_wake(&mut self, id: ConnectionId, end: End) {
        if let Some(connection) = self.connections.get_mut(id) {
            let settled = self.network.wake(id, connection, end, &mut self.output);
            self.on_settled(id, settled);
        }
    }

    /// Segments leave the regulator of a connection. One dropped by the link behind it may have been the last under way.
    pub(super) fn on_regulator(&mut self, id: ConnectionId) {
        if let Some(connection) = self.connections.get_mut(id) {
            self.network.leave_regulator(id, connection);
            self.end_if_over(id);
        }
    }

    /// An end of a connection closes it if nothing has gone over it since it became idle.
    pub(super) fn on_idle(&mut self, id: ConnectionId, end: End) {
        let now = When::at(self.progress.now);
        if self.connections.get(id).is_some_and(|connection| connection.idle_until == now) {
            self.close(id, end, Closing::WhenWritten);
        }
    }

    /// The next piece of the response to an exchange is due where it is served.
    pub(super) fn on_release(&mut self, id: ExchangeId) {
        let Self { connections, network, output, .. } = self;
        let down = network.context.exchanges.get(id).and_then(|exchange| exchange.down);
        if let Some((on, connection)) =
            down.and_then(|ride| Some((ride.connection, connections.get_mut(ride.connection)?)))
        {
            let settled = network.release_more(on, connection, id, output);
            self.on_settled(on, settled);
        } else if let Some((bytes, mss)) = node::release(&mut network.context, id) {
            self.respond(id, bytes, mss);
        }
    }

    /// Carries out the actions of a settled connection on others.
    #[inline]
    fn on_settled(&mut self, id: ConnectionId, settled: Settled) {
        if settled.has_responses {
            self.end_acknowledged(id);
        }
        if settled.is_over {
            self.end_if_over(id);
        }
    }

    /// Packets that the queue of a link has dropped, or given to the transmitter, since it was last asked.
    pub(super) fn settle_link(&mut self, link: LinkId) {
        let Self { connections, network: Network { path, extras, context, .. }, .. } = self;
        let packets = &mut context.observer.packets;
        while let Some(taken) = path.next_taken(link) {
            if taken.packet.mark().recorded {
                let connection =
                    connections.get(taken.packet.connection).expect("a connection outlives its packets");
                packets.record_passage(connection, link, taken, extras);
            }
        }
        while let Some(Dropped { at, packet, .. }) = self.network.path.take_dropped(link) {
            let Self { connections, network: Network { extras, context, .. }, .. } = self;
            let connection =
                connections.get_mut(packet.connection).expect("a connection outlives its packets");
            connection.in_flight -= 1;
            if packet.mark().recorded {
                context.observer.packets.record_drop(at, connection, link, &packet, extras);
            }
            packet.leave(extras);
            self.end_if_over(packet.connection);
        }
    }

    /// The same for all links, at the end of the run.
    pub(super) fn settle_links(&mut self, end: Instant) {
        for link in self.network.path.links() {
            self.network.path.serve(end, link);
            self.settle_link(link);
        }
    }

    pub(super) fn perform(&mut self, action: Action) {
        match action {
            Action::Open(id) => {
                if let Some(connection) = self.connections.get_mut(id) {
                    let settled = self.network.open(id, connection, &mut self.output);
                    self.on_settled(id, settled);
                }
            }
            Action::Act(id, end) => self.act(id, end),
            Action::Close(id, end, closing) => self.close(id, end, closing),
            Action::Send(exchange) => self.send_request(exchange),
            Action::Ask(exchange) => {
                let context = &mut self.network.context;
                if let Some(on) = context.send_request(&mut self.connections, exchange) {
                    self.act(on, End::Client);
                }
            }
            Action::Resume { exchange, leg, turn } => self.with_pool(leg, |pool, cx, connections| {
                on_pool!(pool, own => own.resume(cx, connections, exchange, turn));
            }),
            Action::SendAgain(exchange) => self.send_again(exchange),
            Action::PassOn(exchange) => self.pass_on(exchange),
            Action::Release(exchange) => self.on_release(exchange),
            Action::Respond { exchange, bytes, mss } => self.respond(exchange, bytes, mss),
            Action::End(exchange) => self.end_request(exchange, Status::Done),
            Action::Fail(exchange) => self.fail(exchange),
            Action::SettleLink(link) => self.settle_link(link),
            Action::Rest => self.rest(),
        }
    }

    /// Calls the pool of a leg, which may touch any connection, and carries out its actions.
    pub(super) fn with_pool(
        &mut self,
        leg: usize,
        call: impl FnOnce(&mut Pool, &mut Context, &mut Connections),
    ) {
        let mark = self.network.context.actions.mark();
        call(&mut self.network.pools[leg], &mut self.network.context, &mut self.connections);
        while let Some(action) = self.network.context.actions.take_now(mark) {
            self.perform(action);
        }
    }

    /// Lets an end of a connection write its due bytes, and close if that was all.
    fn act(&mut self, id: ConnectionId, end: End) {
        if let Some(connection) = self.connections.get_mut(id) {
            let settled = self.network.act(id, connection, end, &mut self.output);
            self.on_settled(id, settled);
        }
    }

    /// Closes an end of a connection, unless it is closed.
    pub(super) fn close(&mut self, id: ConnectionId, end: End, closing: Closing) {
        let Some(connection) = self.connections.get_mut(id) else {
            return;
        };
        if connection.end(end).closing == Closing::Done {
            return;
        }
        connection.end_mut(end).closing = closing;
        if end == End::Client {
            let Network { pools, context, .. } = &mut self.network;
            on_pool!(&mut pools[connection.leg], own => own.on_closing(context, id, connection));
        }
        self.act(id, end);
    }

    /// Sends the request of an exchange over its leg, unless it waits for a fetch through a cache inside the leg.
    pub(super) fn send_request(&mut self, id: ExchangeId) {
        let Network { nodes, context, .. } = &mut self.network;
        if let Some(leg) = context.exchanges.alive(id).map(|exchange| exchange.leg)
            && (!context.legs[leg].config.has_caches || node::ask_inside(nodes, context, id))
        {
            self.with_pool(leg, |pool, cx, connections| {
                on_pool!(pool, own => own.ask(cx, connections, id));
            });
        }
    }

    /// The node at the server end of an exchange has the whole request, and decides how it goes on.
    fn pass_on(&mut self, below: ExchangeId) {
        let Network { nodes, context: cx, .. } = &mut self.network;
        let Some(exchange) = cx.exchanges.alive(below) else {
            return;
        };
        let place = cx.legs[exchange.leg].node(End::Server);
        let node = &mut nodes[usize::from(place)];
        match on_node!(node, own => own.route(cx, below)) {
            Route::Serve(response) => {
                cx.exchanges.release(below, response);
                self.on_release(below);
            }
            Route::Join(fetch) => {
                cx.exchanges.join(below, fetch);
                cx.exchanges.serve(below, place);
                let exchange = cx.exchanges.get(fetch).expect("nodes forget those that end");
                let (leg, come) = (&cx.legs[exchange.leg], exchange.bytes.received());
                let mss = leg.mss(End::Client, Some(&cx.directory.hosts()[exchange.request.host]));
                let bytes = on_node!(node, own => own.on_response(cx, fetch, below, come));
                if bytes > 0 {
                    self.respond(below, bytes, u64::from(mss));
                }
            }
            Route::Fetch { condition } => {
                let fetch = node::start_fetch(cx, below, condition);
                on_node!(node, own => own.on_fetch(cx, below, fetch));
                self.send_request(fetch);
            }
        }
    }

    /// Bytes of the response to an exchange, which came in segments of up to `mss` bytes, go on from the server end of its leg.
    fn respond(&mut self, id: ExchangeId, bytes: u64, mss: u64) {
        let Some(exchange) = self.network.context.exchanges.alive(id) else {
            return;
        };
        if exchange.down.is_none() {
            let leg = exchange.leg;
            self.with_pool(leg, |pool, cx, connections| {
                on_pool!(pool, own => own.place_response(cx, connections, id));
            });
        }
        let Self { connections, network, output, .. } = self;
        let down = network.context.exchanges.get(id).and_then(|exchange| exchange.down);
        if let Some((on, connection)) =
            down.and_then(|ride| Some((ride.connection, connections.get_mut(ride.connection)?)))
        {
            network.context.respond(on, connection, id, bytes, mss);
            let settled = network.act(on, connection, End::Server, output);
            self.on_settled(on, settled);
        }
    }

    /// No request is left: if none will come, pools close the connections that they keep open.
    fn rest(&mut self) {
        if !self.network.context.exchanges.is_empty() || !matches!(self.upcoming, Upcoming::None) {
            return;
        }
        for leg in 0..self.network.pools.len() {
            self.with_pool(leg, |pool, cx, connections| {
                on_pool!(pool, own => own.on_rest(cx, connections));
            });
        }
    }
}
