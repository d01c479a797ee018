"""``he-coref parse``: what it prints, on the toy corpus."""

from pathlib import Path
from typing import Any

import pytest
import spacy
from typer.testing import CliRunner

from spacy_he_coref.cli.main import app
from spacy_he_coref.cli.parse import describe_sentences
from spacy_he_coref.corpus.docs import load_docs, morpheme_rows
from spacy_he_coref.mentions import MENTIONS
from tests.evaluation.toy import build_toy, oracle_pipeline

# Of the gold segmenter, on texts that are not in the toy corpus.
pytestmark = pytest.mark.filterwarnings("ignore:Document .* is not in the segmentation")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_toy(tmp_path_factory.mktemp("toy"))


@pytest.fixture(scope="module")
def model(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("cli") / "model"
    nlp = oracle_pipeline(corpus)
    nlp.add_pipe("he_mentions")
    nlp.to_disk(path)
    return str(path)


def run(*args: str, **settings: Any) -> Any:
    return CliRunner().invoke(app, ["parse", *args], **settings)


def test_morphemes_and_mentions(model: str, corpus: Path) -> None:
    gold = next(iter(load_docs(corpus)))
    result = run("-m", model, gold.text)
    assert result.exit_code == 0, result.output
    rows = [line.split("\t") for line in result.stdout.splitlines()]
    morphemes = [row for row in rows if len(row) == 7 and row[0] != "id"]
    expected = [(m.form, m.upos, m.deprel) for m in morpheme_rows(gold)]
    assert [(row[1], row[3], row[5]) for row in morphemes] == expected
    mentions = [row[2] for row in rows if row[0] == "mention"]
    assert mentions
    assert all(mention in gold.text for mention in mentions)
    # Every sentence has its header, and an empty line after it.
    assert sum(row[0] == "id" for row in rows) == len(list(gold.sents))
    assert sum(row == [""] for row in rows) == len(list(gold.sents))


def test_columns_on_a_terminal_are_guarded(model: str, corpus: Path) -> None:
    gold = next(iter(load_docs(corpus)))
    doc = spacy.load(model)(gold.text)
    assert doc.spans[MENTIONS]
    for line in describe_sentences(doc, terminal=True):
        assert line.count("\u2068") == line.count("\u2069")
        assert not line or line.startswith("\u200e")


def test_conllu_from_a_file(model: str, corpus: Path, tmp_path: Path) -> None:
    texts = [doc.text for doc in load_docs(corpus)]
    path = tmp_path / "texts.txt"
    path.write_text("\n".join(texts), encoding="utf8")
    result = run("-m", model, "--file", str(path), "--output", "conllu")
    assert result.exit_code == 0, result.output
    assert result.stdout.count("# newdoc id = ") == len(texts)
    assert "Entity=" in result.stdout


def test_empty_text(model: str) -> None:
    result = run("-m", model, "")
    assert result.exit_code == 0
    assert not result.stdout.strip()


def test_a_model_without_trees(tmp_path: Path) -> None:
    spacy.blank("he").to_disk(tmp_path)
    result = run("-m", str(tmp_path), "שלום עולם")
    assert result.exit_code == 1
    assert "no trees" in result.output


def test_text_and_file_at_once(model: str) -> None:
    assert run("-m", model, "שלום", "--file", "x.txt").exit_code == 2
