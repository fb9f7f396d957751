"""A long path from a namespace's TUN device back into it, and how many turns the bytes of a server took.

A packet comes back after the delay with its addresses exchanged, which leaves both checksums as they are: to each end
the other one seems to be at `FARWEB`. Nothing is lost; packets of a direction keep their order.
"""

import fcntl
import os
import select
import struct
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from namespaces import DEVICE, Namespace

_TUNSETIFF = 0x400454CA
_TUN, _NO_HEADER = 0x0001, 0x1000
_SYN, _ACK = 0x02, 0x10


@dataclass(frozen=True)
class Segment:
    """A TCP segment of an IPv4 packet."""

    from_port: int
    sequence: int
    acknowledged: int | None
    payload: int
    is_syn: bool

    @classmethod
    def of(cls, packet: bytes) -> "Segment":
        """The segment in a packet."""
        header = (packet[0] & 0x0F) * 4
        port, _, sequence, acknowledged, offset, flags = struct.unpack_from("!HHIIBB", packet, header)
        payload = len(packet) - header - (offset >> 4) * 4
        return cls(port, sequence, acknowledged if flags & _ACK else None, payload, bool(flags & _SYN))


@dataclass
class Flight:
    """Bytes that a server sends before its client's second flight, and their turns.

    A segment's turn follows the turn of the last byte acknowledged at the server when it left; segments of the first
    turn wait for no ACK of the server's data.
    """

    port: int
    _first: int = 0
    _turns: dict[int, int] = field(default_factory=dict)
    _turn: int = 1
    _hello: int | None = None
    is_over: bool = False

    @property
    def bytes(self) -> int:
        """Its bytes."""
        return max(self._turns, default=0)

    @property
    def segments(self) -> int:
        """The segments that carried them."""
        return len(self._turns)

    @property
    def turns(self) -> int:
        """Turns they took to leave."""
        return max(self._turns.values(), default=0)

    def on_left(self, segment: Segment) -> None:
        """A segment left an end."""
        if segment.from_port == self.port:
            if segment.is_syn:
                self._first = segment.sequence + 1
            elif segment.payload and not self.is_over:
                end = (segment.sequence + segment.payload - self._first) % 2**32
                self._turns.setdefault(end, self._turn)
        elif segment.payload and not segment.is_syn:
            if self._hello is None:
                self._hello = segment.sequence
            elif self.bytes and segment.sequence != self._hello:
                self.is_over = True

    def on_arrived(self, segment: Segment) -> None:
        """A segment arrived at the other end."""
        if segment.from_port != self.port and segment.acknowledged is not None and not self.is_over:
            acknowledged = (segment.acknowledged - self._first) % 2**32
            heard = [turn for end, turn in self._turns.items() if end <= acknowledged < 2**31]
            self._turn = max(self._turn, max(heard, default=0) + 1)


@contextmanager
def relayed(there: Namespace, port: int, delay_s: float) -> Iterator[list[Flight]]:
    """The path, for servers at this port; the flight of each connection is appended when its SYN leaves."""
    device = open_device(there)
    flights: list[Flight] = []
    end, stop = os.pipe()
    thread = threading.Thread(target=_relay, args=(device, end, port, delay_s, flights))
    thread.start()
    try:
        yield flights
    finally:
        os.close(stop)
        thread.join()
        os.close(end)
        os.close(device)


def open_device(there: Namespace) -> int:
    """The namespace's TUN device, which is then up; to be closed."""
    with there.entered():
        device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
        fcntl.ioctl(device, _TUNSETIFF, struct.pack("16sH22x", DEVICE.encode(), _TUN | _NO_HEADER))
    return device


def read_packet(device: int) -> bytes:
    """The next packet that has left; empty where there is none."""
    try:
        return os.read(device, 65_536)
    except BlockingIOError:
        return b""


def turned_back(packet: bytes) -> bytes:
    """The packet with its addresses exchanged."""
    return packet[:12] + packet[16:20] + packet[12:16] + packet[20:]


def _relay(device: int, end: int, port: int, delay_s: float, flights: list[Flight]) -> None:
    under_way: deque[tuple[float, bytes]] = deque()
    while True:
        wait = max(0.0, under_way[0][0] - time.monotonic()) if under_way else None
        ready, _, _ = select.select([device, end], [], [], wait)
        if end in ready:
            return
        # All that has left is read before anything arrives: a late thread changes no turn.
        while packet := read_packet(device):
            if packet[0] >> 4 != 4:
                continue
            segment = Segment.of(packet)
            if segment.is_syn and segment.acknowledged is None:
                flights.append(Flight(port))
            flights[-1].on_left(segment)
            under_way.append((time.monotonic() + delay_s, packet))
        if under_way and under_way[0][0] <= time.monotonic():
            packet = under_way.popleft()[1]
            flights[-1].on_arrived(Segment.of(packet))
            os.write(device, turned_back(packet))
