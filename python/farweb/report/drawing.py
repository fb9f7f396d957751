"""Drawing of a path as SVG.

Nodes stand upright, servers at the top. Beside a link are its values upwards and downwards. A leg is a bracket, with a
tick at each TCP split and its texts below. What differs between scenarios is in colour and bold.
"""

import re
import textwrap
from collections.abc import Sequence
from dataclasses import replace
from html import escape

from farweb.report.path import Leg, Path, Term

_CHARACTER = 7.4  # px, chosen: the mean width of a letter of the widest usual sans-serif at 12.5 px, with room to spare
_BOLD = 8.0  # px, the same of what is bold
_LINE = 17  # px from one line of text to the next
_BOX = 32  # px, height of a node
_WIDTH = 330  # px; a phone has as many
_BEFORE_UNIT = re.compile(r"(?<=\d) (?=[%\w])")
_STRANDS = 4  # of a bundle of connections. Chosen: more fill the bracket
_STRAND = 3.0  # px from one to the next


def draw_path(path: Path, words: str) -> str:
    """The drawing as SVG.

    Args:
        path: The path to draw.
        words: Description for readers who cannot see it.
    """
    return f'<div class="path">{_Drawing(path).svg(words)}</div>'


def _lines_at(path: Path, node: int, room: float) -> list[list[Term]]:
    """Text at a node in lines of so many px: proxy, TCP split or neither, and its caches."""
    is_proxy = {leg.last for leg in path.legs} & {leg.first for leg in path.legs} >= {node}
    lines = [[Term("", "proxy", path.nodes[node].varied)]] if is_proxy else []
    lines += wrap("", path.splits[node], room) if path.splits[node] else []
    return lines + (wrap("cache: ", path.caches[node], room) if path.caches[node] else [])


def _strands(leg: Leg) -> list[float]:
    """Distances from the bracket of the lines that stand for the connections of a leg, in px."""
    return [_STRAND * strand for strand in range(min(leg.connections, _STRANDS))]


