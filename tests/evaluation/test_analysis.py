"""Breakdowns and losses, by hand and against the metrics."""

import json
from typing import Any, Dict, List, Sequence

import pytest
from spacy.tokens import Doc
from spacy.vocab import Vocab

from spacy_he_coref.corpus.docs import load_docs
from spacy_he_coref.evaluation.analysis import (
    FIRST,
    MORPHEME_BINS,
    SENTENCE_BINS,
    Analysis,
    Breakdown,
    Losses,
    bin_names,
    bin_of,
    ladder,
)
from spacy_he_coref.evaluation.comparison import KINDS, Comparison
from spacy_he_coref.evaluation.regimes import (
    GIVEN_MENTIONS,
    REGIMES,
    RegimeScore,
    mentions_input,
)
from tests.evaluation.hand import (
    BROTHER,
    DANA,
    GOLD,
    HOUSE,
    STORY,
    Spans,
    gold_story,
    story,
)
from tests.util import ROOT

# Found: דנה, היא, היא; wrong: ראה. Two entities in one, the house not found.
WRONG = [[(0, 1), (6, 7), (14, 15), (15, 16)], [(9, 10), (20, 21)]]


def breakdown(clusters: Sequence[Spans], regime: str = "gold") -> Dict[str, Any]:
    score = Breakdown()
    score.add(Comparison(story(clusters), gold_story(), regime))
    return score.report()


def test_bins() -> None:
    assert bin_names(SENTENCE_BINS) == ["0", "1", "2", "3-5", "6+"]
    found = [bin_of(number, SENTENCE_BINS) for number in (-1, 0, 2, 3, 5, 6, 100)]
    assert found == ["0", "0", "2", "3-5", "3-5", "6+", "6+"]


def test_kinds_by_hand() -> None:
    found = breakdown(WRONG)["by_kind"]
    assert list(found) == list(KINDS)
    # One of two clitics is found; its antecedent אחיה is not.
    assert found["clitic"]["mentions"] == {
        "p": 100.0,
        "r": 50.0,
        "f1": 66.67,
        "predicted": 1,
        "gold": 2,
    }
    assert found["clitic"]["links"]["r"] == 0.0
    assert found["clitic"]["links"]["gold"] == 2
    # It is the first of its predicted cluster.
    assert found["clitic"]["links"]["predicted"] == 0
    # Of three gold pronouns with antecedents only the first היא is with an earlier one.
    assert found["pronoun"]["links"]["r"] == 33.33
    assert found["pronoun"]["links"]["p"] == 33.33
    assert found["pronoun"]["mentions"]["f1"] == 100.0
    # B3: היא has two of its four, הוא and the other היא are alone of theirs.
    assert found["pronoun"]["b3"]["r"] == round(100 * (1 / 2 + 1 / 3 + 1 / 4) / 3, 2)
    assert found["pronoun"]["b3"]["p"] == round(100 * (2 / 4 + 1 / 4 + 1 / 2) / 3, 2)
    assert found["name"]["mentions"]["f1"] == 100.0
    # The verb counts where it stands: as an indefinite one.
    assert found["indefinite"]["mentions"]["predicted"] == 1
    assert found["construct"]["mentions"]["gold"] == 0


