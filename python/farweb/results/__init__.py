"""Results folders of runs and sweeps, read and summed up."""
