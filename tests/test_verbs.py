"""Verbs: options from signatures of the library, read from its source, and the words of a command read by them."""

import importlib
import inspect
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from farweb.cli import VERBS, load
from farweb.cli.completion import install
from farweb.cli.signature import in_memory, in_source
from farweb.cli.verbs import Call, UsageError, verb
from farweb.errors import FarwebError
from samples import Farweb

QUESTIONS = sorted({path for name in VERBS for path in load(name).questions})


@pytest.mark.parametrize("path", QUESTIONS)
def test_the_source_says_what_the_signature_says(path: str) -> None:
    module, _, names = path.partition(":")
    function: Any = importlib.import_module(f"farweb.{module}")
    for name in names.split("."):
        function = getattr(function, name)
    named = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
    there = [each for each in in_memory(function)[0] if each.kind in named]
    read, words = in_source(path)
    assert [each.name for each in read] == [each.name for each in there]
    for ours, theirs in zip(read, there, strict=True):
        assert (ours.default is ours.empty) == (theirs.default is theirs.empty), ours.name
        assert ours.default in (None, theirs.default) or ours.default is ours.empty, ours.name
    assert set(words) <= {*inspect.signature(function).parameters}


@pytest.mark.parametrize("name", VERBS)
def test_each_option_has_words_of_its_own(name: str) -> None:
    options = load(name).options
    assert all(each.meaning for each in options)
    spelled = [option for each in options for option in each.names]
    assert len(set(spelled)) == len(spelled)


def heard(*words: str) -> dict[str, Any]:
    """Arguments that a verb takes from some words."""
    found: dict[str, Any] = {}

    @verb("cache.curve:cache_curve", policies="--policy POLICY", capacities="")
    def tried(call: Call, requests: Sequence[Path], *, out: Path | None = None, level: int = 1, by: str = "") -> None:
        found.update(call.given, files=[*map(str, requests)], out=out and str(out), level=level, by=by)
        found.update(force=call.force, quiet=call.is_quiet)

    tried.run("farweb tried", words)
    return {
        name: value
        for name, value in found.items()
        if value not in (None, "") and (value is True or value not in (False, 1))
    }


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("a", {}),
        ("a -o b --force", {"out": "b", "force": True}),
        ("-ob a", {"out": "b"}),
        ("-qob a", {"out": "b", "quiet": True}),
        ("-qo b a", {"out": "b", "quiet": True}),
        ("--out=-b a", {"out": "-b"}),
        ("a --by -5..5 --level -2", {"by": "-5..5", "level": -2}),
        ("a --by --quiet", {"by": "--quiet"}),
        ("--by x --by y a", {"by": "y"}),
        ("a --policy lru --policy arc", {"policies": ["lru", "arc"]}),
        ("a --field url=b --field url=c --field start=t=1", {"fields": {"url": "b,c", "start": "t=1"}}),
        ("a --no-dynamic --seed 1_000", {"dynamic": None, "seed": 1000}),
        ("a b --force c", {"files": ["a", "b", "c"], "force": True}),
        ("--force -- a --quiet -o", {"files": ["a", "--quiet", "-o"], "force": True}),
        ("- -q", {"files": ["-"], "quiet": True}),
    ],
)
def test_words_are_read(words: str, found: Mapping[str, Any]) -> None:
    expected = {name: value for name, value in {"files": ["a"], **found}.items() if value is not None}
    assert heard(*words.split()) == expected


def test_a_flag_that_is_not_typed_is_not_passed_on() -> None:
    assert "dynamic" not in heard("a")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("", "Missing argument 'REQUESTS'."),
        ("a --polcy lru", "No such option: --polcy. Did you mean --policy?"),
        ("--polcy lru", "No such option: --polcy. Did you mean --policy?"),
        ("a --zzz=1", "No such option: --zzz"),
        ("a -x", "No such option: -x"),
        ("a --level many", "--level: found many; write a whole number"),
        ("a --max-unreadable nan", "--max-unreadable: found nan; write a number"),
        ("a --field url", "--field: found url; write NAME=KEY,…"),
        ("a --out", "Option '--out' requires an argument."),
    ],
)
def test_wrong_words_are_named(words: str, said: str) -> None:
    with pytest.raises(UsageError) as refused:
        heard(*words.split())
    assert str(refused.value) == f"{said} (see farweb tried --help)"


@pytest.mark.parametrize(
    "words",
    [
        "workload generate prowgen --seed -1 -o g",
        "workload generate nzix --days 0 -o g",
        "workload cache requests.csv --max-unreadable 2",
        "workload fit requests.csv --tail-from 0",
        "workload import access.log --request-bytes 0",
        "workload import access.log --rtt-ms -1",
        "size cable.toml --vary workload.load=1..2 --target 'drops<=0' --confidence 1",
        "workload probe --connect hosts.txt --port 0",
        "check cable.toml --set run.seed=-1",
    ],
)
def test_numbers_have_their_range_in_the_library(farweb: Farweb, cable: Path, words: str) -> None:
    Path("hosts.txt").write_text("127.0.0.1\n")
    Path("access.log").write_text("")
    answer = farweb(*words.replace("'", "").split())
    assert answer.code == 2
    assert "bug" not in answer.err and any(char.isdigit() for char in answer.err)


def test_completion(monkeypatch: pytest.MonkeyPatch, farweb: Farweb, folder: Path) -> None:
    monkeypatch.setenv("_FARWEB_COMPLETE", "complete_bash")
    for line, offered in (
        ("farweb\npl", ["plot"]),
        ("farweb\nworkload\ni", ["import"]),
        ("farweb\nplot\ncd", ["cdf"]),
        ("farweb\nreport\nr\n--plot\ncw", ["cwnd"]),
        ("farweb size a --va", ["--vary"]),
    ):
        monkeypatch.setenv("COMP_WORDS", line)
        assert farweb().out.split() == offered, line
    monkeypatch.delenv("_FARWEB_COMPLETE")
    monkeypatch.setenv("HOME", str(folder))
    (folder / ".bashrc").write_text("mine\n")
    assert install("bash") == install("bash")
    assert (folder / ".bashrc").read_text().splitlines()[::2] == ["mine", f"source '{install('bash')}'"]
    with pytest.raises(FarwebError, match="no completion for csh; name one of bash, zsh"):
        install("csh")
