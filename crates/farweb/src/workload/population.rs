//! The clients of a generated trace: how many there are, and how active each is.
//!
//! Models a visit's client as drawn by Zipf's law, independent of all before. Leaves out differences in the objects
//! that clients ask for.

use super::ClientId;
use crate::rng::{RandomStream, Zipf};

/// Clients with shares of visits in proportion to `rank^-slope`. The id of a client is its rank less 1.
#[derive(Debug, Clone, Copy)]
pub(super) struct Population {
    activity: Zipf,
}

impl Population {
    /// So many clients. `None` for 0: the trace has none.
    pub(super) fn new(clients: u32, slope: f64) -> Option<Self> {
        (clients > 0).then(|| Self { activity: Zipf::new(clients.into(), slope).expect("checked") })
    }

    /// The client of a visit.
    pub(super) fn draw(&self, random: &mut RandomStream) -> ClientId {
        ClientId::new(self.activity.sample(random) - 1).expect("a rank is an id")
    }
}
