"""farweb: what will the web feel like over this path?

A packet-level simulator of web traffic over long paths. The two names to begin with:

    from farweb import Scenario

    scenario = Scenario.load("examples/satellite.toml")
    results = scenario.with_({"leg.0.tcp.buffer": "65535 B"}).run(seed=1, out="results/satellite")
    results.summary()

Importing this package is cheap: tables and figures load their libraries at first use.
"""

import importlib
import warnings
from typing import TYPE_CHECKING, Any

from farweb._core import debug_build, object_ids
from farweb._core import version as __version__
from farweb.errors import FarwebError, ResultsError, RunError, ScenarioError, StorageError, WorkloadError
from farweb.files.private import spill_apart

if TYPE_CHECKING:
    from farweb.cache.curve import cache_curve
    from farweb.cache.result import CacheCurve
    from farweb.check.check import Check
    from farweb.comparison import Comparison, compare
    from farweb.library.folders import open_results
    from farweb.library.run_results import Results
    from farweb.library.scenario import Scenario
    from farweb.library.sweep_results import SweepResults
    from farweb.pages.page import Page, page
    from farweb.summary.run import Summary
    from farweb.whatif.answer import WhatIf
    from farweb.whatif.what_if import what_if

__all__ = [
    "CacheCurve",
    "Check",
    "Comparison",
    "FarwebError",
    "Page",
    "Results",
    "ResultsError",
    "RunError",
    "Scenario",
    "ScenarioError",
    "StorageError",
    "Summary",
    "SweepResults",
    "WhatIf",
    "WorkloadError",
    "__version__",
    "cache_curve",
    "compare",
    "object_ids",
    "open_results",
    "page",
    "what_if",
]

_HOMES = {
    "CacheCurve": "farweb.cache.result",
    "Check": "farweb.check.check",
    "Comparison": "farweb.comparison",
    "Page": "farweb.pages.page",
    "Results": "farweb.library.run_results",
    "Scenario": "farweb.library.scenario",
    "Summary": "farweb.summary.run",
    "SweepResults": "farweb.library.sweep_results",
    "WhatIf": "farweb.whatif.answer",
    "cache_curve": "farweb.cache.curve",
    "compare": "farweb.comparison",
    "open_results": "farweb.library.folders",
    "page": "farweb.pages.page",
    "what_if": "farweb.whatif.what_if",
}

if debug_build:
    warnings.warn(
        "farweb's core is a debug build, ten times slower than a release build; build it with `make build`",
        RuntimeWarning,
        stacklevel=2,
    )


spill_apart()


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'farweb' has no attribute {name!r}")
    return getattr(importlib.import_module(home), name)


def __dir__() -> list[str]:
    return sorted(__all__)
