"""The retokenizer: what a split carries over, and what it leaves alone."""

import pickle
from typing import List

import numpy
import pytest
import spacy
from spacy.tokens import Doc, DocBin, Span, SpanGroup, Token
from spacy.training import Example

from spacy_he_coref.retokenizer import HebrewRetokenizer, retokenize
from spacy_he_coref.tokens import (
    clear_analyses,
    is_segmented,
    pending_analyses,
    set_analysis,
)
from tests.segmenter.helpers import TEXT, analyse, blank, pipeline, segmented


@pytest.fixture
def extensions():
    Token.set_extension("test_mark", default=None)
    Span.set_extension("test_score", default=None)
    Doc.set_extension("test_name", default=None)
    yield
    Token.remove_extension("test_mark")
    Span.remove_extension("test_score")
    Doc.remove_extension("test_name")


def texts(doc: Doc) -> List[str]:
    return [token.text for token in doc]


def prepared(text: str = TEXT, **words: str) -> Doc:
    """A document of written words with decisions that wait."""
    doc = blank()(text)
    for token in doc:
        forms = words.get(token.text) if words else None
        if forms or not words:
            analysis = analyse(token.text, forms)
            if len(analysis) > 1:
                set_analysis(doc, token.idx, token.text, analysis)
    return doc


def test_words_become_segments() -> None:
    doc = retokenize(prepared())
    assert doc.text == TEXT
    assert texts(doc) == "דברי ו נאמרו ב שטחים , ו ל בת ו ש הוא אהב .".split()
    assert [bool(t.whitespace_) for t in doc[:3]] == [False, True, True]
    assert doc[0]._.morphemes == ("דבר",)
    assert doc[1]._.morphemes == ("_של_", "_הוא")
    assert doc[4]._.morphemes == ("ה_", "שטחים")
    assert [t._.segment_kind for t in doc[6:10]] == [
        "prefix",
        "prefix",
        "host",
        "clitic",
    ]
    assert doc[8]._.word.text == "ולבתו"
    assert not pending_analyses(doc)


def test_norm_of_a_clitic_is_its_pronoun() -> None:
    doc = retokenize(prepared())
    assert doc[1].norm_ == "הוא"
    assert doc[0].norm_ == "דברי"
    assert doc[4].norm_ == "שטחים"


@pytest.mark.parametrize("text", ["", "שלום", " \n ", "שלום עולם"])
def test_nothing_to_do(text: str) -> None:
    doc = blank()(text)
    assert retokenize(doc) is doc
    assert doc.text == text


def test_second_run_gives_the_same_doc() -> None:
    doc = retokenize(prepared())
    before = doc.to_bytes()
    assert retokenize(doc) is doc
    assert doc.to_bytes() == before


@pytest.mark.parametrize(
    "text",
    ["בשטחים", "  דבריו", "\nדבריו\n\nבשטחים  ", "דבריו\tבשטחים\u00a0ו", "(דבריו)!"],
)
def test_text_with_odd_white_space(text: str) -> None:
    doc = prepared(text)
    new = retokenize(doc)
    assert new is not doc
    assert new.text == text
    assert [t.text for t in new if t.is_space] == [t.text for t in doc if t.is_space]


def test_span_groups() -> None:
    doc = prepared()
    # דבריו | נאמרו | בשטחים | , | ולבתו | שהוא | אהב | .
    doc.spans["a"] = SpanGroup(
        doc,
        name="their name",
        attrs={"scores": [0.5]},
        spans=[
            Span(doc, 0, 3, label="ONE", kb_id="Q1", span_id="first"),
            Span(doc, 2, 5),
            Span(doc, 4, 5),
        ],
    )
    doc.spans["empty"] = []
    new = retokenize(doc)
    group = new.spans["a"]
    assert [span.text for span in group] == [span.text for span in doc.spans["a"]]
    assert [(s.start, s.end) for s in group] == [(0, 5), (3, 10), (6, 10)]
    assert (group[0].label_, group[0].kb_id_, group[0].id_) == ("ONE", "Q1", "first")
    assert group.name == "their name"
    assert group.attrs == {"scores": [0.5]}
    assert group.has_overlap
    assert len(new.spans["empty"]) == 0
    # The old document is as it was.
    assert [(s.start, s.end) for s in doc.spans["a"]] == [(0, 3), (2, 5), (4, 5)]


