"""Choices: what a random case is made of."""

import random
from typing import Any, TypeVar

T = TypeVar("T")
Table = dict[str, Any]


class Draw:
    """Choices of one case."""

    def __init__(self, number: int) -> None:
        self.random = random.Random(number)

    def one(self, *options: T) -> T:
        return options[int(self.random.random() * len(options))]

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def whole(self, least: int, most: int) -> int:
        return least + int(self.random.random() * (most - least + 1))

    def size(self, least: int, most: int) -> int:
        """A size that is as likely to be small as large, by its ratio."""
        return min(most, int(least * (most / least) ** self.random.random()))

    def some(self, table: Table, probability: float = 0.5) -> Table:
        """Some keys of a table."""
        return {key: value for key, value in table.items() if self.chance(probability)}
