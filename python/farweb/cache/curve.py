"""`farweb workload cache`: hit ratios of caches of all policies against capacity."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from farweb import _core
from farweb.cache.replay import Tally, next_requests, replay
from farweb.cache.settings import (
    USUAL_CAPACITIES,
    USUAL_POLICIES,
    read_admission,
    read_capacity,
    read_policies,
    read_warmup,
)
from farweb.errors import WorkloadError
from farweb.inputs.formats import UNSIZED
from farweb.inputs.requests import Batch, Requests, open_input
from farweb.quantities import count, share, size
from farweb.sheet import Sheet, to_html, to_rich

if TYPE_CHECKING:
    from rich.console import RenderableType

    from farweb.plot.style import Chart

Progress = Callable[[str, int, int | None], None]

TABLES = (".parquet", ".csv", ".tsv")
"""The suffixes of the files that `CacheCurve.write` writes."""


@dataclass(frozen=True)
class CacheResult:
    """What became of the measured requests in one cache.

    Attributes:
        policy: Its policy.
        capacity_bytes: Its capacity.
        requests: Requests measured.
        hits: Those for what was held and fresh.
        hit_ratio: Their share of the requests; None when none was measured.
        byte_hit_ratio: Their share of the bytes; None as above.
        revalidated_ratio: Share of the requests for what was held, but had to be asked for again, and was unchanged.
        revalidated_byte_ratio: Their share of the bytes.
        request_bytes: Bytes that the requests asked for.
        hit_bytes: Bytes of the hits.
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


