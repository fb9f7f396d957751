"""Joins words, shortens names and folds lines, as a person writes them, and makes texts from outside safe to show."""

import difflib
import itertools
import re
import shlex
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

# C0 but tab and line feed, DEL, C1, what reverses the direction of letters, and bytes of names that are not UTF-8.
_COMMANDS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def visible(text: str) -> str:
    r"""Write out the characters that command a terminal, or are none: an escape as ``\u001b``, as JSON has it."""
    return _COMMANDS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


CLAUSE = "    "
"""Stands between clauses that may have lines of their own."""

_COMMAND = re.compile(r"\bfarweb [a-z][^;()]*")
_QUANTITY = re.compile(r"\d (?:[kMG]?(?:bit/s|B)|[mµn]?s|min|h|%)(?!\w)")


def command(*words: object) -> str:
    """A command of farweb, to be copied into a shell."""
    return shlex.join(["farweb", *map(str, words)])


def folded(text: str, width: int) -> str:
    """Text in lines of so many letters at most, if its words allow it.

    A command is one word: it ends with its clause, at a semicolon or at a parenthesis.
    """
    indent = "  " if text.startswith("warning: ") else ""
    lines = [""]
    for clause in text.split(CLAUSE):
        if lines[-1] and len(lines[-1]) + len(CLAUSE) + len(clause) <= width:
            lines[-1] += CLAUSE + clause
            continue
        lines += wrapped(_glued(_COMMAND, clause), width, subsequent_indent=indent, break_long_words=False)
    return "\n".join(lines[1:])


def wrapped(text: str, width: int, **options: Any) -> list[str]:
    """Text in lines as `textwrap.wrap` makes them, with every number beside its unit."""
    lines = textwrap.wrap(_glued(_QUANTITY, text), width, break_on_hyphens=False, **options)
    return [line.replace(_GLUE, " ") for line in lines]


def _glued(words: re.Pattern[str], text: str) -> str:
    return words.sub(lambda found: found[0].replace(" ", _GLUE), text)


_GLUE = "\ue000"  # a letter for private use, in no text

_OF_NUMBERS = "0123456789.,"
_BETWEEN = re.compile(r"[ ._]+(?=\w)")  # words of a head


def shortened(text: str, most: int) -> str:
    """Text of so many letters at most: of a longer one the beginning is left out, and no number is cut."""
    if len(text) <= most:
        return text
    rest = text[1 - most :]
    return f"…{rest.lstrip(_OF_NUMBERS) if text[-most] in f'{_OF_NUMBERS}+-−' else rest}"


def shortened_head(text: str, most: int) -> str:
    """Words of so many letters at most: of more the first are left out, and the last one is always whole."""
    rest = text
    while len(rest) + (rest is not text) > most and (found := _BETWEEN.search(rest)):
        rest = rest[found.end() :]
    return text if rest is text or len(rest) + 1 >= len(text) else f"…{rest}"


def elided(text: str, most: int) -> str:
    """Text of so many letters at most: of a longer one the middle is left out, and no number is cut."""
    if len(text) <= most:
        return text
    half = (most - 1) // 2
    first = text[:half].rstrip(f"{_OF_NUMBERS}+-−") if text[half] in _OF_NUMBERS else text[:half]
    return first + shortened(text, half + 1)


def called_apart(names: Sequence[str], most: int) -> list[str]:
    """Names of so many letters at most: from where they differ if they would be equal, or with a number.

    >>> called_apart(["a-page-on-monday-at-noon.har", "a-page-on-sunday-at-noon.har"], 16)
    ['…monday…oon.har', '…sunday…oon.har']
    >>> called_apart(["page.har", "page.har"], 16)
    ['page.har (1)', 'page.har (2)']
    """
    short = [elided(visible(name), most) for name in names]
    if len(set(short)) < len(set(names)):
        letters = zip(*names, strict=False)
        same = sum(1 for _ in itertools.takewhile(lambda each: len(set(each)) == 1, letters))
        short = [elided(f"…{visible(name[same:])}", most) for name in names]
    twice = {name for name in short if short.count(name) > 1}
    return [f"{name} ({n})" if name in twice else name for n, name in enumerate(short, 1)]


def nearest(word: str, names: Iterable[str], likeness: float = 0.6) -> str:
    """The name that is most like a word, by at least so much of 1; empty where none is.

    >>> nearest("cdff", ["cdf", "link"])
    'cdf'
    """
    return next(iter(difflib.get_close_matches(word, list(names), 1, likeness)), "")


def listed(words: Sequence[str]) -> str:
    """Join words as a person lists them: ``a, b and c``."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"


def ranged(numbers: Sequence[int]) -> str:
    """Ascending whole numbers in a few words: ``1 to 4``, ``2, 7 and 9``, ``2 … 900 (20)``."""
    if len(numbers) > 2 and numbers[-1] - numbers[0] == len(numbers) - 1:
        return f"{numbers[0]} to {numbers[-1]}"
    if len(numbers) > 5:
        return f"{numbers[0]} … {numbers[-1]} ({len(numbers):,})"
    return listed([str(each) for each in numbers])


def plural(number: int, word: str) -> str:
    """A number of things: ``1 run``, ``480 runs``."""
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def named(name: str, value: str, between: str = " ") -> str:
    """A name and its value, ``circuit satellite``, or the value alone where it begins with the name, ``circuit 2``."""
    return value if re.match(rf"{re.escape(name)}\b", value, re.IGNORECASE) else f"{name}{between}{value}"


def capital(text: str) -> str:
    """Text as a sentence begins."""
    return text[:1].upper() + text[1:]


def distinguishing(names: Sequence[str], longest: int) -> list[str]:
    """Names without the words that all of them begin or end with, where one is too long for its place.

    If a name consists of such words only, all stay as they are.

    Args:
        names: Names, unlike one another.
        longest: Letters up to which all may stay as they are.
    """
    if len(names) < 2 or max(map(len, names)) <= longest:
        return list(names)
    split = [name.split() for name in names]
    front = _alike(split)
    back = _alike([words[::-1] for words in split])
    if any(len(words) <= front + back for words in split):
        return list(names)
    return [" ".join(words[front : len(words) - back]).strip(" ,;:–-") for words in split]


def _alike(rows: Sequence[Sequence[str]]) -> int:
    """Count the words at the beginning that all rows have in common."""
    return next(
        (place for place, words in enumerate(zip(*rows, strict=False)) if len(set(words)) > 1), min(map(len, rows))
    )
