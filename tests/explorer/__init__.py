"""Random scenarios, and an independent judge of their result tables."""
