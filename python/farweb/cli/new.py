"""`farweb new`: writes a commented scenario to start from."""

import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from farweb.cli.importing import QUESTIONS, Imported
from farweb.cli.verbs import Call, UsageError, verb
from farweb.errors import WorkloadError
from farweb.text.words import capital, command, listed

if TYPE_CHECKING:
    from farweb.check.check import Check
    from farweb.inputs.new import Way
    from farweb.results.design import Design


@verb(
    *QUESTIONS,
    path="--path KIND",
    compare="--compare KIND,KIND",
    proxy="--proxy KIND",
    queue="--queue KIND[,KIND]",
    cache="--cache SIZE[,POLICY]",
    shield="--shield SIZE[,POLICY]",
    log="--log LOG",
    seen_at="--seen-at PLACE",
    out="",
    busiest_s="",
    rtt_ns="",
    dynamic="",
)
def new(
    call: Call,
    file: Path,
    *,
    path: str = "geo",
    compare: str | None = None,
    proxy: str = "none",
    queue: str | None = None,
    cache: str | None = None,
    shield: str | None = None,
    log: Sequence[Path] = (),
    seen_at: str | None = None,
    imported: Imported,
) -> None:
    """Write a commented scenario to start from, with rates and delays from publications that it names.

    A log is imported into NAME-requests.parquet and NAME-hosts.tsv; a table that was imported gets the latter. HTTP
    versions, TLS, tunnels and the server of the log go into the scenario. Without a log the requests come from a family
    of traces.

    Args:
        file: The scenario to write, such as link.toml.
        path: The long part of the path: starlink, geo, 5g, lte, docsis, dsl, cable, …; of years past: geo-2021, …
        compare: Several paths instead, in one scenario with a sweep: starlink,geo,5g. One may name a proxy of its own:
            geo+pep,starlink.
        proxy: none, split, mux or pep, what satellite modems have. split: connections end at the far end; mux: two
            proxies share a few; both decrypt. pep: TCP alone ends, at both ends of the long part.
        queue: Queue of the long part in both directions, in place of the path's own: drop-tail, drop-head, codel,
            fq-codel, pie; several make a sweep.
        cache: A cache between the clients and the long part: "10 GB" (lru), "10 GB,s3-fifo"; none: its baseline.
        shield: A second level of --cache, behind the long part.
        log: A log to simulate, imported beside the scenario; may be repeated. Or a request table.
        seen_at: Where the log was written. server, proxy-clients (towards its clients, hits too): each client has
            connections of its own; proxy-servers (towards servers): all share the proxy's. Default: by the log.

    Examples:

        farweb new geo.toml --log access.log.gz

        farweb new links.toml --log access.log.gz --compare starlink,geo,5g,docsis

        farweb new modems.toml --log access.log.gz --compare geo,geo+pep,starlink

        farweb new office.toml --log access.log.gz --seen-at proxy-clients

        farweb new edge.toml --log access.log.gz --cache 10GB --shield 90GB

        farweb new proxy.toml --log access.log --rtt-ms 680 --busiest 1h

        farweb new starlink.toml --path starlink --proxy mux

        farweb new modem.toml --path geo --proxy pep

        farweb new router.toml --path cable --queue drop-tail,fq-codel
    """
    from farweb.inputs.new import PROXIES, QUEUES, SEEN_AT, Way, files_of, new_scenario, table_of
    from farweb.inputs.paths import PATHS, STAND_FOR, check_words
    from farweb.library.scenario import Scenario

    options = imported.options(call)
    compared = [] if compare is None else list(dict.fromkeys(each.strip() for each in compare.split(",")))
    paths = (*PATHS, *STAND_FOR)
    if "," in path:
        raise UsageError(f"--path: found {path}; it is one path, and --compare {path} sweeps several")
    check_words("--path", [path], paths)
    ways = [Way.of(each, proxy) for each in compared]
    check_words("--compare", (way.path for way in ways), paths)
    check_words("--compare", (way.proxy for way in ways), PROXIES)
    check_words("--proxy", [proxy], PROXIES)
    queues = [] if queue is None else list(dict.fromkeys(each.strip() for each in queue.split(",")))
    check_words("--queue", queues, QUEUES)
    if len(queues) > 1 and compare is not None:
        raise UsageError(f"--queue: found {queue}; beside --compare, a sweep over paths, write one")
    check_words("--seen-at", [] if seen_at is None else [seen_at], SEEN_AT)
    simulated = {(way.kind.name, way.proxy) for way in ways}
    if compare is not None and len(simulated) == 1:
        same = f", which are one path, {ways[0].kind.name}" if len(compared) > 1 else ""
        raise UsageError(f"--compare: found {compare}{same}; write two paths or more, such as starlink,geo,5g")
    if compare is not None and "path" in call.typed:
        raise UsageError("--compare names all paths; leave --path out")
    if seen_at is not None and not log:
        raise UsageError("--seen-at says where a log was written: name it with --log")
    if shield is not None and cache is None:
        raise UsageError("--shield is the second level of --cache: name both, or --cache none")
    table = table_of(log, options)
    if table is not None and (given := imported.typed(call)):
        raise UsageError(f"{given[0]}: is of logs; a request table is simulated as it is")
    files = files_of(file, log, table)
    call.takes(*files)
    with call.progress("importing") as show:
        written = new_scenario(
            file,
            path=path,
            compare=compared,
            proxy=proxy,
            queues=queues,
            cache="none" if cache == "none" else None if cache is None else _cache("--cache", cache),
            shield=None if shield is None else _cache("--shield", shield),
            seen_at=seen_at,
            log=log or None,
            progress=show,
            **options,
        )
    scenario = Scenario.load(file)
    checked = scenario.check()
    warnings = [*written.remarks, *checked.warnings]
    if call.as_json or not call.is_quiet:
        swept = "" if len(compared) > 1 or scenario.design is None else _swept(scenario.design)
        screen = written.screen(_path(ways or [Way(path, proxy)], checked), swept)
        call.result({**written.to_dict(), "warnings": warnings}, screen)
    for warning in warnings:
        call.note(f"warning: {warning}")
    call.note(f"wrote {', '.join(map(str, files))}")
    call.note(f"change: --path, --proxy, --queue, --cache, or edit it    next: {command('check', file)}")


