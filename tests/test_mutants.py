"""What `make mutants` makes of the outcomes of cosmic-ray, and the file of its settings."""

from pathlib import Path

import pytest

from mutants import run

ROOT = Path(__file__).parents[1]
MODULE = "python/farweb/results/sql.py"
DIFF = """--- mutation diff ---
--- a/{module}
+++ b/{module}
@@ -1,3 +1,3 @@
 def f(x):
-    return x < 3  # chosen
+    return x <= 3  # chosen
"""
CHANGE = "f: return x < 3 → return x <= 3"


def tried(outcome: str | None, worker: str = "normal", output: str = "") -> run.Mutant:
    mutation = {"module_path": MODULE, "start_pos": [2, 13], "definition_name": "f"}
    diff = DIFF.format(module=MODULE) if outcome else None
    result = {"worker_outcome": worker, "test_outcome": outcome, "output": output, "diff": diff}
    return run.mutant_of({"mutations": [mutation]}, result)


def test_outcomes_are_read_from_what_cosmic_ray_dumps() -> None:
    assert (tried("killed").outcome, tried("survived").outcome) == ("killed", "survived")
    assert tried("killed", output="timeout").outcome == "timeout"
    assert tried(None, "skipped").outcome == "skipped"
    assert tried("incompetent", "exception").outcome == "not made"


@pytest.mark.parametrize(
    ("answers", "outcome", "said"),
    [
        ([], "killed", []),
        ([], "survived", [f"{MODULE}:2 survives:"]),
        ([{"module": MODULE, "changes": [CHANGE]}], "survived", []),
        ([{"module": "another", "changes": [CHANGE]}], "survived", [f"{MODULE}:2 survives:"]),
        ([{"changes": [CHANGE]}], "survived", []),
        ([{"changes": [CHANGE]}], "killed", []),
        ([{"module": MODULE, "changes": [CHANGE]}], "killed", [f"{MODULE} is answered, but does not survive:"]),
    ],
)
def test_survivors_need_an_answer_and_answers_a_survivor(
    monkeypatch: pytest.MonkeyPatch, answers: object, outcome: str, said: list[str]
) -> None:
    monkeypatch.setitem(run.SETTINGS, "answered", answers)
    assert [line.splitlines()[0] for line in run.judge(MODULE, [tried(outcome)])] == said


def test_the_settings_name_files_that_are_there() -> None:
    for module, arguments in run.TESTS.items():
        for name in (module, *(each for each in arguments if each.endswith(".py"))):
            assert (ROOT / name).is_file(), name
    for each in run.SETTINGS["answered"]:
        assert each["reason"] and each["changes"]
        assert each.get("module") in {None, *run.TESTS}, each
