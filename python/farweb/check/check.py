"""Explains a scenario without simulating it."""

import itertools
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from farweb import _core
from farweb.check.extent import Extent, core_check, points_of_sweep, sheet
from farweb.check.offered import Offered
from farweb.check.warned import Warned, warned
from farweb.inputs.carried import LOW, carried
from farweb.inputs.description import Description
from farweb.inputs.prepared import Prepared
from farweb.inputs.provenance import doubts, server_times
from farweb.results.design import Design
from farweb.results.legs import decrypting
from farweb.text.sheet import Screen, Sheet, Shown
from farweb.text.words import elided, listed, plural

_WARNINGS_MAX = 3
_LETTERS = 600  # of a line that is not folded, a name or a drawing. Chosen: some lines of a terminal
_NAME = 40  # letters of a point in a sentence. Chosen: half a line


@dataclass(frozen=True)
class Check(Shown):
    """Explanation of a scenario: its path, legs and workload in numbers.

    Attributes:
        figures: Links, legs and warnings with their numbers, units in the names.
        scenario: The scenario after overrides, every default spelled out.
        answer: One sentence: if the path can carry the load, the least time of a request, and where TLS ends on the
            way.
        rows: Facts about the path, the requests and each leg: a label and a few words.
        lines: The path drawn in text, and a paragraph a leg: words, or a label and words.
        offered: Load offered to the links, or None without requests, without a rate, or with too many requests to lay
            out.
        extents: Estimated size of a run and, if there is one, of the sweep, or empty without requests.
        sheets: Tables of the load and of the size.
        warned: Warnings about settings that are allowed but may be mistakes.
        design: Of the sweep, or None without one.
    """

    figures: Mapping[str, Any]
    scenario: Mapping[str, Any]
    answer: str
    rows: list[list[str]]
    lines: list[str | list[str]]
    offered: Offered | None = None
    extents: tuple[Extent, ...] = ()
    sheets: tuple[Sheet, ...] = ()
    warned: tuple[Warned, ...] = ()
    design: Design | None = None

    @property
    def text(self) -> str:
        """The path drawn in text, and a paragraph a leg."""
        return str(self.figures["text"])

    @property
    def warnings(self) -> list[str]:
        """The warnings as lines."""
        return [str(each) for each in self.warned]

    def to_dict(self) -> dict[str, Any]:
        """All of it, for JSON."""
        return {"answer": self.answer, "check": dict(self.figures), "scenario": dict(self.scenario)}

    def screen(self, details: bool = False) -> Screen:
        """The answer in a screen, with `details` the path drawn, every leg, load and warning."""
        shown: list[Sheet | str] = [self.answer, ""]
        shown += self._details() if details else [Sheet("", ["", ""], [*self._sweep(), *self.rows])]
        most = len(self.warnings) if details else _WARNINGS_MAX
        shown += [f"warning: {warning}" for warning in self.warnings[:most]]
        if len(self.warnings) > most:
            shown.append(f"+ {plural(len(self.warnings) - most, 'warning')} more (--details)")
        return Screen(tuple(shown))

    def _sweep(self) -> list[list[str]]:
        """A row about the points of a sweep, as the others are about the scenario without it."""
        if self.design is None:
            return []
        names = listed(list(self.design.short_names.values()))
        return [["sweep", f"{plural(len(self.design.points), 'point')} of {names}; below is the scenario without it"]]

    def _details(self) -> Iterator[Sheet | str]:
        for _, group in itertools.groupby(self.lines, type):
            lines = list(group)
            yield from (elided(line, _LETTERS) for line in lines if isinstance(line, str))
            if rows := [[f"  {line[0]}", line[1]] for line in lines if not isinstance(line, str)]:
                yield Sheet("", ["", ""], rows)
        yield from self.sheets


def check(scenario: Description) -> Check:
    """Explain a scenario (see `Scenario.check`)."""
    with Prepared.of(scenario, may_lack=True) as prepared:
        return explained(scenario, prepared)


def explained(scenario: Description, prepared: Prepared, base: _core.Check | None = None) -> Check:
    """Explain a scenario with open files. `base` is its check by the core, where there is one.

    Raises:
        WorkloadError: A table cannot be used.
    """
    base = base or core_check(scenario, prepared)
    figures, said = json.loads(base.figures()), json.loads(base.said())
    answer, found, extents = said["answer"], warned(figures["warnings"]), [Extent.of([base], 1)]
    found += _of_table(scenario, prepared, figures, said)
    found += warned(said["warnings"])
    figures["points"] = []
    if scenario.design is not None and figures["tls"] is not None:
        design = scenario.design
        points = points_of_sweep(scenario, prepared, base)
        extents.append(Extent.of(points.values(), len(design.points) * design.replications))
        if points:
            names = [design.point_name(number) for number in points]
            shown = [(elided(name, _NAME), point) for name, point in zip(names, points.values(), strict=True)]
            swept = json.loads(_core.answer_of(shown, len(design.points)))
            answer, keys = swept["answer"], {warning.key for warning in found}
            found += [each for each in warned(swept["warnings"]) if each.key not in keys]
            figures["points"] = [{"name": name, **each} for name, each in zip(names, swept["points"], strict=True)]
    known = tuple(extent for extent in extents if extent is not None)
    found += [warning for extent in known for warning in extent.warned]
    figures["warnings"] = [str(each) for each in found]
    figures["extents"] = [extent.to_dict() for extent in known]
    return Check(
        figures,
        scenario.effective,
        answer + decrypting(scenario.effective),
        [*said["rows"], *(extent.row for extent in known)],
        said["lines"],
        Offered.of(figures["offered"]) if figures["offered"] else None,
        known,
        (*([Sheet(**said["sheet"])] if said["sheet"] else []), *([sheet(known)] if known else [])),
        tuple(found),
        scenario.design,
    )


def _of_table(
    scenario: Description, prepared: Prepared, figures: dict[str, Any], said: dict[str, Any]
) -> Iterator[Warned]:
    """Warnings about the request table by what its import kept, which goes into `figures` and `said` as well."""
    requests, kept = scenario.inputs().get("requests"), prepared.imported
    if requests is not None and "requests" not in prepared.inputs:
        yield Warned("workload.requests", f"{requests.path} does not exist yet; a run needs it")
    part = None if requests is None or kept is None else carried(requests.path.name, kept)
    figures["servers"] = None if kept is None else server_times(kept)
    figures["carried_bytes_share"] = None if part is None else part.share
    more = [] if said["bypassing"] is None else [said["bypassing"]]
    more += [] if part is None else ["", f"{part.table} from {part.text}"]
    more += [] if figures["clients"] is None else ["", figures["clients"]["text"]]
    figures["text"] += "".join(f"{line}\n" for line in more)
    said["lines"] += more
    said["rows"] += [] if part is None else [["log", part.text]]
    said["rows"] += [["servers", figures["servers"]]] if figures["servers"] else []
    yield from (Warned("workload.requests", each) for each in ([] if kept is None else doubts(kept)))
    if part is not None and part.share < LOW:
        yield Warned("workload.requests", f"{part.text}; the load is smaller than the log's")
