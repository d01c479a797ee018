"""The training reader of everything after the segmenter."""

import random
import re
from hashlib import blake2b
from pathlib import Path
from typing import Callable, Iterable, Iterator, List, Optional, Sequence, Tuple, Union

import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab

from ..segmenter.letters import describe_doc
from ..tokens import CLITIC, copy_segments
from .docs import load_docs

# The number of a part of an article: htb:12_1 to htb:12_7 are one article.
_PART = re.compile(r"[_-]\d+$")


def parse_fold(fold: str) -> Tuple[int, int]:
    """Read the name of a fold.

    fold (str): ``K/N``, the fold K, counted from 1, of N.
    RETURNS (Tuple[int, int]): K and N.
    RAISES (ValueError): If it is no such name.
    """
    match = re.fullmatch(r"(\d+)/(\d+)", fold)
    if match is None or not 1 <= int(match[1]) <= int(match[2]):
        raise ValueError(
            f"{fold!r} is no fold. Write K/N for the fold K of N, as in 1/5 to 5/5."
        )
    return int(match[1]), int(match[2])


def in_fold(doc: Doc, fold: str) -> bool:
    """Whether a document is in a fold of a corpus.

    The article decides, by a hash of its id: all parts of one are in one fold, the
    same one in every file, in every order and on every machine. So a model that is
    trained with ``leave_out = "2/5"`` has seen nothing of what ``he-coref corpus
    annotate --fold 2/5`` gives it.

    doc (Doc): The document.
    fold (str): ``K/N``, the fold K, counted from 1, of N.
    RETURNS (bool): Whether it is. Every document is in one of the N folds.
    RAISES (ValueError): If there is no such fold.
    """
    number, folds = parse_fold(fold)
    article = _PART.sub("", describe_doc(doc))
    digest = blake2b(article.encode("utf8"), digest_size=8).digest()
    return int.from_bytes(digest, "big") % folds == number - 1


class Folds:
    """Which documents of a corpus are read, for jackknifing and cross-validation."""

    def __init__(self, leave_out: Optional[str], only: Optional[str]) -> None:
        """Check the folds.

        leave_out (Optional[str]): Leave out the documents of this fold (``in_fold``).
        only (Optional[str]): Leave out those of all other folds.
        RAISES (ValueError): If there is no such fold.
        """
        for fold in (leave_out, only):
            if fold is not None:
                parse_fold(fold)
        self.leave_out = leave_out
        self.only = only

    def read(self, paths: Iterable[Path], vocab: Vocab) -> Iterator[Doc]:
        """The documents of files that are in these folds.

        paths (Iterable[Path]): ``.spacy`` files.
        vocab (Vocab): The vocabulary of the documents.
        YIELDS (Doc): The documents.
        RAISES (FileNotFoundError): If a file is not there; says how to make it.
        """
        for path in paths:
            for doc in load_docs(path, vocab):
                left_out = self.leave_out is not None and in_fold(doc, self.leave_out)
                if not left_out and (self.only is None or in_fold(doc, self.only)):
                    yield doc


class SegmentedCorpus:
    """Gives documents as examples whose predicted side has the gold segments."""

    def __init__(
        self,
        paths: Sequence[Union[str, Path]],
        max_length: int,
        shuffle: bool,
        leave_out: Optional[str] = None,
        only: Optional[str] = None,
    ) -> None:
        """Make the reader; files are read on first use.

        paths (Sequence[Union[str, Path]]): ``.spacy`` files of ``he-coref corpus
            build``.
        max_length (int): Cut documents between sentences into parts of about this
            many tokens, at every reading at other places; 0 to leave them whole.
        shuffle (bool): Give the parts in random order.
        leave_out (Optional[str]): Leave out the documents of this fold (``in_fold``).
        only (Optional[str]): Leave out those of all other folds.
        RAISES (ValueError): If there is no such fold.
        """
        self.folds = Folds(leave_out, only)
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
            for doc in self.folds.read(self.paths, nlp.vocab):
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
    for token in doc:
        # The full pronoun, which the retokenizer sets.
        if token._.segment_kind == CLITIC:
            copy[token.i].norm_ = token.norm_
    copy._.source = doc._.source
    return copy


@spacy.registry.readers("spacy_he_coref.SegmentedCorpus.v1")
def make_segmented_corpus(
    paths: List[str],
    max_length: int = 0,
    shuffle: bool = False,
    leave_out: Optional[str] = None,
    only: Optional[str] = None,
) -> Callable[[Language], Iterator[Example]]:
    """Reader ``spacy_he_coref.SegmentedCorpus.v1`` for ``[corpora]`` of a config.

    paths (List[str]): ``.spacy`` files of ``he-coref corpus build``.
    max_length (int): Cut documents into parts of about this many tokens; 0: whole.
    shuffle (bool): Give them in random order.
    leave_out (Optional[str]): Leave out the documents of a fold, for jackknifing:
        ``K/N`` for the fold K, counted from 1, of N. Parts of an article are together.
    only (Optional[str]): Read the documents of a fold only.
    RETURNS (Callable): The reader.
    """
    return SegmentedCorpus(paths, max_length, shuffle, leave_out, only)
