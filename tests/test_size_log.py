"""`farweb size` on a log: a run a value, blocks of the log's time, pairs of the same requests."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from farweb import Scenario
from farweb.library.sweep_results import SweepResults
from farweb.results.metrics import find_metric
from farweb.size.answer import Answer, answer_of
from farweb.size.find import is_overloaded
from farweb.size.judge import Judge
from farweb.size.log import Asked, Floats, OfLog, times_of_metric
from farweb.size.search import Limits, Search
from farweb.size.target import Clause, parse_target
from farweb.size.vary import parse_vary
from farweb.statistics.intervals import margin_of, resampled
from sample_results import request, write_results
from samples import SCENARIO, Farweb

pytestmark = pytest.mark.usefixtures("warm_workers")

NUMBER = 400
LATENCIES = np.random.default_rng(1).lognormal(size=NUMBER)
NOISE = np.random.default_rng(2).normal(size=NUMBER)


def requests(times: Floats, same: bytes = b"a log") -> Mapping[str, Asked]:
    numbers = np.arange(times.size)
    return {"latency": Asked(same, numbers, numbers, times)}


def slowed(load: float, number: int = NUMBER) -> Floats:
    """Latencies that grow by a hundredth with each step of the load, give or take a fifth for each request."""
    found: Floats = LATENCIES[:number] * (1 + load / 100) * np.exp(0.2 * NOISE[:number] * load / 40)
    return found


def answer(
    scenario: Scenario,
    target: str,
    number: int = NUMBER,
    noise: float = 0.0,
    largest: bool = True,
    chance: bool = False,
) -> Answer:
    """Search loads of 1 to 40; runs of other seeds differ by `noise`."""
    axis = parse_vary("workload.load=1..40", scenario, None, largest)
    goal, limits = parse_target(target), Limits()
    search = Search(axis, goal, limits, chance, OfLog(limits.confidence))
    while asked := search.ask():
        for position, replication in asked:
            times = slowed(axis.choice(position).number or 0, number) * (1 + noise * (replication % 3))
            row: dict[str, float] = {"latency_p50_s": float(np.median(times)), "latency_mean_s": float(times.mean())}
            row["drops"] = max((axis.choice(position).number or 0) - 7, 0)
            row["within(9 s)"] = float((times <= 9).mean())
            search.add(position, replication, row)
            if search.judge.log is not None and not replication:
                search.judge.log.add(position, requests(times))
    return answer_of(search, axis, goal, limits, "log", [])


@pytest.fixture
def scenario(cable: Path) -> Scenario:
    return Scenario.load(cable)


def test_a_run_of_a_value_is_enough(scenario: Scenario) -> None:
    found = answer(scenario, "p50(latency) <= 1.2*best")
    assert {tried.n for tried in found.curve} == {1}
    assert found.answer is not None and found.low is not None and found.high is not None
    assert found.answer.number == pytest.approx(100 * (1.2 * 1.01 - 1), abs=3)
    assert (found.low.number or 0) <= (found.answer.number or 0) < (found.high.number or 0)
    assert (found.low.verdict, found.high.verdict) == ("meets", "does not meet")
    assert (found.interval_of, found.scope) == ("blocks", "for this log")
    between = f"at least {found.low.label} and below {found.high.label}, at 95 % confidence"
    assert found.interval == f"the largest value that is not worse is {between}"
    assert found.text.startswith(f"Take {found.answer.label}: it cannot be told apart from 1, the best (+")
    assert "Holds for this log (95 %, 20 time blocks)." in found._repr_html_()
    assert found.to_dict()["curve"][0]["estimates"][0]["interval_of"] == "blocks"


def test_where_links_draw_the_answer_names_its_one_seed(scenario: Scenario) -> None:
    found = answer(scenario, "p50(latency) <= 1.2*best", chance=True)
    assert found.holds == (
        "Holds for this log (95 %, 20 time blocks), and one seed of its links: --seed 2 has another."
    )


def test_a_number_is_met_only_where_that_is_shown(scenario: Scenario) -> None:
    """The mean of sixty lognormal latencies is uncertain by more than these loads change it."""
    bound = float(slowed(20, 60).mean())
    found = answer(scenario, f"mean(latency) <= {bound * 1.0001:.6f} s", number=60)
    assert (found.answer, found.low, found.high, found.attainable) == (None, None, None, None)
    assert "No workload.load from 1 to 40 is shown to meet mean(latency)" in found.text
    assert found.text.endswith("; 40 and less are open.")
    assert found.runs < 20


def test_shares_are_in_percent_and_end_at_100(scenario: Scenario) -> None:
    found = answer(scenario, "within(9 s) >= 99 %")
    assert found.reached == ("share answered within 9 s at best 99.2 % (98.4 … 100 %), at 1",)
    assert [found.curve[0].estimates[0].high, "98.4 … 100<" in found._repr_html_()] == [1.0, True]


def test_a_best_that_reads_as_its_target_is_said_to_be_short_of_it(scenario: Scenario) -> None:
    best = answer(scenario, "p50(latency) <= 1.2*best").curve[0].estimates[0].mean
    assert best is not None
    found = answer(scenario, f"p50(latency) <= {0.99999 * best:.6f} s")
    assert found.reached[0].endswith(", just short of it, at 1")


def test_too_few_requests_for_blocks_leave_it_to_replications(scenario: Scenario) -> None:
    found = answer(scenario, "p50(latency) <= 1.2*best", number=40, noise=1e-6)
    assert (found.interval_of, found.scope) == ("replications", "for this log")
    assert max(tried.n for tried in found.curve) >= 5
    exact = answer(scenario, "p50(latency) <= 1.2*best", number=40)
    assert (exact.interval_of, exact.scope) == ("none", "for this log")
    assert "nothing is random here" in exact.holds


def test_what_no_block_has_is_judged_by_runs(scenario: Scenario) -> None:
    found = answer(scenario, "drops <= 0 and p50(latency) <= 2*best")
    assert found.answer is not None and found.answer.number == 7
    assert [each.interval_of for each in found.answer.estimates] == ["none", "blocks"]


def clause(text: str) -> Clause:
    return parse_target(text).clauses[0]


def test_intervals_of_times_are_of_the_logarithm(scenario: Scenario) -> None:
    log = OfLog(0.95)
    log.add(0, requests(LATENCIES))
    mean, low, high = log.interval(clause("p90(latency) <= 1 s"), 0)
    values = resampled(np.array_split(LATENCIES, 20), 0.9)
    half = margin_of(np.log(values), 20)
    assert (mean, low, high) == pytest.approx(values[0] * np.exp([0, -half, half]))
    sure = OfLog(0.99)
    sure.add(0, requests(LATENCIES))
    _, _, higher = sure.interval(clause("p90(latency) <= 1 s"), 0)
    assert high is not None and higher is not None and high < higher


def test_shares_and_failures_are_held_against_bounds() -> None:
    log = OfLog(0.95)
    failing = np.where(np.arange(NUMBER) % 5 == 0, np.inf, LATENCIES)
    for position, times in enumerate((LATENCIES, failing)):
        log.add(position, requests(times))
    assert log.holds(clause("failed_share <= 0.05"), 0, None) is True
    assert log.holds(clause("failed_share <= 0.05"), 1, None) is False
    assert log.holds(clause("p90(latency) <= 100 s"), 1, None) is False, "failures reach it in each block"
    assert log.holds(clause("p50(latency) <= 100 s"), 1, None) is True
    assert log.holds(clause("within(100 s) >= 0.9"), 0, None) is True
    assert log.holds(clause("within(100 s) >= 0.9*best"), 1, 0) is False
    assert log.holds(clause("within(100 s) >= 0.7*best"), 1, 0) is True
    assert log.ratio(clause("within(100 s) >= 0.7*best"), 1, 0) == (None, None, None)
    assert log.holds(clause("p99(latency) <= 1.1*best"), 1, 0) is False
    assert log.holds(clause("p99(latency) <= 1.1*best"), 0, 1) is True


def test_other_requests_stand_beside_each_other() -> None:
    """Of the same requests the noise that they share cancels, of others it does not."""
    widths = []
    for same in (b"a log", b"another"):
        log = OfLog(0.95)
        log.add(0, requests(LATENCIES))
        shuffled = LATENCIES if same == b"a log" else np.random.default_rng(5).permutation(LATENCIES)
        log.add(1, requests(shuffled * (1 + 0.01 * NOISE), same))
        ratio, low, high = log.ratio(clause("p50(latency) <= 1.1*best"), 1, 0)
        assert ratio is not None and low is not None and high is not None
        widths.append(high - low)
    assert widths[0] < widths[1] / 5


@pytest.mark.parametrize(
    ("name", "times"),
    [
        ("latency_p90_s", "latency"),
        ("latency_mean_s", "latency"),
        ("within(5 s)", "latency"),
        ("failed_share", "latency"),
        ("first_byte_p50_s", "first_byte"),
        ("visit_first_latency_p50_s", "visit_first_latency"),
        ("visit_first_failed_share", "visit_first_latency"),
        ("goodput_bps", None),
        ("latency_max_s", None),
        ("acked_mean_s", None),
    ],
)
def test_metrics_of_requests_are_known(name: str, times: str | None) -> None:
    assert times_of_metric(find_metric(name)) == times


def runs_of(folder: str) -> dict[str, object]:
    """The value of each run of a search, by the run's name."""
    runs = SweepResults.open(folder).runs
    return dict(zip(runs["run"], runs["path.link.0.down.rate"], strict=True))


