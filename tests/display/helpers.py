"""Documents to draw, with hand-written clusters."""

from html.parser import HTMLParser
from typing import Dict, List, Optional, Sequence, Tuple

from spacy.tokens import Doc

from spacy_he_coref.coref.clusters import set_clusters
from tests.mentions.helpers import tree, vocabulary

# 13 tokens, with clitics at 4 and 9.
# דנה, ה, היא are one; אחיה, ו another; בית is alone.
STORY = """
דנה PROPN nsubj 2
פגשה VERB ROOT 0
את ADP case:acc 4
אחי+ NOUN obj 2
ה PRON nmod:poss 4
. PUNCT punct 2

היא PRON nsubj 2
חיבקה VERB ROOT 0
אות+ ADP case:acc 4
ו PRON obl 2
ב+ ADP case 6
בית NOUN obl 2
. PUNCT punct 2
"""


def story() -> Doc:
    """A document with clitics, confidences and a singleton."""
    doc = tree(STORY)
    set_clusters(
        doc,
        [(0, 1), (3, 5), (4, 5), (6, 7), (9, 10), (11, 12)],
        [0, 1, 0, 0, 1, 2],
        [-1, -1, 0, 2, 1, -1],
        [0.0, 0.0, 0.64, 0.25, 0.8, 0.0],
        [1.0] * 5 + [0.75],
        singletons=True,
    )
    return doc


def words(
    tokens: Sequence[str],
    clusters: Sequence[Sequence[Tuple[int, int]]],
    spaces: Optional[Sequence[bool]] = None,
) -> Doc:
    """A document of bare tokens with clusters, gold ones: without confidences."""
    if spaces is None:
        spaces = [True] * (len(tokens) - 1) + [False] * bool(tokens)
    doc = Doc(vocabulary(), words=list(tokens), spaces=list(spaces))
    spans = [span for spans in clusters for span in spans]
    numbers = [i for i, spans in enumerate(clusters) for _ in spans]
    set_clusters(doc, spans, numbers)
    return doc


class Page(HTMLParser):
    """A page that was read: its elements, and the text of each.

    elements (List[Tuple[str, Dict[str, str], List[int]]]): Tag, attributes, and the
        elements around it, outermost first.
    """

    VOID = {"meta", "input", "link", "br"}

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: List[Tuple[str, Dict[str, str], List[int]]] = []
        self.texts: List[str] = []
        self._open: List[int] = []
        self.feed(html)
        self.close()
        assert not self._open, "elements are left open"

    def handle_starttag(self, tag: str, attrs: List[Tuple[str, Optional[str]]]) -> None:
        assert len(attrs) == len(dict(attrs)), "an attribute is there twice"
        values = {name: value or "" for name, value in attrs}
        self.elements.append((tag, values, list(self._open)))
        self.texts.append("")
        if tag not in self.VOID:
            self._open.append(len(self.elements) - 1)

    def handle_endtag(self, tag: str) -> None:
        assert self.elements[self._open.pop()][0] == tag

    def handle_data(self, data: str) -> None:
        for i in self._open:
            self.texts[i] += data

    def find(self, tag: str, name: str = "") -> List[int]:
        """The elements of a tag, and of a class."""
        return [
            i
            for i, (t, attrs, _) in enumerate(self.elements)
            if t == tag and (not name or name in attrs.get("class", "").split())
        ]

    def attrs(self, i: int) -> Dict[str, str]:
        """The attributes of an element."""
        return self.elements[i][1]

    def around(self, i: int, name: str) -> List[int]:
        """The elements of a class around an element."""
        return [
            j
            for j in self.elements[i][2]
            if name in self.elements[j][1].get("class", "").split()
        ]
