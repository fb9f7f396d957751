"""Random scenarios: a number makes a case, the same one on every machine.

Everything that the scenario format can say of a run occurs, rare things too; workloads are small, and a run takes some
hundredths of a second. `random.Random` draws and not hypothesis: a case is its number, whatever has changed in a
test, and `minimise` works on the scenario itself, so also on one that a person has written.
"""

from itertools import pairwise

from explorer.case import HOSTS, REQUESTS, Case, Row
from explorer.draw import Draw, Table
from explorer.legs import ALONE, draw_handshake, draw_leg, draw_splits
from explorer.queues import LATE
from explorer.reading import PRESETS

POLICIES = ["fifo", "lru", "rand", "lfu", "gds", "gdsf", "arc", "s3-fifo", "sieve", "w-tinylfu"]


def generate(number: int) -> Case:
    """Draw case `number`."""
    draw = Draw(number)
    is_transfer = draw.chance(0.1)
    is_rough = draw.chance(0.5)
    legs = 1 if is_transfer else draw.one(1, 1, 2, 2, 2, 3, 4)
    spans = [draw.one(1, 1, 1, 2, 3) for _ in range(legs)]
    nodes = ["clients", *(f"n{place}" for place in range(1, sum(spans))), "servers"]
    places = [sum(spans[:leg]) for leg in range(legs + 1)]
    has_hosts = draw.chance(0.25)
    release = draw.one("at-once", "after-wait", "delayed", "paced", "paced", *([] if is_transfer else ALONE))
    scenario: Table = {"format": 1, "name": f"case {number}"}
    scenario["path"] = {
        "nodes": nodes,
        "link": [{way: _direction(draw, is_rough, is_transfer) for way in ("up", "down")} for _ in nodes[1:]],
    }
    scenario["leg"] = [
        {"from": nodes[places[leg]], "to": nodes[places[leg + 1]]}
        | draw_leg(
            draw,
            is_last=leg + 1 == legs,
            spans=spans[leg],
            is_transfer=is_transfer,
            has_hosts=has_hosts,
            release=release,
        )
        for leg in range(legs)
    ]
    caches = _caches(draw, nodes, set(places[1:-1]), scenario["leg"], places)
    if caches:
        scenario["cache"] = caches
    if draw.chance(0.9) or release in ALONE:
        scenario["origin"] = {"release": release}
    if draw.chance(0.25):
        scenario["clients"] = {"give_up": draw.one("50 ms", "400 ms", "1 s", "3 s", "10 s", "60 s")}
    requests = _requests(draw, nodes, caches, is_transfer)
    workload, requests = _workload(draw, requests)
    scenario["workload"] = {"requests": REQUESTS} | workload
    hosts = _hosts(draw, requests) if has_hosts else []
    if hosts:
        scenario["workload"]["hosts"] = HOSTS
    run = {"seed": draw.whole(0, 1000)} | _run(draw)
    if run:
        scenario["run"] = run
    record = _record(draw, len(nodes) - 1)
    if record:
        scenario["record"] = record
    if draw.chance(0.5):
        requests = _asked_by_clients(draw, requests)
    if draw.chance(0.25):
        scenario["clients"] = scenario.get("clients", {}) | {"share": draw.one("each", "all")}
    if units := _drawn_anew(requests, draw.chance(0.2)):
        scenario["workload"]["resample"] = units
    if any(row["object"] is not None for row in requests) and draw.chance(0.4):
        requests = _treated(draw, requests)
    are_known = not {"load", "rate", "resample"} & set(scenario["workload"])  # as the judge knows methods
    has_connect = any(row.get("method") == "CONNECT" for row in requests)
    if has_connect and are_known and not is_transfer and draw.chance(1 / 3):
        scenario["clients"] = scenario.get("clients", {}) | {"tunnels": {"tls": draw_handshake(draw)}}
    for link in scenario["path"]["link"]:
        for name, way in list(link.items()):
            if draw.chance(0.12):
                way |= _changes(draw, way["rate"] != "unlimited", name == "up", is_transfer)
            if way["rate"] != "unlimited" and draw.chance(0.05):
                variation = {"sigma": draw.one(0, 0.13, 0.5), "every": draw.one("1 ms", "100 ms")}
                way["variation"] = variation | draw.some({"correlation": 0.79}, 0.7)
            if draw.chance(0.05):
                normal = {"normal": "2 ms"} | draw.some({"correlation": 0.5}, 0.7)
                way["jitter"] = draw.one({"uniform": "3 ms"}, normal)
        if draw.chance(0.08):
            link["handover"] = _handover(draw, link, is_transfer)
        if draw.chance(0.05):
            link["preset"] = draw.one(*PRESETS)
            for name in ("up", "down"):
                if draw.chance(0.5):
                    del link[name]
            if "handover" in PRESETS[link["preset"]] and _is_short(link):
                link["handover"] = link.get("handover", {}) | {"delay": ["0 ms", "2 ms"]}
    holding = {cache["node"] for cache in caches}
    for leg, (near, far) in zip(scenario["leg"], pairwise(places), strict=True):
        inside = nodes[near + 1 : far]
        if inside and not holding & set(inside) and leg["carrier"]["kind"] not in ("transfer", "webmux"):
            leg |= draw_splits(draw, inside)
    for link in scenario["path"]["link"]:
        for way in (link[name] for name in ("up", "down") if name in link):
            can_fade = way["rate"] != "unlimited" and "steps" not in way and not is_transfer
            if can_fade and draw.chance(0.05):
                way["fade"] = _fade(draw)
    files = {}
    for place, link in enumerate(scenario["path"]["link"]):
        for name in (name for name in ("up", "down") if name in link):
            if "fade" not in link[name] and draw.chance(0.05):
                file = f"{name}-{place}.csv"
                has_rate = link[name]["rate"] != "unlimited"
                files[file] = _schedule(draw, has_rate, name == "up", is_transfer)
                kept = {key: value for key, value in link[name].items() if key not in _STEPPED}
                link[name] = kept | {"schedule": file, "schedule_after": draw.one("hold", "repeat")}
    for place, link in enumerate(scenario["path"]["link"]):
        for name in (name for name in ("up", "down") if name in link and not {"handover", "preset"} & set(link)):
            if _can_trace(link[name]) and draw.chance(0.08):
                file = f"{name}-{place}.trace"
                files[file] = _trace(draw)
                kept = {key: value for key, value in link[name].items() if key != "rate"}
                link[name] = kept | {"trace": file} | _of_trace(draw)
    for link in scenario["path"]["link"]:
        for way in (link[name] for name in ("up", "down") if name in link):
            if way.get("rate") != "unlimited" and draw.chance(0.1):
                way |= {"dama": _dama(draw)} if _is_plain(link, way) else {"wake": _wake(draw)}
    return Case(scenario, requests, hosts, files)


