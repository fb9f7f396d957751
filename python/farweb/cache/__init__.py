"""Caches without packets: hit ratios of replacement policies against capacity, from tables, logs and traces.

`curve.cache_curve` is what others use; `inputs` reads requests of any format, `settings` what is asked in words,
`replay` sends the requests through caches, `figure` draws.
"""
