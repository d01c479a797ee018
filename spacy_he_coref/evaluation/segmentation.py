"""How well words are split into morphemes.

Everything compares the forms of morphemes without underscores, so ``של הם`` and
``_של_ _הם`` are the same. Words are paired by their character offsets: a word
that the tokenizer cut in another way than gold is wrong, and so are its morphemes.
The metrics, in percent in the command's output:

* ``morpheme_f1``: F1 of morphemes inside aligned tokens. Of each pair of words, as
  many morphemes are right as the longest common subsequence of both lists of
  forms has; they are summed over all words.
* ``levi_tsarfaty_f1``: F1 of the multiset intersection of morphemes, sentence by
  sentence, without regard to words and order (More et al. 2019, Levi and Tsarfaty
  2024). Predicted morphemes belong to the gold sentence of their letters.
* ``conll18_words_f1``: "Words" of the CoNLL 2018 shared task. A word of one
  morpheme, spelled as it is, is right if there is one of the same letters; inside
  a stretch of text where either side has a word of several morphemes (a
  multiword token), as many are right as the longest common subsequence has.
* ``words_right``, ``multi_words_right``: share of gold words, and of those with
  several morphemes, whose morphemes are all right.
* ``boundaries_f1``: F1 of borders between segments inside words.
* ``tokens_f1``: F1 of written words.
* ``prefix_f1``, ``clitic_f1``: F1 of prefixes and clitics (letters and form);
  ``covert_article_f1``: F1 of unwritten articles (before which letters).
* ``base_forms_right``: of the hosts that a suffix changed (אדמה in אדמתם), the
  share whose base form was found.
"""

from bisect import bisect_right
from collections import Counter
from itertools import accumulate
from time import perf_counter
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
    Set,
    Tuple,
    Union,
)

import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab

from ..corpus.letters import bare, plain_letters
from ..segmenter.letters import WordAnalysis, describe_doc, doc_analyses
from ..tokens import (
    CLITIC,
    COVERT_ARTICLE,
    HOST,
    PREFIX,
    is_segmented,
    word_bounds,
)

Span = Tuple[int, int]

# What the scorer of ``he_segmenter`` gives ``nlp.evaluate``; the first one counts.
SCORE_WEIGHTS: Dict[str, Optional[float]] = {
    "segmentation_f": 1.0,
    "segmentation_p": None,
    "segmentation_r": None,
    "segmentation_words_acc": None,
    "segmentation_multi_words_acc": None,
    "segmentation_boundaries_f": None,
}


class Counts(NamedTuple):
    """What a precision and a recall are made of.

    right (int), predicted (int), gold (int): How many are in both, in the
        prediction, in gold.
    """

    right: int = 0
    predicted: int = 0
    gold: int = 0

    def plus(self, other: "Counts") -> "Counts":
        """The sum of both.

        other (Counts): The others.
        RETURNS (Counts): The sum.
        """
        return Counts(*(a + b for a, b in zip(self, other, strict=True)))

    @property
    def precision(self) -> float:
        """Share of the prediction that is right; 1 if there is nothing at all."""
        return _ratio(self.right, self.predicted, self.gold)

    @property
    def recall(self) -> float:
        """Share of gold that was found; 1 if there is nothing at all."""
        return _ratio(self.right, self.gold, self.predicted)

    @property
    def f1(self) -> float:
        """Harmonic mean of both; 1 if there is nothing at all."""
        total = self.predicted + self.gold
        return 2 * self.right / total if total else 1.0


def _ratio(right: int, total: int, other: int) -> float:
    return right / total if total else float(not other)


class SegmentationCounts(NamedTuple):
    """The counts behind all metrics, of one document or of several.

    For the shares (``words``, ``multi_words``, ``base_forms``) only ``right`` and
    ``gold`` count.
    """

    morphemes: Counts = Counts()
    levi_tsarfaty: Counts = Counts()
    conll18_words: Counts = Counts()
    words: Counts = Counts()
    multi_words: Counts = Counts()
    boundaries: Counts = Counts()
    tokens: Counts = Counts()
    prefixes: Counts = Counts()
    clitics: Counts = Counts()
    covert_articles: Counts = Counts()
    base_forms: Counts = Counts()

    def plus(self, other: "SegmentationCounts") -> "SegmentationCounts":
        """The sum of both.

        other (SegmentationCounts): The others.
        RETURNS (SegmentationCounts): The sum.
        """
        return SegmentationCounts(
            *(a.plus(b) for a, b in zip(self, other, strict=True))
        )


