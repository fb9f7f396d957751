"""A picture of the studio for documents: `python docs/images/studio.py FILE.png`, after `make studio`; in Chromium."""

import os
import shutil
import sys

from playwright.sync_api import Page, sync_playwright

from farweb.studio import built

_RESTS = 'document.querySelector("main")?.ariaBusy === "false" && !document.querySelector("main.stale")'


def _rest(page: Page) -> None:
    page.wait_for_timeout(100)
    while not page.evaluate(_RESTS):
        page.wait_for_timeout(20)


def main(file: str) -> None:
    """HTTP/2 against HTTP/1.1 over a slow line with losses, and the packets of a request."""
    with sync_playwright() as playwright:
        program = shutil.which(os.environ.get("CHROMIUM", "chromium"))
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": 1280, "height": 850}, offline=True, color_scheme="light")
        page.goto(built().as_uri())
        _rest(page)
        page.select_option("#path", "cable-1998")
        _rest(page)
        for name, position in (("down", 120), ("loss", 300)):
            page.evaluate(
                """([name, position]) => { const slider = document.getElementById(name); slider.value = position;
                    slider.dispatchEvent(new Event("input", { bubbles: true })); }""",
                [name, position],
            )
            _rest(page)
        page.click("#pin")
        page.check("input[value='http/2']")
        _rest(page)
        page.wait_for_timeout(1500)
        page.click("#spacetime", position={"x": 420, "y": 150})
        page.evaluate("document.activeElement.blur(); scrollTo(0, 0)")
        page.wait_for_timeout(200)
        page.screenshot(path=file, full_page=True)
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1])
