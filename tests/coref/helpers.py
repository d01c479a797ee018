"""Small stories with hand-written trees and clusters, and tiny pipelines."""

from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence, Tuple

import numpy as np
import spacy
from spacy.language import Language
from spacy.tokens import Doc, DocBin, SpanGroup
from spacy.training import Example
from spacy.vocab import Vocab
from thinc.api import Adam, fix_random_seed

# Registers the components, also where the package is not installed.
import spacy_he_coref.coref.component  # noqa: F401
import spacy_he_coref.coref.reader  # noqa: F401
import spacy_he_coref.encoder.model  # noqa: F401
from spacy_he_coref.coref.clusters import get_clusters
from spacy_he_coref.coref.reader import strip_gold
from spacy_he_coref.corpus.docs import set_clusters
from tests.mentions.helpers import tree

Bounds = Tuple[int, int]
# Of words that have them in any of the stories.
FEATURES = {
    "דנה": "Gender=Fem|Number=Sing",
    "היא": "Gender=Fem|Number=Sing|Person=3|PronType=Prs",
    "ה": "Gender=Fem|Number=Sing|Person=3|PronType=Prs",
    "הוא": "Gender=Masc|Number=Sing|Person=3|PronType=Prs",
    "ו": "Gender=Masc|Number=Sing|Person=3|PronType=Prs",
    "הם": "Gender=Masc|Number=Plur|Person=3|PronType=Prs",
    "אח": "Gender=Masc|Number=Sing",
    "אחי": "Gender=Masc|Number=Sing",
    "כלב": "Gender=Masc|Number=Sing",
    "ילדים": "Gender=Masc|Number=Plur",
    "רופאה": "Gender=Fem|Number=Sing",
}

# Trees as in tests/mentions/helpers.py; clusters as spans of tokens, those of one
# mention are singletons.
STORIES: List[Tuple[str, List[List[Bounds]]]] = [
    (
        """
דנה PROPN nsubj 2
פגשה VERB ROOT 0
את ADP case:acc 4
אחי+ NOUN obj 2 lemma=אח
ה PRON nmod:poss 4 lemma=הוא
ב+ ADP case 7
בית NOUN obl 2 article
. PUNCT punct 2

היא PRON nsubj 2 lemma=הוא
חיבקה VERB ROOT 0
אות+ ADP case:acc 4
ו PRON obl 2 lemma=הוא
. PUNCT punct 2
""",
        [[(0, 1), (4, 5), (8, 9)], [(3, 5), (11, 12)], [(6, 7)]],
    ),
    (
        """
ה+ DET det 2
כלב NOUN nsubj 3 definite
נבח VERB ROOT 0
על ADP case 6
ה+ DET det 6
ילדים NOUN obl 3 definite lemma=ילד
. PUNCT punct 3

הם PRON nsubj 2 lemma=הוא
ברחו VERB ROOT 0
מ+ ADP case 4
ה+ DET det 5
כלב NOUN obl 2 definite
. PUNCT punct 2
""",
        [[(0, 2), (10, 12)], [(4, 6), (7, 8)]],
    ),
    (
        """
רותם PROPN nsubj 3
לוי PROPN flat:name 1
עבדה VERB ROOT 0
כ+ ADP case 5
רופאה NOUN obl 3
ב+ ADP case 7
חיפה PROPN obl 3
. PUNCT punct 3

ב+ ADP case 2
חיפה PROPN obl 3
אהבו VERB ROOT 0
את ADP case:acc 5
לוי PROPN obj 3
. PUNCT punct 3
""",
        [[(0, 2), (12, 13)], [(6, 7), (9, 10)], [(4, 5)]],
    ),
]


def story(number: int = 0, vocab: Optional[Vocab] = None) -> Doc:
    """A story with tags, trees and candidates, and with gold clusters.

    number (int): Its place in STORIES.
    vocab (Optional[Vocab]): The vocabulary; by default one that all stories share.
    RETURNS (Doc): The document, as ``he-coref corpus annotate`` leaves it.
    """
    rows, clusters = STORIES[number]
    doc = tree(rows)
    for token in doc:
        definite = str(token.morph)
        features = FEATURES.get(token.text, "") if token.pos_ != "DET" else ""
        token.set_morph(
            "|".join(sorted(filter(None, [definite, *features.split("|")])))
        )
    set_clusters(doc, [(spans, {"id": i}) for i, spans in enumerate(clusters)])
    candidates = sorted({span for spans in clusters for span in spans})[:-1]
    spans = [doc[start:end] for start, end in [*candidates, (0, 3)]]
    doc.spans["coref_candidates"] = SpanGroup(doc, name="coref_candidates", spans=spans)
    doc._.source = {"id": f"story:{number}", "corpus": "kibutzr"}
    return doc if vocab is None else move(doc, vocab)


