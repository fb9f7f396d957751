"""Results that farweb has written are read by every verb, also where they lie behind links."""

import shutil
from pathlib import Path

import pytest

from samples import Farweb

# A request that is sent again after its connection was lost crosses the next leg twice.
SENT_AGAIN = """\
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
"""
SENT_AGAIN_REQUESTS = """\
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
SWEEP = '[sweep]\nfactors = { "path.link.0.down.queue" = ["256 kB", "1 packets"] }\n'


def require_readable(farweb: Farweb, folder: Path) -> None:
    table = "requests" if (folder / "requests.parquet").exists() else "runs"
    for verb in (("show",), ("sql", f"select count(*) from {table}"), ("report",), ("verify", "--full")):
        arguments = (verb[0], folder, *verb[1:], *(("--out", f"{folder}.html") if verb[0] == "report" else ()))
        answer = farweb(*arguments)
        assert (answer.code, answer.err) == (0, ""), arguments


@pytest.fixture
def sent_again(folder: Path) -> Path:
    Path("requests.csv").write_text(SENT_AGAIN_REQUESTS)
    Path("s.toml").write_text(SENT_AGAIN + SWEEP)
    return folder / "s.toml"


def test_a_run_with_a_request_sent_again(farweb: Farweb, sent_again: Path) -> None:
    assert farweb("run", sent_again, "--quiet", "--out", "out").code == 0
    found = farweb("sql", "out", "select count(*) as n from exchanges", "--json").json()
    assert found["rows"][0]["n"] > 10 * 2  # requests and legs
    require_readable(farweb, Path("out"))
    assert farweb("run", sent_again, "--quiet", "--out", "out", "--force").code == 0


@pytest.mark.usefixtures("warm_workers")
def test_a_sweep_with_a_request_sent_again_goes_on_with_its_parts_on_another_disk(
    farweb: Farweb, sent_again: Path
) -> None:
    assert farweb("sweep", sent_again, "--quiet", "--out", "out").code == 0
    require_readable(farweb, Path("out"))
    parts = Path("out/parts")
    parts.symlink_to(parts.rename(sent_again.parent / "disk"))
    require_readable(farweb, Path("out"))
    shutil.rmtree(next(parts.iterdir()))
    assert farweb("sweep", sent_again, "--quiet", "--out", "out").code == 0
    assert parts.is_symlink()
    require_readable(farweb, Path("out"))


def test_a_table_may_be_a_link(farweb: Farweb, cable: Path) -> None:
    """As git-annex and DVC leave it."""
    assert farweb("run", cable, "--quiet", "--out", "out").code == 0
    table = Path("out/requests.parquet")
    table.symlink_to(table.rename(cable.parent / "object"))
    require_readable(farweb, Path("out"))
