"""`farweb new`: every scenario that it writes is free of warnings and runs; nothing is replaced unasked."""

import os
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from farweb import Scenario
from farweb.inputs.new import PROXIES
from farweb.inputs.paths import PATHS, STAND_FOR
from samples import LOG, Farweb

ROOT = Path(__file__).parent.parent.resolve()

pytestmark = pytest.mark.usefixtures("warm_workers")


@pytest.mark.parametrize("path", [*PATHS, *STAND_FOR])
def test_each_path_passes_the_check_and_names_its_years(farweb: Farweb, folder: Path, path: str) -> None:
    answer = farweb("new", "link.toml", "--path", path)
    assert answer.code == 0, answer.err
    assert "warning" not in answer.err
    kind = PATHS[STAND_FOR.get(path, path)]
    assert f"({kind.dated}): round trip" in " ".join(answer.out.split())
    assert ("as no depth is published" in answer.out) == bool(kind.depths)
    checked = farweb("check", "link.toml", "--json").json()
    assert checked["check"]["warnings"] == []
    assert checked["scenario"]["name"] == f"{kind.title}, {kind.dated}"
    swept = [level["level"] for level in checked["scenario"].get("sweep", {}).get("factors", {}).get("queue", [])]
    assert swept == [f"{depth} ms" for depth in kind.depths]


def test_depths_of_queues_follow_a_rate_that_is_changed(farweb: Farweb, folder: Path) -> None:
    assert farweb("new", "link.toml", "--path", "geo-viasat").code == 0
    scenario = Scenario.load("link.toml").with_({"path.link.0.down.rate": "2 Mbit/s"})
    levels = scenario.effective["sweep"]["factors"]["queue"]
    points = [scenario.with_(level["set"]).check() for level in levels]
    assert [point.figures["links"][0]["down"]["queue_bytes"] for point in points] == [62_500, 250_000, 500_000]


def test_depths_leave_the_discipline_of_a_path(farweb: Farweb, folder: Path) -> None:
    assert farweb("new", "link.toml", "--path", "starlink").code == 0
    scenario = Scenario.load("link.toml")
    levels = scenario.effective["sweep"]["factors"]["queue"]
    queues = [scenario.with_(level["set"]).effective["path"]["link"][0]["up"]["queue"] for level in levels]
    assert queues == [{"kind": "drop-head", "limit": f"{depth} ms", "counts": "all"} for depth in (50, 200, 400)]
    docsis = Scenario.load("link.toml").with_({"path.link.0.preset": "docsis"}).effective["path"]["link"][0]
    assert (docsis["up"]["queue"]["kind"], docsis["down"]["queue"]) == ("pie", "2812000 B")


def test_a_queue_stands_in_both_directions_and_several_make_a_sweep(farweb: Farweb, folder: Path) -> None:
    answer = farweb("new", "link.toml", "--path", "starlink", "--queue", "fq-codel")
    assert (answer.code, "as no depth is published" in answer.out) == (0, False)
    scenario = Scenario.load("link.toml")
    links = scenario.effective["path"]["link"]
    assert [[link[way]["queue"]["kind"] for way in ("up", "down") if "queue" in link[way]] for link in links] == [
        ["fq-codel", "fq-codel"],
        [],
    ]
    assert "queues fq-codel 5 ms / 100 ms, 10240 packets up," in " ".join(str(scenario.check()).split())
    several = farweb("new", "link.toml", "--path", "geo-viasat", "--queue", "drop-tail, fq-codel", "--force")
    assert "queues drop-tail and fq-codel" in " ".join(several.out.split())
    scenario = Scenario.load("link.toml")
    levels = scenario.effective["sweep"]["factors"]["queue"]
    points = [scenario.with_(level["set"]).check() for level in levels]
    assert [point.figures["links"][0]["down"]["queue"] for point in points] == [
        "1 s (6.12 MB)",
        "fq-codel 5 ms / 100 ms, 10240 packets",
    ]
    for options, said in (
        (("--queue", "red"), "this queue"),
        (("--queue", "fqcodel"), "write one of: drop-tail, drop-head, codel, fq-codel, pie"),
        (("--queue", "pie,codel", "--compare", "geo,starlink"), "write one"),
    ):
        refused = farweb("new", "link.toml", "--force", *options)
        assert (refused.code, said in refused.err) == (2, True), refused.err


