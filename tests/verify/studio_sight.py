"""The studio in a browser, as a test looks at it and works it."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from playwright.sync_api import Page

SETTLED = 'document.querySelector("main")?.ariaBusy === "false"'
FIGURES = "row => [...document.querySelectorAll(`#figures tr.${row} data`)].map(each => Number(each.value))"


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

    def load(self) -> tuple[str, list[str]]:
        """Below the figures the answer of `farweb check` and its warnings, which come once the text stands."""
        self.until("document.querySelector('#load p:not(.warning)') !== null")
        warnings = self.page.locator("#load .warning").all_inner_texts()
        return plain(self.page.inner_text("#load p:not(.warning)")), [plain(each) for each in warnings]

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


def drop(sight: Sight, *files: Path) -> None:
    sight.page.set_input_files("#file", files)
    sight.page.wait_for_timeout(100)
    sight.settle()


def choose(sight: Sight, name: str, value: str) -> None:
    sight.page.check(f"input[name={name}][value='{value}']")
    sight.page.wait_for_timeout(100)
    sight.settle()


def undo(sight: Sight) -> None:
    sight.page.evaluate("document.getElementById('undo').click()")
    sight.settle()


def keyed(text: str, *, table: str, hosts: str = "") -> str:
    """The example satellite with tables of other names."""
    text = text.replace('requests = "page.csv"', f'requests = "{table}"')
    return text.replace('hosts = "hosts.tsv"', f'hosts = "{hosts}"' if hosts else "")
