"""The tokenizer: written words, as the Hebrew Treebank and KibutzR cut them.

It is spaCy's own ``Tokenizer`` with patterns of ours, so it is fast, cached and
serialisable. The patterns never look at which look-alike a writer typed: every
kind of quote (" ״ ” “ „ ''), of geresh (' ׳ ’) and of hyphen (- ־ – —) is one
class, and bidi and zero-width marks stay with the character before them
(design section 6).

What the treebank does, and so the patterns: a hyphen is a word of its own
(``ארצות - הברית``, ``ב - 17``) except between digits (``1988-89``, ``6-4``); a
prefix without a hyphen stays (``ב1992``), also before an opening quote
(``ה"ניו יורק טיימס"``, whose closing quote is a word); percent signs and
currency are words; initials keep their periods (``ת.ד.``).
"""

import re
from typing import Callable, Dict, List

import spacy
from spacy.lang.char_classes import LIST_CURRENCY, LIST_ICONS, UNITS
from spacy.language import Language
from spacy.symbols import ORTH
from spacy.tokenizer import Tokenizer
from spacy.util import compile_infix_regex, compile_prefix_regex, compile_suffix_regex

from .segmenter.normalize import APOSTROPHES, QUOTES
from .segmenter.normalize import HYPHENS as ALL_HYPHENS

# What goes inside the brackets of a character class.
GERESH = APOSTROPHES
HYPHENS = re.escape(ALL_HYPHENS)
MARKS = "\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff"
POINTS = "\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\ufb1e"
HEBREW = "א-ת\u05ef-\u05f2\ufb1d\ufb1f-\ufb4f" + POINTS
BRACKETS = r"()\[\]{}"
PUNCTUATION = BRACKETS + r",:;!?¿¡<>&*|~·…。，；：！？、،؛؟\u05c0\u05c3\u05c6"
SYMBOLS = "$£€¥\u20a0-\u20c0"

# Words that are written with a final geresh. At the end of any other word it is
# a closing quote, except after a sole letter (כיתה ג') and after the letters
# of foreign sounds (קולג', סקוץ').
ABBREVIATIONS = (
    "אג אדר אונ אח אינג אלמ גב גר דר הו הנ וגו וכד וכו וכיו חב חוב חי טל יח כד מח "
    "מס מע מק משפ נק סג סי סע עי עמ פרופ צב קב קמ רח רצ שד שות שכ תח"
).split()

EMOTICONS = (
    ":) :-) (: (-: ;) ;-) (; :( :-( :'( :/ :-/ :| :P :-P :p :D :-D ;D "
    ":O :o :* :-* XD xD <3 <33 </3 ^_^ -_- C++"
).split()

_MARKS = f"[{MARKS}]*"
_DOUBLE = f"(?:[{QUOTES}]|[{GERESH}]{{2}})"
_LETTER = r"[^\W\d_]"
_AFTER_LETTER = rf"(?:(?<=[^\W\d_])|(?<=[{POINTS}{MARKS}]))"
# One or two marks may stand between a digit and what is beside it.
_NOT_AFTER_DIGIT = rf"(?<!\d)(?<!\d[{MARKS}])(?<!\d[{MARKS}]{{2}})"
_NOT_BEFORE_DIGIT = rf"(?!{_MARKS}\d)"
_ELLIPSIS = r"(?:\.\.+|…+)"
# A line of twenty and more marks is an ornament, one word: stripping it mark by
# mark would take spaCy quadratic time.
_ORNAMENT_CHAR = (
    f"[{QUOTES}{GERESH}{HYPHENS}{MARKS}{PUNCTUATION}{SYMBOLS}"
    rf".%+=_#§°{LIST_ICONS[0].strip('[]')}]"
)
_ORNAMENT = f"{_ORNAMENT_CHAR}{{20,}}"

_MODIFIERS = "[\ufe0e\ufe0f\u20e3\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]*"
_ICON = f"{LIST_ICONS[0]}{_MODIFIERS}"
_EMOJI = (
    "(?:[\U0001f1e6-\U0001f1ff]{2}"
    rf"|[0-9#*]\ufe0f?\u20e3|{_ICON}(?:\u200d{_ICON})*)"
)

_URL = (
    rf"(?:(?:https?|ftp)://|www\.)[^\s<>{QUOTES}]+"
    r"|(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.){1,8}[a-z]{2,24}"
    rf"(?::\d{{1,5}})?(?:[/?#][^\s<>{QUOTES}]*)?"
)
_EMAIL = (
    r"[A-Za-z0-9][A-Za-z0-9._%+-]{0,63}@(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24}"
)


