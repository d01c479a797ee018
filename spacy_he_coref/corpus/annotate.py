"""Corpora as coreference sees them in use: predicted annotation, gold clusters.

Coreference is trained on segments, tags and trees that a pipeline predicted, because
it will get nothing better from one (issue "Coreference", section 2). So the Docs made
here have all annotation from a pipeline, and the mentions and clusters of gold.
"""

from collections import Counter
from contextlib import ExitStack
from typing import (
    Any,
    Callable,
    Dict,
    Iterable,
    Iterator,
    List,
    NoReturn,
    Optional,
    Sequence,
    Tuple,
    cast,
)

from spacy.language import Language
from spacy.tokens import Doc, Span, SpanGroup

from ..coref.component import HebrewCoref, find_component
from ..evaluation.coref import cluster_bounds
from ..evaluation.mentions import detector_settings
from ..evaluation.syntax import gold_input, raw_input, regime_pipes, syntax_pipes
from ..mentions import find_mentions
from ..mentions.rules import BALANCED, RECALL
from ..segmenter.backends.trained import TrainedSegmenter
from ..segmenter.letters import describe_doc
from ..tokens import is_segment_key
from .docs import CLUSTER_PREFIX, MENTIONS, SINGLETONS, set_clusters

# Span groups of the rule-based candidates, and the setting that each is made with.
CANDIDATES = {"coref_candidates": BALANCED, "coref_candidates_recall": RECALL}
GIVEN = ("segments", "text")
# Whose clusters the documents have.
CLUSTERS = ("gold", "predicted")


def annotate_docs(
    nlp: Language,
    docs: Sequence[Doc],
    given: str,
    counts: "Optional[Counter[str]]" = None,
    *,
    clusters: str = "gold",
    noise: float = 0.0,
    track: Callable[[Iterable[Doc]], Iterable[Doc]] = iter,
) -> Iterator[Doc]:
    """Give gold documents the annotation of a pipeline.

    The Docs have the segments, tags, features, lemmas, sentences and trees of the
    pipeline; the mentions and clusters of gold in the groups that gold has them in;
    and the rule-based candidates in those of ``CANDIDATES``. Vectors and the
    morphemes of the treebank are not kept. ``doc._.source`` says that the annotation
    is predicted, and what was given.

    Clusters may be those of the pipeline too, to train another model on (self-training,
    or distillation of an ensemble). The documents then count as of the first corpus
    that its ``he_coref`` knows: what it finds follows the guidelines of that one.

    nlp (Language): The pipeline; mention detection and coreference run only if their
        clusters are wanted, then with singletons. Its error handler is replaced by one
        that names the document.
    docs (Sequence[Doc]): Documents with gold mentions, read with the vocabulary of
        the pipeline.
    given (str): ``segments`` for gold segments and sentences, ``text`` for the text
        alone. Then a gold mention becomes the tokens with its first and last letter,
        and is lost if there are none (``carry_clusters``).
    counts (Optional[Counter]): Gets what was read, kept and lost.
    clusters (str): ``gold``, or ``predicted`` for those of the pipeline with its
        singletons; documents then need no gold mentions.
    noise (float): Temperature at which the segmenter draws analyses, where the text is
        given (``TrainedSegmenter.noise``); 0 for the likeliest ones.
    track (Callable): Gets the predicted documents as they come, to show progress.
    YIELDS (Doc): For each document a new one, in order.
    RAISES (ValueError): If a component fails on a document, nothing of the pipeline
        tags and parses, or finds clusters where they are wanted, or segments where
        noise is, or a document has no gold mentions where they are needed; names the
        document.
    """
    if given not in GIVEN:
        raise ValueError(f"given is {given!r}. Choose one of: {', '.join(GIVEN)}.")
    if clusters not in CLUSTERS:
        raise ValueError(
            f"clusters is {clusters!r}. Choose one of: {', '.join(CLUSTERS)}."
        )
    counts = Counter() if counts is None else counts
    settings = detector_settings(nlp)
    nlp.set_error_handler(_name_documents)
    regime = "gold" if given == "segments" else "raw"
    labels: Optional[HebrewCoref] = None
    if clusters == "gold":
        pipes = syntax_pipes(nlp, regime)
    else:
        labels = cast(HebrewCoref, nlp.get_pipe(find_component(nlp)))
        labels.singletons = True
        pipes = regime_pipes(nlp, regime)
    inputs = (_input(nlp, gold, given, labels is None) for gold in docs)
    with ExitStack() as stack:
        stack.enter_context(nlp.select_pipes(enable=pipes))
        if noise:
            stack.enter_context(_noisy_segmenter(nlp).noise(noise))
        for doc, gold in zip(track(nlp.pipe(inputs)), docs, strict=True):
            labelled = cluster_bounds(doc, singletons=True)
            _clean(doc, gold, given)
            if labels is None:
                carry_clusters(gold, doc, counts)
            else:
                _label(doc, labelled, labels, counts)
            for key, setting in CANDIDATES.items():
                found = find_mentions(doc, settings._replace(setting=setting))
                spans = [doc[start:end] for start, end in found]
                doc.spans[key] = SpanGroup(doc, name=key, spans=spans)
                counts[key] += len(found)
            counts["documents"] += 1
            counts["sentences"] += sum(token.is_sent_start is True for token in doc)
            counts["tokens"] += len(doc)
            yield doc


