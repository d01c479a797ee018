"""Read CorefUD 1.x: CoNLL-U with mentions in ``Entity=`` of MISC.

``# newdoc id`` begins a document and ``# global.Entity = eid-etype-head-other`` names
the fields of an opening bracket; ``eid`` (or ``GRP``, as in GUM) is the cluster and
``head`` the number of the head among the words of the mention. Rules for what a record
does not have:

* Tokens are the lines with a whole number. Range lines of written words (``4-5``) and
  empty nodes (``8.1``) are no tokens.
* A mention reaches over the tokens inside its brackets. One of empty nodes only is left
  out.
* A discontinuous mention (``e1[1/2]``) is its part that has its head. Without a known
  head that is the longest part, the first one of several.
* The head is what the bracket says; without a ``head`` field, or where it says an empty
  node, it comes from the tree (``records.head_of``); without a tree it is not known.
"""

import re
from collections import Counter, defaultdict
from pathlib import Path
from typing import Dict, Iterator, List, NamedTuple, Optional, Tuple, Union

from ..corpus.conllu import COLUMNS, CorpusError, read_lines
from .records import Bounds, CorefRecord, Tree, head_of

DEFAULT_FIELDS = ("eid", "etype", "head", "other")
_CHUNK = re.compile(r"\([^()]*\)?|[^()]+\)?")
_PART = re.compile(r"(.+)\[(\d+)/(\d+)\]")
_NOTES = {
    "discontinuous": "discontinuous mentions, of which the part with the head was read",
    "empty": "mentions of empty nodes, left out",
}


def read_corefud(path: Union[str, Path]) -> Iterator[CorefRecord]:
    """Read a file in the format of CorefUD.

    path (Union[str, Path]): The file.
    YIELDS (CorefRecord): Its documents, with heads of mentions and trees. One without
        ``# newdoc id`` is named after the file, with its number if it is not the first
        one.
    RAISES (CorpusError): If a line has not 10 columns, numbers do not count up, there
        is no line ``# global.Entity`` before the first mention, or a bracket is not one
        or stays open at the end of its sentence.
    """
    fields: Optional[List[str]] = None
    document: Optional[_Document] = None
    in_sentence = False
    documents = 0
    for number, line in enumerate([*read_lines(path), ""], start=1):
        if not line.strip():
            if document is not None and in_sentence:
                document.end_sentence()
            in_sentence = False
            continue
        if line.startswith("#"):
            name, _, value = (part.strip() for part in line[1:].partition("="))
            if name == "global.Entity":
                fields = value.split("-")
                if not {"eid", "GRP"} & set(fields):
                    raise CorpusError(
                        path,
                        number,
                        f"global.Entity is {value!r}, which has no field eid. Write "
                        f"for example '# global.Entity = {'-'.join(DEFAULT_FIELDS)}'.",
                    )
            elif name in ("newdoc", "newdoc id"):
                if document is not None:
                    yield document.record()
                documents += 1
                document = _Document(path, number, value or _name(path, documents))
            continue
        if document is None:
            documents += 1
            document = _Document(path, number, _name(path, documents))
        in_sentence = True
        document.add(number, line, fields)
    if fields is None:
        raise CorpusError(
            path,
            1,
            "no line '# global.Entity = ...', so there are no mentions of CorefUD "
            "(Entity= in the last column). If none were found, add '# global.Entity = "
            f"{'-'.join(DEFAULT_FIELDS)}' after '# newdoc id'.",
        )
    if document is not None:
        yield document.record()


def _name(path: Union[str, Path], number: int) -> str:
    stem = Path(path).stem
    return stem if number == 1 else f"{stem} {number}"


class _Mention:
    """A mention while it is read.

    cluster (str): Its entity.
    head (Optional[int]): Number of the head among its words, from 1.
    total (int): How many parts it has.
    line (int): Where it is opened.
    parts (List[List[int]]): First and last node of each part that began.
    """

    def __init__(self, cluster: str, head: Optional[int], total: int, line: int):
        self.cluster, self.head, self.total, self.line = cluster, head, total, line
        self.parts: List[List[int]] = []


