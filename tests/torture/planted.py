"""What another user lays where commands look: in shared temporary folders, a shared home, a shared current folder.

Everything is laid in folders that all may write to, before each command, and is the other user's where root runs this.
Modules, and settings of Dask, say when they are run; folders through which something could be written or removed are
links to a folder of the victim.
"""

import json
import os
import random
import shlex
import shutil
import subprocess
import sys
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from captures import handshake, pcap
from samples import LOG
from sweeps import PATIENCE_S, write_scenario
from torture.strangers import NOBODY
from torture.table import Row

FARWEB = str(Path(sys.executable).with_name("farweb"))

# What Dask and Python look for that is not installed, and what farweb loads when it needs it.
MODULES = (
    *("cityhash", "xxhash", "mmh3", "lz4", "snappy", "uvloop", "crick", "pynvml", "dask_setup", "sitecustomize"),
    *("multiprocessing", "typing", "random", "numpy", "polars", "duckdb", "matplotlib", "distributed", "farweb"),
)
RUN, SWEEP = "../run", "../swept"
VERBS = (
    f"sweep ../s.toml --set sweep.replications=2 --jobs 2 --out {SWEEP}",
    f"sweep ../s.toml --plan --jobs 2 --out {SWEEP}",
    "size ../s.toml --vary leg.0.tcp.buffer=8KiB,32KiB --target 'p50(latency)<9s' --jobs 2 --out ../size",
    "reproduce cable --quick --jobs 2 --out ../reproduced",
    f"run ../s.toml --out {RUN} --set record.packets=all --set record.exchanges=true --force",
    "demo --out ../shown",
    "check ../s.toml",
    "schema scenario",
    "new ../new.toml --log ../access.log --force",
    f"show {RUN}",
    f"show {RUN} --breakdown",
    f"show {SWEEP}",
    f"sql {RUN} 'select count(*) from requests'",
    f"sql {SWEEP} 'select count(*) from requests'",
    f"plot cdf {RUN} -o ../cdf.png --force",
    f"plot cdf {RUN} -o ../cdf.html --force",
    f"plot latency-load {SWEEP} -o ../load.png --force",
    f"report {RUN} -o ../report.html --force",
    f"report {SWEEP} -o ../report.html --force",
    f"compare {RUN} {RUN}",
    f"export pcapng {RUN} -o ../run.pcapng --point server --force",
    f"export xpl {RUN} -o ../run.xpl --force",
    f"verify {RUN} --full",
    f"verify {SWEEP} --full",
    "workload import ../access.log -o ../imported.parquet --force",
    "workload merge ../requests.csv ../requests.csv -o ../merged.parquet --force",
    "workload generate prowgen --set requests=2000 -o ../generated",
    "workload stats ../requests.csv -o ../stats.png --force",
    "workload fit ../generated/requests.parquet -o ../fit.png --force",
    "workload cache ../generated/requests.parquet -o ../caches.png --force",
    "workload probe ../syn.pcap -o ../hosts.tsv --force",
)
DRAWS = ("plot", "report", "reproduce", "demo", "-o ../stats.png", "-o ../fit.png", "-o ../caches.png")
_MET, _REFUSED = (0, 4), 2  # claims of a coarse look need not be met

# What is imported at a cluster of Dask as it comes.
OPEN_CLUSTER = """
from distributed import Client, LocalCluster
if __name__ == "__main__":
    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        client.submit(abs, -1).result()
"""


@dataclass
class Trap:
    """What the other user has laid.

    Attributes:
        temporary: The folder of temporary files of all.
        home: What HOME is.
        current: The folder that commands run in.
        user: How the victim is called, after which Polars calls its folder.
        said: A file that what is run says so in.
        victim: A folder of the victim, to which links lead.
    """

    temporary: Path
    home: Path
    current: Path
    user: str
    said: Path
    victim: Path

    def environment(self) -> dict[str, str]:
        """What the victim's commands run with."""
        theirs = ("XDG_", "MPL", "DASK_", "PYTHON", "POLARS_")  # which say where to look
        kept = {key: value for key, value in os.environ.items() if not key.startswith(theirs)}
        places = {"TMPDIR": str(self.temporary), "HOME": str(self.home), "USER": self.user}
        return {**kept, **places, "FARWEB_TORTURE": str(self.said)}


@contextmanager
def laid(folder: Path, *, settings: bool) -> Iterator[Trap]:
    """A trap below `folder`, anew; with `settings`, those of matplotlib in the current folder too."""
    places = [folder / name for name in ("temporary", "home", "current")]
    for place in (*places, folder / "victim"):
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
    (folder / "victim" / "2000000").mkdir()  # called like a process that has ended
    (folder / "victim" / "kept").write_text("kept\n")
    temporary, home, current = places
    trap = Trap(temporary, home, current, uuid.uuid4().hex, folder / "said", folder / "victim")
    spill = Path("/var/tmp") / f"polars-{trap.user}"
    spill.mkdir()
    try:
        (spill / "spill").symlink_to(trap.victim)
        _lay(trap, settings=settings)
        _give_away([*places, spill])
        yield trap
    finally:
        shutil.rmtree(spill)


