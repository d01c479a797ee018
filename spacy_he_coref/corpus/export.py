"""Write Docs as CoNLL-U, with mentions as CorefUD has them, and as CoNLL-2012.

In both every morpheme is a word. In CoNLL-U a written word of several morphemes, or of
one that is spelled otherwise, has a range line. Columns are filled from the tags and
trees of the Doc (``corpus.morphemes``), and what is not there is ``_``. MISC has

* ``Seg=a:b``: letters a to b of the written word are the morpheme's; ``a:a`` if it is
  not written. On the morphemes of a range line.
* ``Span=a:b``: character offsets of the written word in the document. On the line of
  the written word.
* ``SpaceAfter=No``, ``SpacesAfter=...`` or ``SpacesBefore=...`` as in Universal
  Dependencies. On the line of the written word.
* ``Entity=``: brackets of mentions as in CorefUD 1.0, declared by
  ``# global.Entity = eid-etype``: ``(e7-nominal`` opens a mention, ``e7)`` closes it,
  ``(e8-clitic)`` is one of one morpheme. The type is the mention's kind. Every mention
  is an entity of its own, for an annotator to merge; mentions may nest.
"""

from collections import defaultdict
from itertools import accumulate
from typing import Any, Dict, Iterator, List, NamedTuple, Sequence, Tuple

from spacy.tokens import Doc

from ..segmenter.letters import WordAnalysis, doc_analyses
from ..tokens import tokens_to_morphemes
from .docs import MorphemeRow
from .morphemes import morpheme_sentences

ENTITY_FORMAT = "eid-etype"


class TypedMention(NamedTuple):
    """A mention to be written.

    start (int), end (int): First token and token after the last one.
    kind (str): Its kind, letters only.
    """

    start: int
    end: int
    kind: str


def doc_to_conllu(
    doc: Doc, name: str, number: int, mentions: Sequence[TypedMention] = ()
) -> Iterator[str]:
    """Lines of CoNLL-U, as the module describes them.

    doc (Doc): The document.
    name (str): Its name, for ``# newdoc id``.
    number (int): Its number in the file, from 1; sentences are named by it.
    mentions (Sequence[TypedMention]): The mentions to be written.
    YIELDS (str): The lines without line ends, an empty one after each sentence;
        nothing for a document without words.
    """
    columns: List[List[str]] = []
    if mentions:
        bounds = morpheme_bounds(doc, [(m.start, m.end) for m in mentions])
        order = _opening_order(bounds)
        names = [
            (f"e{n}-{mentions[i].kind}", f"e{n}") for n, i in enumerate(order, start=1)
        ]
        columns = bracket_columns(doc, [bounds[i] for i in order], names)
    fields = ENTITY_FORMAT if mentions else ""
    return conllu_lines(doc, name, number, fields, columns)


def conllu_lines(
    doc: Doc, name: str, number: int, fields: str, columns: Sequence[Sequence[str]]
) -> Iterator[str]:
    """Lines of CoNLL-U with brackets that are known already.

    doc (Doc): The document.
    name (str): Its name, for ``# newdoc id``.
    number (int): Its number in the file, from 1; sentences are named by it.
    fields (str): What ``# global.Entity`` says; empty for no such line.
    columns (Sequence[Sequence[str]]): The brackets of each morpheme
        (``bracket_columns``); empty if there are no mentions.
    YIELDS (str): The lines without line ends, an empty one after each sentence;
        nothing for a document without words.
    """
    words = doc_analyses(doc)
    if not words:
        return
    text = doc.text
    ends = [word.start for word in words[1:]] + [len(text)]
    gaps = [text[word.end : end] for word, end in zip(words, ends, strict=True)]
    spaces = [_space_after(gap) for gap in gaps]
    if gaps[-1] == " ":
        # Where nothing follows, one space is nothing that readers expect.
        spaces[-1] = "SpacesAfter=" + _escape(gaps[-1])
    if words[0].start:
        before = "SpacesBefore=" + _escape(text[: words[0].start])
        spaces[0] = "|".join(filter(None, [before, spaces[0]]))
    brackets = ["".join(column) for column in columns] or [""] * _words_before(doc)[-1]
    yield f"# newdoc id = {' '.join(name.split())}"
    if fields:
        yield f"# global.Entity = {fields}"
    i = position = 0
    for sentence, rows in enumerate(morpheme_sentences(doc), start=1):
        lines: List[str] = []
        first, index = i, 1
        while index <= len(rows):
            size = len(words[i].analysis)
            lines += _word_lines(
                words[i],
                spaces[i],
                index,
                rows[index - 1 : index - 1 + size],
                brackets[position : position + size],
            )
            i, index, position = i + 1, index + size, position + size
        written = text[words[first].start : words[i - 1].end]
        yield f"# sent_id = {number}-{sentence}"
        yield f"# text = {' '.join(written.split())}"
        yield from lines
        yield ""


