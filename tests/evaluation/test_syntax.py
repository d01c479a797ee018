"""The metrics of tags and trees, on the toy corpus and counted by hand."""

import json
from pathlib import Path
from typing import Any, Dict, List

import pytest
import spacy
from spacy.tokens import Doc, DocBin
from typer.testing import CliRunner

# Registers the component, also where the package is not installed.
import spacy_he_coref.coref.component  # noqa: F401
from spacy_he_coref.cli.evaluate import app
from spacy_he_coref.corpus.docs import TREEBANK, load_docs
from spacy_he_coref.evaluation.segmentation import align_morphemes, conll18_words
from spacy_he_coref.evaluation.syntax import (
    METRICS,
    SyntaxScore,
    evaluate_syntax,
    gold_input,
    report_syntax,
    sentence_spans,
    syntax_pipes,
    universal_feats,
)
from tests.evaluation.test_segmentation import shift, words
from tests.evaluation.toy import TEXT, annotate, oracle_pipeline


def token(doc: Doc, text: str) -> Any:
    return next(token for token in doc if token.text == text)


def predicted(gold: Doc) -> Doc:
    return annotate(gold_input(gold), gold)


def scores(predicted: Doc, gold: Doc) -> Dict[str, Any]:
    score = SyntaxScore()
    score.add(predicted, gold)
    return score.report()


def share(right: int, total: int = 22) -> float:
    return round(100 * right / total, 2)


def test_all_right(gold: Doc) -> None:
    assert scores(predicted(gold), gold) == dict.fromkeys(METRICS, 100.0)


def test_tags(gold: Doc) -> None:
    doc = predicted(gold)
    token(doc, "כלב").pos_ = "PROPN"
    found = scores(doc, gold)
    assert found.pop("upos") == share(21)
    assert set(found.values()) == {100.0}


def test_only_universal_features_count(gold: Doc) -> None:
    doc = predicted(gold)
    verb = token(doc, "אהב")
    verb.set_morph(str(verb.morph).replace("PAAL", "PIEL"))
    assert scores(doc, gold)["feats"] == 100.0
    verb.set_morph(str(verb.morph).replace("Masc", "Fem"))
    assert scores(doc, gold)["feats"] == share(21)
    assert universal_feats("Gender=Fem|HebBinyan=PAAL") == {"Gender=Fem"}
    assert universal_feats("_") == set()


def test_lemmas(gold: Doc) -> None:
    doc = predicted(gold)
    token(doc, "כלב").lemma_ = "חתול"
    assert scores(doc, gold)["lemmas"] == share(21)
    # Where the treebank has no lemma, any is right.
    rows = gold.user_data[TREEBANK]
    gold.user_data[TREEBANK] = [[row[0], "_", *row[2:]] for row in rows]
    assert scores(doc, gold)["lemmas"] == 100.0


def test_relations_up_to_the_colon_and_in_full(gold: Doc) -> None:
    doc = predicted(gold)
    clitic = token(doc, "י")
    assert clitic.dep_ == "nmod:poss"
    clitic.dep_ = "nmod"
    score = SyntaxScore()
    score.add(doc, gold)
    found = score.report()
    assert found["las"] == found["uas"] == 100.0
    assert found["las_subtypes"] == share(21)
    assert score.confusions == {("nmod:poss", "nmod"): 1}
    assert score.relations["nmod:poss"][:] == (1, 1, 2)
    assert score.relations["nmod"][:] == (0, 1, 0)
    clitic.dep_ = "obj"
    assert scores(doc, gold)["las"] == share(21)


def test_heads(gold: Doc) -> None:
    doc = predicted(gold)
    adjective = token(doc, "קטן")
    adjective.head = token(doc, "היה")
    score = SyntaxScore()
    score.add(doc, gold)
    found = score.report()
    assert found["uas"] == found["las"] == share(21)
    assert score.relations["amod"].f1 == 1.0
    assert score.attached["amod"].f1 == 0.0


def test_another_root(gold: Doc) -> None:
    # Root and subject change places, and all that hangs from the root stays there.
    doc = predicted(gold)
    heads = [t.head.i for t in doc]
    verb, noun = token(doc, "היה").i, token(doc, "כלב").i
    heads[noun], heads[verb] = noun, noun
    doc = Doc(
        doc.vocab,
        words=[t.text for t in doc],
        spaces=[bool(t.whitespace_) for t in doc],
        user_data=doc.user_data,
        heads=heads,
        deps=[t.dep_ for t in doc],
    )
    assert scores(doc, gold)["uas"] == share(20)


