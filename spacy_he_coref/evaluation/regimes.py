"""How well clusters are found, by what the pipeline is given (design section 5).

* ``raw``: the text of the document and nothing else.
* ``auto``: written words and sentences; the pipeline, or a saved segmentation, splits
  the words.
* ``gold``: gold segments and sentences.
* ``gold_mentions``: the mentions too, as ``doc.spans["coref_mentions_given"]``.

``gold`` and ``gold_mentions`` are scored on morphemes, exactly as the paper: a mention
is its first morpheme and the one after the last, unwritten ones included. ``raw`` and
``auto`` are scored on letters: a mention is right if a gold one has its first and last
written letter, whatever the segments between. Beside it, ``auto`` is scored in the
paper's way: gold clusters are carried over to the predicted tokens, those that the
letters of a mention lie in, and are then compared by tokens. Mentions that become the
same thereby are one, in the first of their clusters.
"""

from collections import Counter
from pathlib import Path
from typing import (
    Any,
    Callable,
    Dict,
    Iterable,
    Iterator,
    List,
    Mapping,
    Optional,
    Sequence,
    Tuple,
    Union,
)

import spacy
from spacy.language import Language
from spacy.tokens import Doc, SpanGroup

from ..coref.component import GIVEN as GIVEN_MENTIONS
from ..mentions.kinds import mention_head
from ..retokenizer import retokenize
from ..segmenter.backends.table import TableSegmenter
from ..segmenter.component import HebrewSegmenter
from ..segmenter.letters import describe_doc
from ..tokens import tokens_to_morphemes
from .bootstrap import REPLICAS, SEED, count_array, intervals
from .coref import (
    CorefCounts,
    CorefScore,
    Key,
    LetterAlignment,
    clean_clusters,
    cluster_bounds,
    cluster_groups,
    has_clusters,
    project,
)
from .matching import MATCHES, MatchMention, match_clusters
from .schema import REGIMES
from .segmentation import Span, written_doc
from .syntax import gold_input, percent, raw_input, regime_pipes

# Regimes in which the tokens are those of gold.
GOLD_TOKENS = ("gold_mentions", "gold")
# What finds clusters.
_RESOLVERS = frozenset(("he_coref", "experimental_span_resolver"))
BINS = 10


class Calibration:
    """Whether confidences mean what they say.

    The expected calibration error (Naeini et al. 2015): confidences are sorted into
    bins of equal width, and the distances between mean confidence and the share that
    was right are averaged, weighted by the numbers of the bins.
    """

    def __init__(self) -> None:
        self.number = [0] * BINS
        self.confidence = [0.0] * BINS
        self.right = [0.0] * BINS

    def add(self, confidence: float, right: float) -> None:
        """Count one decision.

        confidence (float): From 0 to 1.
        right (float): Whether it is right, or how much of it is, from 0 to 1.
        """
        i = min(int(confidence * BINS), BINS - 1)
        self.number[i] += 1
        self.confidence[i] += confidence
        self.right[i] += right

    def report(self) -> Optional[Dict[str, Any]]:
        """The error and what it is made of.

        RETURNS (Optional[Dict[str, Any]]): ``ece``, the mean ``confidence`` and share
            that is ``right`` in percent, and the ``number``; under ``bins`` the last
            three of each bin that has any. None if there is no confidence at all.
        """
        number = sum(self.number)
        if not number:
            return None
        columns = [*zip(self.number, self.confidence, self.right, strict=True)]
        return {
            "ece": percent(sum(abs(c - r) for _, c, r in columns) / number),
            **_means(number, sum(self.confidence), sum(self.right)),
            "bins": [_means(*column) for column in columns if column[0]],
        }


def _means(number: int, confidence: float, right: float) -> Dict[str, float]:
    return {
        "confidence": percent(confidence / number),
        "right": percent(right / number),
        "number": number,
    }


