"""``he-coref compare`` and ``he-coref report``: what metrics files say together."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, List, Optional

import typer

from . import fail
from .evaluate import write_json, write_pages

if TYPE_CHECKING:
    from ..evaluation.systems import System

FILES = (
    "Metrics file of `he-coref evaluate coref --json`, or those of several seeds of "
    "one system with commas between."
)


def read(files: List[str]) -> "List[System]":
    """Read metrics files that can stand beside each other.

    files (List[str]): The arguments of the command.
    RETURNS (List[System]): The systems.
    RAISES (typer.Exit): If they cannot; names the file.
    """
    from ..evaluation.systems import read_systems

    try:
        return read_systems(files)
    except ValueError as error:
        fail(str(error))


def compare(
    first: str = typer.Argument(..., help=FILES, metavar="A.json"),
    second: Optional[str] = typer.Argument(
        None, help="The same of another system.", metavar="B.json", show_default=False
    ),
    json: Optional[Path] = typer.Option(
        None, "--json", help="Write the comparison to this file."
    ),
) -> None:
    """Compare two systems on the same documents, regime by regime.

    A paired bootstrap draws the documents again, 10,000 times, and takes the difference
    of both systems in each draw. Printed are the F1 of both in percent, the difference
    (first less second) with its 95% interval, and the two-sided p-value.

    Several files of one system are its seeds: their mean counts, and mean and spread
    (standard deviation) are printed. With one system alone that is all.

    The files must be on the same documents with the same gold clusters, singletons and
    match; if not, the command says what differs.

    **Examples**

    ```
    he-coref compare metrics/coref.json metrics/coref_wl.json
    he-coref compare seed1.json,seed2.json,seed3.json metrics/coref_wl.json
    he-coref compare seed1.json,seed2.json,seed3.json
    ```
    """
    from ..evaluation.systems import compare_systems

    systems = read([first] if second is None else [first, second])
    spreads: Dict[str, Any] = {}
    for i, system in enumerate(systems, 1):
        typer.echo(f"{i}  {system.name}  ({', '.join(system.files)})")
    for system in systems:
        if len(system.runs) == 1 and len(systems) > 1:
            continue
        typer.echo(f"\n{system.name}, CoNLL F1 of {len(system.runs)} runs")
        for regime in system.regimes():
            mean, spread = system.conll_f1(regime)
            runs = [run[regime]["conll_f1"] for run in system.runs]
            typer.echo(
                f"{regime:<16}{mean:>8.2f} ± {spread:.2f}   "
                + " ".join(f"{value:.2f}" for value in runs)
            )
            spreads.setdefault(system.name, {})[regime] = {
                "mean": mean,
                "spread": spread,
                "runs": runs,
            }
    report: Dict[str, Any] = {"seeds": spreads}
    if len(systems) == 2:
        try:
            found = compare_systems(*systems)
        except ValueError as error:
            fail(str(error))
        for regime, metrics in found.items():
            typer.echo(f"\n{regime:<12}{'1':>8}{'2':>8}{'1 - 2':>9}{'95%':>19}{'p':>9}")
            for name, c in metrics.items():
                ends = f"{c.interval[0]:+.2f} to {c.interval[1]:+.2f}"
                typer.echo(
                    f"{name:<12}{c.first:>8.2f}{c.second:>8.2f}{c.difference:>+9.2f}"
                    f"{ends:>19}{c.p_value:>9.4f}"
                )
        report["regimes"] = {
            regime: {name: c._asdict() for name, c in metrics.items()}
            for regime, metrics in found.items()
        }
    if json is not None:
        conditions = {"systems": {s.name: s.files for s in systems}}
        write_json(json, report, conditions)


def report(
    directory: Path = typer.Argument(
        ..., help="Folder for report.md and report.html.", metavar="DIR"
    ),
    files: List[str] = typer.Argument(..., help=FILES, metavar="A.json [B.json ...]"),
    corpus: Optional[Path] = typer.Option(
        None,
        "--corpus",
        help="The .spacy file that was measured, for excerpts; by default the one that "
        "the metrics file names, if it is there.",
        show_default=False,
    ),
) -> None:
    """Write a page on one system or several from their metrics files.

    `report.html` is one file without scripts that needs no network; it shows the
    results by regime with intervals, where the loss begins, breakdowns, error types
    with examples, what comes before coreference, calibration, and published values
    beside ours. `report.md` has the same without plots.

    **The page has excerpts of the corpus**: keep it out of what you publish unless the
    licence of the corpus allows it.

    **Examples**

    ```
    he-coref report reports metrics/coref.json metrics/coref_wl.json
    he-coref report reports seed1.json,seed2.json,seed3.json --corpus corpora/dev.spacy
    ```
    """
    from ..evaluation.run import document_names

    systems = read(files)
    asked = corpus is not None
    corpus = corpus or Path(systems[0].first["conditions"]["corpus"])
    texts: Dict[str, str] = {}
    if corpus.is_file():
        from spacy.lang.he import Hebrew

        from .evaluate import read_corpus

        docs = read_corpus(corpus, Hebrew())
        names = document_names(docs)
        ids = [document["id"] for document in systems[0].first["documents"]]
        if names != ids:
            fail(
                f"{corpus} is not the corpus of {systems[0].files[0]}: its documents "
                "are others. Name the one that was measured with --corpus."
            )
        texts = dict(zip(names, (doc.text for doc in docs), strict=True))
    elif asked:
        fail(f"there is no corpus file {corpus}.")
    write_pages(directory, systems, texts)