def test_few_requests_have_the_exact_test_at_the_confidence_of_the_search(tmp_path: Path) -> None:
    """Of forty 27 are slower by a fifth and 13 faster: by chance in 3.8 % of such searches."""
    runs = {}
    for position, times in enumerate((np.ones(40), np.where(np.arange(40) % 3 < 2, 1.2, 1 / 1.2))):
        rows = [request(number, float(time), 1000) for number, time in enumerate(times)]
        runs[position] = requests(times), write_results(tmp_path / str(position), rows)
    found = []
    for confidence in (0.95, 0.99):
        log = OfLog(confidence)
        for position, each in runs.items():
            log.add(position, *each)
        found.append(log.holds(clause("latency <= 1.05*best"), 1, 0))
    assert found == [False, None]


def test_a_value_that_the_slowest_tenth_makes_worse_says_so(tmp_path: Path) -> None:
    """Nine tenths of the requests are as fast, the slowest a third slower."""
    log, random = OfLog(0.95), np.random.default_rng(3)
    slowest = np.arange(600) % 10 == 0
    base = np.where(slowest, 1.1, 1.0)
    for position, times in enumerate((base, np.where(slowest, 1.33 * base, base * random.normal(1, 0.02, 600)))):
        rows = [request(number, float(time), 1000) for number, time in enumerate(times)]
        log.add(position, requests(times), write_results(tmp_path / str(position), rows))
    target = clause("latency <= 1.05*best")
    assert log.holds(target, 1, 0) is False
    assert log.why(target, 1, 0) == ("slowest 10 % +33.0 %", "is worse for the slowest tenth (+33.0 %)")
    assert log.are_apart(target, 1, 0) and log.why(target, 0, 1) == ("", "")