class RegimeScore:
    """What is right in one regime, summed over documents.

    A link is right if both of its mentions are in one gold cluster; how much of a
    cluster is right is the share of its links that are. Only clusters whose groups
    carry confidences (attrs ``links``, ``antecedents``, ``confidence``) count there.
    """

    def __init__(
        self, regime: str, *, singletons: bool = False, match: str = "exact"
    ) -> None:
        """Start with nothing.

        regime (str): One of REGIMES.
        singletons (bool): Whether clusters of one mention count.
        match (str): When a predicted mention counts as a gold one, one of
            ``matching.MATCHES``. Calibration and carried-over clusters compare exactly.
        """
        self.regime = regime
        self.singletons = singletons
        self.match = match
        self.score = CorefScore(singletons=singletons)
        self.carried = CorefScore(singletons=singletons) if regime == "auto" else None
        self.links = Calibration()
        self.clusters = Calibration()
        # Mentions with a first or last letter that the other text does not have, and
        # gold mentions that could not be carried over to tokens.
        self.unaligned: Counter[str] = Counter()
        self.other_texts = 0
        # Predicted mentions that are none of those given.
        self.not_given = 0
        # The counts of each document.
        self.rows: List[CorefCounts] = []
        self.carried_rows: List[CorefCounts] = []

    def add(self, predicted: Doc, gold: Doc) -> CorefCounts:
        """Count a document.

        predicted (Doc): What the pipeline says of it.
        gold (Doc): The gold document.
        RETURNS (CorefCounts): The counts of this document alone.
        RAISES (ValueError): If the gold document has no clusters, or the pipeline has
            changed the tokens that it was given.
        """
        check_clusters(gold)
        ours = cluster_bounds(predicted, singletons=self.singletons)
        theirs = cluster_bounds(gold, singletons=self.singletons)
        ours_at: Callable[[List[Span]], List[Key]] = _tokens
        theirs_at: Callable[[List[Span]], List[Key]] = _tokens
        if self.regime in GOLD_TOKENS:
            check_tokens(predicted, gold)
            predicted_keys = project(ours, morpheme_keys(predicted))
            gold_keys = project(theirs, morpheme_keys(gold))
        else:
            letters = LetterAlignment(predicted, gold)
            ours_at, theirs_at = letters.predicted_keys, letters.gold_keys
            predicted_keys = project(ours, letters.predicted_keys)
            gold_keys = project(theirs, letters.gold_keys)
            self.other_texts += predicted.text != gold.text
            self.unaligned["predicted"] += sum(
                key[0] == -1 for keys in predicted_keys for key in keys
            )
            self.unaligned["gold"] += sum(
                letters.lacks(key) for keys in gold_keys for key in keys
            )
            if self.carried is not None:
                carried = project(theirs, letters.carried_keys)
                row = self.carried.add(
                    project(ours, letters.token_keys),
                    [[key for key in keys if key] for keys in carried],
                )
                self.carried_rows.append(row)
        if self.regime == "gold_mentions":
            given = {(s.start, s.end) for s in predicted.spans.get(GIVEN_MENTIONS, [])}
            self.not_given += sum(span not in given for part in ours for span in part)
        self._add_confidences(cluster_groups(predicted), predicted_keys, gold_keys)
        sides: Tuple[Any, Any] = predicted_keys, gold_keys
        if self.match != "exact":
            token_of = {
                place: ends[0]
                for ends in theirs_at([(i, i + 1) for i in range(len(gold))])
                for place in range(ends[0], ends[1] + 1)
            }
            sides = match_clusters(
                _with_heads(predicted, ours, ours_at, token_of),
                _with_heads(gold, theirs, theirs_at, token_of),
                self.match,
                singletons=self.singletons,
            )
        self.rows.append(self.score.add(*sides))
        return self.rows[-1]

    def _add_confidences(
        self,
        groups: Sequence[SpanGroup],
        predicted: Sequence[Sequence[Key]],
        gold: Sequence[Sequence[Key]],
    ) -> None:
        cleaned, _ = clean_clusters(gold, singletons=True)
        gold_of = {key: i for i, keys in enumerate(cleaned) for key in keys}
        # Singletons come after the groups, and have no links.
        for group, keys in zip(groups, predicted, strict=False):
            right: List[bool] = []
            rows = zip(
                keys,
                group.attrs.get("links", ()),
                group.attrs.get("antecedents", ()),
                strict=False,
            )
            for key, confidence, place in rows:
                if confidence is None or place is None:
                    continue
                cluster = gold_of.get(key)
                right.append(
                    cluster is not None and cluster == gold_of.get(keys[place])
                )
                self.links.add(confidence, right[-1])
            if right and "confidence" in group.attrs:
                share = sum(right) / len(right)
                self.clusters.add(group.attrs["confidence"], share)

    def report(self) -> Dict[str, Any]:
        """The metrics and what they rest on.

        RETURNS (Dict[str, Any]): The report of ``CorefScore``; under ``intervals`` the
            ends of the 95% intervals of its metrics, and under ``per_document`` its
            counts; ``calibration`` of ``links`` and ``clusters``, None without
            confidences; and in ``auto`` and ``raw`` the number of mentions that are
            ``unaligned`` and of documents with ``other_texts``; in ``auto`` the report
            for ``carried_over`` clusters.
        """
        report = _report(self.score, self.rows)
        report["calibration"] = {
            "links": self.links.report(),
            "clusters": self.clusters.report(),
        }
        if self.regime not in GOLD_TOKENS:
            report["unaligned"] = {s: self.unaligned[s] for s in ("predicted", "gold")}
            report["other_texts"] = self.other_texts
        if self.carried is not None:
            report["carried_over"] = _report(self.carried, self.carried_rows)
        return report


