"""Docs as CoNLL-2012, KibutzR's columns and CorefUD, and back.

In all three every morpheme is a word, those that are not written too. CoNLL-2012 and
KibutzR have no text: it is spelled anew (``formats.rebuild``). CorefUD holds the text,
the segments, tags and trees (``corpus.export``); a file of another tool is read by
these rules:

* ``Seg=a:b`` says which letters of a written word are a morpheme's; without it they are
  found from the forms (``segmenter.letters``).
* White space is that of ``SpacesAfter=`` and ``SpacesBefore=``, none at
  ``SpaceAfter=No`` and at the end of a document, else one space.
* Empty nodes are left out, and a discontinuous mention is its part with the head
  (``formats.corefud``).
"""

import re
from pathlib import Path
from typing import (
    Callable,
    Dict,
    Iterator,
    List,
    NamedTuple,
    Optional,
    Sequence,
    Tuple,
    Union,
)

from spacy.language import Language
from spacy.tokens import Doc

from ..corpus.conllu import CorpusError, read_lines
from ..corpus.docs import ROOT, MorphemeRow
from ..corpus.export import (
    bracket_columns,
    conllu_lines,
    doc_to_conll2012,
    morpheme_bounds,
)
from ..corpus.kibutzr import Mention, format_kibutzr
from ..corpus.letters import BEFORE_PRONOUN, PRONOUN_ENDINGS, Span, segment_kinds
from ..corpus.morphemes import morpheme_sentences
from ..segmenter.contract import validate_analysis
from ..segmenter.letters import (
    assign_letters,
    assign_whole,
    find_kinds,
    make_analysis,
)
from ..tokens import COVERT_ARTICLE, Analysis, morphemes_to_tokens, segments
from .conll2012 import read_conll2012
from .corefud import DEFAULT_FIELDS, read_corefud
from .documents import (
    doc_clusters,
    set_file_clusters,
    warn_loss,
    without_crossing,
)
from .jsonlines import READERS as JSON_READERS
from .kibutzr import read_kibutzr_records
from .rebuild import doc_from_record, set_word
from .records import Bounds, CorefRecord, Tree, head_of

PathLike = Union[str, Path]
_DEFINITE = "Definite=Def"
_SUFFIXES = {letters for endings in PRONOUN_ENDINGS.values() for letters in endings}
_SPACES = {r"\s": " ", r"\n": "\n", r"\t": "\t", r"\r": "\r", r"\p": "|", r"\\": "\\"}
_ESCAPED = re.compile(r"\\.", re.DOTALL)


def render_conll2012(doc: Doc, name: str, number: int) -> str:
    """A document as CoNLL-2012.

    doc (Doc): The document.
    name (str): Its name.
    number (int): Its number in the file, which the format does not need.
    RETURNS (str): Its lines.
    """
    clusters = without_crossing(doc_clusters(doc, name), doc, name, False)
    return _join(doc_to_conll2012(doc, name, [spans for spans in clusters if spans]))


def render_kibutzr(doc: Doc, name: str, number: int) -> Optional[str]:
    """A document in KibutzR's five columns.

    doc (Doc): The document.
    name (str): Its name.
    number (int): Its number in the file, which the format does not need.
    RETURNS (Optional[str]): Its lines; None, with a warning, for one without words.
    """
    sentences, entities = _in_sentences(doc, name)
    if not sentences:
        return None
    mentions = [
        Mention(first, last + 1, n)
        for n, spans in enumerate(entities)
        for first, last in spans
    ]
    forms = [[row.form for row in rows] for rows in sentences]
    begin = f"#begin document {' '.join(name.split())}"
    return format_kibutzr(forms, mentions, begin, "#end document\n")


def render_corefud(doc: Doc, name: str, number: int) -> Optional[str]:
    """A document as CorefUD 1.x.

    Entities are called ``d1e1``, ``d1e2``, ... by the number of the document, so that
    no two documents of a file share one. ``head`` is the mention's word nearest to the
    root, if the document has trees.

    doc (Doc): The document.
    name (str): Its name.
    number (int): Its number in the file, from 1.
    RETURNS (Optional[str]): Its lines; None, with a warning, for one without words.
    """
    sentences, entities = _in_sentences(doc, name)
    if not sentences:
        return None
    tree: Tree = []
    has_tree: List[bool] = []
    for rows in sentences:
        first = len(tree)
        tree += [first + row.head - 1 if row.head else None for row in rows]
        has_tree += [rows[0].head is not None] * len(rows)
    bounds: List[Bounds] = []
    names: List[Tuple[str, str]] = []
    for n, spans in enumerate(entities, start=1):
        for start, end in spans:
            eid = f"d{number}e{n}"
            head = ""
            if has_tree[start]:
                head = f"--{head_of(tree, range(start, end + 1)) - start + 1}"
            bounds.append((start, end))
            names.append((eid + head, eid))
    columns = bracket_columns(doc, bounds, names)
    # Readers want the line in the first document, with or without mentions.
    return _join(conllu_lines(doc, name, number, "-".join(DEFAULT_FIELDS), columns))


