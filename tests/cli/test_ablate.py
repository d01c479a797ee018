"""``he-coref ablate``: the table, the choice of variants, and mistakes."""

from pathlib import Path

import pytest
import srsly
from typer.testing import CliRunner, Result

from spacy_he_coref.cli.main import app
from tests.coref.helpers import make_pipeline, write_stories
from tests.util import ROOT, save_tiny_encoder

VARIANTS = """
[all]
training.max_steps = 2
components.he_coref.model.hidden = 16
[full]
[plain]
components.he_coref.model.experts = false
[last]
components.he_coref.model.candidates = false
"""


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("ablate")
    make_pipeline(save_tiny_encoder(path / "encoder")).to_disk(path / "syntax")
    for name in ("train", "dev"):
        write_stories(path / f"{name}_segments.spacy")
    (path / "variants.cfg").write_text(VARIANTS)
    return path


def ablate(directory: Path, *arguments: str, variants: str = "variants.cfg") -> Result:
    command = ["ablate", str(ROOT / "configs" / "coref.cfg")]
    command += [str(directory / variants), "--output", str(directory / "out.json")]
    command += ["--paths.syntax", str(directory / "syntax")]
    command += ["--paths.corpora", str(directory)]
    return CliRunner().invoke(app, [*command, *arguments])


def test_prints_a_table_and_goes_on(directory: Path) -> None:
    result = ablate(directory, "--seeds", "1", "--only", "full,last")
    assert result.exit_code == 0, result.output
    assert "last, seed 1: best_conll_f1" in result.output
    rows = [line.split() for line in result.output.splitlines()]
    assert [row[:2] for row in rows[-2:]] == [["full", "1"], ["last", "1"]]
    result = ablate(directory, "--seeds", "1,2")
    assert result.exit_code == 0, result.output
    assert "last, seed 1" not in result.output
    assert "last, seed 2" in result.output
    runs = srsly.read_json(directory / "out.json")["runs"]
    assert [(run["variant"], run["seed"]) for run in runs] == [
        (name, seed) for seed in (1, 2) for name in ("full", "plain", "last")
    ]
    result = ablate(directory, "--seeds", "1", "--training.dropout", "0.3")
    assert result.exit_code == 1
    assert "another config" in result.output


def test_mistakes(directory: Path) -> None:
    for arguments, words in (
        (("--seeds", "1,x"), "are no seeds"),
        (("--only", "full,nothing"), "has no variant nothing"),
        (("--paths.corpora", str(directory / "no")), "train_segments.spacy"),
    ):
        result = ablate(directory, "--fresh", *arguments)
        assert result.exit_code == 1, result.output
        assert words in result.output
    result = ablate(directory, variants="none.cfg")
    assert result.exit_code == 1
    assert "there is no file" in result.output
