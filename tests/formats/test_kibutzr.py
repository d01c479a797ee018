"""KibutzR files as records."""

from pathlib import Path

import pytest

from spacy_he_coref.corpus.conllu import CorpusError
from spacy_he_coref.formats.kibutzr import read_kibutzr_records

GOOD = """\
#begin document 9
דנה	0	0	_	(0)
ו	0	1	_	_
אח	0	2	_	(1
_של_	0	3	_	_
_היא	0	4	_	(0)|1)

הם	1	0	_	(1)
#end document"""


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "htb_9_2.conllu"
    path.write_text(text, encoding="utf8")
    return path


def test_reads(tmp_path: Path) -> None:
    path = write(tmp_path, GOOD)
    (record,) = read_kibutzr_records(path)
    assert record.name == "htb:9_2"
    assert record.aliases == ("nw/9",)
    assert record.sentences == [["דנה", "ו", "אח", "_של_", "_היא"], ["הם"]]
    assert record.clusters == [[(0, 1), (4, 5)], [(2, 5), (5, 6)]]
    assert record.place == f"{path}, line 1"


def test_brackets_without_counterpart(tmp_path: Path) -> None:
    text = GOOD.replace("(0)|1)", "0)").replace("(1)\n", "(1)|5)\n")
    path = write(tmp_path, text)
    with pytest.raises(CorpusError, match="line 6: '0\\)' closes"):
        list(read_kibutzr_records(path))
    (record,) = read_kibutzr_records(path, strict=False)
    assert record.clusters == [[(0, 1)], [(5, 6)]]
    assert [note[:26] for note in record.notes] == [
        "bracket left out: line 6: ",
        "bracket left out: line 4: ",
        "bracket left out: line 8: ",
    ]
