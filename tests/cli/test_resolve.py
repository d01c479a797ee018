"""``he-coref resolve``: formats, input and errors, with a resolver that knows."""

import io
import json
import re
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Iterator, List, Optional

import pytest
import spacy
from spacy.language import Language
from spacy.pipeline import Pipe
from spacy.tokens import Doc
from spacy.vocab import Vocab
from typer.testing import CliRunner

from spacy_he_coref.cli import resolve as resolve_module
from spacy_he_coref.cli.main import app
from spacy_he_coref.coref.clusters import set_clusters
from spacy_he_coref.corpus.docs import load_docs
from spacy_he_coref.corpus.kibutzr import read_kibutzr
from spacy_he_coref.formats.table import WRITABLE, read_docs
from tests.evaluation.toy import build_toy, oracle_pipeline

# Of the gold segmenter, on texts that are not in the toy corpus.
pytestmark = pytest.mark.filterwarnings("ignore:Document .* is not in the segmentation")

BROKEN = "לא לפתוח"


@Language.factory("toy_scored_resolver", default_config={"corpus": None})
class ScoredResolver(Pipe):
    """Component that gives the clusters of a gold corpus.

    Links have the confidences 0.5, 0.6, ... by the number of their cluster, mentions
    0.25, 0.5, 0.75, 0.25, ... It refuses texts with ``BROKEN``.
    """

    def __init__(self, nlp: Language, name: str, corpus: Optional[str]) -> None:
        self.name = name
        self.singletons = False
        self.gold = {doc.text: doc for doc in load_docs(corpus or "", Vocab())}

    def __call__(self, doc: Doc) -> Doc:
        if BROKEN in doc.text:
            raise ValueError("a sentence is too strange")
        gold = self.gold.get(doc.text.strip())
        spans: List[Any] = []
        numbers: List[int] = []
        antecedents: List[int] = []
        if gold is not None:
            shift = doc.text.index(gold.text)
            coref = gold._.coref
            for n, group in enumerate([*coref, *([s] for s in coref.singletons)]):
                for i, span in enumerate(group):
                    bounds = span.start_char + shift, span.end_char + shift
                    found = doc.char_span(*bounds)
                    spans.append((found.start, found.end))
                    numbers.append(n)
                    antecedents.append(len(spans) - 2 if i else -1)
        links = [0.5 + n / 10 for n in numbers]
        confidences = [0.25 * (1 + n % 3) for n in range(len(spans))]
        set_clusters(
            doc,
            spans,
            numbers,
            antecedents,
            [min(1.0, link) for link in links],
            confidences,
            singletons=self.singletons,
        )
        return doc


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_toy(tmp_path_factory.mktemp("toy"))


@pytest.fixture(scope="module")
def nlp(corpus: Path) -> Language:
    nlp = oracle_pipeline(corpus)
    nlp.add_pipe("toy_scored_resolver", config={"corpus": str(corpus)})
    return nlp


@pytest.fixture(scope="module")
def model(nlp: Language, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("cli") / "model"
    nlp.to_disk(path)
    return str(path)


@pytest.fixture(autouse=True)
def toy_is_a_resolver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resolve_module, "FACTORIES", ("toy_scored_resolver",))


@pytest.fixture
def texts(corpus: Path) -> List[str]:
    return [doc.text for doc in load_docs(corpus)]


@pytest.fixture
def files(texts: List[str], tmp_path: Path) -> List[str]:
    """The documents as text files, the second one with white space around."""
    paths = []
    for i, text in enumerate(texts):
        path = tmp_path / f"{i}.txt"
        path.write_bytes((f"\r\n{text}\r\n" if i else text).encode())
        paths.append(str(path))
    return paths


@pytest.fixture
def lines(texts: List[str], tmp_path: Path) -> str:
    """The documents as JSON lines, the first one with a name."""
    path = tmp_path / "in.jsonl"
    rows = [{"id": "ראשון", "text": texts[0], "more": 1}, {"text": texts[1]}]
    content = "\n\n".join(json.dumps(row) for row in rows)
    path.write_text("\ufeff" + content, encoding="utf8")
    return str(path)


def run(*args: str, **settings: Any) -> Any:
    return CliRunner().invoke(app, ["resolve", *args], **settings)


def flat(text: str) -> str:
    return " ".join(text.split())


