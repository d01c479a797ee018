"""The transformer over morphemes: readings, windows, storage."""

import pickle
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
import torch
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from thinc.api import Adam

from spacy_he_coref.encoder.model import make_freeze_layers
from spacy_he_coref.encoder.pretrained import EncoderFiles
from spacy_he_coref.encoder.reading import Reader
from spacy_he_coref.tokens import Segment, set_segment
from tests.segmenter.helpers import TEXT, segmented
from tests.util import save_tiny_encoder


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_encoder(tmp_path_factory.mktemp("encoder"))


def make_pipeline(encoder: Path, initialize: bool = True, **settings: Any) -> Language:
    nlp = spacy.blank("he")
    model = {
        "@architectures": "spacy_he_coref.MorphemeTransformer.v1",
        "name": str(encoder),
        "window": 40,
        "overlap": 6,
        **settings,
    }
    nlp.add_pipe("transformer", config={"model": model})
    if initialize:
        nlp.initialize()
    return nlp


def vectors(nlp: Language, doc: Doc) -> np.ndarray:
    data = nlp.get_pipe("transformer")(doc)._.trf_data
    return data.model_output.last_hidden_state[0]


def pieces(encoder: Path, doc: Doc, reading: str) -> "list[list[str]]":
    """The wordpieces of each token."""
    files = EncoderFiles.load(encoder)
    found = Reader(files, reading, 24)(doc)
    output: list[list[str]] = [[] for _ in doc]
    for token, piece in zip(found.owner, found.linked, strict=True):
        output[token].append(files.tokenizer.id_to_token(int(found.pieces[piece])))
    return output


def test_morphemes_are_read_with_the_unwritten_ones(encoder: Path) -> None:
    doc = segmented("דבריו בשטחים")
    assert [t.text for t in doc] == ["דברי", "ו", "ב", "שטחים"]
    assert ["".join(p) for p in pieces(encoder, doc, "morphemes")] == [
        "דבר",
        "שלהוא",
        "ב",
        "השטחים",
    ]


def test_text_is_read_as_it_stands(encoder: Path) -> None:
    doc = segmented("דבריו בשטחים")
    assert ["".join(p) for p in pieces(encoder, doc, "text")] == [
        "דברי",
        "ו",
        "ב",
        "שטחים",
    ]


def test_wordpieces_over_several_segments_are_shared(tmp_path: Path) -> None:
    from tokenizers import Tokenizer, models
    from transformers import PreTrainedTokenizerFast

    path = save_tiny_encoder(tmp_path)
    words = {"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3, "בשטחים": 4}
    PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer(models.WordLevel(words, unk_token="<unk>")),
        bos_token="<s>",
        eos_token="</s>",
        pad_token="<pad>",
        unk_token="<unk>",
    ).save_pretrained(path)
    doc = segmented("בשטחים")
    assert pieces(path, doc, "text") == [["בשטחים"], ["בשטחים"]]
    assert len(vectors(make_pipeline(path, reading="text"), doc)) == 2


def test_unknown_reading(encoder: Path) -> None:
    with pytest.raises(ValueError, match="morphemes, text"):
        vectors(make_pipeline(encoder, reading="letters"), segmented(TEXT))


@pytest.mark.parametrize("reading", ["morphemes", "text"])
@pytest.mark.parametrize(
    "text",
    ["", "א", "   ", "\n", "😀", "hello world", "שלום\u200b עולם", "א" * 500, "??"],
)
def test_any_text_gets_one_finite_vector_a_token(
    encoder: Path, reading: str, text: str
) -> None:
    nlp = make_pipeline(encoder, reading=reading)
    doc = nlp(text)
    assert doc.text == text
    if len(doc):
        found = doc._.trf_data.model_output.last_hidden_state
        assert found.shape == (1, len(doc), 16)
        assert np.isfinite(found).all()


