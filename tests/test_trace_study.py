"""The study of the open choices: its design is allowed, its measures and its emulators give known answers."""

import tomllib
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from papers.trace import changed, design, kinds, numbers
from papers.trace.emulator import Effects, Emulator, coordinates
from papers.trace.factors import FACTORS, RELEASES, values
from papers.trace.findings import Findings, write_points
from threadpoolctl import threadpool_limits

from farweb import Scenario
from farweb.reproduce.reading import find_reading
from farweb.reproduce.study import PAPERS


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Processes of tests share the cores, and threads that wait for each other's sums keep them busy."""
    with threadpool_limits(1):
        yield


def test_points_are_a_latin_hypercube_over_all_factors() -> None:
    points = design.unit_points(20)
    assert points.shape == (20, len(FACTORS))
    for column in points.T:
        assert sorted((column * 20).astype(int)) == list(range(20)), "one in each twentieth"


def test_a_family_has_the_means_of_its_point() -> None:
    for row in design.unit_points()[:3]:
        point = values(row)
        means = design.trace_means(design.family(point))
        assert means["response_bytes"] == pytest.approx(point["response mean"], rel=0.06)
        assert means["server_s"] == pytest.approx(point["server mean"], rel=0.06)
        assert means["wait_s"] / means["server_s"] == pytest.approx(point["wait share"], abs=0.04)


def test_the_design_is_a_sweep_that_is_allowed(folder: Path) -> None:
    out = folder / "points.toml"
    count = design.write(out, islice(design.runs(design.unit_points()), len(design.CASES)))
    scenario = Scenario.load(out)
    assert scenario.design is not None
    assert count == len(design.CASES) == len(scenario.design.points)
    first = tomllib.loads(out.read_text())["sweep"]["factors"]["case"][0]
    assert first["level"] == "000 TT1.0 0.2"
    assert first["set"]["leg"][0]["carrier"]["kind"] == "http/1.0"


def test_reading_b_is_that_of_the_readings() -> None:
    keys = find_reading(PAPERS, "B").changes(PAPERS / "cable" / "no-proxy.toml")
    _, ours = next(iter(changed.runs(changed.CHANGES[0])))
    assert ours["origin.release"] == keys["origin.release"]
    for name in ("wait_recorded", "tail_share", "us_rate"):
        assert ours[f"workload.parameters.{name}"] == keys[f"workload.parameters.{name}"]
    (leg,), (theirs,) = ours["leg"], keys["leg"]
    assert leg["tcp"]["constants"] == theirs["tcp"]["constants"]
    assert leg["carrier"] == theirs["carrier"]


def test_larger_responses_take_the_server_as_long() -> None:
    before, after = (design.trace_means(each) for each in (changed.READING_B, changed.LARGER))
    assert before["response_bytes"] == pytest.approx(changed.RESPONSE_B, rel=0.001)
    assert after["response_bytes"] == pytest.approx(changed.LARGER_B, rel=0.001)
    assert after["server_s"] == pytest.approx(before["server_s"], rel=0.002)


def of_point(latencies: dict[float, float], carried: dict[str, float] | None = None) -> numbers.Cases:
    """Runs of the cable with few connections, with these latencies at shares of the connections' limit."""
    return {
        f"TT few {part}": {
            "presented_bps": part * design.FEW * design.CABLE_BPS,
            "latency_mean_s": latencies[part],
            "link_0_down_queue_bytes_mean": (carried or {}).get(str(part), 1.0),
        }
        for part in design.RISE
    }


def number(claim: str) -> numbers.Number:
    return next(each for each in numbers.NUMBERS if each.claim == claim)


def test_latencies_are_compared_at_equal_loads_and_then_averaged() -> None:
    low, high = design.FLAT
    latencies = {f"TT1.0 {low}": 2.0, f"TT1.0 {high}": 4.0, f"TT proxy {low}": 1.8, f"TT proxy {high}": 3.0}
    cases = {case: {"latency_mean_s": value} for case, value in latencies.items()}
    assert number("S1").of(cases) == 3.0
    assert number("T7").of(cases) == pytest.approx((-10 - 25) / 2)


def test_a_latency_that_never_rises_has_no_onset_where_loads_stay_below_the_capacity() -> None:
    cases = of_point(dict.fromkeys(design.RISE, 2.0))
    below = {case: {**run, "presented_bps": run["presented_bps"] / 2} for case, run in cases.items()}
    assert np.isnan(number("T8").of(below))


