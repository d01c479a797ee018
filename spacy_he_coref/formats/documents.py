"""What Docs and files of clusters have in common: names, mentions, offsets.

Writers take the clusters of a Doc from ``doc_clusters``. Readers of formats that hold
the text make a Doc of it and give the mentions as character offsets
(``put_clusters``); a word in which a mention begins or ends is split there into
segments, so that every mention has its exact place (design section 1).
"""

import warnings
from bisect import bisect_right
from pathlib import Path
from types import MappingProxyType
from typing import (
    Any,
    Dict,
    Iterable,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Sequence,
    Set,
    Tuple,
    Union,
)

import spacy
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.util import get_words_and_spaces

from ..coref.clusters import get_clusters
from ..corpus.conllu import CorpusError
from ..corpus.docs import SINGLETONS, set_clusters
from ..corpus.iahlt import surface_analysis
from ..retokenizer import retokenize
from ..tokenizer import make_tokenizer
from ..tokens import Analysis, set_analysis
from .records import Bounds


class LossWarning(UserWarning):
    """A format cannot hold something of a document; says what is left out."""


class FileMention(NamedTuple):
    """A mention as a file has it.

    start (int), end (int): Characters in the text: first, and after the last.
    line (Optional[int]): Where it stands in the file, from 1.
    """

    start: int
    end: int
    line: Optional[int] = None


class FileCluster(NamedTuple):
    """A cluster as a file has it.

    mentions (Sequence[FileMention]): Its mentions, in any order.
    attrs (Dict[str, Any]): What is known about it; ``links`` has a value for each
        mention.
    """

    mentions: Sequence[FileMention]
    attrs: Dict[str, Any] = {}


def warn_loss(name: str, what: str) -> None:
    """Say that a format cannot hold something.

    name (str): Name of the document.
    what (str): What is lost, and by which rule.
    """
    warnings.warn(f"Document {name}: {what}", LossWarning, stacklevel=3)


def blank_pipeline() -> Language:
    """A pipeline that only cuts texts into written words.

    RETURNS (Language): ``spacy.blank("he")`` with the tokenizer of this package.
    """
    nlp = spacy.blank("he")
    nlp.tokenizer = make_tokenizer(nlp)
    return nlp


def doc_name(doc: Doc, number: int = 1) -> str:
    """How files name a document.

    doc (Doc): The document.
    number (int): Its place in the file, from 1.
    RETURNS (str): Its source id, or else the number.
    """
    source = doc._.source or {}
    return str(source.get("id", "")) or str(number)


def doc_clusters(doc: Doc, name: str) -> List[List[Bounds]]:
    """The clusters of a document as files have them, singletons last.

    White space at the ends of a mention is left out of it, and a mention is once in
    its cluster.

    doc (Doc): The document.
    name (str): Its name, for the warning about a mention of white space only.
    RETURNS (List[List[Bounds]]): The mentions of each cluster in the order of the
        text, longer ones first.
    """
    groups: List[List[Span]] = [list(group) for group in get_clusters(doc)]
    if SINGLETONS in doc.spans:
        groups += [[span] for span in doc.spans[SINGLETONS]]
    clusters: List[List[Bounds]] = []
    for group in groups:
        found: Set[Bounds] = set()
        for span in group:
            start, end = span.start, span.end
            while start < end and doc[start].is_space:
                start += 1
            while start < end and doc[end - 1].is_space:
                end -= 1
            if start < end:
                found.add((start, end))
            else:
                warn_loss(name, "a mention of nothing but white space is left out.")
        if found:
            clusters.append(in_order(found))
    return clusters


def in_order(spans: Iterable[Bounds]) -> List[Bounds]:
    """Mentions in the order of the text, of those that begin together the longer
    first.

    spans (Iterable[Bounds]): The mentions.
    RETURNS (List[Bounds]): They, sorted.
    """
    return sorted(spans, key=lambda span: (span[0], -span[1]))


def crosses(one: Bounds, other: Bounds) -> bool:
    """Whether two mentions overlap and neither is inside the other.

    one (Bounds), other (Bounds): The mentions.
    RETURNS (bool): True if they cross.
    """
    (a, b), (c, d) = sorted((one, other))
    return a < c < b < d


