"""Exact, partial and head match of mentions."""

import random
from itertools import permutations
from typing import Any, List, Sequence

import pytest

from spacy_he_coref.evaluation.coref import CorefScore
from spacy_he_coref.evaluation.matching import (
    MATCHES,
    MatchMention,
    match_clusters,
    match_mentions,
)

M = MatchMention


def pairs(predicted: Sequence[M], gold: Sequence[M], match: str) -> List[Any]:
    """Which gold mention, by number, each predicted one counts as."""
    ours, theirs = match_clusters([predicted], [gold], match, singletons=True)
    return [
        theirs[0].index(key) if key in theirs[0] else None  # type: ignore[arg-type]
        for key in ours[0]
    ]


def test_exact() -> None:
    predicted, gold = [M(0, 2), M(3, 5), M(6, 7)], [M(3, 5, 4), M(0, 3, 2)]
    assert pairs(predicted, gold, "exact") == [None, 0, None]


@pytest.mark.parametrize(
    ("predicted", "partial", "head"),
    [
        (M(0, 5, 2), 0, 0),
        # The same tokens under another head.
        (M(0, 5, 3), 0, None),
        # Less than gold, with its head.
        (M(1, 3, 2), 0, 0),
        (M(2, 3, 2), 0, 0),
        (M(1, 3, 1), 0, None),
        # Without its head.
        (M(3, 5, 3), None, None),
        # More than gold.
        (M(0, 6, 2), None, 0),
        (M(1, 6, 2), None, 0),
        (M(7, 8, 7), None, None),
    ],
)
def test_rules(predicted: M, partial: Any, head: Any) -> None:
    gold = [M(0, 5, 2)]
    assert pairs([predicted], gold, "partial") == [partial]
    assert pairs([predicted], gold, "head") == [head]


def test_a_mention_is_matched_once() -> None:
    gold = [M(0, 6, 2), M(1, 5, 2), M(2, 3, 2)]
    # The same ones go together, whatever they leave to the others.
    assert pairs([M(1, 5, 2), M(2, 4, 2)], gold, "partial") == [1, 0]
    assert pairs([M(2, 3, 2), M(1, 4, 2)], gold, "head") == [2, 1]
    # One more than there are in gold: the one that has less of it is left.
    predicted = [M(2, 3, 2), M(1, 4, 2), M(0, 7, 2)]
    assert pairs(predicted, [M(0, 6, 2)], "partial") == [None, 0, None]
    assert pairs(predicted, [M(0, 6, 2)], "head") == [None, None, 0]


def test_the_sum_decides() -> None:
    """Each alone has most of the first; together one takes the second."""
    gold = [M(0, 4, 1), M(1, 9, 1)]
    predicted = [M(1, 4, 1), M(0, 3, 1)]
    # 3/4 + 2/8 against 3/8 + 3/4.
    assert pairs(predicted, gold, "head") == [1, 0]


def test_ties_go_to_earlier_mentions() -> None:
    gold = [M(0, 4, 1)]
    assert pairs([M(1, 3, 1), M(0, 2, 1)], gold, "partial") == [None, 0]
    assert pairs([M(0, 2, 1), M(1, 3, 1)], gold, "partial") == [0, None]
    assert pairs([M(1, 3, 2), M(1, 2, 1)], [M(1, 4, 1)], "head") == [None, 0]
    assert pairs([M(1, 3, 1)], [M(1, 5, 1), M(0, 4, 1)], "head") == [1]
    # Where all are as good as each other, in the order of the document.
    gold = [M(0, 4, 2), M(1, 5, 2)]
    assert pairs([M(2, 4, 2), M(1, 4, 2)], gold, "head") == [1, 0]


