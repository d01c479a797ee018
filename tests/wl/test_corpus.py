"""Head words of mentions, and the reader of word-level coreference."""

from pathlib import Path
from typing import List, Tuple

import pytest
import spacy
from spacy.tokens import Doc, DocBin

from spacy_he_coref.corpus.build import build_corpus
from spacy_he_coref.corpus.docs import set_clusters
from spacy_he_coref.corpus.wl import (
    HEADS,
    SPANS,
    WlCorpus,
    head_word,
    word_clusters,
)
from tests.mentions.helpers import tree
from tests.util import ROOT, TOY_HTB, TOY_KIBUTZR

COUPLE = """
רות PROPN nsubj 4
ו+ CCONJ cc 3
דן PROPN conj 1
באו VERB ROOT 0
. PUNCT punct 4
"""
MAYOR = """
ראש NOUN nsubj 6
עיר NOUN compound:smixut 1
, PUNCT punct 4
דנה PROPN appos 1
לוי PROPN flat:name 4
נאמה VERB ROOT 0
"""


def heads(doc: Doc, spans: List[Tuple[int, int]]) -> List[str]:
    return [doc[head_word(doc, *span)].text for span in spans]


def test_head_word_of_a_coordination_is_the_conjunction() -> None:
    doc = tree(COUPLE)
    assert heads(doc, [(0, 3), (0, 1), (2, 3)]) == ["ו", "רות", "דן"]


def test_head_word_of_an_apposition_is_the_mark_before_it() -> None:
    doc = tree(MAYOR)
    assert heads(doc, [(0, 5), (0, 2), (3, 5)]) == [",", "ראש", "דנה"]


def test_apposition_without_a_mark_keeps_the_head_of_the_tree() -> None:
    doc = tree("השר NOUN nsubj 3\nכהן PROPN appos 1\nנאם VERB ROOT 0")
    assert heads(doc, [(0, 2), (1, 2)]) == ["השר", "כהן"]


def test_conjunct_outside_of_the_mention_does_not_count() -> None:
    doc = tree(COUPLE)
    assert heads(doc, [(0, 1)]) == ["רות"]
    assert heads(tree("דן PROPN ROOT 0"), [(0, 1)]) == ["דן"]


def test_a_word_stands_for_one_mention() -> None:
    doc = tree(MAYOR)
    # Two mentions of a cluster with one head word: the longer one. A singleton has
    # the head word of another mention: that one. A singleton of its own stays.
    set_clusters(
        doc,
        [
            ([(0, 1), (0, 2), (3, 5)], {}),
            ([(3, 4)], {}),
            ([(4, 5)], {}),
        ],
    )
    assert word_clusters(doc) == [[(0, (0, 2)), (3, (3, 5))], [(4, (4, 5))]]


def test_groups_fit_each_other(tmp_path: Path) -> None:
    build_corpus(tmp_path, TOY_KIBUTZR, TOY_HTB)
    nlp = spacy.blank("he")
    examples = list(WlCorpus([tmp_path / "train.spacy"], heads=True)(nlp))
    assert examples
    reference: Doc
    for example in examples:
        predicted, reference = example.predicted, example.reference
        keys = [key for key in reference.spans if key.startswith(HEADS)]
        assert keys == [key for key in predicted.spans]
        # Given for the span resolver, which pairs them by place.
        assert [k for k in reference.spans if k.startswith(SPANS)] == [
            key.replace(HEADS, SPANS) for key in keys
        ]
        for key in keys:
            words, spans = reference.spans[key], reference.spans[f"{SPANS}{key[11:]}"]
            given = predicted.spans[key]
            assert [(s.start, s.end) for s in given] == [
                (s.start, s.end) for s in words
            ]
            for word, span in zip(words, spans, strict=True):
                assert len(word) == 1
                assert span.start <= word.start < span.end
        assert [t.is_sent_start for t in predicted] == [
            t.is_sent_start for t in reference
        ]
        assert not predicted.has_annotation("DEP")


def test_without_heads_nothing_is_given_away(tmp_path: Path) -> None:
    build_corpus(tmp_path, TOY_KIBUTZR, TOY_HTB)
    nlp = spacy.blank("he")
    corpus = WlCorpus([tmp_path / "train.spacy"], heads=False)
    for _ in range(2):
        for example in corpus(nlp):
            assert not example.predicted.spans
            assert "coref_clusters_1" in example.reference.spans
            # A second reading does not meet what was written to the first one.
            example.predicted.spans["x"] = [example.predicted[:1]]


def test_documents_without_a_mention_are_not_trained_on(tmp_path: Path) -> None:
    nlp = spacy.blank("he")
    doc = Doc(nlp.vocab, words=["שלום"], heads=[0], deps=["ROOT"])
    DocBin(docs=[doc, Doc(nlp.vocab)]).to_disk(tmp_path / "x.spacy")
    paths = [tmp_path / "x.spacy"]
    assert not list(WlCorpus(paths, heads=True)(nlp))
    assert len(list(WlCorpus(paths, heads=False)(nlp))) == 2


def test_missing_file_says_how_to_make_it(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="corpus build"):
        list(WlCorpus([tmp_path / "none.spacy"], heads=True)(spacy.blank("he")))


def test_almost_every_coreferent_mention_has_a_word_of_its_own() -> None:
    """What is lost here bounds the recall of the system."""
    path = ROOT / "corpora" / "dev.spacy"
    if not path.is_file():
        pytest.skip("corpora/dev.spacy has not been built")
    kept = total = 0
    for example in WlCorpus([path], heads=True)(spacy.blank("he")):
        groups = example.reference.spans
        total += sum(len(g) for k, g in groups.items() if k.startswith("coref_clus"))
        sizes = [len(g) for k, g in groups.items() if k.startswith(SPANS)]
        kept += sum(size for size in sizes if size > 1)
    assert total == 1243
    assert kept >= 1215
