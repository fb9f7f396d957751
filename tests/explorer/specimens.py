"""Cases written by hand that together give every rule something to judge."""

import tomllib

from explorer.case import Case, Row

_EVERYTHING = 'exchanges = true\npackets = "all"\nlinks_every = "2 s"\n'

_CACHES = f"""
format = 1
[path]
nodes = ["clients", "edge", "shield", "servers"]
[[path.link]]
up = {{ rate = "2 Mbit/s", delay = "10 ms" }}
down = {{ rate = "2 Mbit/s", delay = "10 ms", queue = "4 packets" }}
[[path.link]]
up = {{ rate = "1 Mbit/s", delay = "20 ms", queue = "6000 B" }}
down = {{ rate = "1 Mbit/s", delay = "20 ms", queue = "6000 B", queue_counts = "waiting" }}
[[path.link]]
up = {{ rate = "unlimited", delay = "30 ms" }}
down = {{ rate = "10 Mbit/s", delay = "30 ms" }}
[[leg]]
from = "clients"
to = "edge"
carrier = {{ kind = "http/1.1", per_host = 3 }}
tcp = {{ profile = "linux" }}
[[leg]]
from = "edge"
to = "shield"
carrier = {{ kind = "mux", connections = 2 }}
tcp = {{ profile = "linux-classic" }}
[[leg]]
from = "shield"
to = "servers"
carrier = {{ kind = "http/1.0" }}
[[cache]]
node = "edge"
policy = "lru"
capacity = "20 kB"
admit = {{ max = "15 kB" }}
[[cache]]
node = "shield"
mode = "store-and-forward"
policy = "lru"
capacity = "1 MB"
[workload]
requests = "requests.csv"
[record]
points = ["ends", "link 0", "link 1", "link 2"]
{_EVERYTHING}"""

_STREAMS = f"""
format = 1
[path]
nodes = ["clients", "proxy", "servers"]
[[path.link]]
up = {{ rate = "10 Mbit/s", delay = "5 ms" }}
down = {{ rate = "256 kbit/s", delay = "5 ms", loss = {{ kind = "list", drop = ["data 3", "data 6"] }} }}
[[path.link]]
up = {{ rate = "1 Mbit/s", delay = "20 ms" }}
down = {{ rate = "1 Mbit/s", delay = "20 ms", queue = "2 packets" }}
[[leg]]
from = "clients"
to = "proxy"
carrier = {{ kind = "http/2", preset = "chrome" }}
tcp = {{ profile = "linux" }}
[[leg]]
from = "proxy"
to = "servers"
carrier = {{ kind = "webmux" }}
tcp = {{ profile = "bsd44-lite" }}
[clients]
give_up = "30 s"
[workload]
requests = "requests.csv"
[record]
points = ["ends", "link 0", "link 1"]
{_EVERYTHING}"""

_LISTED = """
format = 1
[path]
nodes = ["clients", "child", "servers"]
[[path.link]]
up = { rate = "2 Mbit/s", delay = "10 ms" }
down = { rate = "2 Mbit/s", delay = "10 ms" }
[[path.link]]
up = { rate = "2 Mbit/s", delay = "10 ms" }
down = { rate = "2 Mbit/s", delay = "10 ms" }
[[leg]]
from = "clients"
to = "servers"
carrier = { kind = "http/1.0" }
[[cache]]
node = "child"
[workload]
requests = "requests.csv"
load = 2
copies_offset = "3 s"
[run]
until = "4 s"
"""

_CLIENTS = f"""
format = 1
[path]
nodes = ["clients", "servers"]
[[path.link]]
up = {{ rate = "2 Mbit/s", delay = "10 ms" }}
down = {{ rate = "2 Mbit/s", delay = "10 ms" }}
[[leg]]
from = "clients"
to = "servers"
carrier = {{ kind = "http/1.1", idle_timeout = "1 s" }}
tls = {{ start = "resumed" }}
[workload]
requests = "requests.csv"
[record]
points = ["ends", "link 0"]
{_EVERYTHING}"""

_QUEUES = f"""
format = 1
[path]
nodes = ["clients", "router", "servers"]
[[path.link]]
up = {{ rate = "1 Mbit/s", delay = "5 ms", queue = {{ kind = "drop-head", limit = "3 packets" }} }}
down = {{ rate = "2 Mbit/s", delay = "5 ms", queue = {{ kind = "fq-codel", target = "2 ms", interval = "10 ms" }} }}
[[path.link]]
up = {{ rate = "1 Mbit/s", delay = "10 ms", queue = "pie" }}
down = {{ rate = "3 Mbit/s", delay = "10 ms", queue = {{ kind = "codel", target = "2 ms", interval = "10 ms" }} }}
[[leg]]
from = "clients"
to = "servers"
carrier = {{ kind = "http/1.0" }}
tcp = {{ profile = "linux" }}
[workload]
requests = "requests.csv"
[record]
points = ["ends", "link 0", "link 1"]
sojourn = true
{_EVERYTHING}"""

