"""``he-coref convert``: documents with clusters from one format to another."""

import sys
import warnings
from contextlib import contextmanager
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Iterable, Iterator, Optional, Union

import typer

from ..formats.documents import LossWarning, blank_pipeline
from ..formats.table import (
    FORMATS,
    SPACY,
    WRITABLE,
    Format,
    find_files,
    format_of_name,
    get_format,
    read_docs,
    read_stream,
    write_docs,
)
from . import fail

if TYPE_CHECKING:
    from spacy.tokens import Doc

SourceFormat = Enum("SourceFormat", [(n, n) for n in FORMATS], type=str)  # type: ignore
TargetFormat = Enum("TargetFormat", [(n, n) for n in WRITABLE], type=str)  # type: ignore


@contextmanager
def report_losses() -> Iterator[None]:
    """Say on the standard error what a format cannot hold, each thing once."""

    def show(message: Any, *_: Any, **__: Any) -> None:
        typer.secho(f"Warning: {message}", fg=typer.colors.YELLOW, err=True)

    with warnings.catch_warnings():
        warnings.simplefilter("default", LossWarning)
        warnings.showwarning = show
        yield


def write_output(
    docs: "Iterable[Doc]", format: Format, output: Union[str, Path, None]
) -> None:
    """Write documents for a command.

    docs (Iterable[Doc]): The documents.
    format (Format): The format.
    output (Union[str, Path, None]): A file or folder; None is the standard output.
    RAISES (typer.Exit): If they cannot be written; says why.
    """
    if output is None and format.name == SPACY and sys.stdout.isatty():
        fail("a terminal cannot show spacy. Write to a file.")
    try:
        with report_losses():
            write_docs(docs, format, sys.stdout if output is None else output)
    except BrokenPipeError:
        # Who reads the output has seen enough; typer ends quietly.
        raise
    except OSError as error:
        fail(f"{error.filename or output}: {error.strerror}.")
    except ValueError as error:
        fail(str(error))


def convert(
    source: str = typer.Argument(
        ...,
        metavar="IN",
        help="A file, a folder of files, or `-` for the standard input.",
        show_default=False,
    ),
    target: str = typer.Argument(
        ...,
        metavar="OUT",
        help="A file, a folder (with `/` at its end, or there already), or `-` for the "
        "standard output.",
        show_default=False,
    ),
    from_: Optional[SourceFormat] = typer.Option(
        None,
        "--from",
        help="Format of IN, where its name or content does not say it.",
        show_default=False,
    ),
    to: Optional[TargetFormat] = typer.Option(
        None,
        "--to",
        help="Format of OUT, where the end of its name does not say it.",
        show_default=False,
    ),
) -> None:
    """Convert documents with clusters from one format to another.

    No model is needed, and none is used: what the file does not say is not added.

    **Formats**, with the ends of names that say them:

    * `jsonl` (`.jsonl`): character offsets, as `he-coref resolve --to jsonl` has them.
    * `corefud` (`.conllu`): CorefUD 1.x: morphemes, words, tags, trees, `Entity=`.
    * `conll` (`.conll`): CoNLL-2012, over morphemes.
    * `kibutzr`: KibutzR's five columns, a document a file (`.conllu` is read too).
    * `brat` (`.ann` with `.txt` beside it): brat standoff.
    * `webanno` (`.tsv`): WebAnno TSV 3.3, what INCEpTION imports and exports.
    * `markdown` (`.md`): `[mention](#1)`, as in prompts for language models.
    * `spacy` (`.spacy`): spaCy's DocBin; everything, for training and evaluation.
    * `lingmess`, `wl-coref` (`.jsonlines`): their JSON lines; read only. As for
      `score`, `lingmess-inclusive` and `lingmess-exclusive` say where a mention ends.

    In a folder every document is a file of its own, named after it; a file of
    `kibutzr`, `brat`, `webanno` or `markdown` holds one document. Files that are there
    are written over. What a format cannot
    hold is left out with a warning. `docs/formats.md` has a table of that, and the
    rules by which a text is spelled from formats that have none.

    **Examples**

    ```
    he-coref convert clusters.jsonl clusters.conllu
    he-coref convert corpora/dev.spacy inception/ --to webanno    # a file a document
    he-coref convert inception/ annotated.spacy --from webanno    # and back, to train
    he-coref convert article.ann article.md
    cat out.jsonl | he-coref convert - - --from jsonl --to conll > out.conll
    ```
    """
    from tqdm import tqdm

    from ..corpus.conllu import CorpusError

    given = get_format(from_.value) if from_ else None
    written = get_format(to.value) if to else _format_of(target)
    nlp = blank_pipeline()
    try:
        if source == "-":
            if given is None:
                fail("say the format of the standard input with --from.")
            if given.name == "brat":
                fail("brat has two files a document. Give a file or a folder.")
            docs = read_stream(sys.stdin.buffer, given, nlp)
        else:
            files = find_files(source, given)
            _check_target(files, source, target)
            docs = read_docs(source, given, nlp)
        progress = tqdm(
            docs,
            unit=" docs",
            delay=2,
            # Output that scrolls by is progress enough.
            disable=True if target == "-" and sys.stdout.isatty() else None,
            file=sys.stderr,
        )
        write_output(progress, written, None if target == "-" else target)
    except CorpusError as error:
        fail(str(error))
    except BrokenPipeError:
        raise
    except OSError as error:
        fail(f"{error.filename or source}: {error.strerror}.")


def _format_of(target: str) -> Format:
    found = None if target == "-" else format_of_name(target)
    if found is None or not found.writable:
        fail(
            f"the name {target} does not say a format to write. Say it with --to: "
            f"{', '.join(WRITABLE)}."
        )
    return found


def _check_target(files: Iterable[Path], source: str, target: str) -> None:
    """Stop before a file is written over while it is read."""
    out = Path(target)
    same_folder = out.is_dir() and Path(source).is_dir() and out.samefile(source)
    if target != "-" and (
        same_folder or (out.is_file() and any(out.samefile(file) for file in files))
    ):
        fail(f"{target} is the input itself. Give another name for the output.")
