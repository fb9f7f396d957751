"""Explains a scenario without simulating it."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from farweb.description import Description
from farweb.extent import Extent, extent_of_run, extent_of_sweep, sheet
from farweb.inputs.tables import open_hosts
from farweb.offered import Offered, Trace, offered, read_trace
from farweb.text.sheet import Sheet, to_html

if TYPE_CHECKING:
    from rich.console import RenderableType

_LABEL_WIDTH = 24  # as the core aligns what `check` says


@dataclass(frozen=True)
class Check:
    """Explanation of a scenario: what its path, legs and workload amount to.

    Attributes:
        figures: Links, legs and warnings with their numbers; units are in the names.
        scenario: The scenario after overrides, every default spelled out.
        offered: What the workload offers to the links; None without requests or without a rate, or when there are too
            many to lay them over each other.
        extents: Estimated size of a run and, if there is one, of the sweep; empty without requests.
    """

    figures: Mapping[str, Any]
    scenario: Mapping[str, Any]
    offered: Offered | None = None
    extents: tuple[Extent, ...] = ()

    @property
    def text(self) -> str:
        """The path drawn in text, and a paragraph a leg."""
        return str(self.figures["text"])

    @property
    def warnings(self) -> list[str]:
        """Warnings about settings that are allowed but may be mistakes."""
        return list(self.figures["warnings"])

    def to_dict(self) -> dict[str, Any]:
        """All of it, for JSON."""
        return {"check": dict(self.figures), "scenario": dict(self.scenario)}

    def __rich__(self) -> "RenderableType":
        from rich.console import Group
        from rich.padding import Padding
        from rich.table import Table
        from rich.text import Text

        from farweb.text.sheet import to_rich

        parts: list[RenderableType] = []
        for line in self.text.rstrip().splitlines():
            if found := re.fullmatch(r"  (\S.*?)  +(\S.*)", line):  # a label and what it says, which may be folded
                pair = Table.grid(padding=(0, 1, 0, 0))
                pair.add_column(min_width=_LABEL_WIDTH)
                pair.add_column(overflow="fold")
                pair.add_row(found[1], Text(found[2]))
                parts.append(Padding(pair, (0, 0, 0, 2)))
            else:
                parts.append(Text(line))
        parts += [part for each in self._sheets() for part in (Text(""), to_rich([each]))]
        parts += [Text.assemble(("warning: ", "yellow"), warning) for warning in self.warnings]
        return Group(*parts)

    def _repr_html_(self) -> str:
        warnings = "".join(f"<li>{escape(warning)}</li>" for warning in self.warnings)
        return f"<pre>{escape(self.text)}</pre>{to_html(self._sheets())}<ul>{warnings}</ul>"

    def _sheets(self) -> list[Sheet]:
        load = [] if self.offered is None else [self.offered.sheet()]
        return load + ([sheet(self.extents)] if self.extents else [])


def check(scenario: Description) -> Check:
    """Explain a scenario.

    Reads the tables of the workload, if they are there, and simulates nothing.

    Raises:
        WorkloadError: A table cannot be used.
    """
    hosts = None if scenario.hosts_path is None else open_hosts(scenario.hosts_path)
    figures = json.loads(scenario.core.check(hosts))
    requests = scenario.requests_path
    if requests is not None and not requests.exists():
        figures["warnings"].append(f"workload.requests: {requests} does not exist yet; a run needs it")
    trace = read_trace(scenario, figures)
    load, extents = (None, ()) if trace is None else _sized(scenario, figures, trace)
    figures["offered"] = None if load is None else load.to_dict()
    figures["extents"] = [extent.to_dict() for extent in extents]
    figures["warnings"] += [] if load is None else load.warnings
    figures["warnings"] += [warning for extent in extents for warning in extent.warnings]
    return Check(figures, scenario.effective, load, extents)


def _sized(
    scenario: Description, figures: Mapping[str, Any], trace: Trace
) -> tuple[Offered | None, tuple[Extent, ...]]:
    """The load on the links, and the size of a run and of the sweep."""
    extent = extent_of_run(scenario, figures, trace)
    load = offered(scenario, figures, trace) if extent.is_allowed else None
    sweep = None if scenario.design is None else extent_of_sweep(scenario, trace)
    return load, (extent,) if sweep is None else (extent, sweep)
