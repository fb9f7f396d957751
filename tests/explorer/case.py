"""A case: a scenario and its tables as data, and as the files that farweb reads."""

import csv
import io
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SCENARIO = "scenario.toml"
REQUESTS = "requests.csv"
HOSTS = "hosts.csv"

Row = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """A scenario with the rows of its tables.

    Attributes:
        scenario: Tables and keys, as `tomllib` reads them.
        requests: Rows of the request table; an empty field is None.
        hosts: Rows of the host table; none where the scenario names no such table.
        files: Text of the files that its links name, by their names.
    """

    scenario: dict[str, Any]
    requests: list[Row]
    hosts: list[Row] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)

    def write(self, folder: Path) -> Path:
        """Write the files of the case, and return the scenario's."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / REQUESTS).write_text(self.requests_csv(), "utf-8")
        if self.hosts:
            (folder / HOSTS).write_text(_csv(self.hosts), "utf-8")
        for name, text in self.files.items():
            (folder / name).write_text(text, "utf-8")
        scenario = folder / SCENARIO
        scenario.write_text(self.toml(), "utf-8")
        return scenario

    def toml(self) -> str:
        """The scenario as a person would write it: a line a key."""
        lines = []
        for name, value in self.scenario.items():
            if isinstance(value, dict):
                links = value.get("link", []) if name == "path" else []
                lines += ["", f"[{name}]", *_keys({key: of for key, of in value.items() if key != "link"})]
                for link in links:
                    lines += ["", "[[path.link]]", *_keys(link)]
            elif isinstance(value, list):
                for table in value:
                    lines += ["", f"[[{name}]]", *_keys(table)]
            else:
                lines.append(f"{name} = {_value(value)}")
        return "\n".join(lines) + "\n"

    def requests_csv(self) -> str:
        """The request table, without columns that are empty in all rows."""
        return _csv(self.requests)

    def __str__(self) -> str:
        hosts = f"\n# {HOSTS}\n{_csv(self.hosts)}" if self.hosts else ""
        files = "".join(f"\n# {name}\n{text}" for name, text in self.files.items())
        return f"# {SCENARIO}\n{self.toml()}\n# {REQUESTS}\n{self.requests_csv()}{hosts}{files}"


def _keys(table: dict[str, Any]) -> list[str]:
    return [f"{key} = {_value(value)}" for key, value in table.items()]


def _value(value: Any) -> str:
    match value:
        case dict():
            return "{ " + ", ".join(_keys(value)) + " }" if value else "{}"
        case list():
            return "[" + ", ".join(map(_value, value)) + "]"
        case str() | bool():
            return json.dumps(value, ensure_ascii=False)
        case _:
            return repr(value)


def _csv(rows: list[Row]) -> str:
    needed = {"start_s", "host", "request_bytes", "response_bytes"}
    columns = [name for name in rows[0] if name in needed or any(row[name] is not None for row in rows)]
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(columns)
    for row in rows:
        table.writerow("" if row[name] is None else row[name] for name in columns)
    return text.getvalue()
