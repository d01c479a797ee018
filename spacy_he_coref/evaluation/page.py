"""A page of headings, tables, plots and excerpts, as Markdown and as HTML.

The HTML is one file that needs no network and no script: its style and its plots (SVG)
stand in it. It follows the reader's light or dark setting, prints, and Hebrew stands in
elements of its own direction, so that it never turns the figures beside it round.
"""

import re
from dataclasses import dataclass
from html import escape
from itertools import count
from typing import (
    Dict,
    Iterable,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Sequence,
    Tuple,
    Union,
)

Cell = Union[str, int, float, None]
# What stands for a value that is not there.
DASH = "–"
_HEBREW = re.compile(
    r"[\u0590-\u05ff\ufb1d-\ufb4f](?:[^A-Za-z0-9<>&|]*[\u0590-\u05ff\ufb1d-\ufb4f])?"
)
_CODE = re.compile(r"`([^`]+)`")


@dataclass(frozen=True)
class Heading:
    """A heading.

    text (str): What it says.
    level (int): 1 for the title of the page, 2 for what the list of contents has.
    """

    text: str
    level: int = 2


@dataclass(frozen=True)
class Text:
    """A paragraph; what stands between backticks is code.

    text (str): What it says.
    """

    text: str


@dataclass(frozen=True)
class Table:
    """A table whose first column says what each row is.

    caption (str): What it shows.
    columns (Sequence[str]): Headings of the columns.
    rows (Sequence[Sequence[Cell]]): The cells; None for a value that is not there,
        floats are shown with one decimal.
    """

    caption: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]


@dataclass(frozen=True)
class Plot:
    """A plot; its figures stand in a table beside it, which Markdown has alone.

    title (str): What it shows.
    svg (str): What is inside its SVG element.
    width (int), height (int): Its size.
    """

    title: str
    svg: str
    width: int
    height: int


class Mark(NamedTuple):
    """A part of an excerpt that stands out.

    start (int), end (int): Its characters.
    name (str): Whose it is: ``predicted``, ``gold`` or ``other``.
    """

    start: int
    end: int
    name: str


@dataclass(frozen=True)
class Excerpt:
    """Some text of a document with marks in it.

    title (str): What it is an example of.
    text (str): The text, Hebrew.
    marks (Sequence[Mark]): What stands out in it, by characters of the text.
    """

    title: str
    text: str
    marks: Sequence[Mark]


Block = Union[Heading, Text, Table, Plot, Excerpt]


def shown(cell: Cell) -> str:
    """A cell as tables show it.

    cell (Cell): The value.
    RETURNS (str): Floats with one decimal, a dash for None.
    """
    if cell is None:
        return DASH
    return f"{cell:.1f}" if isinstance(cell, float) else str(cell)


def _pieces(item: Excerpt) -> List[Tuple[str, List[str]]]:
    """The text of an excerpt, cut where marks begin and end, with the names there."""
    ends = {0, len(item.text)}
    ends.update(end for mark in item.marks for end in (mark.start, mark.end))
    cuts = sorted(ends)
    return [
        (
            item.text[a:b],
            sorted({m.name for m in item.marks if m.start <= a and b <= m.end}),
        )
        for a, b in zip(cuts, cuts[1:], strict=False)
    ]


# Markdown


def to_markdown(blocks: Iterable[Block]) -> str:
    """Write a page as Markdown, without its plots.

    blocks (Iterable[Block]): The page.
    RETURNS (str): The Markdown.
    """
    parts: List[str] = []
    for block in blocks:
        if isinstance(block, Heading):
            parts.append(f"{'#' * block.level} {block.text}")
        elif isinstance(block, Text):
            parts.append(block.text)
        elif isinstance(block, Table):
            parts.append(f"*{block.caption}*")
            parts.append("\n".join(_markdown_rows(block)))
        elif isinstance(block, Excerpt):
            parts.append(f"{block.title}:")
            # Inside a paragraph of HTML nothing is read as Markdown.
            parts.append(f'<p dir="rtl" lang="he">{_tagged(block)}</p>')
    return "\n\n".join(parts) + "\n"


