"""Kinds of mentions, for figures by kind.

The kind depends on the span and the tree alone, not on what other mentions there
are, so that gold mentions and candidates are counted alike.
"""

from spacy.tokens import Doc, Token

from ..tokens import CLITIC as CLITIC_SEGMENT
from ..tokens import get_segment

CLITIC = "clitic"
PRONOUN = "pronoun"
COORDINATED = "coordinated"
NAME = "name"
NESTED = "nested"
NOMINAL = "nominal"
KINDS = (CLITIC, PRONOUN, NAME, NOMINAL, NESTED, COORDINATED)

_NOMINAL_POS = {"NOUN", "PROPN", "PRON", "NUM", "ADJ", "X"}


def mention_kind(doc: Doc, start: int, end: int) -> str:
    """The kind of a mention: the first that fits, in this order.

    - ``clitic``: one token that is the pronoun at the end of a word (בית|**ו**);
    - ``coordinated``: the head has a conjunct inside the mention (דנה ויוסי);
    - ``pronoun``: the head is a pronoun (הוא, ה זה);
    - ``name``: the head is a proper noun, or a noun to which a name is joined
      (העיר חיפה is, נשיא המדינה is not);
    - ``nested``: the head depends on a nominal word outside of the mention
      (הממשלה in ראש הממשלה, השכונה in ילדי השכונה);
    - ``nominal``: every other one.

    The head is that of ``mention_head``.
    A Doc without trees has no ``coordinated`` and ``nested`` ones.

    doc (Doc): The document.
    start (int): First token of the mention.
    end (int): Token after the last one.
    RETURNS (str): One of ``KINDS``.
    """
    if end - start == 1:
        row = get_segment(doc[start])
        if row is not None and row[0] == CLITIC_SEGMENT:
            return CLITIC
    head = mention_head(doc, start, end)
    inside = [doc[i] for i in range(start, end) if doc[i].head.i == head.i]
    if any(token.dep_ == "conj" for token in inside):
        return COORDINATED
    if head.pos_ == "PRON":
        return PRONOUN
    if head.pos_ == "PROPN" or any(token.dep_ == "flat:name" for token in inside):
        return NAME
    outer = head.head
    if outer.i != head.i and outer.pos_ in _NOMINAL_POS and head.dep_ != "conj":
        return NESTED
    return NOMINAL


def mention_head(doc: Doc, start: int, end: int) -> Token:
    """The head of a mention: its first token that hangs from a token outside.

    doc (Doc): The document, with a tree or not.
    start (int), end (int): First token and token after the last one.
    RETURNS (Token): The head; the first token if all hang from each other. Of an empty
        span the token after it, at the end of the document the last one.
    """
    for token in doc[start:end]:
        if token.head.i == token.i or not start <= token.head.i < end:
            return token
    return doc[min(start, len(doc) - 1)]
