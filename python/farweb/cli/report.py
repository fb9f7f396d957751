"""`farweb report`: writes a page of results for a decision."""

from collections.abc import Sequence
from pathlib import Path

from farweb.cli.figures import figure_names
from farweb.cli.verbs import Call, verb


@verb(
    "report:report",
    results="RESULTS…",
    title="--title TEXT",
    question="--question TEXT",
    plots="--plot NAME",
    by="--by FACTOR",
    completes={"plots": figure_names},
)
def report(call: Call, results: Sequence[str], *, out: Path | None = None) -> None:
    """Write a page for a decision: the question, the answer in numbers, the path, figures, assumptions.

    One HTML file with everything inside it: it opens without a network, on a phone and on paper. Nothing is simulated.

    Args:
        results: The folder of a sweep, also a URL, or folders of runs to set beside one another.
        out: The page (default: report.html in the (first) folder).

    Examples:

        farweb report results/satellite

        farweb report results/cable results/satellite --question "Is cable better?"
    """
    from farweb.library.folders import open_results
    from farweb.report import report as report_of
    from farweb.results.folder import REPORT

    file = out or (Path() if "://" in results[0] else Path(results[0])) / REPORT
    opened = [open_results(path) for path in results]
    call.takes(file)
    page = report_of(opened, **call.of(report_of))
    page.write(file)
    written = {"report": str(file), "title": page.title, "bytes": file.stat().st_size, "judged": page.judged}
    call.says(written, f"wrote {file}: {page.title}")
