import pytest

from spacy_he_coref.corpus.conllu import CorpusError, read_conllu

GOOD = """\
# sent_id = 7
# text = בבית שלי.
1-3	בבית	_	_	_	_	_	_	_	_
1	ב	ב	ADP	ADP	_	3	case	_	_
2	ה_	ה	DET	DET	PronType=Art	3	det:def	_	_
3	בית	בית	NOUN	NOUN	Gender=Masc|Number=Sing	0	root	_	NER=S-FAC
4-5	שלי	_	_	_	_	_	_	_	SpaceAfter=No
4	של_	של	ADP	ADP	_	5	case:gen	_	_
5	_אני	הוא	PRON	PRON	Number=Sing	3	nmod:poss	_	_
6	.	.	PUNCT	PUNCT	_	3	punct	_	_
"""


def write(tmp_path, text):
    path = tmp_path / "a.conllu"
    path.write_bytes(text if isinstance(text, bytes) else text.encode("utf8"))
    return path


@pytest.mark.smoke
@pytest.mark.parametrize("text", [GOOD, GOOD + "\n\n", GOOD.replace("\n", "\r\n")])
def test_reads_words_and_morphemes(tmp_path, text):
    (sentence,) = read_conllu(write(tmp_path, text))
    assert sentence.sent_id == "7"
    assert [n.form for n in sentence.nodes] == ["ב", "ה_", "בית", "של_", "_אני", "."]
    assert [n.head for n in sentence.nodes] == [3, 3, 0, 5, 3, 3]
    assert sentence.nodes[2].ner == "S-FAC"
    assert sentence.nodes[0].ner == "O"
    assert [tuple(word) for word in sentence.words] == [
        ("בבית", 0, 3, True),
        ("שלי", 3, 5, False),
        (".", 5, 6, True),
    ]


def test_empty_nodes_and_byte_order_mark_are_skipped(tmp_path):
    text = GOOD.replace("6\t.", "5.1\tX\t_\t_\t_\t_\t_\t_\t_\t_\n6\t.")
    (sentence,) = read_conllu(write(tmp_path, b"\xef\xbb\xbf" + text.encode("utf8")))
    assert len(sentence.nodes) == 6


@pytest.mark.parametrize(
    "old, new, line, message",
    [
        ("2\tה_\tה\tDET", "2\tה_\tה", 5, "9 columns"),
        ("5\t_אני", "6\t_אני", 9, "5 was expected"),
        ("4-5", "4-4", 8, None),
        ("1-3", "2-3", 3, "range"),
        ("1-3", "1-9", 7, "range"),
        ("\t0\troot", "\t6\tdep", 4, "0 roots"),
        ("\t5\tcase:gen", "\t0\troot", 4, "2 roots"),
        ("\t5\tcase:gen", "\t19\tcase:gen", 8, "head 19"),
        ("\t3\tnmod:poss", "\t4\tnmod:poss", 8, "leads back"),
        ("\t3\tpunct", "\tx\tpunct", 10, "head 'x'"),
        ("6\t.\t.\tPUNCT\tPUNCT\t_\t3\tpunct\t_\t_\n", "6-7\t.", 10, "columns"),
    ],
)
def test_bad_lines_are_named(tmp_path, old, new, line, message):
    path = write(tmp_path, GOOD.replace(old, new))
    if message is None:
        assert len(read_conllu(path)[0].words) == 4
        return
    with pytest.raises(CorpusError, match=message) as error:
        read_conllu(path)
    assert f"a.conllu, line {line}: " in str(error.value)


def test_other_encoding_is_named(tmp_path):
    path = write(tmp_path, GOOD.encode("cp1255"))
    with pytest.raises(CorpusError, match="line 2: byte 0xe1 is not UTF-8"):
        read_conllu(path)


def test_empty_file_has_no_sentences(tmp_path):
    assert read_conllu(write(tmp_path, "")) == []
