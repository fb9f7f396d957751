"""Another user of the machine, who tries to have the workers of a running sweep do something."""

import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil

from sweeps import parts, started, wait_until, write_scenario
from torture.table import Row

NOBODY = 65534

# What an attacker runs: all that it needs is loaded before it becomes another user, who may not be allowed to read it.
ATTACK = """
import asyncio, json, os, ssl, sys
from distributed import Client, rpc
from distributed.security import Security
ports, uid, shown = json.loads(sys.argv[1])

def get_in(port, scheme, security):
    async def call():
        async with Client(f"{scheme}://127.0.0.1:{port}", security=security, timeout=3, asynchronous=True) as client:
            return await client.submit(os.getuid, pure=False)
    async def limited():
        return await asyncio.wait_for(call(), 10)
    return asyncio.run(limited())

def attempts():
    for port in ports:
        yield f"tcp {port}", lambda: get_in(port, "tcp", None)
        yield f"tls {port}, with a certificate of its own", lambda: get_in(port, "tls", own)
    for pid in shown:
        yield f"environment of process {pid}", lambda: open(f"/proc/{pid}/environ", "rb").read()
        yield f"memory of process {pid}", lambda: open(f"/proc/{pid}/mem", "rb").read(1)

own = Security.temporary()
own.get_connection_args("client")
if uid is not None:
    os.setgroups([])
    os.setgid(uid)
    os.setuid(uid)
inside = []
tried = 0
for what, attempt in attempts():
    tried += 1
    try:
        attempt()
        inside.append(what)
    except Exception:
        pass
print(json.dumps({"tried": tried, "inside": inside}))
"""

OPEN_CLUSTER = """
from distributed import LocalCluster
if __name__ == "__main__":
    here = {"host": "127.0.0.1", "protocol": "tcp://", "dashboard_address": None}
    with LocalCluster(n_workers=1, threads_per_worker=1, **here) as cluster:
        print(cluster.scheduler_address.rpartition(":")[2], flush=True)
        input()
"""


def torture(folder: Path, draw: random.Random, scale: float) -> list[Row]:
    """Try every port of a running sweep as another user; and, to see the attack work, an open cluster."""
    del draw, scale
    uid = NOBODY if os.getuid() == 0 else None
    who = "another user" if uid else "a process without the certificate (not root: not another user)"
    attacked, control = Row(f"{who} at the cluster of a running sweep"), Row("the same at an open cluster of Dask")
    scenario = write_scenario(folder, requests=300)
    out = folder / "out"
    with started("sweep", scenario, "--set", "sweep.replications=5000", "--jobs", 2, "--out", out, "--quiet") as sweep:
        wait_until(lambda: len(parts(out)) >= 1)
        processes = [psutil.Process(sweep.pid), *psutil.Process(sweep.pid).children(recursive=True)]
        sockets = [socket for process in processes for socket in process.net_connections("tcp")]
        ports = sorted({socket.laddr.port for socket in sockets if socket.status == psutil.CONN_LISTEN})
        outside = {socket.laddr.ip for socket in sockets if socket.status == psutil.CONN_LISTEN} - {"127.0.0.1"}
        attacked.expect(not outside, "listens on this machine only", f"it listens on {outside}")
        told = _attack(ports, uid, [process.pid for process in processes] if uid else [])
        for inside in told["inside"]:
            attacked.lose(inside)
        attacked.outcomes["refused"] += told["tried"] - len(told["inside"])
        attacked.expect(len(ports) >= 3 and sweep.poll() is None, "the sweep goes on", f"it ended; ports: {ports}")
    script = folder / "open_cluster.py"
    script.write_text(OPEN_CLUSTER)
    command = [sys.executable, "-W", "ignore", str(script)]
    pipe, nothing = subprocess.PIPE, subprocess.DEVNULL
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=nothing, text=True) as cluster:
        assert cluster.stdout is not None
        told = _attack([int(cluster.stdout.readline())], uid, [])
        control.expect(bool(told["inside"]), "gets in", "the attack does not work where nothing hinders it")
        cluster.communicate("\n")
    return [attacked, control]


def _attack(ports: list[int], uid: int | None, shown: list[int]) -> Any:
    command = [sys.executable, "-W", "ignore", "-c", ATTACK, json.dumps([ports, uid, shown])]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    if ended.returncode:
        raise RuntimeError(ended.stderr[-2000:])
    return json.loads(ended.stdout.splitlines()[-1])