def _word_lines(
    word: WordAnalysis,
    space: str,
    index: int,
    rows: Sequence[MorphemeRow],
    brackets: Sequence[str],
) -> Iterator[str]:
    """The lines of a written word.

    word (WordAnalysis): The word.
    space (str): What MISC says of the white space around it.
    index (int): Number of its first morpheme in the sentence.
    rows (Sequence[MorphemeRow]): The values of its morphemes.
    brackets (Sequence[str]): The brackets of mentions at each.
    YIELDS (str): The lines.
    """
    of_word = [f"Span={word.start}:{word.end}", space]
    is_range = len(rows) > 1 or rows[0].form != word.text
    if is_range:
        last = index + len(rows) - 1
        yield _line(f"{index}-{last}", word.text, *"_" * 7, of_word)
    for i, (row, bracket) in enumerate(zip(rows, brackets, strict=True)):
        misc = [bracket and f"Entity={bracket}"]
        if is_range:
            start, end = _letters(word, i)
            misc.append(f"Seg={start}:{end}")
        else:
            misc += of_word
        head = "_" if row.head is None else str(row.head)
        yield _line(
            str(index + i),
            row.form,
            row.lemma,
            row.upos,
            "_",
            row.feats,
            head,
            row.deprel,
            "_",
            misc,
        )


def _line(*columns: Any) -> str:
    *values, misc = columns
    return "\t".join((*values, "|".join(filter(None, misc)) or "_"))


def _letters(word: WordAnalysis, i: int) -> Tuple[int, int]:
    """The letters of a morpheme, or the place where it is not written."""
    for morpheme in word.analysis[i:]:
        if morpheme.start is not None and morpheme.end is not None:
            written = morpheme is word.analysis[i]
            return morpheme.start, morpheme.end if written else morpheme.start
    return len(word.text), len(word.text)


_ESCAPES = {" ": r"\s", "\n": r"\n", "\t": r"\t", "\r": r"\r"}


def _space_after(gap: str) -> str:
    if gap == " ":
        return ""
    if not gap:
        return "SpaceAfter=No"
    return "SpacesAfter=" + _escape(gap)


def _escape(gap: str) -> str:
    return "".join(_ESCAPES.get(char, char) for char in gap)


def doc_to_conll2012(
    doc: Doc, name: str, clusters: Sequence[Sequence[Tuple[int, int]]]
) -> Iterator[str]:
    """Lines of CoNLL-2012: a word is a morpheme, the last column has the clusters.

    The twelve columns are separated by tabs: document, part, number of the word in its
    sentence, word, part of speech, six that say nothing, and the brackets of mentions
    with the numbers of their clusters from 1 (``(3`` opens, ``3)`` closes, ``(3)`` is
    one of one morpheme, ``|`` stands between several). Longer mentions open before
    and close after those inside. Two mentions of *one* cluster that cross cannot be
    told from nested ones: the format's own limit.

    doc (Doc): The document.
    name (str): Its name; white space in it becomes ``_``.
    clusters (Sequence[Sequence[Tuple[int, int]]]): The mentions of each cluster, as
        first token and token after the last one.
    YIELDS (str): The lines without line ends, an empty one after each sentence.
    """
    name = "_".join(name.split()) or "-"
    numbers = [str(n) for n, spans in enumerate(clusters, start=1) for _ in spans]
    bounds = morpheme_bounds(doc, [span for spans in clusters for span in spans])
    columns = bracket_columns(doc, bounds, [(number, number) for number in numbers])
    yield f"#begin document ({name}); part 000"
    position = 0
    for rows in morpheme_sentences(doc):
        for i, row in enumerate(rows):
            upos = "-" if row.upos == "_" else row.upos
            brackets = "|".join(columns[position]) or "-"
            yield "\t".join((name, "0", str(i), row.form, upos, *"*----*", brackets))
            position += 1
        yield ""
    yield "#end document"


def morpheme_bounds(
    doc: Doc, spans: Sequence[Tuple[int, int]]
) -> List[Tuple[int, int]]:
    """First and last morpheme of spans, counted without white space.

    doc (Doc): The document.
    spans (Sequence[Tuple[int, int]]): First token and token after the last one.
    RETURNS (List[Tuple[int, int]]): First and last morpheme of each; a span of white
        space only ends before it begins.
    """
    before = _words_before(doc)
    return [
        (before[start], before[end] - 1)
        for start, end in tokens_to_morphemes(doc, spans)
    ]


def _words_before(doc: Doc) -> List[int]:
    is_word = [not doc[morpheme.token].is_space for morpheme in doc._.morphemes]
    return list(accumulate(is_word, initial=0))


def _opening_order(bounds: Sequence[Tuple[int, int]]) -> List[int]:
    return sorted(range(len(bounds)), key=lambda i: (bounds[i][0], -bounds[i][1]))


def bracket_columns(
    doc: Doc, bounds: Sequence[Tuple[int, int]], names: Sequence[Tuple[str, str]]
) -> List[List[str]]:
    """The brackets at each morpheme that is not white space.

    Mentions that begin are opened from the longest to the shortest, those that end
    closed in reverse. Where some end and others begin that go on (they cross), the
    closing ones come first: two names would run together otherwise.

    doc (Doc): The document.
    bounds (Sequence[Tuple[int, int]]): First and last morpheme of each mention.
    names (Sequence[Tuple[str, str]]): What stands in the opening bracket of each, and
        in the closing one.
    RETURNS (List[List[str]]): The brackets at each.
    """
    opening: Dict[int, List[str]] = defaultdict(list)
    single: Dict[int, List[str]] = defaultdict(list)
    closing: Dict[int, List[str]] = defaultdict(list)
    for i in _opening_order(bounds):
        (first, last), (begin, end) = bounds[i], names[i]
        if last == first:
            single[first].append(f"({begin})")
        elif last > first:
            opening[first].append(f"({begin}")
            closing[last].insert(0, f"{end})")
    return [
        [*closing[i], *opening[i], *single[i]]
        if opening[i]
        else [*single[i], *closing[i]]
        for i in range(_words_before(doc)[-1])
    ]
