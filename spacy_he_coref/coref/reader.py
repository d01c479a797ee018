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
from ..segmenter.letters import describe_doc

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
        gold: Sequence[Union[str, Path]] = (),
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
        gold (Sequence[Union[str, Path]]): ``.spacy`` files with the gold tags and
            trees of the same documents, for components that are trained together with
            coreference. None: the reference has the annotation of the predicted side.
        RAISES (ValueError): If there is no such fold.
        """
        self.folds = Folds(leave_out, only)
        self.gold = [Path(path) for path in gold]
        self.paths = [Path(path) for path in paths]
        self.max_length = max_length
        self.shuffle = shuffle
        self.encoder = encoder

    def __call__(self, nlp: Language) -> Iterator[Example]:
        """Give every document, or its parts, once.

        nlp (Language): The pipeline, for its vocabulary and its encoder.
        YIELDS (Example): Predicted: tokens, tags, trees and candidates. Reference:
            the same with the gold clusters, or what the gold files have.
        RAISES (FileNotFoundError): If a file is not there; says how to make it.
            (ValueError): If a document has no gold one with its tokens.
        """
        examples: List[Example] = []
        references: Dict[str, Doc] = {}
        for doc in self.folds.read(self.gold, nlp.vocab):
            references[describe_doc(doc)] = doc
        for doc in self.folds.read(self.paths, nlp.vocab):
            gold = _reference(doc, references) if self.gold else doc
            for start, end in cut_bounds(doc, gold, self.max_length):
                part = _part(doc, start, end)
                reference = part if gold is doc else _part(gold, start, end)
                examples.append(Example(strip_gold(part), reference))
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


def _reference(doc: Doc, references: Dict[str, Doc]) -> Doc:
    name = describe_doc(doc)
    gold = references.get(name)
    if gold is None or [token.text for token in gold] != [token.text for token in doc]:
        raise ValueError(
            f"Document {name} has no gold document with the same tokens. Annotate the "
            "gold files again: he-coref corpus annotate --given segments."
        )
    return gold


def cut_bounds(doc: Doc, gold: Doc, max_length: int) -> Iterator[Tuple[int, int]]:
    """Where to cut a document: between sentences.

    doc (Doc): The document, with sentences.
    gold (Doc): The same with gold sentences; only where both begin one is a cut.
    max_length (int): Tokens of a part, about; 0 to leave it whole.
    YIELDS (Tuple[int, int]): First token of each part, and the one after the last.
    """
    if not max_length or len(doc) <= max_length * 1.3:
        yield 0, len(doc)
        return
    start = 0
    for sentence in doc.sents:
        end = sentence.end
        last = end == len(doc)
        if last or (end - start >= max_length and gold[end].is_sent_start):
            yield start, end
            start = end


def cut_document(doc: Doc, max_length: int) -> Iterator[Doc]:
    """Cut a document between sentences.

    doc (Doc): The document, with sentences.
    max_length (int): Tokens of a part, about; 0 to leave it whole.
    YIELDS (Doc): The parts with their span groups. Mentions that are left alone in
        their cluster are singletons if the document has singletons.
    """
    for start, end in cut_bounds(doc, doc, max_length):
        yield _part(doc, start, end)


def _part(doc: Doc, start: int, end: int) -> Doc:
    if end - start == len(doc):
        return doc
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
    gold: Optional[List[str]] = None,
) -> Callable[[Language], Iterator[Example]]:
    """Reader ``spacy_he_coref.CorefCorpus.v1`` for ``[corpora]`` of a config.

    paths (List[str]): ``.spacy`` files of ``he-coref corpus annotate``.
    max_length (int): Cut documents into parts of about this many tokens; 0: whole.
    shuffle (bool): Give them in random order.
    encoder (Optional[str]): Name of a frozen ``transformer``, whose vectors are then
        computed once.
    leave_out (Optional[str]), only (Optional[str]): A fold, ``K/N``.
    gold (Optional[List[str]]): Files with the gold tags and trees of the same
        documents, to train tags and trees with coreference on one encoder.
    RETURNS (Callable): The reader.
    """
    return CorefCorpus(paths, max_length, shuffle, encoder, leave_out, only, gold or ())
