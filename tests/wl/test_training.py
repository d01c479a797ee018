"""Word-level coreference with spacy-experimental: its configs, trained a little."""

import signal
from io import StringIO
from pathlib import Path
from typing import Any, List, Tuple

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import load_config, load_model_from_config

from spacy_he_coref.coref.clusters import get_clusters
from spacy_he_coref.corpus.build import build_corpus
from spacy_he_coref.corpus.wl import WlCorpus
from spacy_he_coref.training import TrainingInterrupted, train
from tests.training.helpers import PLAN, assert_equal, everything, run, stop
from tests.util import ROOT, TOY_HTB, TOY_KIBUTZR, save_tiny_encoder
from tests.wl.helpers import save_tiny_syntax, tiny_config

pytest.importorskip("spacy_experimental")
pytestmark = pytest.mark.filterwarnings(
    "ignore:.*torch.cuda.amp.*:FutureWarning",
)


@pytest.fixture(scope="module")
def corpora(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("corpora")
    build_corpus(path, TOY_KIBUTZR, TOY_HTB)
    return path


@pytest.fixture(scope="module")
def syntax(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_syntax(tmp_path_factory.mktemp("parts") / "syntax")


@pytest.fixture(scope="module")
def trained(
    corpora: Path, syntax: Path, tmp_path_factory: pytest.TempPathFactory
) -> Tuple[Language, Path]:
    config = tiny_config("wl_coref.cfg", corpora, syntax, steps=300)
    output = tmp_path_factory.mktemp("run")
    return train(config, output, stdout=StringIO(), stderr=StringIO())


def bounds(doc: Doc) -> List[List[Tuple[int, int]]]:
    return [[(s.start, s.end) for s in group] for group in get_clusters(doc)]


def test_learns_the_toy_and_says_the_same_when_loaded(
    trained: Tuple[Language, Path], corpora: Path
) -> None:
    nlp, path = trained
    loaded = spacy.load(path)
    right = total = 0
    for example in WlCorpus([corpora / "train.spacy"], heads=False)(nlp):
        text = example.predicted.text
        doc, again = nlp(example.predicted), example.predicted.copy()
        gold = {tuple(cluster) for cluster in bounds(example.reference)}
        right += len(gold & {tuple(cluster) for cluster in bounds(doc)})
        total += len(gold)
        assert doc.text == text
        assert all(len(group) > 1 for group in get_clusters(doc))
        assert not [key for key in doc.spans if key.startswith("he_wl")]
        # What is there already changes nothing.
        assert bounds(loaded(again)) == bounds(doc)
        assert bounds(nlp(doc)) == bounds(again)
    assert total and right > total / 2


def test_empty_one_word_and_streams(trained: Tuple[Language, Path]) -> None:
    nlp, _ = trained
    texts = ["", "דנה", "דנה באה. היא שמחה.", " ", "", "דנה ויוסי. הם באו. היא שמחה."]
    docs = [nlp(text) for text in texts]
    assert [doc.text for doc in docs] == texts
    assert not any(doc.spans for doc in (docs[0], docs[1], docs[3]))
    piped = list(nlp.pipe(texts, batch_size=4))
    assert [bounds(doc) for doc in piped] == [bounds(doc) for doc in docs]


def test_too_long_a_document_is_refused_by_name(
    trained: Tuple[Language, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    nlp, _ = trained
    monkeypatch.setattr("spacy_he_coref.coref.wl.LONGEST", 3)
    with pytest.raises(ValueError, match="'דנה באה. היא שמחה.' has 6 tokens"):
        nlp("דנה באה. היא שמחה.")


def test_stopped_and_resumed_is_the_same_to_the_bit(
    corpora: Path, syntax: Path, tmp_path: Path
) -> None:
    config = tiny_config("wl_coref.cfg", corpora, syntax, steps=6)
    config["training"]["before_update"] = {"@callbacks": "test.follow_plan.v1"}
    run(config, tmp_path / "whole")
    PLAN.update({2: stop, 5: stop})
    for _ in range(2):
        with pytest.raises(TrainingInterrupted) as raised:
            run(config, tmp_path / "broken")
        assert raised.value.signal == signal.SIGTERM
    run(config, tmp_path / "broken")
    assert_equal(everything(tmp_path / "whole"), everything(tmp_path / "broken"))


def test_the_encoder_stays_as_it_is(
    trained: Tuple[Language, Path], syntax: Path
) -> None:
    before: Any = spacy.load(syntax).get_pipe("transformer")
    after: Any = trained[0].get_pipe("transformer")
    weights = after.model.shims[0].network.state_dict()
    for name, weight in before.model.shims[0].network.state_dict().items():
        assert weight.equal(weights[name]), name


@pytest.mark.parametrize("name", ["dictabert", "alephbert"])
def test_configs_of_the_paper_take_steps(
    name: str, corpora: Path, tmp_path: Path
) -> None:
    encoder = save_tiny_encoder(tmp_path / "encoder", longest=512)
    config = tiny_config(f"wl_coref_{name}.cfg", corpora, encoder, steps=4)
    nlp, path = train(config, tmp_path / "out", stdout=StringIO(), stderr=StringIO())
    assert spacy.load(path)("דנה באה.").text == "דנה באה."
    model: Any = nlp.get_pipe("transformer")
    shim = model.model.shims[0]
    # One rate for the whole encoder, a thirtieth of that of the rest.
    assert {round(rate * 3e-4, 9) for rate in shim._rates.values()} == {1e-5}


def test_from_raw_text(corpora: Path, tmp_path: Path) -> None:
    if not spacy.util.is_package("he_coref"):
        pytest.skip("he_coref is not installed")
    run(tiny_config("wl_coref.cfg", corpora, Path("he_coref"), 2), tmp_path / "run")
    config = load_config(
        ROOT / "configs" / "he_coref_wl.cfg",
        overrides={
            "paths.he_coref": "he_coref",
            "paths.wl_coref": str(tmp_path / "run" / "model-last"),
        },
    )
    load_model_from_config(config, auto_fill=True).to_disk(tmp_path / "all")
    nlp = spacy.load(tmp_path / "all")
    text = "דנה קראה את דבריו של השר. היא שמחה עליהם."
    doc = nlp(text)
    assert doc.text == text
    assert [token.text for token in doc[3]._.word] == ["דברי", "ו"]
    assert doc.has_annotation("DEP")
    assert not [key for key in doc.spans if key.startswith("he_wl")]
    first = bounds(doc)
    assert bounds(nlp(doc)) == first
    assert [bounds(d) for d in nlp.pipe([text, "", text])] == [first, [], first]
