"""Which clusters are right as a whole, and what kinds of errors the others have.

``ClusterMatch`` is the paper's Appendix H, ``ErrorTypes`` the error types of Kummerfeld
and Klein (2013). Both take a ``Comparison`` of each document with ``add`` and give a
``report()`` of plain values for JSON; ``analysis.Analysis`` does so for all analyses.
"""

from collections import Counter, defaultdict
from random import Random
from typing import (
    Any,
    Dict,
    Iterable,
    List,
    NamedTuple,
    Optional,
    Sequence,
    Set,
    Tuple,
)

from ..tokens import CLITIC
from .comparison import PRONOMINAL, Comparison, Mention
from .coref import Key
from .syntax import percent

# Appendix H: how much a pronoun or clitic weighs against a mention with content, and
# the similarity from which on a cluster is right.
PRONOUN_WEIGHT = 0.2
CONTENT_WEIGHT = 1.0
RIGHT_FROM = 0.5

SPAN_ERROR = "span_error"
CONFLATED = "conflated_entities"
DIVIDED = "divided_entity"
MISSING_ENTITY = "missing_entity"
EXTRA_ENTITY = "extra_entity"
MISSING_MENTION = "missing_mention"
EXTRA_MENTION = "extra_mention"
ERRORS = (
    SPAN_ERROR,
    CONFLATED,
    DIVIDED,
    MISSING_ENTITY,
    EXTRA_ENTITY,
    MISSING_MENTION,
    EXTRA_MENTION,
)

# Characters that an example shows on either side of a mention, and mentions of a
# whole entity that it shows.
CONTEXT = 60
SHOWN = 4


def match_clusters(pair: Comparison) -> List[Tuple[int, int, float]]:
    """Pair gold clusters with predicted ones that are similar enough (Appendix H).

    Weights and cut are those of the paper, the formula is our reading of it. A
    clitic or pronoun weighs 0.2, every other mention 1.0 (a right mention by the kind
    that gold says). The similarity of two clusters is the weighted Dice coefficient,
    twice the weight of their common mentions over the weight of all mentions of both:
    CEAF's phi4 with weights. Of all pairs with a similarity of 0.5 or more the most
    similar one is taken first, of equal ones that of the earlier gold cluster, then of
    the earlier predicted one; both clusters are then taken, and so on.

    pair (Comparison): The documents.
    RETURNS (List[Tuple[int, int, float]]): Numbers of the gold and the predicted
        cluster, and their similarity; each cluster at most once, in the order in which
        they were taken.
    """
    common: Dict[Tuple[int, int], float] = defaultdict(float)
    for key, mention in pair.predicted.of.items():
        if key in pair.gold.of:
            common[pair.gold.of[key].cluster, mention.cluster] += _weight(mention)
    ours = [sum(map(_weight, cluster)) for cluster in pair.predicted.clusters]
    theirs = [sum(map(_weight, cluster)) for cluster in pair.gold.clusters]
    # Rounded, since sums of tenths of other order may differ in their last digit.
    similar = {
        (i, j): round(2 * weight / (theirs[i] + ours[j]), 9)
        for (i, j), weight in common.items()
    }
    output: List[Tuple[int, int, float]] = []
    taken: Set[Tuple[str, int]] = set()
    for (i, j), similarity in sorted(
        similar.items(), key=lambda row: (-row[1], row[0])
    ):
        if similarity < RIGHT_FROM:
            break
        if ("gold", i) not in taken and ("predicted", j) not in taken:
            taken |= {("gold", i), ("predicted", j)}
            output.append((i, j, similarity))
    return output


def _weight(mention: Mention) -> float:
    return PRONOUN_WEIGHT if mention.kind in PRONOMINAL else CONTENT_WEIGHT


