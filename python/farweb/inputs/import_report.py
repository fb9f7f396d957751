"""Report of an import: the first request as it was read, the part of the logs in the table, and the lines left out."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape
from itertools import chain
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from farweb.inputs.caching import RULES, CacheTreatment, assumed
from farweb.inputs.provenance import doubts, unread
from farweb.text.quantities import count, moment, plain, seconds, share, size
from farweb.text.sheet import Screen, Sheet, to_html
from farweb.text.words import elided, plural

if TYPE_CHECKING:
    from rich.console import RenderableType

GAP_S = 3600.0
"""Time without a request that is worth a word, in s. Chosen: longer than any pause of one site's readers."""
_UNREADABLE_SHOWN = 5  # chosen: enough to see the mistake (the table keeps more)
_ALL_NAMED = 0.99  # of the requests. Chosen: pages of a site are seldom all behind a log-in
_SPANS = ("elapsed", "first byte", "server time")
"""Values that, where unreadable, may hide the slowest requests."""


@dataclass(frozen=True)
class ImportReport:
    """Report of an import: requests kept, and lines left out.

    Attributes:
        out: The request table.
        requests: Its rows.
        span_s: From the first start to the last.
        log: Name, format and options of the logs.
        counts: As the reader counted, of all logs together: `lines`, `dropped` by reason, `meanings` of the reasons,
            `unreadable`, `unreadable_by` (the value that is wrong), `assumptions` and others; `hosts` and `clients` are
            the numbers of different ones in the table, `gaps` the times without a request: `longer_than_s`, `number`,
            `longest_s`; `time_outs` the errors 408, 502, 503 and 504 after 10 s or more: `requests`, and `longest_s`,
            `status`, `line`, `log` of the longest; `first_request` is the earliest one, as its line was read: `log`,
            `line`, `start_unix_s`, `client`, `method`, `url`, `host`, `has_host`, `status`, sizes with those that are
            logged, `server_s`, `wait_s`; `unread_fields` those behind the agent that the format does not name:
            `requests` that have them, their `share`, and the number of `fields` and `text` of the first one, empty in a
            table with pseudonyms; `kept_apart` the lines that `keep` of `lines` alone takes; `given_up` the requests
            that their client, or a proxy that waited for a server, gave up, with the bytes of responses that came
            before (`{"requests", "bytes"}`), and `unclear` those with a value that says nothing (`{"scheme":
            {"requests", "text"}}`, the text of the first); `repeats` the lines that stand in two logs (`log`, `other`,
            `lines`, `is_whole`); `units` what was decided about times whose format leaves their unit open, and why;
            `unit_doubt` is an assumption about the unit of a span that others write in another one, or null;
            `with_server_time` is the number of requests that have one, `with_wait` of those with a wait for the first
            byte too, `with_client` of requests with a client, `origin_unix_s` the Unix time of `start_s` 0, `busiest`
            the span, if asked for; `objects`, and `cache_treatment` as `CacheTreatment` has it. Requests kept and bytes
            of their responses by the rule that caches follow: `caching` (`{rule: {"requests", "bytes"}}`, rules of
            `farweb.inputs.caching.RULES`); `storable_with` the storable ones with `query`, `cookie` and `set-cookie`;
            `has_cache_control`: the log has the header; `errors` those answered by a status of 400 or more
            (`{"requests", "bytes"}`). Of all requests that could be read, also those left out: `schemes`,
            `http_versions` and `methods` (`{name: {"requests", "bytes"}}`), `tunnels` (`{"requests", "bytes"}`),
            `bytes_logged`: bytes of responses and, where logged, of requests, without estimates. `table_http_versions`
            are the versions in the table. `dropped_bytes` are those left out, by reason, and `carried_bytes_share` is
            the share of the others, 0 to 1; null where no bytes are logged. `software`: the server that wrote the logs;
            null where they do not name it.
    """

    out: Path
    requests: int
    span_s: float
    log: Mapping[str, Any]
    counts: Mapping[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values, for JSON."""
        figures = {"requests": self.requests, "span_s": self.span_s}
        return {**self.counts, "out": str(self.out), **figures, "log": dict(self.log)}

    def sheet(self) -> Sheet:
        """Contents of the log, and the part of them in the table."""
        counts, given_up = self.counts, self.counts["given_up"]
        dropped = sorted(counts["dropped"].items(), key=lambda item: (-item[1], item[0]))
        meaning = counts["meanings"]
        served = f"{count(counts['with_server_time'])} with a server time"
        if counts["with_wait"] > 0:
            served += f", {count(counts['with_wait'])} with its wait"
        rows = [
            ["format", self._how_found(), ", ".join(counts["formats"])],
            ["lines", "", count(counts["lines"])],
            ["requests kept", served, count(self.requests)],
            ["unreadable", "", count(counts["unreadable_lines"])],
            *([f"left out: {reason}", meaning.get(reason, ""), count(lines)] for reason, lines in dropped),
            ["from first to last start", f"from {moment(counts['origin_unix_s'])}", seconds(self.span_s)],
            ["bytes of responses", "", size(counts["response_bytes"])],
            ["given up", f"{size(given_up['bytes'])} had come", count(given_up["requests"])],
            *self._facts(),
            ["objects", "", count(counts["objects"])],
            ["requests without a client", self._client_names(), count(self.requests - counts["with_client"])],
            *CacheTreatment(**counts["cache_treatment"]).rows(),
        ]
        return Sheet(self.log["file"], ["", "", "value"], rows, names=2)

    def _facts(self) -> list[list[str]]:
        """Rows on all requests of the log, the table's and those left out."""
        counts = self.counts
        tunnels, logged = counts["tunnels"], counts["bytes_logged"]
        rows = [
            ["all requests: schemes", "", _by_share(counts["schemes"])],
            ["all requests: HTTP versions", "", _by_share(counts["http_versions"])],
            ["all requests: methods", "", _by_share(counts["methods"])],
        ]
        if tunnels["requests"]:
            bytes_share = f", {share(tunnels['bytes'] / logged)} of all bytes" if logged else ""
            rows.append(["all requests: tunnels", f"{size(tunnels['bytes'])}{bytes_share}", count(tunnels["requests"])])
        if (carried := counts["carried_bytes_share"]) is not None:
            rows.append(["bytes in the table", f"of {size(logged)} logged", share(carried)])
        if counts["software"] is not None:
            rows.append(["server", "", counts["software"]])
        return rows

    def _how_found(self) -> str:
        if self.log["format"] == "auto":
            return "recognized"
        return "--log-format" if "log_format" in self.log else "--format"

    def _client_names(self) -> str:
        if self.log["client_names"] == "as-logged":
            return "clients are named as in the log"
        return f"clients have pseudonyms by a {self.log['client_key']} key"

    def remarks(self) -> list[str]:
        """Assumptions, and facts that a reader of the table has to know, a line each."""
        counts = self.counts
        remarks = list(self._chosen())
        if counts["tunnels"]["requests"] and "connect-tunnel" not in counts["dropped"]:
            remarks.append(
                f"tunnels: {count(counts['tunnels']['requests'])} in the log; each is one request and one response of "
                "all its bytes, on a connection of its own where connections carry one request at a time; "
                "[clients.tunnels] of a scenario takes handshakes of TLS out of them"
            )
        if counts["with_server_time"] == 0 and self.log.get("server_time") != "none":
            remarks.append(
                "no server times: responses are there at once; nginx writes them as $upstream_response_time or "
                "$request_time, Apache as %D, Squid as %<pt"
            )
        assumptions = [f"assumed: {text}" for text in (*counts["assumptions"], *assumed(counts))]
        rules = [
            f"caches: {count(part['requests'])} {RULES[rule]}"
            for rule, part in counts["caching"].items()
            if len(counts["caching"]) > 1
        ]
        unreadable = [
            f"unreadable: {line['log']}line {line['line']}: {line['why']}: {line['text']}"
            for line in counts["unreadable"]
        ]
        return remarks + rules + assumptions + unreadable[:_UNREADABLE_SHOWN]

    def _chosen(self) -> Iterator[str]:
        """The part of the log that the table has, where one was chosen."""
        if (busiest := self.counts.get("busiest")) is not None:
            yield (
                f"busiest: the {seconds(busiest['length_s'])} with most bytes of responses begin at "
                f"{moment(busiest['from_unix_s'])} and have {share(busiest['bytes_share'])} of all of them"
            )
        if "sample" in self.log:
            yield (
                f"sample: {share(self.log['sample'])} of the {self.log['sample_by']}s, whole; the load is theirs alone"
            )

    def __rich__(self) -> "RenderableType":
        from rich.text import Text

        return Text("\n".join(self.lines()))

    def explained(self) -> "RenderableType":
        """The same with all counts, assumptions and rules of caches."""
        from rich.console import Group

        return Group(self, "", Screen((self.sheet(), *self.remarks())))

    def lines(self) -> list[str]:
        """The answer, the first request as it was read, and lines left out, 80 columns wide."""
        counts = self.counts
        of = f" of {plural(counts['clients'], 'client')}" if counts["clients"] else ""
        answer = (
            f"{plural(self.requests, 'request')}{of} to {plural(counts['hosts'], 'host')}: "
            f"{size(counts['response_bytes'])} of responses in {_span(self.span_s)}"
        )
        chosen = [line for remark in self._chosen() for line in wrap(remark, 80, subsequent_indent="  ")]
        facts = [*self._left_out(), *self._given_up(), *self._tls(), *self._units()]
        return [answer, *chosen, *self._first(), "", *facts, *self._warnings()]

    def _first(self) -> list[str]:
        """The first request, a part a line."""
        first = self.counts["first_request"]
        if first is None:
            return []
        log = f" of {first['log']}" if first["log"] else ""
        named = "" if self.log["client_names"] == "as-logged" else ", stored as a pseudonym"
        host = f"to {first['host']}" if first["has_host"] else f'to "{first["host"]}"'
        status = "" if first["status"] is None else f"{first['status']}, "
        rows = {
            "start": moment(first["start_unix_s"]),
            "client": "not in this line" if first["client"] is None else f"{first['client']}{named}",
            "request": f"{first['method']} {elided(first['url'], 60)} {host}, "
            f"{_bytes(first['request_bytes'], first['request_bytes_logged'], 'of header (estimated)')}",
            "response": status + _bytes(first["response_bytes"], first["response_bytes_logged"], "of header (assumed)"),
            "server time": self._server_time(first),
        }
        place = 2 + max(map(len, rows)) + 2
        texts = (
            wrap(text, 80, initial_indent=f"  {name}".ljust(place), subsequent_indent=" " * place)
            for name, text in rows.items()
        )
        formats = elided(", ".join(_SPELLED.get(each, each) for each in self.counts["formats"]), 40)
        head = f"first request, from line {first['line']}{log} ({formats}, {self._how_found()})"
        return ["", head, *chain.from_iterable(texts)]

    def _server_time(self, first: Mapping[str, Any]) -> str:
        if self.log.get("server_time") == "none":
            return "left out, as asked for"
        if self.counts["with_server_time"] == 0:
            where = "what is read of this log" if self.counts["unread_fields"]["requests"] else "this log"
            return f"not in {where}: servers answer at once"
        if first["server_s"] is None:
            return "not in this line"
        wait = "" if first["wait_s"] is None else f", {seconds(first['wait_s'])} until the first byte"
        return f"{seconds(first['server_s'])}{wait}"

    def _left_out(self) -> list[str]:
        counts = self.counts
        dropped = sorted(counts["dropped"].items(), key=lambda item: (-item[1], item[0]))
        parts = [f"{count(lines)} {counts['meanings'].get(reason, reason)}" for reason, lines in dropped]
        if counts["unreadable_lines"]:
            parts.append(f"{count(counts['unreadable_lines'])} unreadable")
        lines = counts["unreadable_lines"] + sum(lines for _, lines in dropped)
        of = plural(counts["lines"], "line")
        text = f"{count(lines)} of {of}: {', '.join(parts)}" if lines else f"none of {of}"
        text = "; ".join([text, *unread(counts)])
        return wrap(text, 80, initial_indent="left out   ", subsequent_indent="  ")

    def _given_up(self) -> list[str]:
        """The requests that were given up and are in, with the bytes that came before."""
        given_up = self.counts["given_up"]
        if not given_up["requests"]:
            return []
        are = "is" if given_up["requests"] == 1 else "are"
        requests = plural(given_up["requests"], "request")
        return [f"given up   {requests} {are} in, with the {size(given_up['bytes'])} that came before"]

    def _tls(self) -> list[str]:
        """The part of requests under TLS, where not all are known to be, or known not to be."""
        secure, clear, unknown = (self.counts["tls"][name] for name in ("https", "http", "unknown"))
        if not secure or not clear + unknown:
            return []
        not_said = f"; unknown of {plural(unknown, 'request')}, taken for TLS where a leg has it" if unknown else ""
        apart = ", tunnels apart" if self.counts["tunnels"]["requests"] else ""
        text = f"{share(secure / (secure + clear))} of the requests that name their scheme{apart}{not_said}"
        return wrap(text, 80, initial_indent="TLS        ", subsequent_indent="  ")

    def _units(self) -> list[str]:
        """The unit of times, where the log as a whole decided about it."""
        if not self.counts["with_server_time"]:
            return []
        said = (wrap(text, 80, initial_indent="unit       ", subsequent_indent="  ") for text in self.counts["units"])
        return [*chain.from_iterable(said)]

    def _warnings(self) -> list[str]:
        """Possible errors of the requests, a paragraph each."""
        counts = self.counts
        warnings = [_repeated(each) for each in counts["repeats"]] if "repeated" in counts["dropped"] else []
        spans = sum(counts["unreadable_by"].get(name, 0) for name in _SPANS)
        if spans:
            lines = counts["unreadable_lines"]
            of = f"{share(spans / lines)} of {plural(lines, 'unreadable line')}"
            warnings.append(f"{of} have a time that cannot be read: the slowest requests may be missing")
        if self.log.get("keep") == "lines" and not counts["kept_apart"]:
            marks = "a health check, an inner tier or a repeat"
            warnings.append(f"--keep lines takes what --keep all does: no line is marked as {marks}")
        if counts["unreadable"]:
            line = counts["unreadable"][0]
            warnings.append(f"unreadable: {line['log']}line {line['line']}: {line['why']}")
        named = counts["caching"].get("authorized", {"requests": 0})["requests"]
        if named >= _ALL_NAMED * sum(part["requests"] for part in counts["caching"].values()):
            warnings.append(
                f"{plural(named, 'request')} named a user, and no cache may serve them; if it is no log-in, leave it "
                """out by --log-format '{client} {} {} [{start}] "{request}" {status} {bytes}'"""
            )
        gaps = counts["gaps"]
        if gaps["number"]:
            warnings.append(
                f"{plural(gaps['number'], 'gap')} of more than {plain(gaps['longer_than_s'] / 3600, 3)} h, the longest "
                f"{_span(gaps['longest_s'])}; choose a part with --busiest 1h or --from"
            )
        warnings += doubts({"log": self.log, **counts})
        said = (wrap(f"warning: {text}", 80, subsequent_indent="  ", break_on_hyphens=False) for text in warnings)
        return [*chain.from_iterable(said)]

    def _repr_html_(self) -> str:
        remarks = "".join(f"<li>{escape(remark)}</li>" for remark in self.remarks())
        return f"{to_html([self.sheet()])}<ul>{remarks}</ul>"


_SPELLED = {"clf": "common log format"}
"""Formats with a longer name in the field."""


def _by_share(parts: Mapping[str, Mapping[str, int]]) -> str:
    """`https 90 %, http 10 %` of requests, the most frequent first."""
    whole = sum(part["requests"] for part in parts.values())
    ordered = sorted(parts.items(), key=lambda item: (-item[1]["requests"], item[0]))
    return ", ".join(f"{name} {share(part['requests'] / whole)}" for name, part in ordered) or "–"


def _span(length_s: float) -> str:
    """A time of up to years: ``"27.6 days"``."""
    return seconds(length_s) if length_s < 172_800 else f"{plain(length_s / 86_400, 3)} days"


def _bytes(in_table: int, logged: int | None, missing: str) -> str:
    """A size in the table, and where it is from."""
    if logged == in_table:
        return f"{in_table:,} B"
    if logged is None or logged == 0 or logged > in_table:
        return f"{in_table:,} B ({missing.partition('(')[2]}"
    return f"{in_table:,} B: {logged:,} B logged + {in_table - logged:,} B {missing}"


def _repeated(each: Mapping[str, Any]) -> str:
    """Lines of a log that another one has too, in a sentence."""
    if each["is_whole"] and each["log"] == each["other"]:
        return f"{each['log']} is given twice: read once"
    if each["is_whole"]:
        return f"all {plural(each['lines'], 'line')} of {each['log']} are in {each['other']} too: read once"
    return f"{each['log']} begins with {plural(each['lines'], 'line')} that {each['other']} ends with: read once"
