"""How well clusters are found: the metrics, over mentions of any kind.

A mention is anything hashable, for example its first and last letter; two are the same
if they are equal. Counts are summed over documents and only then divided (design
section 5). The metrics:

* ``muc`` (Vilain et al. 1995): links that are needed to join the mentions of a
  cluster.
* ``b3`` (Bagga and Baldwin 1998): for each mention the share of its cluster that is
  right.
* ``ceafe``, ``ceafm`` (Luo 2005): clusters are paired one to one so that the sum of
  their similarities is greatest; the similarity is phi4, twice the common mentions
  over all mentions of both, or phi3, the number of common mentions.
* ``lea`` (Moosavi and Strube 2016): for each cluster the share of its links that are
  right, weighted by its size. A singleton has one link, to itself.
* ``blanc`` (Luo et al. 2014): links between coreferent mentions, and between others,
  count as two classes; precision, recall and F1 are the means of both. Where gold has
  links of one class only, that class alone counts, as in the reference scorer.
* ``mentions``: mentions without regard to clusters.
* ``conll_f1`` (Pradhan et al. 2012): the mean of the F1 of MUC, B3 and CEAF-e.

As in the reference scorer, what is divided by nothing is 0.

What a clustering may not have is put right before anything is counted, and reported:
a mention that a cluster has twice stays once; a mention in two clusters stays in the
first of them; empty clusters are dropped. Then, unless singletons count, clusters of
one mention are dropped on both sides.

Spans of two documents are compared by their first and last written letters
(``LetterAlignment``), whatever the tokens between.
"""

import re
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from difflib import SequenceMatcher
from functools import partial
from heapq import heappop, heappush
from itertools import accumulate, count, islice
from math import inf
from typing import (
    Any,
    Callable,
    Dict,
    Hashable,
    Iterable,
    List,
    NamedTuple,
    Optional,
    Sequence,
    Set,
    Tuple,
    TypeVar,
)

import spacy
from spacy.tokens import Doc, SpanGroup
from spacy.training import Example

from ..corpus.docs import CLUSTER_PREFIX, MENTIONS, SINGLETONS
from ..segmenter.normalize import normalize_word
from .segmentation import Span
from .syntax import percent

M = TypeVar("M", bound=Hashable)
Clusters = Iterable[Iterable[Hashable]]
# A mention as it is compared; with a first number of -1 one that gold cannot have.
Key = Tuple[int, ...]

# The metrics of a report that are precision, recall and F1, in the order of tables.
METRICS = ("mentions", "muc", "b3", "ceafe", "ceafm", "lea", "blanc")
# Their F1 makes the CoNLL F1.
CONLL = ("muc", "b3", "ceafe")

# What the scorer gives ``nlp.evaluate``; the first one counts.
SCORE_WEIGHTS: Dict[str, Optional[float]] = {
    "coref_f": 1.0,
    "coref_p": None,
    "coref_r": None,
    "coref_muc_f": None,
    "coref_b3_f": None,
    "coref_ceafe_f": None,
    "coref_lea_f": None,
    "coref_mentions_f": None,
}


class Fractions(NamedTuple):
    """A precision and a recall that can be summed over documents.

    right_predicted (float), predicted (float): Numerator and denominator of the
        precision.
    right_gold (float), gold (float): Those of the recall.
    """

    right_predicted: float = 0
    predicted: float = 0
    right_gold: float = 0
    gold: float = 0

    def plus(self, other: "Fractions") -> "Fractions":
        """The sum of both.

        other (Fractions): The others.
        RETURNS (Fractions): The sum.
        """
        return Fractions(*(a + b for a, b in zip(self, other, strict=True)))

    @property
    def precision(self) -> float:
        """Share of the prediction that is right; 0 if nothing was predicted."""
        return _ratio(self.right_predicted, self.predicted)

    @property
    def recall(self) -> float:
        """Share of gold that was found; 0 if there is nothing in gold."""
        return _ratio(self.right_gold, self.gold)

    @property
    def f1(self) -> float:
        """Harmonic mean of both; 0 if one of them is."""
        return _harmonic(self.precision, self.recall)


def _ratio(part: float, total: float) -> float:
    return part / total if total else 0.0


def _harmonic(precision: float, recall: float) -> float:
    return _ratio(2 * precision * recall, precision + recall)


