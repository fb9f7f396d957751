"""Refusals by the machine, and ends by signals: the cause in a line, the right exit code, and never a bug in farweb."""

import errno
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from farweb import signals
from farweb.cli import main
from farweb.cli.output import Output
from farweb.errors import refused_by_machine
from farweb.memory import Room
from samples import Farweb

FARWEB = (sys.executable, "-W", "ignore::RuntimeWarning", "-m", "farweb")

WAYS = ("--help", "schema results", "sql r 'select 1' --csv")
"""Verbs that write in different ways: lines, as they are, and rows; `show` writes by rich."""


def shell(verb: str, how: str) -> subprocess.CompletedProcess[str]:
    """A command under a shell: `how` has `{}` where the command goes."""
    return subprocess.run(
        ["bash", "-c", how.format(f"{shlex.join(FARWEB)} {verb}")], capture_output=True, text=True, timeout=60
    )


@pytest.fixture
def run(cable: Path, farweb: Farweb) -> Path:
    """The results of a run, `r`."""
    assert farweb("run", cable, "-o", "r", "-q").code == 0
    return Path("r")


@pytest.mark.usefixtures("run")
@pytest.mark.parametrize(
    ("verb", "how", "cause"),
    [
        *((verb, "{} >/dev/full", "No space left on device") for verb in WAYS),
        ("show r", "{} >&-", "Bad file descriptor"),
    ],
)
def test_output_that_cannot_be_written(verb: str, how: str, cause: str) -> None:
    ended = shell(verb, how)
    line = f"farweb: standard output: cannot be written to: {cause}\n"
    assert (ended.returncode, ended.stdout, ended.stderr) == (3, "", line)


@pytest.mark.usefixtures("run")
def test_neither_output_nor_messages_can_be_written() -> None:
    ended = shell("show r", "{} <&- >&- 2>&-")
    assert (ended.returncode, ended.stdout, ended.stderr) == (3, "", "")


@pytest.mark.usefixtures("run")
def test_a_reader_that_has_gone_is_no_error() -> None:
    ended = shell("show r", "( sleep 0.1; {}; echo $? >&2 ) | true")
    assert ended.stderr == "0\n"


def test_a_reader_that_goes_is_no_error() -> None:
    ended = shell("schema results", "( {}; echo $? >&2 ) | head -1")
    assert (ended.stderr, len(ended.stdout.splitlines())) == ("0\n", 1)


@pytest.mark.usefixtures("cable")
def test_messages_that_cannot_be_written_change_nothing() -> None:
    for how, code in (("{} 2>&-", 0), ("{} 2>/dev/full", 2)):
        ended = shell("run cable.toml -o r", how)
        assert (ended.returncode, bool(ended.stdout)) == (code, code == 0), how
    assert sorted(os.listdir("r")) == ["connections.parquet", "manifest.json", "requests.parquet"]


@pytest.mark.usefixtures("folder")
def test_a_closed_descriptor_is_not_that_of_a_result() -> None:
    """Output would be written into the next file that is opened."""
    assert shell("new new.toml", "{} <&- >&- 2>&-").returncode == 3
    assert Path("new.toml").read_text().startswith("# The web over ")


@pytest.mark.parametrize(
    "arguments",
    [("check", "b\udcff.toml"), ("show", "b\udcff"), ("run", "cable.toml", "-o", "b\udcff"), ("b\udcff",)],
)
def test_names_that_are_not_utf8(farweb: Farweb, cable: Path, arguments: tuple[str, ...]) -> None:
    answer = farweb(*arguments)
    assert answer.code == 2
    name = arguments[-1].replace("\udcff", "\\udcff")
    assert answer.err == f"farweb: {name}: is not UTF-8; give the file or folder a name that is\n"
    assert sorted(os.listdir()) == ["cable.toml", "requests.csv"]


