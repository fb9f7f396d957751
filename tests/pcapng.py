"""A reader of pcapng captures for tests: what the format's draft says, and nothing of farweb."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

LINKTYPE_RAW = 101


@dataclass
class Packet:
    """A packet: IPv4 and TCP headers taken apart."""

    interface: str
    time_ns: int
    length: int
    captured: int
    source: tuple[str, int]
    target: tuple[str, int]
    ttl: int
    identification: int
    seq: int
    ack: int
    flags: int
    window: int
    options: bytes
    payload: int
    data: bytes
    """The payload, as far as it was captured."""
    checksums_hold: bool | None
    """None where the capture has no payload."""


@dataclass
class Capture:
    """A capture: its interfaces and packets."""

    interfaces: list[str] = field(default_factory=list)
    packets: list[Packet] = field(default_factory=list)


def read(path: Path) -> Capture:
    """Read a little-endian capture of one section."""
    capture = Capture()
    for kind, body in _blocks(path.read_bytes()):
        if kind == 0x0A0D0D0A:
            magic, major, minor, length = struct.unpack_from("<IHHq", body)
            assert (magic, major, minor, length) == (0x1A2B3C4D, 1, 0, -1)
        elif kind == 1:
            link_type, _, _ = struct.unpack_from("<HHI", body)
            options = _options(body[8:])
            assert link_type == LINKTYPE_RAW
            assert options[9] == b"\x09"  # nanoseconds
            capture.interfaces.append(options[2].decode())
        else:
            assert kind == 6
            capture.packets.append(_packet(body, capture.interfaces))
    return capture


def _blocks(data: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        assert struct.unpack_from("<I", data, at + length - 4)[0] == length
        yield kind, data[at + 8 : at + length - 4]
        at += length


def _options(data: bytes) -> dict[int, bytes]:
    options, at = {}, 0
    while at < len(data):
        code, length = struct.unpack_from("<HH", data, at)
        if code == 0:
            break
        options[code] = data[at + 4 : at + 4 + length]
        at += 4 + (length + 3) // 4 * 4
    return options


def _packet(body: bytes, interfaces: list[str]) -> Packet:
    interface, high, low, captured, length = struct.unpack_from("<IIIII", body)
    data = body[20 : 20 + captured]
    versions, total, identification, fragment, ttl, protocol = struct.unpack_from("!BxHHHBB", data)
    assert (versions, total, fragment, protocol) == (0x45, length, 0x4000, 6)
    source, target = (".".join(map(str, data[at : at + 4])) for at in (12, 16))
    ports = struct.unpack_from("!HH", data, 20)
    seq, ack, offset, flags, window = struct.unpack_from("!IIBBH", data, 24)
    header = 20 + offset // 16 * 4
    holds = None
    if captured == length:
        pseudo = data[12:20] + struct.pack("!HH", 6, length - 20)
        holds = _sum(data[:20]) == 0xFFFF and _sum(pseudo + data[20:]) == 0xFFFF
    return Packet(
        interface=interfaces[interface],
        time_ns=(high << 32) + low,
        length=length,
        captured=captured,
        source=(source, ports[0]),
        target=(target, ports[1]),
        ttl=ttl,
        identification=identification,
        seq=seq,
        ack=ack,
        flags=flags,
        window=window,
        options=data[40:header],
        payload=length - header,
        data=data[header:],
        checksums_hold=holds,
    )


def _sum(data: bytes) -> int:
    words = struct.unpack(f"!{len(data) // 2}H", data[: len(data) // 2 * 2])
    total: int = sum(words) + (data[-1] << 8 if len(data) % 2 else 0)
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return total
