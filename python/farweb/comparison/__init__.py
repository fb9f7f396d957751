"""What a change does to each request: two runs of the same requests, compared one by one.

Latencies of two runs vary far more from request to request than the change makes of any; paired by request number, what
both have in common cancels. Nothing is left out: a request that fails on one side and ends on the other is slower where
it fails, and one that fails on both is neither.

Requests of one run depend on each other. Of a single pair of runs, intervals come from blocks of consecutive requests
(`farweb.statistics.blocks`); where there are replications, as at two points of a sweep, they come from these.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from farweb.comparison.change import Change, Comparison, changed
from farweb.comparison.pairs import runs_of_points
from farweb.errors import FarwebError

if TYPE_CHECKING:
    from farweb.results import Results
    from farweb.sweep.results import SweepResults

__all__ = ["Change", "Comparison", "compare"]


def compare(
    *results: "Results | SweepResults | str | Path", points: Sequence[Mapping[str, str]] | None = None
) -> Comparison:
    """Compare runs of the same requests with the first of them, or points of a sweep with the first of those.

    Args:
        results: Runs, at least two, or one sweep; folders are opened.
        points: Of a sweep, the levels by factor that tell the points apart, at least two:
            ``[{"circuit": "cable"}, {"circuit": "satellite"}]``. Runs that differ in nothing else are paired.

    Raises:
        FarwebError: Too few results, runs and sweeps together, or an unknown factor or level.
        ResultsError: The requests are not the same; the message says in what they differ.
    """
    from farweb.plot.measured import labels
    from farweb.results import Results, open_results

    opened = [open_results(each) if isinstance(each, str | Path) else each for each in results]
    runs = [each for each in opened if isinstance(each, Results)]
    if points is not None:
        sweeps = [each for each in opened if not isinstance(each, Results)]
        if len(sweeps) != 1 or runs:
            raise FarwebError("points are of one sweep: name its folder, and nothing else")
        if len(points) < 2 or len({frozenset(each) for each in points}) > 1:
            raise FarwebError("name at least two points of the sweep, each by levels of the same factors")
        names = [", ".join(each.values()) for each in points]
        found = runs_of_points(sweeps[0], points)
        return Comparison(
            names[0], tuple(changed(names[0], name, *both) for name, both in zip(names[1:], found, strict=True))
        )
    if len(runs) < len(opened):
        sweep = next(each for each in opened if not isinstance(each, Results))
        raise FarwebError(f"{sweep.path}: is a sweep; name two points of it, as in --point circuit=cable --point …")
    if len(runs) < 2:
        raise FarwebError("a comparison needs at least two runs; name their folders")
    base, *names = labels(runs)
    return Comparison(
        base, tuple(changed(base, name, runs[:1], [run], [0]) for name, run in zip(names, runs[1:], strict=True))
    )
