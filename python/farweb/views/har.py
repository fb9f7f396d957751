"""Writes a page load as a HAR 1.2, for viewers of recordings: the simulation in the form of a browser's recording.

Fields beyond the format are Chrome's (`_initiator`, `_resourceType`, `_transferSize`) and some of farweb's, to read the
same page again: `_critical` is true on the critical path, `_parents` has the dependencies of a request as in tables of
pages, with places in `log.entries`, `_dependency` their evidence, `_server_ms` the time of the server. Headers,
contents and statuses are not simulated: a redirect has 302, all else 200.
"""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from farweb._core import version
from farweb.files.atomic import write_text
from farweb.results.parts import path_legs
from farweb.results.run import RunTables
from farweb.views.page_load import View, Viewed, read_view

_BEGAN = datetime(2000, 1, 1, tzinfo=UTC)  # of the simulation; viewers need a date
_HEADER_BYTES = 500  # of a request, as much of it as there is; chosen, as for imports

_TYPES = {
    "html": ("document", "text/html"),
    "css": ("stylesheet", "text/css"),
    "script": ("script", "text/javascript"),
    "font": ("font", "font/woff2"),
    "image": ("image", "image/*"),
    "json": ("fetch", "application/json"),
    "xml": ("xhr", "application/xml"),
    "preflight": ("preflight", ""),
    "beacon": ("ping", ""),
}
_VERSIONS = {"http/1.0": "HTTP/1.0", "http/1.1": "HTTP/1.1", "http/2": "HTTP/2.0"}


def export_har(results: RunTables, out: Path) -> int:
    """Write the page load in the results of a run as a HAR.

    Returns:
        The number of its entries.

    Raises:
        ResultsError: The results are of no page, or damaged.
        RunError: The file cannot be written.
    """
    content = har_of(read_view(results), results)
    write_text(out, json.dumps(content, indent=1) + "\n")
    return len(content["log"]["entries"])


def har_of(view: View, results: RunTables) -> dict[str, Any]:
    """A page load as the object that a HAR is."""
    leg = results.manifest["scenario"]["leg"][0]
    near = path_legs(results.manifest)[0]
    http = _VERSIONS.get(leg["carrier"]["kind"], leg["carrier"]["kind"])
    order = sorted(view.requests, key=lambda each: each.issue_ns)
    places = {each.number: place for place, each in enumerate(order)}
    critical = {step.request.number for step in view.critical}
    targets = {each.parents[0][0]: each.name for each in view.requests if each.dependency == "redirect"}
    seen: set[int | None] = set()
    entries = []
    for each in order:
        entry = _entry(each, http, targets.get(each.number, ""))
        tcp_ns = near.up_ns + near.down_ns if "tls" in leg and each.name.startswith("https:") else None
        entry["timings"] = _timings(each, tcp_ns, is_new=each.connection not in seen)
        entry["_initiator"] = _initiator(view, each)
        entry["_critical"] = each.number in critical
        entry["_parents"] = " ".join(f"{places[parent]}@{part}" for parent, part in each.parents)
        entry["_dependency"] = each.dependency
        entry["_server_ms"] = _ms(each.server_ns)
        entries.append(entry)
        seen.add(each.connection)
    page = {
        "startedDateTime": _date(0),
        "id": "page_1",
        "title": view.page,
        "pageTimings": {"onContentLoad": -1, "onLoad": _ms(view.load_ns)},
    }
    return {
        "log": {
            "version": "1.2",
            "creator": {"name": "farweb", "version": version},
            "pages": [page],
            "entries": entries,
        }
    }


def _entry(request: Viewed, http: str, target: str) -> dict[str, Any]:
    kind, mime = _TYPES.get(request.kind, ("other", "application/octet-stream"))
    status, word = (302, "Found") if target else (200, "OK")
    header = min(request.request_bytes, _HEADER_BYTES)
    bare: dict[str, Any] = {"httpVersion": http, "cookies": [], "headers": []}
    return {
        "pageref": "page_1",
        "startedDateTime": _date(request.issue_ns),
        "time": _ms(request.end_ns - request.issue_ns),
        "request": {
            "method": request.method,
            "url": request.name,
            **bare,
            "queryString": [],
            "headersSize": header,
            "bodySize": request.request_bytes - header,
        },
        "response": {
            "status": status,
            "statusText": word,
            **bare,
            "content": {"size": request.response_bytes, "mimeType": mime},
            "redirectURL": target,
            "headersSize": -1,
            "bodySize": request.response_bytes,
            "_transferSize": request.response_bytes,
        },
        "cache": {},
        "connection": f"c{request.connection}",
        "_resourceType": kind,
    }


def _timings(request: Viewed, tcp_ns: int | None, *, is_new: bool) -> dict[str, float]:
    """Spans of a request: the first one of a connection has its handshake, all others wait for that.

    Args:
        request: The request.
        tcp_ns: Time of a TCP handshake followed by TLS, or None without TLS.
        is_new: True for the first request of its connection.
    """
    before = request.connect_ns - request.issue_ns
    shaken = min(before, request.parts["handshake"] + request.parts["flight"]) if is_new else 0
    return {
        "blocked": _ms(before - shaken),
        "dns": -1,
        "connect": _ms(shaken) if shaken else -1,
        "ssl": -1 if tcp_ns is None or not shaken else _ms(max(0, shaken - tcp_ns)),
        "send": 0,
        "wait": _ms(request.first_ns - request.connect_ns),
        "receive": _ms(request.end_ns - request.first_ns),
    }


def _initiator(view: View, request: Viewed) -> dict[str, str]:
    if request.dependency not in ("initiator", "hidden"):
        return {"type": "other"}
    named = view.requests[request.parents[0][0]]
    return {"type": "script" if named.kind == "script" else "parser", "url": named.name}


def _date(time_ns: int) -> str:
    return (_BEGAN + timedelta(microseconds=time_ns / 1e3)).isoformat(timespec="microseconds").replace("+00:00", "Z")


def _ms(time_ns: int) -> float:
    return time_ns / 1e6
