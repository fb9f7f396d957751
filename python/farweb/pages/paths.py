"""Scenarios that a page is loaded over: a path, a protocol of the browser, and proxies on the way."""

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from farweb import _core
from farweb.errors import ScenarioError
from farweb.files.regular import read_text
from farweb.inputs.paths import PATHS, STAND_FOR, path_kind

PROTOCOLS = {"h1": "HTTP/1.1", "h2": "HTTP/2"}
"""Protocols of a browser that are simulated, by name."""
PROXIES = ("none", "split", "mux", "pep")
USUAL_PROXIES = PROXIES[:3]
ALL_PATHS = (*PATHS, *STAND_FOR)
"""Paths that a page can take, by name."""
USUAL_PATHS = ("geo", "leo", "cable", "mobile")

_CARRIERS = {"h1": '{ kind = "http/1.1", idle_timeout = "60 s" }', "h2": '{ kind = "http/2" }'}
_OWN = "own"


@dataclass(frozen=True)
class Way:
    """A path, protocol and proxies that a page takes.

    Attributes:
        path: A key of `PATHS` or `STAND_FOR`, or the name of a scenario.
        protocol: A key of `PROTOCOLS`, or the carrier of a scenario's first leg.
        proxy: One of `PROXIES`, or `own` of a scenario.
        scenario: The scenario to simulate.
    """

    path: str
    protocol: str
    proxy: str
    scenario: _core.Scenario

    @property
    def over(self) -> str:
        """The path as sentences and tables have it."""
        return self.path if self.proxy == _OWN else path_name(self.path)

    @property
    def names(self) -> dict[str, str]:
        """What it is called, for JSON."""
        return {"path": self.path, "protocol": self.protocol, "proxy": self.proxy}

    @cached_property
    def effective(self) -> dict[str, Any]:
        """The scenario with every default spelled out."""
        effective: dict[str, Any] = json.loads(self.scenario.effective())
        return effective


def path_name(path: str) -> str:
    """A key of `PATHS` or `STAND_FOR` as sentences and tables have it."""
    return {"geo": "GEO", "leo": "LEO", "cable": "sea cable"}.get(path, path)


def way_of(path: str, protocol: str, proxy: str, *, is_secure: bool) -> Way:
    """A way of these names, with TLS for requests of https where there are some.

    Browsers speak HTTP/2 over TLS alone. Here it has what the page has, as HTTP/1.1 does, so that they compare.
    """
    choices = {
        "file": "page.toml",
        "ways": [{"path": path_kind(path).name, "proxy": proxy}],
        "serving": {"carrier": _CARRIERS[protocol], "tls": is_secure, "nagle": False, "reasons": []},
        "release": "delayed",
        "requests": {"page": {"requests": "page"}},
        "span_s": 0,
    }
    text = _core.draft(json.dumps(choices))
    return Way(path, protocol, proxy, _core.Scenario.parse(text, f"{path} {protocol} {proxy}", {}))


def own_way(file: Path) -> Way:
    """The way of a scenario file, with the page as its workload.

    Raises:
        ScenarioError: It cannot be read, or is wrong.
    """
    text = read_text(file, ScenarioError, "a scenario is a TOML file")
    effective = json.loads(_core.Scenario.parse(text, str(file), {}).without_sweep().effective())
    if any("policy" in cache for cache in effective.get("cache", ())):
        raise ScenarioError(f"{file}: cache: a page is one visit, and caches that fill are empty then; leave them out")
    effective["workload"] = {"requests": "page"}
    effective["run"] |= {"until": "done", "warmup": "0 s"}
    scenario = _core.Scenario.of_effective(json.dumps(effective), str(file))
    carrier: str = effective["leg"][0]["carrier"]["kind"]
    protocol = {"http/1.1": "h1", "http/2": "h2"}.get(carrier, carrier)
    return Way(file.stem, protocol, _OWN, scenario)
