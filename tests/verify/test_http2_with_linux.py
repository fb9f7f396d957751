"""HTTP/2 with real programs: farweb fetches from nghttpd and nginx, and nghttp and curl fetch from farweb.

Frames are counted three times: by farweb's endpoint, by tshark in what the kernel sent and received, and, where that
does not depend on time, by what the sizes of messages and credits say there must be. curl fetches one file: 7.88 fails
with error 16 where it would use a connection with prior knowledge again, with nghttpd as well.
"""

import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from kernel_end import PATTERN
from namespaces import FARWEB, Namespace, missing, namespace
from servers import nghttpd, nginx
from talks import CAPTURES, PROFILES, SERVER_PORT, Way, farweb_tun, wait_for_the_end
from under_way import under_way

if reason := missing("curl", "nginx", "nghttp", "nghttpd", "tshark"):
    pytest.skip(reason, allow_module_level=True)

pytestmark = [pytest.mark.timeout(300), pytest.mark.alone]

FILES = {
    "short": PATTERN[:1],
    "empty": b"",
    "page": PATTERN[1000:31_000],
    "film": PATTERN[7:1_000_007],
    "song": PATTERN[5:200_005],
}
UP, DOWN = Way(drop=("ack 5..7",)), Way(drop=("data 4", "data 10..12"), twice=("data 7",))
"""Some ACKs and some segments are lost."""

WHOLE = "1500 B"
"""Of every packet tshark has to see all."""

NAMES = ("DATA", "HEADERS", "PRIORITY", "RST_STREAM", "SETTINGS", "PUSH_PROMISE", "PING", "GOAWAY", "WINDOW_UPDATE")
TYPES = dict(enumerate(NAMES))
"""Types of frames (RFC 9113, section 6)."""


@dataclass(frozen=True)
class Case:
    """Files that are fetched all at once over one connection."""

    name: str
    program: str
    """The other end: `nghttpd`, `nginx`, or a command that fetches from farweb and writes to its output."""
    preset: str
    """As which program farweb speaks."""
    files: tuple[str, ...]
    stream_credit: str | None = None
    """Of farweb, instead of that program's."""
    profile: str = "linux"

    def __str__(self) -> str:
        return self.name

    @property
    def is_client(self) -> bool:
        """True when farweb fetches."""
        return self.program in ("nghttpd", "nginx")

    @property
    def capture(self) -> Path:
        """Folder of what both ends saw."""
        return CAPTURES / f"http2-{self.name}"

    def run(self) -> "Fetched":
        with TemporaryDirectory(prefix="farweb-") as name, namespace() as there:
            folder = Path(name)
            site = folder / "site"
            site.mkdir()
            for file, content in FILES.items():
                (site / file).write_bytes(content)
            saved = folder / "saved"
            saved.mkdir()
            fetch = fetch_by_farweb if self.is_client else fetch_from_farweb
            return fetch(self, there, folder, site, saved)


@dataclass(frozen=True)
class Fetched:
    """What came of it."""

    report: dict[str, Any]
    content: bytes
    """The files, one after the other."""
    sent: Mapping[str, int]
    """Frames that farweb sent, as tshark counts them."""
    received: Mapping[str, int]
    complaints: list[str]
    """What tshark says of frames that it cannot read."""

    @property
    def application(self) -> dict[str, Any]:
        """What farweb's application says of its one connection."""
        (connection,) = self.report["connections"]
        (application,) = connection["application"].values()
        assert isinstance(application, dict)
        return application

    @property
    def session(self) -> dict[str, Any]:
        """The frames that it counted."""
        session = self.application["session"]
        assert isinstance(session, dict)
        return session


def fetch_by_farweb(case: Case, there: Namespace, folder: Path, site: Path, saved: Path) -> Fetched:
    end = {"preset": case.preset, "stream_credit": case.stream_credit}
    application = {"http2-client": {"paths": [f"/{name}" for name in case.files], "save": str(saved), "end": end}}
    server = nginx(there, folder, site, "http2") if case.program == "nginx" else nghttpd(there, folder, site)
    with (
        server,
        farweb_tun(
            there, case.capture, "client", PROFILES[case.profile], application, UP, DOWN, snapshot=WHOLE
        ) as process,
    ):
        report = process.finish()
    return fetched(case, report, [saved / str(number) for number in range(len(case.files))])


