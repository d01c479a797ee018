"""From the morphemes of a word to an analysis, and from a Doc to its analyses.

The rules that give each morpheme its letters are those of ``corpus.letters``;
here they make what the contract of the backends asks for.
"""

from typing import List, NamedTuple, Optional, Sequence

from spacy.tokens import Doc

from ..corpus import letters
from ..tokens import (
    CLITIC,
    COVERT_ARTICLE,
    PREFIX,
    Analysis,
    Morpheme,
    get_segment,
    pending_analyses,
    trivial_analysis,
    word_bounds,
)

# Before these a pronoun stands for itself (שהם), not for the suffix of a host.
_BEFORE_PRONOUNS = frozenset(("ו", "ש", "כש", "ה", COVERT_ARTICLE, "לכש", "מש"))
_SWALLOWS_ARTICLE = frozenset(("ב", "כ", "ל"))


class WordAnalysis(NamedTuple):
    """A written word of a Doc with its morphemes.

    start (int), end (int): Character offsets in the text.
    text (str): The written word.
    analysis (Analysis): Its morphemes.
    """

    start: int
    end: int
    text: str
    analysis: Analysis


def describe_doc(doc: Doc) -> str:
    """How messages name a document.

    doc (Doc): The document.
    RETURNS (str): Its source id, or else its beginning.
    """
    source = doc._.source
    if source and "id" in source:
        return str(source["id"])
    return repr(doc.text[:40])


def assign_letters(
    word: str, forms: Sequence[str], kinds: Optional[Sequence[str]] = None
) -> Optional[Analysis]:
    """Make the analysis of a word from the forms of its morphemes.

    word (str): The written word.
    forms (Sequence[str]): Its morphemes, in order. Hosts may be base forms,
        suffixes full pronouns, and articles unwritten.
    kinds (Optional[Sequence[str]]): Kind of each; found from the forms if None.
    RETURNS (Optional[Analysis]): None if the letters cannot be assigned.
    """
    if not word or not forms or not all(forms):
        return None
    spans = letters.assign_letters(word, forms)
    if spans is None:
        return None
    if kinds is None:
        kinds = find_kinds(word, forms, spans[-1])
    return make_analysis(forms, spans, kinds)


def assign_whole(
    word: str, forms: Sequence[str], kinds: Optional[Sequence[str]] = None
) -> Analysis:
    """The analysis of a word whose letters cannot be assigned, as in the corpus:
    the longest morpheme has the whole word.

    word (str): The written word.
    forms (Sequence[str]): Its morphemes, in order.
    kinds (Optional[Sequence[str]]): Kind of each; found from the forms if None.
    RETURNS (Analysis): The analysis.
    """
    kinds = find_kinds(word, forms, None) if kinds is None else kinds
    spans, kinds = letters.assign_longest(word, forms, kinds)
    return make_analysis(forms, spans, kinds)


def make_analysis(
    forms: Sequence[str], spans: Sequence[letters.Span], kinds: Sequence[str]
) -> Analysis:
    """Put the parts of an analysis together.

    forms (Sequence[str]): The morphemes.
    spans (Sequence[Span]): First letter of each and letter after the last, or None.
    kinds (Sequence[str]): Their kinds.
    RETURNS (Analysis): The analysis.
    """
    output: List[Morpheme] = []
    for form, span, kind in zip(forms, spans, kinds, strict=True):
        start, end = span or (None, None)
        output.append(Morpheme(form, start, end, kind))
    return tuple(output)


def find_kinds(word: str, forms: Sequence[str], last: letters.Span) -> Sequence[str]:
    """The kinds of the morphemes of a word, from their forms.

    word (str): The written word.
    forms (Sequence[str]): Its morphemes, in order.
    last (Span): The letters of the last one, if they are known.
    RETURNS (Sequence[str]): Kind of each.
    """
    suffixes = [letters.is_pronoun_suffix(form) for form in forms]
    if len(forms) > 1 and _is_bare_suffix(word, forms, last):
        suffixes[-1] = True
    return letters.segment_kinds(forms, suffixes)


