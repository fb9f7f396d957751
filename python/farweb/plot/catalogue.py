"""The figures there are, found by listing `farweb.plot.figures`.

A figure is declared beside the function that describes it, by `figure`. Declarations are read from the source: lists,
help and completion import nothing of the figures. The first parameter of the function is its input, and its
keyword-only parameters are the figure's options (`farweb.plot.options`). A figure of runs and of a sweep has a
function, a *form*, for each.
"""

import ast
import functools
import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from farweb.errors import FarwebError
from farweb.plot import figures
from farweb.plot.options import OPTIONS
from farweb.text.words import listed, nearest

if TYPE_CHECKING:
    from farweb.paint.figure import Figure

Of = Literal["run", "runs", "side by side", "sweep"]
Describe = TypeVar("Describe", bound=Callable[..., "Figure"])

_OF: Mapping[Of, str] = {
    "run": "a run",
    "runs": "one or several runs",
    "side by side": "one or several runs, side by side",
    "sweep": "a sweep",
}


def figure(name: str, *, of: Of, shows: str, needs: str = "") -> Callable[[Describe], Describe]:
    """Declare a figure that a function describes; all arguments are literals, which are read from the source.

    Args:
        name: Its name on the command line and in Python.
        of: First argument of the function: ``run``: a run; ``runs``: one or several runs; ``side by side``: the same,
            which are drawn beside one another; ``sweep``: a sweep.
        shows: Description in words.
        needs: Keys that the scenario must have (empty: none).
    """
    del name, of, shows, needs
    return lambda describe: describe


@dataclass(frozen=True)
class Form:
    """A figure as it is drawn of runs, or of a sweep.

    Attributes:
        of: Its sources, as `figure` takes them.
        shows: Description.
        needs: Keys that the scenario must have (empty: none).
        options: Names of its options.
        about: The first paragraph of its function's documentation.
        place: Module and name of the function.
    """

    of: Of
    shows: str
    needs: str
    options: tuple[str, ...]
    about: str
    place: tuple[str, str]

    @property
    def is_of_several(self) -> bool:
        """True when several results can be drawn in one figure, and the function takes a sequence of them."""
        return self.of in ("runs", "side by side")

    @property
    def asks(self) -> str:
        """Source, needs and options of the figure, in one line."""
        needs = f"; needs {self.needs}" if self.needs else ""
        options = f"; {', '.join(f'--{option}' for option in self.options)}" if self.options else ""
        return f"of {_OF[self.of]}{needs}{options}"

    @property
    def documentation(self) -> str:
        """Text for `help`: the figure's content, its needs, and its options."""
        helps = [f"    {option}: {OPTIONS[option].help}" for option in self.options]
        return "\n".join([self.about, "", f"Drawn {self.asks}.", *(["", "Args:", *helps] if helps else [])])

    def describe(self, results: Sequence[Any], options: Mapping[str, Any]) -> "Figure":
        """Describe the figure of results that suit its form."""
        module, name = self.place
        function = getattr(importlib.import_module(module), name)
        described: Figure = function(results if self.is_of_several else results[0], **options)
        return described


@dataclass(frozen=True)
class Kind:
    """A figure that there is.

    Attributes:
        name: Its name.
        of_runs: As it is drawn of runs. None: it is not.
        of_sweep: As it is drawn of a sweep. None: it is not.
    """

    name: str
    of_runs: Form | None
    of_sweep: Form | None

    @property
    def forms(self) -> tuple[Form, ...]:
        """One or both."""
        return tuple(form for form in (self.of_runs, self.of_sweep) if form is not None)

    @property
    def options(self) -> tuple[str, ...]:
        """The options that any of its forms has."""
        return tuple(dict.fromkeys(option for form in self.forms for option in form.options))

    @property
    def is_of_one_run(self) -> bool:
        """True when runs are better drawn one by one than together."""
        return self.of_runs is not None and self.of_runs.of != "runs"


class Figures(Mapping[str, Kind]):
    """All figures by name, in the order of their names."""

    def __getitem__(self, name: str) -> Kind:
        return _found(tuple(figures.__path__))[name]

    def __iter__(self) -> Iterator[str]:
        return iter(_found(tuple(figures.__path__)))

    def __len__(self) -> int:
        return len(_found(tuple(figures.__path__)))

    def named(self, name: str) -> Kind:
        """The figure of a name.

        Raises:
            FarwebError: There is none. The message names the nearest.
        """
        if name in self:
            return self[name]
        hint = f" {near}?" if (near := nearest(name, self)) else ""
        raise FarwebError(f"there is no plot {name!r};{hint} plots: {', '.join(self)}")

    def having(self, option: str) -> list[str]:
        """Names of the figures that have an option."""
        return [name for name, kind in self.items() if option in kind.options]

    def help(self, option: str) -> str:
        """Meaning of an option, and the figures that have it."""
        return f"Of {listed(self.having(option))}: {OPTIONS[option].help}"


FIGURES = Figures()
"""The figures there are."""


@functools.cache
def _found(folders: tuple[str, ...]) -> Mapping[str, Kind]:
    """The figures that the modules in some folders declare."""
    forms: dict[str, dict[bool, Form]] = {}
    for file in (file for folder in folders for file in Path(folder).glob("*.py")):
        for name, form in _declared(file):
            of_sweep = form.of == "sweep"
            if of_sweep in forms.setdefault(name, {}):
                raise TypeError(f"{file}: figure {name} of {_OF[form.of]} is declared twice")
            forms[name][of_sweep] = form
    return {name: Kind(name, forms[name].get(False), forms[name].get(True)) for name in sorted(forms)}


def _declared(file: Path) -> Iterator[tuple[str, Form]]:
    """The figures that a module declares: name and form of each."""
    for function in ast.parse(file.read_text("utf-8")).body:
        if not isinstance(function, ast.FunctionDef):
            continue
        for call in function.decorator_list:
            if isinstance(call, ast.Call) and ast.unparse(call.func) == figure.__name__:
                said = {each.arg: ast.literal_eval(each.value) for each in call.keywords}
                options = tuple(each.arg for each in function.args.kwonlyargs)
                if odd := [option for option in options if option not in OPTIONS]:
                    raise TypeError(f"{file}: {odd[0]} is none of the options in farweb.plot.options")
                about = (ast.get_docstring(function) or "").partition("\n\n")[0]
                place = (f"{figures.__name__}.{file.stem}", function.name)
                yield (
                    ast.literal_eval(call.args[0]),
                    Form(said["of"], said["shows"], said.get("needs", ""), options, about, place),
                )
