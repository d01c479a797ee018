"""The metrics of segmentation, on words whose scores can be counted by hand."""

import json
from typing import Dict, List

import pytest
from spacy.tokens import Doc, DocBin
from spacy.training import Example
from typer.testing import CliRunner

from spacy_he_coref.cli.evaluate import SEGMENTATION_METRICS, app
from spacy_he_coref.evaluation.segmentation import (
    Counts,
    common_length,
    conll18_words,
    count_document,
    count_words,
    evaluate_segmentation,
    report,
    score_segmentation,
    written_doc,
)
from spacy_he_coref.segmenter.letters import WordAnalysis
from spacy_he_coref.tokens import set_analysis
from tests.segmenter.helpers import TEXT, analyse, blank, pipeline, segmented
from tests.util import data_dir


def words(*analyses: str) -> List[WordAnalysis]:
    """``word=morphemes`` or a word, with a space after each."""
    output: List[WordAnalysis] = []
    position = 0
    for item in analyses:
        word, _, forms = item.partition("=")
        end = position + len(word)
        output.append(WordAnalysis(position, end, word, analyse(word, forms or word)))
        position = end + 1
    return output


GOLD = words("בשטחים=ב ה_ שטחים", "דבריו=דבר _של_ _הוא", "שלום")
WHOLE = [(0, 100)]


def scores(predicted: List[WordAnalysis], gold: List[WordAnalysis]) -> Dict[str, float]:
    return report(count_words(predicted, gold, WHOLE))


def test_all_right() -> None:
    assert set(scores(GOLD, GOLD).values()) == {100.0}
    assert set(scores(GOLD, GOLD)) == set(SEGMENTATION_METRICS)


def test_nothing_at_all() -> None:
    assert set(scores([], []).values()) == {100.0}


def test_counted_by_hand() -> None:
    # Wrong: no article, the host is not a base form; right: 2 + 2 + 1 of 7 and 6.
    predicted = words("בשטחים=ב שטחים", "דבריו=דברי _של_ _הוא", "שלום")
    found = scores(predicted, GOLD)
    assert found["morpheme_f1"] == pytest.approx(100 * 10 / 13, abs=0.001)
    assert found["levi_tsarfaty_f1"] == found["morpheme_f1"]
    assert found["conll18_words_f1"] == found["morpheme_f1"]
    assert found["words_right"] == pytest.approx(33.333)
    assert found["multi_words_right"] == 0.0
    assert found["boundaries_f1"] == found["tokens_f1"] == 100.0
    assert found["prefix_f1"] == found["clitic_f1"] == 100.0
    assert found["covert_article_f1"] == 0.0
    assert found["base_forms_right"] == 0.0


def test_order_counts_inside_words_but_not_in_the_multiset() -> None:
    predicted = words("אב=ב א", "שלום")
    predicted[0] = predicted[0]._replace(
        analysis=tuple(
            m._replace(form={"א": "ב", "ב": "א"}[m.form]) for m in analyse("אב", "א ב")
        )
    )
    gold = words("אב=א ב", "שלום")
    found = scores(predicted, gold)
    assert found["morpheme_f1"] == pytest.approx(100 * 2 / 3, abs=0.001)
    assert found["levi_tsarfaty_f1"] == 100.0


def test_multisets_are_of_sentences() -> None:
    predicted, gold = words("ב=א", "א=ב"), words("ב", "א")
    one = count_words(predicted, gold, [(0, 3)])
    two = count_words(predicted, gold, [(0, 1), (2, 3)])
    assert one.levi_tsarfaty == Counts(2, 2, 2)
    assert two.levi_tsarfaty == Counts(0, 2, 2)


def test_underscores_and_look_alikes_do_not_count() -> None:
    predicted = words("שלהם=של הם", 'צה"ל')
    gold = words("שלהם=של _הם", "צה״ל")
    found = scores(predicted, gold)
    assert set(found.values()) == {100.0}


