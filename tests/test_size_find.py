"""`farweb size` from end to end: closed forms, the folder it leaves, and how it ends."""

import json
import math
import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import ClassVar

import pytest

from farweb import Scenario
from farweb.library.sweep_results import SweepResults
from farweb.results.store import Outcome
from farweb.size.find import Progress, find_size
from farweb.sweep.plan import Run
from farweb.sweep.pool import Pool
from farweb.sweep.work import Version, work
from samples import Farweb

pytestmark = pytest.mark.usefixtures("warm_workers")

# A download over a path with a link so slow that every packet's time on it counts. Each segment is acknowledged at
# once (`quick_ack_always`), which makes acknowledgements as regular as segments.
SCENARIO = """\
format = 1
name = "window-limited"

[path]
nodes = ["client", "server"]

[[path.link]]
up   = { rate = "800 kbit/s", delay = "150 ms" }
down = { rate = "800 kbit/s", delay = "150 ms" }

[[leg]]
from = "client"
to = "server"
carrier = { kind = "http/1.0" }
tcp = { profile = "linux-classic", buffer = "58400 B", constants = { quick_ack_always = true } }

[origin]
release = "at-once"

[workload]
requests = "requests.csv"

[run]
until = "50 s"
warmup = "20 s"
"""
REQUESTS = "start_s,host,request_bytes,response_bytes\n0,a.example,300,{size}\n"

MSS, SEGMENT, ACK = 1460, 1500, 40  # bytes, with and without 40 B of headers
SENT_S, ACKED_S, DELAY_S = SEGMENT * 8 / 800e3, ACK * 8 / 800e3, 0.150


class Here(Pool):
    """A pool without workers: runs are done in its process, and some seeds fail."""

    failing: ClassVar[set[int]] = set()

    def outcomes(self, runs: Iterable[Run]) -> Iterator[Outcome]:
        for run in runs:
            if run.seed in self.failing:
                yield Outcome(run.run, "failed", "no memory")
            else:
                yield work(self._store, run, Version.here(), "")


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs are done in this process."""
    monkeypatch.setattr("farweb.size.find.Pool", Here)


@pytest.fixture
def download(folder: Path) -> Path:
    scenario = folder / "download.toml"
    scenario.write_text(SCENARIO)
    (folder / "requests.csv").write_text(REQUESTS.format(size=20_000_000))
    return scenario


def test_the_buffer_of_a_window_limited_rate_is_the_closed_form(farweb: Farweb, download: Path) -> None:
    """A window of n segments keeps the link busy n of the segment times that its first acknowledgement takes to return.

    That is: until it is sent, has arrived, and its acknowledgement has been sent and has arrived. A buffer holds whole
    segments only. So the answer is a whole number of them, and one byte less is not enough.
    """
    cycle_s = SENT_S + DELAY_S + ACKED_S + DELAY_S
    answer = math.ceil(0.92 * cycle_s / SENT_S) * MSS
    assert answer == 20 * MSS
    found = farweb(
        *("size", download, "--vary", "leg.0.tcp.buffer=28 kB..30 kB", "--resolution", "1 B"),
        *("--target", "utilisation >= 0.92", "--jobs", 2, "--json", "--out", "fill"),
    )
    assert found.code == 0, found.err
    assert found.err == ""
    said = found.json()
    assert (said["answer"]["number"], said["low"]["number"], said["high"]["number"]) == (answer, answer - 1, answer)
    assert said["attainable"] is True
    assert said["warnings"] == []
    assert said["runs"] == sum(tried["n"] for tried in said["curve"])
    estimates = {tried["number"]: tried["estimates"][0]["mean"] for tried in said["curve"]}
    assert estimates[answer] == pytest.approx(20 * SENT_S / cycle_s, rel=0.02)
    check_folder(farweb, said)


def check_folder(farweb: Farweb, said: dict[str, object]) -> None:
    """A search leaves a sweep's folder; one that knows all runs answers the same without simulating."""
    results = SweepResults.open("fill")
    assert results.complete
    assert results.design.kind == "search"
    (factor,) = results.design.factors
    numbers = [level.number for level in factor.levels]
    assert numbers == sorted(level.number or 0 for level in factor.levels)
    assert len(results.runs) == said["runs"]
    assert results.runs["status"].to_list() == ["done"] * len(results.runs)
    manifest = json.loads(Path("fill/manifest.json").read_text())
    assert manifest["search"]["answer"]["answer"] == said["answer"]
    assert manifest["search"]["text"] == said["text"]
    before = {path: path.read_bytes() for path in Path("fill").glob("*") if path.is_file() and path.stem != "timings"}
    parts = sorted(Path("fill/parts").iterdir())
    again = farweb(
        *("size", "download.toml", "--vary", "leg.0.tcp.buffer=28 kB..30 kB", "--resolution", "1 B"),
        *("--target", "utilisation >= 0.92", "--scheduler", "tcp://127.0.0.1:1", "--json", "--out", "fill"),
    )
    assert again.json() == said, again.err
    assert sorted(Path("fill/parts").iterdir()) == parts
    assert {path: path.read_bytes() for path in before} == before


