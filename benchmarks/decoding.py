"""What the rules of decoding give: CoNLL F1 with each of them switched off; with how
many antecedents of a mention that get fine scores; and how often a clitic and the
possessor that is said again behind it are one entity in gold.

    python benchmarks/decoding.py he_coref corpora/dev.spacy \\
        corpora/train_segments.spacy

Other corpora than the first are those of ``he-coref corpus annotate``.
"""

import argparse
import json
from collections import Counter
from pathlib import Path
from time import process_time
from typing import Any, Dict, List

import numpy as np
import spacy
from spacy.tokens import Doc

from spacy_he_coref.coref.component import find_component
from spacy_he_coref.coref.features import (
    doubled_possessors,
    mention_table,
    token_table,
)
from spacy_he_coref.corpus.docs import load_docs
from spacy_he_coref.evaluation.coref import cluster_bounds
from spacy_he_coref.evaluation.regimes import evaluate_coref

REGIMES = ("gold_mentions", "gold", "auto", "raw")
SWITCHED_OFF: Dict[str, Dict[str, Any]] = {
    "all on": {},
    "no pronoun_cut": {"pronoun_cut": None},
    "no possessors": {"possessors": False},
    "no agreement": {"agreement": False},
    "none": {"pronoun_cut": None, "possessors": False, "agreement": False},
}


def measure(nlp: Any, docs: List[Doc]) -> Dict[str, Dict[str, float]]:
    """The CoNLL F1 of each regime with each switch off."""
    component = nlp.get_pipe(find_component(nlp))
    found: Dict[str, Dict[str, float]] = {}
    for name, settings in SWITCHED_OFF.items():
        before = {key: getattr(component, key) for key in settings}
        for key, value in settings.items():
            setattr(component, key, value)
        scores, _ = evaluate_coref(nlp, docs, REGIMES)
        for key, value in before.items():
            setattr(component, key, value)
        found[name] = conll_f1(scores)
    return found


def measure_antecedents(
    nlp: Any, docs: List[Doc], numbers: List[int]
) -> Dict[str, Dict[str, float]]:
    """The CoNLL F1 of each regime, and the seconds that the component takes, by the
    number of antecedents."""
    component = nlp.get_pipe(find_component(nlp))
    settings = component.model.shims[0].settings
    before = settings["antecedents"]
    found: Dict[str, Dict[str, float]] = {}
    predict, spent = component.predict, [0.0]

    def timed(docs: Any) -> Any:
        start = process_time()
        links = predict(docs)
        spent[0] += process_time() - start
        return links

    component.predict = timed
    for number in numbers:
        settings["antecedents"], spent[0] = number, 0.0
        scores, _ = evaluate_coref(nlp, docs, REGIMES[1:])
        seconds = round(spent[0] / len(REGIMES[1:]), 1)
        found[str(number)] = {**conll_f1(scores), "seconds": seconds}
    del component.predict
    settings["antecedents"] = before
    return found


def conll_f1(scores: Dict[str, Any]) -> Dict[str, float]:
    """In percent, of each regime."""
    return {
        regime: round(100 * score.score.total.conll_f1, 2)
        for regime, score in scores.items()
    }


def count_possessors(docs: List[Doc]) -> Dict[str, int]:
    """Doubled possessors whose mentions are gold, by whether they are one entity."""
    counts: Counter[str] = Counter(same=0, other=0)
    for doc in docs:
        entities = enumerate(cluster_bounds(doc, singletons=True))
        entity = {span: number for number, spans in entities for span in spans}
        bounds = np.array(sorted(entity, key=lambda span: (span[0], -span[1])))
        tokens = token_table(doc)
        mentions = mention_table(tokens, bounds[:, 0], bounds[:, 1])
        for pair in doubled_possessors(tokens, mentions).tolist():
            one, other = (entity[tuple(bounds[i].tolist())] for i in pair)
            counts["same" if one == other else "other"] += 1
    return dict(counts)


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model")
    parser.add_argument("corpus")
    parser.add_argument("annotated", nargs="*")
    parser.add_argument("--antecedents", nargs="*", type=int, default=[10, 25, 50, 100])
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    nlp = spacy.load(given.model)
    docs = list(load_docs(given.corpus, nlp.vocab))
    figures = {
        "conll_f1": measure(nlp, docs),
        "antecedents": measure_antecedents(nlp, docs, given.antecedents),
        "doubled_possessors": {
            path: count_possessors(list(load_docs(path, nlp.vocab)))
            for path in given.annotated
        },
    }
    text = json.dumps(figures, indent=2, ensure_ascii=False)
    print(text)
    if given.json is not None:
        given.json.write_text(text + "\n", encoding="utf8")


if __name__ == "__main__":
    main()
