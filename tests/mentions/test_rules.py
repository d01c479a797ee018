"""Every rule of the mention detector, on an example of its own."""

from typing import List

import pytest
from spacy.tokens import Doc

from spacy_he_coref.corpus.alignment import Treebank, align_document
from spacy_he_coref.corpus.docs import make_doc
from spacy_he_coref.corpus.kibutzr import find_kibutzr, read_kibutzr
from spacy_he_coref.mentions import MENTIONS, SETTINGS, Settings, find_mentions
from spacy_he_coref.mentions.lexicon import Lexicon
from spacy_he_coref.mentions.rules import DEPENDENTS, EXCLUSIONS, HEADS, VARIANTS
from spacy_he_coref.tokens import tokens_to_morphemes
from tests.mentions.helpers import SPEECH, rules, texts, tree, vocabulary
from tests.util import data_dir

# 1. Heads


def test_noun_head() -> None:
    rows = """
ילד NOUN nsubj 2
בכה VERB ROOT 0
"""
    assert texts(rows, "precision") == ["ילד"]
    assert rules(rows) == ["noun_head"]


def test_name_head() -> None:
    rows = """
רותם PROPN nsubj 2
שרה VERB ROOT 0
"""
    assert texts(rows) == ["רותם"]


def test_pronoun_head() -> None:
    rows = """
היא PRON nsubj 2
שרה VERB ROOT 0
ל+ ADP case 4
ו PRON obl 2
"""
    assert texts(rows) == ["היא", "ו"]


def test_clitics_are_mentions_beside_the_word_that_they_end() -> None:
    assert texts(SPEECH) == ["דברי ו של ה שר", "ו", "ה שר"]


def test_number_head() -> None:
    rows = """
שלושה NUM nsubj 4
מ+ ADP case 3
הם PRON nmod 1
נפצעו VERB ROOT 0
ב+ ADP case 7
5 NUM nummod 7
דקות NOUN obl 4
"""
    assert texts(rows) == ["שלושה מ הם", "הם", "5 דקות"]
    assert "שלושה מ הם" not in texts(rows, "precision")


def test_number_after_a_number_is_no_noun() -> None:
    rows = """
אלף NUM nummod 2
ילדים NOUN nsubj 3
רצו VERB ROOT 0
"""
    assert texts(rows) == ["אלף ילדים"]


def test_time_or_place_head() -> None:
    rows = """
אתמול ADV advmod 3
שם ADV advmod 3
נפלה VERB ROOT 0
מאוד ADV advmod 3
"""
    assert texts(rows) == ["אתמול", "שם"]


def test_vague_time_or_place_head() -> None:
    rows = """
כיום ADV advmod 2
נופלת VERB ROOT 0
"""
    assert texts(rows) == []
    assert texts(rows, "recall") == ["כיום"]


def test_free_relative_head() -> None:
    rows = """
מי ADV nsubj 4
ש+ SCONJ mark 3
בא VERB acl:relcl 1
שמח VERB ROOT 0
"""
    assert texts(rows) == ["מי ש בא"]
    assert texts("מי ADV nsubj 2\nבא VERB ROOT 0") == []


def test_construct_verb_head() -> None:
    rows = """
מחפשי VERB nsubj 4
ה+ DET det:def 3
עבודה NOUN compound:smixut 1
באו VERB ROOT 0
"""
    assert "מחפשי ה עבודה" in texts(rows)


def test_nominalized_head() -> None:
    rows = """
ה+ DET det:def 2
נבחר VERB nsubj 3
דיבר VERB ROOT 0
עם ADP case 6
ה+ DET det:def 6
צעירים ADJ obl 3
ב+ ADP case 8
גדול ADJ obl 3
"""
    assert texts(rows) == ["ה נבחר", "ה צעירים"]


def test_indefinite_nominalized_head() -> None:
    rows = """
עזרו VERB ROOT 0
ל+ ADP case 3
נזקקים VERB obl 1
"""
    assert texts(rows) == []
    assert texts(rows, "recall") == ["נזקקים"]


# What speaks against a head


def test_is_function_word() -> None:
    rows = """
ילד NOUN nsubj 4
זה PRON det 1
הוא PRON cop 4
גאון NOUN ROOT 0
"""
    assert texts(rows, "recall") == ["ילד זה", "גאון"]


