"""Reads what `farweb size` varies: a key of the scenario over a range or a list, or a factor of its table `[sweep]`.

An `Axis` is the row of values to try, in the order of the search: upwards for the smallest value that meets the target,
downwards for the largest. Values of a range lie on a grid, which makes an answer exact to a known step: whole numbers
and packets step by 1, other quantities by at most 1 % of the value (round numbers in between), or by `--resolution`.
`--width` limits the width of the answer's interval.
"""

import bisect
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from farweb.errors import FarwebError, ScenarioError
from farweb.inputs.description import Description, Value
from farweb.text import parse as quantity
from farweb.text.parse import Quantity, QuantityError

_SHARE = Fraction(1, 100)  # chosen: finer than replications resolve, 10 steps of bisection over a thousandfold
_FINEST = Fraction(1, 10_000)  # chosen: a grid over ten decades then has less than a million values
_ROUNDING = 1e-9  # of a double's digits
_WIDE = 10  # chosen: over a range of more than a decade, steps are ratios


class VaryError(FarwebError):
    """A range cannot be read, or makes no sense for the scenario."""


@dataclass(frozen=True)
class Choice:
    """A value that may be tried.

    Attributes:
        label: Its text: `516 kB`, `20`, `satellite`.
        value: Its value in the table `runs`.
        number: Its place on an axis, in the axis' unit, or None when it has none.
        changes: Values that it sets in the scenario, by dotted key.
    """

    label: str
    value: str | int | float | bool
    number: float | None
    changes: Mapping[str, Value]


class Axis:
    """The values that may be tried, by position in the order of the search.

    Attributes:
        name: The key, or the factor's name.
        unit: Of the values' numbers: `s`, `B`, `bit/s`, `packets`, or nothing.
        downwards: True when the search begins with the largest value.
    """

    def __init__(
        self,
        name: str,
        unit: str,
        choices: "Grid | Sequence[Choice]",
        downwards: bool,
        width: "str | None" = None,
        *,
        is_exact: bool = False,
    ) -> None:
        self.name = name
        self.unit = unit
        self.downwards = downwards
        self._is_exact = is_exact or width is not None
        self._choices = choices
        ends = [choices[0].number, choices[-1].number]
        low, high = (ends[0] or 0, ends[1] or 0)
        self._ratios = isinstance(choices, Grid) and low > 0 and high > _WIDE * low
        self._width = None if width is None else self._parsed_width(width)

    def __len__(self) -> int:
        return len(self._choices)

    def choice(self, position: int) -> Choice:
        """The value at a position, 0 up to the length."""
        return self._choices[self._index(position)]

    def between(self, one: int, other: int, share: float = 0.5) -> int:
        """The position that lies `share` of the way from `one` to `other`, at least one step away from both.

        The way is measured in ratios on a range of more than a decade, otherwise in steps.
        """
        if not self._ratios:
            at = round(one + share * (other - one))
        else:
            first, last = (_number(self.choice(position)) for position in (one, other))
            aim = first * (last / first) ** share
            near = bisect.bisect_left(self._choices, aim, key=_number)
            at = self._index(min(near, len(self) - 1))
        return min(max(at, one + 1), other - 1)

    def is_narrow(self, one: int, other: int) -> bool:
        """True where two positions are a step apart, or as far as an answer's interval may be wide."""
        if abs(other - one) <= 1 or self._width is None:
            return abs(other - one) <= 1
        low, high = sorted(_number(self.choice(position)) for position in (one, other))
        most = float(self._width.number)
        return high - low <= (most * low if self._width.share else most) * (1 + _ROUNDING)

    def times(self, one: int, other: int) -> float | None:
        """The larger of two values over the smaller; None without numbers above 0, or if a precision was asked for."""
        low, high = sorted(self.choice(position).number or 0.0 for position in (one, other))
        return None if self._is_exact or low <= 0 else high / low

    def spread(self, number: int) -> list[int]:
        """Both ends and positions between them, `number` in all or every one that there is."""
        last = len(self) - 1
        if len(self) <= number:
            return list(range(len(self)))
        inner = (self.between(0, last, step / (number - 1)) for step in range(1, number - 1))
        return sorted({0, last, *inner})

    def _parsed_width(self, width: str) -> "Step":
        if any(self._choices[end].number is None for end in (0, -1)):
            raise VaryError(f"--width {width}: {self.name} has no numbers to be so far apart")
        step = _distance("--width", width, self.name, self.unit)
        if step.number <= 0:
            raise VaryError(f"--width {width}: write more than 0")
        return step

    def _index(self, position: int) -> int:
        return len(self._choices) - 1 - position if self.downwards else position


