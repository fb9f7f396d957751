"""The command `farweb`, also as `python -m farweb`.

Signals are watched before the rest is imported, which takes most of the time of a short command.
"""

import os
import sys

if not sys.flags.safe_path:  # the command has not the current folder either: others may have put modules there
    sys.path[:] = [entry for entry in sys.path if entry not in ("", os.getcwd())]  # noqa: PTH109 - as Python writes it

from farweb import signals
from farweb.errors import refused_by_machine

_FAILED = 3


def script() -> None:
    """Entry point of the command `farweb`."""
    signals.watch()
    try:
        from farweb.cli import script as command
    except BaseException as error:
        words, code = signals.ending() or (refused_by_machine(error), _FAILED)
        if words is None:
            raise
        if sys.stderr is not None:
            sys.stderr.write(f"farweb: {words}\n")
        sys.exit(code)
    command()


if __name__ == "__main__":
    script()