def test_text(model: str, texts: List[str]) -> None:
    result = run("-m", model, "--text", texts[0])
    assert result.exit_code == 0, result.output
    rows = [line.split("\t") for line in result.stdout.split("\n")]
    assert rows[0] == ["text: 6 clusters, 17 mentions"]
    assert rows[1:9] == [
        ["1.", "דנה כהן", "5 mentions", "50%"],
        ["", "דנה כהן", "0:7", ""],
        ["", "ה (אחיה)", "19:20", "50%"],
        ["", "היא", "37:40", "50%"],
        ["", "ה (שלה)", "62:63", "50%"],
        ["", "דנה", "171:174", "50%"],
        ["2.", "אחיה", "2 mentions", "60%"],
        ["", "אחיה", "16:20", ""],
    ]
    for row in rows[1:-2]:
        if row[0] == "":
            start, end = map(int, row[2].split(":"))
            assert texts[0][start:end] == row[1].split(" (")[0]
    assert rows[-2:] == [[""], [""]]


class Terminal(io.StringIO):
    """A stream that says that it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_terminal_shows_the_text(
    model: str, texts: List[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    @contextmanager
    def open_terminal(path: Optional[Path]) -> Iterator[Terminal]:
        assert path is None
        yield stream

    monkeypatch.setattr(resolve_module, "open_output", open_terminal)
    monkeypatch.setenv("COLUMNS", "70")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    stream = Terminal()
    assert run("-m", model, "--text", texts[0]).exit_code == 0
    coloured = stream.getvalue()
    assert "\x1b[" in coloured
    plain = re.sub("\x1b\\[[0-9;]*m", "", coloured)
    lines = plain.split("\n")
    assert lines[0] == "\u200e\u2068text\u2069: 6 clusters, 17 mentions"
    assert "[דנה כהן]₁" in plain and "[אחי[ה]₁]₂" in plain
    for line in lines:
        if line:
            assert line[0] in "\u200e\u200f"
            opened = line.count("\u2068") + line.count("\u2067")
            assert opened == line.count("\u2069") > 0
    monkeypatch.setenv("NO_COLOR", "1")
    stream = Terminal()
    assert run("-m", model, "--text", texts[0]).exit_code == 0
    shown = stream.getvalue()
    assert set(re.findall("\x1b\\[[0-9;]*m", shown)) == {"\x1b[0m", "\x1b[1m"}
    assert "[דנה כהן" in shown


def test_jsonl(model: str, nlp: Language, files: List[str], tmp_path: Path) -> None:
    path = tmp_path / "new" / "out.jsonl"
    result = run("-m", model, *files, "--to", "jsonl", "--output", str(path))
    assert result.exit_code == 0, result.output
    assert result.stdout == ""
    rows = [json.loads(line) for line in path.read_text("utf8").splitlines()]
    assert [row["id"] for row in rows] == files
    for row, file in zip(rows, files, strict=True):
        text = Path(file).read_bytes().decode()
        assert row == {"id": file, **nlp(text)._.coref.to_dict()}
        assert row["text"] == text and len(row["clusters"]) > 3
        for cluster in row["clusters"]:
            assert 0.0 <= cluster["confidence"] <= 1.0
            for mention in cluster["mentions"]:
                assert text[mention["start"] : mention["end"]] == mention["text"]


def test_json_lines_as_input(model: str, lines: str, texts: List[str]) -> None:
    result = run("-m", model, lines, "--to", "jsonl")
    assert result.exit_code == 0, result.output
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert [row["text"] for row in rows] == texts
    # The empty line counts.
    assert [row["id"] for row in rows] == ["ראשון", f"{lines}:3"]
    piped = run(
        *("-m", model, "-", "--from", "jsonl", "--to", "jsonl"),
        input=Path(lines).read_bytes(),
    )
    assert piped.stdout.replace('"-:3"', json.dumps(f"{lines}:3")) == result.stdout


def test_standard_input_and_files_together(
    model: str, files: List[str], lines: str
) -> None:
    args = ("-m", model, files[0], "-", lines, "--to", "jsonl")
    result = run(*args, input=b"\xef\xbb\xbf" + Path(files[1]).read_bytes())
    assert result.exit_code == 0, result.output
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert [row["id"] for row in rows] == [files[0], "-", "ראשון", f"{lines}:3"]
    assert rows[1]["text"] == Path(files[1]).read_bytes().decode()
    assert rows[1]["clusters"]


def test_conll(
    model: str, corpus: Path, files: List[str], lines: str, tmp_path: Path
) -> None:
    result = run("-m", model, lines, files[1], "--to", "conll", "--singletons")
    assert result.exit_code == 0, result.output
    blocks = result.stdout.split("#end document\n")
    assert blocks.pop() == ""
    named = files[1].replace(" ", "_")
    assert [block.split("\n")[0] for block in blocks] == [
        "#begin document (ראשון); part 000",
        f"#begin document ({lines}:3); part 000",
        f"#begin document ({named}); part 000",
    ]
    golds = load_docs(corpus)
    for block, gold in zip(blocks, [*golds, golds[1]], strict=True):
        _, *sentences = block.rstrip("\n").replace("\n", "\n\n", 1).split("\n\n")
        tables = [
            [row.split("\t") for row in s.split("\n")] for s in sentences if s.strip()
        ]
        rows = [row for table in tables for row in table]
        assert all(len(row) == 12 for row in rows)
        assert [row[3] for row in rows] == [m.form for m in gold._.morphemes]
        assert [len(table) for table in tables] == list(
            gold.user_data["he_kibutzr"]["sentences"]
        )
        # Read by the reader of KibutzR, which checks the brackets.
        path = tmp_path / "back.conllu"
        content = "\n\n".join(
            "\n".join(
                "\t".join((r[3], str(s), r[2], "_", r[11].replace("-", "_")))
                for r in table
            )
            for s, table in enumerate(tables)
        )
        path.write_text(f"#begin document (x)\n{content}\n#end document\n", "utf8")
        found = read_kibutzr(path).mentions
        expected = load_gold(gold)
        assert sorted(found) == sorted(expected)


def load_gold(gold: Doc) -> List[Any]:
    from spacy_he_coref.corpus.kibutzr import Mention
    from spacy_he_coref.tokens import tokens_to_morphemes

    coref = gold._.coref
    groups = [*coref, *([span] for span in coref.singletons)]
    return [
        Mention(*bounds, number)
        for number, group in enumerate(groups, start=1)
        for bounds in tokens_to_morphemes(gold, [(s.start, s.end) for s in group])
    ]


def test_conll_opens_long_mentions_first(model: str, texts: List[str]) -> None:
    result = run("-m", model, "--text", texts[1], "--to", "conll")
    brackets = [line.split("\t")[-1] for line in result.stdout.split("\n")[1:-2]]
    # משפחותי|הם: the end of a word; העיר חיפה, שבה ...: over שב|ה and היא.
    assert [b for b in brackets if "(" in b or ")" in b][:9] == [
        *("(1", "(2)|1)", "(3", "3)", "(1)", "(1)", "(3)", "(3)", "(2"),
    ]


def test_singletons_and_least_confidence(model: str, texts: List[str]) -> None:
    def rows(*args: str) -> Any:
        result = run("-m", model, "--text", texts[0], "--to", "jsonl", *args)
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)

    everything = rows("--singletons")
    assert len(everything["clusters"]) == 6 and len(everything["singletons"]) == 6
    assert rows() == {**everything, "singletons": []}
    least = rows("--singletons", "--min-confidence", "0.75")
    assert [c["confidence"] for c in least["clusters"]] == pytest.approx([0.8, 0.9, 1])
    assert least["clusters"] == everything["clusters"][3:]
    found = [m for m in everything["singletons"] if m["confidence"] >= 0.75]
    assert least["singletons"] == found and 0 < len(found) < 6
    listed = run(
        *("-m", model, "--text", texts[0], "--singletons", "--min-confidence", "0.75")
    )
    assert listed.stdout.startswith("text: 3 clusters, 6 mentions, 2 singletons\n")
    assert "-\tשנת 1984\t66:74\t75%\n" in listed.stdout


@pytest.mark.parametrize("text", ["", "\n\n", "No Hebrew at all.", "?!", "שלום"])
def test_nothing_to_resolve(model: str, tmp_path: Path, text: str) -> None:
    path = tmp_path / "in.txt"
    path.write_text(text, encoding="utf8")
    for args in ([str(path)], ["--text", text]):
        result = run("-m", model, *args)
        assert result.exit_code == 0, result.output
        assert result.stdout.endswith(": 0 clusters, 0 mentions\n\n")
    result = run("-m", model, str(path), "--to", "jsonl")
    assert json.loads(result.stdout) == {
        "id": str(path),
        "text": text,
        "clusters": [],
        "singletons": [],
    }
    result = run("-m", model, str(path), "--to", "conll")
    assert result.stdout.startswith("#begin document (")
    assert result.stdout.endswith("#end document\n")


@pytest.mark.parametrize(
    "content, message",
    [
        (b'{"text": "a"}\n{"text": ', "line 2: not JSON"),
        (b'\n{"body": "a"}', 'line 2: no "text"'),
        (b'{"text": null}', 'line 1: no "text"'),
        (b'["text"]', 'line 1: no "text"'),
        (b'{"text": "a"}\n\n{"text": "\xe9"}', "line 3: not UTF-8"),
    ],
)
def test_bad_lines_are_named(
    model: str, tmp_path: Path, content: bytes, message: str
) -> None:
    path = tmp_path / "in.jsonl"
    path.write_bytes(content)
    result = run("-m", model, str(path))
    assert result.exit_code == 1
    assert f"in.jsonl, {message}" in flat(result.stderr)
    result = run("-m", model, "-", "--from", "jsonl", input=content)
    assert f"standard input, {message}" in flat(result.stderr)


def test_bad_files_are_named(model: str, files: List[str], tmp_path: Path) -> None:
    result = run("-m", model, files[0], str(tmp_path / "none.txt"))
    assert result.exit_code == 1
    # Seen before anything is done.
    assert "none.txt" in result.stderr and result.stdout == ""
    assert "--text" in run("-m", model, "דנה פגשה את אחיה.").stderr
    bad = tmp_path / "bad.txt"
    bad.write_bytes("שלום\n".encode() + "שלום".encode("cp1255"))
    result = run("-m", model, str(bad))
    assert result.exit_code == 1
    assert "bad.txt, line 2: not UTF-8" in result.stderr.replace("\n", "")
    result = run("-m", model, str(tmp_path))
    assert result.exit_code == 1 and "cannot read" in result.stderr
    result = run("-m", model, files[0], "--output", str(tmp_path))
    assert result.exit_code == 1 and "cannot write" in result.stderr


def test_a_document_that_fails_is_left_out(
    model: str, files: List[str], tmp_path: Path
) -> None:
    path = tmp_path / "strange.jsonl"
    rows = [{"id": "א", "text": BROKEN}, {"id": "ב", "text": "\ud800"}]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf8")
    result = run("-m", model, files[0], str(path), files[1], "--to", "jsonl")
    assert result.exit_code == 1
    found = [json.loads(line)["id"] for line in result.stdout.splitlines()]
    assert found == files
    assert "א was left out: a sentence is too strange" in flat(result.stderr)
    assert "ב was left out" in flat(result.stderr)


def test_model_that_finds_no_clusters(tmp_path: Path, files: List[str]) -> None:
    spacy.blank("he").to_disk(tmp_path / "blank")
    result = run("-m", str(tmp_path / "blank"), files[0])
    assert result.exit_code == 1
    assert "finds no clusters" in flat(result.stderr)
    assert "he-coref train" in flat(result.stderr)


@pytest.mark.parametrize("args", [[], ["in.txt", "--text", "שלום"]])
def test_files_or_text_but_not_both(args: List[str]) -> None:
    assert run(*args).exit_code == 2


def test_model_without_singletons(
    nlp: Language, files: List[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resolve_module, "FACTORIES", ("toy_oracle",))
    nlp.to_disk(tmp_path / "model")
    result = run("-m", str(tmp_path / "model"), files[0], "--singletons")
    assert result.exit_code == 1
    assert "finds no singletons" in flat(result.stderr)


def test_formats_of_convert(model: str, files: List[str], tmp_path: Path) -> None:
    assert [format.value for format in resolve_module.ResolveFormat] == [
        "text",
        *WRITABLE,
    ]
    result = run("-m", model, *files, "--to", "webanno", "--output", f"{tmp_path}/out")
    assert result.exit_code == 0, result.output
    docs = list(read_docs(tmp_path / "out"))
    assert [doc._.source["id"] for doc in docs] == ["0", "1"]
    assert [len(doc._.coref) for doc in docs] == [6, 4]
    result = run("-m", model, files[0], "--to", "markdown")
    assert result.stdout.startswith("[דנה כהן](#1) פגשה את [אחי[ה](#1)](#2)")
    result = run("-m", model, *files, "--to", "markdown")
    assert result.exit_code == 1 and "holds one document" in flat(result.stderr)
