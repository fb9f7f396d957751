//! Rules of capacity on demand, and of a radio that sleeps.

use super::{Check, DELAY_MAX};
use crate::net::PERIOD_MIN;
use crate::scenario::{Dama, Link, LinkDirection, Wake};
use crate::units::{Bytes, Duration};

/// Longest frame, time between requests, and wait for a grant. Chosen: ten times a satellite's.
const SPAN_MAX: Duration = Duration::from_secs(10);

impl Check {
    /// `key` is the one of the direction.
    pub(super) fn dama(&mut self, key: &str, dama: &Dama, direction: &LinkDirection, link: &Link) {
        let table = format!("{key}.dama");
        for (name, span, least) in [
            ("frame", dama.frame, PERIOD_MIN),
            ("request_every", dama.request_every, PERIOD_MIN),
            ("grant_after", dama.grant_after, Duration::ZERO),
        ] {
            if !(least..=SPAN_MAX).contains(&span) {
                self.report(format!("{table}.{name}"), format!("found {span}; it is {least} to {SPAN_MAX}"));
            }
        }
        let Some(rate) = direction.rate() else {
            if direction.trace.is_none() {
                self.report(&table, "the rate is unlimited; write a rate, at which what is granted is sent");
            }
            return self.beside_dama(key, direction, link);
        };
        if let Some(max) = dama.max.filter(|max| *max > rate) {
            self.report(
                format!("{table}.max"),
                format!("found {max} on a link of {rate}; write at most that"),
            );
        }
        let most = dama.max.unwrap_or(rate);
        if let Some(cra) = dama.cra.filter(|cra| *cra > most) {
            self.report(
                format!("{table}.cra"),
                format!("found {cra}, and {most} is the most that is granted; write at most that"),
            );
        }
        if dama.most(rate) == Bytes::ZERO {
            let found = format!("found {most} in frames of {}", dama.frame);
            self.report(
                format!("{table}.frame"),
                format!("{found}, of which none has a byte; write longer ones"),
            );
        }
        self.beside_dama(key, direction, link);
    }

    /// Its departures are known as packets join, at one rate.
    fn beside_dama(&mut self, key: &str, direction: &LinkDirection, link: &Link) {
        let step = direction.steps.iter().position(|step| step.rate.is_some());
        let link_key = key.rsplit_once('.').map_or(key, |(link, _)| link);
        for (other, is_there) in [
            (format!("{key}.steps.{}.rate", step.unwrap_or_default()), step.is_some()),
            (format!("{key}.schedule"), direction.schedule.is_some()),
            (format!("{key}.trace"), direction.trace.is_some()),
            (format!("{key}.fade"), direction.fade.is_some()),
            (format!("{key}.outage"), !direction.outage.is_empty()),
            (format!("{key}.variation"), direction.variation.is_some()),
            (format!("{link_key}.handover"), link.handover.is_some()),
        ] {
            if is_there {
                let message = format!("{key}.dama grants frames at one rate; write one of the two");
                self.report(other, message);
            }
        }
        if direction.queue.is_some_and(|queue| queue.is_late()) {
            let message = format!(
                "found one that decides as packets are taken, and {key}.dama as they arrive; write a limit or \"pie\""
            );
            self.report(format!("{key}.queue"), message);
        }
        if direction.wake.is_some() {
            let message = format!("{key}.dama has the wait after a silence; write one of the two");
            self.report(format!("{key}.wake"), message);
        }
    }

    pub(super) fn wake(&mut self, key: &str, wake: &Wake, direction: &LinkDirection) {
        for (name, span) in [("after", wake.after), ("delay", wake.delay)] {
            if span > DELAY_MAX {
                self.report(format!("{key}.{name}"), format!("found {span}; it is at most 24 h"));
            }
        }
        if !direction.is_rated() {
            self.report(key, "the rate is unlimited; write a rate, at which what waited is sent");
        }
    }
}
