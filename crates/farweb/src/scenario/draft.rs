//! Scenarios to start from, written with comments from choices: kinds of paths, proxies, caches, servers and requests.
//!
//! Figures of the long part are those of a preset, with their sources. All other numbers are chosen, and their comments say so.

use std::fmt::Write;

use serde::Deserialize;

use super::preset::{Preset, PresetName};

/// TCP between two relays over a long part: a large first window, and buffers that hold more than the path. Chosen.
pub const RELAY_TCP: &str = r#"{ profile = "linux", mss = "1460 B", buffer = "16 MB", constants = { nagle = false, initial_cwnd_segments = 100 } }"#;

/// Width of a comment's text, in characters.
const WIDTH: usize = 116;
/// Most rows of the table of links for each direction. Chosen: a day by the second, some MB.
const ROWS_MAX: f64 = 100_000.0;
/// Lengths of intervals, in s, as a scenario and as a sentence has them.
const EVERY: [(f64, &str, &str); 4] = [
    (1.0, "1 s", "second"),
    (60.0, "1 min", "minute"),
    (600.0, "10 min", "ten minutes"),
    (3600.0, "60 min", "hour"),
];

/// Choices that a scenario is written from.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Draft {
    /// Name of the file, for the commands in its head.
    pub file: String,
    /// The first of several is simulated, and a sweep compares them.
    pub ways: Vec<Way>,
    /// Disciplines of the long part's queues, where they are not the path's own: a sweep compares several.
    #[serde(default)]
    pub queues: Vec<String>,
    /// A cache in front of the long part.
    #[serde(default)]
    pub cache: Option<Level>,
    /// A cache behind it, which the other asks.
    #[serde(default)]
    pub shield: Option<Level>,
    /// True when the clients are a local network away from the long part.
    #[serde(default)]
    pub is_local: bool,
    /// Connections to the servers.
    pub serving: Serving,
    /// Who shares connections; the default of the format when left out.
    #[serde(default)]
    pub clients: Option<Sharing>,
    /// When servers answer.
    pub release: Release,
    /// The requests.
    pub requests: Asked,
    /// Time from the first request to the last, in s.
    pub span_s: f64,
}

/// A kind of path and the proxies on it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Way {
    /// A preset of a link, or another word for it, which its name is then.
    pub path: String,
    /// Its proxies.
    pub proxy: Proxy,
}

/// Proxies on a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Proxy {
    /// None: connections go from end to end.
    None,
    /// One at the far end.
    Split,
    /// One at each end of the long part, with shared connections between them.
    Mux,
    /// Relays of TCP at both ends of the long part.
    Pep,
}

/// A cache.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Level {
    /// Its size, as a scenario writes it.
    pub capacity: String,
    /// Its replacement policy.
    pub policy: String,
}

/// Connections to the servers.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Serving {
    /// Carrier of requests, as a scenario writes it.
    pub carrier: String,
    /// True when connections are under TLS.
    pub tls: bool,
    /// True when the servers use Nagle's rule.
    pub nagle: bool,
    /// Evidence for these, a sentence each.
    pub reasons: Vec<String>,
}

/// Who shares connections, by the place where a log was written.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sharing {
    /// `each` or `all`.
    pub share: String,
    /// The place, as `--seen-at` takes it.
    pub seen_at: String,
    /// A sentence on it.
    pub about: String,
    /// True where some requests are tunnels.
    pub has_tunnels: bool,
}

/// When servers answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Release {
    /// Spread over the recorded time.
    Paced,
    /// Whole, after the recorded wait.
    AfterWait,
    /// Whole, after the recorded time.
    Delayed,
}

/// The requests of a draft.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Asked {
    /// The family nzix: ten minutes of the web of 1997.
    Nzix,
    /// A part of ProWGen's requests, to try caches with.
    Prowgen,
    /// 400 pages and pictures of the web, to turn knobs with.
    Web,
    /// A request table.
    Table {
        /// Its path.
        requests: String,
    },
    /// The tables of an imported log.
    Log {
        /// A sentence on the log and what was left out.
        origin: String,
        /// The request table.
        requests: String,
        /// The host table.
        hosts: String,
    },
}

