"""Replay a saved segmentation: KibutzR files, CoNLL-U, or texts of morphemes.

A document of the table is found by the id of the Doc's source, or else by its
letters. Its morphemes are laid along the words of the Doc: word by word where
the table has words, otherwise by the cheapest way to spell the words in order.
"""

import re
import warnings
from collections import Counter
from difflib import SequenceMatcher
from pathlib import Path
from typing import (
    Callable,
    Dict,
    Iterable,
    Iterator,
    List,
    NamedTuple,
    Optional,
    Sequence,
    Tuple,
    Union,
)

import spacy
import srsly
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from ...corpus.conllu import COLUMNS, CorpusError, read_lines
from ...corpus.letters import (
    PRONOUN_ENDINGS,
    UNWRITTEN,
    bare,
    plain_letters,
    similarity,
)
from ...tokens import Analysis, Morpheme, trivial_analysis
from ..contract import Request, validate_analysis
from ..letters import (
    assign_letters,
    assign_whole,
    describe_doc,
    make_analysis,
    restore_marks,
)

Span = Optional[Tuple[int, int]]

# Costs of laying morphemes along words: of a word that has none, of a morpheme
# that is left over, of a word whose morphemes do not spell it.
_NO_MORPHEMES, _LEFT_OVER, _MISFIT = 3.0, 1.5, 2.0
_MOST_MORPHEMES = 9
_BEAM, _LAG = 8, 5.0
# What must be alike for a misfit to be more than an accident.
_ALIKE = 0.5
# Share of a table document's longer morphemes that must occur in a text that is
# taken for it.
_SAME_DOCUMENT = 0.7


class TableWord(NamedTuple):
    """Morphemes of a table that belong together.

    text (str): The written word, empty if the table does not say where words
        begin; then the morphemes are those of many words.
    forms (List[str]): The morphemes.
    analysis (Optional[Analysis]): Letters and kinds, if the table has them.
    """

    text: str
    forms: List[str]
    analysis: Optional[Analysis] = None


class TableDocument(NamedTuple):
    """One document of a saved segmentation.

    id (str): Its name.
    words (List[TableWord]): Its words.
    """

    id: str
    words: List[TableWord]


def read_table(path: Union[str, Path]) -> List[TableDocument]:
    """Read a saved segmentation.

    path (Union[str, Path]): A file, or a directory with a file per document:
        KibutzR's five columns, CoNLL-U, or morphemes between white space.
    RETURNS (List[TableDocument]): Its documents.
    RAISES (CorpusError): If there is nothing, or a line has too few columns.
    """
    path = Path(path)
    if path.is_dir():
        files = sorted(
            p for p in path.rglob("*") if p.is_file() and not p.name.startswith(".")
        )
    else:
        files = [path] if path.exists() else []
    if not files:
        raise CorpusError(
            path, None, "no saved segmentation here. Give a file or a directory."
        )
    return [document for file in files for document in _read_file(file)]


def _read_file(path: Path) -> List[TableDocument]:
    lines = read_lines(path)
    first = next((line for line in lines if line.strip()), "")
    if first.startswith("#begin document"):
        return _read_kibutzr(path, lines)
    if first.startswith("# ") or first.count("\t") == COLUMNS - 1:
        return _read_conllu(path, lines)
    words = [TableWord("", _forms(" ".join(lines).split()))]
    return [TableDocument(path.stem, words)]


def _read_kibutzr(path: Path, lines: Sequence[str]) -> List[TableDocument]:
    documents: List[TableDocument] = []
    for line in lines:
        if line.startswith("#begin document"):
            documents.append(
                TableDocument(line.removeprefix("#begin document").strip("( );"), [])
            )
        elif line.strip() and not line.startswith("#end"):
            documents[-1].words.append(TableWord("", _forms([line.split("\t")[0]])))
    if len(documents) == 1:
        # The name inside a public file is a running number.
        documents = [documents[0]._replace(id=path.stem)]
    return documents


