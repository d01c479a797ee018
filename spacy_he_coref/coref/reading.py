"""The reading API: ``doc._.coref``, ``token._.coref`` and ``span._.coref``.

It shows the clusters that stand in ``doc.spans`` (``clusters``), whoever wrote them:
the component, a gold corpus, or a file. Design section 1.
"""

from bisect import bisect_left, bisect_right
from functools import cached_property
from itertools import accumulate
from textwrap import shorten
from typing import (
    Any,
    Collection,
    Dict,
    List,
    NamedTuple,
    Optional,
    Sequence,
    Set,
    Tuple,
    Union,
    overload,
)
from weakref import WeakKeyDictionary

from spacy.tokens import Doc, Span, SpanGroup, Token

from ..corpus.docs import SINGLETONS
from ..mentions.kinds import CLITIC, NAME, PRONOUN, mention_head, mention_kind
from ..tokens import CLITIC as CLITIC_SEGMENT
from .clusters import get_clusters
from .rewriting import CLAUSES, PRONOUNS, ResolvedText, resolve_text

# A mention of more tokens is no handy name for an entity.
LONGEST_MAIN = 10
# Letters of a mention in a repr.
LONGEST_SHOWN = 60
_CONTENT_POS = {"NOUN", "PROPN", "ADJ", "NUM", "X"}
# Kinds that say more than a description, and less.
_RANKS = {NAME: 3, PRONOUN: 1, CLITIC: 0}


class Cluster(Sequence[Span]):
    """The mentions of one entity: a sequence of spans in the order of the text.

    doc (Doc): The document.
    number (int): Its place among the clusters of the document, from 1.
    """

    def __init__(self, doc: Doc, number: int, group: SpanGroup) -> None:
        """Read a cluster.

        doc (Doc): The document; spans alone would keep it alive, groups do not.
        number (int): The place of the cluster, from 1.
        group (SpanGroup): Its mentions; one or more.
        """
        self.doc = doc
        self.number = number
        self.mentions: Tuple[Span, ...] = tuple(group)
        self._attrs = group.attrs

    @overload
    def __getitem__(self, index: int) -> Span: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Span]: ...

    def __getitem__(self, index: Union[int, slice]) -> Union[Span, Sequence[Span]]:
        """One mention, or some.

        index (Union[int, slice]): The place of it in the order of the text.
        RETURNS (Union[Span, Tuple[Span]]): The mention or mentions.
        """
        return self.mentions[index]

    def __len__(self) -> int:
        return len(self.mentions)

    def __contains__(self, span: object) -> bool:
        """Whether a span is a mention of the cluster, whatever its label is."""
        return (
            isinstance(span, Span)
            and span.doc is self.doc
            and (span.start, span.end) in self._bounds
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Cluster):
            return NotImplemented
        return self.doc is other.doc and self._bounds == other._bounds

    def __hash__(self) -> int:
        return hash((id(self.doc), self._bounds))

    def __repr__(self) -> str:
        return f"{readable(self.main)}: {', '.join(map(readable, self.mentions))}"

    @cached_property
    def _bounds(self) -> Tuple[Tuple[int, int], ...]:
        return tuple((span.start, span.end) for span in self.mentions)

    @property
    def texts(self) -> List[str]:
        """The letters of each mention."""
        return [span.text for span in self.mentions]

    @property
    def offsets(self) -> List[Tuple[int, int]]:
        """Characters of each mention in ``doc.text``: first, and after the last."""
        return [(span.start_char, span.end_char) for span in self.mentions]

    @cached_property
    def kinds(self) -> List[str]:
        """The kind of each mention (``mentions.kinds``)."""
        return [mention_kind(self.doc, *bounds) for bounds in self._bounds]

    @property
    def confidence(self) -> Optional[float]:
        """Confidence of the cluster in [0, 1]; None if nothing is known about it."""
        return self._attrs.get("confidence")

    @property
    def links(self) -> List[Optional[float]]:
        """For each mention the confidence of the link to its antecedent in [0, 1];
        None for one without, or if nothing is known about it."""
        return _row(self._attrs, "links", len(self))

    @property
    def antecedents(self) -> List[Optional[int]]:
        """For each mention the place of its antecedent in the cluster; None for one
        without, or if nothing is known about it."""
        return _row(self._attrs, "antecedents", len(self))

    @cached_property
    def main(self) -> Span:
        """The mention that says best who or what it is.

        A name goes before a description, a description before a pronoun, a pronoun
        before a clitic. Among those of one rank, a handy mention (no clause in it, at
        most ``LONGEST_MAIN`` tokens) goes before others; then the one that says most:
        of names the fullest (יצחק הרצוג before הרצוג), of descriptions that of most
        nouns, adjectives, names and numbers (שומר הלילה before השומר); then the
        shortest (יצחק הרצוג before נשיא המדינה יצחק הרצוג); then the first in the
        text.

        Without tags there are no ranks, and all tokens count as content.
        """
        scores = [
            informativeness(self.doc, *bounds, kind)
            for bounds, kind in zip(self._bounds, self.kinds, strict=True)
        ]
        return self.mentions[scores.index(max(scores))]

    def to_dict(self) -> Dict[str, Any]:
        """The cluster for JSON.

        RETURNS (Dict[str, Any]): ``main`` (place of the main mention in
            ``mentions``), ``confidence``, and ``mentions``, each with ``text``,
            ``start``, ``end`` (characters in the text), ``kind`` and ``confidence``
            (that of its link).
        """
        return {
            "main": self.mentions.index(self.main),
            "confidence": self.confidence,
            "mentions": [
                _mention_dict(span, kind, link)
                for span, kind, link in zip(
                    self.mentions, self.kinds, self.links, strict=True
                )
            ],
        }


