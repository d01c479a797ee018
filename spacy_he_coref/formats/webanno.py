"""Docs as WebAnno TSV 3.3, as INCEpTION imports and exports it, and back.

Clusters are chains of the layer Coreference, whose links have neither type nor
relation. Tokens are the written words; a mention inside a word is a sub-token
(``1-2.1``). The format counts characters as Java does, in units of UTF-16. INCEpTION's
reader fills the space between two sentences with a line end and spaces; where the text
has something else, it stands at the end of the sentence before. It cannot import a
document without words.
"""

import re
from bisect import bisect_left, bisect_right
from pathlib import Path
from typing import Dict, Iterator, List, NamedTuple, Sequence, Tuple, Union

from spacy.language import Language
from spacy.tokens import Doc

from ..corpus.conllu import CorpusError, read_lines
from ..tokens import word_bounds
from .documents import (
    FileCluster,
    FileMention,
    doc_clusters,
    make_doc_of_words,
    offsets,
    put_clusters,
    warn_loss,
)
from .records import Bounds

FORMAT = "#FORMAT=WebAnno TSV "
CHAIN = "#T_CH="
LAYER = "de.tudarmstadt.ukp.dkpro.core.api.coref.type.CoreferenceLink"
RELATION, TYPE = "referenceRelation", "referenceType"
TEXT = "#Text="
_VERSION = re.compile(re.escape(FORMAT) + r"3\.\d+\s*")
_LINK = re.compile(r".*->(\d+)-(\d+)")
_ID = re.compile(r"(\d+)-(\d+)(?:\.(\d+))?")
_STACKED = re.compile(r"(?<!\\)\|")
# What escapes are of: control characters stand as they are after a backslash.
_ESCAPES = {
    "\t": r"\t", "\n": r"\n", "\f": r"\f", "\r": r"\r", "\b": r"\b", "\\": r"\\",
    **{chr(i): "\\" + chr(i) for i in range(32) if not 8 <= i <= 13},
}  # fmt: skip
_UNESCAPES = {value: key for key, value in _ESCAPES.items()}
_ESCAPED = re.compile(r"\\.", re.DOTALL)

# The units of a word, by their characters, each with the links over it as chain and
# place in the chain.
Units = Dict[Bounds, List[Tuple[int, int]]]


def render_webanno(doc: Doc, name: str, number: int) -> str:
    """A document as WebAnno TSV.

    doc (Doc): The document.
    name (str): Its name.
    number (int): Its number in the file, which the format does not need.
    RETURNS (str): The content of the file.
    """
    output = [f"{FORMAT}3.3", f"{CHAIN}{LAYER}|{RELATION}|{TYPE}", ""]
    sentences = _sentences(doc)
    if not sentences:
        warn_loss(name, "it has no words, so INCEpTION cannot import it.")
    units = iter(_units(doc, name, [word for words in sentences for word in words]))
    text = doc.text
    count = _Utf16(text)
    begins = [words[0][0] for words in sentences]
    if sentences and text[: begins[0]].strip(" "):
        warn_loss(name, "white space before the first word becomes spaces.")
    for n, words in enumerate(sentences, start=1):
        end = words[-1][1]
        after = begins[n] if n < len(begins) else len(text)
        # What the reader fills in need not be written.
        if n == len(begins) or text[end:after] != _filling(after - end):
            end = after
        output.append("")
        for line in text[words[0][0] : end].split("\n"):
            output.append(TEXT + "".join(_ESCAPES.get(char, char) for char in line))
        for i, word in enumerate(words, start=1):
            links = next(units)
            output.append(_row(f"{n}-{i}", word, text, count, links.pop(word, [])))
            for k, unit in enumerate(sorted(links), start=1):
                output.append(_row(f"{n}-{i}.{k}", unit, text, count, links[unit]))
    return "".join(f"{line}\n" for line in output)


def _filling(length: int) -> str:
    """What INCEpTION's reader puts between two sentences."""
    return ("\n" + " " * length)[:length]


