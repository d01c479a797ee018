"""What reads the vectors of the encoder: a listener, and a tagger on top of it.

Both have the structure of the stock ones (``spacy-transformers.TransformerListener.v1``
and ``spacy.Tagger.v2``) and load each other's weights. They differ in memory: the
stock ones copy the vectors of all tokens several times for every component, which of
a document of 100,000 words are 245 MB each.
"""

from typing import Any, Callable, List, Optional, Tuple

import spacy
from spacy.tokens import Doc
from spacy_transformers.data_classes import TransformerData
from spacy_transformers.layers import TransformerListener, trfs2arrays
from thinc.api import Model, Softmax_v2, chain, reduce_mean, with_array, zero_init
from thinc.types import Floats2d
from transformers.file_utils import ModelOutput


class TokenData(TransformerData):
    """Vectors of a Doc that has one for each token, in its order."""


@spacy.registry.architectures("spacy_he_coref.TokenListener.v1")
def build_token_listener(
    grad_factor: float = 1.0, upstream: str = "*"
) -> Model[List[Doc], List[Floats2d]]:
    """Architecture ``spacy_he_coref.TokenListener.v1``, for ``tok2vec`` of components
    after ``transformer``.

    Behind ``spacy_he_coref.MorphemeTransformer.v1`` it hands out the vectors that are
    there, without a copy; what takes them must not write into them. Those of other
    models, with several vectors for a token, it turns into their mean.

    grad_factor (float): Factor of the gradients that go back to the encoder.
    upstream (str): Name of the ``transformer`` to listen to; ``*`` for any.
    RETURNS (Model[List[Doc], List[Floats2d]]): The model; it gives for each Doc
        float32 of (tokens, width).
    """
    listener = TransformerListener(upstream_name=upstream)
    vectors: Model[List[TransformerData], List[Floats2d]] = Model(
        "token_vectors",
        _vectors,
        layers=[reduce_mean()],
        attrs={"grad_factor": grad_factor},
    )
    model: Model[List[Doc], List[Floats2d]] = chain(listener, vectors)
    model.set_ref("listener", listener)
    return model


def _vectors(
    model: Model, data: List[TransformerData], is_train: bool
) -> Tuple[List[Floats2d], Callable[[List[Floats2d]], List[TransformerData]]]:
    factor = model.attrs["grad_factor"]
    # A Doc without tokens has no output.
    written = [one for one in data if "last_hidden_state" in one.model_output]
    if not all(isinstance(one, TokenData) for one in written):
        return trfs2arrays(model.layers[0], factor)(data, is_train)
    outputs: List[Any] = [
        one.model_output["last_hidden_state"][0]
        if "last_hidden_state" in one.model_output
        else model.ops.alloc2f(0, 0)
        for one in data
    ]

    def backprop(gradients: List[Floats2d]) -> List[TransformerData]:
        return [
            TransformerData(
                wordpieces=one.wordpieces,
                # New ones: the transformer adds up those of all listeners in place.
                model_output=ModelOutput(last_hidden_state=(gradient * factor)[None]),
                align=one.align,
            )
            for one, gradient in zip(data, gradients, strict=True)
            if "last_hidden_state" in one.model_output
        ]

    return outputs, backprop


@spacy.registry.architectures("spacy_he_coref.Tagger.v1")
def build_tagger(
    tok2vec: Model[List[Doc], List[Floats2d]],
    nO: Optional[int] = None,
    normalize: bool = False,
) -> Model[List[Doc], List[Floats2d]]:
    """Architecture ``spacy_he_coref.Tagger.v1``, for ``senter``, ``morphologizer`` and
    ``trainable_lemmatizer``.

    A linear layer, with softmax in training. Out of training it scores Doc by Doc, so
    that the vectors are not copied and a result never depends on other Docs.

    tok2vec (Model[List[Doc], List[Floats2d]]): Gives the vectors of the tokens.
    nO (Optional[int]): Labels; None to learn it from the data.
    normalize (bool): Whether scores are probabilities out of training too.
    RETURNS (Model[List[Doc], List[Floats2d]]): The model; it gives for each Doc
        float32 of (tokens, labels).
    """
    width = tok2vec.get_dim("nO") if tok2vec.has_dim("nO") else None
    output = Softmax_v2(nO, width, init_W=zero_init, normalize_outputs=normalize)
    scores: Model[List[Floats2d], List[Floats2d]] = Model(
        "token_scores",
        _scores,
        init=_initialize_scores,
        layers=[output],
        dims={name: output.maybe_get_dim(name) for name in output.dim_names},
    )
    model: Model[List[Doc], List[Floats2d]] = chain(tok2vec, scores)
    model.set_ref("tok2vec", tok2vec)
    model.set_ref("softmax", output)
    model.set_ref("output_layer", output)
    return model


def _scores(
    model: Model, vectors: List[Floats2d], is_train: bool
) -> Tuple[List[Floats2d], Callable[[List[Floats2d]], List[Floats2d]]]:
    layer = model.layers[0]
    if is_train:
        together: Model[Any, Any] = with_array(layer)
        return together(vectors, is_train)
    return [
        layer.predict(some) if len(some) else layer.ops.alloc2f(0, layer.get_dim("nO"))
        for some in vectors
    ], _no_backprop


def _no_backprop(gradients: List[Floats2d]) -> List[Floats2d]:
    return []


def _initialize_scores(
    model: Model, X: Optional[List[Floats2d]] = None, Y: Optional[Any] = None
) -> None:
    layer = model.layers[0]
    together: Model[Any, Any] = with_array(layer)
    together.initialize(X=X, Y=Y)
    for name in layer.dim_names:
        if layer.maybe_get_dim(name) is not None:
            model.set_dim(name, layer.get_dim(name))
