//! Names of the field that farweb does not have, or has elsewhere, each with a word on what stands in its place.
//!
//! A stranger tries the names of other tools first. A bare "unknown key" leaves open if the name is misspelt
//! or the thing is not there.

/// Names, in lower case without separators, and the sentence for them.
const ABSENT: &[(&[&str], &str)] = &[
    (
        &[
            "bbr2", "bbr3", "bbrv2", "bbrv3", "vegas", "westwood", "dctcp", "hybla", "illinois", "copa",
            "ledbat",
        ],
        "this congestion control; cubic, reno and bbr (version 1) are there, beside the profile \"linux\"",
    ),
    (
        &["cake", "red", "gred", "ared", "blue", "sfq", "wfq", "drr", "priority", "diffserv"],
        "this queue; queue = \"fq-codel\", \"codel\", \"pie\", drop-head and drop-tail are there",
    ),
    (
        &["accecn", "l4s", "dualpi2", "prague"],
        "accurate ECN and L4S; tcp.constants.ecn is classic ECN (RFC 3168)",
    ),
    (
        &["tbf", "htb", "shaper", "policer", "burst"],
        "shapers and policers; a link has a rate, a delay and a queue",
    ),
    (
        &["reorder", "reordering", "duplicate", "duplication", "corrupt", "corruption", "netem"],
        "reordering, duplication and corruption; a link has jitter, which keeps the order, and loses packets by loss",
    ),
    (
        &["mobility"],
        "links that change in this way; steps, schedules, traces, outages, handovers and variation are there",
    ),
    (
        &["wifi", "wlan", "lte", "5g", "nr", "ran", "docsis", "starlink", "radio"],
        "access networks; farweb new --path starlink (5g, docsis, geo) writes rates and delays of such paths",
    ),
    (
        &["windows", "macos", "darwin", "ios", "android", "freebsd", "openbsd", "lwip"],
        "the TCP of this system; profiles are of Linux 6.18, 4.4BSD-Lite, Solaris 2.5 and ns-2",
    ),
    (&["quic", "http3", "h3"], "QUIC and HTTP/3; http/2 with tls.start = \"0-rtt\" comes nearest"),
    (
        &["mtls", "clientcertificate", "ech", "encryptedclienthello", "helloretry", "helloretryrequest"],
        "this part of TLS handshakes; client_hello and server_flight give any size",
    ),
    (
        &["spdy", "websocket", "ws", "grpc", "ftp", "smtp", "rtmp", "hls", "dash"],
        "this protocol; carriers have requests with a response each",
    ),
    (&["mptcp", "sctp", "udp", "rtp", "tfo", "fastopen"], "this transport; it is TCP, as the leg's tcp says"),
    (&["pipelining", "pipeline"], "pipelining; a connection of http/1.1 carries one request at a time"),
    (
        &["push", "serverpush", "earlyhints", "103", "preload", "prefetch"],
        "server push and hints; a request table says when each request starts",
    ),
    (
        &["lcp", "fcp", "speedindex", "browser", "javascript"],
        "browsers; farweb page FILE.har has the page loads of a HAR up to onLoad",
    ),
    (&["dns", "resolver"], "name resolution; connections open to a host at once"),
    (
        &["ipv6", "ipv4", "mtu", "pmtu", "vlan", "mpls"],
        "layers below TCP but for 20 B of IPv4; tcp.mss sets the size of segments",
    ),
    (
        &["background", "crosstraffic", "udptraffic", "noise"],
        "background traffic; requests of the workload alone load the links",
    ),
    (&["gzip", "brotli", "compression", "compress"], "compression; sizes are those of the request table"),
    (
        &[
            "vary",
            "range",
            "ranges",
            "slice",
            "purge",
            "swr",
            "stalewhilerevalidate",
            "staleiferror",
            "grace",
            "keep",
            "esi",
        ],
        "this rule of caches; ttl, changed and the column caching are there",
    ),
    (
        &["hostdelay", "hostdelays", "delays", "delaybyhost", "hostrtt"],
        "delays by host; all hosts lie behind one path, and a run a host has the delay of each",
    ),
    (
        &["ports", "ephemeralports", "portrange", "localportrange", "timewait", "tcptwreuse"],
        "ports that run out; a node opens as many connections as its carriers ask for",
    ),
    (
        &["ticketsharing", "sharedtickets", "ticketkeys", "stek", "sessionaffinity", "sticky"],
        "servers of one name that do not share tickets; a host is one server, whose tickets it takes",
    ),
    (
        &["anycast", "routing", "multipath", "topology", "router", "switch"],
        "routing; a path is nodes in a row",
    ),
    (
        &["cpu", "threads", "workers", "processing"],
        "the processors of servers and proxies; workloads record the times that servers took",
    ),
];

