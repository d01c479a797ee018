import json
from collections import Counter

import pytest
import spacy
from spacy.tokens import DocBin

from spacy_he_coref.corpus.conllu import CorpusError
from spacy_he_coref.corpus.iahlt import (
    IAHLT_ATTRS,
    choose_annotation,
    make_iahlt_doc,
    make_iahlt_docs,
    read_iahlt,
)
from tests.util import TOY_IAHLT

BORDER = "\u200b"


def row(text, clusters=(), key="Toy:9"):
    """A document; ``|`` is a border, and mentions are (start, end) in the raw text."""
    return {
        "text": text.replace("|", BORDER),
        "doc_key": key,
        "metadata": {},
        "clusters": [
            {
                "metadata": {"name": f"n{i}", "entity": "person"},
                "mentions": [[start, end, {}] for start, end in mentions],
            }
            for i, mentions in enumerate(clusters)
        ],
    }


def write(tmp_path, *rows, name="val.jsonl"):
    path = tmp_path / name
    path.write_text("\n".join(json.dumps(r) for r in rows), encoding="utf8")
    return path


def make(tmp_path, text, clusters=()):
    ((document,),) = read_iahlt(write(tmp_path, row(text, clusters)))
    counts = Counter()
    return make_iahlt_doc(spacy.blank("he").vocab, document, counts), counts


def clusters_of(doc):
    return [
        [span.text for span in group]
        for key, group in doc.spans.items()
        if key.startswith("coref_clusters_")
    ]


@pytest.mark.smoke
def test_toy_corpus():
    counts = Counter()
    first, second = make_iahlt_docs(spacy.blank("he").vocab, TOY_IAHLT, counts)
    assert first._.source == {
        "corpus": "iahlt",
        "id": "Toy:1",
        "split": "val",
        "segmentation": "borders",
    }
    assert second._.source["split"] == "iaa"
    assert first.text.startswith("\nרות לביא ואחיה דן הגיעו לתחנה.\nהיא חיכתה לו")
    assert clusters_of(first) == [
        ["רות לביא", "ה", "היא"],
        ["אחיה דן", "ו"],
        ["הם", "ם"],
        ["רכבת", "רכבת"],
        ['שני מורים מה"תיכון החדש"', "תיכון החדש", "חדש"],
    ]
    assert counts["documents"] == 2
    assert counts["documents_seen_before"] == 1
    assert counts["annotations_not_chosen"] == 1
    # of two annotations the one with more mentions
    assert clusters_of(second)[0] == ["שי", "ו", "ו", "הוא", "ו"]


@pytest.mark.parametrize(
    "text, expected",
    [
        ("ו|ל|חברי ה|כנסת", "ו:prefix ל:prefix חברי:host ה:prefix כנסת:host"),
        ("של|ה", "של:host ה:clitic"),
        ("ש|ב|ה", "ש:prefix ב:host ה:clitic"),
        ("אדונ|י", "אדונ:host י:clitic"),
        ("ש|הם", "ש:prefix הם:host"),
        ("ב|הם", "ב:host הם:clitic"),
        ("ש|כן", "ש:prefix כן:host"),
        ("של|כן", "של:host כן:clitic"),
        ("וש|כוחות", "וש:prefix כוחות:host"),
        ('ה|יו"ר', 'ה:prefix יו"ר:host'),
        ("בית", "בית:word"),
        # punctuation is a word of its own
        ("תודה|.", "תודה:word .:word"),
        ("ב|-|17", "ב:word -:word 17:word"),
        ("ל|ה|.", "ל:host ה:clitic .:word"),
        ('מ|ה|"|פוסט|"', 'מ:prefix ה:host ":word פוסט:word ":word'),
        ('של|ה|"', 'של:host ה:clitic ":word'),
        # stray borders
        ("בית|  |  ||ה|ספר|", "בית:word ה:prefix ספר:host"),
        ("|בית", "בית:word"),
    ],
)
def test_segments(tmp_path, text, expected):
    doc, _ = make(tmp_path, text)
    assert doc.text == text.replace("|", "")
    found = [f"{t}:{t._.segment_kind}" for t in doc if not t.is_space]
    assert " ".join(found) == expected


def test_clitics_have_their_pronoun(tmp_path):
    doc, _ = make(tmp_path, "של|נו ב|ך דרכ|ם ראה|ני")
    clitics = [t for t in doc if t._.segment_kind == "clitic"]
    assert [t.norm_ for t in clitics] == ["אנחנו", "אתה", "הם", "אני"]
    assert [t._.morphemes for t in clitics][0] == ("_אנחנו",)


@pytest.mark.parametrize(
    "text", ["", "\n", " א", "א \n\n ב|ג", "\tא  ב\u00a0ג", "א\u200fב|.", "א\r\nב"]
)
def test_text_stays(tmp_path, text):
    doc, _ = make(tmp_path, text)
    assert doc.text == text.replace("|", "")


