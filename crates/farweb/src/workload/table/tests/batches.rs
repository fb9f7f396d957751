//! Tables in memory, in batches of columns.

use super::*;

/// Two batches with every kind of null.
fn batches() -> Vec<Batch> {
    let words = |codes: &[i32], words: &[&str]| Words {
        codes: codes.into(),
        words: words.iter().map(ToString::to_string).collect(),
    };
    let first = Batch {
        start_s: vec![0.0, 0.5],
        host: words(&[1, 0], &["a", "b"]),
        request_bytes: vec![300, 301],
        response_bytes: vec![1000, 1001],
        server_s: Some(vec![f64::NAN, 0.25]),
        wait_s: Some(vec![f64::NAN, 0.125]),
        object: Some(vec![7, u64::MAX]),
        source: None,
        tag: Some(words(&[-1, 0], &["sample"])),
        day: None,
        client: Some(vec![5, u64::MAX]),
        method: Some(words(&[-1, 0], &["HEAD"])),
        caching: Some(words(&[0, -1], &["bypass"])),
        tls: Some(vec![0, -1]),
    };
    let second = Batch {
        start_s: vec![0.5],
        host: words(&[0], &["c"]),
        request_bytes: vec![302],
        response_bytes: vec![1002],
        tag: Some(words(&[0], &["other"])),
        ..Batch::default()
    };
    vec![first, Batch::default(), second]
}

fn batch_error(change: impl FnOnce(&mut [Batch])) -> String {
    let mut batches = batches();
    change(&mut batches);
    let mut batches = batches.into_iter();
    let mut table = BatchTable::new("t.parquet", || Ok(batches.next()));
    let mut directory = Directory::default();
    loop {
        match table.next_request(&mut directory) {
            Ok(Some(_)) => {}
            Ok(None) => return "no error".into(),
            Err(error) => return error.to_string(),
        }
    }
}

#[test]
fn batches_give_the_rows_of_their_columns() {
    let mut batches = batches().into_iter();
    let mut table = BatchTable::new("t.parquet", || Ok(batches.next()));
    let (requests, directory) = drain(&mut table);
    let hosts: Vec<_> = requests.iter().map(|r| &*directory.hosts()[r.host].key).collect();
    assert_eq!(hosts, ["b", "a", "c"]);
    assert_eq!(requests.iter().map(|r| r.request_bytes).collect::<Vec<_>>(), [300, 301, 302]);
    assert_eq!(
        requests.iter().map(|r| r.server.whole()).collect::<Vec<_>>(),
        [None, Some(Duration::from_millis(250)), None]
    );
    assert_eq!(requests[1].server.wait(), Some(Duration::from_millis(125)));
    let tags: Vec<_> = requests.iter().map(|r| r.tag.map(|tag| &*directory.tags.words()[tag])).collect();
    assert_eq!(tags, [None, Some("sample"), Some("other")]);
    assert_eq!(requests.iter().map(|r| r.object).collect::<Vec<_>>(), [ObjectId::new(7), None, None]);
    assert_eq!(requests.iter().map(|r| r.client).collect::<Vec<_>>(), [ClientId::new(5), None, None]);
    assert_eq!(requests.iter().map(|r| r.tls).collect::<Vec<_>>(), [Some(false), None, None]);
    let treated: Vec<_> = requests.iter().map(|r| (r.method, r.caching)).collect();
    assert_eq!(
        treated,
        [(Method::Get, Caching::Bypass), (Method::Head, Caching::Serve), (Method::Get, Caching::Store),]
    );
}

