import pytest

from spacy_he_coref.corpus.conllu import CorpusError
from spacy_he_coref.corpus.kibutzr import (
    Mention,
    document_id,
    find_kibutzr,
    format_kibutzr,
    read_kibutzr,
)
from tests.util import TOY_KIBUTZR

GOOD = """\
#begin document 9
דנה	0	0	_	(0)
ו	0	1	_	_
אח	0	2	_	(1
_של_	0	3	_	_
_היא	0	4	_	(0)|1)
באו	0	5	_	_

הם	1	0	_	(2)
שמחו	1	1	_	_
#end document"""


def write(tmp_path, text, name="htb:9_2.conllu"):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode("utf8"))
    return path


@pytest.mark.smoke
def test_reads_and_writes(tmp_path):
    document = read_kibutzr(write(tmp_path, GOOD))
    assert document.id == "htb:9_2"
    assert document.n_morphemes == 8
    assert [len(s.forms) for s in document.sentences] == [6, 2]
    assert [s.line for s in document.sentences] == [2, 9]
    assert document.mentions == [
        Mention(0, 1, 0),
        Mention(4, 5, 0),
        Mention(2, 5, 1),
        Mention(6, 7, 2),
    ]
    assert rewrite(document) == GOOD


def rewrite(document):
    return format_kibutzr(
        [s.forms for s in document.sentences],
        document.mentions,
        document.begin,
        document.end,
        document.unusual,
    )


@pytest.mark.parametrize(
    "first, column, last",
    [
        ("(0", "(0)|0)", "_"),
        ("(0", "0)|(0)", "_"),
        ("(0)", "(0|(0)", "0)"),
        ("(0)", "(0)|(0", "0)"),
    ],
)
def test_order_of_brackets_comes_back(tmp_path, first, column, last):
    text = GOOD.replace("דנה\t0\t0\t_\t(0)", f"דנה\t0\t0\t_\t{first}")
    text = text.replace("(0)|1)", f"{column}|1)")
    text = text.replace("באו\t0\t5\t_\t_", f"באו\t0\t5\t_\t{last}")
    assert rewrite(read_kibutzr(write(tmp_path, text))) == text


def test_last_line_end_comes_back(tmp_path):
    assert rewrite(read_kibutzr(write(tmp_path, GOOD + "\n"))) == GOOD + "\n"


@pytest.mark.parametrize(
    "old, new, line, message",
    [
        ("ו\t0\t1\t_\t_", "ו\t0\t1\t_", 3, "4 columns"),
        ("(0)|1)", "(0)", 4, r"\(1 opens a mention that its sentence does not close"),
        ("(0)|1)", "(0)|1)|1)", 6, "'1\\)' closes a mention"),
        ("(0)|1)", "(0)|1", 6, "'1' is not a bracket"),
        ("_\t(2)", "_\t(2", 9, r"\(2 opens"),
        ("באו\t0\t5", "באו\t0\t6", 7, "0/5 is next"),
        ("הם\t1\t0", "הם\t2\t0", 9, "1/0 is next"),
        ("\n\n", "\n", 8, "0/6 is next"),
        ("#begin document 9\n", "", 1, "#begin document"),
        ("#end document", "", 11, "cut off"),
    ],
)
def test_bad_lines_are_named(tmp_path, old, new, line, message):
    path = write(tmp_path, GOOD.replace(old, new))
    with pytest.raises(CorpusError, match=message) as error:
        read_kibutzr(path)
    assert f"conllu, line {line}: " in str(error.value)


def test_other_encoding_is_named(tmp_path):
    with pytest.raises(CorpusError, match="line 2: byte 0xe3 is not UTF-8"):
        read_kibutzr(write(tmp_path, GOOD.encode("cp1255")))


def test_document_id():
    assert document_id("a/htb:12_3.conllu") == "htb:12_3"
    assert document_id("a/htb_12_3.conllu") == "htb:12_3"


def test_finds_every_layout(tmp_path):
    for name, folder in [
        ("repository", "data/conllu/with_singleton"),
        ("data", "conllu/with_singleton"),
        ("conllu", "with_singleton"),
        ("bare", "."),
    ]:
        split = tmp_path / name / folder / "dev"
        split.mkdir(parents=True)
        for number in ("htb:10", "htb:9_2", "htb:9_1"):
            (split / f"{number}.conllu").touch()
        found = find_kibutzr(tmp_path / name)
        assert list(found) == ["dev"]
        stems = [path.stem for path in found["dev"]]
        assert stems == ["htb:9_1", "htb:9_2", "htb:10"]
    assert list(find_kibutzr(TOY_KIBUTZR)) == ["train", "dev"]


def test_says_what_to_give_if_there_is_nothing(tmp_path):
    with pytest.raises(CorpusError, match="hebrew_coreference_data"):
        find_kibutzr(tmp_path)
