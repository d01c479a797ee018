"""The IAHLT coreference corpus in the same representation (data README).

Zero-width spaces in its texts are the borders of segments; punctuation between
them is a word of its own. It marks no covert articles, no base forms and no
singletons, and its guidelines are not those of KibutzR, so its documents carry
a mark of their own (``doc._.source``).
"""

import json
from collections import Counter, defaultdict
from itertools import combinations
from pathlib import Path
from typing import (
    AbstractSet,
    Any,
    Dict,
    FrozenSet,
    Iterator,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Sequence,
    Set,
    Tuple,
    Union,
)

from spacy.tokens import Doc
from spacy.util import get_words_and_spaces
from spacy.vocab import Vocab

from ..segmenter.contract import validate_analysis
from ..tokens import CLITIC, Analysis, Morpheme, Segment, segments, set_segment
from .conllu import CorpusError, read_lines
from .docs import set_clusters
from .letters import (
    BARE_CLITICS,
    BEFORE_PRONOUN,
    PROCLITICS,
    PRONOUN_ENDINGS,
    segment_kinds,
)

CORPUS_NAME = "iahlt"
# What the segmenter may learn from its documents: borders, and no more.
BORDERS = "borders"
# Its documents have no trees, so sentence starts can be stored as such.
IAHLT_ATTRS = ("ORTH", "SPACY", "NORM", "SENT_START")
BORDER = "\u200b"

_PRONOUNS = {
    ending: pronoun
    for pronoun, endings in PRONOUN_ENDINGS.items()
    for ending in endings
    # ך is as good as always אתה in this corpus; nothing tells the two apart.
    if pronoun != "את"
}
# Its annotators did not always part two proclitics.
_PROCLITICS = PROCLITICS | {
    "וש", "וב", "ול", "וה", "ומ", "וכ", "וכש", "שה", "שב", "שמ", "שכ", "מה",
}  # fmt: skip
# Letters of a suffix that are a word of their own after some proclitics.
_WORDS: Mapping[str, AbstractSet[str]] = {
    form: BEFORE_PRONOUN for form in BARE_CLITICS
} | {"כן": PROCLITICS}
_SENTENCE_ENDS = frozenset(".?!…")
_CLOSING = "\"'”’״׳)]»"

Offsets = Tuple[int, int]


class IahltCluster(NamedTuple):
    """One cluster of an annotation.

    name (str): What the annotator called the entity.
    entity (Optional[str]): Its type.
    mentions (List[Offsets]): First letter and letter after the last one of each
        mention, in the text without borders.
    """

    name: str
    entity: Optional[str]
    mentions: List[Offsets]


class IahltDocument(NamedTuple):
    """One annotation of a document.

    id (str): Name of the document.
    split (str): Name of the file, for example ``val``.
    text (str): The text without segment borders.
    borders (List[int]): Offsets in it at which a segment ends inside a word.
    clusters (List[IahltCluster]): The clusters.
    path (str), line (int): Where it is.
    counts (Counter): What was repaired.
    """

    id: str
    split: str
    text: str
    borders: List[int]
    clusters: List[IahltCluster]
    path: str
    line: int
    counts: "Counter[str]"

    @property
    def letters(self) -> str:
        """The text without white space, in which annotators agree."""
        return "".join(self.text.split())


def read_iahlt(path: Union[str, Path]) -> Iterator[List[IahltDocument]]:
    """Read a file of the corpus.

    path (Union[str, Path]): A file with one JSON object a line: a document, or
        ``{"annotations": [...]}`` with one per annotator.
    YIELDS (List[IahltDocument]): The annotations of a document.
    RAISES (CorpusError): If a line is not such an object, or annotators of one
        document had different texts.
    """
    for number, line in enumerate(read_lines(path), start=1):
        if not line.strip():
            continue
        try:
            data = json.loads(line)
            rows = data["annotations"] if "annotations" in data else [data]
            documents = [_parse(row, path, number) for row in rows]
        except (ValueError, KeyError, TypeError, IndexError) as error:
            raise CorpusError(
                path,
                number,
                f"not a document of the IAHLT corpus ({error!r}). There must be one "
                "JSON object a line with 'text', 'doc_key' and 'clusters', each with "
                "'metadata' and 'mentions' as [start, end, {}].",
            ) from None
        if len({document.letters for document in documents}) > 1:
            raise CorpusError(
                path,
                number,
                f"the annotators of {documents[0].id} had different texts. Leave one "
                "annotation in the line.",
            )
        if documents:
            yield documents


