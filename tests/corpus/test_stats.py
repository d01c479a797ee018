import builtins
import json

import pytest
from typer.testing import CliRunner

from spacy_he_coref.cli.corpus import app
from spacy_he_coref.corpus.build import build_corpus
from spacy_he_coref.corpus.conllu import CorpusError
from spacy_he_coref.corpus.stats import (
    count_directory,
    draw_histogram,
    format_histogram,
    statistics,
)
from tests.util import TOY_HTB, TOY_IAHLT, TOY_KIBUTZR

TRAIN = {
    "documents": 2,
    "sentences": 10,
    "morphemes": 151,
    "mentions": 36,
    "clusters": 10,
    "mentions_with_singletons": 49,
    "singletons": 13,
    "widest_mention": 10,
}


@pytest.fixture(scope="module")
def corpora(tmp_path_factory):
    path = tmp_path_factory.mktemp("corpora")
    build_corpus(path, TOY_KIBUTZR, TOY_HTB, TOY_IAHLT)
    return path


def run(*args):
    return CliRunner().invoke(app, ["stats", *map(str, args)])


@pytest.mark.smoke
def test_built_corpus_and_raw_files_agree(corpora):
    built, raw = statistics(corpora), statistics(TOY_KIBUTZR)
    assert built["table"]["train"] == TRAIN
    assert list(built["table"]) == ["train", "dev", "iahlt", "all"]
    # another corpus is in no total of KibutzR
    assert built["table"].pop("iahlt")["documents"] == 2
    assert built == raw
    assert raw["table"]["all"]["documents"] == 4
    assert raw["sentences_per_document"]["dev"] == {2: 1, 4: 1}


def test_command(corpora, tmp_path):
    result = run(corpora, "--json", tmp_path / "stats.json")
    assert result.exit_code == 0, result.output
    header, train = result.output.splitlines()[:2]
    assert header.split()[:3] == ["documents", "sentences", "morphemes"]
    assert train.split() == ["train", "2", "10", "151", "36", "10", "49", "13", "10"]
    assert "sentences per document (train + dev)" in result.output
    assert json.loads((tmp_path / "stats.json").read_text())["table"]["train"] == TRAIN


def test_histogram_as_text():
    text = format_histogram({"train": {1: 2, 5: 2, 12: 1}, "dev": {12: 1}})
    assert [line.split() for line in text.splitlines()[1:]] == [
        ["1-5", "4", "█" * 40],
        ["6-10", "0"],
        ["11-15", "2", "█" * 20],
    ]
    assert format_histogram({}) == "sentences per document ()"


@pytest.mark.parametrize("suffix", ["svg", "png"])
def test_figure(corpora, tmp_path, suffix):
    pytest.importorskip("matplotlib")
    result = run(corpora, "--figure", tmp_path / f"f.{suffix}")
    assert result.exit_code == 0, result.output
    head = (tmp_path / f"f.{suffix}").read_bytes()[:200]
    assert (b"<?xml" if suffix == "svg" else b"PNG") in head


def test_figure_without_matplotlib(corpora, tmp_path, monkeypatch):
    real = builtins.__import__

    def without(name, *args, **kwargs):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=r"spacy_he_coref\[plots\]"):
        draw_histogram({"train": {1: 1}}, tmp_path / "f.svg")
    result = run(corpora, "--figure", tmp_path / "f.svg")
    assert result.exit_code == 1
    assert "[plots]" in result.output


def test_says_what_is_wrong(tmp_path):
    assert "must end in .svg or .png" in run(tmp_path, "--figure", "a.pdf").output
    result = run(tmp_path)
    assert result.exit_code == 1
    assert "no KibutzR files here" in result.output
    (tmp_path / "train.spacy").write_bytes(b"no")
    with pytest.raises(CorpusError, match="train.spacy: not a corpus of spaCy"):
        count_directory(tmp_path)
