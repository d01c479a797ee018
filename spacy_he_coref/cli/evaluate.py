"""``he-coref evaluate``: one command per thing that is measured."""

from enum import Enum
from functools import partial
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Any,
    Dict,
    Iterator,
    List,
    Mapping,
    Optional,
    Sequence,
)

import typer

from . import fail, load_pipeline

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

    from ..evaluation.systems import System

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
# Most rows of the tables of relations.
RELATIONS = 20
CONFUSIONS = 10
# Most patterns of errors, and most letters of an example.
ERRORS = 10
EXAMPLE = 40


class Given(str, Enum):
    """What the pipeline gets of a gold document."""

    raw = "raw"
    words = "words"


class Regime(str, Enum):
    """What the pipeline gets of a gold document whose clusters it shall find."""

    gold_mentions = "gold_mentions"
    gold = "gold"
    auto = "auto"
    raw = "raw"


class Match(str, Enum):
    """When a predicted mention is right; ``evaluation.matching.MATCHES``."""

    exact = "exact"
    partial = "partial"
    head = "head"


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
    print_conditions(conditions)


@app.command()
def syntax(
    model: str = typer.Argument(..., help="Model package, or a pipeline's directory."),
    corpus: Path = typer.Argument(..., help="A .spacy file with gold trees."),
    json: Optional[Path] = typer.Option(
        None, "--json", help="Write metrics and conditions to this file."
    ),
) -> None:
    """Measure tags, features, lemmas, trees and sentences.

    Scored as in the CoNLL 2018 shared task, over the morphemes of the treebank (the
    unwritten article and prepositions of suffixes are words there), in two regimes:
    `gold` gives the pipeline the gold segments and sentences of each document, `raw`
    its text alone. All metrics are F1 in percent, which in `gold` is accuracy:

    * `words`: morphemes aligned with one of gold.
    * `upos`, `feats`, `lemmas`: aligned and with the same tag, universal features,
      lemma.
    * `uas`: aligned and with an aligned head; `las`: and with the same relation up to
      the colon, as in the shared task; `las_subtypes`: with the full relation.
    * `sents_f1`: sentences found in the raw text.

    Sentences without a tree in the treebank count for `words` and `sents_f1` only.
    Below come, for `gold`, the most frequent relations (F1 of the relation, and of
    relation and head) and the relations that are most often taken for each other.

    **Examples**

    ```
    he-coref evaluate syntax he_coref corpora/dev.spacy
    he-coref evaluate syntax training/model-best corpora/dev.spacy --json syntax.json
    ```
    """
    from tqdm import tqdm

    from ..corpus.docs import TREEBANK
    from ..evaluation.syntax import (
        METRICS,
        evaluate_syntax,
        percent,
        report_syntax,
        syntax_pipes,
    )

    nlp = load_pipeline(model)
    if not syntax_pipes(nlp, "gold"):
        fail(
            f"{model} neither tags nor parses: it has no component after its "
            "he_retokenizer. Train one that does, or choose another."
        )
    docs = read_corpus(corpus, nlp)
    if not all(TREEBANK in doc.user_data for doc in docs):
        fail(
            f"{corpus} has documents without the morphemes of the treebank. Use one "
            "that he-coref corpus build made from KibutzR."
        )
    note_unsegmented(nlp, model)
    track = partial(tqdm, total=len(docs), unit=" docs", delay=2, disable=None)
    scores, conditions = evaluate_syntax(nlp, docs, track=track)
    metrics = report_syntax(scores)
    conditions = {"corpus": str(corpus), **conditions}
    if json is not None:
        write_json(json, metrics, conditions)
    typer.echo(f"{'':<20}{'gold':>7}{'raw':>8}")
    for name in METRICS:
        gold, raw = metrics["gold"][name], metrics["raw"][name]
        typer.echo(f"{name:<20}{shown(gold):>7}{shown(raw):>8}")
    typer.echo(f"{'sents_f1':<20}{'':>7}{shown(metrics['sents_f1']):>8}")
    score = scores["gold"]
    typer.echo(f"\n{'relation':<20}{'number':>7}{'F1':>8}{'& head':>8}")
    frequent = sorted(score.relations, key=lambda name: -score.relations[name].gold)
    for name in frequent[:RELATIONS]:
        label, both = score.relations[name], score.attached[name]
        typer.echo(
            f"{name:<20}{label.gold:>7}"
            f"{shown(percent(label.f1)):>8}{shown(percent(both.f1)):>8}"
        )
    typer.echo(f"\n{'gold relation':<20}{'predicted as':<20}{'times':>7}")
    for (gold_name, name), times in score.confusions.most_common(CONFUSIONS):
        typer.echo(f"{gold_name:<20}{name:<20}{times:>7}")
    print_conditions(conditions)


