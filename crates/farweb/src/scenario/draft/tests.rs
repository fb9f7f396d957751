use insta::assert_snapshot;
use serde_json::json;

use super::whole::{WIDTH, comment};
use super::*;
use crate::scenario::Scenario;
use crate::sweep::Planned;

fn draft(ways: &[(&str, &str)], more: &serde_json::Value) -> Draft {
    let ways: Vec<_> = ways.iter().map(|(path, proxy)| json!({ "path": path, "proxy": proxy })).collect();
    let serving =
        json!({ "carrier": "{ kind = \"http/2\" }", "tls": true, "nagle": true, "reasons": ["As chosen."] });
    let mut choices = json!({ "file": "link.toml", "ways": ways, "serving": serving, "release": "delayed", "requests": "web", "span_s": 600 });
    choices.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    serde_json::from_value(choices).unwrap()
}

#[test]
fn every_draft_is_a_scenario() {
    let level = json!({ "capacity": "10 GB", "policy": "lru" });
    for path in crate::scenario::presets().iter().map(|preset| preset.name.as_str()) {
        for proxy in Proxy::ALL {
            for more in [
                json!({}),
                json!({ "cache": level, "is_local": true }),
                json!({ "requests": { "page": { "requests": "page" } } }),
                json!({ "cache": level, "shield": level, "is_local": true, "requests": "prowgen" }),
            ] {
                let other = if path == "cable-1998" { "geo" } else { "cable-1998" };
                for ways in [&[(path, proxy.word())][..], &[(path, proxy.word()), (other, "none")]] {
                    let text = draft(ways, &more).to_toml().unwrap();
                    Planned::parse(&text, "link.toml", &[]).unwrap_or_else(|error| panic!("{error}\n{text}"));
                }
            }
        }
    }
}

#[test]
fn a_draft_says_what_it_is() {
    assert_snapshot!(draft(&[("geo", "pep")], &json!({})).to_toml().unwrap());
}

#[test]
fn proxies_of_a_page_stand_beside_its_browser() {
    let page = json!({ "requests": { "page": { "requests": "page" } } });
    assert_snapshot!(draft(&[("geo", "mux")], &page).to_toml().unwrap());
}

#[test]
fn choices_are_taken_as_they_are_named() {
    let text = draft(&[("leo", "split")], &json!({})).to_toml().unwrap();
    let scenario = Scenario::parse(&text, "link.toml", &[]).unwrap().effective();
    assert_eq!(scenario["path"]["link"][0]["preset"], "starlink");
    assert_eq!(scenario["leg"][0]["carrier"]["kind"], "http/2");
    assert_eq!(scenario["leg"][1]["tcp"]["constants"]["nagle"], true);
    assert_eq!(scenario["origin"]["release"], "delayed");
    assert_eq!(draft(&[("x", "none")], &json!({})).to_toml().unwrap_err(), "\"x\" is no preset of a link");
    assert_eq!(draft(&[], &json!({})).to_toml().unwrap_err(), "a scenario needs a path");
}

#[test]
fn comments_break_between_words() {
    let long = "x".repeat(WIDTH);
    assert_eq!(comment(&format!("a {long} b")), format!("# a\n# {long}\n# b\n"));
    assert_eq!(comment("a  b"), "# a b\n");
    assert_eq!(comment(""), "");
}

/// Queues by name take the place of the preset's, in a sweep too. Those with a limit have the depth of the
/// path.
#[test]
fn queues_by_name_are_written_with_the_depth_of_the_path() {
    let head = "{ kind = \"drop-head\", limit = \"100 ms\" }";
    for queues in [json!(["drop-head"]), json!(["drop-head", "drop-tail", "pie"])] {
        let text = draft(&[("docsis", "none")], &json!({ "queues": queues })).to_toml().unwrap();
        Planned::parse(&text, "link.toml", &[]).unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert!(text.contains(&format!("up.queue = {head}\ndown.queue = {head}\n")), "{text}");
        assert!(text.contains("# These queues take the place of those above."), "{text}");
    }
}
