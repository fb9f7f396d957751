"""Hit ratios of caches by policy and capacity: as values, tables and a figure."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from farweb import _core
from farweb.errors import WorkloadError
from farweb.inputs.caching import SERVED_ONLY, CacheTreatment
from farweb.paint import style
from farweb.paint.figure import Axis, Figure, Panel, Series
from farweb.paint.multiples import by_curve
from farweb.text.quantities import count, number, plain, share, size
from farweb.text.sheet import Screen, Sheet, Shown
from farweb.text.words import listed, plural

if TYPE_CHECKING:
    from farweb.paint.chart import Chart

_REMARKS_MAX = 4  # of a screen (chosen)
TABLES = (".parquet", ".csv", ".tsv")
"""The suffixes of the files that `CacheCurve.write` writes."""

_SHOWN = ("lru", "s3-fifo", "gdsf")
"""Policies of the screen where none is asked for: the simplest, a recent one, and one that knows sizes."""

_ROWS_MAX = 5
_NEAR = 0.1  # of the footprint, about which line 1 speaks (chosen)
_POINT = 0.01  # of the requests, from which line 1 says that the readings of a changed size differ (chosen)


@dataclass(frozen=True)
class CacheResult:
    """Hits and misses of the measured requests in one cache.

    Attributes:
        policy: Its policy.
        capacity_bytes: Its capacity.
        requests: Requests measured.
        hits: Requests for held and fresh objects.
        hit_ratio: Their share of the requests, or None when none was measured.
        byte_hit_ratio: Their share of the bytes, or None as above.
        revalidated_ratio: Share of requests for held objects that had to be revalidated and were unchanged.
        revalidated_byte_ratio: Their share of the bytes.
        request_bytes: Bytes that the requests asked for.
        hit_bytes: Bytes of the hits.
        other_hit_ratio: Hit ratio under the other rule for requests of another size, ``fetch`` where ``serve`` was
            asked for and the reverse, or None when no object changes its size.
        other_byte_hit_ratio: Byte hit ratio as above.
    """

    policy: str
    capacity_bytes: int
    requests: int
    hits: int
    hit_ratio: float | None
    byte_hit_ratio: float | None
    revalidated_ratio: float | None
    revalidated_byte_ratio: float | None
    request_bytes: int
    hit_bytes: int
    other_hit_ratio: float | None = None
    other_byte_hit_ratio: float | None = None


@dataclass(frozen=True)
class CacheCurve(Shown):
    """Hit ratios of caches against capacity.

    Attributes:
        source: The file.
        format: Its format: ``table``, ``squid`` …
        requests: All of them, the warm-up included.
        objects: Different objects.
        request_bytes: Sum of the sizes of all requests.
        footprint_bytes: Sum of the sizes of all objects that may be stored, each as it first was.
        storable_objects: How many these are.
        largest_bytes: Largest size of a response that may be stored.
        resized: Such responses with another size than the first one of their object.
        warmup_requests: How many at the beginning are not measured.
        seed: Root of the random streams.
        admit: Rule by which the caches take in objects (empty: all that fit).
        ttl: How long an object is fresh (None: always).
        changed: Rule for a request of another size than the fresh copy: ``serve``, a hit, or ``fetch``, a miss.
        treatment: Treatment of requests by caches. Uncacheable ones count as misses.
        errors: Requests that are answered by an error (4xx, 5xx). None: the input does not say.
        results: By policy, then capacity.
        input: Counts of lines read and left out.
        remarks: The same for people.
    """

    source: str
    format: str
    requests: int
    objects: int
    request_bytes: int
    footprint_bytes: int
    storable_objects: int
    largest_bytes: int
    resized: int
    warmup_requests: int
    seed: int
    admit: dict[str, Any]
    ttl: str | None
    changed: str
    treatment: CacheTreatment
    errors: int | None
    results: tuple[CacheResult, ...]
    input: dict[str, Any]
    remarks: tuple[str, ...]

    @property
    def policies(self) -> tuple[str, ...]:
        """The policies, in the order given."""
        return tuple(dict.fromkeys(result.policy for result in self.results))

    @property
    def capacities(self) -> tuple[int, ...]:
        """The capacities in bytes, smallest first."""
        return tuple(sorted({result.capacity_bytes for result in self.results}))

    def draw(self, out: str | Path | None = None) -> "Chart":
        """Draw both ratios against capacity. The suffix of `out` sets the format: png, svg, pdf or html.

        Raises:
            FarwebError: The suffix is none of them.
        """
        from farweb.paint import paper

        return paper.draw(describe(self), None if out is None else Path(out))

    def write(self, out: str | Path) -> None:
        """Write `results` as a table: .parquet, .csv or .tsv.

        Raises:
            WorkloadError: The suffix is none of them.
            StorageError: The file cannot be written.
        """
        import polars as pl

        from farweb.files.atomic import staged_file

        out = Path(out)
        if out.suffix.lower() not in TABLES:
            raise WorkloadError(f"{out}: a table is written as {', '.join(TABLES)}; end the name with one of them")
        table = pl.DataFrame([asdict(result) for result in self.results])
        with staged_file(out) as stage:
            if out.suffix.lower() == ".parquet":
                table.write_parquet(stage)
            else:
                table.write_csv(stage, separator="," if out.suffix.lower() == ".csv" else "\t")

    def _sheets(self) -> list[Sheet]:
        treated = [[f"{name}; {note}" if note else name, value] for name, note, value in self.treatment.rows()]
        facts = [
            ["read as", self.format],
            ["requests", count(self.requests)],
            ["left out as warm-up", count(self.warmup_requests)],
            ["objects", count(self.objects)],
            ["of them with a response that may be stored", count(self.storable_objects)],
            ["footprint", size(self.footprint_bytes)],
            ["bytes asked for", size(self.request_bytes)],
            ["largest object", size(self.largest_bytes)],
            *treated,
            ["of another size than the fresh copy held", "hits" if self.changed == "serve" else "misses"],
        ]
        sheets = [Sheet(self.source, ["", "value"], facts)]
        ratios = [("Hit ratio", "hit_ratio"), ("Byte hit ratio", "byte_hit_ratio")]
        if self.ttl is not None:
            ratios += [("Revalidated, share of requests", "revalidated_ratio")]
        if self.resized:
            other = "fetch" if self.changed == "serve" else "serve"
            ratios += [(f"Hit ratio with changed = {other}", "other_hit_ratio")]
        return sheets + [self._ratios(title, name) for title, name in ratios]

    def _ratios(self, title: str, name: str) -> Sheet:
        found = {(each.policy, each.capacity_bytes): getattr(each, name) for each in self.results}
        rows = [
            [
                size(capacity),
                share(capacity / self.footprint_bytes if self.footprint_bytes else None),
                *(share(found[policy, capacity]) for policy in self.policies),
            ]
            for capacity in self.capacities
        ]
        return Sheet(title, ["capacity", "of footprint", *self.policies], rows, names=2)

    def screen(self, *, is_all: bool = True, details: bool = False) -> Screen:
        """The answer in a screen.

        Args:
            is_all: All policies, and not only `_SHOWN`.
            details: Facts, all capacities, the other rule for changes of size, and remarks as well.
        """
        policies = self.policies if is_all or details else _SHOWN
        capacities = self.capacities if details else self.capacities[:: -(-len(self.capacities) // _ROWS_MAX)]
        tables = self._sheets() if details else [self._hits(policies, capacities)]
        more = ["--details"] if is_all else ["--policy all", "--details"]
        end = self.remarks if details else (*self.remarks[:_REMARKS_MAX], f"more: {', '.join(more)}")
        return Screen((self._answer(policies), "", *tables, self._changes(policies), *end))

    def _hits(self, policies: Sequence[str], capacities: Sequence[int]) -> Sheet:
        """Both hit ratios by capacity."""
        found = {(each.policy, each.capacity_bytes): each for each in self.results}
        groups = ["", "hits, %", *_last("of requests", policies), *_last("of bytes", policies)]
        rows = [["capacity", "", *policies, *policies]]
        for capacity in capacities:
            results = [found[policy, capacity] for policy in policies]
            ratios = [*(each.hit_ratio for each in results), *(each.byte_hit_ratio for each in results)]
            percents = [number(None if ratio is None else 100 * ratio) for ratio in ratios]
            rows.append([size(capacity), self._of_footprint(capacity), *percents])
        return Sheet("", groups, rows, names=2)

    def _of_footprint(self, capacity: int) -> str:
        return f"{plain(100 * capacity / self.footprint_bytes, 2)} %" if self.footprint_bytes else ""

    @property
    def _near(self) -> int:
        """The capacity nearest to a tenth of the footprint."""
        return min(self.capacities, key=lambda capacity: abs(capacity - _NEAR * self.footprint_bytes))

    def _answer(self, policies: Sequence[str]) -> str:
        """The best and the simplest policy at a tenth of the footprint, or next to it."""
        near = self._near
        at = {each.policy: each for each in self.results if each.capacity_bytes == near}
        known = {policy: ratio for policy in policies if (ratio := at[policy].hit_ratio) is not None}
        cache = f"A cache of {size(near)}"
        if self.footprint_bytes:
            cache += f" ({self._of_footprint(near)} of {size(self.footprint_bytes)})"
        if not known:
            return "No request was measured: the warm-up has all of them."
        best = max((policy for policy in known if policy != "belady" or len(known) == 1), key=lambda each: known[each])
        others = ["lru"] if "lru" in known and best != "lru" else []
        with_others = "".join(f", {_readings(at[each])} with {each}" for each in others)
        said = f"{cache} answers {_readings(at[best])} of requests with {best}{with_others}"
        if any(_is_wide(at[policy]) for policy in (best, *others)):
            said += ", as a changed size is a miss or a hit"
        if self.errors is not None and self.errors > _POINT * self.requests:
            said += f"; {share(self.errors / self.requests)} of all are errors (4xx, 5xx)"
        return f"{said}."

    def _changes(self, policies: Sequence[str]) -> str:
        """Requests and objects, with uncacheable ones and those that change size."""
        asked = f"{plural(self.requests, 'request')} for {plural(self.objects, 'object')}"
        storable = "" if self.storable_objects == self.objects else f" {count(self.storable_objects)} storable with"
        parts = [f"{asked},{storable} {size(self.footprint_bytes)}"]
        if self.warmup_requests:
            parts.append(f"the first {count(self.warmup_requests)} only fill the caches")
        if bypassing := self.treatment.bypassing:
            parts.append(f"{share(bypassing / self.requests)} are not cacheable")
        if served := self.treatment.served_only:
            parts.append(f"{share(served / self.requests)} are never stored ({SERVED_ONLY}), hits where a copy is held")
        if self.resized:
            rules = ("hits", "fetch", "misses") if self.changed == "serve" else ("misses", "serve", "hits")
            counted, other, others = rules
            changing = share(self.treatment.of_several_sizes / self.requests)
            parts.append(f"{changing} are for objects whose size changes, in the table {counted}")
            of_last = next(e for e in self.results if (e.policy, e.capacity_bytes) == (policies[-1], self._near))
            parts.append(f"as {others}: {policies[-1]} {share(of_last.other_hit_ratio)} (--changed {other})")
        return "; ".join(parts) + "."


def _is_wide(result: CacheResult) -> bool:
    """Whether the two readings of a changed size differ by more than a point."""
    hits, other = result.hit_ratio, result.other_hit_ratio
    return hits is not None and other is not None and abs(hits - other) > _POINT


def _readings(result: CacheResult) -> str:
    """The hit ratio in whole percents, or both readings of a changed size, the lower one first."""
    ratios = [result.hit_ratio or 0.0]
    if _is_wide(result):
        ratios = sorted([*ratios, result.other_hit_ratio or 0.0])
    return f"{' to '.join(f'{100 * ratio:.0f}' for ratio in ratios)} %"


def _last(title: str, columns: Sequence[str]) -> list[str]:
    """A title over the last of so many columns."""
    return [*[""] * (len(columns) - 1), title]


def describe(curve: CacheCurve) -> Figure:
    """Describe the figure, in numbers and words."""
    x = Axis("capacity", "B", scale="log" if len(curve.capacities) > 1 else "linear")
    x = x.fitted(curve.capacities)
    panels = tuple(
        Panel(x, Axis(title, "%", low=0), _series(curve, name), title=title.capitalize())
        for title, name in (("hit ratio", "hit_ratio"), ("byte hit ratio", "byte_hit_ratio"))
    )
    figure = Figure(
        f"Hit ratios of caches – {Path(curve.source).name}",
        _caption(curve),
        panels,
        columns=2,
        legend="policy",
        size=(9.5, 4.6),
        share_y=True,
    )
    return by_curve(figure)


def _series(curve: CacheCurve, name: str) -> tuple[Series, ...]:
    def percent(result: CacheResult) -> float:
        value = getattr(result, name)
        return float("nan") if value is None else 100 * value

    series = []
    for place, policy in enumerate(curve.policies):
        points = sorted((each.capacity_bytes, percent(each)) for each in curve.results if each.policy == policy)
        capacities, ratios = np.array(points, dtype=np.float64).T
        # A bound is there to compare with.
        series.append(Series(policy, style.QUIETLY if policy == "belady" else place, capacities, ratios))
    return tuple(series)


def _caption(curve: CacheCurve) -> str:
    measured = curve.requests - curve.warmup_requests
    warmup = (
        f"after {count(curve.warmup_requests)} of warm-up that are left out"
        if curve.warmup_requests
        else "without a warm-up: caches are empty at first"
    )
    rules = [f"{rule.replace('_', '-')} = {value}" for rule, value in curve.admit.items()]
    rules += [] if curve.ttl is None else [f"ttl = {curve.ttl}"]
    rules += [] if curve.changed == "serve" else [f"changed = {curve.changed}"]
    admitted = f" Admission: {listed(rules)}." if rules else ""
    bypassing = curve.treatment.bypassing
    if bypassing:
        admitted += f" No copy may serve {count(bypassing)} of the requests: they are misses."
    return (
        f"n = {count(measured)} requests, {warmup}; {count(curve.objects)} objects with a footprint of "
        f"{size(curve.footprint_bytes)}.{admitted} Seed {curve.seed}, farweb {_core.version}."
    )
