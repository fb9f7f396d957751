"""Explains a scenario without simulating it."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from farweb.description import Description
from farweb.inputs.tables import open_hosts
from farweb.offered import Offered, offered

if TYPE_CHECKING:
    from rich.console import RenderableType

_LABEL_WIDTH = 24  # as the core aligns what `check` says


@dataclass(frozen=True)
class Check:
    """Explanation of a scenario: what its path, legs and workload amount to.

    Attributes:
        figures: Links, legs and warnings with their numbers; units are in the names.
        scenario: The scenario after overrides, every default spelled out.
        offered: What the workload offers to the links; None without requests or without a rate.
    """

    figures: Mapping[str, Any]
    scenario: Mapping[str, Any]
    offered: Offered | None = None

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
        parts += [] if self.offered is None else [Text(""), to_rich([self.offered.sheet()])]
        parts += [Text.assemble(("warning: ", "yellow"), warning) for warning in self.warnings]
        return Group(*parts)

    def _repr_html_(self) -> str:
        from farweb.text.sheet import to_html

        warnings = "".join(f"<li>{escape(warning)}</li>" for warning in self.warnings)
        load = "" if self.offered is None else to_html([self.offered.sheet()])
        return f"<pre>{escape(self.text)}</pre>{load}<ul>{warnings}</ul>"


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
    load = offered(scenario, figures)
    figures["offered"] = None if load is None else load.to_dict()
    figures["warnings"] += [] if load is None else load.warnings
    return Check(figures, scenario.effective, load)
