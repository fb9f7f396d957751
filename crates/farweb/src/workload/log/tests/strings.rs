//! Format strings of servers, balancers and frameworks, and of farweb's own: lines read as they are written.

use super::written::{CLF, TRAEFIK, custom, refused, times, who};
use super::*;

const INGRESS: &str = "$remote_addr - $remote_user [$time_local] \"$request\" $status $body_bytes_sent \"$http_referer\" \
    \"$http_user_agent\" $request_length $request_time [$proxy_upstream_name] [$proxy_alternative_upstream_name] $upstream_addr \
    $upstream_response_length $upstream_response_time $upstream_status $req_id";

#[test]
fn a_list_of_several_servers_stays_in_its_field() {
    let ingress = |servers: &str| {
        times(custom(INGRESS), &format!("{CLF} \"-\" \"curl/8\" 460 1.215 [web] [] {servers} 5a0f")).0
    };
    assert_eq!(ingress("10.1.2.3:8080, 10.1.2.4:8080 0, 5120 1.000, 0.114 502, 200"), 1114.0);
    assert_eq!(ingress("10.1.2.3:8080 : 10.1.2.4:8080 0 : 5120 1.000 : 0.114 502 : 200"), 1114.0);
    assert_eq!(ingress("10.1.2.3:8080 5120 0.214 200"), 214.0);
    assert_eq!(ingress("- - - -"), 1215.0);
    let own = "{client} - {} [{start}] \"{request}\" {status} {body} \"{}\" \"{}\" {} {elapsed} [{}] [{}] {} {} {server} {}";
    let line = format!(
        "{CLF} \"-\" \"curl/8\" 460 1.215 [web] [] 10.1.2.3:80, 10.1.2.4:80 0, 5120 1.000, 0.114 502, 200"
    );
    assert_eq!(times(custom(own), &line).0, 1114.0);
    let recipe = "$remote_addr [$msec] \"$request\" $status $bytes_sent $request_time $upstream_header_time $upstream_response_time";
    let line = "203.0.113.7 [1431857134.250] \"GET /d HTTP/2.0\" 200 740 0.180 0.060, 0.100 0.060, 0.120";
    assert_eq!(times(custom(recipe), line), (180.0, 160.0));
    let csv = "$msec,$request,$upstream_response_time,$bytes_sent";
    assert_eq!(times(custom(csv), "1431857134.250,GET /d HTTP/2.0,0.060, 0.120,740").0, 180.0);
    let open = "$msec, $request, $upstream_response_time, $bytes_sent";
    assert!(
        refused(custom(open), "x")
            .contains("other text behind the server time, a list with commas of its own")
    );
}

proptest! {
    #[test]
    fn times_of_servers_are_summed_however_many_there_are(
        asked in proptest::collection::vec((0..5000_u32, proptest::bool::ANY), 1..5), fill in "[a-z0-9.]{1,9}",
    ) {
        let list = |value: &dyn Fn(u32) -> String| {
            let mut text = String::new();
            for (at, (ms, group)) in asked.iter().enumerate() {
                text += if at == 0 { "" } else if *group { " : " } else { ", " };
                text += &value(*ms);
            }
            text
        };
        let times_ms = list(&|ms| format!("{}.{:03}", ms / 1000, ms % 1000));
        let line = format!("1431857134.250 \"GET / HTTP/1.1\" 200 9 {} {times_ms} {}", list(&|_| fill.clone()), list(&|_| "200".into()));
        let format = "$msec \"$request\" $status $bytes_sent $upstream_addr $upstream_response_time $upstream_status $request_id";
        prop_assert_eq!(times(custom(format), &line).0, f64::from(asked.iter().map(|(ms, _)| *ms).sum::<u32>()));
    }
}

#[test]
fn statements_of_configurations_are_read_as_their_formats() {
    let timed = format!("{CLF} \"-\" \"curl/8\" 0.123");
    let nginx = "log_format t '$remote_addr - $remote_user [$time_local] \"$request\" $status $body_bytes_sent '\n'\"$http_referer\" \"$http_user_agent\" $request_time';";
    let apache = r#"LogFormat "%h %l %u %t \"%r\" %>s %b \"%{Referer}i\" \"%{User-Agent}i\" %{s}T" timed"#;
    for format in [nginx, apache] {
        assert_eq!(times(custom(format), &timed).0, 123.0, "{format}");
    }
    let (_, report) = read(custom(apache), &timed, LogOptions::default());
    assert!(report.formats[0].starts_with("%h %l"), "without its statement: {}", report.formats[0]);
    assert!(LogFormat::custom("LogFormat combined").is_err());
}

