"""What several tests work with: a scenario, its requests, and what a command answered."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

SCENARIO = """\
format = 1
name = "cable"

[path]
nodes = ["client", "server"]

[[path.link]]
up   = { rate = "34.368 Mbit/s", delay = "60 ms", queue = "256000 B" }
down = { rate = "34.368 Mbit/s", delay = "60 ms", queue = "256000 B" }

[[leg]]
from = "client"
to = "server"
carrier = { kind = "http/1.0" }
tcp = { profile = "bsd44-lite", mss = "1460 B", buffer = "32767 B" }

[origin]
release = "at-once"

[workload]
requests = "requests.csv"
"""

REQUESTS = """\
start_s,host,request_bytes,response_bytes,server_s
0.0,a.example,300,1000,0
10.0,b.example,300,20000,0
20.0,a.example,300,4000,0
"""

LOG = """\
851000010.500  4500 10.0.0.1 TCP_MISS/200 12000 GET http://slow.example/a - DIRECT/192.0.2.1 text/html
851000007.000   250 10.0.0.2 TCP_MISS/200 3000 GET http://quick.example/b - DIRECT/192.0.2.2 image/gif
851000007.100     5 10.0.0.2 TCP_HIT/200 3000 GET http://quick.example/b - NONE/- image/gif
851000008.000   100 10.0.0.3 TCP_MISS/200 500 GET http://quick.example/c - DIRECT/192.0.2.2 text/html
"""


@dataclass
class Answer:
    """What a command printed and how it ended."""

    code: int
    out: str
    err: str

    @property
    def said(self) -> str:
        """Standard error with its folded lines as one."""
        return " ".join(self.err.split())

    def json(self) -> Any:
        return json.loads(self.out)


Farweb = Callable[..., Answer]