def test_noun_of_a_fixed_expression_with_a_preposition_of_its_own() -> None:
    rows = """
גר VERB ROOT 0
סמוך ADV advmod 1
ל+ ADP case 4
גשר NOUN fixed 2
"""
    assert texts(rows) == ["גשר"]
    assert texts("על ADP case 3\nידי NOUN fixed 1\nרץ VERB ROOT 0", "recall") == []


def test_is_inside_name() -> None:
    rows = """
רות PROPN nsubj 3
לוי PROPN flat:name 1
שרה VERB ROOT 0
"""
    assert texts(rows, "recall") == ["רות לוי"]


def test_is_second_of_construct() -> None:
    two = """
כוס NOUN nsubj 3
תה NOUN compound:smixut 1
נשפכה VERB ROOT 0
"""
    assert texts(two) == ["כוס תה"]
    assert texts(two, "recall") == ["כוס תה", "תה"]
    three = """
ידית NOUN nsubj 4
כוס NOUN compound:smixut 1
תה NOUN compound:smixut 2
נשברה VERB ROOT 0
"""
    assert texts(three) == ["ידית כוס תה", "כוס תה"]


def test_refers_in_construct() -> None:
    action = """
הקמת NOUN nsubj 4
ה+ DET det:def 3
גשר NOUN compound:smixut 1
החלה VERB ROOT 0
"""
    assert texts(action) == ["הקמת ה גשר", "ה גשר"]
    name = """
תושבי NOUN nsubj 3
רמון PROPN compound:smixut 1
שמחו VERB ROOT 0
"""
    assert texts(name) == ["תושבי רמון"]
    alone = "\nרמון PROPN nsubj 2\nגדלה VERB ROOT 0"
    assert texts(name + alone) == ["תושבי רמון", "רמון", "רמון"]
    government = name.replace("תושבי", "ממשלת")
    assert texts(government + alone) == ["ממשלת רמון", "רמון", "רמון"]
    kind = name.replace("תושבי", "רחוב")
    assert texts(kind + alone) == ["רחוב רמון", "רמון"]


def test_construct_with_an_adjective_does_not_refer_to_its_second_noun() -> None:
    rows = """
הקמת NOUN nsubj 6
ה+ DET det:def 3
גשר NOUN compound:smixut 1
ה+ DET det:def 5
מהירה ADJ amod 1
החלה VERB ROOT 0
"""
    assert texts(rows) == ["הקמת ה גשר ה מהירה"]


def test_is_hyphenated() -> None:
    rows = """
עיר+ NOUN nmod 3
-+ PUNCT punct 3
מדינה NOUN nsubj 4
צמחה VERB ROOT 0
"""
    assert texts(rows, "recall") == ["עיר - מדינה"]
    rows = """
בן+ NOUN nsubj 4
-+ PUNCT punct 1
אדם NOUN compound:smixut 1
קם VERB ROOT 0
"""
    assert texts(rows, "recall") == ["בן - אדם"]


def test_hyphen_with_spaces_is_a_dash() -> None:
    rows = """
עיר NOUN nmod 3
- PUNCT punct 3
מדינה NOUN nsubj 4
צמחה VERB ROOT 0
"""
    assert texts(rows) == ["עיר", "עיר - מדינה"]


def test_is_attribute() -> None:
    rows = """
נער NOUN nsubj 4
בן NOUN acl 1
17 NUM nummod 2
שר VERB ROOT 0
"""
    assert texts(rows) == ["נער בן 17"]
    rows = """
דנה PROPN nsubj 6
, PUNCT punct 3
בת NOUN appos 1
20 NUM nummod 3
, PUNCT punct 3
שרה VERB ROOT 0
"""
    assert texts(rows) == ["דנה", "דנה , בת 20"]


def test_is_fraction() -> None:
    rows = """
שנה NOUN obl 4
ו+ CCONJ cc 3
חצי NOUN conj 1
חיכתה VERB ROOT 0
"""
    assert "חצי" not in texts(rows, "recall")


def test_is_in_institution() -> None:
    rows = """
משרד NOUN nsubj 7
ה+ DET det:def 3
תעשייה NOUN compound:smixut 1
ו+ CCONJ cc 6
ה+ DET det:def 6
מסחר NOUN conj 3
הודיע VERB ROOT 0
"""
    assert texts(rows) == ["משרד ה תעשייה ו ה מסחר"]
    assert "ה מסחר" in texts(rows, "recall")


