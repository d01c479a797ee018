"""Text in pieces: entities go on, offsets are global, and memory stays small.

Most tests link words by a table in the place of the network, so that they say what
carrying over does and not what a tiny network happens to have learned.
"""

import json
from pathlib import Path
from typing import Any, Dict, Iterator, List, Sequence, Tuple

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc, DocBin

from spacy_he_coref.coref.clusters import get_clusters
from spacy_he_coref.coref.component import GIVEN, link_mentions
from spacy_he_coref.coref.model import Links
from spacy_he_coref.coref.reader import cut_document, strip_gold
from spacy_he_coref.coref.stream import (
    StreamMention,
    StreamPiece,
    _decided,
    _Entity,
    _gather,
    _Known,
    _Memory,
    _select,
    resolve_stream,
)
from spacy_he_coref.tokens import get_segment, word_bounds
from tests.coref.helpers import (
    assert_same,
    clusters,
    inputs,
    make_pipeline,
    stories,
)

# Who is meant by which word.
WHO = {
    "דנה": "דנה",
    "היא": "דנה",
    "אליה": "דנה",
    "יוסי": "יוסי",
    "אותו": "יוסי",
    "דוד": "דוד",
}
PIECES = ["דנה פגשה את יוסי.", "היא חיבקה אותו.", "דוד צחק. יוסי שתק.", "דוד בא אליה."]
TOLD = [
    [],
    [("דנה", ["דנה", "היא"]), ("יוסי", ["יוסי", "אותו"])],
    [("יוסי", ["יוסי"])],
    [("דוד", ["דוד", "דוד"]), ("דנה", ["אליה"])],
]


def link_words(pipe: Any, docs: Sequence[Doc]) -> List[Links]:
    """Mentions are the words of the table, linked to all of the same person."""
    found: List[Links] = []
    for doc in docs:
        places = [token.i for token in doc if token.text in WHO]
        if GIVEN in doc.spans:
            places = [span.start for span in doc.spans[GIVEN]]
        if len(doc):
            # What the network would read.
            (vectors,) = pipe.model.get_ref("tok2vec").predict([doc])
            assert len(vectors) == len(doc)
            written = [not token.is_space for token in doc]
            assert np.abs(vectors).sum(1)[written].all()
        pairs = [
            (j, i)
            for j in range(len(places))
            for i in range(j)
            if WHO[doc[places[i]].text] == WHO[doc[places[j]].text]
        ]
        later, earlier = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
        bounds = np.array([[i, i + 1] for i in places], dtype=np.int64)
        ones = np.ones(len(places), dtype=np.float32)
        scores = np.ones(len(pairs), dtype=np.float32)
        found.append(Links(bounds.reshape(-1, 2), ones, later, earlier, scores))
    return found


@pytest.fixture(scope="module")
def untrained(encoder: Path) -> Language:
    nlp = make_pipeline(encoder)
    nlp.add_pipe("sentencizer", first=True)
    return nlp


@pytest.fixture
def nlp(untrained: Language, monkeypatch: pytest.MonkeyPatch) -> Language:
    pipe: Any = untrained.get_pipe("he_coref")
    monkeypatch.setattr(pipe, "predict", lambda docs: link_words(pipe, docs))
    return untrained


def told(piece: StreamPiece) -> List[Tuple[str, List[str]]]:
    """What a piece says of entities: main mentions, and the new mentions."""
    return [(e.main.text, [m.text for m in e.mentions]) for e in piece.entities]


def shown(pieces: List[StreamPiece]) -> List[Any]:
    return [[piece.to_dict(), clusters(piece.doc)] for piece in pieces]


def test_one_piece_is_what_nlp_gives(frozen: Language) -> None:
    for ours, theirs in zip(inputs(frozen), inputs(frozen), strict=True):
        (piece,) = resolve_stream(frozen, [ours])
        doc = frozen(theirs)
        assert_same([piece.doc], [doc])
        assert (piece.number, piece.offset) == (0, 0)
        numbers = range(1, len(doc._.coref) + 1)
        assert [entity.id for entity in piece.entities] == list(numbers)
        for entity, cluster in zip(piece.entities, doc._.coref, strict=True):
            main = cluster.main
            assert entity.size == len(entity.mentions) == len(cluster)
            assert [(m.start, m.end) for m in entity.mentions] == cluster.offsets
            assert [m.text for m in entity.mentions] == cluster.texts
            assert entity.main == (main.text, main.start_char, main.end_char)


