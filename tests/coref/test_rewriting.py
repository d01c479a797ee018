"""Resolved text: every clitic and preposition, by hand."""

import pickle
import re
from typing import Any, Dict, List, Sequence, Tuple

import pytest
from spacy.tokens import Doc

from spacy_he_coref.coref.clusters import set_clusters
from spacy_he_coref.coref.rewriting import (
    _PREPOSITIONS,
    BOUND,
    CHANGED,
    COPIED,
    COPULA,
    INSERTED,
    NEW,
    NO_NAME,
    NO_RULE,
    OTHER_PRONOUN,
    PERSON,
    PREDICATE,
    RELATIVE,
    SPELLED_OUT,
    TOO_LONG,
    WITHIN,
    ResolvedText,
)
from spacy_he_coref.corpus.docs import load_docs
from spacy_he_coref.tokens import CLITIC, HOST, PREFIX, WORD, Segment, set_segment
from tests.mentions.helpers import vocabulary
from tests.util import ROOT

PRONOUN_OF = {
    **dict.fromkeys(("ו", "הו"), "הוא"),
    **dict.fromkeys(("ם", "הם"), "הם"),
    **dict.fromkeys(("ן", "הן"), "הן"),
    **dict.fromkeys(("י", "ני"), "אני"),
    "ה": "היא",
    "נו": "אנחנו",
    "ך": "אתה",
    "כם": "אתם",
    "כן": "אתן",
}
UNWRITTEN = {"NOUN": ("_של_",), "VERB": ("את_",), "ADP": ()}
Bounds = Tuple[int, int]


def normal(text: str) -> str:
    return "".join(c for c in text if "א" <= c <= "ת")


def make(rows: str, clusters: Sequence[Sequence[Bounds]] = ()) -> Doc:
    """A document with segments, trees and clusters.

    A row has a segment, with ``+`` if the word goes on, tag, relation, head (counted
    from 1 in the sentence), and if there is more ``article`` (not written),
    ``base=...``, ``lemma=...`` and features. Empty lines are between sentences. The
    pronoun at the end of a word is a clitic.
    """
    tokens: List[Dict[str, Any]] = []
    for block in rows.strip().split("\n\n"):
        first = len(tokens)
        for row in block.split("\n"):
            text, tag, dep, head, *more = row.split(" ")
            joined = len(text) > 1 and text.endswith("+")
            named = dict(m.split("=", 1) for m in more if "=" in m)
            word = text[:-1] if joined else text
            tokens.append(
                {
                    "word": word,
                    "space": not joined,
                    "pos": tag,
                    "dep": dep,
                    "head": first + int(head) - 1 if int(head) else len(tokens),
                    "base": named.pop("base", word),
                    "lemma": named.pop("lemma", ""),
                    "morph": "|".join(f"{k}={v}" for k, v in sorted(named.items())),
                    "article": "article" in more,
                }
            )
    column = {key: [t[key] for t in tokens] for key in tokens[0]}
    doc = Doc(
        vocabulary(),
        words=column["word"],
        spaces=column["space"],
        pos=column["pos"],
        deps=column["dep"],
        heads=column["head"],
        lemmas=column["lemma"],
        morphs=column["morph"],
    )
    start = 0
    while start < len(doc):
        end = start + 1
        while end < len(doc) and not doc[end - 1].whitespace_:
            end += 1
        length = sum(len(token) for token in doc[start:end])
        last = end - 1
        clitic = end - start > 1 and doc[last].pos_ == "PRON"
        clitic = clitic and doc[last - 1].pos_ in UNWRITTEN
        clitic = clitic and normal(doc[last].text) in PRONOUN_OF
        # ב|הם is a preposition with a clitic; ש|הם is not.
        host = last - 1 if clitic else last
        for token in doc[start:end]:
            kind = HOST if token.i == host else PREFIX if token.i < host else CLITIC
            forms: Tuple[str, ...] = (column["base"][token.i],)
            if kind == CLITIC:
                unwritten = UNWRITTEN[doc[host].pos_]
                forms = (*unwritten, "_" + PRONOUN_OF[normal(token.text)])
            if column["article"][token.i]:
                forms = ("ה_", *forms)
            if end - start == 1:
                kind = WORD
            offset = token.idx - doc[start].idx
            segment = Segment(token.text, offset, kind, forms, len(forms) - 1)
            if end - start > 1 or forms != (token.text,):
                set_segment(doc, token.idx, segment, length)
        start = end
    bounds = [bound for cluster in clusters for bound in cluster]
    numbers = [n for n, cluster in enumerate(clusters) for _ in cluster]
    set_clusters(doc, bounds, numbers)
    return doc


# Main mentions as the subject of a first sentence: rows without what they hang from.
MAINS = {
    "דן": ["דן PROPN nsubj V"],
    "המורה": ["ה+ DET det:def 2", "מורה NOUN nsubj V"],
    "מורה צעיר": ["מורה NOUN nsubj V", "צעיר ADJ amod 1"],
    "הילדים": ["ה+ DET det:def 2", "ילדים NOUN nsubj V Number=Plur"],
    "דן ודנה": ["דן PROPN nsubj V", "ו+ CCONJ cc 3", "דנה PROPN conj 1"],
    "הרב והתלמיד": [
        "ה+ DET det:def 2",
        "רב NOUN nsubj V",
        "ו+ CCONJ cc 5",
        "ה+ DET det:def 5",
        "תלמיד NOUN conj 2",
    ],
    "ועדה": ["ועדה NOUN nsubj V"],
    "IBM": ["IBM PROPN nsubj V"],
    "ספר ישן": ["ספר NOUN nsubj V", "ישן ADJ amod 1"],
    "שלושה ילדים": ["שלושה NUM nummod 2", "ילדים NOUN nsubj V"],
    "כמה ילדים": ["כמה DET det 2", "ילדים NOUN nsubj V"],
}


def resolved(
    word: str,
    tag: str = "NOUN",
    base: str = "",
    feats: str = "",
    main: str = "דן",
    before: str = "",
    after: str = "",
    dep: str = "obj",
    lemma: str = "",
    **options: Any,
) -> ResolvedText:
    """The text of ``MAIN הגיע. BEFORE WORD AFTER ראינו.`` with the clitic replaced.

    word (str): Its segments with ``+`` between; the last is the clitic.
    """
    subject = MAINS[main]
    verb = len(subject) + 1
    rows = [row.replace(" V", f" {verb}") for row in subject]
    rows += ["הגיע VERB ROOT 0", f". PUNCT punct {verb}", ""]
    pieces = word.split("+")
    left, right = before.split(), after.split()
    host = len(left) + len(pieces) - 1
    root = host + 1 + len(right) + 1
    for piece in left:
        rows.append(f"{piece} ADP case {host}")
    for piece in pieces[:-2]:
        rows.append(f"{piece}+ {'ADP' if piece in 'בכלמ' else 'CCONJ'} case {host}")
    extra = f"base={base or pieces[-2]} lemma={lemma} {feats}".strip()
    rows.append(f"{pieces[-2]}+ {tag} {dep} {root} {extra}")
    relation = "nmod:poss" if tag == "NOUN" else "obl"
    rows.append(f"{pieces[-1]} PRON {relation} {host}")
    for place, piece in enumerate(right):
        kind = "DET det:def" if piece == "ה+" else "ADJ amod"
        rows.append(f"{piece} {kind} {host if piece != 'ה+' else host + 3 + place}")
    rows.append("ראינו VERB ROOT 0")
    rows.append(f". PUNCT punct {root}")
    clitic = verb + 1 + host
    doc = make("\n".join(rows), [[(0, len(subject)), (clitic, clitic + 1)]])
    assert doc[clitic]._.segment_kind == CLITIC
    text = doc.text
    found = doc._.coref.resolve(**options)
    assert doc.text == text
    check_map(doc, found)
    return found


