"""Fitting ProWGen: estimators against closed forms, round trips, readers, the command."""

import json
import math
import struct
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

from farweb import _core
from farweb.inputs.fit import estimates, fit, write_parameters
from farweb.inputs.fit.drawing import describe
from farweb.inputs.generate import generate, read_parameters
from samples import Farweb

DATA = Path(__file__).parents[2] / "shared" / "data"


def test_the_slope_of_exact_zipf_is_exact() -> None:
    found = estimates.zipf(1e6 * np.arange(1.0, 5001.0) ** -0.8)
    assert found is not None
    assert found.slope == pytest.approx(0.8, abs=1e-9)
    assert found.r2 == pytest.approx(1)
    assert found.error < 1e-9
    assert estimates.zipf(np.ones(1000)) is None, "nothing is asked for twice"


def test_rounded_requests_move_the_slope_little() -> None:
    found = estimates.zipf(np.floor(1e5 * np.arange(1, 100_001) ** -0.8))
    assert found is not None
    assert found.slope == pytest.approx(0.8, abs=0.01)
    assert found.least_requests == 10


def test_the_tail_is_found_where_it_starts() -> None:
    random = np.random.default_rng(1)
    body = random.uniform(100, 10_000, 30_000)
    tail = 10_000 * random.uniform(size=10_000) ** (-1 / 1.3)
    sizes = np.sort(np.concatenate((body, tail)))
    found = estimates.tail(sizes)
    assert found is not None
    assert found.start == pytest.approx(10_000, rel=0.1)
    assert abs(found.shape - 1.3) < 4 * found.error
    given = estimates.tail(sizes, 10_000)
    assert given is not None
    assert (given.share, given.n, given.given) == (0.25, 10_000, True)
    assert given.error == pytest.approx(given.shape / 100)
    assert given.ks < 1.63 / 100, "the distance of 1 in 100 samples of the true distribution"


def test_without_a_tail_there_is_none() -> None:
    assert estimates.tail(np.full(1000, 500.0)) is None
    assert estimates.tail(np.arange(1.0, 60.0)) is None, "too few"
    assert estimates.tail(np.array([])) is None


def test_the_body_is_found_below_its_end() -> None:
    random = np.random.default_rng(2)
    sizes = np.exp(8.2317 + 1.1153 * random.standard_normal(40_000))
    found = estimates.body(np.sort(sizes), 10_000)
    assert found is not None
    assert found.mu_error is not None
    assert found.sigma_error is not None
    assert abs(found.mu - 8.2317) < 4 * found.mu_error
    assert abs(found.sigma - 1.1153) < 4 * found.sigma_error
    assert found.mean == pytest.approx(7000, rel=0.1)
    assert found.n == int((sizes < 10_000).sum())
    assert found.ks < 0.01
    whole = estimates.body(np.sort(sizes), math.inf)
    assert whole is not None
    assert whole.mu == pytest.approx(np.log(sizes).mean())
    assert whole.sigma == pytest.approx(np.log(sizes).std())
    # Closed form: σ / √n and σ / √(2n).
    assert whole.mu_error == pytest.approx(whole.sigma / 200, rel=1e-3)
    assert whole.sigma_error == pytest.approx(whole.sigma / 200 / math.sqrt(2), rel=1e-3)


def test_a_body_that_lies_above_its_end_is_bounded() -> None:
    found = estimates.body(np.sort(1000 * np.random.default_rng(3).uniform(size=5000) ** 0.5), 1000)
    assert found is not None
    assert (found.bounded, found.mu_error, found.sigma_error) == (True, None, None)
    below = NormalDist(found.mu, found.sigma).cdf(math.log(1000))
    assert below == pytest.approx(0.02)
    assert found.ks < 0.06, "as near as a distribution with so little below comes"
    assert estimates.body(np.full(10, 7.0), math.inf) is None


def test_distances() -> None:
    values = np.array([1.0, 1, 2, 4])
    # Against a uniform distribution on 0 to 4: before 4 there are 3 of 4, and it has all.
    assert estimates.distance(values / 4) == pytest.approx(0.25)
    assert estimates.distance(np.array([1.0, 1])) == pytest.approx(1.0), "from below too"
    assert estimates.histogram_distance(np.array([1, 1]), np.array([0, 0, 1])) == 1
    assert estimates.sample_distance(np.array([1.0, 2, 3, 4]), np.array([3.0, 4])) == pytest.approx(0.5)