class CorefCounts(NamedTuple):
    """The counts behind all metrics, of one document or of several.

    ``coreferent`` and ``other`` are the two classes of links of BLANC.
    """

    mentions: Fractions = Fractions()
    muc: Fractions = Fractions()
    b3: Fractions = Fractions()
    ceafe: Fractions = Fractions()
    ceafm: Fractions = Fractions()
    lea: Fractions = Fractions()
    coreferent: Fractions = Fractions()
    other: Fractions = Fractions()

    def plus(self, other: "CorefCounts") -> "CorefCounts":
        """The sum of both.

        other (CorefCounts): The others.
        RETURNS (CorefCounts): The sum.
        """
        return CorefCounts(*(a.plus(b) for a, b in zip(self, other, strict=True)))

    def prf(self, metric: str) -> Tuple[float, float, float]:
        """A metric.

        metric (str): One of METRICS.
        RETURNS (Tuple[float, float, float]): Precision, recall and F1, from 0 to 1.
        """
        if metric != "blanc":
            fractions: Fractions = getattr(self, metric)
            return fractions.precision, fractions.recall, fractions.f1
        classes = [links for links in (self.coreferent, self.other) if links.gold]
        if not classes:
            # A mention of gold that stands alone has no link: it is found or not.
            links = self.coreferent.predicted + self.other.predicted
            right = float(not links and self.mentions.f1 == 1)
            return right, right, right
        return (
            sum(links.precision for links in classes) / len(classes),
            sum(links.recall for links in classes) / len(classes),
            sum(links.f1 for links in classes) / len(classes),
        )

    @property
    def conll_f1(self) -> float:
        """The mean F1 of MUC, B3 and CEAF-e, from 0 to 1."""
        return sum(self.prf(metric)[2] for metric in CONLL) / len(CONLL)


class Dropped(NamedTuple):
    """What one side of the comparison had and what does not count.

    repeated (int): Mentions that their cluster had already.
    in_two_clusters (int): Mentions that an earlier cluster had.
    empty_clusters (int): Clusters without mentions, from the start or thereby.
    singletons (int): Clusters of one mention.
    """

    repeated: int = 0
    in_two_clusters: int = 0
    empty_clusters: int = 0
    singletons: int = 0

    def plus(self, other: "Dropped") -> "Dropped":
        """The sum of both.

        other (Dropped): The others.
        RETURNS (Dropped): The sum.
        """
        return Dropped(*(a + b for a, b in zip(self, other, strict=True)))


def clean_clusters(
    clusters: Iterable[Iterable[M]], *, singletons: bool = False
) -> Tuple[List[List[M]], Dropped]:
    """The clusters that count, by the rules of the module's description.

    clusters (Iterable[Iterable[Hashable]]): The mentions of each cluster.
    singletons (bool): Keep clusters of one mention.
    RETURNS (Tuple[List[List[Hashable]], Dropped]): Disjoint clusters in the same
        order, and what was dropped.
    """
    kept: List[List[M]] = []
    seen: Set[M] = set()
    counts: Counter[str] = Counter()
    for cluster in clusters:
        mentions: List[M] = []
        own: Set[M] = set()
        for mention in cluster:
            if mention in own:
                counts["repeated"] += 1
            elif mention in seen:
                counts["in_two_clusters"] += 1
            else:
                mentions.append(mention)
                own.add(mention)
        seen |= own
        if not mentions:
            counts["empty_clusters"] += 1
        elif len(mentions) == 1 and not singletons:
            counts["singletons"] += 1
        else:
            kept.append(mentions)
    return kept, Dropped(**counts)