@app.command()
def mentions(
    model: str = typer.Argument(..., help="Model package, or a pipeline's directory."),
    corpus: Path = typer.Argument(
        ..., help="A .spacy file with gold trees and mentions."
    ),
    setting: Optional[str] = typer.Option(
        None,
        "--setting",
        help="Setting of the detector (recall, balanced, precision); by default that "
        "of the model's he_mentions.",
        show_default=False,
    ),
    json: Optional[Path] = typer.Option(
        None, "--json", help="Write metrics and conditions to this file."
    ),
) -> None:
    """Measure the rule-based mention detector against gold mentions with singletons.

    In the regime `gold_trees` the detector reads the gold segments, tags and trees; in
    `raw` the pipeline gets the text of each document alone, and the detector reads what
    it makes of it. A mention is right if a gold mention has its first and last written
    letter. Precision, recall and F1 are percentages, also by kind of mention:

    * `clitic`: the pronoun at the end of a word; `pronoun`: another pronoun;
    * `name`: the head is a proper noun, or has one beside it;
    * `coordinated`: the head has a conjunct in the mention;
    * `nested`: the head depends on another nominal word; `nominal`: the others.

    Below come the most frequent errors: mentions that were missed, and extra ones, by
    tag and relation of their head and by kind, each with an example.

    **Examples**

    ```
    he-coref evaluate mentions he_coref corpora/dev.spacy
    he-coref evaluate mentions he_coref corpora/dev.spacy --setting recall
    he-coref evaluate mentions he_coref corpora/dev.spacy --json mentions.json
    ```
    """
    from tqdm import tqdm

    from ..evaluation.mentions import (
        detector_settings,
        evaluate_mentions,
        frequent,
        report_mentions,
    )
    from ..mentions import KINDS, MENTIONS

    nlp = load_pipeline(model)
    docs = read_corpus(corpus, nlp)
    if not all(MENTIONS in doc.spans for doc in docs):
        fail(
            f"{corpus} has documents without gold mentions. Use one that "
            "he-coref corpus build made from KibutzR."
        )
    note_unsegmented(nlp, model)
    track = partial(tqdm, total=len(docs), unit=" docs", delay=2, disable=None)
    try:
        settings = detector_settings(nlp, setting)
        scores, conditions = evaluate_mentions(nlp, docs, settings, track=track)
    except ValueError as error:
        fail(str(error))
    metrics = report_mentions(scores)
    conditions = {"corpus": str(corpus), **conditions}
    if json is not None:
        write_json(json, metrics, conditions)
    columns = f"{'p':>8}{'r':>8}{'f1':>8}"
    typer.echo(f"{'':<14}{'gold':>6}  {'gold_trees':>24}  {'raw':>24}")
    typer.echo(f"{'':<14}{'':>6}  {columns}  {columns}")
    for name in ("all", *KINDS):
        rows = [
            found if name == "all" else found["by_kind"][name]
            for found in (metrics["gold_trees"], metrics["raw"])
        ]
        cells = ["".join(f"{row[m]:>8.2f}" for m in ("p", "r", "f1")) for row in rows]
        number = conditions["mentions"] if name == "all" else rows[0]["gold"]
        typer.echo(f"{name:<14}{number:>6}  {'  '.join(cells)}")
    for given, score in scores.items():
        for title, errors in (("missed", score.missed), ("extra", score.extra)):
            typer.echo(f"\n{given}: {title}")
            for pattern in frequent(errors, ERRORS):
                texts = errors[pattern]
                example = " ".join(texts[0].split())[:EXAMPLE]
                typer.echo(
                    f"{len(texts):>6}  {pattern.pos:<6}{pattern.deprel:<18}"
                    f"{pattern.kind:<13}{example}"
                )
    print_conditions(conditions)


