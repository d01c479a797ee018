import pytest

from spacy_he_coref.corpus.alignment import (
    Treebank,
    align_document,
    align_sentence,
    find_treebank,
)
from spacy_he_coref.corpus.conllu import CorpusError, TreeNode, TreeSentence, TreeWord
from spacy_he_coref.corpus.kibutzr import KibutzrDocument, KibutzrSentence


def tree(text, sent_id="1", heads=None, ner=None):
    """``word=morpheme+morpheme word ...``; all hang from the first if not said."""
    nodes, words = [], []
    for item in text.split():
        word, _, forms = item.partition("=")
        forms = (forms or word).split("+")
        words.append(TreeWord(word, len(nodes), len(nodes) + len(forms), True))
        nodes.extend(TreeNode(f, f, "X", "_", 1, "dep", "O") for f in forms)
    heads = heads or [0] + [1] * (len(nodes) - 1)
    ner = ner.split() if ner else ["O"] * len(nodes)
    nodes = [
        node._replace(head=h, ner=n, deprel=f"r{i}" if h else "root")
        for i, (node, h, n) in enumerate(zip(nodes, heads, ner, strict=True), start=1)
    ]
    return TreeSentence(sent_id, nodes, words, "tree.conllu", 1)


def document(*sentences):
    rows = [KibutzrSentence(s.split(), 10 * i) for i, s in enumerate(sentences)]
    return KibutzrDocument("d", rows, [], "", "", {}, "d.conllu")


def words(sentence):
    return [
        (word.text, " ".join(m.form for m in sentence.morphemes[word.start : word.end]))
        for word in sentence.words
    ]


@pytest.mark.smoke
def test_same_morphemes_get_the_values_of_the_tree():
    sentence = align_sentence(
        "ב ה_ עיר של _הוא".split(),
        tree("בעיר=ב+ה_+עיר שלו=של_+_הוא", heads=[3, 3, 0, 5, 3]),
    )
    assert words(sentence) == [("בעיר", "ב ה_ עיר"), ("שלו", "של _הוא")]
    assert [m.head for m in sentence.morphemes] == [3, 3, 0, 5, 3]
    assert [m.deprel for m in sentence.morphemes] == ["r1", "r2", "root", "r4", "r5"]
    assert [m.span for m in sentence.morphemes] == [
        (0, 1),
        None,
        (1, 4),
        (0, 2),
        (2, 3),
    ]
    assert all(m.found for m in sentence.morphemes)
    assert not +sentence.counts


@pytest.mark.parametrize(
    "forms, treebank, expected",
    [
        # KibutzR has fewer morphemes, more, or others than the word
        (
            "חיי הם יפים",
            "חייהם=חיים_+_של_+_הם יפים",
            [("חייהם", "חיי הם"), ("יפים", "יפים")],
        ),
        (
            "כול _של_ _אנחנו פה",
            "כולנו=כולנו+_הם פה",
            [("כולנו", "כול _של_ _אנחנו"), ("פה", "פה")],
        ),
        (
            "ל _הוא _אנחנו קוראים",
            "להם=ל_+_הם אנו קוראים",
            [("להם", "ל _הוא"), ("אנו", "_אנחנו"), ("קוראים", "קוראים")],
        ),
        ("ה כל טוב", "הכל טוב", [("הכל", "ה כל"), ("טוב", "טוב")]),
        (
            "בשנת 1957 8 בלבד",
            "בשנת 1957-8 בלבד",
            [("בשנת", "בשנת"), ("1957-8", "1957 8"), ("בלבד", "בלבד")],
        ),
        # words that one of the two lacks
        (
            "דני בא ו הלך הביתה",
            "דני בא הביתה",
            [("דני", "דני"), ("בא", "בא"), ("והלך", "ו הלך"), ("הביתה", "הביתה")],
        ),
        ("דני הביתה", "דני הלך הביתה", [("דני", "דני"), ("הביתה", "הביתה")]),
        ("דני ה_", "דני", [("דני", "דני"), ("ה", "ה_")]),
    ],
)
def test_other_morphemes(forms, treebank, expected):
    sentence = align_sentence(forms.split(), tree(treebank))
    assert words(sentence) == expected
    heads = [m.head for m in sentence.morphemes]
    assert heads.count(0) == 1
    for i in range(len(heads)):
        steps = 0
        while heads[i]:
            i = heads[i] - 1
            steps += 1
            assert steps <= len(heads)


def test_what_was_repaired_is_counted():
    sentence = align_sentence("דני ו דנה הביתה".split(), tree("דני הלך הביתה"))
    assert sentence.counts["words_dropped"] == 1
    assert sentence.counts["morphemes_without_tree_node"] == 2
    assert [m.upos for m in sentence.morphemes] == ["X"] * 4


def test_one_morpheme_of_several_words():
    parts = tree('ח " כ חדש')
    tight = [word._replace(space_after=False) for word in parts.words[:2]]
    parts = parts._replace(words=[*tight, *parts.words[2:]])
    sentence = align_sentence(['ח"כ', "חדש"], parts)
    assert words(sentence) == [('ח"כ', 'ח"כ'), ("חדש", "חדש")]


def test_head_that_is_lacking_is_climbed_over():
    sentence = align_sentence("אב ד".split(), tree("אב=אב+ג ד", heads=[0, 1, 2]))
    assert [m.head for m in sentence.morphemes] == [0, 1]
    # the root itself is lacking
    sentence = align_sentence("א ד ה".split(), tree("א=א+שורש ד ה", heads=[2, 0, 2, 2]))
    assert [m.head for m in sentence.morphemes] == [0, 1, 1]
    assert [m.deprel for m in sentence.morphemes] == ["root", "r3", "r4"]