def test_clusters_are_scored_by_what_matches() -> None:
    gold = [[M(0, 3, 1), M(5, 6, 5)], [M(8, 10, 9), M(11, 12, 11)]]
    predicted = [[M(1, 3, 1), M(5, 6, 5)], [M(9, 10, 9), M(11, 13, 11)]]
    found = {}
    for match in MATCHES:
        score = CorefScore()
        score.add(*match_clusters(predicted, gold, match))
        found[match] = score.report()["mentions"]["f1"]
    assert found == {"exact": 25.0, "partial": 75.0, "head": 100.0}


def test_what_does_not_count_is_not_matched() -> None:
    """A singleton must not take the place of a mention that counts."""
    gold = [[M(0, 4, 1), M(6, 7, 6)]]
    predicted = [[M(0, 4, 1)], [M(0, 3, 1), M(6, 7, 6)]]
    score = CorefScore()
    score.add(*match_clusters(predicted, gold, "head"))
    assert score.total.conll_f1 == 1
    assert score.report()["dropped"]["predicted"]["singletons"] == 1
    score = CorefScore(singletons=True)
    score.add(*match_clusters(predicted, gold, "head", singletons=True))
    assert score.total.conll_f1 < 1


def test_repeated_mentions_stay_repeated() -> None:
    gold = [[M(0, 4, 1), M(6, 7, 6)]]
    predicted = [[M(1, 3, 1), M(6, 7, 6), M(1, 3, 1)], [M(6, 7, 6), M(8, 9, 8)]]
    score = CorefScore()
    score.add(*match_clusters(predicted, gold, "partial"))
    dropped = score.report()["dropped"]["predicted"]
    assert (dropped["repeated"], dropped["in_two_clusters"]) == (1, 1)
    assert score.total.conll_f1 == 1


def test_mentions_that_gold_cannot_have() -> None:
    predicted, gold = [M(-1, 3), M(-2, 3), M(0, 2, 0)], [M(0, 2, 0), M(-1, 3)]
    for match in MATCHES:
        assert pairs(predicted, gold, match) == [None, None, 0]


def test_heads_are_checked() -> None:
    inside, outside = [[M(0, 2, 1)]], [[M(0, 2, 2)]]
    for ours, theirs, match in (
        (inside, outside, "partial"),
        (inside, outside, "head"),
        (outside, inside, "head"),
    ):
        with pytest.raises(ValueError, match="the head of the mention from 0 to 1"):
            match_clusters(ours, theirs, match, singletons=True)
    match_clusters(outside, inside, "partial", singletons=True)
    with pytest.raises(ValueError, match="must be one of exact, partial, head"):
        match_clusters(inside, inside, "loose")


@pytest.mark.parametrize("match", ["partial", "head"])
def test_the_pairing_is_the_best_of_all(match: str) -> None:
    rng = random.Random(1)

    def mentions(number: int) -> List[M]:
        found = {}
        for _ in range(number):
            start = rng.randrange(6)
            end = rng.randint(start + 1, 8)
            found[start, end] = M(start, end, rng.randrange(start, end))
        return sorted(found.values())

    def similarity(ours: M, theirs: M) -> float:
        a, b = set(range(*ours[:2])), set(range(*theirs[:2]))
        right = ours.head == theirs.head
        if match == "partial":
            right = a <= b and theirs.head in a
        return len(a & b) / len(b) if right else 0

    for _ in range(200):
        predicted, gold = mentions(rng.randint(0, 5)), mentions(rng.randint(0, 5))
        most = max(len(predicted), len(gold))
        best = max(
            sum(
                similarity(ours, gold[j])
                for ours, j in zip(predicted, chosen, strict=False)
                if j < len(gold)
            )
            for chosen in permutations(range(most), len(predicted))
        )
        found = list(match_mentions(predicted, gold, match))
        assert all(similarity(*pair) > 0 for pair in found)
        assert len({ours for ours, _ in found}) == len(found)
        assert len({theirs for _, theirs in found}) == len(found)
        assert sum(similarity(*pair) for pair in found) == pytest.approx(best)
