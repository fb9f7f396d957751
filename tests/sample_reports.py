"""Results with whole scenarios in their manifests, as reports read them; and pages without pictures."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from farweb.library.run_results import Results
from farweb.library.scenario import Scenario
from farweb.library.sweep_results import SweepResults
from samples import SCENARIO


def scenario(folder: Path, overrides: Mapping[str, Any] | None = None, text: str = SCENARIO) -> dict[str, Any]:
    """An effective scenario, as manifests have it."""
    file = folder / "scenario.toml"
    file.write_text(text, "utf-8")
    return Scenario.load(file, overrides).effective


def with_scenario(results: Results, effective: Mapping[str, Any]) -> Results:
    """The result with this scenario in its manifest."""
    _change(results.path / "manifest.json", {"scenario": effective})
    return Results.open(results.path)


def with_manifest(sweep: SweepResults, values: Mapping[str, Any]) -> SweepResults:
    """The sweep with these values in its manifest."""
    _change(sweep.path / "manifest.json", values)
    return SweepResults.open(sweep.path)


def with_scenarios(sweep: SweepResults, overrides: Any = None, text: str = SCENARIO) -> SweepResults:
    """The sweep with a scenario in its manifest and its parts' manifests.

    Args:
        sweep: Made by hand.
        overrides: From the levels of a point, as their labels, the keys of the scenario that they set; the factors'
            own names when left out.
        text: The scenario. Each replication has requests of its own: those made by hand differ.
    """
    text = text.replace('"requests.csv"', '"requests-{seed}.csv"')
    made: dict[int, dict[str, Any]] = {}
    for part in sweep.path.glob("parts/run=*/manifest.json"):
        point = json.loads(part.read_text("utf-8"))["point"]
        if point not in made:
            labels = {name: level.label for name, level in sweep.design.levels(point).items()}
            made[point] = scenario(sweep.path.parent, overrides(labels) if overrides else labels, text)
        _change(part, {"scenario": made[point]})
    inputs = {"requests": {"file": "requests.csv", "sha256": "0" * 64, "rows": 3}}
    return with_manifest(sweep, {"scenario": scenario(sweep.path.parent, None, text), "inputs": inputs})


@contextmanager
def bare_figures() -> Iterator[None]:
    """Figures have their title and caption, but no axes, and give no picture: most of what a page of words costs."""
    from farweb.paint import chart

    def bare(figure: Any) -> chart.Chart:
        made = chart.Chart(figsize=figure.size)
        made.description = made.drawn = figure
        chart.frame(made, figure.title, figure.caption)
        return made

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("farweb.paint.paper.paint", bare)
        patch.setattr(chart, "encode", lambda made, suffix: b"<svg></svg>")
        yield


def _change(manifest: Path, values: Mapping[str, Any]) -> None:
    shown = json.loads(manifest.read_text("utf-8"))
    manifest.write_text(json.dumps({**shown, **values}), "utf-8")
