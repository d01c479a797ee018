"""Every format: round trips, several documents, empty ones, errors."""

import io
import json
import warnings
from pathlib import Path
from typing import List

import pytest
from spacy.language import Language
from spacy.tokens import Doc

from spacy_he_coref.cli.convert import SourceFormat, TargetFormat
from spacy_he_coref.coref.clusters import get_clusters, set_clusters
from spacy_he_coref.corpus.conllu import CorpusError
from spacy_he_coref.formats.documents import LossWarning, blank_pipeline
from spacy_he_coref.formats.table import (
    FORMATS,
    WRITABLE,
    file_stem,
    format_of_name,
    get_format,
    read_docs,
    recognise_format,
    write_docs,
)
from tests.formats.docs import clusters, marked, over_morphemes, samples, singletons

WITH_TEXT = [name for name in WRITABLE if name not in ("conll", "kibutzr")]
NAMES = list(samples(blank_pipeline()))


@pytest.fixture(scope="module")
def nlp() -> Language:
    return blank_pipeline()


def there_and_back(
    docs: List[Doc], name: str, folder: Path, nlp: Language
) -> List[Doc]:
    format = FORMATS[name]
    path = folder / ("x" + format.extensions[0]) if format.several else folder / "x"
    assert write_docs(docs, format, path) == len(docs)
    return list(read_docs(path, format, nlp))


@pytest.mark.smoke
@pytest.mark.parametrize("sample", NAMES)
@pytest.mark.parametrize("name", WITH_TEXT)
def test_text_and_clusters_come_back(
    nlp: Language, name: str, sample: str, tmp_path: Path
) -> None:
    doc = samples(nlp)[sample]
    with warnings.catch_warnings():
        # What is lost is said: white space before the first word, by WebAnno only.
        warnings.simplefilter("error", LossWarning)
        if (name, sample) == ("webanno", "hard"):
            warnings.filterwarnings("ignore", "Document a: white space", LossWarning)
        (back,) = there_and_back([doc], name, tmp_path, nlp)
    expected = doc.text
    if (name, sample) == ("webanno", "hard"):
        expected = "  " + doc.text[2:]
    assert back.text == expected
    assert clusters(back) == clusters(doc)
    assert singletons(back) == singletons(doc)
    assert doc._.source["id"].replace(":", "_") == back._.source["id"].replace(":", "_")
    # Twice is as once.
    (again,) = there_and_back([back], name, tmp_path / "again", nlp)
    assert again.text == back.text and clusters(again) == clusters(back)
    assert [t.text for t in again] == [t.text for t in back]
    assert again._.morphemes == back._.morphemes


@pytest.mark.parametrize("sample", NAMES)
@pytest.mark.parametrize("name", ["conll", "kibutzr"])
def test_morphemes_and_clusters_come_back(
    nlp: Language, name: str, sample: str, tmp_path: Path
) -> None:
    doc = samples(nlp)[sample]
    (back,) = there_and_back([doc], name, tmp_path, nlp)
    forms = [m.form for m in doc._.morphemes if not doc[m.token].is_space]
    assert [m.form for m in back._.morphemes] == forms
    if sample != "hard":
        assert over_morphemes(back) == over_morphemes(doc)
    assert len(get_clusters(back)) == len(get_clusters(doc))
    assert [len(g) for g in get_clusters(back)] == [len(g) for g in get_clusters(doc)]
    if sample.startswith("story"):
        assert [s.text for s in back.sents] and len(list(back.sents)) == 2


@pytest.mark.parametrize("name", ["corefud", "spacy"])
@pytest.mark.parametrize("number", [0, 1, 2])
def test_tags_and_trees_come_back(
    nlp: Language, name: str, number: int, tmp_path: Path
) -> None:
    doc = samples(nlp)[f"story {number}"]
    (back,) = there_and_back([doc], name, tmp_path, nlp)
    assert back._.morphemes == doc._.morphemes
    for ours, theirs in zip(doc, back, strict=True):
        for attr in ("text_with_ws", "pos_", "lemma_", "dep_", "is_sent_start"):
            assert getattr(ours, attr) == getattr(theirs, attr), attr
        assert ours.head.i == theirs.head.i
        assert str(ours.morph) == str(theirs.morph)
        assert ours._.segment_kind == theirs._.segment_kind


