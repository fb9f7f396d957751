"""The command line from end to end: output, files, exit codes."""

import gzip
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from captures import handshake, pcap
from farweb import Results, Scenario
from hars import entry, har, written
from sample_results import request
from sample_sweeps import design_of, write_sweep
from samples import LOG, SCENARIO, Farweb

# The command in a process of its own; a debug build warns, which is not tested.
FARWEB = (sys.executable, "-W", "ignore::RuntimeWarning", "-m", "farweb")


def test_run_writes_a_results_folder_and_says_where(farweb: Farweb, cable: Path) -> None:
    answer = farweb("run", cable)
    assert answer.code == 0, answer.err
    assert "latency" in answer.out
    assert str(Path("results/cable")) in answer.err
    results = Results.open("results/cable")
    assert results.requests["status"].to_list() == ["done"] * 3
    assert results.manifest["rows"]["requests"] == 3
    assert results.manifest["inputs"]["requests"]["rows"] == 3
    assert results.manifest["scenario"]["name"] == "cable"


def test_json_is_all_that_standard_output_has(farweb: Farweb, cable: Path) -> None:
    ran = farweb("run", cable, "--json")
    assert ran.err == ""
    assert ran.json()["summary"]["done"] == 3
    shown = farweb("show", "results/cable", "--json")
    assert shown.json() == ran.json()
    assert farweb("check", cable, "--json").json()["scenario"]["name"] == "cable"


def test_warnings_of_check_are_repeated_and_kept(farweb: Farweb, cable: Path) -> None:
    changed = ("--set", "path.link.0.down.queue=1500 B", "--set", "path.link.0.up.rate=0.1 kbit/s")
    said = farweb("check", cable, *changed, "--json").json()["check"]["warnings"]
    assert len(said) > 1, "such a queue and such a load are warned of"
    ran = farweb("run", cable, *changed)
    assert all(f"warning: {warning} " in ran.said for warning in said)
    assert Results.open("results/cable").manifest["warnings"] == said
    changes = {key: value for key, _, value in (each.partition("=") for each in changed[1::2])}
    assert Scenario.load(cable, changes).run(out="python").manifest["warnings"] == said
    assert farweb("report", "python").code == 0
    assert "the workload offers" in Path("python/report.html").read_text("utf-8")
    assert farweb("run", cable, *changed, "--quiet", "--force").err == ""
    assert farweb("run", cable, *changed, "--json", "--force").json()["warnings"] == said


def test_a_run_that_answers_nothing_ends_with_3(farweb: Farweb, cable: Path) -> None:
    answer = farweb("run", cable, "--set", "run.until=100 ms")
    assert answer.code == 3
    assert "no request was answered, of 1 that began" in answer.err
    assert Results.open("results/cable").unanswered == 1
    assert farweb("run", cable, "--set", "run.until=5 s", "--force").code == 0  # which one answer takes


def test_set_and_seed_reach_the_manifest(farweb: Farweb, cable: Path) -> None:
    farweb("run", cable, "--set", "leg.0.tcp.buffer=65535 B", "--seed", 7, "--set", "workload.load=2")
    manifest = Results.open("results/cable").manifest
    assert manifest["seed"] == 7
    assert pq.read_schema("results/cable/requests.parquet").metadata[b"farweb.seed"] == b"7"
    assert manifest["scenario"]["run"]["seed"] == 7
    assert manifest["scenario"]["leg"][0]["tcp"]["buffer"] == "65535 B"
    assert manifest["rows"]["requests"] == 6
    assert manifest["inputs"]["requests"]["rows"] == 3


def test_two_processes_write_the_same_bytes(cable: Path) -> None:
    for out in ("one", "two"):
        subprocess.run(
            [*FARWEB, "run", cable, "--out", out, "--quiet", "--set", "record.links_every=1 s"],
            check=True,
        )
    tables = sorted(path.name for path in Path("one").glob("*.parquet"))
    assert {"requests.parquet", "links.parquet"} <= set(tables)
    for table in tables:
        assert Path("one", table).read_bytes() == Path("two", table).read_bytes(), table


def test_an_older_result_is_replaced_and_nothing_else(farweb: Farweb, cable: Path) -> None:
    farweb("run", cable, "--out", "r", "--seed", 1)
    assert "--force replaces them" in farweb("run", cable, "--out", "r", "--seed", 2).err
    assert Results.open("r").manifest["seed"] == 1
    assert farweb("run", cable, "--out", "r", "--seed", 2, "--force").code == 0
    assert Results.open("r").manifest["seed"] == 2
    Path("mine").mkdir()
    Path("mine/thesis.txt").write_text("years of work")
    answer = farweb("run", cable, "--out", "mine", "--force")
    assert answer.code == 2
    assert "mine" in answer.err
    assert sorted(path.name for path in Path("mine").iterdir()) == ["thesis.txt"]
    assert farweb("plot", "cdf", "r").code == 0  # a figure is drawn again in no time, notes are not written again
    assert farweb("run", cable, "--out", "r", "--seed", 3, "--force").code == 0
    Path("r/notes.txt").write_text("what it means")
    answer = farweb("run", cable, "--out", "r", "--seed", 4, "--force")
    assert answer.code == 2
    assert "notes.txt" in answer.err
    assert Results.open("r").manifest["seed"] == 3
    assert sorted(path.name for path in Path().iterdir()) == ["cable.toml", "mine", "r", "requests.csv"]


def test_parquet_and_csv_of_the_same_requests_give_the_same_results(farweb: Farweb, cable: Path) -> None:
    import polars as pl

    pl.read_csv("requests.csv").sort("start_s", descending=True).write_parquet("requests.parquet")  # not in order
    farweb("run", cable, "--out", "csv")
    answer = farweb("run", cable, "--out", "parquet", "--set", "workload.requests=requests.parquet")
    assert answer.code == 0, answer.err
    assert Results.open("csv").requests.equals(Results.open("parquet").requests)


