"""Read KibutzR's own files: five columns, one document a file."""

import re
from pathlib import Path
from typing import Dict, Iterator, List, Union

from ..corpus.conllu import CorpusError
from ..corpus.kibutzr import KibutzrDocument, read_kibutzr
from .records import Bounds, CorefRecord

_NUMBER = re.compile(r"#begin document\s+(\d+)\s*")


def read_kibutzr_records(
    path: Union[str, Path], strict: bool = True
) -> Iterator[CorefRecord]:
    """Read a KibutzR file.

    path (Union[str, Path]): The file.
    strict (bool): Whether a bracket without a counterpart is an error. Otherwise it is
        left out, and ``notes`` say so.
    YIELDS (CorefRecord): Its document, over morphemes, written or not; see
        ``kibutzr_record``.
    RAISES (CorpusError): See ``read_kibutzr``.
    """
    strays: List[CorpusError] = []
    record = kibutzr_record(read_kibutzr(path, None if strict else strays))
    texts = (str(error).removeprefix(f"{path}, ") for error in strays)
    yield record._replace(notes=tuple(f"bracket left out: {text}" for text in texts))


def kibutzr_record(document: KibutzrDocument) -> CorefRecord:
    """A document of KibutzR as a record.

    document (KibutzrDocument): The document.
    RETURNS (CorefRecord): The record. It is named after its file (``htb:12_1``). The
        number in the first line of the file is another name of it (``nw/234``), by
        which KibutzR's files for neural systems call it.
    """
    clusters: Dict[int, List[Bounds]] = {}
    for start, end, cluster in sorted(document.mentions, key=lambda m: (m[0], -m[1])):
        clusters.setdefault(cluster, []).append((start, end))
    number = _NUMBER.fullmatch(document.begin)
    return CorefRecord(
        document.id,
        [sentence.forms for sentence in document.sentences],
        list(clusters.values()),
        document.path,
        1,
        aliases=(f"nw/{number[1]}",) if number else (),
    )
