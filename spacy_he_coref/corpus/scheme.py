"""From the scheme of newer Hebrew treebanks to that of HTB and KibutzR.

The treebanks of IAHLT follow newer guidelines of Universal Dependencies than the
treebank that KibutzR is built on. Each rule here is a difference that is
systematic: it was read off the counts of both sides (the same words and
constructions), and the treebank's own two versions of its dev sentences. What HTB
has no counterpart for gets its relation for the rest, ``dep``, and tags that would
be wrong are left out.
"""

from typing import Callable, Dict, List, Mapping, Optional, Sequence, Tuple

from .conllu import TreeNode

Feats = Dict[str, str]

# Relations that only have another name or fewer kinds. The label is the one that
# is left after the rules for single words.
_RELATIONS: Mapping[str, str] = {
    "compound": "compound:smixut",
    "flat": "flat:name",
    "nsubj:pass": "nsubj",
    "nmod:unmarked": "nummod",
    "obl:unmarked": "dep",
    "csubj": "dep",
    "csubj:pass": "dep",
    "csubj:outer": "dep",
    "nsubj:outer": "dislocated",
    "vocative": "dep",
    "orphan": "dep",
    "reparandum": "dep",
    "discourse": "dep",
    "list": "dep",
    "iobj": "obl",
    "expl": "dep",
}
_CLAUSES = frozenset({"csubj", "csubj:pass", "xcomp", "ccomp"})
_NOMINAL = frozenset({"NOUN", "PROPN", "PRON", "NUM"})
# Particles that HTB hangs on the preposition, or as det on the noun, after them.
_FOCUS = frozenset({
    "גם", "רק", "אפילו", "אף", "דווקא", "כמעט", "בעיקר", "במיוחד", "לפחות", "הן", "כן",
    "עוד",
})  # fmt: skip
_DEMONSTRATIVES = frozenset({"זה", "זו", "זאת", "אלה", "אלו", "הללו"})
_INTERROGATIVES = frozenset({"מה", "מי"})
_QUANTIFIERS = frozenset({
    "כל", "כמה", "הרבה", "רוב", "שום", "מעט", "איזה", "אילו", "מספר", "מרבית", "אף",
})  # fmt: skip
_TENS = frozenset({
    "עשרים", "שלושים", "ארבעים", "חמישים", "שישים", "ששים", "שבעים", "שמונים",
    "תשעים",
})  # fmt: skip
_MONTHS = frozenset({
    "ינואר", "פברואר", "מרץ", "מרס", "אפריל", "מאי", "יוני", "יולי", "אוגוסט",
    "ספטמבר", "אוקטובר", "נובמבר", "דצמבר",
})  # fmt: skip
# Prepositions that HTB calls CCONJ.
_CONJUNCTIONS = frozenset({
    "עקב", "בניגוד", "מאשר", "כאילו", "מאחר", "היות", "לרבות", "חרף", "מחמת", "למעט",
})  # fmt: skip
# Conjunctions that HTB calls ADP.
_PREPOSITIONS = frozenset({"כדי", "במקום", "בשביל", "עם", "ב", "מ", "כ"})
# Conjunctions that are mark before an infinitive too.
_MARKS = frozenset({"ש", "ה", "כי", "אם", "כאשר"})
# Words that are case before ש, which then is the mark of the clause.
_CASE_BEFORE_SHE = frozenset({
    "לאחר", "כיוון", "מכיוון", "בעוד", "כמו", "בלי", "מבלי", "תוך",
})  # fmt: skip
# Modal words by their features in HTB: none, those of an adjective, or, for a few
# adjectives, a past tense that only its converter knows why.
_BARE_MODALS = frozenset(
    {"אפשר", "יש", "אין", "אסור", "כדאי", "מותר", "מוטב", "ייתכן", "יתכן"}
)
_PAST_MODALS = frozenset({"קשה", "צפוי", "קל", "סביר", "עתיד", "מעוניין", "עדיף"})
# Modals without an infinitive too.
_ALWAYS_MODAL = frozenset({"אפשר", "ייתכן", "יתכן", "מוטב"})
_MODALS = frozenset({
    "צריך", "עלול", "אמור", "חייב", "חשוב", "עשוי", "מוכן", "ראוי", "מסוגל", "רשאי",
    "זקוק", "זכאי", "רצוי", "מוכרח", "יכול", "ניתן",
})  # fmt: skip
_MODAL_FORMS: Mapping[str, str] = {"ניתן": "ניתן", "ניתנת": "ניתן", "ניתנים": "ניתן"}
_VOICES: Mapping[str, Optional[str]] = {
    "PAAL": "Act",
    "PIEL": "Act",
    "HIFIL": "Act",
    "NIFAL": "Mid",
    "PUAL": "Pass",
    "HUFAL": "Pass",
    "HITPAEL": None,
}
_PLURALS = ("ים", "יים", "ות", "פי", "ני", "תי", "די")


