"""A tiny tagged corpus, configs of tiny pipelines, and ways to stop a run."""

import os
import signal
from io import StringIO
from itertools import islice
from pathlib import Path
from typing import Any, Callable, Dict, Iterable, Iterator, List, Mapping

import numpy
import spacy
import srsly
import torch
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.training import Example
from thinc.api import Config

from spacy_he_coref.training import train
from spacy_he_coref.training.checkpoint import load_checkpoint

TAGGED = [
    "הילד/NOUN רץ/VERB לבית/NOUN ./PUNCT",
    "הילדה/NOUN אכלה/VERB תפוח/NOUN גדול/ADJ ./PUNCT",
    "הוא/PRON ראה/VERB אותה/PRON ברחוב/NOUN ./PUNCT",
    "היא/PRON כתבה/VERB ספר/NOUN חדש/ADJ ./PUNCT",
    "הכלב/NOUN הקטן/ADJ נבח/VERB ./PUNCT",
    "מי/PRON בא/VERB ?/PUNCT",
    "המורה/NOUN דיברה/VERB לאט/ADV ./PUNCT",
]
# What the callback of the configs does before a step, once.
PLAN: Dict[int, Callable[[], Any]] = {}
FEW: Mapping[str, Any] = {}


@spacy.registry.callbacks("test.follow_plan.v1")
def make_follower() -> Callable[[Language, Dict[str, Any]], None]:
    """The callback, for ``before_update``."""

    def follow(nlp: Language, info: Dict[str, Any]) -> None:
        PLAN.pop(info["step"], int)()

    return follow


@spacy.registry.batchers("test.random_sizes.v1")
def make_random_batcher() -> Callable[[Iterable[Example]], Iterator[List[Example]]]:
    """Batches of one to three examples, drawn while training goes on."""

    def batch(examples: Iterable[Example]) -> Iterator[List[Example]]:
        stream = iter(examples)
        # From the generator that dropout draws from too.
        while chosen := list(islice(stream, numpy.random.randint(1, 4))):
            yield chosen

    return batch


def stop() -> None:
    """Send this process a SIGTERM."""
    os.kill(os.getpid(), signal.SIGTERM)


def fail(*_: Any) -> None:
    """Break down."""
    raise RuntimeError("the roof fell in")


def kill() -> None:
    """End this process as the kernel does when memory runs out."""
    os.kill(os.getpid(), signal.SIGKILL)


def write_corpus(path: Path) -> None:
    """Write the tagged corpus as a ``.spacy`` file."""
    vocab = spacy.blank("he").vocab
    docs = []
    for line in TAGGED * 2:
        words, tags = zip(*(pair.rsplit("/", 1) for pair in line.split()), strict=True)
        docs.append(Doc(vocab, words=words, pos=tags))
    DocBin(docs=docs).to_disk(path)


TAGGER = """
[paths]
corpus = "tagged.spacy"
[nlp]
lang = "he"
pipeline = ["tok2vec", "morphologizer"]
[components]
[components.tok2vec]
factory = "tok2vec"
[components.tok2vec.model]
@architectures = "spacy.HashEmbedCNN.v2"
width = 8
depth = 1
embed_size = 50
window_size = 1
maxout_pieces = 2
subword_features = true
pretrained_vectors = null
[components.morphologizer]
factory = "morphologizer"
[components.morphologizer.model]
@architectures = "spacy.Tagger.v2"
[components.morphologizer.model.tok2vec]
@architectures = "spacy.Tok2VecListener.v1"
width = 8
[corpora]
[corpora.train]
@readers = "spacy.Corpus.v1"
path = ${paths.corpus}
[corpora.dev]
@readers = "spacy.Corpus.v1"
path = ${paths.corpus}
limit = 5
[training]
seed = 5
gpu_allocator = null
dropout = 0.3
max_steps = 10
eval_frequency = 4
before_update = {"@callbacks": "test.follow_plan.v1"}
[training.batcher]
@batchers = "spacy.batch_by_sequence.v1"
size = 4
[training.optimizer]
@optimizers = "Adam.v1"
use_averages = true
[training.optimizer.learn_rate]
@schedules = "warmup_linear.v1"
warmup_steps = 3
total_steps = 20
initial_rate = 0.01
[training.score_weights]
pos_acc = 1.0
"""


def make_config(corpus: Path, changes: Mapping[str, Any] = FEW) -> Config:
    """The config of the tagger, with other values for some dotted names."""
    config = Config().from_str(TAGGER, interpolate=False)
    for name, value in {**changes, "paths.corpus": str(corpus)}.items():
        *sections, key = name.split(".")
        part = config
        for section in sections:
            part = part[section]
        part[key] = value
    return config


def run(config: Config, output: Path, **settings: Any) -> str:
    """Train, and give what was printed, in one line."""
    out = StringIO()
    train(config, output, stdout=out, stderr=StringIO(), **settings)
    return " ".join(out.getvalue().split())


def tensors(value: Any, name: str = "") -> Dict[str, Any]:
    """The leaves of a state; tensors as their bytes."""
    if isinstance(value, dict):
        parts = list(value.items())
    elif isinstance(value, (list, tuple)):
        parts = list(enumerate(value))
    elif isinstance(value, torch.Tensor):
        return {name: (value.dtype, value.shape, value.numpy().tobytes())}
    else:
        return {name: value}
    return {k: v for key, p in parts for k, v in tensors(p, f"{name}/{key}").items()}


def everything(output: Path) -> Dict[str, Any]:
    """All that a run left behind, without what depends on the clock."""
    state = load_checkpoint(output / "checkpoint.pt")
    progress = state.pop("progress")
    progress.seconds = 0.0
    for line in progress.log:
        line["seconds"] = line["scores"]["speed"] = 0.0
    found = {"progress": progress, **tensors(state)}
    for path in sorted(output.rglob("*")):
        if path.is_file() and path.parent != output:
            found[str(path.relative_to(output))] = path.read_bytes()
    return found


def log(output: Path) -> List[Dict[str, Any]]:
    """The lines of the log."""
    return list(srsly.read_jsonl(output / "log.jsonl"))


def assert_equal(one: Dict[str, Any], other: Dict[str, Any]) -> None:
    """Compare what two runs left behind; names what differs."""
    different = [k for k in {*one, *other} if one.get(k) != other.get(k)]
    assert not different, sorted(different)