#[test]
fn directives_of_programs_on_java_and_node_are_read() {
    let java = |directive: &str| {
        let format = format!("%h %l %u %t \"%r\" %s %b {directive}");
        let (batch, report) = read(custom(&format), &format!("{CLF} 12"), LogOptions::default());
        ((batch.server_s[0] * 1e6).round(), report.unit_doubt.is_some())
    };
    assert_eq!(java("%D"), (12.0, true), "µs, but of an older Tomcat ms");
    for (unit, micros) in [("us", 12.0), ("ms", 12_000.0)] {
        let options = LogOptions { elapsed_unit: Some(unit.parse().unwrap()), ..LogOptions::default() };
        let format = custom("%h %l %u %t \"%r\" %s %b %D");
        let (batch, report) = read(format, &format!("{CLF} 12"), options);
        assert_eq!(
            ((batch.server_s[0] * 1e6).round(), report.unit_doubt),
            (micros, None),
            "{unit} are stated"
        );
    }
    assert_eq!(java("%{us}T"), (12.0, false));
    assert_eq!(java("%{ms}T"), (12_000.0, false));
    let undertow = "%h %l %u %t \"%r\" %s %b \"%{i,User-Agent}\" %D %{i,Host} %{o,Cache-Control}";
    let line = format!("{CLF} \"curl/8\" 12 a.example max-age=60");
    assert_eq!(request(undertow, &line), "a.example 192.0.2.9 12 NaN 5370");
    assert_eq!(read(custom(undertow), &line, LogOptions::default()).1.unit_doubt, None);
    let gunicorn = "%(h)s %(l)s %(u)s %(t)s \"%(r)s\" %(s)s %(b)s %(D)s";
    let (batch, report) = read(custom(gunicorn), &format!("{CLF} 12000"), LogOptions::default());
    assert_eq!((batch.server_s[0], report.unit_doubt), (0.012, None));

    let agent = gunicorn.replace("%(D)s", "\"%(a)s\"");
    let (_, report) = read(custom(&agent), &format!("{CLF} \"kube-probe/1.27\""), LogOptions::default());
    assert_eq!(report.dropped, [(Reason::HealthCheck, 1)].into());

    let line = |date: &str| format!("192.0.2.9 {date} POST a.example /a?b HTTP/1.1 200 5120 12.345 ms");
    for (token, date) in [
        (":date", "Fri, 10 May 2024 10:00:00 GMT"),
        ("[:date[clf]]", "[10/May/2024:10:00:00 +0000]"),
        (":date[iso]", "2024-05-10T10:00:00.000Z"),
    ] {
        let format = format!(
            ":remote-addr {token} :method :req[host] :url HTTP/:http-version :status :res[content-length] :response-time ms"
        );
        assert_eq!(request(&format, &line(date)), "a.example 192.0.2.9 12.345 12.345 5370", "{token}");
        let (batch, report) = read(custom(&format), &line(date), LogOptions::default());
        assert_eq!(report.first_request.unwrap().start_unix_s, 1_715_335_200.0);
        assert_eq!((batch.method[0], report.facts.software.as_deref()), (Method::Post, Some("morgan")));
        let in_chunks = line(date).replace(" 5120 ", " - ");
        let (_, report) = read(custom(&format), &in_chunks, LogOptions::default());
        assert_eq!(report.dropped, [(Reason::NoSize, 1)].into());
    }
    assert!(
        refused(custom("\":method :url HTTP/:http-version\" :status :res[content-length]"), "x")
            .contains("when a request was")
    );
}

