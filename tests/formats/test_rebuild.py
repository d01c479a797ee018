"""Texts that are spelled from morphemes."""

from typing import List

import pytest

from spacy_he_coref.corpus.conllu import CorpusError
from spacy_he_coref.formats.documents import LossWarning, blank_pipeline
from spacy_he_coref.formats.rebuild import doc_from_record
from spacy_he_coref.formats.records import CorefRecord
from tests.formats.docs import clusters, over_morphemes, singletons

NLP = blank_pipeline()


def record(sentences: List[str], clusters: list) -> CorefRecord:
    forms = [sentence.split() for sentence in sentences]
    return CorefRecord("x", forms, clusters, "x.conll", 7)


@pytest.mark.parametrize(
    "forms,text",
    [
        ("הכנה _של_ _הם ל ה_ בית", "הכנתם לבית"),
        ("ו ל בת _של_ _הוא", "ולבתו"),
        ("ש ב ה_ ארץ כש הוא", "שבארץ כשהוא"),
        ("ל _הם , ב _הן של _הם של הם", "להם, בהן שלהם שלהם"),
        ("את _היא ראה את_ _הם", "אותה ראהם"),
        ("דרך _של_ _אני אחות _של_ _אתם", "דרכי אחותכם"),
        ("ב - 17 ב 1992 , 5 - 7", "ב-17 ב1992, 5-7"),
        ("ארצות - הברית", "ארצות - הברית"),
        ('אמר : " כן " , " לא " .', 'אמר: "כן", "לא".'),
        ('ה " ארץ " כתב', 'ה"ארץ" כתב'),
        ("כן ( לא ) 10 %", "כן (לא) 10%"),
        ("ב . ו , ה", "ב. ו, ה"),
        ("ה_", "ה"),
        ("_הוא הלך", "הוא הלך"),
        ("_של_ _הוא", "הוא"),
        ("ו ה_", "ו"),
        ("_ __", "_ __"),
    ],
)
def test_spelling(forms: str, text: str) -> None:
    doc = doc_from_record(NLP, record([forms], []))
    assert doc.text == text
    assert [m.form for m in doc._.morphemes] == forms.split()


def test_a_quotation_over_sentences() -> None:
    doc = doc_from_record(NLP, record(['אמר : " כן .', 'לא " .'], []))
    assert doc.text == 'אמר: "כן. לא".'
    assert [sentence.text for sentence in doc.sents] == ['אמר: "כן.', 'לא".']


def test_mentions() -> None:
    spans = [[(0, 4), (3, 4)], [(1, 2)], [(6, 8), (6, 8)]]
    with pytest.warns(LossWarning, match="unwritten morphemes only"):
        doc = doc_from_record(NLP, record(["דבר ה_ _של_ _הוא", "כן ב ה_ בית"], spans))
    doc = doc_from_record(
        NLP, record(["דבר _של_ _הוא", "ב ה_ בית"], [[(0, 3), (2, 3)]])
    )
    assert over_morphemes(doc) == [[(0, 3), (2, 3)]]
    # דבר|ו: the host stays as it is given.
    assert doc.text == "דברו בבית" and clusters(doc) == [[(0, 4), (3, 4)]]
    doc = doc_from_record(NLP, record(["ב ה_ בית"], [[(1, 3)], [(2, 3)]]))
    # With or without the article that is not written: one place in the text.
    assert singletons(doc) == [(1, 4), (1, 4)]
    assert over_morphemes(doc) == [[(1, 3)], [(1, 3)]]


@pytest.mark.parametrize(
    "record,message",
    [
        (
            CorefRecord("x", None, [], "f", 3),
            "f, line 3: document x has clusters and no",
        ),
        (
            CorefRecord("x", [["א"]], [[(0, 2)]], "f", 3),
            "f, line 3: a mention of cluster",
        ),
        (
            CorefRecord("x", [["א", " "]], [], "f", 3),
            "f, line 3: document x has an empty",
        ),
    ],
)
def test_bad_records(record: CorefRecord, message: str) -> None:
    with pytest.raises(CorpusError, match=message):
        doc_from_record(NLP, record)


def test_nothing() -> None:
    assert doc_from_record(NLP, record([], [])).text == ""
    assert doc_from_record(NLP, record([""], [])).text == ""
