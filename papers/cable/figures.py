"""The figures of the cable study: 4 to 7d have the numbers of the paper, the others go beyond it."""

from ..multiplexing.figures import figures
from .claims import of

FIGURES = figures(of, "NZ–US cable")
