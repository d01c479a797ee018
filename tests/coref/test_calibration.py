"""Cuts and calibration, on stories that a tiny pipeline knows by heart."""

from typing import List

import numpy as np
import pytest
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from spacy_he_coref.coref.calibration import (
    Cuts,
    Outcome,
    apply_platt,
    best_cuts,
    calibrate,
    calibration_error,
    char_clusters,
    fit_platt,
    join_outcomes,
    link_outcomes,
    predict_links,
    read_examples,
    score_grid,
    sum_counts,
)
from spacy_he_coref.coref.component import HebrewCoref, find_component
from spacy_he_coref.evaluation.coref import CorefCounts, Fractions, score_coref
from tests.coref.helpers import stories


def annotated(nlp: Language) -> List[Doc]:
    docs = stories(nlp.vocab)
    for doc in docs:
        doc._.source = {**doc._.source, "annotation": "predicted"}
    return docs


@pytest.fixture
def component(frozen: Language) -> HebrewCoref:
    pipe = frozen.get_pipe("he_coref")
    assert isinstance(pipe, HebrewCoref)
    return pipe


@pytest.fixture
def examples(frozen: Language) -> List[Example]:
    return read_examples(frozen, annotated(frozen))


def outcome(slope: float, intercept: float, size: int = 20_000) -> Outcome:
    """Confidences whose log-odds say too much or too little, by a known law."""
    draw = np.random.default_rng(0)
    logits = draw.normal(0.5, 2.0, size)
    chance = 1 / (1 + np.exp(-(slope * logits + intercept)))
    return Outcome(1 / (1 + np.exp(-logits)), draw.random(size) < chance)


@pytest.mark.parametrize("law", [(0.5, -0.7), (2.0, 0.3), (1.0, 0.0)])
def test_platt_finds_the_law(law: "tuple[float, float]") -> None:
    links = outcome(*law)
    found = fit_platt(links)
    assert found == pytest.approx(law, abs=0.06)
    after = calibration_error(apply_platt(links, found))
    assert after is not None and after < 1.5


def test_platt_lowers_the_error_of_boastful_confidences() -> None:
    links = outcome(0.4, -0.5)
    before = calibration_error(links)
    after = calibration_error(apply_platt(links, fit_platt(links)))
    assert before is not None and after is not None
    assert before > 10 > after


def test_platt_exists_when_all_is_right_or_separable() -> None:
    confidences = np.array([0.9, 0.8, 0.3, 0.2])
    for right in ([1, 1, 1, 1], [1, 1, 0, 0], [0, 0, 0, 0]):
        found = fit_platt(Outcome(confidences, np.array(right, dtype=bool)))
        assert np.isfinite(found).all() and np.abs(found).max() < 20
    # The ends of the range have log-odds too, and equal ones a curve without bottom.
    fit_platt(Outcome(np.array([0.0, 1.0]), np.array([False, True])))
    fit_platt(Outcome(np.array([0.5, 0.5]), np.array([False, True])))


def test_nothing_to_calibrate_says_so() -> None:
    with pytest.raises(ValueError, match="links no mentions"):
        fit_platt(join_outcomes([]))
    assert calibration_error(join_outcomes([])) is None


def test_best_cuts_are_best_on_the_chosen_documents() -> None:
    good, bad = Fractions(1, 1, 1, 1), Fractions(0, 1, 0, 1)
    right = CorefCounts(muc=good, b3=good, ceafe=good)
    wrong = CorefCounts(muc=bad, b3=bad, ceafe=bad)
    grid = {
        Cuts(0.3, 0.0): [right, wrong, wrong],
        Cuts(0.5, -1.0): [wrong, right, right],
        Cuts(0.5, 0.0): [wrong, right, right],
        Cuts(0.5, 1.0): [wrong, right, right],
    }
    assert best_cuts(grid) == Cuts(0.5, 0.0)
    assert best_cuts(grid, [0]) == Cuts(0.3, 0.0)


def test_a_peak_that_stands_alone_is_smoothed() -> None:
    def counts(right: int) -> List[CorefCounts]:
        part = Fractions(right, 100, right, 100)
        return [CorefCounts(muc=part, b3=part, ceafe=part)]

    rows = [[55, 30, 30, 50], [30, 30, 51, 52], [30, 30, 50, 51]]
    grid = {
        Cuts(0.1 * i, float(j)): counts(right)
        for i, row in enumerate(rows)
        for j, right in enumerate(row)
    }
    assert best_cuts(grid) == Cuts(0.0, 0.0)
    assert best_cuts(grid, smooth=True) in (Cuts(0.1, 3.0), Cuts(0.2, 3.0))
    one = {Cuts(0.5, 0.0): counts(1)}
    assert best_cuts(one, smooth=True) == Cuts(0.5, 0.0)


