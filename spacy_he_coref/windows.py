"""Cutting long documents into windows that a network reads one at a time."""

from typing import List, NamedTuple, Sequence, Union

import numpy as np

# Lengths of windows are rounded up to multiples of this.
_ROUNDED = 16


class Window(NamedTuple):
    """A stretch of words that is read together.

    start (int), end (int): First word and word after the last one.
    core_start (int), core_end (int): The words whose results count; those around
        them are context.
    """

    start: int
    end: int
    core_start: int
    core_end: int


def make_windows(
    lengths: Union[Sequence[int], np.ndarray],
    size: int,
    overlap: int,
    ends: Union[Sequence[bool], np.ndarray, None] = None,
) -> List[Window]:
    """Cut words into windows of about equal length.

    lengths (Union[Sequence[int], np.ndarray]): Length of each word, in whatever unit.
    size (int): Longest window, in that unit, context included. A single word may
        be longer.
    overlap (int): Context on either side, in that unit.
    ends (Union[Sequence[bool], np.ndarray, None]): Whether a sentence ends with each
        word. Cores are then cut there where one ends within half the overlap.
    RETURNS (List[Window]): Windows whose cores follow one another; none if there
        are no words.
    RAISES (ValueError): If the context leaves no room for words.
    """
    if not len(lengths):
        return []
    # A core that grows to the end of a sentence on both sides must still fit.
    room = size - (2 * overlap if ends is None else 3 * overlap)
    if room <= 0:
        raise ValueError(
            f"A window of {size} has no room for words between contexts of {overlap} "
            "on either side. Make the window larger or the overlap smaller."
        )
    places = np.cumsum(np.asarray(lengths, dtype=np.int64))
    total = int(places[-1])
    if total <= size:
        return [Window(0, len(places), 0, len(places))]
    count = -(-total // room)
    starts = places - np.asarray(lengths, dtype=np.int64)
    stops = np.nonzero(ends)[0] + 1 if ends is not None else np.zeros(0, np.int64)
    stops = stops[stops < len(places)]
    windows: List[Window] = []
    core_start = 0
    for i in range(1, count + 1):
        aim = total * i / count
        core_end = int(np.searchsorted(starts, aim, side="left"))
        if len(stops):
            nearest = int(stops[np.argmin(np.abs(starts[stops] - aim))])
            if abs(int(starts[nearest]) - aim) <= overlap / 2:
                core_end = nearest
        core_end = max(core_end, core_start + 1) if i < count else len(places)
        if core_start >= len(places):
            break
        start = int(np.searchsorted(starts, starts[core_start] - overlap, side="left"))
        end = int(np.searchsorted(places, places[core_end - 1] + overlap, side="right"))
        windows.append(Window(start, end, core_start, core_end))
        core_start = core_end
    return windows


def padded_length(length: int, longest: int) -> int:
    """The length that a window is padded to for an encoder.

    It depends on nothing but the window: attention over other numbers of wordpieces
    would differ in the last digit, and so would the result with the batch. Rounding
    lets windows of like length be read together.

    length (int): Wordpieces of the window.
    longest (int): Most wordpieces that the encoder takes.
    RETURNS (int): Its length with padding.
    """
    return min(-(-length // _ROUNDED) * _ROUNDED, longest)
