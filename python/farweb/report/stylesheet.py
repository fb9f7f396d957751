"""How a report looks: on a screen of any width, light or dark, and on paper."""

STYLE = """
:root { color-scheme: light; --ink: #222; --quiet: #5f5f5f; --paper: #fff; --shade: #f5f6f7; --rule: #e0e2e4;
        --strong-rule: #6b6b6b; --accent: #005a8e; --warn: #b26a00; --warn-shade: #fdf6e9; }
@media screen and (prefers-color-scheme: dark) {
  :root { color-scheme: dark; --ink: #e4e4e4; --quiet: #a8a8a8; --paper: #17191b; --shade: #212427; --rule: #34383c;
          --strong-rule: #8a8a8a; --accent: #74bdf0; --warn: #e6a13c; --warn-shade: #2a2419; }
}
* { box-sizing: border-box; }
body { max-width: 60rem; margin: 2rem auto 4rem; padding: 0 1rem; color: var(--ink); background: var(--paper);
       font: 16px/1.5 system-ui, "Segoe UI", "Helvetica Neue", Arial, "Liberation Sans", "DejaVu Sans", sans-serif;
       overflow-wrap: break-word; -webkit-text-size-adjust: 100%; }
h1 { font-size: 1.75rem; line-height: 1.25; margin: 0 0 .4rem; text-wrap: balance; }
h2 { margin: 2.6rem 0 .6rem; font-size: 1.25rem; } h3 { margin: 1.6rem 0 .4rem; font-size: 1rem; }
p { margin: .6rem 0; } ul { margin: .6rem 0; padding-left: 1.2rem; } li { margin: .25rem 0; }
.question { font-size: 1.1rem; margin: 0 0 .4rem; }
.subject, .note { color: var(--quiet); } .note { font-size: .875rem; } .subject { margin-top: 0; }
.answer { margin-top: 1.4rem; padding: .2rem 1.1rem .5rem; background: var(--shade);
          border-left: 4px solid var(--accent); }
.answer h2 { margin: .8rem 0 .2rem; font-size: 1rem; } .answer > ul { list-style: none; padding: 0; }
.answer li { margin: .45rem 0; } .answer li:first-child { font-size: 1.1rem; }
.warning { margin: .5rem 0; padding: .4rem .9rem; background: var(--warn-shade); border-left: 4px solid var(--warn); }
.scrolls { overflow-x: auto; } .scrolls:focus-visible, summary:focus-visible { outline: 2px solid var(--accent); }
.long { max-height: 32rem; overflow: auto; }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; margin: .8rem 0 1.2rem; }
caption { text-align: left; font-weight: 600; padding-bottom: .3rem; }
th, td { padding: .3rem 1.1rem .3rem 0; text-align: right; vertical-align: top; border-bottom: 1px solid var(--rule);
         white-space: nowrap; }
small { color: var(--quiet); font-size: .85em; } thead th { white-space: normal; }
thead th, thead td { font-weight: 600; vertical-align: bottom; border-bottom-color: var(--strong-rule); }
tbody th { font-weight: normal; } th.name, td.name { text-align: left; }
figure { margin: 1.2rem 0 1.8rem; } figure img { display: block; max-width: 100%; height: auto; background: #fff; }
pre { font-size: .8rem; line-height: 1.4; overflow-x: auto; background: var(--shade); padding: .8rem; margin: .6rem 0; }
code { font-size: .9em; } summary { cursor: pointer; margin: .6rem 0; color: var(--accent); }
.path svg { display: block; height: auto; max-width: 100%; margin: 0 auto; font-size: 12.5px; }
.path text { fill: var(--ink); } .path .node { fill: var(--shade); stroke: var(--strong-rule); }
.path .name { font-weight: 600; font-size: 13px; } .path .wire { stroke: var(--strong-rule); fill: none; }
.path .head { fill: var(--strong-rule); } .path .way { fill: var(--quiet); }
.path .leg { stroke: var(--accent); fill: none; stroke-width: 1.5; }
.path .varied { fill: var(--accent); font-weight: 700; } .varied { color: var(--accent); font-weight: 600; }
.path .tall { display: none; } .paper { display: none; }
@media (max-width: 42rem) {
  body { margin-top: 1rem; } h1 { font-size: 1.4rem; }
  .path .wide { display: none; } .path .tall { display: block; }
  table { font-size: .82rem; } th, td { padding-right: .8rem; } tbody th { white-space: normal; }
  figure img { width: 32rem; max-width: none; }
}
@page { size: A4; margin: 16mm 15mm; }
@media print {
  :root { --shade: #f5f6f7; }
  html { font-size: 10pt; }
  body { margin: 0; padding: 0; max-width: none; font-size: 10pt; line-height: 1.4; }
  tbody th { white-space: normal; }
  h1 { font-size: 18pt; } h2 { margin-top: 2rem; }
  h2, h3, caption { break-after: avoid; }
  .path .wide { display: block; } .path .tall { display: none; }
  table { font-size: 8pt; margin: .5rem 0 .9rem; } th, td { padding: .2rem .8rem .2rem 0; }
  thead { display: table-header-group; }
  figure { margin: .4rem 0 1.2rem; } figure img { width: auto; max-width: 100%; max-height: 118mm; margin: 0 auto; }
  figure img.high { max-height: 190mm; }
  figure, table, tr, .warning, .answer li, .path, li { break-inside: avoid; }
  .answer, .warning { -webkit-print-color-adjust: exact; print-color-adjust: exact; }
  .scrolls { overflow: visible; }
  pre { break-before: avoid; break-inside: avoid; white-space: pre-wrap; overflow-wrap: anywhere; }
  p, li { orphans: 3; widows: 3; }
  details { display: none; } .paper { display: block; }
}
"""
