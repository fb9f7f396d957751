//! Rules of the path: names of nodes, links between neighbours, and losses.

use super::{Check, DELAY_MAX, count};
use crate::net::{ListedPackets, PERIOD_MIN, PacketKind};
use crate::scenario::{
    Fade, Handover, Jitter, Link, LinkDirection, Loss, Outage, Scenario, ScheduleAfter, Shift, Variation,
};
use crate::units::{Bytes, Decibels, Duration};

/// Largest factor of a handover on a rate. Chosen: a thousand is far from any link.
const FACTOR_MAX: f64 = 1000.0;

/// Most bytes of an opportunity. Chosen: one a ms is 134 Gbit/s.
const TRACE_BYTES_MAX: Bytes = Bytes::new(1 << 24);

/// Most nodes of a path. Chosen: a packet carries the number of its destination in a byte.
const NODES_MAX: usize = 255;

impl Check {
    pub(super) fn path(&mut self, scenario: &Scenario) {
        let nodes = &scenario.path.nodes;
        if !(2..=NODES_MAX).contains(&nodes.len()) {
            let found = count(nodes.len(), "node");
            self.report("path.nodes", format!("found {found}; a path has 2 to {NODES_MAX} nodes"));
        }
        for (index, node) in nodes.iter().enumerate() {
            let key = format!("path.nodes.{index}");
            self.one_line(&key, node);
            if node.trim().is_empty() {
                self.report(key, "found an empty name; a node needs one");
            } else if nodes[..index].contains(node) {
                self.report(key, format!("{node:?} is there twice; each node needs a name of its own"));
            }
        }
        let (links, wanted) = (scenario.path.link.len(), nodes.len().saturating_sub(1));
        if links != wanted && nodes.len() >= 2 {
            let found = format!("found {} for {}", count(links, "link"), count(nodes.len(), "node"));
            self.report("path.link", format!("{found}; write {wanted}, one between each node and the next"));
        }
        for (index, link) in scenario.path.link.iter().enumerate() {
            for (name, direction) in [("up", &link.up), ("down", &link.down)] {
                self.direction(&format!("path.link.{index}.{name}"), direction, link);
            }
            if let Some(handover) = &link.handover {
                if link.has_trace() {
                    let message = "there is a trace, which has gaps of its own; leave the handovers out";
                    self.report(format!("path.link.{index}.handover"), message);
                }
                self.handover(&format!("path.link.{index}.handover"), handover, link);
            }
        }
    }

    fn direction(&mut self, key: &str, direction: &LinkDirection, link: &Link) {
        if direction.delay > DELAY_MAX {
            self.report(format!("{key}.delay"), format!("found {}; it is at most 24 h", direction.delay));
        }
        if let Some(queue) = &direction.queue {
            self.queue(key, queue, direction);
        }
        self.loss(&format!("{key}.loss"), &direction.loss);
        self.steps(key, direction);
        self.schedule(key, direction);
        self.trace(key, direction);
        if let Some(fade) = &direction.fade {
            self.fade(key, fade, direction);
        }
        self.outages(&format!("{key}.outage"), &direction.outage, link.handover.as_ref());
        if let Some(variation) = &direction.variation {
            self.variation(&format!("{key}.variation"), variation);
            if !direction.is_rated() {
                self.report(
                    format!("{key}.variation"),
                    "the rate is unlimited; write a rate, which then varies",
                );
            }
        }
        if let Some(jitter) = &direction.jitter {
            self.jitter(&format!("{key}.jitter"), jitter);
        }
        if let Some(dama) = &direction.dama {
            self.dama(key, dama, direction, link);
        }
        if let Some(wake) = &direction.wake {
            self.wake(&format!("{key}.wake"), wake, direction);
        }
    }

    pub(super) fn period(&mut self, key: String, every: Duration) {
        if every < PERIOD_MIN {
            self.report(key, format!("found {every}; what comes again does so in {PERIOD_MIN} or more"));
        }
    }

    fn handover(&mut self, key: &str, handover: &Handover, link: &Link) {
        let Handover { every, gap, rate, delay, loss, loss_for, .. } = *handover;
        self.period(format!("{key}.every"), every);
        let least_first = [
            ("gap", gap[0] <= gap[1], gap.map(|gap| gap.to_string())),
            ("rate", rate[0] <= rate[1], rate.map(|rate| rate.to_string())),
            ("delay", delay[0] <= delay[1], delay.map(|delay| delay.to_string())),
        ];
        for (name, is_ordered, [first, second]) in least_first {
            if !is_ordered {
                self.report(
                    format!("{key}.{name}"),
                    format!("found {first} before {second}; write the smaller one first"),
                );
            }
        }
        for (name, span) in [("gap", gap[1]), ("loss_for", loss_for)] {
            if span >= every {
                self.report(
                    format!("{key}.{name}"),
                    format!("found {span} for handovers every {every}; it is shorter"),
                );
            }
        }
        if !(rate[0] > 0.0 && rate[1] <= FACTOR_MAX) {
            let found = format!("found {} to {}", rate[0], rate[1]);
            self.report(
                format!("{key}.rate"),
                format!("{found}; a factor is above 0 and at most {FACTOR_MAX}"),
            );
        }
        if !(0.0..=1.0).contains(&loss) {
            self.report(format!("{key}.loss"), format!("found {loss}; a probability is 0 to 1"));
        }
        if delay[1].of(Duration::ZERO) > DELAY_MAX {
            self.report(format!("{key}.delay"), format!("found {}; it is at most 24 h", delay[1]));
        }
        let least_of = |own: &LinkDirection| {
            own.steps.iter().filter_map(|step| step.delay).fold(own.delay, Duration::min)
        };
        let least = least_of(&link.up).min(least_of(&link.down)).min(DELAY_MAX);
        let most_below = Shift::from_nanos(-(least.as_nanos() as i64));
        if delay[0] < most_below {
            let found = format!("found {} for a link with a delay of {least}", delay[0]);
            self.report(
                format!("{key}.delay"),
                format!("{found}; write {most_below} or more, as no delay is below zero"),
            );
        }
    }

