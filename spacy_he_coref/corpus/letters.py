"""Which letters of a written word belong to which morpheme, and their kinds.

The rules of the data README ("Letters") and the kinds of design section 1.
"""

import re
from difflib import SequenceMatcher
from typing import AbstractSet, List, Optional, Sequence, Tuple

from ..tokens import CLITIC, COVERT_ARTICLE, HOST, PREFIX, WORD

PROCLITICS = frozenset(("ו", "ש", "כש", "ה", "ב", "כ", "ל", "מ", "לכש", "מש"))
POSSESSIVE = "_של_"
ACCUSATIVE = "את_"
UNWRITTEN = frozenset((COVERT_ARTICLE, POSSESSIVE, ACCUSATIVE))
# Full pronoun and the letters that can spell it at the end of a word.
PRONOUN_ENDINGS = {
    "הוא": ("ו", "הו"),
    "היא": ("ה",),
    "הם": ("ם", "הם"),
    "הן": ("ן", "הן"),
    "אנחנו": ("נו",),
    "אני": ("י", "ני"),
    "אתה": ("ך",),
    "את": ("ך",),
    "אתם": ("כם",),
    "אתן": ("כן",),
}
# Only these two stand in KibutzR as clitics without an underscore, and after these
# proclitics they are words of their own (ש|הם).
BARE_CLITICS = frozenset(("הם", "הן"))
BEFORE_PRONOUN = frozenset(("ו", "ש", "כש", "ה", "לכש", "מש"))

Span = Optional[Tuple[int, int]]


def bare(form: str) -> str:
    """A form without the underscores that mark unwritten morphemes and suffixes.

    form (str): The form in the scheme of HTB and KibutzR.
    RETURNS (str): Its letters; the form itself if it is nothing but underscores.
    """
    return form.strip("_") or form


def is_pronoun_suffix(form: str) -> bool:
    """Whether a form is a suffix pronoun that says so by its underscore.

    form (str): The form.
    RETURNS (bool): True for ``_הוא`` and its like.
    """
    return form.startswith("_") and form != POSSESSIVE and len(form) > 1


def similarity(first: str, second: str) -> float:
    """How alike two strings are.

    first (str), second (str): The strings.
    RETURNS (float): From 0 (nothing in common) to 1 (equal).
    """
    if first == second:
        return 1.0
    return SequenceMatcher(None, first, second, autojunk=False).ratio()


def assign_letters(word: str, forms: Sequence[str]) -> Optional[List[Span]]:
    """Find the letters of each morpheme in its written word.

    word (str): The written word.
    forms (Sequence[str]): Its morphemes.
    RETURNS (Optional[List[Span]]): First letter and letter after the last one of
        each morpheme, None for those that are not written; None instead of the
        list if the letters cannot be assigned.
    """
    if len(forms) == 1:
        return [(0, len(word))]
    word = plain_letters(word)
    letters = [plain_letters(bare(form)) for form in forms]
    if _same("".join(letters), word):
        return _consecutive(letters, [True] * len(forms))
    written = [form not in UNWRITTEN for form in forms]
    if _same("".join(x for x, w in zip(letters, written, strict=True) if w), word):
        return _consecutive(letters, written)
    return _assign_suffixed(word, forms, letters, written) or _assign_gaps(
        word, letters, written
    )


_LOOK_ALIKES = str.maketrans("”“״׳’‘־–", "\"\"\"'''--")
_FINAL_LETTERS = str.maketrans("םןץףך", "מנצפכ")


def plain_letters(text: str) -> str:
    """Letters with one kind of quotes and hyphens, for comparison.

    text (str): The text.
    RETURNS (str): A text of the same length.
    """
    return text.translate(_LOOK_ALIKES)


def _same(first: str, second: str) -> bool:
    """Whether letters are the same, be they final or not."""
    return first.translate(_FINAL_LETTERS) == second.translate(_FINAL_LETTERS)


def _consecutive(letters: Sequence[str], written: Sequence[bool]) -> List[Span]:
    spans: List[Span] = []
    position = 0
    for form, is_written in zip(letters, written, strict=True):
        if is_written:
            spans.append((position, position + len(form)))
            position += len(form)
        else:
            spans.append(None)
    return spans


def _assign_suffixed(
    word: str, forms: Sequence[str], letters: Sequence[str], written: Sequence[bool]
) -> Optional[List[Span]]:
    """A word whose last letters are a pronoun: its host has those before them."""
    if not (is_pronoun_suffix(forms[-1]) or letters[-1] in BARE_CLITICS):
        return None
    last = len(forms) - 1
    host = last - 1
    while host >= 0 and forms[host] in (POSSESSIVE, ACCUSATIVE):
        host -= 1
    if host < 0:
        return None
    spans: List[Span] = [None] * len(forms)
    position = 0
    for i in range(host):
        if not written[i]:
            continue
        if not word.startswith(letters[i], position):
            return None
        spans[i] = (position, position + len(letters[i]))
        position += len(letters[i])
    cut = _cut_suffix(word, position, letters[host], letters[-1], ACCUSATIVE in forms)
    if cut is None:
        return None
    spans[host] = (position, cut)
    spans[last] = (cut, len(word))
    return spans


