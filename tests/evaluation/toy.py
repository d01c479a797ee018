"""The toy corpus as gold documents, and a pipeline that knows the answers."""

from pathlib import Path
from typing import Dict, Optional

import spacy
from spacy.language import Language
from spacy.tokens import Doc, SpanGroup, Token
from spacy.vocab import Vocab

# Registers the components, also where the package is not installed.
import spacy_he_coref.mentions.component  # noqa: F401
import spacy_he_coref.retokenizer  # noqa: F401
import spacy_he_coref.segmenter.backends.gold  # noqa: F401
import spacy_he_coref.segmenter.component  # noqa: F401
from spacy_he_coref.corpus.build import build_corpus
from spacy_he_coref.corpus.docs import load_docs
from tests.util import TOY_HTB, TOY_KIBUTZR

# A document of dev, with 13 morphemes in the first sentence and 9 in the second.
TEXT = "לדודי היה כלב קטן ששמו רקס. הוא אהב לרוץ איתו ליד הים."


def build_toy(directory: Path) -> Path:
    """Build the toy corpus; RETURNS (Path): its train.spacy, beside dev.spacy."""
    build_corpus(directory, kibutzr=TOY_KIBUTZR, htb=TOY_HTB)
    return directory / "train.spacy"


def annotate(doc: Doc, gold: Doc) -> Doc:
    """A document with the tags and trees that gold has for the same letters.

    A token of other letters has the values of the gold token in it that is nearest to
    the root; others, white space, hang from the token before.
    """
    # White space may stand before the text of gold.
    shift = doc.text.index(gold.text)
    owner = {i - shift: t.i for t in doc for i in range(t.idx, t.idx + len(t))}
    top: Dict[int, Token] = {}
    for token in gold:
        ours = owner[token.idx]
        if token.head.i == token.i or owner[token.head.idx] != ours:
            top.setdefault(ours, token)
    heads = [max(i - 1, 0) for i in range(len(doc))]
    rows = [("SPACE", "dep", "", "")] * len(doc)
    for i, token in top.items():
        heads[i] = owner[token.head.idx]
        rows[i] = (token.pos_, token.dep_, token.lemma_, str(token.morph))
    pos, deps, lemmas, morphs = (list(column) for column in zip(*rows, strict=True))
    return Doc(
        doc.vocab,
        words=[token.text for token in doc],
        spaces=[bool(token.whitespace_) for token in doc],
        user_data=doc.user_data,
        heads=heads,
        deps=deps,
        pos=pos,
        lemmas=lemmas,
        morphs=morphs,
    )


@Language.factory("toy_oracle", default_config={"corpus": None})
class Oracle:
    """Component that gives the tags and trees of a gold corpus."""

    def __init__(self, nlp: Language, name: str, corpus: Optional[str]) -> None:
        self.gold = {
            doc._.source["id"]: doc for doc in load_docs(corpus or "", Vocab())
        }

    def __call__(self, doc: Doc) -> Doc:
        source = doc._.source or {}
        by_text = {gold.text: gold for gold in self.gold.values()}
        gold = self.gold.get(source.get("id")) or by_text.get(doc.text.strip())
        if gold is None:
            return doc
        annotated = annotate(doc, gold)
        for key, group in doc.spans.items():
            annotated.spans[key] = [annotated[s.start : s.end] for s in group]
        return annotated


@Language.factory("toy_resolver", default_config={"corpus": None, "given": True})
class Resolver:
    """Component that writes the gold clusters of a corpus, by letters.

    Spans grow to the tokens that there are. With ``given`` it keeps to the mentions of
    ``doc.spans["coref_mentions_given"]``. All confidences are 0.75.
    """

    def __init__(
        self, nlp: Language, name: str, corpus: Optional[str], given: bool
    ) -> None:
        self.docs = {
            doc._.source["id"]: doc for doc in load_docs(corpus or "", Vocab())
        }
        self.given = given
        self.singletons = False

    def __call__(self, doc: Doc) -> Doc:
        by_text = {gold.text: gold for gold in self.docs.values()}
        gold = by_text.get(doc.text)
        if gold is None:
            return doc
        given = doc.spans.get("coref_mentions_given") if self.given else None
        allowed = given and {(span.start_char, span.end_char) for span in given}
        singletons = []
        number = 0
        for key, group in list(gold.spans.items()):
            if key == "coref_mentions":
                continue
            spans = [
                doc.char_span(span.start_char, span.end_char, alignment_mode="expand")
                for span in group
            ]
            spans = [
                span
                for span in spans
                if not allowed or (span.start_char, span.end_char) in allowed
            ]
            if key == "coref_singletons":
                singletons = spans
            elif len(spans) > 1:
                number += 1
                links = [None] + [0.75] * (len(spans) - 1)
                places = [None, *range(len(spans) - 1)]
                doc.spans[f"coref_clusters_{number}"] = SpanGroup(
                    doc,
                    spans=spans,
                    attrs={"links": links, "antecedents": places, "confidence": 0.75},
                )
        if self.singletons:
            doc.spans["coref_singletons"] = singletons
        return doc


def oracle_pipeline(corpus: Path, *, segments: bool = True) -> Language:
    """A pipeline with the gold segments (or whole words) and the oracle."""
    nlp = spacy.blank("he")
    if segments:
        backend = {
            "@misc": "spacy_he_coref.GoldSegmenter.v1",
            "path": str(corpus),
            "on_missing": "word",
        }
        nlp.add_pipe("he_segmenter", config={"backend": backend})
        nlp.add_pipe("he_retokenizer")
    nlp.add_pipe("toy_oracle", config={"corpus": str(corpus)})
    return nlp
