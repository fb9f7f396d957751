//! Rules of the queue in front of a link.

use super::{Check, DELAY_MAX};
use crate::net::{self, PERIOD_MIN};
use crate::scenario::{LinkDirection, Queue, QueueCounts, QueueLimit, QueueTable};
use crate::units::{Bytes, Duration};

/// Least and most bytes of a turn, as in Linux.
const QUANTUM_MIN: Bytes = Bytes::new(256);
const QUANTUM_MAX: Bytes = Bytes::new(1 << 20);

impl Check {
    /// `key` is the one of the direction.
    pub(super) fn queue(&mut self, key: &str, queue: &Queue, direction: &LinkDirection) {
        let table = format!("{key}.queue");
        let is_table = matches!(queue, Queue::Table(_));
        let place = if is_table { format!("{table}.limit") } else { table.clone() };
        match (queue.limit(), direction.limit()) {
            (Some(written @ QueueLimit::Time(_)), None) if direction.rate.is_some() => {
                let why = "an unlimited rate, at which none waits; write a rate, or leave the key out";
                self.report(place, format!("found {written} at {why}"));
            }
            (Some(written), Some(net::QueueLimit::Bytes(Bytes::ZERO) | net::QueueLimit::Packets(0)))
                if direction.is_barred_above_limit() =>
            {
                let why = "the limit counts the packet in transmission, so nothing would pass";
                self.report(place, format!("found {written}; {why}; leave the key out for no limit"));
            }
            _ => {}
        }
        if is_table && direction.queue_counts != QueueCounts::All {
            let message = "found \"waiting\" beside a table; write counts = \"waiting\" into it";
            self.report(format!("{key}.queue_counts"), message);
        }
        let spans = match *queue {
            Queue::Table(
                QueueTable::Codel { target, interval, .. } | QueueTable::FqCodel { target, interval, .. },
            ) => {
                vec![("target", target), ("interval", interval)]
            }
            Queue::Table(QueueTable::Pie { target, update, .. }) => {
                vec![("target", target), ("update", update)]
            }
            Queue::Limit(_) | Queue::Table(QueueTable::DropTail { .. } | QueueTable::DropHead { .. }) => {
                vec![]
            }
        };
        if let Queue::Table(QueueTable::FqCodel { quantum, .. }) = *queue
            && !(QUANTUM_MIN..=QUANTUM_MAX).contains(&quantum)
        {
            self.report(format!("{table}.quantum"), format!("found {quantum}; a turn is 256 B to 1 MiB"));
        }
        for (name, span) in spans {
            self.span(format!("{table}.{name}"), span);
        }
    }

    fn span(&mut self, key: String, span: Duration) {
        if !(PERIOD_MIN..=DELAY_MAX).contains(&span) {
            self.report(key, format!("found {span}; it is {PERIOD_MIN} to 24 h"));
        }
    }
}
