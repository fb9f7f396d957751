"""`farweb size`: the smallest or largest value of a key of a scenario that meets a target.

`target` reads the target and `vary` the values to try, `search` chooses the runs, `judge` and, for a
log, `log` decide which values meet the target, `answer` presents the result, `find` runs the search.
"""

from farweb.size.find import find_size

__all__ = ["find_size"]
