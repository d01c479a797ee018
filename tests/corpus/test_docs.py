import pickle

import pytest
import spacy
from spacy.tokens import Doc, DocBin

from spacy_he_coref.corpus.alignment import Treebank, align_document
from spacy_he_coref.corpus.docs import (
    TREE_ATTRS,
    doc_to_kibutzr,
    make_doc,
    morpheme_rows,
    set_clusters,
)
from spacy_he_coref.corpus.kibutzr import find_kibutzr, read_kibutzr
from spacy_he_coref.tokens import tokens_to_morphemes
from tests.util import TOY_HTB, TOY_KIBUTZR

TEXTS = {
    "mini:1": (
        "דנה כהן פגשה את אחיה בבית הספר הישן. היא סיפרה לו על השיעור שלה. בשנת 1984 "
        "גרו ההורים שלהם בדירה קטנה, והם עבדו בה. אחרי המלחמה הם עברו לעיר הגדולה. "
        "בעיר הם מצאו בית, אבל דנה לא אהבה אותו."
    ),
    "mini:2_1": (
        'חברת השבבים "אורן" מחיפה תפטר כ-150 עובדים בשבוע הבא. מנהליה אמרו שהיא לא '
        "תוכל לשלם להם את שכרם. העיר חיפה, שבה היא פועלת, הבטיחה לעזור לעובדים ולבני "
        'משפחותיהם. כולם מחכים לתשובה של ראש העיר, ד"ר רון לוי. ראש העיר הודיע: '
        '"נמצא להם פתרון".'
    ),
    "mini:3": (
        "נועה לוי כתבה ספר על סבתה. הספר, שיצא בקיץ, נמכר ב-49 שקלים. בו מספרת הסבתא "
        'איך היא ואחותה בנו את ביתן. "הוא שלנו", היא אומרת בגאווה.'
    ),
    "mini:4": "לדודי היה כלב קטן ששמו רקס. הוא אהב לרוץ איתו ליד הים.",
}


@pytest.fixture(scope="module")
def corpus():
    vocab = spacy.blank("he").vocab
    treebank = Treebank.from_directory(TOY_HTB)
    docs = {}
    for split, paths in find_kibutzr(TOY_KIBUTZR).items():
        for path in paths:
            document = read_kibutzr(path)
            aligned = align_document(document, treebank, split == "train")
            doc = make_doc(vocab, document, aligned, split)
            docs[document.id] = (doc, path.read_text(encoding="utf8"))
    return docs


def word_of(doc, text, nth=0):
    return [t for t in doc if t._.word.text == text and t.i == t._.word.start][nth]


def spans(doc, key):
    return [span.text for span in doc.spans[key]]


@pytest.mark.smoke
@pytest.mark.parametrize("name", list(TEXTS))
def test_text_is_the_written_text(corpus, name):
    assert corpus[name][0].text == TEXTS[name]


@pytest.mark.smoke
@pytest.mark.parametrize("name", list(TEXTS))
def test_kibutzr_file_comes_back(corpus, name):
    doc, file = corpus[name]
    assert doc_to_kibutzr(doc) == file


@pytest.mark.parametrize("name", list(TEXTS))
@pytest.mark.parametrize("way", ["bytes", "docbin", "pickle", "copy"])
def test_everything_survives(corpus, name, way):
    doc, file = corpus[name]
    if way == "bytes":
        other = Doc(spacy.blank("he").vocab).from_bytes(doc.to_bytes())
    elif way == "docbin":
        data = DocBin(attrs=TREE_ATTRS, store_user_data=True, docs=[doc]).to_bytes()
        vocab = spacy.blank("he").vocab
        (other,) = DocBin().from_bytes(data).get_docs(vocab)
    elif way == "pickle":
        other = pickle.loads(pickle.dumps(doc))
    else:
        other = doc.copy()
    assert doc_to_kibutzr(other) == file
    assert other._.source == doc._.source
    assert other._.morphemes == doc._.morphemes
    assert morpheme_rows(other) == morpheme_rows(doc)
    for ours, theirs in zip(doc, other, strict=True):
        for attr in ("text_with_ws", "lemma_", "pos_", "dep_", "norm_", "ent_type_"):
            assert getattr(ours, attr) == getattr(theirs, attr)
        assert ours.head.i == theirs.head.i
        assert str(ours.morph) == str(theirs.morph)
        assert ours.is_sent_start == theirs.is_sent_start
        assert ours._.segment_kind == theirs._.segment_kind
    assert list(other.spans) == list(doc.spans)
    for key in doc.spans:
        assert spans(other, key) == spans(doc, key)
        assert other.spans[key].attrs == doc.spans[key].attrs


