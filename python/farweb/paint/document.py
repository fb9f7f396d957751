"""A report as a page of HTML, and the few elements that it is made of.

Functions take text and give HTML. All text is escaped, so a name can hold anything.
"""

import base64
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import Any

from farweb.files.atomic import write_text
from farweb.paint.chart import Chart
from farweb.paint.figure import AROUND, Figure
from farweb.paint.html import framed
from farweb.text.sheet import Part, Sheet, to_html
from farweb.text.words import capital, visible

_STYLE = Path(__file__).with_name("document.css")
_PIXELS_AN_INCH = 103  # CSS pixels; the widest figures have 9 inches
_LEAD = (7.4, 3.4)  # inches of the figure beside the path. Chosen: it and the table above fill a laptop's screen
_NARROW = 4.0  # inches of pictures for narrow screens. Chosen: their letters are as large there as the text
_PHONE = "(max-width: 42rem)"
_FEW = 4  # columns of a table that a phone has room for; chosen
_BEFORE_UNIT = re.compile(
    r"(?<=\d) (?=(?:[kMGTµmn]?(?:B|bit/s|s)|%|…|min|h|packets)(?!\w))"
    r"|(?<=…) (?=[\d−])"
    r"|(?<=\bn) (?==)|(?<=\bn =) "
)


@dataclass(frozen=True)
class Page:
    """A report, ready to be written.

    Attributes:
        title: Its heading.
        question: The question that it answers, where the heading does not say so already; or empty.
        subject: The simulation in a few words.
        sections: HTML of the sections in their order.
        judged: Verdicts, as plain values.
    """

    title: str
    question: str
    subject: str
    sections: tuple[str, ...]
    judged: tuple[Mapping[str, Any], ...] = ()

    def html(self) -> str:
        """The page; the same results give the same page, byte for byte."""
        head = (paragraph(self.question, "question") if self.question else "") + paragraph(self.subject, "subject")
        body = "\n".join(each for each in self.sections if each)
        main = f"<main>\n<h1>{escape(self.title)}</h1>\n{head}\n{body}\n</main>"
        return visible(framed(self.title, f"\n{_STYLE.read_text('utf-8')}", main))

    def write(self, out: Path) -> None:
        """Write the page.

        Raises:
            RunError: The place cannot be written to.
        """
        write_text(out, self.html())


def section(heading: str, *parts: str) -> str:
    """A section with its heading, or nothing without content."""
    body = "".join(parts)
    return body and f"<section><h2>{escape(heading)}</h2>{body}</section>"


def part(heading: str, *parts: str) -> str:
    """A part of a section with a heading of its own, or nothing without content."""
    body = "".join(parts)
    return body and f"<h3>{escape(heading)}</h3>{body}"


def paragraph(text: str, kind: str = "") -> str:
    """A paragraph."""
    look = f' class="{kind}"' if kind else ""
    return f"<p{look}>{text_of(text)}</p>"


def bullets(texts: Iterable[str]) -> str:
    """A list; nothing when it is empty."""
    items = "".join(f"<li>{text_of(text)}</li>" for text in texts)
    return items and f"<ul>{items}</ul>"


_HINT = re.compile(r"(?:^|\s+)(?:more: .*|\(--\w+\))$")
_ELSEWHERE = ("warning: ", "+ ")  # pages have all warnings in a section


def screen(parts: Iterable[Part], kind: str = "") -> list[str]:
    """Lines, of this kind, and tables of a screen of a terminal; names of options are left out."""
    shown: list[str] = []
    for part in parts:
        if isinstance(part, str):
            line = _HINT.sub("", part)
            shown += [paragraph(line, kind)] if line and not line.startswith(_ELSEWHERE) else []
        else:
            shown += map(table, [part] if isinstance(part, Sheet) else part)
    return shown


def text_of(text: str) -> str:
    """Text as HTML; a line does not break between a number and its unit."""
    return escape(_BEFORE_UNIT.sub("\N{NO-BREAK SPACE}", text))