class _Drawing:
    """An SVG in the making: the path upright, the servers at the top; sizes are CSS pixels."""

    def __init__(self, path: Path) -> None:
        self._parts: list[str] = []
        x, text = 84.0, 108.0
        y = _BOX / 2 + 2
        places = [0.0] * len(path.nodes)
        for number in reversed(range(len(path.nodes))):
            places[number] = y
            box = min(220, max(100, 8.2 * len(path.nodes[number].text) + 22))
            self.node(x - 50 + box / 2, y, box, path.nodes[number])
            self.text(text, y + _BOX / 2 + 16, _lines_at(path, number, _WIDTH - text))
            y = y + _BOX / 2
            if number > 0:
                y = self._draw_link(path, number - 1, x, text, y)
        self._height = self._draw_legs(path, places, y + 24)

    def svg(self, words: str) -> str:
        size = f"{_WIDTH}", f"{self._height:.0f}"
        box = f'viewBox="0 0 {size[0]} {size[1]}" width="{size[0]}" height="{size[1]}"'
        return f'<svg role="img" aria-label="{escape(words)}" {box}>{"".join(self._parts)}</svg>'

    def node(self, x: float, y: float, width: float, node: Term) -> None:
        """A box with a name, its middle at `x`, `y`."""
        name, look = node.text, "name varied" if node.varied else "name"
        room = max(int((width - 12) / 8.2), 3)
        shown = name if len(name) <= room else f"{name[: room - 1]}…"
        self._parts.append(
            f'<g><title>{escape(name)}</title><rect class="node" x="{x - width / 2:.0f}" y="{y - _BOX / 2:.0f}" '
            f'width="{width:.0f}" height="{_BOX}" rx="6"/><text class="{look}" x="{x:.0f}" y="{y + 4.5:.1f}" '
            f'text-anchor="middle">{escape(shown)}</text></g>'
        )

    def arrow(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        """A wire in one direction, upright or level."""
        (x0, y0), (x1, y1) = start, end
        dx, dy = (x1 > x0) - (x1 < x0), (y1 > y0) - (y1 < y0)
        back, side = (x1 - 8 * dx, y1 - 8 * dy), (3.5 * dy, 3.5 * dx)
        corners = f"{x1:.1f},{y1:.1f} {back[0] + side[0]:.1f},{back[1] + side[1]:.1f} "
        corners += f"{back[0] - side[0]:.1f},{back[1] - side[1]:.1f}"
        self._parts.append(
            f'<path class="wire" d="M{x0:.1f} {y0:.1f}L{back[0]:.1f} {back[1]:.1f}"/>'
            f'<polygon class="head" points="{corners}"/>'
        )

    def text(self, x: float, y: float, lines: Sequence[Sequence[Term]]) -> None:
        """Lines of text, the base of the first at `y`."""
        for number, line in enumerate(lines):
            spans = " · ".join(map(_span, line))
            place = f'x="{x:.0f}" y="{y + number * _LINE:.0f}"'
            self._parts.append(f"<text {place}>{spans}</text>")

    def bracket(self, *steps: str) -> None:
        self._parts.append(f'<path class="leg" d="{"".join(steps)}"/>')

    def _draw_link(self, path: Path, link: int, x: float, text: float, top: float) -> float:
        """A link below the node at its upper end; where the next node has its middle."""
        room = _WIDTH - text
        above = len(_lines_at(path, link + 1, room)) * _LINE
        up = wrap("up ↑ ", path.up[link], room)
        down = wrap("down ↓ ", path.down[link], room)
        bottom = top + above + (len(up) + len(down)) * _LINE + 22
        self.arrow((x - 5, bottom - 3), (x - 5, top + 3))
        self.arrow((x + 5, top + 3), (x + 5, bottom - 3))
        self.text(text, top + above + 18, up)
        self.text(text, top + above + 22 + len(up) * _LINE, down)
        return bottom + _BOX / 2

    def _draw_legs(self, path: Path, places: Sequence[float], top: float) -> float:
        """Brackets beside the nodes and their texts below; the height of the drawing."""
        for number, leg in enumerate(path.legs):
            low, high = places[leg.first] - 4, places[leg.last] + 4
            for strand in _strands(leg):
                self.bracket(f"M26 {low:.0f}", f"h-{9 - strand:g}", f"V{high:.0f}", f"h{9 - strand:g}")
            for split in leg.splits:
                self.bracket(f"M17 {places[split]:.0f}", "h9")
            middle = (low + high) / 2
            self._parts.append(
                f'<text class="way" x="12" y="{middle:.0f}" text-anchor="middle" '
                f'transform="rotate(-90 12 {middle:.0f})">leg {number}</text>'
            )
            lines = wrap(f"leg {number}: ", leg.terms, _WIDTH - 4)
            self.text(2, top, lines)
            top += len(lines) * _LINE + 4
        return top - _LINE + 8


def _span(term: Term) -> str:
    text = escape(term.text)
    return escape(term.lead) + (f'<tspan class="varied">{text}</tspan>' if term.varied else text)


def wrap(label: str, terms: Sequence[Term], room: float) -> list[list[Term]]:
    """Terms in lines no wider than `room` px; the label stands before the first. Longer ones go on in the next line."""
    lines: list[list[Term]] = [[]]
    for number, term in enumerate(terms):
        shown = term if number else replace(term, lead=label + term.lead)
        most = int(room / (_BOLD if shown.varied else _CHARACTER))
        if lines[-1] and sum(len(each) + 3 for each in lines[-1]) + len(shown) > most:
            lines.append([])
        indent = " " * len(shown.lead)
        text = _BEFORE_UNIT.sub("\N{NO-BREAK SPACE}", shown.text)
        first, *rest = textwrap.wrap(text, most, initial_indent=indent, break_on_hyphens=False) or [indent]
        lines[-1].append(replace(shown, text=first[len(shown.lead) :]))
        lines += [[replace(shown, lead="", text=line)] for line in rest]
    return lines
