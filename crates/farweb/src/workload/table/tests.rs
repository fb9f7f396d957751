mod batches;

use std::fmt::Write as _;
use std::io::Cursor;
use std::path::PathBuf;

use insta::assert_snapshot;
use proptest::prelude::*;

use super::*;
use crate::units::Duration;
use crate::workload::Host;
use crate::workload::lines::Lines;

fn text_table(name: &str, bytes: &[u8]) -> Result<TextTable, WorkloadError> {
    TextTable::new(Lines::new(name.into(), Cursor::new(bytes.to_vec()))?, &LAYOUT)
}

/// All requests of a table held in memory, in the order of its lines.
fn read_all(name: &str, bytes: &[u8]) -> Result<(Vec<Request>, Directory), WorkloadError> {
    let mut directory = Directory::default();
    let mut table = text_table(name, bytes)?;
    let mut requests = Vec::new();
    while let Some(request) = read_request(&mut table, &mut directory)? {
        requests.push(request);
    }
    Ok((requests, directory))
}

fn hosts_of(name: &str, text: &str) -> Result<Directory, WorkloadError> {
    hosts_of_bytes(name.into(), text.as_bytes().to_vec())
}

/// Problems of `text`, a line each.
fn problems(name: &str, texts: &[&str]) -> String {
    let message = |text: &&str| read_all(name, text.as_bytes()).expect_err(text).to_string();
    texts.iter().map(message).collect::<Vec<_>>().join("\n")
}

/// A file of this test process that is removed at the end.
struct TestFile(PathBuf);

impl TestFile {
    fn new(name: &str, bytes: &[u8]) -> Self {
        let path = std::env::temp_dir().join(format!("farweb-{}-{name}", std::process::id()));
        std::fs::write(&path, bytes).unwrap();
        Self(path)
    }
}

impl Drop for TestFile {
    fn drop(&mut self) {
        std::fs::remove_file(&self.0).unwrap();
    }
}

fn drain(source: &mut impl RequestSource) -> (Vec<Request>, Directory) {
    let mut directory = Directory::default();
    let mut requests = Vec::new();
    while let Some(request) = source.next_request(&mut directory).unwrap() {
        requests.push(request);
    }
    (requests, directory)
}

#[test]
fn columns_stand_in_any_order_under_a_header_line() {
    let text = "host,response_bytes,request_bytes,tag,start_s,server_s,source\r\n\
                a.example,1000,300,sample,0.25,0.125,edge\r\n\
                \r\n\
                \"b, the second\",2000,310,,1e0,,\r\n";
    let (requests, directory) = read_all("t.csv", text.as_bytes()).unwrap();
    let expected = [
        Request {
            start: Instant::from_nanos(250_000_000),
            host: directory.find("a.example").unwrap(),
            request_bytes: 300,
            response_bytes: 1000,
            server: OriginTime::new(Duration::from_millis(125)),
            object: None,
            source: directory.sources.find("edge"),
            tag: directory.tags.find("sample"),
            day: None,
            client: None,
            method: Method::Get,
            caching: Caching::Store,
            tls: None,
        },
        Request {
            start: Instant::from_nanos(1_000_000_000),
            host: directory.find("b, the second").unwrap(),
            request_bytes: 310,
            response_bytes: 2000,
            server: OriginTime::NONE,
            object: None,
            source: None,
            tag: None,
            day: None,
            client: None,
            method: Method::Get,
            caching: Caching::Store,
            tls: None,
        },
    ];
    assert_eq!(requests, expected);
    assert!(expected[0].source.is_some() && expected[0].tag.is_some());
}

#[test]
fn objects_are_named_by_text_or_numbers() {
    let rows = "start_s,host,request_bytes,response_bytes,object\n\
                0,a,1,1,http://a.example/\n0,b,1,1,http://a.example/\n0,a,1,1,17\n0,a,1,1,\n";
    let (requests, _) = read_all("t.csv", rows.as_bytes()).unwrap();
    let page = Some(ObjectId::of_bytes(b"http://a.example/"));
    let objects: Vec<_> = requests.iter().map(|request| request.object).collect();
    assert_eq!(objects, [page, page, ObjectId::new(17), None]);
}

#[test]
fn clients_are_named_by_text_or_numbers() {
    let rows = "start_s,client,host,request_bytes,response_bytes\n\
                0,10.0.0.7,a,1,1\n0,2001:db8::1,a,1,1\n0,10.0.0.7,a,1,1\n0,17,a,1,1\n0,,a,1,1\n";
    let (requests, _) = read_all("t.csv", rows.as_bytes()).unwrap();
    let [seven, other] = ["10.0.0.7", "2001:db8::1"].map(|text| Some(ClientId::of_bytes(text.as_bytes())));
    let clients: Vec<_> = requests.iter().map(|request| request.client).collect();
    assert_eq!(clients, [seven, other, seven, ClientId::new(17), None]);
}

