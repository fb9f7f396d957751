"""`farweb sweep` from end to end: its results, recovery, exit codes."""

import json
import logging
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import psutil
import pyarrow.parquet as pq
import pytest

from farweb import Results
from farweb.library.sweep_results import SweepResults
from samples import Farweb
from sweeps import FARWEB, PATIENCE_S, RUNS, content, ended, parts, started, wait_until, write_scenario


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a sweep that nothing has happened to; its scenario lies beside it."""
    folder = tmp_path_factory.mktemp("undisturbed")
    write_scenario(folder)
    swept = ended("sweep", folder / "s.toml", "--jobs", 2, "--out", folder / "out", "--json")
    assert swept.returncode == 0, swept.stderr
    assert swept.stderr == ""
    assert json.loads(swept.stdout)["runs"] == RUNS
    return folder / "out"


@pytest.fixture
def scenario(undisturbed: Path) -> Path:
    return undisturbed.parent / "s.toml"


def workers_of(process: subprocess.Popen[str]) -> list[psutil.Process]:
    children = psutil.Process(process.pid).children(recursive=True)
    return [child for child in children if "popen_loky" in " ".join(child.cmdline())]


def test_a_part_holds_what_a_single_run_results_in(undisturbed: Path, scenario: Path, folder: Path) -> None:
    sweep = SweepResults.open(undisturbed)
    assert sweep.complete
    assert sweep.runs["status"].to_list() == ["done"] * RUNS
    assert sweep.runs["replication"].to_list() == [0, 1, 2] * 4
    assert sweep.runs["seed"].to_list() == [1, 2, 3] * 4
    row = sweep.runs.row(7, named=True)
    assert (row["leg.0.tcp.buffer"], row["path.link.0.down.delay"]) == ("32767 B", "20 ms")
    levels = ("--set", 'leg.0.tcp.buffer="32767 B"', "--set", 'path.link.0.down.delay="20 ms"')
    single = ended("run", scenario, *levels, "--seed", 2, "--out", "single", "--quiet")
    assert single.returncode == 0, single.stderr
    part = undisturbed / "parts" / f"run={row['run']}"
    for table in ("requests", "connections"):
        assert (part / f"{table}.parquet").read_bytes() == Path("single", f"{table}.parquet").read_bytes()
    manifest, alone = Results.open(part).manifest, Results.open("single").manifest
    assert (manifest["run"], manifest["point"], manifest["replication"]) == (row["run"], 2, 1)
    own = {"wall_s", "cpu_s", "sha256", "run", "point", "replication", "metrics"}
    del alone["scenario"]["sweep"]
    assert {key: manifest[key] for key in manifest if key not in own} == {
        key: alone[key] for key in alone if key not in {"wall_s", "cpu_s", "sha256"}
    }


def test_what_the_tables_say_is_what_the_parts_say(undisturbed: Path) -> None:
    runs = pq.read_table(undisturbed / "runs.parquet").to_pylist()
    timings = pq.read_table(undisturbed / "timings.parquet").to_pylist()
    assert [row["run"] for row in timings] == [row["run"] for row in runs]
    assert {f"run={row['run']}" for row in runs} == parts(undisturbed)
    for row, cost in zip(runs, timings, strict=True):
        part = json.loads((undisturbed / "parts" / f"run={row['run']}" / "manifest.json").read_text("utf-8"))
        assert {name: row[name] for name in part["metrics"]} == part["metrics"]
        assert (cost["events"], cost["packet_hops"]) == (part["events"], part["packet_hops"])
        assert cost["wall_s"] >= part["wall_s"] > 0
    assert 1 <= len({cost["worker"] for cost in timings}) <= 2


@pytest.mark.slow(reason="kills")
def test_a_client_that_is_killed_again_and_again_loses_nothing(undisturbed: Path, scenario: Path, folder: Path) -> None:
    out = folder / "out"
    for moment in (1, RUNS - 2):
        with started("sweep", scenario, "--jobs", 2, "--out", out, "--quiet") as client:
            wait_until(lambda: (out / "manifest.json").exists() and len(parts(out)) >= moment)  # noqa: B023
            workers = workers_of(client)
            os.kill(client.pid, signal.SIGKILL)
            client.wait()
            psutil.wait_procs(workers, timeout=10)
            assert not any(worker.is_running() for worker in workers), "workers end with their client"
        assert moment <= len(parts(out))
        assert not json.loads((out / "manifest.json").read_text("utf-8"))["complete"]
    before = {part: (out / "parts" / part).stat().st_ino for part in parts(out)}
    swept = ended("sweep", scenario, "--jobs", 2, "--out", out, "--quiet")
    assert swept.returncode == 0, swept.stderr
    assert content(out) == content(undisturbed)
    assert {part: (out / "parts" / part).stat().st_ino for part in before} == before, (
        "what was finished is not done again"
    )


def test_workers_that_are_killed_lose_nothing(undisturbed: Path, scenario: Path, folder: Path) -> None:
    out = folder / "out"
    with started("sweep", scenario, "--jobs", 2, "--out", out, "--quiet") as client:
        for moment in (1, 6):
            wait_until(lambda: len(parts(out)) >= moment)  # noqa: B023
            os.kill(workers_of(client)[0].pid, signal.SIGKILL)
        _, err = client.communicate(timeout=60)
    assert (client.returncode, err) == (0, "")
    assert content(out) == content(undisturbed)


def test_an_interrupted_sweep_says_how_to_go_on(scenario: Path, folder: Path) -> None:
    out = folder / "out"
    many = ("--set", "sweep.replications=500")  # far more than can end before the signal comes, on a busy machine too
    with started("sweep", scenario, *many, "--jobs", 2, "--out", out) as client:
        wait_until(lambda: len(parts(out)) >= 1)
        os.killpg(client.pid, signal.SIGINT)  # as a terminal does: the workers get it too
        printed, err = client.communicate(timeout=30)
    assert client.returncode == 130, err
    kept = f"Finished runs are kept in {out}; the same command continues from there."
    assert " ".join(err.split()) == f"{kept} farweb: interrupted"
    assert printed == ""
    assert {path.name for path in out.iterdir()} == {"inputs", "manifest.json", "parts", "plan.parquet"}
    assert {path.name for path in (out / "parts").iterdir()} == parts(out), "no half-written part"


@pytest.fixture
def cluster(folder: Path) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """A scheduler and two workers in processes of their own: the address, and the scheduler."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"tcp://127.0.0.1:{port}"
    dask = (sys.executable, "-m", "dask")
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    scheduler = (*dask, "scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard")
    worker = (*dask, "worker", address, "--nthreads", "1", "--no-nanny", "--no-dashboard", "--local-directory", "work")
    with ExitStack() as stack:
        processes = []
        for command in (scheduler, worker, worker):
            process = stack.enter_context(subprocess.Popen(command, **quiet))  # type: ignore[call-overload]
            stack.callback(process.kill)
            processes.append(process)
        yield address, processes[0]


