//! Which request of a HAR waited for which.

use serde_json::{Value, json};

use super::{PAGE, document, entry, recorded};
use crate::page::{Dependency, Evidence, Rule, graph_of};

fn of(entries: Vec<Value>, rule: Rule) -> Vec<Dependency> {
    graph_of(&recorded("chrome-har", entries), rule)
}

/// Edges as a parent and a share, think time, and evidence, in numbers up to what floats lose.
fn facts(found: &Dependency) -> (Vec<(usize, Option<f64>)>, f64, Evidence) {
    let rounded = |value: f64| (value * 1e6).round() / 1e6;
    let edges = found.edges.iter().map(|edge| (edge.parent, edge.share.map(rounded))).collect();
    (edges, rounded(found.think_ms), found.evidence)
}

fn script(name: &str, start_ms: f64, mut fields: Value) -> Value {
    fields["response"] = json!({"content": {"mimeType": "text/javascript"}});
    entry(&format!("https://a.example/{name}"), start_ms, fields)
}

#[test]
fn a_redirect_leads_to_its_target() {
    let hop = json!({"response": {"status": 301, "redirectURL": "/"}});
    let found =
        of(vec![entry("https://a.example/old", 0.0, hop), entry(PAGE, 75.0, json!({}))], Rule::Likely);
    assert_eq!(facts(&found[1]), (vec![(0, Some(1.0))], 15.0, Evidence::Redirect));
}

#[test]
fn a_tag_within_a_document_waits_for_its_part() {
    let document = entry(PAGE, 0.0, json!({"timings": {"wait": 50, "receive": 100}}));
    let by = json!({"_initiator": PAGE, "_initiator_type": "parser"});
    let found = of(vec![document, entry("https://a.example/x.css", 75.0, by)], Rule::Likely);
    assert_eq!(facts(&found[1]), (vec![(0, Some(0.25))], 0.0, Evidence::Initiator));
}

#[test]
fn what_ended_right_before_may_stand_behind_an_initiator_that_ended_long_ago() {
    let by = json!({"_initiator": PAGE, "_initiator_type": "parser"});
    let entries =
        vec![document(), script("app.js", 61.0, json!({})), entry("https://a.example/x.png", 140.0, by)];
    let edges = |rule| facts(&of(entries.clone(), rule)[2]).0;
    let likely = of(entries.clone(), Rule::Likely);
    assert_eq!(facts(&likely[2]), (vec![(0, Some(1.0)), (1, Some(1.0))], 19.0, Evidence::Hidden));
    assert_eq!(edges(Rule::Few), [(0, Some(1.0))]);
    assert_eq!(edges(Rule::Many), [(1, Some(1.0))]);
}

#[test]
fn an_initiator_that_is_not_clear_is_none() {
    let by = |url: &str| json!({"_initiator": url, "_initiator_type": "script"});
    let twice = [70.0, 150.0].map(|start| script("app.js", start, json!({})));
    let asked = entry("https://a.example/x.json", 300.0, by("https://a.example/app.js"));
    let found = of([vec![document()], twice.to_vec(), vec![asked]].concat(), Rule::Likely);
    assert_eq!(found[3].evidence, Evidence::Time);
    let itself = entry("https://a.example/x.css", 80.0, by("https://a.example/x.css"));
    assert_eq!(of(vec![document(), itself], Rule::Likely)[1].evidence, Evidence::Time);
}

#[test]
fn entries_that_name_each_other_and_times_below_zero_make_no_circle() {
    let name = |place: usize| format!("{place}.js");
    let entries = (0..3_usize).map(|place| {
        let by = format!("https://a.example/{}", name((place + 2) % 3));
        let odd = json!({"startedDateTime": "1970-01-01T00:00:00Z", "timings": {"wait": "-9", "receive": -1e300}, "_initiator": by});
        script(&name(place), 0.0, odd)
    });
    let entries: Vec<_> = std::iter::once(document()).chain(entries).collect();
    for rule in Rule::ALL {
        for (place, each) in of(entries.clone(), rule).iter().enumerate() {
            assert!(each.think_ms >= 0.0 && each.edges.iter().all(|edge| edge.parent < place), "{each:?}");
        }
    }
}

#[test]
fn a_request_waits_for_its_preflight() {
    let url = "https://b.example/api";
    let preflight = entry(url, 70.0, json!({"_initiator": url, "_request_type": "Preflight"}));
    let found = of(vec![document(), preflight, entry(url, 140.0, json!({"_initiator": PAGE}))], Rule::Likely);
    assert_eq!((found[1].evidence, &facts(&found[2]).0[..]), (Evidence::Time, &[(1, Some(1.0))][..]));
}

#[test]
fn causes_stated_by_farweb_stand_unless_they_cannot_be() {
    let mut page =
        recorded("chrome-har", vec![document(), entry("https://a.example/x.css", 75.0, json!({}))]);
    let mut of = |parents: &str| {
        page.sent[1].stated = Some(crate::page::Stated {
            parents: parents.to_owned(),
            dependency: "hidden".to_owned(),
            server_ms: 0.0,
        });
        let found = graph_of(&page, Rule::Likely);
        (found[1].evidence == Evidence::Hidden).then(|| facts(&found[1]).0)
    };
    assert_eq!(of("0@start"), Some(vec![(0, None)]));
    assert_eq!(of("0@first 0@end"), Some(vec![(0, Some(0.0)), (0, Some(1.0))]));
    assert_eq!(of("0@650"), Some(vec![(0, Some(0.5))]), "of 300 and 1000 bytes");
    for wrong in ["", "1@end", "0@1301", "0@half", "x@end", "0"] {
        assert_eq!(of(wrong), None, "{wrong}");
    }
}
