"""Ablation: shared vectors, going on, and what the table says."""

import json
from pathlib import Path
from typing import Any, Dict, List

import pytest
from spacy import util

from spacy_he_coref.training.ablation import (
    COLUMNS,
    Corpora,
    Run,
    Variant,
    plan_runs,
    read_variants,
    run_ablation,
    summarize,
)
from tests.coref.helpers import SMALL, make_pipeline, write_stories
from tests.util import ROOT, save_tiny_encoder

CONFIG = ROOT / "configs" / "coref.cfg"
SHIPPED = ROOT / "configs" / "ablation.cfg"
VARIANTS = [
    Variant("full", {}),
    Variant("plain", {"components.he_coref.model.features": []}),
]


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Dict[str, Any]:
    """What makes the shipped config tiny."""
    path = tmp_path_factory.mktemp("ablation")
    make_pipeline(save_tiny_encoder(path / "encoder")).to_disk(path / "syntax")
    for name in ("train", "dev"):
        write_stories(path / f"{name}_segments.spacy")
    model = {k: v for k, v in SMALL.items() if k not in ("@architectures", "frozen")}
    return {
        "paths.syntax": str(path / "syntax"),
        "paths.corpora": str(path),
        "training.max_steps": 6,
        **{f"components.he_coref.model.{k}": v for k, v in model.items()},
    }


def plan(settings: Dict[str, Any], seeds: List[int]) -> List[Run]:
    return plan_runs(CONFIG, VARIANTS, seeds, settings)


def test_runs_are_made_once_and_each_alone(
    settings: Dict[str, Any], tmp_path: Path
) -> None:
    path = tmp_path / "metrics" / "ablation.json"
    ended: List[str] = []

    def report(run: Run, result: Dict[str, Any]) -> None:
        ended.append(f"{run.name} {run.seed}")
        # What has ended is written before the next run starts.
        assert len(json.loads(path.read_text())["runs"]) == len(ended)

    first = run_ablation(plan(settings, [1, 2]), path, report=report)
    assert ended == ["full 1", "plain 1", "full 2", "plain 2"]
    assert all(result["steps"] == 6 for result in first)
    assert all(r["best_conll_f1"] >= r["conll_f1"] for r in first)
    saved = json.loads(path.read_text())
    assert saved["runs"] == first
    assert saved["table"] == summarize(first)
    # Nothing is left to do; then one run, which does not depend on those before it.
    ended.clear()
    assert run_ablation(plan(settings, [1, 2]), path, report=report) == first
    assert not ended
    saved["runs"] = [r for r in first if (r["variant"], r["seed"]) != ("plain", 2)]
    path.write_text(json.dumps(saved))
    again = run_ablation(
        plan(settings, [1, 2]), path, report=lambda run, _: ended.append(run.name)
    )
    assert ended == ["plain"]
    assert [same(r) for r in again] == [same(r) for r in first]


def same(result: Dict[str, Any]) -> Dict[str, Any]:
    return {k: v for k, v in result.items() if k != "seconds"}


def test_results_of_another_config_are_refused(
    settings: Dict[str, Any], tmp_path: Path
) -> None:
    path = tmp_path / "ablation.json"
    short = {**settings, "training.max_steps": 1}
    run_ablation(plan(short, [1])[:1], path)
    other = plan({**short, "training.dropout": 0.2}, [1])[:1]
    with pytest.raises(ValueError, match="full with seed 1 .* another config"):
        run_ablation(other, path)
    assert run_ablation(other, path, fresh=True)[0]["steps"] == 1


def test_files_are_read_once_for_all_runs(
    settings: Dict[str, Any], tmp_path: Path
) -> None:
    corpora = Corpora()
    one, two = (run.config for run in plan(settings, [1]))
    nlp = corpora.pipeline(one, "he_coref")
    assert corpora.pipeline(two, "he_coref") is nlp
    section = {**one["corpora"]["train"], "max_length": 0}
    examples = corpora.read(nlp, section)
    assert all(eg.predicted._.trf_data is not None for eg in examples)
    more = write_stories(tmp_path / "more.spacy")
    both = corpora.read(nlp, {**section, "paths": [*section["paths"], str(more)]})
    assert [id(eg) for eg in both[: len(examples)]] == [id(eg) for eg in examples]
    assert len(both) == 2 * len(examples)
    # Another way to cut documents gives other examples.
    assert corpora.read(nlp, {**section, "max_length": 5})[0] is not examples[0]


