//! The wait of a first packet after a silence: for a grant of capacity on demand, or for a radio to wake.

use super::figures;
use super::leg::{Stretch, WindowLimit};
use crate::net::Direction;
use crate::units::Bytes;

/// Label of the first line.
const LABEL: &str = "after a silence";

/// A line for each direction of a link with such a wait, and its label.
pub(super) fn lines(stretch: &Stretch<'_>) -> Vec<(&'static str, String)> {
    let full = Bytes::new(WindowLimit::on(stretch, None).packet_bytes());
    let mut lines = Vec::new();
    for (index, link) in stretch.links.iter().enumerate() {
        for way in [Direction::Up, Direction::Down] {
            let (own, name) = (link.towards(way), format!("link {} {}", stretch.first + index, way.name()));
            if let Some(dama) = own.dama {
                let wait = figures::span(dama.mean_wait(full));
                let unasked = dama.cra.map(|cra| format!(", {} unasked", figures::rate(cra.as_bps() as f64)));
                let unasked = unasked.unwrap_or_default();
                lines.push(format!("{full} wait {wait} on average for a grant of {name} (DAMA{unasked})"));
            }
            if let Some(wake) = own.wake {
                let [after, delay] = [wake.after, wake.delay].map(figures::span);
                lines.push(format!("a packet waits {delay} until {name} wakes, {after} after the last one"));
            }
        }
    }
    let labels = std::iter::once(LABEL).chain(std::iter::repeat(""));
    labels.zip(lines).collect()
}