def _lay(trap: Trap, *, settings: bool) -> None:
    tell = "import os\nopen(os.environ['FARWEB_TORTURE'], 'a').write(__file__ + chr(10))\nraise SystemExit(1)\n"
    for place in (*_scratch(trap.temporary), trap.current, trap.temporary):
        place.mkdir(exist_ok=True)
        for module in MODULES:
            (place / f"{module}.py").write_text(tell)
    preload = tell.replace("__file__", "'a setting of Dask'")
    settings_of_dask = {"distributed": {each: {"preload": [preload]} for each in ("scheduler", "nanny", "worker")}}
    files = {
        ".config/dask/all.yaml": json.dumps(settings_of_dask),
        ".config/matplotlib/matplotlibrc": "figure.dpi: none\n",
        ".config/fsspec/conf.json": "{",
        ".fonts/font.ttf": "no font",
        ".duckdb/extensions/all": "",
    }
    for name, content in files.items():
        (trap.home / name).parent.mkdir(parents=True, exist_ok=True)
        (trap.home / name).write_text(content)
    links = (trap.home / ".cache", trap.current / ".tmp", trap.temporary / f"polars-{trap.user}")
    for link in links:
        link.symlink_to(trap.victim)
    if settings:
        os.mkfifo(trap.current / "matplotlibrc")


def _scratch(temporary: Path) -> list[Path]:
    return [temporary / "dask-scratch-space", temporary / f"dask-scratch-space-{os.getuid()}"]


def _give_away(places: Sequence[Path]) -> None:
    """Let all write to folders, and to what is in them, which becomes another user's."""
    for place in places:
        for path in place.rglob("*"):
            if os.getuid() == 0:
                os.lchown(path, NOBODY, NOBODY)
            if path.is_dir() and not path.is_symlink():
                path.chmod(0o777)
        place.chmod(0o1777 if os.getuid() == 0 or place.name == "temporary" else 0o777)


def torture(folder: Path, draw: random.Random, scale: float) -> list[Row]:
    """Run every verb where everything is laid; and, to see it work, a cluster of Dask as it comes."""
    del draw, scale
    who = "another user" if os.getuid() == 0 else "this user, in folders that all may write to (not root)"
    quiet, drawing = Row(f"verb where {who} has laid modules, settings, links"), Row("the same, and a matplotlibrc")
    write_scenario(folder, requests=200)
    (folder / "access.log").write_text(LOG)
    (folder / "syn.pcap").write_bytes(pcap(handshake("192.0.2.1")))
    for row, verbs in ((quiet, VERBS), (drawing, [verb for verb in VERBS if any(word in verb for word in DRAWS)])):
        for verb in verbs:
            with laid(folder, settings=row is drawing) as trap:
                _judge(row, verb, _run(trap, verb), trap)
    control = Row("the same modules at a cluster of Dask as it comes")
    with laid(folder, settings=False) as trap:
        script = folder / "open_cluster.py"
        script.write_text(OPEN_CLUSTER)
        command = [sys.executable, "-W", "ignore", str(script)]
        environment = {**trap.environment(), "HOME": str(folder)}
        with subprocess.Popen(
            command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        ) as cluster:
            try:
                cluster.wait(20)
            except subprocess.TimeoutExpired:  # its workers end as soon as they start
                os.killpg(cluster.pid, 9)
        control.expect(trap.said.exists(), "imported", "the trap does not work where nothing hinders it")
    return [quiet, drawing, control]


def _run(trap: Trap, verb: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [FARWEB, *shlex.split(verb)],
        cwd=trap.current,
        env=trap.environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=10 * PATIENCE_S,
    )


def _judge(row: Row, verb: str, answer: subprocess.CompletedProcess[str], trap: Trap) -> None:
    if trap.said.exists():
        row.lose(f"{verb}: ran {set(trap.said.read_text().splitlines())}")
        trap.said.unlink()
        return
    there = sorted(path.relative_to(trap.victim).as_posix() for path in trap.victim.rglob("*"))
    if there != ["2000000", "kept"]:
        row.lose(f"{verb}: the victim's folder has {there}")
    elif answer.returncode == _REFUSED and row.what.endswith("matplotlibrc"):
        row.expect(answer.stderr.count("\n") == 1, "refused in one line", f"{verb}: {answer.stderr[-300:]}")
    else:
        told = f"{verb}: {answer.returncode}: {answer.stderr[-300:]}"
        row.expect(answer.returncode in _MET, "nothing is touched, and it ends as always", told)
