"""Options of an import, for each command that reads a log into a request table."""

import functools
import inspect
import re
from collections.abc import Callable
from typing import Annotated, Any

import typer

from farweb import _core

_RTT_MS_MAX = 86_400_000  # a day, longer than the longest delay of a scenario
_BYTES_MAX = 2**53  # as in a request table

_FORMATS = ", ".join(_core.log_formats())


def _of_log(*names: str, **options: Any) -> Any:
    """An option in a panel of its own."""
    return typer.Option(*names, rich_help_panel="Log", **options)


LogFormat = Annotated[
    str | None,
    _of_log(
        metavar="STRING",
        help="A format string instead, alone or in its statement: Squid's logformat, nginx's log_format, Apache's "
        "LogFormat, or names in braces: "
        '{client} [{start}] "{request}" {status} {bytes} {elapsed:ms}.',
    ),
]
Fields = Annotated[
    list[str] | None,
    _of_log(
        "--field",
        metavar="NAME=KEY",
        help="A key of JSON objects: start=ts, url=req.path, bytes=n, elapsed=took:ms. May be repeated.",
    ),
]
ElapsedUnit = Annotated[
    str | None,
    _of_log(
        metavar="UNIT",
        help="Unit of times in a log whose format leaves it open: s, ms, us or ns (default: as the log shows it).",
    ),
]


def import_options(
    format_: Annotated[
        str,
        _of_log("--format", metavar="FORMAT", help=f"What a log is: {_FORMATS}; auto: what its first lines show."),
    ] = "auto",
    log_format: LogFormat = None,
    fields: Fields = None,
    from_: Annotated[
        str | None,
        _of_log(
            "--from",
            metavar="TIME",
            help="Only requests that start then or later: 2015-05-17 or 2015-05-17T10:05:03, in the zone of the log.",
        ),
    ] = None,
    to: Annotated[
        str | None, _of_log(metavar="TIME", help="Only requests that start before; a date is its beginning.")
    ] = None,
    busiest: Annotated[
        str | None,
        _of_log(metavar="SPAN", help="Only the span of this length with most bytes of responses, such as 1h."),
    ] = None,
    client_key: Annotated[
        str | None,
        _of_log(
            metavar="TEXT",
            help="One text gives clients the same pseudonyms in all logs; without it each log has a key of its own.",
        ),
    ] = None,
    keep_clients: Annotated[
        bool, _of_log("--keep-clients", help="Write clients as the log names them, without pseudonyms.")
    ] = False,
    client_from_forwarded: Annotated[
        bool,
        _of_log(
            "--client-from-forwarded",
            help="The client is the first address of X-Forwarded-For: the log is of a server behind a proxy.",
        ),
    ] = False,
    client: Annotated[
        str | None,
        _of_log(metavar="PATTERN", help='Only requests of clients like this, such as "10.0.*".'),
    ] = None,
    sample: Annotated[
        str | None, _of_log(metavar="SHARE", help="Only a share of the clients or hosts, whole, such as 10%.")
    ] = None,
    sample_by: Annotated[str | None, _of_log(help="client or host: what is sampled (default: client).")] = None,
    seed: Annotated[int | None, _of_log(min=0, max=2**53, help="Seed of the sample (default: 1).")] = None,
    keep: Annotated[
        str | None,
        _of_log(
            help="misses: requests that no cache answered (default of Squid, nginx, Varnish); crossed: revalidations "
            "too; all: hits as well (default of CDNs); lines: health checks, inner tiers and repeated lines too."
        ),
    ] = None,
    errors: Annotated[
        bool, _of_log(help="Keep answers with a status other than 2xx and 3xx, such as 404, or not.")
    ] = True,
    tunnels: Annotated[
        bool, _of_log(help="Keep CONNECT tunnels, each as one request and one response of all its bytes, or not.")
    ] = True,
    bypass: Annotated[
        str,
        _of_log(
            metavar="LIST",
            help="Requests that caches pass by although RFC 9111 lets them store: query, set-cookie, cookie, with "
            "commas between them.",
        ),
    ] = "",
    rtt_ms: Annotated[
        float,
        _of_log(
            min=0, max=_RTT_MS_MAX, help="Round-trip time that recorded times contain, in ms; taken off server times."
        ),
    ] = 0.0,
    request_bytes: Annotated[
        int | None,
        _of_log(
            min=1,
            max=_BYTES_MAX,
            help="Size of every request, in bytes (default: as the log has it, or estimated from its URL).",
        ),
    ] = None,
    assume_bytes: Annotated[
        int | None,
        _of_log(
            min=1,
            max=_BYTES_MAX,
            help="Size of a response that the log does not give, in bytes; such requests are left out without it.",
        ),
    ] = None,
    server_time: Annotated[
        str, _of_log(help="elapsed: what the log has, or recorded times less the round trip; none: leave it out.")
    ] = "elapsed",
    elapsed_unit: ElapsedUnit = None,
    server_name: Annotated[str, _of_log(help="Host of requests whose line does not name it.")] = "server",
    max_unreadable: Annotated[float, _of_log(min=0, max=1, help="Share of lines that may be unreadable.")] = 0.01,
) -> dict[str, Any]:
    """Arguments of `farweb.inputs.importer.import_log`, but for the log and the table."""
    return {
        "format": format_,
        "busiest_s": None if busiest is None else _quantity("--busiest", busiest, "s", "a span such as 1h or 90 min"),
        "log_format": log_format,
        "fields": keys_of(fields),
        **({} if keep is None else {"keep": keep}),
        "errors": errors,
        "tunnels": tunnels,
        "bypass": bypass,
        "rtt_ns": round(rtt_ms * 1e6),
        "request_bytes": request_bytes,
        "assume_bytes": assume_bytes,
        "server_time": server_time,
        "elapsed_unit": elapsed_unit,
        "server_name": server_name,
        "client_key": client_key,
        "keep_clients": keep_clients,
        "client_from_forwarded": client_from_forwarded,
        "client": client,
        "from_": from_,
        "to": to,
        **_sample(sample, sample_by, seed),
        "max_unreadable": max_unreadable,
    }