/// Names of things that a scenario has under another name, likewise.
const ELSEWHERE: &[(&[&str], &str)] = &[
    (&["merkletree", "mtc"], "tls.certificates = \"merkle-tree\""),
    (&["latency", "rtt", "ping", "owd"], "delay = \"300 ms\" of each direction of a link"),
    (
        &["bandwidth", "throughput", "speed", "bw", "capacity"],
        "rate = \"10 Mbit/s\" of each direction of a link",
    ),
    (
        &["plr", "packetloss", "droprate", "lossrate", "lossratio", "losspercent"],
        "loss = { kind = \"bernoulli\", probability = 0.01 } of a direction of a link",
    ),
    (
        &["congestion", "congestioncontrol", "cc", "cubic", "reno", "newreno", "bbr", "bbr1", "bbrv1"],
        "tcp.profile, with tcp.constants.congestion_control beside \"linux\"",
    ),
    (
        &["pacing", "pacingrate", "sopacing", "fqpacing"],
        "tcp.constants.pacing beside \"linux\"; origin.release = \"regulated\" paces packets below TCP",
    ),
    (
        &["ecn", "ce", "ect", "tcpecn"],
        "tcp.constants.ecn beside \"linux\"; ecn of a queue, and mark of loss = { kind = \"list\" }, mark packets",
    ),
    (&["window", "rwnd", "rcvbuf", "sndbuf", "rmem", "wmem"], "tcp.buffer"),
    (&["h2", "http2", "h2c"], "a leg with carrier = { kind = \"http/2\" }"),
    (&["h1", "http1", "http11", "keepalive"], "a leg with carrier = { kind = \"http/1.1\" }"),
    (&["https", "ssl"], "tls = { version = \"1.3\" } on a leg"),
    (&["bod", "bandwidthondemand", "returnlink", "rcs2", "dvbrcs2"], "dama of a direction of a link"),
    (
        &["rrc", "drx", "inactivity", "inactivitytimer", "idletoconnected", "paging", "promotion"],
        "wake = { after = \"10 s\", delay = \"80 ms\" } of a direction of a link",
    ),
    (&["mahimahi", "mmlink"], "trace = \"down.trace\" of a direction of a link, in place of rate"),
    (&["aqm", "qdisc", "fq"], "queue = \"fq-codel\", \"codel\" or \"pie\" of a direction of a link"),
    (
        &["buffer", "buffersize", "queuesize", "queuelength", "qlen"],
        "queue = \"256 kB\" of a direction of a link, and buffer of a leg's tcp",
    ),
    (
        &["limit"],
        "queue, which counts the packets that wait; netem's limit counts those in its delay too: write rate, limit / delay at most, \
         such as 120 Mbit/s for 1000 packets of 1500 B in 100 ms",
    ),
    (
        &["initcwnd", "initialcwnd", "initialwindow", "iw", "iw10", "cwnd"],
        "tcp.constants.initial_cwnd_segments",
    ),
    (&["nagle", "nodelay", "tcpnodelay"], "tcp.constants.nagle = false, and nodelay of http/2"),
    (
        &["sack", "timestamps", "windowscaling", "rtomin", "rto"],
        "tcp.constants, beside the profile \"linux\"",
    ),
    (
        &["delayedack", "delack", "quickack"],
        "tcp.constants: quick_ack_always of \"linux\", fast_tick of \"bsd44-lite\"",
    ),
    (&["streams", "maxstreams", "maxconcurrentstreams"], "session_limit of an end of http/2"),
    (
        &["resumption", "sessiontickets", "0rtt", "zerortt", "earlydata"],
        "tls.start = \"resumed\" or \"0-rtt\"",
    ),
    (&["ocspstapling", "stapling"], "tls.ocsp"),
    (
        &["maxconnections", "maxconns", "maxconn", "maxsockets", "poolsize", "connectionlimit"],
        "per_host and total of http/1.1, connections of http/2 and of mux",
    ),
    (
        &["keepalivetimeout", "keepalivetime", "timeoutkeepalive", "timeoutidle", "maxidletime"],
        "idle_timeout of http/1.1 and of http/2",
    ),
    (
        &["lock", "cachelock", "proxycachelock", "collapsedforwarding", "collapse", "requestcollapsing"],
        "coalesce = true of a [[cache]]",
    ),
    (&["maxage", "smaxage", "expires", "lifetime", "freshness"], "ttl of a [[cache]]"),
    (&["kestrel", "aspnet", "aspnetcore"], "preset = \"dotnet\""),
    (&["istio", "gloo", "contour"], "preset = \"envoy-2026\", Envoy's"),
    (
        &[
            "haproxy",
            "apache",
            "httpd",
            "h2o",
            "caddy",
            "litespeed",
            "varnish",
            "squid",
            "traefik",
            "iis",
            "safari",
        ],
        "session_credit, connection_credit and grant of an end, or the preset that is nearest: \"go\" for Caddy and Traefik",
    ),
    (&["duration", "runtime", "simtime", "stoptime"], "run.until"),
    (
        &["users", "rps", "qps", "requestrate", "arrivalrate"],
        "workload.load, workload.speed, or a request table",
    ),
    (
        &["har", "page", "pages", "onload", "plt", "dependencies", "dependency", "dependson", "initiator"],
        "farweb page FILE.har, or farweb workload import FILE.har for its requests without what waited for what",
    ),
    (&["log", "accesslog", "logfile"], "farweb new FILE --log LOG, which imports it into workload.requests"),
    (
        &["proxy", "cdn", "gateway"],
        "a node where two legs meet, farweb new --proxy split or mux; a [[cache]] on it",
    ),
    (&["pep", "accelerator", "relay"], "[[leg.split]], as farweb new --proxy pep writes it"),
    (&["pcap", "tcpdump", "wireshark", "pcapng"], "record.packets, with farweb export pcapng"),
    (&["satellite", "geostationary"], "farweb new --path geo, or leo"),
    (&["replications", "repeat", "seeds"], "sweep.replications, with farweb sweep"),
];

