"""``he-coref ensemble``: join networks of several seeds in one pipeline."""

from pathlib import Path
from typing import Any, Dict, List, Optional

import typer

from . import fail, load_pipeline


def ensemble(
    models: List[str] = typer.Argument(
        ..., metavar="MODEL...", help="Pipelines of one config and several seeds."
    ),
    output: Path = typer.Option(
        ..., "--output", "-o", help="Directory of the joined pipeline."
    ),
    antecedents: Optional[int] = typer.Option(
        None,
        "--antecedents",
        min=1,
        help="Antecedents of a mention that get fine scores in use, if others than in "
        "training; fewer are faster.",
        show_default=False,
    ),
) -> None:
    """Join coreference models of several seeds: their scores are averaged.

    They must be trained with the same config on the same frozen encoder. Calibrate the
    result: its best cuts are others than those of its members.

    ```
    he-coref ensemble training/coref_1/model-best training/coref_2/model-best \\
        --output training/coref --antecedents 25
    he-coref calibrate training/coref corpora/dev_segments.spacy --write
    ```
    """
    from ..coref.ensemble import join_pipelines

    overrides: Dict[str, Any] = {}
    if antecedents is not None:
        overrides["components.he_coref.model.antecedents"] = antecedents
    if len(models) < 2:
        fail("one model is no ensemble. Give two or more.")
    try:
        joined = join_pipelines([load_pipeline(model, overrides) for model in models])
    except ValueError as error:
        fail(str(error))
    joined.to_disk(output)
    typer.echo(f"{len(models)} models joined in {output}.", err=True)
