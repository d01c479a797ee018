"""``he-coref train``: train a pipeline, with checkpoints to go on from."""

from pathlib import Path
from typing import Optional

import typer

from . import fail

# What typer needs to pass on overrides of the config, such as --training.max_steps.
CONTEXT = {"allow_extra_args": True, "ignore_unknown_options": True}


def train(
    context: typer.Context,
    config: Path = typer.Argument(..., help="The config, as for spacy train."),
    output: Path = typer.Option(
        ..., "--output", "-o", help="Directory to write to; made if it is not there."
    ),
    gpu: int = typer.Option(-1, "--gpu-id", "-g", help="GPU, or -1 for the CPU."),
    code: Optional[Path] = typer.Option(
        None, "--code", "-c", help="Python file that registers functions."
    ),
    resume: bool = typer.Option(
        True,
        "--resume/--fresh",
        help="Go on from the checkpoint in the output directory, if there is one; or "
        "delete it and start again.",
    ),
    checkpoint_seconds: float = typer.Option(
        300.0, "--checkpoint-seconds", help="Time between checkpoints, in seconds."
    ),
) -> None:
    """Train a pipeline, or go on with its training.

    Reads the config of `spacy train`, with overrides such as
    `--training.max_steps 100`, and writes `model-best`, `model-last` and `log.jsonl`
    (scores, losses and seconds of every evaluation). Ctrl-C or SIGTERM writes a
    checkpoint and stops. After that, or after a crash, the same command goes on where
    the checkpoint was written, and the result is the same as without the break.

    ```
    he-coref train configs/segmenter_light.cfg --output training/light
    he-coref train configs/segmenter_light.cfg --output training/light --fresh \\
        --training.max_steps 100
    ```
    """
    from spacy.cli._util import (
        import_code,
        parse_config_overrides,
        setup_gpu,
        show_validation_error,
    )

    from ..training import CheckpointError, TrainingInterrupted
    from ..training import train as run

    if not config.is_file():
        fail(f"there is no config file {config}.")
    overrides = parse_config_overrides(context.args)
    import_code(code)
    setup_gpu(gpu)
    try:
        with show_validation_error(config, hint_fill=False):
            run(
                config,
                output,
                resume=resume,
                overrides=overrides,
                use_gpu=gpu,
                checkpoint_seconds=checkpoint_seconds,
            )
    except CheckpointError as error:
        fail(str(error))
    except TrainingInterrupted as stop:
        typer.echo(str(stop), err=True)
        # What a shell reports for a program that a signal ended.
        raise typer.Exit(128 + stop.signal) from None
