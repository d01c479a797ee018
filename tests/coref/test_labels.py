"""Documents with the clusters that a pipeline found, to train another one on."""

from collections import Counter
from pathlib import Path
from typing import Any, List

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import load_config
from thinc.api import Adam
from typer.testing import CliRunner

from spacy_he_coref.cli.main import app
from spacy_he_coref.coref.component import find_targets
from spacy_he_coref.coref.reader import strip_gold
from spacy_he_coref.corpus.annotate import annotate_docs
from spacy_he_coref.corpus.docs import load_docs
from spacy_he_coref.evaluation.coref import cluster_bounds
from tests.coref.helpers import (
    examples,
    make_pipeline,
    move,
    stories,
    train,
    write_stories,
)
from tests.util import ROOT

CORPORA = ["kibutzr", "iahlt"]


@Language.component("test_story_annotation")
def annotate_story(doc: Doc) -> Doc:
    """Tags and trees of the story with this text."""
    for gold in stories(doc.vocab):
        if gold.text == doc.text:
            for token, own in zip(gold, doc, strict=True):
                own.pos_, own.dep_ = token.pos_, token.dep_
                own.head = doc[token.head.i]
                own.set_morph(token.morph)
    return doc


@pytest.fixture(scope="module")
def nlp(encoder: Path) -> Language:
    nlp = make_pipeline(encoder, model={"corpora": CORPORA, "frozen": True})
    train(nlp, 40)
    nlp.add_pipe("test_story_annotation", first=True)
    nlp.add_pipe("he_mentions", after="test_story_annotation")
    return nlp


def label(nlp: Language, docs: List[Doc], counts: Any = None) -> List[Doc]:
    return list(annotate_docs(nlp, docs, "segments", counts, clusters="predicted"))


def test_clusters_are_those_of_the_pipeline(nlp: Language) -> None:
    counts: Counter[str] = Counter()
    golds = stories(nlp.vocab)
    made = label(nlp, golds, counts)
    for doc, gold in zip(made, golds, strict=True):
        assert doc.text == gold.text
        # It knows the stories by heart, singletons among them.
        assert cluster_bounds(doc, singletons=True) == cluster_bounds(
            gold, singletons=True
        )
        assert doc._.source["clusters"] == "predicted"
    assert counts["mentions_with_singletons"] == sum(
        len(group) for doc in golds for group in cluster_bounds(doc, singletons=True)
    )


def test_gold_mentions_are_neither_needed_nor_seen(nlp: Language) -> None:
    bare = stories(nlp.vocab)
    for doc in bare:
        doc.spans.clear()
    ours = [cluster_bounds(doc, singletons=True) for doc in label(nlp, bare)]
    theirs = [
        cluster_bounds(d, singletons=True) for d in label(nlp, stories(nlp.vocab))
    ]
    assert ours == theirs and any(ours)
    with pytest.raises(ValueError, match="no gold mentions"):
        list(annotate_docs(nlp, bare, "segments"))


def test_documents_count_as_of_the_first_corpus(nlp: Language) -> None:
    docs = stories(nlp.vocab)
    for doc in docs:
        doc._.source = {**doc._.source, "corpus": "iahlt"}
    made = label(nlp, docs)
    assert {doc._.source["corpus"] for doc in made} == {"kibutzr"}
    example = examples(nlp)[0]
    example.reference._.source = made[0]._.source
    assert find_targets(example, CORPORA).corpus == 0


def test_another_pipeline_learns_them(nlp: Language, encoder: Path) -> None:
    other = make_pipeline(encoder, seed=1, model={"frozen": True})
    transformer = other.get_pipe("transformer")
    labelled = [move(doc, other.vocab) for doc in label(nlp, stories(nlp.vocab))]
    data = [Example(transformer(strip_gold(doc)), doc) for doc in labelled]
    sgd = Adam(0.01)
    for _ in range(40):
        other.update(data, sgd=sgd, exclude=["transformer"])
    found = [other(strip_gold(doc)) for doc in labelled]
    assert list(map(cluster_bounds, found)) == list(map(cluster_bounds, labelled))


def test_command(nlp: Language, tmp_path: Path) -> None:
    nlp.to_disk(tmp_path / "model")
    corpus, output = write_stories(tmp_path / "stories.spacy"), tmp_path / "out.spacy"
    command = ["corpus", "annotate", str(tmp_path / "model"), str(corpus), str(output)]
    arguments = [*command, "--given", "segments", "--clusters", "predicted"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    assert "mentions with singletons" in result.output
    assert {doc._.source["clusters"] for doc in load_docs(output)} == {"predicted"}
    spacy.blank("he").to_disk(tmp_path / "blank")
    command[2] = str(tmp_path / "blank")
    arguments = [*command, "--given", "segments", "--clusters", "predicted"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 1
    assert "no he_coref" in result.output


def test_unknown_clusters(nlp: Language) -> None:
    with pytest.raises(ValueError, match="gold, predicted"):
        list(annotate_docs(nlp, [], "segments", clusters="silver"))


def test_students_are_trained_as_their_teachers_but_longer_on_more() -> None:
    configs = [
        load_config(ROOT / "configs" / name).to_str(interpolate=False).splitlines()
        for name in ("coref.cfg", "coref_student.cfg")
    ]
    changed = {line.split(" = ")[0] for line in set(configs[0]) ^ set(configs[1])}
    assert changed == {"paths", "max_steps", "eval_frequency", "total_steps"}
