//! Who makes a request: clients that come for visits of some requests. ProWGen has none. This is added.
//!
//! A number n of visits is under way at all times. Each request belongs to one of them, all equally likely, and is its last one with
//! probability q = 1 / `visit_requests`. Another visit then takes its place, of a client drawn anew. So the requests of a visit are
//! geometric with mean 1/q = `visit_requests`, and the mean time between two of them is n / `arrival_rate`, which `visit_gap` sets by
//! Little's law: n = `arrival_rate` · `visit_gap`, rounded, at least 1. Memory is 8 B a visit under way.
//!
//! Leaves out a rule against two visits of a client at once, and any influence of a client on its requests.

use super::Parameters;
use crate::rng::RandomStream;
use crate::workload::ClientId;
use crate::workload::population::Population;

#[derive(Debug)]
pub(super) struct Visits {
    clients: Population,
    under_way: Vec<ClientId>,
    /// Probability that a request is the last one of its visit.
    last: f64,
    random: RandomStream,
}

impl Visits {
    /// `None`: the workload has no clients.
    pub(super) fn new(parameters: &Parameters, mut random: RandomStream) -> Option<Self> {
        let clients = Population::new(parameters.clients, parameters.client_slope)?;
        let under_way = (0..parameters.visits_under_way()).map(|_| clients.draw(&mut random)).collect();
        Some(Self { clients, under_way, last: 1.0 / parameters.visit_requests, random })
    }

    /// The client of the next request.
    pub(super) fn next(&mut self) -> ClientId {
        let Self { clients, under_way, last, random } = self;
        let place = random.below(under_way.len() as u64) as usize;
        let client = under_way[place];
        if random.happens(*last) {
            under_way[place] = clients.draw(random);
        }
        client
    }
}
