"""Speed and memory of a pipeline, from raw text, on this machine.

    python benchmarks/speed.py he_coref corpora/dev.spacy corpora/train.spacy
    python benchmarks/speed.py he_coref corpora/dev.spacy --compare-base --json out.json

Every part runs in a process of its own, with its own peak of memory. Words are what
stands between white space. Times are of the wall clock: nothing else should run (see
``conditions.load_average``).

The figures, in JSON:

``load_seconds``: ``spacy.load``, with the imports that it causes; without
    ``import spacy``, which is ``import_seconds``. The medians of three processes.
``memory_after_load_mb``: resident memory then.
``threads``: for each number of threads
    ``first``: words per second of the first pass over the first corpus, by
        ``nlp.pipe``, every word new to the pipeline;
    ``one_document``: of the same documents one by one, warm, the median of passes;
    ``batch``: of ``nlp.pipe`` over 50 documents, warm, the median of passes;
    ``shares``: the share of each component in the time of the batch, ``tokenizer``
        among them;
    ``base``: with ``--compare-base``, words per second of ``one_document`` and
        ``batch`` with an encoder of the size of BERT-base in place of the
        pipeline's, ``transformer`` of its share then, and ``times_slower`` (batch).
``long``: for single documents of so many words, made of all texts: seconds, words
    per second (in the last number of threads), and the peak of the process's memory.
``time_per_word_ratio``: of the longest of these to that of 1,000 words.
``growth``: resident memory in MB after each hundred documents, a stream of different
    ones where the corpora have so many; under ``held_mb`` what is left of it when the
    C library has given back what is free; and ``growth_mb`` of that, from the first
    hundred to the last one.
``conditions``: pipeline, texts, machine.

The encoder of ``--compare-base`` has 12 layers of width 768 with random weights in
float32, and reads the same wordpieces in the same windows. Its output is thrown away:
what follows works on the vectors of the pipeline's own encoder.
"""

import argparse
import json
import multiprocessing
import os
import platform
import statistics
import sys
import time
from itertools import cycle, islice
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List, Tuple

# spaCy and torch are imported in the processes that measure, and there in functions:
# the peak of a process begins with what its parent had.
BATCH = 50
LOADS = 3
REFERENCE = 1_000


def read_texts(paths: List[Path]) -> List[str]:
    """The texts of corpora.

    paths (List[Path]): ``.spacy`` files.
    RETURNS (List[str]): Their texts.
    """
    import spacy
    from spacy.tokens import DocBin

    import spacy_he_coref  # noqa: F401

    vocab = spacy.blank("he").vocab
    docs = [doc for path in paths for doc in DocBin().from_disk(path).get_docs(vocab)]
    return [doc.text for doc in docs]


def count(texts: List[str]) -> int:
    """RETURNS (int): The words of texts."""
    return sum(len(text.split()) for text in texts)


