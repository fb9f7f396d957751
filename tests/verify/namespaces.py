"""A network namespace with a TUN device, and the kernel's side of TCP in it."""

import ctypes
import itertools
import os
import shutil
import socket
import struct
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

PROGRAM = Path(os.environ.get("FARWEB_TUN", "target/debug/farweb-tun")).resolve()
"""What puts farweb's TCP behind a TUN device."""

DEVICE = "farweb0"
KERNEL = "10.77.0.1"
"""Address of the kernel on the device; all of 10.77.0.0/24 is behind it."""
FARWEB = "10.77.0.2"
"""Address of farweb's end."""

QUEUE_PACKETS = 20_000
"""Packets that wait in the device for a process that is not scheduled: none must be lost there."""

_FOLDER = Path("/run/netns")
_CLONE_NEWNET = 0x40000000
_TIME_WAIT, _LISTEN = "06", "0A"
"""States as in `/proc/net/tcp` (`include/net/tcp_states.h`)."""
_numbers = itertools.count()
_libc = ctypes.CDLL(None, use_errno=True)


def missing(*tools: str) -> str | None:
    """Why no talk with the kernel is possible here, or `None` when one is."""
    if (reason := no_namespace(*tools)) or PROGRAM.exists():
        return reason
    return f"talking with the kernel needs {PROGRAM}: cargo build -p farweb-tun, or make verify, makes it"


def no_namespace(*tools: str) -> str | None:
    """Why there can be no namespace with a TUN device here, or `None` when there can."""
    if os.geteuid() != 0:
        return "talking with the kernel needs root, for a network namespace and a TUN device"
    if not Path("/dev/net/tun").exists():
        return "talking with the kernel needs /dev/net/tun, and it is not there"
    for tool in ("ip", *tools):
        if shutil.which(tool) is None:
            return f"talking with the kernel needs {tool}, and it is not on the PATH"
    return _refusal()


def _refusal() -> str | None:
    """The kernel's words when it refuses a namespace with a device, as in many containers; None when it does not."""
    try:
        with namespace():
            return None
    except subprocess.CalledProcessError as problem:
        return f"talking with the kernel needs a network namespace with a TUN device: {problem.stderr.strip()}"


@dataclass(frozen=True)
class Namespace:
    """A network namespace of its own."""

    name: str

    @contextmanager
    def entered(self) -> Iterator[None]:
        """This thread is in the namespace; a socket that it makes there stays there."""
        with Path("/proc/thread-self/ns/net").open() as home, (_FOLDER / self.name).open() as there:
            _set_namespace(there.fileno())
            try:
                yield
            finally:
                _set_namespace(home.fileno())

    def command(self, *arguments: str | Path) -> list[str]:
        """A command that runs in the namespace."""
        return ["ip", "netns", "exec", self.name, *map(str, arguments)]

    def socket(self) -> socket.socket:
        """A TCP socket in the namespace."""
        with self.entered():
            return socket.socket(socket.AF_INET, socket.SOCK_STREAM)

    def open_connections(self) -> list[str]:
        """Connections of the kernel that have not come to their end, as `/proc/net/tcp` shows them."""
        return [line for line in self._sockets() if line.split()[3] not in (_TIME_WAIT, _LISTEN)]

    def is_listening(self, port: int) -> bool:
        """True when a socket of the kernel listens on a port."""
        listening = [line.split()[1] for line in self._sockets() if line.split()[3] == _LISTEN]
        return any(address.endswith(f":{port:04X}") for address in listening)

    def _sockets(self) -> list[str]:
        with self.entered():
            return Path("/proc/thread-self/net/tcp").read_text().splitlines()[1:]


def _set_namespace(file: int) -> None:
    if _libc.setns(file, _CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "the network namespace cannot be entered")


@contextmanager
def namespace() -> Iterator[Namespace]:
    """A namespace with a TUN device, still down, behind which farweb can be; gone afterwards, whatever happens."""
    name = f"farweb-{os.getpid()}-{next(_numbers)}"
    _ip("netns", "add", name)
    try:
        _ip("-n", name, "-batch", "-", text=_SETUP)
        yield Namespace(name)
    finally:
        _ip("netns", "delete", name)


_SETUP = f"""\
link set lo up
tuntap add dev {DEVICE} mode tun
addr add {KERNEL}/24 dev {DEVICE}
link set {DEVICE} mtu 1500 txqueuelen {QUEUE_PACKETS}
"""


def _ip(*arguments: str, text: str | None = None) -> None:
    subprocess.run(["ip", *arguments], input=text, check=True, capture_output=True, text=True, timeout=60)


def delete_leftovers() -> None:
    """Delete namespaces of test processes that were killed before they could."""
    for path in _FOLDER.glob("farweb-*-*"):
        owner = path.name.split("-")[1]
        if owner.isdigit() and not Path("/proc", owner).exists():
            # Another process may be at it.
            subprocess.run(["ip", "netns", "delete", path.name], check=False, capture_output=True, timeout=60)


@dataclass(frozen=True)
class TcpInfo:
    """The state of a connection in the kernel (`struct tcp_info` in `include/uapi/linux/tcp.h`)."""

    timestamps: bool
    sack: bool
    window_scaling: bool
    ecn: bool
    ecn_seen: bool
    """True when data came that was ECT."""
    send_shift: int
    receive_shift: int
    send_mss: int
    advertised_mss: int
    retransmits: int
    bytes_acknowledged: int
    bytes_received: int
    rtt_us: int

    @classmethod
    def of(cls, connection: socket.socket) -> "TcpInfo":
        """Ask the kernel."""
        data = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
        (options, shifts) = struct.unpack_from("BB", data, 5)
        words = struct.unpack_from("24I", data, 8)
        (acknowledged, received) = struct.unpack_from("QQ", data, 120)
        return cls(
            timestamps=bool(options & 1),
            sack=bool(options & 2),
            window_scaling=bool(options & 4),
            ecn=bool(options & 8),
            ecn_seen=bool(options & 16),
            send_shift=shifts & 15,
            receive_shift=shifts >> 4,
            send_mss=words[2],
            rtt_us=words[15],
            advertised_mss=words[19],
            retransmits=words[23],
            bytes_acknowledged=acknowledged,
            bytes_received=received,
        )
