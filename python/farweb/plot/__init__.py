"""Figures from results, redrawn from Parquet without simulating.

Every figure names its content, with units on its axes, n and the seeds. matplotlib is imported at the first
drawing, and its global state stays as it was.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from farweb.errors import FarwebError, ResultsError, require_range
from farweb.plot.catalogue import FIGURES, Form, Kind
from farweb.plot.options import OPTIONS, Options
from farweb.text.words import listed

if TYPE_CHECKING:
    from farweb.paint.chart import Chart
    from farweb.paint.figure import Figure
    from farweb.paint.presentation import Presentation
    from farweb.results.run import RunTables
    from farweb.results.sweep import SweepTables

__all__ = ["FIGURES", "Options", "Plots", "describe", "draw"]


def draw(
    name: str,
    results: "Sequence[RunTables | SweepTables]",
    out: Path | None = None,
    *,
    presentation: "Presentation | None" = None,
    **options: Unpack[Options],
) -> "Chart":
    """Draw a figure, and save it when `out` is given.

    Args:
        name: One of `FIGURES`, which describes the input and options of each.
        results: A run, several runs, or a sweep.
        out: File to write; its suffix names the format: .png, .svg, .pdf, or .html for a page with its values
            under the pointer. The same figure gives the same bytes.
        presentation: Size, title, caption and names, where they are to be other than usual.
        options: Options of the figure (see `Options`).

    Returns:
        The figure, to be changed further. `farweb.plot.draw` has saved it already. Its `description` holds it as
        numbers and words.

    Raises:
        FarwebError: As `describe`; or an unknown suffix, or a label that the figure does not have.
        RunError: The file cannot be written.
    """
    form, given = _checked(name, results, options)

    from farweb.paint import chart, paper

    if out is not None:
        chart.check_target(out)
    return paper.draw(form.describe(results, given), out, presentation)


def describe(name: str, results: "Sequence[RunTables | SweepTables]", **options: Unpack[Options]) -> "Figure":
    """Describe a figure in numbers and words, which `draw` paints.

    Args:
        name: As for `draw`.
        results: As for `draw`.
        options: As for `draw`.

    Raises:
        FarwebError: An unknown name, factor, level or metric, an option that the figure does not have, no results, or
            results without the figure's data.
    """
    form, given = _checked(name, results, options)
    return form.describe(results, given)


def _checked(
    name: str, results: "Sequence[RunTables | SweepTables]", options: Mapping[str, Any]
) -> tuple[Form, dict[str, Any]]:
    """The form of a figure for such results, and the options that are given; an error where they do not suit it."""
    kind = FIGURES.named(name)
    given = {option: value for option, value in options.items() if value is not None}
    for option in given:
        if option not in kind.options:
            having = FIGURES.having(option)
            raise FarwebError(f"plot {name} has no option {option}; {listed(having)} {'have' if having[1:] else 'has'}")
    if not results:
        raise FarwebError(f"plot {name} needs results to draw")
    for option, value in given.items():
        for number in [value] if isinstance(value, int) else value:
            require_range(f"--{option}", number if isinstance(number, int) else None, 0)

    from farweb.results.run import RunTables

    runs = [each for each in results if isinstance(each, RunTables)]
    sweeps = [each for each in results if not isinstance(each, RunTables)]
    if kind.of_sweep is None and sweeps:
        parts = sweeps[0].path / "parts"
        raise ResultsError(f"{sweeps[0].path}: is a sweep, and plot {name} draws a run: name one in {parts}")
    if kind.of_runs is None and runs:
        raise ResultsError(f"{runs[0].path}: is a run, and plot {name} draws a sweep: name the folder of a sweep")
    if sweeps and len(results) > 1:
        raise ResultsError(f"plot {name} draws one sweep at a time, not {len(results)} results")
    form = kind.of_sweep if sweeps else kind.of_runs
    assert form is not None, "a figure has a form for what it does not refuse"
    if len(results) > 1 and not form.is_of_several:
        raise ResultsError(f"plot {name} draws one result at a time, not {len(results)}: name one results folder")
    for option in given:
        if option not in form.options:
            this, other = ("a sweep", "a run") if sweeps else ("a run", "a sweep")
            raise ResultsError(f"{results[0].path}: is {this}, and plot {name} has option {option} of {other} only")
    return form, given


class Plots:
    """The figures of a run or of a sweep, for notebooks: ``results.plot.cdf()``, or ``results.plot("cdf")``.

    Every figure that can be drawn of such results is a method. It takes further runs, where the figure is of several,
    values of the figure's first option, all its options by name, and `out` and `presentation` as `draw` does.
    """

    def __init__(self, results: "RunTables | SweepTables", *, of_sweep: bool) -> None:
        self._results = results
        self._of_sweep = of_sweep

    def __call__(
        self,
        name: str,
        *others: "RunTables",
        out: Path | None = None,
        presentation: "Presentation | None" = None,
        **options: Unpack[Options],
    ) -> "Chart":
        """Draw the figure of that name, as on the command line (see `draw`)."""
        return draw(name, [self._results, *others], out, presentation=presentation, **options)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._forms()]

    def __getattr__(self, name: str) -> "Callable[..., Chart]":
        if name.startswith("_") or name not in (forms := self._forms()):
            raise AttributeError(f"there is no plot {name!r} of {'a sweep' if self._of_sweep else 'a run'}")
        kind, form = forms[name]

        def method(*given: Any, out: Path | None = None, presentation: Any = None, **options: Any) -> "Chart":
            from farweb.results.run import RunTables

            others = [each for each in given if isinstance(each, RunTables)]
            if values := [each for each in given if not isinstance(each, RunTables)]:
                first = form.options[0] if form.options else ""
                if not first or (values[1:] and not OPTIONS[first].is_repeated):
                    raise TypeError(f"{name}() takes {f'one {first}' if first else 'no values'}, not {values}")
                options[first] = values if OPTIONS[first].is_repeated else values[0]
            return draw(kind.name, [self._results, *others], out, presentation=presentation, **options)

        method.__name__, method.__doc__ = name, form.documentation
        own = inspect.signature(method)
        named = [inspect.Parameter(option, inspect.Parameter.KEYWORD_ONLY, default=None) for option in form.options]
        method.__signature__ = own.replace(parameters=[*list(own.parameters.values())[:-1], *named])  # type: ignore[attr-defined]
        return method

    def _forms(self) -> dict[str, tuple[Kind, Form]]:
        """The figures of such results, by the names of their methods."""
        found = {kind: kind.of_sweep if self._of_sweep else kind.of_runs for kind in FIGURES.values()}
        return {kind.name.replace("-", "_"): (kind, form) for kind, form in found.items() if form is not None}