class DocCoref(Sequence[Cluster]):
    """What ``doc._.coref`` gives: the clusters of a document, in their order.

    It is a picture of the moment: take it again after the document has changed. For
    many questions about one document, take it once and ask with ``of``.
    """

    def __init__(self, doc: Doc) -> None:
        """Read the clusters of a document.

        doc (Doc): The document, with clusters or without.
        """
        self.doc = doc
        self.clusters: List[Cluster] = [
            Cluster(doc, number, group)
            for number, group in enumerate(_groups(doc), start=1)
        ]
        self._alone = doc.spans[SINGLETONS] if SINGLETONS in doc.spans else None

    @overload
    def __getitem__(self, index: int) -> Cluster: ...

    @overload
    def __getitem__(self, index: slice) -> List[Cluster]: ...

    def __getitem__(self, index: Union[int, slice]) -> Union[Cluster, List[Cluster]]:
        """One cluster, or some.

        index (Union[int, slice]): The place of it, from 0.
        RETURNS (Union[Cluster, List[Cluster]]): The cluster or clusters.
        """
        return self.clusters[index]

    def __len__(self) -> int:
        return len(self.clusters)

    def __repr__(self) -> str:
        if not self.clusters:
            return "no clusters"
        return "\n".join(f"{c.number}. {c!r}" for c in self.clusters)

    def _repr_html_(self) -> str:
        """What a notebook shows: the text with its clusters (``display``)."""
        from ..display.html import fragment

        return fragment(self)

    @cached_property
    def singletons(self) -> List[Span]:
        """Mentions that nothing else refers to, if the document has them: gold ones
        do, others with the component's switch ``singletons``."""
        return [] if self._alone is None else list(self._alone)

    @property
    def singleton_confidences(self) -> List[Optional[float]]:
        """For each singleton the confidence in [0, 1] that it is a mention; None if
        nothing is known about it."""
        attrs = {} if self._alone is None else self._alone.attrs
        return _row(attrs, "confidences", len(self.singletons))

    @property
    def mentions(self) -> List[Span]:
        """The mentions of all clusters and the singletons, in the order of the text;
        of those that begin together the longer first."""
        found = [span for cluster in self.clusters for span in cluster]
        return sorted([*found, *self.singletons], key=lambda s: (s.start, -s.end))

    def of(self, item: Union[Span, Token]) -> List[Cluster]:
        """The clusters of which a mention contains a token or a whole span.

        item (Union[Span, Token]): A token or span of the document. For a clitic
            inside a word, take its token: דברי|ו has two, and ``token._.word`` both.
        RETURNS (List[Cluster]): Those with the shortest mention around it first, so
            the cluster of exactly this span, if there is one, is the first.
        RAISES (ValueError): If it is of another document.
        """
        if item.doc is not self.doc:
            raise ValueError(
                f"{item.text!r} is not of this document, {self.doc.text[:40]!r}. Ask "
                "the doc._.coref of its own document."
            )
        start, end = _bounds_of(item)
        return [self.clusters[i] for i in self._index.around(start, end)]

    @cached_property
    def _index(self) -> "_Index":
        return _Index(self.clusters)

    def resolve(
        self,
        mentions: str = PRONOUNS,
        *,
        clitics: bool = True,
        persons: Collection[int] = (3,),
        longest: int = LONGEST_MAIN,
    ) -> ResolvedText:
        """The text with pronouns and clitics replaced by the main mentions of their
        clusters: לו becomes לדן, ביתו becomes הבית של דן (``rewriting``).

        The document itself stays as it is. A mention that no rule can replace in
        good Hebrew stays too; ``left`` of the result has it and the reason.

        mentions (str): ``pronouns``, or ``all`` for every mention: names and
            descriptions become the main mention too, of nested ones the outermost.
        clitics (bool): Replace pronouns inside words (לו, ביתו), not only those that
            are words of their own (הוא).
        persons (Collection[int]): Grammatical persons of the pronouns to replace. Of
            1 and 2 (אני, לך) verbs keep their form, which then does not agree.
        longest (int): The most tokens to insert. Main mentions lose clauses and
            appositions, and then their last modifiers; if that is not enough, the
            pronoun stays.
        RETURNS (ResolvedText): A string with ``pieces``, ``origin(i)`` and
            ``origins``, which say where in ``doc.text`` each character comes from.
        RAISES (ValueError): If an option has a value that it cannot have.
        """
        return resolve_text(
            self, mentions, clitics=clitics, persons=persons, longest=longest
        )

    def to_dict(self) -> Dict[str, Any]:
        """The clusters for JSON.

        RETURNS (Dict[str, Any]): ``text``; ``clusters`` (see ``Cluster.to_dict``);
            and ``singletons``, each with ``text``, ``start``, ``end`` (characters in
            the text), ``kind`` and ``confidence`` (that it is a mention).
        """
        return {
            "text": self.doc.text,
            "clusters": [cluster.to_dict() for cluster in self.clusters],
            "singletons": [
                _mention_dict(span, mention_kind(self.doc, span.start, span.end), score)
                for span, score in zip(
                    self.singletons, self.singleton_confidences, strict=True
                )
            ],
        }


