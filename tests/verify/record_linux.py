"""Record transfers of the running kernel over an emulated link, as rows of the reference table of Linux.

    python tests/verify/record_linux.py bbr/25-25/20M/100000 bbr/60-60/10M/100000/ba:data:8 bbr/30-30/10M/1000000/q100

A cell is stack, one-way delays to the client and to the server in ms, rate, bytes of the response, then what the link
drops, or `q` and the packets that its queue holds. Client and server are sockets of one namespace, both at its TUN
device, whose packets come back with their addresses exchanged. The link between them is made here: transmission at the
rate, a drop-tail queue that counts the packet in transmission, and the delay. Offloads are off. Times are the link's:
from the first SYN to the last byte of the response. A transfer with a packet delivered more than 1 ms late is made
again. The process takes real-time priority.
"""

import csv
import os
import re
import select
import socket
import statistics
import struct
import subprocess
import sys
import threading
import time
from collections import Counter, deque
from dataclasses import dataclass, field
from pathlib import Path

from namespaces import DEVICE, FARWEB, KERNEL, Namespace, namespace, no_namespace
from relay import open_device, read_packet, turned_back

TABLE = Path(__file__).parents[2] / "crates/farweb/tests/data/linux/cells.csv"
PORT = 8080
REQUEST_BYTES = 300
LATE_S = 0.001
"""Lateness of a delivery for which a transfer is made again."""
SPIN_S = 0.0002
"""Time before a delivery from which on the link no longer sleeps."""
QUEUE_PACKETS = 20_000
REPETITIONS, REPETITIONS_FULL = 3, 10
"""Of a cell, and of one whose queue may overflow, where numbers of drops differ."""
_NAME = re.compile(
    r"(?P<stack>[a-z-]+)/(?P<to_client>[0-9]+)-(?P<to_server>[0-9]+)/(?P<number>[0-9.]+)(?P<unit>[kM])/(?P<size>[0-9]+)"
    r"(/(?P<drop>(ab|ba):(syn|synack|data|ack|fin):[0-9,-]+))?(/q(?P<queue>[0-9]+))?"
)
_RATES = {"k": 1_000, "M": 1_000_000}
_SETTINGS = {
    "tcp_no_metrics_save": "1",
    "tcp_ecn": "0",
    "tcp_fastopen": "0",
    "tcp_mtu_probing": "0",
    "tcp_wmem": "4096 16777216 33554432",
    "tcp_rmem": "4096 131072 33554432",
}
_CONTROLS = {"bbr": b"bbr", "modern": b"cubic", "modern-reno": b"reno", "modern-paced": b"cubic", "reno-paced": b"reno"}
_SO_MAX_PACING_RATE = 47
_FIN, _SYN, _ACK = 0x01, 0x02, 0x10


@dataclass(frozen=True)
class Cell:
    """A transfer over a link."""

    name: str
    stack: str
    to_client_ms: int
    to_server_ms: int
    rate_bps: int
    size: int
    drop: str = ""
    queue: int = QUEUE_PACKETS

    @classmethod
    def parse(cls, text: str) -> "Cell":
        """The cell that a name says.

        Raises:
            SystemExit: It says none.
        """
        found = _NAME.fullmatch(text)
        if found is None or found["stack"] not in _CONTROLS:
            stacks = ", ".join(_CONTROLS)
            raise SystemExit(f"{text}: no cell; write {stacks} as in bbr/25-25/20M/100000 or bbr/25-25/1.5M/40000/q20")
        bps = round(float(found["number"]) * _RATES[found["unit"]])
        way = (int(found["to_client"]), int(found["to_server"]), bps, int(found["size"]))
        return cls(text, found["stack"], *way, found["drop"] or "", int(found["queue"] or QUEUE_PACKETS))

    def dropped(self, direction: str) -> dict[str, set[int]]:
        """Numbers of packets that a direction drops, by their class."""
        if not self.drop.startswith(f"{direction}:"):
            return {}
        _, kind, numbers = self.drop.split(":")
        found: set[int] = set()
        for part in numbers.split(","):
            first, _, last = part.partition("-")
            found |= set(range(int(first), int(last or first) + 1))
        return {kind: found}


