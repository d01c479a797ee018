"""Patterns, edits, and the possible analyses of a word."""

from typing import Optional

import pytest

from spacy_he_coref.segmenter.candidates import (
    NO_SUFFIX,
    Edit,
    Inventory,
    Suffix,
    make_label,
)
from spacy_he_coref.segmenter.contract import validate_analysis
from spacy_he_coref.tokens import Analysis, Morpheme
from tests.segmenter.helpers import LEXICON, analyse

WORDS = [*LEXICON, "אדמתם", "להציגו", "שלום", "דרכו"]
FORMS = {
    "אדמתם": "אדמה _של_ _הם",
    "להציגו": "הציג את_ _הוא",
    "דרכו": "דרך _של_ _הוא",
}


def gold(word: str) -> Analysis:
    return analyse(word, FORMS.get(word))


@pytest.fixture(scope="module")
def inventory() -> Inventory:
    return Inventory.learn(((w, gold(w)) for w in WORDS), {"שטחים": 3.0}, 1000)


@pytest.mark.parametrize(
    "word, prefix, suffix, edit",
    [
        ("שלום", (), NO_SUFFIX, None),
        ("בשטחים", ("ב", "ה_"), NO_SUFFIX, None),
        ("דבריו", (), Suffix(("_של_", "_הוא"), "ו"), Edit(0, "י", "")),
        ("אדמתם", (), Suffix(("_של_", "_הם"), "ם"), Edit(0, "ת", "ה")),
        ("להציגו", (), Suffix(("את_", "_הוא"), "ו"), Edit(1, "", "")),
        ("דרכו", (), Suffix(("_של_", "_הוא"), "ו"), Edit(0, "כ", "ך")),
        ('ב"הארץ', ("ב", '"', "ה"), NO_SUFFIX, None),
    ],
)
def test_labels(
    word: str, prefix: object, suffix: Suffix, edit: Optional[Edit]
) -> None:
    label = make_label(word, gold(word))
    assert label is not None
    assert (label.prefix, label.suffix, label.edit) == (prefix, suffix, edit)


def test_what_no_pattern_can_express() -> None:
    two = (Morpheme("על", 0, 2, "host"), Morpheme("פי", 2, 4, "host"))
    other = (Morpheme("_אנחנו", 0, 3, "word"),)
    assert make_label("עלפי", two) is None
    assert make_label("אנו", other) is None


@pytest.mark.parametrize("word", WORDS)
def test_gold_is_among_the_candidates(inventory: Inventory, word: str) -> None:
    label = make_label(word, gold(word))
    assert label is not None
    (candidates,) = inventory.candidates([word])
    pairs = [
        (inventory.prefixes[p], inventory.suffixes[s])
        for p, s in zip(candidates.prefixes, candidates.suffixes, strict=True)
    ]
    choice = pairs.index((label.prefix, label.suffix))
    base = None
    if label.edit is not None:
        edits, forms, facts = inventory.bases(label.host)
        base = forms[edits.tolist().index(inventory.edit_index[label.edit])]
        assert len(facts) == len(forms)
    if len(gold(word)) > 1:
        assert inventory.analysis(candidates, choice, base) == gold(word)


def test_every_candidate_is_a_valid_analysis(inventory: Inventory) -> None:
    for word in [*WORDS, "ולבבו", "ובשב", "הם", "ו", "בְּבֵיתוֹ", "וּלְבִתּוֹ"]:
        (candidates,) = inventory.candidates([word])
        for i in range(len(candidates.hosts)):
            if len(candidates.hosts) > 1:
                analysis = inventory.analysis(candidates, i, None)
                if len(analysis) > 1:
                    validate_analysis(word, analysis)


@pytest.mark.parametrize(
    "word", ["", "!", "2010", "spaCy", "🙂", "א" * 10_000, "\u05b8"]
)
def test_words_that_stay_whole(inventory: Inventory, word: str) -> None:
    (candidates,) = inventory.candidates([word])
    assert len(candidates.hosts) == 1


def test_plain_lists_and_back(inventory: Inventory) -> None:
    again = Inventory.from_dict(inventory.to_dict(), inventory.tables)
    assert again.prefixes == inventory.prefixes
    assert again.suffixes == inventory.suffixes
    assert again.edits == inventory.edits
