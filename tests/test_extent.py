"""Estimates of how large a run or a sweep becomes: against the files of runs, and warnings and refusals."""

from pathlib import Path

import pytest

from farweb import Scenario
from farweb.check.extent import Extent
from farweb.inputs.description import Value
from samples import Farweb

EVERYTHING: dict[str, Value] = {"record.packets": "all", "record.exchanges": True, "record.links_every": "100 ms"}


def extents(scenario: Path, **changes: str | int | float | bool) -> tuple[Extent, ...]:
    return Scenario.load(scenario, {key.replace("__", "."): value for key, value in changes.items()}).check().extents


def test_rows_are_those_that_a_run_writes(cable: Path) -> None:
    scenario = Scenario.load(cable, EVERYTHING).with_({"record.points": ["ends", "link 0 down"], "workload.load": 2})
    (extent,) = scenario.check().extents
    results = scenario.run(out="out")
    written = results.manifest["rows"]
    assert {table: extent.rows[table] for table in ("requests", "connections", "exchanges")} == {
        table: written[table] for table in ("requests", "connections", "exchanges")
    }
    ends_s = 20 + 37  # the last start; a response of 4 kB takes less than a second then
    assert extent.rows["links, legs and caches"] == (2 + 1) * ends_s * 10
    assert written["links"] + written["legs"] == pytest.approx(3 * ends_s * 10, abs=3 * 10)
    assert extent.rows["packets"] == pytest.approx(written["packets"], rel=0.2)


def test_packets_count_at_every_link_until_the_run_ends(cable: Path) -> None:
    (extent,) = extents(cable)
    assert extent.packet_hops == pytest.approx(Scenario.load(cable).run(out="out").manifest["packet_hops"], rel=0.2)
    table = "start_s,host,request_bytes,response_bytes\n0,a.example,300,10000000000\n"
    (cable.parent / "requests.csv").write_text(table)
    fills: dict[str, Value] = {"leg.0.tcp.profile": "linux", "leg.0.tcp.buffer": "700 kB"}
    for end in ("run.until", "clients.give_up"):
        scenario = Scenario.load(cable, {**fills, end: "20 s"})
        (extent,) = scenario.check().extents
        assert extent.packet_hops == pytest.approx(scenario.run(out="out").manifest["packet_hops"], rel=0.2)


def test_a_response_that_would_never_end_is_refused_before_it_begins(cable: Path, farweb: Farweb) -> None:
    table = cable.parent / "requests.csv"
    table.write_text(f"start_s,host,request_bytes,response_bytes\n0,a.example,300,{10**15}\n")
    for verb in ("check", "run"):
        answer = farweb(verb, cable, "--quiet")
        assert (answer.code, len(answer.err.splitlines())) == (2, 1)
        assert f"{cable}:21: workload.requests: a run sends about 1,027,397,260," in answer.err
        assert "packets over links, which take a core some 71 h; the limit is 300,000,000,000, and" in answer.err
    table.write_text(f"start_s,host,request_bytes,response_bytes\n0,a.example,300,{10**14}\n")
    warned = farweb("run", cable, "--set", "run.until=1 s")
    assert (warned.code, "packets over links" in warned.err) == (3, False), "no request is answered in a second"
    warned = farweb("check", cable)
    assert warned.code == 0
    assert "a run sends about 102,739,726," in " ".join(warned.out.split())


def test_a_sweep_has_the_rows_of_all_its_runs(cable: Path) -> None:
    cable.write_text(cable.read_text() + '[sweep]\nreplications = 5\n[sweep.factors]\n"workload.load" = [1, 3]\n')
    run, sweep = extents(cable)
    assert (run.runs, run.rows["requests"]) == (1, 3)
    assert (sweep.runs, sweep.rows["requests"]) == (10, 5 * (3 + 9))


def test_what_is_large_is_warned_of_and_what_is_too_large_refused(cable: Path, farweb: Farweb) -> None:
    assert farweb("check", cable).code == 0
    every = cable.read_text() + '[record]\nlinks_every = "1 us"\n'
    cable.write_text(every.replace('"1 us"', '"400 ns"'))  # 3 rows each, in 20 s
    warned = farweb("check", cable, "--json")
    (warning,) = warned.json()["check"]["warnings"]
    assert warned.code == 0
    assert warning == (
        "record.links_every: a run writes about 150,000,006 rows, most of them (150,000,000) of links, legs and caches"
    )
    cable.write_text(every.replace('"1 us"', '"40 ns"'))
    line = (
        f"farweb: {cable}:23: record.links_every: a run writes about 1,500,000,006 rows, most of them (1,500,000,000) "
        "of links, legs and caches; the limit is 1,000,000,000, and --no-limits lifts it\n"
    )
    for verb in (["check", cable], ["run", cable, "-q"]):
        answer = farweb(*verb)
        assert (answer.code, answer.err) == (2, line)
    assert sorted(path.name for path in cable.parent.iterdir()) == ["cable.toml", "requests.csv"]
    accepted = farweb("check", cable, "--no-limits")
    assert accepted.code == 0
    assert "warning: record.links_every: a run writes about 1,500,000,006 rows" in accepted.out


def test_a_sweep_beyond_the_limit_is_refused_before_anything_is_written(cable: Path, farweb: Farweb) -> None:
    """Packets of a response of 200 million segments, with an acknowledgement for two, both seen at two ends.

    It is cut off after a second.
    """
    (cable.parent / "requests.csv").write_text(
        f"start_s,host,request_bytes,response_bytes\n0,a,300,9\n0,a,300,{292 * 10**9}\n"
    )
    recorded = '[record]\npackets = "all"\n[run]\nuntil = "1 s"\n'
    cable.write_text(f"{cable.read_text()}{recorded}[sweep]\nreplications = 2\n")
    says = "record.packets: 2 runs write about 1,200,000,"
    for verb in (["check", cable], ["sweep", cable, "--out", "out"], ["sweep", cable, "--plan", "--out", "out"]):
        answer = farweb(*verb)
        assert (answer.code, says in answer.err) == (2, True)
        assert not Path("out").exists()
    answer = farweb("run", cable, "--out", "single")
    assert answer.code == 0, "one run is within it"
    assert "warning: record.packets: a run writes about 600,000," in answer.said
    assert farweb("sweep", cable, "--out", "out", "--no-limits", "-j", 1).code == 0
