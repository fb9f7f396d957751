//! The path in text: nodes in a row, properties of each link beneath it, and the legs below.
//!
//! ```text
//! client ──────────────────────────── server
//!         both  34.4 Mbit/s, 60 ms
//!               queue 256 kB
//! └──── leg 0: http/1.0, bsd44-lite ───────┘
//! ```

use std::fmt::Write;

use super::figures;
use super::{carrier, profile_name};
use crate::net::{Direction, Piece, WINDOW_MS};
use crate::scenario::{Jitter, Link, LinkDirection, Loss, QueueCounts, Scenario, Until};
use crate::units::{BitRate, Duration};

/// Widest drawing, in columns. Chosen: fits a terminal beside a margin, a page and a notebook cell.
const WIDEST: usize = 100;

/// Longest node name drawn, in columns. Chosen: one link still fits into a row.
const LONGEST_NAME: usize = 30;

/// Draws the path. One that is too wide goes on in a row below, which starts with the node that ended the row above.
pub(super) fn draw(scenario: &Scenario) -> String {
    let names: Vec<String> = scenario.path.nodes.iter().map(|name| shorten(name)).collect();
    let cells: Vec<Vec<String>> =
        scenario.path.link.iter().map(|link| link_cell(link, scenario.run.until)).collect();
    let mut text = String::new();
    let mut first = 0;
    while first < cells.len() {
        let row = Row::starting_at(first, &names, &cells);
        let last = first + row.starts.len() - 1;
        row.draw(&names[first..=last], &cells[first..last], &mut text);
        for (index, leg) in scenario.leg.iter().enumerate() {
            let place = |name: &str| scenario.path.nodes.iter().position(|node| node == name);
            if let (Some(from), Some(to)) = (place(&leg.from), place(&leg.to))
                && from < last
                && to > first
            {
                let label =
                    format!(" leg {index}: {}, {} ", carrier::name(&leg.carrier), profile_name(&leg.tcp));
                let _ = writeln!(
                    text,
                    "{}",
                    row.leg(from.checked_sub(first), last.checked_sub(to), &label, &names[last])
                );
            }
        }
        first = last;
        if first < cells.len() {
            text.push('\n');
        }
    }
    text
}

/// Nodes and the links between them that fit side by side.
struct Row {
    /// Column where each node's name starts.
    starts: Vec<usize>,
}

impl Row {
    fn starting_at(first: usize, names: &[String], cells: &[Vec<String>]) -> Self {
        let mut starts = vec![0];
        let mut start = 0;
        for (name, (cell, next)) in names[first..].iter().zip(cells[first..].iter().zip(&names[first + 1..]))
        {
            start += width(name) + cell.iter().map(|line| width(line)).max().unwrap_or(0) + 3;
            if start + width(next) > WIDEST && starts.len() > 1 {
                break;
            }
            starts.push(start);
        }
        Self { starts }
    }

    fn draw(&self, names: &[String], cells: &[Vec<String>], text: &mut String) {
        let mut line = String::new();
        for (name, start) in names.iter().zip(&self.starts) {
            let dashes = start.saturating_sub(width(&line) + 1);
            if dashes > 0 {
                line.push_str(&"─".repeat(dashes));
                line.push(' ');
            }
            line.push_str(name);
            line.push(' ');
        }
        let _ = writeln!(text, "{}", line.trim_end());
        for height in 0..cells.iter().map(Vec::len).max().unwrap_or(0) {
            let mut line = String::new();
            for (cell, (name, start)) in cells.iter().zip(names.iter().zip(&self.starts)) {
                let column = start + width(name) + 1;
                line.push_str(&" ".repeat(column - width(&line)));
                line.push_str(cell.get(height).map_or("", String::as_str));
            }
            let _ = writeln!(text, "{}", line.trim_end());
        }
    }

