"""TLS of a page goes by its URLs, each a small file with its value by hand."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from farweb.pages.paths import Way
from hars import H1, H2, entry, loaded_over, path, recorded

RTT_MS = 600


def redirect(url: str, to: str, start_ms: float = 0) -> dict[str, Any]:
    return entry(url, start_ms, response={"status": 301, "redirectURL": to, "bodySize": 0})


@pytest.mark.parametrize("carrier", [H1, H2], ids=["h1", "h2"])
@pytest.mark.parametrize(
    ("urls", "trips"),
    [
        (["http://a.example/"], 2),
        (["https://a.example/"], 3),
        (["HTTPS://A.example/"], 3),
        (["http://a.example:443/"], 2),  # the scheme says it, no port
        (["http://a.example/", "http://a.example/"], 3),
        (["https://a.example/", "https://a.example/"], 4),
        (["http://a.example/", "http://www.a.example/"], 4),
        (["http://a.example/", "https://a.example/"], 5),
        (["https://a.example/", "http://a.example/"], 5),
        (["http://a.example/", "https://a.example:8443/"], 5),
        (["https://a.example/", "https://a.example:8443/"], 6),
        (["http://a.example/", "https://a.example/", "https://www.a.example/"], 8),
        (["http://a.example/", "https://a.example/", "https://a.example/"], 6),
        (["https://a.example/", "http://a.example/", "https://a.example/"], 6),  # its connection is still there
    ],
    ids=lambda each: " ".join(each) if isinstance(each, list) else None,
)
def test_tls_goes_by_the_url(tmp_path: Path, carrier: str, urls: list[str], trips: int) -> None:
    """Each hop of a chain takes a round trip, a connection in the clear one more, and one under TLS 1.3 two."""
    targets = [f"{url}{number}" for number, url in enumerate(urls)]
    hops = [redirect(*pair, 60 * number) for number, pair in enumerate(pairwise(targets))]
    last = entry(targets[-1], 60 * len(hops))
    recording = recorded(tmp_path, *hops, last, onload=5_000)
    way = Way("lab", "h1" if carrier == H1 else "h2", "none", path(RTT_MS, carrier, 1))
    assert int(loaded_over(recording, way).end_ns.max()) / 1e6 == pytest.approx(trips * RTT_MS, abs=0.1)
