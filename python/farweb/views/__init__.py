"""Results in other forms: one connection, one page load, captures, HAR."""