def test_the_answer_holds_as_its_verdict_does_and_names_the_few_requests_that_hold_most(tmp_path: Path) -> None:
    """Two of 600 requests take hours; of another log each is slower than the one before."""
    few = np.where(np.arange(600) % 300 == 150, 3000.0, 1.0)
    for name, base, other, said in (
        ("few", few, np.where(few > 9, few, 1.1), "2 of 600 requests hold half of the waiting."),
        ("drift", np.ones(600), np.linspace(0.5, 1.5, 600), "less surely than 95 %: its 20 time blocks resemble"),
    ):
        log = OfLog(0.95)
        for position, times in enumerate((base, other)):
            rows = [request(number, float(time), 1000) for number, time in enumerate(times)]
            log.add(position, requests(times), write_results(tmp_path / name / str(position), rows))
        assert log.holds_for(1) == ""
        log.holds(clause("latency <= 1.05*best"), 1, 0)
        assert said in log.holds_for(1)


@pytest.mark.parametrize(("noise", "slope", "least", "most"), [(0.0, 30, 1.02, 1.05), (0.3, 3, 1.05, 2.0)])
def test_a_search_for_the_best_ends_where_more_runs_would_fit_the_log(
    scenario: Scenario, noise: float, slope: float, least: float, most: float
) -> None:
    """Between a rate that fails and one that passes lie 5 %, or a factor of 2 where they tie."""

    def searched(resolution: str | None) -> Answer:
        axis = parse_vary("path.link.0.down.rate=1 Mbit/s..20 Mbit/s", scenario, resolution)
        goal, log = parse_target("p50(latency) <= 1.2*best"), OfLog(0.95)
        search = Search(axis, goal, Limits(), False, log)
        while asked := search.ask():
            for position, replication in asked:
                rate = (axis.choice(position).number or 0) / 1e6
                times = LATENCIES * (1 + slope / rate) * np.random.default_rng(position).lognormal(0, noise, NUMBER)
                search.add(position, replication, {"latency_p50_s": float(np.median(times))})
                log.add(position, requests(times))
        return answer_of(search, axis, goal, Limits(), "log", [])

    found, exact = searched(None), searched("1 %")
    assert found.low is not None and found.answer is not None and exact.low is not None and exact.answer is not None
    ends = [each.number or 0 for each in (found.low, found.answer, exact.low, exact.answer)]
    assert least < ends[1] / ends[0] <= most and found.runs < exact.runs
    assert ends[3] / ends[2] < 1.011