def test_distances_widths_and_lengths_by_hand() -> None:
    found = breakdown(WRONG)
    assert list(found["by_sentences"]) == [FIRST, *bin_names(SENTENCE_BINS)]
    assert list(found["by_morphemes"]) == [FIRST, *bin_names(MORPHEME_BINS)]
    sentences = {
        name: cell["mentions"]["gold"] for name, cell in found["by_sentences"].items()
    }
    # ה in the sentence of דנה; היא, ו, הוא and הבית one later; the last היא two later.
    assert sentences == {FIRST: 3, "0": 1, "1": 4, "2": 1, "3-5": 0, "6+": 0}
    assert found["by_sentences"][FIRST]["links"]["gold"] == 0
    # Predicted: היא of דנה is one later, הוא of היא too, ראה in the same sentence, the
    # last היא two after ו.
    sentences = {
        name: cell["links"]["predicted"] for name, cell in found["by_sentences"].items()
    }
    assert sentences == {FIRST: 0, "0": 1, "1": 2, "2": 1, "3-5": 0, "6+": 0}
    morphemes = {
        name: cell["mentions"]["gold"] for name, cell in found["by_morphemes"].items()
    }
    # Between: ה 4, היא 1, היא 13; ו 4, הוא 4; הבית 4.
    assert {name: n for name, n in morphemes.items() if n} == {
        FIRST: 3,
        "0-4": 5,
        "10-24": 1,
    }
    widths = {
        name: cell["mentions"]["gold"] for name, cell in found["by_width"].items()
    }
    # אחיה has three morphemes: אחי, של and היא.
    assert {name: n for name, n in widths.items() if n} == {"1": 6, "2": 2, "3-5": 1}
    assert found["by_width"]["3-5"]["mentions"]["r"] == 0.0
    length = found["by_length"]["0-249"]
    assert length["documents"] == 1 and length["mentions"]["gold"] == 9
    assert found["by_length"]["250-499"]["documents"] == 0


def test_pronouns() -> None:
    found = breakdown(WRONG)["pronouns"]
    assert found["gold"] == {
        "mentions": 9,
        "clitics": 2,
        "pronouns": 3,
        "share": 55.56,
    }
    assert found["predicted"]["share"] == 66.67
    assert found["right"]["share"] == 80.0
    assert found["missed"] == {
        "mentions": 4,
        "clitics": 1,
        "pronouns": 0,
        "share": 25.0,
    }
    assert found["extra"]["share"] == 0.0
    assert breakdown([])["pronouns"]["predicted"]["share"] == 0.0


def test_nested_and_first_by_order_of_the_text() -> None:
    # ה is inside of אחיה: nothing is between, and the longer one comes first.
    gold = story([[(4, 5), (3, 5)]], mentions=True)
    score = Breakdown()
    score.add(Comparison(story([[(4, 5), (3, 5)]]), gold, "gold"))
    found = score.report()
    assert found["by_morphemes"]["0-4"]["links"]["f1"] == 100.0
    assert found["by_morphemes"]["0-4"]["mentions"]["gold"] == 1
    assert found["by_kind"]["clitic"]["links"]["gold"] == 1


def test_kinds_of_a_gold_document_without_tags() -> None:
    gold = story(GOLD, mentions=True, tags=False)
    score = Breakdown()
    score.add(Comparison(story(GOLD), gold, "gold"))
    found = score.report()["by_kind"]
    assert found["unknown"]["mentions"]["gold"] == 7
    assert found["clitic"]["mentions"]["f1"] == 100.0


@pytest.mark.parametrize("regime", REGIMES)
def test_totals_are_the_metrics(regime: str) -> None:
    # In two tables all rows add up, too.
    analysis, score = Analysis(regime), RegimeScore(regime)
    for clusters in (WRONG, GOLD, [[*DANA, *HOUSE], BROTHER[:2]], []):
        predicted = story(clusters)
        predicted.spans[GIVEN_MENTIONS] = [predicted[:1]]
        analysis.add(predicted, gold_story())
        score.add(predicted, gold_story())
    report, metrics = analysis.report(), score.report()
    check_totals(report, metrics)
    assert report["documents"] == 4 and report["regime"] == regime


def check_totals(report: Dict[str, Any], metrics: Dict[str, Any]) -> None:
    json.dumps(report)
    found = report["breakdown"]
    for ours, theirs in (("mentions", "mentions"), ("links", "muc"), ("b3", "b3")):
        for name in ("p", "r", "f1"):
            assert found["total"][ours][name] == metrics[theirs][name]
    for table in ("by_kind", "by_sentences", "by_morphemes", "by_width", "by_length"):
        for side in ("predicted", "gold"):
            for metric in ("mentions", "links", "b3"):
                rows = [cell[metric][side] for cell in found[table].values()]
                assert sum(rows) == found["total"][metric][side]
    counts = metrics["counts"]
    for side in ("predicted", "gold"):
        assert report["clusters"][side] == counts[f"{side}_clusters"]
        assert found["pronouns"][side]["mentions"] == counts[f"{side}_mentions"]
    assert report["losses"]["conll_f1"] == metrics["conll_f1"]
    lost = sum(report["losses"]["losses"].values())
    assert lost == pytest.approx(100 - metrics["conll_f1"], abs=0.02)