@pytest.mark.parametrize("proxy", PROXIES)
def test_each_proxy_runs(farweb: Farweb, folder: Path, proxy: str) -> None:
    assert farweb("new", "link.toml", "--proxy", proxy).code == 0
    answer = farweb("run", "link.toml", "--json", "--set", "run.until=200 s")
    assert answer.code == 0, answer.err
    assert answer.json()["summary"]["requests"] > 10


def test_every_figure_has_its_source_and_what_was_measured_its_year() -> None:
    for name, kind in PATHS.items():
        for figure in filter(None, (kind.rate, kind.delay, kind.queue, kind.loss)):
            assert figure.source.endswith("."), name
            assert figure.mark != "seen" or 1990 < int(figure.dated[:4]) < 2027, name
        assert not kind.depths or (kind.queue is not None and kind.queue.mark == "chosen"), name
        assert kind.discipline is None or (kind.discipline["mark"], kind.queue is None) == ("seen", False), name
        assert kind.years, name


def test_the_page_of_paths_has_each_figure() -> None:
    page = (ROOT / "docs" / "models" / "paths.md").read_text()
    for name, kind in PATHS.items():
        rates = f"{kind.rate.down:g} / {kind.rate.up:g} Mbit/s, {kind.rate.mark}"
        trip = f"{kind.delay.up + kind.delay.down:g} ms, {kind.delay.mark}"
        head = f"| `{name}` | {kind.dated} | {rates} | {trip} | "
        (row,) = (line for line in page.splitlines() if line.startswith(head))
        kinds = {kind.discipline[way]["kind"] for way in ("up", "down")} if kind.discipline else set()
        assert {word for word in ("drop-head", "pie") if f"{word}, seen" in row.lower()} == kinds - {"drop-tail"}, name


def test_figures_of_several_decades_are_named(farweb: Farweb, folder: Path) -> None:
    assert "decade" not in farweb("new", "a.toml", "--compare", "starlink,geo,5g,docsis").err
    answer = farweb("new", "b.toml", "--compare", "starlink,cable-1998")
    assert "more than one decade are compared: starlink of 2025, cable-1998 of 1998" in answer.said


def test_a_log_is_imported_beside_the_scenario(farweb: Farweb, folder: Path) -> None:
    (folder / "access.log").write_text(LOG)
    answer = farweb("new", "link.toml", "--log", "access.log", "--json")
    assert answer.code == 0, answer.err
    written = answer.json()
    assert (written["requests"], written["hosts"]) == ("link-requests.parquet", "link-hosts.tsv")
    assert written["import"]["requests"] == 3
    assert [each.partition(" of ")[0] for each in written["warnings"]] == ["workload.requests: server times"]
    assert (folder / "link-hosts.tsv").read_text().splitlines()[1] == "quick.example\tquick.example\t\t"
    assert (
        "# Imported from access.log (squid): 3 requests of 4 lines; left out: 1 hit; unreadable: 0."
        in (folder / "link.toml").read_text()
    )
    assert farweb("run", "link.toml", "--quiet").code == 0


@pytest.mark.parametrize(
    ("options", "requests", "share"), [((), 3, "all"), (("server",), 3, "each"), (("proxy-clients",), 4, "each")]
)
def test_where_a_log_was_written_says_who_shares(
    farweb: Farweb, folder: Path, options: tuple[str, ...], requests: int, share: str
) -> None:
    """A proxy's log leaves hits out but for the path to its clients."""
    (folder / "access.log").write_text(LOG)
    seen_at = ("--seen-at", *options) if options else ()
    answer = farweb("new", "link.toml", "--log", "access.log", "--json", *seen_at)
    assert answer.json()["import"]["requests"] == requests
    assert f'[clients]\nshare = "{share}"\n' in (folder / "link.toml").read_text()


