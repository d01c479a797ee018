"""Clusters on a Doc: order, numbers, confidences, and what stays."""

from typing import List, Tuple

import numpy
import pytest
import spacy
from spacy.tokens import Doc, DocBin, Span, SpanGroup

from spacy_he_coref.coref.clusters import (
    clear_clusters,
    cluster_confidence,
    get_clusters,
    set_clusters,
)
from spacy_he_coref.corpus.docs import set_clusters as set_gold_clusters

NLP = spacy.blank("he")


def make_doc(length: int = 12) -> Doc:
    return Doc(NLP.vocab, words=["מילה"] * length)


def bounds(doc: Doc) -> List[List[Tuple[int, int]]]:
    return [[(s.start, s.end) for s in group] for group in get_clusters(doc)]


def test_order_numbers_and_attrs() -> None:
    doc = make_doc()
    # Not in the order of the text: (5, 6) is in a cluster with (0, 1), (2, 4) and
    # (2, 3) begin together, (8, 9) is alone, (9, 10) no mention.
    set_clusters(
        doc,
        [(5, 6), (0, 1), (7, 8), (2, 3), (2, 4), (8, 9), (9, 10)],
        [4, 4, 7, 7, 9, 1, -1],
        [1, -1, 3, -1, -1, -1, -1],
        [0.5, 0.1, 0.25, 0.1, 0.1, 0.1, 0.1],
        [0.9] * 5 + [0.75, 0.0],
    )
    assert list(doc.spans) == ["coref_clusters_1", "coref_clusters_2"]
    assert bounds(doc) == [[(0, 1), (5, 6)], [(2, 3), (7, 8)]]
    first, second = get_clusters(doc)
    assert first.name == "coref_clusters_1"
    assert first.attrs == {
        "confidence": 0.5,
        "links": [None, 0.5],
        "antecedents": [None, 0],
    }
    assert second.attrs["links"] == [None, 0.25]


def test_clusters_are_ordered_by_start_then_longer_first() -> None:
    doc = make_doc()
    set_clusters(
        doc, [(3, 4), (3, 6), (8, 9), (9, 10)], [0, 1, 1, 0], [-1, -1, 1, 0], [0.5] * 4
    )
    assert bounds(doc) == [[(3, 6), (8, 9)], [(3, 4), (9, 10)]]


def test_antecedent_may_come_later_in_the_group() -> None:
    # The model reads (1, 2) before (1, 3); the group has the longer one first.
    doc = make_doc()
    set_clusters(
        doc,
        numpy.array([[1, 2], [1, 3], [6, 7]]),
        numpy.array([0, 0, 0]),
        numpy.array([-1, 0, 1]),
        numpy.array([0.0, 0.25, 1.0], dtype="float32"),
    )
    (group,) = get_clusters(doc)
    assert [(s.start, s.end) for s in group] == [(1, 3), (1, 2), (6, 7)]
    assert group.attrs["antecedents"] == [1, None, 0]
    assert group.attrs["links"] == [0.25, None, 1.0]
    assert group.attrs["confidence"] == pytest.approx(0.5)


def test_singletons() -> None:
    doc = make_doc()
    args = (
        [(6, 7), (0, 1), (2, 3), (4, 5)],
        [5, 3, 3, -1],
        [-1, -1, 1, -1],
        [0.5] * 4,
        [0.75, 1.0, 1.0, 0.25],
    )
    set_clusters(doc, *args, singletons=True)
    alone = doc.spans["coref_singletons"]
    assert [(s.start, s.end) for s in alone] == [(6, 7)]
    assert alone.attrs == {"confidences": [0.75]}
    # Again, without: the old ones are gone.
    set_clusters(doc, *args)
    assert list(doc.spans) == ["coref_clusters_1"]


def test_without_confidences_as_gold() -> None:
    doc = make_doc()
    set_clusters(doc, [(0, 1), (2, 3), (4, 5)], [0, 0, 1], singletons=True)
    assert bounds(doc) == [[(0, 1), (2, 3)]]
    assert get_clusters(doc)[0].attrs == {}
    assert doc.spans["coref_singletons"].attrs == {}