def fetch_from_farweb(case: Case, there: Namespace, folder: Path, site: Path, saved: Path) -> Fetched:
    end = {"preset": case.preset, "stream_credit": case.stream_credit}
    application = {"http2-server": {"folder": str(site), "end": end}}
    urls = [f"http://{FARWEB}:{SERVER_PORT}/{name}" for name in case.files]
    command = there.command(*case.program.format(site=site).split(), *urls)
    everything = saved / "everything"
    with farweb_tun(
        there, case.capture, "server", PROFILES[case.profile], application, UP, DOWN, snapshot=WHOLE
    ) as process:
        with everything.open("wb") as output:
            client = subprocess.run(command, check=False, stdout=output, stderr=subprocess.PIPE, text=True, timeout=90)
        assert client.returncode == 0, f"{client.stderr}; see {case.capture}"
        assert wait_for_the_end(there) == []
        report = process.finish()
    return fetched(case, report, [everything])


def fetched(case: Case, report: dict[str, Any], files: Sequence[Path]) -> Fetched:
    """Report, content and frames of a connection that is over."""
    content = b"".join(file.read_bytes() for file in files if file.exists())
    sent, received, complaints = frames_by_tshark(case.capture / "kernel.pcap", case.is_client)
    return Fetched(report, content, sent, received, complaints)


def frames_by_tshark(capture: Path, from_client: bool) -> tuple[Counter[str], Counter[str], list[str]]:
    """Frames that farweb sent and received, and what tshark has to complain about."""
    tshark = shutil.which("tshark")
    assert tshark is not None
    fields = [word for name in ("tcp.srcport", "http2.type", "_ws.malformed") for word in ("-e", name)]
    decoding = ["-d", f"tcp.port=={SERVER_PORT},http2", "-o", "tcp.reassemble_out_of_order:TRUE"]
    shown = subprocess.run(
        [tshark, "-r", str(capture), "-Y", "http2 or _ws.malformed", "-T", "fields", *fields, *decoding],
        check=True,
        capture_output=True,
        text=True,
        timeout=120,
    )
    sent: Counter[str] = Counter()
    received: Counter[str] = Counter()
    complaints = []
    for line in shown.stdout.splitlines():
        port, types, malformed = line.split("\t")
        if malformed:
            complaints.append(line)
        is_ours = (int(port) != SERVER_PORT) == from_client
        (sent if is_ours else received).update(TYPES[int(kind)] for kind in types.split(",") if kind)
    return sent, received, complaints


CURL = "curl --http2-prior-knowledge --silent --show-error --fail --noproxy * --max-time 80"
ALL, FILM = tuple(FILES), ("film",)
MEASURES = ("grpc", "hyper-adaptive", "dotnet")
"""Programs that measure their path by PING."""
CASES = [
    Case("from-nghttpd", "nghttpd", "nghttp2", FILM),
    Case("from-nghttpd-bsd", "nghttpd", "nghttp2", FILM, profile="bsd44-lite"),
    Case("from-nghttpd-at-once", "nghttpd", "nghttp2", ALL),
    Case("from-nghttpd-large-credit", "nghttpd", "chrome", ALL),
    Case("from-nghttpd-small-credit", "nghttpd", "rfc-default", ALL, stream_credit="10 kB"),
    Case("from-nginx", "nginx", "nghttp2", FILM),
    Case("from-nginx-at-once", "nginx", "rfc-default", ALL),
    Case("from-nginx-large-credit", "nginx", "go", ALL),
    Case("from-nginx-small-credit", "nginx", "hyper", ALL, stream_credit="10 kB"),
    Case("from-nghttpd-grpc", "nghttpd", "grpc", ALL),
    Case("from-nghttpd-hyper-adaptive", "nghttpd", "hyper-adaptive", FILM),
    Case("from-nginx-dotnet", "nginx", "dotnet", FILM),
    Case("from-nginx-firefox", "nginx", "firefox", ALL),
    Case("to-nghttp", "nghttp", "nghttp2", FILM),
    Case("to-nghttp-bsd", "nghttp", "nghttp2", FILM, profile="bsd44-lite"),
    Case("to-nghttp-small-credit", "nghttp -w 13 -W 16", "nginx", FILM),
    # Whole answers one after the other, as nghttp writes what comes as it comes: a stream's credit is above its size.
    Case("to-nghttp-at-once", "nghttp -w 20 -W 16", "go", ALL),
    Case("to-curl", CURL, "nginx", FILM),
    Case("to-curl-empty", CURL, "nghttp2", ("empty",)),
    Case("to-curl-echo", f"{CURL} --data-binary @{{site}}/song", "nghttp2", ("song",)),
]

