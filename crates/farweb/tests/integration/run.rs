//! Runs small scenarios from Rust and looks at their rows.

use std::collections::BTreeMap;

use farweb::record::{Column, NULL_CODE, NULL_INT, Status};
use farweb::scenario::Scenario;
use farweb::units::{Duration, Instant};
use farweb::workload::{Caching, Directory, Method, OriginTime, Request, RequestSource, WorkloadError};
use farweb::world::{Progress, World};
use proptest::prelude::*;

/// Tables by name, columns by name. Words as their codes.
pub(crate) type Tables = BTreeMap<&'static str, BTreeMap<&'static str, Column>>;

/// A client, a server, and one link between them.
pub(crate) fn one_link(link: &str, leg: &str, rest: &str) -> Scenario {
    on_leg(link, &format!("carrier = {{ kind = \"http/1.0\" }}\n{leg}"), rest)
}

/// The same over another carrier.
pub(crate) fn on_leg(link: &str, leg: &str, rest: &str) -> Scenario {
    let text = format!(
        r#"
        format = 1
        [path]
        nodes = ["client", "server"]
        [[path.link]]
        {link}
        [[leg]]
        from = "client"
        to = "server"
        {leg}
        [workload]
        requests = "given by the test"
        {rest}
        "#
    );
    Scenario::parse(&text, "test.toml", &[]).unwrap_or_else(|error| panic!("{error}"))
}

/// Both directions of a link at E3 rate, 34.368 Mbit/s.
pub(crate) fn e3(up_ms: u64, down_ms: u64) -> String {
    format!(
        "up = {{ rate = \"34.368 Mbit/s\", delay = \"{up_ms} ms\" }}\n\
         down = {{ rate = \"34.368 Mbit/s\", delay = \"{down_ms} ms\" }}"
    )
}

/// Queues of every kind that drop packets of a short transfer.
pub(crate) const DISCIPLINES: [&str; 5] = [
    r#"{ kind = "drop-tail", limit = "9000 B", counts = "waiting" }"#,
    r#"{ kind = "drop-head", limit = "5 packets" }"#,
    r#"{ kind = "codel", target = "2 ms", interval = "10 ms", limit = "15 packets" }"#,
    r#"{ kind = "fq-codel", target = "2 ms", interval = "10 ms", limit = "15 packets" }"#,
    r#"{ kind = "pie", target = "2 ms", burst = "0 ms", limit = "15 packets" }"#,
];

/// A request to the server named `host`, given as (start in ns, request bytes, response bytes, server time in ns).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked(pub(crate) u64, pub(crate) u64, pub(crate) u64, pub(crate) u64);

/// Requests from a list.
pub(crate) struct Listed(pub(crate) std::vec::IntoIter<Asked>);

impl RequestSource for Listed {
    fn next_request(&mut self, directory: &mut Directory) -> Result<Option<Request>, WorkloadError> {
        Ok(self.0.next().map(|Asked(start, request_bytes, response_bytes, server)| Request {
            start: Instant::from_nanos(start),
            host: directory.host("server.example"),
            request_bytes,
            response_bytes,
            server: OriginTime::new(Duration::from_nanos(server)),
            object: None,
            source: None,
            tag: None,
            day: None,
            client: None,
            method: Method::Get,
            caching: Caching::Store,
            tls: None,
        }))
    }
}

/// Runs to the end and gives back all rows.
pub(crate) fn run(scenario: &Scenario, seed: u64, requests: Vec<Asked>) -> (Tables, Progress) {
    let mut world = World::new(scenario, seed, Directory::default());
    let mut source = Listed(requests.into_iter());
    let progress = world.advance(&mut source, u64::MAX).expect("a list can be read");
    assert!(progress.done);
    let tables = world.take().into_iter().map(|(table, columns)| (table, columns.into_iter().collect()));
    (tables.collect(), progress)
}

/// Exactly the failed requests have a cause and a time of failure, which is not before their start.
pub(crate) fn check_failures(tables: &Tables) -> Result<(), TestCaseError> {
    let [status, failure] = ["status", "failure"].map(|column| codes(tables, "requests", column));
    let [start, failed] = ["start_ns", "failed_ns"].map(|column| ints(tables, "requests", column));
    for row in 0..status.len() {
        let is_done = status[row] == Status::Done as i32;
        prop_assert_eq!(failure[row] == NULL_CODE, is_done);
        prop_assert_eq!(failed[row] == NULL_INT, is_done);
        prop_assert!(is_done || failed[row] >= start[row]);
    }
    Ok(())
}

/// A column of whole numbers.
pub(crate) fn ints<'a>(tables: &'a Tables, table: &str, column: &str) -> &'a [i64] {
    match &tables[table][column] {
        Column::Int(values) => values,
        other => panic!("{table}.{column} is {other:?}"),
    }
}

/// A column of words, as codes.
pub(crate) fn codes<'a>(tables: &'a Tables, table: &str, column: &str) -> &'a [i32] {
    match &tables[table][column] {
        Column::Word(codes, _) => codes,
        other => panic!("{table}.{column} is {other:?}"),
    }
}

/// A column of truth values.
pub(crate) fn bools<'a>(tables: &'a Tables, table: &str, column: &str) -> &'a [bool] {
    match &tables[table][column] {
        Column::Bool(values) => values,
        other => panic!("{table}.{column} is {other:?}"),
    }
}

/// A column of real numbers.
pub(crate) fn floats<'a>(tables: &'a Tables, table: &str, column: &str) -> &'a [f64] {
    match &tables[table][column] {
        Column::Float(values) => values,
        other => panic!("{table}.{column} is {other:?}"),
    }
}
