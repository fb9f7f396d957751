"""Legs of random scenarios: carriers, transports, programs, TLS."""

from explorer.constants import NS2, OF_PROFILE
from explorer.draw import Draw, Table

ALONE = ["closed-loop", "regulated"]
"""Releases that take a response alone on its connection."""

PRESETS = [
    "rfc-default",
    "nghttp2",
    "nginx",
    "nginx-unbuffered",
    "ats",
    "chrome",
    "firefox",
    "curl-8",
    "go",
    "hyper",
    "hyper-adaptive",
    "grpc",
    "dotnet",
    "jetty",
    "node-2026",
    "envoy-2026",
]

CLASSICAL_EXCHANGES = ["x25519", "secp256r1", "secp384r1"]
POST_QUANTUM_EXCHANGES = [
    "x25519mlkem768",
    "secp256r1mlkem768",
    "secp384r1mlkem1024",
    "mlkem512",
    "mlkem768",
    "mlkem1024",
]
CLASSICAL_SCHEMES = ["ecdsa-p256", "ecdsa-p384", "rsa-2048", "rsa-4096"]
POST_QUANTUM_SCHEMES = [
    "ml-dsa-44",
    "ml-dsa-65",
    "ml-dsa-87",
    "fn-dsa-512",
    "fn-dsa-1024",
    "slh-dsa-128s",
    "slh-dsa-128f",
    "slh-dsa-192s",
    "slh-dsa-192f",
    "slh-dsa-256s",
    "slh-dsa-256f",
    "merkle-tree",
]
"""Words of TLS; the latter of each pair need version 1.3."""


def draw_leg(draw: Draw, *, is_last: bool, spans: int, is_transfer: bool, has_hosts: bool, release: str) -> Table:
    if is_transfer:
        leg: Table = {"carrier": {"kind": "transfer"}, "tcp": {"profile": "ns2-reno"}}
        if draw.chance(0.9):
            leg["tcp"]["constants"] = draw.some(
                {name: draw.one(*values) for name, values in NS2.items()}, draw.one(0.1, 0.9, 0.9)
            )
        return leg
    kinds = ["http/1.0", "http/1.1"]
    if not (is_last and release in ALONE):
        kinds += ["http/1.1", "http/2", "http/2", "webmux"]
        if not is_last:
            kinds += ["mux", "mux"]
    kind = "http/1.0" if spans > 1 and draw.chance(0.4) else draw.one(*kinds)
    carrier: Table = {"kind": kind}
    match kind:
        case "http/1.0":
            carrier |= draw.some({"closed_by": draw.one("client", "server")})
        case "http/1.1":
            carrier |= draw.some(
                {
                    "idle_timeout": draw.one("1 ms", "200 ms", "3 s", "15 s"),
                    "closed_by": draw.one("client", "server"),
                    "per_host": draw.whole(1, 4),
                    "per_connection": draw.whole(1, 3),
                    "total": draw.whole(1, 6),
                }
            )
        case "mux":
            carrier["connections"] = draw.whole(1, 6)
            carrier |= draw.some(
                {
                    "overhead": draw.one("20 B", "7 B", "2 %", "none"),
                    "assign": draw.one("least-outstanding", "round-robin"),
                    "ties": draw.one("first", "next"),
                }
            )
        case "webmux":
            carrier |= draw.some(
                {
                    "credit": f"{draw.one(1, 300, 2048, 4096, 65536)} B",
                    "write_buffer": f"{draw.one(8, 700, 2048, 8192)} B",
                    "read_buffer": f"{draw.one(100, 4096, 100000)} B",
                    "fragment": f"{draw.one(64, 512, 5000)} B",
                    "layout": draw.one("1996", "1998"),
                }
            )
        case "http/2":
            carrier |= _http2(draw, is_last)
    leg = {"carrier": carrier}
    may_have_host_values = has_hosts and (kind == "http/1.0" or (is_last and kind in ("http/1.1", "http/2", "webmux")))
    if draw.chance(0.9):
        leg["tcp"] = _tcp(draw, may_have_host_values)
    if draw.chance(0.25):
        leg["application"] = _application(draw, kind)
    if draw.chance(0.25) and not (is_last and release == "regulated"):
        leg["tls"] = _tls(draw)
    return leg


