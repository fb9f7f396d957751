"""The study of W3C MUX: its reading of a dump, and its campaign end to end."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from farweb.reproduce.study import PAPERS, Study, StudyResults, read_study
from samples import Farweb

MUX: Study = read_study(PAPERS / "mux")
packets: Any = MUX.module("packets")


def _columns(**values: list[int]) -> dict[str, Any]:
    return {name: np.array(value) for name, value in values.items()}


def test_what_is_in_flight_is_sent_and_not_acknowledged() -> None:
    down = _columns(
        time_ns=[0, 10, 20, 30, 60, 61],
        seq=[0, 1, 1461, 2921, 4381, 4469],
        payload_bytes=[0, 1460, 1460, 1460, 88, 1460],
    )
    up = _columns(
        time_ns=[5, 40, 61, 80],
        seq=[1, 1, 1, 9],
        payload_bytes=[0, 8, 0, 8],
        ack=[1, 2921, 4381, 5929],
        edge=[8761, 8761, 11681, 14601],
    )
    dump = packets.Dump(down, up, (8, 7), 5, 5_000_000_005)
    times, flying = dump.in_flight()
    assert (list(times), list(flying)) == ([10, 20, 30, 60, 61], [1, 2, 3, 2, 2])
    assert (dump.sent_down, dump.sent_up, dump.grants, dump.runts, dump.taken_s) == (8, 7, 2, 1, 5.0)


@pytest.mark.slow(reason="study")
@pytest.mark.timeout(400)  # some thirty seconds on two idle cores
def test_a_coarse_look_end_to_end(folder: Path, farweb: Farweb) -> None:
    answer = farweb("reproduce", "mux", "--quick", "--jobs", "2", "--json")
    assert answer.code == 4, answer.err  # M4 is not met, and says why
    claims = {claim["id"]: claim for claim in answer.json()["claims"]}
    assert list(claims) == ["M1", "M2", "M2u", *(f"M{number}" for number in range(3, 9))]
    failing = {name for name, claim in claims.items() if claim["verdict"] == "fail"}
    assert failing == {"M4", "M6", "M7", "M8"}
    assert all(claims[name]["why"] for name in failing)
    out = folder / "results" / "reproduce-quick"
    assert {path.stem.removeprefix("mux-") for path in (out / "figures").iterdir()} == set(MUX.figures)

    results = StudyResults(MUX, out / "mux", quick=True)
    plain, large, small = (packets.of_experiment(results, experiment) for experiment in packets.EXPERIMENTS)
    # All arrives: the response, and with MUX 4 bytes for each fragment, its padding and FIN.
    response = packets.DOCUMENT + 250
    assert plain.down["payload_bytes"].sum() == response
    for dump in (large, small):
        framing = dump.down["payload_bytes"].sum() - response
        assert framing >= 4 * -(-response // 512) and framing % 4 == 2  # the head is padded by 2
    # What the credits and the write buffer have to make of it, whatever the hosts are.
    assert large.in_flight()[1].max() <= 3 < plain.most_in_flight()
    assert plain.sent_up < large.sent_up < small.sent_up
    # A FIN and its ACK come behind the segments that are looked at.
    assert [dump.sent_down - len(dump.down["seq"]) for dump in (plain, large, small)] == [2] * 3
    assert packets.meeting_all(results) == 3, "of the quick look's combinations"
    assert plain.grants == 0 < large.grants < small.grants
    assert 88 in small.down["payload_bytes"] and 512 in small.down["payload_bytes"]
