"""HARs made by hand: an entry, a page, a file; and networks to load pages over."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from farweb import _core
from farweb._core import Asked, Loaded, Recording, asked_of, graph_of, settle_each
from farweb.pages.har import numbered, read_har
from farweb.pages.paths import Way
from farweb.pages.weather import SEED

PAGE = "https://a.example/"


def at(ms: float) -> str:
    return (datetime(2026, 1, 1, tzinfo=UTC) + timedelta(milliseconds=ms)).isoformat()


def entry(url: str = PAGE, start_ms: float = 0.0, **fields: Any) -> dict[str, Any]:
    """An entry; `timings`, `request` and `response` are merged, other fields are set."""
    timings = {"blocked": -1, "dns": -1, "connect": -1, "ssl": -1, "send": 0, "wait": 50, "receive": 10}
    response = {"status": 200, "httpVersion": "HTTP/1.1", "headersSize": 300, "bodySize": 1000}
    mime = "text/html" if url.endswith("/") else "text/css" if url.endswith("css") else "image/png"
    whole = {
        "pageref": "p",
        "startedDateTime": at(start_ms),
        "time": 60,
        "request": {"method": "GET", "url": url, "headersSize": 400, "bodySize": 0, **fields.pop("request", {})},
        "response": {**response, "content": {"size": 1000, "mimeType": mime}, **fields.pop("response", {})},
        "timings": {**timings, **fields.pop("timings", {})},
    }
    return {**whole, **fields}


def har(
    *entries: dict[str, Any], creator: str = "WebInspector", version: str = "537", onload: float = -1, page: str = "p"
) -> dict[str, Any]:
    pages = [{"id": page, "title": "t", "startedDateTime": at(0), "pageTimings": {"onLoad": onload}}]
    for each in entries:
        each["pageref"] = page
    return {"log": {"creator": {"name": creator, "version": version}, "pages": pages, "entries": list(entries)}}


def written(folder: Path, content: Any, name: str = "page.har") -> Path:
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def recordings(path: Path) -> list[Recording]:
    """The pages of a HAR, which can all be loaded."""
    pages = read_har(path)
    return [numbered(path, pages, place) for place in range(1, len(pages) + 1)]


def page_of(folder: Path, content: Any) -> Recording:
    path = written(folder, content)
    return numbered(path, read_har(path), 1)


def recorded(folder: Path, *entries: dict[str, Any], **file: Any) -> Recording:
    return page_of(folder, har(*entries, **file))


def settle(scenario: _core.Scenario, page: Sequence[Asked], seed: int = SEED) -> Loaded:
    """A page loaded over a path."""
    (loaded,) = settle_each([(scenario, page, seed)])
    return loaded


def loaded_over(recording: Recording, way: Way) -> Loaded:
    return settle(way.scenario, asked_of(recording, graph_of(recording), is_multiplexed=way.protocol == "h2"))


H1 = '{ kind = "http/1.1", idle_timeout = "60 s" }'
H2 = '{ kind = "http/2", request_text = "0 B", response_text = "0 B" }'
TLS = {0: "", 1: 'tls = { version = "1.3" }', 2: 'tls = { version = "1.2" }'}


def path(rtt_ms: float, carrier: str, turns: int, down: str = "unlimited") -> _core.Scenario:
    """A path without limits, but for `down`, with so many round trips of TLS in its handshake."""
    text = f"""
format = 1
name = "page"
[path]
nodes = ["client", "server"]
[[path.link]]
up   = {{ rate = "unlimited", delay = "{rtt_ms / 2:g} ms" }}
down = {{ rate = "{down}", delay = "{rtt_ms / 2:g} ms" }}
[[leg]]
from = "client"
to = "server"
carrier = {carrier}
tcp = {{ profile = "linux", mss = "1460 B", buffer = "16 MB", constants = {{ nagle = false }} }}
{TLS[turns]}
[origin]
release = "delayed"
[workload]
requests = "page"
"""
    return _core.Scenario.parse(text, "page.toml", {})