def common_length(first: Sequence[str], second: Sequence[str]) -> int:
    """Length of the longest common subsequence.

    first (Sequence[str]), second (Sequence[str]): The sequences.
    RETURNS (int): The length.
    """
    if first == second:
        return len(first)
    previous = [0] * (len(second) + 1)
    for a in first:
        current = [0]
        for j, b in enumerate(second):
            current.append(
                previous[j] + 1 if a == b else max(previous[j + 1], current[j])
            )
        previous = current
    return previous[-1]


def overlap(predicted: Set[Any], gold: Set[Any]) -> Counts:
    """Counts of two sets.

    predicted (Set), gold (Set): The sets.
    RETURNS (Counts): Sizes of their intersection and of each.
    """
    return Counts(len(predicted & gold), len(predicted), len(gold))


def word_forms(word: WordAnalysis) -> List[str]:
    """The morphemes of a word as they are compared: without underscores.

    word (WordAnalysis): The word.
    RETURNS (List[str]): Their forms.
    """
    return [plain_letters(bare(morpheme.form)) for morpheme in word.analysis]


def is_multiword(word: WordAnalysis) -> bool:
    """Whether CoNLL-U would write a word as a range: it has several morphemes, or
    one that is spelled otherwise.

    word (WordAnalysis): The word.
    RETURNS (bool): True for a multiword token.
    """
    return word_forms(word) != [plain_letters(word.text)]


def boundaries(words: Iterable[WordAnalysis]) -> Set[int]:
    """The borders between segments inside words.

    words (Iterable[WordAnalysis]): The words.
    RETURNS (Set[int]): Character offsets.
    """
    return {
        word.start + morpheme.start
        for word in words
        for morpheme in word.analysis
        if morpheme.start
    }


def written_morphemes(
    words: Iterable[WordAnalysis], kind: str
) -> Set[Tuple[int, int, str]]:
    """The written morphemes of a kind.

    words (Iterable[WordAnalysis]): The words.
    kind (str): ``prefix``, ``host`` or ``clitic``.
    RETURNS (Set[Tuple[int, int, str]]): Character offsets and form of each.
    """
    return {
        (word.start + m.start, word.start + m.end, plain_letters(bare(m.form)))
        for word in words
        for m in word.analysis
        if m.kind == kind and m.start is not None and m.end is not None
    }


def covert_articles(words: Iterable[WordAnalysis]) -> Set[int]:
    """Where the unwritten articles are.

    words (Iterable[WordAnalysis]): The words.
    RETURNS (Set[int]): Character offset of the letters before which each stands.
    """
    found: Set[int] = set()
    for word in words:
        waiting = False
        for morpheme in word.analysis:
            if morpheme.start is None:
                waiting = waiting or morpheme.form == COVERT_ARTICLE
            elif waiting:
                found.add(word.start + morpheme.start)
                waiting = False
    return found


def changed_hosts(word: WordAnalysis) -> List[str]:
    """The base forms of hosts that a suffix changed.

    word (WordAnalysis): The word.
    RETURNS (List[str]): Forms of hosts whose letters differ from them, in a word
        with a clitic.
    """
    if not any(morpheme.kind == CLITIC for morpheme in word.analysis):
        return []
    return [
        plain_letters(bare(m.form))
        for m in word.analysis
        if m.kind == HOST
        and m.written
        and plain_letters(bare(m.form)) != plain_letters(word.text[m.start : m.end])
    ]


def conll18_words(
    predicted: Sequence[WordAnalysis], gold: Sequence[WordAnalysis]
) -> Counts:
    """The Words metric of the CoNLL 2018 shared task.

    predicted (Sequence[WordAnalysis]), gold (Sequence[WordAnalysis]): The words of
        the same text, in order.
    RETURNS (Counts): Over morphemes, which the shared task calls words.
    """
    return Counts(
        len(align_morphemes(predicted, gold)),
        sum(len(word.analysis) for word in predicted),
        sum(len(word.analysis) for word in gold),
    )


