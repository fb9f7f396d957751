"""The command line as a tool: help, spelling of options, files replaced, and output on a terminal."""

import io
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.console import Console

from farweb.cli import VERBS, load
from farweb.cli.output import Output
from farweb.files.made import is_made
from farweb.library.run_results import Results
from farweb.results.integrity import unsealed
from farweb.text.quantities import plain, relative, share
from farweb.text.sheet import Screen, Sheet, to_lines
from farweb.text.words import command, elided, folded, shortened, shortened_head
from samples import LOG, SCENARIO, Farweb

FARWEB = (sys.executable, "-W", "ignore::RuntimeWarning", "-m", "farweb")


def verbs() -> dict[str, list[str]]:
    """The options of each verb."""
    return {verb: [option for each in load(verb).options for option in each.names] for verb in VERBS}


def test_options_are_spelled_alike_in_all_verbs() -> None:
    pairs = (("--out", "-o"), ("--metric", "-m"), ("--jobs", "-j"), ("--quiet", "-q"))
    for verb, options in verbs().items():
        assert {"--json", "--quiet", "--debug"} <= set(options), verb
        for long, short in pairs:
            assert (long in options) == (short in options), f"{verb}: {long} {short}"
        # A sweep and a search go on in their folder, as does a reproduction; a demonstration replaces none but its own.
        if "--out" in options and verb not in ("sweep", "size", "what-if", "reproduce", "demo"):
            assert "--force" in options, verb


@pytest.mark.parametrize("words", [(), ("workload",), ("export",), ("schema",)])
def test_a_group_alone_shows_its_verbs(farweb: Farweb, words: tuple[str, ...]) -> None:
    alone = farweb(*words)
    assert alone.code == 0
    lines = alone.out.splitlines()
    assert lines[0].startswith("farweb") and len(lines) <= 15 and all(len(line) <= 80 for line in lines)
    assert not set("│─") & set(alone.out)
    assert alone.out == farweb(*words, "-h").out == farweb(*words, "--help").out


@pytest.mark.parametrize(
    ("arguments", "verb"),
    [("run", "farweb run"), ("workload import --frmat x", "farweb workload import"), ("runn", "farweb")],
)
def test_a_mistake_leads_to_the_help_of_its_verb(farweb: Farweb, arguments: str, verb: str) -> None:
    answer = farweb(*arguments.split())
    assert answer.code == 2
    assert len(answer.err.splitlines()) == 1
    assert f"(see {verb} --help)" in answer.err


def test_help_is_a_screen_and_the_rest_is_behind_help_all(farweb: Farweb) -> None:
    assert len(farweb("--help").out.splitlines()) <= 15
    for verb in verbs():
        brief, whole = farweb(*verb.split(), "--help"), farweb(*verb.split(), "--help-all")
        lines = brief.out.splitlines()
        assert lines[0].startswith(f"farweb {verb} ") and lines[0].endswith("[options]")
        assert len(lines) <= 24 and all(len(line) <= 80 for line in lines), verb
        assert "--debug" in brief.out and "--help-all" in brief.out and "RANGE" not in brief.out
        assert "Usage: " in whole.out


def test_completion_is_offered(folder: Path) -> None:
    # Under a shell of its own: which one it is for is seen from the processes above, and tests may run without any.
    command = f"{shlex.join([*FARWEB, '--show-completion', 'bash'])}; exit $?"
    shown = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert "_FARWEB_COMPLETE" in shown.stdout


def test_what_farweb_drew_is_drawn_again_and_nothing_else_is_replaced(farweb: Farweb, cable: Path) -> None:
    farweb("run", cable, "-o", "r")
    Path("thesis.png").write_bytes(b"\x89PNG of mine")
    Path("access.log").write_text(LOG)
    Path("kept.parquet").write_text("a table of mine")
    for arguments in (
        "plot cdf r -o thesis.png",
        "report r -o kept.parquet",
        "sql r SELECT -o kept.parquet",
        "workload import access.log --format squid -o kept.parquet",
        "workload merge requests.csv -o kept.parquet",
        "workload stats requests.csv -o thesis.png",
        "workload cache requests.csv -o kept.parquet",
        "workload fit requests.csv -o thesis.png",
    ):
        before = {path: path.read_bytes() for path in Path().iterdir() if path.is_file()}
        answer = farweb(*arguments.split())
        assert answer.code == 2, arguments
        assert "--force replaces it" in answer.err, arguments
        assert {path: path.read_bytes() for path in Path().iterdir() if path.is_file()} == before, arguments
    for suffix in ("png", "svg", "pdf", "html"):
        assert farweb("plot", "cdf", "r", "-o", f"figure.{suffix}").code == 0
        assert is_made(Path(f"figure.{suffix}"))
    assert farweb("plot", "cdf", "r", "-o", "figure.svg").code == 0
    assert farweb("report", "r").code == farweb("report", "r").code == 0
    assert farweb("plot", "cdf", "r", "-o", "thesis.png", "--force").code == 0