@pytest.mark.parametrize(
    ("values", "unit", "size"),
    [(['"1 packets".."200 packets"'], "packets", 1), (["150ms..600ms", "--resolution", "15 ms"], "ms", 15)],
)
def test_the_queue_without_drops_is_the_closed_form(
    farweb: Farweb, download: Path, here: None, values: list[str], unit: str, size: int
) -> None:
    """Segments of the window wait in the queue unless they are under way elsewhere.

    When an acknowledgement brings a new segment to the queue, the segments that have left it since the acknowledged one
    are on the link or acknowledged: one for each segment time, 15 ms, of the way to the client and back.
    """
    queue = 40 - math.floor((2 * DELAY_S + ACKED_S) / SENT_S)
    assert queue == 20
    found = farweb(
        *("size", download, "--vary", f"path.link.0.down.queue={values[0]}", *values[1:], "--target", "drops <= 0"),
        *("--json", "--quiet"),
    )
    assert found.code == 0, found.err
    said = found.json()
    labels = [f"{number * size} {unit}" for number in (queue, queue - 1)]
    assert [said["answer"]["label"], said["low"]["label"]] == labels


def test_a_target_that_nothing_meets_ends_with_4(farweb: Farweb, download: Path, here: None) -> None:
    (download.parent / "requests.csv").write_text(REQUESTS.format(size=100_000))
    arguments = ("size", download, "--vary", "leg.0.tcp.buffer=8 kB,16 kB,32 kB")
    found = farweb(*arguments, "--target", "goodput >= 2 Mbit/s", "--set", "run.warmup=0 s")
    assert found.code == 4
    assert "No leg.0.tcp.buffer from 8 kB to 32 kB meets goodput >= 2 Mbit/s" in found.out
    assert "meets goodput >= 2 Mbit/s: goodput at best " in " ".join(found.out.split())
    assert "at 32 kB" in found.out
    quiet = farweb(*arguments, "--target", "goodput >= 2 Mbit/s", "--set", "run.warmup=0 s", "--quiet")
    assert (quiet.code, quiet.out, quiet.err) == (4, "", "")
    nothing = farweb(*arguments, "--target", "p50(sample_latency) <= 3 s", "--set", "run.warmup=0 s")
    assert nothing.code == 2
    assert "no run has sample_latency_p50_s" in nothing.err


def test_a_run_that_fails_ends_with_3_and_keeps_the_others(
    farweb: Farweb, download: Path, here: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    (download.parent / "requests.csv").write_text(REQUESTS.format(size=100_000))
    arguments: tuple[object, ...] = (
        *("size", download, "--vary", "leg.0.tcp.buffer=8 kB,16 kB,32 kB", "--set", "run.warmup=0 s"),
        *("--target", "goodput >= 200 kbit/s", "--seed", 7, "--out", "out"),
    )
    monkeypatch.setattr(Here, "failing", {8})
    found = farweb(*arguments)
    assert found.code == 3, found.out
    assert "3 of 3 runs failed, the first with leg.0.tcp.buffer = 8 kB, seed 8: no memory" in found.err
    assert len(list(Path("out/parts").iterdir())) == 3
    assert not SweepResults.open("out").complete
    monkeypatch.setattr(Here, "failing", set())
    found = farweb(*arguments)
    assert found.code == 0, found.err
    assert "Take 16 kB: " in found.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--vary", "workload.load=1..9", "--target", "droops <= 0"], "did you mean drops"),
        (["--vary", "workload.loud=1..9", "--target", "drops <= 0"], "workload.loud"),
        (["--vary", "workload.load=1..9", "--target", "drops <= 0", "--max-runs", "4"], "--max-runs 4: the first"),
        (["--vary", "workload.load=1..9", "--target", "drops <= 0", "--max-replications", "3"], "at least --repl"),
        (["--vary", "workload.load=1..9"], "write --largest for the most load that is not worse"),
        (
            ["--vary", "workload.load=1..9", "--target", "drops <= 0", "--jobs", "1", "--scheduler", "x"],
            "--jobs is for",
        ),
    ],
)
def test_mistakes_end_with_2_before_anything_runs(
    farweb: Farweb, download: Path, arguments: list[str], words: str
) -> None:
    found = farweb("size", download, *arguments)
    assert found.code == 2
    assert words in found.err
    assert "Traceback" not in found.err
    assert not Path("results").exists()


