"""``he_wl_clusters``: makes the result of word-level coreference one of ours.

``experimental_coref`` and ``experimental_span_resolver`` of spacy-experimental, the
second system beside ``he_coref``, leave span groups of head words, refuse Docs that
have such groups, and may find a span twice. This component, after them, leaves
clusters as design section 1 has them, whatever ran before on the Doc.
"""

from typing import Any, Callable, Dict, Iterable, List, Optional, Tuple, cast

import spacy
from spacy.language import Language
from spacy.pipeline import Pipe
from spacy.tokens import Doc
from spacy.training import Example
from thinc.api import Model
from thinc.types import Floats2d

from ..corpus.wl import HEADS, SPANS
from ..encoder.listener import build_token_listener
from ..segmenter.letters import describe_doc
from .clusters import get_clusters, set_clusters

Vectors = Model[List[Doc], List[Floats2d]]
# Tokens of a document. Every pair of them gets a score: memory for these is 3 GB.
LONGEST = 10_000


@spacy.registry.architectures("spacy_he_coref.WlListener.v1")
def build_wl_listener(upstream: str) -> Vectors:
    """Architecture ``spacy_he_coref.WlListener.v1`` for ``tok2vec``.

    ``spacy_he_coref.TokenListener.v1``, which refuses a Doc of more than ``LONGEST``
    tokens, as the components after it would run out of memory.

    upstream (str): Name of the transformer to listen to. If it is frozen, name it in
        the reader of the corpus.
    RETURNS (Model[List[Doc], List[Floats2d]]): The model.
    """
    listener = build_token_listener(upstream=upstream)
    return Model("wl_listener", _listen, init=_initialize, layers=[listener])


def _initialize(model: Vectors, X: Any = None, Y: Any = None) -> Vectors:
    model.layers[0].initialize(X, Y)
    return model


def _listen(
    model: Vectors, docs: List[Doc], is_train: bool
) -> Tuple[List[Floats2d], Callable[[List[Floats2d]], List[Doc]]]:
    for doc in docs:
        if len(doc) > LONGEST:
            raise ValueError(
                f"Document {describe_doc(doc)} has {len(doc):,} tokens. Word-level "
                "coreference compares all pairs of them: give it parts of at most "
                f"{LONGEST:,}, or use he_coref."
            )
    return cast(Any, model.layers[0](docs, is_train))


@Language.factory(
    "he_wl_clusters",
    requires=["doc.spans"],
    assigns=["doc.spans"],
    default_config={"scorer": {"@scorers": "spacy_he_coref.coref_scorer.v1"}},
    default_score_weights={"coref_f": 1.0},
)
def make_wl_clusters(
    nlp: Language, name: str, scorer: Optional[Callable]
) -> "WlClusters":
    """Make the last component of word-level coreference.

    nlp (Language): The pipeline.
    name (str): Name of the component in it.
    scorer (Optional[Callable]): The scoring method.
    RETURNS (WlClusters): The component.
    """
    return WlClusters(name, scorer=scorer)


class WlClusters(Pipe):
    """Pipeline component that turns resolved head words into clusters."""

    def __init__(
        self, name: str = "he_wl_clusters", *, scorer: Optional[Callable] = None
    ) -> None:
        """Make the component.

        name (str): Name of the component.
        scorer (Optional[Callable]): Compares the clusters of predicted and reference.
        """
        self.name = name
        self.scorer = scorer

    def __call__(self, doc: Doc) -> Doc:
        """Write the clusters of a document.

        A mention that was found twice stays in the first of its clusters.

        doc (Doc): A document with the groups ``he_wl_heads_N`` and ``he_wl_spans_N``.
        RETURNS (Doc): The same document, with ``coref_clusters_N`` instead of these
            and of clusters that were there; other span groups stay. The clusters
            have no confidences, which the components before do not tell.
        """
        owners: Dict[Tuple[int, int], int] = {}
        number = 0
        for key in list(doc.spans):
            if key.startswith(f"{SPANS}_"):
                for span in doc.spans[key]:
                    owners.setdefault((span.start, span.end), number)
                number += 1
            if key.startswith((f"{SPANS}_", f"{HEADS}_")):
                del doc.spans[key]
        size = len(owners)
        set_clusters(
            doc,
            list(owners),
            list(owners.values()),
            antecedents=[-1] * size,
            links=[0.0] * size,
            mentions=[0.0] * size,
        )
        for group in get_clusters(doc):
            group.attrs.clear()
        return doc

    def score(self, examples: Iterable[Example], **kwargs: Any) -> Dict[str, Any]:
        """Score the clusters of examples.

        examples (Iterable[Example]): The examples.
        RETURNS (Dict[str, Any]): What the scorer says; nothing without one.
        """
        return self.scorer(examples, **kwargs) if self.scorer is not None else {}
