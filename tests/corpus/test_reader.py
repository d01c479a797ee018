"""The training reader of everything after the segmenter."""

import random
from pathlib import Path

import pytest
import spacy
from spacy.tokens import Doc, DocBin

from spacy_he_coref.corpus.reader import SegmentedCorpus, copy_tokens
from tests.segmenter.helpers import TEXT, segmented


def test_predicted_side_has_the_segments_and_nothing_else(tmp_path: Path) -> None:
    doc = segmented(TEXT)
    for token in doc:
        token.pos_, token.dep_ = "NOUN", "dep"
    DocBin(attrs=["POS", "DEP", "ORTH"], docs=[doc], store_user_data=True).to_disk(
        tmp_path / "x.spacy"
    )
    nlp = spacy.blank("he")
    (example,) = SegmentedCorpus([tmp_path / "x.spacy"], 0, False)(nlp)
    assert example.predicted.text == example.reference.text == TEXT
    assert example.predicted._.morphemes == doc._.morphemes
    assert not example.predicted.has_annotation("POS")
    assert [t.pos_ for t in example.reference] == ["NOUN"] * len(doc)


def test_tokens_without_a_tag_have_no_known_features(tmp_path: Path) -> None:
    vocab = spacy.blank("he").vocab
    doc = Doc(
        vocab,
        words=["בית", "לבן", "?"],
        pos=["NOUN", "", "PUNCT"],
        morphs=["Gender=Masc", "", ""],
    )
    DocBin(attrs=["POS", "MORPH", "ORTH"], docs=[doc]).to_disk(tmp_path / "x.spacy")
    (example,) = SegmentedCorpus([tmp_path / "x.spacy"], 0, False)(spacy.blank("he"))
    assert [t.has_morph() for t in example.reference] == [True, False, True]


def test_parts_in_random_order(tmp_path: Path) -> None:
    vocab = spacy.blank("he").vocab
    words = [f"מילה{i}" for i in range(40)]
    doc = Doc(vocab, words=words, sent_starts=[i % 4 == 0 for i in range(40)])
    DocBin(attrs=["SENT_START", "ORTH"], docs=[doc]).to_disk(tmp_path / "x.spacy")
    corpus = SegmentedCorpus([tmp_path / "x.spacy"], 8, True)
    nlp = spacy.blank("he")
    random.seed(0)
    first = [example.reference.text for example in corpus(nlp)]
    second = [example.reference.text for example in corpus(nlp)]
    assert first != second
    for texts in (first, second):
        found = [word for text in texts for word in text.split()]
        assert sorted(found) == sorted(words)


def test_missing_file_says_how_to_make_it(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="corpus build"):
        list(SegmentedCorpus([tmp_path / "none.spacy"], 0, False)(spacy.blank("he")))


def test_empty_document() -> None:
    doc = Doc(spacy.blank("he").vocab)
    assert len(copy_tokens(doc)) == 0