class _Node:
    """A morpheme while the rules work on it."""

    def __init__(self, index: int, node: TreeNode) -> None:
        self.index = index
        self.form = node.form
        self.lemma = "" if node.lemma == "_" else node.lemma
        self.upos = node.upos
        self.feats: Feats = parse_feats(node.feats)
        self.head = node.head
        self.deprel = node.deprel
        # Whether the part of speech and the features are known.
        self.tagged = True

    def untag(self) -> None:
        self.tagged = False

    def is_modal(self) -> bool:
        return (
            self.form in _MODAL_FORMS
            or self.lemma in _MODALS | _BARE_MODALS | _PAST_MODALS
        )


class _Tree:
    """A sentence while the rules work on it; heads count from 1."""

    def __init__(self, nodes: Sequence[TreeNode]) -> None:
        self.nodes = [_Node(i, node) for i, node in enumerate(nodes, start=1)]

    def __getitem__(self, index: int) -> _Node:
        return self.nodes[index - 1]

    def head(self, node: _Node) -> Optional[_Node]:
        return self[node.head] if node.head else None

    def before(self, node: _Node) -> Optional[_Node]:
        return self[node.index - 1] if node.index > 1 else None

    def after(self, node: _Node) -> Optional[_Node]:
        return self[node.index + 1] if node.index < len(self.nodes) else None

    def children(self, node: _Node) -> List[_Node]:
        return [child for child in self.nodes if child.head == node.index]

    def edges(self) -> Tuple[List[int], List[int]]:
        """First and last morpheme under each one, without punctuation."""
        left = list(range(len(self.nodes) + 1))
        right = list(left)
        for node in self.nodes:
            if node.upos == "PUNCT":
                continue
            up = node.index
            while up:
                left[up] = min(left[up], node.index)
                right[up] = max(right[up], node.index)
                up = self[up].head
        return left, right


def parse_feats(column: str) -> Feats:
    """Read the features of a CoNLL-U line.

    column (str): The column, ``_`` or empty if there are none.
    RETURNS (Dict[str, str]): Value of each feature.
    """
    pairs = (item.partition("=") for item in column.split("|") if item not in ("", "_"))
    return {name: value for name, _, value in pairs}


def format_feats(feats: Mapping[str, str]) -> str:
    """Write features as a CoNLL-U column.

    feats (Mapping[str, str]): Value of each feature.
    RETURNS (str): The column, empty if there are none.
    """
    return "|".join(f"{name}={feats[name]}" for name in sorted(feats))


def to_htb(nodes: Sequence[TreeNode]) -> List[TreeNode]:
    """Convert a tree of a newer Hebrew treebank to the scheme of HTB.

    nodes (Sequence[TreeNode]): The morphemes of a sentence. A covert article is
        a feature of the preposition, clitics are given by their letters.
    RETURNS (List[TreeNode]): As many morphemes. The host after a covert article
        is definite. The part of speech and the features are empty where the value
        of HTB is not known, features and lemma are empty where there are none.
    """
    tree = _Tree(nodes)
    for rule in _RULES:
        rule(tree)
    return [
        original._replace(
            lemma=node.lemma,
            upos=node.upos if node.tagged else "",
            feats=format_feats(node.feats) if node.tagged else "",
            head=node.head,
            deprel=node.deprel,
        )
        for original, node in zip(nodes, tree.nodes, strict=True)
    ]


# Trees. These rules still see the parts of speech of the newer scheme.


