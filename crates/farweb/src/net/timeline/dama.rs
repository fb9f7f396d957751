//! Capacity on demand (DAMA), as return links of satellites have it: a terminal asks, the hub grants, frame by frame.
//!
//! A terminal asks at equal times, for the waiting bytes that no request covers yet (volume), and for the bytes that came since it
//! last asked, again and again (rate). A request acts some time later, in the frames that begin from then on. Its rate lasts
//! until another request acts. Its volume is granted once, the part that exceeds a frame in the next frames.
//! A constant rate is granted in every frame, without a request.
//!
//! A frame takes the packets that wait as it begins, first in, first out, as far as its grant goes, and sends them at the rate of
//! the link. Later packets wait for the next frame. A packet that does not fit goes on in the next one. Unused grants are lost.
//! At an instant a terminal asks, then a frame begins, then a packet joins.
//!
//! A packet's departure is known as it joins, though requests are yet to come: its own request covers it and all before it, and
//! later ones act later. So it leaves by grants that are known by then, or in the first frames that its own request acts in, filled
//! by the packets before it. Hence no request is for a rate alone: a packet would then leave the sooner, the more come behind it.
//!
//! Left out: requests for a rate alone (RBDC without VBDC), capacity that other terminals take or leave free (FCA), requests that
//! are lost, collisions, quanta and slots within a frame.
//!
//! Source: kinds of capacity of DVB-RCS2 (EN 301 545-2); times and the sum of both kinds as in sns3 (`satellite-request-manager`),
//! with exact bytes in place of its quanta.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::rng::RandomStream;
use crate::units::{BitRate, Bytes, Duration, Instant};

#[cfg(test)]
mod tests;

/// Capacity that a terminal asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Dama {
    /// Length of a frame, 1 ms to 10 s.
    #[serde(default = "tenth")]
    pub frame: Duration,
    /// Time from a request to the next, 1 ms to 10 s.
    #[serde(default = "tenth")]
    pub request_every: Duration,
    /// Time from a request until frames are granted by it, at most 10 s: a round trip to the hub, and its work.
    #[serde(default = "grant_after")]
    pub grant_after: Duration,
    /// Rate that is there without a request (CRA); none when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(example = &"50 kbit/s"))]
    pub cra: Option<BitRate>,
    /// Most that is granted, as a rate; the link's when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<BitRate>,
    /// Requests are for a rate and a volume ("rbdc+vbdc"), or for a volume alone ("vbdc").
    #[serde(default)]
    pub kind: DamaKind,
}

/// Kinds of capacity that a terminal asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum DamaKind {
    /// The rate at which bytes came since the last request, and the volume of what waits besides.
    #[default]
    #[serde(rename = "rbdc+vbdc")]
    RateAndVolume,
    /// The volume of what waits.
    #[serde(rename = "vbdc")]
    Volume,
}

/// As in sns3.
const fn tenth() -> Duration {
    Duration::from_millis(100)
}

/// As in sns3: 560 ms of propagation and 100 ms at the hub.
const fn grant_after() -> Duration {
    Duration::from_millis(660)
}

impl Dama {
    /// Mean wait for a requested grant, over the phases of requests and frames.
    #[must_use]
    pub fn mean_wait_to_ask(&self) -> Duration {
        Duration::from_nanos((self.request_every + self.frame).as_nanos() / 2) + self.grant_after
    }

    /// Mean wait of a packet after a silence, until the begin of its frame.
    #[must_use]
    pub fn mean_wait(&self, packet: Bytes) -> Duration {
        let asked = self.mean_wait_to_ask();
        let constant = self.constant().get();
        if constant == 0 {
            return asked;
        }
        let others = self.frame * (packet.get().div_ceil(constant) - 1);
        asked.min(others + Duration::from_nanos(self.frame.as_nanos() / 2))
    }

    /// Bytes granted in each frame without a request.
    #[must_use]
    pub fn constant(&self) -> Bytes {
        self.cra.map_or(Bytes::new(0), |rate| rate.data_in(self.frame))
    }

