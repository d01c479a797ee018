"""The torch network: losses and ranges against naive ones, and what counts in use."""

from typing import Any, Dict, List, Tuple

import numpy as np
import pytest
import torch

from spacy_he_coref.coref.features import (
    CATEGORIES,
    GROUPS,
    LEXICAL,
    MENTION_FEATURES,
    PAIR_FEATURES,
)
from spacy_he_coref.coref.network import (
    CorefEnsemble,
    CorefNetwork,
    Embeddings,
    Mentions,
    antecedent_loss,
    coarse_loss,
    ranges,
)

SIZES: Dict[str, Any] = {
    "input_width": 8,
    "span_hidden": 6,
    "hidden": 6,
    "rank": 4,
    "dropout": 0.5,
    "feature_dropout": 0.5,
    "max_width": 5,
    "groups": list(GROUPS),
    "corpora": 2,
    "candidates": True,
    "experts": True,
}


def fill(network: torch.nn.Module) -> None:
    """As after some training: the last layers begin with zeros."""
    for weight in network.parameters():
        if not weight.any():
            torch.nn.init.normal_(weight, std=0.3)
    network.eval()


def make_network(**settings: Any) -> CorefNetwork:
    torch.manual_seed(0)
    network = CorefNetwork(**{**SIZES, **settings})
    fill(network)
    return network


def random_features(described: Any, number: int, seed: int = 0) -> torch.Tensor:
    draw = np.random.default_rng(seed)
    columns = [draw.integers(0, feature.size, number) for feature in described]
    return torch.from_numpy(np.stack(columns, axis=1))


def read(network: CorefNetwork, number: int = 7) -> Mentions:
    torch.manual_seed(1)
    tokens = network.read(torch.randn(number + 2, 8))
    start = torch.arange(number)
    return network.read_mentions(
        tokens, start, start + 2, start + 1, random_features(MENTION_FEATURES, number)
    )


def pairs(number: int = 7) -> Tuple[torch.Tensor, torch.Tensor]:
    later, earlier = np.tril_indices(number, -1)
    return torch.from_numpy(later), torch.from_numpy(earlier)


# The loss of links


def naive_loss(
    scores: List[float], owner: List[int], right: List[bool], size: int
) -> List[float]:
    losses = []
    for mention in range(size):
        own = [i for i, o in enumerate(owner) if o == mention]
        odds = np.exp(np.array([scores[i] for i in own], dtype=np.float64))
        good = sum(odds[k] for k, i in enumerate(own) if right[i])
        if not any(right[i] for i in own):
            good = 1.0
        losses.append(-np.log(good / (1.0 + odds.sum())))
    return losses


@pytest.mark.parametrize("seed", range(5))
def test_loss_against_a_naive_one(seed: int) -> None:
    draw = np.random.default_rng(seed)
    size = 9
    owner = np.sort(draw.integers(0, size, 40))
    scores = draw.normal(0, 3, 40).astype(np.float32)
    right = draw.random(40) < 0.2
    found = antecedent_loss(
        torch.from_numpy(scores), torch.from_numpy(owner), torch.from_numpy(right), size
    )
    expected = naive_loss(scores.tolist(), owner.tolist(), right.tolist(), size)
    assert np.allclose(found.numpy(), expected, atol=1e-4)


def test_loss_is_finite_at_extreme_scores_and_has_gradients() -> None:
    scores = torch.tensor([500.0, -500.0, -500.0, 500.0], requires_grad=True)
    owner = torch.tensor([1, 1, 2, 3])
    right = torch.tensor([False, True, True, False])
    loss = antecedent_loss(scores, owner, right, 4)
    assert loss.isfinite().all()
    # A mention without pairs loses nothing.
    assert loss[0] == 0
    assert loss.tolist() == pytest.approx([0, 1000, 500, 500])
    loss.sum().backward()
    assert scores.grad is not None and scores.grad.isfinite().all()
    # The wrong one is pushed down, the right ones up.
    assert (scores.grad.sign() == torch.tensor([1.0, -1.0, -1.0, 1.0])).all()


