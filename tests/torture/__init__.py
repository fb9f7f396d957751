"""Kills, damages and strangers: what farweb's results have to withstand. `python -m torture`, by `make torture`."""