def second(found: ResolvedText) -> str:
    return found.split(" . ", 1)[1].removesuffix(" ראינו . ").removesuffix(" ראינו .")


def check_map(doc: Doc, found: ResolvedText) -> None:
    """Every character comes from somewhere; what is copied is the same."""
    assert len(found.origins) == len(found)
    at = 0
    for piece in found.pieces:
        assert piece.start == at < piece.end
        at = piece.end
        start, end = piece.source
        assert 0 <= start < end <= len(doc.text)
        if piece.kind == COPIED:
            assert doc.text[start:end] == found[piece.start : piece.end]
        assert (piece.main is None) == (piece.kind != INSERTED)
        assert (piece.cluster is None) == (piece.kind != INSERTED)
        if piece.main is not None and piece.cluster is not None:
            cluster = doc._.coref[piece.cluster - 1]
            assert piece.source in cluster.offsets
            main = cluster.main
            assert piece.main == (main.start_char, main.end_char)
    assert at == len(found)


# Prepositions with the clitics of he, she, they (he and she), as they are written.
PREPOSITIONS = [
    ("ב", "ב", "בדן", "ו ה הם הן"),
    ("ל", "ל", "לדן", "ו ה הם הן"),
    ("כמו", "כמו", "כמו דן", "הו ה הם הן"),
    ("כמות", "כמו", "כמו דן", "ו ה ם ן"),
    ("ממנ", "מן", "מדן", "ו ה"),
    ("מ", "מ", "מדן", "הם הן"),
    ("של", "של", "של דן", "ו ה הם הן"),
    ("אות", "את", "את דן", "ו ה ם ן"),
    ("אלי", "אל", "אל דן", "ו ה הם הן"),
    ("עלי", "על", "על דן", "ו ה הם הן"),
    ("עמ", "עם", "עם דן", "ו ה ם ן"),
    ("עימ", "עם", "עם דן", "ו ה ם ן"),
    ("אית", "את", "עם דן", "ו ה ם ן"),
    ("את", "את", "עם דן", "ו ה ם ן"),
    ("אצל", "אצל", "אצל דן", "ו ה ם ן"),
    ("בינ", "בין", "בין דן", "ו ה ם ן"),
    ("ביני", "ביני", "בין דן", "הם הן"),
    ("לפני", "לפני", "לפני דן", "ו ה הם הן"),
    ("אחרי", "אחרי", "אחרי דן", "ו ה הם הן"),
    ("מאחורי", "מאחורי", "מאחורי דן", "ו ה הם הן"),
    ("תחתי", "תחת", "תחת דן", "ו ה הם הן"),
    ("מתחתי", "מתחת", "מתחת לדן", "ו ה הם הן"),
    ("מעלי", "מעל", "מעל דן", "ו ה הם הן"),
    ("מול", "מול", "מול דן", "ו ה ם ן"),
    ("ליד", "ליד", "ליד דן", "ו ה ם ן"),
    ("בשביל", "בשביל", "בשביל דן", "ו ה ם ן"),
    ("למענ", "למען", "למען דן", "ו ה ם ן"),
    ("לגבי", "לגבי", "לגבי דן", "ו ה הם הן"),
    ("כלפי", "כלפי", "כלפי דן", "ו ה הם הן"),
    ("לפי", "לפי", "לפי דן", "ו ה הם הן"),
    ("בגלל", "בגלל", "בגלל דן", "ו ה ם ן"),
    ("בזכות", "בזכות", "בזכות דן", "ו ה ם ן"),
    ("לעומת", "לעומת", "לעומת דן", "ו ה ם ן"),
    ("בלעדי", "בלעדי", "בלי דן", "ו ה הם הן"),
    ("אודותי", "אודות", "אודות דן", "ו ה הם הן"),
    ("בעקבותי", "בעקבות", "בעקבות דן", "ו ה הם הן"),
    ("לקראת", "לקראת", "לקראת דן", "ו ה ם ן"),
    ("לעבר", "לעבר", "לעבר דן", "ו ה ם ן"),
    ("נגד", "נגד", "נגד דן", "ו ה ם ן"),
    ("כנגד", "כנגד", "כנגד דן", "ו ה ם ן"),
    ("עבור", "עבור", "עבור דן", "ו ה ם ן"),
    ("בעבור", "בעבור", "בעבור דן", "ו ה ם ן"),
    ("בעד", "בעד", "בעד דן", "ו ה ם ן"),
    ("סביב", "סביב", "סביב דן", "ו ה ם ן"),
    ("סביבותי", "סביב", "סביב דן", "ו ה הם הן"),
    ("מסביב", "מסביב", "מסביב לדן", "ו ה ם ן"),
    ("מאת", "מאת", "מאת דן", "ו ה ם ן"),
    ("באמצעות", "באמצעות", "באמצעות דן", "ו ה ם ן"),
    ("בתוכ", "בתוך", "בתוך דן", "ו ה ם ן"),
    ("מתוכ", "מתוך", "מתוך דן", "ו ה ם ן"),
    ("לתוכ", "לתוך", "לתוך דן", "ו ה ם ן"),
    ("בקרב", "בקרב", "בקרב דן", "ם ן"),
    ("בפני", "בפני", "בפני דן", "ו ה הם הן"),
    ("מפני", "מפני", "מפני דן", "ו ה הם הן"),
    ("בגינ", "בגין", "בגין דן", "ו ה ם ן"),
    ("במקומ", "במקום", "במקום דן", "ו ה ם ן"),
    ("מלבד", "מלבד", "מלבד דן", "ו ה ם ן"),
    ("נוכח", "נוכח", "נוכח דן", "ו ה ם ן"),
    ("דרכ", "דרך", "דרך דן", "ו ה ם ן"),
    ("כ", "כ", "כדן", "הם הן"),
    ("הימנ", "מן", "מדן", "ו ה"),
    ("בינות", "בין", "בין דן", "ם ן"),
    ("בינותי", "בין", "בין דן", "הם הן"),
    ("לאחרי", "לאחר", "אחרי דן", "ו ה הם הן"),
    ("מלפני", "מלפני", "מלפני דן", "ו ה הם הן"),
    ("אודות", "אודות", "אודות דן", "ם ן"),
    ("בעקבות", "בעקבות", "בעקבות דן", "ם ן"),
    ("מפי", "מפי", "מפי דן", "ו ה הם הן"),
    ("מקרב", "מקרב", "מקרב דן", "ם ן"),
    ("לצד", "לצד", "לצד דן", "ו ה ם ן"),
    ("לידי", "לידי", "לידי דן", "ו ה הם הן"),
    ("בידי", "בידי", "בידי דן", "ו ה הם הן"),
    ("מידי", "מידי", "מידי דן", "ו ה הם הן"),
    ("כדוגמת", "כדוגמת", "כדוגמת דן", "ו ה ם ן"),
    ("במשכ", "במשך", "במשך דן", "ו ה ם ן"),
    ("במהלכ", "במהלך", "במהלך דן", "ו ה ם ן"),
    ("לאורכ", "לאורך", "לאורך דן", "ו ה ם ן"),
    ("לרוחב", "לרוחב", "לרוחב דן", "ו ה ם ן"),
    ("בעזרת", "בעזרת", "בעזרת דן", "ו ה ם ן"),
    ("בשמ", "בשם", "בשם דן", "ו ה ם ן"),
    ("בעניינ", "בעניין", "בעניין דן", "ו ה ם ן"),
    ("לכבוד", "לכבוד", "לכבוד דן", "ו ה ם ן"),
    ("לשמ", "לשם", "לשם דן", "ו ה ם ן"),
    # Of none of the lists: the base form.
    ("למרגלותי", "למרגלות", "למרגלות דן", "ו ה הם הן"),
]


