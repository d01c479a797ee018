"""``he-coref compare`` and ``he-coref report``, on metrics files of the toy corpus."""

import json
from pathlib import Path
from typing import Any, Dict, Tuple

import pytest
from spacy.tokens import DocBin
from typer.testing import CliRunner

from spacy_he_coref.cli.main import app
from spacy_he_coref.corpus.docs import load_docs
from spacy_he_coref.evaluation.schema import REGIMES, write_metrics
from tests.evaluation.metrics import as_another, scored_worse, toy_metrics
from tests.evaluation.test_page import check_html
from tests.evaluation.toy import build_toy


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_toy(tmp_path_factory.mktemp("toy"))


@pytest.fixture(scope="module")
def metrics(corpus: Path) -> Dict[str, Any]:
    return toy_metrics(corpus, segments=False)


@pytest.fixture
def files(metrics: Dict[str, Any], tmp_path: Path) -> Tuple[str, str]:
    paths = str(tmp_path / "a.json"), str(tmp_path / "b.json")
    for path, content in zip(
        paths, (metrics, scored_worse(metrics, "worse")), strict=True
    ):
        write_metrics(path, content)
    return paths


def run(*args: Any) -> Any:
    return CliRunner().invoke(app, [*map(str, args)])


def test_two_systems(files: Tuple[str, str], tmp_path: Path) -> None:
    out = tmp_path / "difference.json"
    result = run("compare", *files, "--json", out)
    assert result.exit_code == 0, result.output
    lines = [line.split() for line in result.stdout.splitlines() if line]
    assert [line[0] for line in lines if line[1:3] == ["1", "2"]] == list(REGIMES)
    (gold,) = [line for line in lines if line[:2] == ["muc", "100.00"]][1:2]
    assert gold[:4] == ["muc", "100.00", "50.00", "+50.00"]
    found = json.loads(out.read_text(encoding="utf8"))
    assert list(found["regimes"]) == list(REGIMES)
    assert found["regimes"]["gold"]["muc"]["interval"] == [50.0, 50.0]
    assert list(found["conditions"]["systems"].values()) == [[f] for f in files]


def test_seeds(files: Tuple[str, str], tmp_path: Path) -> None:
    result = run("compare", ",".join(files), "--json", tmp_path / "seeds.json")
    assert result.exit_code == 0, result.output
    assert "75.00 ± 35.36   100.00 50.00" in result.stdout
    found = json.loads((tmp_path / "seeds.json").read_text(encoding="utf8"))
    (seeds,) = found["seeds"].values()
    assert seeds["gold"] == {"mean": 75.0, "spread": 35.36, "runs": [100.0, 50.0]}
    assert "regimes" not in found
    result = run("compare", ",".join(files), files[1])
    assert result.exit_code == 0, result.output
    assert "+25.00" in result.stdout


def test_other_documents(files: Tuple[str, str], metrics: Dict[str, Any]) -> None:
    write_metrics(files[1], as_another(metrics, "x", singletons=True))
    for command in (("compare", *files), ("report", "nowhere", *files)):
        result = run(*command)
        assert result.exit_code == 1
        assert "measured under other conditions: singletons" in result.stderr
    result = run("compare", files[0], files[0] + ".none")
    assert result.exit_code == 1 and "cannot read" in result.stderr


def test_report(files: Tuple[str, str], tmp_path: Path, corpus: Path) -> None:
    directory = tmp_path / "reports"
    result = run("report", directory, *files)
    assert result.exit_code == 0, result.output
    html = (directory / "report.html").read_text(encoding="utf8")
    check_html(html)
    # The corpus that the file names is there, so there are excerpts.
    assert "<blockquote" in html and "Differences between systems" in html
    assert (directory / "report.md").read_text(encoding="utf8").startswith("# Coref")
    result = run("report", directory, files[0], "--corpus", corpus)
    assert result.exit_code == 1 and "is not the corpus of" in result.stderr
    result = run("report", directory, files[0], "--corpus", tmp_path / "none.spacy")
    assert result.exit_code == 1 and "no corpus file" in result.stderr
    (tmp_path / "file").touch()
    result = run("report", tmp_path / "file", files[0])
    assert result.exit_code == 1 and "cannot write the report" in result.stderr


def test_report_without_the_corpus(
    files: Tuple[str, str], metrics: Dict[str, Any], tmp_path: Path, corpus: Path
) -> None:
    write_metrics(files[0], as_another(metrics, "x", corpus="gone.spacy"))
    result = run("report", tmp_path / "out", files[0])
    assert result.exit_code == 0, result.output
    assert "<blockquote" not in (tmp_path / "out" / "report.html").read_text("utf8")
    docs = load_docs(corpus.with_name("dev.spacy"))
    moved = tmp_path / "moved.spacy"
    DocBin(docs=docs, store_user_data=True).to_disk(moved)
    result = run("report", tmp_path / "out", files[0], "--corpus", moved)
    assert result.exit_code == 0, result.output
    assert "<blockquote" in (tmp_path / "out" / "report.html").read_text("utf8")
