"""``he-coref encoder``: make pretrained encoders ready for Hebrew."""

from pathlib import Path
from typing import TYPE_CHECKING, Iterator, List, Optional

import typer

from . import fail

if TYPE_CHECKING:
    from ..encoder.prune import Comparison

# Missing pieces to print.
_SHOWN = 20

app = typer.Typer(no_args_is_help=True, help="Make pretrained encoders for Hebrew.")


@app.callback()
def _group() -> None:
    """Make pretrained encoders for Hebrew."""


@app.command()
def prune(
    model: str = typer.Argument(
        ..., help="Directory of a model, or its name on the hub."
    ),
    output: Path = typer.Argument(..., help="Directory to write; not there yet."),
    text: Optional[List[Path]] = typer.Option(
        None, "--text", "-t", help="Plain text to compare the pieces of; repeat."
    ),
    keep_latin: int = typer.Option(
        6000, "--keep-latin", min=0, help="Frequent pieces of ASCII letters to keep."
    ),
    strict: bool = typer.Option(
        False, "--strict", help="Write nothing if the pieces of the text change."
    ),
) -> None:
    """Cut the vocabulary of a multilingual encoder down to what Hebrew needs.

    Keeps the pieces with Hebrew letters and points, digits, punctuation and symbols,
    single letters, and the most frequent ones of Latin letters; their embeddings,
    and the layers, stay as they are (in 16 bits). For models with a unigram
    vocabulary, such as XLM-R and multilingual E5. With `--text` it reports the share
    of pieces that were dropped: where there is none, the model gives what it gave.

    ```
    he-coref encoder prune intfloat/multilingual-e5-small assets/me5-he
    he-coref encoder prune xlm-roberta-base xlmr-he --text texts.txt --strict
    ```
    """
    from ..encoder.prune import (
        PruneError,
        compare_segmentation,
        load_tokenizer,
        prune_encoder,
        prune_tokenizer,
    )

    for path in text or ():
        if not path.is_file():
            fail(f"there is no text file {path}.")
    try:
        tokenizer = load_tokenizer(model)
        before = tokenizer.backend_tokenizer.to_str()
        pruning = prune_tokenizer(before, keep_latin)
        _print_row("pieces kept", f"{len(pruning.kept):,} of {pruning.before:,}")
        for kind, number in pruning.kinds.most_common():
            _print_row(f"  {kind}", f"{number:,}")
        if text:
            found = compare_segmentation(before, pruning, _lines(text))
            _print_comparison(found)
            if strict and found.same < found.lines:
                fail(
                    f"{found.lines - found.same:,} lines are segmented in another way, "
                    "so nothing was written. Raise --keep-latin, or leave out --strict."
                )
        parameters = prune_encoder(model, output, tokenizer, pruning)
    except PruneError as error:
        fail(f"{model}: {error}")
    except UnicodeDecodeError as error:
        fail(f"a text file is not UTF-8 ({error}). Convert it and try again.")
    size = sum(path.stat().st_size for path in output.iterdir()) / 1e6
    _print_row("parameters", f"{parameters / 1e6:.2f} M")
    _print_row(f"{output}", f"{size:.1f} MB")


def _lines(paths: List[Path]) -> Iterator[str]:
    for path in paths:
        with path.open(encoding="utf8") as file:
            for line in file:
                yield line.rstrip("\r\n")


def _print_comparison(found: "Comparison") -> None:
    missing = sum(found.missing.values())
    share = missing / found.pieces if found.pieces else 0.0
    _print_row("lines with the same pieces", f"{found.same:,} of {found.lines:,}")
    _print_row("pieces dropped", f"{missing:,} of {found.pieces:,} ({share:.3%})")
    for piece, number in found.missing.most_common(_SHOWN):
        _print_row(f"  {piece}", f"{number:,}")
    rest = len(found.missing) - _SHOWN
    if rest > 0:
        _print_row("  others", f"{rest:,} different ones")


def _print_row(name: str, value: str) -> None:
    typer.echo(f"{name:<32}{value}")
