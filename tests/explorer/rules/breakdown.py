"""The breakdown of latencies: its parts add up to what requests took, and who did not finish stands beside them."""

from collections import Counter
from collections.abc import Iterator

from explorer.reading import Run, quantity
from explorer.rules import rule
from explorer.way import S

_EXACT = 1e-9  # of the latency: sums of parts in binary fractions of a second


@rule("breakdown.adds up")
def adds_up(run: Run) -> Iterator[str]:
    """The parts are the mean latency of requests that are done; others stand beside it, by the legs they reached."""
    warmup = quantity(run.scenario.get("run", {}).get("warmup", "0 s"))
    asked = {number: row for number, row in run.requests.items() if row["start_ns"] >= warmup}
    done = [row["end_ns"] - row["start_ns"] for row in asked.values() if row["status"] == "done"]
    if not (run.record["exchanges"] and done):
        return
    if "breakdown" not in run.tables:
        yield f"{len(done)} requests are done, and there is no breakdown of their latency"
        return
    latency = sum(done) / len(done) / S
    total = sum(row["mean_s"] for row in run.rows("breakdown"))
    if abs(total - latency) > _EXACT * latency:
        yield f"the parts add up to {total} s, and {len(done)} requests took {latency} s"
    crossed = {(row["leg"], row["request"]) for row in run.exchanges if row["request"] in asked}
    came = Counter((leg, asked[request]["status"] == "done") for leg, request in crossed)
    for row in run.rows("breakdown_legs"):
        for name, is_done in (("reached", True), ("unfinished_reached", False)):
            if row[name] != came[row["leg"], is_done]:
                yield f"leg {row['leg']}: {row[name]} {name}, and {came[row['leg'], is_done]} by exchanges"