def test_whole_words(gold: Doc) -> None:
    # 14 words, of which 10 are one morpheme, spelled as it is.
    doc = annotate(spacy.blank("he")(TEXT), gold)
    found = scores(doc, gold)
    assert found["words"] == found["upos"] == round(100 * 20 / 36, 2)
    # All of these hang from one of these, or are roots, but ליד of הים.
    assert found["uas"] == round(100 * 2 * 9 / 36, 2)


def test_sentences_without_a_tree(gold: Doc) -> None:
    rows = gold.user_data[TREEBANK]
    gold.user_data[TREEBANK] = [
        row if i < 13 else [row[0], "_", "_", "_", None, "_"]
        for i, row in enumerate(rows)
    ]
    doc = annotate(spacy.blank("he")(TEXT), gold)
    score = SyntaxScore()
    score.add(doc, gold)
    assert score.sentences_without_tree == 1
    assert score.counts["words"][:] == (10, 14, 22)
    assert score.counts["upos"][:] == (5, 7, 13)
    assert score.sentences[:] == (2, 2, 2)
    assert sum(counts.gold for counts in score.relations.values()) == 13


def test_what_is_not_annotated_has_no_score(gold: Doc) -> None:
    doc = gold_input(gold)
    assert scores(doc, gold) == {**dict.fromkeys(METRICS), "words": 100.0}
    doc[0].pos_ = "ADP"
    assert scores(doc, gold)["upos"] == share(1 + 2)


def test_sentences(gold: Doc) -> None:
    doc = spacy.blank("he")(TEXT)
    assert sentence_spans(doc) == [(0, len(TEXT))]
    score = SyntaxScore()
    score.add(doc, gold)
    assert score.sentences[:] == (0, 1, 2)
    spaced = spacy.blank("he")("\n הוא רץ. \n\n")
    assert sentence_spans(spaced) == [(2, 9)]


@pytest.mark.parametrize(
    "ours,theirs,right",
    [
        (["שלום", "הבית=ה בית"], ["שלום", "הבית=הבית"], 1),
        (["דבריו=דברי _של_ _הוא"], ["דבריו=דבר _של_ _הוא"], 2),
        (["בשטחים=ב ה_ שטחים", "אבא"], ["בשטחים=ב שטחים", "אבא"], 3),
        ([], ["שלום"], 0),
    ],
)
def test_number_of_pairs(ours: List[str], theirs: List[str], right: int) -> None:
    a, b = words(*ours), words(*theirs)
    assert len(align_morphemes(a, b)) == conll18_words(a, b).right == right


def test_pairs() -> None:
    gold = words("בשטחים=ב ה_ שטחים", "אבא")
    assert align_morphemes(words("בשטחים=ב שטחים", "אבא"), gold) == [
        (0, 0),
        (1, 2),
        (2, 3),
    ]
    # Ranges that overlap make one stretch.
    left = [shift(words("אבג=אב ג")[0], 0), shift(words("דה=ד ה")[0], 3)]
    right = [shift(words("אב")[0], 0), shift(words("גדה=ג ד ה")[0], 2)]
    assert align_morphemes(left, right) == [(i, i) for i in range(4)]
    # One word against two.
    joined = words("ביתגדול")
    cut = [shift(words("בית")[0], 0), shift(words("גדול")[0], 3)]
    assert align_morphemes(joined, cut) == []


def test_bad_documents(gold: Doc) -> None:
    with pytest.raises(ValueError, match="mini:4.*another text"):
        SyntaxScore().add(spacy.blank("he")("שלום"), gold)
    plain = spacy.blank("he")(TEXT)
    with pytest.raises(ValueError, match="no morpheme-level annotation"):
        SyntaxScore().add(plain, plain)
    gold.user_data[TREEBANK] = gold.user_data[TREEBANK][1:]
    with pytest.raises(ValueError, match="mini:4 has 22 morphemes, but 21 rows"):
        SyntaxScore().add(predicted(gold), gold)


def test_empty_documents() -> None:
    empty = spacy.blank("he")("")
    score = SyntaxScore()
    score.add(empty, empty)
    assert score.report()["words"] == 100.0


def test_gold_input(gold: Doc) -> None:
    doc = gold_input(gold)
    assert doc.text == gold.text
    assert doc._.morphemes == gold._.morphemes
    assert doc._.source == gold._.source
    assert [s.text for s in doc.sents] == [s.text for s in gold.sents]
    for name in ("POS", "MORPH", "LEMMA", "DEP", "ENT_IOB"):
        assert not doc.has_annotation(name)
    assert TREEBANK not in doc.user_data and not doc.spans


