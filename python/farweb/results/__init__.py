"""Results folders of runs and sweeps: reading them, and what their tables say."""