def test_the_examples_of_its_help_work(
    farweb: Farweb, cable: Path, here: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "160")  # examples are longer than 80 characters
    cable.rename("satellite.toml")
    shown = farweb("size", "--help-all").out
    examples = [line.strip(" │") for line in shown.splitlines() if line.strip(" │").startswith("farweb size")]
    assert len(examples) == 4
    for example in examples:
        ran = farweb(*shlex.split(example)[1:])
        assert ran.code == 0, f"{example}: {ran.err}"
        assert ran.out.startswith("Take ")
        assert "next: farweb report results/satellite-size\n" in ran.err


def test_a_factor_of_the_sweep_is_varied_and_the_others_are_left_out(
    farweb: Farweb, download: Path, here: None
) -> None:
    (download.parent / "requests.csv").write_text(REQUESTS.format(size=30_000))
    circuits = "".join(
        f'[[sweep.factors.circuit]]\nlevel = "{name}"\n'
        f'set = {{ "path.link.0.up.delay" = "{delay}", "path.link.0.down.delay" = "{delay}" }}\n'
        for name, delay in (("near", "10 ms"), ("far", "60 ms"), ("satellite", "320 ms"))
    )
    download.write_text(f'{SCENARIO}[sweep.factors]\n"leg.0.tcp.buffer" = ["8 kB", "16 kB"]\n{circuits}')
    arguments = ("--set", "run.warmup=0 s", "--largest", "--target", "p50(latency) <= 1.5 s")
    found = farweb("size", download, "--vary", "circuit", *arguments)
    assert found.code == 0, found.err
    assert "Take far: it meets p50(latency) <= 1.5 s; satellite fails." in found.out
    assert "warning: factors of [sweep] were not varied: leg.0.tcp.buffer" in found.err
    assert "replaces" not in found.err
    again = farweb("size", download, "--vary", "circuit", *arguments)
    assert "replaces the answer in results/download-size" in again.err, "the same question"
    other = farweb("size", download, "--vary", "circuit", *arguments[:-1], "p50(latency) <= 1.6 s")
    assert "replaces the answer for p50(latency) <= 1.5 s in results/download-size" in other.said
    results = SweepResults.open("results/download-size")
    assert [level.label for level in results.design.factors[0].levels] == ["near", "far", "satellite"]
    assert "sweep" not in results.manifest["scenario"]


def test_connections_of_http2_open_at_the_limit_of_streams(farweb: Farweb, cable: Path, here: None) -> None:
    arguments = ("--vary", "leg.0.carrier.connections=1..60", "--target", "p50(latency) <= 2 s")
    words = "with http/2 a second connection opens only when the first has"
    for carrier, limit in (
        ('{ kind = "http/2" }', "as many streams as the server allows"),
        ('{ kind = "http/2", server = { session_limit = 7 } }', "7 streams, the server's limit"),
    ):
        found = farweb("size", cable, *arguments, "--set", f"leg.0.carrier={carrier}")
        assert found.code == 0, found.err
        assert f"{words} {limit}, so that" in " ".join(found.err.split())
    mux = farweb("size", cable, *arguments, *_MUX)
    assert (mux.code, words in mux.err) == (0, False)


_LINK = '{ up = { rate = "34.368 Mbit/s", delay = "60 ms" }, down = { rate = "34.368 Mbit/s", delay = "60 ms" } }'
_NEAR = '{ up = { rate = "1 Gbit/s", delay = "1 ms" }, down = { rate = "1 Gbit/s", delay = "1 ms" } }'
_MUX = (
    *("--set", 'path.nodes=["client", "proxy", "server"]', "--set", f"path.link=[{_LINK}, {_NEAR}]", "--set"),
    'leg=[{ from = "client", to = "proxy", carrier = { kind = "mux", connections = 2 } }, '
    '{ from = "proxy", to = "server", carrier = { kind = "http/1.1" } }]',
)