    /// Most bytes of a frame, on a link of this rate.
    #[must_use]
    pub fn most(&self, rate: BitRate) -> Bytes {
        self.max.unwrap_or(rate).data_in(self.frame)
    }
}

/// Bytes granted, used or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Grants {
    /// Granted.
    pub bytes: u64,
    /// Part of them that nothing used.
    pub unused: u64,
}

impl Grants {
    /// Both together.
    pub(in crate::net) const fn joined(self, other: Self) -> Self {
        Self { bytes: self.bytes + other.bytes, unused: self.unused + other.unused }
    }
}

/// A request, in bytes.
#[derive(Debug, Clone, Copy)]
struct Request {
    /// Frames from then on are granted by it.
    acts: Instant,
    /// In each interval between requests.
    rate: u64,
    volume: u64,
}

/// Grant of a frame, in bytes.
#[derive(Debug, Clone, Copy)]
struct Grant {
    bytes: u64,
    /// Part of them for a volume.
    volume: u64,
}

/// A terminal and its hub.
#[derive(Debug, Clone)]
pub(in crate::net) struct Terminal {
    dama: Dama,
    rate: BitRate,
    /// Bytes of each frame without a request.
    constant: u64,
    /// Most bytes of a frame.
    most: u64,
    next_request: Instant,
    next_frame: Instant,
    /// Grants worked out so far, from the next frame on.
    granted: VecDeque<Grant>,
    /// Waiting bytes by the frame that takes them, from the next one on.
    placed: VecDeque<u64>,
    /// Requests that act only behind the last of `granted`.
    requests: VecDeque<Request>,
    /// Rate granted in the last of `granted`.
    rate_in_force: u64,
    /// Volume left over behind it.
    volume_in_force: u64,
    /// Bytes that wait for a frame.
    waiting: u64,
    /// Requested volume that no frame has granted yet.
    asked: u64,
    /// Bytes that came since the last request.
    came: u64,
    /// Grants of frames that have begun since the last call of `grants_until`.
    sums: Grants,
}

impl Terminal {
    /// An idle one on a link of this rate. Its times of requests and frames are drawn.
    pub(in crate::net) fn new(dama: Dama, rate: BitRate, mut random: RandomStream) -> Self {
        let mut within =
            |period: Duration| Instant::from_nanos((random.uniform() * period.as_nanos() as f64) as u64);
        let most = dama.most(rate).get();
        Self {
            next_request: within(dama.request_every),
            next_frame: within(dama.frame),
            constant: dama.constant().get(),
            most,
            dama,
            rate,
            granted: VecDeque::new(),
            placed: VecDeque::new(),
            requests: VecDeque::new(),
            rate_in_force: 0,
            volume_in_force: 0,
            waiting: 0,
            asked: 0,
            came: 0,
            sums: Grants::default(),
        }
    }

    /// Takes a packet that joins at `now`: when its first bit leaves, and its last.
    pub(in crate::net) fn send(&mut self, now: Instant, bytes: u32) -> [Instant; 2] {
        self.settle(now);
        self.waiting += u64::from(bytes);
        self.came += u64::from(bytes);
        let acts = self.next_request + self.dama.grant_after;
        let (mut left, mut begin) = (u64::from(bytes), None);
        let mut place = self.placed.len().saturating_sub(1);
        loop {
            let at = self.next_frame + self.dama.frame * place as u64;
            let room = if at < acts { self.grant(place).bytes } else { self.most };
            if place == self.placed.len() {
                self.placed.push_back(0);
            }
            let placed = &mut self.placed[place];
            let sent = |bytes: u64| at + self.rate.time_to_send(Bytes::new(bytes));
            let taken = left.min(room - (*placed).min(room));
            if taken > 0 {
                begin = begin.or(Some(sent(*placed)));
            }
            *placed += taken;
            left -= taken;
            if left == 0 {
                return [begin.unwrap_or(at), sent(*placed)];
            }
            place += 1;
        }
    }

