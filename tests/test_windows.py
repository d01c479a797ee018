"""Cutting long documents into windows."""

import random

import pytest

from spacy_he_coref.windows import make_windows


def test_short_text_is_one_window() -> None:
    assert make_windows([1] * 10, 10, 3) == [(0, 10, 0, 10)]
    assert make_windows([], 10, 3) == []


def test_cores_cover_everything_once_and_windows_fit() -> None:
    draw = random.Random(0)
    for _ in range(300):
        lengths = [draw.randint(1, 8) for _ in range(draw.randint(1, 400))]
        size, overlap = draw.randint(60, 120), draw.randint(0, 20)
        windows = make_windows(lengths, size, overlap)
        covered = [i for w in windows for i in range(w.core_start, w.core_end)]
        assert covered == list(range(len(lengths)))
        for window in windows:
            assert window.start <= window.core_start < window.core_end <= window.end
            # Cuts fall between words, so a window may be longer by part of one.
            assert sum(lengths[window.start : window.end]) <= size + 2 * 8
        if len(windows) > 1:
            sizes = [sum(lengths[w.core_start : w.core_end]) for w in windows]
            assert max(sizes) - min(sizes) <= 4 * 8


def test_a_word_longer_than_a_window_is_kept() -> None:
    windows = make_windows([1, 500, 1], 50, 5)
    assert [i for w in windows for i in range(w.core_start, w.core_end)] == [0, 1, 2]


def test_no_room_between_contexts() -> None:
    with pytest.raises(ValueError, match="larger"):
        make_windows([1] * 10, 8, 4)
