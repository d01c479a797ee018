"""Table 1 and Figure 1 of the KibutzR paper, counted."""

from collections import Counter
from pathlib import Path
from typing import Any, Dict, Iterable, List, NamedTuple, Sequence, Tuple, Union

from spacy.tokens import Doc

from ..tokens import tokens_to_morphemes
from .conllu import CorpusError
from .docs import CLUSTER_PREFIX, CORPUS_NAME, SINGLETONS, load_docs
from .kibutzr import SPLITS, KibutzrDocument, find_kibutzr, read_kibutzr

COLUMNS = {
    "documents": "documents",
    "sentences": "sentences",
    "morphemes": "morphemes",
    "mentions": "mentions",
    "clusters": "clusters",
    "mentions_with_singletons": "with singletons",
    "singletons": "singletons",
    "widest_mention": "widest mention",
}
BIN = 5
BAR_WIDTH = 40


class DocumentCounts(NamedTuple):
    """What is counted of one document.

    sentences (int), morphemes (int): How many there are.
    clusters (List[List[int]]): For each entity, singletons too, the width in
        morphemes of each of its mentions.
    """

    sentences: int
    morphemes: int
    clusters: List[List[int]]


def count_kibutzr(document: KibutzrDocument) -> DocumentCounts:
    """Count a document as its KibutzR file has it.

    document (KibutzrDocument): The document.
    RETURNS (DocumentCounts): Its counts.
    """
    clusters: Dict[int, List[int]] = {}
    for start, end, name in document.mentions:
        clusters.setdefault(name, []).append(end - start)
    return DocumentCounts(
        len(document.sentences), document.n_morphemes, list(clusters.values())
    )


def count_doc(doc: Doc) -> DocumentCounts:
    """Count a document of a built corpus.

    doc (Doc): The document.
    RETURNS (DocumentCounts): Its counts, mentions as projected to morphemes.
    """
    groups: List[List[Tuple[int, int]]] = []
    for key, group in doc.spans.items():
        spans = [(span.start, span.end) for span in group]
        if key.startswith(f"{CLUSTER_PREFIX}_"):
            groups.append(spans)
        elif key == SINGLETONS:
            groups.extend([span] for span in spans)
    widths = [
        [end - start for start, end in tokens_to_morphemes(doc, spans)]
        for spans in groups
    ]
    return DocumentCounts(len(list(doc.sents)), len(doc._.morphemes), widths)


def count_directory(
    directory: Union[str, Path],
) -> Tuple[Dict[str, List[DocumentCounts]], List[str]]:
    """Count a built corpus or the files of KibutzR.

    directory (Union[str, Path]): A folder with ``.spacy`` files, or one in which
        ``find_kibutzr`` finds files.
    RETURNS (Tuple[Dict[str, List[DocumentCounts]], List[str]]): The documents of
        each split or other file, and which of these are splits of KibutzR.
    RAISES (CorpusError): If there are neither.
    """
    files = sorted(Path(directory).glob("*.spacy"), key=_split_order)
    counts: Dict[str, List[DocumentCounts]] = {}
    splits: List[str] = []
    if not files:
        for split, paths in find_kibutzr(directory).items():
            counts[split] = [count_kibutzr(read_kibutzr(path)) for path in paths]
            splits.append(split)
        return counts, splits
    for path in files:
        try:
            docs = load_docs(path)
        except Exception as error:
            raise CorpusError(
                path, None, f"not a corpus of spaCy ({error}). Build it again."
            ) from error
        counts[path.stem] = [count_doc(doc) for doc in docs]
        if all((doc._.source or {}).get("corpus") == CORPUS_NAME for doc in docs):
            splits.append(path.stem)
    return counts, splits


def _split_order(path: Path) -> Tuple[int, str]:
    known = path.stem in SPLITS
    return (SPLITS.index(path.stem) if known else len(SPLITS), path.stem)