#[test]
fn the_method_decides_what_caches_do_unless_the_table_does() {
    let rows = "start_s,host,request_bytes,response_bytes,method,caching\n\
                0,a,1,1,,\n0,a,1,1,HEAD,\n0,a,1,1,POST,\n0,a,1,1,POST,bypass\n0,a,1,1,PURGE,\n0,a,1,1,,invalidate\n";
    let (requests, _) = read_all("t.csv", rows.as_bytes()).unwrap();
    let found: Vec<_> = requests.iter().map(|request| (request.method, request.caching)).collect();
    let expected = [
        (Method::Get, Caching::Store),
        (Method::Head, Caching::Serve),
        (Method::Post, Caching::Invalidate),
        (Method::Post, Caching::Bypass),
        (Method::Other, Caching::Invalidate),
        (Method::Get, Caching::Invalidate),
    ];
    assert_eq!(found, expected);
    let wrong = rows.replace("POST,bypass", "POST,never");
    insta::assert_snapshot!(read_all("t.csv", wrong.as_bytes()).unwrap_err().to_string(), @r#"t.csv:5: column caching: found "never"; write store, serve, bypass or invalidate, or nothing to go by the method"#);
}

#[test]
fn tls_is_true_or_false_or_not_known() {
    let rows = "start_s,host,request_bytes,response_bytes,tls\n0,a,1,1,true\n0,a,1,1,False\n0,a,1,1,\n";
    let (requests, _) = read_all("t.csv", rows.as_bytes()).unwrap();
    let found: Vec<_> = requests.iter().map(|request| request.tls).collect();
    assert_eq!(found, [Some(true), Some(false), None]);
    let wrong = rows.replace("False", "https");
    insta::assert_snapshot!(read_all("t.csv", wrong.as_bytes()).unwrap_err().to_string(), @r#"t.csv:3: column tls: found "https"; write true or false, or nothing when it is not known"#);
}

#[test]
fn a_request_takes_as_much_memory_as_the_documents_say() {
    assert_eq!(size_of::<Request>(), 80);
}

#[test]
fn a_request_of_no_bytes_can_be_read() {
    let (requests, _) = read_all("t.csv", b"start_s,host,request_bytes,response_bytes\n0,a,0,1\n").unwrap();
    assert_eq!((requests[0].request_bytes, requests[0].response_bytes), (0, 1));
}

#[test]
fn a_log_file_of_the_papers_needs_no_header_line() {
    let (requests, directory) =
        read_all("logfile", b"  0.5  17 \t 300 1000 0.2\n1 18 301 1001 -\n2 17 1 1\n").unwrap();
    assert_eq!(requests.len(), 3);
    assert_eq!(requests[0].server.whole(), Some(Duration::from_millis(200)));
    assert_eq!((requests[1].server, requests[2].server), (OriginTime::NONE, OriginTime::NONE));
    assert_eq!(requests[2].host, directory.find("17").unwrap());
    let with_header =
        read_all("logfile.gz", b"start_s host request_bytes response_bytes\n0 a 1 2\n").unwrap();
    assert_eq!(with_header.0[0].response_bytes, 2);
}

#[test]
fn a_wrong_cell_is_named_with_its_place_and_what_is_allowed() {
    let head = "start_s,host,request_bytes,response_bytes,server_s,wait_s\n";
    let rows = [
        "nan,a,1,1,,",
        "inf,a,1,1,,",
        "-0.5,a,1,1,,",
        "9.1e9,a,1,1,,",
        ",a,1,1,,",
        "0:12,a,1,1,,",
        "0,,1,1,,",
        "0,a,-1,1,,",
        "0,a,300.0,1,,",
        "0,a,1,9007199254740993,,",
        "0,a,1,-1,,",
        "0,a,1,1,-1,",
        "0,a,1,1,NaN,",
        "0,a,1,1,2,2.1",
        "0,a,1,1,,0",
        "0,a,1,1",
        "0,a,1,1,,,",
        "0,\"a,1,1,",
    ];
    let texts: Vec<_> = rows.map(|row| format!("{head}0,a,1,1,2,2\n{row}\n")).into();
    let texts: Vec<_> = texts.iter().map(String::as_str).collect();
    assert_snapshot!(problems("t.csv", &texts), @r#"
    t.csv:3: column start_s: found "nan"; write seconds from 0 to 9e9, for example 12.75
    t.csv:3: column start_s: found "inf"; write seconds from 0 to 9e9, for example 12.75
    t.csv:3: column start_s: found "-0.5"; write seconds from 0 to 9e9, for example 12.75
    t.csv:3: column start_s: found "9.1e9"; write seconds from 0 to 9e9, for example 12.75
    t.csv:3: column start_s: found nothing; write seconds from 0 to 9e9, for example 12.75
    t.csv:3: column start_s: found "0:12"; write seconds from 0 to 9e9, for example 12.75
    t.csv:3: column host: found nothing; write the id or name of a host
    t.csv:3: column request_bytes: found "-1"; write a whole number of bytes from 0 to 2^53
    t.csv:3: column request_bytes: found "300.0"; write a whole number of bytes from 0 to 2^53
    t.csv:3: column response_bytes: found "9007199254740993"; write a whole number of bytes from 1 to 2^53
    t.csv:3: column response_bytes: found "-1"; write a whole number of bytes from 1 to 2^53
    t.csv:3: column server_s: found "-1"; write seconds from 0 to 9e9, or nothing when it was not recorded
    t.csv:3: column server_s: found "NaN"; write seconds from 0 to 9e9, or nothing when it was not recorded
    t.csv:3: column wait_s: found "2.1"; write seconds from 0 to the server_s of the row, or nothing when it was not recorded
    t.csv:3: column wait_s: found "0"; write seconds from 0 to the server_s of the row, or nothing when it was not recorded
    t.csv:3: has 4 fields where the header line has 6
    t.csv:3: has 7 fields where the header line has 6
    t.csv:3: a quoted field does not end on this line
    "#);
}

#[test]
fn the_error_for_a_wrong_header_line_says_what_is_right() {
    let texts = [
        "start,host,request_bytes,response_bytes\n",
        "start_s,host,request_bytes,response_bytes,colour\n",
        "start_s,host,request_bytes\n",
        "start_s,host,host,request_bytes,response_bytes\n",
        "",
        "\n \n",
        "0.5,a,1\n",
        "0.5,a,1,1,1,1\n",
    ];
    assert_snapshot!(problems("t.csv", &texts), @r#"
    t.csv:1: unknown column "start" (did you mean start_s?); a request table has the columns start_s, host, request_bytes, response_bytes, server_s, wait_s, object, source, tag, day, client, method, caching, tls
    t.csv:1: unknown column "colour"; a request table has the columns start_s, host, request_bytes, response_bytes, server_s, wait_s, object, source, tag, day, client, method, caching, tls
    t.csv:1: column response_bytes is missing; a request table needs start_s, host, request_bytes, response_bytes
    t.csv:1: column host is there twice
    t.csv: is empty; a request table has the columns start_s, host, request_bytes, response_bytes, server_s, wait_s, object, source, tag, day, client, method, caching, tls
    t.csv: is empty; a request table has the columns start_s, host, request_bytes, response_bytes, server_s, wait_s, object, source, tag, day, client, method, caching, tls
    t.csv:1: has 3 fields; without a header line a row of a request table is 4 to 5 fields: start_s host request_bytes response_bytes server_s
    t.csv:1: has 6 fields; without a header line a row of a request table is 4 to 5 fields: start_s host request_bytes response_bytes server_s
    "#);
}

#[test]
fn what_is_no_text_is_refused() {
    let long = format!("0,a,1,1\n{}", "x".repeat((1 << 20) + 1));
    let wide = vec!["1"; 65].join(",");
    assert_snapshot!(problems("t.csv", &["0,a\0,1,1\n", &long, &wide, &format!("\"1\",{wide}")]), @r"
    t.csv: is not text but binary data (byte 0x00 at offset 3)
    t.csv:2: is longer than 1048576 bytes
    t.csv:1: has more than 64 fields
    t.csv:1: has more than 64 fields
    ");
    let error = read_all("t.csv", b"0,a,1,1\n1,caf\xE9,1,1\n").unwrap_err().to_string();
    assert_eq!(error, "t.csv:2: byte 0xe9 after \"1,caf\" is not UTF-8; save the table as UTF-8");
}

#[test]
fn a_short_table_is_read_once_and_begins_as_often_as_asked() {
    let file = TestFile::new("sorted.tsv", b"0.5\ta\t10\t100\t0.1\n0.5\tb\t11\t101\n2\ta\t12\t102\n");
    let (table, summary) = RequestTable::open(&file.0).unwrap();
    let expected = Summary {
        requests: 3,
        hosts: 2,
        first_start: Instant::from_nanos(500_000_000),
        last_start: Instant::from_nanos(2_000_000_000),
        sorted: true,
        request_bytes: 33,
        response_bytes: 303,
        with_server_time: 1,
        samples: 0,
        has_days: false,
    };
    assert_eq!(summary, expected);
    std::fs::write(&file.0, "another").unwrap();
    for _ in 0..2 {
        let (requests, directory) = drain(&mut table.begin().unwrap());
        assert_eq!(requests.iter().map(|request| request.request_bytes).collect::<Vec<_>>(), [10, 11, 12]);
        assert_eq!(requests[1].host, directory.find("b").unwrap());
    }
}

#[test]
fn a_table_in_memory_is_that_of_its_file() {
    let text = b"2,b,1,1\n1,a,2,2\n";
    let file = TestFile::new("in_memory.csv", text);
    let name = || file.0.display().to_string();
    let (opened, summary) = RequestTable::open(&file.0).unwrap();
    let (held, same) = RequestTable::of_bytes(name(), text.to_vec()).unwrap();
    assert_eq!(summary, same);
    let rows = |table: &RequestTable| drain(&mut table.begin().unwrap()).0;
    assert_eq!(rows(&opened), rows(&held));
    let error =
        RequestTable::of_bytes("t.csv".into(), b"start_s,host,request_bytes,response_bytes\n".to_vec());
    assert_eq!(error.unwrap_err().to_string(), "t.csv: has no requests");
}

#[test]
fn a_table_that_changes_during_the_run_is_an_error() {
    let rows = ROWS_KEPT + 1;
    let file = TestFile::new("changed.csv", "1,a,1,1\n".repeat(rows).as_bytes());
    let (table, _) = RequestTable::open(&file.0).unwrap();
    let mut changed = table.begin().unwrap();
    std::fs::write(&file.0, "0,a,1,1\n".repeat(rows)).unwrap();
    let mut directory = Directory::default();
    let error = loop {
        match changed.next_request(&mut directory) {
            Ok(request) => assert!(request.is_some(), "it has changed"),
            Err(error) => break error.to_string(),
        }
    };
    assert!(error.ends_with(": the start goes back: the table has changed during the run"), "{error}");
}

#[test]
fn an_unsorted_table_is_sorted_and_equal_starts_keep_their_order() {
    let file = TestFile::new("unsorted.csv", b"2,b,1,1\n1,a,2,2\n2,a,3,3\n1,b,4,4\n");
    let (table, summary) = RequestTable::open(&file.0).unwrap();
    assert!(!summary.sorted);
    assert_eq!(summary.first_start, Instant::from_nanos(1_000_000_000));
    assert_eq!(summary.last_start, Instant::from_nanos(2_000_000_000));
    let (requests, directory) = drain(&mut table.begin().unwrap());
    assert_eq!(requests.iter().map(|r| r.request_bytes).collect::<Vec<_>>(), [2, 4, 1, 3]);
    assert_eq!(requests[0].host, directory.find("a").unwrap());
}

#[test]
fn a_table_that_cannot_be_used_is_refused_before_the_run() {
    let header = TestFile::new("empty.csv", b"start_s,host,request_bytes,response_bytes\n");
    let message = |path: &Path| RequestTable::open(path).unwrap_err().to_string();
    assert!(message(&header.0).ends_with("empty.csv: has no requests"));
    assert!(message(&std::env::temp_dir()).ends_with("is not a regular file; a request table is read twice"));
    assert!(message(Path::new("/nowhere/t.csv")).starts_with("/nowhere/t.csv: cannot be opened: "));
}

#[test]
fn hosts_are_read_with_and_without_a_header_line() {
    let papers = hosts_of("hostfile", "1 www.example.org 8760 1460\n2 - - 1480\n3\n").unwrap();
    let host = |key: &str, name: &str, buffer, mss| Host { key: key.into(), name: name.into(), buffer, mss };
    let hosts: Vec<_> = papers.hosts().iter().map(|(_, host)| host.clone()).collect();
    let expected = [
        host("1", "www.example.org", Some(8760), Some(1460)),
        host("2", "", None, Some(1480)),
        host("3", "", None, None),
    ];
    assert_eq!(hosts, expected);
    let csv = hosts_of("h.csv", "mss_bytes,host\n1460,a\n,b\n").unwrap();
    assert_eq!(csv.hosts()[csv.find("a").unwrap()].mss, Some(1460));
    assert_eq!(csv.hosts()[csv.find("b").unwrap()].mss, None);
}

#[test]
fn the_error_for_a_wrong_host_table_says_what_is_right() {
    let texts = [
        "host,name,window_bytes,mss_bytes\na,,31,\n",
        "host,mss_bytes\na,31\n",
        "host,mss_bytes\na,65496\n",
        "host,mss_bytes\na,1460\na,1460\n",
        "host,mss_bytes\n,1460\n",
        "host,mss\na,1460\n",
        "a,,many,1460\n",
    ];
    let message = |text: &&str| hosts_of("h.csv", text).unwrap_err().to_string();
    assert_snapshot!(texts.iter().map(message).collect::<Vec<_>>().join("\n"), @r#"
    h.csv:2: column window_bytes: found "31"; write a whole number of bytes from 32 to 2^53, or nothing when it is not known
    h.csv:2: column mss_bytes: found "31"; write a whole number of bytes from 32 to 65495, or nothing when it is not known
    h.csv:2: column mss_bytes: found "65496"; write a whole number of bytes from 32 to 65495, or nothing when it is not known
    h.csv:3: column host: found "a" a second time; write each host once
    h.csv:2: column host: found nothing; write the id of a host
    h.csv:1: unknown column "mss" (did you mean mss_bytes?); a host table has the columns host, name, window_bytes, mss_bytes, rtt_s, window_scale, address
    h.csv:1: column window_bytes: found "many"; write a whole number of bytes from 32 to 2^53, or nothing when it is not known
    "#);
}

/// A row as a table may hold it: start in ns, host, sizes, server time and the wait in it in ns, tag.
type Row = (u64, String, u64, u64, Option<(u64, Option<u64>)>, Option<String>);

fn rows() -> impl Strategy<Value = Vec<Row>> {
    let word = "[a-z0-9.,\"-]{0,6}[a-z]";
    let row = (
        0..1_u64 << 50,
        word,
        1..1_u64 << 53,
        1..1_u64 << 53,
        proptest::option::of((1_u64 << 40..1 << 41, proptest::option::of(0..1_u64 << 40))),
        proptest::option::of(word),
    );
    proptest::collection::vec(row, 1..20)
}

fn written(rows: &[Row], delimiter: char) -> String {
    let field = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
    let seconds = |nanos: u64| format!("{}.{:09}", nanos / 1_000_000_000, nanos % 1_000_000_000);
    let mut text = REQUESTS.names().join(&delimiter.to_string());
    for (start, host, request, response, server, tag) in rows {
        let wait = server.and_then(|(_, wait)| wait).map(seconds).unwrap_or_default();
        let server = server.map(|(whole, _)| seconds(whole)).unwrap_or_default();
        let tag = tag.as_deref().map(field).unwrap_or_default();
        let cells = [seconds(*start), field(host), request.to_string(), response.to_string(), server, tag];
        let [start, host, request, response, server, tag] = cells;
        let (object, source, day, client) = (String::new(), String::new(), "7".to_owned(), "8".to_owned());
        let [method, caching, tls] = ["HEAD", "", "false"].map(String::from);
        let cells = [
            start, host, request, response, server, wait, object, source, tag, day, client, method, caching,
            tls,
        ];
        write!(text, "\n{}", cells.join(&delimiter.to_string())).unwrap();
    }
    text
}

proptest! {
    #[test]
    fn a_table_written_and_read_back_is_equal(rows in rows(), tabs: bool) {
        let (name, delimiter) = if tabs { ("t.tsv", '\t') } else { ("t.csv", ',') };
        let (requests, directory) = read_all(name, written(&rows, delimiter).as_bytes()).unwrap();
        let read: Vec<Row> = requests
            .iter()
            .map(|r| (
                r.start.as_nanos(),
                directory.hosts()[r.host].key.to_string(),
                r.request_bytes,
                r.response_bytes,
                r.server.whole().map(|whole| (whole.as_nanos(), r.server.wait().map(Duration::as_nanos))),
                r.tag.map(|tag| directory.tags.words()[tag].to_string()),
            ))
            .collect();
        prop_assert_eq!(read, rows);
        let client = ClientId::new(8);
        prop_assert!(requests.iter().all(|request| request.day == Some(7) && request.client == client));
        prop_assert!(requests.iter().all(|request| request.method == Method::Head && request.is_clear()));
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes: Vec<u8>, name in "t\\.(csv|tsv|log)") {
        if let Ok((requests, _)) = read_all(&name, &bytes) {
            prop_assert!(requests.iter().all(|r| r.response_bytes >= 1));
        }
    }

    #[test]
    fn near_misses_of_a_table_never_panic(text in "([0-9.,\"\\t e-]{0,12}[a\\n]){0,8}", name in "t\\.(csv|tsv|log)") {
        let _ = read_all(&name, text.as_bytes());
        let _ = hosts_of(&name, &text);
    }
}