def _join(lines: Iterator[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _in_sentences(
    doc: Doc, name: str
) -> Tuple[List[List[MorphemeRow]], List[List[Bounds]]]:
    """The morphemes of each sentence, none with a warning; and the first and last
    morpheme of the mentions of each cluster, without those over several sentences."""
    sentences = morpheme_sentences(doc)
    if not sentences:
        warn_loss(
            name, "it has no words, which the format cannot hold, so it is left out."
        )
        return [], []
    clusters = without_crossing(doc_clusters(doc, name), doc, name, False)
    sentence_of = [n for n, rows in enumerate(sentences) for _ in rows]
    bounds = iter(morpheme_bounds(doc, [span for spans in clusters for span in spans]))
    output: List[List[Bounds]] = []
    for spans in clusters:
        found: List[Bounds] = []
        for start, end in spans:
            first, last = next(bounds)
            if sentence_of[first] == sentence_of[last]:
                found.append((first, last))
                continue
            text = " ".join(doc[start:end].text.split())
            warn_loss(
                name,
                f"the mention {text!r} is left out, because it goes on in the next "
                "sentence, which the format cannot hold.",
            )
        if found:
            output.append(found)
    return sentences, output


def record_reader(
    read: Callable[[PathLike], Iterator[CorefRecord]],
) -> Callable[[PathLike, Language], Iterator[Doc]]:
    """Make a reader of Docs from one of records.

    read (Callable[[PathLike], Iterator[CorefRecord]]): Reads records.
    RETURNS (Callable[[PathLike, Language], Iterator[Doc]]): Reads Docs of a file, with
        a pipeline for their vocabulary; the text is spelled by ``formats.rebuild``.
    """

    def read_docs(path: PathLike, nlp: Language) -> Iterator[Doc]:
        for record in read(path):
            _note(record)
            yield doc_from_record(nlp, record)

    return read_docs


def read_kibutzr_file(path: PathLike) -> Iterator[CorefRecord]:
    """Read a file in KibutzR's columns.

    path (PathLike): The file.
    YIELDS (CorefRecord): Its document, named as KibutzR does (``htb_1.conllu`` is
        ``htb:1``), others after the file.
    RAISES (CorpusError): See ``corpus.kibutzr.read_kibutzr``.
    """
    stem = Path(path).stem
    for record in read_kibutzr_records(path):
        yield record if stem.startswith("htb_") else record._replace(name=stem)


read_conll2012_docs = record_reader(read_conll2012)
read_kibutzr_docs = record_reader(read_kibutzr_file)
# JSON lines by the names of ``formats.jsonlines``; bare spans have no words.
JSON_DOC_READERS = {
    name: record_reader(read) for name, read in JSON_READERS.items() if name != "jsonl"
}


def _note(record: CorefRecord) -> None:
    for note in record.notes:
        warn_loss(record.name, f"{note}.")


def read_corefud_docs(path: PathLike, nlp: Language) -> Iterator[Doc]:
    """Read a file of CorefUD, or of any CoNLL-U.

    path (PathLike): The file.
    nlp (Language): A pipeline, for its vocabulary.
    YIELDS (Doc): Its documents with text, sentences, segments, and tags, trees and
        clusters if the file has them.
    RAISES (CorpusError): See ``formats.corefud.read_corefud``; also if a range of words
        does not fit, or Seg does not fit its word.
    """
    if not any(line.strip() for line in read_lines(path)):
        return
    for record, sentences in zip(read_corefud(path), _layouts(path), strict=True):
        _note(record)
        columns = _Columns()
        for sentence in sentences:
            columns.add_sentence(path, sentence)
        doc = columns.make_doc(nlp)
        doc._.source = {"id": record.name}
        bounds = [span for cluster in record.clusters for span in cluster]
        found = iter(_to_tokens(doc, bounds))
        set_file_clusters(
            doc, [([next(found) for _ in cluster], {}) for cluster in record.clusters]
        )
        yield doc


def _to_tokens(doc: Doc, bounds: List[Bounds]) -> List[Bounds]:
    """Morphemes counted without white space, to tokens."""
    morphemes = doc._.morphemes
    places = [i for i, m in enumerate(morphemes) if not doc[m.token].is_space]
    spans = [(places[start], places[end - 1] + 1) for start, end in bounds]
    output: List[Bounds] = []
    for (start, end), found in zip(spans, morphemes_to_tokens(doc, spans), strict=True):
        # Of unwritten morphemes only: the segment that stands for them.
        output.append(found or (morphemes[start].token, morphemes[end - 1].token + 1))
    return output


class _Word(NamedTuple):
    """A written word of CoNLL-U.

    text (str): Its letters.
    start (int), end (int): Its morphemes in the sentence.
    misc (Dict[str, str]): MISC of its line.
    line (int): Its line.
    """

    text: str
    start: int
    end: int
    misc: Dict[str, str]
    line: int


class _Sentence(NamedTuple):
    """A sentence of CoNLL-U.

    rows (List[MorphemeRow]): Its morphemes.
    segs (List[str]): ``Seg`` of each; empty where there is none.
    words (List[_Word]): Its written words, over all morphemes.
    """

    rows: List[MorphemeRow]
    segs: List[str]
    words: List[_Word]


def _layouts(path: PathLike) -> Iterator[List[_Sentence]]:
    """The sentences of each document; ``read_corefud`` has checked the lines."""
    document: Optional[List[_Sentence]] = None
    sentence = _Sentence([], [], [])
    covered = 0
    for number, line in enumerate([*read_lines(path), ""], start=1):
        if not line.strip():
            if sentence.rows and document is not None:
                if covered > len(sentence.rows):
                    raise _misfit(path, sentence.words[-1])
                document.append(sentence)
            sentence, covered = _Sentence([], [], []), 0
            continue
        if line.startswith("#"):
            name = line[1:].partition("=")[0].strip()
            if name in ("newdoc", "newdoc id"):
                if document is not None:
                    yield document
                document = []
            continue
        if document is None:
            document = []
        columns = line.split("\t")
        index, form = columns[0], columns[1]
        misc = dict(item.partition("=")[::2] for item in columns[9].split("|"))
        here = len(sentence.rows)
        if "." in index:
            continue
        if "-" in index:
            first, _, last = index.partition("-")
            word = _Word(form, here, int(last) if last.isdigit() else 0, misc, number)
            if first != str(here + 1) or word.end <= here or covered > here or not form:
                raise _misfit(path, word)
            covered = word.end
            sentence.words.append(word)
            continue
        if here >= covered:
            sentence.words.append(_Word(form, here, here + 1, misc, number))
        head = int(columns[6]) if columns[6].isdigit() else None
        sentence.rows.append(
            MorphemeRow(form, columns[2], columns[3], columns[5], head, columns[7])
        )
        sentence.segs.append(misc.get("Seg", ""))
    if document is not None:
        yield document


def _misfit(path: PathLike, word: _Word) -> CorpusError:
    return CorpusError(
        path,
        word.line,
        f"the range of {word.text!r} does not fit the words after it. Correct the "
        "numbers of the sentence.",
    )


class _Columns:
    """A Doc while it is put together."""

    def __init__(self) -> None:
        self.words: List[str] = []
        self.spaces: List[bool] = []
        self.starts: List[Union[bool, int, None]] = []
        # Of each token, None where nothing is known.
        self.rows: List[Optional[Tuple[MorphemeRow, str]]] = []
        self.heads: List[int] = []
        self.deps: List[str] = []
        self.analyses: List[Tuple[int, str, Analysis]] = []
        # Whether a space follows the last word unless the document ends.
        self.waiting = False

    def add_sentence(self, path: PathLike, sentence: _Sentence) -> None:
        before = len(self.words)
        members: List[List[int]] = []
        token_of: Dict[int, int] = {}
        for i, word in enumerate(sentence.words):
            self._gap_before(word.misc)
            if i == 0:
                first = len(self.words)
            analysis = _analysis(path, sentence, word)
            self.analyses.append((len(self.words), word.text, analysis))
            position = word.start
            for piece in segments(word.text, analysis):
                inside = list(range(position, position + len(piece.morphemes)))
                position += len(piece.morphemes)
                token_of.update(dict.fromkeys(inside, len(self.words)))
                members.append(inside)
                row = sentence.rows[inside[piece.written]]
                self._add(piece.text, (row, _feats(row.feats, piece.morphemes)))
            self._gap_after(word.misc)
        self.starts[before if before == 0 else first] = True
        self._add_tree(sentence, members, token_of)

    def _add(self, text: str, row: Optional[Tuple[MorphemeRow, str]]) -> None:
        self.words.append(text)
        self.spaces.append(False)
        self.starts.append(False)
        self.rows.append(row)
        # White space hangs from the word before it, or from the one after it.
        self.heads.append(max(len(self.words) - 2, 0) if row is None else -1)
        self.deps.append("dep" if row is None else "")

    def _gap_before(self, misc: Dict[str, str]) -> None:
        if self.waiting:
            self.spaces[-1] = True
        self.waiting = False
        self._add_space(_unescape(misc.get("SpacesBefore", "")))

    def _gap_after(self, misc: Dict[str, str]) -> None:
        if "SpacesAfter" in misc:
            self._add_space(_unescape(misc["SpacesAfter"]))
        else:
            self.waiting = misc.get("SpaceAfter") != "No"

    def _add_space(self, gap: str) -> None:
        if gap.startswith(" ") and self.words and not self.spaces[-1]:
            self.spaces[-1] = True
            gap = gap[1:]
        if gap:
            self._add(gap, None)

    def _add_tree(
        self, sentence: _Sentence, members: List[List[int]], token_of: Dict[int, int]
    ) -> None:
        if any(row.head is None for row in sentence.rows):
            return
        tree = [row.head - 1 if row.head else None for row in sentence.rows]
        for inside in members:
            token = token_of[inside[0]]
            # The morpheme nearest to the root is the one whose head is outside.
            row = sentence.rows[head_of(tree, inside)]
            self.heads[token] = token_of[row.head - 1] if row.head else token
            self.deps[token] = row.deprel if row.head else ROOT

    def make_doc(self, nlp: Language) -> Doc:
        known = [row for row in self.rows if row is not None]
        has_tree = any(head >= 0 for head, row in self._tokens() if row is not None)
        if has_tree:
            self._fill_heads()
        tagged = any(row.upos != "_" for row, _ in known)
        featured = tagged or any(row.feats != "_" for row, _ in known)
        named = any(row.lemma != "_" for row, _ in known)
        doc = Doc(
            nlp.vocab,
            words=self.words,
            spaces=self.spaces,
            pos=self._column(lambda row, _: row.upos, "SPACE") if tagged else None,
            morphs=self._column(lambda _, feats: feats, "") if featured else None,
            lemmas=self._column(lambda row, _: row.lemma, " ") if named else None,
            heads=self.heads if has_tree else None,
            deps=self.deps if has_tree else None,
            sent_starts=None if has_tree or not self.words else self.starts,
        )
        for i, word, analysis in self.analyses:
            set_word(doc, i, word, analysis)
        return doc

    def _tokens(self) -> Iterator[Tuple[int, Optional[Tuple[MorphemeRow, str]]]]:
        return zip(self.heads, self.rows, strict=True)

    def _column(
        self, value: Callable[[MorphemeRow, str], str], space: str
    ) -> List[str]:
        found = (space if row is None else value(*row) for row in self.rows)
        return ["" if item == "_" else item for item in found]

    def _fill_heads(self) -> None:
        """Heads of sentences without a tree: flat, and only the first token with a
        relation, which spaCy takes for the begin of a sentence."""
        first = 0
        for i, row in enumerate(self.rows):
            if self.starts[i]:
                first = i
            if self.heads[i] < 0:
                self.heads[i] = first
                self.deps[i] = ROOT if i == first else ""
            elif row is None and i == 0:
                self.heads[0] = next(
                    (k for k, other in enumerate(self.rows) if other is not None), 0
                )


def _feats(feats: str, forms: Tuple[str, ...]) -> str:
    """Features of a token: its covert article makes it definite."""
    feats = "" if feats == "_" else feats
    if COVERT_ARTICLE not in forms or "Definite=" in feats:
        return feats
    return "|".join(sorted(filter(None, [*feats.split("|"), _DEFINITE])))


def _analysis(path: PathLike, sentence: _Sentence, word: _Word) -> Analysis:
    rows = sentence.rows[word.start : word.end]
    forms = [row.form for row in rows]
    segs = sentence.segs[word.start : word.end]
    # A suffix may be given by its letters, as in newer treebanks (של|ה).
    kinds: Optional[Sequence[str]] = None
    if (
        len(rows) > 1
        and rows[-1].upos == "PRON"
        and forms[-1] in _SUFFIXES
        and forms[-2] not in BEFORE_PRONOUN
    ):
        kinds = segment_kinds(forms, [False] * (len(forms) - 1) + [True])
    if not all(segs):
        found = assign_letters(word.text, forms, kinds)
        return found or assign_whole(word.text, forms)
    spans: List[Span] = []
    for seg in segs:
        start, _, end = seg.partition(":")
        if not (start.isdigit() and end.isdigit()):
            raise CorpusError(
                path,
                word.line,
                f"Seg={seg} is no pair of letters like 0:2. Correct it.",
            )
        spans.append((int(start), int(end)) if start != end else None)
    kinds = kinds or find_kinds(word.text, forms, spans[-1])
    analysis = make_analysis(forms, spans, kinds)
    try:
        validate_analysis(word.text, analysis)
    except ValueError as error:
        raise CorpusError(path, word.line, f"Seg of its words: {error}") from None
    return analysis


def _unescape(text: str) -> str:
    gap = _ESCAPED.sub(lambda pair: _SPACES.get(pair[0], pair[0]), text)
    return gap if gap.isspace() else ""
