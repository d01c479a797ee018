"""``he-coref evaluate``: one command per thing that is measured."""

from enum import Enum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Optional

import typer

from . import fail, load_pipeline

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="""Measure a pipeline on a gold corpus.

    Every command takes a MODEL, an installed package or the directory of a saved
    pipeline, and a CORPUS, a `.spacy` file made by `he-coref corpus build`. It prints a
    table, and with `--json` writes the same numbers and the conditions to a file.
    """,
)

# Metric and what it says, in the order of the table.
SEGMENTATION_METRICS = {
    "morpheme_f1": "morphemes, F1 inside aligned tokens",
    "levi_tsarfaty_f1": "morphemes, F1 of each sentence's multiset",
    "conll18_words_f1": "words of the CoNLL 2018 shared task, F1",
    "words_right": "written words fully right",
    "multi_words_right": "of those with several morphemes",
    "boundaries_f1": "borders between segments, F1",
    "tokens_f1": "written words found by the tokenizer, F1",
    "prefix_f1": "prefixes, F1",
    "clitic_f1": "clitics, F1",
    "covert_article_f1": "unwritten articles, F1",
    "base_forms_right": "base forms of hosts that a suffix changed",
}


class Given(str, Enum):
    """What the pipeline gets of a gold document."""

    raw = "raw"
    words = "words"


@app.callback()
def evaluate() -> None:
    """Keep ``segmentation`` a command of its own while it is the only one."""


def read_corpus(path: Path, nlp: "Language") -> "List[Doc]":
    """Read the gold documents of a ``.spacy`` file.

    path (Path): The file.
    nlp (Language): The pipeline whose vocabulary they get.
    RETURNS (List[Doc]): The documents.
    RAISES (typer.Exit): If there are none; says what to do.
    """
    from spacy.tokens import DocBin

    how = "Make one with: he-coref corpus build --output DIR"
    if not path.is_file():
        fail(f"there is no corpus file {path}. {how}")
    try:
        docs = list(DocBin().from_disk(path).get_docs(nlp.vocab))
    except Exception as error:
        fail(f"{path} is not a .spacy corpus ({type(error).__name__}). {how}")
    if not docs:
        fail(f"{path} has no documents. {how}")
    return docs


@app.command()
def segmentation(
    model: str = typer.Argument(..., help="Model package, or a pipeline's directory."),
    corpus: Path = typer.Argument(..., help="A .spacy file with gold segments."),
    given: Given = typer.Option(
        Given.raw,
        "--from",
        help="What the pipeline gets: the raw text of each document, or its written "
        "words and sentences.",
    ),
    json: Optional[Path] = typer.Option(
        None, "--json", help="Write metrics and conditions to this file."
    ),
) -> None:
    """Measure how well words are split into morphemes.

    Forms of morphemes are compared without underscores (`_של_ _הם` is `של הם`). A word
    that the tokenizer cut in another way than gold is wrong, and so are its morphemes.
    Components after `he_retokenizer` do not run. All metrics are percentages:

    * `morpheme_f1`: F1 of morphemes inside aligned tokens: of each word, as many are
      right as the longest common subsequence of both analyses has.
    * `levi_tsarfaty_f1`: the same for the multiset of morphemes of each sentence.
    * `conll18_words_f1`: "Words" of the CoNLL 2018 shared task.
    * `words_right`, `multi_words_right`: share of written words, and of those with
      several morphemes, whose morphemes are all right.
    * `boundaries_f1`, `tokens_f1`: borders between segments in words; written words.
    * `prefix_f1`, `clitic_f1`, `covert_article_f1`: one kind of morphemes each.
    * `base_forms_right`: of the hosts that a suffix changed (אדמה in אדמתם), the share
      whose base form was found.

    **Examples**

    ```
    he-coref evaluate segmentation he_coref corpora/dev.spacy
    he-coref evaluate segmentation training/model-best corpora/dev.spacy --from words
    he-coref evaluate segmentation he_coref corpora/dev.spacy --json segmentation.json
    ```
    """
    from tqdm import tqdm

    from ..evaluation.segmentation import evaluate_segmentation, segmentation_pipes
    from ..tokens import is_segmented

    nlp = load_pipeline(model)
    if not segmentation_pipes(nlp):
        fail(f"{model} has no he_segmenter, so there is nothing to evaluate.")
    docs = read_corpus(corpus, nlp)
    if not any(is_segmented(doc) for doc in docs):
        fail(f"{corpus} has no gold segments.")
    track = partial(tqdm, total=len(docs), unit=" docs", delay=2, disable=None)
    metrics, conditions = evaluate_segmentation(nlp, docs, given.value, track=track)
    conditions = {"corpus": str(corpus), **conditions}
    if json is not None:
        # First, so that a reader who closes the pipe does not lose it.
        write_json(json, metrics, conditions)
    for line in table(metrics, SEGMENTATION_METRICS):
        typer.echo(line)
    typer.echo()
    for name, value in conditions.items():
        shown = ", ".join(value) if isinstance(value, list) else value
        typer.echo(f"{name:<20}{shown}")


def table(metrics: Dict[str, float], titles: Dict[str, str]) -> Iterator[str]:
    """Lines of a table of metrics.

    metrics (Dict[str, float]): Percentages by name.
    titles (Dict[str, str]): What each says; only these are shown, in this order.
    YIELDS (str): The lines.
    """
    for name, title in titles.items():
        yield f"{name:<20}{metrics[name]:>7.2f}  {title}"


def write_json(
    path: Path, metrics: Dict[str, float], conditions: Dict[str, Any]
) -> None:
    """Write the result of an evaluation.

    path (Path): The file.
    metrics (Dict[str, float]): Percentages by name.
    conditions (Dict[str, Any]): Under what they were measured; goes under the key
        ``conditions``.
    RAISES (typer.Exit): If the file cannot be written.
    """
    import srsly

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        srsly.write_json(path, {**metrics, "conditions": conditions})
    except OSError as error:
        fail(f"cannot write {path}: {error.strerror}.")
