"""KibutzR documents as Docs, and back.

A Doc of KibutzR has one token per written segment (design section 1) with the
treebank's values, and the whole morpheme-level annotation in its user data, so
that the KibutzR file can be written again from it.
"""

from collections import Counter, defaultdict
from pathlib import Path
from typing import (
    Any,
    Dict,
    Iterable,
    List,
    NamedTuple,
    Optional,
    Sequence,
    Tuple,
    Union,
)

import spacy
from spacy.tokens import Doc, DocBin, Span, SpanGroup
from spacy.util import filter_spans
from spacy.vocab import Vocab

from ..segmenter.contract import validate_analysis
from ..tokens import (
    CLITIC,
    COVERT_ARTICLE,
    Morpheme,
    Segment,
    is_trivial,
    morphemes_to_tokens,
    segments,
    set_segment,
    tokens_to_morphemes,
)
from .alignment import AlignedSentence
from .kibutzr import (
    KibutzrDocument,
    Mention,
    format_kibutzr,
)
from .letters import bare

CORPUS_NAME = "kibutzr"
CLUSTER_PREFIX = "coref_clusters"
SINGLETONS = "coref_singletons"
MENTIONS = "coref_mentions"
# What spaCy's parser and its converter call the relation of a root.
ROOT = "ROOT"
# Keys of doc.user_data: the morpheme-level annotation, and what else the KibutzR
# file says.
TREEBANK = "he_treebank"
KIBUTZR = "he_kibutzr"
# HEAD carries the sentence starts of documents that have trees; spaCy refuses
# both at once.
TREE_ATTRS = (
    "ORTH",
    "SPACY",
    "NORM",
    "LEMMA",
    "POS",
    "MORPH",
    "HEAD",
    "DEP",
    "ENT_IOB",
    "ENT_TYPE",
)


class MorphemeRow(NamedTuple):
    """One row of ``doc.user_data["he_treebank"]``: a morpheme with gold values.

    form (str), lemma (str), upos (str), feats (str), deprel (str): ``_`` where the
        treebank has nothing.
    head (Optional[int]): Counted from 1 in the sentence, 0 for the root; None in
        a sentence without a tree.
    """

    form: str
    lemma: str
    upos: str
    feats: str
    head: Optional[int]
    deprel: str


def make_doc(
    vocab: Vocab,
    document: KibutzrDocument,
    sentences: Sequence[AlignedSentence],
    split: str,
    counts: "Optional[Counter[str]]" = None,
) -> Doc:
    """Make the Doc of an aligned KibutzR document.

    vocab (Vocab): The vocabulary.
    document (KibutzrDocument): The document as its file has it.
    sentences (Sequence[AlignedSentence]): Its sentences with the treebank's
        words and values.
    split (str): ``train``, ``dev`` or ``test``.
    counts (Optional[Counter]): Gets what was repaired or lost.
    RETURNS (Doc): The document with segments, unwritten morphemes, lemmas, tags,
        features, trees, entities, mentions and clusters.
    """
    counts = Counter() if counts is None else counts
    tokens = _Tokens()
    for number, sentence in enumerate(sentences):
        counts.update(sentence.counts)
        tokens.add(sentence, last=number == len(sentences) - 1)
    doc = tokens.make_doc(vocab)
    _set_entities(doc, sentences, counts)
    rows = [
        [m.form, m.lemma, m.upos, m.feats, m.head, m.deprel]
        for sentence in sentences
        for m in sentence.morphemes
    ]
    doc.user_data[TREEBANK] = rows
    changed: Dict[str, str] = {}
    position = 0
    for sentence in sentences:
        for morpheme in sentence.morphemes:
            if morpheme.form != morpheme.original:
                changed[str(position)] = morpheme.original
            position += 1
    doc.user_data[KIBUTZR] = {
        "begin": document.begin,
        "end": document.end,
        "sentences": [len(sentence.morphemes) for sentence in sentences],
        "changed": changed,
        "unusual": {str(i): text for i, text in document.unusual.items()},
    }
    doc._.source = {"corpus": CORPUS_NAME, "id": document.id, "split": split}
    _set_clusters(doc, document.mentions, counts)
    counts["documents"] += 1
    counts["sentences"] += len(sentences)
    counts["morphemes"] += position
    counts["words"] += sum(len(sentence.words) for sentence in sentences)
    counts["tokens"] += len(doc)
    return doc


