"""The studio in a real browser: quick, quiet, right, and connected to nothing.

Playwright drives the system's Chromium, without a network. `make verify` builds the file first.
"""

import asyncio
import gzip
import http.server
import json
import os
import random
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import polars as pl
import pytest
from firefox import evaluated
from playwright.sync_api import Browser, Page

from farweb import Scenario
from farweb.cli.demonstration import EXAMPLES
from farweb.studio import built, write_studio

ROOT = Path(__file__).parents[2]
AXE = ROOT / "studio/node_modules/axe-core/axe.min.js"
SIZE_MAX, COMPRESSED_MAX = 1_700_000, 1_250_000  # bytes: the file, and compressed
WALKS = 30
SETTLED = 'document.querySelector("main")?.ariaBusy === "false"'
FIREFOX = shutil.which("firefox-esr")
FIGURES = "row => [...document.querySelectorAll(`#figures tr.${row} data`)].map(each => Number(each.value))"

pytest_plugins = ("chromium",)
pytestmark = [pytest.mark.timeout(300), pytest.mark.slow(reason="Chromium")]


def plain(text: str) -> str:
    return text.replace("\xa0", " ")


@dataclass
class Sight:
    """The page, and what the browser noticed."""

    page: Page
    console: list[str] = field(default_factory=list)

    @property
    def answer(self) -> str:
        """Line 1, whose numbers have their units beside them."""
        return plain(self.page.inner_text("#answer"))

    def until(self, what: str) -> None:
        """Wait for an expression. `wait_for_function` evaluates a text in the page, which its policy forbids."""
        end = time.monotonic() + 60
        while not self.page.evaluate(what):
            assert time.monotonic() < end, f"waited in vain for {what}: {self.answer} {self.notice}"
            self.page.wait_for_timeout(15)

    @property
    def notice(self) -> str:
        return self.page.inner_text(".problems")

    def settle(self) -> None:
        """Wait for the result of the text."""
        self.page.wait_for_timeout(30)
        self.until(SETTLED)

    def slide(self, name: str, position: int) -> None:
        self.page.evaluate(
            """([name, position]) => { const slider = document.getElementById(name); slider.value = position;
                slider.dispatchEvent(new Event("input", { bubbles: true })); }""",
            [name, position],
        )
        self.settle()

    def numbers(self, row: str = "now") -> list[float]:
        """Median, 90 %, 99 % and mean in s, and failed requests, as far as they are shown: no 99 % of 400 requests."""
        found: list[float] = self.page.evaluate(FIGURES, row)
        return found

    @property
    def text(self) -> str:
        return self.page.input_value("#text")

    def write(self, text: str) -> None:
        self.page.evaluate(
            """text => { const area = document.getElementById("text"); area.value = text;
                area.dispatchEvent(new Event("input", { bubbles: true })); }""",
            text,
        )
        self.settle()


Open = Callable[..., Sight]


@pytest.fixture
def look(browser: Browser) -> Iterator[Open]:
    """Opens the studio, or a file of it, offline; at the end the console must have stayed empty."""
    sights: list[Sight] = []

    def open_(file: Path | None = None, fragment: str = "", width: int = 1280, **more: Any) -> Sight:
        page = browser.new_page(**{"viewport": {"width": width, "height": 850}, "offline": True, **more})
        sight = Sight(page)
        sights.append(sight)
        page.on("console", lambda message: sight.console.append(message.text))
        page.on("pageerror", lambda error: sight.console.append(str(error)))
        page.goto(f"{(file or built()).as_uri()}{fragment}")
        sight.until(
            'document.querySelector("#answer")?.textContent.match(/requests? take|failed|No request|of farweb/)'
        )
        sight.settle()
        return sight

    yield open_
    for sight in sights:
        sight.page.close()
    assert [sight.console for sight in sights] == [[]] * len(sights)


def test_the_file_is_small() -> None:
    content = built().read_bytes()
    assert len(content) <= SIZE_MAX
    assert len(gzip.compress(content)) <= COMPRESSED_MAX