def test_the_grid_scores_what_the_component_writes(
    component: HebrewCoref, examples: List[Example]
) -> None:
    docs = [example.predicted for example in examples]
    found = predict_links(component, docs, [0.2])
    grid = score_grid(examples, found, [-1.0, component.link_cut, 1e6])
    assert len(grid) == 2 * 3
    own = Cuts(component.mention_cut, component.link_cut)
    written = []
    for example in examples:
        doc = example.predicted.copy()
        component.set_annotations([doc], component.predict([doc]))
        written.append(Example(doc, example.reference))
    scores = score_coref(written)
    assert sum_counts(grid[own]).conll_f1 == pytest.approx(scores["coref_f"])
    assert scores["coref_f"] > 0.5
    # A cut that nothing passes.
    assert not sum_counts(grid[Cuts(0.2, 1e6)]).mentions.predicted


def test_the_cut_is_put_back(component: HebrewCoref, examples: List[Example]) -> None:
    before = component.mention_cut
    docs = [example.predicted for example in examples]
    found = predict_links(component, docs, [0.9999999, 0.0001])
    assert list(found) == [0.0001, before, 0.9999999]
    numbers = [sum(len(one.bounds) for one in links) for links in found.values()]
    assert numbers[0] > numbers[1] > numbers[2]
    bare = docs[0].copy()
    bare._.trf_data = None
    with pytest.raises(ValueError):
        predict_links(component, [bare], [0.1])
    assert component.mention_cut == before


def test_right_links_are_those_of_one_gold_cluster(
    component: HebrewCoref, examples: List[Example]
) -> None:
    docs = [example.predicted for example in examples]
    found = component.predict(docs)
    outcomes = link_outcomes(examples, found, component.link_cut)
    rights = [part.right.tolist() for part in outcomes]
    assert any(map(any, rights))
    for example, links, part in zip(examples, found, outcomes, strict=True):
        every = link_outcomes(
            [Example(example.predicted, example.predicted)], [links], 0
        )
        assert not every[0].right.any()
        assert len(part.right) == len(part.confidences)


def test_calibrate_finds_settings_and_changes_nothing(
    component: HebrewCoref, examples: List[Example]
) -> None:
    before = (component.mention_cut, component.link_cut, component.calibration)
    report = calibrate(component, examples)
    after = (component.mention_cut, component.link_cut, component.calibration)
    assert before == after
    settings = report["settings"]
    assert 0 < settings["mention_cut"] < 1
    assert len(settings["calibration"]) == 2
    assert report["conll_f1"]["after"] >= report["conll_f1"]["before"]
    assert report["conll_f1"]["halves"] <= report["conll_f1"]["after"]
    assert report["documents"] == len(examples)
    assert report["links"] > 0
    kept = calibrate(component, examples, keep_cuts=True)["settings"]
    assert (kept["mention_cut"], kept["link_cut"]) == before[:2]
    one = calibrate(component, examples[:1])
    assert one["conll_f1"]["halves"] is None
    assert one["ece"]["halves"] is None


def test_the_error_before_is_that_of_the_present_calibration(
    component: HebrewCoref, examples: List[Example]
) -> None:
    report = calibrate(component, examples, keep_cuts=True)
    component.calibration = report["settings"]["calibration"]
    try:
        again = calibrate(component, examples, keep_cuts=True)
    finally:
        component.calibration = None
    assert again["ece"]["before"] == report["ece"]["after"]
    assert again["settings"] == report["settings"]


def test_annotated_documents_keep_their_annotation(frozen: Language) -> None:
    docs = annotated(frozen)
    for example, doc in zip(read_examples(frozen, docs), docs, strict=True):
        assert [t.pos_ for t in example.predicted] == [t.pos_ for t in doc]
        assert len(example.predicted.spans["coref_mentions"])
        assert example.predicted._.trf_data is not None
        assert not char_clusters(example.predicted)
        assert char_clusters(example.reference)
    # Others have only what the pipeline gives them: here, vectors.
    bare = read_examples(frozen, stories(frozen.vocab))
    assert not any(token.pos_ for example in bare for token in example.predicted)
    with pytest.raises(ValueError, match="Some documents"):
        read_examples(frozen, [docs[0], stories(frozen.vocab)[1]])


def test_a_pipeline_without_coreference_is_refused(frozen: Language) -> None:
    assert find_component(frozen) == "he_coref"
    with frozen.select_pipes(disable="he_coref"):
        with pytest.raises(ValueError, match="no he_coref; its components"):
            find_component(frozen)
