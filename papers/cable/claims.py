"""How the claims of the cable study are measured."""

from farweb.check.check import check
from farweb.reproduce.claims import Measured
from farweb.reproduce.study import StudyResults
from farweb.statistics.intervals import student

from ..multiplexing.measures import Multiplexing, facts

FEW = (1, 5, 10, 15)
SATURATING = (35, 50, 70)


def of(results: StudyResults) -> Multiplexing:
    """The study: 32,767 B in each round trip of 120 ms are 2.18 Mbit/s."""
    return Multiplexing(results, connection_bps=2.18e6, few=FEW, enough=(20, 35, 50, 70))


def _asymptote(results: StudyResults) -> list[Measured]:
    return [of(results).asymptote(1e-6)]


def _latency(results: StudyResults) -> list[Measured]:
    return [Measured.of(student(of(results).latency_change()), "70 connections")]


def _bytes_in_flight(results: StudyResults) -> list[Measured]:
    (leg,) = check(results.scenario("no-proxy")).figures["legs"]
    return [Measured(round(leg["bdp_bytes"] / 1000))]


MEASURES = {
    "T1": _asymptote,
    "T2": lambda results: of(results).slope(),
    "T3": lambda results: of(results).leaving_the_line(),
    "T4": lambda results: of(results).utilisation(SATURATING),
    "T5": lambda results: of(results).plateaus(FEW),
    "T6": lambda results: of(results).slopes_less_that_without(SATURATING),
    "T7": _latency,
    "T8": lambda results: of(results).begin_of_rise(FEW[1:]),
    "T9": lambda results: of(results).buffers_at_saturation((50, 70)),
    "T10": lambda results: of(results).buffers_with_few(FEW[1:]),
    "T11": lambda results: of(results).buffer_toward_the_us(SATURATING),
    "T12": lambda results: of(results).connections("rise", "more"),
    "T13": lambda results: of(results).inbound_over_outbound(SATURATING),
    "T14": lambda results: of(results).outbound_saved(SATURATING),
    "T15": lambda results: of(results).connections_needed("to use the link", "for best latency"),
    "T16": _bytes_in_flight,
}

FACTS = facts("US proxy, 50 connections")
