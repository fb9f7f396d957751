"""`farweb studio`: opens farweb in a browser tab, with a scenario."""

import webbrowser
from pathlib import Path

from farweb.cli.runs import Changed
from farweb.cli.verbs import Call, verb


@verb()
def studio(call: Call, scenario: Path | None = None, *, out: Path | None = None, no_open: bool = False) -> None:
    """Turn knobs and see the answer change: farweb in a browser tab, in one file that connects to nothing.

    The file holds the simulator, the scenario and up to 50,000 requests of its table: it works offline, from a disk or
    a mail, and whoever has it sees these requests. Without a scenario it begins with a satellite.

    Args:
        scenario: A scenario file (default: one to start from).
        out: The file (default: NAME-studio.html beside the scenario).
        no_open: Write the file, and open no browser.

    Examples:

        farweb studio

        farweb studio satellite.toml

        farweb studio link.toml --no-open -o meeting.html
    """
    from farweb.studio import write_studio
    from farweb.text.quantities import size

    file = out or (Path("studio.html") if scenario is None else scenario.with_name(f"{scenario.stem}-studio.html"))
    call.takes(file)
    written = write_studio(file, None if scenario is None else Changed().load(scenario))
    rows = "" if written.requests is None else f", with {written.requests:,} requests of its table inside"
    length = written.file.stat().st_size
    found = {"file": str(written.file), "requests": written.requests, "bytes": length}
    call.result(found, f"{written.file}: {size(length)}{rows}")
    if not no_open and not webbrowser.open(written.file.resolve().as_uri()):
        call.note("no browser was found: open the file in one")
