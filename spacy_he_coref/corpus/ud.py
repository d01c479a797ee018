"""Other Hebrew treebanks, for their segmentation.

The treebanks of IAHLT (Wikipedia, parliament) annotate the borders of segments
and, as a feature of the preposition, the covert article; hosts and suffixes are
given by their letters, without base forms. Their Docs say so in
``doc._.source["segmentation"]``, and the segmenter learns what is there.
"""

from collections import Counter
from pathlib import Path
from typing import Iterator, List, Sequence, Union

from spacy.tokens import Doc
from spacy.vocab import Vocab

from ..segmenter.contract import validate_analysis
from ..tokens import (
    COVERT_ARTICLE,
    PREFIX,
    Morpheme,
    is_trivial,
    segments,
    set_segment,
)
from .conllu import TreeSentence, TreeWord, read_conllu
from .iahlt import surface_analysis

CORPUS_NAME = "ud"
BORDERS_AND_ARTICLES = "borders+articles"
_ARTICLE = "PronType=Art"
_SENTENCES = 20


def make_ud_docs(
    vocab: Vocab, paths: Sequence[Union[str, Path]], counts: "Counter[str]"
) -> Iterator[Doc]:
    """Make Docs of other treebanks, each of some sentences in a row.

    vocab (Vocab): The vocabulary.
    paths (Sequence[Union[str, Path]]): CoNLL-U files.
    counts (Counter[str]): Gets the counts.
    YIELDS (Doc): The documents, with segments and covert articles.
    RAISES (CorpusError): If a file has to be put right first.
    """
    for path in paths:
        sentences = read_conllu(path)
        for i in range(0, len(sentences), _SENTENCES):
            part = sentences[i : i + _SENTENCES]
            counts["documents"] += 1
            counts["sentences"] += len(part)
            yield _make_doc(vocab, part, f"{Path(path).stem}:{part[0].sent_id}", counts)


def _make_doc(
    vocab: Vocab, sentences: Sequence[TreeSentence], name: str, counts: "Counter[str]"
) -> Doc:
    texts: List[str] = []
    spaces: List[bool] = []
    starts: List[Union[bool, int, None]] = []
    rows = []
    for sentence in sentences:
        first = len(texts)
        for word in sentence.words:
            analysis = _analysis(sentence, word)
            validate_analysis(word.text, analysis)
            found = segments(word.text, analysis)
            for segment in found:
                texts.append(segment.text)
                spaces.append(False)
                rows.append(
                    None if is_trivial(word.text, analysis) else (segment, word.text)
                )
            spaces[-1] = word.space_after
            counts["words"] += 1
            counts["covert_articles"] += any(m.form == COVERT_ARTICLE for m in analysis)
        spaces[-1] = True
        starts += [i == first for i in range(first, len(texts))]
    spaces[-1] = False
    doc = Doc(vocab, words=texts, spaces=spaces, sent_starts=starts)
    for token, row in zip(doc, rows, strict=True):
        if row is not None:
            set_segment(doc, token.idx, row[0], len(row[1]))
    counts["tokens"] += len(doc)
    doc._.source = {
        "corpus": CORPUS_NAME,
        "id": name,
        "segmentation": BORDERS_AND_ARTICLES,
    }
    return doc


def _analysis(sentence: TreeSentence, word: TreeWord) -> Sequence[Morpheme]:
    nodes = sentence.nodes[word.start : word.end]
    pieces = [node.form for node in nodes]
    if "".join(pieces) != word.text:
        # A few words are spelled in another way than their parts; leave them whole.
        pieces = [word.text]
    analysis = surface_analysis(pieces)
    if len(analysis) == 1 or len(pieces) != len(nodes):
        return analysis
    output: List[Morpheme] = []
    for node, morpheme in zip(nodes, analysis, strict=True):
        output.append(morpheme)
        if node.upos == "ADP" and _ARTICLE in node.feats and morpheme.kind == PREFIX:
            output.append(Morpheme(COVERT_ARTICLE, None, None, PREFIX))
    return output
