"""A predicted document beside the gold one, mention by mention.

What the analyses (``analysis``, ``errors``) look at. Mentions are keyed, and what
counts is chosen, just as ``regimes.RegimeScore`` does it with exact spans, so all
counts agree with its own.
"""

from itertools import accumulate
from typing import Callable, Dict, Iterable, List, NamedTuple, Optional, Sequence, Set

from spacy.tokens import Doc

from ..corpus.docs import SINGLETONS
from ..mentions.kinds import (
    CLITIC,
    COORDINATED,
    NAME,
    PRONOUN,
    mention_head,
    mention_kind,
)
from ..segmenter.letters import describe_doc
from ..tokens import COVERT_ARTICLE, tokens_to_morphemes
from .coref import (
    CorefCounts,
    Key,
    LetterAlignment,
    clean_clusters,
    cluster_bounds,
    coref_counts,
    project,
)
from .regimes import (
    GIVEN_MENTIONS,
    GOLD_TOKENS,
    check_clusters,
    check_regime,
    check_tokens,
    morpheme_keys,
)
from .segmentation import Span

DEFINITE = "definite"
INDEFINITE = "indefinite"
CONSTRUCT = "construct"
# Kinds of a document without tags; clitics are known without.
UNKNOWN = "unknown"
KINDS = (CLITIC, PRONOUN, NAME, DEFINITE, INDEFINITE, CONSTRUCT, COORDINATED)
# Kinds without content of their own.
PRONOMINAL = frozenset((CLITIC, PRONOUN))


def analysis_kind(doc: Doc, start: int, end: int) -> str:
    """The kind of a mention in figures and errors: the first that fits.

    - ``clitic``, ``coordinated``, ``pronoun``, ``name``: as ``mentions.kinds``;
    - ``construct``: the head is in construct state (בית הספר, ילדי השכונה);
    - ``definite``: the head has an article, written or not, a possessive clitic or a
      demonstrative (הבית, ביתו, בית זה);
    - ``indefinite``: every other one (בית, אתמול, 1980).

    doc (Doc): The document.
    start (int), end (int): First token of the mention and the one after the last.
    RETURNS (str): One of ``KINDS``; ``unknown`` for what is no clitic in a document
        without tags.
    """
    kind = mention_kind(doc, start, end)
    if kind in (CLITIC, COORDINATED):
        return kind
    head = mention_head(doc, start, end)
    if not head.pos:
        return UNKNOWN
    if kind in (PRONOUN, NAME):
        return kind
    inside = [doc[i] for i in range(start, end) if doc[i].head.i == head.i]
    state = head.morph.get("Definite", [])
    if "Cons" in state or any(token.dep_ == "compound:smixut" for token in inside):
        return CONSTRUCT
    definite = "Def" in state or COVERT_ARTICLE in head._.morphemes
    for token in inside:
        kinds = token.morph.get("PronType", [])
        # In the treebank the article of a participle is a mark (הממונה).
        article = token.text == "ה" and token.dep_ in ("det:def", "mark")
        definite = definite or article or "Art" in kinds
        definite = definite or (token.dep_ == "det" and "Dem" in kinds)
    return DEFINITE if definite else INDEFINITE


class Mention(NamedTuple):
    """A mention of a cluster that counts.

    key (Key): By which it is compared.
    tokens (Span): First token in its own document and the one after the last.
    cluster (int): Number of its cluster on its side, from 0.
    place (int): Its place in the cluster in the order of the text, from 0.
    kind (str): One of ``KINDS``, or ``unknown``. A right mention has the kind that
        gold says on both sides.
    start (int), end (int): First morpheme in its own document and the one after the
        last.
    sentence (int): Number of its sentence in its own document, from 0.
    """

    key: Key
    tokens: Span
    cluster: int
    place: int
    kind: str
    start: int
    end: int
    sentence: int