def coref_counts(
    predicted: List[List[M]],
    gold: List[List[M]],
) -> CorefCounts:
    """Compare the clusters of a document with those of gold.

    Only clusters that have a mention in common are compared, so time grows with the
    number of mentions; CEAF takes longer where many clusters compete.

    predicted (List[List[Hashable]]): The predicted clusters, as ``clean_clusters``
        gives them.
    gold (List[List[Hashable]]): Those of gold.
    RETURNS (CorefCounts): The counts of the document.
    """
    gold_of = {mention: j for j, cluster in enumerate(gold) for mention in cluster}
    # Common mentions of a predicted and a gold cluster, of those that have any.
    cells = Counter(
        (i, gold_of[mention])
        for i, cluster in enumerate(predicted)
        for mention in cluster
        if mention in gold_of
    )
    ours = [len(cluster) for cluster in predicted]
    theirs = [len(cluster) for cluster in gold]
    rows: Dict[int, List[int]] = {}
    columns: Dict[int, List[int]] = {}
    for (i, j), common in cells.items():
        rows.setdefault(i, []).append(common)
        columns.setdefault(j, []).append(common)
    right = sum(cells.values())
    squares = [
        (common * common / ours[i], common * common / theirs[j])
        for (i, j), common in cells.items()
    ]
    phi3 = {cell: float(common) for cell, common in cells.items()}
    phi4 = {
        (i, j): 2 * common / (ours[i] + theirs[j]) for (i, j), common in cells.items()
    }
    ceafe, ceafm = best_similarity(phi4), best_similarity(phi3)
    links = sum(_pairs(common) for common in cells.values())
    # Pairs of common mentions that neither side takes for coreferent.
    apart = (
        _pairs(right)
        - sum(_pairs(sum(row)) for row in rows.values())
        - sum(_pairs(sum(column)) for column in columns.values())
        + links
    )
    our_links, their_links = sum(map(_pairs, ours)), sum(map(_pairs, theirs))
    return CorefCounts(
        mentions=Fractions(right, sum(ours), right, sum(theirs)),
        muc=Fractions(
            sum(sum(row) - len(row) for row in rows.values()),
            sum(ours) - len(ours),
            sum(sum(column) - len(column) for column in columns.values()),
            sum(theirs) - len(theirs),
        ),
        b3=Fractions(
            sum(square[0] for square in squares),
            sum(ours),
            sum(square[1] for square in squares),
            sum(theirs),
        ),
        ceafe=Fractions(ceafe, len(ours), ceafe, len(theirs)),
        ceafm=Fractions(ceafm, sum(ours), ceafm, sum(theirs)),
        lea=_lea(cells, ours, theirs),
        coreferent=Fractions(links, our_links, links, their_links),
        other=Fractions(
            apart,
            _pairs(sum(ours)) - our_links,
            apart,
            _pairs(sum(theirs)) - their_links,
        ),
    )


def _pairs(number: int) -> int:
    return number * (number - 1) // 2


def _lea(
    cells: Dict[Tuple[int, int], int], ours: List[int], theirs: List[int]
) -> Fractions:
    precision = recall = 0.0
    for (i, j), common in cells.items():
        if ours[i] == theirs[j] == 1:
            precision += 1
            recall += 1
        if ours[i] > 1:
            precision += ours[i] * _pairs(common) / _pairs(ours[i])
        if theirs[j] > 1:
            recall += theirs[j] * _pairs(common) / _pairs(theirs[j])
    return Fractions(precision, sum(ours), recall, sum(theirs))


def best_similarity(cells: Dict[Tuple[int, int], float]) -> float:
    """The greatest sum of similarities of a one-to-one pairing.

    cells (Dict[Tuple[int, int], float]): Positive similarities of rows and columns,
        counted from 0; those that are missing are 0.
    RETURNS (float): The sum of the best pairing.
    """
    return sum(cells[pair] for pair in best_pairing(cells))


def best_pairing(cells: Dict[Tuple[int, int], float]) -> List[Tuple[int, int]]:
    """The one-to-one pairing with the greatest sum of similarities.

    The Hungarian algorithm (Kuhn 1955) by shortest augmenting paths over the cells
    that there are, so clusters without common mentions cost nothing.

    cells (Dict[Tuple[int, int], float]): As of ``best_similarity``.
    RETURNS (List[Tuple[int, int]]): Rows and their columns; only pairs of ``cells``.
    """
    weights: Dict[int, Dict[int, float]] = {}
    for (row, column), value in cells.items():
        # A column of its own for every row, which leaves the row without a pair.
        weights.setdefault(row, {-1 - row: 0.0})[column] = value
    # What each row and column gets: no weight is more than the sum of both, and that
    # of a pair is the sum.
    row_price: Dict[int, float] = {}
    column_price: Dict[int, float] = defaultdict(float)
    row_of: Dict[int, int] = {}
    column_of: Dict[int, int] = {}
    for start, options in weights.items():
        row_price[start] = max(w - column_price[c] for c, w in options.items())
        # From this row to the nearest column that is free; on the way, columns that
        # are taken are left by their row.
        distance: Dict[int, float] = {}
        came_from: Dict[int, int] = {}
        done: Dict[int, float] = {}
        queue: List[Tuple[float, int]] = []
        row, far = start, 0.0
        while True:
            for column, weight in weights[row].items():
                through = far + row_price[row] + column_price[column] - weight
                if column not in done and through < distance.get(column, inf):
                    distance[column] = through
                    came_from[column] = row
                    heappush(queue, (through, column))
            far, column = heappop(queue)
            while column in done:
                far, column = heappop(queue)
            if column not in row_of:
                break
            done[column] = far
            row = row_of[column]
        row_price[start] -= far
        for taken, reached in done.items():
            column_price[taken] += far - reached
            row_price[row_of[taken]] -= far - reached
        # Every row on the way takes the column by which it was left.
        row = -1
        while row != start:
            row = came_from[column]
            row_of[column] = row
            left = column_of.get(row, -1)
            column_of[row], column = column, left
    return [pair for pair in column_of.items() if pair in cells]


