"""The thinc model: spans, pairs and losses of documents of any length."""

import random
from typing import Any, Dict, List, Optional, Set, Tuple

import numpy as np
import pytest
import torch
from spacy.tokens import Doc
from thinc.api import Model, set_dropout_rate

from spacy_he_coref.coref import model as coref_model
from spacy_he_coref.coref.features import (
    CATEGORIES,
    MentionTable,
    mention_features,
    mention_table,
    pair_features,
    token_table,
)
from spacy_he_coref.coref.model import (
    CorefInput,
    Links,
    Targets,
    antecedent_pairs,
    build_lingmess,
    get_network,
    initialize_network,
    repeated_mentions,
)
from spacy_he_coref.coref.network import CorefNetwork
from tests.coref.helpers import Bounds
from tests.mentions.helpers import vocabulary

WIDTH = 8
NAMES = ["דנה", "לוי", "רותם", "כהן", "חיפה"]
NO_CANDIDATES = np.zeros((0, 2), dtype=np.int64)


def make_model(**settings: Any) -> Model:
    """A model whose vectors come from the letters of the tokens."""

    def forward(model: Model, docs: List[Doc], is_train: bool) -> Any:
        # An odd factor, so that no two tokens have one vector.
        vectors = [
            np.array(
                [
                    [
                        np.sin(token.orth % 1000 * (k + 1) + token.i * 0.37)
                        for k in range(WIDTH)
                    ]
                    for token in doc
                ],
                dtype="float32",
            ).reshape(-1, WIDTH)
            for doc in docs
        ]
        return vectors, lambda _: []

    tok2vec: Model = Model("letters", forward, dims={"nO": WIDTH})
    sizes: Dict[str, Any] = {
        "span_hidden": 8,
        "hidden": 8,
        "rank": 4,
        "max_width": 4,
        "antecedents": 5,
        "window": 20,
        "dropout": 0.0,
        "feature_dropout": 0.0,
        "frozen": False,
    }
    model = build_lingmess(tok2vec, **{**sizes, **settings})
    torch.manual_seed(0)
    initialize_network(model, [])
    # As after some training: the last layers begin with zeros.
    for weight in get_network(model).parameters():
        if not weight.any():
            torch.nn.init.normal_(weight, std=0.5)
    return model


def make_doc(size: int, seed: int = 0, sentence: int = 10) -> Doc:
    draw = random.Random(seed)
    words = draw.choices([*NAMES, "הלך", "אל", "הוא"], k=size)
    tags = {"הלך": "VERB", "אל": "ADP", "הוא": "PRON"}
    return Doc(
        vocabulary(),
        words=words,
        pos=[tags.get(word, "PROPN") for word in words],
        lemmas=words,
        sent_starts=[i % sentence == 0 for i in range(size)],
    )


def resolve(
    model: Model,
    doc: Doc,
    *,
    candidates: np.ndarray = NO_CANDIDATES,
    given: Optional[np.ndarray] = None,
    cut: float = 0.5,
) -> Links:
    return model.predict(CorefInput([doc], [candidates], [given], [cut]))[0]


def one_word_table(keys: List[int], kinds: List[int]) -> MentionTable:
    """A table of mentions of which only kinds, lemmas and names are looked at."""
    size = len(keys)
    doc = Doc(vocabulary(), words=["אב"] * size)
    start = np.arange(size)
    table = mention_table(token_table(doc), start, start + 1)
    return table._replace(
        lemma=np.array(keys, dtype=np.uint64), kind=np.array(kinds, dtype=np.int64)
    )


# Pairs


def naive_repeated(
    table: MentionTable, begin: int, end: int, window: int
) -> Set[Tuple[int, int]]:
    found = set()
    for later in range(begin, end):
        for keys in (
            table.lemma,
            [max([0, *row[row > 0][-1:]]) for row in table.names],
        ):
            if keys is table.lemma and table.kind[later] in (1, 2, 3):
                continue
            same = [
                earlier
                for earlier in range(max(later - window, 0))
                if keys[earlier] == keys[later]
                and keys[later]
                and not (keys is table.lemma and table.kind[earlier] in (1, 2, 3))
            ]
            found |= {(later, earlier) for earlier in same[-4:]}
    return found