def _cut_suffix(
    word: str, start: int, host: str, pronoun: str, accusative: bool
) -> Optional[int]:
    """Where the letters of a suffix pronoun begin."""
    cuts = _cuts(word, start, PRONOUN_ENDINGS.get(pronoun, ()))
    # Of two endings (גובה|ם, דברי|הם) the one that leaves the host as it is; of a
    # host that changes, the longer one, but ני only with verbs (רצונ|י).
    for cut in cuts:
        if _same(word[start:cut], host):
            return cut
    if cuts:
        return max(cuts) if pronoun == "אני" and not accusative else min(cuts)
    # The wrong pronoun (כולנו as כול and _הם): any that leaves the host as it is.
    for endings in PRONOUN_ENDINGS.values():
        for cut in _cuts(word, start, endings):
            if _same(word[start:cut], host):
                return cut
    return None


def _cuts(word: str, start: int, endings: Sequence[str]) -> List[int]:
    cuts = [len(word) - len(ending) for ending in endings if word.endswith(ending)]
    return [cut for cut in cuts if cut > start]


def _assign_gaps(
    word: str, letters: Sequence[str], written: Sequence[bool]
) -> Optional[List[Span]]:
    """Morphemes that stand in the word with signs between them (1957-8)."""
    spans: List[Span] = []
    position = 0
    for form, is_written in zip(letters, written, strict=True):
        if not is_written:
            spans.append(None)
            continue
        start = word.find(form, position)
        if start < 0 or any(letter.isalnum() for letter in word[position:start]):
            return None
        # The signs before a morpheme go with it.
        spans.append((position, start + len(form)))
        position = start + len(form)
    return spans if position == len(word) else None


def assign_longest(
    word: str, forms: Sequence[str], kinds: Sequence[str]
) -> Tuple[List[Span], List[str]]:
    """What holds for a word whose letters cannot be assigned.

    word (str): The written word.
    forms (Sequence[str]): Its morphemes.
    kinds (Sequence[str]): Their kinds.
    RETURNS (Tuple[List[Span], List[str]]): The letters and the kinds: the longest
        morpheme that is no clitic has the whole word and is the host, the others
        are not written.
    """
    hosts = [i for i, kind in enumerate(kinds) if kind != CLITIC]
    longest = max(hosts, key=lambda i: (len(bare(forms[i])), i))
    spans: List[Span] = [None] * len(forms)
    spans[longest] = (0, len(word))
    new = [HOST if i >= longest and k == PREFIX else k for i, k in enumerate(kinds)]
    return spans, new


def segment_kinds(
    forms: Sequence[str],
    suffixes: Sequence[bool],
    proclitics: AbstractSet[str] = PROCLITICS,
) -> List[str]:
    """The kind of each morpheme of a word.

    Proclitics at the begin are prefixes, with a quotation mark after them (ב"הארץ);
    pronouns at the end with their
    unwritten ``_של_`` or ``את_`` are clitics, what is between is the host. If
    nothing is left (לו is ל and _הוא), the last morpheme before the clitics is
    the host.

    forms (Sequence[str]): The morphemes of the word.
    suffixes (Sequence[bool]): Whether each is a pronoun written as a suffix.
    proclitics (AbstractSet[str]): What can be a prefix besides the covert article.
    RETURNS (List[str]): ``prefix``, ``host``, ``clitic``, or ``word`` for the only
        morpheme of a word.
    """
    if len(forms) == 1:
        return [WORD]
    last = len(forms)
    while last > 1 and (
        suffixes[last - 1] or forms[last - 1] in (POSSESSIVE, ACCUSATIVE)
    ):
        last -= 1
    first = 0
    while first < last - 1 and (
        forms[first] in proclitics
        or forms[first] == COVERT_ARTICLE
        or (first > 0 and forms[first] == '"')
    ):
        first += 1
    return [PREFIX] * first + [HOST] * (last - first) + [CLITIC] * (len(forms) - last)


_DIGITS = re.compile(r"[0-9][0-9.,:/-]*")


def is_number(form: str) -> bool:
    """Whether a form is written in digits.

    form (str): The form.
    RETURNS (bool): True for ``1990``, ``13.00`` and ``9-7``.
    """
    return _DIGITS.fullmatch(form) is not None
