//! HTTP/2 and HTTP/1.1 against real programs: the same requests over the same links.
//!
//! `tests/data/http/README.md` says how the reference was made.

mod cells;
mod scenario;

use cells::Cell;
use scenario::Outcome;

/// Largest error of a cell without a loss: relative, or in ms if that is more. Below, the largest of one with
/// a loss.
const LOSS_FREE: (f64, f64) = (0.02, 3.0);
const LOSSY: f64 = 0.07;
/// Hosts that a cell is simulated with: an odd number, for the median.
const HOSTS: u64 = 3;
/// Largest median of the relative errors of all cells.
const MEDIAN: f64 = 0.001;
/// Rows of the table of worst cells.
const WORST: usize = 20;

/// Why a cell is not simulated.
fn left_out(cell: &Cell) -> Option<&'static str> {
    (cell.protocol == "h3").then_some("HTTP/3")
}

struct Compared {
    cell: Cell,
    outcome: Outcome,
}

impl Compared {
    fn error_ms(&self) -> f64 {
        self.outcome.total_ms - self.cell.total_ms
    }

    fn error(&self) -> f64 {
        self.error_ms() / self.cell.total_ms
    }

    fn is_in_time(&self) -> bool {
        if self.cell.drop.is_empty() {
            self.error().abs() <= LOSS_FREE.0 || self.error_ms().abs() <= LOSS_FREE.1
        } else {
            self.error().abs() <= LOSSY
        }
    }

    /// True when the client granted and the server framed as often. The reference leaves out nghttp's grant with the last
    /// byte from nginx.
    fn has_equal_frames(&self) -> bool {
        let Cell { server, grants, data_frames, .. } = &self.cell;
        self.outcome.frames.is_none_or(|(granted, framed)| {
            (server != "nghttpd" || *grants == Some(granted)) && *data_frames == Some(framed)
        })
    }

    fn row(&self) -> String {
        let Cell { name, total_ms, grants, data_frames, .. } = &self.cell;
        let Outcome { total_ms: simulated, frames } = self.outcome;
        format!(
            "{:+7.2} % {:+9.2} ms  {name:<58} {simulated:9.2}, real {total_ms:9.2}, grants and frames {frames:?}, real {:?}",
            self.error() * 100.0,
            self.error_ms(),
            grants.zip(*data_frames),
        )
    }
}

fn compared() -> Vec<Compared> {
    let cells = cells::read().into_iter().filter(|cell| left_out(cell).is_none());
    let compare = |cell: Cell| {
        let mut outcomes: Vec<_> = (1..=HOSTS).map(|seed| scenario::outcome(&cell, seed)).collect();
        outcomes.sort_by(|a, b| a.total_ms.total_cmp(&b.total_ms));
        let outcome = outcomes.swap_remove(outcomes.len() / 2);
        Compared { cell, outcome }
    };
    let mut all: Vec<_> = cells.map(compare).collect();
    all.sort_by(|a, b| b.error().abs().total_cmp(&a.error().abs()));
    all
}

/// Cells that the model does not meet, and why.
const DISTANT: [(&str, &str); 5] = [
    ("C/h2+tls1.3/curl-nginx/wdef/60-60/10M/1x10000", TEN_OR_ELEVEN),
    ("C/h2+tls1.2/curl-nginx/wdef/60-60/10M/1x100000", TEN_OR_ELEVEN),
    ("C/h2+tls1.3/curl-nginx/wdef/5-5/10M/1x10000", "cryptography takes 3.2 ms"),
    ("N/h1/curl-nginxN/w-/5-5/10M/20x10000/P6", "five segments were sent again without a loss"),
    ("E/h2/nghttp-nghttpd/w12/5-5/10M/20x10000", "the programs take 0.2 ms in each of twenty rounds"),
];

/// The program's phase decides if the first round has ten segments or eleven, and with it if another round
/// follows.
const TEN_OR_ELEVEN: &str = "one segment decides about a round";

#[test]
#[allow(clippy::print_stdout, reason = "the worst cells are worth seeing when all is well, too")]
fn requests_take_as_long_as_with_real_programs() {
    let all = compared();
    let is_known = |compared: &&Compared| DISTANT.iter().any(|(name, _)| *name == compared.cell.name);
    let (known, others): (Vec<_>, Vec<_>) = all.iter().partition(is_known);
    println!("{} cells; the worst but for {} that are known:", all.len(), known.len());
    others.iter().take(WORST).for_each(|compared| println!("{}", compared.row()));
    let out: Vec<String> = others
        .iter()
        .filter(|compared| !compared.is_in_time() || !compared.has_equal_frames())
        .map(|compared| compared.row())
        .collect();
    assert!(out.is_empty(), "{} cells out of bounds:\n{}", out.len(), out.join("\n"));
    let met: Vec<_> = known.iter().filter(|compared| compared.is_in_time()).map(|met| met.row()).collect();
    assert!(met.is_empty(), "no longer distant:\n{}", met.join("\n"));
    let median = all[all.len() / 2].error().abs();
    assert!(median <= MEDIAN, "median error {:.2} %", median * 100.0);
}
