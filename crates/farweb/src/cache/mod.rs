//! Caches: which objects a node keeps, and which it gives up when a new one needs their room.
//!
//! Models a cache with a capacity in bytes that holds whole objects. Replacement policies, a file each, stand behind
//! the one match of [`Replacement`]. Beside them are admission ([`Admit`]) and the life of a fresh object (`ttl`). A
//! cache is sans-IO. [`look_up`](Cache::look_up) is one access, and a miss changes only the counts of the policy.
//! [`store`](Cache::store) takes the object in when it has been fetched whole. Anything may happen between the two,
//! other look-ups and stores of the same object included.
//!
//! - An object larger than the cache bypasses it.
//! - An object keeps its size when stored: its version. A fresh one serves requests of any size, or of its own size
//!   alone ([`Changed`]).
//! - An object that is stored again with its size is renewed. With another size it is another version: the old one is dropped,
//!   and the new one comes in as an object that was never there.
//! - An object takes at least one byte, which bounds their number.
//! - A request of a method that changes its object, or with a response that must not be stored, is not looked up
//!   ([`Caching`]).
//!
//! Leaves out: partial objects and ranges, `Vary`, heuristic freshness (a `ttl` is one for all), the memory of an
//! object besides its bytes. Sources are with each policy. `docs/models/cache.md` lists them together.

mod admission;
mod arc;
mod belady;
mod config;
mod entries;
mod fifo;
mod greedy_dual;
mod heap;
mod lfu;
mod list;
mod lru;
mod rand;
mod s3_fifo;
mod sieve;
mod sketch;
mod stack;
mod survey;
mod w_tiny_lfu;

#[cfg(test)]
mod tests;

pub use config::{Admit, CacheConfig, Changed, Policy};
pub use stack::StackDistances;
pub use survey::Survey;

use crate::rng::RandomStream;
use crate::units::{Duration, Instant};
use crate::workload::{Caching, ObjectId};

use admission::Admission;
use arc::Arc;
use belady::Belady;
use entries::{Entries, Place};
use fifo::Fifo;
use greedy_dual::GreedyDual;
use lfu::Lfu;
use lru::Lru;
use rand::Rand;
use s3_fifo::S3Fifo;
use sieve::Sieve;
use w_tiny_lfu::WTinyLfu;

/// Largest capacity, in bytes: sums of a few of them stay below 2^64.
const CAPACITY_MAX: u64 = 1 << 61;

/// Answer of a cache to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lookup {
    /// Held and fresh.
    Hit,
    /// Held, but its time has run out: it is to be revalidated, then [renewed](Cache::renew) or stored anew.
    Stale,
    /// Not held.
    Miss,
    /// Not looked for: no copy may serve the request.
    Bypass,
}

/// Replacement policy. Entries belong to the cache, the lists that they stand in to the policy.
trait Replace {
    /// Any request for `object`, before what becomes of it is known.
    fn on_request(&mut self, _object: ObjectId) {}

    /// An access to the object at `place`, which is held.
    fn on_hit(&mut self, entries: &mut Entries, place: Place);

    /// Takes in an object that is not held and would fit into the empty cache. Evicts what must go. `ghost` is where the policy
    /// remembers it from an earlier stay. `None`: the policy thinks it not worth its room.
    fn take_in(
        &mut self,
        entries: &mut Entries,
        object: ObjectId,
        bytes: u64,
        ghost: Option<Place>,
    ) -> Option<Place>;

    /// Gives up the object at `place`, which is held, without remembering it.
    fn drop(&mut self, entries: &mut Entries, place: Place);
}

/// The state of a [`Policy`].
#[derive(Debug, Clone)]
enum Replacement {
    Fifo(Fifo),
    Lru(Lru),
    Rand(Rand),
    Lfu(Lfu),
    GreedyDual(GreedyDual),
    Arc(Arc),
    S3Fifo(S3Fifo),
    Sieve(Sieve),
    WTinyLfu(WTinyLfu),
    Belady(Belady),
}

