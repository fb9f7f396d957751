"""Names of what is put into a results folder beside tables and manifest, where no other place is asked for."""

CAPTURE = "packets.pcapng"
TIMESEQ = "timeseq.xpl"
REPORT = "report.html"

FIGURES = (
    "size-latency",
    "cdf",
    "link",
    "timeseq",
    "cwnd",
    "breakdown",
    "hits",
    "cache-size",
    "latency-load",
    "carried-offered",
    "buffer",
    "connections",
    "effects",
)
"""Figures by name; `farweb.plot.FIGURES` has what each shows."""


def figure_file(name: str) -> str:
    """The file of a figure."""
    return f"{name}.png"


BESIDE = frozenset({CAPTURE, TIMESEQ, REPORT, *map(figure_file, FIGURES)})
"""All of them."""
