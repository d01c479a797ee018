"""Mentions as marks: they nest, whatever they do to each other."""

import random
from typing import List, Tuple

import pytest

from spacy_he_coref.display.marks import (
    ends_inside_word,
    find_marks,
    heights,
    walk,
)
from tests.display.helpers import story, words


def shape(tokens: str, *spans: Tuple[int, int]) -> str:
    """The events of a text as brackets; ``|`` where a mark is cut and goes on."""
    doc = words(tokens.split(), [[span, (0, 0)] for span in spans])
    marks = find_marks(doc._.coref, singletons=False)
    output = ""
    for event in walk(doc.text, marks):
        if event.mark < 0:
            output += event.text
        else:
            bracket = "[" if event.opens else "]"
            output += bracket if event.whole else f"|{bracket}"
    return output


def test_shapes() -> None:
    assert shape("א ב ג") == "א ב ג"
    assert shape("א ב ג", (0, 3)) == "[א ב ג]"
    assert shape("א ב ג", (1, 2), (0, 3)) == "[א [ב] ג]"
    assert shape("א ב ג", (0, 1), (0, 3), (0, 2)) == "[[[א] ב] ג]"
    assert shape("א ב ג", (2, 3), (1, 3), (1, 3)) == "א [[ב [ג]]]"
    assert shape("א ב ג", (0, 1), (1, 2)) == "[א] [ב] ג"
    # Crossing ones: the second one is cut where the first one ends.
    assert shape("א ב ג", (0, 2), (1, 3)) == "[א [ב|]]|[ ג]"
    assert shape("א ב ג ד", (0, 2), (1, 3), (1, 4)) == "[א [[ב|]|]]|[|[ ג] ד]"


def test_marks_of_a_document() -> None:
    doc = story()
    rows = [
        (doc.text[m.start : m.end], m.cluster, m.place, m.link)
        for m in find_marks(doc._.coref, singletons=True)
    ]
    assert rows == [
        ("דנה", 1, 1, None),
        ("אחיה", 2, 1, None),
        ("ה", 1, 2, 0.64),
        ("היא", 1, 3, 0.25),
        ("ו", 2, 2, 0.8),
        ("בית", 0, 1, 0.75),
    ]
    assert len(find_marks(doc._.coref, singletons=False)) == 5


def test_heights() -> None:
    doc = words("א ב ג ד".split(), [[(0, 4), (0, 2)], [(1, 2), (1, 3)], [(3, 4)] * 2])
    marks = find_marks(doc._.coref, singletons=False)
    events = list(walk(doc.text, marks))
    names = [(mark.span.start, mark.span.end) for mark in marks]
    found = dict(zip(names, heights(events, len(marks)), strict=True))
    # (1, 3) crosses (0, 2), so a piece of it lies inside and is one above (1, 2).
    assert found[1, 2] == 0 and found[1, 3] == 1
    assert found[0, 2] == 2 and found[0, 4] == 3


@pytest.mark.parametrize("seed", range(20))
def test_any_marks_nest_and_keep_the_text(seed: int) -> None:
    chance = random.Random(seed)
    size = 12
    tokens = [chance.choice(["א", "בג", "\n", "x"]) for _ in range(size)]
    spans = []
    for _ in range(chance.randrange(1, 30)):
        start = chance.randrange(size)
        spans.append((start, chance.randrange(start + 1, size + 1)))
    doc = words(tokens, [spans], [chance.random() < 0.5 for _ in tokens])
    marks = find_marks(doc._.coref, singletons=False)
    events = list(walk(doc.text, marks))
    stack: List[int] = []
    seen = [""] * len(marks)
    wholes = [0] * len(marks)
    for event in events:
        if event.mark < 0:
            assert event.text
            for mark in stack:
                seen[mark] += event.text
        elif event.opens:
            stack.append(event.mark)
            wholes[event.mark] += event.whole
        else:
            assert stack.pop() == event.mark
            wholes[event.mark] += event.whole
    assert not stack
    assert "".join(event.text for event in events) == doc.text
    assert seen == [doc.text[mark.start : mark.end] for mark in marks]
    assert wholes == [2] * len(marks)
    height_of = heights(events, len(marks))
    for i, mark in enumerate(marks):
        inner = [
            height_of[j]
            for j, other in enumerate(marks)
            if j > i and mark.start <= other.start and other.end <= mark.end
        ]
        assert height_of[i] > max(inner, default=-1)


def test_end_inside_a_word() -> None:
    text = "אחיה, דב\u05b0רי 5"
    assert ends_inside_word(text, 3)
    assert not ends_inside_word(text, 4)
    # A point belongs to the letter before it.
    assert ends_inside_word(text, text.index("\u05b0"))
    assert not ends_inside_word(text, len(text))
