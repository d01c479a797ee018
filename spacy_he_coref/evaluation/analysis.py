"""Where the loss is: by kind, distance, width and length, and by cause.

``Analysis`` looks at the documents of one regime, one by one, and holds what each
analysis counts: ``Breakdown`` and ``Losses`` of this module, ``ClusterMatch`` and
``ErrorTypes`` of ``errors``. ``ladder`` compares the losses of the regimes. All
reports are plain values for JSON; shares and metrics are percentages, losses points of
CoNLL F1.

    analysis = Analysis("raw")
    for predicted, gold in zip(predicted_docs, gold_docs):
        analysis.add(predicted, gold)
    analysis.report()
    ladder({"gold_mentions": ..., "gold": ..., "auto": ..., "raw": analysis})
"""

from bisect import bisect_right
from collections import Counter, defaultdict
from typing import (
    Any,
    Dict,
    Iterator,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Sequence,
    Set,
    Tuple,
)

from spacy.tokens import Doc

from ..corpus.docs import SINGLETONS
from ..mentions.kinds import CLITIC
from .comparison import KINDS, PRONOMINAL, Comparison, Mention
from .coref import CorefCounts, Fractions, Key, clean_clusters, coref_counts
from .errors import ClusterMatch, ErrorTypes
from .regimes import REGIMES
from .syntax import percent

# The first number of each bin; the last one has no end.
SENTENCE_BINS = (0, 1, 2, 3, 6)
MORPHEME_BINS = (0, 5, 10, 25, 50, 100, 200)
WIDTH_BINS = (1, 2, 3, 6, 11, 21)
LENGTH_BINS = (0, 250, 500, 1000, 2000)
# The bin of mentions without antecedent.
FIRST = "first"
METRICS = ("mentions", "links", "b3")
CAUSES = ("segmentation", "detection", "clustering")
# Where the ladder begins, and what can fail in each regime that could not before.
PERFECT = "perfect"
STEP_CAUSES = {
    "gold_mentions": "clustering",
    "gold": "detection",
    "auto": "segmentation",
    "raw": "text",
}


def bin_names(firsts: Sequence[int]) -> List[str]:
    """The names of bins.

    firsts (Sequence[int]): The first number of each, rising.
    RETURNS (List[str]): ``3-5`` for a bin of several numbers, ``2`` for one, ``6+`` for
        the last.
    """
    names = [
        f"{first}-{after - 1}" if after - first > 1 else str(first)
        for first, after in zip(firsts, firsts[1:], strict=False)
    ]
    return [*names, f"{firsts[-1]}+"]


def bin_of(number: int, firsts: Sequence[int]) -> str:
    """The bin that a number is in.

    number (int): The number; less than the first one counts as the first.
    firsts (Sequence[int]): The first number of each bin, rising.
    RETURNS (str): Its name.
    """
    place = max(bisect_right(firsts, number) - 1, 0)
    return bin_names(firsts[place : place + 2])[0]


class _Judged(NamedTuple):
    """What is right about a mention, seen from its side.

    found (bool): The other side has it.
    linked (Optional[bool]): It has the right cluster to join; None for the first
        mention of a cluster.
    b3 (float): The share of its cluster that it is rightly with.
    """

    found: bool
    linked: Optional[bool]
    b3: float


def _judge(
    clusters: List[List[Mention]], other: Mapping[Key, Mention]
) -> Iterator[Tuple[Mention, Optional[Mention], _Judged]]:
    """Judge the mentions of one side, each with its antecedent.

    clusters (List[List[Mention]]): The clusters of the side.
    other (Mapping[Key, Mention]): The mentions of the other side.
    """
    for cluster in clusters:
        elsewhere = [other.get(mention.key) for mention in cluster]
        sizes = Counter(m.cluster for m in elsewhere if m)
        before: Set[int] = set()
        antecedent: Optional[Mention] = None
        for mention, counterpart in zip(cluster, elsewhere, strict=True):
            number = counterpart.cluster if counterpart else -1
            linked = None if antecedent is None else number in before
            share = sizes[number] / len(cluster) if counterpart else 0.0
            yield mention, antecedent, _Judged(counterpart is not None, linked, share)
            if counterpart:
                before.add(number)
            antecedent = mention


