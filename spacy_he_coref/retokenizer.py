"""``he_retokenizer``: splits written words into their segments.

It applies the decisions that ``he_segmenter`` stored on a Doc (design section 2).
spaCy's own ``doc.retokenize().split`` takes time in the length of the document
for every word, and damages span groups; so the segmented Doc is built anew, in
one pass. The text stays, and with it every character offset: what was on the Doc
is carried over by its offsets.
"""

from bisect import bisect_left, bisect_right
from typing import Any, Dict, Iterable, List, NamedTuple, Set, Tuple

import numpy
from spacy.attrs import (
    DEP,
    ENT_IOB,
    ENT_TYPE,
    HEAD,
    LEMMA,
    MORPH,
    NORM,
    POS,
    SENT_START,
    TAG,
)
from spacy.language import Language
from spacy.pipeline import Pipe
from spacy.tokens import Doc, Span, SpanGroup

from .corpus.letters import bare
from .segmenter.contract import validate_analysis
from .segmenter.letters import describe_doc
from .tokens import (
    CLITIC,
    SEGMENT,
    Segment,
    clear_analyses,
    get_segment,
    is_trivial,
    pending_analyses,
    segments,
    set_segment,
    word_bounds,
)

_CARRIED = [TAG, POS, MORPH, LEMMA, DEP, NORM]


@Language.factory(
    "he_retokenizer",
    requires=["doc._.morphemes"],
    assigns=["token._.word", "token._.segment_kind", "token._.morphemes"],
    retokenizes=True,
)
def make_retokenizer(nlp: Language, name: str) -> "HebrewRetokenizer":
    """Make the retokenizer of a pipeline.

    nlp (Language): The pipeline.
    name (str): Name of the component in it.
    RETURNS (HebrewRetokenizer): The component.
    """
    return HebrewRetokenizer(name)


class HebrewRetokenizer(Pipe):
    """Pipeline component that splits words into segments, as decided."""

    def __init__(self, name: str = "he_retokenizer") -> None:
        """Make the component.

        name (str): Name of the component.
        """
        self.name = name

    def __call__(self, doc: Doc) -> Doc:
        """Split the words of a document.

        doc (Doc): The document.
        RETURNS (Doc): The segmented document; the same one if no border changes.
        """
        return retokenize(doc)


class _Plan(NamedTuple):
    """The tokens that a Doc will have.

    starts (List[int]), ends (List[int]): Character offsets of each token.
    spaces (List[bool]): Whether a space follows it.
    same (List[int]): The old token with the same letters, or -1.
    segments (List[Tuple[int, Segment, int]]): Token, segment and length of the word,
        for the tokens of decided words of several morphemes.
    stale (Set[int]): Offsets of the old tokens of decided words.
    """

    starts: List[int]
    ends: List[int]
    spaces: List[bool]
    same: List[int]
    segments: List[Tuple[int, Segment, int]]
    stale: Set[int]


def retokenize(doc: Doc) -> Doc:
    """Apply the decisions on the words of a document.

    Span groups, entities, sentence starts, user data, categories and hooks are
    carried over by character offset; a span that begins or ends inside a token
    grows to its borders. Tokens that stay keep their attributes. A head whose token
    is split becomes the first segment. ``doc.tensor`` is dropped if it has one
    row per token.

    doc (Doc): The document. It is left as it is if a new one is returned.
    RETURNS (Doc): A new document, or the same one if no border changes.
    RAISES (ValueError): If a decision does not fit its word; names both.
    """
    pending = pending_analyses(doc)
    if not pending:
        return doc
    plan = _plan(doc, pending)
    new = doc
    if -1 in plan.same or len(plan.same) != len(doc):
        text = doc.text
        user_data = _user_data(doc, plan)
        words = [text[a:b] for a, b in zip(plan.starts, plan.ends, strict=True)]
        new = Doc(doc.vocab, words=words, spaces=plan.spaces, user_data=user_data)
        _carry_tokens(doc, new, plan)
        _carry_entities(doc, new, plan)
        for key, group in doc.spans.items():
            spans = [_move(span, new, plan) for span in group]
            new.spans[key] = SpanGroup(
                new, name=group.name, attrs=group.attrs, spans=spans
            )
        if len(doc.tensor) != len(doc):
            new.tensor = doc.tensor
        new.cats = dict(doc.cats)
        new.sentiment = doc.sentiment
        new.has_unknown_spaces = doc.has_unknown_spaces
        new.user_hooks = dict(doc.user_hooks)
        new.user_token_hooks = dict(doc.user_token_hooks)
        new.user_span_hooks = dict(doc.user_span_hooks)
        # nlp.pipe(as_tuples=True) keeps the contexts of its documents here.
        new._context = doc._context
    _renew_segments(doc, new, plan)
    return new


