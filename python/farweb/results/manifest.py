"""Manifests of results folders, read and checked."""

import json
from pathlib import Path
from typing import Any

from farweb._core import version as this_version
from farweb.errors import ResultsError

MANIFEST = "manifest.json"
RUN_KIND = "farweb run"
SWEEP_KIND = "farweb sweep"


class DamagedManifestError(ResultsError):
    """A manifest is there, and not as it was written."""


class OtherVersionError(ResultsError):
    """A manifest lacks what this version of farweb needs, and is of another one."""


_COMMON: dict[str, tuple[type, ...]] = {
    **{"inputs": (dict,), "name": (str, type(None)), "scenario": (dict,), "seed": (int,), "version": (str,)},
}
_MANIFEST_KEYS: dict[str, dict[str, tuple[type, ...]]] = {
    RUN_KIND: {
        **_COMMON,
        **dict.fromkeys(("events", "now_ns", "packet_hops", "warmup_ns"), (int,)),
        **dict.fromkeys(("cpu_s", "wall_s"), (int, float)),
        **{"links": (list,), "rows": (dict,)},
    },
    SWEEP_KIND: {**_COMMON, "complete": (bool,), "design": (dict,), "runs": (int,)},
}
_LATER_KEYS: dict[str, tuple[type, ...]] = {"files": (dict,), "legs": (list,), "measured": (dict,)}


def read_manifest(path: Path, kind: str | None = RUN_KIND) -> dict[str, Any]:
    """The manifest of the results folder `path`.

    Args:
        path: The folder.
        kind: What has to be there, `RUN_KIND` or `SWEEP_KIND`; None for either.

    Raises:
        ResultsError: There is no such result at `path`.
        DamagedManifestError: There was one.
        OtherVersionError: Another version of farweb wrote it otherwise.
    """
    try:
        content = (path / MANIFEST).read_bytes()
    except FileNotFoundError:
        what = f"no {MANIFEST} in it" if path.is_dir() else "no such folder"
        raise ResultsError(f"{path}: not a results folder: {what}") from None
    except OSError as error:
        raise ResultsError(f"{path / MANIFEST}: cannot be read: {error}") from None
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
    if missing := sorted(_MANIFEST_KEYS[found].keys() - manifest.keys()):
        if (version := manifest.get("version")) in (None, this_version):
            raise DamagedManifestError(f"{place}/{MANIFEST}: has no {missing[0]}: it is damaged")
        raise OtherVersionError(f"{place}/{MANIFEST}: has no {missing[0]}: farweb {version} wrote it otherwise")
    for key, types in {**_MANIFEST_KEYS[found], **_LATER_KEYS}.items():
        if key in manifest and not isinstance(manifest[key], types):
            raise DamagedManifestError(f"{place}/{MANIFEST}: {key}: found {manifest[key]!r:.40}: it is damaged")
    needed = ("path", "leg") if found == RUN_KIND else ()
    if absent := [key for key in needed if key not in manifest["scenario"]]:
        raise DamagedManifestError(f"{place}/{MANIFEST}: scenario has no {absent[0]}: it is damaged")
    return manifest
