"""The trained backend: learns from gold Docs, works offline on a CPU.

It comes in two sizes. Without an encoder it reads words through hash embeddings
and convolutions; with one it also reads them through the lower layers of a
pretrained transformer. Both choose among the candidates of ``candidates`` with
the network of ``network``.
"""

import json
import random
from collections import Counter
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import (
    Any,
    Callable,
    Dict,
    Iterable,
    Iterator,
    List,
    NamedTuple,
    Optional,
    Sequence,
    Tuple,
    Union,
    cast,
)

import numpy as np
import spacy
import torch
from safetensors import torch as safetensors
from spacy import util
from spacy.errors import Errors
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from thinc.api import Model, Optimizer

from ...encoder.model import EncoderShim, read_lent_layers
from ...encoder.pretrained import EncoderFiles, LentLayers
from ...encoder.quantized import FLOAT32, check_precision
from ...shim import NetworkShim, limit_threads_after_fork, release_memory
from ...tokens import (
    COVERT_ARTICLE,
    HOST,
    Analysis,
    trivial_analysis,
    word_bounds,
)
from ...windows import Window, make_windows, padded_length
from ..candidates import NO_PREFIX, NO_SUFFIX, Candidates, Inventory, Label, make_label
from ..contract import Request
from ..letters import doc_analyses, read_analysis
from ..lexicon import WordTable, read_lexicon
from ..model import get_network, make_model
from ..network import Batch, SegmenterNetwork, segment_argmax, segment_logsumexp
from ..normalize import has_hebrew, needs_normalizing

# Wordpieces of one word that are read: its first and last ones.
_PIECES = 8
# What the names of weights begin with that another component keeps.
_SHARED = "encoder.transformer."
_TABLES = ("lexicon", "hosts", "words", "bases")
# Features of a host that are learned beside its segmentation: they tell nouns with
# an article from nouns in construct state, which have none.
_FEATURES = ("Definite", "Gender", "Number", "Person", "VerbForm")
_NO_TAGS = ("", "", "")
# After these prefixes an article would be written, after ב and ל it would not.
_SWAPPED = {(): False, ("ה",): True, ("מ",): False, ("מ", "ה"): True}


class Target(NamedTuple):
    """What a training word teaches.

    text (str): The written word.
    choices (List[int]): Candidates that agree with its annotation; none if its
        analysis cannot be expressed.
    edit (int): Edit of the host, or -1.
    foreign (bool): Whether it is from a corpus that knows borders only.
    tags (Tuple[str, ...]): Parts of speech of its segments, features of its host,
        relation of its host; empty where unknown.
    swap (Optional[Tuple[str, bool]]): For a noun whose article would be written
        (הבית, בית, מהבית): its letters without prefix, and whether it has one.
    """

    text: str
    choices: List[int]
    edit: int
    foreign: bool
    tags: Tuple[str, ...] = _NO_TAGS
    swap: Optional[Tuple[str, bool]] = None


