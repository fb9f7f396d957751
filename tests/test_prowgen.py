"""The family prowgen from end to end: as files, in a run, by parameters from a file."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from farweb import Scenario, ScenarioError
from farweb.inputs.generate import generate, read_parameters
from farweb.inputs.statistics import read_stats
from samples import SCENARIO, Farweb, refused

HOST = {"leg.0.tcp.mss": "host", "leg.0.tcp.buffer": "host", "origin.release": "paced"}
FEW = {"requests": "2000", "hosts": "20", "arrival_rate": "50.0"}
FAMILY = SCENARIO.replace(
    'requests = "requests.csv"',
    'family = "prowgen"\nparameters = { requests = 200, hosts = 20, arrival_rate = 50.0, stack_mode = "static" }',
)


@pytest.fixture
def family(folder: Path) -> Path:
    path = folder / "family.toml"
    path.write_text(FAMILY)
    return path


def test_files_have_exactly_what_was_asked_for(folder: Path) -> None:
    written = generate("prowgen", "trace", parameters=FEW)
    requests, hosts = pl.read_parquet("trace/requests.parquet"), pl.read_parquet("trace/hosts.parquet")
    assert (written.requests, written.hosts, len(requests), len(hosts)) == (2000, 20, 2000, 20)
    assert requests.columns == ["start_s", "host", "request_bytes", "response_bytes", "server_s", "object"]
    assert requests.null_count().sum_horizontal().item() == 0
    counts = requests.group_by("object").agg(
        pl.len().alias("n"), pl.col("response_bytes").n_unique(), pl.col("host").n_unique()
    )
    assert len(counts) == 680, "34 % of the requests"
    assert (counts["n"] == 1).sum() == 489, "72 % of the documents"
    assert counts["response_bytes"].max() == counts["host"].max() == 1, "a document has a size and a host"
    assert requests["start_s"].is_sorted()
    assert read_stats("trace/requests.parquet", hosts="trace/hosts.parquet").objects == 680
    trace = json.loads(pl.read_parquet_metadata("trace/hosts.parquet")["farweb.generate"])
    assert trace == {"family": "prowgen", "seed": 1, "parameters": FEW}


def test_a_seed_gives_the_same_bytes(folder: Path) -> None:
    for name, seed in (("one", 3), ("again", 3), ("other", 4)):
        generate("prowgen", name, seed=seed, parameters=FEW)
    one, again, other = (Path(name, "requests.parquet").read_bytes() for name in ("one", "again", "other"))
    assert one == again != other


def test_a_run_from_the_files_is_the_run_of_the_family(family: Path) -> None:
    parameters = {"requests": "200", "hosts": "20", "arrival_rate": "50.0", "stack_mode": "static"}
    written = generate("prowgen", "trace", seed=5, parameters=parameters)
    keys = 'requests = "trace/requests.parquet"\nhosts = "trace/hosts.parquet"\n'
    Path("files.toml").write_text(FAMILY[: FAMILY.index("family =")] + keys)
    changes: dict[str, Any] = {**HOST, "workload.load": 2}
    runs = [Scenario.load(file, changes).run(5, name) for file, name in ((family, "one"), ("files.toml", "other"))]
    assert runs[0].requests.equals(runs[1].requests)
    assert len(runs[0].requests) == 2 * written.requests


def test_within_a_period_copies_are_turned_round(family: Path) -> None:
    run = Scenario.load(family, {"workload.period": "600 s", "workload.load": 2}).run(1, "out")
    assert len(run.requests) == 400
    assert (run.requests["start_ns"] < 600 * 10**9).all()


def test_parameters_from_a_file(folder: Path, farweb: Farweb) -> None:
    Path("p.toml").write_text('requests = 500\ntail_from = "20 kB"\ncorrelation = "positive"\n')
    assert read_parameters("p.toml") == {"requests": "500", "tail_from": "20 kB", "correlation": "positive"}
    arguments = ("workload", "generate", "prowgen", "--parameters", "p.toml", "--set", "requests=300", "--out", "trace")
    answer = farweb(*arguments, "--json").json()
    assert answer["requests"] == 300, "--set goes first"
    assert answer["trace"]["parameters"]["correlation"] == "positive"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("requests = ", "p.toml: is not TOML"),
        ("requests = [1]", "p.toml: requests: found [1]; write a number, text, true or false"),
        ("requests = true", "workload.parameters.requests: found true; write a whole number"),
        ("reqests = 1", "reqests: unknown key"),
    ],
)
def test_wrong_files_of_parameters(folder: Path, farweb: Farweb, text: str, message: str) -> None:
    Path("p.toml").write_text(text)
    refused(farweb, "workload", "generate", "prowgen", "--parameters", "p.toml", "--out", "trace", says=message)
    with pytest.raises(ScenarioError, match=r"q\.toml: no such file"):
        read_parameters("q.toml")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"requests": "0"}, "`requests` must be 1 to 1000000000"),
        ({"distinct_share": "0.9"}, "`distinct_share` must be smaller, or `onetimer_share` larger"),
        ({"stack_mode": "dynamc"}, 'found "dynamc"; it is one of "static", "dynamic" (did you mean dynamic?)'),
        ({"correlation": "1"}, 'correlation: found the number 1; write one of "negative", "none", "positive"'),
        ({"us_rate": "64 kbit/s"}, "us_rate: unknown key; the keys here are requests"),
        ({"zipf_slop": "0.8"}, "(did you mean zipf_slope?)"),
        ({"tail_from": "10000"}, "tail_from: found 10000 without a unit"),
    ],
)
def test_wrong_parameters(folder: Path, changes: dict[str, str], message: str) -> None:
    with pytest.raises(ScenarioError) as error:
        generate("prowgen", "trace", parameters=changes)
    assert message in str(error.value)
    assert list(folder.iterdir()) == []


def test_days_belong_to_the_other_family(folder: Path, farweb: Farweb) -> None:
    days = ("--days", 2, "--set", "requests=100")
    refused(farweb, "workload", "generate", "prowgen", *days, says="only traces of the family nzix have days")
