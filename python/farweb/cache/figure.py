"""The figure of `farweb workload cache`: both ratios against capacity, a line a policy."""

from pathlib import Path

import numpy as np

from farweb import _core
from farweb.cache.curve import CacheCurve, CacheResult
from farweb.plot import style
from farweb.plot.figure import Axis, Figure, Panel, Series
from farweb.quantities import count, size


def describe(curve: CacheCurve) -> Figure:
    """What the figure holds, in numbers and words."""
    x = Axis("capacity", "B", scale="log" if len(curve.capacities) > 1 else "linear")
    x = x.fitted(curve.capacities)
    panels = tuple(
        Panel(x, Axis(title, "%", low=0), _series(curve, name), title=title.capitalize())
        for title, name in (("hit ratio", "hit_ratio"), ("byte hit ratio", "byte_hit_ratio"))
    )
    return Figure(
        f"What caches hold – {Path(curve.source).name}",
        _caption(curve),
        panels,
        columns=2,
        legend="policy",
        size=(9.5, 4.6),
        share_y=True,
    )


def _series(curve: CacheCurve, name: str) -> tuple[Series, ...]:
    def percent(result: CacheResult) -> float:
        value = getattr(result, name)
        return float("nan") if value is None else 100 * value

    series = []
    for number, policy in enumerate(curve.policies):
        points = sorted((each.capacity_bytes, percent(each)) for each in curve.results if each.policy == policy)
        capacities, ratios = np.array(points, dtype=np.float64).T
        # A bound is there to compare with.
        series.append(Series(policy, style.QUIETLY if policy == "belady" else number, capacities, ratios))
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
    admitted = f" Admission: {style.listed(rules)}." if rules else ""
    return (
        f"n = {count(measured)} requests, {warmup}; {count(curve.objects)} objects with a footprint of "
        f"{size(curve.footprint_bytes)}.{admitted} Seed {curve.seed}, farweb {_core.version}."
    )
