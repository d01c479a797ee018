"""Documents for the tests of formats, and what is compared after a round trip."""

from typing import Any, Dict, List, Sequence, Tuple

from spacy.language import Language
from spacy.tokens import Doc

from spacy_he_coref.coref.clusters import get_clusters
from spacy_he_coref.corpus.docs import SINGLETONS
from spacy_he_coref.formats.documents import (
    FileCluster,
    FileMention,
    put_clusters,
)
from spacy_he_coref.tokens import tokens_to_morphemes
from tests.coref.helpers import stories

Offsets = Tuple[int, int]

HARD = (
    ' \tדַּנָה אמרה: "יש [לי] בית_קטן\\ו(#1)"\r\n\n'
    "ואז\u200bהלכה 👩\u200d👧 לביתה | 10%, \u2028שלום\u200f!  "
)
# What stands in HARD as a mention, by cluster.
HARD_MENTIONS = [
    ["דַּנָה", "י", "ביתה"],
    ["[לי]", "👩\u200d👧 לביתה"],
    ["בית_קטן\\ו", "בית"],
    ["אמרה", "שלום"],
    ['"\r\n\nואז'],
    ["10%"],
]


def marked(
    nlp: Language,
    text: str,
    clusters: Sequence[Sequence[Any]],
    name: str = "a",
) -> Doc:
    """A document without tags, its clusters given as texts or offsets.

    A text is the first one that is not a mention of the cluster already; two mentions
    of one text need offsets.
    """
    rows: List[FileCluster] = []
    for cluster in clusters:
        mentions = []
        for mention in cluster:
            if isinstance(mention, str):
                start = text.index(mention)
                mention = (start, start + len(mention))
            mentions.append(FileMention(*mention))
        rows.append(FileCluster(mentions))
    return put_clusters(nlp.make_doc(text), rows, name, "test")


def samples(nlp: Language) -> Dict[str, Doc]:
    """Documents that formats find easy and hard."""
    docs = {f"story {i}": doc for i, doc in enumerate(stories(nlp.vocab))}
    docs["hard"] = marked(nlp, HARD, HARD_MENTIONS)
    docs["same span"] = marked(
        nlp, "דנה ואחיה הלכו", [[(0, 3), (8, 9)], [(0, 3), (5, 8)], [(0, 9)]]
    )
    docs["nested"] = marked(
        nlp, "אחי אחות דודה", [[(0, 13), (4, 8)], [(4, 13), (0, 3)]]
    )
    docs["no clusters"] = marked(nlp, "שלום עולם.", [])
    docs["one word"] = marked(nlp, "דבריו", [[(0, 5)], [(4, 5)]])
    return docs


def clusters(doc: Doc) -> List[List[Offsets]]:
    """The offsets of the mentions of each cluster, in order."""
    return [[(s.start_char, s.end_char) for s in group] for group in get_clusters(doc)]


def singletons(doc: Doc) -> List[Offsets]:
    """The offsets of the singletons."""
    return sorted((s.start_char, s.end_char) for s in doc.spans[SINGLETONS])


def over_morphemes(doc: Doc) -> List[List[Offsets]]:
    """The mentions of each cluster, then the singletons, as morphemes."""
    groups = [*get_clusters(doc), *([span] for span in doc.spans[SINGLETONS])]
    return [
        tokens_to_morphemes(doc, [(span.start, span.end) for span in group])
        for group in groups
    ]
