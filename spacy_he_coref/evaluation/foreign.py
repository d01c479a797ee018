"""Score predictions of other systems, as files of any format have them.

Documents are paired by name, or by another name that a file gives (``aliases``). One
document on each side with the same letters is a pair whatever its names. A document of
gold without a prediction counts as one without clusters, and is named; a prediction
without gold is an error.

Where both sides have the same tokens, mentions are compared by their first and last
token; where their tokens differ but have the same letters, by their first and last
letter. White space, niqqud and other marks are no letters, kinds of quotes and hyphens
are the same (``segmenter.normalize``), and so are a morpheme with and without the
underscores that say that it is not written. Other texts are an error. Only in
CoNLL-2012, whose scorers compare lines whatever the tokens, up to a fifth of them may
be spelled otherwise if the sentences have the same lengths, and it is said. Without
text on one side nothing but the numbers of tokens can be compared.

Repeated mentions and the like are handled by the rules of ``evaluation.coref``.
"""

from itertools import accumulate
from operator import ne
from typing import Any, Dict, Iterable, List, NamedTuple, Optional, Sequence, Tuple

from ..corpus.conllu import CorpusError
from ..formats.records import Bounds, CorefRecord, Tree, check_bounds, head_of
from ..segmenter.normalize import normalize_word
from .coref import CorefScore, Key
from .matching import MatchMention, match_clusters

# Share of the lines of CoNLL-2012 that may have other tokens than gold.
MOST_OTHER_LINES = 0.2


class DocumentPair(NamedTuple):
    """A document of gold and its prediction.

    gold (CorefRecord): The document.
    predicted (Optional[CorefRecord]): Its prediction, None if there is none.
    """

    gold: CorefRecord
    predicted: Optional[CorefRecord]


def score_records(
    gold: Sequence[CorefRecord],
    predicted: Sequence[CorefRecord],
    *,
    singletons: bool = False,
    match: str = "exact",
) -> Tuple[CorefScore, Dict[str, Any]]:
    """Score predicted documents.

    gold (Sequence[CorefRecord]): Documents of gold, at least one.
    predicted (Sequence[CorefRecord]): Predicted ones.
    singletons (bool): Whether clusters of one mention count.
    match (str): When a mention is right, one of ``matching.MATCHES``.
    RETURNS (Tuple[CorefScore, Dict[str, Any]]): The score, and its conditions:
        ``documents``, names of ``missing`` ones, ``singletons``, ``match``,
        ``compared_by`` (numbers of documents by ``tokens``, ``letters`` and ``numbers``
        of tokens without text), and ``notes``.
    RAISES (CorpusError): If documents cannot be paired, their texts differ, or a
        mention is not in its document.
    RAISES (ValueError): If ``match`` needs heads that the files do not have.
    """
    pairs, notes = pair_documents(gold, predicted)
    score = CorefScore(singletons=singletons)
    compared = dict.fromkeys(("tokens", "letters", "numbers"), 0)
    for pair in pairs:
        for record in pair:
            if record is not None:
                notes += [f"{record.path}: {note}" for note in record.notes]
        if pair.predicted is None:
            check_bounds(pair.gold, _size(pair.gold, pair.gold))
            score.add([], pair.gold.clusters)
            continue
        by = _compare(pair.gold, pair.predicted, notes)
        compared[by] += 1
        if match != "exact":
            _require_tokens(pair.predicted, by)
            score.add(*_matched(pair.gold, pair.predicted, match, singletons))
        elif by == "letters":
            score.add(letter_keys(pair.predicted), letter_keys(pair.gold))
        else:
            score.add(pair.predicted.clusters, pair.gold.clusters)
    conditions = {
        "documents": len(pairs),
        "missing": [pair.gold.name for pair in pairs if pair.predicted is None],
        "singletons": singletons,
        "match": match,
        "compared_by": {by: number for by, number in compared.items() if number},
        "notes": list(dict.fromkeys(notes)),
    }
    return score, conditions


