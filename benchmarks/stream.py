"""What is lost when a text comes in pieces: CoNLL F1 of the whole documents, of pieces
with what is remembered (``resolve_stream``), and of pieces alone.

    python benchmarks/stream.py he_coref corpora/dev.spacy
    python benchmarks/stream.py he_coref corpora/dev.spacy --sentences --memory 200
"""

import argparse
from typing import Any, Dict, List, Tuple

import spacy
from spacy.tokens import Doc

from spacy_he_coref.coref.calibration import char_clusters
from spacy_he_coref.coref.stream import resolve_stream
from spacy_he_coref.corpus.docs import load_docs
from spacy_he_coref.evaluation.coref import CorefScore


def cut(doc: Doc, sentences: bool) -> List[str]:
    """The text in two halves, or sentence by sentence (those of gold)."""
    borders = [sentence.start_char for sentence in doc.sents][1:]
    if not sentences and borders:
        borders = [min(borders, key=lambda place: abs(2 * place - len(doc.text)))]
    ends = [*borders, len(doc.text)]
    return [doc.text[a:b] for a, b in zip([0, *borders], ends, strict=True)]


def entities(nlp: Any, pieces: List[str], memory: int) -> List[List[Tuple[int, int]]]:
    """The entities of a text by its characters."""
    found: Dict[int, List[Tuple[int, int]]] = {}
    for piece in resolve_stream(nlp, pieces, memory=memory, batch_size=len(pieces)):
        for entity in piece.entities:
            places = [(mention.start, mention.end) for mention in entity.mentions]
            found.setdefault(entity.id, []).extend(places)
    return list(found.values())


def main() -> None:
    """Print the three figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model")
    parser.add_argument("corpus")
    parser.add_argument("--sentences", action="store_true")
    parser.add_argument("--memory", type=int, default=1000)
    parser.add_argument("--limit", type=int, default=None)
    given = parser.parse_args()
    nlp = spacy.load(given.model)
    scores = {name: CorefScore() for name in ("whole", "pieces", "alone")}
    for doc in load_docs(given.corpus)[: given.limit]:
        gold = char_clusters(doc)
        pieces = cut(doc, given.sentences)
        scores["whole"].add(entities(nlp, [doc.text], 0), gold)
        scores["pieces"].add(entities(nlp, pieces, given.memory), gold)
        scores["alone"].add(entities(nlp, pieces, 0), gold)
    for name, score in scores.items():
        print(f"{name:<8}{score.report()['conll_f1']:>7.2f}")


if __name__ == "__main__":
    main()
