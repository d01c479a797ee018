"""The training reader of the segmenter: windows of words from several corpora."""

import random
from pathlib import Path
from typing import Callable, Iterator, List, Optional, Sequence, Union

import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from ..corpus.reader import Folds
from ..tokens import copy_segments, word_bounds


class SegmentationCorpus:
    """Gives shuffled windows of words of gold documents as training examples."""

    def __init__(
        self,
        paths: Sequence[Union[str, Path]],
        window: int,
        leave_out: Optional[str] = None,
        only: Optional[str] = None,
    ) -> None:
        """Make the reader; files are read on first use.

        paths (Sequence[Union[str, Path]]): ``.spacy`` files of ``he-coref corpus
            build``.
        window (int): Words of a window.
        leave_out (Optional[str]): Leave out the documents of this fold, ``K/N``
            (``corpus.reader.in_fold``).
        only (Optional[str]): Leave out those of all other folds.
        RAISES (ValueError): If there is no such fold.
        """
        self.folds = Folds(leave_out, only)
        self.paths = [Path(path) for path in paths]
        self.window = window
        self._windows: List[Doc] = []

    def __call__(self, nlp: Language) -> Iterator[Example]:
        """Give every window once, in random order.

        nlp (Language): The pipeline, for its vocabulary.
        YIELDS (Example): Predicted: the written words. Reference: their segments.
        RAISES (FileNotFoundError): If a file is not there; says how to make it.
        """
        if not self._windows:
            for doc in self.folds.read(self.paths, nlp.vocab):
                self._windows.extend(cut_windows(doc, self.window))
        windows = list(self._windows)
        random.shuffle(windows)
        for reference in windows:
            yield Example(_written_words(reference), reference)


def cut_windows(doc: Doc, size: int) -> Iterator[Doc]:
    """Cut a document into windows of written words.

    doc (Doc): The document, split into segments.
    size (int): Words of a window; the last one may be shorter.
    YIELDS (Doc): The windows, with their part of the morpheme layer.
    """
    bounds = word_bounds(doc)
    for i in range(0, len(bounds), size):
        part = bounds[i : i + size]
        tokens = doc[part[0][0] : part[-1][1]]
        window = Doc(
            doc.vocab,
            words=[token.text for token in tokens],
            spaces=[bool(token.whitespace_) for token in tokens],
        )
        copy_segments(tokens, window)
        for token, copy in zip(tokens, window, strict=True):
            copy.pos, copy.dep, copy.morph = token.pos, token.dep, token.morph
        window._.source = doc._.source
        yield window


def _written_words(doc: Doc) -> Doc:
    spans = [doc[first:last] for first, last in word_bounds(doc)]
    return Doc(
        doc.vocab,
        words=[span.text for span in spans],
        spaces=[bool(span[-1].whitespace_) for span in spans],
    )


@spacy.registry.readers("spacy_he_coref.SegmentationCorpus.v1")
def make_segmentation_corpus(
    paths: List[str],
    window: int,
    leave_out: Optional[str] = None,
    only: Optional[str] = None,
) -> Callable[[Language], Iterator[Example]]:
    """Training reader of the segmenter, for ``[corpora.train]`` of a config.

    paths (List[str]): ``.spacy`` files of ``he-coref corpus build``.
    window (int): Words of a window.
    leave_out (Optional[str]), only (Optional[str]): A fold, ``K/N``, to jackknife.
    RETURNS (Callable): The reader.
    """
    return SegmentationCorpus(paths, window, leave_out, only)
