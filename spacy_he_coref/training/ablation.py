"""What each part of ``he_coref`` is worth: short trainings with parts left out.

Where the encoder is frozen, its vectors are computed once and shared by all runs: every
file of a corpus is read and encoded when the first run needs it, and stays in memory.
Where it is trained along, each run is one of ``he-coref train``. Each starts from its
seed alone, so it gives the same whatever ran before it, and a stopped ablation goes on
with the runs that are missing.
"""

import io
import json
import os
import random
import re
import tempfile
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from statistics import mean, stdev
from time import process_time
from typing import (
    Any,
    Callable,
    Dict,
    Iterable,
    Iterator,
    List,
    NamedTuple,
    Optional,
    Sequence,
    Union,
    cast,
)

from spacy import util
from spacy.language import Language
from spacy.tokens import SpanGroup
from spacy.training import Example
from spacy.training.loop import subdivide_batch
from spacy.util import load_model_from_config, registry
from thinc.api import Config, fix_random_seed

from ..coref.calibration import (
    Cuts,
    best_cuts,
    char_bounds,
    char_clusters,
    predict_links,
    score_grid,
    sum_counts,
)
from ..coref.component import GIVEN, HebrewCoref
from ..coref.model import Links
from ..evaluation.coref import Fractions, cluster_bounds
from ..evaluation.syntax import percent
from .loop import train

FACTORY = "he_coref"
# The cuts that are tried for each run; those of its config are added.
MENTION_CUTS = (0.35, 0.5, 0.65)
LINK_CUTS = (-3.0, -2.5, -2.0, -1.5, -1.0, -0.5, 0.0)
# What coreference shares the encoder with, where they are trained together.
OTHER_SCORES = ("pos_acc", "morph_acc", "lemma_acc", "dep_las")
# The columns of the table; each is a metric of the runs.
COLUMNS = ("best_conll_f1", "conll_f1", "given_conll_f1", "all_mentions_f1")


class Variant(NamedTuple):
    """A system to compare.

    name (str): Its name.
    overrides (Dict[str, Any]): What is different in its config, by dotted names.
    """

    name: str
    overrides: Dict[str, Any]


def read_variants(path: Union[str, Path]) -> List[Variant]:
    """Read the variants of an ablation.

    path (Union[str, Path]): A file in the format of configs, with a section for each
        variant, named after it, whose keys are dotted names of the config; those of a
        section ``[all]`` are of all variants.
    RETURNS (List[Variant]): The variants in the order of the file.
    RAISES (ValueError): If there are none.
    """
    text = Path(path).read_text(encoding="utf8")
    # Configs sort their sections, by the alphabet if nothing else is said.
    order = re.findall(r"^\[(.+)\]", text, re.MULTILINE)
    config = Config(section_order=order).from_str(text, interpolate=False)
    shared = config.pop("all", {})
    if not config:
        raise ValueError(
            f"{path} has no variants. Write a section [NAME] for each, with dotted "
            "names of the config as keys."
        )
    return [Variant(name, {**shared, **own}) for name, own in config.items()]


class Corpora:
    """The examples of corpora, with the vectors of a frozen encoder.

    Runs do not change them and share them. Each file is read once.
    """

    def __init__(self) -> None:
        self._pipelines: Dict[str, Language] = {}
        self._examples: Dict[str, List[Example]] = {}

    def pipeline(self, config: Config, name: str) -> Language:
        """The pipeline of a config without its coreference component.

        config (Config): The config, interpolated.
        name (str): Name of the component.
        RETURNS (Language): The pipeline; the same one for all configs that agree.
        """
        base = config.copy()
        del base["components"][name]
        base["nlp"]["pipeline"] = [p for p in base["nlp"]["pipeline"] if p != name]
        key = _digest({part: base[part] for part in ("nlp", "components")})
        if key not in self._pipelines:
            self._pipelines[key] = load_model_from_config(base, auto_fill=True)
        return self._pipelines[key]

    def read(self, nlp: Language, section: Dict[str, Any]) -> List[Example]:
        """The examples of a corpus.

        nlp (Language): What ``pipeline`` gave.
        section (Dict[str, Any]): Its section of the config, with an encoder.
        RETURNS (List[Example]): The examples, in the order of the files.
        """
        found: List[Example] = []
        # Readers of several files give the examples of each; their order is ours.
        sections = [section]
        if isinstance(section.get("paths"), list):
            sections = [{**section, "paths": [path]} for path in section["paths"]]
        for part in sections:
            part = {**part, "shuffle": False}
            # Pipelines are kept, so no other one can have the same id.
            key = _digest([id(nlp), part])
            if key not in self._examples:
                read = registry.resolve({"corpus": part})["corpus"]
                self._examples[key] = list(read(nlp))
            found += self._examples[key]
        return found


