"""All that one run of a pipeline says: the content of the metrics file.

Every regime runs the pipeline once over the documents, and all figures are counted from
what comes out: clusters and their analysis, and what they rest on, which is segments,
tags, trees and mention candidates (``segmentation``, ``syntax``, ``mentions``), where
gold has those.
"""

from pathlib import Path
from typing import Any, Callable, Dict, Iterable, List, Optional, Sequence, Union

from spacy.language import Language
from spacy.tokens import Doc

from ..corpus.docs import MENTIONS, TREEBANK
from ..mentions import find_mentions
from ..segmenter.letters import describe_doc
from ..tokens import is_segmented
from .analysis import Analysis, ladder
from .mentions import MentionScore, detector_settings
from .regimes import REGIMES, evaluate_coref
from .schema import VERSION
from .segmentation import (
    SegmentationCounts,
    count_document,
    report,
    segmentation_pipes,
)
from .syntax import SyntaxScore, percent, syntax_pipes


class Upstream:
    """What the clusters rest on, in the documents of a coreference evaluation.

    Segments are scored in ``auto`` and ``raw``; tags and trees in ``gold`` and ``raw``;
    mention candidates on gold trees and in ``raw``.
    """

    def __init__(self, nlp: Language, docs: Sequence[Doc]) -> None:
        """Find out what can be scored.

        nlp (Language): The pipeline.
        docs (Sequence[Doc]): The gold documents.
        """
        self.segmentation: Dict[str, SegmentationCounts] = {}
        self.syntax: Dict[str, SyntaxScore] = {}
        self.mentions: Dict[str, MentionScore] = {}
        # What is not scored, and why.
        self.not_run: Dict[str, str] = {}
        self.settings = detector_settings(nlp)
        trees = all(TREEBANK in doc.user_data for doc in docs)
        without = "the corpus has documents without "
        if not any(is_segmented(doc) for doc in docs):
            self.not_run["segmentation"] = "the corpus has no gold segments."
        elif not segmentation_pipes(nlp):
            self.not_run["segmentation"] = "the pipeline has no he_segmenter."
        if not trees:
            self.not_run["syntax"] = without + "the morphemes of the treebank."
        elif not syntax_pipes(nlp, "gold"):
            self.not_run["syntax"] = "the pipeline neither tags nor parses."
        if not trees or not all(MENTIONS in doc.spans for doc in docs):
            self.not_run["mention_detection"] = without + "gold trees and mentions."
        else:
            self.mentions["gold_trees"] = score = MentionScore()
            for doc in docs:
                score.add(doc, find_mentions(doc, self.settings), doc)

    def add(self, regime: str, predicted: Doc, gold: Doc) -> None:
        """Count a document.

        regime (str): One of REGIMES.
        predicted (Doc): What the pipeline says of it.
        gold (Doc): The gold document.
        """
        if predicted.text != gold.text:
            # These metrics have no alignment of letters, unlike those of clusters.
            for name in ("segmentation", "syntax", "mention_detection"):
                self.not_run.setdefault(
                    name,
                    f"the pipeline changed the text of document {describe_doc(gold)}.",
                )
            self._drop(regime)
            return
        if regime in ("auto", "raw") and "segmentation" not in self.not_run:
            counts = self.segmentation.get(regime, SegmentationCounts())
            self.segmentation[regime] = counts.plus(count_document(predicted, gold))
        if regime in ("gold", "raw") and "syntax" not in self.not_run:
            self.syntax.setdefault(regime, SyntaxScore()).add(predicted, gold)
        if regime == "raw" and "mention_detection" not in self.not_run:
            try:
                found = find_mentions(predicted, self.settings)
            except ValueError as error:
                self.not_run["mention_detection"] = f"{error}"
                self.mentions.pop(regime, None)
                return
            self.mentions.setdefault(regime, MentionScore()).add(predicted, found, gold)

    def _drop(self, regime: str) -> None:
        """Leave out a regime: figures of some of its documents would be wrong."""
        self.segmentation.pop(regime, None)
        self.syntax.pop(regime, None)
        self.mentions.pop(regime, None)

    def report(self) -> Dict[str, Any]:
        """The metrics.

        RETURNS (Dict[str, Any]): ``segmentation``, ``syntax`` and
            ``mention_detection`` by regime, those that could be scored.
        """
        metrics: Dict[str, Any] = {}
        if self.segmentation:
            metrics["segmentation"] = {
                regime: report(counts) for regime, counts in self.segmentation.items()
            }
        if self.syntax:
            metrics["syntax"] = {r: score.report() for r, score in self.syntax.items()}
            if "raw" in self.syntax:
                metrics["syntax"]["sents_f1"] = percent(self.syntax["raw"].sentences.f1)
        if self.mentions:
            metrics["mention_detection"] = {
                "setting": self.settings.setting,
                **{given: score.report() for given, score in self.mentions.items()},
            }
        return metrics


