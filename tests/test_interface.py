"""The interface that stays: keys of `--json`, of manifests, and columns of tables, which are only added to."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from captures import handshake, pcap
from farweb.files.columns import results_tables
from hars import entry, har
from samples import LOG, SCENARIO, Farweb

pytestmark = pytest.mark.usefixtures("warm_workers")

SUMMARY = {"failed_share": 0, "latency": dict.fromkeys(("p50_s", "p90_s", "p99_s", "mean_s"), 0), "requests": 0}
RUNS = dict.fromkeys(("planned", "done", "failed", "missing"), 0)
JUDGED = dict.fromkeys(("overall", "by_quantity", "quantities", "margin", "interval_of", "scope", "sentence"), 0)
POINT = dict.fromkeys(("label", "value", "number", "n", "verdict", "word", "estimates"), 0)
CACHED = dict.fromkeys(("policy", "capacity_bytes", "requests", "hits", "hit_ratio", "byte_hit_ratio"), 0)
PAGE = dict.fromkeys(
    ("page", "path", "protocol", "proxy", "onload_s", "low_s", "high_s", "fully_s", "recorded_onload_s"), 0
)
COMPARED = dict.fromkeys(
    ("after", "path", "protocol", "proxy", "before_s", "after_s", "change", "low", "high", "verdict"), 0
)
COLUMN = {"name": 0, "columns": [dict.fromkeys(("name", "type", "unit", "nullable", "description"), 0)]}
CHANGE = dict.fromkeys(("change", "first_s", "later_s", "low_s", "high_s", "helped_share", "verdict"), 0)

VERBS = {
    "new link.toml --log access.log": {},
    "schema scenario": {"$schema": 0},
    "schema results": {"tables": [COLUMN]},
    "schema requests": {"tables": [COLUMN]},
    "check cable.toml": {"answer": 0, "check": {"warnings": 0, "text": 0, "links": 0, "legs": 0}, "scenario": 0},
    "run cable.toml -o a": {"results": 0, "answer": 0, "summary": SUMMARY, "warnings": 0},
    "run cable.toml -o b --seed 2": {"summary": SUMMARY},
    "run cable.toml -o packets --set record.packets=all": {"results": 0},
    "sql a select(1)": {"rows": 0},
    "export pcapng packets": {"file": 0, "packets": 0, "points": 0, "connection": 0},
    "export xpl packets": {"file": 0, "points": 0, "connection": 0},
    "show a": {"results": 0, "answer": 0, "summary": SUMMARY},
    "sweep swept.toml -o s": {"results": 0, "runs": 0, "failed": 0, "summary": {"runs": RUNS, "complete": 0}},
    "show s": {"results": 0, "sweep": {"runs": RUNS, "estimates": 0, "differences": 0, "effects": 0, "ranking": 0}},
    "compare a b": {"results": 0, "base": 0, "changes": [{"verdict": 0, "judgement": JUDGED}], "pairs": [JUDGED]},
    "size cable.toml --vary workload.load=1..2 --target drops<=0 -o z": {"answer": POINT, "curve": [POINT], "text": 0},
    "plot cdf a -o a.png": {"figure": 0, "file": 0},
    "report a -o a.html": {"report": 0, "title": 0, "bytes": 0, "judged": 0},
    "verify a": {"path": 0, "folders": 0, "damages": 0, "whole": 0},
    "workload import access.log -o t.parquet": {"out": 0, "requests": 0, "lines": 0, "dropped": 0, "log": 0},
    "workload cache access.log --policy lru --capacity 10kB": {"results": [CACHED]},
    "workload merge requests.csv requests.csv -o m.parquet": {"requests": 0, "tables": 0},
    "workload probe c.pcap": {},
    "workload stats requests.csv": {"requests": 0, "clients": 0, "caching": 0},
    "page page.har --scenario cable.toml -o page": {"pages": 0},
    "export har page": {"file": 0, "entries": 0},
    "page page.har --path geo --protocol h2 --proxy none": {"pages": [PAGE]},
    "page page.har page.har --path cable": {"pages": [PAGE], "text": 0, "loads": 0, "compared": [COMPARED]},
    "what-if page.har --path cable": {"changes": [CHANGE], "together": 0, "text": 0, "as_it_is": 0},
    "what-if cable.toml -o w": {"changes": [CHANGE], "together": 0},
}  # fmt: skip
FILES = {
    "a/manifest.json": ("scenario", "seed", "version", "wall_s", "cpu_s", "events", "packet_hops"),
    "s/manifest.json": ("scenario", "version"),
}
COLUMNS = {
    "requests": "request host source tag start_ns connect_ns first_byte_ns end_ns acked_ns request_bytes "
    "response_bytes connection retransmits timeouts status failure failed_ns served_by",
    "caches": "node time_ns requests hits delayed_hits hit_bytes request_bytes objects bytes",
    "connections": "connection leg open_ns close_ns bytes_up bytes_down segments_up segments_down retransmits "
    "timeouts requests",
    "links": "link direction time_ns bytes packets drops queue_bytes_mean queue_bytes_max busy",
}


def lacking(found: Any, wanted: Any, at: str = "") -> list[str]:
    """Keys that are not there; of a list each entry has to have them, and one there has to be."""
    if isinstance(wanted, list):
        return [f"{at}[]"] if not found else [each for entry in found for each in lacking(entry, wanted[0], f"{at}[]")]
    if not isinstance(wanted, Mapping):
        return []
    missing = [f"{at}.{key}" for key in wanted if not isinstance(found, Mapping) or key not in found]
    return missing or [each for key in wanted for each in lacking(found[key], wanted[key], f"{at}.{key}")]


def test_verbs_print_json_with_every_key_of_the_interface_and_nothing_else(
    farweb: Farweb, cable: Path, folder: Path
) -> None:
    (folder / "swept.toml").write_text(
        SCENARIO + '[sweep]\nreplications = 2\n[sweep.factors]\n"workload.load" = [1, 2]\n'
    )
    (folder / "access.log").write_text(LOG)
    (folder / "page.har").write_text(json.dumps(har(entry())))
    (folder / "c.pcap").write_bytes(pcap(handshake("198.51.100.1")))
    for words, wanted in VERBS.items():
        answer = farweb(*words.split(), "--json")
        assert (answer.code, answer.err) == (0, ""), words
        # NaN and Infinity are Python's idea of JSON alone.
        assert lacking(json.loads(answer.out, parse_constant=pytest.fail), wanted) == [], words
    for name, keys in FILES.items():
        assert lacking(json.loads((folder / name).read_text()), dict.fromkeys(keys)) == [], name


def test_no_column_of_the_interface_is_gone() -> None:
    tables = {table["name"]: {column["name"] for column in table["columns"]} for table in results_tables().values()}
    gone = {name: set(columns.split()) - tables[name] for name, columns in COLUMNS.items()}
    assert gone == {name: set() for name in COLUMNS}
