"""Clients of a run: how many asked, how often, and over how many connections of their own."""

from dataclasses import dataclass

import numpy as np

from farweb import _core
from farweb.results.legs import connection_uses
from farweb.results.run import RunTables
from farweb.statistics.tally import Tally
from farweb.text.quantities import count, number


@dataclass(frozen=True)
class ClientTotals:
    """The clients of a run's requests after the warm-up.

    Attributes:
        unknown: Requests that name no client.
        whose: Whose connections their requests use, in words.
        requests_p50: Requests of a client: the median over clients.
        connections_p50: Connections of the first leg that belong to a client, in the whole run: the median over clients
            that have any. None where no connection belongs to one, or the run did not record connections; so is
            `connections_max`.
    """

    clients: int
    unknown: int
    whose: str
    requests_p50: float
    requests_max: int
    connections_p50: float | None
    connections_max: int | None

    def facts(self) -> list[list[str]]:
        """Rows of a table for people."""
        rows = [
            [f"clients, {self.whose}", count(self.clients)],
            ["requests a client, median", number(self.requests_p50)],
            ["requests a client, most", count(self.requests_max)],
        ]
        if self.connections_max is not None:
            rows.append(["connections a client, median", number(self.connections_p50)])
            rows.append(["connections a client, most", count(self.connections_max)])
        return [*rows, *([["requests of no known client", count(self.unknown)]] if self.unknown else [])]


def clients_of(results: RunTables) -> ClientTotals | None:
    """The clients of a run; None where no request after the warm-up names one."""
    asked, own = Tally(), Tally()
    for columns in results.table("requests").columns(["start_ns", "client"]):
        since = np.asarray(columns["start_ns"]) >= results.warmup_ns
        asked.add(np.asarray(columns["client"])[since])
    requests = asked.counts()
    if not requests.size:
        return None
    if results.has("connections"):
        for columns in results.table("connections").columns(["client"]):
            own.add(np.asarray(columns["client"]))
    connections = own.counts()
    is_shared = results.manifest["scenario"].get("clients", {}).get("share") == "all"
    return ClientTotals(
        clients=requests.size,
        unknown=asked.null,
        whose=_core.whose(is_shared, connection_uses(results.manifest)[0].standing),
        requests_p50=float(np.median(requests)),
        requests_max=int(requests.max()),
        connections_p50=float(np.median(connections)) if connections.size else None,
        connections_max=int(connections.max()) if connections.size else None,
    )
