"""Training of the shipped syntax config: what is scored is what is saved."""

from io import StringIO
from pathlib import Path
from typing import Any, Dict

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.util import load_config

from spacy_he_coref.corpus.annotate import annotate_docs
from spacy_he_coref.corpus.build import build_corpus
from spacy_he_coref.corpus.reader import SegmentedCorpus
from spacy_he_coref.shim import network_shims
from spacy_he_coref.training import train
from tests.util import ROOT, TOY_HTB, TOY_KIBUTZR, save_tiny_encoder


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("corpus")
    build_corpus(path, TOY_KIBUTZR, TOY_HTB)
    return path


@pytest.fixture(scope="module")
def run(
    corpus: Path, tmp_path_factory: pytest.TempPathFactory
) -> "tuple[Language, Path]":
    path = tmp_path_factory.mktemp("run")
    overrides: Dict[str, Any] = {
        "paths.encoder": str(save_tiny_encoder(path / "encoder", longest=512)),
        "paths.corpora": str(corpus),
        "corpora.train.paths": [str(corpus / "train.spacy")],
        "corpora.dev.paths": [str(corpus / "train.spacy")],
        "components.trainable_lemmatizer.min_tree_freq": 1,
        "components.transformer.model.rate": 1.0,
        "training.max_steps": 60,
        "training.eval_frequency": 40,
        "training.optimizer.learn_rate.warmup_steps": 5,
        "training.optimizer.learn_rate.initial_rate": 0.01,
    }
    config = load_config(ROOT / "configs" / "syntax.cfg", overrides=overrides)
    nlp, _ = train(config, path / "out", stdout=StringIO(), stderr=StringIO())
    return nlp, path / "out"


def values(nlp: Language, corpus: Path) -> "list[np.ndarray]":
    docs = [
        nlp(example.predicted)
        for example in SegmentedCorpus([corpus / "train.spacy"], 0, False)(nlp)
    ]
    attributes = ["POS", "MORPH", "LEMMA", "HEAD", "DEP", "SENT_START"]
    return [doc.to_array(attributes) for doc in docs]


def test_saved_weights_are_the_trained_ones_to_the_bit(
    run: "tuple[Language, Path]", corpus: Path
) -> None:
    nlp, output = run
    loaded = spacy.load(output / "model-last")
    networks = zip(network_shims(nlp), network_shims(loaded), strict=True)
    count = 0
    for trained, saved in networks:
        weights = saved.network.state_dict()
        for name, weight in trained.network.state_dict().items():
            assert np.array_equal(weight.numpy(), weights[name].numpy()), name
            count += 1
    assert count > 20
    for first, second in zip(values(nlp, corpus), values(loaded, corpus), strict=True):
        assert np.array_equal(first, second)


def test_lemmatizer_learns_other_trees_than_the_first(
    run: "tuple[Language, Path]", corpus: Path
) -> None:
    """Loaded from disk, spaCy's lemmatizer does not know the labels of its trees."""
    nlp, _ = run
    pipe: Any = nlp.get_pipe("trainable_lemmatizer")
    assert len(pipe.tree2label) == len(pipe.cfg["labels"]) > 1
    reference: Doc
    changed = right = 0
    for example in SegmentedCorpus([corpus / "train.spacy"], 0, False)(nlp):
        reference = example.reference
        for token, gold in zip(nlp(example.predicted), reference, strict=True):
            if gold.lemma_ and gold.lemma_ != gold.text:
                changed += 1
                right += token.lemma_ == gold.lemma_
    assert right > changed / 2 > 0


def test_coreference_is_trained_with_tags_and_trees(
    run: "tuple[Language, Path]", corpus: Path, tmp_path: Path
) -> None:
    """configs/joint.cfg, from what configs/syntax.cfg trained."""
    syntax = run[1] / "model-last"
    nlp = spacy.load(syntax)
    nlp.add_pipe("he_mentions")
    gold = list(DocBin().from_disk(corpus / "train.spacy").get_docs(nlp.vocab))
    store = DocBin(docs=annotate_docs(nlp, gold, "segments"), store_user_data=True)
    store.to_disk(tmp_path / "train_segments.spacy")
    overrides = {
        "paths.syntax": str(syntax),
        "corpora.train.paths": [str(tmp_path / "train_segments.spacy")],
        "corpora.train.gold": [str(corpus / "train.spacy")],
        "corpora.dev.paths": [str(corpus / "train.spacy")],
        "nlp.after_pipeline_creation.layers": 1,
        "training.max_steps": 4,
        "training.eval_frequency": 2,
        "training.optimizer.learn_rate.warmup_steps": 0,
    }
    config = load_config(ROOT / "configs" / "joint.cfg", overrides=overrides)
    joint, path = train(config, tmp_path / "out", stdout=StringIO(), stderr=StringIO())
    assert joint.pipe_names == [*nlp.pipe_names, "he_coref"]
    performance = joint.meta["performance"]
    assert {"pos_acc", "dep_las", "lemma_acc", "coref_f"} <= set(performance)
    losses = {name: performance[f"{name}_loss"] for name in nlp.pipe_names[:-1]}
    assert all(loss > 0 for loss in losses.values())
    # What the segmenter reads with is the same, to the bit; the rest has learned.
    before, after = (
        spacy.load(where).get_pipe("transformer").model.shims[0]
        for where in (syntax, path)
    )
    assert before.lend(1).digest == after.lend(1).digest
    assert before.lend(2).digest != after.lend(2).digest