@pytest.mark.parametrize("seed", range(3))
def test_coarse_loss_is_the_loss_of_all_pairs(seed: int) -> None:
    """In a window of four mentions, one entity of which reaches beyond it."""
    draw = np.random.default_rng(seed)
    entity = draw.integers(0, 4, 12)
    row, column = np.arange(12)[:, None], np.arange(12)[None]
    inside = (column < row) & (column >= row - 4)
    right = (entity[row] == entity[column]) & (entity[row] > 0)
    scores = draw.normal(0, 3, (12, 12)).astype(np.float32)
    given = np.where(inside, scores, -np.inf).astype(np.float32)
    matrix = torch.from_numpy(given).requires_grad_()
    found = coarse_loss(matrix, torch.from_numpy(right))
    owner, _ = inside.nonzero()
    expected = naive_loss(
        scores[inside].tolist(), owner.tolist(), right[inside].tolist(), 12
    )
    assert np.allclose(found.detach().numpy(), expected, atol=1e-4)
    found.sum().backward()
    assert matrix.grad is not None and matrix.grad.isfinite().all()
    assert not matrix.grad[torch.from_numpy(~inside)].any()


def test_loss_without_pairs() -> None:
    nothing = torch.zeros(0)
    owner = torch.zeros(0, dtype=torch.long)
    assert antecedent_loss(nothing, owner, owner.bool(), 3).tolist() == [0, 0, 0]


# Spans


@pytest.mark.parametrize("width", [1, 2, 4, 50])
def test_ranges_against_naive_ones(width: int) -> None:
    sentence = np.array([0, 0, 0, 1, 2, 2, 2, 2, 2, 3])
    expected = {
        (i, j)
        for i in range(10)
        for j in range(i, min(i + width, 10))
        if sentence[i] == sentence[j]
    }
    first, last = ranges(10, torch.from_numpy(sentence), width)
    found = list(zip(first.tolist(), last.tolist(), strict=True))
    assert len(found) == len(set(found)) and set(found) == expected


def test_ranges_of_nothing() -> None:
    first, last = ranges(0, torch.zeros(0, dtype=torch.long), 5)
    assert not len(first) and not len(last)


def test_span_scores_depend_on_candidates_only_if_they_are_a_feature() -> None:
    tokens = torch.randn(6, 8)
    start = torch.tensor([0, 1, 2])
    zeros = torch.zeros(3, dtype=torch.long)
    for candidates in (True, False):
        network = make_network(candidates=candidates)
        scores = network.score_spans(tokens, start, start + 1, zeros)
        others = network.score_spans(tokens, start, start + 1, zeros + 1)
        assert scores.shape == (3, 1 + 2)
        assert torch.equal(scores, others) is not candidates


def test_spans_wider_than_any_in_training() -> None:
    network = make_network()
    zeros = torch.zeros(1, dtype=torch.long)
    scores = network.score_spans(torch.randn(100, 8), zeros, zeros + 99, zeros)
    assert scores.isfinite().all()


# Pairs


def test_fine_scores_one_by_one_are_those_of_all_at_once() -> None:
    network = make_network()
    mentions = read(network)
    later, earlier = pairs()
    values = random_features(PAIR_FEATURES, len(later))
    scores = network.score_fine(mentions, later, earlier, values, 0)
    for i in range(len(later)):
        one = slice(i, i + 1)
        score = network.score_fine(mentions, later[one], earlier[one], values[one], 0)
        assert torch.allclose(score, scores[one], atol=1e-5)


def test_experts_are_chosen_by_category() -> None:
    network = make_network()
    mentions = read(network)
    later, earlier = pairs()
    values = random_features(PAIR_FEATURES, len(later))
    scores = network.score_fine(mentions, later, earlier, values, 0)
    with torch.no_grad():
        network.pair_score.bias[1 + 3] += 1.0
    changed = network.score_fine(mentions, later, earlier, values, 0) - scores
    assert torch.allclose(changed, (values[:, 0] == 3).float(), atol=1e-5)


def test_without_experts_the_category_is_no_more_than_a_feature() -> None:
    network = make_network(experts=False, groups=[LEXICAL])
    mentions = read(network)
    later, earlier = pairs()
    values = random_features(PAIR_FEATURES, len(later))
    other = values.clone()
    other[:, 0] = (other[:, 0] + 1) % len(CATEGORIES)
    assert torch.equal(
        network.score_fine(mentions, later, earlier, values, 0),
        network.score_fine(mentions, later, earlier, other, 0),
    )


def test_corpora_have_markers_of_their_own() -> None:
    network = make_network()
    mentions = read(network)
    later, earlier = pairs()
    values = random_features(PAIR_FEATURES, len(later))
    one, other = (
        network.score_fine(mentions, later, earlier, values, c) for c in (0, 1)
    )
    assert not torch.allclose(one, other)


def no_codes(number: int = 7) -> torch.Tensor:
    return torch.zeros((number, number), dtype=torch.long)


