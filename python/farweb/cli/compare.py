"""`farweb compare`: compares runs of the same requests, request by request."""

from collections.abc import Sequence
from pathlib import Path

from farweb.cli.drawn import Drawn
from farweb.cli.verbs import Call, verb
from farweb.errors import FarwebError


@verb(
    "comparison.comparison:compare",
    results="RESULTS…",
    points="--point FACTOR=LEVEL",
    by="--by GROUPS|QUANTITY",
    margin="--margin SHARE",
    base="--base NAME",
    names="",
)
def compare(
    call: Call,
    results: Sequence[str],
    *,
    points: Sequence[str] = (),
    margin: str = "5%",
    details: bool = False,
    sizes: bool = False,
    causes: bool = False,
    pairs: bool = False,
    out: Path | None = None,
    drawn: Drawn,
) -> None:
    """Compare runs of the same requests, request by request.

    Names the better one, by how much and for whom. A request that fails in one run only is slower there. In a sweep,
    runs are paired that differ only in the levels named. Loads of pages (farweb page -o) are compared by onLoad.

    Args:
        results: Folders of runs, compared with the first; or of one sweep.
        points: Points of a sweep: --point load=1 --point load=9; the first is the base, and `and` joins levels:
            'circuit=cable and load=9'.
        margin: Relative difference up to which two are equivalent; of shares a tenth.
        details: Quantiles and differences with their intervals, and what these rest on.
        sizes: Differences by response size.
        causes: Differences by part of the latency.
        pairs: The verdict on each pair of several runs.
        out: Draw the differences: a .png, .svg, .pdf or .html file.

    Examples:

        farweb compare results/link results/larger-buffers

        farweb compare results/link results/proxy --by visit --by p99

        farweb compare results/link results/proxy results/mux --margin 10%

        farweb compare results/link results/proxy results/mux -o differences.png

        farweb compare results/circuits --point leg.0.tcp.profile=bsd44-lite --point leg.0.tcp.profile=linux

        farweb compare results/circuits --point "circuit=cable and workload.load=9" --point "circuit=satellite and workload.load=9"
    """  # noqa: E501 - a command line stays on a line
    from farweb.comparison import compare as compared
    from farweb.pages.breakdown import PageLoads
    from farweb.paint import chart
    from farweb.paint.presentation import Presentation

    presentation = drawn.presentation()
    if out is None and (presentation != Presentation() or drawn.data is not None):
        raise FarwebError("options of a figure were given, but no figure is drawn; name its file with -o")
    if out is not None:
        chart.check_target(out)
    call.takes(out, drawn.data)
    if loads := PageLoads.of(results):
        if any((points, call.given, out, details, sizes, causes, pairs)):
            raise FarwebError("loads of pages are compared by onLoad alone; leave the other options out")
        call.result({"results": list(results), **loads.to_dict()}, loads)
        return
    of_sweep = [*map(_levels, points)] or None
    found = compared(*results, points=of_sweep, margin=_share(margin), **call.of(compared))
    figure, shortage = {}, ""
    if out is not None:
        from farweb.comparison.figure import describe
        from farweb.paint import paper

        painted = paper.draw(describe(found), out, presentation)
        figure, shortage = {"figure": str(out), **drawn.write_numbers(painted)}, painted.shortage
    asked = {"details": details, "sizes": sizes, "causes": causes, "pairs": pairs}
    shown = found.screen([name for name, is_asked in asked.items() if is_asked])
    call.result({"results": list(results), **figure, **found.to_dict()}, shown)
    if out is not None:
        call.wrote(f"{out}{shortage and f'; {shortage}'}")


def _share(text: str) -> float:
    """Read a share in percent, ``5%``, or as a number, ``0.05``."""
    try:
        return float(text.removesuffix("%").strip()) / (100 if text.endswith("%") else 1)
    except ValueError:
        raise FarwebError(f"--margin {text}: write a share, such as 5% or 0.05") from None


def _levels(text: str) -> dict[str, str]:
    """Read the levels that name a point."""
    levels = {}
    for clause in text.split(" and "):
        factor, equals, level = clause.partition("=")
        if not equals or not factor.strip() or not level.strip():
            raise FarwebError(
                f"--point {text}: write FACTOR=LEVEL, several joined by `and`, such as --point 'circuit=cable and "
                "workload.load=9'"
            )
        levels[factor.strip()] = level.strip()
    return levels
