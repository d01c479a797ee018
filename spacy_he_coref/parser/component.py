"""The component ``he_parser``: dependency trees over segments."""

from itertools import islice
from typing import Any, Callable, Dict, Iterable, List, Optional, Tuple

import numpy as np
import torch
import torch.nn.functional as F
from spacy.attrs import DEP, HEAD
from spacy.language import Language
from spacy.pipeline.trainable_pipe import TrainablePipe
from spacy.tokens import Doc
from spacy.training import Example, validate_examples, validate_get_examples
from spacy.vocab import Vocab
from thinc.api import Config, Model, Optimizer, set_dropout_rate

from ..corpus.docs import ROOT
from ..segmenter.letters import describe_doc
from ..shim import release_memory
from .model import (
    ParserInput,
    SentenceGroup,
    get_network,
    initialize_network,
)
from .punctuation import PUNCT, attach_punctuation
from .tree import decode_heads

Tree = Tuple[np.ndarray, np.ndarray]

# Heads of the targets that are no tokens.
_ROOT, _UNKNOWN = -1, -2
# A score that no other one reaches.
_SURE = 1e4
# Joins the parts of a sentence that is longer than the parser reads at once.
_JOIN = "parataxis"
# The relation of white space.
_SPACE = "dep"

_DEFAULT_CONFIG = Config().from_str(
    """
[he_parser]
max_length = 256
punctuation_rules = true
scorer = {"@scorers":"spacy.parser_scorer.v1"}

[he_parser.model]
@architectures = "spacy_he_coref.BiaffineParser.v1"

[he_parser.model.tok2vec]
@architectures = "spacy_he_coref.TokenListener.v1"
"""
)


@Language.factory(
    "he_parser",
    assigns=["token.dep", "token.head"],
    requires=["token.is_sent_start"],
    default_config=_DEFAULT_CONFIG["he_parser"],
    default_score_weights={
        "dep_uas": 0.3,
        "dep_las": 0.7,
        "dep_las_per_type": None,
        "sents_p": None,
        "sents_r": None,
        "sents_f": None,
    },
)
def make_parser(
    nlp: Language,
    name: str,
    model: Model[ParserInput, Any],
    max_length: int,
    punctuation_rules: bool,
    scorer: Optional[Callable],
) -> "HebrewParser":
    """Make the component.

    nlp (Language): The pipeline.
    name (str): Name of the component.
    model (Model): Scores arcs and relations.
    max_length (int): Longest sentence, in tokens, that is parsed at once; of a
        longer one the parts are.
    punctuation_rules (bool): Attach punctuation by rules on the tree of the words
        (``parser.punctuation``), not by the scores.
    scorer (Optional[Callable]): Scores examples.
    RETURNS (HebrewParser): The component.
    """
    return HebrewParser(
        nlp.vocab,
        model,
        name,
        max_length=max_length,
        punctuation_rules=punctuation_rules,
        scorer=scorer,
    )