#[test]
fn a_duration_without_a_unit_is_that_of_a_known_program_or_refused() {
    let caddy = |duration: &str| CADDY.replace("0.000929675", duration);
    let envoy = r#"{"start_time":"2024-05-10T10:00:00.000Z","method":"GET","path":"/a","protocol":"HTTP/1.1","response_code":200,"response_flags":"-","bytes_received":0,"bytes_sent":5120,"duration":12,"upstream_service_time":"9","authority":"a.example","downstream_remote_address":"192.0.2.9:5000"}"#;
    let istio = envoy
        .replace("\"path\"", "\"x-envoy-origin-path\"")
        .replace("upstream_service_time", "x-envoy-upstream-service-time")
        .replace("\"authority", "\":authority");
    let minio = r#"{"version":"1","time":"2024-05-10T10:00:00.012Z","api":{"name":"PutObject","bucket":"b","statusCode":200,"rx":401,"tx":512,"timeToFirstByte":"9000000ns","timeToResponse":"12000000ns","timeToResponseInNS":"12000000"},"remotehost":"192.0.2.9","requestPath":"/b/o","requestHost":"a.example:9000"}"#;
    let trace = r#"{"host":"a.example:9000","time":"2024-05-10T10:00:00Z","client":"192.0.2.9","callStats":{"rx":0,"tx":512},"duration":12000000,"timeToFirstByte":9000000,"api":"s3.PutObject","path":"/b/o","query":"","statusCode":200}"#;
    let echo = r#"{"time":"2024-05-10T10:00:00.012Z","remote_ip":"192.0.2.9","host":"a.example:1323","method":"GET","uri":"/a","status":200,"latency":12000000,"latency_human":"12ms","bytes_in":0,"bytes_out":512}"#;
    let rows = [
        (caddy("0.012"), "json", 12.0, f64::NAN),
        (caddy("\"12ms\""), "json", 12.0, f64::NAN),
        (caddy("0"), "json", 0.0, f64::NAN),
        (caddy("2.0"), "json", 2000.0, f64::NAN),
        (TRAEFIK.to_owned(), "traefik-json", 1.965, f64::NAN),
        (envoy.to_owned(), "envoy-json", 9.0, 9.0),
        (istio, "envoy-json", 9.0, 9.0),
        (envoy.replace("\"9\"", "null"), "envoy-json", 12.0, f64::NAN),
        (minio.to_owned(), "minio", 12.0, 9.0),
        (trace.to_owned(), "minio-trace", 12.0, 9.0),
        (echo.to_owned(), "echo", 12.0, f64::NAN),
    ];
    for (line, format, server, wait) in rows {
        let (_, report) = read(LogFormat::Auto, &line, LogOptions::default());
        assert_eq!(report.formats[0], format, "{line}");
        assert_eq!(format!("{:?}", times(LogFormat::Auto, &line)), format!("{:?}", (server, wait)), "{line}");
        let first = report.first_request.unwrap();
        assert_eq!(first.method == "PUT", format.starts_with("minio"), "{line}");
    }
    let own = |span: &str| {
        format!(
            r#"{{"time":"2024-05-10T10:00:00Z","method":"GET","path":"/a","status":200,"bytes":512,{span}}}"#
        )
    };
    for span in ["\"duration\":12", "\"duration\":12.5", "\"latency\":12000000", "\"request_time\":12000"] {
        let why = refused(LogFormat::Auto, &own(span));
        assert!(
            why.contains("not a span whose unit is known; state it: --elapsed-unit s, ms, us or ns"),
            "{why}"
        );
    }
    for span in
        ["\"duration_ms\":12", "\"duration\":\"12ms\"", "\"request_time\":0.012", "\"latency\":\"12.0ms\""]
    {
        assert_eq!(times(LogFormat::Auto, &own(span)).0, 12.0, "{span}");
    }
}

