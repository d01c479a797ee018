"""CoNLL-2012: what is read, and errors that name the line."""

from pathlib import Path
from typing import List

import pytest
import spacy

from spacy_he_coref.corpus.conllu import CorpusError
from spacy_he_coref.corpus.export import doc_to_conll2012
from spacy_he_coref.formats.conll2012 import read_conll2012
from spacy_he_coref.formats.records import CorefRecord
from tests.util import data_dir

GOOD = """\
#begin document (ידיעות/1); part 000
ידיעות/1	0	0	דנה	NOUN	(0)
ידיעות/1	0	1	ו	-	-
ידיעות/1	0	2	אח	NOUN	(1|(2
ידיעות/1	0	3	_היא	PRON	1)|(0)|2)

ידיעות/1	0	0	הם	PRON	(2)
#end document

#begin document (ידיעות/1); part 001
ידיעות/1 1 0 הוא (0)
#end document
"""


def read(tmp_path: Path, text: str) -> List[CorefRecord]:
    path = tmp_path / "a.conll"
    path.write_text(text, encoding="utf8")
    return list(read_conll2012(path))


def test_reads_documents_and_parts(tmp_path: Path) -> None:
    first, second = read(tmp_path, GOOD)
    assert first.name == "ידיעות/1"
    assert first.line == 1
    assert first.sentences == [["דנה", "ו", "אח", "_היא"], ["הם"]]
    assert first.tokens == ["דנה", "ו", "אח", "_היא", "הם"]
    assert first.clusters == [[(0, 1), (3, 4)], [(2, 4)], [(2, 4), (4, 5)]]
    assert (second.name, second.line) == ("ידיעות/1 part 1", 10)
    assert second.clusters == [[(0, 1)]]


def test_the_mention_opened_last_is_closed_first(tmp_path: Path) -> None:
    lines = ["d 0 0 א (7", "d 0 1 ב (7(7)", "d 0 2 ג 7)", "", "d 0 0 ד 7)"]
    text = "\n".join(["#begin document d", *lines, "#end document"])
    (record,) = read(tmp_path, text)
    assert record.name == "d"
    # The last one goes on in the second sentence.
    assert record.clusters == [[(1, 2), (1, 3), (0, 4)]]


def test_lines_without_tokens(tmp_path: Path) -> None:
    text = "#begin document (d);\nd (1)\nd -\nd (1)\n#end document\n"
    (record,) = read(tmp_path, text)
    assert record.sentences is None
    assert record.clusters == [[(0, 1), (2, 3)]]


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("1)|(0)|2)", "1)|(0)|3)", 5, "not open"),
        ("1)|(0)|2)", "1)|(0)", 4, "does not close"),
        ("1)|(0)|2)", "1)|0|2)", 5, "not a bracket"),
        ("ו	-	-", "ו", 3, "4 columns"),
        ("#end document\n\n", "\n", 9, "did not end"),
        ("הוא (0)\n#end document", "הוא (0)", 12, "cut off"),
        ("#begin document (ידיעות/1); part 000\n", "", 1, "outside a document"),
    ],
)
def test_errors_name_the_line(
    tmp_path: Path, old: str, new: str, line: int, message: str
) -> None:
    assert old in GOOD
    with pytest.raises(CorpusError, match=message) as error:
        read(tmp_path, GOOD.replace(old, new))
    assert f"a.conll, line {line}:" in str(error.value)


def test_what_resolve_writes(tmp_path: Path) -> None:
    doc = spacy.blank("he")("דנה פגשה את אחיה ואת דודה")
    clusters = [[(0, 1), (3, 4)], [(3, 6), (3, 5), (5, 6)]]
    lines = doc_to_conll2012(doc, "א ב", clusters)
    (record,) = read(tmp_path, "\n".join(lines))
    assert record.name == "א_ב"
    assert [sorted(cluster) for cluster in record.clusters] == [
        sorted(cluster) for cluster in clusters
    ]


def test_real_cases() -> None:
    directory = data_dir() / "scorer_cases"
    files = [*directory.glob("*.key"), *directory.glob("*.response")]
    assert files or not directory.is_dir()
    for path in files:
        assert len(list(read_conll2012(path))) == 1
