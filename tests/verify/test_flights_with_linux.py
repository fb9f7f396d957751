"""Turns of a server's flight: nginx (OpenSSL) and Caddy (Go) to curl on a real Linux, and what farweb says of them.

Ten chains, around both limits of a first window of ten segments, are padded by an extension of the certificate. Turns
are counted in packets, by the bytes acknowledged when each left: a busy machine changes none. In slow start Reno, which
a namespace may choose, is as Cubic.
"""

import subprocess
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from namespaces import DEVICE, FARWEB, Namespace, missing, namespace
from relay import Flight, relayed
from servers import caddy, nginx
from talks import SERVER_PORT

from farweb import Scenario

if reason := missing("curl", "openssl"):
    pytest.skip(reason, allow_module_level=True)

pytestmark = [pytest.mark.timeout(300), pytest.mark.alone]

PADS = (0, 8000, 11_500, 13_200, 13_800, 20_000, 30_000, 38_000, 43_000, 50_000)
"""Bytes of the extension; the rest of the flight has some 800."""
SEGMENT = 1448
LIMITS = (10 * SEGMENT, 30 * SEGMENT)
RUNTS = {"nginx": 2, "caddy": 0}
"""Segments more than its bytes need: OpenSSL writes 4,096 B first, and the last messages by themselves."""
DELAY_S = 0.05


def _certificate(folder: Path, pad: int) -> None:
    """A self-signed certificate, with so many zeros in an extension of no meaning."""
    value = b"\x04\x83" + pad.to_bytes(3, "big") + bytes(pad)
    (folder / "certificate.cnf").write_text(
        "[req]\ndistinguished_name = none\n[none]\n[leaf]\nsubjectAltName = DNS:www.example.com\n"
        f"1.3.6.1.4.1.55555.1 = DER:{value.hex()}\n"
    )
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "leaf.key"]
    about = ["-subj", "/CN=www.example.com", "-days", "90", "-config", "certificate.cnf", "-extensions", "leaf"]
    command = ["openssl", "req", "-x509", *key, *about, "-out", "leaf.pem"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=60)


def _served(there: Namespace, folder: Path, site: Path, server: str) -> AbstractContextManager[None]:
    """The server, with the certificate of the folder."""
    certificate, key = folder / "leaf.pem", folder / "leaf.key"
    if server == "caddy":
        return caddy(there, folder, site, certificate, key)
    tls = f"ssl_certificate {certificate}; ssl_certificate_key {key}; ssl_protocols TLSv1.3;"
    return nginx(there, folder, site, "ssl", tls)


def _flight(there: Namespace, folder: Path, server: str, pad: int) -> Flight:
    """The server's flight to curl over the long path."""
    _certificate(folder, pad)
    site = folder / "site"
    site.mkdir()
    (site / "page").write_text("a page")
    options = ["--silent", "--show-error", "--fail", "--insecure", "--noproxy", "*", "--max-time", "60"]
    with _served(there, folder, site, server), relayed(there, SERVER_PORT, DELAY_S) as flights:
        url = f"https://{FARWEB}:{SERVER_PORT}/page"
        curl = subprocess.run(
            there.command("curl", *options, url), capture_output=True, text=True, check=False, timeout=90
        )
    assert (curl.returncode, curl.stdout) == (0, "a page"), curl.stderr
    (flight,) = flights
    assert flight.is_over
    return flight


def _said(flight_bytes: int) -> int:
    """Turns of a flight of this size, as farweb's check has them."""
    link = {"rate": "unlimited", "delay": f"{1000 * DELAY_S:.0f} ms"}
    leg = {
        "from": "client",
        "to": "server",
        "carrier": {"kind": "http/1.1"},
        "tcp": {"profile": "linux"},
        "tls": {"server_flight": f"{flight_bytes} B"},
    }
    scenario = Scenario(
        {
            "format": 1,
            "path": {"nodes": ["client", "server"], "link": [{"up": link, "down": link}]},
            "leg": [leg],
            "workload": {"requests": "requests.csv"},
        }
    )
    found: int = scenario.check().figures["legs"][0]["handshakes"][0]["rounds"]
    return found


@pytest.mark.parametrize("server", RUNTS)
@pytest.mark.parametrize("pad", PADS)
def test_a_flight_takes_the_turns_of_its_segments(tmp_path: Path, server: str, pad: int) -> None:
    if reason := missing(server):
        pytest.skip(reason)
    with namespace() as there:
        for command in (
            ("ip", "link", "set", DEVICE, "up"),
            ("sysctl", "-qw", "net.ipv4.tcp_congestion_control=reno", "net.ipv4.tcp_no_metrics_save=1"),
        ):
            subprocess.run(there.command(*command), check=True, capture_output=True, timeout=60)
        flight = _flight(there, tmp_path, server, pad)
    least = -(-flight.bytes // SEGMENT)
    assert least <= flight.segments <= least + RUNTS[server]
    assert flight.turns == _said(flight.segments * SEGMENT)
    if not any(limit - RUNTS[server] * SEGMENT < flight.bytes <= limit for limit in LIMITS):
        assert flight.turns == _said(flight.bytes)