#[test]
fn format_strings_are_read_as_their_servers_do() {
    let tabs = "192.0.2.1\t13/Apr/2024:07:14:20 +0000\tGET /y HTTP/1.1\t0.120\t200\t1900";
    let with = |separator: &str| {
        ["$remote_addr", "$time_local", "$request", "$request_time", "$status", "$body_bytes_sent"]
            .join(separator)
    };
    for format in [with("\\t"), with("\t")] {
        assert_eq!(times(custom(&format), tabs).0, 120.0, "{format}");
    }
    let own = "{client}\\t{start}\\t{request}\\t{elapsed}\\t{status}\\t{body}";
    assert_eq!(times(custom(own), tabs).0, 120.0);
    let last = custom("$msec\\t$status\\t$bytes_sent\\t$request");
    assert_eq!(
        fate(last.clone(), "1431857134.250\t200\t9\tGET /a b HTTP/1.1", &LogOptions::default()),
        "kept 9"
    );
    assert_eq!(
        fate(last, "1431857134.250\t\t9\tGET /a HTTP/1.1", &LogOptions::default()),
        "kept 9",
        "an empty status"
    );

    let url = |format: &str, line: &str| {
        let (batch, report) = read(custom(format), line, LogOptions::default());
        format!("{} {}", batch.host.word(0).unwrap(), report.first_request.unwrap().url)
    };
    assert_eq!(
        url("$msec $scheme://$host$request_uri $bytes_sent", "1431857134.2 https://a.example/x?y 9"),
        "a.example /x?y"
    );
    assert_eq!(
        url("$msec $host$uri$is_args$args $bytes_sent", "1431857134.2 a.example/x?y 9"),
        "a.example /x?y"
    );
    assert_eq!(url("$msec $uri$is_args$args $bytes_sent", "1431857134.2 /x?y 9"), "server /x?y");
    assert_eq!(url("%{sec}t \"%m %U%q %H\" %b", "1431857134 \"GET /x?y HTTP/1.1\" 9"), "server /x?y");
    assert!(
        refused(custom("$msec $request_uri $status$bytes_sent"), "x")
            .contains("text between two fields (status and bytes)")
    );

    let at = |format: &str, line: &str| {
        let (batch, report) = read(custom(format), line, LogOptions::default());
        report.origin_unix_s.unwrap() as f64 + batch.start_s[0]
    };
    let rest = "\"GET /a HTTP/1.1\" 200 2326";
    let apache = |time: &str| format!("%h {time} \"%r\" %>s %O");
    for (format, time) in [
        ("%{%Y-%m-%d %T}t", "2024-10-10 13:55:36"),
        ("[%{%d/%b/%Y:%T}t.%{msec_frac}t %{%z}t]", "[10/Oct/2024:13:55:36.000 +0000]"),
        ("[%{%d/%m/%Y:%H:%M:%S %z}t]", "[10/10/2024:15:55:36 +0200]"),
        ("%{%Y-%m-%d}t %{%H:%M:%S}t", "2024-10-10 13:55:36"),
        ("%{end:%s}t", "1728568536"),
        ("%{sec}t.%{usec_frac}t", "1728568536.000000"),
        ("[%{%c}t]", "[Thu Oct 10 13:55:36 2024]"),
    ] {
        assert_eq!(at(&apache(format), &format!("192.0.2.3 {time} {rest}")), 1_728_568_536.0, "{format}");
    }
    let squid = "%{%d/%b/%Y:%H:%M:%S %z}tl %>a %Ss/%03>Hs %<st %rm %ru";
    assert_eq!(at(squid, "10/Oct/2024:13:55:36 +0000 c TCP_MISS/200 9 GET http://a/"), 1_728_568_536.0);
    let unpadded = "%ts.%tu %>a %Ss/%03>Hs %<st %rm %ru";
    assert_eq!(at(unpadded, "1728568536.5 c TCP_MISS/200 9 GET http://a/"), 1_728_568_536.005);
    assert_eq!(
        at("%ts.%03tu %>a %Ss/%03>Hs %<st %rm %ru", "1728568536.005 c TCP_MISS/200 9 GET http://a/"),
        1_728_568_536.005
    );
    let tomcat = apache("%{yyyy-MM-dd HH:mm:ss.SSS}t");
    assert_eq!(at(&tomcat, &format!("192.0.2.3 2024-10-10 13:55:36.250 {rest}")), 1_728_568_536.25);
    for (format, why) in [
        ("%{%Q}t \"%r\" %b", "strftime's %Q is not read"),
        ("%{%H:%M:%S}t \"%r\" %b", "a format whose time has the year"),
        ("%h [{start}] \"%r\" %>s %O", "directives with % and names in braces do not mix"),
        ("$remote_addr [{start}] $request $bytes_sent", "variables with $ and names in braces do not mix"),
        ("$remote_addr %t \"$request\" $bytes_sent", "variables with $ and directives with % do not mix"),
    ] {
        let message = refused(custom(format), "x");
        assert!(message.starts_with("--log-format: ") && message.contains(why), "{format}: {message}");
    }
}

/// Client, host, server time and wait in ms, and size of the request of a line.
fn request(format: &str, line: &str) -> String {
    let (server, wait) = times(custom(format), line);
    let (batch, _) = read(custom(format), line, LogOptions::default());
    let who = who(custom(format), line);
    format!("{} {server} {wait} {}", who.rsplit_once(' ').unwrap().0, batch.response_bytes[0])
}