def _digest(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, default=str)
    return blake2b(text.encode("utf8"), digest_size=8).hexdigest()


class Run(NamedTuple):
    """A variant with a seed.

    name (str): Name of the variant.
    seed (int): The seed.
    config (Config): Its config, interpolated.
    """

    name: str
    seed: int
    config: Config


def plan_runs(
    config: Union[str, Path],
    variants: Sequence[Variant],
    seeds: Sequence[int],
    overrides: Optional[Dict[str, Any]] = None,
) -> List[Run]:
    """The runs of an ablation: all variants with the first seed, then the next one.

    config (Union[str, Path]): The config that the variants change.
    variants (Sequence[Variant]): The variants.
    seeds (Sequence[int]): The seeds.
    overrides (Optional[Dict[str, Any]]): Changes of all variants; they win.
    RETURNS (List[Run]): The runs.
    """
    runs: List[Run] = []
    for seed in seeds:
        for variant in variants:
            changes = {**variant.overrides, **(overrides or {}), "system.seed": seed}
            raw = util.load_config(config, overrides=changes, interpolate=False)
            runs.append(Run(variant.name, seed, raw.interpolate()))
    return runs


def run_ablation(
    runs: Sequence[Run],
    output: Union[str, Path],
    *,
    fresh: bool = False,
    report: Callable[[Run, Dict[str, Any]], None] = lambda run, result: None,
    track: Callable[[Iterable[Any], str], Iterable[Any]] = lambda steps, _: steps,
) -> List[Dict[str, Any]]:
    """Train and evaluate the runs that are missing.

    runs (Sequence[Run]): All runs.
    output (Union[str, Path]): The JSON file with the results; written after each run.
    fresh (bool): Start again, even if there are results.
    report (Callable): Gets each run and its result when it ends.
    track (Callable): Gets the steps of a run as they come, and what to call it, to
        show progress.
    RETURNS (List[Dict[str, Any]]): The results in the order of the runs.
    RAISES (ValueError): If a result in the file is of another config, or a config has
        a frozen encoder that no corpus names.
    """
    output = Path(output)
    saved = {}
    if output.exists() and not fresh:
        old_results = json.loads(output.read_text(encoding="utf8"))["runs"]
        saved = {(result["variant"], result["seed"]): result for result in old_results}
    for run in runs:
        old = saved.get((run.name, run.seed))
        if old is not None and old["config"] != _digest(run.config):
            raise ValueError(
                f"{output} has a result of {run.name} with seed {run.seed} that is of "
                "another config. Write to another file, or start again with --fresh."
            )
    corpora = Corpora()
    results: List[Dict[str, Any]] = []
    for run in runs:
        result = saved.pop((run.name, run.seed), None)
        if result is None:
            if _shares_vectors(run.config):
                scores = train_and_score(run, corpora, track=track)
            else:
                scores = train_pipeline_and_score(run)
            result = {
                "variant": run.name,
                "seed": run.seed,
                "config": _digest(run.config),
                **scores,
            }
            results.append(result)
            # Results that later runs will find are kept too.
            _write(output, [*results, *saved.values()])
            report(run, result)
        else:
            results.append(result)
    _write(output, [*results, *saved.values()])
    return results


def _write(output: Path, results: Sequence[Dict[str, Any]]) -> None:
    output.parent.mkdir(parents=True, exist_ok=True)
    temporary = output.with_name(output.name + ".tmp")
    data = {"table": summarize(results), "runs": list(results)}
    # srsly's JSON would not give every number back as it was.
    temporary.write_text(json.dumps(data, indent=2) + "\n", encoding="utf8")
    os.replace(temporary, output)