def test_a_folder_that_is_not_utf8(farweb: Farweb, cable: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = Path("b\udcff")
    folder.mkdir()
    for name in ("cable.toml", "requests.csv"):
        Path(name).rename(folder / name)
    monkeypatch.chdir(folder)
    assert farweb("run", "cable.toml", "-o", "r", "-q").code == 0
    assert farweb("show", "r").code == 0
    Path("r", "mine\udcff").touch()
    answer = farweb("run", "cable.toml", "-o", "r", "--force")
    assert (answer.code, "such as mine\\udcff, and is left alone" in answer.err) == (2, True)
    assert farweb("verify", "r", "--full").code == 0

    def fails(*_: object) -> None:
        str(Path.cwd()).encode()

    monkeypatch.setattr("farweb.library.folders.open_results", fails)
    answer = farweb("show", "r")
    assert answer.code == 2
    assert answer.err.endswith("b\\udcff: is not UTF-8; work in a folder whose name is\n")


# Runs the command, and sends its own process a signal when something is imported.
SIGNALLED = """
import os, signal, sys
class Signals:
    def find_spec(self, name, *_):
        if name == {module!r}:
            os.kill(os.getpid(), signal.{name})
sys.meta_path.insert(0, Signals())
sys.argv = ["farweb", *{arguments!r}]
from farweb.__main__ import script
script()
"""


@pytest.mark.usefixtures("run")
@pytest.mark.parametrize(
    ("name", "module"),
    [("SIGHUP", "argparse"), ("SIGINT", "duckdb")],
)
def test_a_signal_within_an_import(name: str, module: str) -> None:
    code = SIGNALLED.format(module=module, name=name, arguments=["sql", "r", "select 1"])
    ended = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, timeout=60)
    assert ended.stderr == f"farweb: {'interrupted' if name == 'SIGINT' else f'ended by {name}'}\n"
    assert (ended.returncode, ended.stdout) == (128 + getattr(signal, name), "")


@pytest.mark.usefixtures("run")
def test_a_signal_that_is_ignored_stays_so() -> None:
    code = SIGNALLED.format(module="polars", name="SIGHUP", arguments=["show", "r"])
    ended = shell("", f"trap '' HUP; {shlex.join([sys.executable, '-W', 'ignore', '-c', code])} # {{}}")
    assert (ended.returncode, ended.stderr) == (0, "")


QUERY = """
import os, signal, sys
import farweb.results.sql
def query(*_):
    try:
        os.kill(os.getpid(), signal.SIGINT)
    except KeyboardInterrupt:
        raise RuntimeError("Query interrupted") from None
farweb.results.sql.query_run = query
sys.argv = ["farweb", "sql", "r", "select 1"]
from farweb.__main__ import script
script()
"""


def test_a_sweep_that_a_signal_ends_says_how_to_go_on_whatever_a_library_makes_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(signals, "_came", [signal.SIGTERM])
    with pytest.raises(RuntimeError), Output(as_json=True, quiet=False).continuing(tmp_path):
        raise RuntimeError("a worker is gone")
    said = f"Finished runs are kept in {tmp_path}; the same command continues from there."
    assert capsys.readouterr().err.split() == said.split()


@pytest.mark.usefixtures("run")
def test_an_error_that_a_library_makes_of_an_interrupt() -> None:
    ended = subprocess.run([sys.executable, "-W", "ignore", "-c", QUERY], capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stderr) == (130, "farweb: interrupted\n")


@pytest.mark.usefixtures("run")
def test_too_few_open_files() -> None:
    ended = shell("plot cdf r -o f.png", "ulimit -n 10; {}")
    assert (ended.returncode, len(ended.stderr.splitlines())) == (3, 1)
    assert "too many open files" in ended.stderr.lower()
    assert "bug" not in ended.stderr and "damaged" not in ended.stderr


