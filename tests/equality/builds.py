"""farweb as it is installed, or as a revision of this repository has it, driven through its command line."""

import json
import os
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass, field
from pathlib import Path

_WORKER = """
import contextlib, io, json, sys
from farweb.cli import main

for line in sys.stdin:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(json.loads(line))
    print(json.dumps([code, out.getvalue(), err.getvalue()]), flush=True)
"""


class BuildError(Exception):
    """A revision cannot be built."""


@dataclass(frozen=True)
class Build:
    """A farweb to run: the interpreter that has it, and what comes before that interpreter's own packages."""

    python: Path
    packages: Path | None = None

    @classmethod
    def installed(cls, command: Path) -> "Build":
        """The farweb of a command `farweb`, with its interpreter beside it, or of an interpreter."""
        here = command.absolute()
        return cls(here if here.name.startswith("python") else here.with_name("python"))

    def environment(self) -> dict[str, str]:
        return {**os.environ, "PYTHONPATH": str(self.packages or "")}


class Farweb:
    """A process that answers commands of `farweb` one after the other and imports it once."""

    def __init__(self, build: Build, folder: Path) -> None:
        self._process = subprocess.Popen(
            [build.python, "-P", "-W", "ignore::RuntimeWarning", "-c", _WORKER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=folder,
            env=build.environment(),
        )

    def run(self, arguments: list[str]) -> str | None:
        """Run `farweb` with these arguments; None when it ends well, or how it ended."""
        code, _, output = self.answer(arguments)
        answered_nothing = code == 3 and not output.strip()  # which is a result too
        return None if code == 0 or answered_nothing else f"exit code {code}: {output.strip()}"

    def answer(self, arguments: list[str]) -> tuple[int, str, str]:
        """Run `farweb` with these arguments; its exit code, standard output and standard error."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(arguments) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            return -1, "", f"farweb died with code {self._process.wait()}"
        code, out, err = json.loads(answer)
        return code, out, err

    def __enter__(self) -> "Farweb":
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


@dataclass(frozen=True)
class Repository:
    """This repository, and a folder of builds of its revisions, each under its full hash.

    Needs git, cargo and the maturin beside the running interpreter. A build uses the packages of that interpreter,
    those that requirements.lock has now.
    """

    root: Path
    cache: Path = field(
        default=Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "farweb" / "equality"
    )

    def build(self, revision: str) -> Build:
        """The release build of `revision`; made when it is not there yet.

        Raises:
            BuildError: There is no such revision, or it does not compile.
        """
        commit = self._git("rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}").strip()
        packages = self.cache / commit
        if not packages.exists():
            self._install(commit, packages)
        return Build(Path(sys.executable), packages)

    def _install(self, commit: str, packages: Path) -> None:
        """Unpack the sources, compile them, and unpack the wheel; `packages` appears when all is there."""
        self.cache.mkdir(parents=True, exist_ok=True)
        maturin = Path(sys.executable).with_name("maturin")
        target = {"CARGO_TARGET_DIR": str(self.cache / "target")}  # one for all: other crates compile once
        with tempfile.TemporaryDirectory(dir=self.cache) as scratch:
            tree, archive, stage = (Path(scratch) / name for name in ("tree", "tree.tar", "packages"))
            self._git("archive", "--output", str(archive), commit)
            tree.mkdir()
            # With the time of now, for cargo to compile them: a revision may be older than another one's leftovers.
            _call("tar", "-xmf", archive, "-C", tree)
            _call(maturin, "build", "--release", "--interpreter", sys.executable, "--out", tree, folder=tree, **target)
            with zipfile.ZipFile(next(tree.glob("*.whl"))) as wheel:
                wheel.extractall(stage)
            if not packages.exists():  # another process may have been faster
                stage.rename(packages)

    def _git(self, *arguments: str) -> str:
        return _call("git", "-C", self.root, *arguments)


def _call(program: str | Path, *arguments: str | Path, folder: Path | None = None, **environment: str) -> str:
    ended = subprocess.run(
        [program, *arguments],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, **environment},
        check=False,
    )
    if ended.returncode != 0:
        command = " ".join(map(str, (program, *arguments)))
        raise BuildError(f"{command}: exit code {ended.returncode}\n{ended.stderr.strip()}")
    return ended.stdout
