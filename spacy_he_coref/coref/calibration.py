"""Choosing the cuts of ``he_coref``, and making its confidences mean what they say.

Both are fitted to documents that the model was not trained on. The cuts are those of a
grid with the best CoNLL F1. The confidences of links get the two numbers of Platt
(1999): a slope and an intercept for their log-odds. What was fitted to documents looks
better on the same documents than it is, so everything is fitted on either half of them
and tested on the other too.
"""

from typing import (
    Any,
    Callable,
    Dict,
    Iterable,
    List,
    NamedTuple,
    Optional,
    Sequence,
)

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from ..evaluation.coref import (
    CorefCounts,
    clean_clusters,
    cluster_bounds,
    coref_counts,
)
from ..evaluation.regimes import Calibration
from ..evaluation.segmentation import Span
from ..evaluation.syntax import gold_input, percent, regime_pipes
from .component import HebrewCoref, find_component, link_mentions
from .model import Links
from .reader import strip_gold

MENTION_CUTS = tuple(round(0.2 + 0.05 * i, 2) for i in range(11))
LINK_CUTS = tuple(round(-2.5 + 0.25 * i, 2) for i in range(17))
# What makes vectors; other components leave documents with predicted annotation alone.
_ENCODERS = ("transformer", "tok2vec")


class Cuts(NamedTuple):
    """The cuts of the component.

    mention (float): Spans are mentions from this probability on.
    link (float): Mentions are linked above this score.
    """

    mention: float
    link: float


# The counts of each document by cuts, and the model's output by the cut for mentions.
Grid = Dict[Cuts, List[CorefCounts]]
Predictions = Dict[float, List[Links]]


class Outcome(NamedTuple):
    """The links of documents, as arrays of (links,).

    confidences (np.ndarray): Their confidences, not calibrated, float64.
    right (np.ndarray): Whether both mentions are in one gold cluster, bool.
    """

    confidences: np.ndarray
    right: np.ndarray


def char_clusters(doc: Doc, *, singletons: bool = False) -> List[List[Span]]:
    """The gold clusters of a document by characters, each mention once.

    doc (Doc): The document.
    singletons (bool): Whether its singletons come after them, as clusters of one.
    RETURNS (List[List[Span]]): First character of each mention and the one after the
        last.
    """
    clusters = cluster_bounds(doc, singletons=singletons)
    cleaned, _ = clean_clusters(
        [char_bounds(doc, cluster) for cluster in clusters], singletons=singletons
    )
    return cleaned


def char_bounds(doc: Doc, bounds: Iterable[Sequence[int]]) -> List[Span]:
    """Turn spans of tokens into spans of characters.

    doc (Doc): The document.
    bounds (Iterable[Sequence[int]]): First token of each and the one after the last.
    RETURNS (List[Span]): First character of each and the one after the last.
    """
    starts = [token.idx for token in doc]
    ends = [token.idx + len(token) for token in doc]
    return [(starts[start], ends[end - 1]) for start, end in bounds]


def predict_links(
    component: HebrewCoref,
    docs: Sequence[Doc],
    mention_cuts: Iterable[float],
    *,
    track: Callable[[Iterable[float]], Iterable[float]] = iter,
) -> Predictions:
    """What the model says of documents with other cuts for mentions.

    The scores of links have to be predicted for each cut: the mentions that an
    antecedent competes with, and what has been mentioned before, depend on it.

    component (HebrewCoref): The component.
    docs (Sequence[Doc]): Documents with vectors, tags, trees and candidates.
    mention_cuts (Iterable[float]): The cuts; that of the component is added.
    track (Callable): Gets the cuts as they come, to show progress.
    RETURNS (Predictions): By cut what ``predict`` gives.
    """
    before = component.mention_cut
    found: Predictions = {}
    try:
        for cut in track(sorted({*mention_cuts, before})):
            component.mention_cut = cut
            found[cut] = component.predict(docs)
    finally:
        component.mention_cut = before
    return found


