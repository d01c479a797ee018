"""Clusters in a terminal, with colours, right also where it reorders lines (bidi)."""

import re
import unicodedata
from typing import Iterator, List, Optional, Sequence, Tuple

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text
from spacy.tokens import Span

from ..coref.reading import DocCoref, readable
from .colours import TERMINAL, colour_of
from .marks import find_marks, walk

# Isolates (first strong, right to left) with their end, and the marks of direction:
# they keep a line or a cell whole and columns in order where the terminal reorders
# lines, and are not seen where it does not.
FSI, RLI, PDI, LRM, RLM = "\u2068", "\u2067", "\u2069", "\u200e", "\u200f"
# Embeddings, overrides and isolates of the text itself would end ours.
_DIRECTIONS = re.compile("[\u202a-\u202e\u2066-\u2069]")
_SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
# Columns of a line of text, and of a mention in the list.
WIDEST = 88
LONGEST = 60
WIDEST_CELL = 32


def terminal_view(coref: DocCoref, name: str, console: Console) -> Iterator[Text]:
    """Lines for a terminal: the text with its mentions, and the clusters under it.

    A mention stands in brackets with the number of its cluster, [דנה]₁, also inside a
    word, אחי[ה]₁; colours only help. The list has for each cluster its number, main
    mention, size and confidence; under it each mention with its offsets in the text
    and the confidence of its link. Singletons, if the document has them, are its end.

    coref (DocCoref): The clusters.
    name (str): Name of the document.
    console (Console): Where it will be shown: its width is used.
    YIELDS (Text): The lines, to be printed as they are, without wrapping.
    """
    yield Text(f"{LRM}{FSI}{_safe(name)}{PDI}: {summary(coref)}", style="bold")
    if len(coref):
        yield Text()
        yield from _text_lines(coref, console)
        yield Text()
    yield from _table(list_rows(coref, LONGEST))
    yield Text()


def list_rows(
    coref: DocCoref, width: Optional[int]
) -> List[Tuple[int, Tuple[str, ...]]]:
    """The clusters of a document as rows of a list.

    coref (DocCoref): The clusters.
    width (Optional[int]): The most letters of a mention to show; None for all.
    RETURNS (List[Tuple[int, Tuple[str, ...]]]): Of each row the number of the cluster
        that it is the heading of, or 0; and its cells: of a cluster its number with a
        point, main mention, size and confidence; of each mention under it nothing,
        itself, its offsets and the confidence of its link; of singletons, at the end,
        the same after ``-``.
    """
    rows: List[Tuple[int, Tuple[str, ...]]] = []

    def add(first: str, span: Span, confidence: Optional[float]) -> None:
        cells = (first, readable(span, width), _offsets(span), _percent(confidence))
        rows.append((0, cells))

    for cluster in coref:
        main, size = readable(cluster.main, width), _count(len(cluster), "mention")
        cells = (f"{cluster.number}.", main, size, _percent(cluster.confidence))
        rows.append((cluster.number, cells))
        for span, link in zip(cluster, cluster.links, strict=True):
            add("", span, link)
    for span, score in zip(coref.singletons, coref.singleton_confidences, strict=True):
        add("-", span, score)
    return rows


def _text_lines(coref: DocCoref, console: Console) -> Iterator[Text]:
    """The text with its mentions, wrapped."""
    marks = find_marks(coref, singletons=False)
    text = Text()
    stack: List[int] = []
    for event in walk(coref.doc.text, marks):
        style = _style(marks[stack[-1]].cluster) if stack else ""
        if event.mark < 0:
            text.append(_safe(event.text), style)
        elif event.opens:
            stack.append(event.mark)
            if event.whole:
                text.append("[", _style(marks[event.mark].cluster))
        else:
            stack.pop()
            if event.whole:
                cluster = marks[event.mark].cluster
                number = str(cluster).translate(_SUBSCRIPTS)
                text.append(f"]{number}", f"bold {_style(cluster)}")
    width = max(20, min(WIDEST, console.width - 1))
    empty = True
    # Paragraphs stay apart, but by one empty line at most.
    for paragraph in text.split("\n"):
        if not paragraph.plain.strip():
            if not empty:
                yield Text()
            empty = True
            continue
        for line in paragraph.wrap(console, width):
            line.rstrip()
            yield Text.assemble(RLM + RLI, line, PDI)
        empty = False


def _table(rows: Sequence[Tuple[int, Tuple[str, ...]]]) -> Iterator[Text]:
    """Lines of the rows of ``list_rows``, their columns aligned and isolated."""
    cells = [[_safe(cell) for cell in row] for _, row in rows]
    columns = range(len(cells[0]) if cells else 0)
    widths = [min(WIDEST_CELL, max(cell_len(row[i]) for row in cells)) for i in columns]
    for row, (cluster, _) in zip(cells, rows, strict=True):
        shown = (
            f"{FSI}{cell}{PDI}" + " " * (width - cell_len(cell))
            for cell, width in zip(row, widths, strict=True)
        )
        style = f"bold {_style(cluster)}" if cluster else ""
        yield Text(LRM + "  ".join(shown).rstrip(), style)


def _style(cluster: int) -> str:
    return TERMINAL[colour_of(cluster)]


def _safe(text: str) -> str:
    """A text without what would steer the terminal; line ends stay."""
    text = _DIRECTIONS.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    return "".join(
        character
        if character == "\n" or unicodedata.category(character) != "Cc"
        else " "
        if character.isspace()
        else "\ufffd"
        for character in text
    )


def summary(coref: DocCoref) -> str:
    """What there is, in one line: ``2 clusters, 5 mentions``."""
    parts = [
        _count(len(coref), "cluster"),
        _count(sum(map(len, coref)), "mention"),
    ]
    if coref.singletons:
        parts.append(_count(len(coref.singletons), "singleton"))
    return ", ".join(parts)


def _count(number: int, what: str) -> str:
    return f"{number} {what}" + ("" if number == 1 else "s")


def _percent(confidence: Optional[float]) -> str:
    return "" if confidence is None else f"{confidence:.0%}"


def _offsets(span: Span) -> str:
    return f"{span.start_char}:{span.end_char}"
