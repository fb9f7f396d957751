"""Counts of several logs of an import together."""

from collections.abc import Mapping
from typing import Any


def add(together: dict[str, Any], counts: Mapping[str, Any], log: str) -> None:
    """Add the counts of a log, called `log` in messages, to the sums so far."""
    for name in (
        "lines",
        "requests",
        "unreadable_lines",
        "request_bytes",
        "response_bytes",
        "bytes_logged",
        "with_elapsed_time",
        "kept_apart",
    ):
        together[name] = together.get(name, 0) + counts[name]
    for by_reason in ("dropped", "dropped_bytes", "storable_with", "unreadable_by"):
        sums = together.setdefault(by_reason, {})
        for reason, number in counts[by_reason].items():
            sums[reason] = sums.get(reason, 0) + number
    together.setdefault("meanings", {}).update(counts["meanings"])
    for name in ("schemes", "http_versions", "table_http_versions", "methods", "caching"):
        parts = together.setdefault(name, {})
        for key, part in counts[name].items():
            parts[key] = _sum(parts.get(key), part)
    together["has_cache_control"] = together.get("has_cache_control", False) or counts["has_cache_control"]
    together["unit_doubt"] = together.get("unit_doubt") or counts["unit_doubt"]
    for name in ("tunnels", "errors", "given_up"):
        together[name] = _sum(together.get(name), counts[name])
    servers = (together.get("software"), counts["software"])
    together["software"] = ", ".join(dict.fromkeys(name for name in servers if name)) or None
    units = [] if counts["unit"] is None else [f"{log}times are {counts['unit']}"]
    for name, those in (("formats", [counts["format"]]), ("assumptions", counts["assumptions"]), ("units", units)):
        all_of_them = together.setdefault(name, [])
        all_of_them += [each for each in those if each not in all_of_them]
    before, unread = together.get("unread_fields", {"requests": 0}), counts["unread_fields"]
    both = before["requests"] + unread["requests"]
    together["unread_fields"] = {**(before if before["requests"] else unread), "requests": both}
    unclear = together.setdefault("unclear", {})
    for name, those in counts["unclear"].items():
        first = unclear.get(name, {**those, "requests": 0})
        unclear[name] = {**first, "requests": first["requests"] + those["requests"]}
    _add_named(together, counts, log.strip())
    together.setdefault("unreadable", []).extend({**line, "log": log} for line in counts["unreadable"])
    if counts["requests"] == 0:
        together.setdefault("sorted", True)
        return
    shift = counts["origin_unix_s"] - together["origin_unix_s"]
    first, last = counts["first_start_s"] + shift, counts["last_start_s"] + shift
    before = together.get("last_start_s")
    together["sorted"] = together.get("sorted", True) and counts["sorted"] and (before is None or before <= first)
    together["last_start_s"] = max(last, last if before is None else before)


def _add_named(together: dict[str, Any], counts: Mapping[str, Any], log: str) -> None:
    """Add what names its line, to the same of logs before: the earliest request, and the longest of the time-outs."""
    before, first = together.setdefault("first_request", None), counts["first_request"]
    if first is not None and (before is None or first["start_unix_s"] < before["start_unix_s"]):
        together["first_request"] = {"log": log, **first}
    waits = {"log": log, **counts["time_outs"]}
    known = together.get("time_outs", {**waits, "requests": 0})
    longest = max(known, waits, key=lambda those: those["longest_s"])
    together["time_outs"] = {**longest, "requests": known["requests"] + waits["requests"]}


def _sum(part: Mapping[str, int] | None, other: Mapping[str, int]) -> dict[str, int]:
    """Sum of two parts of a log, each with `requests` and `bytes`."""
    return {name: number + (part[name] if part else 0) for name, number in other.items()}


def carried_share(counts: Mapping[str, Any]) -> float | None:
    """Share of the logged bytes that the table carries, or None where no bytes are logged."""
    logged = counts["bytes_logged"]
    return 1 - sum(counts["dropped_bytes"].values()) / logged if logged else None