class TokenColumns:
    """The columns of a Doc with trees and segments while it is being put together."""

    def __init__(self) -> None:
        self.words: List[str] = []
        self.spaces: List[bool] = []
        self.lemmas: List[str] = []
        self.pos: List[str] = []
        self.feats: List[str] = []
        self.heads: List[int] = []
        self.deps: List[str] = []
        # Token, segment and length of the word; and token and its NORM.
        self.segments: List[Tuple[int, Segment, int]] = []
        self.norms: List[Tuple[int, str]] = []

    def make_doc(self, vocab: Vocab) -> Doc:
        """Make the Doc.

        vocab (Vocab): The vocabulary.
        RETURNS (Doc): The Doc.
        """
        doc = Doc(
            vocab,
            words=self.words,
            spaces=self.spaces,
            lemmas=self.lemmas,
            pos=self.pos,
            morphs=self.feats,
            heads=self.heads,
            deps=self.deps,
        )
        for i, segment, length in self.segments:
            set_segment(doc, doc[i].idx, segment, length)
        for i, norm in self.norms:
            doc[i].norm_ = norm
        return doc


class _Tokens(TokenColumns):
    def add(self, sentence: AlignedSentence, last: bool) -> None:
        """Add the tokens of a sentence.

        sentence (AlignedSentence): The sentence.
        last (bool): Whether it ends the document.
        """
        first_token = len(self.words)
        members: List[List[int]] = []
        for word in sentence.words:
            rows = sentence.morphemes[word.start : word.end]
            analysis = tuple(
                Morpheme(m.form, m.span and m.span[0], m.span and m.span[1], m.kind)
                for m in rows
            )
            validate_analysis(word.text, analysis)
            trivial = is_trivial(word.text, analysis)
            pieces = segments(word.text, analysis)
            position = word.start
            for piece in pieces:
                token = len(self.words)
                inside = list(range(position, position + len(piece.morphemes)))
                position += len(piece.morphemes)
                members.append(inside)
                written = sentence.morphemes[inside[piece.written]]
                self.words.append(piece.text)
                self.spaces.append(False)
                self.lemmas.append("" if written.lemma == "_" else written.lemma)
                self.pos.append("" if written.upos == "_" else written.upos)
                self.feats.append(_token_feats(written.feats, piece.morphemes))
                if not trivial:
                    self.segments.append((token, piece, len(word.text)))
                if piece.kind == CLITIC:
                    self.norms.append((token, bare(written.form)))
            self.spaces[-1] = word.space_after
        self.spaces[-1] = not last
        self._add_tree(sentence, members, first_token)

    def _add_tree(
        self, sentence: AlignedSentence, members: List[List[int]], first_token: int
    ) -> None:
        if sentence.sent_id is None:
            # Flat, and only the first token with a relation, which makes it the
            # begin of a sentence: spaCy takes the others for missing.
            self.heads.extend([first_token] * len(members))
            self.deps.extend([ROOT] + [""] * (len(members) - 1))
            return
        heads = [morpheme.head or 0 for morpheme in sentence.morphemes]
        depths = _depths(heads)
        token_of = {i: t for t, inside in enumerate(members) for i in inside}
        for token, inside in enumerate(members):
            # The morpheme nearest to the root is the one whose head is outside.
            # Tokens linked in this way have one root and no cycle.
            top = min(inside, key=lambda i: (depths[i], i))
            head = token if heads[top] == 0 else token_of[heads[top] - 1]
            self.heads.append(first_token + head)
            deprel = sentence.morphemes[top].deprel
            self.deps.append(ROOT if heads[top] == 0 else deprel)


