"""``he-coref segment``: the words of a text and the morphemes of each."""

import json
import sys
from enum import Enum
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Any,
    Dict,
    Iterable,
    Iterator,
    List,
    Optional,
    Sequence,
    Tuple,
)

import typer
from rich.cells import cell_len

from . import DEFAULT_MODEL, fail, load_pipeline, run_until

if TYPE_CHECKING:
    from spacy.tokens import Doc

# First strong isolate, its end, and the left-to-right mark: they keep a Hebrew
# cell whole and the columns in order on a terminal that reorders the line.
FSI, PDI, LRM = "\u2068", "\u2069", "\u200e"
HEADER = ("word", "segments", "morphemes", "kinds")
WIDEST = 32


# What the commands on texts have in common.
TEXT = typer.Argument(
    None,
    help="The text, or `-` to read the standard input, one document a line.",
    show_default=False,
)
FILE = typer.Option(
    None,
    "--file",
    "-f",
    help="Read this file instead, one document a line (UTF-8).",
    show_default=False,
)
MODEL = typer.Option(
    DEFAULT_MODEL, "--model", "-m", help="Model package, or a pipeline's directory."
)


class OutputFormat(str, Enum):
    """Formats that ``he-coref segment`` writes."""

    text = "text"
    jsonl = "jsonl"
    conllu = "conllu"


def describe(doc: "Doc") -> List[Dict[str, Any]]:
    """The written words of a document with their segments and morphemes.

    doc (Doc): The document, segmented or not.
    RETURNS (List[Dict[str, Any]]): For each word but white space its text, start
        and end (character offsets in ``doc.text``) and segments; each of those
        with its text, start, end, kind and morphemes (form, and whether it is
        the one that the letters spell), as in section 1 of the design.
    """
    from ..tokens import word_bounds

    of_token: List[List[Dict[str, Any]]] = [[] for _ in range(len(doc))]
    for morpheme in doc._.morphemes:
        of_token[morpheme.token].append(
            {"form": morpheme.form, "written": morpheme.written}
        )
    words: List[Dict[str, Any]] = []
    for first, last in word_bounds(doc):
        span = doc[first:last]
        if span.text.isspace():
            continue
        segments = [
            {
                "text": token.text,
                "start": token.idx,
                "end": token.idx + len(token),
                "kind": token._.segment_kind,
                "morphemes": of_token[token.i],
            }
            for token in span
        ]
        words.append(
            {
                "text": span.text,
                "start": span.start_char,
                "end": span.end_char,
                "segments": segments,
            }
        )
    return words


def to_text(words: List[Dict[str, Any]], terminal: bool) -> Iterator[str]:
    """Lines for a reader: word, segments, morphemes, kinds.

    words (List[Dict[str, Any]]): The words, from ``describe``.
    terminal (bool): Align the columns and guard them against reordering by the
        terminal; otherwise they are separated by tabs.
    YIELDS (str): One line per word.
    """
    rows: List[Tuple[str, ...]] = []
    for word in words:
        segments = word["segments"]
        forms = [
            m["form"] if m["written"] else f"({m['form']})"
            for segment in segments
            for m in segment["morphemes"]
        ]
        rows.append(
            (
                word["text"],
                "|".join(segment["text"] for segment in segments),
                " + ".join(forms),
                " ".join(segment["kind"] for segment in segments),
            )
        )
    if rows and terminal:
        rows.insert(0, HEADER)
    yield from table_lines(rows, terminal)


def table_lines(rows: Sequence[Sequence[str]], terminal: bool) -> Iterator[str]:
    """Lines of a table of Hebrew.

    rows (Sequence[Sequence[str]]): The cells.
    terminal (bool): Align the columns and guard them against reordering by the
        terminal; otherwise they are separated by tabs.
    YIELDS (str): One line per row.
    """
    if not terminal:
        yield from ("\t".join(" ".join(cell.split()) for cell in row) for row in rows)
        return
    columns = range(len(rows[0]) if rows else 0)
    widths = [min(WIDEST, max(cell_len(row[i]) for row in rows)) for i in columns]
    for row in rows:
        cells = (
            f"{FSI}{cell}{PDI}" + " " * (width - cell_len(cell))
            for cell, width in zip(row, widths, strict=True)
        )
        yield LRM + "  ".join(cells).rstrip()


