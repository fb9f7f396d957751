"""The answer of a what-if: changes ranked by the time that each saves, and its screen."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farweb.check.warned import Warned
from farweb.judge.judgement import cell_of
from farweb.judge.sentences import called, part_of
from farweb.judge.verdicts import Word
from farweb.statistics.intervals import Estimate
from farweb.text.quantities import seconds, share
from farweb.text.sheet import Sheet, Shown
from farweb.text.words import capital, listed, plural
from farweb.whatif.changes import Change

Floats = NDArray[np.float64]

_LEAST = 0.01
"""Share of a time below which nothing is saved. Chosen, as the rule of verdicts has it."""


_WARNINGS_MAX = 2

_AT_MOST = "at most"
"""Stands for the verdict of a bound."""


@dataclass(frozen=True)
class Effect:
    """Effect of changes made together on the times of visits, in s: less is negative.

    Attributes:
        changes: The changes.
        first: Difference of first visits, or of a visit's first requests. None where no client is named.
        later: Difference of later ones.
        overall: Difference of all.
        helped: Share of all that become faster by what counts.
        word: The verdict on them all.
        alone: The slice that the word is for, as `Verdict.alone`.
        is_sure: True where they all take less time for sure, by 1 % or more.
        hits: Share of the requests that a live edge among them answers. None without one.
    """

    changes: tuple[Change, ...]
    first: Estimate | None
    later: Estimate | None
    overall: Estimate
    helped: float
    word: Word
    alone: str = ""
    is_sure: bool = False
    hits: float | None = None

    @property
    def name(self) -> str:
        """The names of the changes."""
        return " + ".join(change.name for change in self.changes)

    @property
    def helps(self) -> bool:
        """True where the changes save time for sure, and are made to save time."""
        return self.is_sure and self.is_better

    @property
    def is_better(self) -> bool:
        """True where the changes are better, be it for a slice alone, and are made to save time."""
        return self.word.endswith("better") and all(
            change.is_for_speed and not change.is_bound for change in self.changes
        )

    @property
    def is_bound(self) -> bool:
        """True for the most that something could save."""
        return any(change.is_bound for change in self.changes)

    @property
    def is_told(self) -> bool:
        """True where the first line may name it."""
        return all(change.is_told for change in self.changes)

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values, for JSON."""
        return {
            "change": self.name,
            "first_s": _mean(self.first),
            "later_s": _mean(self.later),
            "all_s": self.overall.value,
            "low_s": self.overall.low,
            "high_s": self.overall.high,
            "helped_share": self.helped,
            "verdict": self.word,
            "for": self.alone or None,
            "hits_share": self.hits,
            "at_most": self.is_bound,
        }


def are_disputed(ratios: Floats) -> bool:
    """True where changes take more time in one draw, and less in another: of time with them over time without."""
    return bool((ratios >= 1 + _LEAST).any() and (ratios <= 1 / (1 + _LEAST)).any())


def ranked(effects: Sequence[Effect]) -> list[Effect]:
    """Effects in order: sure help first, then the largest saving; bounds last."""
    return sorted(effects, key=lambda each: (each.is_bound, not each.helps, each.overall.value or 0.0))


def helping(effects: Sequence[Effect]) -> list[Change]:
    """The changes that help for sure, the best first."""
    return [change for each in ranked(effects) if each.helps for change in each.changes]


