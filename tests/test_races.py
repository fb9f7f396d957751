"""No verb destroys what came to the name that it writes to while it worked, and of two only one works.

The hook is the moment at which a finished result goes to the disk, before it gets its name.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from farweb.files import atomic
from planted import a_file, another_process
from samples import LOG, REQUESTS, Farweb

Verb = tuple[tuple[str, ...], str]
"""Arguments of a command, and the name that it writes to."""

VERBS: tuple[Verb, ...] = (
    (("run", "cable.toml", "-o", "new"), "new"),
    (("workload", "import", "access.log", "-o", "new.parquet"), "new.parquet"),
    (("workload", "merge", "requests.csv", "-o", "new.parquet"), "new.parquet"),
    (("workload", "merge", "requests.csv", "-o", "m.parquet", "--hosts", "h.tsv", "--hosts-out", "new.tsv"), "new.tsv"),
    (("workload", "generate", "prowgen", "--set", "requests=100", "-o", "new"), "new"),
    (("workload", "probe", "r/packets.pcapng", "-o", "new.tsv"), "new.tsv"),
    (("workload", "stats", "requests.csv", "-o", "new.png"), "new.png"),
    (("workload", "fit", "many.csv", "-o", "new.toml"), "new.toml"),
    (("workload", "cache", "many.csv", "--policy", "lru", "--capacity", "10 kB", "-o", "new.csv"), "new.csv"),
    (("plot", "cdf", "r", "-o", "new.svg"), "new.svg"),
    (("plot", "cdf", "r", "-o", "figure.svg", "--data", "new.csv"), "new.csv"),
    (("report", "r", "-o", "new.html"), "new.html"),
    (("compare", "r", "r", "-o", "new.svg"), "new.svg"),
    (("export", "pcapng", "r", "-o", "new.pcapng"), "new.pcapng"),
    (("export", "xpl", "r", "-o", "new.xpl"), "new.xpl"),
    (("sql", "r", "select * from requests", "-o", "new.csv"), "new.csv"),
    (("new", "new.toml"), "new.toml"),
)


def _lay(farweb: Farweb) -> None:
    Path("access.log").write_text(LOG)
    Path("h.tsv").write_text("host\twindow_bytes\tmss_bytes\na.example\t8760\t1460\n")
    rows = [f"{n / 10},h,300,{100 + n % 7 * 50},o{n * n % 61}" for n in range(400)]
    Path("many.csv").write_text("\n".join(["start_s,host,request_bytes,response_bytes,object", *rows]) + "\n")
    Path("requests.csv").write_text(REQUESTS)
    settings = ("--set", "record.packets=all", "--set", "record.exchanges=true")
    assert farweb("run", "cable.toml", *settings, "-o", "r").code == 0
    assert farweb("export", "pcapng", "r").code == 0


def _at_the_end(monkeypatch: pytest.MonkeyPatch, out: Path, act: Callable[[Path], None]) -> None:
    """Do something when the result for `out` is about to get its name."""
    flush = atomic.flush
    done: list[bool] = []

    def acting(paths: Iterable[Path]) -> None:
        flush(there := list(paths))
        if not done and any(f".{out.name}." in str(path) for path in there):
            done.append(True)
            act(out)

    monkeypatch.setattr(atomic, "flush", acting)


@pytest.mark.usefixtures("cable")
@pytest.mark.parametrize(("arguments", "name"), VERBS, ids=[" ".join(each[0][:2]) + f" {each[1]}" for each in VERBS])
def test_no_verb_destroys_what_came_while_it_worked(
    farweb: Farweb, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], name: str
) -> None:
    _lay(farweb)
    out = Path(name)
    second = Path(f"{out.stem}-2{out.suffix}")
    _at_the_end(monkeypatch, out, a_file)
    answer = farweb(*arguments, "--force")
    assert answer.code == 3, answer.err
    said = f"farweb: {name}: something else came there meanwhile, and stays; the result is in {second}"
    assert answer.err.splitlines()[-1] == said
    assert out.read_bytes() == b"mine"
    assert second.exists()


@pytest.mark.usefixtures("cable")
@pytest.mark.parametrize(("arguments", "name"), VERBS, ids=[" ".join(each[0][:2]) + f" {each[1]}" for each in VERBS])
def test_no_verb_begins_where_another_command_writes(farweb: Farweb, arguments: tuple[str, ...], name: str) -> None:
    _lay(farweb)
    there = set(os.listdir())
    with another_process(Path(name)):
        answer = farweb(*arguments, "--force")
        assert answer.code == 2, answer.err
        assert f"farweb: {name}: another farweb command writes to this name" in answer.err
        assert len(answer.err.splitlines()) == 1
    assert set(os.listdir()) - there <= {name, "m.parquet"}


@pytest.mark.parametrize("arguments", [("demo",), ("reproduce", "--quick", "cable")])
def test_nothing_of_several_files_begins_where_another_command_writes(
    folder: Path, farweb: Farweb, arguments: tuple[str, ...]
) -> None:
    with another_process(folder / "new"):
        answer = farweb(*arguments, "--out", "new")
    assert (answer.code, len(answer.err.splitlines())) == (2, 1)
    assert answer.err.startswith("farweb: new: another farweb command writes to this name")


def test_two_runs_into_one_folder(cable: Path, farweb: Farweb) -> None:
    """The second one says at once what it is about; the first one ends as if it were alone."""
    code = (
        "import sys, farweb.run\n"
        "from farweb.cli import main\n"
        "write = farweb.run.write_manifest\n"
        "def waiting(*arguments):\n"
        "    write(*arguments)\n"
        "    print('simulated', flush=True)\n"
        "    sys.stdin.readline()\n"
        "farweb.run.write_manifest = waiting\n"
        "sys.exit(main(['run', 'cable.toml', '--seed', '1', '-o', 'r', '-q']))\n"
    )
    command = [sys.executable, "-W", "ignore::RuntimeWarning", "-c", code]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as first:
        assert first.stdout is not None and first.stdout.readline() == "simulated\n"
        second = farweb("run", cable, "--seed", 2, "-o", "r", "-q")
    assert second.code == 2 and "r: another farweb command writes to this name" in second.err
    assert first.returncode == 0
    assert '"seed": 1' in Path("r/manifest.json").read_text()
    assert {path.name for path in Path().iterdir() if path.name.startswith((".", "r-"))} == set()


def test_a_link_to_a_folder_stays_a_link(cable: Path, farweb: Farweb) -> None:
    Path("disk").mkdir()
    Path("r").symlink_to("disk")
    assert farweb("run", cable, "-o", "r", "-q").code == 0
    assert Path("r").readlink() == Path("disk") and Path("disk/manifest.json").is_file()
    assert farweb("run", cable, "-o", "r", "-q", "--force").code == 0
    assert Path("r").is_symlink() and sorted(os.listdir()) == ["cable.toml", "disk", "r", "requests.csv"]
    Path("page.html").symlink_to("disk/page.html")
    assert farweb("report", "r", "-o", "page.html").code == 0
    assert Path("page.html").is_symlink() and Path("disk/page.html").is_file()


def test_a_killed_figure_does_not_keep_a_run_from_being_replaced(cable: Path, farweb: Farweb) -> None:
    assert farweb("run", cable, "-o", "r", "-q").code == 0
    with another_process(Path("r/cdf.png")) as holder:
        holder.send_signal(signal.SIGKILL)
    assert any(name.startswith(".cdf.png.") for name in os.listdir("r"))
    assert farweb("run", cable, "-o", "r", "-q", "--force").code == 0