def stories(vocab: Optional[Vocab] = None) -> List[Doc]:
    """All stories."""
    return [story(number, vocab) for number in range(len(STORIES))]


def move(doc: Doc, vocab: Vocab) -> Doc:
    """A copy of a document with another vocabulary."""
    return Doc(vocab).from_bytes(doc.to_bytes())


def write_stories(path: Path) -> Path:
    """Write the stories as a ``.spacy`` file; RETURNS (Path): the file."""
    DocBin(docs=stories(), store_user_data=True).to_disk(path)
    return path


def inputs(nlp: Language) -> List[Doc]:
    """The stories as coreference gets them in use.

    nlp (Language): The pipeline, for its vocabulary.
    RETURNS (List[Doc]): The documents, without gold clusters.
    """
    return [strip_gold(doc) for doc in stories(nlp.vocab)]


def examples(nlp: Language) -> List[Example]:
    """The stories as training examples."""
    return [Example(strip_gold(doc), doc) for doc in stories(nlp.vocab)]


SMALL: Dict[str, Any] = {
    "@architectures": "spacy_he_coref.LingMess.v1",
    "span_hidden": 32,
    "hidden": 32,
    "rank": 16,
    "dropout": 0.0,
    "feature_dropout": 0.0,
    "max_width": 6,
    "antecedents": 8,
    "frozen": False,
}


def make_pipeline(encoder: Path, seed: int = 0, **settings: Any) -> Language:
    """A pipeline of a tiny transformer and ``he_coref``, not trained yet.

    encoder (Path): What ``save_tiny_encoder`` saved.
    seed (int): Of the weights.
    settings (Any): Of the component; those of its model under ``model``.
    RETURNS (Language): The pipeline.
    """
    nlp = spacy.blank("he")
    transformer = {
        "@architectures": "spacy_he_coref.MorphemeTransformer.v1",
        "name": str(encoder),
        "window": 60,
        "overlap": 4,
        "dropout": 0.0,
    }
    nlp.add_pipe("transformer", config={"model": transformer})
    model = {**SMALL, **settings.pop("model", {})}
    nlp.add_pipe("he_coref", config={**settings, "model": model})
    fix_random_seed(seed)
    nlp.initialize(lambda: examples(nlp))
    return nlp


def train(nlp: Language, steps: int, rate: float = 0.01) -> List[float]:
    """Train on the stories; RETURNS (List[float]): the loss of every step."""
    fix_random_seed(0)
    optimizer = Adam(rate)
    data = examples(nlp)
    frozen = nlp.get_pipe("he_coref").model.shims[0].settings["frozen"]
    exclude = ["transformer"] if frozen else []
    if frozen:
        for example in data:
            example.predicted = nlp.get_pipe("transformer")(example.predicted)
    return [
        nlp.update(data, sgd=optimizer, exclude=exclude)["he_coref"]
        for _ in range(steps)
    ]


def clusters(doc: Doc) -> List[List[Bounds]]:
    """The clusters of a document as bounds."""
    return [[(span.start, span.end) for span in group] for group in get_clusters(doc)]


def numbers(doc: Doc) -> np.ndarray:
    """All confidences of a document in one row."""
    found: List[float] = []
    for group in get_clusters(doc):
        found.append(group.attrs["confidence"])
        found += [link for link in group.attrs["links"] if link is not None]
    if "coref_singletons" in doc.spans:
        found += doc.spans["coref_singletons"].attrs["confidences"]
    return np.array(found)


def assert_same(ours: Sequence[Doc], theirs: Sequence[Doc]) -> None:
    """Compare clusters, and confidences up to float noise."""
    assert [doc.text for doc in ours] == [doc.text for doc in theirs]
    for one, other in zip(ours, theirs, strict=True):
        assert list(one.spans) == list(other.spans)
        assert clusters(one) == clusters(other)
        assert [g.attrs["antecedents"] for g in get_clusters(one)] == [
            g.attrs["antecedents"] for g in get_clusters(other)
        ]
        assert np.allclose(numbers(one), numbers(other), atol=1e-4)
