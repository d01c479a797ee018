"""Right, missed and extra clusters, and the types of errors, all known by hand."""

import json
import random
from typing import Any, Dict, List, Sequence, Tuple

import pytest

from spacy_he_coref.evaluation.comparison import Comparison
from spacy_he_coref.evaluation.errors import (
    ERRORS,
    ClusterMatch,
    ErrorTypes,
    match_clusters,
)
from tests.evaluation.hand import (
    BROTHER,
    DANA,
    GOLD,
    HOUSE,
    STORY,
    Spans,
    gold_story,
    story,
)


def pair(clusters: Sequence[Spans], regime: str = "gold", **kwargs: Any) -> Comparison:
    return Comparison(story(clusters), gold_story(**kwargs), regime)


def match(clusters: Sequence[Spans]) -> Tuple[int, int, int]:
    score = ClusterMatch()
    score.add(pair(clusters))
    report = score.report()
    return report["correct"], report["missed"], report["extra"]


def test_match_all() -> None:
    assert match(GOLD) == (3, 0, 0)
    assert match([]) == (0, 3, 0)
    assert match([[(1, 2), (7, 8)]]) == (0, 3, 1)


def test_match_weighs_pronouns_less() -> None:
    # Without the name, three pronouns: 2 * 0.6 / (1.6 + 0.6).
    assert match_clusters(pair([DANA[1:]])) == [(0, 0, round(1.2 / 2.2, 9))]
    # With a wrong noun for it: 2 * 0.6 / (1.6 + 1.6), though 3 of 4 are right.
    assert match([[*DANA[1:], (11, 12)]]) == (0, 3, 1)
    # The name alone with a wrong pronoun: 2 * 1.0 / (1.6 + 1.2).
    assert match([[(0, 1), (14, 15)]]) == (1, 2, 0)


def test_match_from_one_half() -> None:
    # One of two nouns and a wrong one: 2 * 1.0 / (2.0 + 2.0).
    assert match_clusters(pair([[(11, 13), (16, 17)]])) == [(2, 0, 0.5)]


def test_match_one_to_one() -> None:
    # Both halves are similar enough: 2 / (2 + 1.2) and the same.
    halves = [[(11, 13), (4, 5)], [(17, 19), (6, 7)]]
    assert match(halves) == (1, 2, 1)
    assert match_clusters(pair(halves)) == [(2, 0, 0.625)]
    # The more similar one is taken first, wherever it stands.
    halves[0].append((20, 21))
    assert match_clusters(pair(halves)) == [(2, 1, 0.625)]


def test_match_report() -> None:
    score = ClusterMatch()
    score.add(pair([DANA, BROTHER]))
    score.add(pair([[(1, 2), (7, 8)]]))
    report = score.report()
    first, second = report["documents"]
    assert first["document"] == "story" and first["missed"] == 1
    assert second["extra_share"] == 100.0
    assert (report["gold"], report["predicted"]) == (6, 3)
    assert (report["correct_share"], report["missed_share"]) == (33.33, 66.67)
    assert report["extra_share"] == 33.33
    json.dumps(report)


def errors(found: Comparison) -> Dict[str, int]:
    return {name: n for name, n in ErrorTypes().add(found).items() if n}


def types(found: Comparison) -> Dict[str, Any]:
    score = ErrorTypes()
    score.add(found)
    report = score.report()["types"]
    json.dumps(report)
    return report


def kinds(row: Dict[str, Any]) -> Dict[str, int]:
    return {kind: found["mentions"] for kind, found in row["by_kind"].items()}


def texts(example: Dict[str, Any]) -> List[Tuple[str, str]]:
    return [
        (mention["role"], mention["text"])
        for context in example["contexts"]
        for mention in context["mentions"]
    ]


def test_no_error() -> None:
    assert errors(pair(GOLD)) == {}


def test_span_error() -> None:
    found = pair([DANA, BROTHER, [(11, 12), (17, 19)]])
    assert errors(found) == {"span_error": 1}
    row = types(found)["span_error"]
    assert kinds(row) == {"indefinite": 1}
    (example,) = row["examples"]
    assert texts(example) == [("gold", "בית גדול"), ("mention", "בית")]