def _noisy_segmenter(nlp: Language) -> TrainedSegmenter:
    for _, pipe in nlp.pipeline:
        if isinstance(getattr(pipe, "backend", None), TrainedSegmenter):
            return cast(Any, pipe).backend
    raise ValueError(
        "There is noise in what a segmenter with TrainedSegmenter.v1 finds only, from "
        f"texts; the pipeline runs: {', '.join(nlp.pipe_names)}."
    )


def _input(nlp: Language, gold: Doc, given: str, needs_mentions: bool) -> Doc:
    if needs_mentions and MENTIONS not in gold.spans:
        raise ValueError(
            f"Document {describe_doc(gold)} has no gold mentions. Use a corpus that "
            "'he-coref corpus build' made from KibutzR or IAHLT."
        )
    try:
        return gold_input(gold) if given == "segments" else raw_input(nlp, gold)
    except ValueError as error:
        raise ValueError(f"Document {describe_doc(gold)}: {error}") from error


def _name_documents(name: str, _: Any, docs: List[Doc], error: Exception) -> NoReturn:
    names = ", ".join(describe_doc(doc) for doc in docs)
    raise ValueError(f"Document {names}: component {name!r}: {error}") from error


def _clean(doc: Doc, gold: Doc, given: str) -> None:
    """Leave the morpheme layer and the marked source, no vectors, no span groups."""
    for key in [key for key in doc.user_data if not is_segment_key(key)]:
        del doc.user_data[key]
    doc.spans.clear()
    source: Dict[str, Any] = dict(gold._.source or {})
    if given == "text":
        # It says what is annotated of gold segments.
        source.pop("segmentation", None)
    doc._.source = {**source, "annotation": "predicted", "given": given}


def _label(
    doc: Doc,
    clusters: List[List[Tuple[int, int]]],
    component: HebrewCoref,
    counts: "Counter[str]",
) -> None:
    """Give a document clusters that a component found in it."""
    set_clusters(doc, [(cluster, {}) for cluster in sorted(map(sorted, clusters))])
    shim: Any = component.model.shims[0]
    corpus = shim.settings["corpora"][0]
    doc._.source = {**doc._.source, "corpus": corpus, "clusters": "predicted"}
    lengths = [len(cluster) for cluster in clusters]
    counts["mentions_with_singletons"] += sum(lengths)
    counts["mentions"] += sum(length for length in lengths if length > 1)
    counts["clusters"] += sum(length > 1 for length in lengths)


def carry_clusters(
    gold: Doc, doc: Doc, counts: "Optional[Counter[str]]" = None
) -> None:
    """Carry gold mentions and clusters over to other tokens of the same text.

    A mention becomes the tokens whose first and last letter are its own. One that has
    no such tokens is lost. A mention that is left alone in its cluster becomes a
    singleton if the document has singletons, and is dropped if it has none.

    gold (Doc): The document with mentions and clusters.
    doc (Doc): The document that gets them.
    counts (Optional[Counter]): Gets how many there were and how many were lost.
    RAISES (ValueError): If the texts differ; names the document.
    """
    if doc.text != gold.text:
        raise ValueError(
            f"Document {describe_doc(gold)}: the predicted document has another text. "
            "A tokenizer or component of the pipeline has changed it."
        )
    counts = Counter() if counts is None else counts
    has_singletons = bool(SINGLETONS in gold.spans and len(gold.spans[SINGLETONS]))
    clusters: List[Tuple[List[Tuple[int, int]], Dict[str, Any]]] = []
    for mentions, attrs in _gold_clusters(gold):
        found = [doc.char_span(span.start_char, span.end_char) for span in mentions]
        spans = sorted((span.start, span.end) for span in found if span is not None)
        lost = len(mentions) - len(spans)
        counts["mentions_with_singletons"] += len(mentions)
        counts["mentions_lost"] += lost
        if len(mentions) > 1:
            counts["mentions"] += len(mentions)
            counts["coreferent_lost"] += lost
            counts["clusters"] += 1
            counts["clusters_lost"] += len(spans) < 2
            if len(spans) == 1:
                counts["mentions_left_single"] += 1
                if not has_singletons:
                    continue
        if spans:
            clusters.append((spans, attrs))
    clusters.sort(key=lambda cluster: cluster[0])
    set_clusters(doc, clusters)


def _gold_clusters(doc: Doc) -> Iterator[Tuple[List[Span], Dict[str, Any]]]:
    """The clusters of a gold document, singletons too, each with its attributes."""
    for key, group in doc.spans.items():
        if key == SINGLETONS:
            for span, name in zip(group, group.attrs["ids"], strict=True):
                yield [span], {"id": name}
        elif key.startswith(f"{CLUSTER_PREFIX}_"):
            yield list(group), dict(group.attrs)
