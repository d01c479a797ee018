"""What a coreference file says of one document, whatever its format."""

from typing import List, NamedTuple, Optional, Sequence, Set, Tuple

from ..corpus.conllu import CorpusError

# First token of a mention and the one after the last, counted in the document.
Bounds = Tuple[int, int]
# For each token the number of its head in the document; None at a root, or where the
# file does not say it.
Tree = List[Optional[int]]


class CorefRecord(NamedTuple):
    """The clusters of a document, over tokens as its file has them.

    What a format calls a token is one here (in KibutzR a morpheme, written or not).

    name (str): Name of the document.
    sentences (Optional[List[List[str]]]): Tokens of each sentence; None if the format
        has no text.
    clusters (List[List[Bounds]]): Mentions of each cluster, singletons too where the
        file has them, as first token and token after the last one, counted from 0 in
        the document. In the order of the file; nothing is dropped or joined.
    path (str): The file.
    line (int): Where the document begins in it, from 1.
    aliases (Tuple[str, ...]): Other names of the same document.
    heads (Optional[List[List[Optional[int]]]]): For each mention the token that the
        file gives as its head, in the order of ``clusters``; None if it gives none.
    tree (Optional[Tree]): The head of each token, if the file has trees.
    notes (Tuple[str, ...]): What was read otherwise than it stands, and by which rule.
    format (str): Name of the file's format, set by ``read_records``.
    """

    name: str
    sentences: Optional[List[List[str]]]
    clusters: List[List[Bounds]]
    path: str
    line: int
    aliases: Tuple[str, ...] = ()
    heads: Optional[List[List[Optional[int]]]] = None
    tree: Optional[Tree] = None
    notes: Tuple[str, ...] = ()
    format: str = ""

    @property
    def tokens(self) -> List[str]:
        """All tokens; empty if the format has no text."""
        return [token for sentence in self.sentences or () for token in sentence]

    @property
    def place(self) -> str:
        """File and line, as errors name them."""
        return f"{self.path}, line {self.line}"


def check_bounds(record: CorefRecord, n_tokens: int, whose: str = "it") -> None:
    """Check that all mentions of a document are in it.

    record (CorefRecord): The document.
    n_tokens (int): How many tokens there are.
    whose (str): What has so many tokens, for the message.
    RAISES (CorpusError): If a mention is empty, begins before the first token or ends
        after the last one.
    """
    for number, cluster in enumerate(record.clusters):
        for start, end in cluster:
            if not 0 <= start < end <= n_tokens:
                raise CorpusError(
                    record.path,
                    record.line,
                    f"a mention of cluster {number} of document {record.name} goes "
                    f"from token {start} to token {end - 1}, but {whose} has the "
                    f"tokens 0 to {n_tokens - 1}. Correct the mention, or give the "
                    "file that it was made for.",
                )


def head_of(tree: Sequence[Optional[int]], tokens: Sequence[int]) -> int:
    """The head of a mention in a tree.

    It is the token of the mention that is nearest to the root of its sentence; the
    first one of several.

    tree (Sequence[Optional[int]]): The head of each token of the document, None at
        roots.
    tokens (Sequence[int]): The tokens of the mention, at least one, in order.
    RETURNS (int): One of them.
    """

    def depth(token: int) -> int:
        above: Optional[int] = token
        seen: Set[int] = set()
        while above is not None and above not in seen:
            seen.add(above)
            above = tree[above]
        return len(seen)

    return min(tokens, key=depth)
