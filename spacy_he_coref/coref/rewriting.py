"""Resolved text: pronouns and clitics replaced by whom they mean.

``doc._.coref.resolve()`` reads the clusters (``reading``) and the morphemes
(``tokens``) of a document and writes its text again: לו becomes לדן, ביתו becomes
הבית של דן. The document itself stays as it is. The rules:

- **A pronoun** (הוא) becomes the main mention of its cluster; a particle before it
  stays (והוא: ודן), and ב, כ, ל swallow the article of the main mention (למורה).
- **A preposition with a clitic** (אליו, ממנו, עמו) becomes its free form and the
  main mention (אל דן, מדן, עם דן). The signs of an object and of a possessor are
  prepositions too (אותו: את דן; שלו: של דן).
- **A verb with a clitic** (ראיתיו, לראותו) becomes the verb, את and the main mention.
- **A noun with a clitic** (ביתו) is freed: base form, article and של, which stands
  behind the adjectives (ביתו החדש: הבית החדש של דן). Without a rule for the base form
  the construct state is kept, whose letters are those before the clitic (אשתו: אשת
  דן). So it is for nouns that form a preposition with a particle before them (לדבריו:
  לדברי דן; בעיניו: בעיני דן), as a speaker would say it.
- **Nothing is guessed**: where no rule is safe the word stays, and
  ``ResolvedText.left`` says why.
"""

import unicodedata
from bisect import bisect_right
from typing import (
    TYPE_CHECKING,
    Any,
    Collection,
    Dict,
    Iterable,
    List,
    NamedTuple,
    Optional,
    Sequence,
    Set,
    Tuple,
)

from spacy.tokens import Doc, Span

from ..corpus.letters import ACCUSATIVE, POSSESSIVE, PRONOUN_ENDINGS
from ..mentions import kinds
from ..mentions.tree import Tree
from ..segmenter.normalize import has_hebrew, normalize_word
from ..tokens import COVERT_ARTICLE, PREFIX, get_segment

if TYPE_CHECKING:
    from .reading import Cluster, DocCoref

Chars = Tuple[int, int]

COPIED = "copied"
CHANGED = "changed"
INSERTED = "inserted"

PRONOUNS = "pronouns"
ALL = "all"

# Relations of which a mention of this kind holds a sentence of its own.
CLAUSES = ("acl", "advcl", "ccomp", "parataxis")

# Why a mention was left as it is.
NO_NAME = "main mention is a pronoun"
TOO_LONG = "main mention is too long"
PERSON = "first or second person"
OTHER_PRONOUN = "not a personal pronoun"
COPULA = "copula"
PREDICATE = "predicate or apposition"
NEW = "indefinite, or no noun"
WITHIN = "inside of a mention of its own cluster"
RELATIVE = "in a relative clause of its own cluster"
SPELLED_OUT = "the possessor follows"
BOUND = "its antecedent stands beside it"
NO_RULE = "no safe rule"


class Piece(NamedTuple):
    """A stretch of resolved text that comes from one place of the input.

    start (int), end (int): First character in the resolved text, and after the last.
    kind (str): ``copied`` (letter by letter), ``changed`` (the free form of a host,
        or its article: it stands for the host's letters), or ``inserted`` (it stands
        for a mention).
    source (Tuple[int, int]): The characters of the input that it stands for.
    main (Optional[Tuple[int, int]]): If inserted, the characters of the main mention
        that it was taken from.
    cluster (Optional[int]): If inserted, the number of its cluster, from 1.
    """

    start: int
    end: int
    kind: str
    source: Chars
    main: Optional[Chars]
    cluster: Optional[int]


class Left(NamedTuple):
    """A pronoun or clitic of a cluster that resolved text still has.

    start (int), end (int): Its characters in the input.
    cluster (int): The number of its cluster, from 1.
    reason (str): Why it was left.
    """

    start: int
    end: int
    cluster: int
    reason: str


class ResolvedText(str):
    """A text with its mentions replaced: a ``str`` that knows where it comes from.

    pieces (Tuple[Piece, ...]): What it consists of, in order and without gaps.
    left (Tuple[Left, ...]): Mentions that were not replaced, in order.
    """

    pieces: Tuple[Piece, ...]
    left: Tuple[Left, ...]

    def __new__(
        cls, text: str, pieces: Sequence[Piece] = (), left: Sequence[Left] = ()
    ) -> "ResolvedText":
        """Make it.

        text (str): The text.
        pieces (Sequence[Piece]): What it consists of.
        left (Sequence[Left]): Mentions that were not replaced.
        """
        self = super().__new__(cls, text)
        self.pieces = tuple(pieces)
        self.left = tuple(left)
        return self

    def __getnewargs__(self) -> Any:
        return str(self), self.pieces, self.left

    @property
    def text(self) -> str:
        """The text, as a plain string."""
        return str(self)

    def piece(self, index: int) -> Piece:
        """The piece that a character is in.

        index (int): The character in this text.
        RETURNS (Piece): Its piece.
        RAISES (IndexError): If there is no such character.
        """
        if not -len(self) <= index < len(self):
            raise IndexError(
                f"The resolved text has {len(self)} characters, so there is no "
                f"character {index}."
            )
        place = bisect_right(self.pieces, index % len(self), key=lambda p: p.start)
        return self.pieces[place - 1]

    def origin(self, index: int) -> Chars:
        """The characters of the input that a character stands for.

        index (int): The character in this text.
        RETURNS (Tuple[int, int]): First character and the one after the last: one
            character if it was copied, else the whole host or mention.
        RAISES (IndexError): If there is no such character.
        """
        piece = self.piece(index)
        if piece.kind != COPIED:
            return piece.source
        start = piece.source[0] + index % len(self) - piece.start
        return start, start + 1

    @property
    def origins(self) -> List[Chars]:
        """``origin`` of every character."""
        found: List[Chars] = []
        for piece in self.pieces:
            start = piece.source[0]
            for i in range(piece.end - piece.start):
                copied = piece.kind == COPIED
                found.append((start + i, start + i + 1) if copied else piece.source)
        return found


class _Bit(NamedTuple):
    """A piece that does not know yet where it will stand."""

    text: str
    kind: str
    source: Chars
    main: Optional[Chars] = None
    cluster: Optional[int] = None


class _Edit(NamedTuple):
    """Characters of the input and what stands for them.

    article (bool): Whether the first bit is an article that ב, כ, ל swallow.
    """

    start: int
    end: int
    bits: Tuple[_Bit, ...]
    article: bool = False


class _Part(NamedTuple):
    """A conjunct of a phrase: what joins it, whether an article begins it, the rest."""

    lead: str
    article: bool
    body: str


