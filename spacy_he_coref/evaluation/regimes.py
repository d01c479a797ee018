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
    Optional,
    Sequence,
    Tuple,
    Union,
)

import spacy
from spacy.language import Language
from spacy.tokens import Doc, SpanGroup

from ..coref.component import GIVEN as GIVEN_MENTIONS
from ..retokenizer import retokenize
from ..segmenter.backends.table import TableSegmenter
from ..segmenter.component import HebrewSegmenter
from ..segmenter.letters import describe_doc
from ..tokens import tokens_to_morphemes
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
from .segmentation import written_doc
from .syntax import gold_input, percent, raw_input, regime_pipes

REGIMES = ("gold_mentions", "gold", "auto", "raw")
# Regimes in which the tokens are those of gold.
_GOLD_TOKENS = ("gold_mentions", "gold")
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

    def __init__(self, regime: str, *, singletons: bool = False) -> None:
        """Start with nothing.

        regime (str): One of REGIMES.
        singletons (bool): Whether clusters of one mention count.
        """
        self.regime = regime
        self.singletons = singletons
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

    def add(self, predicted: Doc, gold: Doc) -> CorefCounts:
        """Count a document.

        predicted (Doc): What the pipeline says of it.
        gold (Doc): The gold document.
        RETURNS (CorefCounts): The counts of this document alone.
        RAISES (ValueError): If the gold document has no clusters, or the pipeline has
            changed the tokens that it was given.
        """
        if not has_clusters(gold):
            raise ValueError(
                f"Document {describe_doc(gold)} has no gold clusters. Use a corpus "
                "that 'he-coref corpus build' made from KibutzR or IAHLT."
            )
        ours = cluster_bounds(predicted, singletons=self.singletons)
        theirs = cluster_bounds(gold, singletons=self.singletons)
        if self.regime in _GOLD_TOKENS:
            _check_tokens(predicted, gold)
            predicted_keys = project(ours, _morpheme_keys(predicted))
            gold_keys = project(theirs, _morpheme_keys(gold))
        else:
            letters = LetterAlignment(predicted, gold)
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
                self.carried.add(
                    project(ours, letters.token_keys),
                    [[key for key in keys if key] for keys in carried],
                )
        if self.regime == "gold_mentions":
            given = {(s.start, s.end) for s in predicted.spans.get(GIVEN_MENTIONS, [])}
            self.not_given += sum(span not in given for part in ours for span in part)
        self._add_confidences(cluster_groups(predicted), predicted_keys, gold_keys)
        return self.score.add(predicted_keys, gold_keys)

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

        RETURNS (Dict[str, Any]): The report of ``CorefScore``; ``calibration`` of
            ``links`` and ``clusters``, None without confidences; and in ``auto`` and
            ``raw`` the number of mentions that are ``unaligned`` and of documents with
            ``other_texts``; in ``auto`` the report for ``carried_over`` clusters.
        """
        report = self.score.report()
        report["calibration"] = {
            "links": self.links.report(),
            "clusters": self.clusters.report(),
        }
        if self.regime not in _GOLD_TOKENS:
            report["unaligned"] = {s: self.unaligned[s] for s in ("predicted", "gold")}
            report["other_texts"] = self.other_texts
        if self.carried is not None:
            report["carried_over"] = self.carried.report()
        return report


def _morpheme_keys(doc: Doc) -> Callable[[Iterable[Tuple[int, int]]], List[Key]]:
    return lambda spans: [*tokens_to_morphemes(doc, spans)]


def _check_tokens(predicted: Doc, gold: Doc) -> None:
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
    track: Callable[[Iterable[Doc], str], Iterable[Doc]] = lambda docs, _: docs,
) -> Tuple[Dict[str, RegimeScore], Dict[str, Any]]:
    """Find the clusters of gold documents in some regimes and score them.

    nlp (Language): The pipeline.
    docs (Sequence[Doc]): Documents with gold segments, sentences and clusters, read
        with the vocabulary of the pipeline.
    regimes (Sequence[str]): Which of REGIMES.
    singletons (bool): Whether clusters of one mention count. Components with a switch
        ``singletons`` write them then.
    coreferent_only (bool): Give in ``gold_mentions`` no singletons.
    segmentation (Optional[Union[str, Path]]): A saved segmentation for ``auto``
        (``segmenter.backends.table``), instead of that of the pipeline.
    track (Callable): Gets the predicted documents of each regime as they come, and
        its name, to show progress.
    RETURNS (Tuple[Dict[str, RegimeScore], Dict[str, Any]]): The counts of each regime,
        and the conditions; there under ``not_run`` the regimes that this pipeline
        cannot do, and why.
    RAISES (ValueError): If there is no such regime, the pipeline finds no clusters, or
        a document has no gold ones.
    """
    for regime in regimes:
        if regime not in REGIMES:
            raise ValueError(
                f"There is no regime {regime!r}. Choose from: {', '.join(REGIMES)}."
            )
    factories = {nlp.get_pipe_meta(name).factory for name in nlp.pipe_names}
    scores: Dict[str, RegimeScore] = {}
    not_run: Dict[str, str] = {}
    components: Dict[str, List[str]] = {}
    switched = _switch_singletons(nlp) if singletons else []
    try:
        for regime in regimes:
            tokens_given = regime in _GOLD_TOKENS or (
                regime == "auto" and segmentation is not None
            )
            pipes = regime_pipes(nlp, "gold" if tokens_given else regime)
            inputs = _inputs(nlp, docs, regime, coreferent_only, segmentation)
            score = RegimeScore(regime, singletons=singletons)
            with nlp.select_pipes(enable=pipes):
                outputs = track(nlp.pipe(inputs), regime)
                for predicted, gold in zip(outputs, docs, strict=True):
                    score.add(predicted, gold)
            if score.not_given:
                not_run[regime] = (
                    f"{score.not_given} predicted mentions are none of those given: "
                    f"the pipeline does not read doc.spans[{GIVEN_MENTIONS!r}]."
                )
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
        "given_mentions": "coreferent" if coreferent_only else "all",
        "segmentation": "pipeline" if segmentation is None else str(segmentation),
        "not_run": not_run,
        "spacy_version": spacy.__version__,
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