/// Calls a method of [`Replace`] on whichever policy it is.
macro_rules! with_policy {
    ($replacement:expr, $policy:ident => $call:expr) => {
        match $replacement {
            Replacement::Fifo($policy) => $call,
            Replacement::Lru($policy) => $call,
            Replacement::Rand($policy) => $call,
            Replacement::Lfu($policy) => $call,
            Replacement::GreedyDual($policy) => $call,
            Replacement::Arc($policy) => $call,
            Replacement::S3Fifo($policy) => $call,
            Replacement::Sieve($policy) => $call,
            Replacement::WTinyLfu($policy) => $call,
            Replacement::Belady($policy) => $call,
        }
    };
}

impl Replacement {
    fn new(policy: Policy, capacity: u64, random: RandomStream) -> Self {
        match policy {
            Policy::Fifo => Self::Fifo(Fifo::default()),
            Policy::Lru => Self::Lru(Lru::default()),
            Policy::Rand => Self::Rand(Rand::new(random)),
            Policy::Lfu => Self::Lfu(Lfu::new()),
            Policy::Gds => Self::GreedyDual(GreedyDual::by_size()),
            Policy::Gdsf => Self::GreedyDual(GreedyDual::by_size_and_frequency()),
            Policy::Arc => Self::Arc(Arc::new(capacity)),
            Policy::S3Fifo => Self::S3Fifo(S3Fifo::new(capacity)),
            Policy::Sieve => Self::Sieve(Sieve::new()),
            Policy::WTinyLfu => Self::WTinyLfu(WTinyLfu::new(capacity)),
            Policy::Belady => Self::Belady(Belady::new()),
        }
    }
}

/// A cache. See [the module](self).
#[derive(Debug, Clone)]
pub struct Cache {
    entries: Entries,
    replacement: Replacement,
    admission: Admission,
    ttl: Option<Duration>,
    changed: Changed,
}

impl Cache {
    /// An empty cache. `stream` gives the random stream for each of its purposes, as [`RandomStreams::stream`](crate::rng::RandomStreams)
    /// does.
    pub fn new(config: &CacheConfig, stream: impl Fn(&str) -> RandomStream) -> Self {
        let capacity = config.capacity.get().min(CAPACITY_MAX);
        Self {
            entries: Entries::new(capacity),
            replacement: Replacement::new(config.policy, capacity, stream("cache eviction")),
            admission: Admission::new(config.admit, stream("cache admission")),
            ttl: config.ttl,
            changed: config.changed,
        }
    }

    /// One access to `object`, counted as the policy counts it. Nothing is inserted on a miss.
    pub fn look_up(&mut self, object: ObjectId, now: Instant) -> Lookup {
        with_policy!(&mut self.replacement, policy => policy.on_request(object));
        let Some(place) = self.entries.find_held(object) else {
            self.admission.on_miss(object);
            return Lookup::Miss;
        };
        with_policy!(&mut self.replacement, policy => policy.on_hit(&mut self.entries, place));
        if now < self.entries[place].fresh_until { Lookup::Hit } else { Lookup::Stale }
    }

    /// Takes in `object`, fetched whole with `bytes` bytes. Evicts what must go. True when it is held now.
    ///
    /// It is not when its size is [refused](Self::fits), when admission refuses it, or when GDSF or W-TinyLFU find it not worth its
    /// room.
    pub fn store(&mut self, object: ObjectId, bytes: u64, now: Instant) -> bool {
        let bytes = bytes.max(1);
        let known = self.entries.find(object);
        let held = known.filter(|place| !self.entries[*place].is_ghost());
        if let Some(place) = held {
            if self.entries[place].bytes == bytes {
                self.entries[place].fresh_until = self.fresh_until(now);
                return true;
            }
            with_policy!(&mut self.replacement, policy => policy.drop(&mut self.entries, place));
        }
        if !self.fits(bytes) || held.is_none() && !self.admission.admits(object) {
            return false;
        }
        let ghost = if held.is_some() { None } else { known };
        let taken = with_policy!(
            &mut self.replacement,
            policy => policy.take_in(&mut self.entries, object, bytes, ghost)
        );
        if let Some(place) = taken {
            self.entries[place].fresh_until = self.fresh_until(now);
        }
        taken.is_some()
    }

