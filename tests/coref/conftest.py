"""Tiny pipelines that know the stories by heart, made once."""

from pathlib import Path

import pytest
from spacy.language import Language

from tests.coref.helpers import make_pipeline, train
from tests.util import save_tiny_encoder


@pytest.fixture(scope="session")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_encoder(tmp_path_factory.mktemp("encoder"))


@pytest.fixture(scope="session")
def joint(encoder: Path) -> Language:
    """The encoder learns too."""
    nlp = make_pipeline(encoder, singletons=True)
    train(nlp, 40)
    return nlp


@pytest.fixture(scope="session")
def frozen(encoder: Path) -> Language:
    """The encoder stays as it is; its vectors are read from the documents."""
    nlp = make_pipeline(encoder, singletons=True, model={"frozen": True})
    train(nlp, 40)
    return nlp
