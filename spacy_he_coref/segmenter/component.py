"""``he_segmenter``: decides the morphemes of every written word.

The component asks a backend (``contract.SegmenterBackend``), checks every
analysis, and stores the decisions on the Doc; ``he_retokenizer`` applies them
(design section 2).
"""

from pathlib import Path
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, Tuple, Union

from spacy import util
from spacy.language import Language
from spacy.pipeline import Pipe
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab
from thinc.api import Model, Optimizer

from ..evaluation.segmentation import SCORE_WEIGHTS
from ..tokens import (
    Analysis,
    clear_analyses,
    is_segmented,
    is_trivial,
    set_analysis,
    trivial_analysis,
    word_bounds,
)
from .contract import Request, SegmenterBackend, Word, validate_analysis
from .letters import describe_doc, read_analysis

DEFAULT_CONFIG = {
    "backend": {"@misc": "spacy_he_coref.TrainedSegmenter.v1"},
    "scorer": {"@scorers": "spacy_he_coref.segmentation_scorer.v1"},
}


@Language.factory(
    "he_segmenter",
    assigns=["doc._.morphemes"],
    default_config=DEFAULT_CONFIG,
    default_score_weights=SCORE_WEIGHTS,
)
def make_segmenter(
    nlp: Language,
    name: str,
    # Not SegmenterBackend: spaCy's config validation cannot check protocols.
    backend: Any,
    scorer: Optional[Callable[..., Dict[str, Any]]],
) -> "HebrewSegmenter":
    """Make the segmenter of a pipeline.

    nlp (Language): The pipeline.
    name (str): Name of the component in it.
    backend (SegmenterBackend): What decides the morphemes.
    scorer (Optional[Callable]): Scores examples in ``nlp.evaluate``.
    RETURNS (HebrewSegmenter): The component.
    """
    return HebrewSegmenter(nlp.vocab, backend, name, scorer=scorer)


def make_request(doc: Doc) -> Request:
    """What a backend gets of a document: its written words.

    doc (Doc): The document. If it is split into segments, its words are the
        written words again; white space is left out.
    RETURNS (Request): The request.
    """
    return _request(doc)[0]


def _request(doc: Doc) -> Tuple[Request, List[Tuple[int, int]]]:
    text = doc.text
    words: List[Word] = []
    bounds: List[Tuple[int, int]] = []
    for first, last in word_bounds(doc):
        if doc[first].is_space:
            continue
        start = doc[first].idx
        end = doc[last - 1].idx + len(doc[last - 1])
        words.append(Word(text[start:end], start, text[end : end + 1].isspace()))
        bounds.append((first, last))
    return Request(words, doc), bounds


def _initialize_nothing(
    get_examples: Callable[[], Iterable[Example]], *, nlp: Optional[Language] = None
) -> None:
    """What a backend does that is not initialized."""


