"""``resolve_stream``: text that comes in pieces, with entities that go on.

Every piece goes through the pipeline alone, except that ``he_coref`` reads it behind
sentences that are remembered from earlier pieces, with the vectors that these had
there. What has been decided about remembered mentions stays: a new mention joins the
entity of its antecedent, wherever this stands, and no two old entities become one.
"""

from bisect import bisect_right
from itertools import chain
from typing import (
    Any,
    Dict,
    Iterable,
    Iterator,
    List,
    NamedTuple,
    Optional,
    Sequence,
    Set,
    Tuple,
    Union,
)

import numpy as np
from spacy.attrs import DEP, HEAD, LEMMA, MORPH, NORM, POS, SENT_START, TAG
from spacy.language import Language
from spacy.tokens import Doc, SpanGroup
from spacy.vocab import Vocab

from ..corpus.docs import CLUSTER_PREFIX, SINGLETONS
from ..encoder.model import token_data
from ..mentions.kinds import mention_kind
from ..tokens import Segment, get_segment, set_segment
from .clusters import clear_clusters, cluster_confidence
from .component import GIVEN, HebrewCoref, link_mentions
from .model import Links
from .reading import informativeness

Bounds = Tuple[int, int]
_COPIED = [TAG, POS, MORPH, LEMMA, DEP, NORM, HEAD, SENT_START]


class StreamMention(NamedTuple):
    """A mention by its place in the whole text.

    text (str): Its letters.
    start (int): Its first character in the whole text.
    end (int): The character after its last one.
    """

    text: str
    start: int
    end: int


class StreamEntity(NamedTuple):
    """What a piece says of an entity.

    id (int): Its number, from 1, the same in every piece.
    main (StreamMention): The mention that says best who or what it is, of all so far
        (see ``Cluster.main``).
    size (int): How many mentions it has so far.
    mentions (Tuple[StreamMention, ...]): Those that this piece makes known, in the
        order of the text: those in it, and before them one of an earlier piece if
        nothing referred to that until now. So every mention is told once.
    """

    id: int
    main: StreamMention
    size: int
    mentions: Tuple[StreamMention, ...]


class StreamPiece(NamedTuple):
    """A piece of the text, resolved.

    doc (Doc): The piece as a document of its own, as ``nlp`` gives it. Its clusters
        are the entities that have mentions in it, so a cluster may be one mention,
        the others of which are in earlier pieces; ``attrs["entity"]`` of its group is
        the id of the entity.
    number (int): Its place in the stream, from 0.
    offset (int): Its first character in the whole text.
    entities (Tuple[StreamEntity, ...]): The entities of its clusters, in the order of
        ``doc._.coref``.
    """

    doc: Doc
    number: int
    offset: int
    entities: Tuple[StreamEntity, ...]

    def to_dict(self) -> Dict[str, Any]:
        """The piece for JSON.

        RETURNS (Dict[str, Any]): ``piece`` (its number), ``offset``, ``text``, and
            ``entities``, each with ``id``, ``size``, ``main`` and ``mentions``; these
            have ``text``, ``start`` and ``end``, characters in the whole text.
        """
        return {
            "piece": self.number,
            "offset": self.offset,
            "text": self.doc.text,
            "entities": [
                {
                    "id": entity.id,
                    "main": entity.main._asdict(),
                    "size": entity.size,
                    "mentions": [mention._asdict() for mention in entity.mentions],
                }
                for entity in self.entities
            ],
        }


