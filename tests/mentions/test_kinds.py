"""The kinds of mentions."""

from typing import Dict

import pytest
from spacy.tokens import Doc

from spacy_he_coref.mentions import KINDS, find_mentions, mention_kind
from spacy_he_coref.mentions.kinds import (
    CLITIC,
    COORDINATED,
    NAME,
    NESTED,
    NOMINAL,
    PRONOUN,
    mention_head,
)
from tests.mentions.helpers import SPEECH, tree, vocabulary


def kinds(rows: str) -> Dict[str, str]:
    doc = tree(rows)
    return {
        " ".join(token.text for token in doc[start:end]): mention_kind(doc, start, end)
        for start, end in find_mentions(doc)
    }


def test_clitic_and_nested() -> None:
    assert kinds(SPEECH) == {"דברי ו של ה שר": NOMINAL, "ו": CLITIC, "ה שר": NESTED}


def test_pronoun_name_and_coordinated() -> None:
    rows = """
היא PRON nsubj 2
ראתה VERB ROOT 0
את ADP case:acc 4
רות PROPN obj 2
ו+ CCONJ cc 6
דן PROPN conj 4
"""
    assert kinds(rows) == {
        "היא": PRONOUN,
        "רות": NAME,
        "רות ו דן": COORDINATED,
        "דן": NAME,
    }


def test_noun_with_a_name_is_a_name() -> None:
    rows = """
גברת NOUN nsubj 3
לוי PROPN flat:name 1
באה VERB ROOT 0
"""
    assert kinds(rows) == {"גברת לוי": NAME}


def test_second_conjunct_is_not_nested() -> None:
    rows = """
ספר NOUN nsubj 4
ו+ CCONJ cc 3
עט NOUN conj 1
אבדו VERB ROOT 0
"""
    assert kinds(rows) == {"ספר": NOMINAL, "ספר ו עט": COORDINATED, "עט": NOMINAL}


def test_every_kind_is_known() -> None:
    assert set(KINDS) == {CLITIC, PRONOUN, NAME, NOMINAL, NESTED, COORDINATED}


@pytest.mark.parametrize("heads", [[1, 0, 1], [0, 1, 2], [2, 0, 1]])
def test_broken_trees(heads: list) -> None:
    doc = Doc(
        vocabulary(),
        words=["בית", "ספר", "אבן"],
        pos=["NOUN"] * 3,
        deps=["nmod"] * 3,
        heads=heads,
    )
    for start in range(3):
        for end in range(start + 1, 4):
            assert mention_kind(doc, start, end) in KINDS


def test_without_a_tree() -> None:
    doc = Doc(vocabulary(), words=["בית", "ספר"])
    assert mention_kind(doc, 0, 2) == NOMINAL


def test_empty_span() -> None:
    doc = tree(SPEECH)
    assert mention_head(doc, 1, 1).text == "ו"
    end = len(doc)
    assert mention_head(doc, end, end).text == "."
    assert mention_kind(doc, end, end) == NOMINAL
