"""`farweb plot`: draws a figure from results."""

import inspect
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from farweb.cli.help import Verb
from farweb.cli.options import (
    Data,
    Debug,
    Force,
    Height,
    Json,
    Label,
    NoCaption,
    NoTitle,
    Output,
    Quiet,
    Width,
    presented,
    taken_free,
)
from farweb.plot import FIGURES, draw
from farweb.plot.options import OPTIONS, Option, value_of
from farweb.text.words import listed, plural

if TYPE_CHECKING:
    from farweb.library.folders import Results, SweepResults

_PANEL = "What is drawn"
_WIDTH = 80
_UNDER = 17 * " "  # below the description of a figure in the list


class Command(Verb):
    """The command with a help that names the figures, looked up only for it."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help."""
        for parameter in self.params:
            if parameter.name == "name":
                parameter.help = f"A figure: {', '.join(FIGURES)}; 'list' says what each shows and needs."  # type: ignore[attr-defined]
            elif parameter.name and parameter.name in OPTIONS:
                parameter.help = FIGURES.help(parameter.name)  # type: ignore[attr-defined]
        super().format_help(ctx, formatter)


def figure_names(incomplete: str) -> list[tuple[str, str]]:
    """The figures with names that begin so, and their descriptions, for completion."""
    return [(name, kind.forms[0].shows) for name, kind in FIGURES.items() if name.startswith(incomplete)]


def _parameter(name: str, option: Option) -> inspect.Parameter:
    """An option of figures as a parameter of a command."""
    least = 0 if option.typed in (int, list[int]) else None
    given = typer.Option(
        f"--{name}",
        *filter(None, [option.short]),
        metavar=option.metavar,
        min=least,
        help=option.help,
        rich_help_panel=_PANEL,
    )
    annotation = Annotated[option.typed | None, given]  # type: ignore[name-defined]
    return inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None, annotation=annotation)


def _with_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of all figures, in place of its `**options`."""
    own = list(inspect.signature(command).parameters.values())[:-1]
    added = [_parameter(name, option) for name, option in OPTIONS.items()]
    command.__signature__ = inspect.Signature([*own, *added])  # type: ignore[attr-defined]
    return command


def _source(place: str, results: "Results | SweepResults") -> str:
    """The data of a figure in a few words: `1,807 requests of link`, `12 runs of loads`."""
    manifest = results.manifest
    rows = plural(manifest["runs"], "run") if "runs" in manifest else plural(manifest["rows"]["requests"], "request")
    return f"{rows} of {place.rstrip('/').rpartition('/')[2] or place}"


@_with_options
def plot(
    context: typer.Context,
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME", help="A figure; 'list' shows what each draws and needs.", autocompletion=figure_names
        ),
    ],
    results: Annotated[
        list[str] | None,
        typer.Argument(metavar="RESULTS…", help="Folder of a run or a sweep; several runs are drawn together."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="A .png, .svg, .pdf or .html file, the last with values under the pointer (default: NAME.png in the "
            "results folder).",
        ),
    ] = None,
    width: Width = None,
    height: Height = None,
    no_title: NoTitle = False,
    no_caption: NoCaption = False,
    label: Label = None,
    data: Data = None,
    force: Force = False,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
    **options: Any,
) -> None:
    """Draw a figure from results, without simulating again.

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
    del debug
    output = Output(as_json, quiet)
    if name == "list":
        said, listing = {}, []
        for figure, kind in FIGURES.items():
            said[figure] = "; ".join(f"{form.shows}; {form.asks}" for form in kind.forms)
            for number, form in enumerate(kind.forms):
                listing += textwrap.wrap(
                    form.shows, initial_indent=f"{'' if number else figure:16} ", subsequent_indent=_UNDER, width=_WIDTH
                )
                listing += textwrap.wrap(form.asks, initial_indent=_UNDER, subsequent_indent=_UNDER, width=_WIDTH)
        output.result(said, "\n".join(listing))
        return
    from farweb.library.folders import open_results
    from farweb.results.folder import figure_file

    presentation = presented(width, height, no_title=no_title, no_caption=no_caption, label=label)
    places = results or []
    opened = [open_results(place) for place in places]
    # A figure goes into an object store only when --out says so.
    folder = Path(places[0]) if places and "://" not in places[0] else Path()
    file = out or folder / figure_file(name)
    context.with_resource(taken_free(file, force=force))
    if data is not None:
        from farweb.paint import numbers

        numbers.check_target(data)
        context.with_resource(taken_free(data, force=force))
    given: Any = {option: value_of(option, typed) for option, typed in options.items()}
    chart = draw(name, opened, file, presentation=presentation, **given)
    if data is not None:
        numbers.write(chart.description, data)
    if as_json or not quiet:
        written: dict[str, Any] = {"figure": name, "file": str(file), **({} if data is None else {"data": str(data)})}
        written |= {"judged": chart.description.judged} if chart.description.judged else {}
        written |= {"left_out": list(chart.left_out)} if chart.left_out else {}
        shows = chart.description.title.partition(" – ")[0]
        shown = ", ".join(filter(None, [shows, listed([*map(_source, places, opened)])]))
        lines = [f"wrote {file}{shown and f': {shown}'}", *([] if data is None else [f"wrote {data}"])]
        lines += filter(None, [chart.shortage])
        output.result(written, "\n".join(lines))
