"""A page of HTML with everything inside it, and the few elements that reports are made of.

The page refers to nothing outside and runs no script: its content policy forbids both. Functions take text and give
HTML; whatever they are given as text is escaped, so a name can hold anything.
"""

import base64
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from farweb.files.atomic import staged_file
from farweb.report.stylesheet import STYLE
from farweb.text.sheet import Sheet, to_html

if TYPE_CHECKING:
    from farweb.plot.chart import Chart

_PIXELS_AN_INCH = 103  # CSS pixels; the widest figures have 9 inches
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
        question: What it answers, where the heading does not say so already; or empty.
        subject: What was simulated, in a few words.
        sections: HTML of the sections in their order.
    """

    title: str
    question: str
    subject: str
    sections: tuple[str, ...]

    def html(self) -> str:
        """The page; the same results give the same page, byte for byte."""
        head = (paragraph(self.question, "question") if self.question else "") + paragraph(self.subject, "subject")
        return _PAGE.format(
            title=escape(self.title), style=STYLE, head=head, body="\n".join(each for each in self.sections if each)
        )

    def write(self, out: Path) -> None:
        """Write the page.

        Raises:
            RunError: The place cannot be written to.
        """
        with staged_file(out) as stage:
            stage.write_text(self.html(), "utf-8")


def section(heading: str, *parts: str, kind: str = "") -> str:
    """A section with its heading; nothing when there is nothing to say."""
    body = "".join(parts)
    if not body:
        return ""
    look = f' class="{kind}"' if kind else ""
    return f"<section{look}><h2>{escape(heading)}</h2>{body}</section>"


def part(heading: str, *parts: str) -> str:
    """A part of a section with a heading of its own; nothing when there is nothing to say."""
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


def facts(told: Iterable[tuple[str, str]]) -> str:
    """A list of which each item begins with what matters."""
    items = "".join(f"<li><strong>{text_of(first)}</strong> {text_of(rest)}</li>" for first, rest in told)
    return items and f"<ul>{items}</ul>"


def text_of(text: str) -> str:
    """Text as HTML; a line does not break between a number and its unit."""
    return escape(_BEFORE_UNIT.sub("\N{NO-BREAK SPACE}", text))


def warnings(texts: Iterable[str]) -> str:
    """Paragraphs that catch the eye."""
    return "".join(paragraph(text, "warning") for text in texts)


def table(sheet: Sheet, *, long: bool = False) -> str:
    """A table that scrolls by itself where the page is too narrow for it.

    Args:
        sheet: The table; nothing is shown when it has no row.
        long: Whether it may have so many rows that it has to scroll that way too.
    """
    if not sheet.rows:
        return ""
    look = "scrolls long" if long else "scrolls"
    # Whoever has no mouse scrolls with the keyboard, which takes the focus.
    return f'<div class="{look}" role="region" aria-label="{escape(sheet.title)}" tabindex="0">{to_html([sheet])}</div>'


def commands(lines: Sequence[str]) -> str:
    """Command lines, as they are typed."""
    return f"<pre><code>{escape(chr(10).join(lines))}</code></pre>"


def figure(chart: "Chart", png: bytes | None = None) -> str:
    """A figure as an embedded image; its caption is in the image, and in words for who cannot see it.

    Args:
        chart: The figure.
        png: What it looks like, where it has been painted before.
    """
    from farweb.plot.chart import encode, words

    image = base64.b64encode(png or encode(chart, "png")).decode("ascii")
    told = escape(words(chart))
    # Figures of one size of letters, whatever theirs is; the widest are as wide as the page.
    width = round(chart.get_figwidth() * _PIXELS_AN_INCH)
    look = ' class="high"' if chart.get_figheight() > chart.get_figwidth() else ""
    return (
        f'<figure><div class="scrolls" role="region" aria-label="Figure" tabindex="0">'
        f'<img{look} alt="{told}" width="{width}" src="data:image/png;base64,{image}"></div></figure>'
    )


def folded(summary: str, *parts: str) -> str:
    """What opens when it is asked for; on paper it is left out."""
    return f"<details><summary>{escape(summary)}</summary>{''.join(parts)}</details>"


_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<main>
<h1>{title}</h1>
{head}
{body}
</main>
</body>
</html>
"""