_MARKS = (
    _QUEUES.replace('tcp = { profile = "linux" }', 'tcp = { profile = "linux", constants = { ecn = "request" } }')
    .replace('{ kind = "codel",', '{ kind = "codel", ecn = true,')
    .replace('queue = "pie"', 'loss = { kind = "list", mark = ["data 2..3"] }')
)


_FRAMES = f"""
format = 1
[path]
nodes = ["clients", "servers"]
[[path.link]]
up = {{ rate = "1 Mbit/s", delay = "5 ms", dama = {{ grant_after = "70 ms", cra = "8 kbit/s" }} }}
down = {{ rate = "1 Mbit/s", delay = "5 ms", wake = {{ after = "500 ms", delay = "80 ms" }} }}
[[leg]]
from = "clients"
to = "servers"
carrier = {{ kind = "http/1.0" }}
tcp = {{ profile = "linux" }}
[workload]
requests = "requests.csv"
[record]
{_EVERYTHING}"""

_WAKING = _FRAMES.replace('dama = { grant_after = "70 ms", cra = "8 kbit/s" }', 'queue = "20 kB"').replace(
    "[record]", '[record]\nsojourn = true\npoints = ["ends", "link 0"]'
)


def _rows(*rows: tuple[float, int, int, int | None, str | None]) -> list[Row]:
    names = ("start_s", "request_bytes", "response_bytes", "object", "source")
    return [{"host": f"h{place % 2}.example"} | dict(zip(names, row, strict=True)) for place, row in enumerate(rows)]


SPECIMENS: dict[str, Case] = {
    "caches": Case(
        tomllib.loads(_CACHES),
        _rows(
            (0.0, 300, 9000, 1, None),
            (0.01, 300, 9000, 1, None),
            (1.0, 300, 9000, 1, None),
            (1.0, 300, 12000, 2, None),
            (2.0, 300, 9000, 1, None),
            (2.1, 300, 40000, 3, None),
            (3.0, 300, 40000, 3, None),
        ),
    ),
    "versions": Case(
        tomllib.loads(_CACHES.replace('policy = "lru"', 'policy = "lru"\nchanged = "fetch"')),
        _rows((0.0, 300, 9000, 1, None), (1.0, 300, 8000, 1, None), (2.0, 300, 8000, 1, None)),
    ),
    "treated": Case(
        tomllib.loads(_CACHES),
        [
            {
                "start_s": float(place),
                "request_bytes": 300,
                "response_bytes": 9000,
                "host": "h.example",
                "object": 1,
                "method": method,
                "caching": caching,
            }
            for place, (method, caching) in enumerate(
                [("HEAD", None), ("GET", None), ("GET", "bypass"), ("POST", None), ("GET", "serve"), ("GET", None)]
            )
        ],
    ),
    "streams": Case(
        tomllib.loads(_STREAMS),
        _rows((0.0, 1500, 9000, None, None), (0.1, 2000, 20000, None, None), (0.2, 300, 100, None, None)),
    ),
    "clients": Case(
        tomllib.loads(_CLIENTS),
        [
            {"start_s": start, "request_bytes": 300, "response_bytes": 5000, "host": "h.example", "client": client}
            for start, client in [(0.0, "ann"), (0.5, "bob"), (5.0, "ann")]
        ],
    ),
    "drawn": Case(
        tomllib.loads(_CLIENTS.replace('requests.csv"', 'requests.csv"\nresample = "clients"', 1)),
        [
            {
                "start_s": time,
                "request_bytes": 300,
                "response_bytes": 5000 + client,
                "host": "h.example",
                "client": client,
            }
            for time in (0.0, 2.0)
            for client in range(8)
        ],
    ),
    "queues": Case(
        tomllib.loads(_QUEUES),
        _rows(
            (0.0, 300, 90000, None, None),
            (0.1, 40000, 300, None, None),
            (0.2, 300, 60000, None, None),
            (0.3, 300, 2000, None, None),
        ),
    ),
    "marks": Case(tomllib.loads(_MARKS), _rows((0.0, 300, 90000, None, None), (0.1, 40000, 300, None, None))),
    "frames": Case(tomllib.loads(_FRAMES), _rows((0.0, 300, 9000, None, None), (5.0, 30000, 300, None, None))),
    "waking": Case(tomllib.loads(_WAKING), _rows((0.0, 300, 9000, None, None), (5.0, 30000, 300, None, None))),
    "listed": Case(
        tomllib.loads(_LISTED),
        _rows((0.0, 300, 5000, None, "child"), (0.5, 300, 5000, None, "servers"), (0.99, 300, 5000, None, None)),
    ),
}