    fn variation(&mut self, key: &str, variation: &Variation) {
        self.period(format!("{key}.every"), variation.every);
    }

    fn jitter(&mut self, key: &str, jitter: &Jitter) {
        if jitter.uniform.is_some() == jitter.normal.is_some() {
            self.report(key, "write either uniform or normal, such as { uniform = \"3 ms\" }");
        }
        if jitter.correlation.is_some() && jitter.normal.is_none() {
            self.report(
                format!("{key}.correlation"),
                "only normal times are correlated; write normal, or leave it out",
            );
        }
        for (name, span) in [("uniform", jitter.uniform), ("normal", jitter.normal)] {
            if let Some(span) = span.filter(|span| *span > DELAY_MAX) {
                self.report(format!("{key}.{name}"), format!("found {span}; it is at most 24 h"));
            }
        }
    }

    fn steps(&mut self, key: &str, direction: &LinkDirection) {
        let steps = &direction.steps;
        for (index, step) in steps.iter().enumerate() {
            let key = format!("{key}.steps.{index}");
            if let Some(before) = index.checked_sub(1).map(|before| steps[before].at)
                && step.at <= before
            {
                let found =
                    if step.at == before { "a second time".to_owned() } else { format!("behind {before}") };
                self.report(
                    format!("{key}.at"),
                    format!("found {} {found}; steps follow one another in time", step.at),
                );
            }
            if step.rate.is_some() && !direction.is_rated() {
                let why = "the link's own rate is unlimited; write a rate there, from which this one follows";
                self.report(format!("{key}.rate"), why);
            }
            if let Some(delay) = step.delay.filter(|delay| *delay > DELAY_MAX) {
                self.report(format!("{key}.delay"), format!("found {delay}; it is at most 24 h"));
            }
            if let Some(loss) = step.loss.filter(|loss| !(0.0..=1.0).contains(loss)) {
                self.report(format!("{key}.loss"), format!("found {loss}; a probability is 0 to 1"));
            }
            if (step.rate, step.delay, step.loss) == (None, None, None) {
                self.report(key, "found a step that changes nothing; write rate, delay or loss");
            }
        }
        if let (Some(every), last) = (direction.steps_every, steps.last().map(|step| step.at))
            && direction.schedule.is_none()
        {
            let key = format!("{key}.steps_every");
            self.period(key.clone(), every);
            match last {
                None => self.report(key, "there are no steps; write some, or leave the key out"),
                Some(last) if every <= last => {
                    self.report(key, format!("found {every}; it is above the time of the last step, {last}"));
                }
                Some(_) => {}
            }
        }
    }

    fn schedule(&mut self, key: &str, direction: &LinkDirection) {
        let Some(file) = &direction.schedule else {
            if direction.schedule_after != ScheduleAfter::Hold {
                let message = "there is no schedule; write schedule = \"pass.csv\", or leave the key out";
                self.report(format!("{key}.schedule_after"), message);
            }
            return;
        };
        self.file(&format!("{key}.schedule"), file);
        if !direction.steps.is_empty() || direction.steps_every.is_some() {
            let message = "there is a schedule, which sets steps; write steps or schedule";
            self.report(format!("{key}.steps"), message);
        }
    }

    fn trace(&mut self, key: &str, direction: &LinkDirection) {
        let Some(file) = &direction.trace else {
            for name in direction.keys_of_trace() {
                let message = "there is no trace; write trace = \"down.trace\", or leave the key out";
                self.report(format!("{key}.{name}"), message);
            }
            return;
        };
        self.file(&format!("{key}.trace"), file);
        let steps = direction.steps.iter().position(|step| step.rate.is_some());
        for (name, is_there) in [
            (format!("{key}.rate"), direction.rate.is_some() && direction.opportunities.is_none()),
            (format!("{key}.steps.{}.rate", steps.unwrap_or_default()), steps.is_some()),
            (format!("{key}.fade"), direction.fade.is_some()),
            (format!("{key}.variation"), direction.variation.is_some()),
            (format!("{key}.outage"), !direction.outage.is_empty()),
        ] {
            if is_there {
                self.report(name, "there is a trace, which says when the link sends; write one of the two");
            }
        }
        if direction.trace_overhead >= direction.trace_bytes {
            let (found, bytes) = (direction.trace_overhead, direction.trace_bytes);
            self.report(
                format!("{key}.trace_overhead"),
                format!("found {found} of the {bytes} of an opportunity; write less"),
            );
        }
        if direction.trace_bytes > TRACE_BYTES_MAX {
            let found = direction.trace_bytes;
            self.report(
                format!("{key}.trace_bytes"),
                format!("found {found}; an opportunity has at most {TRACE_BYTES_MAX}"),
            );
        }
    }

