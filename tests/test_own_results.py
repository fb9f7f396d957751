"""Results of honest runs are read, whatever numbers they have."""

from pathlib import Path

import pytest

from farweb import Results
from samples import Farweb

REQUESTS = """\
start_s,host,request_bytes,response_bytes
0.815289,h0,1500,25
0.816348,h0,1,3352
0.868768,h0,5000,725
0.87532,h0,5000,63
0.883012,h0,5000,22165
0.904757,h0,1500,3352
0.908983,h0,300,730
0.930914,h0,100000,39
0.93161,h0,5000,22165
0.935846,h0,1,331
"""

SCENARIO = """\
format = 1
[path]
nodes = ["n0", "n1", "n2"]
[[path.link]]
up = { rate = "10 Mbit/s", delay = "0 ms", queue = "3 packets" }
down = { rate = "256 kbit/s", delay = "60 ms", queue = "1 packets" }
[[path.link]]
up = { rate = "10 Mbit/s", delay = "1 ms" }
down = { rate = "10 Mbit/s", delay = "0 ms" }
[[leg]]
from = "n0"
to = "n1"
carrier = { kind = "http/2" }
tcp = { profile = "solaris-2.5" }
[[leg]]
from = "n1"
to = "n2"
carrier = { kind = "http/1.0" }
[workload]
requests = "requests.csv"
[run]
seed = 60663
[record]
exchanges = true
[sweep]
factors = { "path.link.0.down.queue" = ["256 kB", "1 packets"] }
"""


def test_a_request_sent_again_after_a_lost_connection_crosses_the_next_leg_twice(folder: Path, farweb: Farweb) -> None:
    Path("requests.csv").write_text(REQUESTS)
    Path("s.toml").write_text(SCENARIO)
    assert farweb("run", "s.toml", "-o", "r", "-q").code == 0
    results = Results.open("r")
    assert len(results.exchanges) > 2 * len(results.requests)
    found = results.breakdown(tagged=False)
    assert sum(part.mean_s for part in found.parts) == pytest.approx(found.latency_s, rel=1e-12)
    assert farweb("sweep", "s.toml", "-o", "s", "-q", "--jobs", 1).code == 0
    for out, both in (("r", ["r", "r"]), ("s", ["s"])):
        for verb in (["show", out], ["sql", out, "select count(*) from exchanges"], ["report", *both], ["verify", out]):
            answer = farweb(*verb)
            assert answer.code == 0, answer.err
    assert farweb("sweep", "s.toml", "-o", "s", "-q", "--jobs", 1).code == 0, "it goes on from whole runs"
