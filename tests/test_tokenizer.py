"""Written words: hyphens, quotes, numbers, addresses, marks, look-alikes."""

import pickle
from itertools import product

import pytest
import spacy
from spacy.language import Language
from spacy.tokenizer import Tokenizer

from spacy_he_coref.tokenizer import make_tokenizer

CONFIG = {
    "nlp": {"tokenizer": {"@tokenizers": "spacy_he_coref.HebrewTokenizer.v1"}},
}


@pytest.fixture(scope="module")
def nlp() -> Language:
    return spacy.blank("he", config=CONFIG)


# Expected words are separated by spaces.
CASES = {
    "number range": ("בשנים 1988-89, 6-4", "בשנים 1988-89 , 6-4"),
    "decimal range": ("5.1-6.2", "5.1-6.2"),
    "range after prefix": ("ב2-1 וב-2-1", "ב2-1 וב - 2-1"),
    "date": ("ב-1.6.90 14/5/1948.", "ב - 1.6.90 14/5/1948 ."),
    "month and year": ("ינואר-1990", "ינואר - 1990"),
    "time": ("ב20:30 (16:30-18:00)", "ב20:30 ( 16:30-18:00 )"),
    "decimal": ("3.5, 1,000,000.", "3.5 , 1,000,000 ."),
    "negative": ("מינוס -5", "מינוס -5"),
    "percent": ("3.5% ב-5% כ10%", "3.5 % ב - 5 % כ10 %"),
    "percent range": ("5%-10%", "5 % - 10 %"),
    "currency": ("50₪ ₪50 $5 ל-$100", "50 ₪ ₪ 50 $ 5 ל - $ 100"),
    "e-mail": ("dan@x.co.il, ל-dan.b@x.co.il.", "dan@x.co.il , ל - dan.b@x.co.il ."),
    "url": (
        "(www.ynet.co.il) ב-https://he.wikipedia.org/wiki/דף-ראשי.",
        "( www.ynet.co.il ) ב - https://he.wikipedia.org/wiki/דף-ראשי .",
    ),
    "url after prefix": ("בwww.a-b.co.il!", "ב www.a-b.co.il !"),
    "hashtag": ("#שלום_עולם, #ב2023", "#שלום_עולם , #ב2023"),
    "mention": ("@user_1: כן", "@user_1 : כן"),
    "gershayim": ('יו"ר ח"כ ארה"ב.', 'יו"ר ח"כ ארה"ב .'),
    "unicode gershayim": ("צה״ל ח״כ", "צה״ל ח״כ"),
    "quoted acronym": ('"אש"ף"', '" אש"ף "'),
    "geresh": ("צ'ק ג׳ירפה קולג' סקוץ'", "צ'ק ג׳ירפה קולג' סקוץ'"),
    "abbreviations": (
        "פרופ' רח' ולפרופ' וכו', ג'.",
        "פרופ' רח' ולפרופ' וכו' , ג' .",
    ),
    "single quotes": ("'שלום' אמר 'כל יום'", "' שלום ' אמר ' כל יום '"),
    "maqaf": ("ארצות־הברית", "ארצות ־ הברית"),
    "hyphens": ("תל-אביב-יפו בן–אדם", "תל - אביב - יפו בן – אדם"),
    "hyphen at an end": ("תת- -על", "תת - - על"),
    "dashes": ("כן -- לא א--ב", "כן -- לא א -- ב"),
    "prefix and number": ("ב-17 ב1992", "ב - 17 ב1992"),
    "prefix and English": ("ל-IBM לIBM", "ל - IBM לIBM"),
    "prefix and quote": ('ה"ניו יורק טיימס".', 'ה"ניו יורק טיימס " .'),
    "prefix, hyphen, quote": ('ה-"הארץ"', 'ה - " הארץ "'),
    "hyphen after quote": ('"אל-על"-יפה', '" אל - על " - יפה'),
    "niqqud": ('"שָׁלוֹם", אָבִיב.', '" שָׁלוֹם " , אָבִיב .'),
    "emoji": ("שלום😀 👍🏽!", "שלום 😀 👍🏽 !"),
    "emoji of several signs": ("👨\u200d👩\u200d👧 🇮🇱 ❤️", "👨\u200d👩\u200d👧 🇮🇱 ❤️"),
    "emoticons": ("כן:) :-( <3", "כן :) :-( <3"),
    "closing bracket and colon": ("(מערך):", "( מערך ) :"),
    "list number": ("8) (8", "8 ) ( 8"),
    "ellipsis": ("מה... כן… אז...לא", "מה ... כן … אז ... לא"),
    "brackets": ("(שלום) [1] ילד(ה) {א}", "( שלום ) [ 1 ] ילד ( ה ) { א }"),
    "missing space": ("שלום.מה נשמע?טוב מה,כן", "שלום . מה נשמע ? טוב מה , כן"),
    "speech": ('אמר:"כן".', 'אמר : " כן " .'),
    "initials": ("ת.ד. בי.בי.סי", "ת.ד. בי.בי.סי"),
    "sole letter": ("ביום ד.", "ביום ד ."),
    "slash": ("ו/או 1/2", "ו / או 1/2"),
    "phone": ("03-1234567", "03-1234567"),
}


