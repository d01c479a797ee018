"""Words per second of a pipeline, from raw text, on this machine.

    python benchmarks/speed.py he_coref corpora/dev.spacy
    python benchmarks/speed.py he_coref corpora/dev.spacy --threads 2 --json speed.json

``first`` is the first pass over the texts, with every word new to the pipeline (one
short text has gone before, for what is set up on first use); ``warm`` the median of
further ones. ``long`` are single documents made of the texts,
of 1,000 to 100,000 words, whose time per word should stay the same. Times are of the
wall clock: nothing else should run.
"""

import argparse
import json
import platform
import resource
import statistics
import time
from pathlib import Path
from typing import Any, Dict, List

import spacy
import torch
from spacy.tokens import DocBin

from spacy_he_coref.tokens import word_bounds

LENGTHS = (1_000, 10_000, 100_000)


def seconds(nlp: spacy.language.Language, texts: List[str]) -> float:
    """How long a pipeline takes for texts, in batches.

    nlp (Language): The pipeline.
    texts (List[str]): The texts.
    RETURNS (float): Seconds.
    """
    start = time.perf_counter()
    for _ in nlp.pipe(texts):
        pass
    return time.perf_counter() - start


def measure(model: str, corpus: Path, runs: int) -> Dict[str, Any]:
    """Measure a pipeline.

    model (str): A package or directory.
    corpus (Path): A ``.spacy`` file.
    runs (int): Passes for the warm figure.
    RETURNS (Dict[str, Any]): The figures, in words per second where not said
        otherwise.
    """
    start = time.perf_counter()
    nlp = spacy.load(model)
    loading = time.perf_counter() - start
    docs = list(DocBin().from_disk(corpus).get_docs(nlp.vocab))
    texts = [doc.text for doc in docs]
    words = sum(
        not doc[first].is_space for doc in docs for first, _ in word_bounds(doc)
    )
    nlp("שלום.")
    first = words / seconds(nlp, texts)
    warm = [words / seconds(nlp, texts) for _ in range(runs)]
    single = words / _one_by_one(nlp, texts)
    long: Dict[str, float] = {}
    everything = " ".join(texts).split(" ")
    for length in LENGTHS:
        copies = -(-length // len(everything))
        text = " ".join((everything * copies)[:length])
        long[str(length)] = round(length / seconds(nlp, [text]))
    return {
        "first": round(first),
        "warm": round(statistics.median(warm)),
        "one_by_one": round(single),
        "long": long,
        "load_seconds": round(loading, 2),
        "peak_memory_mb": round(
            resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        ),
        "conditions": {
            "model": model,
            "components": nlp.pipe_names,
            "words": words,
            "threads": torch.get_num_threads(),
            "processor": platform.processor() or platform.machine(),
            "spacy": spacy.__version__,
            "torch": torch.__version__,
        },
    }


def _one_by_one(nlp: spacy.language.Language, texts: List[str]) -> float:
    start = time.perf_counter()
    for text in texts:
        nlp(text)
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", help="a pipeline package or directory")
    parser.add_argument("corpus", type=Path, help="a .spacy file")
    parser.add_argument("--threads", type=int, default=1, help="threads of torch")
    parser.add_argument("--runs", type=int, default=5, help="passes when warm")
    parser.add_argument("--json", type=Path, help="write the figures to this file too")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    figures = measure(arguments.model, arguments.corpus, arguments.runs)
    text = json.dumps(figures, indent=2, ensure_ascii=False)
    print(text)
    if arguments.json:
        arguments.json.write_text(text + "\n", encoding="utf8")


if __name__ == "__main__":
    main()
