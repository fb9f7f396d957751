"""Options of figures: the name, the type and the meaning of each, for the command line and for Python alike."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, TypedDict, get_type_hints

from farweb.errors import FarwebError
from farweb.results.select import Where


@dataclass(frozen=True)
class Option:
    """The meaning of an option, and how it is typed.

    Attributes:
        chooses: Meaning of its value.
        otherwise: Meaning when it is left out.
        typed: Type on the command line; a list: it may be given again.
        metavar: Stands for its value in help texts; None: the name of the type.
        short: A dash and a letter that are enough; empty: there are none.
        is_level: True when a value is typed as ``FACTOR=LEVEL``.
    """

    chooses: str
    otherwise: str
    typed: Any
    metavar: str | None = None
    short: str = ""
    is_level: bool = False

    @property
    def is_repeated(self) -> bool:
        """True when it has several values, each typed behind an option of its own."""
        return self.typed is not str and self.typed is not int

    @property
    def help(self) -> str:
        """The meaning in one sentence."""
        return f"{self.chooses}; {self.otherwise} when left out."


class Options(TypedDict, total=False):
    """The options of figures. Each figure has some; None: not given."""

    by: Annotated[
        Sequence[str] | None,
        Option(
            "of a sweep, factors of which each combination of levels is a series; of runs `visit`, for first and later "
            "requests of visits, or `client`, for those who ask most",
            "all that vary, of a sweep, and all requests, of runs,",
            list[str],
            "FACTOR",
        ),
    ]
    x: Annotated[
        str | None,
        Option(
            "the factor on the horizontal axis, or a metric by which points are placed, such as presented_bps",
            "the offered load, or the factor with most numbers,",
            str,
            "NAME",
        ),
    ]
    metric: Annotated[str | None, Option("the metric that is drawn", "latency_mean_s", str, "NAME", "-m")]
    where: Annotated[
        Where | None,
        Option("the level of a factor that is drawn, or several", "all", list[str], "FACTOR=LEVEL", is_level=True),
    ]
    against: Annotated[
        tuple[str, str] | None,
        Option(
            "the level from which differences are drawn, paired by replication",
            "the values themselves",
            str,
            "FACTOR=LEVEL",
            is_level=True,
        ),
    ]
    connection: Annotated[
        int | Sequence[int] | None,
        Option(
            "the connection, of any leg, or several, side by side; of several runs one for all or one for each",
            "that which carried the response of the request",
            list[int],
        ),
    ]
    request: Annotated[
        int | None,
        Option("the request whose connection is drawn, and its time on it", "the slowest that finished", int),
    ]
    leg: Annotated[
        int | None,
        Option("the leg of the request's connection (others than 0 need record.exchanges)", "0, at the clients,", int),
    ]
    link: Annotated[int | None, Option("the link, 0 at the clients", "the busiest", int)]
    without: Annotated[
        Sequence[str] | None, Option("parts that are left out, such as server", "none", list[str], "PART")
    ]


OPTIONS: Mapping[str, Option] = {
    name: hint.__metadata__[0] for name, hint in get_type_hints(Options, include_extras=True).items()
}
"""All options, by name."""


def value_of(name: str, typed: Any) -> Any:
    """The value of an option from the text typed for it; None without one.

    Raises:
        FarwebError: It is to be FACTOR=LEVEL, and is not.
    """
    if typed in (None, []):
        return None
    if not OPTIONS[name].is_level:
        return typed
    if isinstance(typed, str):
        return _level(typed, name)
    levels: dict[str, list[str]] = {}
    for factor, level in (_level(text, name) for text in typed):
        levels.setdefault(factor, []).append(level)
    return levels


def _level(text: str, option: str) -> tuple[str, str]:
    factor, equals, level = text.partition("=")
    if not equals or not factor or not level:
        raise FarwebError(f"--{option} {text}: write FACTOR=LEVEL, for example --{option} circuit=satellite")
    return factor.strip(), level.strip()