@pytest.mark.parametrize(
    ("host", "base", "expected", "clitic"),
    [(*row[:3], clitic) for row in PREPOSITIONS for clitic in row[3].split()],
)
def test_prepositions(host: str, base: str, expected: str, clitic: str) -> None:
    assert second(resolved(f"{host}+{clitic}", "ADP", base)) == expected


# The clitics of I, we and you, with hosts of each form.
OTHERS = [
    ("ב+י", "בדן"),
    ("ל+נו", "לדן"),
    ("ל+ך", "לדן"),
    ("ל+כם", "לדן"),
    ("ל+כן", "לדן"),
    ("ממנ+י", "מדן"),
    ("ממ+ך", "מדן"),
    ("מאת+נו", "מאת דן"),
    ("אות+י", "את דן"),
    ("אות+ך", "את דן"),
    ("אות+נו", "את דן"),
    # Of את: the sign of the object before כם, כן, with before others.
    ("את+כם", "את דן"),
    ("את+כן", "את דן"),
    ("את+נו", "עם דן"),
    ("את+ך", "עם דן"),
    ("אית+י", "עם דן"),
    ("אל+י", "אל דן"),
    ("על+י", "על דן"),
    ("עלי+ך", "על דן"),
    ("עלי+נו", "על דן"),
    ("עלי+כם", "על דן"),
    ("לפנ+י", "לפני דן"),
    ("לפני+כן", "לפני דן"),
    ("אחר+י", "אחרי דן"),
    ("בלעד+י", "בלי דן"),
    ("כמו+ני", "כמו דן"),
    ("מעל+י", "מעל דן"),
    ("תחת+י", "תחת דן"),
    ("מתחת+י", "מתחת לדן"),
    ("מאחור+י", "מאחורי דן"),
    ("בפנ+י", "בפני דן"),
    ("מפנ+י", "מפני דן"),
    ("לפ+י", "לפי דן"),
    ("כמו+כם", "כמו דן"),
    ("של+י", "של דן"),
    ("של+ך", "של דן"),
    ("של+נו", "של דן"),
    ("של+כם", "של דן"),
    ("של+כן", "של דן"),
    ("ביני+נו", "בין דן"),
    ("ביני+כם", "בין דן"),
    ("לגב+י", "לגבי דן"),
    ("כלפ+י", "כלפי דן"),
]


def test_every_preposition_is_tested() -> None:
    hosts = {row[0] for row in PREPOSITIONS} | {row[0].split("+")[0] for row in OTHERS}
    assert set(_PREPOSITIONS) <= hosts


@pytest.mark.parametrize(("word", "expected"), OTHERS)
def test_first_and_second_persons(word: str, expected: str) -> None:
    found = resolved(word, "ADP")
    assert second(found) == word.replace("+", "")
    assert [left.reason for left in found.left] == [PERSON]
    assert second(resolved(word, "ADP", persons=(1, 2, 3))) == expected


# Nouns of one: host letters, base form, free form.
SINGULARS = [
    ("בית", "בית", "הבית"),
    ("ספר", "ספר", "הספר"),
    ("דרכ", "דרך", "הדרך"),
    ("שמ", "שם", "השם"),
    ("בנ", "בן", "הבן"),
    ("כספ", "כסף", "הכסף"),
    ("ארצ", "ארץ", "הארץ"),
    ("עט", "עט", "העט"),
    ("משפחת", "משפחה", "המשפחה"),
    ("דעת", "דעה", "הדעה"),
    ("חברת", "חברה", "החברה"),
    ("מפלגת", "מפלגה", "המפלגה"),
    ("הלוויית", "הלוויה", "ההלוויה"),
    ("נטיית", "נטייה", "הנטייה"),
    ("תאוות", "תאווה", "התאווה"),
    ("מות", "מוות", "המוות"),
    ("תכנית", "תוכנית", "התוכנית"),
    ("אישיות", "אישיות", "האישיות"),
    ("מכונית", "מכונית", "המכונית"),
    ("יכולת", "יכולת", "היכולת"),
    ("מסגרת", "מסגרת", "המסגרת"),
    ("בת", "בת", "הבת"),
    ("אחות", "אחות", "האחות"),
    ("אשת", "אישה", "האישה"),
    ("אשת", "איש", "האישה"),
    ("מינוי", "מינוי", "המינוי"),
    ("אופי", "אופי", "האופי"),
    ("ועדת", "ועדה", "הוועדה"),
    ("וועדת", "וועדה", "הוועדה"),
    ("מורה", "מורה", "המורה"),
    ("אימ", "אם", "האם"),
    # The segmenter took the letters for the base form, and once another word.
    ("רצונ", "רצונ", "הרצון"),
    ("יכולת", "יכולה", "היכולת"),
    ("תוקפנות", "תוקפנוה", "התוקפנות"),
]


@pytest.mark.parametrize("clitic", ["ו", "ה", "ם", "ן"])
@pytest.mark.parametrize(("host", "base", "noun"), SINGULARS)
def test_nouns(host: str, base: str, noun: str, clitic: str) -> None:
    word = f"{host}+{clitic}"
    # Taggers err on number; the letters do not.
    for feats in ("Number=Sing", "Number=Plur", ""):
        if feats == "Number=Plur" and (host.endswith("ות") or base == "מינוי"):
            continue
        assert second(resolved(word, base=base, feats=feats)) == f"{noun} של דן"


@pytest.mark.parametrize("clitic", ["י", "נו", "ך", "כם", "כן"])
@pytest.mark.parametrize(("host", "base", "noun"), SINGULARS[:11])
def test_nouns_of_first_and_second_persons(
    host: str, base: str, noun: str, clitic: str
) -> None:
    found = resolved(f"{host}+{clitic}", base=base, persons=(1, 2), feats="Number=Sing")
    assert second(found) == f"{noun} של דן"


# Nouns of several: host letters, base form, free form.
PLURALS = [
    ("דברי", "דבר", "הדברים"),
    ("ספרי", "ספר", "הספרים"),
    ("מעשי", "מעשה", "המעשים"),
    ("חיי", "חיים", "החיים"),
    ("פני", "פנים", "הפנים"),
    ("הורי", "הורה", "ההורים"),
    ("אנשי", "איש", "האנשים"),
    ("בתי", "בית", "הבתים"),
    ("צרכי", "צורך", "הצרכים"),
    ("צורכי", "צורך", "הצרכים"),
    ("סיכויי", "סיכוי", "הסיכויים"),
    ("קשיי", "קושי", "הקשיים"),
    ("בנותי", "בת", "הבנות"),
    ("אבותי", "אב", "האבות"),
    ("זכויותי", "זכות", "הזכויות"),
    ("תוצאותי", "תוצאה", "התוצאות"),
    ("רעיונותי", "רעיון", "הרעיונות"),
    ("שנותי", "שנה", "השנים"),
    ("מילותי", "מילה", "המילים"),
    ("שירותי", "שירות", "השירותים"),
    ("עיני", "עין", "העיניים"),
    ("ידי", "יד", "הידיים"),
    ("רגלי", "רגל", "הרגליים"),
    ("אוזני", "אוזן", "האוזניים"),
    ("שיני", "שן", "השיניים"),
    ("נעלי", "נעל", "הנעליים"),
    ("ועדותי", "ועדה", "הוועדות"),
    ("מזוודותי", "מזוודותי", "המזוודות"),
]


@pytest.mark.parametrize("clitic", ["ו", "ה", "הם", "הן", "נו", "ך", "כם", "כן"])
@pytest.mark.parametrize(("host", "base", "noun"), PLURALS)
def test_plural_nouns(host: str, base: str, noun: str, clitic: str) -> None:
    if clitic in ("הם", "הן"):
        # As KibutzR has them (design section 6).
        base = host
    found = resolved(
        f"{host}+{clitic}", base=base, feats="Number=Plur", persons=(1, 2, 3)
    )
    assert second(found) == f"{noun} של דן"