    fn fade(&mut self, direction_key: &str, fade: &Fade, direction: &LinkDirection) {
        let key = format!("{direction_key}.fade");
        if !direction.is_rated() {
            self.report(&key, "the rate is unlimited; write a rate, which is there in a clear sky");
        }
        for (name, is_there) in
            [("steps", !direction.steps.is_empty()), ("schedule", direction.schedule.is_some())]
        {
            if is_there {
                let message = format!("there is a fade, which sets rate and losses; write {name} or fade");
                self.report(format!("{direction_key}.{name}"), message);
            }
        }
        self.period(format!("{key}.report"), fade.report);
        if fade.report > DELAY_MAX {
            self.report(format!("{key}.report"), format!("found {}; it is at most 24 h", fade.report));
        }
        if fade.most() < 0 {
            let more = Decibels::from_millis(fade.clear.as_millis() + fade.most().unsigned_abs() as u32);
            let found = format!("found {} with a margin of {}", fade.clear, fade.margin);
            self.report(
                format!("{key}.clear"),
                format!("{found}, which the slowest modcod does not reach; write {more} or more"),
            );
        }
        for (index, pair) in fade.attenuation.windows(2).enumerate() {
            if pair[1].at <= pair[0].at {
                let found = format!("found {} behind {}", pair[1].at, pair[0].at);
                self.report(
                    format!("{key}.attenuation.{}.at", index + 1),
                    format!("{found}; times follow one another"),
                );
            }
        }
        match fade.attenuation.last() {
            None => {
                self.report(
                    format!("{key}.attenuation"),
                    "there is none; write { at, depth }, once at least",
                );
            }
            Some(last) if i64::from(last.depth.as_millis()) > fade.most().max(0) => {
                let most = Decibels::from_millis(fade.most().max(0) as u32);
                self.report(
                    format!("{key}.attenuation.{}.depth", fade.attenuation.len() - 1),
                    format!(
                        "found {}, behind which nothing is sent any more; at the end write {most} or less",
                        last.depth
                    ),
                );
            }
            Some(_) => {}
        }
    }

    fn outages(&mut self, key: &str, outages: &[Outage], handover: Option<&Handover>) {
        let of_time = |lasts: Duration, every: Duration| lasts.as_secs_f64() / every.as_secs_f64();
        let mut share = handover.map_or(0.0, |handover| of_time(handover.gap[1], handover.every));
        for (index, outage) in outages.iter().enumerate() {
            let key = format!("{key}.{index}");
            if outage.lasts == Duration::ZERO {
                self.report(format!("{key}.lasts"), "found 0 s; write a duration above zero");
            }
            match outage.every {
                Some(every) if every <= outage.lasts => {
                    let found = format!("found {every} for outages of {}", outage.lasts);
                    self.report(
                        format!("{key}.every"),
                        format!("{found}; it is longer, so that something is sent"),
                    );
                }
                Some(every) => {
                    self.period(format!("{key}.every"), every);
                    share += of_time(outage.lasts, every);
                }
                None => {}
            }
        }
        if share >= 1.0 && !outages.is_empty() {
            self.report(
                key,
                "outages that come again, and gaps of handovers, take all the time; leave some in which something is sent",
            );
        }
    }

    fn loss(&mut self, key: &str, loss: &Loss) {
        let mut probability = |name: &str, value: f64| {
            if !(0.0..=1.0).contains(&value) {
                self.report(format!("{key}.{name}"), format!("found {value}; a probability is 0 to 1"));
            }
        };
        match loss {
            Loss::None => {}
            Loss::List { mark, .. } => self.marks(&format!("{key}.mark"), mark),
            Loss::Bernoulli { probability: value } => probability("probability", *value),
            Loss::GilbertElliott { good_to_bad, bad_to_good, loss_good, loss_bad } => {
                probability("good_to_bad", *good_to_bad);
                probability("bad_to_good", *bad_to_good);
                probability("loss_good", *loss_good);
                probability("loss_bad", *loss_bad);
            }
        }
    }
    /// Only data is ECT.
    fn marks(&mut self, key: &str, listed: &[ListedPackets]) {
        for (index, packets) in listed.iter().enumerate() {
            if packets.kind().is_some_and(|kind| kind != PacketKind::Data) {
                let problem = format!("found \"{packets}\"; only data is ever marked, such as \"data 8\"");
                self.report(format!("{key}.{index}"), problem);
            }
        }
    }
}
