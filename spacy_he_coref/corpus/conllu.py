"""Read the 10 columns of CoNLL-U (the treebank) with errors that name the line."""

from pathlib import Path
from typing import Dict, List, NamedTuple, Optional, Tuple, Union

COLUMNS = 10


class CorpusError(ValueError):
    """Something in a corpus file that has to be put right by hand.

    The message names the file, the line and what to do.
    """

    def __init__(self, path: Union[str, Path], line: Optional[int], text: str) -> None:
        """Make the error.

        path (Union[str, Path]): The file or directory.
        line (Optional[int]): The line, counted from 1, if there is one.
        text (str): What is wrong and what to do.
        """
        place = str(path) if line is None else f"{path}, line {line}"
        super().__init__(f"{place}: {text}")


class TreeNode(NamedTuple):
    """One morpheme of the treebank.

    form (str), lemma (str), upos (str), feats (str), deprel (str): Columns 2, 3,
        4, 6 and 8, ``_`` where the treebank has nothing.
    head (int): Column 7, counted from 1 in the sentence; 0 for the root.
    ner (str): Entity tag in BIOES, ``O`` if there is none.
    """

    form: str
    lemma: str
    upos: str
    feats: str
    head: int
    deprel: str
    ner: str


class TreeWord(NamedTuple):
    """One written word of the treebank.

    text (str): Its letters.
    start (int), end (int): Its morphemes, counted from 0 in the sentence.
    space_after (bool): Whether a space follows.
    """

    text: str
    start: int
    end: int
    space_after: bool


class TreeSentence(NamedTuple):
    """One sentence of the treebank.

    sent_id (str): The name that the treebank gives it.
    nodes (List[TreeNode]): Its morphemes.
    words (List[TreeWord]): Its written words, over all morphemes in order.
    path (str), line (int): Where it begins.
    """

    sent_id: str
    nodes: List[TreeNode]
    words: List[TreeWord]
    path: str
    line: int


def read_lines(path: Union[str, Path]) -> List[str]:
    """Read a UTF-8 text file.

    path (Union[str, Path]): The file.
    RETURNS (List[str]): Its lines without line ends. The last one is empty if
        the file ends in a line end.
    RAISES (CorpusError): If the bytes are not UTF-8.
    """
    data = Path(path).read_bytes()
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise CorpusError(
            path,
            line,
            f"byte {data[error.start]:#04x} is not UTF-8. Save the file as UTF-8 "
            "(for example with iconv -f cp1255 -t utf-8) and try again.",
        ) from None
    return text.replace("\r\n", "\n").split("\n")


def read_conllu(path: Union[str, Path]) -> List[TreeSentence]:
    """Read a treebank file in CoNLL-U.

    path (Union[str, Path]): The file.
    RETURNS (List[TreeSentence]): Its sentences in order.
    RAISES (CorpusError): If a line has not 10 columns, numbers do not count up,
        or a tree has no single root, a head outside the sentence or a cycle.
    """
    sentences: List[TreeSentence] = []
    block: List[Tuple[int, str]] = []
    for number, line in enumerate(read_lines(path), start=1):
        if line.strip():
            block.append((number, line))
        elif block:
            sentences.append(_parse_sentence(path, block))
            block = []
    if block:
        sentences.append(_parse_sentence(path, block))
    return sentences


def _parse_sentence(
    path: Union[str, Path], block: List[Tuple[int, str]]
) -> TreeSentence:
    first_line = block[0][0]
    sent_id = ""
    nodes: List[TreeNode] = []
    lines: List[int] = []
    words: List[TreeWord] = []
    range_end = 0
    for number, line in block:
        if line.startswith("#"):
            name, _, value = line[1:].partition("=")
            if name.strip() == "sent_id":
                sent_id = value.strip()
            continue
        columns = line.split("\t")
        if len(columns) != COLUMNS:
            raise CorpusError(
                path,
                number,
                f"{len(columns)} columns separated by tabs, but CoNLL-U has "
                f"{COLUMNS}. Restore the missing columns ('_' if empty).",
            )
        index = columns[0]
        misc = _features(columns[9])
        if "." in index:
            # An empty node of the enhanced graph, which we do not use.
            continue
        if "-" in index:
            begin, _, end = index.partition("-")
            if (
                not (begin.isdigit() and end.isdigit())
                or int(begin) != len(nodes) + 1
                or int(end) < int(begin)
                or range_end > len(nodes)
            ):
                raise CorpusError(
                    path,
                    number,
                    f"the range {index} does not fit here: the next morpheme is "
                    f"{len(nodes) + 1}. Correct the numbers of the sentence.",
                )
            range_end = int(end)
            space = misc.get("SpaceAfter") != "No"
            words.append(TreeWord(columns[1], len(nodes), range_end, space))
            continue
        if index != str(len(nodes) + 1):
            raise CorpusError(
                path,
                number,
                f"morpheme {index} where {len(nodes) + 1} was expected. Correct "
                "the numbers of the sentence.",
            )
        if not columns[1] or not columns[6].isdigit():
            raise CorpusError(
                path,
                number,
                f"form {columns[1]!r} and head {columns[6]!r}: there must be a "
                "form and the number of a head. Correct the line.",
            )
        if len(nodes) >= range_end:
            space = misc.get("SpaceAfter") != "No"
            words.append(TreeWord(columns[1], len(nodes), len(nodes) + 1, space))
        nodes.append(
            TreeNode(
                columns[1],
                columns[2],
                columns[3],
                columns[5],
                int(columns[6]),
                columns[7],
                misc.get("NER", "O"),
            )
        )
        lines.append(number)
    if not nodes or range_end > len(nodes):
        raise CorpusError(
            path,
            block[-1][0],
            "the sentence ends before its last morpheme. Restore its lines.",
        )
    _check_tree(path, nodes, lines)
    return TreeSentence(sent_id, nodes, words, str(path), first_line)


def _features(column: str) -> Dict[str, str]:
    pairs = (item.partition("=") for item in column.split("|"))
    return {name: value for name, _, value in pairs}


def _check_tree(
    path: Union[str, Path], nodes: List[TreeNode], lines: List[int]
) -> None:
    roots = [i for i, node in enumerate(nodes) if node.head == 0]
    if len(roots) != 1:
        raise CorpusError(
            path,
            lines[0],
            f"the sentence has {len(roots)} roots, but a tree has one (head 0). "
            "Correct its heads.",
        )
    good = {0}
    for i, node in enumerate(nodes):
        if node.head > len(nodes):
            raise CorpusError(
                path,
                lines[i],
                f"head {node.head} in a sentence of {len(nodes)} morphemes. "
                "Correct the head.",
            )
        trail: List[int] = []
        position = i + 1
        while position not in good:
            if position in trail:
                raise CorpusError(
                    path,
                    lines[position - 1],
                    f"the head of morpheme {position} leads back to it. Break "
                    "the cycle.",
                )
            trail.append(position)
            position = nodes[position - 1].head
            if position > len(nodes):
                break
        good.update(trail)