def _split_off_modals(tree: _Tree) -> None:
    """A modal is aux of its infinitive, but keeps the words around both.

    ``אפשר`` with an infinitive as its subject trades places with it. An aux takes
    over what stands before the infinitive, and the sentence's punctuation,
    coordinated and adjoined clauses after it.
    """
    for node in tree.nodes:
        verb = tree.head(node)
        if node.deprel == "aux" and verb is not None and node.index < verb.index:
            if node.lemma in ("אינו", "איננו", "היה"):
                continue
            for other in tree.children(verb):
                clause = other.deprel in ("conj", "parataxis", "advcl", "punct")
                infinitive = other.feats.get("VerbForm") == "Inf"
                moved = other.index < verb.index or (clause and not infinitive)
                if moved and other.deprel != "aux":
                    other.head = node.index
        elif node.is_modal() and node.upos != "AUX":
            for child in tree.children(node):
                if (
                    child.deprel in _CLAUSES
                    and child.index > node.index
                    and child.feats.get("VerbForm") == "Inf"
                ):
                    child.head, child.deprel = node.head, node.deprel
                    node.head, node.deprel = child.index, "aux"
                    node.upos = "AUX"
                    break


def _modal_negation_and_copula(tree: _Tree) -> None:
    """אינו is advmod, and היה beside a verb is cop; of a modal if there is one."""
    for node in tree.nodes:
        if node.lemma in ("אינו", "איננו") and node.deprel in ("aux", "cop"):
            node.deprel = "advmod"
        elif node.lemma == "היה" and node.deprel == "aux":
            node.deprel = "cop"
        else:
            continue
        for other in tree.nodes:
            if other.head == node.head and other.deprel == "aux" and other.is_modal():
                node.head = other.index


def _dates(tree: _Tree) -> None:
    """The year belongs to the month, and the month is obl of the day."""
    for node in tree.nodes:
        before = tree.before(node)
        if before is None or before.form not in _MONTHS:
            continue
        if node.upos == "NUM" and node.deprel in ("nmod:unmarked", "obl:unmarked"):
            if before.head != node.index:
                node.head = before.index
                node.deprel = "nummod"
    for node in tree.nodes:
        head = tree.head(node)
        if node.form in _MONTHS and head and head.upos == "NUM":
            if node.deprel == "nmod":
                node.deprel = "obl"


def _particles(tree: _Tree) -> None:
    """Particles hang on the preposition after them, or are det of the noun.

    The same holds for כ before a measure, which is det of what is counted.
    """
    for node in tree.nodes:
        after, head = tree.after(node), tree.head(node)
        if after is None or head is None or node.deprel != "advmod":
            continue
        if node.form == "כ" and head.upos in ("NUM", "NOUN"):
            node.upos, node.deprel = "ADP", "det"
            if head.deprel == "nummod" and head.head:
                node.head = head.head
        elif node.form in _FOCUS and head.index > node.index:
            if after.upos == "ADP":
                node.head = after.index
            elif head.upos in _NOMINAL:
                node.deprel = "det"
        elif node.form == "לא" and after.upos == "ADP" and head.index > after.index:
            node.head = after.index


def _names(tree: _Tree) -> None:
    """A name after a title is flat:name: ``ח"כ כהן``, ``שר ה אוצר כהן``, no comma."""
    for node in tree.nodes:
        head = tree.head(node)
        if node.upos != "PROPN" or node.deprel != "appos":
            continue
        if head is None or head.upos != "NOUN" or head.index > node.index:
            continue
        between = tree.nodes[head.index : node.index - 1]
        if not between:
            node.deprel = "flat:name"
        elif any(other.deprel == "compound" for other in between) and not any(
            other.upos in ("PUNCT", "PRON", "ADP") for other in between
        ):
            node.deprel = "flat:name"


def _hyphens(tree: _Tree) -> None:
    """A hyphen after a prefix is fixed, in a name flat:name, after an affix punct."""
    for node in tree.nodes:
        before, after = tree.before(node), tree.after(node)
        if node.form not in ("-", "־") or node.upos != "PUNCT":
            continue
        if before is None or after is None:
            continue
        if before.upos == "ADP" and after.upos in ("NOUN", "PROPN"):
            node.head, node.deprel = before.index, "fixed"
        elif before.upos == "ADP" and after.upos == "NUM" and before.head:
            node.head = before.head
        elif before.deprel == "compound:affix" or before.upos in ("ADV", "DET"):
            node.head = after.index
        elif before.upos == after.upos == "PROPN" and after.deprel == "flat":
            node.head = before.head if before.deprel == "flat" else before.index
            node.deprel = "flat:name"
        elif after.deprel == "compound" and after.head == before.index:
            node.head = before.index
            if before.upos == after.upos == "PROPN":
                node.deprel, after.deprel = "flat:name", "flat"


