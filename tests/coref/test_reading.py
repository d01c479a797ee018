"""The reading API on documents with hand-written trees and clusters."""

import gc
import json
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Dict, List, Sequence

import pytest
from spacy.tokens import Doc, DocBin, Span

from spacy_he_coref.coref import reading
from spacy_he_coref.coref.clusters import set_clusters
from spacy_he_coref.coref.reading import Cluster, readable
from spacy_he_coref.corpus.docs import load_docs
from tests.display.helpers import STORY, story
from tests.evaluation.toy import build_toy
from tests.mentions.helpers import tree, vocabulary


@pytest.fixture
def doc() -> Doc:
    """דנה, ה, היא are one; אחיה, ו another; בית is alone."""
    return story()


def test_clusters(doc: Doc) -> None:
    coref = doc._.coref
    assert len(coref) == 2
    first, second = coref
    assert coref[0] == first and coref.clusters == [first, second]
    assert first.texts == ["דנה", "ה", "היא"]
    assert [doc.text[start:end] for start, end in first.offsets] == first.texts
    assert first.offsets[1] == (15, 16)
    assert (first.number, second.number) == (1, 2)
    assert first.confidence == pytest.approx(0.4)
    assert first.links == [None, 0.64, 0.25]
    assert first.antecedents == [None, 0, 1]
    assert first.kinds == ["name", "clitic", "pronoun"]
    assert first.main == doc[0:1] and second.main == doc[3:5]
    assert [span.text for span in coref.singletons] == ["בית"]
    assert coref.singleton_confidences == [0.75]
    assert [(s.start, s.end) for s in coref.mentions] == [
        (0, 1),
        (3, 5),
        (4, 5),
        (6, 7),
        (9, 10),
        (11, 12),
    ]


def test_cluster_is_a_sequence_of_spans(doc: Doc) -> None:
    first, second = doc._.coref
    assert list(first) == list(first.mentions) == [first[0], first[1], first[-1]]
    assert first[1:] == first.mentions[1:]
    # A label makes no other mention of it.
    assert Span(doc, 0, 1, label="PER") in first
    assert doc[0:2] not in first and doc[0] not in first
    assert doc.copy()[0:1] not in first
    assert first != second and first != "דנה"
    assert {first, doc._.coref[0]} == {first}


def test_of_tokens_and_spans(doc: Doc) -> None:
    coref = doc._.coref
    first, second = coref
    # אחי|ה: the clitic is inside of both, in its own mention first.
    assert coref.of(doc[4]) == [first, second]
    assert coref.of(doc[3]) == [second]
    assert coref.of(doc[3:5]) == [second]
    assert coref.of(doc[1]) == coref.of(doc[0:2]) == coref.of(doc[11]) == []
    for token in doc:
        assert token._.coref == coref.of(token)
    assert doc[4:5]._.coref == first
    assert doc[3:5]._.coref == doc[4]._.word._.coref == second
    assert doc[3:4]._.coref is None and doc[11:12]._.coref is None
    assert Span(doc, 0, 1, label="PER")._.coref == first
    with pytest.raises(ValueError, match="not of this document"):
        coref.of(doc.copy()[0])


def test_innermost_first_with_long_mentions_around() -> None:
    doc = Doc(vocabulary(), words=["א"] * 30)
    spans = [(0, 30), (2, 20), (3, 5), (3, 4), (10, 12), (3, 6), (25, 26), (26, 27)]
    set_clusters(doc, spans, [0, 1, 2, 3, 3, 2, 0, 1])
    coref = doc._.coref
    for i in range(30):
        around = sorted(
            (end - start, n)
            for n, cluster in enumerate(coref)
            for start, end in [(s.start, s.end) for s in cluster]
            if start <= i < end
        )
        # A cluster with two mentions around it is there once.
        expected = list(dict.fromkeys(n for _, n in around))
        assert [c.number - 1 for c in coref.of(doc[i])] == expected
    assert [len(coref.of(doc[3:n])) for n in (4, 5, 6, 7, 20, 21, 30)] == [
        *(4, 3, 3, 2, 2, 1, 1)
    ]


def test_changes_are_seen(doc: Doc) -> None:
    assert doc[0]._.coref and doc[0:1]._.coref
    doc.spans["coref_clusters_2"].append(doc[11:12])
    assert doc[11:12]._.coref is not None
    assert doc[11]._.coref[0].texts == ["אחיה", "ו", "בית"]
    # The values of the other length say nothing now.
    assert doc[11]._.coref[0].links == [None] * 3
    set_clusters(doc, [(0, 1), (11, 12)], [0, 0])
    assert doc[11]._.coref == doc[0]._.coref == [doc._.coref[0]]
    assert doc[3]._.coref == []
    del doc.spans["coref_clusters_1"]
    assert doc[0]._.coref == [] and doc[0:1]._.coref is None