def _report(score: CorefScore, rows: Sequence[CorefCounts]) -> Dict[str, Any]:
    counts = count_array(rows)
    return {
        **score.report(),
        "intervals": intervals(counts) or None,
        "per_document": {
            # Rounded so that sums keep the decimals that are shown.
            name: counts[:, i].round(6).tolist()
            for i, name in enumerate(CorefCounts._fields)
        },
    }


def morpheme_keys(doc: Doc) -> Callable[[Iterable[Span]], List[Key]]:
    """The keys of mentions where the tokens are those of gold.

    doc (Doc): The document.
    RETURNS (Callable): Gives for spans of tokens the first morpheme of each and the
        one after the last.
    """
    return lambda spans: [*tokens_to_morphemes(doc, spans)]


def _tokens(spans: Iterable[Span]) -> List[Key]:
    """Spans by their first and last token."""
    return [(start, end - 1) for start, end in spans]


def _with_heads(
    doc: Doc,
    clusters: Sequence[Sequence[Span]],
    places: Callable[[List[Span]], List[Key]],
    token_of: Mapping[int, int],
) -> List[List[MatchMention]]:
    """The mentions of clusters as ``matching`` wants them.

    A head is the gold token that has most letters of it, since the segments of the
    other side may be others.

    doc (Doc): The document.
    clusters (Sequence[Sequence[Span]]): The mentions of each cluster.
    places (Callable): Gives for spans the first and last place of each, tokens or
        letters of gold; -1 first where gold lacks them.
    token_of (Mapping[int, int]): For each place the first one of its gold token.
    RETURNS (List[List[MatchMention]]): The mentions with the place of their head.
    """
    spans = [span for cluster in clusters for span in cluster]
    heads = [mention_head(doc, *span).i for span in spans]
    rows = zip(spans, places(spans), places([(i, i + 1) for i in heads]), strict=True)
    mentions: List[MatchMention] = []
    for (start, end), ends, head in rows:
        if ends[0] == -1 or ends[1] < ends[0]:
            mentions.append(MatchMention(-1 - start, -1 - end))
            continue
        inside = range(max(head[0], ends[0]), min(head[1], ends[1]) + 1)
        tokens = Counter(token_of[place] for place in inside if place in token_of)
        # Where gold lacks the letters of the head, the first place is one.
        at = tokens.most_common(1)[0][0] if tokens and head[0] != -1 else ends[0]
        mentions.append(MatchMention(ends[0], ends[1] + 1, max(at, ends[0])))
    found = iter(mentions)
    return [[next(found) for _ in cluster] for cluster in clusters]


