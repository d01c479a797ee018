"""Gold segmentation: what the Doc has, or what a corpus file has for it."""

from pathlib import Path
from typing import Iterable, Iterator, List, Optional, Union

import spacy
from spacy.tokens import DocBin
from spacy.vocab import Vocab

from ...corpus.conllu import CorpusError
from ...tokens import Analysis, is_segmented, word_bounds
from ..contract import Request
from ..letters import doc_analyses, read_analysis
from .table import TableDocument, TableSegmenter, TableWord


class GoldSegmenter(TableSegmenter):
    """Backend that keeps the segments of a Doc, or takes them from gold Docs."""

    def __init__(
        self, path: Optional[Union[str, Path]] = None, on_missing: str = "error"
    ) -> None:
        """Make the backend. Nothing is read before it is needed.

        path (Optional[Union[str, Path]]): A ``.spacy`` file of gold Docs.
        on_missing (str): What becomes of a document without gold: ``word``, its
            words stay whole, with a warning; ``error``.
        """
        super().__init__(path, on_missing)

    def segment(self, requests: Iterable[Request]) -> Iterator[List[Analysis]]:
        """Give the gold analyses of documents.

        requests (Iterable[Request]): The documents. One that is split into segments
            already keeps them; others are looked up by the id of their source, or
            else by their letters.
        YIELDS (List[Analysis]): One analysis per word of each.
        RAISES (ValueError): If there is no gold for a document and ``on_missing`` is
            ``error``.
        """
        for request in requests:
            doc = request.doc
            if is_segmented(doc):
                yield [
                    read_analysis(doc, first, last)
                    for first, last in word_bounds(doc)
                    if not doc[first].is_space
                ]
            else:
                yield self._segment(request)

    def _read(self, path: Path) -> List[TableDocument]:
        if not path.is_file():
            raise CorpusError(
                path, None, "no such file. Give a .spacy file of gold documents."
            )
        documents = []
        for doc in DocBin().from_disk(path).get_docs(Vocab()):
            source = doc._.source or {}
            words = [
                TableWord(word.text, [m.form for m in word.analysis], word.analysis)
                for word in doc_analyses(doc)
            ]
            documents.append(TableDocument(str(source.get("id", "")), words))
        return documents


@spacy.registry.misc("spacy_he_coref.GoldSegmenter.v1")
def make_gold_segmenter(
    path: Optional[Union[str, Path]] = None, on_missing: str = "error"
) -> GoldSegmenter:
    """Backend that gives gold segments, for ``backend`` of ``he_segmenter``.

    path (Optional[Union[str, Path]]): A ``.spacy`` file of gold Docs, as ``he-coref
        corpus build`` makes them. Not needed for Docs that have their segments, nor
        to load a saved pipeline.
    on_missing (str): What becomes of documents without gold: ``error``, or ``word``
        (they stay whole, with a warning).
    RETURNS (GoldSegmenter): The backend.
    """
    return GoldSegmenter(path, on_missing)
