"""Temporary folders: gone with their block, and with the next command where their process was killed."""

import fcntl
import os
import signal
import subprocess
import sys
import tempfile
from io import BytesIO
from pathlib import Path

import pytest

from farweb.errors import ResultsError
from farweb.files.regular import read_json
from farweb.files.scratch import scratch

HOLDS = """
import sys
from farweb.files.scratch import scratch
with scratch("held") as folder:
    (folder / "table").write_text("hosts and clients")
    print(folder, flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder of temporary files, for this process and those that it starts."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_a_folder_goes_with_its_block_also_behind_an_error(place: Path) -> None:
    with pytest.raises(ZeroDivisionError), scratch() as folder:
        assert folder.parent == place
        assert folder.stat().st_mode & 0o777 == 0o700
        (folder / "file").touch()
        raise ZeroDivisionError
    assert not any(place.iterdir())


def test_what_a_killed_process_has_left_goes_with_the_next_command(place: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", HOLDS], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        left = Path(process.stdout.readline().decode().strip())
        with scratch():
            assert (left / "table").exists(), "its process lives"
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert left.exists()
        with scratch() as folder:
            assert list(place.iterdir()) == [folder]


def test_nothing_else_is_removed(place: Path) -> None:
    others = [place / name for name in ("farweb-abcd1234", "farweb-abcd1234.tmp.d", "other-abcd1234.tmp")]
    for each in others:
        each.mkdir()
    file, link, held = (place / f"farweb-{name}.tmp" for name in ("aaaaaaaa", "bbbbbbbb", "cccccccc"))
    file.touch()
    link.symlink_to(others[0])
    held.mkdir()
    descriptor = os.open(held, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    with scratch():
        pass
    assert {*place.iterdir()} == {*others, file, link, held}
    os.close(descriptor)


class Counting(BytesIO):
    """A file that notes how much is asked for at once."""

    most = 0

    def read(self, size: int | None = -1) -> bytes:
        self.most = max(self.most, size or 0)
        return super().read(size)


def test_a_manifest_is_read_without_reserving_the_largest(monkeypatch: pytest.MonkeyPatch) -> None:
    file = Counting(b"{}" * 1_500_000)
    assert read_json(file, "m", ResultsError) == b"{}" * 1_500_000
    assert file.most <= 1 << 20
    monkeypatch.setattr("farweb.files.regular._JSON_MAX", 3)
    assert read_json(BytesIO(b"{ }"), "m", ResultsError) == b"{ }"
    with pytest.raises(ResultsError, match="m: has more than the 3 B"):
        read_json(BytesIO(b"{  }"), "m", ResultsError)
