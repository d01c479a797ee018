"""Small documents with hand-written trees."""

from functools import cache
from typing import List

import spacy
from spacy.tokens import Doc
from spacy.vocab import Vocab

# Registers the component, also where the package is not installed.
import spacy_he_coref.mentions.component  # noqa: F401
from spacy_he_coref.mentions import Settings, find_candidates
from spacy_he_coref.tokens import (
    CLITIC,
    HOST,
    PREFIX,
    WORD,
    Segment,
    set_segment,
)

# דבריו של השר הודפסו: a clitic, a possessive and an article.
SPEECH = """
דברי+ NOUN nsubj 6
ו PRON nmod:poss 1
של ADP case:gen 5
ה+ DET det:def 5
שר NOUN nmod:poss 1
הודפסו VERB ROOT 0
. PUNCT punct 6
"""


@cache
def vocabulary() -> Vocab:
    """A Hebrew vocabulary that all documents share."""
    return spacy.blank("he").vocab


def tree(rows: str, lemmas: bool = True) -> Doc:
    """A document of one or more sentences.

    A row has a segment, with ``+`` if the next one continues the word, tag, relation,
    head (counted from 1 in the sentence), and if there is more, ``article`` for an
    article that is not written, ``definite`` or ``lemma=...``. Empty lines are
    between sentences.
    """
    words: List[str] = []
    spaces: List[bool] = []
    pos: List[str] = []
    deps: List[str] = []
    heads: List[int] = []
    names: List[str] = []
    morphs: List[str] = []
    covert: List[bool] = []
    for block in rows.strip().split("\n\n"):
        first = len(words)
        for row in block.split("\n"):
            text, tag, dep, head, *more = row.split(" ")
            joined = len(text) > 1 and text.endswith("+")
            words.append(text[:-1] if joined else text)
            spaces.append(not joined)
            pos.append(tag)
            deps.append(dep)
            heads.append(first + int(head) - 1 if int(head) else len(words) - 1)
            named = [value[6:] for value in more if value.startswith("lemma=")]
            names.append(named[0] if named else words[-1])
            covert.append("article" in more)
            definite = covert[-1] or "definite" in more
            morphs.append("Definite=Def" if definite else "")
    doc = Doc(
        vocabulary(),
        words=words,
        spaces=spaces,
        pos=pos,
        deps=deps,
        heads=heads,
        morphs=morphs,
        lemmas=names if lemmas else [""] * len(words),
    )
    _set_segments(doc, covert)
    return doc


def _set_segments(doc: Doc, covert: List[bool]) -> None:
    start = 0
    while start < len(doc):
        end = start + 1
        while end < len(doc) and not doc[end - 1].whitespace_:
            end += 1
        if end - start > 1:
            length = sum(len(token) for token in doc[start:end])
            clitic = doc[end - 1].pos_ == "PRON"
            host = end - 2 if clitic else end - 1
            for token in doc[start:end]:
                kind = HOST if token.i == host else PREFIX if token.i < host else CLITIC
                forms = ("ה_", token.text) if covert[token.i] else (token.text,)
                offset = token.idx - doc[start].idx
                segment = Segment(token.text, offset, kind, forms, len(forms) - 1)
                set_segment(doc, token.idx, segment, length)
        elif covert[start]:
            token = doc[start]
            segment = Segment(token.text, 0, WORD, ("ה_", token.text), 1)
            set_segment(doc, token.idx, segment, len(token))
        start = end


def texts(rows: str, setting: str = "balanced") -> List[str]:
    """The mentions of a document, as segments with spaces between them."""
    doc = tree(rows)
    candidates = find_candidates(doc, Settings(setting))
    return [" ".join(token.text for token in doc[c.start : c.end]) for c in candidates]


def rules(rows: str, setting: str = "balanced") -> List[str]:
    """The names of the rules that found the mentions of a document."""
    return [c.rule for c in find_candidates(tree(rows), Settings(setting))]
