"""A warning about a setting that is allowed but may be a mistake."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple, Self


class Warned(NamedTuple):
    """A warning.

    Attributes:
        key: The key that it is about.
        words: The reason.

    >>> str(Warned("run.until", "no request starts before it"))
    'run.until: no request starts before it'
    """

    key: str
    words: str

    @classmethod
    def of(cls, line: str) -> Self:
        """The warning of a line, as `str` makes it and manifests keep it.

        >>> Warned.of("run.until: no request starts before it").key
        'run.until'
        """
        key, _, words = line.partition(": ")
        return cls(key, words)

    def __str__(self) -> str:
        return f"{self.key}: {self.words}"


def warned(found: Iterable[Mapping[str, str]]) -> list[Warned]:
    """Warnings as the core has them: `key` and `words` each."""
    return [Warned(each["key"], each["words"]) for each in found]
