"""The trained backend: learning, deciding, saving; with and without an encoder."""

import json
import pickle
from pathlib import Path
from typing import Any, Dict, List, Set

import pytest
import spacy
import torch
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.training import Example
from thinc.api import Adam, fix_random_seed

import spacy_he_coref.retokenizer  # noqa: F401
import spacy_he_coref.segmenter.component  # noqa: F401
from spacy_he_coref.corpus.build import build_corpus
from spacy_he_coref.encoder.quantized import QuantizedLinear
from spacy_he_coref.segmenter.letters import doc_analyses
from spacy_he_coref.segmenter.lexicon import write_lexicon
from spacy_he_coref.segmenter.model import get_network
from spacy_he_coref.segmenter.network import segment_argmax, segment_logsumexp
from spacy_he_coref.segmenter.reader import (
    SegmentationCorpus,
    make_segmentation_corpus,
)
from tests.util import TOY_HTB, TOY_IAHLT, TOY_KIBUTZR, save_tiny_encoder

TOKENIZER = {"@tokenizers": "spacy_he_coref.HebrewTokenizer.v1"}
SMALL: Dict[str, Any] = {
    "width": 32,
    "depth": 2,
    "hash_rows": 500,
    "dropout": 0.0,
    "window": 40,
    "overlap": 5,
    "batch_size": 100,
    "article_swaps": 0.2,
}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("corpus")
    build_corpus(path, TOY_KIBUTZR, TOY_HTB, TOY_IAHLT)
    write_lexicon(path / "lexicon.tsv.gz", {"בית": 3.5, "הבית": 3.0, "ספר": 3.4})
    return path


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny BERT whose pieces are single characters."""
    return save_tiny_encoder(tmp_path_factory.mktemp("encoder"))


def make_pipeline(**settings: Any) -> Language:
    nlp = spacy.blank("he", config={"nlp": {"tokenizer": TOKENIZER}})
    backend = {"@misc": "spacy_he_coref.TrainedSegmenter.v1", **SMALL, **settings}
    nlp.add_pipe("he_segmenter", config={"backend": backend})
    nlp.add_pipe("he_retokenizer")
    return nlp


def train(nlp: Language, corpus: Path, steps: int, **settings: Any) -> List[float]:
    """Train on the toy corpus; give the loss of every step."""
    fix_random_seed(0)
    paths = [corpus / "train.spacy", corpus / "dev.spacy", corpus / "iahlt.spacy"]
    examples = list(SegmentationCorpus(paths, 30)(nlp))
    component = nlp.get_pipe("he_segmenter")
    component.initialize(
        lambda: examples, nlp=nlp, lexicon=corpus / "lexicon.tsv.gz", **settings
    )
    optimizer = Adam(0.01)
    losses = []
    for _ in range(steps):
        losses.append(nlp.update(examples, sgd=optimizer)["he_segmenter"])
    return losses


@pytest.fixture(scope="module")
def light(corpus: Path) -> Language:
    nlp = make_pipeline()
    losses = train(nlp, corpus, 60)
    assert losses[-1] < losses[0] / 5
    return nlp


@pytest.fixture(scope="module")
def deep(corpus: Path, encoder: Path) -> Language:
    nlp = make_pipeline(encoder_layers=1, depth=0)
    losses = train(nlp, corpus, 60, encoder=encoder)
    assert losses[-1] < losses[0] / 5
    return nlp


def add_transformer(nlp: Language, encoder: Path) -> None:
    architecture = "spacy_he_coref.MorphemeTransformer.v1"
    model = {"@architectures": architecture, "name": str(encoder), "window": 60}
    transformer = nlp.add_pipe("transformer", config={"model": {**model, "overlap": 4}})
    transformer.initialize(lambda: [], nlp=nlp)


@pytest.fixture(scope="module")
def shared(corpus: Path, encoder: Path) -> Language:
    """Reads with the lower layer of the encoder that another component has."""
    nlp = make_pipeline(encoder_layers=1, encoder_of="transformer", depth=0)
    add_transformer(nlp, encoder)
    with nlp.select_pipes(disable=["transformer"]):
        losses = train(nlp, corpus, 60)
    assert losses[-1] < losses[0] / 5
    return nlp


@pytest.fixture(params=["light", "deep", "shared"])
def nlp(request: pytest.FixtureRequest) -> Language:
    return request.getfixturevalue(request.param)


def gold_docs(nlp: Language, corpus: Path) -> List[Doc]:
    return [
        doc
        for name in ("train", "dev")
        for doc in DocBin().from_disk(corpus / f"{name}.spacy").get_docs(nlp.vocab)
    ]


def rows(doc: Doc) -> List[Any]:
    return [doc.text, [t.text for t in doc], doc._.morphemes]


def test_learns_the_toy_corpus(nlp: Language, corpus: Path) -> None:
    right = total = 0
    for gold in gold_docs(nlp, corpus):
        predicted = nlp(gold.text)
        assert predicted.text == gold.text
        found = set(doc_analyses(predicted))
        words = doc_analyses(gold)
        total += len(words)
        right += sum(word in found for word in words)
    assert right / total > 0.95


def test_scores_in_evaluation(light: Language, corpus: Path) -> None:
    docs = gold_docs(light, corpus)
    examples = [Example(light.make_doc(doc.text), doc) for doc in docs]
    assert light.evaluate(examples)["segmentation_f"] > 0.95


def test_saved_and_loaded_alike(nlp: Language, corpus: Path, tmp_path: Path) -> None:
    texts = [doc.text for doc in gold_docs(nlp, corpus)]
    expected = [rows(nlp(text)) for text in texts]
    nlp.to_disk(tmp_path)
    again = spacy.load(tmp_path)
    assert [rows(again(text)) for text in texts] == expected
    from_bytes = make_pipeline().from_bytes(nlp.to_bytes())
    assert [rows(from_bytes(text)) for text in texts] == expected
    backend = pickle.loads(pickle.dumps(nlp.get_pipe("he_segmenter").backend))
    third = make_pipeline()
    third.get_pipe("he_segmenter").backend = backend
    assert [rows(third(text)) for text in texts] == expected
    # No part of a saved model is a pickle.
    for file in (tmp_path / "he_segmenter").rglob("*"):
        if file.is_file():
            with pytest.raises(Exception):  # noqa: B017
                pickle.loads(file.read_bytes())


def test_a_loaded_model_learns_on(light: Language, corpus: Path) -> None:
    nlp = make_pipeline().from_bytes(light.to_bytes())
    examples = list(SegmentationCorpus([corpus / "train.spacy"], 30)(nlp))
    optimizer = Adam(0.001)
    losses = [nlp.update(examples, sgd=optimizer)["he_segmenter"] for _ in range(5)]
    assert 0 < losses[-1] < 1


def test_pipe_is_like_call_for_texts_of_all_lengths(
    nlp: Language, corpus: Path
) -> None:
    texts = [doc.text for doc in gold_docs(nlp, corpus)]
    texts += ["", "בית", "\n", " ".join(texts) * 3, "hello world", "🙂", " הבית "]
    expected = [rows(nlp(text)) for text in texts]
    assert [row[0] for row in expected] == texts
    assert [rows(doc) for doc in nlp.pipe(texts, batch_size=3)] == expected


def test_in_two_processes(nlp: Language, corpus: Path) -> None:
    texts = [doc.text for doc in gold_docs(nlp, corpus)]
    threads = torch.get_num_threads()
    # A forked child hung here when its parent had used several threads.
    torch.set_num_threads(2)
    try:
        expected = [rows(nlp(text)) for text in texts * 20][: len(texts)]
        assert [rows(doc) for doc in nlp.pipe(texts, n_process=2)] == expected
    finally:
        torch.set_num_threads(threads)


def test_twice_on_one_doc(nlp: Language, corpus: Path) -> None:
    text = gold_docs(nlp, corpus)[0].text
    doc = nlp(text)
    expected = rows(doc)
    for _, component in nlp.pipeline:
        doc = component(doc)
    assert rows(doc) == expected


def test_windows_do_not_change_the_light_one(light: Language, corpus: Path) -> None:
    text = " ".join(doc.text for doc in gold_docs(light, corpus))
    expected = rows(light(text))
    backend = light.get_pipe("he_segmenter").backend
    window = backend.window
    backend.window = 10_000
    try:
        assert rows(light(text)) == expected
    finally:
        backend.window = window


def spellings(words: List[str]) -> List[str]:
    """A text in many ways to type it."""
    output = []
    for quote in ('"', "״", "”", "''", "׳׳"):
        for hyphen in ("-", "־", "–", "‑"):
            for mark in ("", "\u200f", "\u200d", "\u05b8", "\u05bc"):
                text = " ".join(words).replace('"', quote).replace("-", hyphen)
                # Marks go after a letter inside a word.
                text = text.replace("ית", "י" + mark + "ת")
                output.append(text)
    return output


def test_a_hundred_spellings_are_segmented_alike(nlp: Language) -> None:
    texts = spellings(['צה"ל', "בבית", "תל-אביב", "שבבית", 'ליו"ר', "הבית", "."])
    assert len(set(texts)) == 100
    plain = [morpheme.form for morpheme in nlp(texts[0])._.morphemes]
    for doc, text in zip(nlp.pipe(texts), texts, strict=True):
        assert doc.text == text
        forms = [normal(morpheme.form) for morpheme in doc._.morphemes]
        assert forms == plain, text


def normal(form: str) -> str:
    return "-" if form in ("־", "–", "‑") else form


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "\n\n",
        "א",
        "ו",
        "א" * 10_000,
        "ב" + "\u05b8" * 5_000,
        "\u05b8",
        "\u200f\u200e",
        "שָׁלוֹם לְכֻלָּם",
        "מהההה קורהההה אחייי",
        "I love NLP in תל אביב",
        "ב-17 ל-IBM 50% ₪3.5",
        "👨‍👩‍👧 🙂 ❤️",
        "ה" * 60 + " " + "ו" * 41,
        "بيت 你好 дом",
        "word " * 3000,
    ],
)
def test_texts_that_training_never_saw(nlp: Language, text: str) -> None:
    doc = nlp(text)
    assert doc.text == text
    assert all(len(token) for token in doc)
    foreign = [t for t in doc if not any("א" <= c <= "ת" for c in t.text)]
    assert all(t._.segment_kind in ("word", "clitic") for t in foreign)


def test_same_seed_same_model(corpus: Path) -> None:
    first, second = make_pipeline(dropout=0.2), make_pipeline(dropout=0.2)
    assert train(first, corpus, 5) == train(second, corpus, 5)


def test_not_initialized() -> None:
    nlp = make_pipeline()
    with pytest.raises(ValueError, match="E109"):
        nlp("שלום")
    # Nothing to save, and nothing lost by it.
    make_pipeline().from_bytes(nlp.to_bytes())


def test_initialize_says_what_is_missing(corpus: Path) -> None:
    nlp = make_pipeline(encoder_layers=2)
    with pytest.raises(ValueError, match="encoder"):
        train(nlp, corpus, 0)
    plain = [Example(nlp.make_doc("שלום לך"), nlp.make_doc("שלום לך"))]
    with pytest.raises(ValueError, match="corpus build"):
        nlp.get_pipe("he_segmenter").initialize(lambda: plain, nlp=nlp)
    with pytest.raises(FileNotFoundError, match="corpus build"):
        list(SegmentationCorpus(["missing.spacy"], 10)(nlp))


def test_folds_of_the_reader(corpus: Path) -> None:
    paths = [corpus / "train.spacy", corpus / "iahlt.spacy"]

    def read(**settings: str) -> Set[str]:
        reader = make_segmentation_corpus([str(p) for p in paths], 30, **settings)
        return {eg.reference.text for eg in reader(spacy.blank("he"))}

    folds = [read(only=f"{k}/2") for k in (1, 2)]
    assert all(folds) and not folds[0] & folds[1]
    assert [read(leave_out=f"{k}/2") for k in (1, 2)] == folds[::-1]
    assert read() == folds[0] | folds[1]


def test_borders_are_all_that_a_second_corpus_teaches(light: Language) -> None:
    backend = light.get_pipe("he_segmenter").backend
    doc = Doc(light.vocab, words=["ב", "בית"], spaces=[False, False])
    word = "בבית"
    from spacy_he_coref.tokens import Segment, set_segment

    set_segment(doc, 0, Segment("ב", 0, "prefix", ("ב",), 0), len(word))
    set_segment(doc, 1, Segment("בית", 1, "host", ("בית",), 0), len(word))
    patterns = []
    for scheme in ("borders", "borders+articles"):
        doc._.source = {"segmentation": scheme}
        (target,) = backend.make_targets(doc)
        assert target.foreign
        (candidates,) = backend.inventory.candidates([word])
        patterns.append(
            {
                backend.inventory.prefixes[candidates.prefixes[choice]]
                for choice in target.choices
            }
        )
    assert patterns == [{("ב",), ("ב", "ה_")}, {("ב",)}]


def test_swapped_articles(light: Language, corpus: Path) -> None:
    backend = light.get_pipe("he_segmenter").backend
    swapped = set()
    share, backend.article_swaps = backend.article_swaps, 1.0
    try:
        for doc in gold_docs(light, corpus):
            for target in backend.make_targets(doc):
                new = backend._swap_article(target)
                if new is not target:
                    (candidates,) = backend.inventory.candidates([new.text])
                    (choice,) = new.choices
                    prefix = backend.inventory.prefixes[candidates.prefixes[choice]]
                    assert target.swap is not None
                    assert new.text[0] in "בל" and new.text[1:] == target.swap[0]
                    assert ("ה_" in prefix) == target.swap[1]
                    swapped.add(target.swap[1])
    finally:
        backend.article_swaps = share
    assert swapped == {True, False}


def test_settings_are_saved_as_json(light: Language, tmp_path: Path) -> None:
    light.get_pipe("he_segmenter").to_disk(tmp_path)
    files = list(tmp_path.rglob("settings"))
    assert len(files) == 1
    settings = json.loads(files[0].read_text(encoding="utf8"))
    assert settings["network"]["width"] == SMALL["width"]


def test_groups_of_scores() -> None:
    scores = torch.tensor([1.0, 2.0, 5.0, 5.0, -1.0])
    group = torch.tensor([0, 0, 1, 1, 2])
    assert segment_argmax(scores, group, 3) == [1, 2, 4]
    expected = [torch.logsumexp(scores[group == i], 0).item() for i in range(3)]
    assert segment_logsumexp(scores, group, 3).tolist() == pytest.approx(expected)


def test_shared_layers_are_stored_once_and_not_trained(
    shared: Language, encoder: Path, tmp_path: Path
) -> None:
    lent = shared.get_pipe("transformer").model.shims[0].lend(1)
    network = shared.get_pipe("he_segmenter").model.shims[0].network
    own = network.encoder.transformer.state_dict()
    assert own.keys() == lent.weights.keys()
    for name, weight in lent.weights.items():
        assert torch.equal(own[name], weight.float()), name
    shared.to_disk(tmp_path)
    names = {file.name for file in (tmp_path / "he_segmenter" / "backend").iterdir()}
    assert "encoder" not in names
    weights = (tmp_path / "he_segmenter" / "backend" / "weights").read_bytes()
    assert b"encoder.mix" in weights
    assert b"encoder.transformer" not in weights


def test_shared_layers_of_another_training(
    shared: Language, encoder: Path, tmp_path: Path
) -> None:
    shared.to_disk(tmp_path)
    network = shared.get_pipe("transformer").model.shims[0].network
    weight = network.transformer.encoder.layer[0].output.dense.bias
    before = weight.detach().clone()
    try:
        with torch.no_grad():
            weight.add_(1.0)
        shared.get_pipe("transformer").to_disk(tmp_path / "transformer")
    finally:
        with torch.no_grad():
            weight.copy_(before)
    with pytest.raises(ValueError, match="another encoder"):
        spacy.load(tmp_path)


def test_shared_layers_that_are_not_there(
    shared: Language, corpus: Path, encoder: Path, tmp_path: Path
) -> None:
    nlp = make_pipeline(encoder_layers=1, encoder_of="transformer", depth=0)
    with pytest.raises(ValueError, match="no such component"):
        train(nlp, corpus, 1)
    nlp = make_pipeline(encoder_layers=5, encoder_of="transformer", depth=0)
    add_transformer(nlp, encoder)
    with pytest.raises(ValueError, match="encoder_layers"):
        train(nlp, corpus, 1)
    shared.to_disk(tmp_path, exclude=["transformer"])
    with pytest.raises(ValueError, match="lower layers"):
        make_pipeline().from_disk(tmp_path, exclude=["vocab", "tokenizer", "meta.json"])


def test_noise_draws_other_analyses(light: Language, corpus: Path) -> None:
    backend = light.get_pipe("he_segmenter").backend
    texts = [doc.text for doc in gold_docs(light, corpus)]
    best = [rows(doc) for doc in light.pipe(texts)]

    def draw(temperature: float, seed: int = 0) -> List[Any]:
        with backend.noise(temperature, seed):
            return [rows(doc) for doc in light.pipe(texts)]

    def differing(found: List[Any]) -> int:
        return sum(one[1] != other[1] for one, other in zip(found, best, strict=True))

    assert draw(1e-6) == best
    assert draw(20.0) == draw(20.0) != draw(20.0, seed=1)
    assert 0 < differing(draw(20.0))
    assert [text for text, *_ in draw(20.0)] == texts
    # It ends, with an error too.
    with pytest.raises(KeyError), backend.noise(20.0):
        raise KeyError
    assert [rows(doc) for doc in light.pipe(texts)] == best
    with pytest.raises(ValueError, match="above 0"), backend.noise(0.0):
        pass


@pytest.mark.parametrize("fixture", ["deep", "shared"])
def test_whole_numbers_in_the_encoder(
    fixture: str, request: pytest.FixtureRequest, corpus: Path, tmp_path: Path
) -> None:
    nlp: Language = request.getfixturevalue(fixture)
    nlp.to_disk(tmp_path)
    overrides = {"components.he_segmenter.backend.precision": "int8"}
    quick = spacy.load(tmp_path, config=overrides)
    network = get_network(quick.get_pipe("he_segmenter").backend.model)
    # Those of the encoder and no others.
    kinds = {
        type(module) is QuantizedLinear: name.split(".")[0]
        for name, module in network.named_modules()
        if isinstance(module, torch.nn.Linear)
    }
    assert kinds[True] == "encoder" != kinds[False]
    texts = [doc.text for doc in gold_docs(nlp, corpus)]
    assert [rows(doc) for doc in quick.pipe(texts)] == [rows(nlp(t)) for t in texts]
