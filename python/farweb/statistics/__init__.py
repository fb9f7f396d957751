"""Statistics of replicated simulations: pure functions on arrays, each file with its method and source."""
