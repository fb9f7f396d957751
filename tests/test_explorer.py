"""Random scenarios give result tables that a judge of its own finds right, and the judge notices one wrong value."""

import copy
import json
import random
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from explorer.case import Case
from explorer.coverage import occurring, offered
from explorer.explore import explore, violations
from explorer.generate import generate
from explorer.judge import judge
from explorer.minimise import minimise
from explorer.reading import Row, Run, Tables
from explorer.rules import RULES
from explorer.run import RESULTS, Outcome, run
from explorer.specimens import SPECIMENS
from explorer.variants import differences
from explorer.verbs import sweep, unread
from farweb import Scenario, _core
from farweb.errors import ScenarioError

FIRST = 10893  # of the cases: chosen for every key and word to occur; another where the generator draws otherwise
CASES = 200
QUICK = 12  # of the cases belong to `make test`; `make verify` runs the others in four parts


@pytest.mark.parametrize(
    "cases",
    [
        range(QUICK),
        *(
            pytest.param(range(QUICK + part, CASES, 4), marks=pytest.mark.slow(reason="188 scenarios"))
            for part in range(4)
        ),
    ],
)
def test_random_scenarios_give_right_tables(cases: range) -> None:
    for finding in explore(FIRST + case for case in cases):
        pytest.fail(str(finding))


def test_every_verb_reads_a_random_run(tmp_path: Path) -> None:
    for number in range(FIRST, FIRST + 2):
        assert run(generate(number), tmp_path / str(number)).error is None
        assert unread(tmp_path / str(number) / RESULTS, number, drawn=number == FIRST) == []


@pytest.mark.usefixtures("warm_workers")
def test_every_verb_reads_a_random_sweep(tmp_path: Path) -> None:
    assert unread(sweep(generate(FIRST), tmp_path), FIRST, drawn=False) == []


def test_a_verb_that_refuses_results_is_noticed(tmp_path: Path) -> None:
    run(generate(FIRST), tmp_path)
    (tmp_path / RESULTS / "requests.parquet").write_bytes(b"")
    found = unread(tmp_path / RESULTS, FIRST, drawn=False)
    assert {one.rule for one in found} == {f"verbs.{verb}" for verb in ("show", "verify", "sql", "compare")}


# What no case has, and why.
LEFT_OUT = {
    "sweep": "a single run ignores it",
    "workload.family": "a family has no request table that the judge could read",
    "workload.days": "of a family",
    "workload.parameters": "of a family",
    "leg.tls = none": "as without the key; for levels of a sweep",
    "leg = none": "likewise: the word of leg.split",
    "path.link.fade = none": "likewise",
    "path.link.handover = none": "likewise",
    "path.link.jitter = none": "likewise",
    "path.link.dama = none": "likewise",
    "path.link.wake = none": "likewise",
    "path.link.variation = none": "likewise",
    "clients.tunnels.tls = none": "likewise",
    "clients.tunnels.tls.": "of a handshake; all occur on legs",
    "path.link.preset = ": "a row of one table each; the key occurs",
    "cache.policy = belady": "knows the future, so that no run has it",
}


def test_every_key_and_word_of_a_run_occurs() -> None:
    seen = {word for number in range(FIRST, FIRST + CASES) for word in occurring(generate(number).scenario)}
    missing = offered(json.loads(_core.scenario_schema())) - seen
    assert sorted(word for word in missing if not word.startswith(tuple(LEFT_OUT))) == []


def test_a_case_is_its_number() -> None:
    first = str(generate(FIRST))
    random.seed(7)
    assert str(generate(FIRST)) == first != str(generate(FIRST + 1))


@cache
def specimen(name: str, folder: Path) -> Outcome:
    return run(SPECIMENS[name], folder / name)


@pytest.fixture(scope="session")
def specimens(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Run]:
    """A specimen's run, with tables of its own that a test may change."""
    folder = tmp_path_factory.mktemp("specimens")

    def get(name: str) -> Run:
        outcome = specimen(name, folder)
        assert outcome.error is None
        return Run.read(folder / name, copy.deepcopy(outcome.tables))

    return get


@pytest.mark.parametrize("name", SPECIMENS)
def test_specimens_are_right(specimens: Callable[[str], Run], name: str) -> None:
    assert judge(specimens(name)) == []


Value = Any
Where = Callable[[Row], bool]


def chosen(columns: dict[str, list[Value]], where: Where | None, cells: dict[str, Value]) -> int:
    """The place of the first row with these cells, or one that `where` holds for."""
    rows = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
    fits = (cells.items() <= row.items() if where is None else where(row) for row in rows)
    return next(place for place, is_fit in enumerate(fits) if is_fit)


