"""Where punctuation hangs in a tree.

The Hebrew treebank attaches it by its place, so that rules on the tree of the words
find the head more often than a classifier does:

* brackets and quotation marks hang on the head of what they enclose;
* the mark that ends a sentence hangs on the root, or on the modal that stands before
  it as its ``aux``;
* a colon hangs on the clause that it introduces;
* all else, commas first, on the lowest word above both neighbours.
"""

from typing import Dict, Iterable, List, Optional, Sequence, Set, Tuple

PUNCT = "punct"
_OPENING = {"(": ")", "[": "]", "{": "}", "«": "»", "“": "”", "„": "”"}
_QUOTES = frozenset(('"', "״", "''", "``", "'"))
_FINAL = frozenset((".", "?", "!", "...", "…"))
_INTRODUCED = frozenset(("advcl", "ccomp"))


def attach_punctuation(
    words: Sequence[str], heads: List[int], labels: Sequence[str]
) -> None:
    """Move the punctuation of one sentence to its place.

    words (Sequence[str]): The tokens.
    heads (List[int]): Number of the head of each, its own for the root; changed for
        punctuation that has no dependents.
    labels (Sequence[str]): Their relations.
    """
    parents = {head for i, head in enumerate(heads) if head != i}
    marks = [i for i, label in enumerate(labels) if label == PUNCT and i not in parents]
    loose = set(marks)
    content = [i for i in range(len(words)) if i not in loose]
    if not content or not marks:
        return
    above = _Above(heads)
    partner = _pairs(words, marks)
    # The neighbours that are no punctuation, -1 for none.
    before = _neighbours(range(len(words)), loose)
    after = _neighbours(range(len(words) - 1, -1, -1), loose)
    for i in marks:
        left, right = before[i], after[i]
        if i in partner:
            first, second = sorted((i, partner[i]))
            inner, end = after[first], before[second]
            if 0 <= inner <= end:
                heads[i] = above.top_inside(inner, inner, end)
                continue
        if left < 0 or right < 0:
            root = above.path(content[0])[-1]
            final = right < 0 and words[i] in _FINAL
            heads[i] = _modal(root, heads, labels) if final else root
            continue
        common, path = above.common(left, right)
        if words[i] == ":" and path is not None and labels[path] in _INTRODUCED:
            common = path
        heads[i] = common


def _neighbours(order: Iterable[int], loose: Set[int]) -> Dict[int, int]:
    found: Dict[int, int] = {}
    last = -1
    for i in order:
        if i in loose:
            found[i] = last
        else:
            last = i
    return found


def _modal(root: int, heads: Sequence[int], labels: Sequence[str]) -> int:
    for i in range(root):
        if heads[i] == root and labels[i] == "aux":
            return i
    return root


def _pairs(words: Sequence[str], marks: Sequence[int]) -> Dict[int, int]:
    """Brackets and quotation marks that belong together."""
    partner: Dict[int, int] = {}
    open_brackets: List[Tuple[str, int]] = []
    open_quotes: Dict[str, int] = {}
    for i in marks:
        word = words[i]
        if word in _OPENING:
            open_brackets.append((_OPENING[word], i))
        elif open_brackets and word == open_brackets[-1][0]:
            _, other = open_brackets.pop()
            partner[i], partner[other] = other, i
        elif word in _QUOTES:
            other_quote = open_quotes.pop(word, None)
            if other_quote is None:
                open_quotes[word] = i
            else:
                partner[i], partner[other_quote] = other_quote, i
    return partner


class _Above:
    """Paths to the root, of a tree that may be broken."""

    def __init__(self, heads: Sequence[int]) -> None:
        self.heads = list(heads)

    def path(self, i: int) -> List[int]:
        """A node and those above it, from the lowest on."""
        path = [i]
        seen = {i}
        while self.heads[i] != i and self.heads[i] not in seen:
            i = self.heads[i]
            seen.add(i)
            path.append(i)
        return path

    def common(self, left: int, right: int) -> Tuple[int, Optional[int]]:
        """The lowest node above two, and the one below it on the way to the right."""
        ours = set(self.path(left))
        path = self.path(right)
        for k, node in enumerate(path):
            if node in ours:
                return node, path[k - 1] if k else None
        return path[-1], None

    def top_inside(self, i: int, first: int, last: int) -> int:
        """The highest node above one that is not outside a stretch."""
        top = i
        for node in self.path(i):
            if not first <= node <= last:
                break
            top = node
        return top
