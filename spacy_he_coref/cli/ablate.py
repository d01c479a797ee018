"""``he-coref ablate``: what each part of coreference is worth."""

from pathlib import Path
from typing import Any, Dict, List, Optional

import typer

from . import fail


def ablate(
    context: typer.Context,
    config: Path = typer.Argument(..., help="The config, as for he-coref train."),
    variants: Path = typer.Argument(
        ..., help="What is different in each variant, such as configs/ablation.cfg."
    ),
    seeds: str = typer.Option("1,2,3", "--seeds", help="Seeds, with commas between."),
    output: Path = typer.Option(
        ..., "--output", "-o", help="JSON file for the results, written after each run."
    ),
    only: Optional[str] = typer.Option(
        None,
        "--only",
        help="Names of the variants to run, with commas between; the first of the "
        "file is what the others are compared with. By default all.",
        show_default=False,
    ),
    fresh: bool = typer.Option(
        False, "--fresh", help="Start again, even if there are results."
    ),
) -> None:
    """Train variants of a config on a short schedule and compare them.

    VARIANTS has a section for each, named after it, with dotted names of the config as
    keys, and `[all]` with what is different in all, such as the number of steps.
    Overrides such as `--training.max_steps 100` go before both. The vectors of a frozen
    encoder are computed once for all runs; one that is trained along makes them slower.

    Every run is evaluated on the dev corpus at its end. The table has the mean and
    standard deviation over seeds, in percent, and the difference to the first variant:

    * `best_conll_f1`: CoNLL F1 with the best cuts of a small grid; `conll_f1` with
      those of the config.
    * `given_conll_f1`: with gold mentions, singletons among them.
    * `all_mentions_f1`: F1 of mentions, singletons among them.

    What the pipeline's other scorers say is in the output file.

    Runs that are in the output file are not repeated: a stopped ablation goes on.

    ```
    he-coref ablate configs/coref.cfg configs/ablation.cfg --output ablation.json
    he-coref ablate configs/coref.cfg configs/ablation.cfg --output ablation.json \\
        --seeds 1 --only full,no_features --training.max_steps 200
    ```
    """
    from spacy.cli._util import parse_config_overrides, show_validation_error
    from tqdm import tqdm

    from ..training.ablation import (
        COLUMNS,
        Run,
        plan_runs,
        read_variants,
        run_ablation,
        summarize,
    )

    for path in (config, variants):
        if not path.is_file():
            fail(f"there is no file {path}.")
    try:
        numbers = [int(seed) for seed in seeds.split(",")]
    except ValueError:
        fail(f"{seeds!r} are no seeds. Write numbers with commas between, as in 1,2,3.")
    overrides = parse_config_overrides(context.args)

    def report(run: Run, result: Dict[str, Any]) -> None:
        figures = "  ".join(f"{name} {result[name]:.2f}" for name in COLUMNS)
        line = f"{run.name}, seed {run.seed}: {figures}  ({result['seconds']:.0f} s)"
        tqdm.write(line, file=None)

    def track(steps: Any, title: str) -> Any:
        total = done.get(title)
        return tqdm(steps, desc=title, total=total, leave=False, disable=None)

    done: Dict[str, int] = {}
    try:
        chosen = read_variants(variants)
        if only is not None:
            names = only.split(",")
            unknown = sorted(set(names) - {variant.name for variant in chosen})
            if unknown:
                fail(f"{variants} has no variant {', '.join(unknown)}.")
            chosen = [variant for variant in chosen if variant.name in names]
        with show_validation_error(config, hint_fill=False):
            runs = plan_runs(config, chosen, numbers, overrides)
            for run in runs:
                steps = run.config["training"]["max_steps"]
                done[f"{run.name}, seed {run.seed}"] = steps
            results = run_ablation(
                runs, output, fresh=fresh, report=report, track=track
            )
    except (ValueError, FileNotFoundError) as error:
        fail(str(error))
    for line in _table(summarize(results), COLUMNS):
        typer.echo(line)


def _table(rows: List[Dict[str, Any]], columns: "tuple[str, ...]") -> List[str]:
    width = max(len(row["variant"]) for row in rows) + 2
    lines = [f"{'':<{width}}{'runs':>4}" + "".join(f"{c:>26}" for c in columns)]
    lines.append(
        f"{'':<{width}}{'':>4}" + f"{'mean':>12}{'sd':>7}{'diff':>7}" * len(columns)
    )
    for row in rows:
        cells = ""
        for column in columns:
            cell = row[column]
            sd = "-" if cell["sd"] is None else f"{cell['sd']:.2f}"
            diff = cell["difference"]
            shown = "-" if diff is None else f"{diff:+.2f}"
            cells += f"{cell['mean']:>12.2f}{sd:>7}{shown:>7}"
        lines.append(f"{row['variant']:<{width}}{row['runs']:>4}{cells}")
    return lines
