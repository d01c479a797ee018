"""The component ``he_coref`` in tiny pipelines: what it writes, and any input."""

import multiprocessing
import os
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Dict, Iterator, List, Tuple

import numpy as np
import pytest
import spacy
import torch
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.training import Example
from spacy.util import load_config
from thinc.api import Config

from spacy_he_coref.coref import model as coref_model
from spacy_he_coref.coref.clusters import get_clusters
from spacy_he_coref.coref.component import (
    find_targets,
    join_possessors,
    link_mentions,
)
from spacy_he_coref.coref.model import Links
from spacy_he_coref.coref.reader import strip_gold
from spacy_he_coref.corpus.docs import set_clusters
from spacy_he_coref.evaluation.coref import cluster_groups
from spacy_he_coref.mentions.kinds import CLITIC, PRONOUN, mention_kind
from spacy_he_coref.shim import network_shims
from tests.coref.helpers import (
    Bounds,
    assert_same,
    clusters,
    examples,
    inputs,
    make_pipeline,
    move,
    numbers,
    stories,
    story,
    train,
    write_stories,
)
from tests.training.helpers import PLAN, assert_equal, everything, kill, run
from tests.util import ROOT

GIVEN = "coref_mentions_given"


@pytest.fixture(params=["joint", "frozen"])
def nlp(request: pytest.FixtureRequest) -> Language:
    return request.getfixturevalue(request.param)


@pytest.fixture
def settings(joint: Language) -> Iterator[Any]:
    """The component, whose settings are put back after the test."""
    pipe: Any = joint.get_pipe("he_coref")
    names = (
        "singletons",
        "mention_cut",
        "link_cut",
        "pronoun_cut",
        "calibration",
        "candidates",
        "agreement",
        "possessors",
    )
    before = {name: getattr(pipe, name) for name in names}
    yield pipe
    for name, value in before.items():
        setattr(pipe, name, value)


def weights(nlp: Language) -> Dict[str, bytes]:
    """All weights of the networks of a pipeline."""
    return {
        f"{i}/{name}": weight.numpy().tobytes()
        for i, shim in enumerate(network_shims(nlp))
        for name, weight in shim.network.state_dict().items()
    }


# Learning and saving


def test_overfits_a_tiny_corpus_also_when_reloaded(
    nlp: Language, tmp_path: Path
) -> None:
    nlp.to_disk(tmp_path)
    for pipeline in (nlp, spacy.load(tmp_path)):
        scores = pipeline.evaluate(examples(pipeline))
        assert scores["coref_f"] == scores["coref_mentions_f"] == 1.0
        for doc, gold in zip(pipeline.pipe(inputs(pipeline)), stories(), strict=True):
            assert clusters(doc) == clusters(gold)
            alone = {(s.start, s.end) for s in doc.spans["coref_singletons"]}
            assert alone == {(s.start, s.end) for s in gold.spans["coref_singletons"]}


def test_gradients_reach_the_encoder_unless_it_is_frozen(
    joint: Language, frozen: Language, encoder: Path
) -> None:
    fresh = weights(make_pipeline(encoder))
    ours = [name for name in fresh if name.startswith("0/transformer.encoder.layer.0")]
    assert ours
    assert all(weights(frozen)[name] == fresh[name] for name in ours)
    assert all(
        weights(joint)[name] != fresh[name] for name in ours if "key.bias" not in name
    )


def test_disk_and_bytes_give_the_same(nlp: Language, tmp_path: Path) -> None:
    nlp.to_disk(tmp_path)
    loaded = spacy.load(tmp_path)
    again = spacy.load(tmp_path).from_bytes(nlp.to_bytes())
    fresh = spacy.blank("he")
    for name in nlp.pipe_names:
        fresh.add_pipe(name, source=loaded)
    ours = [nlp(doc) for doc in inputs(nlp)]
    for other in (loaded, again, fresh):
        theirs = [other(doc) for doc in inputs(other)]
        for one, two in zip(ours, theirs, strict=True):
            assert clusters(one) == clusters(two)
            # Weights are stored in half precision.
            assert np.allclose(numbers(one), numbers(two), atol=0.02)
    assert weights(loaded) == weights(again)
    # No part of it is a pickle.
    data = (tmp_path / "he_coref" / "model").read_bytes()
    assert not data.startswith(b"\x80\x04") and b"torch._utils" not in data


