"""The effect of a change on requests: differences with intervals, by size and by cause, and a verdict."""

from dataclasses import dataclass
from typing import Any

from farweb.judge.judgement import Difference, Verdict
from farweb.judge.pairs import Floats
from farweb.judge.verdicts import Slice
from farweb.results.parts import Kind
from farweb.statistics.intervals import Estimate
from farweb.text.sheet import to_object


@dataclass(frozen=True)
class Side:
    """The latencies of one side, of all its requests.

    Attributes:
        mean_s: Mean of the requests that ended; None where none did.
        quantiles_s: By share in percent; infinite where failed requests reach it.
        failed_share: Share of requests that did not end.
        requests: How many.
    """

    mean_s: float | None
    quantiles_s: dict[int, float | None]
    failed_share: float
    requests: int


@dataclass(frozen=True)
class SizeClass:
    """The requests of a class of response sizes.

    Attributes:
        from_bytes: Its lower end.
        n: Requests.
        change: M of the class.
        mean_s: The same in s a request.
        faster: Share that is faster by a fifth of the margin or more.
        slower: Share that is slower.
    """

    from_bytes: int
    n: int
    change: Estimate
    mean_s: Estimate
    faster: float
    slower: float


@dataclass(frozen=True)
class Cause:
    """The share of one part of the latency in the difference.

    Attributes:
        kind: Which part, of `farweb.results.parts.KINDS`.
        mean_s: Mean difference of that part.
    """

    kind: Kind
    mean_s: float


@dataclass(frozen=True)
class Change:
    """The effect of a run, or of a point of a sweep, on the requests of the base.

    Attributes:
        base: Name of the base.
        other: Name of the other.
        group: The property that the requests share (`farweb.results.groups`); empty: all.
        pairs: Pairs of requests.
        runs: Pairs of runs that they are of.
        only_base: Requests that ended at the base only.
        only_other: Requests that ended on the other side only.
        neither: Requests that ended on neither.
        of_base: Latencies of the base.
        of_other: Latencies of the other.
        sizes: By class of response sizes.
        causes: Where the mean difference comes from, the largest part first; empty where `exchanges` was not recorded.
        differences: Of all requests in s, by start, run after run.
        judgement: The two judged by the rule that all verbs share.
        verdict: The comparison in a sentence, the first line of its screen.
    """

    base: str
    other: str
    group: str
    pairs: int
    runs: int
    only_base: int
    only_other: int
    neither: int
    of_base: Side
    of_other: Side
    sizes: tuple[SizeClass, ...]
    causes: tuple[Cause, ...]
    differences: Floats
    judgement: Verdict
    verdict: str = ""

    @property
    def called(self) -> str:
        """Name of the other, with the group."""
        return ", ".join(part for part in (self.other, self.group) if part)

    @property
    def everyone(self) -> Slice:
        """All requests, measured and judged."""
        return self.judgement.slices[0]

    @property
    def failed(self) -> Difference:
        """Difference of the shares that did not end."""
        return next(each for each in self.judgement.quantities if each.name == "failed_share")

    def to_dict(self) -> dict[str, Any]:
        """All of it but the differences of requests as plain values, for JSON. None stands for infinite."""
        kept = {name: value for name, value in vars(self).items() if name != "differences"}
        of_all = self.everyone
        counts = {"faster": of_all.faster, "slower": of_all.slower, "mean_s": of_all.difference_s}
        return to_object({**kept, **counts, "interval_of": self.judgement.interval_of})


@dataclass(frozen=True)
class Pair:
    """One of several alternatives judged against another.

    Attributes:
        base: Name of the one against which.
        other: Name of the one that is judged.
        group: The property that the requests share; empty: all.
        verdict: The judgement.
    """

    base: str
    other: str
    group: str
    verdict: Verdict

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values, for JSON."""
        return {"base": self.base, "other": self.other, "group": self.group, **self.verdict.to_dict()}
