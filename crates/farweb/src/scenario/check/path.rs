//! Rules of the path: names of nodes, links between neighbours, queues and losses.

use super::{Check, DELAY_MAX, count};
use crate::scenario::{LinkDirection, Loss, Outage, QueueCounts, QueueLimit, Scenario};
use crate::units::{Bytes, Duration};

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
            self.direction(&format!("path.link.{index}.up"), &link.up);
            self.direction(&format!("path.link.{index}.down"), &link.down);
        }
    }

    fn direction(&mut self, key: &str, direction: &LinkDirection) {
        if direction.delay > DELAY_MAX {
            self.report(format!("{key}.delay"), format!("found {}; it is at most 24 h", direction.delay));
        }
        let is_zero =
            matches!(direction.queue, Some(QueueLimit::Bytes(Bytes::ZERO) | QueueLimit::Packets(0)));
        if is_zero && direction.queue_counts == QueueCounts::All {
            let why = "the limit counts the packet in transmission, so nothing would pass";
            self.report(format!("{key}.queue"), format!("found 0; {why}; leave the key out for no limit"));
        }
        self.loss(&format!("{key}.loss"), &direction.loss);
        self.steps(key, direction);
        self.outages(&format!("{key}.outage"), &direction.outage);
    }

    fn steps(&mut self, key: &str, direction: &LinkDirection) {
        let steps = &direction.steps;
        for (index, step) in steps.iter().enumerate() {
            let key = format!("{key}.steps.{index}");
            if let Some(before) = index.checked_sub(1).map(|before| steps[before].at)
                && step.at <= before
            {
                self.report(
                    format!("{key}.at"),
                    format!("found {} behind {before}; steps follow one another in time", step.at),
                );
            }
            if step.rate.is_some() && direction.rate.0.is_none() {
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
        if let (Some(every), last) = (direction.steps_every, steps.last().map(|step| step.at)) {
            let key = format!("{key}.steps_every");
            match last {
                None => self.report(key, "there are no steps; write some, or leave the key out"),
                Some(last) if every <= last => {
                    self.report(key, format!("found {every}; it is above the time of the last step, {last}"));
                }
                Some(_) => {}
            }
        }
    }

    fn outages(&mut self, key: &str, outages: &[Outage]) {
        let mut share = 0.0;
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
                Some(every) => share += outage.lasts.as_secs_f64() / every.as_secs_f64(),
                None => {}
            }
        }
        if share >= 1.0 {
            self.report(
                key,
                "outages that come again take all the time; leave some in which something is sent",
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
            Loss::None | Loss::List { .. } => {}
            Loss::Bernoulli { probability: value } => probability("probability", *value),
            Loss::GilbertElliott { good_to_bad, bad_to_good, loss_good, loss_bad } => {
                probability("good_to_bad", *good_to_bad);
                probability("bad_to_good", *bad_to_good);
                probability("loss_good", *loss_good);
                probability("loss_bad", *loss_bad);
            }
        }
    }
}
