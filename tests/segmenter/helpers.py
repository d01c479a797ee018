"""Small segmented documents and backends, for all tests of segmentation."""

from typing import Any, Dict, Iterable, Iterator, List, Optional

import spacy
from spacy.language import Language
from spacy.tokens import Doc

# Registers the components, also where the package is not installed.
import spacy_he_coref.retokenizer  # noqa: F401
import spacy_he_coref.segmenter.backends.gold  # noqa: F401
import spacy_he_coref.segmenter.backends.table  # noqa: F401
import spacy_he_coref.segmenter.component  # noqa: F401
from spacy_he_coref.retokenizer import retokenize
from spacy_he_coref.segmenter.contract import Request
from spacy_he_coref.segmenter.letters import assign_letters
from spacy_he_coref.tokens import Analysis, set_analysis, trivial_analysis

# Words and their morphemes in the scheme of HTB.
LEXICON = {
    "בשטחים": "ב ה_ שטחים",
    "דבריו": "דבר _של_ _הוא",
    "ולבתו": "ו ל בת _של_ _הוא",
    "שהוא": "ש הוא",
    "להם": "ל _הם",
    "הבית": "ה בית",
    "ובבית": "ו ב ה_ בית",
    'ב"הארץ': 'ב " ה ארץ',
}

TEXT = "דבריו נאמרו בשטחים, ולבתו שהוא אהב."


def analyse(word: str, forms: Optional[str] = None) -> Analysis:
    """The analysis of a word by the lexicon, or by morphemes between spaces."""
    forms = forms or LEXICON.get(word)
    analysis = assign_letters(word, forms.split()) if forms else None
    return analysis or trivial_analysis(word)


class LexiconSegmenter:
    """Backend that knows the words of a lexicon, and counts its calls."""

    def __init__(self, lexicon: Optional[Dict[str, str]] = None) -> None:
        self.lexicon = LEXICON if lexicon is None else lexicon
        self.batches: List[int] = []

    def segment(self, requests: Iterable[Request]) -> Iterator[List[Analysis]]:
        requests = list(requests)
        self.batches.append(len(requests))
        for request in requests:
            if any(word.text == "תקלה" for word in request.words):
                raise RuntimeError("no analysis of תקלה")
            yield [analyse(w.text, self.lexicon.get(w.text)) for w in request.words]


def blank() -> Language:
    """A pipeline that only cuts words."""
    return spacy.blank("he")


@spacy.registry.misc("test.LexiconSegmenter.v1")
def make_lexicon_segmenter() -> LexiconSegmenter:
    """The backend, for configs."""
    return LexiconSegmenter()


def pipeline(backend: Optional[Dict[str, Any]] = None) -> Language:
    """A pipeline with a segmenter, of the lexicon by default, and a retokenizer."""
    nlp = blank()
    backend = backend or {"@misc": "test.LexiconSegmenter.v1"}
    nlp.add_pipe("he_segmenter", config={"backend": backend})
    nlp.add_pipe("he_retokenizer")
    return nlp


def segmented(text: str, nlp: Optional[Language] = None) -> Doc:
    """A document with the words of the lexicon split."""
    doc = (nlp or blank())(text)
    for token in doc:
        if token.text in LEXICON:
            set_analysis(doc, token.idx, token.text, analyse(token.text))
    return retokenize(doc)
