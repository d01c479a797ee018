"""The thinc model around the network of the trained segmenter backend."""

from typing import Any, Tuple, cast

import torch
from thinc.api import Model

from ..shim import NetworkShim
from .network import Batch, SegmenterNetwork


def make_model(network: SegmenterNetwork, encoder_rate: float) -> Model:
    """Wrap the network into a thinc model.

    network (SegmenterNetwork): The network.
    encoder_rate (float): Learning rate of the encoder, as a share of the other.
    RETURNS (Model[Batch, Tuple[Tensor, Tensor]]): Word vectors and candidate scores
        of a batch. In training, gradients are left to torch: the caller computes a
        loss of both and calls ``backward`` on it.
    """
    shim = NetworkShim(network, {"encoder.transformer.": encoder_rate})
    return Model("segmenter_network", _forward, shims=[shim])


def get_network(model: Model) -> SegmenterNetwork:
    """The torch network of a model that ``make_model`` made.

    model (Model): The model.
    RETURNS (SegmenterNetwork): Its network.
    """
    return cast(SegmenterNetwork, cast(NetworkShim, model.shims[0]).network)


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
