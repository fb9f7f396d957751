//! Sweep of a draft: over its paths, over queues, or over depths that nobody publishes.

use std::fmt::Write;

use super::whole::{comment, unique};
use super::{Asked, Way, Writer};
use crate::scenario::preset::Preset;

impl Writer<'_> {
    /// A sweep over the ways, or over queues of one or their depths. A log's requests are the same in each run. A page has
    /// none.
    pub(super) fn sweep(&self) -> String {
        let (replications, often) = match self.draft.requests {
            Asked::Nzix | Asked::Web => (5, "with five seeds"),
            _ => (1, "once: its requests are those of the log"),
        };
        let (factor, about, levels) = if self.ways.len() > 1 {
            ("path", self.about_ways(often), self.levels_of_ways())
        } else if self.draft.queues.len() > 1 {
            ("queue", format!("farweb sweep runs each queue {often}."), self.levels_of_queues())
        } else if self.is_page() || self.first.1.depths.is_empty() || !self.draft.queues.is_empty() {
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
                let _ = writeln!(text, "\"path.link.{}.{key}\" = {value}", self.long_link());
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
            Swept { level, set: vec![("preset", quoted(&kind.name))], legs }
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
            let queue = |way| self.first.1.queue_text(way, &level);
            let set = vec![("up.queue", queue("up")), ("down.queue", queue("down"))];
            Swept { level, set, legs: String::new() }
        };
        self.first.1.depths.iter().map(level).collect()
    }
}

fn quoted(text: &str) -> String {
    format!("\"{text}\"")
}

/// A level of the sweep: its name, keys of the long link with their values in TOML, and other legs.
struct Swept {
    level: String,
    set: Vec<(&'static str, String)>,
    legs: String,
}
