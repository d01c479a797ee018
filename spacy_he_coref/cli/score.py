"""``he-coref score``: figures for predictions that are in files."""

from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, List, Optional

import typer

from . import fail
from .evaluate import Match, coref_lines, print_conditions, write_json

if TYPE_CHECKING:
    from ..formats.records import CorefRecord

# Notes that are shown one by one.
NOTES = 5


class RecordFormat(str, Enum):
    """Formats that ``he-coref score`` reads; those of ``formats.reading``."""

    conll2012 = "conll2012"
    kibutzr = "kibutzr"
    corefud = "corefud"
    lingmess = "lingmess"
    lingmess_inclusive = "lingmess-inclusive"
    lingmess_exclusive = "lingmess-exclusive"
    wl_coref = "wl-coref"
    jsonl = "jsonl"


def score(
    gold: Path = typer.Argument(..., help="File or folder with the right clusters."),
    predicted: Path = typer.Argument(..., help="File or folder with predicted ones."),
    from_gold: Optional[RecordFormat] = typer.Option(
        None,
        "--from-gold",
        help="Format of GOLD; by default its content tells.",
        show_default=False,
    ),
    from_predicted: Optional[RecordFormat] = typer.Option(
        None,
        "--from-predicted",
        help="Format of PREDICTED; by default its content tells.",
        show_default=False,
    ),
    match: Match = typer.Option(
        Match.exact, "--match", help="When a predicted mention is right; see below."
    ),
    singletons: bool = typer.Option(
        False, "--singletons", help="Count clusters of one mention too."
    ),
    json: Optional[Path] = typer.Option(
        None, "--json", help="Write metrics and conditions to this file."
    ),
) -> None:
    """Score the clusters of any system, from files.

    **Formats**, each a file or a folder of files, and not the same on both sides:

    * `conll2012`: CoNLL-2012, as `he-coref resolve --to conll` writes it.
    * `kibutzr`: KibutzR's own files, one document each.
    * `corefud`: CoNLL-U with the mentions of CorefUD 1.x.
    * `lingmess`: JSON lines with `doc_key`, `sentences`, `clusters`. The second number
      of a mention is the token after its last one, unless a mention `[i, i]` shows that
      it is the last one; `lingmess-inclusive` and `lingmess-exclusive` say it.
    * `wl-coref`: JSON lines with `document_id`, `cased_words`, `span_clusters`.
    * `jsonl`: JSON lines of `{"doc": ..., "clusters": [[[first, last], ...], ...]}`.

    **Documents** are paired by name. One without a prediction counts as empty, and is
    named; a prediction that gold does not have is an error, and so is another text.
    Mentions are compared by their tokens, or by their first and last letters where
    tokens were cut in another way.

    **Mentions** are right with `--match exact` if they have the tokens of a gold one.
    As CorefUD's scorer has it, with `partial` they have tokens of a gold one only, its
    head among them; with `head` they have the same head. That needs files with heads or
    trees: `corefud`, or JSON lines with `head`.

    **Figures** are precision, recall and F1 in percent, counts summed over documents,
    singletons dropped: `mentions`, `muc`, `b3`, `ceafe`, `ceafm`, `lea`, `blanc`; and
    `conll_f1`, the mean F1 of MUC, B3 and CEAF-e.

    **Examples**

    ```
    he-coref score gold.conll predicted.conll
    he-coref score kibutzr/dev predictions.jsonlines --json score.json
    he-coref score gold.conllu predicted.conllu --match head --singletons
    he-coref score gold/ out.jsonl --from-predicted lingmess-inclusive
    ```
    """
    from ..corpus.conllu import CorpusError
    from ..evaluation.foreign import score_records
    from ..formats.reading import read_records

    try:
        sides = [
            read_records(path, given and given.value)
            for path, given in ((gold, from_gold), (predicted, from_predicted))
        ]
        found, conditions = score_records(
            *sides, singletons=singletons, match=match.value
        )
    except (CorpusError, OSError, ValueError) as error:
        fail(str(error))
    metrics = found.report()
    conditions = {
        "gold": str(gold),
        "gold_format": _formats(sides[0]),
        "predicted": str(predicted),
        "predicted_format": _formats(sides[1]),
        **conditions,
    }
    if json is not None:
        # First, so that a reader who closes the pipe does not lose it.
        write_json(json, metrics, conditions)
    missing = conditions.pop("missing")
    if missing:
        note(
            f"{len(missing)} of {conditions['documents']} documents have no prediction "
            f"and count as empty: {', '.join(missing)}"
        )
    if not metrics["counts"]["gold_mentions"]:
        note(f"{gold} has no clusters that count, so all figures are 0.")
    notes(conditions.pop("notes"))
    for line in coref_lines(metrics):
        typer.echo(line)
    counts = {
        name.replace("_", " "): number for name, number in metrics["counts"].items()
    }
    dropped = {
        f"dropped, {side}": [
            f"{number} {what.replace('_', ' ')}" for what, number in left.items()
        ]
        for side, left in metrics["dropped"].items()
    }
    conditions["compared_by"] = [*conditions["compared_by"]]
    print_conditions({**counts, **dropped, **conditions})


def _formats(records: "List[CorefRecord]") -> List[str]:
    return sorted({record.format for record in records})


def notes(texts: List[str]) -> None:
    """Say on stderr what was read by some rule, the first ones of many.

    texts (List[str]): What to say.
    """
    for text in texts[:NOTES]:
        note(text)
    if len(texts) > NOTES:
        note(f"and {len(texts) - NOTES} more notes; --json has all.")


def note(text: str) -> None:
    """Say something on stderr.

    text (str): What to say.
    """
    typer.secho(f"Note: {text}", fg=typer.colors.YELLOW, err=True)
