"""The coreference metrics: by hand, by the cases of the reference scorer, by scorch."""

import json
import random
import re
from itertools import combinations, permutations
from pathlib import Path
from typing import Any, Dict, List, Tuple

import pytest
import spacy
from spacy.tokens import Doc
from spacy.training import Example

from spacy_he_coref.evaluation.coref import (
    METRICS,
    SCORE_WEIGHTS,
    CorefScore,
    Dropped,
    LetterAlignment,
    align_letters,
    best_similarity,
    clean_clusters,
    cluster_bounds,
    cluster_groups,
    make_coref_scorer,
)
from spacy_he_coref.evaluation.syntax import gold_input
from tests.util import data_dir

Clusters = List[List[Any]]
NLP = spacy.blank("he")
# Values of expected.json that are 1 in all three places though key and response
# differ: the test configuration of the reference scorer has them commented out.
PLACEHOLDERS = {
    *[(name, metric) for name in ("B1", "C1") for metric in ("muc", "bcub")],
    *[(n, metric) for n in ("D1", "E1") for metric in ("ceafm", "ceafe", "blanc")],
}


def values(
    predicted: Clusters, gold: Clusters, metric: str, singletons: bool = True
) -> Tuple[float, float]:
    """Recall and precision, as the papers have them."""
    score = CorefScore(singletons=singletons)
    score.add(predicted, gold)
    precision, recall, _ = score.total.prf(metric)
    return recall, precision


@pytest.mark.parametrize("metric", METRICS)
def test_perfect(metric: str) -> None:
    clusters = [[1, 2], [3, 4, 5]]
    assert values(clusters, clusters, metric) == (1, 1)
    assert values([[5, 3, 4], [2, 1]], clusters, metric) == (1, 1)


@pytest.mark.parametrize(
    ("metric", "recall", "precision"),
    [
        ("mentions", 1, 1),
        ("muc", 2 / 3, 2 / 3),
        ("b3", 11 / 15, 11 / 15),
        ("ceafe", 0.8, 0.8),
        ("ceafm", 0.8, 0.8),
        ("lea", 0.6, 0.6),
        # Two of four coreferent links, four of six others.
        ("blanc", 7 / 12, 7 / 12),
    ],
)
def test_a_mention_in_the_wrong_cluster(
    metric: str, recall: float, precision: float
) -> None:
    found = values([[1, 2], [3, 4, 5]], [[1, 2, 3], [4, 5]], metric)
    assert found == pytest.approx((recall, precision))


@pytest.mark.parametrize(
    ("metric", "recall", "precision"),
    [
        ("mentions", 1, 1),
        ("muc", 1, 2 / 3),
        ("b3", 1, 1 / 2),
        ("ceafe", 1 / 3, 2 / 3),
        ("ceafm", 1 / 2, 1 / 2),
        ("lea", 1, 1 / 3),
        ("blanc", 1 / 2, 1 / 6),
    ],
)
def test_two_clusters_in_one(metric: str, recall: float, precision: float) -> None:
    found = values([[1, 2, 3, 4]], [[1, 2], [3, 4]], metric)
    assert found == pytest.approx((recall, precision))
    # The other way round.
    found = values([[1, 2], [3, 4]], [[1, 2, 3, 4]], metric)
    if metric != "blanc":
        assert found == pytest.approx((precision, recall))
    else:
        # Gold has coreferent links only, so that class alone counts.
        assert found == pytest.approx((1 / 3, 1))


@pytest.mark.parametrize(
    ("metric", "without", "with_them"),
    [
        ("mentions", 2 / 3, 3 / 4),
        ("muc", 1 / 2, 1 / 2),
        ("b3", 4 / 9, 7 / 12),
        ("ceafe", 2 / 3, 5 / 6),
        ("ceafm", 2 / 3, 3 / 4),
        ("lea", 1 / 3, 1 / 2),
        # One of three links, and with the singleton two of three others.
        ("blanc", 1 / 3, 1 / 2),
    ],
)
def test_singletons(metric: str, without: float, with_them: float) -> None:
    """One mention missed, one extra, one singleton right."""
    predicted, gold = [[1, 2, 8], [9]], [[1, 2, 3], [9]]
    for singletons, value in ((False, without), (True, with_them)):
        found = values(predicted, gold, metric, singletons)
        assert found == pytest.approx((value, value))


