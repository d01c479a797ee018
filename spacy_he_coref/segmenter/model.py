"""The thinc model around the network of the trained segmenter backend."""

from typing import Any, Dict, List, Optional, Tuple, cast

import torch
from safetensors import torch as safetensors
from thinc.api import Model, Optimizer
from thinc.shims import Shim

from .network import Batch, SegmenterNetwork


class NetworkShim(Shim):
    """Keeps the torch network of a thinc model and takes its training steps.

    A step is one of torch's AdamW with the learning rate, weight decay and clipping
    of the thinc optimizer; the encoder has a learning rate of its own, a fraction of
    the other. thinc's own steps would have to copy every weight and know one rate.
    """

    def __init__(self, network: SegmenterNetwork, encoder_rate: float) -> None:
        """Make the shim.

        network (SegmenterNetwork): The network.
        encoder_rate (float): Learning rate of the encoder, as a share of the other.
        """
        super().__init__(network)
        self._encoder_rate = encoder_rate
        self._adam: Optional[torch.optim.AdamW] = None

    @property
    def network(self) -> SegmenterNetwork:
        """The network itself."""
        return cast(SegmenterNetwork, self._model)

    def finish_update(self, optimizer: Optimizer) -> None:
        """Take a training step with the gradients that are there.

        optimizer (Optimizer): Gives learning rate, weight decay and clipping.
        """
        rate = float(optimizer.learn_rate)
        if self._adam is None:
            encoder: List[torch.nn.Parameter] = []
            other: List[torch.nn.Parameter] = []
            for name, weight in self.network.named_parameters():
                if weight.requires_grad:
                    (encoder if name.startswith("encoder.") else other).append(weight)
            groups: List[Dict[str, Any]] = [{"params": other, "share": 1.0}]
            if encoder:
                groups.append({"params": encoder, "share": self._encoder_rate})
            self._adam = torch.optim.AdamW(groups, lr=rate)
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
        weights = self.network.state_dict()
        return safetensors.save(
            {name: weight.half().contiguous() for name, weight in weights.items()}
        )

    def from_bytes(self, bytes_data: bytes) -> "NetworkShim":
        """Load the weights.

        bytes_data (bytes): What ``to_bytes`` gave.
        RETURNS (NetworkShim): The shim itself.
        """
        weights = safetensors.load(bytes_data)
        self.network.load_state_dict(
            {name: weight.float() for name, weight in weights.items()}
        )
        self.network.eval()
        return self


def make_model(network: SegmenterNetwork, encoder_rate: float) -> Model:
    """Wrap the network into a thinc model.

    network (SegmenterNetwork): The network.
    encoder_rate (float): Learning rate of the encoder, as a share of the other.
    RETURNS (Model[Batch, Tuple[Tensor, Tensor]]): Word vectors and candidate scores
        of a batch. In training, gradients are left to torch: the caller computes a
        loss of both and calls ``backward`` on it.
    """
    shim = NetworkShim(network, encoder_rate)
    return Model("segmenter_network", _forward, shims=[shim])


def get_network(model: Model) -> SegmenterNetwork:
    """The torch network of a model that ``make_model`` made.

    model (Model): The model.
    RETURNS (SegmenterNetwork): Its network.
    """
    return cast(NetworkShim, model.shims[0]).network


def _forward(
    model: Model, batch: Batch, is_train: bool
) -> Tuple[Tuple[torch.Tensor, torch.Tensor], Any]:
    network = get_network(model)
    network.train(is_train)
    if is_train:
        return network(batch), _no_backprop
    with torch.inference_mode():
        return network(batch), _no_backprop


def _no_backprop(*_: Any) -> None:
    raise NotImplementedError("Call backward on a loss of the outputs instead.")