class _Phrase(NamedTuple):
    """A main mention, ready to be inserted.

    parts (Tuple[_Part, ...]): Its conjuncts.
    definite (bool): Whether it takes את.
    chars (Tuple[int, int]): The characters of the main mention.
    cluster (int): The number of its cluster, from 1.
    """

    parts: Tuple[_Part, ...]
    definite: bool
    chars: Chars
    cluster: int

    @property
    def text(self) -> str:
        return self.after("")

    def bit(self, text: str, source: Chars) -> _Bit:
        """A bit that stands for it, with a text that has more than the phrase."""
        return _Bit(text, INSERTED, source, self.chars, self.cluster)

    def after(self, particle: str) -> str:
        """The phrase after a particle that is written with it, if there is one.

        Prepositions are said again before each conjunct (לדן ולדנה).
        """
        again = particle if particle in _JOINED else ""
        joined = [_join(again if n else particle, p) for n, p in enumerate(self.parts)]
        return "".join(
            part.lead + text for part, text in zip(self.parts, joined, strict=True)
        )


def _join(particle: str, part: _Part) -> str:
    if part.article:
        return particle + ("" if particle in _SWALLOWING else "ה") + part.body
    # Digits and foreign letters are set off by a hyphen (ל-1990, ב-IBM).
    apart = particle and part.body[:1].isalnum() and not has_hebrew(part.body[0])
    return f"{particle}-{part.body}" if apart else particle + part.body


class _Target(NamedTuple):
    """A mention to be replaced.

    start (int), end (int): First token and token after the last one.
    cluster (int): Index of its cluster.
    kind (str): What it is (``mentions.kinds``).
    reason (str): Why it stays where it could be replaced; empty for most.
    """

    start: int
    end: int
    cluster: int
    kind: str
    reason: str


# ---------------------------------------------------------------------------
# The letters

_SWALLOWING = frozenset("בכל")
# Prepositions that are written with the next word.
_JOINED = frozenset("בכלמ")
_FINAL = str.maketrans("כמנפצ", "ךםןףץ")
_NOT_FINAL = str.maketrans("ךםןףץ", "כמנפצ")
# A plural noun keeps its י before these only if it has one (דבריהם, תפקידם).
_HEAVY = frozenset(("הם", "הן"))
_PERSONS = {
    "הוא": 3,
    "היא": 3,
    "הם": 3,
    "הן": 3,
    "אני": 1,
    "אנוכי": 1,
    "אנחנו": 1,
    "אנו": 1,
    "אתה": 2,
    "את": 2,
    "אתם": 2,
    "אתן": 2,
}
# Letters of a clitic: its person, and whether it is of several.
_CLITICS = {
    ending: (_PERSONS[pronoun], pronoun in ("הם", "הן", "אנחנו", "אתם", "אתן"))
    for pronoun, endings in PRONOUN_ENDINGS.items()
    for ending in endings
}
_REFLEXIVES = ("עצמו", "עצמה", "עצמם", "עצמן", "עצמי", "עצמך", "עצמנו")


def _final(text: str) -> str:
    """A word that ends here: its last letter in final form (דרכ: דרך)."""
    return text[:-1] + text[-1:].translate(_FINAL)


def _plain(text: str) -> str:
    return text.translate(_NOT_FINAL)


def _bare(text: str) -> str:
    """The letters that say which word it is, without those that only help to read."""
    return _plain(text).replace("ו", "").replace("י", "")


def _with_article(noun: str) -> str:
    """What follows an article or a particle: ו is then written twice (הוועדה)."""
    return "ו" + noun if noun[:1] == "ו" and noun[1:2] not in ("ו", "") else noun


# ---------------------------------------------------------------------------
# Prepositions: host letters before a clitic, and the free form. What ends in a space
# is a word of its own, the others are written with what follows.

_PREPOSITIONS: Dict[str, str] = {
    "ב": "ב",
    "ל": "ל",
    "כ": "כ",
    "מ": "מ",
    "ממ": "מ",
    "ממנ": "מ",
    "הימנ": "מ",
    "של": "של ",
    "אות": "את ",
    "אית": "עם ",
    "עמ": "עם ",
    "עימ": "עם ",
    "אל": "אל ",
    "אלי": "אל ",
    "על": "על ",
    "עלי": "על ",
    "מעל": "מעל ",
    "מעלי": "מעל ",
    "תחת": "תחת ",
    "תחתי": "תחת ",
    "מתחת": "מתחת ל",
    "מתחתי": "מתחת ל",
    "אחר": "אחרי ",
    "אחרי": "אחרי ",
    "לאחרי": "אחרי ",
    "מאחור": "מאחורי ",
    "לפנ": "לפני ",
    "בפנ": "בפני ",
    "מפנ": "מפני ",
    "בינ": "בין ",
    "ביני": "בין ",
    "בינות": "בין ",
    "בינותי": "בין ",
    "כמו": "כמו ",
    "כמות": "כמו ",
    "בלעד": "בלי ",
    "בלעדי": "בלי ",
    "אודות": "אודות ",
    "אודותי": "אודות ",
    "בעקבות": "בעקבות ",
    "בעקבותי": "בעקבות ",
    "לקראת": "לקראת ",
    "סביבותי": "סביב ",
    "מסביב": "מסביב ל",
    "לגב": "לגבי ",
    "כלפ": "כלפי ",
    "לפ": "לפי ",
}
# Before a clitic as they are, but for the final letter (ליד, בתוכ: בתוך).
_PREPOSITIONS.update(
    (host, _final(host) + " ")
    for host in (
        "אצל מול ליד בשביל למענ לגבי כלפי בגלל בזכות לעומת לפני בפני מפני מלפני "
        "מאחורי לפי מפי נגד כנגד נוכח עבור בעבור בעד סביב מאת באמצעות בתוכ מתוכ "
        "לתוכ בקרב מקרב בגינ לעבר לצד לידי בידי מידי במקומ מלבד דרכ כדוגמת "
        "במשכ במהלכ לאורכ לרוחב בעזרת בשמ בעניינ לכבוד לשמ"
    ).split()
)
# Words whose clitic does not mean a possessor or object that could be spelled out.
_NEVER = frozenset("עצמ לבד עוד הנ הינ אינ איננ ישנ מלוא זולת".split())
# Nor does that of such a word after a particle (בדרכו הביתה).
_IDIOMS = frozenset((("ב", "דרכ"),))

# ---------------------------------------------------------------------------
# Nouns

