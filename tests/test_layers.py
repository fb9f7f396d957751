"""What imports what in the front: every import counts, in functions and for types alone too."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parents[1]
FRONT = ROOT / "python"


def modules() -> dict[str, Path]:
    found = {}
    for path in sorted(FRONT.rglob("*.py")):
        name = ".".join(path.relative_to(FRONT).with_suffix("").parts).removesuffix(".__init__")
        found[name] = path
    return found


MODULES = modules()


def imported(path: Path) -> Iterator[str]:
    """The modules of farweb that a file imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            named = [name.name for name in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}: imports are absolute"
            named = [f"{node.module}.{name.name}" for name in node.names]
            named = [name if name in MODULES else str(node.module) for name in named]
        else:
            continue
        yield from (name for name in named if name in MODULES and name != "farweb")


IMPORTS = {name: {other for other in imported(path) if other != name} for name, path in MODULES.items()}


def layer(module: str) -> str:
    """The package of a module, or the module where it stands at the top."""
    return module.split(".")[1] if "." in module else ""


def documented() -> list[str]:
    """The packages and modules at the top that the documentation lists, lowest first."""
    page = (ROOT / "docs" / "architecture.md").read_text()
    table = page.split("of `python/farweb`, lowest first", 1)[1].split("\n\n", 2)[1]
    rows = re.findall(r"^\| (`.*?) \|", table, re.MULTILINE)
    return [name for row in rows for name in re.findall(r"`(\w+)`", row)]


def test_no_module_imports_itself_by_way_of_others() -> None:
    tuple(TopologicalSorter(IMPORTS).static_order())  # raises CycleError, which names the cycle


def test_each_package_imports_only_those_that_the_documentation_lists_above_it() -> None:
    order = documented()
    there = {layer(name) for name in MODULES} - {"", "__main__"}
    assert set(order) == there
    assert len(order) == len(set(order))
    upward = [
        f"{name} imports {other}"
        for name, others in IMPORTS.items()
        for other in others
        if layer(name) in there and order.index(layer(other)) > order.index(layer(name))
    ]
    assert upward == []


def test_the_front_stands_on_ten_floors() -> None:
    rooms: dict[str, set[str]] = {}
    for name, others in IMPORTS.items():
        if name not in {"farweb", "farweb.__main__"}:
            rooms.setdefault(layer(name), set()).update(map(layer, others))
    floors: dict[str, int] = {}
    for room in TopologicalSorter({room: below - {room} for room, below in rooms.items()}).static_order():
        floors[room] = 1 + max((floors[each] for each in rooms.get(room, ()) if each != room), default=0)
    assert max(floors.values()) <= 10


def test_imports_within_functions_count(tmp_path: Path) -> None:
    (tmp_path / "module.py").write_text("def f():\n    from farweb.results import run")
    assert set(imported(tmp_path / "module.py")) == {"farweb.results.run"}


def test_help_loads_no_libraries_and_a_run_loads_little(tmp_path: Path) -> None:
    run = ["run", str(ROOT / "examples" / "cable.toml"), "--quiet", "--out", str(tmp_path / "run")]
    code = (
        "import sys; from farweb.cli import main\n"
        "assert main(['--help']) == main(['run', '--help']) == 0\n"
        "assert not {'numpy', 'pyarrow', 'rich'} & set(sys.modules)\n"
        f"assert main({run}) == 0\n"
        "print(*sys.modules, file=sys.stderr)\n"
        f"assert main(['show', {run[-1]!r}]) == 0\n"
        "assert not {'polars', 'duckdb'} & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    loaded = set(done.stderr.split())
    assert not {"polars", "duckdb", "rich", "farweb.plot", "farweb.inputs.importer"} & loaded
    assert len(loaded & set(MODULES)) <= 61
