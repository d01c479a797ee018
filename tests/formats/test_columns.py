"""CorefUD: what is written, what udapi reads, and files of other tools."""

import re
from pathlib import Path

import pytest
from spacy.language import Language

from spacy_he_coref.corpus.conllu import CorpusError
from spacy_he_coref.formats.columns import (
    read_corefud_docs,
    read_kibutzr_docs,
    render_conll2012,
    render_corefud,
    render_kibutzr,
)
from spacy_he_coref.formats.documents import LossWarning, blank_pipeline
from tests.coref.helpers import stories
from tests.formats.docs import clusters, marked, samples, singletons

FOREIGN = """
# newdoc id = חדשות
# global.Entity = eid-etype-head-other
# sent_id = 1
# text = דבריו בבית.
1-3	דבריו	_	_	_	_	_	_	_	_
1	דבר	דבר	NOUN	_	Gender=Masc	0	root	_	Entity=(e1--1
2	_של_	של	ADP	_	_	3	case:gen	_	_
3	_הוא	הוא	PRON	_	_	1	nmod:poss	_	Entity=(e2-person)
4-6	בבית	_	_	_	_	_	_	_	SpaceAfter=No
4	ב	ב	ADP	_	_	6	case	_	_
5	ה_	ה	DET	_	_	6	det	_	Entity=(e3
6	בית	בית	NOUN	_	_	1	nmod	_	Entity=e3)e1)
7	.	.	PUNCT	_	_	1	punct	_	_

# sent_id = 2
1	שלו	_	_	_	_	_	_	_	Entity=(e2)|SpacesAfter=\\s\\n
2-3	שלה	_	_	_	_	_	_	_	_
2	של	של	ADP	_	_	_	_	_	_
3	ה	הוא	PRON	_	_	_	_	_	_

# newdoc
1	כן	_	_	_	_	_	_	_	_

""".lstrip()


@pytest.fixture(scope="module")
def nlp() -> Language:
    return blank_pipeline()


def write(path: Path, content: str) -> Path:
    path.write_text(content, encoding="utf8")
    return path


def entities(content: str) -> list:
    return re.findall(r"Entity=([^|\n]+)", content)


def test_corefud_of_another_tool(nlp: Language, tmp_path: Path) -> None:
    path = write(tmp_path / "x.conllu", FOREIGN)
    first, second = read_corefud_docs(path, nlp)
    assert first.text == "דבריו בבית. שלו \nשלה"
    assert first._.source == {"id": "חדשות"} and second._.source == {"id": "x 2"}
    kinds = {t.text: t._.segment_kind for t in first}
    assert [t.text for t in first][:5] == ["דברי", "ו", "ב", "בית", "."]
    assert first[1]._.morphemes == ("_של_", "_הוא") and first[1].norm_ == "הוא"
    assert first[3]._.morphemes == ("ה_", "בית")
    assert (
        str(first[3].morph) == "Definite=Def" and str(first[0].morph) == "Gender=Masc"
    )
    assert kinds["ה"] == "clitic" and kinds["ב"] == "prefix"
    assert clusters(first) == [[(4, 5), (12, 15)]]
    assert singletons(first) == [(0, 10), (7, 10)]
    assert [s.text for s in first.sents] == ["דבריו בבית.", "שלו \nשלה"]
    assert first[3].head.i == 0 and first[3].dep_ == "nmod"
    assert second.text == "כן" and not clusters(second)


def test_corefud_lines(nlp: Language) -> None:
    doc = marked(nlp, "\nדנה ו אחיה \t", [[(1, 4), (10, 11)], [(7, 11)]], "א  ב")
    assert render_corefud(doc, "א  ב", 3).split("\n") == [
        "# newdoc id = א ב",
        "# global.Entity = eid-etype-head-other",
        "# sent_id = 3-1",
        "# text = דנה ו אחיה",
        "1\tדנה\t_\t_\t_\t_\t_\t_\t_\tEntity=(d3e1)|Span=1:4|SpacesBefore=\\n",
        "2\tו\t_\t_\t_\t_\t_\t_\t_\tSpan=5:6",
        "3-4\tאחיה\t_\t_\t_\t_\t_\t_\t_\tSpan=7:11|SpacesAfter=\\s\\t",
        "3\tאחי\t_\t_\t_\t_\t_\t_\t_\tEntity=(d3e2|Seg=0:3",
        "4\t_היא\t_\t_\t_\t_\t_\t_\t_\tEntity=(d3e1)d3e2)|Seg=3:4",
        "",
        "",
    ]


def test_heads_are_of_the_tree(nlp: Language) -> None:
    found = entities(render_corefud(samples(nlp)["story 0"], "x", 1))
    # אחי|ה has its first word as head, ב|בית its article is not.
    assert found[:4] == ["(d1e1--1)", "(d1e2--1", "(d1e1--1)d1e2)", "(d1e3--2"]