def score_grid(
    examples: Sequence[Example], found: Predictions, link_cuts: Iterable[float]
) -> Grid:
    """Score examples with every pair of cuts.

    examples (Sequence[Example]): The documents and their gold clusters; both have one
        text.
    found (Predictions): What the model says of them.
    link_cuts (Iterable[float]): The cuts for links.
    RETURNS (Grid): The counts of each example by cuts, without singletons.
    """
    gold = [char_clusters(example.reference) for example in examples]
    grid: Grid = {}
    for mention_cut, every in found.items():
        keys = [
            char_bounds(example.predicted, links.bounds.tolist())
            for example, links in zip(examples, every, strict=True)
        ]
        for link_cut in sorted({*link_cuts}):
            grid[Cuts(mention_cut, link_cut)] = [
                coref_counts(_clusters(own, links, link_cut), right)
                for own, links, right in zip(keys, every, gold, strict=True)
            ]
    return grid


def _clusters(keys: Sequence[Span], links: Links, cut: float) -> List[List[Span]]:
    """The clusters of two and more mentions, by characters."""
    _, entities, _ = link_mentions(links, cut)
    clusters: Dict[int, List[Span]] = {}
    for key, entity in zip(keys, entities.tolist(), strict=True):
        clusters.setdefault(entity, []).append(key)
    return [cluster for cluster in clusters.values() if len(cluster) > 1]


def sum_counts(counts: Iterable[CorefCounts]) -> CorefCounts:
    """Sum the counts of documents.

    counts (Iterable[CorefCounts]): Those of each.
    RETURNS (CorefCounts): The sum.
    """
    total = CorefCounts()
    for part in counts:
        total = total.plus(part)
    return total


