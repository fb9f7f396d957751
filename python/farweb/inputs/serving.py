"""Serving of the requests kept of a log, from its facts: HTTP version, TLS, idle timeout, Nagle's rule (`farweb new`).

Idle timeouts are the defaults of the servers' documentation, as of 2026. Who switches Nagle's rule off is said by:

- documentation: nginx (`tcp_nodelay`, on for kept connections and under TLS), IIS (`serverRuntime`: `enableNagling` is
  false, and versions up to 5.1 use the rule for all data), Go's package net (`SetNoDelay`) for Caddy and Traefik;
- source: Apache (`ap_sock_disable_nagle`, and `sock_disable_nagle` since 1.x), Squid (`commSetTcpNoDelay`).
- maintainers: Envoy (issue 11434), Varnish (issue 2134: since 3.0.4).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from farweb.text.quantities import share
from farweb.text.words import plural

_CARRIERS = {"1.0": "http/1.0", "1.1": "http/1.1", "2": "http/2", "3": "http/2"}

_IDLE = {
    "nginx": ("75 s", "keepalive_timeout"),
    "Apache": ("5 s", "KeepAliveTimeout"),
    "IIS": ("120 s", "connectionTimeout"),
    "Microsoft Internet Information Services": ("120 s", "connectionTimeout"),
    "Squid": ("120 s", "client_idle_pconn_timeout"),
    "Varnish": ("5 s", "timeout_idle"),
    "lighttpd": ("5 s", "server.max-keep-alive-idle"),
    "Caddy": ("300 s", "idle_timeout"),
    "Traefik": ("180 s", "idleTimeout"),
    "Envoy": ("3600 s", "idle_timeout"),
    "AWS application load balancer": ("60 s", "idle timeout"),
    "AWS classic load balancer": ("60 s", "idle timeout"),
    "Google Cloud load balancer": ("610 s", "client HTTP keepalive timeout"),
}
"""Time after which a server closes an idle connection, and its name."""

_WITHOUT_NAGLE = ("nginx", "Apache", "IIS", "Microsoft Internet", "Squid", "Varnish", "Caddy", "Traefik", "Envoy")
"""Servers that are known to switch Nagle's rule off."""

_OLD_IIS = re.compile(r"Microsoft Internet Information Serv\w+ [1-5]\.")
"""Versions of IIS that use the rule."""


@dataclass(frozen=True)
class Serving:
    """Connections to the servers of a log.

    Attributes:
        carrier: Carrier of requests, as a scenario writes it.
        tls: True when connections are under TLS, but of requests that the table has in the clear.
        nagle: True when the servers use Nagle's rule.
        reasons: Evidence in the log, a sentence each.
    """

    carrier: str
    tls: bool
    nagle: bool
    reasons: tuple[str, ...]


OF_TODAY = Serving(
    '{ kind = "http/1.1" }',
    False,
    False,
    ("Nagle's rule is off (TCP_NODELAY), as browsers, nginx, Apache and IIS switch it off.",),
)
"""Serving where no log says more."""


def serving_of(counts: Mapping[str, Any]) -> Serving:
    """Serving by the counts of an import."""
    version, of_version = _most(counts["table_http_versions"])
    kind = _CARRIERS.get(version or "1.1", "http/1.1")
    tls, of_tls = _tls(counts, version)
    idle, of_idle = _idle(counts["software"]) if kind == "http/1.1" else (None, "")
    timeout = "" if idle is None else f', idle_timeout = "{idle}", closed_by = "server"'
    nagle, of_nagle = _nagle(counts["software"])
    reasons = tuple(filter(None, (of_version, of_tls, _tunnels(counts), of_idle, of_nagle)))
    return Serving(f'{{ kind = "{kind}"{timeout} }}', tls, nagle, reasons)


def _most(versions: Mapping[str, Mapping[str, int]]) -> tuple[str | None, str]:
    """The version of most requests that say it, and a sentence on that."""
    known = {version: part["requests"] for version, part in versions.items() if version != "unknown"}
    if not known:
        return None, "The log does not say which version of HTTP its requests had: HTTP/1.1 is assumed."
    version = max(known, key=lambda each: known[each])
    part = known[version] / sum(part["requests"] for part in versions.values())
    more = "; farweb has no QUIC, so HTTP/2 stands for it" if version == "3" else ""
    return version, f"{share(part)} of the requests kept came by HTTP/{version}{more}."


def _tls(counts: Mapping[str, Any], version: str | None) -> tuple[bool, str]:
    """True where a request came under TLS, with a sentence. Tunnels have theirs inside, and others go in the clear."""
    secure, plain, unknown = (counts["tls"][name] for name in ("https", "http", "unknown"))
    if not secure and not plain:
        if version in ("2", "3"):
            return True, f"The log does not name schemes; browsers speak HTTP/{version} under TLS alone."
        return False, (
            "The log does not say if requests came under TLS, and none is simulated; "
            'tls = { version = "1.3" } on a leg adds it.'
        )
    if not secure:
        return False, "None of the requests kept that name their scheme were under TLS."
    clear = "; the others go in the clear, over connections of their own" if plain else ""
    taken = f"; it is assumed for {plural(unknown, 'request')} without a scheme" if unknown else ""
    return (
        True,
        f"{share(secure / (secure + plain))} of the requests kept that name their scheme were under TLS{clear}{taken}.",
    )


def _tunnels(counts: Mapping[str, Any]) -> str:
    """A sentence on the tunnels that are kept, or empty without any."""
    kept = counts["caching"].get("tunnel")
    if not kept:
        return ""
    responses = sum(part["bytes"] for part in counts["caching"].values())
    return (
        f"{share(kept['bytes'] / responses)} of the bytes of responses kept came in "
        f"{plural(kept['requests'], 'tunnel')} (CONNECT), whose handshakes of TLS are in their bytes; "
        "[clients.tunnels] has them go to and fro."
    )


def _idle(software: str | None) -> tuple[str | None, str]:
    """Idle timeout of the server that wrote the log, and a sentence on that."""
    name = next((name for name in _IDLE if software is not None and software.startswith(name)), None)
    if name is None:
        return None, ""
    timeout, called = _IDLE[name]
    return timeout, f"{software} closes an idle connection after {timeout} ({called}) unless it is told otherwise."


def _nagle(software: str | None) -> tuple[bool, str]:
    """True where the server that wrote the log uses Nagle's rule, and a sentence on that."""
    if software is None:
        return False, (
            "The log does not say which server wrote it: Nagle's rule is off (TCP_NODELAY), as nginx, Apache and IIS "
            "switch it off; constants = { nagle = true } switches it on."
        )
    if _OLD_IIS.match(software):
        return True, f"{software} uses Nagle's rule for all data; later versions switch it off."
    if software.startswith(_WITHOUT_NAGLE):
        return False, f"{software} switches Nagle's rule off (TCP_NODELAY)."
    return False, f"Nagle's rule is off: what {software} does is not documented; nginx, Apache and IIS switch it off."
