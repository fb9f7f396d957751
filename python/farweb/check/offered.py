"""Load that a workload offers to each link, as the core works it out (`crates/farweb/src/load/offered.rs`)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self


@dataclass(frozen=True)
class OfferedLoad:
    """Load that requests offer to one direction of a link.

    Attributes:
        link: Place of the link on the path, from 0.
        direction: `up` or `down`.
        from_node: The node that sends.
        to_node: The node that receives.
        rate_bps: Rate of the bits that it carries, in bit/s.
        is_mean: True when that is a mean over time.
        mean_bps: Offered from the first start to the last byte, over a minute at least.
        minute_bps: In the busiest minute, in which the load takes the largest share of the rate, or None when the
            workload is too long for steps of a minute.
        minute_from_s: Its begin, since the start of the run.
        origin_unix_s: Start of the run on the clock of its log. None: it has none, or keeps none at another speed.
        minute_rate_bps: Mean rate of the link in that minute.
        second_bps: In the busiest second, or None as above.
        at_most: True when a live cache nearer to the clients takes an unknown part of it off.
        least_mean_bps: The part that no cache answers, as `mean_bps`; without such a cache all.
        least_from_s: When its busiest minute begins, or None as above.
        least_minute_bps: That part then or on average.
        least_rate_bps: Mean rate of the link in that minute.
    """

    link: int
    direction: str
    from_node: str
    to_node: str
    rate_bps: float
    is_mean: bool
    mean_bps: float
    minute_bps: float | None
    minute_from_s: float | None
    origin_unix_s: float | None
    minute_rate_bps: float | None
    second_bps: float | None
    at_most: bool
    least_mean_bps: float
    least_from_s: float | None
    least_minute_bps: float
    least_rate_bps: float


@dataclass(frozen=True)
class Offered:
    """Load that a workload offers to the links with a rate.

    Attributes:
        requests: Of all days and copies.
        span_s: From the first to the last start.
        load: Days and copies that run at the same time, or how many times as many requests there are.
        links: Both directions of each link that has a rate.
        rate_multiple: Mean requests a second relative to a load of 1: less than the load where copies begin so far
            apart that the workload takes longer.
    """

    requests: int
    span_s: float
    load: float
    links: tuple[OfferedLoad, ...]
    rate_multiple: float

    @classmethod
    def of(cls, figures: Mapping[str, Any]) -> Self:
        """The load in the figures of a check."""
        return cls(**{**figures, "links": tuple(OfferedLoad(**link) for link in figures["links"])})
