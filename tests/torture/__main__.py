"""Mistreat sweeps, runs, imports and generators at random, and look for anything that is lost.

    python -m torture [--seed 1] [--scale 1] [SECTION…]

Sections are sweeps, replacements, races, flips and folders, all of them when left out. Prints its progress, and a table
at the end. The same seed draws the same damages and the same moments to kill; how far a process has come by that
moment depends on the machine. Exit code 1 when anything is lost, or when something that must be refused is not.
"""

import argparse
import os
import random
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from torture import flips, folders, kills, races
from torture.table import Row, markdown, say, section

Section = Callable[[Path, random.Random, float], list[Row]]
SECTIONS: dict[str, Section] = {
    "sweeps": kills.sweeps,
    "replacements": kills.replacements,
    "races": races.torture,
    "flips": flips.torture,
    "folders": folders.torture,
}


def main() -> int:
    """Run the sections that are asked for; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m torture", description=__doc__)
    parser.add_argument("sections", nargs="*", metavar="SECTION", help=f"of {', '.join(SECTIONS)}; all when left out")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--scale", type=float, default=1.0, help="how many of everything, as a share of the usual")
    given = parser.parse_args()
    if odd := [name for name in given.sections if name not in SECTIONS]:
        parser.error(f"{odd[0]}: no such section; there are {', '.join(SECTIONS)}")
    rows: list[Row] = []
    home = Path.cwd()
    for name in given.sections or SECTIONS:
        with tempfile.TemporaryDirectory(prefix="farweb-torture-") as folder, section(name):
            os.chdir(folder)
            try:
                rows += SECTIONS[name](Path(folder), random.Random(f"{name} {given.seed}"), given.scale)
            finally:
                os.chdir(home)
    say(f"\nSeed {given.seed}:\n\n{markdown(rows)}\n")
    losses = [f"{row.what}: {loss}" for row in rows for loss in row.losses]
    say("\n".join(losses or ["Nothing is lost."]))
    return int(bool(losses))


if __name__ == "__main__":
    sys.exit(main())