def test_a_trained_network_carries_entities_over(frozen: Language) -> None:
    carried: List[str] = []
    for doc in stories(frozen.vocab):
        parts = [strip_gold(part) for part in cut_document(doc, 1)]
        first, second = resolve_stream(frozen, parts)
        (alone, _) = resolve_stream(frozen, [part.copy() for part in parts], memory=0)
        assert_same([first.doc], [alone.doc])
        for entity in second.entities:
            carried += [entity.main.text] * (entity.main.start < second.offset)
            for mention in entity.mentions:
                assert doc.text[mention.start : mention.end] == mention.text
    assert carried


def test_entities_go_on(nlp: Language) -> None:
    pieces = list(resolve_stream(nlp, PIECES, separator="\n"))
    assert [piece.doc.text for piece in pieces] == PIECES
    assert [told(piece) for piece in pieces] == TOLD
    ids = [[entity.id for entity in piece.entities] for piece in pieces]
    assert ids == [[], [1, 2], [2], [3, 1]]
    sizes = [[entity.size for entity in piece.entities] for piece in pieces]
    assert sizes == [[], [2, 2], [3], [2, 3]]
    whole = "\n".join(PIECES)
    for piece in pieces:
        assert whole[piece.offset :].startswith(piece.doc.text)
        for entity in piece.entities:
            for mention in (entity.main, *entity.mentions):
                assert whole[mention.start : mention.end] == mention.text


def test_clusters_of_a_piece_are_its_entities(nlp: Language) -> None:
    pieces = list(resolve_stream(nlp, PIECES))
    texts = [[cluster.texts for cluster in p.doc._.coref] for p in pieces]
    assert texts == [[], [["היא"], ["אותו"]], [["יוסי"]], [["דוד"], ["אליה"]]]
    for piece in pieces:
        groups = get_clusters(piece.doc)
        ids = [entity.id for entity in piece.entities]
        assert [group.attrs["entity"] for group in groups] == ids
        for group in groups:
            # The antecedent is in another piece, the confidence of the link is here.
            assert group.attrs["antecedents"] == [None]
            assert group.attrs["links"] == [pytest.approx(group.attrs["confidence"])]
            assert 0.5 < group.attrs["confidence"] < 1.0


def test_ids_are_saved_with_the_document(nlp: Language) -> None:
    pieces = list(resolve_stream(nlp, PIECES))
    data = DocBin(docs=[p.doc for p in pieces], store_user_data=True).to_bytes()
    docs = DocBin().from_bytes(data).get_docs(nlp.vocab)
    for piece, doc in zip(pieces, docs, strict=True):
        ids = [group.attrs["entity"] for group in get_clusters(doc)]
        assert ids == [entity.id for entity in piece.entities]
        assert json.loads(json.dumps(piece.to_dict())) == piece.to_dict()


def test_singletons_only_if_the_component_writes_them(
    nlp: Language, monkeypatch: pytest.MonkeyPatch
) -> None:
    for piece in resolve_stream(nlp, [*PIECES, ""]):
        assert "coref_singletons" not in piece.doc.spans
    monkeypatch.setattr(nlp.get_pipe("he_coref"), "singletons", True)
    pieces = list(resolve_stream(nlp, [*PIECES, ""]))
    groups = [piece.doc.spans["coref_singletons"] for piece in pieces]
    # A mention whose antecedent is in another piece is none.
    texts = [[span.text for span in group] for group in groups]
    assert texts == [["דנה", "יוסי"], [], ["דוד"], [], []]
    assert [g.attrs["confidences"] for g in groups] == [[1, 1], [], [1], [], []]


def test_odd_pieces_change_nothing(nlp: Language) -> None:
    odd = ["", "  \n", *PIECES[:2], "\t", "", *PIECES[2:], "דנה", " "]
    pieces = list(resolve_stream(nlp, odd, separator="|"))
    assert [piece.number for piece in pieces] == list(range(len(odd)))
    assert [piece.doc.text for piece in pieces] == odd
    expected = [[], [], *TOLD[:2], [], [], *TOLD[2:], [("דנה", ["דנה"])], []]
    assert [told(piece) for piece in pieces] == expected
    whole = "|".join(odd)
    for piece in pieces:
        assert whole[piece.offset :].startswith(piece.doc.text)
        for entity in piece.entities:
            for mention in entity.mentions:
                assert whole[mention.start : mention.end] == mention.text
    assert list(resolve_stream(nlp, [])) == []


@pytest.mark.parametrize("size", [0, 1, 4, 9, 60])
def test_what_is_remembered_does_not_grow(nlp: Language, size: int) -> None:
    memory = _Memory(nlp.get_pipe("he_coref"), size)
    offset = 0
    remembered = 0
    for text in PIECES * 5:
        with nlp.select_pipes(disable="he_coref"):
            doc = nlp(text)
        memory.read(doc, offset)
        offset += len(text)
        assert len(memory.doc) <= size
        # A copy: a view would keep the vectors of the whole piece.
        assert memory.vectors is None or memory.vectors.base is None
        for known in memory.known:
            assert memory.doc[known.start : known.end].text == known.mention.text
        remembered = max(remembered, len(memory.known))
    assert remembered == {0: 0, 1: 1, 4: 2, 9: 4, 60: 25}[size]


