"""CoNLL-U of Docs, with mentions as CorefUD has them."""

import re
from pathlib import Path
from typing import Dict, List, Sequence, Tuple

import pytest
import spacy
from spacy.tokens import Doc

from spacy_he_coref.corpus.conllu import read_conllu
from spacy_he_coref.corpus.docs import MENTIONS, morpheme_rows
from spacy_he_coref.corpus.export import TypedMention, doc_to_conllu
from spacy_he_coref.retokenizer import retokenize
from spacy_he_coref.tokens import Morpheme, set_analysis, tokens_to_morphemes
from tests.corpus.test_docs import TEXTS, corpus  # noqa: F401
from tests.corpus.test_morphemes import parsed
from tests.segmenter.helpers import segmented


def rows(lines: Sequence[str]) -> List[List[str]]:
    return [line.split("\t") for line in lines if line and line[0] != "#"]


def entities(lines: Sequence[str]) -> List[Tuple[int, int, str]]:
    """The spans of the brackets: first and last word, and type, in order of id."""
    opened: Dict[str, Tuple[int, str]] = {}
    found: Dict[str, Tuple[int, int, str]] = {}
    position = -1
    for row in rows(lines):
        if "-" in row[0]:
            assert "Entity=" not in row[9]
            continue
        position += 1
        misc = dict(item.split("=", 1) for item in row[9].split("|") if "=" in item)
        value = misc.get("Entity", "")
        # As readers of CorefUD split it.
        parts = [p for p in re.split(r"(\([^()]+\)?|[^()]+\))", value) if p]
        assert "".join(parts) == value
        for part in parts:
            name, _, kind = part.strip("()").partition("-")
            if part[0] == "(":
                assert name not in opened
                opened[name] = (position, kind)
            if part[-1] == ")":
                found[name] = (opened[name][0], position, opened[name][1])
    assert set(found) == set(opened)
    return [found[name] for name in sorted(found, key=lambda name: int(name[1:]))]


@pytest.mark.parametrize("name", list(TEXTS))
def test_toy_corpus(corpus, name: str, tmp_path: Path) -> None:  # noqa: F811
    doc, _ = corpus[name]
    mentions = [TypedMention(s.start, s.end, "x") for s in doc.spans[MENTIONS]]
    lines = list(doc_to_conllu(doc, name, 7, mentions))
    assert lines[:2] == [f"# newdoc id = {name}", "# global.Entity = eid-etype"]
    assert lines[2] == "# sent_id = 7-1"
    path = tmp_path / "doc.conllu"
    path.write_text("\n".join(lines) + "\n", encoding="utf8")
    sentences = read_conllu(path)
    nodes = [node for sentence in sentences for node in sentence.nodes]
    for node, row in zip(nodes, morpheme_rows(doc), strict=True):
        assert (node.form, node.lemma, node.upos, node.feats) == row[:4]
        assert (node.head, node.deprel) == row[4:]
    texts = [line[9:] for line in lines if line.startswith("# text = ")]
    assert " ".join(texts) == doc.text
    for sentence, text in zip(sentences, texts, strict=True):
        spelled = "".join(w.text + " " * w.space_after for w in sentence.words)
        assert spelled.strip() == text
    spans = tokens_to_morphemes(doc, [m[:2] for m in mentions])
    assert sorted(entities(lines)) == sorted((a, b - 1, "x") for a, b in spans)


