"""Intervals and paired comparisons, against the plain way of doing the same."""

from typing import List

import numpy as np
import pytest

from spacy_he_coref.evaluation.bootstrap import (
    compare,
    count_array,
    draw,
    intervals,
    mean_and_spread,
    metric_values,
)
from spacy_he_coref.evaluation.coref import (
    METRICS,
    CorefCounts,
    clean_clusters,
    coref_counts,
)


def random_clusters(random: np.random.Generator, mentions: int) -> List[List[int]]:
    """A clustering of some of the numbers from 0 to mentions."""
    names = random.integers(0, max(mentions // 2, 1), size=mentions)
    there = random.random(mentions) < 0.8
    clusters: List[List[int]] = [[] for _ in range(mentions)]
    for mention in range(mentions):
        if there[mention]:
            clusters[names[mention]].append(mention)
    return clean_clusters(clusters)[0]


def random_rows(seed: int, documents: int) -> List[CorefCounts]:
    random = np.random.default_rng(seed)
    sizes = random.integers(0, 14, size=documents)
    return [
        coref_counts(random_clusters(random, size), random_clusters(random, size))
        for size in sizes
    ]


def total(rows: List[CorefCounts]) -> CorefCounts:
    result = CorefCounts()
    for row in rows:
        result = result.plus(row)
    return result


def test_metrics_of_arrays_are_those_of_counts() -> None:
    for seed in range(30):
        rows = random_rows(seed, seed % 5 + 1)
        summed = total(rows)
        values = metric_values(count_array(rows).sum(axis=0))
        for metric in METRICS:
            expected = [100 * part for part in summed.prf(metric)]
            assert values[metric] == pytest.approx(expected), metric
        assert values["conll_f1"] == pytest.approx(100 * summed.conll_f1)


def test_nothing_at_all() -> None:
    values = metric_values(count_array([CorefCounts()]).sum(axis=0))
    assert values["conll_f1"] == 0 and values["blanc"].tolist() == [0, 0, 0]
    # Mentions that stand alone: BLANC is whether they were found.
    alone = [coref_counts([["א"]], [["א"]]), coref_counts([["א"]], [["ב"]])]
    assert metric_values(count_array(alone))["blanc"][:, 2].tolist() == [100, 0]


def test_intervals_are_percentiles_of_resampled_documents() -> None:
    rows = random_rows(1, 7)
    draws = draw(7, replicas=400, seed=3)
    assert draws.shape == (400, 7) and (draws.sum(axis=1) == 7).all()
    f1, recall = [], []
    for times in draws.astype(int):
        drawn = total(
            [row for row, n in zip(rows, times, strict=True) for _ in range(n)]
        )
        f1.append(100 * drawn.conll_f1)
        recall.append(100 * drawn.prf("muc")[1])
    report = intervals(count_array(rows), replicas=400, seed=3)
    assert report["conll_f1"] == pytest.approx(np.percentile(f1, [2.5, 97.5]), abs=0.01)
    muc = report["muc"]
    assert muc["r"] == pytest.approx(np.percentile(recall, [2.5, 97.5]), abs=0.01)
    assert set(report) == {"conll_f1", *METRICS}
    assert report == intervals(count_array(rows), replicas=400, seed=3)
    assert report != intervals(count_array(rows), replicas=400, seed=4)


def test_one_document_has_no_interval() -> None:
    assert intervals(count_array(random_rows(0, 1))) == {}
    assert intervals(count_array([])) == {}


def test_the_interval_covers_what_it_should() -> None:
    """Of 200 samples of one source, about 95% hold the value of the source."""
    source = random_rows(5, 3000)
    truth = float(metric_values(count_array(source).sum(axis=0))["conll_f1"])
    held = 0
    for i in range(100):
        ends = intervals(
            count_array(source[i * 30 : i * 30 + 30]), replicas=300, seed=i
        )["conll_f1"]
        held += ends[0] <= truth <= ends[1]
    assert 85 <= held <= 100


def test_equal_systems_do_not_differ() -> None:
    counts = count_array(random_rows(2, 10))
    for found in compare([counts], [counts], replicas=200).values():
        assert found.difference == 0 and found.interval == [0, 0]
        assert found.p_value == 1


def test_a_system_that_is_better_in_every_document() -> None:
    gold = [[[1, 2, 3], [4, 5]], [[1, 2]], [[1, 2], [3, 4, 5, 6]]]
    good = count_array([coref_counts(g, g) for g in gold])
    bad = count_array([coref_counts([[1, 2]], g) for g in gold])
    found = compare([good], [bad], replicas=999)["conll_f1"]
    assert found.first == 100 and found.difference > 0
    assert found.interval[0] >= 0
    turned = compare([bad], [good], replicas=999)["conll_f1"]
    assert turned.difference == -found.difference
    assert turned.interval == [-end for end in reversed(found.interval)]
    assert turned.p_value == found.p_value


def test_seeds_count_with_their_mean() -> None:
    systems = [count_array(random_rows(seed, 6)) for seed in (7, 8, 9)]
    values = [float(metric_values(s.sum(axis=0))["conll_f1"]) for s in systems]
    found = compare(systems[:2], systems[2:], replicas=300)["conll_f1"]
    assert found.first == pytest.approx(np.mean(values[:2]), abs=0.01)
    assert found.second == pytest.approx(values[2], abs=0.01)
    ends = intervals(*systems[:2], replicas=300)["conll_f1"]
    assert ends[0] <= found.first <= ends[1]
    assert mean_and_spread(values) == (
        round(np.mean(values), 2),
        round(np.std(values, ddof=1), 2),
    )
    assert mean_and_spread([50.0]) == (50.0, 0.0)


def test_what_cannot_be_compared() -> None:
    few, many = count_array(random_rows(1, 3)), count_array(random_rows(1, 4))
    with pytest.raises(ValueError, match="same documents.*here there are 3, 4"):
        compare([few], [many])
    with pytest.raises(ValueError, match="at least two"):
        compare([few[:1]], [few[:1]])