@pytest.mark.parametrize("there", ["link.toml", "link-requests.parquet", "link-hosts.tsv"])
def test_nothing_is_replaced_unasked(farweb: Farweb, folder: Path, there: str) -> None:
    (folder / "access.log").write_text(LOG)
    (folder / there).write_text("older")
    answer = farweb("new", "link.toml", "--log", "access.log")
    assert (answer.code, sorted(os.listdir(folder))) == (2, sorted(["access.log", there]))
    assert f"{there}: exists already; --force replaces it" in answer.err
    assert (folder / there).read_text() == "older"
    assert farweb("new", "link.toml", "--log", "access.log", "--force").code == 0


def test_what_is_wrong_is_one_line_and_nothing_is_written(farweb: Farweb, folder: Path) -> None:
    (folder / "access.log").write_text("junk\n")
    for options, message in [
        (("--path", "moon"), "--path: found moon; write one of: starlink, starlink-operator, geo-viasat"),
        (
            ("--path", "LTE"),
            "--path: found LTE; lte is nearest, a mobile network, LTE of today; write one of: ",
        ),
        (("--compare", "geo,kable"), "--compare: found kable; cable is nearest, a sea cable, New Zealand to the"),
        (("--compare", "geo,geo-viasat"), "--compare: found geo,geo-viasat, which are one path, geo-viasat; write two"),
        (("--path", "starlink,geo"), "--path: found starlink,geo; it is one path, and --compare starlink,geo sweeps"),
        (("--compare", "geo,leo", "--path", "lte"), "--compare names all paths; leave --path out"),
        (("--proxy", "some"), "--proxy: found some; write one of: none, split, mux, pep"),
        (("--log", "access.log"), "no known format has lines like its first"),
        (("--log", "missing.log"), "missing.log: no such file"),
        (("--log", "access.log", "--seen-at", "home"), "--seen-at: found home; write one of: server, proxy-clients"),
        (("--seen-at", "server"), "--seen-at says where a log was written: name it with --log"),
    ]:
        answer = farweb("new", "link.toml", *options)
        assert (answer.code, os.listdir(folder)) == (2, ["access.log"])
        assert message in answer.err


COMBINED = '10.0.0.1 - - [25/Oct/2015:04:{minute:02}:00 +0100] "GET {path} HTTP/{version}" 200 20000 "-" "-" {scheme}\n'
FORMAT = '$remote_addr - - [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent" $scheme'


def test_proxies_say_that_they_decrypt_and_a_pep_ends_tcp_alone(farweb: Farweb, folder: Path) -> None:
    lines = (COMBINED.format(minute=n, path=f"/{n}", version="2.0", scheme="https") for n in range(20))
    (folder / "access.log").write_text("".join(lines))
    log = ("--log", "access.log", "--log-format", FORMAT)
    said = {}
    for proxy in PROXIES:
        written = farweb("new", "link.toml", "--proxy", proxy, *log, "--force").out.partition("\n\n")[0]
        checked = farweb("check", "link.toml").out.partition("\n\n")[0]
        said[proxy] = ["TLS is decrypted at far-end." in " ".join(line.split()) for line in (written, checked)]
    assert said == {"none": [False] * 2, "split": [True] * 2, "mux": [True] * 2, "pep": [False] * 2}
    (leg,) = farweb("check", "link.toml", "--json").json()["check"]["legs"]
    first, middle, _ = leg["stretches"]
    text = (folder / "link.toml").read_text()
    assert "decrypted" not in text and 'buffer = "16 MB"' in text.partition('at = "terminal"')[2].partition("[[")[0]
    assert (first["from"], middle["from"], middle["to"], middle["stands"]) == ("clients", "terminal", "far-end", True)
    saved = leg["first_byte_unsplit_ns"] - leg["first_byte_ns"]
    assert saved == first["rtt_ns"] + middle["rtt_ns"], "one trip over the satellite"


