"""Runs sweeps: many runs of one scenario, by a design of experiments."""
