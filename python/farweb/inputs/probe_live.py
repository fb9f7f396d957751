"""Connects to each host of a list while tcpdump captures, for `farweb workload probe --connect`.

This is how the NZ–US study learned the MSS and windows of its servers. No request is sent: a connection is closed at
once. tcpdump writes into an already open file and may run as any user.
"""

import asyncio
import contextlib
import os
import selectors
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from farweb.errors import RunError, WorkloadError, require_range
from farweb.files.atomic import staged_file
from farweb.files.scratch import scratch
from farweb.inputs.probe import DEFAULT_MSS, ProbeReport, check_default_mss, check_host_table, lines_of, probe_captures
from farweb.progress import Progress, unseen

_AT_ONCE = 8  # chosen: a few: SYNs do not queue behind each other, and no firewall takes it for a scan
_SNAP_BYTES = (
    160  # a cooked or tagged Ethernet header (20 B), IPv6 with an extension (48 B), TCP with all options (60 B)
)
_PORTS_MAX = 30  # chosen: keeps a filter short. Beyond, all of TCP is captured
_START_S = 10.0  # chosen: tcpdump starts within a second, on a busy machine too
_STOP_S = 5.0  # chosen: it ends at once
_LINGER_S = 0.2  # chosen: beside a round trip, for a server's time to acknowledge a FIN
_ENDING = (signal.SIGINT, signal.SIGTERM)
_SBIN = "/usr/local/sbin:/usr/sbin:/sbin"  # where tcpdump is on systems that keep it from the PATH of users


@dataclass(frozen=True)
class Target:
    """A host to connect to: its name or address, and the port."""

    name: str
    port: int


@dataclass(frozen=True)
class Attempt:
    """Result of a connection: the addresses that were tried, in their order, how long it took, and why it failed."""

    target: Target
    addresses: tuple[str, ...]
    took_s: float
    failure: str | None


def probe_hosts(
    hosts: str | Path,
    out: str | Path,
    *,
    port: int = 80,
    interface: str = "any",
    timeout_s: float = 5.0,
    keep: str | Path | None = None,
    default_mss: int = DEFAULT_MSS,
    progress: Progress = unseen,
) -> ProbeReport:
    """Make a host table from hosts as they answer now.

    Args:
        hosts: A file with a host a line: a name, an address, or either with `:` and a port (then an IPv6 address in
            brackets). `#` begins a comment. The host's name is this text without its port.
        out: The host table, as for `probe_captures`.
        port: With --connect: the port of hosts listed without one.
        interface: With --connect: where to capture, as tcpdump names it, or any.
        timeout_s: With --connect: how long to wait for an answer, in s, 0.01 to 600.
        keep: With --connect: keep the capture, a pcap file.
        default_mss: MSS of hosts that advertise none, in bytes.
        progress: Called as hosts are done.

    Raises:
        WorkloadError: The list cannot be read, no host has such a default MSS, or there is no tcpdump.
        RunError: Nothing can be captured, for want of the right or of the interface, or no host answered.
    """
    require_range("--port", port, 1, 65_535)
    require_range("--timeout", timeout_s, 0.01, 600)
    out, keep = Path(out), None if keep is None else Path(keep)
    check_host_table(out)
    check_default_mss(default_mss)
    if keep is not None and keep.is_dir():
        raise RunError(f"{keep}: is a folder; name a file")
    targets = read_targets(Path(hosts), port)
    with scratch() as folder:
        capture = folder / "probe.pcap"
        with _capturing(capture, interface, {target.port for target in targets}):
            attempts = asyncio.run(_connect_all(targets, timeout_s, progress))
            time.sleep(min(_LINGER_S + 2 * max(attempt.took_s for attempt in attempts), timeout_s))
        if keep is not None:
            with staged_file(keep) as stage:
                shutil.copyfile(capture, stage)
        return _report(attempts, capture, out, interface, default_mss, str(hosts))


def _report(
    attempts: list[Attempt], capture: Path, out: Path, interface: str, default_mss: int, source: str
) -> ProbeReport:
    failures = {attempt.target.name: attempt.failure for attempt in attempts if attempt.failure is not None}
    if all(attempt.failure is not None for attempt in attempts):
        reasons = ", ".join(f"{n} {reason}" for reason, n in Counter(failures.values()).most_common())
        raise RunError(f"{source}: none of {len(attempts)} hosts could be connected to: {reasons}")
    names = [(address, attempt.target.name) for attempt in attempts for address in attempt.addresses]
    try:
        report = probe_captures([capture], out, names=names, only_named=True, default_mss=default_mss)
    except WorkloadError as error:
        raise RunError(f'hosts answered, and tcpdump saw nothing of it on interface "{interface}": {error}') from None
    return replace(report, captures=(source,), failures=failures)


def read_targets(path: Path, port: int) -> list[Target]:
    """Read a list of hosts, without repetitions.

    Raises:
        WorkloadError: The list cannot be read, is empty, or a line is no host.
    """
    targets = []
    for number, words in lines_of(path):
        if len(words) > 1:
            raise WorkloadError(
                f"{path}:{number}: {len(words)} words; write one host a line: a name, an address or host:port"
            )
        name, listed = _split(words[0])
        if not name or (
            listed is not None and not (listed.isascii() and listed.isdigit() and 1 <= int(listed) <= 65_535)
        ):
            raise WorkloadError(f"{path}:{number}: {words[0]!r} is no host; write a name, an address or host:port")
        targets.append(Target(name, port if listed is None else int(listed)))
    if not targets:
        raise WorkloadError(f"{path}: names no host; write one a line")
    return list(dict.fromkeys(targets))


