"""KibutzR's own files: five columns, one file per document.

form, number of the sentence, number of the morpheme in it, ``_``, mentions as
brackets with the number of their cluster (``(3`` opens, ``3)`` closes).
"""

import re
from collections import defaultdict
from pathlib import Path
from typing import Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

from .conllu import CorpusError, read_lines

COLUMNS = 5
SPLITS = ("train", "dev", "test")
SUBFOLDER = Path("conllu") / "with_singleton"

_BRACKET = re.compile(r"(\()?([0-9]+)(\))?")


class Mention(NamedTuple):
    """One mention of a KibutzR document.

    start (int), end (int): First morpheme and morpheme after the last one,
        counted from 0 in the document.
    cluster (int): The number of its cluster in the file.
    """

    start: int
    end: int
    cluster: int


class KibutzrSentence(NamedTuple):
    """One sentence of a KibutzR document.

    forms (List[str]): Its morphemes.
    line (int): Line of the first one in the file.
    """

    forms: List[str]
    line: int


class KibutzrDocument(NamedTuple):
    """One document of KibutzR as its file has it.

    id (str): Name of the document, for example ``htb:12_1``.
    sentences (List[KibutzrSentence]): Its sentences.
    mentions (List[Mention]): All mentions, singletons too, in the order in
        which they close.
    begin (str), end (str): The first and the last line of the file.
    unusual (Dict[int, str]): Brackets of morphemes that have two of one cluster
        in an order that nothing else tells (``(3)|3)`` for ``3)|(3)``).
    path (str): The file.
    """

    id: str
    sentences: List[KibutzrSentence]
    mentions: List[Mention]
    begin: str
    end: str
    unusual: Dict[int, str]
    path: str

    @property
    def n_morphemes(self) -> int:
        """How many morphemes the document has."""
        return sum(len(sentence.forms) for sentence in self.sentences)


def document_id(path: Union[str, Path]) -> str:
    """The name of the document in a file (``htb_12_1.conllu`` is ``htb:12_1``).

    path (Union[str, Path]): The file.
    RETURNS (str): The name, with the colon that some file systems refuse.
    """
    stem = Path(path).stem
    return stem if ":" in stem else stem.replace("_", ":", 1)


def find_kibutzr(directory: Union[str, Path]) -> Dict[str, List[Path]]:
    """Find the KibutzR files, in the public repository or a part of it.

    directory (Union[str, Path]): The repository, its ``data`` folder, or a
        folder that holds ``conllu/with_singleton/SPLIT`` or ``SPLIT`` itself.
    RETURNS (Dict[str, List[Path]]): Per split that is there, its files in the
        order of their numbers.
    RAISES (CorpusError): If there is none.
    """
    root = Path(directory)
    places = (root / "data" / SUBFOLDER, root / SUBFOLDER, root / "with_singleton")
    for place in (*places, root):
        found: Dict[str, List[Path]] = {}
        for split in SPLITS:
            files = sorted((place / split).glob("*.conllu"), key=_file_order)
            if files:
                found[split] = files
        if found:
            return found
    raise CorpusError(
        root,
        None,
        "no KibutzR files here. Give the directory of the hebrew_coreference_data "
        "repository, where data/conllu/with_singleton/train holds *.conllu files.",
    )


def _file_order(path: Path) -> Tuple[List[int], str]:
    return [int(number) for number in re.findall(r"\d+", path.stem)], path.stem


def read_kibutzr(
    path: Union[str, Path], strays: Optional[List[CorpusError]] = None
) -> KibutzrDocument:
    """Read one KibutzR file.

    path (Union[str, Path]): The file.
    strays (Optional[List[CorpusError]]): If given, brackets without a counterpart in
        their sentence are left out, and their errors are added here.
    RETURNS (KibutzrDocument): The document.
    RAISES (CorpusError): If a column is missing, a number does not count up, a
        bracket is not balanced within its sentence, or the file is cut off.
    """
    lines = read_lines(path)
    if not lines[0].startswith("#begin document"):
        raise CorpusError(
            path, 1, "the file must start with '#begin document'. Restore the line."
        )
    sentences: List[KibutzrSentence] = []
    mentions: List[Mention] = []
    opened: Dict[int, List[Tuple[int, int]]] = defaultdict(list)
    columns_read: Dict[int, str] = {}
    position = 0
    blank = True
    end = ""
    for number, line in enumerate(lines[1:], start=2):
        if line.startswith("#end document"):
            # The public files have no line end here; keep it where there is one.
            end = "\n".join(lines[number - 1 :])
            break
        if not line.strip():
            blank = True
            _check_closed(path, opened, strays)
            continue
        columns = line.split("\t")
        if len(columns) != COLUMNS:
            raise CorpusError(
                path,
                number,
                f"{len(columns)} columns separated by tabs, but KibutzR has "
                f"{COLUMNS}: form, sentence, morpheme, '_', mentions. Restore the "
                "missing ones.",
            )
        form, sentence_number, morpheme_number, _, brackets = columns
        if blank:
            sentences.append(KibutzrSentence([], number))
            blank = False
        expected = (str(len(sentences) - 1), str(len(sentences[-1].forms)))
        if (sentence_number, morpheme_number) != expected or not form:
            raise CorpusError(
                path,
                number,
                f"morpheme {form!r} is numbered {sentence_number}/{morpheme_number}"
                f", but {'/'.join(expected)} is next. Restore the missing lines or "
                "the empty line between sentences.",
            )
        sentences[-1].forms.append(form)
        if brackets != "_":
            columns_read[position] = brackets
            _read_brackets(path, number, brackets, position, opened, mentions, strays)
        position += 1
    if not end or not sentences:
        raise CorpusError(
            path,
            len(lines),
            "the file ends without '#end document' after its sentences, so it was "
            "cut off. Get it again.",
        )
    _check_closed(path, opened, strays)
    usual = _bracket_columns(mentions)
    unusual = {i: text for i, text in columns_read.items() if text != usual.get(i)}
    return KibutzrDocument(
        document_id(path), sentences, mentions, lines[0], end, unusual, str(path)
    )


