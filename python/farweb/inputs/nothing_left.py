"""Why nothing is left of logs that are imported, and what to do."""

from collections.abc import Mapping
from typing import Any

from farweb.text.quantities import count
from farweb.text.words import plural

_NO_LINES = ("blank", "header", "part")
"""Reasons of lines that are not expected to have a request."""

_HINTS = {
    "connect-tunnel": "leave --no-tunnels out to keep them",
    "hit": "--keep all keeps them",
    **dict.fromkeys(("inner-tier", "other-side", "health-check", "loopback", "repeated"), "--keep lines keeps them"),
    "no-size": "let the server write it: $body_bytes_sent in nginx, %b in Apache, sc-bytes in IIS; "
    "of JSON workload import takes the key: --field bytes=KEY; --assume-bytes 10000 assumes a size",
    "not-sampled": "take a larger --sample or another --seed",
    "not-successful": "--errors keeps them",
    "other-client": '--client is a pattern of clients as the log has them, such as "10.0.*"',
    "outside-time": "--from and --to go by the clock of each line, unless they name a zone",
    "revalidation": "--keep crossed keeps them",
    "zero-bytes": "let the server write the size of the response",
    "answered-by-proxy": "--keep all keeps them",
}
"""Advice where nothing is left, by the most frequent reason."""


def nothing_left(counts: Mapping[str, Any]) -> str:
    """Explain why a log gives no request, and what to do."""
    empty = sum(counts["dropped"].get(reason, 0) for reason in _NO_LINES)
    lines = counts["lines"] - empty
    dropped = [(reason, n) for reason, n in counts["dropped"].items() if reason not in _NO_LINES]
    if not dropped:
        return f"none of its {plural(lines, 'line')} can be read" if lines else "it is empty"
    dropped.sort(key=lambda item: (-item[1], item[0]))
    hint = f"; {_HINTS[dropped[0][0]]}" if dropped[0][0] in _HINTS else ""
    if dropped[0][1] == lines:
        those = "its line is" if lines == 1 else f"all {count(lines)} lines are"
        return f"{those} {counts['meanings'][dropped[0][0]]}{hint}"
    reasons = ", ".join(f"{count(n)} {counts['meanings'][reason]}" for reason, n in dropped)
    return f"of {count(lines)} lines {reasons}{hint}"


def without_elapsed_times(counts: Mapping[str, Any], options: Mapping[str, Any]) -> str:
    """Explain why there is no time to take a round trip off."""
    if options.get("server_time") == "none":
        return "--server-time none leaves out the times that it is taken off"
    times = "server times are of servers behind, without the path" if counts["with_server_time"] else "it has no times"
    return f"no request has an elapsed time to take it off: {times}"
