"""Formats are recognised by content, and folders read."""

from pathlib import Path

import pytest

from spacy_he_coref.cli.score import RecordFormat
from spacy_he_coref.corpus.conllu import CorpusError
from spacy_he_coref.formats.reading import FORMATS, read_records, recognise
from tests.util import TOY_KIBUTZR

KIBUTZR = "#begin document 1\nדנה\t0\t0\t_\t(0)\n#end document"
CONLL = "#begin document (א); part 000\nא\t0\t0\tדנה\t(0)\n#end document"
COREFUD = "# newdoc id = א\n# global.Entity = eid\n1\tדנה\t_\t_\t_\t_\t0\t_\t_\t_"
FILES = {
    "kibutzr": KIBUTZR,
    "conll2012": CONLL,
    "corefud": COREFUD,
    "lingmess": '{"doc_key": "א", "sentences": [["דנה"]], "clusters": []}',
    "wl-coref": '{"document_id": "א", "cased_words": ["דנה"], "clusters": []}',
    "jsonl": '\n{"doc": "א", "clusters": []}',
}


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf8")
    return path


@pytest.mark.parametrize("name", FILES)
def test_recognised_by_content(tmp_path: Path, name: str) -> None:
    path = write(tmp_path / "a.txt", FILES[name])
    assert recognise(path) == name
    (record,) = read_records(path)
    assert record.format == name
    assert (record.sentences or [["דנה"]]) == [["דנה"]]


def test_kibutzr_and_conll_differ_in_the_columns(tmp_path: Path) -> None:
    """Both begin alike, and may have five columns."""
    text = CONLL.replace("(א); part 000", "א")
    assert recognise(write(tmp_path / "a", text)) == "conll2012"
    text = CONLL.replace("דנה", "_")
    assert recognise(write(tmp_path / "a", text)) == "conll2012"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: the file is empty"),
        (" \n\n", "line 1: the file is empty"),
        ("דנה הלכה\n", "line 1: not one of the formats"),
        ("# newdoc\n\n1\tדנה\n", "line 3: not one of the formats"),
        ('\n{"text": "דנה", "clusters": []}', "line 2: .*doc_key"),
        ("[]", "line 1: not an object"),
        ("{", "line 1: not JSON"),
    ],
)
def test_not_recognised(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(CorpusError, match=message):
        recognise(write(tmp_path / "a", text))


def test_a_wrong_format_is_an_error(tmp_path: Path) -> None:
    path = write(tmp_path / "a", KIBUTZR)
    for name in set(FORMATS) - {"kibutzr", "conll2012"}:
        with pytest.raises(CorpusError, match="a, line 1: |a, line 2: "):
            read_records(path, name)
    with pytest.raises(CorpusError, match="a corpus of spaCy"):
        read_records(write(tmp_path / "a.spacy", "x"))
    with pytest.raises(CorpusError, match="not UTF-8"):
        (tmp_path / "b").write_bytes("דנה".encode("cp1255"))
        read_records(tmp_path / "b")


def test_folders(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="no such file"):
        read_records(tmp_path / "none")
    with pytest.raises(CorpusError, match="no coreference files"):
        read_records(tmp_path)
    write(tmp_path / "b.conllu", KIBUTZR)
    write(tmp_path / "a.jsonl", FILES["jsonl"])
    write(tmp_path / "README.txt", "דנה")
    assert [record.format for record in read_records(tmp_path)] == ["jsonl", "kibutzr"]
    # A file that is broken is named.
    write(tmp_path / "c.conllu", KIBUTZR.replace("(0)", "(0"))
    with pytest.raises(CorpusError, match="c.conllu, line 2: "):
        read_records(tmp_path)


def test_the_folders_of_kibutzr() -> None:
    names = [record.name for record in read_records(TOY_KIBUTZR)]
    assert names
    assert len(set(names)) == len(names)


def test_the_command_has_all_formats() -> None:
    assert [name.value for name in RecordFormat] == [*FORMATS]
