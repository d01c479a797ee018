"""From scores of arcs to trees."""

import itertools
from typing import Optional

import numpy as np
import pytest

from spacy_he_coref.parser.tree import decode_heads, spanning_tree


def leads_to_root(heads: np.ndarray) -> bool:
    for i in range(len(heads)):
        seen, node = set(), i
        while heads[node] != 0:
            if node in seen:
                return False
            seen.add(node)
            node = heads[node] - 1
    return True


def best_by_trying_all(scores: np.ndarray) -> float:
    n = len(scores)
    best = -np.inf
    for heads in itertools.product(range(n + 1), repeat=n):
        array = np.array(heads)
        if (array == 0).sum() == 1 and leads_to_root(array):
            best = max(best, scores[np.arange(n), array].sum())
    return best


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_the_tree_is_the_best_of_all(n: int) -> None:
    draw = np.random.default_rng(n)
    for _ in range(40):
        scores = draw.normal(size=(n, n + 1))
        scores[np.arange(n), np.arange(n) + 1] = -np.inf
        heads = spanning_tree(scores)
        assert (heads == 0).sum() == 1
        assert leads_to_root(heads)
        assert scores[np.arange(n), heads].sum() == pytest.approx(
            best_by_trying_all(scores)
        )


def test_sentences_of_different_length_do_not_disturb_each_other() -> None:
    draw = np.random.default_rng(0)
    lengths = np.array([7, 1, 4, 30, 2])
    scores = draw.normal(size=(5, 30, 31)).astype(np.float32) * 3
    together = decode_heads(scores, lengths)
    for i, n in enumerate(lengths):
        alone = decode_heads(scores[i : i + 1, :n, : n + 1], lengths[i : i + 1])
        assert together[i, :n].tolist() == alone[0].tolist()
        assert (together[i, :n] == 0).sum() == 1
        assert leads_to_root(together[i, :n])
        assert (together[i, :n] <= n).all()


@pytest.mark.parametrize("root", [0, 3, None])
def test_large_cycles_are_resolved(root: Optional[int]) -> None:
    n = 60
    scores = np.zeros((1, n, n + 1), dtype=np.float32)
    # Everyone wants the next one as head: one great cycle, of which one must leave.
    scores[0, np.arange(n), (np.arange(n) + 1) % n + 1] = 5
    if root is not None:
        scores[0, root, 0] = 4
    heads = decode_heads(scores, np.array([n]))[0]
    assert (heads == 0).sum() == 1
    assert leads_to_root(heads)
    if root is not None:
        assert heads[root] == 0


def test_nothing() -> None:
    assert decode_heads(np.zeros((0, 0, 1)), np.zeros(0, dtype=int)).shape == (0, 0)