def check_regime(regime: str) -> None:
    """Check that there is a regime.

    regime (str): Its name.
    RAISES (ValueError): If it is none of REGIMES.
    """
    if regime not in REGIMES:
        raise ValueError(
            f"There is no regime {regime!r}. Choose from: {', '.join(REGIMES)}."
        )


def check_clusters(gold: Doc) -> None:
    """Check that a gold document says which mentions corefer.

    gold (Doc): The document.
    RAISES (ValueError): If it does not.
    """
    if not has_clusters(gold):
        raise ValueError(
            f"Document {describe_doc(gold)} has no gold clusters. Use a corpus "
            "that 'he-coref corpus build' made from KibutzR or IAHLT."
        )


def check_tokens(predicted: Doc, gold: Doc) -> None:
    """Check that a predicted document has the tokens of gold.

    predicted (Doc), gold (Doc): The documents.
    RAISES (ValueError): If it has not.
    """
    if [t.idx for t in predicted] != [t.idx for t in gold] or len(
        predicted.text
    ) != len(gold.text):
        raise ValueError(
            f"Document {describe_doc(gold)}: the pipeline has changed the gold tokens "
            "that it was given. Leave out the component that does so."
        )


def mentions_input(gold: Doc, *, coreferent_only: bool = False) -> Doc:
    """A gold document with its segments, sentences and mentions.

    gold (Doc): The gold document.
    coreferent_only (bool): Give no singletons.
    RETURNS (Doc): The same segments and sentences, the mentions as
        ``doc.spans["coref_mentions_given"]``.
    """
    doc = gold_input(gold)
    bounds = cluster_bounds(gold, singletons=not coreferent_only)
    # A span that is in two clusters is given once; of two of one start the longer
    # comes first.
    spans = {span for cluster in bounds for span in cluster}
    doc.spans[GIVEN_MENTIONS] = [
        doc[start:end] for start, end in sorted(spans, key=lambda s: (s[0], -s[1]))
    ]
    return doc


