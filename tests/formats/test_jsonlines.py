"""JSON lines of LingMess, wl-coref and bare spans."""

import json
from pathlib import Path
from typing import Any

import pytest

from spacy_he_coref.corpus.conllu import CorpusError
from spacy_he_coref.corpus.kibutzr import find_kibutzr
from spacy_he_coref.formats.jsonlines import (
    read_lingmess,
    read_span_lines,
    read_wl_coref,
)
from spacy_he_coref.formats.reading import read_records
from tests.util import data_dir

SENTENCES = [["דנה", "ו", "אח", "_היא"], ["הם"]]


def write(tmp_path: Path, *rows: Any) -> Path:
    path = tmp_path / "a.jsonl"
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf8")
    return path


def lingmess(*clusters: Any, **others: Any) -> Any:
    row = {"doc_key": "א", "sentences": SENTENCES, "clusters": [*clusters]}
    return {**row, **others}


def test_lingmess_with_the_token_after_the_last_one(tmp_path: Path) -> None:
    path = write(tmp_path, lingmess([[0, 1], [3, 4]], [[2, 4], [4, 5]]), "")
    (record,) = read_lingmess(path)
    assert (record.name, record.sentences) == ("א", SENTENCES)
    assert record.clusters == [[(0, 1), (3, 4)], [(2, 4), (4, 5)]]
    # So few mentions could be all of several tokens.
    assert "lingmess-inclusive" in record.notes[0]
    (record,) = read_lingmess(path, False)
    assert record.notes == ()
    with pytest.raises(CorpusError, match="line 1: .*from token 4 to token 5"):
        list(read_lingmess(path, True))


def test_lingmess_with_the_last_token(tmp_path: Path) -> None:
    """A mention of one token in one document decides for all."""
    first = lingmess([[2, 3], [0, 2]])
    second = lingmess([[0, 0], [3, 3]], doc_key="ב")
    for inclusive in (None, True):
        records = list(read_lingmess(write(tmp_path, first, second), inclusive))
        assert records[0].clusters == [[(2, 4), (0, 3)]]
        assert records[1].clusters == [[(0, 1), (3, 4)]]
        assert records[0].notes == ()
    with pytest.raises(CorpusError, match="line 2: .*first token"):
        list(read_lingmess(write(tmp_path, first, second), False))
    # Both cannot be.
    second = lingmess([[0, 0], [3, 5]])
    with pytest.raises(CorpusError, match="line 2: .*tokens 0 to 4"):
        list(read_lingmess(write(tmp_path, first, second)))


def test_lingmess_without_clusters(tmp_path: Path) -> None:
    (record,) = read_lingmess(write(tmp_path, lingmess()))
    assert (record.clusters, record.notes) == ([], ())


def test_wl_coref(tmp_path: Path) -> None:
    row = {
        "document_id": "א",
        "part_id": 2,
        "cased_words": ["דנה", "באה", "היא"],
        "sent_id": [0, 0, 1],
        "head": [2, None, None],
        "clusters": [[[0, 1], [2, 3]]],
    }
    (record,) = read_wl_coref(write(tmp_path, row))
    assert record.name == "א part 2"
    assert record.sentences == [["דנה", "באה"], ["היא"]]
    assert record.clusters == [[(0, 1), (2, 3)]]
    assert record.tree == [1, None, None]
    row["span_clusters"] = [[[0, 2], [2, 3]]]
    (record,) = read_wl_coref(write(tmp_path, row))
    assert record.clusters == [[(0, 2), (2, 3)]]
    del row["span_clusters"], row["clusters"]
    row["word_clusters"] = [[0, 2]]
    with pytest.raises(CorpusError, match="line 1: only word_clusters"):
        list(read_wl_coref(write(tmp_path, row)))


def test_bare_spans_include_their_end(tmp_path: Path) -> None:
    rows = [
        {"doc": "א", "clusters": [[[0, 0], [2, 3]], []]},
        {"doc": 7, "clusters": [], "tokens": ["כן"]},
    ]
    first, second = read_span_lines(write(tmp_path, *rows))
    assert (first.name, first.sentences) == ("א", None)
    assert first.clusters == [[(0, 1), (2, 4)], []]
    assert (second.name, second.line, second.sentences) == ("7", 2, [["כן"]])


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("{", "not JSON"),
        ("[1]", "not an object"),
        ({"clusters": []}, '"id" must be'),
        ({"doc": "", "clusters": []}, '"doc" must be'),
        ({"doc": "א"}, '"clusters" must be a list'),
        ({"doc": "א", "clusters": {}}, '"clusters" must be a list'),
        ({"doc": "א", "clusters": [3]}, '"clusters" must be a list'),
        ({"doc": "א", "clusters": [[[1]]]}, "not a mention"),
        ({"doc": "א", "clusters": [[["1", "2"]]]}, "not a mention"),
        ({"doc": "א", "clusters": [[[True, 2]]]}, "not a mention"),
        ({"doc": "א", "clusters": [[[2, 1]]]}, "first token must not be after"),
        ({"doc": "א", "clusters": [[[-1, 1]]]}, "begins at token -1"),
        ({"doc": "א", "clusters": [[[0, 1]]], "tokens": ["א"]}, "tokens 0 to 0"),
        ({"doc": "א", "clusters": [], "tokens": "אב"}, '"tokens" must be'),
        ({"doc": "א", "clusters": [], "sentences": ["אב"]}, '"sentences" must be'),
    ],
)
def test_errors_name_the_line(tmp_path: Path, row: Any, message: str) -> None:
    path = write(tmp_path, {"doc": "ראשון", "clusters": []}, row)
    with pytest.raises(CorpusError, match=message) as error:
        list(read_span_lines(path))
    assert str(error.value).startswith(f"{path}, line 2: ")


def test_kibutzr_for_neural_systems() -> None:
    """Text and clusters are those of KibutzR's own files."""
    data = data_dir() / "kibutzr"
    gold = {
        record.aliases: record
        for path in find_kibutzr(data)["dev"]
        for record in read_records(path)
    }
    for name in ("lingmess/dev", "wl/dev", "wl/dev_head"):
        records = read_records(data / "neural_input" / f"{name}.hebrew.jsonlines")
        assert len(records) == 26
        for record in records:
            ours = gold[record.name,]
            assert record.tokens == ours.tokens
            assert record.notes == ()
            assert sorted(map(sorted, record.clusters)) == sorted(
                sorted(cluster) for cluster in ours.clusters if len(cluster) > 1
            )
