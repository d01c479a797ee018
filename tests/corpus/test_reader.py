"""The training reader of everything after the segmenter."""

import random
from pathlib import Path
from typing import Set

import pytest
import spacy
from spacy.tokens import Doc, DocBin

from spacy_he_coref.corpus.reader import (
    SegmentedCorpus,
    copy_tokens,
    in_fold,
    make_segmented_corpus,
)
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


def named(name: str) -> Doc:
    doc = Doc(spacy.blank("he").vocab, words=[f"מסמך {name}"])
    doc._.source = {"id": name}
    return doc


def test_parts_of_an_article_are_in_one_fold() -> None:
    for article in range(20):
        parts = [named(f"htb:{article}_{part}") for part in range(1, 8)]
        folds = [
            f"{k}/4" for k in range(1, 5) if in_fold(named(f"htb:{article}"), f"{k}/4")
        ]
        assert len(folds) == 1
        assert all(in_fold(part, folds[0]) for part in parts)


def test_every_article_is_in_one_fold_of_five() -> None:
    docs = [named(f"htb:{i}") for i in range(100)]
    sizes = [sum(in_fold(doc, f"{k}/5") for doc in docs) for k in range(1, 6)]
    assert sum(sizes) == 100
    assert min(sizes) >= 10


def test_folds_of_the_reader(tmp_path: Path) -> None:
    docs = [named(f"htb:{i}_{part}") for i in range(10) for part in (1, 2)]
    path = tmp_path / "x.spacy"
    DocBin(attrs=["ORTH"], docs=docs, store_user_data=True).to_disk(path)
    nlp = spacy.blank("he")

    def read(**settings: str) -> Set[str]:
        reader = make_segmented_corpus([str(path)], **settings)
        return {example.reference._.source["id"] for example in reader(nlp)}

    everything = {doc._.source["id"] for doc in docs}
    inside = read(only="2/3")
    assert inside == {d._.source["id"] for d in docs if in_fold(d, "2/3")}
    assert inside and inside != everything
    assert read(leave_out="2/3") == everything - inside
    assert read() == everything
    with pytest.raises(ValueError, match="Write K/N"):
        make_segmented_corpus([str(path)], leave_out="3/2")


def test_full_pronouns_of_clitics_are_kept() -> None:
    doc = segmented(TEXT)
    clitics = [token for token in doc if token._.segment_kind == "clitic"]
    assert clitics and all(token.norm_ != token.text for token in clitics)
    assert [t.norm_ for t in copy_tokens(doc)] == [t.norm_ for t in doc]
