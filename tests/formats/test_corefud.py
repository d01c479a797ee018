"""CorefUD: brackets, discontinuous mentions, empty nodes, heads."""

from pathlib import Path
from typing import Dict, List

import pytest

from spacy_he_coref.corpus.conllu import CorpusError
from spacy_he_coref.formats.corefud import read_corefud
from spacy_he_coref.formats.records import CorefRecord, check_bounds, head_of


def word(index: str, form: str, head: str = "_", entity: str = "") -> str:
    misc = f"Seg=0:1|Entity={entity}" if entity else "_"
    return "\t".join((index, form, *"____", head, "dep", "_", misc))


def read(tmp_path: Path, *lines: str) -> List[CorefRecord]:
    path = tmp_path / "a.conllu"
    path.write_text("\n".join(lines) + "\n", encoding="utf8")
    return list(read_corefud(path))


HEADER = ("# newdoc id = א", "# global.Entity = eid-etype-head-other")


def test_reads_documents(tmp_path: Path) -> None:
    first, second, third = read(
        tmp_path,
        *HEADER,
        "# text = דבריו",
        word("1-3", "דבריו"),
        word("1", "דבר", "0", "(e1-abstract-1-"),
        word("2", "_של_", "3"),
        word("3", "_הוא", "1", "(e2-person-1)e1)"),
        "",
        word("1", "הוא", "2", "(e2-person-1-)"),
        word("2", "שותק", "0"),
        "",
        "# newdoc",
        word("1", "היא", "0", "(e2--1)"),
        "",
        "# newdoc id = ג",
        word("1", "כן", "0"),
    )
    assert (first.name, first.line) == ("א", 1)
    assert first.sentences == [["דבר", "_של_", "_הוא"], ["הוא", "שותק"]]
    assert first.clusters == [[(0, 3)], [(2, 3), (3, 4)]]
    assert first.heads == [[0], [2, 3]]
    assert first.tree == [None, 2, 0, 4, None]
    assert first.notes == ()
    assert (second.name, second.line, second.clusters) == ("a 2", 12, [[(0, 1)]])
    assert (third.name, third.clusters) == ("ג", [])


def test_discontinuous_mentions_are_the_part_with_the_head(tmp_path: Path) -> None:
    def clusters(header: str, last: str, *heads: str) -> CorefRecord:
        (record,) = read(
            tmp_path,
            HEADER[0],
            f"# global.Entity = {header}",
            word("1", "דנה", heads[0], "(e1[1/2]-x-3"),
            word("2", "היפה", heads[1], "e1[1/2])"),
            word("3", "אמרה", heads[2], "(e1-x-1)"),
            word("4", "לוי", heads[3], last),
        )
        return record

    tree = ("3", "1", "0", "1")
    record = clusters("eid-etype-head", "(e1[2/2]-x-3)", *tree)
    assert record.clusters == [[(3, 4), (2, 3)]]
    assert record.heads == [[3, 2]]
    assert "1 discontinuous" in record.notes[0]
    # By the tree; and without one the longest part.
    record = clusters("eid-etype", "(e1[2/2]-x)", *tree)
    assert (record.clusters, record.heads) == ([[(0, 2), (2, 3)]], [[0, 2]])
    record = clusters("eid-etype", "(e1[2/2])", *"____")
    assert (record.clusters, record.heads) == ([[(0, 2), (2, 3)]], [[None, None]])
    assert record.tree is None


def test_empty_nodes_are_no_tokens(tmp_path: Path) -> None:
    (record,) = read(
        tmp_path,
        *HEADER,
        word("0.1", "_", "_", "(e1-x-1)(e2-x-1"),
        word("1", "הלך", "0", "e2)(e3[1/2]-x-2"),
        word("2", "הביתה", "1", "e3[1/2])"),
        word("2.1", "_", "_", "(e1-x-1)"),
        word("3", "מהר", "1", "(e3[2/2]-x-2)"),
    )
    assert record.sentences == [["הלך", "הביתה", "מהר"]]
    # e1 is not written. The head of e2 is not either, so the tree gives another. What
    # is between the parts of e3 is no token, so they are one.
    assert record.clusters == [[(0, 1)], [(0, 3)]]
    assert record.heads == [[0], [1]]
    assert record.notes == ("2 mentions of empty nodes, left out",)