def test_a_slider_changes_the_answer_and_a_pin_compares(look: Open) -> None:
    sight = look()
    before, first = sight.answer, sight.numbers()
    assert before.startswith("Half of 400 requests take ")
    sight.page.click("#pin")
    sight.slide("delay", 100)
    assert sight.numbers()[0] < first[0]
    assert "less time than the pinned run on average; " in sight.answer
    assert sight.numbers("pinned") == first
    assert 'delay = "1 ms"' in sight.text
    sight.page.click("details#scenario > summary")
    sight.page.click("#undo")
    sight.settle()
    assert sight.numbers() == first


def test_the_text_is_broken_and_mended(look: Open) -> None:
    sight = look()
    sight.page.click("details#scenario > summary")
    text, numbers = sight.text, sight.numbers()
    sight.write(text.replace("seed = 1", 'seed = "one"'))
    line = text.splitlines().index("seed = 1") + 1
    assert sight.notice.startswith(f"line {line} run.seed: ")
    assert sight.page.inner_text(".gutter .wrong") == str(line)
    assert sight.numbers() == numbers
    assert "stale" in (sight.page.get_attribute("main", "class") or "")
    sight.page.click(".problems button")
    selected = """(({ value, selectionStart, selectionEnd }) => value.slice(selectionStart, selectionEnd))(
        document.getElementById("text"))"""
    assert sight.page.evaluate(selected) == 'seed = "one"'
    sight.write(text)
    assert sight.notice == ""
    assert "stale" not in (sight.page.get_attribute("main", "class") or "")


def test_a_link_holds_every_control(look: Open) -> None:
    sight = look()
    for name, position in (("delay", 222), ("down", 111), ("up", 99), ("loss", 300), ("queue", 250)):
        sight.slide(name, position)
    sight.page.check("input[value='http/2']")
    sight.settle()
    sight.page.uncheck("#tls")
    sight.settle()
    sight.page.check("input[value='split']")
    sight.settle()
    sight.page.fill("#seed", "7")
    sight.page.press("#seed", "Enter")
    sight.settle()
    state = """() => [...document.querySelectorAll("form input, form select")].filter(each => each.type !== "file")
        .map(each => each.type === "radio" || each.type === "checkbox" ? each.checked : each.value)"""
    sight.until("location.hash.length > 100")
    sight.page.wait_for_timeout(800)
    fragment = sight.page.evaluate("location.hash")
    there = look(fragment=fragment)
    assert there.text == sight.text
    assert there.page.evaluate(state) == sight.page.evaluate(state)
    assert there.numbers() == sight.numbers()


@pytest.mark.parametrize("fragment", ["#s=!!", "#s=AAAA", "#s=" + "A" * 100_000, "#other"])
def test_a_hostile_link_is_refused_and_the_page_begins(look: Open, fragment: str) -> None:
    sight = look(fragment=fragment)
    assert sight.answer.startswith("Half of 400 requests take ")


def test_ten_scenarios_have_the_numbers_of_farweb_show(look: Open, tmp_path: Path) -> None:
    sight = look()
    texts = []
    for proxy in ("none", "split", "mux", "pep"):
        sight.page.check(f"input[name=proxy][value={proxy}]")
        sight.settle()
        for protocol in ("http/1.1", "http/2"):
            sight.page.check(f"input[value='{protocol}']")
            sight.settle()
            texts.append((sight.text, sight.numbers(), sight.answer))
    sight.slide("loss", 330)
    texts.append((sight.text, sight.numbers(), sight.answer))
    sight.write(sight.text.replace("seed = 1", 'seed = 3\nwarmup = "20 s"'))
    texts.append((sight.text, sight.numbers(), sight.answer))
    assert len({numbers[2] for _, numbers, _ in texts}) > 8
    for place, (text, numbers, answer) in enumerate(texts):
        file = tmp_path / f"{place}.toml"
        file.write_text(text)
        summary = Scenario.load(file).run(out=tmp_path / str(place)).summary()
        of = summary.latency
        expected = [of.p50_observed_s, of.p90_observed_s, of.mean_s, summary.failed]
        assert numbers == pytest.approx(expected, rel=1e-12)
        assert answer == summary.answer


