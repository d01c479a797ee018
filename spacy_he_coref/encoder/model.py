"""The transformer over morphemes: an architecture for spacy-transformers.

Every segment gets the mean of the vectors of its wordpieces. Long documents are read
in windows that overlap; what a window says counts in its core only. The vectors of
the wordpieces are not kept: memory grows by one vector for each token, and what is
needed on the way is bounded.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, cast

import numpy as np
import spacy
import srsly
import torch
from safetensors import torch as safetensors
from spacy.errors import Errors
from spacy.language import Language
from spacy.tokens import Doc
from spacy_transformers.data_classes import (
    FullTransformerBatch,
    TransformerData,
    WordpieceBatch,
)
from thinc.api import Model, Optimizer, torch2xp, xp2torch
from thinc.types import Ragged
from thinc.util import get_torch_default_device
from torch import Tensor
from transformers.file_utils import ModelOutput

from ..shim import NetworkShim, limit_threads_after_fork, release_memory
from ..windows import make_windows, padded_length
from .listener import TokenData
from .pretrained import EncoderFiles, LentLayers, MixedLayers, lend_layers
from .quantized import FLOAT32, check_precision
from .reading import Reader, Reading


@spacy.registry.architectures("spacy_he_coref.MorphemeTransformer.v1")
def build_morpheme_transformer(
    name: str,
    reading: str = "morphemes",
    layers: Optional[int] = None,
    window: int = 384,
    overlap: int = 16,
    max_pieces: int = 24,
    batch_pieces: int = 1024,
    rate: float = 1.0,
    layer_decay: float = 1.0,
    dropout: Optional[float] = None,
    precision: str = FLOAT32,
) -> Model[List[Doc], FullTransformerBatch]:
    """Architecture ``spacy_he_coref.MorphemeTransformer.v1`` for ``transformer``.

    Give it as the model of spacy-transformers' component; components after it use
    its listener as with any other model (design section 2).

    name (str): A directory with a pretrained encoder, or its name on the hub. Read
        when the pipeline is initialized, not when it is loaded.
    reading (str): ``morphemes``: the morphemes, spaced out, with those that are not
        written. ``text``: the written words, whose wordpieces are shared by the
        segments that they cover.
    layers (Optional[int]): Keep this many of the lower layers; None for all.
    window (int): Longest window, in wordpieces.
    overlap (int): Context on either side of a window's core, in wordpieces.
    max_pieces (int): Wordpieces of one morpheme (or word) that are read at most.
    batch_pieces (int): Wordpieces, with padding, that are read at once.
    rate (float): Learning rate of the encoder, as a share of the optimizer's.
    layer_decay (float): Factor from the rate of one layer to the next lower one.
    dropout (Optional[float]): Dropout rate of the encoder's layers in training;
        None for what the pretrained model says.
    precision (str): ``int8``: linear layers multiply whole numbers, which takes about
        half the time on a CPU and changes scores by a few tenths of a point
        (docs/encoder.md). ``float32``: they do not. Training is in float32 anyway.
    RETURNS (Model[List[Doc], FullTransformerBatch]): The model.
    """
    check_precision(precision)
    shim = EncoderShim(rate, layer_decay)
    shim.settings = {
        "name": name,
        "reading": reading,
        "layers": layers,
        "window": window,
        "overlap": overlap,
        "max_pieces": max_pieces,
        "batch_pieces": batch_pieces,
        "dropout": dropout,
        "precision": precision,
    }
    return Model(
        "morpheme_transformer",
        _forward,
        init=_initialize,
        shims=[shim],
        dims={"nO": None},
    )


class EncoderShim(NetworkShim):
    """Keeps the encoder together with the files that it is made from."""

    def __init__(self, rate: float, layer_decay: float) -> None:
        """Make the shim, without an encoder yet.

        rate (float): Learning rate, as a share of the optimizer's.
        layer_decay (float): Factor from one layer's rate to the next lower one's.
        """
        super().__init__(None)
        self.files: Optional[EncoderFiles] = None
        self.rate = rate
        self.layer_decay = layer_decay
        self._frozen_layers = 0
        self._readers: Dict[Tuple[str, int], Reader] = {}
        self._waiting = False
        self._deferred: Optional[Optimizer] = None

    def set_encoder(self, files: EncoderFiles, encoder: MixedLayers) -> None:
        """Put an encoder in.

        files (EncoderFiles): Its files.
        encoder (MixedLayers): The encoder.
        """
        self.files = files
        self._readers = {}
        layers = int(files.config["num_hidden_layers"])
        if self._frozen_layers:
            encoder.freeze(self._frozen_layers)
        self._model = encoder.to(get_torch_default_device())
        self._rates = {
            f"transformer.encoder.layer.{i}.": self.rate
            * self.layer_decay ** (layers - 1 - i)
            for i in range(layers)
        }
        self._rates["transformer."] = self.rate * self.layer_decay**layers

    def freeze(self, layers: int) -> None:
        """Keep the embeddings and lower layers as they are in training.

        layers (int): How many layers.
        RAISES (ValueError): If the encoder has fewer.
        """
        self._frozen_layers = layers
        if self._model is not None:
            self._model.freeze(layers)

    def reader(self, reading: str, longest: int) -> Reader:
        """The reader of Docs, made once.

        reading (str): ``morphemes`` or ``text``.
        longest (int): Most wordpieces of one morpheme.
        RETURNS (Reader): The reader.
        RAISES (ValueError): If there is no encoder yet.
        """
        if self.files is None:
            raise ValueError(Errors.E109.format(name="transformer"))
        key = (reading, longest)
        if key not in self._readers:
            self._readers[key] = Reader(self.files, reading, longest)
        return self._readers[key]

    def finish_update(self, optimizer: Optimizer) -> None:
        """Take a training step, after the listeners have given their gradients.

        ``Language.update`` calls this before they have: it then waits for them.

        optimizer (Optimizer): Gives learning rate, weight decay and clipping.
        """
        if self._waiting:
            self._deferred = optimizer
        else:
            super().finish_update(optimizer)

    def begin_graph(self) -> None:
        """Say that a forward pass in training waits for its gradients."""
        self._waiting = True

    def end_graph(self) -> None:
        """Say that they have come; takes the step that waited for them."""
        self._waiting = False
        if self._deferred is not None:
            super().finish_update(self._deferred)
            self._deferred = None

    def to_bytes(self) -> bytes:
        """Serialize files and weights; these in half precision.

        RETURNS (bytes): The data; empty if there is no encoder yet.
        """
        if self.files is None:
            return b""
        return cast(
            bytes,
            srsly.msgpack_dumps(
                {"files": self.files.to_bytes(), "weights": super().to_bytes()}
            ),
        )

    def from_bytes(self, bytes_data: bytes) -> "EncoderShim":
        """Load files and weights.

        bytes_data (bytes): What ``to_bytes`` gave.
        RETURNS (EncoderShim): The shim itself.
        """
        if bytes_data:
            data = srsly.msgpack_loads(bytes_data)
            files = EncoderFiles.from_bytes(data["files"])
            encoder = files.make_encoder(None, precision=self.settings["precision"])
            self.set_encoder(files, encoder)
            super().from_bytes(data["weights"])
        return self

    def lend(self, layers: int) -> LentLayers:
        """Copy the lower layers, for another component to read other text with.

        layers (int): How many.
        RETURNS (LentLayers): The files and weights.
        RAISES (ValueError): If there is no encoder yet, or it has fewer layers.
        """
        if self.files is None:
            raise ValueError(Errors.E109.format(name="transformer"))
        return lend_layers(self.files, self.network.state_dict(), layers)


@spacy.registry.callbacks("spacy_he_coref.freeze_layers.v1")
def make_freeze_layers(
    layers: int, component: str = "transformer"
) -> Callable[[Language], Language]:
    """Callback ``spacy_he_coref.freeze_layers.v1`` for ``nlp.after_pipeline_creation``.

    It keeps the embeddings and lower layers of an encoder as they are, where the upper
    ones are trained: a sourced ``transformer`` brings its own config along.

    layers (int): How many layers.
    component (str): Name of the ``transformer``.
    RETURNS (Callable[[Language], Language]): Takes the pipeline and gives it back.
    """

    def freeze_layers(nlp: Language) -> Language:
        pipe: Any = nlp.get_pipe(component)
        for node in pipe.model.walk():
            for shim in node.shims:
                if isinstance(shim, EncoderShim):
                    shim.freeze(layers)
                    return nlp
        raise ValueError(
            f"{component} has no encoder over morphemes whose layers could be frozen. "
            "Take spacy_he_coref.MorphemeTransformer.v1 as its model."
        )

    return freeze_layers


def read_lent_layers(path: Path, layers: int) -> LentLayers:
    """Read the lower layers of a saved ``transformer``.

    path (Path): The directory of the component.
    layers (int): How many.
    RETURNS (LentLayers): The files and weights.
    RAISES (ValueError): If the component is not there, or has no encoder of ours.
    """
    try:
        shims = srsly.msgpack_loads((path / "model").read_bytes())["shims"]
        data = srsly.msgpack_loads(shims[0][0])
    except (OSError, KeyError, IndexError, TypeError, ValueError) as error:
        raise ValueError(
            f"{path} has no encoder over morphemes ({error!r}). The segmenter reads "
            "its lower layers: keep the component in the pipeline."
        ) from None
    weights = safetensors.load(data["weights"])
    return lend_layers(EncoderFiles.from_bytes(data["files"]), weights, layers)


@dataclass
class MorphemeBatch(FullTransformerBatch):
    """One vector for each token of some Docs, in spacy-transformers' terms."""

    lengths: List[int] = field(default_factory=list)

    def split_by_doc(self) -> List[TransformerData]:
        """RETURNS (List[TransformerData]): The vectors of each Doc."""
        vectors = torch2xp(self.model_output["last_hidden_state"])
        output: List[TransformerData] = []
        start = 0
        for length in self.lengths:
            if length:
                part = vectors[start : start + length]
                output.append(token_data(part))
            else:
                output.append(TransformerData.empty())
            start += length
        return output

    def unsplit_by_doc(self, arrays: List[List[Any]]) -> "MorphemeBatch":
        """Put gradients of the Docs together.

        arrays (List[List[Any]]): For each Doc that has tokens, its gradient, of
            (1, tokens, width).
        RETURNS (MorphemeBatch): The gradient, float32 of (tokens, width).
        """
        parts = [xp2torch(tensors[0][0]) for tensors in arrays]
        return _make_batch(torch.cat(parts), self.lengths)


