"""How well mentions are found, singletons included.

A mention is right if a gold mention has its first and last written letter (design
section 5), so nothing depends on the segments between. In the regime ``gold_trees``
the detector reads the gold document itself; in ``raw`` the pipeline gets the text of
the document alone, and the detector reads its segments, tags and trees.

For figures by kind (``mentions.kinds``) a mention that is right has the kind that gold
says, and one that is not the kind of its own document.
"""

from collections import defaultdict
from typing import (
    Any,
    Callable,
    Dict,
    Iterable,
    List,
    NamedTuple,
    Optional,
    Sequence,
    Tuple,
)

import spacy
from spacy.language import Language
from spacy.tokens import Doc

from ..mentions import KINDS, MENTIONS, Settings, find_mentions, mention_kind
from ..mentions.kinds import mention_head
from ..segmenter.letters import describe_doc
from .segmentation import Counts, Span, overlap
from .syntax import percent, raw_input, syntax_pipes


class Pattern(NamedTuple):
    """What wrong mentions are grouped by.

    pos (str), deprel (str): Tag and relation of the mention's head.
    kind (str): Kind of the mention.
    """

    pos: str
    deprel: str
    kind: str


class MentionScore:
    """Which mentions are right, summed over documents."""

    def __init__(self) -> None:
        self.total = Counts()
        self.by_kind: Dict[str, Counts] = {kind: Counts() for kind in KINDS}
        # The texts of gold mentions that were not found, and of others that were.
        self.missed: Dict[Pattern, List[str]] = defaultdict(list)
        self.extra: Dict[Pattern, List[str]] = defaultdict(list)

    def add(self, predicted: Doc, mentions: Iterable[Span], gold: Doc) -> None:
        """Count a document.

        predicted (Doc): The document that the mentions are of; may be the gold one.
        mentions (Iterable[Span]): First token of each mention and the one after the
            last.
        gold (Doc): A document of the same text with gold mentions.
        RAISES (ValueError): If the texts differ, or there are no gold mentions.
        """
        if predicted.text != gold.text:
            raise ValueError(
                f"Document {describe_doc(gold)}: the predicted document has another "
                "text. A tokenizer or component of the pipeline has changed it."
            )
        ours = _by_letters(predicted, mentions)
        theirs = _by_letters(gold, gold_mentions(gold))
        self.total = self.total.plus(overlap(set(ours), set(theirs)))
        for letters, bounds in theirs.items():
            kind = mention_kind(gold, *bounds)
            right = letters in ours
            self._count(kind, Counts(right, right, 1))
            if not right:
                self.missed[_pattern(gold, bounds, kind)].append(
                    gold[slice(*bounds)].text
                )
        for letters, bounds in ours.items():
            if letters not in theirs:
                kind = mention_kind(predicted, *bounds)
                self._count(kind, Counts(0, 1, 0))
                self.extra[_pattern(predicted, bounds, kind)].append(
                    predicted[slice(*bounds)].text
                )

    def _count(self, kind: str, counts: Counts) -> None:
        self.by_kind[kind] = self.by_kind[kind].plus(counts)

    def report(self) -> Dict[str, Any]:
        """Precision, recall and F1.

        RETURNS (Dict[str, Any]): ``p``, ``r``, ``f1`` in percent, and under
            ``by_kind`` for each kind the same and the number of mentions in gold.
        """
        by_kind = {
            kind: {**_percents(counts), "gold": counts.gold}
            for kind, counts in self.by_kind.items()
        }
        return {**_percents(self.total), "by_kind": by_kind}


def _pattern(doc: Doc, bounds: Span, kind: str) -> Pattern:
    head = mention_head(doc, *bounds)
    return Pattern(head.pos_ or "-", head.dep_ or "-", kind)


