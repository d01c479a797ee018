"""The he_segmenter component: requests, validation, storing, training, saving."""

import pickle
from typing import Any, Dict, Iterable, Iterator, List

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from thinc.api import Linear, Model

from spacy_he_coref.segmenter.component import HebrewSegmenter, make_request
from spacy_he_coref.segmenter.contract import Request, Word
from spacy_he_coref.tokens import (
    Analysis,
    Morpheme,
    pending_analyses,
    set_analysis,
    trivial_analysis,
)
from tests.segmenter.helpers import (
    TEXT,
    LexiconSegmenter,
    analyse,
    blank,
    pipeline,
    segmented,
)


class Listed:
    """Backend that gives what it was told to."""

    def __init__(self, *answers: List[Analysis]) -> None:
        self.answers = answers

    def segment(self, requests: Iterable[Request]) -> Iterator[List[Analysis]]:
        yield from self.answers


@spacy.registry.misc("test.TrainableSegmenter.v1")
class Trainable(LexiconSegmenter):
    """Backend that can be trained; notes what it was asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.model: Model = Linear(2, 2)
        self.calls: List[Any] = []

    def initialize(self, get_examples: Any, *, nlp: Any = None, size: int = 0) -> None:
        self.calls.append(("initialize", len(list(get_examples())), size))
        self.model.initialize()

    def update(
        self,
        examples: Any,
        *,
        drop: float,
        sgd: Any,
        losses: Dict[str, float],
        name: str,
    ) -> Dict[str, float]:
        self.calls.append(("update", len(examples), drop, sgd))
        losses[name] = losses.get(name, 0.0) + 2.0
        return losses

    def finish_update(self, sgd: Any) -> None:
        self.calls.append("finish")

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        return b"weights"

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> "Trainable":
        self.calls.append(data)
        return self

    def to_disk(self, path: Any, *, exclude: Iterable[str] = ()) -> None:
        path.write_bytes(b"weights")

    def from_disk(self, path: Any, *, exclude: Iterable[str] = ()) -> "Trainable":
        self.calls.append(path.read_bytes())
        return self


def component(backend: Any = None) -> HebrewSegmenter:
    return HebrewSegmenter(blank().vocab, backend or LexiconSegmenter())


def stored(doc: Doc) -> Dict[str, int]:
    return {
        doc.text[start : start + length]: len(analysis)
        for start, (length, analysis) in pending_analyses(doc).items()
    }


def test_request() -> None:
    doc = blank()(" דבריו,  הבית\n")
    request = make_request(doc)
    assert request.doc is doc
    assert request.words == [
        Word("דבריו", 1, False),
        Word(",", 6, True),
        Word("הבית", 9, True),
    ]


def test_request_of_a_segmented_doc_has_its_words() -> None:
    assert make_request(segmented(TEXT)).words == make_request(blank()(TEXT)).words


def test_decisions_are_stored() -> None:
    doc = component()(blank()(TEXT))
    assert stored(doc) == {"דבריו": 3, "בשטחים": 3, "ולבתו": 5, "שהוא": 2}
    assert len(doc) == len(blank()(TEXT))


@pytest.mark.parametrize("text", ["", " ", "\n", "שלום", "א"])
def test_nothing_to_store(text: str) -> None:
    assert stored(component()(blank()(text))) == {}


def test_run_twice() -> None:
    doc = component()(blank()(TEXT))
    before = stored(doc)
    assert stored(component()(doc)) == before


def test_what_is_decided_already_is_not_stored() -> None:
    assert stored(component()(segmented(TEXT))) == {}


def test_trivial_analysis_undoes() -> None:
    doc = component(LexiconSegmenter({"דבריו": "דבריו"}))(segmented("דבריו"))
    assert stored(doc) == {"דבריו": 1}


def test_older_decisions_are_forgotten() -> None:
    doc = blank()("דבריו שלום")
    set_analysis(doc, 6, "שלום", analyse("שלום", "ש לום"))
    assert stored(component()(doc)) == {"דבריו": 3}


@pytest.mark.parametrize(
    "analyses,message",
    [
        ([(Morpheme("ש", 0, 1, "prefix"), Morpheme("לו", 1, 3, "host"))], "שלום"),
        ([(Morpheme("שלום", 0, 4, "thing"),)], "kind"),
        ([()], "שלום"),
        ([], "0 analyses for 1 words"),
        ([trivial_analysis("שלום")] * 2, "2 analyses for 1 words"),
    ],
)
def test_bad_answers_name_document_and_word(analyses: Any, message: str) -> None:
    doc = blank()("שלום")
    doc._.source = {"id": "htb:3"}
    set_analysis(doc, 0, "שלום", analyse("שלום", "ש לום"))
    before = stored(doc)
    with pytest.raises(ValueError, match=message) as error:
        component(Listed(analyses))(doc)
    assert "htb:3" in str(error.value)
    assert stored(doc) == before


def test_too_few_answers() -> None:
    with pytest.raises(ValueError, match="0 answers for 1 documents"):
        component(Listed())(blank()("שלום"))


def test_no_backend() -> None:
    with pytest.raises(ValueError, match="has no method 'segment'"):
        HebrewSegmenter(blank().vocab, None)  # type: ignore[arg-type]


def test_pipe_is_call() -> None:
    texts = [TEXT, "", "הבית", " ", "שלום"] * 3
    nlp = blank()
    backend = LexiconSegmenter()
    piped = component(backend).pipe((nlp(text) for text in texts), batch_size=4)
    called = [component()(nlp(text)) for text in texts]
    assert [doc.to_bytes() for doc in piped] == [doc.to_bytes() for doc in called]
    assert backend.batches == [4, 4, 4, 3]


def test_pipe_reads_no_further_than_its_batch() -> None:
    nlp = blank()
    seen: List[int] = []

    def stream() -> Iterator[Doc]:
        for i in range(100):
            seen.append(i)
            yield nlp("הבית")

    next(component().pipe(stream(), batch_size=5))
    assert len(seen) <= 5


@pytest.mark.parametrize("batch_size", [1, 2, 10])
def test_only_the_failing_document_is_lost(batch_size: int) -> None:
    nlp = blank()
    segmenter = component()
    failed: List[str] = []
    segmenter.set_error_handler(
        lambda name, proc, docs, error: failed.extend(doc.text for doc in docs)
    )
    docs = [nlp(text) for text in ("הבית", "תקלה", TEXT, "שלום")]
    output = list(segmenter.pipe(docs, batch_size=batch_size))
    assert [doc.text for doc in output] == ["הבית", TEXT, "שלום"]
    assert failed == ["תקלה"]
    assert len(stored(output[1])) == 4


def test_errors_are_raised_by_default() -> None:
    with pytest.raises(RuntimeError, match="תקלה"):
        list(component().pipe([blank()("תקלה")]))


def test_default_config_is_the_trained_backend() -> None:
    config = Language.get_factory_meta("he_segmenter").default_config
    assert config["backend"] == {"@misc": "spacy_he_coref.TrainedSegmenter.v1"}


def test_in_a_pipeline() -> None:
    nlp = pipeline()
    doc = nlp(TEXT)
    assert doc.text == TEXT
    assert [t.text for t in doc][:2] == ["דברי", "ו"]
    assert [t.text for t in nlp(doc)] == [t.text for t in doc]
    assert not nlp.get_pipe("he_segmenter").is_trainable
    assert not hasattr(nlp.get_pipe("he_segmenter"), "model")


def test_untrainable_backend_is_left_alone() -> None:
    nlp = pipeline()
    example = Example(nlp.make_doc(TEXT), segmented(TEXT))
    nlp.initialize(lambda: [example])
    assert nlp.update([example]) == {}
    with nlp.use_params({1: 2}):
        pass
    nlp.config["initialize"]["components"]["he_segmenter"] = {"size": 3}
    with pytest.raises(ValueError, match="size"):
        nlp.initialize(lambda: [example])


def test_training_goes_to_the_backend() -> None:
    config = {"initialize": {"components": {"he_segmenter": {"size": 7}}}}
    nlp = spacy.blank("he", config=config)
    nlp.add_pipe(
        "he_segmenter", config={"backend": {"@misc": "test.TrainableSegmenter.v1"}}
    )
    segmenter = nlp.get_pipe("he_segmenter")
    assert segmenter.is_trainable
    example = Example(nlp.make_doc(TEXT), segmented(TEXT))
    sgd = nlp.initialize(lambda: [example])
    losses = nlp.update([example], sgd=sgd, drop=0.2)
    assert losses == {"he_segmenter": 2.0}
    calls = segmenter.backend.calls
    assert calls == [("initialize", 1, 7), ("update", 1, 0.2, None), "finish"]
    assert segmenter.model is segmenter.backend.model
    with nlp.use_params({segmenter.model.id: {}}):
        pass


def test_trained_backend_is_saved(tmp_path) -> None:
    nlp = blank()
    nlp.add_pipe(
        "he_segmenter", config={"backend": {"@misc": "test.TrainableSegmenter.v1"}}
    )
    nlp.to_disk(tmp_path)
    loaded = spacy.load(tmp_path)
    assert loaded.get_pipe("he_segmenter").backend.calls == [b"weights"]
    other = blank()
    other.add_pipe(
        "he_segmenter", config={"backend": {"@misc": "test.TrainableSegmenter.v1"}}
    )
    other.from_bytes(nlp.to_bytes())
    assert other.get_pipe("he_segmenter").backend.calls == [b"weights"]


def test_backend_without_data_is_saved(tmp_path) -> None:
    nlp = pipeline()
    nlp.to_disk(tmp_path)
    expected = [t.text for t in nlp(TEXT)]
    assert [t.text for t in spacy.load(tmp_path)(TEXT)] == expected
    copy = pipeline().from_bytes(nlp.to_bytes())
    assert [t.text for t in copy(TEXT)] == expected


def test_pickle() -> None:
    copy = pickle.loads(pickle.dumps(component()))
    assert stored(copy(blank()(TEXT))) == stored(component()(blank()(TEXT)))


def test_score() -> None:
    nlp = pipeline()
    gold = segmented(TEXT)
    scores = nlp.evaluate([Example(nlp.make_doc(TEXT), gold)])
    assert scores["segmentation_f"] == scores["segmentation_words_acc"] == 1.0
    assert component().score([]) == {}
    # Without the retokenizer the waiting decisions are scored.
    nlp.remove_pipe("he_retokenizer")
    scores = nlp.evaluate([Example(nlp.make_doc(TEXT), gold)])
    assert scores["segmentation_f"] == 1.0
    assert nlp.config["training"]["score_weights"] is not None