class HebrewParser(TrainablePipe):
    """Sets ``token.head`` and ``token.dep`` in the scheme of the Hebrew treebank.

    The best tree with one root is found for every sentence of the Doc; sentence
    boundaries are taken as they are (from a ``senter`` or from the user). White space
    is no word: it hangs on the token before it, and its tag becomes SPACE.
    """

    def __init__(
        self,
        vocab: Vocab,
        model: Model[ParserInput, Any],
        name: str = "he_parser",
        *,
        max_length: int = 256,
        punctuation_rules: bool = True,
        scorer: Optional[Callable] = None,
    ) -> None:
        """Make the component; see ``make_parser`` for the arguments."""
        if max_length < 1:
            raise ValueError(
                f"{name}: max_length is {max_length}; set it to 1 or more."
            )
        self.vocab = vocab
        self.model = model
        self.name = name
        self.scorer = scorer
        self.max_length = max_length
        self.punctuation_rules = punctuation_rules
        self.cfg: Dict[str, Any] = {"labels": []}

    @property
    def labels(self) -> Tuple[str, ...]:
        """The relations that it knows."""
        return tuple(self.cfg["labels"])

    @property
    def label_data(self) -> List[str]:
        """The relations, for ``spacy init labels``."""
        return list(self.cfg["labels"])

    def add_label(self, label: str) -> int:
        """Add a relation before the model is initialized.

        label (str): The relation.
        RETURNS (int): 0 if it was there, 1 if not.
        """
        if label in self.cfg["labels"]:
            return 0
        self._allow_extra_label()
        self.cfg["labels"].append(label)
        self.vocab.strings.add(label)
        return 1

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Optional[Language] = None,
        labels: Optional[List[str]] = None,
    ) -> None:
        """Make the model for the relations of the training data.

        get_examples (Callable[[], Iterable[Example]]): Gives training examples.
        nlp (Optional[Language]): The pipeline.
        labels (Optional[List[str]]): The relations; found in the examples if None.
        """
        validate_get_examples(get_examples, "HebrewParser.initialize")
        if labels is None:
            found = {token.dep_ for eg in get_examples() for token in eg.reference} - {
                ""
            }
            labels = sorted(found | {_JOIN, _SPACE, ROOT})
        for label in labels:
            self.add_label(label)
        docs = [eg.predicted for eg in islice(get_examples(), 3)]
        initialize_network(self.model, docs, len(self.labels))

    def predict(self, docs: Iterable[Doc]) -> List[Tree]:
        """Find the trees.

        docs (Iterable[Doc]): The documents, with sentence boundaries.
        RETURNS (List[Tuple[np.ndarray, np.ndarray]]): For each, the head of every
            token as its distance, and the number of its relation; int64 of
            (tokens,).
        RAISES (ValueError): If a document has no sentence boundaries.
        """
        docs = list(docs)
        network = get_network(self.model)
        parts = [self._parts(doc) for doc in docs]
        groups = (
            self.model.predict(ParserInput(docs, parts)) if any(map(len, docs)) else []
        )
        total = sum(map(len, docs))
        heads = np.zeros(total, dtype=np.int64)
        labels = np.zeros(total, dtype=np.int64)
        root = self.cfg["labels"].index(ROOT)
        spaces = np.array([token.is_space for doc in docs for token in doc], dtype=bool)
        with torch.inference_mode():
            for group in groups:
                arcs = group.heads.cpu().numpy()
                if spaces.any():
                    arcs = _without_spaces(arcs, group, spaces)
                chosen = decode_heads(arcs, group.lengths)
                inside = group.tokens >= 0
                sentence, place = np.nonzero(inside)
                head = chosen[inside]
                scores = network.score_labels(
                    group.label_dependents[sentence, place],
                    group.label_heads[sentence, head],
                )
                scores[torch.from_numpy(head > 0).to(scores.device), root] = -torch.inf
                tokens = group.tokens[inside]
                heads[tokens] = np.where(head > 0, head - 1 - place, 0)
                labels[tokens] = np.where(
                    head > 0, scores.argmax(-1).cpu().numpy(), root
                )
        labels[spaces & (labels != root)] = self.cfg["labels"].index(_SPACE)
        output: List[Tree] = []
        start = 0
        for doc, bounds in zip(docs, parts, strict=True):
            end = start + len(doc)
            tree = heads[start:end], labels[start:end]
            if self.punctuation_rules:
                self._move_punctuation(doc, bounds, tree)
            self._join(doc, bounds, tree)
            output.append(tree)
            start = end
        release_memory(total)
        return output

    def _parts(self, doc: Doc) -> List[Tuple[int, int]]:
        """Sentences, and parts of those that are too long."""
        if not len(doc):
            return []
        if len(doc) > 1 and not doc.has_annotation("SENT_START"):
            raise ValueError(
                f"{describe_doc(doc)} has no sentence boundaries, which {self.name} "
                "needs. Put a 'senter' (or 'sentencizer') before it in the pipeline."
            )
        parts: List[Tuple[int, int]] = []
        for sentence in doc.sents:
            count = -(-len(sentence) // self.max_length)
            cuts = np.linspace(sentence.start, sentence.end, count + 1).astype(int)
            parts += zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True)
        return parts

    def _move_punctuation(
        self, doc: Doc, parts: List[Tuple[int, int]], tree: Tree
    ) -> None:
        if PUNCT not in self.cfg["labels"]:
            return
        distances, labels = tree
        punct = self.cfg["labels"].index(PUNCT)
        for start, end in parts:
            if (labels[start:end] == punct).any():
                place = np.arange(end - start)
                heads = (distances[start:end] + place).tolist()
                names = [self.cfg["labels"][label] for label in labels[start:end]]
                attach_punctuation([t.text for t in doc[start:end]], heads, names)
                distances[start:end] = np.array(heads) - place

    def _join(self, doc: Doc, parts: List[Tuple[int, int]], tree: Tree) -> None:
        """Hang the later parts of a long sentence on its first one."""
        if len(doc) <= self.max_length:
            return
        heads, labels = tree
        root = self.cfg["labels"].index(ROOT)
        starts = {sentence.start for sentence in doc.sents}
        top = 0
        for start, end in parts:
            here = start + int(np.nonzero(labels[start:end] == root)[0][0])
            if start in starts:
                top = here
            else:
                heads[here] = top - here
                labels[here] = self.cfg["labels"].index(_JOIN)

    def set_annotations(self, docs: Iterable[Doc], scores: List[Tree]) -> None:
        """Write the trees.

        docs (Iterable[Doc]): The documents.
        scores (List[Tuple[np.ndarray, np.ndarray]]): What ``predict`` gave.
        """
        ids = np.array(
            [self.vocab.strings.add(label) for label in self.labels], dtype=np.uint64
        )
        for doc, (heads, labels) in zip(docs, scores, strict=True):
            if len(doc):
                doc.from_array(
                    [HEAD, DEP],
                    np.stack([heads.view(np.uint64), ids[labels]], axis=1),
                )
            for token in doc:
                if token.is_space:
                    token.pos_ = "SPACE"
                    token.set_morph("")  # type: ignore[attr-defined]

    def update(
        self,
        examples: Iterable[Example],
        *,
        drop: float = 0.0,
        sgd: Optional[Optimizer] = None,
        losses: Optional[Dict[str, float]] = None,
    ) -> Dict[str, float]:
        """Learn from examples, on their gold sentences.

        examples (Iterable[Example]): The examples.
        drop (float): Dropout rate of the layers below; the network has its own.
        sgd (Optional[Optimizer]): The optimizer.
        losses (Optional[Dict[str, float]]): Gets the loss under the name.
        RETURNS (Dict[str, float]): The losses.
        """
        losses = {} if losses is None else losses
        losses.setdefault(self.name, 0.0)
        validate_examples(examples, "HebrewParser.update")
        examples = list(examples)
        if not any(len(eg.predicted) for eg in examples):
            return losses
        set_dropout_rate(self.model, drop)
        docs = [eg.predicted for eg in examples]
        parts, heads, labels = self._targets(examples)
        groups, backprop = self.model.begin_update(ParserInput(docs, parts))
        loss = self._loss(groups, heads, labels)
        backprop(loss)
        if sgd is not None:
            self.finish_update(sgd)
        losses[self.name] += float(loss.detach())
        return losses

    def get_loss(self, examples: Iterable[Example], scores: Any) -> Tuple[float, Any]:
        """The loss of scores that the model gave for examples.

        examples (Iterable[Example]): The examples.
        scores (List[SentenceGroup]): Their scores, for their gold sentences.
        RETURNS (Tuple[float, Any]): The loss as a number and as a tensor.
        """
        _, heads, labels = self._targets(list(examples))
        loss = self._loss(scores, heads, labels)
        return float(loss.detach()), loss

    def _targets(
        self, examples: List[Example]
    ) -> Tuple[List[List[Tuple[int, int]]], np.ndarray, np.ndarray]:
        """Gold sentences, heads as tokens, and relations."""
        numbers = {label: i for i, label in enumerate(self.labels)}
        parts: List[List[Tuple[int, int]]] = []
        heads: List[int] = []
        labels: List[int] = []
        offset = 0
        longest = self.max_length
        for eg in examples:
            starts = [
                i
                for i, start in enumerate(eg.get_aligned_sent_starts())
                if i == 0 or start == 1
            ]
            ends = [*starts[1:], len(eg.predicted)]
            parts.append(
                [(a, min(b, a + longest)) for a, b in zip(starts, ends, strict=True)]
                if len(eg.predicted)
                else []
            )
            found, relations = eg.get_aligned_parse(projectivize=False)
            for i, (head, relation) in enumerate(zip(found, relations, strict=True)):
                label = numbers.get(relation or "", -1)
                if head is None or label < 0:
                    heads.append(_UNKNOWN)
                elif head == i:
                    heads.append(_ROOT)
                else:
                    heads.append(int(head) + offset)
                labels.append(label)
            offset += len(eg.predicted)
        return parts, np.array(heads), np.array(labels)

    def _loss(
        self, groups: List[SentenceGroup], heads: np.ndarray, labels: np.ndarray
    ) -> torch.Tensor:
        network = get_network(self.model)
        # Keeps its place in the graph where nothing is known.
        loss = network.root.sum() * 0.0
        for group in groups:
            inside = group.tokens >= 0
            sentence, place = np.nonzero(inside)
            tokens = group.tokens[inside]
            first = group.tokens[sentence, 0]
            head = np.where(
                heads[tokens] < 0, heads[tokens] + 1, heads[tokens] - first + 1
            )
            # Unknown heads, and heads in another sentence, teach nothing.
            known = (head >= 0) & (head <= group.lengths[sentence])
            sentence, place, head = sentence[known], place[known], head[known]
            if not len(head):
                continue
            length = group.heads.shape[1]
            outside = np.arange(length)[None] >= group.lengths[:, None]
            scores = group.heads[sentence, place]
            blocked = np.concatenate(
                [np.zeros((len(head), 1), dtype=bool), outside[sentence]], axis=1
            )
            blocked[np.arange(len(head)), place + 1] = True
            scores = scores.masked_fill(
                torch.from_numpy(blocked).to(scores.device), -1e9
            )
            target = torch.from_numpy(head).to(scores.device)
            loss = loss + F.cross_entropy(scores, target, reduction="sum")
            relation = torch.from_numpy(labels[tokens[known]]).to(scores.device)
            loss = loss + F.cross_entropy(
                network.score_labels(
                    group.label_dependents[sentence, place],
                    group.label_heads[sentence, head],
                ),
                relation,
                reduction="sum",
            )
        return loss


def _without_spaces(
    arcs: np.ndarray, group: SentenceGroup, spaces: np.ndarray
) -> np.ndarray:
    """Scores in which white space has one head, the token before, and no dependents.

    arcs (np.ndarray): Scores of heads, float32 of (sentences, length, length + 1).
    group (SentenceGroup): Where the tokens of the sentences are.
    spaces (np.ndarray): bool of (tokens,).
    RETURNS (np.ndarray): The new scores.
    """
    arcs = arcs.copy()
    blank = (group.tokens >= 0) & spaces[group.tokens]
    for sentence in np.nonzero(blank.any(1))[0]:
        words = np.nonzero(~blank[sentence, : group.lengths[sentence]])[0]
        if not len(words):
            continue
        for place in np.nonzero(blank[sentence])[0]:
            before = words[words < place]
            arcs[sentence, :, place + 1] = -_SURE
            arcs[sentence, place] = -_SURE
            head = before[-1] if len(before) else words[0]
            arcs[sentence, place, head + 1] = _SURE
    return arcs