def test_a_carried_scenario_shows_the_numbers_of_its_run(look: Open, tmp_path: Path) -> None:
    scenario = Scenario.load(EXAMPLES / "satellite.toml")
    sight = look(write_studio(tmp_path / "s.html", scenario).file)
    assert sight.text == (EXAMPLES / "satellite.toml").read_text("utf-8")
    summary = scenario.run(out=tmp_path / "run").summary()
    assert sight.answer == summary.answer


def test_every_example_opens(look: Open) -> None:
    sight = look()
    names = sight.page.evaluate("[...document.querySelectorAll('#example option')].map(each => each.value)")
    for name in filter(None, names):
        sight.page.select_option("#example", name)
        sight.settle()
        assert sight.notice == "", name
        assert "stale" not in (sight.page.get_attribute("main", "class") or ""), name


REFUSED = """async address => {
    const refused = [], violations = [];
    addEventListener("securitypolicyviolation", event => violations.push(event.effectiveDirective));
    const tried = (name, act) => new Promise((go, fail) => act(go, fail)).catch(() => refused.push(name));
    await tried("fetch", (go, fail) => fetch(address).then(go, fail));
    const socket = () => new WebSocket(address.replace("http", "ws"));
    await tried("socket", (go, fail) => Object.assign(socket(), { onopen: go, onerror: fail }));
    if (self.document) {
        const seen = (go, fail) => ({ onload: go, onerror: fail, src: `${address}x.png` });
        await tried("image", (go, fail) => Object.assign(new Image(), seen(go, fail)));
        navigator.sendBeacon(address, "x");
    }
    await new Promise(go => setTimeout(go, 200));
    return [refused, violations.sort()];
}"""


@pytest.mark.skipif(FIREFOX is None, reason="needs firefox-esr")
def test_firefox_shows_the_same_answer(look: Open, tmp_path: Path) -> None:
    assert FIREFOX is not None
    sight = look()
    asked = ['document.querySelector("#answer").innerText', f"JSON.stringify(({FIGURES})('now'))"]
    # Playwright has a loop of its own in this thread.
    with ThreadPoolExecutor(1) as thread:
        answer, figures = thread.submit(asyncio.run, evaluated(FIREFOX, tmp_path, built(), SETTLED, asked)).result()
    assert (plain(answer), json.loads(figures)) == (sight.answer, sight.numbers())


def test_page_and_worker_connect_to_nothing(look: Open) -> None:
    came: list[str] = []

    class Server(http.server.BaseHTTPRequestHandler):
        def log_message(self, *arguments: object) -> None:
            came.append(self.requestline)

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/"
        sight = look(offline=False)
        (worker,) = sight.page.workers
        of_page, of_worker = (each.evaluate(REFUSED, address) for each in (sight.page, worker))
        server.shutdown()
    assert of_page == [["fetch", "socket", "image"], ["connect-src"] * 3 + ["img-src"]]
    assert of_worker == [["fetch", "socket"], ["connect-src"] * 2]
    assert came == []
    assert all("Content Security Policy" in line for line in sight.console)
    sight.console.clear()


def test_hostile_files_are_answered_in_words(look: Open, tmp_path: Path) -> None:
    sight = look()
    before = sight.numbers()
    noise = random.Random(1).randbytes(1_000_000)
    for name, content, said in (
        ("noise.csv", noise, "is not text but binary data"),
        ("large.csv", noise * 100, "too large for a tab"),
        ("noise.toml", noise[:1000], "not TOML"),
        ("link-requests.parquet", noise[:1000], "farweb studio link.toml"),
        ("page.har", b'{"log": {}}', "farweb page page.har"),
        ("it's.log", b"127.0.0.1 - -", "farweb new link.toml --log 'it'\\''s.log'"),
    ):
        (tmp_path / name).write_bytes(content)
        sight.page.set_input_files("#file", tmp_path / name)
        sight.until(f"document.querySelector('.problems').textContent.includes({json.dumps(said)})")
        sight.settle()
        assert sight.numbers() == before
        (tmp_path / name).unlink()


