"""The training reader: what the predicted side may see, parts, vectors, folds."""

import random
import warnings
from pathlib import Path
from typing import Any, Dict, List, Tuple

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc, DocBin

from spacy_he_coref.coref.reader import (
    CorefCorpus,
    cut_document,
    make_coref_corpus,
    strip_gold,
)
from spacy_he_coref.corpus.docs import set_clusters
from tests.coref.helpers import clusters, make_pipeline, stories, story, write_stories


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_stories(tmp_path_factory.mktemp("corpus") / "stories.spacy")


@pytest.fixture(scope="module")
def nlp(encoder: Path) -> Language:
    return make_pipeline(encoder)


def spans(doc: Doc, key: str) -> List[Tuple[int, int]]:
    return [(span.start, span.end) for span in doc.spans[key]]


def groups(doc: Doc) -> Dict[str, List[str]]:
    return {key: [span.text for span in group] for key, group in doc.spans.items()}


# What predicted has


def test_predicted_has_all_but_gold() -> None:
    doc = story(0)
    doc.spans["foreign"] = [doc[1:2]]
    doc.spans["coref_candidates_recall"] = [doc[0:6]]
    before = groups(doc)
    copy = strip_gold(doc)
    assert sorted(copy.spans) == ["coref_mentions", "foreign"]
    # The candidates of the balanced setting, not the gold mentions.
    assert spans(copy, "coref_mentions") == spans(doc, "coref_candidates")
    assert spans(copy, "coref_mentions") != spans(doc, "coref_mentions")
    names = ["ORTH", "POS", "MORPH", "LEMMA", "HEAD", "DEP", "SENT_START"]
    assert np.array_equal(copy.to_array(names), doc.to_array(names))
    assert copy._.morphemes == doc._.morphemes and copy.text == doc.text
    # The document itself is as it was.
    assert groups(doc) == before


def test_a_document_without_candidates() -> None:
    doc = story(0)
    del doc.spans["coref_candidates"]
    assert spans(strip_gold(doc), "coref_mentions") == []


def test_examples(nlp: Language, corpus: Path) -> None:
    found = list(make_coref_corpus([str(corpus)])(nlp))
    assert len(found) == 3
    for example, gold in zip(found, stories(), strict=True):
        assert example.text == gold.text
        assert clusters(example.reference) == clusters(gold)
        assert clusters(example.predicted) == []
        assert "coref_singletons" not in example.predicted.spans
        assert example.predicted._.trf_data is None
        assert example.predicted.vocab is nlp.vocab


def test_reading_again_gives_the_same(nlp: Language, corpus: Path) -> None:
    reader = CorefCorpus([corpus, corpus], max_length=5)
    first, second = (list(reader(nlp)) for _ in range(2))
    assert [eg.text for eg in first] == [eg.text for eg in second]
    assert len(first) > 6


