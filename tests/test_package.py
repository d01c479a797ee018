"""The package as installed: entry points, versions, and the README's examples."""

import configparser
import importlib
import json
import pkgutil
import re
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Dict, List, Set, Tuple

import catalogue
import pytest
import spacy

import spacy_he_coref

ROOT = Path(__file__).parent.parent
GROUPS = {
    "spacy_factories": "internal_factories",
    "spacy_tokenizers": "tokenizers",
    "spacy_misc": "misc",
    "spacy_scorers": "scorers",
    "spacy_readers": "readers",
    "spacy_architectures": "architectures",
    "spacy_callbacks": "callbacks",
}


def entry_points() -> Dict[str, Dict[str, str]]:
    config = configparser.ConfigParser(delimiters=("=",))
    config.optionxform = str  # type: ignore[assignment,method-assign]
    config.read(ROOT / "setup.cfg", encoding="utf8")
    output = {}
    for group, block in config["options.entry_points"].items():
        rows = [row.split("=", 1) for row in block.strip().splitlines()]
        output[group] = {name.strip(): target.strip() for name, target in rows}
    return output


def registered_names() -> Set[Tuple[str, str]]:
    for module in pkgutil.walk_packages(spacy_he_coref.__path__, "spacy_he_coref."):
        importlib.import_module(module.name)
    return {
        (key[-2], key[-1])
        for key, function in catalogue.REGISTRY.items()
        if getattr(function, "__module__", "").startswith("spacy_he_coref")
    }


def readme_examples() -> List[str]:
    text = (ROOT / "README.md").read_text(encoding="utf8")
    return re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


@pytest.mark.smoke
def test_entry_points_of_the_code_and_of_setup_cfg_agree() -> None:
    declared = {
        (GROUPS[group], name)
        for group, rows in entry_points().items()
        if group != "console_scripts"
        for name in rows
    }
    assert declared == registered_names()


@pytest.mark.smoke
def test_entry_points_name_existing_objects() -> None:
    for rows in entry_points().values():
        for name, target in rows.items():
            module, attribute = target.split(":")
            assert callable(getattr(importlib.import_module(module), attribute)), name


@pytest.mark.smoke
def test_spacy_finds_every_name_without_an_import() -> None:
    try:
        distribution("spacy_he_coref")
    except PackageNotFoundError:
        pytest.skip("spacy_he_coref is not installed in this environment")
    names = {group: list(rows) for group, rows in entry_points().items()}
    names.pop("console_scripts")
    # A process of its own: here the package has been imported already.
    code = """
import json, sys
import spacy
missing = []
nlp = spacy.blank("he")
for group, names in json.loads(sys.argv[1]).items():
    kind = group.split("_", 1)[1]
    for name in names:
        if kind == "factories":
            found = nlp.has_factory(name)
        else:
            found = name in getattr(spacy.registry, kind)
        if not found:
            missing.append(name)
print(json.dumps(missing))
"""
    run = subprocess.run(
        [sys.executable, "-c", code, json.dumps(names)],
        capture_output=True,
        text=True,
        cwd=Path(sys.prefix),
        check=True,
    )
    assert json.loads(run.stdout.splitlines()[-1]) == []


def test_versions_agree() -> None:
    version = spacy_he_coref.__version__
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text("utf8")
    assert f"\n## {version}" in (ROOT / "CHANGELOG.md").read_text("utf8")
    assert f'version: "{version}"' in (ROOT / "project.yml").read_text("utf8")
    for name in ("meta.json", "meta_light.json"):
        meta = json.loads((ROOT / "configs" / name).read_text("utf8"))
        assert meta["version"] == version


def test_every_folder_of_modules_is_a_package() -> None:
    # setuptools leaves out a folder without __init__.py, and the wheel would lack it.
    folders = {path.parent for path in Path(spacy_he_coref.__path__[0]).rglob("*.py")}
    assert [str(f) for f in folders if not (f / "__init__.py").exists()] == []


def test_import_is_silent() -> None:
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", "import spacy_he_coref"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=True,
    )
    assert run.stdout == run.stderr == ""


@pytest.mark.parametrize("number", range(len(readme_examples())))
@pytest.mark.skipif(
    not spacy.util.is_package("he_coref"), reason="the model he_coref is not installed"
)
def test_readme_example_runs(number: int) -> None:
    exec(compile(readme_examples()[number], f"README.md[{number}]", "exec"), {})


def test_readme_has_examples() -> None:
    assert readme_examples()
