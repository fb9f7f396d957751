"""The core in WebAssembly beside the core in machine code: equal rows, equal words. Node runs what `make web` built."""

import hashlib
import json
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from equality.scenarios import Run, example_runs, grid_runs, recorded
from farweb import _core
from farweb.cli.demonstration import EXAMPLES
from farweb.inputs.description import Description
from farweb.inputs.prepared import Prepared
from farweb.text import toml

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "build/web"
SEEDS = ROOT / "crates/farweb/fuzz/seeds"
NODE = shutil.which("node")
EVERY = 7
"""Scenarios of the grid that are left out between two that are run."""
FEW = {**recorded({"links_every": "1 s", "exchanges": True}), "record.packets": "none"}

pytestmark = [pytest.mark.timeout(600), pytest.mark.slow(reason="Node")]


def asked(questions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Answers of the binding in the browser."""
    assert NODE is not None, "needs Node 20"
    lines = "".join(f"{json.dumps(question)}\n" for question in questions)
    command = [NODE, str(Path(__file__).with_name("web.mjs")), str(PACKAGE)]
    done = subprocess.run(command, input=lines, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return [json.loads(line) for line in done.stdout.splitlines()]


def doubles(values: Any) -> tuple[np.ndarray[Any, np.dtype[np.float64]], list[str]]:
    """A column of the core as the page has it: numbers with NaN for null, and words. Ranges are not handed to it."""
    if isinstance(values, tuple):
        if len(values) == 3:
            return np.empty(0), []
        codes, words = values
        return np.where(codes == _core.null_code, np.nan, codes), words
    if values.dtype == np.int64:
        return np.where(values == _core.null_int, np.nan, values.astype(np.float64)), []
    if values.dtype == np.uint64:
        return np.where(values == np.uint64(_core.null_id), np.nan, values.astype(np.float64)), []
    return values.astype(np.float64), []


def digest(parts: list[Any]) -> str:
    """Digest of a column that came in parts."""
    numbers = np.concatenate([doubles(part)[0] for part in parts])
    numbers[np.isnan(numbers)] = np.nan
    hashed = hashlib.sha256(numbers.tobytes())
    for word in doubles(parts[-1])[1]:
        hashed.update(f"{word}\n".encode())
    return hashed.hexdigest()


def native(prepared: Prepared) -> dict[str, Any]:
    """Rows of a run in machine code, as digests."""
    seed = prepared.scenario.effective["run"]["seed"]
    simulation = _core.Simulation(prepared.scenario.core, seed, prepared.core)
    columns: dict[str, dict[str, list[Any]]] = {}
    more = True
    while more:
        more = simulation.advance(1_000_000)
        for table, step in simulation.take().items():
            for name, part in step.items():
                columns.setdefault(table, {}).setdefault(name, []).append(part)
    rows = {table: {name: digest(parts) for name, parts in named.items()} for table, named in columns.items()}
    return {"progress": dict(simulation.progress()), "rows": rows}


def question(scenario: Description) -> dict[str, Any]:
    """The run of a scenario, as web.mjs takes it."""
    named = scenario.inputs()
    tables = {kind: {"name": each.path.name, "file": str(each.path)} for kind, each in named.items()}
    given = {"tables": {**tables["requests"], "hosts": tables.get("hosts")}} if "requests" in tables else {}
    return {"run": toml.document(scenario.effective), **given}


def runs(folder: Path) -> Iterator[Run]:
    for run in example_runs(EXAMPLES):
        if run.verb == "run":
            yield Run(run.name, run.scenario, FEW)
    yield from list(grid_runs(folder))[::EVERY]


def test_rows_are_those_of_the_core_in_machine_code(tmp_path: Path) -> None:
    named = list(runs(tmp_path))
    scenarios = [Description.load(run.scenario, run.settings).without_sweep() for run in named]
    answers = asked([question(scenario) for scenario in scenarios])
    tables = 0
    for run, scenario, answer in zip(named, scenarios, answers, strict=True):
        with Prepared.of(scenario) as prepared:
            assert answer == native(prepared), run.name
        tables += len(answer["rows"])
    assert len(named) > 100
    assert tables > 400


def problem(file: str, found: Mapping[str, Any]) -> str:
    """A problem as `farweb check` prints it."""
    if not found["key"]:
        return f"{file}:{found['line']}:{found['column']}: {found['message']}"
    return f"{file}:{found['line']}: {found['key']}: {found['message']}"


def test_bad_input_ends_in_the_same_words() -> None:
    texts = [file.read_text("utf-8", "replace") for file in sorted((SEEDS / "scenario").iterdir())]
    texts += ["", "\0", "format = 2", "[" * 10_000, "a" * 1_000_001]
    wrong = 0
    for text, answer in zip(texts, asked([{"check": text} for text in texts]), strict=True):
        try:
            scenario = _core.Scenario.parse(text, "scenario", {})
        except _core.ScenarioError as error:
            assert [problem("scenario", each) for each in answer["problems"]] == str(error).splitlines()[:-1]
            wrong += 1
        else:
            assert answer["effective"] == json.loads(scenario.effective())
    assert 5 < wrong < len(texts)

    folders = [SEEDS / name for name in ("request_table", "host_table", "packed", "gzip", "log", "scenario")]
    files = [file for folder in folders for file in sorted(folder.iterdir())]
    tables = [{"tables": {"name": str(file), "file": str(file)}} for file in files]
    for file, answer in zip(files, asked(tables), strict=True):
        try:
            _core.Prepared(str(file), str(file))
        except _core.WorkloadError as error:
            assert answer == {"error": str(error)}
        else:
            assert answer == {}
