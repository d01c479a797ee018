"""Read clusters in JSON lines: LingMess, wl-coref, and bare spans.

Every line is an object, a document. What the keys are:

* ``lingmess``: ``doc_key``, ``sentences`` (lists of tokens; or ``tokens``) and
  ``clusters``. In some files the second number of a mention is its last token, in
  others the one after it; KibutzR's have the latter. The file itself decides: a mention
  ``[i, i]`` has no token unless its end is included. Without any the end is the token
  after the last one.
* ``wl-coref``: ``document_id``, ``cased_words``, ``sent_id`` of each word, and
  ``span_clusters`` or ``clusters`` of ``[first, after the last]``.
* ``jsonl``: ``doc`` (or ``id``) and ``clusters`` of ``[first, last]``; ``sentences`` or
  ``tokens`` if there are any.

``head`` (for each token that of its head, counted from 1 in the document, null at
roots), as KibutzR's files have it, gives the tree.
"""

import json
from itertools import groupby
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple, Union

from ..corpus.conllu import CorpusError, read_lines
from .records import Bounds, CorefRecord, Tree, check_bounds

# A line of the file: its number and the object.
Row = Tuple[int, Dict[str, Any]]
# With fewer mentions than these, none of them of the shape [i, i], we say how the ends
# were read.
SURE = 20


def read_lingmess(
    path: Union[str, Path], inclusive: Optional[bool] = None
) -> Iterator[CorefRecord]:
    """Read JSON lines of LingMess.

    path (Union[str, Path]): The file.
    inclusive (Optional[bool]): Whether the second number of a mention is its last token
        rather than the one after it; by default the file tells (see the module).
    YIELDS (CorefRecord): Its documents.
    RAISES (CorpusError): If a line is not such an object, or a mention is not in its
        document; an end beyond it may mean that ends are not what was said.
    """
    rows = list(read_objects(path))
    note = ""
    if inclusive is None:
        spans = [
            span
            for number, row in rows
            for cluster in _clusters(path, number, row, "clusters", True)
            for span in cluster
        ]
        inclusive = any(end == start + 1 for start, end in spans)
        if 0 < len(spans) < SURE and not inclusive:
            note = (
                "the second number of a mention was read as the token after its last "
                "one; if it is the last one, say the format lingmess-inclusive"
            )
    for number, row in rows:
        sentences = _sentences(path, number, row)
        if sentences is None:
            raise _lacks(path, number, "sentences", "lists of tokens")
        record = CorefRecord(
            _name(path, number, row, "doc_key"),
            sentences,
            _clusters(path, number, row, "clusters", inclusive),
            str(path),
            number,
            notes=(note,) if note else (),
        )
        yield _checked(record, row)


def read_wl_coref(path: Union[str, Path]) -> Iterator[CorefRecord]:
    """Read JSON lines of wl-coref.

    path (Union[str, Path]): The file.
    YIELDS (CorefRecord): Its documents.
    RAISES (CorpusError): If a line is not such an object, or a mention is not in its
        document.
    """
    for number, row in read_objects(path):
        key = "span_clusters" if "span_clusters" in row else "clusters"
        if key not in row and "word_clusters" in row:
            raise CorpusError(
                path,
                number,
                "only word_clusters, the heads of mentions. Predict spans too, so that "
                "there are span_clusters.",
            )
        words = _strings(path, number, row, "cased_words")
        ids = row.get("sent_id", [0] * len(words))
        if not isinstance(ids, list) or len(ids) != len(words):
            raise CorpusError(
                path, number, "sent_id must have a number for each of cased_words."
            )
        record = CorefRecord(
            _name(path, number, row, "document_id"),
            [
                [words[i] for i in places]
                for _, places in groupby(range(len(words)), key=ids.__getitem__)
            ],
            _clusters(path, number, row, key, False),
            str(path),
            number,
        )
        yield _checked(record, row)


def read_span_lines(path: Union[str, Path]) -> Iterator[CorefRecord]:
    """Read JSON lines of ``{"doc": ..., "clusters": [[[first, last], ...], ...]}``.

    path (Union[str, Path]): The file.
    YIELDS (CorefRecord): Its documents; without sentences if they have none.
    RAISES (CorpusError): If a line is not such an object, or a mention is not in its
        document.
    """
    for number, row in read_objects(path):
        record = CorefRecord(
            _name(path, number, row, "doc" if "doc" in row else "id"),
            _sentences(path, number, row),
            _clusters(path, number, row, "clusters", True),
            str(path),
            number,
        )
        yield _checked(record, row)