def _commas(tree: _Tree) -> None:
    """A comma or colon hangs on the lowest morpheme whose tree is on both sides.

    True of nine in ten commas of HTB; newer guidelines hang it on one side.
    """
    left, _ = tree.edges()
    for node in tree.nodes:
        if node.form not in (",", ":") or node.deprel != "punct":
            continue
        right = next((n for n in tree.nodes[node.index :] if n.upos != "PUNCT"), None)
        if right is None:
            continue
        head = tree.head(right)
        while head is not None and left[right.index] > node.index:
            right, head = head, tree.head(head)
        if right.upos != "PUNCT" and right is not node:
            node.head = right.index


def _single_words(tree: _Tree) -> None:
    """Relations that HTB gives by the word."""
    for node in tree.nodes:
        head = tree.head(node)
        if node.deprel == "det" and _is_article(node):
            node.deprel = "det:def"
        elif node.deprel == "case" and node.lemma == "של":
            node.deprel = "case:gen"
        elif node.deprel == "case" and node.lemma == "את":
            # The other את is that of איתו, with him.
            accusative = node.feats.get("Case") == "Acc"
            if accusative or head is None or head.deprel not in ("obl", "nmod"):
                node.deprel = "case:acc"
        elif node.deprel == "mark" and node.form in ("האם", "שמא"):
            node.deprel = "mark:q"
        elif node.deprel == "mark" and head is not None:
            if head.feats.get("VerbForm") == "Inf" and node.form not in _MARKS:
                node.deprel = "case"
            after = tree.after(node)
            if after is None or after.form != "ש" or after.deprel != "fixed":
                continue
            if node.form in _CASE_BEFORE_SHE and after.head == node.index:
                node.deprel = "case"
                after.head, after.deprel = node.head, "mark"


def _possession(tree: _Tree) -> None:
    """A phrase with של after an adjective or demonstrative is nmod.

    Not so if there is a possessive clitic too (``בית|ו ה חדש של ה נגר``).
    """
    for node in tree.nodes:
        head = tree.head(node)
        genitive = any(c.deprel == "case:gen" for c in tree.children(node))
        if node.deprel != "nmod:poss" or not genitive or head is None:
            continue
        between = {
            other.deprel
            for other in tree.children(head)
            if head.index < other.index < node.index
        }
        if between & {"amod", "det"} and "nmod:poss" not in between:
            node.deprel = "nmod"


def _copulas(tree: _Tree) -> None:
    """The subject beside a pronoun as copula is nsubj:cop, if not a pronoun."""
    for node in tree.nodes:
        if node.deprel != "cop" or node.upos != "PRON" or node.form in _DEMONSTRATIVES:
            continue
        for other in tree.nodes:
            if other.head == node.head and other.deprel in ("nsubj", "nsubj:outer"):
                if other.upos != "PRON":
                    other.deprel = "nsubj:cop"


def _other_relations(tree: _Tree) -> None:
    """Relations of another name, and those without a counterpart."""
    for node in tree.nodes:
        if node.deprel == "flat" and node.upos == "X":
            node.deprel = "dep"
        elif node.deprel == "nmod:unmarked" and node.upos != "NUM":
            node.deprel = "dep"
        else:
            node.deprel = _RELATIONS.get(node.deprel, node.deprel)


# Tags and features.


def _is_article(node: _Node) -> bool:
    return node.upos == "DET" and node.feats.get("PronType") == "Art"


def _articles(tree: _Tree) -> None:
    """A covert article, on the preposition, makes the host definite."""
    for node in tree.nodes:
        if node.upos == "ADP" and node.feats.pop("PronType", None) == "Art":
            node.feats.pop("Definite", None)
            after = tree.after(node)
            while after is not None and after.upos == "PUNCT":
                after = tree.after(after)
            if after is not None:
                after.feats.setdefault("Definite", "Def")
        elif _is_article(node):
            node.feats = {"PronType": "Art"}


