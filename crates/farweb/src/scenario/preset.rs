//! Presets of links: kinds of paths, each value with its date, its source and how sure it is.
//!
//! A preset fills the keys of a link that are absent, after overrides and levels of a sweep. Depths of queues are given as a
//! time and become bytes at the rate in force, also at one of the scenario. Disciplines stand beside, where a source names one.
//!
//! Source: `presets.json`, value by value.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::document::Document;
use crate::units::{BitRate, as_text};

static PRESETS: LazyLock<Vec<Preset>> =
    LazyLock::new(|| serde_json::from_str(include_str!("presets.json")).expect("it is of this form"));

/// A kind of path.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Preset {
    /// Its name as a value of `preset`.
    pub name: String,
    /// A short description.
    pub title: String,
    /// Other words for it, in lower case.
    #[serde(default)]
    pub also: Vec<String>,
    /// Rates in Mbit/s.
    pub rate: Figure,
    /// Delays one way, in ms.
    pub delay: Figure,
    /// Depths of the queues in ms at the rate. A round trip when left out.
    #[serde(default)]
    pub queue: Option<Figure>,
    /// Disciplines of the queues. Drop-tail when left out.
    #[serde(default)]
    pub discipline: Option<Disciplines>,
    /// Depths to sweep, in ms in both directions, where no one has published any.
    #[serde(default)]
    pub depths: Vec<u32>,
    /// Shares of packets lost at random, 0 to 1.
    #[serde(default)]
    pub loss: Option<Figure>,
    /// Handovers of the link.
    #[serde(default)]
    pub handover: Option<Change>,
    /// Variation of the rate in each direction.
    #[serde(default)]
    pub variation: Option<Change>,
    /// A sentence on what varies there and is constant here.
    #[serde(default)]
    pub left_out: String,
    /// Each figure with its source, a sentence or two each.
    #[serde(skip_deserializing)]
    pub facts: Vec<String>,
}

/// A figure in both directions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// Towards the servers.
    pub up: f64,
    /// Towards the clients.
    pub down: f64,
    /// When it was measured, its year first. Empty where it was not.
    pub dated: String,
    /// "seen" in the source, "chosen" for farweb, or "from memory".
    pub mark: String,
    /// Where it comes from, a sentence.
    pub source: String,
}

/// Disciplines of queues in both directions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Disciplines {
    /// Its table towards the servers, without a limit.
    pub up: Value,
    /// Likewise towards the clients.
    pub down: Value,
    /// As of a figure.
    pub dated: String,
    /// Likewise.
    pub mark: String,
    /// Likewise.
    pub source: String,
}

/// A table of a scenario.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// Its keys.
    pub value: Value,
    /// As of a figure.
    pub dated: String,
    /// Likewise.
    pub mark: String,
    /// Likewise.
    pub source: String,
}

/// Name of a preset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PresetName(&'static str);

impl FromStr for PresetName {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        find(text)
            .map(|preset| Self(&preset.name))
            .ok_or_else(|| format!("\"{text}\" is no preset of a link"))
    }
}

impl fmt::Display for PresetName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

as_text!(PresetName, "PresetName", {
    "oneOf": PRESETS
        .iter()
        .map(|preset| json!({ "type": "string", "const": preset.name, "description": preset.title }))
        .collect::<Vec<_>>()
});

impl PresetName {
    /// The preset.
    ///
    /// # Panics
    /// Never: a name is of one.
    #[must_use]
    pub fn preset(self) -> &'static Preset {
        find(self.0).expect("a name is of a preset")
    }
}

/// The preset of a name, or of another word for it.
fn find(name: &str) -> Option<&'static Preset> {
    PRESETS.iter().find(|preset| preset.name == name || preset.also.iter().any(|word| word == name))
}

/// All presets, with their facts.
#[must_use]
pub fn presets() -> Vec<Preset> {
    PRESETS.iter().map(|preset| Preset { facts: preset.facts(), ..preset.clone() }).collect()
}