def warnings(texts: Iterable[str]) -> str:
    """Paragraphs that catch the eye."""
    return "".join(paragraph(text, "warning") for text in texts)


def table(sheet: Sheet, *, long: bool = False) -> str:
    """A table that scrolls by itself where the page is too narrow for it; a phone has the rows of a wide one as lines.

    Args:
        sheet: The table, not shown without rows.
        long: True when it may have so many rows that it has to scroll that way too.
    """
    if not sheet.rows:
        return ""
    look = " ".join(["scrolls", *(["long"] if long else []), *(["wide"] if len(sheet.header) > _FEW else [])])
    # Whoever has no mouse scrolls with the keyboard, which takes the focus.
    return f'<div class="{look}" role="region" aria-label="{escape(sheet.title)}" tabindex="0">{to_html([sheet])}</div>'


def commands(lines: Sequence[str]) -> str:
    """Command lines, as they are typed."""
    return f"<pre><code>{escape(chr(10).join(lines))}</code></pre>"


def figure(described: Figure, *, is_lead: bool = False) -> str:
    """A figure between its title and its caption, with a narrow picture for narrow screens.

    Args:
        described: The figure.
        is_lead: True beside the answer, where it is as wide and high as there is room.
    """
    from farweb.paint import chart, paper
    from farweb.paint.presentation import Presentation, within_bounds

    shown = within_bounds(described)
    width, height = shown.size
    legends = 0.5 * AROUND  # the rest of it is for title and caption
    bare = replace(shown, title="", caption="", size=_LEAD if is_lead else (width, height - legends), exact=is_lead)
    wide = paper.paint(bare)
    narrow = paper.paint(Presentation(width=_NARROW).of(replace(bare, size=(width, height), exact=False)))
    sources = [base64.b64encode(chart.encode(each, "png")).decode("ascii") for each in (wide, narrow)]
    pixels = round(wide.get_figwidth() * _PIXELS_AN_INCH)
    look = ' class="high"' if wide.get_figheight() > wide.get_figwidth() else ""
    left_out = f" {capital(wide.shortage)}." if wide.shortage else ""
    return (
        f"<figure><p>{text_of(shown.title)}</p><picture>"
        f'<source media="{_PHONE}" srcset="data:image/png;base64,{sources[1]}">'
        f'<img{look} alt="{escape(shown.title)}" width="{pixels}" src="data:image/png;base64,{sources[0]}"></picture>'
        f"<figcaption>{text_of(shown.caption + left_out)}</figcaption></figure>"
    )


def picture(chart: Chart, png: bytes | None = None) -> str:
    """A painted figure as it is; its caption is in the image, and in words for who cannot see it.

    Args:
        chart: The figure.
        png: Its picture, where it has been encoded before.
    """
    from farweb.paint.chart import encode, words

    image = base64.b64encode(png or encode(chart, "png")).decode("ascii")
    # Figures of one size of letters, whatever theirs is; the widest are as wide as the page.
    width = round(chart.get_figwidth() * _PIXELS_AN_INCH)
    look = ' class="high"' if chart.get_figheight() > chart.get_figwidth() else ""
    return (
        f'<figure><div class="scrolls" role="region" aria-label="Figure" tabindex="0">'
        f'<img{look} alt="{escape(words(chart))}" width="{width}" src="data:image/png;base64,{image}"></div></figure>'
    )


def download(name: str, text: str) -> str:
    """A link to a file in the page itself."""
    data = base64.b64encode(text.encode()).decode("ascii")
    return f'<a download="{escape(name)}" href="data:text/plain;base64,{data}">{escape(name)}</a>'


def folded(summary: str, *parts: str) -> str:
    """Content that opens when it is asked for; on paper it is left out."""
    return f"<details><summary>{escape(summary)}</summary>{''.join(parts)}</details>"


# How a report looks: on a screen of any width, light or dark, and on paper.
