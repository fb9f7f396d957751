"""Things that the front says twice, counted: the numbers may only fall. A lower one is written here."""

import ast
import functools
from collections.abc import Iterator
from pathlib import Path

FRONT = Path(__file__).parents[1] / "python" / "farweb"

Function = ast.FunctionDef | ast.AsyncFunctionDef


@functools.cache
def nodes(file: Path) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(ast.parse(file.read_text("utf-8"))))


def functions(folder: Path) -> Iterator[Function]:
    for file in [folder] if folder.suffix == ".py" else sorted(folder.rglob("*.py")):
        yield from (node for node in nodes(file) if isinstance(node, Function))


def parameters(function: Function) -> set[str]:
    given = function.args
    return {each.arg for each in (*given.posonlyargs, *given.args, *given.kwonlyargs)}


def calls(tree: ast.AST, name: str) -> int:
    found = (node.func for node in ast.walk(tree) if isinstance(node, ast.Call))
    return sum(getattr(each, "attr", getattr(each, "id", "")) == name for each in found)


def options_of_the_library() -> int:
    """Parameters of public functions of the command line that public ones of the library have as well."""
    library = (each for folder in FRONT.iterdir() if folder.name != "cli" for each in functions(folder))
    named = {name for function in library if function.name[0] != "_" for name in parameters(function)}
    verbs = (each for each in functions(FRONT / "cli") if each.name[0] != "_")
    return sum(len(parameters(verb) & named) for verb in verbs)


def returning_sheets() -> int:
    return sum(each.returns is not None and "Sheet" in ast.unparse(each.returns) for each in functions(FRONT))


def searches_for_names() -> int:
    found = (node.func for file in FRONT.rglob("*.py") for node in nodes(file) if isinstance(node, ast.Call))
    return sum(getattr(each, "attr", "") == "get_close_matches" for each in found)


def written_dictionaries() -> int:
    """Methods `to_dict` that do not come from the fields of the dataclass alone."""
    found = [each for each in functions(FRONT) if each.name == "to_dict"]
    return sum(not (calls(each, "asdict") or calls(each, "to_object")) for each in found)


def test_what_is_said_twice_falls() -> None:
    found = {
        "options of verbs that the library has": options_of_the_library(),
        "functions that return sheets": returning_sheets(),
        "searches for the nearest name": searches_for_names(),
        "hand-written to_dict": written_dictionaries(),
    }
    assert found == {
        "options of verbs that the library has": 151,
        "functions that return sheets": 56,
        "searches for the nearest name": 1,
        "hand-written to_dict": 19,
    }
