"""Predicted annotation with gold clusters, on the toy corpus."""

from collections import Counter
from pathlib import Path
from typing import Dict, List, Tuple

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc, DocBin

from spacy_he_coref.corpus.annotate import CANDIDATES, annotate_docs, carry_clusters
from spacy_he_coref.corpus.docs import (
    CLUSTER_PREFIX,
    KIBUTZR,
    MENTIONS,
    SINGLETONS,
    TREE_ATTRS,
    TREEBANK,
    load_docs,
    set_clusters,
)
from spacy_he_coref.mentions import Settings, find_mentions
from tests.evaluation.toy import build_toy, oracle_pipeline

Letters = Tuple[int, int]


@Language.component("test_marks_its_work")
def marks_its_work(doc: Doc) -> Doc:
    for token in doc:
        token.lemma_ = "חזוי"
    # What a pipeline without a doc_cleaner leaves.
    doc.user_data["vectors"] = object()
    doc.spans["foreign"] = [doc[:1]] if len(doc) else []
    return doc


@Language.component("test_refuses_names")
def refuses_names(doc: Doc) -> Doc:
    if any(token.pos_ == "PROPN" for token in doc):
        raise ValueError("no names, please")
    return doc


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_toy(tmp_path_factory.mktemp("toy"))


@pytest.fixture(scope="module")
def nlp(corpus: Path) -> Language:
    nlp = oracle_pipeline(corpus)
    nlp.add_pipe("test_marks_its_work")
    nlp.add_pipe("he_mentions")
    return nlp


@pytest.fixture
def docs(corpus: Path, nlp: Language) -> List[Doc]:
    return load_docs(corpus, nlp.vocab)


def letters(doc: Doc, key: str) -> List[Letters]:
    return [(span.start_char, span.end_char) for span in doc.spans[key]]


def gold_groups(doc: Doc) -> Dict[str, List[Letters]]:
    keys = (MENTIONS, SINGLETONS)
    return {
        key: letters(doc, key)
        for key in doc.spans
        if key in keys or key.startswith(CLUSTER_PREFIX)
    }


def through_docbin(docs: List[Doc]) -> List[Doc]:
    data = DocBin(attrs=TREE_ATTRS, docs=docs, store_user_data=True).to_bytes()
    return list(DocBin().from_bytes(data).get_docs(spacy.blank("he").vocab))


@pytest.mark.parametrize("given", ["segments", "text"])
def test_annotation_is_predicted_and_clusters_are_gold(
    nlp: Language, docs: List[Doc], given: str
) -> None:
    counts: Counter[str] = Counter()
    made = list(annotate_docs(nlp, docs, given, counts))
    for doc, gold in zip(through_docbin(made), docs, strict=True):
        assert doc.text == gold.text
        assert [m.form for m in doc._.morphemes] == [m.form for m in gold._.morphemes]
        assert {t.lemma_ for t in doc} == {"חזוי"}
        assert [t.head.i for t in doc] == [t.head.i for t in gold]
        assert [s.start for s in doc.sents] == [s.start for s in gold.sents]
        assert gold_groups(doc) == gold_groups(gold)
        for key in gold_groups(gold):
            assert doc.spans[key].attrs == gold.spans[key].attrs
        for key, setting in CANDIDATES.items():
            found = [(span.start, span.end) for span in doc.spans[key]]
            assert found == find_mentions(doc, Settings(setting))
        assert set(doc.spans) == {*gold.spans, *CANDIDATES}
        assert doc._.source == {
            **gold._.source,
            "annotation": "predicted",
            "given": given,
        }
        assert not {TREEBANK, KIBUTZR, "vectors"} & set(doc.user_data)
    assert counts["documents"] == len(docs)
    assert counts["tokens"] == sum(len(doc) for doc in docs)
    assert counts["mentions_lost"] == counts["clusters_lost"] == 0
    assert 0 < counts["coref_candidates"] <= counts["coref_candidates_recall"]


def test_sentences_that_are_given_stay(corpus: Path, docs: List[Doc]) -> None:
    nlp = oracle_pipeline(corpus)
    # Would begin a sentence at every stop, also in ד"ר, if it ran.
    nlp.add_pipe("sentencizer", before="toy_oracle", config={"punct_chars": ['"']})
    for doc, gold in zip(annotate_docs(nlp, docs, "segments"), docs, strict=True):
        assert [s.start for s in doc.sents] == [s.start for s in gold.sents]


