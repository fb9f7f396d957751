"""A talk between farweb's TCP and the kernel's: its parts, and running it."""

import json
import os
import socket
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from kernel_end import PATIENCE_S, KernelEnd, Steps
from namespaces import DEVICE, FARWEB, KERNEL, PROGRAM, Namespace, namespace

Role = Literal["client", "server"]

CAPTURES = Path(os.environ.get("FARWEB_TALKS", "target/talks"))
"""Folder of what both ends saw of each talk."""
DEADLINE_S = 80
"""Seconds after which farweb's end gives up, well after the longest scenario's end on a busy machine."""
CLIENT_PORT, SERVER_PORT = 40_000, 8_000


@dataclass(frozen=True)
class Way:
    """One direction of the path, on top of a rate of 20 Mbit/s and a delay of 20 ms."""

    drop: tuple[str, ...] = ()
    mark: tuple[str, ...] = ()
    loss: float = 0.0
    """Probability that a packet is lost, instead of a list."""
    late: Mapping[str, str] = field(default_factory=dict)
    """Packets that are held up, and for how long."""
    twice: tuple[str, ...] = ()
    rate: str = "20 Mbit/s"
    delay: str = "20 ms"
    queue: str | None = None

    def description(self) -> dict[str, Any]:
        """As `farweb-tun` reads it."""
        return {
            "rate": self.rate,
            "delay": self.delay,
            "queue": self.queue,
            "loss": {"kind": "bernoulli", "probability": self.loss}
            if self.loss
            else {"kind": "list", "drop": list(self.drop), "mark": list(self.mark)},
            "late": [{"packets": packets, "by": span} for packets, span in self.late.items()],
            "twice": list(self.twice),
        }


@dataclass(frozen=True)
class Farweb:
    """Farweb's endpoint."""

    profile: str
    buffer: str | None = "32767 B"
    """Send and receive buffer; `None`: as the profile has them."""
    mss: str = "1460 B"
    constants: Mapping[str, object] = field(default_factory=dict)


PROFILES: Mapping[str, Farweb] = {
    "bsd44-lite": Farweb("bsd44-lite"),
    "bsd44-lite-rfc1323": Farweb("bsd44-lite", constants={"timestamps": True, "window_scaling": True}, buffer="200 kB"),
    "linux": Farweb("linux", buffer=None),
    "linux-bbr": Farweb("linux", constants={"congestion_control": "bbr"}, buffer=None),
    "linux-classic": Farweb("linux-classic"),
}
"""Programs that run through the scenarios, by their names in tests."""


