"""Write Docs as CoNLL-U, with mentions as CorefUD has them.

Every morpheme is a word; a written word of several morphemes, or of one that is
spelled otherwise, has a range line. Columns are filled from the tags and trees of the
Doc (``corpus.morphemes``), and what is not there is ``_``. MISC has

* ``Seg=a:b``: letters a to b of the written word are the morpheme's; ``a:a`` if it is
  not written. On the morphemes of a range line.
* ``Span=a:b``: character offsets of the written word in the document. On the line of
  the written word.
* ``SpaceAfter=No`` or ``SpacesAfter=...`` as in Universal Dependencies. On the line of
  the written word.
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
    words = doc_analyses(doc)
    if not words:
        return
    text = doc.text
    ends = [word.start for word in words[1:]] + [len(text)]
    gaps = [text[word.end : end] for word, end in zip(words, ends, strict=True)]
    brackets = _brackets(doc, mentions)
    yield f"# newdoc id = {' '.join(name.split())}"
    if mentions:
        yield f"# global.Entity = {ENTITY_FORMAT}"
    i = position = 0
    for sentence, rows in enumerate(morpheme_sentences(doc), start=1):
        lines: List[str] = []
        first, index = i, 1
        while index <= len(rows):
            size = len(words[i].analysis)
            lines += _word_lines(
                words[i],
                gaps[i],
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
    gap: str,
    index: int,
    rows: Sequence[MorphemeRow],
    brackets: Sequence[str],
) -> Iterator[str]:
    """The lines of a written word.

    word (WordAnalysis): The word.
    gap (str): The white space after it.
    index (int): Number of its first morpheme in the sentence.
    rows (Sequence[MorphemeRow]): The values of its morphemes.
    brackets (Sequence[str]): The brackets of mentions at each.
    YIELDS (str): The lines.
    """
    of_word = [f"Span={word.start}:{word.end}", _space_after(gap)]
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
    return "SpacesAfter=" + "".join(_ESCAPES.get(char, char) for char in gap)


def _brackets(doc: Doc, mentions: Sequence[TypedMention]) -> List[str]:
    """The brackets at each morpheme that is not white space.

    Mentions that begin are opened from the longest to the shortest, those that end
    closed in reverse. Where some end and others begin that go on (they cross), the
    closing ones come first: two names would run together otherwise.
    """
    is_word = [not doc[morpheme.token].is_space for morpheme in doc._.morphemes]
    before = list(accumulate(is_word, initial=0))
    spans = tokens_to_morphemes(doc, [(m.start, m.end) for m in mentions])
    opening: Dict[int, List[str]] = defaultdict(list)
    single: Dict[int, List[str]] = defaultdict(list)
    closing: Dict[int, List[str]] = defaultdict(list)
    bounds = [
        (before[start], before[end] - 1, mention.kind)
        for (start, end), mention in zip(spans, mentions, strict=True)
    ]
    bounds.sort(key=lambda item: (item[0], -item[1]))
    for n, (first, last, kind) in enumerate(bounds, start=1):
        if last == first:
            single[first].append(f"(e{n}-{kind})")
        elif last > first:
            opening[first].append(f"(e{n}-{kind}")
            closing[last].insert(0, f"e{n})")
    output: List[str] = []
    for i in range(before[-1]):
        if opening[i]:
            parts = [*closing[i], *opening[i], *single[i]]
        else:
            parts = [*single[i], *closing[i]]
        output.append("".join(parts))
    return output
