"""Computes hit ratios of caches by policy and capacity, for `farweb workload cache`."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from farweb import _core
from farweb.cache.replay import Tally, next_requests, replay
from farweb.cache.result import CacheCurve, CacheResult
from farweb.cache.settings import (
    USUAL_CAPACITIES,
    USUAL_POLICIES,
    read_admission,
    read_capacity,
    read_policies,
    read_warmup,
)
from farweb.errors import WorkloadError, require_range
from farweb.inputs.caching import CacheTreatment
from farweb.inputs.formats import UNSIZED
from farweb.inputs.requests import Batch, Requests, open_input
from farweb.progress import Progress, unseen
from farweb.text.quantities import count


def cache_curve(
    requests: str | Path | Sequence[str | Path],
    policies: Sequence[str] = USUAL_POLICIES,
    capacities: Sequence[str] = USUAL_CAPACITIES,
    *,
    format: str | None = None,
    log_format: str | None = None,
    fields: Mapping[str, str] | None = None,
    keep: str = "all",
    dynamic: bool = True,
    bypass: str = "",
    max_unreadable: float = 0.01,
    admit: Sequence[str] = (),
    ttl: str | None = None,
    changed: str = "serve",
    warmup: str = "0 %",
    seed: int = 1,
    progress: Progress = unseen,
) -> CacheCurve:
    """Send requests through caches without packets: misses are stored at once.

    Memory grows with the objects, and with the policy ``belady`` by 16 bytes a request besides.

    Args:
        requests: A request table with a column `object`, one or several logs, or a trace.
        policies: Of ``fifo``, ``lru``, ``rand``, ``lfu``, ``gds``, ``gdsf``, ``arc``, ``s3-fifo``, ``sieve``,
            ``w-tinylfu``, ``belady``.
        capacities: Sizes such as ``10 MB``, or shares of the footprint such as ``5 %``.
        format: What is read: table, a format of workload import such as squid or clf, oracle-general, webcachesim,
            cache2k (default: detected from the file, all but the last).
        log_format: A format string of a log instead, as workload import has it.
        fields: A key of JSON objects: start=ts, url=req.path, bytes=n, elapsed=took:ms. May be repeated.
        keep: Of a log: all that clients got; crossed or misses, as workload import has it.
        dynamic: Of a log: take pages made for each request too (a query or CGI in the URL), or not.
        bypass: Of a log: requests that caches pass by although RFC 9111 lets them store: query, set-cookie, cookie,
            with commas between them.
        max_unreadable: Share of the lines of a log or a text trace that may be unreadable, 0 to 1.
        admit: Rule for what is stored: ``min=1 kB``, ``max=8 KiB``, ``second-hit``, ``probability=0.5``. All apply.
        ttl: How long an object is fresh, such as ``1 h`` (default: always).
        changed: A request whose size differs from the fresh copy: ``serve`` that, or ``fetch`` anew.
        warmup: The first requests fill the caches, unmeasured: ``10 %``, or a number.
        seed: Root of the random streams, of ``rand`` and of admission by probability, 0 to 2**53.
        progress: Called as requests are read and sent.

    Raises:
        WorkloadError: The file cannot be read, or has no request or one without an object. Or a setting is invalid.
    """
    require_range("--seed", seed, 0, 2**53)
    require_range("--max-unreadable", max_unreadable, 0, 1)
    policies = read_policies(policies)
    sizes = [read_capacity(text) for text in capacities]
    admission, warming = read_admission(admit, ttl, changed), read_warmup(warmup)
    if not policies or not sizes:
        raise WorkloadError("name at least one policy and one capacity")
    with open_input(
        requests,
        format,
        log_format=log_format,
        fields=fields,
        keep=keep,
        dynamic=dynamic,
        bypass=bypass,
        max_unreadable=max_unreadable,
        progress=lambda kept, total, words: progress(kept, total, f"importing: {words}"),
    ) as source:
        survey, following = _survey(source, "belady" in policies, progress)
        capacity_bytes = sorted({capacity.of(survey.footprint) for capacity in sizes})
        skip = warming.of(survey.requests)
        rules = [changed, *({"serve", "fetch"} - {changed} if survey.resized else ())]
        caches = [(policy, capacity, rule) for rule in rules for policy in policies for capacity in capacity_bytes]
        has_one_stack = admission.takes_all and not (survey.resized or survey.served_only or survey.invalidating)
        tallies = replay(
            source,
            caches,
            admission=admission,
            stackable_from=survey.largest if has_one_stack else None,
            skip=skip,
            seed=seed,
            following=following,
            progress=lambda sent, _, words: progress(sent, survey.requests, f"caching: {words}"),
        )
        found = dict(zip(caches, tallies, strict=True))
        return CacheCurve(
            source=source.name,
            format=source.format,
            requests=survey.requests,
            objects=survey.objects,
            request_bytes=survey.bytes,
            footprint_bytes=survey.footprint,
            largest_bytes=survey.largest,
            storable_objects=survey.storable_objects,
            resized=survey.resized,
            warmup_requests=skip,
            seed=seed,
            admit=admission.admit,
            ttl=ttl,
            changed=changed,
            treatment=CacheTreatment.of(survey),
            errors=source.errors,
            results=tuple(
                _result(policy, capacity, *(found[policy, capacity, rule] for rule in rules))
                for policy in policies
                for capacity in capacity_bytes
            ),
            input=source.counts,
            remarks=tuple(_remarks(source, skip, survey.requests)),
        )


def _survey(source: Requests, ahead: bool, show: Progress) -> tuple[_core.Survey, NDArray[np.uint64] | None]:
    """Sums over all requests, and for policies that look ahead each request's next one for its object."""
    survey = _core.Survey()
    known: list[tuple[NDArray[np.uint64], NDArray[np.uint8]]] = []
    batch: Batch
    for batch in source:
        survey.add(batch.object, batch.bytes, batch.caching)
        if ahead:
            known.append((batch.object, batch.caching))
        show(survey.requests, None, f"reading: {survey.requests:,} requests")
    return survey, next_requests(*map(np.concatenate, zip(*known, strict=True))) if ahead else None


def _remarks(source: Requests, skip: int, requests: int) -> Iterable[str]:
    yield from source.remarks
    if source.format in UNSIZED:
        yield "each object has one byte: a capacity is a number of objects"
    if skip:
        yield f"warm-up: the first {count(skip)} of {count(requests)} requests fill the caches and are not measured"


def _result(policy: str, capacity: int, tally: Tally, other: Tally | None = None) -> CacheResult:
    """Ratios of a cache. `other` is the same cache under the other rule for changed sizes."""

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
        other_hit_ratio=None if other is None else of(other.hits, other.requests),
        other_byte_hit_ratio=None if other is None else of(other.hit_bytes, other.bytes),
    )
