"""The figures of the satellite study: 4 to 6 have the numbers of the paper, the others go beyond it."""

from farweb.paint.figure import Axis, Figure, Reference
from farweb.reproduce.curves import curve
from farweb.reproduce.drawing import Line, figure, panel
from farweb.reproduce.study import StudyResults

LATENCY = "sample_latency_mean_s"
PLACE = "NZ–US by cable, satellite, or both"
CONFIGURATIONS = tuple(
    f"{way}{link}{version}" for way in ("noprxy", "proxy") for link in ("TT", "ST", "SS") for version in ("1.0", "1.1")
)


_LINKS = {"TT": "cable", "ST": "cable out, satellite in", "SS": "satellite"}


def plainly(configuration: str) -> str:
    """A configuration in words: ``satellite, proxies, persistent`` for the paper's ``proxySS1.1``."""
    way, version = configuration[:-3], configuration[-3:]
    persistent = ", persistent" if version == "1.1" else ""
    proxies = "" if way.startswith("noprxy") else ", proxies"
    return f"{_LINKS[way[-2:]]}{proxies}{persistent}"


def _lines(results: StudyResults, metric: str) -> list[Line]:
    """A line a configuration."""
    sweep = results.sweep("configurations")
    return [
        Line(plainly(each), curve(sweep, metric, where={"configuration": each}), number)
        for number, each in enumerate(CONFIGURATIONS)
    ]


def _latency(results: StudyResults) -> Figure:
    return figure(
        f"4: latency of requests – {PLACE}",
        "Mean time to the last byte of the requests of the first day, which are in every load.",
        [panel(_lines(results, LATENCY), Axis("mean latency of the sample", "s", low=0), paired=True)],
        [results.sweep("configurations")],
    )


def _buffer(results: StudyResults) -> Figure:
    limit = Reference("configured buffer, 256,000 B", 256_000)
    lines = _lines(results, "link_0_down_queue_bytes_max")
    return figure(
        f"5: peak of the buffer at the US end – {PLACE}",
        "The most bytes queued at the link to NZ in the measured interval.",
        [panel(lines, Axis("buffer to NZ, peak", "B", low=0), references=[limit])],
        [results.sweep("configurations")],
    )


def _sessions(results: StudyResults) -> Figure:
    sweep = results.sweep("configurations")
    lines = []
    for number, each in enumerate(CONFIGURATIONS):
        leg = 1 if each.startswith("proxy") else 0
        open_max = curve(sweep, f"leg_{leg}_open_max", where={"configuration": each})
        lines.append(Line(plainly(each), open_max, number))
    return figure(
        f"6: most concurrent sessions to servers – {PLACE}",
        "The most connections open at a time: from the US proxy to servers, without it from the NZ proxy to servers.",
        [panel(lines, Axis("sessions to servers, most", "", "log"))],
        [sweep],
    )


def _persistence(results: StudyResults) -> Figure:
    sweep = results.sweep("persistence")
    hosts = ("same", "renamed")
    panels = [
        panel(
            [
                Line(f"copies have {each} hosts", curve(sweep, metric, where={"workload.copies_hosts": each}), number)
                for number, each in enumerate(hosts)
            ],
            axis,
            paired=True,
        )
        for metric, axis in (
            (LATENCY, Axis("mean latency of the sample", "s", low=0)),
            ("leg_0_open_max", Axis("connections open, most", low=0)),
        )
    ]
    return figure(
        "Persistent connections: gain of load, or of copies? – NZ–US, satellite both ways, no proxy",
        "Beyond the paper: higher loads are made of copies of a trace, which ask the hosts of the original again, or "
        "hosts of their own.",
        panels,
        [sweep],
        columns=2,
    )


FIGURES = {"4": _latency, "5": _buffer, "6": _sessions, "persistence": _persistence}