def _read_brackets(
    path: Union[str, Path],
    number: int,
    brackets: str,
    position: int,
    opened: Dict[int, List[Tuple[int, int]]],
    mentions: List[Mention],
    strays: Optional[List[CorpusError]],
) -> None:
    for bracket in brackets.split("|"):
        match = _BRACKET.fullmatch(bracket)
        if match is None or not (match[1] or match[3]):
            raise CorpusError(
                path,
                number,
                f"{bracket!r} is not a bracket like (3, 3) or (3). Correct it.",
            )
        cluster = int(match[2])
        if match[1]:
            opened[cluster].append((position, number))
        if match[3]:
            if not opened[cluster]:
                error = CorpusError(
                    path,
                    number,
                    f"{bracket!r} closes a mention that was never opened in this "
                    f"sentence. Add the missing ({cluster} or remove it.",
                )
                if strays is None:
                    raise error
                strays.append(error)
                continue
            start, _ = opened[cluster].pop()
            mentions.append(Mention(start, position + 1, cluster))


def _check_closed(
    path: Union[str, Path],
    opened: Dict[int, List[Tuple[int, int]]],
    strays: Optional[List[CorpusError]],
) -> None:
    left = [(number, c) for c, rows in opened.items() for _, number in rows]
    for number, cluster in sorted(left):
        error = CorpusError(
            path,
            number,
            f"({cluster} opens a mention that its sentence does not close. Add the "
            f"missing {cluster}) or remove it.",
        )
        if strays is None:
            raise error
        strays.append(error)
    opened.clear()


def format_kibutzr(
    sentences: Sequence[Sequence[str]],
    mentions: Sequence[Mention],
    begin: str,
    end: str,
    unusual: Optional[Mapping[int, str]] = None,
) -> str:
    """Write a document in KibutzR's format.

    sentences (Sequence[Sequence[str]]): Forms of the morphemes of each sentence.
    mentions (Sequence[Mention]): All mentions.
    begin (str), end (str): The first and the last line.
    unusual (Optional[Mapping[int, str]]): Brackets of morphemes in an order of
        their own (see ``KibutzrDocument``); used if the brackets are the same.
    RETURNS (str): The content of the file.
    """
    marks = _bracket_columns(mentions)
    for position, column in (unusual or {}).items():
        ours = marks.get(position, "_")
        if sorted(ours.split("|")) == sorted(column.split("|")):
            marks[position] = column
    blocks: List[str] = []
    position = 0
    for number, forms in enumerate(sentences):
        rows: List[str] = []
        for i, form in enumerate(forms):
            rows.append(f"{form}\t{number}\t{i}\t_\t{marks.get(position, '_')}")
            position += 1
        blocks.append("\n".join(rows))
    return f"{begin}\n" + "\n\n".join(blocks) + f"\n{end}"


def _bracket_columns(mentions: Sequence[Mention]) -> Dict[int, str]:
    """The last column of the morphemes that have one: brackets in the order of
    their clusters, which is that of the public files."""
    brackets: Dict[int, List[Tuple[int, int, str]]] = defaultdict(list)
    for start, stop, cluster in mentions:
        if stop == start + 1:
            brackets[start].append((cluster, 1, f"({cluster})"))
        else:
            brackets[start].append((cluster, 2, f"({cluster}"))
            brackets[stop - 1].append((cluster, 0, f"{cluster})"))
    return {
        position: "|".join(mark for _, _, mark in sorted(marks))
        for position, marks in brackets.items()
    }
