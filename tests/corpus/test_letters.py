import pytest

from spacy_he_coref.corpus.letters import (
    assign_letters,
    assign_longest,
    segment_kinds,
)


@pytest.mark.parametrize(
    "word, forms, pieces",
    [
        ("שנה", ["שנה"], ["שנה"]),
        # any spelling, if there is but one morpheme
        ("אנו", ["_אנחנו"], ["אנו"]),
        ("והבית", ["ו", "ה", "בית"], ["ו", "ה", "בית"]),
        ("בבית", ["ב", "ה_", "בית"], ["ב", None, "בית"]),
        ("להם", ["ל", "_הם"], ["ל", "הם"]),
        ("לו", ["ל", "_הוא"], ["ל", "ו"]),
        ("דבריו", ["דבר", "_של_", "_הוא"], ["דברי", None, "ו"]),
        ("ולבתו", ["ו", "ל", "בת", "_של_", "_הוא"], ["ו", "ל", "בת", None, "ו"]),
        ("אדמתם", ["אדמה", "_של_", "_הם"], ["אדמת", None, "ם"]),
        ("תנועותיהם", ["תנועה", "_של_", "_הם"], ["תנועותי", None, "הם"]),
        ("הוריהם", ["הורי", "הם"], ["הורי", "הם"]),
        # of two endings the one that leaves the host as it is
        ("גובהם", ["גובה", "_של_", "_הם"], ["גובה", None, "ם"]),
        ("מטהו", ["מטה", "_של_", "_הוא"], ["מטה", None, "ו"]),
        ("כמוהו", ["כמו", "_הוא"], ["כמו", "הו"]),
        ("רצוני", ["רצון", "_של_", "_אני"], ["רצונ", None, "י"]),
        ("עיני", ["עין", "_של_", "_אני"], ["עינ", None, "י"]),
        ("הזמינני", ["הזמין", "את_", "_אני"], ["הזמינ", None, "ני"]),
        ("ראני", ["ראה", "את_", "_אני"], ["רא", None, "ני"]),
        ("אותך", ["את", "_אתה"], ["אות", "ך"]),
        # a host cut from its clitic ends in a letter that is not final
        ("ששמו", ["ש", "שם", "_של_", "_הוא"], ["ש", "שמ", None, "ו"]),
        # a wrong pronoun
        ("כולנו", ["כול", "_של_", "_הם"], ["כול", None, "נו"]),
        # quotes that look alike, and a final letter that is not
        ("הח”כ", ["ה", 'ח"כ'], ["ה", "ח”כ"]),
        ("בם", ["ב", "מ"], ["ב", "ם"]),
        # signs between morphemes go with the next one
        ("1957-8", ["1957", "8"], ["1957", "-8"]),
        ("ב-17", ["ב", "17"], ["ב", "-17"]),
    ],
)
def test_letters(word, forms, pieces):
    spans = assign_letters(word, forms)
    assert [span and word[span[0] : span[1]] for span in spans] == pieces


@pytest.mark.parametrize(
    "word, forms",
    [("ודטרויט", ["98", "ו", "דטרויט"]), ("אבג", ["דה", "וז"]), ("שלה", ["ל", "_הוא"])],
)
def test_letters_that_fit_nothing(word, forms):
    assert assign_letters(word, forms) is None


def test_longest_has_the_word_and_is_host():
    forms = ["ל", "ב", "שטחים", "_הוא"]
    kinds = segment_kinds(forms, [False, False, False, True])
    spans, kinds = assign_longest("אבג", forms, kinds)
    assert spans == [None, None, (0, 3), None]
    assert kinds == ["prefix", "prefix", "host", "clitic"]
    spans, kinds = assign_longest("אבג", ["ל", "כש", "ב"], ["prefix", "prefix", "host"])
    assert spans == [None, (0, 3), None]
    assert kinds == ["prefix", "host", "host"]


@pytest.mark.parametrize(
    "forms, kinds",
    [
        ("בית", "word"),
        ("ו ה בית", "prefix prefix host"),
        ("ל ה_ בית", "prefix prefix host"),
        ("לכש יבוא", "prefix host"),
        ("ל _הוא", "host clitic"),
        ("ש ב _הוא", "prefix host clitic"),
        ("דבר _של_ _הוא", "host clitic clitic"),
        ("ה שיב את_ _הוא", "prefix host clitic clitic"),
        ('ב " ב שבחי', "prefix prefix prefix host"),
        ('" בית', "host host"),
        ("ש ה", "prefix host"),
        ("את_ _הוא", "host clitic"),
    ],
)
def test_kinds(forms, kinds):
    forms = forms.split()
    suffixes = [form.startswith("_") and form != "_של_" for form in forms]
    assert segment_kinds(forms, suffixes) == kinds.split()