class Side:
    """The clusters of one document that count.

    doc (Doc): The document.
    clusters (List[List[Mention]]): Their mentions in the order of the text: by start,
        the longer first.
    of (Dict[Key, Mention]): The same by key.
    """

    def __init__(
        self,
        doc: Doc,
        bounds: Sequence[Sequence[Span]],
        keys: Sequence[Sequence[Key]],
        kinds: Dict[Key, str],
        *,
        singletons: bool,
    ) -> None:
        """Take what counts of a document.

        doc (Doc): The document.
        bounds (Sequence[Sequence[Span]]): The mentions of each cluster.
        keys (Sequence[Sequence[Key]]): The key of each.
        kinds (Dict[Key, str]): Kinds that are known already.
        singletons (bool): Whether clusters of one mention count.
        """
        self.doc = doc
        spans: Dict[Key, Span] = {}
        for cluster, cluster_keys in zip(bounds, keys, strict=True):
            for span, key in zip(cluster, cluster_keys, strict=True):
                spans.setdefault(key, span)
        cleaned, _ = clean_clusters(keys, singletons=singletons)
        # One pass over the document for all mentions.
        wanted = [key for cluster_keys in cleaned for key in cluster_keys]
        found = tokens_to_morphemes(doc, [spans[key] for key in wanted])
        morphemes = dict(zip(wanted, found, strict=True))
        sentences = sentence_numbers(doc)
        self.clusters: List[List[Mention]] = []
        self.of: Dict[Key, Mention] = {}
        for number, cluster_keys in enumerate(cleaned):
            ordered = sorted(cluster_keys, key=lambda k: (spans[k][0], -spans[k][1]))
            self.clusters.append([])
            for place, key in enumerate(ordered):
                first, after = spans[key]
                kind = kinds.get(key) or analysis_kind(doc, first, after)
                mention = Mention(
                    key,
                    (first, after),
                    number,
                    place,
                    kind,
                    *morphemes[key],
                    sentences[first],
                )
                self.clusters[-1].append(mention)
                self.of[key] = mention

    @property
    def keys(self) -> List[List[Key]]:
        """The keys of each cluster."""
        return [[mention.key for mention in cluster] for cluster in self.clusters]


def sentence_numbers(doc: Doc) -> List[int]:
    """The sentence of each token; without sentences all are in one.

    doc (Doc): The document.
    RETURNS (List[int]): Numbers from 0.
    """
    starts = [bool(token.is_sent_start) and token.i > 0 for token in doc]
    return list(accumulate(starts))