def pair_documents(
    gold: Sequence[CorefRecord], predicted: Sequence[CorefRecord]
) -> Tuple[List[DocumentPair], List[str]]:
    """Find the prediction of each document.

    gold (Sequence[CorefRecord]): Documents of gold, at least one.
    predicted (Sequence[CorefRecord]): Predicted ones.
    RETURNS (Tuple[List[DocumentPair], List[str]]): A pair for each document of gold in
        the same order, and how they were paired where it was not by name.
    RAISES (CorpusError): If a name is there twice on one side, or there is a prediction
        without gold.
    """
    theirs, ours = _by_name(gold), _by_name(predicted)
    if not theirs.keys() & ours.keys() and len(theirs) == len(ours) == 1:
        if gold[0].tokens and _letters(gold[0]) == _letters(predicted[0]):
            note = f"{predicted[0].name} was taken for {gold[0].name}: the same text"
            return [DocumentPair(gold[0], predicted[0])], [note]
    known = {**_by_alias(gold), **theirs}
    found: Dict[str, CorefRecord] = {}
    extra: List[CorefRecord] = []
    by_alias = 0
    for record in predicted:
        names = (record.name, *record.aliases)
        match = next((known[name] for name in names if name in known), None)
        if match is None:
            extra.append(record)
            continue
        if match.name in found:
            other = found[match.name]
            raise _twice(record, other)
        found[match.name] = record
        by_alias += match.name != record.name
    if extra:
        more = f" (nor are {len(extra) - 1} others)" if len(extra) > 1 else ""
        names = tuple(record.name for record in gold[:3])
        raise CorpusError(
            extra[0].path,
            extra[0].line,
            f"document {extra[0].name} is not in gold{more}, which has "
            f"{', '.join(names)}{', ...' if len(gold) > 3 else ''}. Name documents "
            "alike, or give the gold files that have them.",
        )
    notes = [f"{by_alias} documents were paired by another name"] if by_alias else []
    return [DocumentPair(record, found.get(record.name)) for record in gold], notes


def _by_name(records: Iterable[CorefRecord]) -> Dict[str, CorefRecord]:
    found: Dict[str, CorefRecord] = {}
    for record in records:
        other = found.setdefault(record.name, record)
        if other is not record:
            raise _twice(record, other)
    return found


def _twice(record: CorefRecord, other: CorefRecord) -> CorpusError:
    return CorpusError(
        record.path,
        record.line,
        f"document {record.name} is there already: {other.place}. Remove one of them.",
    )


def _by_alias(records: Iterable[CorefRecord]) -> Dict[str, CorefRecord]:
    """Documents by other names, of those that only one has."""
    found: Dict[str, List[CorefRecord]] = {}
    for record in records:
        for alias in record.aliases:
            found.setdefault(alias, []).append(record)
    return {alias: rows[0] for alias, rows in found.items() if len(rows) == 1}


def _token_letters(record: CorefRecord) -> List[str]:
    """The letters of each token, in their one spelling."""
    return [
        normalize_word("".join(token.split()).replace("_", "") or token).text
        for token in record.tokens
    ]


def _letters(record: CorefRecord) -> str:
    return "".join(_token_letters(record))


def letter_keys(record: CorefRecord) -> List[List[Key]]:
    """Mentions as their first and last letter in the document.

    record (CorefRecord): The document, with sentences.
    RETURNS (List[List[Key]]): The clusters with numbers of letters; three numbers, -1
        first, for a mention without letters.
    """
    starts = list(accumulate(map(len, _token_letters(record)), initial=0))

    def key(start: int, end: int) -> Key:
        first, after = starts[start], starts[end]
        return (first, after - 1) if first < after else (-1, start, end)

    return [[key(*span) for span in cluster] for cluster in record.clusters]


def _size(record: CorefRecord, other: CorefRecord) -> int:
    """How many tokens a document has, by its text or else that of the other side."""
    for one in (record, other):
        if one.sentences is not None:
            return len(one.tokens)
    ends = [end for r in (record, other) for c in r.clusters for _, end in c]
    return max(ends, default=0)