def train_and_score(
    run: Run,
    corpora: Corpora,
    *,
    track: Callable[[Iterable[Any], str], Iterable[Any]] = lambda steps, _: steps,
) -> Dict[str, Any]:
    """Train one variant with one seed, and evaluate it.

    run (Run): The run.
    corpora (Corpora): The examples that are there already.
    track (Callable): Gets the steps as they come, and what to call the run.
    RETURNS (Dict[str, Any]): ``steps``, ``seconds`` (of the processor, for training)
        and the metrics of ``score_component``.
    RAISES (ValueError): If the training corpus names no encoder.
    """
    config, training = run.config, run.config["training"]
    name = _component_name(config)
    nlp = corpora.pipeline(config, name)
    sections = {
        part: _find(config, training[part]) for part in ("train_corpus", "dev_corpus")
    }
    encoder = sections["train_corpus"].get("encoder")
    if encoder is None:
        raise ValueError(
            f"{run.name}: the training corpus names no encoder. An ablation computes "
            f"its vectors once: set encoder in [{training['train_corpus']}]."
        )
    train, dev = (
        corpora.read(nlp, {**section, "encoder": encoder})
        for section in sections.values()
    )
    settings = dict(config["components"][name])
    factory = settings.pop("factory")
    start = process_time()
    fix_random_seed(run.seed)
    component = cast(HebrewCoref, nlp.add_pipe(factory, name=name, config=settings))
    try:
        component.initialize(lambda: train, nlp=nlp)
        resolved = registry.resolve(
            {"training": {part: training[part] for part in ("batcher", "optimizer")}}
        )["training"]
        batches = _batches(train, resolved["batcher"], run.seed)
        optimizer = resolved["optimizer"]
        steps = 0
        title = f"{run.name}, seed {run.seed}"
        for batch in track(islice(batches, training["max_steps"]), title):
            for part in subdivide_batch(batch, training["accumulate_gradient"]):
                component.update(part, drop=training["dropout"])
            component.finish_update(optimizer)
            optimizer.step_schedules()
            steps += 1
        seconds = process_time() - start
        return {
            "steps": steps,
            "seconds": round(seconds, 1),
            **score_component(component, dev),
        }
    finally:
        nlp.remove_pipe(name)


def _shares_vectors(config: Config) -> bool:
    """Whether the encoder is frozen, and dev documents can have its vectors too."""
    model = config["components"][_component_name(config)]["model"]
    dev = _find(config, config["training"]["dev_corpus"])
    return bool(model.get("frozen", True)) and "encoder" in dev


def train_pipeline_and_score(run: Run) -> Dict[str, Any]:
    """Train a variant as ``he-coref train`` does, and evaluate it.

    run (Run): The run. Its dev corpus gives gold segments; all else is predicted.
    RETURNS (Dict[str, Any]): ``steps``, ``seconds`` (of the processor, with loading
        and evaluation), the metrics of ``score_component``, and under ``scores`` what
        the pipeline's other scorers say.
    """
    training = run.config["training"]
    name = _component_name(run.config)
    config = Config(run.config).copy()
    # Only the last step counts; those before it need no evaluation.
    config["training"]["eval_frequency"] = training["max_steps"]
    start = process_time()
    with tempfile.TemporaryDirectory() as folder:
        nlp, _ = train(config, folder, stdout=io.StringIO())
    seconds = process_time() - start
    section = _find(run.config, training["dev_corpus"])
    examples: List[Example] = list(registry.resolve({"dev": section})["dev"](nlp))
    docs = [example.predicted for example in examples]
    for other, pipe in nlp.pipeline:
        if other == name:
            break
        docs = list(cast(Any, pipe).pipe(docs))
    for example, doc in zip(examples, docs, strict=True):
        example.predicted = doc
    component = cast(HebrewCoref, nlp.get_pipe(name))
    performance = nlp.meta["performance"]
    return {
        "steps": training["max_steps"],
        "seconds": round(seconds, 1),
        **score_component(component, examples),
        "scores": {
            score: percent(value)
            for score, value in performance.items()
            if score in OTHER_SCORES and value is not None
        },
    }


def _component_name(config: Config) -> str:
    for name, section in config["components"].items():
        if section.get("factory") == FACTORY:
            return str(name)
    raise ValueError(f"The config has no component of the factory {FACTORY}.")


def _find(config: Config, name: str) -> Dict[str, Any]:
    part: Any = config
    for key in name.split("."):
        part = part[key]
    return dict(part)


def _batches(
    examples: List[Example],
    batcher: Callable[[Iterable[Example]], Iterable[List[Example]]],
    seed: int,
) -> Iterator[List[Example]]:
    """Batches without end; those of equal data and seed are the same."""
    order = random.Random(seed)
    while True:
        yield from batcher(order.sample(examples, len(examples)))