def test_a_loaded_pipeline_learns_on(joint: Language, tmp_path: Path) -> None:
    joint.to_disk(tmp_path)
    loaded = spacy.load(tmp_path)
    assert train(loaded, 2, rate=0.0001)[-1] < 2


def test_settings_of_a_saved_pipeline_can_be_changed(
    joint: Language, tmp_path: Path
) -> None:
    joint.to_disk(tmp_path)
    changes = {"components": {"he_coref": {"link_cut": 1e6, "singletons": False}}}
    loaded = spacy.load(tmp_path, config=changes)
    doc = loaded(inputs(loaded)[0])
    assert clusters(doc) == [] and "coref_singletons" not in doc.spans


def test_same_seed_same_weights(encoder: Path) -> None:
    found = []
    for seed in (3, 3, 4):
        nlp = make_pipeline(encoder, seed, model={"dropout": 0.3})
        found.append((train(nlp, 2), weights(nlp)))
    assert found[0] == found[1]
    assert found[0][0] != found[2][0]


def coref_config(corpus: Path, syntax: Path, frozen: bool) -> Config:
    config = load_config(ROOT / "configs" / "coref.cfg")
    config["paths"]["syntax"] = str(syntax)
    for reader in config["corpora"].values():
        reader["paths"] = [str(corpus)]
    config["corpora"]["train"]["max_length"] = 6
    model = config["components"]["he_coref"]["model"]
    model.update(span_hidden=8, hidden=8, rank=4, max_width=4, frozen=frozen)
    if not frozen:
        config["corpora"]["train"]["encoder"] = None
        config["training"]["frozen_components"] = []
    config["training"].update(
        max_steps=6,
        eval_frequency=4,
        before_update={"@callbacks": "test.follow_plan.v1"},
    )
    return config


