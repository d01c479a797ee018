"""Where punctuation hangs, on sentences with hand-made trees."""

from typing import List

import pytest

from spacy_he_coref.parser.punctuation import attach_punctuation


def attach(rows: str) -> List[str]:
    """Heads of the punctuation, as words.

    rows (str): The tokens as ``word/head/relation``, heads counted from 1 and 0 for
        the root; punctuation as ``word/?/punct``, which first hangs on the first token.
    """
    words, heads, labels = [], [], []
    for i, row in enumerate(rows.split()):
        word, head, label = row.split("/")
        words.append(word)
        labels.append(label)
        heads.append(0 if head == "?" else i if head == "0" else int(head) - 1)
    attach_punctuation(words, heads, labels)
    return [
        words[h] for h, label in zip(heads, labels, strict=True) if label == "punct"
    ]


def test_final_mark_hangs_on_the_root() -> None:
    assert attach("דנה/2/nsubj הלכה/0/ROOT הביתה/2/advmod ./?/punct") == ["הלכה"]


def test_final_mark_hangs_on_a_modal_before_the_root() -> None:
    rows = "דנה/2/nsubj צריכה/3/aux ללכת/0/ROOT ./?/punct"
    assert attach(rows) == ["צריכה"]


def test_comma_hangs_on_the_lowest_word_above_both_sides() -> None:
    rows = "ראיתי/0/ROOT לחם/1/obj ,/?/punct גבינה/2/conj ו/6/cc חלב/2/conj ./?/punct"
    assert attach(rows) == ["לחם", "ראיתי"]


def test_quotation_marks_and_brackets_hang_on_what_they_enclose() -> None:
    rows = 'קראתי/0/ROOT ספר/1/obj "/?/punct מלחמה/2/appos ו/6/cc שלום/4/conj "/?/punct'
    assert attach(rows) == ["מלחמה", "מלחמה"]
    rows = "דן/6/nsubj (/?/punct בן/1/appos עשר/3/nummod )/?/punct בא/0/ROOT"
    assert attach(rows) == ["בן", "בן"]


def test_colon_hangs_on_the_clause_after_it() -> None:
    rows = "אמר/0/ROOT דן/1/nsubj :/?/punct אני/5/nsubj הולך/1/ccomp"
    assert attach(rows) == ["הולך"]
    rows = "קנינו/0/ROOT פירות/1/obj :/?/punct תפוח/2/appos"
    assert attach(rows) == ["פירות"]


def test_mark_without_partner_hangs_by_its_place() -> None:
    rows = "ראיתי/0/ROOT (/?/punct לחם/1/obj"
    assert attach(rows) == ["ראיתי"]
    assert attach('"/?/punct שלום/0/ROOT') == ["שלום"]


def test_punctuation_with_dependents_stays() -> None:
    rows = "./2/punct שלום/0/ROOT -/2/punct לך/3/obl"
    words, heads, labels = [], [], []
    for i, row in enumerate(rows.split()):
        word, head, label = row.split("/")
        words.append(word)
        heads.append(i if head == "0" else int(head) - 1)
        labels.append(label)
    attach_punctuation(words, heads, labels)
    assert heads == [1, 1, 1, 2]


@pytest.mark.parametrize("word", [".", '"', "("])
def test_punctuation_alone(word: str) -> None:
    heads = [0]
    attach_punctuation([word], heads, ["ROOT"])
    assert heads == [0]
    heads = [0, 0, 0]
    attach_punctuation([word] * 3, heads, ["ROOT", "punct", "punct"])
    assert heads == [0, 0, 0]


def test_broken_trees_end() -> None:
    """A cycle, several roots, no root."""
    words = ["א", ",", "ב", ",", "ג"]
    labels = ["dep", "punct", "dep", "punct", "dep"]
    for heads in ([2, 0, 0, 0, 4], [0, 0, 2, 0, 4], [2, 0, 4, 0, 0]):
        attach_punctuation(words, heads, labels)
        assert all(0 <= head < 5 for head in heads)
