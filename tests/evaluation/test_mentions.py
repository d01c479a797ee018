"""The metrics of mention detection, counted by hand."""

import json
from pathlib import Path
from typing import Any, List, Tuple

import pytest
import spacy
from spacy.tokens import Doc, DocBin
from typer.testing import CliRunner

import spacy_he_coref.evaluation.mentions as evaluation
from spacy_he_coref.cli.evaluate import app
from spacy_he_coref.corpus.docs import load_docs
from spacy_he_coref.evaluation.mentions import (
    MentionScore,
    Pattern,
    detector_settings,
    evaluate_mentions,
    frequent,
    gold_mentions,
    mention_head,
    report_mentions,
)
from spacy_he_coref.evaluation.syntax import gold_input
from spacy_he_coref.mentions import KINDS, MENTIONS, Settings
from tests.evaluation.toy import TEXT, annotate, oracle_pipeline


def oracle(doc: Doc, settings: Settings) -> List[Tuple[int, int]]:
    """In place of the detector: all nouns, names and pronouns alone."""
    return [(t.i, t.i + 1) for t in doc if t.pos_ in ("NOUN", "PROPN", "PRON")]


@pytest.fixture
def words_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluation, "find_mentions", oracle)


def spans(doc: Doc) -> List[str]:
    return [doc[start:end].text for start, end in gold_mentions(doc)]


def test_gold_mentions_have_singletons(gold: Doc) -> None:
    assert len(gold.spans["coref_singletons"]) > 0
    assert set(gold_mentions(gold)) == {(s.start, s.end) for s in gold.spans[MENTIONS]}


def test_all_right(gold: Doc) -> None:
    score = MentionScore()
    score.add(gold, gold_mentions(gold), gold)
    report = score.report()
    assert (report["p"], report["r"], report["f1"]) == (100.0, 100.0, 100.0)
    assert set(report["by_kind"]) == set(KINDS)
    numbers = [kind["gold"] for kind in report["by_kind"].values()]
    assert sum(numbers) == len(gold_mentions(gold))
    assert not score.missed and not score.extra


def test_counted_by_hand(gold: Doc) -> None:
    everything = gold_mentions(gold)
    clitic = next(t.i for t in gold if t._.segment_kind == "clitic")
    assert (clitic, clitic + 1) in everything
    verb = next(t.i for t in gold if t.text == "אהב")
    found = [m for m in everything if m != (clitic, clitic + 1)]
    score = MentionScore()
    score.add(gold, [*found, (verb, verb + 1)], gold)
    n = len(everything)
    assert score.total[:] == (n - 1, n, n)
    clitics = sum(
        gold[start]._.segment_kind == "clitic"
        for start, end in everything
        if end - start == 1
    )
    assert score.by_kind["clitic"][:] == (clitics - 1, clitics - 1, clitics)
    assert score.missed == {Pattern("PRON", "nmod:poss", "clitic"): ["י"]}
    assert score.extra == {Pattern("VERB", "ROOT", "nominal"): ["אהב"]}
    assert score.report()["by_kind"]["nominal"]["p"] < 100.0


def test_letters_count_and_not_segments(gold: Doc) -> None:
    # Words left whole: a mention that begins and ends with its words is right, one
    # that is a part of a word cannot be.
    doc = annotate(spacy.blank("he")(TEXT), gold)
    starts = {t.idx: t.i for t in doc}
    ends = {t.idx + len(t): t.i + 1 for t in doc}
    whole = [
        (starts[gold[a].idx], ends[gold[b - 1].idx + len(gold[b - 1])])
        for a, b in gold_mentions(gold)
        if gold[a].idx in starts and gold[b - 1].idx + len(gold[b - 1]) in ends
    ]
    assert 0 < len(whole) < len(gold_mentions(gold))
    score = MentionScore()
    score.add(doc, whole, gold)
    assert score.total[:] == (len(whole), len(whole), len(gold_mentions(gold)))
    assert not score.extra


def test_no_mentions_at_all(gold: Doc) -> None:
    score = MentionScore()
    score.add(gold, [], gold)
    assert [score.report()[name] for name in ("p", "r", "f1")] == [0.0, 0.0, 0.0]
    empty = spacy.blank("he")("")
    empty.spans[MENTIONS] = []
    score = MentionScore()
    score.add(empty, [], empty)
    assert score.report()["f1"] == 100.0