def test_several_spans_in_one_word_survive_another_split() -> None:
    doc = segmented("ולבתו שלום")
    doc.spans["a"] = [doc[2:3], doc[3:4], doc[2:4], doc[0:5]]
    set_analysis(doc, 0, "ולבתו", analyse("ולבתו", "ול בת _של_ _הוא"))
    new = retokenize(doc)
    assert texts(new) == ["ול", "בת", "ו", "שלום"]
    assert [span.text for span in new.spans["a"]] == [
        "בת",
        "ו",
        "בתו",
        "ולבתו שלום",
    ]


def test_spans_grow_where_their_border_vanishes(extensions: None) -> None:
    doc = segmented("ובבית שלום")
    doc.spans["a"] = [doc[1:2], doc[2:4], doc[1:3]]
    doc.spans["a"][1]._.test_score = 3
    set_analysis(doc, 0, "ובבית", analyse("ובבית", "ו בבית"))
    new = retokenize(doc)
    assert texts(new) == ["ו", "בבית", "שלום"]
    assert [span.text for span in new.spans["a"]] == ["בבית", "בבית שלום", "בבית"]
    assert new.spans["a"][1]._.test_score == 3


def test_empty_span() -> None:
    doc = prepared()
    doc.spans["a"] = [Span(doc, 2, 2), Span(doc, len(doc), len(doc))]
    new = retokenize(doc)
    assert [(s.start, s.end) for s in new.spans["a"]] == [(3, 3), (len(new),) * 2]


def test_entities() -> None:
    doc = prepared()
    doc.set_ents(
        [Span(doc, 0, 1, label="PER", kb_id="Q2", span_id="x"), Span(doc, 4, 6, "B")],
        missing=[doc[2:3]],
        blocked=[doc[7:8]],
    )
    new = retokenize(doc)
    assert [(e.text, e.label_, e.kb_id_) for e in new.ents] == [
        ("דבריו", "PER", "Q2"),
        ("ולבתו שהוא", "B", ""),
    ]
    assert new.ents[0].id_ == "x"
    assert [t.ent_iob_ for t in new] == list("BIO") + ["", ""] + list("OBIIIIIOB")
    assert new[13].ent_type == 0


def test_entities_that_meet_inside_a_token() -> None:
    doc = segmented("ובבית")
    doc.set_ents([Span(doc, 0, 2, label="A"), Span(doc, 2, 3, label="B")])
    set_analysis(doc, 0, "ובבית", analyse("ובבית", "ו בבית"))
    assert [(e.text, e.label_) for e in retokenize(doc).ents] == [("ובבית", "A")]


def test_documents_without_entities_stay_without() -> None:
    assert not retokenize(prepared()).has_annotation("ENT_IOB")


def test_sentence_starts() -> None:
    doc = prepared()
    for i, value in enumerate([True, None, False, None, True, False, None, False]):
        doc[i].is_sent_start = value
    new = retokenize(doc)
    starts = [token.is_sent_start for token in new]
    expected = [True, False, None, False, False, None]
    expected += [True, False, False, False, False, False, None, False]
    assert starts[1:] == expected[1:]


@pytest.mark.parametrize("text", [TEXT, "נאמרו דבריו", "דבריו"])
def test_no_sentence_starts(text: str) -> None:
    new = retokenize(prepared(text))
    assert len(new) > 1
    assert not new.has_annotation("SENT_START")


def test_user_data(extensions: None) -> None:
    doc = prepared()
    doc.user_data["key"] = {"a": [1]}
    doc._.test_name = "name"
    doc._.source = {"id": "htb:1"}
    doc[2]._.test_mark = "word"
    doc[3]._.test_mark = "comma"
    doc[2:5]._.test_score = 0.5
    new = retokenize(doc)
    assert new.user_data["key"] == {"a": [1]}
    assert new._.test_name == "name"
    assert new._.source == {"id": "htb:1"}
    assert [t._.test_mark for t in new[3:6]] == ["word", None, "comma"]
    assert new[3:10]._.test_score == 0.5