def test_udapi_reads_the_same_clusters(nlp: Language, tmp_path: Path) -> None:
    udapi = pytest.importorskip("udapi")
    docs = list(samples(nlp).values())
    content = "".join(
        render_corefud(doc, f"d{i}", i) or "" for i, doc in enumerate(docs, start=1)
    )
    document = udapi.Document(str(write(tmp_path / "x.conllu", content)))
    expected = sum(len(clusters(d)) + len(singletons(d)) for d in docs)
    assert len(document.coref_entities) == expected
    story = stories()[0]
    first = [e for e in document.coref_entities if e.eid.startswith("d1e")]
    texts = [[" ".join(w.form for w in m.words) for m in e.mentions] for e in first]
    assert texts[0] == ["דנה", "ה", "היא"]
    assert [len(t) for t in texts] == [len(c) for c in clusters(story)] + [1]
    # It writes the brackets as we do; to those without a tree it adds a head.
    document.store_conllu(str(tmp_path / "y.conllu"))
    ours, theirs = (entities(p.read_text("utf8")) for p in sorted(tmp_path.iterdir()))
    n = sum("--" in entity for entity in ours)
    assert n > 10 and ours[:n] == theirs[:n] and len(ours) == len(theirs)


@pytest.mark.parametrize(
    "old,new,message",
    [
        ("4-6\tבבית", "4-x\tבבית", "line 9: the range of 'בבית' does not fit"),
        ("4-6\tבבית", "3-6\tבבית", "line 9: the range of 'בבית' does not fit"),
        ("2-3\tשלה", "2-4\tשלה", "line 17: the range of 'שלה' does not fit"),
        ("(e2-person)", "(e2-person", "line 8: the mention of e2"),
        ("\t1\tnmod\t", "\t9\tnmod\t", "line 12: head 9"),
        ("0\troot\t_\tEntity=(e1--1", "0\troot\t_\tEntity=(e1--1|Seg=x:1", None),
        ("# global", "# Global", "line 6: mentions, but no line"),
    ],
)
def test_bad_corefud(
    nlp: Language, tmp_path: Path, old: str, new: str, message: str
) -> None:
    assert old in FOREIGN
    path = write(tmp_path / "x.conllu", FOREIGN.replace(old, new, 1))
    if message is None:
        # Seg of one word only is not used.
        assert len(list(read_corefud_docs(path, nlp))) == 2
        return
    with pytest.raises(CorpusError, match=re.escape(message)):
        list(read_corefud_docs(path, nlp))


def test_bad_letters(nlp: Language, tmp_path: Path) -> None:
    content = render_corefud(samples(nlp)["one word"], "x", 1)
    for old, new, message in [
        ("Seg=4:5", "Seg=3:5", "line 5: Seg of its words: Analysis of 'דבריו'"),
        ("Seg=4:5", "Seg=a:5", "line 5: Seg=a:5 is no pair of letters"),
    ]:
        path = write(tmp_path / "x.conllu", content.replace(old, new))
        with pytest.raises(CorpusError, match=re.escape(message)):
            list(read_corefud_docs(path, nlp))


def test_discontinuous_mentions(nlp: Language, tmp_path: Path) -> None:
    content = (
        FOREIGN.replace("Entity=(e1--1", "Entity=(e1[1/2]--1)")
        .replace("Entity=(e3", "Entity=(e3(e1[2/2]--1")
        .replace("e3)e1)", "e3)e1[2/2])")
    )
    path = write(tmp_path / "x.conllu", content)
    with pytest.warns(LossWarning, match="1 discontinuous mentions, of which the part"):
        first = next(read_corefud_docs(path, nlp))
    assert singletons(first) == [(0, 4), (7, 10)]


def test_columns_without_text(nlp: Language) -> None:
    doc = samples(nlp)["one word"]
    assert render_conll2012(doc, "a b", 1).split("\n") == [
        "#begin document (a_b); part 000",
        "a_b\t0\t0\tדברי\t-\t*\t-\t-\t-\t-\t*\t(1",
        "a_b\t0\t1\t_הוא\t-\t*\t-\t-\t-\t-\t*\t(2)|1)",
        "",
        "#end document",
        "",
    ]
    assert render_kibutzr(doc, "a  b", 1).split("\n") == [
        "#begin document a b",
        "דברי\t0\t0\t_\t(0",
        "_הוא\t0\t1\t_\t0)|(1)",
        "#end document",
        "",
    ]


def test_names_of_kibutzr(nlp: Language, tmp_path: Path) -> None:
    content = render_kibutzr(samples(nlp)["one word"], "x", 1)
    for stem, name in [("htb_12_1", "htb:12_1"), ("my_text", "my_text")]:
        (doc,) = read_kibutzr_docs(write(tmp_path / f"{stem}.conllu", content), nlp)
        assert doc._.source == {"id": name}