@dataclass
class Process:
    """A `farweb-tun` that is ready."""

    popen: subprocess.Popen[str]

    def finish(self) -> dict[str, Any]:
        """Let it end once its connections are over, and read its report."""
        try:
            output, problem = self.popen.communicate(timeout=PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.popen.kill()
            raise
        assert self.popen.returncode == 0, problem
        report: dict[str, Any] = json.loads(output)
        return report


@contextmanager
def farweb_tun(
    there: Namespace,
    folder: Path,
    role: Role,
    endpoint: Farweb,
    application: dict[str, Any],
    up: Way,
    down: Way,
    *,
    server: str = f"{KERNEL}:{SERVER_PORT}",
    first_number: int | None = None,
    snapshot: str = "160 B",
) -> Iterator[Process]:
    """Farweb's end in a namespace; a client connects to `server` at once.

    Captures, of `snapshot` bytes of each packet, go to `folder`.
    """
    description = {
        "device": DEVICE,
        "address": f"{FARWEB}:{CLIENT_PORT if role == 'client' else SERVER_PORT}",
        "connect": server if role == "client" else None,
        "tcp": {
            "profile": endpoint.profile,
            "mss": endpoint.mss,
            "buffer": endpoint.buffer,
            "constants": dict(endpoint.constants),
        },
        "first_number": first_number,
        "up": up.description(),
        "down": down.description(),
        "application": application,
        "seed": 1,
        "captures": str(folder),
        "snapshot": snapshot,
        "deadline": f"{DEADLINE_S} s",
    }
    folder.mkdir(parents=True, exist_ok=True)
    talk = folder / "talk.json"
    talk.write_text(json.dumps(description, indent=1))
    popen = subprocess.Popen(
        there.command(PROGRAM, talk), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    with popen:
        assert popen.stdout is not None and popen.stderr is not None
        if popen.stdout.readline() != "ready\n":
            raise RuntimeError(popen.stderr.read())
        try:
            yield Process(popen)
        finally:
            popen.kill()


@dataclass(frozen=True)
class Talk:
    """Two applications and the path between them; either of them may be farweb's, the other one is the kernel's."""

    client: Steps
    server: Steps
    up: Way = Way()
    down: Way = Way()
    listening: bool = True
    """True when there is a server at all."""
    crossing: bool = False
    """True when both connect to each other at the same time; farweb is the client then."""
    kernel_receive_buffer: int | None = None
    """SO_RCVBUF of the kernel's end, in bytes."""
    first_number: int | None = None
    """Number of farweb's SYN; random by default."""
    kernel_control: str | None = None
    """Congestion control of the kernel's end; its default, if None."""
    kernel_asks_for_ecn: bool = False
    """True when the kernel asks for ECN, and does not only agree."""


@dataclass(frozen=True)
class Outcome:
    """What both ends say of a talk."""

    kernel: KernelEnd | None
    """`None` when the kernel's end could not connect, or nobody connected to it."""
    refused: bool
    report: dict[str, Any]
    left_open: list[str]
    """Connections of the kernel that had not come to their end."""
    folder: Path

    def __str__(self) -> str:
        kernel = f"kernel: {self.kernel}\n" if self.kernel else "kernel: no connection\n"
        return f"what both ends saw is in {self.folder}\n{kernel}farweb: {json.dumps(self.report, indent=1)}"

    @property
    def farweb(self) -> dict[str, Any]:
        """The one connection of farweb's end."""
        (connection,) = self.report["connections"]
        assert isinstance(connection, dict)
        return connection


def talk(plan: Talk, role: Role, endpoint: Farweb, folder: Path) -> Outcome:
    """Run a talk with farweb's end in the given role."""
    with namespace() as there, there.socket() as kernel:
        if plan.kernel_receive_buffer is not None:
            kernel.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, plan.kernel_receive_buffer)
        if plan.kernel_control is not None:
            kernel.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, plan.kernel_control.encode())
        if plan.kernel_asks_for_ecn:
            with there.entered():
                Path("/proc/sys/net/ipv4/tcp_ecn").write_text("1")
        kernel.settimeout(PATIENCE_S)
        run = _talk_with_client if role == "client" else _talk_with_server
        return run(there, kernel, plan, endpoint, folder)


def _talk_with_client(there: Namespace, listener: socket.socket, plan: Talk, endpoint: Farweb, folder: Path) -> Outcome:
    """Farweb connects to the kernel."""
    ends: list[KernelEnd] = []

    def serve() -> None:
        connection = connect_across(listener) if plan.crossing else listener.accept()[0]
        ends.append(KernelEnd(connection))
        ends[0].run(plan.server)

    serving = threading.Thread(target=serve, daemon=True)
    # The kernel's own address comes up with the device.
    listener.bind(("", SERVER_PORT))
    if plan.listening and not plan.crossing:
        listener.listen()
        serving.start()
    script = {"script": plan.client}
    with farweb_tun(
        there, folder, "client", endpoint, script, plan.up, plan.down, first_number=plan.first_number
    ) as process:
        if plan.crossing:
            serving.start()
        if plan.listening:
            serving.join(PATIENCE_S)
        left_open = wait_for_the_end(there)
        report = process.finish()
    return Outcome(ends[0] if ends else None, False, report, left_open, folder)


def connect_across(kernel: socket.socket) -> socket.socket:
    """Let the kernel connect to a client of farweb's with its SYN on the way."""
    kernel.connect((FARWEB, CLIENT_PORT))
    return kernel


def _talk_with_server(
    there: Namespace, connection: socket.socket, plan: Talk, endpoint: Farweb, folder: Path
) -> Outcome:
    """The kernel connects to farweb."""
    port = SERVER_PORT if plan.listening else SERVER_PORT + 1
    end, refused = None, False
    script = {"script": plan.server}
    with farweb_tun(
        there, folder, "server", endpoint, script, plan.up, plan.down, first_number=plan.first_number
    ) as process:
        connection.bind((KERNEL, CLIENT_PORT))
        try:
            connection.connect((FARWEB, port))
        except ConnectionRefusedError:
            refused = True
        else:
            end = KernelEnd(connection)
            end.run(plan.client)
        left_open = wait_for_the_end(there)
        report = process.finish()
    return Outcome(end, refused, report, left_open, folder)


def wait_for_the_end(there: Namespace) -> list[str]:
    """Wait until the kernel's connections have come to their end; those that do not."""
    patience = time.monotonic() + PATIENCE_S / 2
    while (left := there.open_connections()) and time.monotonic() < patience:
        time.sleep(0.05)
    return left
