"""Fits the parameters of the model ProWGen to a log, and measures the fit, for `farweb workload fit`.

Each parameter is estimated on its own (`estimates`), then the model is generated with all of them and compared with the
log: sizes, popularity, and the stack distances that choose its LRU stack. `farweb workload generate prowgen
--parameters` reads the file of `write_parameters`.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from farweb import _core
from farweb.errors import require_range
from farweb.files.atomic import write_text
from farweb.inputs.fit import estimates, reading
from farweb.inputs.fit.estimates import Body, Correlation, Tail, Zipf
from farweb.inputs.formats import paths_of
from farweb.inputs.generate import family_scenario
from farweb.progress import Progress, unseen
from farweb.text import toml
from farweb.text.quantities import count, number, plain, share, size
from farweb.text.sheet import Sheet, Shown

__all__ = ["Fit", "Locality", "Popularity", "Seen", "fit", "write_parameters"]

_STACKS = (10, 100, 1000, 10_000)
_MODES = ("static", "dynamic")
_AS_NEAR = 0.005  # chosen: noise of a distance. Among stacks this near the smallest is taken
_CORRELATED = 0.5  # chosen: half way to the +1 and -1 that the model can have
_SPREAD = 400  # points of a curve


@dataclass(frozen=True)
class Popularity:
    """Distribution of requests over documents.

    Attributes:
        documents: Distinct documents.
        distinct_share: Documents for each request.
        onetimers: Documents with one request.
        onetimer_share: Of the documents.
        onetimer_error: Standard error of that share, with documents taken as independent.
        zipf: Slope of requests by rank, or None with too few ranks.
        model_ks: Largest difference of the share of all requests that go to the first ranks, model to data.
    """

    documents: int
    distinct_share: float
    onetimers: int
    onetimer_share: float
    onetimer_error: float
    zipf: Zipf | None
    model_ks: float


@dataclass(frozen=True)
class Locality:
    """The LRU stack with stack distances nearest to the log's.

    Attributes:
        mode: ``static`` or ``dynamic``.
        stack_size: Documents.
        ks: Kolmogorov–Smirnov distance of stack distances, model to data.
        n: Requests with a stack distance: those for a document asked for before.
        median: Median stack distance of the log.
        tried: The distance of each mode and size that was tried, ``"dynamic 1000"``.
    """

    mode: str
    stack_size: int
    ks: float
    n: int
    median: int
    tried: Mapping[str, float]


@dataclass(frozen=True, eq=False)
class Seen:
    """Curves that a figure draws, of the data or of the model.

    Attributes:
        requests: Requests of each document, the most popular first.
        sizes: Known sizes of documents, in order.
        distances: Requests by stack distance.
    """

    requests: NDArray[np.float64]
    sizes: NDArray[np.float64]
    distances: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Fit(Shown):
    """ProWGen's parameters for a log.

    Attributes:
        source: The file.
        format: Its format: ``table``, ``squid`` …
        requests: Requests for documents.
        left_out: Lines without such a request, by reason: lines that cannot be read, pages made for each request, …
        unsized_requests: Requests without a size.
        sized_documents: Documents with a known size.
        resized_share: Share of requests with another size than the largest before.
        arrival_rate: Requests a second. None: the source has no times.
        popularity: Distribution of requests over documents.
        tail: Large sizes. None: too few, or no sizes.
        body: The other sizes, or None as above.
        correlation: Of size and popularity, or None as above.
        locality: The stack. None: no document was asked for twice.
        sizes_ks: Kolmogorov–Smirnov distance of the sizes of documents, model to data, or None without sizes.
        not_estimated: Parameters that keep their defaults, and why.
        parameters: For ``farweb workload generate prowgen``, by name.
        data: Curves of the log.
        model: Curves of the model with these parameters.
    """

    source: str
    format: str
    requests: int
    left_out: Mapping[str, int]
    unsized_requests: int
    sized_documents: int
    resized_share: float
    arrival_rate: float | None
    popularity: Popularity
    tail: Tail | None
    body: Body | None
    correlation: Correlation | None
    locality: Locality | None
    sizes_ks: float | None
    not_estimated: Mapping[str, str]
    parameters: Mapping[str, str | int | float]
    data: Seen
    model: Seen

    def to_dict(self) -> dict[str, Any]:
        """All of it but the curves as plain values, for JSON."""
        return {name: value for name, value in super().to_dict().items() if name not in ("data", "model")}

    def _parts(self) -> list[Sheet]:
        found = self.popularity
        facts = [
            ["read as", self.format],
            ["requests", count(self.requests)],
            *([f"left out: {reason}", count(lines)] for reason, lines in self.left_out.items()),
            ["requests without a size", count(self.unsized_requests)],
            ["documents", count(found.documents)],
            ["documents with a size", count(self.sized_documents)],
            ["requests with another size than before", share(self.resized_share)],
        ]
        values = [
            ["distinct documents a request", number(found.distinct_share), "", f"{count(self.requests)} requests"],
            [
                "one-timers of the documents",
                number(found.onetimer_share),
                _error(found.onetimer_error),
                f"{count(found.documents)} documents",
            ],
            *self._shape_rows(),
        ]
        rows = [[name, str(value)] for name, value in self.parameters.items()]
        kept = [[name, why] for name, why in self.not_estimated.items()]
        return [
            Sheet(self.source, ["", "value"], facts),
            Sheet("Estimates", ["", "value", "standard error", "goodness of fit"], values),
            Sheet("Parameters", ["", "value"], rows),
            *([Sheet("Not estimated", ["", "why"], kept)] if kept else []),
        ]

    def _shape_rows(self) -> list[list[str]]:
        rows = []
        if (zipf := self.popularity.zipf) is not None:
            goodness = f"R² {zipf.r2:.3f} over {zipf.bins} bins; model to data {self.popularity.model_ks:.3f}"
            rows.append(["Zipf slope", number(zipf.slope), _error(zipf.error), goodness])
        if (body := self.body) is not None:
            goodness = f"KS {body.ks:.3f}, n = {count(body.n)}{'; at its bound' if body.bounded else ''}"
            rows.append(["body, mean of logarithms", number(body.mu), _error(body.mu_error), goodness])
            rows.append(["body, their standard deviation", number(body.sigma), _error(body.sigma_error), ""])
        if (tail := self.tail) is not None:
            rows.append(["tail from", size(tail.start), "", "given" if tail.given else "least KS"])
            goodness = f"KS {tail.ks:.3f}, n = {count(tail.n)}"
            rows.append(["tail index", number(tail.shape), _error(tail.error), goodness])
            rows.append(["documents in the tail", share(tail.share), "", ""])
        if self.sizes_ks is not None:
            goodness = f"KS {self.sizes_ks:.3f} model to data, n = {count(self.sized_documents)}"
            rows.append(["all sizes", "", "", goodness])
        if (found := self.correlation) is not None:
            rows.append(["size and popularity, Spearman's ρ", f"{found.rho:.3f}", "", f"p {_probability(found.p)}"])
        if (locality := self.locality) is not None:
            goodness = f"KS {locality.ks:.3f} model to data, n = {count(locality.n)}"
            rows.append(["LRU stack", f"{locality.mode}, {count(locality.stack_size)}", "", goodness])
        return rows


def fit(
    log: str | Path | Sequence[str | Path],
    *,
    format: str | None = None,
    log_format: str | None = None,
    fields: Mapping[str, str] | None = None,
    keep: str = "all",
    dynamic: bool = False,
    max_unreadable: float = 0.01,
    tail_from: float | None = None,
    seed: int = 1,
    progress: Progress = unseen,
) -> Fit:
    """Estimate ProWGen's parameters from a log, a request table with objects, or a cache trace.

    Memory grows with the documents, not with the requests. The model is generated once for each stack that is tried.

    Args:
        log: The file, or several logs in any order.
        format: What is read: table, a format of workload import such as squid or clf, oracle-general, webcachesim,
            cache2k (default: detected from the file, all but the last).
        log_format: A format string of a log instead, as workload import has it.
        fields: A key of JSON objects: start=ts, url=req.path, bytes=n. May be repeated.
        keep: Of a log: all that clients got; crossed or misses, as workload import has it.
        dynamic: Of a log: take pages made for each request too (a query or CGI in the URL), or not.
        max_unreadable: Share of the lines of a log or a text trace that may be unreadable, 0 to 1.
        tail_from: Where the tail of sizes starts, in bytes, 1 to 2**31 (default: where it is nearest to a Pareto
            distribution).
        seed: Root of the random streams of the model, 0 to 2**53.
        progress: Called as requests are read.

    Raises:
        WorkloadError: The file cannot be read, or has no request that names its document.
    """
    require_range("--tail-from", tail_from, 1, 2**31)
    require_range("--seed", seed, 0, 2**53)
    require_range("--max-unreadable", max_unreadable, 0, 1)
    described = {"log_format": log_format, "fields": fields, "max_unreadable": max_unreadable}
    read = reading.read(log, format, keep=keep, dynamic=dynamic, **described, progress=progress)
    data = _seen(read.references)
    references = read.references
    counts, sizes = references.counts(), references.sizes()
    sized = sizes > 0
    tail = estimates.tail(data.sizes, tail_from)
    body = estimates.body(data.sizes, tail.start if tail else math.inf)
    correlation = estimates.correlation(counts[sized].astype(float), sizes[sized].astype(float))
    zipf = estimates.zipf(data.requests)
    span = (read.last_s or 0.0) - (read.first_s or 0.0)
    rate = (read.requests - 1) / span if span > 0 else None
    parameters, kept = _parameters(data, zipf, tail, body, correlation, rate)
    locality, model = _nearest(data, parameters, seed)
    if locality is None:
        kept["stack_size, stack_mode"] = "no document was asked for twice"
    else:
        parameters |= {"stack_size": locality.stack_size, "stack_mode": locality.mode}
    documents, onetimers = len(counts), int((counts == 1).sum())
    once = onetimers / documents
    return Fit(
        source=", ".join(map(str, paths_of(log))),
        format=read.format,
        requests=read.requests,
        left_out=read.left_out,
        unsized_requests=read.unsized,
        sized_documents=int(sized.sum()),
        resized_share=references.resized / read.requests,
        arrival_rate=rate,
        popularity=Popularity(
            documents=documents,
            distinct_share=documents / read.requests,
            onetimers=onetimers,
            onetimer_share=once,
            onetimer_error=math.sqrt(once * (1 - once) / documents),
            zipf=zipf,
            model_ks=estimates.histogram_distance(data.requests, model.requests),
        ),
        tail=tail,
        body=body,
        correlation=correlation,
        locality=locality,
        sizes_ks=estimates.sample_distance(data.sizes, model.sizes) if len(data.sizes) else None,
        not_estimated=kept,
        parameters=parameters,
        data=data,
        model=model,
    )


def _parameters(
    data: Seen,
    zipf: Zipf | None,
    tail: Tail | None,
    body: Body | None,
    correlation: Correlation | None,
    rate: float | None,
) -> tuple[dict[str, str | int | float], dict[str, str]]:
    """The parameters of the model except its stack, with those left at their defaults and why."""
    requests, documents = int(data.requests.sum()), len(data.requests)
    onetimers = int((data.requests == 1).sum())
    # Half a document more gives whole numbers in spite of truncation.
    found: dict[str, str | int | float] = {
        "requests": requests,
        "distinct_share": min(1.0, round((documents + 0.5) / requests, 9)),
        "onetimer_share": min(1.0, round((onetimers + 0.5) / documents, 9)),
    }
    kept = {}
    if zipf is not None:
        found["zipf_slope"] = round(max(zipf.slope, 0.0), 4)
    else:
        kept["zipf_slope"] = "too few documents were asked for more than once"
    largest = int(data.sizes[-1]) if len(data.sizes) else 0
    why = "no sizes are known" if not largest else "too few sizes, or all the same"
    if body is not None:
        found["body_mean"] = f"{min(max(round(body.mean), 1), 2**53)} B"
        found["body_deviation"] = f"{min(round(body.deviation), 2**53)} B"
    else:
        kept["body_mean, body_deviation"] = why
    if tail is not None:
        found |= {"tail_from": f"{round(tail.start)} B", "tail_shape": round(min(max(tail.shape, 0.1), 10.0), 4)}
        found["tail_share"] = round(tail.share, 6)
    else:
        kept["tail_shape"] = (
            why if body is None else "no size leaves 50 documents or more, and half or fewer, for a tail"
        )
        if body is not None:
            found |= {"tail_from": f"{largest + 1} B", "tail_share": 0.0}
        else:
            kept["tail_from, tail_share"] = why
    if largest >= 50 << 20:
        found["response_max"] = f"{largest + 1} B"
    if correlation is not None:
        strong = abs(correlation.rho) > _CORRELATED
        found["correlation"] = ("positive" if correlation.rho > 0 else "negative") if strong else "none"
    else:
        kept["correlation"] = why
    if rate is not None:
        found["arrival_rate"] = float(f"{min(max(rate, 0.001), 1e9):.6g}")
    else:
        kept["arrival_rate"] = "the source has no times"
    return found, kept


def _nearest(data: Seen, parameters: Mapping[str, Any], seed: int) -> tuple[Locality | None, Seen]:
    """The stack with the nearest distances, and its model."""
    again = int(data.distances.sum())
    if again == 0:
        return None, _generate(parameters, seed)
    documents = len(data.requests)
    # A larger stack than there are documents is one for all of them.
    stacks = [stack for stack in _STACKS if stack < documents] or [documents]
    tried = {}
    for mode in _MODES:
        for stack in stacks:
            model = _generate({**parameters, "stack_size": stack, "stack_mode": mode}, seed)
            tried[mode, stack] = estimates.histogram_distance(data.distances, model.distances)
    mode, _ = nearest = min(tried, key=lambda stack: tried[stack])
    stack = next(stack for stack in stacks if tried[mode, stack] <= tried[nearest] + _AS_NEAR)
    median = int(np.searchsorted(np.cumsum(data.distances), again / 2))
    distances = {f"{mode} {stack}": ks for (mode, stack), ks in tried.items()}
    found = Locality(mode, stack, tried[mode, stack], again, median, distances)
    return found, _generate({**parameters, "stack_size": stack, "stack_mode": mode}, seed)


def _generate(parameters: Mapping[str, Any], seed: int) -> Seen:
    """Generate a workload of the model and count its requests."""
    texts = {name: str(value) for name, value in parameters.items()}
    generated = _core.Prepared.of_family(family_scenario("prowgen", seed=seed, parameters=texts), seed)
    references = _core.References()
    for columns in generated:
        objects, sizes = (cast(NDArray[Any], columns[name]) for name in ("object", "response_bytes"))
        references.add(objects, sizes)
    return _seen(references)


def _seen(references: _core.References) -> Seen:
    requests = np.sort(references.counts())[::-1].astype(float)
    sizes = references.sizes()
    return Seen(requests, np.sort(sizes[sizes > 0]).astype(float), references.distances().astype(float))


def write_parameters(found: Fit, out: Path) -> None:
    """Write the parameters as TOML, a line for each, which ``generate prowgen --parameters`` reads.

    Raises:
        StorageError: The file cannot be written.
    """
    lines = [f"# Parameters of ProWGen fitted to {Path(found.source).name}: {found.requests} requests."]
    lines += [f"# {name}: not estimated, {why}." for name, why in found.not_estimated.items()]
    lines += [f"{name} = {toml.value(value)}" for name, value in found.parameters.items()]
    write_text(out, "\n".join(lines) + "\n")


def _error(value: float | None) -> str:
    return "–" if value is None else plain(value, 2)


def _probability(p: float) -> str:
    return plain(p, 2) if p >= 1e-4 else "< 0.0001"
