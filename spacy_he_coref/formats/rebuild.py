"""Docs from files that have morphemes and no text: CoNLL-2012, KibutzR, JSON lines.

The morphemes are kept as they are. The text is spelled from them by rule, so it need
not be the text that they were made from:

* A prefix (ו ש כש ה ב כ ל מ) and the covert article are joined to the next morpheme; a
  pronoun with a leading underscore, ``_של_`` and ``את_``, and הם, הן after של to the
  one before. The rest are words of their own.
* Unwritten morphemes have no letters. A pronoun suffix has the letters that it has
  most often (``_הוא`` is ו; ``_הם`` is ם, and הם after ל, ב, של); a final letter
  before it becomes a medial one, a last ה of what is possessed ת, and את becomes אות.
  Else hosts stay as they are given, in their base form for example.
* A space stands between words, but not before closing and after opening punctuation;
  of quotes in a sentence every second one closes. A hyphen after a prefix or between
  digits has no spaces.
"""

from typing import Any, Dict, List, Sequence, Tuple, Union

from spacy.language import Language
from spacy.tokens import Doc

from ..corpus.conllu import CorpusError
from ..corpus.letters import (
    ACCUSATIVE,
    BARE_CLITICS,
    POSSESSIVE,
    PROCLITICS,
    PRONOUN_ENDINGS,
    UNWRITTEN,
    Span,
    bare,
    is_pronoun_suffix,
)
from ..segmenter.letters import find_kinds, make_analysis
from ..segmenter.normalize import HYPHENS, QUOTES
from ..tokens import (
    CLITIC,
    COVERT_ARTICLE,
    Analysis,
    is_trivial,
    morphemes_to_tokens,
    segments,
    set_segment,
)
from .documents import set_file_clusters, warn_loss
from .records import CorefRecord, check_bounds

_OF = "של"
# After these the plural pronouns keep their ה.
_LONG_ENDINGS = frozenset(("ל", "ב", _OF))
_MEDIAL = str.maketrans("םןץףך", "מנצפכ")
_CLOSING = frozenset(".,:;!?)]}%…\u05f4\u05f3")
_OPENING = frozenset("([{")
_QUOTES = frozenset(QUOTES)
_HYPHENS = frozenset(HYPHENS)


def doc_from_record(nlp: Language, record: CorefRecord) -> Doc:
    """Make the Doc of a record, its text spelled as the module says.

    nlp (Language): A pipeline, for its vocabulary.
    record (CorefRecord): The document.
    RETURNS (Doc): The document with sentences, segments, the morphemes of the record
        and its clusters. A mention of unwritten morphemes only is left out, with a
        warning.
    RAISES (CorpusError): If the record has no tokens, or a mention is not in them.
    """
    if record.sentences is None:
        raise CorpusError(
            record.path,
            record.line,
            f"document {record.name} has clusters and no words. Give a file with both.",
        )
    check_bounds(record, len(record.tokens))
    words: List[str] = []
    spaces: List[bool] = []
    starts: List[Union[bool, int, None]] = []
    rows: List[Tuple[int, Analysis, str]] = []
    for forms in record.sentences:
        for form in forms:
            if not form.strip():
                raise CorpusError(
                    record.path,
                    record.line,
                    f"document {record.name} has an empty token. Remove it, and count "
                    "the mentions without it.",
                )
        if spaces:
            spaces[-1] = True
        begin = True
        for word, analysis, space in _words(forms):
            rows.append((len(words), analysis, word))
            pieces = segments(word, analysis)
            words += [piece.text for piece in pieces]
            spaces += [False] * (len(pieces) - 1) + [space]
            starts += [begin] + [False] * (len(pieces) - 1)
            begin = False
    if spaces:
        spaces[-1] = False
    doc = Doc(nlp.vocab, words=words, spaces=spaces, sent_starts=starts or None)
    for i, analysis, word in rows:
        set_word(doc, i, word, analysis)
    doc._.source = {"id": record.name}
    bounds = [span for cluster in record.clusters for span in cluster]
    found = iter(morphemes_to_tokens(doc, bounds))
    clusters: List[Tuple[List[Tuple[int, int]], Dict[str, Any]]] = []
    for cluster in record.clusters:
        spans = [span for span in (next(found) for _ in cluster) if span is not None]
        if len(spans) < len(cluster):
            warn_loss(record.name, "a mention of unwritten morphemes only is left out.")
        clusters.append((spans, {}))
    set_file_clusters(doc, clusters)
    return doc