def test_everything_goes_out(look: Open, tmp_path: Path) -> None:
    sight = look()
    page = sight.page

    def saved(*clicks: str) -> bytes:
        for click in clicks[:-1]:
            page.click(click)
        with page.expect_download() as download:
            page.click(clicks[-1])
        return Path(download.value.path()).read_bytes()

    menu = "summary:has-text('Save')"
    assert saved(menu, "button:has-text('Scenario (studio.toml)')").decode() == sight.text
    table = pl.read_csv(saved(menu, "button:has-text('Requests (CSV)')"))
    ends = table.filter(pl.col("status") == "done")
    assert (len(table), len(ends)) == (400, 400)
    latency = (ends["end_s"] - ends["start_s"]).mean()
    assert latency == pytest.approx(sight.numbers()[2], rel=1e-9)
    for name in ("Share of requests within a time", "Latency by response size"):
        svg = ElementTree.fromstring(saved(f"button[aria-label='Save as SVG: {name}']"))
        assert svg.find("{http://www.w3.org/2000/svg}title").text == name  # type: ignore[union-attr]
        assert saved(f"button[aria-label='Save as PNG: {name}']").startswith(b"\x89PNG")
    assert b"MIT" in saved("button:has-text('Licences')")


def test_packets_are_played_and_looked_at_by_keys_and_pointer(look: Open) -> None:
    sight = look()
    sight.until("document.getElementById('spacetime')?.width > 300")
    page = sight.page
    cursor, shown = ".player output", "document.getElementById('spacetime').ariaLabel"
    assert page.inner_text(cursor) == ""
    page.focus("#spacetime")
    page.keyboard.press("ArrowRight")
    first, whole = page.inner_text(cursor), page.evaluate(shown)
    page.keyboard.press("End")
    last = page.inner_text(cursor)
    page.keyboard.press("+")
    assert page.evaluate(shown) != whole
    assert first != last
    page.click(".player button:has-text('The request')")
    assert (page.evaluate(shown), page.inner_text(cursor)) == (whole, "")
    page.click("#spacetime", position={"x": 400, "y": 100})
    middle = page.inner_text(cursor)
    assert middle not in ("", first, last)
    page.click("#play")
    sight.until(f"document.querySelector('{cursor}').textContent !== {json.dumps(middle)}")
    page.click("#play")
    page.emulate_media(reduced_motion="reduce")
    before = page.inner_text(cursor)
    page.click("#play")
    assert page.inner_text(cursor) != before
    assert page.get_attribute("#play", "aria-pressed") == "false"


def test_too_many_packets_are_refused_in_words(look: Open) -> None:
    sight = look()
    sight.until("document.getElementById('spacetime')")
    sight.write(sight.text.replace("requests = 400,", "requests = 12_000,"))
    sight.until("document.getElementById('packets')?.textContent.includes('more than 600,000 packets over links')")
    assert "12,000 requests" in sight.answer


def test_random_walks_leave_the_console_empty(look: Open) -> None:
    sight = look()
    draw = random.Random(65)
    for walk in range(WALKS):
        kind = draw.randrange(6)
        if kind < 3:
            for _ in range(5):
                sight.slide(draw.choice(["delay", "down", "up", "loss", "queue"]), draw.randrange(401))
        elif kind == 3:
            options = sight.page.evaluate("[...document.querySelectorAll('#path option')].map(each => each.value)")
            sight.page.select_option("#path", draw.choice([option for option in options if option]))
        elif kind == 4:
            sight.page.check(f"input[name=proxy][value={draw.choice(['none', 'split', 'mux', 'pep'])}]")
        else:
            sight.page.check(f"input[name=protocol][value='{draw.choice(['http/1.0', 'http/1.1', 'http/2'])}']")
        if walk % 5 == 0:
            sight.page.click("#pin")
        sight.settle()
        assert sight.notice == ""
        assert "stale" not in (sight.page.get_attribute("main", "class") or "")
        assert sight.console == []