def test_no_document_is_kept_alive(doc: Doc) -> None:
    other = doc.copy()
    assert other[0]._.coref
    before = len(reading._indexes)
    del other
    gc.collect()
    assert len(reading._indexes) == before - 1
    # But a cluster keeps its own.
    cluster = doc.copy()._.coref[0]
    gc.collect()
    assert cluster.texts == ["דנה", "ה", "היא"] and cluster.links[1] == 0.64


def test_to_dict(doc: Doc) -> None:
    row = json.loads(json.dumps(doc._.coref.to_dict(), ensure_ascii=False))
    assert row["text"] == doc.text
    assert row["clusters"][1] == {
        "main": 0,
        "confidence": pytest.approx(0.8),
        "mentions": [
            {
                "text": "אחיה",
                "start": 12,
                "end": 16,
                "kind": "nominal",
                "confidence": None,
            },
            {
                "text": "ו",
                "start": 32,
                "end": 33,
                "kind": "clitic",
                "confidence": 0.8,
            },
        ],
    }
    assert row["singletons"] == [
        {"text": "בית", "start": 35, "end": 38, "kind": "nominal", "confidence": 0.75}
    ]


def test_repr(doc: Doc) -> None:
    assert repr(doc._.coref) == "1. דנה: דנה, ה (אחיה), היא\n2. אחיה: אחיה, ו (אותו)"
    assert repr(tree(STORY)._.coref) == "no clusters"
    words = Doc(vocabulary(), words=["אחת", "\n", *["מילה"] * 20])
    assert readable(words[0:4]) == "אחת מילה מילה"
    assert len(readable(words[0:20])) <= 60 and readable(words[0:20]).endswith(" …")
    assert readable(words[0:20], None).count("מילה") == 18


@pytest.mark.parametrize("words", [[], ["שלום"], ["hello", "world"]])
def test_document_without_clusters(words: List[str]) -> None:
    doc = Doc(vocabulary(), words=words)
    coref = doc._.coref
    assert len(coref) == 0 and not coref and list(coref) == []
    assert coref.mentions == coref.singletons == coref.singleton_confidences == []
    assert coref.to_dict() == {"text": doc.text, "clusters": [], "singletons": []}
    assert all(token._.coref == [] and coref.of(token) == [] for token in doc)
    assert doc[0:]._.coref is None


def test_empty_group_is_no_cluster() -> None:
    doc = Doc(vocabulary(), words=["א"] * 4)
    doc.spans["coref_clusters_1"] = []
    doc.spans["coref_clusters_2"] = [doc[0:1], doc[2:3]]
    (cluster,) = doc._.coref
    assert cluster.number == 1 and doc[2]._.coref == [cluster]


@pytest.mark.parametrize("place", [0, 13])
def test_empty_span_is_never_the_main_mention(doc: Doc, place: int) -> None:
    before = doc._.coref.resolve()
    doc.spans["coref_clusters_1"] = [doc[place:place], *doc.spans["coref_clusters_1"]]
    assert doc._.coref[0].main.text == "דנה"
    assert doc._.coref.resolve() == before


def facts(doc: Doc) -> Dict:
    return {**doc._.coref.to_dict(), "tokens": [len(t._.coref) for t in doc]}


def test_stored_documents(doc: Doc) -> None:
    expected = facts(doc)
    stored = DocBin(store_user_data=True, attrs=["POS", "HEAD", "DEP"], docs=[doc])
    (from_bin,) = DocBin().from_bytes(stored.to_bytes()).get_docs(doc.vocab)
    from_bytes = Doc(doc.vocab).from_bytes(doc.to_bytes())
    pickled = pickle.loads(pickle.dumps(doc))
    for other in (from_bin, from_bytes, pickled, doc.copy()):
        assert facts(other) == expected


def test_piece_of_a_document(doc: Doc) -> None:
    # spaCy copies no span groups to it.
    piece = doc[6:13].as_doc(copy_user_data=True)
    assert len(piece._.coref) == 0 and piece[0]._.coref == []
    set_clusters(piece, [(0, 1), (3, 4)], [0, 0])
    assert piece._.coref[0].texts == ["היא", "ו"]


def test_joined_documents(doc: Doc) -> None:
    # spaCy joins groups of one name; the values of each mention are lost.
    joined = Doc.from_docs([doc, doc])
    assert joined._.coref[0].texts == ["דנה", "ה", "היא"] * 2
    assert joined._.coref[0].links == [None] * 6
    assert joined._.coref.singleton_confidences == [None] * 2