class Grid:
    """The values of a range, made when they are asked for.

    Args:
        key: The key that is varied.
        low: The first value.
        high: The last value.
        step: Distance of neighbours, or a share of the value (see the module).
    """

    def __init__(self, key: str, low: Quantity, high: Quantity, step: "Step") -> None:
        self._key = key
        self._base = low.base
        self._binary = quantity.is_binary(low.unit) or quantity.is_binary(high.unit)
        self._whole = low.whole and high.whole and not low.base
        self._numbers: list[Fraction] | _Steps
        if step.share:
            finest = Fraction(1) if self._whole else quantity.grain(self._base)
            self._numbers = _round_numbers(low.number, high.number, step.number, finest, self._binary)
        else:
            self._numbers = _Steps(low.number, high.number, step.number)

    def __len__(self) -> int:
        return len(self._numbers)

    def __getitem__(self, index: int) -> Choice:
        number = self._numbers[index]
        label = quantity.write(number, self._base, self._binary)
        value: str | int | float = label
        if self._base == "":
            value = int(number) if self._whole else float(number)
        return Choice(label, value, float(number), {self._key: value})


@dataclass(frozen=True)
class Step:
    """Distance of neighbouring values: a number in the base unit, or a share of the value."""

    number: Fraction
    share: bool


class _Steps:
    """`low`, `low` + `step` …, and `high`."""

    def __init__(self, low: Fraction, high: Fraction, step: Fraction) -> None:
        self._low, self._high, self._step = low, high, step
        self._length = math.ceil((high - low) / step) + 1

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, index: int) -> Fraction:
        return min(self._low + range(self._length)[index] * self._step, self._high)


def parse_vary(
    text: str,
    scenario: Description,
    resolution: str | None = None,
    largest: bool = False,
    width: str | None = None,
) -> Axis:
    """Read `KEY=LO..HI`, `KEY=v1,v2,v3` or the name of a factor of the scenario's table `[sweep]`.

    Raises:
        VaryError: It is none of them, or the resolution or the width does not fit.
        ScenarioError: The scenario does not allow the first or the last value.
    """
    key, equals, values = (part.strip() for part in text.partition("="))
    if not key:
        raise VaryError(f"--vary {text}: write KEY=LO..HI, such as leg.0.tcp.buffer='8 KiB..4 MiB'")
    low, dots, high = values.partition("..")
    if equals and dots:
        axis = _range(key, low.strip(), high.strip(), resolution, largest, width)
    elif resolution is not None:
        raise VaryError(f"--resolution {resolution}: only a range has one, such as {key}=LO..HI")
    elif equals:
        axis = Axis(key, *_list(key, values), largest, width)
    else:
        axis = _factor(key, scenario, largest, width)
    for end in (0, len(axis) - 1):
        changes = axis.choice(end).changes
        try:
            scenario.with_(changes)
        except ScenarioError as error:
            first, *more, _ = str(error).splitlines()  # the last one counts them
            if "unknown key" in first and "did you mean" not in first:
                more = [*_elsewhere(changes, scenario), *more]
            raise ScenarioError("; ".join([f"--vary {first}", *more])) from None
    return axis


def _elsewhere(changes: Mapping[str, Value], scenario: Description) -> list[str]:
    """Name the other legs that have a key which one leg lacks, or have one that is nearly called so."""
    ((key, value),) = changes.items() if len(changes) == 1 else (("", 0),)
    if not (found := re.fullmatch(r"leg\.(\d+)\.(.+)", key)):
        return []
    said = []
    for place in range(len(scenario.effective["leg"])):
        other = f"leg.{place}.{found[2]}"
        try:
            scenario.with_({other: value})
        except ScenarioError as error:
            near = re.search(r"did you mean (\w+)\?", str(error))
            other = f"{other.rpartition('.')[0]}.{near[1]}" if near else ""
        said += [f"leg {place} has {other}"] if other and place != int(found[1]) else []
    return said


def _range(key: str, low: str, high: str, resolution: str | None, largest: bool, width: str | None) -> Axis:
    first, last = (_quantity(key, _unquoted(end)) for end in (low, high))
    if first.base and last.base and first.base != last.base:
        raise VaryError(f"--vary {key}: {low} and {high} are not of the same kind")
    if last.base and not first.base:  # 8..64 KiB
        first = _quantity(key, f"{_unquoted(low)} {last.unit}")
    elif first.base and not last.base:
        last = _quantity(key, f"{_unquoted(high)} {first.unit}")
    if first.number < 0 or first.number >= last.number:
        raise VaryError(f"--vary {key}: a range goes from a smaller number to a larger one, not from {low} to {high}")
    step = _step(key, first, last, resolution)
    return Axis(key, first.base, Grid(key, first, last, step), largest, width, is_exact=resolution is not None)


