"""Several trained ``he_coref`` in one: their scores are averaged.

Networks that were trained from different seeds make different mistakes, and the
documents are few. The encoder, which costs most of the time, is read once for all.
"""

from typing import Any, List, Sequence, Tuple, cast

from spacy.language import Language

from ..shim import BuiltShim
from .component import HebrewCoref
from .model import get_network


def join_pipelines(pipelines: Sequence[Language]) -> Language:
    """Put the networks of several pipelines into the first one.

    pipelines (Sequence[Language]): Pipelines with a trained ``he_coref`` on the same
        encoder, of the same config.
    RETURNS (Language): The first pipeline, with all networks.
    RAISES (ValueError): If a pipeline has no ``he_coref``, or networks or encoders
        differ.
    """
    found = [_find(nlp) for nlp in pipelines]
    first, first_encoder = found[0]
    shims = [cast(BuiltShim, component.model.shims[0]) for component, _ in found]
    sizes = [{**shim.sizes, "members": 0} for shim in shims]
    if any(one != sizes[0] for one in sizes):
        raise ValueError(
            "The networks have different sizes. Join models that were trained with the "
            "same config and different seeds (--system.seed)."
        )
    if any(encoder != first_encoder for _, encoder in found):
        raise ValueError(
            "The models have different encoders. Join models that were trained on the "
            "same frozen encoder (frozen_components in their config)."
        )
    members: List[Any] = []
    for component, _ in found:
        members += list(get_network(component.model).members)
    shims[0].build(**{**sizes[0], "members": len(members)})
    joined = get_network(first.model)
    for own, member in zip(joined.members, members, strict=True):
        own.load_state_dict(member.state_dict())
    joined.eval()
    return pipelines[0]


def _find(nlp: Language) -> Tuple[HebrewCoref, bytes]:
    """The component of a pipeline, and the encoder that it reads."""
    for _, pipe in nlp.pipeline:
        if isinstance(pipe, HebrewCoref):
            get_network(pipe.model)
            listener: Any = pipe.model.get_ref("tok2vec").get_ref("listener")
            for name, other in nlp.pipeline:
                if name == listener.upstream_name or (
                    listener.upstream_name == "*" and hasattr(other, "listeners")
                ):
                    return pipe, cast(Any, other).model.to_bytes()
            return pipe, b""
    raise ValueError(
        "A pipeline has no he_coref. Give directories that 'he-coref train' wrote with "
        "configs/coref.cfg."
    )