def test_mine_is_one_or_several() -> None:
    for number, noun in (("Sing", "הדבר"), ("Plur", "הדברים")):
        feats = f"Number={number}"
        found = resolved("דבר+י", base="דבר", feats=feats, persons=(1,))
        assert second(found) == f"{noun} של דן"
    found = resolved("בנות+י", base="בת", feats="Number=Plur", persons=(1,))
    assert second(found) == "הבנות של דן"
    found = resolved("עינ+י", base="עין", feats="Number=Plur", persons=(1,))
    assert second(found) == "העיניים של דן"


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        ("Number=Sing", "האח של דן"),
        ("Number=Plur", "האחים של דן"),
        # Not known: the construct state is of one and of several too.
        ("", "אחי דן"),
    ],
)
def test_brother_or_brothers(number: str, expected: str) -> None:
    assert second(resolved("אחי+ו", base="אח", feats=number)) == expected


@pytest.mark.parametrize(
    ("word", "base", "expected"),
    [
        ("אבי+ו", "אב", "האב של דן"),
        ("אבי+הם", "אב", "האב של דן"),
        ("חמי+ה", "חם", "החם של דן"),
        ("פי+ו", "פה", "הפה של דן"),
        # The base form is of another gender: the construct state is sure.
        ("דודת+ו", "דוד", "דודת דן"),
        ("בוא+ו", "בוא", "בוא דן"),
        ("ב+בוא+ו", "בוא", "בבוא דן"),
        ("תנאי+ה", "תנאי", "התנאי של דן"),
    ],
)
def test_irregular_nouns(word: str, base: str, expected: str) -> None:
    assert second(resolved(word, base=base, feats="Number=Sing")) == expected


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("ב+בית+ו", "בבית של דן"),
        ("ל+בית+ו", "לבית של דן"),
        ("כ+בית+ו", "כבית של דן"),
        ("מ+בית+ו", "מהבית של דן"),
        ("ו+בית+ו", "והבית של דן"),
        ("ש+בית+ו", "שהבית של דן"),
        ("כש+בית+ו", "כשהבית של דן"),
        ("ו+ב+בית+ו", "ובבית של דן"),
        ("ש+ל+בית+ו", "שלבית של דן"),
        ("ו+מ+בית+ו", "ומהבית של דן"),
        ("ב+ועדת+ו", "בוועדה של דן"),
    ],
)
def test_particles_before_nouns(word: str, expected: str) -> None:
    base = "ועדה" if "ועדת" in word else "בית"
    assert second(resolved(word, base=base)) == expected


@pytest.mark.parametrize(
    ("word", "before", "expected"),
    [
        ("ל+דברי+ו", "", "לדברי דן"),
        ("ל+דברי+הם", "", "לדברי דן"),
        ("ש+ל+דברי+ה", "", "שלדברי דן"),
        ("ל+דעת+ו", "", "לדעת דן"),
        ("ל+טענת+ם", "", "לטענת דן"),
        ("ב+עיני+ו", "", "בעיני דן"),
        ("ב+פני+ו", "", "בפני דן"),
        ("ל+פני+ו", "", "לפני דן"),
        ("מ+פני+הם", "", "מפני דן"),
        ("ב+ידי+ו", "", "בידי דן"),
        ("ב+יד+ו", "", "בידי דן"),
        ("ל+ידי+ה", "", "לידי דן"),
        ("מ+ידי+ו", "", "מידי דן"),
        ("ב+מקומ+ו", "", "במקום דן"),
        ("ב+עקבותי+ו", "", "בעקבות דן"),
        ("ב+עזרת+ו", "", "בעזרת דן"),
        ("ב+תוכ+ם", "", "בתוך דן"),
        ("ב+שמ+ו", "", "בשם דן"),
        ("ב+מסגרת+ה", "", "במסגרת דן"),
        ("מ+בחינת+ו", "", "מבחינת דן"),
        ("מ+צד+ו", "", "מצד דן"),
        ("מ+טעמ+ו", "", "מטעם דן"),
        ("ידי+ו", "על", "על ידי דן"),
        ("יד+ו", "על", "על ידי דן"),
        ("ידי+הם", "על - ", "על - ידי דן"),
        ("פי+ו", "על", "על פי דן"),
        ("חשבונ+ו", "על", "על חשבון דן"),
        # No preposition.
        ("דברי+ו", "", "הדברים של דן"),
        ("מ+דברי+ו", "", "מהדברים של דן"),
        ("עיני+ו", "", "העיניים של דן"),
    ],
)
def test_nouns_in_prepositions(word: str, before: str, expected: str) -> None:
    assert second(resolved(word, before=before, feats="Number=Plur")) == expected


def test_what_has_no_article_of_its_own() -> None:
    found = resolved("ב+עיצומ+ו", base="עיצום")
    assert second(found) == "בעיצומו של דן"
    found = resolved("ב+דרכ+ו", base="דרך")
    assert second(found) == "בדרכו"
    assert [left.reason for left in found.left] == [NO_RULE]
    assert second(resolved("לבד+ו", "NOUN")) == "לבדו"


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        ("ה+ חדש", "הבית החדש של דן"),
        ("ה+ חדש ה+ גדול", "הבית החדש הגדול של דן"),
        # A predicate, not an attribute.
        ("חדש", "הבית של דן חדש"),
    ],
)
def test_of_stands_behind_the_adjectives(after: str, expected: str) -> None:
    found = resolved("בית+ו", base="בית", after=after)
    assert second(found) == expected


def test_adjectives_make_a_noun_of_a_preposition() -> None:
    assert second(resolved("ב+עיני+ו", after="ה+ כחולות", feats="Number=Plur")) == (
        "בעיניים הכחולות של דן"
    )


# Verbs: host letters and clitic, base form, features, free form.
VERBS = [
    ("ראיתי+ו", "ראה", "Tense=Past Person=1", "ראיתי את דן"),
    ("ראיתי+ה", "ראה", "Tense=Past Person=1", "ראיתי את דן"),
    ("ראית+ם", "ראה", "Tense=Past Person=1", "ראיתי את דן"),
    ("ראית+ן", "ראה", "Tense=Past Person=1", "ראיתי את דן"),
    ("פגש+ו", "פגש", "Tense=Past Person=3 Gender=Masc", "פגש את דן"),
    ("שכנע+ה", "שכנע", "Tense=Past Person=3 Gender=Masc", "שכנע את דן"),
    ("הפכו+הו", "הפך", "Tense=Past Person=3 Number=Plur", "הפכו את דן"),
    ("אהבת+הו", "אהב", "Tense=Past Person=3 Gender=Fem", "אהבה את דן"),
    ("ראת+הו", "ראה", "Tense=Past Person=3 Gender=Fem", "ראתה את דן"),
    ("רא+הו", "ראה", "Tense=Past Person=3 Gender=Masc", "ראה את דן"),
    ("יעביר+ם", "העביר", "Tense=Fut Person=3 HebBinyan=HIFIL", "יעביר את דן"),
    ("ירא+הו", "יראה", "Tense=Fut Person=3", "יראה את דן"),
    ("מביא+ו", "הביא", "VerbForm=Part", "מביא את דן"),
    ("מזמינ+ן", "הזמין", "VerbForm=Part", "מזמין את דן"),
    ("מכבדת+ו", "כיבד", "VerbForm=Part", "מכבדת את דן"),
    ("העמיד+ו", "העמיד", "", "העמיד את דן"),
    ("לראות+ו", "ראה", "VerbForm=Inf HebBinyan=PAAL", "לראות את דן"),
    ("לראות+ה", "ראה", "VerbForm=Inf HebBinyan=PAAL", "לראות את דן"),
    ("להבינ+ם", "הבין", "VerbForm=Inf HebBinyan=HIFIL", "להבין את דן"),
    ("לחסל+ן", "חיסל", "VerbForm=Inf HebBinyan=PIEL", "לחסל את דן"),
    ("לשמר+ו", "שמר", "VerbForm=Inf HebBinyan=PAAL", "לשמור את דן"),
    ("לחוקר+ו", "חקר", "VerbForm=Inf HebBinyan=PAAL", "לחקור את דן"),
    ("לעזב+ה", "עזב", "VerbForm=Inf HebBinyan=PAAL", "לעזוב את דן"),
    ("למצוא+ם", "מצא", "VerbForm=Inf", "למצוא את דן"),
    ("לקחת+ו", "לקח", "VerbForm=Inf HebBinyan=PAAL", "לקחת את דן"),
    ("לתפוס+ו", "תפס", "VerbForm=Inf HebBinyan=PAAL", "לתפוס את דן"),
]


