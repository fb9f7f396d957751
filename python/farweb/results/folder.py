"""Names of results folders, and of the files that farweb puts there beside tables and manifest."""

from collections.abc import Sequence

from farweb.results.run import RunTables

CAPTURE = "packets.pcapng"
TIMESEQ = "timeseq.xpl"
HAR = "page.har"
REPORT = "report.html"

EXPORTED = frozenset({CAPTURE, TIMESEQ, HAR})
"""Files without farweb's mark inside. Figures and pages have one (`farweb.files.made`)."""


def figure_file(name: str) -> str:
    """The file of a figure."""
    return f"{name}.png"


def folder_names(runs: Sequence[RunTables]) -> list[str]:
    """Names of runs: their folders, with as much of the path as tells them apart."""
    paths = [run.path for run in runs]
    for depth in range(1, max(len(path.parts) for path in paths) + 1):
        names = ["/".join(path.parts[-depth:]) for path in paths]
        if len(set(names)) == len(names):
            return names
    return [f"{path.name} #{place}" for place, path in enumerate(paths, 1)]