def _is_bare_suffix(word: str, forms: Sequence[str], span: letters.Span) -> bool:
    """Whether a last morpheme without underscore is a suffix all the same."""
    form = forms[-1]
    if form not in letters.PRONOUN_ENDINGS or span is None:
        return False
    if word[slice(*span)] != form:
        return True
    return form in letters.BARE_CLITICS and forms[-2] not in _BEFORE_PRONOUNS


def restore_marks(word: str, forms: Sequence[str]) -> List[str]:
    """Put the underscores of the HTB scheme back where a file has none.

    word (str): The written word.
    forms (Sequence[str]): Its morphemes without marks, as in ``ב ה שטחים`` and
        ``דבר של הוא``.
    RETURNS (List[str]): ``ב ה_ שטחים``, ``דבר _של_ _הוא``.
    """
    output = list(forms)
    last = output[-1]
    if len(output) > 1 and last in letters.PRONOUN_ENDINGS:
        before = output[:-2]
        if output[-2] in ("של", "את") and not all(
            form in letters.PROCLITICS or form == COVERT_ARTICLE for form in before
        ):
            # של of שלו and ושלו is written, that of דבריו is not.
            output[-2] = (
                letters.POSSESSIVE if output[-2] == "של" else letters.ACCUSATIVE
            )
            output[-1] = "_" + last
        elif not word.endswith(last) or (
            last in letters.BARE_CLITICS and output[-2] not in _BEFORE_PRONOUNS
        ):
            output[-1] = "_" + last
    plain = letters.plain_letters(word)
    for i in range(1, len(output) - 1):
        if output[i] != "ה" or output[i - 1] not in _SWALLOWS_ARTICLE:
            continue
        covert = [*output[:i], COVERT_ARTICLE, *output[i + 1 :]]
        written = "".join(letters.bare(form) for form in output)
        if letters.plain_letters(written) != plain:
            output = covert
    return output


def doc_analyses(doc: Doc) -> List[WordAnalysis]:
    """The written words of a Doc with the morphemes that the Doc says they have.

    Decisions that the retokenizer has not applied yet count as applied. White
    space is not a word.

    doc (Doc): The document, split into segments or not.
    RETURNS (List[WordAnalysis]): Its words in order.
    """
    text = doc.text
    pending = pending_analyses(doc)
    output: List[WordAnalysis] = []
    for first, last in word_bounds(doc):
        start = doc[first].idx
        end = doc[last - 1].idx + len(doc[last - 1])
        word = text[start:end]
        if word.isspace():
            continue
        length, analysis = pending.get(start, (0, ()))
        if length != end - start:
            analysis = read_analysis(doc, first, last)
        output.append(WordAnalysis(start, end, word, analysis))
    return output


def read_analysis(doc: Doc, first: int, last: int) -> Analysis:
    """The analysis that the segments of a written word stand for.

    doc (Doc): The document.
    first (int), last (int): First token of the word and token after the last.
    RETURNS (Analysis): Its morphemes.
    """
    origin = doc[first].idx
    output: List[Morpheme] = []
    for token in doc[first:last]:
        row = get_segment(token)
        if row is None:
            return trivial_analysis(doc[first:last].text)
        kind, forms, written = row[:3]
        start = token.idx - origin
        for i, form in enumerate(forms):
            if i == written:
                output.append(Morpheme(form, start, start + len(token), kind))
            else:
                # A Doc keeps the kinds of segments only.
                if form in (letters.POSSESSIVE, letters.ACCUSATIVE):
                    its_kind = CLITIC
                elif form == COVERT_ARTICLE and all(m.kind == PREFIX for m in output):
                    its_kind = PREFIX
                else:
                    its_kind = kind
                output.append(Morpheme(form, None, None, its_kind))
    return tuple(output)
