//! A connection whose congestion control models the path ([`bbr`](super::congestion)): when it tells the
//! model, and of what.
//!
//! Models the calls of Linux's core to a control with `cong_control`, which sets window and pace in place of the core. Leaves out
//! nothing.
//!
//! Source: Linux 6.18 `tcp_input.c`, `tcp_cong_control()`; `tcp_rate.c`, `tcp_rate_check_app_limited()`;
//! `include/net/tcp.h`, `struct tcp_congestion_ops`.

use super::acknowledge::Ack;
use super::congestion::{BbrReport, Event, Found, RateSample};
use super::connection::Connection;
use crate::rng::RandomStream;
use crate::units::{Duration, Instant};

const fn micros(span: Duration) -> u64 {
    span.as_nanos() / 1000
}

impl Connection {
    /// The congestion control models the path, from before the handshake on.
    #[cold]
    pub(super) fn begin_by_rate(&mut self, random: RandomStream) {
        self.congestion.begin_by_rate(random);
        self.queue.rates = Some(Box::default());
    }

    fn found(&self) -> Found {
        let now = self.clock.now();
        let next = self.congestion.next_departure().unwrap_or(Instant::ZERO);
        Found {
            now: micros(now - Instant::ZERO),
            wait: micros(next.saturating_since(now)),
            jiffies: self.clock.jiffies(),
            jiffy: self.profile.jiffy,
            mss: self.mss,
            delivered: self.queue.delivered_total,
            lost: self.queue.lost_total,
            delivered_at: self.queue.rates.as_ref().map_or(0, |rates| rates.delivered_at),
            in_flight: self.queue.in_flight(),
            state: self.recovery.state,
            srtt: self.rtt.srtt().map(micros),
            min_rtt: self.rtt.min_rtt().map(micros),
        }
    }

    /// The model of BBR. `None` with another control, and before the connection is established.
    #[must_use]
    pub fn bbr(&self) -> Option<BbrReport> {
        self.congestion.report(micros(self.clock.now() - Instant::ZERO), self.mss)
    }

    /// Tells the model of an event, if there is one.
    #[inline]
    pub(super) fn tell_model(&mut self, event: Event) {
        if self.congestion.is_by_rate() {
            let found = self.found();
            self.congestion.on_event(&found, event);
        }
    }

    /// An ACK comes that may make a sample.
    #[cold]
    pub(super) fn begin_sample(&mut self) {
        let (in_flight, is_skipped) = (self.queue.in_flight(), self.recovery.has_reneged);
        if let Some(rates) = &mut self.queue.rates {
            rates.begin_sample(in_flight, is_skipped);
        }
    }

    /// An ACK moves model, window and pace.
    #[cold]
    pub(super) fn control_by_rate(&mut self, acked: u32, lost: u32, ack: &Ack) {
        let (now, delivered) = (self.clock.now(), self.queue.delivered_total);
        let min_rtt = self.rtt.min_rtt().map(micros);
        let Some(rates) = &mut self.queue.rates else { return };
        let prior_delivered = ack.prior_delivered.map_or(0, |(delivered, ..)| delivered);
        let sample = RateSample {
            rate: rates.sample(now, delivered, acked, prior_delivered, min_rtt),
            prior_delivered,
            acked,
            lost,
            rtt: ack.rtt.map(micros),
            maybe_delayed: ack.maybe_delayed,
            prior_in_flight: rates.prior_in_flight,
        };
        let found = self.found();
        if self.congestion.on_rate(&self.clock, &found, &sample) {
            self.limit_rates();
        }
    }

    /// The application writes: the flight is its own choice if nothing else holds the sender.
    pub(super) fn check_application_limit(&mut self) {
        if self.congestion.is_by_rate()
            && self.unsent() < self.mss
            && self.may_send()
            && self.queue.lost_out <= self.queue.retrans_out
        {
            self.limit_rates();
        }
    }

    /// Rates are no measure of the path until more than the flight is delivered.
    fn limit_rates(&mut self) {
        let flight = self.queue.delivered_total + u64::from(self.queue.in_flight());
        if let Some(rates) = &mut self.queue.rates {
            rates.limit(flight);
        }
    }

    /// Data leaves after an empty flight.
    #[cold]
    pub(super) fn restart_by_rate(&mut self) {
        if self.queue.rates.as_ref().is_some_and(|rates| rates.app_limited > 0) {
            self.tell_model(Event::RestartsFromIdle);
        }
    }
}
