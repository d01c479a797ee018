"""``he-coref resolve``: the clusters of texts."""

import json
import sys
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Iterator, List, Optional, TextIO, Tuple

import typer

from ..formats.table import get_format
from . import DEFAULT_MODEL, fail, load_pipeline
from .convert import write_output
from .mentions import open_output, read_document
from .segment import MODEL, read_lines, table_lines

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

# Components that find clusters; the second one ends wl-coref.
FACTORIES = ("he_coref", "he_wl_clusters")
JSON_LINES = (".jsonl", ".ndjson")

# What it has in common with ``he-coref show``.
SOURCE = typer.Option(
    None,
    "--from",
    help="What the files are, where their names do not say it.",
    show_default=False,
)
ALSO_SINGLETONS = typer.Option(
    False, "--singletons", help="Also mentions that nothing else refers to."
)
MIN_CONFIDENCE = typer.Option(
    0.0,
    "--min-confidence",
    min=0.0,
    max=1.0,
    help="Leave out clusters (and singletons) that are less certain.",
)


class ResolveFormat(str, Enum):
    """What ``he-coref resolve`` writes: a list, or a format of ``formats.table``."""

    text = "text"
    jsonl = "jsonl"
    corefud = "corefud"
    conll = "conll"
    kibutzr = "kibutzr"
    brat = "brat"
    webanno = "webanno"
    markdown = "markdown"
    spacy = "spacy"


class InputFormat(str, Enum):
    """Formats that ``he-coref resolve`` reads."""

    text = "text"
    jsonl = "jsonl"


def read_documents(
    files: List[str], format: Optional[InputFormat]
) -> Iterator[Tuple[str, str]]:
    """The documents of files.

    files (List[str]): The files; ``-`` is the standard input.
    format (Optional[InputFormat]): What they are; by default the name of each says
        it (``JSON_LINES``).
    YIELDS (Tuple[str, str]): Name and text of each document.
    RAISES (typer.Exit): If a file cannot be read, or a line is not JSON with a text;
        names both.
    """
    for path in files:
        if _is_jsonl(path, format):
            yield from _read_jsonl(path)
        else:
            yield path, read_document(path)


def _is_jsonl(path: str, format: Optional[InputFormat]) -> bool:
    if format is None:
        return Path(path).suffix.lower() in JSON_LINES
    return format is InputFormat.jsonl


