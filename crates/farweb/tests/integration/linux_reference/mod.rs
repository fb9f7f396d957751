//! The Linux profiles against a Linux kernel: the same transfers over the same links.
//!
//! `tests/data/linux/README.md` says how the reference was made. A kernel's timers run on ticks that begin at some phase, so
//! cells with losses differ from run to run: each is simulated with several hosts, and medians are compared.

mod cells;
mod direct;
mod scenario;
mod stacks;

use cells::Cell;

/// Hosts that a cell is simulated with: an odd number, for the median.
const HOSTS_LOSS_FREE: u64 = 3;
const HOSTS_LOSSY: u64 = 15;
/// Largest error of cells without a loss: relative, or in ms if that is more.
const LOSS_FREE: (f64, f64) = (0.02, 1.0);
/// Largest relative error of cells with losses.
const LOSSY: f64 = 0.07;
/// Largest median of the relative errors of all cells.
const MEDIAN: f64 = 0.002;
/// Rows of the table of worst cells.
const WORST: usize = 25;

/// A cell with its simulated values.
struct Compared {
    cell: Cell,
    /// Total times of all hosts in ms, in order.
    totals: Vec<f64>,
    /// Segments that were sent again, by the median.
    retransmits: i64,
}

impl Compared {
    fn median(&self) -> f64 {
        self.totals[self.totals.len() / 2]
    }

    fn error_ms(&self) -> f64 {
        self.median() - self.cell.total_ms
    }

    fn error(&self) -> f64 {
        self.error_ms() / self.cell.total_ms
    }

    fn is_within_bounds(&self) -> bool {
        self.cell.agrees_with(self.retransmits) && self.is_in_time()
    }

    fn is_in_time(&self) -> bool {
        if self.cell.is_lossy() {
            self.error().abs() <= LOSSY
        } else {
            self.error().abs() <= LOSS_FREE.0 || self.error_ms().abs() <= LOSS_FREE.1
        }
    }

    fn row(&self) -> String {
        let Cell { total_ms, total_min, total_max, retransmits, .. } = &self.cell;
        let (low, high) = (self.totals[0], self.totals[self.totals.len() - 1]);
        format!(
            "{:+7.2} % {:+9.2} ms  {:<58} {:9.2} [{low:.1} {high:.1}], kernel {total_ms:9.2} [{total_min:.1} {total_max:.1}], sent again {} kernel {retransmits}",
            self.error() * 100.0,
            self.error_ms(),
            self.cell.label(),
            self.median(),
            self.retransmits,
        )
    }
}

/// True when a cell has several requests on a connection, or depends on one clock for both hosts. If the SYN-ACK is lost,
/// one tick of the timer wheel decides if the server's timer runs before the client's second SYN arrives.
fn is_direct(cell: &Cell) -> bool {
    cell.requests > 1 || cell.drop.contains("synack")
}

fn compared() -> Vec<Compared> {
    let mut all = Vec::new();
    for cell in cells::read() {
        let hosts = if cell.is_lossy() { HOSTS_LOSSY } else { HOSTS_LOSS_FREE };
        let results: Vec<(f64, i64)> = (1..=hosts)
            .map(|seed| {
                if is_direct(&cell) { direct::transfer(&cell, seed) } else { scenario::transfer(&cell, seed) }
            })
            .collect();
        let mut totals: Vec<f64> = results.iter().map(|(total, _)| *total).collect();
        let mut retransmits: Vec<i64> = results.iter().map(|(_, retransmits)| *retransmits).collect();
        totals.sort_by(f64::total_cmp);
        retransmits.sort_unstable();
        all.push(Compared { cell, totals, retransmits: retransmits[retransmits.len() / 2] });
    }
    all.sort_by(|a, b| b.error().abs().total_cmp(&a.error().abs()));
    all
}

#[test]
#[allow(clippy::print_stdout, reason = "the worst cells are worth seeing when all is well, too")]
fn transfers_take_as_long_as_the_kernels() {
    let all = compared();
    let median = all[all.len() / 2].error().abs();
    println!("{} cells, median error {:.3} %; the worst:", all.len(), median * 100.0);
    all.iter().take(WORST).for_each(|compared| println!("{}", compared.row()));
    let out: Vec<String> =
        all.iter().filter(|compared| !compared.is_within_bounds()).map(Compared::row).collect();
    assert!(out.is_empty(), "{} cells out of bounds:\n{}", out.len(), out.join("\n"));
    assert!(median <= MEDIAN, "median error {:.2} %", median * 100.0);
}
