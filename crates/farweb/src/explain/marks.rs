//! ECN of a leg: who asks for it, and where packets are marked.
//!
//! Both ends of a leg have the same constants, so that an end that agrees is never asked unless it asks itself.

use super::leg::Stretch;
use super::warnings::Warning;
use crate::net::{Direction, Loss};
use crate::scenario::{LinkDirection, Scenario};
use crate::tcp::Profile;
use crate::tcp::linux::EcnKind;

const WAYS: [Direction; 2] = [Direction::Up, Direction::Down];

fn ecn(stretch: &Stretch<'_>) -> EcnKind {
    if let Profile::Linux(own) = stretch.tcp.profile() { own.ecn } else { EcnKind::Off }
}

/// Name of the part of a link's direction that marks packets. None where nothing does.
fn marker(way: &LinkDirection) -> Option<&'static str> {
    match (&way.loss, way.queue) {
        (Loss::List { mark, .. }, _) if !mark.is_empty() => Some("list"),
        (_, Some(queue)) if way.is_rated() => queue.marking(),
        _ => None,
    }
}

/// A leg's use of ECN in words. None where no end asks for it.
pub(super) fn text(stretches: &[Stretch<'_>]) -> Option<String> {
    let asking: Vec<_> = stretches.iter().filter(|stretch| ecn(stretch) == EcnKind::Request).collect();
    let links = asking.iter().flat_map(|stretch| {
        stretch.links.iter().enumerate().map(|(index, link)| (stretch.first + index, link))
    });
    let places = links.flat_map(|(index, link)| {
        let name = move |way: Direction| {
            Some(format!("link {index} {} ({})", way.name(), marker(link.towards(way))?))
        };
        WAYS.into_iter().filter_map(name)
    });
    let places: Vec<_> = places.collect();
    let marks = if places.is_empty() { "no link marks".to_owned() } else { places.join(", ") };
    (!asking.is_empty()).then(|| format!("both ends ask; {marks}"))
}

/// Warns of ends that never ask, and of marks that no packet can have.
pub(super) fn warnings(scenario: &Scenario, stretches: &[Stretch<'_>]) -> Vec<Warning> {
    let mut warnings = Vec::new();
    for (place, leg) in scenario.leg.iter().enumerate() {
        if leg
            .stretches()
            .any(|tcp| matches!(tcp.profile(), Profile::Linux(own) if own.ecn == EcnKind::Accept))
        {
            warnings.push(Warning::new(
                format!("leg.{place}.tcp.constants.ecn"),
                "neither end asks where both only \"accept\"; \"request\" asks",
            ));
        }
    }
    for (index, link) in scenario.path.link.iter().enumerate() {
        let is_asked = stretches.iter().any(|stretch| {
            (stretch.first..stretch.first + stretch.links.len()).contains(&index)
                && ecn(stretch) == EcnKind::Request
        });
        for way in WAYS {
            let key = match marker(link.towards(way)) {
                Some("list") => "loss.mark",
                Some("codel" | "pie") => "queue.ecn",
                _ => continue,
            };
            if !is_asked {
                warnings.push(Warning::new(
                    format!("path.link.{index}.{}.{key}", way.name()),
                    "no end asks for ECN here, so that packets are dropped in place of marks",
                ));
            }
        }
    }
    warnings
}