@pytest.mark.parametrize(
    ("version", "scheme", "carrier", "tls"),
    [
        ("2.0", "https", "http/2", True),
        ("1.1", "https", "http/1.1", True),
        ("1.1", "http", "http/1.1", False),
        ("1.0", "http", "http/1.0", False),
        ("3.0", "-", "http/2", True),
    ],
)
def test_the_log_says_how_its_server_serves(
    farweb: Farweb, folder: Path, version: str, scheme: str, carrier: str, tls: bool
) -> None:
    lines = (COMBINED.format(minute=n, path=f"/{n}", version=version, scheme=scheme) for n in range(20))
    (folder / "access.log").write_text("".join(lines))
    answer = farweb("new", "link.toml", "--log", "access.log", "--log-format", FORMAT)
    assert answer.code == 0, answer.err
    leg = farweb("check", "link.toml", "--json").json()["scenario"]["leg"][0]
    assert leg["carrier"]["kind"] == carrier
    assert ("tls" in leg) is tls
    assert leg["tcp"]["constants"]["nagle"] is False
    if carrier == "http/1.1":
        assert (leg["carrier"]["idle_timeout"], leg["carrier"]["closed_by"]) == ("75 s", "server"), "nginx"
    assert farweb("run", "link.toml", "--quiet").code == 0


@pytest.mark.parametrize(
    ("software", "said", "nagle"),
    [
        ("Microsoft Internet Information Services 8.5", "switches Nagle's rule off", False),
        ("Microsoft Internet Information Services 5.1", "uses Nagle's rule for all data", True),
        ("Microsoft Internet Information Server 4.0", "uses Nagle's rule for all data", True),
        ("Apache/2.4", "switches Nagle's rule off", False),
        ("Domino 9", "Nagle's rule is off: what Domino 9 does is not documented", False),
        ("", "The log does not say which server wrote it: Nagle's rule is off", False),
    ],
)
def test_the_server_says_if_nagles_rule_is_on(
    farweb: Farweb, folder: Path, software: str, said: str, nagle: bool
) -> None:
    head = f"#Software: {software}\n" if software else ""
    lines = "".join(f"2003-10-01 10:00:{at:02} 10.0.0.1 GET /a{at} 200 5000 300 30\n" for at in range(20))
    fields = "#Fields: date time c-ip cs-method cs-uri-stem sc-status sc-bytes cs-bytes time-taken\n"
    (folder / "ex.log").write_text(head + fields + lines)
    assert farweb("new", "link.toml", "--log", "ex.log", "--proxy", "split").code == 0
    legs = farweb("check", "link.toml", "--json").json()["scenario"]["leg"]
    assert [leg["tcp"]["constants"]["nagle"] for leg in legs] == [False, nagle], "proxies switch it off"
    assert said in " ".join((folder / "link.toml").read_text().replace("\n# ", " ").split())


def test_several_paths_are_one_sweep_of_one_import(farweb: Farweb, folder: Path) -> None:
    (folder / "access.log").write_text(LOG)
    answer = farweb("new", "links.toml", "--log", "access.log", "--compare", "geo,leo,cable", "--server-time", "none")
    assert answer.code == 0, answer.err
    assert sorted(os.listdir(folder)) == ["access.log", "links-hosts.tsv", "links-requests.parquet", "links.toml"]
    assert "3 points × 1 seed" in farweb("check", "links.toml", "--details").out
    assert farweb("sweep", "links.toml", "--quiet").code == 0
    ran = farweb("run", "links.toml", "--set", "workload.load=1", "-o", "results/one")
    following = "farweb sweep links.toml --set workload.load=1 -o results/one-sweep"
    assert f"its sweep of 3 points: {following} " in ran.said
    checked = farweb("check", "links.toml", "--set", "workload.load=1")
    assert f"next: {following.replace('one', 'links')}" in checked.said
    assert sorted(os.listdir("results")) == ["links", "one"]