def align_morphemes(
    predicted: Sequence[WordAnalysis], gold: Sequence[WordAnalysis]
) -> List[Tuple[int, int]]:
    """Pair the morphemes of one text as the CoNLL 2018 shared task pairs words.

    predicted (Sequence[WordAnalysis]), gold (Sequence[WordAnalysis]): The words, in
        order.
    RETURNS (List[Tuple[int, int]]): A predicted and a gold morpheme each, counted in
        the document.
    """
    ours = list(accumulate((len(w.analysis) for w in predicted), initial=0))
    theirs = list(accumulate((len(w.analysis) for w in gold), initial=0))
    pairs: List[Tuple[int, int]] = []
    i = j = 0
    while i < len(predicted) and j < len(gold):
        a, b = predicted[i], gold[j]
        ranges = [word for word in (a, b) if is_multiword(word)]
        if not ranges:
            if (a.start, a.end) == (b.start, b.end):
                pairs.append((ours[i], theirs[j]))
            i, j = i + (a.start <= b.start), j + (b.start <= a.start)
        elif a not in ranges and a.start < b.start:
            i += 1
        elif b not in ranges and b.start < a.start:
            j += 1
        else:
            # A range that begins before the other one does not reach it alone.
            end = min(ranges, key=lambda word: word.start).end
            first, second = i, j
            i, j = _stretch(predicted, gold, i, j, end)
            common = _common_pairs(
                [form.lower() for w in predicted[first:i] for form in word_forms(w)],
                [form.lower() for w in gold[second:j] for form in word_forms(w)],
            )
            pairs.extend((ours[first] + m, theirs[second] + n) for m, n in common)
    return pairs


def _common_pairs(
    predicted: Sequence[str], gold: Sequence[str]
) -> Iterator[Tuple[int, int]]:
    """The pairs of a longest common subsequence, the first ones that there are."""
    if predicted == gold:
        yield from ((i, i) for i in range(len(gold)))
        return
    # Length of the common subsequence of what is left from each place on.
    left = [[0] * (len(gold) + 1) for _ in range(len(predicted) + 1)]
    for i in reversed(range(len(predicted))):
        for j in reversed(range(len(gold))):
            if predicted[i] == gold[j]:
                left[i][j] = left[i + 1][j + 1] + 1
            else:
                left[i][j] = max(left[i + 1][j], left[i][j + 1])
    i = j = 0
    while i < len(predicted) and j < len(gold):
        if predicted[i] == gold[j]:
            yield i, j
            i, j = i + 1, j + 1
        elif left[i][j] == left[i][j + 1]:
            j += 1
        else:
            i += 1


def _stretch(
    predicted: Sequence[WordAnalysis],
    gold: Sequence[WordAnalysis],
    i: int,
    j: int,
    end: int,
) -> Tuple[int, int]:
    """Where the words end that a range reaches; further ranges make it longer."""

    def reached(words: Sequence[WordAnalysis], k: int) -> bool:
        if k >= len(words):
            return False
        return words[k].start < end if is_multiword(words[k]) else words[k].end <= end

    while reached(predicted, i) or reached(gold, j):
        if reached(predicted, i):
            word, i = predicted[i], i + 1
        else:
            word, j = gold[j], j + 1
        end = max(end, word.end)
    return i, j


def count_document(
    predicted: Doc, gold: Doc, *, sentences: Optional[Sequence[Span]] = None
) -> SegmentationCounts:
    """Count what is right in one document.

    predicted (Doc): The predicted document.
    gold (Doc): The gold document of the same text.
    sentences (Optional[Sequence[Span]]): Character offsets of the gold sentences;
        those of the gold document if None.
    RETURNS (SegmentationCounts): The counts.
    RAISES (ValueError): If the texts differ.
    """
    if predicted.text != gold.text:
        raise ValueError(
            f"Document {describe_doc(gold)}: the predicted document has another text. "
            "A tokenizer or component of the pipeline has changed it."
        )
    if sentences is None:
        sentences = sentence_bounds(gold)
    return count_words(doc_analyses(predicted), doc_analyses(gold), sentences)


def sentence_bounds(doc: Doc) -> List[Span]:
    """The sentences of a document; the whole of it if it has none.

    doc (Doc): The document.
    RETURNS (List[Span]): Character offsets.
    """
    if not doc.has_annotation("SENT_START"):
        return [(0, len(doc.text))]
    return [(sent.start_char, sent.end_char) for sent in doc.sents]


