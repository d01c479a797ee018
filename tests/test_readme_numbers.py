"""The numbers of the README's result tables are those of the files in metrics/."""

import json
import re
from typing import Any, Dict, List

import pytest

from tests.util import ROOT

Table = Dict[str, Dict[str, str]]

REGIMES = {
    "gold mentions": "gold_mentions",
    "gold segments": "gold",
    "written words (auto)": "auto",
    "raw text": "raw",
}
COREF = {
    "MUC F1": "muc",
    "B³ F1": "b3",
    "CEAF-e F1": "ceafe",
    "LEA F1": "lea",
}
SYNTAX = {
    "UPOS": "upos",
    "FEATS": "feats",
    "lemmas": "lemmas",
    "UAS": "uas",
    "LAS": "las",
    "LAS with subtypes": "las_subtypes",
}
SEGMENTATION = {
    "morphemes, F1 inside aligned words": "morpheme_f1",
    "morphemes, F1 of each sentence's multiset": "levi_tsarfaty_f1",
    "CoNLL 2018 words, F1": "conll18_words_f1",
    "words right": "words_right",
    "words of several morphemes right": "multi_words_right",
    "prefixes, F1": "prefix_f1",
    "clitics, F1": "clitic_f1",
    "covert articles, F1": "covert_article_f1",
    "base forms of changed hosts right": "base_forms_right",
    "written words of the tokenizer, F1": "tokens_f1",
}
# The file of each setting of the detector.
SETTINGS = {
    "balanced": "mentions",
    "recall": "mentions_recall",
    "precision": "mentions_precision",
}
TREES = {"gold trees": "gold_trees", "raw text": "raw"}


def read_tables() -> List[Table]:
    """The tables of the README: by the first cell of each row its cells by column."""
    text = (ROOT / "README.md").read_text(encoding="utf8")
    tables: List[Table] = []
    for block in re.findall(r"(?:^\|.*\n)+", text, flags=re.MULTILINE):
        rows = [
            [re.sub(r"[`*]", "", cell).strip() for cell in line.strip("| ").split("|")]
            for line in block.replace("||", "| |").splitlines()
        ]
        header, _, *body = rows
        columns = header if len(header) == len(body[0]) else ["", *header]
        tables.append({row[0]: dict(zip(columns, row)) for row in body})  # noqa: B905
    return tables


def table_with(row: str) -> Table:
    """The one table that has a row."""
    (table,) = [table for table in read_tables() if row in table]
    return table


def metrics(name: str) -> Dict[str, Any]:
    path = ROOT / "metrics" / f"{name}.json"
    content: Dict[str, Any] = json.loads(path.read_text(encoding="utf8"))
    return content


def check(cell: str, *values: float) -> None:
    """The numbers of a cell are values of the file, rounded to what is shown."""
    numbers = cell.split(" / ")
    assert len(numbers) == len(values), cell
    for number, value in zip(numbers, values, strict=True):
        decimals = len(number.partition(".")[2])
        assert float(number) == pytest.approx(value, abs=0.5001 * 10**-decimals)


def prf(report: Dict[str, float]) -> List[float]:
    return [report["p"], report["r"], report["f1"]]


def test_coreference() -> None:
    table, found = table_with("CoNLL F1"), metrics("coref")
    for column, regime in REGIMES.items():
        for row, metric in COREF.items():
            check(table[row][column], found[regime][metric]["f1"])
        check(table["CoNLL F1"][column], found[regime]["conll_f1"])
        cell = table["mentions P / R / F1"][column]
        check(cell, *prf(found[regime]["mentions"]))
    assert len(table) == len(COREF) + 2


def test_tags_and_trees() -> None:
    table, found = table_with("UPOS"), metrics("syntax")
    for row, metric in SYNTAX.items():
        for column, regime in (("gold segments", "gold"), ("raw text", "raw")):
            check(table[row][f"he_coref, {column}"], found[regime][metric])
    check(table["sentences, F1"]["he_coref, raw text"], found["sents_f1"])
    assert len(table) == len(SYNTAX) + 1


@pytest.mark.parametrize("setting", SETTINGS)
def test_mention_candidates(setting: str) -> None:
    row, found = f"he_mentions, {setting}", metrics(SETTINGS[setting])
    table = table_with(row)
    for column, given in TREES.items():
        check(table[row][column], *prf(found[given]))


def test_mentions_by_kind() -> None:
    found = metrics("mentions")
    (table,) = [t for t in read_tables() if "clitic" in next(iter(t.values()))]
    for row, given in TREES.items():
        for kind, report in found[given]["by_kind"].items():
            check(table[row][kind], report["f1"])


def test_segmentation() -> None:
    table = table_with("words right")
    (saved,) = [name for name in table["words right"] if "published" in name]
    columns = {
        saved: "segmentation_saved",
        "he_segmenter_light": "segmentation_light",
        "he_coref": "segmentation",
    }
    for column, name in columns.items():
        found = metrics(name)
        for row, metric in SEGMENTATION.items():
            check(table[row][column], found[metric])
    assert len(table) == len(SEGMENTATION)


def test_other_numbers_are_noticed() -> None:
    check("61.9 / 50", 61.85, 50.2)
    for cell, values in (("61.7", [61.85]), ("61.9", [61.85, 1]), ("50 / 3", [50, 4])):
        with pytest.raises(AssertionError):
            check(cell, *values)