@app.command()
def coref(
    model: str = typer.Argument(..., help="Model package, or a pipeline's directory."),
    corpus: Path = typer.Argument(
        ..., help="A .spacy file with gold segments, sentences and clusters."
    ),
    regime: Optional[List[Regime]] = typer.Option(
        None,
        "--regime",
        help="What the pipeline gets; may be given several times. By default all.",
        show_default=False,
    ),
    singletons: bool = typer.Option(
        False, "--singletons", help="Count clusters of one mention too."
    ),
    coreferent_only: bool = typer.Option(
        False,
        "--coreferent-only",
        help="Give the mentions that corefer only, no singletons, in `gold_mentions`.",
    ),
    segmentation: Optional[Path] = typer.Option(
        None,
        "--segmentation",
        help="A saved segmentation for `auto`, a file or directory, in place of that "
        "of the model.",
    ),
    match: Match = typer.Option(
        Match.exact,
        "--match",
        help="When a predicted mention is right; see below.",
    ),
    json: Optional[Path] = typer.Option(
        None, "--json", help="Write the metrics file: all figures and the conditions."
    ),
    report: Optional[Path] = typer.Option(
        None,
        "--report",
        help="Write report.md and report.html into this folder. They have excerpts of "
        "the corpus.",
    ),
) -> None:
    """Measure clusters by what the pipeline is given.

    * `gold_mentions`: gold segments, sentences and mentions; `gold`: segments and
      sentences; `auto`: written words and sentences; `raw`: the text alone.
    * `mentions`, `muc`, `b3`, `ceafe`, `ceafm`, `lea`, `blanc`: precision, recall and
      F1 in percent, counts summed over documents, singletons dropped.
    * `conll_f1`: the mean F1 of MUC, B3 and CEAF-e, with its 95% interval (bootstrap
      over documents).
    * `links`, `clusters`: expected calibration error of their confidences in percent
      points.

    `gold` and `gold_mentions` compare the morphemes of mentions; `auto` and `raw` their
    first and last written letters. `carried` is `auto` with the gold clusters carried
    over to the predicted tokens. The file has the same under `auto`, `carried_over`.

    A predicted mention is right with `--match exact` if it has the ends of a gold one,
    with `partial` if it lies in a gold one and has its head, with `head` if both have
    the same head (as in CorefUD). `carried` and calibration always compare exactly.

    The metrics file has more than the table: counts by document, errors by kind,
    distance and cause, and the figures of segments, tags, trees and mention candidates
    in the same run. `he-coref report` makes a page of it, `he-coref compare` compares
    two of them. docs/evaluation.md describes its fields.

    **Examples**

    ```
    he-coref evaluate coref he_coref corpora/dev.spacy
    he-coref evaluate coref he_coref corpora/dev.spacy --json c.json --report reports
    he-coref evaluate coref he_coref corpora/dev.spacy --regime gold --regime raw
    he-coref evaluate coref he_coref corpora/dev.spacy --singletons --json coref.json
    ```
    """
    from tqdm import tqdm

    from ..evaluation.coref import has_clusters
    from ..evaluation.regimes import REGIMES
    from ..evaluation.run import document_names, measure
    from ..evaluation.schema import regimes_of, write_metrics

    nlp = load_pipeline(model)
    docs = read_corpus(corpus, nlp)
    if not all(has_clusters(doc) for doc in docs):
        fail(
            f"{corpus} has documents without gold clusters. Use one that "
            "he-coref corpus build made from KibutzR or IAHLT."
        )
    # From the one that is given most to the one that is given least.
    asked = {given.value for given in regime or Regime}
    regimes = [name for name in REGIMES if name in asked]
    if segmentation is not None:
        if "auto" not in regimes:
            fail("--segmentation is for the regime auto, which is not asked for.")
        if not segmentation.exists():
            fail(f"there is no saved segmentation {segmentation}.")
    if "raw" in regimes:
        note_unsegmented(nlp, model)
    track = partial(tqdm, total=len(docs), unit=" docs", delay=2, disable=None)
    try:
        metrics = measure(
            nlp,
            docs,
            regimes,
            singletons=singletons,
            match=match.value,
            coreferent_only=coreferent_only,
            segmentation=segmentation,
            track=track,
        )
    except ValueError as error:
        fail(str(error))
    conditions = {"corpus": str(corpus), **metrics["conditions"]}
    if nlp.meta["name"] == "pipeline":
        # The name that spaCy gives to what nobody has named.
        conditions["model"] = Path(model).name
    metrics["conditions"] = conditions
    for name, reason in conditions["not_run"].items():
        typer.secho(
            f"Note: there are no figures for {name}: {reason}",
            fg=typer.colors.YELLOW,
            err=True,
        )
    found = regimes_of(metrics)
    if not found:
        fail("the pipeline can do none of the regimes that were asked for.")
    if json is not None:
        try:
            write_metrics(json, metrics)
        except OSError as error:
            fail(f"cannot write {json}: {error.strerror}.")
    if report is not None:
        from ..evaluation.systems import System, model_name

        file = str(json) if json else "not written"
        texts = dict(zip(document_names(docs), (d.text for d in docs), strict=True))
        write_pages(report, [System(model_name(metrics), [file], [metrics])], texts)
    columns: Dict[str, Dict[str, Any]] = {}
    for name, scores in found.items():
        columns[name] = scores
        if "carried_over" in scores:
            columns["carried"] = scores["carried_over"]
    typer.echo(f"{'':<10}" + "".join(f"{name:>24}" for name in columns))
    for line in coref_lines(*columns.values()):
        typer.echo(line)
    ends = [(scores["intervals"] or {}).get("conll_f1") for scores in columns.values()]
    line = "".join(f"{f'{e[0]:.2f} to {e[1]:.2f}' if e else '-':>24}" for e in ends)
    typer.echo(f"{'95%':<10}{line}")
    typer.echo("\nexpected calibration error")
    for name in ("links", "clusters"):
        errors = [s.get("calibration", {}).get(name) for s in columns.values()]
        line = "".join(f"{shown(error and error['ece']):>24}" for error in errors)
        typer.echo(f"{name:<10}{line}")
    alone = {
        **conditions,
        "components": [
            f"{name}: {' '.join(pipes)}"
            for name, pipes in conditions["components"].items()
        ],
        "bootstrap": f"{conditions['bootstrap']['replicas']} draws of documents",
    }
    del alone["not_run"]
    print_conditions(alone)