def _make_batch(vectors: Tensor, lengths: List[int]) -> MorphemeBatch:
    return MorphemeBatch(
        spans=[[] for _ in lengths],
        wordpieces=WordpieceBatch.empty(),
        model_output=ModelOutput(last_hidden_state=vectors),
        align=TransformerData.empty().align,
        lengths=lengths,
    )


def token_data(vectors: Any) -> TokenData:
    """Give vectors the form in which listeners find them at a Doc.

    vectors (Any): One for each token, float32 of (tokens, width).
    RETURNS (TokenData): For ``doc._.trf_data``.
    """
    length = len(vectors)
    return TokenData(
        wordpieces=WordpieceBatch.empty(),
        model_output=ModelOutput(last_hidden_state=vectors[None]),
        align=Ragged(
            cast(Any, np.arange(length)), cast(Any, np.ones(length, dtype="i"))
        ),
    )


def _initialize(model: Model, X: Any = None, Y: Any = None) -> Model:
    shim = cast(EncoderShim, model.shims[0])
    if shim.files is None:
        name = shim.settings["name"]
        files = EncoderFiles.load(name, shim.settings["layers"])
        encoder = files.make_encoder(
            name, shim.settings["dropout"], shim.settings["precision"]
        )
        shim.set_encoder(files, encoder)
        model.set_dim("nO", files.width)
    return model


