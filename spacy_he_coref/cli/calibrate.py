"""``he-coref calibrate``: choose the cuts of he_coref, and calibrate confidences."""

from pathlib import Path
from typing import Any, Dict, Optional

import typer

from . import fail, load_pipeline


def calibrate(
    model: str = typer.Argument(..., help="Model package, or a pipeline's directory."),
    corpus: Path = typer.Argument(
        ..., help="A .spacy file with gold clusters that was not trained on."
    ),
    keep_cuts: bool = typer.Option(
        False, "--keep-cuts", help="Calibrate confidences only, with the present cuts."
    ),
    link_cut: Optional[float] = typer.Option(
        None,
        "--link-cut",
        help="Set this cut for links, look for none, and calibrate confidences.",
        show_default=False,
    ),
    write: bool = typer.Option(
        False,
        "--write",
        help="Write the result into the config of the pipeline, which has to be a "
        "directory.",
    ),
) -> None:
    """Find the best cuts of he_coref, and make its confidences mean what they say.

    Tries a grid of cuts for mentions and links and takes the ones with the best CoNLL
    F1; then fits slope and intercept of the log-odds of links (Platt scaling). A link
    is right if both of its mentions are in one gold cluster.

    CORPUS is one of `he-coref corpus annotate`, whose tags and trees are used, or one
    of `he-coref corpus build`, whose segments and sentences the pipeline gets. Figures
    are percentages, `ece` is the expected calibration error of links in percent
    points. The column `halves` is fitted on either half of the documents and tested on
    the other: what to expect on new text of the kind. `pronoun_cut` stays as it is.

    ```
    he-coref calibrate training/coref/model-best corpora/dev_segments.spacy
    he-coref calibrate training/coref/model-best corpora/dev_segments.spacy --write
    ```
    """
    from functools import partial

    from tqdm import tqdm

    from ..coref import calibration
    from ..coref.component import find_component
    from ..evaluation.coref import has_clusters
    from .evaluate import read_corpus, shown

    path = Path(model) / "config.cfg"
    if write and not path.is_file():
        fail(f"--write needs the directory of a saved pipeline; {model} is none.")
    nlp = load_pipeline(model)
    docs = read_corpus(corpus, nlp)
    if not all(has_clusters(doc) for doc in docs):
        fail(
            f"{corpus} has documents without gold clusters. Use one that "
            "he-coref corpus build or annotate made from KibutzR."
        )
    track = partial(tqdm, delay=2, disable=None)
    try:
        name = find_component(nlp)
        component: Any = nlp.get_pipe(name)
        if link_cut is not None:
            component.link_cut = link_cut
        before = (component.mention_cut, component.link_cut)
        examples = calibration.read_examples(
            nlp, docs, track=partial(track, total=len(docs), unit=" docs")
        )
        report = calibration.calibrate(
            component,
            examples,
            keep_cuts=keep_cuts or link_cut is not None,
            track=partial(track, unit=" cuts"),
        )
    except ValueError as error:
        fail(str(error))
    settings = report["settings"]
    if write:
        write_settings(path, name, settings)
    typer.echo(f"{'':<14}{'before':>10}{'after':>10}{'halves':>10}")
    cuts = zip(("mention_cut", "link_cut"), before, strict=True)
    for key, value in cuts:
        typer.echo(f"{key:<14}{value:>10.2f}{settings[key]:>10.2f}")
    for key in ("conll_f1", "ece"):
        row = "".join(f"{shown(value):>10}" for value in report[key].values())
        typer.echo(f"{key:<14}{row}")
    slope, intercept = settings["calibration"]
    typer.echo(f"\ncalibration   [{slope}, {intercept}]")
    typer.echo(f"documents     {report['documents']}")
    typer.echo(f"links         {report['links']}")
    if write:
        typer.echo(f"\nWritten to {path}.")


def write_settings(path: Path, name: str, settings: Dict[str, Any]) -> None:
    """Change settings of a component in the config of a saved pipeline.

    path (Path): The file ``config.cfg``.
    name (str): Name of the component.
    settings (Dict[str, Any]): The settings.
    RAISES (typer.Exit): If the file cannot be written.
    """
    from thinc.api import Config

    config = Config().from_disk(path, interpolate=False)
    config["components"][name].update(settings)
    try:
        config.to_disk(path)
    except OSError as error:
        fail(f"cannot write {path}: {error.strerror}.")
