"""The metrics file: what it must have, and how it is read and written."""

import json
from copy import deepcopy
from pathlib import Path
from typing import Any, Callable, Dict

import pytest

from spacy_he_coref.evaluation.schema import (
    METRICS_FILE,
    VERSION,
    check_metrics,
    names_of,
    problems,
    read_metrics,
    regimes_of,
    write_metrics,
)
from tests.evaluation.metrics import toy_metrics
from tests.util import ROOT


@pytest.fixture(scope="module")
def metrics(corpus: Path) -> Dict[str, Any]:
    return toy_metrics(corpus)


def test_written_and_read(metrics: Dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "new" / "coref.json"
    write_metrics(path, metrics)
    assert read_metrics(path) == metrics
    text = path.read_text(encoding="utf8")
    # Numbers of one thing stand on one line.
    lines = {line.strip() for line in text.splitlines()}
    assert '"muc": {"p": 100.0, "r": 100.0, "f1": 100.0},' in lines
    assert len(text.splitlines()) < 3000


def test_odd_values_are_written_as_json(tmp_path: Path) -> None:
    odd = {
        "empty": [], "none": {}, "text": "[\n 1, {\"א\"} ]", "deep": [[[1, 2.5], []]],
        "long": [{"name": "x" * 90, "value": None}, {"b": True}],
    }  # fmt: skip
    write_metrics(tmp_path / "odd.json", odd)
    assert json.loads((tmp_path / "odd.json").read_text(encoding="utf8")) == odd


def wrong(metrics: Dict[str, Any], change: Callable[[Dict[str, Any]], Any]) -> str:
    changed = deepcopy(metrics)
    change(changed)
    return next(problems(changed), "")


def test_what_is_wrong_is_named(metrics: Dict[str, Any]) -> None:
    assert wrong(metrics, lambda m: None) == ""
    assert wrong(metrics, lambda m: m.pop("raw")) == ""
    for change, expected in (
        (lambda m: m["gold"].pop("muc"), "gold.muc is missing"),
        (lambda m: m["gold"]["b3"].update(p="x"), "gold.b3.p is 'x' and not of type"),
        (lambda m: m["gold"]["b3"].update(p=True), "gold.b3.p is True"),
        (lambda m: m.update(silver={}), "the unknown field 'silver'"),
        (lambda m: m.update(documents={}), "documents is not a list"),
        (lambda m: m.update(conditions=3), "conditions is not an object"),
        (
            lambda m: m["raw"]["per_document"]["muc"][1].append(1),
            "raw.per_document.muc[1] has 5 members and not 4",
        ),
        (
            lambda m: m["conditions"]["not_run"].update(gold=1),
            "conditions.not_run.gold is 1",
        ),
    ):
        assert expected in wrong(metrics, change)
    assert list(problems([])) == ["the file is not an object"]


def test_errors_name_the_file(metrics: Dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "coref.json"
    with pytest.raises(ValueError, match="cannot read .*coref.json"):
        read_metrics(path)
    path.write_text("{", encoding="utf8")
    with pytest.raises(ValueError, match="coref.json is not JSON"):
        read_metrics(path)
    for content, message in (
        ([], "coref.json states no version"),
        ({"gold": {}}, "coref.json states no version"),
        ({**metrics, "schema": VERSION + 1}, f"has version {VERSION + 1}"),
        ({**metrics, "documents": 1}, "coref.json: documents is not a list"),
        (
            {**metrics, "documents": metrics["documents"][:1]},
            "per_document.* has 2 rows for 1 documents",
        ),
    ):
        path.write_text(json.dumps(content), encoding="utf8")
        with pytest.raises(ValueError, match=message):
            read_metrics(path)
    check_metrics(metrics, path)


def test_regimes_in_order(metrics: Dict[str, Any]) -> None:
    turned = {"raw": metrics["raw"], "gold": metrics["gold"], "auto": None}
    assert list(regimes_of(turned)) == ["gold", "raw"]


def test_documented() -> None:
    """Every field of the schema has its place in the docs."""
    text = (ROOT / "docs" / "evaluation.md").read_text(encoding="utf8")
    missing = [name for name in names_of(METRICS_FILE) if f"`{name}`" not in text]
    assert missing == []
    assert f"version {VERSION}" in text