def test_frozen_encoder_must_be_named(settings: Dict[str, Any], tmp_path: Path) -> None:
    runs = plan({**settings, "corpora.train.encoder": None}, [1])
    with pytest.raises(ValueError, match="full: .*names no encoder"):
        run_ablation(runs, tmp_path / "ablation.json")


def test_encoder_that_is_trained_along(
    settings: Dict[str, Any], tmp_path: Path
) -> None:
    """As he-coref train would, with coreference as the only component."""
    changes = {
        **settings,
        "components.he_coref.model.frozen": False,
        "components.he_coref.model.tok2vec.upstream": "*",
        "corpora.train.encoder": None,
        "training.frozen_components": [],
        "training.max_steps": 2,
    }
    runs = plan(changes, [1, 2])
    results = run_ablation(runs, tmp_path / "ablation.json")
    assert [result["steps"] for result in results] == [2] * 4
    assert all(0 <= result[name] <= 100 for result in results for name in COLUMNS)
    assert len({result["all_mentions_f1"] for result in results}) > 1
    again = run_ablation(runs[:1], tmp_path / "again.json")
    assert same(again[0]) == same(results[0])


def test_joint_variants_fit_their_config() -> None:
    variants = read_variants(ROOT / "configs" / "ablation_joint.cfg")
    runs = plan_runs(ROOT / "configs" / "joint.cfg", variants, [3])
    assert runs[0].name == "frozen"
    trained = {
        run.name: set(run.config["nlp"]["pipeline"])
        - set(run.config["training"]["frozen_components"])
        for run in runs
    }
    assert trained["frozen"] == {"he_mentions", "he_coref"}
    assert trained["coreference_alone"] == {*trained["frozen"], "transformer"}
    assert trained["joint"] == set(runs[0].config["nlp"]["pipeline"])


def test_variants_of_the_repository_fit_its_config() -> None:
    variants = read_variants(SHIPPED)
    assert variants[0].name == "full"
    raw = util.load_config(CONFIG, interpolate=False)
    for variant in variants:
        for name in variant.overrides:
            part: Any = raw
            for key in name.split("."):
                assert key in part, f"{variant.name}: {name}"
                part = part[key]
    runs = plan_runs(CONFIG, variants, [3])
    assert all(run.config["training"]["seed"] == 3 for run in runs)
    full = runs[0].config
    for run in runs[1:]:
        assert run.config["corpora"] != full["corpora"] or (
            run.config["components"] != full["components"]
        ), run.name
        # Only what the name says.
        assert run.config["training"] == full["training"]
    paths = {run.name: run.config["corpora"]["train"]["paths"] for run in runs}
    assert paths["full"] == ["corpora/train_segments.spacy"]
    assert paths["with_noise"] == [*paths["full"], "corpora/train_text.spacy"]


def test_what_is_of_all_variants_can_be_changed_in_one(tmp_path: Path) -> None:
    path = tmp_path / "variants.cfg"
    path.write_text("[all]\na.b = 1\n[y]\na.b = 2\nc.d = []\n[x]\n")
    assert read_variants(path) == [
        Variant("y", {"a.b": 2, "c.d": []}),
        Variant("x", {"a.b": 1}),
    ]


@pytest.mark.parametrize("text", ["", "[all]\na.b = 1\n"])
def test_a_file_without_variants_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "variants.cfg"
    path.write_text(text)
    with pytest.raises(ValueError, match="has no variants"):
        read_variants(path)


def test_table() -> None:
    def result(variant: str, seed: int, value: float) -> Dict[str, Any]:
        return {"variant": variant, "seed": seed, **dict.fromkeys(COLUMNS, value)}

    table = summarize(
        [
            result("full", 1, 50.0),
            result("less", 1, 47.0),
            result("full", 2, 54.0),
            result("less", 3, 40.0),
            result("other", 7, 1.0),
        ]
    )
    assert [(row["variant"], row["runs"]) for row in table] == [
        ("full", 2),
        ("less", 2),
        ("other", 1),
    ]
    full, less, other = (row["conll_f1"] for row in table)
    assert full == {"mean": 52.0, "sd": 2.83, "difference": 0.0}
    # Seeds that only one of them has say nothing of the difference.
    assert less == {"mean": 43.5, "sd": 4.95, "difference": -3.0}
    assert other == {"mean": 1.0, "sd": None, "difference": None}
