"""Torch networks inside thinc models: training steps, storage, checkpoints."""

import ctypes
import os
import sys
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, cast

import srsly
import torch
from safetensors import torch as safetensors
from spacy.language import Language
from thinc.api import Model, Optimizer
from thinc.shims import Shim
from thinc.util import get_torch_default_device
from torch import nn


class NetworkShim(Shim):
    """Keeps the torch network of a thinc model and takes its training steps.

    A step is one of torch's AdamW with the learning rate, weight decay and clipping
    of the thinc optimizer; parts of the network may have learning rates of their
    own, as shares of the other. thinc's own steps would have to copy every weight
    and know one rate.
    """

    def __init__(
        self, network: Optional[nn.Module], rates: Optional[Mapping[str, float]] = None
    ) -> None:
        """Make the shim.

        network (Optional[nn.Module]): The network; None if it comes later.
        rates (Optional[Mapping[str, float]]): For the beginnings of names of
            weights, their learning rate as a share of the optimizer's; the longest
            beginning that fits counts, 1 where none does.
        """
        super().__init__(network)
        # What the config says of the model. Not stored with the weights, as a model's
        # attributes are, so that a changed config of a saved pipeline counts.
        self.settings: Dict[str, Any] = {}
        self._rates = dict(rates or {})
        self._adam: Optional[torch.optim.AdamW] = None
        # State of a training run that goes on, until the first step needs it.
        self._resumed: Optional[Dict[str, Any]] = None

    @property
    def network(self) -> nn.Module:
        """The network itself."""
        return cast(nn.Module, self._model)

    def _make_adam(self, rate: float) -> torch.optim.AdamW:
        by_share: Dict[float, List[nn.Parameter]] = {}
        for name, weight in self.network.named_parameters():
            if weight.requires_grad:
                fitting = [start for start in self._rates if name.startswith(start)]
                share = self._rates[max(fitting, key=len)] if fitting else 1.0
                by_share.setdefault(share, []).append(weight)
        adam = torch.optim.AdamW(
            [{"params": part, "share": share} for share, part in by_share.items()],
            lr=rate,
        )
        if self._resumed is not None:
            adam.load_state_dict(self._resumed)
            self._resumed = None
        return adam

    def finish_update(self, optimizer: Optimizer) -> None:
        """Take a training step with the gradients that are there.

        optimizer (Optimizer): Gives learning rate, weight decay and clipping.
        """
        rate = float(optimizer.learn_rate)
        if self._adam is None:
            self._adam = self._make_adam(rate)
        for group in self._adam.param_groups:
            group["lr"] = rate * group["share"]
            group["weight_decay"] = float(optimizer.L2)
        if optimizer.grad_clip:
            torch.nn.utils.clip_grad_norm_(
                self.network.parameters(), float(optimizer.grad_clip)
            )
        self._adam.step()
        self._adam.zero_grad()

    def copy(self) -> "NetworkShim":
        raise NotImplementedError("Save the pipeline and load it again to copy it.")

    def to_bytes(self) -> bytes:
        """Serialize the weights, in half precision and without pickle.

        RETURNS (bytes): The data in the safetensors format.
        """
        return self.weights_to_bytes()

    def weights_to_bytes(self, leave_out: Optional[str] = None) -> bytes:
        """Serialize weights, as ``to_bytes``.

        leave_out (Optional[str]): What the names of those begin with that are kept
            somewhere else; None to write all.
        RETURNS (bytes): The data in the safetensors format.
        """
        weights = self.network.state_dict()
        return safetensors.save(
            {
                name: (
                    weight.half() if weight.is_floating_point() else weight
                ).contiguous()
                for name, weight in weights.items()
                if leave_out is None or not name.startswith(leave_out)
            }
        )

    def from_bytes(self, bytes_data: bytes) -> "NetworkShim":
        """Load the weights.

        bytes_data (bytes): What ``to_bytes`` gave.
        RETURNS (NetworkShim): The shim itself.
        """
        self.load_weights(safetensors.load(bytes_data))
        return self

    def load_weights(self, weights: Mapping[str, torch.Tensor]) -> None:
        """Put weights into the network.

        weights (Mapping[str, Tensor]): All of its weights, of any precision.
        """
        # Copied into those of the network, in whose precision they are then.
        self.network.load_state_dict(weights)
        self.network.eval()

    def round_weights(self) -> None:
        """Round the weights to those that will be saved, in half precision."""
        with torch.no_grad():
            for weight in self.network.parameters():
                weight.copy_(weight.half())

    def training_state(self) -> Dict[str, Any]:
        """All that a training run needs to go on from here without loss.

        RETURNS (Dict[str, Any]): Weights in full precision and the state of the
            optimizer; tensors, numbers and strings that ``torch.save`` takes.
        """
        adam = self._resumed if self._adam is None else self._adam.state_dict()
        return {"weights": self.network.state_dict(), "adam": adam}

    def load_training_state(self, state: Mapping[str, Any]) -> None:
        """Go on from a state.

        state (Mapping[str, Any]): What ``training_state`` gave.
        """
        self.network.load_state_dict(state["weights"])
        self._adam = None
        self._resumed = state["adam"]


