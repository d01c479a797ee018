"""``he-coref mentions``: mention candidates of texts, for annotators."""

import json
import sys
from contextlib import contextmanager
from enum import Enum
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Any,
    Dict,
    Iterable,
    Iterator,
    List,
    NoReturn,
    Optional,
    TextIO,
)

import typer

from . import DEFAULT_MODEL, fail, load_pipeline, run_until

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc


class MentionFormat(str, Enum):
    """Formats that ``he-coref mentions`` writes."""

    jsonl = "jsonl"
    conllu = "conllu"


def describe_mentions(doc: "Doc") -> Dict[str, Any]:
    """A document with its mention candidates.

    doc (Doc): The document, after ``he_mentions``.
    RETURNS (Dict[str, Any]): Its name (``doc``), ``text``, and ``mentions`` in order of
        the text, each with ``start`` and ``end`` (character offsets), ``text`` and
        ``kind`` (``mentions.kinds``).
    """
    from ..mentions import MENTIONS, mention_kind

    return {
        "doc": doc._.source["id"],
        "text": doc.text,
        "mentions": [
            {
                "start": span.start_char,
                "end": span.end_char,
                "text": span.text,
                "kind": mention_kind(doc, span.start, span.end),
            }
            for span in doc.spans[MENTIONS]
        ],
    }


def mentions_to_conllu(doc: "Doc", number: int) -> Iterator[str]:
    """Lines of CoNLL-U with mention candidates (see ``corpus.export``).

    doc (Doc): The document, after ``he_mentions``.
    number (int): Its number in the output, from 1.
    YIELDS (str): The lines.
    """
    from ..corpus.export import TypedMention, doc_to_conllu
    from ..mentions import MENTIONS, mention_kind

    found = [
        TypedMention(span.start, span.end, mention_kind(doc, span.start, span.end))
        for span in doc.spans[MENTIONS]
    ]
    return doc_to_conllu(doc, doc._.source["id"], number, found)


def read_document(path: str) -> str:
    """The text of a file, with its line ends as they are.

    path (str): The file, or ``-`` for the standard input.
    RETURNS (str): Its text without a byte order mark.
    RAISES (typer.Exit): If it cannot be read; the message names file and line.
    """
    name = "standard input" if path == "-" else path
    try:
        data = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
    except OSError as error:
        fail(f"cannot read {path}: {error.strerror}.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        fail(f"{name}, line {line}: not UTF-8. Convert the file first.")


def _documents(nlp: "Language", files: Iterable[str]) -> "Iterator[Doc]":
    for path in files:
        text = read_document(path)
        try:
            doc = nlp.make_doc(text)
        except ValueError as error:
            fail(f"{path}: {error}")
        doc._.source = {"id": path}
        yield doc


def _fail_with_files(
    name: str, _: Any, docs: "List[Doc]", error: Exception
) -> NoReturn:
    """Error handler of the pipeline: says which files it was."""
    if not isinstance(error, ValueError):
        raise error
    files = ", ".join(doc._.source["id"] for doc in docs)
    fail(f"{files}: {name}: {error}")


@contextmanager
def open_output(path: Optional[Path]) -> Iterator[TextIO]:
    """The file to write to.

    path (Optional[Path]): The file; None is the standard output.
    YIELDS (TextIO): The stream.
    RAISES (typer.Exit): If the file cannot be written.
    """
    if path is None:
        yield sys.stdout
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        stream = path.open("w", encoding="utf8", newline="\n")
    except OSError as error:
        fail(f"cannot write {path}: {error.strerror}.")
    with stream:
        yield stream


def mentions(
    files: List[str] = typer.Argument(
        ...,
        help="Text files (UTF-8), each a document; `-` is the standard input.",
        show_default=False,
    ),
    model: str = typer.Option(
        DEFAULT_MODEL, "--model", "-m", help="Model package, or a pipeline's directory."
    ),
    format: MentionFormat = typer.Option(
        MentionFormat.jsonl, "--format", help="Format of the output."
    ),
    output: Optional[Path] = typer.Option(
        None,
        "--output",
        help="Write to this file instead of the standard output.",
        show_default=False,
    ),
) -> None:
    """Write the mention candidates of texts, as a start for annotation.

    Every file is one document. The candidates are those of the rule-based detector of
    the model (`he_mentions`); they may nest, and are not linked to each other.

    **Formats**

    * `jsonl`: one JSON object per document: `doc` (the file), `text`, and `mentions`
      with the character offsets `start` and `end`, the `text` and the `kind` of each:
      `clitic`, `pronoun`, `name`, `nominal`, `nested`, `coordinated`.
    * `conllu`: CoNLL-U with the morphemes as words, the written words as ranges, tags
      and trees. MISC has `Entity=` with the brackets of CorefUD (`eid-etype`; every
      candidate is an entity of its own, its type the kind), `Seg=a:b` with the letters
      of the written word that are the morpheme's, and `Span=a:b` with the character
      offsets of the written word in the document.

    **Examples**

    ```
    he-coref mentions article.txt
    he-coref mentions texts/*.txt --format conllu --output candidates.conllu
    cat article.txt | he-coref mentions - --model training/model-best
    ```
    """
    nlp = load_pipeline(model)
    # What comes after it does not change the candidates.
    if not run_until(nlp, "he_mentions"):
        fail(
            f"{model} has no he_mentions. Choose a model that finds mentions, or add "
            "it after the parser: nlp.add_pipe('he_mentions')."
        )
    from tqdm import tqdm

    nlp.set_error_handler(_fail_with_files)
    with open_output(output) as stream:
        progress = tqdm(
            nlp.pipe(_documents(nlp, files)),
            total=len(files),
            unit=" files",
            delay=2,
            # Output that scrolls by is progress enough.
            disable=True if output is None and sys.stdout.isatty() else None,
            file=sys.stderr,
        )
        for number, doc in enumerate(progress, start=1):
            if format is MentionFormat.jsonl:
                row = describe_mentions(doc)
                typer.echo(json.dumps(row, ensure_ascii=False), file=stream)
                continue
            for line in mentions_to_conllu(doc, number):
                typer.echo(line, file=stream)