def given_options(context: typer.Context) -> list[str]:
    """Options of an import that the command line has."""
    of_log = [each for each in context.command.params if getattr(each, "rich_help_panel", None) == "Log"]
    return [each.opts[0] for each in of_log if is_given(context, each.name or "")]


def is_given(context: typer.Context, name: str) -> bool:
    """True for a parameter of a command that its command line has."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def takes_import_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of an import. They arrive, read, as `importing`."""
    own, of_log = inspect.signature(command).parameters, inspect.signature(import_options).parameters

    @functools.wraps(command)
    def run(**values: Any) -> None:
        importing = import_options(**{name: values.pop(name) for name in of_log})
        command(**values, importing=importing)

    both = [each for name, each in {**own, **of_log}.items() if name != "importing"]
    both = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in both]
    run.__signature__ = inspect.Signature(both)  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in both}
    return run


def _quantity(option: str, text: str, base: str, allowed: str) -> float:
    from farweb.text.parse import QuantityError, parse

    minutes = re.fullmatch(r"([\d.]+) ?m", text) if base == "s" else None  # beside 1h it is no typing error for ms
    try:
        quantity = parse(f"{minutes[1]} min" if minutes else text)
    except QuantityError:
        quantity = None
    if quantity is None or quantity.base != base or quantity.number <= 0:
        raise typer.BadParameter(f"{option}: found {text}; write {allowed}")
    return float(quantity.number)


def keys_of(pairs: list[str] | None) -> dict[str, str] | None:
    """Keys by their meaning as `import_log` takes them, or None without one."""
    if pairs is None:
        return None
    keys: dict[str, str] = {}
    for pair in pairs:
        name, equals, key = pair.partition("=")
        if not equals or not name or not key:
            raise typer.BadParameter(f"--field: found {pair}; write NAME=KEY, such as start=ts or elapsed=took:ms")
        keys[name] = f"{keys[name]},{key}" if name in keys else key
    return keys


def _sample(sample: str | None, by: str | None, seed: int | None) -> dict[str, Any]:
    """Read the options of a sample as `import_log` takes them, or nothing for no sample."""
    if sample is None:
        for option, value in (("--sample-by", by), ("--seed", seed)):
            if value is not None:
                raise typer.BadParameter(f"{option}: is of a sample; write its share as well, --sample 10%")
        return {}
    share = _quantity("--sample", sample, "1", "a share such as 10%")
    return {"sample": share, "sample_by": by or "client", "seed": 1 if seed is None else seed}
