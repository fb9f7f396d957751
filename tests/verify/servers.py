"""Servers of the real world, in a namespace."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from namespaces import Namespace
from talks import SERVER_PORT


@contextmanager
def nginx(there: Namespace, folder: Path, site: Path, protocol: str = "", tls: str = "") -> Iterator[None]:
    """Debian's nginx with a configuration of its own; with the `protocol` http2 it speaks that and nothing else.

    With the `protocol` ssl, `tls` has the directives about it.
    """
    configuration = folder / "nginx.conf"
    places = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    temporary = "".join(f"{place}_temp_path {folder}/{place};\n" for place in places)
    configuration.write_text(
        f"daemon off;\nuser root;\npid {folder}/nginx.pid;\nerror_log {folder}/error.log;\nevents {{}}\n"
        f"http {{\naccess_log off;\n{temporary}server {{ listen {SERVER_PORT} {protocol}; {tls} root {site}; }}\n}}\n"
    )
    with served(there, "nginx", "-p", folder, "-e", folder / "error.log", "-c", configuration):
        yield


@contextmanager
def caddy(there: Namespace, folder: Path, site: Path, certificate: Path, key: Path) -> Iterator[None]:
    """Debian's Caddy with Go's TLS and its own configuration: HTTP/1.1 over TLS 1.3."""
    server = {
        "listen": [f"tcp4/:{SERVER_PORT}"],
        "protocols": ["h1"],
        "routes": [{"handle": [{"handler": "file_server", "root": str(site)}]}],
        "automatic_https": {"disable": True},
        "tls_connection_policies": [{"protocol_min": "tls1.3", "default_sni": "www.example.com"}],
    }
    configuration = folder / "caddy.json"
    configuration.write_text(
        json.dumps(
            {
                "admin": {"disabled": True, "config": {"persist": False}},
                "storage": {"module": "file_system", "root": str(folder / "caddy")},
                "apps": {
                    "http": {"servers": {"site": server}},
                    "tls": {"certificates": {"load_files": [{"certificate": str(certificate), "key": str(key)}]}},
                },
            }
        )
    )
    with served(there, "caddy", "run", "--config", configuration):
        yield


@contextmanager
def python_server(there: Namespace, folder: Path, site: Path) -> Iterator[None]:
    """The server of Python's library."""
    module = ("-m", "http.server", str(SERVER_PORT), "--directory", site)
    with served(there, sys.executable, *module):
        yield


@contextmanager
def nghttpd(there: Namespace, folder: Path, site: Path) -> Iterator[None]:
    """The server of nghttp2."""
    with served(there, "nghttpd", "--no-tls", "--htdocs", site, str(SERVER_PORT)):
        yield


@contextmanager
def served(there: Namespace, *command: str | Path) -> Iterator[None]:
    """A server that runs in the namespace and listens."""
    process = subprocess.Popen(there.command(*command), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    with process:
        try:
            patience = time.monotonic() + 30
            while not there.is_listening(SERVER_PORT):
                assert process.poll() is None and time.monotonic() < patience, f"{command[0]} does not listen"
                time.sleep(0.05)
            yield
        finally:
            process.terminate()