def _read_conllu(path: Path, lines: Sequence[str]) -> List[TableDocument]:
    documents: List[TableDocument] = []
    text, rest = "", 0
    forms: List[str] = []
    spans: List[Span] = []
    for number, line in enumerate(lines, start=1):
        if line.startswith("# newdoc"):
            documents.append(TableDocument(line.partition("=")[2].strip(), []))
        if not line.strip() or line.startswith("#"):
            continue
        columns = line.split("\t")
        if len(columns) != COLUMNS:
            raise CorpusError(
                path,
                number,
                f"{len(columns)} columns separated by tabs, but CoNLL-U has {COLUMNS}. "
                "Restore the missing ones.",
            )
        index, form, misc = columns[0], columns[1], columns[-1]
        if "." in index:
            continue
        if not documents:
            documents.append(TableDocument(path.stem, []))
        if "-" in index:
            start, end = index.split("-")
            text, rest = form, int(end) - int(start) + 1
            continue
        forms.extend(_forms([form]))
        found = re.search(r"(?:^|\|)Seg=(\d+):(\d+)", misc)
        if found:
            a, b = int(found[1]), int(found[2])
            spans.append((a, b) if a < b else None)
        rest = max(rest - 1, 0)
        if rest == 0:
            text = text or form
            documents[-1].words.append(
                TableWord(text, forms, _given(text, forms, spans))
            )
            text, forms, spans = "", [], []
    return [document for document in documents if document.words]


def _given(text: str, forms: List[str], spans: List[Span]) -> Optional[Analysis]:
    """The analysis by the letters that a file gives, if they make a valid one."""
    guess = assign_letters(text, forms) or assign_whole(text, forms)
    if len(spans) != len(forms):
        return None
    analysis = make_analysis(forms, spans, [morpheme.kind for morpheme in guess])
    try:
        validate_analysis(text, analysis)
    except ValueError:
        return None
    return analysis


def _forms(forms: Iterable[str]) -> List[str]:
    """Forms without the mark that UD gives to hosts (``בית_ _של_ _הוא``)."""
    return [form if form in UNWRITTEN else form.rstrip("_") or form for form in forms]


def lay_along(
    words: Sequence[str], forms: Sequence[str]
) -> List[Optional[Tuple[int, int]]]:
    """Find the morphemes of each word, where only their order is known.

    A beam search for the cheapest way; linear in the number of words.

    words (Sequence[str]): The written words.
    forms (Sequence[str]): The morphemes of all of them in order.
    RETURNS (List[Optional[Tuple[int, int]]]): First morpheme of each word and
        morpheme after the last one; None for a word that has none.
    """
    # For each number of morphemes used up: cost, the number before the word, and
    # the first morpheme of the word.
    beam: Dict[int, Tuple[float, int, int]] = {0: (0.0, 0, 0)}
    history: List[Dict[int, Tuple[float, int, int]]] = []
    for word in words:
        reached: Dict[int, Tuple[float, int, int]] = {}
        for before, (cost, _, _) in beam.items():
            for start, end, price in _steps(word, forms, before):
                if end not in reached or cost + price < reached[end][0]:
                    reached[end] = (cost + price, before, start)
        limit = min(cost for cost, _, _ in reached.values()) + _LAG
        kept = [item for item in reached.items() if item[1][0] <= limit]
        beam = dict(sorted(kept, key=lambda item: (item[1][0], item[0]))[:_BEAM])
        history.append(beam)
    # Morphemes after the last word are left over too.
    position = min(beam, key=lambda end: beam[end][0] + (len(forms) - end) * _LEFT_OVER)
    output: List[Optional[Tuple[int, int]]] = []
    for states in reversed(history):
        _, before, start = states[position]
        output.append((start, position) if position > start else None)
        position = before
    return output[::-1]