@pytest.mark.slow(reason="cluster")
def test_a_cluster_over_tcp_gives_the_same_bytes(
    undisturbed: Path, scenario: Path, folder: Path, cluster: tuple[str, subprocess.Popen[bytes]]
) -> None:
    address, scheduler = cluster
    wait_until(lambda: psutil.Process(scheduler.pid).net_connections() != [])
    swept = ended("sweep", scenario, "--scheduler", address, "--out", "out", "--quiet")
    assert (swept.returncode, swept.stderr) == (0, "")
    assert content(folder / "out") == content(undisturbed)
    with started("sweep", scenario, "--scheduler", address, "--out", "lost", "--set", "run.seed=100") as client:
        wait_until(lambda: len(parts(folder / "lost")) >= 1)
        scheduler.kill()
        _, err = client.communicate(timeout=60)
    assert client.returncode == 3
    assert err == (
        f"farweb: the Dask scheduler {address} has gone; what is finished stays in lost, and the same command goes on "
        "from there\n"
    ), "and nothing of Dask's"
    assert 1 <= len(parts(folder / "lost")) < RUNS


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("tcp://127.0.0.1:1", "no Dask scheduler answers at tcp://127.0.0.1:1: "),
        ("tls://127.0.0.1:1", "tls://127.0.0.1:1: needs certificates, which Dask's configuration does not name "),
        ("scheduler.json", "scheduler.json: no such file; name a scheduler's address"),
    ],
)
def test_without_a_scheduler_it_says_so(
    farweb: Farweb, cable: Path, monkeypatch: pytest.MonkeyPatch, address: str, message: str
) -> None:
    monkeypatch.setattr("farweb.sweep.workers._CONNECT_S", 0.2)
    cable.write_text(cable.read_text() + "[sweep]\nreplications = 2\n")
    swept = farweb("sweep", cable, "--scheduler", address, "--out", "out")
    assert swept.code == 3
    assert swept.err.startswith(f"farweb: {message}"), swept.err
    assert swept.err.count("\n") == 1
    again = farweb("sweep", cable, "--scheduler", address, "--jobs", 2)
    assert (again.code, "--jobs is for this machine" in again.err) == (2, True)


