"""Scripts that sweep: worker processes import them, and code outside a guard would sweep again."""

import ast
import sys
from pathlib import Path
from types import FrameType, ModuleType

from farweb.errors import FarwebError


def check_main_guard() -> None:
    """See that worker processes can import the script that is running, before one is started.

    Raises:
        FarwebError: The script is at a statement that every process that imports it would do as well.
    """
    main = sys.modules["__main__"]
    line = _line_of(main)
    if line is None or not _is_always_done(Path(str(main.__file__)), line):
        return
    raise FarwebError(
        f'{main.__file__}:{line}: put what sweeps below `if __name__ == "__main__":`; '
        "worker processes import the script, and without it each would sweep again"
    )


def _line_of(main: ModuleType) -> int | None:
    """The current line of a script, or None for code that no process imports, such as a notebook."""
    is_package = main.__spec__ is not None and main.__spec__.name.endswith(".__main__")  # python -m package
    if is_package or not hasattr(main, "__file__"):
        return None
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        if frame.f_code.co_name == "<module>" and frame.f_globals is main.__dict__:
            return frame.f_lineno
        frame = frame.f_back
    return None


def _is_always_done(script: Path, line: int) -> bool:
    """True when the statement on a line stands below no condition."""
    try:
        statements = ast.parse(script.read_bytes()).body
    except (OSError, SyntaxError, ValueError):
        return False
    return any(
        each.lineno <= line <= (each.end_lineno or each.lineno) and not isinstance(each, ast.If) for each in statements
    )