def _sentences(doc: Doc) -> List[List[Bounds]]:
    """The written words of each sentence, as character offsets."""
    sentences: List[List[Bounds]] = [[]]
    for first, last in word_bounds(doc):
        if doc[first].is_sent_start and sentences[-1]:
            sentences.append([])
        if not doc[first].is_space:
            sentences[-1].append(offsets(doc, (first, last)))
    return [words for words in sentences if words]


def _units(doc: Doc, name: str, words: Sequence[Bounds]) -> List[Units]:
    """The links over each word, or over a part of it."""
    units: List[Units] = [{} for _ in words]
    starts = [start for start, _ in words]
    for chain, spans in enumerate(doc_clusters(doc, name), start=1):
        for place, span in enumerate(spans, start=1):
            start, end = offsets(doc, span)
            i = bisect_right(starts, start) - 1
            while i < len(words) and words[i][0] < end:
                unit = max(words[i][0], start), min(words[i][1], end)
                if unit[0] < unit[1]:
                    units[i].setdefault(unit, []).append((chain, place))
                i += 1
    return units


def _row(
    number: str,
    unit: Bounds,
    text: str,
    count: "_Utf16",
    links: Sequence[Tuple[int, int]],
) -> str:
    start, end = unit
    places = f"{count.units(start)}-{count.units(end)}"
    relation = "|".join(f"*->{chain}-{place}" for chain, place in links) or "_"
    kind = "|".join(f"*[{chain}]" for chain, _ in links) or "_"
    # INCEpTION too ends its lines in a tab.
    return "\t".join((number, places, text[start:end], relation, kind, ""))


class _Utf16:
    """Counts the units of UTF-16 before a character, and back."""

    def __init__(self, text: str) -> None:
        # Characters beyond the Basic Multilingual Plane have two units.
        self.wide = [i for i, char in enumerate(text) if ord(char) > 0xFFFF]
        self.shifted = [i + n for n, i in enumerate(self.wide)]

    def units(self, place: int) -> int:
        return place + bisect_left(self.wide, place)

    def characters(self, units: int) -> int:
        return units - bisect_left(self.shifted, units)


def read_webanno_docs(path: Union[str, Path], nlp: Language) -> Iterator[Doc]:
    """Read a document in WebAnno TSV 3.

    Every chain layer is read (Coreference and custom ones), other layers are not. Of
    the white space before the first word only the length is known.

    path (Union[str, Path]): The file.
    nlp (Language): A pipeline, for its vocabulary.
    YIELDS (Doc): The document, named after the file; its sentences and words are those
        of the file.
    RAISES (CorpusError): If the file is of another format, a line does not fit those
        before it, or the offsets do not fit the text.
    """
    path = Path(path)
    reader = _Reader(path)
    for number, line in enumerate(read_lines(path), start=1):
        reader.read(number, line)
    text, mentions = reader.end()
    count = _Utf16(text)
    words: List[Bounds] = []
    for token in reader.tokens:
        start, end = count.characters(token.start), count.characters(token.end)
        late = bool(words) and start < words[-1][1]
        if late or not start < end or text[start:end] != token.text:
            raise CorpusError(
                path,
                token.line,
                f"the token {token.text!r} is not at {token.start}-{token.end} of the "
                "text, after the tokens before it. Correct the offsets; they are in "
                "units of UTF-16.",
            )
        words.append((start, end))
    clusters = [
        FileCluster(
            [
                FileMention(count.characters(start), count.characters(end), line)
                for start, end, line in found
            ]
        )
        for found in mentions
    ]
    starts = [count.characters(start) for start in reader.sentences]
    doc = make_doc_of_words(nlp, text, words, starts)
    yield put_clusters(doc, clusters, path.stem, path)


class _Token(NamedTuple):
    """A token line.

    start (int), end (int): Its offsets, in units of UTF-16.
    text (str): Its letters.
    line (int): Its line.
    """

    start: int
    end: int
    text: str
    line: int


