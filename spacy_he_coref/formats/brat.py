"""Docs as brat standoff, and back: ``NAME.txt`` and ``NAME.ann``.

The text file is the text, character for character. In the annotations every mention is
``T1<tab>Mention 0 3<tab>...`` and every cluster ``*<tab>Coref T1 T4 T7``; a singleton
is a mention in no cluster. A mention over a line end has a fragment for each line, as
brat itself writes it. For brat's ``annotation.conf``: the entity ``Mention`` and the
relation ``Coref Arg1:Mention, Arg2:Mention, <REL-TYPE>:symmetric-transitive``.
"""

import re
from pathlib import Path
from typing import Dict, Iterator, List, Tuple, Union

from spacy.language import Language
from spacy.tokens import Doc

from ..corpus.conllu import CorpusError, read_lines
from .documents import (
    FileCluster,
    FileMention,
    doc_clusters,
    make_doc,
    offsets,
    put_clusters,
)

TEXT, ANNOTATIONS = ".txt", ".ann"
_MENTION = re.compile(r"(\S+) ((?:\d+ \d+)(?:;\d+ \d+)*)")
_LINE = re.compile(r"[^\r\n]+")
# Relations of these names say that two mentions corefer.
_COREFERENT = re.compile(r"coref|equiv", re.IGNORECASE)
_ARGUMENTS = re.compile(r"(\S+)\s+\S+:(\S+)\s+\S+:(\S+)\s*")


def render_brat(doc: Doc, name: str, number: int) -> str:
    """The annotations of a document, for ``NAME.ann`` beside the text.

    doc (Doc): The document.
    name (str): Its name.
    number (int): Its number in the file, which the format does not need.
    RETURNS (str): The lines: mentions, then clusters.
    """
    mentions: List[str] = []
    clusters: List[str] = []
    text = doc.text
    for spans in doc_clusters(doc, name):
        names: List[str] = []
        for span in spans:
            start, end = offsets(doc, span)
            names.append(f"T{len(mentions) + 1}")
            parts = [
                match.span()
                for match in _LINE.finditer(text, start, end)
                if match[0].strip()
            ]
            places = ";".join(f"{a} {b}" for a, b in parts)
            words = " ".join(text[a:b] for a, b in parts)
            mentions.append(f"{names[-1]}\tMention {places}\t{words}")
        if len(names) > 1:
            clusters.append(f"*\tCoref {' '.join(names)}")
    return "".join(f"{line}\n" for line in [*mentions, *clusters])


def read_brat_docs(path: Union[str, Path], nlp: Language) -> Iterator[Doc]:
    """Read a document in brat's format.

    Mentions are text-bound annotations (T) of every type. They corefer if a line with
    ``*`` or a relation (R) joins them whose type begins with Coref or Equiv; lines of
    other kinds are not read.

    path (Union[str, Path]): The ``.ann`` file; the ``.txt`` must lie beside it.
    nlp (Language): The pipeline that cuts the text into words.
    YIELDS (Doc): The document, named after the file.
    RAISES (CorpusError): If there is no text, a line is not one of brat's, a mention is
        discontinuous, does not fit the text, or is not there.
    """
    path = Path(path)
    text_path = path.with_suffix(TEXT)
    if not text_path.is_file():
        raise CorpusError(
            path, None, f"there is no {text_path.name} beside it, which has the text."
        )
    try:
        # Offsets count every character, so line ends and a mark at the begin stay.
        text = text_path.read_bytes().decode("utf8")
    except UnicodeDecodeError as error:
        raise CorpusError(
            text_path, None, f"not UTF-8 ({error}). Convert the file first."
        ) from None
    mentions: Dict[str, FileMention] = {}
    joined: List[Tuple[int, List[str]]] = []
    for number, line in enumerate(read_lines(path), start=1):
        if line.startswith("T"):
            _read_mention(path, number, line, text, mentions)
        elif line.startswith("*"):
            _, _, rest = line.partition("\t")
            kind, *names = rest.split() or [""]
            if _COREFERENT.match(kind) and names:
                joined.append((number, names))
        elif line.startswith("R"):
            _, _, rest = line.partition("\t")
            match = _ARGUMENTS.fullmatch(rest)
            if match is None:
                raise CorpusError(
                    path,
                    number,
                    f"{rest!r} is no relation like 'Coref Arg1:T1 Arg2:T2'. Correct "
                    "it.",
                )
            if _COREFERENT.match(match[1]):
                joined.append((number, [match[2], match[3]]))
    clusters = _join(path, mentions, joined)
    doc = make_doc(nlp, text, text_path, None)
    yield put_clusters(doc, clusters, path.stem, path)


def _read_mention(
    path: Path, number: int, line: str, text: str, mentions: Dict[str, FileMention]
) -> None:
    name, _, rest = line.partition("\t")
    where, _, words = rest.partition("\t")
    match = _MENTION.fullmatch(where)
    if match is None or name in mentions:
        raise CorpusError(
            path,
            number,
            f"{line!r} is no mention like 'T1<tab>Mention 0 3<tab>WORDS' with a name "
            "of its own. Correct it.",
        )
    parts = [tuple(map(int, part.split())) for part in match[2].split(";")]
    for (_, end), (start, _) in zip(parts, parts[1:], strict=False):
        if text[end:start].strip() or end > start:
            raise CorpusError(
                path,
                number,
                f"the mention {name} has parts with words between them ({match[2]}). A "
                "mention is one stretch of the text here: mark all of it, or only the "
                "part with its head.",
            )
    found = " ".join(text[start:end] for start, end in parts)
    if words and words.split() != found.split():
        raise CorpusError(
            path,
            number,
            f"the mention {name} is {words!r}, but the text has {found!r} at "
            f"{match[2]}. Give the text that the offsets were made for.",
        )
    mentions[name] = FileMention(parts[0][0], parts[-1][1], number)


def _join(
    path: Path, mentions: Dict[str, FileMention], joined: List[Tuple[int, List[str]]]
) -> List[FileCluster]:
    cluster_of = {name: [name] for name in mentions}
    for number, names in joined:
        for name in names:
            if name not in mentions:
                raise CorpusError(
                    path,
                    number,
                    f"there is no mention {name}. Add it, or remove it from the line.",
                )
        for name in names[1:]:
            ours, theirs = cluster_of[names[0]], cluster_of[name]
            if ours is not theirs:
                ours += theirs
                cluster_of.update(dict.fromkeys(theirs, ours))
    groups = {id(group): group for group in cluster_of.values()}
    return [
        FileCluster([mentions[name] for name in group]) for group in groups.values()
    ]
