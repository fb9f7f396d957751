"""Reports in a real browser: whole, quiet, within the width of a screen, and fit for paper.

Playwright drives the system's Chromium, without a network. `make verify` runs this and names the browser.
"""

import io
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page
from rich.console import Console

from farweb.cli import main as farweb
from farweb.cli.demonstration import EXAMPLES
from farweb.cli.demonstration import main as demonstrate

WIDTHS = (360, 800, 1280)
"""CSS pixels: a phone, a tablet, a laptop."""

pytest_plugins = ("chromium",)

# Seconds; the sweep that a page is made of runs first, and once.
pytestmark = [pytest.mark.timeout(600), pytest.mark.slow(reason="Chromium")]

A4 = (794, 1123)  # CSS pixels

NEEDED = "[document.documentElement.scrollWidth, document.documentElement.clientWidth]"
IMAGES = "[...document.images].map(image => [image.complete, image.naturalWidth, image.clientWidth])"
LOADED = "performance.getEntriesByType('navigation')[0].loadEventEnd"
HIDDEN = """[...document.querySelectorAll(".scrolls")].filter(each => each.scrollWidth > each.clientWidth + 1)
    .map(each => each.innerText)"""
CUT = """[...document.querySelectorAll("svg text")].filter(text => {
    const [box, room] = [text.getBoundingClientRect(), text.ownerSVGElement.getBoundingClientRect()];
    return Math.min(box.left - room.left, box.top - room.top, room.right - box.right, room.bottom - box.bottom) < -1;
}).map(text => text.textContent)"""


@dataclass
class Sight:
    """A page as it was opened, and what the browser noticed."""

    page: Page
    console: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    @property
    def is_too_wide(self) -> bool:
        needed, room = self.page.evaluate(NEEDED)
        return bool(needed > room)

    @property
    def broken(self) -> list[list[object]]:
        """Images that are not there."""
        return [image for image in self.page.evaluate(IMAGES) if not image[0] or not image[1]]


def look(browser: Browser, file: Path, width: int) -> Sight:
    """Open a page in a window of this width."""
    page = browser.new_page(viewport={"width": width, "height": 900}, offline=True)
    sight = Sight(page)
    page.on("console", lambda message: sight.console.append(message.text))
    page.on("pageerror", lambda error: sight.console.append(str(error)))
    page.on("request", lambda request: sight.asked.append(request.url))
    page.goto(file.as_uri())
    return sight