def losses(
    predicted: Doc, regime: str = "gold", gold: Any = None, **kwargs: Any
) -> Dict[str, Any]:
    score = Losses(**kwargs)
    score.add(Comparison(predicted, gold or gold_story(), regime, **kwargs))
    return score.report()


def conll(clusters: Sequence[Spans], gold: Sequence[Spans] = GOLD) -> float:
    """CoNLL F1 on the tokens of gold."""
    pair = Comparison(story(clusters), story(gold, mentions=True), "gold")
    return 100 * pair.counts().conll_f1


def test_nothing_is_lost() -> None:
    for regime in REGIMES:
        found = losses(story(GOLD), regime)
        assert found["conll_f1"] == 100.0
        assert set(found["losses"].values()) == {0.0}


def test_loss_of_clustering() -> None:
    # Wrong clusters of right mentions.
    found = losses(story([[*DANA, *BROTHER], HOUSE]))
    assert found["losses"]["clustering"] == round(100 - found["conll_f1"], 2) > 0
    assert found["losses"]["detection"] == found["losses"]["segmentation"] == 0
    # A true mention that refers to nothing is linked wrongly: clustering, too.
    gold = gold_story(singletons=[(7, 8)])
    found = losses(story([*GOLD[:2], [*HOUSE, (7, 8)]]), gold=gold)
    assert found["losses"]["clustering"] == round(100 - found["conll_f1"], 2) > 0


def test_loss_of_detection() -> None:
    # The house is not found.
    found = losses(story([DANA, BROTHER], [(22, 23)]))
    assert found["ceilings"] == {"segments": 100.0, "mentions": found["conll_f1"]}
    assert found["losses"]["detection"] == round(100 - found["conll_f1"], 2) > 0
    # It is found and not linked.
    found = losses(story([DANA, BROTHER], HOUSE))
    assert found["ceilings"]["mentions"] == 100.0
    assert found["losses"]["clustering"] == round(100 - found["conll_f1"], 2) > 0
    assert found["singletons_known"] == 1
    assert losses(story([DANA, BROTHER]))["singletons_known"] == 0
    # Something that is no mention is linked.
    found = losses(story([DANA, BROTHER, [*HOUSE, (7, 8)]]))
    assert found["without"] == {
        "bad_segments": found["conll_f1"],
        "bad_mentions": 100.0,
    }
    assert found["losses"]["detection"] == round(100 - found["conll_f1"], 2) > 0


def test_given_mentions_are_known() -> None:
    predicted = mentions_input(gold_story())
    predicted.spans["coref_clusters_1"] = [predicted[a:b] for a, b in DANA]
    found = losses(predicted, "gold_mentions")
    assert found["losses"]["clustering"] == round(100 - found["conll_f1"], 2) > 0
    assert found["singletons_known"] == 1


def test_loss_of_segmentation() -> None:
    # Without clitics: אחיה is one token, 3, and so is לו, 7, for ו.
    text = STORY.replace("+", "")
    possible = [[DANA[0], *DANA[2:]], [BROTHER[0], BROTHER[2]], HOUSE]
    clusters = [[(0, 1), (5, 6), (18, 19)], [(3, 4), (12, 13)], [(9, 11), (15, 17)]]
    found = losses(story(clusters, text=text), "raw")
    ceiling = round(conll(possible), 2)
    assert found["conll_f1"] == ceiling < 100
    assert found["ceilings"] == {"segments": ceiling, "mentions": ceiling}
    assert found["losses"] == {
        "segmentation": round(100 - ceiling, 2),
        "detection": 0.0,
        "clustering": 0.0,
    }
    # לו in the place of ו is a wrong mention that the segments are to blame for.
    clusters[1].insert(1, (7, 8))
    found = losses(story(clusters, text=text), "raw")
    assert found["conll_f1"] < ceiling
    assert found["without"] == {"bad_segments": ceiling, "bad_mentions": ceiling}
    assert found["losses"]["segmentation"] == round(100 - found["conll_f1"], 2)


