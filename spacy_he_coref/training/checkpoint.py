"""The checkpoint of a training run: all that changes while a pipeline learns.

A checkpoint is one file of tensors, numbers and strings (no code: it is read with
``weights_only=True``). It holds weights and gradients in full precision, the state
of the optimizers, the random states and the place in the data. Weights are found
by their place in the pipeline, because thinc numbers its models anew in every
process.
"""

import json
import os
import random
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Dict, Iterator, List, Mapping, Optional, Tuple, cast
from zipfile import BadZipFile, ZipFile

import numpy
import torch
from spacy.language import Language
from thinc.api import Model, Optimizer, PyTorchShim, get_current_ops
from thinc.shims import Shim

from ..shim import NetworkShim

# Raised with every change that makes older checkpoints unreadable.
FORMAT = 1
# Settings of thinc's optimizer that a schedule may drive.
_RATES = ("grad_clip", "learn_rate", "b1", "b2", "eps", "L2")


class CheckpointError(ValueError):
    """A checkpoint that cannot be written, read, or used with this pipeline."""


@dataclass
class Progress:
    """Where a training run stands.

    seed (int): Seed of the order of the data.
    step (int): Optimizer steps taken.
    epoch (int): Passes over the training data that are complete.
    batches (int): Batches used in the current pass.
    words (int): Tokens of the training examples used.
    seconds (float): Time of training, evaluation included, over all sessions.
    losses (Dict[str, float]): Sums since the last evaluation, by component.
    results (List[Tuple[float, int]]): Score and step number of each evaluation.
    log (List[Dict[str, Any]]): The line of ``log.jsonl`` of each evaluation.
    performance (Dict[str, Any]): What the last evaluation wrote into the meta.
    finished (bool): Whether the last step has been taken and the model saved.
    """

    seed: int
    step: int = 0
    epoch: int = 0
    batches: int = 0
    words: int = 0
    seconds: float = 0.0
    losses: Dict[str, float] = field(default_factory=dict)
    results: List[Tuple[float, int]] = field(default_factory=list)
    log: List[Dict[str, Any]] = field(default_factory=list)
    performance: Dict[str, Any] = field(default_factory=dict)
    finished: bool = False


# Random states


def random_states() -> Dict[str, Any]:
    """The states of all global random generators.

    RETURNS (Dict[str, Any]): Tensors and numbers, by generator.
    """
    name, keys, *rest = cast(Tuple[Any, ...], numpy.random.get_state())
    states: Dict[str, Any] = {
        "python": random.getstate(),
        "numpy": (name, torch.from_numpy(keys.astype(numpy.int64)), *rest),
        "torch": torch.get_rng_state(),
    }
    if torch.cuda.is_initialized():
        states["cuda"] = torch.cuda.get_rng_state_all()
    return states


def set_random_states(states: Mapping[str, Any]) -> None:
    """Put back the states of all global random generators.

    states (Mapping[str, Any]): What ``random_states`` gave.
    """
    random.setstate(states["python"])
    name, keys, *rest = states["numpy"]
    numpy.random.set_state((name, keys.numpy().astype(numpy.uint32), *rest))
    torch.set_rng_state(states["torch"])
    if "cuda" in states and torch.cuda.is_available():
        torch.cuda.set_rng_state_all(states["cuda"])


# Weights and optimizers


def _nodes(nlp: Language) -> Iterator[Tuple[str, Model]]:
    """Every node of every model in the pipeline, once, with its place."""
    seen = set()
    for name, pipe in nlp.pipeline:
        model = getattr(pipe, "model", None)
        if isinstance(model, Model):
            for number, node in enumerate(model.walk()):
                if node.id not in seen:
                    seen.add(node.id)
                    yield f"{name}/{number}", node


def _shims(nlp: Language) -> Iterator[Tuple[str, Shim]]:
    """Every shim with a torch network, with its place."""
    for place, node in _nodes(nlp):
        for number, shim in enumerate(node.shims):
            if shim._model is None:
                continue
            if not isinstance(shim, (NetworkShim, PyTorchShim)):
                raise CheckpointError(
                    f"The model of {place.split('/')[0]!r} is a "
                    f"{type(shim).__name__}, whose training state cannot be saved. "
                    "Train this pipeline with 'spacy train'."
                )
            yield f"{place}/shim{number}", shim


def _optimizer_keys(nlp: Language) -> Dict[Tuple[int, str], str]:
    """For the keys of thinc's optimizer, the places of their weights."""
    keys: Dict[Tuple[int, str], str] = {}
    for place, shim in _shims(nlp):
        if not isinstance(shim, NetworkShim):
            for name, _ in shim._model.named_parameters():
                keys[shim.id, name] = f"{place}/{name}"
    for place, node in _nodes(nlp):
        for name in node.param_names:
            keys[node.id, name] = f"{place}/{name}"
    return keys


def _tensor(node: Model, array: Any) -> torch.Tensor:
    return torch.from_numpy(node.ops.to_numpy(array))