def table(documents: Iterable[DocumentCounts]) -> Dict[str, int]:
    """One row of Table 1.

    documents (Iterable[DocumentCounts]): The documents of a split.
    RETURNS (Dict[str, int]): The keys of ``COLUMNS``. ``mentions`` are those of
        clusters of two or more, the widest mention is one of all, in morphemes.
    """
    row: Counter[str] = Counter({name: 0 for name in COLUMNS})
    for document in documents:
        row["documents"] += 1
        row["sentences"] += document.sentences
        row["morphemes"] += document.morphemes
        for widths in document.clusters:
            row["mentions_with_singletons"] += len(widths)
            row["widest_mention"] = max(row["widest_mention"], *widths)
            if len(widths) > 1:
                row["clusters"] += 1
                row["mentions"] += len(widths)
            else:
                row["singletons"] += 1
    return dict(row)


def histogram(documents: Iterable[DocumentCounts]) -> Dict[int, int]:
    """Figure 1: how many documents have how many sentences.

    documents (Iterable[DocumentCounts]): The documents.
    RETURNS (Dict[int, int]): For each number of sentences that is there, how
        many documents have it.
    """
    return dict(sorted(Counter(d.sentences for d in documents).items()))


def statistics(directory: Union[str, Path]) -> Dict[str, Any]:
    """All figures of a corpus.

    directory (Union[str, Path]): See ``count_directory``.
    RETURNS (Dict[str, Any]): ``table`` (a row per split, and ``all`` of KibutzR)
        and ``sentences_per_document`` (a histogram per split of KibutzR).
    RAISES (CorpusError): See ``count_directory``.
    """
    counts, splits = count_directory(directory)
    rows = {name: table(documents) for name, documents in counts.items()}
    if len(splits) > 1:
        rows["all"] = table(d for split in splits for d in counts[split])
    return {
        "table": rows,
        "sentences_per_document": {s: histogram(counts[s]) for s in splits},
    }


def format_table(rows: Dict[str, Dict[str, int]]) -> str:
    """Table 1 as text.

    rows (Dict[str, Dict[str, int]]): A row per split.
    RETURNS (str): The table.
    """
    lines = [["", *COLUMNS.values()]]
    for name, row in rows.items():
        lines.append([name, *(f"{row[column]:,}" for column in COLUMNS)])
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def _bins(histograms: Sequence[Dict[int, int]]) -> List[Tuple[int, List[int]]]:
    """For bins of sentences, the documents of each split."""
    most = max((n for one in histograms for n in one), default=0)
    output: List[Tuple[int, List[int]]] = []
    for first in range(1, most + 1, BIN):
        inside = range(first, first + BIN)
        output.append(
            (first, [sum(one.get(n, 0) for n in inside) for one in histograms])
        )
    return output


def format_histogram(histograms: Dict[str, Dict[int, int]]) -> str:
    """Figure 1 as text.

    histograms (Dict[str, Dict[int, int]]): A histogram per split.
    RETURNS (str): One bar per five numbers of sentences, over all splits.
    """
    bins = _bins(list(histograms.values()))
    most = max((sum(numbers) for _, numbers in bins), default=0)
    lines = [f"sentences per document ({' + '.join(histograms)})"]
    for first, numbers in bins:
        total = sum(numbers)
        bar = "█" * round(BAR_WIDTH * total / most)
        lines.append(f"{first:>4}-{first + BIN - 1:<4}{total:>5}  {bar}".rstrip())
    return "\n".join(lines)


def draw_histogram(
    histograms: Dict[str, Dict[int, int]], path: Union[str, Path]
) -> None:
    """Figure 1 as a picture.

    histograms (Dict[str, Dict[int, int]]): A histogram per split.
    path (Union[str, Path]): The file, ``.svg`` or ``.png``.
    RAISES (ImportError): If matplotlib is not installed.
    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError(
            "Drawing a figure needs matplotlib: pip install 'spacy_he_coref[plots]'."
        ) from error
    figure = Figure(figsize=(7, 3.5), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    bins = _bins(list(histograms.values()))
    places = [first + BIN / 2 - 0.5 for first, _ in bins]
    below = [0] * len(bins)
    for i, split in enumerate(histograms):
        heights = [numbers[i] for _, numbers in bins]
        axes.bar(places, heights, width=BIN * 0.9, bottom=below, label=split)
        below = [low + height for low, height in zip(below, heights, strict=True)]
    axes.set_xlabel("sentences per document")
    axes.set_ylabel("documents")
    axes.legend()
    figure.savefig(path)
