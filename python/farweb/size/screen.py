"""The screen of a search for a size: which value to take, and how the others stand against it."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from farweb.size.log import change_of
from farweb.size.target import parse_target
from farweb.size.tried import Numbers, Reading, Tried
from farweb.statistics.intervals import Estimate
from farweb.text.quantities import change_cells, in_one_unit, number, percents, plain, quantity
from farweb.text.sheet import Part, Screen, Sheet
from farweb.text.words import capital, listed, plural

_ROWS_MAX = 6
_GOOD = ("best", "ties", "within", "open", "meets")


def sentence(answer: Numbers) -> str:
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
    head = f"Take {answer.answer.label}{', the best' if at == best else ''}"
    said = []
    if at != best:
        said.append(f"it {_how(answer, [answer.answer], answer.best.label)}, the best{_by([answer.answer])}")
    elif beyond:
        said.append(f"{_names(answer, beyond)} {_how(answer, beyond, 'it')}{_by(beyond)}")
    said += [_is_worse(worse[0])] if worse else []
    if beyond_worse := [each for each in more[len(beyond) :] if each.word == "worse"]:
        verb = "is" if len(beyond_worse) == 1 and beyond_worse[0] == rows[-1] else "are"
        said.append(f"{_names(answer, beyond_worse)} {verb} worse{_by(beyond_worse)}")
    between = ". " if at == best else ": "
    return f"{head}{between if said else ''}{'; '.join(said)}."


def _how(answer: Numbers, rows: Sequence[Tried], best: str) -> str:
    """How values that are not worse stand to the best: by the least sure of them."""
    words, is_one = {each.word for each in rows}, len(rows) == 1
    if words == {"ties"}:
        return f"{'ties' if is_one else 'tie'} with {best}"
    if words <= {"ties", "within"}:
        return f"{'is' if is_one else 'are'} within {_bound(answer)} of {best}"
    return f"cannot be told apart from {best}"


def _by(rows: Sequence[Tried]) -> str:
    """How far values are from the best: one with its interval where it is not worse, several from the least on."""
    found = [most for each in rows if (most := _most(each))]
    if not found:
        return ""
    if len(rows) > 1:
        return f" ({_spanned([change for _, change in found])} %)"
    ((name, change),) = found
    value, *ends = change_cells(change)
    interval = [f"{each} %" for each in ends if each and rows[0].word != "worse"]
    return f" ({', '.join([f'{name}{value} %', *interval])})"


def _most(found: Tried) -> tuple[str, Estimate] | None:
    """The difference that is largest against the best, named where the target has several; None without one."""
    rated = [(each.called, _against_best(each)) for each in found.estimates if each.ratio is not None]
    if not rated:
        return None
    name, change = max(rated, key=lambda each: abs(each[1].value or 0.0))
    return f"{name} " if len(rated) > 1 else "", change


def _against_best(found: Reading) -> Estimate:
    """The difference against the best. An interval without width is none."""
    change = change_of((found.ratio, found.ratio_low, found.ratio_high))
    return change if change.low != change.high else replace(change, low=None, high=None)


def _spanned(changes: Sequence[Estimate]) -> str:
    """Relative differences of several values, the least first: ``+6.0 to +6.7``."""
    ordered = sorted((each.value or 0.0 for each in changes), key=abs)
    low, high = (percents(each, signed=True) for each in (ordered[0], ordered[-1]))
    return low if low == high else f"{low} to {high}"


def _beside_number(answer: Numbers, at: int) -> str:
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


def _undecided(answer: Numbers) -> list[Tried]:
    """Values that the runs leave open."""
    return [each for each in answer.in_order if each.word == "open" and each.verdict == "undecided"]


def _run_of(rows: Sequence[Tried], words: Sequence[str]) -> list[Tried]:
    """The first values as long as they have one of some words."""
    end = next((place for place, each in enumerate(rows) if each.word not in words), len(rows))
    return list(rows[:end])


def _names(answer: Numbers, rows: Sequence[Tried]) -> str:
    """Values in a few words: ``27 to 30``, ``4 and more``, ``2 and 3``."""
    order, labels = answer.in_order, [each.label for each in rows]
    first = order.index(rows[0])
    if len(rows) > 1 and tuple(rows) == order[first:] and rows[0].number is not None:
        return f"{labels[0]} and {'less' if answer.largest else 'more'}"
    if tuple(rows) == order[first : first + len(rows)]:
        return _span(rows)
    return listed([each.label for each in _ascending(rows)]) if len(rows) < _ROWS_MAX else plural(len(rows), "value")


def _ascending(rows: Sequence[Tried]) -> list[Tried]:
    """Values from the smallest on; words in their own order."""
    return (
        sorted(rows, key=lambda each: each.number or 0.0) if all(each.number is not None for each in rows) else [*rows]
    )


def _span(rows: Sequence[Tried]) -> str:
    """Neighbouring values from the smallest on: ``27 to 30``, ``2 and 3``."""
    labels = [each.label for each in _ascending(rows)]
    return f"{labels[0]} to {labels[-1]}" if len(labels) > 2 else listed(labels)


def _is_worse(found: Tried) -> str:
    """A value that is worse, and why where all requests together are not."""
    reason = next((each.reason for each in found.estimates if each.reason), f"is worse{_by([found])}")
    return f"{found.label} {reason}"


def _bound(answer: Numbers) -> str:
    """How far from the best a value may be: ``5 %``."""
    by = [
        f"{plain(100 * abs(clause.bound - 1), 3)} %" for clause in parse_target(answer.target).clauses if clause.of_best
    ]
    return listed(list(dict.fromkeys(by)))


def _is_upper(answer: Numbers) -> bool:
    return " <" in answer.target


def _refusal(answer: Numbers) -> str:
    """Say that no value meets the target, and how near the best one comes."""
    span = f"No {answer.key} from {answer.curve[0].label} to {answer.curve[-1].label}"
    reached = "; ".join(answer.reached)
    if answer.attainable is False:
        return f"{span} meets {answer.target}: {reached}."
    open_ = _undecided(answer)
    names = f"; {_names(answer, open_)} {'is' if len(open_) == 1 else 'are'} open" if open_ else ""
    return f"{span} is shown to meet {answer.target}: {reached}{names}."


def screen(answer: Numbers, *, details: bool = False) -> Screen:
    """The answer in a screen.

    Args:
        answer: The answer.
        details: True for all values with their intervals and runs, and the origin of the answer's interval.
    """
    parts: list[Part] = [sentence(answer), "", _all(answer) if details else _table(answer)]
    parts += [line for line in (_margin(answer), _risk(answer)) if line]
    parts.append(f"{plural(answer.runs, 'run')}. {answer.holds}{'' if details else '    more: --details'}")
    if details:
        parts += [f"{capital(answer.interval)}."] if answer.interval else []
        parts += answer.connections
    return Screen(parts)


def _margin(answer: Numbers) -> str:
    """How far from the best a value may be."""
    if all(each.word != "within" for each in answer.curve):
        return ""
    return f"Within: up to {_bound(answer)} {'more' if _is_upper(answer) else 'less'} than the best."


def _risk(answer: Numbers) -> str:
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


def _table(answer: Numbers) -> Sheet:
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


def _all(answer: Numbers) -> Sheet:
    """Every value, with its runs and intervals."""
    return _sheet(answer, [[each] for each in answer.in_order[::-1]], details=True)


def _sheet(answer: Numbers, groups: Sequence[Sequence[Tried]], *, details: bool = False) -> Sheet:
    """Rows of one value, or of several that are left out, which have a span. The costliest row is first.

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
        header += ["against best, %", sure]
    lines = []
    for group in groups:
        each, is_one = group[0], len(group) == 1
        cells = [_label(answer, group), *([str(each.n)] if details else [])]
        for place, (writer, _) in zip(columns, write, strict=True):
            found = each.estimates[place]
            cells.append(_means([one.estimates[place].mean for one in group], writer))
            if with_interval:
                ends = is_one and found.low is not None and found.high is not None and found.low != found.high
                cells.append(f"{writer(max(found.low or 0.0, 0.0))} … {writer(found.high)}" if ends else "")
        if rated is not None:
            cells += _changes([one.estimates[rated] for one in group], is_best=each == answer.best)
        note = "take this" if each == answer.answer else ""
        note = note or each.estimates[0].decided_by if is_one else f"({len(group)} values)"
        words = dict.fromkeys(one.word for one in group if one != answer.best or rated is None)
        lines.append([*cells, " or ".join(words), note])
    spare = [] if rated is None else [header.index(sure)] if details else [len(header) - 1]
    return Sheet("", [*header, "", ""], lines, is_whole=True, spare=spare)


