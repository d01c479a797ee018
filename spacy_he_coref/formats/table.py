"""The formats that Docs with clusters are read from and written to, in one table.

``he-coref convert`` and ``he-coref resolve --to`` take what is here; docs/formats.md
says what each format holds.
"""

import re
import tempfile
from itertools import islice
from pathlib import Path
from typing import (
    BinaryIO,
    Callable,
    Dict,
    Iterable,
    Iterator,
    List,
    NamedTuple,
    Optional,
    Set,
    TextIO,
    Tuple,
    Union,
)

from spacy.language import Language
from spacy.tokens import Doc, DocBin

from ..corpus.conllu import CorpusError, read_lines
from . import brat, columns, markdown, offsets, reading, webanno
from .documents import blank_pipeline, doc_name, warn_loss
from .jsonlines import read_objects

PathLike = Union[str, Path]
SPACY = "spacy"
_ATTRS = (
    "ORTH", "SPACY", "NORM", "LEMMA", "TAG", "POS", "MORPH", "ENT_IOB", "ENT_TYPE",
    "ENT_KB_ID", "ENT_ID",
)  # fmt: skip


class Format(NamedTuple):
    """A format of documents with clusters.

    name (str): Its name, for ``--from`` and ``--to``.
    title (str): What it is.
    extensions (Tuple[str, ...]): Ends of file names, the first one for writing.
    read (Callable[[PathLike, Language], Iterator[Doc]]): Reads a file.
    render (Optional[Callable[[Doc, str, int], Optional[str]]]): The text of a document
        with its name and number, None for one that the format cannot hold; None for
        formats that are only read, or are not text.
    several (bool): Whether a file can hold several documents.
    """

    name: str
    title: str
    extensions: Tuple[str, ...]
    read: Callable[[PathLike, Language], Iterator[Doc]]
    render: Optional[Callable[[Doc, str, int], Optional[str]]]
    several: bool

    @property
    def writable(self) -> bool:
        """Whether documents can be written in it."""
        return self.render is not None or self.name == SPACY


def read_spacy_docs(path: PathLike, nlp: Language) -> Iterator[Doc]:
    """Read a file of spaCy's DocBin.

    path (PathLike): The file.
    nlp (Language): A pipeline, for its vocabulary.
    YIELDS (Doc): Its documents.
    RAISES (CorpusError): If it is of another format.
    """
    try:
        docs = list(DocBin().from_disk(path).get_docs(nlp.vocab))
    except Exception as error:  # zlib's, msgpack's or numpy's
        raise CorpusError(
            path, None, f"not a file of spaCy's DocBin ({error}). Give another one."
        ) from None
    yield from docs


_ALL = (
    Format(
        "jsonl",
        "JSON lines with character offsets",
        (".jsonl", ".ndjson"),
        offsets.read_jsonl_docs,
        offsets.render_jsonl,
        True,
    ),
    Format(
        "corefud",
        "CorefUD 1.x, CoNLL-U",
        (".conllu",),
        columns.read_corefud_docs,
        columns.render_corefud,
        True,
    ),
    Format(
        "conll",
        "CoNLL-2012",
        (".conll", ".conll2012", ".conll12", ".v4_gold_conll", ".gold_conll"),
        columns.read_conll2012_docs,
        columns.render_conll2012,
        True,
    ),
    Format(
        "kibutzr",
        "KibutzR's five columns",
        (".kibutzr", ".conllu"),
        columns.read_kibutzr_docs,
        columns.render_kibutzr,
        False,
    ),
    Format(
        "brat",
        "brat standoff",
        (brat.ANNOTATIONS,),
        brat.read_brat_docs,
        brat.render_brat,
        False,
    ),
    Format(
        "webanno",
        "WebAnno TSV 3.3 (INCEpTION)",
        (".tsv",),
        webanno.read_webanno_docs,
        webanno.render_webanno,
        False,
    ),
    Format(
        "markdown",
        "Markdown, [mention](#1)",
        (".md", ".markdown"),
        markdown.read_markdown_docs,
        markdown.render_markdown,
        False,
    ),
    Format(SPACY, "spaCy's DocBin", (".spacy",), read_spacy_docs, None, True),
    *(
        Format(name, f"JSON lines of {name}", (".jsonlines",), read, None, True)
        for name, read in columns.JSON_DOC_READERS.items()
    ),
)
FORMATS: Dict[str, Format] = {format.name: format for format in _ALL}
WRITABLE = tuple(name for name, format in FORMATS.items() if format.writable)
# By what else a format is called.
_ALIASES = {"conll2012": "conll", "conll-2012": "conll", "inception": "webanno"}