def test_a_compared_path_may_name_a_proxy_and_its_name_has_what_differs(farweb: Farweb, folder: Path) -> None:
    compared = ("new", "link.toml", "--force", "--compare")
    for ways, proxy, levels, splits in [
        ("geo+pep,starlink", "none", ["geo+pep", "starlink"], [2, 0]),
        ("geo,geo+pep", "none", ["geo", "geo+pep"], [0, 2]),
        ("geo+none,starlink", "pep", ["geo", "starlink+pep"], [0, 2]),
        ("geo,starlink", "pep", ["geo", "starlink"], [2, 2]),
        ("geo+pep,starlink+mux", "none", ["geo+pep", "starlink+mux"], [2, 0]),
    ]:
        assert farweb(*compared, ways, "--proxy", proxy).code == 0, ways
        scenario = Scenario.load(folder / "link.toml")
        design = scenario.design
        assert design is not None and [level.label for level in design.factors[0].levels] == levels
        legs = [scenario.point(number).effective["leg"] for number in range(2)]
        assert [len(each[0].get("split") or []) for each in legs] == splits, ways
        assert scenario.name == " or ".join(f"{level} (2025)" for level in levels)
    assert [len(each) for each in legs] == [1, 2], "mux ends at the far end"
    assert farweb("check", "link.toml", "--json").json()["check"]["warnings"] == []
    for ways, message in [
        ("geo+pepp,leo", "--compare: found pepp; write one of: none, split, mux, pep"),
        ("geo+pep,geo-viasat+pep", "--compare: found geo+pep,geo-viasat+pep, which are one path, geo-viasat; write"),
    ]:
        assert message in farweb(*compared, ways).err


def test_a_cache_without_a_log_has_requests_that_are_read_in_a_moment(farweb: Farweb, folder: Path) -> None:
    farweb("new", "link.toml", "--cache", "16 MB", "--proxy", "split")
    assert Scenario.load(folder / "link.toml").effective["workload"]["parameters"]["requests"] == 100_000


def test_a_cache_stands_in_front_of_the_long_part(farweb: Farweb, folder: Path) -> None:
    (folder / "access.log").write_text(LOG)
    for proxy in PROXIES:
        answer = farweb(
            *("new", "link.toml", "--log", "access.log", "--cache", "10 MB,s3-fifo", "--proxy", proxy, "--force")
        )
        assert answer.code == 0, answer.err
        scenario = farweb("check", "link.toml", "--json").json()["scenario"]
        assert [(each["node"], each["policy"]) for each in scenario["cache"]] == [("cache", "s3-fifo")]
        caches = farweb("run", "link.toml", "--json", "--force").json()["summary"]["caches"]
        assert [each["requests"] for each in caches] == [4], "hits are kept for it"
    for text in ("10 %", "5", "10 MB,fast", "10 MB,belady", "much"):
        answer = farweb("new", "other.toml", "--cache", text)
        assert (answer.code, (folder / "other.toml").exists()) == (2, False), text
        assert f"--cache: found {text}; write" in answer.err and "belady" not in answer.err.replace(text, "")
    for text in ("0", "0 kB", "0,gdsf"):
        answer = farweb("new", "other.toml", "--cache", text)
        assert (
            answer.code,
            f"--cache {text}: a cache of no size keeps nothing; write --cache none" in answer.said,
        ) == (
            2,
            True,
        )


