"""The he_mentions component: writing, streams, saving."""

import pickle
from pathlib import Path
from typing import Any, List

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc, DocBin

from spacy_he_coref.mentions import MENTIONS
from spacy_he_coref.mentions.component import MentionDetector
from tests.mentions.helpers import SPEECH, tree

TEXTS = ["דבריו של ה שר הודפסו.", "ילד", "", "..."]


@Language.factory("toy_parser")
class ToyParser:
    """Makes every token a noun that belongs to the one before."""

    def __init__(self, nlp: Language, name: str) -> None:
        pass

    def __call__(self, doc: Doc) -> Doc:
        for token in doc:
            token.pos_ = "PUNCT" if token.is_punct else "NOUN"
            token.dep_ = "nmod" if token.i else "ROOT"
            token.head = doc[max(token.i - 1, 0)]
        return doc


def pipeline(**config: Any) -> Language:
    nlp = spacy.blank("he")
    nlp.add_pipe("toy_parser")
    nlp.add_pipe("he_mentions", config=config)
    return nlp


def spans(doc: Doc) -> List[Any]:
    return [(span.start, span.end, span.text) for span in doc.spans[MENTIONS]]


def test_mentions_are_written_and_nothing_else() -> None:
    doc = tree(SPEECH)
    doc.spans["other"] = [doc[0:2]]
    text, data = doc.text, dict(doc.user_data)
    assert MentionDetector()(doc) is doc
    assert [span.text for span in doc.spans[MENTIONS]] == ["דבריו של השר", "ו", "השר"]
    assert [span.text for span in doc.spans["other"]] == ["דבריו"]
    assert (doc.text, doc.user_data) == (text, data)


def test_second_run_and_older_mentions() -> None:
    doc = tree(SPEECH)
    doc.spans[MENTIONS] = [doc[5:6]]
    first = spans(MentionDetector()(doc))
    assert spans(MentionDetector()(doc)) == first
    assert (5, 6, "הודפסו") not in first


def test_stream_equals_single_documents() -> None:
    nlp = pipeline()
    single = [spans(nlp(text)) for text in TEXTS]
    assert [spans(doc) for doc in nlp.pipe(TEXTS, batch_size=3)] == single
    assert single[1:] == [[(0, 1, "ילד")], [], []]


def test_two_processes() -> None:
    nlp = pipeline(setting="recall")
    single = [spans(nlp(text)) for text in TEXTS]
    assert [spans(doc) for doc in nlp.pipe(TEXTS, n_process=2)] == single


def test_document_without_tree_goes_to_the_error_handler() -> None:
    nlp = spacy.blank("he")
    nlp.add_pipe("he_mentions")
    with pytest.raises(ValueError, match="'morphologizer'"):
        nlp("שלום")
    failed: List[str] = []
    nlp.set_error_handler(lambda name, proc, docs, error: failed.append(docs[0].text))
    assert [doc.text for doc in nlp.pipe(["שלום", "..."])] == ["..."]
    assert failed == ["שלום"]


def test_error_leaves_the_document_as_it_was() -> None:
    doc = spacy.blank("he")("שלום")
    doc.spans[MENTIONS] = [doc[0:1]]
    with pytest.raises(ValueError, match="no part-of-speech tags"):
        MentionDetector()(doc)
    assert len(doc.spans[MENTIONS]) == 1


def test_disk_and_bytes(tmp_path: Path) -> None:
    nlp = pipeline(setting="recall", lexicon={"quantifiers": ["ילד"]})
    nlp.to_disk(tmp_path)
    expected = spans(nlp(TEXTS[0]))
    loaded = spacy.load(tmp_path)
    assert spans(loaded(TEXTS[0])) == expected
    detector: Any = loaded.get_pipe("he_mentions")
    assert detector.settings == nlp.get_pipe("he_mentions").settings
    again = type(nlp).from_config(nlp.config).from_bytes(nlp.to_bytes())
    assert spans(again(TEXTS[0])) == expected
    assert pickle.loads(pickle.dumps(detector)).settings == detector.settings


def test_doc_bin() -> None:
    doc = MentionDetector()(tree(SPEECH))
    data = DocBin(store_user_data=True, docs=[doc]).to_bytes()
    (loaded,) = DocBin().from_bytes(data).get_docs(doc.vocab)
    assert spans(loaded) == spans(doc)


def test_settings_come_from_the_config() -> None:
    detector: Any = pipeline(
        setting="precision", lexicon={"months": ["תשרי"]}
    ).get_pipe("he_mentions")
    assert detector.settings.setting == "precision"
    assert detector.settings.lexicon.months == {"תשרי"}
    assert "כל" in detector.settings.lexicon.quantifiers


def test_bad_config() -> None:
    with pytest.raises(ValueError, match="'he_mentions' is 'all'.*balanced"):
        pipeline(setting="all")
    with pytest.raises(ValueError, match="no rule uses: colours.*idioms"):
        pipeline(lexicon={"colours": ["אדום"]})


def test_white_space_is_never_at_the_edge_of_a_mention() -> None:
    nlp = spacy.blank("he")
    nlp.add_pipe("he_mentions")
    doc = Doc(
        nlp.vocab,
        words=["\n", "ילד", "גדול", "\n\n", "בא", "\t"],
        pos=["NOUN", "NOUN", "ADJ", "SPACE", "VERB", "NOUN"],
        heads=[1, 4, 1, 2, 4, 4],
        deps=["dep", "nsubj", "amod", "dep", "ROOT", "dep"],
    )
    assert [m.text for m in nlp(doc).spans["coref_mentions"]] == ["ילד גדול"]
