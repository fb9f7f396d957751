"""Names that mean something to what shows them: to TeX, HTML, templates, terminals, or by their length alone."""

import csv
import json
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from pathlib import Path
from xml.etree import ElementTree

import pytest

from samples import Farweb

LONG = "n" * 5000
NAMES = {
    "one dollar": "$",
    "formula": "$x^$",
    "subscript": "a_b_{c",
    "backslash": "a\\frac\\b",
    "percent": "100 % of %{x} %s",
    "braces": "{0} {x!r} ${y}",
    "script": "<script>alert(1)</script>",
    "reversed": "\u202eabc \u05d0",
    "emoji": "\U0001f680 \u4e2d \u00e9",
    "long": LONG,
}
SHOWN = {**NAMES, "reversed": "\\u202eabc \u05d0", "long": "nnn…nnn"}
RUN_FIGURES = ("size-latency", "timeseq", "cwnd", "breakdown", "connections")


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory, warm: Callable[[], AbstractContextManager[None]]) -> Path:
    """A run `r` and a sweep `s`: everything with a name has one of each kind."""
    from farweb.library.scenario import Scenario

    folder = tmp_path_factory.mktemp("names")
    with (folder / "requests.csv").open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["start_s", "host", "tag", "request_bytes", "response_bytes"])
        rows.writerows([number / 10, name, name, 300, 5000] for number, name in enumerate(NAMES.values()))
    side = '{ rate = "2 Mbit/s", delay = "1 ms", queue = "20000 B" }'
    nodes = [*NAMES.values(), "server"]
    quoted = [json.dumps(name, ensure_ascii=False) for name in nodes]
    levels = (f'{{ level = {name}, set = {{ "path.link.0.up.delay" = "{n} ms" }} }}' for n, name in enumerate(quoted))
    links = f"[[path.link]]\nup = {side}\ndown = {side}\n" * len(NAMES)
    path = folder / "names.toml"
    path.write_text(
        "format = 1\n"
        f"name = {json.dumps(' '.join(nodes), ensure_ascii=False)}\n"
        f"[path]\nnodes = [{', '.join(quoted)}]\n"
        f"{links}"
        f'[[leg]]\nfrom = {quoted[0]}\nto = "server"\n'
        'carrier = { kind = "http/1.1" }\ntcp = { profile = "linux", buffer = "32767 B" }\n'
        '[workload]\nrequests = "requests.csv"\n'
        '[record]\npackets = "all"\nexchanges = true\nconnections = true\nlinks_every = "100 ms"\n'
        f'[sweep]\nreplications = 1\n[sweep.factors]\n"workload.load" = [1, 2]\n{quoted[1]} = [{", ".join(levels)}]\n',
        "utf-8",
    )
    scenario = Scenario.load(path)
    scenario.run(out=folder / "r")
    with warm():
        scenario.sweep(out=folder / "s", jobs=1)
    return folder


def drawn(farweb: Farweb, figure: str, results: Path, out: Path, *more: object) -> str:
    """The words of a figure."""
    answer = farweb("plot", figure, results, "-o", out / "f.svg", "--force", *more)
    assert (answer.code, answer.err) == (0, "")
    return " ".join(ElementTree.parse(out / "f.svg").getroot().itertext())


@pytest.mark.parametrize("figure", RUN_FIGURES)
def test_figures_of_a_run(results: Path, tmp_path: Path, farweb: Farweb, figure: str) -> None:
    words = drawn(farweb, figure, results / "r", tmp_path)
    assert "\u202e" not in words and LONG[:100] not in words


def missing(words: str, names: Iterable[str]) -> list[str]:
    """The names that a figure does not show; where lines break is no matter."""
    together = "".join(words.split())
    return [name for name in names if "".join(SHOWN[name].split()) not in together]


def test_levels_are_drawn_as_they_are(results: Path, tmp_path: Path, farweb: Farweb) -> None:
    words = drawn(farweb, "cdf", results / "s", tmp_path)
    assert not missing(words, NAMES)
    assert "\u202e" not in words and LONG[:100] not in words


def test_levels_stand_on_axes_as_they_are(results: Path, tmp_path: Path, farweb: Farweb) -> None:
    words = drawn(farweb, "effects", results / "s", tmp_path)
    assert "\u202e" not in words and LONG[:100] not in words


@pytest.mark.parametrize("link", [0, 6, 8])  # a formula, a script, a reversed name, a long one
def test_nodes_are_drawn_as_they_are(results: Path, tmp_path: Path, farweb: Farweb, link: int) -> None:
    assert not missing(drawn(farweb, "link", results / "r", tmp_path, "--link", link), list(NAMES)[link : link + 2])


@pytest.mark.usefixtures("unpainted")
def test_a_page_shows_names_and_runs_none(results: Path, tmp_path: Path, farweb: Farweb) -> None:
    assert farweb("report", results / "r", "-o", tmp_path / "page.html").code == 0
    page = (tmp_path / "page.html").read_text("utf-8")
    assert "<script" not in page and "\u202e" not in page
    assert "&lt;script&gt;alert(1)" in page and "$x^$" in page and "\\u202eabc" in page
    assert farweb("plot", "cdf", results / "s", "-o", tmp_path / "figure.html").code == 0
    assert "<script>alert" not in (tmp_path / "figure.html").read_text("utf-8")


@pytest.mark.parametrize("verb", ["show r", "show r --breakdown", "show s", "compare r r"])
def test_tables_leave_out_the_middle_of_a_long_name(
    results: Path, monkeypatch: pytest.MonkeyPatch, farweb: Farweb, verb: str
) -> None:
    monkeypatch.chdir(results)
    answer = farweb(*verb.split())
    assert answer.code == 0
    assert len(answer.out) < 60_000 and "\u202e" not in answer.out


def test_a_long_name_is_shortened_in_what_check_says(farweb: Farweb, cable: Path) -> None:
    assert len(farweb("check", "cable.toml", "--set", f"name={'n' * 5000}").out.split("\n\n")[0]) < 700
