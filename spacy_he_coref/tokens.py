"""The morpheme layer on Doc and Token: what each segment stands for.

A spaCy token of a segmented text is one written segment of a written word
(ב|שטחים); morphemes that are not written (the covert article of שטחים) are
attributes of the segment that they belong to. Everything lives in
``doc.user_data`` under the keys of spaCy's own extension attributes, which
``to_bytes``, ``DocBin``, pickling, ``Doc.copy``, ``Span.as_doc`` and
``Doc.from_docs`` carry along.
"""

from typing import Any, Dict, Iterable, List, NamedTuple, Optional, Sequence, Tuple

from spacy.tokens import Doc, Span, Token

PREFIX = "prefix"
HOST = "host"
CLITIC = "clitic"
WORD = "word"
KINDS = (PREFIX, HOST, CLITIC, WORD)

COVERT_ARTICLE = "ה_"

# Private stores. ANALYSIS is the segmenter's decision on a written word, under
# the offset of its first letter; the retokenizer turns it into SEGMENT entries,
# one under the offset of each segment.
ANALYSIS = "he_analysis"
SEGMENT = "he_segment"


class Morpheme(NamedTuple):
    """One morpheme of a written word.

    form (str): The form in the scheme of HTB and KibutzR. A trailing underscore
        marks a morpheme that is not written (``ה_``, ``_של_``), a leading one
        a pronoun written as a suffix (``_הוא``).
    start (Optional[int]): First letter in the written word, or None if the
        morpheme is not written.
    end (Optional[int]): Letter after the last one, or None.
    kind (str): ``prefix``, ``host``, ``clitic``, or ``word`` for the only
        morpheme of a word. Unwritten morphemes have the kind of what they go
        with: the covert article is a prefix, ``_של_`` and ``את_`` are clitics.
    """

    form: str
    start: Optional[int]
    end: Optional[int]
    kind: str

    @property
    def written(self) -> bool:
        """Whether letters of the word belong to the morpheme."""
        return self.start is not None


Analysis = Tuple[Morpheme, ...]


class DocMorpheme(NamedTuple):
    """One morpheme of a Doc.

    form (str): The form in the scheme of HTB and KibutzR.
    token (int): Index of the segment (token) that stands for the morpheme.
    written (bool): Whether it is the morpheme that the token's letters spell.
    kind (str): Segment kind of the token.
    """

    form: str
    token: int
    written: bool
    kind: str


class Segment(NamedTuple):
    """A written segment of a word with the morphemes that it stands for.

    text (str): The letters, a slice of the written word.
    start (int): Offset of the first letter in the written word.
    kind (str): ``prefix``, ``host``, ``clitic`` or ``word``.
    morphemes (Tuple[str, ...]): Forms in order; unwritten ones belong to the
        written one that follows, or at the end of a word to the last one.
    written (int): Index in ``morphemes`` of the one that is written.
    """

    text: str
    start: int
    kind: str
    morphemes: Tuple[str, ...]
    written: int


def segments(word: str, analysis: Sequence[Morpheme]) -> List[Segment]:
    """Group the morphemes of a word into its written segments.

    word (str): The written word.
    analysis (Sequence[Morpheme]): A valid analysis of it
        (see ``segmenter.contract.validate_analysis``).
    RETURNS (List[Segment]): At least one segment; their texts concatenate to
        the word.
    """
    output: List[Segment] = []
    waiting: List[str] = []
    for morpheme in analysis:
        if morpheme.start is None or morpheme.end is None:
            waiting.append(morpheme.form)
            continue
        text = word[morpheme.start : morpheme.end]
        forms = (*waiting, morpheme.form)
        output.append(Segment(text, morpheme.start, morpheme.kind, forms, len(waiting)))
        waiting = []
    if waiting and output:
        last = output[-1]
        output[-1] = last._replace(morphemes=(*last.morphemes, *waiting))
    return output


def is_trivial(word: str, analysis: Sequence[Morpheme]) -> bool:
    """Whether an analysis says that a word is one morpheme, spelled as it is.

    word (str): The written word.
    analysis (Sequence[Morpheme]): Its analysis.
    RETURNS (bool): True if there is nothing to store about the word.
    """
    return len(analysis) == 1 and analysis[0].form == word


