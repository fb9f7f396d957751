"""Caches without packets: hit ratios by policy and capacity.

`curve.cache_curve` does the whole study. `settings` reads its options, `replay` sends the requests through caches,
`result` holds the ratios and draws them.
"""
