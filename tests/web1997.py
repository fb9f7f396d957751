"""Generates a synthetic log of a proxy of 1997, and the hosts that it names: two logs of `examples/`, packed.

Models ten minutes of a proxy at the far end of a long path: people load pages from Zipf-popular hosts, a page is a
document and the images that follow it, sizes have a lognormal body and a Pareto tail, and the time of a request is the
server's thinking, the rounds of a slow-starting transfer over the network behind the proxy, and now and then a
retransmission timeout. Lines that carry no response over the path (cache hits, refused requests, queries between
caches) and lines that end badly (aborted, not found) are mixed in, for an import to leave out.

Leaves out: daily rhythm, revisits of the same object, correlation between a host's speed and its window, HTTP/1.1.

Sources, by table: proxy traces of 1996–1998 (Mah, INFOCOM 1997; Barford and Crovella, SIGMETRICS 1998; Breslau et al.,
INFOCOM 1999) for sizes and popularity; the SYN fingerprints of OpenBSD's pf.os for windows; one 10-minute sample of the
New Zealand Internet Exchange had 421 requests (the number to come near) and inbound to outbound bytes of 19 to 1, which
a mean response of some 11 kB gives. Values without a source are marked as chosen.
"""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import TypeVar

SPAN_S = 600.0
HOSTS = 600
PAGES = 100
"""Ten minutes, hosts there are, page views. Chosen: some 600 objects from 120 hosts, 420 across the path."""

ORIGIN_UNIX_S = 867_726_000
"""The first second of the log: 1997-07-01 03:00 UTC, three in the afternoon in New Zealand."""

IMAGES_MEAN = 5.0
"""Images of a page, geometric: with the document 6 objects, within the 5 to 8 of pages of the time."""

POPULARITY = 0.75
"""Zipf exponent of hosts. Breslau et al. found 0.64 to 0.83, for documents."""

BODY_MEDIAN, BODY_SIGMA = 2500.0, 1.1
TAIL_SHARE, TAIL_FROM, TAIL_TO, TAIL_ALPHA = 0.20, 10_000.0, 1_000_000.0, 1.2
"""Sizes of responses, headers included, in bytes: lognormal body, Pareto tail, cut lest ten minutes depend on one file.
The mean is 0.80 · 2500 · exp(1.1²/2) + 0.20 · 36,300 ≈ 10,900, the median near 3,500."""

THINKING_MEDIAN_S, THINKING_SIGMA = 0.1, 1.4
"""Thinking time of a server, lognormal: nine of ten below 0.6 s. Chosen within reports of 1997."""

RTT_S = (0.04, 0.12)
LOSS, TIMEOUT_S = 0.03, 3.0
"""Round trip behind the proxy, uniform by host, share of requests that wait for a timer, and how long. Chosen for the 1
to 5 percent of packets that the United States of 1997 lost."""

WINDOWS = {
    8760: 0.30,
    8192: 0.15,
    4096: 0.10,
    16384: 0.06,
    17520: 0.06,
    24820: 0.06,
    32120: 0.05,
    32736: 0.05,
    33580: 0.04,
    32768: 0.04,
    61440: 0.06,
    6144: 0.03,
}
"""Windows that servers advertise, in bytes, with their shares: Solaris 2.6 8760, Windows NT and BSD/OS 8192, SunOS
4096, BSD 16384 and 17520, Solaris 2.5 24820 and 33580, Linux 32120 and 32736, HP-UX 32768, IRIX 61440, NetWare 6144.
Shares chosen."""

SEGMENTS = {1460: 0.50, 1480: 0.20, 536: 0.12, 512: 0.12, 1456: 0.03, 1024: 0.03}
"""Largest segments of servers, in bytes, with their shares: Ethernet's, 1480 of hosts that forget a header, the
default, BSD's off its own network, dial-up and others. Shares chosen."""

ENDINGS = {
    ("TCP_MISS", 200): 0.66,
    ("TCP_CLIENT_REFRESH_MISS", 200): 0.04,
    ("TCP_HIT", 200): 0.18,
    ("TCP_IMS_HIT", 304): 0.03,
    ("TCP_REFRESH_HIT", 304): 0.04,
    ("TCP_MISS", 404): 0.02,
    ("TCP_MISS", 0): 0.03,
}
"""How requests end, with their shares: answered across the path, answered by the cache, unchanged, not found, aborted
(which Squid writes as status 000). Chosen: a cache of the time answered a quarter."""