def test_correlation_is_spearmans() -> None:
    scipy = pytest.importorskip("scipy.stats")
    random = np.random.default_rng(4)
    popularity = random.geometric(0.7, 2000).astype(float)  # many ties
    sizes = random.uniform(size=2000) + 0.05 * popularity
    found = estimates.correlation(popularity, sizes)
    reference = scipy.spearmanr(popularity, sizes)
    assert found is not None
    assert found.rho == pytest.approx(reference.statistic)
    assert found.p == pytest.approx(reference.pvalue, rel=0.05)
    assert estimates.correlation(np.ones(10), np.arange(10.0)) is None


ROUND_TRIPS: list[dict[str, str]] = [
    {},
    {"zipf_slope": "0.7", "onetimer_share": "0.5", "distinct_share": "0.2", "stack_mode": "static"},
    {"zipf_slope": "0.95", "tail_shape": "1.1", "tail_share": "0.3", "body_mean": "4000 B", "body_deviation": "5000 B"},
    {"correlation": "negative", "stack_size": "100"},
    {"correlation": "positive", "arrivals": "constant", "arrival_rate": "40.0"},
]


@pytest.mark.parametrize("changes", ROUND_TRIPS)
def test_a_workload_of_the_model_has_its_parameters(folder: Path, changes: dict[str, str]) -> None:
    """Shares are exact; slope within 0.03, index within 0.06; moments of the body within 10 %; the same stack."""
    wanted: dict[str, Any] = {
        "distinct_share": 0.34,
        "onetimer_share": 0.72,
        "zipf_slope": 0.807,
        "tail_shape": 1.322,
        "tail_share": 0.22,
        "arrival_rate": 10.0,
    }
    wanted |= {name: float(changes[name]) for name in wanted if name in changes}
    words = {"correlation": "none", "stack_mode": "dynamic", "stack_size": "1000"}
    words |= {name: changes[name] for name in words if name in changes}
    generate("prowgen", "trace", seed=11, parameters={"requests": "100000", **changes})
    found = fit("trace/requests.parquet", tail_from=10_000)
    parameters = found.parameters
    assert parameters["requests"] == 100_000
    for name in ("distinct_share", "onetimer_share", "tail_share"):
        assert parameters[name] == pytest.approx(wanted[name], abs=1e-4), name
    assert parameters["zipf_slope"] == pytest.approx(wanted["zipf_slope"], abs=0.03)
    assert parameters["tail_shape"] == pytest.approx(wanted["tail_shape"], abs=0.06)
    assert parameters["arrival_rate"] == pytest.approx(wanted["arrival_rate"], rel=0.02)
    for name, default in (("body_mean", "7000 B"), ("body_deviation", "11000 B")):
        value, _, _ = str(parameters[name]).partition(" ")
        assert float(value) == pytest.approx(float(changes.get(name, default).split()[0]), rel=0.1), name
    assert {name: str(parameters[name]) for name in words} == words
    assert found.locality is not None
    assert found.locality.ks < 0.03
    assert found.sizes_ks is not None
    assert found.sizes_ks < 0.02
    assert found.popularity.model_ks < 0.03
    assert not found.not_estimated


def test_the_tail_of_a_workload_is_found(folder: Path) -> None:
    generate("prowgen", "trace", seed=12, parameters={"requests": "100000"})
    found = fit("trace/requests.parquet")
    assert found.tail is not None
    assert found.tail.start == pytest.approx(10_000, rel=0.15)
    assert abs(found.tail.shape - 1.322) < 4 * found.tail.error


def test_written_parameters_make_a_workload_like_it(folder: Path) -> None:
    generate("prowgen", "trace", seed=1, parameters={"requests": "20000", "onetimer_share": "0.6"})
    found = fit("trace/requests.parquet")
    write_parameters(found, Path("fitted.toml"))
    read = read_parameters("fitted.toml")
    assert read == {name: str(value) for name, value in found.parameters.items()}
    generate("prowgen", "again", seed=2, parameters=read)
    again = fit("again/requests.parquet")
    assert (again.requests, again.popularity.documents) == (20_000, found.popularity.documents)
    assert again.popularity.onetimers == found.popularity.onetimers


