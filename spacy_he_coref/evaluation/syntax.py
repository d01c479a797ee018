"""How well morphemes are tagged and parsed.

The rules are those of the evaluation of the CoNLL 2018 shared task (Zeman et al.
2018), over the morphemes of the treebank, unwritten ones included; predicted
segments are unfolded to them (``corpus.morphemes``). Forms are compared without
underscores, as in ``evaluation.segmentation``. All metrics are F1 in percent:

* ``words``: morphemes that are aligned with one of gold. Written words of one
  morpheme are aligned if they have the same letters; morphemes of others by the
  longest common subsequence of the forms in a stretch of text.
* ``upos``, ``feats``, ``lemmas``: aligned morphemes with the same tag, the same
  universal features, the same lemma (any where the treebank has none).
* ``uas``: aligned morphemes whose heads are aligned, or root in both.
* ``las``: of those, the ones whose relation is the same up to the colon;
  ``las_subtypes``: with what is behind it (``nmod:poss``).
* ``sents_f1``: sentences with the same first and last letter.

In the regime ``gold`` the pipeline gets the gold segments and sentences, so all
morphemes are aligned and F1 is accuracy; in ``raw`` it gets the text alone. Sentences
without a tree in the treebank count for ``words`` and ``sents_f1`` only.
"""

from collections import Counter
from itertools import accumulate
from typing import (
    Any,
    Callable,
    Dict,
    Iterable,
    List,
    NamedTuple,
    Optional,
    Sequence,
    Set,
    Tuple,
)

import spacy
from spacy.language import Language
from spacy.tokens import Doc

from ..corpus.docs import MorphemeRow, morpheme_rows
from ..corpus.morphemes import morpheme_sentences, morpheme_tree, sentence_tokens
from ..corpus.reader import copy_tokens
from ..segmenter.letters import WordAnalysis, describe_doc, doc_analyses
from .segmentation import Counts, Span, align_morphemes, overlap

METRICS = ("words", "upos", "feats", "lemmas", "uas", "las", "las_subtypes")
# The annotation of the predicted documents that each metric needs.
_NEEDS = {
    "upos": "POS",
    "feats": "MORPH",
    "lemmas": "LEMMA",
    "uas": "DEP",
    "las": "DEP",
    "las_subtypes": "DEP",
}
UNIVERSAL_FEATURES = frozenset(
    (
        "Abbr",
        "Animacy",
        "Aspect",
        "Case",
        "Definite",
        "Degree",
        "Evident",
        "Foreign",
        "Gender",
        "Mood",
        "NumType",
        "Number",
        "Person",
        "Polarity",
        "Polite",
        "Poss",
        "PronType",
        "Reflex",
        "Tense",
        "VerbForm",
        "Voice",
    )
)
# Head of a root.
ROOT = -1
_SEGMENT = frozenset(("he_segmenter", "he_retokenizer"))
_SENTENCES = frozenset(("he_paragraphs", "senter", "sentencizer"))
# What needs trees and changes none.
_AFTER = frozenset(
    (
        "he_mentions",
        "he_coref",
        "experimental_coref",
        "experimental_span_resolver",
        "experimental_span_cleaner",
    )
)


class _Side(NamedTuple):
    """A document as the evaluation sees it.

    words (List[WordAnalysis]): The written words.
    rows (Sequence[MorphemeRow]): Their morphemes.
    word_of (List[int]): The word of each morpheme.
    heads (List[Optional[int]]): The head of each morpheme, counted from 0 in the
        document; ROOT for a root, None without a tree.
    sentences (List[Span]): Character offsets of the sentences.
    sentence_of (List[int]): The sentence of each morpheme.
    """

    words: List[WordAnalysis]
    rows: Sequence[MorphemeRow]
    word_of: List[int]
    heads: List[Optional[int]]
    sentences: List[Span]
    sentence_of: List[int]


def _side(doc: Doc, rows: Sequence[MorphemeRow]) -> _Side:
    """A document with the values of its morphemes, its own or those of gold."""
    words = doc_analyses(doc)
    word_of = [i for i, word in enumerate(words) for _ in word.analysis]
    lengths = [len(sentence) for sentence in morpheme_sentences(doc)]
    if not len(word_of) == len(rows) == sum(lengths):
        raise ValueError(
            f"Document {describe_doc(doc)} has {len(word_of)} morphemes, but "
            f"{len(rows)} rows of values for them. Build the corpus again, or run "
            "he_retokenizer after he_segmenter."
        )
    sentence_of = [i for i, length in enumerate(lengths) for _ in range(length)]
    heads: List[Optional[int]] = []
    firsts = list(accumulate(lengths, initial=0))
    for row, sentence in zip(rows, sentence_of, strict=True):
        first = firsts[sentence]
        if row.head is None:
            heads.append(None)
        else:
            heads.append(first + row.head - 1 if row.head else ROOT)
    spans = sentence_spans(doc)
    return _Side(words, rows, word_of, heads, spans, sentence_of)


