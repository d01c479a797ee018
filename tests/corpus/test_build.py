import json
import shutil

import pytest
from spacy.tokens import DocBin
from typer.testing import CliRunner

from spacy_he_coref.cli.corpus import SUMMARY, app
from spacy_he_coref.corpus import build as build_module
from spacy_he_coref.corpus.build import build_corpus
from spacy_he_coref.corpus.conllu import CorpusError
from spacy_he_coref.corpus.docs import doc_to_kibutzr, load_docs
from tests.util import TOY_HTB, TOY_IAHLT, TOY_KIBUTZR

TRAIN_FILE = "kibutzr/conllu/with_singleton/train/mini_1.conllu"


@pytest.fixture
def copy(tmp_path):
    """A copy of the toy corpus, to be spoilt."""
    shutil.copytree(TOY_KIBUTZR, tmp_path / "kibutzr")
    shutil.copytree(TOY_HTB, tmp_path / "htb")
    return tmp_path


def run(*args):
    return CliRunner().invoke(app, [str(arg) for arg in args])


def change(path, old, new):
    text = path.read_text(encoding="utf8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf8")


@pytest.mark.smoke
def test_builds_every_split(tmp_path):
    counts = build_corpus(tmp_path, TOY_KIBUTZR, TOY_HTB, TOY_IAHLT)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "build.json",
        "dev.spacy",
        "iahlt.spacy",
        "train.spacy",
    ]
    assert json.loads((tmp_path / "build.json").read_text()) == counts
    train = counts["train"]
    assert train["documents"] == 2
    assert train["sentences"] == 10
    assert train["morphemes"] == 151
    assert train["digits_reversed"] == 2
    assert train["clitics_without_underscore"] == 3
    assert train["mentions_not_restored"] == 0
    assert counts["dev"]["documents"] == 2
    assert counts["iahlt"]["documents"] == 2
    for split, stems in (("train", ["mini_1", "mini_2_1"]), ("dev", ["mini_3"])):
        docs = load_docs(tmp_path / f"{split}.spacy")
        for doc, stem in zip(docs, stems, strict=False):
            path = TOY_KIBUTZR / "conllu" / "with_singleton" / split / f"{stem}.conllu"
            assert doc_to_kibutzr(doc) == path.read_text(encoding="utf8")
            assert doc._.source["split"] == split
            assert doc._.source["id"] == stem.replace("_", ":", 1)


def test_build_is_the_same_again(tmp_path):
    build_corpus(tmp_path / "a", TOY_KIBUTZR, TOY_HTB, TOY_IAHLT)
    build_corpus(tmp_path / "b", TOY_KIBUTZR, TOY_HTB, TOY_IAHLT)
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()


def test_test_split_and_public_names(copy):
    split = copy / "kibutzr/conllu/with_singleton/test"
    shutil.move(copy / "kibutzr/conllu/with_singleton/dev", split)
    (split / "mini_3.conllu").rename(split / "mini:3.conllu")
    shutil.move(copy / "kibutzr/conllu", copy / "repository/data/conllu")
    build_corpus(copy / "out", copy / "repository", copy / "htb")
    docs = load_docs(copy / "out" / "test.spacy")
    assert [doc._.source["id"] for doc in docs] == ["mini:3", "mini:4"]


BAD = [
    (TRAIN_FILE, "(0)|1)", "(0)", 6, "opens a mention"),
    (TRAIN_FILE, "פגשה\t0\t2\t_\t_", "פגשה\t0\t2\t_", 4, "4 columns"),
    (TRAIN_FILE, "סיפרה\t1", "סיפרה\t7", 18, "1/1 is next"),
    ("htb/train.conllu", "\tPUNCT\t_\t3", "\tPUNCT\t_\t99", 20, "head 99"),
]