REFUSED, QUERIES, TUNNELS = 12, 20, 4
"""Lines of other kinds: requests that the proxy refuses, queries of other caches (ICP), encrypted tunnels. Chosen."""

T = TypeVar("T")
_Line = tuple[int, str]


@dataclass(frozen=True)
class Host:
    """An origin server.

    Attributes:
        name: Its DNS name, under a domain that is reserved for examples.
        window_bytes: Largest window that it advertises.
        mss_bytes: Largest segment that it accepts.
        rtt_s: Round trip between it and the proxy that wrote the log.
    """

    name: str
    window_bytes: int
    mss_bytes: int
    rtt_s: float


@dataclass(frozen=True)
class Web:
    """A log and the hosts that it names.

    Attributes:
        lines: Lines of Squid's native access.log, ordered by the end of their requests, as Squid writes them.
        hosts: The hosts in it, the most popular first.
    """

    lines: Sequence[str]
    hosts: Sequence[Host]

    @property
    def log(self) -> str:
        """The log as a text."""
        return "".join(f"{line}\n" for line in self.lines)

    @property
    def table(self) -> str:
        """The host table, as tab-separated values."""
        rows = [("host", "name", "window_bytes", "mss_bytes")]
        rows += [(host.name, host.name, str(host.window_bytes), str(host.mss_bytes)) for host in self.hosts]
        return "".join("\t".join(row) + "\n" for row in rows)


def generate(seed: int) -> Web:
    """Make a log.

    Args:
        seed: The same seed gives the same log on any machine and version of Python, since only the generator's
            `random()` is used, a fixed sequence.
    """
    draw = _Draw(seed)
    hosts = [_host(draw, number) for number in range(1, HOSTS + 1)]
    weights = [rank**-POPULARITY for rank in range(1, HOSTS + 1)]
    lines: list[_Line] = []
    for page in range(PAGES):
        lines += _page(draw, page, draw.one_of(hosts, weights), hosts, weights)
    lines += _others(draw, hosts)
    lines.sort()
    named = "\n".join(line for _, line in lines)
    return Web(named.split("\n"), [host for host in hosts if f"/{host.name}" in named])


