"""The images that the source tree keeps are those that their steps and the drawing would make today."""

from pathlib import Path

import pytest
from docs.images import make as images
from docs.images.make import ROOT, Image

from farweb import Scenario
from farweb.errors import RunError


def test_every_image_is_current() -> None:
    made = images.made()
    stale = {image.name: why for image in images.images() if (why := image.why_stale(made))}
    assert not stale, f"make images (python docs/images/make.py says what those of studies need): {stale}"


def test_the_page_has_the_latencies_of_the_terminals_that_it_draws() -> None:
    def latency(settings: dict[str, str]) -> str:
        requests = Scenario.load(ROOT / "docs/images/terminal.toml", settings).run().requests
        return f"{requests.filter(requests['response_bytes'] == 30_000)['latency_s'].item():.2f} s"

    page = (ROOT / "docs/models/links.md").read_text("utf-8")
    plain = {"path.link.0.up": '{ rate = "3 Mbit/s", delay = "280 ms", queue = "1 s" }'}
    woken = {"workload.requests": "terminal-woken.csv"}
    assert f"from an idle terminal they take {latency({})}." in page
    assert f"they take {latency(woken)}, without `dama` {latency(plain)}." in page


def test_every_image_that_is_kept_says_how_it_is_made() -> None:
    kept = {str(file.relative_to(ROOT)) for where in ("docs", "papers") for file in (ROOT / where).rglob("*.png")}
    assert kept == {image.name for image in images.images()} == set(images.made())


def test_an_image_is_stale_when_a_step_a_file_or_the_look_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(images, "ROOT", tmp_path)
    (tmp_path / "a.toml").write_text("a = 1\n")
    image = Image("a.png", ("a.toml",), ("python -c 'import sys; open(sys.argv[1], \"w\")' {out}/x",), "x")
    assert image.why_stale({}) == "it was never made"
    monkeypatch.setattr(images, "MADE", tmp_path / "made.json")
    assert images.make([image], None, lambda _: None) == [image]
    made = images.made()
    assert image.why_stale(made) == ""
    monkeypatch.setattr("farweb.paint.style.LOOK", -1)
    assert image.why_stale(made) == "figures look different now"
    monkeypatch.undo()
    monkeypatch.setattr(images, "ROOT", tmp_path)
    (tmp_path / "a.toml").write_text("a = 2\n")
    assert image.why_stale(made) == "what it is made from has changed"
    monkeypatch.setattr(images, "MADE", tmp_path / "made.json")
    images.keep([image])
    assert image.why_stale(images.made()) == ""


def test_a_step_that_fails_makes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(images, "ROOT", tmp_path)
    image = Image("a.png", (), ("python -c 'raise SystemExit(5)'",), "x")
    with pytest.raises(RunError, match="ended with 5"):
        images.make([image], None, lambda _: None)
    assert list(tmp_path.iterdir()) == []
