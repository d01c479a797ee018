"""All figures of one run, on the toy corpus."""

import json
from pathlib import Path
from typing import Any, Dict, List

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc

from spacy_he_coref.corpus.docs import load_docs
from spacy_he_coref.evaluation.mentions import detector_settings, evaluate_mentions
from spacy_he_coref.evaluation.run import document_names, measure, without_text
from spacy_he_coref.evaluation.schema import REGIMES, problems
from spacy_he_coref.evaluation.segmentation import evaluate_segmentation
from spacy_he_coref.evaluation.syntax import evaluate_syntax, gold_input, report_syntax
from tests.evaluation.metrics import toy_metrics
from tests.evaluation.toy import oracle_pipeline


@pytest.fixture(scope="module")
def metrics(corpus: Path) -> Dict[str, Any]:
    return toy_metrics(corpus)


def pipeline(corpus: Path) -> Language:
    dev = corpus.with_name("dev.spacy")
    nlp = oracle_pipeline(dev)
    nlp.add_pipe("toy_resolver", config={"corpus": str(dev)})
    return nlp


def test_all_there_and_as_the_schema_says(metrics: Dict[str, Any]) -> None:
    assert list(problems(json.loads(json.dumps(metrics)))) == []
    for regime in REGIMES:
        assert metrics[regime]["conll_f1"] == 100.0
        assert metrics[regime]["intervals"]["conll_f1"] == [100.0, 100.0]
        mentions = metrics[regime]["per_document"]["mentions"]
        assert sum(row[3] for row in mentions) == 20
        assert metrics[regime]["analysis"]["losses"]["conll_f1"] == 100.0
        # Singletons are written for the analyses, and are not scored.
        assert metrics[regime]["analysis"]["losses"]["singletons_known"] == 2
    assert [document["sentences"] for document in metrics["documents"]]
    assert metrics["conditions"]["split"] == "dev"
    assert metrics["conditions"]["not_run"] == {}


def test_upstream_figures_are_those_of_the_other_commands(
    metrics: Dict[str, Any], corpus: Path
) -> None:
    nlp = pipeline(corpus)
    docs = load_docs(corpus.with_name("dev.spacy"), nlp.vocab)
    for regime, given in (("raw", "raw"), ("auto", "words")):
        expected, _ = evaluate_segmentation(nlp, docs, given)
        assert metrics["segmentation"][regime] == expected
    assert metrics["syntax"] == report_syntax(evaluate_syntax(nlp, docs)[0])
    scores, _ = evaluate_mentions(nlp, docs, detector_settings(nlp))
    found = metrics["mention_detection"]
    assert found["setting"] == "balanced"
    for given in ("gold_trees", "raw"):
        assert found[given] == scores[given].report()


def test_no_text_of_the_corpus(corpus: Path) -> None:
    """Whole words are wrong, so there are errors with examples: offsets alone."""
    metrics = toy_metrics(corpus, regimes=["raw"], segments=False)
    types = metrics["raw"]["analysis"]["errors"]["types"]
    assert any(error["examples"] for error in types.values())
    assert metrics["conditions"]["not_run"]["segmentation"].startswith("the pipeline")
    text = json.dumps(metrics, ensure_ascii=False)
    assert not any("\u05d0" <= letter <= "\u05ea" for letter in text)


def test_documents_without_name_and_with_another_text() -> None:
    report = {
        "documents": [{"document": "'שלום עולם'", "gold": 1}],
        "examples": [
            {"document": "a", "contexts": [{"text": "שלום", "start": 0}]},
            {"document": "b", "contexts": []},
        ],
    }
    assert without_text(report, {"'שלום עולם'": "document 1"}, {"b"}) == {
        "documents": [{"document": "document 1", "gold": 1}],
        "examples": [{"document": "a", "contexts": [{"start": 0}]}],
    }


