"""Tables by interval: without a gap, within what links can carry, and with the sums of the other tables."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from explorer.reading import Row, Run, quantity
from explorer.rules import rule
from explorer.rules.connections import life
from explorer.way import S

PACKET_MAX = 65_535


@rule("intervals.time")
def time(run: Run) -> Iterator[str]:
    """Intervals follow one another from start to end of the run, each as long as the scenario says but the last."""
    every = run.record.get("links_every")
    for table, names in {"links": ("link", "direction"), "legs": ("leg",), "caches": ("node",)}.items():
        rows = run.rows(table)
        series: dict[Any, list[Row]] = defaultdict(list)
        for row in rows:
            series[tuple(row[name] for name in names)].append(row)
        for key, own in series.items():
            now = 0
            for row in own:
                if row["time_ns"] - row["interval_ns"] != now:
                    yield f"{table} {key}: an interval to {row['time_ns']} of {row['interval_ns']} ns follows {now}"
                now = row["time_ns"]
                if every is not None and row is not own[-1] and row["interval_ns"] != quantity(every):
                    yield f"{table} {key}: an interval of {row['interval_ns']} ns in the middle"
            if run.end is not None and now != run.end:
                yield f"{table} {key} goes to {now}, and the run to {run.end}"
        if every is None and table in ("links", "legs") and rows:
            yield f"{table} has rows, and no interval is set"


@rule("intervals.links")
def links(run: Run) -> Iterator[str]:
    """A link is busy for as long as its bytes take, and its queue is within its limit."""
    for row in run.rows("links"):
        way = run.links[row["link"]][row["direction"]]
        where = f"link {row['link']} {row['direction']} to {row['time_ns']}"
        if not 0 <= row["busy"] <= 1:
            yield f"{where}: busy {row['busy']}"
        if not 0 <= row["queue_bytes_mean"] <= row["queue_bytes_max"]:
            yield f"{where}: a mean queue of {row['queue_bytes_mean']} B, and at most {row['queue_bytes_max']} B"
        if way.loss["kind"] == "none" and (way.limit is None or way.rate is None) and row["drops"]:
            yield f"{where}: {row['drops']} drops without losses and a limit"
        if way.rate is None or not way.is_constant:
            continue
        # A packet counts when its last bit has left: one may have begun before, and another not have ended.
        carried = row["busy"] * row["interval_ns"] * way.rate / S / 8
        if abs(carried - row["bytes"]) > 2 * PACKET_MAX + 1:
            yield f"{where}: {row['bytes']} B, and busy enough for {carried} B"
        if way.limit is not None and not way.in_packets:
            most = way.limit + (PACKET_MAX if way.waiting or way.kind == "drop-head" else 0)
            if row["queue_bytes_max"] > most:
                yield f"{where}: a queue of {row['queue_bytes_max']} B, and the limit is {way.limit} B"


@rule("intervals.packets")
def packets(run: Run) -> Iterator[str]:
    """What connections' ends sent reaches their first link; what leaves one reaches the next, up to a split."""
    if "links" not in run.tables or not run.record["connections"] or run.caches or run.until is not None:
        return
    totals: dict[tuple[int, str], list[int]] = defaultdict(lambda: [0, 0])
    for row in run.rows("links"):
        total = totals[row["link"], row["direction"]]
        total[0] += row["packets"]
        total[1] += row["drops"]
    for place, leg in enumerate(run.legs):
        if leg.kind == "transfer":
            continue
        for way, column in (("up", "segments_up"), ("down", "segments_down")):
            given = sum(row[column] for row in run.connections.values() if row["leg"] == place)
            near, far = run.stretches(leg)[leg.first_stretch(way)]
            order = range(near, far) if way == "up" else range(far - 1, near - 1, -1)
            for link in order:
                sent, dropped = totals[link, way]
                if sent + dropped != given:
                    yield f"link {link} {way} sent {sent} and dropped {dropped} packets, and {given} reached it"
                given = sent


@rule("intervals.legs")
def legs(run: Run) -> Iterator[str]:
    """The means of legs follow from the lives of their connections and exchanges."""
    sums: dict[tuple[int, str], float] = defaultdict(float)
    peaks: dict[int, int] = defaultdict(int)
    for row in run.rows("legs"):
        where = f"leg {row['leg']} to {row['time_ns']}"
        for what in ("open", "busy", "requests"):
            sums[row["leg"], what] += row[f"{what}_mean"] * row["interval_ns"]
            if not 0 <= row[f"{what}_mean"] <= row[f"{what}_max"] + 1e-9:
                yield f"{where}: {what} {row[f'{what}_mean']} in the mean, {row[f'{what}_max']} at most"
        if row["busy_max"] > row["open_max"] or row["busy_mean"] > row["open_mean"] + 1e-9:
            yield f"{where}: {row['busy_max']} busy of {row['open_max']} open"
        peaks[row["leg"]] = max(peaks[row["leg"]], row["connection_requests_max"])
    if not (run.record["connections"] and run.rows("legs")):
        return
    for place in range(len(run.legs)):
        own = [row for row in run.connections.values() if row["leg"] == place]
        opened = sum(life(run, row) or 0 for row in own)
        busy = sum(row["busy_ns"] for row in own)
        for what, total in (("open", opened), ("busy", busy)):
            if abs(sums[place, what] - total) > 10 + 1e-9 * total:
                yield f"leg {place}: {what} for {sums[place, what]} ns, and its connections for {total} ns"
        most = max((row["requests_max"] for row in own), default=0)
        if peaks[place] != most:
            yield f"leg {place}: {peaks[place]} requests on a connection, and {most} by connections"
        if (
            run.record["exchanges"]
            and all(row["status"] == "done" for row in run.requests.values())
            and run.until is None
        ):
            there = sum(
                row["end_ns"] - row["start_ns"] for row in run.by_leg[place].values() if row["end_ns"] is not None
            )
            if abs(sums[place, "requests"] - there) > 10 + 1e-9 * there and not run.caches:
                yield f"leg {place}: requests for {sums[place, 'requests']} ns, and its exchanges for {there} ns"
