"""Linear layers that multiply whole numbers, in a fraction of the time of floats.

Every row of values is scaled by its own largest one to numbers of eight bits, every
column of weights to numbers of seven. So a row's result does not depend on what else
is in the batch, and sums of products of whole numbers are exact in any order: the
result is the same with any number of threads.

Seven bits for weights, since x86 processors without VNNI add two products in 16 bits:
2 * 255 * 63 fits, 2 * 255 * 127 does not and would be cut off without a word.
"""

import platform
from functools import cache
from typing import Any, Optional, Tuple

import torch
from torch import Tensor, nn

FLOAT32 = "float32"
INT8 = "int8"
PRECISIONS = (FLOAT32, INT8)

_VALUES = 127.0
_WEIGHTS = 63.0
# Stands for the largest value of a row of zeros.
_TINY = 1e-12


def check_precision(precision: str) -> None:
    """Check that there is a precision.

    precision (str): Its name.
    RAISES (ValueError): If it is none of PRECISIONS.
    """
    if precision not in PRECISIONS:
        raise ValueError(
            f"There is no precision {precision!r} for the encoder. Set it to one of "
            f"{', '.join(PRECISIONS)}."
        )


def quantize(module: nn.Module) -> None:
    """Let all linear layers inside a module multiply whole numbers.

    Names and weights stay as they are.

    module (nn.Module): The module; it is changed.
    """
    for name, child in list(module.named_children()):
        if type(child) is nn.Linear:
            setattr(module, name, QuantizedLinear(child))
        else:
            quantize(child)


class QuantizedLinear(nn.Linear):
    """A linear layer that multiplies whole numbers where no gradients are wanted.

    Where they are, in training, it computes as any other.
    """

    def __init__(self, linear: nn.Linear) -> None:
        """Take the place of a layer.

        linear (nn.Linear): The layer, whose weights are shared.
        """
        with torch.device("meta"):
            super().__init__(
                linear.in_features, linear.out_features, linear.bias is not None
            )
        self.weight, self.bias = linear.weight, linear.bias
        # Which weights the rounded ones were made from; and these, with their scales.
        self._made_from: Any = None
        self._rounded: Optional[Tuple[Tensor, Tensor]] = None

    def forward(self, input: Tensor) -> Tensor:
        """Multiply.

        input (Tensor): float32 of (..., input width).
        RETURNS (Tensor): float32 of (..., output width).
        """
        if torch.is_grad_enabled():
            return super().forward(input)
        weights, scales = self._round()
        rows = input.reshape(-1, self.in_features)
        if not len(rows):
            return super().forward(input)
        largest = rows.abs().amax(1, keepdim=True).clamp_(min=_TINY)
        values = (rows * (_VALUES / largest)).round_()
        output = _multiply(values, weights) * (largest / _VALUES)
        if self.bias is None:
            output = output * scales
        else:
            output = torch.addcmul(self.bias, output, scales)
        return output.reshape(*input.shape[:-1], self.out_features)

    def _round(self) -> Tuple[Tensor, Tensor]:
        """The rounded weights and their scales, anew after the weights changed."""
        weight = self.weight
        origin = (weight.data_ptr(), weight._version, weight.device)
        rounded = self._rounded
        if rounded is None or origin != self._made_from:
            with torch.no_grad():
                scales = weight.abs().amax(1).clamp_(min=_TINY) / _WEIGHTS
                weights = (weight / scales[:, None]).round_().t()
            if weight.device.type == "cpu" and has_integer_products():
                weights = weights.to(torch.int8)
            rounded = self._rounded = weights, scales
            self._made_from = origin
        return rounded


def _multiply(values: Tensor, weights: Tensor) -> Tensor:
    """The products of whole numbers, in whatever way the processor is fast at."""
    if weights.dtype == torch.int8:
        return torch._int_mm(values.to(torch.int8), weights)
    return values @ weights


@cache
def has_integer_products() -> bool:
    """Whether torch multiplies whole numbers fast and exactly on this processor.

    RETURNS (bool): False where floats do the same work, as fast as in any other layer.
    """
    if platform.machine().lower() not in ("x86_64", "amd64"):
        return False
    if not torch.backends.mkldnn.is_available():
        return False
    largest = torch.full((2, 64), int(_VALUES), dtype=torch.int8)
    weights = torch.full((64, 16), int(_WEIGHTS), dtype=torch.int8)
    try:
        found = torch._int_mm(largest, weights)
    except (AttributeError, RuntimeError):
        # Older releases of torch have it for other devices only, or not at all.
        return False
    return bool((found == 64 * int(_VALUES) * int(_WEIGHTS)).all())