def without_crossing(
    clusters: Sequence[Sequence[Bounds]], doc: Doc, name: str, everywhere: bool
) -> List[List[Bounds]]:
    """Clusters for a format whose brackets cannot cross.

    Of two mentions that cross a singleton is left out rather than one that corefers,
    and else the one that begins later, with a warning.

    clusters (Sequence[Sequence[Bounds]]): The mentions of each cluster.
    doc (Doc): The document, for the warning.
    name (str): Its name.
    everywhere (bool): Whether mentions of different clusters must not cross either;
        else only those of one cluster.
    RETURNS (List[List[Bounds]]): The clusters; one that lost all is empty.
    """
    lost: Set[Tuple[Bounds, int]] = set()
    # Mentions that reach beyond the begin of the current one, of each cluster or all.
    open_of: Dict[int, List[Tuple[Bounds, int]]] = {}
    rows = [(span, n) for n, spans in enumerate(clusters) for span in spans]
    for row in sorted(rows, key=lambda row: (row[0][0], -row[0][1], row[1])):
        span, n = row
        key = 0 if everywhere else n
        reaching = [other for other in open_of.get(key, []) if other[0][1] > span[0]]
        against = [other for other in reaching if crosses(other[0], span)]
        if len(clusters[n]) > 1 and all(len(clusters[m]) == 1 for _, m in against):
            lost.update(against)
            reaching = [other for other in reaching if other not in lost]
            against = []
        if against:
            lost.add(row)
        else:
            reaching.append(row)
        open_of[key] = reaching
    for (start, end), _ in sorted(lost):
        text = " ".join(doc[start:end].text.split())
        warn_loss(
            name,
            f"the mention {text!r} is left out, because it crosses another one"
            f"{'' if everywhere else ' of its cluster'}, which the format cannot hold.",
        )
    return [
        [span for span in spans if (span, n) not in lost]
        for n, spans in enumerate(clusters)
    ]


def make_doc(
    nlp: Language, text: str, path: Union[str, Path], line: Optional[int]
) -> Doc:
    """The Doc of a text.

    nlp (Language): The pipeline that cuts it into words.
    text (str): The text.
    path (Union[str, Path]): The file, for errors.
    line (Optional[int]): Where the document begins in it.
    RETURNS (Doc): The document.
    RAISES (CorpusError): If the text is too long for the pipeline, or not one.
    """
    try:
        return nlp.make_doc(text)
    except ValueError as error:
        raise CorpusError(path, line, f"{error}") from None


def make_doc_of_words(
    nlp: Language, text: str, words: Sequence[Bounds], starts: Iterable[int]
) -> Doc:
    """The Doc of a text whose words are known.

    nlp (Language): A pipeline, for its vocabulary.
    text (str): The text.
    words (Sequence[Bounds]): Character offsets of its words, in order. What is
        between them and not white space is made words too.
    starts (Iterable[int]): Character offsets at which a sentence begins.
    RETURNS (Doc): The document.
    """
    pieces: List[str] = []
    position = 0
    for start, end in [*words, (len(text), len(text))]:
        pieces += text[position:start].split()
        pieces += text[start:end].split()
        position = end
    tokens, spaces = get_words_and_spaces(pieces, text)
    doc = Doc(nlp.vocab, words=tokens, spaces=spaces)
    begins = set(starts)
    for token in doc:
        token.is_sent_start = token.i == 0 or token.idx in begins
    return doc


def offsets(doc: Doc, span: Bounds) -> Bounds:
    """Characters of a mention in the text.

    doc (Doc): The document.
    span (Bounds): First token and token after the last one.
    RETURNS (Bounds): First character, and the one after the last.
    """
    last = doc[span[1] - 1]
    return doc[span[0]].idx, last.idx + len(last)