/// A date and a mark, such as "2025; seen".
fn sure(dated: &str, mark: &str) -> String {
    if dated.is_empty() { mark.to_owned() } else { format!("{dated}; {mark}") }
}

impl Figure {
    fn text(&self, quantity: &str, unit: &str) -> String {
        let Self { up, down, dated, mark, source } = self;
        let values = if up == down { up.to_string() } else { format!("up {up}, down {down}") };
        format!("{quantity}: {values}{unit} ({}). {source}", sure(dated, mark))
    }
}

/// A table's keys and values in words.
fn listed(table: &Value) -> String {
    let keys = table.as_object().into_iter().flatten();
    let values = keys.map(|(key, value)| format!("{key} {}", value.to_string().replace('"', "")));
    values.collect::<Vec<_>>().join(", ")
}

impl Change {
    fn text(&self, quantity: &str) -> String {
        format!("{quantity}: {} ({}). {}", listed(&self.value), sure(&self.dated, &self.mark), self.source)
    }
}

impl Disciplines {
    /// The table in a direction. None of drop-tail, whose limit alone stands for it.
    fn table(&self, way: &str) -> Option<&Value> {
        let table = if way == "up" { &self.up } else { &self.down };
        (table["kind"] != "drop-tail").then_some(table)
    }

    fn text(&self) -> String {
        let Self { up, down, dated, mark, source } = self;
        let [ups, downs] = [up, down].map(|table| listed(table).replacen("kind ", "", 1));
        let values = if up == down { ups } else { format!("up {ups}; down {downs}") };
        format!("Disciplines of queues: {values} ({}). {source}", sure(dated, mark))
    }
}

impl Preset {
    /// Each figure with its source, a sentence or two each.
    pub(crate) fn facts(&self) -> Vec<String> {
        let queue = self.queue.as_ref().map_or_else(
            || "Queues: what the path carries in a round trip (chosen).".to_owned(),
            |queue| queue.text("Queues", " ms at full rate"),
        );
        let facts = [
            Some(self.rate.text("Rates", " Mbit/s")),
            Some(self.delay.text("Delays", " ms one way")),
            Some(queue),
            self.discipline.as_ref().map(Disciplines::text),
            self.loss.as_ref().map(|loss| loss.text("Loss", " of the packets")),
            self.handover.as_ref().map(|handover| handover.text("Handovers")),
            self.variation.as_ref().map(|variation| variation.text("Variation")),
            Some(self.left_out.clone()).filter(|text| !text.is_empty()),
        ];
        facts.into_iter().flatten().collect()
    }

    /// The queue of a direction with this limit: its discipline, or drop-tail, which the limit alone stands for unless the link
    /// has keys of such a table.
    fn queue_of(&self, way: &str, limit: String, own: &Value) -> Value {
        let named = self.discipline.as_ref().and_then(|queues| queues.table(way));
        let Some(mut queue) =
            named.cloned().or_else(|| own.is_object().then(|| json!({ "kind": "drop-tail" })))
        else {
            return limit.into();
        };
        queue["limit"] = limit.into();
        queue
    }

    /// The queue of a direction with this limit, as a value of TOML.
    pub(super) fn queue_text(&self, way: &str, limit: &str) -> String {
        match self.queue_of(way, limit.to_owned(), &Value::Null) {
            Value::Object(table) => {
                let keys: Vec<_> = table.iter().map(|(key, value)| format!("{key} = {value}")).collect();
                format!("{{ {} }}", keys.join(", "))
            }
            limit => limit.to_string(),
        }
    }

    /// Years of its rates and delays in order, such as "2021 and 2022".
    pub(crate) fn years(&self) -> String {
        let dated = [&self.rate, &self.delay].into_iter().filter_map(|figure| figure.dated.get(..4));
        let years: BTreeSet<&str> = dated.collect();
        years.into_iter().collect::<Vec<_>>().join(" and ")
    }