def test_the_best_pairing_is_not_the_greedy_one() -> None:
    gold = [[1, 2, 3, 4, 5], [6, 7]]
    predicted = [[1, 2, 3, 6, 7], [4, 5]]
    assert values(predicted, gold, "ceafm") == pytest.approx((4 / 7, 4 / 7))
    assert values(predicted, gold, "ceafe") == pytest.approx((4 / 7, 4 / 7))


@pytest.mark.parametrize("metric", METRICS)
def test_nothing_found_and_nothing_there(metric: str) -> None:
    assert values([], [[1, 2], [3, 4]], metric) == (0, 0)
    assert values([[1, 2], [3, 4]], [], metric) == (0, 0)
    assert values([], [], metric) == (0, 0)
    assert values([[1, 2]], [[3, 4]], metric) == (0, 0)


def test_singletons_have_no_links() -> None:
    assert values([[1], [2]], [[1], [2]], "muc") == (0, 0)
    assert values([[1], [2]], [[1], [2]], "blanc") == (1, 1)
    assert values([[1]], [[1]], "blanc") == (1, 1)
    assert values([[1]], [[2]], "blanc") == (0, 0)
    assert values([[1, 2]], [[1]], "blanc") == (0, 0)
    assert values([[1], [2]], [[1, 2]], "lea") == (0, 0)
    assert values([[1], [2], [3]], [[1], [2, 3]], "lea") == (1 / 3, 1 / 3)


def test_summed_over_documents() -> None:
    score = CorefScore()
    first = score.add([["a", "b"]], [["a", "b"]])
    second = score.add([], [["a", "b", "c", "d"]])
    assert score.total == first.plus(second)
    assert score.total.prf("muc") == (1, 1 / 4, pytest.approx(0.4))
    assert score.total.prf("b3") == (1, 1 / 3, 1 / 2)
    assert score.total.prf("ceafe") == (1, 1 / 2, pytest.approx(2 / 3))
    assert score.total.conll_f1 == pytest.approx((0.4 + 1 / 2 + 2 / 3) / 3)
    report = score.report()
    assert report["muc"] == {"p": 100.0, "r": 25.0, "f1": 40.0}
    assert report["conll_f1"] == 52.22
    assert report["counts"] == {
        "predicted_clusters": 1,
        "gold_clusters": 2,
        "predicted_mentions": 2,
        "gold_mentions": 6,
    }
    assert {*METRICS, "conll_f1", "counts", "dropped"} == set(report)
    json.dumps(report)


def test_what_a_clustering_may_not_have() -> None:
    clusters = [[1, 2, 1], [], [2, 3, 4], [4], [5], [5, 6]]
    kept, dropped = clean_clusters(clusters)
    assert kept == [[1, 2], [3, 4]]
    # [4] is empty when 4 is taken, and [5, 6] has one mention left.
    assert dropped == Dropped(1, 3, 2, 2)
    kept, dropped = clean_clusters(clusters, singletons=True)
    assert kept == [[1, 2], [3, 4], [5], [6]]
    assert dropped == Dropped(1, 3, 2, 0)


def test_what_was_dropped_is_reported() -> None:
    score = CorefScore()
    score.add([[1, 1, 2], [2, 3]], [[1, 2], []])
    score.add([[1, 2]], [[1, 2], [3]])
    assert score.report()["dropped"] == {
        "predicted": dict(
            zip(Dropped._fields, Dropped(1, 1, 0, 1)._asdict().values(), strict=True)
        ),
        "gold": {
            "repeated": 0,
            "in_two_clusters": 0,
            "empty_clusters": 1,
            "singletons": 1,
        },
    }
    assert score.report()["conll_f1"] == 100.0


def test_clusters_may_be_any_iterables() -> None:
    score = CorefScore()
    score.add(({m for m in range(2)} for _ in range(1)), ((0, 1),))
    assert score.total.conll_f1 == 1


def random_clusters(rng: random.Random, mentions: int) -> Clusters:
    """Some of the mentions in some clusters, singletons among them."""
    clusters: Dict[int, List[int]] = {}
    most = rng.randint(1, mentions)
    for mention in rng.sample(range(mentions), rng.randint(1, mentions)):
        clusters.setdefault(rng.randrange(most), []).append(mention)
    return list(clusters.values())


