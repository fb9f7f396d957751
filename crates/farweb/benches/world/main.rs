//! Benchmarks of whole simulations: packet-hops a second and peak memory.
//!
//! ```text
//! cargo bench -p farweb --bench world -- [CASE…] [--json] [--repeat N] [--short]
//! ```
//!
//! Runs the cases with the given names or beginnings of names, or all. Each in a process of its own, for its peak
//! memory. A row has the best of `--repeat` runs (3), which do the same work, by processor time. A packet-hop is
//! the arrival of a packet at the far end of a link. `--short` runs the shortened cases that `make bench-check` counts
//! the instructions of. For other programs: `--here` runs the cases in this process, `--list` prints their names,
//! `--requests` their requests. docs/performance.md describes the cases.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "a benchmark reads the wall clock")]
#![allow(clippy::print_stdout, reason = "a benchmark reports what it measured")]

mod cases;
mod requests;

use std::process::Command;
use std::time::Instant as WallClock;

use farweb::units::Instant;
use farweb::workload::Directory;
use farweb::world::{LinkTotals, Progress, World};
use serde_json::{Value, json};

use cases::{Case, NAMES, case};
use requests::Asked;

/// Events between two takings of rows, as the command line does.
const EVENTS_A_STEP: u64 = 200_000;

fn main() {
    let Arguments { cases, as_json, repeat, short, task } = Arguments::read();
    match task {
        Task::Measure => {
            let rows = cases.iter().map(|name| measure_apart(name, short, repeat));
            if as_json {
                println!(
                    "{}",
                    serde_json::to_string_pretty(&rows.collect::<Vec<_>>()).expect("plain values")
                );
            } else {
                print_table(rows);
            }
        }
        Task::MeasureHere => cases.iter().for_each(|name| println!("{}", measure(name, short, repeat))),
        Task::List => cases.iter().for_each(|name| println!("{name}")),
        Task::Requests => cases.iter().for_each(|name| print_requests(case(name, short))),
    }
}

/// Arguments of the command line.
struct Arguments {
    cases: Vec<&'static str>,
    as_json: bool,
    repeat: u32,
    short: bool,
    task: Task,
}

/// A task for the cases.
enum Task {
    /// Measure each in a process of its own, and print a table.
    Measure,
    /// Measure in this process, for a profiler. A line of JSON each.
    MeasureHere,
    /// Print the names.
    List,
    /// Print the requests, "start_s bytes" a line, for other simulators.
    Requests,
}

impl Arguments {
    fn read() -> Self {
        let mut arguments =
            Self { cases: Vec::new(), as_json: false, repeat: 3, short: false, task: Task::Measure };
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            match word.as_str() {
                "--bench" => {} // from cargo
                "--json" => arguments.as_json = true,
                "--short" => arguments.short = true,
                "--here" => arguments.task = Task::MeasureHere,
                "--list" => arguments.task = Task::List,
                "--requests" => arguments.task = Task::Requests,
                "--repeat" => {
                    let number = words.next().and_then(|word| word.parse().ok());
                    arguments.repeat =
                        number.filter(|number| *number > 0).expect("--repeat wants a number above 0");
                }
                name => {
                    let before = arguments.cases.len();
                    arguments.cases.extend(NAMES.iter().filter(|case| case.starts_with(name)));
                    assert!(arguments.cases.len() > before, "no case {name}; there are {}", NAMES.join(", "));
                }
            }
        }
        if arguments.cases.is_empty() {
            arguments.cases = NAMES.to_vec();
        }
        arguments
    }
}

/// Measures a case in a process of its own.
fn measure_apart(name: &str, short: bool, repeat: u32) -> Value {
    let program = std::env::current_exe().expect("this program");
    let mut command = Command::new(program);
    command.args(["--here", name, "--repeat", &repeat.to_string()]);
    if short {
        command.arg("--short");
    }
    let output = command.output().expect("this program runs");
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("a row as JSON")
}

/// Runs a case `repeat` times. The best run as a row.
fn measure(name: &str, short: bool, repeat: u32) -> Value {
    let runs = (0..repeat).map(|_| run(case(name, short)));
    let Run { progress, drops, seconds } =
        runs.min_by(|a, b| a.seconds.total_cmp(&b.seconds)).expect("a run at least");
    let hops = progress.packet_hops as f64;
    json!({
        "case": name,
        "requests": progress.requests_finished,
        "failed": progress.requests_failed,
        "packet_hops": progress.packet_hops,
        "drops": drops,
        "events": progress.events,
        "events_per_hop": progress.events as f64 / hops,
        "cpu_s": seconds,
        "hops_per_s": hops / seconds,
        "ns_per_hop": seconds * 1e9 / hops,
        "peak_memory_bytes": peak_memory_bytes(),
    })
}

/// A simulation that has ended.
struct Run {
    progress: Progress,
    /// Packets dropped by all links.
    drops: u64,
    seconds: f64,
}

/// Simulates a case to its end. A function by itself: `make bench-check` counts its instructions.
#[inline(never)]
fn run(mut case: Case) -> Run {
    let mut world = World::new(&case.scenario, 1, Directory::default());
    let clock = Stopwatch::start();
    loop {
        let progress = world.advance(&mut case.requests, EVENTS_A_STEP).expect("requests have no errors");
        world.take();
        if progress.done {
            let seconds = clock.seconds();
            let drops = world.link_totals().iter().map(|LinkTotals { stats, .. }| stats.drops()).sum();
            return Run { progress, drops, seconds };
        }
    }
}

/// Processor time of this thread where the system reports it (Linux): waiting for other processes does not
/// lengthen it. Elsewhere wall time.
struct Stopwatch {
    processor: Option<f64>,
    wall: WallClock,
}

impl Stopwatch {
    fn start() -> Self {
        Self { processor: processor_s(), wall: WallClock::now() }
    }

    fn seconds(&self) -> f64 {
        match (self.processor, processor_s()) {
            (Some(before), Some(now)) => now - before,
            _ => self.wall.elapsed().as_secs_f64(),
        }
    }
}

/// Seconds that this thread has had a processor: the first number of its schedstat, in ns.
fn processor_s() -> Option<f64> {
    let numbers = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    numbers.split_whitespace().next()?.parse::<f64>().ok().map(|ns| ns / 1e9)
}

fn print_requests(case: Case) {
    for Asked { start, response_bytes, .. } in case.requests.0 {
        println!("{:.9} {response_bytes}", (start - Instant::ZERO).as_nanos() as f64 / 1e9);
    }
}

/// Peak resident memory of this process, where the system reports it.
fn peak_memory_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib * 1024)
}

fn print_table(rows: impl Iterator<Item = Value>) {
    println!("| case | requests | failed | packet-hops | events/hop | CPU s | Mhops/s | ns/hop | peak MB |");
    println!("|---|---|---|---|---|---|---|---|---|");
    for row in rows {
        let number = |key: &str| row[key].as_f64().unwrap_or(f64::NAN);
        println!(
            "| {} | {} | {} | {} | {:.2} | {:.3} | {:.2} | {:.0} | {:.1} |",
            row["case"].as_str().unwrap_or_default(),
            row["requests"],
            row["failed"],
            row["packet_hops"],
            number("events_per_hop"),
            number("cpu_s"),
            number("hops_per_s") / 1e6,
            number("ns_per_hop"),
            number("peak_memory_bytes") / 1e6,
        );
    }
}