/// The sentence for a name that farweb does not have, `farweb does not model …`, or has elsewhere, `here it is …`.
#[must_use]
pub fn absent(word: &str) -> Option<String> {
    not_modelled(word).or_else(|| among(ELSEWHERE, word).map(|sentence| format!("here it is {sentence}")))
}

/// The sentence for a name that farweb does not have.
fn not_modelled(word: &str) -> Option<String> {
    among(ABSENT, word).map(|sentence| format!("farweb does not model {sentence}: docs/not.md"))
}

fn among(table: &[(&[&str], &'static str)], word: &str) -> Option<&'static str> {
    let plain: String = word.to_lowercase().chars().filter(|letter| letter.is_alphanumeric()).collect();
    table.iter().find(|(names, _)| names.contains(&&*plain)).map(|(_, sentence)| *sentence)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_however_they_are_written() {
        let typed = "BBR,qdisc,HTTP/3,stale-while-revalidate,Server Push,loss_rate,init_cwnd,max_streams,TCP_NODELAY,delayed_ack,\
                     window_scaling,rto,ocsp_stapling,early_data,max_connections,keepalive_timeout,lock,grace,max-age,host_delay,\
                     dependencies,hello_retry,pacing,kestrel,haproxy,zero-rtt,duration,rps,access_log,CDN,pcap,Windows";
        for word in typed.split(',') {
            assert!(absent(word).is_some(), "{word}");
        }
        assert_eq!(absent("bufer"), None);
    }

    #[test]
    fn each_name_stands_once() {
        let mut names: Vec<_> = ABSENT.iter().chain(ELSEWHERE).flat_map(|(names, _)| names.iter()).collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
        assert!(all > 100, "{all}");
    }
}
