"""Tables that `workload import` makes of HARs."""

import os
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from hars import PAGE, at, entry, har, written
from samples import Farweb


def about(number: float) -> Any:
    """A number up to what floats lose, where a value of ours has one."""
    return pytest.approx(number)


# --- the import ---


def test_import_writes_pages_views_and_hosts(folder: Path, farweb: Farweb) -> None:
    document = entry(PAGE, timings={"wait": 50, "receive": 100})
    css = entry("https://cdn.example/x.css", 75, _initiator=PAGE, _initiator_type="parser")
    late = entry("https://a.example/x.png", 300, _initiator=PAGE, _initiator_type="parser")
    written(folder, har(document, css, late, entry("data:x"), creator="chrome-har", onload=200), "shop.har")
    written(folder, har(entry(), onload=80), "blog.har")
    described = farweb("workload", "stats", "blog.har", "--json").json()["pages"]
    assert described[0]["recorded_onload_s"] == 0.08 and sorted(os.listdir()) == ["blog.har", "shop.har"]
    answer = farweb("workload", "import", "shop.har", "blog.har", "-o", "both", "--json").json()
    assert [page["page"] for page in answer["pages"]] == ["shop", "blog"]
    assert answer["pages"][0]["dropped"] == {"no http (data)": 1}
    assert [host["confidence"] for host in answer["pages"][0]["hosts"]] == [0.95, 0.9]
    rows = pq.read_table(folder / "both-pages.parquet").to_pylist()
    assert [row["parents"] for row in rows] == ["", "0@325", "0@end", ""]
    assert rows[0]["tail_s"] == pytest.approx(0.05)
    views = pq.read_table(folder / "both-views.parquet").to_pylist()
    assert [(view["client"], view["page"], view["host"]) for view in views] == [
        (0, "shop", "a.example"),
        (1, "blog", "a.example"),
    ]
    assert "cdn.example" in (folder / "both-hosts.tsv").read_text()


def test_a_view_begins_with_its_page(folder: Path, farweb: Farweb) -> None:
    """A page that began with its redirect, 420 ms before its own start, and another one 5 s behind that start."""
    written(folder, har(entry("https://a.example/old", -420), entry(PAGE, 10), onload=200), "first.har")
    second = har(entry(PAGE, 5_000), onload=200)
    second["log"]["pages"][0]["startedDateTime"] = at(5_000)
    written(folder, second, "second.har")
    farweb("workload", "import", "second.har", "first.har", "-o", "both")
    views = pq.read_table(folder / "both-views.parquet").to_pylist()
    assert [(view["page"], view["start_s"]) for view in views] == [("first", 0), ("second", about(5.42))]


def test_a_page_without_requests_stands_in_no_others_way(folder: Path, farweb: Farweb) -> None:
    both = har(entry(), onload=80)
    cached = entry("https://a.example/x.css", 50, _fromCache="disk", pageref="q")
    both["log"] = {
        **both["log"],
        "entries": [*both["log"]["entries"], cached],
        "pages": [*both["log"]["pages"], {"id": "q"}],
    }
    written(folder, both)
    says = "page.har: page 'q': no request is left: 1 cache"
    assert farweb("page", "page.har", "--path", "leo", "--protocol", "h2").code == 0
    assert farweb("page", "page.har", "--page", "2").err == f"farweb: {says}\n"
    assert farweb("workload", "stats", "page.har", "--json").json()["refused"] == [f"{says}."]
    assert f"{says}." in farweb("workload", "import", "page.har", "-o", "one").out


def test_import_takes_a_folder(folder: Path, farweb: Farweb) -> None:
    (folder / "hars").mkdir()
    for name in ("a.har", "b.har"):
        written(folder / "hars", har(entry()), name)
    assert len(farweb("workload", "import", "hars", "-o", "all", "--json").json()["pages"]) == 2


def test_names_from_a_har_command_no_terminal(folder: Path, farweb: Farweb) -> None:
    written(folder, har(entry("https://a\x1b7.example/"), creator="\x1b]0;x\x07"), "odd.har")
    answer = farweb("workload", "import", "odd.har")
    assert answer.code == 0
    assert "\x1b" not in answer.out
