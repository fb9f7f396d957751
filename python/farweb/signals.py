"""Signals that end a command through its `finally` blocks, which remove half-written files.

Libraries make errors of their own of an interrupt, in an import or in a query, or lose it. So the signal that came is
remembered, and decides how the command ended.
"""

import signal
from types import FrameType

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")  # Windows lacks the last

_came: list[signal.Signals] = []


def watch() -> None:
    """Note the signals from now on, but leave ignored ones ignored, as under nohup."""
    for name in _NAMES:
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _end)


def ending() -> tuple[str, int] | None:
    """Words and exit code, as shells have it, for a command that a signal has ended, or None without a signal."""
    if not _came:
        return None
    words = "interrupted" if _came[0] is signal.SIGINT else f"ended by {_came[0].name}"
    return words, 128 + _came[0]


def _end(number: int, _frame: FrameType | None) -> None:
    _came.append(signal.Signals(number))
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    raise SystemExit(128 + number)