class Cell:
    """Mentions, links and B3 of some mentions of both sides."""

    def __init__(self) -> None:
        # The numbers of ``Fractions``; as lists, since every mention is added.
        self.counts = {metric: [0.0, 0.0, 0.0, 0.0] for metric in METRICS}

    def add(self, judged: _Judged, *, gold: bool) -> None:
        """Count a mention.

        judged (_Judged): What is right about it.
        gold (bool): Whether it is one of gold.
        """
        rows = [("mentions", float(judged.found)), ("b3", judged.b3)]
        if judged.linked is not None:
            rows.append(("links", float(judged.linked)))
        first = 2 if gold else 0
        for metric, right in rows:
            self.counts[metric][first] += right
            self.counts[metric][first + 1] += 1

    def report(self) -> Dict[str, Any]:
        """The metrics.

        RETURNS (Dict[str, Any]): ``mentions``, ``links`` and ``b3``, each with ``p``,
            ``r`` and ``f1`` in percent and the numbers of mentions (or links) that are
            ``predicted`` and ``gold``.
        """
        found = {metric: Fractions(*counts) for metric, counts in self.counts.items()}
        return {
            metric: {
                "p": percent(counts.precision),
                "r": percent(counts.recall),
                "f1": percent(counts.f1),
                "predicted": int(counts.predicted),
                "gold": int(counts.gold),
            }
            for metric, counts in found.items()
        }


class Breakdown:
    """How well mentions are found and linked, by what they are and where.

    Of every mention of gold it is asked (recall), and of every predicted one in the
    same way (precision):

    * ``mentions``: whether the other side has it;
    * ``links``: unless it is the first of its cluster, whether the other side puts it
      in one cluster with an earlier mention of its cluster. Summed over all mentions
      this is exactly MUC;
    * ``b3``: how much of its cluster the other side puts in one cluster with it.
      Summed, this is exactly B3.

    A mention that the other side does not have is wrong in all three. Mentions are told
    apart by kind (``comparison.analysis_kind``; a right one has the kind that gold
    says on both sides), by the distance to the antecedent, by width, and by the length
    of the document. The antecedent is the mention before it in its own cluster, in gold
    for gold mentions, in the prediction for predicted ones; a distance in sentences is
    that of their sentences, one in morphemes the number of morphemes between them, 0
    for nested ones. Widths and lengths are in morphemes, unwritten ones included;
    the length of a document is that of gold.
    """

    def __init__(self) -> None:
        self.total = Cell()
        names: Dict[str, List[str]] = {
            "by_kind": [*KINDS],
            "by_sentences": [FIRST, *bin_names(SENTENCE_BINS)],
            "by_morphemes": [FIRST, *bin_names(MORPHEME_BINS)],
            "by_width": bin_names(WIDTH_BINS),
            "by_length": bin_names(LENGTH_BINS),
        }
        self.tables = {
            table: defaultdict(Cell, {name: Cell() for name in rows})
            for table, rows in names.items()
        }
        self.lengths = {name: CorefCounts() for name in names["by_length"]}
        self.documents: Counter[str] = Counter()
        self.kinds: Dict[str, Counter[str]] = {
            name: Counter()
            for name in ("gold", "predicted", "right", "missed", "extra")
        }

    def add(self, pair: Comparison) -> None:
        """Count a document.

        pair (Comparison): The predicted and the gold document.
        """
        length = bin_of(len(pair.gold.doc._.morphemes), LENGTH_BINS)
        self.documents[length] += 1
        self.lengths[length] = self.lengths[length].plus(pair.counts())
        for gold, side, other in (
            (False, pair.predicted, pair.gold),
            (True, pair.gold, pair.predicted),
        ):
            for mention, antecedent, judged in _judge(side.clusters, other.of):
                self.total.add(judged, gold=gold)
                for table, name in _places(mention, antecedent, length):
                    self.tables[table][name].add(judged, gold=gold)
                self._count_kind(mention.kind, judged.found, gold=gold)

    def _count_kind(self, kind: str, found: bool, *, gold: bool) -> None:
        self.kinds["gold" if gold else "predicted"][kind] += 1
        if not gold:
            self.kinds["right" if found else "extra"][kind] += 1
        elif not found:
            self.kinds["missed"][kind] += 1

    def report(self) -> Dict[str, Any]:
        """The figures of all breakdowns.

        RETURNS (Dict[str, Any]): Cells as ``Cell.report`` gives them: ``total``, and by
            name of the kind or bin ``by_kind``, ``by_sentences``, ``by_morphemes``,
            ``by_width`` and ``by_length``; in the last one with the number of
            ``documents`` and their ``conll_f1``. All kinds and bins are there, also
            those without mentions, in order; ``unknown`` only if there are any.
            Distances have the bin ``first`` for mentions without antecedent.
            Under ``pronouns`` for the mentions that are ``predicted``, ``gold``,
            ``right``, ``missed`` and ``extra``: the numbers of ``mentions``, of
            ``clitics`` and of independent ``pronouns`` among them, and the ``share`` of
            both in percent.
        """
        report: Dict[str, Any] = {"total": self.total.report()}
        for table, cells in self.tables.items():
            report[table] = {name: cell.report() for name, cell in cells.items()}
        for name, row in report["by_length"].items():
            conll = percent(self.lengths[name].conll_f1)
            head = {"documents": self.documents[name], "conll_f1": conll}
            report["by_length"][name] = {**head, **row}
        report["pronouns"] = {
            name: _pronoun_row(kinds) for name, kinds in self.kinds.items()
        }
        return report