@pytest.mark.skipif(not DATA.is_dir(), reason="needs the public logs beside the clone")
def test_a_proxy_of_boston_university() -> None:
    found = fit(DATA / "cache/bu98-adaptsize-request.trace.xz")
    assert (found.requests, found.popularity.documents, found.arrival_rate) == (66_987, 36_815, None)
    assert found.sizes_ks is not None
    assert found.sizes_ks < 0.03
    assert "arrival_rate" in found.not_estimated


@pytest.mark.skipif(not DATA.is_dir(), reason="needs the public logs beside the clone")
def test_what_logs_have_is_told() -> None:
    nasa = fit(DATA / "clf/nasa_19950801.tsv.gz", format="clf")
    assert nasa.requests + sum(nasa.left_out.values()) == 30_969
    assert nasa.left_out == {"dynamic-page": 398, "not-successful": 221}
    assert nasa.unsized_requests == 2660, "304s, redirections and HEAD"
    shop = fit(DATA / "cache/cache2k-web12.trace.xz", format="cache2k")
    assert (shop.tail, shop.body, shop.sizes_ks, shop.sized_documents) == (None, None, None, 0)
    assert shop.not_estimated["tail_shape"] == "no sizes are known"
    blocks = fit(DATA / "cache/cloudPhysicsIO.oracleGeneral.bin.xz")
    assert (blocks.requests, blocks.popularity.documents) == (113_872, 48_974)
    assert blocks.tail is None


def test_references_count_in_any_batches() -> None:
    objects = np.random.default_rng(5).integers(0, 500, 10_000).astype(np.uint64)
    sizes = np.full(10_000, 7, np.int64)
    one, many = _core.References(), _core.References()
    one.add(objects, sizes)
    for part in np.array_split(objects, 7):
        many.add(part, sizes[: len(part)])
    assert one.distances().tolist() == many.distances().tolist()
    assert one.counts().sum() == 10_000
    assert one.distances().sum() == 10_000 - len(one.counts())


def test_the_command(folder: Path, farweb: Farweb) -> None:
    generate("prowgen", "trace", parameters={"requests": "5000"})
    answer = farweb("workload", "fit", "trace/requests.parquet", "-o", "fit.html", "--out", "fitted.toml")
    assert answer.code == 0
    for words in ("Zipf slope", "one-timers of the documents", "tail index", "LRU stack", "stack_mode"):
        assert words in answer.out
    assert "wrote fitted.toml" in answer.err
    assert Path("fit.html").stat().st_size > 10_000
    found = farweb("workload", "fit", "trace/requests.parquet", "--json", "--tail-from", 10_000).json()
    assert (found["requests"], found["tail"]["given"], found["popularity"]["documents"]) == (5000, True, 1700)
    assert json.loads(json.dumps(found)) == found
    assert farweb("workload", "fit", "trace/requests.parquet", "-o", "fit.gif").code == 2


def test_figures_without_sizes_or_repetitions(folder: Path, farweb: Farweb) -> None:
    Path("ids").write_bytes(struct.pack(">6I", 1, 2, 1, 3, 2, 1))
    assert farweb("workload", "fit", "ids", "--format", "cache2k", "-o", "ids.svg").code == 0
    ids = describe(fit("ids", format="cache2k"))
    assert [panel.title for panel in ids.panels] == ["Popularity", "Stack distances"]
    assert "The data have no sizes." in ids.caption
    data, _ = ids.panels[1].series
    # The distances are 1, 2 and 2.
    assert (data.x.tolist(), data.y.tolist()) == ([1, 2, 3], [0, pytest.approx(100 / 3), 100])
    Path("once").write_text("1 1 10\n2 2 20\n3 3 30\n")
    answer = farweb("workload", "fit", "once", "-o", "once.svg")
    assert answer.code == 0
    assert "no document was asked for twice" in answer.out
    assert [panel.title for panel in describe(fit("once")).panels] == ["Popularity", "Sizes"]
