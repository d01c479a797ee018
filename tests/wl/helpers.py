"""Tiny trained parts for word-level coreference."""

from pathlib import Path
from typing import Any, Dict

import spacy
from spacy.util import load_config
from thinc.api import Config

from tests.util import ROOT, save_tiny_encoder

HEADS_AND_SPANS = ("experimental_coref", "experimental_span_resolver")


def save_tiny_syntax(path: Path) -> Path:
    """Save a pipeline with nothing but a tiny encoder over morphemes.

    path (Path): The directory to save it to.
    RETURNS (Path): The directory.
    """
    encoder = save_tiny_encoder(path.with_name("encoder"), longest=512)
    nlp = spacy.blank("he")
    model = {
        "@architectures": "spacy_he_coref.MorphemeTransformer.v1",
        "name": str(encoder),
        "dropout": 0.0,
    }
    nlp.add_pipe("transformer", config={"model": model})
    nlp.initialize()
    nlp.to_disk(path)
    return path


def tiny_config(name: str, corpora: Path, encoder: Path, steps: int) -> Config:
    """A shipped config, made small.

    name (str): Its file.
    corpora (Path): The directory of train.spacy and dev.spacy.
    encoder (Path): A tiny encoder, or for wl_coref.cfg a pipeline with one.
    steps (int): Training steps.
    RETURNS (Config): The config.
    """
    own = name == "wl_coref.cfg"
    overrides: Dict[str, Any] = {
        "paths.syntax" if own else "paths.encoder": str(encoder),
        "paths.corpora": str(corpora),
        "corpora.dev.paths": [str(corpora / "train.spacy")],
        "training.max_steps": steps,
        "training.max_epochs": 0,
        "training.eval_frequency": steps // 2,
        "training.optimizer.learn_rate.warmup_steps": 2,
        "training.optimizer.learn_rate.total_steps": 2 * steps,
        "training.optimizer.learn_rate.initial_rate": 0.01,
        "components.experimental_coref.model.dropout": 0.0,
    }
    for component in HEADS_AND_SPANS:
        overrides[f"components.{component}.model.hidden_size"] = 32
    if not own:
        overrides["components.transformer.model.window"] = 60
    return load_config(ROOT / "configs" / name, overrides=overrides)
