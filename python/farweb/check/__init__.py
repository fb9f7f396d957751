"""Whether a path carries its load: requests by the second, load, ports, size of a run, in one answer."""
