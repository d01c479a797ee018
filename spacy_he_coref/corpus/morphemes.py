"""From the tags and trees of segments to rows of treebank morphemes.

``corpus.docs`` folds the morphemes of the treebank to one token per written segment
(design section 1). Here they are unfolded again, so that what a pipeline says about
segments can be compared with the treebank and written as CoNLL-U. The morphemes that
are not written have the values that nearly all of them have in the treebank:

* the covert article ``ה_`` is a DET (``PronType=Art``), ``det:def`` of its host; the
  ``Definite=Def`` that the host has from it is taken away;
* ``_של_`` is an ADP, ``case:gen`` of its clitic;
* ``את_`` is an ADP (``Case=Acc``), ``case`` of its clitic.
"""

from typing import Dict, List, Optional, Sequence

from spacy.tokens import Doc, Token

from ..tokens import COVERT_ARTICLE, get_segment, word_bounds
from .docs import ROOT, MorphemeRow
from .letters import ACCUSATIVE, POSSESSIVE, bare

_UNWRITTEN = {
    COVERT_ARTICLE: ("ה", "DET", "PronType=Art", "det:def"),
    POSSESSIVE: ("של", "ADP", "_", "case:gen"),
    ACCUSATIVE: ("את", "ADP", "Case=Acc", "case"),
}
_DEFINITE = "Definite=Def"


def morpheme_tree(doc: Doc) -> List[MorphemeRow]:
    """The morphemes of a Doc with the values of its segments.

    doc (Doc): The document, tagged and parsed or not.
    RETURNS (List[MorphemeRow]): One row per morpheme, as in ``doc._.morphemes`` but
        without white space. Heads count from 1 in their sentence
        (see ``morpheme_sentences``).
    """
    return [row for sentence in morpheme_sentences(doc) for row in sentence]


def morpheme_sentences(doc: Doc) -> List[List[MorphemeRow]]:
    """The morphemes of a Doc, sentence by sentence.

    Every tree has one root and no cycle: further roots, segments whose head is
    outside of the sentence, and one segment of each cycle hang from the first root.
    A sentence in which a segment has no relation has no tree; the heads of its
    morphemes are None.

    doc (Doc): The document, tagged and parsed or not.
    RETURNS (List[List[MorphemeRow]]): The rows of each of ``sentence_tokens``.
    """
    return [_sentence_rows(tokens) for tokens in sentence_tokens(doc)]


def sentence_tokens(doc: Doc) -> List[List[Token]]:
    """The sentences of a Doc without white space.

    A written word is in one sentence: the one that it begins in.

    doc (Doc): The document.
    RETURNS (List[List[Token]]): The tokens of each sentence that is not only white
        space; all in one if the document has no sentences.
    """
    sentences: List[List[Token]] = [[]]
    for first, last in word_bounds(doc):
        if doc[first].is_sent_start and sentences[-1]:
            sentences.append([])
        sentences[-1].extend(token for token in doc[first:last] if not token.is_space)
    return [tokens for tokens in sentences if tokens]


def _sentence_rows(tokens: Sequence[Token]) -> List[MorphemeRow]:
    # The number of the morpheme that each token spells.
    numbers: Dict[int, int] = {}
    total = 0
    for token in tokens:
        row = get_segment(token)
        numbers[token.i] = total + 1 + (0 if row is None else row[2])
        total += 1 if row is None else len(row[1])
    heads = _heads(tokens, numbers)
    rows: List[MorphemeRow] = []
    for token, head in zip(tokens, heads, strict=True):
        rows.extend(_token_rows(token, head, numbers[token.i]))
    return rows


def _heads(tokens: Sequence[Token], numbers: Dict[int, int]) -> Sequence[Optional[int]]:
    """The number of each token's head, 0 for the root; None without a tree."""
    if not all(token.dep_ for token in tokens):
        return [None] * len(tokens)
    index = {token.i: i for i, token in enumerate(tokens)}
    up = [index.get(_head(token).i, i) for i, token in enumerate(tokens)]
    root = next((i for i, head in enumerate(up) if head == i), 0)
    good = {root}
    for i in range(len(up)):
        trail: List[int] = []
        while i not in good:
            if up[i] == i or i in trail:
                up[i] = root
            trail.append(i)
            i = up[i]
        good.update(trail)
    return [0 if i == root else numbers[tokens[head].i] for i, head in enumerate(up)]


def _head(token: Token) -> Token:
    """The head of a token; white space is climbed over."""
    head = token.head
    seen = set()
    while head.is_space and head.i not in seen:
        seen.add(head.i)
        head = head.head
    return head


def _token_rows(token: Token, head: Optional[int], number: int) -> List[MorphemeRow]:
    row = get_segment(token)
    forms, written = ((token.text,), 0) if row is None else (row[1], row[2])
    feats = str(token.morph)
    if COVERT_ARTICLE in forms:
        feats = "|".join(f for f in feats.split("|") if f != _DEFINITE)
    if head is None:
        deprel = "_"
    elif head == 0:
        deprel = "root"
    else:
        # A root that hangs from another one.
        deprel = "dep" if token.dep_ == ROOT else token.dep_
    values = (token.lemma_ or "_", token.pos_ or "_", feats or "_")
    output: List[MorphemeRow] = []
    for i, form in enumerate(forms):
        if i == written:
            output.append(MorphemeRow(form, *values, head, deprel))
            continue
        lemma, upos, its_feats, relation = _UNWRITTEN.get(
            form, (bare(form), "X", "_", "dep")
        )
        if head is None:
            output.append(MorphemeRow(form, lemma, upos, its_feats, None, "_"))
        else:
            output.append(MorphemeRow(form, lemma, upos, its_feats, number, relation))
    return output
