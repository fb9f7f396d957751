"""The caches of a run: what each was asked for and served after the warm-up."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from farweb.text.parse import parse
from farweb.text.quantities import count, share, size
from farweb.text.sheet import Sheet

if TYPE_CHECKING:
    from farweb.results.run import RunTables


@dataclass(frozen=True)
class CacheTotals:
    """A cache: the requests that came to it after the warm-up, and what it holds at the end of the run.

    A request that is neither a hit nor a delayed hit went on towards the servers.
    """

    node: str
    holds: str
    """Policy and capacity, or how its hits are known."""
    requests: int
    hits: int
    """Served from what it held; delayed hits left out."""
    delayed_hits: int
    """Served from a fetch that was under way."""
    revalidations: int
    """Hits before which it asked whether what it held was still good."""
    hit_ratio: float | None
    """`hits` over `requests`; None without requests, as those below."""
    delayed_hit_ratio: float | None
    """`delayed_hits` over `requests`."""
    byte_hit_ratio: float | None
    """Response bytes of hits over those of all requests; delayed hits left out."""
    objects: int
    bytes: int

    def cells(self) -> list[str]:
        """What tables for people say of it."""
        return [
            self.node,
            self.holds,
            count(self.requests),
            share(self.hit_ratio),
            share(self.delayed_hit_ratio),
            share(self.byte_hit_ratio),
            count(self.revalidations),
            f"{count(self.objects)} / {size(self.bytes)}",
        ]


def caches_of(results: "RunTables") -> tuple[CacheTotals, ...]:
    """The caches of a run, from the clients on; empty where there are none."""
    manifest = results.manifest
    path: list[str] = manifest["scenario"]["path"]["nodes"]
    found = (
        _cache(manifest["scenario"]["cache"][measured["cache"]], measured)
        for measured in manifest.get("measured", {}).get("caches", ())
    )
    return tuple(sorted(found, key=lambda cache: path.index(cache.node)))


def sheets(caches: Sequence[CacheTotals]) -> Iterator[Sheet]:
    """The table for people, where there are caches."""
    if caches:
        header = ["cache", "holds", "requests", "hits", "delayed", "bytes hit", "asked again", "holds at the end"]
        yield Sheet("Caches, after the warm-up", header, [cache.cells() for cache in caches], names=2)


def ratios(measured: Mapping[str, Any]) -> dict[str, float | None]:
    """What a cache served, as shares of what it was asked for; None where it was asked for nothing."""
    requests, in_bytes = measured["requests"], measured["request_bytes"]
    return {
        "hit_ratio": measured["hits"] / requests if requests else None,
        "delayed_hit_ratio": measured["delayed_hits"] / requests if requests else None,
        "byte_hit_ratio": measured["hit_bytes"] / in_bytes if in_bytes else None,
    }


def _cache(scenario: Mapping[str, Any], measured: Mapping[str, Any]) -> CacheTotals:
    shares = ratios(measured)
    return CacheTotals(
        node=scenario["node"],
        holds=_holds(scenario),
        requests=measured["requests"],
        hits=measured["hits"],
        delayed_hits=measured["delayed_hits"],
        revalidations=measured["revalidations"],
        hit_ratio=shares["hit_ratio"],
        delayed_hit_ratio=shares["delayed_hit_ratio"],
        byte_hit_ratio=shares["byte_hit_ratio"],
        objects=measured["objects"],
        bytes=measured["bytes"],
    )


def _holds(scenario: Mapping[str, Any]) -> str:
    """What a cache holds, in a few words."""
    if "policy" in scenario:
        siblings = f"{scenario['siblings']} × " if scenario["siblings"] > 1 else ""
        return f"{siblings}{size(float(parse(scenario['capacity']).number))}, {scenario['policy']}"
    if "hit_ratio" in scenario:
        return f"{share(scenario['hit_ratio'])}, drawn"
    return "as the table lists"