# In BLANC what gold has decides which class of links counts.
@pytest.mark.parametrize("metric", [name for name in METRICS if name != "blanc"])
def test_the_sides_are_alike(metric: str) -> None:
    rng = random.Random(1)
    for _ in range(200):
        ours, theirs = random_clusters(rng, 9), random_clusters(rng, 9)
        found = values(ours, theirs, metric)
        assert values(theirs, ours, metric) == pytest.approx(found[::-1])


def test_best_pairing_of_small_matrices() -> None:
    rng = random.Random(1)
    for _ in range(500):
        rows, columns = rng.randint(1, 5), rng.randint(1, 5)
        weights = {
            (i, j): rng.choice([0, 0, 0.3, 1, 1.5, 2, 3])
            for i in range(rows)
            for j in range(columns)
        }
        # Places beyond the columns leave a row without a pair.
        best = max(
            sum(weights.get((i, j), 0) for i, j in enumerate(chosen))
            for chosen in permutations(range(max(rows, columns)), rows)
        )
        cells = {cell: w for cell, w in weights.items() if w}
        assert best_similarity(cells) == pytest.approx(best)


def test_a_long_chain_of_clusters() -> None:
    """Every cluster shares a mention with the next one: nothing is compared but
    neighbours, and the best pairing moves all of them."""
    n = 5000
    gold = [[("a", i), ("b", i), ("c", i)] for i in range(n)]
    predicted = [[("a", i), ("b", i + 1), ("c", i + 1)] for i in range(n)]
    found = values(predicted, gold, "ceafm")
    assert found == pytest.approx(((2 * n - 2) / (3 * n),) * 2)


def read_case(path: Path) -> Clusters:
    """The clusters of a case, in the order in which they begin."""
    clusters: Dict[str, List[List[int]]] = {}
    open_mentions: Dict[str, List[List[int]]] = {}
    number = 0
    for line in path.read_text(encoding="utf8").splitlines():
        if line.startswith("#") or not line.strip():
            continue
        for begin, name, end in re.findall(r"(\()?(\d+)(\))?", line.split()[-1]):
            if begin:
                mention = [number, number]
                clusters.setdefault(name, []).append(mention)
                open_mentions.setdefault(name, []).append(mention)
            if end:
                open_mentions[name].pop()[1] = number
        number += 1
    return [[tuple(mention) for mention in cluster] for cluster in clusters.values()]


def test_cases_of_the_reference_scorer() -> None:
    directory = data_dir() / "scorer_cases"
    if not directory.is_dir():
        pytest.skip("no scorer_cases")
    cases = json.loads((directory / "expected.json").read_text(encoding="utf8"))
    checked = 0
    for case in cases:
        score = CorefScore(singletons=True)
        gold = read_case(directory / case["key"])
        score.add(read_case(directory / case["response"]), gold)
        for metric, expected in case["recall_precision_f1"].items():
            if (case["id"], metric) in PLACEHOLDERS:
                assert expected == [1, 1, 1]
                continue
            precision, recall, f1 = score.total.prf(metric.replace("bcub", "b3"))
            found = pytest.approx((recall, precision, f1), abs=1e-4)
            assert expected == found, (case["id"], metric)
            checked += 1
    assert (len(cases), checked) == (36, 94)


def scorch_metrics(scores: Any) -> Dict[str, Any]:
    return {
        "muc": scores.muc,
        "b3": scores.b_cubed,
        "ceafe": scores.ceaf_e,
        "ceafm": scores.ceaf_m,
        # The fast one needs a numpy that has numpy.bool.
        "blanc": lambda key, response: scores.blanc(key, response, fast=False),
    }


def test_scorch_agrees() -> None:
    """An outside scorer, where it is installed: pip install scorch.

    It has no LEA and does not score mentions; see the next test.
    """
    metrics = scorch_metrics(pytest.importorskip("scorch.scores"))
    rng = random.Random(0)
    for _ in range(2000):
        mentions = rng.choice([2, 4, 8, 16, 30])
        gold, predicted = (random_clusters(rng, mentions) for _ in range(2))
        if not {*sum(gold, [])} & {*sum(predicted, [])}:
            # All is 0, and scorch's CEAF fails.
            continue
        score = CorefScore(singletons=True)
        score.add(predicted, gold)
        for name, metric in metrics.items():
            if name == "blanc" and len(sum(gold, [])) == 1:
                # Gold has no link at all: scorch does not compare the mentions.
                continue
            recall, precision, f1 = metric([*map(set, gold)], [*map(set, predicted)])
            found = score.total.prf(name)
            assert found == pytest.approx((precision, recall, f1)), (
                name,
                gold,
                predicted,
            )


