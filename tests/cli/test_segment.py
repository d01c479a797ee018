"""``he-coref segment``: formats, input and errors, on a toy pipeline."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Dict, List

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc
from typer.testing import CliRunner

from spacy_he_coref.cli.main import app
from spacy_he_coref.cli.segment import FSI, LRM, PDI, describe, to_text
from spacy_he_coref.tokens import Morpheme, segments, set_segment

ANALYSES: Dict[str, List[Morpheme]] = {
    "בשטחים": [
        Morpheme("ב", 0, 1, "prefix"),
        Morpheme("ה_", None, None, "prefix"),
        Morpheme("שטחים", 1, 6, "host"),
    ],
    "דבריו": [
        Morpheme("דבר", 0, 4, "host"),
        Morpheme("_של_", None, None, "clitic"),
        Morpheme("_הוא", 4, 5, "clitic"),
    ],
    "אנו": [Morpheme("אנחנו", 0, 3, "word")],
}


@Language.component("toy_segmenter")
def toy_segmenter(doc: Doc) -> Doc:
    found = [(t.i, t.idx, t.text) for t in doc if t.text in ANALYSES]
    with doc.retokenize() as retokenizer:
        for i, offset, word in found:
            parts = segments(word, ANALYSES[word])
            if len(parts) > 1:
                heads = [(doc[i], k) for k in range(len(parts))]
                retokenizer.split(doc[i], [part.text for part in parts], heads=heads)
            for part in parts:
                set_segment(doc, offset + part.start, part, len(word))
    return doc


@pytest.fixture(scope="module")
def nlp() -> Language:
    nlp = spacy.blank("he")
    nlp.add_pipe("toy_segmenter")
    return nlp


@pytest.fixture(scope="module")
def model(nlp: Language, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("cli") / "model"
    nlp.to_disk(path)
    return str(path)


def run(*args: str, **settings: Any) -> Any:
    return CliRunner().invoke(app, ["segment", *args], **settings)


def test_text_shows_segments_and_unwritten_morphemes(model: str) -> None:
    result = run("-m", model, "דבריו בשטחים.")
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines() == [
        "דבריו\tדברי|ו\tדבר + (_של_) + _הוא\thost clitic",
        "בשטחים\tב|שטחים\tב + (ה_) + שטחים\tprefix host",
        ".\t.\t.\tword",
    ]


def test_jsonl_offsets_are_those_of_the_text(model: str) -> None:
    text = "  דבריו\n\nבשטחים, אנו"
    result = run("-m", model, "-o", "jsonl", text)
    (line,) = result.stdout.splitlines()
    row = json.loads(line)
    assert row["text"] == text
    assert [word["text"] for word in row["words"]] == ["דבריו", "בשטחים", ",", "אנו"]
    for word in row["words"]:
        assert text[word["start"] : word["end"]] == word["text"]
        assert "".join(part["text"] for part in word["segments"]) == word["text"]
        for part in word["segments"]:
            assert text[part["start"] : part["end"]] == part["text"]
    assert row["words"][0]["segments"][1] == {
        "text": "ו",
        "start": 6,
        "end": 7,
        "kind": "clitic",
        "morphemes": [
            {"form": "_של_", "written": False},
            {"form": "_הוא", "written": True},
        ],
    }


def test_conllu_ranges_letters_and_spaces(model: str) -> None:
    result = run("-m", model, "-o", "conllu", "אנו בשטחים\n\nדבריו.")
    lines = result.stdout.split("\n")
    assert lines[:3] == [
        "# newdoc id = 1",
        "# sent_id = 1-1",
        "# text = אנו בשטחים דבריו.",
    ]
    rows = [line.split("\t") for line in lines[3:] if line]
    assert all(len(row) == 10 for row in rows)
    assert [(row[0], row[1], row[9]) for row in rows] == [
        ("1-1", "אנו", "Span=0:3"),
        ("1", "אנחנו", "Seg=0:3"),
        ("2-4", "בשטחים", r"Span=4:10|SpacesAfter=\n\n"),
        ("2", "ב", "Seg=0:1"),
        ("3", "ה_", "Seg=1:1"),
        ("4", "שטחים", "Seg=1:6"),
        ("5-7", "דבריו", "Span=12:17|SpaceAfter=No"),
        ("5", "דבר", "Seg=0:4"),
        ("6", "_של_", "Seg=4:4"),
        ("7", "_הוא", "Seg=4:5"),
        ("8", ".", "Span=17:18|SpaceAfter=No"),
    ]
    assert result.stdout.endswith("\n\n")


def test_terminal_columns_are_aligned_and_isolated(nlp: Language) -> None:
    # Points take no room on the screen, and a long word does not move the rest.
    doc = nlp("דבריו בָּשְּׂטָחִים " + "א" * 100)
    header, *lines = to_text(describe(doc), terminal=True)
    assert all(line.startswith(LRM + FSI) for line in lines)
    assert all(line.count(FSI) == line.count(PDI) == 4 for line in lines)
    first, pointed, _ = [line.split(PDI) for line in lines]
    assert len(first[1]) - len(pointed[1]) == first[1].count(" ") - pointed[1].count(
        " "
    ) + len("דברי|ו") - len("בָּשְּׂטָחִים")


@pytest.mark.parametrize("output", ["text", "jsonl", "conllu"])
@pytest.mark.parametrize("text", ["", "   ", "\n"])
def test_nothing_to_segment(model: str, output: str, text: str) -> None:
    result = run("-m", model, "-o", output, text)
    assert result.exit_code == 0, result.output
    if output == "jsonl":
        assert json.loads(result.stdout) == {"text": text, "words": []}
    else:
        assert result.stdout.strip() == ""


def test_file_has_one_document_a_line(model: str, tmp_path: Path) -> None:
    path = tmp_path / "in.txt"
    path.write_bytes("\ufeffדבריו\r\n\nאנו".encode())
    result = run("-m", model, "-o", "jsonl", "--file", str(path))
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert [row["text"] for row in rows] == ["דבריו", "", "אנו"]
    piped = run("-m", model, "-o", "jsonl", "-", input=path.read_bytes())
    assert piped.stdout == result.stdout


def test_file_that_is_not_utf8_is_named_with_its_line(
    model: str, tmp_path: Path
) -> None:
    path = tmp_path / "in.txt"
    path.write_bytes("שלום\n".encode() + "שלום".encode("cp1255"))
    result = run("-m", model, "--file", str(path))
    assert result.exit_code == 1
    assert f"{path}, line 2: not UTF-8" in result.stderr.replace("\n", "")


def test_missing_file(model: str, tmp_path: Path) -> None:
    result = run("-m", model, "--file", str(tmp_path / "none.txt"))
    assert result.exit_code == 1
    assert "none.txt" in result.stderr


@pytest.mark.parametrize("args", [[], ["שלום", "--file", "in.txt"]])
def test_text_or_file_but_not_both(args: List[str]) -> None:
    assert run(*args).exit_code == 2


def test_missing_model_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_model(name: str, **settings: Any) -> None:
        raise OSError(f"[E050] Can't find model '{name}'.")

    monkeypatch.setattr(spacy, "load", no_model)
    result = run("שלום")
    assert result.exit_code == 1
    assert "pip install assets/he_coref-*.whl" in result.stderr
    result = run("--model", "no_such_model", "שלום")
    assert result.exit_code == 1
    assert "'no_such_model' is neither" in result.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="no pipes of this kind")
def test_closed_pipe_leaves_no_traceback(tmp_path: Path) -> None:
    # A process of its own cannot see the toy component; a tokenizer will do.
    spacy.blank("he").to_disk(tmp_path / "model")
    path = tmp_path / "in.txt"
    path.write_text("שלום עולם\n" * 20000, encoding="utf8")
    command = [sys.executable, "-m", "spacy_he_coref", "segment", "-m"]
    with subprocess.Popen(
        [*command, str(tmp_path / "model"), "-f", str(path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=Path(__file__).parents[2],
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        errors = process.stderr.read().decode()
    assert "Traceback" not in errors
    assert "BrokenPipe" not in errors