ZERO = "start_s,host,request_bytes,response_bytes\n0,a.example,0,1000\n"


@pytest.mark.usefixtures("warm_workers")
def test_a_run_that_fails_is_recorded_and_the_others_go_on(cable: Path, folder: Path, farweb: Farweb) -> None:
    (folder / "zero.csv").write_text(ZERO)  # a table that is right, and no use for this carrier
    cable.write_text(
        cable.read_text()
        + '[sweep]\nreplications = 2\n[sweep.factors]\n"workload.requests" = ["zero.csv", "requests.csv"]\n'
    )
    swept = farweb("sweep", cable, "--jobs", 1, "--retries", 2, "--quiet")
    assert swept.code == 3
    sweep = SweepResults.open("results/cable")
    assert sweep.complete
    assert sweep.runs["status"].to_list() == ["failed", "failed", "done", "done"]
    assert sweep.runs["requests"].to_list() == [None, None, 3, 3]
    error = sweep.runs["error"][0]
    assert error.startswith("request table: column request_bytes: found 0 for the request at 0.000000000 s"), error
    assert swept.err == (
        f"farweb: 2 of 4 runs failed, the first with: {error} (results/cable/failures describes each; the same command "
        "tries them again)\n"
    )
    failures = [json.loads(path.read_text("utf-8")) for path in Path("results/cable/failures").iterdir()]
    assert sorted((failure["replication"], failure["attempts"]) for failure in failures) == [(0, 3), (1, 3)]
    assert {failure["error"] for failure in failures} == {error}
    assert {failure["run"] for failure in failures} == set(sweep.runs["run"][:2])
    (folder / "zero.csv").write_text(ZERO.replace(",0,", ",300,"))
    mended = farweb("sweep", cable, "--jobs", 1, "--quiet")
    assert (mended.code, mended.err) == (0, "")
    assert SweepResults.open("results/cable").runs["requests"].to_list() == [1, 1, 3, 3]


@pytest.mark.slow(reason="disk")
def test_a_full_disk_stops_the_sweep_and_keeps_what_was_finished(folder: Path) -> None:
    """A limit on the size of files is as full a disk as one can have without being root."""
    sweep = '[sweep]\nreplications = 2\n[sweep.factors]\n"record.packets" = ["none", "all"]\n'
    scenario = write_scenario(folder, sweep, requests=200)
    shell = f'ulimit -f {60_000 // 512}; exec "$@"'  # tables without packets are smaller, those with them larger
    limited = ("sh", "-c", shell, "-", *FARWEB, "sweep", str(scenario), "--jobs", "1", "--out", "out", "--quiet")
    stopped = subprocess.run(limited, capture_output=True, text=True, check=False, timeout=60)
    assert stopped.returncode == 3, stopped.stderr
    assert "cannot be written: File too large; nothing was left there" in stopped.stderr
    assert stopped.stderr.count("\n") == 1
    assert not json.loads(Path("out/manifest.json").read_text("utf-8"))["complete"]
    assert not Path("out/failures").exists(), "the machine failed, not a run"
    assert len(parts(Path("out"))) == 2
    swept = ended("sweep", scenario, "--jobs", 1, "--out", "out", "--quiet")
    assert (swept.returncode, swept.stderr) == (0, "")
    assert SweepResults.open("out").runs["requests"].to_list() == [200] * 4