    /// Makes `object` fresh from `now` on: a revalidation found it unchanged. Does nothing unless held.
    pub fn renew(&mut self, object: ObjectId, now: Instant) {
        if let Some(place) = self.entries.find_held(object) {
            self.entries[place].fresh_until = self.fresh_until(now);
        }
    }

    /// One access to `object` by a request for its version of `bytes` bytes. Nothing is inserted on a miss.
    pub fn ask(&mut self, object: ObjectId, bytes: u64, caching: Caching, now: Instant) -> Lookup {
        if !caching.may_be_served() {
            return Lookup::Bypass;
        }
        match (self.look_up(object, now), caching) {
            (Lookup::Hit, Caching::Store)
                if self.learns_of_changes() && self.version(object) != Some(bytes.max(1)) =>
            {
                Lookup::Miss
            }
            // Its size is not the object's: it cannot show that the copy is unchanged.
            (Lookup::Stale, Caching::Serve) => Lookup::Miss,
            (met, _) => met,
        }
    }

    /// True if a fresh copy serves its own version alone ([`Changed::Fetch`]).
    #[must_use]
    pub const fn learns_of_changes(&self) -> bool {
        matches!(self.changed, Changed::Fetch)
    }

    /// One access to `object` of `bytes` bytes where fetching takes no time. Misses are stored at once where `caching` allows
    /// it. A stale object is renewed if its size is the same, and is a miss otherwise.
    pub fn request(&mut self, object: ObjectId, bytes: u64, caching: Caching, now: Instant) -> Lookup {
        let met = self.ask(object, bytes, caching, now);
        match (met, caching) {
            (Lookup::Stale, _) if self.version(object) == Some(bytes.max(1)) => {
                self.renew(object, now);
                return Lookup::Stale;
            }
            (Lookup::Stale | Lookup::Miss, Caching::Store) => {
                self.store(object, bytes, now);
                return Lookup::Miss;
            }
            (Lookup::Bypass, Caching::Invalidate) => self.invalidate(object),
            _ => {}
        }
        met
    }

    /// Evicts `object`, which has changed. Does nothing unless held.
    pub fn invalidate(&mut self, object: ObjectId) {
        if let Some(place) = self.entries.find_held(object) {
            with_policy!(&mut self.replacement, policy => policy.drop(&mut self.entries, place));
        }
    }

    /// Says when the object of the next [`look_up`](Self::look_up) is asked for again: the number of that request, counted
    /// however the caller likes, `None` for never. The `store` that follows that look-up goes by it as well. Only
    /// [`Policy::Belady`] listens.
    pub fn foresee(&mut self, next: Option<u64>) {
        if let Replacement::Belady(belady) = &mut self.replacement {
            belady.foresee(next);
        }
    }

    /// True when an object of `bytes` bytes may be stored: it is no larger than the cache, and within the limits of [`Admit`].
    #[must_use]
    pub const fn fits(&self, bytes: u64) -> bool {
        let bytes = if bytes == 0 { 1 } else { bytes };
        bytes <= self.entries.capacity() && self.admission.takes_size(bytes)
    }

    /// True if `object` is held, fresh or not.
    #[must_use]
    pub fn holds(&self, object: ObjectId) -> bool {
        self.version(object).is_some()
    }

    /// Size of `object` as held, fresh or not, in bytes.
    #[must_use]
    pub fn version(&self, object: ObjectId) -> Option<u64> {
        self.entries.find_held(object).map(|place| self.entries[place].bytes)
    }

    /// Bytes held, at most the capacity.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.entries.bytes()
    }

    /// Objects held.
    #[must_use]
    pub const fn objects(&self) -> u64 {
        self.entries.objects()
    }

    /// Until when an object is fresh that came at `now`.
    fn fresh_until(&self, now: Instant) -> Instant {
        let ttl = self.ttl.map_or(u64::MAX, Duration::as_nanos);
        Instant::from_nanos(now.as_nanos().saturating_add(ttl))
    }
}