def _closing_geresh() -> str:
    """A geresh that closes a quotation: not the one of an abbreviation."""
    keep = [r"(?<!\b[א-ת])", r"(?<!\b[ושהכלבמ][בגדהזחטיקרש])", "(?<![גזצץ])"]
    for size in sorted({len(word) for word in ABBREVIATIONS}):
        words = "|".join(word for word in ABBREVIATIONS if len(word) == size)
        # Lookbehinds have one width, so the proclitics are spelled out.
        for proclitics in ("", "[ושהכלבמ]", "[ושהכלבמ]{2}"):
            keep.append(rf"(?<!\b{proclitics}(?:{words}))")
    return "".join([*keep, f"[{GERESH}]"])


def _prefixes() -> List[str]:
    pieces = [
        _ORNAMENT,
        _EMOJI,
        _DOUBLE,
        f"[{GERESH}]",
        _ELLIPSIS,
        f"[{PUNCTUATION}]",
        rf"[{HYPHENS}]+(?![\d.,]*\d)",
        r"#(?!\w)",
        r"\+(?!\d)",
        r"_+|=+|%|§",
        *LIST_CURRENCY,
    ]
    return [f"{_MARKS}(?:{piece})" for piece in pieces]


def _suffixes() -> List[str]:
    pieces = [
        f"(?<!{_ORNAMENT_CHAR}){_ORNAMENT}",
        _EMOJI,
        _DOUBLE,
        _closing_geresh(),
        _ELLIPSIS,
        f"[{PUNCTUATION}]",
        f"[{HYPHENS}]+",
        # The period of initials (ת.ד.) belongs to them. That of a sole letter is
        # as often the end of a sentence (ביום ד.), so it is a word.
        rf"(?<!\.{_LETTER})\.",
        r"#|_+|=+|%|§",
        r"(?<=\d)\+",
        rf"(?<=\d)(?:{UNITS})",
        rf"(?<=[A-Za-z])[{GERESH}][sS]",
        *LIST_CURRENCY,
    ]
    return [f"(?:{piece}){_MARKS}" for piece in pieces]


def _infixes() -> List[str]:
    return [
        # An address after a prefix (ב-www.example.com) is one piece.
        rf"(?<=[{HEBREW}{HYPHENS}{MARKS}])(?:{_EMAIL}|{_URL})",
        _ORNAMENT,
        _ELLIPSIS,
        _EMOJI,
        f"[{HYPHENS}]{{2,}}",
        f"{_NOT_AFTER_DIGIT}[{HYPHENS}]",
        f"[{HYPHENS}]{_NOT_BEFORE_DIGIT}",
        f"{_NOT_AFTER_DIGIT}[,:]",
        f"[,:]{_NOT_BEFORE_DIGIT}",
        f"{_AFTER_LETTER}[;!?]+(?={_LETTER})",
        f"(?:{_AFTER_LETTER}|(?<=[0-9]))[<>=/](?={_LETTER})",
        r"(?<=[0-9])[+*^×=](?=[0-9])",
        r"(?<=[0-9])%",
        f"[{BRACKETS}{SYMBOLS}]",
        # Quotes beside a hyphen, a bracket or a colon open or close something.
        rf"(?<=[{HYPHENS}(\[:,;])(?:{_DOUBLE}|[{GERESH}])",
        rf"{_DOUBLE}(?=[{HYPHENS})\]:,;])",
        # A space is missing after a sentence; not the initials of בי.בי.סי.
        rf"(?<=[{HEBREW}]{{3}})\.(?=[{HEBREW}]{{2}})",
    ]


@spacy.registry.tokenizers("spacy_he_coref.HebrewTokenizer.v1")
def create_hebrew_tokenizer() -> Callable[[Language], Tokenizer]:
    """Tokenizer of written Hebrew words, for ``[nlp.tokenizer]`` of a config.

    RETURNS (Callable[[Language], Tokenizer]): Makes the tokenizer of a pipeline.
    """
    return make_tokenizer


def make_tokenizer(nlp: Language) -> Tokenizer:
    """Make the tokenizer of written Hebrew words.

    nlp (Language): The pipeline whose vocabulary it shares.
    RETURNS (Tokenizer): spaCy's tokenizer with the patterns of this module.
    """
    rules: Dict[str, List[Dict[int, str]]] = {
        text: [{ORTH: text}] for text in EMOTICONS
    }
    return Tokenizer(
        nlp.vocab,
        rules=rules,
        prefix_search=compile_prefix_regex(_prefixes()).search,
        suffix_search=compile_suffix_regex(_suffixes()).search,
        infix_finditer=compile_infix_regex(_infixes()).finditer,
        url_match=re.compile(rf"(?:{_EMAIL}|{_URL})$").match,
    )