def _read_jsonl(path: str) -> Iterator[Tuple[str, str]]:
    name = "standard input" if path == "-" else path
    for number, line in enumerate(read_lines(path), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            fail(
                f"{name}, line {number}: not JSON ({error}). Every line must be an "
                'object with a text: {"id": "1", "text": "..."}.'
            )
        if not isinstance(row, dict) or not isinstance(row.get("text"), str):
            fail(
                f'{name}, line {number}: no "text". Every line must be an object with '
                'a text: {"id": "1", "text": "..."}.'
            )
        found = row.get("id")
        yield f"{path}:{number}" if found is None else str(found), row["text"]


def resolution_lines(doc: "Doc", name: str) -> Iterator[str]:
    """Lines for other programs: the clusters of a document as a numbered list.

    doc (Doc): The document, resolved.
    name (str): Its name.
    YIELDS (str): A line that says what there is; then columns separated by tabs: for
        each cluster its number, main mention, size and confidence; under it each
        mention with its offsets in the text and the confidence of its link; at the
        end an empty line. For the eye there is ``display.terminal.terminal_view``.
    """
    from ..display.terminal import list_rows, summary

    coref = doc._.coref
    yield f"{name}: {summary(coref)}"
    rows = [cells for _, cells in list_rows(coref, None)]
    yield from table_lines(rows, terminal=False)
    yield ""


def keep_confident(doc: "Doc", minimum: float) -> "Doc":
    """Remove the clusters and singletons that are less certain.

    doc (Doc): The document, resolved; changed.
    minimum (float): The least confidence, in [0, 1]. What has none stays.
    RETURNS (Doc): The document.
    """
    from spacy.tokens import SpanGroup

    from ..coref.clusters import cluster_keys
    from ..corpus.docs import SINGLETONS

    for key in cluster_keys(doc):
        if doc.spans[key].attrs.get("confidence", 1.0) < minimum:
            del doc.spans[key]
    coref = doc._.coref
    scored = zip(coref.singletons, coref.singleton_confidences, strict=True)
    kept = [
        (span, score) for span, score in scored if score is None or score >= minimum
    ]
    if len(kept) < len(coref.singletons):
        doc.spans[SINGLETONS] = SpanGroup(
            doc,
            name=SINGLETONS,
            attrs={"confidences": [score for _, score in kept]},
            spans=[span for span, _ in kept],
        )
    return doc


def resolve_documents(
    model: str,
    documents: Iterator[Tuple[str, str]],
    *,
    singletons: bool,
    min_confidence: float,
    lost: List[str],
    total: Optional[int],
    terminal: bool,
) -> "Iterator[Doc]":
    """Resolve documents with a model, in order, with a progress bar.

    model (str): An installed package, or the directory of a saved pipeline.
    documents (Iterator[Tuple[str, str]]): Name and text of each.
    singletons (bool): Also find mentions that nothing else refers to.
    min_confidence (float): The least confidence of what is kept, in [0, 1].
    lost (List[str]): Gets the names of documents that failed; they are reported.
    total (Optional[int]): How many documents there are, if known.
    terminal (bool): Whether the output scrolls by, which is progress enough.
    RETURNS (Iterator[Doc]): The documents, their names in ``doc._.source``.
    RAISES (typer.Exit): If the model finds no clusters, or no singletons; at once.
    """
    from tqdm import tqdm

    nlp = load_pipeline(model)
    names = nlp.pipe_names
    ours = [n for n in names if nlp.get_pipe_meta(n).factory in FACTORIES]
    if not ours:
        fail(
            f"{model} has no {FACTORIES[0]}, so it finds no clusters. Choose a model "
            f"that does, such as {DEFAULT_MODEL}, or train one: he-coref train --help."
        )
    if singletons:
        resolver: Any = nlp.get_pipe(ours[-1])
        if not hasattr(resolver, "singletons"):
            fail(f"{ours[-1]} of {model} finds no singletons. Leave out --singletons.")
        resolver.singletons = True

    def report(_: str, __: Any, docs: "List[Doc]", error: Exception) -> Any:
        for doc in docs:
            _report(lost, doc._.source["id"], error)

    nlp.set_error_handler(report)
    progress = tqdm(
        nlp.pipe(_documents(nlp, documents, lost)),
        total=total,
        unit=" docs",
        delay=2,
        disable=True if terminal else None,
        file=sys.stderr,
    )
    return (keep_confident(doc, min_confidence) for doc in progress)


def check_files(files: List[str], hint: str) -> None:
    """Stop if one of the files is not there, before anything is done.

    files (List[str]): The files; ``-`` is the standard input.
    hint (str): What to do then.
    RAISES (typer.Exit): If there is no such file.
    """
    for path in files:
        if path != "-" and not Path(path).exists():
            fail(f"there is no file {path}. {hint}")


def count_documents(files: List[str], format: Optional[InputFormat]) -> Optional[int]:
    """The number of documents of files, if it is known without reading them.

    files (List[str]): The files.
    format (Optional[InputFormat]): What they are (see ``read_documents``).
    RETURNS (Optional[int]): None if one of them has a document on every line.
    """
    return None if any(_is_jsonl(path, format) for path in files) else len(files)


def _documents(
    nlp: "Language", found: Iterator[Tuple[str, str]], lost: List[str]
) -> "Iterator[Doc]":
    for name, text in found:
        try:
            doc = nlp.make_doc(text)
        except ValueError as error:
            _report(lost, name, error)
            continue
        doc._.source = {"id": name}
        yield doc


def _report(lost: List[str], name: str, error: Exception) -> None:
    lost.append(name)
    kind = "" if isinstance(error, ValueError) else f"{type(error).__name__}: "
    message = f"Error: {name} was left out: {kind}{error}"
    typer.secho(message, fg=typer.colors.RED, err=True)


def resolve(
    files: Optional[List[str]] = typer.Argument(
        None,
        help="Text files (UTF-8), each a document, and JSON lines (`.jsonl`), each "
        "line a document; `-` is the standard input.",
        show_default=False,
    ),
    text: Optional[str] = typer.Option(
        None, "--text", "-t", help="Resolve this text instead.", show_default=False
    ),
    model: str = MODEL,
    source: Optional[InputFormat] = SOURCE,
    target: ResolveFormat = typer.Option(
        ResolveFormat.text, "--to", help="Format of the output."
    ),
    output: Optional[Path] = typer.Option(
        None,
        "--output",
        "-o",
        help="Write to this file instead of the standard output.",
        show_default=False,
    ),
    singletons: bool = ALSO_SINGLETONS,
    min_confidence: float = MIN_CONFIDENCE,
) -> None:
    """Find who and what a Hebrew text talks about, and where.

    ```
    $ he-coref resolve --text "דנה פגשה את אחיה. היא חיבקה אותו."
    text: 2 clusters, 5 mentions

    [דנה]₁ פגשה את [אחי[ה]₁]₂. [היא]₁ חיבקה אות[ו]₂.

    1.  דנה         3 mentions  94%
        דנה         0:3
        ה (אחיה)    15:16       94%
        היא         18:21       94%
    ...
    ```

    A cluster is all mentions of one person or thing, under the mention that says
    best who it is, with offsets in the text. A mention can be the end of a word: that
    word stands in brackets. The confidence of a mention is that of its link to one
    before it, and a cluster's is the mean (geometric) of its links.

    **Input**: a text file is one document. In JSON lines every line is an object with
    `text`, and with `id` if the document has a name. `--from jsonl` reads them from
    the standard input.

    **Formats**

    * `text`: on a terminal the text with its mentions, in colours, and the list
      above; elsewhere the list alone, separated by tabs. NO_COLOR=1 leaves out the
      colours. For a page of HTML: `he-coref show`.
    * `jsonl`: one JSON object per document, in order: `id`, `text`, `clusters` (each
      with `main`, the place of the main mention in `mentions`; `confidence`;
      `mentions` with `text`, `start`, `end`, `kind`, `confidence`) and `singletons`.
    * `conll`: CoNLL-2012 with the morphemes as words, those that are not written
      among them, and the clusters in the last column: what coreference scorers read.
    * `corefud` (CoNLL-U), `kibutzr`, `brat`, `webanno` (for INCEpTION), `markdown` and
      `spacy`: see `he-coref convert --help`. Of `kibutzr`, `brat`, `webanno` and
      `markdown` a file holds one document; with a folder as `--output` each gets one.

    A document that fails is reported and left out; the others go on, and the exit
    code is 1.

    **More examples**

    ```
    he-coref resolve article.txt
    he-coref resolve texts/*.txt --to jsonl --output clusters.jsonl
    he-coref resolve corpus.jsonl --to conll --min-confidence 0.5 > corpus.conll
    cat article.txt | he-coref resolve - --singletons
    cat corpus.jsonl | he-coref resolve - --from jsonl --to jsonl
    ```
    """
    if (text is None) == (not files):
        raise typer.BadParameter(
            "give files, or a text with --text (one of the two)", param_hint="FILES"
        )
    given = files or []
    check_files(given, "To resolve a text itself, write it after --text.")
    lost: List[str] = []
    docs = resolve_documents(
        model,
        read_documents(given, source) if text is None else iter([("text", text)]),
        singletons=singletons,
        min_confidence=min_confidence,
        lost=lost,
        total=count_documents(given, source) if text is None else 1,
        terminal=output is None and sys.stdout.isatty(),
    )
    if target is ResolveFormat.text:
        with open_output(output) as stream:
            _write_text(docs, stream)
    else:
        write_output(docs, get_format(target.value), output)
    if lost:
        raise typer.Exit(1)


def _write_text(docs: "Iterator[Doc]", stream: TextIO) -> None:
    if stream.isatty():
        from rich.console import Console

        from ..display.terminal import terminal_view

        # Asks the environment for colours (NO_COLOR, TERM) and width.
        console = Console(file=stream, highlight=False)
        for doc in docs:
            for line in terminal_view(doc._.coref, doc._.source["id"], console):
                console.print(line, soft_wrap=True)
        return
    for doc in docs:
        for row in resolution_lines(doc, doc._.source["id"]):
            typer.echo(row, file=stream)
