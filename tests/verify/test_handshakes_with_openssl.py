"""Parts of handshakes against the messages of OpenSSL, with a chain that it made."""

import contextlib
import json
import re
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from farweb import Scenario

pytestmark = [
    pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl"),
    pytest.mark.slow(reason="openssl"),
]

_EXTENSIONS = """
[leaf]
keyUsage = critical,digitalSignature
extendedKeyUsage = serverAuth
basicConstraints = critical,CA:FALSE
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
authorityInfoAccess = caIssuers;URI:http://e7.i.example.org/
subjectAltName = DNS:www.example.com
certificatePolicies = 2.23.140.1.2.1
crlDistributionPoints = URI:http://e7.c.example.org/1.crl
[intermediate]
keyUsage = critical,digitalSignature,keyCertSign,cRLSign
extendedKeyUsage = serverAuth
basicConstraints = critical,CA:TRUE,pathlen:0
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
authorityInfoAccess = caIssuers;URI:http://x2.i.example.org/
certificatePolicies = 2.23.140.1.2.1
crlDistributionPoints = URI:http://x2.c.example.org/
"""

_KEYS = {
    "ecdsa-p256": ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"],
    "ecdsa-p384": ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-384"],
    "rsa-2048": ["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"],
    "rsa-4096": ["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:4096"],
}

_DIGESTS = {"ecdsa-p384": "-sha384"}


def _openssl(folder: Path, *arguments: str) -> str:
    return subprocess.run(
        ["openssl", *arguments], cwd=folder, capture_output=True, text=True, check=True, timeout=60
    ).stdout


def _chain(folder: Path, scheme: str) -> None:
    """A root, an intermediate and a leaf, each with a key of its own."""
    (folder / "extensions.cnf").write_text(_EXTENSIONS)
    for name in ("root", "intermediate", "leaf"):
        _openssl(folder, "genpkey", *_KEYS[scheme], "-out", f"{name}.key")
    digest = _DIGESTS.get(scheme, "-sha256")
    root = ["-subj", "/C=US/O=Example Trust/CN=Example Root X2", "-days", "3650", "-out", "root.pem"]
    _openssl(folder, "req", "-x509", "-new", digest, "-key", "root.key", *root)
    for name, issuer, subject, serial in (
        ("intermediate", "root", "/C=US/O=Example Trust/CN=E7", "0x01" + "5a" * 15),
        ("leaf", "intermediate", "/CN=www.example.com", "0x01" + "5a" * 17),
    ):
        _openssl(folder, "req", "-new", "-key", f"{name}.key", "-subj", subject, "-out", f"{name}.csr")
        signed = ["-CA", f"{issuer}.pem", "-CAkey", f"{issuer}.key", "-set_serial", serial, "-days", "90"]
        extensions = ["-extfile", "extensions.cnf", "-extensions", name, "-out", f"{name}.pem"]
        _openssl(folder, "x509", "-req", digest, "-in", f"{name}.csr", *signed, *extensions)


@contextlib.contextmanager
def _server(folder: Path) -> Iterator[int]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    keys = ["-key", "leaf.key", "-cert", "leaf.pem", "-cert_chain", "intermediate.pem"]
    command = ["openssl", "s_server", "-accept", str(port), *keys, "-alpn", "h2", "-quiet"]
    with subprocess.Popen(command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as server:
        try:
            for _ in range(100):
                with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=5):
                    break
                time.sleep(0.05)
            yield port
        finally:
            server.terminate()


def _messages(folder: Path, port: int) -> dict[str, int]:
    """The size of each message of a full handshake with X25519, the last one of a name."""
    command = ["openssl", "s_client", "-connect", f"127.0.0.1:{port}", "-servername", "www.example.com"]
    options = ["-alpn", "h2,http/1.1", "-groups", "X25519:P-256:P-384", "-tls1_3", "-msg"]
    said = subprocess.run(
        [*command, *options], cwd=folder, input="", capture_output=True, text=True, check=False, timeout=60
    ).stdout
    found = re.findall(r"^<<< TLS 1.3, Handshake \[length ([0-9a-f]+)\], (\w+)", said, re.M)
    return {name: int(length, 16) for length, name in found}


def _parts(tmp_path: Path, scheme: str) -> dict[str, int]:
    scenario = tmp_path / "site.toml"
    scenario.write_text(
        f"""
format = 1
[path]
nodes = ["client", "server"]
[[path.link]]
up = {{ rate = "10 Mbit/s", delay = "10 ms" }}
down = {{ rate = "10 Mbit/s", delay = "10 ms" }}
[[leg]]
from = "client"
to = "server"
carrier = {{ kind = "http/2" }}
tls = {{ key_exchange = "x25519", certificates = "{scheme}" }}
[workload]
requests = "requests.csv"
"""
    )
    figures = json.loads(Scenario.load(scenario).core.check(None))
    down = figures["legs"][0]["handshakes"][0]["down"]["parts"]
    return {part["name"]: part["bytes"] for part in down}


@pytest.mark.parametrize("scheme", _KEYS)
def test_messages_have_the_sizes_of_openssl(tmp_path: Path, scheme: str) -> None:
    """All but the host name that OpenSSL does not confirm, and ECDSA's signatures, of a few bytes more or fewer."""
    _chain(tmp_path, scheme)
    with _server(tmp_path) as port:
        messages = _messages(tmp_path, port)
    parts = _parts(tmp_path, scheme)
    certificate = sum(parts[name] for name in parts if name.startswith(("certificate", "leaf", "intermediates")))
    slack = 4 if scheme.startswith("ecdsa") else 0
    assert messages["ServerHello"] == parts["ServerHello"] + parts["key share"]
    assert messages["EncryptedExtensions"] == parts["EncryptedExtensions"] - 4
    assert abs(messages["Certificate"] - certificate) <= 2 * slack
    assert abs(messages["CertificateVerify"] - parts["CertificateVerify"]) <= slack
    assert messages["Finished"] in (parts["Finished"], parts["Finished"] + 16)  # SHA-256, or SHA-384
