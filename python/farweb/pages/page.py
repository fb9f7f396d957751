"""The load of a recorded page over paths, protocols and proxies (`farweb.page`)."""

from collections.abc import Callable, Sequence
from pathlib import Path

from farweb._core import Recording
from farweb.errors import FarwebError
from farweb.inputs.paths import check_words
from farweb.pages.answer import PageAnswer
from farweb.pages.breakdown import PageBreakdown
from farweb.pages.change import PageChange
from farweb.pages.har import numbered, read_har
from farweb.pages.paths import ALL_PATHS, PROTOCOLS, PROXIES, USUAL_PATHS, USUAL_PROXIES, Way, own_way, way_of
from farweb.pages.results import write_results
from farweb.pages.weather import check_seeds
from farweb.progress import Progress, unseen


class Page(PageAnswer):
    """A recorded page, loaded over one way or several; `print` shows what `farweb page` does."""

    def breakdown(self) -> PageBreakdown:
        """Where the time of each load goes.

        Raises:
            RunError: There is no place for temporary files.
        """
        return PageBreakdown.of(self)

    def compare(self, *others: PageAnswer) -> PageChange:
        """Compare others with this page, over the same ways.

        Args:
            others: The pages after changes.

        Raises:
            FarwebError: They were loaded over other ways.
        """
        return PageChange.of([self, *others])


def page(
    har: str | Path,
    *,
    path: str | Sequence[str] | None = None,
    protocol: str | Sequence[str] | None = None,
    proxy: str | Sequence[str] | None = None,
    scenario: str | Path | None = None,
    page: int | None = None,
    seeds: int | None = None,
    out: str | Path | None = None,
    replace: bool = True,
    progress: Progress = unseen,
) -> Page:
    """Load the recorded page of a HAR over other paths, protocols and proxies.

    Args:
        har: The HAR, plain or packed.
        path: May be repeated (default: geo, leo, cable and mobile). Names are those of `farweb.inputs.paths`.
        protocol: h1 or h2 (default: both). May be repeated.
        proxy: none, split (one, far end), mux (at both ends), default: these three; pep (TCP alone).
        scenario: The path, carriers and proxies of a scenario file instead.
        page: Which page of a file with several, from 1 (default: the first).
        seeds: Seeds of each path with losses, handovers or variation, from `run.seed` on (default: 5).
        out: Folder to write the load to, over one way, as results that `farweb.open_results` opens.
        replace: True to replace older results there.
        progress: Called as ways are done.

    Returns:
        The loads: times in s, by way in `cells`.

    Raises:
        FarwebError: A word or number is not allowed, `seeds` has no effect as nothing is drawn by chance, or there are
            several ways to write.
        WorkloadError: The HAR cannot be read, or has no request.
        ScenarioError: The scenario cannot be read or used.
        ResultsError: There is something else at `out`, or results that may not be replaced.
        RunError: A request fails, or the place cannot be written to.
    """
    ways_of = _ways(path, protocol, proxy, scenario)
    pages = read_har(Path(har))
    place = 1 if page is None else page
    recording = numbered(Path(har), pages, place)
    ways = ways_of(recording)
    check_seeds(seeds, *(way.effective for way in ways))
    if out is not None and len(ways) > 1:
        raise FarwebError(f"--out: found {len(ways)} loads; name one --path, one --protocol and one --proxy")
    loads = [each for each in pages if isinstance(each, Recording)]
    same = [each for each in loads if each.url == recording.url and each.is_load_known]
    found = Page.of(recording, ways, same, (place, len(pages)), seeds=seeds, progress=progress)
    if out is not None:
        (cell,) = found.cells
        write_results(recording, cell.way, cell.loaded, Path(out), cell.seed, replace=replace)
    return found


def _ways(
    path: str | Sequence[str] | None,
    protocol: str | Sequence[str] | None,
    proxy: str | Sequence[str] | None,
    scenario: str | Path | None,
) -> Callable[[Recording], Sequence[Way]]:
    """The ways of a page, by words or of a scenario.

    Raises:
        FarwebError: A word is not allowed, or stands beside a scenario.
        ScenarioError: The scenario cannot be read or used.
    """
    if scenario is not None:
        if path or protocol or proxy:
            raise FarwebError(
                "--scenario has path, protocol and proxies of its own; leave --path, --protocol, --proxy out"
            )
        own = own_way(Path(scenario))
        return lambda _: [own]
    paths, protocols, proxies = _words(path, USUAL_PATHS), _words(protocol, PROTOCOLS), _words(proxy, USUAL_PROXIES)
    check_words("--path", paths, ALL_PATHS)
    check_words("--protocol", protocols, PROTOCOLS)
    check_words("--proxy", proxies, PROXIES)
    return lambda recording: [
        way_of(each, http, by, is_secure=recording.has_tls) for each in paths for by in proxies for http in protocols
    ]


def _words(given: str | Sequence[str] | None, usual: Sequence[str] | dict[str, str]) -> list[str]:
    return list(dict.fromkeys([given] if isinstance(given, str) else given or usual))
