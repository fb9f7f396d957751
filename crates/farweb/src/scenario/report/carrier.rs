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

/// How requests ride its connections, as sentences.
pub(super) const fn sentences(carrier: &Carrier) -> &'static str {
    match carrier {
        Carrier::Http10 {} => {
            "Every request opens a connection of its own (HTTP/1.0), however many are open already."
        }
        Carrier::Http11 { .. } => {
            "A request takes a connection that lies idle and leads to its host (to a proxy: any), or opens one (HTTP/1.1). A \
             connection carries one request at a time, without pipelining."
        }
        Carrier::Mux { .. } => {
            "Requests and responses share connections that stay open (mux), those of different requests interleaved: each \
             goes to the connection that the leg's rule names when its first bytes are there."
        }
        Carrier::Transfer {} => "Only the data of responses travel: no request, no handshake, no close.",
    }
}

/// What there is to say of the connections, each with its label.
pub(super) fn lines(carrier: &Carrier) -> Vec<(&'static str, String)> {
    match carrier {
        Carrier::Http10 {} => {
            vec![("connections", "one for each request, closed by the server".to_owned())]
        }
        Carrier::Transfer {} => vec![("connections", "none: each response alone, one-way".to_owned())],
        Carrier::Http11 { idle_timeout, closed_by, per_host, total } => {
            let end = match closed_by {
                ClosedBy::Client => "client",
                ClosedBy::Server => "server",
            };
            let rule = format!("used again; closed by the {end} after {idle_timeout} idle");
            let most = [(per_host, "a host"), (total, "in all")];
            let most: Vec<_> =
                most.iter().filter_map(|(limit, of)| limit.map(|limit| format!("{limit} {of}"))).collect();
            let limits = (!most.is_empty()).then(|| ("at most", most.join(", ")));
            std::iter::once(("connections", rule)).chain(limits).collect()
        }
        Carrier::Mux { connections, overhead, assign, ties } => {
            let turn = match (assign, ties) {
                (Assign::RoundRobin, _) => "in turn",
                (Assign::LeastOutstanding, Ties::First) => "fewest outstanding bytes first",
                (Assign::LeastOutstanding, Ties::Next) => {
                    "fewest outstanding bytes first, equal ones in turn"
                }
            };
            let framing = match overhead {
                Overhead::None => "none".to_owned(),
                Overhead::PerSegment(bytes) => format!("{bytes} for each segment from the next leg"),
                Overhead::Share(_) => format!("{overhead} of the response"),
            };
            vec![("connections", format!("{connections}, always open; {turn}")), ("framing", framing)]
        }
    }
}
