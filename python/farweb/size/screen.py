"""The screen of a search for a size: which value to take, and how the others stand against it."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from farweb.size.target import parse_target
from farweb.statistics.intervals import Estimate
from farweb.text.quantities import change_cells, in_one_unit, number, percents, plain, quantity
from farweb.text.sheet import Part, Screen, Sheet
from farweb.text.words import listed, plural

if TYPE_CHECKING:
    from farweb.size.tried import Numbers, Reading, Tried

_ROWS_MAX = 6
_GOOD = ("best", "ties", "within", "open", "meets")


def sentence(answer: "Numbers") -> str:
    """Say which value to take and how the others stand against it, or that there is none."""
    if answer.answer is None:
        return _refusal(answer)
    rows = answer.in_order
    at = rows.index(answer.answer)
    if answer.best is None or answer.best.word != "best":
        return f"Take {answer.answer.label}: {_beside_number(answer, at)}."
    best = rows.index(answer.best)
    worse = _run_of(rows[:at][::-1], ("worse",))[:1]
    more = rows[best + 1 :]
    beyond = _run_of(more, _GOOD)
    said = []
    if at == best:
        head = f"Take {answer.answer.label}, the best"
        said += [_beside_best(answer, beyond)] if beyond else []
    else:
        among = rows[at : best + 1]
        head = f"Take {answer.answer.label}"
        if answer.answer.word == "ties":
            said.append(f"it ties with {answer.best.label}, the best")
        elif answer.answer.word == "within":
            said.append(f"it is within {_bound(answer)} of {answer.best.label}, the best")
        else:
            said.append(f"{_span(among)} cannot be told apart")
    said += [_is_worse(worse[0])] if worse else []
    if beyond_worse := [each for each in more[len(beyond) :] if each.word == "worse"]:
        least = min((abs(each.estimates[0].ratio - 1) for each in beyond_worse if each.estimates[0].ratio), default=0.0)
        by = f" ({percents(least if _is_upper(answer) else -least, signed=True)} %)" if least else ""
        verb = "is" if len(beyond_worse) == 1 and beyond_worse[0] == rows[-1] else "are"
        said.append(f"{_names(answer, beyond_worse)} {verb} worse{by}")
    between = ". " if at == best else ": "
    return f"{head}{between if said else ''}{'; '.join(said)}."


def _beside_number(answer: "Numbers", at: int) -> str:
    """How the value to take and those before it stand against the target."""
    rows = answer.in_order
    taken = rows[at]
    said = [f"it meets {answer.target}" if taken.word == "meets" else f"it is not shown to fail {answer.target}"]
    open_ = _run_of(rows[:at][::-1], ("open",))[::-1]
    fails = rows[at - len(open_) - 1] if at > len(open_) else None
    if fails is not None and fails.word == "fails":
        said.append(f"{fails.label} fails")
    elif not at:
        said[0] += f", the {'largest' if answer.largest else 'smallest'} value tried"
    if open_:
        said.append(f"{_names(answer, open_)} {'is' if len(open_) == 1 else 'are'} open")
    return "; ".join(said)


def _undecided(answer: "Numbers") -> "list[Tried]":
    """Values that the runs leave open."""
    return [each for each in answer.in_order if each.word == "open" and each.verdict == "undecided"]


def _run_of(rows: "Sequence[Tried]", words: Sequence[str]) -> "list[Tried]":
    """The first values as long as they have one of some words."""
    end = next((place for place, each in enumerate(rows) if each.word not in words), len(rows))
    return list(rows[:end])


def _names(answer: "Numbers", rows: "Sequence[Tried]") -> str:
    """Values in a few words: ``27 to 30``, ``4 and more``, ``2 and 3``."""
    order, labels = answer.in_order, [each.label for each in rows]
    first = order.index(rows[0])
    if len(rows) > 1 and tuple(rows) == order[first:] and rows[0].number is not None:
        return f"{labels[0]} and {'less' if answer.largest else 'more'}"
    if tuple(rows) == order[first : first + len(rows)]:
        return _span(rows)
    return listed([each.label for each in _ascending(rows)]) if len(rows) < _ROWS_MAX else plural(len(rows), "value")


def _ascending(rows: "Sequence[Tried]") -> "list[Tried]":
    """Values from the smallest on; words in their own order."""
    return (
        sorted(rows, key=lambda each: each.number or 0.0) if all(each.number is not None for each in rows) else [*rows]
    )


def _span(rows: "Sequence[Tried]") -> str:
    """Neighbouring values from the smallest on: ``27 to 30``, ``2 and 3``."""
    labels = [each.label for each in _ascending(rows)]
    return f"{labels[0]} to {labels[-1]}" if len(labels) > 2 else listed(labels)


def _beside_best(answer: "Numbers", rows: "Sequence[Tried]") -> str:
    """Values beyond the best that are not worse: ``2 and 3 tie with it``."""
    words, are = {each.word for each in rows}, "is" if len(rows) == 1 else "are"
    if words == {"ties"}:
        return f"{_names(answer, rows)} {'ties' if len(rows) == 1 else 'tie'} with it"
    if words <= {"ties", "within"}:
        return f"{_names(answer, rows)} {are} within {_bound(answer)}"
    return f"{_names(answer, rows)} cannot be told apart from it"


def _is_worse(found: "Tried") -> str:
    """A value that is worse, and why where all requests together are not."""
    reason = next((each.reason for each in found.estimates if each.reason), "is worse")
    return f"{found.label} {reason}"


def _bound(answer: "Numbers") -> str:
    """How far from the best a value may be: ``5 %``."""
    by = [
        f"{plain(100 * abs(clause.bound - 1), 3)} %" for clause in parse_target(answer.target).clauses if clause.of_best
    ]
    return listed(list(dict.fromkeys(by)))


def _is_upper(answer: "Numbers") -> bool:
    return " <" in answer.target


def _refusal(answer: "Numbers") -> str:
    """Say that no value meets the target, and how near the best one comes."""
    span = f"No {answer.key} from {answer.curve[0].label} to {answer.curve[-1].label}"
    reached = "; ".join(answer.reached)
    if answer.attainable is False:
        return f"{span} meets {answer.target}: {reached}."
    open_ = _undecided(answer)
    names = f"; {_names(answer, open_)} {'is' if len(open_) == 1 else 'are'} open" if open_ else ""
    return f"{span} is shown to meet {answer.target}: {reached}{names}."


def screen(answer: "Numbers", *, details: bool = False) -> Screen:
    """The answer in a screen.

    Args:
        answer: The answer.
        details: True for all values with their intervals and runs, and the origin of the answer's interval.
    """
    parts: list[Part] = [sentence(answer), "", _all(answer) if details else _table(answer)]
    parts += [line for line in (_margin(answer), _risk(answer)) if line]
    parts.append(f"{plural(answer.runs, 'run')}. {answer.holds}{'' if details else '    more: --details'}")
    if details:
        parts += [line[:1].upper() + line[1:] + "." for line in (answer.interval,) if line]
        parts += answer.connections
    return Screen(parts)


def _margin(answer: "Numbers") -> str:
    """How far from the best a value may be."""
    if all(each.word != "within" for each in answer.curve):
        return ""
    return f"Within: up to {_bound(answer)} {'more' if _is_upper(answer) else 'less'} than the best."


def _risk(answer: "Numbers") -> str:
    """The possible error of the value to take, and the remedy."""
    remedy = f"; {answer.remedy}" if answer.remedy else ""
    taken, best = answer.answer, answer.best
    if best is None and (open_ := _undecided(answer)):
        return f"Open: {_names(answer, open_)}{remedy}."
    if taken is None or best is None or taken == best:
        return ""
    upper = _is_upper(answer)
    bounds = {clause.called: abs(clause.bound - 1) for clause in parse_target(answer.target).clauses if clause.of_best}
    for each in taken.estimates:
        end = each.ratio_high if upper else each.ratio_low
        if end is not None and (taken.word == "open" or abs(end - 1) > bounds.get(each.called, 0.0)):
            off = percents(abs(end - 1))
            how = f"{off} % {'slower' if each.called.endswith(('latency', 'latency)', 'first_byte)')) else 'off'}"
            return f"{taken.label} may still be up to {how} than {best.label}{remedy}.".replace("off than", "off")
    return ""


def _table(answer: "Numbers") -> Sheet:
    """The values about the answer, with those before and after in a line each."""
    rows = answer.in_order
    about = {rows.index(each) for each in (answer.answer, answer.best) if each is not None}
    first, last = (max(min(about) - 1, 0), min(max(about) + 1, len(rows) - 1)) if about else (0, len(rows) - 1)
    while last - first + 1 < _ROWS_MAX and (first > 0 or last < len(rows) - 1):
        last = min(last + 1, len(rows) - 1)
        first = max(first - 1, 0) if last - first + 1 < _ROWS_MAX else first
    inside = list(range(first, last + 1))
    if len(inside) > _ROWS_MAX:
        inside = [*inside[: _ROWS_MAX - 2], *inside[-2:]]
    groups: list[list[Tried]] = [[rows[place]] for place in inside]
    groups = [list(rows[: inside[0]][::-1]), *groups, list(rows[inside[-1] + 1 :])]
    return _sheet(answer, [each for each in groups if each][::-1])


def _all(answer: "Numbers") -> Sheet:
    """Every value, with its runs and intervals."""
    return _sheet(answer, [[each] for each in answer.in_order[::-1]], details=True)


def _sheet(answer: "Numbers", groups: "Sequence[Sequence[Tried]]", *, details: bool = False) -> Sheet:
    """Rows of one value, or of several that are left out, the nearest of them first. The costliest row is first.

    Intervals are among the details where a line has no room for them.
    """
    columns = _columns(answer.curve)
    write = [_writer([each.estimates[place] for each in answer.curve]) for place in columns]
    rated = next((place for place, each in enumerate(answer.curve[0].estimates) if _is_rated(answer, place)), None)
    with_interval = details or (rated is None and len(columns) == 1)
    sure = f"{answer.percent} % interval"
    header = ["value", *(["runs"] if details else [])]
    for place, (_, unit) in zip(columns, write, strict=True):
        called = _called(answer.curve[0].estimates[place])
        header += [
            f"{called}, {unit}" if unit else called,
            *([f"{answer.percent} % interval"] if with_interval else []),
        ]
    if rated is not None:
        against = "best" if answer.best is None else answer.best.label
        header += [f"against {against}, %", sure]
    lines = []
    for group in groups:
        each = group[0]
        cells = [_label(answer, group), *([str(each.n)] if details else [])]
        for place, (writer, _) in zip(columns, write, strict=True):
            found = each.estimates[place]
            cells.append(writer(found.mean))
            if with_interval:
                ends = found.low is not None and found.high is not None and found.low != found.high
                cells.append(f"{writer(max(found.low or 0.0, 0.0))} … {writer(found.high)}" if ends else "")
        if rated is not None:
            cells += _change(each.estimates[rated], each == answer.best)
        note = "take this" if each == answer.answer else ""
        note = f"({len(group)} values)" if len(group) > 1 else note or each.estimates[0].decided_by
        words = dict.fromkeys(one.word for one in group if one != answer.best or rated is None)
        lines.append([*cells, " or ".join(words), note])
    spare = [len(header) - 1] if rated is not None and not details else []
    return Sheet("", [*header, "", ""], lines, is_whole=True, spare=spare)


def _called(estimate: "Reading") -> str:
    """A metric in the head of its column: ``p90``. For latency alone the mean is shown."""
    return "mean" if estimate.called == "latency" else estimate.called.replace("(latency)", "")


def _columns(curve: "Sequence[Tried]") -> list[int]:
    """Places of the estimates of different metrics."""
    names = [each.metric for each in curve[0].estimates]
    return [place for place, name in enumerate(names) if name not in names[:place]]


def _is_rated(answer: "Numbers", place: int) -> bool:
    return any(each.estimates[place].ratio is not None for each in answer.curve)


def _change(found: "Reading", is_best: bool) -> list[str]:
    if is_best:
        return ["best", ""]
    change, low, high = (
        None if each is None else each - 1 for each in (found.ratio, found.ratio_low, found.ratio_high)
    )
    return change_cells(Estimate(1, change, None, *((None, None) if low == high else (low, high))))


def _label(answer: "Numbers", group: "Sequence[Tried]") -> str:
    """The value, or several up to an end of those tried, from the nearest on."""
    near, last = group[0], group[-1]
    if len(group) == 1:
        return near.label
    if near.number is None:
        return f"{near.label} and others"
    return f"{near.label} and {'less' if (last == answer.in_order[0]) != answer.largest else 'more'}"


def _writer(estimates: "Sequence[Reading]") -> tuple[Callable[[float | None], str], str]:
    """A way to write estimates of a metric, and the unit of their column: of times and shares."""
    from farweb.results.metrics import find_metric

    unit = find_metric(estimates[0].metric).unit
    if unit == "s":
        return in_one_unit([each.mean for each in estimates])
    if unit == "1":
        return (lambda value: number(None if value is None else 100 * value)), "%"
    return (lambda value: quantity(value, unit)), ""