def _direction(draw: Draw, is_rough: bool, is_transfer: bool) -> Table:
    rate = draw.one("unlimited", "64 kbit/s", "128 kbit/s", "2 Mbit/s", "2 Mbit/s", "10 Mbit/s", "34.368 Mbit/s")
    way: Table = {
        "rate": rate,
        "delay": draw.one("0 ms", "1 ms", "5 ms", "30 ms", "60 ms", "250 ms"),
    }
    if is_rough and draw.chance(0.25):
        way["queue"] = _queue(draw)
    elif is_rough and draw.chance(0.4):
        counts = draw.one("all", "all", "waiting")
        limits = [
            "4 packets",
            "10 packets",
            "6000 B",
            "20000 B",
            *(["0 packets", "0 B", "2 packets"] if counts == "waiting" else []),
            *([] if rate in ("unlimited", "64 kbit/s", "128 kbit/s") else ["30 ms"]),  # of slower ones: no packet
        ]
        way["queue"] = draw.one(*limits)
        if counts == "waiting" or draw.chance(0.2):
            way["queue_counts"] = counts
    if is_rough and draw.chance(0.4):
        way["loss"] = _loss(draw, is_transfer)
    elif draw.chance(0.03):
        way["loss"] = {"kind": "none"}
    return way


def _queue(draw: Draw) -> str | Table:
    """A discipline, by its name or with values that are near those of its queue."""
    kind = draw.one("drop-tail", "drop-head", "codel", "fq-codel", "pie")
    if kind != "drop-head" and draw.chance(0.3):
        return kind
    limit = {"limit": draw.one("2 packets", "10 packets", "6000 B", "100 packets")}
    if kind in ("drop-tail", "drop-head"):
        counts = draw.some({"counts": draw.one("all", "waiting")}, 0.7)
        return {"kind": kind} | counts | (limit if kind == "drop-head" else draw.some(limit, 0.8))
    if kind == "pie":
        values: Table = {"target": draw.one("1 ms", "30 ms"), "update": draw.one("5 ms", "16 ms"), "burst": "20 ms"}
    else:
        values = {
            "target": draw.one("1 ms", "8 ms"),
            "interval": draw.one("20 ms", "60 ms"),
            "variant": draw.one("linux", "rfc8289"),
        }
    if kind == "fq-codel":
        values |= {"quantum": draw.one("300 B", "1500 B", "3000 B"), "flows": draw.one("exact", "exact", 2)}
    values["ecn"] = draw.chance(0.7)
    return {"kind": kind} | draw.some(limit | values, 0.6)