@spacy.registry.misc("spacy_he_coref.TrainedSegmenter.v1")
class TrainedSegmenter:
    """Backend that scores the possible analyses of words in context; for ``backend``
    of ``he_segmenter``."""

    def __init__(
        self,
        width: int = 128,
        depth: int = 4,
        hash_rows: int = 20000,
        dropout: float = 0.3,
        window: int = 4096,
        overlap: int = 8,
        batch_size: int = 4096,
        encoder_layers: int = 0,
        encoder_rate: float = 0.1,
        encoder_of: Optional[str] = None,
        precision: str = FLOAT32,
        foreign_weight: float = 0.5,
        tag_weight: float = 0.3,
        article_swaps: float = 0.1,
        min_count: int = 1,
    ) -> None:
        """Make an untrained backend; ``initialize`` or ``from_disk`` fill it.

        width (int): Width of the vector of a word.
        depth (int): Convolutions over neighbouring words.
        hash_rows (int): Rows of each table of hash embeddings.
        dropout (float): Dropout rate in training.
        window (int): Length of the windows in which documents are read: words, or
            with an encoder wordpieces.
        overlap (int): Context on either side of a window, in the same unit. At least
            ``depth`` makes results independent of windows without an encoder.
        batch_size (int): Windows are read together up to this length.
        encoder_layers (int): Layers of the encoder that are used; 0 for none.
        encoder_rate (float): Learning rate of the encoder, as a share of the other.
        encoder_of (Optional[str]): Name of a ``transformer`` in the same pipeline,
            trained before, whose lower layers are the encoder. They are not trained
            again, and are stored once.
        precision (str): What the linear layers of the encoder multiply in use:
            ``float32``, or ``int8`` for whole numbers, in about half the time.
        foreign_weight (float): Weight in the loss of words of which only the
            borders are annotated.
        tag_weight (float): Weight in the loss of the tags of words, which are
            learned beside their segments.
        article_swaps (float): Share of the nouns with a written article, or with
            none, that training turns into ב or ל with a covert article, or with none.
        min_count (int): How often a pattern must occur in training to be learned.
        """
        check_precision(precision)
        self.settings: Dict[str, Any] = {
            "width": width,
            "depth": depth,
            "hash_rows": hash_rows,
            "dropout": dropout,
            "encoder_layers": encoder_layers,
            "encoder_of": encoder_of,
        }
        self.window = window
        self.overlap = overlap
        self.batch_size = batch_size
        self.encoder_rate = encoder_rate
        self.precision = precision
        self.foreign_weight = foreign_weight
        self.tag_weight = tag_weight
        self.article_swaps = article_swaps
        self.min_count = min_count
        self._noise: Optional[Tuple[float, torch.Generator]] = None
        self._model: Optional[Model] = None
        self._inventory: Optional[Inventory] = None
        self._encoder: Optional[EncoderFiles] = None
        self._tags: List[Dict[str, int]] = []
        self._pieces: Dict[str, List[int]] = {}

    # Use

    def segment(self, requests: Iterable[Request]) -> Iterator[List[Analysis]]:
        """Segment documents, in order, as a stream.

        requests (Iterable[Request]): The documents.
        YIELDS (List[Analysis]): One analysis per word of each document.
        RAISES (ValueError): If the backend is not trained.
        """
        if self._model is None:
            raise ValueError(Errors.E109.format(name="he_segmenter"))
        limit_threads_after_fork()
        for batch in _group(requests, self.batch_size):
            texts = [[word.text for word in request.words] for request in batch]
            yield from self._segment(texts)

    @contextmanager
    def noise(self, temperature: float, seed: int = 0) -> Iterator[None]:
        """Draw analyses by their probabilities for a while, instead of the likeliest.

        On documents that it was trained on a segmenter is hardly ever wrong. What comes
        after it learns there what to expect on others, if it is wrong as often as there
        and where it doubts.

        temperature (float): Scores are divided by it: 1 for the probabilities as they
            are, more for more errors.
        seed (int): Of the random numbers; what is drawn depends on the batches too.
        YIELDS (None): Once, while it is so.
        RAISES (ValueError): If the temperature is not above 0.
        """
        if not temperature > 0:
            raise ValueError(f"The noise is {temperature}. Give a number above 0.")
        self._noise = temperature, torch.Generator().manual_seed(seed)
        try:
            yield
        finally:
            self._noise = None

    def _segment(self, documents: List[List[str]]) -> List[List[Analysis]]:
        inventory = self.inventory
        words = [inventory.candidates(texts) for texts in documents]
        choices: List[List[Tuple[int, Optional[str]]]] = [
            [(0, None)] * len(texts) for texts in documents
        ]
        windows: List[Tuple[int, int, Window]] = []
        for i, candidates in enumerate(words):
            lengths = self._lengths(candidates)
            for window in make_windows(lengths, self.window, self.overlap):
                length = int(sum(lengths[window.start : window.end]))
                if self._encoder is not None:
                    # With the first and the last piece.
                    length = padded_length(length + 2, self._encoder.longest)
                windows.append((length, i, window))
        # Windows share a batch: for an encoder those of one length, with padding. The
        # longest come first, so that their memory is enough for all.
        windows.sort(key=lambda item: -item[0])
        group: List[Tuple[int, int, Window]] = []
        for item in [*windows, None]:
            if item is None or (
                group
                and (
                    item[0] * (len(group) + 1) > max(self.batch_size, item[0])
                    or (self._encoder is not None and item[0] != group[0][0])
                )
            ):
                if group:
                    self._choose(words, group, choices)
                group = []
            if item is not None:
                group.append(item)
        release_memory(sum(map(len, documents)))
        return [
            [
                self._analysis(text, candidates, *choice)
                for text, candidates, choice in zip(*columns, strict=True)
            ]
            for columns in zip(documents, words, choices, strict=True)
        ]

    def _choose(
        self,
        words: List[List[Candidates]],
        windows: List[Tuple[int, int, Window]],
        choices: List[List[Tuple[int, Optional[str]]]],
    ) -> None:
        """Choose the analyses of the cores of some windows, into ``choices``."""
        parts = [words[i][window.start : window.end] for _, i, window in windows]
        batch = self._make_batch(parts)
        vectors, scores = self.model.predict(batch)
        if self._noise is not None:
            scores = _shake(scores, *self._noise)
        flat = list(chain.from_iterable(parts))
        starts = np.cumsum([0] + [len(c.hosts) for c in flat])
        best = segment_argmax(scores, batch.word, len(flat)) - starts[:-1]
        whole = self.inventory.suffix_index[NO_SUFFIX]
        with_suffix = [i for i, c in enumerate(flat) if c.suffixes[best[i]] != whole]
        bases = self._choose_bases(vectors, flat, best, with_suffix)
        row = 0
        for _, document, window in windows:
            for place in range(window.start, window.end):
                if window.core_start <= place < window.core_end:
                    choices[document][place] = (int(best[row]), bases.get(row))
                row += 1

    def _choose_bases(
        self,
        vectors: torch.Tensor,
        words: List[Candidates],
        best: np.ndarray,
        rows: List[int],
    ) -> Dict[int, str]:
        if not rows:
            return {}
        options = [self.inventory.bases(words[i].hosts[best[i]]) for i in rows]
        suffixes = [int(words[i].suffixes[best[i]]) for i in rows]
        scores, group = self._score_edits(vectors[rows], suffixes, options, None)
        chosen = segment_argmax(scores, group, len(rows))
        forms = [form for _, forms, _ in options for form in forms]
        return {row: forms[place] for row, place in zip(rows, chosen, strict=True)}

    def _score_edits(
        self,
        vectors: torch.Tensor,
        suffixes: List[int],
        options: List[Tuple[np.ndarray, List[str], np.ndarray]],
        gold: Optional[List[int]],
    ) -> Tuple[torch.Tensor, torch.Tensor]:
        """Scores of the edits that fit each host, and the host of each score."""
        counts = [len(edits) for edits, _, _ in options]
        group = torch.from_numpy(np.repeat(np.arange(len(counts)), counts))
        edits = np.concatenate([edits for edits, _, _ in options])
        facts = np.concatenate([facts for _, _, facts in options])
        own = None if gold is None else edits == np.repeat(gold, counts)
        network = get_network(self.model)
        with torch.set_grad_enabled(gold is not None):
            scores = network.score_edits(
                vectors,
                torch.tensor(suffixes),
                group,
                torch.from_numpy(edits),
                torch.from_numpy(
                    np.concatenate([facts[:, :2], _count_facts(facts[:, 2:], own)], 1)
                ),
            )
        return scores, group

    def _analysis(
        self, text: str, candidates: Candidates, choice: int, base: Optional[str]
    ) -> Analysis:
        inventory = self.inventory
        if (
            inventory.prefixes[candidates.prefixes[choice]] == NO_PREFIX
            and inventory.suffixes[candidates.suffixes[choice]] == NO_SUFFIX
        ):
            whole = trivial_analysis(text)
            if needs_normalizing(text) and has_hebrew(candidates.word):
                # A word with niqqud stands for the morpheme without it.
                return (whole[0]._replace(form=candidates.word),)
            return whole
        return inventory.analysis(candidates, choice, base)

    # What the network reads

    def _lengths(self, words: Sequence[Candidates]) -> List[int]:
        if self._encoder is None:
            return [1] * len(words)
        return [len(self._wordpieces(c.word)) for c in words]

    def _wordpieces(self, word: str) -> List[int]:
        pieces = self._pieces.get(word)
        if pieces is None:
            assert self._encoder is not None
            pieces = self._encoder.pieces(word, _PIECES)
            if len(self._pieces) >= 100_000:
                self._pieces.clear()
            self._pieces[word] = pieces
        return pieces

    def _make_batch(
        self,
        windows: List[List[Candidates]],
        own: Optional[np.ndarray] = None,
        foreign: Optional[List[bool]] = None,
    ) -> Batch:
        """Put windows together.

        own (Optional[np.ndarray]): In training, bool of (candidates, 2): whether the
            word at hand is itself one of those that were counted for the facts.
        foreign (Optional[List[bool]]): Whether each word is of a second corpus.
        """
        words = list(chain.from_iterable(windows))
        gap = self.settings["depth"]
        place, row = [], 0
        for window in windows:
            place.append(np.arange(row, row + len(window)))
            row += len(window) + gap
        facts = np.concatenate([c.facts for c in words])
        pieces = mask = ends = None
        if self._encoder is not None:
            pieces, mask, ends = self._read_pieces(windows)
        return Batch(
            grams=torch.from_numpy(np.stack([c.grams for c in words])),
            place=torch.from_numpy(np.concatenate(place)),
            rows=row,
            word=torch.from_numpy(
                np.repeat(np.arange(len(words)), [len(c.hosts) for c in words])
            ),
            prefixes=torch.from_numpy(np.concatenate([c.prefixes for c in words])),
            suffixes=torch.from_numpy(np.concatenate([c.suffixes for c in words])),
            hosts=torch.from_numpy(np.concatenate([c.host_hashes for c in words])),
            facts=torch.from_numpy(
                np.concatenate([_count_facts(facts[:, :2], own), facts[:, 2:]], axis=1)
            ),
            foreign=torch.tensor(foreign or [False] * len(words)),
            pieces=pieces,
            mask=mask,
            ends=ends,
        )

    def _read_pieces(
        self, windows: List[List[Candidates]]
    ) -> Tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        encoder = self._encoder
        assert encoder is not None
        rows = []
        for window in windows:
            row = [encoder.first]
            for candidates in window:
                row += self._wordpieces(candidates.word)
            rows.append([*row[: encoder.longest - 1], encoder.last])
        length = padded_length(max(map(len, rows)), encoder.longest)
        pieces = torch.full((len(rows), length), encoder.padding)
        mask = torch.zeros((len(rows), length), dtype=torch.long)
        ends: List[Tuple[int, int]] = []
        for i, (row, window) in enumerate(zip(rows, windows, strict=True)):
            pieces[i, : len(row)] = torch.tensor(row)
            mask[i, : len(row)] = 1
            place = 1
            for candidates in window:
                first = place
                place += len(self._wordpieces(candidates.word))
                last = min(place - 1, length - 1)
                ends.append((i * length + min(first, length - 1), i * length + last))
        return pieces, mask, torch.tensor(ends)

    # Training

    @property
    def model(self) -> Model:
        """The thinc model; before ``initialize`` one without a network."""
        return (
            self._model if self._model is not None else Model("segmenter", _untrained)
        )

    @property
    def inventory(self) -> Inventory:
        """Patterns, edits and word tables."""
        if self._inventory is None:
            raise ValueError(Errors.E109.format(name="he_segmenter"))
        return self._inventory

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Optional[Language] = None,
        lexicon: Optional[Union[str, Path]] = None,
        encoder: Optional[Union[str, Path]] = None,
    ) -> None:
        """Learn the inventory of the training data and make the network.

        get_examples (Callable): Gives the training examples.
        nlp (Optional[Language]): The pipeline, for a component to share layers with.
        lexicon (Optional[Union[str, Path]]): A word list, as ``he-coref corpus
            lexicon`` makes it; None for none.
        encoder (Optional[Union[str, Path]]): Directory or hub name of a Hugging Face
            encoder with a fast tokenizer; needed where ``encoder_layers`` is not 0.
        RAISES (ValueError): If there is no gold segment in the examples, or an
            encoder is asked for and not given.
        """
        references = [example.reference for example in get_examples()]
        words = [
            (word.text, word.analysis)
            for doc in references
            if not _is_foreign(doc)
            for word in doc_analyses(doc)
        ]
        if not any(len(analysis) > 1 for _, analysis in words):
            raise ValueError(
                "The training data has no segmented words. he_segmenter learns from "
                "Docs as 'he-coref corpus build' makes them."
            )
        self._tags = _learn_tags(doc for doc in references if not _is_foreign(doc))
        self._inventory = Inventory.learn(
            words,
            read_lexicon(lexicon) if lexicon else {},
            self.settings["hash_rows"],
            self.min_count,
        )
        lent: Optional[LentLayers] = None
        if self.settings.get("encoder_of"):
            lent = self._borrow(nlp)
            self._encoder = lent.files
        elif self.settings["encoder_layers"]:
            if encoder is None:
                raise ValueError(
                    "encoder_layers is not 0: name an encoder in "
                    '[initialize.components.he_segmenter], as encoder = "path".'
                )
            self._encoder = EncoderFiles.load(encoder, self.settings["encoder_layers"])
        self._build(pretrained=None if lent else encoder)
        if lent is not None:
            self._load_weights(get_network(self.model).state_dict(), lent)

    def _borrow(self, nlp: Optional[Language]) -> LentLayers:
        name = self.settings.get("encoder_of")
        pipe: Any = nlp.get_pipe(name) if nlp and name in nlp.component_names else None
        shim = next(iter(getattr(getattr(pipe, "model", None), "shims", ())), None)
        if not isinstance(shim, EncoderShim):
            raise ValueError(
                f"he_segmenter is to share the encoder of {name!r}, but the pipeline "
                "has no such component with an encoder over morphemes. Source a "
                "trained one in the config."
            )
        lent = shim.lend(self.settings["encoder_layers"])
        self.settings["encoder_digest"] = lent.digest
        return lent

    def _build(self, pretrained: Optional[Union[str, Path]]) -> None:
        inventory, files = self.inventory, self._encoder
        network = SegmenterNetwork(
            len(inventory.prefixes),
            len(inventory.suffixes),
            len(inventory.edits),
            inventory.hash_rows,
            self.settings["width"],
            self.settings["depth"],
            self.settings["dropout"],
            [len(labels) for labels in self._tags],
            None
            if files is None
            else files.make_encoder(pretrained, precision=self.precision),
            0 if files is None else files.width,
        )
        if network.encoder is not None and self.settings.get("encoder_of"):
            for name, weight in network.named_parameters():
                weight.requires_grad_(not name.startswith(_SHARED))
        self._model = make_model(network.eval(), self.encoder_rate)
        self._pieces = {}

    def update(
        self,
        examples: Iterable[Example],
        *,
        drop: float = 0.0,
        sgd: Optional[Optimizer] = None,
        losses: Optional[Dict[str, float]] = None,
        name: str = "he_segmenter",
    ) -> Dict[str, float]:
        """Learn from a batch of examples.

        examples (Iterable[Example]): The batch; the references hold gold segments.
        drop (float): Not used: the network's dropout is a setting of the backend.
        sgd (Optional[Optimizer]): The optimizer; None to keep the gradients.
        losses (Optional[Dict[str, float]]): Gets the loss, a mean over words.
        name (str): Under which name.
        RETURNS (Dict[str, float]): The losses.
        """
        losses = {} if losses is None else losses
        losses.setdefault(name, 0.0)
        windows: List[List[Candidates]] = []
        targets: List[Target] = []
        for example in examples:
            found = [
                self._swap_article(target)
                for target in self.make_targets(example.reference)
            ]
            candidates = self.inventory.candidates([target.text for target in found])
            for window in make_windows(self._lengths(candidates), self.window, 0):
                windows.append(candidates[window.start : window.end])
            targets += found
        if not any(target.choices for target in targets):
            return losses
        loss = self._loss(windows, targets)
        loss.backward()
        losses[name] += float(loss.detach())
        if sgd is not None:
            self.finish_update(sgd)
        return losses

    def _loss(
        self, windows: List[List[Candidates]], targets: List[Target]
    ) -> torch.Tensor:
        words = list(chain.from_iterable(windows))
        count = len(words)
        starts = np.cumsum([0] + [len(c.hosts) for c in words])
        batch = self._make_batch(
            windows, _own_counts(words, targets), [t.foreign for t in targets]
        )
        (vectors, scores), _ = self.model.begin_update(batch)
        gold = torch.tensor(
            [starts[i] + c for i, t in enumerate(targets) for c in t.choices]
        )
        word = torch.tensor([i for i, t in enumerate(targets) for _ in t.choices])
        every = segment_logsumexp(scores, batch.word, count)
        right = segment_logsumexp(scores[gold], word, count)
        weight = torch.tensor(
            [
                (self.foreign_weight if t.foreign else 1.0) if t.choices else 0.0
                for t in targets
            ]
        )
        loss = ((every - right) * weight)[weight > 0].sum()
        for i, labels in enumerate(self._tags):
            tags = torch.tensor([labels.get(t.tags[i], -100) for t in targets])
            logits = get_network(self.model).taggers[i](vectors)
            loss = loss + self.tag_weight * torch.nn.functional.cross_entropy(
                logits, tags, ignore_index=-100, reduction="sum"
            )
        rows = [i for i, t in enumerate(targets) if t.edit >= 0]
        if rows:
            chosen = [targets[i].choices[0] for i in rows]
            hosts = [words[i].hosts[c] for i, c in zip(rows, chosen, strict=True)]
            options = [self.inventory.bases(host) for host in hosts]
            edits = [targets[i].edit for i in rows]
            suffixes = [
                int(words[i].suffixes[c]) for i, c in zip(rows, chosen, strict=True)
            ]
            points, group = self._score_edits(vectors[rows], suffixes, options, edits)
            places, first = [], 0
            for edit, (fitting, _, _) in zip(edits, options, strict=True):
                places.append(first + int(np.flatnonzero(fitting == edit)[0]))
                first += len(fitting)
            loss = (
                loss
                + (segment_logsumexp(points, group, len(rows)) - points[places]).sum()
            )
        return loss / count

    def make_targets(self, doc: Doc) -> List[Target]:
        """What the words of a gold document teach.

        doc (Doc): The document. If ``doc._.source["segmentation"]`` is ``borders``
            or ``borders+articles``, base forms and ``_של_`` are not annotated in it,
            and in the first case covert articles neither: every candidate that
            agrees with what is known counts as right.
        RETURNS (List[Target]): One target per written word.
        """
        scheme = (doc._.source or {}).get("segmentation")
        output: List[Target] = []
        for first, last in word_bounds(doc):
            if doc[first].is_space:
                continue
            text = doc[first:last].text
            analysis = read_analysis(doc, first, last)
            if scheme is not None:
                (candidates,) = self.inventory.candidates([text])
                choices = self._agreeing(candidates, analysis, scheme)
                output.append(Target(text, choices, -1, True))
                continue
            label = make_label(text, analysis)
            tags = _word_tags(doc, first, last)
            if label is None:
                output.append(Target(text, [], -1, False, tags))
                continue
            edit = -1
            choices = self._matching(text, label)
            if choices and label.edit is not None:
                edit = self.inventory.edit_index.get(label.edit, -1)
            output.append(
                Target(text, choices, edit, False, tags, _swap(text, label, tags))
            )
        return output

    def _matching(self, text: str, label: Label) -> List[int]:
        (candidates,) = self.inventory.candidates([text])
        prefix = self.inventory.prefix_index.get(label.prefix, -1)
        suffix = self.inventory.suffix_index.get(label.suffix, -1)
        found = (candidates.prefixes == prefix) & (candidates.suffixes == suffix)
        return np.flatnonzero(found).tolist()

    def _swap_article(self, target: Target) -> Target:
        """Now and then, hide whether a noun has an article.

        Whether a noun is definite is seen from the words around it. Where the article
        is written, that is learned for free: הבית and בית become לבית, with and
        without the covert article.
        """
        if target.swap is None or random.random() >= self.article_swaps:
            return target
        rest, article = target.swap
        preposition = random.choice("בל")
        text = preposition + rest
        prefix = (preposition, COVERT_ARTICLE) if article else (preposition,)
        choices = self._matching(text, Label(prefix, NO_SUFFIX, None, rest))
        return Target(text, choices, -1, False) if choices else target

    def _agreeing(
        self, candidates: Candidates, analysis: Analysis, scheme: str
    ) -> List[int]:
        """The candidates with the annotated borders (and article)."""
        text = candidates.word
        borders = {m.start for m in analysis if m.start}
        article = any(m.form == COVERT_ARTICLE for m in analysis)
        at = text.find("כש")
        if 0 <= at < 2 and candidates.offsets[at + 2] in borders:
            # Other schemes split כש, which is one prefix in HTB.
            borders.discard(candidates.offsets[at + 1])
        output: List[int] = []
        for i, (p, s) in enumerate(
            zip(candidates.prefixes, candidates.suffixes, strict=True)
        ):
            prefix = self.inventory.prefixes[p]
            letters = self.inventory.suffixes[s].letters
            own, place = set(), 0
            for form in prefix:
                if form != COVERT_ARTICLE:
                    place += len(form)
                    own.add(candidates.offsets[place])
            if letters:
                own.add(candidates.offsets[len(text) - len(letters)])
            if own != borders:
                continue
            if scheme == "borders" or (COVERT_ARTICLE in prefix) == article:
                output.append(i)
        return output

    def finish_update(self, sgd: Optimizer) -> None:
        """Take a training step.

        sgd (Optimizer): The optimizer.
        """
        self.model.finish_update(sgd)

    # Serialization

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """Serialize the backend.

        exclude (Iterable[str]): What to leave out.
        RETURNS (bytes): The data, with layers that it shares.
        """
        return util.to_bytes(self._parts(shared=False), exclude)

    def from_bytes(
        self, data: bytes, *, exclude: Iterable[str] = ()
    ) -> "TrainedSegmenter":
        """Load the backend.

        data (bytes): What ``to_bytes`` gave.
        exclude (Iterable[str]): What to leave out.
        RETURNS (TrainedSegmenter): The backend itself.
        """
        parts: Dict[str, bytes] = {}
        names = ("settings", "encoder", "weights", *_TABLES)
        util.from_bytes(data, {n: _keeper(parts, n) for n in names}, exclude)
        return self._load(parts)

    def to_disk(self, path: Union[str, Path], *, exclude: Iterable[str] = ()) -> None:
        """Write the backend, without layers that it shares.

        path (Union[str, Path]): A directory; it is made if it is not there.
        exclude (Iterable[str]): What to leave out.
        """
        directory = Path(path)
        directory.mkdir(parents=True, exist_ok=True)
        for name, make in self._parts(shared=True).items():
            if name not in exclude:
                (directory / name).write_bytes(make())

    def from_disk(
        self, path: Union[str, Path], *, exclude: Iterable[str] = ()
    ) -> "TrainedSegmenter":
        """Read the backend; layers that it shares are read from the other component.

        path (Union[str, Path]): The directory, in that of the pipeline.
        exclude (Iterable[str]): What to leave out.
        RETURNS (TrainedSegmenter): The backend itself.
        RAISES (ValueError): If the other component is not the one of its training.
        """
        parts = {
            file.name: file.read_bytes()
            for file in Path(path).iterdir()
            if file.name not in exclude
        }
        settings = json.loads(parts.get("settings", b"{}")).get("network", {})
        if not settings.get("encoder_of"):
            return self._load(parts)
        other = Path(path).parent.parent / settings["encoder_of"]
        lent = read_lent_layers(other, settings["encoder_layers"])
        if lent.digest != settings["encoder_digest"]:
            raise ValueError(
                f"he_segmenter was trained on the lower layers of another encoder than "
                f"that of {other}. Use the two of one training together."
            )
        return self._load(parts, lent)

    def _parts(self, shared: bool) -> Dict[str, Callable[[], bytes]]:
        if self._model is None:
            return {}
        inventory, shim, encoder = self.inventory, self._shim, self._encoder
        settings = {
            "network": self.settings,
            "tags": self._tags,
            "inventory": inventory.to_dict(),
        }
        shared = shared and bool(self.settings.get("encoder_of"))
        leave_out = _SHARED if shared else None
        parts: Dict[str, Callable[[], bytes]] = {
            "settings": lambda: json.dumps(settings, ensure_ascii=False).encode("utf8"),
            "weights": lambda: shim.weights_to_bytes(leave_out),
        }
        for name in _TABLES:
            parts[name] = inventory.tables[name].to_bytes
        if encoder is not None and not shared:
            parts["encoder"] = encoder.to_bytes
        return parts

    def _load(
        self, parts: Dict[str, bytes], lent: Optional[LentLayers] = None
    ) -> "TrainedSegmenter":
        if "settings" not in parts:
            return self
        data = json.loads(parts["settings"])
        self.settings = data["network"]
        self._tags = data["tags"]
        tables = {name: WordTable.from_bytes(parts[name]) for name in _TABLES}
        self._inventory = Inventory.from_dict(data["inventory"], tables)
        self._encoder = lent.files if lent else None
        if "encoder" in parts:
            self._encoder = EncoderFiles.from_bytes(parts["encoder"])
        self._build(pretrained=None)
        self._load_weights(safetensors.load(parts["weights"]), lent)
        return self

    def _load_weights(
        self, weights: Dict[str, torch.Tensor], lent: Optional[LentLayers]
    ) -> None:
        if lent is not None:
            weights.update({_SHARED + name: w for name, w in lent.weights.items()})
        self._shim.load_weights(weights)

    @property
    def _shim(self) -> NetworkShim:
        return cast(NetworkShim, self.model.shims[0])

    def __getstate__(self) -> Dict[str, Any]:
        # Torch modules and tokenizers travel to other processes as plain bytes.
        state = self.__dict__.copy()
        state.update(_model=None, _inventory=None, _encoder=None, _pieces={})
        return {"state": state, "data": self.to_bytes()}

    def __setstate__(self, state: Dict[str, Any]) -> None:
        self.__dict__.update(state["state"])
        self.from_bytes(state["data"])


