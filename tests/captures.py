"""Captures made byte by byte, for tests: pcap files of raw IPv4 packets with TCP headers."""

import socket
import struct
from dataclasses import dataclass, replace

FIN, SYN, RST, ACK = 1, 2, 4, 16
CLIENT = "192.0.2.1"


@dataclass(frozen=True)
class Packet:
    """A packet between a client and port 80 of a server."""

    time_s: float
    server: str
    port: int = 4000
    flags: int = SYN
    window: int = 4096
    mss: int | None = None
    scale: int | None = None
    down: bool = False

    def data(self) -> bytes:
        """The packet from its IP header on."""
        options = b"" if self.mss is None else struct.pack("!BBH", 2, 4, self.mss)
        options += b"" if self.scale is None else struct.pack("!BBBB", 1, 3, 3, self.scale)
        ports = (80, self.port) if self.down else (self.port, 80)
        seq, ack = (700, 101) if self.down else (100, 701)
        tcp = struct.pack("!HHIIBBHHH", *ports, seq, ack, 5 + len(options) // 4 << 4, self.flags, self.window, 0, 0)
        ends = [CLIENT, self.server]
        source, target = map(socket.inet_aton, ends[::-1] if self.down else ends)
        length = 20 + len(tcp) + len(options)
        ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0, length, 0, 0x4000, 64, 6, 0, source, target)
        return ip + tcp + options


def handshake(
    server: str,
    at_s: float = 0.0,
    rtt_s: float = 0.25,
    *,
    port: int = 4000,
    mss: int | None = 1460,
    window: int = 8760,
    scale: int | None = None,
) -> list[Packet]:
    """SYN, SYN|ACK and ACK; with a scale both ends offer one."""
    syn = Packet(at_s, server, port, scale=None if scale is None else 2)
    answer = replace(syn, time_s=at_s + rtt_s, flags=SYN | ACK, down=True, window=window, mss=mss, scale=scale)
    return [syn, answer, replace(syn, time_s=at_s + rtt_s + 0.001, flags=ACK, scale=None)]


def pcap(packets: list[Packet], snap: int = 65_535) -> bytes:
    """A capture, in microseconds."""
    parts = [struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, snap, 101)]
    for packet in packets:
        data = packet.data()
        seconds, micros = divmod(round(packet.time_s * 1e6), 1_000_000)
        parts += [struct.pack("<IIII", seconds, micros, min(snap, len(data)), len(data)), data[:snap]]
    return b"".join(parts)
