"""When a predicted mention counts as a gold one: exact, partial and head match.

As in the scorer of CorefUD (Žabokrtský et al. 2022, 2023):

* ``exact``: it has the same tokens.
* ``partial``: its tokens are all in the gold mention, and the head of the gold mention
  is among them. The head of the predicted one does not matter.
* ``head``: both have the same head.

A mention is matched with one of the other side at most. Those that are the same go
together first (under ``head``: the same tokens and the same head). The others are
paired so that the sum of their similarities is greatest; the similarity is the share of
the gold mention's tokens that the predicted one has. Of equally good pairings the one
is taken whose mentions begin, then end, earlier in the document.

Only mentions that count are matched: not those that ``clean_clusters`` drops, such as
singletons when these do not count.

To score a document of any regime::

    score = CorefScore(singletons=False)
    ours, theirs = match_clusters(predicted, gold, "head", singletons=False)
    score.add(ours, theirs)

where ``predicted`` and ``gold`` are clusters of ``MatchMention``: numbers of tokens
where both sides have the same ones, numbers of letters of gold where they do not.
"""

from collections import defaultdict
from typing import Dict, Hashable, Iterator, List, NamedTuple, Sequence, Tuple

from .coref import best_pairing, clean_clusters

MATCHES = ("exact", "partial", "head")
# Less than any two similarities differ by, more than rounding does.
_TIE = 1e-9


class MatchMention(NamedTuple):
    """A mention as far as matching needs it.

    start (int), end (int): Its first token and the one after the last (or letters).
        With a negative start it matches nothing: what gold does not have. These must
        differ from each other where the mentions do.
    head (int): Its head, from start to end - 1. Only ``head`` needs that of predicted
        mentions, and ``exact`` needs none: -1 if it is not known.
    """

    start: int
    end: int
    head: int = -1


def match_clusters(
    predicted: Sequence[Sequence[MatchMention]],
    gold: Sequence[Sequence[MatchMention]],
    match: str = "exact",
    *,
    singletons: bool = False,
) -> Tuple[List[List[Hashable]], List[List[Hashable]]]:
    """Give the mentions of a document keys for ``CorefScore``, equal where they match.

    predicted (Sequence[Sequence[MatchMention]]): The mentions of each predicted
        cluster.
    gold (Sequence[Sequence[MatchMention]]): Those of each gold cluster.
    match (str): One of MATCHES.
    singletons (bool): Whether clusters of one mention count; give ``CorefScore`` the
        same.
    RETURNS (Tuple[List[List[Hashable]], List[List[Hashable]]]): The clusters of both
        sides with keys. What is repeated stays repeated, so that ``CorefScore`` reports
        it.
    RAISES (ValueError): If ``match`` is none of MATCHES, or a head that it needs is not
        in its mention.
    """
    if match not in MATCHES:
        raise ValueError(f"match is {match!r}, but must be one of {', '.join(MATCHES)}")
    ours = _distinct(predicted, singletons)
    theirs = _distinct(gold, singletons)
    if match == "head":
        _check_heads(ours)
    if match != "exact":
        _check_heads(theirs)
    # The same mention (exact) is one by its tokens, and under head match by its head.
    known = {(m.start, m.end): m for m in theirs if m.start >= 0}
    pairs: Dict[MatchMention, MatchMention] = {}
    for mention in ours:
        same = known.get((mention.start, mention.end))
        if same is not None and (match != "head" or same.head == mention.head):
            pairs[mention] = same
    if match != "exact":
        left = set(theirs).difference(pairs.values())
        pairs.update(
            match_mentions(
                [m for m in ours if m not in pairs],
                [m for m in theirs if m in left],
                match,
            )
        )
    key_of = {(o.start, o.end): (t.start, t.end) for o, t in pairs.items()}
    return (
        [
            [key_of.get((m.start, m.end), (m.start, m.end, "predicted")) for m in c]
            for c in predicted
        ],
        [[(m.start, m.end) for m in cluster] for cluster in gold],
    )


def _distinct(
    clusters: Sequence[Sequence[MatchMention]], singletons: bool
) -> List[MatchMention]:
    """The mentions that count, in the order of the document."""
    first: Dict[Tuple[int, int], MatchMention] = {}
    for cluster in clusters:
        for mention in cluster:
            first.setdefault((mention.start, mention.end), mention)
    bounds = [[(m.start, m.end) for m in cluster] for cluster in clusters]
    kept, _ = clean_clusters(bounds, singletons=singletons)
    return sorted(first[span] for cluster in kept for span in cluster)


def _check_heads(mentions: Sequence[MatchMention]) -> None:
    for start, end, head in mentions:
        if start >= 0 and not start <= head < end:
            raise ValueError(
                f"the head of the mention from {start} to {end - 1} is {head}, which "
                "is not in it. Give the heads of mentions, or match them exactly."
            )


def match_mentions(
    predicted: Sequence[MatchMention], gold: Sequence[MatchMention], match: str
) -> Iterator[Tuple[MatchMention, MatchMention]]:
    """Pair mentions that are not the same, as the module describes.

    predicted (Sequence[MatchMention]), gold (Sequence[MatchMention]): Different
        mentions in the order of the document.
    match (str): ``partial`` or ``head``.
    YIELDS (Tuple[MatchMention, MatchMention]): A predicted mention and the gold one
        that it counts as.
    """
    at_head: Dict[int, List[int]] = defaultdict(list)
    for j, mention in enumerate(gold):
        if mention.start >= 0:
            at_head[mention.head].append(j)
    cells: Dict[Tuple[int, int], float] = {}
    for i, (start, end, head) in enumerate(predicted):
        if start < 0:
            continue
        for place in (head,) if match == "head" else range(start, end):
            for j in at_head.get(place, ()):
                theirs = gold[j]
                common = min(end, theirs.end) - max(start, theirs.start)
                if match == "partial" and common < end - start:
                    continue
                # Where two pairings are equally good, that of earlier mentions.
                early = (len(predicted) - i) * (len(gold) - j)
                cells[i, j] = common / (theirs.end - theirs.start) + (
                    _TIE * early / (len(predicted) * len(gold))
                )
    for i, j in best_pairing(cells):
        yield predicted[i], gold[j]