def model_state(nlp: Language) -> Dict[str, Any]:
    """Weights and gradients of all models, and the state of torch's optimizers.

    nlp (Language): The pipeline.
    RETURNS (Dict[str, Any]): Tensors, numbers and strings, by place. On the CPU
        the tensors are those of the models, not copies.
    RAISES (CheckpointError): If a model cannot be saved.
    """
    weights: Dict[str, torch.Tensor] = {}
    gradients: Dict[str, torch.Tensor] = {}
    networks: Dict[str, Any] = {}
    for place, node in _nodes(nlp):
        for name in node.param_names:
            if node.has_param(name):
                weights[f"{place}/{name}"] = _tensor(node, node.get_param(name))
            # A weight with a gradient, even of zero, is moved by the optimizer at
            # every step; one that never had a gradient is not.
            if node.has_grad(name):
                gradients[f"{place}/{name}"] = _tensor(node, node.get_grad(name))
    for place, shim in _shims(nlp):
        parameters = dict(shim._model.named_parameters())
        # None stands for a gradient of zero.
        torch_gradients: Dict[str, Optional[torch.Tensor]] = {
            name: weight.grad if bool(weight.grad.any()) else None
            for name, weight in parameters.items()
            if weight.grad is not None
        }
        if isinstance(shim, NetworkShim):
            state = shim.training_state()
        else:
            state = {"weights": shim._model.state_dict()}
        networks[place] = {
            "state": state,
            "gradients": torch_gradients,
            "frozen": [n for n, w in parameters.items() if not w.requires_grad],
        }
    return {"weights": weights, "gradients": gradients, "networks": networks}


def set_model_state(nlp: Language, state: Mapping[str, Any]) -> None:
    """Put back what ``model_state`` gave.

    nlp (Language): The pipeline, with the same components and shapes.
    state (Mapping[str, Any]): The state.
    RAISES (CheckpointError): If the pipeline has other weights.
    """
    weights, gradients = state["weights"], state["gradients"]
    nodes, shims = list(_nodes(nlp)), dict(_shims(nlp))
    own = {
        f"{place}/{name}": node.get_param(name).shape
        for place, node in nodes
        for name in node.param_names
        if node.has_param(name)
    }
    _compare(
        {place: tuple(shape) for place, shape in own.items()},
        {place: tuple(weight.shape) for place, weight in weights.items()},
    )
    _compare(dict.fromkeys(shims, ()), dict.fromkeys(state["networks"], ()))
    for place, node in nodes:
        array = node.ops.xp.array
        for name in node.param_names:
            key = f"{place}/{name}"
            if key in weights:
                node.set_param(name, array(weights[key].numpy()))
            if key in gradients:
                node.set_grad(name, array(gradients[key].numpy()))
    for place, shim in shims.items():
        saved = state["networks"][place]
        frozen = set(saved["frozen"])
        parameters = dict(shim._model.named_parameters())
        # Before the state: torch's optimizer takes the weights that learn.
        for name, weight in parameters.items():
            weight.requires_grad_(name not in frozen)
        try:
            if isinstance(shim, NetworkShim):
                shim.load_training_state(saved["state"])
            else:
                shim._model.load_state_dict(saved["state"]["weights"])
        except (RuntimeError, ValueError, KeyError) as error:
            raise CheckpointError(
                f"The checkpoint does not fit the network of "
                f"{place.split('/')[0]!r}: {error}\nStart again with --fresh."
            ) from error
        for name, gradient in saved["gradients"].items():
            weight = parameters[name]
            if gradient is None:
                weight.grad = torch.zeros_like(weight)
            else:
                weight.grad = gradient.to(weight.device)


def _compare(own: Mapping[str, Any], saved: Mapping[str, Any]) -> None:
    if own != saved:
        other = sorted(k for k in {*own, *saved} if own.get(k) != saved.get(k))
        raise CheckpointError(
            "The checkpoint does not fit the pipeline: other weights in "
            f"{', '.join(other[:5])}. The code has probably changed since the run "
            "began. Go back to that version, or start again with --fresh."
        )


def optimizer_state(nlp: Language, optimizer: Optimizer) -> Dict[str, Any]:
    """The state of thinc's optimizer.

    nlp (Language): The pipeline that it trains.
    optimizer (Optimizer): The optimizer.
    RETURNS (Dict[str, Any]): Tensors, numbers and strings, by place.
    RAISES (CheckpointError): If it trains weights outside of the pipeline.
    """
    keys = _optimizer_keys(nlp)
    unknown = [key for key in optimizer.nr_update if key not in keys]
    if unknown:
        raise CheckpointError(
            f"The optimizer trains weights named {sorted({k[1] for k in unknown})} "
            "that are in no component's 'model', so they cannot be saved in a "
            "checkpoint. Train this pipeline with 'spacy train'."
        )

    def tensors(arrays: Optional[Dict[Tuple[int, str], Any]]) -> Any:
        if arrays is None:
            return None
        # cupy arrays have 'get', which copies them to the main memory.
        return {
            keys[k]: torch.from_numpy(a.get() if hasattr(a, "get") else a)
            for k, a in arrays.items()
        }

    return {
        "mom1": tensors(optimizer.mom1),
        "mom2": tensors(optimizer.mom2),
        "averages": tensors(optimizer.averages),
        "nr_update": {keys[k]: n for k, n in optimizer.nr_update.items()},
        "last_seen": {keys[k]: n for k, n in optimizer.last_seen.items()},
        "radam": optimizer._radam_buffer,
        "rates": {name: float(getattr(optimizer, name)) for name in _RATES},
    }


