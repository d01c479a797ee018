"""The training reader of coreference: predicted annotation and gold clusters."""

import random
import re
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Tuple, Union

import spacy
from spacy.language import Language
from spacy.tokens import Doc, SpanGroup
from spacy.training import Example

from ..corpus.annotate import CANDIDATES
from ..corpus.docs import CLUSTER_PREFIX, MENTIONS, SINGLETONS
from ..corpus.reader import Folds

# The candidates that ``he_mentions`` finds in its default setting.
_CANDIDATES = next(iter(CANDIDATES))


class CorefCorpus:
    """Gives annotated documents as examples: predicted has all but the gold groups."""

    def __init__(
        self,
        paths: Sequence[Union[str, Path]],
        max_length: int = 0,
        shuffle: bool = False,
        encoder: Optional[str] = None,
        leave_out: Optional[str] = None,
        only: Optional[str] = None,
    ) -> None:
        """Make the reader; files are read on first use.

        paths (Sequence[Union[str, Path]]): ``.spacy`` files of ``he-coref corpus
            annotate``.
        max_length (int): Cut longer documents between sentences into parts of about
            this many tokens; 0 to leave them whole.
        shuffle (bool): Give the parts in random order.
        encoder (Optional[str]): Name of a frozen ``transformer`` of the pipeline: its
            vectors are computed while reading, once, and stay with the documents.
        leave_out (Optional[str]): Leave out the documents of this fold, ``K/N``
            (``corpus.reader.in_fold``).
        only (Optional[str]): Leave out those of all other folds.
        RAISES (ValueError): If there is no such fold.
        """
        self.folds = Folds(leave_out, only)
        self.paths = [Path(path) for path in paths]
        self.max_length = max_length
        self.shuffle = shuffle
        self.encoder = encoder

    def __call__(self, nlp: Language) -> Iterator[Example]:
        """Give every document, or its parts, once.

        nlp (Language): The pipeline, for its vocabulary and its encoder.
        YIELDS (Example): Predicted: tokens, tags, trees and candidates. Reference:
            the same with the gold clusters.
        RAISES (FileNotFoundError): If a file is not there; says how to make it.
        """
        examples: List[Example] = []
        for doc in self.folds.read(self.paths, nlp.vocab):
            for part in cut_document(doc, self.max_length):
                examples.append(Example(strip_gold(part), part))
        if self.shuffle:
            random.shuffle(examples)
        if self.encoder is None:
            yield from examples
            return
        pipe: Any = nlp.get_pipe(self.encoder)
        docs = pipe.pipe((example.predicted for example in examples), batch_size=8)
        for example, doc in zip(examples, docs, strict=True):
            example.predicted = doc
            yield example


def strip_gold(doc: Doc) -> Doc:
    """A copy of an annotated document as coreference gets it in use.

    doc (Doc): A document of ``he-coref corpus annotate``.
    RETURNS (Doc): A copy without gold mentions and clusters, with the candidates
        where ``he_mentions`` leaves them.
    """
    copy = doc.copy()
    bounds: List[Tuple[int, int]] = []
    if _CANDIDATES in doc.spans:
        bounds = [(span.start, span.end) for span in doc.spans[_CANDIDATES]]
    for key in list(copy.spans):
        if (
            key in CANDIDATES
            or key in (MENTIONS, SINGLETONS)
            or re.fullmatch(rf"{CLUSTER_PREFIX}_\d+", key)
        ):
            del copy.spans[key]
    copy.spans[MENTIONS] = SpanGroup(
        copy, name=MENTIONS, spans=[copy[start:end] for start, end in bounds]
    )
    return copy


def cut_document(doc: Doc, max_length: int) -> Iterator[Doc]:
    """Cut a document between sentences.

    doc (Doc): The document, with sentences.
    max_length (int): Tokens of a part, about; 0 to leave it whole.
    YIELDS (Doc): The parts with their span groups. Mentions that are left alone in
        their cluster are singletons if the document has singletons.
    """
    if not max_length or len(doc) <= max_length * 1.3:
        yield doc
        return
    start = 0
    for sentence in doc.sents:
        if sentence.end - start >= max_length or sentence.end == len(doc):
            if sentence.end > start:
                yield _part(doc, start, sentence.end)
            start = sentence.end


def _part(doc: Doc, start: int, end: int) -> Doc:
    part = doc[start:end].as_doc(copy_user_data=True)
    groups: Dict[str, List[Tuple[int, int]]] = {}
    alone: List[Tuple[int, int]] = []
    for key, group in doc.spans.items():
        inside = [
            (span.start - start, span.end - start)
            for span in group
            if start <= span.start and span.end <= end
        ]
        if key.startswith(f"{CLUSTER_PREFIX}_") and len(inside) < 2:
            alone += inside
        else:
            groups[key] = inside
    if SINGLETONS in groups:
        groups[SINGLETONS] += alone
    part.spans.clear()
    for key, bounds in groups.items():
        spans = [part[first:last] for first, last in bounds]
        part.spans[key] = SpanGroup(part, name=key, spans=spans)
    return part


@spacy.registry.readers("spacy_he_coref.CorefCorpus.v1")
def make_coref_corpus(
    paths: List[str],
    max_length: int = 0,
    shuffle: bool = False,
    encoder: Optional[str] = None,
    leave_out: Optional[str] = None,
    only: Optional[str] = None,
) -> Callable[[Language], Iterator[Example]]:
    """Reader ``spacy_he_coref.CorefCorpus.v1`` for ``[corpora]`` of a config.

    paths (List[str]): ``.spacy`` files of ``he-coref corpus annotate``.
    max_length (int): Cut documents into parts of about this many tokens; 0: whole.
    shuffle (bool): Give them in random order.
    encoder (Optional[str]): Name of a frozen ``transformer``, whose vectors are then
        computed once.
    leave_out (Optional[str]), only (Optional[str]): A fold, ``K/N``.
    RETURNS (Callable): The reader.
    """
    return CorefCorpus(paths, max_length, shuffle, encoder, leave_out, only)
