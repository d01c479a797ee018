"""What must work in every supported environment, the newest spaCy 3.8 included."""

import subprocess
import sys
from pathlib import Path
from typing import List

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import DocBin

pytestmark = pytest.mark.smoke

ROOT = Path(__file__).parents[2]
TEXT = "דנה קראה את דבריו של השר, בשטחים ובבית."
MORPHEMES = "דנה קראה את דבר _של_ _הוא של ה שר , ב ה_ שטחים ו ב ה_ בית ."


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Language:
    """The components by name, as spaCy's entry points give them."""
    path = tmp_path_factory.mktemp("tiny") / "table.txt"
    path.write_text(MORPHEMES, encoding="utf8")
    nlp = spacy.blank(
        "he",
        config={
            "nlp": {"tokenizer": {"@tokenizers": "spacy_he_coref.HebrewTokenizer.v1"}}
        },
    )
    backend = {"@misc": "spacy_he_coref.TableSegmenter.v1", "path": str(path)}
    nlp.add_pipe("he_segmenter", config={"backend": backend})
    nlp.add_pipe("he_retokenizer")
    return nlp


@pytest.fixture(scope="module", params=["he_coref", "he_segmenter_light"])
def shipped(request: pytest.FixtureRequest) -> Language:
    name = request.param
    if not spacy.util.is_package(name):
        if list((ROOT / "assets").glob(f"{name}-*.whl")):
            pytest.fail("assets/ has a model that is not installed: make test does it")
        pytest.skip(f"no {name}-*.whl in assets/")
    return spacy.load(name)


def rows(nlp: Language, texts: List[str]) -> List[List[object]]:
    return [
        [doc.text, [t.text for t in doc], doc._.morphemes] for doc in nlp.pipe(texts)
    ]


def round_trip(nlp: Language, texts: List[str], path: Path) -> None:
    expected = rows(nlp, texts)
    assert [row[0] for row in expected] == texts
    assert [rows(nlp, [text])[0] for text in texts] == expected
    nlp.to_disk(path)
    assert rows(spacy.load(path), texts) == expected
    docs = list(nlp.pipe(texts))
    read = DocBin().from_bytes(DocBin(docs=docs, store_user_data=True).to_bytes())
    assert [
        [doc.text, [t.text for t in doc], doc._.morphemes]
        for doc in read.get_docs(nlp.vocab)
    ] == expected


def test_tiny_pipeline_segments(tiny: Language) -> None:
    doc = tiny(TEXT)
    assert doc.text == TEXT
    assert " ".join(morpheme.form for morpheme in doc._.morphemes) == MORPHEMES
    assert [t.text for t in doc[3]._.word] == ["דברי", "ו"]
    assert doc[4]._.segment_kind == "clitic"


def test_tiny_pipeline_streams_and_serializes(tiny: Language, tmp_path: Path) -> None:
    round_trip(tiny, [TEXT, TEXT], tmp_path / "model")


def test_shipped_model_segments(shipped: Language) -> None:
    doc = shipped(TEXT)
    assert doc.text == TEXT
    words = {word.text: word for word in (token._.word for token in doc)}
    assert [t.text for t in words["דבריו"]] == ["דברי", "ו"]
    assert [t.text for t in words["בשטחים"]] == ["ב", "שטחים"]
    assert words["דבריו"][1]._.morphemes == ("_של_", "_הוא")


def test_shipped_model_streams_and_serializes(
    shipped: Language, tmp_path: Path
) -> None:
    round_trip(shipped, ["", "דבריו", TEXT, TEXT], tmp_path / "model")


def test_shipped_pipeline_parses_and_finds_mentions() -> None:
    if not spacy.util.is_package("he_coref"):
        pytest.skip("he_coref is not installed")
    nlp = spacy.load("he_coref")
    doc = nlp(TEXT + " היא אהבה אותם.")
    assert [sentence.text for sentence in doc.sents] == [TEXT, "היא אהבה אותם."]
    tags = {token.text: token.pos_ for token in doc}
    assert tags["דנה"] == "PROPN"
    assert tags["קראה"] == "VERB"
    assert tags["שטחים"] == "NOUN"
    for sentence in doc.sents:
        assert [t.dep_ for t in sentence if t.head.i == t.i] == ["ROOT"]
    words, clitic = doc[3:5]
    assert (words.text, clitic.text, clitic.pos_) == ("דברי", "ו", "PRON")
    assert "Person=3" in str(clitic.morph)
    found = {(m.start_char, m.end_char): m.text for m in doc.spans["coref_mentions"]}
    assert found[(clitic.idx, clitic.idx + 1)] == "ו"
    assert {"דנה", "השר", "היא"} <= set(found.values())
    assert all(doc.text[start:end] == text for (start, end), text in found.items())
    # Nothing heavy is left on the Doc.
    assert doc._.trf_data is None
    assert len(doc.to_bytes()) < 100_000


def test_shipped_pipeline_resolves() -> None:
    if not spacy.util.is_package("he_coref"):
        pytest.skip("he_coref is not installed")
    nlp = spacy.load("he_coref")
    text = "דנה פגשה את אחיה. היא חיבקה אותו, והוא סיפר לה שדבריו הודפסו."
    doc = nlp(text)
    assert doc.text == text
    found = {cluster.main.text: cluster.offsets for cluster in doc._.coref}
    # She, also inside אחיה; and he, also inside אותו and שדבריו.
    assert set(found) == {"דנה", "אחיה"}
    her, him = found["דנה"], found["אחיה"]
    assert {(0, 3), (15, 16), (18, 21)} <= set(her)
    assert text.index("והוא") + 1 in {start for start, _ in him}
    assert not set(her) & set(him)
    for cluster in doc._.coref:
        assert 0.0 <= cluster.confidence <= 1.0
    again = nlp(doc.copy())
    assert again._.coref.to_dict() == doc._.coref.to_dict()


@pytest.mark.parametrize(
    "text", ["", "א", "   ", "😀", "?!", "English only.", "a\u200bb"]
)
def test_shipped_pipeline_takes_any_text(shipped: Language, text: str) -> None:
    doc = shipped(text)
    assert doc.text == text
    assert not any(span for span in doc.spans.get("coref_mentions", []) if not span)


def test_command_runs(tmp_path: Path) -> None:
    nlp = spacy.blank("he")
    nlp.to_disk(tmp_path / "model")
    run = subprocess.run(
        [sys.executable, "-m", "spacy_he_coref", "segment"]
        + ["--model", str(tmp_path / "model"), "שלום עולם"],
        capture_output=True,
        encoding="utf8",
        cwd=ROOT,
        check=True,
    )
    assert run.stdout.splitlines() == [
        "שלום\tשלום\tשלום\tword",
        "עולם\tעולם\tעולם\tword",
    ]
