"""What `farweb size` varies: ranges, lists and factors as rows of values."""

import itertools
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from farweb import Scenario, ScenarioError
from farweb.size.vary import Axis, VaryError, parse_vary
from farweb.text import parse as quantity
from samples import scenario_of


@pytest.fixture
def scenario(cable: Path) -> Scenario:
    return Scenario.load(cable)


def labels(axis: Axis) -> list[str]:
    return [axis.choice(position).label for position in range(len(axis))]


def test_whole_numbers_and_packets_step_by_one(scenario: Scenario) -> None:
    axis = parse_vary("workload.load=1..20", scenario)
    assert labels(axis) == [str(load) for load in range(1, 21)]
    assert axis.choice(3).changes == {"workload.load": 4}
    queue = parse_vary('path.link.0.down.queue="2 packets".."5 packets"', scenario)
    assert labels(queue) == ["2 packets", "3 packets", "4 packets", "5 packets"]
    assert (queue.unit, queue.choice(1).value, queue.choice(1).number) == ("packets", "3 packets", 3.0)


def test_quantities_step_by_a_percent_or_by_what_is_asked(scenario: Scenario) -> None:
    axis = parse_vary("leg.0.tcp.buffer=8 KiB..4 MiB", scenario)
    numbers = [axis.choice(position).number or 0 for position in range(len(axis))]
    assert (numbers[0], numbers[-1]) == (8192, 4 * 2**20)
    assert all(0 < after - before <= 0.01 * before for before, after in itertools.pairwise(numbers))
    exact = parse_vary("leg.0.tcp.buffer=8..4096 KiB", scenario, "1 B")
    assert len(exact) == 4 * 2**20 - 8192 + 1
    assert exact.choice(1).label == "8193 B"
    coarse = parse_vary("path.link.0.down.delay=10 ms..61 ms", scenario, "20 ms")
    assert labels(coarse) == ["10 ms", "30 ms", "50 ms", "61 ms"]


@given(
    st.integers(1, 10**9),
    st.integers(2, 10**4),
    st.sampled_from(["B", "kB", "KiB", "ns", "ms", "kbit/s", "packets"]),
    st.sampled_from([Fraction(1, 100), Fraction(1, 10), Fraction(1, 1000)]),
)
@settings(max_examples=30, deadline=None)
def test_a_grid_is_ascending_dense_and_of_whole_grains(low: int, times: int, unit: str, share: Fraction) -> None:
    from farweb.size.vary import Grid, Step

    first, last = quantity.parse(f"{low} {unit}"), quantity.parse(f"{low * times} {unit}")
    grain = quantity.grain(first.base)
    assert grain is not None
    if float(share) * len(str(times)) < 0.01:
        return  # a fine grid over many decades: the same arithmetic, and long
    grid = Grid("key", first, last, Step(share, True))
    numbers = [quantity.parse(choice.label).number for choice in map(grid.__getitem__, range(len(grid)))]
    assert (numbers[0], numbers[-1]) == (first.number, last.number)
    for before, after in itertools.pairwise(numbers):
        assert before < after <= before + max(share * before, grain)
        assert (after / grain).denominator == 1


def test_positions_between_are_halves_of_steps_or_of_ratios(scenario: Scenario) -> None:
    narrow = parse_vary("workload.load=10..30", scenario)
    assert narrow.choice(narrow.between(0, 20)).label == "20"
    wide = parse_vary("workload.load=1..100", scenario)
    assert wide.choice(wide.between(0, 99)).label == "10"
    assert labels_at(wide, wide.spread(5)) == ["1", "4", "10", "32", "100"]
    downwards = parse_vary("workload.load=1..100", scenario, largest=True)
    assert labels_at(downwards, downwards.spread(5)) == ["100", "32", "10", "4", "1"]
    for axis in (narrow, wide, downwards):
        for one in range(len(axis) - 2):
            assert one < axis.between(one, one + 2) < one + 2
    assert wide.spread(200) == list(range(100))


def with_loss(scenario: Scenario) -> Scenario:
    return scenario.with_({"path.link.0.up.loss": '{ kind = "bernoulli", probability = 0.1 }'})