def change(
    table: str, column: str, value: Value, where: Where | None = None, **cells: Value
) -> Callable[[Tables], None]:
    """Give the first row, or the first of a kind, another value; a function is asked with the old one."""

    def mutate(tables: Tables) -> None:
        columns = tables[table]
        place = chosen(columns, where, cells)
        old = columns[column][place]
        new = value(old) if callable(value) else value
        assert new != old
        columns[column][place] = new

    return mutate


def drop(table: str, where: Where | None = None, **cells: Value) -> Callable[[Tables], None]:
    """Take the first row of a kind away."""

    def mutate(tables: Tables) -> None:
        place = chosen(tables[table], where, cells)
        for values in tables[table].values():
            del values[place]

    return mutate


def more(by: int) -> Callable[[int], int]:
    return lambda old: old + by


MS = 1_000_000
FAR = 1_000_000 * MS


def is_data(row: Row, event: str, link: int | None = None) -> bool:
    return bool(row["payload_bytes"] and row["event"] == event and row["link"] == link)


# One value off, and the rule that has to notice it.
MUTATIONS: list[tuple[str, str, Callable[[Tables], None]]] = [
    ("requests.asked", "caches", change("requests", "response_bytes", more(1))),
    ("requests.asked", "caches", change("requests", "start_ns", more(1))),
    ("requests.asked", "listed", drop("requests", request=2)),
    ("requests.clients drawn", "drawn", change("requests", "client", 7)),
    ("requests.visits", "clients", change("requests", "visit_request", "later")),
    ("requests.visits", "clients", change("requests", "client", None)),
    ("requests.times", "caches", change("requests", "first_byte_ns", more(FAR))),
    ("requests.ends", "caches", change("requests", "end_ns", None)),
    ("requests.ends", "listed", change("requests", "failure", "reset")),
    ("requests.ends", "streams", change("requests", "status", "unfinished")),
    ("requests.patience", "streams", change("requests", "end_ns", more(30_000 * MS))),
    ("requests.served_by", "streams", change("requests", "served_by", "proxy")),
    ("requests.served_by", "listed", change("requests", "served_by", "servers", served_by="child")),
    ("requests.connection", "caches", change("requests", "connection", FAR)),
    ("requests.connection", "caches", change("requests", "retransmits", 9)),
    ("requests.served_bytes", "streams", change("requests", "served_bytes", more(1))),
    ("requests.served_bytes", "caches", change("requests", "served_bytes", None)),
    ("connections.lives", "caches", change("connections", "busy_ns", FAR)),
    ("connections.lives", "caches", change("connections", "open_ns", more(60_000 * MS))),
    ("connections.carrier", "caches", change("connections", "requests_max", 2, leg=2)),
    ("connections.carrier", "caches", change("connections", "host", None, leg=2)),
    ("connections.requests", "caches", change("connections", "requests", more(1), leg=0)),
    ("connections.clients", "clients", change("connections", "client", 7)),
    ("connections.clients", "caches", change("connections", "client", 7, leg=1)),
    ("connections.handshakes", "clients", change("connections", "handshake", "resumed")),
    ("connections.handshakes", "caches", change("connections", "handshake", "full")),
    ("connections.held", "caches", change("connections", "held_nothing_ns", more(1))),
    ("connections.pool", "caches", change("connections", "leg", 1, leg=0)),
    ("exchanges.requests", "caches", change("exchanges", "end_ns", more(1), leg=0)),
    ("exchanges.requests", "caches", drop("exchanges", leg=0)),
    ("exchanges.times", "caches", change("exchanges", "requested_ns", more(FAR))),
    ("exchanges.parts", "caches", change("exchanges", "cwnd_ns", more(1))),
    ("exchanges.parts", "streams", change("exchanges", "buffer_ns", FAR)),
    ("exchanges.chain", "streams", change("exchanges", "start_ns", more(1), leg=1)),
    ("exchanges.chain", "caches", change("exchanges", "ready_first_ns", more(1), leg=1)),
    ("exchanges.done", "streams", drop("exchanges", leg=1)),
    ("exchanges.travel", "caches", change("exchanges", "ready_first_ns", more(60 * MS), leg=2)),
    ("exchanges.travel", "caches", change("exchanges", "requested_ns", more(-25 * MS), leg=2)),
    ("breakdown.adds up", "caches", change("breakdown", "mean_s", lambda old: old + 1e-6)),
    ("breakdown.adds up", "caches", change("breakdown_legs", "unfinished_reached", more(1))),
    ("breakdown.adds up", "streams", change("requests", "status", "failed", status="done")),
    ("intervals.time", "caches", change("legs", "time_ns", more(1))),
    ("intervals.time", "caches", change("links", "interval_ns", more(-1))),
    ("intervals.links", "caches", change("links", "busy", 1.0, bytes=0, direction="down")),
    ("intervals.links", "caches", change("links", "drops", 1, link=2)),
    ("intervals.links", "caches", change("links", "queue_bytes_max", 7000, link=1, direction="up")),
    ("intervals.packets", "streams", change("links", "packets", more(1))),
    ("intervals.packets", "streams", change("connections", "segments_up", more(1))),
    ("intervals.legs", "caches", change("legs", "open_mean", more(1))),
    ("intervals.legs", "streams", change("legs", "requests_mean", lambda old: old + 0.01)),
    ("intervals.legs", "streams", change("legs", "connection_requests_max", 9)),
    ("links.way", "caches", change("packets", "time_ns", more(1), lambda row: is_data(row, "receive"))),
    ("links.fifo", "caches", change("packets", "time_ns", more(1), lambda row: is_data(row, "pass", 1))),
    ("links.way", "streams", change("packets", "time_ns", more(1), event="drop")),
    (
        "links.queue",
        "streams",
        change("packets", "event", "drop", lambda row: is_data(row, "pass", 1) and row["direction"] == "down"),
    ),
    ("links.discipline", "queues", change("packets", "time_ns", more(1), event="drop")),
    ("links.table", "queues", change("links", "drops_aqm", more(1))),
    ("links.discipline", "marks", change("packets", "ecn", "ECT(0)", ecn="CE", link=1, direction="down")),
    ("links.losses", "marks", change("packets", "ecn", "ECT(0)", ecn="CE", link=1, direction="up")),
    ("links.marks", "marks", change("packets", "ecn", "CE", lambda row: is_data(row, "pass", 1))),
    ("links.marks", "marks", change("links", "marks", more(1))),
    ("links.marks", "queues", change("packets", "ecn", "CE", lambda row: is_data(row, "pass", 1))),
    ("connections.ecn", "marks", change("packets", "ecn", "ECT(0)", payload_bytes=0)),
    ("connections.ecn", "marks", change("connections", "ece_cuts", FAR)),
    (
        "links.table",
        "queues",
        change("links", "sojourn_p95_s", lambda old: old * 1.02, lambda row: (row["sojourn_p95_s"] or 0) > 0.001),
    ),
    (
        "links.table",
        "waking",
        change("links", "sojourn_max_s", lambda old: old - 0.08, lambda row: (row["sojourn_max_s"] or 0) > 0.07),
    ),
    ("links.fifo", "waking", change("packets", "time_ns", more(-80 * MS), lambda row: is_data(row, "pass", 0))),
    ("links.grants", "frames", change("links", "granted_unused_bytes", more(1), direction="up")),
    ("links.grants", "frames", change("links", "granted_bytes", more(FAR), direction="up")),
    ("links.grants", "caches", change("links", "granted_bytes", 0)),
    ("links.losses", "streams", change("packets", "link", 1, event="drop", link=0)),
    ("links.table", "caches", change("links", "bytes", more(1), link=1)),
    ("links.table", "caches", change("links", "busy", lambda old: old * 0.99, lambda row: row["busy"] > 0)),
    ("links.table", "caches", change("links", "queue_bytes_mean", lambda old: old * 0.99, lambda row: row["busy"] > 0)),
    ("links.table", "caches", change("links", "queue_bytes_max", more(1), lambda row: row["busy"] > 0)),
    ("packets.fate", "caches", drop("packets", lambda row: is_data(row, "receive"))),
    ("packets.fate", "caches", change("packets", "event", "send", lambda row: is_data(row, "receive"))),
    ("packets.same", "caches", change("packets", "seq", more(1), lambda row: is_data(row, "pass", 0))),
    ("packets.order", "caches", change("packets", "packet", 400, lambda row: is_data(row, "send"))),
    ("packets.order", "caches", change("packets", "time_ns", FAR, lambda row: is_data(row, "pass", 2))),
    ("packets.connections", "caches", change("connections", "bytes_down", more(1))),
    ("streams.acknowledged", "caches", change("packets", "ack", more(1), lambda row: is_data(row, "send"))),
    ("streams.acknowledged", "streams", change("packets", "payload_bytes", FAR, lambda row: is_data(row, "send"))),
    ("streams.messages", "caches", change("exchanges", "connection_up", None, leg=0)),
    ("streams.messages", "caches", change("requests", "request_bytes", more(1))),
    ("streams.frames", "streams", change("frames", "data_bytes", more(1), lambda row: row["data_bytes"] > 0)),
    ("caches.counts", "caches", change("caches", "bytes", FAR)),
    ("caches.counts", "caches", change("caches", "revalidations", 1, lambda row: row["hits"] > 0)),
    ("caches.answers", "caches", change("caches", "hits", more(1), lambda row: row["requests"] > row["hits"])),
    ("caches.answers", "caches", change("exchanges", "cache_answer", None, leg=0)),
    ("caches.flow", "caches", change("caches", "requests", more(1))),
    ("caches.served", "caches", change("requests", "served_by", "edge", served_by="servers")),
    ("caches.bypassed", "caches", change("exchanges", "cache_answer", "bypass", cache_answer="miss")),
    ("caches.treatment", "treated", change("exchanges", "cache_answer", "hit", request=2, leg=0)),
    ("caches.treatment", "treated", change("requests", "served_by", "shield", request=3)),
    ("caches.contents", "treated", change("exchanges", "cache_answer", "hit", request=1, leg=0)),
    ("caches.versions", "versions", change("requests", "served_bytes", more(-1000))),
    ("caches.contents", "caches", change("exchanges", "cache_answer", "hit", cache_answer="miss")),
    ("caches.drawn", "listed", change("caches", "hits", more(9))),
]


