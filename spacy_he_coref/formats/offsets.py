"""Docs as JSON lines with character offsets, and back.

A line is a document: ``id`` and what ``doc._.coref.to_dict()`` gives, as ``he-coref
resolve --to jsonl`` writes it. Of a cluster only ``mentions`` is needed, of a mention
only ``start`` and ``end``; a cluster may also be a list of mentions, and a mention a
list that begins with its two numbers.
"""

import json
from pathlib import Path
from typing import Any, Dict, Iterator, List, Optional, Union

from spacy.language import Language
from spacy.tokens import Doc

from ..corpus.conllu import CorpusError
from .documents import FileCluster, FileMention, make_doc, put_clusters
from .jsonlines import read_objects


def render_jsonl(doc: Doc, name: str, number: int) -> str:
    """A document as a line of JSON.

    doc (Doc): The document.
    name (str): Its name.
    number (int): Its number in the file, which the format does not need.
    RETURNS (str): The line.
    """
    row = {"id": name, **doc._.coref.to_dict()}
    return json.dumps(row, ensure_ascii=False) + "\n"


def read_jsonl_docs(path: Union[str, Path], nlp: Language) -> Iterator[Doc]:
    """Read JSON lines with character offsets.

    path (Union[str, Path]): The file.
    nlp (Language): The pipeline that cuts texts into words.
    YIELDS (Doc): Its documents, with the confidences that the file has. One without
        ``id`` is named after file and line.
    RAISES (CorpusError): If a line is not such an object, a mention is not in its text,
        or its ``text`` is not what stands there.
    """
    for number, row in read_objects(path):
        if not isinstance(row.get("text"), str):
            raise CorpusError(
                path,
                number,
                'no "text". Every line must be an object with a text and clusters: '
                '{"id": "1", "text": "...", "clusters": []}.',
            )
        name = (
            f"{Path(path).stem}:{number}" if row.get("id") is None else str(row["id"])
        )
        lines = _Lines(path, number, row["text"])
        clusters = [lines.cluster(found) for found in lines.list(row, "clusters")]
        clusters += [lines.singleton(found) for found in lines.list(row, "singletons")]
        doc = make_doc(nlp, row["text"], path, number)
        yield put_clusters(doc, clusters, name, path, number)


class _Lines:
    """Reads the parts of a line."""

    def __init__(self, path: Union[str, Path], line: int, text: str) -> None:
        self.path, self.line, self.text = path, line, text

    def list(self, row: Dict[str, Any], key: str) -> List[Any]:
        found = row.get(key) or []
        if not isinstance(found, list):
            raise self.error(f'"{key}" must be a list. Correct it.')
        return found

    def cluster(self, found: Any) -> FileCluster:
        attrs: Dict[str, Any] = {}
        rows = found
        if isinstance(found, dict):
            rows = self.list(found, "mentions")
            if _is_number(found.get("confidence")):
                attrs["confidence"] = found["confidence"]
        if not isinstance(rows, list):
            raise self.error(
                f"{json.dumps(found, ensure_ascii=False)} is not a cluster: an object "
                "with mentions, or a list of them. Correct it."
            )
        links = [_confidence(row) for row in rows]
        if any(link is not None for link in links):
            attrs["links"] = links
        return FileCluster([self.mention(row) for row in rows], attrs)

    def singleton(self, found: Any) -> FileCluster:
        confidence = _confidence(found)
        attrs = {} if confidence is None else {"mention_confidence": confidence}
        return FileCluster([self.mention(found)], attrs)

    def mention(self, found: Any) -> FileMention:
        start: Any = None
        end: Any = None
        text: Any = None
        if isinstance(found, dict):
            start, end, text = found.get("start"), found.get("end"), found.get("text")
        elif isinstance(found, list) and len(found) >= 2:
            start, end = found[:2]
        if not (_is_offset(start) and _is_offset(end)):
            raise self.error(
                f"{json.dumps(found, ensure_ascii=False)} is not a mention: it needs "
                'the numbers "start" and "end", or must be a list of them.'
            )
        if isinstance(text, str) and text != self.text[start:end]:
            raise self.error(
                f"a mention at {start}:{end} is {text!r}, but the text has "
                f"{self.text[start:end]!r} there. Count characters (code points) from "
                "0, the end after the last one."
            )
        return FileMention(start, end, self.line)

    def error(self, text: str) -> CorpusError:
        return CorpusError(self.path, self.line, text)


def _is_offset(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _confidence(row: Any) -> Optional[float]:
    value = row.get("confidence") if isinstance(row, dict) else None
    return value if _is_number(value) else None