def _parse(row: Dict[str, Any], path: Union[str, Path], line: int) -> IahltDocument:
    raw: str = row["text"]
    counts: Counter[str] = Counter()
    # For each offset in the raw text, the offset without borders.
    plain: List[int] = []
    position = 0
    for letter in raw:
        plain.append(position)
        position += letter != BORDER
    plain.append(position)
    text = raw.replace(BORDER, "")
    found = [i for i, letter in zip(plain, raw, strict=False) if letter == BORDER]
    borders = [
        i
        for i in sorted(set(found))
        if 0 < i < len(text) and not (text[i - 1].isspace() or text[i].isspace())
    ]
    counts["stray_borders"] += len(found) - len(borders)
    clusters: List[IahltCluster] = []
    for cluster in row["clusters"]:
        mentions: List[Offsets] = []
        for mention in cluster["mentions"]:
            first, last = int(mention[0]), int(mention[1])
            counts["mentions_read"] += 1
            if not 0 <= first < last <= len(raw):
                counts["mentions_outside_text"] += 1
                continue
            if raw[first] == BORDER or raw[last - 1] == BORDER:
                counts["mentions_with_stray_border"] += 1
            start, end = plain[first], plain[last]
            while start < end and text[start].isspace():
                start += 1
            while start < end and text[end - 1].isspace():
                end -= 1
            if start < end:
                mentions.append((start, end))
            else:
                counts["mentions_empty"] += 1
        metadata = cluster["metadata"]
        clusters.append(
            IahltCluster(str(metadata["name"]), metadata.get("entity"), mentions)
        )
    counts["clusters_read"] += len(clusters)
    return IahltDocument(
        str(row["doc_key"]),
        Path(path).stem,
        text,
        borders,
        clusters,
        str(path),
        line,
        counts,
    )


def choose_annotation(annotations: Sequence[IahltDocument]) -> IahltDocument:
    """Choose one of the annotations of a document.

    The one that agrees best with the others on average (F1 of linked pairs of
    mentions); of equals, as of any two, the one with more mentions, then the first.

    annotations (Sequence[IahltDocument]): At least one.
    RETURNS (IahltDocument): One of them.
    """
    links = [_links(annotation) for annotation in annotations]

    def order(i: int) -> Tuple[float, int, int]:
        others = [_f1(links[i], links[j]) for j in range(len(links)) if j != i]
        mean = sum(others) / len(others) if others else 1.0
        n_mentions = sum(len(c.mentions) for c in annotations[i].clusters)
        return (round(mean, 9), n_mentions, -i)

    return annotations[max(range(len(annotations)), key=order)]


def _links(document: IahltDocument) -> Set[Tuple[Offsets, Offsets]]:
    """Pairs of mentions of one cluster, in letters without white space."""
    letters: List[int] = [0]
    for letter in document.text:
        letters.append(letters[-1] + (not letter.isspace()))
    links: Set[Tuple[Offsets, Offsets]] = set()
    for cluster in document.clusters:
        spans = sorted({(letters[s], letters[e]) for s, e in cluster.mentions})
        links.update(combinations(spans, 2))
    return links


def _f1(first: Set[Any], second: Set[Any]) -> float:
    total = len(first) + len(second)
    return 2 * len(first & second) / total if total else 1.0