def _depths(heads: Sequence[int]) -> List[int]:
    depths: List[int] = []
    for i in range(len(heads)):
        depth = 0
        up = i + 1
        while heads[up - 1]:
            up = heads[up - 1]
            depth += 1
        depths.append(depth)
    return depths


def _token_feats(feats: str, forms: Sequence[str]) -> str:
    """Features of a token: its covert article makes it definite."""
    feats = "" if feats == "_" else feats
    if COVERT_ARTICLE not in forms or "Definite=" in feats:
        return feats
    return "|".join(sorted(filter(None, [*feats.split("|"), "Definite=Def"])))


def _set_entities(
    doc: Doc, sentences: Sequence[AlignedSentence], counts: "Counter[str]"
) -> None:
    spans: List[Tuple[int, int]] = []
    labels: List[str] = []
    offset = 0
    for sentence in sentences:
        for start, end, label in sentence.entities:
            spans.append((offset + start, offset + end))
            labels.append(label)
        offset += len(sentence.morphemes)
    entities = [
        Span(doc, *bounds, label=label)
        for bounds, label in zip(morphemes_to_tokens(doc, spans), labels, strict=True)
        if bounds is not None
    ]
    kept = filter_spans(entities)
    counts["entities"] += len(kept)
    counts["entities_lost"] += len(spans) - len(kept)
    doc.set_ents(kept)


def _set_clusters(
    doc: Doc, mentions: Sequence[Mention], counts: "Counter[str]"
) -> None:
    bounds = morphemes_to_tokens(doc, [(m.start, m.end) for m in mentions])
    clusters: Dict[int, List[Tuple[int, int]]] = defaultdict(list)
    sizes: Counter[int] = Counter()
    for mention, span in zip(mentions, bounds, strict=True):
        sizes[mention.cluster] += 1
        if span is None:
            counts["mentions_unwritten"] += 1
        elif span in clusters[mention.cluster]:
            counts["mentions_same_in_cluster"] += 1
        else:
            clusters[mention.cluster].append(span)
    ordered = sorted((sorted(spans), name) for name, spans in clusters.items() if spans)
    set_clusters(doc, [(spans, {"id": name}) for spans, name in ordered])
    kept = [(m, span) for m, span in zip(mentions, bounds, strict=True) if span]
    written = [span for _, span in kept]
    counts["mentions_with_singletons"] += len(mentions)
    counts["mentions"] += sum(size for size in sizes.values() if size > 1)
    counts["clusters"] += sum(size > 1 for size in sizes.values())
    counts["singletons"] += sum(size == 1 for size in sizes.values())
    counts["mentions_same_span"] += len(written) - len(set(written))
    restored = {
        (*span, mention.cluster)
        for (mention, _), span in zip(
            kept, tokens_to_morphemes(doc, written), strict=True
        )
    }
    lost = {(m.start, m.end, m.cluster) for m in mentions} - restored
    counts["mentions_not_restored"] += len(lost)
    counts["coreferent_not_restored"] += sum(sizes[name] > 1 for _, _, name in lost)


def set_clusters(
    doc: Doc, clusters: Sequence[Tuple[Sequence[Tuple[int, int]], Dict[str, Any]]]
) -> None:
    """Store mentions and clusters on a Doc.

    Mentions of different clusters may have one span (``ה_ זה`` and ``זה``): both
    clusters keep it, and the group of all mentions has it once.

    doc (Doc): The document.
    clusters (Sequence[Tuple[Sequence[Tuple[int, int]], Dict[str, Any]]]): In order
        of first mention, the mentions of each cluster, as first token and token
        after the last one, and what is known about it. Clusters of one mention
        are singletons.
    """
    number = 0
    singletons: List[Tuple[int, int]] = []
    names: List[Any] = []
    for spans, attrs in clusters:
        if len(spans) == 1:
            singletons.append(spans[0])
            names.append(attrs.get("id"))
            continue
        number += 1
        key = f"{CLUSTER_PREFIX}_{number}"
        doc.spans[key] = _group(doc, key, spans, attrs)
    doc.spans[SINGLETONS] = _group(doc, SINGLETONS, singletons, {"ids": names})
    everything = sorted({span for spans, _ in clusters for span in spans})
    doc.spans[MENTIONS] = _group(doc, MENTIONS, everything, {})