# Quantities of several (רובם): a construct state, if they stand for themselves.
_QUANTITIES = {"כול": "כל ", "כל": "כל ", "רוב": "רוב ", "מרבית": "מרבית "}
_QUANTITIES.update({"חלק": "חלק מ", "מקצת": "מקצת "})
_ARGUMENTS = ("nsubj", "obj", "iobj", "obl", "ROOT", "conj", "ccomp")
# What forms a preposition with a noun, and the noun's letters before a clitic. "על"
# is a word of its own, or joined by a hyphen.
_NOUN_PREPOSITIONS: Dict[str, Set[str]] = {
    "ל": set(
        "דברי דעת טענת גרסת גירסת הערכת אמונת הבנת תפיסת תפישת שיטת קביעת הודאת "
        "עדות בקשת דרישת זכות חובת רשות כבוד זכר זיכר צד ציד יד ידי עיני פני טובת "
        "שמחת צער הפתעת תדהמת אכזבת הנאת אורכ רוחב קראת עבר מענ עומת תוכ נגד תחושת "
        "סברת שיפוט פרנסת".split()
    ),
    "ב": set(
        "עיני ידי יד פני פי שמ עזרת אמצעות סיוע זכות אשמת גינ מקומ תוכ קרב ראשות "
        "הנהגת הנחיית ניצוח נוכחות היעדר העדר הסכמת רשות בעלות חסות השראת עקבותי "
        "שליטת ידיעת השתתפות הדרכת ניהול בימוי לוויית ליווי אחריות מהלכ משכ מרוצת "
        "יוזמת הזמנת פיקוד מחיצת עבור עד שביל גלל תומ הובלת עידוד תמיכת מסגרת".split()
    ),
    "מ": set("צד ציד טעמ פני ידי יד פי קרב תוכ בחינת אחורי את עבר לפני".split()),
    "כ": set("דוגמת דעת דברי".split()),
    "על": set("ידי יד פי פני חשבונ סמכ דעת אחריות שמ אודותי אודות גבי".split()),
}
# Verbal nouns that no article goes with (בבואו, עם צאתו).
_VERBAL = frozenset("בוא צאת היות שוב לכת שבת היוולד הגיע היכנס הימצא".split())
# Kin of irregular form, and the noun for mouth; letters before a clitic.
_SINGULARS = {
    "אבי": "אב",
    "חמי": "חם",
    "פי": "פה",
    "פ": "פה",
    "אופי": "אופי",
    "אופיי": "אופי",
    "אשת": "אישה",
    "אישת": "אישה",
    "אחות": "אחות",
    "חמות": "חמות",
    "מות": "מוות",
    "בת": "בת",
    "בנ": "בן",
    "שמ": "שם",
    "אמ": "אם",
    "אימ": "אם",
    "לב": "לב",
    "ליב": "לב",
}
# Nouns in ת whose base form taggers take for one in ה.
_SINGULARS.update(
    (noun, noun)
    for noun in (
        "יכולת מסגרת כותרת משכורת ביקורת נבחרת מולדת רשת קשת דלת כנסת רכבת תפארת "
        "תזמורת משמרת משמעת מחברת כתובת תוספת תחבושת מרפסת"
    ).split()
)
# Said with their clitic and של (בעיצומו של הקטיף).
_DOUBLED = frozenset(("עיצומ",))
_DUALS = frozenset(
    "עיני ידי רגלי אוזני אזני שיני ברכי שפתי כתפי כנפי קרסולי נעלי גרבי מכנסי משקפי "
    "אופני מותני ירכי צפורני ציפורני עפעפי קרני מעי שוקי אשכי".split()
)
_PLURALS = {
    "שנותי": "שנים",
    "נשותי": "נשים",
    "מילותי": "מילים",
    "מלותי": "מילים",
    "אימותי": "אימהות",
    "צורכי": "צרכים",
    "שירותי": "שירותים",
    "צוותי": "צוותים",
    "עיוותי": "עיוותים",
    "ביותי": "ביותים",
}
# Nouns of several that look like a verb of the first person (עמיתיו, ראיתיו).
_NOUNS_IN_T = frozenset("בתי עמיתי זיתי צמיתי קשתי צמתי שביתי עיתי".split())
_VERBAL_RELATIONS = frozenset(
    "ROOT conj acl acl:relcl advcl ccomp xcomp parataxis".split()
)
_DEMONSTRATIVES = frozenset(
    "זה זו זאת אלה אלו ההוא ההיא ההם ההן הללו הזה הזו הזאת האלה".split()
)


def _singular(host: str, candidates: Iterable[str]) -> Optional[str]:
    """The free form of a noun in the singular.

    host (str): Its letters before the clitic.
    candidates (Iterable[str]): What may be its base form, the surest first.
    RETURNS (Optional[str]): The form, None if none is safe.
    """
    if host in _SINGULARS:
        return _SINGULARS[host]
    known = [_final(c) for c in candidates if c]
    # משפחת: the base form of most such nouns ends in ה. Another candidate than the
    # host itself says more.
    for candidate in known:
        if candidate != _final(host) and _is_base(host, candidate):
            return candidate
    if not host.endswith("ת"):
        return None if host.endswith("י") and host not in known else _final(host)
    if host.endswith(("ות", "ית")) or host in known[:1]:
        return host
    return None


def _is_base(host: str, candidate: str) -> bool:
    """Whether a noun can have these letters before a clitic."""
    if not has_hebrew(candidate):
        return False
    one, other = _plain(host), _plain(candidate)
    # Before a clitic ה is ת, but ות is no form of it (but תאוות of תאווה is).
    if one.endswith("ות") and other.endswith("ה") and not other.endswith("ווה"):
        return False
    if one.endswith("ת") and other.endswith("ה"):
        return _bare(one[:-1]) == _bare(other[:-1])
    # A ת that only one of them has is another gender (חברתו of חבר).
    if one.endswith("ת") != other.endswith("ת"):
        return False
    if one.endswith("י") and not other.endswith("י"):
        return False
    return _bare(one) == _bare(other) or one == other[:-1] + "ה"


def _plural(host: str) -> str:
    """The free form of a plural noun, from its letters before the clitic."""
    if host in _PLURALS:
        return _PLURALS[host]
    if host.endswith("ותי"):
        return host[:-1]
    if host in _DUALS:
        return host + "ים"
    return host[:-1] + "ים"


def _absolute(
    host: str, clitic: str, number: str, candidates: Sequence[str]
) -> Optional[str]:
    """The free form of a noun with a clitic.

    The letters decide on number where they can, as taggers err more: before the
    clitics of he, she, you and we a plural noun has a י that a singular one has not
    (דבריו, תפקידו).

    host (str): Its letters before the clitic.
    clitic (str): The letters of the clitic.
    number (str): ``Sing``, ``Plur``, or nothing.
    candidates (Sequence[str]): What may be its base form, the surest first.
    RETURNS (Optional[str]): The form, None if none is safe.
    """
    plural = number == "Plur"
    if clitic in ("י", "ני"):
        several = host if host.endswith("י") else host + "י"
        return _plural(several) if plural else _singular(host, candidates)
    if host == "אחי":
        # אחיו is one brother or several.
        return {"Plur": "אחים", "Sing": "אח"}.get(number)
    if host.endswith("י") and host not in _SINGULARS:
        itself = host == candidates[0] and clitic not in _HEAVY
        if (
            not itself
            or host in _DUALS
            or host.endswith("ותי")
            or _plain(candidates[-1]) + "י" == host
        ):
            return _plural(host)
        # מינויו, and of several תנאיו.
        return host if not plural or host.endswith("וי") else host + "ם"
    if host.endswith("ות") and plural and candidates[0] != host:
        if not _is_base(host, candidates[0]):
            return host
    return _singular(host, candidates)


# ---------------------------------------------------------------------------
# Verbs