def trivial_analysis(word: str) -> Analysis:
    """The analysis of a word that is one morpheme.

    word (str): The written word.
    RETURNS (Analysis): One morpheme of kind ``word``.
    """
    return (Morpheme(word, 0, len(word), WORD),)


def _key(name: str, offset: int) -> Any:
    return ("._.", name, offset, None)


def set_analysis(doc: Doc, offset: int, word: str, analysis: Analysis) -> None:
    """Store the decision on one written word, for the retokenizer to apply.

    doc (Doc): The document.
    offset (int): Character offset of the word in the text.
    word (str): The written word.
    analysis (Analysis): Its morphemes.
    """
    doc.user_data[_key(ANALYSIS, offset)] = [
        len(word),
        [[m.form, m.start, m.end, m.kind] for m in analysis],
    ]


def pending_analyses(doc: Doc) -> Dict[int, Tuple[int, Analysis]]:
    """The decisions on a document that have not been applied yet.

    doc (Doc): The document.
    RETURNS (Dict[int, Tuple[int, Analysis]]): For the character offset of each
        decided word, its length and its morphemes.
    """
    found: Dict[int, Tuple[int, Analysis]] = {}
    stored: Dict[Any, Any] = doc.user_data
    for key, value in stored.items():
        if _is_store(key, ANALYSIS):
            length, rows = value
            found[key[2]] = (length, tuple(Morpheme(*row) for row in rows))
    return found


def clear_analyses(doc: Doc) -> None:
    """Forget the decisions that have not been applied yet.

    doc (Doc): The document.
    """
    for key in [k for k in doc.user_data if _is_store(k, ANALYSIS)]:
        del doc.user_data[key]


def _is_store(key: Any, name: str) -> bool:
    return isinstance(key, tuple) and len(key) == 4 and key[:2] == ("._.", name)


def is_segment_key(key: Any) -> bool:
    """Whether a key of ``doc.user_data`` belongs to the morpheme layer.

    key (Any): The key.
    RETURNS (bool): True for entries of this module.
    """
    return _is_store(key, SEGMENT) or _is_store(key, ANALYSIS)


def set_segment(doc: Doc, offset: int, segment: Segment, word_length: int) -> None:
    """Store what the token at an offset stands for.

    doc (Doc): The document, already split.
    offset (int): Character offset of the token in the text.
    segment (Segment): Its segment.
    word_length (int): Letters of the written word that it belongs to.
    """
    doc.user_data[_key(SEGMENT, offset)] = [
        segment.kind,
        list(segment.morphemes),
        segment.written,
        segment.start,
        word_length,
    ]


def copy_segments(tokens: Span, doc: Doc) -> None:
    """Copy the morpheme layer of a stretch of tokens to a Doc of its own.

    tokens (Span): The tokens.
    doc (Doc): A Doc of the same tokens, from its first one on.
    """
    origin = tokens.start_char
    for token in tokens:
        row = get_segment(token)
        if row is not None:
            doc.user_data[_key(SEGMENT, token.idx - origin)] = row


def get_segment(token: Token) -> Optional[Sequence[Any]]:
    """The stored row of a token: kind, morphemes, written, start, word length.

    token (Token): The token.
    RETURNS (Optional[Sequence]): None for a token that is a word of one morpheme.
    """
    return token.doc.user_data.get(_key(SEGMENT, token.idx))


def word_bounds(doc: Doc) -> List[Tuple[int, int]]:
    """The written words of a document.

    doc (Doc): The document, split into segments or not.
    RETURNS (List[Tuple[int, int]]): First token and token after the last one of
        each written word, in order. A token without a segment entry is a word.
    """
    bounds: List[Tuple[int, int]] = []
    i = 0
    length = len(doc)
    while i < length:
        start = i
        token = doc[i]
        row = get_segment(token)
        i += 1
        if row is not None:
            # Entries of a Doc that was cut inside a word may miss their begin.
            end = token.idx - row[3] + row[4]
            while i < length and doc[i].idx < end:
                i += 1
        bounds.append((start, i))
    return bounds