def resident_mb() -> float:
    """RETURNS (float): Resident memory of this process; 0 where it is not known."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def peak_mb() -> float:
    """RETURNS (float): Highest resident memory of this process so far."""
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if sys.platform == "darwin" else 2**10)


def load(model: str, threads: int) -> Any:
    """Load a pipeline.

    model (str): A package or directory.
    threads (int): Threads of torch.
    RETURNS (Language): The pipeline, which takes texts of any length.
    """
    import spacy
    import torch

    torch.set_num_threads(threads)
    nlp = spacy.load(model)
    nlp.max_length = 10**9
    # What is set up on first use.
    nlp("שלום.")
    return nlp


def seconds(do: Callable[[], Any]) -> float:
    """RETURNS (float): How long something takes."""
    start = time.perf_counter()
    do()
    return time.perf_counter() - start


def run(nlp: Any, texts: List[str]) -> None:
    """Take texts through a pipeline, in batches of 50 documents."""
    for _ in nlp.pipe(texts, batch_size=BATCH):
        pass


def measure_load(model: str) -> Dict[str, float]:
    """Measure how long it takes to load a pipeline, in a new process.

    model (str): A package or directory.
    RETURNS (Dict[str, float]): Seconds and memory.
    """
    start = time.perf_counter()
    import spacy

    importing = time.perf_counter() - start
    start = time.perf_counter()
    nlp = spacy.load(model)
    loading = time.perf_counter() - start
    assert nlp.pipe_names
    return {"import": importing, "load": loading, "memory": resident_mb()}


def measure_speed(
    model: str, paths: List[Path], threads: int, runs: int, base: bool
) -> Dict[str, Any]:
    """Measure words per second and the shares of the components.

    model (str): A package or directory.
    paths (List[Path]): The first of these ``.spacy`` files is read.
    threads (int): Threads of torch.
    runs (int): Passes for figures of the warm pipeline.
    base (bool): Whether to compare with a larger encoder.
    RETURNS (Dict[str, Any]): See the head of this file.
    """
    nlp = load(model, threads)
    texts = read_texts(paths[:1])
    batch = list(islice(cycle(texts), BATCH))
    figures: Dict[str, Any] = {
        "first": round(count(texts) / seconds(lambda: run(nlp, texts)))
    }

    def one_by_one() -> None:
        for text in texts:
            nlp(text)

    single = statistics.median(seconds(one_by_one) for _ in range(runs))
    several = statistics.median(seconds(lambda: run(nlp, batch)) for _ in range(runs))
    figures["one_document"] = round(count(texts) / single)
    figures["batch"] = round(count(batch) / several)
    spent = stage_seconds(nlp, batch)
    figures["shares"] = _shares(spent)
    if base:
        larger = make_base(nlp)
        figures["base"] = {}
        for name, some, size, whole in (
            ("one_document", texts, 1, single),
            ("batch", batch, BATCH, several),
        ):
            small, large = compare(nlp, larger, some, size)
            slower = whole - small + large
            figures["base"][name] = round(count(some) / slower)
        figures["base"]["transformer"] = round(large / slower, 3)
        figures["base"]["times_slower"] = round(slower / several, 2)
    return figures


def _shares(spent: Dict[str, float]) -> Dict[str, float]:
    total = sum(spent.values())
    return {name: round(part / total, 3) for name, part in spent.items()}


def stage_seconds(nlp: Any, texts: List[str]) -> Dict[str, float]:
    """How long each component takes for texts, after the ones before it.

    nlp (Language): The pipeline.
    texts (List[str]): The texts, one batch.
    RETURNS (Dict[str, float]): Seconds by component, in their order.
    """
    start = time.perf_counter()
    docs = [nlp.make_doc(text) for text in texts]
    spent = {"tokenizer": time.perf_counter() - start}
    for name, pipe in nlp.pipeline:
        start = time.perf_counter()
        docs = list(_piped(pipe, docs, len(docs)))
        spent[name] = time.perf_counter() - start
    return spent


def _piped(pipe: Any, docs: List[Any], size: int) -> Iterator[Any]:
    if hasattr(pipe, "pipe"):
        return iter(pipe.pipe(docs, batch_size=size))
    return map(pipe, docs)


def make_base(nlp: Any) -> Any:
    """Make an encoder of the size of BERT-base, for a pipeline's wordpieces.

    nlp (Language): The pipeline.
    RETURNS (Module): A network in the place of the pipeline's: it gives vectors of
        the same width.
    """
    import torch
    from transformers import BertConfig, BertModel

    shim = nlp.get_pipe("transformer").model.shims[0]
    files = shim.files
    config = BertConfig(
        vocab_size=files.config["vocab_size"],
        max_position_embeddings=files.config["max_position_embeddings"],
        pad_token_id=files.padding,
    )

    class Base(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.bert = BertModel(config, add_pooling_layer=False)

        def forward(self, pieces: Any, mask: Any) -> Any:
            output = self.bert(input_ids=pieces, attention_mask=mask)
            return output.last_hidden_state[..., : files.width]

    return Base().eval()


def compare(nlp: Any, larger: Any, texts: List[str], size: int) -> Tuple[float, float]:
    """How long ``transformer`` takes with its own encoder and with another one.

    nlp (Language): The pipeline.
    larger (Module): The other encoder.
    texts (List[str]): The texts.
    size (int): How many documents are read at a time.
    RETURNS (Tuple[float, float]): Seconds.
    """
    docs = [nlp.make_doc(text) for text in texts]
    for name, pipe in nlp.pipeline:
        if name == "transformer":
            break
        docs = list(_piped(pipe, docs, len(docs)))
    shim = pipe.model.shims[0]
    own = shim._model
    spent: List[float] = []
    for network in (own, larger):
        shim._model = network
        pipe(docs[0])
        start = time.perf_counter()
        for _ in pipe.pipe(docs, batch_size=size):
            pass
        spent.append(time.perf_counter() - start)
    shim._model = own
    return spent[0], spent[1]


def measure_long(
    model: str, paths: List[Path], threads: int, runs: int, length: int
) -> Dict[str, Any]:
    """Measure a single document.

    model (str): A package or directory.
    paths (List[Path]): ``.spacy`` files; their texts make the document.
    threads (int): Threads of torch.
    runs (int): Different documents for the median; of long ones fewer are read.
    length (int): Words of the document.
    RETURNS (Dict[str, Any]): Seconds, words per second, peak of memory.
    """
    words = " ".join(read_texts(paths)).split(" ")
    nlp = load(model, threads)
    spent: List[float] = []
    for i in range(max(1, min(runs, 20_000 // length))):
        some = islice(cycle(words), i * length, (i + 1) * length)
        text = " ".join(some)
        spent.append(seconds(lambda text=text: nlp(text)))  # type: ignore[misc]
    middle = statistics.median(spent)
    return {
        "seconds": round(middle, 3),
        "words_per_second": round(length / middle),
        "peak_mb": round(peak_mb()),
    }


def measure_growth(
    model: str, paths: List[Path], threads: int, documents: int
) -> Dict[str, Any]:
    """Measure how memory grows over a stream of documents.

    model (str): A package or directory.
    paths (List[Path]): ``.spacy`` files.
    threads (int): Threads of torch.
    documents (int): How many documents.
    RETURNS (Dict[str, Any]): Resident memory in MB, by documents.
    """
    import gc

    from spacy_he_coref.shim import free_memory

    texts = read_texts(paths)
    nlp = load(model, threads)
    after: Dict[str, int] = {}
    held: Dict[str, int] = {}
    for i, _ in enumerate(nlp.pipe(islice(cycle(texts), documents)), 1):
        if i % 100 == 0:
            after[str(i)] = round(resident_mb())
            gc.collect()
            free_memory()
            held[str(i)] = round(resident_mb())
    values = list(held.values()) or [0]
    return {
        "resident_mb": after,
        "held_mb": held,
        "different_documents": min(documents, len(texts)),
        "growth_mb": values[-1] - values[0],
    }


def describe(model: str, paths: List[Path]) -> Dict[str, Any]:
    """RETURNS (Dict[str, Any]): What was measured, on what."""
    import spacy
    import torch
    import transformers

    nlp = spacy.load(model)
    texts = read_texts(paths[:1])
    return {
        "model": model,
        "components": list(nlp.pipe_names),
        "documents": len(texts),
        "words": count(texts),
        "tokens": sum(len(nlp(text)) for text in texts),
        "processors": os.cpu_count(),
        "processor": platform.processor() or platform.machine(),
        "load_average": [round(value, 1) for value in os.getloadavg()],
        "python": platform.python_version(),
        "spacy": spacy.__version__,
        "torch": torch.__version__,
        "transformers": transformers.__version__,
    }


def apart(do: Callable[..., Any], *arguments: Any, threads: int = 1) -> Any:
    """Call a function in a new process.

    do (Callable): The function.
    arguments (Any): Its arguments.
    threads (int): Threads of the libraries that count them for themselves.
    RETURNS (Any): What it returns.
    """
    os.environ["OMP_NUM_THREADS"] = str(threads)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(do, arguments)


def measure(arguments: argparse.Namespace) -> Dict[str, Any]:
    """Measure a pipeline.

    arguments (argparse.Namespace): Those of the command line.
    RETURNS (Dict[str, Any]): See the head of this file.
    """
    model, paths, runs = arguments.model, arguments.corpora, arguments.runs
    most = arguments.threads[-1]
    load_average = [round(value, 1) for value in os.getloadavg()]
    loads = [apart(measure_load, model) for _ in range(LOADS)]
    figures: Dict[str, Any] = {
        "load_seconds": round(statistics.median(x["load"] for x in loads), 2),
        "import_seconds": round(statistics.median(x["import"] for x in loads), 2),
        "memory_after_load_mb": round(statistics.median(x["memory"] for x in loads)),
        "threads": {},
        "long": {},
    }
    for threads in arguments.threads:
        figures["threads"][str(threads)] = apart(
            measure_speed,
            model,
            paths,
            threads,
            runs,
            arguments.compare_base,
            threads=threads,
        )
    for length in arguments.lengths:
        figures["long"][str(length)] = apart(
            measure_long, model, paths, most, runs, length, threads=most
        )
    speeds = {n: one["words_per_second"] for n, one in figures["long"].items()}
    if str(REFERENCE) in speeds:
        longest = speeds[str(max(arguments.lengths))]
        figures["time_per_word_ratio"] = round(speeds[str(REFERENCE)] / longest, 2)
    if arguments.documents:
        figures["growth"] = apart(
            measure_growth, model, paths, most, arguments.documents, threads=most
        )
    figures["conditions"] = apart(describe, model, paths)
    # Before the measurements, which load the machine themselves.
    figures["conditions"]["load_average"] = load_average
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", help="a pipeline package or directory")
    parser.add_argument(
        "corpora", type=Path, nargs="+", help=".spacy files; the first gives the speed"
    )
    parser.add_argument(
        "--threads", type=int, nargs="+", default=[1, 2], help="threads of torch"
    )
    parser.add_argument("--runs", type=int, default=5, help="passes when warm")
    parser.add_argument(
        "--lengths",
        type=int,
        nargs="*",
        default=[100, REFERENCE, 10_000, 100_000],
        help="words of the single documents",
    )
    parser.add_argument(
        "--documents", type=int, default=500, help="documents to watch memory with"
    )
    parser.add_argument(
        "--compare-base",
        action="store_true",
        help="compare with an encoder of the size of BERT-base",
    )
    parser.add_argument("--json", type=Path, help="write the figures to this file too")
    arguments = parser.parse_args()
    figures = measure(arguments)
    text = json.dumps(figures, indent=2, ensure_ascii=False)
    print(text)
    if arguments.json:
        arguments.json.write_text(text + "\n", encoding="utf8")


if __name__ == "__main__":
    main()