def test_without_memory_pieces_stand_alone(nlp: Language) -> None:
    texts = [" ".join(PIECES)] * 3
    pieces = list(resolve_stream(nlp, texts, memory=0))
    assert_same([piece.doc for piece in pieces], list(nlp.pipe(texts)))
    ids = [entity.id for piece in pieces for entity in piece.entities]
    assert ids == list(range(1, 10))


@pytest.mark.parametrize("size", [5, 12, 1000])
def test_every_mention_is_told_once(nlp: Language, size: int) -> None:
    pieces = list(resolve_stream(nlp, PIECES * 4, memory=size))
    found: Dict[int, List[StreamMention]] = {}
    for piece in pieces:
        for entity in piece.entities:
            so_far = found.setdefault(entity.id, [])
            so_far.extend(entity.mentions)
            assert entity.size == len(so_far) and entity.main in so_far
    everything = [mention for mentions in found.values() for mention in mentions]
    assert len(everything) == len(set(everything))
    assert all(
        mentions == sorted(mentions, key=lambda m: m.start)
        for mentions in found.values()
    )
    # Without room for all of them, the entities come back under new ids.
    assert (len(found) == 3) == (size == 1000)


def test_runs_are_equal_and_documents_can_go_again(nlp: Language) -> None:
    first = list(resolve_stream(nlp, PIECES * 2))
    for batch_size in (1, 3):
        again = resolve_stream(nlp, PIECES * 2, batch_size=batch_size)
        assert shown(list(again)) == shown(first)
    docs = [piece.doc for piece in first]
    assert shown(list(resolve_stream(nlp, docs))) == shown(first)


def test_pieces_are_read_one_by_one(nlp: Language) -> None:
    read: List[str] = []

    def feed() -> Iterator[str]:
        for text in PIECES:
            read.append(text)
            yield text

    stream = resolve_stream(nlp, feed())
    assert read == []
    for number in range(3):
        assert next(stream).number == number
        assert read == PIECES[: number + 1]


def test_components_after_coreference_run_on_each_piece(nlp: Language) -> None:
    nlp.add_pipe("doc_cleaner", config={"attrs": {"_.trf_data": None}})
    try:
        pieces = list(resolve_stream(nlp, PIECES))
    finally:
        nlp.remove_pipe("doc_cleaner")
    assert all(piece.doc._.trf_data is None for piece in pieces)
    assert [told(piece) for piece in pieces] == TOLD


def test_mentions_that_are_given_are_the_only_ones(nlp: Language) -> None:
    last = nlp.make_doc(PIECES[3])
    last.spans[GIVEN] = [last[2:3]]
    pieces = list(resolve_stream(nlp, [*PIECES[:3], last]))
    assert told(pieces[3]) == [("דנה", ["אליה"])]


def test_errors(nlp: Language) -> None:
    for text in (PIECES[0], nlp.make_doc(PIECES[0])):
        with pytest.raises(ValueError, match=r"\[text\]"):
            resolve_stream(nlp, text)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="memory is -1"):
        resolve_stream(nlp, [], memory=-1)
    with pytest.raises(ValueError, match="piece 1 is NoneType"):
        list(resolve_stream(nlp, ["דנה", None]))  # type: ignore[list-item]
    with pytest.raises(ValueError, match="only a tokenizer"):
        resolve_stream(spacy.blank("he"), [])
    with nlp.select_pipes(disable="he_coref"):
        with pytest.raises(ValueError, match="only sentencizer, transformer"):
            resolve_stream(nlp, [])


