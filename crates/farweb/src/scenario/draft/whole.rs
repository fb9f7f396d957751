//! The text of a scenario from head to sweep.

use super::{Asked, Proxy, Sharing, Way, Writer};
use crate::scenario::preset::Preset;

/// Width of a comment's text, in characters.
pub(super) const WIDTH: usize = 116;
/// Most rows of the table of links for each direction. Chosen: a day by the second, some MB.
const ROWS_MAX: f64 = 100_000.0;
/// Lengths of intervals, in s, as a scenario and as a sentence has them.
const EVERY: [(f64, &str, &str); 4] = [
    (1.0, "1 s", "second"),
    (60.0, "1 min", "minute"),
    (600.0, "10 min", "ten minutes"),
    (3600.0, "60 min", "hour"),
];

impl Writer<'_> {
    pub(super) fn whole(&self) -> String {
        let Self { draft, first: (way, kind), .. } = self;
        let (nodes, long) = (self.nodes(), self.long_link());
        let local: String =
            nodes.windows(2).take(long).map(|pair| self.near_link(pair[0], pair[1])).collect();
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
{record}{sweep}"#,
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
            record = self.record(),
            sweep = self.sweep(),
        )
    }

    pub(super) fn is_page(&self) -> bool {
        matches!(self.draft.requests, Asked::Page { .. })
    }

    /// A link from the clients to the long part: a local network, or no way at all for a page.
    fn near_link(&self, near: &str, far: &str) -> String {
        let (about, each) = if self.is_page() {
            ("in one place", r#"{ rate = "unlimited", delay = "0 ms" }"#)
        } else {
            ("a local network (chosen)", r#"{ rate = "1 Gbit/s", delay = "1 ms" }"#)
        };
        format!("# {near} – {far}: {about}.\n[[path.link]]\nup   = {each}\ndown = {each}\n\n")
    }

    /// The tables that figures are drawn from. A page asks for its own.
    fn record(&self) -> String {
        if self.is_page() {
            return String::new();
        }
        let span_s = self.draft.span_s;
        let (_, every, word) =
            EVERY.iter().find(|(length, ..)| span_s / length <= ROWS_MAX).unwrap_or(&EVERY[3]);
        format!(
            "\n# What figures need: each link by the {word}, and each step of a request.\n\
             [record]\nlinks_every = \"{every}\"\nexchanges = true\n"
        )
    }

    /// Ways by name: the path, and the proxy too where proxies differ (`geo+pep`).
    pub(super) fn names(&self) -> Vec<String> {
        let several = self.has_several_proxies();
        let name = |(way, _): &(&Way, &Preset)| match way.proxy {
            proxy if several && proxy != Proxy::None => format!("{}+{}", way.path, proxy.word()),
            _ => way.path.clone(),
        };
        self.ways.iter().map(name).collect()
    }

    pub(super) fn has_several_proxies(&self) -> bool {
        self.ways.iter().any(|(way, _)| way.proxy != self.first.0.proxy)
    }

    /// Nodes from the clients to the servers, the same on all ways.
    pub(super) fn nodes(&self) -> Vec<&'static str> {
        let has = |proxy| self.ways.iter().any(|(way, _)| way.proxy == proxy);
        let is_near = self.draft.is_local || self.is_page() && has(Proxy::Mux);
        let near = is_near.then_some(if self.draft.cache.is_none() { "near-end" } else { "cache" });
        let relay = has(Proxy::Pep).then_some("terminal");
        [Some("clients"), near, relay, Some("far-end"), Some("servers")].into_iter().flatten().collect()
    }

    /// Place of the long part among the links.
    pub(super) fn long_link(&self) -> usize {
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
        let why = comment(
            "These queues take the place of those above. A router has them where it sends slower than the modem behind it: set \
             rates a little below the line's.",
        );
        format!("{why}up.queue = {up}\ndown.queue = {down}\n")
    }

    /// A queue of the long part in each direction, in TOML: those without a rule of their own for waits with the depth of the path.
    pub(super) fn queue_of(&self, name: &str) -> [(&'static str, String); 2] {
        let Preset { delay, queue, .. } = self.first.1;
        let trip = delay.up + delay.down;
        let (up, down) = queue.as_ref().map_or((trip, trip), |queue| (queue.up, queue.down));
        let value = |depth: f64| match name {
            "drop-tail" => format!("\"{depth} ms\""),
            "drop-head" => format!("{{ kind = \"{name}\", limit = \"{depth} ms\" }}"),
            _ => format!("\"{name}\""),
        };
        [("up.queue", value(up)), ("down.queue", value(down))]
    }
}

/// Each text once, in order.
pub(super) fn unique(texts: impl Iterator<Item = String>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for text in texts {
        if !found.contains(&text) {
            found.push(text);
        }
    }
    found
}

/// `text` as lines of comments, broken between words.
pub(super) fn comment(text: &str) -> String {
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