@dataclass
class Way:
    """A direction of the link."""

    rate_bps: int
    delay_s: float
    queue: int
    drop: dict[str, set[int]]
    free_at: float = 0.0
    departures: deque[float] = field(default_factory=deque)
    under_way: deque[tuple[float, bytes]] = field(default_factory=deque)
    counts: Counter[str] = field(default_factory=Counter)
    highest: int = 0
    again: int = 0
    overflowed: int = 0

    def send(self, now: float, packet: bytes) -> None:
        """A packet joins."""
        kind, end = classify(packet)
        self.counts[kind] += 1
        if kind == "data":
            self.again += end <= self.highest
            self.highest = max(self.highest, end)
        if self.counts[kind] in self.drop.get(kind, ()):
            return
        while self.departures and self.departures[0] <= now:
            self.departures.popleft()
        if len(self.departures) >= self.queue:
            self.overflowed += 1
            return
        self.free_at = max(self.free_at, now) + len(packet) * 8 / self.rate_bps
        self.departures.append(self.free_at)
        self.under_way.append((self.free_at + self.delay_s, packet))


def classify(packet: bytes) -> tuple[str, int]:
    """Class of a packet, and the sequence number behind its data."""
    header = (packet[0] & 0x0F) * 4
    (sequence,) = struct.unpack_from("!I", packet, header + 4)
    offset, flags = packet[header + 12] >> 4, packet[header + 13]
    payload = len(packet) - header - offset * 4
    if flags & _SYN:
        return ("synack" if flags & _ACK else "syn"), 0
    return ("data" if payload else "fin" if flags & _FIN else "ack"), sequence + payload


@dataclass
class Link:
    """The link of one transfer, and what it saw."""

    device: int
    cell: Cell
    is_over: bool = False
    began: float | None = None
    times_ms: dict[str, float] = field(default_factory=dict)
    late_s: float = 0.0

    def __post_init__(self) -> None:
        cell = self.cell
        self.up = Way(cell.rate_bps, cell.to_server_ms / 1000, cell.queue, cell.dropped("ab"))
        self.down = Way(cell.rate_bps, cell.to_client_ms / 1000, cell.queue, cell.dropped("ba"))

    def run(self) -> None:
        """Carry packets until the transfer is over."""
        while not self.is_over:
            self._take_all()
            now = time.monotonic()
            way = min((self.up, self.down), key=lambda way: way.under_way[0][0] if way.under_way else now + 0.05)
            due = way.under_way[0][0] if way.under_way else now + 0.05
            if due <= now:
                self._deliver(now, way)
            elif due - now > SPIN_S:
                select.select([self.device], [], [], due - now - SPIN_S)

    def _take_all(self) -> None:
        while packet := read_packet(self.device):
            if packet[0] >> 4 == 4 and packet[9] == socket.IPPROTO_TCP:
                now = time.monotonic()
                self.began = self.began or now
                header = (packet[0] & 0x0F) * 4
                (port,) = struct.unpack_from("!H", packet, header + 2)
                (self.up if port == PORT else self.down).send(now, packet)

    def _deliver(self, now: float, way: Way) -> None:
        due, packet = way.under_way.popleft()
        self.late_s = max(self.late_s, now - due)
        if way is self.down and self.began is not None:
            kind, _ = classify(packet)
            at = (due - self.began) * 1000
            self.times_ms.setdefault(kind, at)
            if kind == "data":
                self.times_ms["last"] = at
        os.write(self.device, turned_back(packet))


