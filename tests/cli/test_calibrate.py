"""``he-coref calibrate``: the figures, and what it writes."""

from pathlib import Path

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import DocBin
from typer.testing import CliRunner, Result

from spacy_he_coref.cli.main import app
from tests.coref.helpers import make_pipeline, stories, train
from tests.util import save_tiny_encoder


@pytest.fixture(scope="module")
def nlp(tmp_path_factory: pytest.TempPathFactory) -> Language:
    encoder = save_tiny_encoder(tmp_path_factory.mktemp("encoder"))
    made = make_pipeline(encoder, model={"frozen": True})
    train(made, 40)
    return made


@pytest.fixture
def directory(nlp: Language, tmp_path: Path) -> Path:
    docs = stories(nlp.vocab)
    for doc in docs:
        doc._.source = {**doc._.source, "annotation": "predicted"}
    DocBin(docs=docs, store_user_data=True).to_disk(tmp_path / "dev.spacy")
    nlp.to_disk(tmp_path / "model")
    return tmp_path


def calibrate(directory: Path, *arguments: str, model: str = "model") -> Result:
    name = str(directory / model) if model == "model" else model
    command = ["calibrate", name, str(directory / "dev.spacy"), *arguments]
    return CliRunner().invoke(app, command)


def test_prints_and_writes_only_when_asked(directory: Path) -> None:
    config = directory / "model" / "config.cfg"
    before = config.read_bytes()
    result = calibrate(directory)
    assert result.exit_code == 0, result.output
    assert config.read_bytes() == before
    rows = {
        line.split()[0]: line.split()[1:]
        for line in result.output.splitlines()[1:]
        if line
    }
    assert rows["mention_cut"][0] == "0.50"
    assert len(rows["conll_f1"]) == len(rows["ece"]) == 3
    assert rows["documents"] == ["3"]
    result = calibrate(directory, "--write")
    assert result.exit_code == 0, result.output
    assert "Written to" in result.output
    component = spacy.load(directory / "model").get_pipe("he_coref")
    slope, intercept = component.calibration
    assert f"[{slope}, {intercept}]" in result.output
    assert f"{component.mention_cut:.2f}" == rows["mention_cut"][1]
    assert f"{component.link_cut:.2f}" == rows["link_cut"][1]
    # The figures before are now those that were reached.
    again = calibrate(directory)
    now = {
        line.split()[0]: line.split()[1:]
        for line in again.output.splitlines()[1:]
        if line
    }
    assert now["conll_f1"][0] == rows["conll_f1"][1]
    assert now["ece"][0] == rows["ece"][1]
    # A cut that is given is set, and no other one is looked for.
    result = calibrate(directory, "--link-cut", "-0.3", "--write")
    assert result.exit_code == 0, result.output
    given = spacy.load(directory / "model").get_pipe("he_coref")
    assert given.link_cut == pytest.approx(-0.3)
    assert given.mention_cut == component.mention_cut


def test_mistakes(directory: Path) -> None:
    result = calibrate(directory, "--write", model="he_coref")
    assert result.exit_code == 1
    assert "--write needs the directory" in result.output
    blank = spacy.blank("he")
    blank.to_disk(directory / "blank")
    result = calibrate(directory, model=str(directory / "blank"))
    assert result.exit_code == 1
    assert "The pipeline has no he_coref" in result.output
    docs = stories()
    for doc in docs:
        doc.spans.clear()
    DocBin(docs=docs, store_user_data=True).to_disk(directory / "dev.spacy")
    result = calibrate(directory)
    assert result.exit_code == 1
    assert "without gold clusters" in result.output
