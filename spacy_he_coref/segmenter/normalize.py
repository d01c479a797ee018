"""One spelling for the many ways to type the same word.

Niqqud, cantillation, bidi marks and zero-width characters are left out;
geresh, gershayim, quotation marks and hyphens become their ASCII forms. Every
letter keeps the offset that it has in the user's text.
"""

import unicodedata
from typing import List, NamedTuple, Tuple

# What is typed for " ' and -; these themselves come first.
QUOTES = '"״”“„‟″«»＂'
APOSTROPHES = "'׳’‘‛`´ʼ′＇"
HYPHENS = "-־‐‑‒–—―−－"
_IGNORED = frozenset(
    [chr(c) for c in range(0x0591, 0x05C8) if c not in (0x05BE, 0x05C0, 0x05C3, 0x05C6)]
    + [chr(c) for c in range(0x200B, 0x2010)]
    + [chr(c) for c in range(0x202A, 0x202F)]
    + [chr(c) for c in range(0x2060, 0x2070)]
    + ["\u00ad", "\u034f", "\u061c", "\ufeff", "\ufb1e"]
)
_MAP = {
    **{c: '"' for c in QUOTES[1:]},
    **{c: "'" for c in APOSTROPHES[1:]},
    **{c: "-" for c in HYPHENS[1:]},
}
# Presentation forms: a letter with its point in one character (שׁ).
for _code in range(0xFB1D, 0xFB4F):
    _letters = [
        c
        for c in unicodedata.normalize("NFKD", chr(_code))
        if "א" <= c <= "ת" and c not in _IGNORED
    ]
    if len(_letters) == 1:
        _MAP[chr(_code)] = _letters[0]

_CHANGED = frozenset(_MAP) | _IGNORED


class NormalWord(NamedTuple):
    """A word in its one spelling.

    text (str): The letters.
    offsets (Tuple[int, ...]): For each of them, and for the end, the offset in
        the word as it was typed. Marks after a letter go with it, marks before
        the first letter go with that.
    """

    text: str
    offsets: Tuple[int, ...]


def normalize_word(word: str) -> NormalWord:
    """Bring a written word to its one spelling.

    word (str): The word as it stands in the text.
    RETURNS (NormalWord): Its letters and where they stand.
    """
    if not needs_normalizing(word):
        return NormalWord(word, tuple(range(len(word) + 1)))
    letters: List[str] = []
    offsets: List[int] = []
    i = 0
    while i < len(word):
        char = word[i]
        if char not in _IGNORED:
            char = _MAP.get(char, char)
            if char == "'" and letters and letters[-1] == "'":
                # Two apostrophes are typed for gershayim (צה''ל).
                letters[-1] = '"'
            else:
                letters.append(char)
                offsets.append(i)
        i += 1
    if offsets:
        offsets[0] = 0
    return NormalWord("".join(letters), (*offsets, len(word)))


def needs_normalizing(word: str) -> bool:
    """Whether the one spelling of a word differs from how it is typed.

    word (str): The word as it stands in the text.
    RETURNS (bool): True if it does.
    """
    return not _CHANGED.isdisjoint(word) or "''" in word


def has_hebrew(word: str) -> bool:
    """Whether there is a Hebrew letter in a word.

    word (str): The word in its one spelling.
    RETURNS (bool): True if there is one.
    """
    return any("א" <= letter <= "ת" for letter in word)