def make_iahlt_docs(
    vocab: Vocab, paths: Sequence[Union[str, Path]], counts: "Counter[str]"
) -> Iterator[Doc]:
    """Make the Docs of the corpus, each document once.

    A document that some file has without ``annotations`` (val) is taken from
    there, whatever else has it (iaa).

    vocab (Vocab): The vocabulary.
    paths (Sequence[Union[str, Path]]): Files of the corpus.
    counts (Counter): Gets what was repaired.
    YIELDS (Doc): The documents.
    RAISES (CorpusError): See ``read_iahlt``.
    """
    documents = [annotations for path in paths for annotations in read_iahlt(path)]
    documents.sort(key=lambda annotations: len(annotations) > 1)
    seen: Set[str] = set()
    for annotations in documents:
        document = choose_annotation(annotations)
        counts["annotations_not_chosen"] += len(annotations) - 1
        if document.id in seen or document.letters in seen:
            counts["documents_seen_before"] += 1
            continue
        seen.update((document.id, document.letters))
        yield make_iahlt_doc(vocab, document, counts)


def make_iahlt_doc(
    vocab: Vocab, document: IahltDocument, counts: "Optional[Counter[str]]" = None
) -> Doc:
    """Make the Doc of an annotation.

    vocab (Vocab): The vocabulary.
    document (IahltDocument): The annotation.
    counts (Optional[Counter]): Gets what was repaired.
    RETURNS (Doc): The document with segments, sentence starts and clusters.
    """
    counts = Counter() if counts is None else counts
    counts.update(document.counts)
    rows = list(_segments(document))
    words, spaces = get_words_and_spaces(
        [segment.text for segment, _ in rows], document.text
    )
    doc = Doc(vocab, words=words, spaces=spaces)
    if doc.text != document.text:
        raise CorpusError(
            document.path,
            document.line,
            f"the text of {document.id} cannot be cut into tokens. Remove control "
            "characters from it.",
        )
    tokens = [token for token in doc if not token.is_space]
    for token, (segment, length) in zip(tokens, rows, strict=True):
        if segment.kind == "word" and segment.morphemes == (token.text,):
            continue
        set_segment(doc, token.idx, segment, length)
        if segment.kind == CLITIC:
            token.norm_ = _PRONOUNS[token.text]
    clusters = _repair(doc, document, counts)
    set_clusters(doc, clusters)
    _set_sentences(doc, [span for spans, _ in clusters for span in spans], counts)
    doc._.source = {
        "corpus": CORPUS_NAME,
        "id": document.id,
        "split": document.split,
        "segmentation": BORDERS,
    }
    counts["documents"] += 1
    counts["tokens"] += len(tokens)
    counts["clusters"] += len(clusters)
    counts["mentions"] += sum(len(spans) for spans, _ in clusters)
    return doc


def _segments(document: IahltDocument) -> Iterator[Tuple[Segment, int]]:
    """The segments of a document, each with the length of its word."""
    borders = set(document.borders)
    chunk: List[str] = [""]
    for i, letter in enumerate(document.text + " "):
        if i in borders:
            chunk.append("")
        if not letter.isspace():
            chunk[-1] += letter
        elif chunk[0]:
            yield from _chunk(chunk)
            chunk = [""]


def _chunk(pieces: Sequence[str]) -> Iterator[Tuple[Segment, int]]:
    """What stands between white space: words, and punctuation as words."""
    word: List[str] = []
    for i, piece in enumerate(pieces):
        if any(letter.isalnum() for letter in piece):
            word.append(piece)
            continue
        # Proclitics stand before a quoted word or a number (מ|ה|"|פוסט|").
        yield from _word(word, open_end=_has_letters(pieces[i + 1 :]))
        yield from _word([piece])
        word = []
    yield from _word(word)


def _has_letters(pieces: Sequence[str]) -> bool:
    return any(letter.isalnum() for piece in pieces for letter in piece)


def _word(
    pieces: Sequence[str], open_end: bool = False
) -> Iterator[Tuple[Segment, int]]:
    if pieces:
        text = "".join(pieces)
        for segment in segments(text, surface_analysis(pieces, open_end)):
            yield segment, len(text)


