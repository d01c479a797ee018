"""What the encoder reads of a Doc: wordpieces, each of one or more segments.

Two readings (design section 2). Of the morphemes, spaced out, in their form in HTB
and with those that are not written, so that every wordpiece belongs to one morpheme
and so to one segment. Or of the written words as they stand, where a wordpiece can
cover letters of several segments.
"""

from typing import Dict, List, NamedTuple, Tuple

import numpy as np
from spacy.tokens import Doc

from ..tokens import get_segment, word_bounds
from .pretrained import EncoderFiles

MORPHEMES = "morphemes"
TEXT = "text"
READINGS = (MORPHEMES, TEXT)

_CACHE = 200_000
_SENTENCE_END = frozenset(".?!…׃")


class Reading(NamedTuple):
    """The wordpieces of a Doc, word by word.

    pieces (np.ndarray): int64 of (pieces,), their ids.
    words (np.ndarray): int64 of (words,), how many each written word has.
    owner (np.ndarray): int64 of (links,), the token of each link between a token
        and a wordpiece.
    linked (np.ndarray): int64 of (links,), the wordpiece of each link.
    ends (np.ndarray): bool of (words,), whether a sentence seems to end there.
    """

    pieces: np.ndarray
    words: np.ndarray
    owner: np.ndarray
    linked: np.ndarray
    ends: np.ndarray


class Reader:
    """Reads Docs into wordpieces; remembers those of each morpheme."""

    def __init__(self, files: EncoderFiles, reading: str, longest: int) -> None:
        """Make the reader.

        files (EncoderFiles): The tokenizer.
        reading (str): ``morphemes`` or ``text``.
        longest (int): Most wordpieces of one morpheme, or one written word.
        RAISES (ValueError): If there is no such reading.
        """
        if reading not in READINGS:
            raise ValueError(
                f"There is no reading {reading!r} for the encoder. Set it to one of "
                f"{', '.join(READINGS)}."
            )
        self._files = files
        self._reading = reading
        self._longest = longest
        self._pieces: Dict[str, List[int]] = {}

    def __call__(self, doc: Doc) -> Reading:
        """Read a Doc.

        doc (Doc): The document, split into segments or not.
        RETURNS (Reading): Its wordpieces. A token of white space, and one that the
            tokenizer has no pieces for, has no links.
        """
        if self._reading == MORPHEMES:
            return self._read_morphemes(doc)
        return self._read_text(doc)

    def _read_morphemes(self, doc: Doc) -> Reading:
        pieces: List[int] = []
        owner: List[int] = []
        words: List[int] = []
        for first, last in word_bounds(doc):
            before = len(pieces)
            for i in range(first, last):
                row = get_segment(doc[i])
                for form in (doc[i].text,) if row is None else row[1]:
                    found = self._of(form.strip("_") or form)
                    pieces += found
                    owner += [i] * len(found)
            words.append(len(pieces) - before)
        return Reading(
            np.array(pieces, dtype=np.int64),
            np.array(words, dtype=np.int64),
            np.array(owner, dtype=np.int64),
            np.arange(len(pieces)),
            self._ends(doc),
        )

    def _of(self, form: str) -> List[int]:
        found = self._pieces.get(form)
        if found is None:
            if form.isspace():
                found = []
            else:
                found = self._files.pieces(form, self._longest)
            if len(self._pieces) >= _CACHE:
                self._pieces.clear()
            self._pieces[form] = found
        return found

    def _read_text(self, doc: Doc) -> Reading:
        pieces: List[int] = []
        links: List[Tuple[int, int]] = []
        words: List[int] = []
        for first, last in word_bounds(doc):
            span = doc[first:last]
            found: List[int] = []
            letters: List[Tuple[int, int]] = []
            if not span.text.isspace():
                found, letters = self._files.pieces_with_letters(
                    span.text, self._longest
                )
            for token in span:
                start = token.idx - span.start_char
                end = start + len(token)
                links += [
                    (token.i, len(pieces) + k)
                    for k, (a, b) in enumerate(letters)
                    # A piece for the mark of a word's begin has no letters.
                    if a < end and start < max(b, a + 1)
                ]
            pieces += found
            words.append(len(found))
        array = np.array(links, dtype=np.int64).reshape(-1, 2)
        return Reading(
            np.array(pieces, dtype=np.int64),
            np.array(words, dtype=np.int64),
            array[:, 0],
            array[:, 1],
            self._ends(doc),
        )

    @staticmethod
    def _ends(doc: Doc) -> np.ndarray:
        return np.array(
            [doc[last - 1].text in _SENTENCE_END for _, last in word_bounds(doc)],
            dtype=bool,
        )
