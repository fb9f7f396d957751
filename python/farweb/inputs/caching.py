"""Treatment of requests by shared caches: codes of the column `caching`, and counts of a workload (RFC 9111)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from farweb import _core
from farweb.text.quantities import count, share

SERVED_ONLY = "HEAD, 206, 304, given up, errors"
"""Responses that a cache may serve from a copy, and never stores: a part of an object, or none of it."""

STORE, BYPASS, INVALIDATE = map(_core.caching_words.index, ("store", "bypass", "invalidate"))
"""Codes of requests by rule: stored, bypassing caches, and making caches give up their copies."""


def caching_codes(column: Any) -> NDArray[np.uint8]:
    """Codes as the core's caches read them, of a column `caching` of `RequestReader`: null for GET with `store`."""
    codes, words = column
    known: NDArray[np.uint8] = np.array([*map(_core.caching_words.index, words), STORE], dtype=np.uint8)
    places: NDArray[np.int32] = codes  # of a null -1, the last place
    return known[places]


def survey_of(batches: Iterable[pa.RecordBatch]) -> _core.Survey:
    """Survey of the requests that name an object, in some 30 B an object.

    Args:
        batches: Of the columns `object`, `response_bytes` and, where it is there, `caching`, as `caching_codes` has it.
    """
    import pyarrow.compute as pc

    survey = _core.Survey()
    words = pa.array(_core.caching_words)
    for batch in batches:
        if "caching" in batch.schema.names:
            codes = pc.fill_null(pc.index_in(batch["caching"], value_set=words), STORE)
            caching = codes.to_numpy(zero_copy_only=False).astype(np.uint8)
        else:
            caching = np.full(batch.num_rows, STORE, dtype=np.uint8)
        objects = pc.fill_null(batch["object"], _core.null_id).to_numpy()
        named = objects != _core.null_id
        survey.add(objects[named], batch["response_bytes"].to_numpy()[named], caching[named])
    return survey


@dataclass(frozen=True)
class CacheTreatment:
    """Requests of a workload that name an object, by what shared caches do with them.

    Attributes:
        requests: All of them.
        bypassing: Requests that no copy may serve: of unsafe methods, or with responses that are not for all.
        invalidating: Bypassing requests that make a cache give up its copy.
        served_only: Requests that a copy may serve, without storing their response: `HEAD`, 206, 304, given up, errors.
        of_several_sizes: Those with a storable response for objects with several sizes.
        objects_of_several_sizes: These objects.
        objects: All objects.
    """

    requests: int
    bypassing: int
    invalidating: int
    served_only: int
    of_several_sizes: int
    objects_of_several_sizes: int
    objects: int

    @classmethod
    def of(cls, survey: _core.Survey) -> Self:
        """The counts of a survey."""
        return cls(**{each.name: getattr(survey, each.name) for each in fields(cls)})

    def rows(self) -> list[list[str]]:
        """Name, note and value for a table, without zeros, except for changes of size, which decide about hits."""
        rows = []
        if self.bypassing:
            note = f"{count(self.invalidating)} of them make a cache give up its copy" if self.invalidating else ""
            rows.append(["requests that are not cacheable", note, _with_share(self.bypassing, self.requests)])
        if self.served_only:
            never = f"responses that are never stored ({SERVED_ONLY})"
            rows.append([never, "a copy may serve", self._share(self.served_only)])
        note = f"{count(self.objects_of_several_sizes)} of {count(self.objects)} objects"
        rows.append(["to objects of changing size", note, self._share(self.of_several_sizes)])
        return rows

    def _share(self, part: int) -> str:
        return _with_share(part, self.requests)


def _with_share(part: int, whole: int) -> str:
    return f"{count(part)} ({share(part / whole)})" if whole else count(part)


RULES: dict[str, str] = {
    "storable": "storable: nothing in the log forbids it",
    "unsafe-method": "unsafe method: passes by, copies are given up",
    "unsafe-method-failed": "unsafe method with an error: passes by",
    "method-without-copy": "OPTIONS, TRACE, PROPFIND: pass by",
    "tunnel": "tunnels: pass by",
    "upgrade": "upgraded connections, such as WebSockets: pass by",
    "head": "HEAD: a copy may serve, not stored",
    "partial": "206: a copy may serve, not stored",
    "not-modified": "304: a copy may serve, not stored",
    "given-up": "given up by their client: a copy may serve, not stored",
    "status": "redirection or error without a time: a copy may serve, not stored",
    "no-store": "no-store: passes by",
    "private": "private: passes by",
    "no-cache": "no-cache or max-age=0: passes by, though a revalidation may save its body",
    "authorized": "for a user by name: passes by",
    "set-cookie": "sets a cookie: passes by, as requested",
    "cookie": "carries a cookie: passes by, as requested",
    "query": "query or CGI: passes by, as requested",
}
"""Rules of the import that decide about a request, in words."""


def assumed(counts: Mapping[str, Any]) -> list[str]:
    """Assumptions of an import about caches, by its counts `storable_with` and `has_cache_control`."""
    sentences = []
    if not counts["has_cache_control"]:
        sentences.append(
            "This log has no Cache-Control: caches may store every response to GET with a status of RFC 9110, 15.1."
        )
    called = {"query": "a query or CGI", "set-cookie": "Set-Cookie", "cookie": "a cookie"}
    with_more = {name: number for name in called if (number := counts["storable_with"].get(name, 0))}
    if with_more:
        said = ", ".join(f"{count(number)} with {called[name]}" for name, number in with_more.items())
        sentences.append(
            f"Storable are also {said}, as RFC 9111 has it; --bypass {','.join(with_more)} passes them by."
        )
    return sentences
