"""Counts the requests of an input for a fit: how often each document is asked for, its size, and when."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from farweb import _core
from farweb.errors import WorkloadError
from farweb.inputs.formats import TIMELESS
from farweb.inputs.requests import Batch, open_input
from farweb.progress import Progress, unseen


@dataclass
class Reading:
    """Counts of the requests of an input.

    Attributes:
        format: Format of the file.
        references: The requests.
        requests: How many.
        unsized: Number of these without a size.
        left_out: Lines, rows or records that are no request for a document, by reason.
        first_s: First start, in s. None: the source has no times.
        last_s: Last start, in s.
    """

    format: str
    references: _core.References = field(default_factory=_core.References)
    requests: int = 0
    unsized: int = 0
    left_out: dict[str, int] = field(default_factory=dict)
    first_s: float | None = None
    last_s: float | None = None

    def add(self, batch: Batch, header_bytes: int) -> None:
        """Count requests, in order, with so many bytes of headers in their sizes that the input does not have."""
        sizes = batch.bytes - header_bytes
        self.references.add(np.ascontiguousarray(batch.object), sizes)
        self.requests += len(batch)
        self.unsized += int((sizes == 0).sum())
        if self.format not in TIMELESS:
            first, last = float(batch.time_ns.min()) / 1e9, float(batch.time_ns.max()) / 1e9
            self.first_s = first if self.first_s is None else min(first, self.first_s)
            self.last_s = last if self.last_s is None else max(last, self.last_s)


def read(
    files: str | Path | Sequence[str | Path],
    format: str | None = None,
    *,
    progress: Progress = unseen,
    **options: Any,
) -> Reading:
    """Read a file, or several logs, to the end. Arguments as in `open_input`.

    Raises:
        WorkloadError: There is no such format, or the file cannot be read, is no such file, or has no request that
            names its document.
    """
    with open_input(files, format, errors=False, nameless=True, progress=progress, **options) as requests:
        reading = Reading(requests.format)
        others = 0
        for batch in requests:
            documents = batch.for_copies()
            others += len(batch) - len(documents)
            if len(documents):
                reading.add(documents, requests.header_bytes)
            progress(reading.requests, None, f"{reading.requests:,} requests")
        reading.left_out = {**requests.left_out, **({"no-copy": others} if others else {})}
    if not reading.requests:
        raise WorkloadError(f"{requests.name}: has no request that a copy may serve ({others} of other methods)")
    return reading
