//! Visits: which requests of a client belong together.
//!
//! A visit ends where its client asks nothing for 30 minutes. The time is web analytics' convention. L. Catledge and J. Pitkow measured
//! 25.5 minutes ("Characterizing browsing strategies in the World-Wide Web", Computer Networks and ISDN Systems 27(6), 1995). It is
//! counted in simulated time between starts of requests.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use crate::record::VisitRequest;
use crate::units::{Duration, Instant};
use crate::workload::ClientId;

const GAP: Duration = Duration::from_secs(30 * 60);

/// The visits under way. Memory grows with the requests of half an hour.
#[derive(Debug, Default)]
pub(crate) struct Visits {
    /// The last request of each client.
    last: FxHashMap<ClientId, Instant>,
    /// Requests by time.
    asked: VecDeque<(Instant, ClientId)>,
}

impl Visits {
    /// Place of a request that `client` makes now in its visit.
    pub(crate) fn ask(&mut self, now: Instant, client: ClientId) -> VisitRequest {
        while let Some((at, old)) = self.asked.front().copied().filter(|(at, _)| now - *at >= GAP) {
            self.asked.pop_front();
            if self.last.get(&old) == Some(&at) {
                self.last.remove(&old);
            }
        }
        self.asked.push_back((now, client));
        match self.last.insert(client, now) {
            None => VisitRequest::First,
            Some(_) => VisitRequest::Later,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_visit_ends_after_half_an_hour_without_a_request() {
        let mut visits = Visits::default();
        let mut ask = |secs, client| {
            let client = ClientId::new(client).expect("an id");
            visits.ask(Instant::ZERO + Duration::from_secs(secs), client)
        };
        assert_eq!(ask(0, 1), VisitRequest::First);
        assert_eq!(ask(0, 2), VisitRequest::First);
        assert_eq!(ask(1799, 1), VisitRequest::Later);
        assert_eq!(ask(1800, 2), VisitRequest::First, "a gap of 30 minutes");
        assert_eq!(ask(3598, 1), VisitRequest::Later);
        assert_eq!(ask(9000, 1), VisitRequest::First);
        assert_eq!((visits.last.len(), visits.asked.len()), (1, 1), "clients that are gone take no memory");
    }
}
