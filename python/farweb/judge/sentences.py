"""A verdict in a sentence: the word, the change of the mean, and the slices that decide or are on the other side."""

from collections.abc import Iterator
from dataclasses import replace

from farweb.judge.judgement import Difference, Verdict
from farweb.judge.verdicts import MARGIN_BY_LEAST, QUICKER, SLOW, SignTest, Slice, Word, are_opposed
from farweb.text.quantities import percents, seconds, share
from farweb.text.words import listed, plural

_PARTS = {
    QUICKER: "the quicker nine tenths",
    "slowest_tenth": "the slowest tenth",
    "slowest_hundredth": "the slowest hundredth",
}
_LEAST = 0.0005  # of a time, below which a difference is not written; chosen: it would be <0.1 %
_MANY = 0.1  # of the requests against the mean, that a sentence names; chosen
_GROUPS = {"first of a visit": "first requests of visits", "later in a visit": "later ones"}


def called(name: str) -> str:
    """A slice in words: ``the slowest tenth``."""
    return _PARTS[name]


def sentence(names: tuple[str, str], verdict: Verdict) -> str:
    """Say a judgement by the whole rule, without a full stop.

    Args:
        names: The base and the other.
        verdict: All of it but its sentence.
    """
    base, other = names
    everyone = verdict.slices[0]
    head = _head(names, verdict.overall)
    if not everyone.requests:
        return f"{head}: there is no request to compare"
    if (few := verdict.few) is not None:
        said, requests = _of_few(few, everyone), plural(few.faster + few.slower + few.same, "request")
        if few.word == "cannot be told apart":
            are = "is" if requests == "1 request" else "are"
            return f"{other} against {base}: {said}; {requests} {are} too few for a verdict"
        return f"{head}: {said}; for {'this' if requests == '1 request' else 'these'} {requests}"
    if verdict.alone:
        head += f" for {_PARTS[verdict.alone]}"
    if everyone.by_count and not verdict.is_of_pairs:
        return f"{head}: {_of_others(verdict.failed, everyone)}"
    clauses = [_of_all(everyone, verdict), *_of_parts(verdict)]
    if are_opposed([each.word for _, each in verdict.groups]):
        clauses += [_of_group(label, each) for label, each in verdict.groups]
    clauses += [_of_failures(each) for each in verdict.quantities if _decides(each, verdict)]
    return "; ".join([f"{head}: {', '.join(clauses)}", *holders(verdict)])


def beside(verdict: Verdict) -> str:
    """The change of one not apart from the best, ``+0.2 %``, ``+22.4 % (−5.1 … +58.0)``, and of its slices that are."""
    change = verdict.change
    if change.value is None:
        return ""
    if verdict.ties:
        said = f"{percents(change.value, signed=True)} %"
    else:
        said = with_ends(change.value, change.low, change.high)
    return ", ".join([said, *_of_parts(replace(verdict, alone=""))])


def with_ends(value: float, low: float | None, high: float | None) -> str:
    """A relative difference and its interval: ``+22.4 % (−5.1 … +58.0)``."""
    said = f"{percents(value, signed=True)} %"
    if low is None or high is None or low == high:
        return said
    return f"{said} ({percents(low, signed=True)} … {percents(high, signed=True)})"


def holders(verdict: Verdict) -> list[str]:
    """Name the few requests that hold half of the waiting, where these decide."""
    if verdict.few_hold is None or verdict.slices[0].by_count:
        return []
    number, of = verdict.few_hold
    return [f"{number} of {of:,} requests {'holds' if number == 1 else 'hold'} half of the waiting"]


def by_quantities(names: tuple[str, str], verdict: Verdict) -> str:
    """Say a judgement by named quantities: deciding ones first, then the others."""
    words = verdict.by_quantity
    decided = listed([each.with_interval for each in verdict.named if words[each.name] != "unclear"])
    open_ = listed([each.with_interval for each in verdict.named if words[each.name] == "unclear"])
    return f"{_head(names, verdict.overall)}: {'; open: '.join(part for part in (decided, open_) if part)}"


def more_or_less(change: float) -> str:
    """A relative difference in words: ``24.1 % less``, ``as much``."""
    size = percents(change)
    return "as much" if size == "0" else f"{size} % {'more' if change > 0 else 'less'}"


def _head(names: tuple[str, str], overall: Word) -> str:
    base, other = names
    heads: dict[Word, str] = {
        "mixed": f"{other} against {base} is mixed",
        "equivalent": f"{other} and {base} are equivalent",
        "cannot be told apart": f"{other} and {base} cannot be told apart",
    }
    return heads.get(overall, f"{other} is {overall} than {base}")


