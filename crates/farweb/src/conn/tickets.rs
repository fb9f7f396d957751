//! TLS tickets that clients have of servers.
//!
//! Models a client that resumes with the newest ticket which a server, or a proxy, has sent it, until that is too old.
//! Clients that no key names keep none. Leaves out tickets that serve once: a server sends new ones on every
//! connection.
//!
//! Source: RFC 8446, sections 2.2, 2.3 and 4.6.1.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use crate::units::{Duration, Instant};

use super::Key;

/// Usable tickets of all clients: memory grows with the visitors within a lifetime.
pub(crate) struct Tickets {
    lifetime: Duration,
    /// Until when the newest ticket of a client and a server may be used.
    until: FxHashMap<Key, Instant>,
    /// Ends of all tickets, in their order.
    ends: VecDeque<(Instant, Key)>,
}

impl Tickets {
    pub(crate) fn new(lifetime: Duration) -> Self {
        Self { lifetime, until: FxHashMap::default(), ends: VecDeque::new() }
    }

    /// True when there is one for a connection with this key.
    pub(crate) fn has(&self, now: Instant, key: &Key) -> bool {
        self.until.get(key).is_some_and(|until| *until >= now)
    }

    /// A client has got one. Those that have become too old are forgotten.
    pub(crate) fn add(&mut self, now: Instant, key: Key) {
        while let Some((end, old)) = self.ends.front().copied().filter(|(end, _)| *end < now) {
            self.ends.pop_front();
            if self.until.get(&old) == Some(&end) {
                self.until.remove(&old);
            }
        }
        let until = now + self.lifetime;
        self.until.insert(key, until);
        self.ends.push_back((until, key));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::ClientId;

    fn key(client: u64) -> Key {
        Key { client: ClientId::new(client), ..Key::ANY }
    }

    #[test]
    fn a_ticket_serves_its_client_for_its_lifetime() {
        let at = |secs| Instant::ZERO + Duration::from_secs(secs);
        let mut tickets = Tickets::new(Duration::from_secs(10));
        tickets.add(at(0), key(1));
        tickets.add(at(5), key(2));
        assert!(tickets.has(at(10), &key(1)) && !tickets.has(at(10), &key(3)));
        assert!(!tickets.has(at(11), &key(1)) && tickets.has(at(11), &key(2)));
        tickets.add(at(9), key(1));
        assert!(tickets.has(at(19), &key(1)), "the newest counts");
        tickets.add(at(100), key(3));
        assert_eq!((tickets.until.len(), tickets.ends.len()), (1, 1), "old ones take no memory");
    }
}