def _steps(
    word: str, forms: Sequence[str], before: int
) -> Iterator[Tuple[int, int, float]]:
    """Ways to go on with a word: its first morpheme, the end, and the cost."""
    fits = False
    for end, price in _prices(word, forms, before):
        fits = fits or price < 1
        yield before, end, price
    if fits:
        return
    yield before, before, _NO_MORPHEMES
    for start in range(before + 1, before + 4):
        for end, price in _prices(word, forms, start):
            yield start, end, price + (start - before) * _LEFT_OVER


def _prices(word: str, forms: Sequence[str], start: int) -> Iterator[Tuple[int, float]]:
    """For each number of morphemes that could be the word: their end, the cost."""
    plain = plain_letters(word)
    spelled = written = ""
    misfits: List[Tuple[int, str]] = []
    fits = False
    for end in range(start + 1, min(start + _MOST_MORPHEMES, len(forms)) + 1):
        form = forms[end - 1]
        letters = plain_letters(bare(form))
        spelled += letters
        if form not in UNWRITTEN:
            written += letters
        if plain in (spelled, written):
            fits = True
            yield end, 0.0
            continue
        # A base form may be longer than its host, and של הוא may be one letter.
        if len(spelled) > len(plain) + 10:
            break
        analysis = None
        if end > start + 1 and _may_fit(plain, spelled, forms[start:end]):
            analysis = assign_letters(word, restore_marks(word, forms[start:end]))
        if analysis is not None:
            fits = True
            yield end, 0.5 - 0.5 * _host_similarity(word, analysis)
        elif abs(len(spelled) - len(plain)) <= 4:
            misfits.append((end, spelled))
    if not fits:
        for end, spelled in misfits:
            yield end, _MISFIT + 3 * (1 - similarity(plain, spelled))


def _may_fit(plain: str, spelled: str, forms: Sequence[str]) -> bool:
    """Whether it is worth while to look how morphemes that do not spell a word, one
    after the other, could be it: by a suffix, a swallowed article, or signs."""
    return len(spelled) + 3 >= len(plain) and (
        bare(forms[-1]) in PRONOUN_ENDINGS or "ה" in forms or not plain.isalnum()
    )


def _host_similarity(word: str, analysis: Analysis) -> float:
    alike = [
        similarity(plain_letters(word[m.start : m.end]), plain_letters(bare(m.form)))
        for m in analysis
        if m.written and not m.form.startswith("_")
    ]
    return min(alike, default=0.0)