class _Reader:
    """Reads the lines of a file, as INCEpTION's reader does."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.layers: List[List[str]] = []
        self.text = ""
        # Units of UTF-16 that the text has.
        self.length = 0
        # The text of the sentence whose first token is still to come.
        self.waiting: List[str] = []
        self.in_sentence = False
        self.sentences: List[int] = []
        self.tokens: List[_Token] = []
        # Chains by layer and number; for each link its offsets and line.
        self.chains: Dict[Tuple[int, int], Dict[int, List[int]]] = {}
        self.lines = 0

    def error(self, line: int, text: str) -> CorpusError:
        return CorpusError(self.path, line, text)

    def read(self, number: int, line: str) -> None:
        self.lines = number
        if number == 1:
            if _VERSION.fullmatch(line) is None:
                raise self.error(
                    1,
                    f"the first line must be like '{FORMAT}3.3'. Export the document "
                    "as WebAnno TSV v3.3.",
                )
        elif not line.strip():
            self.in_sentence = False
        elif self.in_sentence:
            self._token(number, line)
        elif line.startswith("#T_") and not self.tokens:
            fields = line.partition("=")[2].split("|")
            names = [name for name in fields[1:] if name] or [""]
            chain = line.startswith(CHAIN)
            self.layers.append(names if chain else [""] * len(names))
        elif line.startswith(TEXT):
            text = line[len(TEXT) :]
            self.waiting.append(
                _ESCAPED.sub(lambda pair: _UNESCAPES.get(pair[0], pair[0]), text)
            )
        elif line.startswith("#"):
            return
        else:
            if not self.waiting:
                raise self.error(
                    number,
                    f"a token before the text of its sentence. Put a line '{TEXT}...' "
                    "before the first one.",
                )
            self.in_sentence = True
            self._token(number, line)

    def _token(self, number: int, line: str) -> None:
        columns = line.split("\t")
        expected = 3 + sum(len(names) for names in self.layers)
        match = _ID.fullmatch(columns[0])
        begin, _, end = (columns[1] if len(columns) > 1 else "").partition("-")
        fits = len(columns) >= expected and begin.isdigit() and end.isdigit()
        if match is None or not fits:
            raise self.error(
                number,
                f"a token must have at least {expected} columns separated by tabs: a "
                "number like 1-1, offsets like 0-3, letters, and the layers. Restore "
                "them.",
            )
        start = int(begin)
        if self.waiting:
            self._begin_sentence(number, start)
        if match[3] is None:
            self.tokens.append(_Token(start, int(end), columns[2], number))
        i = 3
        for layer, names in enumerate(self.layers):
            for name in names:
                if name == RELATION and columns[i] != "_":
                    for value in _STACKED.split(columns[i]):
                        self._link(number, layer, value, start, int(end))
                i += 1

    def _begin_sentence(self, number: int, start: int) -> None:
        # The text ends in a line end, which is not there if the next begins sooner.
        if self.length == start + 1:
            self.text = self.text[:-1]
            self.length = start
        if self.length > start:
            raise self.error(
                number,
                f"the sentence begins at {start}, but the text before it has "
                f"{self.length} units of UTF-16. Correct the offsets.",
            )
        sentence = "".join(f"{text}\n" for text in self.waiting)
        self.text += " " * (start - self.length) + sentence
        self.length = start + _Utf16(sentence).units(len(sentence))
        self.sentences.append(start)
        self.waiting = []

    def _link(self, number: int, layer: int, value: str, start: int, end: int) -> None:
        match = _LINK.fullmatch(value)
        if match is None:
            raise self.error(
                number,
                f"{value!r} is no link of a chain like *->1-2: its chain, and its "
                "place there. Correct it.",
            )
        chain = self.chains.setdefault((layer, int(match[1])), {})
        link = chain.setdefault(int(match[2]), [start, end, number])
        link[1] = end

    def end(self) -> Tuple[str, List[List[List[int]]]]:
        if self.waiting:
            raise self.error(
                self.lines, "a sentence without tokens. Add them, or remove its text."
            )
        if self.lines == 1 and not self.text:
            raise self.error(1, "the file ends after its first line. Get it again.")
        links = [list(chain.values()) for chain in self.chains.values()]
        return self.text.removesuffix("\n"), links
