"""brat: what is written, what else is read, and errors."""

import re
from pathlib import Path

import pytest

from spacy_he_coref.corpus.conllu import CorpusError
from spacy_he_coref.formats.brat import read_brat_docs, render_brat
from spacy_he_coref.formats.documents import blank_pipeline
from tests.formats.docs import clusters, marked, singletons

NLP = blank_pipeline()
TEXT = "דנה ואחיה\nהגדול הלכו הביתה."


def write(folder: Path, annotations: str, text: str = TEXT) -> Path:
    (folder / "a.txt").write_bytes(text.encode("utf8"))
    (folder / "a.ann").write_text(annotations, encoding="utf8")
    return folder / "a.ann"


def test_lines() -> None:
    doc = marked(NLP, TEXT, [[(0, 3), (8, 9)], [(5, 15)], [(21, 26)]])
    assert render_brat(doc, "a", 1).split("\n") == [
        "T1\tMention 0 3\tדנה",
        "T2\tMention 8 9\tה",
        "T3\tMention 5 9;10 15\tאחיה הגדול",
        "T4\tMention 21 26\tהביתה",
        "*\tCoref T1 T2",
        "",
    ]


def test_other_lines(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "T1\tPerson 0 3\tדנה\n"
        "A1\tGender T1 Fem\n"
        "T7\tX 21 26\tהביתה\n"
        "T3\tPerson 5 9;10 15\tאחיה הגדול\n"
        "T4\tX 8 9\tה\n"
        "T5\tX 0 3\tדנה\n"
        "E1\tGo:T7 Who:T1\n"
        "R1\tCoreference Arg1:T4 Arg2:T1\t\n"
        "R2\tFamily Arg1:T3 Arg2:T1\n"
        "#1\tAnnotatorNotes T1\tnote\n"
        "*\tEquiv T5 T4\n"
        "*\tAlias T1 T7\n",
    )
    (doc,) = read_brat_docs(path, NLP)
    assert doc.text == TEXT and doc._.source == {"id": "a"}
    # One span in the cluster twice is in it once.
    assert clusters(doc) == [[(0, 3), (8, 9)]]
    assert singletons(doc) == [(5, 15), (21, 26)]
    assert [t.text for t in doc][1:4] == ["ו", "אחי", "ה"]


def test_line_ends_and_marks_are_characters(tmp_path: Path) -> None:
    path = write(tmp_path, "T1\tX 6 9\tדנה\n", "\ufeffכן\r\n\tדנה")
    (doc,) = read_brat_docs(path, NLP)
    assert doc.text == "\ufeffכן\r\n\tדנה" and singletons(doc) == [(6, 9)]


@pytest.mark.parametrize(
    "annotations,message",
    [
        ("T1\tX 0 3\tדנ\n", "a.ann, line 1: the mention T1 is 'דנ', but the text has"),
        ("\nT1\tX 0 300\n", "a.ann, line 2: a mention of document a goes from"),
        (
            "T1\tX 3 4\n",
            "a.ann, line 1: a mention of document a at character 3",
        ),
        ("T1\tX 0\n", "a.ann, line 1: 'T1\\tX 0' is no mention like"),
        ("T1\tX 0 3\tדנה\nT1\tX 5 9\n", "a.ann, line 2: 'T1\\tX 5 9' is no mention"),
        ("T1\tX 0 3;10 15\n", "a.ann, line 1: the mention T1 has parts with words"),
        ("T1\tX 4 9;0 3\n", "a.ann, line 1: the mention T1 has parts with words"),
        ("T1\tX 0 3\n*\tCoref T1 T2\n", "a.ann, line 2: there is no mention T2"),
        ("R1\tCoref T1 T2\n", "a.ann, line 1: 'Coref T1 T2' is no relation"),
    ],
)
def test_errors(tmp_path: Path, annotations: str, message: str) -> None:
    path = write(tmp_path, annotations)
    with pytest.raises(CorpusError, match=re.escape(message)):
        list(read_brat_docs(path, NLP))


def test_files_that_are_not_there(tmp_path: Path) -> None:
    path = write(tmp_path, "*\n*\tCoref\n")
    assert singletons(next(read_brat_docs(path, NLP))) == []
    (tmp_path / "a.txt").write_bytes("דנה".encode("cp1255"))
    with pytest.raises(CorpusError, match="a.txt: not UTF-8"):
        list(read_brat_docs(path, NLP))
    (tmp_path / "a.txt").unlink()
    with pytest.raises(CorpusError, match="there is no a.txt beside it"):
        list(read_brat_docs(path, NLP))