class ClusterMatch:
    """Correct, missed and extra clusters (Appendix H), per document and in total.

    A gold cluster is correct if ``match_clusters`` finds a predicted one for it, and
    missed otherwise; a predicted cluster without partner is extra.
    """

    def __init__(self) -> None:
        self.total: Counter[str] = Counter()
        self.documents: List[Tuple[str, Counter[str]]] = []

    def add(self, pair: Comparison) -> None:
        """Count a document.

        pair (Comparison): The predicted and the gold document.
        """
        correct = len(match_clusters(pair))
        gold, predicted = len(pair.gold.clusters), len(pair.predicted.clusters)
        counts = Counter(
            gold=gold,
            predicted=predicted,
            correct=correct,
            missed=gold - correct,
            extra=predicted - correct,
        )
        self.documents.append((pair.name, counts))
        self.total += counts

    def report(self) -> Dict[str, Any]:
        """The counts and shares.

        RETURNS (Dict[str, Any]): Clusters: ``gold`` and ``predicted``, ``correct``,
            ``missed`` (correct and missed are gold) and ``extra`` (correct and extra
            are predicted); in percent ``correct_share`` and ``missed_share`` of gold
            and ``extra_share`` of predicted; under ``documents`` the same of each,
            with its name as ``document``.
        """
        documents = [
            {"document": name, **_match_row(counts)} for name, counts in self.documents
        ]
        return {**_match_row(self.total), "documents": documents}


def _match_row(counts: "Counter[str]") -> Dict[str, Any]:
    names = ("gold", "predicted", "correct", "missed", "extra")
    row: Dict[str, Any] = {name: counts[name] for name in names}
    for name, of in (("correct", "gold"), ("missed", "gold"), ("extra", "predicted")):
        row[f"{name}_share"] = _share(counts[name], counts[of])
    return row


def _share(part: int, total: int) -> float:
    return percent(part / total) if total else 0.0


class Shown(NamedTuple):
    """A mention in an example.

    mention (Mention): The mention.
    gold (bool): Whether it is taken from gold.
    role (str): ``mention`` for what the error is about; ``gold`` for the right span;
        ``other`` for what it was joined with, or should have been.
    """

    mention: Mention
    gold: bool = False
    role: str = "mention"


class _Example(NamedTuple):
    """An example, and which of the errors of its type it is."""

    number: int
    example: Dict[str, Any]


