"""What to change first, of a page, a log or a scenario (`farweb.what_if`)."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from farweb.errors import FarwebError
from farweb.files.scratch import scratch
from farweb.inputs.description import Description, Value
from farweb.inputs.new import new_scenario, table_of
from farweb.inputs.paths import check_words
from farweb.pages.har import is_har, numbered, read_har
from farweb.pages.paths import ALL_PATHS, path_name
from farweb.pages.weather import check_seeds
from farweb.progress import Progress, unseen
from farweb.whatif.answer import WhatIf

_USUAL_PATH = "geo"


def what_if(
    file: str | Path,
    *,
    path: str | None = None,
    page: int | None = None,
    settings: Mapping[str, Value] | None = None,
    seeds: int | None = None,
    out: str | Path | None = None,
    jobs: int | None = None,
    limits: bool = True,
    progress: Progress = unseen,
    **options: Any,
) -> WhatIf:
    """Rank changes by the time that each saves: protocols, TLS, windows, connections, an edge, servers.

    The runs of a log or scenario are those of a sweep: a script that asks for them calls this below
    ``if __name__ == "__main__":``.

    Args:
        file: A HAR, a scenario (``.toml``), or a log or request table, which is simulated over a path.
        path: Of a HAR or a log: geo, leo, cable, mobile and others of `farweb.inputs.paths` (default: geo).
        page: Of a HAR: which page, from 1 (default: the first).
        settings: Values of the unchanged scenario by dotted key, such as ``{"leg.0.tls.version": "1.2"}``.
        seeds: Draws of the path, and of a page's think times, from `run.seed` on (default: 5 where some is drawn).
        out: Results folder of a log or scenario (default: ``results/NAME-what-if``). Runs that are there are kept.
        jobs: Runs of a log or scenario at a time, a process each (default: as many as cores).
        limits: False to accept runs however large they are estimated to become.
        progress: Called as changes or runs are done.
        options: Of a log: for its import, as `farweb.inputs.importer.import_log` takes them.

    Returns:
        The changes in `effects`, in order, each with its saving: differences of times in s.

    Raises:
        FarwebError: An option is not allowed, or is not one of such a file.
        ScenarioError: A setting is not allowed.
        WorkloadError: The file cannot be read.
        ResultsError: There is something else at `out`.
        RunError: A request or a run fails, or the folder cannot be written to.
    """
    file = Path(file)
    check_seeds(seeds)
    is_page = is_har(file)
    if options and (is_page or file.suffix == ".toml" or table_of([file], options) is not None):
        raise FarwebError(f"{file}: is no log; leave the options of an import out")
    if is_page and (out is not None or jobs is not None or not limits):
        raise FarwebError("--out, --jobs and --no-limits are of logs and scenarios; a page is loaded in this process")
    if page is not None and not is_page:
        raise FarwebError(f"--page is of a HAR, and {file} is none")
    if path is not None and file.suffix == ".toml":
        raise FarwebError(f"--path: {file} has a path of its own; set its keys with --set")
    over = path or _USUAL_PATH
    check_words("--path", [over], ALL_PATHS)
    if is_page:
        from farweb.whatif.pages import base_of, of_page

        recording = numbered(file, read_har(file), 1 if page is None else page)
        return of_page(recording, base_of(recording, over, settings), path_name(over), seeds, progress)

    from farweb.extras import SWEEP, require

    require("farweb what-if", *SWEEP)
    from farweb.whatif.requests import of_requests

    with scratch() as place:
        written, where = file, file.stem
        if file.suffix != ".toml":
            written, where = place / f"{stem_of(file)}.toml", f"{file.name} over {path_name(over)}"
            new_scenario(written, path=over, log=file, **options)
        scenario = Description.load(written, settings)
        folder = folder_of(file, out)
        return of_requests(scenario, folder, where, seeds=seeds, jobs=jobs, limits=limits, progress=progress)


def folder_of(file: Path, out: str | Path | None) -> str:
    """The results folder of a log or scenario."""
    return f"results/{stem_of(file)}-what-if" if out is None else str(out)


def stem_of(file: Path) -> str:
    """Name of a file without what says its kind."""
    return file.name.partition(".")[0] or file.name