class _Index:
    """Finds the mentions around a stretch of tokens; keeps numbers only."""

    def __init__(self, clusters: Sequence[Cluster]) -> None:
        rows = sorted(
            (start, end, i)
            for i, cluster in enumerate(clusters)
            for start, end in cluster._bounds
        )
        self.rows = rows
        self.starts = [start for start, _, _ in rows]
        # The furthest end of all mentions up to each: where to stop looking.
        self.reach = list(accumulate((end for _, end, _ in rows), max))

    def around(self, start: int, end: int) -> List[int]:
        """The clusters with a mention around tokens, the shortest mention first."""
        found: List[Tuple[int, int]] = []
        i = bisect_right(self.starts, start) - 1
        while i >= 0 and self.reach[i] >= end:
            first, last, cluster = self.rows[i]
            if last >= end:
                found.append((last - first, cluster))
            i -= 1
        return list(dict.fromkeys(cluster for _, cluster in sorted(found)))

    def exactly(self, start: int, end: int) -> Optional[int]:
        """The first cluster with a mention of just these tokens."""
        i = bisect_left(self.rows, (start, end, 0))
        if i < len(self.rows) and self.rows[i][:2] == (start, end):
            return self.rows[i][2]
        return None


class _Remembered(NamedTuple):
    """An index with what it was made from.

    spans (Dict[str, SpanGroup]), sizes (List[int]): All groups of the document then,
        and their sizes.
    groups (List[SpanGroup]): The clusters among them, in the order of the index.
    lookup (_Index): The index.
    """

    spans: Dict[str, SpanGroup]
    sizes: List[int]
    groups: List[SpanGroup]
    lookup: _Index


# For token._.coref in a loop. Nothing in it may hold on to the Doc.
_indexes: "WeakKeyDictionary[Doc, _Remembered]" = WeakKeyDictionary()


def _groups(doc: Doc) -> List[SpanGroup]:
    return [group for group in get_clusters(doc) if len(group)]


def _remembered(doc: Doc) -> _Remembered:
    # Compared without a loop in Python: a document can have thousands of clusters.
    spans = doc.spans.data
    sizes = list(map(len, spans.values()))
    known = _indexes.get(doc)
    if known is None or known.sizes != sizes or known.spans != spans:
        lookup = _Index(DocCoref(doc).clusters)
        known = _Remembered(dict(spans), sizes, _groups(doc), lookup)
        _indexes[doc] = known
    return known


