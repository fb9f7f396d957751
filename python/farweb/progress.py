"""How far a piece of work is, for whoever waits for it."""

from collections.abc import Callable

Progress = Callable[[int, int | None, str], None]
"""Called some times a second with how much is done, of how much (None: unknown), and words: ``1,807 requests``."""


def unseen(*_: object) -> None:
    """Take progress that nobody follows."""
