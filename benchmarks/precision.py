"""What whole numbers in the linear layers of encoders cost and save: a pipeline with
floats and with whole numbers (``precision`` of transformer and he_segmenter).

    python benchmarks/precision.py he_coref corpora/dev.spacy

White-space words a second from raw text to clusters, with one thread, the best of some
runs; morpheme F1 from raw text; UPOS and LAS on gold segments; CoNLL F1 of each regime.
"""

import argparse
import json
from pathlib import Path
from time import perf_counter
from typing import Any, Dict, List

import spacy
import torch
from spacy.tokens import Doc

from spacy_he_coref.corpus.docs import load_docs
from spacy_he_coref.encoder.quantized import PRECISIONS, has_integer_products
from spacy_he_coref.evaluation.regimes import evaluate_coref
from spacy_he_coref.evaluation.segmentation import evaluate_segmentation
from spacy_he_coref.evaluation.syntax import evaluate_syntax


def load(model: str, precision: str) -> Any:
    """A pipeline with all encoders in one precision."""
    return spacy.load(
        model,
        config={
            "components.transformer.model.precision": precision,
            "components.he_segmenter.backend.precision": precision,
        },
    )


def words_per_second(nlp: Any, texts: List[str], runs: int) -> int:
    """The best of some runs over texts, after a short one."""
    list(nlp.pipe(texts[:3]))
    best = float("inf")
    for _ in range(runs):
        start = perf_counter()
        for _ in nlp.pipe(texts):
            pass
        best = min(best, perf_counter() - start)
    return round(sum(len(text.split()) for text in texts) / best)


def measure(model: str, precision: str, path: Path, runs: int) -> Dict[str, Any]:
    """All figures in one precision."""
    nlp = load(model, precision)
    docs: List[Doc] = load_docs(path, nlp.vocab)
    speed = words_per_second(nlp, [doc.text for doc in docs], runs)
    segmentation, _ = evaluate_segmentation(nlp, docs)
    syntax, _ = evaluate_syntax(nlp, docs)
    coref, _ = evaluate_coref(nlp, docs)
    gold = syntax["gold"].report()
    return {
        "words_per_second": speed,
        "morpheme_f1": segmentation["morpheme_f1"],
        "upos": gold["upos"],
        "las": gold["las"],
        "conll_f1": {
            regime: round(100 * score.score.total.conll_f1, 2)
            for regime, score in coref.items()
        },
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("model", help="model package or directory")
    parser.add_argument("corpus", type=Path, help=".spacy file with gold clusters")
    parser.add_argument("--runs", type=int, default=2, help="runs of the speed test")
    parser.add_argument("--json", type=Path, help="write the figures here too")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    figures: Dict[str, Any] = {"integer_products": has_integer_products()}
    for precision in PRECISIONS:
        figures[precision] = measure(
            arguments.model, precision, arguments.corpus, arguments.runs
        )
        print(precision, json.dumps(figures[precision]), flush=True)
    if arguments.json:
        arguments.json.parent.mkdir(parents=True, exist_ok=True)
        arguments.json.write_text(json.dumps(figures, indent=2) + "\n", "utf8")


if __name__ == "__main__":
    main()