def test_span_error_needs_the_same_head() -> None:
    # גדול is in the mention, and not its head.
    assert errors(pair([DANA, BROTHER, [(12, 13), (17, 19)]])) == {
        "missing_mention": 1,
        "extra_mention": 1,
    }
    # The clitic of אחיה is no part of a wrong אחי.
    assert errors(pair([DANA, [(3, 4), *BROTHER[1:]], HOUSE])) == {"span_error": 1}
    assert errors(pair([[*DANA, (3, 4)], BROTHER, HOUSE])) == {"extra_mention": 1}


def test_span_error_is_not_a_gold_singleton() -> None:
    found = pair([DANA, BROTHER, [(11, 12), (17, 19)]], singletons=[(11, 12)])
    assert errors(found) == {"missing_mention": 1, "extra_mention": 1}
    assert types(found)["extra_mention"]["gold_singletons"] == 1


def test_span_errors_are_one_to_one() -> None:
    # Two wrong mentions of one head: the nearer one is it.
    found = pair([DANA, BROTHER, [(10, 12), (11, 12), (17, 19)]])
    assert errors(found) == {"span_error": 1, "extra_mention": 1}
    (example,) = types(found)["span_error"]["examples"]
    assert ("mention", "בית") in texts(example)


def test_span_error_in_letters() -> None:
    # The predicted head is a longer token, הבית for ה|בית.
    predicted = story([[(11, 13), (17, 18)]], text=STORY.replace("|", ""))
    gold = story([[(11, 13), (18, 19)]], mentions=True)
    found = Comparison(predicted, gold, "raw")
    assert ErrorTypes().add(found)["span_error"] == 1
    (example,) = types(found)["span_error"]["examples"]
    assert texts(example) == [("mention", "הבית"), ("gold", "בית")]


def test_conflated_entities() -> None:
    found = pair([[*DANA, *BROTHER], HOUSE])
    assert errors(found) == {"conflated_entities": 1}
    row = types(found)["conflated_entities"]
    assert kinds(row) == {"definite": 1, "clitic": 1, "pronoun": 1}
    assert row["mentions"] == 3 and row["by_kind"]["clitic"]["share"] == 33.33
    assert texts(row["examples"][0]) == [("other", "דנה"), ("mention", "אחיה")]
    assert errors(pair([[*DANA, *BROTHER, *HOUSE]])) == {"conflated_entities": 2}


def test_divided_entity() -> None:
    found = pair([DANA[:2], DANA[2:], BROTHER, HOUSE])
    assert errors(found) == {"divided_entity": 1}
    row = types(found)["divided_entity"]
    assert kinds(row) == {"pronoun": 2}
    assert texts(row["examples"][0]) == [("other", "ה"), ("mention", "היא")]


def test_entities() -> None:
    found = pair([DANA, BROTHER])
    assert errors(found) == {"missing_entity": 1}
    row = types(found)["missing_entity"]
    assert kinds(row) == {"indefinite": 1, "definite": 1}
    assert [text for _, text in texts(row["examples"][0])] == ["בית גדול", "הבית"]
    found = pair([*GOLD, [(1, 2), (7, 8)]], singletons=[(7, 8)])
    assert errors(found) == {"extra_entity": 1}
    row = types(found)["extra_entity"]
    assert (row["mentions"], row["gold_singletons"]) == (2, 1)
    assert [text for _, text in texts(row["examples"][0])] == ["פגשה", "סיפרה"]


def test_mentions() -> None:
    found = pair([[DANA[0], *DANA[2:]], BROTHER, HOUSE])
    assert errors(found) == {"missing_mention": 1}
    row = types(found)["missing_mention"]
    assert kinds(row) == {"clitic": 1}
    assert texts(row["examples"][0]) == [("other", "דנה"), ("mention", "ה")]
    found = pair([DANA, BROTHER, [*HOUSE, (1, 2), (7, 8)]])
    assert errors(found) == {"extra_mention": 2}
    row = types(found)["extra_mention"]
    assert texts(row["examples"][0]) == [("mention", "פגשה"), ("other", "בית גדול")]
    assert row["share"] == 100.0


def test_a_mention_in_the_wrong_cluster_is_split_off_and_joined() -> None:
    moved = [DANA[:3], [*BROTHER, DANA[3]], HOUSE]
    assert errors(pair(moved)) == {"conflated_entities": 1, "divided_entity": 1}