def test_is_reflexive() -> None:
    rows = """
ה+ DET det:def 2
שר NOUN nsubj 4
עצמו PRON nmod 2
בא VERB ROOT 0
"""
    assert texts(rows) == ["ה שר עצמו"]
    assert "עצמו" in texts(rows, "recall")


def test_is_title_name() -> None:
    rows = """
ה+ DET det:def 2
שרה NOUN nsubj 5
רות PROPN appos 2
לוי PROPN flat:name 3
נאמה VERB ROOT 0
"""
    assert texts(rows) == ["ה שרה רות לוי"]
    assert texts(rows, "recall") == ["ה שרה", "ה שרה רות לוי", "רות לוי"]


def test_is_bracketed_number() -> None:
    rows = """
רות PROPN nsubj 5
( PUNCT punct 3
74 NUM appos 1
) PUNCT punct 3
הבקיעה VERB ROOT 0
"""
    assert texts(rows) == ["רות ( 74 )"]


def test_is_negated() -> None:
    rows = """
יצא VERB ROOT 0
ללא ADP case 3
מעיל NOUN obl 1
"""
    assert texts(rows) == []
    assert texts(rows, "recall") == ["מעיל"]
    definite = rows.replace("מעיל NOUN obl 1", "מעיל NOUN obl 1 definite")
    assert texts(definite) == ["מעיל"]


def test_is_idiom() -> None:
    rows = """
לעומת ADP case 2
זאת PRON obl 3
שרה VERB ROOT 0
"""
    assert texts(rows) == []
    assert texts(rows, "recall") == ["זאת"]


def test_is_in_pair() -> None:
    rows = """
משא NOUN nsubj 4
ו CCONJ cc 3
מתן NOUN conj 1
החל VERB ROOT 0
"""
    assert texts(rows, "recall") == ["משא ו מתן"]


# 2. Bounds


def test_grow_left() -> None:
    rows = """
ב+ ADP case 4
אותו PRON det 4
תת DET compound:affix 4
סעיף NOUN obl 5
נכתב VERB ROOT 0
"""
    assert texts(rows, "recall") == ["אותו תת סעיף"]


def test_covert_article_is_inside() -> None:
    doc = tree("גר VERB ROOT 0\nב+ ADP case 3\nעיר NOUN obl 1 article")
    (span,) = find_mentions(doc)
    assert span == (2, 3)
    ((start, end),) = tokens_to_morphemes(doc, [span])
    assert [m.form for m in doc._.morphemes[start:end]] == ["ה_", "עיר"]


def test_is_quantifier() -> None:
    rows = """
רק DET det 3
שני NUM nummod 3
ילדים NOUN nsubj 4
באו VERB ROOT 0
"""
    assert texts(rows) == ["שני ילדים"]
    assert texts(rows, "recall") == ["שני ילדים", "ילדים"]


def test_is_partitive() -> None:
    rows = """
אחד NUM det 4
מ+ ADP case 4
ה+ DET det:def 4
ילדים NOUN nsubj 5
בכה VERB ROOT 0
"""
    assert texts(rows) == ["אחד מ ה ילדים", "ה ילדים"]


def test_is_joined_noun() -> None:
    rows = """
תל+ PROPN flat:name 3
-+ PUNCT punct 3
אביב PROPN nsubj 4
גדלה VERB ROOT 0
"""
    assert texts(rows) == ["תל - אביב"]


def test_noun_with_a_preposition_before_the_head_is_outside() -> None:
    rows = """
ב+ ADP case 2
עיר NOUN nmod 4
ה+ DET det:def 4
גשר NOUN ROOT 0
ישן ADJ amod 4
"""
    assert texts(rows) == ["עיר", "ה גשר ישן"]


def test_is_modifier() -> None:
    rows = """
ה+ DET det:def 2
ספר NOUN nsubj 11
ה+ DET det:def 4
ישן ADJ amod 2
על ADP case 6
דרקון NOUN nmod 2
ש+ SCONJ mark 9
רות PROPN nsubj 9
כתבה VERB acl:relcl 2
. PUNCT punct 11
אבד VERB ROOT 0
"""
    assert texts(rows) == ["ה ספר ה ישן על דרקון ש רות כתבה", "דרקון", "רות"]


def test_pronouns_have_no_prepositional_phrases() -> None:
    rows = """
ראה VERB ROOT 0
אותם PRON obj 1
ב+ ADP case 4
עיר NOUN nmod 2
"""
    assert texts(rows) == ["אותם", "עיר"]