def _tagged(item: Excerpt) -> str:
    tags = {"predicted": "b", "gold": "ins", "other": "i"}
    output: List[str] = []
    for piece, names in _pieces(item):
        text = escape(piece)
        for name in names:
            text = f"<{tags[name]}>{text}</{tags[name]}>"
        output.append(text)
    return "".join(output)


def _markdown_rows(table: Table) -> Iterable[str]:
    def line(cells: Iterable[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"

    yield line(table.columns)
    yield line(["---"] + ["---:"] * (len(table.columns) - 1))
    for row in table.rows:
        yield line(map(shown, row))


# HTML

_STYLE = """
:root { color-scheme: light dark; --paper: #fff; --ink: #1b1f24; --soft: #59636e;
  --line: #d0d7de; --band: #f3f5f7; --s0: #0b62b8; --s1: #b3470b; --s2: #2d7d46;
  --s3: #7a3fa5; --gold: #fff0b3; --predicted: #cfe5ff; }
@media (prefers-color-scheme: dark) { :root { --paper: #14181d; --ink: #e6e9ed;
  --soft: #9da7b1; --line: #3a424b; --band: #1e242b; --s0: #63aef5; --s1: #f0935a;
  --s2: #6cc489; --s3: #c59ae6; --gold: #5c4a00; --predicted: #0d3d70; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 62rem; padding: 1rem 1.25rem 4rem;
  background: var(--paper); color: var(--ink); line-height: 1.5;
  font-family: system-ui, "Segoe UI", "Noto Sans", "Noto Sans Hebrew", Arial,
  sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.2; } h2 { font-size: 1.3rem; margin-top: 2.5rem;
  border-bottom: 1px solid var(--line); padding-bottom: .2rem; }
h3 { font-size: 1.05rem; margin-top: 1.8rem; }
a { color: var(--s0); } p { max-width: 46rem; }
nav ul { columns: 2; padding-left: 1.2rem; }
code { font-family: ui-monospace, "DejaVu Sans Mono", monospace; font-size: .9em;
  background: var(--band); padding: 0 .2em; overflow-wrap: anywhere; }
.wide { overflow-x: auto; margin: 1rem 0; }
table { border-collapse: collapse; font-size: .92rem; }
caption { text-align: start; color: var(--soft); padding: .2rem 0; }
th, td { padding: .25rem .6rem; border-bottom: 1px solid var(--line);
  text-align: end; vertical-align: top; font-variant-numeric: tabular-nums; }
th:first-child, .words { text-align: start; }
thead th { border-bottom: 2px solid var(--line); }
tbody th { font-weight: 500; } tbody tr:nth-child(even) { background: var(--band); }
figure { margin: 1rem 0; } figure svg { width: 100%; height: auto; max-width: 46rem; }
figcaption { color: var(--soft); font-size: .92rem; }
svg text { fill: var(--ink); font-size: 13px; } svg .soft { fill: var(--soft); }
svg .axis { stroke: var(--line); } svg .whisker { stroke: var(--ink); stroke-width: 2; }
.s0 { fill: var(--s0); } .s1 { fill: var(--s1); } .s2 { fill: var(--s2); }
.s3 { fill: var(--s3); } .line0 { stroke: var(--s0); } .line1 { stroke: var(--s1); }
.line2 { stroke: var(--s2); } .line3 { stroke: var(--s3); }
blockquote { margin: .3rem 0 1rem; padding: .4rem .9rem; background: var(--band);
  border-inline-start: 3px solid var(--line); max-width: 46rem; }
.title { margin: .8rem 0 0; font-size: .92rem; color: var(--soft); }
mark { color: inherit; padding: 0 .1em; background: var(--predicted);
  border-bottom: 2px dashed var(--s0); }
mark.other { background: none; border-bottom: 2px dotted var(--s1); }
mark.gold { background: var(--gold); border-bottom: 2px solid var(--s2); }
mark.predicted.gold, mark.predicted.other { background: var(--predicted); }
@media print { body { max-width: none; padding: 0; font-size: 10pt; }
  nav { display: none; } .wide { overflow: visible; } table { font-size: 8pt; }
  th, td { padding: .1rem .3rem; } h2, h3 { break-after: avoid; }
  tr, figure, blockquote { break-inside: avoid; } thead { display: table-header-group; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; } }
@media print { :root { color-scheme: light; --paper: #fff; --ink: #000; --soft: #444;
  --line: #bbb; --band: #f3f5f7; --s0: #0b62b8; --s1: #b3470b; --s2: #2d7d46;
  --s3: #7a3fa5; --gold: #fff0b3; --predicted: #cfe5ff; } }
"""


def inline(text: str) -> str:
    """A line of text as HTML, Hebrew in elements of its own direction.

    text (str): The text; what stands between backticks is code.
    RETURNS (str): The HTML.
    """
    parts = _CODE.split(text)
    output: List[str] = []
    for i, part in enumerate(parts):
        safe = _HEBREW.sub(
            lambda match: f'<bdi lang="he" dir="rtl">{match[0]}</bdi>', escape(part)
        )
        output.append(f"<code>{safe}</code>" if i % 2 else safe)
    return "".join(output)


def to_html(blocks: Sequence[Block]) -> str:
    """Write a page as one HTML file.

    blocks (Sequence[Block]): The page; the first heading is its title.
    RETURNS (str): The HTML.
    """
    numbers = count(1)
    anchors = [
        f"s{next(numbers)}" if isinstance(block, Heading) else "" for block in blocks
    ]
    title = next((b.text for b in blocks if isinstance(b, Heading)), "")
    contents = "".join(
        f'<li><a href="#{anchor}">{inline(block.text)}</a></li>'
        for block, anchor in zip(blocks, anchors, strict=True)
        if isinstance(block, Heading) and block.level == 2
    )
    body: List[str] = []
    for block, anchor in zip(blocks, anchors, strict=True):
        if isinstance(block, Heading):
            if block.level == 2 and contents:
                body.append(f'<nav aria-label="Contents"><ul>{contents}</ul></nav>')
                contents = ""
            body.append(
                f'<h{block.level} id="{anchor}">{inline(block.text)}</h{block.level}>'
            )
        else:
            body.append(_html_block(block))
    return (
        '<!DOCTYPE html>\n<html lang="en" dir="ltr">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        "<main>\n" + "\n".join(body) + "\n</main>\n</body>\n</html>\n"
    )


def _html_block(block: Block) -> str:
    if isinstance(block, Text):
        return f"<p>{inline(block.text)}</p>"
    if isinstance(block, Plot):
        return (
            f'<figure><svg role="img" viewBox="0 0 {block.width} {block.height}" '
            f'aria-label="{escape(block.title)}">{block.svg}</svg>'
            f"<figcaption>{inline(block.title)}</figcaption></figure>"
        )
    if isinstance(block, Excerpt):
        text = "".join(
            f'<mark class="{" ".join(names)}" title="{" and ".join(names)}">'
            f"{escape(piece)}</mark>"
            if names
            else escape(piece)
            for piece, names in _pieces(block)
        )
        return (
            f'<p class="title">{inline(block.title)}</p>'
            f'<blockquote lang="he" dir="rtl">{text}</blockquote>'
        )
    assert isinstance(block, Table)
    words = {i for row in block.rows for i, cell in enumerate(row) if _is_words(cell)}
    head = "".join(
        f'<th scope="col"{_kind(i in words)}>{inline(name)}</th>'
        for i, name in enumerate(block.columns)
    )
    rows = "".join(_html_row(row) for row in block.rows)
    return (
        f'<div class="wide" role="region" tabindex="0" '
        f'aria-label="{escape(block.caption)}"><table>'
        f"<caption>{inline(block.caption)}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{rows}</tbody></table></div>"
    )


def _html_row(row: Sequence[Cell]) -> str:
    cells = [f'<th scope="row">{inline(shown(row[0]))}</th>']
    for cell in row[1:]:
        cells.append(f"<td{_kind(_is_words(cell))}>{inline(shown(cell))}</td>")
    return f"<tr>{''.join(cells)}</tr>"


def _is_words(cell: Cell) -> bool:
    return isinstance(cell, str) and bool(re.search(r"[^\W\d_]{3}", cell))


def _kind(words: bool) -> str:
    return ' class="words"' if words else ""


# Plots

WIDTH = 720
_LEFT, _RIGHT = 230, 60
_ROW = 26


def _x(value: float, top: float) -> float:
    return round(_LEFT + (WIDTH - _LEFT - _RIGHT) * value / top, 1)


def _text(x: float, y: float, text: str, anchor: str = "start", kind: str = "") -> str:
    return (
        f'<text x="{x}" y="{y}" text-anchor="{anchor}" class="{kind}">'
        f"{escape(text)}</text>"
    )


def _axis(height: int, top: float) -> str:
    """Vertical lines at fifths of the range, with their values."""
    lines = []
    for i in range(6):
        value = top * i / 5
        x = _x(value, top)
        lines.append(
            f'<line class="axis" x1="{x}" y1="4" x2="{x}" y2="{height - 20}"/>'
            + _text(x, height - 5, f"{value:g}", "middle", "soft")
        )
    return "".join(lines)


class Step(NamedTuple):
    """One bar of a ladder.

    name (str): What it is.
    start (float), end (float): From where to where it goes.
    series (int): Number of its colour.
    """

    name: str
    start: float
    end: float
    series: int


def ladder_plot(title: str, steps: Sequence[Step], top: float = 100) -> Plot:
    """Bars that each begin where the one before ended.

    title (str): What the plot shows.
    steps (Sequence[Step]): The bars, from top to bottom.
    top (float): Greatest value of the axis.
    RETURNS (Plot): The plot.
    """
    height = _ROW * len(steps) + 32
    parts = [_axis(height, top)]
    for i, step in enumerate(steps):
        y = 8 + i * _ROW
        low, high = sorted((step.start, step.end))
        width = max(round(_x(high, top) - _x(low, top), 1), 1)
        value = f"{step.end - step.start:+.1f}" if step.start else f"{step.end:.1f}"
        parts.append(
            f'<rect class="s{step.series % 4}" x="{_x(low, top)}" y="{y}" '
            f'width="{width}" height="{_ROW - 8}"/>'
            + _text(_LEFT - 8, y + 14, step.name, "end")
            + _text(_x(high, top) + 5, y + 14, value)
        )
    return Plot(title, "".join(parts), WIDTH, height)


class Point(NamedTuple):
    """A value with its interval.

    name (str): What it is of.
    value (float): The value.
    ends (Optional[Sequence[float]]): The ends of its interval.
    series (int): Number of its colour.
    """

    name: str
    value: float
    ends: Optional[Sequence[float]]
    series: int


def interval_plot(title: str, points: Sequence[Point], top: float = 100) -> Plot:
    """Values with whiskers.

    title (str): What the plot shows.
    points (Sequence[Point]): The values, from top to bottom.
    top (float): Greatest value of the axis.
    RETURNS (Plot): The plot.
    """
    height = _ROW * len(points) + 32
    parts = [_axis(height, top)]
    for i, point in enumerate(points):
        y = 8 + i * _ROW + 9
        if point.ends:
            low, high = (_x(end, top) for end in point.ends)
            parts.append(
                f'<line class="whisker" x1="{low}" y1="{y}" x2="{high}" y2="{y}"/>'
            )
        x = _x(point.value, top)
        right = max(x, _x(point.ends[1], top) if point.ends else x)
        parts.append(
            f'<circle class="s{point.series % 4}" cx="{x}" cy="{y}" r="6"/>'
            + _text(_LEFT - 8, y + 5, point.name, "end")
            + _text(right + 9, y + 5, f"{point.value:.1f}")
        )
    return Plot(title, "".join(parts), WIDTH, height)


def bar_plot(
    title: str,
    groups: Mapping[str, Sequence[Optional[float]]],
    series: Sequence[str],
    top: float = 100,
) -> Plot:
    """Bars side by side.

    title (str): What the plot shows.
    groups (Mapping[str, Sequence[Optional[float]]]): By name of the group one value of
        each series, None for none.
    series (Sequence[str]): What each colour is.
    top (float): Greatest value of the axis.
    RETURNS (Plot): The plot.
    """
    thick = 13
    parts: List[str] = []
    y = 8
    for name, values in groups.items():
        middle = y + thick * len(values) / 2 + 4
        parts.append(_text(_LEFT - 8, middle, name, "end"))
        for i, value in enumerate(values):
            if value is not None:
                width = max(round(_x(value, top) - _LEFT, 1), 1)
                parts.append(
                    f'<rect class="s{i % 4}" x="{_LEFT}" y="{y}" width="{width}" '
                    f'height="{thick - 2}"/>'
                    + _text(_LEFT + width + 5, y + 10, f"{value:.1f}", "start", "soft")
                )
            y += thick
        y += 9
    height = y + 24
    legend = _legend(series, height + 14) if len(series) > 1 else ""
    return Plot(
        title,
        _axis(height, top) + "".join(parts) + legend,
        WIDTH,
        height + (24 if legend else 0),
    )


def _legend(series: Sequence[str], y: int) -> str:
    parts = []
    x = _LEFT
    for i, name in enumerate(series):
        parts.append(
            f'<rect class="s{i % 4}" x="{x}" y="{y - 10}" width="11" height="11"/>'
            + _text(x + 16, y, name)
        )
        x += 40 + 8 * len(name)
    return "".join(parts)


def reliability_plot(
    title: str, series: Dict[str, Sequence[Tuple[float, float]]]
) -> Plot:
    """Confidence against the share that was right, in percent.

    title (str): What the plot shows.
    series (Dict[str, Sequence[Tuple[float, float]]]): By name the points.
    RETURNS (Plot): The plot; on the line from corner to corner confidences are right.
    """
    size, left, top = 260, 60, 10

    def place(x: float, y: float) -> str:
        return f"{left + size * x / 100:.1f},{top + size * (100 - y) / 100:.1f}"

    parts = [
        f'<polyline class="axis" fill="none" points="{place(0, 0)} {place(100, 100)}"/>'
        f'<rect class="axis" fill="none" x="{left}" y="{top}" width="{size}" '
        f'height="{size}"/>'
    ]
    for value in (0, 50, 100):
        x, y = (float(part) for part in place(value, value).split(","))
        parts.append(_text(x, top + size + 16, str(value), "middle", "soft"))
        parts.append(_text(left - 6, y + 5, str(value), "end", "soft"))
    parts.append(_text(left + size / 2, top + size + 34, "mean confidence", "middle"))
    parts.append(_text(left + size + 16, top + 12, "right, in percent; colours:"))
    for i, (name, points) in enumerate(series.items()):
        line = " ".join(place(x, y) for x, y in points)
        parts.append(
            f'<polyline class="line{i % 4}" fill="none" stroke-width="2" '
            f'points="{line}"/>'
        )
        for x, y in points:
            cx, cy = place(x, y).split(",")
            parts.append(f'<circle class="s{i % 4}" cx="{cx}" cy="{cy}" r="3.5"/>')
        y = top + 36 + 20 * i
        parts.append(
            f'<rect class="s{i % 4}" x="{left + size + 16}" y="{y - 10}" width="11" '
            f'height="11"/>' + _text(left + size + 33, y, name)
        )
    return Plot(title, "".join(parts), WIDTH, top + size + 44)