def test_words_cut_otherwise_are_wrong() -> None:
    gold = words("בית", "הבית=ה בית")
    first, second = gold
    joined = WordAnalysis(0, 8, "בית הבית", analyse("ביתהבית"))
    found = scores([joined], gold)
    assert found["words_right"] == found["morpheme_f1"] == found["tokens_f1"] == 0.0
    found = scores([first], gold)
    assert found["words_right"] == 50.0
    assert found["tokens_f1"] == pytest.approx(66.667)


def shift(word: WordAnalysis, start: int) -> WordAnalysis:
    return word._replace(start=start, end=start + len(word.text))


def test_conll18_words() -> None:
    single = words("בית", "גדול")
    assert conll18_words(single, single) == Counts(2, 2, 2)
    # Cut otherwise: ביתגדול as one word has no partner.
    joined = words("ביתגדול")
    cut = [shift(single[0], 0), shift(single[1], 3)]
    assert conll18_words(joined, cut) == Counts(0, 1, 2)
    # A range against the same letters as single words: compared by form.
    range_ = words("ביתגדול=בית גדול")
    assert conll18_words(range_, cut) == Counts(2, 2, 2)
    assert conll18_words(cut, range_) == Counts(2, 2, 2)
    # Words before and after a range are paired by letters.
    predicted = words("שלום", "הבית=הבית", "גדול")
    gold = words("שלום", "הבית=ה בית", "גדול")
    assert conll18_words(predicted, gold) == Counts(2, 3, 4)
    # Ranges that overlap make one stretch.
    left = [shift(words("אבג=אב ג")[0], 0), shift(words("דה=ד ה")[0], 3)]
    right = [shift(words("אב")[0], 0), shift(words("גדה=ג ד ה")[0], 2)]
    assert conll18_words(left, right) == Counts(4, 4, 4)
    assert conll18_words([], right) == Counts(0, 0, 4)


def test_common_length() -> None:
    assert common_length("abcd", "xbyd") == 2
    assert common_length("", "ab") == 0
    assert common_length("ab", "ab") == 2


def test_another_text() -> None:
    with pytest.raises(ValueError, match="another text"):
        count_document(blank()("שלום"), blank()("שלום!"))


def test_written_doc() -> None:
    gold = segmented(f" {TEXT}\n")
    gold._.source = {"id": "htb:1"}
    for token in gold:
        token.is_sent_start = token.i in (0, 3)
    doc = written_doc(blank().vocab, gold)
    assert doc.text == gold.text
    assert [t.text for t in doc] == [t.text for t in blank()(gold.text)]
    assert [sent.text for sent in doc.sents] == [sent.text for sent in gold.sents]
    assert doc._.source == {"id": "htb:1"}
    assert not written_doc(blank().vocab, segmented("הבית גדול")).has_annotation(
        "SENT_START"
    )


def test_scorer() -> None:
    predicted = blank()(TEXT)
    example = Example(predicted, segmented(TEXT))
    assert score_segmentation([example])["segmentation_f"] < 1
    for token in predicted:
        set_analysis(predicted, token.idx, token.text, analyse(token.text))
    assert set(score_segmentation([example]).values()) == {1.0}
    plain = Example(blank()(TEXT), blank()(TEXT))
    assert set(score_segmentation([plain]).values()) == {None}
    assert set(score_segmentation([]).values()) == {None}


@pytest.mark.parametrize("given", ["raw", "words"])
def test_evaluate(given: str) -> None:
    nlp = pipeline()
    nlp.add_pipe("sentencizer")
    docs = [segmented(TEXT), segmented("להם בית")]
    metrics, conditions = evaluate_segmentation(nlp, docs, given)
    assert set(metrics.values()) == {100.0}
    assert conditions["from"] == given
    assert conditions["documents"] == 2
    assert conditions["words"] == 10
    assert conditions["components"] == ["he_segmenter", "he_retokenizer"]
    assert nlp.pipe_names == ["he_segmenter", "he_retokenizer", "sentencizer"]