@pytest.mark.parametrize("seed", range(6))
def test_repeated_mentions_against_naive_ones(seed: int) -> None:
    draw = np.random.default_rng(seed)
    size = 60
    table = one_word_table(
        draw.integers(0, 5, size).tolist(), draw.integers(0, 7, size).tolist()
    )
    names = draw.integers(1, 6, (size, 6)).astype(np.uint64)
    names[draw.random((size, 6)) < 0.8] = 0
    table = table._replace(names=names)
    for begin, end, window in ((0, 60, 10), (20, 40, 5), (55, 60, 50), (0, 10, 20)):
        words = coref_model._same_words(table)
        later, earlier = repeated_mentions(words, begin, end, window)
        found = set(zip(later.tolist(), earlier.tolist(), strict=True))
        assert found == naive_repeated(table, begin, end, window)


def vectors_and_table(size: int) -> Tuple[torch.Tensor, MentionTable]:
    """Each token is a mention."""
    start = np.arange(size)
    table = mention_table(token_table(make_doc(size)), start, start + 1)
    vectors = torch.randn(size, WIDTH, generator=torch.Generator().manual_seed(0))
    return vectors, table


def naive_codes(table: MentionTable) -> np.ndarray:
    """Distance in steps that double, pronouns, heads and last names."""
    size = len(table.start)
    codes = np.zeros((size, size), dtype=np.int64)
    last = [max([0, *row[row > 0][-1:]]) for row in table.names]
    pronoun = [bool(kind in (1, 2, 3)) for kind in table.kind]
    for later in range(size):
        for earlier in range(later):
            step = 0
            while 2**step < later - earlier:
                step += 1
            head = table.lemma[later] == table.lemma[earlier] > 0 and not (
                pronoun[later] or pronoun[earlier]
            )
            name = last[later] == last[earlier] > 0
            code = min(step, 9)
            for bit in (pronoun[later], pronoun[earlier], head, name):
                code = 2 * code + int(bit)
            codes[later, earlier] = code
    return codes