def test_is_relative() -> None:
    rows = """
ילד NOUN nsubj 4
ש+ SCONJ mark 3
רץ VERB acl:relcl 1
נפל VERB ROOT 0
"""
    assert texts(rows) == ["ילד ש רץ"]
    unmarked = """
ילד NOUN nsubj 3
רץ VERB acl:relcl 1
נפל VERB ROOT 0
"""
    assert texts(unmarked) == ["ילד"]
    content = """
שמח VERB ROOT 0
על ADP case 3
כך PRON obl 1
ש+ SCONJ mark 5
באה VERB acl:relcl 3
"""
    assert texts(content, "recall") == ["כך"]


def test_what_belongs_to_the_clause_is_outside() -> None:
    rows = """
יש VERB ROOT 0
ל+ ADP case 3
ה PRON obl 1
רצון NOUN nsubj 1
לשיר VERB xcomp 4
"""
    assert texts(rows) == ["ה", "רצון"]


def test_belongs_to_name() -> None:
    rows = """
ב+ ADP case 2
מאי PROPN obl 4
1990 NUM nummod 2
הפסידה VERB ROOT 0
מכבי PROPN nsubj 4
2 NUM nummod 5
"""
    assert texts(rows) == ["מאי 1990", "מכבי"]


def test_is_adverb_of_phrase() -> None:
    rows = """
ילד NOUN nsubj 4
מאוד ADV advmod 1
אפוא ADV advmod 1
רץ VERB ROOT 0
"""
    assert texts(rows) == ["ילד מאוד"]


def test_is_conjunct() -> None:
    rows = """
רות PROPN nsubj 4
ו+ CCONJ cc 3
דן PROPN conj 1
שרו VERB ROOT 0
"""
    assert texts(rows) == ["רות", "רות ו דן", "דן"]


def test_with_repeated_preposition() -> None:
    rows = """
נתן VERB ROOT 0
ל+ ADP case 3
רות PROPN obl 1
ו+ CCONJ cc 6
ל+ ADP case 6
דן PROPN conj 3
"""
    assert texts(rows) == ["רות", "דן"]
    assert texts(rows, "recall") == ["רות", "רות ו ל דן", "דן"]


def test_is_apposition() -> None:
    rows = """
רות PROPN nsubj 6
, PUNCT punct 4
ה+ DET det:def 4
שכנה NOUN appos 1
, PUNCT punct 4
שרה VERB ROOT 0
"""
    assert texts(rows) == ["רות", "רות , ה שכנה", "ה שכנה"]


def test_is_loose_part() -> None:
    rows = """
אלון NOUN nsubj 5
עתיק ADJ dep 1
ב+ ADP case 4
גן NOUN dep 1
נפל VERB ROOT 0
"""
    assert texts(rows) == ["אלון עתיק", "גן"]


@pytest.mark.parametrize(
    ("inside", "expected"),
    [
        ('ספר\n"\nגשר\n"', ['ספר " גשר "', "גשר"]),
        ("ספר\n(\nגשר\n)", ["ספר ( גשר )", "גשר"]),
        ("ספר\n(\nגשר\n.", ["ספר ( גשר", "גשר"]),
        ("ספר\n-\nגשר\n!", ["ספר - גשר", "גשר"]),
    ],
)
def test_make_symmetric(inside: str, expected: List[str]) -> None:
    first, opening, second, closing = inside.split("\n")
    rows = (
        f"{first} NOUN nsubj 5\n{opening} PUNCT punct 3\n{second} NOUN nmod 1\n"
        f"{closing} PUNCT punct 5\nנמכר VERB ROOT 0"
    )
    assert texts(rows) == expected


def test_quotation_marks_around_the_begin_are_taken_in() -> None:
    rows = """
" PUNCT punct 2
גשר NOUN nsubj 7
" PUNCT punct 2
של ADP case 6
ה+ DET det:def 6
סופר NOUN nmod:poss 2
נמכר VERB ROOT 0
"""
    assert texts(rows) == ['" גשר " של ה סופר', "ה סופר"]


# 3. Variants


def test_whole_phrase() -> None:
    rows = """
ה+ DET det:def 2
בית NOUN nsubj 4
שלנו ADJ amod 2
נבנה VERB ROOT 0
"""
    assert texts(rows) == ["ה בית שלנו"]