class ErrorTypes:
    """The errors that turn the gold clusters into the predicted ones.

    Error types of Kummerfeld and Klein (2013), found as they do by turning the
    predicted clusters into the gold ones. The steps, in this order, and what each
    counts as:

    1. A predicted mention that is none of gold, nor a gold singleton, becomes a gold
       mention that was not found and has the same head (the heads share a letter, in
       gold regimes a morpheme; both are clitics or none is): ``span_error``. Where
       several would do, the pairs with the nearest ends come first. In documents
       without trees the head is the first token.
    2. A predicted cluster of mentions that gold does not have at all goes away:
       ``extra_entity``, one for the cluster.
    3. In other clusters mentions that gold does not have go away: ``extra_mention``
       each.
    4. A predicted cluster with mentions of several gold clusters is split: one
       ``conflated_entities`` for each part but the largest (of equal ones the first).
    5. A gold cluster without any predicted mention is added: ``missing_entity``, one
       for the cluster.
    6. Mentions of other gold clusters that were not found are added:
       ``missing_mention`` each.
    7. Parts of one gold cluster are joined: one ``divided_entity`` for each part but
       the largest (of equal ones the first).

    The mentions that an error concerns are those that change: the gold mention of a
    span error, the mentions of the part that is split off or joined, those that go
    away or are added. Kinds are those of ``comparison.analysis_kind``.
    """

    def __init__(self, examples: int = 5) -> None:
        """Start with nothing.

        examples (int): How many examples of each type to keep at most. They are drawn
            from all errors of the type with equal chances, the same ones in each run.
        """
        self.examples = examples
        self.documents: List[Tuple[str, Counter[str]]] = []
        self.total: Counter[str] = Counter()
        self.kinds: Dict[str, Counter[str]] = {error: Counter() for error in ERRORS}
        self.gold_singletons: Counter[str] = Counter()
        # For each type the drawn examples by slot, and who draws.
        self._kept: Dict[str, Dict[int, _Example]] = {error: {} for error in ERRORS}
        self._random = {error: Random(0) for error in ERRORS}

    def add(self, pair: Comparison) -> Dict[str, int]:
        """Count a document.

        pair (Comparison): The predicted and the gold document.
        RETURNS (Dict[str, int]): How many errors of each type it has.
        """
        document = _Document(self, pair)
        document.run()
        self.documents.append((pair.name, document.counts))
        return {error: document.counts[error] for error in ERRORS}

    def count(self, error: str, mentions: Iterable[Mention]) -> Optional[int]:
        """Count an error.

        error (str): One of ERRORS.
        mentions (Iterable[Mention]): The mentions that it concerns.
        RETURNS (Optional[int]): The slot for it as an example; None if it is not
            drawn.
        """
        self.total[error] += 1
        self.kinds[error].update(mention.kind for mention in mentions)
        # Reservoir sampling: each error so far has the same chance to be kept.
        slot = self.total[error] - 1
        if slot >= self.examples:
            slot = self._random[error].randrange(slot + 1)
        return slot if slot < self.examples else None

    def keep(
        self, error: str, slot: int, pair: Comparison, shown: Sequence[Shown]
    ) -> None:
        """Keep an example of the error that was counted last.

        error (str), slot (int): Of ``count``.
        pair (Comparison): The documents.
        shown (Sequence[Shown]): Its mentions; nothing is kept if the user's text lacks
            one of them.
        """
        contexts = example_contexts(pair, shown)
        if contexts:
            example = {"document": pair.name, "contexts": contexts}
            self._kept[error][slot] = _Example(self.total[error], example)

    def report(self) -> Dict[str, Any]:
        """Counts, shares by kind and examples.

        RETURNS (Dict[str, Any]): ``count`` of all errors; under ``types`` for each of
            ERRORS its ``count`` and ``share`` of all errors in percent, the number of
            ``mentions`` that it concerns, ``by_kind`` their number (``mentions``) and
            ``share`` in percent, and ``examples``; for extra mentions and entities
            also ``gold_singletons``, how many of the mentions gold has as singletons;
            under ``documents`` the counts of each, with its name as ``document``.
            An example has the name of its ``document`` and ``contexts``, see
            ``example_contexts``.
        """
        count = sum(self.total.values())
        types: Dict[str, Dict[str, Any]] = {}
        for error in ERRORS:
            kinds = self.kinds[error]
            mentions = sum(kinds.values())
            types[error] = {
                "count": self.total[error],
                "share": _share(self.total[error], count),
                "mentions": mentions,
                "by_kind": {
                    kind: {"mentions": number, "share": _share(number, mentions)}
                    for kind, number in kinds.most_common()
                },
            }
            if error in (EXTRA_ENTITY, EXTRA_MENTION):
                types[error]["gold_singletons"] = self.gold_singletons[error]
            kept = sorted(self._kept[error].values(), key=lambda row: row.number)
            types[error]["examples"] = [row.example for row in kept]
        return {
            "count": count,
            "types": types,
            "documents": [
                {"document": name, **{error: counts[error] for error in ERRORS}}
                for name, counts in self.documents
            ],
        }