    /// The keys that `link` has by it. A trace stands in place of rate, variation and handovers.
    fn keys(&self, link: &Value) -> Value {
        let mut keys = Map::new();
        for (way, of) in [("up", (|figure| figure.up) as fn(&Figure) -> f64), ("down", |figure| figure.down)]
        {
            let rate = format!("{} Mbit/s", of(&self.rate));
            let mut own = json!({ "delay": format!("{} ms", of(&self.delay)) });
            let has_trace = !link[way]["trace"].is_null();
            if !has_trace {
                own["rate"] = rate.clone().into();
            }
            let depth_ms = self.queue.as_ref().map_or(self.delay.up + self.delay.down, of);
            let in_force = link[way]["rate"].as_str().unwrap_or(&rate);
            if let Ok(rate) = in_force.parse::<BitRate>() {
                // At least a packet.
                let kilobytes = (rate.as_bps() as f64 / 8e6 * depth_ms).round_ties_even().max(2.0);
                own["queue"] = self.queue_of(way, format!("{kilobytes} kB"), &link[way]["queue"]);
                if let Some(variation) = self.variation.as_ref().filter(|_| !has_trace) {
                    own["variation"] = variation.value.clone();
                }
            }
            if let Some(loss) = &self.loss {
                own["loss"] = json!({ "kind": "bernoulli", "probability": of(loss) });
            }
            keys.insert(way.to_owned(), own);
        }
        let has_trace = ["up", "down"].iter().any(|way| !link[way]["trace"].is_null());
        if let Some(handover) = self.handover.as_ref().filter(|_| !has_trace) {
            keys.insert("handover".to_owned(), handover.value.clone());
        }
        keys.into()
    }
}

/// `document` with the keys that presets fill. Beside a preset that there is not, missing directions are no second problem.
pub(super) fn expanded(document: &Document) -> Cow<'_, Document> {
    let links = document.tree.pointer("/path/link").and_then(Value::as_array);
    if links.into_iter().flatten().all(|link| link["preset"].is_null()) {
        return Cow::Borrowed(document);
    }
    let mut document = document.clone();
    let links = document.tree.pointer_mut("/path/link").and_then(Value::as_array_mut);
    for link in links.into_iter().flatten().filter(|link| !link["preset"].is_null()) {
        let preset = link["preset"].as_str().and_then(find);
        if let Some(preset) = preset {
            link["preset"] = preset.name.as_str().into();
        }
        let keys = preset.map_or_else(|| json!({ "up": null, "down": null }), |preset| preset.keys(link));
        fill(link, keys);
    }
    Cow::Owned(document)
}

/// Takes the preset from links of an effective scenario that have switched changes of it off, or it would fill them again.
pub(super) fn detach(scenario: &mut Value) {
    let links = scenario.pointer_mut("/path/link").and_then(Value::as_array_mut);
    for link in links.into_iter().flatten() {
        let Some(preset) = link["preset"].as_str().and_then(find) else { continue };
        let mut filled = link.clone();
        fill(&mut filled, preset.keys(link));
        if let (true, Some(keys)) = (filled != *link, link.as_object_mut()) {
            keys.shift_remove("preset");
        }
    }
}

