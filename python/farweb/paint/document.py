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

from farweb.files.atomic import staged_file
from farweb.paint.chart import Chart
from farweb.paint.figure import Figure
from farweb.paint.html import framed
from farweb.text.sheet import Part, Sheet, to_html
from farweb.text.words import capital, visible

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
        return visible(framed(self.title, _STYLE, main))

    def write(self, out: Path) -> None:
        """Write the page.

        Raises:
            RunError: The place cannot be written to.
        """
        with staged_file(out) as stage:
            stage.write_text(self.html(), "utf-8")


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
    from farweb.paint.figure import AROUND
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
_STYLE = """
:root { color-scheme: light; --ink: #222; --quiet: #5f5f5f; --paper: #fff; --shade: #f5f6f7; --rule: #e0e2e4;
        --strong-rule: #6b6b6b; --accent: #005a8e; --warn: #b26a00; --warn-shade: #fdf6e9;
        --better: #1a7f37; --worse: #b3261e; }
@media screen and (prefers-color-scheme: dark) {
  :root { color-scheme: dark; --ink: #e4e4e4; --quiet: #a8a8a8; --paper: #17191b; --shade: #212427; --rule: #34383c;
          --strong-rule: #8a8a8a; --accent: #74bdf0; --warn: #e6a13c; --warn-shade: #2a2419;
          --better: #6fce87; --worse: #ff9087; }
}
* { box-sizing: border-box; }
body { max-width: 72rem; margin: 2rem auto 4rem; padding: 0 1rem; color: var(--ink); background: var(--paper);
       font: 16px/1.5 system-ui, "Segoe UI", "Helvetica Neue", Arial, "Liberation Sans", "DejaVu Sans", sans-serif;
       overflow-wrap: break-word; -webkit-text-size-adjust: 100%; }
h1 { font-size: 1.75rem; line-height: 1.25; margin: 0 0 .4rem; text-wrap: balance; }
h2 { margin: 2.6rem 0 .6rem; font-size: 1.25rem; } h3 { margin: 1.6rem 0 .4rem; font-size: 1rem; }
p, ul { max-width: 60rem; margin: .6rem 0; } ul { padding-left: 1.2rem; } li { margin: .25rem 0; }
.question { font-size: 1.1rem; margin: 0 0 .4rem; }
.subject, .note { color: var(--quiet); } .note { font-size: .875rem; } .subject { margin-top: 0; }
.headline, .subject { max-width: none; }
.headline { font-size: 1.35rem; line-height: 1.35; margin: 1rem 0; padding-left: .9rem; text-wrap: pretty;
            border-left: 4px solid var(--accent); }
.beside { display: grid; grid-template-columns: minmax(0, 1fr) 330px; gap: 1.5rem; align-items: start; }
.beside table, .beside figure { margin-top: 0; }
.better { color: var(--better); } .worse { color: var(--worse); }
.warning { margin: .5rem 0; padding: .4rem .9rem; background: var(--warn-shade); border-left: 4px solid var(--warn); }
.scrolls { overflow-x: auto;
           background: linear-gradient(to left, var(--paper) 40%, transparent) right / 2rem 100% no-repeat local,
                       linear-gradient(to left, var(--rule), transparent) right / 1rem 100% no-repeat scroll; }
.scrolls:focus-visible, summary:focus-visible { outline: 2px solid var(--accent); }
.long { max-height: 32rem; overflow: auto; }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; margin: .8rem 0 1.2rem; }
caption { text-align: left; font-weight: 600; padding-bottom: .3rem; }
th, td { padding: .3rem 1.1rem .3rem 0; text-align: right; vertical-align: top; border-bottom: 1px solid var(--rule);
         white-space: nowrap; }
small { color: var(--quiet); font-size: .85em; } thead th { white-space: normal; }
thead th, thead td { font-weight: 600; vertical-align: bottom; border-bottom-color: var(--strong-rule); }
tbody th { font-weight: normal; white-space: pre; } th.name, td.name { text-align: left; }
figure { margin: 1.2rem 0 1.8rem; } figure img { display: block; max-width: 100%; height: auto; background: #fff; }
figure p { font-weight: 600; margin: 0 0 .3rem; }
figcaption { max-width: 60rem; margin-top: .3rem; font-size: .8rem; color: var(--quiet); }
pre { font-size: .8rem; line-height: 1.4; overflow-x: auto; background: var(--shade); padding: .8rem; margin: .6rem 0; }
code { font-size: .9em; } summary { cursor: pointer; margin: .6rem 0; color: var(--accent); }
.path svg { display: block; height: auto; max-width: 100%; font-size: 12.5px; }
.path text { fill: var(--ink); } .path .node { fill: var(--shade); stroke: var(--strong-rule); }
.path .name { font-weight: 600; font-size: 13px; } .path .wire { stroke: var(--strong-rule); fill: none; }
.path .head { fill: var(--strong-rule); } .path .way { fill: var(--quiet); }
.path .leg { stroke: var(--accent); fill: none; stroke-width: 1.5; }
.path .varied { fill: var(--accent); font-weight: 700; } .varied { color: var(--accent); font-weight: 600; }
.paper { display: none; }
@media (max-width: 42rem) {
  body { margin-top: 1rem; } h1 { font-size: 1.4rem; }
  .beside { display: block; }
  table { font-size: .75rem; } th, td { padding-right: .45rem; } td { white-space: normal; }
  tbody th { white-space: pre-wrap; min-width: 5.5rem; overflow-wrap: anywhere; }
  .wide table, .wide tbody, .wide thead, .wide tr, .wide caption { display: block; }
  .wide tbody tr { padding: .3rem 0; border-bottom: 1px solid var(--rule); }
  .wide th, .wide td { display: inline-block; border: 0; padding: 0 .8rem 0 0; text-align: left; white-space: normal; }
  .wide tbody th { min-width: 0; font-weight: 600; white-space: pre-wrap; }
  .wide td:empty, .wide thead :not(tr, .name) { display: none; }
  .wide td[data-head]::before { content: attr(data-head) " "; color: var(--quiet); }
  figure img { width: 100%; } figure .scrolls img { width: 32rem; max-width: none; }
}
@page { size: A4; margin: 16mm 15mm; }
@media print {
  :root { --shade: #f5f6f7; }
  html { font-size: 10pt; }
  body { margin: 0; padding: 0; max-width: none; font-size: 10pt; line-height: 1.4; }
  tbody th { white-space: pre-wrap; }
  h1 { font-size: 18pt; } h2 { margin-top: 2rem; }
  h2, h3, caption { break-after: avoid; }
  table { font-size: 8pt; margin: .5rem 0 .9rem; } th, td { padding: .2rem .8rem .2rem 0; }
  thead { display: table-header-group; }
  figure { margin: .4rem 0 1.2rem; } figure img { width: auto; max-width: 100%; max-height: 118mm; margin: 0 auto; }
  figure img.high { max-height: 190mm; }
  figure, table, tr, .warning, .path, li { break-inside: avoid; }
  .warning { -webkit-print-color-adjust: exact; print-color-adjust: exact; }
  .scrolls { overflow: visible; }
  pre { break-before: avoid; break-inside: avoid; white-space: pre-wrap; overflow-wrap: anywhere; }
  p, li { orphans: 3; widows: 3; }
  details { display: none; } .paper { display: block; }
}
"""