def labels_at(axis: Axis, positions: list[int]) -> list[str]:
    return [axis.choice(position).label for position in positions]


def test_lists_are_in_ascending_order_unless_they_are_words(scenario: Scenario) -> None:
    axis = parse_vary("leg.0.tcp.buffer=64 KiB,8 kB,16 kB", scenario)
    assert labels(axis) == ["8 kB", "16 kB", "64 KiB"]
    assert [axis.choice(position).number for position in range(3)] == [8000, 16000, 65536]
    shares = parse_vary("path.link.0.up.loss.probability=0.5 %,2 %", with_loss(scenario))
    assert [shares.choice(position).changes for position in (0, 1)] == [
        {"path.link.0.up.loss.probability": 0.005},
        {"path.link.0.up.loss.probability": 0.02},
    ]
    words = parse_vary("leg.0.tcp.profile=linux,bsd44-lite", scenario)
    assert labels(words) == ["linux", "bsd44-lite"]
    assert words.choice(0).number is None


@pytest.mark.parametrize(
    ("text", "resolution", "words"),
    [
        ("workload.load=4..4", None, "from a smaller number to a larger one"),
        ("workload.load=9..4", None, "from a smaller number to a larger one"),
        ("workload.load=4", None, "at least two values"),
        ("=1..2", None, "write KEY=LO..HI"),
        ("workload.load=a..b", None, '"a" is no number'),
        ("leg.0.tcp.buffer=8 kB..4 s", None, "not of the same kind"),
        ("leg.0.tcp.buffer=8 kB,4 s", None, "not all of one kind"),
        ("leg.0.tcp.buffer=8 kB..9 kB", "1 ms", "given in kB"),
        ("leg.0.tcp.buffer=8 kB..9 kB", "0.5 B", "a multiple of 1 B"),
        ("leg.0.tcp.buffer=8 kB..9 kB", "0.001 %", "from 0.01 %"),
        ("leg.0.tcp.profile=linux,bsd44-lite", "1 B", "only a range has one"),
        ("circuit", None, "has no such factor"),
    ],
)
def test_bad_ranges_are_told(scenario: Scenario, text: str, resolution: str | None, words: str) -> None:
    with pytest.raises(VaryError) as error:
        parse_vary(text, scenario, resolution)
    assert words in str(error.value)


def test_the_core_judges_both_ends_before_anything_runs(scenario: Scenario) -> None:
    with pytest.raises(ScenarioError, match="buffers"):
        parse_vary("leg.0.tcp.buffers=8 kB..9 kB", scenario)
    with pytest.raises(ScenarioError, match=r"workload\.load: found 0; it is 1 to"):
        parse_vary("workload.load=0..9", scenario)


def test_an_unknown_key_names_what_was_asked_for_and_the_leg_that_has_it(folder: Path) -> None:
    links, legs = ["10 Mbit/s, 5 ms"] * 2, ['a b { kind = "mux", connections = 2 }', "b c http/1.1"]
    (folder / "two.toml").write_text(scenario_of("a b c", *links, legs=legs))
    two = Scenario.load(folder / "two.toml")
    for key in ("connections", "conections"):
        with pytest.raises(ScenarioError) as error:
            parse_vary(f"leg.1.carrier.{key}=1..4", two)
        said = str(error.value)
        assert said.startswith(f"--vary leg.1.carrier.{key}: unknown key; the keys here are kind, ")
        assert said.endswith("; leg 0 has leg.0.carrier.connections") and "\n" not in said
    with pytest.raises(ScenarioError, match=r"^--vary leg\.0\.tcp\.bufer: unknown key; .*\(did you mean buffer\?\)$"):
        parse_vary("leg.0.tcp.bufer=8 kB..9 kB", two)


@given(
    st.fractions(0, 10**6, max_denominator=10**6), st.sampled_from(["s", "B", "bit/s", "packets", "1"]), st.booleans()
)
def test_quantities_read_what_they_write(number: Fraction, base: str, binary: bool) -> None:
    grain = quantity.grain(base) or Fraction(1, 1000)
    exact = number // grain * grain
    assert quantity.parse(quantity.write(exact, base, binary and base == "B")).number == exact