def _get_doc_coref(doc: Doc) -> DocCoref:
    return DocCoref(doc)


def _get_token_coref(token: Token) -> List[Cluster]:
    known = _remembered(token.doc)
    found = known.lookup.around(token.i, token.i + 1)
    return [Cluster(token.doc, i + 1, known.groups[i]) for i in found]


def _get_span_coref(span: Span) -> Optional[Cluster]:
    known = _remembered(span.doc)
    i = known.lookup.exactly(span.start, span.end)
    return None if i is None else Cluster(span.doc, i + 1, known.groups[i])


def _bounds_of(item: Union[Span, Token]) -> Tuple[int, int]:
    if isinstance(item, Token):
        return item.i, item.i + 1
    return item.start, item.end


def _row(attrs: Dict[str, Any], name: str, size: int) -> List[Any]:
    """One value per mention of a group, or None for each."""
    values = attrs.get(name)
    # Of other length in a group that was edited, or joined by Doc.from_docs.
    if values is None or len(values) != size:
        return [None] * size
    return list(values)


def _mention_dict(span: Span, kind: str, confidence: Optional[float]) -> Dict[str, Any]:
    return {
        "text": span.text,
        "start": span.start_char,
        "end": span.end_char,
        "kind": kind,
        "confidence": confidence,
    }


def readable(span: Span, width: Optional[int] = LONGEST_SHOWN) -> str:
    """A mention for the eye.

    span (Span): The mention.
    width (Optional[int]): The most letters to show; None for all.
    RETURNS (str): Its text in one line, shortened to its first words if need be; for
        a clitic with the word that it is the end of, in brackets.
    """
    text = span.text
    if len(span) == 1 and span[0]._.segment_kind == CLITIC_SEGMENT:
        text += f" ({span[0]._.word.text})"
    return shorten(text, width, placeholder=" …") if width else " ".join(text.split())


def informativeness(
    doc: Doc, start: int, end: int, kind: str
) -> Tuple[int, bool, int, int]:
    """How much a mention says (see ``Cluster.main``).

    doc (Doc): The document.
    start (int), end (int): First token of the mention and the one after the last.
    kind (str): What it is (``mentions.kinds.mention_kind``).
    RETURNS (Tuple[int, bool, int, int]): To compare with others; more is greater.
    """
    tokens = [doc[i] for i in range(start, end)]
    if not tokens:
        # A span that someone emptied says less than any other.
        return -1, False, 0, 0
    rank = _RANKS.get(kind, 2)
    handy = len(tokens) <= LONGEST_MAIN and not any(
        token.dep_.startswith(CLAUSES) and start <= token.head.i < end
        for token in tokens
    )
    if not handy:
        return rank, handy, 0, -len(tokens)
    if kind == NAME:
        said = len(_name_tokens(doc, start, end))
    else:
        said = sum(not token.pos or token.pos_ in _CONTENT_POS for token in tokens)
    return rank, handy, said, -len(tokens)


def _name_tokens(doc: Doc, start: int, end: int) -> Set[int]:
    """The tokens of the name of a mention: proper nouns that hang from its head
    through proper nouns only."""
    head = mention_head(doc, start, end)
    inside: Set[int] = {head.i}
    # Heads may stand on either side, so until nothing is added.
    grown = True
    while grown:
        more = {
            i
            for i in range(start, end)
            if i not in inside and doc[i].pos_ == "PROPN" and doc[i].head.i in inside
        }
        inside |= more
        grown = bool(more)
    return {i for i in inside if doc[i].pos_ == "PROPN"}


def register_coref() -> None:
    """Set the extension attributes ``coref`` of Doc, Token and Span; safe to call
    again.

    - ``doc._.coref`` (DocCoref): all clusters;
    - ``token._.coref`` (List[Cluster]): the clusters of which a mention contains the
      token, that of the shortest mention first;
    - ``span._.coref`` (Optional[Cluster]): the cluster of exactly this span.

    The last two look up an index that is made again when a span group of the document
    is replaced, added, removed or has another size. For all tokens of a long document
    ``doc._.coref.of`` is faster.
    """
    Doc.set_extension("coref", getter=_get_doc_coref, force=True)
    Token.set_extension("coref", getter=_get_token_coref, force=True)
    Span.set_extension("coref", getter=_get_span_coref, force=True)