@pytest.mark.filterwarnings("ignore::spacy_he_coref.formats.documents.LossWarning")
@pytest.mark.parametrize("name", WRITABLE)
def test_several_documents(nlp: Language, name: str, tmp_path: Path) -> None:
    docs = list(samples(nlp).values())
    for i, doc in enumerate(docs):
        doc._.source = {"id": f"d{i}"}
    back = there_and_back(docs, name, tmp_path, nlp)
    assert [doc._.source["id"] for doc in back] == [f"d{i}" for i in range(len(docs))]
    for ours, theirs in zip(docs, back, strict=True):
        assert [len(group) for group in get_clusters(theirs)] == [
            len(group) for group in get_clusters(ours)
        ]
    format = FORMATS[name]
    if not format.several:
        with pytest.raises(ValueError, match="holds one document"):
            write_docs(docs, format, tmp_path / f"one{format.extensions[0]}")
        assert not (tmp_path / f"one{format.extensions[0]}").exists()


@pytest.mark.filterwarnings("ignore::spacy_he_coref.formats.documents.LossWarning")
@pytest.mark.parametrize("name", WRITABLE)
@pytest.mark.parametrize("text", ["", " \n\n "])
def test_documents_without_words(
    nlp: Language, name: str, text: str, tmp_path: Path
) -> None:
    doc = marked(nlp, text, [])
    if name in ("corefud", "kibutzr", "webanno"):
        with pytest.warns(LossWarning, match="Document a: it has no words"):
            write_docs([doc], FORMATS[name], tmp_path / "a.x")
        if name != "webanno":
            assert not (tmp_path / "a.x").exists() or not (tmp_path / "a.x").read_text()
            return
    (back,) = there_and_back([doc], name, tmp_path, nlp)
    lost = ("conll", "webanno")
    assert back.text == ("" if name in lost else text)
    assert not get_clusters(back)


@pytest.mark.parametrize("name", WRITABLE)
def test_no_documents(nlp: Language, name: str, tmp_path: Path) -> None:
    format = FORMATS[name]
    path = tmp_path / ("x" + format.extensions[0])
    assert write_docs([], format, path) == 0
    if format.several:
        assert list(read_docs(path, format, nlp)) == []


def test_crossing_mentions(nlp: Language, tmp_path: Path) -> None:
    text = "אחד שתיים שלוש ארבע"
    # The second cluster crosses the first, the third itself, a singleton both.
    rows = [[(0, 9), (15, 19)], [(4, 14), (0, 3)]]
    doc = marked(nlp, text, rows)
    for name in WRITABLE:
        if name == "markdown":
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("error", LossWarning)
            (back,) = there_and_back([doc], name, tmp_path / name, nlp)
        assert over_morphemes(back) == over_morphemes(doc), name
    with pytest.warns(LossWarning, match="'שתיים שלוש' is left out"):
        (back,) = there_and_back([doc], "markdown", tmp_path / "md", nlp)
    assert clusters(back) == [[(0, 9), (15, 19)]] and singletons(back) == [(0, 3)]
    # A singleton gives way to a mention that corefers.
    doc = marked(nlp, text, [[(0, 9)], [(4, 14), (15, 19)]])
    with pytest.warns(LossWarning, match="'אחד שתיים' is left out"):
        (back,) = there_and_back([doc], "markdown", tmp_path / "md", nlp)
    assert clusters(back) == [[(4, 14), (15, 19)]] and singletons(back) == []
    doc = marked(nlp, text, [[(0, 9), (4, 14), (15, 19)]])
    for name in ("conll", "kibutzr", "corefud"):
        with pytest.warns(LossWarning, match="crosses another one of its cluster"):
            (back,) = there_and_back([doc], name, tmp_path / name, nlp)
        assert clusters(back) == [[(0, 9), (15, 19)]]
    for name in ("jsonl", "brat", "webanno", "spacy"):
        (back,) = there_and_back([doc], name, tmp_path / name, nlp)
        assert clusters(back) == clusters(doc)


