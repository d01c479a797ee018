"""Trees as arrays."""

import pytest
from spacy.tokens import Doc

from spacy_he_coref.mentions.tree import Tree
from tests.mentions.helpers import SPEECH, tree, vocabulary


def test_bounds_and_dependents() -> None:
    arrays = Tree(tree(SPEECH))
    assert len(arrays) == 7
    assert list(zip(arrays.start, arrays.end, strict=True)) == [
        (0, 5),
        (1, 2),
        (2, 3),
        (3, 4),
        (2, 5),
        (0, 7),
        (6, 7),
    ]
    assert (arrays.before[5], arrays.after[5]) == ([0], [6])
    assert arrays.children(4) == [2, 3]
    assert arrays.has(4, "det:def")
    assert not arrays.has(4, "nsubj", "nmod")
    assert [i for i, clitic in enumerate(arrays.clitic) if clitic] == [1]


def test_bounds_of_a_tree_that_is_not_projective() -> None:
    rows = """
ספר NOUN obj 3
אתמול ADV advmod 3
קראתי VERB ROOT 0
ישן ADJ amod 1
"""
    arrays = Tree(tree(rows))
    assert (arrays.start[0], arrays.end[0]) == (0, 4)


def test_bounds_in_a_cycle_are_those_of_the_parts_outside_of_it() -> None:
    words = ["בית", "ספר", "גדול"]
    vocab = vocabulary()
    doc = Doc(vocab, words=words, heads=[1, 0, 1], deps=["nmod", "nmod", "amod"])
    arrays = Tree(doc)
    assert list(zip(arrays.start, arrays.end, strict=True)) == [(0, 1), (1, 3), (2, 3)]


def test_key_is_the_lemma_or_the_text() -> None:
    rows = "ילדים NOUN nsubj 2 lemma=ילד\nבאו VERB ROOT 0"
    assert Tree(tree(rows)).key(0) == "ילד"
    assert Tree(tree(rows, lemmas=False)).key(0) == "ילדים"


def test_quotes_brackets_and_white_space() -> None:
    words = ['"', "א", '"', "(", "ב", "\n", "["]
    pos = ["PUNCT", "NOUN", "PUNCT", "PUNCT", "NOUN", "SPACE", "PUNCT"]
    arrays = Tree(Doc(vocabulary(), words=words, pos=pos))
    assert arrays.quotes(0, 7) == 2
    assert arrays.quotes(1, 3) == 1
    assert arrays.open_brackets(0, 7) == 2
    assert arrays.open_brackets(0, 5) == 1
    assert arrays.marks_only(5, 7)
    assert not arrays.marks_only(4, 7)


@pytest.mark.parametrize("length", [0, 1])
def test_small(length: int) -> None:
    assert len(Tree(Doc(vocabulary(), words=["א"] * length))) == length
