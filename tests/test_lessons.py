"""The lessons run, and show what the reader sees in them."""

from pathlib import Path

import pytest

import lessons

ROOT = Path(__file__).parent.parent.resolve()
LESSONS = sorted((ROOT / "docs/lessons").glob("*.ipynb"))


@pytest.mark.usefixtures("unpainted")
@pytest.mark.parametrize("path", LESSONS, ids=lambda path: str(path.stem))
def test_a_lesson_runs_and_shows_what_stands_in_it(folder: Path, path: Path) -> None:
    notebook = lessons.read(path)
    assert lessons.words(lessons.run(notebook)) == lessons.words(notebook), "make lessons writes it anew"


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: str(path.stem))
def test_a_lesson_has_figures_and_exercises_with_answers(path: Path) -> None:
    notebook = lessons.read(path)
    text = "".join("".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "markdown")
    assert text.count("**Exercise") == text.count("**Answer") >= 2
    shown = [output.get("data", {}) for cell in notebook["cells"] for output in cell.get("outputs", ())]
    assert sum("image/png" in data for data in shown) >= 2


def test_there_are_lessons() -> None:
    names = {"slow-start", "log-to-decision", "post-quantum", "faster-page", "starlink-evening", "page-and-upload"}
    assert {path.stem for path in LESSONS} == names
