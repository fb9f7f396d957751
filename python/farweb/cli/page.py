"""`farweb page`: the load of a recorded page over paths, protocols and proxies."""

from collections.abc import Sequence
from pathlib import Path

from farweb.cli.verbs import Call, verb
from farweb.errors import FarwebError


def _paths() -> str:
    from farweb.inputs.paths import PATHS, STAND_FOR

    return f"Paths: {', '.join((*STAND_FOR, *PATHS))}."


@verb(
    "pages.page:page",
    har="",
    hars="FILE.har [AFTER.har]...",
    path="--path PATH",
    protocol="--protocol PROTOCOL",
    proxy="--proxy PROXY",
    scenario="--scenario FILE.toml",
    metric="--metric -m METRIC",
    out="--out -o RESULTS",
    replace="",
    foot=_paths,
)
def page(
    call: Call, hars: Sequence[Path], *, metric: str = "onload", breakdown: bool = False, out: Path | None = None
) -> None:
    """Say how long a recorded page takes over other paths, protocols and proxies, and how sure that is.

    The HAR has the dependencies of requests. Low and high come from two bounding readings of it. Of two HARs, before a
    change and after it, says which is faster, and why.

    Args:
        hars: A HAR, plain or gzip. Several are compared with the first; of a folder each stands alone.
        metric: onload.
        breakdown: Where the time goes, over each way; without proxies if none is named.
        out: Results of one way, for plot waterfall, report and export har.

    Examples:

        farweb page shop.har

        farweb page shop.har --path geo --protocol h2 --proxy none --breakdown

        farweb page shop.har bundled.har --path geo

        farweb page shop.har --path geo --protocol h2 --proxy none -o results/shop

        farweb page shop.har --scenario satellite.toml --json
    """
    from rich.console import Group

    from farweb.pages.answer import check_metric
    from farweb.pages.har import har_files
    from farweb.pages.page import page as loaded

    check_metric(metric)
    files = har_files(hars)
    if out is not None and len(files) > 1:
        raise FarwebError(f"--out: found {len(files)} HARs; name one")
    is_comparison = len(hars) > 1 and len(files) == len(hars) and not breakdown
    is_alone = "scenario" not in call.given and (breakdown or is_comparison)
    ways = {"out": out, "replace": call.force, **({"proxy": "none"} if is_alone else {}), **call.of(loaded)}
    with call.progress("loading the page") as show:
        pages = [loaded(file, progress=show, **ways) for file in files]
    if out is not None:
        call.wrote(out, "plot", "waterfall", out)
    if is_comparison:
        change = pages[0].compare(*pages[1:])
        call.result({"pages": [row for each in pages for row in each.to_dicts()], **change.to_dict()}, change)
        return
    shown = [each.breakdown() for each in pages] if breakdown else pages
    screens = [part for each in shown for part in ("", each)]
    call.result({"pages": [row for each in shown for row in each.to_dicts()]}, Group(*screens[1:]))