def write_pages(
    directory: Path, systems: "Sequence[System]", texts: Mapping[str, str]
) -> None:
    """Write the report and say where it is.

    directory (Path): The folder; made if it is not there.
    systems (Sequence[System]): What it is on.
    texts (Mapping[str, str]): The text of documents by their id, for excerpts.
    RAISES (typer.Exit): If it cannot be written.
    """
    from ..evaluation.report import write_report

    try:
        paths = write_report(directory, systems, texts)
    except OSError as error:
        fail(f"cannot write the report to {directory}: {error.strerror}.")
    for path in paths:
        typer.echo(f"Wrote {path}", err=True)


def note_unsegmented(nlp: "Language", model: str) -> None:
    """Say on stderr what the figures of the regime ``raw`` are without a segmenter.

    nlp (Language): The pipeline.
    model (str): Its name.
    """
    from ..evaluation.segmentation import segmentation_pipes

    if not segmentation_pipes(nlp):
        typer.secho(
            f"Note: {model} has no he_segmenter, so in `raw` all words stay whole.",
            fg=typer.colors.YELLOW,
            err=True,
        )


def shown(value: Optional[float]) -> str:
    """A metric as tables show it.

    value (Optional[float]): The percentage, or None.
    RETURNS (str): With two decimals; a dash for None.
    """
    return "-" if value is None else f"{value:.2f}"


def print_conditions(conditions: Dict[str, Any]) -> None:
    """Print under what something was measured, after an empty line.

    conditions (Dict[str, Any]): Values by name.
    """
    typer.echo()
    for name, value in conditions.items():
        text = ", ".join(value) if isinstance(value, list) else value
        typer.echo(f"{name:<24}{text}")


def table(metrics: Dict[str, float], titles: Dict[str, str]) -> Iterator[str]:
    """Lines of a table of metrics.

    metrics (Dict[str, float]): Percentages by name.
    titles (Dict[str, str]): What each says; only these are shown, in this order.
    YIELDS (str): The lines.
    """
    for name, title in titles.items():
        yield f"{name:<20}{metrics[name]:>7.2f}  {title}"


def coref_lines(*columns: Dict[str, Any]) -> Iterator[str]:
    """Lines of a table of coreference metrics.

    columns (Dict[str, Any]): For each column ``p``, ``r`` and ``f1`` of each metric,
        and ``conll_f1``.
    YIELDS (str): The lines.
    """
    from ..evaluation.coref import METRICS

    yield f"{'':<10}" + f"{'p':>10}{'r':>7}{'f1':>7}" * len(columns)
    for metric in METRICS:
        cells = [scores[metric] for scores in columns]
        line = "".join(f"{c['p']:>10.2f}{c['r']:>7.2f}{c['f1']:>7.2f}" for c in cells)
        yield f"{metric:<10}{line}"
    line = "".join(f"{scores['conll_f1']:>24.2f}" for scores in columns)
    yield f"{'conll_f1':<10}{line}"


def write_json(path: Path, metrics: Dict[str, Any], conditions: Dict[str, Any]) -> None:
    """Write the result of an evaluation.

    path (Path): The file.
    metrics (Dict[str, Any]): Percentages by name, or by regime and name.
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
