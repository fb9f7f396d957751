"""Manifests of results folders, read and checked."""

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from farweb._core import version as this_version
from farweb.errors import ResultsError
from farweb.files.regular import is_within, open_within, read_json

MANIFEST = "manifest.json"
RUN_KIND = "farweb run"
SWEEP_KIND = "farweb sweep"


class DamagedManifestError(ResultsError):
    """A manifest is there, and not as it was written."""


class OtherVersionError(ResultsError):
    """A manifest lacks what this version of farweb needs, and is of another one."""


OWN_DIGEST = "sha256"
"""Key of the digest that a manifest has of itself."""

AGAIN = ": run the scenario again"
NOT_AS_WRITTEN = "is not as it was written (by its SHA-256 digest)"

_OF_ALL = {"name", "seed", "version", "inputs", "scenario"}
_NEEDED = {
    RUN_KIND: _OF_ALL
    | {"events", "now_ns", "packet_hops", "warmup_ns", "cpu_s", "wall_s", "links", "legs", "measured", "rows"},
    SWEEP_KIND: _OF_ALL | {"complete", "design", "runs"},
}


def read_manifest(path: Path, kind: str | None = RUN_KIND) -> dict[str, Any]:
    """The manifest of the results folder `path`.

    Args:
        path: The folder.
        kind: Kind of folder expected, `RUN_KIND` or `SWEEP_KIND`; None for either.

    Raises:
        ResultsError: There is no such result at `path`.
        DamagedManifestError: There was one.
        OtherVersionError: Another version of farweb wrote it otherwise.
    """
    if path.is_file():
        raise ResultsError(f"{path}: not a results folder: a file")
    try:
        with open_within(path, MANIFEST, ResultsError) as file:
            content = read_json(file, str(path / MANIFEST), ResultsError)
    except FileNotFoundError:
        what = f"no {MANIFEST} in it" if path.is_dir() else "no such folder"
        raise ResultsError(f"{path}: not a results folder: {what}") from None
    except OSError as error:
        raise ResultsError(f"{path / MANIFEST}: cannot be read: {error.strerror}") from None
    return parse_manifest(content, str(path), kind)


def kind_of(path: str | Path) -> str:
    """Kind of the results at `path`: of a run, or of a sweep, which alone may be at a URL such as s3://….

    Raises:
        ResultsError: There is neither.
    """
    return SWEEP_KIND if "://" in str(path) else str(read_manifest(Path(path), None)["kind"])


def parse_manifest(content: bytes, place: str, kind: str | None) -> dict[str, Any]:
    """The content of a manifest; see `read_manifest`.

    Raises:
        ResultsError: It is not the manifest of such a result.
        DamagedManifestError: It was one.
        OtherVersionError: Another version of farweb wrote it otherwise.
    """
    try:
        parsed = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise DamagedManifestError(f"{place}/{MANIFEST}: cannot be read: {error}") from None
    manifest: dict[str, Any] = parsed if isinstance(parsed, dict) else {}
    found = manifest.get("kind")
    if found not in (RUN_KIND, SWEEP_KIND) or (kind is not None and found != kind):
        what = "a run" if kind == RUN_KIND else "a sweep" if kind == SWEEP_KIND else "a run or a sweep"
        instead = ", but of a sweep" if found == SWEEP_KIND else ", but of a run" if found == RUN_KIND else ""
        raise ResultsError(f"{place}: not the results folder of {what}{instead}")
    version = manifest.get("version")
    if manifest.get(OWN_DIGEST, own := digest(manifest)) != own:
        raise DamagedManifestError(f"{place}/{MANIFEST}: {NOT_AS_WRITTEN}{AGAIN}")
    if missing := sorted(_NEEDED[found] - manifest.keys()):
        if version in (None, this_version):
            raise DamagedManifestError(f"{place}/{MANIFEST}: has no {missing[0]}: it is damaged")
        raise OtherVersionError(f"{place}/{MANIFEST}: has no {missing[0]}: farweb {version} wrote it otherwise")
    needed = ("path", "leg") if found == RUN_KIND and isinstance(manifest["scenario"], dict) else ()
    if absent := [key for key in needed if key not in manifest["scenario"]]:
        raise DamagedManifestError(f"{place}/{MANIFEST}: scenario has no {absent[0]}: it is damaged")
    names = [name for key in ("files", "rows") for name in manifest.get(key, {}) if not is_within(name)]
    # The copy of an input has its digest for its name.
    digests = [str(table["sha256"]) for table in manifest["inputs"].values() if "sha256" in table]
    for odd in (*names, *(each for each in digests if not re.fullmatch("[0-9a-f]{64}", each))):
        raise DamagedManifestError(f"{place}/{MANIFEST}: found {odd!r:.40} as a name: it is damaged")
    return manifest


def digest(manifest: Mapping[str, Any]) -> str:
    """The digest that a manifest has, or would have, of itself."""
    rest = {key: value for key, value in manifest.items() if key != OWN_DIGEST}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def repeats_its_requests(scenario: Mapping[str, Any]) -> bool:
    """True where each replication of a scenario has the same requests: a table, not resampled and not one a seed."""
    workload = scenario.get("workload")
    if not isinstance(workload, Mapping):
        return False
    return "{seed}" not in str(workload.get("requests") or "{seed}") and not workload.get("resample")


def has_random_links(scenario: Mapping[str, Any]) -> bool:
    """True where a link of a scenario draws losses, handovers, its rate, its delays or its frames."""
    links = (scenario.get("path") or {}).get("link") or ()
    ways = (link.get(way) or {} for link in links for way in ("up", "down"))
    return any(link.get("handover") for link in links) or any(map(_is_random, ways))


def _is_random(way: Mapping[str, Any]) -> bool:
    has_losses = (way.get("loss") or {}).get("kind", "none") not in ("none", "list")
    has_losses |= any(step.get("loss") for step in way.get("steps") or ())
    return has_losses or bool(way.get("variation") or way.get("jitter") or way.get("dama"))