def _called(estimate: Reading) -> str:
    """A metric in the head of its column: ``p90``. For latency alone the mean is shown."""
    return "mean" if estimate.called == "latency" else estimate.called.replace("(latency)", "")


def _columns(curve: Sequence[Tried]) -> list[int]:
    """Places of the estimates of different metrics."""
    names = [each.metric for each in curve[0].estimates]
    return [place for place, name in enumerate(names) if name not in names[:place]]


def _is_rated(answer: Numbers, place: int) -> bool:
    return any(each.estimates[place].ratio is not None for each in answer.curve)


def _means(means: Sequence[float | None], writer: Callable[[float | None], str]) -> str:
    """The mean of one value, or the least and the greatest of several."""
    known = sorted(each for each in means if each is not None)
    low, high = writer(known[0] if known else None), writer(known[-1] if known else None)
    return low if low == high else f"{low} to {high}"


def _changes(found: Sequence[Reading], *, is_best: bool) -> list[str]:
    """The difference against the best and its interval, or those of several values, which have none together."""
    if is_best:
        return ["best", ""]
    if len(found) > 1:
        return [_spanned([_against_best(each) for each in found]), ""]
    return change_cells(_against_best(found[0]))


def _label(answer: Numbers, group: Sequence[Tried]) -> str:
    """The value, or several up to an end of those tried, from the nearest on."""
    near, last = group[0], group[-1]
    if len(group) == 1:
        return near.label
    if near.number is None:
        return f"{near.label} and others"
    return f"{near.label} and {'less' if (last == answer.in_order[0]) != answer.largest else 'more'}"


def _writer(estimates: Sequence[Reading]) -> tuple[Callable[[float | None], str], str]:
    """A way to write estimates of a metric, and the unit of their column: of times and shares."""
    from farweb.results.metrics import find_metric

    unit = find_metric(estimates[0].metric).unit
    if unit == "s":
        return in_one_unit([each.mean for each in estimates])
    if unit == "1":
        return (lambda value: number(None if value is None else 100 * value)), "%"
    return (lambda value: quantity(value, unit)), ""