/// Gives `table` the keys of `with` that it lacks. A table with a kind of its own is one value.
fn fill(table: &mut Value, with: Value) {
    let (Value::Object(table), Value::Object(with)) = (table, with) else { return };
    if with.contains_key("kind") && table.contains_key("kind") {
        return;
    }
    for (key, value) in with {
        match table.get_mut(&key) {
            Some(own) => fill(own, value),
            None => {
                table.insert(key, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::{Direction, Phase};
    use crate::scenario::{Queue, QueueCounts, QueueLimit, QueueTable, Scenario, Source};
    use crate::sweep::Planned;
    use crate::units::{Bytes, Duration};

    const PAGE: &str = "format=1\npath={nodes=[\"a\",\"b\"],link=[{preset=\"starlink\"}]}\nleg=[{from=\"a\",to=\"b\",carrier={kind=\"http/1.0\"}}]\nworkload={requests=\"r.csv\"}";

    fn page(overrides: &[(&str, &str)]) -> Scenario {
        let overrides: Vec<_> =
            overrides.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        Scenario::parse(PAGE, "page.toml", &overrides).unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn every_preset_is_a_link_and_its_effective_scenario_is_itself() {
        for preset in PRESETS.iter() {
            let scenario = page(&[("path.link.0.preset", &preset.name)]);
            let again = Source::of_effective(scenario.effective(), "page.toml").unwrap().into_scenario();
            assert_eq!(again, scenario);
            assert_eq!(again.effective(), scenario.effective());
            assert!(preset.facts().iter().all(|fact| fact.ends_with('.')), "{}", preset.name);
        }
    }

    #[test]
    fn keys_of_the_scenario_stand_and_queues_follow_the_rate() {
        let own = page(&[
            ("path.link.0.down.rate", "40 Mbit/s"),
            ("path.link.0.down.loss", "{kind=\"none\"}"),
            ("path.link.0.handover.phase", "12 s"),
            ("path.link.0.up.variation.sigma", "0.5"),
        ]);
        let link = &own.path.link[0];
        assert_eq!(
            link.down.queue.and_then(|queue| queue.limit()),
            Some(QueueLimit::Bytes(Bytes::new(1_000_000)))
        );
        assert_eq!(
            (link.up.delay, link.down.loss.clone()),
            (Duration::from_micros(22_500), crate::net::Loss::None)
        );
        let handover = link.handover.unwrap();
        assert_eq!(
            (handover.phase, handover.every),
            (Phase::At(Duration::from_secs(12)), Duration::from_secs(15))
        );
        let variation = link.up.variation.unwrap();
        assert_eq!((variation.sigma, variation.correlation), (0.5, 0.79));
        assert_eq!(page(&[("path.link.0.up.rate", "unlimited")]).path.link[0].up.queue, None);
    }

    #[test]
    fn queues_have_the_discipline_that_a_source_names() {
        let drop_head = |bytes| {
            let (limit, counts) = (QueueLimit::Bytes(Bytes::new(bytes)), QueueCounts::All);
            Some(Queue::Table(QueueTable::DropHead { limit, counts }))
        };
        let queues = |overrides: &[(&str, &str)]| {
            let link = page(overrides).path.link[0].clone();
            [link.up.queue, link.down.queue]
        };
        // 200 ms at 17 and at 117 Mbit/s.
        assert_eq!(queues(&[]), [drop_head(425_000), drop_head(2_925_000)]);
        let [_, down] = queues(&[("path.link.0.down.queue.limit", "50 ms")]);
        assert!(matches!(down, Some(Queue::Table(QueueTable::DropHead { limit: QueueLimit::Time(_), .. }))));
        let [_, down] = queues(&[("path.link.0.down.queue", "50 ms")]);
        assert_eq!(down, Some(Queue::Limit(QueueLimit::Time(Duration::from_millis(50)))));
        let [_, down] = queues(&[("path.link.0.down.queue", "{kind=\"codel\"}")]);
        assert!(matches!(down, Some(Queue::Table(QueueTable::Codel { .. }))));
        let [up, down] = queues(&[("path.link.0.preset", "docsis")]);
        let Some(Queue::Table(QueueTable::Pie { target, limit, .. })) = up else { panic!("{up:?}") };
        assert_eq!((target, limit), (Duration::from_millis(10), QueueLimit::Bytes(Bytes::new(188_000))));
        assert!(matches!(down, Some(Queue::Limit(_))));
        let [_, down] =
            queues(&[("path.link.0.preset", "docsis"), ("path.link.0.down.queue.limit", "50 ms")]);
        assert!(matches!(
            down,
            Some(Queue::Table(QueueTable::DropTail { limit: Some(QueueLimit::Time(_)), .. }))
        ));
        // A share of losses alone keeps the process of the preset.
        let lossy = page(&[("path.link.0.down.loss.probability", "0.01")]);
        assert_eq!(lossy.path.link[0].down.loss, crate::net::Loss::Bernoulli { probability: 0.01 });
    }

    #[test]
    fn a_sweep_over_the_limit_of_a_preset_is_read_again_from_its_effective_scenario() {
        let limits = [
            ("path.link.0.preset", "dsl"),
            ("sweep.factors", "{ \"path.link.0.down.queue.limit\" = [\"50 ms\", \"90 ms\"] }"),
        ];
        let swept = page(&limits);
        // Drop-tail is a text there.
        assert!(swept.effective()["path"]["link"][0]["down"]["queue"].is_string());
        let again = Planned::of(Source::of_effective(swept.effective(), "page.toml").unwrap()).unwrap();
        let longest = again.point(1).unwrap().scenario().path.link[0].down.queue;
        assert_eq!(longest, Some(Queue::Limit(QueueLimit::Time(Duration::from_millis(90)))));
        let lots = [("path.link.0.down.queue.limit".to_owned(), "lots".to_owned())];
        let problem = again.with(&lots).unwrap_err().problems.swap_remove(0).to_string();
        let place = "--set path.link.0.down.queue.limit=lots: path.link.0.down.queue: \"lots\" is not";
        assert!(problem.starts_with(place), "{problem}");
    }

    #[test]
    fn changes_of_a_preset_are_switched_off_by_none() {
        let own = page(&[
            ("path.link.0.handover", "none"),
            ("path.link.0.down.variation", "none"),
            ("path.link.0.down.jitter", "none"),
            ("leg.0.split", "none"),
        ]);
        let link = &own.path.link[0];
        assert_eq!((link.handover, link.down.variation, link.down.jitter), (None, None, None));
        assert!(link.up.variation.is_some() && own.leg[0].split.is_empty());
        let again = Source::of_effective(own.effective(), "page.toml").unwrap().into_scenario();
        assert_eq!(again.path.link[0].config(Direction::Down), link.config(Direction::Down));
        assert_eq!(again.effective(), own.effective());
        let error = Scenario::parse(PAGE, "page.toml", &[("leg.0.split".to_owned(), "off".to_owned())]);
        let message = error.unwrap_err().problems[0].message.clone();
        assert_eq!(message, "found the text \"off\"; write tables, or \"none\"");
    }

    #[test]
    fn another_word_for_a_preset_is_taken() {
        assert_eq!(page(&[("path.link.0.preset", "geo")]), page(&[("path.link.0.preset", "geo-viasat")]));
    }

    #[test]
    fn a_sweep_over_presets_takes_the_keys_of_each() {
        let factors =
            "{\"path.link.0.preset\"=[\"starlink\",\"geo-viasat\"],\"path.link.0.down.rate\"=[\"8 Mbit/s\"]}";
        let text = format!("{PAGE}\nsweep={{factors={factors}}}");
        let planned = Planned::parse(&text, "page.toml", &[]).unwrap_or_else(|error| panic!("{error}"));
        let link = |point| planned.point(point).unwrap().scenario().path.link[0].clone();
        assert!(link(0).handover.is_some() && link(1).handover.is_none());
        assert_eq!([link(0), link(1)].map(|link| link.down.delay.as_nanos()), [22_500_000, 342_000_000]);
        assert_eq!(link(1).down.queue, Some(Queue::Limit(QueueLimit::Bytes(Bytes::new(1_000_000)))));
    }

    #[test]
    fn an_unknown_preset_is_refused_at_its_place() {
        let text = PAGE.replace("starlink", "starlnk");
        let error = Scenario::parse(&text, "page.toml", &[]).unwrap_err().problems[0].to_string();
        assert!(
            error
                .starts_with("page.toml:2: path.link.0.preset: found \"starlnk\"; it is one of \"starlink\""),
            "{error}"
        );
    }
}