@dataclass(frozen=True)
class WhatIf(Shown):
    """Changes and their savings.

    Attributes:
        about: The page or the requests, their path and protocol.
        first_s: Mean time, unchanged, of first visits or of a visit's first requests. None where no client is named.
        later_s: Of later ones.
        overall_s: Of all.
        effects: Of each change, in order.
        together: Of the best two, and of the best three.
        left: Names of changes that do not apply, by reason.
        nouns: Words for a first visit, a later one, and any.
        ends: Name of the column with the ends of an interval.
        holds: Scope of the intervals, and limits of the file.
        results: Folder of the runs of a log or scenario. None of a page.
        recording: The page as `Recording.facts` has it. None of a log or scenario.
        warned: Warnings about the unchanged scenario. None of a page.
    """

    about: str
    first_s: float | None
    later_s: float | None
    overall_s: float
    effects: Sequence[Effect]
    together: Sequence[Effect]
    left: Mapping[str, Sequence[str]]
    nouns: tuple[str, str, str]
    ends: str
    holds: str
    results: str | None = None
    recording: Mapping[str, Any] | None = None
    warned: Sequence[Warned] = ()

    @property
    def text(self) -> str:
        """What to do first, a sentence."""
        best = self.effects[0] if self.effects else None
        most = "".join(
            f" {capital(each.name)}, if it had everything: {_off(each.overall, self.overall_s, self.nouns[2])}."
            for each in self.effects
            if each.is_told and each.is_bound and each.is_sure and each.word.endswith("better")
        )
        if best is None or not best.helps:
            return f"None of these changes is shown to help{self._for_some()}.{most}"
        parts = zip((best.first, best.later), (self.first_s, self.later_s), self.nouns, strict=False)
        off = [_off(each, base_s, noun) for each, base_s, noun in parts if each is not None and base_s is not None]
        if not off or best.first == best.later:
            off = [_off(best.overall, self.overall_s, self.nouns[2])]
        hits = "" if best.hits is None else f", with {share(best.hits)} of hits"
        return f"First: {best.name}{hits}. It takes {listed(off)}.{most}"

    def _for_some(self) -> str:
        """The change with the largest saving of those that are better for a slice alone."""
        found = next((each for each in self.effects if each.alone and each.is_better), None)
        return "" if found is None else f" on average; {found.name} is {found.word} for {called(found.alone)}"

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values, for JSON."""
        return {
            "results": self.results,
            "recording": self.recording,
            "text": self.text,
            "as_it_is": {"first_s": self.first_s, "later_s": self.later_s, "all_s": self.overall_s},
            "changes": [each.to_dict() for each in self.effects],
            "together": [{**each.to_dict(), "sum_s": self._sum(each)} for each in self.together],
            "warnings": [str(each) for each in self.warned],
            "left_out": [{"change": name, "reason": why} for why, names in self.left.items() for name in names],
        }

    def _parts(self) -> Iterator[Sheet | str]:
        """The first thing to do, all changes in a table, the best ones together, and the changes left out."""
        yield self.text
        yield self.about
        yield ""
        yield self._sheet()
        if any(each.is_bound for each in self.effects):
            yield f"{capital(_AT_MOST)}: a cache that has everything from the start, which cannot be bought."
        yield from self._combined()
        if self.left:
            parts = (f"{', '.join(names)} ({why})" for why, names in self.left.items())
            yield f"Left out: {'; '.join(parts)}."
        yield self.holds
        yield from (f"warning: {each}" for each in self.warned[:_WARNINGS_MAX])
        if len(self.warned) > _WARNINGS_MAX:
            yield f"+ {plural(len(self.warned) - _WARNINGS_MAX, 'warning')} more (farweb check)"

    def _sheet(self) -> Sheet:
        """A row a change. Columns without any value are left out."""
        header = ("change, in ms", "first", "later", "all", self.ends, "helps", "")
        rows = [
            (
                each.name,
                _ms(_mean(each.first)),
                _ms(_mean(each.later)),
                _ms(each.overall.value),
                "" if each.overall.low is None else f"{_ms(each.overall.low)} … {_ms(each.overall.high)}",
                part_of(each.helped),
                _AT_MOST if each.is_bound else cell_of(each.word, each.alone),
            )
            for each in self.effects
        ]
        known = [place for place in range(len(header)) if any(row[place] for row in rows)]
        spare = [known.index(place) for place in (4, 1, 2) if place in known]  # the interval, then visits' parts
        shown = [[row[place] for place in known] for row in rows]
        return Sheet("", [header[place] for place in known], shown, is_whole=True, spare=spare)

    def _combined(self) -> Iterator[str]:
        """The best changes together against the sum of each alone."""
        for each in self.together:
            made, summed = _mean(each.overall), self._sum(each)
            yield f"{each.name}: {_ms(made)} ms together, {_ms(summed)} added up."

    def _sum(self, together: Effect) -> float:
        alone = {each.changes: each.overall.value or 0.0 for each in self.effects}
        return sum(alone[(change,)] for change in together.changes)


def _off(saved: Estimate, base_s: float, noun: str) -> str:
    less = saved.value or 0.0
    if abs(less) < _LEAST * base_s:
        return f"nothing off the {seconds(base_s)} of {noun}"
    return f"{seconds(abs(less))} {'off' if less < 0 else 'more than'} the {seconds(base_s)} of {noun}"


def _mean(found: Estimate | None) -> float | None:
    return None if found is None else found.value


def _ms(value_s: float | None) -> str:
    """A difference in whole ms with its sign."""
    if value_s is None:
        return ""
    size = f"{abs(1000 * value_s):,.0f}"
    return size if size == "0" else f"{'−' if value_s < 0 else '+'}{size}"
