"""Fit the two free parameters of the family nzix to what the NZ–US studies say of their traces.

    python papers/calibration/calibrate.py            fit, and print what the family then gives
    python papers/calibration/calibrate.py --check    print what it gives as it is
    python papers/calibration/calibrate.py --reading B    the same in another reading of the papers (readings.toml)

`tail_share` is fitted to the ratio of bytes on the cable between proxies, `us_rate` to the mean latency of the sample
requests without them; each by bisection over the same seeds, in turns, since the one has a small effect on the other's
target. README.md has the rule by which these two are fitted and all else is kept, and what was found.
"""

import argparse
import statistics
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from farweb import Results, Scenario
from farweb.reproduce.reading import Reading, find_reading
from farweb.reproduce.study import toml_of

CABLE = Path(__file__).with_name("cable.toml")
PROXIES = Path(__file__).with_name("proxies.toml")

RATIO = 19.0  # bytes towards New Zealand for each byte back, with proxies: Proc. SPIE 3529 (1998), section 5
LATENCY_S = 2.8  # mean of the sample requests over the cable without proxy: CNDS 2001

RATIO_SEEDS = range(1, 5)  # 52,000 different requests: the mean response is known to 1 %
LATENCY_SEEDS = range(1, 41)  # forty samples of 421 requests
STEPS = 8  # halvings of a bracket
ROUNDS = 2  # turns of the two

Parameters = dict[str, str]


reading: Reading = find_reading(CABLE.parents[1], "A")  # the command sets it


def run(scenario: Path, seed: int, parameters: Parameters, keys: Mapping[str, str | int]) -> Results:
    """A run of a scenario with these parameters of the family; its requests are read, its folder is gone."""
    of_family = {f"workload.parameters.{name}": value for name, value in parameters.items()}
    of_reading = {key: toml_of(value) for key, value in reading.changes(scenario).items()}
    loaded = Scenario.load(scenario, {**of_reading, **of_family, **keys, "record.connections": False})
    with tempfile.TemporaryDirectory() as folder:
        results = loaded.run(seed, Path(folder) / "results")
        assert results.requests["end_ns"].null_count() == 0, "every request is answered"
    return results


def in_and_out(seed: int, parameters: Parameters) -> tuple[int, int]:
    """Bytes that the cable carries between the proxies, towards New Zealand and back."""
    links = run(PROXIES, seed, parameters, {}).manifest["links"]
    down, up = (
        [link["bytes"] for link in links if link["link"] == 0 and link["direction"] == way] for way in ("down", "up")
    )
    return down[0], up[0]


def ratio(parameters: Parameters) -> float:
    """Bytes towards New Zealand for each byte back."""
    carried = [in_and_out(seed, parameters) for seed in RATIO_SEEDS]
    return sum(down for down, _ in carried) / sum(up for _, up in carried)


def latencies(parameters: Parameters) -> list[float]:
    """Mean latency of the sample requests, alone on the cable, in s, by seed."""
    return [_latency(run(CABLE, seed, parameters, {"workload.days": 1})) for seed in LATENCY_SEEDS]


def _latency(results: Results) -> float:
    took = (results.requests["end_ns"] - results.requests["start_ns"]).mean()
    assert isinstance(took, float)
    return took / 1e9


def bisect(value: Callable[[float], float], target: float, low: float, high: float) -> float:
    """Where `value`, which grows from `low` to `high`, is `target`."""
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if value(middle) < target else (low, middle)
    return (low + high) / 2


def fit() -> Parameters:
    """Both parameters, rounded to what the bisection knows of them."""
    share, pace = 0.2, 8.0  # pace: ms for 1000 bit, the inverse of the rate: what the latency grows with

    def parameters() -> Parameters:
        return {"tail_share": f"{share:.3f}", "us_rate": f"{1000 / pace:.0f} kbit/s"}

    for _ in range(ROUNDS):
        share = bisect(lambda tried: ratio({**parameters(), "tail_share": f"{tried:.4f}"}), RATIO, 0.02, 0.5)
        pace = bisect(
            lambda tried: statistics.mean(latencies({**parameters(), "us_rate": f"{1000 / tried:.3f} kbit/s"})),
            LATENCY_S,
            1.0,
            40.0,
        )
        print(f"tail_share {share:.4f}, us_rate {1000 / pace:.2f} kbit/s", flush=True)
    return parameters()


def report(parameters: Parameters) -> None:
    """Print what the targets come to, and how samples differ by seed."""
    found = latencies(parameters)
    mean, deviation = statistics.mean(found), statistics.stdev(found)
    days = [run(CABLE, seed, parameters, {"workload.load": 31}).requests["response_bytes"] for seed in RATIO_SEEDS]
    print(f"bytes in for one out      {ratio(parameters):.2f}, to be {RATIO:.0f}")
    print(f"sample latency, mean      {mean:.3f} s over {len(found)} seeds, to be {LATENCY_S} s")
    print(
        f"  from seed to seed       {deviation:.2f} s of deviation, {min(found):.2f} s to {max(found):.2f} s; "
        f"seed 1: {found[0]:.2f} s"
    )
    print(f"requests a day            {statistics.mean(len(each) / 31 for each in days):.1f}")
    print(f"response, mean            {statistics.mean(float(each.to_numpy().mean()) for each in days):,.0f} B")


def main() -> None:
    """Fit, unless only to check, and report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="take the parameters as they are")
    parser.add_argument("--reading", default="A", help="reading of the papers")
    arguments = parser.parse_args()
    global reading
    reading = find_reading(CABLE.parents[1], arguments.reading)
    parameters: Parameters = {} if arguments.check else fit()
    for name, value in parameters.items():
        print(f"{name} = {value}")
    report(parameters)


if __name__ == "__main__":
    main()