impl Draft {
    /// The scenario as text.
    ///
    /// # Errors
    /// When there is no way, or a path is no preset of a link.
    pub fn to_toml(&self) -> Result<String, String> {
        let kinds: Vec<&Preset> = self
            .ways
            .iter()
            .map(|way| way.path.parse::<PresetName>().map(PresetName::preset))
            .collect::<Result<_, _>>()?;
        let ways: Vec<(&Way, &Preset)> = self.ways.iter().zip(kinds).collect();
        let first = *ways.first().ok_or("a scenario needs a path")?;
        let drawn = Writer { draft: self, ways, first };
        Ok(drawn.whole())
    }
}

/// A draft with the presets of its paths.
struct Writer<'d> {
    draft: &'d Draft,
    ways: Vec<(&'d Way, &'d Preset)>,
    first: (&'d Way, &'d Preset),
}

impl Writer<'_> {
    fn whole(&self) -> String {
        let Self { draft, first: (way, kind), .. } = self;
        let (nodes, long) = (self.nodes(), self.long_link());
        let every = EVERY.iter().find(|(length, ..)| draft.span_s / length <= ROWS_MAX).unwrap_or(&EVERY[3]);
        let local: String = nodes.windows(2).take(long).map(|pair| local_link(pair[0], pair[1])).collect();
        let reasons: String = draft.serving.reasons.iter().map(|reason| comment(reason)).collect();
        let names: Vec<String> = nodes.iter().map(|node| format!("\"{node}\"")).collect();
        format!(
            r#"{head}
# Every key is in the documentation of the scenario format; farweb schema scenario prints it for editors.

format = 1
name = "{title}"

# From the clients to the servers; up is towards the servers, down towards the clients.
[path]
nodes = [{names}]

{local}# {near} – far-end: the long part.
{figures}# A key of the link that is written here takes the place of the preset's: down.rate = "40 Mbit/s"
[[path.link]]
preset = "{preset}"
{queue}
# far-end – servers: the rest of the Internet, 10 ms away (chosen). Where the log has server times that were measured at
# the far end, it is in them: write 0 ms then.
[[path.link]]
up   = {{ rate = "1 Gbit/s", delay = "10 ms" }}
down = {{ rate = "1 Gbit/s", delay = "10 ms" }}

{about}{reasons}{legs}
{caches}{clients}{release}
{requests}
[run]
seed = 1

# What figures need: each link by the {every_word}, and each step of a request.
[record]
links_every = "{every}"
exchanges = true
{sweep}"#,
            head = self.head(),
            title = self.title(),
            names = names.join(", "),
            near = nodes[long],
            figures = self.figures(),
            preset = kind.name,
            queue = self.queue(),
            about = self.about_far_end(),
            legs = self.legs(way.proxy),
            caches = self.caches(),
            clients = draft.clients.as_ref().map(Sharing::text).unwrap_or_default(),
            release = draft.release.text(),
            requests = draft.requests.text(),
            every_word = every.2,
            every = every.1,
            sweep = self.sweep(),
        )
    }

    /// Ways by name: the path, and the proxy too where proxies differ (`geo+pep`).
    fn names(&self) -> Vec<String> {
        let several = self.has_several_proxies();
        let name = |(way, _): &(&Way, &Preset)| match way.proxy {
            proxy if several && proxy != Proxy::None => format!("{}+{}", way.path, proxy.word()),
            _ => way.path.clone(),
        };
        self.ways.iter().map(name).collect()
    }

    fn has_several_proxies(&self) -> bool {
        self.ways.iter().any(|(way, _)| way.proxy != self.first.0.proxy)
    }

    /// Nodes from the clients to the servers, the same on all ways.
    fn nodes(&self) -> Vec<&'static str> {
        let near =
            self.draft.is_local.then_some(if self.draft.cache.is_none() { "near-end" } else { "cache" });
        let relay = self.ways.iter().any(|(way, _)| way.proxy == Proxy::Pep).then_some("terminal");
        [Some("clients"), near, relay, Some("far-end"), Some("servers")].into_iter().flatten().collect()
    }

    /// Place of the long part among the links.
    fn long_link(&self) -> usize {
        self.nodes().len() - 3
    }

    fn title(&self) -> String {
        if let [(way, kind)] = self.ways[..] {
            let proxy = if way.proxy == Proxy::None { "" } else { way.proxy.word() };
            let proxy = if proxy.is_empty() { String::new() } else { format!(", proxy: {proxy}") };
            return format!("{}, {}{proxy}", kind.title, kind.years());
        }
        let each = self.names().into_iter().zip(&self.ways);
        each.map(|(name, (_, kind))| format!("{name} ({})", kind.years())).collect::<Vec<_>>().join(" or ")
    }

    /// First lines: the path, the years of its figures, and commands for it.
    fn head(&self) -> String {
        let kinds = self.ways.iter().map(|(_, kind)| format!("{} (figures of {})", kind.title, kind.years()));
        let (file, verb) = (&self.draft.file, if self.ways.len() == 1 { "run" } else { "sweep" });
        let stem = file
            .rsplit_once('.')
            .filter(|(stem, _)| !stem.is_empty())
            .map_or(file.as_str(), |(stem, _)| stem);
        let about = comment(&format!("The web over {}.", unique(kinds).join(" or ")));
        format!(
            "{about}#\n#   farweb check {file}\n#   farweb {verb} {file}\n#   farweb report results/{stem}\n#"
        )
    }

    /// Each figure of the long part with its source, under the name of its path if there are several.
    fn figures(&self) -> String {
        let mut text = String::new();
        let paths = unique(self.ways.iter().map(|(way, _)| way.path.clone()));
        for path in &paths {
            let (_, kind) = self.ways.iter().find(|(way, _)| way.path == *path).expect("it is one of them");
            if paths.len() > 1 {
                text += &comment(&format!("{path}:"));
            }
            text.extend(kind.facts().iter().map(|fact| comment(fact)));
        }
        text
    }

    /// The first of the queues that are not the path's own.
    fn queue(&self) -> String {
        let Some(name) = self.draft.queues.first() else { return String::new() };
        let [(_, up), (_, down)] = self.queue_of(name);
        format!(
            "# A router has this queue where it sends slower than the modem behind it: set rates a little below the line's.\n\
             up.queue = \"{up}\"\ndown.queue = \"{down}\"\n"
        )
    }

    /// A queue of the long part in each direction: drop-tail with the depth of the path.
    fn queue_of(&self, name: &str) -> [(&'static str, String); 2] {
        let Preset { delay, queue, .. } = self.first.1;
        let trip = delay.up + delay.down;
        let (up, down) = queue.as_ref().map_or((trip, trip), |queue| (queue.up, queue.down));
        let value = |depth: f64| if name == "drop-tail" { format!("{depth} ms") } else { name.to_owned() };
        [("up.queue", value(up)), ("down.queue", value(down))]
    }

    /// The node behind the long part on each way, under its name if its proxies differ.
    fn about_far_end(&self) -> String {
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
        const MUX: &str = r#"{ kind = "mux", connections = 8 }"#;
        let carrier = self.draft.serving.carrier.as_str();
        let splits = self.draft.shield.is_some() && matches!(proxy, Proxy::None | Proxy::Pep);
        let inner = match if splits { Proxy::Split } else { proxy } {
            Proxy::None | Proxy::Pep => vec![("servers", carrier)],
            Proxy::Split => vec![("far-end", carrier), ("servers", carrier)],
            Proxy::Mux => vec![("far-end", MUX), ("servers", carrier)],
        };
        let mut begin = "clients";
        let all = self.draft.cache.iter().map(|_| ("cache", carrier)).chain(inner);
        all.map(|(end, carrier)| (std::mem::replace(&mut begin, end), end, carrier)).collect()
    }

    /// The legs of a way with such a proxy, as tables.
    fn legs(&self, proxy: Proxy) -> String {
        let serving = &self.draft.serving;
        let tls = if serving.tls { "\ntls = { version = \"1.3\" }" } else { "" };
        let leg = |(begin, end, carrier): (&str, &str, &str)| {
            let splits = if proxy == Proxy::Pep { self.splits(begin, end) } else { String::new() };
            let nagle = self.nagle(end);
            format!(
                "[[leg]]\nfrom = \"{begin}\"\nto = \"{end}\"\ncarrier = {carrier}\n\
                 tcp = {{ profile = \"linux\", mss = \"1460 B\", constants = {{ nagle = {nagle} }} }}{tls}\n{splits}"
            )
        };
        self.ends(proxy).into_iter().map(leg).collect::<Vec<_>>().join("\n")
    }

    /// Nagle's rule on a leg to `end`. Proxies switch it off.
    fn nagle(&self, end: &str) -> bool {
        self.draft.serving.nagle && end == "servers"
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
        let nagle = self.nagle(end);
        format!(
            r#"{first}open = "ready"

[[leg.split]]
at = "far-end"
tcp = {{ profile = "linux", mss = "1460 B", constants = {{ nagle = {nagle} }} }}
"#
        )
    }

    fn caches(&self) -> String {
        let levels = [("cache", &self.draft.cache), ("far-end", &self.draft.shield)];
        let table = |(node, level): (&str, &Option<Level>)| {
            let Level { capacity, policy } = level.as_ref()?;
            Some(format!("[[cache]]\nnode = \"{node}\"\npolicy = \"{policy}\"\ncapacity = \"{capacity}\"\n"))
        };
        let tables: Vec<String> = levels.into_iter().filter_map(table).collect();
        if tables.is_empty() {
            return String::new();
        }
        format!(
            "# A copy that is held serves, but methods and responses for which none may. ttl bounds the age of a copy.\n{}\n",
            tables.join("\n")
        )
    }

    /// A sweep over the ways, or over queues of one or their depths. A log's requests are the same in each run.
    fn sweep(&self) -> String {
        let (replications, often) = match self.draft.requests {
            Asked::Nzix | Asked::Web => (5, "with five seeds"),
            _ => (1, "once: its requests are those of the log"),
        };
        let (factor, about, levels) = if self.ways.len() > 1 {
            ("path", self.about_ways(often), self.levels_of_ways())
        } else if self.draft.queues.len() > 1 {
            ("queue", format!("farweb sweep runs each queue {often}."), self.levels_of_queues())
        } else if self.first.1.depths.is_empty() || !self.draft.queues.is_empty() {
            return String::new();
        } else {
            let about =
                format!("The depth of the queues is unpublished: farweb sweep runs a range of them {often}.");
            ("queue", about, self.levels_of_depths())
        };
        let mut text = format!("\n{}[sweep]\nreplications = {replications}\n", comment(&about));
        for Swept { level, set, legs } in levels {
            let _ = write!(
                text,
                "\n[[sweep.factors.{factor}]]\nlevel = \"{level}\"\n[sweep.factors.{factor}.set]\n"
            );
            for (key, value) in set {
                let _ = writeln!(text, "\"path.link.{}.{key}\" = \"{value}\"", self.long_link());
            }
            for line in legs.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
                let _ =
                    writeln!(text, "{}", line.replace("[[leg", &format!("[[sweep.factors.{factor}.set.leg")));
            }
        }
        text
    }

    fn about_ways(&self, often: &str) -> String {
        let unknown = self.ways.iter().filter(|(_, kind)| !kind.depths.is_empty());
        let unknown = unique(unknown.map(|(way, _)| way.path.clone())).join(", ");
        let mut about = format!("farweb sweep runs each path {often}.");
        if !unknown.is_empty() {
            let _ = write!(
                about,
                " Depths of queues are unpublished and chosen for {unknown}: farweb new --path NAME sweeps them."
            );
        }
        about
    }

    fn levels_of_ways(&self) -> Vec<Swept> {
        let level = |(level, (way, kind)): (String, &(&Way, &Preset))| {
            let legs = if self.has_several_proxies() { self.legs(way.proxy) } else { String::new() };
            Swept { level, set: vec![("preset", kind.name.clone())], legs }
        };
        self.names().into_iter().zip(&self.ways).map(level).collect()
    }

    fn levels_of_queues(&self) -> Vec<Swept> {
        let level = |name: &String| Swept {
            level: name.clone(),
            set: self.queue_of(name).to_vec(),
            legs: String::new(),
        };
        self.draft.queues.iter().map(level).collect()
    }

    fn levels_of_depths(&self) -> Vec<Swept> {
        let level = |depth: &u32| {
            let level = format!("{depth} ms");
            let set = ["up.queue", "down.queue"].map(|key| (key, level.clone())).to_vec();
            Swept { level, set, legs: String::new() }
        };
        self.first.1.depths.iter().map(level).collect()
    }
}