def _forward(
    model: Model, docs: List[Doc], is_train: bool
) -> Tuple[FullTransformerBatch, Callable[[FullTransformerBatch], List[Doc]]]:
    shim = cast(EncoderShim, model.shims[0])
    reader = shim.reader(shim.settings["reading"], shim.settings["max_pieces"])
    limit_threads_after_fork()
    shim.network.train(is_train)
    lengths = [len(doc) for doc in docs]
    with torch.set_grad_enabled(is_train):
        vectors = _token_vectors(shim, [reader(doc) for doc in docs], lengths)
    if is_train:
        shim.begin_graph()
    else:
        release_memory(sum(lengths))

    def backprop(d_output: FullTransformerBatch) -> List[Doc]:
        gradient = d_output.model_output["last_hidden_state"]
        torch.autograd.backward(vectors, gradient.to(vectors.device))
        shim.end_graph()
        return docs

    return _make_batch(vectors.detach(), lengths), backprop


def _token_vectors(
    shim: EncoderShim, readings: Sequence[Reading], lengths: List[int]
) -> Tensor:
    """Run the encoder over windows and give each token its mean vector."""
    files, settings = shim.files, shim.settings
    assert files is not None
    size = min(settings["window"], files.longest - 2)
    # Of every wordpiece, the window that it counts in and its place there.
    rows: List[np.ndarray] = []
    place = [np.zeros(len(r.pieces), dtype=np.int64) for r in readings]
    row_of = [np.zeros(len(r.pieces), dtype=np.int64) for r in readings]
    for i, reading in enumerate(readings):
        offsets = np.concatenate([[0], np.cumsum(reading.words)])
        for window in make_windows(
            reading.words, size, settings["overlap"], reading.ends
        ):
            start, end = offsets[window.start], offsets[window.end]
            if start == end:
                continue
            core = slice(offsets[window.core_start], offsets[window.core_end])
            # One word that is longer than a window is read in part.
            kept = reading.pieces[start:end][: files.longest - 2]
            place[i][core] = np.minimum(
                np.arange(core.start, core.stop) - start + 1, len(kept)
            )
            row_of[i][core] = len(rows)
            rows.append(np.concatenate([[files.first], kept, [files.last]]))
    device = next(shim.network.parameters()).device
    total = sum(lengths)
    if not rows:
        return torch.zeros((total, files.width), device=device, requires_grad=True)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    owner = np.concatenate(
        [r.owner + starts[i] for i, r in enumerate(readings)]
    ).astype(np.int64)
    row = np.concatenate([row_of[i][r.linked] for i, r in enumerate(readings)])
    column = np.concatenate([place[i][r.linked] for i, r in enumerate(readings)])
    counts = np.bincount(owner, minlength=total)
    share = torch.from_numpy(
        (1.0 / np.maximum(counts, 1))[owner].astype(np.float32)
    ).to(device)
    output = torch.zeros((total, files.width), device=device)
    by_row = np.argsort(row, kind="stable")
    bounds = np.searchsorted(row[by_row], np.arange(len(rows) + 1))
    for group in _group_rows(
        [padded_length(len(row), files.longest) for row in rows],
        settings["batch_pieces"],
    ):
        length = padded_length(len(rows[group[0]]), files.longest)
        pieces = np.full((len(group), length), files.padding, dtype=np.int64)
        mask = np.zeros((len(group), length), dtype=np.int64)
        links = [by_row[bounds[k] : bounds[k + 1]] for k in group]
        for j, k in enumerate(group):
            pieces[j, : len(rows[k])] = rows[k]
            mask[j, : len(rows[k])] = 1
        chosen = np.concatenate(links)
        flat = np.concatenate(
            [column[link] + j * length for j, link in enumerate(links)]
        )
        hidden = shim.network(
            torch.from_numpy(pieces).to(device), torch.from_numpy(mask).to(device)
        )
        hidden = hidden.reshape(-1, files.width)[torch.from_numpy(flat).to(device)]
        index = torch.from_numpy(chosen).to(device)
        owners = torch.from_numpy(owner[chosen]).to(device)
        weighted = hidden * share[index][:, None]
        if torch.is_grad_enabled():
            output = output.index_add(0, owners, weighted)
        else:
            # In place: of a long document the copies would take most of the time.
            output.index_add_(0, owners, weighted)
    return output


def _group_rows(lengths: List[int], size: int) -> List[List[int]]:
    """Group windows of one length, the longest first."""
    groups: List[List[int]] = []
    current = 0
    for k in sorted(range(len(lengths)), key=lambda k: (-lengths[k], k)):
        if lengths[k] != current or current * (len(groups[-1]) + 1) > size:
            groups.append([])
            current = lengths[k]
        groups[-1].append(k)
    return groups