def test_mentions_inside_whole_words_are_lost(corpus: Path) -> None:
    path = corpus.with_name("dev.spacy")
    nlp = oracle_pipeline(path, segments=False)
    docs = load_docs(path, nlp.vocab)
    gold = docs[1]
    assert gold.text.startswith("לדודי היה כלב")
    counts: Counter[str] = Counter()
    made = list(annotate_docs(nlp, docs, "text", counts))
    (doc,) = through_docbin(made[1:])
    # דודי and its ו, three of a dog, one of them in איתו; י, שמו and הים alone.
    assert [
        [s.text for s in g] for k, g in doc.spans.items() if k not in CANDIDATES
    ] == [
        ["כלב קטן ששמו רקס", "הוא"],
        ["הים"],
        ["כלב קטן ששמו רקס", "הוא", "הים"],
    ]
    assert (
        doc.spans[f"{CLUSTER_PREFIX}_1"].attrs == gold.spans["coref_clusters_2"].attrs
    )
    assert doc.spans[SINGLETONS].attrs == {"ids": [4]}
    kept = sum(len(doc.spans[MENTIONS]) for doc in made)
    assert kept + counts["mentions_lost"] == counts["mentions_with_singletons"] == 27
    kept = sum(len(g) for d in made for k, g in d.spans.items() if "clusters" in k)
    assert counts["mentions"] == 20
    single = counts["mentions_left_single"]
    assert kept + counts["coreferent_lost"] + single == counts["mentions"]


@pytest.mark.parametrize("others", [True, False])
def test_mention_that_is_left_alone(others: bool) -> None:
    vocab = spacy.blank("he").vocab
    words = ["דנה", "ראתה", "את", "בת", "ה", "אתמול"]
    gold = Doc(vocab, words=words, spaces=[True, True, True, False, True, False])
    clusters = [([(0, 1), (4, 5)], {"id": "a"})]
    set_clusters(gold, [*clusters, ([(5, 6)], {"id": "b"})] if others else clusters)
    doc = spacy.blank("he").make_doc(gold.text)
    carry_clusters(gold, doc)
    assert f"{CLUSTER_PREFIX}_1" not in doc.spans
    texts = [span.text for span in doc.spans[SINGLETONS]]
    # In a corpus without singletons it would be the only one.
    assert texts == (["דנה", "אתמול"] if others else [])
    assert doc.spans[SINGLETONS].attrs == {"ids": ["a", "b"] if others else []}
    assert [span.text for span in doc.spans[MENTIONS]] == texts


def test_clusters_are_in_the_order_of_what_is_left() -> None:
    vocab = spacy.blank("he").vocab
    spaces = [False, True, True, True, True]
    words = ["ב", "בית", "דנה", "שלה", "הבית"]
    gold = Doc(vocab, words=[*words, "שם"], spaces=[*spaces, False])
    set_clusters(gold, [([(1, 2), (4, 5), (5, 6)], {"id": 1}), ([(2, 3), (3, 4)], {})])
    doc = spacy.blank("he").make_doc(gold.text)
    carry_clusters(gold, doc)
    found = [[s.text for s in doc.spans[f"{CLUSTER_PREFIX}_{i}"]] for i in (1, 2)]
    assert found == [["דנה", "שלה"], ["הבית", "שם"]]


@pytest.mark.parametrize("text", ["", "שלום", "123", "Hebrew only"])
@pytest.mark.parametrize("given", ["segments", "text"])
def test_small_documents(text: str, given: str) -> None:
    nlp = spacy.blank("he")
    nlp.add_pipe("test_tags_and_trees")
    gold = nlp.make_doc(text)
    set_clusters(gold, [])
    (doc,) = through_docbin(list(annotate_docs(nlp, [gold], given)))
    assert doc.text == text
    assert len(doc.spans[MENTIONS]) == 0


@Language.component("test_tags_and_trees")
def tags_and_trees(doc: Doc) -> Doc:
    for token in doc:
        token.pos_, token.dep_, token.head = "ADV", "ROOT", token
    return doc


def test_documents_are_named(corpus: Path, nlp: Language, docs: List[Doc]) -> None:
    strict = oracle_pipeline(corpus)
    strict.add_pipe("test_refuses_names")
    with pytest.raises(ValueError, match="mini:1: component 'test_refuses_names': no"):
        list(annotate_docs(strict, docs, "segments"))
    with pytest.raises(ValueError, match="mini:1 has no part-of-speech tags"):
        list(annotate_docs(spacy.blank("he"), docs, "text"))
    with pytest.raises(ValueError, match="mini:1: the predicted document has another"):
        carry_clusters(docs[0], docs[1])
    del docs[1].spans[MENTIONS]
    with pytest.raises(ValueError, match="mini:2_1 has no gold mentions"):
        list(annotate_docs(nlp, docs, "segments"))
    with pytest.raises(ValueError, match="Choose one of: segments, text"):
        list(annotate_docs(nlp, docs, "words"))