def score_component(
    component: HebrewCoref, examples: Sequence[Example]
) -> Dict[str, float]:
    """Measure a component on documents that it was not trained on.

    component (HebrewCoref): The component.
    examples (Sequence[Example]): The documents, with vectors, tags, trees and
        candidates, and their gold clusters.
    RETURNS (Dict[str, float]): In percent: ``conll_f1`` with the component's cuts and
        ``best_conll_f1`` with those of a grid that are best here (``best_mention_cut``,
        ``best_link_cut``); ``given_conll_f1`` and ``given_best_conll_f1`` with gold
        mentions, singletons among them (``given_best_link_cut``); ``mentions_p``,
        ``_r``, ``_f1`` of mentions in clusters and ``all_mentions_p``, ``_r``, ``_f1``
        of all, with the component's cuts.
    """
    own = Cuts(component.mention_cut, component.link_cut)
    link_cuts = [*LINK_CUTS, own.link]
    docs = [example.predicted for example in examples]
    found = predict_links(component, docs, MENTION_CUTS)
    grid = score_grid(examples, found, link_cuts)
    best = best_cuts(grid)
    given = [_give_mentions(example) for example in examples]
    found_given = {own.mention: component.predict([eg.predicted for eg in given])}
    given_grid = score_grid(given, found_given, link_cuts)
    given_best = best_cuts(given_grid)
    counts = sum_counts(grid[own])
    scores = {
        "conll_f1": percent(counts.conll_f1),
        "best_conll_f1": percent(sum_counts(grid[best]).conll_f1),
        "best_mention_cut": best.mention,
        "best_link_cut": best.link,
        "given_conll_f1": percent(sum_counts(given_grid[own]).conll_f1),
        "given_best_conll_f1": percent(sum_counts(given_grid[given_best]).conll_f1),
        "given_best_link_cut": given_best.link,
    }
    for name, fractions in (
        ("mentions", counts.mentions),
        ("all_mentions", _count_mentions(examples, found[own.mention])),
    ):
        scores[f"{name}_p"] = percent(fractions.precision)
        scores[f"{name}_r"] = percent(fractions.recall)
        scores[f"{name}_f1"] = percent(fractions.f1)
    return scores


def _give_mentions(example: Example) -> Example:
    """The example with its gold mentions given."""
    gold, doc = example.reference, example.predicted.copy()
    bounds = {key for group in cluster_bounds(gold, singletons=True) for key in group}
    spans = [doc.char_span(*key) for key in sorted(char_bounds(gold, bounds))]
    found = [span for span in spans if span is not None]
    doc.spans[GIVEN] = SpanGroup(doc, name=GIVEN, spans=found)
    return Example(doc, gold)


def _count_mentions(
    examples: Sequence[Example], predictions: Sequence[Links]
) -> Fractions:
    total = Fractions()
    for example, links in zip(examples, predictions, strict=True):
        found = set(char_bounds(example.predicted, links.bounds.tolist()))
        clusters = char_clusters(example.reference, singletons=True)
        gold = {key for cluster in clusters for key in cluster}
        right = len(found & gold)
        total = total.plus(Fractions(right, len(found), right, len(gold)))
    return total


def summarize(results: Sequence[Dict[str, Any]]) -> List[Dict[str, Any]]:
    """The table of an ablation.

    results (Sequence[Dict[str, Any]]): The results of runs; the first variant is the
        one that the others are compared with.
    RETURNS (List[Dict[str, Any]]): For each ``variant`` the number of ``runs``, and by
        metric of ``COLUMNS`` the ``mean``, the standard deviation ``sd`` over seeds
        (None for one) and ``difference``: that of the means over the seeds that it
        and the first variant both have (None if there are none).
    """
    by_variant: Dict[str, Dict[int, Dict[str, Any]]] = {}
    for result in results:
        by_variant.setdefault(result["variant"], {})[result["seed"]] = result
    table: List[Dict[str, Any]] = []
    for name, runs in by_variant.items():
        first = next(iter(by_variant.values()))
        row: Dict[str, Any] = {"variant": name, "runs": len(runs)}
        for metric in COLUMNS:
            values = [run[metric] for run in runs.values()]
            pairs = [(runs[s][metric], first[s][metric]) for s in runs if s in first]
            row[metric] = {
                "mean": round(mean(values), 2),
                "sd": round(stdev(values), 2) if len(values) > 1 else None,
                "difference": round(mean(a - b for a, b in pairs), 2)
                if pairs
                else None,
            }
        table.append(row)
    return table