def draw_splits(draw: Draw, inside: list[str]) -> Table:
    """Splits at one or more of the nodes inside a leg; often none."""
    nodes = [node for node in inside if draw.chance(0.6)]
    splits: list[Table] = []
    for place, node in enumerate(nodes):
        split = draw.some({"open": draw.one("each", "ready"), "by": draw.one("syn", "connect")}, 0.6)
        if place + 1 == len(nodes):
            split.pop("open", None)
        if draw.chance(0.5):
            split["tcp"] = _tcp(draw, may_have_host_values=False)
        splits.append({"at": node} | split)
    return {"split": splits} if splits else {}


def _http2(draw: Draw, is_last: bool) -> Table:
    keys: Table = draw.some(
        {
            "connections": draw.whole(1, 4),
            "open_rule": "at-session-limit" if is_last else draw.one("at-session-limit", "fixed"),
            "assign": draw.one("first-with-room", "round-robin", "least-sessions"),
            "idle_timeout": draw.one("50 ms", "2 s", "90 s"),
            "request_text": f"{draw.one(100, 1024, 8000)} B",
            "response_text": f"{draw.one(40, 250, 2000)} B",
        },
        0.3,
    )
    ends = draw.one(["both"], ["both"], ["client", "server"], ["both", "server"], ["client"])
    growth = draw.one("none", "none", "none", "grows", "raised")
    for end in ends:
        own = _http2_end(draw, growth)
        if end == "both":
            keys |= own
        elif own:
            keys[end] = own
    return keys


def _http2_end(draw: Draw, growth: str) -> Table:
    preset = draw.one(*PRESETS)
    end: Table = {"preset": preset} if draw.chance(0.8) else {}
    if draw.chance(0.25):
        end["grant"] = _grant(draw)
    end |= draw.some(
        {
            "session_credit": f"{draw.one(1000, 20000, 65535, 1048576)} B",
            "connection_credit": f"{draw.one(65535, 1048576)} B",
            "grant_timer": draw.one("100 ms", "5 s"),
            "counts": draw.one("bytes", "frames"),
            "session_limit": draw.one(1, 2, 100),
            "fragment": f"{draw.one(300, 1400, 8192, 16384)} B",
            "schedule": draw.one("round-robin", "in-order", "urgency"),
            "header_first": f"{draw.one(30, 120, 2000)} B",
            "header_repeat": f"{draw.one(10, 40)} B",
            "nodelay": draw.one(True, False),
        },
        0.12,
    )
    if growth == "grows" and draw.chance(0.7):
        end |= {
            "preset": draw.one("rfc-default", "nghttp2", "go"),
            "tuning": draw.one("none", "bdp-grpc", "bdp-hyper", "drain-eighth"),
        }
        if end["tuning"] != "none" and draw.chance(0.5):
            end["credit_max"] = "64 MiB"
    elif growth == "grows":
        end["preset"] = "grpc"
    elif growth == "raised":
        end |= {
            "preset": draw.one("rfc-default", "curl-8"),
            "session_credit_raised": "200 kB",
            "raise_at": draw.one("request", "headers", "first-data"),
        }
    return end


def _grant(draw: Draw) -> Table:
    match draw.one("share", "share", "bytes", "below", "bytes-or-below", "each"):
        case "share":
            return {"kind": "share"} | draw.some(
                {"of": draw.one("initial", "remaining"), "one_in": draw.one(2, 4, 8), "strict": draw.one(True, False)}
            )
        case "bytes":
            return {"kind": "bytes", "bytes": draw.one("500 B", "4096 B")}
        case "below":
            return {"kind": "below", "bytes": draw.one("500 B", "16384 B")}
        case "bytes-or-below":
            return {"kind": "bytes-or-below", "bytes": "4096 B", "below": "1000 B"}
        case kind:
            return {"kind": kind}