class _Read(NamedTuple):
    """A mention as a record has it.

    bounds (Bounds): First token and the one after the last.
    head (Optional[int]): Its head.
    discontinuous (bool): Whether it has more than these tokens.
    """

    bounds: Bounds
    head: Optional[int]
    discontinuous: bool


class _Document:
    """A document while it is read."""

    def __init__(self, path: Union[str, Path], line: int, name: str) -> None:
        self.path, self.line, self.name = path, line, name
        self.sentences: List[List[str]] = []
        self.tree: Tree = []
        self.has_tree = False
        # Heads in the sentence, counted from 1, with their lines.
        self.heads: List[Tuple[int, str]] = []
        # The token that each line stands for; None for an empty node.
        self.nodes: List[Optional[int]] = []
        self.new = True
        self.opened: Dict[str, List[_Mention]] = defaultdict(list)
        self.unfinished: Dict[str, List[_Mention]] = defaultdict(list)
        self.clusters: Dict[str, List[_Mention]] = {}

    def error(self, line: int, text: str) -> CorpusError:
        return CorpusError(self.path, line, text)

    def add(self, number: int, line: str, fields: Optional[List[str]]) -> None:
        columns = line.split("\t")
        if len(columns) != COLUMNS:
            raise self.error(
                number,
                f"{len(columns)} columns separated by tabs, but CoNLL-U has "
                f"{COLUMNS}. Restore the missing columns ('_' if empty).",
            )
        if self.new:
            self.sentences.append([])
            self.new = False
        index = columns[0]
        misc = dict(item.partition("=")[::2] for item in columns[9].split("|"))
        entity = misc.get("Entity", "")
        forms = self.sentences[-1]
        if "-" in index:
            if entity:
                raise self.error(
                    number,
                    "mentions at a range line. Move Entity= to the lines of its words.",
                )
            return
        if "." in index:
            self.nodes.append(None)
        elif index == str(len(forms) + 1) and columns[1]:
            self.nodes.append(len(self.tree))
            forms.append(columns[1])
            self.tree.append(None)
            self.heads.append((number, columns[6]))
        else:
            raise self.error(
                number,
                f"word {index} where {len(forms) + 1} was expected. Correct the "
                "numbers of the sentence.",
            )
        if entity and entity != "_":
            if fields is None:
                raise self.error(
                    number,
                    "mentions, but no line '# global.Entity = "
                    f"{'-'.join(DEFAULT_FIELDS)}' that names their fields. Add it "
                    "after the first '# newdoc id'.",
                )
            self._brackets(number, entity, fields)

    def _brackets(self, number: int, entity: str, fields: List[str]) -> None:
        here = len(self.nodes) - 1
        for chunk in _CHUNK.findall(entity):
            opens, closes = chunk.startswith("("), chunk.endswith(")")
            label = chunk.strip("()")
            if not label or not (opens or closes):
                raise self.error(
                    number,
                    f"{chunk!r} in Entity={entity} is not a bracket like (e1-person-1, "
                    "e1) or (e1-person-1). Correct it.",
                )
            if opens:
                values = dict(zip(fields, label.split("-"), strict=False))
                label = values.get("eid") or values.get("GRP") or ""
                head = self._head(number, chunk, values.get("head"))
                mention = self._open(number, label, head)
                mention.parts.append([here, here])
                self.opened[label].append(mention)
            if closes:
                if not self.opened[label]:
                    raise self.error(
                        number,
                        f"{label}) closes a mention that is not open in this sentence. "
                        f"Add the missing ({label} before it or remove it.",
                    )
                self.opened[label].pop().parts[-1][1] = here

    def _head(self, number: int, chunk: str, value: Optional[str]) -> Optional[int]:
        if not value:
            return None
        if not value.isdigit() or value == "0":
            raise self.error(
                number,
                f"the head of {chunk!r} is {value!r}, but must be the number of a word "
                "of the mention, from 1. Correct it.",
            )
        return int(value)

    def _open(self, number: int, label: str, head: Optional[int]) -> _Mention:
        match = _PART.fullmatch(label)
        cluster, part, total = (
            (match[1], int(match[2]), int(match[3])) if match else (label, 1, 1)
        )
        if not 1 <= part <= total:
            raise self.error(number, f"{label} is part {part} of {total}. Correct it.")
        if part == 1:
            mention = _Mention(cluster, head, total, number)
            self.clusters.setdefault(cluster, []).append(mention)
            if total > 1:
                self.unfinished[cluster].append(mention)
            return mention
        for mention in reversed(self.unfinished[cluster]):
            if (mention.total, len(mention.parts)) == (total, part - 1):
                if part == total:
                    self.unfinished[cluster].remove(mention)
                return mention
        raise self.error(
            number,
            f"{label} continues a mention, but its part {part - 1} does not stand "
            "before it. Add it or correct the numbers.",
        )

    def end_sentence(self) -> None:
        n_words = len(self.sentences[-1])
        first = len(self.tree) - n_words
        for i, (number, head) in enumerate(self.heads):
            if head == "_":
                continue
            if not head.isdigit() or int(head) > n_words:
                raise self.error(
                    number,
                    f"head {head} in a sentence of {n_words} words. Correct it.",
                )
            self.has_tree = True
            self.tree[first + i] = first + int(head) - 1 if head != "0" else None
        waiting = [m for rows in (self.opened, self.unfinished) for m in rows.values()]
        left = [mention for mentions in waiting for mention in mentions]
        if left:
            mention = min(left, key=lambda m: m.line)
            raise self.error(
                mention.line,
                f"the mention of {mention.cluster} that opens here is not closed in "
                "its sentence, or parts of it are missing. Add them or remove it.",
            )
        self.heads = []
        self.new = True

    def record(self) -> CorefRecord:
        clusters: List[List[Bounds]] = []
        heads: List[List[Optional[int]]] = []
        counts: Counter[str] = Counter()
        for mentions in self.clusters.values():
            written = [found for m in mentions if (found := self._read(m))]
            counts["discontinuous"] += sum(found.discontinuous for found in written)
            counts["empty"] += len(mentions) - len(written)
            if written:
                clusters.append([found.bounds for found in written])
                heads.append([found.head for found in written])
        return CorefRecord(
            self.name,
            self.sentences,
            clusters,
            str(self.path),
            self.line,
            heads=heads,
            tree=self.tree if self.has_tree else None,
            notes=tuple(f"{n} {_NOTES[name]}" for name, n in counts.items() if n),
        )

    def _read(self, mention: _Mention) -> Optional[_Read]:
        parts: List[List[int]] = []
        words: List[Optional[int]] = []
        for first, last in mention.parts:
            nodes = self.nodes[first : last + 1]
            words += nodes
            parts.append([node for node in nodes if node is not None])
        # Parts that only an empty node keeps apart are one.
        runs: List[List[int]] = []
        for part in filter(None, parts):
            if runs and runs[-1][-1] + 1 == part[0]:
                runs[-1] += part
            else:
                runs.append(part)
        if not runs:
            return None
        head: Optional[int] = None
        if mention.head is not None:
            if mention.head > len(words):
                raise self.error(
                    mention.line,
                    f"the head of a mention of {mention.cluster} is its word "
                    f"{mention.head}, but it has {len(words)}. Correct the head.",
                )
            head = words[mention.head - 1]
        if head is None and self.has_tree:
            head = head_of(self.tree, [token for run in runs for token in run])
        if head is None:
            read = max(runs, key=len)
        else:
            read = next(run for run in runs if head in run)
        return _Read((read[0], read[-1] + 1), head, len(runs) > 1)