def test_a_sweep_that_may_open_too_few_files(cable: Path) -> None:
    cable.write_text(cable.read_text() + "[sweep]\nreplications = 2\n")
    ended = shell("sweep cable.toml -o s -j 1", "ulimit -n 16; {}")
    assert (ended.returncode, len(ended.stderr.splitlines())) == (3, 1)
    assert ended.stderr.endswith("too many open files: ulimit -n allows 16\n")


def test_a_query_without_memory(farweb: Farweb, run: Path) -> None:
    answer = farweb("sql", run, "select error('Out of Memory Error: failed to allocate data of size 8.0 GiB')")
    assert (answer.code, answer.err) == (3, "farweb: SQL: memory ran out\n")
    assert farweb("sql", run, "select error('out of luck')").code == 2


def raised(
    error: BaseException, cause: BaseException | None = None, past: BaseException | None = None
) -> BaseException:
    error.__context__ = past
    if cause is not None:
        error.__cause__ = cause
    return error


NO_ROOM = OSError(errno.ENOSPC, "No space left on device")
GONE = FileNotFoundError(errno.ENOENT, "No such file or directory", "cache")


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (MemoryError(), "memory ran out"),
        (ImportError("libarrow.so.2: failed to map segment from shared object"), "memory ran out"),
        (raised(ImportError("numpy"), past=MemoryError()), "memory ran out"),
        (RuntimeError("std::bad_alloc"), "memory ran out"),
        (OSError(errno.EMFILE, "Too many open files", "x"), "too many open files: ulimit -n allows "),
        (ImportError("libx.so: cannot open shared object file: Too many open files"), "too many open files: "),
        (RuntimeError("can't start new thread"), "no further thread or process can be started"),
        (BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable"), "no further thread or process"),
        (PermissionError(errno.EACCES, "Permission denied", "r/x"), "r/x: Permission denied"),
        (raised(RuntimeError("it failed"), cause=NO_ROOM), "No space left on device"),
        (raised(RuntimeError("it failed"), past=NO_ROOM), "No space left on device"),
        (raised(ValueError("mine"), past=GONE), None),
        (OSError("not Parquet"), None),
        (KeyError("rows"), None),
    ],
)
def test_what_the_machine_refuses(error: BaseException, words: str | None) -> None:
    found = refused_by_machine(error)
    assert found is None if words is None else (found or "").startswith(words)


def test_what_cannot_be_explained_is_explained_by_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    error = ModuleNotFoundError("No module named 'polars'", name="polars")
    assert refused_by_machine(error) is None

    def refuse(*_: object) -> int:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    monkeypatch.setattr(os, "open", refuse)
    found = refused_by_machine(error)
    monkeypatch.undo()
    assert found is not None and found.startswith("too many open files")


def test_an_error_while_an_error_is_explained(farweb: Farweb, run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr("farweb.library.folders.open_results", fail)
    monkeypatch.setattr("farweb.results.integrity.explain", fail)
    answer = farweb("show", run)
    assert (answer.code, answer.err) == (3, "farweb: memory ran out\n")


def test_any_error_where_little_memory_is_left(farweb: Farweb, run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise SystemError("error return without exception set")

    monkeypatch.setattr("farweb.library.folders.open_results", fail)
    monkeypatch.setattr(
        "farweb.cli.failure.room", lambda: Room("the limit of address space (ulimit -v), 250 MB,", 9_000_000)
    )
    said = "farweb: memory ran out: the limit of address space (ulimit -v), 250 MB, leaves 9 MB\n"
    answer = farweb("show", run)
    assert (answer.code, answer.err) == (3, said)


def test_what_is_a_bug_is_one(farweb: Farweb, run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise ValueError("of mine")

    monkeypatch.setattr("farweb.library.folders.open_results", fail)
    assert farweb("show", run).err == "farweb: this is a bug in farweb: ValueError: of mine (--debug shows where)\n"
    with pytest.raises(SystemExit):
        monkeypatch.setattr("farweb.library.folders.open_results", sys.exit)
        main(["show", "r"])
