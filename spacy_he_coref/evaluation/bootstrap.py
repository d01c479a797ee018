"""How sure figures are: bootstrap over documents (Efron and Tibshirani 1993).

Documents are drawn again from those that were scored, with replacement, as many as
there are; their counts are summed and then divided, as for the figure itself. The 2.5th
and the 97.5th percentile of many such draws are the ends of the 95% interval.

Two systems are compared on the same draws (Koehn 2004): the interval is that of the
difference, and the p-value twice the share of draws in which it has not the sign that
most have. A system of several seeds counts with the mean of its seeds in every draw, so
the interval says what other documents would do, and the spread what another seed does.

Everything is one product of matrices: draws by documents, times documents by counts.
"""

from typing import Any, Dict, List, NamedTuple, Sequence, Tuple

import numpy as np
from numpy.typing import NDArray

from .coref import CONLL, METRICS, CorefCounts, Fractions

Array = NDArray[np.float64]

REPLICAS = 10_000
SEED = 0
# Percentiles of the ends of an interval.
ENDS = (2.5, 97.5)
CONLL_F1 = "conll_f1"


def count_array(rows: Sequence[CorefCounts]) -> Array:
    """The counts of documents as one array.

    rows (Sequence[CorefCounts]): Those of each document.
    RETURNS (Array): Documents by counts by the four numbers of each.
    """
    shape = (len(rows), len(CorefCounts._fields), len(Fractions._fields))
    return np.array(rows, dtype=float).reshape(shape)


def _ratio(part: Array, total: Array) -> Array:
    return np.divide(part, total, out=np.zeros_like(part), where=total != 0)


def _prf(fractions: Array) -> Array:
    """Precision, recall and F1 (last axis) of counts; what is divided by 0 is 0."""
    precision = _ratio(fractions[..., 0], fractions[..., 1])
    recall = _ratio(fractions[..., 2], fractions[..., 3])
    f1 = _ratio(2 * precision * recall, precision + recall)
    return np.stack([precision, recall, f1], axis=-1)


def metric_values(counts: Array) -> Dict[str, Array]:
    """The metrics of many sums of counts at once (``CorefCounts.prf``).

    counts (Array): Counts, of any shape, by the four numbers of each.
    RETURNS (Dict[str, Array]): By metric precision, recall and F1 on the last axis, and
        ``conll_f1`` without that axis; in percent.
    """
    of = {name: counts[..., i, :] for i, name in enumerate(CorefCounts._fields)}
    values = {name: _prf(of[name]) for name in METRICS if name != "blanc"}
    # BLANC: the mean of the classes of links that gold has.
    classes = [of["coreferent"], of["other"]]
    there = [(links[..., 3] > 0)[..., None] for links in classes]
    sums = sum(_prf(links) * has for links, has in zip(classes, there, strict=True))
    number = np.add(*there, dtype=float)
    # Without any: whether the mentions are those of gold and nothing is linked.
    linked = classes[0][..., 1] + classes[1][..., 1] > 0
    alone = (~linked & (values["mentions"][..., 2] == 1))[..., None]
    values["blanc"] = np.where(
        number > 0, np.asarray(sums) / np.maximum(number, 1), alone
    )
    values = {name: 100 * values[name] for name in METRICS}
    values[CONLL_F1] = np.mean([values[name][..., 2] for name in CONLL], axis=0)
    return values


def draw(documents: int, replicas: int = REPLICAS, seed: int = SEED) -> Array:
    """Draw documents with replacement.

    documents (int): How many there are, and are drawn each time.
    replicas (int): How often.
    seed (int): Of the random numbers; the same draws for the same seed.
    RETURNS (Array): Draws by documents: how often each was drawn.
    """
    shares = np.full(documents, 1 / documents)
    drawn = np.random.default_rng(seed).multinomial(documents, shares, size=replicas)
    return drawn.astype(float)


def _draw_counts(draws: Array, counts: Array) -> Array:
    return np.tensordot(draws, counts, axes=1)


def _ends(values: Array) -> List[float]:
    return [round(float(end), 2) for end in np.percentile(values, ENDS)]


