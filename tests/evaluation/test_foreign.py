"""Foreign predictions: pairing of documents, other tokens, heads."""

import json
from pathlib import Path
from typing import Any, List, Optional

import pytest

from spacy_he_coref.corpus.conllu import CorpusError
from spacy_he_coref.evaluation.foreign import pair_documents, score_records
from spacy_he_coref.formats.reading import read_records
from spacy_he_coref.formats.records import CorefRecord
from tests.util import data_dir

# דנה ראתה את אחיה. היא שמחה.
TOKENS = ["דנה", "ראתה", "את", "אח", "_היא", "היא", "שמחה"]
CLUSTERS = [[(0, 1), (4, 5), (5, 6)]]


def record(
    name: str = "א",
    tokens: Optional[List[str]] = TOKENS,
    clusters: Any = CLUSTERS,
    **others: Any,
) -> CorefRecord:
    sentences = None if tokens is None else [tokens[:3], tokens[3:]]
    return CorefRecord(name, sentences, clusters, "f", 3, **others)


def f1(gold: CorefRecord, predicted: CorefRecord, **options: Any) -> float:
    score, _ = score_records([gold], [predicted], **options)
    return score.report()["conll_f1"]


def test_paired_by_name() -> None:
    gold = [record("א"), record("ב"), record("ג")]
    predicted = [record("ג"), record("א")]
    pairs, notes = pair_documents(gold, predicted)
    assert [pair.gold.name for pair in pairs] == ["א", "ב", "ג"]
    assert [p.predicted and p.predicted.name for p in pairs] == ["א", None, "ג"]
    assert notes == []


def test_missing_documents_are_empty_and_said() -> None:
    score, conditions = score_records([record("א"), record("ב")], [record("ב")])
    assert conditions["documents"] == 2
    assert conditions["missing"] == ["א"]
    assert score.report()["muc"] == {"p": 100.0, "r": 50.0, "f1": 66.67}


def test_other_documents_are_an_error() -> None:
    gold = [record("א"), record("ב")]
    with pytest.raises(CorpusError, match="f, line 3: document ד is not in gold"):
        score_records(gold, [record("א"), record("ד")])
    with pytest.raises(CorpusError, match="nor are 2 others"):
        score_records(gold, [record("ד"), record("ה"), record("ו")])
    with pytest.raises(CorpusError, match="is there already"):
        score_records(gold, [record("א"), record("א")])
    with pytest.raises(CorpusError, match="is there already"):
        score_records([record("א"), record("א")], [record("א")])


def test_paired_by_another_name() -> None:
    gold = [record("א", aliases=("nw/1",)), record("ב", aliases=("nw/2",))]
    _, conditions = score_records(gold, [record("nw/2"), record("א")])
    assert conditions["missing"] == []
    assert "1 documents were paired by another name" in conditions["notes"]
    with pytest.raises(CorpusError, match="is there already"):
        score_records(gold, [record("nw/2"), record("ב")])
    # A name that two have is none.
    gold = [record("א", aliases=("nw/1",)), record("ב", aliases=("nw/1",))]
    with pytest.raises(CorpusError, match="not in gold"):
        score_records(gold, [record("nw/1")])


def test_one_document_on_each_side() -> None:
    _, conditions = score_records([record("א")], [record("ב")])
    assert conditions["notes"] == ["ב was taken for א: the same text"]
    for other in (record("ב", TOKENS[:-1]), record("ב", None)):
        with pytest.raises(CorpusError, match="not in gold"):
            score_records([record("א")], [other])
    with pytest.raises(CorpusError, match="not in gold"):
        score_records([record("א", None)], [record("ב", None)])


def test_other_marks_are_the_same_tokens() -> None:
    tokens = ["דָּנָה", "ראתה", "את", "אח", "היא", "היא\u200f", "שמחה"]
    score, conditions = score_records([record()], [record(tokens=tokens)])
    assert conditions["compared_by"] == {"tokens": 1}
    assert score.total.conll_f1 == 1
    clusters = [[(0, 1), (1, 2)]]
    gold, ours = (record(tokens=[w, "_"], clusters=clusters) for w in ("צה״ל", 'צה"ל'))
    assert f1(gold, ours) == 100.0


def test_tokens_cut_in_another_way_are_compared_by_letters() -> None:
    words = ["דנה", "ראתה", "אתאח", "_היאהיא", "שמחה"]
    predicted = record(tokens=words, clusters=[[(0, 1), (3, 4)], [(2, 3), (4, 5)]])
    score, conditions = score_records([record()], [predicted])
    assert conditions["compared_by"] == {"letters": 1}
    # Only דנה is found.
    assert score.report()["mentions"]["p"] == 25.0
    assert score.report()["mentions"]["r"] == pytest.approx(100 / 3, abs=0.01)
    # All, over letters.
    split = ["ד", "נה", *TOKENS[1:]]
    clusters = [[(a + 1 if a else 0, b + 1) for a, b in CLUSTERS[0]]]
    assert f1(record(), record(tokens=split, clusters=clusters)) == 100.0


