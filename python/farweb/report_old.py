"""A report: one HTML page with everything inside it, to mail, archive or print.

The page holds its figures as embedded images and refers to nothing outside; its content policy forbids it to. The same
results give the same page, byte for byte, but for the times that the manifests record.
"""

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from farweb.atomic import staged_file
from farweb.plot.measured import labels
from farweb.quantities import count, seconds
from farweb.results import Results
from farweb.sheet import Sheet, to_html

if TYPE_CHECKING:
    from farweb.importer import ImportReport
    from farweb.plot.style import Chart
    from farweb.scenario import Check


@dataclass(frozen=True)
class Report:
    """What a report tells.

    Attributes:
        title: Its heading.
        lead: A sentence or two below it: what was asked, and of what.
        results: The runs, in the order in which the table has them.
        checks: What each run's scenario means; as many as there are results.
        charts: The figures, as `farweb.plot.draw` returns them.
        imported: How the requests came about; None when they were not made from a log.
    """

    title: str
    lead: str
    results: Sequence[Results]
    checks: "Sequence[Check]"
    charts: "Sequence[Chart]"
    imported: "ImportReport | None" = None

    def write(self, out: Path) -> None:
        """Write the page.

        Raises:
            RunError: The place cannot be written to.
        """
        with staged_file(out) as stage:
            stage.write_text(self.html(), "utf-8")

    def html(self) -> str:
        """The page."""
        names = labels(self.results)
        sections = [
            _section("Results", _wide(to_html([latency_sheet(self.results)])) + _NOTE),
            _section("Figures", "".join(_figure(chart) for chart in self.charts)),
            _section("Paths", "".join(_path(*each) for each in zip(names, self.checks, strict=True))),
        ]
        if self.imported is not None:
            sections.append(_section("Log", self.imported._repr_html_()))
        manifests = "".join(_manifest(name, each.manifest) for name, each in zip(names, self.results, strict=True))
        sections.append(_section("What ran", _wide(to_html([_runs_sheet(self.results)])) + manifests))
        title = escape(self.title)
        return _PAGE.format(title=title, style=_STYLE, lead=escape(self.lead), body="".join(sections))


def latency_sheet(results: Sequence[Results]) -> Sheet:
    """A row a result: how many requests finished and failed, and how long they took."""
    rows = []
    for name, result in zip(labels(results), results, strict=True):
        summary = result.summary()
        latency = summary.latency
        times = (latency.p50_s, latency.p90_s, latency.p99_s, latency.mean_s, summary.first_byte.p50_s)
        rows.append([name, count(summary.done), count(summary.failed), *map(seconds, times)])
    header = ["", "done", "failed", "median", "90 %", "99 %", "mean", "first byte"]
    return Sheet("Latency of requests", header, rows)


def _runs_sheet(results: Sequence[Results]) -> Sheet:
    """A row a result: what it takes to run it again, and how much it was."""
    rows = []
    for name, result in zip(labels(results), results, strict=True):
        run = result.manifest
        rows.append(
            [
                name,
                str(run["version"]),
                str(run["seed"]),
                seconds(run["now_ns"] / 1e9),
                count(run["packet_hops"]),
                seconds(run["wall_s"]),
            ]
        )
    return Sheet("Runs", ["", "farweb", "seed", "simulated time", "packet-hops", "wall time"], rows)


_NOTE = (
    "<p class=note>Latency: from the start of a request at the first node to the last byte of its response there, of "
    "requests that finished. First byte: the median time to the first byte.</p>"
)


def _section(heading: str, body: str) -> str:
    return f"<section><h2>{escape(heading)}</h2>{body}</section>"


def _wide(html: str) -> str:
    """A table that scrolls by itself where the page is too narrow for it."""
    return f"<div class=wide>{html}</div>"


def _figure(chart: "Chart") -> str:
    """The figure as an embedded image; its caption is in the image, and in words for who cannot see it."""
    from farweb.plot.style import encode, words

    image = base64.b64encode(encode(chart, "png")).decode("ascii")
    return f'<figure><img alt="{escape(words(chart))}" src="data:image/png;base64,{image}"></figure>'


def _path(name: str, check: "Check") -> str:
    """What a scenario means, without its name, which is the heading."""
    text = check.text.removeprefix(str(check.figures["name"])).strip("\n")
    warnings = "".join(f"<p class=warning>Warning: {escape(warning)}</p>" for warning in check.warnings)
    return f"<h3>{escape(name)}</h3><pre>{escape(text)}</pre>{warnings}"


def _manifest(name: str, manifest: Mapping[str, Any]) -> str:
    text = json.dumps(manifest, indent=2, ensure_ascii=False)
    return f"<details><summary>{escape(name)}: manifest</summary><pre>{escape(text)}</pre></details>"


_STYLE = """
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #222; background: #fff;
       font: 16px/1.5 system-ui, "Segoe UI", "Helvetica Neue", Arial, sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.25; margin-bottom: .3rem; }
h2 { margin-top: 2.5rem; font-size: 1.25rem; } h3 { font-size: 1rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; margin: 1rem 0; }
caption { text-align: left; font-weight: 600; padding-bottom: .3rem; }
th, td { padding: .3rem .9rem .3rem 0; text-align: right; border-bottom: 1px solid #e3e3e3; white-space: nowrap; }
th { font-weight: 600; border-bottom-color: #6b6b6b; }
th:first-child, td:first-child { text-align: left; }
figure { margin: 1.5rem 0; } img { display: block; width: 100%; height: auto; }
pre { font-size: .8rem; line-height: 1.35; overflow-x: auto; background: #f6f6f6; padding: .8rem; }
.note { font-size: .9rem; color: #6b6b6b; } summary { cursor: pointer; }
.warning { border-left: 4px solid #e69f00; padding-left: .8rem; }
@media (max-width: 40rem) { table { font-size: .85rem; } th, td { padding-right: .6rem; } }
@page { margin: 16mm 15mm; }
@media print { body { margin: 0; padding: 0; max-width: none; font-size: 10.5pt; }
               h1 { margin-top: 0; } h2 { margin-top: 1.5rem; } h2, h3, caption { break-after: avoid; }
               figure { margin: .5rem 0 1rem; } img { width: 94%; }
               figure, table, pre, .warning { break-inside: avoid; }
               .wide { overflow: visible; } pre { white-space: pre-wrap; background: none; padding: 0; }
               details { display: none; } }
"""

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<h1>{title}</h1>
<p>{lead}</p>
{body}
</body>
</html>
"""
