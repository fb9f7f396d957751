"""What the front says twice, counted: the numbers may only fall. A lower one is written here."""

import ast
from collections.abc import Iterator
from pathlib import Path

FRONT = Path(__file__).parents[1] / "python" / "farweb"

Function = ast.FunctionDef | ast.AsyncFunctionDef


def functions(folder: Path) -> Iterator[Function]:
    for file in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield node


def parameters(function: Function) -> set[str]:
    given = function.args
    return {each.arg for each in (*given.posonlyargs, *given.args, *given.kwonlyargs)}


def calls(tree: ast.AST, name: str) -> int:
    found = (node.func for node in ast.walk(tree) if isinstance(node, ast.Call))
    return sum(getattr(each, "attr", getattr(each, "id", "")) == name for each in found)


def options_of_the_library() -> int:
    """Parameters of public functions of the command line that public ones of the library have as well."""
    library = (each for folder in FRONT.iterdir() if folder.name != "cli" for each in _under(folder))
    named = {name for function in library if function.name[0] != "_" for name in parameters(function)}
    verbs = (each for each in functions(FRONT / "cli") if each.name[0] != "_")
    return sum(len(parameters(verb) & named) for verb in verbs)


def _under(path: Path) -> Iterator[Function]:
    if path.is_dir():
        yield from functions(path)
    elif path.suffix == ".py":
        yield from (node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.FunctionDef))


def returning_sheets() -> int:
    return sum(each.returns is not None and "Sheet" in ast.unparse(each.returns) for each in functions(FRONT))


def searches_for_names() -> int:
    return sum(calls(ast.parse(file.read_text("utf-8")), "get_close_matches") for file in FRONT.rglob("*.py"))


def written_dictionaries() -> int:
    """Methods `to_dict` that do not come from the fields of the dataclass alone."""
    found = [each for each in functions(FRONT) if each.name == "to_dict"]
    return sum(not calls(each, "asdict") for each in found)


def test_what_is_said_twice_falls() -> None:
    found = {
        "options of verbs that the library has": options_of_the_library(),
        "functions that return sheets": returning_sheets(),
        "searches for the nearest name": searches_for_names(),
        "hand-written to_dict": written_dictionaries(),
    }
    assert found == {
        "options of verbs that the library has": 213,
        "functions that return sheets": 57,
        "searches for the nearest name": 1,
        "hand-written to_dict": 26,
    }
