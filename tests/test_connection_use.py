"""How carriers use connections: the core says it, manifests keep it, and those without it are read all the same."""

import json
from pathlib import Path

import pytest

from farweb import Results, Scenario, ScenarioError
from farweb.results.integrity import unsealed
from farweb.results.legs import ConnectionUse, connection_uses
from samples import Farweb

ALONE = ConnectionUse(requests=True, reused=False, shared=False, standing=False)
USES = {
    '{"kind": "http/1.0"}': ALONE,
    '{"kind": "http/1.1", "idle_timeout": "15 s", "per_host": null}': ConnectionUse(True, True, False, False),
    '{"kind": "mux", "connections": 50}': ConnectionUse(True, True, True, True),
    '{"kind": "transfer"}': ConnectionUse(False, False, False, False),
}


@pytest.mark.parametrize("carrier", USES)
def test_an_older_manifest_has_what_the_core_says_of_its_scenario(carrier: str) -> None:
    older = {"scenario": {"leg": [{"carrier": {"kind": "http/1.0"}}, {"carrier": json.loads(carrier)}]}}
    assert connection_uses(older) == (ALONE, USES[carrier])


def test_a_manifest_tells_how_its_legs_use_connections(cable: Path, folder: Path) -> None:
    manifest = Scenario.load(cable).run(seed=1, out="r").manifest
    use = {"requests": True, "reused": False, "shared": False, "standing": False}
    assert manifest["legs"] == [{"leg": 0, "connection_use": use}]
    # What stands there counts, whatever this version knows of carriers.
    assert connection_uses({**manifest, "scenario": {"leg": [{"carrier": {"kind": "http/9"}}]}}) == (ALONE,)


def test_a_carrier_that_nobody_knows_is_an_error(cable: Path, folder: Path, farweb: Farweb) -> None:
    results = Scenario.load(cable).run(seed=1, out="r")
    manifest = {key: value for key, value in unsealed(results.manifest).items() if key != "legs"}
    (results.path / "manifest.json").write_text(json.dumps(manifest))
    assert farweb("show", "r").code == 0
    manifest["scenario"]["leg"][0]["carrier"] = {"kind": "http/9"}
    (results.path / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(ScenarioError, match="http/9"):
        Results.open("r").summary()
    assert farweb("show", "r").code == 2
