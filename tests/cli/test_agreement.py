"""``he-coref agreement``: the table, the file and mistakes."""

import json
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from spacy_he_coref.cli.main import app


def run(*args: Any) -> Any:
    return CliRunner().invoke(app, ["agreement", *map(str, args)])


def test_agreement(tmp_path: Path) -> None:
    for name, brackets in (("a", "(1)"), ("b", "(1)|5)"), ("c", "_")):
        rows = [f"היא\t0\t0\t_\t(1)\nהיא\t0\t1\t_\t{brackets}"]
        text = "\n".join(["#begin document 1", *rows, "#end document"])
        (tmp_path / f"{name}.conllu").write_text(text, encoding="utf8")
    pairs, found = tmp_path / "pairs.tsv", tmp_path / "new" / "out.json"
    pairs.write_text(
        "file_a\tfile_b\na.conllu\tb.conllu\na.conllu\tc.conllu\n", encoding="utf8"
    )
    result = run(tmp_path, "--pairs", pairs, "--json", found)
    assert result.exit_code == 0, result.output
    metrics = json.loads(found.read_text(encoding="utf8"))
    assert metrics["conll_f1"] == 50.0
    assert metrics["lea"] == {"p": 50.0, "r": 50.0, "f1": 50.0}
    assert metrics["conditions"]["pairs"] == 2
    assert "50.00" in result.output
    assert "bracket left out: line 3" in result.output
    result = run(tmp_path, "--pairs", tmp_path / "none.tsv")
    assert result.exit_code == 1
    assert "none.tsv" in result.output
    assert run(tmp_path).exit_code == 2