def test_check_warns_of_a_request_table_that_is_not_there(farweb: Farweb, cable: Path) -> None:
    assert farweb("check", cable, "--json").json()["check"]["warnings"] == []
    Path("requests.csv").unlink()
    answer = farweb("check", cable)
    assert answer.code == 0, answer.err
    assert "workload.requests" in answer.out + answer.err
    assert "does not exist yet" in " ".join((answer.out + answer.err).split())
    assert not Path("results").exists()


# In the order of a study: what one leaves, the next ones take.
VERBS = (
    *("new", "schema scenario", "schema results", "schema requests"),
    *("workload import", "workload merge", "workload probe", "workload stats"),
    "page",
    *("check", "run", "show", "sql", "plot", "report"),
    *("export pcapng", "export xpl", "export har"),
)


@pytest.mark.usefixtures("unpainted")
def test_every_verb_explains_itself_with_examples_that_work(farweb: Farweb, folder: Path) -> None:
    text = SCENARIO + '[record]\npackets = "all"\nexchanges = true\n'
    (folder / "satellite.toml").write_text(text.replace("requests.csv", "requests.parquet"))
    (folder / "names.txt").write_text("198.51.100.1 quick.example\n")
    for capture in ("capture.pcapng", "mon.pcap.gz", "tue.pcap.gz"):
        content = pcap(handshake("198.51.100.1"))
        (folder / capture).write_bytes(gzip.compress(content) if capture.endswith(".gz") else content)
    log = "".join(LOG.replace("8510000", f"85100{i:02}") for i in range(20))
    (folder / "access.log").write_text(log)
    for older in ("access.log.gz", "access.log.1.gz"):
        (folder / older).write_bytes(gzip.compress(log.encode()))
    for name in ("shop.har", "blog.har", "bundled.har"):
        written(folder, har(entry(), onload=100), name)
    (folder / "blog.har.gz").write_bytes(gzip.compress((folder / "blog.har").read_bytes()))
    (folder / "app.json").write_text('{"ts": 851000000.5, "uri": "/x", "size": 9, "took": 250}\n')
    written(folder, har(entry()), "shop.har")
    (folder / "blog.har.gz").write_bytes(gzip.compress((folder / "shop.har").read_bytes()))
    for table in ("requests", "mon", "tue"):
        farweb("workload", "import", "access.log", "--format", "squid", "-o", f"{table}.parquet")
    farweb("run", "satellite.toml", "--out", "results/cable")
    write_sweep(
        folder / "results/sweep", design_of({"workload.load": [1, 2]}, 2), requests=lambda *_: [request(0, 1, 9)]
    )
    for verb in VERBS:
        answer = farweb(*verb.split(), "--help-all")
        assert answer.code == 0
        for option in ("--json", "--quiet", "--debug"):
            assert option in answer.out, f"{verb}: {option}"
        lines = (line.strip(" │").split(" > ")[0] for line in answer.out.splitlines())
        examples = [line for line in lines if line.startswith(f"farweb {verb}")]
        assert examples, verb
        for example in examples:
            again = ["--force"] if "--force" in answer.out else []  # of what an example before has written
            ran = farweb(*shlex.split(example)[1:], *again)
            assert ran.code == 0, f"{example}: {ran.err}"


def test_what_writes_a_file_is_silent_when_asked(farweb: Farweb, cable: Path) -> None:
    Path("access.log").write_text(LOG)
    farweb("run", cable, "--set", "record.packets=all")
    for arguments in (
        *("run cable.toml --out new", "workload import access.log --format squid", "plot cdf results/cable"),
        *("report results/cable", "export pcapng results/cable", "export xpl results/cable"),
    ):
        answer = farweb(*arguments.split(), "--quiet")
        assert (answer.code, answer.out, answer.err) == (0, "", ""), arguments


def test_interrupted_run_ends_with_130_and_leaves_nothing(cable: Path) -> None:
    lines = ["start_s,host,request_bytes,response_bytes"]
    lines += [f"{i / 10},h{i % 50},300,200000" for i in range(20_000)]
    Path("requests.csv").write_text("\n".join(lines) + "\n")
    process = subprocess.Popen([*FARWEB, "run", cable, "--quiet"], stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while not any(Path().glob("results/.cable.*.partial")) and time.monotonic() < deadline and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert err == "farweb: interrupted\n"
    assert sorted(os.listdir()) == ["cable.toml", "requests.csv"]


def test_verbs_of_other_tools_are_answered_by_name(farweb: Farweb) -> None:
    for verb, sentence in (
        ("har", "here it is farweb page FILE.har, or farweb workload import FILE.har"),
        ("lcp", "does not model browsers; farweb page FILE.har has the page loads of a HAR up to onLoad"),
        ("netem", "does not model reordering"),
        ("wifi", "does not model access networks"),
        ("bandwidth", "here it is rate"),
        ("rtt", "here it is delay"),
        ("h2", 'here it is a leg with carrier = { kind = "http/2" }'),
    ):
        answer = farweb(verb, "x")
        assert (answer.code, answer.out) == (2, "") and sentence in answer.err
    assert "Did you mean 'sweep'?" in farweb("swep", "x").err
    for verb, meant in (("stats", "workload stats"), ("stat", "workload stats"), ("import", "workload import")):
        assert f"No such command '{verb}'. Did you mean 'farweb {meant}'?" in farweb(verb, "x").err
    assert farweb("frobnicate").err == "farweb: No such command 'frobnicate'. (see farweb --help)\n"
