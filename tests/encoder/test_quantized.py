"""Linear layers that multiply whole numbers."""

import random
from pathlib import Path
from typing import List

import numpy as np
import pytest
import spacy
import torch
from spacy.language import Language
from spacy.tokens import Doc
from torch import nn

from spacy_he_coref.encoder import quantized
from spacy_he_coref.encoder.quantized import (
    QuantizedLinear,
    has_integer_products,
    quantize,
)
from tests.encoder.test_model import make_pipeline, vectors
from tests.segmenter.helpers import TEXT, segmented
from tests.util import save_tiny_encoder


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_encoder(tmp_path_factory.mktemp("encoder"))


@pytest.fixture
def linear() -> nn.Linear:
    torch.manual_seed(0)
    return nn.Linear(96, 48)


@pytest.fixture
def rows() -> torch.Tensor:
    torch.manual_seed(1)
    rows = torch.randn(40, 96)
    # Encoders have a few columns that are much larger than the others.
    rows[:, 7] *= 20
    return rows


def run(layer: nn.Module, rows: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        return layer(rows)


def test_result_is_near_that_of_floats(linear: nn.Linear, rows: torch.Tensor) -> None:
    exact = run(linear, rows)
    found = run(QuantizedLinear(linear), rows)
    assert not torch.equal(found, exact)
    error = (found - exact).norm() / exact.norm()
    assert error < 0.03


def test_a_row_has_the_same_result_in_any_batch(
    linear: nn.Linear, rows: torch.Tensor
) -> None:
    layer = QuantizedLinear(linear)
    together = run(layer, rows)
    for i in range(len(rows)):
        assert torch.equal(run(layer, rows[i : i + 1])[0], together[i])
    assert torch.equal(run(layer, rows.reshape(4, 10, 96)).reshape(40, 48), together)


def test_floats_do_the_same_work_where_there_are_no_whole_numbers(
    linear: nn.Linear, rows: torch.Tensor, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = run(QuantizedLinear(linear), rows)
    monkeypatch.setattr(quantized, "has_integer_products", lambda: False)
    assert torch.allclose(run(QuantizedLinear(linear), rows), found, atol=1e-5)


@pytest.mark.parametrize("columns", [8, 384, 1537])
def test_products_of_the_largest_numbers_are_exact(columns: int) -> None:
    if not has_integer_products():
        pytest.skip("torch multiplies floats on this processor")
    linear = nn.Linear(columns, 16, bias=False)
    nn.init.constant_(linear.weight, 63.0)
    found = run(QuantizedLinear(linear), torch.full((3, columns), 127.0))
    assert torch.equal(found, torch.full((3, 16), columns * 127.0 * 63.0))


def test_zeros_and_no_rows(linear: nn.Linear) -> None:
    layer = QuantizedLinear(linear)
    assert torch.equal(run(layer, torch.zeros(2, 96)), linear.bias.expand(2, 48))
    assert run(layer, torch.zeros(0, 96)).shape == (0, 48)


def test_training_is_in_floats(linear: nn.Linear, rows: torch.Tensor) -> None:
    layer = QuantizedLinear(linear)
    output = layer(rows)
    assert torch.equal(output, linear(rows))
    output.sum().backward()
    assert linear.weight.grad is not None and linear.weight.grad.abs().sum() > 0


def test_changed_weights_count(linear: nn.Linear, rows: torch.Tensor) -> None:
    layer = QuantizedLinear(linear)
    before = run(layer, rows)
    with torch.no_grad():
        layer.weight.mul_(2)
    assert torch.allclose(
        run(layer, rows) - layer.bias, 2 * (before - layer.bias), atol=1e-4
    )
    layer.load_state_dict({"weight": torch.zeros(48, 96), "bias": layer.bias.detach()})
    assert torch.equal(run(layer, rows), layer.bias.expand(40, 48))


def test_names_and_weights_stay(rows: torch.Tensor) -> None:
    network = nn.Sequential(nn.Linear(96, 8), nn.ModuleList([nn.Linear(8, 8)]))
    before = {name: weight.clone() for name, weight in network.state_dict().items()}
    quantize(network)
    assert [type(m) for m in network.modules() if isinstance(m, nn.Linear)] == [
        QuantizedLinear,
        QuantizedLinear,
    ]
    after = network.state_dict()
    assert list(after) == list(before)
    assert all(torch.equal(after[name], before[name]) for name in before)


def test_unknown_precision(encoder: Path) -> None:
    with pytest.raises(ValueError, match="'int4'.*float32, int8"):
        make_pipeline(encoder, precision="int4")
    with pytest.raises(ValueError, match="'int4'.*float32, int8"):
        spacy.registry.misc.get("spacy_he_coref.TrainedSegmenter.v1")(precision="int4")


def load(nlp: Language, path: Path, precision: str) -> Language:
    nlp.to_disk(path)
    overrides = {"components.transformer.model.precision": precision}
    return spacy.load(path, config=overrides)


def test_saved_encoders_work_in_either_precision(encoder: Path, tmp_path: Path) -> None:
    nlp = make_pipeline(encoder, precision="int8")
    found = vectors(nlp, segmented(TEXT))
    again = vectors(load(nlp, tmp_path / "a", "int8"), segmented(TEXT))
    # Weights are saved in half precision.
    assert np.allclose(found, again, atol=0.05)
    floats = vectors(load(nlp, tmp_path / "b", "float32"), segmented(TEXT))
    assert not np.array_equal(again, floats)
    assert np.abs(again - floats).max() < 0.1 * np.abs(floats).max()


@pytest.mark.parametrize("precision", ["float32", "int8"])
def test_batches_and_threads_change_nothing(encoder: Path, precision: str) -> None:
    nlp = make_pipeline(encoder, precision=precision, batch_pieces=100)
    draw = random.Random(0)
    texts: List[str] = [
        " ".join(draw.choices(["אב", "גדה", "ו", "הו", "זח"], k=draw.randint(1, 60)))
        for _ in range(12)
    ]
    trf = nlp.get_pipe("transformer")
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        together = list(trf.pipe([nlp.make_doc(text) for text in texts]))
        torch.set_num_threads(1)
        alone = [nlp(Doc(nlp.vocab, words=text.split())) for text in texts]
    finally:
        torch.set_num_threads(threads)
    for one, other in zip(together, alone, strict=True):
        assert np.array_equal(
            one._.trf_data.model_output.last_hidden_state,
            other._.trf_data.model_output.last_hidden_state,
        )
