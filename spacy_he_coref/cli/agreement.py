"""``he-coref agreement``: how far annotators agree."""

from functools import partial
from pathlib import Path
from typing import Optional

import typer

from . import fail
from .evaluate import coref_lines, print_conditions, write_json
from .score import notes


def agreement(
    directory: Path = typer.Argument(
        ..., help="Folder with the annotations, KibutzR files, in it or below."
    ),
    pairs: Path = typer.Option(
        ..., "--pairs", help="Table of the files that belong together; see below."
    ),
    singletons: bool = typer.Option(
        False, "--singletons", help="Count clusters of one mention too."
    ),
    json: Optional[Path] = typer.Option(
        None, "--json", help="Write metrics and conditions to this file."
    ),
) -> None:
    """Measure how far annotators agree on clusters.

    Every pair of annotations of one document is compared like a prediction and gold,
    and the figures are means over all pairs, in percent, with the metrics of `he-coref
    score`. The table of pairs is separated by tabs; its columns `file_a` and `file_b`
    have the names of files. Brackets that are not closed are left out, and reported.

    **Examples**

    ```
    he-coref agreement kibutzr/annotation --pairs kibutzr/annotation/pairs.tsv
    he-coref agreement round_1 --pairs round_1.tsv --json agreement.json
    ```
    """
    from tqdm import tqdm

    from ..corpus.conllu import CorpusError
    from ..evaluation.agreement import annotator_agreement

    track = partial(tqdm, unit=" pairs", delay=2, disable=None)
    try:
        metrics, conditions = annotator_agreement(
            directory, pairs, singletons=singletons, track=track
        )
    except (CorpusError, OSError) as error:
        fail(str(error))
    conditions = {"annotations": str(directory), "list": str(pairs), **conditions}
    if json is not None:
        # First, so that a reader who closes the pipe does not lose it.
        write_json(json, metrics, conditions)
    notes(conditions.pop("notes"))
    for line in coref_lines(metrics):
        typer.echo(line)
    print_conditions(conditions)
