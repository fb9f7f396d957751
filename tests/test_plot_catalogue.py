"""The figures there are: a module declares one, and everything that lists figures or draws them has it."""

import inspect
import re
import subprocess
import sys
from html import unescape
from importlib import import_module
from pathlib import Path

import pytest

import farweb.plot.figures
from farweb.cli.figures import figure_names
from farweb.library.run_results import Results
from farweb.library.sweep_results import SweepResults
from farweb.plot import FIGURES
from farweb.plot.catalogue import Form
from farweb.plot.options import OPTIONS
from sample_results import request, write_results
from sample_sweeps import design_of, write_sweep
from samples import Farweb

ROOT = Path(__file__).parents[1]
FORMS = [(name, form) for name, kind in FIGURES.items() for form in kind.forms]

PIE = '''"""A figure."""

import numpy as np

from farweb.plot.catalogue import figure
from farweb.paint.figure import Axis, Figure, Panel, Series


@figure("pie-chart", of="run", shows="requests by " "slices", needs="record.pies")
def pie(result, *, link=None, without=None):
    """Slices of a run.

    Raises:
        Nothing.
    """
    series = Series("", 0, np.array([0.0, 1.0]), np.array([0.0, len(result.requests)]))
    return Figure(f"link {link} without {without}", "", (Panel(Axis("x"), Axis("y"), (series,)),))
'''


@pytest.fixture
def run(tmp_path: Path) -> Results:
    return write_results(tmp_path / "run", [request(1, 1.0, 3000), request(2, 2.0, 3000)])


@pytest.fixture
def pie(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder of figures beside farweb's own, with one figure."""
    folder = tmp_path / "more"
    folder.mkdir()
    (folder / "pie.py").write_text(PIE)
    monkeypatch.setattr(farweb.plot.figures, "__path__", [*farweb.plot.figures.__path__, str(folder)])


def test_a_module_is_all_that_a_figure_takes(farweb: Farweb, run: Results, tmp_path: Path, pie: None) -> None:
    assert "pie-chart" in farweb("plot", "--help-all").out
    listed = farweb("plot", "list")
    assert (
        "pie-chart        requests by slices\n                 of a run; needs record.pies; --link, --without"
        in listed.out
    )
    assert farweb("plot", "list", "--json").json()["pie-chart"].startswith("requests by slices; of a run; needs")
    assert "pie-chart" in figure_names()
    assert "pie_chart" in dir(run.plot)
    assert (run.plot.pie_chart.__doc__ or "").startswith("Slices of a run.\n\nDrawn of a run; needs record.pies")
    assert list(inspect.signature(run.plot.pie_chart).parameters)[-2:] == ["link", "without"]
    assert run.plot.pie_chart(3, without=["crust"]).description.title == "link 3 without ['crust']"
    answer = farweb(
        "plot", "pie-chart", run.path, "--link", 4, "--without", "a", "--without", "b", "-o", tmp_path / "p.svg"
    )
    assert (answer.code, answer.err) == (0, "")
    assert "link 4 without ['a', 'b']" in unescape((tmp_path / "p.svg").read_text())
    assert "no option by; breakdown, buffer, cache-size" in farweb("plot", "pie-chart", run.path, "--by", "a").err
    assert "Of buffer, link, pie-chart and queue: the link" in " ".join(FIGURES.help("link").split())


def test_without_its_module_a_figure_is_unknown(farweb: Farweb, run: Results) -> None:
    assert "there is no plot 'pie-chart'" in farweb("plot", "pie-chart", run.path).err
    assert "pie_chart" not in dir(run.plot)
    with pytest.raises(AttributeError, match="there is no plot 'pie_chart' of a run"):
        run.plot.pie_chart()


@pytest.mark.parametrize(
    ("wrong", "right", "message"),
    [
        ("without=None", "crust=None", "pie.py: crust is none of the options in farweb.plot.options"),
        ('"pie-chart", of="run"', '"cdf", of="runs"', "figure cdf of one or several runs is declared twice"),
    ],
)
def test_a_wrong_declaration_names_the_file(tmp_path: Path, pie: None, wrong: str, right: str, message: str) -> None:
    (tmp_path / "more" / "pie.py").write_text(PIE.replace(wrong, right))
    with pytest.raises(TypeError, match=message):
        list(FIGURES)


@pytest.mark.parametrize(("name", "form"), FORMS)
def test_declarations_are_those_of_functions_that_are_there(name: str, form: Form) -> None:
    module, function = form.place
    first, *options = inspect.signature(getattr(import_module(module), function)).parameters.values()
    assert first.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
    assert tuple(each.name for each in options) == form.options
    assert {each.default for each in options} <= {None}
    assert set(form.options) <= set(OPTIONS)
    assert form.about.endswith(".")
    assert form.shows


def test_methods_are_those_of_the_result(run: Results, tmp_path: Path) -> None:
    sweep = write_sweep(tmp_path / "sweep", design_of({"workload.load": [1, 2]}, 2))
    assert {"cdf", "timeseq", "connections"} <= set(dir(run.plot))
    assert "latency_load" not in dir(run.plot)
    assert {"cdf", "latency_load", "connections"} <= set(dir(sweep.plot))
    assert isinstance(sweep, SweepResults)
    assert "timeseq" not in dir(sweep.plot)
    assert "\n    metric: the metric that is drawn; latency_mean_s when left out." in (sweep.plot.effects.__doc__ or "")
    with pytest.raises(TypeError, match=r"size_latency\(\) takes no values, not \[3\]"):
        run.plot.size_latency(3)
    with pytest.raises(TypeError, match=r"link\(\) takes one link, not \[0, 1\]"):
        run.plot.link(0, 1)


def test_help_and_list_import_nothing_that_figures_compute_with() -> None:
    code = (
        "import sys; from farweb.cli import main; from farweb.cli.figures import figure_names\n"
        "main(['plot', '--help']), main(['plot', 'list']), figure_names()\n"
        "sys.exit(bool({'numpy', 'polars', 'matplotlib', 'scipy'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=False, stdout=-3).returncode == 0


def test_figures_import_neither_painter() -> None:
    modules = ", ".join(sorted({form.place[0] for _, form in FORMS}))
    code = f"import sys, {modules}; sys.exit(bool({{'scipy', 'matplotlib'}} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(("heading", "of_sweep"), [("Of a run, or of several", False), ("Of a sweep", True)])
def test_the_documentation_has_every_figure_and_its_options(heading: str, of_sweep: bool) -> None:
    page = (ROOT / "docs" / "figures.md").read_text("utf-8")
    part = page.split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0]
    rows = re.findall(r"^\| `([a-z-]+)` \|(.*)$", part, re.MULTILINE)
    forms = {name: kind.of_sweep if of_sweep else kind.of_runs for name, kind in FIGURES.items()}
    assert [name for name, _ in rows] == [name for name, form in forms.items() if form is not None]
    for name, row in rows:
        form = forms[name]
        assert form is not None
        keys = re.findall(r"record\.\w+|cache\.N\.\w+", form.needs)
        assert all(f"`{key}`" in row for key in keys), f"{name} needs {keys}"
        assert all(f"`--{option}" in part for option in form.options), name
