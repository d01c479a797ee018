"""The training reader of everything after the segmenter."""

import random
from pathlib import Path
from typing import Callable, Iterator, List, Sequence, Union

import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from ..tokens import copy_segments
from .docs import load_docs


class SegmentedCorpus:
    """Gives documents as examples whose predicted side has the gold segments."""

    def __init__(
        self, paths: Sequence[Union[str, Path]], max_length: int, shuffle: bool
    ) -> None:
        """Make the reader; files are read on first use.

        paths (Sequence[Union[str, Path]]): ``.spacy`` files of ``he-coref corpus
            build``.
        max_length (int): Cut documents between sentences into parts of about this
            many tokens, at every reading at other places; 0 to leave them whole.
        shuffle (bool): Give the parts in random order.
        """
        self.paths = [Path(path) for path in paths]
        self.max_length = max_length
        self.shuffle = shuffle
        self._docs: List[Doc] = []

    def __call__(self, nlp: Language) -> Iterator[Example]:
        """Give every document, or its parts, once.

        nlp (Language): The pipeline, for its vocabulary.
        YIELDS (Example): Predicted: the segments. Reference: all there is.
        RAISES (FileNotFoundError): If a file is not there; says how to make it.
        """
        if not self._docs:
            for path in self.paths:
                for doc in load_docs(path, nlp.vocab):
                    _mark_missing(doc)
                    self._docs.append(doc)
        parts: List[Doc] = []
        for doc in self._docs:
            parts += cut_sentences(doc, self.max_length) if self.max_length else [doc]
        if self.shuffle:
            random.shuffle(parts)
        for reference in parts:
            yield Example(copy_tokens(reference), reference)


def _mark_missing(doc: Doc) -> None:
    """Let spaCy see that a token without a tag has no known features either."""
    for token in doc:
        if not token.pos and not str(token.morph):
            token.set_morph(None)  # type: ignore[attr-defined]


def cut_sentences(doc: Doc, max_length: int) -> List[Doc]:
    """Cut a document between sentences, the first cut at a random place.

    doc (Doc): The document, with sentences.
    max_length (int): Tokens of a part; a longer sentence is a part of its own.
    RETURNS (List[Doc]): The parts, with all annotation.
    """
    if len(doc) <= max_length:
        return [doc]
    parts: List[Doc] = []
    start = 0
    room = random.randint(max_length // 4, max_length)
    sentences = list(doc.sents)
    for before, sentence in zip(sentences, sentences[1:], strict=False):
        if sentence.end - start > room and before.end > start:
            parts.append(doc[start : before.end].as_doc(copy_user_data=True))
            start, room = before.end, max_length
    parts.append(doc[start:].as_doc(copy_user_data=True))
    return parts


def copy_tokens(doc: Doc) -> Doc:
    """The segments of a document and what they stand for, nothing else.

    doc (Doc): The document.
    RETURNS (Doc): A new Doc, as the segmenter would leave it.
    """
    copy = Doc(
        doc.vocab,
        words=[token.text for token in doc],
        spaces=[bool(token.whitespace_) for token in doc],
    )
    copy_segments(doc[:], copy)
    copy._.source = doc._.source
    return copy


@spacy.registry.readers("spacy_he_coref.SegmentedCorpus.v1")
def make_segmented_corpus(
    paths: List[str], max_length: int = 0, shuffle: bool = False
) -> Callable[[Language], Iterator[Example]]:
    """Reader ``spacy_he_coref.SegmentedCorpus.v1`` for ``[corpora]`` of a config.

    paths (List[str]): ``.spacy`` files of ``he-coref corpus build``.
    max_length (int): Cut documents into parts of about this many tokens; 0: whole.
    shuffle (bool): Give them in random order.
    RETURNS (Callable): The reader.
    """
    return SegmentedCorpus(paths, max_length, shuffle)
