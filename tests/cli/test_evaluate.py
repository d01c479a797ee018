"""``he-coref evaluate coref``: table, file and errors, on the toy corpus."""

import json
from pathlib import Path
from typing import Any

import pytest
from spacy.tokens import DocBin
from typer.testing import CliRunner

from spacy_he_coref.cli.main import app
from spacy_he_coref.corpus.docs import load_docs
from spacy_he_coref.evaluation.regimes import REGIMES
from spacy_he_coref.evaluation.schema import read_metrics
from spacy_he_coref.evaluation.syntax import gold_input
from tests.evaluation.toy import build_toy, oracle_pipeline


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    train = build_toy(tmp_path_factory.mktemp("toy"))
    return train.with_name("dev.spacy")


def save(corpus: Path, path: Path, resolver: bool = True, **settings: bool) -> str:
    nlp = oracle_pipeline(corpus, **settings)
    if resolver:
        nlp.add_pipe("toy_resolver", config={"corpus": str(corpus)})
    nlp.to_disk(path)
    return str(path)


@pytest.fixture(scope="module")
def model(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    return save(corpus, tmp_path_factory.mktemp("cli") / "model")


def run(*args: Any) -> Any:
    return CliRunner().invoke(app, ["evaluate", "coref", *map(str, args)])


def test_all_regimes(model: str, corpus: Path, tmp_path: Path) -> None:
    path = tmp_path / "metrics" / "coref.json"
    result = run(model, corpus, "--json", path)
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0].split() == ["gold_mentions", "gold", "auto", "carried", "raw"]
    (conll,) = [line for line in lines if line.startswith("conll_f1")]
    assert conll.split() == ["conll_f1", *["100.00"] * 5]
    (links,) = [line for line in lines if line.startswith("links")]
    assert links.split() == ["links", "25.00", "25.00", "25.00", "-", "25.00"]
    (ends,) = [line for line in lines if line.startswith("95%")]
    assert ends.split() == ["95%", *["100.00", "to", "100.00"] * 5]
    assert max(len(line) for line in lines[:10]) < 132
    found = json.loads(path.read_text(encoding="utf8"))
    assert found == read_metrics(path)
    assert {*REGIMES, "syntax", "segmentation", "mention_detection"} < set(found)
    for regime in REGIMES:
        for metric in ("muc", "b3", "ceafe", "lea", "mentions"):
            assert found[regime][metric] == {"p": 100.0, "r": 100.0, "f1": 100.0}
        assert found[regime]["conll_f1"] == 100.0
    assert found["auto"]["carried_over"]["conll_f1"] == 100.0
    conditions = found["conditions"]
    assert conditions["corpus"] == str(corpus)
    assert (conditions["documents"], conditions["singletons"]) == (2, False)


def test_some_regimes(model: str, corpus: Path, tmp_path: Path) -> None:
    path = tmp_path / "coref.json"
    result = run(
        model, corpus, "--regime", "raw", "--regime", "gold", "--singletons",
        "--json", path,
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[0].split() == ["gold", "raw"]
    found = json.loads(path.read_text(encoding="utf8"))
    assert {"gold", "raw"} < set(found) and not {"auto", "gold_mentions"} & set(found)
    # 20 mentions that corefer and 7 singletons.
    assert found["gold"]["counts"]["gold_mentions"] == 27
    assert found["gold"]["counts"]["predicted_mentions"] == 27


def test_report_and_match(corpus: Path, tmp_path: Path) -> None:
    model = save(corpus, tmp_path / "model", segments=False)
    args = (model, corpus, "--regime", "raw", "--json", tmp_path / "coref.json")
    result = run(*args, "--match", "head", "--report", tmp_path / "reports")
    assert result.exit_code == 0, result.output
    assert "report.html" in result.stderr
    html = (tmp_path / "reports" / "report.html").read_text(encoding="utf8")
    assert "<blockquote" in html
    head = read_metrics(tmp_path / "coref.json")
    assert run(*args).exit_code == 0
    exact = read_metrics(tmp_path / "coref.json")
    assert head["raw"]["mentions"]["f1"] > exact["raw"]["mentions"]["f1"]
    assert head["conditions"]["match"] == "head"
    result = run(*args, "--match", "near")
    assert result.exit_code == 2
    (tmp_path / "file").touch()
    result = run(*args, "--report", tmp_path / "file")
    assert result.exit_code == 1 and "cannot write the report" in result.stderr


def test_a_regime_that_is_not_there(model: str, corpus: Path) -> None:
    result = run(model, corpus, "--regime", "silver")
    assert result.exit_code == 2


def test_a_regime_that_cannot_be_run(corpus: Path, tmp_path: Path, model: str) -> None:
    nlp = oracle_pipeline(corpus)
    nlp.add_pipe("toy_resolver", config={"corpus": str(corpus), "given": False})
    nlp.to_disk(tmp_path / "model")
    args = (tmp_path / "model", corpus, "--singletons", "--coreferent-only")
    result = run(*args, "--regime", "gold_mentions", "--json", tmp_path / "x.json")
    assert result.exit_code == 1
    assert "there are no figures for gold_mentions" in result.stderr
    assert "can do none of the regimes" in result.stderr
    assert not (tmp_path / "x.json").exists()
    result = run(*args, "--regime", "gold_mentions", "--regime", "gold")
    assert result.exit_code == 0
    assert "there are no figures for gold_mentions" in result.stderr
    assert result.stdout.splitlines()[0].split() == ["gold"]


def test_saved_segmentation(corpus: Path, tmp_path: Path) -> None:
    model = save(corpus, tmp_path / "model", segments=False)
    table = tmp_path / "table"
    table.mkdir()
    for doc in load_docs(corpus):
        name = doc._.source["id"].replace(":", "_")
        text = " ".join(morpheme.form for morpheme in doc._.morphemes)
        (table / f"{name}.txt").write_text(text, encoding="utf8")
    found = {}
    for options in ((), ("--segmentation", table)):
        path = tmp_path / "coref.json"
        result = run(model, corpus, "--regime", "auto", "--json", path, *options)
        assert result.exit_code == 0, result.output
        found[bool(options)] = json.loads(path.read_text(encoding="utf8"))["auto"]
    assert found[True]["conll_f1"] == 100.0
    assert found[False]["conll_f1"] < 60
    result = run(model, corpus, "--regime", "raw", "--segmentation", table)
    assert result.exit_code == 1 and "--segmentation is for" in result.stderr
    result = run(model, corpus, "--segmentation", tmp_path / "none")
    assert result.exit_code == 1 and "no saved segmentation" in result.stderr


def test_what_cannot_be_evaluated(corpus: Path, tmp_path: Path, model: str) -> None:
    without = save(corpus, tmp_path / "model", resolver=False)
    result = run(without, corpus, "--regime", "gold")
    assert result.exit_code == 1
    assert "needs a component for coreference" in result.stderr
    docs = [gold_input(doc) for doc in load_docs(corpus)]
    DocBin(docs=docs, store_user_data=True).to_disk(tmp_path / "bare.spacy")
    result = run(model, tmp_path / "bare.spacy")
    assert result.exit_code == 1
    assert "documents without gold clusters" in result.stderr
    result = run(model, tmp_path / "none.spacy")
    assert result.exit_code == 1 and "no corpus file" in result.stderr