@pytest.mark.parametrize("width", [360, 400, 1280, 2560])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_every_screen(look: Open, width: int, scheme: str, tmp_path: Path) -> None:
    sight = look(width=width, color_scheme=scheme)
    sight.write(sight.text.replace("requests = 400,", "requests = 500,"))
    sight.page.click("#pin")
    sight.slide("delay", 150)
    sight.page.evaluate("document.querySelectorAll('details:not(.menu)').forEach(each => { each.open = true })")
    folder = Path(os.environ.get("PICTURES", tmp_path))
    sight.page.screenshot(path=folder / f"studio-{width}-{scheme}.png", full_page=True)
    needed, room = sight.page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    assert needed <= room


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(look: Open, scheme: str) -> None:
    sight = look(color_scheme=scheme, bypass_csp=True)
    sight.page.click("#pin")
    sight.page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true })")
    sight.write(sight.text.replace("seed = 1", "seed = -1"))
    sight.page.evaluate(AXE.read_text("utf-8"))
    found = sight.page.evaluate(
        "axe.run().then(({ violations }) => violations.map(({ id, nodes }) => [id, ...nodes.map(each => each.html)]))"
    )
    assert found == []


def drop(sight: Sight, *files: Path) -> None:
    sight.page.set_input_files("#file", files)
    sight.page.wait_for_timeout(100)
    sight.settle()


def undo(sight: Sight) -> None:
    sight.page.evaluate("document.getElementById('undo').click()")
    sight.settle()


