"""A sentence starts after an empty line."""

from typing import List

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc

import spacy_he_coref.paragraphs  # noqa: F401


@pytest.fixture
def nlp() -> Language:
    nlp = spacy.blank("he")
    nlp.add_pipe("he_paragraphs")
    return nlp


def starts(doc: Doc) -> List[str]:
    return [token.text for token in doc[1:] if token.is_sent_start]


@pytest.mark.parametrize(
    "text,expected",
    [
        ("כותרת\n\nדן בא.", ["דן"]),
        ("כותרת\n \n דן בא.\n\n\nהוא הלך", ["דן", "הוא"]),
        ("שורה שנשברה\nבאמצע", []),
        ("\n\n", []),
        ("", []),
        ("😀", []),
    ],
)
def test_empty_lines(nlp: Language, text: str, expected: List[str]) -> None:
    doc = nlp(text)
    assert doc.text == text
    assert starts(doc) == expected
    # Other tokens are left to the sentence model.
    assert all(t.is_sent_start in (None, True) for t in doc[1:])
    assert starts(nlp(doc)) == expected
    assert [starts(d) for d in nlp.pipe([text, text])] == [expected] * 2


def test_given_boundaries_stay(nlp: Language) -> None:
    doc = Doc(
        nlp.vocab,
        words=["כותרת", "\n\n", "דן", "בא"],
        sent_starts=[True, False, False, True],
    )
    assert starts(nlp(doc)) == ["בא"]