@pytest.mark.usefixtures("warm_workers")
def test_what_failures_reach_is_infinite_in_tables_and_null_in_json(folder: Path, farweb: Farweb) -> None:
    """The end cuts off a tenth and more of the requests over 320 ms, and hardly any over 20 ms."""
    scenario = write_scenario(folder, requests=400)
    swept = farweb("sweep", scenario, "--set", "run.until=3 s", "--jobs", 1, "--out", "out", "--json")
    assert swept.code == 0, swept.err
    whole = SweepResults.open("out")
    far = whole.runs["path.link.0.down.delay"] == "320 ms"
    assert (whole.runs["failed_share"].filter(far) > 0.1).all() and (
        whole.runs["failed_share"].filter(~far) < 0.1
    ).all()
    assert whole.runs["latency_p90_s"].is_infinite().to_list() == far.to_list()
    # A run that ends later, or elsewhere, reads the metrics of the others from JSON.
    part = json.loads(next(Path("out/parts").glob("*/manifest.json")).read_text(), parse_constant=pytest.fail)
    assert {"failed_share", "latency_p90_s"} <= set(part["metrics"])
    Path("out/runs.parquet").unlink()
    assert SweepResults.open("out").runs.equals(whole.runs)
    shown = farweb("show", "out", "--metric", "latency_p90_s", "--metric", "within(500 ms)", "--json")
    message = json.loads(shown.out, parse_constant=pytest.fail)["sweep"]
    rows = [row for row in message["estimates"] if row["path.link.0.down.delay"] == "320 ms"]
    assert {row["metric"]: row["mean"] is None for row in rows} == {"latency_p90_s": True, "within(500 ms)": False}
    assert any("latency_p90_s has no end at 2 of 4 points" in warning for warning in message["warnings"])


@pytest.mark.slow(reason="limits")
@pytest.mark.parametrize(
    ("option", "limit", "factor", "error"),
    [
        ("--run-time", "4 s", '"record.links_every" = ["1 us", "1 s"]', "it took"),
        ("--run-memory", "400 MB", '"workload.load" = [100000, 1]', "its process took"),
    ],
)
def test_a_run_beyond_a_limit_fails_alone(cable: Path, option: str, limit: str, factor: str, error: str) -> None:
    """The first level takes a minute, or has 300,000 requests under way at once, of 2 kB each."""
    error = f"{error} more than {limit}, which {option} allows"
    scenario = cable.read_text().replace('"60 ms"', '"20 s"').replace('"34.368 Mbit/s"', '"unlimited"')
    scenario = re.sub(r', queue = "[^"]*"', "", scenario).replace("[workload]", '[workload]\ncopies_offset = "1 us"')
    cable.write_text(f"{scenario}\n[sweep]\nreplications = 2\n[sweep.factors]\n{factor}\n")
    swept = ended("sweep", cable, "--jobs", 1, "--out", "out", option, limit)
    assert swept.returncode == 3
    assert f"2 of 4 runs failed, the first with: {error}" in swept.stderr
    runs = SweepResults.open("out").runs
    assert runs["status"].to_list() == ["failed", "failed", "done", "done"]
    assert runs["error"].to_list() == [error, error, None, None]
    (first, second) = (json.loads(path.read_text()) for path in sorted(Path("out", "failures").iterdir()))
    assert first["error"] == second["error"] == error
    assert (first["attempts"], second["attempts"]) == (1, 1)


def test_a_limit_that_is_no_size_or_time_is_refused(cable: Path, farweb: Farweb) -> None:
    for option, value in (("--run-memory", "2"), ("--run-memory", "2 s"), ("--run-time", "0 s")):
        answer = farweb("sweep", cable, option, value, "--set", "sweep.replications=1", "--out", "out")
        assert answer.code == 2
        assert answer.err.startswith(f'farweb: {option}: "{value}" is not above zero with a unit')
        assert not Path("out").exists()


