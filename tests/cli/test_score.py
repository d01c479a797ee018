"""``he-coref score``: files of both sides, options and mistakes."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from spacy_he_coref.cli.main import app

GOLD = """\
#begin document 4
דנה	0	0	_	(0)
אמרה	0	1	_	_
ל	0	2	_	_
אח	0	3	_	(1
_היא	0	4	_	(0)|1)

הוא	1	0	_	(1)
היא	1	1	_	(0)
יום	1	2	_	(5)
#end document"""
PREDICTED = {"doc": "htb:4", "clusters": [[[0, 0], [4, 4], [6, 6]], [[5, 5], [7, 7]]]}


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    path = tmp_path / "gold" / "htb_4.conllu"
    path.parent.mkdir()
    path.write_text(GOLD, encoding="utf8")
    return path


def predict(tmp_path: Path, *rows: Any) -> Path:
    path = tmp_path / "out.jsonl"
    lines = (json.dumps(row, ensure_ascii=False) for row in rows)
    path.write_text("\n".join(lines), encoding="utf8")
    return path


def run(*args: Any) -> Any:
    return CliRunner().invoke(app, ["score", *map(str, args)])


def test_table_and_json(gold: Path, tmp_path: Path) -> None:
    predicted, found = predict(tmp_path, PREDICTED), tmp_path / "new" / "score.json"
    result = run(gold.parent, predicted, "--json", found)
    assert result.exit_code == 0, result.output
    metrics = json.loads(found.read_text(encoding="utf8"))
    for name in ("mentions", "muc", "b3", "ceafe", "lea", "ceafm", "blanc"):
        assert set(metrics[name]) == {"p", "r", "f1"}
        value = f"{metrics[name]['f1']:.2f}"
        assert any(
            line.split()[0] == name and line.split()[-1] == value
            for line in result.output.splitlines()
            if line
        )
    assert metrics["mentions"] == {"p": 80.0, "r": 80.0, "f1": 80.0}
    assert metrics["muc"]["p"] == 66.67
    assert f"{metrics['conll_f1']:.2f}" in result.output
    assert metrics["dropped"]["gold"]["singletons"] == 1
    assert "1 singletons" in result.output
    conditions = metrics["conditions"]
    assert conditions["gold_format"] == ["kibutzr"]
    assert conditions["predicted_format"] == ["jsonl"]
    assert conditions["compared_by"] == {"numbers": 1}
    assert (conditions["missing"], conditions["match"]) == ([], "exact")


def test_options(gold: Path, tmp_path: Path) -> None:
    # The same brackets, read as CoNLL-2012 (the token is the fourth column).
    result = run(gold, gold, "--from-gold", "conll2012", "--from-predicted", "kibutzr")
    assert result.exit_code == 1
    assert "not in gold" in result.output
    result = run(gold, gold, "--singletons")
    assert result.exit_code == 0
    assert "gold mentions           6" in result.output
    result = run(gold, gold, "--match", "head")
    assert result.exit_code == 1
    assert "heads of the mentions of document htb:4 are not known" in result.output
    row = {"doc_key": "htb:4", "sentences": [["דנה"]], "clusters": [[[0, 0]]]}
    wrong = predict(tmp_path, row)
    result = run(wrong, wrong, "--from-gold", "lingmess-exclusive")
    assert result.exit_code == 1
    assert "out.jsonl, line 1" in result.output
    assert run(wrong, wrong, "--from-gold", "word").exit_code == 2


def test_heads_of_corefud(tmp_path: Path) -> None:
    def write(name: str, *entities: str) -> Path:
        path = tmp_path / name
        lines = ["# newdoc id = א", "# global.Entity = eid-etype"]
        for i, (form, head, entity) in enumerate(
            zip(("ה", "איש", "וגם", "הוא"), (2, 0, 4, 2), entities, strict=True)
        ):
            misc = f"Entity={entity}" if entity else "_"
            columns = (str(i + 1), form, *"____", str(head), "_", "_", misc)
            lines.append("\t".join(columns))
        path.write_text("\n".join(lines) + "\n", encoding="utf8")
        return path

    gold = write("gold.conllu", "(e1-person", "e1)", "", "(e1-person)")
    predicted = write("out.conllu", "", "(e7-person)", "", "(e7-person)")
    figures = {}
    for match in ("exact", "partial", "head"):
        result = run(gold, predicted, "--match", match)
        assert result.exit_code == 0, result.output
        figures[match] = result.output.split("conll_f1")[1].split()[0]
    assert figures["exact"] != "100.00"
    assert figures["partial"] == figures["head"] == "100.00"


def test_missing_documents_are_said(gold: Path, tmp_path: Path) -> None:
    text = GOLD.replace("document 4", "document 5")
    (gold.parent / "htb_5.conllu").write_text(text, encoding="utf8")
    result = run(gold.parent, predict(tmp_path, PREDICTED))
    assert result.exit_code == 0
    assert "1 of 2 documents have no prediction and count as empty: htb:5" in (
        result.output
    )
    assert "documents               2" in result.output


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{**PREDICTED, "doc": "htb:5"}], "line 1: document htb:5 is not in gold"),
        ([PREDICTED, {"doc": "x", "clusters": []}], "line 2: document x is not in"),
        ([PREDICTED, PREDICTED], "line 2: document htb:4 is there already"),
        ([{"doc": "htb:4", "clusters": [[[0, 0], [7, 8]]]}], "tokens 0 to 7"),
        ([{"doc": "htb:4", "clusters": [[[1, 0]]]}], "out.jsonl, line 1"),
        ([{"doc": "htb:4", "clusters": [], "tokens": ["דן"]}], "another text"),
        ([], "the file is empty"),
        ([[]], "out.jsonl, line 1"),
    ],
)
def test_bad_input(gold: Path, tmp_path: Path, rows: Any, message: str) -> None:
    found = tmp_path / "score.json"
    result = run(gold, predict(tmp_path, *rows), "--json", found)
    assert result.exit_code == 1
    assert message in result.output
    assert "conll_f1" not in result.output
    assert not found.exists()


def test_no_such_file(gold: Path, tmp_path: Path) -> None:
    result = run(gold, tmp_path / "none")
    assert result.exit_code == 1
    assert "there is no such file" in result.output