@pytest.mark.parametrize(("word", "base", "feats", "expected"), VERBS)
def test_verbs(word: str, base: str, feats: str, expected: str) -> None:
    assert second(resolved(word, "VERB", base, feats, dep="xcomp")) == expected


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("לראות+ני", "לראות את דן"),
        ("לראות+נו", "לראות את דן"),
        ("לראות+ך", "לראות את דן"),
        ("לראות+כם", "לראות את דן"),
        ("לראות+כן", "לראות את דן"),
        ("לראות+י", "לראות את דן"),
    ],
)
def test_verbs_of_first_and_second_persons(word: str, expected: str) -> None:
    feats = "VerbForm=Inf HebBinyan=PAAL"
    assert second(resolved(word, "VERB", "ראה", feats)) == word.replace("+", "")
    found = resolved(word, "VERB", "ראה", feats, persons=(1, 2))
    assert second(found) == expected


@pytest.mark.parametrize(
    ("word", "dep", "expected"),
    [
        ("ראיתי+ו", "ROOT", "ראיתי את דן"),
        ("ו+ראיתי+ה", "conj", "וראיתי את דן"),
        ("ראיתי+ם", "nsubj", "ראיתי את דן"),
        ("עמיתי+ו", "conj", "העמיתים של דן"),
        ("בתי+ה", "ROOT", "הבתים של דן"),
    ],
)
def test_verbs_that_were_taken_for_nouns(word: str, dep: str, expected: str) -> None:
    base = word.split("+")[-2][:-1]
    found = resolved(word, base=base, feats="Number=Plur", dep=dep)
    assert second(found) == expected


@pytest.mark.parametrize(
    ("word", "base", "feats"),
    [
        # I or you?
        ("ראית+ם", "ראה", ""),
        # ישמור is written with a letter that the host lacks.
        ("ישמר+הו", "שמר", "Tense=Fut Person=3 HebBinyan=PAAL"),
    ],
)
def test_verbs_without_a_safe_rule_stay(word: str, base: str, feats: str) -> None:
    found = resolved(word, "VERB", base, feats)
    assert second(found) == word.replace("+", "")
    assert [left.reason for left in found.left] == [NO_RULE]


@pytest.mark.parametrize(
    ("word", "tag", "base", "main", "expected"),
    [
        # ב, כ, ל swallow the article; מ, ו, של do not.
        ("ל+ו", "ADP", "ל", "המורה", "למורה"),
        ("ב+ו", "ADP", "ב", "המורה", "במורה"),
        ("ממנ+ו", "ADP", "מן", "המורה", "מהמורה"),
        ("של+ו", "ADP", "של", "המורה", "של המורה"),
        ("אות+ו", "ADP", "את", "המורה", "את המורה"),
        ("בית+ו", "NOUN", "בית", "המורה", "הבית של המורה"),
        ("ל+דברי+ו", "NOUN", "דבר", "המורה", "לדברי המורה"),
        # Who was spoken of is known.
        ("ל+ו", "ADP", "ל", "מורה צעיר", "למורה הצעיר"),
        ("אות+ו", "ADP", "את", "מורה צעיר", "את המורה הצעיר"),
        ("לראות+ו", "VERB", "ראה", "מורה צעיר", "לראות את המורה הצעיר"),
        ("אות+ה", "ADP", "את", "ועדה", "את הוועדה"),
        ("ל+ה", "ADP", "ל", "ועדה", "לוועדה"),
        ("אות+ם", "ADP", "את", "שלושה ילדים", "את שלושת הילדים"),
        # An object that stays indefinite has no את.
        ("אות+ם", "ADP", "את", "כמה ילדים", "כמה ילדים"),
        ("ראיתי+הם", "VERB", "ראה", "כמה ילדים", "ראיתי כמה ילדים"),
        # Prepositions are said again before each conjunct, other particles are not.
        ("ל+הם", "ADP", "ל", "דן ודנה", "לדן ולדנה"),
        ("מ+הם", "ADP", "מ", "דן ודנה", "מדן ומדנה"),
        ("ב+הם", "ADP", "ב", "הרב והתלמיד", "ברב ובתלמיד"),
        ("של+הם", "ADP", "של", "דן ודנה", "של דן ודנה"),
        ("ביני+הם", "ADP", "בין", "דן ודנה", "בין דן ודנה"),
        ("ביני+הם", "ADP", "בין", "הילדים", "בין הילדים"),
        ("בית+ם", "NOUN", "בית", "דן ודנה", "הבית של דן ודנה"),
        # Foreign letters.
        ("ב+ה", "ADP", "ב", "IBM", "ב-IBM"),
        ("של+ה", "ADP", "של", "IBM", "של IBM"),
    ],
)
def test_main_mentions(
    word: str, tag: str, base: str, main: str, expected: str
) -> None:
    assert second(resolved(word, tag, base, main=main)) == expected


@pytest.mark.parametrize(
    ("word", "dep", "expected"),
    [
        ("רוב+ם", "nsubj", "רוב הילדים"),
        ("כול+ם", "nsubj", "כל הילדים"),
        ("חלק+ם", "obj", "חלק מהילדים"),
        ("ו+מרבית+ם", "nsubj", "ומרבית הילדים"),
        # The clitic repeats the noun before.
        ("כול+ם", "amod", "כולם"),
        ("רוב+ם", "appos", "רובם"),
        ("ב+רוב+ם", "obl", "ברובם"),
        ("כול+ו", "nsubj", "כולו"),
    ],
)
def test_quantities(word: str, dep: str, expected: str) -> None:
    assert second(resolved(word, main="הילדים", dep=dep)) == expected


def test_prefixes_before_prepositions() -> None:
    assert second(resolved("ו+ב+ו", "ADP", "ב")) == "ובדן"
    assert second(resolved("ש+אות+ו", "ADP", "את")) == "שאת דן"
    assert second(resolved("ל+בינ+ה", "ADP", "בין")) == "לבין דן"


# -- pronouns


def pronoun(word: str, rest: str, main: str = "דן", **options: Any) -> ResolvedText:
    """``MAIN הגיע. WORD REST``: the word ends in a pronoun."""
    subject = MAINS[main]
    verb = len(subject) + 1
    rows = [row.replace(" V", f" {verb}") for row in subject]
    rows += ["הגיע VERB ROOT 0", f". PUNCT punct {verb}", ""]
    pieces = word.split("+")
    rows += [f"{piece}+ CCONJ cc {len(pieces) + 1}" for piece in pieces[:-1]]
    rows += [f"{pieces[-1]} PRON nsubj {len(pieces) + 1}", *rest.split("\n")]
    place = verb + 1 + len(pieces) - 1
    doc = make("\n".join(rows), [[(0, len(subject)), (place, place + 1)]])
    found = doc._.coref.resolve(**options)
    check_map(doc, found)
    return found


