"""Questions that people come with, answered by scripts on public logs; arithmetic beside each confirms the answer.

The page `docs/answers.md` has each script and its output, and is held to both.
"""

import gzip
import os
import re
import statistics
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
PAGE = (HERE.parent / "docs/answers.md").read_text()
DATA = next((up / "shared/data" for up in HERE.parents if (up / "shared/data").is_dir()), None)

needs_data = pytest.mark.skipif(DATA is None, reason="the logs are not here")
many_processes = pytest.mark.slow(reason="processes")


def printed(script: str, folder: Path) -> str:
    """Output of a script, as the page has it behind the script."""
    file = HERE / "ways" / f"{script}.sh"
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    ended = subprocess.run(
        ["bash", str(file)],
        cwd=folder,
        env={**os.environ, "PATH": path, "DATA": str(DATA), "PYTHONWARNINGS": "ignore::RuntimeWarning"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    said = "".join(f"{line.rstrip()}\n" for line in ended.stdout.splitlines() if line.strip())
    assert f"```sh\n{file.read_text()}```\n\n```text\n{said}```" in PAGE
    return said


def table(said: str) -> list[list[float]]:
    """Rows of numbers in printed text."""
    rows = (line.replace("True", "1").replace("False", "0").split() for line in said.splitlines())
    return [[float(cell) for cell in row] for row in rows if all(re.fullmatch(r"[\d.]+", cell) for cell in row)]


@needs_data
@many_processes
def test_operator(folder: Path) -> None:
    """A kept connection takes one round trip, a new one two; TLS in a tunnel and an eleventh segment one more each."""
    *rows, _ = (said := printed("operator", folder)).splitlines()
    found = table("\n".join(rows))
    assert sum(requests for _, requests, _ in found) == 54
    for latency_s, _, largest in found:
        trips = round(latency_s / 0.68)
        assert trips in (1, 2, 3, 4) and latency_s == pytest.approx(0.68 * trips, abs=0.02)
        assert trips >= 3 or largest <= 10 * 1460 * 3, "slow start doubles a window of ten segments"
    # The log's own times: a revalidation crossed the link once where a connection was kept.
    logged = [line.split() for line in (DATA / "squid/secrepo-2006-access1.log").read_text().splitlines()]  # type: ignore[operator]
    revalidated = [int(fields[1]) / 1000 for fields in logged if fields[3].startswith("TCP_REFRESH_HIT")]
    assert min(revalidated) == pytest.approx(0.68, abs=0.05)
    fast, slow = 2 * (25 + 10) / 1000, 0.62
    ratio = re.search(r"requests take ([\d.]+) % less", said)
    assert ratio and fast / slow < 1 - float(ratio[1]) / 100 < 0.3


@needs_data
def test_planner(folder: Path) -> None:
    """A cache that holds all: hits counted line by line with a set, by RFC 9111's rules for this log."""
    said = printed("planner", folder)
    ratios = [float(ratio) for ratio in re.findall(r"B: ([\d.]+)", said)]
    packed = (DATA / "clf/nasa-jul95-excerpts.log.gz").read_bytes()  # type: ignore[operator]
    held: set[str] = set()
    hits = requests = 0
    for line in gzip.decompress(packed).decode(errors="replace").splitlines():
        found = re.match(r'\S+ \S+ \S+ \[.*?\] "(\S+) (.*?)(?: HTTP/\S*)?" (\d+) (\S+)', line)
        assert found
        method, url, status, _ = found.groups()
        requests += 1
        if method == "POST":
            held.discard(url)
        elif url in held:
            hits += 1
        elif method == "GET" and status in ("200", "404"):
            held.add(url)
    assert ratios[-1] == pytest.approx(hits / requests, abs=5e-5)
    assert ratios == sorted(ratios)
    (_, misses, miss_s), (_, served, hit_s) = table(said)
    assert misses + served == 1916
    assert miss_s == pytest.approx(2 * 0.62, abs=0.02), "a new connection for each request of HTTP/1.0"
    assert hit_s < 0.01


@needs_data
@many_processes
def test_teacher(folder: Path) -> None:
    """A window a round trip, whatever the line carries."""
    said = printed("teacher", folder)
    found = table(said)
    windows = [int(window) for window in re.findall(r"= (\d+) × 1500 B per", said)]
    # Acknowledgements of two segments leave an odd one of the window without one.
    assert windows == [(kib << 10) // 1448 // 2 * 2 for kib in (32, 64, 128)]
    for window, (size, transfer_s) in zip(windows, found, strict=True):
        rounds = size / (window * 1448)
        lost = sum(max(0.0, 1 - (10 << grown) / window) for grown in range(4))  # slow start from 10 segments
        assert rounds - 1 <= transfer_s / 0.62065 <= rounds + lost + 1


@needs_data
@many_processes
def test_engineer(folder: Path) -> None:
    """Two round trips of 90 ms to the first byte, one more for TLS 1.3, two for 1.2, one for large records."""
    found = table(printed("engineer", folder))
    assert [least_s // 0.09 for _, least_s, _ in found] == [2, 4, 3, 3]
    (plain, old, new, small) = (median_s for _, _, median_s in found)
    assert statistics.fmean((old - new, new - small)) == pytest.approx(0.09, abs=0.015)
    assert small - plain == pytest.approx(0.09, abs=0.015)


@needs_data
@many_processes
def test_site(folder: Path) -> None:
    """First visits wait a round trip of 90 ms more, later ones none; a flight of 16.4 kB has 12 segments of 1448 B."""
    said = printed("site", folder)
    (_, first_s), (_, later_s), (_, first_then_s), (_, later_then_s) = (
        (float(count), float(time_s)) for count, time_s in re.findall(r"^(?:first|later) +(\d+) +([\d.]+)$", said, re.M)
    )
    assert first_then_s - first_s == pytest.approx(0.09, abs=0.015)
    assert later_then_s == pytest.approx(later_s, abs=0.015)
    # ML-DSA-65 has keys of 1952 B and signatures of 3309 B: in two certificates, and one of the handshake.
    flight = 82 + 1128 + 19 + 18 + (472 + 264) + 2 * (1952 + 3309) + 478 + (8 + 3309) + 36 + 99
    assert re.search(r"^  first of a visit +265 +7 % +69 % ", said, re.M), "most first requests are slower"
    assert "6 of 729 requests hold half of the waiting" in " ".join(said.split())
    assert flight == 16_435 and -(-flight // 1448) == 12
    taken = "Take 12: it cannot be told apart from 20, the best (+0.5 %, −9.0 … +10.9 %); 11 is worse (+"
    assert taken in " ".join(said.split())


@needs_data
@many_processes
def test_satellite(folder: Path) -> None:
    """A request takes round trips of its path, 65 ms of 704; large responses alone depend on rates."""
    said = printed("satellite", folder)
    changes = [float(found.replace("−", "-")) for found in re.findall(r"^all .*?(−[\d.]+) ", said, re.M)]
    assert changes[:2] == pytest.approx([100 * (65 / 704 - 1)] * 2, abs=1.1)
    assert -90 < changes[2] < -65, "large responses of the blog hold much of its mean"
    for path, trip_s in (("geo-viasat", 0.704), ("starlink", 0.065)):
        medians = [float(median_s) for median_s in re.findall(rf"^{path} +[\d.]+ +([\d.]+)", said, re.M)]
        assert all(1.9 < median_s / trip_s < 2.4 for median_s in medians), "two round trips for most"
