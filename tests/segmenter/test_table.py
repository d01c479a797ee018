"""The table backend: files, documents, and laying morphemes along words."""

import warnings
from pathlib import Path
from typing import List

import pytest
import spacy
from spacy.tokens import Doc

from spacy_he_coref.corpus.conllu import CorpusError
from spacy_he_coref.segmenter.backends.table import (
    TableDocument,
    TableSegmenter,
    TableWord,
    align,
    lay_along,
    read_table,
)
from spacy_he_coref.segmenter.component import make_request
from spacy_he_coref.segmenter.contract import validate_analysis
from spacy_he_coref.tokens import Analysis, is_trivial
from tests.segmenter.helpers import TEXT, analyse, blank, pipeline

MARKED = "דבר _של_ _הוא נאמרו ב ה_ שטחים , ו ל בת _של_ _הוא ש הוא אהב ."
PLAIN = MARKED.replace("_", "")


@pytest.fixture(autouse=True)
def strict():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def expected() -> List[Analysis]:
    return [analyse(token.text) for token in blank()(TEXT)]


def replay(path: Path, text: str = TEXT, id: str = "", **config: str) -> List[Analysis]:
    doc = blank()(text)
    if id:
        doc._.source = {"id": id}
    backend = TableSegmenter(path, **config)
    (analyses,) = list(backend.segment([make_request(doc)]))
    assert len(analyses) == len(make_request(doc).words)
    for word, analysis in zip(make_request(doc).words, analyses, strict=True):
        validate_analysis(word.text, analysis)
    return analyses


def conllu(seg: bool = False) -> str:
    lines = ["# newdoc id = htb:5_1", f"# text = {TEXT}"]
    number = 1
    for token in blank()(TEXT):
        analysis = analyse(token.text)
        if not is_trivial(token.text, analysis):
            end = number + len(analysis) - 1
            lines.append("\t".join((f"{number}-{end}", token.text, *"_" * 8)))
        for m in analysis:
            misc = f"Seg={m.start or 0}:{m.end or 0}" if seg else "_"
            lines.append("\t".join((str(number), m.form, *"_" * 7, misc)))
            number += 1
    return "\n".join([*lines, "", ""])


@pytest.mark.parametrize("text", [MARKED, PLAIN, PLAIN.replace(" ", "\n")])
def test_text_of_morphemes(tmp_path, text: str) -> None:
    path = tmp_path / "htb_5_1"
    path.write_text(text, encoding="utf8")
    assert replay(path) == expected()
    assert replay(path, id="htb:5_1") == expected()


def test_kibutzr_file(tmp_path) -> None:
    path = tmp_path / "htb_5_1.conllu"
    rows = [f"{form}\t0\t{i}\t_\t_" for i, form in enumerate(MARKED.split())]
    lines = ["#begin document 17", *rows[:4], "", *rows[4:], "", "#end document"]
    path.write_text("\n".join(lines), encoding="utf8")
    assert replay(path) == expected()
    assert [document.id for document in read_table(path)] == ["htb_5_1"]


@pytest.mark.parametrize("seg", [False, True])
def test_conllu(tmp_path, seg: bool) -> None:
    path = tmp_path / "dev.conllu"
    path.write_text(conllu(seg), encoding="utf8")
    assert replay(path) == expected()
    assert [document.id for document in read_table(path)] == ["htb:5_1"]


def test_conllu_with_marked_hosts_and_empty_nodes(tmp_path) -> None:
    path = tmp_path / "dev.conllu"
    text = conllu().replace("\tדבר\t", "\tדבר_\t").replace("\tבת\t", "\tבת_\t")
    first = text.index("1-3\t")
    text = text[:first] + "0.1\tריק" + "\t_" * 8 + "\n" + text[first:]
    path.write_text(text, encoding="utf8")
    assert replay(path) == expected()


def test_letters_of_a_file_that_are_wrong_are_found_anew(tmp_path) -> None:
    path = tmp_path / "dev.conllu"
    path.write_text(conllu(True).replace("Seg=0:4", "Seg=0:3"), encoding="utf8")
    assert replay(path) == expected()


def test_other_look_alikes_and_words_cut_otherwise(tmp_path) -> None:
    path = tmp_path / "a.conllu"
    rows = ["1\tצה״ל\t", "2-3\tהבית\t", "2\tה\t", "3\tבית\t", "4\tב־17\t"]
    path.write_text("\n".join(r + "\t".join("_" * 8) for r in rows), encoding="utf8")
    text = 'צה"ל הבית ב-17'
    analyses = replay(path, text, id="a")
    assert [m.form for analysis in analyses for m in analysis] == [
        "צה״ל",
        "ה",
        "בית",
        "ב־17",
    ]
    words = ["צהל", "הבית", "ב", "-", "17"]
    doc = Doc(blank().vocab, words=words)
    doc._.source = {"id": "a"}
    with pytest.warns(UserWarning, match="2 of 5 words"):
        (found,) = TableSegmenter(path).segment([make_request(doc)])
    assert found[1] == analyse("הבית")
    for word, analysis in zip(words, found, strict=True):
        validate_analysis(word, analysis)


def test_documents_are_found_by_id_and_by_letters(tmp_path) -> None:
    (tmp_path / "1.txt").write_text("ה בית של _הוא גדול", encoding="utf8")
    (tmp_path / "2.txt").write_text(MARKED, encoding="utf8")
    (tmp_path / ".hidden").write_text("x", encoding="utf8")
    assert replay(tmp_path, "הבית שלו גדול")[0] == analyse("הבית")
    assert replay(tmp_path, "הבית שלו גדול", id="htb:1")[0] == analyse("הבית")
    assert replay(tmp_path, id="htb_2") == expected()
    assert replay(tmp_path, id="unknown") == expected()


