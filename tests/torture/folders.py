"""Damaged results folders under every verb: one line and exit code 2, or the right answer."""

import contextlib
import io
import json
import random
import shlex
import shutil
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from farweb.cli import main
from farweb.results.integrity import unsealed
from farweb.results.manifest import MANIFEST
from sweeps import ended, write_scenario
from torture.table import Row, say

R = "results"
VERBS = {
    "run": (
        f"show {R} --json",
        f"show {R} --breakdown --json",
        f"sql {R} 'select count(*), sum(end_ns), sum(response_bytes) from requests'",
        f"sql {R} 'select count(*), sum(end_ns) from exchanges'",
        f"report {R} -o out.html",
        f"compare {R} whole-other --json",
        f"verify {R}",
        f"verify {R} --full",
        f"plot cdf {R} -o out.png --data out.csv",
        f"plot size-latency {R} -o out.png --data out.csv",
        f"plot timeseq {R} -o out.png --data out.csv",
        f"plot breakdown {R} -o out.png --data out.csv",
        f"export pcapng {R} -o out.pcapng --point server",
        f"export xpl {R} -o out.xpl",
    ),
    "sweep": (
        f"show {R} --json",
        f"show {R} --metric latency_p90_s --json",
        f"sql {R} 'select count(*), sum(end_ns), sum(response_bytes) from requests'",
        f"sql {R} 'select run, latency_p90_s from runs order by run'",
        f"report {R} -o out.html",
        f"compare {R} --point 'leg.0.tcp.buffer=8192 B' --point 'leg.0.tcp.buffer=32767 B' --json",
        f"verify {R}",
        f"verify {R} --full",
        f"plot cdf {R} -o out.png --data out.csv",
        f"plot latency-load {R} --against leg.0.tcp.buffer='8192 B' -o out.png --data out.csv",
        f"plot effects {R} -o out.png --data out.csv",
    ),
}
VERBS_A_DAMAGE = 6
_USAGE, _DAMAGED = 2, 4


@dataclass(frozen=True)
class Answer:
    """Output, files and exit code of a verb."""

    code: int
    out: str
    err: str
    written: bytes
    trace: str = ""

    @property
    def is_line(self) -> bool:
        """True when it refused in one line."""
        return self.code == _USAGE and self.err.count("\n") == 1 and "bug in farweb" not in self.err


def torture(folder: Path, draw: random.Random, scale: float) -> list[Row]:
    """Damage copies of a run and of a sweep 50 times, and try six verbs on each."""
    scenario = write_scenario(folder, requests=300)
    exchanges = ("--set", "record.exchanges=true")
    recorded = (*exchanges, "--set", "record.packets=all", "--set", "record.connections=true")
    for name, seed in (("run", 1), ("other", 2)):
        ended("run", scenario, *recorded, "--seed", seed, "--out", f"whole-{name}", "--quiet").check_returncode()
    ended("sweep", scenario, *exchanges, "--jobs", 2, "--out", "whole-sweep", "--quiet").check_returncode()
    right = {kind: {verb: _try_whole(kind, verb) for verb in verbs} for kind, verbs in VERBS.items()}
    rows = {damage: Row(f"verb on results: {damage.__doc__}") for damage in DAMAGES}
    folders = round(50 * scale)
    for done in range(1, folders + 1):
        damage, kind = DAMAGES[done % len(DAMAGES)], draw.choice(("run", "sweep"))
        _lay(kind)
        what = damage(Path(R), draw)
        seen = _try(f"verify {R} --full").code != 0
        for verb in draw.sample(VERBS[kind], VERBS_A_DAMAGE):
            said = f"{kind}, {what}: {verb}"
            _judge(rows[damage], said, _try(verb), right[kind][verb], seen=seen, is_older=damage is older)
        if done % 10 == 0:
            say(f"  {done} of {folders} damaged folders")
    return [row for row in rows.values() if row.outcomes]


def _lay(kind: str) -> None:
    shutil.rmtree(R, ignore_errors=True)
    shutil.copytree(f"whole-{kind}", R)


def _try_whole(kind: str, verb: str) -> Answer:
    _lay(kind)
    answer = _try(verb)
    assert answer.code == 0, f"{verb}: {answer.err}"
    return answer


def _try(verb: str) -> Answer:
    """Run a verb in this process."""
    for file in Path().glob("out.*"):
        shutil.rmtree(file) if file.is_dir() else file.unlink()
    out, err, trace = io.StringIO(), io.StringIO(), ""
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main(shlex.split(verb))
        except SystemExit as error:
            code = error.code if isinstance(error.code, int) else 1
        except Exception:
            code, trace = -1, traceback.format_exc()
    # Tables of numbers say more than pixels do.
    files = sorted(Path().glob("out.*"), key=lambda file: file.suffix != ".csv")
    written = files[0].read_bytes() if files and files[0].is_file() else b""
    return Answer(code, out.getvalue(), err.getvalue(), written, trace)


