"""``he-coref parse``: tags, trees and mention candidates of a text."""

import sys
from enum import Enum
from typing import TYPE_CHECKING, Iterator, List, Optional

import typer
from rich.cells import cell_len

from . import DEFAULT_MODEL, fail, load_pipeline, run_until
from .segment import FSI, LRM, PDI, read_texts

if TYPE_CHECKING:
    from spacy.tokens import Doc

HEADER = ("id", "morpheme", "lemma", "tag", "head", "relation", "features")


class ParseFormat(str, Enum):
    """Formats that ``he-coref parse`` writes."""

    text = "text"
    conllu = "conllu"


def describe_sentences(doc: "Doc", terminal: bool) -> Iterator[str]:
    """Lines for a reader: the morphemes of each sentence, then its mentions.

    doc (Doc): The document, with tags and trees.
    terminal (bool): Align the columns and guard them against reordering by the
        terminal; otherwise they are separated by tabs.
    YIELDS (str): The lines, an empty one after each sentence.
    """
    from ..corpus.morphemes import morpheme_sentences, sentence_tokens
    from ..mentions import MENTIONS, mention_kind

    for rows, tokens in zip(morpheme_sentences(doc), sentence_tokens(doc), strict=True):
        table = [
            (
                str(i),
                row.form,
                row.lemma,
                row.upos,
                "" if row.head is None else str(row.head),
                row.deprel,
                row.feats,
            )
            for i, row in enumerate(rows, start=1)
        ]
        yield from _table([HEADER, *table], terminal)
        inside = {token.i for token in tokens}
        for span in doc.spans.get(MENTIONS, []):
            if span.start in inside:
                cells = ("mention", mention_kind(doc, span.start, span.end), span.text)
                yield from _table([cells], terminal)
        yield ""


def _table(rows: "List[tuple[str, ...]]", terminal: bool) -> Iterator[str]:
    if not terminal:
        yield from ("\t".join(" ".join(cell.split()) for cell in row) for row in rows)
        return
    widths = [max(cell_len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        cells = (
            f"{FSI}{cell}{PDI}" + " " * (width - cell_len(cell))
            for cell, width in zip(row, widths, strict=True)
        )
        yield LRM + "  ".join(cells).rstrip()


def parse(
    text: Optional[str] = typer.Argument(
        None,
        help="The text to parse, or `-` to read the standard input, one document a "
        "line.",
        show_default=False,
    ),
    file: Optional[str] = typer.Option(
        None,
        "--file",
        "-f",
        help="Read this file instead, one document a line (UTF-8).",
        show_default=False,
    ),
    model: str = typer.Option(
        DEFAULT_MODEL, "--model", "-m", help="Model package, or a pipeline's directory."
    ),
    output: ParseFormat = typer.Option(
        ParseFormat.text, "--output", "-o", help="Format of the output."
    ),
) -> None:
    """Print the tags, trees and mention candidates of a Hebrew text.

    One line per morpheme of the treebank's scheme, those that are not written among
    them, with its lemma, part of speech, head (0 is the root), relation and features;
    after each sentence the mentions in it: what can be referred to again.

    **Formats**

    * `text`: columns, aligned on a terminal and separated by tabs elsewhere.
    * `conllu`: CoNLL-U with the written words as ranges, and mentions in MISC
      (see `he-coref mentions --help`).

    **Examples**

    ```
    he-coref parse "דבריו נאמרו בשטחים."
    he-coref parse --file articles.txt --output conllu > articles.conllu
    ```
    """
    texts = read_texts(text, file)
    nlp = load_pipeline(model)
    run_until(nlp, "he_mentions")
    from tqdm import tqdm

    from .mentions import mentions_to_conllu

    terminal = sys.stdout.isatty()
    progress = tqdm(
        nlp.pipe(texts),
        unit=" docs",
        delay=2,
        # Output that scrolls by is progress enough.
        disable=True if terminal else None,
        file=sys.stderr,
    )
    for number, doc in enumerate(progress, start=1):
        if len(doc) and not doc.has_annotation("DEP"):
            fail(f"{model} makes no trees. Choose a model that does, such as he_coref.")
        doc._.source = {"id": str(number)}
        lines = (
            mentions_to_conllu(doc, number)
            if output is ParseFormat.conllu
            else describe_sentences(doc, terminal)
        )
        for line in lines:
            typer.echo(line)