#[test]
fn a_wrong_value_in_a_batch_is_named_with_its_row() {
    let errors = [
        batch_error(|_| {}),
        batch_error(|b| b[2].start_s[0] = f64::NAN),
        batch_error(|b| b[2].start_s[0] = 0.25),
        batch_error(|b| b[0].request_bytes[1] = i64::MIN),
        batch_error(|b| b[0].response_bytes[1] = 0),
        batch_error(|b| b[0].host.codes[0] = -1),
        batch_error(|b| b[0].host.codes[0] = 2),
        batch_error(|b| b[0].server_s = Some(vec![-1.0, 0.0])),
        batch_error(|b| b[0].wait_s = Some(vec![f64::NAN, 0.3])),
        batch_error(|b| b[0].wait_s = Some(vec![0.3])),
        batch_error(|b| b[0].tag.as_mut().unwrap().codes.truncate(1)),
        batch_error(|b| b[0].object = Some(vec![1])),
        batch_error(|b| b[0].client = Some(vec![1])),
        batch_error(|b| b[0].caching = Some(b[0].host.clone())),
        batch_error(|b| b[0].tls = Some(vec![1])),
        batch_error(|b| b[0].day = Some(vec![1])),
        batch_error(|b| b[0].day = Some(vec![1, 0])),
        batch_error(|b| b[0].day = Some(vec![i64::MIN, 3])),
        batch_error(|b| b[0].day = Some(vec![1, 2])),
    ];
    assert_snapshot!(errors.join("\n"), @r#"
    no error
    t.parquet, row 3: column start_s: found NaN; write seconds from 0 to 9e9, for example 12.75
    t.parquet, row 3: column start_s: found 0.25 after 0.5; write the rows by start time
    t.parquet, row 2: column request_bytes: found nothing; write a whole number of bytes from 0 to 2^53
    t.parquet, row 2: column response_bytes: found 0; write a whole number of bytes from 1 to 2^53
    t.parquet, row 1: column host: found nothing; write the id or name of a host
    t.parquet, row 1: column host: found code 2; write -1 to 1
    t.parquet, row 1: column server_s: found -1; write seconds from 0 to 9e9, or nothing when it was not recorded
    t.parquet, row 2: column wait_s: found 0.3; write seconds from 0 to the server_s of the row, or nothing when it was not recorded
    t.parquet, column wait_s: has 1 rows where the first column has 2
    t.parquet, column tag: has 1 rows where the first column has 2
    t.parquet, column object: has 1 rows where the first column has 2
    t.parquet, column client: has 1 rows where the first column has 2
    t.parquet, row 1: column caching: found "b"; write store, serve, bypass or invalidate, or nothing to go by the method
    t.parquet, column tls: has 1 rows where the first column has 2
    t.parquet, column day: has 1 rows where the first column has 2
    t.parquet, row 2: column day: found 0; write a whole number of days from 1 to 1000000, in every row or in none
    t.parquet, row 2: column day: found 3; write a whole number of days from 1 to 1000000, in every row or in none
    t.parquet, row 3: column day: found nothing; write a whole number of days from 1 to 1000000, in every row or in none
    "#);
}

#[test]
fn days_are_in_every_row_or_in_none() {
    let head = "start_s,host,request_bytes,response_bytes,day\n";
    let texts = ["0,a,1,1,2\n0,a,1,1,\n", "0,a,1,1,0\n", "0,a,1,1,Monday\n", "0,a,1,1,1000001\n"];
    let texts = texts.map(|rows| format!("{head}{rows}"));
    assert_snapshot!(problems("t.csv", &texts.each_ref().map(String::as_str)), @r#"
    t.csv:3: column day: found nothing; write a whole number of days from 1 to 1000000, in every row or in none
    t.csv:2: column day: found "0"; write a whole number of days from 1 to 1000000, in every row or in none
    t.csv:2: column day: found "Monday"; write a whole number of days from 1 to 1000000, in every row or in none
    t.csv:2: column day: found "1000001"; write a whole number of days from 1 to 1000000, in every row or in none
    "#);
    let (requests, _) = read_all("t.csv", format!("{head}0,a,1,1,2\n1,a,1,1,1\n").as_bytes()).unwrap();
    assert_eq!(requests.iter().map(|request| request.day).collect::<Vec<_>>(), [Some(2), Some(1)]);
}

#[test]
fn hosts_from_columns_are_those_of_a_file() {
    let words = |words: &[&str]| Words {
        codes: (0..words.len() as i32).collect(),
        words: words.iter().map(ToString::to_string).collect(),
    };
    let columns = HostColumns {
        host: words(&["1", "2"]),
        name: Some(Words { codes: vec![0, -1], words: vec!["www.example.org".into()] }),
        window_bytes: Some(vec![8760, i64::MIN]),
        mss_bytes: Some(vec![1460, 1480]),
    };
    let directory = hosts_from_columns(&columns, "h.parquet").unwrap();
    let file = hosts_of("hostfile", "1 www.example.org 8760 1460\n2 - - 1480\n").unwrap();
    let all = |directory: &Directory| directory.hosts().iter().map(|(_, h)| h.clone()).collect::<Vec<_>>();
    assert_eq!(all(&directory), all(&file));
    let twice =
        HostColumns { host: Words { codes: vec![0, 0], words: vec!["1".into()] }, ..HostColumns::default() };
    assert_snapshot!(hosts_from_columns(&twice, "h.parquet").unwrap_err(), @r#"
    h.parquet, row 2: column host: found "1" a second time; write each host once
    "#);
    let narrow = HostColumns { window_bytes: Some(vec![32, 31]), ..columns.clone() };
    assert_snapshot!(hosts_from_columns(&narrow, "h.parquet").unwrap_err(), @"h.parquet, row 2: column window_bytes: found 31; write a whole number of bytes from 32 to 2^53, or nothing when it is not known");
    let wrong = HostColumns { mss_bytes: Some(vec![1460, 9]), ..columns };
    assert_snapshot!(hosts_from_columns(&wrong, "h.parquet").unwrap_err(), @"h.parquet, row 2: column mss_bytes: found 9; write a whole number of bytes from 32 to 65495, or nothing when it is not known");
}
