"""Load against path in one answer: requests by the second, busy links, ports, size of a run."""
