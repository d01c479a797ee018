"""``he-coref convert``: names, folders, streams and errors."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from spacy_he_coref.cli.main import app
from spacy_he_coref.formats.documents import blank_pipeline
from spacy_he_coref.formats.table import FORMATS, read_docs, write_docs
from tests.formats.docs import clusters, marked, samples


def run(*args: Any, **settings: Any) -> Any:
    return CliRunner().invoke(app, ["convert", *map(str, args)], **settings)


def flat(text: str) -> str:
    return " ".join(text.split())


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A file of three documents."""
    docs = [doc for name, doc in samples(blank_pipeline()).items() if "story" in name]
    write_docs(docs, FORMATS["spacy"], tmp_path / "in.spacy")
    return tmp_path / "in.spacy"


@pytest.mark.smoke
def test_by_the_ends_of_names(source: Path, tmp_path: Path) -> None:
    result = run(source, tmp_path / "new" / "a.conllu")
    assert result.exit_code == 0, result.output
    assert result.output == ""
    assert run(tmp_path / "new" / "a.conllu", tmp_path / "b.jsonl").exit_code == 0
    assert run(tmp_path / "b.jsonl", tmp_path / "c.spacy").exit_code == 0
    docs, back = (list(read_docs(p)) for p in (source, tmp_path / "c.spacy"))
    assert [d._.source["id"] for d in back] == ["story:0", "story:1", "story:2"]
    assert [clusters(d) for d in back] == [clusters(d) for d in docs]
    assert [d.text for d in back] == [d.text for d in docs]


def test_folders(source: Path, tmp_path: Path) -> None:
    folder = tmp_path / "inception"
    assert run(source, folder, "--to", "webanno").exit_code == 0
    files = sorted(path.name for path in folder.iterdir())
    assert files == ["story_0.tsv", "story_1.tsv", "story_2.tsv"]
    (folder / "notes.docx").write_text("x")
    result = run(folder, tmp_path / "brat", "--to", "brat")
    assert result.exit_code == 0, result.output
    assert len(list((tmp_path / "brat").iterdir())) == 6
    result = run(tmp_path / "brat", tmp_path / "all.conll", "--from", "brat")
    assert result.exit_code == 0, result.output
    content = (tmp_path / "all.conll").read_text("utf8")
    assert content.count("#begin document (story_") == 3
    one = run(tmp_path / "brat" / "story_0.txt", tmp_path / "a.md", "--from", "brat")
    assert one.exit_code == 0, one.output
    assert (tmp_path / "a.md").read_text("utf8").startswith("[דנה](#1) פגשה את [אחי")


def test_standard_input_and_output(source: Path) -> None:
    result = run(source, "-", "--to", "jsonl")
    assert result.exit_code == 0, result.output
    assert [json.loads(row)["id"] for row in result.stdout.splitlines()] == [
        "story:0", "story:1", "story:2",
    ]  # fmt: skip
    back = run("-", "-", "--from", "jsonl", "--to", "conll", input=result.stdout)
    assert back.stdout.count("#end document\n") == 3
    binary = run("-", "-", "--from", "conll", "--to", "spacy", input=back.stdout)
    assert binary.exit_code == 0
    again = run("-", "-", "--from", "spacy", "--to", "conll", input=binary.stdout_bytes)
    assert again.stdout == back.stdout


def test_what_is_lost_is_said(tmp_path: Path) -> None:
    nlp = blank_pipeline()
    rows = [[(0, 9)], [(4, 14), (15, 19)]]
    docs = [marked(nlp, "אחד שתיים שלוש ארבע", rows, name) for name in ("a", "b")]
    docs.append(marked(nlp, "", [], "c"))
    write_docs(docs, FORMATS["jsonl"], tmp_path / "in.jsonl")
    result = run(tmp_path / "in.jsonl", tmp_path / "md", "--to", "markdown")
    assert result.exit_code == 0
    assert flat(result.stderr).count("the mention 'אחד שתיים' is left out") == 2
    assert "Warning: Document a: the mention" in flat(result.stderr)
    result = run(tmp_path / "in.jsonl", tmp_path / "x.conllu")
    assert result.exit_code == 0
    assert "Document c: it has no words" in flat(result.stderr)


def test_errors(source: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"text": "א", "clusters": [[[0, 1]]]}\n{"text": 3}', "utf8")
    folder = tmp_path / "folder"
    for args, message in [
        ((tmp_path / "none", "-", "--to", "jsonl"), "none: there is no such file"),
        ((source, "-"), "the name - does not say a format to write"),
        ((source, tmp_path / "x.docx"), "Say it with --to: jsonl, corefud"),
        ((source, folder), "does not say a format to write"),
        ((source, source), "is the input itself"),
        ((source, tmp_path / "a.md"), "holds one document, and there are several"),
        ((source, "-", "--to", "brat"), "brat needs two files a document"),
        (("-", "-", "--to", "conll"), "say the format of the standard input"),
        (("-", "-", "--to", "conll", "--from", "brat"), "brat has two files"),
        ((bad, "-", "--to", "conll"), 'bad.jsonl, line 2: no "text"'),
        ((tmp_path, tmp_path, "--to", "jsonl"), "is the input itself"),
        ((source, source / "a.conll"), "exists"),
    ]:
        result = run(*args)
        assert result.exit_code == 1, args
        assert message in flat(result.stderr), result.stderr
    result = run("-", "-", "--from", "jsonl", "--to", "conll", input='{"text": "א"}\n{')
    assert "Error: standard input, line 2: not JSON" in flat(result.stderr)
    assert run(source, "-", "--to", "lingmess").exit_code == 2


def test_nothing_is_downloaded_or_loaded(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import spacy

    monkeypatch.setattr(spacy, "load", None)
    assert run(source, tmp_path / "a.jsonl").exit_code == 0
