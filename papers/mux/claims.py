"""How the claims of the page on W3C MUX are measured."""

from farweb.reproduce.claims import Measured
from farweb.reproduce.study import StudyResults

from .packets import CREDIT, LARGE, PLAIN, SMALL, of_experiment


def _packets(results: StudyResults, experiment: str) -> list[Measured]:
    return [*_down(results, experiment), *_up(results, experiment)]


def _down(results: StudyResults, experiment: str) -> list[Measured]:
    return [Measured(of_experiment(results, experiment).sent_down, what="server to client", bound="down")]


def _up(results: StudyResults, experiment: str) -> list[Measured]:
    return [Measured(of_experiment(results, experiment).sent_up, what="client to server", bound="up")]


def _bandwidth(results: StudyResults) -> list[Measured]:
    """Share of the time that is lost, and beside it of the credit that is never on the wire."""
    plain, small = (of_experiment(results, experiment).taken_s for experiment in (PLAIN, SMALL))
    unused = 1 - of_experiment(results, SMALL).freed_by_a_grant / CREDIT
    return [
        Measured(100 * (1 - plain / small), what="time"),
        Measured(100 * unused, what="second reading: credit of 2048 B not on the wire", beside=True),
    ]


def _order(results: StudyResults) -> list[Measured]:
    plain, large, small = (of_experiment(results, each).sent_up for each in (PLAIN, LARGE, SMALL))
    return [
        Measured(large - plain, what=f"{LARGE} less {PLAIN}"),
        Measured(small - large, what=f"{SMALL} less {LARGE}"),
    ]


def _in_flight(results: StudyResults) -> list[Measured]:
    return [
        Measured(of_experiment(results, PLAIN).most_in_flight(), what=PLAIN, bound="plain"),
        Measured(of_experiment(results, LARGE).most_in_flight(), what=LARGE, bound="mux"),
    ]


def _grants(results: StudyResults) -> list[Measured]:
    """What MUX adds up, over its grants."""
    plain = of_experiment(results, PLAIN)
    found = []
    for experiment in (LARGE, SMALL):
        dump = of_experiment(results, experiment)
        added = dump.sent_up - plain.sent_up
        found.append(Measured(added / dump.grants, what=f"{experiment}: {added} packets, {dump.grants} grants"))
    return found


def _runts(results: StudyResults) -> list[Measured]:
    """What MUX adds down, over the runts that it adds."""
    plain = of_experiment(results, PLAIN)
    found = []
    for experiment in (LARGE, SMALL):
        dump = of_experiment(results, experiment)
        added, runts = dump.sent_down - plain.sent_down, dump.runts - plain.runts
        ratio = added / runts if runts else float("inf")
        found.append(Measured(ratio, what=f"{experiment}: {added} packets, {runts} runts"))
    return found


MEASURES = {
    "M1": lambda results: _packets(results, PLAIN),
    "M2": lambda results: _down(results, LARGE),
    "M2u": lambda results: _up(results, LARGE),
    "M3": lambda results: _packets(results, SMALL),
    "M4": _bandwidth,
    "M5": _order,
    "M6": _in_flight,
    "M7": _grants,
    "M8": _runts,
}
