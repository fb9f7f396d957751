"""`farweb size`: finds the smallest or largest value of a key that meets a target."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from farweb.cli.runs import Changed
from farweb.cli.verbs import Call, UsageError, verb
from farweb.extras import SWEEP, require

if TYPE_CHECKING:
    from farweb.size.find import Progress

_NOT_MET = 4
_WARNINGS_MAX = 3
_LOAD = ("workload.load", "workload.speed")  # more is wanted of them


@verb(
    "size.find:find_size",
    "size.search:Limits",
    writes=False,
    vary="--vary KEY=LO..HI",
    target="--target EXPR",
    resolution="--resolution STEP",
    width="--width WIDTH",
    most="--max-replications",
    runs="--max-runs",
    out="--out -o DIR",
)
def size(
    call: Call,
    scenario: Path,
    *,
    changed: Changed,
    seed: int | None = None,
    out: str | None = None,
    details: bool = False,
) -> int:
    """Find the smallest value of a key that meets a target, or that is not worse than the best.

    Brackets the value with a run at each, replicates where the seed matters and the answer is open, and compares the
    values tried with it. Runs with results in the folder are not repeated. Ends with exit code 4 when no value meets
    the target.

    Args:
        scenario: A scenario file (TOML).
        seed: Seed of the first replication, instead of the scenario's run.seed.
        out: Results folder, or a URL such as s3://… (default: results/SCENARIO-size).
        details: All values with their runs and intervals.

    Examples:

        farweb size satellite.toml --vary workload.load=1..8 --largest

        farweb size satellite.toml --vary leg.0.tcp.buffer='4 KiB..64 KiB' --target 'p50(latency) <= 1.1*best'

        farweb size satellite.toml --vary path.link.0.down.queue='1 packets..400 packets' --target 'drops <= 0'

        farweb size satellite.toml --vary workload.load=1..16 --largest --target 'p90(latency) <= 4 s'
    """
    vary: str = call.given["vary"]
    key = vary.partition("=")[0].strip()
    if key in _LOAD and not {"target", "largest"} & set(call.given):
        raise UsageError(
            f"--vary {key}: the smallest load is always the fastest; write --largest for the most load that is not "
            "worse than the best, or a condition: --largest --target 'p90(latency) <= 4 s'"
        )
    require("farweb size", *SWEEP)
    from farweb.size.find import earlier_search, extent_of_search, find_size
    from farweb.size.screen import screen
    from farweb.size.search import Limits
    from farweb.size.target import DEFAULT, parse_target

    loaded = changed.load(scenario, seed)
    folder = out or f"results/{scenario.stem}-size"
    limits = Limits(**call.of(Limits))
    of_first = extent_of_search(loaded, limits=limits, **call.of(extent_of_search))
    if of_first is not None:
        changed.allow(loaded, [of_first])
        for each in of_first.warned:
            call.warn(str(each))
    if (before := earlier_search(folder)) is not None:
        call.note(_about_earlier(before, folder, key, str(parse_target(call.given.get("target", DEFAULT)))))
    with call.progress("searching") as show, call.continuing(folder):

        def on_progress(now: "Progress") -> None:
            show(now.done, None, _words(now))

        answer = find_size(loaded, limits=limits, out=folder, progress=on_progress, **call.of(find_size))
    call.says({"results": folder, **answer.to_dict(), "text": answer.text}, screen(answer, details=details))
    if not call.as_json:
        for warning in answer.warnings if details else answer.warnings[:_WARNINGS_MAX]:
            call.warn(warning)
    call.wrote(folder, "report", folder)
    return 0 if answer.answer is not None else _NOT_MET


def _about_earlier(before: dict[str, Any], folder: str, key: str, target: str) -> str:
    """Say that a search continues, or which answer it replaces: by what was asked otherwise then."""
    if "answer" not in before:
        return f"continues the search in {folder}"
    other = [before["key"]] if before["key"] != key else []
    other += [before["target"]] if before["target"] != target else []
    what = f" for {', '.join(other)}" if other else ""
    return f"replaces the answer{what} in {folder}, and takes its runs where they are alike"


def _words(now: "Progress") -> str:
    words = f"{now.done:,} of {now.asked:,} runs so far"
    if now.low is None and now.high is None:
        return words
    return f"{words}; between {now.low or 'the first value'} and {now.high or 'the last value'}"