def resolve_stream(
    nlp: Language,
    texts: Iterable[Union[str, Doc]],
    *,
    memory: int = 1000,
    separator: str = "",
    batch_size: int = 1,
) -> Iterator[StreamPiece]:
    """Resolve a text that comes in pieces: chapters, messages, a feed.

    The whole text is ``separator.join(texts)``. Of one piece the result is that of
    ``nlp(text)``. Between pieces some sentences are remembered: the latest ones, and
    for the entities with most mentions those of the main and of the latest mention.
    An entity with no mention in them is forgotten; if it comes back it is a new one.
    Cut pieces between sentences, best between paragraphs.

    nlp (Language): A pipeline with ``he_coref``. Word-level coreference
        (``experimental_coref``) cannot be told what is decided already.
    texts (Iterable[Union[str, Doc]]): The pieces in order; read one by one.
    memory (int): The most tokens that are remembered; 0 resolves each piece alone.
        Time and memory do not depend on how many pieces there were.
    separator (str): What stands between two pieces in the whole text.
    batch_size (int): Pieces that go through the components before ``he_coref``
        together: with more it is faster, but so many are read ahead.
    YIELDS (StreamPiece): Each piece, as soon as it is resolved.
    RAISES (ValueError): If the pipeline cannot do it, or an argument makes no sense.
    """
    if isinstance(texts, (str, Doc)):
        raise ValueError(
            "resolve_stream takes the pieces of a text, and was given a single one. "
            "Put it into a list: [text]."
        )
    if memory < 0:
        raise ValueError(f"resolve_stream: memory is {memory}; set it to 0 or more.")
    for name, pipe in nlp.pipeline:
        if isinstance(pipe, HebrewCoref):
            return _resolve(
                nlp, name, _Memory(pipe, memory), texts, separator, batch_size
            )
    raise ValueError(
        "resolve_stream needs the component 'he_coref', and the pipeline has only "
        f"{', '.join(nlp.pipe_names) or 'a tokenizer'}. Load 'he_coref', or enable the "
        "component; word-level coreference (experimental_coref) cannot carry entities "
        "over."
    )


def _resolve(
    nlp: Language,
    name: str,
    memory: "_Memory",
    texts: Iterable[Union[str, Doc]],
    separator: str,
    batch_size: int,
) -> Iterator[StreamPiece]:
    names = nlp.pipe_names
    place = names.index(name)
    handle = memory.component.get_error_handler()

    def resolved() -> Iterator[Tuple[Doc, Any]]:
        for doc, (number, offset) in nlp.pipe(
            _numbered(texts, separator),
            as_tuples=True,
            disable=names[place:],
            batch_size=batch_size,
        ):
            try:
                entities = memory.read(doc, offset)
            except Exception as error:
                handle(name, memory.component, [doc], error)
            else:
                yield doc, (number, offset, entities)

    for doc, found in nlp.pipe(
        resolved(), as_tuples=True, disable=names[: place + 1], batch_size=1
    ):
        yield StreamPiece(doc, *found)


def _numbered(
    texts: Iterable[Union[str, Doc]], separator: str
) -> Iterator[Tuple[Union[str, Doc], Tuple[int, int]]]:
    offset = 0
    for number, text in enumerate(texts):
        if not isinstance(text, (str, Doc)):
            raise ValueError(
                f"resolve_stream: piece {number} is {type(text).__name__}, not a text. "
                "Give every piece as a string or Doc."
            )
        yield text, (number, offset)
        size = len(text) if isinstance(text, str) else len(text.text)
        offset += size + len(separator)


class _Entity:
    """An entity as long as one of its mentions is remembered."""

    def __init__(self) -> None:
        # None until it has a second mention.
        self.id: Optional[int] = None
        self.size = 0
        self.main = StreamMention("", 0, 0)
        self.score: Tuple[Any, ...] = ()
        # Mentions that no piece has told of.
        self.waiting: List[StreamMention] = []

    def add(self, doc: Doc, start: int, end: int, offset: int) -> StreamMention:
        span = doc[start:end]
        mention = StreamMention(
            span.text, offset + span.start_char, offset + span.end_char
        )
        kind = mention_kind(doc, start, end)
        score = informativeness(doc, start, end, kind)
        if score > self.score:
            self.main, self.score = mention, score
        self.size += 1
        self.waiting.append(mention)
        return mention


class _Known(NamedTuple):
    """A mention that is remembered: its tokens, its entity, its place in the text."""

    start: int
    end: int
    entity: _Entity
    mention: StreamMention


