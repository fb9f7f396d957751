//! The reference's stacks as profiles.

use farweb::tcp::Overrides;

use super::cells::Cell;

/// Profile, MSS and buffer of a stack, and constants that differ from the profile's.
pub(super) struct Stack {
    pub(super) profile: &'static str,
    pub(super) mss: u16,
    /// Receive window in bytes. By auto-tuning without one.
    pub(super) buffer: Option<u64>,
    pub(super) constants: &'static [(&'static str, &'static str)],
}

/// Send buffer of an untuned kernel.
const OWN_SEND_BUFFER: [(&str, &str); 2] =
    [("send_buffer_initial", "\"16384 B\""), ("send_buffer_max", "\"4194304 B\"")];

/// Receive buffer of the `reno-big` stacks, and the window scaling that it needs.
const LARGE: [(&str, &str); 4] = [
    ("receive_buffer_initial", "\"4194304 B\""),
    ("receive_buffer_max", "\"4194304 B\""),
    ("receive_buffer_tuning", "false"),
    ("window_scaling", "true"),
];

const CLASSIC: Stack = Stack { profile: "linux-classic", mss: 1460, buffer: Some(32767), constants: &[] };
const MODERN: Stack = Stack { profile: "linux", mss: 1460, buffer: None, constants: &[] };

pub(super) fn stack(name: &str) -> Stack {
    let classic = |constants| Stack { constants, ..CLASSIC };
    let modern = |constants| Stack { constants, ..MODERN };
    match name {
        "classic" => CLASSIC,
        "classic536" => Stack { mss: 536, ..CLASSIC },
        "classic-w8k" => Stack { buffer: Some(8760), ..CLASSIC },
        "classic-w64k" => Stack { buffer: Some(65535), ..CLASSIC },
        "classic-sack" => classic(&[("sack", "true")]),
        "classic-sack-rack" => classic(&[("sack", "true"), ("rack", "true"), ("tail_loss_probe", "true")]),
        "classic-ts" => classic(&[("timestamps", "true")]),
        "classic-iw2" => classic(&[("initial_cwnd_segments", "2")]),
        "classic-iw4" => classic(&[("initial_cwnd_segments", "4")]),
        "classic-iw10" => classic(&[("initial_cwnd_segments", "10")]),
        "classic-qack" => classic(&[("quick_ack_always", "true")]),
        "classic-rtomin1s" => classic(&[("rto_min", "\"1 s\"")]),
        "classic-ssai0" => classic(&[("slow_start_after_idle", "false")]),
        "modern" | "modern-defwmem" => MODERN,
        "bbr" => modern(&[("congestion_control", "\"bbr\"")]),
        "modern-paced" => modern(&[("pacing", "\"internal\"")]),
        "reno-paced" => modern(&[("congestion_control", "\"reno\""), ("pacing", "\"internal\"")]),
        "modern-iw1" => modern(&[("initial_cwnd_segments", "1")]),
        "modern-reno" => modern(&[("congestion_control", "\"reno\"")]),
        "modern-notlp" => modern(&[("tail_loss_probe", "false")]),
        "modern-norack" => modern(&[("rack", "false")]),
        "modern-nosack" => modern(&[("sack", "false")]),
        "modern-ssai0" => modern(&[("slow_start_after_idle", "false")]),
        "reno-big" => Stack { buffer: None, ..classic(&[]) },
        "reno-big-sack" => Stack { buffer: None, ..classic(&[("sack", "true")]) },
        other => panic!("no stack {other}"),
    }
}

impl Stack {
    /// Constants of `cell` that differ from the profile's, with their values as a scenario and JSON write them.
    fn changed(&self, cell: &Cell) -> impl Iterator<Item = &(&'static str, &'static str)> {
        let send: &[_] = if cell.stack == "modern-defwmem" { &OWN_SEND_BUFFER } else { &[] };
        let receive: &[_] = if cell.stack.starts_with("reno-big") { &LARGE } else { &[] };
        send.iter().chain(receive).chain(self.constants)
    }

    /// The constants as an inline table of a scenario.
    pub(super) fn constants(&self, cell: &Cell) -> String {
        let lines: Vec<String> =
            self.changed(cell).map(|(name, value)| format!("{name} = {value}")).collect();
        format!("{{ {} }}", lines.join(", "))
    }

    /// The constants by name.
    pub(super) fn overrides(&self, cell: &Cell) -> Overrides {
        let lines: Vec<String> =
            self.changed(cell).map(|(name, value)| format!("\"{name}\": {value}")).collect();
        serde_json::from_str(&format!("{{{}}}", lines.join(", "))).expect("constants")
    }
}
