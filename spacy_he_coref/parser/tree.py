"""From scores of arcs to trees."""

from typing import List

import numpy as np


def decode_heads(scores: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Choose the best tree with one root for each sentence.

    The best head of every token mostly makes a tree; only where it does not is the
    maximum spanning tree searched for (Chu and Liu 1965, Edmonds 1967).

    scores (np.ndarray): Scores of heads, float32 of (sentences, length, length + 1):
        for token i the scores of the root (column 0) and of token j (column j + 1).
    lengths (np.ndarray): int64 of (sentences,), tokens of each; the rest is padding.
    RETURNS (np.ndarray): int64 of (sentences, length): 0 for the root, j + 1 for
        token j; 0 in the padding.
    """
    sentences, length = scores.shape[:2]
    inside = np.arange(length)[None] < lengths[:, None]
    scores = scores.astype(np.float64)
    scores[:, :, 1:][
        ~np.broadcast_to(inside[:, None], (sentences, length, length))
    ] = -np.inf
    diagonal = np.arange(length)
    scores[:, diagonal, diagonal + 1] = -np.inf
    heads = np.where(inside, scores.argmax(-1), 0)
    for i in np.nonzero(~_are_trees(heads, inside))[0]:
        n = int(lengths[i])
        heads[i, :n] = spanning_tree(scores[i, :n, : n + 1])
    return heads


def _are_trees(heads: np.ndarray, inside: np.ndarray) -> np.ndarray:
    """Whether each sentence has one root that every token leads to."""
    sentences, length = heads.shape
    up = np.concatenate([np.zeros((sentences, 1), dtype=np.int64), heads], axis=1)
    for _ in range(max(1, int(length).bit_length())):
        up = np.take_along_axis(up, up, axis=1)
    roots = ((heads == 0) & inside).sum(1)
    return (up == 0).all(1) & ((roots == 1) | ~inside.any(1))


def spanning_tree(scores: np.ndarray) -> np.ndarray:
    """The maximum spanning tree with one root.

    scores (np.ndarray): Scores of heads, float64 of (n, n + 1): the root in column
        0, token j in column j + 1; minus infinity for what may not be.
    RETURNS (np.ndarray): int64 of (n,): 0 for the root, j + 1 for token j.
    """
    n = len(scores)
    full = np.full((n + 1, n + 1), -np.inf)
    full[1:] = scores
    np.fill_diagonal(full, -np.inf)
    finite = full[np.isfinite(full)]
    # Every arc from the root costs more than any tree can win back, so that the
    # best tree has as few of them as it can: one.
    full[1:, 0] -= 1.0 + (finite.max() - finite.min()) * (n + 1)
    return _edmonds(full)[1:]


def _edmonds(scores: np.ndarray) -> np.ndarray:
    """Heads of the best tree rooted in node 0, contracting one cycle at a time."""
    heads = scores.argmax(1)
    heads[0] = 0
    cycle = _find_cycle(heads)
    if not cycle:
        return heads
    n = len(scores)
    inside = np.zeros(n, dtype=bool)
    inside[cycle] = True
    outside = np.nonzero(~inside)[0]
    # The cycle becomes the last node of a smaller graph.
    members = np.asarray(cycle)
    kept = scores[members, heads[members]]
    entering = scores[np.ix_(members, outside)] - kept[:, None]
    leaving = scores[np.ix_(outside, members)]
    m = len(outside)
    smaller = np.full((m + 1, m + 1), -np.inf)
    smaller[:m, :m] = scores[np.ix_(outside, outside)]
    smaller[m, :m] = entering.max(0)
    smaller[:m, m] = leaving.max(1)
    smaller[0] = -np.inf
    found = _edmonds(smaller)
    output = heads.copy()
    for i in range(1, m):
        output[outside[i]] = (
            members[leaving[i].argmax()] if found[i] == m else outside[found[i]]
        )
    entry = int(found[m])
    output[members[entering[:, entry].argmax()]] = outside[entry]
    return output


def _find_cycle(heads: np.ndarray) -> List[int]:
    state = np.zeros(len(heads), dtype=np.int8)
    state[0] = 2
    for start in range(1, len(heads)):
        path: List[int] = []
        node = start
        while state[node] == 0:
            state[node] = 1
            path.append(node)
            node = int(heads[node])
        if state[node] == 1:
            return path[path.index(node) :]
        state[path] = 2
    return []
