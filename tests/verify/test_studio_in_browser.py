"""The studio in a real browser: its controls, answers and packets are quick, quiet and right.

Playwright drives the system's Chromium, without a network. `make verify` builds the file first.
"""

import asyncio
import json
import os
import random
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from xml.etree import ElementTree

import pytest
from firefox import evaluated
from studio_sight import FIGURES, SETTLED, Open, choose, plain, undo

from farweb import Scenario
from farweb.studio import built

ROOT = Path(__file__).parents[2]
AXE = ROOT / "studio/node_modules/axe-core/axe.min.js"
WALKS = 30
FIREFOX = shutil.which("firefox-esr")

pytest_plugins = ("chromium", "studio_opened")
pytestmark = [pytest.mark.timeout(300), pytest.mark.slow(reason="Chromium")]


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


def test_ten_scenarios_have_the_numbers_of_farweb_show(look: Open, tmp_path: Path) -> None:
    sight = look()
    texts = []
    for proxy in ("none", "split", "mux", "pep"):
        sight.page.check(f"input[name=proxy][value={proxy}]")
        sight.settle()
        for protocol in ("http/1.1", "http/2"):
            sight.page.check(f"input[value='{protocol}']")
            sight.settle()
            texts.append((sight.text, sight.numbers(), sight.answer, sight.load()))
    sight.slide("loss", 330)
    texts.append((sight.text, sight.numbers(), sight.answer, sight.load()))
    sight.write(sight.text.replace("seed = 1", 'seed = 3\nwarmup = "20 s"'))
    texts.append((sight.text, sight.numbers(), sight.answer, sight.load()))
    assert len({numbers[2] for _, numbers, *_ in texts}) > 8
    for place, (text, numbers, answer, (load, warnings)) in enumerate(texts):
        file = tmp_path / f"{place}.toml"
        file.write_text(text.partition("[sweep]")[0])  # a tab has none
        scenario = Scenario.load(file)
        summary, check = scenario.run(out=tmp_path / str(place)).summary(), scenario.check()
        of = summary.latency
        expected = [of.p50_observed_s, of.p90_observed_s, of.mean_s, summary.failed]
        assert numbers == pytest.approx(expected, rel=1e-12)
        assert answer == summary.answer
        assert check.answer.startswith(load)  # which says besides where TLS is decrypted
        assert warnings == check.warnings


@pytest.mark.skipif(FIREFOX is None, reason="needs firefox-esr")
def test_firefox_shows_the_same_answer(look: Open, tmp_path: Path) -> None:
    assert FIREFOX is not None
    sight = look()
    asked = ['document.querySelector("#answer").innerText', f"JSON.stringify(({FIGURES})('now'))"]
    # Playwright has a loop of its own in this thread.
    with ThreadPoolExecutor(1) as thread:
        answer, figures = thread.submit(asyncio.run, evaluated(FIREFOX, tmp_path, built(), SETTLED, asked)).result()
    assert (plain(answer), json.loads(figures)) == (sight.answer, sight.numbers())


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