def test_all_at_once() -> None:
    found = pair(
        [
            [(0, 1), (9, 10), (1, 2)],  # conflated, extra mention
            [(6, 7), (20, 21)],  # divided; (4, 5) missing
            [(14, 15), (15, 16)],  # extra mention, divided; (3, 5) missing
            [(11, 12), (7, 8)],  # span error, extra mention; (17, 19) missing
            [(2, 3), (10, 11)],  # extra entity
        ]
    )
    assert errors(found) == {
        "span_error": 1,
        "conflated_entities": 1,
        "divided_entity": 2,
        "extra_entity": 1,
        "missing_mention": 3,
        "extra_mention": 3,
    }
    score = ErrorTypes()
    score.add(found)
    score.add(pair([DANA, BROTHER]))
    report = score.report()
    assert report["count"] == 12
    assert [row["missing_entity"] for row in report["documents"]] == [0, 1]
    assert report["documents"][0]["document"] == "story"
    for error in ERRORS:
        total = sum(row[error] for row in report["documents"])
        assert report["types"][error]["count"] == total


@pytest.mark.parametrize("seed", range(40))
def test_errors_explain_all_wrong_links(seed: int) -> None:
    """Without span errors each error costs MUC its own number of links."""
    draw = random.Random(seed)
    sides = []
    for _ in range(2):
        tokens = draw.sample(range(23), draw.randrange(23))
        clusters: Dict[int, List[Tuple[int, int]]] = {}
        for token in tokens:
            clusters.setdefault(draw.randrange(6), []).append((token, token + 1))
        sides.append(list(clusters.values()))
    gold = story(sides[1], mentions=True)
    found = Comparison(story(sides[0]), gold, "gold")
    score = ErrorTypes()
    counts = score.add(found)
    report = score.report()["types"]
    muc = found.counts().muc
    assert counts["span_error"] == 0
    assert muc.predicted - muc.right_predicted == (
        counts["conflated_entities"]
        + counts["extra_mention"]
        + report["extra_entity"]["mentions"]
        - counts["extra_entity"]
    )
    assert muc.gold - muc.right_gold == (
        counts["divided_entity"]
        + counts["missing_mention"]
        + report["missing_entity"]["mentions"]
        - counts["missing_entity"]
    )


@pytest.mark.parametrize("regime", ["gold", "raw"])
def test_examples_stand_in_the_text(regime: str) -> None:
    long = " ".join(["עוד"] * 40)
    text = f"{STORY} {long} ראה . {STORY}"
    shift = len(story(text=text)) - 23
    far = (shift, shift + 1)
    gold = story([[(0, 1), far]], text=text, mentions=True)
    predicted = story([[(0, 1), (18, 19)]], text=text)
    (example,) = types(Comparison(predicted, gold, regime))["missing_mention"][
        "examples"
    ]
    assert len(example["contexts"]) == 2
    for context in example["contexts"]:
        excerpt = predicted.text[context["start"] : context["end"]]
        assert context["text"] == excerpt and len(excerpt) < 150
        # No word is cut, and every mention is inside.
        assert all(
            word in text.replace("|", "").replace("+", "").split()
            for word in excerpt.split()
        )
        for mention in context["mentions"]:
            assert context["start"] <= mention["start"]
            assert mention["end"] <= context["end"]
            letters = predicted.text[mention["start"] : mention["end"]]
            assert mention["text"] == letters == "דנה"
            assert mention["kind"] == "name"


def test_examples_are_limited_and_the_same_in_each_run() -> None:
    def run(limit: int) -> Dict[str, Any]:
        score = ErrorTypes(limit)
        for token in range(20):
            gold = gold_story()
            gold._.source = {"id": str(token)}
            extra = [(token, token + 1)]
            score.add(Comparison(story([*GOLD, [*extra, (22, 23)]]), gold, "gold"))
        return score.report()["types"]["extra_entity"]

    report = run(3)
    assert report["count"] == run(0)["count"] > 10
    names = [int(example["document"]) for example in report["examples"]]
    assert len(names) == 3 and names == sorted(names) and names != [0, 1, 2]
    assert run(3) == report
    assert run(0)["examples"] == []


def test_example_that_the_text_lacks_is_counted_only() -> None:
    predicted = story([DANA, BROTHER[:2], HOUSE], text=STORY.replace("הוא", "אז"))
    row = types(Comparison(predicted, gold_story(), "raw"))["missing_mention"]
    assert row["count"] == 1 and row["examples"] == []
