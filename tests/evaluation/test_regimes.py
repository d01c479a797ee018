"""The regimes of the coreference evaluation, on the toy corpus."""

import json
from pathlib import Path
from typing import Any, Dict, List, Sequence, Tuple

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc, SpanGroup

from spacy_he_coref.corpus.docs import load_docs
from spacy_he_coref.evaluation.regimes import (
    GIVEN_MENTIONS,
    REGIMES,
    Calibration,
    RegimeScore,
    evaluate_coref,
    mentions_input,
)
from spacy_he_coref.evaluation.segmentation import written_doc
from spacy_he_coref.evaluation.syntax import gold_input, raw_input, regime_pipes
from tests.evaluation.toy import TEXT, oracle_pipeline

pytestmark = pytest.mark.filterwarnings("ignore:.*is not in the segmentation")


def resolver_pipeline(corpus: Path, *, segments: bool = True, **config: Any) -> Any:
    nlp = oracle_pipeline(corpus, segments=segments)
    config = {"corpus": str(corpus), **config}
    nlp.add_pipe("toy_resolver", config=config)
    return nlp


@pytest.fixture(scope="module")
def dev(corpus: Path) -> Path:
    return corpus.with_name("dev.spacy")


@pytest.fixture
def nlp(dev: Path) -> Language:
    return resolver_pipeline(dev)


def reports(
    nlp: Language, docs: Sequence[Doc], *regimes: str, **kwargs: Any
) -> Dict[str, Dict[str, Any]]:
    scores, _ = evaluate_coref(nlp, docs, regimes or REGIMES, **kwargs)
    return {regime: score.report() for regime, score in scores.items()}


def prf(report: Dict[str, Any], metric: str) -> Tuple[float, float, float]:
    return report[metric]["p"], report[metric]["r"], report[metric]["f1"]


def test_all_right_in_all_regimes(nlp: Language, dev: Path) -> None:
    docs = load_docs(dev, nlp.vocab)
    scores, conditions = evaluate_coref(nlp, docs)
    assert tuple(scores) == REGIMES
    for regime, score in scores.items():
        report = score.report()
        assert report["conll_f1"] == 100.0, regime
        assert report["counts"]["gold_mentions"] == 2 + 3 + 5 + 3 + 2 + 2 + 3
        assert report["counts"]["gold_clusters"] == 7
        # 13 links of confidence 0.75, all right.
        links = report["calibration"]["links"]
        assert (links["ece"], links["number"]) == (25.0, 13)
    assert scores["auto"].report()["carried_over"]["conll_f1"] == 100.0
    assert "carried_over" not in scores["raw"].report()
    assert conditions["not_run"] == {}
    assert conditions["documents"] == 2
    assert conditions["components"]["gold"] == ["toy_oracle", "toy_resolver"]
    assert conditions["components"]["raw"] == nlp.pipe_names
    json.dumps({name: score.report() for name, score in scores.items()})
    json.dumps(conditions)


def test_whole_words_by_hand(dev: Path, gold: Doc) -> None:
    """Clitics are not found, and what begins or ends inside a word has other ends."""
    nlp = resolver_pipeline(dev, segments=False)
    found = reports(nlp, [gold])
    assert found["gold"]["conll_f1"] == 100.0
    for regime in ("auto", "raw"):
        report = found[regime]
        # Right are הוא and כלב קטן ששמו רקס, of five.
        assert prf(report, "mentions") == (40.0, 40.0, 40.0)
        assert prf(report, "muc") == (33.33, 33.33, 33.33)
        assert prf(report, "b3") == (26.67, 26.67, 26.67)
        assert prf(report, "ceafe") == (33.33, 33.33, 33.33)
        assert report["conll_f1"] == 31.11
        # The antecedent of הוא is ששמו, so no link has two right ends.
        assert report["calibration"]["links"]["right"] == 0.0
        assert report["unaligned"] == {"predicted": 0, "gold": 0}
        assert report["other_texts"] == 0
    # The same words hold the gold mentions, as the paper has it.
    assert found["auto"]["carried_over"]["conll_f1"] == 100.0


def test_carried_mentions_that_meet_in_a_token(dev: Path, gold: Doc) -> None:
    nlp = resolver_pipeline(dev, segments=False)
    report = reports(nlp, [gold], "auto", singletons=True)["auto"]
    carried = report["carried_over"]
    # The singletons י and שמו are in words that have a mention already.
    assert carried["dropped"]["gold"]["in_two_clusters"] == 2
    assert carried["dropped"]["predicted"]["in_two_clusters"] == 2
    assert carried["counts"]["gold_mentions"] == 6
    assert report["counts"]["gold_mentions"] == 8


def test_singletons(nlp: Language, gold: Doc) -> None:
    with_them = reports(nlp, [gold], singletons=True)
    for report in with_them.values():
        assert report["conll_f1"] > 99
        assert report["counts"]["gold_clusters"] == 5
        assert report["counts"]["predicted_clusters"] == 5
    without = reports(nlp, [gold], "gold")["gold"]
    assert without["counts"]["predicted_clusters"] == 2
    component: Any = nlp.get_pipe("toy_resolver")
    assert component.singletons is False


