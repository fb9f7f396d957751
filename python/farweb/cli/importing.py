"""Options of an import, for each verb that reads a log into a request table."""

import re
from dataclasses import dataclass, fields
from typing import Any

from farweb import _core
from farweb.cli.verbs import Call, UsageError

QUESTIONS = ("inputs.importer:import_log", "inputs.importer:LogOptions")


def formats() -> str:
    """The formats of logs, for the last lines of a help."""
    return f"Formats: {', '.join(_core.log_formats())}."


@dataclass(frozen=True, kw_only=True)
class Imported:
    """Options that a command line has in other units than the library.

    Attributes:
        busiest: Only the span of this length with most bytes of responses, such as 1h.
        rtt_ms: Round-trip time that recorded times contain, in ms; taken off server times.
        sample: Only a share of the clients or hosts, whole, such as 10%.
    """

    busiest: str | None = None
    rtt_ms: float | None = None
    sample: str | None = None

    def options(self, call: Call) -> dict[str, Any]:
        """What was typed for `import_log`."""
        from farweb.inputs.importer import LogOptions, import_log

        found = {**call.of(import_log), **call.of(LogOptions)}
        if self.busiest is not None:
            found["busiest_s"] = _quantity("--busiest", self.busiest, "s", "a span such as 1h or 90 min")
        if self.rtt_ms is not None:
            found["rtt_ns"] = round(self.rtt_ms * 1e6)
        if self.sample is not None:
            found["sample"] = _quantity("--sample", self.sample, "1", "a share such as 10%")
        elif of_sample := [call.typed[name] for name in ("sample_by", "seed") if name in found]:
            raise UsageError(f"{of_sample[0]}: is of a sample; write its share as well, --sample 10%")
        return found

    def typed(self, call: Call) -> list[str]:
        """Options of an import that were typed."""
        from farweb.inputs.importer import LogOptions, import_log

        known = {*call.of(import_log), *call.of(LogOptions), *(each.name for each in fields(self))} - {"log", "out"}
        return [option for name, option in call.typed.items() if name in known]


def _quantity(option: str, text: str, base: str, allowed: str) -> float:
    from farweb.text.parse import QuantityError, parse

    minutes = re.fullmatch(r"([\d.]+) ?m", text) if base == "s" else None  # beside 1h it is no typing error for ms
    try:
        quantity = parse(f"{minutes[1]} min" if minutes else text)
    except QuantityError:
        quantity = None
    if quantity is None or quantity.base != base or quantity.number <= 0:
        raise UsageError(f"{option}: found {text}; write {allowed}")
    return float(quantity.number)
