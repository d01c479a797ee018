"""JSON lines with offsets: what else is read, and errors."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from spacy_he_coref.corpus.conllu import CorpusError
from spacy_he_coref.formats.documents import blank_pipeline
from spacy_he_coref.formats.offsets import read_jsonl_docs
from tests.formats.docs import clusters, singletons

NLP = blank_pipeline()


def write(folder: Path, *rows: Any) -> Path:
    path = folder / "a.jsonl"
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    path.write_text("\n".join(lines), encoding="utf8")
    return path


def test_short_forms(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        {
            "text": "דנה ואחיה",
            "clusters": [[[8, 9, {}], [0, 3]], [{"start": 5, "end": 9}]],
        },
        "",
        {"id": 7, "text": "👩 דנה ", "singletons": [[2, 6]], "more": 1},
        {"text": "כן", "clusters": None},
    )
    first, second, third = read_jsonl_docs(path, NLP)
    assert clusters(first) == [[(0, 3), (8, 9)]] and singletons(first) == [(5, 9)]
    assert first._.source == {"id": "a:1"} and second._.source == {"id": "7"}
    # White space at the end of a mention is left out of it.
    assert singletons(second) == [(2, 5)]
    assert third._.source == {"id": "a:4"} and not clusters(third)


@pytest.mark.parametrize(
    "row,message",
    [
        ('{"text": ', "not JSON"),
        ([], "not an object"),
        ({"clusters": []}, 'no "text"'),
        (
            {"text": "דנה", "clusters": {}, "singletons": 1},
            '"singletons" must be a list',
        ),
        ({"text": "דנה", "clusters": [3]}, "3 is not a cluster"),
        ({"text": "דנה", "clusters": [{"mentions": 3}]}, '"mentions" must be a list'),
        ({"text": "דנה", "clusters": [[3]]}, "3 is not a mention"),
        ({"text": "דנה", "clusters": [[[0]]]}, "[0] is not a mention"),
        ({"text": "דנה", "clusters": [[[0, True]]]}, "[0, true] is not a mention"),
        ({"text": "דנה", "clusters": [[[0, 4]]]}, "goes from character 0 to 4"),
        ({"text": "דנה", "clusters": [[[2, 2]]]}, "goes from character 2 to 2"),
        ({"text": "א  ב", "clusters": [[[1, 3]]]}, "nothing but white space"),
        (
            {"text": "👩 דנה", "singletons": [{"start": 3, "end": 6, "text": "דנה"}]},
            "a mention at 3:6 is 'דנה', but the text has 'נה' there",
        ),
        ({"text": "א" * 1_000_001}, "exceeds maximum"),
    ],
)
def test_errors(tmp_path: Path, row: Any, message: str) -> None:
    path = write(tmp_path, {"text": "כן"}, row)
    with pytest.raises(CorpusError, match=f"a.jsonl, line 2: .*{re.escape(message)}"):
        list(read_jsonl_docs(path, NLP))
