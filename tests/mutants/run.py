"""Changes the front in one place at a time and has tests look for it: what survives, no test would miss.

    python tests/mutants/run.py [MODULE…]

MODULE is a file or a folder of those in `mutants.toml`, all of them when left out. cosmic-ray makes the changes, in a
copy of the repository below `build/mutants`: of conditions, comparisons, numbers, operators, loops, exceptions and
decorators, never of texts. Exit codes: 0 every survivor is answered in `mutants.toml`; 1 one is not, or an answer has
no survivor any more; 2 no such module, or its tests fail without a change.
"""

import json
import os
import shlex
import shutil
import subprocess
import sys
import time
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BUILD = ROOT / "build" / "mutants"
TREE = BUILD / "tree"
SETTINGS: dict[str, Any] = tomllib.loads((HERE / "mutants.toml").read_text("utf-8"))
TESTS: dict[str, list[str]] = SETTINGS["tests"]

# The first failure is enough; a test that has noticed the change before comes first.
PYTEST = [sys.executable, "-m", "pytest", "--exitfirst", "--failed-first", "--numprocesses=0", "--quiet", "--tb=no"]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(TREE / "python"), "PYTHONDONTWRITEBYTECODE": "1"}

# JSON's texts, numbers and lists are TOML's too.
_SETTINGS = """
[cosmic-ray]
module-path = {}
timeout = {}
test-command = {}
excluded-modules = []
distributor.name = "local"
filters.operators-filter.exclude-operators = {}
"""


@dataclass(frozen=True)
class Mutant:
    """A change and what came of it.

    Attributes:
        place: File and line.
        change: The function, and its line before and after.
        outcome: killed, survived, timeout, skipped (its operator is left out) or not made (cosmic-ray replaces no
            exception with dots in its name).
        shown: The difference as cosmic-ray shows it.
    """

    place: str
    change: str
    outcome: str
    shown: str


def main(asked: Sequence[str]) -> int:
    """Try the modules that are asked for; the exit code."""
    modules = [module for module in TESTS if not asked or any(Path(module).is_relative_to(each) for each in asked)]
    if odd := [each for each in asked if not any(Path(module).is_relative_to(each) for module in modules)]:
        say(f"{odd[0]}: mutants.toml has no tests of it; it has those of {', '.join(TESTS)}")
        return 2
    _copy()
    open_questions: list[str] = []
    total: Counter[str] = Counter()
    for module in modules:
        began = time.monotonic()
        mutants = list(_try(module))
        counts = Counter(mutant.outcome for mutant in mutants)
        total += counts
        say(f"{module}: {_words(counts)}; {time.monotonic() - began:.0f} s")
        open_questions += judge(module, mutants)
    say("\n\n".join(["", *open_questions, f"{_words(total)}; {len(open_questions)} to be answered"]))
    return int(bool(open_questions))


def _copy() -> None:
    """Copy what git knows or would know, and the compiled core: changes must not reach the files that people edit."""
    shutil.rmtree(TREE, ignore_errors=True)
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    known = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    files = [ROOT / name for name in known.split("\0") if name]
    for file in (*files, *ROOT.glob("python/farweb/_core*.so")):
        if file.is_file():
            copy = TREE / file.relative_to(ROOT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(file, copy)


def _try(module: str) -> Iterator[Mutant]:
    """Run the tests of a module on each of its mutants.

    Raises:
        SystemExit: They fail without a change.
    """
    command = [*PYTEST, *TESTS[module]]
    began = time.monotonic()
    unchanged = subprocess.run(command, cwd=TREE, env=ENVIRONMENT, capture_output=True, text=True)
    if unchanged.returncode:
        say(f"{module}: its tests fail without a change:\n{unchanged.stdout}{unchanged.stderr}")
        raise SystemExit(2)
    taken = time.monotonic() - began
    settings, session = BUILD / "cosmic-ray.toml", BUILD / "session.sqlite"
    values = (module, 3 * taken + 30, shlex.join(command), SETTINGS["left-out"])  # chosen: ample on a busy machine
    settings.write_text(_SETTINGS.format(*map(json.dumps, values)), "utf-8")
    _tool("cosmic-ray", "init", "--force", settings, session)
    _tool("cr-filter-operators", session, settings)
    _execute(module, settings, session)
    for line in _tool("cosmic-ray", "dump", session).splitlines():
        yield mutant_of(*json.loads(line))


def _tool(name: str, *arguments: object) -> str:
    """Output of a program of cosmic-ray."""
    command = [str(BUILD / "bin" / name), *map(str, arguments)]
    return subprocess.run(command, cwd=TREE, env=ENVIRONMENT, check=True, stdout=subprocess.PIPE, text=True).stdout


def _execute(module: str, settings: Path, session: Path) -> None:
    """Let cosmic-ray work, and say every minute how far it is."""
    wanted = _waiting(session)
    say(f"{module}: {wanted} mutants")
    command = [str(BUILD / "bin" / "cosmic-ray"), "exec", str(settings), str(session)]
    with subprocess.Popen(command, cwd=TREE, env=ENVIRONMENT) as working:
        while working.poll() is None:
            try:
                working.wait(60)
            except subprocess.TimeoutExpired:
                say(f"  {wanted - _waiting(session)} of {wanted}")
    if working.returncode:
        raise subprocess.CalledProcessError(working.returncode, command)


def _waiting(session: Path) -> int:
    """Mutants that have not been tried."""
    return sum(json.loads(line)[1] is None for line in _tool("cosmic-ray", "dump", session).splitlines())


def mutant_of(item: dict[str, Any], result: dict[str, Any]) -> Mutant:
    """A mutant from a line of cosmic-ray's dump."""
    mutation = item["mutations"][0]
    diff = (result["diff"] or "").partition("\n@@")[2].splitlines()[1:]
    before, after = (" ".join(_code(line) for line in diff if line.startswith(sign)).strip() for sign in "-+")
    outcome = result["test_outcome"] if result["worker_outcome"] == "normal" else result["worker_outcome"]
    if result["output"] == "timeout":
        outcome = "timeout"
    if outcome not in {"killed", "survived", "timeout", "skipped"}:
        outcome = "not made"
    return Mutant(
        f"{mutation['module_path']}:{mutation['start_pos'][0]}",
        f"{mutation['definition_name'] or 'module'}: {before} → {after}".strip(),
        outcome,
        "\n".join(diff),
    )


def _code(line: str) -> str:
    """A line of a difference without its sign and its comment."""
    return line[1:].partition("  # ")[0].strip()


def judge(module: str, mutants: Sequence[Mutant]) -> list[str]:
    """Survivors without an answer, and answers without a survivor."""
    answers = [change for each in SETTINGS["answered"] if each.get("module") == module for change in each["changes"]]
    everywhere = [change for each in SETTINGS["answered"] if "module" not in each for change in each["changes"]]
    survivors = [mutant for mutant in mutants if mutant.outcome == "survived"]
    there = {mutant.change for mutant in survivors}
    new = [mutant for mutant in survivors if mutant.change not in answers + everywhere]
    return [
        *(f"{each.place} survives:\n{each.shown}\n{each.change}" for each in new),
        *(f"{module} is answered, but does not survive:\n{each}" for each in answers if each not in there),
    ]


def _words(counts: Counter[str]) -> str:
    outcomes = ["killed", "survived", "timeout", "skipped"]
    return ", ".join(f"{counts[each]} {each}" for each in [*outcomes, *sorted(set(counts) - set(outcomes))])


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