@pytest.mark.parametrize("coarse_features", [False, True])
@pytest.mark.parametrize("window, antecedents", [(7, 3), (3, 50), (100, 4), (1, 1)])
def test_antecedent_pairs_against_naive_ones(
    window: int,
    antecedents: int,
    coarse_features: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(coref_model, "_BLOCK", 16)
    size = 70
    network = get_network(make_model(coarse_features=coarse_features))
    network.eval()
    if coarse_features:
        for member in network.members:
            torch.nn.init.normal_(member.coarse.weight)
    vectors, table = vectors_and_table(size)
    codes = torch.from_numpy(naive_codes(table))
    place = torch.arange(size)
    with torch.no_grad():
        mentions = network.read_mentions(
            network.read(vectors),
            place,
            place,
            place,
            torch.from_numpy(mention_features(table)),
        )
        coarse = network.score_coarse(mentions, place, place, codes).numpy()
    expected = naive_repeated(table, 0, size, window)
    for later in range(size):
        near = list(range(max(0, later - window), later))
        near.sort(key=lambda earlier: -coarse[later, earlier])
        expected |= {(later, earlier) for earlier in near[:antecedents]}
    found = []
    for block in antecedent_pairs(network, vectors, table, antecedents, window):
        found += zip(block.later.tolist(), block.earlier.tolist(), strict=True)
        # The mentions of the block are those of the pairs, and not much more.
        assert {*block.later.tolist(), *block.earlier.tolist()} <= set(block.rows)
        assert len(block.rows) <= 16 + window + 16 * 8
        with torch.no_grad():
            own = coref_model._score_block(network, block, table, 0)
            values = pair_features(table, block.later, block.earlier)
            later, earlier = map(torch.from_numpy, (block.later, block.earlier))
            whole = network.score_fine(
                mentions, later, earlier, torch.from_numpy(values), 0
            )
        assert torch.allclose(own, whole, atol=1e-5)
    assert found == sorted(expected)


def test_no_pairs_of_one_mention() -> None:
    vectors, table = vectors_and_table(1)
    network = get_network(make_model())
    assert list(antecedent_pairs(network, vectors, table, 5, 5)) == []


# Spans


def test_spans_and_wide_candidates() -> None:
    doc = make_doc(300, sentence=10)
    candidates = np.array([[0, 2], [0, 4], [5, 40], [95, 100], [100, 290], [280, 300]])
    found: List[Bounds] = []
    for start, end in ((0, 100), (100, 200), (200, 300)):
        first, last = coref_model._spans(token_table(doc), candidates, start, end, 4)
        assert ((first >= start) & (first < end)).all()
        found += zip(first.tolist(), last.tolist(), strict=True)
    expected = {
        (i, j) for i in range(300) for j in range(i, min(i + 4, i // 10 * 10 + 10))
    }
    # Wider ones, as far as they are not absurd.
    expected |= {(5, 39), (95, 99), (280, 299)}
    assert len(found) == len(set(found)) and set(found) == expected


def test_values_of_members() -> None:
    bounds = np.array([[3, 5], [0, 1], [3, 4]])
    values = np.array([7, 8, 9])
    found = coref_model._member(
        np.array([0, 3, 3, 4, 9]), np.array([0, 4, 3, 4, 9]), bounds, values
    )
    assert found.tolist() == [8, 7, 9, -1, -1]
    nothing = np.zeros(0, dtype=np.int64)
    assert coref_model._member(nothing, nothing, bounds, values).tolist() == []
    empty = coref_model._member(np.array([1]), np.array([1]), NO_CANDIDATES, nothing)
    assert empty.tolist() == [-1]


# Documents


@pytest.mark.parametrize("stretch, block", [(7, 3), (64, 17), (1, 1000)])
def test_stretches_and_blocks_do_not_change_results(
    stretch: int, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = make_model()
    doc = make_doc(200)
    # Some begin in one stretch and end in another.
    candidates = np.array([[2, 9], [5, 30], [60, 66], [180, 200]])
    expected = resolve(model, doc, candidates=candidates, cut=0.3)
    assert len(expected.bounds) > 100 and len(expected.scores) > 500
    monkeypatch.setattr(coref_model, "_STRETCH", stretch)
    monkeypatch.setattr(coref_model, "_BLOCK", block)
    found = resolve(model, doc, candidates=candidates, cut=0.3)
    for name in ("bounds", "later", "earlier"):
        assert np.array_equal(getattr(found, name), getattr(expected, name)), name
    for name in ("probabilities", "scores"):
        ours, theirs = getattr(found, name), getattr(expected, name)
        assert np.allclose(ours, theirs, atol=1e-5), name


def test_what_is_said_of_a_document() -> None:
    model = make_model()
    doc = make_doc(120)
    found = resolve(model, doc, cut=0.4)
    order = [(start, -end) for start, end in found.bounds.tolist()]
    assert order == sorted(order) and len(order) == len(set(order))
    assert (found.probabilities >= 0.4).all() and (found.probabilities <= 1).all()
    assert (found.earlier < found.later).all()
    assert (np.diff(found.later) >= 0).all()
    pairs = set(zip(found.later.tolist(), found.earlier.tolist(), strict=True))
    assert len(pairs) == len(found.scores)
    assert found.bounds.dtype == found.later.dtype == np.int64
    assert found.scores.dtype == found.probabilities.dtype == np.float32
    fewer = resolve(model, doc, cut=0.6)
    assert {*map(tuple, fewer.bounds.tolist())} < {*map(tuple, found.bounds.tolist())}


@pytest.mark.parametrize("size", [0, 1, 2, 3])
@pytest.mark.parametrize("cut", [0.0, 0.5, 1.1])
def test_short_documents_and_no_mentions(size: int, cut: float) -> None:
    found = resolve(make_model(), make_doc(size), cut=cut)
    assert found.bounds.shape == (len(found.probabilities), 2)
    assert len(found.later) == len(found.earlier) == len(found.scores)
    if not size or cut > 1:
        assert not len(found.bounds)
    if not cut:
        assert len(found.bounds) == size * (size + 1) // 2


def test_given_mentions_are_taken_as_they_are() -> None:
    model = make_model()
    doc = make_doc(60)
    # Wider than any span, and across sentences.
    given = np.array([[30, 31], [0, 50], [0, 2], [5, 15]])
    found = resolve(model, doc, given=given)
    assert found.bounds.tolist() == [[0, 50], [0, 2], [5, 15], [30, 31]]
    assert found.probabilities.tolist() == [1.0] * 4
    assert len(resolve(model, doc, given=given[:1]).scores) == 0
    assert len(resolve(model, doc, given=NO_CANDIDATES).bounds) == 0


def test_documents_of_a_batch_do_not_know_each_other() -> None:
    model = make_model()
    docs = [make_doc(size, seed) for seed, size in enumerate((30, 0, 1, 200))]
    batch = CorefInput(docs, [NO_CANDIDATES] * 4, [None] * 4, [0.4] * 4)
    for doc, found in zip(docs, model.predict(batch), strict=True):
        alone = resolve(model, doc, cut=0.4)
        assert np.array_equal(found.bounds, alone.bounds)
        assert np.allclose(found.scores, alone.scores, atol=1e-6)


def test_what_is_computed_at_once_does_not_grow_with_the_document(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """So memory is linear; and so is time: of each stretch its own tokens are read."""
    stretch, block = 50, 16
    monkeypatch.setattr(coref_model, "_STRETCH", stretch)
    monkeypatch.setattr(coref_model, "_BLOCK", block)
    model = make_model()
    settings: Any = model.shims[0].settings  # type: ignore[attr-defined]
    window, antecedents = settings["window"], settings["antecedents"]
    seen: Dict[str, int] = {}

    def watch(name: str, size: Any) -> None:
        real = getattr(CorefNetwork, name)

        def call(self: CorefNetwork, *args: Any) -> torch.Tensor:
            output: torch.Tensor = real(self, *args)
            seen[name] = max(seen.get(name, 0), size(output, *args))
            return output

        monkeypatch.setattr(CorefNetwork, name, call)

    watch("score_spans", lambda _, tokens, *more: len(tokens))
    watch("score_coarse", lambda output, *more: output.numel())
    watch("score_fine", lambda output, *more: len(output))
    found = resolve(model, make_doc(1000), candidates=np.array([[45, 120]]), cut=0.4)
    assert len(found.bounds) > 500
    assert seen["score_spans"] <= stretch + 128
    assert seen["score_coarse"] <= block * (block + window)
    # Beyond the window there are at most four with one head and four with one name.
    assert seen["score_fine"] <= block * (antecedents + 8)


# Training


def targets(spans: List[Bounds], entities: List[int], complete: bool = True) -> Targets:
    return Targets(
        np.array(spans, dtype=np.int64).reshape(-1, 2),
        np.array(entities, dtype=np.int64),
        0,
        complete,
    )


def losses(model: Model, doc: Doc, gold: Targets, **changes: Any) -> Any:
    batch = CorefInput([doc], [NO_CANDIDATES], [None], [0.5], [gold])
    return model.begin_update(batch._replace(**changes))


GOLD = targets([(0, 1), (3, 5), (12, 13), (20, 21)], [1, 2, 1, 0])


def gradient(model: Model, name: str) -> float:
    weight = dict(get_network(model).named_parameters())[name]
    return 0.0 if weight.grad is None else float(weight.grad.abs().sum())


def test_losses_teach_mentions_and_links() -> None:
    model = make_model()
    parts, backprop = losses(model, make_doc(40), GOLD)
    assert parts.mentions.item() > 0 and parts.links.item() > 0
    backprop(parts.mentions)
    assert gradient(model, "members.0.span_score.weight") > 0
    assert gradient(model, "members.0.pair_score.weight") == 0
    parts, backprop = losses(model, make_doc(40), GOLD)
    backprop(parts.links)
    assert gradient(model, "members.0.pair_score.weight") > 0


def test_links_do_not_push_mention_scores() -> None:
    """Singletons are mentions too (design section 4)."""
    model = make_model()
    parts, backprop = losses(model, make_doc(40), GOLD)
    backprop(parts.links)
    assert gradient(model, "members.0.span_score.weight") == 0
    assert gradient(model, "members.0.span_start.weight") == 0


def test_the_switch_of_singletons() -> None:
    found = {}
    for switch in (True, False):
        model = make_model(singletons=switch)
        parts, backprop = losses(model, make_doc(40), GOLD)
        backprop(parts.mentions)
        bias = dict(get_network(model).named_parameters())["members.0.span_score.bias"]
        assert bias.grad is not None
        found[switch] = bias.grad
    # The singleton is one mention more of the first column; the others are alike.
    assert found[True][0] < found[False][0]
    assert torch.allclose(found[True][1:], found[False][1:])


def test_documents_without_singletons_say_nothing_about_mentions() -> None:
    model = make_model()
    gold = GOLD._replace(complete=False, corpus=1)
    parts, backprop = losses(model, make_doc(40), gold)
    backprop(parts.mentions)
    bias = dict(get_network(model).named_parameters())["members.0.span_score.bias"]
    assert bias.grad is not None
    # Columns: any mention, and coreferent ones of the first and second corpus.
    assert bias.grad[0] == bias.grad[1] == 0 and bias.grad[2] != 0


@pytest.mark.parametrize("size", [1, 2, 40])
@pytest.mark.parametrize("gold", [targets([], []), targets([(0, 1)], [0])])
def test_documents_without_clusters_can_be_learnt_from(
    size: int, gold: Targets
) -> None:
    model = make_model()
    parts, backprop = losses(model, make_doc(size), gold)
    loss = parts.mentions + parts.links
    backprop(loss)
    assert loss.isfinite()
    for weight in get_network(model).parameters():
        assert weight.grad is None or weight.grad.isfinite().all()


def test_the_choice_of_antecedents_has_a_loss_of_its_own() -> None:
    found = {}
    for weight in (0.0, 0.5, 1.0):
        model = make_model(coarse_features=True, coarse_weight=weight)
        parts, backprop = losses(model, make_doc(40), GOLD)
        backprop(parts.links)
        found[weight] = float(parts.links.detach())
        # Only this loss reaches what counts in the choice alone.
        taught = gradient(model, "members.0.coarse.weight")
        assert (taught > 0.0) is (weight > 0.0)
    assert found[0.5] - found[0.0] == pytest.approx((found[1.0] - found[0.0]) / 2)
    assert found[0.5] > found[0.0]


def test_empty_documents_in_a_batch_teach_nothing() -> None:
    model = make_model()
    docs = [make_doc(0), make_doc(40)]
    none = targets([], [])
    batch = CorefInput(docs, [NO_CANDIDATES] * 2, [None] * 2, [0.5] * 2, [none, GOLD])
    both, backprop = model.begin_update(batch)
    alone, _ = losses(model, docs[1], GOLD)
    assert torch.equal(both.mentions, alone.mentions)
    backprop(both.mentions)


def test_gold_mentions_are_linked_however_unlikely(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Also when fewer spans are linked than there are gold ones."""
    model = make_model(training_mentions=0.0)
    seen: List[np.ndarray] = []
    real = mention_table

    def watch(*args: Any) -> MentionTable:
        seen.append(np.stack(args[1:], axis=1))
        return real(*args)

    monkeypatch.setattr(coref_model, "mention_table", watch)
    losses(model, make_doc(40), GOLD)
    linked = {(int(a), int(b)) for a, b in seen[0]}
    assert {(int(a), int(b)) for a, b in GOLD.bounds} <= linked
    assert len(linked) == 5


def test_hidden_candidates() -> None:
    """With a rate of 1 candidates have no say in training, but in use."""
    doc = make_doc(40)
    candidates = np.array([[0, 1], [12, 13]])
    for rate, same in ((0.0, False), (1.0, True)):
        model = make_model(candidate_dropout=rate)
        one, _ = losses(model, doc, GOLD)
        other, _ = losses(model, doc, GOLD, candidates=[candidates])
        assert torch.equal(one.mentions, other.mentions) is same
        used = resolve(model, doc, candidates=candidates, cut=0.0)
        without = resolve(model, doc, cut=0.0)
        assert not np.array_equal(used.probabilities, without.probabilities)


def test_unknown_features() -> None:
    with pytest.raises(ValueError, match="gestures.*agreement"):
        make_model(features=["gestures", "lexical"])


def test_not_initialized() -> None:
    tok2vec: Model = Model("nothing", lambda *_: ([], lambda _: []), dims={"nO": 3})
    with pytest.raises(ValueError, match="initialize"):
        get_network(build_lingmess(tok2vec))


def test_dropout_in_training_only() -> None:
    model = make_model(dropout=0.5)
    set_dropout_rate(model, 0.0)
    doc = make_doc(40)
    one, other = (losses(model, doc, GOLD)[0].mentions for _ in range(2))
    assert not torch.equal(one, other)
    first, second = (resolve(model, doc, cut=0.3) for _ in range(2))
    assert np.array_equal(first.scores, second.scores)


@pytest.mark.parametrize("experts", [True, False])
@pytest.mark.parametrize("features", [[], ["lexical"]])
def test_switches_of_the_network(experts: bool, features: List[str]) -> None:
    model = make_model(experts=experts, features=features, candidates=False)
    parts, backprop = losses(model, make_doc(40), GOLD)
    backprop(parts.mentions + parts.links)
    assert len(resolve(model, make_doc(40), cut=0.2).scores)
    assert len(CATEGORIES) == 6
