"""`farweb size`: the smallest or largest value of a key of a scenario that meets a target.

`target` reads what is wanted, `vary` which values there are, `search` asks for the runs it needs, `judge` decides from
them, `answer` says what was found, `find` runs it all.
"""

from farweb.size.find import find_size

__all__ = ["find_size"]