def read_lines(path: str) -> Iterator[str]:
    """The documents of a file, one a line.

    path (str): The file, or ``-`` for the standard input.
    YIELDS (str): The lines without their ends.
    RAISES (typer.Exit): If the file cannot be read; the message names the line.
    """
    name = "standard input" if path == "-" else path
    try:
        stream = sys.stdin.buffer if path == "-" else Path(path).open("rb")
    except OSError as error:
        fail(f"cannot read {path}: {error.strerror}.")
    with stream:
        for number, line in enumerate(stream, start=1):
            try:
                text = line.decode("utf8").rstrip("\r\n")
            except UnicodeDecodeError:
                fail(f"{name}, line {number}: not UTF-8. Convert the file first.")
            yield text.removeprefix("\ufeff") if number == 1 else text


def read_texts(text: Optional[str], file: Optional[str]) -> Iterable[str]:
    """The documents that a command was given.

    text (Optional[str]): One text, or ``-`` for the standard input.
    file (Optional[str]): A file, one document a line.
    RETURNS (Iterable[str]): The texts.
    RAISES (typer.BadParameter): If both are given, or none.
    """
    if text is not None and file is None:
        return read_lines("-") if text == "-" else [text]
    if file is not None and text is None:
        return read_lines(file)
    raise typer.BadParameter(
        "give a text, or a file with --file (one of the two)", param_hint="TEXT"
    )


def show_progress(docs: "Iterable[Doc]", terminal: bool) -> "Iterable[Doc]":
    """A progress bar on the standard error, unless the output is one itself.

    docs (Iterable[Doc]): The documents.
    terminal (bool): Whether the output scrolls by on a terminal.
    RETURNS (Iterable[Doc]): The documents.
    """
    from tqdm import tqdm

    off = True if terminal else None
    return tqdm(docs, unit=" docs", delay=2, disable=off, file=sys.stderr)


def segment(
    text: Optional[str] = TEXT,
    file: Optional[str] = FILE,
    model: str = MODEL,
    output: OutputFormat = typer.Option(
        OutputFormat.text, "--output", "-o", help="Format of the output."
    ),
) -> None:
    """Print the written words of a Hebrew text and the morphemes of each.

    A written word is what stands between spaces and punctuation. Its *segments* are
    the letters of its written morphemes and spell it exactly; some *morphemes* are not
    written, and stand in brackets:

    ```
    $ he-coref segment "בשטחים"
    בשטחים   ב|שטחים   ב + (ה_) + שטחים        prefix host
    $ he-coref segment "דבריו"
    דבריו    דברי|ו    דבר + (_של_) + _הוא     host clitic
    ```

    A trailing `_` marks a morpheme that is not written (`ה_` is the article swallowed
    by ב, כ, ל), a leading one a pronoun that is written as a suffix (`_הוא`). The kinds
    of segments are `prefix`, `host` and `clitic`, or `word` for a word of one segment.

    **Formats**

    * `text`: one line per word: word, segments, morphemes, kinds. Aligned on a
      terminal, separated by tabs elsewhere; an empty line between documents.
    * `jsonl`: one JSON object per document, in order of the input, with the character
      offsets of every word and segment in the text.
    * `conllu`: CoNLL-U with the morphemes as words and the written words as ranges.

    **More examples**

    ```
    he-coref segment --file articles.txt --output jsonl > articles.jsonl
    cat articles.txt | he-coref segment - --output conllu
    he-coref segment --model training/model-best "דבריו של השר"
    ```
    """
    texts = read_texts(text, file)
    nlp = load_pipeline(model)
    run_until(nlp, "he_retokenizer")
    from ..corpus.export import doc_to_conllu

    terminal = sys.stdout.isatty()
    for number, doc in enumerate(show_progress(nlp.pipe(texts), terminal), start=1):
        words = describe(doc)
        if output is OutputFormat.jsonl:
            typer.echo(
                json.dumps({"text": doc.text, "words": words}, ensure_ascii=False)
            )
        elif output is OutputFormat.conllu:
            for line in doc_to_conllu(doc, str(number), number):
                typer.echo(line)
        else:
            if number > 1:
                typer.echo()
            for line in to_text(words, terminal):
                typer.echo(line)
