"""The browser that pages are looked at with."""

import os
import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium without a window; the sandbox does not work for root, as whom a CI job may run."""
    program = shutil.which(os.environ.get("CHROMIUM", "chromium"))
    assert program is not None, "name a Chromium in CHROMIUM"
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        yield opened
        opened.close()
