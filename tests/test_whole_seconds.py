"""Requests of one whole second are spread over it, wherever its lines stand."""

from collections.abc import Sequence
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from farweb.inputs import importer
from farweb.inputs.importer import import_log

LINE = '192.0.2.1 - - [25/Oct/2015:04:11:{:02} +0100] "GET /{} HTTP/1.1" 200 {}\n'


def starts(*logs: Sequence[int], **options: object) -> list[tuple[float, int]]:
    """Starts of a table from logs with lines of these seconds, each with the number of its line."""
    number = 0
    for place, seconds in enumerate(logs):
        text = ""
        for second in seconds:
            number += 1
            text += LINE.format(second, number, number)
        Path(f"{place}.log").write_text(text)
    import_log([f"{place}.log" for place in range(len(logs))], "r.parquet", **options)  # type: ignore[arg-type]
    table = pq.read_table("r.parquet")
    assert set(table.schema.names).isdisjoint({"second", "before_s"})
    numbers = [size - 250 for size in table["response_bytes"].to_pylist()]
    return list(zip([round(start, 3) for start in table["start_s"].to_pylist()], numbers, strict=True))


APART = [(0.0, 1), (0.25, 3), (0.5, 5), (0.75, 6), (1.0, 2), (1.5, 4)]


@pytest.mark.parametrize(
    ("logs", "options", "expected"),
    [
        pytest.param([[0, 0, 1]], {}, [(0.0, 1), (0.5, 2), (1.0, 3)], id="side by side"),
        pytest.param([[0, 1, 0, 1, 0, 0]], {}, APART, id="apart"),
        pytest.param([[0, 0], [0, 1]], {}, [(0.0, 1), (0.333, 2), (0.667, 3), (1.0, 4)], id="a log rotated within it"),
        pytest.param([[0, 1], [0, 1]], {}, [(0.0, 1), (0.5, 3), (1.0, 2), (1.5, 4)], id="logs of two servers"),
        pytest.param([[0, 1, 0, 1, 0, 0]], {"busiest_s": 1}, APART[:4], id="busiest"),
        pytest.param([[0, 1, 0, 1]], {"from_": "2015-10-25T04:11:01"}, [(0.0, 2), (0.5, 4)], id="from"),
        pytest.param([[0, 1, 0, 1]], {"to": "2015-10-25T04:11:01"}, [(0.0, 1), (0.5, 3)], id="to"),
    ],
)
def test_a_second_is_spread_over_all_of_its_lines(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    logs: list[list[int]],
    options: dict[str, object],
    expected: list[tuple[float, int]],
) -> None:
    assert starts(*logs, **options) == expected
    monkeypatch.setattr(importer, "_ROWS", 1)
    assert starts(*logs, **options) == expected, "in batches of a row"


def test_a_request_starts_its_elapsed_time_before_its_place_in_the_second(folder: Path) -> None:
    line = '192.0.2.1 - - [25/Oct/2015:04:11:{:02} +0100] "GET /a HTTP/1.1" 200 {} 2.000\n'
    Path("a.log").write_text("".join(line.format(second, size) for second, size in ((5, 1), (6, 2), (5, 3))))
    form = '$remote_addr - - [$time_local] "$request" $status $bytes_sent $request_time'
    report = import_log("a.log", "r.parquet", log_format=form)
    table = pq.read_table("r.parquet")
    assert (table["start_s"].to_pylist(), table["response_bytes"].to_pylist()) == ([0, 0.5, 1], [1, 3, 2])
    assert (report.span_s, report.counts["origin_unix_s"]) == (1, 1_445_742_663)