def _changes(draw: Draw, has_rate: bool, is_up: bool, is_transfer: bool) -> Table:
    """Steps and outages; the judge knows when packets leave towards the clients only where their delay is constant."""
    steps = []
    for place in range(draw.whole(1, 3)):
        rate = {"rate": draw.one("32 kbit/s", "1 Mbit/s", "20 Mbit/s")} if has_rate else {}
        loss = {} if is_transfer else {"loss": draw.one(0, 0.05)}
        delay = {"delay": draw.one("0 ms", "3 ms", "80 ms")} if is_up else {}
        if kept := draw.some(rate | loss | delay, 0.7):
            steps.append({"at": f"{500 * place + draw.whole(0, 400)} ms"} | kept)
    changes: Table = {"steps": steps} if steps else {}
    if steps and draw.chance(0.5):
        changes["steps_every"] = draw.one("1500 ms", "4 s")
    if has_rate and draw.chance(0.6):
        outage = {"at": draw.one("0 s", "70 ms", "1 s"), "lasts": draw.one("1 ms", "90 ms", "500 ms")}
        mode = {} if is_transfer else {"mode": draw.one("hold", "drop")}
        changes["outage"] = [outage | draw.some({"every": draw.one("600 ms", "2 s")} | mode, 0.7)]
    return changes


def _is_plain(link: Table, way: Table) -> bool:
    """True where a link has one rate, and a queue that decides as packets arrive."""
    changing = {"trace", "schedule", "fade", "outage", "variation"}
    is_changing = not changing.isdisjoint(way) or any("rate" in step for step in way.get("steps", []))
    queue = way.get("queue")
    kind = queue["kind"] if isinstance(queue, dict) else queue
    return not is_changing and not {"preset", "handover"} & set(link) and kind not in LATE


def _dama(draw: Draw) -> Table:
    times = {
        "frame": draw.one("10 ms", "100 ms"),
        "request_every": draw.one("40 ms", "250 ms"),
        "grant_after": draw.one("0 ms", "70 ms", "660 ms"),
    }
    rates = {"cra": draw.one("8 kbit/s", "32 kbit/s"), "max": draw.one("32 kbit/s", "64 kbit/s")}
    return draw.some(times | rates | {"kind": draw.one("vbdc", "rbdc+vbdc")}, 0.6)


def _wake(draw: Draw) -> Table:
    return {"after": draw.one("0 ms", "500 ms", "10 s"), "delay": draw.one("1 ms", "80 ms", "500 ms")}


def _can_trace(way: Table) -> bool:
    """True where a trace may stand in place of a rate."""
    is_changing = not {"fade", "outage", "variation", "schedule"}.isdisjoint(way)
    return way["rate"] != "unlimited" and not is_changing and not any("rate" in step for step in way.get("steps", []))


def _trace(draw: Draw) -> str:
    """Opportunities that are few or many, with gaps."""
    period = draw.one(40, 250, 1000, 3000)
    number = max(1, int(period * draw.one(0.02, 0.2, 1, 3)))
    times = sorted(draw.whole(0, period) for _ in range(number - 1))
    return "".join(f"{time}\n" for time in [*times, period])


def _of_trace(draw: Draw) -> Table:
    """Keys beside a trace; one that ends does so at a time that the judge knows."""
    sizes = {"trace_bytes": draw.one("576 B", "3000 B"), "trace_overhead": draw.one("0 B", "20 B")}
    end = draw.one({"trace_repeat": True, "trace_offset": "random"}, {"trace_repeat": False, "trace_offset": "3 ms"})
    return draw.some(sizes) | (end if draw.chance(0.5) else {})


_STEPPED = ("steps", "steps_every", "outage")


