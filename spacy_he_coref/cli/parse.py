"""``he-coref parse``: tags, trees and mention candidates of a text."""

import sys
from enum import Enum
from typing import TYPE_CHECKING, Dict, Iterator, List, Optional

import typer

from . import fail, load_pipeline, run_until
from .segment import FILE, MODEL, TEXT, read_texts, show_progress, table_lines

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span

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

    starting: Dict[int, List[Span]] = {}
    for span in doc.spans.get(MENTIONS, []):
        starting.setdefault(span.start, []).append(span)
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
        yield from table_lines([HEADER, *table], terminal)
        mentions = [
            ("mention", mention_kind(doc, span.start, span.end), span.text)
            for token in tokens
            for span in starting.get(token.i, [])
        ]
        yield from table_lines(mentions, terminal)
        yield ""


def parse(
    text: Optional[str] = TEXT,
    file: Optional[str] = FILE,
    model: str = MODEL,
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
    from .mentions import mentions_to_conllu

    terminal = sys.stdout.isatty()
    for number, doc in enumerate(show_progress(nlp.pipe(texts), terminal), start=1):
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
