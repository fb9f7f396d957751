"""What the studio opens and gives out in a real browser: its file, links, examples, scenarios and tables.

`make verify` builds the file first.
"""

import gzip
import http.server
import json
import random
import shutil
import threading
from pathlib import Path
from xml.etree import ElementTree

import polars as pl
import pytest
from studio_sight import Open, choose, drop, keyed, undo

from farweb import Scenario
from farweb.cli.demonstration import EXAMPLES
from farweb.studio import built, write_studio

SIZE_MAX, COMPRESSED_MAX = 1_700_000, 1_250_000  # bytes: the file, and compressed

pytest_plugins = ("chromium", "studio_opened")
pytestmark = [pytest.mark.timeout(300), pytest.mark.slow(reason="Chromium")]


def test_the_file_is_small() -> None:
    content = built().read_bytes()
    assert len(content) <= SIZE_MAX
    assert len(gzip.compress(content)) <= COMPRESSED_MAX


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
