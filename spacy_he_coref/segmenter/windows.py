"""Cutting long documents into windows that a network reads one at a time."""

from typing import List, NamedTuple, Sequence

import numpy as np


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


def make_windows(lengths: Sequence[int], size: int, overlap: int) -> List[Window]:
    """Cut words into windows of about equal length.

    lengths (Sequence[int]): Length of each word, in whatever unit; at least 1.
    size (int): Longest window, in that unit, context included. A single word may
        be longer.
    overlap (int): Context on either side, in that unit.
    RETURNS (List[Window]): Windows whose cores follow one another; none if there
        are no words.
    RAISES (ValueError): If the context leaves no room for words.
    """
    if not len(lengths):
        return []
    if size <= 2 * overlap:
        raise ValueError(
            f"A window of {size} has no room for words between contexts of {overlap} "
            "on either side. Make the window larger or the overlap smaller."
        )
    ends = np.cumsum(np.asarray(lengths, dtype=np.int64))
    total = int(ends[-1])
    if total <= size:
        return [Window(0, len(ends), 0, len(ends))]
    count = -(-total // (size - 2 * overlap))
    starts = ends - np.asarray(lengths, dtype=np.int64)
    windows: List[Window] = []
    core_start = 0
    for i in range(1, count + 1):
        core_end = int(np.searchsorted(starts, total * i / count, side="left"))
        core_end = max(core_end, core_start + 1) if i < count else len(ends)
        if core_start >= len(ends):
            break
        start = int(np.searchsorted(starts, starts[core_start] - overlap, side="left"))
        end = int(np.searchsorted(ends, ends[core_end - 1] + overlap, side="right"))
        windows.append(Window(start, end, core_start, core_end))
        core_start = core_end
    return windows
