"""The parser, and the shipped config that trains it with all before it."""

import random
from pathlib import Path
from typing import List

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.training import Example
from spacy.training.initialize import init_nlp
from spacy.util import load_config
from thinc.api import Adam, fix_random_seed

from spacy_he_coref.corpus.build import build_corpus
from spacy_he_coref.corpus.reader import SegmentedCorpus, copy_tokens, cut_sentences
from tests.segmenter.helpers import TEXT, segmented
from tests.util import ROOT, TOY_HTB, TOY_IAHLT, TOY_KIBUTZR, save_tiny_encoder


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("corpus")
    build_corpus(path, TOY_KIBUTZR, TOY_HTB, TOY_IAHLT)
    return path


@pytest.fixture(scope="module")
def untrained(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Language:
    encoder = save_tiny_encoder(tmp_path_factory.mktemp("encoder"))
    config = load_config(
        ROOT / "configs" / "syntax.cfg",
        overrides={
            "paths.encoder": str(encoder),
            "paths.corpora": str(corpus),
            "corpora.train.paths": [str(corpus / "train.spacy")],
            "corpora.train.max_length": 30,
            "components.transformer.model.window": 60,
            "components.transformer.model.overlap": 4,
            "components.transformer.model.rate": 1.0,
            "components.transformer.model.dropout": 0.0,
            "components.trainable_lemmatizer.min_tree_freq": 1,
            "components.he_parser.model.dropout": 0.0,
            "components.he_parser.model.arc_width": 32,
            "components.he_parser.model.label_width": 16,
        },
    )
    return init_nlp(config)


@pytest.fixture(scope="module")
def gold(corpus: Path, untrained: Language) -> List[Doc]:
    return [
        eg.reference
        for eg in SegmentedCorpus([corpus / "train.spacy"], 0, False)(untrained)
    ]


@pytest.fixture(scope="module")
def trained(untrained: Language, gold: List[Doc]) -> Language:
    fix_random_seed(0)
    nlp = untrained.from_bytes(untrained.to_bytes())
    optimizer = Adam(0.004)
    for _ in range(120):
        nlp.update(
            [Example(copy_tokens(doc), doc) for doc in gold], sgd=optimizer, drop=0.0
        )
    return nlp


def values(doc: Doc) -> np.ndarray:
    return doc.to_array(["POS", "MORPH", "LEMMA", "HEAD", "DEP", "SENT_START"])


def test_overfits_a_tiny_corpus(trained: Language, gold: List[Doc]) -> None:
    scores = trained.evaluate([Example(copy_tokens(doc), doc) for doc in gold])
    assert scores["pos_acc"] > 0.97
    assert scores["morph_acc"] > 0.97
    assert scores["lemma_acc"] > 0.9
    assert scores["sents_f"] > 0.9
    assert scores["dep_las"] > 0.9


def test_disk_bytes_and_pipe_give_the_same(
    trained: Language, gold: List[Doc], tmp_path: Path
) -> None:
    trained.to_disk(tmp_path)
    loaded = spacy.load(tmp_path)
    again = spacy.load(tmp_path).from_bytes(loaded.to_bytes())
    docs = [copy_tokens(doc) for doc in gold]
    for first, second, third in zip(
        loaded.pipe(docs),
        again.pipe([copy_tokens(doc) for doc in gold]),
        (loaded(copy_tokens(doc)) for doc in gold),
        strict=True,
    ):
        assert np.array_equal(values(first), values(second))
        assert np.array_equal(values(first), values(third))
        # Run on what it has annotated itself, nothing changes.
        before = values(first)
        assert np.array_equal(values(loaded(first)), before)


def test_docbin_keeps_trees(trained: Language, gold: List[Doc]) -> None:
    doc = trained(copy_tokens(gold[0]))
    data = DocBin(docs=[doc], attrs=["HEAD", "DEP", "POS", "MORPH", "LEMMA"]).to_bytes()
    again = next(DocBin().from_bytes(data).get_docs(trained.vocab))
    assert [t.head.i for t in again] == [t.head.i for t in doc]
    assert [t.dep_ for t in again] == [t.dep_ for t in doc]


@pytest.mark.parametrize(
    "text", ["", "שלום", "   ", "?!", "😀", "no Hebrew at all", "א\u200bב", "\n\n"]
)
def test_any_text_gets_trees_with_one_root_a_sentence(
    trained: Language, text: str
) -> None:
    doc = trained(text)
    assert doc.text == text
    for sentence in doc.sents:
        assert sum(t.head.i == t.i for t in sentence) == 1
        assert sum(t.dep_ == "ROOT" for t in sentence) == 1
        assert all(t.head.sent.start == sentence.start for t in sentence)


def test_given_sentences_are_kept(trained: Language) -> None:
    doc = segmented(TEXT, None)
    doc = Doc(
        trained.vocab,
        words=[t.text for t in doc],
        sent_starts=[i in (0, 3, 4) for i in range(len(doc))],
    )
    assert [s.start for s in trained(doc).sents] == [0, 3, 4]


def test_without_sentences_the_error_says_what_is_missing(trained: Language) -> None:
    doc = Doc(trained.vocab, words=["שלום", "עולם"])
    with trained.select_pipes(disable=["senter"]):
        with pytest.raises(ValueError, match="senter"):
            trained(doc)


def test_a_giant_sentence_is_one_tree(trained: Language) -> None:
    length = 3000
    doc = Doc(
        trained.vocab,
        words=random.Random(0).choices(["הוא", "בית", "של", "הלך"], k=length),
        sent_starts=[True] + [False] * (length - 1),
    )
    doc = trained(doc)
    assert len(list(doc.sents)) == 1
    assert sum(t.dep_ == "ROOT" for t in doc) == 1
    top = next(t for t in doc if t.dep_ == "ROOT")
    for token in doc:
        assert token == top or top in token.ancestors


def test_not_initialized() -> None:
    nlp = spacy.blank("he")
    nlp.add_pipe("he_parser")
    with pytest.raises(ValueError, match="initialize"):
        nlp("שלום")


def test_broken_setting() -> None:
    with pytest.raises(ValueError, match="max_length"):
        spacy.blank("he").add_pipe("he_parser", config={"max_length": 0})


def test_tokens_without_gold_trees_teach_nothing(
    trained: Language, gold: List[Doc]
) -> None:
    reference = copy_tokens(gold[0])
    for i, token in enumerate(reference):
        token.is_sent_start = i == 0
    parser = trained.get_pipe("he_parser")
    with trained.select_pipes(enable=["transformer", "he_parser"]):
        losses = trained.update([Example(copy_tokens(gold[0]), reference)], sgd=False)
        assert losses[parser.name] == 0
        losses = trained.update([Example(copy_tokens(gold[0]), gold[0])], sgd=False)
        assert losses[parser.name] > 0


def test_parts_of_documents_cover_them_and_end_with_sentences(gold: List[Doc]) -> None:
    random.seed(1)
    for doc in gold:
        parts = cut_sentences(doc, 12)
        assert [t.text for part in parts for t in part] == [t.text for t in doc]
        assert [t.dep_ for part in parts for t in part] == [t.dep_ for t in doc]
        assert [t._.morphemes for part in parts for t in part] == [
            t._.morphemes for t in doc
        ]
        assert sum(len(list(part.sents)) for part in parts) == len(list(doc.sents))


@pytest.mark.parametrize("name", ["syntax", "syntax_dictabert", "syntax_alephbert"])
def test_shipped_configs_train_with_another_encoder(
    name: str, corpus: Path, tmp_path: Path
) -> None:
    """Hub names are real; here a tiny local encoder stands in for them."""
    config = load_config(
        ROOT / "configs" / f"{name}.cfg",
        overrides={
            "paths.encoder": str(save_tiny_encoder(tmp_path, longest=512)),
            "paths.corpora": str(corpus),
            "corpora.train.paths": [str(corpus / "train.spacy")],
        },
    )
    nlp = init_nlp(config)
    losses = nlp.update(
        list(SegmentedCorpus([corpus / "train.spacy"], 0, False)(nlp)), sgd=Adam(0.001)
    )
    assert set(losses) == set(nlp.pipe_names)
    assert all(np.isfinite(loss) and loss > 0 for loss in losses.values())


def test_other_processes_give_the_same(trained: Language, gold: List[Doc]) -> None:
    texts = [doc.text for doc in gold] * 2
    ours = [values(doc) for doc in trained.pipe(texts)]
    theirs = [values(doc) for doc in trained.pipe(texts, n_process=2, batch_size=2)]
    for first, second in zip(ours, theirs, strict=True):
        assert np.array_equal(first, second)


def test_white_space_is_no_word(trained: Language, gold: List[Doc]) -> None:
    words = [token.text for token in gold[0]][:8]
    words = ["\n", words[0], "  ", *words[1:], "\n\n"]
    # One sentence: whether the toy senter would cut it depends on the machine.
    starts = [True, *[False] * (len(words) - 1)]
    doc = trained(Doc(trained.vocab, words=words, sent_starts=starts))
    for token in doc:
        if token.is_space:
            assert (token.pos_, token.dep_) == ("SPACE", "dep")
            assert not list(token.children)
            assert not token.head.is_space
            assert token.head.i == max(token.i - 1, 1)
    doc = trained(Doc(trained.vocab, words=["\n", "\n\n"]))
    assert [token.pos_ for token in doc] == ["SPACE", "SPACE"]
