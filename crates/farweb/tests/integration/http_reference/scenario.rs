//! Cells as scenarios.
//!
//! Sizes of header blocks and handshakes follow from the columns of bytes of the reference. None is fitted to the time of a
//! cell.

use farweb::scenario::Scenario;

use super::cells::Cell;
use crate::run::{Asked, Tables, ints, run};

/// Header of a request in HTTP/1.1, and of a response, in bytes of text.
const REQUEST_TEXT: u64 = 88;
const RESPONSE_TEXT: u64 = 256;

/// Preface, GOAWAY, and the ACK of the server's settings.
const OPENING_FRAMES: u64 = 24 + 17 + 9;
const GRANT: u64 = 13;
const FRAME_HEADER: u64 = 9;

/// Packets without data: IPv4, TCP and timestamps. A SYN has eight bytes more.
const PACKET: i64 = 52;
const SYN_MORE: i64 = 8;

/// Request and response header blocks, first and repeated, by program.
const NGHTTP: [u64; 2] = [43, 16];
const NGHTTPD: [u64; 2] = [85, 12];
const NGINX: [u64; 2] = [119, 119];

/// Result of a cell.
pub(super) struct Outcome {
    pub(super) total_ms: f64,
    /// WINDOW_UPDATE frames but for the first one of the connection, and DATA frames.
    pub(super) frames: Option<(u64, u64)>,
}

pub(super) fn outcome(cell: &Cell, seed: u64) -> Outcome {
    let asked = (0..cell.objects).map(|_| Asked(0, REQUEST_TEXT, cell.size + RESPONSE_TEXT, 0));
    let (tables, _) = run(&described(cell), seed, asked.collect());
    let end = ints(&tables, "requests", "end_ns").iter().max().expect("a request");
    Outcome { total_ms: *end as f64 / 1e6, frames: cell.counts_frames().then(|| frames(cell, &tables)) }
}

/// Grants and frames of data, from the bytes of both directions that nothing else takes.
fn frames(cell: &Cell, tables: &Tables) -> (u64, u64) {
    let payload = |bytes: &str, segments: &str| {
        let sum = |column: &str| ints(tables, "connections", column).iter().sum::<i64>();
        (sum(bytes) - PACKET * sum(segments) - SYN_MORE) as u64
    };
    let heads = |[first, repeat]: [u64; 2]| FRAME_HEADER * cell.objects + first + (cell.objects - 1) * repeat;
    let Window { stream, connection } = window(cell);
    let settings = FRAME_HEADER + 6 * (1 + u64::from(stream != 65_535));
    let first_grant = if connection > 65_535 { GRANT } else { 0 };
    let up = payload("bytes_up", "segments_up") - OPENING_FRAMES - settings - first_grant - heads(NGHTTP);
    let is_nginx = cell.server.starts_with("nginx");
    let (of_server, opening) = if is_nginx { (NGINX, 27 + 13 + 9) } else { (NGHTTPD, 15 + 9) };
    let down = payload("bytes_down", "segments_down") - opening - heads(of_server) - cell.objects * cell.size;
    assert_eq!((up % GRANT, down % FRAME_HEADER), (0, 0), "{}: {up} {down}", cell.name);
    (up / GRANT, down / FRAME_HEADER)
}

/// The client's credit.
struct Window {
    stream: u64,
    connection: u64,
}

fn window(cell: &Cell) -> Window {
    match cell.window.as_str() {
        "def" | "16" => Window { stream: 65_535, connection: 65_535 },
        other => {
            let bits: u64 = other.parse().expect("bits");
            let stream = (1 << bits) - 1;
            Window { stream, connection: stream.max(65_535) }
        }
    }
}

fn described(cell: &Cell) -> Scenario {
    let drops: Vec<String> = cell.drops().iter().map(|drop| format!("\"{drop}\"")).collect();
    let loss = match drops.is_empty() {
        true => String::new(),
        false => format!(", loss = {{ kind = \"list\", of = \"link\", drop = [{}] }}", drops.join(", ")),
    };
    let text = format!(
        r#"
        format = 1
        [path]
        nodes = ["client", "server"]
        [[path.link]]
        up = {{ rate = "{rate} bit/s", delay = "{} ms", queue = "20000 packets" }}
        down = {{ rate = "{rate} bit/s", delay = "{} ms", queue = "20000 packets"{loss} }}
        [[leg]]
        from = "client"
        to = "server"
        tcp = {{ profile = "linux", mss = "1460 B" }}
        {tls}
        [leg.carrier]
        {carrier}
        [workload]
        requests = "given by the test"
        "#,
        cell.delay_up_ms,
        cell.delay_down_ms,
        rate = cell.rate_bps,
        tls = tls(cell),
        carrier = carrier(cell),
    );
    Scenario::parse(&text, "cell.toml", &[]).unwrap_or_else(|error| panic!("{error}"))
}

fn tls(cell: &Cell) -> String {
    // OpenSSL's hello is padded to 517 B. The server has a certificate of its own making on P-256.
    let flight = match cell.tls.as_str() {
        "" => return String::new(),
        "1.2" => 450,
        _ => 720,
    };
    format!(
        "tls = {{ version = \"{}\", client_hello = \"522 B\", server_flight = \"{flight} B\" }}",
        cell.tls
    )
}

fn carrier(cell: &Cell) -> String {
    if cell.protocol == "h1" {
        return format!("kind = \"http/1.1\"\nper_host = {}", cell.connections);
    }
    let blocks =
        |[first, repeat]: [u64; 2]| format!("header_first = \"{first} B\", header_repeat = \"{repeat} B\"");
    let server = match cell.server.as_str() {
        "nghttpd" => format!("preset = \"nghttp2\", {}", blocks(NGHTTPD)),
        _ => format!("preset = \"nginx\", {}", blocks(NGINX)),
    };
    let client = match cell.client.as_str() {
        "nghttp" => {
            let Window { stream, connection } = window(cell);
            format!(
                "preset = \"nghttp2\", session_credit = \"{stream} B\", connection_credit = \"{connection} B\""
            )
        }
        "curl" => {
            "preset = \"rfc-default\", session_credit = \"33554432 B\", connection_credit = \"33554432 B\""
                .to_owned()
        }
        "go" => "preset = \"go\"".to_owned(),
        "hyper" if cell.window == "def" => "preset = \"hyper\"".to_owned(),
        "hyper" if cell.window == "adapt" => "preset = \"hyper-adaptive\"".to_owned(),
        "hyper" => format!(
            "preset = \"hyper\", session_credit = \"{0} B\", connection_credit = \"{0} B\"",
            cell.window
        ),
        other => panic!("no client {other}"),
    };
    format!(
        "kind = \"http/2\"\nclient = {{ {client}, {} }}\nserver = {{ {server} }}\nrequest_text = \"{REQUEST_TEXT} B\"\n\
         response_text = \"{RESPONSE_TEXT} B\"",
        blocks(NGHTTP)
    )
}

impl Cell {
    /// True when all other bytes on the wire are known: nghttp's frames, without TLS and losses.
    pub(super) fn counts_frames(&self) -> bool {
        self.client == "nghttp" && self.tls.is_empty() && self.drop.is_empty()
    }

    /// Losses, as a scenario writes them: `data 8`.
    fn drops(&self) -> Vec<String> {
        match self.drop.strip_prefix("ba:gdata:") {
            None => Vec::new(),
            // The last but one of those that are sent once.
            Some("B") => vec![format!("data {}", self.data_packets.expect("a capture") - 1)],
            Some(numbers) => numbers.split(',').map(|number| format!("data {number}")).collect(),
        }
    }
}