def test_inputs(nlp: Language, gold: Doc) -> None:
    given = mentions_input(gold)
    assert [t.text for t in given] == [t.text for t in gold]
    assert [t.is_sent_start for t in given] == [t.is_sent_start for t in gold]
    assert list(given.spans) == [GIVEN_MENTIONS]
    assert not given.has_annotation("DEP") and not given.has_annotation("POS")
    everything = {(s.start, s.end) for s in gold.spans["coref_mentions"]}
    assert {(s.start, s.end) for s in given.spans[GIVEN_MENTIONS]} == everything
    coreferent = mentions_input(gold, coreferent_only=True)
    texts = [span.text for span in coreferent.spans[GIVEN_MENTIONS]]
    assert texts == ["דודי", "כלב קטן ששמו רקס", "ו", "הוא", "ו"]
    for doc in (gold_input(gold), written_doc(nlp.vocab, gold), raw_input(nlp, gold)):
        assert doc.text == TEXT and not doc.spans


def test_pipes() -> None:
    nlp = spacy.blank("he")
    for name in ("he_segmenter", "he_retokenizer", "he_paragraphs", "sentencizer"):
        nlp.add_pipe(name)
    nlp.add_pipe("he_mentions")
    assert regime_pipes(nlp, "raw") == nlp.pipe_names
    assert regime_pipes(nlp, "auto") == [
        "he_segmenter",
        "he_retokenizer",
        "he_mentions",
    ]
    assert regime_pipes(nlp, "gold") == ["he_mentions"]


def test_given_mentions_that_are_not_read(dev: Path, gold: Doc) -> None:
    """The pipeline goes on to find mentions itself: no figures for that regime."""
    nlp = resolver_pipeline(dev, given=False)
    scores, conditions = evaluate_coref(
        nlp, [gold], ["gold_mentions", "gold"], singletons=True, coreferent_only=True
    )
    assert list(scores) == ["gold"]
    assert GIVEN_MENTIONS in conditions["not_run"]["gold_mentions"]
    assert conditions["given_mentions"] == "coreferent"
    nlp = resolver_pipeline(dev, given=True)
    scores, conditions = evaluate_coref(
        nlp, [gold], ["gold_mentions"], singletons=True, coreferent_only=True
    )
    report = scores["gold_mentions"].report()
    assert report["counts"]["predicted_clusters"] == 2
    assert report["muc"]["f1"] == 100.0 and report["b3"]["r"] == 62.5
    assert not conditions["not_run"]


def test_saved_segmentation(dev: Path, gold: Doc, tmp_path: Path) -> None:
    """In auto only, whether the pipeline has a segmenter or none."""
    table = tmp_path / "mini_4.txt"
    table.write_text(" ".join(m.form for m in gold._.morphemes), encoding="utf8")
    for segments in (False, True):
        nlp = resolver_pipeline(dev, segments=segments)
        scores, conditions = evaluate_coref(
            nlp, [gold], ["auto", "raw"], segmentation=table
        )
        assert scores["auto"].report()["conll_f1"] == 100.0
        assert (scores["raw"].report()["conll_f1"] == 100.0) is segments
        assert conditions["components"]["auto"] == ["toy_oracle", "toy_resolver"]
        assert conditions["segmentation"] == str(table)


def test_a_document_that_the_saved_segmentation_lacks(
    nlp: Language, gold: Doc, tmp_path: Path
) -> None:
    table = tmp_path / "other.txt"
    table.write_text("משהו אחר לגמרי", encoding="utf8")
    with pytest.raises(ValueError, match="mini:4 is not in the segmentation"):
        evaluate_coref(nlp, [gold], ["auto"], segmentation=table)


def predicted_doc(gold: Doc, words: List[str], *clusters: List[Tuple[int, int]]) -> Doc:
    doc = Doc(gold.vocab, words=words)
    for i, spans in enumerate(clusters, start=1):
        doc.spans[f"coref_clusters_{i}"] = [doc[a:b] for a, b in spans]
    return doc


def test_another_text_is_aligned_by_letters(gold: Doc) -> None:
    """A niqqud, a joined word and a space, a lost word."""
    words = ["לְדוֹדִי", "היה", "כלבקטן", "ש", "שמו", "רקס", ".", "הו", "א", "אהב", "."]
    score = RegimeScore("raw")
    doc = predicted_doc(gold, words, [(2, 6), (7, 9)], [(0, 1), (9, 11)])
    assert doc.text != gold.text
    score.add(doc, gold)
    report = score.report()
    # The clitic of איתו is gone, and with it the end of one gold mention.
    assert report["unaligned"] == {"predicted": 0, "gold": 1}
    assert report["other_texts"] == 1
    # כלב קטן ששמו רקס and הוא.
    assert prf(report, "mentions") == (50.0, 40.0, 44.44)
    assert report["muc"] == {"p": 50.0, "r": 33.33, "f1": 40.0}