def _places(
    mention: Mention, antecedent: Optional[Mention], length: str
) -> Iterator[Tuple[str, str]]:
    """In which row of each table a mention is counted."""
    yield "by_kind", mention.kind
    yield "by_width", bin_of(mention.end - mention.start, WIDTH_BINS)
    yield "by_length", length
    if antecedent is None:
        yield "by_sentences", FIRST
        yield "by_morphemes", FIRST
    else:
        sentences = mention.sentence - antecedent.sentence
        yield "by_sentences", bin_of(sentences, SENTENCE_BINS)
        yield "by_morphemes", bin_of(mention.start - antecedent.end, MORPHEME_BINS)


def _pronoun_row(kinds: "Counter[str]") -> Dict[str, Any]:
    mentions = sum(kinds.values())
    pronominal = sum(kinds[kind] for kind in PRONOMINAL)
    return {
        "mentions": mentions,
        "clitics": kinds[CLITIC],
        "pronouns": pronominal - kinds[CLITIC],
        "share": percent(pronominal / mentions) if mentions else 0.0,
    }


class Losses:
    """Did segmentation, mention detection or clustering fail?

    What is missing to a CoNLL F1 of 100 is split by oracles, each of which knows the
    gold clusters but gets only what a stage of the pipeline left:

    * ``segments``: a perfect resolver on the predicted segments. It finds each gold
      mention that some span of predicted tokens has the first and last letter of, and
      no other. With gold segments 100.
    * ``mentions``: perfect clustering of the mentions that the prediction knows, be
      they linked or not (its clusters, ``coref_singletons``, and the mentions given in
      ``gold_mentions``). It leaves alone what does not corefer.

    The other way round, mentions that are none of gold (nor gold singletons) are taken
    out of the predicted clusters: first ``bad_segments``, those that are the tokens in
    which a gold mention lies that the segments cannot express; then ``bad_mentions``,
    all others. What is left has true mentions only. So

    * segmentation = (100 - segments) + (F1 without bad segments - F1),
    * detection = (segments - mentions) + (F1 without both - F1 without bad segments),
    * clustering = mentions - F1 without both,

    which add up to 100 - F1: the first part of the first two is what was not found,
    the second what was found wrongly, and clustering is what remains wrong among true
    mentions, wrongly linked singletons included.

    Mentions without links are known only where documents have the group
    ``coref_singletons`` (run components with their switch ``singletons``). Where they
    do not, mentions that were found and not linked count as detection.
    """

    def __init__(self, *, singletons: bool = False) -> None:
        """Start with nothing.

        singletons (bool): Whether clusters of one mention count.
        """
        self.singletons = singletons
        names = ("segments", "mentions", "result", "no_bad_segments", "true_mentions")
        self.counts = {name: CorefCounts() for name in names}
        self.singletons_known = 0

    def add(self, pair: Comparison) -> None:
        """Count a document.

        pair (Comparison): The predicted and the gold document.
        """
        self.singletons_known += (
            SINGLETONS in pair.predicted.doc.spans or pair.regime == "gold_mentions"
        )
        gold = [mention for cluster in pair.gold.clusters for mention in cluster]
        possible = {
            mention.key
            for mention, possible in zip(gold, pair.expressible(gold), strict=True)
            if possible
        }
        self._add(pair, "segments", _keep(pair.gold.keys, possible))
        known = pair.known_mentions()
        self._add(pair, "mentions", _keep(pair.gold.keys, known))
        ours = pair.predicted.keys
        self._add(pair, "result", ours)
        true = {mention.key for mention in gold} | pair.gold_singletons()
        wide = {
            key
            for mention, key in zip(gold, pair.carried_keys(gold), strict=True)
            if key and key != mention.key and key not in true
        }
        everything = {key for keys in ours for key in keys}
        self._add(pair, "no_bad_segments", _keep(ours, everything - wide))
        self._add(pair, "true_mentions", _keep(ours, everything & true))

    def _add(self, pair: Comparison, name: str, clusters: List[List[Key]]) -> None:
        cleaned, _ = clean_clusters(clusters, singletons=self.singletons)
        counts = coref_counts(cleaned, pair.gold.keys)
        self.counts[name] = self.counts[name].plus(counts)

    def points(self) -> Dict[str, float]:
        """The losses in points of CoNLL F1, not rounded.

        RETURNS (Dict[str, float]): By CAUSES; they add up to 100 - CoNLL F1.
        """
        f1 = {name: 100 * counts.conll_f1 for name, counts in self.counts.items()}
        return {
            "segmentation": 100 - f1["segments"] + f1["no_bad_segments"] - f1["result"],
            "detection": f1["segments"]
            - f1["mentions"]
            + f1["true_mentions"]
            - f1["no_bad_segments"],
            "clustering": f1["mentions"] - f1["true_mentions"],
        }

    def report(self) -> Dict[str, Any]:
        """The losses and the oracles behind them.

        RETURNS (Dict[str, Any]): ``conll_f1``; ``ceilings``: the CoNLL F1 of both
            oracles, ``segments`` and ``mentions``; ``without``: the CoNLL F1 without
            ``bad_segments``, and without ``bad_mentions`` either; ``losses``: points by
            ``segmentation``, ``detection`` and ``clustering``; and the number of
            documents with ``singletons_known``.
        """
        f1 = {name: percent(c.conll_f1) for name, c in self.counts.items()}
        return {
            "conll_f1": f1["result"],
            "ceilings": {name: f1[name] for name in ("segments", "mentions")},
            "without": {
                "bad_segments": f1["no_bad_segments"],
                "bad_mentions": f1["true_mentions"],
            },
            "losses": _rounded(self.points()),
            "singletons_known": self.singletons_known,
        }