def test_evaluate_what_is_not_there() -> None:
    with pytest.raises(ValueError, match="no he_segmenter"):
        evaluate_segmentation(blank(), [segmented(TEXT)])
    with pytest.raises(ValueError, match="'gold'"):
        evaluate_segmentation(pipeline(), [segmented(TEXT)], "gold")


@pytest.fixture
def saved(tmp_path):
    table = tmp_path / "table.txt"
    table.write_text(
        "דבר של הוא נאמרו ב שטחים , ו ל בת של הוא ש הוא אהב .", encoding="utf8"
    )
    backend = {"@misc": "spacy_he_coref.TableSegmenter.v1", "path": str(table)}
    pipeline(backend).to_disk(tmp_path / "model")
    doc = segmented(TEXT)
    DocBin(docs=[doc], store_user_data=True).to_disk(tmp_path / "dev.spacy")
    return tmp_path


def run(*arguments: object):
    return CliRunner().invoke(app, ["segmentation", *map(str, arguments)])


def test_command(saved) -> None:
    path = saved / "out" / "scores.json"
    result = run(saved / "model", saved / "dev.spacy", "--json", path)
    assert result.exit_code == 0, result.output
    written = json.loads(path.read_text(encoding="utf8"))
    assert set(SEGMENTATION_METRICS) < set(written)
    # One unwritten article of 17 morphemes is missing.
    assert written["morpheme_f1"] == pytest.approx(100 * 32 / 33, abs=0.001)
    assert written["words_right"] == 87.5
    assert written["covert_article_f1"] == 0.0
    assert written["conditions"]["from"] == "raw"
    assert "words_per_second" in written["conditions"]
    for name in SEGMENTATION_METRICS:
        assert name in result.output


@pytest.mark.parametrize(
    "corpus,message",
    [("absent.spacy", "absent.spacy"), ("bad.spacy", "not a .spacy corpus")],
)
def test_command_without_a_corpus(saved, corpus: str, message: str) -> None:
    (saved / "bad.spacy").write_bytes(b"nothing")
    result = run(saved / "model", saved / corpus)
    assert result.exit_code == 1
    assert message in result.output
    assert "he-coref corpus build" in result.output


def test_command_with_a_corpus_without_segments(saved) -> None:
    DocBin(docs=[blank()(TEXT)]).to_disk(saved / "plain.spacy")
    result = run(saved / "model", saved / "plain.spacy")
    assert result.exit_code == 1
    assert "no gold segments" in result.output


def test_command_with_a_model_that_does_not_segment(saved) -> None:
    blank().to_disk(saved / "blank")
    result = run(saved / "blank", saved / "dev.spacy")
    assert result.exit_code == 1
    assert "no he_segmenter" in result.output


def test_published_segmentation_of_dev() -> None:
    """Levi and Tsarfaty's saved segmentation scores what the data's README says."""
    kibutzr = data_dir() / "kibutzr"
    table = "spacy_he_coref.TableSegmenter.v1"
    saved = kibutzr / "llm_input" / "tokenized_documents_danit_tokenization" / "dev"
    nlp = pipeline({"@misc": table, "path": str(kibutzr / "aligned" / "dev.conllu")})
    gold: List[Doc] = []
    for path in (kibutzr / "llm_input" / "raw_documents" / "dev").iterdir():
        doc = nlp.make_doc(path.read_text(encoding="utf8").rstrip("\n"))
        doc._.source = {"id": f"htb:{path.stem}"}
        gold.append(nlp(doc))
    assert len(gold) == 26
    nlp = pipeline({"@misc": table, "path": str(saved)})
    metrics, _ = evaluate_segmentation(nlp, gold, "words")
    assert metrics["morpheme_f1"] == pytest.approx(97.9, abs=0.06)
    assert metrics["words_right"] == pytest.approx(97.7, abs=0.06)
    assert metrics["multi_words_right"] == pytest.approx(94.5, abs=0.06)
    # The borders of a few suffixes depend on the rules for letters.
    assert metrics["boundaries_f1"] == pytest.approx(97.7, abs=0.2)