def is_segmented(doc: Doc) -> bool:
    """Whether any word of the document has been analysed into morphemes.

    doc (Doc): The document.
    RETURNS (bool): True if the morpheme layer holds an applied decision.
    """
    return any(_is_store(key, SEGMENT) for key in doc.user_data)


def _get_word(token: Token) -> Span:
    row = get_segment(token)
    if row is None:
        return token.doc[token.i : token.i + 1]
    start = end = token.i
    first = token.idx - row[3]
    last = first + row[4]
    while start > 0 and token.doc[start - 1].idx >= first:
        start -= 1
    while end + 1 < len(token.doc) and token.doc[end + 1].idx < last:
        end += 1
    return token.doc[start : end + 1]


def _get_segment_kind(token: Token) -> str:
    row = get_segment(token)
    return WORD if row is None else row[0]


def _get_token_morphemes(token: Token) -> Tuple[str, ...]:
    row = get_segment(token)
    return (token.text,) if row is None else tuple(row[1])


def _get_doc_morphemes(doc: Doc) -> Tuple[DocMorpheme, ...]:
    output: List[DocMorpheme] = []
    for token in doc:
        row = get_segment(token)
        if row is None:
            output.append(DocMorpheme(token.text, token.i, True, WORD))
            continue
        for i, form in enumerate(row[1]):
            output.append(DocMorpheme(form, token.i, i == row[2], row[0]))
    return tuple(output)


def tokens_to_morphemes(
    doc: Doc, spans: Iterable[Tuple[int, int]]
) -> List[Tuple[int, int]]:
    """Project token spans to morpheme spans (design section 1).

    A span that starts at a token with a covert article includes the article;
    so does every other unwritten morpheme before the written one of a later
    token. A span that starts at a clitic starts at the pronoun, not at its
    unwritten ``_של_`` or ``את_``. Unwritten morphemes after the last written
    one are outside.

    doc (Doc): The document.
    spans (Iterable[Tuple[int, int]]): Spans as first token and token after the
        last one.
    RETURNS (List[Tuple[int, int]]): First morpheme and morpheme after the last
        one of each, counted as in ``doc._.morphemes``.
    """
    starts: List[int] = []
    written: List[int] = []
    position = 0
    for token in doc:
        row = get_segment(token)
        if row is None:
            starts.append(position)
            written.append(position)
            position += 1
            continue
        here = position + row[2]
        written.append(here)
        start = here
        while start > position and row[1][start - 1 - position] == COVERT_ARTICLE:
            start -= 1
        starts.append(start)
        position += len(row[1])
    return [(starts[first], written[last - 1] + 1) for first, last in spans]


def morphemes_to_tokens(
    doc: Doc, spans: Iterable[Tuple[int, int]]
) -> List[Optional[Tuple[int, int]]]:
    """Project morpheme spans to token spans: first to last written segment.

    doc (Doc): The document.
    spans (Iterable[Tuple[int, int]]): First morpheme and morpheme after the
        last one, counted as in ``doc._.morphemes``.
    RETURNS (List[Optional[Tuple[int, int]]]): First token and token after the
        last one of each span; None where no morpheme of the span is written.
    """
    morphemes = doc._.morphemes
    # For each morpheme, the token of the next written one (from it on) and of
    # the previous one (up to it).
    following: List[int] = [0] * len(morphemes)
    upcoming = len(doc)
    for i in range(len(morphemes) - 1, -1, -1):
        if morphemes[i].written:
            upcoming = morphemes[i].token
        following[i] = upcoming
    previous: List[int] = []
    latest = -1
    for morpheme in morphemes:
        if morpheme.written:
            latest = morpheme.token
        previous.append(latest)
    output: List[Optional[Tuple[int, int]]] = []
    for first, last in spans:
        start, end = following[first], previous[last - 1] + 1
        output.append((start, end) if start < end else None)
    return output


def register_extensions() -> None:
    """Set the extension attributes of the package; safe to call again."""
    Token.set_extension("word", getter=_get_word, force=True)
    Token.set_extension("segment_kind", getter=_get_segment_kind, force=True)
    Token.set_extension("morphemes", getter=_get_token_morphemes, force=True)
    Doc.set_extension("morphemes", getter=_get_doc_morphemes, force=True)
    Doc.set_extension("source", default=None, force=True)