def _keep(clusters: List[List[Key]], keys: Set[Key]) -> List[List[Key]]:
    return [[key for key in cluster if key in keys] for cluster in clusters]


def _rounded(points: Dict[str, float]) -> Dict[str, float]:
    # Adding 0 makes -0.0 a plain zero.
    return {name: round(value, 2) + 0.0 for name, value in points.items()}


class Analysis:
    """All analyses of one regime.

    breakdown (Breakdown), clusters (ClusterMatch), errors (ErrorTypes), losses
        (Losses): What they count.
    """

    def __init__(
        self, regime: str, *, singletons: bool = False, examples: int = 5
    ) -> None:
        """Start with nothing.

        regime (str): One of ``regimes.REGIMES``.
        singletons (bool): Whether clusters of one mention count.
        examples (int): How many examples of each error type to keep at most.
        """
        self.regime = regime
        self.singletons = singletons
        self.documents = 0
        self.breakdown = Breakdown()
        self.clusters = ClusterMatch()
        self.errors = ErrorTypes(examples)
        self.losses = Losses(singletons=singletons)

    def add(self, predicted: Doc, gold: Doc) -> None:
        """Count a document.

        predicted (Doc): What the pipeline says of it.
        gold (Doc): The gold document.
        RAISES (ValueError): See ``Comparison``.
        """
        pair = Comparison(predicted, gold, self.regime, singletons=self.singletons)
        self.documents += 1
        self.breakdown.add(pair)
        self.clusters.add(pair)
        self.errors.add(pair)
        self.losses.add(pair)

    def report(self) -> Dict[str, Any]:
        """All reports.

        RETURNS (Dict[str, Any]): ``regime``, the number of ``documents``, and what the
            reports of ``breakdown``, ``clusters``, ``errors`` and ``losses`` are.
        """
        return {
            "regime": self.regime,
            "documents": self.documents,
            "breakdown": self.breakdown.report(),
            "clusters": self.clusters.report(),
            "errors": self.errors.report(),
            "losses": self.losses.report(),
        }