def test_spans_are_repaired_and_counted(tmp_path):
    #       0123456789
    text = "דנ|ה רות הם אב|ג"
    doc, counts = make(
        tmp_path,
        text,
        [
            # twice; with a border at its end; in two clusters
            [(0, 4), (0, 4), (9, 11), (5, 8)],
            [(9, 11), (12, 13), (2, 4), (14, 16)],
            # cuts a segment; white space; outside; empty
            [(0, 1), (4, 9), (0, 99), (8, 9), (12, 14)],
        ],
    )
    assert counts["mentions_read"] == 13
    assert counts["mentions_twice_in_cluster"] == 1
    assert counts["mentions_outside_text"] == 1
    assert counts["mentions_empty"] == 1
    assert counts["mentions_widened"] == 2
    assert counts["mentions_with_stray_border"] == 2
    assert counts["mentions_in_several_clusters"] == 3
    for key, group in doc.spans.items():
        bounds = [(span.start, span.end) for span in group]
        assert len(bounds) == len(set(bounds)), key


def test_span_of_several_clusters_makes_its_own(tmp_path):
    text = "דן שר רון רץ הם באו הם הלכו דן רון"
    first, second = text.index("הם"), text.index("הם", 15)
    together = [(first, first + 2), (second, second + 2)]
    doc, counts = make(
        tmp_path,
        text,
        [
            [(0, 2), (28, 30), *together],
            [(6, 9), (31, 34), *together],
        ],
    )
    assert clusters_of(doc) == [["דן", "דן"], ["רון", "רון"], ["הם", "הם"]]
    assert doc.spans["coref_clusters_3"].attrs == {
        "id": "0+1",
        "name": "n0 + n1",
        "entity": "person",
    }
    assert counts["clusters_of_several_entities"] == 1
    assert len(doc.spans["coref_singletons"]) == 0
    assert len(doc.spans["coref_mentions"]) == 6


def test_sentences(tmp_path):
    text = '\nהוא בא|. היא הלכה|!\nמה|? "|כן|." אמר 3.5\nסוף'
    doc, _ = make(tmp_path, text)
    assert [s.text.strip() for s in doc.sents] == [
        "הוא בא.",
        "היא הלכה!",
        "מה?",
        '"כן."',
        "אמר 3.5",
        "סוף",
    ]
    # none begins inside a mention
    doc, counts = make(tmp_path, "ד. לוי בא", [[(0, 6), (7, 9)]])
    assert len(list(doc.sents)) == 1
    assert counts["sentences_joined_by_mention"] == 1


def test_survives_docbin():
    docs = list(make_iahlt_docs(spacy.blank("he").vocab, TOY_IAHLT, Counter()))
    data = DocBin(attrs=IAHLT_ATTRS, store_user_data=True, docs=docs).to_bytes()
    for ours, theirs in zip(
        docs, DocBin().from_bytes(data).get_docs(spacy.blank("he").vocab), strict=True
    ):
        assert ours.text == theirs.text
        assert ours._.source == theirs._.source
        assert ours._.morphemes == theirs._.morphemes
        assert [t.norm_ for t in ours] == [t.norm_ for t in theirs]
        assert [s.text for s in ours.sents] == [s.text for s in theirs.sents]
        assert clusters_of(ours) == clusters_of(theirs)


def test_annotation_that_agrees_best_is_chosen(tmp_path):
    text = "א ב ג ד"
    spans = {"א": (0, 1), "ב": (2, 3), "ג": (4, 5), "ד": (6, 7)}
    rows = [
        row(text, [[spans["ב"], spans["ג"], spans["ד"]]]),
        row(text, [[spans["א"], spans["ב"]]]),
        row(text.replace(" ", "  "), [[(0, 1), (3, 4)]]),
    ]
    (annotations,) = read_iahlt(write(tmp_path, {"annotations": rows}))
    assert choose_annotation(annotations) is annotations[1]
    assert choose_annotation(annotations[:2]) is annotations[0]
    assert choose_annotation(annotations[1:]) is annotations[1]
    assert choose_annotation(annotations[:1]) is annotations[0]


def test_document_of_val_wins_whatever_the_order(tmp_path):
    val = write(tmp_path, row("א ב", [[(0, 1), (2, 3)]], "Toy:5"))
    one = row("א  ב", [], "Toy:5")
    iaa = write(tmp_path, {"annotations": [one, one]}, name="iaa.jsonl")
    for paths in ([val, iaa], [iaa, val]):
        (doc,) = make_iahlt_docs(spacy.blank("he").vocab, paths, Counter())
        assert doc._.source["split"] == "val"


@pytest.mark.parametrize(
    "text, message",
    [
        ("{", "line 2: not a document"),
        ('{"text": "א"}', "line 2: not a document.*doc_key"),
        ('{"text": "א", "doc_key": "k", "clusters": [{}]}', "line 2: not a document"),
        ("[]", "line 2: not a document"),
    ],
)
def test_bad_lines_are_named(tmp_path, text, message):
    path = tmp_path / "val.jsonl"
    path.write_text(json.dumps(row("א")) + "\n" + text, encoding="utf8")
    with pytest.raises(CorpusError, match=message):
        list(read_iahlt(path))


def test_different_texts_of_annotators_are_named(tmp_path):
    path = write(tmp_path, {"annotations": [row("א ב"), row("א ג")]})
    with pytest.raises(CorpusError, match="line 1: the annotators of Toy:9"):
        list(read_iahlt(path))


def test_other_encoding_is_named(tmp_path):
    path = tmp_path / "val.jsonl"
    path.write_bytes(json.dumps(row("א"), ensure_ascii=False).encode("cp1255"))
    with pytest.raises(CorpusError, match="line 1: byte 0xe0 is not UTF-8"):
        list(read_iahlt(path))
