"""The toy corpus and one of its documents, for all tests of evaluation."""

from pathlib import Path

import pytest
from spacy.tokens import Doc

from spacy_he_coref.corpus.docs import load_docs
from tests.evaluation.toy import TEXT, build_toy


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_toy(tmp_path_factory.mktemp("toy"))


@pytest.fixture
def gold(corpus: Path) -> Doc:
    (doc,) = [d for d in load_docs(corpus.with_name("dev.spacy")) if d.text == TEXT]
    return doc