def test_mentions_over_sentences(nlp: Language, tmp_path: Path) -> None:
    doc = marked(nlp, "אחד. שתיים. שלוש.", [[(0, 11), (5, 10)], [(12, 16)]])
    for token in doc:
        token.is_sent_start = token.i % 2 == 0
    for name in ("kibutzr", "corefud"):
        with pytest.warns(LossWarning, match="goes on in the next sentence"):
            (back,) = there_and_back([doc], name, tmp_path / name, nlp)
        assert clusters(back) == []
        assert len(list(back.sents)) == 3
    for name in ("conll", "webanno"):
        (back,) = there_and_back([doc], name, tmp_path / name, nlp)
        assert clusters(back) == clusters(doc)
        assert len(list(back.sents)) == 3


def test_confidences(nlp: Language, tmp_path: Path) -> None:
    doc = nlp.make_doc("דנה ראתה את דנה ואותה שם")
    spans, back, links = (
        [(0, 1), (3, 4), (4, 5), (5, 6)],
        [-1, 0, 1, -1],
        [0, 0.5, 0.9, 0],
    )
    set_clusters(
        doc, spans, [0, 0, 0, 1], back, links, [1, 1, 1, 0.25], singletons=True
    )
    doc._.source = {"id": "a"}
    (read,) = there_and_back([doc], "jsonl", tmp_path, nlp)
    assert read._.coref.to_dict() == doc._.coref.to_dict()
    assert read._.coref[0].links == [None, 0.5, 0.9]
    (read,) = there_and_back([doc], "spacy", tmp_path, nlp)
    assert read._.coref[0].antecedents == [None, 0, 1]
    for name in ("corefud", "brat", "webanno", "markdown"):
        (read,) = there_and_back([doc], name, tmp_path / name, nlp)
        assert read._.coref[0].confidence is None


def test_documents_of_one_name(nlp: Language, tmp_path: Path) -> None:
    docs = [marked(nlp, text, [], "texts/a.txt") for text in ("אחת", "שתיים", "שלוש")]
    docs.append(marked(nlp, "ארבע", [], ""))
    write_docs(docs, FORMATS["markdown"], tmp_path)
    files = sorted(path.name for path in tmp_path.iterdir())
    assert files == ["4.md", "a.md", "a_2.md", "a_3.md"]
    assert (tmp_path / "a_3.md").read_text("utf8") == "שלוש"
    # Without a name the file and its content have the same number.
    write_docs(docs[2:], FORMATS["corefud"], f"{tmp_path}/corefud/")
    content = (tmp_path / "corefud" / "2.conllu").read_text("utf8")
    assert content.startswith("# newdoc id = 2\n")


def test_brat_by_the_name_of_its_text(nlp: Language, tmp_path: Path) -> None:
    doc = samples(nlp)["one word"]
    path = tmp_path / "a.txt"
    write_docs([doc], FORMATS["brat"], path)
    assert path.read_text("utf8") == doc.text
    (back,) = read_docs(path, FORMATS["brat"], nlp)
    assert clusters(back) == clusters(doc)


@pytest.mark.parametrize(
    "name,stem",
    [
        ("htb:12_1", "htb_12_1"),
        ("a b/ג ד.jsonl:3", "ג_ד.jsonl_3"),
        ("..", "document"),
        ("א" * 200, "א" * 100),
        ("a.v2", "a.v2"),
    ],
)
def test_file_names(name: str, stem: str) -> None:
    assert file_stem(name) == stem


def test_trees_of_some_documents(nlp: Language, tmp_path: Path) -> None:
    docs = [samples(nlp)["story 0"], marked(nlp, "שלום. דנה", [], "b")]
    docs[1][2].is_sent_start = True
    with pytest.warns(LossWarning, match="its trees are left out"):
        back = there_and_back(docs, "spacy", tmp_path, nlp)
    assert [len(list(doc.sents)) for doc in back] == [2, 2]
    assert not back[0].has_annotation("DEP")
    # In CorefUD every document is for itself.
    back = there_and_back(docs, "corefud", tmp_path, nlp)
    assert [doc.has_annotation("DEP") for doc in back] == [True, False]


