"""The published JSON Schema of scenarios, by a validator that shares nothing with the core.

The schema judges keys, types and words; how a quantity is written, and rules between keys, are the core's to judge.
"""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from farweb import Scenario, _core
from samples import SCENARIO, Farweb

ROOT = Path(__file__).parent.parent
EXAMPLES = sorted((ROOT / "examples").glob("*.toml"))


@pytest.fixture(scope="module")
def validator() -> Draft202012Validator:
    return Draft202012Validator(json.loads(_core.scenario_schema()))


def problems(validator: Draft202012Validator, scenario: Any) -> list[str]:
    return [f"{error.json_path}: {error.message}" for error in validator.iter_errors(scenario)]


def test_the_schema_is_one_and_the_command_prints_it(validator: Draft202012Validator, farweb: Farweb) -> None:
    schema = farweb("schema", "scenario").json()
    assert schema == validator.schema
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    Draft202012Validator.check_schema(schema)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_the_examples_and_what_they_mean_are_valid(validator: Draft202012Validator, example: Path) -> None:
    assert problems(validator, tomllib.loads(example.read_text("utf-8"))) == []
    assert problems(validator, Scenario.load(example).effective) == []


def test_the_documented_scenario_is_valid(validator: Draft202012Validator) -> None:
    blocks = re.findall(r"^```toml\n(.*?)^```$", (ROOT / "docs/scenario.md").read_text("utf-8"), re.M | re.S)
    assert problems(validator, tomllib.loads(blocks[0])) == []


def test_tls_is_a_table_or_none(validator: Draft202012Validator) -> None:
    for tls in ('"none"', '{ version = "1.2" }'):
        text = SCENARIO.replace("[origin]", f"tls = {tls}\n[origin]")
        assert problems(validator, tomllib.loads(text)) == []
        effective = json.loads(_core.Scenario.parse(text, "tls.toml", {}).effective())
        assert ("tls" in effective["leg"][0]) is (tls != '"none"')
    override = _core.Scenario.parse(text, "tls.toml", {"leg.0.tls": "none"})
    assert "tls" not in json.loads(override.effective())["leg"][0]


def test_a_preset_gives_what_a_link_without_one_has_to_say(validator: Draft202012Validator) -> None:
    head, link = 'path = { nodes = ["a", "b"], link = [{ ', 'up = { queue = "9 kB" } }] }\n'
    rest = (
        'format = 1\nleg = [{ from = "a", to = "b", carrier = { kind = "http/1.1" } }]\nworkload.requests = "r.csv"\n'
    )
    alone, bare = (head + with_it + link + rest for with_it in ('preset = "starlink", ', ""))
    assert problems(validator, tomllib.loads(alone)) == []
    assert "'down' is a required property" in "".join(problems(validator, tomllib.loads(bare)))
    assert "'rate' is a required property" in "".join(problems(validator, tomllib.loads(bare)))


@pytest.mark.parametrize(
    ("key", "good", "bad"),
    [
        ("rate", '"34.368 Mbit/s"', "34"),
        ("queue", 'queue = "256000 B"', 'queu = "256000 B"'),
        ("carrier", '"http/1.0"', '"gopher"'),
        ("nodes", 'nodes = ["client", "server"]', ""),
        ("nodes", '["client", "server"]', '"client"'),
        ("release", '"at-once"', '"later"'),
        ("format", "format = 1", 'format = "1"'),
        ("tls", "[origin]", 'tls = "off"\n[origin]'),
    ],
)
def test_what_the_core_refuses_is_not_valid(validator: Draft202012Validator, key: str, good: str, bad: str) -> None:
    text = SCENARIO.replace(good, bad)
    assert text != SCENARIO
    with pytest.raises(_core.ScenarioError, match=key):
        _core.Scenario.parse(text, "broken.toml", {})
    assert problems(validator, tomllib.loads(text))
