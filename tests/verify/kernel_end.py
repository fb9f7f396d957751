"""The kernel's end of a talk: an ordinary socket that is led through lists of steps, a thread for each list."""

import socket
import struct
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from namespaces import TcpInfo

Steps = Sequence[Sequence[str]]
"""Lists of steps that run side by side, after which the connection is closed; `farweb-tun` has the same ones."""

PATIENCE_S = 90.0
"""Seconds until a call that does not return has failed; the longest talk takes a third of that."""

PATTERN_BYTES = 4_000_000
"""Longest stream."""

_UNITS = {"B": 1, "kB": 1_000, "MB": 1_000_000, "ms": 0.001, "s": 1.0}


def _pattern(size: int) -> bytes:
    """The bytes that both ends write: the top byte of each offset's hash (MurmurHash3's 32-bit finaliser)."""
    mixed = np.arange(size, dtype=np.uint32)
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        mixed ^= mixed >> np.uint32(shift)
        mixed *= np.uint32(factor)
    return (mixed >> np.uint32(24)).astype(np.uint8).tobytes()


PATTERN = _pattern(PATTERN_BYTES)


def quantity(text: str) -> float:
    """Bytes or seconds of a text such as `1 MB`."""
    number, unit = text.split()
    return float(number) * _UNITS[unit]


@dataclass
class KernelEnd:
    """A socket and the steps taken with it."""

    connection: socket.socket
    outcomes: list[str] = field(default_factory=list)
    """How each list of steps ended: `done`, or at which step and why."""
    info: TcpInfo | None = None
    """The kernel's counts as the connection was about to be left."""
    written: int = 0
    read: int = 0

    def run(self, lists: Steps) -> None:
        """Take all steps of all lists."""
        self.connection.settimeout(PATIENCE_S)
        self.outcomes = ["not done"] * len(lists)
        threads = [threading.Thread(target=self._run_list, args=pair, daemon=True) for pair in enumerate(lists)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE_S)
        if self.connection.fileno() >= 0:
            self._leave()
            self.connection.close()

    def _run_list(self, index: int, steps: Sequence[str]) -> None:
        for step in steps:
            try:
                self._take(step)
            except (OSError, ValueError) as problem:
                self.outcomes[index] = f"{step}: {problem}"
                return
        self.outcomes[index] = "done"

    def _take(self, step: str) -> None:
        match step.split(maxsplit=1):
            case ["write", "reset"]:
                self._write_to_reset()
            case ["write", size]:
                end = self.written + int(quantity(size))
                self.connection.sendall(PATTERN[self.written : end])
                self.written = end
            case ["read", "end"]:
                while self._read(1 << 20):
                    pass
            case ["read", "reset"]:
                self._read_to_reset()
            case ["read", size]:
                rest = int(quantity(size))
                while rest > 0:
                    read = self._read(rest)
                    if read == 0:
                        raise ValueError(f"the stream ended {rest} B before")
                    rest -= read
            case ["wait", span]:
                time.sleep(quantity(span))
            case ["shutdown"]:
                self.connection.shutdown(socket.SHUT_WR)
            case ["close"]:
                self._leave()
                self.connection.close()
            case ["abort"]:
                self._leave()
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.connection.close()
            case _:
                raise ValueError("no such step")

    def _read(self, limit: int) -> int:
        data = self.connection.recv(min(limit, 1 << 20))
        if data != PATTERN[self.read : self.read + len(data)]:
            raise ValueError(f"wrong bytes between {self.read} and {self.read + len(data)}")
        self.read += len(data)
        return len(data)

    def _read_to_reset(self) -> None:
        patience = time.monotonic() + PATIENCE_S / 2
        try:
            while self._read(1 << 20):
                pass
        except ConnectionResetError:
            return
        # After the end of the peer's stream a reset shows only here.
        while self.connection.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == 0:
            if time.monotonic() > patience:
                raise ValueError("the stream ended without a reset")
            time.sleep(0.05)

    def _write_to_reset(self) -> None:
        try:
            while self.written < len(PATTERN):
                self.written += self.connection.send(PATTERN[self.written : self.written + 65536])
        except (ConnectionResetError, BrokenPipeError):
            return
        raise ValueError("all was written without a reset")

    def _leave(self) -> None:
        """Note what the kernel knows, for the last time."""
        self.info = TcpInfo.of(self.connection)
