"""The gold backend: segments of the Doc itself, or of a corpus file."""

import pytest
import spacy
from spacy.tokens import Doc, DocBin

from spacy_he_coref.corpus.conllu import CorpusError
from tests.segmenter.helpers import TEXT, blank, pipeline, segmented

OTHER = "ובבית להם שלום"


def gold_pipeline(path: object = None, **config: str) -> spacy.language.Language:
    backend = {"@misc": "spacy_he_coref.GoldSegmenter.v1", **config}
    return pipeline({**backend, "path": str(path)} if path else backend)


@pytest.fixture
def corpus(tmp_path):
    docs = [segmented(OTHER), segmented(TEXT)]
    for doc, name in zip(docs, ("htb:1", "htb:2"), strict=True):
        doc._.source = {"id": name}
    DocBin(docs=docs, store_user_data=True).to_disk(tmp_path / "gold.spacy")
    return tmp_path / "gold.spacy"


def test_segments_of_the_doc_are_kept() -> None:
    gold = segmented(f" {TEXT}\n")
    doc = gold_pipeline()(gold)
    assert doc is gold
    assert doc._.morphemes == segmented(f" {TEXT}\n")._.morphemes


@pytest.mark.parametrize("text", [TEXT, OTHER])
@pytest.mark.parametrize("name", ["", "htb:1", "htb:2", "htb:77"])
def test_segments_of_a_corpus(corpus, text: str, name: str) -> None:
    nlp = gold_pipeline(corpus)
    doc = nlp.make_doc(text)
    if name in ("", "htb:77") or (name == "htb:1") == (text == OTHER):
        doc._.source = {"id": name} if name else None
        found = nlp(doc)
        assert found.text == text
        assert found._.morphemes == segmented(text)._.morphemes


def test_words_cut_otherwise(corpus) -> None:
    nlp = gold_pipeline(corpus)
    words = [token.text for token in blank()(TEXT)]
    whole = [*words[:2], "בשטחים,", *words[4:]]
    spaces = [True] * 4 + [True, False, False]
    doc = Doc(nlp.vocab, words=whole, spaces=spaces[: len(whole)])
    doc._.source = {"id": "htb:2"}
    text = doc.text
    found = nlp(doc)
    assert found.text == text
    assert [t.text for t in found][:6] == ["דברי", "ו", "נאמרו", "ב", "שטחים", ","]
    assert found[4]._.morphemes == ("ה_", "שטחים")


def test_no_gold(corpus) -> None:
    with pytest.raises(ValueError, match="is not in the segmentation"):
        gold_pipeline(corpus)("טקסט אחר לגמרי")
    with pytest.raises(ValueError, match="Give the path"):
        gold_pipeline()("טקסט אחר לגמרי")
    with pytest.warns(UserWarning, match="stay whole"):
        assert len(gold_pipeline(on_missing="word")("טקסט אחר לגמרי")) == 3


def test_no_file(tmp_path) -> None:
    with pytest.raises(CorpusError, match="absent.spacy"):
        gold_pipeline(tmp_path / "absent.spacy").initialize()


def test_saved_pipeline_has_the_gold_in_it(corpus, tmp_path) -> None:
    nlp = gold_pipeline(corpus)
    nlp.initialize()
    nlp.to_disk(tmp_path / "model")
    corpus.unlink()
    loaded = spacy.load(tmp_path / "model")
    assert loaded(TEXT)._.morphemes == segmented(TEXT)._.morphemes
