"""Fixtures that open the studio in a browser, and files to open in it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser
from studio_sight import Open, Sight, keyed

from farweb.cli.demonstration import EXAMPLES
from farweb.studio import built


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


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A scenario of one's own whose table has the name of an example's and other rows."""
    (tmp_path / "own.toml").write_text(keyed((EXAMPLES / "satellite.toml").read_text(), table="page.csv"))
    lines = (EXAMPLES / "page.csv").read_text().splitlines()
    (tmp_path / "page.csv").write_text("\n".join(lines[:4]) + "\n")
    return tmp_path / "own.toml"
