"""The demonstration's report in a real browser: whole, quiet, within the width of a screen, and fit for paper.

Chromium is driven by its command line alone. A page beside the report shows it in frames as wide as a screen and as a
phone and measures what is in them; `--dump-dom` prints what it measured. `make verify` runs this and names the browser.
"""

import io
import json
import os
import re
import subprocess
from collections.abc import Sequence
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from farweb.demo import main

WIDTHS = (1280, 390)
"""CSS pixels: a laptop and a phone."""

PROBE = """<!doctype html>
<meta charset="utf-8">
<style>iframe {{ height: 900px; border: 0; display: block }}</style>
{frames}
<pre id="measured"></pre>
<script>
const images = page => [...page.images].map(image => ({{ width: image.naturalWidth, shown: image.clientWidth }}));
const measure = frame => {{
    const page = frame.contentDocument;
    return {{
        title: page.title,
        room: page.documentElement.clientWidth,
        needed: page.documentElement.scrollWidth,
        images: images(page),
        loaded: frame.contentWindow.performance.getEntriesByType("resource").map(entry => entry.name),
    }};
}};
window.onload = () => {{
    measured.textContent = JSON.stringify([...document.querySelectorAll("iframe")].map(measure));
}};
</script>
"""


def chromium(profile: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the browser without a window, a network or a history."""
    # A page from a file may look into frames from files; the sandbox does not work for root, as whom a CI job may run.
    browser = subprocess.run(
        [
            os.environ.get("CHROMIUM", "chromium"),
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--host-resolver-rules=MAP * ~NOTFOUND",
            "--allow-file-access-from-files",
            "--hide-scrollbars",
            "--enable-logging=stderr",
            f"--user-data-dir={profile}",
            *arguments,
        ],
        check=False,
        capture_output=True,
        text=True,
        timeout=90,
    )
    assert browser.returncode == 0, browser.stderr
    return browser


def said(browser: subprocess.CompletedProcess[str]) -> Sequence[str]:
    """What pages wrote to the console, what they were refused included."""
    return [line for line in browser.stderr.splitlines() if "CONSOLE" in line]


def look(folder: Path, page: Path) -> tuple[list[dict[str, Any]], Sequence[str]]:
    """What is in frames of each width that show the page, and what it wrote to the console."""
    probe = folder / "probe.html"
    frames = "".join(f'<iframe width="{width}" src="{page.as_uri()}"></iframe>\n' for width in WIDTHS)
    probe.write_text(PROBE.format(frames=frames), "utf-8")
    browser = chromium(folder / "profile", "--virtual-time-budget=10000", "--dump-dom", probe.as_uri())
    found = re.search(r'<pre id="measured">(.+?)</pre>', browser.stdout, re.DOTALL)
    assert found is not None, f"the probe measured nothing: {browser.stderr}"
    return json.loads(unescape(found[1])), said(browser)


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page that a demonstration ends with."""
    out = tmp_path_factory.mktemp("demo") / "demo"
    main(out, Console(file=io.StringIO()))
    return out / "report.html"


def test_the_report_is_whole_quiet_and_within_every_width(tmp_path: Path, report: Path) -> None:
    frames, console = look(tmp_path, report)
    assert console == []
    assert [frame["room"] for frame in frames] == list(WIDTHS)
    for frame in frames:
        assert frame["title"] == "A proxy of 1997 over a sea cable and over a satellite"
        assert frame["needed"] <= frame["room"], "the page has to be scrolled sideways"
        assert len(frame["images"]) == 3
        assert all(0 < image["shown"] <= min(image["width"], frame["room"]) for image in frame["images"])
        assert all(name.startswith("data:") for name in frame["loaded"])


def test_the_report_prints_on_a_few_pages(tmp_path: Path, report: Path) -> None:
    paper = tmp_path / "report.pdf"
    chromium(tmp_path / "profile", "--no-pdf-header-footer", f"--print-to-pdf={paper}", report.as_uri())
    pages = len(re.findall(rb"/Type\s*/Page\b", paper.read_bytes()))
    assert 2 <= pages <= 6


@pytest.mark.parametrize(
    ("flaw", "shows"),
    [
        ('<img src="data:image/png;base64,AAAA">', "image"),
        ('<p style="width: 3000px">wide</p>', "width"),
        ('<img src="http://farweb.example/figure.png">', "console"),
        ("<script>console.error(1)</script>", "console"),
    ],
)
def test_a_page_with_a_flaw_is_found_out(tmp_path: Path, report: Path, flaw: str, shows: str) -> None:
    page = tmp_path / "flawed.html"
    page.write_text(report.read_text("utf-8").replace("</body>", f"{flaw}</body>"), "utf-8")
    frames, console = look(tmp_path, page)
    wide = any(frame["needed"] > frame["room"] for frame in frames)
    broken = any(image["width"] == 0 for frame in frames for image in frame["images"])
    assert {"image": broken, "width": wide, "console": bool(console)}[shows]
