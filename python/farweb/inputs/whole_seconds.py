"""Whole seconds of logs: requests of one are spread evenly over it, in the order of the logs and their lines.

The core spreads those that stand side by side. Where a second comes back, behind another one or in another log, all of
them are spread once more while they are sorted.
"""

import pyarrow as pa

COLUMNS = {"second": pa.int64(), "before_s": pa.float64()}
"""Columns of the core's reader that are of no table: the second of a line, and the time from its start to it."""


def spread(origin_unix_s: int) -> dict[str, str]:
    """Starts for `sort_parquet`, of rows with `COLUMNS`."""
    those = "PARTITION BY second ORDER BY file_row_number ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING"
    place = f"(row_number() OVER ({those}) - 1) / count(*) OVER ({those})"
    start = f"second - {origin_unix_s} + {place} - before_s"
    return {"start_s": f"CASE WHEN second IS NULL THEN start_s ELSE {start} END"}
