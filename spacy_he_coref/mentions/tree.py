"""A dependency tree as arrays, safe for broken trees.

spaCy's own edges (``token.left_edge``) are wrong or endless in trees that are none.
Here the bounds of a token's subtree are computed once, from the leaves up; what
hangs in a cycle keeps the bounds of its parts outside of the cycle.
"""

from typing import List

from spacy.tokens import Doc

from ..tokens import CLITIC, get_segment

# What stands between words: white space is a token in texts with line breaks.
MARKS = frozenset(("PUNCT", "SPACE"))
QUOTES = "\"״”“„'׳"
OPENING = "([{"
CLOSING = ")]}"


class Tree:
    """The tokens of a Doc with their subtrees.

    text (List[str]), pos (List[str]), dep (List[str]), lemma (List[str]),
    head (List[int]): The values of each token.
    clitic (List[bool]): Whether a token is a pronoun at the end of a word.
    before (List[List[int]]), after (List[List[int]]): Dependents of each token to
        its left and right, in the order of the text.
    start (List[int]), end (List[int]): First token of each subtree and the one
        after the last.
    """

    def __init__(self, doc: Doc) -> None:
        """Read the tree.

        doc (Doc): A document with tags and heads.
        """
        self.text: List[str] = [token.text for token in doc]
        # Whatever a tagger makes of white space, it is none of the words.
        self.pos: List[str] = [
            "SPACE" if token.is_space else token.pos_ for token in doc
        ]
        self.dep: List[str] = [token.dep_ for token in doc]
        self.lemma: List[str] = [token.lemma_ for token in doc]
        self.head: List[int] = [token.head.i for token in doc]
        self.space: List[bool] = [bool(token.whitespace_) for token in doc]
        self.definite: List[bool] = [
            "Def" in token.morph.get("Definite", []) for token in doc
        ]
        rows = [get_segment(token) for token in doc]
        self.clitic: List[bool] = [row is not None and row[0] == CLITIC for row in rows]
        length = len(self.text)
        self.before: List[List[int]] = [[] for _ in range(length)]
        self.after: List[List[int]] = [[] for _ in range(length)]
        for i, head in enumerate(self.head):
            if i < head:
                self.before[head].append(i)
            elif i > head:
                self.after[head].append(i)
        self.start: List[int] = list(range(length))
        self.end: List[int] = [i + 1 for i in range(length)]
        self._set_bounds()
        self._quotes = self._running(QUOTES)
        self._opening = self._running(OPENING)
        self._closing = self._running(CLOSING)

    def __len__(self) -> int:
        return len(self.text)

    def _set_bounds(self) -> None:
        open_children = [
            len(b) + len(a) for b, a in zip(self.before, self.after, strict=True)
        ]
        ready = [i for i, count in enumerate(open_children) if not count]
        while ready:
            i = ready.pop()
            head = self.head[i]
            if head == i:
                continue
            self.start[head] = min(self.start[head], self.start[i])
            self.end[head] = max(self.end[head], self.end[i])
            open_children[head] -= 1
            if not open_children[head]:
                ready.append(head)

    def _running(self, marks: str) -> List[int]:
        counts = [0]
        for text, pos in zip(self.text, self.pos, strict=True):
            counts.append(counts[-1] + (pos in MARKS and text in marks))
        return counts

    def children(self, i: int) -> List[int]:
        """The dependents of a token, in the order of the text.

        i (int): The token.
        RETURNS (List[int]): Its dependents.
        """
        return self.before[i] + self.after[i]

    def key(self, i: int) -> str:
        """What tells whether two tokens are the same word.

        i (int): The token.
        RETURNS (str): Its lemma, or its text if it has none.
        """
        return self.lemma[i] or self.text[i]

    def has(self, i: int, *deps: str) -> bool:
        """Whether a token has a dependent of one of some relations.

        i (int): The token.
        *deps (str): The relations.
        RETURNS (bool): True if there is one.
        """
        return any(self.dep[child] in deps for child in self.children(i))

    def is_mark(self, i: int) -> bool:
        """Whether a token is punctuation or white space.

        i (int): The token.
        RETURNS (bool): True if it is.
        """
        return self.pos[i] in MARKS

    def marks_only(self, start: int, end: int) -> bool:
        """Whether there is nothing but marks between two places.

        start (int), end (int): First token and token after the last one.
        RETURNS (bool): True if there is nothing else.
        """
        return all(self.pos[i] in MARKS for i in range(start, end))

    def quotes(self, start: int, end: int) -> int:
        """How many quotation marks there are.

        start (int), end (int): First token and token after the last one.
        RETURNS (int): Their number.
        """
        return self._quotes[end] - self._quotes[start]

    def open_brackets(self, start: int, end: int) -> int:
        """How many more brackets open than close.

        start (int), end (int): First token and token after the last one.
        RETURNS (int): The difference, negative if more close.
        """
        opening = self._opening[end] - self._opening[start]
        return opening - (self._closing[end] - self._closing[start])
