"""The console command as a whole: help pages, groups and ``info``."""

import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Iterator, List, Tuple

import pytest
import spacy
import typer
from typer.testing import CliRunner

from spacy_he_coref.cli.main import app

ROOT = Path(__file__).parents[2]


def commands(group: object, path: Tuple[str, ...] = ()) -> Iterator[Tuple[str, ...]]:
    yield path
    for name, command in getattr(group, "commands", {}).items():
        yield from commands(command, (*path, name))


COMMANDS: List[Tuple[str, ...]] = list(commands(typer.main.get_command(app)))
# Every command, and the whole; a group lists its commands.
PAGES = [
    path for path in COMMANDS if not path or not any(c[:-1] == path for c in COMMANDS)
]


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_every_help_page_opens(path: Tuple[str, ...]) -> None:
    result = CliRunner().invoke(app, [*path, "--help"])
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize("path", PAGES, ids=" ".join)
def test_help_pages_show_examples(path: Tuple[str, ...]) -> None:
    result = CliRunner().invoke(app, [*path, "--help"])
    name = " ".join(("he-coref", *path))
    examples = [
        line
        for line in result.stdout.splitlines()
        if name in line and "Usage" not in line
    ]
    assert examples


def test_module_runs_the_same_command() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "spacy_he_coref", "--help"],
        capture_output=True,
        encoding="utf8",
        cwd=ROOT,
        check=True,
    )
    assert "segment" in run.stdout


def test_unknown_command_is_refused() -> None:
    assert CliRunner().invoke(app, ["segmnet"]).exit_code == 2


def test_info_prints_versions_and_the_model(tmp_path: Path) -> None:
    nlp = spacy.blank("he", meta={"license": "CC BY-NC-SA 4.0", "name": "tiny"})
    nlp.add_pipe("sentencizer")
    nlp.to_disk(tmp_path / "model")
    result = CliRunner().invoke(app, ["info", "--model", str(tmp_path / "model")])
    assert result.exit_code == 0, result.output
    rows = dict(line.split(maxsplit=1) for line in result.stdout.splitlines())
    assert rows["spacy"] == version("spacy")
    assert rows["model"] == "he_tiny 0.0.0"
    assert rows["components"] == "sentencizer"
    assert rows["licence"] == "CC BY-NC-SA 4.0"