def test_a_corpus_of_clusters_alone(corpus: Path, gold: Doc) -> None:
    """No trees, no mentions: the clusters are scored, and the rest says why not."""
    bare = gold_input(gold)
    for key in ("coref_clusters_1", "coref_clusters_2"):
        bare.spans[key] = [bare[s.start : s.end] for s in gold.spans[key]]
    bare._.source = None
    metrics = measure(pipeline(corpus), [bare], ["gold", "raw"])
    assert metrics["raw"]["muc"]["f1"] == 100.0
    assert metrics["raw"]["intervals"] is None
    assert "syntax" not in metrics and "mention_detection" not in metrics
    for what in ("syntax", "mention_detection"):
        assert "documents without" in metrics["conditions"]["not_run"][what]
    assert metrics["segmentation"]["raw"]["morpheme_f1"] == 100.0
    assert metrics["documents"][0]["id"] == "document 1"
    assert document_names([bare, gold]) == ["document 1", "mini:4"]


def test_a_pipeline_that_changes_the_text(corpus: Path) -> None:
    """The clusters are aligned by letters; what has no alignment is left out."""
    nlp = spacy.blank("he")
    make = nlp.tokenizer

    def spaced(text: str) -> Doc:
        words: List[str] = [token.text for token in make(text)]
        return Doc(nlp.vocab, words=[words[0] + "\u05b0", *words[1:]])

    @Language.component("toy_first_two")
    def link(doc: Doc) -> Doc:
        doc.spans["coref_clusters_1"] = [doc[0:1], doc[1:2]]
        return doc

    nlp.tokenizer = spaced
    nlp.add_pipe("toy_first_two")
    docs = load_docs(corpus.with_name("dev.spacy"), nlp.vocab)
    metrics = measure(nlp, docs, ["raw"])
    assert metrics["raw"]["other_texts"] == 2
    reason = metrics["conditions"]["not_run"]["mention_detection"]
    assert "changed the text of document" in reason
    assert "syntax" not in metrics
    assert metrics["raw"]["unaligned"] == {"predicted": 0, "gold": 0}
    # Offsets in another text are not those of gold.
    for error in metrics["raw"]["analysis"]["errors"]["types"].values():
        assert error["examples"] == []


def test_figures_of_some_documents_are_left_out(corpus: Path) -> None:
    """The text of the second document is another one: raw has no figures but those of
    the clusters, auto keeps its own."""
    nlp = pipeline(corpus)
    docs = load_docs(corpus.with_name("dev.spacy"), nlp.vocab)
    make, last = nlp.tokenizer, docs[-1].text

    def spaced(text: str) -> Doc:
        return make(" " + text if text == last else text)

    nlp.tokenizer = spaced
    metrics = measure(nlp, docs, ["gold", "auto", "raw"])
    assert metrics["raw"]["other_texts"] == 1
    assert list(metrics["segmentation"]) == ["auto"]
    assert list(metrics["syntax"]) == ["gold"]
    assert set(metrics["mention_detection"]) == {"setting", "gold_trees"}
    assert list(metrics["conditions"]["not_run"]) == [
        "segmentation",
        "syntax",
        "mention_detection",
    ]


def test_match(corpus: Path) -> None:
    """Whole words have the heads of gold mentions in them, but not their ends."""
    scores = {
        match: toy_metrics(corpus, regimes=["raw"], segments=False, match=match)
        for match in ("exact", "partial", "head")
    }
    f1 = {match: m["raw"]["mentions"]["f1"] for match, m in scores.items()}
    assert f1["exact"] < f1["head"]
    assert scores["head"]["conditions"]["match"] == "head"
    right = toy_metrics(corpus, match="head")
    assert all(right[regime]["conll_f1"] == 100.0 for regime in REGIMES)
    with pytest.raises(ValueError, match="matched by 'near'.*exact, partial, head"):
        toy_metrics(corpus, match="near")


def test_head_match_needs_gold_trees(corpus: Path, gold: Doc) -> None:
    bare = gold_input(gold)
    bare.spans["coref_mentions"] = []
    with pytest.raises(ValueError, match="mini:4 has no gold tree"):
        measure(pipeline(corpus), [bare], ["raw"], match="head")


def test_twice_the_same(metrics: Dict[str, Any], corpus: Path) -> None:
    assert toy_metrics(corpus) == metrics