def _compare(gold: CorefRecord, predicted: CorefRecord, notes: List[str]) -> str:
    """By what the mentions of a pair are compared, after checking them."""
    for record, other in ((gold, predicted), (predicted, gold)):
        whose = "it" if record.sentences is not None else other.place
        check_bounds(record, _size(record, other), whose)
    if gold.sentences is None or predicted.sentences is None:
        return "numbers"
    theirs, ours = _token_letters(gold), _token_letters(predicted)
    if theirs == ours:
        return "tokens"
    if "".join(theirs) != "".join(ours):
        different = _other_lines(gold, predicted)
        if different is not None:
            notes.append(
                f"{predicted.path}: {different} of {len(ours)} tokens of "
                f"{predicted.name} are spelled otherwise than in gold; the lines were "
                "compared"
            )
            return "tokens"
        raise _other_text(gold, predicted, theirs, ours)
    return "letters"


def _other_lines(gold: CorefRecord, predicted: CorefRecord) -> Optional[int]:
    """How many lines of CoNLL-2012 differ, if they are few enough to compare lines."""
    if {gold.format, predicted.format} != {"conll2012"}:
        return None
    lengths = [[*map(len, record.sentences or ())] for record in (gold, predicted)]
    different = sum(map(ne, gold.tokens, predicted.tokens))
    few = different <= MOST_OTHER_LINES * len(gold.tokens)
    return different if few and lengths[0] == lengths[1] else None


def _other_text(
    gold: CorefRecord, predicted: CorefRecord, theirs: List[str], ours: List[str]
) -> CorpusError:
    same = 0
    for a, b in zip("".join(theirs), "".join(ours), strict=False):
        if a != b:
            break
        same += 1

    def token_at(record: CorefRecord, letters: List[str]) -> str:
        ends = accumulate(map(len, letters))
        i = next((i for i, end in enumerate(ends) if end > same), None)
        return "no more" if i is None else f"token {i}, {record.tokens[i]!r}"

    return CorpusError(
        predicted.path,
        predicted.line,
        f"document {predicted.name} has another text than gold ({gold.place}): here is "
        f"{token_at(predicted, ours)}, there {token_at(gold, theirs)}. Predict on the "
        "same text; tokens may be cut in another way, but not have other letters.",
    )


def _require_tokens(predicted: CorefRecord, by: str) -> None:
    if by == "letters":
        raise ValueError(
            f"{predicted.place}: document {predicted.name} has other tokens than gold, "
            "so that heads cannot be compared. Match mentions exactly."
        )


def _matched(
    gold: CorefRecord, predicted: CorefRecord, match: str, singletons: bool
) -> Tuple[List[List[Any]], List[List[Any]]]:
    trees = gold.tree or predicted.tree, predicted.tree or gold.tree
    theirs = _with_heads(gold, trees[0], True)
    ours = _with_heads(predicted, trees[1], match == "head")
    return match_clusters(ours, theirs, match, singletons=singletons)


def _with_heads(
    record: CorefRecord, tree: Optional[Tree], needed: bool
) -> List[List[MatchMention]]:
    """Mentions with the heads that the file gives, or else those of a tree."""

    def mention(span: Bounds, head: Optional[int]) -> MatchMention:
        if head is None and tree is not None:
            head = head_of(tree, range(*span))
        if head is None:
            if needed:
                raise ValueError(
                    f"{record.place}: the heads of the mentions of document "
                    f"{record.name} are not known. Match mentions exactly, or give "
                    "files with heads or trees (CorefUD)."
                )
            head = -1
        return MatchMention(*span, head)

    heads = record.heads or [[None] * len(cluster) for cluster in record.clusters]
    return [
        [mention(*item) for item in zip(*rows, strict=True)]
        for rows in zip(record.clusters, heads, strict=True)
    ]