def _schedule(draw: Draw, has_rate: bool, is_up: bool, is_transfer: bool) -> str:
    """Rows of a file, at the end of which something is sent; the judge knows delays as of steps."""
    columns = {"rate_mbps": ["", "0.032", "1", "20", "0"]} if has_rate else {}
    columns |= {"delay_ms": ["", "3", "80"]} if is_up else {}
    columns |= {"loss": ["", "0", "0.05"]} if not is_transfer else {}
    columns |= {"state": ["", "up", "down", *([] if is_transfer else ["drop"])]} if has_rate else {}
    kept = [name for name in columns if draw.chance(0.8)]
    first = {name: columns[name][-1] if name in ("delay_ms", "loss") else "" for name in kept}
    last = {name: {"rate_mbps": "2", "state": "up"}.get(name, "") for name in kept}
    between = [{name: draw.one(*columns[name]) for name in kept} for _ in range(draw.whole(1, 3))]
    rows = [first, *between, last]
    times = (f"{(500 * place + draw.whole(0, 400)) / 1000}" for place in range(len(rows)))
    lines = [",".join([time, *row.values()]) for time, row in zip(times, rows, strict=True)]
    return "\n".join([",".join(["time_s", *kept]), *lines]) + "\n"


def _fade(draw: Draw) -> Table:
    deepest = {"at": draw.one("300 ms", "1 s"), "depth": draw.one("3 dB", "30 dB")}
    ends = ({"at": at, "depth": "0 dB"} for at in ("0 s", "2500 ms"))
    fade: Table = {"attenuation": [next(ends), deepest, next(ends)]}
    fade["clear"] = draw.one("8 dB", "16.05 dB")
    return fade | draw.some({"margin": draw.one("0 dB", "1 dB"), "report": draw.one("50 ms", "1100 ms")}, 0.7)


def _is_short(link: Table) -> bool:
    """True where a delay of a link is below the 2 ms that a handover may take from it."""
    ways = [link[name] for name in ("up", "down") if name in link]
    delays = {each.get("delay") for way in ways for each in (way, *way.get("steps", ()))}
    return bool(delays & {"0 ms", "1 ms"})


def _handover(draw: Draw, link: Table, is_transfer: bool) -> Table:
    sooner = "0 ms" if _is_short(link) else "-2 ms"
    loss = {} if is_transfer else {"loss": draw.one(0, 0.5), "loss_for": draw.one("0 ms", "75 ms")}
    return {"every": "2 s"} | draw.some(
        {
            "phase": draw.one("random", "500 ms"),
            "gap": draw.one(["0 ms", "90 ms"], ["59 ms", "135 ms"]),
            "rate": draw.one([0.75, 1.25], [1, 1]),
            "delay": draw.one([sooner, "2 ms"], ["0 ms", "30 ms"]),
        }
        | loss,
        0.7,
    )


def _loss(draw: Draw, is_transfer: bool) -> Table:
    kind = draw.one("list", "bernoulli", "gilbert-elliott")
    if kind == "bernoulli":
        return {
            "kind": kind,
            "probability": draw.one(0.01, 0.05, 0.05, 0.3, 0.0, 0.3 if is_transfer else 1.0),
        }  # agents never give up
    if kind == "gilbert-elliott":
        loss: Table = {"kind": kind, "good_to_bad": draw.one(0.01, 0.1), "bad_to_good": draw.one(0.3, 0.6)}
        return loss | draw.some({"loss_good": draw.one(0.0, 0.01), "loss_bad": draw.one(0.5, 1.0)}, 0.3)
    items = [
        "syn 1",
        "syn 1..3",
        "synack 1",
        "data 1",
        "data 2..3",
        "data 5",
        "ack 1",
        "ack 2",
        "fin 1",
        "rst 1",
        "any 4",
        "any 9..12",
    ]
    drop = [item for item in items if draw.chance(0.25)] or ["data 2"]
    mark = [item for item in ("data 1..2", "data 3", "any 6..8") if draw.chance(0.5)]
    named = draw.one({"drop": drop}, {"drop": drop, "mark": mark}, {"mark": mark or ["data 2"]})
    return {"kind": kind} | named | ({"of": draw.one("connection", "link")} if draw.chance(0.4) else {})


