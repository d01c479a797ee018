"""Other treebanks: their segmentation, and their trees in the scheme of HTB."""

from collections import Counter
from pathlib import Path

import pytest
import spacy
from spacy.tokens import DocBin
from spacy.training import Example

from spacy_he_coref.corpus.build import build_corpus
from spacy_he_coref.corpus.conllu import CorpusError
from spacy_he_coref.corpus.docs import TREE_ATTRS, load_docs
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


TREE = """\
1-3	בביתו	_	_	_	_	_	_	_	_
1	ב	ב	ADP	ADP	_	2	case	_	_
2	בית	בית	NOUN	NOUN	Gender=Masc|Number=Sing	4	obl	_	_
3	ו	הוא	PRON	PRON	Case=Gen|Definite=Def|Gender=Masc|Number=Sing|Person=3|Poss=Yes|PronType=Prs	2	nmod:poss	_	_
4	נח	נח	VERB	VERB	Gender=Masc|HebBinyan=PAAL|Number=Sing|Person=3|Tense=Past|Voice=Act	0	root	_	_
5-6	החתול	_	_	_	_	_	_	_	_
5	ה	ה	DET	DET	Definite=Def|PronType=Art	6	det	_	_
6	חתול	חתול	NOUN	NOUN	Gender=Masc|Number=Sing	4	nsubj	_	_
7-8	כשישב	_	_	_	_	_	_	_	_
7	כאשר	כש	SCONJ	SCONJ	_	8	mark	_	_
8	ישב	ישב	VERB	VERB	Gender=Masc|HebBinyan=PAAL|Number=Sing|Person=3|Tense=Past|Voice=Act	4	advcl	_	SpaceAfter=No
9	.	.	PUNCT	PUNCT	_	4	punct	_	_

"""  # noqa: E501


def test_tags_and_trees(tmp_path: Path) -> None:
    path = tmp_path / "dev.conllu"
    path.write_text(TREE + TREE, encoding="utf8")
    counts = build_corpus(tmp_path / "out", ud=[path])
    (doc,) = load_docs(tmp_path / "out" / "ud.spacy")
    assert doc._.source["scheme"] == "htb-converted"
    first, second = doc.sents
    assert first.text == second.text
    found = [
        (t.text, t.pos_, t.dep_, t.head.i - second.start, t.lemma_) for t in second
    ]
    assert found == [
        ("ב", "ADP", "case", 1, "ב"),
        ("בית", "NOUN", "obl", 3, "בית"),
        ("ו", "PRON", "nmod:poss", 1, "הוא"),
        ("נח", "VERB", "ROOT", 3, "נח"),
        ("ה", "DET", "det:def", 5, "ה"),
        ("חתול", "NOUN", "nsubj", 3, "חתול"),
        # Its parts spell another word, so it is one token, without tags.
        ("כשישב", "", "advcl", 3, ""),
        (".", "PUNCT", "punct", 3, "."),
    ]
    assert str(second[1].morph) == "Definite=Def|Gender=Masc|Number=Sing"
    assert second[2].norm_ == "הוא"
    assert counts["ud"]["words_left_whole"] == counts["ud"]["tokens_untagged"] == 2


def test_untagged_tokens_are_missing_to_the_morphologizer(tmp_path: Path) -> None:
    path = tmp_path / "dev.conllu"
    path.write_text(TREE, encoding="utf8")
    nlp = spacy.blank("he")
    morphologizer = nlp.add_pipe("morphologizer")
    (doc,) = make_ud_docs(nlp.vocab, [path], Counter())
    docs = DocBin(docs=[doc], attrs=TREE_ATTRS, store_user_data=True).get_docs(
        nlp.vocab
    )
    (doc,) = docs
    nlp.initialize(lambda: [Example(doc.copy(), doc)])
    assert not doc[6].has_morph()
    assert len(morphologizer.labels) == len(
        {(t.pos_, str(t.morph)) for t in doc if t.pos}
    )
