"""Shows that two revisions give equal results: runs the same scenarios with both and compares all tables."""