def test_segments_and_unwritten_morphemes(corpus):
    doc = corpus["mini:1"][0]
    kinds = {
        "אחיה": [("אחי", "host", ("אח",)), ("ה", "clitic", ("_של_", "_היא"))],
        "לו": [("ל", "host", ("ל",)), ("ו", "clitic", ("_הוא",))],
        "שלהם": [("של", "host", ("של",)), ("הם", "clitic", ("הם",))],
        "והם": [("ו", "prefix", ("ו",)), ("הם", "host", ("הם",))],
        "לעיר": [("ל", "prefix", ("ל",)), ("עיר", "host", ("ה_", "עיר"))],
        "אותו": [("אות", "host", ("את",)), ("ו", "clitic", ("_הוא",))],
        "היא": [("היא", "word", ("היא",))],
        "1984": [("1984", "word", ("1984",))],
    }
    for word, expected in kinds.items():
        found = word_of(doc, word)._.word
        assert [(t.text, t._.segment_kind, t._.morphemes) for t in found] == expected
    assert [t.norm_ for t in word_of(doc, "אחיה")._.word] == ["אחי", "היא"]
    assert word_of(doc, "שלהם").nbor().norm_ == "הם"
    assert word_of(doc, "לעיר").nbor().norm_ == "עיר"
    # nothing is stored of a word that is one morpheme
    assert word_of(doc, "פגשה").idx not in [key[2] for key in doc.user_data if key[0]]


def test_values_of_tokens(corpus):
    doc = corpus["mini:1"][0]
    city = word_of(doc, "לעיר").nbor()
    assert city.lemma_ == "עיר"
    assert str(city.morph) == "Definite=Def|Gender=Fem|Number=Sing"
    assert (city.pos_, city.dep_, city.head.text) == ("NOUN", "obl", "עברו")
    brother = word_of(doc, "אחיה")
    assert (brother.dep_, brother.head.text) == ("obj", "פגשה")
    clitic = brother.nbor()
    assert (clitic.pos_, clitic.lemma_, clitic.dep_) == ("PRON", "הוא", "nmod:poss")
    assert clitic.head == brother
    assert clitic.morph.get("PronType") == ["Prs"]
    # a written article is a token, and its noun stays as it is
    assert "Definite" not in str(word_of(doc, "המלחמה").nbor().morph)


@pytest.mark.parametrize("name", list(TEXTS))
def test_sentences_are_trees(corpus, name):
    doc, file = corpus[name]
    sentences = list(doc.sents)
    assert len(sentences) == file.count("\n\n") + 1
    for sentence in sentences:
        assert [t.dep_ for t in sentence if t.head == t] == ["ROOT"]
        assert sentence[-1].text == "."


def test_entities(corpus):
    names = [(e.text, e.label_) for e in corpus["mini:2_1"][0].ents]
    assert names == [
        ("אורן", "ORG"),
        ("חיפה", "GPE"),
        ("חיפה", "GPE"),
        ("רון לוי", "PER"),
    ]


def test_clusters_in_order_of_first_mention(corpus):
    doc = corpus["mini:2_1"][0]
    keys = [key for key in doc.spans if key.startswith("coref_clusters_")]
    assert keys == [f"coref_clusters_{i}" for i in range(1, 5)]
    assert [doc.spans[key].attrs["id"] for key in keys] == [0, 2, 3, 10]
    starts = [doc.spans[key][0].start for key in keys]
    assert starts == sorted(starts)
    assert spans(doc, "coref_clusters_1") == [
        'חברת השבבים "אורן" מחיפה',
        "ה",
        "היא",
        "היא",
    ]
    assert "השבבים" in spans(doc, "coref_singletons")
    ids = doc.spans["coref_singletons"].attrs["ids"]
    assert len(ids) == len(doc.spans["coref_singletons"])
    everything = [(s.start, s.end) for s in doc.spans["coref_mentions"]]
    assert everything == sorted(set(everything))
    assert len(everything) == 26


def test_covert_article_is_in_the_mention(corpus):
    doc = corpus["mini:1"][0]
    (city,) = [s for s in doc.spans["coref_mentions"] if s.text == "עיר הגדולה"]
    ((start, end),) = tokens_to_morphemes(doc, [(city.start, city.end)])
    forms = [m.form for m in doc._.morphemes[start:end]]
    assert forms == ["ה_", "עיר", "ה", "גדולה"]


def test_mentions_of_two_clusters_with_one_span():
    doc = Doc(spacy.blank("he").vocab, words=["א", "ב", "ג"])
    set_clusters(
        doc,
        [
            ([(0, 1), (1, 2)], {"id": 1}),
            ([(0, 1), (2, 3)], {"id": 2}),
            ([(1, 2)], {"id": 3}),
        ],
    )
    assert spans(doc, "coref_clusters_1") == ["א", "ב"]
    assert spans(doc, "coref_clusters_2") == ["א", "ג"]
    assert spans(doc, "coref_singletons") == ["ב"]
    assert doc.spans["coref_singletons"].attrs == {"ids": [3]}
    assert spans(doc, "coref_mentions") == ["א", "ב", "ג"]


def test_docs_from_elsewhere_are_refused_by_name():
    doc = Doc(spacy.blank("he").vocab, words=["שלום"])
    with pytest.raises(ValueError, match="שלום.*corpus build"):
        doc_to_kibutzr(doc)
    doc._.source = {"id": "mini:9"}
    with pytest.raises(ValueError, match="mini:9 has no morpheme-level"):
        morpheme_rows(doc)


def test_changed_clusters_are_written(corpus):
    doc = corpus["mini:4"][0].copy()
    del doc.spans["coref_singletons"]
    assert "(3" not in doc_to_kibutzr(doc)
    assert "(2)" in doc_to_kibutzr(doc)