def _group(
    doc: Doc, name: str, spans: Iterable[Tuple[int, int]], attrs: Dict[str, Any]
) -> SpanGroup:
    return SpanGroup(
        doc, name=name, attrs=attrs, spans=[doc[start:end] for start, end in spans]
    )


def morpheme_rows(doc: Doc) -> List[MorphemeRow]:
    """The gold values of the morphemes of a Doc, in the order of ``doc._.morphemes``.

    doc (Doc): A Doc of the KibutzR corpus.
    RETURNS (List[MorphemeRow]): One row per morpheme.
    RAISES (ValueError): If the Doc has none.
    """
    rows = doc.user_data.get(TREEBANK)
    if rows is None:
        raise ValueError(
            f"Document {_name(doc)} has no morpheme-level annotation. Use one that "
            "'he-coref corpus build' made from KibutzR."
        )
    return [MorphemeRow(*row) for row in rows]


def _name(doc: Doc) -> str:
    source = doc._.source
    return source["id"] if source else repr(doc.text[:40])


def doc_to_kibutzr(doc: Doc) -> str:
    """Write a Doc of the KibutzR corpus as a KibutzR file again.

    Mentions are projected to morphemes (``tokens.tokens_to_morphemes``), and the
    digits and lines of the original file come back.

    doc (Doc): The document.
    RETURNS (str): The content of the file.
    RAISES (ValueError): If the Doc is not one of the KibutzR corpus.
    """
    extra = doc.user_data.get(KIBUTZR)
    if extra is None:
        raise ValueError(
            f"Document {_name(doc)} did not come from a KibutzR file. Use one that "
            "'he-coref corpus build' made from KibutzR."
        )
    forms = [morpheme.form for morpheme in doc._.morphemes]
    for position, form in extra["changed"].items():
        forms[int(position)] = form
    sentences: List[List[str]] = []
    start = 0
    for length in extra["sentences"]:
        sentences.append(forms[start : start + length])
        start += length
    spans: List[Tuple[int, int]] = []
    names: List[int] = []
    for key, group in doc.spans.items():
        if key.startswith(f"{CLUSTER_PREFIX}_"):
            ids = [group.attrs["id"]] * len(group)
        elif key == SINGLETONS:
            ids = group.attrs["ids"]
        else:
            continue
        spans.extend((span.start, span.end) for span in group)
        names.extend(ids)
    mentions = [
        Mention(*span, name)
        for span, name in zip(tokens_to_morphemes(doc, spans), names, strict=True)
    ]
    return format_kibutzr(
        sentences,
        mentions,
        extra["begin"],
        extra["end"],
        {int(position): column for position, column in extra["unusual"].items()},
    )


def load_docs(path: Union[str, Path], vocab: Optional[Vocab] = None) -> List[Doc]:
    """Read a corpus that ``build_corpus`` wrote.

    path (Union[str, Path]): The ``.spacy`` file.
    vocab (Optional[Vocab]): The vocabulary; by default a new Hebrew one.
    RETURNS (List[Doc]): Its documents.
    RAISES (FileNotFoundError): If the file is not there; says how to make it.
    """
    if not Path(path).is_file():
        raise FileNotFoundError(
            f"{path} is not there. Make it with 'he-coref corpus build' "
            "(spacy project run corpus)."
        )
    vocab = spacy.blank("he").vocab if vocab is None else vocab
    return list(DocBin().from_disk(path).get_docs(vocab))
