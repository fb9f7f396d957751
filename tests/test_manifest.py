"""Keys that manifests must have, and the messages about faulty ones."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from farweb._core import version
from farweb.errors import ResultsError
from farweb.results.manifest import (
    RUN_KIND,
    SWEEP_KIND,
    DamagedManifestError,
    OtherVersionError,
    digest,
    has_random_links,
    kind_of,
    parse_manifest,
    read_manifest,
)

_WAY = {"delay": "1 ms"}
_SCENARIO: Mapping[str, Any] = {"path": {"nodes": ["a", "b"], "link": [{"up": _WAY, "down": _WAY}]}, "leg": []}
_DESIGN = {"kind": "full-factorial", "replications": 1, "random_numbers": "common", "factors": [], "points": [[]]}
_COMMON: Mapping[str, Any] = {"inputs": {}, "name": None, "scenario": _SCENARIO, "seed": 1, "version": version}
RUN: Mapping[str, Any] = {
    **{"kind": RUN_KIND, **_COMMON, "events": 1, "now_ns": 1, "packet_hops": 1, "warmup_ns": 0},
    **{"cpu_s": 0.5, "wall_s": 1, "legs": [], "links": [], "measured": {}, "rows": {}},
}
SWEEP: Mapping[str, Any] = {"kind": SWEEP_KIND, **_COMMON, "complete": True, "design": _DESIGN, "runs": 4}


def parse(manifest: object, kind: str | None = None) -> dict[str, Any]:
    return parse_manifest(json.dumps(manifest).encode(), "r", kind)


def test_manifests_are_of_the_kind_that_is_asked_for() -> None:
    assert parse(RUN, RUN_KIND) == parse(RUN) == RUN
    assert parse(SWEEP, SWEEP_KIND) == parse(SWEEP) == SWEEP
    for manifest, kind, said in [
        (RUN, SWEEP_KIND, "a sweep, but of a run"),
        (SWEEP, RUN_KIND, "a run, but of a sweep"),
        ({}, RUN_KIND, "a run"),
        ([], SWEEP_KIND, "a sweep"),
        ({**RUN, "kind": "?"}, None, "a run or a sweep"),
        ({**RUN, "kind": [RUN_KIND]}, None, "a run or a sweep"),
    ]:
        with pytest.raises(ResultsError, match=f"^r: not the results folder of {said}$") as caught:
            parse(manifest, kind)
        assert caught.type is ResultsError


@pytest.mark.parametrize("manifest", [RUN, SWEEP])
def test_every_key_is_needed(manifest: Mapping[str, Any]) -> None:
    for key in manifest.keys() - {"kind", "version"}:
        rest = {name: value for name, value in manifest.items() if name != key}
        with pytest.raises(DamagedManifestError, match=f"^r/manifest.json: has no {key}: it is damaged$"):
            parse(rest)
        with pytest.raises(OtherVersionError, match=rf"json: has no {key}: farweb 0\.0\.1 wrote it otherwise$"):
            parse({**rest, "version": "0.0.1"})
        with pytest.raises(DamagedManifestError, match=r"^r/manifest.json: has no .*: it is damaged$"):
            parse({name: value for name, value in rest.items() if name != "version"})


@pytest.mark.parametrize("manifest", [RUN, SWEEP])
def test_a_manifest_is_as_it_was_written(manifest: Mapping[str, Any]) -> None:
    sealed = {**manifest, "sha256": digest(manifest)}
    assert parse(sealed) == sealed
    with pytest.raises(DamagedManifestError, match=r"^r/manifest.json: is not as it was written \(by its SHA-256"):
        parse({**sealed, "seed": 5})


@pytest.mark.parametrize(
    ("key", "value", "odd"),
    [
        ("files", {"../x": {}}, "../x"),
        ("rows", {"/etc/passwd": 1}, "/etc/passwd"),
        ("inputs", {"requests": {"sha256": "../x"}}, "../x"),
    ],
)
def test_names_lead_out_of_no_folder(key: str, value: object, odd: str) -> None:
    with pytest.raises(DamagedManifestError, match=f"found '{odd}' as a name: it is damaged"):
        parse({**RUN, key: value})


@pytest.mark.parametrize("key", ["path", "leg"])
def test_the_scenario_of_a_run_has_its_path_and_its_legs(key: str) -> None:
    scenario = {name: value for name, value in RUN["scenario"].items() if name != key}
    with pytest.raises(DamagedManifestError, match=f"^r/manifest.json: scenario has no {key}: it is damaged$"):
        parse({**RUN, "scenario": scenario})
    assert parse({**SWEEP, "scenario": scenario})["scenario"] == scenario


def test_of_several_faults_the_first_is_named() -> None:
    with pytest.raises(DamagedManifestError, match="has no cpu_s"):
        parse({"kind": RUN_KIND, "version": version})
    with pytest.raises(OtherVersionError, match="has no cpu_s"):
        parse({"kind": RUN_KIND, "version": "0.0.1"})
    with pytest.raises(DamagedManifestError, match="scenario has no path"):
        parse({**RUN, "scenario": {}})


def test_a_folder_says_what_it_is(tmp_path: Path) -> None:
    for name, manifest in {"run": RUN, "sweep": SWEEP}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "manifest.json").write_text(json.dumps(manifest))
    assert (kind_of(tmp_path / "run"), kind_of(str(tmp_path / "sweep"))) == (RUN_KIND, SWEEP_KIND)
    assert kind_of("memory://nowhere/sweep") == SWEEP_KIND
    assert read_manifest(tmp_path / "run") == RUN
    assert read_manifest(tmp_path / "sweep", None) == SWEEP
    with pytest.raises(ResultsError, match="run, but of a sweep"):
        read_manifest(tmp_path / "sweep")


def test_a_folder_without_a_manifest_that_can_be_read_is_none(tmp_path: Path) -> None:
    with pytest.raises(ResultsError, match=r"nowhere: not a results folder: no such folder$"):
        read_manifest(tmp_path / "nowhere")
    (tmp_path / "file").touch()
    with pytest.raises(ResultsError, match=r"file: not a results folder: a file$"):
        read_manifest(tmp_path / "file")
    with pytest.raises(ResultsError, match=r": not a results folder: no manifest.json in it$"):
        read_manifest(tmp_path)
    (tmp_path / "manifest.json").mkdir()
    with pytest.raises(ResultsError, match=r"manifest.json: is a folder$"):
        read_manifest(tmp_path)
    for content, said in {b"{": "Expecting", b"\xff": "'utf-8'", b"[" * 200_000: ""}.items():
        with pytest.raises(DamagedManifestError, match=f"^r/manifest.json: cannot be read: {said}"):
            parse_manifest(content, "r", None)


@pytest.mark.parametrize(
    ("link", "is_random"),
    [
        ({}, False),
        ({"loss": {"kind": "list", "drop": ["data 1"]}}, False),
        ({"steps": [{"at": "1 s", "rate": "1 Mbit/s", "loss": 0}], "outage": [{"at": "1 s", "lasts": "1 s"}]}, False),
        ({"steps": [{"at": "1 s", "loss": 0.02}]}, True),
        ({"loss": {"kind": "bernoulli", "probability": 0.1}}, True),
        ({"variation": {"sigma": 0.3, "every": "100 ms"}}, True),
        ({"jitter": {"uniform": "3 ms"}}, True),
        ({"dama": {"frame": "100 ms"}}, True),
        ({"wake": {"after": "10 s", "delay": "80 ms"}}, False),
    ],
)
def test_links_that_draw_make_seeds_differ(link: Mapping[str, Any], is_random: bool) -> None:
    assert has_random_links({"path": {"link": [{"up": _WAY, "down": {**_WAY, **link}}]}}) is is_random
    assert has_random_links({"path": {"link": [{"up": _WAY, "down": _WAY, "handover": {"every": "15 s"}}]}})