def _pronouns(tree: _Tree) -> None:
    for node in tree.nodes:
        if node.upos != "PRON":
            continue
        feats = node.feats
        before = tree.before(node)
        if node.form in _INTERROGATIVES:
            node.upos, node.feats = "ADV", {"PronType": "Int"}
            node.lemma = node.form
        elif feats.get("PronType") == "Dem" or node.form in ("כך", "כן", "זה"):
            node.lemma = node.form
            if node.form in ("כך", "כן"):
                node.feats = {"Person": "3", "PronType": "Dem"}
            elif node.form == "אלו":
                feats["Gender"] = "Fem,Masc"
            elif node.form == "זה" and node.deprel != "det":
                feats.pop("PronType", None)
        elif node.deprel == "cop" and node.lemma == "הוא" and "Person" in feats:
            node.upos = "AUX"
            node.feats = _only(feats, "Gender", "Number", "Person")
            node.feats.update(Polarity="Pos", VerbForm="Part", VerbType="Cop")
        elif (
            "Person" not in feats
            or "PronType" in feats
            and (feats["PronType"] not in ("Prs", "Emp"))
        ):
            node.untag()
        else:
            personal = _only(feats, "Gender", "Number", "Person", "Reflex")
            if personal["Person"] == "1":
                personal["Gender"] = "Fem,Masc"
            if "Gender" not in personal or "Number" not in personal:
                node.untag()
            emphatic = "Reflex" in feats and node.deprel == "nmod"
            personal["PronType"] = "Emp" if emphatic else "Prs"
            if node.deprel == "det":
                personal["Definite"] = "Def"
            else:
                personal.update(_only(feats, "Case"))
                if feats.get("Poss") == "Yes" and before and before.upos == "NOUN":
                    before.feats["Definite"] = "Def"
            node.feats = personal


def _verbs(tree: _Tree) -> None:
    for node in tree.nodes:
        if node.form in _ALWAYS_MODAL or node.lemma == "צריך":
            node.upos = "AUX"
        if node.upos != "VERB":
            continue
        feats = node.feats
        if node.lemma in ("יש", "אין"):
            node.feats = {"HebExistential": "True"}
            if node.form not in ("יש", "אין"):
                node.untag()
            continue
        binyan = feats.get("HebBinyan")
        infinitive = feats.get("VerbForm") == "Inf"
        existential: Feats = {}
        if node.lemma == "היה":
            feats.pop("HebBinyan", None)
            feats.pop("Voice", None)
            if infinitive:
                node.upos = "AUX"
                continue
            existential = {"HebExistential": "True", "Polarity": "Pos"}
        elif binyan is None or binyan not in _VOICES:
            node.untag()
        elif binyan == "PAAL" and feats.get("Voice") == "Pass":
            node.untag()
        else:
            voice = _VOICES[binyan]
            feats.pop("Voice", None)
            if voice is not None:
                feats["Voice"] = voice
        for name in ("Polarity", "Aspect", "VerbType", "ExtPos", "Typo"):
            feats.pop(name, None)
        if feats.get("Mood") != "Imp":
            feats.pop("Mood", None)
        _finite(feats)
        feats.update(existential)
        if not infinitive and ("Gender" not in feats or "Person" not in feats):
            node.untag()


def _finite(feats: Feats) -> None:
    """Person of a participle, and gender where the form does not tell it."""
    if feats.get("VerbForm") == "Part" or feats.get("Tense") == "Pres":
        feats.pop("Tense", None)
        feats.update(Person="1,2,3", VerbForm="Part")
    elif feats.get("VerbForm") != "Inf":
        plural = feats.get("Number") == "Plur"
        past_you = feats.get("Tense") == "Past" and feats.get("Person") == "2"
        if feats.get("Person") == "1" or plural and not past_you:
            feats["Gender"] = "Fem,Masc"
        elif past_you and not plural:
            feats["Gender"] = "Masc"


def _auxiliaries(tree: _Tree) -> None:
    for node in tree.nodes:
        if (
            node.upos != "AUX"
            or node.feats.get("VerbType") == "Cop"
            and (node.lemma == "הוא")
        ):
            continue
        feats = node.feats
        if node.lemma == "היה":
            node.feats = _only(
                feats, "Gender", "Mood", "Number", "Person", "Tense", "VerbForm"
            )
            node.feats.update(Polarity="Pos", VerbType="Cop")
            if node.feats.get("Mood") != "Imp":
                node.feats.pop("Mood", None)
            _finite(node.feats)
        elif node.lemma in ("אינו", "איננו"):
            if feats.get("Person", "3") != "3":
                node.untag()
            node.feats = _only(feats, "Gender", "Number")
            node.feats.update(
                Person="3", Polarity="Neg", VerbForm="Part", VerbType="Cop"
            )
            node.lemma = "אינו"
        else:
            _modal_tags(node)