class _Document:
    """The steps of ``ErrorTypes`` on one document."""

    def __init__(self, errors: ErrorTypes, pair: Comparison) -> None:
        self.errors, self.pair = errors, pair
        self.counts: Counter[str] = Counter()
        # The gold mention that each predicted one is or becomes.
        self.gold_of: Dict[Key, Mention] = {
            key: pair.gold.of[key] for key in pair.predicted.of if key in pair.gold.of
        }
        # The predicted mention of each gold one.
        self.found: Dict[Key, Mention] = {
            key: pair.predicted.of[key] for key in self.gold_of
        }

    def run(self) -> None:
        singletons = self.pair.gold_singletons()
        for mention, gold in span_errors(self.pair, singletons):
            self.gold_of[mention.key] = gold
            self.found[gold.key] = mention
            slot = self._count(SPAN_ERROR, [gold])
            if slot is not None:
                right = Shown(gold, gold=True, role="gold")
                self._keep(SPAN_ERROR, slot, [Shown(mention), right])
        for cluster in self.pair.predicted.clusters:
            self._predicted_cluster(cluster, singletons)
        for cluster in self.pair.gold.clusters:
            self._gold_cluster(cluster)

    def _predicted_cluster(self, cluster: List[Mention], singletons: Set[Key]) -> None:
        inside = [m for m in cluster if m.key in self.gold_of]
        extra = [m for m in cluster if m.key not in self.gold_of]
        error = EXTRA_MENTION if inside else EXTRA_ENTITY
        self.errors.gold_singletons[error] += sum(m.key in singletons for m in extra)
        if not inside:
            slot = self._count(EXTRA_ENTITY, extra)
            if slot is not None:
                self._keep(EXTRA_ENTITY, slot, [Shown(m) for m in extra[:SHOWN]])
            return
        for mention in extra:
            slot = self._count(EXTRA_MENTION, [mention])
            if slot is not None:
                other = Shown(_nearest(mention, inside), role="other")
                self._keep(EXTRA_MENTION, slot, [Shown(mention), other])
        right = [self.gold_of[m.key] for m in inside]
        for part in _smaller_parts([m.cluster for m in right]):
            slot = self._count(CONFLATED, [right[i] for i in part])
            if slot is not None:
                self._keep_apart(CONFLATED, slot, inside, part)

    def _gold_cluster(self, cluster: List[Mention]) -> None:
        missing = [m for m in cluster if m.key not in self.found]
        inside = [m for m in cluster if m.key in self.found]
        if not inside:
            slot = self._count(MISSING_ENTITY, missing)
            if slot is not None:
                shown = [Shown(m, gold=True) for m in missing[:SHOWN]]
                self._keep(MISSING_ENTITY, slot, shown)
            return
        for mention in missing:
            slot = self._count(MISSING_MENTION, [mention])
            if slot is not None:
                other = Shown(_nearest(mention, inside), gold=True, role="other")
                self._keep(MISSING_MENTION, slot, [Shown(mention, gold=True), other])
        ours = [self.found[m.key] for m in inside]
        for part in _smaller_parts([m.cluster for m in ours]):
            slot = self._count(DIVIDED, [inside[i] for i in part])
            if slot is not None:
                self._keep_apart(DIVIDED, slot, ours, part)

    def _count(self, error: str, mentions: Sequence[Mention]) -> Optional[int]:
        self.counts[error] += 1
        return self.errors.count(error, mentions)

    def _keep(self, error: str, slot: int, shown: Sequence[Shown]) -> None:
        self.errors.keep(error, slot, self.pair, shown)

    def _keep_apart(
        self, error: str, slot: int, mentions: List[Mention], part: List[int]
    ) -> None:
        """Show the first mention of a part and its nearest one outside of the part."""
        inside = set(part)
        others = [m for i, m in enumerate(mentions) if i not in inside]
        first = mentions[part[0]]
        other = Shown(_nearest(first, others), role="other")
        self._keep(error, slot, [Shown(first), other])


def _nearest(mention: Mention, others: Sequence[Mention]) -> Mention:
    """The last of other mentions that begins before one, or else the first."""
    before = [other for other in others if other.tokens[0] <= mention.tokens[0]]
    return before[-1] if before else others[0]


def _smaller_parts(numbers: Sequence[int]) -> List[List[int]]:
    """The places of equal numbers, for all numbers but the most frequent one."""
    parts: Dict[int, List[int]] = defaultdict(list)
    for place, number in enumerate(numbers):
        parts[number].append(place)
    largest = max(parts, key=lambda number: len(parts[number]))
    return [part for number, part in parts.items() if number != largest]


