"""Sweeps: many runs of one scenario, by a design of experiments, and what they tell together."""
