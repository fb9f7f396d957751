"""`farweb workload cache`: computes the hit ratios of caches without simulating packets."""

from collections.abc import Sequence
from pathlib import Path

from farweb.cli.verbs import Call, verb
from farweb.errors import FarwebError
from farweb.files.made import is_figure


@verb(
    "cache.curve:cache_curve",
    requests="REQUESTS...",
    policies="--policy POLICY",
    capacities="--capacity SIZE",
    admit="--admit RULE",
    ttl="--ttl TIME",
    changed="--changed serve|fetch",
    warmup="--warmup SHARE",
)
def cache(
    call: Call,
    requests: Sequence[str],
    *,
    policies: Sequence[str] = (),
    capacities: Sequence[str] = (),
    out: Sequence[Path] = (),
    details: bool = False,
) -> None:
    """Compute the hit ratios of caches by policy and capacity, without simulating packets.

    An object that misses is stored at once. --policy, --capacity and --admit may be given several times.

    Args:
        requests: A request table with objects, logs in any order, or a cache trace; also more values of --policy and
            --capacity, one after the other.
        policies: fifo lru rand lfu gds gdsf arc s3-fifo sieve w-tinylfu belady; all but the last: all, or left out,
            where the screen has three.
        capacities: A size ("10 MB") or a share of the footprint ("5 %") (default: 0.1 to 50 %).
        out: Write the ratios as a table, .parquet, .csv or .tsv, or as a figure: .png, .svg, .pdf, .html. May be given
            more than once.
        details: All capacities, revalidations, the other rule for changed sizes, facts.

    Examples:

        farweb workload cache requests.parquet --policy lru --policy s3-fifo --capacity "10 MB" --capacity "5 %"

        farweb workload cache access.log access.log.1.gz --warmup "20 %" -o caches.png
    """
    from farweb.cache.curve import cache_curve
    from farweb.cache.result import TABLES
    from farweb.cache.settings import USUAL_CAPACITIES, USUAL_POLICIES

    for file in out:
        if not is_figure(file) and file.suffix.lower() not in TABLES:
            raise FarwebError(
                f"{file}: a table is written as {', '.join(TABLES)}, a figure as .png, .svg, .pdf or .html"
            )
    call.takes(*out)
    paths, names, sizes = _several(policies, capacities, requests)
    is_all, names = bool(names), [each for each in names if each != "all"]
    curve = call.ask("caches", cache_curve, paths, names or USUAL_POLICIES, sizes or USUAL_CAPACITIES)
    for file in out:
        (curve.draw if is_figure(file) else curve.write)(file)
    call.result(curve.to_dict(), curve.screen(is_all=is_all, details=details))
    for file in out:
        call.wrote(file)


def _several(
    policies: Sequence[str], capacities: Sequence[str], words: Sequence[str]
) -> tuple[list[Path], list[str], list[str]]:
    """Files, policies and capacities, from lists with commas and from values one after the other behind an option.

    The first word is a file, and so is every other that is neither a policy nor begins as a number, or is there.
    """
    from farweb.cache.settings import POLICIES

    files, names, sizes = [Path(words[0])], _split(policies), _split(capacities)
    for word in words[1:]:
        for value in [word] if Path(word).is_file() else _split([word]):
            if value in (*POLICIES, "all"):
                names.append(value)
            elif value[:1].isdigit() and not Path(value).is_file():
                sizes.append(value)
            else:
                files.append(Path(value))
    return files, names, sizes


def _split(texts: Sequence[str]) -> list[str]:
    return [word.strip() for text in texts for word in text.split(",")]