    /// The line of a leg. `from` is its first node in this row, `None` when it starts in a row above. `beyond` is how
    /// many nodes of this row lie behind its last node, `None` when it goes on below.
    fn leg(&self, from: Option<usize>, beyond: Option<usize>, label: &str, last_name: &str) -> String {
        let start = self.starts[from.unwrap_or(0)];
        let last = self.starts.len() - 1;
        let end = match beyond {
            None | Some(0) => self.starts[last] + width(last_name) - 1,
            Some(beyond) => self.starts[last - beyond],
        };
        let (left, right) =
            (if from.is_some() { '└' } else { '─' }, if beyond.is_some() { '┘' } else { '─' });
        let dashes = (end - start).saturating_sub(width(label) + 1);
        let (before, after) = (dashes / 2, dashes - dashes / 2);
        format!("{}{left}{}{label}{}{right}", " ".repeat(start), "─".repeat(before), "─".repeat(after))
    }
}

fn width(text: &str) -> usize {
    text.chars().count()
}

/// A node's name, shortened with an ellipsis when it is too long to draw.
pub(super) fn shorten(name: &str) -> String {
    if width(name) <= LONGEST_NAME {
        return name.to_owned();
    }
    name.chars().take(LONGEST_NAME - 1).chain(['…']).collect()
}

fn link_cell(link: &Link, until: Until) -> Vec<String> {
    let directions = if link.up == link.down {
        vec![("both", Direction::Up)]
    } else {
        vec![("up", Direction::Up), ("down", Direction::Down)]
    };
    let mut lines = Vec::new();
    for (name, way) in directions {
        for (index, line) in direction_lines(link, way, until).into_iter().enumerate() {
            lines.push(format!("{:<5} {line}", if index == 0 { name } else { "" }));
        }
    }
    lines
}

fn direction_lines(link: &Link, way: Direction, until: Until) -> Vec<String> {
    let direction = link.towards(way);
    let mut lines = vec![format!("{}, {}", super::rate_text(direction), figures::span(direction.delay))];
    // Without a rate no packet ever waits.
    if direction.is_rated() {
        lines.push(queue(direction));
    }
    match &direction.loss {
        Loss::None => {}
        loss => lines.push(loss_text(loss)),
    }
    lines.extend(changes(link, way, until));
    lines
}

/// Changes with time, a line each.
pub(super) fn changes(link: &Link, way: Direction, until: Until) -> Vec<String> {
    let (direction, timeline) = (link.towards(way), link.timeline(way));
    let mut lines = Vec::new();
    let rate = |rate: BitRate| figures::rate(rate.as_bps() as f64);
    lines.extend(timeline.trace.as_ref().map(|trace| {
        let [low, high] = trace.usual_rates().map(rate);
        let (gap, length) = (trace.opportunities.longest_gap(), trace.opportunities.period());
        let [gap, length] = [gap, length].map(figures::span);
        format!("{low} to {high} in 95 % of {WINDOW_MS} ms, {length}, longest gap {gap}")
    }));
    if let Some(rates) = link
        .rates(way, until)
        .filter(|rates| timeline.trace.is_none() && (rates.min < rates.max || rates.mean < rates.max))
    {
        let range = format!("{} to {}, ", rate(rates.min), rate(rates.max));
        let range = if rates.min < rates.max { range } else { String::new() };
        lines.push(format!("{range}mean {}", rate(rates.mean)));
    }
    let delays = [timeline.least_delay(direction.delay), timeline.largest_delay(direction.delay)];
    if delays[0] < delays[1] {
        lines.push(format!("{} to {}", figures::span(delays[0]), figures::span(delays[1])));
    }
    lines.extend(direction.schedule.as_ref().map(|file| format!("schedule {}", shorten(file))));
    lines.extend(direction.jitter.map(jitter_text));
    if let Some(dama) = direction.dama {
        lines.push(format!("DAMA, {} to a grant", figures::span(dama.mean_wait_to_ask())));
        let rates = [(dama.cra, "unasked"), (dama.max, "at most")];
        let said = rates.into_iter().filter_map(|(own, word)| Some(format!("{} {word}", rate(own?))));
        lines.extend(Some(said.collect::<Vec<_>>().join(", ")).filter(|line| !line.is_empty()));
    }
    lines.extend(direction.wake.map(|wake| {
        let [after, delay] = [wake.after, wake.delay].map(figures::span);
        format!("wakes in {delay} after {after}")
    }));
    if let Some(most) = direction.steps.iter().filter_map(|step| step.loss).reduce(f64::max)
        && most > 0.0
    {
        lines.push(format!("loss up to {}", figures::percent(most)));
    }
    lines.extend(fade_text(&timeline.fade));
    lines.extend(direction.outage.iter().map(|outage| {
        let again = outage.every.map(|every| format!(" every {}", figures::span(every)));
        let when = again.unwrap_or_else(|| format!(" at {}", figures::span(outage.at)));
        format!("outage {}{when}", figures::span(outage.lasts))
    }));
    lines.extend(direction.variation.map(|variation| {
        let (sigma, every) = (figures::percent(variation.sigma), figures::span(variation.every));
        format!("rate varies by {sigma} every {every}")
    }));
    lines.extend(link.handover.map(|handover| {
        let [least, most] = handover.gap.map(figures::span);
        let gap = if least == most { least } else { format!("{least} to {most}") };
        let lost =
            format!(", loss {} for {}", figures::percent(handover.loss), figures::span(handover.loss_for));
        let loses = handover.loss > 0.0 && handover.loss_for > Duration::ZERO;
        let lost = if loses { lost } else { String::new() };
        format!("handover every {}, gap {gap}{lost}", figures::span(handover.every))
    }));
    lines
}

