"""Install a wheel into a fresh environment, far from the source tree and from Rust, and use it, as `make wheel` does.

    python tests/installed.py dist/farweb-….whl

Exit codes: 0 all that was tried works, 1 something does not.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
import venv
import zipfile
from pathlib import Path

NEEDED = ("/licenses/LICENSE-MIT", "/licenses/crates/farweb-py/THIRD-PARTY.txt", ".cyclonedx.json")
TRIED = (
    ("--version",),
    ("demo", "--out", "demo"),
    ("check", "{examples}/satellite.toml"),
    ("run", "{examples}/satellite.toml", "--out", "satellite"),
    ("report", "satellite"),
    ("studio", "{examples}/satellite.toml", "--no-open", "--out", "studio.html"),
    ("reproduce", "mux", "--quick", "--out", "studies"),
    ("verify", "studies/mux/experiments", "--full"),
)

_NOT_MET = 4  # claims of a study that are not met; all is written


def main(wheel: Path) -> int:
    """Try a wheel; the exit code."""
    names = zipfile.ZipFile(wheel).namelist()
    lacking = [ending for ending in NEEDED if not any(name.endswith(ending) for name in names)]
    odd = [name for name in names if name.endswith((".png", ".pyc"))]
    say(f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB, {len(names)} files")
    if lacking or odd:
        say(f"lacks {lacking}, and should not have {odd}")
        return 1
    with tempfile.TemporaryDirectory(prefix="farweb-wheel-") as folder:
        return try_in(Path(folder), wheel)


def try_in(folder: Path, wheel: Path) -> int:
    """Install a wheel below a folder and run commands there."""
    venv.create(folder / "venv", with_pip=True)
    programs = folder / "venv" / ("Scripts" if sys.platform == "win32" else "bin")
    path = os.pathsep.join([str(programs), *(each for each in os.defpath.split(os.pathsep) if each)])
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "VIRTUAL_ENV"))}
    environment["PATH"] = path
    assert shutil.which("cargo", path=path) is None, "the point is that there is no Rust"
    pip = [str(programs / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, f"{wheel.resolve()}[sweep]"], check=True, env=environment, cwd=folder)
    where = "from farweb.files.shipped import shipped; print(shipped('examples'))"
    told = subprocess.run(
        [programs / "python", "-c", where], check=True, env=environment, cwd=folder, capture_output=True, text=True
    )
    examples = told.stdout.strip()
    assert Path(examples).is_relative_to(folder), examples
    for arguments in TRIED:
        command = [each.format(examples=examples) for each in arguments]
        began = time.monotonic()
        ended = subprocess.run(
            [programs / "farweb", *command], env=environment, cwd=folder, capture_output=True, text=True, check=False
        )
        say(f"{time.monotonic() - began:6.1f} s  exit code {ended.returncode}  farweb {' '.join(arguments)}")
        if ended.returncode not in (0, *([_NOT_MET] if arguments[0] == "reproduce" else [])):
            say(ended.stdout[-2000:] + ended.stderr[-2000:])
            return 1
    return 0


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