def document_names(docs: Sequence[Doc]) -> List[str]:
    """The names of documents in the metrics file, which has no text of them.

    docs (Sequence[Doc]): The gold documents.
    RETURNS (List[str]): The id of each, or its number.
    """
    sources = [doc._.source or {} for doc in docs]
    return [
        str(source.get("id", f"document {i}")) for i, source in enumerate(sources, 1)
    ]


def measure(
    nlp: Language,
    docs: Sequence[Doc],
    regimes: Sequence[str] = REGIMES,
    *,
    singletons: bool = False,
    match: str = "exact",
    coreferent_only: bool = False,
    segmentation: Optional[Union[str, Path]] = None,
    track: Callable[[Iterable[Doc], str], Iterable[Doc]] = lambda docs, _: docs,
) -> Dict[str, Any]:
    """Find the clusters of gold documents in some regimes and measure everything.

    nlp (Language), docs (Sequence[Doc]), regimes (Sequence[str]), singletons (bool),
        match (str), coreferent_only (bool), segmentation (Optional[Union[str, Path]]),
        track (Callable): As for ``evaluate_coref``.
    RETURNS (Dict[str, Any]): The content of the metrics file (``schema``), which may
        lack all regimes if the pipeline can do none; ``corpus`` is for the caller to
        add to the conditions.
    RAISES (ValueError): As ``evaluate_coref``.
    """
    upstream = Upstream(nlp, docs)
    analyses: Dict[str, Analysis] = {}
    changed: set[str] = set()

    def watch(regime: str, predicted: Doc, gold: Doc) -> None:
        upstream.add(regime, predicted, gold)
        if regime not in analyses:
            analyses[regime] = Analysis(regime, singletons=singletons)
        analyses[regime].add(predicted, gold)
        if predicted.text != gold.text:
            changed.add(describe_doc(gold))

    scores, conditions = evaluate_coref(
        nlp,
        docs,
        regimes,
        singletons=singletons,
        match=match,
        coreferent_only=coreferent_only,
        segmentation=segmentation,
        track=track,
        watch=watch,
    )
    names = document_names(docs)
    named = dict(zip(map(describe_doc, docs), names, strict=True))
    metrics: Dict[str, Any] = {"schema": VERSION}
    for regime, score in scores.items():
        metrics[regime] = {
            **score.report(),
            "analysis": without_text(analyses[regime].report(), named, changed),
        }
    if scores:
        steps = ladder({name: analyses[name] for name in scores})
        metrics["ladder"] = {key: steps[key] for key in ("steps", "gap")}
    metrics.update(upstream.report())
    metrics["documents"] = [
        {
            "id": name,
            "morphemes": len(doc._.morphemes),
            "sentences": sum(1 for token in doc if token.is_sent_start),
        }
        for name, doc in zip(names, docs, strict=True)
    ]
    splits = {(doc._.source or {}).get("split") for doc in docs}
    conditions["split"] = splits.pop() if len(splits) == 1 else None
    conditions["not_run"].update(upstream.not_run)
    metrics["conditions"] = conditions
    return metrics


def without_text(value: Any, names: Dict[str, str], changed: set[str]) -> Any:
    """A report without the texts of its examples.

    Documents go by their name in the metrics file; examples of documents whose text the
    pipeline changed are left out, since their offsets are not those of gold.

    value (Any): The report, or a part of it.
    names (Dict[str, str]): The names.
    changed (set[str]): Documents with another text.
    RETURNS (Any): A copy.
    """
    if isinstance(value, list):
        return [
            without_text(part, names, changed)
            for part in value
            if not (
                isinstance(part, dict)
                and "contexts" in part
                and part["document"] in changed
            )
        ]
    if not isinstance(value, dict):
        return value
    return {
        key: names.get(part, part)
        if key == "document"
        else without_text(part, names, changed)
        for key, part in value.items()
        if key != "text"
    }
