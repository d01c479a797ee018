"""Markdown: what is written, what language models answer, and errors."""

from pathlib import Path
from typing import Any, List

import pytest
from spacy.tokens import Doc

from spacy_he_coref.corpus.conllu import CorpusError
from spacy_he_coref.formats.documents import blank_pipeline
from spacy_he_coref.formats.markdown import read_markdown_docs, render_markdown
from tests.formats.docs import clusters, marked, singletons

NLP = blank_pipeline()


def read(folder: Path, source: str) -> Doc:
    path = folder / "a.md"
    path.write_bytes(source.encode("utf8"))
    (doc,) = read_markdown_docs(path, NLP)
    return doc


def test_written() -> None:
    doc = marked(
        NLP,
        "דנה [ואחיה] הלכו_הביתה\\.",
        [[(0, 3), (9, 10)], [(6, 10)], [(0, 10), (17, 22)], [(0, 3)]],
    )
    assert render_markdown(doc, "a", 1) == (
        "[[[דנה](#2)](#) \\[ו[אחי[ה](#2)](#)](#1)\\] הלכו\\_[הביתה](#1)\\\\."
    )


@pytest.mark.parametrize(
    "source,text,groups,alone",
    [
        # Labels behind several brackets, as in the prompt.
        ("[הם](#) הלכו ל[בית של [דנה]](#)(#)", "הם הלכו לבית של דנה", [], 3),
        (
            "[בית של [דנה]](#1)(#2) ו[דנה](#1)",
            "בית של דנה ודנה",
            [[(7, 10), (12, 15)]],
            1,
        ),
        ("[דנה](#אשה) [היא](#אשה)", "דנה היא", [[(0, 3), (4, 7)]], 0),
        # Text that only looks like it.
        ("[א] (ב) [ג](ד) (#1) ](#2)", "[א] (ב) [ג](ד) (#1) ](#2)", [], 0),
        ("[[דנה] כן](#1)", "[דנה] כן", [], 1),
        ("[דנה](#1)(#1)", "דנה(#1)", [], 1),
        ("\\[א](#1) \\א \\\\", "[א](#1) \\א \\", [], 0),
        ("\ufeffכן\r\n", "כן\r\n", [], 0),
        ("", "", [], 0),
    ],
)
def test_read(
    tmp_path: Path, source: str, text: str, groups: List[Any], alone: int
) -> None:
    doc = read(tmp_path, source)
    assert doc.text == text
    assert clusters(doc) == groups and len(singletons(doc)) == alone


@pytest.mark.parametrize(
    "source,text,places",
    [
        ("[הכנות_ _של_ _הם](#)", "הכנותם", [(0, 6)]),
        ("כן: [בית_ _של_ [_אנחנו](#)](#) ", "כן: ביתנו ", [(4, 9), (7, 9)]),
        ("ב[טיפול_ _של_ [_הוא]](#)(#).", "בטיפולו.", [(1, 7), (6, 7)]),
        ("[ל_ _הוא](#) [דנה](#)", "לו דנה", [(0, 2), (3, 6)]),
        ("[אמא](#) ראתה [אות_ _הוא](#)", "אמא ראתה אותו", [(0, 3), (9, 13)]),
        # Written by us such text is escaped.
        ("בית\\_ \\_של\\_ \\_הוא", "בית_ _של_ _הוא", []),
        ("בית_ _של_ דנה", "בית_ _של_ דנה", []),
    ],
)
def test_clitics_that_are_written_out(
    tmp_path: Path, source: str, text: str, places: List[Any]
) -> None:
    doc = read(tmp_path, source)
    assert doc.text == text
    assert singletons(doc) == places


def test_morphemes_that_are_written_out(tmp_path: Path) -> None:
    doc = read(tmp_path, "ראיתי בית_ _של_ _אנחנו. [כל](#) בת_ _של_ _היא")
    assert [t.text for t in doc] == ["ראיתי", "בית", "נו", ".", "כל", "בת", "ה"]
    assert doc[2]._.morphemes == ("_של_", "_אנחנו") and doc[2].norm_ == "אנחנו"


def test_errors(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="a.md, line 2: a mention without text"):
        read(tmp_path, "כן\nא [](#1)")
    with pytest.raises(CorpusError, match="a.md, line 1: .* nothing but white"):
        read(tmp_path, "[ ](#1)")
    (tmp_path / "b.md").write_bytes("כן\n".encode() + "דנה".encode("cp1255"))
    with pytest.raises(CorpusError, match="b.md, line 2: not UTF-8"):
        list(read_markdown_docs(tmp_path / "b.md", NLP))
