"""Clusters on a Doc: one SpanGroup each, as design section 1 has them.

``doc.spans["coref_clusters_1"]``, ... hold the mentions of each cluster in the order
of the text, numbered by their first mentions; ``doc.spans["coref_singletons"]`` the
mentions that nothing else refers to. Gold documents have the same groups
(``corpus.docs``), without the confidences.
"""

import math
import re
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

import numpy
from spacy.tokens import Doc, SpanGroup

from ..corpus.docs import CLUSTER_PREFIX, SINGLETONS

Ints = Union["numpy.ndarray", Sequence[int]]
Floats = Union["numpy.ndarray", Sequence[float]]

_CLUSTER_KEY = re.compile(re.escape(CLUSTER_PREFIX) + r"_([1-9][0-9]*)")


def set_clusters(
    doc: Doc,
    bounds: Union["numpy.ndarray", Sequence[Tuple[int, int]]],
    numbers: Ints,
    antecedents: Optional[Ints] = None,
    links: Optional[Floats] = None,
    mentions: Optional[Floats] = None,
    *,
    singletons: bool = False,
) -> None:
    """Write predicted clusters to a document instead of those that are there.

    Clusters of two mentions or more become ``doc.spans["coref_clusters_1"]``, ... in
    the order of their first mentions, mentions in the order of the text: by start,
    and of those with one start the longer first. The attrs of each group are
    ``confidence`` (``cluster_confidence`` of its links), ``links`` (for each mention
    the confidence of the link to its antecedent) and ``antecedents`` (its place in
    the group); both are None for a mention without antecedent, which nearly always
    is the first and no other. Without antecedents and links the groups have no attrs,
    like gold ones. All other groups stay.

    doc (Doc): The document.
    bounds (Union[ndarray, Sequence[Tuple[int, int]]]): First token and token after
        the last one of each of n mentions, shape (n, 2), in any order.
    numbers (Union[ndarray, Sequence[int]]): The cluster of each mention, shape (n,):
        any number from 0, equal for mentions of one cluster. -1 for a span that is
        not a mention.
    antecedents (Optional[Union[ndarray, Sequence[int]]]): The place of each mention's
        antecedent in ``bounds``, shape (n,), or -1.
    links (Optional[Union[ndarray, Sequence[float]]]): Confidence of the link to the
        antecedent in [0, 1], shape (n,); not read where there is none.
    mentions (Optional[Union[ndarray, Sequence[float]]]): Confidence that each is a
        mention, in [0, 1], shape (n,).
    singletons (bool): Also write the clusters of one mention, as the group
        ``doc.spans["coref_singletons"]`` with the attr ``confidences`` (if known).
    RAISES (ValueError): If an antecedent is in another cluster; nothing is changed
        then.
    """
    spans = numpy.asarray(bounds, dtype="int64").reshape(-1, 2)
    cluster_of = numpy.asarray(numbers, dtype="int64")
    scored = antecedents is not None and links is not None
    back: List[int] = []
    link_of: List[float] = []
    if scored:
        before = numpy.asarray(antecedents, dtype="int64")
        linked = before >= 0
        if not (cluster_of[before[linked]] == cluster_of[linked]).all():
            raise ValueError(
                f"A mention of the document {doc.text[:40]!r} has its antecedent in "
                "another cluster. Give both the same number."
            )
        back = before.tolist()
        link_of = numpy.asarray(links, dtype="float64").tolist()
    # In the order of the text; members of a cluster, and clusters, come out ordered.
    order = numpy.lexsort((-spans[:, 1], spans[:, 0]))
    order = order[cluster_of[order] >= 0]
    members: Dict[int, List[int]] = {}
    for i, number in zip(order.tolist(), cluster_of[order].tolist(), strict=True):
        members.setdefault(number, []).append(i)
    rows = spans.tolist()
    clear_clusters(doc)
    alone: List[int] = []
    written = 0
    for group in members.values():
        if len(group) == 1:
            alone.append(group[0])
            continue
        attrs: Dict[str, Any] = {}
        if scored:
            places = {i: place for place, i in enumerate(group)}
            scores = [link_of[i] if back[i] >= 0 else None for i in group]
            attrs = {
                "confidence": cluster_confidence(scores),
                "links": scores,
                "antecedents": [places.get(back[i]) for i in group],
            }
        written += 1
        _write(doc, f"{CLUSTER_PREFIX}_{written}", [rows[i] for i in group], attrs)
    if singletons:
        attrs = {}
        if mentions is not None:
            mention_of = numpy.asarray(mentions, dtype="float64").tolist()
            attrs = {"confidences": [mention_of[i] for i in alone]}
        _write(doc, SINGLETONS, [rows[i] for i in alone], attrs)


def _write(
    doc: Doc, key: str, bounds: Sequence[Sequence[int]], attrs: Dict[str, Any]
) -> None:
    spans = [doc[start:end] for start, end in bounds]
    doc.spans[key] = SpanGroup(doc, name=key, attrs=attrs, spans=spans)


def cluster_confidence(links: Sequence[Optional[float]]) -> float:
    """The confidence of a cluster: the geometric mean of its links'.

    A cluster holds only if all of its links do, so their confidences multiply. The
    root takes the length out of the product, which makes clusters of any size
    comparable and that of two mentions as certain as its link; one weak link weighs
    more than in the arithmetic mean.

    links (Sequence[Optional[float]]): Confidence of each link in [0, 1]; None counts
        as no link.
    RETURNS (float): In [0, 1]; 1.0 without links.
    """
    found = [link for link in links if link is not None]
    if not found:
        return 1.0
    if min(found) <= 0.0:
        return 0.0
    # fsum does not depend on the order, so a cluster read backwards is as certain.
    return min(1.0, math.exp(math.fsum(map(math.log, found)) / len(found)))


def clear_clusters(doc: Doc) -> None:
    """Remove the clusters and singletons of a document; other groups stay.

    doc (Doc): The document.
    """
    for key in (*cluster_keys(doc), SINGLETONS):
        if key in doc.spans:
            del doc.spans[key]


def cluster_keys(doc: Doc) -> List[str]:
    """The names of the groups in ``doc.spans`` that are clusters.

    doc (Doc): The document.
    RETURNS (List[str]): In the order of their numbers.
    """
    found: List[Tuple[int, str]] = []
    for key in doc.spans:
        match = _CLUSTER_KEY.fullmatch(key)
        if match is not None:
            found.append((int(match[1]), key))
    return [key for _, key in sorted(found)]


def get_clusters(doc: Doc) -> List[SpanGroup]:
    """The clusters of a document, predicted or gold.

    doc (Doc): The document.
    RETURNS (List[SpanGroup]): The groups in the order of their numbers. They do not
        keep the document alive: hold on to it.
    """
    return [doc.spans[key] for key in cluster_keys(doc)]
