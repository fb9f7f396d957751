"""The examples of the documents run: files are written, commands end well, Python raises nothing.

In a document, a fenced block with a name behind its language is a file of that name; in `console` blocks the lines that
begin with `$ farweb` are commands; `python` blocks are run.
"""

import doctest
import gzip
import importlib
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from samples import LOG, Farweb

pytestmark = pytest.mark.usefixtures("warm_workers")

ROOT = Path(__file__).parent.parent.resolve()
DOCUMENTS = sorted(
    str(path.relative_to(ROOT)) for path in [ROOT / "README.md", ROOT / "CHANGELOG.md", *ROOT.glob("docs/**/*.md")]
)
BLOCK = re.compile(r"^```(?P<language>\w+)(?: (?P<name>\S+))?\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)


LONG = ("docs/guide.md", "docs/sweeps.md", "docs/edge-caches.md", "docs/credit.md")


@pytest.mark.parametrize(
    "document",
    [
        "README.md",
        "docs/pages.md",
        "docs/whatif.md",
        *(pytest.param(each, marks=pytest.mark.slow(reason="sweeps")) for each in LONG),
    ],
)
def test_examples_run(document: str, folder: Path, farweb: Farweb) -> None:
    shutil.copytree(ROOT / "examples", folder / "examples")
    (folder / "access.log").write_text(LOG)
    (folder / "access.log.gz").write_bytes(gzip.compress(LOG.encode()))
    assert run_examples(document, folder, farweb) > 4, "the document has lost its commands"


WITH_EXAMPLES = [path for path in sorted((ROOT / "python").rglob("*.py")) if ">>> " in path.read_text("utf-8")]


@pytest.mark.parametrize("module", WITH_EXAMPLES, ids=[each.stem for each in WITH_EXAMPLES])
def test_examples_in_docstrings_are_true(module: Path) -> None:
    name = ".".join(module.relative_to(ROOT / "python").with_suffix("").parts)
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_flows_alone_over_equal_losses_have_the_rates_that_the_document_states(folder: Path, farweb: Farweb) -> None:
    assert run_examples("docs/not.md", folder, farweb) == 2
    shown = farweb("show", "results/flows", "--metric", "goodput_bps", "--by", "flow", "--by", PROBABILITY, "--json")
    rates = {row["flow"]: row["mean"] / 1e6 for row in shown.json()["sweep"]["estimates"] if row[PROBABILITY] == 0.001}
    stated = re.search(
        r"CUBIC has (\S+) Mbit/s at 20 ms, Reno (\S+) at 20 ms, CUBIC (\S+) at 200", (ROOT / "docs/not.md").read_text()
    )
    assert stated is not None
    assert list(rates.values()) == pytest.approx([float(each) for each in stated.groups()], rel=0.02)


PROBABILITY = "path.link.0.down.loss.probability"


def run_examples(document: str, folder: Path, farweb: Farweb) -> int:
    """Write the files of a document and run what it has; the number of commands."""
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
    return commands


@pytest.mark.parametrize("document", DOCUMENTS)
def test_links_lead_somewhere(document: str) -> None:
    for target in links(document):
        assert (ROOT / document).parent.joinpath(target).exists(), target


@pytest.mark.parametrize("document", DOCUMENTS)
def test_files_that_a_document_names_are_there(document: str) -> None:
    """Names of folders and of source files; modules are named from where the crate has them."""
    named = re.findall(r"`((?:[\w-]+/)+(?:\w+\.(?:rs|py|toml))?)`", (ROOT / document).read_text("utf-8"))
    places = [ROOT, ROOT / "crates/farweb", ROOT / "crates/farweb/src"]
    for name in named:
        assert any((place / name).exists() for place in places), name


def test_every_document_can_be_reached_from_the_readme() -> None:
    reached, ahead = {"README.md"}, ["README.md"]
    while ahead:
        document = ahead.pop()
        found = {
            str((ROOT / document).parent.joinpath(target).resolve().relative_to(ROOT)) for target in links(document)
        }
        ahead += [each for each in found - reached if each.endswith(".md")]
        reached |= found
    assert set(DOCUMENTS) <= reached


def test_the_root_holds_what_belongs_there() -> None:
    """A file left behind by a trial is seen; whoever adds one that belongs there names it here."""
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()
    assert {name.partition("/")[0] for name in tracked} == {
        *(".cargo", ".ci", ".github", ".gitignore"),
        *("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE-APACHE", "LICENSE-MIT"),
        *("Makefile", "Cargo.toml", "Cargo.lock", "clippy.toml", "rustfmt.toml", "pyproject.toml", "requirements.lock"),
        *("crates", "python", "papers", "examples", "docs", "studio", "tests"),
    }


def test_nothing_is_tracked_that_git_ignores() -> None:
    command = ["git", "ls-files", "--cached", "--ignored", "--exclude-standard"]
    assert subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout == ""


def test_the_changelog_of_an_unreleased_project_only_adds() -> None:
    changes = (ROOT / "CHANGELOG.md").read_text("utf-8").splitlines()
    assert [line for line in changes if line.startswith("##")] == ["## 0.1.0 (not released yet)", "### Added"]
    assert len(changes) <= 45


def links(document: str) -> list[str]:
    """Files that a document links to."""
    targets = re.findall(r"\]\(([^)]+)\)", (ROOT / document).read_text("utf-8"))
    return [target.partition("#")[0] for target in targets if "://" not in target]
