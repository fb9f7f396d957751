//! The reference table.

use std::collections::BTreeMap;

const TABLE: &str = include_str!("../../data/http/cells.csv");

/// A cell of the reference: requests, path, and the time of real programs.
#[derive(Debug, Clone)]
pub(super) struct Cell {
    pub(super) name: String,
    pub(super) protocol: String,
    /// Version of TLS, or nothing.
    pub(super) tls: String,
    pub(super) server: String,
    pub(super) client: String,
    /// The client's window as the table names it.
    pub(super) window: String,
    /// One-way delays in ms.
    pub(super) delay_up_ms: u64,
    pub(super) delay_down_ms: u64,
    pub(super) rate_bps: u64,
    pub(super) objects: u64,
    pub(super) size: u64,
    pub(super) connections: u64,
    /// Packets that the link drops, as the table writes them.
    pub(super) drop: String,
    /// Packets with data that reached the client until the last byte was there, sent again or not.
    pub(super) data_packets: Option<u64>,
    pub(super) total_ms: f64,
    /// WINDOW_UPDATE frames of the client but for the first one of the connection, and DATA frames of the server.
    pub(super) grants: Option<u64>,
    pub(super) data_frames: Option<u64>,
}

/// All cells.
pub(super) fn read() -> Vec<Cell> {
    let mut lines = TABLE.lines();
    let head: Vec<&str> = lines.next().expect("a heading").split(',').collect();
    lines.map(|line| cell(&head.iter().copied().zip(line.split(',')).collect())).collect()
}

fn cell(row: &BTreeMap<&str, &str>) -> Cell {
    let whole = |name: &str| row[name].parse::<u64>().unwrap_or_else(|error| panic!("{name}: {error}"));
    let counted = |name: &str| row[name].parse::<u64>().ok();
    let text = |name: &str| row[name].to_owned();
    Cell {
        name: text("cell"),
        protocol: text("proto"),
        tls: text("tls"),
        server: text("server"),
        client: text("client"),
        window: text("win"),
        delay_up_ms: whole("d_to_server_ms"),
        delay_down_ms: whole("d_to_client_ms"),
        rate_bps: whole("rate_bps"),
        objects: whole("nobj"),
        size: whole("size"),
        connections: whole("nconn"),
        drop: text("drop"),
        data_packets: counted("down_data_pkts"),
        total_ms: row["wire_total_ms"].parse().expect("ms"),
        grants: counted("wu_stream").zip(counted("wu_conn")).map(|(stream, connection)| stream + connection),
        data_frames: counted("data_frames"),
    }
}
