"""The rule of verdicts: two sets of requests told apart or not, ranked, and said in words."""