@pytest.mark.parametrize(
    ("word", "main", "expected"),
    [
        ("הוא", "דן", "דן"),
        ("היא", "המורה", "המורה"),
        ("הם", "הילדים", "הילדים"),
        ("הן", "מורה צעיר", "המורה הצעיר"),
        ("ו+הוא", "דן", "ודן"),
        ("ו+הוא", "המורה", "והמורה"),
        ("ש+הוא", "המורה", "שהמורה"),
        ("כש+הם", "דן ודנה", "כשדן ודנה"),
        ("ש+היא", "IBM", "ש-IBM"),
        # That one.
        ("ה+הוא", "דן", "ההוא"),
    ],
)
def test_pronouns(word: str, main: str, expected: str) -> None:
    rest = "ישן VERB ROOT 0\n. PUNCT punct 1"
    assert pronoun(word, rest, main).split(" . ")[1] == f"{expected} ישן"


def test_noun_as_predicate_keeps_the_pronoun_as_copula() -> None:
    noun = "רופא NOUN ROOT 0\n. PUNCT punct 1"
    assert pronoun("הוא", noun).split(" . ")[1] == "דן הוא רופא"
    assert pronoun("ו+היא", noun, "המורה").split(" . ")[1] == "והמורה היא רופא"
    adjective = "עייף ADJ ROOT 0\n. PUNCT punct 1"
    assert pronoun("הוא", adjective).split(" . ")[1] == "דן עייף"


def test_first_and_second_person_stay_unless_asked_for() -> None:
    rest = "ישן VERB ROOT 0\n. PUNCT punct 1"
    for word, person in (("אני", 1), ("אנחנו", 1), ("אתה", 2), ("אתן", 2)):
        found = pronoun(word, rest)
        assert found.split(" . ")[1] == f"{word} ישן"
        assert [left.reason for left in found.left] == [PERSON]
        assert pronoun(word, rest, persons=(person,)).split(" . ")[1] == "דן ישן"


def reasons(found: ResolvedText) -> List[str]:
    return [left.reason for left in found.left]


def test_copula_demonstrative_and_reflexive_stay() -> None:
    rows = """
דן PROPN nsubj:cop 3
הוא PRON cop 3
רופא NOUN ROOT 0
ו+ CCONJ cc 6
זה PRON nsubj 6
ידוע VERB conj 3
ל+ ADP case 8
עצמו PRON obl 6
"""
    doc = make(rows, [[(0, 1), (1, 2), (4, 5), (7, 8)]])
    found = doc._.coref.resolve()
    assert found == doc.text
    assert reasons(found) == [COPULA, OTHER_PRONOUN, OTHER_PRONOUN]


def test_pronoun_with_reflexive() -> None:
    rows = """
דן PROPN nsubj 2
הגיע VERB ROOT 0

הוא PRON nsubj 3
עצמו PRON det 1
ישן VERB ROOT 0
"""
    doc = make(rows, [[(0, 1), (2, 4)]])
    assert doc._.coref.resolve() == "דן הגיע דן עצמו ישן "


def test_cluster_of_pronouns_stays() -> None:
    rows = """
הוא PRON nsubj 2
אכל VERB ROOT 0

היא PRON nsubj 2
ראתה VERB ROOT 0
אות+ ADP case:acc 4 base=את
ו PRON obl 2
"""
    doc = make(rows, [[(0, 1), (5, 6)]])
    found = doc._.coref.resolve()
    assert found == doc.text
    assert reasons(found) == [NO_NAME]


def test_indefinite_pronoun_is_no_name() -> None:
    rows = """
מישהו NOUN nsubj 2
דפק VERB ROOT 0

הוא PRON nsubj 2
ברח VERB ROOT 0
"""
    found = make(rows, [[(0, 1), (2, 3)]])._.coref.resolve()
    assert reasons(found) == [NO_NAME]


# -- nested mentions

SPEECH = """
ה+ DET det:def 2
שר NOUN nsubj 3
הגיע VERB ROOT 0

דברי+ NOUN nsubj 6 base=דבר Number=Plur
ו PRON nmod:poss 1
של ADP case:gen 5
ה+ DET det:def 5
שר NOUN nmod:poss 1
הודפסו VERB ROOT 0
"""


def test_possessor_that_follows() -> None:
    doc = make(SPEECH, [[(0, 2), (4, 5), (6, 8)]])
    found = doc._.coref.resolve()
    assert found == doc.text
    assert reasons(found) == [SPELLED_OUT]


def test_shared_possessor_that_follows() -> None:
    rows = """
דן PROPN nsubj 2
הגיע VERB ROOT 0

שמ+ NOUN nsubj 8 base=שם
ו PRON nmod:poss 1
ו+ CCONJ cc 4
תואר+ NOUN conj 1
ו PRON nmod:poss 4
של ADP case:gen 7
דן PROPN nmod:poss 4
נרשמו VERB ROOT 0
"""
    doc = make(rows, [[(0, 1), (3, 4), (6, 7), (8, 9)]])
    assert doc._.coref.resolve() == doc.text


def test_mention_in_its_own_mention_stays() -> None:
    rows = """
ה+ DET det:def 2
בית NOUN nsubj 6
ש+ SCONJ mark 4
גרים VERB acl:relcl 2
ב+ ADP case 4
ו PRON obl 4
נהרס VERB ROOT 0

הוא PRON nsubj 2
קטן ADJ ROOT 0
"""
    doc = make(rows, [[(0, 6), (5, 6), (7, 8)]])
    found = doc._.coref.resolve()
    # The relative clause is not said again.
    assert found == "הבית שגרים בו נהרס הבית קטן "
    assert reasons(found) == [WITHIN]
    # The mention may end before the clause.
    doc = make(rows, [[(0, 2), (5, 6), (7, 8)]])
    found = doc._.coref.resolve()
    assert found == "הבית שגרים בו נהרס הבית קטן "
    assert reasons(found) == [RELATIVE]


STORY = """
דן PROPN nsubj 2
פגש VERB ROOT 0
את ADP case:acc 4
אחות+ NOUN obj 2 base=אחות Definite=Def
ו PRON nmod:poss 4
. PUNCT punct 2

היא PRON nsubj 2
חיבקה VERB ROOT 0
אות+ ADP case:acc 2 base=את
ו PRON obl 2
ו+ CCONJ cc 6
נתנה VERB conj 2
ל+ ADP case 6
ו PRON obl 6
ספר NOUN obj 6
. PUNCT punct 2
"""
STORY_CLUSTERS = [[(0, 1), (4, 5), (9, 10), (13, 14)], [(3, 5), (6, 7)]]


def test_clitic_in_an_inserted_main_mention() -> None:
    doc = make(STORY, STORY_CLUSTERS)
    found = doc._.coref.resolve()
    check_map(doc, found)
    assert found == ("דן פגש את האחות של דן . האחות של דן חיבקה את דן ונתנה לדן ספר . ")
    assert found.left == ()


def test_only_pronouns() -> None:
    doc = make(STORY, STORY_CLUSTERS)
    found = doc._.coref.resolve(clitics=False)
    check_map(doc, found)
    # What is inserted is no word of the text, so its clitics are spelled out.
    assert found == "דן פגש את אחותו . האחות של דן חיבקה אותו ונתנה לו ספר . "
    assert found.left == ()