def transfer(there: Namespace, device: int, cell: Cell) -> Link:
    """Make one transfer over the link."""
    link = Link(device, cell)
    server, client = there.socket(), there.socket()
    for each in (server, client):
        each.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, _CONTROLS[cell.stack])
        if cell.stack.endswith("-paced"):
            each.setsockopt(socket.SOL_SOCKET, _SO_MAX_PACING_RATE, struct.pack("Q", 1 << 40))
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    server.bind((KERNEL, PORT))
    server.listen()
    threads = [threading.Thread(target=link.run), threading.Thread(target=_serve, args=(server, cell.size))]
    for thread in threads:
        thread.start()
    try:
        with client:
            client.connect((FARWEB, PORT))
            client.sendall(b"x" * REQUEST_BYTES)
            left = cell.size
            while left and (got := client.recv(1 << 20)):
                left -= len(got)
    finally:
        threads[1].join()
        time.sleep(0.1)
        link.is_over = True
        threads[0].join()
        server.close()
    return link


def _serve(server: socket.socket, size: int) -> None:
    connection, _ = server.accept()
    with connection:
        connection.recv(REQUEST_BYTES, socket.MSG_WAITALL)
        connection.sendall(b"y" * size)


def record(cell: Cell) -> list[Link]:
    """Repeat a transfer until as many as are wanted were on time; each in a namespace of its own."""
    wanted = REPETITIONS_FULL if cell.queue < QUEUE_PACKETS else REPETITIONS
    found: list[Link] = []
    for _ in range(5 * wanted):
        with namespace() as there:
            _prepare(there)
            device = open_device(there)
            try:
                subprocess.run(["ip", "-n", there.name, "link", "set", DEVICE, "up"], check=True)
                link = transfer(there, device, cell)
            finally:
                os.close(device)
        if link.late_s <= LATE_S:
            found.append(link)
        if len(found) == wanted:
            return found
    raise SystemExit(f"{cell.name}: deliveries were late in {5 * wanted - len(found)} of {5 * wanted} transfers")


def _prepare(there: Namespace) -> None:
    """Offloads off, segments of one MSS, and settings of the reference."""
    with there.entered():
        for name, value in _SETTINGS.items():
            Path("/proc/sys/net/ipv4", name).write_text(value)
    one = ["ip", "-n", there.name, "link", "set", DEVICE, "gso_max_segs", "1"]
    subprocess.run(one, check=True, capture_output=True)


def row(cell: Cell, links: list[Link]) -> dict[str, str]:
    """The row of a cell, in the columns of the table."""
    totals = [link.times_ms["last"] for link in links]
    full = [link.up.overflowed + link.down.overflowed for link in links]

    def middle(values: list[float] | list[int]) -> str:
        return f"{statistics.median(values):.3f}"

    again = statistics.median_low([link.up.again + link.down.again for link in links])
    total = middle(totals)
    return {
        "cell": f"own/{cell.name}",
        "family": "own",
        "stack": cell.stack,
        "d_to_client_ms": str(cell.to_client_ms),
        "d_to_server_ms": str(cell.to_server_ms),
        "rate_bps": str(cell.rate_bps),
        "size": str(cell.size),
        "queue_pkts": str(cell.queue),
        "nconn": "1",
        "nreq": "1",
        "gap_s": "0.0",
        "server_delay_s": "0.0",
        "drop": cell.drop,
        "req": "0",
        "reps": str(len(links)),
        "connect_ms": middle([link.times_ms["synack"] for link in links]),
        "ttfb_ms": middle([link.times_ms["data"] for link in links]),
        "total_ms": total,
        "total_min": f"{min(totals):.3f}",
        "total_max": f"{max(totals):.3f}",
        "spread_ms": f"{max(totals) - min(totals):.3f}",
        "conn_mean_ms": total,
        "wire_total_ms": total,
        "wire_retx": str(again),
        "queue_drops": str(statistics.median_low(full)),
        "qd_min": str(min(full)),
        "qd_max": str(max(full)),
        "err_max_us": f"{1e6 * max(link.late_s for link in links):.1f}",
    }


def main(names: list[str]) -> None:
    """Print the rows of cells."""
    if reason := no_namespace():
        raise SystemExit(reason)
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))
    with TABLE.open() as table:
        columns = next(csv.reader(table))
    out = csv.DictWriter(sys.stdout, columns)
    for name in names:
        cell = Cell.parse(name)
        out.writerow(row(cell, record(cell)))
        sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
