"""The report of one system and of several, on the toy corpus."""

from pathlib import Path
from typing import Any, Dict, List, Mapping

import pytest

from spacy_he_coref.evaluation.page import (
    Block,
    Excerpt,
    Heading,
    Plot,
    Table,
    Text,
    to_html,
    to_markdown,
)
from spacy_he_coref.evaluation.published import LANGUAGE_MODELS, TRAINED
from spacy_he_coref.evaluation.report import build_report, write_report
from spacy_he_coref.evaluation.run import document_names
from spacy_he_coref.evaluation.schema import REGIMES
from spacy_he_coref.evaluation.systems import System
from tests.evaluation.metrics import as_another, scored_worse, toy_docs, toy_metrics
from tests.evaluation.test_page import check_html


@pytest.fixture(scope="module")
def words(corpus: Path) -> Dict[str, Any]:
    """Whole words are tokens, so there are errors."""
    return toy_metrics(corpus, segments=False)


@pytest.fixture(scope="module")
def right(corpus: Path) -> Dict[str, Any]:
    return toy_metrics(corpus)


@pytest.fixture(scope="module")
def texts(corpus: Path) -> Mapping[str, str]:
    docs = toy_docs(corpus)
    return dict(zip(document_names(docs), (doc.text for doc in docs), strict=True))


def tables(blocks: List[Block]) -> Dict[str, Table]:
    return {block.caption: block for block in blocks if isinstance(block, Table)}


def said(blocks: List[Block]) -> str:
    return " ".join(block.text for block in blocks if isinstance(block, Text))


def test_one_system(words: Dict[str, Any], texts: Mapping[str, str]) -> None:
    blocks = build_report([System("toy 1", ["toy.json"], [words])], texts)
    found = tables(blocks)
    headline = found["CoNLL F1, with 95% intervals"]
    assert len(headline.columns) == len(headline.rows[0]) == 5
    assert headline.rows[0][:2] == ["toy 1", "100.0 (100.0 to 100.0)"]
    assert f"{words['raw']['conll_f1']:.1f} (" in str(headline.rows[0][4])
    steps = found["What each step explains of the gap to 100"].rows
    assert len(steps) == 5 and steps[-1][2] == 100.0
    share = sum(float(str(row[4]).rstrip("%")) for row in steps[1:])
    assert share == pytest.approx(100, abs=2)
    chapters = [b.text for b in blocks if isinstance(b, Heading) and b.level == 2]
    assert len(chapters) == len(set(chapters)) == 10
    # No segmenter: said here too.
    assert "pipeline has no he_segmenter" in said(blocks)
    for table in found.values():
        assert all(len(row) == len(table.columns) for row in table.rows), table.caption
    check_html(to_html(blocks))


def test_every_table_has_all_documents_and_kinds(
    words: Dict[str, Any], texts: Mapping[str, str]
) -> None:
    found = tables(build_report([System("toy 1", ["toy.json"], [words])], texts))
    by_document = found["Correct / missed / extra clusters by document"]
    assert [row[0] for row in by_document.rows] == list(texts)
    kinds = found["Kind of mention: F1, mentions | links"]
    gold = sum(int(row[1] or 0) for row in kinds.rows)
    assert gold == words["gold"]["counts"]["gold_mentions"]


def test_excerpts_are_the_marked_text(
    words: Dict[str, Any], texts: Mapping[str, str]
) -> None:
    system = System("toy 1", ["toy.json"], [words])
    excerpts = [b for b in build_report([system], texts) if isinstance(b, Excerpt)]
    assert excerpts
    for item in excerpts:
        assert item.marks
        for mark in item.marks:
            inside = item.text[mark.start : mark.end]
            assert any(inside in text for text in texts.values())
            assert mark.name in ("predicted", "gold", "other")
    none = build_report([system], {})
    assert not [b for b in none if isinstance(b, Excerpt)]
    assert "--corpus" in said(none)


def test_two_systems(
    words: Dict[str, Any], right: Dict[str, Any], texts: Mapping[str, str]
) -> None:
    systems = [
        System("toy 1", ["a.json"], [right]),
        System("toy 2", ["b.json"], [scored_worse(words, "toy")]),
    ]
    blocks = build_report(systems, texts)
    found = tables(blocks)
    difference = found["toy 1 less toy 2"]
    assert difference.rows[0][0] == "CoNLL F1"
    assert all(str(cell).startswith("+") for cell in difference.rows[0][1:])
    assert len(found["CoNLL F1, with 95% intervals"].rows) == 2
    assert "Clusters: toy 1" in found and "Clusters: toy 2" in found
    for table in found.values():
        assert all(len(row) == len(table.columns) for row in table.rows), table.caption
    check_html(to_html(blocks))
    assert "toy 2" in to_markdown(blocks)


def test_a_regime_that_was_not_run(right: Dict[str, Any]) -> None:
    """A dash in its column, and the reason."""
    partly = as_another(right, "partly", not_run={"gold_mentions": "it does not."})
    del partly["gold_mentions"], partly["ladder"]
    blocks = build_report(
        [System("a 1", ["a"], [right]), System("b 1", ["b"], [partly])], {}
    )
    row = tables(blocks)["CoNLL F1, with 95% intervals"].rows[1]
    assert row[1] is None and row[2] == "100.0 (100.0 to 100.0)"
    assert "No figures for gold mentions: it does not." in said(blocks)
    alone = build_report([System("b 1", ["b"], [partly])], {})
    assert len(tables(alone)["CoNLL F1, with 95% intervals"].columns) == 4


def test_seeds(right: Dict[str, Any]) -> None:
    runs = [right, scored_worse(right, "x")]
    blocks = build_report([System("toy 1", ["a", "b"], runs)], {})
    cell = str(tables(blocks)["CoNLL F1, with 95% intervals"].rows[0][1])
    assert cell == "75.0 (75.0 to 75.0), ± 35.4 over 2 seeds"
    assert "first seed, `a`" in said(blocks)


def test_one_regime_and_nothing_beside(corpus: Path) -> None:
    metrics = toy_metrics(corpus, regimes=["gold"])
    for key in ("segmentation", "mention_detection"):
        metrics.pop(key, None)
    blocks = build_report([System("toy 1", ["a"], [metrics])], {})
    assert "Segmentation: no figures" in said(blocks)
    assert any(isinstance(block, Plot) for block in blocks)
    check_html(to_html(blocks))


def test_published_values_are_as_stated() -> None:
    stated = {(row.system, row.regime): row.conll_f1 for row in TRAINED}
    assert stated["LingMess-He, DictaBERT", "gold"] == 50.4
    assert stated["LingMess-He, AlephBERT", "auto"] == 42.8
    for row in (*TRAINED, *LANGUAGE_MODELS):
        assert row.regime in REGIMES and row.split == "KibutzR test"
        if row.muc and row.b3 and row.ceafe and row.conll_f1:
            mean = (row.muc + row.b3 + row.ceafe) / 3
            assert row.conll_f1 == pytest.approx(mean, abs=0.1)


def test_files(right: Dict[str, Any], tmp_path: Path) -> None:
    systems = [System("toy 1", ["a"], [right])]
    paths = write_report(tmp_path / "new" / "reports", systems, {})
    assert [path.name for path in paths] == ["report.md", "report.html"]
    before = [path.read_bytes() for path in paths]
    write_report(tmp_path / "new" / "reports", systems, {})
    assert [path.read_bytes() for path in paths] == before