def evaluate_coref(
    nlp: Language,
    docs: Sequence[Doc],
    regimes: Sequence[str] = REGIMES,
    *,
    singletons: bool = False,
    coreferent_only: bool = False,
    segmentation: Optional[Union[str, Path]] = None,
    match: str = "exact",
    track: Callable[[Iterable[Doc], str], Iterable[Doc]] = lambda docs, _: docs,
    watch: Callable[[str, Doc, Doc], None] = lambda regime, predicted, gold: None,
) -> Tuple[Dict[str, RegimeScore], Dict[str, Any]]:
    """Find the clusters of gold documents in some regimes and score them.

    nlp (Language): The pipeline.
    docs (Sequence[Doc]): Documents with gold segments, sentences and clusters, read
        with the vocabulary of the pipeline.
    regimes (Sequence[str]): Which of REGIMES.
    singletons (bool): Whether clusters of one mention count. Components with a switch
        ``singletons`` write them anyway, since the analyses need to know which mentions
        were found.
    coreferent_only (bool): Give in ``gold_mentions`` no singletons.
    segmentation (Optional[Union[str, Path]]): A saved segmentation for ``auto``
        (``segmenter.backends.table``), instead of that of the pipeline.
    match (str): When two mentions are the same, one of ``matching.MATCHES``.
    track (Callable): Gets the predicted documents of each regime as they come, and
        its name, to show progress.
    watch (Callable): Gets the regime, each predicted document and the gold one, to
        count more in them.
    RETURNS (Tuple[Dict[str, RegimeScore], Dict[str, Any]]): The counts of each regime,
        and the conditions; there under ``not_run`` the regimes that this pipeline
        cannot do, and why.
    RAISES (ValueError): If there is no such regime or match, the pipeline finds no
        clusters, or a document has no gold ones, or no tree where heads are needed.
    """
    for regime in regimes:
        check_regime(regime)
    if match not in MATCHES:
        raise ValueError(
            f"Mentions cannot be matched by {match!r}. Choose from: "
            f"{', '.join(MATCHES)}."
        )
    if match != "exact":
        for gold in docs:
            if not gold.has_annotation("DEP"):
                raise ValueError(
                    f"Document {describe_doc(gold)} has no gold tree, and so no heads "
                    "of mentions. Match mentions exactly, or use a corpus with trees."
                )
    factories = {nlp.get_pipe_meta(name).factory for name in nlp.pipe_names}
    scores: Dict[str, RegimeScore] = {}
    not_run: Dict[str, str] = {}
    components: Dict[str, List[str]] = {}
    switched = _switch_singletons(nlp)
    try:
        for regime in regimes:
            tokens_given = regime in GOLD_TOKENS or (
                regime == "auto" and segmentation is not None
            )
            pipes = regime_pipes(nlp, "gold" if tokens_given else regime)
            inputs = _inputs(nlp, docs, regime, coreferent_only, segmentation)
            score = RegimeScore(regime, singletons=singletons, match=match)
            with nlp.select_pipes(enable=pipes):
                outputs = track(nlp.pipe(inputs), regime)
                for predicted, gold in zip(outputs, docs, strict=True):
                    score.add(predicted, gold)
                    if score.not_given:
                        not_run[regime] = (
                            f"in document {describe_doc(gold)}, {score.not_given} "
                            "predicted mentions are none of those given: the pipeline "
                            f"does not read doc.spans[{GIVEN_MENTIONS!r}]."
                        )
                        break
                    watch(regime, predicted, gold)
            if score.not_given:
                continue
            clusters = score.score.clusters
            found = clusters["predicted"] or not clusters["gold"]
            if not found and not factories & _RESOLVERS:
                raise ValueError(
                    "The pipeline finds no clusters at all. It needs a component for "
                    "coreference, such as he_coref; its components are: "
                    f"{', '.join(nlp.pipe_names) or 'none'}."
                )
            scores[regime] = score
            components[regime] = pipes
    finally:
        for component in switched:
            component.singletons = False
    conditions = {
        "model": f"{nlp.meta['lang']}_{nlp.meta['name']}",
        "model_version": nlp.meta["version"],
        "components": components,
        "documents": len(docs),
        "singletons": singletons,
        "match": match,
        "given_mentions": "coreferent" if coreferent_only else "all",
        "segmentation": "pipeline" if segmentation is None else str(segmentation),
        "not_run": not_run,
        "spacy_version": spacy.__version__,
        "bootstrap": {"replicas": REPLICAS, "seed": SEED},
    }
    return scores, conditions


def _switch_singletons(nlp: Language) -> List[Any]:
    """Let components write singletons; those that did not before."""
    components: List[Any] = [component for _, component in nlp.pipeline]
    off = [c for c in components if getattr(c, "singletons", None) is False]
    for component in off:
        component.singletons = True
    return off


def _inputs(
    nlp: Language,
    docs: Iterable[Doc],
    regime: str,
    coreferent_only: bool,
    segmentation: Optional[Union[str, Path]],
) -> Iterator[Doc]:
    if regime == "auto" and segmentation is not None:
        backend = TableSegmenter(segmentation, on_missing="error")
        segmenter = HebrewSegmenter(nlp.vocab, backend)
        words = (written_doc(nlp.vocab, gold) for gold in docs)
        yield from map(retokenize, segmenter.pipe(words))
        return
    for gold in docs:
        if regime == "gold_mentions":
            yield mentions_input(gold, coreferent_only=coreferent_only)
        elif regime == "gold":
            yield gold_input(gold)
        elif regime == "auto":
            yield written_doc(nlp.vocab, gold)
        else:
            yield raw_input(nlp, gold)
