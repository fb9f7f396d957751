"""What figures of the study have in common: latency over size with the steps of slow start, and intervals."""

from typing import Any

import numpy as np

from farweb.paint.figure import Axis, Figure, Panel, Series
from farweb.paint.style import QUIETLY
from farweb.reproduce.study import StudyResults
from farweb.statistics.intervals import students

from .published import TRANSFERS
from .transfers import DELAYS_MS, FAST, LINKS, RATES_MBIT, SLOW, Floats, Levels, alone_ns, of_transfers

PLACE = "two levels of caches"
PACKETS_SHOWN, SECONDS_SHOWN = 100, 1.0
SERVERS = {"server": "web server", "parent": "parent proxy", "child": "child proxy"}

SIZE = Axis("transfer size", "packets", low=0, high=PACKETS_SHOWN)
LATENCY = Axis("transfer latency", "s", low=0, high=SECONDS_SHOWN)

_TOLD = (
    "Each dot is a transfer of up to 100 packets of 512 B: time until its sender has the last ACK. Steps: the same "
    "with nothing else on the way, by slow start of 1, 2, 4, 8, 16 packets a round trip."
)


def scatter(
    results: StudyResults, sweep: str, levels: Levels, title: str, delays: tuple[int, ...] = DELAYS_MS
) -> Panel:
    """Latency over size of all transfers of a run, by source, with the steps of slow start."""
    transfers = of_transfers(results, sweep, levels)
    dots, beyond = [], 0
    for index, (source, own) in enumerate(transfers.items()):
        shown = (own["packets"] <= PACKETS_SHOWN) & (own["latency_s"] <= SECONDS_SHOWN)
        slow = own["latency_s"] > SECONDS_SHOWN
        beyond += int(slow.sum())
        x = own["packets"][shown].astype(float)
        dots.append(Series(SERVERS[source], index, x, own["latency_s"][shown], "dots"))
    rates = RATES_MBIT[SLOW if str(levels["capacity"]) == SLOW else FAST]
    steps = [
        Series(
            "alone on the way" if source == "server" else "",
            QUIETLY,
            np.arange(0.5, PACKETS_SHOWN),
            alone_ns(source, PACKETS_SHOWN, rates, delays) / 1e9,
            "steps",
        )
        for source in LINKS
    ]
    return Panel(SIZE, LATENCY, (*steps, *dots), title=title, note=f"{beyond} above {SECONDS_SHOWN:g} s")


def scatters(
    results: StudyResults, title: str, caption: str, panels: list[Panel], sweep: str, columns: int | None = None
) -> Figure:
    """A figure of such panels, in rows of up to three, of two when there are more, or of as many as given."""
    manifest = results.sweep(sweep).manifest
    seed, version, each = manifest["seed"], manifest["version"], " in each panel" if len(panels) > 1 else ""
    columns = columns or (len(panels) if len(panels) <= 3 else 2)
    rows = -(-len(panels) // columns)
    return Figure(
        f"{title} – {PLACE}",
        f"{caption} {_TOLD} n = {TRANSFERS:,} transfers{each}, seed {seed}, farweb {version}.",
        tuple(panels),
        columns=columns,
        size=(7.5, 5.2) if len(panels) == 1 else (4.2 * columns if columns > 2 else 10.0, 1.9 + 3.2 * rows),
        share_y=True,
    )


def spread(values: list[Floats]) -> dict[str, Any]:
    """The 95 % interval (Student) of each of several means, as `Series` takes it."""
    intervals = students(np.array(values))
    return {
        "low": np.array([each.value if each.low is None else each.low for each in intervals]),
        "high": np.array([each.value if each.high is None else each.high for each in intervals]),
        "n": np.array([each.n for each in intervals], dtype=np.int64),
    }
