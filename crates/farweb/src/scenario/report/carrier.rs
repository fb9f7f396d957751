//! What the carrier of a leg means for its connections, in words.

use crate::scenario::{Assign, Carrier, ClosedBy, Overhead, Ties};

/// As a scenario writes it.
pub(super) const fn name(carrier: &Carrier) -> &'static str {
    match carrier {
        Carrier::Http10 {} => "http/1.0",
        Carrier::Http11 { .. } => "http/1.1",
        Carrier::Mux { .. } => "mux",
        Carrier::Transfer {} => "transfer",
    }
}

/// Most connections at a time, where the carrier limits them; a mux has that many all the time.
pub(super) const fn connections(carrier: &Carrier) -> Option<u32> {
    match carrier {
        Carrier::Mux { connections, .. } => Some(*connections),
        Carrier::Http11 { total, .. } => *total,
        Carrier::Http10 {} | Carrier::Transfer {} => None,
    }
}

/// How many connections there are and what goes over them.
pub(super) fn rule(carrier: &Carrier) -> String {
    match carrier {
        Carrier::Http10 {} => "one for each request, closed by the server".to_owned(),
        Carrier::Transfer {} => "none: each response alone, one-way".to_owned(),
        Carrier::Http11 { idle_timeout, closed_by, per_host, total } => {
            let end = match closed_by {
                ClosedBy::Client => "client",
                ClosedBy::Server => "server",
            };
            let most = |limit: &Option<u32>, of: &str| {
                limit.map_or(String::new(), |limit| format!(", at most {limit} {of}"))
            };
            let (a_host, in_all) = (most(per_host, "a host"), most(total, "in all"));
            format!("used again; closed by the {end} after {idle_timeout} idle{a_host}{in_all}")
        }
        Carrier::Mux { connections, overhead, assign, ties } => {
            let framing = match overhead {
                Overhead::None => "no framing".to_owned(),
                Overhead::PerSegment(bytes) => format!("{bytes} of framing a segment"),
                Overhead::Share(_) => format!("{overhead} of framing"),
            };
            let turn = match (assign, ties) {
                (Assign::RoundRobin, _) => "in turn",
                (Assign::LeastOutstanding, Ties::First) => "fewest outstanding bytes first",
                (Assign::LeastOutstanding, Ties::Next) => {
                    "fewest outstanding bytes first, equal ones in turn"
                }
            };
            format!("{connections}, always open; {turn}; {framing}")
        }
    }
}