def set_word(doc: Doc, i: int, word: str, analysis: Analysis) -> None:
    """Store what the segments of a written word stand for.

    doc (Doc): The document, with the segments as tokens.
    i (int): First token of the word.
    word (str): Its letters.
    analysis (Analysis): Its morphemes.
    """
    if is_trivial(word, analysis):
        return
    for token, piece in enumerate(segments(word, analysis), start=i):
        set_segment(doc, doc[token].idx, piece, len(word))
        if piece.kind == CLITIC:
            doc[token].norm_ = bare(piece.morphemes[piece.written])


def _words(forms: Sequence[str]) -> List[Tuple[str, Analysis, bool]]:
    """The written words of a sentence: letters, morphemes, whether a space follows."""
    words: List[Tuple[str, Analysis]] = []
    start = 0
    for i in range(1, len(forms) + 1):
        if i == len(forms) or not _joined(forms, i):
            words.append(spell(forms[start:i]))
            start = i
    spaces = _spaces(words)
    return [(*word, space) for word, space in zip(words, spaces, strict=True)]


def _joined(forms: Sequence[str], i: int) -> bool:
    """Whether a morpheme is joined to the one before it."""
    before, form = forms[i - 1], forms[i]
    if is_pronoun_suffix(form) or form in (POSSESSIVE, ACCUSATIVE):
        return _has_letters(before)
    if form in BARE_CLITICS and before == _OF:
        return True
    if before in PROCLITICS or before == COVERT_ARTICLE:
        # ה"ארץ: the quote is inside the word.
        return _has_letters(form) or (
            form in _QUOTES and i + 1 < len(forms) and _has_letters(forms[i + 1])
        )
    opened = before in _QUOTES and i > 1 and forms[i - 2] in PROCLITICS
    return opened and _has_letters(form)


def _has_letters(form: str) -> bool:
    return any(letter.isalnum() for letter in form)


def spell(forms: Sequence[str]) -> Tuple[str, Analysis]:
    """Spell a word by the rules of the module.

    forms (Sequence[str]): Its morphemes.
    RETURNS (Tuple[str, Analysis]): Its letters, and the morphemes with theirs.
    """
    written = [len(forms) == 1 or form not in UNWRITTEN for form in forms]
    if not any(written):
        written = [True] * len(forms)
    letters: List[str] = []
    for i, form in enumerate(forms):
        host = max((k for k in range(i) if written[k]), default=-1)
        if not written[i]:
            letters.append("")
        elif host >= 0 and is_pronoun_suffix(form):
            letters[host] = _before_suffix(letters[host], POSSESSIVE in forms[host:i])
            letters.append(_ending(bare(form), forms[host]))
        else:
            letters.append(bare(form))
    spans: List[Span] = []
    position = 0
    for piece in letters:
        spans.append((position, position + len(piece)) if piece else None)
        position += len(piece)
    word = "".join(letters)
    return word, make_analysis(forms, spans, find_kinds(word, forms, spans[-1]))


def _before_suffix(host: str, possessed: bool) -> str:
    """The letters of a host that a suffix follows."""
    if host == "את":
        return "אות"
    if possessed and len(host) > 2 and host.endswith("ה"):
        return f"{host[:-1]}ת"
    return host[:-1] + host[-1].translate(_MEDIAL)


def _ending(pronoun: str, host: str) -> str:
    endings = PRONOUN_ENDINGS.get(pronoun, (pronoun,))
    long = pronoun in BARE_CLITICS and host in _LONG_ENDINGS
    return endings[-1] if long else endings[0]


def _spaces(words: Sequence[Tuple[str, Analysis]]) -> List[bool]:
    """Whether a space follows each word of a sentence."""
    # Whether there is none before each word, and at the end.
    tight = [False] * (len(words) + 1)
    quoted = False
    for i, (word, analysis) in enumerate(words):
        if word in _CLOSING:
            tight[i] = True
        elif word in _OPENING:
            tight[i + 1] = True
        elif word in _QUOTES:
            # One that nothing but punctuation follows closes what an earlier sentence
            # opened.
            rest = (text for text, _ in words[i + 1 :])
            quoted = quoted or all(not _has_letters(text) for text in rest)
            tight[i if quoted else i + 1] = True
            quoted = not quoted
        elif word in _HYPHENS and 0 < i < len(words) - 1:
            before, after = words[i - 1][0], words[i + 1][0]
            digits = before[-1].isdigit() and after[0].isdigit()
            if digits or before in PROCLITICS:
                tight[i] = tight[i + 1] = True
        # A quote that opens inside a word.
        elif any(morpheme.form in _QUOTES for morpheme in analysis):
            quoted = not quoted
    return [not tight[i + 1] for i in range(len(words))]