class CorefScore:
    """Which clusters are right, summed over documents.

    singletons (bool): Whether clusters of one mention count.
    """

    def __init__(self, *, singletons: bool = False) -> None:
        self.singletons = singletons
        self.total = CorefCounts()
        self.dropped = {"predicted": Dropped(), "gold": Dropped()}
        self.clusters = {"predicted": 0, "gold": 0}

    def add(self, predicted: Clusters, gold: Clusters) -> CorefCounts:
        """Count a document.

        predicted (Iterable[Iterable[Hashable]]): The mentions of each predicted
            cluster.
        gold (Iterable[Iterable[Hashable]]): Those of each gold cluster.
        RETURNS (CorefCounts): The counts of this document alone.
        """
        cleaned: Dict[str, List[List[Hashable]]] = {}
        for side, clusters in (("predicted", predicted), ("gold", gold)):
            cleaned[side], dropped = clean_clusters(
                clusters, singletons=self.singletons
            )
            self.dropped[side] = self.dropped[side].plus(dropped)
            self.clusters[side] += len(cleaned[side])
        counts = coref_counts(cleaned["predicted"], cleaned["gold"])
        self.total = self.total.plus(counts)
        return counts

    def report(self) -> Dict[str, Any]:
        """The metrics of the module's description.

        RETURNS (Dict[str, Any]): By name the ``p``, ``r`` and ``f1`` of each metric
            in percent; ``conll_f1`` in percent; ``counts`` of the clusters and
            mentions of both sides that count, and ``dropped`` what does not.
        """
        report: Dict[str, Any] = {}
        for metric in METRICS:
            values = map(percent, self.total.prf(metric))
            report[metric] = dict(zip(("p", "r", "f1"), values, strict=True))
        report["conll_f1"] = percent(self.total.conll_f1)
        report["counts"] = {
            "predicted_clusters": self.clusters["predicted"],
            "gold_clusters": self.clusters["gold"],
            "predicted_mentions": int(self.total.mentions.predicted),
            "gold_mentions": int(self.total.mentions.gold),
        }
        report["dropped"] = {
            side: dropped._asdict() for side, dropped in self.dropped.items()
        }
        return report


def cluster_groups(doc: Doc, prefix: str = CLUSTER_PREFIX) -> List[SpanGroup]:
    """The clusters of a document, predicted or gold.

    doc (Doc): The document.
    prefix (str): What the names of their groups begin with, before an underscore and
        a number.
    RETURNS (List[SpanGroup]): The groups in the order of their numbers.
    """
    pattern = re.compile(re.escape(prefix) + r"_([0-9]+)")
    found = [(pattern.fullmatch(key), group) for key, group in doc.spans.items()]
    numbered = [(int(match[1]), group) for match, group in found if match]
    return [group for _, group in sorted(numbered, key=lambda item: item[0])]


def cluster_bounds(
    doc: Doc, *, singletons: bool = False, prefix: str = CLUSTER_PREFIX
) -> List[List[Span]]:
    """The mentions of the clusters of a document, predicted or gold.

    doc (Doc): The document.
    singletons (bool): Whether its singletons come after them, as clusters of one.
    prefix (str): What the names of the groups begin with.
    RETURNS (List[List[Span]]): First token of each mention and the one after the
        last; the clusters in the order of ``cluster_groups``.
    """
    groups = cluster_groups(doc, prefix)
    clusters = [[(span.start, span.end) for span in group] for group in groups]
    if singletons and SINGLETONS in doc.spans:
        clusters += [[(span.start, span.end)] for span in doc.spans[SINGLETONS]]
    return clusters