def test_missing_file(nlp: Language, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nothing.spacy"):
        list(CorefCorpus([tmp_path / "nothing.spacy"])(nlp))


# Vectors


def test_vectors_of_a_frozen_encoder(nlp: Language, corpus: Path) -> None:
    reader = CorefCorpus([corpus], max_length=5, encoder="transformer")
    for example in reader(nlp):
        output: Any = example.predicted._.trf_data.model_output
        assert output["last_hidden_state"].shape == (1, len(example.predicted), 16)
        expected = nlp.get_pipe("transformer")(example.predicted.copy())
        theirs: Any = expected._.trf_data.model_output
        assert np.allclose(
            output["last_hidden_state"], theirs["last_hidden_state"], atol=1e-5
        )
        assert example.reference._.trf_data is None


def test_an_encoder_that_is_not_there(corpus: Path) -> None:
    with pytest.raises(KeyError, match="transformer"):
        list(CorefCorpus([corpus], encoder="transformer")(spacy.blank("he")))


# Order and folds


def test_order(nlp: Language, corpus: Path) -> None:
    plain = [eg.text for eg in CorefCorpus([corpus], max_length=5)(nlp)]
    reader = CorefCorpus([corpus], max_length=5, shuffle=True, encoder="transformer")
    orders = []
    for seed in (1, 1, 2):
        random.seed(seed)
        orders.append([eg.text for eg in reader(nlp)])
    assert orders[0] == orders[1] != orders[2]
    assert sorted(orders[0]) == sorted(plain) and orders[0] != plain


def test_folds(nlp: Language, corpus: Path) -> None:
    whole = sorted(eg.text for eg in CorefCorpus([corpus])(nlp))
    parts: List[str] = []
    for fold in ("1/3", "2/3", "3/3"):
        only = [eg.text for eg in CorefCorpus([corpus], only=fold)(nlp)]
        rest = [eg.text for eg in CorefCorpus([corpus], leave_out=fold)(nlp)]
        assert sorted(only + rest) == whole
        parts += only
    assert sorted(parts) == whole
    with pytest.raises(ValueError, match="4/3"):
        CorefCorpus([corpus], only="4/3")


# Parts


def long_story() -> Doc:
    """The stories one after the other, with clusters of all."""
    docs = stories()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        doc = Doc.from_docs(docs, ensure_whitespace=False)
    found: List[Any] = []
    offset = 0
    for part in docs:
        for key, group in part.spans.items():
            bounds = [(s.start + offset, s.end + offset) for s in group]
            if key.startswith("coref_clusters_"):
                found.append((bounds, {}))
            elif key == "coref_singletons":
                found += [([bound], {}) for bound in bounds]
        offset += len(part)
    doc.spans.clear()
    set_clusters(doc, found)
    doc.spans["foreign"] = [doc[0:1], doc[14:16]]
    return doc


def test_parts_cover_a_document_and_end_with_sentences() -> None:
    doc = long_story()
    for length in (1, 5, 12, 20):
        parts = list(cut_document(doc, length))
        assert [t.text for part in parts for t in part] == [t.text for t in doc]
        assert [t.dep_ for part in parts for t in part] == [t.dep_ for t in doc]
        assert [t._.morphemes for part in parts for t in part] == [
            t._.morphemes for t in doc
        ]
        sentences = [s.text for part in parts for s in part.sents]
        assert sentences == [s.text for s in doc.sents]
        # Each but the last is long enough, and no longer than needed.
        for part in parts[:-1]:
            *before, last = part.sents
            assert len(part) >= length > len(part) - len(last)


def test_short_documents_are_left_whole() -> None:
    doc = long_story()
    assert list(cut_document(doc, 0)) == [doc]
    assert list(cut_document(doc, len(doc))) == [doc]
    assert list(cut_document(doc, int(len(doc) / 1.25))) == [doc]
    assert len(list(cut_document(doc, len(doc) // 2))) > 1


def test_parts_keep_mentions_of_any_group() -> None:
    doc = long_story()
    texts: Dict[str, List[str]] = {}
    for part in cut_document(doc, 5):
        for key, group in groups(part).items():
            texts.setdefault(key, []).extend(group)
            assert part.spans[key].name == key
    assert texts["coref_mentions"] == groups(doc)["coref_mentions"]
    assert texts["foreign"] == groups(doc)["foreign"]
    in_clusters = [t for k, v in texts.items() if "clusters" in k for t in v]
    everything = sorted(in_clusters + texts["coref_singletons"])
    expected = groups(doc)
    del expected["coref_mentions"], expected["foreign"]
    assert everything == sorted(t for v in expected.values() for t in v)


def test_mentions_left_alone_are_singletons_if_there_are_any() -> None:
    first = next(iter(cut_document(story(0), 5)))
    # היא is in the other part, and so is the other mention of אחיה.
    assert clusters(first) == [[(0, 1), (4, 5)]]
    assert sorted(spans(first, "coref_singletons")) == [(3, 5), (6, 7)]
    doc = story(0)
    del doc.spans["coref_singletons"]
    first = next(iter(cut_document(doc, 5)))
    assert "coref_singletons" not in first.spans
    assert clusters(first) == [[(0, 1), (4, 5)]]


def test_parts_survive_storage() -> None:
    for part in cut_document(story(0), 5):
        data = DocBin(docs=[part], store_user_data=True).to_bytes()
        again = next(iter(DocBin().from_bytes(data).get_docs(part.vocab)))
        assert groups(again) == groups(part)
        assert again._.morphemes == part._.morphemes


# Gold tags and trees


def write_gold(path: Path, docs: List[Doc]) -> str:
    DocBin(docs=docs, store_user_data=True).to_disk(path)
    return str(path)


def with_gold_tags() -> List[Doc]:
    docs = stories()
    for doc in docs:
        for token in doc:
            token.tag_ = f"gold{token.i}"
    return docs


def test_reference_has_gold_annotation(
    nlp: Language, corpus: Path, tmp_path: Path
) -> None:
    # In another order.
    gold = write_gold(tmp_path / "gold.spacy", with_gold_tags()[::-1])
    found = list(make_coref_corpus([str(corpus)], 5, gold=[gold])(nlp))
    assert len(found) == sum(len(list(doc.sents)) for doc in stories())
    for example in found:
        predicted, reference = example.predicted, example.reference
        assert [t.text for t in predicted] == [t.text for t in reference]
        assert all(not token.tag_ for token in predicted)
        assert all(token.tag_.startswith("gold") for token in reference)
        assert clusters(predicted) == [] and predicted.spans["coref_mentions"]
    tags = [t.tag_ for example in found for t in example.reference]
    assert tags == [t.tag_ for doc in with_gold_tags() for t in doc]


def test_cuts_are_between_sentences_of_both(nlp: Language, tmp_path: Path) -> None:
    doc = story(0)
    words = [token.text for token in doc]
    spaces = [bool(token.whitespace_) for token in doc]
    starts = [i == 0 for i in range(len(doc))]
    whole = Doc(doc.vocab, words=words, spaces=spaces, sent_starts=starts)
    whole._.source = doc._.source
    corpus = write_gold(tmp_path / "stories.spacy", [doc])
    gold = write_gold(tmp_path / "gold.spacy", [whole])
    (example,) = make_coref_corpus([corpus], 5, gold=[gold])(nlp)
    assert len(example.reference) == len(doc)


def test_gold_of_other_tokens(nlp: Language, corpus: Path, tmp_path: Path) -> None:
    docs = stories()[:2]
    gold = write_gold(tmp_path / "gold.spacy", docs)
    with pytest.raises(ValueError, match="story:2 has no gold document"):
        list(make_coref_corpus([str(corpus)], gold=[gold])(nlp))
    docs[1]._.source = {"id": "story:0"}
    gold = write_gold(tmp_path / "gold.spacy", docs[1:])
    with pytest.raises(ValueError, match="annotate --given segments"):
        list(make_coref_corpus([str(corpus)], gold=[gold])(nlp))
