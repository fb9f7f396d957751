"""Write THIRD-PARTY.txt: the licences of the crates linked into the core, for those who get a wheel or the studio.

`make notices` runs it, when Cargo.lock has changed. Crates that run while the core is compiled, build scripts and
procedural macros, leave nothing of theirs in it and are not named. Every licence file of a crate is taken over; equal
texts stand once.
"""

import json
import subprocess
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("THIRD-PARTY.txt")
ROOTS = ("farweb-py", "farweb-web")
APACHE = Path(__file__).parents[2] / "LICENSE-APACHE"
_NAMES = ("licen", "copying", "copyright", "notice", "unlicense")  # of licence files, as they begin
_RULE = "=" * 100

_HEAD = """\
farweb is under the MIT or the Apache 2.0 licence. Its compiled core has the crates below linked in, and Rust's standard
library, which is under the same two licences as farweb. Where a crate names several licences joined by OR, it is used
under whichever of them its user prefers.
"""


def main() -> None:
    """Write the file."""
    FILE.write_text(notices(), "utf-8")


def notices() -> str:
    """What the file says.

    Raises:
        LookupError: A crate comes without the text of a licence.
    """
    crates = list(linked())
    texts: dict[str, list[str]] = defaultdict(list)
    for crate in crates:
        for file in licence_files(crate):
            text = file.read_text("utf-8", errors="replace").replace("\r\n", "\n").strip("\n")
            texts[text].append(f"{title(crate)}: {file.name}")
    lines = [_HEAD, *(f"{title(crate)}  {crate['license']}  {crate['repository'] or ''}".rstrip() for crate in crates)]
    for text, of in texts.items():
        lines += ["", _RULE, *of, _RULE, "", text]
    return "\n".join(lines) + "\n"


def linked() -> Iterator[dict[str, Any]]:
    """The crates of others that are linked into the core on any platform or in a browser, by name and version."""
    command = ["cargo", "metadata", "--locked", "--format-version", "1"]
    metadata = json.loads(subprocess.run(command, cwd=FILE.parent, check=True, capture_output=True, text=True).stdout)
    packages = {package["id"]: package for package in metadata["packages"]}
    needs = {
        node["id"]: [each["pkg"] for each in node["deps"] if any(kind["kind"] is None for kind in each["dep_kinds"])]
        for node in metadata["resolve"]["nodes"]
    }
    ahead = [key for key, package in packages.items() if package["name"] in ROOTS]
    reached: set[str] = set()
    while ahead:
        package = packages[ahead.pop()]
        if package["id"] in reached or any("proc-macro" in target["kind"] for target in package["targets"]):
            continue
        reached.add(package["id"])
        ahead += needs[package["id"]]
    others = (packages[key] for key in reached if packages[key]["source"])
    yield from sorted(others, key=lambda package: (package["name"], package["version"]))


def licence_files(crate: dict[str, Any]) -> list[Path]:
    """The licence files at the top of a crate's folder; the text of Apache 2.0 for a crate under it that has none."""
    folder = Path(crate["manifest_path"]).parent
    found = sorted(file for file in folder.iterdir() if file.is_file() and file.name.lower().startswith(_NAMES))
    if not found and "Apache-2.0" not in crate["license"]:
        raise LookupError(f"{title(crate)}: has no licence file")
    return found or [APACHE]


def title(crate: dict[str, Any]) -> str:
    """Name and version of a crate."""
    return f"{crate['name']} {crate['version']}"


if __name__ == "__main__":
    main()