def lea_by_definition(ours: Clusters, theirs: Clusters) -> float:
    """The share of links of our clusters that theirs have, weighted by size."""

    def links(mentions: List[Any]) -> List[Tuple[Any, Any]]:
        return [*combinations(sorted(mentions), 2)]

    right = 0.0
    for cluster in ours:
        if len(cluster) == 1:
            right += cluster in theirs
            continue
        common = sum(
            pair in links(other) for pair in links(cluster) for other in theirs
        )
        right += len(cluster) * common / len(links(cluster))
    return right / sum(map(len, ours))


def test_what_scorch_lacks_agrees_with_its_definition() -> None:
    rng = random.Random(0)
    for _ in range(1000):
        mentions = rng.choice([2, 4, 8, 16])
        gold, predicted = (random_clusters(rng, mentions) for _ in range(2))
        assert values(predicted, gold, "lea") == pytest.approx(
            (lea_by_definition(gold, predicted), lea_by_definition(predicted, gold))
        )
        ours, theirs = {*sum(predicted, [])}, {*sum(gold, [])}
        right = len(ours & theirs)
        assert values(predicted, gold, "mentions") == pytest.approx(
            (right / len(theirs), right / len(ours))
        )


def test_scorch_agrees_where_the_cases_have_no_value() -> None:
    metrics = scorch_metrics(pytest.importorskip("scorch.scores"))
    directory = data_dir() / "scorer_cases"
    for name, metric in sorted(PLACEHOLDERS):
        metric = metric.replace("bcub", "b3")
        gold = read_case(directory / f"TC-{name[0]}.key")
        predicted = read_case(directory / f"TC-{name[0]}-1.response")
        score = CorefScore(singletons=True)
        score.add(predicted, gold)
        theirs = metrics[metric]([*map(set, gold)], [*map(set, predicted)])
        precision, recall, f1 = score.total.prf(metric)
        assert (recall, precision, f1) == pytest.approx(theirs)
        assert f1 < 1


def clustered(words: List[str], *clusters: List[Tuple[int, int]]) -> Doc:
    doc = Doc(NLP.vocab, words=words)
    # In another order than that of their numbers.
    for i, spans in reversed([*enumerate(clusters, start=1)]):
        doc.spans[f"coref_clusters_{i}"] = [doc[a:b] for a, b in spans]
    return doc


def test_clusters_of_a_document() -> None:
    words = ["דנה", "ראתה", "את", "יוסי"] * 6
    doc = clustered(words, *[[(2 * i, 2 * i + 1), (23, 24)] for i in range(11)])
    doc.spans["coref_clusters_x"] = [doc[1:2]]
    doc.spans["coref_head_clusters_1"] = [doc[3:4]]
    doc.spans["coref_singletons"] = [doc[5:6], doc[7:8]]
    doc.spans["mine"] = [doc[9:10]]
    assert [group[0].start for group in cluster_groups(doc)] == [*range(0, 22, 2)]
    assert cluster_bounds(doc, prefix="coref_head_clusters") == [[(3, 4)]]
    assert cluster_bounds(doc)[0] == [(0, 1), (23, 24)]
    assert cluster_bounds(doc, singletons=True)[11:] == [[(5, 6)], [(7, 8)]]
    assert cluster_bounds(Doc(doc.vocab), singletons=True) == []


def test_letters_are_aligned() -> None:
    assert align_letters([], []) == []
    assert align_letters(["אב"], []) == [-1, -1]
    # Other words, the same letters.
    assert align_letters(["אבג", "ד"], ["א", "בגד"]) == [0, 1, 2, 3]
    # A word too much, a letter that differs, a word too few.
    ours = ["של", "חדש", "בית", "גדול"]
    theirs = ["של", "ביח", "וגדול", "מאוד"]
    aligned = [0, 1, -1, -1, -1, 2, 3, -1, 6, 7, 8, 9]
    assert align_letters(ours, theirs) == aligned