def _plan(doc: Doc, pending: Dict[int, Any]) -> _Plan:
    plan = _Plan([], [], [], [], [], set())
    text = doc.text
    words = word_bounds(doc)
    ends = {doc[last - 1].idx + len(doc[last - 1]): last for _, last in words}
    done = 0
    skip = 0
    for first, last in words:
        if first < skip:
            continue
        start = doc[first].idx
        if start not in pending:
            for token in doc[first:last]:
                plan.starts.append(token.idx)
                plan.ends.append(token.idx + len(token))
                plan.spaces.append(bool(token.whitespace_))
                plan.same.append(token.i)
            continue
        done += 1
        length, analysis = pending[start]
        word = text[start : start + length]
        if start + length not in ends or any(char.isspace() for char in word):
            raise ValueError(
                f"Document {describe_doc(doc)}, offset {start}: the decision is on "
                f"{word!r}, which is no written word of the document. Run the "
                "segmenter again after a change of the tokens."
            )
        try:
            validate_analysis(word, analysis)
        except ValueError as error:
            raise ValueError(
                f"Document {describe_doc(doc)}, offset {start}: {error}"
            ) from error
        skip = ends[start + length]
        old = {doc[i].idx: i for i in range(first, skip)}
        plan.stale.update(old)
        trivial = is_trivial(word, analysis)
        for segment in segments(word, analysis):
            a = start + segment.start
            b = a + len(segment.text)
            i = old.get(a, -1)
            if not trivial:
                plan.segments.append((len(plan.starts), segment, length))
            plan.starts.append(a)
            plan.ends.append(b)
            plan.spaces.append(False)
            plan.same.append(i if i >= 0 and len(doc[i]) == b - a else -1)
        plan.spaces[-1] = bool(doc[skip - 1].whitespace_)
    if done != len(pending):
        raise ValueError(
            f"Document {describe_doc(doc)}: {len(pending) - done} decisions are on "
            "offsets where no written word begins. Run the segmenter again after a "
            "change of the tokens."
        )
    return plan


def _renew_segments(doc: Doc, new: Doc, plan: _Plan) -> None:
    """Store what the tokens of decided words stand for; NORM of a clitic is its
    pronoun."""
    for i, start in enumerate(plan.starts):
        row = get_segment(doc[plan.same[i]]) if start in plan.stale else None
        if plan.same[i] >= 0 and row is not None and row[0] == CLITIC:
            new[i].norm_ = new[i].lex.norm_
    user_data: Dict[Any, Any] = new.user_data
    for offset in plan.stale:
        user_data.pop(("._.", SEGMENT, offset, None), None)
    clear_analyses(new)
    for i, segment, length in plan.segments:
        set_segment(new, plan.starts[i], segment, length)
        if segment.kind == CLITIC:
            new[i].norm_ = bare(segment.morphemes[segment.written])


def _user_data(doc: Doc, plan: _Plan) -> Dict[Any, Any]:
    """The user data, with the keys of spans that grow moved along."""
    starts, ends = set(plan.starts), set(plan.ends)
    output = dict(doc.user_data)
    for key, value in doc.user_data.items():
        if not (isinstance(key, tuple) and len(key) == 4 and key[0] == "._."):
            continue
        _, name, start, end = key
        if start is None or end is None or (start in starts and end in ends):
            continue
        first, last = _bounds(start, end, plan)
        if first < last:
            del output[key]
            output.setdefault(
                ("._.", name, plan.starts[first], plan.ends[last - 1]), value
            )
    return output


