"""``he-coref train``: overrides, stopping, going on, and what it says."""

import signal
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from spacy_he_coref.cli.main import app
from tests.training.helpers import PLAN, log, make_config, stop, write_corpus


@pytest.fixture
def config(tmp_path: Path) -> Path:
    write_corpus(tmp_path / "tagged.spacy")
    path = tmp_path / "config.cfg"
    make_config(tmp_path / "tagged.spacy").to_disk(path)
    return path


def train(config: Path, *arguments: str) -> Result:
    output = str(config.parent / "output")
    command = ["train", str(config), "--output", output, *arguments]
    return CliRunner().invoke(app, command)


def test_stops_and_goes_on(config: Path) -> None:
    few = ("--training.max_steps", "4", "--checkpoint-seconds=0")
    PLAN[2] = stop
    result = train(config, *few)
    assert result.exit_code == 128 + signal.SIGTERM, result.output
    assert "Stopped by SIGTERM after step 2" in result.output
    # Without a terminal there is a line of progress at every checkpoint.
    assert "words/s" in result.output
    result = train(config, *few)
    assert result.exit_code == 0, result.output
    assert "Going on" in result.output
    assert [line["step"] for line in log(config.parent / "output")] == [0, 4]
    result = train(config)
    assert result.exit_code == 1
    assert "max_steps: was 4, now 10" in result.output
    result = train(config, "--fresh", "--training.max_steps", "1")
    assert result.exit_code == 0, result.output
    assert [line["step"] for line in log(config.parent / "output")] == [0]


def test_mistakes(config: Path) -> None:
    result = train(config.parent / "nothing.cfg")
    assert result.exit_code == 1
    assert "there is no config file" in result.output
    result = train(config, "--training.dropout", "much")
    assert result.exit_code == 1
    assert "dropout" in result.output
    assert train(config, "--max_steps", "1").exit_code == 1
