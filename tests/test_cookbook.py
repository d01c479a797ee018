"""The recipes of docs/cookbook.md run, and print what they say they print."""

import glob
import re
import shlex
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any, Callable, Dict, List, Tuple

import pytest
import spacy
from typer.testing import CliRunner

from spacy_he_coref.cli.main import app
from tests.util import ROOT

MODEL = "he_coref"
SAID = "# ->"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def read_recipes() -> Tuple[List[Tuple[str, str]], Dict[str, List[Tuple[str, str]]]]:
    """Language and text of the blocks before the recipes, and of each recipe."""
    text = (ROOT / "docs" / "cookbook.md").read_text(encoding="utf8")
    start, *parts = re.split(r"^## ", text, flags=re.MULTILINE)
    recipes = {part.splitlines()[0]: BLOCK.findall(part) for part in parts}
    return BLOCK.findall(start), recipes


BEFORE, RECIPES = read_recipes()


def run_python(code: str, names: Dict[str, Any]) -> None:
    printed = StringIO()
    with redirect_stdout(printed):
        exec(compile(code, "cookbook.md", "exec"), names)
    expected = [
        line[len(SAID) :].strip() for line in code.splitlines() if line.startswith(SAID)
    ]
    assert [line.strip() for line in printed.getvalue().splitlines()] == expected


def run_shell(code: str) -> None:
    for line in code.splitlines():
        command, *words = shlex.split(line, comments=True)
        assert command == "he-coref"
        # As a shell does it.
        files = [sorted(glob.glob(word)) if "*" in word else [word] for word in words]
        result = CliRunner().invoke(app, sum(files, []))
        assert result.exit_code == 0, f"{line}\n{result.output}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not spacy.util.is_package(MODEL):
        pytest.skip(f"{MODEL} is not installed")
    return tmp_path_factory.mktemp("cookbook")


@pytest.fixture(scope="module")
def load(folder: Path) -> Callable[..., Any]:
    """Loads the model as it is once only; recipes leave it as it was."""
    loaded: List[Any] = []
    original = spacy.load

    def load_once(name: str, **options: Any) -> Any:
        if options or name != MODEL:
            return original(name, **options)
        if not loaded:
            loaded.append(original(name))
        return loaded[0]

    return load_once


def test_there_are_ten_recipes_and_all_have_code() -> None:
    assert [int(title.split(".")[0]) for title in RECIPES] == list(range(1, 11))
    for title, blocks in RECIPES.items():
        assert {language for language, _ in blocks} <= {"python", "sh"}, title
        assert blocks, title


# In their order: some go on with the files of those before.
@pytest.mark.parametrize("title", RECIPES)
def test_recipe(
    title: str,
    folder: Path,
    load: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    blocks = RECIPES[title]
    if any("fastapi" in code for _, code in blocks):
        pytest.importorskip("fastapi")
        pytest.importorskip("httpx")
    monkeypatch.chdir(folder)
    for _, code in BEFORE:
        run_python(code, {})
    names: Dict[str, Any] = {"__name__": "__main__"}
    for language, code in blocks:
        if language == "sh":
            run_shell(code)
            continue
        with monkeypatch.context() as patch:
            patch.setattr(spacy, "load", load)
            run_python(code, names)


def test_a_recipe_that_prints_something_else_fails() -> None:
    run_python("print('שלום')\n# -> שלום\n", {})
    for code in ("print('שלום')\n", "# -> שלום\n", "print('לא')\n# -> שלום\n"):
        with pytest.raises(AssertionError):
            run_python(code, {})