def _untrained(model: Model, batch: Batch, is_train: bool) -> Any:
    raise ValueError(Errors.E109.format(name="he_segmenter"))


def _shake(
    scores: torch.Tensor, temperature: float, generator: torch.Generator
) -> torch.Tensor:
    """Scores whose highest one is drawn by softmax (the Gumbel-max trick)."""
    drawn = torch.rand(scores.shape, generator=generator).clamp(1e-9, 1 - 1e-7)
    return scores - temperature * torch.log(-torch.log(drawn))


def _keeper(parts: Dict[str, bytes], name: str) -> Callable[[bytes], None]:
    def keep(data: bytes) -> None:
        parts[name] = data

    return keep


def _is_foreign(doc: Doc) -> bool:
    return (doc._.source or {}).get("segmentation") is not None


def _word_tags(doc: Doc, first: int, last: int) -> Tuple[str, ...]:
    """Parts of speech of the segments of a word, features and relation of its host."""
    tokens = doc[first:last]
    host = next((t for t in tokens if t._.segment_kind == HOST), tokens[0])
    if not host.pos_:
        return _NO_TAGS
    features = host.morph.to_dict()
    kept = [f"{name}={features[name]}" for name in _FEATURES if name in features]
    return "+".join(t.pos_ for t in tokens), "|".join(kept) or "_", host.dep_