def put_clusters(
    doc: Doc,
    clusters: Sequence[FileCluster],
    name: str,
    path: Union[str, Path],
    line: Optional[int] = None,
    analyses: Mapping[int, Analysis] = MappingProxyType({}),
) -> Doc:
    """Give a document the clusters of a file.

    A word in which a mention begins or ends is split there into segments, the last of
    them a clitic if it can be one (``corpus.iahlt.surface_analysis``). White space at
    the ends of a mention is left out of it. Clusters are numbered by their first
    mentions, those of one mention are singletons.

    doc (Doc): The document; its tokens are written words.
    clusters (Sequence[FileCluster]): The clusters.
    name (str): Its name, for ``doc._.source``.
    path (Union[str, Path]): The file, for errors.
    line (Optional[int]): Where the document begins in it.
    analyses (Mapping[int, Analysis]): Morphemes of words that the file gives, under the
        offset of each word.
    RETURNS (Doc): The document with segments and clusters.
    RAISES (CorpusError): If a mention is not in the text, or only white space.
    """
    text = doc.text
    trimmed: List[Tuple[List[Bounds], Dict[str, Any]]] = []
    for cluster in clusters:
        spans = [_trim(text, mention, name, path, line) for mention in cluster.mentions]
        trimmed.append((spans, cluster.attrs))
    borders = {border for spans, _ in trimmed for span in spans for border in span}
    doc = _split(doc, borders, analyses)
    doc._.source = {"id": name}
    first = {token.idx: token.i for token in doc}
    last = {token.idx + len(token): token.i + 1 for token in doc}
    bounds = [
        ([(first[start], last[end]) for start, end in spans], attrs)
        for spans, attrs in trimmed
    ]
    set_file_clusters(doc, bounds)
    return doc


def set_file_clusters(
    doc: Doc, clusters: Sequence[Tuple[Sequence[Bounds], Dict[str, Any]]]
) -> None:
    """Store clusters in any order, as gold documents have them.

    doc (Doc): The document.
    clusters (Sequence[Tuple[Sequence[Bounds], Dict[str, Any]]]): The mentions of each
        cluster, and what is known about it: ``links`` has a value for each mention.
        A mention that is twice in a cluster is in it once.
    """
    output: List[Tuple[List[Bounds], Dict[str, Any]]] = []
    alone: Dict[Bounds, float] = {}
    for spans, attrs in clusters:
        ordered = in_order(set(spans))
        if not ordered:
            continue
        attrs = dict(attrs)
        links = attrs.pop("links", None)
        single = attrs.pop("mention_confidence", None)
        if len(ordered) == 1 and single is not None:
            alone[ordered[0]] = single
        if links is not None:
            of_span = dict(zip(spans, links, strict=True))
            attrs["links"] = [of_span[span] for span in ordered]
        output.append((ordered, attrs))
    output.sort(key=lambda row: (row[0][0][0], -row[0][0][1]))
    set_clusters(doc, output)
    group = doc.spans[SINGLETONS]
    if len(alone) == len(group) > 0:
        group.attrs["confidences"] = [alone[span.start, span.end] for span in group]


def _trim(
    text: str,
    mention: FileMention,
    name: str,
    path: Union[str, Path],
    line: Optional[int],
) -> Bounds:
    start, end = mention.start, mention.end
    line = mention.line or line
    if not 0 <= start < end <= len(text):
        raise CorpusError(
            path,
            line,
            f"a mention of document {name} goes from character {start} to {end}, but "
            f"the text has {len(text)} characters. Correct the offsets, or give the "
            "text that they were made for.",
        )
    while start < end and text[start].isspace():
        start += 1
    while start < end and text[end - 1].isspace():
        end -= 1
    if start == end:
        raise CorpusError(
            path,
            line,
            f"a mention of document {name} at character {mention.start} is nothing but "
            "white space. Remove it.",
        )
    return start, end


def _split(doc: Doc, borders: Set[int], analyses: Mapping[int, Analysis]) -> Doc:
    """Split the words in which a mention begins or ends, or that have morphemes."""
    starts = [token.idx for token in doc]
    cuts: Dict[int, Set[int]] = {}
    for border in borders:
        i = bisect_right(starts, border) - 1
        if starts[i] < border < starts[i] + len(doc[i]):
            cuts.setdefault(i, set()).add(border - starts[i])
    for i, start in enumerate(starts):
        word = doc[i].text
        places = cuts.get(i, set())
        analysis = analyses.get(start, ())
        if max((morpheme.end or 0 for morpheme in analysis), default=0) != len(word):
            # Of letters that the tokenizer took for several words, or for less.
            analysis = ()
        inside = {morpheme.start for morpheme in analysis}
        if places and not places <= inside:
            edges = [0, *sorted(places), len(word)]
            pieces = [word[a:b] for a, b in zip(edges, edges[1:], strict=False)]
            analysis = surface_analysis(pieces)
        if analysis:
            set_analysis(doc, start, word, tuple(analysis))
    return retokenize(doc)
