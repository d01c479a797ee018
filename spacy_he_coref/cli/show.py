"""``he-coref show``: a page on which the clusters of texts can be looked at."""

import sys
import tempfile
import webbrowser
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Iterator, List, Optional

import typer

from ..corpus.conllu import CorpusError
from ..formats.table import FORMATS, SPACY, read_docs
from . import fail
from .mentions import open_output
from .resolve import (
    ALSO_SINGLETONS,
    MIN_CONFIDENCE,
    SOURCE,
    InputFormat,
    check_files,
    count_documents,
    keep_confident,
    read_documents,
    resolve_documents,
)
from .segment import MODEL

if TYPE_CHECKING:
    from spacy.tokens import Doc

# Saved documents, which have their clusters already.
SAVED = ".spacy"


class Language(str, Enum):
    """Languages that the page can speak."""

    he = "he"
    en = "en"


def show(
    files: List[str] = typer.Argument(
        ...,
        help="Text files (UTF-8), JSON lines (`.jsonl`), each line a document, and "
        "saved documents that have their clusters (`.spacy`); `-` is the standard "
        "input.",
        show_default=False,
    ),
    output: Optional[Path] = typer.Option(
        None,
        "--output",
        "-o",
        help="Write the page to this file. Without it the page opens in the browser; "
        "if the output is piped, it goes there.",
        show_default=False,
    ),
    model: str = MODEL,
    source: Optional[InputFormat] = SOURCE,
    singletons: bool = ALSO_SINGLETONS,
    min_confidence: float = MIN_CONFIDENCE,
    language: Language = typer.Option(
        Language.he, "--language", help="Language of what is around the text."
    ),
) -> None:
    """Draw the clusters of Hebrew texts on a page for the browser.

    ```
    he-coref show article.txt
    he-coref show article.txt -o article.html
    ```

    All files come on one page (saved documents last), each with its text and, beside
    it, its clusters. Every
    mention has the number of its cluster, its colour and the pattern of its line, also
    inside a word and inside other mentions. Point at a mention, or reach it with Tab,
    and its whole cluster lights up; left and right arrows go through the cluster, `/`
    searches, Escape ends. The page is one file that fetches nothing, so it can be
    mailed, and printed, also without colour.

    **More examples**

    ```
    he-coref show texts/*.txt --min-confidence 0.5 -o texts.html
    he-coref show corpora/dev.spacy --language en -o gold.html
    cat article.txt | he-coref show - > article.html
    ```

    In a notebook the last line `doc._.coref` of a cell shows the same, and
    `spacy_he_coref.display.render(docs)` gives the page as a string.
    """
    check_files(files, "Write the text to a file, or send it to `he-coref show -`.")
    saved = [path for path in files if Path(path).suffix == SAVED]
    texts = [path for path in files if Path(path).suffix != SAVED]
    docs: List[Doc] = []
    lost: List[str] = []
    if texts:
        docs += resolve_documents(
            model,
            read_documents(texts, source),
            singletons=singletons,
            min_confidence=min_confidence,
            lost=lost,
            total=count_documents(texts, source),
            terminal=False,
        )
    docs += (keep_confident(doc, min_confidence) for doc in _saved_documents(saved))
    from ..display import render

    page = render(docs, jupyter=False, singletons=singletons, language=language.value)
    look = output is None and _is_terminal()
    if look:
        output = Path(tempfile.mkdtemp(prefix="he-coref-")) / "clusters.html"
    with open_output(output) as stream:
        stream.write(page or "")
    if look and output is not None:
        typer.echo(f"The page is {output}", err=True)
        webbrowser.open(output.as_uri())
    if lost:
        raise typer.Exit(1)


def _is_terminal() -> bool:
    return sys.stdout.isatty()


def _saved_documents(files: List[str]) -> "Iterator[Doc]":
    for path in files:
        try:
            yield from read_docs(path, FORMATS[SPACY])
        except CorpusError as error:
            fail(f"cannot read {error}")