def _caches(draw: Draw, nodes: list[str], meeting: set[int], legs: list[Table], places: list[int]) -> list[Table]:
    """Caches at some of the nodes that may have one."""
    kind = draw.one("live", "live", "live", "drawn", "listed")
    wanted = draw.chance(0.75)
    caches: list[Table] = []
    for place in range(1, len(nodes) - 1):
        inside = place not in meeting
        leg = next(leg for leg in range(len(legs)) if places[leg] < place <= places[leg + 1])
        if not wanted or (inside and legs[leg]["carrier"]["kind"] not in ("http/1.0", "transfer")) or draw.chance(0.2):
            continue
        of_this = kind if draw.chance(0.9) else draw.one("live", "drawn", "listed")
        cache: Table = {"node": nodes[place]}
        if inside:
            cache |= draw.some({"mode": "cut-through"})
        else:
            cache |= draw.some({"mode": draw.one("split", "store-and-forward", "store-and-forward")}, 0.7)
        if of_this == "drawn":
            left = 1.0 - sum(other.get("hit_ratio", 0) for other in caches)
            cache["hit_ratio"] = min(draw.one(0.0, 0.2, 0.3), max(0.0, round(left, 6)))
        elif of_this == "live":
            cache |= _live(draw, inside)
        caches.append(cache)
    if len(caches) == 1 and "hit_ratio" in caches[0] and draw.chance(0.2):
        caches[0]["hit_ratio"] = 1.0
    return caches


def _live(draw: Draw, inside: bool) -> Table:
    live: Table = {"policy": draw.one(*POLICIES), "capacity": f"{draw.one(1, 3000, 30000, 30000, 200000, 2000000)} B"}
    if draw.chance(0.3):
        live["admit"] = draw.one(
            {"max": "8192 B"},
            {"min": "500 B"},
            {"min": "300 B", "max": "20000 B"},
            {"second_hit": draw.one(True, True, False)},
            {"probability": 0.5},
        )
    if not inside and draw.chance(0.4):
        live["ttl"] = draw.one("100 ms", "2 s", "2 s", "1 h")
    if draw.chance(0.4):
        live["changed"] = draw.one("serve", "fetch", "fetch")
    if draw.chance(0.3):
        live["coalesce"] = draw.one(True, False, False)
    if draw.chance(0.2):
        live["siblings"] = draw.whole(2, 3)
        live |= draw.some({"divide_by": draw.one("object", "host")})
    return live


def _requests(draw: Draw, nodes: list[str], caches: list[Table], is_transfer: bool) -> list[Row]:
    number = draw.one(1, 2, 4, 8, 12, 16, 24)
    hosts = [f"h{host}.example" for host in range(draw.one(1, 2, 3))]
    spread = draw.one(0.0, 0.05, 1.0, 5.0, 30.0)
    largest = draw.one(500, 3000, 20000, 90000)
    listed = [cache["node"] for cache in caches if not {"policy", "hit_ratio"} & set(cache)]
    sources: list[str | None] = [None, nodes[-1], *listed]
    if is_transfer and not listed:
        sources = [None, *nodes[1:]]
    needs_objects = any("policy" in cache for cache in caches)
    has_objects = needs_objects or draw.chance(0.2)
    pool = draw.one(1, 3, 6)
    changes = has_objects and draw.chance(0.5)
    sizes = [draw.size(1, largest) for _ in range(pool)]
    versions = [[size, *([draw.size(1, largest) for _ in range(2)] if changes else [])] for size in sizes]
    has_server, has_wait, has_tags = draw.chance(0.6), draw.chance(0.4), draw.chance(0.3)
    words = has_objects and draw.chance(0.2)
    rows = []
    for _ in range(number):
        item = draw.whole(0, pool - 1)
        server = draw.one(0.0, 0.0, 0.02, 0.4, 2.0) if has_server and draw.chance(0.9) else None
        has_object = has_objects and (needs_objects or draw.chance(0.9))
        rows.append(
            {
                "start_s": round(draw.random.random() * spread, draw.one(0, 1, 3, 9)),
                "host": hosts[item % len(hosts)] if draw.chance(0.7) else draw.one(*hosts),
                "request_bytes": draw.one(0, 300) if is_transfer else draw.size(1, draw.one(300, 2000, 6000)),
                "response_bytes": draw.one(*versions[item]) if has_object else draw.size(1, largest),
                "server_s": server,
                "wait_s": round(server * draw.one(0.0, 0.5, 1.0), 3) if has_wait and server is not None else None,
                "source": draw.one(*sources) if listed or is_transfer else None,
                "tag": "sample" if has_tags and draw.chance(0.4) else None,
                "object": (f"/object/{item}" if words else item) if has_object else None,
            }
        )
    return rows