@pytest.mark.parametrize(
    "ours, theirs, form, word",
    [
        ("08", "80", "80", "80"),
        ("80", "80", "80", "80"),
        ("ב 4891", "ב1984=ב+1984", "1984", "ב1984"),
        # signs that were lost
        ("64", "6-4", "6-4", "6-4"),
        # of three witnesses two agree
        ("כ 100,000", "כ001,000=כ+100,000", "100,000", "כ100,000"),
        ("ל 2500", "ל2500=ל+0052", "2500", "ל2500"),
        ("ה 25 . 11", "ה52.11=ה+25.11", "11", "ה25.11"),
    ],
)
def test_digits_are_put_right(ours, theirs, form, word):
    sentence = align_sentence(ours.split(), tree(theirs))
    assert sentence.morphemes[-1].form == form
    assert sentence.morphemes[-1].original == ours.split()[-1]
    assert sentence.words[-1].text == word
    assert sentence.words[-1].assigned


def test_digits_stay_if_asked():
    for ours, theirs, word in [("08", "80", "08"), ("ב 12", "ב21=ב+21", "ב12")]:
        sentence = align_sentence(ours.split(), tree(theirs), correct=False)
        assert sentence.morphemes[-1].form == ours.split()[-1]
        assert sentence.words[-1].text == word
        assert not +sentence.counts


@pytest.mark.parametrize(
    "forms, word, kinds",
    [
        ("של הם", "שלהם=של_+_הם", ["host", "clitic"]),
        ("ב הן", "בהן=ב_+_הן", ["host", "clitic"]),
        ("הורי הם", "הוריהם=הורה_+_של_+_הם", ["host", "clitic"]),
        ("ש הם", "שהם=ש+הם", ["prefix", "host"]),
        ("ו הם", "והם=ו+הם", ["prefix", "host"]),
        ("הם", "הם", ["word"]),
    ],
)
def test_clitics_without_underscore(forms, word, kinds):
    sentence = align_sentence(forms.split(), tree(word))
    assert [m.kind for m in sentence.morphemes] == kinds
    assert sentence.counts["clitics_without_underscore"] == (kinds[-1] == "clitic")


@pytest.mark.parametrize(
    "tags, expected",
    [
        ("B-PER I-PER E-PER O", [(0, 3, "PER")]),
        ("S-GPE O S-ORG S-ORG", [(0, 1, "GPE"), (2, 3, "ORG"), (3, 4, "ORG")]),
        # badly formed
        ("B-PER O O O", [(0, 1, "PER")]),
        ("O I-ORG E-ORG O", [(1, 3, "ORG")]),
        ("B-PER E-ORG O B-PER", [(0, 1, "PER"), (1, 2, "ORG"), (3, 4, "PER")]),
        ("B-PER B-PER E-PER O", [(0, 1, "PER"), (1, 3, "PER")]),
    ],
)
def test_entities(tags, expected):
    sentence = align_sentence("א ב ג ד".split(), tree("א ב ג ד", ner=tags))
    assert sentence.entities == expected


def test_sentences_are_found_by_morphemes_and_neighbours():
    treebank = Treebank(
        [
            tree("שלום לכולם", "1"),
            tree("הוא בא אתמול לבד", "2"),
            tree("שלום לכולם", "3"),
            tree("היא הלכה 08 ימים", "4"),
            tree("ילד קטן אכל תפוח אדום גדול", "5"),
        ]
    )
    aligned = align_document(
        document(
            "הוא בא אתמול לבד",
            "שלום לכולם",
            "היא הלכה 80 ימים",
            "ילד קטן אכל תפוחים אדום גדול",
        ),
        treebank,
    )
    assert [sentence.sent_id for sentence in aligned] == ["2", "3", "4", "5"]


def test_sentence_that_fits_no_tree_is_named():
    treebank = Treebank([tree("שלום לכולם", "1"), tree("הוא בא לבד", "2")])
    with pytest.raises(CorpusError, match="d.conllu, line 10: sentence 1 .*fits no"):
        align_document(document("שלום לכולם", "משהו אחר לגמרי"), treebank)


def test_gap_in_the_numbers_of_the_treebank_is_a_tree_held_back():
    treebank = Treebank([tree("שלום לכולם", "1"), tree("הוא בא לבד", "4")])
    lost = 'ה ראש אמר : " ראיתי את אחות _של_ _היא ב ה_ עיר " .'
    aligned = align_document(
        document("שלום לכולם", lost, "הם הלכו", "הוא בא לבד"), treebank
    )
    assert [sentence.sent_id for sentence in aligned] == ["1", None, None, "4"]
    text = "".join(w.text + " " * w.space_after for w in aligned[1].words)
    assert text.strip() == 'הראש אמר: "ראיתי את אחותה בעיר".'
    assert all(m.head is None for m in aligned[1].morphemes)
    assert aligned[1].counts["sentences_without_tree"] == 1
    with pytest.raises(CorpusError, match="line 10"):
        align_document(
            document("שלום לכולם", *["משהו אחר"] * 3, "הוא בא לבד"), treebank
        )


def test_finds_treebank_files(tmp_path):
    with pytest.raises(CorpusError, match="Hebrew treebank"):
        find_treebank(tmp_path)
    for name in ("he_htb-ud-train.conllu", "he_htb-ud-dev.conllu"):
        (tmp_path / name).touch()
    assert len(find_treebank(tmp_path)) == 2
    fixed = tmp_path / "ud_fixed.conllu"
    fixed.touch()
    assert find_treebank(tmp_path) == [fixed]
    assert find_treebank(fixed) == [fixed]
