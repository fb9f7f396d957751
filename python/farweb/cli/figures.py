"""`farweb plot`: draws a figure from results."""

import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from farweb.cli.drawn import Drawn
from farweb.cli.signature import Option
from farweb.cli.verbs import Call, verb
from farweb.plot import FIGURES, draw
from farweb.plot.options import OPTIONS, value_of
from farweb.text.words import listed, plural

if TYPE_CHECKING:
    from farweb.library.run_results import Results
    from farweb.library.sweep_results import SweepResults

_WIDTH = 80
_UNDER = 17 * " "  # below the description of a figure in the list


def figure_names() -> list[str]:
    """The figures there are, for completion."""
    return [*FIGURES]


def _options() -> Iterator[Option]:
    """The options of all figures."""
    for name, each in OPTIONS.items():
        form, kind = (list, get_args(each.typed)[0]) if get_args(each.typed) else (None, each.typed)
        names = tuple(filter(None, [f"--{name}", each.short]))
        yield Option(name, names, kind, form, None, FIGURES.help(name), each.metavar or "N")


@verb(
    results="RESULTS…",
    more=_options,
    foot=lambda: f"Figures: {', '.join(FIGURES)}.",
    completes={"name": figure_names},
)
def plot(call: Call, name: str, results: Sequence[str] = (), *, out: Path | None = None, drawn: Drawn) -> None:
    """Draw a figure from results, without simulating again.

    Args:
        name: A figure; 'list' shows what each draws and needs.
        results: Folder of a run or a sweep; several runs are drawn together.
        out: A .png, .svg, .pdf or .html file, the last with values under the pointer (default: NAME.png in the results
            folder).

    Examples:

        farweb plot size-latency results/cable results/satellite -o figure.png

        farweb plot timeseq results/satellite --connection 17

        farweb plot timeseq results/satellite --request 4

        farweb plot cwnd results/cable results/satellite --request 4

        farweb plot breakdown results/satellite --without server -o where.png

        farweb plot latency-load results/sweep --metric latency_p90_s -o figure.html

        farweb plot latency-load results/sweep --width 8cm --no-title -o paper.pdf

        farweb plot cdf results/sweep --label latency=wait --data cdf.csv

        farweb plot list
    """
    if name == "list":
        call.result(*_listing())
        return
    from farweb.library.folders import open_results
    from farweb.results.folder import figure_file

    presentation = drawn.presentation()
    opened = [open_results(place) for place in results]
    # A figure goes into an object store only when --out says so.
    folder = Path(results[0]) if results and "://" not in results[0] else Path()
    file = out or folder / figure_file(name)
    call.takes(file, drawn.data)
    options: Any = {option: value_of(option, typed) for option, typed in call.given.items()}
    chart = draw(name, opened, file, presentation=presentation, **options)
    numbers = drawn.write_numbers(chart)
    written: dict[str, Any] = {"figure": name, "file": str(file), **numbers}
    written |= {"judged": chart.description.judged} if chart.description.judged else {}
    written |= {"left_out": list(chart.left_out)} if chart.left_out else {}
    shows = chart.description.title.partition(" – ")[0]
    shown = ", ".join(filter(None, [shows, listed([*map(_source, results, opened)])]))
    lines = [f"wrote {file}{shown and f': {shown}'}", *(f"wrote {each}" for each in numbers.values())]
    call.says(written, "\n".join(filter(None, [*lines, chart.shortage])))


def _listing() -> tuple[dict[str, str], str]:
    """What each figure draws and needs, as values and as lines."""
    said, lines = {}, []
    for figure, kind in FIGURES.items():
        said[figure] = "; ".join(f"{form.shows}; {form.asks}" for form in kind.forms)
        for number, form in enumerate(kind.forms):
            first = f"{'' if number else figure:16} "
            lines += textwrap.wrap(form.shows, initial_indent=first, subsequent_indent=_UNDER, width=_WIDTH)
            lines += textwrap.wrap(form.asks, initial_indent=_UNDER, subsequent_indent=_UNDER, width=_WIDTH)
    return said, "\n".join(lines)


def _source(place: str, results: "Results | SweepResults") -> str:
    """The data of a figure in a few words: `1,807 requests of link`, `12 runs of loads`."""
    manifest = results.manifest
    rows = plural(manifest["runs"], "run") if "runs" in manifest else plural(manifest["rows"]["requests"], "request")
    return f"{rows} of {place.rstrip('/').rpartition('/')[2] or place}"