def test_white_space_has_no_pieces_and_a_vector_of_zeros(encoder: Path) -> None:
    nlp = make_pipeline(encoder)
    doc = nlp.make_doc("א  ב")
    found = vectors(nlp, doc)
    assert [t.is_space for t in doc] == [False, True, False]
    assert not found[1].any()
    assert found[0].any() and found[2].any()


def test_windows_leave_the_middle_of_their_cores_alone(encoder: Path) -> None:
    """What lies far from a token does not reach it, what lies near does."""
    words = ["אב", "גד", "הו"] * 40
    nlp = make_pipeline(encoder)
    base = vectors(nlp, Doc(nlp.vocab, words=words))
    far = vectors(nlp, Doc(nlp.vocab, words=[*words[:-1], "צצ"]))
    assert np.array_equal(base[:60], far[:60])
    assert not np.allclose(base[-2], far[-2], atol=1e-4)


def test_result_does_not_depend_on_the_batch(encoder: Path) -> None:
    nlp = make_pipeline(encoder, batch_pieces=100)
    draw = random.Random(0)
    texts = ["", *(" ".join(draw.choices(["אב", "גדה", "ו"], k=k)) for k in (1, 40, 9))]
    trf = nlp.get_pipe("transformer")
    for doc in trf.pipe([nlp.make_doc(text) for text in texts]):
        if len(doc):
            alone = vectors(nlp, nlp.make_doc(doc.text))
            found = doc._.trf_data.model_output.last_hidden_state[0]
            assert np.allclose(found, alone, atol=1e-5)


def test_a_word_is_not_cut_by_windows(encoder: Path) -> None:
    """A word of many segments longer than a window still has its vectors."""
    nlp = make_pipeline(encoder)
    doc = Doc(nlp.vocab, words=["אבגדה" * 4] * 30, spaces=[False] * 30)
    length = sum(map(len, doc))
    for token in doc:
        set_segment(
            doc,
            token.idx,
            Segment(token.text, token.idx, "host", (token.text,), 0),
            length,
        )
    found = vectors(nlp, doc)
    assert found.shape == (30, 16)
    assert np.isfinite(found).all()


def test_round_trips(encoder: Path, tmp_path: Path) -> None:
    nlp = make_pipeline(encoder)
    expected = vectors(nlp, segmented(TEXT, nlp))
    nlp.to_disk(tmp_path)
    others = [
        spacy.load(tmp_path),
        make_pipeline(encoder, initialize=False).from_bytes(nlp.to_bytes()),
    ]
    for other in others:
        assert np.abs(vectors(other, segmented(TEXT, other)) - expected).max() < 1e-2
    # What is loaded is what was saved, to the bit.
    assert others[0].to_bytes(exclude=["tokenizer"]) == others[1].to_bytes(
        exclude=["tokenizer"]
    )


def test_saved_pipeline_does_not_need_the_pretrained_files(tmp_path: Path) -> None:
    encoder = save_tiny_encoder(tmp_path / "encoder")
    make_pipeline(encoder).to_disk(tmp_path / "model")
    for file in encoder.iterdir():
        file.unlink()
    nlp = spacy.load(tmp_path / "model")
    assert len(vectors(nlp, segmented(TEXT, nlp))) == len(segmented(TEXT, nlp))


def test_not_initialized(encoder: Path) -> None:
    with pytest.raises(ValueError, match="initialize"):
        make_pipeline(encoder, initialize=False)("שלום")


def test_docbin_and_pickle(encoder: Path) -> None:
    nlp = make_pipeline(encoder)
    doc = nlp(TEXT)
    found = doc._.trf_data.model_output.last_hidden_state
    again = next(
        DocBin(store_user_data=True, docs=[doc]).get_docs(spacy.blank("he").vocab)
    )
    data = again._.trf_data.model_output
    assert np.array_equal(data["last_hidden_state"], found)
    assert pickle.loads(pickle.dumps(doc)).text == TEXT