def test_a_shield_is_a_second_level_and_none_is_its_baseline(farweb: Farweb, folder: Path) -> None:
    """All three have the same requests, hits of the log included, from the same clients."""
    (folder / "access.log").write_text(LOG)
    for proxy in PROXIES:
        options = ("--log", "access.log", "--proxy", proxy, "--force")
        assert farweb("new", "two.toml", *options, "--cache", "10 MB", "--shield", "1 GB,s3-fifo").code == 0
        assert farweb("new", "none.toml", *options, "--cache", "none").code == 0
        two, none = (farweb("check", f"{name}.toml", "--json").json()["scenario"] for name in ("two", "none"))
        levels = [(each["node"], each["policy"], each["capacity"]) for each in two["cache"]]
        assert levels == [("cache", "lru", "10000000 B"), ("far-end", "s3-fifo", "1000000000 B")]
        assert "cache" not in none or none["cache"] == []
        assert none["path"]["link"] == two["path"]["link"]
        assert pq.read_table("two-requests.parquet").equals(pq.read_table("none-requests.parquet"))
    answer = farweb("new", "other.toml", "--shield", "1 GB")
    assert (answer.code, "--shield is the second level of --cache" in answer.err) == (2, True)


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_a_request_table_is_taken_as_it_is(farweb: Farweb, folder: Path, suffix: str) -> None:
    """A table from an import says how its server serves, and has a host table beside the scenario, as its log has."""
    (folder / "access.log").write_text(LOG)
    table = folder / f"table.{suffix}"
    if suffix == "csv":
        table.write_text("start_s,host,request_bytes,response_bytes\n1,a,300,5000\n3,a,300,5000\n")
    else:
        assert farweb("workload", "import", "access.log", "-o", table.name).code == 0
    is_of_log = suffix == "parquet"
    made = ["link.toml", *(["link-hosts.tsv"] if is_of_log else [])]
    before = sorted([*os.listdir(folder), *made])
    assert f"wrote {', '.join(made)}\n" in farweb("new", "link.toml", "--log", table.name).err
    assert sorted(os.listdir(folder)) == before
    text = (folder / "link.toml").read_text()
    hosts = 'hosts = "link-hosts.tsv"\n' if is_of_log else ""
    assert f'[workload]\nrequests = "{table.name}"\n{hosts}' in text
    if is_of_log:
        farweb("new", "log.toml", "--log", "access.log")
        assert (folder / "log-hosts.tsv").read_text() == (folder / "link-hosts.tsv").read_text()
        of_log = (folder / "log.toml").read_text().replace("log-requests", "table").replace("log-hosts", "link-hosts")
        assert text.replace("link.toml", "log.toml").replace("results/link", "results/log") == of_log
        assert farweb("new", "link.toml", "--log", table.name, "--force").code == 0
    assert ("Squid closes an idle connection" in text) is (suffix == "parquet")
    assert farweb("run", "link.toml", "--quiet").code == 0
    refused = farweb("new", "other.toml", "--log", table.name, "--busiest", "1h")
    assert (refused.code, "--busiest: is of logs; a request table is simulated as it is" in refused.err) == (2, True)


def test_what_the_log_does_not_say_of_server_times_stays_until_the_report(farweb: Farweb, folder: Path) -> None:
    """Also by a sweep's copy of the table; once in each place."""
    (folder / "access.log").write_text(LOG)
    elapsed, at_once = "server times of 3 requests are elapsed times and", "servers answer at once: server times"
    for case, options in enumerate(((), ("--rtt-ms", "20"), ("--server-time", "none"))):
        is_said, is_none = case == 0, case == 2
        answer = farweb("new", "link.toml", "--log", "access.log", "--force", *options)
        assert answer.err.count(elapsed) == is_said
        checked = " ".join(farweb("check", "link.toml").out.split())
        assert checked.count(elapsed) == is_said
        assert ("answer at once: server times were left out" in checked) is is_none
        for verb, out in ("run", f"r{case}"), ("sweep", f"s{case}"):
            assert farweb(verb, "link.toml", "--out", out, "--quiet").code == 0
            assert farweb("report", out, "--out", f"{out}.html", "--plot", "cdf").code == 0
            page = (folder / f"{out}.html").read_text()
            counts = [page.count(f"workload.requests: {said}") for said in (elapsed, at_once)]
            assert counts == [is_said, is_none]


def test_time_outs_in_a_log_are_named(farweb: Farweb, folder: Path) -> None:
    """Until the report, but not a download that took as long."""
    log = '{} - - [12/Mar/2024:10:{:02}:00 +0000] "GET /{} HTTP/1.1" {} {} "-" "-" {}\n'
    rows = [(200, 900, "0.020")] * 5 + [(200, 5_000_000, "90.000"), (503, 3000, "155.000")] + [(504, 167, "60.001")] * 4
    lines = [log.format("192.0.2.1", minute, minute, *row) for minute, row in enumerate(rows)]
    (folder / "access.log").write_text("".join(lines))
    form = '$remote_addr - - [$time_local] "$request" $status $body_bytes_sent "-" "-" $request_time'
    said = "5 requests with 408, 502, 503 or 504 after 10 s or more, the longest 155 s (503, line 7): time-outs of the"
    for verb in (("new", "a.toml", "--log", "access.log", "--log-format", form), ("check", "a.toml")):
        answer = farweb(*verb)
        assert said in " ".join((answer.out + answer.err).split())
    left = farweb("new", "b.toml", "--log", "access.log", "--log-format", form, "--no-errors")
    assert "time-outs" not in left.err