def test_first_conjunct() -> None:
    rows = """
רות PROPN nsubj 6
, PUNCT punct 3
דן PROPN conj 1
ו+ CCONJ cc 5
נגה PROPN conj 1
שרו VERB ROOT 0
"""
    assert texts(rows) == ["רות", "רות , דן ו נגה", "דן", "נגה"]


def test_first_of_list() -> None:
    rows = """
רות PROPN nsubj 6
, PUNCT punct 3
דן PROPN dep 1
, PUNCT punct 5
נגה PROPN dep 1
שרו VERB ROOT 0
"""
    assert texts(rows) == ["רות", "רות , דן , נגה", "דן", "נגה"]


def test_before_apposition() -> None:
    rows = """
ה+ DET det:def 2
שכנה NOUN nsubj 6
, PUNCT punct 4
רות PROPN appos 2
, PUNCT punct 4
שרה VERB ROOT 0
"""
    assert texts(rows) == ["ה שכנה", "ה שכנה , רות", "רות"]
    assert "ה שכנה" not in texts(rows, "precision")


def test_before_brackets() -> None:
    rows = """
גשר NOUN nsubj 5
( PUNCT punct 3
מעבר NOUN appos 1
) PUNCT punct 3
נפל VERB ROOT 0
"""
    assert texts(rows) == ["גשר ( מעבר )", "מעבר"]
    assert texts(rows, "recall") == ["גשר", "גשר ( מעבר )", "מעבר"]


def test_title_without_name() -> None:
    rows = """
דודה NOUN nsubj 3
רות PROPN appos 1
שרה VERB ROOT 0
"""
    assert texts(rows) == ["דודה רות"]
    assert "דודה" in texts(rows, "recall")


def test_before_comma() -> None:
    rows = """
רות PROPN nsubj 5
, PUNCT punct 4
ש+ SCONJ mark 4
שרה VERB acl:relcl 1
באה VERB ROOT 0
"""
    assert texts(rows) == ["רות , ש שרה"]
    assert texts(rows, "recall") == ["רות", "רות , ש שרה"]


def test_whole_of_quantifier() -> None:
    rows = """
כל DET det 3
ה+ DET det:def 3
ילדים NOUN nsubj 4
באו VERB ROOT 0
"""
    assert texts(rows) == ["כל ה ילדים", "ה ילדים"]
    assert texts("כל DET det 2\nילד NOUN nsubj 3\nבא VERB ROOT 0") == ["כל ילד"]


def test_counted_set() -> None:
    rows = """
חלק DET det 3
מ+ ADP case 3
הם PRON nsubj 4
באו VERB ROOT 0
"""
    assert texts(rows) == ["חלק מ הם", "הם"]
    assert texts(rows, "precision") == ["חלק מ הם"]


def test_without_number() -> None:
    rows = """
עשרה NUM nummod 2
ילדים NOUN nsubj 3
באו VERB ROOT 0
"""
    assert texts(rows) == ["עשרה ילדים"]
    assert texts(rows, "recall") == ["עשרה ילדים", "ילדים"]


def test_with_preposition_noun() -> None:
    rows = """
ב+ ADP case 4
מהלך NOUN fixed 1
ה+ DET det:def 4
דיון NOUN obl 5
צעקו VERB ROOT 0
"""
    assert texts(rows) == ["מהלך ה דיון", "ה דיון"]


# The whole


def test_every_rule_has_a_test() -> None:
    tests = {name for name in globals() if name.startswith("test_")}
    named = [rule.__name__ for rule, _ in (*HEADS, *EXCLUSIONS, *VARIANTS)]
    named += [rule.__name__ for rule in DEPENDENTS]
    assert [name for name in named if f"test_{name}" not in tests] == []


def test_the_setting_decides_how_many() -> None:
    rows = f"{SPEECH}\nכל DET det 3\nה+ DET det:def 3\nילד NOUN nsubj 4\nבא VERB ROOT 0"
    found = [set(find_mentions(tree(rows), Settings(name))) for name in SETTINGS]
    assert found[0] < found[1]
    assert found[1] <= found[2]


def test_unknown_setting() -> None:
    with pytest.raises(ValueError, match="precision, balanced, recall"):
        find_mentions(tree(SPEECH), Settings("all"))


