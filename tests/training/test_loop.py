"""Runs that are stopped and go on end like runs that were not stopped."""

import os
import shutil
import signal
from pathlib import Path
from typing import Any, Dict

import pytest
import spacy
import torch
from spacy.util import load_config
from thinc.api import Config

from spacy_he_coref.corpus.build import build_corpus
from spacy_he_coref.segmenter.lexicon import write_lexicon
from spacy_he_coref.training import CheckpointError, TrainingInterrupted, loop
from spacy_he_coref.training.checkpoint import load_checkpoint
from tests.training import helpers
from tests.training.helpers import (
    PLAN,
    assert_equal,
    everything,
    fail,
    kill,
    log,
    make_config,
    run,
    stop,
)
from tests.util import ROOT, TOY_HTB, TOY_IAHLT, TOY_KIBUTZR, save_tiny_encoder


@pytest.fixture(autouse=True)
def no_plan() -> None:
    PLAN.clear()


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("corpus")
    helpers.write_corpus(path / "tagged.spacy")
    return path


@pytest.fixture(scope="module")
def config(corpus: Path) -> Config:
    return make_config(corpus / "tagged.spacy")


@pytest.fixture(scope="module")
def whole(config: Config, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The output of a run that was not stopped."""
    output = tmp_path_factory.mktemp("whole")
    PLAN.clear()
    run(config, output)
    return output


GROWING = {
    "@batchers": "spacy.batch_by_words.v1",
    "size": {
        "@schedules": "compounding.v1",
        "start": 14,
        "stop": 60,
        "compound": 1.2,
    },
    "discard_oversize": False,
    "tolerance": 0.2,
}
LSTM = {
    "@architectures": "spacy.Tok2Vec.v2",
    "embed": {
        "@architectures": "spacy.MultiHashEmbed.v2",
        "width": 8,
        "attrs": ["NORM"],
        "rows": [50],
        "include_static_vectors": False,
    },
    "encode": {
        "@architectures": "spacy.TorchBiLSTMEncoder.v1",
        "width": 8,
        "depth": 2,
        "dropout": 0.2,
    },
}
RUNS: Dict[str, Dict[str, Any]] = {
    # Each step has several parts, and the data ends before max_steps.
    "accumulated": {
        "training.accumulate_gradient": 2,
        "training.annotating_components": ["morphologizer"],
        "training.max_epochs": 3,
        "training.max_steps": 0,
    },
    # The batcher draws at random; patience ends the run between evaluations.
    "patience": {
        "training.batcher": {"@batchers": "test.random_sizes.v1"},
        "training.patience": 5,
        "training.score_weights": {"token_acc": 1.0},
    },
    # The size of a batch depends on all before, and data is read anew.
    "streamed": {
        "training.max_epochs": -1,
        "training.batcher": GROWING,
        "training.optimizer": {"@optimizers": "RAdam.v1", "learn_rate": 0.01},
    },
    # A torch network that thinc's optimizer trains.
    "torch": {"components.tok2vec.model": LSTM},
}


def stop_and_resume(config: Config, output: Path) -> None:
    """Run a training that is stopped in steps 1 and 5, and breaks down in step 3."""
    PLAN.update({1: stop, 3: fail, 5: stop})
    with pytest.raises(TrainingInterrupted, match="SIGTERM after step 1"):
        run(config, output)
    # Step 2 has to be taken again.
    with pytest.raises(RuntimeError, match="roof"):
        run(config, output)
    with pytest.raises(TrainingInterrupted, match="SIGTERM after step 5"):
        run(config, output)
    assert "Going on from" in run(config, output)


@pytest.mark.parametrize("name", RUNS)
def test_stopped_and_resumed_is_like_not_stopped(
    name: str, corpus: Path, tmp_path: Path
) -> None:
    config = make_config(corpus / "tagged.spacy", RUNS[name])
    run(config, tmp_path / "whole")
    stop_and_resume(config, tmp_path / "broken")
    assert_equal(everything(tmp_path / "whole"), everything(tmp_path / "broken"))


def save_transformer(encoder: Path, path: Path) -> None:
    """Save a pipeline of a tiny transformer, as another training would leave it."""
    nlp = spacy.blank("he")
    model = {
        "@architectures": "spacy_he_coref.MorphemeTransformer.v1",
        "name": str(encoder),
        "window": 60,
        "overlap": 4,
    }
    nlp.add_pipe("transformer", config={"model": model})
    nlp.initialize()
    nlp.to_disk(path)


@pytest.mark.parametrize("shared", [False, True])
def test_network_with_its_own_optimizer(tmp_path: Path, shared: bool) -> None:
    corpus = tmp_path / "corpus"
    build_corpus(corpus, TOY_KIBUTZR, TOY_HTB, TOY_IAHLT)
    write_lexicon(corpus / "lexicon.tsv.gz", {"בית": 3.5})
    config = load_config(ROOT / "configs" / "segmenter.cfg")
    encoder_path = save_tiny_encoder(tmp_path / "encoder")
    config["paths"].update(corpora=str(corpus), syntax=str(tmp_path / "syntax"))
    backend = config["components"]["he_segmenter"]["backend"]
    backend.update(width=8, hash_rows=50, encoder_layers=1, window=40, overlap=5)
    if shared:
        save_transformer(encoder_path, tmp_path / "syntax")
    else:
        backend["encoder_of"] = None
        del config["components"]["transformer"]
        config["nlp"]["pipeline"].remove("transformer")
        settings = config["initialize"]["components"]["he_segmenter"]
        settings["encoder"] = str(encoder_path)
        config["training"]["frozen_components"] = []
    config["corpora"]["train"]["paths"] = [str(corpus / "train.spacy")]
    config["corpora"]["dev"]["limit"] = 2
    config["training"].update(
        max_steps=6,
        eval_frequency=4,
        before_update={"@callbacks": "test.follow_plan.v1"},
    )
    run(config, tmp_path / "whole")
    stop_and_resume(config, tmp_path / "broken")
    assert_equal(everything(tmp_path / "whole"), everything(tmp_path / "broken"))
    # The embeddings do not learn; the evaluation has rounded them.
    state = load_checkpoint(tmp_path / "whole" / "checkpoint.pt")["model"]
    weights = state["networks"]["he_segmenter/0/shim0"]["state"]["weights"]
    from transformers import BertModel

    encoder = BertModel.from_pretrained(encoder_path)
    assert torch.equal(
        weights["encoder.transformer.embeddings.word_embeddings.weight"],
        encoder.get_input_embeddings().weight.half().float(),
    )


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_killed_process(config: Config, whole: Path, tmp_path: Path) -> None:
    child = os.fork()
    if not child:
        # Should it hang, it ends by another signal.
        signal.alarm(60)
        PLAN[6] = kill
        run(config, tmp_path, checkpoint_seconds=0.0)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
    assert "step 6, epoch 1" in run(config, tmp_path)
    assert_equal(everything(whole), everything(tmp_path))


def test_model_that_could_not_be_saved_at_the_end(
    config: Config, whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    PLAN[10] = lambda: monkeypatch.setattr(loop._Run, "save_model", fail)
    with pytest.raises(RuntimeError, match="roof"):
        run(config, tmp_path)
    monkeypatch.undo()
    run(config, tmp_path)
    assert_equal(everything(whole), everything(tmp_path))


def test_output(config: Config, whole: Path) -> None:
    lines = log(whole)
    assert [line["step"] for line in lines] == [0, 4, 8]
    assert all(line["seconds"] >= 0 for line in lines)
    assert "morphologizer" in lines[0]["losses"]
    best = max(lines, key=lambda line: line["score"])
    for name in ("model-best", "model-last"):
        nlp = spacy.load(whole / name)
        assert len(nlp("מי בא ?")) == 3
    meta = spacy.load(whole / "model-best").meta
    assert meta["performance"]["pos_acc"] == pytest.approx(best["scores"]["pos_acc"])


def test_it_learns(corpus: Path, tmp_path: Path) -> None:
    changes = {"training.dropout": 0.0, "training.max_steps": 60}
    changes["training.eval_frequency"] = 30
    run(make_config(corpus / "tagged.spacy", changes), tmp_path)
    scores = [line["scores"]["pos_acc"] for line in log(tmp_path)]
    assert scores[-1] > 0.9 > scores[0]


def test_finished_run_is_left_alone(
    config: Config, whole: Path, tmp_path: Path
) -> None:
    shutil.copytree(whole, tmp_path / "copy")
    before = everything(tmp_path / "copy")
    assert "finished" in run(config, tmp_path / "copy")
    assert_equal(before, everything(tmp_path / "copy"))


def test_fresh_starts_again(corpus: Path, whole: Path, tmp_path: Path) -> None:
    shutil.copytree(whole, tmp_path / "copy")
    changes = {"training.max_steps": 3, "training.eval_frequency": 2}
    other = make_config(corpus / "tagged.spacy", changes)
    run(other, tmp_path / "copy", resume=False)
    assert [line["step"] for line in log(tmp_path / "copy")] == [0, 2]


def test_overrides_count_as_config(config: Config, whole: Path, tmp_path: Path) -> None:
    shutil.copytree(whole, tmp_path / "copy")
    with pytest.raises(CheckpointError) as error:
        overrides = {"training.max_steps": 11, "components.tok2vec.model.width": 9}
        run(config, tmp_path / "copy", overrides=overrides)
    assert "[training] max_steps: was 10, now 11" in str(error.value)
    assert "[components.tok2vec.model] width: was 8, now 9" in str(error.value)
    assert "--fresh" in str(error.value)
    assert_equal(everything(whole), everything(tmp_path / "copy"))


def test_mistake_in_the_config_does_not_cost_the_old_run(
    corpus: Path, whole: Path, tmp_path: Path
) -> None:
    shutil.copytree(whole, tmp_path / "copy")
    wrong = make_config(corpus / "nothing.spacy")
    with pytest.raises(FileNotFoundError):
        run(wrong, tmp_path / "copy", resume=False)
    assert_equal(everything(whole), everything(tmp_path / "copy"))


def test_another_seed_is_another_run(corpus: Path, whole: Path, tmp_path: Path) -> None:
    run(make_config(corpus / "tagged.spacy", {"training.seed": 6}), tmp_path)
    assert log(tmp_path)[-1]["losses"] != log(whole)[-1]["losses"]