def test_unknown_text(tmp_path) -> None:
    path = tmp_path / "a.txt"
    path.write_text(MARKED, encoding="utf8")
    text = "לא כתוב בשום קובץ"
    with pytest.warns(UserWarning, match="htb:9 is not in the segmentation"):
        analyses = replay(path, text, id="htb:9")
    assert all(is_trivial(w, a) for w, a in zip(text.split(), analyses, strict=True))
    with pytest.raises(ValueError, match="htb:9.*path"):
        replay(path, text, id="htb:9", on_missing="error")


def test_empty_document(tmp_path) -> None:
    path = tmp_path / "a.txt"
    path.write_text(MARKED, encoding="utf8")
    assert replay(path, "") == []


def test_words_that_do_not_fit_are_counted(tmp_path) -> None:
    path = tmp_path / "a"
    path.write_text(PLAIN.replace("נאמרו ", ""), encoding="utf8")
    with pytest.warns(UserWarning, match=r"a: 1 of 8 words.*\(נאמרו\)"):
        analyses = replay(path, id="a")
    assert analyses == expected()


def test_morphemes_that_are_left_over(tmp_path) -> None:
    path = tmp_path / "a"
    path.write_text(PLAIN.replace("נאמרו ", "נאמרו אתמול בלילה "), encoding="utf8")
    assert replay(path, id="a") == expected()


def test_numbers_with_reversed_digits(tmp_path) -> None:
    path = tmp_path / "a"
    path.write_text("ל ה_ בית נמכרו 08 דונם ב ה_ שטחים", encoding="utf8")
    text = "לבית נמכרו 80 דונם בשטחים"
    (with_number,) = [a for a in replay(path, text) if a[0].form == "08"]
    assert [(m.start, m.end) for m in with_number] == [(0, 2)]


def test_lay_along_prefers_what_spells_the_words() -> None:
    words = ["של", "הם", "שלהם", "ה", "בית", "הבית"]
    forms = ["של", "הם", "של", "_הם", "ה", "בית", "ה", "בית"]
    assert lay_along(words, forms) == [(0, 1), (1, 2), (2, 4), (4, 5), (5, 6), (6, 8)]
    assert lay_along([], ["א"]) == []
    assert lay_along(["א"], []) == [None]


def test_lay_along_is_linear() -> None:
    words = ["הבית", "שלו", "גדול"] * 3000
    forms = ["ה", "בית", "של", "_הוא", "גדול"] * 3000
    bounds = lay_along(words, forms)
    assert bounds[-1] == (14_999, 15_000)
    assert None not in bounds


def test_align_gives_every_word_a_valid_analysis() -> None:
    document = TableDocument("a", [TableWord("", ["ל", "כול", "ם", "ה_"])])
    analyses, unaligned = align(["לכולנו"], document)
    validate_analysis("לכולנו", analyses[0])
    assert [m.form for m in analyses[0] if m.written] == ["כול"]
    assert unaligned == [0]


@pytest.mark.parametrize(
    "name,content,message",
    [
        ("a.conllu", b"1\tx" + b"\t_" * 8 + b"\n2\tx\n", "line 2: 2 columns"),
        ("a.txt", b"\xff\xfe\x00", "UTF-8"),
    ],
)
def test_bad_files(tmp_path, name: str, content: bytes, message: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(CorpusError, match=message) as error:
        read_table(path)
    assert name in str(error.value)


def test_nothing_is_read_before_it_is_needed(tmp_path) -> None:
    backend = TableSegmenter(tmp_path / "absent")
    with pytest.raises(CorpusError, match="absent"):
        backend.initialize(lambda: [])
    with pytest.raises(ValueError, match="on_missing"):
        TableSegmenter(on_missing="ignore")


def test_saved_pipeline_has_the_table_in_it(tmp_path) -> None:
    table = tmp_path / "table.txt"
    table.write_text(MARKED, encoding="utf8")
    config = {"@misc": "spacy_he_coref.TableSegmenter.v1", "path": str(table)}
    nlp = pipeline(config)
    words = [t.text for t in nlp(TEXT)]
    assert words[:2] == ["דברי", "ו"]
    assert nlp(TEXT)._.morphemes == pipeline()(TEXT)._.morphemes
    nlp.to_disk(tmp_path / "model")
    data = nlp.to_bytes()
    table.unlink()
    loaded = spacy.load(tmp_path / "model")
    assert [t.text for t in loaded(TEXT)] == words
    copy = pipeline(config).from_bytes(data)
    assert [t.text for t in copy(TEXT)] == words
    assert copy(TEXT)._.morphemes == pipeline()(TEXT)._.morphemes
    assert not nlp.get_pipe("he_segmenter").is_trainable


def test_path_of_initialize(tmp_path) -> None:
    table = tmp_path / "table.txt"
    table.write_text(MARKED, encoding="utf8")
    nlp = pipeline({"@misc": "spacy_he_coref.TableSegmenter.v1"})
    nlp.config["initialize"]["components"]["he_segmenter"] = {"path": str(table)}
    nlp.initialize()
    assert [t.text for t in nlp(TEXT)][:2] == ["דברי", "ו"]
