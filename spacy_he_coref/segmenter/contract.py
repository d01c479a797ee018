"""The contract of a segmenter backend: written words in, morphemes out.

A backend is any object with a ``segment`` method (``SegmenterBackend``). It
gets documents as lists of sentences-or-whole-text ``Word`` objects and returns
for every word an ``Analysis``: its morphemes in order, each with its form, its
letters in the word (None, None if it is not written) and its kind. Whatever it
returns goes through ``validate_analysis`` before it touches a Doc, so an
adapter to an outside tool need not be trusted with the user's text.
"""

from typing import Iterable, Iterator, List, NamedTuple, Protocol, Sequence

from spacy.tokens import Doc

from ..tokens import CLITIC, HOST, KINDS, PREFIX, WORD, Analysis, Morpheme


class Word(NamedTuple):
    """A written word: what stands between spaces and punctuation.

    text (str): Its letters, as in the user's text.
    start (int): Character offset in the text of the document.
    space_after (bool): Whether white space follows.
    """

    text: str
    start: int
    space_after: bool


class Request(NamedTuple):
    """One document to segment.

    words (List[Word]): Its written words in order.
    doc (Doc): The document itself, for backends that look a document up
        (by ``doc._.source``) or need more than its words. Not to be changed.
    """

    words: List[Word]
    doc: Doc


class SegmenterBackend(Protocol):
    """What every backend provides."""

    def segment(self, requests: Iterable[Request]) -> Iterator[List[Analysis]]:
        """Segment documents, in order, as a stream.

        requests (Iterable[Request]): The documents.
        YIELDS (List[Analysis]): One analysis per word of each document.
        """
        ...


def validate_analysis(word: str, analysis: Sequence[Morpheme]) -> None:
    """Check that an analysis accounts for every letter of its word.

    The written morphemes must follow one another without gap or overlap from
    the first letter to the last, none empty; kinds must be known, prefixes
    first and clitics last, and a sole morpheme must be of kind ``word``.

    word (str): The written word, not empty.
    analysis (Sequence[Morpheme]): The proposed morphemes.
    RAISES (ValueError): If the analysis is not valid; the message names the
        word, the morpheme and the rule.
    """
    position = 0
    order = {PREFIX: 0, HOST: 1, CLITIC: 2, WORD: 1}
    highest = 0
    for morpheme in analysis:
        form, start, end, kind = morpheme
        if not form:
            raise ValueError(f"Analysis of {word!r}: a morpheme has no form.")
        if kind not in KINDS:
            raise ValueError(
                f"Analysis of {word!r}: morpheme {form!r} has kind {kind!r}, "
                f"which is none of {', '.join(KINDS)}."
            )
        if (kind == WORD) != (len(analysis) == 1):
            raise ValueError(
                f"Analysis of {word!r}: kind 'word' is for the only morpheme of "
                f"a word, and {form!r} is one of {len(analysis)} of kind {kind!r}."
            )
        if order[kind] < highest:
            raise ValueError(
                f"Analysis of {word!r}: {form!r} ({kind}) stands after a host "
                "or clitic that must follow it."
            )
        highest = order[kind]
        if (start is None) != (end is None):
            raise ValueError(
                f"Analysis of {word!r}: morpheme {form!r} has only one of start "
                "and end; a morpheme that is not written has neither."
            )
        if start is None or end is None:
            continue
        if start != position or not start < end <= len(word):
            raise ValueError(
                f"Analysis of {word!r}: morpheme {form!r} has letters "
                f"{start}:{end}, but the next free letter is {position} of "
                f"{len(word)}; segments must concatenate to the word."
            )
        position = end
    if position != len(word):
        raise ValueError(
            f"Analysis of {word!r}: only letters 0:{position} of {len(word)} "
            "belong to a morpheme; segments must concatenate to the word."
        )