def _modal_tags(node: _Node) -> None:
    if node.lemma == "יכל":
        node.lemma = "יכול"
    lemma = _MODAL_FORMS.get(node.form, node.lemma)
    if node.feats.get("Tense") in ("Past", "Fut"):
        node.untag()
    agreement = _only(node.feats, "Gender", "Number")
    node.feats = {"VerbType": "Mod"}
    if lemma in _BARE_MODALS:
        if node.form != lemma:
            node.untag()
    elif lemma in _PAST_MODALS:
        node.feats.update(Gender="Masc", Number="Sing", Tense="Past")
        if node.form != lemma:
            node.untag()
    else:
        node.lemma = lemma
        if len(agreement) < 2:
            node.untag()
        node.feats.update(agreement, Person="1,2,3")
        if lemma == "יכול":
            node.feats["VerbForm"] = "Part"


def _numbers(tree: _Tree) -> None:
    """Numerals have a number; ordinals from the second on are numerals."""
    for node in tree.nodes:
        ordinal = node.feats.pop("NumType", None) == "Ord"
        ordinal = ordinal or node.lemma == "שני"
        if node.upos == "ADJ" and ordinal and node.lemma != "ראשון":
            node.upos, node.lemma = "NUM", node.form
        elif node.upos == "NUM":
            node.lemma = node.form
            if not node.form.isalpha():
                node.feats = _only(node.feats, "Definite")
            elif node.form in _TENS:
                node.feats.update(Gender="Fem,Masc", Number="Sing")
            elif node.deprel == "amod" and "Number" in node.feats:
                continue
            elif "Gender" not in node.feats:
                node.untag()
            else:
                plural = node.form.endswith(_PLURALS)
                node.feats["Number"] = "Plur" if plural else "Sing"
                if node.form in ("שני", "שתי"):
                    node.feats["Definite"] = "Cons"


def _nominals(tree: _Tree) -> None:
    for node in tree.nodes:
        for name in ("ExtPos", "Typo"):
            node.feats.pop(name, None)
        head = tree.head(node)
        if node.upos == "PROPN":
            # HTB tags the words of such a name as what they are outside it.
            inside = node.deprel == "compound:smixut" and head is not None
            if node.feats.get("Definite") == "Cons" or (
                inside and head is not None and head.upos == "PROPN"
            ):
                node.untag()
            node.feats = _only(node.feats, "Abbr", "Definite")
        elif node.form == "%":
            node.upos, node.lemma = "NOUN", "%"
            node.feats = {"Gender": "Masc", "Number": "Plur,Sing"}
        elif node.upos in ("SYM", "X"):
            node.untag()


def _function_words(tree: _Tree) -> None:
    for node in tree.nodes:
        if node.upos == "DET" and not _is_article(node):
            if node.form in ("עוד", "מדי"):
                node.upos, node.feats = "ADV", {}
            elif node.form == "כול":
                node.upos, node.feats = "NOUN", {"Gender": "Masc", "Number": "Sing"}
            elif node.form in _QUANTIFIERS:
                node.feats = {"Definite": "Cons"}
            else:
                node.untag()
        elif node.upos in ("ADP", "SCONJ"):
            node.feats = _only(node.feats, "Abbr")
            if node.form in _PREPOSITIONS:
                node.upos = "ADP"
            elif node.form in _CONJUNCTIONS:
                node.upos = "CCONJ"
            elif node.form == "האם":
                node.upos = "ADV"
            elif node.form == "כש":
                node.feats["Case"] = "Tem"
            elif node.form == "של":
                node.feats["Case"] = "Gen"
            elif node.deprel == "case:acc":
                node.feats["Case"] = "Acc"
        if node.upos == "ADV":
            if node.form == "האם" or node.feats.get("PronType") == "Rel":
                node.feats = {"PronType": "Int"}
            if node.deprel == "compound:affix" or node.form == "אי":
                node.feats = {"Prefix": "Yes"}


def _only(feats: Mapping[str, str], *names: str) -> Feats:
    return {name: feats[name] for name in names if name in feats}


_RULES: Tuple[Callable[[_Tree], None], ...] = (
    _split_off_modals,
    _modal_negation_and_copula,
    _dates,
    _particles,
    _names,
    _hyphens,
    _commas,
    _single_words,
    _possession,
    _copulas,
    _other_relations,
    _articles,
    _pronouns,
    _verbs,
    _auxiliaries,
    _numbers,
    _nominals,
    _function_words,
)
