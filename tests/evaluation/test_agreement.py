"""Agreement of annotators."""

from pathlib import Path
from typing import List

import pytest

from spacy_he_coref.corpus.conllu import CorpusError
from spacy_he_coref.evaluation.agreement import annotator_agreement, read_pairs
from tests.util import data_dir


def annotate(path: Path, *brackets: str) -> None:
    rows = [f"מ\t0\t{i}\t_\t{bracket}" for i, bracket in enumerate(brackets)]
    text = "\n".join(["#begin document 1", *rows, "#end document"])
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf8")


def table(tmp_path: Path, *rows: str) -> Path:
    path = tmp_path / "pairs.tsv"
    path.write_text("\n".join(["n\tfile_a\tfile_b", *rows]) + "\n", encoding="utf8")
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    annotate(tmp_path / "one" / "a.conllu", "(1)", "(1)", "(2)", "(2)")
    annotate(tmp_path / "one" / "b.conllu", "(7)", "(7)", "(7)", "(7)")
    annotate(tmp_path / "two" / "c.conllu", "(1)", "(1)", "(3)", "(2)")
    return tmp_path


def test_means_over_pairs(folder: Path) -> None:
    seen: List[int] = []

    def track(pairs):  # type: ignore[no-untyped-def]
        for pair in pairs:
            seen.append(pair.line)
            yield pair

    pairs = table(folder, "1\ta.conllu\tb.conllu", "", "1\ta.conllu\tc.conllu")
    metrics, conditions = annotator_agreement(folder, pairs, track=track)
    assert seen == [2, 4]
    # MUC: all of 2 and 2 of 3 links; then 1 of 2 and all of 1.
    assert metrics["muc"] == {"p": 75.0, "r": 83.33, "f1": 73.33}
    assert metrics["mentions"] == {"p": 75.0, "r": 100.0, "f1": 83.33}
    assert metrics["conll_f1"] == pytest.approx(
        sum(metrics[name]["f1"] for name in ("muc", "b3", "ceafe")) / 3, abs=0.01
    )
    assert conditions["pairs"] == 2
    assert conditions["files"] == 3
    assert conditions["notes"] == []
    metrics, _ = annotator_agreement(folder, pairs, singletons=True)
    assert metrics["mentions"]["f1"] == 100.0


def test_an_annotation_without_clusters(folder: Path) -> None:
    annotate(folder / "d.conllu", "(1)", "_", "_", "_")
    annotate(folder / "e.conllu", "_", "_", "_", "(2)")
    pairs = table(folder, "1\td.conllu\te.conllu")
    metrics, conditions = annotator_agreement(folder, pairs)
    assert (metrics["conll_f1"], conditions["empty_pairs"]) == (0.0, 1)


def test_stray_brackets_are_left_out(folder: Path) -> None:
    annotate(folder / "d.conllu", "(1)", "(1)", "(2)", "(2)|5)")
    pairs = table(folder, "1\ta.conllu\td.conllu")
    metrics, conditions = annotator_agreement(folder, pairs)
    assert metrics["conll_f1"] == 100.0
    assert len(conditions["notes"]) == 1
    assert "d.conllu: bracket left out: line 5:" in conditions["notes"][0]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("1\ta.conllu\tnone.conllu", "line 2: there is no file none.conllu"),
        ("1\ta.conllu", "line 2: not two names"),
        ("1\ta.conllu\tlonger.conllu", "longer.conllu, line 1|a.conllu, line 1"),
        ("", "no pairs"),
    ],
)
def test_mistakes(folder: Path, row: str, message: str) -> None:
    annotate(folder / "longer.conllu", "_", "_", "_", "_", "_")
    with pytest.raises(CorpusError, match=message):
        annotator_agreement(folder, table(folder, row))


def test_mistakes_in_files(folder: Path) -> None:
    path = folder / "pairs.txt"
    path.write_text("a.conllu b.conllu\n", encoding="utf8")
    with pytest.raises(CorpusError, match="line 1: the first line must name"):
        read_pairs(path)
    pairs = table(folder, "1\ta.conllu\tb.conllu")
    annotate(folder / "two" / "a.conllu", "_")
    with pytest.raises(CorpusError, match="has the same name"):
        annotator_agreement(folder, pairs)
    (folder / "empty").mkdir()
    with pytest.raises(CorpusError, match="no \\*.conllu files"):
        annotator_agreement(folder / "empty", pairs)


def test_the_annotators_of_kibutzr() -> None:
    """Over some more pairs the data's README has 87.3, 84.0, 81.1, 79.4, 78.9."""
    directory = data_dir() / "kibutzr" / "annotation"
    if not directory.is_dir():
        pytest.skip("no annotations")
    metrics, conditions = annotator_agreement(directory, directory / "pairs.tsv")
    assert conditions["pairs"] == 983
    found = [metrics[n]["f1"] for n in ("mentions", "muc", "b3", "ceafe", "lea")]
    assert found == [87.21, 84.06, 81.11, 79.36, 78.94]