@pytest.mark.parametrize("name", CASES)
def test_words(nlp: Language, name: str) -> None:
    text, expected = CASES[name]
    doc = nlp(text)
    assert [token.text for token in doc] == expected.split(" ")
    assert doc.text == text


def plain(doc: "spacy.tokens.Doc") -> list[str]:
    names = {}
    for look_alikes, kind in (('"״”“„', "Q"), ("'׳’", "G"), ("-־–—", "H")):
        names.update(dict.fromkeys(look_alikes, kind))
    names["''"] = "Q"
    return [
        "".join(names.get(char, char) for char in token.text.replace("''", '"'))
        for token in doc
    ]


@pytest.mark.parametrize("quote", ['"', "״", "”", "“", "„", "''"])
def test_quotes_are_alike(nlp: Language, quote: str) -> None:
    text = 'יו"ר ה"ניו יורק", "שלום". ("אל") ה-"הארץ" צה"ל!'
    assert plain(nlp(text.replace('"', quote))) == plain(nlp(text))


@pytest.mark.parametrize("geresh,hyphen", list(product("'׳’", "-־–—")))
def test_geresh_and_hyphens_are_alike(nlp: Language, geresh: str, hyphen: str) -> None:
    text = "צ'ק לפרופ' רח'. 'שלום' קולג' ב-17 1988-89 אל-על תת- -5 ל-IBM 5%-10%"
    other = text.replace("'", geresh).replace("-", hyphen)
    assert plain(nlp(other)) == plain(nlp(text))


@pytest.mark.parametrize("mark", ["\u200f", "\u200e", "\u200d", "\u202b", "\ufeff"])
def test_marks_stay_with_their_characters(nlp: Language, mark: str) -> None:
    text = 'אמר: "הארץ", ב-17 (צה"ל).'
    words = [token.text for token in nlp(text)]
    other = "".join(char if char == " " else char + mark for char in text)
    doc = nlp(other)
    assert [token.text.replace(mark, "") for token in doc] == words
    assert doc.text == other
    # Before the characters too, as in front of a quotation.
    other = f'{mark}"הארץ", {mark}ב-17'
    assert [token.text.replace(mark, "") for token in nlp(other)] == words[2:9]


@pytest.mark.parametrize(
    "text", ["", "שלום", " ", "\n\n", "  שלום \t עולם \n", "\u200f"]
)
def test_text_is_kept(nlp: Language, text: str) -> None:
    assert nlp(text).text == text


def test_default_emoticons_do_not_join_a_bracket_and_a_colon() -> None:
    # spaCy's own Hebrew tokenizer does: the reason for exceptions of ours.
    assert ")" not in [token.text for token in spacy.blank("he")("(מערך):")]


@pytest.mark.parametrize(
    "text,count",
    [
        ("א" * 10_000, 1),
        ("!" * 10_000, 1),
        ('"' * 10_000, 1),
        ("😀" * 10_000, 1),
        ("א-" * 5_000, 10_000),
        ("a@" * 5_000, 1),
    ],
)
def test_very_long_words(nlp: Language, text: str, count: int) -> None:
    doc = nlp(text)
    assert len(doc) == count
    assert doc.text == text


def test_serialization(nlp: Language) -> None:
    text = 'ב-17 ה"ניו יורק" כן:) ynet.co.il ת.ד.'
    words = [token.text for token in nlp(text)]
    tokenizer = nlp.tokenizer
    assert type(tokenizer) is Tokenizer
    other = spacy.blank("he").tokenizer.from_bytes(tokenizer.to_bytes())
    assert [token.text for token in other(text)] == words
    copy = pickle.loads(pickle.dumps(tokenizer))
    assert [token.text for token in copy(text)] == words


def test_saved_pipeline(nlp: Language, tmp_path) -> None:
    nlp.to_disk(tmp_path)
    text = "ב-17 :)"
    assert [t.text for t in spacy.load(tmp_path)(text)] == [t.text for t in nlp(text)]


def test_pipe_is_call(nlp: Language) -> None:
    texts = [text for text, _ in CASES.values()]
    ours = make_tokenizer(spacy.blank("he"))
    piped = [[token.text for token in doc] for doc in ours.pipe(texts)]
    assert piped == [[token.text for token in nlp(text)] for text in texts]
