"""The family nzix from end to end: in a run, as files, in a sweep."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from farweb import FarwebError, Scenario, ScenarioError, WorkloadError, _core
from farweb.inputs.generate import generate
from farweb.inputs.statistics import read_stats
from farweb.library.run_results import Results
from samples import SCENARIO, Farweb, refused

pytestmark = pytest.mark.usefixtures("warm_workers", "unpainted")

FAMILY = SCENARIO.replace('requests = "requests.csv"', 'family = "nzix"\ndays = 2\nparameters = { day_requests = 40 }')
HOST = {"leg.0.tcp.mss": "host", "leg.0.tcp.buffer": "host", "origin.release": "paced"}


@pytest.fixture
def family(folder: Path) -> Path:
    """A scenario of the family: two days of 40 requests on average."""
    path = folder / "family.toml"
    path.write_text(FAMILY)
    return path


def starts(results: Results, tag: bool | None = None) -> list[int]:
    wanted = {None: pl.lit(True), True: pl.col("tag") == "sample", False: pl.col("tag").is_null()}[tag]
    return sorted(results.requests.filter(wanted)["start_ns"].to_list())


def test_a_run_from_the_files_is_the_run_of_the_family(family: Path) -> None:
    written = generate("nzix", "trace", seed=5, days=2, parameters={"day_requests": "40"})
    tables = {"requests": "trace/requests.parquet", "hosts": "trace/hosts.parquet", "period": "600 s"}
    from_files = FAMILY.replace(
        FAMILY[FAMILY.index("family =") :], "\n".join(f'{k} = "{v}"' for k, v in tables.items())
    )
    Path("files.toml").write_text(from_files)
    for load, hosts in ((1, "same"), (2, "same"), (5, "renamed")):
        changes: dict[str, Any] = {**HOST, "workload.load": load, "workload.copies_hosts": hosts}
        runs = [Scenario.load(file, changes).run(5, name) for file, name in ((family, "one"), ("files.toml", "other"))]
        assert runs[0].requests.equals(runs[1].requests)
        assert runs[0].connections.equals(runs[1].connections)
        assert runs[0].manifest["measured"] == runs[1].manifest["measured"]
    assert runs[0].manifest["inputs"] == {}
    assert runs[1].manifest["inputs"]["requests"]["rows"] == written.requests
    assert Scenario.load(family).run(6, "third").requests.shape != runs[0].requests.shape


@pytest.mark.parametrize("name", ["nzix", "prowgen"])
def test_clients_are_written_where_there_are_some(folder: Path, name: str) -> None:
    size = {"day_requests": "200"} if name == "nzix" else {"requests": "2000"}
    generate(name, "bare", parameters=size)
    generate(name, "with", parameters={**size, "clients": "30"})
    bare, peopled = (pl.read_parquet(f"{folder}/requests.parquet") for folder in ("bare", "with"))
    assert "client" not in bare.columns
    assert peopled.drop("client").equals(bare)
    assert peopled["client"].null_count() == 0 and peopled["client"].n_unique() <= 30
    clients = read_stats("with/requests.parquet").clients
    assert clients is not None and clients.count == peopled["client"].n_unique()


def test_a_text_table_with_days_is_the_same_too(family: Path) -> None:
    generate("nzix", "trace", seed=5, days=2, parameters={"day_requests": "40"})
    pl.read_parquet("trace/requests.parquet").write_csv("requests.csv")
    Path("text.toml").write_text(SCENARIO)
    of_text = Scenario.load("text.toml", {"workload.load": 3, "workload.period": "600 s"}).run(5, "text")
    of_family = Scenario.load(family, {"origin.release": "at-once", "workload.load": 3}).run(5, "family")
    assert of_text.requests.equals(of_family.requests)
    assert of_text.manifest["inputs"]["requests"]["rows"] == len(pl.read_csv("requests.csv"))


def test_the_files_hold_what_the_core_generates(folder: Path) -> None:
    written = generate("nzix", "trace")
    requests, hosts = pl.read_parquet("trace/requests.parquet"), pl.read_parquet("trace/hosts.parquet")
    assert (len(requests), len(hosts)) == (written.requests, written.hosts) == (12_602, 1366)
    assert requests["start_s"].is_sorted()
    assert sorted(requests["day"].unique()) == list(range(1, 32))
    assert set(requests.filter(pl.col("tag") == "sample")["day"]) == {1}
    assert set(requests["host"]) == set(hosts["host"])
    assert json.loads(pl.read_parquet_metadata("trace/hosts.parquet")["farweb.generate"])["family"] == "nzix"
    again = generate("nzix", "again")
    assert {**again.to_dict(), "out": ""} == {**written.to_dict(), "out": ""}
    for name in ("requests.parquet", "hosts.parquet"):
        assert Path("trace", name).read_bytes() == Path("again", name).read_bytes()


def test_days_first_then_copies_turned_round(family: Path) -> None:
    alone = [
        starts(Scenario.load(family, {"workload.load": load}).run(5, f"load-{load}")) for load in (1, 2)
    ]  # day 1, both days
    four = Scenario.load(family, {"workload.load": 4}).run(5, "load-4")
    moved = [(start + 37 * 10**9) % (600 * 10**9) for start in alone[1]]
    assert starts(four) == sorted([*alone[1], *moved])
    assert starts(four, tag=True) == alone[0], "the sample of every load"
    longer = Scenario.load(family, {"workload.load": 4, "workload.period": "3000 s"}).run(5, "longer")
    assert starts(longer) == sorted([*alone[1], *(start + 37 * 10**9 for start in alone[1])])


def test_renamed_copies_have_hosts_of_their_own(family: Path) -> None:
    def hosts(which: str) -> set[str]:
        run = Scenario.load(family, {"workload.load": 6, "workload.copies_hosts": which}).run(5, which)
        return set(run.requests["host"])

    same, renamed = hosts("same"), hosts("renamed")
    assert renamed == same | {f"{host}~{copy}" for host in same for copy in (1, 2)}


def test_a_sweep_needs_no_files(family: Path, farweb: Farweb) -> None:
    factors = '\n[sweep]\nreplications = 2\nfactors = { "workload.load" = [1, 3] }\n'
    family.write_text(FAMILY + factors)
    assert farweb("sweep", family, "--out", "sweep", "--jobs", 1, "--quiet").code == 0
    shown = farweb("show", "sweep", "--json").json()["sweep"]
    assert (shown["points"], shown["runs"]["done"], shown["complete"]) == (2, 4, True)
    assert farweb("report", "sweep", "--quiet").code == 0
    assert "Requests are those of the family nzix" in Path("sweep/report.html").read_text()


@pytest.mark.parametrize(("keys", "days"), [("days = 2\n", 2), ("", 31)])
def test_a_report_of_a_run(family: Path, farweb: Farweb, keys: str, days: int) -> None:
    family.write_text(FAMILY.replace("days = 2\n", keys))
    Scenario.load(family, HOST).run(1, "one")
    assert farweb("report", "one", "--quiet").code == 0
    assert f"as many of its {days} days at the same time" in Path("one/report.html").read_text()


def test_check_knows_the_hosts_of_the_seed(family: Path) -> None:
    scenario = Scenario.load(family, HOST)
    assert scenario.inputs() == {}
    checks = [scenario.with_({"run.seed": seed}).check() for seed in (1, 1, 2)]
    legs = [check.figures["legs"][0]["hosts"] for check in checks]
    assert legs[0] == legs[1] != legs[2]
    assert not [warning for warning in checks[0].warnings if "host" in warning]


def test_stats_tell_the_self_correlation(folder: Path) -> None:
    generate("nzix", "trace")
    found = read_stats("trace/requests.parquet").self_correlation
    assert found is not None
    assert (found.copies, found.period_s, found.offset_s) == (20, 600, 37)
    assert [lag for lag, _ in found.lags[:3]] == [37, 74, 111]
    assert found.lags[16 - 1][0] == 592
    assert 0 < found.best_largest <= found.largest < 0.2, "37 s is good enough"


def test_the_command(folder: Path, farweb: Farweb) -> None:
    arguments = ("workload", "generate", "nzix", "--days", 2, "--set", "us_rate=30 kbit/s")
    answer = farweb(*arguments, "--json").json()
    assert answer["trace"] == {"family": "nzix", "seed": 1, "days": 2, "parameters": {"us_rate": "30 kbit/s"}}
    slow = pl.read_parquet("nzix/requests.parquet")
    again = ("workload", "generate", "nzix", "--days", 2, "--out", "nzix")
    assert "--force replaces it" in farweb(*again).err
    assert pl.read_parquet("nzix/requests.parquet").equals(slow)
    assert farweb(*again, "--force").code == 0, "an older trace is replaced"
    usual = pl.read_parquet("nzix/requests.parquet")
    assert slow["server_s"].sum() > usual["server_s"].sum()
    assert farweb("workload", "stats", "nzix/requests.parquet", "--hosts", "nzix/hosts.parquet").code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nzx",), 'workload.family: found "nzx"; it is one of "nzix", "prowgen" (did you mean nzix?)'),
        (("nzix", "--set", "us_rat=1 kbit/s"), "us_rat: unknown key (did you mean us_rate?)"),
        (("nzix", "--set", "tail_share=1.5"), "`tail_share` must be 0 to 1"),
        (("nzix", "--set", "us_rate"), "write KEY=VALUE"),
        (("nzix", "--days", 0), "--days"),
        (("nzix", "--seed", -1), "--seed"),
    ],
)
def test_wrong_arguments(folder: Path, farweb: Farweb, arguments: Any, message: str) -> None:
    refused(farweb, "workload", "generate", *arguments, "--out", "trace", says=message)


def test_what_is_no_trace_is_left_alone(folder: Path) -> None:
    Path("notes").mkdir()
    Path("notes/mine.txt").write_text("mine")
    with pytest.raises(FarwebError, match=r"notes: has files that are not a trace, such as mine\.txt"):
        generate("nzix", "notes", days=1)
    Path("file").write_text("")
    with pytest.raises(FarwebError, match="file: is a file"):
        generate("nzix", "file", days=1)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"workload.requests": "r.csv"}, "workload.family: stands beside requests; write one of the two"),
        ({"workload.hosts": "h.csv"}, "workload.hosts: a family has hosts of its own"),
        ({"workload.period": "599 s"}, "found 599 s; a trace of the family is 600 s long"),
        ({"workload.period": "0 s"}, "workload.period: found 0 s"),
        ({"workload.days": 0}, "workload.days: found 0; it is 1 to 3660"),
        ({"workload.copies_hosts": "renmed"}, 'found "renmed"; it is one of "same", "renamed" (did you mean renamed?)'),
        ({"workload.parameters.us_loss": 2}, "workload.parameters.us_loss: `us_loss` must be 0 to 1"),
    ],
)
def test_wrong_scenarios(family: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ScenarioError) as error:
        Scenario.load(family, changes)
    assert message in str(error.value)


def test_keys_of_a_family_beside_a_table(folder: Path) -> None:
    Path("s.toml").write_text(SCENARIO + "days = 3\nparameters = { us_loss = 0.0 }\n")
    with pytest.raises(
        ScenarioError, match=r"workload\.days: belongs to a family.*\n.*workload\.parameters: belongs to a"
    ):
        Scenario.load("s.toml")
    Path("s.toml").write_text(SCENARIO.replace('requests = "requests.csv"', ""))
    with pytest.raises(ScenarioError, match=r"workload\.requests: missing, and there is no family"):
        Scenario.load("s.toml")


def test_a_request_after_the_period(cable: Path) -> None:
    with pytest.raises(WorkloadError, match=r"workload\.period: found 15 s, but a request starts 20 s after"):
        Scenario.load(cable, {"workload.period": "15 s"}).run(1, "out")
    assert not Path("out").exists()
    run = Scenario.load(cable, {"workload.period": "25 s", "workload.load": 2}).run(1, "out")
    assert starts(run) == [0, 7 * 10**9, 10 * 10**9, 12 * 10**9, 20 * 10**9, 22 * 10**9]


def test_a_table_has_no_family(cable: Path) -> None:
    core = Scenario.load(cable).core
    with pytest.raises(WorkloadError, match=r"no workload\.family"):
        _core.Prepared.of_family(core, 1)