    /// Lets requests and frames pass that were due by `now`.
    fn settle(&mut self, now: Instant) {
        while self.next_request.min(self.next_frame) <= now {
            if self.is_idle() {
                self.rest(now);
            } else if self.next_request <= self.next_frame {
                self.ask();
            } else {
                self.begin_frame();
            }
        }
    }

    /// True when nothing waits, nothing is asked for, and only the constant rate is granted.
    fn is_idle(&self) -> bool {
        (self.waiting, self.came, self.asked, self.rate_in_force) == (0, 0, 0, 0)
            && self.requests.is_empty()
            && self.granted.iter().all(|grant| grant.bytes == self.constant)
    }

    /// Passes over all requests and frames up to `now`, as nothing asks for them or uses them.
    fn rest(&mut self, now: Instant) {
        let due = |next: Instant, every: Duration| {
            if next > now { 0 } else { (now - next).as_nanos() / every.as_nanos() + 1 }
        };
        let frames = due(self.next_frame, self.dama.frame);
        self.next_frame += self.dama.frame * frames;
        self.next_request += self.dama.request_every * due(self.next_request, self.dama.request_every);
        self.granted.clear();
        self.placed.clear();
        let unused = frames * self.constant;
        self.sums = self.sums.joined(Grants { bytes: unused, unused });
    }

    fn ask(&mut self) {
        let acts = self.next_request + self.dama.grant_after;
        let known = if self.next_frame < acts {
            let grant = self.grant(0);
            grant.bytes - grant.volume
        } else {
            self.constant
        };
        let volume = self.waiting.saturating_sub(self.asked + known);
        self.asked += volume;
        let unasked = self.dama.cra.map_or(0, |rate| rate.data_in(self.dama.request_every).get());
        let came = std::mem::take(&mut self.came).saturating_sub(unasked);
        let rate = if self.dama.kind == DamaKind::RateAndVolume { came } else { 0 };
        let last = self.requests.back().map_or(self.rate_in_force, |request| request.rate);
        if volume > 0 || rate != last {
            self.requests.push_back(Request { acts, rate, volume });
        }
        self.next_request += self.dama.request_every;
    }

    fn begin_frame(&mut self) {
        let grant = self.grant(0);
        self.granted.pop_front();
        let used = self.placed.pop_front().unwrap_or(0);
        let unused = grant.bytes.checked_sub(used).expect("a request covers what waits");
        self.sums = self.sums.joined(Grants { bytes: grant.bytes, unused });
        self.waiting -= used;
        self.asked -= grant.volume;
        self.next_frame += self.dama.frame;
    }

    /// Grant of a frame, counted from the next one. Requests yet to come must not act in it.
    fn grant(&mut self, place: usize) -> Grant {
        while self.granted.len() <= place {
            let at = self.next_frame + self.dama.frame * self.granted.len() as u64;
            while let Some(request) = self.requests.front().filter(|request| request.acts <= at) {
                self.rate_in_force = request.rate;
                self.volume_in_force += request.volume;
                self.requests.pop_front();
            }
            let [frame, every] =
                [self.dama.frame, self.dama.request_every].map(|span| u128::from(span.as_nanos()));
            let by_rate = (u128::from(self.rate_in_force) * frame).div_ceil(every);
            let unasked = (u128::from(self.constant) + by_rate).min(u128::from(self.most)) as u64;
            let volume = self.volume_in_force.min(self.most - unasked);
            self.volume_in_force -= volume;
            self.granted.push_back(Grant { bytes: unasked + volume, volume });
        }
        self.granted[place]
    }

    /// Grants of frames that have begun by `now`, since they were last told.
    pub(in crate::net) fn grants_until(&mut self, now: Instant) -> Grants {
        self.settle(now);
        std::mem::take(&mut self.sums)
    }
}
