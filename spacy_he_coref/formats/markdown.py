"""Docs in the Markdown form of the paper's prompts, and back.

A mention is ``[mention](#3)``, 3 the number of its cluster, or ``[mention](#)`` if it
is in none; mentions may be inside each other and inside words: ``[אחי[ה](#1)](#2)``.
The rest is the text, character for character, but for a backslash before ``[``, ``]``,
``_`` and ``\\`` themselves.

Read are also what language models answer to these prompts:

* Labels may stand after several closing brackets, ``[בית של [דנה]](#2)(#1)``: they
  belong to the brackets in the order in which these close.
* Brackets without a label are part of the text.
* A clitic may be written out, as the prompt allows: ``בית_ _של_ _אנחנו``. It is spelled
  as a word again by the rule of ``formats.rebuild``, its morphemes are kept, and what
  was marked in it is marked in the word.
"""

import re
from pathlib import Path
from typing import Dict, Iterator, List, NamedTuple, Optional, Tuple, Union

from spacy.language import Language
from spacy.tokens import Doc

from ..corpus.conllu import CorpusError
from ..corpus.letters import PRONOUN_ENDINGS
from ..tokens import Analysis
from .documents import (
    FileCluster,
    FileMention,
    doc_clusters,
    make_doc,
    offsets,
    put_clusters,
    without_crossing,
)
from .rebuild import spell
from .records import Bounds

_ESCAPED = re.compile(r"[\[\]\\_]")
_LABEL = re.compile(r"\(#([^()\n]*)\)")
_MARK = "\ufeff"
_PRONOUN = f"_(?:{'|'.join(PRONOUN_ENDINGS)})"
_WRITTEN_OUT = re.compile(
    rf"([^\W_]+(?:[\"'״׳][^\W_]+)*)_ (_של_ |את_ )?({_PRONOUN})(?![^\W_])"
)


def render_markdown(doc: Doc, name: str, number: int) -> str:
    """A document in Markdown.

    doc (Doc): The document.
    name (str): Its name.
    number (int): Its number in the file, which the format does not need.
    RETURNS (str): The text with its mentions. Of two mentions that cross the later one
        is left out, with a warning.
    """
    clusters = without_crossing(doc_clusters(doc, name), doc, name, True)
    opening: Dict[int, int] = {}
    closing: Dict[int, List[Tuple[Bounds, str]]] = {}
    label = 0
    for spans in clusters:
        if len(spans) > 1:
            label += 1
        for span in spans:
            start, end = offsets(doc, span)
            opening[start] = opening.get(start, 0) + 1
            mark = str(label) if len(spans) > 1 else ""
            closing.setdefault(end, []).append(((start, end), mark))
    text = doc.text
    output: List[str] = [_MARK] if text.startswith(_MARK) else []
    position = 0
    for place in sorted({*opening, *closing, len(text)}):
        output.append(_ESCAPED.sub(r"\\\g<0>", text[position:place]))
        # Shorter ones close first.
        for _, mark in sorted(closing.get(place, []), key=lambda row: -row[0][0]):
            output.append(f"](#{mark})")
        output.append("[" * opening.get(place, 0))
        position = place
    return "".join(output)


def read_markdown_docs(path: Union[str, Path], nlp: Language) -> Iterator[Doc]:
    """Read a document in Markdown.

    path (Union[str, Path]): The file.
    nlp (Language): The pipeline that cuts the text into words.
    YIELDS (Doc): The document, named after the file.
    RAISES (CorpusError): If a label has no brackets before it, or a mention is empty.
    """
    path = Path(path)
    data = path.read_bytes()
    try:
        source = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise CorpusError(path, line, "not UTF-8. Convert the file first.") from None
    text, literal, mentions = _parse(path, source)
    text, mentions, analyses = _spell_out(text, literal, mentions)
    clusters: Dict[str, List[FileMention]] = {}
    for i, mention in enumerate(mentions):
        key = mention.label or f"({i}"
        found = FileMention(mention.start, mention.end, mention.line)
        clusters.setdefault(key, []).append(found)
    rows = [FileCluster(found) for found in clusters.values()]
    doc = make_doc(nlp, text, path, None)
    yield put_clusters(doc, rows, path.stem, path, None, analyses)


