"""Logs as people reported them to other tools: what each line means, or what its refusal says."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from farweb import WorkloadError, cache_curve
from farweb.inputs.importer import import_log
from farweb.inputs.statistics import read_stats

REPORTS = next(
    (up / "shared/data/reports" for up in Path(__file__).parents if (up / "shared/data/reports").is_dir()), None
)
pytestmark = pytest.mark.skipif(REPORTS is None, reason="the reported logs are not here")

ATS = "{start} chi={client} shn={} url={url} rng={} cqhm={method} pssc={status} ttms={elapsed:ms} b={bytes} "
ATS += "sssc={} sscl={} cfsc={} pfsc={} crc={result} {}"
CACHE = '[{start}] {result} {status} - {method} {scheme} {host} "{path}" [Client {client}] [Length {bytes}]'
INGRESS = '$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" '
INGRESS += '"$http_user_agent" $request_length $request_time [$proxy_upstream_name] [$proxy_alternative_upstream_name] '
INGRESS += "$upstream_addr $upstream_response_length $upstream_response_time $upstream_status $req_id"
GO = '{start} [router] method={method} path="{url}" host={host} request_id={} from="{client}" protocol={} '
GO += 'status={status} duration={elapsed} bytes={bytes} referer="{}" user_agent="{}"'
TABS = r"$remote_addr\t$time_local\t$request\t$request_time\t$status\t$body_bytes_sent"
SECOND = '"%r" %>s %O %{ms}T'
NAMELESS = (None, "server", None)
A, C, E, G = "192.0.2.1", "192.0.2.3", "192.0.2.9", "192.0.2.7"

# By reason; the client of one gave up what the cache had.
ATS_OUT = {"answered-by-proxy": 1, "error": 2, "hit": 3, "revalidation": 1}
# Client, host, server time in s of the first requests; reasons of lines left out.
READ = [
    ("01-upgrade-101-host/ws2.log", {}, [(E, "c.example", None), (E, "server", None)], {}),
    ("01-upgrade-101-host/ws3.log", {}, [(A, "n.example", 0.001964899)], {}),
    ("01-upgrade-101-host/ws4.log", {}, [(A, "n.example", 30.5)], {}),
    ("01-upgrade-101-host/ws5.log", {}, [(E, "www.example.com", None)], {}),
    ("02-ingress-nginx-retry/ingress.log", {"log_format": INGRESS}, [(E, "server", 0.214)] * 2, {}),
    ("03-cri-prefix/compose.log", {}, [(E, "server", None)], {}),
    ("03-cri-prefix/cri2.log", {}, [(E, "server", None), (G, "server", None)], {}),
    ("13-tab-separated/tab.log", {"log_format": TABS}, [(A, "server", 0.12)], {}),
    ("14-go-durations/caddyslow.log", {}, [(A, "example.org", 62.5), (A, "example.org", 0.0315)], {}),
    ("14-go-durations/go.log", {"log_format": GO}, [(A, "foo.example", 0.012), (A, "foo.example", 62.012)], {}),
    ("15-spellings-of-time/ap1d.log", {"log_format": f"%h %t {SECOND}"}, [(C, "server", 0.125)], {}),
    ("15-spellings-of-time/caddy-wall.log", {}, [(A, "example.org", 0.0005)], {}),
    ("18-w3c-bytes/tom.log", {}, [(C, "server", 1.25), (C, "server", 0.125)], {"header": 3}),
    ("18-w3c-bytes/weblogic-bytes.log", {}, [(None, "server", 0.024)], {"header": 2}),
    ("18-w3c-bytes/weblogic.log", {"assume_bytes": 1000}, [(None, "server", 0.024)], {"header": 4}),
    ("20-date-and-time-apart/cfv2.log", {}, [(G, "d1.cloudfront.net", 0.012)] * 2, {}),
    ("22-other-lines-between/haphealth.log", {}, [(A, "server", 0.02)], {"no-request": 3}),
    ("22-other-lines-between/mixed.log", {}, [(E, "server", None)], {"no-request": 4}),
    ("24-apache-strftime/ap1.log", {"log_format": f"%h %{{%Y-%m-%d %T}}t {SECOND}"}, [(C, "server", 0.125)], {}),
    ("25-own-format-hits/atskv.log", {"log_format": ATS}, [(A, "m.example", 0.004)], {"hit": 1}),
    ("25-own-format-hits/hit.log", {"log_format": CACHE}, [(A, "app.example.org", None)], {"hit": 2}),
    ("26-traces-with-own-columns/hdr.csv", {"log_format": "{start},{url},{bytes}"}, [NAMELESS], {"header": 1}),
    ("26-traces-with-own-columns/ibm.csv", {"log_format": "{start:ms},{},{url},{bytes}"}, [NAMELESS], {"header": 1}),
    ("26-traces-with-own-columns/twitter.csv", {"log_format": "{start},{url},{},{bytes},{},{},{}"}, [NAMELESS], {}),
    ("42-ats-squid/ats.log", {}, [(A, "u.example", 0.212)], ATS_OUT),
    ("45-iis-headers/mid.log", {}, [(G, "server", 0.065), ("192.0.2.8", "www.example.org", 0.12)], {"header": 8}),
    ("45-iis-headers/order.log", {}, [(G, "server", 0.065)], {"header": 4}),
    ("45-iis-headers/iisdef.log", {"assume_bytes": 10_000}, [(G, "server", 0.036)], {"header": 4}),
]  # fmt: skip

REFUSED = [
    ("15-spellings-of-time/nummonth.log", {}, "a time whose month can be told from its day; say which is which"),
    ("16-json-array/azrec.log", {}, "inside of other JSON; make a line of each: jq -c '.records[]'"),
    ("16-json-array/gcparr.log", {}, "inside of other JSON; make a line of each: jq -c '.[]'"),
    ("18-w3c-bytes/weblogic.log", {}, "--assume-bytes 10000 assumes a size"),
    ("22-other-lines-between/hap.log", {}, "HAProxy wrote the line before the response had ended (option logasap)"),
    ("24-apache-strftime/ap3.log", {"log_format": '%h [{start}] "%r" %>s %O'}, "names in braces do not mix"),
    ("45-iis-headers/exch.log", {}, "1 of 6 lines cannot be read, more than --max-unreadable"),
]

# Requests and bytes of their responses, counted by hand.
OVERLAP = "64-overlapping-files/access.log"
COUNTED = [
    ("60-fastly-shield-lines/fastly.log", {}, 3, 1_653_150),
    ("61-front-door-shield-lines/afd.log", {}, 3, 151_200),
    ("63-istio-both-sides/istio2.log", {}, 6, 125_130),
    (f"{OVERLAP} {OVERLAP}.1", {}, 40, 118_860),
    (f"{OVERLAP}.1 {OVERLAP}.1", {}, 30, 83_595),
    ("66-keep-misses-of-cdn/cfcache.log", {}, 5, 414_505),
    ("66-keep-misses-of-cdn/cfcache.log", {"keep": "misses"}, 2, 107_602),
    ("66-keep-misses-of-cdn/cf.log", {"keep": "misses"}, 1, 102_392),
    ("66-keep-misses-of-cdn/cf.log", {"keep": "crossed"}, 2, 102_642),
    ("72-nginx-json-escapes/nginxx.log", {}, 10, 75_175),
    ("103-304-left-out/cloudfront-2023.log", {}, 14, 510_142),
]


@pytest.mark.parametrize(("name", "options", "first", "dropped"), READ, ids=[row[0].partition("/")[2] for row in READ])
def test_a_reported_log_is_read_as_it_was_written(
    folder: Path,
    name: str,
    options: Mapping[str, Any],
    first: list[tuple[str | None, str, float | None]],
    dropped: Mapping[str, int],
) -> None:
    assert REPORTS is not None
    report = import_log(REPORTS / name, "out.parquet", keep_clients=True, **options)
    rows = [(row.get("client"), row["host"], row["server_s"]) for row in pq.read_table("out.parquet").to_pylist()]
    assert rows[: len(first)] == first
    assert (report.counts["dropped"], report.counts["unreadable_lines"]) == (dropped, 0)
    is_upgrade, caching = name.startswith("01"), report.counts["caching"]
    assert ("upgrade" in caching, "authorized" in caching) == (is_upgrade, False)


@pytest.mark.parametrize(("names", "options", "requests", "size"), COUNTED, ids=[row[0] for row in COUNTED])
def test_a_reported_log_has_so_many_requests_and_bytes(
    folder: Path, names: str, options: Mapping[str, Any], requests: int, size: int
) -> None:
    assert REPORTS is not None
    report = import_log([REPORTS / name for name in names.split()], "out.parquet", **options)
    assert (report.requests, report.counts["response_bytes"]) == (requests, size)
    assert (report.counts["lines"], report.counts["unreadable_lines"]) == (
        requests + sum(report.counts["dropped"].values()),
        0,
    )


def test_reported_logs_of_several_files_are_one_input_of_all_verbs(folder: Path) -> None:
    assert REPORTS is not None
    logs = sorted((REPORTS / "110-cache-several-logs").glob("access.log.*"))
    curve = cache_curve(logs, ["lru"], ["1 MB"])
    assert (curve.requests, [result.hits for result in curve.results]) == (2, [1])
    assert (read_stats(logs).requests, read_stats(logs).objects) == (2, 1)
    edge = REPORTS / "60-fastly-shield-lines" / "fastly.log"
    assert [result.hit_ratio for result in cache_curve(edge, ["lru"], ["10 MB"]).results] == [1 / 3]


@pytest.mark.parametrize(("name", "options", "says"), REFUSED, ids=[row[0].partition("/")[2] for row in REFUSED])
def test_a_reported_log_is_refused_with_a_next_step(
    folder: Path, name: str, options: Mapping[str, Any], says: str
) -> None:
    assert REPORTS is not None
    with pytest.raises(WorkloadError) as refused:
        import_log(REPORTS / name, "out.parquet", **options)
    assert says in str(refused.value)