def test_clitic_beside_its_antecedent_stays() -> None:
    rows = """
דן PROPN nsubj 5
ו+ CCONJ cc 3
אחות+ NOUN conj 1
ו PRON nmod:poss 3
הגיעו VERB ROOT 0

הם PRON nsubj 2
אכלו VERB ROOT 0
ב+ ADP case 4
בית+ NOUN obl 2
ו PRON nmod:poss 4
דן PROPN nsubj 2
שר VERB conj 2
"""
    clusters = [[(0, 1), (3, 4), (9, 10), (10, 11)], [(0, 4), (5, 6)]]
    doc = make(rows, clusters)
    found = doc._.coref.resolve()
    check_map(doc, found)
    assert found == "דן ואחותו הגיעו דן ואחותו אכלו בביתו דן שר "
    assert reasons(found) == [BOUND, BOUND]


def test_chain_of_nouns() -> None:
    rows = """
דן PROPN nsubj 2
הגיע VERB ROOT 0

בית NOUN nsubj 6 Definite=Cons
ספר+ NOUN compound:smixut 1
ו PRON nmod:poss 2
ה+ DET det:def 5
חדש ADJ amod 1
נסגר VERB ROOT 0
"""
    doc = make(rows, [[(0, 1), (4, 5)]])
    found = doc._.coref.resolve()
    check_map(doc, found)
    assert found == "דן הגיע בית הספר החדש של דן נסגר "


def test_apposition_after_a_possessed_noun() -> None:
    rows = """
דן PROPN nsubj 2
הגיע VERB ROOT 0

בנ+ NOUN nsubj 4 base=בן
ו PRON nmod:poss 1
יוסי PROPN appos 1
ישן VERB ROOT 0
"""
    doc = make(rows, [[(0, 1), (3, 4)]])
    # הבן של דן יוסי would be of one דן יוסי.
    assert doc._.coref.resolve() == "דן הגיע בן דן יוסי ישן "


# -- every mention

NEWS = """
דנה PROPN nsubj 3
כהן PROPN flat:name 1
נאמה VERB ROOT 0
. PUNCT punct 3

ה+ DET det:def 2
שרה NOUN nsubj 3
דיברה VERB ROOT 0
ב+ ADP case 5
משרד+ NOUN obl 3
ה PRON nmod:poss 5
ו+ CCONJ cc 8
היא PRON nsubj 9
צחקה VERB conj 3
. PUNCT punct 3

נתנו VERB ROOT 0
ל+ ADP case 3
שרה NOUN obl 1 article
פרחים NOUN obj 1
. PUNCT punct 1

כהן PROPN nsubj 4
היא PRON cop 4
ה+ DET det:def 4
שרה NOUN ROOT 0
. PUNCT punct 4
"""


def test_names_stay_unless_all_are_asked_for() -> None:
    clusters = [
        [(0, 2), (4, 6), (9, 10), (11, 12), (16, 17), (19, 20), (20, 21), (21, 23)]
    ]
    doc = make(NEWS, clusters)
    found = doc._.coref.resolve()
    assert found == (
        "דנה כהן נאמה . השרה דיברה במשרד של דנה כהן ודנה כהן צחקה . "
        "נתנו לשרה פרחים . כהן היא השרה . "
    )
    assert reasons(found) == [COPULA]
    found = doc._.coref.resolve("all")
    check_map(doc, found)
    assert found == (
        "דנה כהן נאמה . דנה כהן דיברה במשרד של דנה כהן ודנה כהן צחקה . "
        "נתנו לדנה כהן פרחים . דנה כהן היא השרה . "
    )
    assert reasons(found) == [COPULA, PREDICATE]


def test_of_nested_mentions_the_outermost_is_replaced() -> None:
    rows = """
דן PROPN nsubj 6
כהן PROPN flat:name 1
ו+ CCONJ cc 4
רות PROPN conj 1
לוי PROPN flat:name 4
באו VERB ROOT 0

דן PROPN nsubj 4
ו+ CCONJ cc 3
רות PROPN conj 1
שרו VERB ROOT 0

אחות+ NOUN nsubj 3 base=אחות
ו PRON nmod:poss 1
רקדה VERB ROOT 0
"""
    clusters = [[(0, 2), (6, 7), (11, 12)], [(3, 5), (8, 9)], [(0, 5), (6, 9)]]
    doc = make(rows, clusters)
    found = doc._.coref.resolve("all")
    check_map(doc, found)
    assert found == ("דן כהן ורות לוי באו דן כהן ורות לוי שרו האחות של דן כהן רקדה ")
    # The outer mention stands in one piece.
    assert [piece.cluster for piece in found.pieces if piece.kind == INSERTED] == [1, 2]


def test_particle_before_a_replaced_description() -> None:
    rows = """
ה+ DET det:def 2
רופא NOUN nsubj 4
הוותיק ADJ amod 2
הגיע VERB ROOT 0

שאלו VERB ROOT 0
ב+ ADP case 3
רופא NOUN obl 1 article
ו+ CCONJ cc 6
את ADP case:acc 7
ה+ DET det:def 7
רופא NOUN conj 3
"""
    doc = make(rows, [[(0, 3), (6, 7), (9, 11)]])
    found = doc._.coref.resolve("all")
    check_map(doc, found)
    assert found == "הרופא הוותיק הגיע שאלו ברופא הוותיק ואת הרופא הוותיק "


def test_descriptions_that_are_new_or_no_nouns_stay() -> None:
    rows = """
רופא NOUN nsubj 2
הגיע VERB ROOT 0

דן PROPN nsubj 2
גר VERB ROOT 0
שם ADV advmod 2
"""
    doc = make(rows, [[(0, 1), (2, 3), (4, 5)]])
    found = doc._.coref.resolve("all")
    assert found == doc.text
    assert reasons(found) == [NEW, NEW]


def test_pronoun_of_two_clusters_is_replaced_once() -> None:
    rows = """
דן PROPN nsubj 2
בא VERB ROOT 0

רון PROPN nsubj 2
ישן VERB ROOT 0
ב+ ADP case 4
עיצומ+ NOUN obl 2 base=עיצום
ו PRON nmod:poss 4
"""
    doc = make(rows, [[(0, 1), (6, 7)], [(2, 3), (6, 7)]])
    found = doc._.coref.resolve()
    check_map(doc, found)
    assert found == "דן בא רון ישן בעיצומו של דן "


# -- what is inserted


def long_story(subject: str, length: int, start: int = 0) -> Doc:
    """The subject (rows, of which ``V`` is the verb) came. He slept."""
    count = len(subject.strip().split("\n"))
    rows = re.sub(r" V\b", f" {count + 1}", subject.strip())
    rows += f"\nהגיע VERB ROOT 0\n. PUNCT punct {count + 1}\n\n"
    rows += "הוא PRON nsubj 2\nישן VERB ROOT 0"
    return make(rows, [[(start, start + length), (count + 2, count + 3)]])


@pytest.mark.parametrize(
    ("subject", "expected"),
    [
        # A relative clause
        (
            "ה+ DET det:def 2\nאיש NOUN nsubj V\nש+ SCONJ mark 4\nבא VERB acl:relcl 2",
            "האיש",
        ),
        # An apposition, and what stands between its commas
        (
            "דן PROPN nsubj V\n, PUNCT punct 3\nרופא NOUN appos 1",
            "דן",
        ),
        ("דן PROPN nsubj V\n, PUNCT punct 3\nמ+ ADP case 4\nחיפה PROPN nmod 1", "דן"),
        # A name that the mention begins with is kept with its title.
        (
            'ח"כ NOUN nsubj V\nדן PROPN flat:name 1\nכהן PROPN flat:name 1',
            'ח"כ דן כהן',
        ),
        # In quotation marks a comma is part of a name.
        (
            '" PUNCT punct 2\nשלום PROPN nsubj V\n, PUNCT punct 4\n'
            'כיתה PROPN flat:name 2\n" PUNCT punct 2',
            '" שלום , כיתה "',
        ),
        # Adjectives that agree, nouns in construct state
        (
            "בית NOUN nsubj V Definite=Cons\nספר NOUN compound:smixut 1\n"
            "קטן ADJ amod 1",
            "בית הספר הקטן",
        ),
        # Prepositional phrases stay.
        ("רופא NOUN nsubj V\nמ+ ADP case 3\nחיפה PROPN nmod 1", "הרופא מחיפה"),
        # An adjective that cannot be made definite.
        (
            "נייר NOUN nsubj V\nלא+ ADV advmod 4\n-+ PUNCT punct 4\nחלק ADJ amod 1",
            "נייר לא-חלק",
        ),
    ],
)
def test_main_mention_is_shortened(subject: str, expected: str) -> None:
    doc = long_story(subject, len(subject.split("\n")))
    found = doc._.coref.resolve()
    check_map(doc, found)
    assert found.split(" . ")[1] == f"{expected} ישן "


