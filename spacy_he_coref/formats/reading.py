"""Read coreference files and folders of any format, known or recognised."""

from pathlib import Path
from typing import Callable, Dict, Iterator, List, Optional, Union

from ..corpus.conllu import COLUMNS as CONLLU_COLUMNS
from ..corpus.conllu import CorpusError, read_lines
from ..corpus.kibutzr import COLUMNS as KIBUTZR_COLUMNS
from ..corpus.kibutzr import find_kibutzr
from . import conll2012, corefud, jsonlines, kibutzr
from .records import CorefRecord

Reader = Callable[[Union[str, Path]], Iterator[CorefRecord]]
# Every format by its name.
READERS: Dict[str, Reader] = {
    "conll2012": conll2012.read_conll2012,
    "kibutzr": kibutzr.read_kibutzr_records,
    "corefud": corefud.read_corefud,
    **jsonlines.READERS,
}
FORMATS = tuple(READERS)
# Which of them a JSON line is, by a key that no other has.
JSON_KEYS = {"doc_key": "lingmess", "document_id": "wl-coref", "doc": "jsonl"}
# Names of files that a folder is searched for.
SUFFIXES = frozenset(
    ".conll .conll12 .conllu .gold_conll .v4_gold_conll .auto_conll .key .response "
    ".jsonl .jsonlines .ndjson".split()
)


def read_records(
    path: Union[str, Path], format: Optional[str] = None
) -> List[CorefRecord]:
    """Read the documents of a file, or of all files in a folder.

    path (Union[str, Path]): The file; or a folder: its files with one of ``SUFFIXES``
        are read in the order of their names, or, if it has none, the splits of KibutzR
        that ``find_kibutzr`` finds in it.
    format (Optional[str]): One of FORMATS; by default each file's content tells
        (``recognise``).
    RETURNS (List[CorefRecord]): The documents.
    RAISES (CorpusError): If there are no files or documents, a format is not
        recognised, or a file is not of it; names the file and the line.
    """
    records: List[CorefRecord] = []
    for file in find_files(path):
        name = format or recognise(file)
        records += [record._replace(format=name) for record in READERS[name](file)]
    if not records:
        raise CorpusError(path, None, "no document in it. Give another file.")
    return records


def find_files(path: Union[str, Path]) -> List[Path]:
    """The files that ``read_records`` reads.

    path (Union[str, Path]): A file or folder.
    RETURNS (List[Path]): The files, at least one.
    RAISES (CorpusError): If there is nothing.
    """
    path = Path(path)
    if not path.is_dir():
        if not path.exists():
            raise CorpusError(path, None, "there is no such file or folder.")
        return [path]
    files = [p for p in sorted(path.iterdir()) if p.suffix in SUFFIXES and p.is_file()]
    if files:
        return files
    try:
        return [file for split in find_kibutzr(path).values() for file in split]
    except CorpusError:
        raise CorpusError(
            path,
            None,
            "no coreference files in the folder. Their names must end in one of "
            f"{' '.join(sorted(SUFFIXES))}.",
        ) from None


def recognise(path: Union[str, Path]) -> str:
    """Tell the format of a file by its content.

    path (Union[str, Path]): The file.
    RETURNS (str): One of FORMATS.
    RAISES (CorpusError): If the file is empty or of no such format.
    """
    if Path(path).suffix == ".spacy":
        raise CorpusError(
            path,
            None,
            "a corpus of spaCy. he-coref evaluate coref scores pipelines on it; here "
            "give its clusters in a text format.",
        )
    lines = [(i, s) for i, s in enumerate(read_lines(path), start=1) if s.strip()]
    if not lines:
        raise CorpusError(path, 1, "the file is empty.")
    number, first = lines[0]
    if first.lstrip().startswith(("{", "[")):
        return _recognise_json(path, number, first)
    rows = (row for row in lines if not row[1].startswith("#"))
    number, row = next(rows, lines[-1])
    columns = row.split("\t")
    if first.startswith(conll2012.BEGIN):
        in_brackets = first[len(conll2012.BEGIN) :].lstrip().startswith("(")
        ours = len(columns) == KIBUTZR_COLUMNS and columns[3] == "_"
        return "kibutzr" if ours and not in_brackets else "conll2012"
    if len(columns) == CONLLU_COLUMNS:
        return "corefud"
    raise CorpusError(
        path,
        number,
        f"not one of the formats {', '.join(FORMATS)}. Check the file, or say which it "
        "is.",
    )


def _recognise_json(path: Union[str, Path], number: int, line: str) -> str:
    keys = jsonlines.parse_object(path, number, line)
    found = next((name for key, name in JSON_KEYS.items() if key in keys), None)
    if found is None:
        raise CorpusError(
            path,
            number,
            "an object with clusters must also have doc_key (LingMess), document_id "
            "(wl-coref) or doc: the name of the document.",
        )
    return found
