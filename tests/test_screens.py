"""The pages that show what farweb prints: their commands run, and print what stands there."""

import gzip
import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from farweb.cli.demonstration import SEED
from farweb.inputs.web1997 import generate
from samples import Farweb

ROOT = Path(__file__).parents[1]
DATA = next((up / "shared/data" for up in ROOT.parents if (up / "shared/data").is_dir()), None)
NEXT = "\n"  # an empty line before each further command
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def shown(block: str, farweb: Farweb) -> Iterator[str]:
    """The commands of a block, each with its output."""
    for command in re.findall(r"^\$ farweb (.*)$", block, re.MULTILINE):
        answer = farweb(*shlex.split(command))
        assert answer.code == 0, answer.err
        yield f"$ farweb {command}\n{answer.out}{answer.err}"


def hold(page: Path, farweb: Farweb, silent: str = "") -> None:
    """Run the commands of a page, and compare their output; write it where asked.

    Args:
        page: The page.
        silent: Pattern of blocks that are run and not shown.
    """
    text = page.read_text("utf-8")

    def run(found: re.Match[str]) -> str:
        answers = list(shown(found[1], farweb))
        return (
            found[0] if not answers or re.search(silent or "$^", found[1]) else f"```console\n{NEXT.join(answers)}```"
        )

    made = BLOCK.sub(run, text)
    if "WRITE_SCREENS" in os.environ:
        page.write_text(made, "utf-8")
    else:
        assert made == text
    lines = [line for block in BLOCK.findall(made) for line in block.splitlines() if line[:1] != "$"]
    assert [line for line in lines if len(line) > 80] == []


def test_every_screen_is_as_the_page_has_it(folder: Path, farweb: Farweb, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    generate(SEED).write_log(folder / "access.log")
    hold(ROOT / "docs/screens.md", farweb)


@pytest.mark.usefixtures("unpainted")
@pytest.mark.skipif(DATA is None, reason="the logs are not here")
def test_the_readme_shows_an_hour_of_nasa_s_log(folder: Path, farweb: Farweb, monkeypatch: pytest.MonkeyPatch) -> None:
    assert DATA is not None
    monkeypatch.setenv("COLUMNS", "80")
    lines = gzip.decompress((DATA / "clf/nasa-jul95-excerpts.log.gz").read_bytes()).splitlines(keepends=True)
    hour = [
        line for line in lines if b"[03/Jul/1995:13:50:40" <= line[line.find(b"[") :][:21] < b"[03/Jul/1995:14:50:40"
    ]
    (folder / "access.log.gz").write_bytes(gzip.compress(b"".join(hour)))
    hold(ROOT / "README.md", farweb, silent="farweb new")