class BuiltShim(NetworkShim):
    """Keeps a network whose sizes are known only when it is initialized."""

    def __init__(
        self,
        build: Callable[..., nn.Module],
        rates: Optional[Mapping[str, float]] = None,
    ) -> None:
        """Make the shim, without a network yet.

        build (Callable[..., nn.Module]): Makes the network from its sizes.
        rates (Optional[Mapping[str, float]]): See ``NetworkShim``.
        """
        super().__init__(None, rates)
        self._build = build
        self.sizes: Dict[str, Any] = {}

    def build(self, **sizes: Any) -> None:
        """Make the network.

        sizes (Any): Arguments of the function that makes it; numbers and strings.
        """
        self.sizes = sizes
        self._adam = None
        self._model = self._build(**sizes).to(get_torch_default_device())

    def to_bytes(self) -> bytes:
        """Serialize sizes and weights; these in half precision.

        RETURNS (bytes): The data; empty if there is no network yet.
        """
        if self._model is None:
            return b""
        data = {"sizes": self.sizes, "weights": super().to_bytes()}
        return cast(bytes, srsly.msgpack_dumps(data))

    def from_bytes(self, bytes_data: bytes) -> "BuiltShim":
        """Make the network and load its weights.

        bytes_data (bytes): What ``to_bytes`` gave.
        RETURNS (BuiltShim): The shim itself.
        """
        if bytes_data:
            data = srsly.msgpack_loads(bytes_data)
            self.build(**data["sizes"])
            super().from_bytes(data["weights"])
        return self


def network_shims(nlp: Language) -> Iterator[NetworkShim]:
    """The torch networks of a pipeline.

    nlp (Language): The pipeline.
    YIELDS (NetworkShim): The shim of each.
    """
    for _, pipe in nlp.pipeline:
        model = getattr(pipe, "model", None)
        if isinstance(model, Model):
            for node in model.walk():
                yield from (s for s in node.shims if isinstance(s, NetworkShim))


_PROCESS = os.getpid()
# Tokens after which memory is given back.
_LONG = 20_000
_read = 0


def limit_threads_after_fork() -> None:
    """Let torch use one thread in a forked child.

    The pool of threads that OpenMP made in the parent does not exist in the child,
    and waiting for it would never end. Call this before a network runs.
    """
    global _PROCESS
    if os.getpid() != _PROCESS:
        torch.set_num_threads(1)
        _PROCESS = os.getpid()


def release_memory(tokens: int) -> None:
    """Give memory that is free back to the system, now and then.

    The C library keeps what torch freed, in pieces that are too small for the next
    arrays: after 100,000 words, or some hundred documents, hundreds of MB. Where the
    library has no way to give it back (it is not glibc), nothing happens.

    tokens (int): Tokens that were just read; it is done after every 20,000.
    """
    global _read
    _read += tokens
    if _read >= _LONG:
        _read = 0
        free_memory()


def free_memory() -> None:
    """Give memory that is free back to the system now, where the C library is glibc."""
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)