def _judge(row: Row, said: str, answer: Answer, right: Answer, *, seen: bool, is_older: bool) -> None:
    told = f"{answer.code}: {(answer.trace or answer.err).strip()[-300:]}"
    if answer.trace or "bug in farweb" in answer.err or "Traceback" in answer.err:
        row.lose(f"{said}: {told}")
    elif answer.code == _DAMAGED and "verify" in said:
        row.count("damage named")
    elif answer.code == _USAGE:
        row.expect(answer.is_line, "one line, exit code 2", f"{said}: more than a line: {told}")
    elif answer.code:
        row.lose(f"{said}: {told}")
    elif (answer.out, answer.written) == (right.out, right.written):
        row.count("right answer")
    elif is_older:
        row.count("an answer without what they lack")
    else:
        row.expect(seen, "another answer, and `verify --full` names the file", f"{said}: another answer, and not seen")


def _file(results: Path, draw: random.Random, ending: str = "") -> Path:
    files = [path for path in sorted(results.rglob("*")) if path.is_file() and path.name.endswith(ending)]
    manifests = [path for path in files if path.name == MANIFEST]
    top = [path for path in files if path.parent == results]
    return draw.choice(draw.choice([each for each in (files, manifests, top) if each]))


def _name(file: Path) -> str:
    return str(file.relative_to(R))


def cut(results: Path, draw: random.Random) -> str:
    """a file cut off"""
    file = _file(results, draw)
    content = file.read_bytes()
    file.write_bytes(content[: draw.randrange(len(content))])
    return f"{_name(file)} cut to {file.stat().st_size} of {len(content)} B"


def deleted(results: Path, draw: random.Random) -> str:
    """a file deleted"""
    file = _file(results, draw)
    file.unlink()
    return f"{_name(file)} deleted"


def swapped(results: Path, draw: random.Random) -> str:
    """two files swapped"""
    one = _file(results, draw)
    other = draw.choice([path for path in sorted(results.rglob("*")) if path.is_file() and path != one])
    first, second = one.read_bytes(), other.read_bytes()
    one.write_bytes(second)
    other.write_bytes(first)
    return f"{_name(one)} and {_name(other)} swapped"


def overwritten(results: Path, draw: random.Random) -> str:
    """a piece of a file overwritten"""
    file = _file(results, draw)
    content = bytearray(file.read_bytes())
    begin, size = draw.randrange(len(content)), draw.choice((1, 16, 512))
    content[begin : begin + size] = draw.randbytes(len(content[begin : begin + size]))
    file.write_bytes(content)
    return f"{_name(file)}: {size} B from {begin} overwritten"


def emptied(results: Path, draw: random.Random) -> str:
    """a file empty, or a folder in its place"""
    file = _file(results, draw)
    file.write_bytes(b"")
    if draw.random() < 0.3:
        file.unlink()
        file.mkdir()
        return f"{_name(file)} is a folder"
    return f"{_name(file)} emptied"


def older(results: Path, draw: random.Random) -> str:
    """manifests of an older version, without digests and some keys"""
    lost = draw.sample(["rows", "legs", "measured", "warnings", "inputs", "result_version", "links", "design"], 2)
    for file in results.rglob(MANIFEST):
        manifest = unsealed(json.loads(file.read_bytes()))
        kept = {key: value for key, value in manifest.items() if key not in lost}
        file.write_text(json.dumps({**kept, "version": "0.0.1"}))
    return f"older, without {' and '.join(lost)}"


def edited(results: Path, draw: random.Random) -> str:
    """a value in a manifest changed to one of another kind"""
    file = _file(results, draw, MANIFEST)
    manifest = json.loads(file.read_bytes())
    place = _somewhere(unsealed(manifest), draw)
    value: Any = draw.choice((None, -1, "x", [], {}, 1e300, True))
    _set(manifest, place, value)
    file.write_text(json.dumps(manifest))
    return f"{_name(file)}: {'.'.join(map(str, place))} = {value!r}"


def _somewhere(value: Any, draw: random.Random) -> list[Any]:
    """A place in nested values, drawn step by step."""
    place: list[Any] = []
    while isinstance(value, dict | list) and value and (not place or draw.random() < 0.7):
        place.append(draw.choice(list(value)) if isinstance(value, dict) else draw.randrange(len(value)))
        value = value[place[-1]]
    return place


def _set(root: Any, place: list[Any], value: Any) -> None:
    for step in place[:-1]:
        root = root[step]
    root[place[-1]] = value


Damaging = Callable[[Path, random.Random], str]
DAMAGES: tuple[Damaging, ...] = (cut, deleted, swapped, overwritten, emptied, older, edited)
