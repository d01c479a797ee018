"""One spelling for the many ways to type the same word."""

import pytest

from spacy_he_coref.segmenter.normalize import needs_normalizing, normalize_word


@pytest.mark.parametrize(
    "typed, plain",
    [
        ("בית", "בית"),
        ("צה״ל", 'צה"ל'),
        ("צה''ל", 'צה"ל'),
        ("צה׳׳ל", 'צה"ל'),
        ("צה”ל", 'צה"ל'),
        ("ג׳ירפה", "ג'ירפה"),
        ("תל־אביב", "תל-אביב"),
        ("שָׁלוֹם", "שלום"),
        ("\u200fבית\u200f", "בית"),
        ("בי\u200dת", "בית"),
        ("\ufb2aלום", "שלום"),
        ("", ""),
        ("\u05b8", ""),
    ],
)
def test_one_spelling(typed: str, plain: str) -> None:
    word = normalize_word(typed)
    assert word.text == plain
    assert len(word.offsets) == len(plain) + 1
    assert word.offsets[-1] == len(typed)
    assert not plain or word.offsets[0] == 0
    assert list(word.offsets) == sorted(word.offsets)
    assert needs_normalizing(typed) == (typed != plain)


def test_letters_keep_their_offsets() -> None:
    word = normalize_word("בְּבַיִת")
    assert word.text == "בבית"
    # The point and the vowel of a letter go with it.
    assert word.offsets == (0, 3, 5, 7, 8)
