"""WebAnno TSV: what is written, what INCEpTION writes, and errors."""

import re
from pathlib import Path

import pytest
from spacy.tokens import Doc

from spacy_he_coref.corpus.conllu import CorpusError
from spacy_he_coref.formats.documents import LossWarning, blank_pipeline
from spacy_he_coref.formats.webanno import read_webanno_docs, render_webanno
from tests.formats.docs import clusters, marked, singletons

NLP = blank_pipeline()
LAYER = "de.tudarmstadt.ukp.dkpro.core.api.coref.type.CoreferenceLink"
# With a layer that is not read, an older version, and a chain layer of its own.
EXPORTED = f"""#FORMAT=WebAnno TSV 3.2
#T_SP=webanno.custom.Role|
#T_CH={LAYER}|referenceType|referenceRelation
#T_SP=webanno.custom.Two|a|b
#T_CH=webanno.custom.PlaceLink|referenceRelation|referenceType


#Text=דנה 👩 ואחיה
1-1\t0-3\tדנה\t_\tper[1]\tcoref->1-1\t_\t_\t_\t_\t
1-2\t4-6\t👩\t*\t*[1]|x\\|y[2]\t*->1-2|*->2-1\ta\t_\t_\t_\t
1-3\t7-12\tואחיה\t_\t*[2]\t*->2-1\t_\t_\t_\t_\t
1-3.1\t11-12\tה\t_\t*[1]\t*->1-3\t_\t_\t_\t_\t

#Sentence.id=s2
#Text=בחיפה.
#Text=
2-1\t13-18\tבחיפה\t_\t_\t_\t_\t_\t_\t_\t
2-1.1\t14-18\tחיפה\t_\t_\t_\t_\t_\t*->1-1\t*[1]\t
2-2\t18-19\t.\t_\t_\t_\t_\t_\t_\t_\t
"""


def read(folder: Path, content: str) -> Doc:
    path = folder / "a.tsv"
    path.write_text(content, encoding="utf8")
    (doc,) = read_webanno_docs(path, NLP)
    return doc


def test_written() -> None:
    doc = marked(
        NLP,
        "דנה 👩\tואחיה הלכו.\nהיא\\שם\n",
        [[(0, 3), (10, 11), (18, 21)], [(4, 11)], [(6, 10)], [(0, 11)]],
    )
    for token in doc:
        token.is_sent_start = token.i == 0 or token.text == "היא"
    assert render_webanno(doc, "a", 1).split("\n") == [
        "#FORMAT=WebAnno TSV 3.3",
        f"#T_CH={LAYER}|referenceRelation|referenceType",
        # INCEpTION's reader wants two empty lines here, and none at the end.
        "",
        "",
        "#Text=דנה 👩\\tואחיה הלכו.",
        "1-1\t0-3\tדנה\t*->1-1|*->2-1\t*[1]|*[2]\t",
        "1-2\t4-6\t👩\t*->2-1|*->3-1\t*[2]|*[3]\t",
        "1-3\t7-12\tואחיה\t*->2-1|*->3-1\t*[2]|*[3]\t",
        "1-3.1\t7-11\tואחי\t*->4-1\t*[4]\t",
        "1-3.2\t11-12\tה\t*->1-2\t*[1]\t",
        "1-4\t13-17\tהלכו\t_\t_\t",
        "1-5\t17-18\t.\t_\t_\t",
        "",
        "#Text=היא\\\\שם",
        "#Text=",
        "2-1\t19-25\tהיא\\שם\t_\t_\t",
        "2-1.1\t19-22\tהיא\t*->1-3\t*[1]\t",
        "",
    ]


def test_space_between_sentences(tmp_path: Path) -> None:
    text = "אחת. שתיים.\nשלוש.\n\n ארבע.\n  חמש.שש. \n"
    doc = marked(NLP, text, [])
    for token in doc:
        token.is_sent_start = token.i == 0 or token.text in "שתיים שלוש ארבע חמש שש"
    content = render_webanno(doc, "a", 1)
    # Where the reader would fill in something else, the space is written.
    assert re.findall("#Text=(.*)", content) == [
        "אחת. ", "שתיים.", "שלוש.", "", " ", "ארבע.", "חמש.", "שש. ", "",
    ]  # fmt: skip
    back = read(tmp_path, content)
    assert back.text == text
    assert [s.start_char for s in back.sents] == [s.start_char for s in doc.sents]
    with pytest.warns(LossWarning, match="becomes spaces"):
        content = render_webanno(marked(NLP, "\n\tדנה", [[(2, 5)]]), "a", 1)
    back = read(tmp_path, content)
    assert back.text == "  דנה" and singletons(back) == [(2, 5)]


def test_read(tmp_path: Path) -> None:
    doc = read(tmp_path, EXPORTED)
    assert doc.text == "דנה 👩 ואחיה\nבחיפה.\n"
    assert clusters(doc) == [[(0, 3), (4, 5), (10, 11)]]
    assert singletons(doc) == [(4, 11), (13, 17)]
    assert [t.text for t in doc if not t.is_space] == [
        "דנה", "👩", "ואחי", "ה", "ב", "חיפה", ".",
    ]  # fmt: skip
    assert [s.start_char for s in doc.sents] == [0, 12]
    # Windows line ends, and tokens that white space divides or does not name.
    doc = read(tmp_path, EXPORTED.replace("\n", "\r\n"))
    assert clusters(doc) == [[(0, 3), (4, 5), (10, 11)]]
    doc = read(
        tmp_path, "#FORMAT=WebAnno TSV 3.3\n\n#Text=אחד שני! כן\n1-1\t0-7\tאחד שני"
    )
    assert doc.text == "אחד שני! כן"
    assert [t.text for t in doc] == ["אחד", "שני", "!", "כן"]


@pytest.mark.parametrize(
    "old,new,message",
    [
        ("#FORMAT=WebAnno TSV 3.2", "#FORMAT=WebAnno TSV 2", "line 1: the first line"),
        ("\t0-3\t", "\t0\t", "line 9: a token must have at least 10 columns"),
        ("\t*->1-2|*->2-1\ta\t_\t_\t_\t", "\t_", "line 10: a token must have"),
        ("#Text=דנה 👩 ואחיה\n", "", "line 8: a token before the text"),
        ("4-6\t👩", "4-5\t👩", "line 10: the token '👩' is not at 4-5"),
        ("7-12\tואחיה", "3-8\tואחיה", "line 11: the token 'ואחיה' is not at 3-8"),
        ("13-18", "10-15", "line 17: the sentence begins at 10"),
        ("coref->1-1", "coref", "line 9: 'coref' is no link of a chain"),
        ("2-2\t18", "\n#Text=כן\n2-2\t2", "line 21: the sentence begins at 2"),
    ],
)
def test_errors(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in EXPORTED
    with pytest.raises(CorpusError, match=re.escape(f"a.tsv, {message}")):
        read(tmp_path, EXPORTED.replace(old, new, 1))


def test_files_that_end_too_early(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="line 4: a sentence without tokens"):
        read(tmp_path, "#FORMAT=WebAnno TSV 3.3\n\n\n#Text=כן")
    with pytest.raises(CorpusError, match="line 1: the first line must be"):
        read(tmp_path, "")
    assert read(tmp_path, "#FORMAT=WebAnno TSV 3.3\n\n\n").text == ""
