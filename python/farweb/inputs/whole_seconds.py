"""Whole seconds of logs: requests of one are spread evenly over it, in the order of the logs and their lines.

The core spreads those that stand side by side. Where a second comes back, behind another one or in another log, all of
them are spread once more while they are sorted.
"""

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

COLUMNS = {"second": pa.int64(), "before_s": pa.float64()}
"""Columns of the core's reader that are of no table: the second of a line, and the time from its start to it."""


class WholeSeconds:
    """Seconds of all logs of an import.

    Attributes:
        come_back: True where one may stand in two places.
    """

    def __init__(self) -> None:
        self.come_back = False
        self._latest = -1

    def add(self, batch: pa.RecordBatch) -> None:
        """Look at requests as they come. The core ends no batch within a second."""
        seconds: NDArray[Any] = batch["second"].drop_null().to_numpy()
        self.come_back |= bool(np.any(np.diff(seconds, prepend=self._latest + 1) < 0))
        self._latest = max(self._latest, int(seconds.max(initial=-1)))

    def spread(self, origin_unix_s: int) -> dict[str, str] | None:
        """Starts for `sort_parquet`, of rows with `COLUMNS`, or None where the core's are right."""
        if not self.come_back:
            return None
        those = "PARTITION BY second ORDER BY file_row_number ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING"
        place = f"(row_number() OVER ({those}) - 1) / count(*) OVER ({those})"
        start = f"second - {origin_unix_s} + {place} - before_s"
        return {"start_s": f"CASE WHEN second IS NULL THEN start_s ELSE {start} END"}