def surface_analysis(pieces: Sequence[str], open_end: bool = False) -> Analysis:
    """The analysis of a word of which only the segments are annotated.

    pieces (Sequence[str]): The letters of its segments.
    open_end (bool): Whether the word goes on after punctuation. Then the last
        letters are no suffix if only proclitics precede them (מ|ה|"|פוסט|").
    RETURNS (Analysis): One morpheme per segment, clitics as full pronouns.
    """
    suffixes = [False] * len(pieces)
    if len(pieces) > 1 and pieces[-1] in _PRONOUNS:
        suffixes[-1] = pieces[-2] not in _WORDS.get(pieces[-1], ()) and not (
            open_end and all(piece in _PROCLITICS for piece in pieces)
        )
    analysis: List[Morpheme] = []
    position = 0
    kinds = segment_kinds(pieces, suffixes, _PROCLITICS)
    for piece, kind in zip(pieces, kinds, strict=True):
        form = f"_{_PRONOUNS[piece]}" if kind == CLITIC else piece
        analysis.append(Morpheme(form, position, position + len(piece), kind))
        position += len(piece)
    validate_analysis("".join(pieces), analysis)
    return tuple(analysis)


def _repair(
    doc: Doc, document: IahltDocument, counts: "Counter[str]"
) -> List[Tuple[List[Offsets], Dict[str, Any]]]:
    """Clusters of tokens in which no span is twice.

    - A mention that begins or ends inside a token is widened to the token.
    - A span that is twice in a cluster is in it once.
    - A span in several clusters means their entities together (``הם`` for two
      people). Spans in the same clusters make one of their own.
    - What is left of a cluster with less than two mentions is dropped, because
      the corpus has no singletons.
    """
    owners: Dict[Offsets, Set[int]] = defaultdict(set)
    for number, cluster in enumerate(document.clusters):
        found: Set[Offsets] = set()
        for start, end in cluster.mentions:
            span = doc.char_span(start, end, alignment_mode="expand")
            assert span is not None  # offsets were checked when they were read
            if (span.start_char, span.end_char) != (start, end):
                counts["mentions_widened"] += 1
            bounds = (span.start, span.end)
            if bounds in found:
                counts["mentions_twice_in_cluster"] += 1
            found.add(bounds)
        for bounds in found:
            owners[bounds].add(number)
    together: Dict[FrozenSet[int], List[Offsets]] = defaultdict(list)
    for bounds, numbers in sorted(owners.items()):
        together[frozenset(numbers)].append(bounds)
        counts["mentions_in_several_clusters"] += len(numbers) > 1
    clusters: List[Tuple[List[Offsets], Dict[str, Any]]] = []
    for key, spans in together.items():
        if len(spans) < 2:
            counts["mentions_left_alone"] += len(spans)
            continue
        parts = [document.clusters[number] for number in sorted(key)]
        counts["clusters_of_several_entities"] += len(parts) > 1
        types = {part.entity for part in parts}
        clusters.append(
            (
                spans,
                {
                    "id": "+".join(map(str, sorted(key))),
                    "name": " + ".join(part.name for part in parts),
                    "entity": types.pop() if len(types) == 1 else None,
                },
            )
        )
    clusters.sort(key=lambda cluster: cluster[0])
    return clusters


def _set_sentences(
    doc: Doc, mentions: Sequence[Offsets], counts: "Counter[str]"
) -> None:
    """Begin a sentence after a line end, and after .?! that white space follows.

    The corpus has no sentences. None begins inside a mention.
    """
    inside = {i for start, end in mentions for i in range(start + 1, end)}
    begins = False
    for token in doc:
        token.is_sent_start = token.i == 0
        if token.is_space:
            # White space belongs to the sentence before it, if there is one.
            begins = begins or ("\n" in token.text and token.i > 0)
            continue
        begins = begins or _ends_sentence(doc, token.i)
        if begins and token.i in inside:
            counts["sentences_joined_by_mention"] += 1
            begins = False
        if begins:
            token.is_sent_start = True
        begins = False
    counts["sentences"] += sum(token.is_sent_start is True for token in doc)


def _ends_sentence(doc: Doc, i: int) -> bool:
    """Whether a sentence ends right before a token."""
    i -= 1
    if i < 0 or not doc[i].whitespace_:
        return False
    while i > 0 and not doc[i].text.rstrip(_CLOSING):
        i -= 1
    return doc[i].text.rstrip(_CLOSING)[-1:] in _SENTENCE_ENDS