def test_messages_of_dask_are_shown_with_debug_only(
    cable: Path, farweb: Farweb, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("farweb.sweep.workers._CONNECT_S", 0.1)
    loggers = [logging.getLogger(name) for name in ("distributed", "distributed.client", "distributed.worker")]
    sweep = ("sweep", cable, "--scheduler", "tcp://127.0.0.1:1", "--set", "sweep.replications=1", "--out", "out")
    for options, shown in (("-q",), False), (("--debug",), True), ((), False):
        assert farweb(*sweep, *options).code == 3
        for level in (logging.CRITICAL, logging.WARNING):
            assert [logger.isEnabledFor(level) for logger in loggers] == [shown] * 3


DIES = """\
import os, sys
from pathlib import Path

if any("popen_loky" in each for each in sys.orig_argv):
    starts = Path("starts")
    with starts.open("a") as file:
        file.write("x")
    if str(starts.stat().st_size) in os.environ["DIES_AT"]:
        os._exit(1)
"""


@pytest.fixture
def dying(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Let workers die while they start, at starts of these numbers, from 1."""

    def die(at: str) -> None:
        (folder / "site").mkdir()
        (folder / "site" / "sitecustomize.py").write_text(DIES)
        monkeypatch.setenv("PYTHONPATH", str(folder / "site"))
        monkeypatch.setenv("DIES_AT", at)

    return die


NO_START = "farweb: a worker process of this machine ends while it starts, 3 times in a row"


@pytest.mark.slow(reason="kills")
def test_a_worker_that_dies_while_it_starts_is_started_again(scenario: Path, dying: Callable[[str], None]) -> None:
    dying("12")
    swept = ended("sweep", scenario, "--jobs", 1, "--out", "out", "--quiet")
    assert (swept.returncode, swept.stderr) == (0, "")
    assert Path("starts").stat().st_size == 3


def test_a_worker_that_never_starts_ends_the_sweep(scenario: Path, dying: Callable[[str], None]) -> None:
    dying("123456")
    swept = ended("sweep", scenario, "--jobs", 1, "--out", "out", "--quiet")
    assert swept.returncode == 3
    assert swept.stderr == f"{NO_START}\n"
    assert Path("starts").stat().st_size == 3


@pytest.mark.slow(reason="kills")
def test_workers_that_do_not_start_again_end_the_sweep(scenario: Path, dying: Callable[[str], None]) -> None:
    dying("23456")
    with started("sweep", scenario, "--jobs", 1, "--out", "out", "--set", "sweep.replications=100", "-q") as process:
        wait_until(lambda: len(parts(Path("out"))) > 0)
        (worker,) = workers_of(process)
        worker.kill()
        _, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 3
    assert err == f"{NO_START}; what is finished stays in out, and the same command goes on from there\n"
    assert Path("starts").stat().st_size == 4


@pytest.mark.usefixtures("folder")
def test_a_plan_is_listed_without_being_run(scenario: Path, farweb: Farweb, undisturbed: Path) -> None:
    packets = farweb("check", scenario, "--json").json()["check"]["extents"][1]["packet_hops"]
    answer = farweb("sweep", scenario, "--plan", "--jobs", 2, "--json", "--out", "out")
    assert (answer.code, answer.err) == (0, "")
    assert not Path("out").exists()
    result = answer.json()["plan"]
    assert (result["points"], result["replications"], result["missing"], result["jobs"]) == (4, 3, RUNS, 2)
    assert result["packet_hops"] == pytest.approx(packets, abs=RUNS)
    assert [run["packet_hops"] for run in result["runs"]] == [round(result["packet_hops"] / RUNS)] * RUNS
    run = result["runs"][7]
    assert run["levels"] == {"leg.0.tcp.buffer": "32767 B", "path.link.0.down.delay": "20 ms"}
    assert (run["seed"], run["done"]) == (2, False)
    more = farweb("sweep", scenario, "--plan", "--set", "sweep.replications=4", "--out", undisturbed)
    assert more.out.startswith("4 of 16 runs are left, about ")
    assert [line.split()[4:6] for line in more.out.splitlines()[3:7]] == [["4", "3"]] * 4
    assert farweb("sweep", scenario, "--plan", "--out", undisturbed).out.startswith("All 12 runs are done.")