def read_objects(path: Union[str, Path]) -> Iterator[Row]:
    """The lines of a file of JSON lines; empty ones are left out.

    path (Union[str, Path]): The file.
    YIELDS (Tuple[int, Dict[str, Any]]): Number of the line, and the object on it.
    RAISES (CorpusError): If a line is no object.
    """
    for number, line in enumerate(read_lines(path), start=1):
        if line.strip():
            yield number, parse_object(path, number, line)


def parse_object(path: Union[str, Path], number: int, line: str) -> Dict[str, Any]:
    """Read a line of JSON lines.

    path (Union[str, Path]): The file, for the error.
    number (int): Number of the line.
    line (str): The line.
    RETURNS (Dict[str, Any]): The object.
    RAISES (CorpusError): If it is no object.
    """
    try:
        row = json.loads(line)
    except ValueError as error:
        raise CorpusError(
            path,
            number,
            f"not JSON ({error}). Every line must be an object: one document.",
        ) from None
    if not isinstance(row, dict):
        raise CorpusError(
            path, number, "not an object. Every line must be one: a document."
        )
    return row


def _lacks(path: Union[str, Path], number: int, key: str, what: str) -> CorpusError:
    return CorpusError(path, number, f'"{key}" must be {what}. Add or correct it.')


def _name(path: Union[str, Path], number: int, row: Dict[str, Any], key: str) -> str:
    name = row.get(key)
    if isinstance(name, bool) or not isinstance(name, (str, int)) or name == "":
        raise _lacks(path, number, key, "the name of the document")
    part = row.get("part_id", 0)
    return f"{name} part {part}" if isinstance(part, int) and part else str(name)


def _strings(
    path: Union[str, Path], number: int, row: Dict[str, Any], key: str
) -> List[str]:
    found = row.get(key)
    if not isinstance(found, list) or not all(isinstance(s, str) for s in found):
        raise _lacks(path, number, key, "a list of tokens")
    return found


def _sentences(
    path: Union[str, Path], number: int, row: Dict[str, Any]
) -> Optional[List[List[str]]]:
    found = row.get("sentences")
    if found is None:
        return [_strings(path, number, row, "tokens")] if "tokens" in row else None
    if not isinstance(found, list) or not all(
        isinstance(sentence, list) and all(isinstance(s, str) for s in sentence)
        for sentence in found
    ):
        raise _lacks(path, number, "sentences", "lists of tokens")
    return found


def _clusters(
    path: Union[str, Path],
    number: int,
    row: Dict[str, Any],
    key: str,
    inclusive: bool,
) -> List[List[Bounds]]:
    found = row.get(key)
    what = "a list of clusters, each a list of mentions [first, last]"
    if not isinstance(found, list):
        raise _lacks(path, number, key, what)
    clusters: List[List[Bounds]] = []
    for cluster in found:
        if not isinstance(cluster, list):
            raise _lacks(path, number, key, what)
        clusters.append([])
        for span in cluster:
            if (
                not isinstance(span, list)
                or len(span) != 2
                or any(isinstance(i, bool) or not isinstance(i, int) for i in span)
            ):
                raise CorpusError(
                    path,
                    number,
                    f"{json.dumps(span, ensure_ascii=False)} in {key} is not a mention:"
                    " two numbers of tokens, counted from 0 in the document.",
                )
            clusters[-1].append((span[0], span[1] + inclusive))
    return clusters


def _checked(record: CorefRecord, row: Dict[str, Any]) -> CorefRecord:
    """The record with its tree, if its mentions are right in themselves."""
    for cluster in record.clusters:
        for start, end in cluster:
            if not 0 <= start < end:
                raise CorpusError(
                    record.path,
                    record.line,
                    f"a mention of document {record.name} begins at token {start} and "
                    f"ends before token {end}. The first token must not be after the "
                    "last one, and is counted from 0.",
                )
    if record.sentences is None:
        return record
    n_tokens = len(record.tokens)
    check_bounds(record, n_tokens)
    heads = row.get("head")
    if not isinstance(heads, list) or len(heads) != n_tokens:
        return record
    tree: Tree = []
    for head in heads:
        known = isinstance(head, int) and 1 <= head <= n_tokens
        tree.append(head - 1 if known else None)
    return record._replace(tree=tree)


READERS: Dict[str, Callable[[Union[str, Path]], Iterator[CorefRecord]]] = {
    "lingmess": read_lingmess,
    "lingmess-inclusive": lambda path: read_lingmess(path, True),
    "lingmess-exclusive": lambda path: read_lingmess(path, False),
    "wl-coref": read_wl_coref,
    "jsonl": read_span_lines,
}