@dataclass(frozen=True)
class CacheCurve:
    """Hit ratios of caches against capacity.

    Attributes:
        source: The file.
        format: What it is: ``table``, ``squid`` …
        requests: All of them, the warm-up included.
        objects: Different objects.
        request_bytes: Sum of the sizes of all requests.
        footprint_bytes: Sum of the sizes of all objects, each as it was first asked for.
        largest_bytes: Largest size of a request.
        resized: Requests with another size than the first one for their object.
        warmup_requests: How many at the beginning are not measured.
        seed: Root of the random streams.
        admit: What the caches take in; empty: everything that fits.
        ttl: How long an object is fresh; None: always.
        results: By policy, then capacity.
        input: What was read and what was left out.
        remarks: The same for people.
    """

    source: str
    format: str
    requests: int
    objects: int
    request_bytes: int
    footprint_bytes: int
    largest_bytes: int
    resized: int
    warmup_requests: int
    seed: int
    admit: dict[str, Any]
    ttl: str | None
    results: tuple[CacheResult, ...]
    input: dict[str, Any]
    remarks: tuple[str, ...]

    @property
    def policies(self) -> tuple[str, ...]:
        """The policies, in the order in which they were asked for."""
        return tuple(dict.fromkeys(result.policy for result in self.results))

    @property
    def capacities(self) -> tuple[int, ...]:
        """The capacities in bytes, smallest first."""
        return tuple(sorted({result.capacity_bytes for result in self.results}))

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values, for JSON."""
        return asdict(self)

    def draw(self, out: str | Path | None = None) -> "Chart":
        """Draw both ratios against capacity; saved by the suffix of `out`: png, svg, pdf or html.

        Raises:
            FarwebError: The suffix is none of them.
        """
        from farweb.cache.figure import describe
        from farweb.plot import paper

        return paper.draw(describe(self), None if out is None else Path(out))

    def write(self, out: str | Path) -> None:
        """Write `results` as a table: .parquet, .csv or .tsv.

        Raises:
            WorkloadError: The suffix is none of them.
            StorageError: The file cannot be written.
        """
        import polars as pl

        from farweb.atomic import staged_file

        out = Path(out)
        if out.suffix.lower() not in TABLES:
            raise WorkloadError(f"{out}: a table is written as {', '.join(TABLES)}; the suffix tells which")
        table = pl.DataFrame([asdict(result) for result in self.results])
        with staged_file(out) as stage:
            if out.suffix.lower() == ".parquet":
                table.write_parquet(stage)
            else:
                table.write_csv(stage, separator="," if out.suffix.lower() == ".csv" else "\t")

    def _sheets(self) -> list[Sheet]:
        resized = f"{count(self.resized)} ({share(self.resized / self.requests)})"
        facts = [
            ["read as", self.format],
            ["requests", count(self.requests)],
            ["left out as warm-up", count(self.warmup_requests)],
            ["objects", count(self.objects)],
            ["footprint", size(self.footprint_bytes)],
            ["bytes asked for", size(self.request_bytes)],
            ["largest object", size(self.largest_bytes)],
            ["requests with another size than their object's first", resized],
        ]
        sheets = [Sheet(self.source, ["", "value"], facts)]
        ratios = [("Hit ratio", "hit_ratio"), ("Byte hit ratio", "byte_hit_ratio")]
        if self.ttl is not None:
            ratios += [("Revalidated, share of requests", "revalidated_ratio")]
        return sheets + [self._ratios(title, name) for title, name in ratios]

    def _ratios(self, title: str, name: str) -> Sheet:
        found = {(each.policy, each.capacity_bytes): getattr(each, name) for each in self.results}
        rows = [
            [
                size(capacity),
                share(capacity / self.footprint_bytes),
                *(share(found[policy, capacity]) for policy in self.policies),
            ]
            for capacity in self.capacities
        ]
        return Sheet(title, ["capacity", "of footprint", *self.policies], rows, names=2)

    def __rich__(self) -> "RenderableType":
        from rich.console import Group
        from rich.text import Text

        return Group(to_rich(self._sheets()), *map(Text, self.remarks))

    def _repr_html_(self) -> str:
        remarks = "".join(f"<li>{escape(remark)}</li>" for remark in self.remarks)
        return f"{to_html(self._sheets())}<ul>{remarks}</ul>"


def cache_curve(
    requests: str | Path,
    policies: Sequence[str] = USUAL_POLICIES,
    capacities: Sequence[str] = USUAL_CAPACITIES,
    *,
    format: str | None = None,
    keep: str = "all",
    dynamic: bool = True,
    max_unreadable: float = 0.01,
    admit: Sequence[str] = (),
    ttl: str | None = None,
    warmup: str = "0 %",
    seed: int = 1,
    progress: Progress | None = None,
) -> CacheCurve:
    """Send requests through caches without packets: what is missed is stored at once.

    Memory grows with the objects, not with the requests; with the policy ``belady`` by 16 bytes a request as well.

    Args:
        requests: A request table with a column `object`, a log, or a trace.
        policies: Of ``fifo``, ``lru``, ``rand``, ``lfu``, ``gds``, ``gdsf``, ``arc``, ``s3-fifo``, ``sieve``,
            ``w-tinylfu``, ``belady``.
        capacities: Sizes such as ``10 MB``, or shares of the footprint such as ``5 %``.
        format: ``table``, ``squid``, ``clf``, ``oracle-general``, ``webcachesim``, ``cache2k``; None: told by the file,
            which the last does not.
        keep: Of a log: ``all`` that clients got, ``crossed`` or ``misses``, as `farweb workload import` has it.
        dynamic: Of a log: whether pages that are made for each request are requests too.
        max_unreadable: Share of the lines of a log or a text trace that may be unreadable, 0 to 1.
        admit: ``min=SIZE``, ``max=SIZE``, ``second-hit``, ``probability=SHARE``; they apply together.
        ttl: How long an object is fresh, such as ``1 h``; None: always.
        warmup: A share of the requests such as ``10 %``, or a number of them: the first are not measured.
        seed: Root of the random streams: of ``rand``, and of admission by probability.
        progress: Called with what is done, requests done, and of how many (None: unknown).

    Raises:
        WorkloadError: The file cannot be read, holds no request or one without an object; or a setting is none.
    """
    policies = read_policies(policies)
    sizes = [read_capacity(text) for text in capacities]
    admission, warming = read_admission(admit, ttl), read_warmup(warmup)
    if not policies or not sizes:
        raise WorkloadError("name at least one policy and one capacity")
    show = progress or (lambda _what, _done, _total: None)
    with open_input(
        Path(requests),
        format,
        keep=keep,
        dynamic=dynamic,
        max_unreadable=max_unreadable,
        progress=lambda kept: show("importing", kept, None),
    ) as source:
        survey, objects = _survey(source, "belady" in policies, show)
        capacity_bytes = sorted({capacity.of(survey.footprint) for capacity in sizes})
        skip = warming.of(survey.requests)
        caches = [(policy, capacity) for policy in policies for capacity in capacity_bytes]
        tallies = replay(
            source,
            caches,
            admission=admission,
            stackable_from=survey.largest if admission.takes_all and not survey.resized else None,
            skip=skip,
            seed=seed,
            following=None if objects is None else next_requests(objects),
            progress=lambda sent: show("caching", sent, survey.requests),
        )
        return CacheCurve(
            source=str(requests),
            format=source.format,
            requests=survey.requests,
            objects=survey.objects,
            request_bytes=survey.bytes,
            footprint_bytes=survey.footprint,
            largest_bytes=survey.largest,
            resized=survey.resized,
            warmup_requests=skip,
            seed=seed,
            admit=admission.admit,
            ttl=ttl,
            results=tuple(_result(*cache, tally) for cache, tally in zip(caches, tallies, strict=True)),
            input=source.counts,
            remarks=tuple(_remarks(source, skip, survey.requests)),
        )


def _survey(source: Requests, ahead: bool, show: Progress) -> tuple[_core.Survey, Any]:
    """Sums over all requests; their objects too, where a policy looks ahead."""
    survey = _core.Survey()
    objects: list[Any] = []
    batch: Batch
    for batch in source:
        survey.add(batch.object, batch.bytes)
        if ahead:
            objects.append(batch.object)
        show("reading", survey.requests, None)
    return survey, np.concatenate(objects) if ahead else None


def _remarks(source: Requests, skip: int, requests: int) -> Iterable[str]:
    yield from source.remarks
    if source.format in UNSIZED:
        yield "each object has one byte: a capacity is a number of objects"
    if skip:
        yield f"warm-up: the first {count(skip)} of {count(requests)} requests fill the caches and are not measured"


def _result(policy: str, capacity: int, tally: Tally) -> CacheResult:
    def of(part: int, whole: int) -> float | None:
        return part / whole if whole else None

    return CacheResult(
        policy=policy,
        capacity_bytes=capacity,
        requests=tally.requests,
        hits=tally.hits,
        hit_ratio=of(tally.hits, tally.requests),
        byte_hit_ratio=of(tally.hit_bytes, tally.bytes),
        revalidated_ratio=of(tally.revalidated, tally.requests),
        revalidated_byte_ratio=of(tally.revalidated_bytes, tally.bytes),
        request_bytes=tally.bytes,
        hit_bytes=tally.hit_bytes,
    )
