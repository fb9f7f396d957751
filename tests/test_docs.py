"""The examples of the documents run: files are written, commands end well, Python raises nothing.

In a document, a fenced block whose language is followed by a name is a file of that name; in `console` blocks the lines
that begin with `$ farweb` are commands; `python` blocks are run.
"""

import gzip
import re
import shlex
from pathlib import Path

import pytest

from samples import LOG, Farweb

ROOT = Path(__file__).parent.parent
BLOCK = re.compile(r"^```(?P<language>\w+)(?: (?P<name>\S+))?\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("document", ["README.md", "docs/guide.md"])
def test_examples_run(document: str, folder: Path, farweb: Farweb) -> None:
    (folder / "access.log").write_text(LOG)
    (folder / "access.log.gz").write_bytes(gzip.compress(LOG.encode()))
    commands = 0
    for block in BLOCK.finditer((ROOT / document).read_text("utf-8")):
        if block["name"]:
            (folder / block["name"]).write_text(block["body"])
        elif block["language"] == "python":
            exec(compile(block["body"], f"{document}: {block['body'][:40]}", "exec"), {})
        elif block["language"] == "console":
            for line in re.findall(r"^\$ farweb (.*)$", block["body"], re.MULTILINE):
                answer = farweb(*shlex.split(line))
                assert answer.code == 0, f"{line}: {answer.err}"
                commands += 1
    assert commands > 4, "the document has lost its commands"


@pytest.mark.parametrize("document", ["README.md", "docs/guide.md"])
def test_links_lead_somewhere(document: str) -> None:
    text = (ROOT / document).read_text("utf-8")
    targets = [target for target in re.findall(r"\]\(([^)]+)\)", text) if "://" not in target]
    assert targets
    for target in targets:
        assert (ROOT / document).parent.joinpath(target.partition("#")[0]).exists(), target