def _free_verb(host: str, base: str, lemma: str, features: Dict[str, str]) -> str:
    """The free form of a verb with a clitic; empty if none is safe.

    host (str): Its letters before the clitic.
    base (str), lemma (str): Its base form as the segmenter and the lemmatizer have it.
    features (Dict[str, str]): Its features.
    """
    known = [form for form in (base, lemma) if form and form != host]
    if features.get("VerbForm") == "Inf" or (
        host.startswith("ל") and len(host) > 3 and not features.get("Tense")
    ):
        return _free_infinitive(host, known, features.get("HebBinyan", ""))
    tense, person = features.get("Tense"), features.get("Person")
    if host.endswith("תי"):
        return host
    if host.endswith("ת") and not host.endswith("תת"):
        if tense == "Past" and person == "1":
            return host + "י"
        if tense == "Past" and person == "2":
            return host
        if tense == "Past" and person == "3" and features.get("Gender") == "Fem":
            weak = any(form.endswith("ה") for form in known)
            return host[:-1] + ("תה" if weak else "ה")
        # Of participles (מכבדתו) and without features both are possible.
        return host if features.get("VerbForm") == "Part" else ""
    if any(_plain(form) == _plain(host) + "ה" for form in known):
        return host + "ה"
    if tense == "Fut" and features.get("HebBinyan") == "PAAL":
        # ישמרהו: ישמור, but ילמדהו: ילמד.
        if not host.endswith(("ו", "ה", "א")) and "ו" not in host[2:]:
            return ""
    return _final(host)


def _free_infinitive(host: str, known: Sequence[str], binyan: str) -> str:
    stem = host[1:] if host.startswith("ל") else host
    for form in known:
        letters = _plain(form)
        simple = len(letters) == 3 and not letters.endswith("ה")
        if not simple or binyan not in ("", "PAAL") or "ו" in letters:
            continue
        # לחוקרו, לחקרו: לחקור.
        if _plain(stem) in (letters, letters[0] + "ו" + letters[1:]):
            return _final(f"ל{letters[:2]}ו{letters[2]}")
    return _final(host)


# ---------------------------------------------------------------------------


def resolve_text(
    coref: "DocCoref",
    mentions: str,
    *,
    clitics: bool,
    persons: Collection[int],
    longest: int,
) -> ResolvedText:
    """Write a text with its pronouns and clitics replaced (``DocCoref.resolve``).

    coref (DocCoref): The clusters of the document.
    mentions (str): ``pronouns``, or ``all``.
    clitics (bool): Replace clitics too.
    persons (Collection[int]): Grammatical persons of what is replaced.
    longest (int): The most tokens of a main mention.
    RETURNS (ResolvedText): The text and where it comes from.
    RAISES (ValueError): If an option has a value that it cannot have.
    """
    if mentions not in (PRONOUNS, ALL):
        raise ValueError(
            f"mentions={mentions!r} is not known. Give {PRONOUNS!r} or {ALL!r}."
        )
    if not set(persons) <= {1, 2, 3}:
        raise ValueError(
            f"persons={persons!r} is not possible. Give some of 1, 2 and 3, as (3,)."
        )
    if longest < 1:
        raise ValueError(f"longest={longest} is not possible. Give 1 or more.")
    writer = _Writer(coref, frozenset(persons), longest)
    return writer.write(mentions == ALL, clitics)