class _Mention(NamedTuple):
    """A mention: its place in the text, its cluster, and its line in the file."""

    start: int
    end: int
    label: str
    line: int


class _Bracket:
    """A pair of brackets, whose label may follow."""

    def __init__(self, start: int, line: int) -> None:
        self.start, self.line = start, line
        self.end = 0
        self.label: Optional[str] = None


def _parse(path: Path, source: str) -> Tuple[str, List[bool], List[_Mention]]:
    """The text without markup, what in it was escaped, and the mentions."""
    labels = _match_labels(path, source)
    text: List[str] = []
    literal: List[bool] = []
    mentions: List[_Mention] = []
    open_: List[_Bracket] = []
    i = 0
    while i < len(source):
        char = source[i]
        if i in labels.skip:
            i = labels.skip[i]
            continue
        if char == "\\" and _ESCAPED.match(source, i + 1):
            text.append(source[i + 1])
            literal.append(True)
            i += 2
            continue
        if i in labels.opening:
            open_.append(_Bracket(len(text), source.count("\n", 0, i) + 1))
        elif i in labels.closing:
            bracket = open_.pop()
            mentions.append(
                _Mention(bracket.start, len(text), labels.closing[i], bracket.line)
            )
        else:
            text.append(char)
            literal.append(False)
        i += 1
    for mention in mentions:
        if mention.start == mention.end:
            raise CorpusError(
                path, mention.line, "a mention without text. Remove its brackets."
            )
    return "".join(text), literal, mentions


class _Labels(NamedTuple):
    """Which brackets are markup.

    opening (Dict[int, int]): The opening ones, and where each is closed.
    closing (Dict[int, str]): The closing ones, with their labels.
    skip (Dict[int, int]): Where each label begins and ends.
    """

    opening: Dict[int, int]
    closing: Dict[int, str]
    skip: Dict[int, int]


def _match_labels(path: Path, source: str) -> _Labels:
    labels = _Labels({}, {}, {})
    open_: List[int] = []
    # Pairs that closed and have no label yet, while only brackets and labels follow.
    waiting: List[Tuple[int, int]] = []
    i = 0
    while i < len(source):
        char = source[i]
        match = _LABEL.match(source, i) if waiting else None
        if match is not None:
            start, end = waiting.pop(0)
            labels.opening[start] = end
            labels.closing[end] = match[1]
            labels.skip[i] = i = match.end()
            continue
        if char == "]" and open_:
            waiting.append((open_.pop(), i))
        else:
            # Brackets without a label are text.
            waiting = []
            if char == "[":
                open_.append(i)
        i += 2 if char == "\\" and _ESCAPED.match(source, i + 1) else 1
    return labels


def _spell_out(
    text: str, literal: List[bool], mentions: List[_Mention]
) -> Tuple[str, List[_Mention], Dict[int, Analysis]]:
    """Spell words with a written-out clitic, and move the mentions along."""
    plain = "".join(
        "\0" if escaped else c for c, escaped in zip(text, literal, strict=True)
    )
    output: List[str] = []
    analyses: Dict[int, Analysis] = {}
    # For each offset the new one.
    moved: List[int] = []
    position = length = 0
    for match in _WRITTEN_OUT.finditer(plain):
        before = text[position : match.start()]
        moved += range(length, length + len(before))
        output.append(before)
        length += len(before)
        host, link, pronoun = match.groups(default="")
        word, analysis = spell([host, *filter(None, [link.strip()]), pronoun])
        cut = analysis[-1].start or 0
        # The host has its letters, the rest up to the pronoun stands after them.
        inner = match.start(3) - match.start()
        moved += [length + min(k, cut) for k in range(inner)]
        moved += [length + cut] + [length + len(word)] * (len(pronoun) - 1)
        # A mention may end after the underscore that marks the host.
        begin = _word_start(plain, match.start())
        if begin == match.start():
            analyses[length] = analysis
        output.append(word)
        length += len(word)
        position = match.end()
    rest = text[position:]
    moved += range(length, length + len(rest) + 1)
    shifted = [
        mention._replace(start=moved[mention.start], end=moved[mention.end])
        for mention in mentions
    ]
    return "".join([*output, rest]), shifted, analyses


def _word_start(text: str, i: int) -> int:
    while i > 0 and not text[i - 1].isspace():
        i -= 1
    return i