_CLIENTS: list[tuple[int | str, ...]] = [(1, 2), (7, 1, 2**63 + 1), ("ann", "bob", "10.0.0.1"), tuple(range(12))]


def _asked_by_clients(draw: Draw, requests: list[Row]) -> list[Row]:
    """Requests with a client each, or most of them."""
    some: list[Row] = [{"client": client} for client in draw.one(*_CLIENTS)]
    known = draw.one(1.0, 1.0, 0.8)
    return [row | (draw.one(*some) if draw.chance(known) else {"client": None}) for row in requests]


def _treated(draw: Draw, requests: list[Row]) -> list[Row]:
    """Requests with methods, or with treatments by caches, or both."""
    ways: list[Row] = [
        {"method": method, "caching": caching}
        for method in draw.one((None,), (None, "HEAD", "POST"), ("GET", "CONNECT", "OPTIONS", "PURGE"))
        for caching in draw.one((None,), (None, "store", "serve"), ("store", "store", "bypass", "invalidate"))
    ]
    return [row | draw.one(*ways) for row in requests]


def _drawn_anew(requests: list[Row], wanted: bool) -> str | None:
    """Units that a seed may draw anew from these requests, if it is wanted."""
    if wanted and len({row.get("day") for row in requests}) > 1:
        return "days"
    return "clients" if wanted and all(row.get("client") is not None for row in requests) else None


def _workload(draw: Draw, requests: list[Row]) -> tuple[Table, list[Row]]:
    """Keys of the workload, and the requests with what these keys need."""
    keys: Table = {}
    if draw.chance(0.1):
        keys["speed"] = draw.one(0.5, 3, 7.7)
    if draw.chance(0.15):
        keys["load"] = draw.one(2, 3)
        keys |= draw.some(
            {"copies_offset": draw.one("0 s", "700 ms", "11 s"), "copies_hosts": draw.one("same", "renamed")}
        )
        if draw.chance(0.3):
            keys["period"] = "100 s"
        if draw.chance(0.3):
            requests = [row | {"day": draw.whole(1, 3)} for row in requests]
    elif draw.chance(0.08):
        keys |= {"scale": "rate", "load": draw.one(0.4, 1, 2.5), "copies_offset": "2 s"}
    elif draw.chance(0.03):
        keys["scale"] = "copies"
    keys |= draw.some(
        {"default_mss": draw.one("536 B", "1480 B"), "default_window": draw.one("4096 B", "20000 B")}, 0.05
    )
    return keys, requests


def _hosts(draw: Draw, requests: list[Row]) -> list[Row]:
    names = sorted({row["host"] for row in requests})
    return [
        {"host": name, "window_bytes": draw.one(None, 3000, 8760, 65535), "mss_bytes": draw.one(None, 536, 1460)}
        for name in names
    ]


def _run(draw: Draw) -> Table:
    run: Table = {}
    if draw.chance(0.3):
        run["until"] = draw.one("30 ms", "400 ms", "2 s", "10 s", "300 s", "2000 h")
    elif draw.chance(0.1):
        run["until"] = "done"
    return run | draw.some({"warmup": draw.one("0 s", "500 ms", "4 s"), "measure": draw.one("arrivals", "whole")}, 0.25)


def _record(draw: Draw, links: int) -> Table:
    """Everything in two thirds of the cases, for much to check; in the others anything."""
    taps = [f"link {link}" for link in range(links)]
    if draw.chance(0.66):
        return {
            "exchanges": True,
            "packets": "all",
            "points": ["ends", *taps],
            "links_every": draw.one("1 s", "10 s", "10 s", "100 s"),
            "sojourn": draw.chance(0.5),
        }
    points = ["ends", *taps, *(f"link {draw.whole(0, links - 1)} {way}" for way in ("up", "down"))]
    return draw.some(
        {
            "links_every": draw.one("100 ms", "2 s", "60 s"),
            "sojourn": draw.one(True, False),
            "connections": draw.one(True, False),
            "exchanges": draw.one(True, False),
            "packets": draw.one("none", "sample", "all"),
            "points": [point for point in points if draw.chance(0.5)] or ["ends"],
        }
    )
