"""How far off pages are: recordings taken to their own network, and to the one of another recording of the page.

``python tests/page_errors.py FILE.har|FOLDER...`` prints the tables of docs/models/pages.md. A network has the median
round trip of a recording's requests and the highest rate that it shows, both ways; nothing is fitted.
"""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path
from statistics import median

import numpy as np

from farweb._core import Recording, asked_of, graph_of, short_url
from farweb.errors import RunError
from farweb.pages.answer import RULES, Rule, onload_s
from farweb.pages.har import har_files, read_har
from hars import H1, path, settle

CLOSE_MS = 2.0


@dataclass(frozen=True)
class Network:
    """A network as a recording shows it, and how the page was fetched there."""

    rtt_ms: float
    rate_bps: float
    is_multiplexed: bool
    turns: int

    @classmethod
    def of(cls, page: Recording) -> "Network":
        """The network of a recording; TLS is taken for 1.2."""
        turns = 2 if page.sent[page.root].is_secure else 0
        rtt_ms = median(page.rtt_ms[sent.host] for sent in page.sent)
        return cls(rtt_ms, page.rate_bps, page.protocol != "h1", turns)

    def onload_s(self, page: Recording, rule: Rule = "likely") -> float:
        """A page's onLoad here."""
        carrier = '{ kind = "http/2" }' if self.is_multiplexed else H1
        scenario = path(self.rtt_ms, carrier, self.turns, f"{self.rate_bps / 1e6:.3f} Mbit/s")
        graph = graph_of(page, rule)
        return onload_s(page, settle(scenario, asked_of(page, graph, is_multiplexed=self.is_multiplexed)))

    def simple_s(self, page: Recording) -> float:
        """Bytes at the rate, and the round trips of one request."""
        return 8 * page.gating_bytes / self.rate_bps + (2 + self.turns) * self.rtt_ms / 1000


def issues_within(page: Recording, rule: Rule) -> float:
    """Share of requests issued at their recorded times where each takes as long as recorded."""
    issue: list[float] = []
    for dependency in graph_of(page, rule):
        held = 0.0
        for edge in dependency.edges:
            other = page.sent[edge.parent]
            moved = issue[edge.parent] - other.issue_ms
            share = other.first_ms + (edge.share or 0) * (other.end_ms - other.first_ms)
            held = max(held, moved + (other.issue_ms if edge.share is None else share))
        issue.append(held + dependency.think_ms)
    return float(np.mean([abs(at - sent.issue_ms) <= CLOSE_MS for at, sent in zip(issue, page.sent, strict=True)]))


def main(places: Sequence[str]) -> None:
    """Print the tables for these files."""
    pages = list(_recordings(places))
    print(f"{len(pages)} loads of {len({page.file for page in pages})} files\n")
    shares = [(issues_within(page, rule), page.file, rule) for page in pages for rule in RULES]
    whole = sum(share == 1 for share, _, _ in shares)
    print(f"issue times within {CLOSE_MS:g} ms: all in {whole} of {len(shares)} (load, graph); least {min(shares)}\n")
    timed = [page for page in pages if page.is_load_known]
    own = {rule: [_error(page, page, rule) for page in timed] for rule in RULES}
    simple = [Network.of(page).simple_s(page) / (page.load_ms / 1000) - 1 for page in timed]
    print(f"| own network, {len(timed)} loads | median | p90 | bias |\n|---|--:|--:|--:|")
    for name, errors in (*own.items(), ("bytes and round trips", simple)):
        off = np.abs(errors)
        print(f"| {name} | {np.median(off):.1%} | {np.quantile(off, 0.9):.1%} | {np.median(errors):+.1%} |")
    print("\nfarthest off, likely graph:")
    far = sorted(zip(own["likely"], timed, strict=True), key=lambda each: -abs(each[0]))
    for error, page in far[:8]:
        print(f"  {error:+.0%} {page.file} {page.page}: {'; '.join(page.warnings)}")
    print("\n| page, from → to | recorded there | likely | unchanged | bytes and round trips |\n|---|--:|--:|--:|--:|")
    for page, to in _pairs(timed):
        network, there_s = Network.of(to), to.load_ms / 1000
        found = (network.onload_s(page), page.load_ms / 1000, network.simple_s(page))
        cells = " | ".join(f"{1000 * each:,.0f} ({each / there_s - 1:+.0%})" for each in found)
        print(f"| {short_url(page.url)}, {page.file} {page.page} → {to.file} | {1000 * there_s:,.0f} | {cells} |")


def _recordings(places: Sequence[str]) -> Iterator[Recording]:
    for file in har_files([Path(place) for place in places]):
        for page in read_har(file):
            if isinstance(page, Recording):
                yield page
            else:
                print(page)


def _error(page: Recording, to: Recording, rule: Rule) -> float:
    """By how much a page is off in the network of another recording; without limit where it fails there."""
    try:
        return Network.of(to).onload_s(page, rule) / (to.load_ms / 1000) - 1
    except RunError as error:
        print(f"{page.file}: {error}")
        return float("inf")


def _pairs(pages: Sequence[Recording]) -> Iterator[tuple[Recording, Recording]]:
    """Loads of a page in one file, and the median load of it in another."""
    by_url: dict[str, dict[str, list[Recording]]] = {}
    for page in pages:
        by_url.setdefault(short_url(page.url), {}).setdefault(page.file, []).append(page)
    for files in by_url.values():
        for here, there in permutations(files.values(), 2):
            to = sorted(there, key=lambda page: page.load_ms)[(len(there) - 1) // 2]
            yield from ((page, to) for page in here)


if __name__ == "__main__":
    main(sys.argv[1:])
