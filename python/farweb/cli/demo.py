"""`farweb demo` simulates a small log over two paths, with figures and reports."""

from pathlib import Path

from farweb.cli.verbs import Call, verb
from farweb.extras import SWEEP, require
from farweb.files.atomic import taken


@verb(writes=False, out="--out -o DIR")
def demo(call: Call, *, out: Path = Path("results/demo")) -> None:
    """Simulate a small proxy log over a sea cable and over a satellite, and sweep a slow line.

    Ends with tables, figures and two reports, and says where they are, and where the examples are that come with
    farweb. Takes less than a minute on two cores.

    Args:
        out: Folder; an earlier demonstration in it is replaced.

    Examples:

        farweb demo

        farweb demo --out /tmp/demo
    """
    require("farweb demo", *SWEEP)
    from rich.console import Console

    from farweb.cli.demonstration import EXAMPLES, main

    call.held.enter_context(taken(out))
    reports = main(out, Console(quiet=call.is_quiet or call.as_json))
    if call.as_json:
        call.result({"results": str(out), "reports": list(map(str, reports)), "examples": str(EXAMPLES)}, "")
