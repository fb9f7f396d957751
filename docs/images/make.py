"""Makes the images of documents and studies again that are not current.

An image is current while what it was made from is unchanged, and the look of figures too. Both are judged by what is
written down when it is made (`docs/images/made.json`), not by its pixels, which differ between versions of matplotlib.
Run it as ``python docs/images/make.py``, or `make images`.
"""

import argparse
import hashlib
import json
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from farweb.errors import FarwebError, RunError

ROOT = Path(__file__).parents[2]
IMAGES = Path(__file__).with_name("images.toml")
MADE = IMAGES.with_name("made.json")


_WITHOUT_FIGURES = ("claims.py", "claims.toml", "study.toml")
"""Files of a study that do not change what its figures show."""


@dataclass(frozen=True)
class Image:
    """An image and how it is made.

    Attributes:
        name: Its path from the root of the source tree.
        of: Files that it depends on, by their paths from there.
        steps: Commands that make it, with {out} for their folder; none where it needs more than the tree has.
        file: Where in that folder it is then.
        needs: What it needs besides, in words; empty when `steps` are all.
        study: The study whose figure it is; empty for none.
    """

    name: str
    of: tuple[str, ...]
    steps: tuple[str, ...] = ()
    file: str = ""
    needs: str = ""
    study: str = ""

    @property
    def made_from(self) -> str:
        """A hash of its steps and of the files that it depends on."""
        digest = hashlib.sha256("\n".join(self.steps).encode())
        for name in self.of:
            digest.update(f"\0{name}\0".encode() + (ROOT / name).read_bytes())
        return digest.hexdigest()

    def why_stale(self, made: Mapping[str, Mapping[str, str | int]]) -> str:
        """Give the reason why it is not current; empty when it is. One without `steps` may have an older look."""
        from farweb.paint.style import LOOK

        if self.name not in made or not (ROOT / self.name).is_file():
            return "it was never made"
        if made[self.name]["made_from"] != self.made_from:
            return "what it is made from has changed"
        if self.steps and made[self.name]["look"] != LOOK:
            return "figures look different now"
        return ""


def images() -> list[Image]:
    """All images that are kept, as `images.toml` has them."""
    table = tomllib.loads(IMAGES.read_text("utf-8"))
    found = [
        Image(
            each["image"], tuple(each["of"]), tuple(each.get("steps", ())), each.get("file", ""), each.get("needs", "")
        )
        for each in table["image"]
    ]
    for study in table["study"]:
        folders = [ROOT / "papers" / name for name in (study["name"], *study.get("with", ()))]
        files = sorted(
            str(file.relative_to(ROOT))
            for folder in folders
            for file in folder.iterdir()
            if file.suffix in (".toml", ".py", ".csv") and file.name not in _WITHOUT_FIGURES
        )
        needs = f"the results of farweb reproduce {study['name']}, by --results"
        found += [
            Image(f"papers/{study['name']}/figures/{name}.png", tuple(files), needs=needs, study=study["name"])
            for name in study["figures"]
        ]
    return found


def made() -> dict[str, dict[str, str | int]]:
    """By image, what it was made from and which look it has."""
    found: dict[str, dict[str, str | int]] = json.loads(MADE.read_text("utf-8")) if MADE.is_file() else {}
    return found


def make(wanted: Sequence[Image], results: Path | None, say: Callable[[str], None]) -> list[Image]:
    """Make images again.

    Args:
        wanted: Which.
        results: Folder of a campaign of studies (`farweb reproduce --out`); None: none of a study are made.
        say: Gets a line for each.

    Returns:
        Those that were made.

    Raises:
        RunError: A step failed.
    """
    done = [*_by_steps([image for image in wanted if image.steps], say)]
    if results is not None:
        done += _of_studies([image for image in wanted if image.study], results, say)
    for image in wanted:
        if image not in done:
            say(f"{image.name}: not made, needs {image.needs}")
    _write_down(done)
    return done


def _by_steps(wanted: Sequence[Image], say: Callable[[str], None]) -> Iterator[Image]:
    ran: set[str] = set()
    with TemporaryDirectory() as folder:
        for image in wanted:
            for step in image.steps:
                if step not in ran:
                    say(step)
                    _run([part.replace("{out}", folder) for part in shlex.split(step)])
                    ran.add(step)
            (ROOT / image.name).write_bytes((Path(folder) / image.file).read_bytes())
            say(f"{image.name}: made")
            yield image


def _run(command: Sequence[str]) -> None:
    program = sys.executable if command[0] == "python" else command[0]
    ended = subprocess.run([program, *command[1:]], cwd=ROOT, capture_output=True, text=True, check=False)
    if ended.returncode:
        raise RunError(f"{shlex.join(command)}: ended with {ended.returncode}: {ended.stderr.strip()}")


def _of_studies(wanted: Sequence[Image], results: Path, say: Callable[[str], None]) -> Iterator[Image]:
    """Draw figures of studies from results that are there; those without results are left as they are."""
    from farweb.errors import ResultsError
    from farweb.paint import paper
    from farweb.reproduce.study import StudyResults, read_study

    for image in wanted:
        of = StudyResults(read_study(ROOT / "papers" / image.study), results / image.study, quick=False)
        try:
            described = of.study.figures[Path(image.name).stem](of)
        except ResultsError as error:
            say(f"{image.name}: {error}")
            continue
        paper.draw(described, ROOT / image.name)
        say(f"{image.name}: made")
        yield image


def _write_down(done: Sequence[Image]) -> None:
    from farweb.paint.style import LOOK

    _write(made() | {image.name: {"made_from": image.made_from, "look": LOOK} for image in done})


def _write(found: Mapping[str, Mapping[str, str | int]]) -> None:
    MADE.write_text(json.dumps(dict(sorted(found.items())), indent=1) + "\n", "utf-8")


def keep(wanted: Sequence[Image]) -> None:
    """Write down that images are current as they are: what changed does not show in them, or they were made by hand."""
    from farweb.paint.style import LOOK

    found = made()
    for image in wanted:
        found[image.name] = {"made_from": image.made_from, "look": found.get(image.name, {}).get("look", LOOK)}
    _write(found)


def _wanted(names: Sequence[str]) -> list[Image]:
    """The images with these names, or all that are not current."""
    known = {image.name: image for image in images()}
    if odd := [name for name in names if name not in known]:
        raise FarwebError(f"{odd[0]}: no such image in {IMAGES.relative_to(ROOT)}")
    written = made()
    return [known[name] for name in names] or [each for each in known.values() if each.why_stale(written)]


def _main() -> int:
    parser = argparse.ArgumentParser(prog="python docs/images/make.py", description=__doc__)
    parser.add_argument(
        "images", nargs="*", metavar="IMAGE", help="only these, current or not (default: all that are not)"
    )
    parser.add_argument("--results", type=Path, help="folder of a campaign, for figures of studies")
    parser.add_argument("--keep", action="store_true", help="make nothing: the images named are right as they are")
    given = parser.parse_args()
    try:
        if given.keep:
            keep(_wanted(given.images))
            return 0
        make(_wanted(given.images), given.results, lambda line: print(line, flush=True))
    except FarwebError as error:
        print(f"farweb: {error}", file=sys.stderr)
        return 3 if isinstance(error, RunError) else 2
    return 0


if __name__ == "__main__":
    sys.exit(_main())