/// A fade's least rate, and how long it lasts, sends nothing and loses packets. Nothing without one.
fn fade_text(pieces: &[Piece]) -> Option<String> {
    let (first, last) = (pieces.first()?, pieces.last()?);
    let begin = pieces.iter().find(|piece| piece.rate != first.rate || piece.is_lost).unwrap_or(first).at;
    let how_long = match last.rate == first.rate {
        _ if pieces.len() == 1 => return Some("fade without effect".to_owned()),
        true => format!("for {} from {} on", figures::span(last.at - begin), figures::span(begin)),
        false => format!("from {} on", figures::span(begin)),
    };
    let spans = pieces.windows(2).map(|pair| (pair[0], pair[1].at - pair[0].at));
    let lasts = |chosen: fn(&Piece) -> bool| -> Duration {
        spans.clone().filter(|(piece, _)| chosen(piece)).map(|(_, span)| span).sum()
    };
    let least = pieces.iter().map(|piece| piece.rate).filter(|rate| *rate > 0).min()?;
    let mut text = format!("fade {how_long}, {} at least", figures::rate(least as f64));
    for (what, span) in [("silent", lasts(|piece| piece.rate == 0)), ("losing", lasts(|piece| piece.is_lost))]
    {
        if span > Duration::ZERO {
            write!(text, ", {what} for {}", figures::span(span)).expect("text takes it");
        }
    }
    Some(text)
}

fn jitter_text(jitter: Jitter) -> String {
    let span = figures::span(jitter.uniform.or(jitter.normal).unwrap_or_default());
    if jitter.uniform.is_some() { format!("jitter up to {span}") } else { format!("jitter {span}, normal") }
}

fn queue(direction: &LinkDirection) -> String {
    let is_sized = direction.queue.is_some_and(|queue| !queue.is_aqm());
    let counts = if is_sized && direction.counts() == QueueCounts::Waiting { " waiting" } else { "" };
    format!("queue {}{counts}", super::queue_text(direction))
}

/// A loss process in a few words.
pub(super) fn loss_text(loss: &Loss) -> String {
    match loss {
        Loss::None => "none".to_owned(),
        Loss::List { drop, mark, .. } => {
            let named = [("loss", drop.len()), ("marks", mark.len())];
            let texts =
                named.iter().filter(|(name, number)| *number > 0 || *name == "loss" && mark.is_empty());
            texts.map(|(name, number)| format!("{name} by list, {number}")).collect::<Vec<_>>().join(", ")
        }
        Loss::Bernoulli { probability } => format!("loss {}", figures::percent(*probability)),
        Loss::GilbertElliott { good_to_bad, bad_to_good, loss_good, loss_bad } => {
            // Share of packets that meet the bad state in the long run.
            let bad = good_to_bad / (good_to_bad + bad_to_good).max(f64::MIN_POSITIVE);
            format!("loss {} in bursts", figures::percent(bad * loss_bad + (1.0 - bad) * loss_good))
        }
    }
}