@pytest.fixture()
def one_thread() -> Iterator[None]:
    """A forked child has one, and other numbers of threads round otherwise."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("kept", [True, False])
def test_killed_training_goes_on_as_if_it_had_not_been(
    kept: bool, encoder: Path, tmp_path: Path, one_thread: None
) -> None:
    syntax = make_pipeline(encoder)
    syntax.remove_pipe("he_coref")
    syntax.to_disk(tmp_path / "syntax")
    corpus = write_stories(tmp_path / "stories.spacy")
    config = coref_config(corpus, tmp_path / "syntax", kept)
    PLAN.clear()
    run(config, tmp_path / "whole")
    child = os.fork()
    if not child:
        # Should it hang, it ends by another signal.
        signal.alarm(60)
        PLAN[5] = kill
        run(config, tmp_path / "broken", checkpoint_seconds=0.0)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
    assert "step 5" in run(config, tmp_path / "broken")
    assert_equal(everything(tmp_path / "whole"), everything(tmp_path / "broken"))


# Any document


def test_pipe_is_like_call(nlp: Language) -> None:
    docs = inputs(nlp) + [Doc(nlp.vocab), nlp.make_doc("דנה"), *inputs(nlp)]
    ours = [nlp(doc.copy()) for doc in docs]
    assert_same(list(nlp.pipe([doc.copy() for doc in docs], batch_size=3)), ours)
    assert_same(list(nlp.pipe([doc.copy() for doc in docs], batch_size=100)), ours)


def test_run_again_on_one_document(nlp: Language) -> None:
    for doc in inputs(nlp):
        first = nlp(doc)
        before = [clusters(first), numbers(first).tolist(), list(first.spans)]
        again = nlp(first)
        assert [clusters(again), numbers(again).tolist(), list(again.spans)] == before


def test_other_clusters_are_replaced_and_other_groups_kept(nlp: Language) -> None:
    doc = inputs(nlp)[0]
    doc.spans["coref_clusters_7"] = [doc[5:6], doc[6:7]]
    doc.spans["coref_clusters_head"] = [doc[5:6]]
    doc.spans["sc"] = [doc[0:2], doc[1:3]]
    doc.spans["empty"] = []
    doc.spans["sc"].attrs["mark"] = 5
    candidates = [(s.start, s.end) for s in doc.spans["coref_mentions"]]
    doc = nlp(doc)
    assert clusters(doc) == clusters(story(0))
    assert [(s.start, s.end) for s in doc.spans["sc"]] == [(0, 2), (1, 3)]
    assert doc.spans["sc"].attrs == {"mark": 5} and len(doc.spans["empty"]) == 0
    assert "coref_clusters_head" in doc.spans
    assert [(s.start, s.end) for s in doc.spans["coref_mentions"]] == candidates


def test_docbin_keeps_clusters(nlp: Language) -> None:
    docs = list(nlp.pipe(inputs(nlp)))
    data = DocBin(docs=docs, store_user_data=True).to_bytes()
    again = list(DocBin().from_bytes(data).get_docs(nlp.vocab))
    assert_same(again, docs)
    assert_same([Doc(nlp.vocab).from_bytes(doc.to_bytes()) for doc in docs], docs)
    assert_same([doc.copy() for doc in docs], docs)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "דנה",
        " ",
        "\n\n",
        "?!",
        "😀",
        "no Hebrew at all, none",
        "א\u200bב ראתה את דנ\u200fה\u202c, \u202bוהיא\u202c הלכה.",
        "דָּנָה הָלְכָה",
        "\u200b",
        "\u200e\u200f",
        "א" * 5000,
    ],
)
def test_any_text(nlp: Language, text: str) -> None:
    doc = nlp(text)
    assert doc.text == text
    for group in get_clusters(doc):
        assert len(group) > 1
    if len(doc) < 2:
        assert clusters(doc) == []


def test_a_giant_sentence(
    joint: Language, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(coref_model, "_STRETCH", 1000)
    length = 3000
    doc = Doc(
        joint.vocab,
        words=["דנה", "פגשה", "כלב", "ו", "היא"] * (length // 5),
        sent_starts=[True] + [False] * (length - 1),
    )
    settings.mention_cut = 0.9
    assert len(list(joint(doc).sents)) == 1


def test_many_mentions_of_one_name(joint: Language) -> None:
    rows = ["דנה", "פגשה", "כלב", "."] * 500
    doc = Doc(
        joint.vocab,
        words=rows,
        pos=["PROPN", "VERB", "NOUN", "PUNCT"] * 500,
        lemmas=rows,
        sent_starts=[True, False, False, False] * 500,
    )
    doc.spans[GIVEN] = [doc[i : i + 1] for i in range(0, 2000, 4)]
    doc = joint(doc)
    assert len(doc.text) and sum(map(len, clusters(doc))) <= 500
    for group in get_clusters(doc):
        assert {span.text for span in group} == {"דנה"}


def test_error_in_one_document_loses_no_other(
    joint: Language, monkeypatch: pytest.MonkeyPatch
) -> None:
    docs = inputs(joint)
    bad = docs[1].text
    real = coref_model.token_table

    def fail(doc: Doc) -> Any:
        if doc.text == bad:
            raise RuntimeError("the roof fell in")
        return real(doc)

    monkeypatch.setattr(coref_model, "token_table", fail)
    with pytest.raises(RuntimeError, match="roof"):
        list(joint.pipe([doc.copy() for doc in docs]))
    failed: List[Tuple[str, List[str], str]] = []

    def note(name: str, _: Any, docs: List[Doc], error: Exception) -> None:
        failed.append((name, [doc.text for doc in docs], str(error)))

    joint.set_error_handler(note)
    try:
        found = list(joint.pipe([doc.copy() for doc in docs]))
    finally:
        joint.set_error_handler(spacy.util.raise_error)
    assert failed == [("he_coref", [bad], "the roof fell in")]
    assert [doc.text for doc in found] == [docs[0].text, docs[2].text]
    assert clusters(found[1]) == clusters(story(2))


def test_not_initialized() -> None:
    nlp = spacy.blank("he")
    nlp.add_pipe("he_coref")
    with pytest.raises(ValueError, match="initialize"):
        nlp("שלום עולם")
    with pytest.raises(ValueError, match="initialize"):
        nlp("")


def test_without_vectors_the_error_says_what_is_missing(nlp: Language) -> None:
    doc = nlp(inputs(nlp)[0])
    # As doc_cleaner leaves it.
    doc._.trf_data = None
    with nlp.select_pipes(enable=["he_coref"]):
        with pytest.raises(ValueError, match="story:0.*transformer"):
            nlp(doc)


def test_frozen_training_without_vectors(frozen: Language) -> None:
    pipe: Any = frozen.get_pipe("he_coref")
    with pytest.raises(ValueError, match="story:0.*frozen"):
        pipe.update(examples(frozen))


def test_broken_settings() -> None:
    for cut in (0.0, 1.0, -3):
        with pytest.raises(ValueError, match="mention_cut"):
            spacy.blank("he").add_pipe("he_coref", config={"mention_cut": cut})
    with pytest.raises(ValueError, match="calibration.*two"):
        spacy.blank("he").add_pipe("he_coref", config={"calibration": [1.0]})


def test_empty_documents_teach_nothing(joint: Language) -> None:
    before = weights(joint)
    example = Example(Doc(joint.vocab), Doc(joint.vocab))
    losses = joint.update([example], sgd=False)
    assert losses["he_coref"] == 0 and weights(joint) == before
    losses = joint.update([example, *examples(joint)], sgd=False)
    assert losses["he_coref"] > 0
    parts = losses["he_coref_mentions"] + losses["he_coref_links"]
    assert losses["he_coref"] == pytest.approx(parts, rel=1e-5)
    for _, pipe in joint.pipeline:
        for node in pipe.model.walk():
            for shim in node.shims:
                shim.network.zero_grad()


# Processes and threads


def test_forked_processes_give_the_same(nlp: Language) -> None:
    docs = inputs(nlp) * 2
    ours = list(nlp.pipe([doc.copy() for doc in docs]))
    theirs = nlp.pipe([doc.copy() for doc in docs], n_process=2, batch_size=2)
    assert_same(list(theirs), ours)


def test_spawned_processes_give_the_same(
    joint: Language, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = multiprocessing.get_context("spawn")
    for name in ("Process", "Pipe", "Queue"):
        monkeypatch.setattr(f"spacy.language.mp.{name}", getattr(context, name))
    docs = inputs(joint)
    ours = list(joint.pipe([doc.copy() for doc in docs]))
    theirs = joint.pipe([doc.copy() for doc in docs], n_process=2, batch_size=2)
    assert_same(list(theirs), ours)


def test_threads_may_share_a_pipeline(nlp: Language) -> None:
    docs = inputs(nlp) * 8
    ours = [nlp(doc.copy()) for doc in docs]
    with ThreadPoolExecutor(6) as pool:
        for _ in range(2):
            assert_same(list(pool.map(nlp, [doc.copy() for doc in docs])), ours)


# Mentions given by the user


def give(doc: Doc, bounds: List[Bounds]) -> Doc:
    doc.spans[GIVEN] = [doc[start:end] for start, end in bounds]
    return doc


def test_only_given_mentions_are_linked(nlp: Language) -> None:
    mentions = [(8, 9), (0, 1), (11, 12), (0, 13), (1, 2)]
    doc = nlp(give(inputs(nlp)[0], mentions))
    assert any({(0, 1), (8, 9)} <= set(cluster) for cluster in clusters(doc))
    found = {bounds for cluster in clusters(doc) for bounds in cluster}
    alone = {(span.start, span.end) for span in doc.spans["coref_singletons"]}
    assert found | alone == set(mentions)
    assert set(doc.spans["coref_singletons"].attrs["confidences"]) == {1.0}
    # They stay as the user gave them.
    assert [(span.start, span.end) for span in doc.spans[GIVEN]] == mentions


@pytest.mark.parametrize("bounds", [[], [(0, 1)], [(0, 1), (0, 1)]])
def test_given_mentions_without_a_pair(nlp: Language, bounds: List[Bounds]) -> None:
    doc = nlp(give(inputs(nlp)[0], bounds))
    assert clusters(doc) == []
    assert len(doc.spans["coref_singletons"]) == len(set(bounds))


def test_given_mentions_are_no_gold(joint: Language) -> None:
    pipe: Any = joint.get_pipe("he_coref")

    def loss(bounds: List[Bounds]) -> float:
        data = examples(joint)[:1]
        give(data[0].predicted, bounds)
        found: float = joint.update(data, sgd=False)["he_coref"]
        for _, component in joint.pipeline:
            for node in component.model.walk():
                for shim in node.shims:
                    shim.network.zero_grad()
        return found

    assert pipe.name == "he_coref" and loss([]) == loss([(0, 1)])


# Switches and confidences


def test_singletons_are_a_switch(joint: Language, settings: Any) -> None:
    doc = joint(inputs(joint)[0])
    group = doc.spans["coref_singletons"]
    assert [(span.start, span.end) for span in group] == [(6, 7)]
    assert len(group.attrs["confidences"]) == 1
    settings.singletons = False
    again = joint(doc)
    assert "coref_singletons" not in again.spans
    assert clusters(again) == clusters(story(0))


def test_cuts(joint: Language, settings: Any) -> None:
    settings.link_cut = 1e6
    doc = joint(inputs(joint)[0])
    assert clusters(doc) == [] and len(doc.spans["coref_singletons"]) == 6
    settings.link_cut = -1e6
    settings.agreement = False
    doc = joint(inputs(joint)[0])
    # Every mention but the first has an antecedent.
    assert len(clusters(doc)) == 1 and len(doc.spans["coref_singletons"]) == 0
    # Pronouns go to no antecedent, everything else still does.
    settings.pronoun_cut = 1e6
    doc = joint(inputs(joint)[0])
    linked = {False: 0, True: 0}
    for group in cluster_groups(doc):
        for span, antecedent in zip(group, group.attrs["antecedents"], strict=True):
            if antecedent is not None:
                kind = mention_kind(doc, span.start, span.end)
                linked[kind in (CLITIC, PRONOUN)] += 1
    assert linked[False] and not linked[True]
    settings.mention_cut = 1 - 1e-9
    assert clusters(joint(inputs(joint)[0])) == []


def test_confidences_and_calibration(joint: Language, settings: Any) -> None:
    settings.mention_cut = 0.05
    settings.link_cut = -6.0
    before = [joint(doc) for doc in inputs(joint)]
    plain = np.concatenate([numbers(doc) for doc in before])
    assert len(plain) and ((plain >= 0) & (plain <= 1)).all()
    settings.calibration = [0.5, -0.3]
    after = [joint(doc) for doc in inputs(joint)]
    assert [clusters(doc) for doc in before] == [clusters(doc) for doc in after]
    for one, other in zip(before, after, strict=True):
        for group, changed in zip(get_clusters(one), get_clusters(other), strict=True):
            assert group.attrs["antecedents"] == changed.attrs["antecedents"]
            for link, new in zip(
                group.attrs["links"], changed.attrs["links"], strict=True
            ):
                if link is None:
                    assert new is None
                    continue
                odds = 0.5 * np.log(link / (1 - link)) - 0.3
                assert new == pytest.approx(1 / (1 + np.exp(-odds)), abs=1e-5)
    for extreme in ([1e4, 0.0], [0.0, 1e4], [0.0, -1e4]):
        settings.calibration = extreme
        found = np.concatenate([numbers(joint(doc)) for doc in inputs(joint)])
        assert ((found >= 0) & (found <= 1)).all()


# Links


def naive_links(links: Links, cut: float) -> Tuple[List[int], List[int], List[float]]:
    """The best fitting link of each mention, the union of them all, and confidences."""
    size = len(links.bounds)
    pairs = list(
        zip(
            links.later.tolist(),
            links.earlier.tolist(),
            links.scores.astype(np.float64).tolist(),
            strict=True,
        )
    )
    antecedents, entities = [-1] * size, list(range(size))
    for mention in range(size):
        own = [(score, e) for later, e, score in pairs if later == mention]
        for score, earlier in sorted(own, reverse=True):
            members = [i for i in range(mention) if entities[i] == entities[earlier]]
            forms = [links.pronouns[i] for i in [*members, mention]]
            fits = all(len({int(form[k]) for form in forms} - {0}) < 2 for k in (0, 1))
            if score > cut and fits:
                antecedents[mention] = earlier
                entities[mention] = entities[earlier]
                break
    confidences = []
    for mention in range(size):
        own = [(score, e) for later, e, score in pairs if later == mention]
        good = [s for s, e in own if entities[e] == entities[mention]]
        every = 1 + sum(np.exp(score) for score, _ in own)
        confidences.append(sum(np.exp(s) for s in good) / every)
    return antecedents, entities, confidences


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("cut", [-1.0, 0.0, 2.0])
@pytest.mark.parametrize("share", [0.0, 0.5])
def test_links_against_naive_ones(seed: int, cut: float, share: float) -> None:
    """Of some mentions, a share of them, gender and number are known."""
    draw = np.random.default_rng(seed)
    size = 30
    later, earlier = np.tril_indices(size, -1)
    chosen = draw.random(len(later)) < 0.3
    later, earlier = later[chosen], earlier[chosen]
    # Rounded, so that some are equal: the nearest of them is the antecedent.
    scores = np.round(draw.normal(0, 2, len(later)), 0 if seed % 2 else 3)
    links = Links(
        np.stack([np.arange(size), np.arange(size) + 1], axis=1),
        np.ones(size, dtype=np.float32),
        later,
        earlier,
        scores.astype(np.float32),
        draw.integers(0, 3, (size, 2)) * (draw.random((size, 1)) < share),
    )
    antecedents, entities, confidences = link_mentions(links, cut)
    expected = naive_links(links, cut)
    assert antecedents.tolist() == expected[0]
    same = np.equal.outer(entities, entities)
    assert np.array_equal(same, np.equal.outer(expected[1], expected[1]))
    linked = antecedents >= 0
    assert np.allclose(confidences[linked], np.array(expected[2])[linked], atol=1e-5)
    assert linked.any()


def test_links_of_nothing_and_extreme_scores() -> None:
    nothing = np.zeros(0, dtype=np.int64)
    empty = Links(nothing.reshape(0, 2), nothing, nothing, nothing, nothing)
    assert [len(part) for part in link_mentions(empty, 0.0)] == [0, 0, 0]
    links = Links(
        np.array([[0, 1], [1, 2], [2, 3]]),
        np.ones(3, dtype=np.float32),
        np.array([1, 2, 2]),
        np.array([0, 0, 1]),
        np.array([2000.0, -2000.0, -3000.0], dtype=np.float32),
    )
    antecedents, entities, confidences = link_mentions(links, -1e6, [1.5, 0.2])
    assert antecedents.tolist() == [-1, 0, 0] and len(set(entities)) == 1
    assert confidences[1] > 0.99 and confidences[2] < 0.01


def test_a_long_chain_is_one_entity() -> None:
    size = 5000
    later = np.arange(1, size)
    links = Links(
        np.stack([np.arange(size), np.arange(size) + 1], axis=1),
        np.ones(size, dtype=np.float32),
        later,
        later - 1,
        np.ones(size - 1, dtype=np.float32),
    )
    _, entities, _ = link_mentions(links, 0.0)
    assert set(entities.tolist()) == {0}


# Targets


def test_targets() -> None:
    gold = story(0)
    found = find_targets(Example(strip_gold(gold), gold), ["iahlt", "kibutzr"])
    assert found.corpus == 1 and found.complete
    entities = {
        tuple(bounds): entity
        for bounds, entity in zip(
            found.bounds.tolist(), found.entities.tolist(), strict=True
        )
    }
    assert entities[0, 1] == entities[4, 5] == entities[8, 9] > 0
    assert entities[3, 5] == entities[11, 12] > 0
    assert entities[3, 5] != entities[0, 1]
    assert entities[6, 7] == 0 and len(entities) == 6


def test_targets_on_other_tokens() -> None:
    """A mention whose letters no tokens have is left out, the others count."""
    gold = story(0)
    words = Doc(gold.vocab, words=gold.text.split())
    found = find_targets(Example(words, gold), ["kibutzr"])
    # Left are דנה, אחיה and היא; the clitics and בית are inside of words.
    assert found.bounds.tolist() == [[0, 1], [6, 7], [3, 4]]
    assert found.entities[0] == found.entities[1] != found.entities[2]


def test_targets_without_singletons() -> None:
    gold = story(0)
    del gold.spans["coref_singletons"]
    assert not find_targets(Example(strip_gold(gold), gold), ["kibutzr"]).complete


def test_a_span_of_two_kinds_belongs_to_the_cluster() -> None:
    gold = story(0)
    gold.spans.clear()
    set_clusters(gold, [([(0, 1)], {}), ([(0, 1), (8, 9)], {}), ([(0, 1)], {})])
    found = find_targets(Example(strip_gold(gold), gold), ["kibutzr"])
    assert found.bounds.tolist() == [[0, 1], [8, 9]]
    assert found.entities.tolist() == [1, 1]


def test_unknown_corpus_names_the_document() -> None:
    gold = story(0)
    with pytest.raises(ValueError, match="story:0.*'kibutzr'"):
        find_targets(Example(strip_gold(gold), gold), ["iahlt"])


def test_documents_without_source_are_of_the_first_corpus() -> None:
    gold = move(story(0), spacy.blank("he").vocab)
    gold._.source = None
    assert find_targets(Example(strip_gold(gold), gold), ["iahlt"]).corpus == 0


def test_pronouns_of_an_entity_agree() -> None:
    # דנה, היא, הוא: the last one fits the first two best, and a fourth one less.
    bounds = np.array([[0, 1], [2, 3], [4, 5], [6, 7]])
    pronouns = np.array([[0, 0], [2, 1], [0, 0], [1, 1]])
    links = Links(
        bounds,
        np.ones(4, dtype=np.float32),
        np.array([1, 3, 3, 3]),
        np.array([0, 0, 1, 2]),
        np.array([3.0, 4.0, 2.0, 1.0], dtype=np.float32),
        pronouns,
    )
    antecedents, entities, confidences = link_mentions(links, 0.0)
    assert antecedents.tolist() == [-1, 0, -1, 2]
    assert entities.tolist() == [0, 0, 2, 2]
    assert confidences[3] < 0.2
    antecedents, _, _ = link_mentions(links._replace(pronouns=None), 0.0)
    assert antecedents.tolist() == [-1, 0, -1, 0]
    antecedents, _, _ = link_mentions(links, 1.5)
    assert antecedents.tolist() == [-1, 0, -1, -1]
    floors = np.array([-np.inf, 3.5, -np.inf, -np.inf])
    antecedents, _, _ = link_mentions(links._replace(floors=floors), 0.0)
    assert antecedents.tolist() == [-1, -1, -1, 0]


def test_a_clitic_goes_where_its_doubled_possessor_goes() -> None:
    bounds = np.array([[0, 1], [3, 4], [6, 7], [9, 10]])
    # The clitic 2 is drawn to 1, its possessor 3 to 0 and to the clitic.
    links = Links(
        bounds,
        np.ones(4, dtype=np.float32),
        np.array([1, 2, 2, 3, 3, 3]),
        np.array([0, 0, 1, 0, 1, 2]),
        np.array([-3.0, 1.0, 2.0, 1.5, -1.0, 1.0], dtype=np.float32),
        floors=np.array([-np.inf, -np.inf, 3.0, -np.inf]),
        possessors=np.array([[2, 3]]),
    )
    joined = join_possessors(links)
    antecedents, entities, confidences = link_mentions(joined, 0.0)
    assert antecedents.tolist() == [-1, -1, 0, 2]
    assert entities.tolist() == [0, 1, 0, 0]
    assert confidences[3] > 0.9
    assert (np.diff(joined.later) >= 0).all()
    # A possessor that nothing came before begins an entity with its clitic.
    new = links._replace(scores=np.full(6, -5.0, dtype=np.float32))
    antecedents, _, _ = link_mentions(join_possessors(new), 0.0)
    assert antecedents.tolist() == [-1, -1, -1, 2]
    alone = links._replace(possessors=np.zeros((0, 2), dtype=np.int64))
    assert join_possessors(alone) is alone