def span_errors(
    pair: Comparison, singletons: Set[Key]
) -> List[Tuple[Mention, Mention]]:
    """Wrong mentions with the gold mentions that they should be.

    See the first step of ``ErrorTypes``.

    pair (Comparison): The documents.
    singletons (Set[Key]): The gold singletons.
    RETURNS (List[Tuple[Mention, Mention]]): Predicted and gold mention, each in one
        pair at most, in the order of the text.
    """
    ours = [
        m
        for key, m in pair.predicted.of.items()
        if key not in pair.gold.of and key not in singletons and len(key) == 2
    ]
    theirs = [m for key, m in pair.gold.of.items() if key not in pair.predicted.of]
    at: Dict[int, List[int]] = defaultdict(list)
    for j, head in enumerate(pair.heads(theirs, gold=True)):
        for place in head:
            at[place].append(j)
    candidates: Dict[Tuple[int, int], int] = {}
    for i, head in enumerate(pair.heads(ours, gold=False)):
        for j in {j for place in head for j in at.get(place, ())}:
            if (ours[i].kind == CLITIC) == (theirs[j].kind == CLITIC):
                a, b = ours[i].key, theirs[j].key
                candidates[i, j] = abs(a[0] - b[0]) + abs(a[1] - b[1])
    partner: Dict[int, int] = {}
    taken: Set[int] = set()
    for i, j in sorted(candidates, key=lambda c: (candidates[c], theirs[c[1]].key, c)):
        if i not in partner and j not in taken:
            partner[i] = j
            taken.add(j)
    found = [(ours[i], theirs[j]) for i, j in partner.items()]
    return sorted(found, key=lambda row: (row[1].tokens[0], -row[1].tokens[1]))


def example_contexts(
    pair: Comparison, shown: Sequence[Shown]
) -> Optional[List[Dict[str, Any]]]:
    """Excerpts of the user's text around mentions.

    pair (Comparison): The documents.
    shown (Sequence[Shown]): The mentions.
    RETURNS (Optional[List[Dict[str, Any]]]): In the order of the text, each with
        ``start`` and ``end`` (characters in the user's text), ``text``, and the
        ``mentions`` in it, each with ``start`` and ``end`` (in the user's text too),
        ``text``, ``kind`` and ``role`` (see ``Shown``). Excerpts that meet are one.
        None if the user's text lacks one of the mentions.
    """
    rows: List[Tuple[int, int, Dict[str, Any]]] = []
    for mention, gold, role in shown:
        offsets = pair.offsets(mention, gold=gold)
        if offsets is None:
            return None
        start, end = offsets
        row = {
            "start": start,
            "end": end,
            "text": pair.text[start:end],
            "kind": mention.kind,
            "role": role,
        }
        rows.append((*_window(pair.text, start, end), row))
    contexts: List[Dict[str, Any]] = []
    for left, right, row in sorted(rows, key=lambda r: (r[0], r[2]["start"], r[1])):
        if not contexts or left > contexts[-1]["end"]:
            contexts.append({"start": left, "end": right, "text": "", "mentions": []})
        contexts[-1]["end"] = max(right, contexts[-1]["end"])
        contexts[-1]["mentions"].append(row)
    for context in contexts:
        context["text"] = pair.text[context["start"] : context["end"]]
        context["mentions"].sort(key=lambda row: (row["start"], -row["end"]))
    return contexts


def _window(text: str, start: int, end: int) -> Tuple[int, int]:
    """Some characters around a mention, without broken words at their ends."""
    left, right = max(start - CONTEXT, 0), min(end + CONTEXT, len(text))
    while 0 < left < start and not text[left - 1].isspace():
        left += 1
    while end < right < len(text) and not text[right].isspace():
        right -= 1
    return left, right
