"""Read CoNLL-2012: ``#begin document``, one token a line, clusters in the last column.

Columns are separated by tabs, or by any white space where a line has no tab. The
fourth one is the token, the last one the brackets of mentions: ``(3`` opens one of
cluster 3, ``3)`` closes it, ``(3)`` is one of one token; ``|`` may stand between them;
``-``, ``_`` or ``*`` for none. How many columns are between does not matter. Of two
open mentions of one cluster the one that was opened last is closed first, which is how
scorers read the format. A mention may go on in the next sentence. Lines of two to four
columns have no token, only its brackets: such a document has no text.
"""

import re
from collections import defaultdict
from pathlib import Path
from typing import Dict, Iterator, List, Optional, Tuple, Union

from ..corpus.conllu import CorpusError, read_lines
from .records import Bounds, CorefRecord

BEGIN = "#begin document"
END = "#end document"
# Document, part, number of the token, token, clusters.
COLUMNS = 5
_HEADER = re.compile(r"#begin document\s*\((.*)\)\s*;?\s*(?:part\s+(\d+))?\s*")
_BRACKET = re.compile(r"\([^()|]+\)?|[^()|]+\)?")


def read_conll2012(path: Union[str, Path]) -> Iterator[CorefRecord]:
    """Read a file in the format of CoNLL-2012.

    path (Union[str, Path]): The file.
    YIELDS (CorefRecord): Its documents. The name is what stands in brackets after
        ``#begin document``; parts after the first one are called ``NAME part 1``.
    RAISES (CorpusError): If a line is outside a document or has too few columns, a
        bracket is not one or stays open, or the file is cut off.
    """
    document: Optional[_Document] = None
    number = 0
    lines = read_lines(path)
    for number, line in enumerate(lines, start=1):
        if line.startswith(BEGIN):
            if document is not None:
                raise CorpusError(
                    path,
                    number,
                    f"a document begins, but the one of line {document.line} did not "
                    f"end. Put the line '{END}' after it.",
                )
            document = _Document(path, number, header_name(line))
        elif line.startswith(END):
            if document is None:
                raise CorpusError(
                    path, number, f"'{END}' without '{BEGIN}' before it. Restore it."
                )
            yield document.record()
            document = None
        elif document is not None:
            document.add(number, line)
        elif line.strip() and not line.startswith("#"):
            raise CorpusError(
                path,
                number,
                f"a token outside a document. Put the line '{BEGIN} (NAME); part 000' "
                "before the first one.",
            )
    if document is not None:
        raise CorpusError(
            path,
            number,
            f"the file ends without '{END}' for the document of line {document.line}, "
            "so it was cut off. Get it again.",
        )


def header_name(line: str) -> str:
    """The name in a line that begins a document.

    line (str): For example ``#begin document (bc/1); part 000``.
    RETURNS (str): The name; with ``part N`` after it for parts that are not the first.
    """
    match = _HEADER.fullmatch(line)
    if match is None:
        return line[len(BEGIN) :].strip()
    name, part = match[1].strip(), int(match[2] or 0)
    return f"{name} part {part}" if part else name


class _Document:
    """A document while it is read."""

    def __init__(self, path: Union[str, Path], line: int, name: str) -> None:
        self.path, self.line, self.name = path, line, name
        self.sentences: List[List[str]] = []
        self.clusters: Dict[str, List[Bounds]] = {}
        self.opened: Dict[str, List[Tuple[int, int]]] = defaultdict(list)
        self.position = 0
        self.blank = True
        # Whether lines have tokens; the first one decides.
        self.has_text: Optional[bool] = None

    def add(self, number: int, line: str) -> None:
        if not line.strip():
            self.blank = True
            return
        columns = line.rstrip().split("\t") if "\t" in line else line.split()
        has_text = len(columns) >= COLUMNS
        if self.has_text is None:
            self.has_text = has_text
        if len(columns) < 2 or has_text != self.has_text or has_text and not columns[3]:
            raise CorpusError(
                self.path,
                number,
                f"{len(columns)} columns, but there must be at least {COLUMNS}: "
                "document, part, number, token, and last the clusters. Restore them.",
            )
        if has_text:
            if self.blank:
                self.sentences.append([])
            self.blank = False
            self.sentences[-1].append(columns[3])
        if columns[-1] not in ("-", "_", "*"):
            for bracket in _BRACKET.findall(columns[-1]):
                self._bracket(number, bracket)
        self.position += 1

    def _bracket(self, number: int, bracket: str) -> None:
        opens, closes = bracket.startswith("("), bracket.endswith(")")
        cluster = bracket.strip("()")
        if not (opens or closes):
            raise CorpusError(
                self.path,
                number,
                f"{bracket!r} in the last column is not a bracket like (3, 3) or (3). "
                "Correct it, or put '-' if there is no mention.",
            )
        if opens:
            self.opened[cluster].append((self.position, number))
            # So that clusters stand in the order in which they begin.
            self.clusters.setdefault(cluster, [])
        if closes:
            if not self.opened[cluster]:
                raise CorpusError(
                    self.path,
                    number,
                    f"{bracket!r} closes a mention that is not open. Add the missing "
                    f"({cluster} before it or remove it.",
                )
            start, _ = self.opened[cluster].pop()
            self.clusters[cluster].append((start, self.position + 1))

    def record(self) -> CorefRecord:
        left = [(line, name) for name, rows in self.opened.items() for _, line in rows]
        if left:
            line, name = min(left)
            raise CorpusError(
                self.path,
                line,
                f"({name} opens a mention that its document does not close. Add the "
                f"missing {name}) or remove it.",
            )
        return CorefRecord(
            self.name,
            None if self.has_text is False else self.sentences,
            list(self.clusters.values()),
            str(self.path),
            self.line,
        )
