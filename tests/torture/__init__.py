"""Kills and damages: what farweb's results have to withstand. `python -m torture`, by `make torture`."""