def _bounds(start: int, end: int, plan: _Plan) -> Tuple[int, int]:
    """The tokens between two character offsets, whole ones."""
    if start == end:
        first = bisect_left(plan.starts, start)
        return first, first
    return bisect_right(plan.starts, start) - 1, bisect_left(plan.ends, end) + 1


def _move(span: Span, new: Doc, plan: _Plan) -> Span:
    first, last = _bounds(span.start_char, span.end_char, plan)
    return Span(new, first, last, label=span.label, kb_id=span.kb_id, span_id=span.id)


def _carry_tokens(doc: Doc, new: Doc, plan: _Plan) -> None:
    old_starts = numpy.asarray([token.idx for token in doc])
    starts = numpy.asarray(plan.starts)
    same = numpy.asarray(plan.same)
    stays = same >= 0
    # For each new token the old one with its first letter, and the reverse.
    covering = numpy.searchsorted(old_starts, starts, side="right") - 1
    covered = numpy.searchsorted(starts, old_starts, side="right") - 1

    # spaCy's stubs know thinc's array types only, hence Any.
    values: Any = numpy.zeros((len(new), len(_CARRIED)), dtype="uint64")
    values[stays] = doc.to_array(_CARRIED)[same[stays]]
    heads = doc.to_array([HEAD]).reshape(-1).astype("int64")
    if values[:, _CARRIED.index(DEP)].any() or heads.any():
        old_heads = numpy.arange(len(doc)) + heads
        new_heads = numpy.arange(len(new))
        new_heads[stays] = covered[old_heads[same[stays]]]
        relative = (new_heads - numpy.arange(len(new))).astype("uint64")
        values = numpy.column_stack([values, relative])
        new.from_array([*_CARRIED, HEAD], values)
    else:
        new.from_array(_CARRIED, values)
    # After the heads, which set sentence starts of their own.
    sent_starts = doc.to_array([SENT_START]).reshape(-1).astype("int64")
    begins = old_starts[covering] == starts
    # spaCy says of every first token that it starts a sentence, known or not.
    known = sent_starts != 0
    known[0] = known[1:].any()
    inside = numpy.where(known[covering], -1, 0)
    values = numpy.where(begins, sent_starts[covering], inside).astype("uint64")
    new.from_array([SENT_START], values)


def _carry_entities(doc: Doc, new: Doc, plan: _Plan) -> None:
    iob = doc.to_array([ENT_IOB]).reshape(-1)
    if not iob.any():
        return
    types = doc.to_array([ENT_TYPE]).reshape(-1)
    entities: List[Span] = []
    taken: Set[int] = set()
    for entity in doc.ents:
        span = _move(entity, new, plan)
        # Two entities that meet inside one token cannot both keep it.
        if taken.isdisjoint(range(span.start, span.end)):
            entities.append(span)
            taken.update(range(span.start, span.end))
    free: Dict[str, List[int]] = {"missing": [], "blocked": []}
    old_starts = [token.idx for token in doc]
    for i, start in enumerate(plan.starts):
        old = bisect_right(old_starts, start) - 1
        if i not in taken and iob[old] == 0:
            free["missing"].append(i)
        elif i not in taken and iob[old] == 3 and types[old] == 0:
            free["blocked"].append(i)
    new.set_ents(
        entities,
        missing=_runs(new, free["missing"]),
        blocked=_runs(new, free["blocked"]),
    )


def _runs(doc: Doc, numbers: Iterable[int]) -> List[Span]:
    runs: List[List[int]] = []
    for i in numbers:
        if runs and runs[-1][1] == i:
            runs[-1][1] = i + 1
        else:
            runs.append([i, i + 1])
    return [Span(doc, first, last) for first, last in runs]