class Comparison:
    """A predicted document and the gold one, in one regime.

    predicted (Side), gold (Side): What counts of both.
    name (str): What the document is called in reports.
    text (str): The user's text, that of the predicted document.
    same_text (bool): Whether gold has the very same text.
    """

    def __init__(
        self, predicted: Doc, gold: Doc, regime: str, *, singletons: bool = False
    ) -> None:
        """Compare two documents.

        predicted (Doc): What the pipeline says.
        gold (Doc): The gold document.
        regime (str): One of ``regimes.REGIMES``: ``gold`` and ``gold_mentions`` compare
            by morphemes, ``auto`` and ``raw`` by letters.
        singletons (bool): Whether clusters of one mention count.
        RAISES (ValueError): If there is no such regime, the gold document has no
            clusters, or has other tokens in a regime that gives them.
        """
        check_regime(regime)
        check_clusters(gold)
        self.regime = regime
        self.singletons = singletons
        self.letters: Optional[LetterAlignment] = None
        self.predicted_keys: Callable[[Iterable[Span]], List[Key]]
        self.gold_keys: Callable[[Iterable[Span]], List[Key]]
        if regime in GOLD_TOKENS:
            check_tokens(predicted, gold)
            self.predicted_keys = morpheme_keys(predicted)
            self.gold_keys = morpheme_keys(gold)
        else:
            self.letters = LetterAlignment(predicted, gold)
            self.predicted_keys = self.letters.predicted_keys
            self.gold_keys = self.letters.gold_keys
        theirs = cluster_bounds(gold, singletons=singletons)
        ours = cluster_bounds(predicted, singletons=singletons)
        self.gold = Side(
            gold, theirs, project(theirs, self.gold_keys), {}, singletons=singletons
        )
        kinds = {key: mention.kind for key, mention in self.gold.of.items()}
        self.predicted = Side(
            predicted,
            ours,
            project(ours, self.predicted_keys),
            kinds,
            singletons=singletons,
        )
        # Once, since without an id it is made from the whole text.
        self.name = describe_doc(gold)
        self.text = predicted.text
        self.same_text = predicted.text == gold.text

    def counts(self) -> CorefCounts:
        """The counts of all metrics, the same as ``RegimeScore.add`` gives."""
        return coref_counts(self.predicted.keys, self.gold.keys)

    def known_mentions(self) -> Set[Key]:
        """The mentions that the prediction knows, linked or not: those of clusters,
        its singletons, and in ``gold_mentions`` those that it was given."""
        doc = self.predicted.doc
        spans = [s for c in cluster_bounds(doc, singletons=True) for s in c]
        if self.regime == "gold_mentions" and GIVEN_MENTIONS in doc.spans:
            spans += [(span.start, span.end) for span in doc.spans[GIVEN_MENTIONS]]
        return set(self.predicted_keys(spans))

    def gold_singletons(self) -> Set[Key]:
        """The gold mentions that nothing else refers to, if gold has them."""
        doc = self.gold.doc
        spans = doc.spans[SINGLETONS] if SINGLETONS in doc.spans else ()
        return set(self.gold_keys([(span.start, span.end) for span in spans]))

    def expressible(self, mentions: Sequence[Mention]) -> List[bool]:
        """Whether the predicted tokens can express gold mentions.

        mentions (Sequence[Mention]): Gold mentions.
        RETURNS (List[bool]): For each, whether a span of predicted tokens has its
            first and last letter; always so where gold tokens are given.
        """
        found = self.carried_keys(mentions)
        return [key == m.key for key, m in zip(found, mentions, strict=True)]

    def carried_keys(self, mentions: Sequence[Mention]) -> List[Optional[Key]]:
        """Carry gold mentions over to the predicted tokens.

        mentions (Sequence[Mention]): Gold mentions.
        RETURNS (List[Optional[Key]]): The key of the span of predicted tokens that
            hold the first and last letter of each; None if the predicted text lacks
            one of them.
        """
        spans = self.carried_tokens(mentions)
        keys = iter(self.predicted_keys([span for span in spans if span]))
        return [next(keys) if span else None for span in spans]

    def carried_tokens(self, mentions: Sequence[Mention]) -> List[Optional[Span]]:
        """The predicted tokens that hold gold mentions.

        mentions (Sequence[Mention]): Gold mentions.
        RETURNS (List[Optional[Span]]): First token of each and the one after the last;
            None if the predicted text lacks the first or last letter.
        """
        spans = [mention.tokens for mention in mentions]
        if self.letters is None:
            return [*spans]
        ends = self.letters.carried_keys(spans)
        return [(end[0], end[1] + 1) if end else None for end in ends]

    def offsets(self, mention: Mention, *, gold: bool) -> Optional[Span]:
        """Where a mention stands in the user's text.

        mention (Mention): The mention.
        gold (bool): Whether it is one of gold.
        RETURNS (Optional[Span]): Its first character and the one after the last. Where
            gold has another text: those of the predicted tokens that hold a gold
            mention, or None if there are none.
        """
        doc = self.gold.doc if gold else self.predicted.doc
        tokens: Optional[Span] = mention.tokens
        if gold and not self.same_text:
            doc = self.predicted.doc
            (tokens,) = self.carried_tokens([mention])
        if tokens is None:
            return None
        span = doc[tokens[0] : tokens[1]]
        return span.start_char, span.end_char

    def heads(self, mentions: Sequence[Mention], *, gold: bool) -> List[range]:
        """The heads of mentions (``mentions.kinds.mention_head``).

        mentions (Sequence[Mention]): The mentions.
        gold (bool): Whether they are gold ones.
        RETURNS (List[range]): The letters of gold, or morphemes, of each head; empty
            if gold lacks them.
        """
        side = self.gold if gold else self.predicted
        keys = self.gold_keys if gold else self.predicted_keys
        found = [mention_head(side.doc, *mention.tokens).i for mention in mentions]
        # The last letter is part of a key, the morpheme after the last one is too.
        more = int(self.letters is not None)
        return [
            range(key[0], key[1] + more) if len(key) == 2 else range(0)
            for key in keys([(i, i + 1) for i in found])
        ]
