"""Checkpoints: what they hold, damaged ones, and ones that do not fit."""

import io
import random
from pathlib import Path
from typing import Any, Callable, Dict, Optional

import numpy
import pytest
import spacy
import torch
from spacy.language import Language
from thinc.api import Adam, Linear, Model, PyTorchWrapper
from thinc.shims import Shim

from spacy_he_coref.training.checkpoint import (
    CheckpointError,
    Progress,
    load_checkpoint,
    model_state,
    optimizer_state,
    random_states,
    save_checkpoint,
    set_model_state,
    set_optimizer_state,
    set_random_states,
)


class Pipe:
    """A component around a model, and one that is not its 'model'."""

    def __init__(self, model: Model, other: Optional[Model] = None) -> None:
        self.model = model
        self.other = other

    def __call__(self, doc: Any) -> Any:
        return doc


def linear(width: int = 3) -> Model:
    return Linear(width, width).initialize()


def pipeline(model: Model, other: Optional[Model] = None) -> Language:
    nlp = spacy.blank("he")

    @Language.factory("test_one_model")
    def make(nlp: Language, name: str) -> Pipe:
        return Pipe(model, other)

    nlp.add_pipe("test_one_model")
    return nlp


def learn(model: Model, optimizer: Adam) -> None:
    model.inc_grad("W", numpy.ones_like(model.get_param("W")))
    model.finish_update(optimizer)


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    nlp = pipeline(linear())
    save_checkpoint(tmp_path / "checkpoint.pt", nlp, Adam(0.1), Progress(seed=1), {})
    return tmp_path / "checkpoint.pt"


def test_next_step_is_the_same(tmp_path: Path) -> None:
    one, first, other, second = linear(), Adam(0.1), linear(), Adam(0.1)
    nlp, path = pipeline(one), tmp_path / "checkpoint.pt"
    learn(one, first)
    save_checkpoint(path, nlp, first, Progress(seed=1, step=1), {"a": 1})
    state = load_checkpoint(path)
    assert state["progress"] == Progress(seed=1, step=1)
    assert state["config"] == {"a": 1}
    nlp = pipeline(other)
    set_model_state(nlp, state["model"])
    set_optimizer_state(nlp, second, state["optimizer"], 1)
    before = other.get_param("W").copy()
    # In a step without a gradient the weights go on in the same direction, but the
    # bias, which never had a gradient, stays.
    one.finish_update(first)
    other.finish_update(second)
    assert not numpy.array_equal(other.get_param("W"), before)
    for name in ("W", "b"):
        assert numpy.array_equal(one.get_param(name), other.get_param(name))
    assert list(second.nr_update.items()) == [((other.id, "W"), 2)]


def test_gradients_and_frozen_weights_of_a_torch_network() -> None:
    def make() -> torch.nn.Module:
        return torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 2))

    one, other = make(), make()
    one[0].requires_grad_(False)
    one[1].weight.grad = torch.zeros(2, 2)
    one[1].bias.grad = torch.ones(2)
    state = model_state(pipeline(PyTorchWrapper(one)))
    set_model_state(pipeline(PyTorchWrapper(other)), state)
    assert [w.requires_grad for w in other.parameters()] == [False, False, True, True]
    assert other[0].weight.grad is None
    assert torch.equal(other[1].weight.grad, torch.zeros(2, 2))
    assert torch.equal(other[1].bias.grad, torch.ones(2))
    assert torch.equal(other[0].weight, one[0].weight)


def test_random_states() -> None:
    def draw() -> Any:
        return random.random(), numpy.random.normal(), torch.rand(1).item()

    # An odd number of draws leaves one from the normal distribution in stock.
    draw()
    states = random_states()
    drawn = draw()
    assert draw() != drawn
    set_random_states(states)
    assert draw() == drawn


def cut(data: bytes) -> bytes:
    return data[: len(data) // 2]


def flip(data: bytes) -> bytes:
    # One bit of the weights.
    weights = torch.load(io.BytesIO(data), weights_only=True)["model"]["weights"]
    place = data.index(weights["test_one_model/0/W"].numpy().tobytes())
    return data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]


def empty(data: bytes) -> bytes:
    return b""


def other_file(data: bytes) -> bytes:
    return b'{"text": "hello"}'


@pytest.mark.parametrize("damage", [cut, flip, empty, other_file])
def test_damaged_file(saved: Path, damage: Callable[[bytes], bytes]) -> None:
    saved.write_bytes(damage(saved.read_bytes()))
    with pytest.raises(CheckpointError, match=r"checkpoint\.pt.*--fresh"):
        load_checkpoint(saved)


def test_code_is_not_run(saved: Path) -> None:
    torch.save({"format": 1, "code": pytest.fail}, saved)
    with pytest.raises(CheckpointError, match="cannot be read"):
        load_checkpoint(saved)


def test_other_format(saved: Path) -> None:
    state = torch.load(saved, weights_only=True)
    torch.save({**state, "format": 99}, saved)
    with pytest.raises(CheckpointError, match="format 99"):
        load_checkpoint(saved)


def test_other_weights(saved: Path) -> None:
    state: Dict[str, Any] = load_checkpoint(saved)["model"]
    with pytest.raises(CheckpointError, match="test_one_model/0/W"):
        set_model_state(pipeline(linear(4)), state)
    network = PyTorchWrapper(torch.nn.Linear(2, 2))
    with pytest.raises(CheckpointError, match="test_one_model/0"):
        set_model_state(pipeline(network), state)
    state = model_state(pipeline(network))
    with pytest.raises(CheckpointError, match="network of 'test_one_model'"):
        set_model_state(pipeline(PyTorchWrapper(torch.nn.Linear(3, 2))), state)


def test_what_cannot_be_saved() -> None:
    hidden, optimizer = linear(), Adam(0.1)
    nlp = pipeline(linear(), hidden)
    learn(hidden, optimizer)
    with pytest.raises(CheckpointError, match="in no component's 'model'"):
        optimizer_state(nlp, optimizer)
    strange = Model("strange", lambda *_: None, shims=[Shim("something")])
    with pytest.raises(CheckpointError, match="spacy train"):
        model_state(pipeline(strange))


def test_failed_write_leaves_the_old_one(
    saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = saved.read_bytes()

    def full(*_: Any) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr(torch, "save", full)
    with pytest.raises(CheckpointError, match="No space left"):
        save_checkpoint(saved, pipeline(linear()), Adam(0.1), Progress(seed=1), {})
    assert saved.read_bytes() == before