@pytest.mark.parametrize("file, old, new, line, message", BAD)
def test_malformed_input_leaves_nothing(copy, file, old, new, line, message):
    change(copy / file, old, new)
    with pytest.raises(CorpusError, match=message) as error:
        build_corpus(copy / "out", copy / "kibutzr", copy / "htb")
    assert f"{copy / file}, line {line}: " in str(error.value)
    assert not (copy / "out").exists()


def test_sentence_without_tree_is_named(copy):
    path = copy / TRAIN_FILE
    lines = path.read_text(encoding="utf8").split("\n")
    start = lines.index("") + 1
    for i in range(start, lines.index("", start)):
        columns = lines[i].split("\t")
        lines[i] = "\t".join([columns[0][::-1] * 2, *columns[1:]])
    path.write_text("\n".join(lines), encoding="utf8")
    with pytest.raises(CorpusError, match=f"line {start + 1}: sentence 1 .* fits no"):
        build_corpus(copy / "out", copy / "kibutzr", copy / "htb")
    assert not (copy / "out").exists()


def test_existing_files_stay_after_an_error(copy, monkeypatch):
    out = copy / "out"
    build_corpus(out, copy / "kibutzr", copy / "htb")
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    change(copy / TRAIN_FILE, "(0)|1)", "(0)")
    with pytest.raises(CorpusError):
        build_corpus(out, copy / "kibutzr", copy / "htb")
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before

    def full(*args):
        raise OSError("No space left on device")

    monkeypatch.setattr(build_module.Path, "write_bytes", full)
    with pytest.raises(OSError):
        build_corpus(out, TOY_KIBUTZR, TOY_HTB)
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


@pytest.mark.smoke
def test_command_prints_a_summary(tmp_path):
    args = ["--kibutzr", TOY_KIBUTZR, "--htb", TOY_HTB, "--iahlt", TOY_IAHLT[0]]
    result = run("build", *args, "--output", tmp_path)
    assert result.exit_code == 0, result.output
    assert f"{tmp_path / 'train.spacy'}" in result.output
    assert "151  morphemes\n" in result.output
    assert "2  numbers with reversed digits, put right" in result.output
    assert len(load_docs(tmp_path / "iahlt.spacy")) == 1


def test_other_treebanks_give_segments(tmp_path):
    result = run("build", "--ud", TOY_HTB / "dev.conllu", "--output", tmp_path)
    assert result.exit_code == 0, result.output
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "build.json",
        "ud.spacy",
    ]
    (doc,) = load_docs(tmp_path / "ud.spacy")
    assert doc.text.startswith("נועה לוי כתבה ספר על")


def test_every_count_is_explained(tmp_path):
    ud = [TOY_HTB / "dev.conllu"]
    counts = build_corpus(tmp_path, TOY_KIBUTZR, TOY_HTB, TOY_IAHLT, ud)
    missing = {key for found in counts.values() for key in found} - set(SUMMARY)
    assert missing <= {"clusters_read", "singletons"}


@pytest.mark.parametrize(
    "args, message",
    [
        (["--kibutzr", TOY_KIBUTZR], "need each other"),
        ([], "nothing to build"),
        (["--kibutzr", TOY_HTB, "--htb", TOY_HTB], "no KibutzR files here"),
        (["--kibutzr", TOY_KIBUTZR, "--htb", TOY_KIBUTZR], "no *.conllu files here"),
        (["--iahlt", "nowhere.jsonl"], "nowhere.jsonl"),
    ],
)
def test_command_says_what_to_do(tmp_path, args, message):
    result = run("build", *args, "--output", tmp_path / "out")
    assert result.exit_code == 1
    assert message in result.output
    assert "Traceback" not in result.output
    assert not (tmp_path / "out").exists()


def test_docbin_can_be_read_by_spacy(tmp_path):
    build_corpus(tmp_path, TOY_KIBUTZR, TOY_HTB)
    assert len(DocBin().from_disk(tmp_path / "dev.spacy")) == 2