class HebrewSegmenter(Pipe):
    """Pipeline component that decides the morphemes of every written word."""

    def __init__(
        self,
        vocab: Vocab,
        backend: SegmenterBackend,
        name: str = "he_segmenter",
        *,
        scorer: Optional[Callable[..., Dict[str, Any]]] = None,
    ) -> None:
        """Make the component.

        vocab (Vocab): The shared vocabulary.
        backend (SegmenterBackend): What decides the morphemes.
        name (str): Name of the component.
        scorer (Optional[Callable]): Scores examples.
        RAISES (ValueError): If the backend is none.
        """
        if not callable(getattr(backend, "segment", None)):
            raise ValueError(
                f"The backend of {name!r} is {backend!r}, which has no method "
                "'segment'. Choose one in the config, for example "
                "[components.he_segmenter.backend] with "
                '@misc = "spacy_he_coref.TrainedSegmenter.v1".'
            )
        self.vocab = vocab
        self.backend: Any = backend
        self.name = name
        self.scorer = scorer

    def __call__(self, doc: Doc) -> Doc:
        """Decide the morphemes of a document's words.

        doc (Doc): The document.
        RETURNS (Doc): The same document, with the decisions stored on it.
        RAISES (ValueError): If the backend breaks its contract; names document
            and word. The document is left as it was.
        """
        for analyses in self._segment([doc]):
            self.set_annotations(doc, analyses)
        return doc

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """Decide the morphemes of a stream of documents.

        What goes wrong with one document goes to the error handler
        (``set_error_handler``); the others of its batch are not lost.

        stream (Iterable[Doc]): The documents.
        batch_size (int): How many the backend gets at a time.
        YIELDS (Doc): The documents in order.
        """
        handler = self.get_error_handler()
        for docs in util.minibatch(stream, size=batch_size):
            try:
                batch: List[List[Analysis]] = list(self._segment(docs))
            except Exception:
                # Which document it was shows when each is tried alone.
                batch = []
            for i, doc in enumerate(docs):
                try:
                    if batch:
                        self.set_annotations(doc, batch[i])
                    else:
                        self(doc)
                except Exception as error:
                    handler(self.name, self, [doc], error)
                else:
                    yield doc

    def _segment(self, docs: List[Doc]) -> Iterator[List[Analysis]]:
        answers = self.backend.segment([make_request(doc) for doc in docs])
        count = 0
        for analyses in answers:
            count += 1
            yield analyses
        if count != len(docs):
            raise ValueError(
                f"The backend of {self.name!r} gave {count} answers for {len(docs)} "
                f"documents, the first of which is {describe_doc(docs[0])}. A backend "
                "gives one list of analyses for every document."
            )

    def set_annotations(self, doc: Doc, analyses: List[Analysis]) -> None:
        """Store decisions on a document; older ones that wait are forgotten.

        A word that is segmented as decided already gets no entry.

        doc (Doc): The document.
        analyses (List[Analysis]): One analysis per written word.
        RAISES (ValueError): If they do not fit the words; nothing is stored then.
        """
        request, bounds = _request(doc)
        if len(analyses) != len(request.words):
            raise ValueError(
                f"Document {describe_doc(doc)}: the backend of {self.name!r} gave "
                f"{len(analyses)} analyses for {len(request.words)} words."
            )
        segmented = is_segmented(doc)
        changed: List[Tuple[Word, Analysis]] = []
        for word, analysis, (first, last) in zip(
            request.words, analyses, bounds, strict=True
        ):
            try:
                validate_analysis(word.text, analysis)
            except ValueError as error:
                raise ValueError(
                    f"Document {describe_doc(doc)}, offset {word.start}: {error}"
                ) from error
            if is_trivial(word.text, analysis):
                analysis = trivial_analysis(word.text)
            # On a Doc that is not segmented yet, only what is not whole is news.
            if segmented:
                news = tuple(analysis) != read_analysis(doc, first, last)
            else:
                news = not is_trivial(word.text, analysis)
            if news:
                changed.append((word, tuple(analysis)))
        clear_analyses(doc)
        for word, analysis in changed:
            set_analysis(doc, word.start, word.text, analysis)

    def score(self, examples: Iterable[Example], **kwargs: Any) -> Dict[str, Any]:
        """Score predicted morphemes (see ``evaluation.segmentation``).

        examples (Iterable[Example]): The examples.
        RETURNS (Dict[str, Any]): The scores, empty without a scorer.
        """
        if self.scorer is None:
            return {}
        return self.scorer(examples, **kwargs)

    # Training: whatever the backend can do, the component can.

    @property
    def model(self) -> Model:
        """The backend's model; ``hasattr`` is False for a backend without one."""
        return self.backend.model

    @property
    def is_trainable(self) -> bool:
        """Whether the backend can be trained."""
        return hasattr(self.backend, "model") and hasattr(self.backend, "update")

    @property
    def initialize(self) -> Callable[..., None]:
        """The backend's ``initialize(get_examples, *, nlp, **settings)``.

        It is the backend's own, because spaCy checks the settings of
        ``[initialize.components.he_segmenter]`` against its signature. Examples
        hold the gold segments in their references (see ``tokens``) and written
        words in their predicted documents.
        """
        return getattr(self.backend, "initialize", _initialize_nothing)

    def update(
        self,
        examples: Iterable[Example],
        *,
        drop: float = 0.0,
        sgd: Optional[Optimizer] = None,
        losses: Optional[Dict[str, float]] = None,
    ) -> Dict[str, float]:
        """Let the backend learn from a batch of examples.

        examples (Iterable[Example]): The batch.
        drop (float): The dropout rate.
        sgd (Optional[Optimizer]): The optimizer.
        losses (Optional[Dict[str, float]]): Gets the loss under the component's
            name.
        RETURNS (Dict[str, float]): The losses.
        """
        losses = {} if losses is None else losses
        if not self.is_trainable:
            return losses
        return self.backend.update(
            examples, drop=drop, sgd=sgd, losses=losses, name=self.name
        )

    def finish_update(self, sgd: Optimizer) -> None:
        """Apply the gradients of the backend's model.

        sgd (Optimizer): The optimizer.
        """
        if self.is_trainable:
            self.backend.finish_update(sgd)

    def use_params(self, params: Dict[Any, Any]) -> Iterator[None]:
        """Use other weights for a while, as the averages of the training.

        params (Dict): The weights by model.
        YIELDS (None): Once, while they are in use.
        """
        with self.model.use_params(params):
            yield

    # Serialization

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """Serialize the backend's data.

        exclude (Iterable[str]): What to leave out.
        RETURNS (bytes): The data.
        """
        parts: Dict[str, Callable[[], Any]] = {}
        if hasattr(self.backend, "to_bytes"):
            parts["backend"] = lambda: self.backend.to_bytes(exclude=exclude)
        return util.to_bytes(parts, exclude)

    def from_bytes(
        self, data: bytes, *, exclude: Iterable[str] = ()
    ) -> "HebrewSegmenter":
        """Load the backend's data.

        data (bytes): What ``to_bytes`` gave.
        exclude (Iterable[str]): What to leave out.
        RETURNS (HebrewSegmenter): The component itself.
        """
        parts: Dict[str, Callable[[bytes], Any]] = {}
        if hasattr(self.backend, "from_bytes"):
            parts["backend"] = lambda b: self.backend.from_bytes(b, exclude=exclude)
        util.from_bytes(data, parts, exclude)
        return self

    def to_disk(self, path: Union[str, Path], *, exclude: Iterable[str] = ()) -> None:
        """Write the backend's data.

        path (Union[str, Path]): A directory; it is made if it is not there.
        exclude (Iterable[str]): What to leave out.
        """
        parts: Dict[str, Callable[[Path], Any]] = {}
        if hasattr(self.backend, "to_disk"):
            parts["backend"] = lambda p: self.backend.to_disk(p, exclude=exclude)
        util.to_disk(path, parts, exclude)

    def from_disk(
        self, path: Union[str, Path], *, exclude: Iterable[str] = ()
    ) -> "HebrewSegmenter":
        """Read the backend's data.

        path (Union[str, Path]): The directory.
        exclude (Iterable[str]): What to leave out.
        RETURNS (HebrewSegmenter): The component itself.
        """
        parts: Dict[str, Callable[[Path], Any]] = {}
        if hasattr(self.backend, "from_disk"):
            parts["backend"] = lambda p: self.backend.from_disk(p, exclude=exclude)
        util.from_disk(path, parts, exclude)
        return self