#[test]
fn format_strings_of_load_balancers_are_read() {
    let all = "%ci:%cp [%tr] %ft %b/%s %TR/%Tw/%Tc/%Tr/%Ta %ST %B %CC %CS %tsc %ac/%fc/%bc/%sc/%rc %sq/%bq %hr %hs %{+Q}r";
    let line = |client: &str| {
        format!(
            "{client}:5000 [14/Feb/2017:00:00:03.049] front~ back/srv 10/0/1/20/125 200 1250 - - ---- 1/1/0/0/0 0/0 {{a|b}} {{}} \
             \"GET /x HTTP/1.1\""
        )
    };
    assert_eq!(request(all, &line("192.0.2.1")), "server 192.0.2.1 20 20 1250");
    assert_eq!(request(all, &line("2001:db8::1")), "server 2001:db8::1 20 20 1250");
    let captureless = line("192.0.2.1").replace(" {a|b} {}", "");
    assert_eq!(request(all, &captureless), "server 192.0.2.1 20 20 1250");
    assert_eq!(request(&all.replace(' ', "\\ "), &line("192.0.2.1")), "server 192.0.2.1 20 20 1250");
    let clf = "%{+Q}o %{-Q}ci - - [%trg] %r %ST %B \"\" \"\" %cp %ms %ft %b %s %TR %Tw %Tc %Tr %Ta";
    let line = "192.0.2.1 - - [14/Feb/2017:00:00:03 +0000] \"GET /x HTTP/1.1\" 200 1250 \"\" \"\" 5000 049 \"front\" \"back\" \"srv\" \
                10 0 1 20 125";
    assert_eq!(request(clf, line), "server 192.0.2.1 20 20 1250");
    let samples = "%[src] %T %HM %[req.hdr(Host)] %HP%HQ %ST %B %Ta";
    let line = "192.0.2.1 14/Feb/2017:00:00:03 +0000 GET a.example /x?y 200 1250 125";
    assert_eq!(request(samples, line), "a.example 192.0.2.1 125 NaN 1250");

    let envoy = "[%START_TIME%] \"%REQ(:METHOD)% %REQ(X-ENVOY-ORIGINAL-PATH?:PATH)% %PROTOCOL%\" %RESPONSE_CODE% %RESPONSE_FLAGS% \
                 %BYTES_RECEIVED% %BYTES_SENT% %DURATION% %RESP(X-ENVOY-UPSTREAM-SERVICE-TIME)% %DOWNSTREAM_REMOTE_ADDRESS% \
                 \"%REQ(User-Agent):20%\" \"%REQ(:AUTHORITY)%\"";
    let line = "[2016-04-15T20:17:00.310Z] \"POST /api HTTP/2\" 200 - 154 1000 226 100 192.0.2.1:5000 \"nsq\" \"a.example\"";
    assert_eq!(request(envoy, line), "a.example 192.0.2.1 100 100 1250");
    let timed = envoy.replace("[%START_TIME%]", "%START_TIME(%s.%3f)%");
    let line = line.replace("[2016-04-15T20:17:00.310Z]", "1460751420.310");
    assert_eq!(request(&timed, &line), "a.example 192.0.2.1 100 100 1250");
    assert!(refused(custom(&envoy.replace("TIME%", "TIME(%Q)%")), "x").contains("strftime's %Q is not read"));

    let gunicorn = "%(h)s %(l)s %(u)s %(t)s \"%(r)s\" %(s)s %(b)s \"%({User-Agent}i)s\" %(L)s %(p)s";
    let line = format!("{CLF} \"curl\" 0.125000 <12>");
    assert_eq!(request(gunicorn, &line), "server 192.0.2.9 125 NaN 5370");
    let port = "$remote_addr:$remote_port [$msec] \"$request\" $status $bytes_sent";
    let line = "2001:db8::1:5000 [1431857134.250] \"GET /d HTTP/2.0\" 200 740";
    assert_eq!(request(port, line), "server 2001:db8::1 NaN NaN 740");
}

