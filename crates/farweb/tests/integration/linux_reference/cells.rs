//! The reference table.

use std::collections::BTreeMap;

const TABLE: &str = include_str!("../../data/linux/cells.csv");

/// A cell of the reference: a transfer and how long the kernel took.
#[derive(Debug, Clone)]
pub(super) struct Cell {
    name: String,
    pub(super) stack: String,
    /// One-way delays in ms.
    pub(super) delay_down_ms: u64,
    pub(super) delay_up_ms: u64,
    pub(super) rate_bps: u64,
    pub(super) size: u64,
    pub(super) queue_packets: u64,
    pub(super) connections: u64,
    pub(super) requests: usize,
    pub(super) gap_s: f64,
    pub(super) server_delay_s: f64,
    /// Packets that the link drops, as the table writes them.
    pub(super) drop: String,
    /// Request of a persistent connection that the row is for.
    pub(super) request: usize,
    pub(super) total_ms: f64,
    pub(super) total_min: f64,
    pub(super) total_max: f64,
    pub(super) retransmits: f64,
    /// Packets that found the queue full, by the median and at the extremes.
    queue_drops: f64,
    queue_drops_min: i64,
    queue_drops_max: i64,
}

impl Cell {
    /// True when packets were lost.
    pub(super) fn is_lossy(&self) -> bool {
        !self.drop.is_empty() || self.queue_drops > 0.0
    }

    /// True when as many segments were sent again as by the kernel. With drops at the kernel's queue, up to one outside its
    /// extremes. The kernel's count leaves out lost SYNs and requests.
    pub(super) fn agrees_with(&self, retransmits: i64) -> bool {
        match self.drop.as_str() {
            "" => (self.queue_drops_min - 1..=self.queue_drops_max + 1).contains(&retransmits),
            drop if drop.starts_with("ba:data") => retransmits as f64 == self.retransmits,
            _ => true,
        }
    }

    /// Name of the cell, with the request where there are several.
    pub(super) fn label(&self) -> String {
        if self.requests > 1 { format!("{} request {}", self.name, self.request) } else { self.name.clone() }
    }

    /// Losses in one direction (`ab` or `ba`), as a scenario writes them: `data 8`, `data 13..15`.
    pub(super) fn drops(&self, direction: &str) -> Vec<String> {
        let Some((of, rest)) = self.drop.split_once(':') else { return Vec::new() };
        let (class, numbers) = rest.split_once(':').expect("direction, class and numbers");
        if of != direction {
            return Vec::new();
        }
        numbers.split(',').map(|number| format!("{class} {}", number.replace('-', ".."))).collect()
    }
}

/// Fields of a line. Quotes hold a field with commas together.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut quoted = false;
    for letter in line.chars() {
        match letter {
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(String::new()),
            other => fields.last_mut().expect("one field at least").push(other),
        }
    }
    fields
}

/// All cells.
pub(super) fn read() -> Vec<Cell> {
    let mut lines = TABLE.lines();
    let head = fields(lines.next().expect("a heading"));
    lines.map(|line| cell(&head.iter().map(String::as_str).zip(fields(line)).collect())).collect()
}

fn cell(row: &BTreeMap<&str, String>) -> Cell {
    let real = |name: &str| row[name].parse::<f64>().unwrap_or_else(|error| panic!("{name}: {error}"));
    let whole = |name: &str| row[name].parse::<u64>().unwrap_or_else(|error| panic!("{name}: {error}"));
    Cell {
        name: row["cell"].clone(),
        stack: row["stack"].clone(),
        delay_down_ms: whole("d_to_client_ms"),
        delay_up_ms: whole("d_to_server_ms"),
        rate_bps: whole("rate_bps"),
        size: whole("size"),
        queue_packets: whole("queue_pkts"),
        connections: whole("nconn"),
        requests: whole("nreq") as usize,
        gap_s: real("gap_s"),
        server_delay_s: real("server_delay_s"),
        drop: row["drop"].clone(),
        request: whole("req") as usize,
        total_ms: real("total_ms"),
        total_min: real("total_min"),
        total_max: real("total_max"),
        retransmits: real("wire_retx"),
        queue_drops: real("queue_drops"),
        queue_drops_min: whole("qd_min") as i64,
        queue_drops_max: whole("qd_max") as i64,
    }
}