def get_format(name: str) -> Format:
    """A format by its name.

    name (str): The name.
    RETURNS (Format): The format.
    RAISES (ValueError): If there is none; lists them.
    """
    key = name.lower()
    found = FORMATS.get(_ALIASES.get(key, key))
    if found is None:
        raise ValueError(
            f"There is no format {name!r}. Choose one of {', '.join(FORMATS)}."
        )
    return found


def format_of_name(path: PathLike) -> Optional[Format]:
    """The format that the end of a file name says.

    path (PathLike): The file, which need not be there.
    RETURNS (Optional[Format]): The first one with this end, or None.
    """
    end = Path(path).suffix.lower()
    return next((format for format in _ALL if end in format.extensions), None)


def recognise_format(path: PathLike) -> Format:
    """The format of a file: its name says it, or its content where names do not.

    path (PathLike): The file.
    RETURNS (Format): The format.
    RAISES (CorpusError): If it is not known.
    """
    end = Path(path).suffix.lower()
    able = [format for format in _ALL if end in format.extensions]
    if not able:
        ends = dict.fromkeys(end for format in _ALL for end in format.extensions)
        raise CorpusError(
            path,
            None,
            f"its name ends in none of {', '.join(ends)}. Say the format with --from.",
        )
    if end in (".jsonl", ".ndjson", ".jsonlines"):
        return FORMATS[_recognise_json(path)]
    if end in (".conllu", ".conll") and any(line.strip() for line in read_lines(path)):
        return get_format(reading.recognise(path))
    return able[0]


def _recognise_json(path: PathLike) -> str:
    _, row = next(read_objects(path), (0, {}))
    # With a text it has offsets; without, our reader says what is missing.
    if "text" in row:
        return "jsonl"
    found = (name for key, name in reading.JSON_KEYS.items() if key in row)
    return next(found, "jsonl")


def read_docs(
    path: PathLike, format: Optional[Format] = None, nlp: Optional[Language] = None
) -> Iterator[Doc]:
    """Read the documents of a file, or of the files in a folder.

    path (PathLike): The file; or a folder: its files of the format, or of any format if
        none is given, in the order of their names.
    format (Optional[Format]): The format; by default each file tells
        (``recognise_format``).
    nlp (Optional[Language]): The pipeline whose tokenizer and vocabulary are used; by
        default a blank one with the tokenizer of this package.
    YIELDS (Doc): The documents, with their names in ``doc._.source["id"]``, and groups
        of mentions and clusters like gold documents (``corpus.docs``).
    RAISES (CorpusError): If there is nothing to read, or a file is not of its format;
        names the file and the line.
    """
    nlp = blank_pipeline() if nlp is None else nlp
    for file in find_files(path, format):
        yield from (format or recognise_format(file)).read(file, nlp)


def find_files(path: PathLike, format: Optional[Format] = None) -> List[Path]:
    """The files that ``read_docs`` reads.

    path (PathLike): A file or folder.
    format (Optional[Format]): The format, if it is known.
    RETURNS (List[Path]): The files, at least one.
    RAISES (CorpusError): If there is none.
    """
    path = Path(path)
    if path.is_file():
        return [_main_file(path, format)]
    if not path.is_dir():
        raise CorpusError(path, None, "there is no such file or folder.")
    formats = [format] if format else _ALL
    ends = dict.fromkeys(end for one in formats for end in one.extensions)
    files = sorted(
        p for p in path.iterdir() if p.suffix.lower() in ends and p.is_file()
    )
    if not files:
        raise CorpusError(
            path,
            None,
            f"no file in this folder has a name that ends in {', '.join(ends)}.",
        )
    return files


def _main_file(path: Path, format: Optional[Format]) -> Path:
    """Of brat's two files the one with the annotations."""
    is_text = format is FORMATS["brat"] and path.suffix == brat.TEXT
    return path.with_suffix(brat.ANNOTATIONS) if is_text else path