def sentence_spans(doc: Doc) -> List[Span]:
    """The sentences of a document, without white space at their ends.

    doc (Doc): The document.
    RETURNS (List[Span]): Character offsets of the first letter and after the last
        one of each.
    """
    return [
        (tokens[0].idx, tokens[-1].idx + len(tokens[-1]))
        for tokens in sentence_tokens(doc)
    ]


def universal_feats(feats: str) -> Set[str]:
    """The features that the shared task compares.

    feats (str): FEATS of CoNLL-U.
    RETURNS (Set[str]): Those of the universal inventory, as ``name=value``.
    """
    pairs = feats.split("|")
    return {pair for pair in pairs if pair.partition("=")[0] in UNIVERSAL_FEATURES}


class SyntaxScore:
    """What is right in tags and trees, summed over documents."""

    def __init__(self) -> None:
        self.counts: Dict[str, Counts] = {name: Counts() for name in METRICS}
        self.sentences = Counts()
        self.sentences_without_tree = 0
        # By full relation: morphemes with that relation, without regard to the
        # head and with the same head; and gold and predicted relation of the
        # aligned ones that differ.
        self.relations: Dict[str, Counts] = {}
        self.attached: Dict[str, Counts] = {}
        self.confusions: Counter[Tuple[str, str]] = Counter()
        self._annotated: Set[str] = set()

    def add(self, predicted: Doc, gold: Doc) -> None:
        """Count a document.

        predicted (Doc): What the pipeline says of it.
        gold (Doc): A Doc of the KibutzR corpus of the same text.
        RAISES (ValueError): If the texts differ, or the gold document has no rows of
            treebank morphemes.
        """
        if predicted.text != gold.text:
            raise ValueError(
                f"Document {describe_doc(gold)}: the predicted document has another "
                "text. A tokenizer or component of the pipeline has changed it."
            )
        if not len(gold):
            return
        for name in set(_NEEDS.values()):
            if predicted.has_annotation(name):
                self._annotated.add(name)
        ours = _side(predicted, morpheme_tree(predicted))
        theirs = _side(gold, morpheme_rows(gold))
        self.sentences = self.sentences.plus(
            overlap(set(ours.sentences), set(theirs.sentences))
        )
        self._add_morphemes(ours, theirs)

    def _add_morphemes(self, ours: _Side, theirs: _Side) -> None:
        pairs = align_morphemes(ours.words, theirs.words)
        without = {
            sentence
            for sentence, row in zip(theirs.sentence_of, theirs.rows, strict=True)
            if row.head is None
        }
        self.sentences_without_tree += len(without)
        spans = [theirs.sentences[i] for i in without]
        in_tree = [sentence not in without for sentence in theirs.sentence_of]
        counted = [
            not any(start <= ours.words[word].start < end for start, end in spans)
            for word in ours.word_of
        ]
        totals = (sum(counted), sum(in_tree))
        # A root of ours is right where gold has one.
        aligned = {**dict(pairs), ROOT: ROOT}
        right: Counter[str] = Counter(words=len(pairs))
        labels: Counter[str] = Counter()
        attached: Counter[str] = Counter()
        for i, j in pairs:
            if not (counted[i] and in_tree[j]):
                continue
            a, b = ours.rows[i], theirs.rows[j]
            right["upos"] += a.upos == b.upos
            right["feats"] += universal_feats(a.feats) == universal_feats(b.feats)
            right["lemmas"] += b.lemma in ("_", a.lemma)
            if a.deprel == b.deprel:
                labels[b.deprel] += 1
            else:
                self.confusions[b.deprel, a.deprel] += 1
            head = ours.heads[i]
            if head is None or aligned.get(head) != theirs.heads[j]:
                continue
            right["uas"] += 1
            right["las"] += _universal(a.deprel) == _universal(b.deprel)
            right["las_subtypes"] += a.deprel == b.deprel
            attached[b.deprel] += a.deprel == b.deprel
        for name in METRICS:
            sums = totals if name != "words" else (len(ours.rows), len(theirs.rows))
            self.counts[name] = self.counts[name].plus(Counts(right[name], *sums))
        predicted = Counter(
            row.deprel for row, is_in in zip(ours.rows, counted, strict=True) if is_in
        )
        gold = Counter(
            row.deprel for row, is_in in zip(theirs.rows, in_tree, strict=True) if is_in
        )
        for name in {*predicted, *gold}:
            sums = (predicted[name], gold[name])
            for table, found in ((self.relations, labels), (self.attached, attached)):
                counts = Counts(found[name], *sums)
                table[name] = table.get(name, Counts()).plus(counts)

    def report(self) -> Dict[str, Optional[float]]:
        """The metrics of the module's description.

        RETURNS (Dict[str, Optional[float]]): Percentages by name; None where the
            pipeline annotates no such thing.
        """
        return {
            name: percent(counts.f1)
            if name not in _NEEDS or _NEEDS[name] in self._annotated
            else None
            for name, counts in self.counts.items()
        }


def _universal(deprel: str) -> str:
    return deprel.partition(":")[0]


