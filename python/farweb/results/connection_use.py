"""How the carriers of a run use connections: what has to be known of them to read results.

The core says it, once for all carriers, and a manifest has it for each leg.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from farweb import _core

KEY = "legs"
"""The key of a manifest: a list of `leg` and `connection_use`, by leg."""


@dataclass(frozen=True)
class ConnectionUse:
    """How a carrier uses connections.

    Attributes:
        requests: Requests ride connections; else responses come alone, one-way, without handshake and close.
        reused: A connection may carry one request after another; else it goes with its request.
        shared: A connection may carry many requests at once; else one at a time.
        standing: Connections are open whether requests need them or not; else a request opens the one that it lacks.
    """

    requests: bool
    reused: bool
    shared: bool
    standing: bool


def told(scenario: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What a manifest says of the legs of a scenario.

    Raises:
        ScenarioError: This version of farweb does not know such a carrier.
    """
    uses = (json.loads(_core.connection_use(json.dumps(leg["carrier"]))) for leg in scenario["leg"])
    return [{"leg": number, "connection_use": use} for number, use in enumerate(uses)]


def connection_uses(manifest: Mapping[str, Any]) -> tuple[ConnectionUse, ...]:
    """By leg, what the manifest of a run says; of one that is older than the key, what the core says of its scenario.

    Raises:
        ScenarioError: The manifest is older, and this version of farweb does not know a carrier of its scenario.
    """
    legs = manifest[KEY] if KEY in manifest else told(manifest["scenario"])
    return tuple(ConnectionUse(**leg["connection_use"]) for leg in legs)