def _learn_tags(docs: Iterable[Doc], min_count: int = 3) -> List[Dict[str, int]]:
    counts: List[Counter[str]] = [Counter() for _ in _NO_TAGS]
    for doc in docs:
        for first, last in word_bounds(doc):
            for count, tag in zip(counts, _word_tags(doc, first, last), strict=True):
                count[tag] += bool(tag)
    labels = [sorted(t for t, n in count.items() if n >= min_count) for count in counts]
    return [{tag: i for i, tag in enumerate(tags)} for tags in labels if tags]


def _swap(text: str, label: Label, tags: Tuple[str, ...]) -> Optional[Tuple[str, bool]]:
    article = _SWAPPED.get(label.prefix)
    if article is None or label.suffix != NO_SUFFIX or not "א" <= text[0] <= "ת":
        return None
    if not tags[0].endswith("NOUN"):
        return None
    return text[sum(map(len, label.prefix)) :], article


def _group(requests: Iterable[Request], size: int) -> Iterator[List[Request]]:
    group: List[Request] = []
    words = 0
    for request in requests:
        group.append(request)
        words += len(request.words)
        if words >= size:
            yield group
            group, words = [], 0
    if group:
        yield group


def _count_facts(tenths: np.ndarray, own: Optional[np.ndarray]) -> np.ndarray:
    """Turn counts into features: their logarithm, and whether there is any.

    tenths (np.ndarray): Tenths of counts, float32 of (n, k).
    own (Optional[np.ndarray]): In training, whether the word at hand was itself
        counted: a word must not be known from the very place it is learned at.
    RETURNS (np.ndarray): float32 of (n, 2 * k).
    """
    counts = np.rint(tenths * 10)
    if own is not None:
        counts = np.maximum(counts - own.reshape(counts.shape), 0)
    return np.concatenate([np.log1p(counts) / 3, counts > 0], axis=1).astype(np.float32)


def _own_counts(words: List[Candidates], targets: List[Target]) -> np.ndarray:
    rows = []
    for candidates, target in zip(words, targets, strict=True):
        own = np.zeros((len(candidates.hosts), 2), dtype=bool)
        if not target.foreign:
            if target.choices:
                host = candidates.hosts[target.choices[0]]
                own[:, 0] = [h == host for h in candidates.hosts]
            own[:, 1] = [h == candidates.word for h in candidates.hosts]
        rows.append(own)
    return np.concatenate(rows)