/// A level of the sweep: its name, keys of the long link with their values, and other legs.
struct Swept {
    level: String,
    set: Vec<(&'static str, String)>,
    legs: String,
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

fn local_link(near: &str, far: &str) -> String {
    format!(
        r#"# {near} – {far}: a local network (chosen).
[[path.link]]
up   = {{ rate = "1 Gbit/s", delay = "1 ms" }}
down = {{ rate = "1 Gbit/s", delay = "1 ms" }}

"#
    )
}

impl Sharing {
    fn text(&self) -> String {
        let Self { share, seen_at, about, has_tunnels } = self;
        let tunnels = if *has_tunnels { TUNNELS } else { "" };
        format!(
            "# {about}\n# \"each\" and \"all\" choose; --seen-at {seen_at} wrote this.\n[clients]\nshare = \"{share}\"\n\n{tunnels}"
        )
    }
}

const TUNNELS: &str = r#"# TLS inside tunnels (CONNECT), between a client and its server: handshakes go over the whole path. Without this table a
# tunnel is one transfer of all its bytes.
[clients.tunnels]
tls = { version = "1.3" }

"#;

impl Release {
    const fn text(self) -> &'static str {
        match self {
            Self::Paced => {
                r#"# A response comes spread over the time that its server took, where the workload has it.
[origin]
release = "paced"
"#
            }
            Self::AfterWait => {
                r#"# A response is there when its server has waited as long as the log says it did for the first byte, and TCP makes the
# transfer. Pages that were sent while they were made come too early: release = "paced" spreads them as the log does.
[origin]
release = "after-wait"
"#
            }
            Self::Delayed => {
                r#"# A response is there, whole, when its server has taken its time.
[origin]
release = "delayed"
"#
            }
        }
    }
}

impl Asked {
    fn text(&self) -> String {
        match self {
            Self::Nzix => r#"# Ten minutes of the web of 1997, to try the scenario with. With a log of your own:
#   farweb new FILE --log access.log
[workload]
family = "nzix"
"#
            .to_owned(),
            Self::Prowgen => r#"# Requests of a proxy's clients by the model ProWGen, to try the scenario with: a fiftieth of its 5,000,000. With a log:
#   farweb new FILE --cache SIZE --log access.log
[workload]
family = "prowgen"
parameters = { requests = 100_000 }
"#
            .to_owned(),
            Self::Web => r#"# 400 requests of 40 clients to 12 servers, by the model ProWGen: enough to see what a path does, quick enough to turn knobs
# (chosen). With a log of your own: farweb new FILE --log access.log
[workload]
family = "prowgen"
parameters = { requests = 400, arrival_rate = 2.0, hosts = 12, clients = 40, response_max = "2 MB", server_median = "60 ms" }
"#
            .to_owned(),
            Self::Table { requests } => {
                format!("[workload]\nrequests = {}\n", toml_edit::Value::from(requests.as_str()))
            }
            Self::Log { origin, requests, hosts } => format!(
                r#"{}# Hosts are those of the log; fill in what you know of their MSS and windows (farweb workload probe finds
# them), and write mss = "host", buffer = "host" on the leg to the servers.
[workload]
requests = "{requests}"
hosts = "{hosts}"
"#,
                comment(origin)
            ),
        }
    }
}

/// Each text once, in order.
fn unique(texts: impl Iterator<Item = String>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for text in texts {
        if !found.contains(&text) {
            found.push(text);
        }
    }
    found
}

/// `text` as lines of comments, broken between words.
fn comment(text: &str) -> String {
    let (mut lines, mut width) = (String::new(), 0);
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if width > 0 && width + 1 + length <= WIDTH {
            lines.push(' ');
            width += 1 + length;
        } else {
            lines.push_str(if lines.is_empty() { "# " } else { "\n# " });
            width = length;
        }
        lines.push_str(word);
    }
    if !lines.is_empty() {
        lines.push('\n');
    }
    lines
}

#[cfg(test)]
mod tests;
