"""Systems of one or several metrics files."""

from pathlib import Path
from typing import Any, Dict, List

import pytest

from spacy_he_coref.evaluation.schema import REGIMES, write_metrics
from spacy_he_coref.evaluation.systems import (
    compare_systems,
    document_ids,
    model_name,
    read_systems,
    seed_intervals,
)
from tests.evaluation.metrics import as_another, scored_worse, toy_metrics


@pytest.fixture(scope="module")
def metrics(corpus: Path) -> Dict[str, Any]:
    return toy_metrics(corpus)


def save(directory: Path, *contents: Dict[str, Any]) -> List[str]:
    paths = [str(directory / f"{'abc'[i]}.json") for i in range(len(contents))]
    for path, content in zip(paths, contents, strict=True):
        write_metrics(path, content)
    return paths


def test_one_system_and_seeds(metrics: Dict[str, Any], tmp_path: Path) -> None:
    a, b, c = save(tmp_path, metrics, scored_worse(metrics, "seed"), metrics)
    (system,) = read_systems([f"{a}, {b}"])
    assert system.files == [a, b] and len(system.runs) == 2
    assert system.regimes() == list(REGIMES)
    assert system.conll_f1("gold") == (75.0, 35.36)
    low, high = seed_intervals(system, "gold")
    assert low <= 75 <= high
    (single,) = read_systems([c])
    assert single.conll_f1("gold") == (100.0, 0.0)
    assert seed_intervals(single, "gold") == [100.0, 100.0]


def test_names(metrics: Dict[str, Any], tmp_path: Path) -> None:
    a, b, c = save(tmp_path, metrics, metrics, as_another(metrics, "other"))
    names = [system.name for system in read_systems([a, b, c])]
    assert names[0].endswith("(a)") and names[1].endswith("(b)")
    # Version 0.0.0 is none.
    assert names[2] == "other"
    # Files of one name in two folders.
    (tmp_path / "new").mkdir()
    (moved,) = save(tmp_path / "new", metrics)
    names = [system.name for system in read_systems([a, moved])]
    assert names[0].endswith(f"({a})") and names[1].endswith(f"({moved})")
    versioned = as_another(metrics, "other", model_version="1.2")
    assert model_name(versioned) == "other 1.2"


def test_compared(metrics: Dict[str, Any], tmp_path: Path) -> None:
    paths = save(tmp_path, metrics, scored_worse(metrics, "worse"))
    found = compare_systems(*read_systems(paths))
    assert list(found) == list(REGIMES)
    for regime in REGIMES:
        muc = found[regime]["muc"]
        assert (muc.first, muc.second, muc.difference) == (100.0, 50.0, 50.0)
        assert muc.interval == [50.0, 50.0] and muc.p_value < 0.01


def test_documents_in_another_order(metrics: Dict[str, Any], tmp_path: Path) -> None:
    turned = as_another(metrics, "turned")
    turned["documents"].reverse()
    for regime in REGIMES:
        for scores in (turned[regime], turned[regime].get("carried_over")):
            for rows in (scores or {"per_document": {}})["per_document"].values():
                rows.reverse()
    found = compare_systems(*read_systems(save(tmp_path, metrics, turned)))
    assert all(c.interval == [0.0, 0.0] for c in found["gold"].values())


def test_documents_of_one_name() -> None:
    run = {"documents": [{"id": "a"}, {"id": "b"}, {"id": "a"}]}
    assert document_ids(run) == ["a", "b", "a (2)"]


def test_what_cannot_stand_together(metrics: Dict[str, Any], tmp_path: Path) -> None:
    fewer = as_another(metrics, "fewer")
    name = fewer["documents"].pop()["id"]
    for regime in REGIMES:
        for scores in (fewer[regime], fewer[regime].get("carried_over")):
            for rows in (scores or {"per_document": {}})["per_document"].values():
                rows.pop()
    other_gold = as_another(metrics, "gold")
    for row in other_gold["gold"]["per_document"]["mentions"]:
        row[3] += 1
    for other, message in (
        (fewer, f"b.json and .*a.json have other documents.*{name}"),
        (other_gold, "other gold clusters: in gold, document .* gold mentions"),
        (as_another(metrics, "x", singletons=True), "conditions: singletons is True"),
        (
            as_another(metrics, "x", match="head"),
            "match is head in the first and exact",
        ),
    ):
        paths = save(tmp_path, metrics, other)
        with pytest.raises(ValueError, match=message):
            read_systems(paths)
        with pytest.raises(ValueError, match=message):
            read_systems([",".join(paths)])
    with pytest.raises(ValueError, match="at least one metrics file"):
        read_systems([" , "])


def test_no_regime_in_common(metrics: Dict[str, Any], tmp_path: Path) -> None:
    gold = {key: value for key, value in metrics.items() if key not in REGIMES[2:]}
    raw = {key: value for key, value in metrics.items() if key not in REGIMES[:3]}
    systems = read_systems(save(tmp_path, gold, raw))
    with pytest.raises(
        ValueError, match="no regime in common.*has gold_mentions, gold"
    ):
        compare_systems(*systems)