def listening(encoder: Path) -> Language:
    nlp = make_pipeline(encoder, initialize=False, rate=1.0)
    listener = {
        "@architectures": "spacy-transformers.TransformerListener.v1",
        "pooling": {"@layers": "reduce_mean.v1"},
    }
    for name in ("tagger", "senter"):
        model = {"@architectures": "spacy.Tagger.v2", "tok2vec": listener}
        nlp.add_pipe(name, config={"model": model})
    return nlp


def test_gradients_of_all_listeners_reach_the_encoder_in_the_same_step(
    encoder: Path,
) -> None:
    nlp = listening(encoder)
    words = ["אב", "גד", ".", "אב", "ה", "."]
    example = spacy.training.Example.from_dict(
        Doc(nlp.vocab, words=words),
        {"words": words, "tags": list("XYZXYZ"), "sent_starts": [1, -1, -1, 1, -1, -1]},
    )
    empty = spacy.training.Example.from_dict(Doc(nlp.vocab), {})
    nlp.initialize(lambda: [example])
    weights = nlp.get_pipe("transformer").model.shims[0].network
    before = weights.transformer.encoder.layer[0].output.dense.weight.detach().clone()
    optimizer = Adam(0.003)
    # Output layers start at zero; the second step has a gradient for the encoder.
    for _ in range(2):
        nlp.update([empty, example], sgd=optimizer)
    after = weights.transformer.encoder.layer[0].output.dense.weight.detach()
    assert not torch.equal(before, after)
    for _ in range(150):
        losses = nlp.update([empty, example], sgd=optimizer, drop=0.0)
    assert losses["tagger"] < 0.5
    doc = nlp(Doc(nlp.vocab, words=words))
    assert [t.tag_ for t in doc] == list("XYZXYZ")
    assert len(list(doc.sents)) == 2


def test_layers_are_cut(encoder: Path) -> None:
    nlp = make_pipeline(encoder, layers=1)
    network = nlp.get_pipe("transformer").model.shims[0].network
    assert len(network.transformer.encoder.layer) == 1


def test_changed_config_of_a_saved_pipeline_counts(
    encoder: Path, tmp_path: Path
) -> None:
    nlp = make_pipeline(encoder)
    nlp.to_disk(tmp_path)
    text = "אב גד הו " * 40
    overrides = {"components.transformer.model.window": 20}
    other = spacy.load(tmp_path, config=overrides)
    loaded = spacy.load(tmp_path)
    expected = vectors(loaded, loaded.make_doc(text))
    assert not np.allclose(vectors(other, other.make_doc(text)), expected, atol=1e-4)


def test_frozen_layers_stay_as_they_are(encoder: Path) -> None:
    nlp = listening(encoder)
    make_freeze_layers(1)(nlp)
    words = ["אב", "גד", "."]
    example = spacy.training.Example.from_dict(
        Doc(nlp.vocab, words=words), {"words": words, "tags": list("XYZ")}
    )
    nlp.initialize(lambda: [example])
    network = nlp.get_pipe("transformer").model.shims[0].network
    before = {name: w.clone() for name, w in network.state_dict().items()}
    optimizer = Adam(0.01)
    for _ in range(3):
        nlp.update([example], sgd=optimizer)
    # Those that were frozen have no dropout either.
    network.train()
    training = [layer.training for layer in network.transformer.encoder.layer]
    assert training == [False, True] and not network.transformer.embeddings.training
    changed = {n for n, w in network.state_dict().items() if not w.equal(before[n])}
    upper = "transformer.encoder.layer.1."
    assert changed and {n for n in changed if not n.startswith(upper)} <= {"mix"}


def test_more_layers_than_there_are(encoder: Path) -> None:
    with pytest.raises(ValueError, match="2 layers, so 3 cannot be frozen"):
        make_freeze_layers(3)(make_pipeline(encoder))
    nlp = spacy.blank("he")
    nlp.add_pipe("tagger")
    with pytest.raises(ValueError, match="tagger has no encoder over morphemes"):
        make_freeze_layers(1, "tagger")(nlp)