@pytest.mark.parametrize(
    ("rule", "name", "mutate"), MUTATIONS, ids=[f"{rule}-{place}" for place, (rule, *_) in enumerate(MUTATIONS)]
)
def test_one_value_off_is_noticed(
    specimens: Callable[[str], Run], rule: str, name: str, mutate: Callable[[Tables], None]
) -> None:
    changed = specimens(name)
    mutate(changed.tables)
    assert rule in {violation.rule for violation in judge(changed)}


def test_every_rule_is_shown_to_fail() -> None:
    assert {rule for rule, *_ in MUTATIONS} == set(RULES)


def test_a_run_that_differs_from_its_variant_is_noticed(specimens: Callable[[str], Run]) -> None:
    own, other = specimens("caches"), specimens("caches")
    assert list(differences(own, other)) == []
    change("packets", "window_field", more(1))(other.tables)
    assert [one.rule for one in differences(own, other)] == ["variants.again"]

    few = {name: copy.deepcopy(own.tables[name]) for name in ("requests", "connections")}
    bare = Run(own.scenario | {"record": {}}, own.asked, few)
    assert list(differences(own, bare)) == []
    change("requests", "retransmits", more(1))(bare.tables)
    assert [one.rule for one in differences(own, bare)] == ["variants.recorded"]

    early = {"requests": copy.deepcopy(own.tables["requests"])}
    cut = Run(own.scenario | {"run": {"until": "9 s"}}, own.asked, early)
    assert list(differences(cut, own)) == []
    change("requests", "acked_ns", more(1))(early)
    cut = Run(cut.scenario, own.asked, early)
    assert [one.rule for one in differences(cut, own)] == ["variants.cut_off"]