def _tcp(draw: Draw, may_have_host_values: bool) -> Table:
    profile = draw.one("bsd44-lite", "solaris-2.5", "linux", "linux", "linux-classic")
    tcp: Table = {"profile": profile}

    def end() -> Table:
        mss, buffer = draw.one("1460 B", "536 B", "1000 B", "88 B"), draw.one("3000 B", "8192 B", "32767 B", "100000 B")
        if may_have_host_values:
            mss, buffer = draw.one(mss, "host"), draw.one(buffer, "host")
        return draw.some({"mss": mss, "buffer": buffer}, 0.4)

    tcp |= end()
    for name in ("from", "to"):
        if draw.chance(0.1) and (own := end()):
            tcp[name] = own
    if draw.chance(0.5):
        tcp["constants"] = _constants(draw, profile)
    return tcp


def _constants(draw: Draw, profile: str) -> Table:
    values = OF_PROFILE[profile]
    names = list(values)
    chosen = sorted({draw.one(*names) for _ in range(draw.whole(2, 12))}, key=names.index)
    constants = {name: draw.one(*values[name]) for name in chosen}
    # Together they have to be such that the profile can run.
    if {"rto_min", "rto_initial"} & set(constants):
        constants.pop("rto_max", None)
    if constants.get("jiffy") == "10 ms" or "delayed_ack_max" in constants:
        constants.pop("delayed_ack_min", None)
    if "send_buffer_max" in constants:
        constants.setdefault("send_buffer_initial", "16384 B")
    return constants


def _application(draw: Draw, kind: str) -> Table:
    keys: Table = {"wake": draw.one("100 us", "1600 us", "20 ms")}
    if kind != "http/2":
        keys |= {"write": draw.one("100 B", "700 B", "4096 B"), "head": draw.one("50 B", "250 B")}
    return draw.some(keys, 0.6) or {"wake": "3 ms"}


def _tls(draw: Draw) -> Table:
    version = draw.one("1.2", "1.3", "1.3")
    keys = draw.some(
        {
            "record": f"{draw.one(500, 1400, 16384)} B",
            "small_record": draw.one("200 B", "1300 B", "go", "cloudflare", "h2o", "apache", "nginx", "boringssl"),
            "small_until": f"{draw.one(3000, 65536)} B",
            "client_hello": f"{draw.one(300, 3000)} B",
            "server_flight": f"{draw.one(150, 9000)} B",
            "ticket_lifetime": draw.one("500 ms", "10 s", "2 h"),
        },
        0.25,
    )
    start = draw.one("full", "resumed", *(["0-rtt"] if version == "1.3" else []))
    return {"version": version, "start": start} | keys | _handshake_parts(draw, version)


def draw_handshake(draw: Draw) -> Table:
    """TLS inside tunnels, which has no records of its own, and the same handshake in each."""
    own = ("record", "small_record", "small_until", "ticket_lifetime")
    return {key: value for key, value in _tls(draw).items() if key not in own}


def _handshake_parts(draw: Draw, version: str) -> Table:
    if draw.chance(0.3):
        return {}
    exchanges, schemes = CLASSICAL_EXCHANGES, CLASSICAL_SCHEMES
    newer: Table = {}
    if version == "1.3":
        exchanges, schemes = exchanges + POST_QUANTUM_EXCHANGES, schemes + POST_QUANTUM_SCHEMES
        newer = {"compression": draw.one(0.3, "70 %", 1), "suppress_intermediates": draw.one(True, False)}
    words = draw.some({"key_exchange": draw.one(*exchanges), "certificates": draw.one(*schemes)}, 0.9)
    others = {
        "intermediates": draw.whole(0, 3),
        "scts": draw.one(0, 2, 546),
        "ocsp": draw.one(True, False),
    }
    if words.get("certificates") == "merkle-tree":
        others = {}
    return words | draw.some(others | newer, 0.3)
