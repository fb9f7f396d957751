"""The scoreboard: each published claim, its measurement and verdict, as JSON, as tables and as Markdown."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from string import Formatter
from typing import TYPE_CHECKING, Any

from farweb.errors import ResultsError
from farweb.reproduce.claims import Measured, Verdict, judge, not_run
from farweb.reproduce.study import Study, StudyResults
from farweb.text.quantities import number
from farweb.text.sheet import Screen, Sheet

if TYPE_CHECKING:
    from rich.console import RenderableType


@dataclass(frozen=True)
class Scoreboard:
    """The verdicts on the claims of some studies.

    Attributes:
        verdicts: A claim each, in the order of the studies and their papers.
    """

    verdicts: tuple[Verdict, ...]

    @property
    def failed(self) -> int:
        """The number of claims that are not met."""
        return self.count("fail")

    def count(self, verdict: str) -> int:
        """Count the claims with this verdict."""
        return sum(each.verdict == verdict for each in self.verdicts)

    @property
    def text(self) -> str:
        """The count of verdicts in a line: ``30 of 35 claims pass, 4 fail, 1 not run``.

        Claims that the workload was fitted to are counted apart: ``18 of 32 predictions pass, 14 fail; 3 of 3 fitted``.
        """
        fitted = [each for each in self.verdicts if each.claim.fitted]
        predicted = [each.verdict for each in self.verdicts if not each.claim.fitted]
        rest = [f"{predicted.count(word)} {word}" for word in ("fail", "not run") if word in predicted]
        what = "predictions" if fitted else "claims"
        text = ", ".join([f"{predicted.count('pass')} of {len(predicted)} {what} pass", *rest])
        met = sum(each.verdict == "pass" for each in fitted)
        return f"{text}; {met} of {len(fitted)} fitted" if fitted else text

    def of(self, study: Study) -> "Scoreboard":
        """The part of it that is a study's."""
        return Scoreboard(tuple(each for each in self.verdicts if each.study == study.name))

    def to_dict(self) -> dict[str, Any]:
        """All of it, for JSON."""
        return {"claims": [each.to_dict() for each in self.verdicts]}

    def sheet(self, title: str) -> Sheet:
        """A table for people: a row a claim, without columns that no claim fills."""
        rows = [_row(each) for each in self.verdicts]
        header = [name for name in _COLUMNS if name not in _SOMETIMES or any(row[name] for row in rows)]
        return Sheet(title, header, [[row[name] for name in header] for row in rows], names=len(header) - 2)

    def markdown(self) -> str:
        """A table and the explanations below it, as Markdown."""
        sheet = self.sheet("")
        lines = ["| " + " | ".join(sheet.header) + " |", "|" + "---|" * len(sheet.header)]
        lines += ["| " + " | ".join(_cell(cell) for cell in row) + " |" for row in sheet.rows]
        notes = [f"- **{each.claim.id}** {each.verdict}: {each.why}" for each in self.verdicts if each.why]
        return "\n".join([*lines, "", *notes, ""] if notes else [*lines, ""])

    def __rich__(self) -> "RenderableType":
        from rich.console import Group
        from rich.text import Text

        notes = [Text(f"{each.claim.id} {each.verdict}: {each.why}") for each in self.verdicts if each.why]
        return Group(Screen((self.sheet("Published claims"),)), *notes, Text(self.text, style="bold"))


def judge_study(results: StudyResults) -> Scoreboard:
    """Measure every claim of a study.

    Raises:
        FarwebError: A claim has no measure, or a measure is for no claim.
    """
    measures = results.study.measures
    verdicts = []
    for claim in results.study.claims:
        try:
            measured: Sequence[Measured] = measures[claim.id](results)
        except ResultsError as error:
            verdicts.append(not_run(claim, results.study.name, str(error)))
        else:
            verdicts.append(judge(claim, results.study.name, measured))
    return Scoreboard(tuple(_explained(verdicts, results)))


def _explained(verdicts: Sequence[Verdict], results: StudyResults) -> Iterator[Verdict]:
    """The verdicts with the numbers of these runs in their reasons.

    Raises:
        FarwebError: A reason names neither a claim nor a fact of the study.
    """
    values = {
        each.claim.id: measured_text(replace(each.measured, low=None, what=""), each.claim.unit)
        for each in verdicts
        if each.measured is not None
    }
    for each in verdicts:
        names = [name for _, name, _, _ in Formatter().parse(each.why) if name]
        filled = {name: values.get(name) or results.study.fact(name, results) for name in names}
        yield replace(each, why=each.why.format_map(filled)) if names else each


def together(boards: Iterable[Scoreboard]) -> Scoreboard:
    """The scoreboards of several studies as one."""
    return Scoreboard(tuple(verdict for board in boards for verdict in board.verdicts))


_COLUMNS = ("", "claim", "published", "reference", "tolerance", "range", "measured", "decided by", "verdict")
_SOMETIMES = ("reference", "range", "decided by")


def _row(verdict: Verdict) -> dict[str, str]:
    claim = verdict.claim
    value = "–" if verdict.measured is None else measured_text(verdict.measured, claim.unit)
    return {
        "": claim.id,
        "claim": claim.claim,
        "published": claim.published,
        "reference": claim.reference,
        "tolerance": claim.tolerance,
        "range": claim.range,
        "measured": value,
        "decided by": claim.decides,
        "verdict": f"{verdict.verdict} (fitted)" if claim.fitted else verdict.verdict,
    }


def measured_text(measured: Measured, unit: str) -> str:
    """A measurement in words: ``2.21 Mbit/s``, below it its interval and subject."""
    lines = [f"{number(measured.value)} {unit}".rstrip()]
    if measured.low is not None and measured.high is not None:
        lines.append(f"{number(measured.low)} … {number(measured.high)}")
    return "\n".join(lines + ([measured.what] if measured.what else []))


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", "<br>")