def ladder(analyses: Mapping[str, Analysis]) -> Dict[str, Any]:
    """How much is lost from regime to regime, and by what.

    Two answers to the same question. The *steps* say how much F1 falls when the
    pipeline has to do one thing more by itself: with gold mentions only clustering can
    fail; then mentions have to be found (detection), then words split (segmentation),
    then words and sentences found (``text``). The *losses* say by oracles what fails
    within each regime (``Losses``); their differences add up to those of F1. A mention
    that is not found cannot be linked wrongly, so clustering may lose less in a harder
    regime, and detection more than its step. Note that ``gold`` and ``gold_mentions``
    are scored on morphemes, the others on letters.

    analyses (Mapping[str, Analysis]): By regime, those that were run, of the same
        documents.
    RETURNS (Dict[str, Any]): ``regimes``: of each ``Losses.report``; ``steps``: from
        ``perfect`` (100) over all regimes, the easiest first, ``from``, ``to``, the
        ``causes`` (several where a regime between was not run), the ``points`` lost,
        their ``share`` of all that the hardest regime lacks to 100 in percent, and the
        differences of the ``losses`` (negative: less is lost); ``gap``: from the
        easiest to the hardest regime ``from``, ``to``, ``points``, and the difference
        of each of the ``losses`` with its ``points`` and ``share`` of the gap in
        percent; None with fewer than two regimes.
    RAISES (ValueError): If the regimes have not the same number of documents.
    """
    found = [name for name in REGIMES if name in analyses]
    numbers = {name: analyses[name].documents for name in found}
    if len({*numbers.values()}) > 1:
        listed = ", ".join(f"{name} {number}" for name, number in numbers.items())
        raise ValueError(
            "The regimes have other numbers of documents, so they cannot be compared: "
            f"{listed}. Run all of them on the same documents."
        )
    # Where a perfect pipeline is, nothing is lost.
    points = {PERFECT: dict.fromkeys(CAUSES, 0.0)}
    points.update((name, analyses[name].losses.points()) for name in found)
    order = [PERFECT, *REGIMES]
    total = sum(points[found[-1]].values()) if found else 0.0
    steps: List[Dict[str, Any]] = []
    for easier, harder in zip(points, found, strict=False):
        between = order[order.index(easier) + 1 : order.index(harder) + 1]
        step = _difference(points, easier, harder)
        lost = step["points"]
        step["causes"] = [STEP_CAUSES[name] for name in between]
        step["share"] = round(100 * lost / total, 2) if total else 0.0
        steps.append(step)
    gap = None
    if len(found) > 1:
        gap = _difference(points, found[0], found[-1])
        whole = gap["points"]
        gap["losses"] = {
            cause: {
                "points": lost,
                "share": round(100 * lost / whole, 2) if whole else 0.0,
            }
            for cause, lost in gap["losses"].items()
        }
    return {
        "regimes": {name: analyses[name].losses.report() for name in found},
        "steps": steps,
        "gap": gap,
    }


def _difference(
    points: Mapping[str, Dict[str, float]], easier: str, harder: str
) -> Dict[str, Any]:
    """What is lost on the way from one regime to another."""
    lost = {
        cause: points[harder][cause] - before
        for cause, before in points[easier].items()
    }
    return {
        "from": easier,
        "to": harder,
        "points": _rounded({"all": sum(lost.values())})["all"],
        "losses": _rounded(lost),
    }
