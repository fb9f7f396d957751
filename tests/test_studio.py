"""The studio with a scenario inside: what stands in its file, and the command that writes and opens it."""

import base64
import gzip
import json
import re
import stat
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from farweb import _core, studio
from farweb.cli.demonstration import EXAMPLES
from farweb.errors import FarwebError
from farweb.inputs.prepared import Prepared
from farweb.library.scenario import Scenario
from samples import Farweb

PAGE = "<!doctype html>\n<html><title>farweb studio</title><body>\n<script>run()</script>\n</body>\n</html>\n"
CARRIED = re.compile(r'<script type="text/plain" id="carried">([A-Za-z0-9+/=]+)</script>')
LINK = """\
format = 1
[path]
nodes = ["clients", "servers"]
[[path.link]]
up = { rate = "1 Mbit/s", delay = "40 ms" }
down = { rate = "8 Mbit/s", delay = "40 ms" }
[[leg]]
from = "clients"
to = "servers"
carrier = { kind = "http/1.1" }
[workload]
requests = "rows.parquet"
"""


@pytest.fixture(autouse=True)
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A page that stands for the one that `make studio` builds."""
    file = tmp_path / "studio" / "dist" / "studio.html"
    file.parent.mkdir(parents=True)
    file.write_text(PAGE)
    monkeypatch.setattr(studio, "shipped", lambda name: tmp_path / name)
    return file


def carried(file: Path) -> dict[str, Any]:
    """Contents of a file; the page around it is as it was."""
    text = file.read_text("utf-8")
    (packed,) = CARRIED.findall(text)
    assert CARRIED.sub("", text).replace("</script>\n\n", "</script>\n") == PAGE
    found: dict[str, Any] = json.loads(gzip.decompress(base64.b64decode(packed)))
    return found


def rows_of(table: dict[str, str], folder: Path) -> list[dict[str, Any]]:
    """Rows of a carried table, as the core reads them."""
    file = folder / table["file"]
    file.write_bytes(gzip.decompress(base64.b64decode(table["bytes"])))
    return plain(_core.Prepared(str(file), file.name))


def plain(prepared: _core.Prepared) -> list[dict[str, Any]]:
    frames = [studio._frame(columns) for columns in prepared]
    return pl.concat(frames).to_dicts()


def table(folder: Path, **columns: list[Any]) -> Scenario:
    """A scenario whose requests are these."""
    pl.DataFrame(columns).write_parquet(folder / "rows.parquet")
    (folder / "link.toml").write_text(LINK)
    return Scenario.load(folder / "link.toml")


def test_a_file_carries_the_scenario_and_its_tables(tmp_path: Path) -> None:
    scenario = EXAMPLES / "satellite.toml"
    written = studio.write_studio(tmp_path / "s.html", Scenario.load(scenario))
    found = carried(written.file)
    assert written.requests == 8
    assert (found["name"], found["text"]) == ("satellite.toml", scenario.read_text("utf-8"))
    requests, hosts = found["tables"]
    assert requests["name"] == "page.csv"
    assert rows_of(requests, tmp_path) == plain(_core.Prepared(str(EXAMPLES / "page.csv"), "page.csv"))
    assert (hosts["name"], hosts["file"]) == ("hosts.tsv", "hosts.tsv")
    assert base64.b64decode(hosts["bytes"]) == (EXAMPLES / "hosts.tsv").read_bytes()
    assert stat.S_IMODE(written.file.stat().st_mode) == 0o600


def test_every_column_arrives_as_it_was(tmp_path: Path) -> None:
    scenario = table(
        tmp_path,
        start_s=[0.1, 0.2, 1e-9],
        host=["a,b", 'x"y', "ü"],
        request_bytes=[1, 2, 3],
        response_bytes=[10, 2**40, 30],
        server_s=[0.1 + 0.2, None, 0.5],
        wait_s=[0.1, None, None],
        client=[2**63 + 1, None, 7],
        object=[None, 3, 2**53 + 1],
        method=["GET", "POST", None],
        tls=[True, False, None],
    )
    found = carried(studio.write_studio(tmp_path / "s.html", scenario).file)
    (requests,) = found["tables"]
    assert requests["name"] == "rows.parquet"
    rows = rows_of(requests, tmp_path)
    with Prepared.of(scenario) as prepared:
        assert rows == plain(prepared.core)
    assert rows[0]["start_s"] == 1e-9
    assert [row["client"] for row in rows] == [7, 2**63 + 1, None]


def test_names_in_a_table_change_nothing_in_the_page(tmp_path: Path) -> None:
    names = ["</script><script>alert(1)</script>", "\u202ertl", "x" * 10_000, "<!--"]
    sizes = list(range(1, 5))
    scenario = table(tmp_path, start_s=[0.0] * 4, host=names, request_bytes=sizes, response_bytes=sizes)
    found = carried(studio.write_studio(tmp_path / "s.html", scenario).file)
    assert [row["host"] for row in rows_of(found["tables"][0], tmp_path)] == names


def test_a_table_beyond_the_limit_is_named_and_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(studio, "ROWS_MAX", 7)
    with pytest.raises(FarwebError, match=r"page\.csv: has 8 requests, and a tab takes 7; .* farweb run$"):
        studio.write_studio(tmp_path / "s.html", Scenario.load(EXAMPLES / "satellite.toml"))
    assert not (tmp_path / "s.html").exists()


def test_the_command_writes_beside_the_scenario_and_opens_it(
    farweb: Farweb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    (tmp_path / "link.toml").write_text(LINK.replace('requests = "rows.parquet"', 'family = "nzix"'))
    answer = farweb("studio", tmp_path / "link.toml")
    assert answer.code == 0, answer.err
    file = tmp_path / "link-studio.html"
    assert opened == [file.as_uri()]
    assert carried(file)["tables"] == []

    monkeypatch.chdir(tmp_path)
    answer = farweb("studio", "--no-open", "--json")
    assert json.loads(answer.out) == {"file": "studio.html", "requests": None, "bytes": len(PAGE)}
    assert (tmp_path / "studio.html").read_text() == PAGE
    assert len(opened) == 1


def test_what_cannot_be_written_is_said(farweb: Farweb, tmp_path: Path, page: Path) -> None:
    (tmp_path / "own.html").write_text("mine")
    answer = farweb("studio", "--no-open", "-o", tmp_path / "own.html")
    assert (answer.code, (tmp_path / "own.html").read_text()) == (2, "mine")
    (tmp_path / "bad.toml").write_text("format = 1")
    assert farweb("studio", tmp_path / "bad.toml", "--no-open").code == 2
    (tmp_path / "link.toml").write_text(LINK.replace('requests = "rows.parquet"', 'family = "nzix"'))
    answer = farweb("studio", tmp_path / "link.toml", "--no-open", "--force", "-o", tmp_path / "link.toml")
    assert "is the scenario itself or a table of it" in answer.err
    assert (tmp_path / "link.toml").read_text().startswith("format = 1")
    page.unlink()
    answer = farweb("studio", "--no-open", "-o", tmp_path / "s.html")
    assert answer.code == 2
    assert "is not built; in the source tree, make studio builds it" in answer.err
    assert sorted(file.name for file in tmp_path.glob("*.html")) == ["own.html"]
