"""Metrics files of the toy corpus, for the tests of what reads them."""

from copy import deepcopy
from pathlib import Path
from typing import Any, Dict, List, Sequence

from spacy.tokens import Doc

from spacy_he_coref.corpus.docs import load_docs
from spacy_he_coref.evaluation.run import measure
from spacy_he_coref.evaluation.schema import REGIMES
from tests.evaluation.toy import oracle_pipeline


def toy_docs(corpus: Path) -> List[Doc]:
    return load_docs(corpus.with_name("dev.spacy"))


def toy_metrics(
    corpus: Path,
    *,
    regimes: Sequence[str] = REGIMES,
    segments: bool = True,
    **settings: Any,
) -> Dict[str, Any]:
    """What ``he-coref evaluate coref`` writes for a pipeline that knows the answers."""
    dev = corpus.with_name("dev.spacy")
    nlp = oracle_pipeline(dev, segments=segments)
    nlp.add_pipe("toy_resolver", config={"corpus": str(dev)})
    metrics = measure(nlp, load_docs(dev, nlp.vocab), regimes, **settings)
    metrics["conditions"] = {"corpus": str(dev), **metrics["conditions"]}
    return metrics


def as_another(metrics: Dict[str, Any], name: str, **changes: Any) -> Dict[str, Any]:
    """The same metrics under another name and other conditions."""
    other = deepcopy(metrics)
    other["conditions"].update(model=name, **changes)
    return other


def scored_worse(metrics: Dict[str, Any], name: str) -> Dict[str, Any]:
    """The same metrics where half of what was right is wrong."""
    other = as_another(metrics, name)
    for regime in REGIMES:
        if regime in other:
            for rows in other[regime]["per_document"].values():
                rows[:] = [[a / 2, b, c / 2, d] for a, b, c, d in rows]
            other[regime]["conll_f1"] /= 2
    return other
