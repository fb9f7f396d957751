"""Real programs and farweb's TCP: curl fetches from farweb, and farweb fetches from nginx and from Python's server."""

import subprocess
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from kernel_end import PATTERN
from namespaces import FARWEB, Namespace, missing, namespace
from servers import nginx, python_server
from talks import CAPTURES, PROFILES, SERVER_PORT, Way, farweb_tun, wait_for_the_end
from under_way import under_way

if reason := missing("curl", "nginx"):
    pytest.skip(reason, allow_module_level=True)

pytestmark = [pytest.mark.timeout(300), pytest.mark.alone]

FILES = {"short": PATTERN[:1], "empty": b"", "page": PATTERN[1000:31_000], "film": PATTERN[7:1_000_007]}
UP, DOWN = Way(drop=("ack 5..7",)), Way(drop=("data 4", "data 10..12"), twice=("data 7",))
"""Of each connection that is long enough some ACKs and some segments are lost."""


@dataclass(frozen=True)
class Case:
    """Files that are fetched from farweb by curl, or by farweb from a server of the real world."""

    profile: str
    program: str
    """`curl --http1.0`, `curl --http1.1`, `nginx` or `http.server`."""

    def __str__(self) -> str:
        return f"{self.profile}-{self.program}".replace(" --", "-")

    def run(self) -> "Fetched":
        with TemporaryDirectory(prefix="farweb-") as name, namespace() as there:
            folder = Path(name)
            site = folder / "site"
            site.mkdir()
            for file, content in FILES.items():
                (site / file).write_bytes(content)
            fetch = fetch_by_curl if self.program.startswith("curl") else fetch_by_farweb
            return fetch(self, there, folder, site)


@dataclass(frozen=True)
class Fetched:
    """What came of it."""

    report: dict[str, Any]
    files: Mapping[str, bytes]
    shown: str
    """What curl wrote."""


def fetch_by_curl(case: Case, there: Namespace, folder: Path, site: Path) -> Fetched:
    urls = [f"http://{FARWEB}:{SERVER_PORT}/{name}" for name in FILES]
    targets = [word for name, url in zip(FILES, urls, strict=True) for word in ("-o", str(folder / name), url)]
    options = ["--silent", "--show-error", "--fail", "--noproxy", "*", "--max-time", "80"]
    command = there.command(*case.program.split(), *options, "--write-out", "%{http_code} %{num_connects}\n", *targets)
    application = {"http-server": str(site)}
    with farweb_tun(there, CAPTURES / str(case), "server", PROFILES[case.profile], application, UP, DOWN) as process:
        curl = subprocess.run(command, check=False, capture_output=True, text=True, timeout=90)
        assert curl.returncode == 0, f"{curl.stderr}; see {CAPTURES / str(case)}"
        assert wait_for_the_end(there) == []
        report = process.finish()
    return Fetched(report, {name: (folder / name).read_bytes() for name in FILES}, curl.stdout)


def fetch_by_farweb(case: Case, there: Namespace, folder: Path, site: Path) -> Fetched:
    saved = folder / "saved"
    saved.mkdir()
    # Python's server closes after each answer; nginx keeps the connection for the next request.
    names, version, server = (
        (list(FILES), "1.1", nginx) if case.program == "nginx" else (["film"], "1.0", python_server)
    )
    fetch = {"paths": [f"/{name}" for name in names], "version": version, "save": str(saved)}
    with (
        server(there, folder, site),
        farweb_tun(
            there, CAPTURES / str(case), "client", PROFILES[case.profile], {"http-client": fetch}, UP, DOWN
        ) as process,
    ):
        report = process.finish()
    files = {name: saved / str(number) for number, name in enumerate(names)}
    return Fetched(report, {name: file.read_bytes() for name, file in files.items() if file.exists()}, "")


Fetches = Mapping[Case, Future[Fetched]]


@pytest.fixture(scope="module")
def fetches(request: pytest.FixtureRequest) -> Iterator[Fetches]:
    """Runs that the chosen tests need, under way."""
    with under_way(request.node, Case) as fetches:
        yield fetches


@pytest.mark.parametrize(
    ("case", "connections"),
    [
        (Case(profile, program), connections)
        for profile in PROFILES
        for program, connections in (("curl --http1.0", len(FILES)), ("curl --http1.1", 1))
    ],
    ids=str,
)
def test_curl_fetches_files_from_farweb(case: Case, connections: int, fetches: Fetches) -> None:
    fetched = fetches[case].result()
    assert fetched.files == FILES
    answers = [line.split() for line in fetched.shown.splitlines()]
    assert [code for code, _ in answers] == ["200"] * len(FILES)
    assert sum(int(connects) for _, connects in answers) == connections == len(fetched.report["connections"])
    answered = [line for connection in fetched.report["connections"] for line in connection["application"]["server"]]
    assert sorted(answered) == sorted(f"GET /{name}" for name in FILES)
    assert "data 4" in fetched.report["down"]["dropped"]


@pytest.mark.parametrize(
    "case", [Case(profile, program) for profile in PROFILES for program in ("nginx", "http.server")], ids=str
)
def test_farweb_fetches_files_from_real_servers(case: Case, fetches: Fetches) -> None:
    fetched = fetches[case].result()
    wanted = FILES if case.program == "nginx" else {"film": FILES["film"]}
    (connection,) = fetched.report["connections"]
    assert connection["application"]["client"] == {"statuses": [200] * len(wanted), "problem": None}
    assert fetched.files == wanted
    assert "data 4" in fetched.report["down"]["dropped"]