def frequent(errors: Dict[Pattern, List[str]], limit: int) -> List[Pattern]:
    """The most frequent patterns of errors.

    errors (Dict[Pattern, List[str]]): The mentions of each pattern.
    limit (int): How many patterns at most.
    RETURNS (List[Pattern]): The patterns, the most frequent one first.
    """
    return sorted(errors, key=lambda pattern: (-len(errors[pattern]), pattern))[:limit]


def _percents(counts: Counts) -> Dict[str, float]:
    return {
        "p": percent(counts.precision),
        "r": percent(counts.recall),
        "f1": percent(counts.f1),
    }


def _by_letters(doc: Doc, mentions: Iterable[Span]) -> Dict[Span, Span]:
    """Token spans by their character offsets."""
    return {
        (doc[start].idx, doc[end - 1].idx + len(doc[end - 1])): (start, end)
        for start, end in mentions
    }


def gold_mentions(doc: Doc) -> List[Span]:
    """The gold mentions of a document, singletons included.

    doc (Doc): The document.
    RETURNS (List[Span]): First token of each and the one after the last.
    RAISES (ValueError): If it has none stored.
    """
    if MENTIONS not in doc.spans:
        raise ValueError(
            f"Document {describe_doc(doc)} has no gold mentions. Use a corpus that "
            "'he-coref corpus build' made from KibutzR."
        )
    return [(span.start, span.end) for span in doc.spans[MENTIONS]]


def evaluate_mentions(
    nlp: Language,
    docs: Sequence[Doc],
    settings: Settings,
    *,
    track: Callable[[Iterable[Doc]], Iterable[Doc]] = iter,
) -> Tuple[Dict[str, MentionScore], Dict[str, Any]]:
    """Find the mentions of gold documents in both regimes and score them.

    nlp (Language): The pipeline; of it only what segments, tags and parses runs.
    docs (Sequence[Doc]): Documents with gold trees and mentions.
    settings (Settings): The settings of the detector.
    track (Callable): Gets the predicted documents as they come, to show progress.
    RETURNS (Tuple[Dict[str, MentionScore], Dict[str, Any]]): The counts of
        ``gold_trees`` and ``raw``, and the conditions.
    RAISES (ValueError): If a document has no gold mentions, there is no such setting,
        or the pipeline does not set what the detector needs; names the missing
        component.
    """
    scores = {"gold_trees": MentionScore(), "raw": MentionScore()}
    for gold in docs:
        scores["gold_trees"].add(gold, find_mentions(gold, settings), gold)
    pipes = syntax_pipes(nlp, "raw")
    inputs = (raw_input(nlp, gold) for gold in docs)
    with nlp.select_pipes(enable=pipes):
        for predicted, gold in zip(track(nlp.pipe(inputs)), docs, strict=True):
            scores["raw"].add(predicted, find_mentions(predicted, settings), gold)
    conditions = {
        "setting": settings.setting,
        "model": f"{nlp.meta['lang']}_{nlp.meta['name']}",
        "model_version": nlp.meta["version"],
        "components": pipes,
        "documents": len(docs),
        "mentions": scores["raw"].total.gold,
        "spacy_version": spacy.__version__,
    }
    return scores, conditions


def report_mentions(scores: Dict[str, MentionScore]) -> Dict[str, Any]:
    """Precision, recall and F1 of both regimes.

    scores (Dict[str, MentionScore]): From ``evaluate_mentions``.
    RETURNS (Dict[str, Any]): The report of each score.
    """
    return {given: score.report() for given, score in scores.items()}


def detector_settings(nlp: Language, setting: Optional[str] = None) -> Settings:
    """The settings of a pipeline's detector.

    nlp (Language): The pipeline.
    setting (Optional[str]): Name of another setting.
    RETURNS (Settings): Those of its ``he_mentions`` with the other setting if one is
        given; the default ones if it has none.
    """
    settings = Settings()
    for name in nlp.pipe_names:
        if nlp.get_pipe_meta(name).factory == "he_mentions":
            component: Any = nlp.get_pipe(name)
            settings = component.settings
    return settings if setting is None else settings._replace(setting=setting)