def _split(word: str) -> tuple[str, str | None]:
    """Name and port of `host:port`, `[address]:port`, and either without a port."""
    if word.startswith("["):
        address, bracket, rest = word[1:].partition("]")
        return (address, rest[1:]) if rest.startswith(":") else (address if bracket and not rest else "", None)
    if word.count(":") == 1:
        name, _, port = word.partition(":")
        return name, port
    return word, None  # an IPv6 address has more


async def _connect_all(targets: list[Target], timeout_s: float, progress: Progress) -> list[Attempt]:
    gate = asyncio.Semaphore(_AT_ONCE)
    done = 0

    async def connect(target: Target) -> Attempt:
        nonlocal done
        async with gate:
            attempt = await _connect(target, timeout_s)
        done += 1
        progress(done, len(targets), f"{done:,} of {len(targets):,} hosts")
        return attempt

    return await asyncio.gather(*map(connect, targets))


async def _connect(target: Target, timeout_s: float) -> Attempt:
    """Connect to the first address of a host that answers, and close."""
    loop = asyncio.get_running_loop()
    try:
        found = await loop.getaddrinfo(target.name, target.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return Attempt(target, (), 0.0, "with a name that is not known")
    tried: list[str] = []
    failure = ""
    for family, kind, protocol, _, address in found:
        tried.append(str(address[0]).partition("%")[0])
        began = time.monotonic()
        try:
            with socket.socket(family, kind, protocol) as connection:
                connection.setblocking(False)
                async with asyncio.timeout(timeout_s):
                    await loop.sock_connect(connection, address)
            return Attempt(target, tuple(tried), time.monotonic() - began, None)
        except TimeoutError:
            failure = "without an answer"
        except ConnectionRefusedError:
            failure = "that refused"
        except OSError as error:
            failure = f"with “{os.strerror(error.errno)}”" if error.errno else "with an error"
    return Attempt(target, tuple(tried), 0.0, failure)


@contextlib.contextmanager
def _capturing(capture: Path, interface: str, ports: set[int]) -> Iterator[None]:
    """Have tcpdump write TCP of these ports to `capture` for the block, and end it afterwards in any case.

    Raises:
        WorkloadError: There is no tcpdump.
        RunError: It cannot capture, or did not until the end.
    """
    program = shutil.which("tcpdump") or shutil.which("tcpdump", path=_SBIN)
    if program is None:
        raise WorkloadError(
            "--connect needs tcpdump, and it is not on the PATH: install it (Debian: apt-get install tcpdump)"
        )
    chosen = " or ".join(f"port {port}" for port in sorted(ports)) if len(ports) <= _PORTS_MAX else "tcp"
    command = [program, "-p", "-n", "-U", "--immediate-mode", "-i", interface, "-s", str(_SNAP_BYTES), "-w", "-"]
    tcpdump = None
    with capture.open("wb") as file:
        try:
            with _signals_wait():
                tcpdump = subprocess.Popen([*command, f"tcp and ({chosen})"], stdout=file, stderr=subprocess.PIPE)
            _wait_until_it_listens(tcpdump, interface)
            yield
            if tcpdump.poll() is not None:
                raise RunError("tcpdump ended before the last host was done; look at --interface")
        finally:
            if tcpdump is not None:
                _end(tcpdump)


@contextlib.contextmanager
def _signals_wait() -> Iterator[None]:
    """Delay signals that end the program until after the block, so no child process is left unknown."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    before = {number: signal.signal(number, lambda sent, _: came.append(sent)) for number in _ENDING}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if came:
        signal.raise_signal(came[0])


def _wait_until_it_listens(tcpdump: "subprocess.Popen[bytes]", interface: str) -> None:
    assert tcpdump.stderr is not None, "it is a pipe"
    said = b""
    deadline = time.monotonic() + _START_S
    with selectors.DefaultSelector() as selector:
        selector.register(tcpdump.stderr, selectors.EVENT_READ)
        while b"listening on" not in said:
            ready = selector.select(max(0.0, deadline - time.monotonic()))
            part = os.read(tcpdump.stderr.fileno(), 4096) if ready else b""
            if not part:
                raise RunError(_why_not(said.decode(errors="replace"), interface))
            said += part


def _why_not(said: str, interface: str) -> str:
    """Error of tcpdump when it does not capture, as a line to act on."""
    lines = [line.removeprefix("tcpdump: ").strip() for line in said.splitlines() if line.strip()]
    words = "; ".join(line for line in lines if "listening on" not in line) or "it said nothing"
    if "permission" in said.lower() or "not permitted" in said.lower():
        return f"--connect needs the right to capture: run it as root, or give tcpdump cap_net_raw ({words})"
    return f'tcpdump cannot capture on interface "{interface}": {words}'


def _end(tcpdump: "subprocess.Popen[bytes]") -> None:
    """End tcpdump after it has written its buffer."""
    with contextlib.suppress(ProcessLookupError):
        tcpdump.send_signal(signal.SIGINT)
    try:
        tcpdump.wait(_STOP_S)
    except subprocess.TimeoutExpired:
        tcpdump.kill()
        tcpdump.wait()
    finally:
        if tcpdump.stderr is not None:
            tcpdump.stderr.close()