class TableSegmenter:
    """Backend that replays a saved segmentation."""

    def __init__(
        self, path: Optional[Union[str, Path]] = None, on_missing: str = "word"
    ) -> None:
        """Make the backend. Nothing is read before it is needed.

        path (Optional[Union[str, Path]]): The saved segmentation.
        on_missing (str): What becomes of a document that is not in it: ``word``,
            its words stay whole, with a warning; ``error``.
        RAISES (ValueError): If ``on_missing`` is something else.
        """
        if on_missing not in ("word", "error"):
            raise ValueError(
                f"on_missing must be 'word' or 'error', not {on_missing!r}."
            )
        self.path = path
        self.on_missing = on_missing
        self._documents: Optional[List[TableDocument]] = None
        self._by_id: Dict[str, TableDocument] = {}
        self._samples: List[Tuple[TableDocument, int, List[str]]] = []

    @property
    def documents(self) -> List[TableDocument]:
        """The documents of the table, read on first use."""
        if self._documents is None:
            if self.path is None:
                self._set_documents([])
            else:
                self._set_documents(self._read(Path(self.path)))
        return self._documents or []

    def _read(self, path: Path) -> List[TableDocument]:
        return read_table(path)

    def _set_documents(self, documents: List[TableDocument]) -> None:
        self._documents = documents
        self._samples = []
        names: Counter[str] = Counter()
        self._by_id = {}
        for document in documents:
            for name in _names(document.id):
                names[name] += 1
                self._by_id[name] = document
        for name, count in names.items():
            if count > 1:
                del self._by_id[name]

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Optional[Language] = None,
        path: Optional[Union[str, Path]] = None,
    ) -> None:
        """Read the table.

        get_examples (Callable): Not used.
        nlp (Optional[Language]): Not used.
        path (Optional[Union[str, Path]]): The saved segmentation, if not that of
            the constructor.
        """
        self.path = path or self.path
        self._documents = None
        _ = self.documents

    def segment(self, requests: Iterable[Request]) -> Iterator[List[Analysis]]:
        """Look documents up.

        requests (Iterable[Request]): The documents.
        YIELDS (List[Analysis]): One analysis per word of each.
        RAISES (ValueError): If a document is not in the table and ``on_missing`` is
            ``error``.
        """
        for request in requests:
            yield self._segment(request)

    def _segment(self, request: Request) -> List[Analysis]:
        name = f"Document {describe_doc(request.doc)}"
        words = [word.text for word in request.words]
        if not words:
            return []
        document = self.find(request.doc)
        if document is None:
            message = (
                f"{name} is not in the segmentation {self.path or 'of this pipeline'}."
            )
            if self.on_missing == "error":
                raise ValueError(f"{message} Give the path of one that has it.")
            warnings.warn(f"{message} Its words stay whole.", stacklevel=2)
            return [trivial_analysis(word) for word in words]
        analyses, unaligned = align(words, document)
        if unaligned:
            shown = ", ".join(words[i] for i in unaligned[:5])
            warnings.warn(
                f"{name}: {len(unaligned)} of {len(words)} "
                f"words do not fit the saved segmentation ({shown}).",
                stacklevel=2,
            )
        return analyses

    def find(self, doc: Doc) -> Optional[TableDocument]:
        """Find the document of the table that a Doc is.

        doc (Doc): The Doc.
        RETURNS (Optional[TableDocument]): The one with the id of its source, or
            else the one whose morphemes it has; None if there is neither.
        """
        documents = self.documents
        source = doc._.source
        if source and "id" in source:
            for name in _names(str(source["id"])):
                if name in self._by_id:
                    return self._by_id[name]
        if not self._samples:
            self._samples = [(d, *_sample(d)) for d in documents]
        text = "".join(plain_letters(doc.text).split())
        best: Tuple[float, Optional[TableDocument]] = (_SAME_DOCUMENT, None)
        for document, letters, sample in self._samples:
            if sample and 0.6 * letters <= len(text) <= 1.4 * letters:
                share = sum(form in text for form in sample) / len(sample)
                if share > best[0]:
                    best = (share, document)
        return best[1]

    # The table goes into the model directory, so a saved pipeline is complete.

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """Serialize the table.

        exclude (Iterable[str]): Not used.
        RETURNS (bytes): The table.
        """
        rows = [[document.id, document.words] for document in self.documents]
        return srsly.msgpack_dumps(rows)

    def from_bytes(
        self, data: bytes, *, exclude: Iterable[str] = ()
    ) -> "TableSegmenter":
        """Load the table.

        data (bytes): What ``to_bytes`` gave.
        exclude (Iterable[str]): Not used.
        RETURNS (TableSegmenter): The backend itself.
        """
        documents = []
        for name, rows in srsly.msgpack_loads(data):
            words = [
                TableWord(text, forms, rest and tuple(Morpheme(*m) for m in rest))
                for text, forms, rest in rows
            ]
            documents.append(TableDocument(name, words))
        self._set_documents(documents)
        return self

    def to_disk(self, path: Union[str, Path], *, exclude: Iterable[str] = ()) -> None:
        """Write the table.

        path (Union[str, Path]): The file.
        exclude (Iterable[str]): Not used.
        """
        Path(path).write_bytes(self.to_bytes())

    def from_disk(
        self, path: Union[str, Path], *, exclude: Iterable[str] = ()
    ) -> "TableSegmenter":
        """Read the table.

        path (Union[str, Path]): The file.
        exclude (Iterable[str]): Not used.
        RETURNS (TableSegmenter): The backend itself.
        """
        return self.from_bytes(Path(path).read_bytes())


def _names(name: str) -> List[str]:
    """What a document may be called: ``htb:1``, ``htb_1``, ``1``."""
    plain = name.replace(":", "_")
    return list(dict.fromkeys((plain, plain.removeprefix("htb_"))))