def keyed(text: str, *, table: str, hosts: str = "") -> str:
    """The example satellite with tables of other names."""
    text = text.replace('requests = "page.csv"', f'requests = "{table}"')
    return text.replace('hosts = "hosts.tsv"', f'hosts = "{hosts}"' if hosts else "")


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A scenario of one's own whose table has the name of an example's and other rows."""
    (tmp_path / "own.toml").write_text(keyed((EXAMPLES / "satellite.toml").read_text(), table="page.csv"))
    lines = (EXAMPLES / "page.csv").read_text().splitlines()
    (tmp_path / "page.csv").write_text("\n".join(lines[:4]) + "\n")
    return tmp_path / "own.toml"


def test_an_own_scenario_gets_no_table_of_an_example(look: Open, own: Path) -> None:
    sight = look()
    drop(sight, own)
    assert "names page.csv, which is not here: drop it on this page" in sight.notice
    text = sight.text
    drop(sight, own.with_name("page.csv"))
    assert (sight.notice, sight.text) == ("", text)
    assert "3 requests" in sight.answer
    sight.page.select_option("#example", "satellite")
    sight.settle()
    assert "8 requests" in sight.answer
    assert "of the example satellite" in sight.page.inner_text("#source")
    undo(sight)
    assert "3 requests" in sight.answer


def test_tables_are_taken_before_their_scenario_and_beside_it(look: Open, own: Path) -> None:
    sight = look()
    drop(sight, own.with_name("page.csv"))
    assert "3 requests" in sight.answer
    drop(sight, own)
    assert "3 requests" in sight.answer
    other = own.with_name("other.toml")
    other.write_text(keyed(own.read_text(), table="data/mine.csv").replace("[run]", 'hosts = "their.tsv"\n[run]'))
    shutil.copy(EXAMPLES / "page.csv", own.with_name("mine.csv"))
    shutil.copy(EXAMPLES / "hosts.tsv", own.with_name("their.tsv"))
    sight = look()
    drop(sight, other, own.with_name("their.tsv"), own.with_name("mine.csv"))
    assert (sight.notice, sight.text) == ("", other.read_text())
    assert "8 requests" in sight.answer
    drop(sight, own.with_name("page.csv"))
    assert "page.csv takes the place of data/mine.csv and its hosts, their.tsv. Undo" in sight.notice
    undo(sight)
    assert (sight.notice, sight.text) == ("", other.read_text())


def test_a_link_of_a_changed_example_has_its_table(look: Open) -> None:
    sight = look()
    sight.page.select_option("#example", "satellite")
    sight.settle()
    sight.slide("delay", 222)
    sight.until("location.hash.includes('&example=satellite')")
    there = look(fragment=sight.page.evaluate("location.hash"))
    assert (there.text, there.answer, there.notice) == (sight.text, sight.answer, "")
    first = there.page.evaluate("location.hash")
    there.slide("delay", 111)
    there.until(f"location.hash !== {first!r} && location.hash.includes('&example=satellite')")
    choose(there, "proxy", "split")
    choose(there, "protocol", "http/1.1")  # whose mss of a host no leg between two proxies has
    assert "leg.0.tcp.mss" in there.notice
    assert there.page.inner_text("#answer")
    plain = first.split("&")[0]
    sight = look()
    sight.page.evaluate("fragment => { location.hash = fragment }", plain)
    sight.until("document.querySelector('#notice')?.textContent.includes('names page.csv, which is not here')")


def test_a_damaged_link_is_said_until_something_is_done(look: Open) -> None:
    sight = look(fragment="#s=AAAA")
    sight.page.wait_for_timeout(1500)
    assert sight.notice == "this link is damaged; nothing of it was taken"
    assert sight.page.evaluate("location.hash") == "#s=AAAA"
    sight.slide("delay", 100)
    assert sight.notice == ""
    sight.until("location.hash.length > 100")


@pytest.mark.parametrize("requests", [10, 49, 50])
def test_few_requests_have_the_sentence_of_farweb_show(look: Open, tmp_path: Path, requests: int) -> None:
    sight = look()
    sight.write(sight.text.replace("requests = 400,", f"requests = {requests},"))
    (tmp_path / "few.toml").write_text(sight.text)
    assert sight.answer == Scenario.load(tmp_path / "few.toml").run(out=tmp_path / "few").summary().answer


def test_another_seed_draws_other_requests(look: Open) -> None:
    sight = look()
    sight.page.click("#pin")
    sight.page.fill("#seed", "2")
    sight.page.press("#seed", "Enter")
    sight.settle()
    assert sight.answer.endswith("on average, over other requests.")
    sight.page.select_option("#example", "satellite")
    sight.settle()
    sight.page.click("#pin")
    sight.page.click("#pin")
    sight.page.fill("#seed", "2")
    sight.page.press("#seed", "Enter")
    sight.settle()
    assert "on average; " in sight.answer


def choose(sight: Sight, name: str, value: str) -> None:
    sight.page.check(f"input[name={name}][value='{value}']")
    sight.page.wait_for_timeout(100)
    sight.settle()


def test_a_proxy_changes_the_proxy_alone(look: Open) -> None:
    sight = look()
    text = sight.text
    choose(sight, "proxy", "pep")
    choose(sight, "proxy", "none")
    assert (sight.text, sight.notice) == (text, "")
    mine = text.replace("requests = 400,", "requests = 300,").replace("seed = 1", 'seed = 5 # mine\nwarmup = "2 s"')
    mine = mine.replace('release = "delayed"', 'release = "paced"').replace(
        "[run]", '# All at one.\n[clients]\nshare = "all"\n\n[run]'
    )
    mine = mine.replace('carrier = { kind = "http/1.1" }', 'carrier = { kind = "http/1.1", per_host = 2 }')
    mine = mine.replace('preset = "geo-viasat"', 'preset = "geo-viasat"\ndown.queue = "codel"')
    sight.write(mine)
    answer = sight.answer
    choose(sight, "proxy", "split")
    assert sight.notice == ""
    for line in (
        "# All at one.",
        'share = "all"',
        "seed = 5 # mine",
        'warmup = "2 s"',
        'release = "paced"',
        "requests = 300,",
    ):
        assert line in sight.text, line
    assert sight.text.count("per_host = 2") == 2
    assert '"codel"' in sight.text
    choose(sight, "proxy", "none")
    assert (sight.answer, sight.notice) == (answer, "")


def test_what_a_proxy_cannot_keep_is_said(look: Open, own: Path) -> None:
    sight = look()
    sight.page.select_option("#example", "satellite")
    sight.settle()
    text, answer = sight.text, sight.answer
    choose(sight, "proxy", "pep")
    assert sight.notice == "Not kept as it was: path, leg. Undo takes it back."
    assert all(
        line in sight.text
        for line in ('requests = "page.csv"', 'hosts = "hosts.tsv"', 'release = "paced"', "bsd44-lite")
    )
    assert "34.368 Mbit/s" in sight.text
    assert "Viasat" not in sight.text
    assert "8 requests" in sight.answer
    undo(sight)
    assert (sight.text, sight.answer) == (text, answer)


def test_controls_show_what_is_so(look: Open) -> None:
    sight = look()
    text = sight.text
    for wrong in ("-5", "1.5", "", "9007199254740993"):
        sight.page.fill("#seed", wrong)
        sight.page.press("#seed", "Tab")
        sight.settle()
        assert (sight.page.input_value("#seed"), sight.text) == ("1", text)
        assert sight.notice == "A seed is a whole number from 0 to 9,007,199,254,740,991: it stays 1."
    sight.write(text.replace('version = "1.3"', 'version = "1.2"'))
    assert sight.page.inner_text("label:has(#tls)").strip() == "TLS 1.2"
    sight.write(text.replace('{ kind = "http/1.1" }', '{ kind = "http/1.1", per_host = 2, total = 6 }'))
    choose(sight, "protocol", "http/2")
    assert sight.notice == "Not kept with http/2: leg.0.carrier.per_host, leg.0.carrier.total. Undo takes it back."
    assert 'carrier = { kind = "http/2" }' in sight.text
    undo(sight)
    assert "per_host = 2, total = 6" in sight.text
    choose(sight, "proxy", "mux")
    sight.page.click("#tls")
    sight.settle()
    assert not sight.page.is_checked("#tls")
    sight.write(text.replace('{ kind = "http/1.1" }', '{ kind = "webmux" }'))
    assert sight.page.is_disabled("input[value='http/2']")
    assert sight.page.is_disabled("#tls")


def test_failed_requests_alone_are_said(look: Open) -> None:
    sight = look()
    dead = 'down.loss = { kind = "bernoulli", probability = 1.0 }'
    sight.write(sight.text.replace('preset = "geo-viasat"', f'preset = "geo-viasat"\n{dead}'))
    assert "failed" in sight.answer
    assert sight.page.inner_text("#chosen").endswith(": failed.")


def test_marks_differ_however_near_they_are(look: Open, tmp_path: Path) -> None:
    sight = look()
    sight.until("document.getElementById('sequence')?.width > 300")
    sight.page.focus("#spacetime")
    sight.page.keyboard.press("End")
    for _ in range(20):
        sight.page.keyboard.press("+")
    with sight.page.expect_download() as download:
        sight.page.click("button[aria-label^='Save as SVG: Packets']")
    texts = [each.text or "" for each in ElementTree.parse(download.value.path()).iter() if each.tag.endswith("text")]
    times = [text for text in texts if text.endswith("s") and text[0].isdigit()]
    assert len(times) > 3
    assert len(set(times)) == len(times)


def test_a_click_outside_closes_a_menu(look: Open) -> None:
    sight = look()
    sight.page.click("summary:has-text('Save')")
    assert sight.page.query_selector(".menu[open]")
    sight.page.click("h1")
    assert not sight.page.query_selector(".menu[open]")