def set_optimizer_state(
    nlp: Language, optimizer: Optimizer, state: Mapping[str, Any], steps: int
) -> None:
    """Put back what ``optimizer_state`` gave.

    nlp (Language): The pipeline, with its weights put back.
    optimizer (Optimizer): A new optimizer of the same settings.
    state (Mapping[str, Any]): The state.
    steps (int): Steps that its schedules have taken.
    RAISES (CheckpointError): If its schedules come to other values.
    """
    for _ in range(steps):
        optimizer.step_schedules()
    rates = {name: float(getattr(optimizer, name)) for name in _RATES}
    if rates != state["rates"]:
        raise CheckpointError(
            f"After {steps} steps the optimizer should be at {state['rates']}, but its "
            f"schedules came to {rates}. Start again with --fresh."
        )
    keys = {place: key for key, place in _optimizer_keys(nlp).items()}
    array = get_current_ops().xp.array

    def arrays(tensors: Optional[Mapping[str, torch.Tensor]]) -> Any:
        if tensors is None:
            return None
        return {keys[place]: array(t.numpy()) for place, t in tensors.items()}

    optimizer.mom1 = arrays(state["mom1"])
    optimizer.mom2 = arrays(state["mom2"])
    optimizer.averages = arrays(state["averages"])
    optimizer.nr_update.update({keys[p]: n for p, n in state["nr_update"].items()})
    optimizer.last_seen.update({keys[p]: n for p, n in state["last_seen"].items()})
    optimizer._radam_buffer = [list(row) for row in state["radam"]]


# Files


def save_checkpoint(
    path: Path,
    nlp: Language,
    optimizer: Optimizer,
    progress: Progress,
    config: Mapping[str, Any],
) -> None:
    """Write a checkpoint; the one before stays whole until this one is complete.

    path (Path): The file.
    nlp (Language): The pipeline, between two steps.
    optimizer (Optimizer): Its optimizer.
    progress (Progress): Where the run stands.
    config (Mapping[str, Any]): The config of the run, interpolated.
    RAISES (CheckpointError): If something cannot be saved.
    """
    state = {
        "format": FORMAT,
        "random": random_states(),
        "model": model_state(nlp),
        "optimizer": optimizer_state(nlp, optimizer),
        "progress": json.dumps(asdict(progress)),
        "config": json.dumps(config),
        "strings": json.dumps(sorted(nlp.vocab.strings)),
    }
    temporary = path.with_name(path.name + ".tmp")
    try:
        with temporary.open("wb") as file:
            torch.save(state, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except (OSError, RuntimeError) as error:
        raise CheckpointError(
            f"Cannot write the checkpoint {path} ({error}). The one before, if any, is "
            "unharmed: make room and run the same command again."
        ) from error


def load_checkpoint(path: Path) -> Dict[str, Any]:
    """Read a checkpoint.

    path (Path): The file.
    RETURNS (Dict[str, Any]): ``random``, ``model`` and ``optimizer`` for the
        functions above, ``progress`` (Progress), ``config`` (Dict), and the
        ``strings`` (List[str]) that the vocabulary had.
    RAISES (CheckpointError): If it is damaged, or of another version.
    """
    try:
        # torch writes checksums but does not look at them.
        with ZipFile(path) as archive:
            if archive.testzip() is not None:
                raise BadZipFile("a checksum is wrong")
        state = torch.load(path, map_location="cpu", weights_only=True)
        number = state["format"]
    except Exception as error:
        reason = str(error).partition("\n")[0][:200]
        raise CheckpointError(
            f"The checkpoint {path} cannot be read, it is damaged or something else "
            f"({type(error).__name__}: {reason}). Put back a copy of it, or start "
            "again with --fresh."
        ) from error
    if number != FORMAT:
        raise CheckpointError(
            f"The checkpoint {path} has format {number}, this version of "
            f"spacy_he_coref reads {FORMAT}. Go on with the version that wrote it, or "
            "start again with --fresh."
        )
    values = json.loads(state["progress"])
    values["results"] = [tuple(pair) for pair in values["results"]]
    state["progress"] = Progress(**values)
    for name in ("config", "strings"):
        state[name] = json.loads(state[name])
    return state
