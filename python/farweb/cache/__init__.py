"""Caches: what those of a run served (`totals`), and caches without packets, hit ratios against capacity.

Of the latter `curve.cache_curve` is what others use; `settings` reads what is asked in words, `replay` sends the
requests through caches, `figure` tells what is drawn.
"""