class _Memory:
    """The remembered sentences, in one Doc, and what was decided about them.

    component (HebrewCoref): Finds and links mentions.
    size (int): The most tokens.
    """

    def __init__(self, component: HebrewCoref, size: int) -> None:
        """Remember nothing yet.

        component (HebrewCoref): Finds and links mentions.
        size (int): The most tokens.
        RAISES (ValueError): If the component makes its own vectors.
        """
        if not component.model.get_ref("tok2vec").has_ref("listener"):
            raise ValueError(
                f"resolve_stream: the component {component.name!r} has an encoder of "
                "its own, whose vectors cannot be kept. Use one that listens to "
                "'transformer' (spacy_he_coref.TokenListener.v1)."
            )
        self.component = component
        self.size = size
        self.doc = Doc(component.vocab)
        self.vectors: Any = None
        self.known: List[_Known] = []
        self.ids = 0

    def read(self, doc: Doc, offset: int) -> Tuple[StreamEntity, ...]:
        """Write the clusters of the next piece, and remember it.

        doc (Doc): The piece, as it is before ``he_coref``.
        offset (int): Its first character in the whole text.
        RETURNS (Tuple[StreamEntity, ...]): The entities of its clusters.
        """
        component = self.component
        # Without vectors it is read alone, which gives the error that names it.
        alone = not len(doc) or not len(self.doc) or doc._.trf_data is None
        known = [] if alone else self.known
        shift = 0 if alone else len(self.doc)
        joined, vectors = (doc, None) if alone else self._join(doc)
        links = component.predict([joined])[0]
        owners = _owners(links, known)
        antecedents, roots, confidences = link_mentions(
            _decided(links, owners, shift, component.link_cut),
            component.link_cut,
            component.calibration,
        )
        members: Dict[_Entity, List[int]] = {}
        fresh: List[_Known] = []
        entity_of: Dict[int, _Entity] = {}
        for i, (start, end) in enumerate(links.bounds.tolist()):
            if start < shift:
                continue
            root = int(roots[i])
            entity = owners[root] or entity_of.setdefault(root, _Entity())
            members.setdefault(entity, []).append(i)
            mention = entity.add(doc, start - shift, end - shift, offset)
            fresh.append(_Known(start, end, entity, mention))
        found = self._annotate(doc, shift, links, members, antecedents, confidences)
        if len(doc) and self.size:
            if vectors is None:
                vectors = self._vectors(doc)
            self._remember(joined, vectors, [*known, *fresh])
        return found

    def _annotate(
        self,
        doc: Doc,
        shift: int,
        links: Links,
        members: Dict[_Entity, List[int]],
        antecedents: np.ndarray,
        confidences: np.ndarray,
    ) -> Tuple[StreamEntity, ...]:
        """Write the groups that ``clusters.set_clusters`` would, and those of one
        mention whose entity has others."""
        clear_clusters(doc)
        found: List[StreamEntity] = []
        for entity, group in members.items():
            if entity.size > 1:
                found.append(self._tell(entity))
                scores = [
                    float(confidences[i]) if antecedents[i] >= 0 else None
                    for i in group
                ]
                places = {i: place for place, i in enumerate(group)}
                attrs = {
                    "confidence": cluster_confidence(scores),
                    "links": scores,
                    "antecedents": [places.get(int(antecedents[i])) for i in group],
                    "entity": entity.id,
                }
                key = f"{CLUSTER_PREFIX}_{len(found)}"
                _write(doc, key, links.bounds[group] - shift, attrs)
        if self.component.singletons:
            rows = [group[0] for entity, group in members.items() if entity.size == 1]
            attrs = {"confidences": links.probabilities[rows].astype(float).tolist()}
            _write(doc, SINGLETONS, links.bounds[rows] - shift, attrs)
        return tuple(found)

    def _tell(self, entity: _Entity) -> StreamEntity:
        if entity.id is None:
            self.ids += 1
            entity.id = self.ids
        mentions, entity.waiting = tuple(entity.waiting), []
        return StreamEntity(entity.id, entity.main, entity.size, mentions)

    def _vectors(self, doc: Doc) -> Any:
        return self.component.model.get_ref("tok2vec").predict([doc])[0]

    def _join(self, doc: Doc) -> Tuple[Doc, Any]:
        """The remembered sentences and a piece in one Doc, with its vectors."""
        parts = [(part, [(0, len(part))]) for part in (self.doc, doc)]
        joined = _gather(doc.vocab, parts, self.component.candidates)
        if GIVEN in doc.spans:
            given = [(known.start, known.end) for known in self.known]
            shift = len(self.doc)
            given += [(s.start + shift, s.end + shift) for s in doc.spans[GIVEN]]
            _write(joined, GIVEN, given, {})
        xp = self.component.model.ops.xp
        vectors = xp.concatenate([self.vectors, self._vectors(doc)])
        joined._.trf_data = token_data(vectors)
        return joined, vectors

    def _remember(self, doc: Doc, vectors: Any, known: List[_Known]) -> None:
        kept = _select(doc, known, self.size)
        index = _index(kept)
        place = _places(index, len(doc))
        self.doc = _gather(doc.vocab, [(doc, kept)], self.component.candidates)
        # Copied, or the vectors of the whole piece would be kept.
        self.vectors = vectors[index]
        self.known = [
            one._replace(start=int(place[one.start]), end=int(place[one.end - 1]) + 1)
            for one in known
            if any(start <= one.start and one.end <= end for start, end in kept)
        ]