def best_cuts(
    grid: Grid, chosen: Optional[Sequence[int]] = None, *, smooth: bool = False
) -> Cuts:
    """The cuts with the best CoNLL F1; of equal ones those in the middle.

    grid (Grid): What ``score_grid`` gave.
    chosen (Optional[Sequence[int]]): Numbers of the examples that count; None for all.
    smooth (bool): Take for the F1 of cuts the mean of theirs and their neighbours' in
        the grid: a peak that stands alone is chance and not found again.
    RETURNS (Cuts): The cuts.
    """
    scores = {
        cuts: sum_counts(
            counts if chosen is None else [counts[i] for i in chosen]
        ).conll_f1
        for cuts, counts in grid.items()
    }
    if smooth:
        scores = _smooth(scores)
    top = max(scores.values())
    best = sorted(cuts for cuts, score in scores.items() if score == top)
    return best[len(best) // 2]


def _smooth(scores: Dict[Cuts, float]) -> Dict[Cuts, float]:
    mentions = sorted({cuts.mention for cuts in scores})
    links = sorted({cuts.link for cuts in scores})
    table = np.array([[scores[Cuts(m, k)] for k in links] for m in mentions])
    padded = np.pad(table, 1, mode="edge")
    size, width = table.shape
    parts = [padded[i : i + size, j : j + width] for i in range(3) for j in range(3)]
    means = np.mean(parts, axis=0)
    return {
        Cuts(m, k): float(means[i, j])
        for i, m in enumerate(mentions)
        for j, k in enumerate(links)
    }


def link_outcomes(
    examples: Sequence[Example], found: Sequence[Links], link_cut: float
) -> List[Outcome]:
    """Which links are right, and how sure the model was.

    examples (Sequence[Example]): The documents and their gold clusters.
    found (Sequence[Links]): What the model says of each.
    link_cut (float): Mentions are linked above this score.
    RETURNS (List[Outcome]): For each example its links.
    """
    outcomes: List[Outcome] = []
    for example, links in zip(examples, found, strict=True):
        antecedents, _, confidences = link_mentions(links, link_cut)
        keys = char_bounds(example.predicted, links.bounds.tolist())
        clusters = enumerate(char_clusters(example.reference))
        gold = {key: i for i, cluster in clusters for key in cluster}
        cluster_of = np.array([gold.get(key, -1) for key in keys], dtype=np.int64)
        linked = np.flatnonzero(antecedents >= 0)
        own, other = cluster_of[linked], cluster_of[antecedents[linked]]
        outcomes.append(Outcome(confidences[linked], (own == other) & (own >= 0)))
    return outcomes


def join_outcomes(outcomes: Iterable[Outcome]) -> Outcome:
    """Put the links of documents together.

    outcomes (Iterable[Outcome]): Those of each.
    RETURNS (Outcome): All.
    """
    parts = list(outcomes)
    return Outcome(
        np.concatenate([part.confidences for part in parts] or [np.zeros(0)]),
        np.concatenate([part.right for part in parts] or [np.zeros(0, dtype=bool)]),
    )


def fit_platt(outcome: Outcome) -> List[float]:
    """Find the slope and intercept that fit log-odds to what is right (Platt 1999).

    Maximum likelihood by Newton's method. As in the paper, right and wrong ones aim
    at a little less than 1 and a little more than 0, so that the fit exists also when
    confidences tell right from wrong without error.

    outcome (Outcome): The links.
    RETURNS (List[float]): Slope and intercept.
    RAISES (ValueError): If there are no links.
    """
    if not len(outcome.right):
        raise ValueError(
            "The model links no mentions, so there is no confidence to calibrate. Use "
            "a trained model, and documents that have clusters."
        )
    logits = _logits(outcome.confidences)
    right = int(outcome.right.sum())
    wrong = len(outcome.right) - right
    target = np.where(outcome.right, (right + 1) / (right + 2), 1 / (wrong + 2))
    columns = np.stack([logits, np.ones(len(logits))], axis=1)
    weights = np.array([1.0, 0.0])
    loss = _platt_loss(columns @ weights, target)
    for _ in range(100):
        share = _sigmoid(columns @ weights)
        gradient = columns.T @ (share - target)
        # The small number keeps it invertible when all log-odds are equal.
        curvature = columns.T * (share * (1 - share)) @ columns + 1e-9 * np.eye(2)
        step = np.linalg.solve(curvature, gradient)
        scale = 1.0
        while scale > 1e-6:
            further = weights - scale * step
            lower = _platt_loss(columns @ further, target)
            if lower <= loss:
                break
            scale /= 2
        else:
            break
        done = loss - lower < 1e-10
        weights, loss = further, lower
        if done:
            break
    # No negative zero.
    return [round(float(weight), 4) + 0.0 for weight in weights]


def _sigmoid(logits: np.ndarray) -> np.ndarray:
    output: np.ndarray = np.exp(-np.logaddexp(0.0, -logits))
    return output


def _logits(confidences: np.ndarray) -> np.ndarray:
    share = np.clip(confidences, 1e-6, 1.0 - 1e-6)
    output: np.ndarray = np.log(share / (1.0 - share))
    return output


def _platt_loss(logits: np.ndarray, target: np.ndarray) -> float:
    return float((np.logaddexp(0.0, logits) - target * logits).sum())


def apply_platt(outcome: Outcome, calibration: Sequence[float]) -> Outcome:
    """Calibrate the confidences of links.

    outcome (Outcome): The links.
    calibration (Sequence[float]): Slope and intercept.
    RETURNS (Outcome): The same links.
    """
    slope, intercept = calibration
    logits = slope * _logits(outcome.confidences) + intercept
    return outcome._replace(confidences=_sigmoid(logits))


def calibration_error(outcome: Outcome) -> Optional[float]:
    """The expected calibration error of links (``evaluation.regimes.Calibration``).

    outcome (Outcome): The links.
    RETURNS (Optional[float]): In percent points; None without links.
    """
    bins = Calibration()
    for confidence, right in zip(*(part.tolist() for part in outcome), strict=True):
        bins.add(confidence, right)
    report = bins.report()
    return float(report["ece"]) if report else None


def calibrate(
    component: HebrewCoref,
    examples: Sequence[Example],
    *,
    keep_cuts: bool = False,
    track: Callable[[Iterable[float]], Iterable[float]] = iter,
) -> Dict[str, Any]:
    """Find cuts and calibration for a component; it is not changed.

    component (HebrewCoref): The component.
    examples (Sequence[Example]): Documents with vectors, tags, trees and candidates,
        and their gold clusters; none that the model was trained on.
    keep_cuts (bool): Leave the cuts as they are.
    track (Callable): Gets the cuts for mentions as they come, to show progress.
    RETURNS (Dict[str, Any]): ``settings`` for the config of the component:
        ``mention_cut``, ``link_cut``, ``calibration``. ``conll_f1`` and ``ece`` of
        links in percent: ``before``, with what the component has now; ``after``;
        ``halves``, fitted on either half of the documents, tested on the other (None
        if there is one document only). The number of ``documents`` and ``links``.
    RAISES (ValueError): If the model links nothing.
    """
    now = Cuts(component.mention_cut, component.link_cut)
    docs = [example.predicted for example in examples]
    mention_cuts, link_cuts = ((), ()) if keep_cuts else (MENTION_CUTS, LINK_CUTS)
    found = predict_links(component, docs, mention_cuts, track=track)
    grid = score_grid(examples, found, [*link_cuts, now.link])

    def outcomes_at(cuts: Cuts) -> List[Outcome]:
        return link_outcomes(examples, found[cuts.mention], cuts.link)

    best = best_cuts(grid, smooth=True)
    links = join_outcomes(outcomes_at(best))
    platt = fit_platt(links)
    before = join_outcomes(outcomes_at(now))
    if component.calibration is not None:
        before = apply_platt(before, component.calibration)
    counts: List[CorefCounts] = []
    tested: List[Outcome] = []
    numbers = range(len(examples))
    for half in (0, 1) if len(examples) > 1 else ():
        fitted, other = numbers[half::2], numbers[1 - half :: 2]
        cuts = best_cuts(grid, fitted, smooth=True)
        counts += [grid[cuts][i] for i in other]
        outcomes = outcomes_at(cuts)
        own = join_outcomes(outcomes[i] for i in fitted)
        # Half of a tiny corpus may have no links.
        own_platt = fit_platt(own) if len(own.right) else [1.0, 0.0]
        tested += [apply_platt(outcomes[i], own_platt) for i in other]
    return {
        "settings": {
            "mention_cut": best.mention,
            "link_cut": best.link,
            "calibration": platt,
        },
        "conll_f1": {
            "before": percent(sum_counts(grid[now]).conll_f1),
            "after": percent(sum_counts(grid[best]).conll_f1),
            "halves": percent(sum_counts(counts).conll_f1) if counts else None,
        },
        "ece": {
            "before": calibration_error(before),
            "after": calibration_error(apply_platt(links, platt)),
            "halves": calibration_error(join_outcomes(tested)),
        },
        "documents": len(examples),
        "links": len(links.right),
    }


def read_examples(
    nlp: Language,
    docs: Sequence[Doc],
    *,
    track: Callable[[Iterable[Doc]], Iterable[Doc]] = iter,
) -> List[Example]:
    """Give gold documents what ``he_coref`` of a pipeline reads.

    Documents of ``he-coref corpus annotate`` keep their tags, trees and candidates
    and get vectors; others get all from the pipeline, given their segments and
    sentences (the regime ``gold``).

    nlp (Language): The pipeline.
    docs (Sequence[Doc]): Documents with gold clusters, read with the vocabulary of
        the pipeline.
    track (Callable): Gets the documents as they come, to show progress.
    RETURNS (List[Example]): Predicted: with vectors, tags, trees and candidates.
        Reference: gold.
    RAISES (ValueError): If the pipeline has no he_coref, or only some documents have
        predicted annotation.
    """
    name = find_component(nlp)
    pipes = nlp.pipe_names[: nlp.pipe_names.index(name)]
    predicted = {(doc._.source or {}).get("annotation") == "predicted" for doc in docs}
    if len(predicted) > 1:
        raise ValueError(
            "Some documents have predicted annotation and some have not. Use either "
            "a corpus of 'he-coref corpus annotate' or one of 'he-coref corpus build'."
        )
    if True in predicted:
        pipes = [pipe for pipe in pipes if nlp.get_pipe_meta(pipe).factory in _ENCODERS]
        inputs = [strip_gold(doc) for doc in docs]
    else:
        allowed = regime_pipes(nlp, "gold")
        pipes = [pipe for pipe in pipes if pipe in allowed]
        inputs = [gold_input(doc) for doc in docs]
    with nlp.select_pipes(enable=pipes):
        outputs = list(track(nlp.pipe(inputs)))
    return [Example(doc, gold) for doc, gold in zip(outputs, docs, strict=True)]
