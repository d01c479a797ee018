"""Listener and tagger without copies: the same as the stock ones in all else."""

from pathlib import Path
from typing import Any, Dict, List

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import fix_random_seed
from spacy_transformers.data_classes import TransformerData, WordpieceBatch
from thinc.api import Adam
from thinc.types import Ragged
from transformers.file_utils import ModelOutput

from spacy_he_coref.encoder.listener import build_token_listener
from tests.util import save_tiny_encoder

WORDS = ["אב", "גד", ".", "אבה", "ה", "."]
TEXTS = ["אב גד.", "", "אבה", "אב אב אב גד. ה."]


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_encoder(tmp_path_factory.mktemp("encoder"))


def make_pipeline(encoder: Path, stock: bool = False, factor: float = 1.0) -> Language:
    nlp = spacy.blank("he")
    model: Dict[str, Any] = {
        "@architectures": "spacy_he_coref.MorphemeTransformer.v1",
        "name": str(encoder),
        "window": 40,
        "overlap": 6,
        "dropout": 0.0,
    }
    nlp.add_pipe("transformer", config={"model": model})
    if stock:
        listener = {
            "@architectures": "spacy-transformers.TransformerListener.v1",
            "pooling": {"@layers": "reduce_mean.v1"},
            "grad_factor": factor,
        }
        tagger = "spacy.Tagger.v2"
    else:
        listener = {
            "@architectures": "spacy_he_coref.TokenListener.v1",
            "grad_factor": factor,
        }
        tagger = "spacy_he_coref.Tagger.v1"
    for name in ("morphologizer", "trainable_lemmatizer", "senter"):
        part = {"@architectures": tagger, "tok2vec": listener}
        nlp.add_pipe(name, config={"model": part})
    nlp.get_pipe("trainable_lemmatizer").min_tree_freq = 1  # type: ignore[attr-defined]
    return nlp


def make_examples(nlp: Language) -> List[Example]:
    values = {
        "words": WORDS,
        "pos": ["NOUN", "VERB", "PUNCT", "NOUN", "PRON", "PUNCT"],
        "morphs": ["Gender=Masc", "", "", "Gender=Fem", "", ""],
        "lemmas": ["אב", "גדה", ".", "אב", "הוא", "."],
        "sent_starts": [1, -1, -1, 1, -1, -1],
    }
    full = Example.from_dict(Doc(nlp.vocab, words=WORDS), values)
    return [Example.from_dict(Doc(nlp.vocab), {}), full, full]


def trained(encoder: Path, steps: int = 20, **settings: Any) -> Language:
    fix_random_seed(0)
    nlp = make_pipeline(encoder, **settings)
    examples = make_examples(nlp)
    nlp.initialize(lambda: examples)
    optimizer = Adam(0.01)
    for _ in range(steps):
        nlp.update(examples, sgd=optimizer, drop=0.0)
    return nlp


def encoder_weight(nlp: Language) -> np.ndarray:
    network = nlp.get_pipe("transformer").model.shims[0].network
    return network.transformer.encoder.layer[0].output.dense.weight.detach().numpy()


def values(docs: List[Doc]) -> List[List[Any]]:
    return [
        [(t.pos_, str(t.morph), t.lemma_, t.is_sent_start) for t in doc] for doc in docs
    ]


@pytest.mark.parametrize("factor", [1.0, 0.5])
def test_training_is_that_of_the_stock_ones(encoder: Path, factor: float) -> None:
    own = trained(encoder, factor=factor)
    stock = trained(encoder, stock=True, factor=factor)
    assert np.allclose(encoder_weight(own), encoder_weight(stock), atol=1e-6)
    for name in ("morphologizer", "trainable_lemmatizer", "senter"):
        layers = [nlp.get_pipe(name).model.get_ref("softmax") for nlp in (own, stock)]
        weights = [layer.get_param("W") for layer in layers]
        assert weights[0].any()
        assert np.allclose(*weights, atol=1e-5)