def test_where_latency_rises() -> None:
    flat = dict.fromkeys(design.RISE, 2.0)
    assert number("T8").of(of_point({**flat, 0.8: 2.4, 0.9: 3.0, 1.3: 90})) == pytest.approx(65 + 15 / 2)
    # 0.05 s at 90 % are 0.2 s, a tenth, at 97.5 %, if they grow as 1 / (1 - use).
    assert number("T8").of(of_point({**flat, 0.9: 2.05, 1.3: 90})) == pytest.approx(97.5)
    assert np.isnan(number("T8").of(of_point(flat)))


def test_a_queue_falls_again_where_it_is_smaller_at_the_last_load() -> None:
    flat = dict.fromkeys(design.RISE, 2.0)
    assert number("T10").of(of_point(flat, {"0.8": 8.0, "1.3": 2.0})) == 0.25


def test_implausibility_is_one_at_the_edge_of_the_tolerance() -> None:
    found = number("T8").implausibility(np.array([50, 62.5, 75, 87.5]))
    assert found.tolist() == [1, 0, 1, 2]
    assert (number("T15").implausibility(np.array([1.05, 3.0, 1.0])) <= 1).tolist() == [True, True, False]


def test_effects_of_a_sum_and_a_product() -> None:
    """Of 2 a + b the variances are 4 to 1; of a product of two centred parts nothing is either's alone."""
    points = design.unit_points(80)
    a, b = FACTORS.index(next(each for each in FACTORS if each.name == "server mean")), 4
    emulator = Emulator.fit(points, 2 * points[:, a] + points[:, b])
    effects = Effects.of(emulator)
    assert emulator.explained > 0.99
    assert effects.first[[a, b]] == pytest.approx([0.8, 0.2], abs=0.04)
    assert effects.total[[a, b]] == pytest.approx([0.8, 0.2], abs=0.04)
    together = Effects.of(Emulator.fit(points, (points[:, a] - 0.5) * (points[:, b] - 0.5)))
    assert together.first.max() < 0.1 < 0.8 < together.total[[a, b]].min()


def test_kinds_are_equally_far_apart() -> None:
    points = np.full((4, len(FACTORS)), 0.5)
    points[:, 0] = [0.1, 0.3, 0.6, 0.9]
    found = coordinates(points)
    between = {float(np.abs(found[i] - found[j]).sum()) for i in range(4) for j in range(i)}
    assert between == {2.0}


def test_points_that_meet_a_number_are_counted_by_kind() -> None:
    points = np.full((3, len(FACTORS)), 0.25)
    points[2, [each.name for each in FACTORS].index("closer")] = 0.75
    met = np.zeros((3, len(numbers.NUMBERS)), dtype=bool)
    met[1:, 0] = True
    seconds = np.array([[1.0, 2.0, 1.52, 3.0], [2.0, 4.0, 2.52, 5.0], [3.0, 6.0, 3.52, 7.0]])
    head, _, first, *_, release = kinds.tables(points, met, seconds)
    cells = dict(zip(head.split(" | "), first.split(" | "), strict=True))
    assert (cells["closer: server"], cells["closer: client"]) == ("1 of 2", "1 of 1")
    assert release == "| paced after the wait | 3 | 2.00 s | 4.00 s | 2.52 s | 5.00 s | 1.0 |"


def test_numbers_stand_beside_each_other_with_those_met_in_bold() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kinds, "NUMBERS", [replace(number("A9"), of=lambda cases: cases["any"]["ratio"])])
        assert list(kinds.beside({"B": {"any": {"ratio": 19.0}}, "paced": {"any": {"ratio": 25.0}}}))[2:] == [
            "| A9 | 19 | **19** | 25 |",
            "| met, of 1 | | 1 | 0 |",
        ]


def test_every_point_is_written_with_how_implausible_it_makes_each_number(folder: Path) -> None:
    middles = [62.5 if each.claim == "T8" else 1.0 for each in numbers.NUMBERS]
    findings = Findings(design.unit_points(3), np.array([middles] * 3), seconds=np.zeros((3, 4)), standing=[])
    write_points(findings, folder / "points.csv")
    rows = pl.read_csv(folder / "points.csv")
    assert len(rows) == 3
    assert set(rows["release"]) <= set(RELEASES)
    assert rows["T8"].to_list() == [62.5] * 3 and rows["implausibility T8"].to_list() == [0.0] * 3


def test_the_page_for_readers_has_the_conclusions_as_they_were_found() -> None:
    papers = Path(design.__file__).parent
    found = (papers / "findings.md").read_text("utf-8").partition("| conclusion |")
    assert "".join(found[1:]).strip() in (papers.parents[1] / "docs" / "old-papers.md").read_text("utf-8")
