"""What several tests work with: a scenario, its requests, and what a command answered."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
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

CLF = """\
10.0.0.1 - - [25/Oct/2015:04:00:00 +0100] "GET /a HTTP/1.1" 200 1000
10.0.0.1 - - [25/Oct/2015:05:00:00 +0100] "GET /b HTTP/1.1" 404 900000
10.0.0.2 - - [25/Oct/2015:05:30:00 +0100] "GET /c HTTP/1.1" 200 5000
10.0.0.3 - - [25/Oct/2015:07:00:00 +0100] "GET /d HTTP/1.1" 200 7000
"""
"""A server's log of three clients in a night."""

LOG = """\
851000010.500  4500 10.0.0.1 TCP_MISS/200 12000 GET http://slow.example/a - DIRECT/192.0.2.1 text/html
851000007.000   250 10.0.0.2 TCP_MISS/200 3000 GET http://quick.example/b - DIRECT/192.0.2.2 image/gif
851000007.100     5 10.0.0.2 TCP_HIT/200 3000 GET http://quick.example/b - NONE/- image/gif
851000008.000   100 10.0.0.3 TCP_MISS/200 500 GET http://quick.example/c - DIRECT/192.0.2.2 text/html
"""


def scenario_of(nodes: str, *links: str, legs: Sequence[str], rest: str = "") -> str:
    """A scenario over links alike both ways, which ends in its workload of `requests.csv`.

    Args:
        nodes: Their names: `client proxy server`.
        links: Rate and delay of each: `10 Mbit/s, 5 ms`.
        legs: Ends and carrier of each, a word or a table: `client server http/1.0`; further keys on lines of their own.
        rest: Further keys of the workload, and further tables.
    """
    text = f'format = 1\nname = "a path"\n[path]\nnodes = {json.dumps(nodes.split())}\n'
    for rate, delay in (link.split(", ") for link in links):
        way = f'{{ rate = "{rate}", delay = "{delay}" }}'
        text += f"[[path.link]]\nup = {way}\ndown = {way}\n"
    for head, _, keys in (leg.partition("\n") for leg in legs):
        here, there, carrier = head.split(" ", 2)
        carrier = carrier if carrier.startswith("{") else f'{{ kind = "{carrier}" }}'
        text += f'[[leg]]\nfrom = "{here}"\nto = "{there}"\ncarrier = {carrier}\n{keys}\n'
    return f'{text}[workload]\nrequests = "requests.csv"\n{rest}'


@dataclass
class Answer:
    """Output and exit code of a command."""

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


def refused(farweb: Farweb, *arguments: object, says: str, code: int = 2) -> None:
    """A command refuses its work with these words, prints and writes nothing, and knows why."""
    before = _files()
    answer = farweb(*arguments)
    assert (answer.code, answer.out) == (code, ""), answer
    assert says in answer.err or says in answer.said
    assert not any(word in answer.err for word in ("Traceback", "bug", "Error: "))
    assert _files() == before, "something was written"


def _files() -> set[Path]:
    """What lies in the current folder, without the bytecode of a study that Python has imported."""
    return {path for path in Path().rglob("*") if "__pycache__" not in path.parts}