def test_learns_and_reaches_the_encoder(encoder: Path) -> None:
    before = encoder_weight(trained(encoder, steps=0)).copy()
    nlp = trained(encoder, steps=60)
    assert not np.array_equal(encoder_weight(nlp), before)
    doc = nlp(Doc(nlp.vocab, words=WORDS))
    assert [t.lemma_ for t in doc] == ["אב", "גדה", ".", "אב", "הוא", "."]
    assert doc[3].morph.get("Gender") == ["Fem"]
    assert [t.is_sent_start for t in doc] == [True, False, False, True, False, False]


def test_gradients_can_be_kept_from_the_encoder(encoder: Path) -> None:
    before = encoder_weight(trained(encoder, steps=0)).copy()
    assert np.array_equal(encoder_weight(trained(encoder, factor=0.0)), before)


@pytest.mark.parametrize("stock", [True, False])
def test_each_loads_the_weights_of_the_other(
    encoder: Path, stock: bool, tmp_path: Path
) -> None:
    nlp = trained(encoder, stock=stock)
    other = make_pipeline(encoder, stock=not stock)
    other.from_bytes(nlp.to_bytes(exclude=["tokenizer"]), exclude=["tokenizer"])
    nlp.to_disk(tmp_path)
    saved = spacy.load(tmp_path)
    docs = [list(some.pipe(TEXTS)) for some in (other, saved)]
    assert values(docs[0]) == values(docs[1])
    assert any(t.pos_ for doc in docs[0] for t in doc)


def test_results_do_not_depend_on_the_batch(encoder: Path) -> None:
    nlp = trained(encoder)
    assert values(list(nlp.pipe(TEXTS))) == values([nlp(text) for text in TEXTS])
    assert values(list(nlp.pipe(["", ""]))) == [[], []]


def test_vectors_are_handed_out_without_a_copy(encoder: Path) -> None:
    nlp = trained(encoder, steps=0)
    docs = [nlp.make_doc(text) for text in TEXTS]
    docs = list(nlp.get_pipe("transformer").pipe(docs))
    vectors = nlp.get_pipe("morphologizer").model.get_ref("tok2vec").predict(docs)
    for doc, found in zip(docs, vectors, strict=True):
        assert len(found) == len(doc)
        if len(doc):
            kept = doc._.trf_data.model_output.last_hidden_state
            assert np.shares_memory(found, kept)


def listen(doc: Doc, width: int = 2) -> np.ndarray:
    listener = build_token_listener()
    listener.get_ref("listener").set_dim("nO", width)
    return listener.predict([doc])[0]


def test_several_vectors_of_a_token_become_their_mean() -> None:
    doc = Doc(spacy.blank("he").vocab, words=["אב", "ג"])
    vectors = np.array([[[1, 3], [3, 5], [7, 7]]], dtype="f")
    doc._.trf_data = TransformerData(
        wordpieces=WordpieceBatch.empty(),
        model_output=ModelOutput(last_hidden_state=vectors),
        align=Ragged(np.array([0, 1, 2]), np.array([2, 1], dtype="i")),  # type: ignore
    )
    assert listen(doc).tolist() == [[2, 4], [7, 7]]


def test_vectors_of_a_stored_doc(encoder: Path) -> None:
    nlp = trained(encoder, steps=0)
    doc = nlp("אב גד.")
    again = Doc(nlp.vocab).from_bytes(doc.to_bytes())
    assert np.array_equal(listen(again, 16), listen(doc, 16))


def test_without_the_transformer(encoder: Path) -> None:
    nlp = trained(encoder)
    with nlp.select_pipes(disable=["transformer"]):
        assert [len(doc) for doc in nlp.pipe(TEXTS)] == [3, 0, 1, 7]
    assert not listen(Doc(nlp.vocab, words=["אב"])).any()