def _sample(document: TableDocument) -> Tuple[int, List[str]]:
    """Letters of a document, and up to 200 of its longer morphemes."""
    forms = [plain_letters(bare(form)) for w in document.words for form in w.forms]
    longer = [form for form in forms if len(form) > 3]
    return sum(map(len, forms)), longer[:: max(1, len(longer) // 200)]


def align(
    words: Sequence[str], document: TableDocument
) -> Tuple[List[Analysis], List[int]]:
    """Give the words of a Doc the morphemes of a table document.

    words (Sequence[str]): The written words of the Doc.
    document (TableDocument): The document of the table.
    RETURNS (Tuple[List[Analysis], List[int]]): One analysis per word, and the
        numbers of the words whose morphemes could not be found or do not spell
        them; those stay whole unless the morphemes are much like them.
    """
    marked = any(
        form.strip("_") and "_" in form
        for word in document.words
        for form in word.forms
    )
    output: List[Optional[Analysis]] = [None] * len(words)
    unaligned: List[int] = []
    i = j = 0
    for a, b, size in _same_words(words, document):
        # What lies between two stretches of equal words.
        forms = [form for row in document.words[j:b] for form in row.forms]
        for n, bounds in zip(range(i, a), lay_along(words[i:a], forms), strict=True):
            if bounds is not None:
                output[n], fits = _analyse(words[n], forms[slice(*bounds)], marked)
            if bounds is None or not fits:
                unaligned.append(n)
        for n, row in zip(
            range(a, a + size), document.words[b : b + size], strict=True
        ):
            fits = row.analysis is not None
            output[n] = row.analysis
            if row.analysis is None:
                output[n], fits = _analyse(words[n], row.forms, marked)
            if not fits:
                unaligned.append(n)
        i, j = a + size, b + size
    analyses = [
        trivial_analysis(word) if analysis is None else analysis
        for word, analysis in zip(words, output, strict=True)
    ]
    return analyses, unaligned


def _same_words(
    words: Sequence[str], document: TableDocument
) -> List[Tuple[int, int, int]]:
    """Stretches of equal words: where they begin in both, and how long they are.

    The last one is empty and at the end of both.
    """
    ours = [plain_letters(word) for word in words]
    theirs = [plain_letters(row.text) for row in document.words]
    end = (len(ours), len(theirs), 0)
    if ours == theirs:
        return [(0, 0, len(ours)), end]
    if not any(theirs):
        return [end]
    matcher = SequenceMatcher(None, ours, theirs, autojunk=False)
    return [(a, b, size) for a, b, size in matcher.get_matching_blocks()]


def _analyse(
    word: str, forms: Sequence[str], marked: bool
) -> Tuple[Optional[Analysis], bool]:
    """The analysis by the forms of a table, and whether they spell the word."""
    forms = list(forms) if marked else restore_marks(word, forms)
    alike = similarity(plain_letters(word), plain_letters("".join(map(bare, forms))))
    analysis = assign_letters(word, forms)
    if analysis is not None and (len(forms) > 1 or alike >= _ALIKE):
        return analysis, True
    return (assign_whole(word, forms) if alike >= _ALIKE else None), False


@spacy.registry.misc("spacy_he_coref.TableSegmenter.v1")
def make_table_segmenter(
    path: Optional[Union[str, Path]] = None, on_missing: str = "word"
) -> TableSegmenter:
    """Backend that replays a saved segmentation, for ``backend`` of ``he_segmenter``.

    path (Optional[Union[str, Path]]): A file, or a directory with a file per
        document: KibutzR's columns, CoNLL-U, or morphemes between white space. Not
        needed to load a saved pipeline, which has the table in it.
    on_missing (str): What becomes of documents that are not in it: ``word`` (they
        stay whole, with a warning) or ``error``.
    RETURNS (TableSegmenter): The backend.
    """
    return TableSegmenter(path, on_missing)