def test_marks_are_no_letters() -> None:
    ours = Doc(NLP.vocab, words=["שָׁלוֹם", "צה״ל", "בן־דוד", "\u200f", "סוף"])
    theirs = Doc(NLP.vocab, words=["שלום", 'צה"ל', "בן-", "דוד", "סוף"])
    letters = LetterAlignment(ours, theirs)
    spans = [(0, 1), (1, 2), (0, 3), (4, 5)]
    gold = [(0, 1), (1, 2), (0, 4), (4, 5)]
    assert letters.predicted_keys(spans) == letters.gold_keys(gold)
    # A mark alone has no letters, so no mention of gold is like it.
    assert letters.predicted_keys([(3, 4)]) == [(-1, 3, 4)]
    assert letters.token_keys([(0, 3), (3, 4)]) == [(0, 2), (-1, 3, 4)]
    assert letters.carried_keys([(3, 4), (2, 4), (0, 5)]) == [(2, 2), (2, 2), (0, 4)]


def test_scorer() -> None:
    words = ["דנה", "ראתה", "את", "יוסי", "והוא", "אותה"]
    gold = clustered(words, [(0, 1), (5, 6)], [(3, 4), (4, 5)])
    predicted = clustered(words, [(0, 1), (5, 6)], [(1, 2), (4, 5)])
    found = make_coref_scorer()([Example(predicted, gold)])
    assert found == pytest.approx(
        {
            "coref_f": (1 / 2 + 5 / 8 + 3 / 4) / 3,
            "coref_p": (1 / 2 + 5 / 8 + 3 / 4) / 3,
            "coref_r": (1 / 2 + 5 / 8 + 3 / 4) / 3,
            "coref_muc_f": 1 / 2,
            "coref_b3_f": 5 / 8,
            "coref_ceafe_f": 3 / 4,
            "coref_lea_f": 1 / 2,
            "coref_mentions_f": 3 / 4,
        }
    )
    assert set(found) == set(SCORE_WEIGHTS)
    nothing = make_coref_scorer()([Example(Doc(predicted.vocab, words=words), gold)])
    assert set(nothing.values()) == {0.0}


def test_scorer_drops_singletons_and_compares_letters(gold: Doc) -> None:
    predicted = gold_input(gold)
    for key, group in gold.spans.items():
        if key.startswith("coref_clusters"):
            predicted.spans[key] = [predicted[s.start : s.end] for s in group]
    examples = [Example(predicted, gold)]
    assert make_coref_scorer()(examples)["coref_f"] == 1
    # Tokens that are cut in another way.
    words = ["ל", "דודי", *[token.text for token in gold[3:]]]
    spaces = [False, True, *[bool(token.whitespace_) for token in gold[3:]]]
    doc = Doc(gold.vocab, words=words, spaces=spaces)
    assert doc.text == gold.text
    doc.spans["coref_clusters_1"] = [doc[1:2], doc[14:15]]
    found = make_coref_scorer()([Example(doc, gold)])
    assert found["coref_mentions_f"] == pytest.approx(4 / 7)
    assert found["coref_muc_f"] == pytest.approx(1 / 2)


def test_scorer_without_gold_clusters() -> None:
    doc = clustered(["דנה", "היא"], [(0, 1), (1, 2)])
    bare = Doc(doc.vocab, words=["דנה", "היא"])
    assert make_coref_scorer()([Example(doc, bare)]) == dict.fromkeys(SCORE_WEIGHTS)
    assert make_coref_scorer()([]) == dict.fromkeys(SCORE_WEIGHTS)
    # Annotated, and nothing corefers.
    bare.spans["coref_mentions"] = []
    assert make_coref_scorer()([Example(doc, bare)])["coref_f"] == 0


def test_scorer_with_another_prefix() -> None:
    """As the output of experimental_coref, which has heads only."""
    gold = clustered(["דנה", "היא"])
    predicted = clustered(["דנה", "היא"])
    for doc in (gold, predicted):
        doc.spans["coref_head_clusters_1"] = [doc[0:1], doc[1:2]]
    scorer = make_coref_scorer(prefix="coref_head_clusters")
    assert scorer([Example(predicted, gold)])["coref_f"] == 1
    assert make_coref_scorer()([Example(predicted, gold)])["coref_f"] is None


def test_scorer_is_registered() -> None:
    make = spacy.registry.scorers.get("spacy_he_coref.coref_scorer.v1")
    assert make()([])["coref_f"] is None
