"""How the claims of the asymmetric study are measured."""

from farweb.reproduce.claims import Measured
from farweb.reproduce.curves import largest
from farweb.reproduce.study import StudyResults
from farweb.statistics.intervals import student

from ..multiplexing.measures import Multiplexing, facts

FEW = (1, 5, 10, 15, 20)


def of(results: StudyResults) -> Multiplexing:
    """The study: 32,767 B in each round trip of 380 ms are 690 kbit/s."""
    return Multiplexing(results, connection_bps=690e3, few=FEW, enough=(35, 50, 70))


def _asymptote(results: StudyResults) -> list[Measured]:
    return [of(results).asymptote(1e-3)]


def _saturation(results: StudyResults) -> list[Measured]:
    study = of(results)
    return [*study.utilisation((50, 70), "50 and 70"), *study.utilisation((*FEW, 35), "35 and fewer")]


def _latency(results: StudyResults) -> list[Measured]:
    return [Measured.of(student(of(results).latency_change()), "70 connections")]


def _presented_by_servers(results: StudyResults) -> list[Measured]:
    return [Measured.of(largest(of(results).proxy(1, "link_1_down_bps")), "1 connection", scale=1e-6)]


MEASURES = {
    "A1": _asymptote,
    "A2": lambda results: of(results).slope(),
    "A3": _saturation,
    "A4": lambda results: of(results).requests_on_a_connection((50, 70)),
    "A5": _latency,
    "A6": lambda results: of(results).gain_lost_at_low_load(),
    "A7": lambda results: of(results).begin_of_rise((5, 10, 15)),
    "A8": _presented_by_servers,
    "A9": lambda results: of(results).inbound_over_outbound((50, 70)),
    "A10": lambda results: of(results).connections_needed("to use the link", "for best latency"),
}

FACTS = facts("US proxy, 70 connections")