def test_lists_can_be_replaced() -> None:
    doc = tree("פעם ADV advmod 2\nנפלה VERB ROOT 0")
    assert find_mentions(doc) == []
    lexicon = Lexicon(time_and_place=frozenset(["פעם"]))
    assert find_mentions(doc, Settings(lexicon=lexicon)) == [(0, 1)]


def test_lists_match_lemmas_and_forms() -> None:
    rows = """
כולם DET det 3 lemma=כול
ה+ DET det:def 3
ילדים NOUN nsubj 4
באו VERB ROOT 0
"""
    assert "ה ילדים" in texts(rows)
    # Without lemmas the forms do.
    assert len(find_mentions(tree(SPEECH, lemmas=False))) == len(texts(SPEECH))


def test_order_is_that_of_the_text() -> None:
    mentions = find_mentions(tree(SPEECH), Settings("recall"))
    assert mentions == sorted(set(mentions))


@pytest.mark.parametrize("text", ["", ".", "?! ...", "only Latin words", "123"])
def test_no_hebrew_no_mentions(text: str) -> None:
    words = text.split()
    doc = Doc(
        vocabulary(),
        words=words,
        pos=["NOUN"] * len(words),
        heads=[0] * len(words),
        deps=["dep"] * len(words),
    )
    assert find_mentions(doc, Settings("recall")) == []


def test_one_word() -> None:
    assert texts("שלום NOUN ROOT 0") == ["שלום"]


def bare_doc(**values: List[str]) -> Doc:
    vocab = vocabulary()
    return Doc(vocab, words=["ילד", "בא"], **values)


def test_missing_tags_and_trees_name_the_component() -> None:
    with pytest.raises(ValueError, match="'morphologizer'"):
        find_mentions(bare_doc())
    with pytest.raises(ValueError, match="ילד בא.*'parser'"):
        find_mentions(bare_doc(pos=["NOUN", "VERB"]))


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("dep", ["conj", "appos", "nmod", "dep", "compound:smixut"])
@pytest.mark.parametrize(
    "heads", [[1, 0, 1, 2], [1, 2, 0, 0], [0, 1, 2, 3], [3, 0, 1, 2], [1, 2, 3, 0]]
)
def test_broken_trees(heads: List[int], dep: str, setting: str) -> None:
    doc = Doc(
        vocabulary(),
        words=["בית", "ספר", "מ", "אבן"],
        heads=heads,
        deps=[dep, dep, "case", dep],
        pos=["NOUN", "NOUN", "ADP", "NOUN"],
    )
    for start, end in find_mentions(doc, Settings(setting)):
        assert 0 <= start < end <= 4


def test_missing_labels() -> None:
    rows = """
ילד NOUN nsubj 2
בא VERB ROOT 0
עם ADP  4
כלב NOUN  2
"""
    assert texts(rows) == ["ילד", "כלב"]


@pytest.mark.parametrize("dep", ["conj", "nmod", "appos", "compound:smixut"])
@pytest.mark.parametrize("flat", [True, False])
def test_long_sentence(dep: str, flat: bool) -> None:
    length = 20_000
    doc = Doc(
        vocabulary(),
        words=["בית"] * length,
        pos=["NOUN"] * length,
        deps=["ROOT"] + [dep] * (length - 1),
        heads=[0] + ([0] * (length - 1) if flat else list(range(length - 1))),
    )
    assert (0, length) in find_mentions(doc)


@pytest.fixture(scope="module")
def dev() -> List[Doc]:
    data = data_dir()
    treebank = Treebank.from_directory(data / "ud" / "htb")
    vocab = vocabulary()
    return [
        make_doc(vocab, document, align_document(document, treebank, False), "dev")
        for document in map(read_kibutzr, find_kibutzr(data / "kibutzr")["dev"])
    ]


def test_figures_on_gold_trees(dev: List[Doc]) -> None:
    def score(setting: str) -> List[float]:
        right = ours = theirs = 0
        for doc in dev:
            found = tokens_to_morphemes(doc, find_mentions(doc, Settings(setting)))
            spans = [(span.start, span.end) for span in doc.spans[MENTIONS]]
            gold = set(tokens_to_morphemes(doc, spans))
            right += len(gold & set(found))
            ours += len(found)
            theirs += len(gold)
        return [200 * right / (ours + theirs), 100 * right / theirs, 100 * right / ours]

    f1, recall, _ = score("balanced")
    assert f1 > 90
    assert score("recall")[1] > 93
    assert score("precision")[2] > 91.5
