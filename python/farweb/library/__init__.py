"""The packages as methods of three classes: `Scenario`, `Results`, `SweepResults`."""