def test_what_else_a_doc_holds() -> None:
    doc = prepared()
    doc.cats = {"A": 1.0}
    doc.sentiment = 0.5
    doc.has_unknown_spaces = True
    doc.user_hooks["vector"] = lambda doc: numpy.ones(3)
    doc.user_token_hooks["vector"] = lambda token: numpy.ones(2)
    doc.user_span_hooks["vector"] = lambda span: numpy.ones(4)
    doc.tensor = numpy.zeros((3, 2))
    new = retokenize(doc)
    assert new.cats == {"A": 1.0}
    assert new.sentiment == 0.5
    assert new.has_unknown_spaces
    assert new.vector.shape == (3,)
    assert new[0].vector.shape == (2,)
    assert new[0:2].vector.shape == (4,)
    assert new.tensor.shape == (3, 2)
    doc.tensor = numpy.zeros((len(doc), 2))
    assert retokenize(doc).tensor.shape[0] == 0


def test_token_attributes() -> None:
    doc = prepared()
    for token in doc:
        token.tag_ = "T"
        token.pos_ = "NOUN"
        token.lemma_ = token.text + "*"
        token.set_morph("Gender=Masc")
        token.norm_ = token.text + "+"
        token.ent_id_ = ""
    new = retokenize(doc)
    kept, split = new[2], new[3]
    assert (kept.tag_, kept.pos_, kept.lemma_) == ("T", "NOUN", "נאמרו*")
    assert (str(kept.morph), kept.norm_) == ("Gender=Masc", "נאמרו+")
    assert (split.tag_, split.pos_, split.lemma_) == ("", "", "")
    assert (str(split.morph), split.norm_) == ("", "ב")


def test_heads() -> None:
    doc = prepared()
    heads = [1, 1, 1, 2, 6, 6, 1, 6]
    deps = ["nsubj", "ROOT", "obl", "punct", "obl", "mark", "conj", "punct"]
    for token, head, dep in zip(doc, heads, deps, strict=True):
        token.head = doc[head]
        token.dep_ = dep
    assert len(list(doc.sents)) == 1
    new = retokenize(doc)
    # דברי ו נאמרו ב שטחים , ו ל בת ו ש הוא אהב .
    assert (new[2].head.i, new[2].dep_) == (2, "ROOT")
    assert (new[5].head.i, new[5].dep_) == (3, "punct")
    assert (new[12].head.i, new[12].dep_) == (2, "conj")
    assert (new[13].head.i, new[13].dep_) == (12, "punct")
    assert (new[4].head.i, new[4].dep_) == (4, "")
    assert [sent.text for sent in new.sents] == [TEXT]


def test_redecided_with_the_same_borders() -> None:
    doc = segmented("דבריו בשטחים")
    set_analysis(doc, 6, "בשטחים", analyse("בשטחים", "ב שטחים"))
    assert retokenize(doc) is doc
    assert doc[3]._.morphemes == ("שטחים",)
    assert doc[1].norm_ == "הוא"
    set_analysis(doc, 0, "דבריו", analyse("דבריו", "דבר ו"))
    assert not pending_analyses(retokenize(doc))


def test_undone() -> None:
    doc = segmented("דבריו שלום")
    doc.spans["a"] = [doc[1:2]]
    set_analysis(doc, 0, "דבריו", analyse("דבריו", "דבריו"))
    new = retokenize(doc)
    assert texts(new) == ["דבריו", "שלום"]
    assert not is_segmented(new)
    assert new[0].norm_ == "דבריו"
    assert new.spans["a"][0].text == "דבריו"


def test_clitic_that_becomes_something_else_loses_its_norm() -> None:
    doc = segmented("להם")
    assert doc[1].norm_ == "הם"
    set_analysis(doc, 0, "להם", analyse("להם", "ל ה_ הם"))
    new = retokenize(doc)
    assert new is doc
    assert new[1].norm_ == "הם" and new[1]._.segment_kind == "host"
    doc = segmented("דבריו")
    set_analysis(doc, 0, "דבריו", analyse("דבריו", "דברי ו"))
    assert retokenize(doc)[1].norm_ == "ו"