def test_nothing_to_write() -> None:
    for doc in (make_doc(0), make_doc()):
        set_clusters(doc, [], [], [], [], [])
        assert len(doc.spans) == 0
        set_clusters(doc, numpy.zeros((0, 2), dtype="int64"), [], [], [], [])
        assert get_clusters(doc) == []


FOREIGN = (
    "mine",
    "coref_mentions",
    "coref_mentions_given",
    "coref_clusters",
    "coref_clusters_x",
    "coref_clusters_01",
    "coref_head_clusters_1",
)


def test_foreign_groups_stay() -> None:
    doc = make_doc()
    for key in FOREIGN:
        doc.spans[key] = SpanGroup(doc, name=key, attrs={"a": 1}, spans=[doc[0:2]])
    before = {key: doc.spans[key] for key in FOREIGN}
    # Of gold: more clusters than are written after it.
    set_gold_clusters(
        doc, [([(i, i + 1), (i + 6, i + 7)], {"id": i}) for i in range(5)]
    )
    before["coref_mentions"] = doc.spans["coref_mentions"]
    assert len(get_clusters(doc)) == 5
    set_clusters(doc, [(3, 4), (5, 6)], [0, 0], [-1, 0], [0.5, 0.5])
    assert set(doc.spans) == {*FOREIGN, "coref_clusters_1"}
    assert bounds(doc) == [[(3, 4), (5, 6)]]
    clear_clusters(doc)
    assert {key: doc.spans[key] for key in doc.spans} == before


def test_clusters_are_read_by_number() -> None:
    doc = make_doc()
    for number in (10, 2, 1):
        span = Span(doc, number, number + 1)
        doc.spans[f"coref_clusters_{number}"] = [span, doc[0:1]]
    assert [group[0].start for group in get_clusters(doc)] == [1, 2, 10]


def test_antecedent_in_another_cluster_changes_nothing() -> None:
    doc = make_doc()
    set_clusters(doc, [(0, 1), (1, 2)], [0, 0])
    with pytest.raises(ValueError, match="another cluster"):
        set_clusters(doc, [(3, 4), (5, 6)], [0, 1], [-1, 0], [0.5, 0.5])
    assert bounds(doc) == [[(0, 1), (1, 2)]]


def test_many_clusters_round_trip() -> None:
    doc = make_doc(60)
    n = 50
    numbers = [i % 12 for i in range(n)]
    antecedents = [i - 12 if i >= 12 else -1 for i in range(n)]
    links = [round(0.5 + i / 100, 2) for i in range(n)]
    spans = [(i, i + 1 + i % 3) for i in range(n)]
    set_clusters(doc, spans, numbers, antecedents, links, links, singletons=True)
    stored = DocBin(docs=[doc], store_user_data=True).to_bytes()
    (from_bin,) = DocBin().from_bytes(stored).get_docs(NLP.vocab)
    for other in (Doc(NLP.vocab).from_bytes(doc.to_bytes()), from_bin, doc.copy()):
        assert bounds(other) == bounds(doc)
        for ours, theirs in zip(get_clusters(doc), get_clusters(other), strict=True):
            assert theirs.attrs == ours.attrs


@pytest.mark.parametrize(
    "links, expected",
    [
        ([], 1.0),
        ([None], 1.0),
        ([None, 0.5], 0.5),
        ([0.25, None, 1.0], 0.5),
        ([None, 1.0, 1.0, 0.0], 0.0),
        ([None, *[1.0] * 50], 1.0),
    ],
)
def test_cluster_confidence(links: List[float], expected: float) -> None:
    assert cluster_confidence(links) == pytest.approx(expected)
    assert cluster_confidence(links[::-1]) == cluster_confidence(links)


def test_size_alone_makes_no_cluster_uncertain() -> None:
    assert cluster_confidence([0.9] * 500) == pytest.approx(0.9)
    assert cluster_confidence([0.9] * 9 + [0.1]) < sum([0.9] * 9 + [0.1]) / 10
