"""Caches: every request is answered in one way, the same in all tables; objects held have come, and fit."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from explorer.reading import Row, Run, quantity
from explorer.rules import rule
from explorer.rules.exchanges import OWN_ANSWERS, is_conditional, served_bytes

COUNTS = [
    "requests",
    "hits",
    "delayed_hits",
    "bypasses",
    "revalidations",
    "request_bytes",
    "hit_bytes",
    "delayed_hit_bytes",
]


def totals(run: Run) -> dict[str, Counter[str]]:
    """Counts of each cache over the whole run."""
    sums: dict[str, Counter[str]] = {node: Counter() for node in run.caches}
    for row in run.rows("caches"):
        sums[row["node"]].update({name: row[name] for name in COUNTS})
    return sums


@rule("caches.counts")
def counts(run: Run) -> Iterator[str]:
    """Answers of a cache are no more than its requests so far, nor its contents than its capacity."""
    objects = len({row["object"] for row in run.requests.values()} - {None})
    so_far: dict[str, Counter[str]] = {node: Counter() for node in run.caches}
    for row in run.rows("caches"):
        where, cache = f"cache {row['node']} to {row['time_ns']}", run.caches[row["node"]]
        total = so_far[row["node"]]
        total.update({name: row[name] for name in COUNTS})
        if min(row[name] for name in COUNTS) < 0 or row["revalidations"] > row["hits"]:
            yield f"{where}: { ({name: row[name] for name in COUNTS}) }"
        if total["hits"] + total["delayed_hits"] + total["bypasses"] > total["requests"]:
            yield f"{where}: {dict(total)} so far"
        room = quantity(cache["capacity"]) * cache.get("siblings", 1) if "policy" in cache else 0
        if not (
            0 <= row["bytes"] <= room
            and row["objects"] <= objects * cache.get("siblings", 1)
            and row["objects"] <= row["bytes"]
        ):
            yield f"{where}: {row['objects']} objects with {row['bytes']} B in {room} B"
        if (not cache.get("coalesce", True) or "policy" not in cache) and row["delayed_hits"]:
            yield f"{where}: {row['delayed_hits']} delayed hits, and requests do not wait"
        if "ttl" not in cache and row["revalidations"]:
            yield f"{where}: {row['revalidations']} revalidations, and objects stay fresh"
        if run.is_stored and not {"admit", "policy"} & set(cache) and row["bypasses"]:
            yield f"{where}: {row['bypasses']} bypasses of a cache that holds nothing"


@rule("caches.answers")
def answers(run: Run) -> Iterator[str]:
    """A cache where legs meet counts the answers that exchanges had of it, each once."""
    if not (run.record["exchanges"] and run.is_clean):
        return
    sums = totals(run)
    for place, leg in enumerate(run.legs[:-1]):
        node = run.nodes[leg.far]
        if node not in run.caches or any(run.caches_inside(leg)):
            continue
        of = Counter(row["cache_answer"] for row in run.by_leg[place].values() if row["requested_ns"] is not None)
        wanted = {
            "requests": sum(of.values()),
            "hits": of["hit"] + of["revalidated"],
            "delayed_hits": of["delayed hit"],
            "revalidations": of["revalidated"],
            "bypasses": of["bypass"],
        }
        if of[None]:
            yield f"cache {node}: {of[None]} requests that reached it have no answer"
        for name, number in wanted.items():
            if sums[node][name] != number:
                yield f"cache {node}: {sums[node][name]} {name}, and {number} by exchanges"


@rule("caches.flow")
def flow(run: Run) -> Iterator[str]:
    """All requests reach the first cache, those it does not serve the next, and those no cache serves the origin."""
    if not (run.is_clean and run.caches) or run.until is not None:
        return
    if any("ttl" in cache for cache in run.caches.values()):
        return  # conditional requests come besides
    sums = totals(run)
    least = most = len(run.requests)
    for node in run.caches:
        own, waits = sums[node], run.is_inside(node)
        if not least <= own["requests"] <= most:
            yield f"{own['requests']} requests reach the cache {node}, and {least} to {most} were not served before"
        # Who waited inside a leg asks again, and may then go on.
        least = own["requests"] - own["hits"] - own["delayed_hits"]
        most = least + (own["delayed_hits"] if waits else 0)
    by_origin = sum(row["served_by"] == run.nodes[-1] for row in run.requests.values())
    if not least <= by_origin <= most:
        yield f"the origin serves {by_origin} requests, and {least} to {most} were not served before"


@rule("caches.served")
def served(run: Run) -> Iterator[str]:
    """The requests that a cache served are those that it answered; the sums of all tables agree."""
    if not (run.is_clean and run.caches) or run.until is not None:
        return
    sums = totals(run)
    by = Counter(row["served_by"] for row in run.requests.values())
    # Who waits at a cache inside a leg may then be served by another one there.
    groups = [list(run.caches_inside(leg)) for leg in run.legs] + [
        [node] for node in run.caches if not run.is_inside(node)
    ]
    for group in groups if not any("ttl" in cache for cache in run.caches.values()) else []:
        hits, delayed = (sum(sums[node][name] for node in group) for name in ("hits", "delayed_hits"))
        least = hits if any(map(run.is_inside, group)) else hits + delayed
        if not least <= sum(by[node] for node in group) <= hits + delayed:
            own = {node: by[node] for node in group}
            yield f"caches serve {own} requests, and count {hits} hits and {delayed} delayed hits"
    if run.record["exchanges"]:
        for number, request in run.requests.items():
            node = _source(run, number)
            if node is not None and node != request["served_by"]:
                yield f"request {number} is served by {request['served_by']}, and by its exchanges by {node}"


def _source(run: Run, number: int) -> str | None:
    """Who served a request, by the answers on its way; None where that is not known."""
    if any(any(run.caches_inside(leg)) for leg in run.legs):
        return None
    for place, leg in enumerate(run.legs):
        row = run.by_leg[place].get(number)
        if row is None:
            return None
        if row["cache_answer"] in OWN_ANSWERS:
            return run.nodes[leg.far]
    return run.nodes[-1]


@rule("caches.bypassed")
def bypassed(run: Run) -> Iterator[str]:
    """Responses bypass a cache that does not keep their size, and no others do."""
    for place, leg in enumerate(run.legs[:-1]):
        cache = run.caches.get(run.nodes[leg.far], {})
        if any(run.caches_inside(leg)) or "ttl" in cache:
            continue  # a new version in answer to a condition is a miss whatever its size
        for number, row in run.by_leg[place].items():
            treatment = "store" if run.is_stored else run.treatments.get(number)
            if row["cache_answer"] not in ("miss", "bypass") or treatment in (None, "serve"):
                continue
            size = run.requests[number]["response_bytes"]
            keeps = _is_listed(cache) or (treatment == "store" and ("policy" not in cache or _keeps(cache, size)))
            if keeps != (row["cache_answer"] == "miss"):
                yield f"request {number} for {size} B is a {row['cache_answer']} at the cache {cache['node']}"


def _keeps(cache: dict[str, Any], size: int) -> bool:
    admit = cache.get("admit", {})
    least, most = admit.get("min", "0 B"), admit.get("max", cache["capacity"])
    return quantity(least) <= size <= min(quantity(most), quantity(cache["capacity"]))


def _is_listed(cache: dict[str, Any]) -> bool:
    """True of a cache that serves the requests for which the table names it, and no others."""
    return not {"policy", "hit_ratio"} & set(cache)


@rule("caches.treatment")
def treatment(run: Run) -> Iterator[str]:
    """No copy serves a request that passes caches by."""
    listed = {node for node, cache in run.caches.items() if _is_listed(cache)}
    for number, treated in run.treatments.items():
        if treated not in ("bypass", "invalidate") or number not in run.requests:
            continue
        for row in (of[number] for of in run.by_leg if number in of):
            leg = run.legs[row["leg"]]
            follows_table = not listed.isdisjoint([run.nodes[leg.far], *run.caches_inside(leg)])
            if row["cache_answer"] not in (None, "bypass") and not follows_table:
                yield f"request {number} passes caches by, and is a {row['cache_answer']} on leg {row['leg']}"
        if run.requests[number]["served_by"] in run.caches.keys() - listed:
            yield f"request {number} passes caches by, and {run.requests[number]['served_by']} serves it"


@rule("caches.versions")
def versions(run: Run) -> Iterator[str]:
    """Where all caches fetch changed objects, every request gets the version that it asks for."""
    if any(cache.get("changed", "serve") == "serve" for cache in run.caches.values() if "policy" in cache):
        return
    for number, row in run.requests.items():
        if served_bytes(row) != row["response_bytes"]:
            yield f"request {number} asks for {row['response_bytes']} B, and is served {row['served_bytes']} B"


@rule("caches.contents")
def contents(run: Run) -> Iterator[str]:
    """A hit follows a fetch of its object through the cache, and a delayed hit lies within one."""
    if not run.record["exchanges"]:
        return
    for place in range(len(run.legs) - 1):
        node = run.nodes[run.legs[place].far]
        if "policy" not in run.caches.get(node, {}) or any(run.caches_inside(run.legs[place])):
            continue
        above = [row for row in run.exchanges if row["leg"] == place + 1]
        fetches: dict[int, list[Row]] = {}
        for row in above:
            fetches.setdefault(run.requests[row["request"]]["object"], []).append(row)
        for number, row in run.by_leg[place].items():
            own = fetches.get(run.requests[number]["object"], [])
            at = row["requested_ns"]
            where = f"request {number} at cache {node} at {at}"
            whole = [
                other
                for other in own
                if run.treatments.get(other["request"], "store") == "store"
                and not is_conditional(run, other["request"], place + 1)
            ]
            if row["cache_answer"] in ("hit", "revalidated"):
                before = [other["request"] for other in whole if other["end_ns"] is not None and other["end_ns"] <= at]
                if not before:
                    yield f"{where} hits what no fetch has brought"
                size, held = (
                    run.requests[number]["served_bytes"],
                    {served_bytes(run.requests[other]) for other in before},
                )
                has_own_size = run.treatments.get(number) == "serve"
                if size is not None and before and size not in held and not has_own_size:
                    yield f"{where} is served {size} B, and fetches had brought {sorted(held)} B"
            elif row["cache_answer"] == "delayed hit" and not any(
                other["start_ns"] <= at <= (other["end_ns"] or at) for other in own
            ):
                yield f"{where} waits for no fetch"


@rule("caches.drawn")
def drawn(run: Run) -> Iterator[str]:
    """A cache with a share of 1 serves all requests that a copy may serve, of 0 none; a listed one, the table's."""
    sums = totals(run)
    all_listed = not any({"policy", "hit_ratio"} & set(cache) for cache in run.caches.values())
    for node, cache in run.caches.items():
        share = cache.get("hit_ratio")
        if share == 0 and sums[node]["hits"]:
            yield f"cache {node} serves {sums[node]['hits']} requests of a share of 0"
        if share == 1 and sums[node]["hits"] != sums[node]["requests"] - sums[node]["bypasses"]:
            yield f"cache {node} serves {sums[node]['hits']} of {sums[node]['requests']} requests, and its share is 1"
        if _is_listed(cache):
            listed = sum(row["source"] == node for row in run.requests.values())
            if sums[node]["hits"] > listed or (
                all_listed and run.is_clean and run.until is None and sums[node]["hits"] != listed
            ):
                yield f"cache {node} serves {sums[node]['hits']} requests, and the table names it for {listed}"
