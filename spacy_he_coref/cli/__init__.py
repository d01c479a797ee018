"""The console command ``he-coref`` and what its commands share."""

from typing import TYPE_CHECKING, Any, Dict, NoReturn, Optional

import typer

if TYPE_CHECKING:
    from spacy.language import Language

DEFAULT_MODEL = "he_coref"


def fail(message: str) -> NoReturn:
    """Stop the command with a message on stderr and exit code 1.

    message (str): What is wrong, and what to do about it.
    RAISES (typer.Exit): Always.
    """
    typer.secho(f"Error: {message}", fg=typer.colors.RED, err=True)
    raise typer.Exit(1)


def run_until(nlp: "Language", factory: str) -> bool:
    """Leave out the components after the last one that a factory made.

    nlp (Language): The pipeline; changed.
    factory (str): Name of the factory.
    RETURNS (bool): Whether there is such a component; if not, all stay.
    """
    names = nlp.pipe_names
    ours = [name for name in names if nlp.get_pipe_meta(name).factory == factory]
    if ours:
        nlp.select_pipes(enable=names[: names.index(ours[-1]) + 1])
    return bool(ours)


def load_pipeline(
    name: str, overrides: "Optional[Dict[str, Any]]" = None
) -> "Language":
    """Load the pipeline that a command was asked to use.

    name (str): An installed package, or the directory of a saved pipeline.
    overrides (Optional[Dict[str, Any]]): Values by dotted names of its config.
    RETURNS (Language): The pipeline.
    RAISES (typer.Exit): If there is no such pipeline; says how to get one.
    """
    import spacy

    options: Dict[str, Any] = {"config": overrides} if overrides else {}
    try:
        return spacy.load(name, **options)
    except OSError as error:
        if "[E050]" not in str(error):
            raise
    if name == DEFAULT_MODEL:
        fail(
            f"the model {name} is not installed. It is in the repository of "
            "spacy_he_coref: pip install assets/he_coref-*.whl. For another "
            "pipeline give its directory or package with --model."
        )
    fail(
        f"{name!r} is neither an installed model package nor the directory of a "
        "saved pipeline."
    )