def test_a_piece_without_vectors_is_named(
    nlp: Language, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    with nlp.select_pipes(disable="transformer"):
        with pytest.raises(ValueError, match="'דנה ישבה' has no vectors"):
            list(resolve_stream(nlp, ["דנה ישבה"]))


def test_a_piece_that_an_error_handler_drops_keeps_its_place(
    nlp: Language, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipe: Any = nlp.get_pipe("he_coref")

    def fail(docs: Sequence[Doc]) -> List[Links]:
        if docs[0].text.endswith("!"):
            raise RuntimeError("bad")
        return link_words(pipe, docs)

    monkeypatch.setattr(pipe, "predict", fail)
    failed: List[str] = []
    handler = lambda name, pipe, docs, error: failed.append(docs[0].text)  # noqa: E731
    monkeypatch.setattr(pipe, "error_handler", handler, raising=False)
    pieces = list(resolve_stream(nlp, [PIECES[0], "דנה!", *PIECES[1:]]))
    assert failed == ["דנה!"]
    assert [piece.number for piece in pieces] == [0, 2, 3, 4]
    assert [told(piece) for piece in pieces] == TOLD
    assert pieces[1].offset == len(PIECES[0]) + len("דנה!")


def test_old_entities_stay_apart_and_what_is_decided_stays() -> None:
    # Four old mentions of two entities, one that is none, and two new mentions.
    bounds = np.array([[i, i + 1] for i in range(7)])
    pairs = [(2, 1), (4, 3), (5, 0), (5, 1), (5, 4), (6, 5), (6, 4), (6, 0)]
    scores = np.array([9, 9, 3, 4, 9, 1, 9, 5], dtype=np.float32)
    later, earlier = np.array(pairs).T
    links = Links(bounds, np.ones(7, dtype=np.float32), later, earlier, scores)
    one, other = _Entity(), _Entity()
    owners = [one, other, one, other, None, None, None]
    decided = _decided(links, owners, 5, 2.0)
    antecedents, roots, confidences = link_mentions(decided, 2.0)
    assert antecedents.tolist() == [-1, -1, 0, 1, -1, 1, 0]
    assert [owners[root] for root in roots[5:]] == [other, one]
    assert 0.5 < confidences[5] < 0.9 < confidences[6]
    # A cut for pronouns is one for what is new.
    floors = np.full(7, 20.0)
    decided = _decided(links._replace(floors=floors), owners, 5, 2.0)
    assert link_mentions(decided, 2.0)[0].tolist() == [-1, -1, 0, 1, -1, -1, -1]


def test_stretches_keep_what_coreference_reads(untrained: Language) -> None:
    doc = inputs(untrained)[0]
    sentences = [(s.start, s.end) for s in doc.sents]
    new = _gather(
        doc.vocab, [(doc, [sentences[1]]), (doc, sentences)], "coref_mentions"
    )
    last = sentences[1][1] - sentences[1][0]
    assert [t.text for t in new] == [t.text for t in [*doc[sentences[1][0] :], *doc]]
    assert [s.start for s in new.sents] == [
        0,
        *(start + last for start, _ in sentences),
    ]
    for old, token in zip([*doc[sentences[1][0] :], *doc], new, strict=True):
        assert (token.pos, token.dep, token.lemma) == (old.pos, old.dep, old.lemma)
        assert (token.morph, token.norm) == (old.morph, old.norm)
        assert token.head.i - token.i == old.head.i - old.i
        assert get_segment(token) == get_segment(old)
    assert len(word_bounds(new)) == len(word_bounds(doc)) + len(
        word_bounds(strip_gold(list(cut_document(doc, 1))[1]))
    )
    found = sorted((s.start, s.end) for s in new.spans["coref_mentions"])
    old_spans = [(s.start, s.end) for s in doc.spans["coref_mentions"]]
    shifted = [(a - sentences[1][0], b - sentences[1][0]) for a, b in old_spans]
    expected = [(a, b) for a, b in shifted if a >= 0]
    expected += [(a + last, b + last) for a, b in old_spans]
    assert found == sorted(expected)
    # Half of a sentence: the heads that are gone leave roots.
    half = _gather(doc.vocab, [(doc, [(2, 5)])], "coref_mentions")
    assert [t.head.i for t in half] == [1, 1, 1]


def test_frequent_entities_are_remembered_before_late_singletons() -> None:
    nlp = spacy.blank("he")
    words = ["א", "."] * 6
    starts = [i % 2 == 0 for i in range(12)]
    doc = Doc(nlp.vocab, words=words, sent_starts=starts)
    often = _Entity()
    often.size = 3
    often.main = StreamMention("א", 0, 1)
    known = [_Known(0, 1, often, often.main)]
    known += [_Known(2, 3, often, StreamMention("א", 4, 5))]
    for place in (4, 6, 8, 10):
        entity = _Entity()
        entity.size = 1
        mention = StreamMention("א", 2 * place, 2 * place + 1)
        known.append(_Known(place, place + 1, entity, mention))
    assert _select(doc, known, 4) == [(0, 2), (10, 12)]
    assert _select(doc, known, 6) == [(0, 2), (2, 4), (10, 12)]
    assert _select(doc, known, 8) == [(0, 2), (2, 4), (8, 10), (10, 12)]
    assert _select(doc, known, 100) == [(i, i + 2) for i in range(0, 12, 2)]
    assert _select(doc, known, 1) == [(10, 11)]
    assert _select(doc, [], 100) == []
