"""Results of a stranger: whatever a folder holds, each verb answers or refuses in a line, soon and in little memory."""

import contextlib
import io
import resource
import shlex
import shutil
import signal
import sys
import time
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import BinaryIO

import pytest

from farweb.cli import main
from farweb.errors import FarwebError
from farweb.files import parquet, regular
from farweb.results import store
from hostile import (
    RUN_ATTACKS,
    RUN_VERBS,
    SWEEP_ATTACKS,
    SWEEP_VERBS,
    VERIFY,
    Attack,
    column,
    manifest_with,
    repeated,
    table_with,
)
from samples import REQUESTS, SCENARIO, Answer

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc, devices are those of Linux")

_SOON_S = 60  # chosen: what hangs hangs for ever; a busy machine takes a multiple of the second that it is

VERBS = (RUN_VERBS, SWEEP_VERBS)


class Hangs(BaseException):
    """A verb has not ended in time; no handler of errors takes it for one."""


@contextlib.contextmanager
def soon() -> Iterator[None]:
    """Interrupt what hangs."""

    def late(_: int, __: FrameType | None) -> None:
        raise Hangs

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(_SOON_S)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@contextlib.contextmanager
def little_memory(further: int = 3 << 30) -> Iterator[None]:
    """Let this process take so much more address space."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (taken + further, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def answer(verb: str) -> Answer:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), soon():
        try:
            code = main(shlex.split(verb))
        except Hangs:
            code = -1
            err.write("it hangs")
    return Answer(code, out.getvalue(), err.getvalue())


@dataclass(frozen=True)
class Whole:
    """A run and a sweep as farweb writes them.

    Attributes:
        folder: Where they are.
        answers: What each verb says of them, the verbs of the sweep after those of the run.
        tables: Tables that each verb reads, likewise.
    """

    folder: Path
    answers: Sequence[dict[str, Answer]]
    tables: Sequence[dict[str, set[str]]]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Whole:
    folder = tmp_path_factory.mktemp("hostile")
    (folder / "requests.csv").write_text(REQUESTS)
    (folder / "run.toml").write_text(SCENARIO)
    factors = '[sweep]\nreplications = 2\n[sweep.factors]\n"leg.0.tcp.buffer" = ["2048 B", "32767 B"]\n'
    (folder / "sweep.toml").write_text(SCENARIO + factors)
    everything = "--set record.packets=all --set record.exchanges=true --set record.connections=true"
    assert answer(f"run {folder}/run.toml -o {folder}/run -q {everything} --set record.links_every='1 s'").code == 0
    assert answer(f"sweep {folder}/sweep.toml -o {folder}/sweep -q --jobs 1").code == 0
    found = Whole(folder, ({}, {}), ({}, {}))
    for of_sweep, verbs in enumerate(VERBS):
        place = folder / f"asked-{of_sweep}"
        place.mkdir()
        with contextlib.chdir(place):
            lay(found, of_sweep=bool(of_sweep))
            for name, verb in verbs.items():
                with opened_tables() as found.tables[of_sweep][name], little_memory():
                    found.answers[of_sweep][name] = answer(verb)
    return found


@contextlib.contextmanager
def opened_tables() -> Iterator[set[str]]:
    """Names of the tables that the one reader of results opens in the block."""
    names = set()
    open_within = regular.open_within

    def opened(folder: Path, name: str, error: type[FarwebError], place: str = "") -> BinaryIO:
        names.add(Path(name).stem)
        return open_within(folder, name, error, place)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store, "open_within", opened)
        yield names


def lay(whole: Whole, *, of_sweep: bool) -> Path:
    """Copies of the whole results in the current folder, one of which may be changed."""
    for name in ("r", "whole"):
        shutil.copytree(whole.folder / ("sweep" if of_sweep else "run"), name)
    return Path("r")


ATTACKS = [*RUN_ATTACKS, *SWEEP_ATTACKS]


@pytest.mark.timeout(300)
@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name[:60])
def test_a_verb_answers_or_refuses_in_a_line(whole: Whole, folder: Path, attack: Attack) -> None:
    read = whole.tables[attack.of_sweep]
    asked = {
        name for name in VERBS[attack.of_sweep] if attack.table is None or attack.table in read[name] or name in VERIFY
    }
    assert attack.refuse & VERBS[attack.of_sweep].keys() <= asked
    # A report that is made takes as long as all else, and has what `show` and the figures read: see below.
    answered_or_refused(whole, attack, asked - ({"report"} - attack.refuse))


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    "attack",
    [attack for attack in ATTACKS if "report" not in attack.refuse and attack.table not in ("packets", "legs")],
    ids=lambda attack: attack.name[:60],
)
def test_a_report_is_made_or_refused_in_a_line(whole: Whole, folder: Path, attack: Attack) -> None:
    answered_or_refused(whole, attack, {"report"})


def answered_or_refused(whole: Whole, attack: Attack, asked: Set[str]) -> None:
    """Each of the verbs answers what is made of whole results, or refuses it in a line."""
    attack.do(lay(whole, of_sweep=attack.of_sweep))
    wrong = []
    for name, verb in VERBS[attack.of_sweep].items():
        if name not in asked:
            continue
        for file in Path().glob("out.*"):
            file.unlink()
        began = time.monotonic()
        with little_memory():
            said = answer(verb)
        took = time.monotonic() - began
        is_line = said.code == 2 and said.err.count("\n") == 1 and said.err.startswith("farweb: ")
        refused = (is_line and len(said.err) < 1000) or (name in VERIFY and said.code == 4)
        if "bug in farweb" in said.err or not (refused or (said.code == 0 and name not in attack.refuse)):
            wrong.append(f"{name}: {said.code}: {said.err[:300] or said.out[:100]}")
        if took > _SOON_S:
            wrong.append(f"{name}: took {took:.0f} s")
    assert not wrong, "\n".join(wrong)


def test_requests_that_memory_does_not_hold_are_refused_before_they_are_read(
    whole: Whole, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lay(whole, of_sweep=False)
    manifest_with("events", value=10_000)(Path("r"))
    table_with("requests.parquet", lambda table: column("request", range)(repeated(1000)(table)))(Path("r"))
    monkeypatch.setattr(parquet, "spare_bytes", lambda: 20_000)
    taken = {"cdf": "100 kB", "report": "100 kB", "compare": "200 kB", "breakdown": "32 kB", "plot breakdown": "32 kB"}
    for name, needed in taken.items():
        said = answer(RUN_VERBS[name])
        end = f"is too large: its 1,000 rows take {needed}, and 20 kB of memory can be spared\n"
        assert (said.code, said.err) == (2, f"farweb: r/requests.parquet: {end}"), name


@pytest.mark.parametrize("of_sweep", [False, True])
def test_what_is_whole_is_answered(whole: Whole, of_sweep: bool) -> None:
    for name, said in whole.answers[of_sweep].items():
        assert said.code == 0, (name, said.err)
