"""What `farweb size` found, as it left it in the manifest of its folder."""

from collections.abc import Mapping
from typing import Any

from farweb.report import page
from farweb.report.naming import names_of
from farweb.report.words import listed
from farweb.sheet import Sheet
from farweb.sweep.results import SweepResults


def question_of(sweep: SweepResults) -> str:
    """What was searched for; empty when the folder is none of a search."""
    search = sweep.manifest.get("search")
    if search is None:
        return ""
    kind = "largest" if search["largest"] else "smallest"
    return f"What is the {kind} {names_of(sweep).get(search['key'], search['key'])} with {search['target']}?"


def answer_of(sweep: SweepResults) -> list[tuple[str, str]]:
    """The answer as a fact; nothing as long as there is none."""
    text = (sweep.manifest.get("search") or {}).get("text")
    return [("Answer:", text)] if text else []


def metrics_of(sweep: SweepResults) -> list[str]:
    """Names of the metrics that the target is about."""
    estimates = [each for tried in _found(sweep).get("curve", ()) for each in tried["estimates"]]
    return list(dict.fromkeys(each["metric"] for each in estimates))


def tried_of(sweep: SweepResults) -> str:
    """The values that were tried, and whether they meet the target."""
    found = _found(sweep)
    rows = [[tried["label"], str(tried["n"]), str(tried["verdict"])] for tried in found.get("curve", ())]
    names = [names_of(sweep)[factor.name] for factor in sweep.design.factors]
    return page.table(Sheet("Values tried", [listed(names), "runs", "target"], rows))


def warnings_of(sweep: SweepResults) -> list[str]:
    """What the search said is to be known before the answer is used."""
    return [str(warning) for warning in _found(sweep).get("warnings", ())]


def _found(sweep: SweepResults) -> Mapping[str, Any]:
    found: Mapping[str, Any] = (sweep.manifest.get("search") or {}).get("answer") or {}
    return found