def _step(key: str, low: Quantity, high: Quantity, resolution: str | None) -> Step:
    counted = low.base == "packets" or (not low.base and low.whole and high.whole)
    if resolution is None:
        step = Step(Fraction(1), False) if counted else Step(_SHARE, True)
    else:
        step = _distance("--resolution", resolution, key, low.base, low.unit)
    finest = Fraction(1) if counted else quantity.grain(low.base) or Fraction(0)
    if step.number <= 0 or (not step.share and (step.number / (finest or step.number)).denominator != 1):
        raise VaryError(
            f"--resolution {resolution}: write a multiple of {quantity.write(finest or Fraction(1), low.base)}"
        )
    if step.share and not _FINEST <= step.number <= 1:
        raise VaryError(f"--resolution {resolution}: a share is from 0.01 % to 100 %")
    if step.share and not low.number and not finest:
        raise VaryError(
            f"--vary {key}: a range from 0 needs --resolution STEP, such as {quantity.decimal(high.number / 100)}"
        )
    return step


def _distance(option: str, text: str, key: str, base: str, unit: str = "") -> Step:
    """The distance of two values of a key, in its unit or as a share."""
    wanted = quantity.read(f"{option}:", text, "1", *([base] if base else []), error=VaryError)
    if wanted.base not in ("1", base):
        raise VaryError(f"{option} {text}: {key} is given in {unit or base or 'plain numbers'}; or write 1 %")
    return Step(wanted.number, wanted.base == "1")


def _round_numbers(
    low: Fraction, high: Fraction, share: Fraction, finest: Fraction | None, binary: bool
) -> list[Fraction]:
    """Numbers of few digits from `low` to `high`, neighbours at most `share` of the smaller one apart.

    None are closer to each other than `finest`, which may make them farther apart than `share`.
    """
    numbers, number = [low], low
    while number < high:
        step = _round_step(number * share, finest, binary)
        number = (number // step + 1) * step
        if number < high:
            numbers.append(number)
    return [*numbers, high]


def _round_step(most: Fraction, finest: Fraction | None, binary: bool) -> Fraction:
    """The largest of 1, 2, 5 · 10^k, or 2^k, that is not above `most`, nor below `finest`."""
    if finest is not None and most <= finest:
        return finest
    unit = finest or Fraction(1)
    base = 2 if binary else 10
    power = math.floor(math.log(most / unit, base) + 1e-9)
    step = unit * Fraction(base) ** power
    return step if binary else max(step * digit for digit in (1, 2, 5) if digit == 1 or step * digit <= most)


def _list(key: str, values: str) -> tuple[str, list[Choice]]:
    """The values of a list: numbers and quantities ascending, words in the order given."""
    texts = [_unquoted(value) for value in values.split(",") if value.strip()]
    if len(texts) < 2:
        raise VaryError(f"--vary {key}: write a range LO..HI, or at least two values with commas between")
    try:
        numbers = [_plain(quantity.parse(text)) for text in texts]
    except QuantityError:
        return "", [Choice(text, text, None, {key: text}) for text in texts]
    if len({number.base for number in numbers}) > 1:
        raise VaryError(f"--vary {key}: {values} are not all of one kind")
    choices = {}
    for text, each in sorted(zip(texts, numbers, strict=True), key=lambda pair: pair[1].number):
        value = text if each.base else int(each.number) if each.whole else float(each.number)
        choices[each.number] = Choice(text, value, float(each.number), {key: value})
    return numbers[0].base, list(choices.values())


def _factor(name: str, scenario: Description, largest: bool, width: str | None) -> Axis:
    """A factor of the table `[sweep]`, its levels in the order of the scenario."""
    factors: Mapping[str, Any] = scenario.effective.get("sweep", {}).get("factors", {})
    if name not in factors:
        known = f"; it has {', '.join(factors)}" if factors else ""
        raise VaryError(f"--vary {name}: the scenario's [sweep] has no such factor{known}; or write {name}=LO..HI")
    if not isinstance(factors[name], list):
        raise VaryError(f"--vary {name}: the factor is a range; write {name}=LO..HI")
    design = scenario.design
    assert design is not None, "it has factors"
    factor = next(factor for factor in design.factors if factor.name == name)
    choices = [
        Choice(level.label, level.value, level.number, entry["set"] if isinstance(entry, dict) else {name: entry})
        for level, entry in zip(factor.levels, factors[name], strict=True)
    ]
    if len(choices) < 2:
        raise VaryError(f"--vary {name}: the factor has one level only")
    return Axis(name, factor.unit, choices, largest, width)


def _quantity(key: str, text: str) -> Quantity:
    return _plain(quantity.read(f"--vary {key}:", text, error=VaryError))


def _plain(value: Quantity) -> Quantity:
    """A share in percent as the number that a scenario takes."""
    return Quantity(value.number, "", "", False) if value.base == "1" else value


def _unquoted(text: str) -> str:
    return re.sub(r"""^(["'])(.*)\1$""", r"\2", text.strip())


def _number(choice: Choice) -> float:
    """The place of a value of a grid, where every value has one."""
    return choice.number or 0.0
