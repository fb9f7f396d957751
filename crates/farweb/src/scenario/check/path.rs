//! Rules of the path: names of nodes, links between neighbours, queues and losses.

use super::{Check, DELAY_MAX, count};
use crate::scenario::{LinkDirection, Loss, QueueCounts, QueueLimit, Scenario};
use crate::units::Bytes;

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
