"""Other Hebrew treebanks, for their segmentation and their trees.

The treebanks of IAHLT (Wikipedia, parliament) annotate the borders of segments
and, as a feature of the preposition, the covert article; hosts and suffixes are
given by their letters, without base forms. Their Docs say so in
``doc._.source["segmentation"]``, and the segmenter learns what is there. Their
tags and trees are converted to the scheme of HTB (``corpus.scheme``), which
``doc._.source["scheme"]`` says.
"""

from collections import Counter
from pathlib import Path
from typing import Iterator, List, Sequence, Union

from spacy.tokens import Doc
from spacy.vocab import Vocab

from ..segmenter.contract import validate_analysis
from ..tokens import (
    CLITIC,
    COVERT_ARTICLE,
    PREFIX,
    Morpheme,
    is_trivial,
    segments,
)
from .conllu import TreeNode, TreeSentence, TreeWord, read_conllu
from .docs import ROOT, TokenColumns
from .iahlt import surface_analysis
from .letters import bare
from .scheme import to_htb

CORPUS_NAME = "ud"
BORDERS_AND_ARTICLES = "borders+articles"
# Tags and trees of the newer guidelines, converted by rule.
CONVERTED = "htb-converted"
_ARTICLE = "PronType=Art"
_SENTENCES = 20


def make_ud_docs(
    vocab: Vocab, paths: Sequence[Union[str, Path]], counts: "Counter[str]"
) -> Iterator[Doc]:
    """Make Docs of other treebanks, each of some sentences in a row.

    vocab (Vocab): The vocabulary.
    paths (Sequence[Union[str, Path]]): CoNLL-U files.
    counts (Counter[str]): Gets the counts.
    YIELDS (Doc): The documents, with segments, covert articles, tags, features,
        lemmas and trees. A token whose value in HTB is not known has neither part
        of speech nor features, or no lemma.
    RAISES (CorpusError): If a file has to be put right first.
    """
    for path in paths:
        sentences = read_conllu(path)
        for i in range(0, len(sentences), _SENTENCES):
            part = sentences[i : i + _SENTENCES]
            counts["documents"] += 1
            counts["sentences"] += len(part)
            yield _make_doc(vocab, part, f"{Path(path).stem}:{part[0].sent_id}", counts)


class _Tokens(TokenColumns):
    def add(self, sentence: TreeSentence, counts: "Counter[str]") -> None:
        """Add the tokens of a sentence.

        sentence (TreeSentence): The sentence.
        counts (Counter[str]): Gets the counts.
        """
        nodes = to_htb(sentence.nodes)
        first = len(self.words)
        # The morphemes of each token, and back.
        members: List[List[int]] = []
        token_of: List[int] = []
        for word in sentence.words:
            analysis = _analysis(sentence, word)
            validate_analysis(word.text, analysis)
            trivial = is_trivial(word.text, analysis)
            pieces = segments(word.text, analysis)
            inside = list(range(word.start, word.end))
            if len(pieces) == len(inside):
                members += [[i] for i in inside]
            else:
                members.append(inside)
                counts["words_left_whole"] += 1
            for piece in pieces:
                if not trivial:
                    self.segments.append((len(self.words), piece, len(word.text)))
                if piece.kind == CLITIC:
                    norm = bare(piece.morphemes[piece.written])
                    self.norms.append((len(self.words), norm))
                self.words.append(piece.text)
                self.spaces.append(False)
            self.spaces[-1] = word.space_after
            counts["words"] += 1
            counts["covert_articles"] += any(m.form == COVERT_ARTICLE for m in analysis)
        self.spaces[-1] = True
        for token, inside in enumerate(members):
            token_of += [token] * len(inside)
        for inside in members:
            self._add_node(nodes, inside, token_of, first)
        counts["tokens_untagged"] += sum(not pos for pos in self.pos[first:])

    def _add_node(
        self,
        nodes: Sequence[TreeNode],
        inside: Sequence[int],
        token_of: Sequence[int],
        first: int,
    ) -> None:
        # Of the morphemes of a word left whole, the one nearest to the root hangs on
        # another word, and makes no cycle.
        node = nodes[min(inside, key=lambda i: _depth(nodes, i))]
        token = token_of[inside[0]]
        single = len(inside) == 1
        self.lemmas.append(node.lemma if single else "")
        self.pos.append(node.upos if single else "")
        self.feats.append(node.feats if single else "")
        self.heads.append(first + (token_of[node.head - 1] if node.head else token))
        self.deps.append(node.deprel if node.head else ROOT)


def _depth(nodes: Sequence[TreeNode], i: int) -> int:
    depth = 0
    while nodes[i].head:
        i = nodes[i].head - 1
        depth += 1
    return depth


def _make_doc(
    vocab: Vocab, sentences: Sequence[TreeSentence], name: str, counts: "Counter[str]"
) -> Doc:
    tokens = _Tokens()
    for sentence in sentences:
        tokens.add(sentence, counts)
    tokens.spaces[-1] = False
    doc = tokens.make_doc(vocab)
    for token in doc:
        if not token.pos:
            # Missing; an empty string would be the value of having no features.
            token.set_morph(None)  # type: ignore[attr-defined]
    counts["tokens"] += len(doc)
    doc._.source = {
        "corpus": CORPUS_NAME,
        "id": name,
        "segmentation": BORDERS_AND_ARTICLES,
        "scheme": CONVERTED,
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