@pytest.fixture(scope="module")
def demonstration(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page that a demonstration ends with."""
    out = tmp_path_factory.mktemp("demo") / "demo"
    demonstrate(out, Console(file=io.StringIO()))
    return out / "report.html"


@pytest.fixture(scope="module")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a sweep of 480 runs: four factors, five replications."""
    folder = tmp_path_factory.mktemp("sweep")
    (folder / "page.csv").write_bytes((EXAMPLES / "page.csv").read_bytes())
    (folder / "study.toml").write_text(STUDY, "utf-8")
    assert farweb(["sweep", str(folder / "study.toml"), "--out", str(folder / "study"), "--quiet"]) == 0
    assert farweb(["report", str(folder / "study"), "--quiet"]) == 0
    return folder / "study/report.html"


@pytest.fixture(scope="module")
def proxies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of three runs by satellite: without a proxy, with one that splits, with one that shares connections."""
    folder = tmp_path_factory.mktemp("proxies")
    split = ("--set", 'leg.0.carrier={ kind = "http/1.0" }')
    runs = {
        "straight": ("satellite", "--set", "record.exchanges=true"),
        "split": ("proxies", *split),
        "shared": ("proxies",),
    }
    for name, (example, *changes) in runs.items():
        file = str(EXAMPLES / f"{example}.toml")
        assert farweb(["run", file, *changes, "--out", str(folder / name), "--quiet"]) == 0
    assert farweb(["report", *(str(folder / name) for name in runs), "--quiet"]) == 0
    return folder / "straight/report.html"


STUDY = """\
format = 1
name = "cable or satellite"

[path]
nodes = ["provider", "exchange", "servers"]

[[path.link]]
up = { rate = "256 kbit/s", delay = "60 ms", queue = "64000 B" }
down = { rate = "512 kbit/s", delay = "60 ms", loss = { kind = "bernoulli", probability = 0.01 } }

[[path.link]]
up = { rate = "10 Mbit/s", delay = "5 ms" }
down = { rate = "10 Mbit/s", delay = "5 ms" }

[[leg]]
from = "provider"
to = "servers"
carrier = { kind = "http/1.0" }

[workload]
requests = "page.csv"
copies_offset = "3 s"

[sweep]
replications = 5

[[sweep.factors.circuit]]
level = "cable"
set = { "path.link.0.up.delay" = "60 ms", "path.link.0.down.delay" = "60 ms" }

[[sweep.factors.circuit]]
level = "satellite"
set = { "path.link.0.up.delay" = "320 ms", "path.link.0.down.delay" = "320 ms" }

[sweep.factors]
"workload.load" = [1, 2, 4, 8]
"path.link.0.down.queue" = ["16000 B", "64000 B", "256000 B"]
"leg.0.tcp.buffer" = ["8760 B", "16384 B", "32767 B", "65535 B"]
"""

_LAST = ("Assumptions", "Warnings", "How to reproduce")
REPORTS = {
    "demonstration": ["Figures", "Links and connections", "Log", *_LAST],
    "sweep": ["Results", "Figures", "Assumptions", "How to reproduce"],
    "proxies": ["Figures", "Links and connections", *_LAST],
}
"""The pages, and the headings that each must have."""

FIGURES = {"demonstration": 4, "sweep": 3, "proxies": 6}
"""How many figures each has."""


@pytest.fixture(params=REPORTS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def report(request: pytest.FixtureRequest, name: str) -> tuple[Path, list[str]]:
    file: Path = request.getfixturevalue(name)
    return file, REPORTS[name]


@pytest.mark.parametrize("width", WIDTHS)
def test_a_report_is_whole_quiet_and_within_every_width(
    browser: Browser, report: tuple[Path, list[str]], name: str, width: int
) -> None:
    file, headings = report
    sight = look(browser, file, width)
    assert sight.console == []
    assert [url for url in sight.asked if not url.startswith("data:")] == [file.as_uri()]
    assert not sight.is_too_wide, "the page has to be scrolled sideways"
    assert sight.broken == []
    assert len(sight.page.evaluate(IMAGES)) == FIGURES[name]
    assert sight.page.locator("h2").all_inner_texts() == headings
    assert sight.page.locator("h1").count() == 1
    assert sight.page.evaluate(CUT) == []
    assert width != WIDTHS[0] or sight.page.evaluate(HIDDEN) == [], "a phone shows no table whole"
    shown = [drawing for drawing in sight.page.locator(".path svg").all() if drawing.is_visible()]
    assert len(shown) == sight.page.locator(".path").count()


def test_what_is_folded_opens(browser: Browser, sweep: Path) -> None:
    page = look(browser, sweep, 360).page
    folds = page.locator("details").all()
    assert folds
    for fold in folds:
        inside = fold.locator(":scope > :not(summary)").first
        assert not inside.is_visible()
        fold.locator("summary").click()
        assert inside.is_visible()
    assert not Sight(page).is_too_wide


def test_a_report_is_dark_where_the_reader_wants_it(browser: Browser, report: tuple[Path, list[str]]) -> None:
    page = look(browser, report[0], 800).page
    background = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(background) == "rgb(255, 255, 255)"
    page.emulate_media(color_scheme="dark")
    assert page.evaluate(background) == "rgb(23, 25, 27)"
    page.emulate_media(media="print")
    assert page.evaluate(background) == "rgb(255, 255, 255)"


def test_a_report_prints_on_a_few_pages_and_nothing_is_cut(browser: Browser, report: tuple[Path, list[str]]) -> None:
    page = look(browser, report[0], A4[0]).page
    pages = len(re.findall(rb"/Type\s*/Page\b", page.pdf(prefer_css_page_size=True)))
    assert 3 <= pages <= 8
    # Paper cuts anything wider than itself: nothing on it can be scrolled. Its margins are 15 mm.
    page.emulate_media(media="print")
    page.set_viewport_size({"width": round(A4[0] - 2 * 15 / 25.4 * 96), "height": A4[1]})
    assert not Sight(page).is_too_wide


def test_a_report_loads_fast(
    browser: Browser, report: tuple[Path, list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert report[0].stat().st_size < 3_000_000
    loaded = look(browser, report[0], 1280).page.evaluate(LOADED)
    with capsys.disabled():
        sys.stdout.write(f"\n{report[0].name}: {report[0].stat().st_size / 1e6:.2f} MB, loaded in {loaded:.0f} ms ")
    assert 0 < loaded < 10_000, "a page of a megabyte is there in a fraction of a second"


@pytest.mark.parametrize(
    ("flaw", "shows"),
    [
        ('<img src="data:image/png;base64,AAAA">', "image"),
        ('<div style="width: 3000px">wide</div>', "width"),
        ('<img src="http://farweb.example/figure.png">', "console"),
        ("<script>console.error(1)</script>", "console"),
    ],
)
def test_a_page_with_a_flaw_is_found_out(
    browser: Browser, tmp_path: Path, demonstration: Path, flaw: str, shows: str
) -> None:
    page = tmp_path / "flawed.html"
    page.write_text(demonstration.read_text("utf-8").replace("</body>", f"{flaw}</body>"), "utf-8")
    sight = look(browser, page, 1280)
    assert {"image": bool(sight.broken), "width": sight.is_too_wide, "console": bool(sight.console)}[shows]
