"""``he_wl_clusters`` alone: what it makes of the groups before it."""

from typing import Dict, List, Tuple

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc, DocBin

import spacy_he_coref.coref.wl  # noqa: F401
from spacy_he_coref.coref.clusters import get_clusters

Spans = List[Tuple[int, int]]


@pytest.fixture(scope="module")
def nlp() -> Language:
    nlp = spacy.blank("he")
    nlp.add_pipe("he_wl_clusters", config={"scorer": None})
    return nlp


def make_doc(nlp: Language, groups: Dict[str, Spans]) -> Doc:
    doc = Doc(nlp.vocab, words=[f"מילה{i}" for i in range(10)])
    for key, spans in groups.items():
        doc.spans[key] = [doc[start:end] for start, end in spans]
    return doc


def found(doc: Doc) -> Dict[str, Spans]:
    return {key: [(s.start, s.end) for s in group] for key, group in doc.spans.items()}


def test_clusters_are_ordered_and_helpers_go(nlp: Language) -> None:
    doc = make_doc(
        nlp,
        {
            "he_wl_heads_1": [(5, 6), (9, 10)],
            "he_wl_heads_2": [(7, 8), (1, 2), (2, 3)],
            "he_wl_spans_1": [(4, 6), (9, 10)],
            "he_wl_spans_2": [(6, 9), (1, 3), (1, 4)],
        },
    )
    assert found(nlp(doc)) == {
        "coref_clusters_1": [(1, 4), (1, 3), (6, 9)],
        "coref_clusters_2": [(4, 6), (9, 10)],
    }
    # The components before do not say how sure they are.
    assert not any(group.attrs for group in get_clusters(doc))


def test_a_span_found_twice_stays_once(nlp: Language) -> None:
    doc = make_doc(
        nlp,
        {
            "he_wl_spans_1": [(0, 2), (0, 2), (4, 5)],
            "he_wl_spans_2": [(4, 5), (7, 8)],
            "he_wl_spans_3": [(8, 9), (8, 9)],
        },
    )
    assert found(nlp(doc)) == {"coref_clusters_1": [(0, 2), (4, 5)]}


def test_old_clusters_go_and_foreign_groups_stay(nlp: Language) -> None:
    doc = make_doc(
        nlp,
        {
            "coref_clusters_1": [(0, 1), (1, 2)],
            "coref_clusters_7": [(0, 1), (1, 2)],
            "coref_clusters_mine": [(3, 4)],
            "sc": [(2, 3)],
            "he_wl_spans_1": [(4, 6), (9, 10)],
        },
    )
    assert found(nlp(doc)) == {
        "coref_clusters_mine": [(3, 4)],
        "sc": [(2, 3)],
        "coref_clusters_1": [(4, 6), (9, 10)],
    }


def test_nothing_was_found(nlp: Language) -> None:
    assert found(nlp(make_doc(nlp, {"coref_clusters_1": [(0, 1), (1, 2)]}))) == {}
    for text in ("", "מילה"):
        assert not nlp(text).spans


def test_it_is_saved_and_streams(nlp: Language, tmp_path: str) -> None:
    nlp.to_disk(tmp_path)
    groups = {"he_wl_spans_1": [(4, 6), (9, 10)]}
    expected = {"coref_clusters_1": [(4, 6), (9, 10)]}
    for other in (spacy.load(tmp_path), spacy.blank("he").from_bytes(nlp.to_bytes())):
        if not other.pipe_names:
            other.add_pipe("he_wl_clusters", config={"scorer": None})
        docs = list(other.pipe([make_doc(other, groups) for _ in range(3)]))
        assert [found(doc) for doc in docs] == [expected] * 3
        (read,) = DocBin(docs=docs[:1]).get_docs(other.vocab)
        assert found(read) == expected