def _means(found: Slice) -> str:
    """Both means: ``1.96 s instead of 2.18 s``, ``both 1.5 s``."""
    there, here = seconds(found.other_s), seconds(found.base_s)
    return f"both {here}" if here == there else f"{there} instead of {here}"


def _of_all(found: Slice, verdict: Verdict) -> str:
    """How much time all requests take: by counts where failures decide."""
    value, low, high = found.change.value, found.change.low, found.change.high
    if found.word == "equivalent" and found.faster == found.slower == 0 and found.base_s == found.other_s:
        return "all requests take the same time"
    if found.by_count or value is None:
        return f"{part_of(found.slower)} of requests are slower and {part_of(found.faster)} faster"
    if found.word != "unclear" and abs(value) < verdict.margin / MARGIN_BY_LEAST:
        size = f"{percents(value, signed=True)} %: " if abs(value) >= _LEAST else ""
        return f"requests take the same time on average ({size}{_means(found)})"
    said = f"requests take {more_or_less(value)} time on average ({_means(found)})"
    if found.word == "unclear":
        mark = "" if verdict.overall == "cannot be told apart" else "open"
        ends = "" if low is None or high is None else f"{percents(low, signed=True)} … {percents(high, signed=True)} %"
        said = ", ".join(filter(None, [said, ": ".join(filter(None, [mark, ends]))]))
    if found.word == "split":
        said += f", {part_of(found.slower)} are slower and {part_of(found.faster)} faster"
    elif verdict.is_of_pairs and found.word == verdict.overall:
        against, way = (found.slower, "slower") if value < 0 else (found.faster, "faster")
        said += f", {part_of(against)} are {way}" if against >= _MANY else ""
    return said


def part_of(value: float) -> str:
    """A share of requests in whole percent."""
    return "<1 %" if 0 < value < 0.005 else f"{100 * value:.0f} %"


def _of_parts(verdict: Verdict) -> Iterator[str]:
    """Slices that decide, the nine tenths only where slices alone do, and in a mixed answer those on the other side."""
    everyone, *parts = verdict.slices
    is_mixed = verdict.overall == "mixed"
    is_alone = everyone.word in ("equivalent", "unclear") and bool(verdict.gain or verdict.harm)
    value = everyone.change.value
    sign = 0 if everyone.by_count or not value else 1 if value > 0 else -1
    for each in parts:
        decides = each.name in (*verdict.gain, *verdict.harm) and (each.name in SLOW or is_alone)
        moved = each.moved(verdict.margin)
        opposes = moved and is_mixed and (is_alone or moved == -sign)
        if each.by_count or each.change.value is None:
            if decides:
                yield f"{part_of(each.slower)} of {_PARTS[each.name]} slower and {part_of(each.faster)} faster"
        elif decides or opposes:
            who = "these" if each.name == verdict.alone else _PARTS[each.name]
            yield f"{more_or_less(each.change.value)} for {who}"


def _of_group(label: str, found: Slice) -> str:
    change, who = found.judged_change.value, _GROUPS.get(label, label)
    return f"{found.word} for {who}" if change is None else f"{more_or_less(change)} for {who}"


def _decides(found: Difference, verdict: Verdict) -> bool:
    return found.name == "failed_share" and found.value is not None and found.name in (*verdict.gain, *verdict.harm)


def _of_failures(found: Difference) -> str:
    value = found.value or 0.0
    points = share(abs(value)).removesuffix(" %")
    return f"{points} {'point' if points == '1' else 'points'} {'more' if value > 0 else 'fewer'} fail"


def _of_others(failed: tuple[float, float], everyone: Slice) -> str:
    """Failures of two sides with requests of their own, and the means of those answered."""
    here, there = (share(each) if each else "0" for each in failed)
    said = f"{there} of requests fail instead of {here}"
    if everyone.base_s is None or everyone.other_s is None:
        return said
    return f"{said}; those answered take {_means(everyone)}"


def _of_few(found: SignTest, everyone: Slice) -> str:
    total = found.faster + found.slower + found.same
    counts = [
        f"{count} {word}"
        for count, word in ((found.faster, "faster"), (found.slower, "slower"), (found.same, "the same"))
        if count
    ]
    first, *rest = counts
    count, _, word = first.partition(" ")
    said = ", ".join([f"{count} of {total} {word}", *rest])
    if everyone.change.value is None:
        return said
    return f"{said}: {percents(everyone.change.value, signed=True)} % on average ({_means(everyone)})"
