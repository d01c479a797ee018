"""How far annotators agree on the clusters of the same documents.

Of two annotations one is compared with the other as a prediction with gold; all figures
are means over such pairs, each pair with the same weight.
"""

from pathlib import Path
from typing import Any, Callable, Dict, Iterable, List, NamedTuple, Tuple, Union

from ..corpus.conllu import CorpusError, read_lines
from ..formats.kibutzr import read_kibutzr_records
from ..formats.records import CorefRecord
from .coref import METRICS
from .foreign import score_records
from .syntax import percent

COLUMNS = ("file_a", "file_b")


class AnnotationPair(NamedTuple):
    """Two annotations of one document.

    first (str), second (str): Names of their files.
    line (int): Where the list of pairs has them, from 1.
    """

    first: str
    second: str
    line: int


def read_pairs(path: Union[str, Path]) -> List[AnnotationPair]:
    """Read which annotations belong together.

    path (Union[str, Path]): A table separated by tabs. Its first line names the
        columns; ``file_a`` and ``file_b`` have names of files.
    RETURNS (List[AnnotationPair]): The pairs, at least one.
    RAISES (CorpusError): If a column or name is missing, or there are no pairs.
    """
    lines = read_lines(path)
    titles = lines[0].split("\t")
    if not set(COLUMNS) <= set(titles):
        raise CorpusError(
            path,
            1,
            "the first line must name the columns, separated by tabs, file_a and "
            "file_b among them.",
        )
    pairs: List[AnnotationPair] = []
    for number, line in enumerate(lines[1:], start=2):
        if not line.strip():
            continue
        row = dict(zip(titles, line.split("\t"), strict=False))
        first, second = (row.get(column, "").strip() for column in COLUMNS)
        if not first or not second:
            raise CorpusError(path, number, "not two names of files. Add both.")
        pairs.append(AnnotationPair(first, second, number))
    if not pairs:
        raise CorpusError(path, None, "no pairs in it. Give another file.")
    return pairs


def find_annotations(directory: Union[str, Path]) -> Dict[str, Path]:
    """Find files of annotators.

    directory (Union[str, Path]): A folder with KibutzR files, in it or below.
    RETURNS (Dict[str, Path]): The files by their names.
    RAISES (CorpusError): If there are none, or two have one name.
    """
    found: Dict[str, Path] = {}
    for path in sorted(Path(directory).rglob("*.conllu")):
        if found.setdefault(path.name, path) != path:
            raise CorpusError(
                path, None, f"{found[path.name]} has the same name. Rename one."
            )
    if not found:
        raise CorpusError(directory, None, "no *.conllu files in this folder.")
    return found


def annotator_agreement(
    directory: Union[str, Path],
    pairs_file: Union[str, Path],
    *,
    singletons: bool = False,
    track: Callable[[List[AnnotationPair]], Iterable[AnnotationPair]] = iter,
) -> Tuple[Dict[str, Any], Dict[str, Any]]:
    """Measure how far annotators agree.

    directory (Union[str, Path]): The annotations, KibutzR files of one annotator each
        (see ``find_annotations``). Brackets without a counterpart are left out.
    pairs_file (Union[str, Path]): Which belong together (see ``read_pairs``).
    singletons (bool): Whether clusters of one mention count.
    track (Callable): Gets the pairs and yields them, for a progress bar.
    RETURNS (Tuple[Dict[str, Any], Dict[str, Any]]): The metrics: ``p``, ``r`` and
        ``f1`` of each in percent, ``p`` with the second annotation for gold, and
        ``conll_f1``; and their conditions: ``pairs``, ``files``, ``empty_pairs`` (of
        which neither annotation has clusters), ``singletons``, ``notes``.
    RAISES (CorpusError): If a file is missing or wrong, or two of a pair have different
        texts.
    """
    files = find_annotations(directory)
    pairs = read_pairs(pairs_file)
    for pair in pairs:
        for name in (pair.first, pair.second):
            if name not in files:
                raise CorpusError(
                    pairs_file, pair.line, f"there is no file {name} in {directory}."
                )
    records: Dict[str, CorefRecord] = {}

    def read(name: str) -> CorefRecord:
        if name not in records:
            (records[name],) = read_kibutzr_records(files[name], strict=False)
        return records[name]

    sums = {metric: [0.0, 0.0, 0.0] for metric in METRICS}
    conll = 0.0
    notes: List[str] = []
    empty = 0
    for pair in track(pairs):
        predicted, gold = read(pair.first), read(pair.second)
        # The names tell annotators apart, not documents.
        score, conditions = score_records(
            [gold], [predicted._replace(name=gold.name)], singletons=singletons
        )
        notes += conditions["notes"]
        empty += not score.total.mentions.predicted and not score.total.mentions.gold
        for metric, values in sums.items():
            for i, value in enumerate(score.total.prf(metric)):
                values[i] += value
        conll += score.total.conll_f1
    metrics: Dict[str, Any] = {}
    for metric, values in sums.items():
        means = (percent(value / len(pairs)) for value in values)
        metrics[metric] = dict(zip(("p", "r", "f1"), means, strict=True))
    metrics["conll_f1"] = percent(conll / len(pairs))
    return metrics, {
        "pairs": len(pairs),
        "files": len(records),
        "empty_pairs": empty,
        "singletons": singletons,
        "notes": list(dict.fromkeys(notes)),
    }
