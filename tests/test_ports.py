"""Source ports: 28,232 of a Linux host towards a server, each for 60 s behind a close, are 470 connections a second."""

from pathlib import Path

import pytest

from farweb import Scenario
from samples import SCENARIO


def warnings(folder: Path, a_second: int, *, carrier: str, share: str = "all", hosts: int = 1) -> list[str]:
    """Warnings of ports for a minute of requests."""
    rows = "".join(f"{n / a_second:.6f},h{n % hosts}.example,300,1000\n" for n in range(60 * a_second))
    (folder / "requests.csv").write_text("start_s,host,request_bytes,response_bytes\n" + rows)
    text = SCENARIO.replace('{ kind = "http/1.0" }', carrier) + f'[clients]\nshare = "{share}"\n'
    (folder / "cable.toml").write_text(text)
    found = Scenario.load(folder / "cable.toml").check().warnings
    return [warning for warning in found if "ports" in warning]


CLIENT_CLOSES = '{ kind = "http/1.0", closed_by = "client" }'


def test_471_connections_a_second_are_one_too_many(folder: Path) -> None:
    assert warnings(folder, 470, carrier=CLIENT_CLOSES) == []
    (warning,) = warnings(folder, 471, carrier=CLIENT_CLOSES)
    assert warning.startswith("leg.0: up to 471 connections a second to h0.example need 28,260 ports")


@pytest.mark.parametrize(
    ("changed"),
    [{"carrier": '{ kind = "http/1.0" }'}, {"carrier": '{ kind = "http/1.1" }'}, {"share": "each"}, {"hosts": 2}],
)
def test_ports_are_no_limit_where_servers_close_connections_stay_or_addresses_are_many(
    folder: Path, changed: dict[str, str]
) -> None:
    assert warnings(folder, 600, **{"carrier": CLIENT_CLOSES, **changed}) == []  # type: ignore[arg-type]