def test_gold_documents(tmp_path: Path) -> None:
    docs = load_docs(build_toy(tmp_path))
    assert docs
    for doc in docs:
        coref = doc._.coref
        assert coref.singletons
        assert {(s.start, s.end) for s in coref.mentions} == {
            (s.start, s.end) for s in doc.spans["coref_mentions"]
        }
        for cluster in coref:
            assert cluster.confidence is None
            assert cluster.links == [None] * len(cluster)
            assert all(span._.coref is not None for span in cluster)
    assert [c.main.text for c in docs[0]._.coref] == [
        "דנה כהן",
        "אחיה",
        "ההורים שלהם",
        "דירה קטנה",
        "עיר הגדולה",
        "בית",
    ]


def main_of(doc: Doc, spans: Sequence[tuple]) -> str:
    set_clusters(doc, list(spans), [0] * len(spans))
    cluster: Cluster = doc._.coref[0]
    return cluster.main.text


# הרצוג נאם. נשיא ה מדינה יצחק הרצוג שיבח את ה איש שקרא.
PRESIDENT = """
הרצוג PROPN nsubj 2
נאם VERB ROOT 0

נשיא NOUN nsubj 6
ה+ DET det:def 3
מדינה NOUN compound:smixut 1
יצחק PROPN flat:name 1
הרצוג PROPN flat:name 4
שיבח VERB ROOT 0
את ADP case:acc 9
ה+ DET det:def 9
איש NOUN obj 6
הוא PRON nsubj 11
קרא VERB acl:relcl 9

יצחק PROPN nsubj 3
הרצוג PROPN flat:name 1
חייך VERB ROOT 0
"""


def test_main_is_the_fullest_name() -> None:
    doc = tree(PRESIDENT)
    # The one with the title is a name too, and beats the short one.
    assert main_of(doc, [(0, 1), (2, 7), (11, 12)]) == "נשיא המדינה יצחק הרצוג"
    # Of those with the whole name the shortest.
    assert main_of(doc, [(0, 1), (2, 7), (13, 15)]) == "יצחק הרצוג"


# Whatever the order of the mentions is, and where they stand.
DESCRIPTION = """
הוא PRON nsubj 2
נרדם VERB ROOT 0

שומר NOUN nsubj 4
ה+ DET det:def 3
לילה NOUN compound:smixut 1
נרדם VERB ROOT 0

ה+ DET det:def 2
שומר NOUN nsubj 6
ה+ DET det:def 4
הוא PRON det 2
התעורר VERB ROOT 0

ה+ DET det:def 2
איש NOUN nsubj 8
ה+ SCONJ mark 4
שומר VERB acl:relcl 2
על ADP case 7
ה+ DET det:def 7
מפעל NOUN obl 4
חייך VERB ROOT 0
"""


def test_main_is_a_description_without_clause() -> None:
    doc = tree(DESCRIPTION)
    pronoun, night, this, clause = (0, 1), (2, 5), (6, 10), (11, 18)
    assert main_of(doc, [pronoun, night, this, clause]) == "שומר הלילה"
    # שומר and השומר say the same: the shorter; האיש ש... only where there is no other.
    assert main_of(doc, [pronoun, this, (7, 8), clause]) == "שומר"
    assert main_of(doc, [pronoun, clause]) == doc[11:18].text


def test_main_of_pronouns(doc: Doc) -> None:
    # The clitic comes first in the text, but is no word.
    assert main_of(doc, [(4, 5), (6, 7)]) == "היא"
    assert main_of(doc, [(4, 5), (9, 10)]) == "ה"


def test_main_is_not_long() -> None:
    rows = ["עיתון NOUN ROOT 0", *["ישן ADJ amod 1"] * reading.LONGEST_MAIN]
    doc = tree("\n".join([*rows, "ספר NOUN dep 1", "ישן ADJ amod 12"]))
    assert main_of(doc, [(0, 11), (11, 13)]) == "ספר ישן"


def test_main_without_tags_and_trees() -> None:
    doc = Doc(vocabulary(), words=["הוא", "נשיא", "המדינה", "הרצוג"])
    assert main_of(doc, [(0, 1), (1, 3), (3, 4)]) == "נשיא המדינה"


def test_comes_with_the_factories_alone(doc: Doc, tmp_path: Path) -> None:
    # Another process that imports nothing but spaCy.
    doc.to_disk(tmp_path / "doc")
    code = (
        "import spacy, sys; from spacy.tokens import Doc;"
        "nlp = spacy.blank('he'); nlp.add_pipe('he_paragraphs');"
        "print(len(Doc(nlp.vocab).from_disk(sys.argv[1])._.coref))"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "doc")]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.stdout.strip() == "2", found.stderr
