"""The typer app of ``he-coref``: its commands and groups."""

import platform
from importlib.metadata import PackageNotFoundError, version

import typer

from ..about import __version__
from . import DEFAULT_MODEL, corpus, encoder, evaluate, load_pipeline
from .ablate import ablate
from .agreement import agreement
from .calibrate import calibrate
from .compare import compare, report
from .convert import convert
from .ensemble import ensemble
from .mentions import mentions
from .parse import parse
from .resolve import resolve
from .score import score
from .segment import segment
from .show import show
from .train import CONTEXT, train

# Packages whose versions decide what runs, with the extra that brings each.
PACKAGES = {
    "spacy": "",
    "thinc": "",
    "torch": "",
    "spacy-transformers": "",
    "spacy-experimental": "wl",
    "matplotlib": "plots",
}

app = typer.Typer(
    name="he-coref",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    help="""Hebrew coreference over morphemes, with spaCy.

    **First steps**

    ```
    he-coref resolve --text "דנה פגשה את אחיה. היא חיבקה אותו."
    he-coref parse "דנה פגשה את אחיה בבית הספר."
    he-coref segment "דנה פגשה את אחיה בבית הספר."
    he-coref info
    he-coref COMMAND --help
    ```

    Every command has a help page with examples. Results go to the standard output,
    progress and errors to the standard error.
    """,
)
app.command()(resolve)
app.command()(show)
app.command()(convert)
app.command()(segment)
app.command()(parse)
app.command()(mentions)
app.command(context_settings=CONTEXT)(train)
app.command(context_settings=CONTEXT)(ablate)
app.command()(calibrate)
app.command()(ensemble)
app.command()(score)
app.command()(agreement)
app.command()(compare)
app.command()(report)
app.add_typer(corpus.app, name="corpus")
app.add_typer(evaluate.app, name="evaluate")
app.add_typer(encoder.app, name="encoder")


@app.command()
def info(
    model: str = typer.Option(
        DEFAULT_MODEL, "--model", "-m", help="Model package, or a pipeline's directory."
    ),
) -> None:
    """Print the versions in use, and the model with its components and licence.

    Add the output to a bug report.

    ```
    he-coref info
    he-coref info --model training/model-best
    ```
    """
    rows = [("spacy_he_coref", f"{__version__} (MIT)")]
    rows.append(("Python", platform.python_version()))
    for name, extra in PACKAGES.items():
        try:
            rows.append((name, version(name)))
        except PackageNotFoundError:
            how = f" (pip install 'spacy_he_coref[{extra}]')" if extra else ""
            rows.append((name, f"not installed{how}"))
    _print_rows(rows)
    meta = load_pipeline(model).meta
    _print_rows(
        [
            ("model", f"{meta['lang']}_{meta['name']} {meta['version']}"),
            ("made for spaCy", meta["spacy_version"]),
            ("components", ", ".join(meta["pipeline"]) or "none"),
            ("licence", meta["license"] or "not stated"),
        ]
    )


def _print_rows(rows: "list[tuple[str, str]]") -> None:
    for name, value in rows:
        typer.echo(f"{name:<20}{value}")


def main() -> None:
    """Run the command line."""
    app()
