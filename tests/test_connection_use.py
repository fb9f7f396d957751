"""How carriers use connections: the core says it, and manifests keep it."""

import json
from pathlib import Path

import pytest

from farweb import Scenario
from farweb.results.legs import ConnectionUse, connection_uses, described

ALONE = ConnectionUse(requests=True, reused=False, shared=False, standing=False)
USES = {
    '{"kind": "http/1.0"}': ALONE,
    '{"kind": "http/1.1", "idle_timeout": "15 s", "per_host": null}': ConnectionUse(True, True, False, False),
    '{"kind": "mux", "connections": 50}': ConnectionUse(True, True, True, True),
    '{"kind": "transfer"}': ConnectionUse(False, False, False, False),
}


@pytest.mark.parametrize("carrier", USES)
def test_the_core_says_how_a_carrier_uses_connections(carrier: str) -> None:
    legs = described({"leg": [{"carrier": {"kind": "http/1.0"}}, {"carrier": json.loads(carrier)}]})
    assert connection_uses({"legs": legs}) == (ALONE, USES[carrier])


def test_a_manifest_tells_how_its_legs_use_connections(cable: Path, folder: Path) -> None:
    manifest = Scenario.load(cable).run(seed=1, out="r").manifest
    use = {"requests": True, "reused": False, "shared": False, "standing": False}
    assert manifest["legs"] == [{"leg": 0, "connection_use": use}]
    # What stands there counts, whatever this version knows of carriers.
    assert connection_uses({**manifest, "scenario": {"leg": [{"carrier": {"kind": "http/9"}}]}}) == (ALONE,)