def percent(share: float) -> float:
    """A share in percent, with two decimals.

    share (float): From 0 to 1.
    RETURNS (float): From 0 to 100.
    """
    return round(100 * share, 2)


def gold_input(gold: Doc) -> Doc:
    """A gold document with its segments and sentences only.

    gold (Doc): The gold document.
    RETURNS (Doc): The same segments and unwritten morphemes, with the sentences of
        gold, without tags, trees, entities and mentions.
    """
    doc = copy_tokens(gold)
    for token in gold:
        doc[token.i].is_sent_start = token.is_sent_start
    return doc


def raw_input(nlp: Language, gold: Doc) -> Doc:
    """A gold document as a user would give it: its text.

    nlp (Language): The pipeline.
    gold (Doc): The gold document.
    RETURNS (Doc): The text cut by the pipeline's tokenizer, with the id of its
        source, by which the table and gold backends look it up.
    """
    doc = nlp.make_doc(gold.text)
    doc._.source = gold._.source
    return doc


def regime_pipes(nlp: Language, given: str) -> List[str]:
    """The components that run in a regime.

    nlp (Language): The pipeline.
    given (str): ``raw`` for all; ``auto`` for those that do not set sentences alone;
        ``gold`` for those that neither segment nor set sentences alone.
    RETURNS (List[str]): Their names, in order.
    """
    factories = {name: nlp.get_pipe_meta(name).factory for name in nlp.pipe_names}
    names = list(factories)
    if given == "raw":
        return names
    if given == "gold":
        # What stands before the segmenter would be lost by it, and has no use here.
        segment = [i for i, name in enumerate(names) if factories[name] in _SEGMENT]
        names = names[max(segment, default=-1) + 1 :]
    return [name for name in names if factories[name] not in _SENTENCES]


def syntax_pipes(nlp: Language, given: str) -> List[str]:
    """The components of a regime that segment, tag and parse.

    nlp (Language): The pipeline.
    given (str): ``raw`` or ``gold``, see ``regime_pipes``.
    RETURNS (List[str]): Their names, in order.
    """
    return [
        name
        for name in regime_pipes(nlp, given)
        if nlp.get_pipe_meta(name).factory not in _AFTER
    ]


def evaluate_syntax(
    nlp: Language,
    docs: Sequence[Doc],
    *,
    track: Callable[[Iterable[Doc]], Iterable[Doc]] = iter,
) -> Tuple[Dict[str, SyntaxScore], Dict[str, Any]]:
    """Tag and parse gold documents in both regimes and score the result.

    nlp (Language): The pipeline; mention detection and coreference do not run.
    docs (Sequence[Doc]): Documents of the KibutzR corpus, read with the vocabulary of
        the pipeline.
    track (Callable): Gets the predicted documents of each regime as they come, to
        show progress.
    RETURNS (Tuple[Dict[str, SyntaxScore], Dict[str, Any]]): The counts of ``gold`` and
        ``raw``, and the conditions.
    RAISES (ValueError): If no component of the pipeline tags or parses, or a document
        has no rows of treebank morphemes.
    """
    scores: Dict[str, SyntaxScore] = {}
    pipes = {given: syntax_pipes(nlp, given) for given in ("gold", "raw")}
    if not pipes["gold"]:
        raise ValueError(
            "The pipeline neither tags nor parses, so there is nothing to evaluate: "
            "it needs a morphologizer and a parser. Its components are: "
            f"{', '.join(nlp.pipe_names) or 'none'}."
        )
    for given in pipes:
        inputs = (
            gold_input(gold) if given == "gold" else raw_input(nlp, gold)
            for gold in docs
        )
        score = scores[given] = SyntaxScore()
        with nlp.select_pipes(enable=pipes[given]):
            for predicted, gold in zip(track(nlp.pipe(inputs)), docs, strict=True):
                score.add(predicted, gold)
    gold_score = scores["gold"]
    conditions = {
        "model": f"{nlp.meta['lang']}_{nlp.meta['name']}",
        "model_version": nlp.meta["version"],
        "components_gold": pipes["gold"],
        "components_raw": pipes["raw"],
        "documents": len(docs),
        "sentences": gold_score.sentences.gold,
        "sentences_without_tree": gold_score.sentences_without_tree,
        # The parser has to keep the sentences that it is given.
        "gold_sentences_changed": gold_score.sentences.gold
        - gold_score.sentences.right,
        "morphemes": gold_score.counts["words"].gold,
        "spacy_version": spacy.__version__,
    }
    return scores, conditions


def report_syntax(scores: Dict[str, SyntaxScore]) -> Dict[str, Any]:
    """The metrics of both regimes.

    scores (Dict[str, SyntaxScore]): From ``evaluate_syntax``.
    RETURNS (Dict[str, Any]): ``gold`` and ``raw`` with the metrics of each, and
        ``sents_f1`` (raw).
    """
    return {
        **{given: score.report() for given, score in scores.items()},
        "sents_f1": percent(scores["raw"].sentences.f1),
    }
