"""Print the scoreboards of two readings beside each other, as Markdown.

    python papers/calibration/beside.py A=papers/scoreboard.md B=results/reproduce-B/scoreboard.md

Each is a `scoreboard.md` of `farweb reproduce`; the claims are those that both have.
"""

import sys
from collections.abc import Mapping
from pathlib import Path

Row = Mapping[str, str]


def rows(board: Path) -> dict[str, Row]:
    """The claims of a scoreboard by id: its columns by name."""
    found: dict[str, Row] = {}
    header: list[str] = []
    for line in board.read_text("utf-8").splitlines():
        cells = [cell.strip() for cell in line.split(" | ")] if line.startswith("| ") else []
        cells = [cell.strip("| ") for cell in cells]
        if "claim" in cells:
            header = cells
        elif cells and len(cells) == len(header):
            found[cells[0]] = dict(zip(header, cells, strict=True))
    return found


def count(verdicts: list[str]) -> str:
    """The count of verdicts in words, fits apart."""
    fitted = [each for each in verdicts if "fitted" in each]
    predicted = [each for each in verdicts if "fitted" not in each]
    met = sum(each.startswith("pass") for each in fitted)
    text = f"{predicted.count('pass')} of {len(predicted)} predictions pass; {met} of {len(fitted)} fitted"
    unknown = predicted.count("not run")
    return f"{text}; {unknown} not run" if unknown else text


def main() -> None:
    """Print the table, with the counts in its last row."""
    boards = {name: rows(Path(file)) for name, _, file in (each.partition("=") for each in sys.argv[1:])}
    first = next(iter(boards.values()))
    shared = [claim for claim in first if all(claim in board for board in boards.values())]
    names = [name for reading in boards for name in (f"reading {reading}", "verdict")]
    print("| | claim | published | tolerance | " + " | ".join(names) + " |")
    print("|" + "---|" * (4 + len(names)))
    for claim in shared:
        own = [cell for board in boards.values() for cell in (board[claim]["measured"], board[claim]["verdict"])]
        given = [first[claim][column] for column in ("claim", "published", "tolerance")]
        print("| " + " | ".join([claim, *given, *own]) + " |")
    counts = [count([board[claim]["verdict"] for claim in shared]) for board in boards.values()]
    print("| | | | | " + " | ".join(cell for each in counts for cell in (each, "")) + " |")


if __name__ == "__main__":
    main()