def test_nested_and_crossing(tmp_path: Path) -> None:
    (record,) = read(
        tmp_path,
        "# newdoc id = GUM",
        "# global.Entity = GRP-etype-infstat",
        word("1", "א", "2", "(1-person-new(2-place-giv"),
        word("2", "ב", "0", "1)(1-person-giv"),
        word("3", "ג", "2", "(1-person-giv)2)"),
        word("4", "ד", "2", "1)"),
    )
    assert record.clusters == [[(0, 2), (1, 4), (2, 3)], [(0, 3)]]
    # No field says the head.
    assert record.heads == [[1, 1, 2], [1]]


@pytest.mark.parametrize(
    ("entity", "message"),
    [
        ({3: "e1)"}, "line 3: e1\\) closes"),
        ({3: "(e1-x-1", 5: "e2)"}, "line 5: e2\\) closes"),
        ({4: "(e1-x-1"}, "line 4: the mention of e1 that opens here is not closed"),
        ({4: "(e1[1/2]-x-1)"}, "line 4: the mention of e1"),
        ({4: "(e1[2/2]-x-1)"}, "line 4: .*part 1 does not stand"),
        ({4: "(e1[3/2]-x-1)"}, "line 4: .*part 3 of 2"),
        ({4: "e1"}, "line 4: 'e1' in Entity=e1 is not a bracket"),
        ({4: "(e1-x-two)"}, "line 4: the head of"),
        ({4: "(e1-x-2)"}, "line 4: the head of a mention of e1 is its word 2"),
    ],
)
def test_wrong_brackets(tmp_path: Path, entity: Dict[int, str], message: str) -> None:
    lines = [
        word(str(i), form, "0", entity.get(i + 2, ""))
        for i, form in enumerate("אבג", start=1)
    ]
    with pytest.raises(CorpusError, match=f"a.conllu, {message}"):
        read(tmp_path, *HEADER, *lines)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([*HEADER, "1\tא\t_"], "line 3: 3 columns"),
        ([*HEADER, word("2", "א")], "line 3: word 2 where 1"),
        ([*HEADER, word("1", "א", "5"), ""], "line 3: head 5"),
        ([*HEADER, word("1-2", "א", "_", "(e1-x-1)")], "line 3: .*range line"),
        ([HEADER[0], word("1", "א", "0", "(e1-x-1)")], "line 2: .*global.Entity"),
        ([HEADER[0], word("1", "א", "0")], "no line '# global.Entity"),
        ([HEADER[0], "# global.Entity = etype-head"], "line 2: .*no field eid"),
    ],
)
def test_wrong_lines(tmp_path: Path, lines: List[str], message: str) -> None:
    with pytest.raises(CorpusError, match=message):
        read(tmp_path, *lines)


def test_head_of_a_tree() -> None:
    tree = [1, None, 1, 2, 5, 4]
    assert head_of(tree, [0, 1]) == 1
    assert head_of(tree, [3, 2]) == 2
    # Of two the first one; a cycle ends.
    assert head_of(tree, [0, 2]) == 0
    assert head_of(tree, [4, 5]) == 4


def test_bounds_are_checked() -> None:
    record = CorefRecord("ד", [["א", "ב"]], [[(0, 2)], [(1, 3)]], "f", 7)
    with pytest.raises(CorpusError, match="f, line 7: .*cluster 1 of document ד"):
        check_bounds(record, 2)
    check_bounds(record, 3)
    with pytest.raises(CorpusError, match="from token 1 to token 0"):
        check_bounds(record._replace(clusters=[[(1, 1)]]), 2)