def test_predicted_mentions_without_counterpart(gold: Doc) -> None:
    words = ["חדש", *[t.text for t in written_doc(gold.vocab, gold)], "\u200b"]
    last = len(words)
    doc = predicted_doc(gold, words, [(0, 1), (3, 7), (8, 9), (last - 1, last)])
    score = RegimeScore("auto")
    score.add(doc, gold)
    report = score.report()
    assert report["unaligned"] == {"predicted": 2, "gold": 0}
    assert prf(report, "mentions") == (50.0, 40.0, 44.44)
    assert prf(report["carried_over"], "mentions") == (50.0, 40.0, 44.44)


def test_gold_tokens_must_stay(dev: Path, gold: Doc) -> None:
    nlp = resolver_pipeline(dev)

    @Language.component("toy_joiner")
    def join(doc: Doc) -> Doc:
        with doc.retokenize() as retokenizer:
            retokenizer.merge(doc[0:2])
        return doc

    nlp.add_pipe("toy_joiner", before="toy_resolver")
    with pytest.raises(ValueError, match="mini:4.*changed the gold tokens"):
        evaluate_coref(nlp, [gold], ["gold"])


def test_what_cannot_be_evaluated(nlp: Language, dev: Path, gold: Doc) -> None:
    with pytest.raises(ValueError, match="no regime 'silver'.*gold_mentions"):
        evaluate_coref(nlp, [gold], ["silver"])
    with pytest.raises(ValueError, match="component for coreference.*toy_oracle"):
        evaluate_coref(oracle_pipeline(dev), [gold], ["gold"])
    with pytest.raises(ValueError, match="mini:4 has no gold clusters"):
        evaluate_coref(nlp, [gold_input(gold)], ["raw"])
    component: Any = nlp.get_pipe("toy_resolver")
    with pytest.raises(ValueError, match="mini:4 has no gold clusters"):
        evaluate_coref(nlp, [gold_input(gold)], ["raw"], singletons=True)
    assert component.singletons is False


def test_empty_documents(nlp: Language, gold: Doc) -> None:
    empty = Doc(nlp.vocab)
    empty.spans["coref_mentions"] = []
    one = Doc(nlp.vocab, words=["שלום"])
    one.spans["coref_mentions"] = []
    for found in (reports(nlp, [empty, one]), reports(nlp, [empty, gold, one])):
        assert set(found) == set(REGIMES)
    assert found["raw"]["conll_f1"] == 100.0


def test_twice_the_same(nlp: Language, dev: Path) -> None:
    docs = load_docs(dev, nlp.vocab)
    before = [doc.to_bytes() for doc in docs]
    assert reports(nlp, docs) == reports(nlp, docs)
    assert [doc.to_bytes() for doc in docs] == before


def test_progress(nlp: Language, gold: Doc) -> None:
    seen: List[Tuple[str, int]] = []

    def track(docs: Any, regime: str) -> Any:
        for i, doc in enumerate(docs):
            seen.append((regime, i))
            yield doc

    evaluate_coref(nlp, [gold, gold], ["gold", "raw"], track=track)
    assert seen == [("gold", 0), ("gold", 1), ("raw", 0), ("raw", 1)]


def test_calibration_by_hand() -> None:
    calibration = Calibration()
    assert calibration.report() is None
    for confidence, right in ((0.95, 1), (0.91, 0), (1.0, 1), (0.0, 0), (0.3, 1)):
        calibration.add(confidence, right)
    report = calibration.report()
    assert report is not None
    # |2.86 - 2| + |0 - 0| + |0.3 - 1|, over five.
    assert report["ece"] == 31.2
    assert report["number"] == 5 and report["right"] == 60.0
    assert report["confidence"] == 63.2
    assert [row["number"] for row in report["bins"]] == [1, 1, 3]
    assert report["bins"][-1] == {"confidence": 95.33, "right": 66.67, "number": 3}


def test_confidences_of_links_and_clusters(gold: Doc) -> None:
    """A link to a wrong antecedent, one of a mention that is none, a right one."""
    doc = gold_input(gold)
    # כלב קטן ששמו רקס, ו, הוא, then היה and the other cluster's דודי.
    bounds = [(1, 3), (3, 4), (4, 10), (8, 9), (11, 12)]
    doc.spans["coref_clusters_1"] = SpanGroup(
        doc,
        spans=[doc[a:b] for a, b in bounds],
        attrs={
            "links": [None, 0.2, 0.4, 0.9, 0.8],
            "antecedents": [None, 0, 0, 2, 2],
            "confidence": 0.5,
        },
    )
    score = RegimeScore("gold")
    score.add(doc, gold)
    calibration = score.report()["calibration"]
    assert calibration["links"]["number"] == 4
    assert calibration["links"]["right"] == 50.0
    # 0.2 + 0.4 + 0.1 + 0.2, over four.
    assert calibration["links"]["ece"] == 22.5
    assert calibration["clusters"]["ece"] == 0.0
    assert calibration["clusters"]["number"] == 1


def test_clusters_without_confidences(gold: Doc) -> None:
    score = RegimeScore("gold")
    score.add(gold, gold)
    assert score.report()["calibration"] == {"links": None, "clusters": None}
    assert score.report()["conll_f1"] == 100.0