def test_another_text_is_an_error() -> None:
    for tokens, message in (
        ([*TOKENS[:2], "עם", *TOKENS[3:]], "token 2, 'עם', there token 2, 'את'"),
        (TOKENS[:-1], "here is no more, there token 6, 'שמחה'"),
        ([*TOKENS, "מאוד"], "here is token 7, 'מאוד', there no more"),
    ):
        with pytest.raises(CorpusError, match=message) as error:
            f1(record(), record(tokens=tokens))
        assert str(error.value).startswith("f, line 3: document א has another text")


def test_a_few_other_tokens_in_conll2012() -> None:
    tokens = ["רינה", *TOKENS[1:]]
    gold = record(format="conll2012")
    predicted = record(tokens=tokens, format="conll2012")
    score, conditions = score_records([gold], [predicted])
    assert score.total.conll_f1 == 1
    assert "1 of 7 tokens" in conditions["notes"][0]
    # In another format, of more tokens, or in sentences of other lengths.
    tokens = ["רינה", "פגשה", *TOKENS[2:]]
    sentences = [predicted.tokens[:4], predicted.tokens[4:]]
    for other in (
        predicted._replace(format="jsonl"),
        record(tokens=tokens, format="conll2012"),
        predicted._replace(sentences=sentences),
    ):
        with pytest.raises(CorpusError, match="another text"):
            score_records([gold], [other])


def test_mentions_outside_the_document() -> None:
    """A file without text is checked by the other side."""
    outside = [[(0, 1), (6, 8)]]
    for gold, predicted in (
        (record(), record(tokens=None, clusters=outside)),
        (record(tokens=None, clusters=outside), record()),
        (record(clusters=outside), record()),
        (record(clusters=outside), record(tokens=None)),
    ):
        with pytest.raises(CorpusError, match="token 6 to token 7, but .* 0 to 6"):
            f1(gold, predicted)
    with pytest.raises(CorpusError, match="0 to 6"):
        score_records([record(), record("ב", clusters=outside)], [record()])


def test_without_text_numbers_are_compared() -> None:
    score, conditions = score_records([record()], [record(tokens=None)])
    assert score.total.conll_f1 == 1
    assert conditions["compared_by"] == {"numbers": 1}


def test_what_a_clustering_may_not_have_is_reported() -> None:
    clusters = [[(0, 1), (4, 5), (4, 5), (5, 6)], [(5, 6), (2, 3)], []]
    score, _ = score_records([record()], [record(clusters=clusters)])
    dropped = score.report()["dropped"]["predicted"]
    assert dropped == {
        "repeated": 1,
        "in_two_clusters": 1,
        "empty_clusters": 1,
        "singletons": 1,
    }
    assert score.total.conll_f1 == 1


def test_singletons() -> None:
    predicted = record(clusters=[*CLUSTERS, [(2, 3)]])
    assert f1(record(), predicted) == 100.0
    assert f1(record(), predicted, singletons=True) < 100


TREE = [1, None, 3, 1, 3, 6, None]


def test_heads_come_from_the_file_or_a_tree() -> None:
    gold = record(clusters=[[(0, 1), (2, 5), (5, 6)]], tree=TREE)
    predicted = record(tokens=None, clusters=[[(0, 1), (3, 5), (5, 7)]])
    assert f1(gold, predicted) < f1(gold, predicted, match="head")
    # (5, 7) has the head שמחה by the tree.
    assert f1(gold, predicted, match="partial") == f1(gold, predicted, match="head")
    assert 0 < f1(gold, predicted, match="head") < 100
    # The file's own heads come first.
    heads: List[List[Optional[int]]] = [[0, 3, 5]]
    assert f1(gold, predicted._replace(heads=heads), match="head") == 100.0
    with pytest.raises(ValueError, match="f, line 3: the heads .* document א are not"):
        f1(gold._replace(tree=None), predicted, match="partial")
    letters = record(tokens=["".join(TOKENS)], clusters=[])
    with pytest.raises(ValueError, match="other tokens than gold"):
        f1(gold, letters, match="head")


def test_cases_of_the_reference_scorer() -> None:
    """From file to figure, for all cases with a value of their own. Some responses
    spell a few tokens otherwise than their keys."""
    directory = data_dir() / "scorer_cases"
    if not directory.is_dir():
        pytest.skip("no scorer_cases")
    cases = json.loads((directory / "expected.json").read_text(encoding="utf8"))
    for case in cases:
        if case["id"][0] in "BCDE":
            # Some of their values are placeholders (tests/evaluation/test_coref.py).
            continue
        gold, predicted = (
            read_records(directory / case[side]) for side in ("key", "response")
        )
        score, _ = score_records(gold, predicted, singletons=True)
        for metric, expected in case["recall_precision_f1"].items():
            precision, recall, f = score.total.prf(metric.replace("bcub", "b3"))
            assert [recall, precision, f] == pytest.approx(expected, abs=1e-4), case


def test_kibutzr_against_its_neural_files() -> None:
    data = data_dir() / "kibutzr"
    gold = read_records(data / "conllu" / "with_singleton" / "dev")
    path: Path = data / "neural_input" / "lingmess" / "dev.hebrew.jsonlines"
    score, conditions = score_records(gold, read_records(path))
    assert score.total.conll_f1 == 1
    assert conditions["compared_by"] == {"tokens": 26}
    assert conditions["missing"] == []