def test_other_words_keep_their_segments() -> None:
    doc = segmented("דבריו שהוא בשטחים")
    set_analysis(doc, 6, "שהוא", analyse("שהוא", "שהוא"))
    new = retokenize(doc)
    assert texts(new) == ["דברי", "ו", "שהוא", "ב", "שטחים"]
    assert [len(t._.morphemes) for t in new] == [1, 2, 1, 1, 2]
    assert new[1].norm_ == "הוא"


@pytest.mark.parametrize("offset,word", [(1, "בריו"), (0, "דברי"), (0, "דבריו נאמרו")])
def test_decision_that_fits_no_word(offset: int, word: str) -> None:
    doc = blank()(TEXT)
    doc._.source = {"id": "htb:7"}
    set_analysis(doc, offset, word, analyse(word, word))
    with pytest.raises(ValueError, match="htb:7"):
        retokenize(doc)
    assert texts(doc)[0] == "דבריו"


def test_invalid_decision() -> None:
    doc = blank()(TEXT)
    set_analysis(doc, 0, "דבריו", analyse("דברי", "ד ברי"))
    with pytest.raises(ValueError, match="דבריו.*concatenate"):
        retokenize(doc)


def test_pipe_is_call_and_goes_on_after_an_error() -> None:
    component = HebrewRetokenizer()
    failed = []
    component.set_error_handler(lambda name, proc, docs, error: failed.append(docs[0]))
    bad = blank()(TEXT)
    set_analysis(bad, 1, "ב", analyse("ב", "ב"))
    good = [prepared(), bad, prepared("בשטחים")]
    output = list(component.pipe(good))
    assert [texts(doc) for doc in output] == [
        texts(retokenize(prepared())),
        ["ב", "שטחים"],
    ]
    assert failed == [bad]


def test_serialization() -> None:
    doc = retokenize(prepared())
    doc.spans["a"] = [doc[8:10]]
    copies = [
        Doc(doc.vocab).from_bytes(doc.to_bytes()),
        list(DocBin(docs=[doc], store_user_data=True).get_docs(doc.vocab))[0],
        pickle.loads(pickle.dumps(doc)),
        doc.copy(),
    ]
    for copy in copies:
        assert copy.text == doc.text
        assert copy._.morphemes == doc._.morphemes
        assert copy.spans["a"][0].text == "בתו"
        assert copy[1].norm_ == "הוא"
        assert retokenize(copy) is copy


def test_decisions_survive_serialization() -> None:
    doc = prepared()
    copy = Doc(doc.vocab).from_bytes(doc.to_bytes())
    assert texts(retokenize(copy)) == texts(retokenize(doc))
    clear_analyses(copy)
    assert retokenize(copy) is copy


def test_in_a_pipeline() -> None:
    nlp = pipeline()
    expected = texts(nlp(TEXT))
    pairs = list(nlp.pipe([(TEXT, "a"), ("שלום", "b")], as_tuples=True))
    assert [context for _, context in pairs] == ["a", "b"]
    assert texts(pairs[0][0]) == expected
    again = nlp(nlp(TEXT))
    assert texts(again) == expected
    reference = segmented(TEXT, blank())
    example = Example(nlp.make_doc(TEXT), reference)
    assert nlp.evaluate([example])["segmentation_f"] == 1.0
    nlp.update([example], annotates=["he_segmenter", "he_retokenizer"])


def test_saved_pipeline(tmp_path) -> None:
    nlp = blank()
    nlp.add_pipe("he_retokenizer")
    nlp.to_disk(tmp_path)
    loaded = spacy.load(tmp_path)
    assert loaded.pipe_names == ["he_retokenizer"]
    doc = prepared()
    other = Doc(loaded.vocab).from_bytes(doc.to_bytes())
    assert texts(loaded(other)) == texts(retokenize(doc))
    other = blank()
    other.add_pipe("he_retokenizer")
    other.from_bytes(nlp.to_bytes())


def test_several_processes() -> None:
    nlp = pipeline()
    docs = list(nlp.pipe([TEXT, "", "בשטחים"], n_process=2, batch_size=1))
    assert [texts(doc) for doc in docs] == [
        texts(nlp(text)) for text in (TEXT, "", "בשטחים")
    ]
    assert docs[0]._.morphemes == nlp(TEXT)._.morphemes
