"""``he-coref mentions``: formats, input and errors, on the toy corpus."""

import json
from pathlib import Path
from typing import Any, List

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc
from typer.testing import CliRunner

from spacy_he_coref.cli.main import app
from spacy_he_coref.corpus.conllu import read_conllu
from spacy_he_coref.corpus.docs import load_docs
from spacy_he_coref.mentions import KINDS, MENTIONS
from tests.evaluation.toy import build_toy, oracle_pipeline

# Of the gold segmenter, on texts that are not in the toy corpus.
pytestmark = pytest.mark.filterwarnings("ignore:Document .* is not in the segmentation")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_toy(tmp_path_factory.mktemp("toy"))


@pytest.fixture(scope="module")
def nlp(corpus: Path) -> Language:
    nlp = oracle_pipeline(corpus)
    nlp.add_pipe("he_mentions")
    return nlp


@pytest.fixture(scope="module")
def model(nlp: Language, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("cli") / "model"
    nlp.to_disk(path)
    return str(path)


@pytest.fixture
def files(corpus: Path, tmp_path: Path) -> List[str]:
    """The documents as text files, the second one with white space around."""
    paths = []
    for i, doc in enumerate(load_docs(corpus)):
        path = tmp_path / f"{i}.txt"
        text = f"\r\n{doc.text}\r\n" if i else doc.text
        path.write_bytes(text.encode())
        paths.append(str(path))
    return paths


def run(*args: str, **settings: Any) -> Any:
    return CliRunner().invoke(app, ["mentions", *args], **settings)


def test_jsonl(model: str, nlp: Language, files: List[str]) -> None:
    result = run("-m", model, *files)
    assert result.exit_code == 0, result.output
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert [row["doc"] for row in rows] == files
    for row, path in zip(rows, files, strict=True):
        assert row["text"] == Path(path).read_bytes().decode()
        assert row["mentions"]
        for mention in row["mentions"]:
            assert row["text"][mention["start"] : mention["end"]] == mention["text"]
            assert mention["kind"] in KINDS
        doc = nlp(row["text"])
        assert [m["start"] for m in row["mentions"]] == [
            span.start_char for span in doc.spans[MENTIONS]
        ]


def test_conllu(model: str, files: List[str], tmp_path: Path) -> None:
    path = tmp_path / "new" / "candidates.conllu"
    result = run("-m", model, *files, "--format", "conllu", "--output", str(path))
    assert result.exit_code == 0, result.output
    assert result.stdout == ""
    content = path.read_text(encoding="utf8")
    lines = content.split("\n")
    assert [line for line in lines if line.startswith("# newdoc")] == [
        f"# newdoc id = {name}" for name in files
    ]
    sentences = read_conllu(path)
    assert [s.sent_id for s in sentences] == [
        *(f"1-{n}" for n in range(1, 6)),
        *(f"2-{n}" for n in range(1, 6)),
    ]
    clitic = next(line for line in lines if "\t_הוא\t" in line)
    assert "Entity=(e" in clitic and "-clitic)" in clitic
    rows = [json.loads(line) for line in run("-m", model, *files).stdout.splitlines()]
    opened = sum(line.count("-clitic)") for line in lines)
    assert opened == sum(m["kind"] == "clitic" for r in rows for m in r["mentions"])
    assert content.count("(e") == sum(len(row["mentions"]) for row in rows)


def test_standard_input(model: str, files: List[str]) -> None:
    data = b"\xef\xbb\xbf" + Path(files[1]).read_bytes()
    (line,) = run("-m", model, "-", input=data).stdout.splitlines()
    (other,) = run("-m", model, files[1]).stdout.splitlines()
    row = json.loads(line)
    assert row == {**json.loads(other), "doc": "-"}


@pytest.mark.parametrize("text", ["", "\n\n", "No Hebrew at all.", "?!"])
def test_nothing_to_find(model: str, tmp_path: Path, text: str) -> None:
    path = tmp_path / "in.txt"
    path.write_text(text, encoding="utf8")
    result = run("-m", model, str(path))
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout) == {"doc": str(path), "text": text, "mentions": []}
    result = run("-m", model, str(path), "--format", "conllu")
    assert result.exit_code == 0, result.output
    assert "Entity" not in result.stdout
    assert result.stdout == "" or text.strip()


def test_bad_files_are_named(model: str, files: List[str], tmp_path: Path) -> None:
    result = run("-m", model, files[0], str(tmp_path / "none.txt"))
    assert result.exit_code == 1
    assert "none.txt" in result.stderr
    bad = tmp_path / "bad.txt"
    bad.write_bytes("שלום\n".encode() + "שלום".encode("cp1255"))
    result = run("-m", model, str(bad))
    assert result.exit_code == 1
    assert "bad.txt, line 2: not UTF-8" in result.stderr.replace("\n", "")
    result = run("-m", model, files[0], "--output", str(tmp_path))
    assert result.exit_code == 1
    assert "cannot write" in result.stderr


def test_files_that_a_component_refuses_are_named(
    model: str, files: List[str], tmp_path: Path
) -> None:
    # The oracle does not know this text and leaves it without tags.
    path = tmp_path / "new.txt"
    path.write_text("ילדה רצה הביתה.", encoding="utf8")
    result = run("-m", model, str(path))
    assert result.exit_code == 1
    assert "new.txt" in result.stderr.replace("\n", "")
    assert "Traceback" not in result.stderr


def test_model_without_mentions(tmp_path: Path, files: List[str]) -> None:
    spacy.blank("he").to_disk(tmp_path / "blank")
    result = run("-m", str(tmp_path / "blank"), files[0])
    assert result.exit_code == 1
    assert "has no he_mentions" in result.stderr.replace("\n", " ")


def test_what_comes_after_does_not_run(
    nlp: Language, files: List[str], tmp_path: Path
) -> None:
    @Language.component("toy_trap")
    def trap(doc: Doc) -> Doc:
        raise RuntimeError("has run")

    other = spacy.blank("he").from_config(nlp.config)
    other.add_pipe("toy_trap")
    other.to_disk(tmp_path / "model")
    assert run("-m", str(tmp_path / "model"), files[0]).exit_code == 0
