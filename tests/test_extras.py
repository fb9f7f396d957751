"""Without the packages of extras: one line that says what to install, and everything else works."""

import subprocess
import sys
from pathlib import Path

import pytest

from sample_results import request
from sample_sweeps import design_of, write_sweep

# Stands before all finders of modules, and has the packages not be there.
HIDDEN = """\
import shlex, sys
from importlib.machinery import PathFinder

class Hiding(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        hidden = ("distributed", "fsspec", "loky", "psutil", "scipy")
        return None if name.partition(".")[0] in hidden else super().find_spec(name, path, target)

sys.meta_path[sys.meta_path.index(PathFinder)] = Hiding
from farweb.cli import main
if __name__ == "__main__":
    sys.exit(max(main(shlex.split(verb)) for verb in sys.argv[1:]) or "pandas" in sys.modules)
"""


def without_extras(*verbs: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-c", HIDDEN, *verbs], capture_output=True, text=True, timeout=60, check=False
    )


@pytest.fixture
def sweep(folder: Path) -> Path:
    path = folder / "sweep"
    write_sweep(path, design_of({"workload.load": [1, 2]}, 2), requests=lambda *_: [request(0, 1, 9)])
    return path


def test_a_run_needs_none_and_loads_no_pandas(cable: Path) -> None:
    """Arrow does, wherever it is installed, in some of its functions; it takes longer than most verbs."""
    verbs = ("run cable.toml --out r", "show r", "plot cdf r -o r.svg", "report r")
    ended = without_extras(*(f"{verb} --quiet" for verb in verbs))
    assert (ended.returncode, ended.stderr) == (0, "")


@pytest.mark.parametrize(
    ("verb", "message"),
    [
        ("sweep cable.toml", 'farweb: farweb sweep needs loky: pip install "farweb[sweep]"\n'),
        (
            "size cable.toml --vary workload.load=1..2 --target 'drops <= 0'",
            'farweb: farweb size needs loky: pip install "farweb[sweep]"\n',
        ),
        ("show sweep", 'farweb: this needs SciPy: pip install "farweb[sweep]"\n'),
        ("plot latency-load sweep", 'farweb: this needs SciPy: pip install "farweb[sweep]"\n'),
    ],
)
def test_what_needs_one_says_so_in_a_line(cable: Path, sweep: Path, verb: str, message: str) -> None:
    ended = without_extras(verb)
    assert (ended.returncode, ended.stderr) == (2, message)


@pytest.mark.slow(reason="imports")
def test_sweeps_and_their_pages_load_no_pandas(cable: Path) -> None:
    cable.write_text(cable.read_text() + '[sweep]\nreplications = 2\nfactors = { "workload.load" = [1, 2] }\n')
    Path("verbs.py").write_text(HIDDEN.replace("sys.meta_path[", "# sys.meta_path["))
    verbs = [f"{verb} --quiet" for verb in ("sweep cable.toml -o s --jobs 1", "show s", "report s -o s.html")]
    ended = subprocess.run(
        [sys.executable, "verbs.py", *verbs], capture_output=True, text=True, timeout=60, check=False
    )
    assert (ended.returncode, ended.stderr) == (0, "")