def test_pipes_of_each_regime(corpus: Path) -> None:
    nlp = oracle_pipeline(corpus)
    nlp.add_pipe("sentencizer", before="toy_oracle")
    nlp.add_pipe("merge_entities", first=True)
    assert syntax_pipes(nlp, "gold") == ["toy_oracle"]
    assert syntax_pipes(nlp, "raw") == nlp.pipe_names
    assert syntax_pipes(oracle_pipeline(corpus, segments=False), "gold") == [
        "toy_oracle"
    ]


def test_mention_detection_does_not_run(corpus: Path) -> None:
    nlp = oracle_pipeline(corpus)
    nlp.add_pipe("he_mentions")
    nlp.add_pipe("he_coref")
    assert syntax_pipes(nlp, "raw") == nlp.pipe_names[:-2]
    assert syntax_pipes(nlp, "gold") == ["toy_oracle"]


def test_evaluate(corpus: Path) -> None:
    nlp = oracle_pipeline(corpus)
    docs = load_docs(corpus, nlp.vocab)
    found, conditions = evaluate_syntax(nlp, docs)
    metrics = report_syntax(found)
    perfect = dict.fromkeys(METRICS, 100.0)
    assert metrics == {"gold": perfect, "raw": perfect, "sents_f1": 100.0}
    assert conditions["documents"] == 2
    assert conditions["sentences"] == 10
    assert conditions["gold_sentences_changed"] == 0
    assert conditions["components_gold"] == ["toy_oracle"]


def test_regimes_differ(corpus: Path) -> None:
    # Without a segmenter the raw words stay whole; gold segments are given.
    nlp = oracle_pipeline(corpus, segments=False)
    docs = load_docs(corpus, nlp.vocab)
    metrics = report_syntax(evaluate_syntax(nlp, docs)[0])
    assert metrics["gold"]["uas"] == 100.0
    assert metrics["raw"]["words"] < 80
    assert metrics["raw"]["uas"] < metrics["raw"]["words"]


def test_a_pipeline_that_does_not_parse(corpus: Path) -> None:
    nlp = spacy.blank("he")
    nlp.add_pipe("sentencizer")
    with pytest.raises(ValueError, match="neither tags nor parses"):
        evaluate_syntax(nlp, load_docs(corpus, nlp.vocab))


def run(*args: object) -> Any:
    return CliRunner().invoke(app, ["syntax", *map(str, args)])


def test_command(corpus: Path, tmp_path: Path) -> None:
    oracle_pipeline(corpus).to_disk(tmp_path / "model")
    path = tmp_path / "new" / "syntax.json"
    result = run(tmp_path / "model", corpus, "--json", path)
    assert result.exit_code == 0, result.output
    written = json.loads(path.read_text(encoding="utf8"))
    assert set(written) == {"gold", "raw", "sents_f1", "conditions"}
    assert written["gold"]["las"] == written["raw"]["upos"] == 100.0
    assert written["conditions"]["corpus"] == str(corpus)
    rows = [line.split() for line in result.stdout.splitlines()]
    assert ["las_subtypes", "100.00", "100.00"] in rows
    assert ["sents_f1", "100.00"] in rows
    assert ["root", "10", "100.00", "100.00"] in rows


def test_command_says_that_nothing_segments(corpus: Path, tmp_path: Path) -> None:
    oracle_pipeline(corpus, segments=False).to_disk(tmp_path / "model")
    result = run(tmp_path / "model", corpus)
    assert result.exit_code == 0, result.output
    assert "no he_segmenter" in result.stderr.replace("\n", " ")


def test_command_refuses_what_it_cannot_score(corpus: Path, tmp_path: Path) -> None:
    spacy.blank("he").to_disk(tmp_path / "blank")
    result = run(tmp_path / "blank", corpus)
    assert result.exit_code == 1
    assert "neither tags nor parses" in result.output
    oracle_pipeline(corpus).to_disk(tmp_path / "model")
    DocBin(docs=[spacy.blank("he")(TEXT)]).to_disk(tmp_path / "plain.spacy")
    result = run(tmp_path / "model", tmp_path / "plain.spacy")
    assert result.exit_code == 1
    assert "without the morphemes of the treebank" in result.output.replace("\n", " ")