Fetches = Mapping[Case, Future[Fetched]]


@pytest.fixture(scope="module")
def fetches(request: pytest.FixtureRequest) -> Iterator[Fetches]:
    """Runs that the chosen tests need, under way."""
    with under_way(request.node, Case) as fetches:
        yield fetches


@pytest.mark.parametrize("case", CASES, ids=str)
def test_files_are_whole(case: Case, fetches: Fetches) -> None:
    it = fetches[case].result()
    assert it.session["problem"] is None
    assert it.content == b"".join(FILES[name] for name in case.files)
    if case.is_client:
        assert it.application["statuses"] == ["200"] * len(case.files)
    else:
        method = "POST" if "--data" in case.program else "GET"
        assert it.application["answered"] == [f"{method} /{name}" for name in case.files]
    assert "empty" in case.name or "data 4" in it.report["down"]["dropped"]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_tshark_sees_the_frames_that_the_endpoint_counts(case: Case, fetches: Fetches) -> None:
    it = fetches[case].result()
    assert it.complaints == []
    assert it.sent == it.session["sent"]
    # Answers to what an end that measures its path has asked last may come when it has closed.
    received = Counter(it.received)
    late = received - Counter(it.session["received"])
    assert late <= (Counter(["SETTINGS", "PING"]) if case.preset in MEASURES else Counter())
    assert received - late == Counter(it.session["received"])
    assert "RST_STREAM" not in it.sent and "RST_STREAM" not in it.received


def frames_of(fragment: int, names: Sequence[str]) -> int:
    """Frames of files that no credit cuts."""
    return sum(-(-len(FILES[name]) // fragment) for name in names)


# A credit of 65,535 B is four of nghttp2's frames, the last one a byte short, or eight of nginx's. The first half of
# them is half of the credit, and so is the second: each is returned, on the stream and on the connection. 1 MB is
# fifteen credits, and less than half of one: two more of nghttp2's frames, three of nginx's.
@pytest.mark.parametrize(
    ("case", "data", "grants"),
    [
        (case, data, grants)
        for case in CASES
        for name, data, grants in [
            ("from-nghttpd", 15 * 4 + 2, 2 * 2 * 15),
            ("from-nghttpd-bsd", 15 * 4 + 2, 2 * 2 * 15),
            # nghttpd ends an empty file with an empty frame.
            ("from-nghttpd-large-credit", frames_of(16_384, ALL) + 1, 1),
            ("from-nginx", 15 * 8 + 3, 2 * 2 * 15),
            ("from-nginx-large-credit", frames_of(8_192, ALL), None),
            ("to-nghttp", 15 * 4 + 2, 2 * 2 * 15),
            ("to-nghttp-bsd", 15 * 4 + 2, 2 * 2 * 15),
            ("to-curl", frames_of(8_192, FILM), None),
            ("to-curl-empty", 0, None),
            ("to-curl-echo", frames_of(16_384, ["song"]), None),
        ]
        if case.name == name
    ],
    ids=str,
)
def test_frames_are_as_many_as_sizes_and_credits_say(
    case: Case, data: int, grants: int | None, fetches: Fetches
) -> None:
    it = fetches[case].result()
    of_server, of_client = (it.received, it.sent) if case.is_client else (it.sent, it.received)
    assert of_server["DATA"] == data
    assert grants is None or of_client["WINDOW_UPDATE"] == grants


@pytest.mark.parametrize("case", [case for case in CASES if case.preset in MEASURES], ids=str)
def test_every_ping_is_answered(case: Case, fetches: Fetches) -> None:
    it = fetches[case].result()
    # The last one may still be out when the connection is closed.
    assert it.sent["PING"] - 1 <= it.received["PING"] <= it.sent["PING"] != 0