def test_a_server_may_answer_after_its_client_gave_up(specimens: Callable[[str], Run]) -> None:
    """A request that was under way when a run was cut off is served in the whole run, in a row that has failed."""
    whole, early = specimens("caches"), specimens("caches")
    for tables, node in ((early.tables, None), (whole.tables, "servers")):
        tables["requests"]["status"][0] = "failed"
        tables["requests"]["served_by"][0] = node
    cut = Run(early.scenario | {"run": {"until": "9 s"}}, early.asked, early.tables)
    assert list(differences(cut, whole)) == []

    change("requests", "failed_ns", 7)(early.tables)
    cut = Run(cut.scenario, early.asked, early.tables)
    assert [one.rule for one in differences(cut, whole)] == ["variants.cut_off"]


def test_a_run_that_breaks_off_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("explorer.run.EVENTS_MAX", 10)
    assert [one.rule for one in violations(SPECIMENS["listed"], 0)] == ["run"]


def test_what_fails_is_made_small(tmp_path: Path) -> None:
    """A case that fails for a request of more than 4 kB on a path with a loss ends as just that."""

    def fails(case: Case) -> bool:
        try:
            Scenario.load(case.write(tmp_path))
        except ScenarioError:
            return False
        has_loss = any("loss" in link.get("down", {}) for link in case.scenario["path"]["link"])
        return has_loss and any(row["response_bytes"] > 4000 for row in case.requests)

    number = next(number for number in range(1000) if fails(generate(number)))
    small = minimise(generate(number), fails)
    assert len(small.requests) == 1
    assert len(small.scenario["path"]["nodes"]) == 2
    assert set(small.scenario) == {"format", "path", "leg", "workload"}
    assert small.requests[0]["response_bytes"] == 10_000