def test_a_mean_load_above_the_rate_fails_a_time(folder: Path) -> None:
    """Sixty requests of 100 kB in a minute are 800 kbit/s, and headers: a queue that grows as long as they last."""
    rows = "".join(f"{n * 60 / 59:.3f},a.example,300,100000\n" for n in range(60))
    (folder / "requests.csv").write_text(f"start_s,host,request_bytes,response_bytes\n{rows}")
    (folder / "log.toml").write_text(SCENARIO)
    base = Scenario.load(folder / "log.toml")
    is_full = [is_overloaded(base.with_({"path.link.0.down.rate": rate})) for rate in ("790 kbit/s", "900 kbit/s")]
    assert is_full == [True, False]
    log = OfLog(0.95)
    judge = Judge(parse_target("p90(latency) <= 100 s and failed_share <= 1"), (5,), 0.95, 9, False, log)
    for position in (0, 1):
        judge.add(position, 0, {"latency_p90_s": 1.0, "failed_share": 0.0})
        log.add(position, requests(LATENCIES))
    judge.overloaded.add(1)
    assert [judge.verdict(position) for position in (0, 1)] == ["meets", "does not meet"]
    time, share = parse_target("p90(latency) <= 100 s and failed_share <= 1").clauses
    assert (judge.why(time, 1), judge.why(share, 1)) == (("load above the rate", ""), ("", ""))


def test_from_end_to_end(farweb: Farweb, folder: Path) -> None:
    """Sixty requests that share a slow link: the first byte of a visit, by the blocks of the log."""
    rows = "".join(f"{n * 0.7:.1f},a.example,300,{2000 + n % 7 * 9000},c{n % 3}\n" for n in range(60))
    (folder / "requests.csv").write_text(f"start_s,host,request_bytes,response_bytes,client\n{rows}")
    (folder / "log.toml").write_text(SCENARIO)
    rates = ("--vary", "path.link.0.down.rate=200 kbit/s..20 Mbit/s", "--resolution", "50 %")
    found = farweb("size", "log.toml", *rates, "--target", "p90(first_byte) <= 1.5*best", "--jobs", "1", "--json")
    assert found.code == 0, found.err
    said = found.json()
    assert (said["interval_of"], said["scope"]) == ("blocks", "for this log")
    assert said["runs"] == len(said["curve"])
    alone = farweb("size", "log.toml", *rates, "--out", "alone", "--json").json()
    assert alone["target"] == "latency <= 1.05*best"
    assert alone["text"].startswith(f"Take {alone['answer']['label']}")
    (base,) = (run for run, at in runs_of("alone").items() if at == alone["best"]["value"])
    for run, at in runs_of("alone").items():
        word = next(each["word"] for each in alone["curve"] if each["value"] == at)
        if run != base:
            compared = farweb("compare", f"alone/parts/run={base}", f"alone/parts/run={run}", "--json").json()
            overall = compared["changes"][0]["judgement"]["overall"]
            assert (word == "worse") == (overall in ("worse", "mixed")), overall
    wide = farweb("size", "log.toml", *rates, "--target", "p90(latency) <= 1.5*best", "--width", "1000 %", "--json")
    assert wide.code == 0 and wide.json()["runs"] <= said["runs"]
    wrong = farweb("size", "log.toml", *rates, "--target", "p90(latency) <= 1.5*best", "--width", "5 ms")
    assert (wrong.code, "--width 5 ms: path.link.0.down.rate is given in bit/s" in wrong.err) == (2, True)