class _Writer:
    """Writes the text of one document again."""

    def __init__(
        self, coref: "DocCoref", persons: Collection[int], longest: int
    ) -> None:
        self.doc: Doc = coref.doc
        self.text: str = self.doc.text
        self.clusters: List[Cluster] = coref.clusters
        self.persons = persons
        self.longest = longest
        self.tree = Tree(self.doc)
        self.normal = [normalize_word(token.text).text for token in self.doc]
        self.rows = [get_segment(token) for token in self.doc]
        self.targets: List[_Target] = []
        # Pronouns inside of main mentions are asked for.
        self.by_start: Dict[int, List[_Target]] = {}
        self.phrases: Dict[Tuple[int, int], Optional[_Phrase]] = {}
        # Of each cluster, the heads and the first tokens of its mentions.
        self.heads: List[Set[int]] = []
        self.starts: List[Set[int]] = []
        for number, cluster in enumerate(self.clusters):
            self._collect(number, cluster)

    def _collect(self, number: int, cluster: "Cluster") -> None:
        bounds = [(span.start, span.end) for span in cluster]
        heads = {kinds.mention_head(self.doc, *b).i for b in bounds}
        self.heads.append(heads)
        main = (cluster.main.start, cluster.main.end)
        kind_of = {
            bound: self._kind(*bound, kind)
            for bound, kind in zip(bounds, cluster.kinds, strict=True)
        }
        nameless = kind_of[main] in (kinds.CLITIC, kinds.PRONOUN) or (
            self.normal[kinds.mention_head(self.doc, *main).i] in _INDEFINITE
        )
        self.starts.append({b[0] for b in bounds})
        reach = 0
        for start, end in sorted(bounds, key=lambda b: (b[0], -b[1])):
            kind = kind_of[start, end]
            inside = reach >= end
            reach = max(reach, end)
            if (start, end) == main or start == end:
                continue
            reason = ""
            if nameless:
                reason = NO_NAME
            elif inside:
                reason = WITHIN
            elif self._in_relative_clause(start, heads):
                reason = RELATIVE
            target = _Target(start, end, number, kind, reason)
            self.targets.append(target)
            self.by_start.setdefault(start, []).append(target)

    def _kind(self, start: int, end: int, kind: str) -> str:
        """The kind of a mention, also without tags."""
        alone = end - start == 1 and self.normal[start] in _PERSONS
        return kinds.PRONOUN if alone and kind != kinds.CLITIC else kind

    def _in_relative_clause(self, i: int, heads: Set[int]) -> bool:
        """Whether a token is in a clause that hangs from one of some tokens."""
        for _ in range(_DEEPEST):
            up = self.tree.head[i]
            if up == i:
                return False
            if self.tree.dep[i].startswith("acl") and up in heads:
                return True
            i = up
        return False

    # -- the whole text

    def write(self, everything: bool, clitics: bool) -> ResolvedText:
        """The text of the document."""
        edits: List[_Edit] = []
        left: List[Left] = []
        # Each character that was rewritten; outer mentions come first.
        taken = bytearray(len(self.text) + 1)
        order = sorted(self.targets, key=lambda t: (t.start - t.end, t.start))
        for target in order:
            pronoun = target.kind in (kinds.PRONOUN, kinds.CLITIC)
            if not pronoun and not everything:
                continue
            if target.kind == kinds.CLITIC and not clitics:
                continue
            span = self.doc[target.start : target.end]
            if any(taken[span.start_char : span.end_char]):
                continue
            found, reason = self._edits(target, 0, len(self.doc))
            if any(_overlaps(taken, edit) for edit in found):
                found, reason = [], NO_RULE
            if reason:
                number = self.clusters[target.cluster].number
                left.append(Left(span.start_char, span.end_char, number, reason))
            if found:
                # Also where only something is inserted behind it.
                taken[span.start_char : span.end_char] = b"\1" * (
                    span.end_char - span.start_char
                )
            for edit in found:
                taken[edit.start : edit.end] = b"\1" * (edit.end - edit.start)
            edits.extend(found)
        bits = self._compose(0, len(self.text), edits)
        return _assemble(bits, sorted(left))

    def _compose(self, start: int, end: int, edits: Iterable[_Edit]) -> List[_Bit]:
        """The characters of a stretch of the input, with the edits in it."""
        bits: List[_Bit] = []
        for edit in sorted(edits, key=lambda e: (e.start, e.end)):
            if edit.start > start:
                bits.append(self._copy(start, edit.start))
            bits.extend(edit.bits)
            start = edit.end
        if end > start:
            bits.append(self._copy(start, end))
        return bits

    def _copy(self, start: int, end: int) -> _Bit:
        return _Bit(self.text[start:end], COPIED, (start, end))

    # -- one mention

    def _edits(
        self, target: _Target, depth: int, limit: int
    ) -> Tuple[List[_Edit], str]:
        """What replaces a mention, or why it stays.

        target (_Target): The mention.
        depth (int): 0 in the text, 1 in a main mention that is inserted.
        limit (int): The token where the stretch ends that may be rewritten.
        """
        if target.kind == kinds.PRONOUN:
            return self._pronoun(target, depth)
        if target.kind == kinds.CLITIC:
            return self._clitic(target, depth, limit)
        return self._description(target)

    def _pronoun(self, target: _Target, depth: int) -> Tuple[List[_Edit], str]:
        i = target.start
        person = _PERSONS.get(self.normal[i])
        more = self.normal[i + 1 : target.end]
        if person is None or (more and (len(more) > 1 or more[0] not in _REFLEXIVES)):
            return [], OTHER_PRONOUN
        if self.tree.dep[i] in ("cop", "det", "amod"):
            return [], COPULA if self.tree.dep[i] == "cop" else OTHER_PRONOUN
        before = self._particle(i)
        if before == "ה":
            return [], OTHER_PRONOUN
        if person not in self.persons:
            return [], PERSON
        if target.reason:
            return [], target.reason
        phrase = self._phrase(target.cluster, depth)
        if phrase is None:
            return [], TOO_LONG
        edit = self._insertion(i, i + 1, before, phrase)
        if person == 3 and self._is_subject_of_noun(i):
            # הוא מורה: דן הוא מורה.
            bits = [
                bit._replace(text=bit.text + " ") if bit.kind == INSERTED else bit
                for bit in edit.bits
            ]
            here = self._copy(edit.start, edit.end)
            edit = edit._replace(bits=(*bits, here))
        return [edit], ""

    def _is_subject_of_noun(self, i: int) -> bool:
        """Whether a pronoun is a subject right before a noun that is the predicate."""
        tree, head = self.tree, self.tree.head[i]
        return (
            head > i
            and tree.dep[i].startswith("nsubj")
            and tree.pos[head] in ("NOUN", "PROPN")
            and not tree.has(head, "cop", "aux", "case")
            and (i == 0 or self.normal[i - 1] != "אין")
        )

    def _description(self, target: _Target) -> Tuple[List[_Edit], str]:
        """A noun phrase in the place of another one of its cluster."""
        start, end = target.start, target.end
        if target.reason:
            return [], target.reason
        head = kinds.mention_head(self.doc, start, end).i
        if self.tree.has(head, "cop", "nsubj:cop") or self.tree.dep[head] in (
            "appos",
            "nsubj:cop",
        ):
            return [], PREDICATE
        if self.tree.dep[head] == "ROOT" and self.tree.has(head, "nsubj"):
            return [], PREDICATE
        # מורה נכנס tells something new, and שם (there) is more than a name.
        nominal = self.tree.pos[head] in ("NOUN", "PROPN", "X", "")
        if not nominal or not self._is_definite(start, end, head):
            return [], NEW
        if end < len(self.doc) and self._is_clitic(end):
            return [], NO_RULE
        main = self.clusters[target.cluster].main
        if start < main.end and main.start < end:
            return [], WITHIN
        phrase = self._phrase(target.cluster, 0)
        if phrase is None:
            return [], TOO_LONG
        span = self.doc[start:end]
        if span.text == main.text:
            return [], ""
        return [self._insertion(start, end, self._particle(start), phrase)], ""

    def _insertion(self, start: int, end: int, particle: str, phrase: _Phrase) -> _Edit:
        """Tokens that a phrase replaces, after a particle that stays."""
        first, last = self.doc[start].idx, self._end(end - 1)
        text = phrase.after(particle)[len(particle) :]
        return self._edit(first, last, [phrase.bit(text, (first, last))])

    def _edit(
        self, start: int, end: int, bits: Sequence[_Bit], article: bool = False
    ) -> _Edit:
        """An edit that keeps the marks of direction around what it replaces."""
        first, last = start, end
        while first < last and _is_mark(self.text[first]):
            first += 1
        while last > first and _is_mark(self.text[last - 1]):
            last -= 1
        around = [self._copy(start, first)] if first > start else []
        behind = [self._copy(last, end)] if end > last else []
        return _Edit(start, end, (*around, *bits, *behind), article and not around)

    def _end(self, i: int) -> int:
        return self.doc[i].idx + len(self.doc[i])

    def _particle(self, i: int) -> str:
        """The letters of the particle right before a token in its word."""
        if i == 0 or self._end(i - 1) != self.doc[i].idx:
            return ""
        row = self.rows[i - 1]
        if row is None or row[0] != PREFIX:
            return ""
        return "".join(c for c in self.normal[i - 1] if "א" <= c <= "ת")

    def _is_clitic(self, i: int) -> bool:
        return self.tree.clitic[i] and i > 0 and self._end(i - 1) == self.doc[i].idx

    # -- clitics

    def _clitic(
        self, target: _Target, depth: int, limit: int
    ) -> Tuple[List[_Edit], str]:
        i, number = target.start, target.cluster
        letters = self.normal[i]
        person, several = _CLITICS.get(letters, (0, False))
        if not self._is_clitic(i) or not person:
            return [], NO_RULE
        if person not in self.persons:
            return [], PERSON
        if self.normal[i - 1] in _NEVER:
            return [], OTHER_PRONOUN
        if target.reason:
            return [], target.reason
        if i + 1 in self.starts[number] or self._joined_to(i - 1, self.heads[number]):
            return [], BOUND
        phrase = self._phrase(number, depth)
        if phrase is None:
            return [], TOO_LONG
        host = self.normal[i - 1]
        pos = self.tree.pos[i - 1]
        row = self.rows[i]
        own = () if row is None else row[1]
        past = pos != "ADP" and self._is_past(i, host, letters)
        nominal = not past and (
            pos in ("NOUN", "PROPN", "ADJ") or (POSSESSIVE in own and pos != "ADP")
        )
        free = self._preposition(i, host, letters, nominal)
        if free:
            return self._free_preposition(i, free, phrase), ""
        if host in _QUANTITIES and (several or host in ("כול", "כל", "רוב")):
            return self._quantity(i, host, several, phrase)
        if nominal:
            return self._noun(i, host, letters, phrase, limit)
        if past or pos in ("VERB", "AUX") or ACCUSATIVE in own:
            return self._verb(i, host, phrase)
        return [], NO_RULE

    def _is_past(self, i: int, host: str, letters: str) -> bool:
        """Whether a host is a verb of the kind of ראיתי, which taggers take for a noun.

        A noun has הם or הן after a י; before others it must be where verbs are.
        """
        if not host.endswith("תי") or host.endswith("ותי") or host in _NOUNS_IN_T:
            return False
        if letters in ("ם", "ן"):
            return True
        dep = self.tree.dep[i - 1]
        return letters in ("ו", "ה", "ך") and dep in _VERBAL_RELATIONS

    def _joined_to(self, i: int, heads: Set[int]) -> bool:
        """Whether a token is a conjunct of one of some tokens (דן ואשתו)."""
        return self.tree.dep[i] == "conj" and self.tree.head[i] in heads

    def _bits(self, i: int, free: str, phrase: _Phrase, text: str) -> List[_Bit]:
        """A changed host and what is inserted after it for its clitic.

        i (int): The clitic.
        """
        host = (self.doc[i - 1].idx, self._end(i - 1))
        clitic = (self.doc[i].idx, self._end(i))
        kind = COPIED if free == self.text[slice(*host)] else CHANGED
        return [_Bit(free, kind, host), phrase.bit(text, clitic)]

    def _whole(self, i: int, bits: Sequence[_Bit], article: bool = False) -> _Edit:
        return self._edit(self.doc[i - 1].idx, self._end(i), bits, article)

    def _preposition(
        self, i: int, host: str, letters: str, nominal: bool
    ) -> Optional[str]:
        """The free form of a preposition with a clitic; None for another host."""
        sure = host in ("ב", "ל", "כ", "מ", "ממנ", "ממ", "של", "אות")
        if nominal and not sure:
            return None
        if host == "את":
            return "את " if letters in ("כם", "כן") else "עם "
        if host == "אות" and self._is_demonstrative(i):
            return None
        if host in _PREPOSITIONS and (sure or self.tree.pos[i - 1] != "VERB"):
            return _PREPOSITIONS[host]
        if self.tree.pos[i - 1] != "ADP":
            return None
        base = self._base(i - 1)
        if base + "י" == host:
            return _final(base) + " "
        return _final(host) + " "

    def _is_demonstrative(self, i: int) -> bool:
        """Whether אותו is the word for the same one (אותו איש)."""
        head = self.tree.head[i - 1]
        return head > i and self.tree.dep[i - 1] in ("det", "amod")

    def _free_preposition(self, i: int, free: str, phrase: _Phrase) -> List[_Edit]:
        word = free.rstrip(" ")
        text = phrase.text
        if not free.endswith(" "):
            # מתחת ל: the last letter is written with what follows.
            word, joined = free[:-1], free[-1]
            text = phrase.after(joined)
            if not word:
                word, text = joined, text[len(joined) :]
            return [self._whole(i, self._bits(i, word, phrase, text))]
        if word == "את" and not phrase.definite:
            return [self._whole(i, self._bits(i, "", phrase, text))]
        return [self._whole(i, self._bits(i, word, phrase, " " + text))]

    def _quantity(
        self, i: int, host: str, several: bool, phrase: _Phrase
    ) -> Tuple[List[_Edit], str]:
        # הילדים כולם, מוסלמים ברובם: the clitic only repeats a noun.
        if self.tree.dep[i - 1] not in _ARGUMENTS or self._particle(i - 1) == "ב":
            return [], NO_RULE
        if not phrase.definite or not several:
            return [], NO_RULE
        return self._free_preposition(i, _QUANTITIES[host], phrase), ""

    def _verb(self, i: int, host: str, phrase: _Phrase) -> Tuple[List[_Edit], str]:
        token = self.doc[i - 1]
        lemma = normalize_word(token.lemma_).text
        free = _free_verb(host, self._base(i - 1), lemma, token.morph.to_dict())
        if not free:
            return [], NO_RULE
        sign = " את " if phrase.definite else " "
        return [self._whole(i, self._bits(i, free, phrase, sign + phrase.text))], ""

    def _base(self, i: int) -> str:
        """The base form of a host, as the segmenter has it."""
        row = self.rows[i]
        form = self.normal[i] if row is None else row[1][row[2]]
        return normalize_word(form).text.strip("_")

    def _noun(
        self, i: int, host: str, letters: str, phrase: _Phrase, limit: int
    ) -> Tuple[List[_Edit], str]:
        behind, adjectives = self._adjectives(i, limit)
        following = self.normal[behind] if behind < len(self.normal) else ""
        if following == "של" or self._has_possessor(i, behind):
            return [], SPELLED_OUT
        particle = self._particle(i - 1)
        before = particle[-1:]
        if not particle and i > 1 and self.normal[i - 2] == "-" and i > 2:
            before = self.normal[i - 3]
        elif not particle and i > 1:
            before = self.normal[i - 2]
        plural = letters in ("י", "ני") and "Plur" in self.doc[i - 1].morph.get(
            "Number", []
        )
        construct = _construct(host + "י" if plural else host)
        if (before, host) in _IDIOMS:
            return [], NO_RULE
        if host in _DOUBLED:
            here = (self.doc[i].idx, self._end(i))
            bit = phrase.bit(" של " + phrase.text, here)
            return [_Edit(here[1], here[1], (bit,))], ""
        if not adjectives and host in _NOUN_PREPOSITIONS.get(before, ()):
            if host == "יד":
                construct = "ידי"
            return self._construct(i, construct, phrase), ""
        if host in _VERBAL or following in _DEMONSTRATIVES:
            return self._construct(i, construct, phrase), ""
        token = self.doc[i - 1]
        # A name right behind would read as one name with what is inserted.
        if behind < len(self.doc) and self._is_apposition(behind, i - 1):
            if adjectives:
                return [], NO_RULE
            return self._construct(i, construct, phrase), ""
        lemma = normalize_word(token.lemma_).text
        number = "".join(token.morph.get("Number", [])[:1])
        noun = _absolute(host, letters, number, (self._base(i - 1), lemma))
        if noun is None:
            return self._construct(i, construct, phrase), ""
        bits = self._bits(i, noun, phrase, " של " + phrase.text)
        article = particle[-1:] not in _SWALLOWING
        source = bits[0].source
        if particle or article:
            spelled = _with_article(noun)
            if spelled != noun:
                bits[0] = bits[0]._replace(text=spelled, kind=CHANGED)
        head = [_Bit("ה", CHANGED, source)] if article else []
        if not adjectives:
            return [self._whole(i, [*head, *bits], article)], ""
        place = self._end(behind - 1)
        return [
            self._whole(i, [*head, bits[0]], article),
            _Edit(place, place, (bits[1],)),
        ], ""

    def _has_possessor(self, i: int, behind: int) -> bool:
        """Whether the possessor of a noun is also a word of its own.

        i (int): The clitic of the noun.
        behind (int): The token after its adjectives.
        """
        tree = self.tree
        if any(
            tree.dep[child] == "nmod:poss" and child > i for child in tree.after[i - 1]
        ):
            return True
        # שמו ותוארו של דן
        noun = behind + 1
        return (
            noun + 2 < len(tree)
            and self.normal[behind] == "ו"
            and tree.head[noun] == i - 1
            and self._is_clitic(noun + 1)
            and self.normal[noun + 2] == "של"
        )

    def _construct(self, i: int, host: str, phrase: _Phrase) -> List[_Edit]:
        return [self._whole(i, self._bits(i, host, phrase, " " + phrase.text))]

    def _is_apposition(self, i: int, noun: int) -> bool:
        return self.tree.pos[i] == "PROPN" and self.tree.head[i] == noun

    def _adjectives(self, i: int, limit: int) -> Tuple[int, bool]:
        """Where the adjectives of a possessed noun end.

        i (int): Its clitic.
        limit (int): The token where to stop.
        RETURNS (Tuple[int, bool]): The token after the last adjective, or after the
            clitic; and whether there are any.
        """
        tree = self.tree
        noun = i - 1
        described = {noun}
        # בית ספרו החדש: the adjective may belong to any noun of the chain.
        while tree.dep[noun] == "compound:smixut" and tree.head[noun] < noun:
            noun = tree.head[noun]
            described.add(noun)
        place, j = i + 1, i + 1
        while j < limit:
            if tree.dep[j] == "cc" and place > i + 1:
                j += 1
            end = self._adjective(j, limit, described)
            if end is None:
                break
            place = j = end
        return place, place > i + 1

    def _adjective(self, j: int, limit: int, described: Set[int]) -> Optional[int]:
        """Where an adjective with an article ends that begins at a token.

        j (int): The token.
        limit (int): The token where to stop.
        described (Set[int]): What it may describe; gets the adjective.
        RETURNS (Optional[int]): The token after it; None if there is none.
        """
        tree = self.tree
        i = j
        if j + 1 < limit and self._is_article(j):
            i = j + 1
        elif j + 2 < limit and self._is_article(j + 1) and tree.head[j + 2] == j:
            # יוצא הדופן
            i = j if tree.dep[j + 2] == "compound:smixut" else limit
        else:
            return None
        if i >= limit or tree.dep[i] not in ("amod", "conj"):
            return None
        if tree.pos[i] not in ("ADJ", "VERB", "NUM", "NOUN"):
            return None
        if tree.head[i] not in described:
            return None
        end = i + 1 if i > j else j + 3
        # With words of its own behind it, it is more than an adjective.
        if any(c >= end and tree.dep[c] != "conj" for c in tree.after[i]):
            return None
        described.add(i)
        return end

    def _is_article(self, i: int) -> bool:
        """Whether a token is the written article of the next one."""
        row = self.rows[i]
        return self.normal[i] == "ה" and row is not None and row[0] == PREFIX

    # -- main mentions

    def _phrase(self, number: int, depth: int) -> Optional[_Phrase]:
        """The main mention of a cluster, ready to be inserted; None if too long."""
        key = (number, depth)
        if key not in self.phrases:
            self.phrases[key] = self._make_phrase(number, depth)
        return self.phrases[key]

    def _make_phrase(self, number: int, depth: int) -> Optional[_Phrase]:
        main = self.clusters[number].main
        bounds = self._shorten(main)
        if bounds is None:
            return None
        start, end = bounds
        if end < len(self.doc) and self._is_clitic(end):
            # The letters before a clitic are no word.
            return None
        edits: List[_Edit] = []
        head = kinds.mention_head(self.doc, start, end).i
        if depth == 0:
            edits += self._inside(start, end, number)
        definite = self._is_definite(start, end, head)
        if not definite:
            more = self._articles(start, end, head)
            definite = bool(more)
            edits += more
        parts: List[_Part] = []
        begin = self.doc[start].idx
        for first, last in self._conjuncts(start, end, head):
            lead = self._write(begin, self.doc[first].idx, edits)
            parts.append(self._part(lead, first, last, edits))
            begin = self._end(last - 1)
        chars = (main.start_char, main.end_char)
        return _Phrase(tuple(parts), definite, chars, self.clusters[number].number)

    def _part(self, lead: str, first: int, last: int, edits: Sequence[_Edit]) -> _Part:
        start, end = self.doc[first].idx, self._end(last - 1)
        row = self.rows[first]
        if self._is_article(first) and first + 1 < last:
            body = self._write(self._end(first), end, edits)
            return _Part(lead, True, body.lstrip())
        covert = row is not None and COVERT_ARTICLE in row[1][: row[2]]
        opening = [e for e in edits if e.start == start and e.article]
        if opening:
            bits = opening[0].bits[1:]
            rest = [e for e in edits if e is not opening[0]]
            edits = [*rest, opening[0]._replace(bits=bits)]
        body = self._write(start, end, edits)
        return _Part(lead, bool(opening) or covert, body)

    def _write(self, start: int, end: int, edits: Sequence[_Edit]) -> str:
        """A stretch of the input with the edits in it, in one line."""
        if start == end:
            return ""
        here = [e for e in edits if start <= e.start and e.end <= end]
        text = "".join(bit.text for bit in self._compose(start, end, here))
        line = " ".join(text.split())
        # A lead keeps the space before its conjunction.
        before = " " if text[:1].isspace() else ""
        behind = " " if text[-1:].isspace() else ""
        return before + line + behind if line else " "

    def _inside(self, start: int, end: int, number: int) -> List[_Edit]:
        """Replaces the pronouns and clitics in a main mention that is inserted."""
        edits: List[_Edit] = []
        taken: Set[int] = set()
        for i in range(start, end):
            for target in self.by_start.get(i, ()):
                if target.end != i + 1 or target.cluster == number or i in taken:
                    continue
                if target.kind not in (kinds.PRONOUN, kinds.CLITIC):
                    continue
                if target.kind == kinds.CLITIC and i == start:
                    continue
                if any(start <= h < end and h != i for h in self.heads[target.cluster]):
                    # קריסטול וחבריו
                    continue
                found, _ = self._edits(target, 1, end)
                edits += found
                taken.add(i)
        return edits

    def _shorten(self, main: Span) -> Optional[Tuple[int, int]]:
        """The part of a main mention that is inserted.

        Relative clauses, appositions and what else hangs from it like a sentence are
        left out; then, of what is still too long, its last modifiers.

        RETURNS (Optional[Tuple[int, int]]): Its tokens; None if it stays too long.
        """
        tree = self.tree
        start, end = main.start, main.end
        head = kinds.mention_head(self.doc, start, end).i
        for i in range(head + 1, end):
            if tree.dep[i].startswith(_LOOSE) and start <= tree.head[i] < end:
                if head < tree.start[i] < end:
                    end = tree.start[i]
                    break
        if not any(tree.dep[i] == "conj" for i in tree.after[head] if i < end):
            for i in range(head + 1, end):
                if self.normal[i] in _BREAKS and not tree.quotes(start, i) % 2:
                    if self._spaced(i):
                        end = i
                        break
        if end - start > self.longest:
            modifiers = [i for i in tree.after[head] if tree.dep[i] != "conj"]
            for i in reversed(modifiers):
                if head < tree.start[i] < end and end - start > self.longest:
                    end = tree.start[i]
        while end - 1 > head and (
            tree.is_mark(end - 1) and not self._closes(start, end)
        ):
            end -= 1
        if end - start > self.longest:
            return None
        return start, end

    def _spaced(self, i: int) -> bool:
        """Whether a mark is none inside of a word (אל-על)."""
        return bool(self.doc[i].whitespace_) or self.normal[i] not in ("-", ".")

    def _closes(self, start: int, end: int) -> bool:
        """Whether the last token closes what was opened before."""
        if self.tree.open_brackets(start, end - 1) > 0:
            return True
        return self.tree.quotes(start, end) > 0 and not self.tree.quotes(start, end) % 2

    def _conjuncts(self, start: int, end: int, head: int) -> List[Tuple[int, int]]:
        """The conjuncts of a phrase, which repeat a particle before them."""
        tree = self.tree
        places = [start]
        for i in tree.after[head]:
            if tree.dep[i] != "conj" or i >= end:
                continue
            first = max(tree.start[i], head + 1)
            while first < i and (tree.dep[first] == "cc" or tree.is_mark(first)):
                first += 1
            places.append(first)
        bounds = list(zip(places, [*places[1:], end], strict=True))
        found: List[Tuple[int, int]] = []
        for n, (first, last) in enumerate(bounds):
            if n + 1 < len(bounds):
                while last - 1 > first and (
                    tree.dep[last - 1] == "cc" or tree.is_mark(last - 1)
                ):
                    last -= 1
            found.append((first, last))
        return found

    def _is_definite(self, start: int, end: int, head: int) -> bool:
        """Whether a phrase is definite: it has a name, an article or a possessor."""
        tree = self.tree
        for i in (head, *(c for c in tree.children(head) if start <= c < end)):
            if i != head and tree.dep[i] not in (
                *_DETERMINERS,
                "compound:smixut",
                "nmod:poss",
                "flat:name",
                "nummod",
                "conj",
            ):
                continue
            if tree.pos[i] in ("PROPN", "PRON", "X") or tree.definite[i]:
                return i == head or tree.dep[i] != "conj"
            if tree.dep[i] in _DETERMINERS and self.normal[i] in ("ה", "כל"):
                return True
            if tree.dep[i] == "compound:smixut" and i > head:
                return self._is_definite(start, end, i)
        row = self.rows[start]
        if row is not None and COVERT_ARTICLE in row[1]:
            return True
        return tree.pos[head] not in ("NOUN", "")

    def _articles(self, start: int, end: int, head: int) -> List[_Edit]:
        """Makes a phrase definite: who was spoken of before is known now.

        Only for a noun, or a chain of nouns, and its adjectives (מורה צעיר: המורה
        הצעיר); two or more of them may be counted (שלושה ילדים: שלושת הילדים).
        """
        tree = self.tree
        edits: List[_Edit] = []
        first = start
        if head == start + 1 and tree.pos[start] == "NUM":
            counted = _COUNTS.get(self.normal[start])
            if counted is None:
                return []
            chars = (self.doc[start].idx, self._end(start))
            if counted != self.normal[start]:
                edits.append(_Edit(*chars, (_Bit(counted, CHANGED, chars),)))
            first = head
        if first != head or tree.pos[head] != "NOUN":
            return []
        if any(tree.dep[i] == "conj" for i in tree.after[head] if i < end):
            return []
        noun = head
        while (
            noun + 1 < end
            and tree.dep[noun + 1] == "compound:smixut"
            and tree.head[noun + 1] == noun
        ):
            noun += 1
        edits.append(self._article(noun))
        i = noun + 1
        while i < end and tree.pos[i] in ("ADJ", "VERB") and tree.dep[i] == "amod":
            if not head <= tree.head[i] <= noun:
                return []
            if i + 1 < end and tree.dep[i + 1] == "compound:smixut":
                # מקפיאת דם: מקפיאת הדם
                i += 1
            edits.append(self._article(i))
            i += 1
        # What agrees with the noun or tells of an article it has cannot stay as it is.
        rest = range(i, end)
        if any(tree.dep[n] in _AGREEING and head <= tree.head[n] <= noun for n in rest):
            return []
        return [] if i < end and self._is_article(i) else edits

    def _article(self, i: int) -> _Edit:
        place = self.doc[i].idx
        chars = (place, self._end(i))
        letter = _Bit("ה", CHANGED, chars)
        if _with_article(self.normal[i]) == self.normal[i]:
            return _Edit(place, place, (letter,), True)
        return _Edit(place, place, (letter, _Bit("ו", CHANGED, chars)), True)