def count_words(
    predicted: Sequence[WordAnalysis],
    gold: Sequence[WordAnalysis],
    sentences: Sequence[Span],
) -> SegmentationCounts:
    """Count what is right in the words of one text.

    predicted (Sequence[WordAnalysis]), gold (Sequence[WordAnalysis]): The words, in
        order.
    sentences (Sequence[Span]): Character offsets of the gold sentences.
    RETURNS (SegmentationCounts): The counts.
    """
    by_offsets = {(word.start, word.end): word for word in predicted}
    right_morphemes = right_words = right_multi = multi = 0
    base_right = base_gold = 0
    for word in gold:
        forms = word_forms(word)
        other = by_offsets.get((word.start, word.end))
        other_forms = [] if other is None else word_forms(other)
        right_morphemes += common_length(other_forms, forms)
        right_words += other_forms == forms
        if len(forms) > 1:
            multi += 1
            right_multi += other_forms == forms
        hosts = changed_hosts(word)
        base_gold += len(hosts)
        if other is not None:
            found = Counter(
                plain_letters(bare(m.form)) for m in other.analysis if m.kind == HOST
            )
            base_right += (found & Counter(hosts)).total()
    predicted_total = sum(len(word.analysis) for word in predicted)
    gold_total = sum(len(word.analysis) for word in gold)
    return SegmentationCounts(
        morphemes=Counts(right_morphemes, predicted_total, gold_total),
        levi_tsarfaty=_levi_tsarfaty(predicted, gold, sentences),
        conll18_words=conll18_words(predicted, gold),
        words=Counts(right_words, len(predicted), len(gold)),
        multi_words=Counts(right_multi, multi, multi),
        boundaries=overlap(boundaries(predicted), boundaries(gold)),
        tokens=overlap(set(by_offsets), {(word.start, word.end) for word in gold}),
        prefixes=overlap(
            written_morphemes(predicted, PREFIX), written_morphemes(gold, PREFIX)
        ),
        clitics=overlap(
            written_morphemes(predicted, CLITIC), written_morphemes(gold, CLITIC)
        ),
        covert_articles=overlap(covert_articles(predicted), covert_articles(gold)),
        base_forms=Counts(base_right, base_gold, base_gold),
    )


def _levi_tsarfaty(
    predicted: Sequence[WordAnalysis],
    gold: Sequence[WordAnalysis],
    sentences: Sequence[Span],
) -> Counts:
    starts = [start for start, _ in sentences]

    def group(words: Sequence[WordAnalysis]) -> List["Counter[str]"]:
        groups: List[Counter[str]] = [Counter() for _ in starts]
        for word in words:
            offsets = _letters_from(word)
            for offset, form in zip(offsets, word_forms(word), strict=True):
                groups[max(bisect_right(starts, offset) - 1, 0)][form] += 1
        return groups

    counts = Counts()
    for ours, theirs in zip(group(predicted), group(gold), strict=True):
        counts = counts.plus(
            Counts((ours & theirs).total(), ours.total(), theirs.total())
        )
    return counts


def _letters_from(word: WordAnalysis) -> List[int]:
    """For each morpheme its first letter in the text, or that of the last one."""
    offsets: List[int] = []
    latest = word.start
    for morpheme in word.analysis:
        if morpheme.start is not None:
            latest = word.start + morpheme.start
        offsets.append(latest)
    return offsets


def report(counts: SegmentationCounts) -> Dict[str, float]:
    """The metrics of the module's description.

    counts (SegmentationCounts): Summed over all documents.
    RETURNS (Dict[str, float]): Percentages.
    """
    values = {
        "morpheme_f1": counts.morphemes.f1,
        "levi_tsarfaty_f1": counts.levi_tsarfaty.f1,
        "conll18_words_f1": counts.conll18_words.f1,
        "words_right": counts.words.recall,
        "multi_words_right": counts.multi_words.recall,
        "boundaries_f1": counts.boundaries.f1,
        "tokens_f1": counts.tokens.f1,
        "prefix_f1": counts.prefixes.f1,
        "clitic_f1": counts.clitics.f1,
        "covert_article_f1": counts.covert_articles.f1,
        "base_forms_right": counts.base_forms.recall,
    }
    return {name: round(100 * value, 3) for name, value in values.items()}


def written_doc(vocab: Vocab, gold: Doc) -> Doc:
    """A gold document as the segmenter would get it: written words, sentences.

    vocab (Vocab): The vocabulary of the pipeline.
    gold (Doc): The gold document.
    RETURNS (Doc): The same text without segments, morphemes or other annotation.
    """
    words: List[str] = []
    spaces: List[bool] = []
    starts: List[Union[bool, int, None]] = []
    has_sentences = gold.has_annotation("SENT_START")
    for first, last in word_bounds(gold):
        words.append(gold[first:last].text)
        spaces.append(bool(gold[last - 1].whitespace_))
        starts.append(bool(gold[first].is_sent_start) if has_sentences else None)
    doc = Doc(vocab, words=words, spaces=spaces, sent_starts=starts)
    doc._.source = gold._.source
    return doc


