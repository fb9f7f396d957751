"""Pages before and after a change: closed forms of bundles and shards, verdicts, screens, and results of two pages."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import farweb as front
from farweb._core import Loaded
from farweb.errors import FarwebError
from farweb.judge.verdicts import Word
from farweb.pages.answer import Cell, PageAnswer
from farweb.pages.change import Change, PageChange
from farweb.pages.paths import Way
from hars import H1, H2, entry, har, page_of, path, written
from samples import Farweb

RTT_MS = 600
PAGE = "https://a.example/"


def page(files: int, size: int = 1_000, host: str = "a.example") -> dict[str, Any]:
    """A document and files that it names at its end, on its host or on others in turn (`{}` has the number)."""
    by: dict[str, Any] = {"_initiator": PAGE, "_initiator_type": "parser"}
    urls = (f"https://{host.format(n % 4)}/{n}.png" for n in range(files))
    response = {"bodySize": size, "content": {"size": size, "mimeType": "image/png"}}
    return har(
        entry(PAGE), *(entry(url, 60, response=response, **by) for url in urls), creator="chrome-har", onload=120
    )


def answers(folder: Path, carrier: str, *contents: dict[str, Any]) -> list[PageAnswer]:
    way = Way("lab", "h1" if carrier == H1 else "h2", "own", path(RTT_MS, carrier, 1))
    return [PageAnswer.of(page_of(folder, content), [way]) for content in contents]


@pytest.mark.parametrize(
    ("carrier", "before", "after", "trips", "word"),
    [
        # 16 pictures over six connections take 3 + 5 round trips, one bundle of them 3 + 1.
        (H1, page(16, 200), page(1, 6_000), (3 + 5, 3 + 1), "better"),
        (H1, page(1, 6_000), page(16, 200), (3 + 1, 3 + 5), "worse"),
        # Four hosts have room for all at once, each behind handshakes of its own.
        (H1, page(16, 200), page(16, 200, "s{}.example"), (3 + 5, 3 + 3), "better"),
        (H2, page(4, 200), page(1, 1_500), (3 + 1, 3 + 1), "equivalent"),
        (H2, page(4, 200), page(4, 200, "s{}.example"), (3 + 1, 3 + 3), "worse"),
        (H1, page(7, 200), page(6, 200), (3 + 3, 3 + 3), "equivalent"),
    ],
    ids=["bundle h1", "unbundled h1", "shards h1", "bundle h2", "shards h2", "one file less"],
)
def test_bundles_and_shards_save_round_trips(
    tmp_path: Path, carrier: str, before: dict[str, Any], after: dict[str, Any], trips: tuple[int, int], word: Word
) -> None:
    found = PageChange.of(answers(tmp_path, carrier, before, after))
    (change,) = found.changes
    times = [change.before.load_s, change.after.load_s]
    assert times == pytest.approx([each * RTT_MS / 1000 for each in trips], abs=0.01)
    assert change.word == word
    assert [len(view.requests) for view in found.loads.views] == [len(p["log"]["entries"]) for p in (before, after)]


def cell(*readings_s: float) -> Cell:
    none = np.zeros(1, np.int64)
    low, high = min(readings_s), max(readings_s)
    way, loaded = Way("geo", "h2", "none", path(RTT_MS, H1, 0)), Loaded(none, none, none, 1)
    return Cell(way, readings_s[0], low, high, high, None, loaded, readings_s=readings_s)


@pytest.mark.parametrize(
    ("before", "after", "word"),
    [
        ((6, 5, 7), (6, 5, 7), "equivalent"),
        ((6, 5, 7), (6.1, 5, 7), "equivalent"),
        ((6, 5, 7), (3, 4, 4), "better"),
        ((6, 5, 7), (5.85, 4.8, 6.8), "slightly better"),
        ((6, 5, 7), (9, 8, 8), "worse"),
        ((6, 5, 7), (6.2, 5.2, 8), "slightly worse"),
        ((6, 5, 7), (3, 5, 7), "cannot be told apart"),  # one reading alone says so
        ((6, 5, 7), (3, 6, 7), "cannot be told apart"),
    ],
)
def test_a_verdict_is_that_of_all_readings(before: tuple[float, ...], after: tuple[float, ...], word: Word) -> None:
    assert Change(cell(*before), cell(*after), "after").word == word


def test_two_hars_are_compared_and_a_folder_is_not(folder: Path, farweb: Farweb) -> None:
    files = [written(folder, page(4, 200), "before.har").name, written(folder, page(1, 1_500), "after.har").name]
    ways = ("--path", "geo", "--path", "cable")
    shown = farweb("page", *files, *ways)
    assert " ".join(shown.out.split()).startswith("Over GEO with HTTP/2 after.har makes no difference: ")
    assert "It is better with HTTP/1.1." in " ".join(shown.out.split())
    assert max(map(len, shown.out.splitlines())) <= 80
    found = farweb("page", *files, *ways, "--json").json()
    assert [row["file"] for row in found["pages"]] == ["before.har"] * 4 + ["after.har"] * 4
    assert [(each["path"], each["protocol"], each["verdict"]) for each in found["compared"]] == [
        *(
            ("geo", "h1", "better"),
            ("geo", "h2", "equivalent"),
            ("cable", "h1", "better"),
            ("cable", "h2", "equivalent"),
        )
    ]
    assert [(each["requests"], each["response_bytes"]) for each in found["loads"]] == [(5, 3_300), (2, 3_100)]
    (folder / "both").mkdir()
    for name in files:
        (folder / name).rename(folder / "both" / name)
    alone = farweb("page", "both", *ways, "--proxy", "none", "--json").json()
    assert list(alone) == ["pages"] and len(alone["pages"]) == 8


def test_several_pages_are_compared_with_the_first(folder: Path, farweb: Farweb) -> None:
    files = [written(folder, page(n, 200), f"{n}.har").name for n in (16, 12, 1)]
    shown = farweb("page", *files, "--path", "cable", "--protocol", "h1")
    assert shown.out.startswith("Over sea cable with HTTP/1.1 1.har is the fastest of 3: ")
    worst = farweb("page", *files[::-1], "--path", "cable", "--protocol", "h1").out
    said = r"Over sea cable with HTTP/1.1 1.har is the fastest of 3: \d+ ms to onLoad, \d+ ms\s+in 12.har \("
    assert re.match(said, worst)
    found = farweb("page", *files, "--path", "cable", "--protocol", "h1", "--json").json()["compared"]
    assert [(each["after"], each["verdict"]) for each in found] == [("12.har", "better"), ("1.har", "better")]


def test_results_of_two_pages_are_compared_by_parts(folder: Path, farweb: Farweb) -> None:
    for name, files in (("before", 24), ("after", 1)):
        written(folder, page(files, 200))
        farweb("page", "page.har", "--path", "geo", "--protocol", "h1", "--proxy", "none", "-o", name)
    out = farweb("compare", "before", "after").out
    assert out.startswith("after is faster: ")
    rows = [line.split() for line in out.splitlines() if line.startswith(("in s", "before", "after  "))]
    assert rows[0][2:5] == ["requests", "bytes", "onLoad"]
    assert [row[:2] for row in rows[1:]] == [["before", "25"], ["after", "2"]]
    loads = farweb("compare", "before", "after", "--json").json()["loads"]
    assert all(sum(each["split_ns"].values()) == round(each["onload_s"] * 1e9) for each in loads)


def test_loads_whose_tls_differs_say_so(folder: Path, farweb: Farweb) -> None:
    """Handshakes are in the difference: of two HARs, of their results, and in the report of these."""
    secure = page(2, 200)
    clear = json.loads(json.dumps(secure).replace("https:", "http:"))
    mixed = json.loads(json.dumps(secure).replace("https://a.example/1", "http://a.example/1"))
    for name, content in (("clear", clear), ("secure", secure), ("mixed", mixed)):
        written(folder, content, f"{name}.har")
    way = ("--path", "cable", "--protocol", "h1", "--proxy", "none")
    for other, tls in (("clear", "no TLS"), ("mixed", "TLS 1.3 but for 1 request")):
        said = f"TLS differs: TLS 1.3 in secure.har and {tls} in {other}.har."
        hars = farweb("page", "secure.har", f"{other}.har", *way)
        assert said in " ".join(hars.out.split())
        for name in ("secure", other):
            farweb("page", f"{name}.har", *way, "-o", name, "--force")
        said = said.replace(".har", "")
        assert said in farweb("compare", "secure", other).out
        assert farweb("compare", "secure", other, "--json").json()["tls"] == said
        assert farweb("report", "secure", other, "-o", "both.html", "--force").code == 0
        assert said in (folder / "both.html").read_text()
    assert "TLS differs" not in farweb("compare", "secure", "secure").out


def test_in_python_a_page_is_a_function_and_its_answer_is_printed(folder: Path) -> None:
    before, after = (written(folder, page(*of), f"{n}.har") for n, of in enumerate([(16, 200), (1, 6_000)]))
    one, two = (front.page(each, path="cable", protocol="h1", proxy="none") for each in (before, after))
    assert str(one).startswith("Over sea cable the page takes ")
    assert one.cells[0].load_s > two.cells[0].load_s
    assert str(one.compare(two)).startswith("Over sea cable with HTTP/1.1 1.har is faster: ")
    assert str(one.breakdown()).startswith("Over sea cable with HTTP/1.1, ")
    front.page(before, path="cable", protocol="h1", proxy="none", out="results/before")
    assert front.open_results("results/before").manifest["seed"] == 1
    other = front.page(after, path="geo", protocol="h1", proxy="none")
    with pytest.raises(FarwebError, match="over the same paths"):
        one.compare(other)
    with pytest.raises(FarwebError, match="--out: found 2 loads"):
        front.page(before, path="cable", proxy="none", out="results/both")