def project(
    clusters: Sequence[Sequence[Span]],
    keys: Callable[[List[Span]], Iterable[Key]],
) -> List[List[Key]]:
    """Give every mention of clusters the key by which it is compared.

    clusters (Sequence[Sequence[Span]]): The mentions of each.
    keys (Callable): Gets all of them and gives the key of each.
    RETURNS (List[List[Key]]): The clusters with keys.
    """
    found = iter(keys([span for cluster in clusters for span in cluster]))
    return [list(islice(found, len(cluster))) for cluster in clusters]


class _Letters(NamedTuple):
    """The written letters of a text, in their one spelling.

    words (List[str]): Those of each word.
    starts (List[int]): Offset of each letter in the text.
    """

    words: List[str]
    starts: List[int]


def _letters(text: str) -> _Letters:
    letters = _Letters([], [])
    for match in re.finditer(r"\S+", text):
        word = normalize_word(match[0])
        letters.words.append(word.text)
        letters.starts.extend(match.start() + i for i in word.offsets[:-1])
    return letters


def align_letters(predicted: Sequence[str], gold: Sequence[str]) -> List[int]:
    """Find for each letter of a text the same one of another, in order.

    predicted (Sequence[str]), gold (Sequence[str]): The words of both texts.
    RETURNS (List[int]): For each letter of the first one the number of the letter in
        the second one, -1 for none. Only equal letters are aligned: where words
        differ, those of matching blocks.
    """
    ours, theirs = "".join(predicted), "".join(gold)
    if ours == theirs:
        return list(range(len(ours)))
    output = [-1] * len(ours)
    our_starts = list(accumulate(map(len, predicted), initial=0))
    their_starts = list(accumulate(map(len, gold), initial=0))
    words = SequenceMatcher(None, predicted, gold, autojunk=False)
    for kind, i, i_end, j, j_end in words.get_opcodes():
        a, a_end = our_starts[i], our_starts[i_end]
        b, b_end = their_starts[j], their_starts[j_end]
        if kind == "equal":
            output[a:a_end] = range(b, b_end)
        elif kind == "replace":
            inside = SequenceMatcher(
                None, ours[a:a_end], theirs[b:b_end], autojunk=False
            )
            for x, y, size in inside.get_matching_blocks():
                output[a + x : a + x + size] = range(b + y, b + y + size)
    return output


class LetterAlignment:
    """The written letters of a predicted document and those of gold.

    White space, niqqud, bidi marks and other marks are no letters, and the kinds of
    quotes and hyphens are the same (``segmenter.normalize``). So texts that differ in
    these alone have the same letters; others are aligned by words and letters. A
    mention whose first or last letter has no counterpart cannot be right.
    """

    def __init__(self, predicted: Doc, gold: Doc) -> None:
        """Align two documents.

        predicted (Doc), gold (Doc): The documents.
        """
        self.predicted, self.gold = predicted, gold
        ours, theirs = _letters(predicted.text), _letters(gold.text)
        self._starts, self._gold_starts = ours.starts, theirs.starts
        self._token_starts = [token.idx for token in predicted]
        self._to_gold = align_letters(ours.words, theirs.words)
        self._to_predicted = dict(zip(self._to_gold, count(), strict=False))
        self._to_predicted.pop(-1, None)

    def predicted_keys(self, spans: Iterable[Span]) -> List[Key]:
        """The first and last letter of spans of the predicted document.

        spans (Iterable[Span]): First token of each and the one after the last.
        RETURNS (List[Key]): Numbers of letters of gold; three numbers, -1 first, if
            gold does not have the first or last letter.
        """
        keys: List[Key] = []
        for start, end in spans:
            letters = _ends(self.predicted, start, end, self._starts)
            ends: Key = ()
            if letters[0] <= letters[1]:
                ends = tuple(self._to_gold[letter] for letter in letters)
            keys.append(ends if ends and -1 not in ends else (-1, start, end))
        return keys

    def gold_keys(self, spans: Iterable[Span]) -> List[Key]:
        """The first and last letter of spans of the gold document.

        spans (Iterable[Span]): First token of each and the one after the last.
        RETURNS (List[Key]): Numbers of letters.
        """
        return [_ends(self.gold, *span, self._gold_starts) for span in spans]

    def carried_keys(self, spans: Iterable[Span]) -> List[Key]:
        """Carry spans of the gold document over to the predicted tokens.

        spans (Iterable[Span]): First token of each and the one after the last.
        RETURNS (List[Key]): The first and the last predicted token that has letters
            of each; empty if the predicted text does not have its first or last one.
        """
        keys: List[Key] = []
        for key in self.gold_keys(spans):
            letters = [self._to_predicted.get(letter, -1) for letter in key]
            keys.append(() if -1 in letters else self._tokens(letters))
        return keys

    def token_keys(self, spans: Iterable[Span]) -> List[Key]:
        """The predicted tokens of spans, to compare with ``carried_keys``.

        spans (Iterable[Span]): First token of each and the one after the last.
        RETURNS (List[Key]): First and last token with letters of each; three numbers
            if there are none.
        """
        keys: List[Key] = []
        for start, end in spans:
            letters = _ends(self.predicted, start, end, self._starts)
            written = letters[0] <= letters[1]
            keys.append(self._tokens(letters) if written else (-1, start, end))
        return keys

    def _tokens(self, letters: Iterable[int]) -> Key:
        offsets = [self._starts[letter] for letter in letters]
        return tuple(bisect_right(self._token_starts, i) - 1 for i in offsets)

    def lacks(self, key: Key) -> bool:
        """Whether the predicted text lacks the first or last letter of a mention.

        key (Key): One of ``gold_keys``.
        RETURNS (bool): True if it does.
        """
        return any(letter not in self._to_predicted for letter in key)


