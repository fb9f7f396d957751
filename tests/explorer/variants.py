"""A case in other words: run again, recorded differently, or cut off elsewhere, it gives the same results."""

from collections.abc import Iterator
from dataclasses import replace

from explorer.case import Case
from explorer.reading import Row, Run
from explorer.rules import Violation

# Tables by interval say the same in other rows where the interval is another.
WHOLE_RUN = ["requests", "connections"]

# Columns by the clocks of senders, which run only where exchanges are recorded.
_CLOCKS = ("held_", "tls_cwnd_ns", "relay_held_")

# Columns of a failed request that go on: packets under way when its client gave up still reach the server.
_AFTER_FAILURE = ("acked_ns", "retransmits", "timeouts", "served_bytes", "served_by")


def again(case: Case) -> Case:
    """The same case."""
    return case


def recorded_differently(case: Case) -> Case:
    """The case with all records, or with none where it has all."""
    links = len(case.scenario["path"]["link"])
    everything = {
        "links_every": "10 s",
        "exchanges": True,
        "packets": "all",
        "points": ["ends", *(f"link {link}" for link in range(links))],
    }
    has_all = case.scenario.get("record", {}).get("packets") == "all"
    record = {"exchanges": False} if has_all else everything
    return replace(case, scenario={**case.scenario, "record": record})


def cut_off(case: Case) -> Case:
    """The case cut off after two seconds, or to its end where it is cut off."""
    until = case.scenario.get("run", {}).get("until", "done")
    run = case.scenario.get("run", {}) | {"until": "2 s" if until == "done" else "done"}
    return replace(case, scenario={**case.scenario, "run": run})


def differences(one: Run, other: Run) -> Iterator[Violation]:
    """Where two runs of a case differ that may not."""
    if one.until == other.until:
        yield from _unequal(one, other)
    else:
        cut, whole = (one, other) if other.until is None else (other, one)
        yield from _contradictions(cut, whole)


def _unequal(one: Run, other: Run) -> Iterator[Violation]:
    is_same = one.record == other.record
    for table in set(one.tables) & set(other.tables) if is_same else WHOLE_RUN:
        if not (is_same or (one.record["connections"] and other.record["connections"]) or table == "requests"):
            continue
        rows = [[_kept(row, all_columns=is_same) for row in run.rows(table)] for run in (one, other)]
        if rows[0] != rows[1]:
            place = next(
                (place for place, both in enumerate(zip(*rows, strict=False)) if both[0] != both[1]),
                min(map(len, rows)),
            )
            shown = " and ".join(str(own[place]) if place < len(own) else "none" for own in rows)
            yield Violation("variants.again" if is_same else "variants.recorded", f"{table}, row {place}: {shown}")


def _kept(row: Row, *, all_columns: bool) -> Row:
    """A row without the clocks of senders, where only one of two runs has them."""
    return row if all_columns else {name: value for name, value in row.items() if not name.startswith(_CLOCKS)}


def _contradictions(cut: Run, whole: Run) -> Iterator[Violation]:
    """What had ended when a run was cut off ended so in the whole run."""
    later = whole.requests
    for number, row in cut.requests.items():
        if row["status"] == "unfinished" or (row["status"] == "done" and row["acked_ns"] is None):
            continue
        if _ended(row) != _ended(later.get(number, {})):
            yield Violation("variants.cut_off", f"{row}; and without the cut {later.get(number)}")
    for number, row in cut.connections.items():
        if row["close_ns"] is not None and whole.connections and _life(row) != _life(whole.connections.get(number, {})):
            yield Violation("variants.cut_off", f"{row}; and without the cut {whole.connections.get(number)}")


def _ended(row: Row) -> Row:
    """A row without what follows a failure: its connection still counts, and a server that has not heard may answer."""
    later = _AFTER_FAILURE if row.get("status") == "failed" else ()
    return {name: value for name, value in row.items() if name not in later}


def _life(row: Row) -> list[int | None]:
    return [row.get(name) for name in ("connection", "leg", "open_ns", "close_ns", "requests", "busy_ns")]


VARIANTS = [again, recorded_differently, cut_off]
