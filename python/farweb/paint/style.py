"""The look of every figure: colours, markers and dashes of series."""

import math
from typing import Any

LOOK = 4
"""Version of the look of figures. Raise it with any change of the look, and kept images are made again."""

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
"""Colours of series, distinguished with any common colour vision.

Source: M. Okabe and K. Ito, Color Universal Design (2008). Its yellow and black are left out: the one is too faint on
white, the other is the colour of text.
"""

MARKERS = ("o", "s", "^", "D", "v", "P")
LINES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1, 1)), (0, (6, 1.5, 1, 1.5)))
"""Markers and dashes by series, for grey prints too. A colour comes again after six series, with another marker and
another dash each time: no two of 24 series share colour and dash, no two of 36 colour and marker."""

_ROUND = math.lcm(len(PALETTE), len(LINES))
"""Series after which colour and dash would repeat together with dashes in their order."""

COMPARED: Any = (0, (2, 2.5))
IDENTITY: Any = (0, (9, 3))
"""Dashes of reference lines, finer and coarser than those of series."""

INK = "#222222"
QUIET = "#6B6B6B"

QUIETLY = -1
"""Number of the quiet series: the rest."""

BRIGHT = "#F0E442"
BRIGHTLY = -2
"""Number of a series of areas beside six others: it has the yellow that is too faint for lines."""

ROLES = {
    "data": INK,
    "ack": "#009E73",
    "window": "#E69F00",
    "credit": "#0072B2",
    "again": "#D55E00",
    "ends": "#9A4F82",
    "relay": "#882255",
    "sack": "#6A51E8",
    "cwnd": "#0072B2",
    "pace": "#0072B2",
    "ssthresh": "#D55E00",
    "flight": QUIET,
    "others": "#CFCFCF",
    "waiting": "#BDBDBD",
}
"""Colours of what figures of connections and pages draw. tcptrace draws on black: data white, ACK green, window yellow,
retransmission red, SACK purple, SYN and FIN orange; here its hues, as far as they can be distinguished on white with
any colour vision; it knows no credit."""

SHADES = {
    "slow start": ("#56B4E9", 0.13),
    "recovery": ("#D55E00", 0.13),
    "limited by the window": (BRIGHT, 0.25),
    "STARTUP": ("#56B4E9", 0.13),
    "DRAIN": ("#0072B2", 0.3),
    "PROBE_RTT": ("#009E73", 0.3),
}
"""Colours and opacities of stretches of time in them; yellow as the window itself, and strong, since it is light."""

_LIGHTEST = 0.26  # of the scale of levels. Chosen: lighter ones are too faint for a line on white

FEW_DECADES = 300  # chosen: up to some 2.5 decades, labels at 1, 2 and 5 do not crowd


def series(index: int | str | None, shade: float | None = None) -> dict[str, Any]:
    """Colour and dash of a series.

    Args:
        index: Its number, from 0. None: the colour of text; `QUIETLY`: in grey; `BRIGHTLY`: in yellow; or a role.
        shade: Of levels of one number, the place among them, from 0 to 1: a colour from light to dark.
    """
    if shade is not None:
        import matplotlib as mpl
        from matplotlib.colors import to_hex

        dark = mpl.colormaps["viridis_r"](_LIGHTEST + (1 - _LIGHTEST) * shade)
        return {"color": to_hex(dark), "linestyle": LINES[0]}
    if isinstance(index, str):
        return {"color": ROLES[index], "linestyle": LINES[1] if index in ("ssthresh", "credit") else LINES[0]}
    if index is None or index < 0:
        return {"color": {None: INK, QUIETLY: QUIET, BRIGHTLY: BRIGHT}[index], "linestyle": LINES[0]}
    return {"color": PALETTE[index % len(PALETTE)], "linestyle": LINES[(index + index // _ROUND) % len(LINES)]}


def marker(index: int | str | None, shade: float | None = None) -> str:
    """Marker of the series with this number, counted from 0; levels of one number have the same."""
    if shade is not None or isinstance(index, str) or index is None or index < 0:
        return MARKERS[0]
    return MARKERS[(index + index // len(PALETTE)) % len(MARKERS)]
