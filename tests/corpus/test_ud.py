"""Other treebanks, of which only the segmentation is read."""

from collections import Counter
from pathlib import Path

import pytest
import spacy

from spacy_he_coref.corpus.build import build_corpus
from spacy_he_coref.corpus.conllu import CorpusError
from spacy_he_coref.corpus.stats import statistics
from spacy_he_coref.corpus.ud import make_ud_docs
from spacy_he_coref.segmenter.letters import doc_analyses

ARTICLE = "Definite=Def|PronType=Art"
# Word, and form, part of speech and features of each of its parts.
SENTENCES = [
    [
        ("ישבנו", [("ישבנו", "VERB", "_")]),
        ("בבית", [("ב", "ADP", ARTICLE), ("בית", "NOUN", "_")]),
        (".", [(".", "PUNCT", "_")]),
    ],
    [
        ("בבית", [("ב", "ADP", "_"), ("בית", "NOUN", "_")]),
        ("שלו", [("של", "ADP", "_"), ("ו", "PRON", "_")]),
        ("!", [("!", "PUNCT", "_")]),
    ],
]


def conllu() -> str:
    lines = []
    for number, sentence in enumerate(SENTENCES, start=1):
        text = " ".join(word for word, _ in sentence)
        lines += [f"# sent_id = s{number}", f"# text = {text}"]
        i = 1
        for word, parts in sentence:
            if len(parts) > 1:
                last = i + len(parts) - 1
                lines.append(f"{i}-{last}\t{word}" + "\t_" * 8)
            for form, pos, features in parts:
                head, deprel = (0, "root") if i == 1 else (1, "dep")
                columns = [i, form, form, pos, pos, features, head, deprel, "_", "_"]
                lines.append("\t".join(map(str, columns)))
                i += 1
        lines.append("")
    return "\n".join(lines) + "\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "ud"
    path.mkdir()
    (path / "dev.conllu").write_text(conllu(), encoding="utf8")
    return path


def test_borders_and_articles(folder: Path) -> None:
    counts: Counter[str] = Counter()
    (doc,) = make_ud_docs(spacy.blank("he").vocab, [folder / "dev.conllu"], counts)
    assert doc.text == "ישבנו בבית . בבית שלו !"
    found = [[m.form for m in word.analysis] for word in doc_analyses(doc)]
    assert found == [
        ["ישבנו"],
        ["ב", "ה_", "בית"],
        ["."],
        ["ב", "בית"],
        ["של", "_הוא"],
        ["!"],
    ]
    assert [sent.text for sent in doc.sents] == ["ישבנו בבית .", "בבית שלו !"]
    assert doc._.source["segmentation"] == "borders+articles"
    assert counts["covert_articles"] == 1
    assert counts["words"] == 6


def test_a_folder_of_files(folder: Path, tmp_path: Path) -> None:
    counts = build_corpus(tmp_path / "out", ud=[folder])
    assert counts["ud"]["documents"] == 1
    assert statistics(tmp_path / "out")["table"]["ud"]["sentences"] == 2
    (folder / "dev.conllu").unlink()
    with pytest.raises(CorpusError, match="conllu"):
        build_corpus(tmp_path / "out", ud=[folder])
