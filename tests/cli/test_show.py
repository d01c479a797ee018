"""``he-coref show``: where the page goes, and what is on it."""

import json
from pathlib import Path
from typing import Any, List

import pytest
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from typer.testing import CliRunner

from spacy_he_coref.cli import resolve as resolve_module
from spacy_he_coref.cli import show as show_module
from spacy_he_coref.cli.main import app
from spacy_he_coref.coref.clusters import set_clusters
from spacy_he_coref.tokenizer import create_hebrew_tokenizer
from tests.display.helpers import Page, story

TEXTS = ["דנה פגשה את יוסי. דנה שמחה.", "דנה נסעה.\r\nדנה חזרה <b>."]
BROKEN = "לא לפתוח"


@Language.component("toy_name_resolver")
def name_resolver(doc: Doc) -> Doc:
    """All tokens דנה are one cluster, of confidence 0.7."""
    if BROKEN in doc.text:
        raise ValueError("too strange")
    found = [token.i for token in doc if token.text == "דנה"]
    bounds = [(i, i + 1) for i in found]
    back = [i - 1 for i in range(len(found))]
    set_clusters(doc, bounds, [0] * len(found), back, [0.7] * len(found))
    return doc


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    import spacy

    nlp = spacy.blank("he")
    nlp.tokenizer = create_hebrew_tokenizer()(nlp)
    nlp.add_pipe("toy_name_resolver")
    path = tmp_path_factory.mktemp("show") / "model"
    nlp.to_disk(path)
    return str(path)


@pytest.fixture(autouse=True)
def toy_is_a_resolver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resolve_module, "FACTORIES", ("toy_name_resolver",))


@pytest.fixture
def files(tmp_path: Path) -> List[str]:
    paths = []
    for i, text in enumerate(TEXTS):
        path = tmp_path / f"מסמך {i}.txt"
        path.write_bytes(text.encode())
        paths.append(str(path))
    return paths


def run(*args: str, **settings: Any) -> Any:
    return CliRunner().invoke(app, ["show", *args], **settings)


def texts_of(page: Page) -> List[str]:
    return [page.texts[i] for i in page.find("div", "text")]


def test_page_of_files(model: str, files: List[str], tmp_path: Path) -> None:
    path = tmp_path / "new" / "page.html"
    result = run(*files, "-m", model, "-o", str(path))
    assert result.exit_code == 0, result.output
    assert result.stdout == ""
    page = Page(path.read_bytes().decode("utf8"))
    assert texts_of(page) == TEXTS
    assert [page.texts[i] for i in page.find("h2")] == files
    assert [page.texts[i] for i in page.find("span", "m")] == ["דנה"] * 4


def test_piped(model: str, files: List[str]) -> None:
    result = run("-", "-m", model, input=TEXTS[0].encode())
    assert result.exit_code == 0, result.output
    assert texts_of(Page(result.stdout)) == [TEXTS[0]]
    row = json.dumps({"id": "א", "text": TEXTS[0]})
    result = run("-", "--from", "jsonl", "-m", model, input=row)
    page = Page(result.stdout)
    assert page.texts[page.find("title")[0]] == "א"


def test_opens_in_the_browser(
    model: str, files: List[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    opened: List[str] = []
    monkeypatch.setattr(show_module, "_is_terminal", lambda: True)
    monkeypatch.setattr(show_module.webbrowser, "open", opened.append)
    monkeypatch.setattr(show_module.tempfile, "mkdtemp", lambda prefix: str(tmp_path))
    result = run(files[0], "-m", model)
    assert result.exit_code == 0 and result.stdout == ""
    path = tmp_path / "clusters.html"
    assert opened == [path.as_uri()]
    assert str(path) in result.stderr.replace("\n", "")
    assert texts_of(Page(path.read_text("utf8"))) == TEXTS[:1]
    # A file that was named is not opened.
    run(files[0], "-m", model, "-o", str(tmp_path / "x.html"))
    assert len(opened) == 1


def test_saved_documents_need_no_model(tmp_path: Path) -> None:
    doc = story()
    doc._.source = {"id": "סיפור"}
    path = tmp_path / "saved.spacy"
    DocBin(docs=[doc, doc], store_user_data=True).to_disk(path)
    result = run(str(path), "-m", "no_such_model", "--singletons", "--language", "en")
    assert result.exit_code == 0, result.output
    page = Page(result.stdout)
    assert texts_of(page) == [doc.text] * 2 and len(page.find("span", "alone")) == 2
    assert "2 documents" in page.texts[page.find("h1")[0]]
    result = run(str(path), "--min-confidence", "0.5")
    page = Page(result.stdout)
    assert [page.texts[i] for i in page.find("span", "m")] == ["אחיה", "ו"] * 2


def test_least_confidence(model: str, files: List[str]) -> None:
    shown = [run(files[0], "-m", model, "--min-confidence", c) for c in ("0.6", "0.8")]
    counts = [len(Page(result.stdout).find("span", "m")) for result in shown]
    assert counts == [2, 0]


def test_errors(model: str, files: List[str], tmp_path: Path) -> None:
    missing = run(files[0], str(tmp_path / "none.txt"), "-m", model)
    assert missing.exit_code == 1 and "none.txt" in missing.stderr.replace("\n", "")
    bad = tmp_path / "bad.spacy"
    bad.write_bytes(b"no documents")
    result = run(str(bad))
    assert result.exit_code == 1 and "cannot read" in result.stderr
    strange = tmp_path / "strange.txt"
    strange.write_text(BROKEN, encoding="utf8")
    result = run(str(strange), files[0], "-m", model)
    assert result.exit_code == 1 and "was left out" in result.stderr
    assert texts_of(Page(result.stdout)) == TEXTS[:1]
    # The model is looked at before the file is touched.
    path = tmp_path / "kept.html"
    path.write_text("before", encoding="utf8")
    result = run(files[0], "-m", str(tmp_path), "-o", str(path))
    assert result.exit_code == 1 and path.read_text("utf8") == "before"
