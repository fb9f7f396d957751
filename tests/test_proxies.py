"""Runs over proxies and on connections that persist, end to end: their tables fit together."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from farweb import Results, ResultsError, Scenario
from farweb.plot import describe
from farweb.results.measure import measure
from farweb.results.parts import KINDS, parts, path_legs
from samples import Farweb

EXAMPLES = Path(__file__).parent.parent / "examples"
RTT_S = 0.64


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Results]:
    """A page of 1997 by satellite: straight, on persistent connections, with a proxy that splits, one with a mux."""
    folder = tmp_path_factory.mktemp("runs")
    split = {"leg.0.carrier": '{ kind = "http/1.0" }'}
    scenarios: dict[str, tuple[str, dict[str, Any]]] = {
        "straight": ("satellite", {"record.exchanges": True}),
        "persistent": ("persistent", {}),
        "split": ("proxies", split),
        "mux": ("proxies", {}),
    }
    return {
        name: Scenario.load(EXAMPLES / f"{example}.toml", changes).run(out=folder / name)
        for name, (example, changes) in scenarios.items()
    }


@pytest.mark.parametrize("name", ["straight", "persistent", "split", "mux"])
def test_parts_add_up_to_the_latency_of_each_request(runs: dict[str, Results], name: str) -> None:
    run = runs[name]
    opened = run.connections.select("connection", "open_ns", "tls_cwnd_ns")
    found = parts(run.exchanges, path_legs(run.manifest), opened)
    assert len(found) == run.summary().done == 8
    both = found.join(run.requests, on="request")
    total = both.select(pl.sum_horizontal(pl.col(found.columns).exclude("request")))
    assert total.to_series().to_list() == (both["end_ns"] - both["start_ns"]).to_list()
    assert found.select(pl.min_horizontal(pl.all()).min()).item() >= 0


@pytest.mark.parametrize(
    "changes",
    [
        {"run.until": "3400 ms"},
        {"path.link.1.down.loss": '{ kind = "list", drop = ["synack 1..99"] }', "run.until": "done"},
    ],
)
def test_requests_that_end_early_keep_what_is_known(tmp_path: Path, changes: dict[str, Any]) -> None:
    run = Scenario.load(EXAMPLES / "proxies.toml", changes).run(out=tmp_path / "r")
    found = parts(
        run.exchanges, path_legs(run.manifest), run.connections.select("connection", "open_ns", "tls_cwnd_ns")
    )
    assert found["request"].to_list() == run.requests["request"].sort().to_list()
    both = found.join(run.requests, on="request", maintain_order="left")
    is_known = pl.sum_horizontal(pl.col(found.columns).exclude("request").is_null()) == 0
    assert both.select(is_known).to_series().equals(both["status"] == "done", check_names=False)
    total = both.filter(pl.col("status") == "done").select(
        parts=pl.sum_horizontal(pl.col(found.columns).exclude("request")), latency=pl.col("end_ns") - pl.col("start_ns")
    )
    assert total["parts"].to_list() == total["latency"].to_list()
    assert found.select(pl.min_horizontal(pl.all()).min()).item() >= 0
    if changes["run.until"] == "done":
        assert set(run.requests["status"]) == {"failed"}
        with pytest.raises(ResultsError, match="no request finished"):
            run.breakdown()
        return
    shown = run.breakdown()
    came = [run.exchanges.filter(pl.col("leg") == leg)["request"].n_unique() for leg in (0, 1)]
    assert [sum(each) for each in zip(shown.reached, shown.unfinished_reached, strict=True)] == came
    assert shown.requests == shown.reached[1] == run.summary().done > 0
    assert shown.unfinished_reached[0] > shown.unfinished_reached[1] > 0


def test_what_a_proxy_saves(runs: dict[str, Results]) -> None:
    shown = {name: run.breakdown() for name, run in runs.items()}
    # A SYN and its answer, of 40 B and some options each, over the satellite.
    assert shown["straight"].total_s("handshake") == pytest.approx(RTT_S, abs=1e-3)
    assert shown["split"].total_s("handshake", 0) == pytest.approx(RTT_S, abs=1e-3)
    assert shown["mux"].total_s("handshake") < 0.3 * RTT_S  # of the first request only
    assert shown["mux"].latency_s < shown["split"].latency_s
    for each in shown.values():
        assert sum(each.total_s(kind) for kind in KINDS) == pytest.approx(each.latency_s)
        assert each.total_s("travel") == pytest.approx(RTT_S / 2)


def test_connections_of_each_carrier(runs: dict[str, Results]) -> None:
    mux, servers = runs["mux"].summary().legs
    assert (mux.carrier, mux.open_max, mux.connections.opened if mux.connections else 0) == ("mux over 20", 20, 20)
    assert servers.connections is not None
    assert (servers.connections.opened, servers.connections.reused) == (8, 0)
    assert [memory.connection_bytes for memory in mux.memory] == [2 * 32767] * 2
    (persistent,) = runs["persistent"].summary().legs
    assert persistent.connections is not None
    assert persistent.connections.opened + (persistent.connections.reused or 0) == 8
    assert persistent.connections.opened < 8
    # A connection lies idle for 15 s before it is closed, if not while the run lasts.
    assert 15 < persistent.connections.idle_p50_s < 20


def test_metrics_of_legs_are_measured(runs: dict[str, Results]) -> None:
    found = measure(runs["mux"])
    assert found["leg_0_open_max"] == 20
    assert found["leg_1_requests_max"] == found["leg_1_busy_max"]
    straight = measure(runs["straight"])
    assert found["presented_bps"] == straight["presented_bps"]
    assert (straight["presented_bps"] or 0) > (straight["offered_bps"] or 0)
    assert "leg_1_open_max" not in straight


@pytest.mark.usefixtures("unpainted")
def test_figures_and_the_report(runs: dict[str, Results], farweb: Farweb, tmp_path: Path) -> None:
    for name in ("connections", "timeseq", "cwnd"):
        assert describe(name, [runs["mux"]]).panels
    figure = describe("timeseq", [runs["mux"]], request=3, leg=1)
    assert "(leg 1, http/1.0)" in f"{figure.title} {figure.caption} {[panel.title for panel in figure.panels]}"
    answer = farweb("report", *(run.path for run in runs.values()), "-o", tmp_path / "report.html")
    assert answer.code == 0, answer.err
    page = (tmp_path / "report.html").read_text()
    for shown in ("us-proxy is a proxy", "Where the time goes", "mux over 20", "Socket buffers that connections"):
        assert shown in page, shown
