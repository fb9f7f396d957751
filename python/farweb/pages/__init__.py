"""Page loads: a browser's HAR, the graph of its requests, and its load over other paths."""
