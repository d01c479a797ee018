"""A predicted document beside gold: kinds, keys, places in the text."""

from typing import Tuple

import pytest
from spacy.tokens import Doc

from spacy_he_coref.evaluation.comparison import Comparison, analysis_kind
from spacy_he_coref.evaluation.regimes import REGIMES, RegimeScore
from tests.evaluation.hand import GOLD, STORY, gold_story, story


@pytest.mark.parametrize(
    "bounds, kind",
    [
        ((0, 1), "name"),
        ((3, 5), "definite"),  # אחיה
        ((4, 5), "clitic"),
        ((6, 7), "pronoun"),
        ((11, 13), "indefinite"),  # בית גדול
        ((17, 19), "definite"),  # הבית
        ((18, 19), "indefinite"),  # the article is outside
    ],
)
def test_kinds(bounds: Tuple[int, int], kind: str) -> None:
    assert analysis_kind(gold_story(), *bounds) == kind


def test_kinds_of_construct_demonstrative_and_coordination() -> None:
    words = ["בית", "ספר", "זה", "דנה", "ו", "רונית", "ב", "עיר"]
    doc = Doc(
        gold_story().vocab,
        words=words,
        pos=["NOUN", "NOUN", "PRON", "PROPN", "CCONJ", "PROPN", "ADP", "NOUN"],
        heads=[0, 0, 1, 0, 5, 3, 7, 0],
        deps=["ROOT", "compound:smixut", "det", "dep", "cc", "conj", "case", "obl"],
        morphs=["", "", "PronType=Dem", "", "", "", "", "Definite=Cons"],
    )
    assert analysis_kind(doc, 0, 2) == "construct"
    assert analysis_kind(doc, 1, 3) == "definite"
    assert analysis_kind(doc, 3, 6) == "coordinated"
    assert analysis_kind(doc, 7, 8) == "construct"
    participle = Doc(
        doc.vocab,
        words=["ה", "ממונה"],
        pos=["SCONJ", "VERB"],
        heads=[1, 1],
        deps=["mark", "ROOT"],
    )
    assert analysis_kind(participle, 0, 2) == "definite"


def test_kinds_without_tags() -> None:
    doc = story(tags=False)
    assert analysis_kind(doc, 4, 5) == "clitic"
    assert analysis_kind(doc, 0, 1) == "unknown"


@pytest.mark.parametrize("regime", REGIMES)
def test_counts_are_those_of_the_regime(regime: str) -> None:
    gold = gold_story(singletons=[(1, 2)])
    # Mentions twice, in two clusters and alone.
    predicted = story(
        [[(0, 1), (6, 7), (6, 7)], [(6, 7), (9, 10), (14, 15)], [(12, 13)]], [(3, 5)]
    )
    for singletons in (False, True):
        score = RegimeScore(regime, singletons=singletons)
        pair = Comparison(predicted, gold, regime, singletons=singletons)
        assert pair.counts() == score.add(predicted, gold)
        assert len(pair.predicted.of) == score.report()["counts"]["predicted_mentions"]


def test_mentions() -> None:
    pair = Comparison(story([[(14, 15), (3, 5), (9, 10)]]), gold_story(), "gold")
    brother, third = pair.predicted.clusters[0][::2]
    assert (brother.tokens, brother.place, brother.kind) == ((3, 5), 0, "definite")
    # The unwritten של is inside of אחיה, and counted before what follows.
    assert (brother.start, brother.end) == (3, 6)
    assert (third.tokens, third.start, third.sentence) == ((14, 15), 15, 2)
    assert third.key == (15, 16) == pair.gold.of[third.key].key


def test_known_mentions_and_gold_singletons() -> None:
    gold = gold_story(singletons=[(1, 2)])
    predicted = story([[(0, 1), (6, 7)]], [(9, 10)])
    predicted.spans["coref_mentions_given"] = [predicted[20:21]]
    known = {(0, 1), (7, 8), (10, 11)}
    assert Comparison(predicted, gold, "gold").known_mentions() == known
    given = Comparison(predicted, gold, "gold_mentions").known_mentions()
    assert given == {*known, (21, 22)}
    assert Comparison(predicted, gold, "gold").gold_singletons() == {(1, 2)}


def test_segments_that_cannot_express_mentions() -> None:
    # Tokens: אחיה is 3, לו is 7.
    predicted = story([[(0, 1), (5, 6)]], text=STORY.replace("+", ""))
    pair = Comparison(predicted, gold_story(), "raw")
    dana = pair.gold.clusters[0]
    assert pair.expressible(dana) == [True, False, True, True]
    assert pair.carried_tokens(dana) == [(0, 1), (3, 4), (5, 6), (18, 19)]
    assert pair.expressible(pair.gold.clusters[1]) == [True, False, True]


def test_offsets_in_another_text() -> None:
    predicted = story(GOLD, text="\u200f" + STORY)
    pair = Comparison(predicted, gold_story(), "raw")
    assert pair.counts().conll_f1 == 1
    for gold in (False, True):
        side = pair.gold if gold else pair.predicted
        offsets = [pair.offsets(mention, gold=gold) for mention in side.clusters[1]]
        texts = [predicted.text[slice(*found)] for found in offsets if found]
        assert texts == ["אחיה", "ו", "הוא"]
    shorter = Comparison(story(text=STORY.replace("הוא", "אז")), gold_story(), "raw")
    last = shorter.gold.clusters[1][-1]
    assert shorter.offsets(last, gold=True) is None
    assert shorter.expressible([last]) == [False]


def test_errors() -> None:
    with pytest.raises(ValueError, match="no regime 'row'"):
        Comparison(story(), gold_story(), "row")
    with pytest.raises(ValueError, match="no gold clusters"):
        Comparison(story(), story(), "raw")
    with pytest.raises(ValueError, match="story.*gold tokens"):
        Comparison(story(text=STORY.replace("|", "")), gold_story(), "gold")


def test_empty() -> None:
    empty = Doc(gold_story().vocab)
    gold = Doc(empty.vocab)
    gold.spans["coref_mentions"] = []
    pair = Comparison(empty, gold, "raw")
    assert pair.predicted.clusters == pair.gold.clusters == []
    assert pair.known_mentions() == set()
