"""A story of four sentences, written by hand, for the tests of the analyses."""

from itertools import accumulate
from typing import Any, Dict, List, Sequence, Tuple

from spacy.tokens import Doc
from spacy.vocab import Vocab

from spacy_he_coref.tokens import Segment, set_segment

Spans = Sequence[Tuple[int, int]]

# "|" stands before what follows in the same word, "+" before a clitic.
#        0   1     2   3  4      6   7     8 9  10 11  12      14  15  16 17 18     20
STORY = "דנה פגשה את אחי+ה . היא סיפרה ל+ו על בית גדול . הוא ראה את ה|בית . היא חייכה ."
# The morphemes of the tokens: אחי+ה and ל+ו have one more that is not written.
_POS = {
    **dict.fromkeys(("דנה",), "PROPN"),
    **dict.fromkeys(("היא", "הוא"), "PRON"),
    **dict.fromkeys(("פגשה", "סיפרה", "ראה", "חייכה"), "VERB"),
    **dict.fromkeys(("את", "ל", "על"), "ADP"),
    "גדול": "ADJ",
    ".": "PUNCT",
}
_CLITICS = {"ה": "_היא", "ו": "_הוא"}

DANA = [(0, 1), (4, 5), (6, 7), (20, 21)]
BROTHER = [(3, 5), (9, 10), (14, 15)]
HOUSE = [(11, 13), (17, 19)]
GOLD = [DANA, BROTHER, HOUSE]


def story(
    clusters: Sequence[Spans] = (),
    singletons: Spans = (),
    *,
    text: str = STORY,
    mentions: bool = False,
    tags: bool = True,
) -> Doc:
    """Make the story, or another text, with clusters of token spans.

    clusters (Sequence[Spans]): Token spans of each cluster.
    singletons (Spans): Those of ``coref_singletons``; without any, no such group.
    text (str): Words between spaces, with the marks of ``STORY``.
    mentions (bool): Whether to write ``coref_mentions``, as gold has them.
    tags (bool): Whether to give it tags and trees.
    RETURNS (Doc): The document.
    """
    words: List[str] = []
    spaces: List[bool] = []
    kinds: List[str] = []
    lengths: List[Tuple[int, int]] = []
    for word in text.split(" "):
        parts = word.replace("+", "|+").split("|")
        length = sum(len(part.lstrip("+")) for part in parts)
        start = 0
        for part in parts:
            letters = part.lstrip("+")
            words.append(letters)
            kinds.append("clitic" if part != letters else "word")
            spaces.append(part is parts[-1])
            lengths.append((start, length))
            start += len(letters)
    pos = [
        "PRON" if kind == "clitic" else "DET" if word == "ה" else _POS.get(word, "NOUN")
        for word, kind in zip(words, kinds, strict=True)
    ]
    spaces[-1] = False
    starts = [i == 0 or words[i - 1] == "." for i in range(len(words))]
    # All words of a sentence hang from its verb.
    sentences = list(accumulate(map(int, starts)))
    verbs = [i for i, tag in enumerate(pos) if tag == "VERB"]
    root_of = {sentences[i]: i for i in verbs}
    heads = [root_of[number] for number in sentences]
    morphs = [""] * len(words)
    for i, tag in enumerate(pos):
        if kinds[i] == "clitic" or tag == "ADJ":
            heads[i] = i - 1
            morphs[i - 1] = "Definite=Def" if kinds[i] == "clitic" else ""
        if tag == "DET":
            heads[i] = i + 1
            morphs[i] = "PronType=Art"
    columns: Dict[str, Any] = {"sent_starts": starts}
    if tags:
        deps = ["dep" if head != i else "ROOT" for i, head in enumerate(heads)]
        columns = {"pos": pos, "morphs": morphs, "heads": heads, "deps": deps}
    doc = Doc(Vocab(), words=words, spaces=spaces, **columns)
    for i, (start, length) in enumerate(lengths):
        if length > len(words[i]):
            forms: Tuple[str, ...] = (words[i],)
            if kinds[i] == "clitic":
                of = ("_של_",) if pos[i - 1] == "NOUN" else ()
                forms = (*of, _CLITICS[words[i]])
            kind = "clitic" if kinds[i] == "clitic" else "host"
            segment = Segment(words[i], start, kind, forms, len(forms) - 1)
            set_segment(doc, doc[i].idx, segment, length)
    for number, spans in enumerate(clusters, 1):
        doc.spans[f"coref_clusters_{number}"] = [doc[a:b] for a, b in spans]
    if singletons:
        doc.spans["coref_singletons"] = [doc[a:b] for a, b in singletons]
    if mentions:
        everything = sorted({*singletons, *(s for spans in clusters for s in spans)})
        doc.spans["coref_mentions"] = [doc[a:b] for a, b in everything]
    return doc


def gold_story(*, singletons: Spans = ()) -> Doc:
    """RETURNS (Doc): The story with its gold clusters."""
    doc = story(GOLD, singletons, mentions=True)
    doc._.source = {"id": "story"}
    return doc