def test_lines() -> None:
    doc = parsed(
        segmented("דבריו  בשטחים.\n"),
        [0, 0, 0, 4, 0, 0, 0],
        ["ROOT", "nmod:poss", "dep", "case", "nmod", "punct", "dep"],
        ["Gender=Masc", "", "", "", "Definite=Def", "", ""],
        ["NOUN", "PRON", "SPACE", "ADP", "NOUN", "PUNCT", "SPACE"],
    )
    kinds = [TypedMention(0, 5, "nominal"), TypedMention(1, 2, "clitic")]
    lines = list(doc_to_conllu(doc, "a/b  c.txt", 2, [*kinds, TypedMention(4, 5, "x")]))
    assert lines == [
        "# newdoc id = a/b c.txt",
        "# global.Entity = eid-etype",
        "# sent_id = 2-1",
        "# text = דבריו בשטחים.",
        "1-3\tדבריו\t_\t_\t_\t_\t_\t_\t_\tSpan=0:5|SpacesAfter=\\s\\s",
        "1\tדבר\t_\tNOUN\t_\tGender=Masc\t0\troot\t_\tEntity=(e1-nominal|Seg=0:4",
        "2\t_של_\tשל\tADP\t_\t_\t3\tcase:gen\t_\tSeg=4:4",
        "3\t_הוא\t_\tPRON\t_\t_\t1\tnmod:poss\t_\tEntity=(e2-clitic)|Seg=4:5",
        "4-6\tבשטחים\t_\t_\t_\t_\t_\t_\t_\tSpan=7:13|SpaceAfter=No",
        "4\tב\t_\tADP\t_\t_\t6\tcase\t_\tSeg=0:1",
        "5\tה_\tה\tDET\t_\tPronType=Art\t6\tdet:def\t_\tEntity=(e3-x|Seg=1:1",
        "6\tשטחים\t_\tNOUN\t_\t_\t1\tnmod\t_\tEntity=e3)e1)|Seg=1:6",
        "7\t.\t_\tPUNCT\t_\t_\t1\tpunct\t_\tSpan=13:14|SpacesAfter=\\n",
        "",
    ]


@pytest.mark.parametrize(
    "spans,values",
    [
        # Nested: the longer one opens first and closes last.
        ([(0, 3), (0, 1), (1, 3)], ["(e1-k(e2-k)", "(e3-k", "e3)e1)"]),
        ([(0, 3), (0, 2), (2, 3)], ["(e1-k(e2-k", "e2)", "(e3-k)e1)"]),
        # Crossing: names do not run together.
        ([(0, 2), (1, 3)], ["(e1-k", "e1)(e2-k", "e2)"]),
        ([(0, 2), (1, 3), (1, 2)], ["(e1-k", "e1)(e2-k(e3-k)", "e2)"]),
    ],
)
def test_brackets(spans: List[Tuple[int, int]], values: List[str]) -> None:
    doc = spacy.blank("he")("אבא אמא ילד")
    lines = list(doc_to_conllu(doc, "d", 1, [TypedMention(*s, "k") for s in spans]))
    found = [row[9].split("|")[0] for row in rows(lines)]
    assert [v[7:] if v.startswith("Entity=") else "" for v in found] == values
    assert sorted(entities(lines)) == sorted((a, b - 1, "k") for a, b in spans)


def test_without_tags_and_trees() -> None:
    lines = list(doc_to_conllu(segmented("הבית"), "d", 1))
    assert not any("Entity" in line for line in lines)
    assert [row[2:9] for row in rows(lines)] == [["_"] * 7] * 3


@pytest.mark.parametrize("text", ["", " ", "\n\n"])
def test_nothing(text: str) -> None:
    assert list(doc_to_conllu(spacy.blank("he")(text), "d", 1)) == []


def test_a_word_spelled_otherwise_is_a_range(corpus) -> None:  # noqa: F811
    doc: Doc = corpus["mini:2_1"][0]
    found = rows(list(doc_to_conllu(doc, "d", 1)))
    ranges = {row[1]: row[0] for row in found if "-" in row[0]}
    assert ranges["לתשובה"] == "5-7"
    assert "עובדים" not in ranges
    doc = spacy.blank("he")("אנו")
    set_analysis(doc, 0, "אנו", (Morpheme("אנחנו", 0, 3, "word"),))
    found = rows(list(doc_to_conllu(retokenize(doc), "d", 1)))
    assert [row[:2] for row in found] == [["1-1", "אנו"], ["1", "אנחנו"]]
