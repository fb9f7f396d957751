"""Compares two runs of the same requests, request by request, to show the effect of a change.

Latencies of two runs vary far more from request to request than the change makes of any; paired by request number, what
both have in common cancels. Nothing is left out: a request that fails on one side and ends on the other is slower where
it fails, and one that fails on both is neither.

Requests of one run depend on each other. Of a single pair of runs, intervals come from blocks of consecutive requests
(`farweb.statistics.blocks`); where there are replications, as at two points of a sweep, they come from these.
"""

from farweb.comparison.change import Change
from farweb.comparison.comparison import Comparison, compare

__all__ = ["Change", "Comparison", "compare"]