def test_longest() -> None:
    subject = """
ה+ DET det:def 2
מנהל NOUN nsubj V
הוותיק ADJ amod 2
של ADP case 5
בנק NOUN nmod:poss 2
ב+ ADP case 7
חיפה PROPN nmod 2
"""
    doc = long_story(subject, 7)
    text = "המנהל הוותיק של בנק בחיפה"
    for longest, expected in ((10, text), (6, "המנהל הוותיק של בנק"), (3, text[:12])):
        found = doc._.coref.resolve(longest=longest)
        assert found.split(" . ")[1] == f"{expected} ישן "
    found = doc._.coref.resolve(longest=1)
    assert found == doc.text
    assert reasons(found) == [TOO_LONG]


def test_covert_article_of_a_main_mention() -> None:
    rows = """
ב+ ADP case 2
גן NOUN obl 3 article
שיחקו VERB ROOT 0

הוא PRON nsubj 2
נעים ADJ ROOT 0
ו+ CCONJ cc 5
ב+ ADP case 2 base=ב
ו PRON obl 2
עצים NOUN conj 2
"""
    doc = make(rows, [[(1, 2), (3, 4), (7, 8)]])
    found = doc._.coref.resolve()
    check_map(doc, found)
    assert found == "בגן שיחקו הגן נעים ובגן עצים "


# -- the text


def test_marks_of_direction_and_niqqud() -> None:
    rows = """
דָּן PROPN nsubj 2
הגיע VERB ROOT 0

\u200fבֵּית+ NOUN nsubj 3 base=בית
וֹ\u200f PRON nmod:poss 1
נסגר VERB ROOT 0
ו+ CCONJ cc 6
\u202bהוּא\u202c PRON nsubj 6
שר VERB conj 3
ל+ ADP case 8 base=ל
וֹ PRON obl 6
"""
    doc = make(rows, [[(0, 1), (3, 4), (6, 7), (9, 10)]])
    found = doc._.coref.resolve()
    check_map(doc, found)
    assert found == ("דָּן הגיע \u200fהבית של דָּן\u200f נסגר ו\u202bדָּן\u202c שר לדָּן ")


def test_line_breaks_in_a_main_mention() -> None:
    rows = """
דנה PROPN nsubj 4
\n SPACE dep 1
כהן PROPN flat:name 1
הגיעה VERB ROOT 0

היא PRON nsubj 2
שרה VERB ROOT 0
"""
    rows = rows.replace("\n SPACE", "NEWLINE SPACE")
    doc = make(rows, [[(0, 3), (4, 5)]])
    words = [t.text.replace("NEWLINE", "\n") for t in doc]
    spaced = Doc(
        doc.vocab,
        words=words,
        pos=[t.pos_ for t in doc],
        deps=[t.dep_ for t in doc],
        heads=[t.head.i for t in doc],
    )
    set_clusters(spaced, [(0, 3), (4, 5)], [0, 0])
    found = spaced._.coref.resolve()
    check_map(spaced, found)
    assert found == spaced.text.replace("היא", "דנה כהן")


def test_without_clusters_and_without_text() -> None:
    doc = make(STORY)
    found = doc._.coref.resolve("all")
    assert found == doc.text
    assert [piece.kind for piece in found.pieces] == [COPIED]
    empty = Doc(vocabulary())._.coref.resolve()
    assert empty == "" and empty.pieces == () and empty.origins == []
    with pytest.raises(IndexError, match="no character 0"):
        empty.piece(0)


def test_without_tags_and_trees() -> None:
    doc = Doc(vocabulary(), words=["דן", "בא", "הוא", "ישב"])
    set_clusters(doc, [(0, 1), (2, 3)], [0, 0])
    assert doc._.coref.resolve() == "דן בא דן ישב "


def test_what_it_is_made_of() -> None:
    doc = make(STORY, STORY_CLUSTERS)
    found = doc._.coref.resolve()
    assert isinstance(found, str) and found.text == str(found)
    kinds = [(found[p.start : p.end], p.kind) for p in found.pieces][:5]
    assert kinds == [
        ("דן פגש את ", COPIED),
        ("ה", CHANGED),
        ("אחות", COPIED),
        (" של דן", INSERTED),
        (" . ", COPIED),
    ]
    inserted = found.pieces[3]
    assert doc.text[slice(*inserted.source)] == "ו"
    assert inserted.main == (0, 2) and inserted.cluster == 1
    at = found.index("דן .")
    assert found.piece(at) == inserted and found.origin(at) == inserted.source
    # Copied letter by letter.
    at = found.index("אחות")
    assert doc.text[slice(*found.origin(at + 3))] == "ת"
    assert [found.origin(i) for i in range(len(found))] == found.origins
    assert found.origin(-1) == found.origins[-1]
    with pytest.raises(IndexError, match="no character"):
        found.origin(len(found))


def test_survives_pickling_and_is_the_same_again() -> None:
    doc = make(STORY, STORY_CLUSTERS)
    found = doc._.coref.resolve()
    again = pickle.loads(pickle.dumps(found))
    assert again == found and type(again) is ResolvedText
    assert again.pieces == found.pieces and again.left == found.left
    assert again.origins == found.origins
    other = Doc(doc.vocab).from_bytes(doc.to_bytes())
    once = other._.coref.resolve()
    assert once == found and once.pieces == found.pieces


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mentions": "names"}, "mentions='names'"),
        ({"persons": (3, 4)}, "persons="),
        ({"longest": 0}, "longest=0"),
    ],
)
def test_impossible_options(options: Dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make(STORY)._.coref.resolve(**options)


@pytest.mark.parametrize(
    ("relation", "expected", "left"),
    [("acl", "דן בא הוא ישב ", [RELATIVE]), ("dep", "דן בא דן ישב ", [])],
)
def test_trees_with_a_cycle(relation: str, expected: str, left: List[str]) -> None:
    broken = Doc(
        vocabulary(),
        words=["דן", "בא", "הוא", "ישב"],
        pos=["PROPN", "VERB", "PRON", "VERB"],
        heads=[1, 2, 1, 2],
        deps=["nsubj", relation, "nsubj", relation],
    )
    set_clusters(broken, [(0, 1), (2, 3)], [0, 0])
    found = broken._.coref.resolve()
    assert found == expected and reasons(found) == left


def test_gold_documents() -> None:
    path = ROOT / "corpora" / "dev.spacy"
    if not path.is_file():
        pytest.skip(f"{path} is not there")
    inserted = left = 0
    for doc in load_docs(path):
        text = doc.text
        coref = doc._.coref
        check_map(doc, coref.resolve("all", persons=(1, 2, 3)))
        found = coref.resolve()
        check_map(doc, found)
        assert doc.text == text
        inserted += sum(piece.kind == INSERTED for piece in found.pieces)
        left += sum(reason == NO_RULE for reason in reasons(found))
    assert inserted > 200 and left < 5