def _path(ways: Sequence["Way"], checked: "Check") -> str:
    """The path in a sentence, or the paths that a sweep compares."""
    from farweb.results.legs import decrypting
    from farweb.text.quantities import rate, seconds

    kind = ways[0].kind
    if len(ways) > 1:
        proxies = [f" with {way.proxy}" if way.proxy != "none" else "" for way in ways]
        titles = [f"{way.kind.title}{proxy} ({way.kind.dated})" for way, proxy in zip(ways, proxies, strict=True)]
        return f"A sweep over {len(ways)} paths: {listed(titles)}"
    legs = checked.figures["legs"]
    narrow = min(legs, key=lambda leg: leg["bottleneck_down_bps"] or float("inf"))
    trip = seconds(sum(leg["rtt_ns"] for leg in legs) / 1e9)
    up, down = rate(narrow["bottleneck_up_bps"]), rate(narrow["bottleneck_down_bps"])
    mean = " in the mean" if any(link["down"]["varies"] for link in checked.figures["links"]) else ""
    decrypted = decrypting(checked.scenario)
    end = f".{decrypted}" if decrypted else ""
    return f"{capital(kind.title)} ({kind.dated}): round trip {trip}, {up} up, {down} down{mean}{end}"


def _swept(design: "Design") -> str:
    """The sweep of a single path, over its queues or their unpublished depths."""
    from farweb.inputs.new import QUEUES

    labels = [str(level.label) for level in design.factors[0].levels]
    if labels[0] in QUEUES:
        return f"queues {listed(labels)} (farweb sweep)"
    first, *_, last = design.factors[0].levels
    return f"queues of {first.label} to {last.label}, as no depth is published (farweb sweep)"


def _cache(option: str, text: str) -> tuple[str, str]:
    """Capacity and policy of a cache, as SIZE or SIZE,POLICY."""
    from farweb.cache.settings import USUAL_POLICIES, read_capacity
    from farweb.text.parse import QuantityError, parse

    size, _, policy = (part.strip() for part in text.partition(","))
    policy = policy or "lru"
    if policy not in USUAL_POLICIES:
        raise UsageError(f"{option}: found {text}; write one of the policies {', '.join(USUAL_POLICIES)}")
    with contextlib.suppress(WorkloadError):
        if read_capacity(size).bytes is not None:
            return size, policy
    with contextlib.suppress(QuantityError):
        if parse(size).number == 0:
            none = "write --cache none" if option == "--cache" else f"leave {option} out"
            raise UsageError(f"{option} {text}: a cache of no size keeps nothing; {none} for the path without it")
    raise UsageError(
        f"{option}: found {text}; write a size and a policy, such as 10 GB,s3-fifo; farweb workload cache says "
        "which share of the footprint a size is"
    )
