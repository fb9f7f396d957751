"""What `farweb size` found, as it left it in the manifest of its folder."""

import shlex
from collections.abc import Mapping
from typing import Any

from farweb.report.naming import names_of
from farweb.report.words import plural
from farweb.results.sweep import SweepTables
from farweb.text.quantities import share


def question_of(sweep: SweepTables) -> str:
    """What was searched for; empty when the folder is none of a search."""
    if "search" not in sweep.manifest:
        return ""
    return f"What is the {_wanted(sweep)}?"


def answer_of(sweep: SweepTables) -> list[tuple[str, str]]:
    """The answer as a fact; nothing as long as there is none."""
    found = _found(sweep)
    if not found:
        return []
    search, runs = sweep.manifest["search"], plural(found["runs"], "run")
    sure = "the seed makes no difference" if found["without_chance"] else f"at {share(found['confidence'])} confidence"
    if found["answer"] is None:
        verb = "meets" if found["attainable"] is False else "was shown to meet"
        span = f"{found['curve'][0]['label']} to {found['curve'][-1]['label']}"
        return [
            (f"No value from {span} {verb} {search['target']}:", f"{'; '.join(found['reached'])} ({sure}; {runs}).")
        ]
    answer, other = found["answer"]["label"], found["high" if search["largest"] else "low"]
    between = "the end of what was tried" if other is None else f"{other['label']} does not meet it"
    wanted = _wanted(sweep)
    return [(f"{wanted[:1].upper()}{wanted[1:]}: {answer}", f"({between}, {sure}; {runs}).")]


def _wanted(sweep: SweepTables) -> str:
    search = sweep.manifest["search"]
    key = names_of(sweep).get(search["key"], search["key"])
    return f"{'largest' if search['largest'] else 'smallest'} {key} with {search['target']}"


def metrics_of(sweep: SweepTables) -> list[str]:
    """Names of the metrics that the target is about."""
    estimates = [each for tried in _found(sweep).get("curve", ()) for each in tried["estimates"]]
    return list(dict.fromkeys(each["metric"] for each in estimates))


def verdicts_of(sweep: SweepTables) -> dict[str, list[str]]:
    """Of each value that was tried, by its label: how many runs it took, and whether it meets the target."""
    return {tried["label"]: [str(tried["n"]), str(tried["verdict"])] for tried in _found(sweep).get("curve", ())}


def command_of(sweep: SweepTables, folder: str) -> str:
    """The command line of the search."""
    search, curve = sweep.manifest["search"], [tried["label"] for tried in _found(sweep).get("curve", ())]
    labels = curve or [level.label for factor in sweep.design.factors for level in factor.levels]
    has_numbers = all(level.number is not None for factor in sweep.design.factors for level in factor.levels)
    values = f"{labels[0]}..{labels[-1]}" if has_numbers else ",".join(labels)
    options = [f"--vary {shlex.quote(search['key'] + '=' + values)}", f"--target {shlex.quote(search['target'])}"]
    options += ["--largest"] if search["largest"] else []
    return f"farweb size scenario.toml {' '.join(options)} --out {shlex.quote(folder)}"


def warnings_of(sweep: SweepTables) -> list[str]:
    """What the search said is to be known before the answer is used."""
    return [str(warning) for warning in _found(sweep).get("warnings", ())]


def _found(sweep: SweepTables) -> Mapping[str, Any]:
    found: Mapping[str, Any] = (sweep.manifest.get("search") or {}).get("answer") or {}
    return found