def test_new_import_and_check_count_the_bytes_of_a_log_alike_and_name_times_by_its_clock(
    farweb: Farweb, folder: Path
) -> None:
    """Of 20 answers with bodies of 1,000,000 B, at five minutes past ten; headers are assumed in the request table."""
    line = '192.0.2.1 - - [05/Jan/2025:10:05:{:02} +0000] "GET /{} HTTP/1.1" 200 1000000\n'
    (folder / "access.log").write_text("".join(line.format(number, number) for number in range(20)))
    written = farweb("new", "link.toml", "--log", "access.log")
    assert "20 of 20 lines: 20.0 MB of responses in 19 s" in written.out
    assert (
        "20 requests of 1 client to 1 host: 20.0 MB of responses"
        in farweb("workload", "import", "access.log", "-o", "r.parquet").out
    )
    checked = " ".join(farweb("check", "link.toml").out.split())
    assert "access.log: all 20 MB of responses that crossed the link are in" in checked
    when = "in the busiest minute (from 2025-01-05 10:05:00 UTC on)"
    assert f"its fullest link, clients to far-end, is 5.87 % busy {when}" in checked
    ran = " ".join(farweb("run", "link.toml", "--set", "run.until=90 s").out.split())
    assert f" % {when}; no drops" in ran


def test_check_says_which_part_of_the_log_is_simulated(farweb: Farweb, folder: Path) -> None:
    tunnel = "851000009.000  9000 10.0.0.3 TCP_TUNNEL/200 95000 CONNECT bank.example:443 - DIRECT/192.0.2.2 -\n"
    (folder / "access.log").write_text(LOG + tunnel)
    farweb("new", "with.toml", "--log", "access.log")
    checked = farweb("check", "with.toml", "--json").json()["check"]
    assert checked["carried_bytes_share"] == 1
    assert "1 tunnel with 86.0 %" in checked["text"].replace("\n", " ")
    assert "of the bytes of responses kept came in 1 tunnel (CONNECT)" in (folder / "with.toml").read_text()
    without = farweb("new", "without.toml", "--log", "access.log", "--no-tunnels")
    assert (
        "access.log: 14.0 % of 110 kB of responses that crossed the link are in, without 86.0 % connect-tunnel; "
        in without.said
    )
    assert " did not cross it; the load is smaller than the log's" in without.said
    assert "(CONNECT)" not in (folder / "without.toml").read_text()
    farweb("new", "early.toml", "--log", "access.log", "--no-tunnels", "--client", "10.0.0.1")
    early = farweb("check", "early.toml", "--json").json()["check"]
    assert early["carried_bytes_share"] == 1, "of the part asked for"
    assert " kB are not selected" in early["text"]


def test_the_screen_names_the_path_and_what_the_log_decided(farweb: Farweb, folder: Path) -> None:
    (folder / "access.log").write_text(LOG)
    answer = farweb("new", "link.toml", "--log", "access.log", "--path", "geo-2021", "--server-time", "none")
    path, _, table = answer.out.partition("\n\n")
    facts = table.splitlines()
    assert " ".join(path.split()) == (
        "A geostationary satellite (2021 and 2022): round trip 620 ms, 3 Mbit/s up, 18.8 Mbit/s down"
    )
    assert facts[0] == "log      3 of 4 lines: 15.5 kB of responses in 1.90 s, from 1996-12-19 12:53:26"
    assert [line.split()[0] for line in facts if line[0] != " "] == ["log", "first", "http", "clients", "servers"]
    assert "wrote link.toml, link-requests.parquet, link-hosts.tsv" in answer.err
