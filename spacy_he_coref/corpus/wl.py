"""Head words of mentions, and the training reader of word-level coreference.

Word-level coreference (Dobrovolskii 2021) links words and finds the span of each
afterwards: ``experimental_coref`` and ``experimental_span_resolver`` of
spacy-experimental. Its training data has for every cluster the group of its head
words, and the group of the mentions in the same order.
"""

from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Tuple, Union

import spacy
from spacy.language import Language
from spacy.tokens import Doc, SpanGroup
from spacy.training import Example

from ..mentions.kinds import mention_head
from .docs import CLUSTER_PREFIX, SINGLETONS, load_docs
from .reader import copy_tokens

# Span groups that exist only inside this system: "he_wl_heads_1", ... are clusters of
# head words, "he_wl_spans_1", ... the mentions that belong to them.
HEADS = "he_wl_heads"
SPANS = "he_wl_spans"


def head_word(doc: Doc, start: int, end: int) -> int:
    """The word that stands for a mention, different for mentions inside each other.

    It is the head in the tree (``mentions.kinds.mention_head``) but for two kinds of
    mentions that nearly always have another one with the same head inside:

    - of a coordination (דנה ויוסי) it is the conjunction, as in CAW-coref
      (D'Oosterlinck et al. 2023);
    - of an apposition after a punctuation mark (ראש העיר, דנה לוי) it is the mark.

    doc (Doc): The document, with trees.
    start (int): First token of the mention.
    end (int): Token after the last one.
    RETURNS (int): The place of the word in the document.
    """
    head = mention_head(doc, start, end)
    inside = [token for token in doc[start:end] if token.head.i == head.i]
    for child in inside:
        if child.dep_ == "conj":
            for token in doc[start:end]:
                if token.dep_ == "cc" and token.head.i == child.i:
                    return token.i
            break
    for child in inside:
        if child.dep_ == "appos" and child.i > head.i:
            first = child.left_edge.i
            # The mark hangs from the apposition or from the head.
            for i in (first, first - 1):
                if i > head.i and doc[i].pos_ == "PUNCT":
                    return i
            break
    return head.i


def word_clusters(doc: Doc) -> List[List[Tuple[int, Tuple[int, int]]]]:
    """Clusters of head words with the mentions that they stand for.

    A word stands for one mention: one that corefers before a singleton, and a longer
    one before a shorter one.

    doc (Doc): A document with trees, clusters and singletons.
    RETURNS (List[List[Tuple[int, Tuple[int, int]]]]): For each cluster, singletons
        among them, in the order of the text the head words and the first token and
        the token after the last one of their mentions. No cluster is empty.
    """
    owners: Dict[int, Tuple[bool, int, int, Tuple[int, int]]] = {}
    number = 0
    for key, group in doc.spans.items():
        coreferent = key.startswith(f"{CLUSTER_PREFIX}_")
        if not coreferent and key != SINGLETONS:
            continue
        for span in group:
            number += not coreferent
            word = head_word(doc, span.start, span.end)
            rank = (coreferent, len(span), number, (span.start, span.end))
            owners[word] = max(rank, owners.get(word, rank), key=lambda r: r[:2])
        number += coreferent
    clusters: Dict[int, List[Tuple[int, Tuple[int, int]]]] = {}
    for word, (_, _, cluster, bounds) in sorted(owners.items()):
        clusters.setdefault(cluster, []).append((word, bounds))
    return list(clusters.values())


class WlCorpus:
    """Gives documents as examples for word-level coreference."""

    def __init__(
        self,
        paths: Sequence[Union[str, Path]],
        heads: bool = False,
        encoder: Optional[str] = None,
    ) -> None:
        """Make the reader; files are read on first use.

        paths (Sequence[Union[str, Path]]): ``.spacy`` files of ``he-coref corpus
            build``.
        heads (bool): Add clusters of head words, to train with; without them, to
            score what is predicted.
        encoder (Optional[str]): Name of a frozen ``transformer`` of the pipeline: its
            vectors are computed while reading, once, and stay with the documents.
        """
        self.paths = [Path(path) for path in paths]
        self.heads = heads
        self.encoder = encoder
        # Initialization reads everything several times.
        self._docs: List[Doc] = []
        self._pipe: Any = None
        self._vectors: List[Any] = []

    def __call__(self, nlp: Language) -> Iterator[Example]:
        """Give every document once, and whole.

        nlp (Language): The pipeline, for its vocabulary.
        YIELDS (Example): Predicted: segments and sentences, and with ``heads`` the
            groups ``he_wl_heads_N``. Reference: all there is, and with ``heads`` the
            groups ``he_wl_heads_N`` and ``he_wl_spans_N``; documents without a
            mention are then left out.
        RAISES (FileNotFoundError): If a file is not there; says how to make it.
        """
        examples = self._read(nlp)
        if self.encoder is None:
            yield from examples
            return
        pipe: Any = nlp.get_pipe(self.encoder)
        if pipe is not self._pipe:
            self._pipe, self._vectors = pipe, []
        for number, example in enumerate(examples):
            if number == len(self._vectors):
                self._vectors.append(pipe(example.predicted)._.trf_data)
            example.predicted._.trf_data = self._vectors[number]
            yield example

    def _read(self, nlp: Language) -> Iterator[Example]:
        if not self._docs:
            self._docs = [d for path in self.paths for d in load_docs(path, nlp.vocab)]
        for reference in self._docs:
            predicted = copy_tokens(reference)
            for token in reference:
                predicted[token.i].is_sent_start = token.is_sent_start
            if self.heads:
                clusters = word_clusters(reference)
                if not clusters:
                    continue
                _set_groups(reference, SPANS, [[m for _, m in c] for c in clusters])
                words = [[(word, word + 1) for word, _ in c] for c in clusters]
                _set_groups(reference, HEADS, words)
                _set_groups(predicted, HEADS, words)
            yield Example(predicted, reference)


def _set_groups(
    doc: Doc, prefix: str, clusters: Sequence[Sequence[Tuple[int, int]]]
) -> None:
    for number, spans in enumerate(clusters, 1):
        key = f"{prefix}_{number}"
        members = [doc[start:end] for start, end in spans]
        doc.spans[key] = SpanGroup(doc, name=key, spans=members)


@spacy.registry.readers("spacy_he_coref.WlCorpus.v1")
def make_wl_corpus(
    paths: List[str], heads: bool = False, encoder: Optional[str] = None
) -> Callable[[Language], Iterator[Example]]:
    """Reader ``spacy_he_coref.WlCorpus.v1`` for ``[corpora]`` of a config.

    paths (List[str]): ``.spacy`` files of ``he-coref corpus build``.
    heads (bool): Add what ``experimental_coref`` and ``experimental_span_resolver``
        learn from; for training, not for scoring.
    encoder (Optional[str]): Name of a frozen ``transformer``, whose vectors are then
        computed once.
    RETURNS (Callable): The reader.
    """
    return WlCorpus(paths, heads, encoder)