def _write(
    doc: Doc, key: str, bounds: Iterable[Sequence[int]], attrs: Dict[str, Any]
) -> None:
    spans = [doc[int(start) : int(end)] for start, end in bounds]
    doc.spans[key] = SpanGroup(doc, name=key, attrs=attrs, spans=spans)


def _owners(links: Links, known: Sequence[_Known]) -> List[Optional[_Entity]]:
    """For each mention its entity, None if nothing is decided about it."""
    entities = {(one.start, one.end): one.entity for one in known}
    return [entities.get((start, end)) for start, end in links.bounds.tolist()]


def _decided(
    links: Links, owners: Sequence[Optional[_Entity]], shift: int, cut: float
) -> Links:
    """Put what is decided in the place of links between remembered mentions.

    links (Links): What the model says of the remembered sentences and a piece.
    owners (Sequence[Optional[_Entity]]): The entity of each mention that has one.
    shift (int): The first token of the piece.
    cut (float): Links need a higher score than this.
    RETURNS (Links): With links of mentions of the piece, which go to the piece and to
        remembered mentions, and of each remembered one to the one before it of its
        entity.
    """
    previous: Dict[_Entity, int] = {}
    pairs: List[Bounds] = []
    for i, entity in enumerate(owners):
        if entity is not None:
            if entity in previous:
                pairs.append((i, previous[entity]))
            previous[entity] = i
    here = links.bounds[:, 0] >= shift
    known = np.array([entity is not None for entity in owners], dtype=bool)
    kept = here[links.later] & (here | known)[links.earlier]
    old = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    sure = np.full(len(old), cut + 1.0, dtype=links.scores.dtype)
    floors = links.floors
    if floors is not None:
        floors = np.where(known, -np.inf, floors)
    return links._replace(
        floors=floors,
        later=np.concatenate([old[:, 0], links.later[kept]]),
        earlier=np.concatenate([old[:, 1], links.earlier[kept]]),
        scores=np.concatenate([sure, links.scores[kept]]),
    )