def score_segmentation(examples: Iterable[Example], **kwargs: Any) -> Dict[str, Any]:
    """Score the morphemes of examples for ``nlp.evaluate`` and ``spacy train``.

    Decisions count whether the retokenizer has applied them or not.

    examples (Iterable[Example]): The examples; references without segments are
        left out.
    RETURNS (Dict[str, Any]): ``segmentation_p``, ``_r`` and ``_f`` of morphemes,
        ``segmentation_words_acc``, ``segmentation_multi_words_acc`` and
        ``segmentation_boundaries_f``, from 0 to 1; None without any gold segments.
    """
    total = SegmentationCounts()
    seen = False
    for example in examples:
        if is_segmented(example.reference):
            seen = True
            total = total.plus(count_document(example.predicted, example.reference))
    if not seen:
        return dict.fromkeys(SCORE_WEIGHTS)
    return {
        "segmentation_f": total.morphemes.f1,
        "segmentation_p": total.morphemes.precision,
        "segmentation_r": total.morphemes.recall,
        "segmentation_words_acc": total.words.recall,
        "segmentation_multi_words_acc": total.multi_words.recall,
        "segmentation_boundaries_f": total.boundaries.f1,
    }


@spacy.registry.scorers("spacy_he_coref.segmentation_scorer.v1")
def make_segmentation_scorer() -> Callable[..., Dict[str, Any]]:
    """Scorer of ``he_segmenter``, for ``scorer`` in its config.

    RETURNS (Callable): The scorer.
    """
    return score_segmentation


def segmentation_pipes(nlp: Language) -> List[str]:
    """The components that segmentation needs: up to the retokenizer.

    nlp (Language): The pipeline.
    RETURNS (List[str]): Their names, empty if none segments.
    """
    names = list(nlp.pipe_names)
    factories = [nlp.get_pipe_meta(name).factory for name in names]
    wanted = ("he_segmenter", "he_retokenizer")
    last = max((i for i, f in enumerate(factories) if f in wanted), default=-1)
    return names[: last + 1] if "he_segmenter" in factories else []


def evaluate_segmentation(
    nlp: Language,
    docs: Sequence[Doc],
    given: str = "raw",
    *,
    track: Callable[[Iterable[Doc]], Iterable[Doc]] = iter,
) -> Tuple[Dict[str, float], Dict[str, Any]]:
    """Segment the texts of gold documents and score the result.

    nlp (Language): The pipeline; components after its segmentation do not run.
    docs (Sequence[Doc]): The gold documents.
    given (str): What the pipeline gets: ``raw``, the text of the document; ``words``,
        also its written words and sentences. Either way it gets the id of its
        source, by which the table and gold backends look it up.
    track (Callable): Gets the predicted documents as they come, to show progress.
    RETURNS (Tuple[Dict[str, float], Dict[str, Any]]): The metrics in percent, and the
        conditions.
    RAISES (ValueError): If ``given`` is something else, or the pipeline has no
        ``he_segmenter``.
    """
    if given not in ("raw", "words"):
        raise ValueError(f"The pipeline gets 'raw' or 'words', not {given!r}.")
    pipes = segmentation_pipes(nlp)
    if not pipes:
        raise ValueError(
            "The pipeline has no he_segmenter, so there is nothing to evaluate. Its "
            f"components are: {', '.join(nlp.pipe_names) or 'none'}."
        )
    total = SegmentationCounts()
    start = perf_counter()
    with nlp.select_pipes(enable=pipes):
        predictions = list(track(nlp.pipe(_inputs(nlp, docs, given))))
    seconds = perf_counter() - start
    for predicted, gold in zip(predictions, docs, strict=True):
        total = total.plus(count_document(predicted, gold))
    conditions = {
        "from": given,
        "model": f"{nlp.meta['lang']}_{nlp.meta['name']}",
        "model_version": nlp.meta["version"],
        "components": pipes,
        "documents": len(docs),
        "words": total.words.gold,
        "morphemes": total.morphemes.gold,
        "spacy_version": spacy.__version__,
        "words_per_second": round(total.words.gold / seconds) if seconds else None,
    }
    return report(total), conditions


def _inputs(nlp: Language, docs: Iterable[Doc], given: str) -> Iterator[Doc]:
    for gold in docs:
        if given == "words":
            yield written_doc(nlp.vocab, gold)
        else:
            doc = nlp.make_doc(gold.text)
            doc._.source = gold._.source
            yield doc