def test_bad_documents(gold: Doc) -> None:
    with pytest.raises(ValueError, match="mini:4.*another text"):
        MentionScore().add(spacy.blank("he")("שלום"), [], gold)
    with pytest.raises(ValueError, match="no gold mentions"):
        gold_mentions(spacy.blank("he")(TEXT))


def test_heads(gold: Doc) -> None:
    start = next(t.i for t in gold if t.text == "כלב")
    assert mention_head(gold, start, start + 2).text == "כלב"
    # In a cycle the first token will do.
    doc = spacy.blank("he")("אבא אמא")
    cycle = Doc(doc.vocab, words=["אבא", "אמא"], heads=[1, 0], deps=["x", "y"])
    assert mention_head(cycle, 0, 2).i == 0
    assert mention_head(gold_input(gold), 2, 4).i == 2


def test_frequent_patterns() -> None:
    one, two, three = (Pattern("NOUN", dep, "nominal") for dep in ("a", "b", "c"))
    errors = {three: ["x"], two: ["x", "y"], one: ["x"]}
    assert frequent(errors, 2) == [two, one]


def test_evaluate(corpus: Path, words_only: None) -> None:
    nlp = oracle_pipeline(corpus)
    docs = load_docs(corpus, nlp.vocab)
    scores, conditions = evaluate_mentions(nlp, docs, Settings())
    metrics = report_mentions(scores)
    # The pipeline knows the segments and tags of gold.
    assert metrics["gold_trees"] == metrics["raw"]
    assert 0 < metrics["raw"]["p"] < 100 and 0 < metrics["raw"]["r"] < 100
    assert metrics["raw"]["by_kind"]["clitic"]["r"] == 100.0
    assert conditions["mentions"] == sum(len(gold_mentions(doc)) for doc in docs)
    assert conditions["setting"] == Settings().setting


def test_raw_depends_on_the_pipeline(corpus: Path, words_only: None) -> None:
    nlp = oracle_pipeline(corpus, segments=False)
    docs = load_docs(corpus, nlp.vocab)
    metrics = report_mentions(evaluate_mentions(nlp, docs, Settings())[0])
    assert metrics["raw"]["by_kind"]["clitic"]["r"] == 0.0
    assert metrics["raw"]["f1"] < metrics["gold_trees"]["f1"]


def test_default_setting(corpus: Path) -> None:
    nlp = oracle_pipeline(corpus)
    assert detector_settings(nlp) == Settings()
    nlp.add_pipe("he_mentions", config={"setting": "precision"})
    assert detector_settings(nlp).setting == "precision"
    assert detector_settings(nlp, "recall").setting == "recall"


def run(*args: object) -> Any:
    return CliRunner().invoke(app, ["mentions", *map(str, args)])


def test_command(corpus: Path, tmp_path: Path) -> None:
    oracle_pipeline(corpus).to_disk(tmp_path / "model")
    path = tmp_path / "new" / "mentions.json"
    result = run(tmp_path / "model", corpus, "--json", path, "--setting", "recall")
    assert result.exit_code == 0, result.output
    written = json.loads(path.read_text(encoding="utf8"))
    assert set(written) == {"gold_trees", "raw", "conditions"}
    assert set(written["raw"]) == {"p", "r", "f1", "by_kind"}
    assert written["raw"] == written["gold_trees"]
    assert written["raw"]["f1"] > 50
    assert written["conditions"]["setting"] == "recall"
    names = [line.split()[0] for line in result.stdout.splitlines() if line.split()]
    for name in ("all", *KINDS, "gold_trees:", "raw:"):
        assert name in names


def test_command_refuses_what_it_cannot_score(corpus: Path, tmp_path: Path) -> None:
    oracle_pipeline(corpus).to_disk(tmp_path / "model")
    DocBin(docs=[spacy.blank("he")(TEXT)]).to_disk(tmp_path / "plain.spacy")
    result = run(tmp_path / "model", tmp_path / "plain.spacy")
    assert result.exit_code == 1
    assert "without gold mentions" in result.output.replace("\n", " ")
    result = run(tmp_path / "model", corpus, "--setting", "loud")
    assert result.exit_code == 1
    assert "loud" in result.output


def test_command_with_a_model_that_does_not_parse(corpus: Path, tmp_path: Path) -> None:
    spacy.blank("he").to_disk(tmp_path / "blank")
    result = run(tmp_path / "blank", corpus)
    assert result.exit_code == 1
    assert "morphologizer" in result.output
    assert "Traceback" not in result.output