def _select(doc: Doc, known: Sequence[_Known], size: int) -> List[Bounds]:
    """The sentences to remember, as stretches of tokens in the order of the text.

    Half of the tokens go to the latest sentences. Then come, for each entity, that
    with most mentions first, and of equals the latest, the sentences of its main
    mention and of its latest one; then the others, the latest first. What has no
    mention, or does not fit, is left out.
    """
    # A sentence that takes more than its share is remembered in parts.
    most = max(1, size // 2)
    stretches: List[Bounds] = []
    for start, end in _sentences(doc):
        stretches += [(i, min(i + most, end)) for i in range(start, end, most)]
    starts = [start for start, _ in stretches]
    latest: Dict[_Entity, int] = {}
    main: Dict[_Entity, int] = {}
    used: Set[int] = set()
    for one in sorted(known, key=lambda one: one.start):
        place = bisect_right(starts, one.start) - 1
        if one.end > stretches[place][1]:
            continue
        used.add(place)
        latest[one.entity] = place
        if one.mention == one.entity.main:
            main[one.entity] = place
    by_time = sorted(used, reverse=True)
    recent: List[int] = []
    room = most
    for place in by_time:
        room -= stretches[place][1] - stretches[place][0]
        if room < 0:
            break
        recent.append(place)
    ranked = sorted(
        (entity for entity in latest if entity.size > 1),
        key=lambda entity: (-entity.size, -latest[entity]),
    )
    wanted = (
        place
        for entity in ranked
        for place in (main.get(entity, latest[entity]), latest[entity])
    )
    chosen: Set[int] = set()
    for place in chain(recent, wanted, by_time):
        length = stretches[place][1] - stretches[place][0]
        if place not in chosen and length <= size:
            chosen.add(place)
            size -= length
    return [stretches[place] for place in sorted(chosen)]


def _sentences(doc: Doc) -> List[Bounds]:
    if not doc.has_annotation("SENT_START"):
        return [(0, len(doc))]
    return [(sentence.start, sentence.end) for sentence in doc.sents]


def _index(stretches: Sequence[Bounds]) -> np.ndarray:
    nothing = np.zeros(0, dtype=np.int64)
    return np.concatenate([nothing, *(np.arange(a, b) for a, b in stretches)])


def _places(index: np.ndarray, size: int) -> np.ndarray:
    """For each token of a Doc its place among those chosen, -1 for none."""
    places = np.full(size, -1, dtype=np.int64)
    places[index] = np.arange(len(index))
    return places


def _gather(
    vocab: Vocab, parts: Sequence[Tuple[Doc, Sequence[Bounds]]], key: str
) -> Doc:
    """Make a Doc of stretches of others, with what ``he_coref`` reads of them.

    vocab (Vocab): The vocabulary of all.
    parts (Sequence[Tuple[Doc, Sequence[Bounds]]]): Documents, and first tokens and
        tokens after the last ones of stretches of each, which are sentences or more.
    key (str): The span group to take along.
    RETURNS (Doc): The tokens, with the morpheme layer, tags, trees and sentences. A
        stretch starts a sentence, and a head outside of it is left off.
    """
    words: List[str] = []
    spaces: List[bool] = []
    rows: List[Any] = []
    segments: List[Tuple[int, Sequence[Any]]] = []
    bounds: List[Bounds] = []
    for doc, stretches in parts:
        values = doc.to_array(_COPIED).reshape(len(doc), -1).astype(np.int64)
        first = len(words)
        for start, end in stretches:
            own = values[start:end]
            outside = (np.arange(end - start) + own[:, -2]) // max(end - start, 1) != 0
            own[outside, -2] = 0
            own[:1, -1] = 1
            rows.append(own)
            # Words of different places must not look like one.
            if spaces:
                spaces[-1] = True
            for token in doc[start:end]:
                row = get_segment(token)
                if row is not None:
                    segments.append((len(words), row))
                words.append(token.text)
                spaces.append(bool(token.whitespace_))
        places = _places(_index(stretches), len(doc))
        for span in doc.spans.get(key, ()):
            if span.start == span.end:
                continue
            begin, last = int(places[span.start]), int(places[span.end - 1])
            if begin >= 0 and last - begin == span.end - 1 - span.start:
                bounds.append((first + begin, first + last + 1))
    new = Doc(vocab, words=words, spaces=spaces)
    # spaCy's stubs know thinc's array types only.
    columns: Any = np.concatenate(rows) if rows else np.zeros((0, len(_COPIED)))
    if columns[:, _COPIED.index(DEP)].any() or columns[:, -2].any():
        new.from_array(_COPIED[:-1], columns[:, :-1].astype(np.uint64))
    elif len(new):
        new.from_array(_COPIED[:-2], columns[:, :-2].astype(np.uint64))
    if len(new):
        # After the heads, which set sentence starts of their own.
        new.from_array([SENT_START], columns[:, -1:].astype(np.uint64))
    for i, row in segments:
        segment = Segment(words[i], row[3], row[0], tuple(row[1]), row[2])
        set_segment(new, new[i].idx, segment, row[4])
    _write(new, key, bounds, {})
    return new
