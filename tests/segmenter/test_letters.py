"""From forms to analyses: letters, kinds, marks; and back from a Doc."""

from typing import List, Optional

import pytest

from spacy_he_coref.segmenter.contract import validate_analysis
from spacy_he_coref.segmenter.letters import (
    assign_letters,
    assign_whole,
    doc_analyses,
    restore_marks,
)
from spacy_he_coref.tokens import Morpheme, set_analysis
from tests.segmenter.helpers import LEXICON, TEXT, analyse, blank, segmented


def pieces(word: str, forms: str) -> List[Optional[str]]:
    analysis = assign_letters(word, forms.split())
    assert analysis is not None
    validate_analysis(word, analysis)
    return [word[m.start : m.end] if m.written else None for m in analysis]


@pytest.mark.parametrize(
    "word,forms,letters,kinds",
    [
        ("בית", "בית", ["בית"], "word"),
        ("הבית", "ה בית", ["ה", "בית"], "prefix host"),
        ("בשטחים", "ב ה_ שטחים", ["ב", None, "שטחים"], "prefix prefix host"),
        ("בתיו", "בית _של_ _הוא", ["בתי", None, "ו"], "host clitic clitic"),
        ("אדמתם", "אדמה _של_ _הם", ["אדמת", None, "ם"], "host clitic clitic"),
        ("ילדיהם", "ילדי הם", ["ילדי", "הם"], "host clitic"),
        ("שלהם", "של הם", ["של", "הם"], "host clitic"),
        ("שהם", "ש הם", ["ש", "הם"], "prefix host"),
        ("לו", "ל _הוא", ["ל", "ו"], "host clitic"),
        ("ואת", "ו את", ["ו", "את"], "prefix host"),
        ("ראיתיו", "ראיתי את_ _הוא", ["ראיתי", None, "ו"], "host clitic clitic"),
        ("צה״ליים", 'צה"ל יים', ["צה״ל", "יים"], "host host"),
    ],
)
def test_letters_and_kinds(
    word: str, forms: str, letters: List[Optional[str]], kinds: str
) -> None:
    assert pieces(word, forms) == letters
    analysis = assign_letters(word, forms.split())
    assert analysis is not None
    assert [m.kind for m in analysis] == kinds.split()


@pytest.mark.parametrize("word,forms", [("בית", "ש לחם"), ("", "ש"), ("בית", "")])
def test_letters_that_do_not_fit(word: str, forms: str) -> None:
    assert assign_letters(word, forms.split()) is None


def test_whole_word_for_the_longest() -> None:
    analysis = assign_whole("לכולנו", ["ל", "כול", "_של_", "_הם"])
    validate_analysis("לכולנו", analysis)
    assert [m.form for m in analysis if m.written] == ["כול"]


@pytest.mark.parametrize(
    "word,plain,marked",
    [
        ("בשטחים", "ב ה שטחים", "ב ה_ שטחים"),
        ("בהר", "ב ה הר", "ב ה_ הר"),
        ("ובבית", "ו ב ה בית", "ו ב ה_ בית"),
        ("הבית", "ה בית", "ה בית"),
        ("דבריו", "דבר של הוא", "דבר _של_ _הוא"),
        ("שלו", "של הוא", "של _הוא"),
        ("ושלו", "ו של הוא", "ו של _הוא"),
        ("אותו", "את הוא", "את _הוא"),
        ("לראותו", "לראות את הוא", "לראות את_ _הוא"),
        ("שהוא", "ש הוא", "ש הוא"),
        ("בהם", "ב הם", "ב _הם"),
        ("שהם", "ש הם", "ש הם"),
    ],
)
def test_marks_are_restored(word: str, plain: str, marked: str) -> None:
    assert restore_marks(word, plain.split()) == marked.split()


def test_analyses_of_a_doc() -> None:
    words = doc_analyses(segmented(TEXT))
    assert [w.text for w in words] == [t.text for t in blank()(TEXT)]
    assert [TEXT[w.start : w.end] for w in words] == [w.text for w in words]
    for word in words:
        assert word.analysis == analyse(word.text)


@pytest.mark.parametrize("word", LEXICON)
def test_analysis_survives_the_doc(word: str) -> None:
    (found,) = doc_analyses(segmented(word))
    assert found.analysis == analyse(word)
    validate_analysis(word, found.analysis)


def test_covert_article_behind_a_quote() -> None:
    analysis = assign_letters('ב"ליצואן', ["ב", '"', "ל", "ה_", "יצואן"])
    assert analysis is not None
    doc = blank()('ב"ליצואן')
    set_analysis(doc, 0, doc.text, analysis)
    (found,) = doc_analyses(doc)
    validate_analysis(doc.text, found.analysis)


def test_waiting_decisions_count_as_applied() -> None:
    doc = segmented("הבית  דבריו\n")
    set_analysis(doc, 0, "הבית", analyse("הבית", "הבית"))
    words = doc_analyses(doc)
    assert [w.text for w in words] == ["הבית", "דבריו"]
    assert words[0].analysis == (Morpheme("הבית", 0, 4, "word"),)
    assert len(words[1].analysis) == 3
