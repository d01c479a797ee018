"""Mentions as marks in the text: nested, inside words, and crossing each other.

HTML and the terminal draw the same marks.
"""

import unicodedata
from typing import Iterator, List, NamedTuple, Optional, Sequence, Tuple

from spacy.tokens import Span

from ..coref.reading import DocCoref


class Mark(NamedTuple):
    """A mention in the text.

    start (int), end (int): Characters in the text: first, and after the last.
    cluster (int): Number of its cluster, from 1; 0 for a singleton.
    place (int): Its place in the cluster, from 1.
    span (Span): The mention.
    link (Optional[float]): Confidence of its link; of a singleton, that it is a
        mention.
    """

    start: int
    end: int
    cluster: int
    place: int
    span: Span
    link: Optional[float]


class Event(NamedTuple):
    """A step on the way through a text.

    text (str): Text that comes now; else a mark begins or ends here.
    mark (int): Place of the mark, or -1.
    opens (bool): Whether it begins or ends.
    whole (bool): Whether it really does: a mark that crosses another one is cut
        where the other one ends, and goes on after it.
    """

    text: str
    mark: int
    opens: bool
    whole: bool


def find_marks(coref: DocCoref, singletons: bool) -> List[Mark]:
    """The mentions of a document as marks.

    coref (DocCoref): The clusters.
    singletons (bool): Also those that nothing else refers to.
    RETURNS (List[Mark]): In the order of the text, of those that begin together the
        longer first.
    """
    marks: List[Mark] = []
    for cluster in coref:
        rows = zip(cluster, cluster.links, strict=True)
        for place, (span, link) in enumerate(rows, start=1):
            marks.append(_mark(span, cluster.number, place, link))
    if singletons:
        alone = zip(coref.singletons, coref.singleton_confidences, strict=True)
        marks.extend(_mark(span, 0, 1, score) for span, score in alone)
    # A group may hold an empty span, which has no letters to mark.
    marks = [mark for mark in marks if mark.start < mark.end]
    return sorted(marks, key=lambda mark: (mark.start, -mark.end))


def _mark(span: Span, cluster: int, place: int, link: Optional[float]) -> Mark:
    return Mark(span.start_char, span.end_char, cluster, place, span, link)


def walk(text: str, marks: Sequence[Mark]) -> Iterator[Event]:
    """Go through a text with its marks, which open and close like brackets.

    text (str): The text.
    marks (Sequence[Mark]): The marks, in the order of ``find_marks``.
    YIELDS (Event): Its text, whole and in order, and the marks. They nest; a mark
        that crosses another one comes in pieces.
    """
    stops = sorted({i for mark in marks for i in (mark.start, mark.end)})
    stack: List[int] = []
    upcoming = 0
    position = 0
    for stop in stops:
        if position < stop:
            yield Event(text[position:stop], -1, False, False)
            position = stop
        # Down to the outermost that ends here; others above it go on.
        ending = [i for i, mark in enumerate(stack) if marks[mark].end == stop]
        if ending:
            above = stack[ending[0] :]
            del stack[ending[0] :]
            for mark in reversed(above):
                yield Event("", mark, False, marks[mark].end == stop)
            for mark in above:
                if marks[mark].end > stop:
                    stack.append(mark)
                    yield Event("", mark, True, False)
        while upcoming < len(marks) and marks[upcoming].start == stop:
            stack.append(upcoming)
            yield Event("", upcoming, True, True)
            upcoming += 1
    if position < len(text):
        yield Event(text[position:], -1, False, False)


def heights(events: Sequence[Event], size: int) -> List[int]:
    """How many marks lie in each mark, one in the other.

    events (Sequence[Event]): All steps of ``walk``.
    size (int): The number of marks.
    RETURNS (List[int]): For each mark 0 if no other begins or goes on in it, else one
        more than the highest of those.
    """
    found = [0] * size
    stack: List[Tuple[int, int]] = []
    for event in events:
        if event.mark < 0:
            continue
        if event.opens:
            stack.append((event.mark, 0))
            continue
        mark, height = stack.pop()
        found[mark] = max(found[mark], height)
        if stack:
            outer, most = stack[-1]
            stack[-1] = (outer, max(most, found[mark] + 1))
    return found


def ends_inside_word(text: str, end: int) -> bool:
    """Whether a mark ends between two letters of a word.

    text (str): The text.
    end (int): The character after the last one.
    RETURNS (bool): True if the next one is a letter, a digit, or a sign on a letter.
    """
    return end < len(text) and unicodedata.category(text[end])[0] in "LMN"
