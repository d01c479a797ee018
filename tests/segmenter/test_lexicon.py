"""Tables of words, and the files that they are made from."""

import gzip
from pathlib import Path

import pytest

from spacy_he_coref.segmenter.lexicon import WordTable, read_lexicon, write_lexicon

VALUES = {"בית": 3.2, "ארץ": 0.5, "של": 25.5, "רב": 900.0}


def test_lookup() -> None:
    table = WordTable(VALUES)
    assert table.lookup(["ארץ", "בית", "אין", "רב"]).tolist() == pytest.approx(
        [0.5, 3.2, 0.0, 25.5]
    )
    assert table.lookup([]).shape == (0,)
    assert WordTable({}).lookup(["בית"]).tolist() == [0.0]


def test_table_survives_bytes() -> None:
    table = WordTable(VALUES)
    again = WordTable.from_bytes(table.to_bytes())
    assert len(again) == 4
    assert again.lookup(list(VALUES)).tolist() == table.lookup(list(VALUES)).tolist()
    with pytest.raises(ValueError, match="cut off"):
        WordTable.from_bytes(table.to_bytes()[:-1])


def test_lexicon_file(tmp_path: Path) -> None:
    path = tmp_path / "lexicon.tsv.gz"
    write_lexicon(path, VALUES)
    assert read_lexicon(path) == VALUES
    with gzip.open(path, "wt", encoding="utf8") as file:
        file.write("בית\t3\nארץ\n")
    with pytest.raises(ValueError, match=r"lexicon.tsv.gz:2.*corpus lexicon"):
        read_lexicon(path)
