"""``he-coref corpus``: the figures of ``stats``; files, folds and mistakes of
``annotate``."""

import json
from pathlib import Path
from typing import Any, List

import pytest
import spacy
from typer.testing import CliRunner

from spacy_he_coref.cli.main import app
from spacy_he_coref.corpus.annotate import CANDIDATES
from spacy_he_coref.corpus.docs import load_docs
from spacy_he_coref.corpus.reader import in_fold
from tests.evaluation.toy import build_toy, oracle_pipeline


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_toy(tmp_path_factory.mktemp("toy"))


@pytest.fixture(scope="module")
def model(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("cli") / "model"
    oracle_pipeline(corpus).to_disk(path)
    return str(path)


def run(model: str, corpus: Path, output: Path, *args: str) -> Any:
    command = ["corpus", "annotate", model, str(corpus), str(output), *args]
    return CliRunner().invoke(app, command)


def test_stats(corpus: Path, tmp_path: Path) -> None:
    output = tmp_path / "new" / "stats.json"
    command = ["corpus", "stats", str(corpus.parent), "--json", str(output)]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0, result.output
    row = json.loads(output.read_text(encoding="utf8"))["table"][corpus.stem]
    assert row["documents"] == len(load_docs(corpus))
    assert row["mentions_with_singletons"] == 49
    assert "with singletons" in result.output


def ids(path: Path) -> List[str]:
    return [doc._.source["id"] for doc in load_docs(path)]


@pytest.mark.parametrize("given", ["segments", "text"])
def test_writes_the_corpus(
    model: str, corpus: Path, tmp_path: Path, given: str
) -> None:
    output = tmp_path / "new" / "out.spacy"
    result = run(model, corpus, output, "--given", given)
    assert result.exit_code == 0, result.output
    assert "49  mentions with singletons" in result.output
    assert "0  mentions lost" in result.output
    docs = load_docs(output)
    assert [doc.text for doc in docs] == [doc.text for doc in load_docs(corpus)]
    assert {doc._.source["given"] for doc in docs} == {given}
    assert all(key in doc.spans for doc in docs for key in CANDIDATES)


def test_folds_are_the_corpus(model: str, corpus: Path, tmp_path: Path) -> None:
    output = tmp_path / "out.spacy"
    found = []
    for fold in ("1/3", "2/3", "3/3"):
        wanted = [d._.source["id"] for d in load_docs(corpus) if in_fold(d, fold)]
        result = run(model, corpus, output, "--given", "segments", "--fold", fold)
        if wanted:
            assert result.exit_code == 0, result.output
            assert ids(output) == wanted
            found += wanted
        else:
            assert result.exit_code == 1
            assert "nothing to annotate" in result.output
    assert sorted(found) == ids(corpus)


def test_documents_by_id(model: str, corpus: Path, tmp_path: Path) -> None:
    names, output = tmp_path / "ids.txt", tmp_path / "out.spacy"
    names.write_text("mini:2_1\n\n", encoding="utf8")
    arguments = ("--given", "text", "--ids", str(names))
    assert run(model, corpus, output, *arguments).exit_code == 0
    assert ids(output) == ["mini:2_1"]
    names.write_text("mini:1\nmini:9\n", encoding="utf8")
    result = run(model, corpus, output, *arguments)
    assert result.exit_code == 1
    assert "no document 'mini:9'" in result.output


def test_mistakes(model: str, corpus: Path, tmp_path: Path) -> None:
    output = tmp_path / "out.spacy"
    assert run(model, corpus, output).exit_code == 2
    result = run(model, tmp_path / "none.spacy", output, "--given", "text")
    assert result.exit_code == 1
    assert "no corpus file" in result.output
    for fold in ("0/5", "6/5", "five"):
        result = run(model, corpus, output, "--given", "text", "--fold", fold)
        assert result.exit_code == 1
        assert "Write K/N" in result.output
    names = tmp_path / "none.txt"
    result = run(model, corpus, output, "--given", "text", "--ids", str(names))
    assert result.exit_code == 1
    assert "none.txt" in result.output
    spacy.blank("he").to_disk(tmp_path / "blank")
    result = run(str(tmp_path / "blank"), corpus, output, "--given", "text")
    assert result.exit_code == 1
    assert "mini:1 has no part-of-speech tags" in result.output
    assert not output.exists()


def test_noise_needs_a_trained_segmenter(
    model: str, corpus: Path, tmp_path: Path
) -> None:
    output = tmp_path / "out.spacy"
    result = run(model, corpus, output, "--given", "text", "--noise", "2")
    assert result.exit_code == 1
    assert "TrainedSegmenter" in result.output