@pytest.mark.parametrize(
    ("encoding", "commands"), [("latin-1", ["show r"]), ("ascii", ["check cable.toml", "show r", "show r–", "--help"])]
)
def test_a_terminal_without_a_character_gets_another_spelling(
    cable: Path, farweb: Farweb, encoding: str, commands: list[str]
) -> None:
    farweb("run", cable, "-o", "r")
    for words in commands:
        arguments = words.split()
        ran = subprocess.run(
            [*FARWEB, *arguments],
            capture_output=True,
            env={**os.environ, "PYTHONIOENCODING": encoding, "COLUMNS": "80"},
        )
        assert ran.returncode == (2 if "r–" in arguments else 0), ran.stderr
        text = (ran.stdout + ran.stderr).decode(encoding)
        assert "?" not in text.replace("over this path?", "").replace("carry the load?", ""), words
        if words == "show r":
            assert "server to client" in text


def test_tables_fit_eighty_columns_and_keep_their_numbers(
    farweb: Farweb, cable: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    named = SCENARIO.replace('"client"', '"client-of-a-long-name"').replace('"server"', '"server-of-another"')
    cable.write_text(named)
    farweb("run", cable, "-o", "r")
    shown = farweb("show", "r", "--details").out
    summary = Results.open("r").summary()
    assert all(len(line) <= 80 for line in shown.splitlines())
    assert f"{summary.links[1].packets:,} " in shown
    checked = farweb("check", cable, "--details").out.splitlines()
    assert any(line.startswith(" " * 24) for line in checked), "what does not fit goes on below its beginning"
    assert all(len(line) <= 80 for line in checked)


def test_a_table_that_is_too_wide_comes_in_parts_that_name_their_rows() -> None:
    rows = [[f"row {row}", *(f"{row}{column}.5 Mbit/s" for column in range(12))] for row in range(9)]
    console = Console(width=80, file=io.StringIO())
    console.print(Screen([Sheet("wide", ["", *(f"c{column}" for column in range(12))], rows)]))
    lines = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    assert all(len(line) <= 80 for line in lines)
    shown = " ".join(lines)
    assert all(cell in shown for row in rows for cell in row)
    assert shown.count("row 3") == 2


def test_heads_are_cut_between_words() -> None:
    """A name loses its beginning; its head whole words, and the last word stays."""
    rows = [[f"{row} of many a long name", "1", "12,345.67 Mbit/s"] for row in range(5)]
    heads = "path.link.0.down.loss.probability", "leg.0.tcp.constants.initial_cwnd_segments"
    for width in range(48, 140):
        lines = to_lines(Sheet("", ["", *heads, "rate"], [["a", *row] for row in rows], 3), width)
        for head, shown in zip(heads, lines[0].split(), strict=False):
            assert head.endswith(shown.removeprefix("…")) and (shown == head or head[-len(shown)] in "._"), shown
    assert shortened_head("loss.probability", 9) == "…probability"


def test_parts_of_a_screen_are_one_empty_line_apart() -> None:
    console, sheet = Console(width=80, file=io.StringIO()), Sheet("title", ["", "value"], [["row", "1"]])
    console.print(Screen(["", "answer", "", "", (sheet, sheet), "", sheet, "end", ""]))
    shown = console.file.getvalue()  # type: ignore[attr-defined]
    table = "\n\ntitle\n     value\nrow      1"
    assert shown == f"answer{3 * table}\nend\n"


def test_sentences_fold_and_numbers_do_not() -> None:
    rows = [["p90", "1,234.5 ms", "the part of the responses that no cache of the path may keep, in the mean"]]
    for width in range(40, 100):
        console = Console(width=width, file=io.StringIO())
        console.print(Screen([Sheet("", ["", "value", "meaning"], rows)]))
        shown = console.file.getvalue()  # type: ignore[attr-defined]
        assert all(len(line) <= width for line in shown.splitlines())
        assert "1,234.5 ms" in shown and rows[0][2] in " ".join(shown.split()).replace(
            "value meaning p90 1,234.5 ms ", ""
        )


def test_a_number_stays_beside_its_unit() -> None:
    sentence = "round trip 704 ms, 1.10 Mbit/s up, 58.9 % of 225 kB in 20 min"
    for width in range(40, 70):
        console = Console(width=width, file=io.StringIO())
        console.print(Screen([sentence, Sheet("", ["", ""], [["path", sentence]])]))
        assert not re.search(r"\d\n", console.file.getvalue()), width  # type: ignore[attr-defined]


@given(text=st.text("0199.,+-− aé", max_size=60), most=st.integers(3, 40))
@example(text="by +0.169 % of all", most=9)
def test_what_is_shortened_has_no_part_of_a_number(text: str, most: int) -> None:
    def numbers(of: str) -> list[str]:
        return re.findall(r"[+−-]?\d[\d.,]*", of)

    for shorter in (elided(text, most), shortened(text, most)):
        assert len(shorter) <= most
        assert set(numbers(shorter)) <= set(numbers(text))


@pytest.mark.parametrize(
    ("environment", "painted"), [({"TERM": "xterm"}, True), ({"TERM": "dumb"}, False), ({"NO_COLOR": "1"}, False)]
)
def test_colours_repeat_verdicts_warnings_and_paths(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], painted: bool
) -> None:
    for name in ("TERM", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    rows = [["a", "-24", "better"], ["b", "+5", "slightly worse"], ["better", "0", "open"]]
    rows.append(["c", "0", "worse: slowest 10 %"])
    screen = Screen(["a is better.", Sheet("", ["", "time %", ""], rows), "warning: few requests"])
    shown = io.StringIO()
    Console(file=shown, width=80, force_terminal=True, color_system="standard" if painted else "auto").print(screen)
    found = re.findall(r"\x1b\[(\d+)m(.+?)\x1b", shown.getvalue())
    colours = [
        ("32", "better"),
        ("31", "slightly worse"),
        ("31", "worse: slowest 10 %"),
        ("33", "warning: few requests"),
    ]
    assert found == (colours if painted else [])
    monkeypatch.setattr("sys.stderr", shown)
    monkeypatch.setattr(shown, "isatty", lambda: True, raising=False)
    Output(as_json=False, quiet=False).note("wrote results/a    next: farweb report results/a")
    assert ("\x1b[1mresults/a\x1b[0m    next" in shown.getvalue()) == painted


def test_numbers_have_no_exponents() -> None:
    assert relative(7840.0) == "+78.4 ×"
    assert relative(-29.04) == "−29 %"
    assert relative(8.742) == "+8.74 %"
    assert relative(0.00000924) == "+(< 0.01 %)"
    assert share(9.24e-8) == "< 0.01 %"
    assert share(10.27) == "1,027 %"
    assert plain(1_234_567.0, 6) == "1234567"
    assert plain(0.0000123, 2) == "0.000012"


def test_names_from_outside_command_no_terminal(farweb: Farweb, cable: Path) -> None:
    """A manifest that somebody else has sent may say anything."""
    assert farweb("run", cable, "-o", "r").code == 0
    file = Path("r/manifest.json")
    manifest = unsealed(json.loads(file.read_text()))
    file.write_text(json.dumps({**manifest, "name": "a\x1b]0;b\x07\x9b31m\u202e", "warnings": ["\x1b[2J"]}))
    for verb in (("show", "r"), ("show", "r", "--json"), ("sql", "r", "select 'c\x1b[1m'"), ("show", "gone\x1b[2J")):
        answer = farweb(*verb)
        assert not set("\x1b\x07\x9b\u202e") & set(answer.out + answer.err)
    assert json.loads(farweb("show", "r", "--json").out)["warnings"] == ["\x1b[2J"]


def test_a_name_in_any_script_is_drawn_without_a_warning(
    farweb: Farweb, cable: Path, recwarn: pytest.WarningsRecorder
) -> None:
    name = "中文 مرحبا 🛰"
    assert farweb("run", cable, "-o", name).code == 0
    for suffix in ("png", "svg"):
        assert farweb("plot", "cdf", name, "-o", f"cdf.{suffix}").err == ""
    assert name in Path("cdf.svg").read_text()
    assert not recwarn.list


def test_lines_fold_and_commands_stay_whole() -> None:
    path = f"results/{'long-' * 12}name"
    following = command("report", f"{path} of May")
    assert folded(f"wrote {path}    next: {following}", 80) == f"wrote {path}\nnext:\n{following}"
    assert shlex.split(following) == ["farweb", "report", f"{path} of May"]
    assert folded("wrote a    next: farweb show a", 80) == "wrote a    next: farweb show a"
    warning = f"warning: {'the target is also met at 2, 4 and 8 ' * 2}(farweb plot latency-load a); see the curve"
    lines = folded(warning, 80).split("\n")
    assert max(map(len, lines)) <= 80 and {line[:2] for line in lines[1:]} == {"  "}
    assert any("farweb plot latency-load a" in line for line in lines)
    assert " ".join(line.strip() for line in lines) == warning


@pytest.mark.parametrize("signal", [KeyboardInterrupt, SystemExit])  # SIGINT, and SIGTERM or SIGHUP
def test_an_interruption_says_where_finished_runs_are_if_there_are_any(
    folder: Path, capsys: pytest.CaptureFixture[str], signal: type[BaseException]
) -> None:
    said = []
    for _ in range(2):
        with pytest.raises(signal), Output(False, False).continuing("out"):
            raise signal
        said.append(capsys.readouterr().err)
        (folder / "out").mkdir(exist_ok=True)
    assert said == ["", "Finished runs are kept in out; the same command continues from there.\n"]