class _Draw:
    """Samples by inverse transform from one stream."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed).random

    def uniform(self, low: float, high: float) -> float:
        return low + (high - low) * self._random()

    def chance(self, share: float) -> bool:
        return self._random() < share

    def exponential(self, mean: float) -> float:
        return -mean * math.log(1.0 - self._random())

    def geometric(self, mean: float) -> int:
        """Failures before the first success."""
        return int(math.log(1.0 - self._random()) / math.log(mean / (1.0 + mean)))

    def lognormal(self, median: float, sigma: float) -> float:
        return median * math.exp(sigma * NormalDist().inv_cdf(self.uniform(1e-9, 1.0 - 1e-9)))

    def pareto(self, low: float, high: float, alpha: float) -> float:
        """Pareto cut at `high`."""
        kept = 1.0 - (low / high) ** alpha
        return low * math.pow(1.0 - kept * self._random(), -1.0 / alpha)

    def one_of(self, values: Sequence[T], weights: Sequence[float]) -> T:
        place = self._random() * math.fsum(weights)
        for value, weight in zip(values, weights, strict=True):
            place -= weight
            if place < 0:
                return value
        return values[-1]


def _host(draw: _Draw, number: int) -> Host:
    return Host(
        name=f"www.site{number:03}.example",
        window_bytes=draw.one_of(list(WINDOWS), list(WINDOWS.values())),
        mss_bytes=draw.one_of(list(SEGMENTS), list(SEGMENTS.values())),
        rtt_s=draw.uniform(*RTT_S),
    )


def _page(draw: _Draw, page: int, host: Host, hosts: Sequence[Host], weights: Sequence[float]) -> list[_Line]:
    """A document, and its images once it is there. One image in seven comes from another host."""
    client = _client(draw)
    began = draw.uniform(0, SPAN_S)
    path = f"/{page:03}/" if draw.chance(0.5) else f"/{page:03}/index.html"
    document = _object(draw, began, client, host, path, "text/html")
    lines = [document]
    now = document[0] / 1000
    for image in range(draw.geometric(IMAGES_MEAN)):
        now += draw.exponential(0.15)  # chosen: a browser of four connections, over a modem
        owner = draw.one_of(hosts, weights) if draw.chance(1 / 7) else host
        kind = "gif" if draw.chance(0.8) else "jpeg"
        lines.append(_object(draw, now, client, owner, f"/{page:03}/image{image:02}.{kind}", f"image/{kind}"))
    return lines


def _object(draw: _Draw, began_s: float, client: str, host: Host, path: str, kind: str) -> _Line:
    code, status = draw.one_of(list(ENDINGS), list(ENDINGS.values()))
    size = _response_bytes(draw)
    elapsed_s = _elapsed_s(draw, host, size)
    peer = f"DIRECT/{host.name}"
    if code in ("TCP_HIT", "TCP_IMS_HIT"):
        peer, elapsed_s = "NONE/-", draw.exponential(0.02)  # chosen: a disk of the time
    if status == 304:
        size = 180  # a header alone
    if status == 404:
        size, kind = 420, "text/html"
    if status == 0:
        size = int(size * draw.uniform(0, 1)) if draw.chance(0.5) else 0
    url = f"GET http://{host.name}{path}"
    return _line(began_s + elapsed_s, elapsed_s, client, f"{code}/{status:03}", size, url, peer, kind)


def _others(draw: _Draw, hosts: Sequence[Host]) -> list[_Line]:
    """Lines that are no request of a page."""
    lines = []
    for _ in range(REFUSED):
        end = draw.uniform(0, SPAN_S)
        url = f"GET http://{hosts[-1].name}/private/"
        lines.append(_line(end, 0.002, _client(draw), "TCP_DENIED/403", 1040, url, "NONE/-", "-"))
    for _ in range(QUERIES):
        end = draw.uniform(0, SPAN_S)
        code = "UDP_HIT/000" if draw.chance(0.2) else "UDP_MISS/000"
        url = f"ICP_QUERY http://{draw.one_of(hosts, [1.0] * len(hosts)).name}/"
        lines.append(_line(end, 0.0, "192.0.2.250", code, 77, url, "NONE/-", "-"))
    for _ in range(TUNNELS):
        host = draw.one_of(hosts, [1.0] * len(hosts))
        elapsed, size = draw.uniform(2, 40), int(draw.uniform(1_000, 20_000))
        end = draw.uniform(elapsed, SPAN_S)
        url = f"CONNECT {host.name}:443"
        lines.append(_line(end, elapsed, _client(draw), "TCP_MISS/200", size, url, f"DIRECT/{host.name}", "-"))
    return lines


def _response_bytes(draw: _Draw) -> int:
    if draw.chance(TAIL_SHARE):
        return int(draw.pareto(TAIL_FROM, TAIL_TO, TAIL_ALPHA))
    return max(150, int(draw.lognormal(BODY_MEDIAN, BODY_SIGMA)))  # no response is shorter than its header


def _elapsed_s(draw: _Draw, host: Host, size: int) -> float:
    """Thinking, a round trip to connect, and one for each doubling of the amount sent, sometimes with a timeout."""
    rounds = 1 + math.ceil(math.log2(1 + size / host.mss_bytes))
    waiting = TIMEOUT_S if draw.chance(LOSS) else 0.0
    return draw.lognormal(THINKING_MEDIAN_S, THINKING_SIGMA) + rounds * host.rtt_s + waiting


def _client(draw: _Draw) -> str:
    return f"192.0.2.{1 + int(draw.uniform(0, 60))}"


def _line(
    end_s: float, elapsed_s: float, client: str, ending: str, size: int, request: str, peer: str, kind: str
) -> _Line:
    """A line and when it was written, in whole milliseconds as Squid counts."""
    end_ms, elapsed_ms = round(end_s * 1000), round(elapsed_s * 1000)
    stamp = f"{ORIGIN_UNIX_S + end_ms // 1000}.{end_ms % 1000:03}"
    return end_ms, f"{stamp} {elapsed_ms:6} {client} {ending} {size} {request} - {peer} {kind}"