_LOOSE = (*CLAUSES, "appos")
_AGREEING = ("amod", "compound:smixut", "det:def")
# What a main mention is cut at, outside of quotation marks.
_BREAKS = frozenset((",", "-", ";", ":", "(", "..."))
_INDEFINITE = frozenset("מישהו מישהי משהו אחד אחת אחרים כלשהו".split())
# Links to the root of a sentence that are looked at; a tree may have a cycle.
_DEEPEST = 100
_DETERMINERS = ("det", "det:def", "det:quant")
# How many of known ones.
_COUNTS = {
    "שני": "שני",
    "שתי": "שתי",
    "שלושה": "שלושת",
    "ארבעה": "ארבעת",
    "חמישה": "חמשת",
    "שישה": "ששת",
    "שבעה": "שבעת",
    "שמונה": "שמונת",
    "תשעה": "תשעת",
    "עשרה": "עשרת",
    "שלוש": "שלוש",
    "ארבע": "ארבע",
    "חמש": "חמש",
    "שש": "שש",
    "שבע": "שבע",
    "תשע": "תשע",
    "עשר": "עשר",
}


def _construct(host: str) -> str:
    """The construct state of a noun, from its letters before a clitic."""
    return host[:-1] if host.endswith("ותי") else _final(host)


def _overlaps(taken: bytearray, edit: _Edit) -> bool:
    """Whether an edit falls into what was rewritten already."""
    if edit.start == edit.end:
        return all(taken[max(edit.start - 1, 0) : edit.end + 1])
    return any(taken[edit.start : edit.end])


def _is_mark(char: str) -> bool:
    """Whether a character is not seen: marks of direction and their like."""
    return unicodedata.category(char) == "Cf"


def _assemble(bits: Sequence[_Bit], left: Sequence[Left]) -> ResolvedText:
    """Lay pieces one after another; those copied from one stretch become one."""
    pieces: List[Piece] = []
    at = 0
    for bit in bits:
        if not bit.text:
            continue
        end = at + len(bit.text)
        last = pieces[-1] if pieces else None
        if (
            last is not None
            and last.kind == bit.kind == COPIED
            and last.source[1] == bit.source[0]
        ):
            source = (last.source[0], bit.source[1])
            pieces[-1] = last._replace(end=end, source=source)
        else:
            pieces.append(Piece(at, end, bit.kind, bit.source, bit.main, bit.cluster))
        at = end
    return ResolvedText("".join(bit.text for bit in bits), pieces, left)