def _ends(doc: Doc, start: int, end: int, starts: List[int]) -> Tuple[int, int]:
    """The first and last letter of a span of tokens."""
    span = doc[start:end]
    return (
        bisect_left(starts, span.start_char),
        bisect_left(starts, span.end_char) - 1,
    )


def has_clusters(doc: Doc, prefix: str = CLUSTER_PREFIX) -> bool:
    """Whether a document says which mentions corefer, even if none do.

    doc (Doc): The document.
    prefix (str): What the names of the groups begin with.
    RETURNS (bool): True if there are clusters, or gold mentions without.
    """
    return bool(cluster_groups(doc, prefix)) or MENTIONS in doc.spans


def score_coref(
    examples: Iterable[Example], *, prefix: str = CLUSTER_PREFIX, **kwargs: Any
) -> Dict[str, Any]:
    """Score the clusters of examples for ``nlp.evaluate`` and ``spacy train``.

    Mentions are compared by their first and last letters; singletons do not count.

    examples (Iterable[Example]): The examples; references without clusters and
        mentions are left out.
    prefix (str): What the names of the groups begin with, on both sides.
    RETURNS (Dict[str, Any]): ``coref_f``, the CoNLL F1; ``coref_p`` and ``coref_r``,
        the means of the same three precisions and recalls; the F1 of single metrics.
        From 0 to 1; None without any gold clusters.
    """
    score = CorefScore()
    seen = False
    for example in examples:
        if not has_clusters(example.reference, prefix):
            continue
        seen = True
        letters = LetterAlignment(example.predicted, example.reference)
        score.add(
            project(
                cluster_bounds(example.predicted, prefix=prefix), letters.predicted_keys
            ),
            project(
                cluster_bounds(example.reference, prefix=prefix), letters.gold_keys
            ),
        )
    if not seen:
        return dict.fromkeys(SCORE_WEIGHTS)
    found = {metric: score.total.prf(metric) for metric in METRICS}
    return {
        "coref_f": score.total.conll_f1,
        "coref_p": sum(found[metric][0] for metric in CONLL) / len(CONLL),
        "coref_r": sum(found[metric][1] for metric in CONLL) / len(CONLL),
        **{
            f"coref_{metric}_f": found[metric][2]
            for metric in ("muc", "b3", "ceafe", "lea", "mentions")
        },
    }


@spacy.registry.scorers("spacy_he_coref.coref_scorer.v1")
def make_coref_scorer(prefix: str = CLUSTER_PREFIX) -> Callable[..., Dict[str, Any]]:
    """Scorer of coreference components, for ``scorer`` in their config.

    prefix (str): What the names of the groups begin with: ``coref_clusters`` for
        ``he_coref`` and for ``experimental_coref`` with its span resolver.
    RETURNS (Callable): The scorer.
    """
    return partial(score_coref, prefix=prefix)
