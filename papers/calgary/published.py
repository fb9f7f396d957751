"""Figures of the workload from tables 2 to 4 of the paper.

Source: Williamson and Markatchev, "Network-Level Impacts on User-Level Web Performance", SPECTS 2003.
"""

TRANSFERS = 5_000
TOTAL, SMALLEST, MEDIAN, LARGEST = 48_121_956, 68, 3_958, 1_494_900
"""Of the sizes, in bytes."""

SERVER, PARENT, CHILD = 0, 1, 2
SOURCES = ("server", "parent", "child")
COUNTS = {
    "good": (2_252, 758, 1_990),
    "average": (2_973, 514, 1_513),
    "poor": (3_642, 354, 1_004),
    "threshold": (2_187, 723, 2_090),
}
"""Transfers of each source, by case."""
BYTES = {"good": (20_957_250, 6_821_625, 20_343_081), "threshold": (21_353_492, 20_291_324, 6_477_140)}
"""Bytes of each source, where the paper states them."""
SMALL = 8 * 1024
"""With the size threshold the child has nothing that is larger, and the parent nothing else, in bytes."""