def test_singletons_count_if_asked_for() -> None:
    gold = gold_story(singletons=[(1, 2)])
    assert losses(story(GOLD), gold=gold)["conll_f1"] == 100.0
    found = losses(story(GOLD), gold=gold, singletons=True)
    assert found["losses"]["detection"] == round(100 - found["conll_f1"], 2) > 0


def analyses(**clusters: List[Spans]) -> Dict[str, Analysis]:
    output = {}
    for regime, found in clusters.items():
        output[regime] = Analysis(regime)
        predicted = story(found, [(22, 23)])
        predicted.spans[GIVEN_MENTIONS] = [predicted[a:b] for c in GOLD for a, b in c]
        output[regime].add(predicted, gold_story())
    return output


def test_ladder() -> None:
    found = ladder(
        analyses(
            raw=[DANA, BROTHER[:2]],
            auto=[DANA, BROTHER],
            gold=[DANA, BROTHER],
            gold_mentions=[DANA[:3], BROTHER, HOUSE],
        )
    )
    json.dumps(found)
    assert list(found["regimes"]) == list(REGIMES)
    f1 = {name: row["conll_f1"] for name, row in found["regimes"].items()}
    steps = found["steps"]
    assert [step["causes"] for step in steps] == [
        ["clustering"],
        ["detection"],
        ["segmentation"],
        ["text"],
    ]
    assert [(step["from"], step["to"]) for step in steps][:2] == [
        ("perfect", "gold_mentions"),
        ("gold_mentions", "gold"),
    ]
    assert steps[0]["points"] == pytest.approx(100 - f1["gold_mentions"], abs=0.01)
    assert steps[0]["losses"]["clustering"] == steps[0]["points"]
    assert steps[2]["points"] == 0.0
    assert steps[3]["points"] == pytest.approx(f1["auto"] - f1["raw"], abs=0.02)
    assert sum(step["share"] for step in steps) == pytest.approx(100, abs=0.02)
    for step in steps:
        assert sum(step["losses"].values()) == pytest.approx(step["points"], abs=0.02)
    gap = found["gap"]
    assert (gap["from"], gap["to"]) == ("gold_mentions", "raw")
    assert gap["points"] == pytest.approx(f1["gold_mentions"] - f1["raw"], abs=0.02)
    # Clustering cannot fail where nothing is found.
    assert gap["losses"]["clustering"]["points"] < 0
    assert gap["losses"]["detection"]["share"] > 100


def test_ladder_of_some_regimes() -> None:
    found = ladder(analyses(raw=[DANA], gold=[DANA, BROTHER]))
    assert [step["causes"] for step in found["steps"]] == [
        ["clustering", "detection"],
        ["segmentation", "text"],
    ]
    assert ladder(analyses(raw=GOLD))["gap"] is None
    assert ladder(analyses(raw=GOLD))["steps"][0]["share"] == 0.0
    assert ladder({}) == {"regimes": {}, "steps": [], "gap": None}


def test_ladder_needs_the_same_documents() -> None:
    both = analyses(raw=GOLD, gold=GOLD)
    both["raw"].add(story(GOLD), gold_story())
    with pytest.raises(ValueError, match="gold 1, raw 2"):
        ladder(both)


def test_empty_documents() -> None:
    analysis = Analysis("raw")
    gold = Doc(Vocab())
    gold.spans["coref_mentions"] = []
    analysis.add(Doc(gold.vocab), gold)
    report = analysis.report()
    assert report["errors"]["count"] == report["clusters"]["gold"] == 0
    json.dumps(report)


def test_real_documents_agree_with_themselves() -> None:
    path = ROOT / "corpora" / "dev.spacy"
    if not path.is_file():
        pytest.skip("no corpora/dev.spacy")
    analysis, score = Analysis("raw"), RegimeScore("raw")
    for gold in load_docs(path, Vocab()):
        analysis.add(gold, gold)
        score.add(gold, gold)
    report = analysis.report()
    check_totals(report, score.report())
    assert report["errors"]["count"] == 0
    assert report["clusters"]["correct"] == report["clusters"]["gold"]
    assert report["breakdown"]["by_kind"]["construct"]["mentions"]["gold"] > 0