def test_streams(nlp: Language) -> None:
    doc = samples(nlp)["story 0"]
    for name in ("conll", "corefud", "jsonl", "markdown", "webanno", "kibutzr"):
        stream = io.StringIO()
        write_docs([doc], FORMATS[name], stream)
        assert stream.getvalue() == FORMATS[name].render(doc, "story:0", 1)
    stream = io.TextIOWrapper(io.BytesIO())
    write_docs([doc], FORMATS["spacy"], stream)
    assert len(stream.buffer.getvalue()) > 100
    with pytest.raises(ValueError, match="two files"):
        write_docs([doc], FORMATS["brat"], io.StringIO())
    with pytest.raises(ValueError, match="several. Give a folder"):
        write_docs([doc, doc], FORMATS["markdown"], io.StringIO())
    with pytest.raises(ValueError, match="cannot be written as lingmess"):
        write_docs([doc], FORMATS["lingmess"], io.StringIO())


def test_names(tmp_path: Path) -> None:
    assert get_format("CoNLL2012") is FORMATS["conll"]
    assert get_format("inception") is FORMATS["webanno"]
    with pytest.raises(ValueError, match="There is no format 'x'. Choose one of jsonl"):
        get_format("x")
    assert format_of_name("a/b.CONLLU") is FORMATS["corefud"]
    assert format_of_name("a/b.txt") is None
    assert [format.value for format in SourceFormat] == list(FORMATS)
    assert [format.value for format in TargetFormat] == list(WRITABLE)


@pytest.mark.filterwarnings("ignore:Document x. the second number")
def test_recognised_by_content(nlp: Language, tmp_path: Path) -> None:
    doc = samples(nlp)["story 0"]
    for name, file in [
        ("kibutzr", "a.conllu"),
        ("corefud", "a.conllu"),
        ("conll", "a.conll"),
        ("jsonl", "a.jsonl"),
    ]:
        path = tmp_path / file
        path.write_text(FORMATS[name].render(doc, "a", 1), "utf8")
        assert recognise_format(path) is FORMATS[name]
        (back,) = read_docs(path)
        assert len(get_clusters(back)) == 2
    path = tmp_path / "a.jsonlines"
    row = {"sentences": [["דנה", "היא"]], "clusters": [[[0, 1], [1, 2]]]}
    path.write_text(json.dumps({"doc_key": "x", **row}), "utf8")
    (back,) = read_docs(path)
    assert back.text == "דנה היא" and clusters(back) == [[(0, 3), (4, 7)]]
    # What the note about it advises.
    row["clusters"] = [[[0, 1]]]
    path.write_text(json.dumps({"doc_key": "x", **row}), "utf8")
    assert singletons(next(read_docs(path))) == [(0, 3)]
    inclusive = get_format("lingmess-inclusive")
    assert singletons(next(read_docs(path, inclusive))) == [(0, 7)]
    row = {"cased_words": ["דנה", "היא"], "clusters": [[[0, 1]]]}
    path.write_text(json.dumps({"document_id": "x", **row}), "utf8")
    assert singletons(next(read_docs(path))) == [(0, 3)]


def test_nothing_to_read(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="none: there is no such file"):
        list(read_docs(tmp_path / "none"))
    with pytest.raises(CorpusError, match="no file in this folder"):
        list(read_docs(tmp_path))
    (tmp_path / "a.docx").write_text("x")
    with pytest.raises(CorpusError, match="Say the format with --from"):
        list(read_docs(tmp_path / "a.docx"))
    (tmp_path / "a.spacy").write_text("x")
    with pytest.raises(CorpusError, match="a.spacy: not a file of spaCy's DocBin"):
        list(read_docs(tmp_path / "a.spacy"))
