"""The thinc model of the parser around its torch network."""

from typing import (
    Any,
    Callable,
    Iterable,
    Iterator,
    List,
    NamedTuple,
    Sequence,
    Tuple,
    cast,
)

import numpy as np
import spacy
import torch
from spacy.errors import Errors
from spacy.tokens import Doc
from thinc.api import Model, torch2xp, xp2torch
from thinc.types import Floats2d
from torch import Tensor

from ..shim import BuiltShim, limit_threads_after_fork
from .network import BiaffineNetwork, group_sentences

Sentences = Sequence[Sequence[Tuple[int, int]]]


class ParserInput(NamedTuple):
    """What the parser's model takes.

    docs (List[Doc]): The documents.
    sentences (Sequence[Sequence[Tuple[int, int]]]): For each, first token and token
        after the last one of its sentences.
    """

    docs: List[Doc]
    sentences: Sentences


class SentenceGroup(NamedTuple):
    """Scores of some sentences of about equal length.

    tokens (np.ndarray): int64 of (sentences, length), the token of each place,
        counted over all documents; -1 for padding.
    lengths (np.ndarray): int64 of (sentences,).
    heads (Tensor): Scores of heads, float32 of (sentences, length, length + 1).
    label_dependents (Tensor): float32 of (sentences, length, width).
    label_heads (Tensor): float32 of (sentences, length + 1, width).
    """

    tokens: np.ndarray
    lengths: np.ndarray
    heads: Tensor
    label_dependents: Tensor
    label_heads: Tensor


@spacy.registry.architectures("spacy_he_coref.BiaffineParser.v1")
def build_biaffine_parser(
    tok2vec: Model[List[Doc], List[Floats2d]],
    arc_width: int = 256,
    label_width: int = 128,
    dropout: float = 0.3,
    batch_arcs: int = 400_000,
) -> Model[ParserInput, Any]:
    """Architecture ``spacy_he_coref.BiaffineParser.v1`` for ``he_parser``.

    tok2vec (Model[List[Doc], List[Floats2d]]): Gives the vectors of the tokens,
        mostly a listener.
    arc_width (int): Width of the vectors that arcs are scored with.
    label_width (int): Width of the vectors that relations are scored with.
    dropout (float): Dropout rate.
    batch_arcs (int): Most arcs that are scored at once, padding included.
    RETURNS (Model[ParserInput, Iterable[SentenceGroup]]): The model. It scores group
        by group, as they are asked for; in training all at once, and the caller
        computes a loss of the scores and gives it to the callback.
    """
    shim = BuiltShim(BiaffineNetwork)
    shim.settings = {
        "arc_width": arc_width,
        "label_width": label_width,
        "dropout": dropout,
        "batch_arcs": batch_arcs,
    }
    model: Model[ParserInput, Any] = Model(
        "biaffine_parser",
        _forward,
        layers=[tok2vec],
        shims=[shim],
        dims={"nO": None},
    )
    model.set_ref("tok2vec", tok2vec)
    return model


def initialize_network(model: Model, docs: List[Doc], labels: int) -> None:
    """Make the network of a parser's model.

    model (Model): The model.
    docs (List[Doc]): Some documents, to learn the width of their vectors.
    labels (int): Relations.
    """
    tok2vec = model.get_ref("tok2vec")
    tok2vec.initialize(X=docs)
    model.set_dim("nO", labels)
    shim = cast(BuiltShim, model.shims[0])
    shim.build(
        input_width=tok2vec.get_dim("nO"),
        labels=labels,
        arc_width=shim.settings["arc_width"],
        label_width=shim.settings["label_width"],
        dropout=shim.settings["dropout"],
    )


def get_network(model: Model) -> BiaffineNetwork:
    """The torch network of a parser's model.

    model (Model): The model.
    RETURNS (BiaffineNetwork): Its network.
    RAISES (ValueError): If the model is not initialized.
    """
    network = cast(BuiltShim, model.shims[0])._model
    if network is None:
        raise ValueError(Errors.E109.format(name="he_parser"))
    return cast(BiaffineNetwork, network)


def _forward(
    model: Model, inputs: ParserInput, is_train: bool
) -> Tuple[Iterable[SentenceGroup], Callable[[Tensor], Any]]:
    network = get_network(model)
    limit_threads_after_fork()
    network.train(is_train)
    outputs, backprop_vectors = model.get_ref("tok2vec")(inputs.docs, is_train)
    device = next(network.parameters()).device
    parts = [xp2torch(output).to(device) for output in outputs if len(output)]
    if len(parts) == 1 and not is_train:
        # Of a long document a copy would take much memory.
        vectors = parts[0]
    else:
        vectors = torch.cat(
            parts or [torch.zeros((0, network.root.shape[0]), device=device)]
        )
    vectors.requires_grad_(is_train)
    bounds: List[Tuple[int, int]] = []
    offset = 0
    for doc, sentences in zip(inputs.docs, inputs.sentences, strict=True):
        bounds += [(start + offset, end + offset) for start, end in sentences]
        offset += len(doc)

    def score() -> Iterator[SentenceGroup]:
        lengths = [end - start for start, end in bounds]
        batch_arcs = cast(BuiltShim, model.shims[0]).settings["batch_arcs"]
        for group in group_sentences(lengths, batch_arcs):
            size = np.array([lengths[i] for i in group])
            place = np.arange(size.max())[None]
            first = np.array([bounds[i][0] for i in group])
            tokens = np.where(place < size[:, None], first[:, None] + place, -1)
            index = torch.from_numpy(np.maximum(tokens, 0)).to(device)
            with torch.set_grad_enabled(is_train):
                scores = network(vectors[index])
            yield SentenceGroup(tokens, size, *scores)

    # All scores of a long document at once would take much memory.
    groups = list(score()) if is_train else score()

    def backprop(loss: Tensor) -> Any:
        loss.backward()
        gradient = torch2xp(
            torch.zeros_like(vectors) if vectors.grad is None else vectors.grad
        )
        gradients: List[Any] = []
        start = 0
        for output in outputs:
            gradients.append(gradient[start : start + len(output)])
            start += len(output)
        return backprop_vectors(gradients)

    return groups, backprop
