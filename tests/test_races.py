"""No verb destroys what came to the name that it writes to while it worked, and of two only one works.

The hook is the moment at which a finished result goes to the disk, before it gets its name.
"""

import os
import shutil
import signal
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from farweb import Scenario
from farweb.files import atomic
from farweb.files.atomic import locked_file
from farweb.views.export import export_pcapng
from planted import a_file, another_process
from samples import LOG, REQUESTS, SCENARIO, Farweb

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


@pytest.fixture(scope="module")
def laid(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an input of each kind, and a run."""
    laid = tmp_path_factory.mktemp("laid")
    rows = [f"{n / 10},h,300,{100 + n % 7 * 50},o{n * n % 61}" for n in range(400)]
    for name, text in (
        ("access.log", LOG),
        ("cable.toml", SCENARIO),
        ("h.tsv", "host\twindow_bytes\tmss_bytes\na.example\t8760\t1460\n"),
        ("many.csv", "\n".join(["start_s,host,request_bytes,response_bytes,object", *rows]) + "\n"),
        ("requests.csv", REQUESTS),
    ):
        (laid / name).write_text(text)
    scenario = Scenario.load(laid / "cable.toml", {"record.packets": "all", "record.exchanges": True})
    export_pcapng(scenario.run(out=laid / "r"), laid / "r/packets.pcapng")
    return laid


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


@pytest.mark.parametrize(("arguments", "name"), VERBS, ids=[" ".join(each[0][:2]) + f" {each[1]}" for each in VERBS])
def test_no_verb_begins_where_another_writes_or_destroys_what_came_while_it_worked(
    laid: Path, folder: Path, farweb: Farweb, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], name: str
) -> None:
    shutil.copytree(laid, folder, dirs_exist_ok=True)
    there = set(os.listdir())
    with locked_file(Path(f".{name}.taken")):
        refused = farweb(*arguments, "--force")
        assert refused.code == 2, refused.err
        assert f"farweb: {name}: another farweb command writes to this name" in refused.err
        assert len(refused.err.splitlines()) == 1
    assert set(os.listdir()) - there <= {"m.parquet"}

    out = Path(name)
    second = Path(f"{out.stem}-2{out.suffix}")
    _at_the_end(monkeypatch, out, a_file)
    answer = farweb(*arguments, "--force")
    assert answer.code == 3, answer.err
    said = f"farweb: {name}: something else came there meanwhile, and stays; the result is in {second}"
    assert answer.err.splitlines()[-1] == said
    assert out.read_bytes() == b"mine"
    assert second.exists()


@pytest.mark.parametrize("arguments", [("demo",), ("reproduce", "--quick", "cable")])
def test_nothing_of_several_files_begins_where_another_command_writes(
    folder: Path, farweb: Farweb, arguments: tuple[str, ...]
) -> None:
    with another_process(folder / "new"):
        answer = farweb(*arguments, "--out", "new")
    assert (answer.code, len(answer.err.splitlines())) == (2, 1)
    assert answer.err.startswith("farweb: new: another farweb command writes to this name")


def test_a_killed_figure_does_not_keep_a_run_from_being_replaced(cable: Path, farweb: Farweb) -> None:
    assert farweb("run", cable, "-o", "r", "-q").code == 0
    with another_process(Path("r/cdf.png")) as holder:
        holder.send_signal(signal.SIGKILL)
    assert any(name.startswith(".cdf.png.") for name in os.listdir("r"))
    assert farweb("run", cable, "-o", "r", "-q", "--force").code == 0