def read_stream(stream: BinaryIO, format: Format, nlp: Language) -> Iterator[Doc]:
    """Read the documents of a stream.

    stream (BinaryIO): The stream.
    format (Format): Its format.
    nlp (Language): As for ``read_docs``.
    YIELDS (Doc): The documents.
    RAISES (CorpusError): As for ``read_docs``; the file is ``standard input``.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "standard input"
        path.write_bytes(stream.read())
        try:
            yield from format.read(path, nlp)
        except CorpusError as error:
            error.args = (str(error).replace(str(path), path.name),)
            raise


def write_docs(
    docs: Iterable[Doc], format: Format, output: Union[PathLike, TextIO]
) -> int:
    """Write documents.

    docs (Iterable[Doc]): The documents; written as they come, but for ``spacy``.
    format (Format): The format.
    output (Union[PathLike, TextIO]): A file; a stream; or a folder, for a file per
        document, named after it. A folder is one that is there, a name that ends in
        ``/``, or, of formats with one document a file, a name without an end.
    RETURNS (int): How many documents there were.
    RAISES (ValueError): If the format is only read, or there are several documents for
        a file that holds one.
    RAISES (OSError): If a file cannot be written.
    """
    if not format.writable:
        raise ValueError(
            f"Documents cannot be written as {format.name}. Choose one of "
            f"{', '.join(WRITABLE)}."
        )
    if not isinstance(output, (str, Path)):
        return _write_stream(docs, format, output)
    path = Path(output)
    alone = not format.several and not path.suffix
    if path.is_dir() or str(output).endswith("/") or alone:
        return _write_folder(docs, format, path)
    path.parent.mkdir(parents=True, exist_ok=True)
    if format.render is None:
        rows = list(docs)
        _doc_bin(rows).to_disk(path)
        return len(rows)
    if not format.several:
        rows = list(_alone(docs, format))
        for doc in rows:
            _write_file(doc, format, _main_file(path, format), doc_name(doc))
        return len(rows)
    with path.open("w", encoding="utf8", newline="") as stream:
        return _write_stream(docs, format, stream)


def _write_stream(docs: Iterable[Doc], format: Format, stream: TextIO) -> int:
    if format.render is None:
        rows = list(docs)
        stream.buffer.write(_doc_bin(rows).to_bytes())
        return len(rows)
    if format.name == "brat":
        raise ValueError("brat needs two files a document. Give a file or a folder.")
    number = 0
    if not format.several:
        docs = _alone(docs, format)
    for number, doc in enumerate(docs, start=1):
        text = format.render(doc, doc_name(doc, number), number)
        stream.write(text or "")
    return number


def _alone(docs: Iterable[Doc], format: Format) -> Iterator[Doc]:
    """The only document, or none."""
    rows = list(islice(docs, 2))
    if len(rows) > 1:
        raise ValueError(
            f"A file of {format.name} holds one document, and there are several. Give "
            "a folder for them."
        )
    return iter(rows)


def _write_folder(docs: Iterable[Doc], format: Format, folder: Path) -> int:
    folder.mkdir(parents=True, exist_ok=True)
    taken: Set[str] = set()
    number = 0
    for number, doc in enumerate(docs, start=1):
        name = doc_name(doc, number)
        stem = file_stem(name)
        unique, k = stem, 1
        while unique.lower() in taken:
            k += 1
            unique = f"{stem}_{k}"
        taken.add(unique.lower())
        path = folder / f"{unique}{format.extensions[0]}"
        if format.render is None:
            _doc_bin([doc]).to_disk(path)
        else:
            _write_file(doc, format, path, name)
    return number


def file_stem(name: str) -> str:
    """A file name, without its end, for a document.

    name (str): Name of the document; of a path the last part counts, without its end.
    RETURNS (str): Letters, digits, ``.``, ``_`` and ``-`` only.
    """
    last = Path(name).name
    ends = {".txt", *(end for format in _ALL for end in format.extensions)}
    if Path(last).suffix.lower() in ends:
        last = Path(last).stem
    # File systems allow 255 bytes, of which an end and a number need some.
    safe = re.sub(r"[^\w.-]+", "_", last).encode("utf8")[:200].decode("utf8", "ignore")
    return safe.strip(".") or "document"


def _write_file(doc: Doc, format: Format, path: Path, name: str) -> None:
    assert format.render is not None
    text = format.render(doc, name, 1)
    if text is None:
        return
    path.write_bytes(text.encode("utf8"))
    if format.name == "brat":
        path.with_suffix(brat.TEXT).write_bytes(doc.text.encode("utf8"))


def _doc_bin(docs: List[Doc]) -> DocBin:
    """A DocBin with trees, if all documents have them, or else sentence starts: spaCy
    does not store both."""
    with_tree = [doc for doc in docs if len(doc) and doc.has_annotation("DEP")]
    trees = bool(with_tree) and len(with_tree) == sum(1 for doc in docs if len(doc))
    if not trees:
        for number, doc in enumerate(docs, start=1):
            if len(doc) and doc.has_annotation("DEP"):
                warn_loss(
                    doc_name(doc, number),
                    "its trees are left out, because others of the file have none.",
                )
    attrs = (*_ATTRS, *(("HEAD", "DEP") if trees else ("SENT_START",)))
    return DocBin(attrs=attrs, store_user_data=True, docs=docs)