def intervals(
    *seeds: Array, replicas: int = REPLICAS, seed: int = SEED
) -> Dict[str, Any]:
    """The 95% intervals of all metrics.

    seeds (Array): From ``count_array``, of the system or of each of its seeds, whose
        mean then counts.
    replicas (int), seed (int): See ``draw``.
    RETURNS (Dict[str, Any]): By metric the two ends for ``p``, ``r`` and ``f1``, and
        those of ``conll_f1``; in percent. Empty with fewer than two documents.
    """
    if len(seeds[0]) < 2:
        return {}
    draws = draw(len(seeds[0]), replicas, seed)
    values = _means([metric_values(_draw_counts(draws, counts)) for counts in seeds])
    report: Dict[str, Any] = {CONLL_F1: _ends(values[CONLL_F1])}
    for metric in METRICS:
        parts = zip(("p", "r", "f1"), np.moveaxis(values[metric], -1, 0), strict=True)
        report[metric] = {part: _ends(column) for part, column in parts}
    return report


def mean_and_spread(values: Sequence[float]) -> Tuple[float, float]:
    """The mean of some runs and how far they are apart.

    values (Sequence[float]): One value of each.
    RETURNS (Tuple[float, float]): The mean, and the standard deviation of a sample, 0
        for a single run.
    """
    spread = float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
    return round(float(np.mean(values)), 2), round(spread, 2)


class Comparison(NamedTuple):
    """What a paired bootstrap says of two systems; in percent and percent points.

    first (float), second (float): Mean of the seeds of each.
    difference (float): First less second.
    interval (List[float]): The ends of its 95% interval.
    p_value (float): From 0 to 1, two-sided.
    """

    first: float
    second: float
    difference: float
    interval: List[float]
    p_value: float


def compare(
    first: Sequence[Array],
    second: Sequence[Array],
    replicas: int = REPLICAS,
    seed: int = SEED,
) -> Dict[str, Comparison]:
    """Compare two systems on the same documents.

    first (Sequence[Array]), second (Sequence[Array]): Of each system the counts of
        every seed, from ``count_array``; the documents in one order.
    replicas (int), seed (int): See ``draw``.
    RETURNS (Dict[str, Comparison]): For ``conll_f1`` and the F1 of each metric.
    RAISES (ValueError): If there are fewer than two documents, or the numbers of
        documents differ.
    """
    numbers = {len(counts) for counts in (*first, *second)}
    if len(numbers) != 1 or min(numbers) < 2:
        raise ValueError(
            "A paired bootstrap needs the same documents for all systems, and at least "
            f"two of them; here there are {', '.join(map(str, sorted(numbers)))}."
        )
    draws = draw(min(numbers), replicas, seed)
    points, drawn = [], []
    for system in (first, second):
        sums = [counts.sum(axis=0) for counts in system]
        points.append(_f1(_means([metric_values(counts) for counts in sums])))
        sums = [_draw_counts(draws, counts) for counts in system]
        drawn.append(_f1(_means([metric_values(counts) for counts in sums])))
    comparisons: Dict[str, Comparison] = {}
    for name in (CONLL_F1, *METRICS):
        values = [float(point[name]) for point in points]
        differences = drawn[0][name] - drawn[1][name]
        # The difference itself counts as a draw, so that no p-value is 0.
        below, above = (differences <= 0).sum() + 1, (differences >= 0).sum() + 1
        comparisons[name] = Comparison(
            first=round(values[0], 2),
            second=round(values[1], 2),
            difference=round(values[0] - values[1], 2),
            interval=_ends(differences),
            p_value=round(min(1.0, 2 * min(below, above) / (replicas + 1)), 4),
        )
    return comparisons


def _means(seeds: Sequence[Dict[str, Array]]) -> Dict[str, Array]:
    """The mean of the values of all seeds, by metric."""
    return {name: np.mean([values[name] for values in seeds], 0) for name in seeds[0]}


def _f1(values: Dict[str, Array]) -> Dict[str, Array]:
    """CoNLL F1 and the F1 of each metric."""
    f1 = {metric: values[metric][..., 2] for metric in METRICS}
    return {CONLL_F1: values[CONLL_F1], **f1}
