//! Legs of a draft: where TCP ends on the way, and what carries requests.

use super::whole::comment;
use super::{Proxy, Way, Writer};
use crate::scenario::preset::Preset;

/// TCP between two relays over a long part: a large first window, and buffers that hold more than the path. Chosen.
pub const RELAY_TCP: &str = r#"{ profile = "linux", mss = "1460 B", buffer = "16 MB", constants = { nagle = false, initial_cwnd_segments = 100 } }"#;

/// Connections that all requests share over the long part. Chosen.
const MUX: &str = r#"{ kind = "mux", connections = 8 }"#;

impl Writer<'_> {
    /// The node behind the long part on each way, under its name if its proxies differ.
    pub(super) fn about_far_end(&self) -> String {
        let mut about: Vec<String> = self.ways.iter().map(|(way, _)| self.about_proxy(way.proxy)).collect();
        if self.has_several_proxies() {
            about.iter_mut().zip(self.names()).for_each(|(text, name)| *text = format!("{name}: {text}"));
        } else {
            about.truncate(1);
        }
        let has_modem =
            |(way, kind): &(&Way, &Preset)| way.proxy == Proxy::None && kind.name.starts_with("geo-");
        if self.ways.iter().any(has_modem) && self.draft.shield.is_none() {
            about.push(MODEM.to_owned());
        }
        about.iter().map(|text| comment(text)).collect()
    }

    fn about_proxy(&self, proxy: Proxy) -> String {
        if self.draft.shield.is_some() && proxy == Proxy::None {
            return "far-end is a cache that the nearer one asks, and asks the servers itself.".to_owned();
        }
        let decrypts = self.draft.serving.tls && matches!(proxy, Proxy::Split | Proxy::Mux);
        format!("{}{}", proxy.about(), if decrypts { " TLS is decrypted there." } else { "" })
    }

    /// Begin, end and carrier of each leg on a way with such a proxy.
    fn ends(&self, proxy: Proxy) -> Vec<(&'static str, &'static str, &str)> {
        let carrier = self.draft.serving.carrier.as_str();
        let splits = self.draft.shield.is_some() && matches!(proxy, Proxy::None | Proxy::Pep);
        let inner = match if splits { Proxy::Split } else { proxy } {
            Proxy::None | Proxy::Pep => vec![("servers", carrier)],
            Proxy::Split => vec![("far-end", carrier), ("servers", carrier)],
            Proxy::Mux if self.is_page() => {
                vec![("near-end", carrier), ("far-end", MUX), ("servers", carrier)]
            }
            Proxy::Mux => vec![("far-end", MUX), ("servers", carrier)],
        };
        let mut begin = "clients";
        let all = self.draft.cache.iter().map(|_| ("cache", carrier)).chain(inner);
        all.map(|(end, carrier)| (std::mem::replace(&mut begin, end), end, carrier)).collect()
    }

    /// The legs of a way with such a proxy, as tables.
    pub(super) fn legs(&self, proxy: Proxy) -> String {
        let leg = |(begin, end, carrier): (&str, &str, &str)| {
            let splits = if proxy == Proxy::Pep { self.splits(begin, end) } else { String::new() };
            let is_clear = !self.draft.serving.tls || self.is_page() && carrier == MUX;
            let tls = if is_clear { "" } else { "\ntls = { version = \"1.3\" }" };
            let tcp = self.tcp(end);
            format!(
                "[[leg]]\nfrom = \"{begin}\"\nto = \"{end}\"\ncarrier = {carrier}\ntcp = {tcp}{tls}\n{splits}"
            )
        };
        self.ends(proxy).into_iter().map(leg).collect::<Vec<_>>().join("\n")
    }

    /// TCP of a leg to `end`. Proxies switch Nagle's rule off, and no buffer holds a page up.
    fn tcp(&self, end: &str) -> String {
        let nagle = self.draft.serving.nagle && end == "servers";
        let buffer = if self.is_page() { r#"buffer = "16 MB", "# } else { "" };
        format!(r#"{{ profile = "linux", mss = "1460 B", {buffer}constants = {{ nagle = {nagle} }} }}"#)
    }

    /// The splits inside a leg: both, or the one in front of a proxy that ends TCP itself.
    fn splits(&self, begin: &str, end: &str) -> String {
        let nodes = self.nodes();
        let place = |name| nodes.iter().position(|node| *node == name).expect("a leg is between nodes");
        let inside = &nodes[place(begin) + 1..place(end)];
        if !inside.contains(&"terminal") {
            return String::new();
        }
        let is_both = inside.contains(&"far-end");
        let about = if is_both { "connections stand" } else { "connections are opened" };
        let first = format!(
            r#"
# terminal ends TCP for the clients. Over the long part {about}, with a large first window, and buffers that hold
# more than the path in a round trip (chosen).
[[leg.split]]
at = "terminal"
tcp = {RELAY_TCP}
"#
        );
        if !is_both {
            return first;
        }
        format!(
            r#"{first}open = "ready"

[[leg.split]]
at = "far-end"
tcp = {}
"#,
            self.tcp(end)
        )
    }
}

impl Proxy {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::None, Self::Split, Self::Mux, Self::Pep];

    /// Its name.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Split => "split",
            Self::Mux => "mux",
            Self::Pep => "pep",
        }
    }

    /// A sentence on the connections over a path with it.
    #[must_use]
    pub const fn about(self) -> &'static str {
        match self {
            Self::None => "Connections go from end to end and are used again; far-end only forwards.",
            Self::Split => "far-end is a proxy: connections end there, and it has its own to the servers.",
            Self::Mux => {
                "The near end and far-end are proxies, and all requests share the connections between them."
            }
            Self::Pep => "terminal and far-end end TCP and begin it anew; TLS goes from end to end.",
        }
    }
}

const MODEM: &str = "Modems of geostationary operators have a proxy for TCP (PEP) inside, which is not here: --proxy pep writes it.";