def test_coarse_scores_are_part_of_the_fine_ones() -> None:
    network = make_network()
    mentions = read(network)
    later, earlier = pairs()
    values = random_features(PAIR_FEATURES, len(later))
    scores = network.score_fine(mentions, later, earlier, values, 0)
    place = torch.arange(7)
    coarse = network.score_coarse(mentions, place, place, no_codes())
    without = mentions._replace(query=torch.zeros_like(mentions.query))
    rest = network.score_fine(without, later, earlier, values, 0)
    assert torch.allclose(scores - rest, coarse[later, earlier], atol=1e-5)


def test_kinds_of_pairs_count_in_coarse_scores_if_they_are_switched_on() -> None:
    codes = torch.arange(49).reshape(7, 7)
    place = torch.arange(7)
    for switched_on in (False, True):
        network = make_network(coarse_features=switched_on)
        mentions = read(network)
        plain = network.score_coarse(mentions, place, place, no_codes())
        found = network.score_coarse(mentions, place, place, codes)
        assert torch.equal(plain, found) is not switched_on
        if switched_on:
            weight = 10.0 * network.coarse.weight[:, 0]
            expected = (weight[codes] - weight[0]).detach()
            assert torch.allclose(found - plain, expected, atol=1e-5)


# Features


def test_groups_that_are_off_do_not_count() -> None:
    described = PAIR_FEATURES
    embeddings = Embeddings(described, [LEXICAL], 5)
    values = random_features(described, 4)
    before = embeddings(values)
    for i, feature in enumerate(described):
        other = values.clone()
        other[:, i] = (other[:, i] + 1) % feature.size
        changed = not torch.equal(embeddings(other), before)
        assert changed is (feature.group == LEXICAL), feature


def test_no_value_has_the_embedding_of_another() -> None:
    table = Embeddings(PAIR_FEATURES, GROUPS, 2)
    seen = set()
    for i, feature in enumerate(PAIR_FEATURES):
        for value in (0, feature.size - 1):
            index = int(table.starts[i]) + value
            assert index < len(table.table.weight)
            seen.add(index)
    assert len(seen) == sum(min(feature.size, 2) for feature in PAIR_FEATURES)


@pytest.mark.parametrize("groups", [[], list(GROUPS)])
def test_embeddings_of_nothing(groups: List[str]) -> None:
    embeddings = Embeddings(MENTION_FEATURES, groups, 5)
    assert embeddings(random_features(MENTION_FEATURES, 0)).shape == (0, 5)
    assert embeddings(random_features(MENTION_FEATURES, 3)).shape == (3, 5)


def test_nothing_is_random_in_use_and_much_in_training() -> None:
    network = make_network()
    later, earlier = pairs()
    values = random_features(PAIR_FEATURES, len(later))

    tokens = torch.randn(9, 8)
    start = torch.arange(7)
    own = random_features(MENTION_FEATURES, 7)

    def scores() -> torch.Tensor:
        read = network.read(tokens)
        mentions = network.read_mentions(read, start, start, start, own)
        return network.score_fine(mentions, later, earlier, values, 0)

    first = scores()
    assert torch.equal(first, scores())
    network.train()
    assert not torch.equal(scores(), scores())


# Ensembles


def all_scores(network: Any, tokens: Any) -> List[torch.Tensor]:
    start = torch.arange(7)
    later, earlier = pairs()
    mentions = network.read_mentions(
        tokens, start, start + 2, start + 1, random_features(MENTION_FEATURES, 7)
    )
    return [
        network.score_spans(tokens, start, start + 1, start % 2),
        network.score_coarse(mentions, start, start, no_codes()),
        network.score_fine(
            mentions, later, earlier, random_features(PAIR_FEATURES, len(later)), 1
        ),
    ]


@pytest.mark.parametrize("size", [1, 3])
def test_an_ensemble_scores_as_its_members_do_on_average(size: int) -> None:
    torch.manual_seed(0)
    ensemble = CorefEnsemble(size, **SIZES)
    fill(ensemble)
    vectors = torch.randn(9, 8)
    found = all_scores(ensemble, ensemble.read(vectors))
    alone = [
        all_scores(member, member.read(vectors))  # type: ignore[operator]
        for member in ensemble.members
    ]
    assert ensemble.max_width == SIZES["max_width"]
    for ours, theirs in zip(found, zip(*alone, strict=True), strict=True):
        assert torch.allclose(ours, torch.stack(theirs).mean(0), atol=1e-6)
        if size > 1:
            assert not torch.allclose(theirs[0], theirs[1])