@pytest.mark.parametrize(
    ("key", "carrier"),
    [
        ("per_host", ("--set", 'leg.0.carrier={ kind = "http/1.1" }')),
        ("connections", ("--set", 'leg.0.carrier={ kind = "http/2" }')),
        ("connections", _MUX),
    ],
    ids=["http/1.1", "http/2", "mux"],
)
def test_the_limit_of_a_connection_is_said_as_check_says_it(
    farweb: Farweb, cable: Path, here: None, key: str, carrier: tuple[str, ...]
) -> None:
    arguments = ("size", cable, "--target", "p50(latency) <= 2 s", *carrier)
    found = farweb(*arguments, "--vary", f"leg.0.carrier.{key}=1..9", "--json")
    assert found.code == 0, found.err
    leg = farweb("check", cable, "--json", *carrier).json()["check"]["legs"][0]
    limit = f"A connection of leg 0 can carry {leg['connection_limit_text']}"
    said = f"{limit}; 16 connections can fill the link to the clients."
    assert found.json()["connections"] == [said]
    assert said in " ".join(farweb(*arguments, "--vary", f"leg.0.carrier.{key}=1..9", "--details").out.split())
    assert farweb(*arguments, "--vary", "workload.load=1..2", "--json").json()["connections"] == []


def test_interrupted_searches_go_on(download: Path, here: None) -> None:
    (download.parent / "requests.csv").write_text(REQUESTS.format(size=100_000))
    scenario = Scenario.load(download, {"run.warmup": "0 s"})

    class StopError(Exception):
        pass

    def stop(now: Progress) -> None:
        if now.done >= 12:
            raise StopError

    with pytest.raises(StopError):
        find_size(scenario, "leg.0.tcp.buffer=4 kB..64 kB", "goodput >= 250 kbit/s", out="a", progress=stop)
    half = SweepResults.open("a")
    assert not half.complete
    assert len(half.runs) >= 12
    seen: list[Progress] = []
    resumed = find_size(
        scenario, "leg.0.tcp.buffer=4 kB..64 kB", "goodput >= 250 kbit/s", out="a", progress=seen.append
    )
    assert seen[-1].done == resumed.runs
    assert resumed.answer is not None
    assert find_size(scenario, "leg.0.tcp.buffer=4 kB..64 kB", "goodput >= 250 kbit/s", out="b") == resumed
    for name in ("manifest.json", "plan.parquet", "runs.parquet", "estimates.parquet"):
        assert Path("a", name).read_bytes() == Path("b", name).read_bytes(), name


def test_a_search_beyond_the_limit_is_refused_before_anything_is_written(
    farweb: Farweb, cable: Path, here: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first values are 1, 3, 5, 7 and 9 times three requests, a run of each."""
    monkeypatch.setattr("farweb.check.extent.ROWS_MAX", 149)
    monkeypatch.setattr("farweb.check.extent.ROWS_WARNED", 100)
    arguments = ("size", cable, "--vary", "workload.load=1..9", "--target", "drops <= 0", "--out", "out")
    found = farweb(*arguments)
    assert (found.code, found.out) == (2, "")
    words = "workload.load: 5 runs write about 150 rows, most of them (75) of requests"
    assert f"{words}; the limit is 149, and --no-limits lifts it" in found.err
    assert not Path("out").exists()
    accepted = farweb(*arguments, "--no-limits")
    assert accepted.code == 0
    assert f"warning: {words} " in accepted.said


def test_a_run_of_a_search_may_be_limited(farweb: Farweb, cable: Path) -> None:
    arguments = ("size", cable, "--vary", "workload.load=1,2", "--target", "drops <= 0", "--jobs", 1, "--out", "out")
    found = farweb(*arguments, "--run-memory", "1 MB")
    assert found.code == 3
    assert "its process took more than 1 MB, which --run-memory allows" in found.err
    assert farweb(*arguments, "--run-time", "1 us").err.count("it took more than 1 µs, which --run-time allows") == 1
    wrong = farweb(*arguments, "--run-time", "5")
    assert (wrong.code, "--run-time: " in wrong.err) == (2, True)


def test_the_folder_of_a_sweep_is_left_alone(farweb: Farweb, download: Path, here: None) -> None:
    Path("sweep").mkdir()
    Path("sweep/manifest.json").write_text('{"kind": "farweb sweep"}')
    found = farweb(
        *("size", download, "--vary", "workload.load=1..2", "--target", "drops <= 0"), *("--out", "sweep", "--quiet")
    )
    assert found.code == 2
    assert "has the results of a sweep" in found.err
    assert Path("sweep/manifest.json").read_text() == '{"kind": "farweb sweep"}'