#[test]
fn spans_are_read_as_go_and_haproxy_write_them() {
    let took = |text: &str| {
        let line = format!(r#"{{"t":1445742685,"u":"/x","n":9,"took":"{text}"}}"#);
        let pairs = ["end=t", "url=u", "bytes=n", "elapsed=took"].map(Into::into).to_vec();
        let format = LogFormat::Fields(pairs);
        let (batch, report) = read(format, &line, any_unreadable());
        batch.server_s.first().copied().ok_or(report.unreadable_by)
    };
    let spans = [
        ("1m2.5s", 62.5),
        ("1h2m3s", 3723.0),
        ("31.5ms", 0.0315),
        ("929.675µs", 929.675e-6),
        ("929.675μs", 929.675e-6),
        ("1h", 3600.0),
        ("2m0s", 120.0),
        ("0s", 0.0),
    ];
    for (text, seconds) in spans {
        assert_eq!(took(text).unwrap(), seconds, "{text}");
    }
    for wrong in ["1s2m", "1m2", "m", "1x", "-1m", "1d2h", "1m1m"] {
        assert_eq!(took(wrong).unwrap_err().get("elapsed"), Some(&1), "{wrong}");
    }
    let haproxy = "192.0.2.1:5 [14/Feb/2017:00:00:03.049] front back/srv 0/0/1/20/+25 200 +1250 - - ---- 0/0/0/0/0 0/0 \"GET / HTTP/1.1\"";
    let named = "haproxy".parse::<LogFormat>().unwrap();
    let why = fate(named.clone(), haproxy, &LogOptions::default());
    assert!(why.starts_with("elapsed: found \"+25\"") && why.contains("option logasap"), "{why}");
    let why = refused(LogFormat::Auto, haproxy);
    assert!(
        why.contains("format haproxy but for two values: elapsed: found \"+25\"")
            && why.contains("bytes: found"),
        "{why}"
    );
    let aborted = haproxy.replace("20/+25 200 +1250", "-1/25 -1 0");
    assert_eq!(fate(named, &aborted, &LogOptions::default()), "aborted");
}

#[test]
fn results_of_caches_are_read_in_formats_of_ones_own() {
    let format = custom("[{start}] {result} {status} {bytes} {url}");
    let kept = |result: &str, keep_: Keep| {
        fate(format.clone(), &format!("[22/Jan/2023:16:49:06 +0000] {result} 200 812 /a.css"), &keep(keep_))
    };
    for hit in ["HIT", "hit", "STALE", "UPDATING", "TCP_HIT", "TCP_MEM_HIT", "HIT-CLUSTER", "Hit"] {
        assert_eq!(
            (kept(hit, Keep::Misses), kept(hit, Keep::All)),
            ("hit".into(), "kept 812".into()),
            "{hit}"
        );
    }
    for miss in
        ["MISS", "EXPIRED", "BYPASS", "TCP_MISS", "pass", "Miss", "-", "HIT-FOR-PASS", "TCP_REFRESH_MISS"]
    {
        assert_eq!(kept(miss, Keep::Misses), "kept 812", "{miss}");
    }
    for again in ["REVALIDATED", "RefreshHit", "TCP_REFRESH_HIT"] {
        assert_eq!(
            (kept(again, Keep::Misses), kept(again, Keep::Crossed)),
            ("revalidation".into(), "kept 250".into()),
            "{again}"
        );
    }
    assert!(kept("perhaps", Keep::Misses).starts_with("cache result: found \"perhaps\""));
    let varnish = custom("%t \"%r\" %s %O %{Varnish:handling}x");
    for (handling, misses) in
        [("hit", "hit"), ("miss", "kept 812"), ("pass", "kept 812"), ("synth", "answered-by-proxy")]
    {
        let line = format!("[10/May/2024:10:00:00 +0000] \"GET /a HTTP/1.1\" 200 812 {handling}");
        assert_eq!(fate(varnish.clone(), &line, &keep(Keep::Misses)), misses, "{handling}");
    }
    let nginx = custom("[$time_local] \"$request\" $status $bytes_sent $upstream_cache_status");
    let object = |status: &str| {
        format!(
            r#"{{"time_iso8601":"2024-05-10T10:00:00Z","request_uri":"/a","bytes_sent":"812","upstream_cache_status":"{status}"}}"#
        )
    };
    for (status, misses) in [
        ("HIT", "hit"),
        ("STALE", "hit"),
        ("UPDATING", "hit"),
        ("REVALIDATED", "revalidation"),
        ("MISS", "kept 812"),
        ("EXPIRED", "kept 812"),
        ("BYPASS", "kept 812"),
        ("-", "kept 812"),
    ] {
        let line = format!("[10/May/2024:10:00:00 +0000] \"GET /a HTTP/1.1\" 200 812 {status}");
        assert_eq!(fate(nginx.clone(), &line, &keep(Keep::Misses)), misses, "{status}");
        assert_eq!(fate(LogFormat::JSON, &object(status), &keep(Keep::Misses)), misses, "{status}");
    }
}
