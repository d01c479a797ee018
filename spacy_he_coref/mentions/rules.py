"""Mention candidates from tags, trees and the morpheme layer (paper, Appendix A).

A mention is found in three steps, each made of small rules with the section of the
annotation guidelines that they implement:

1. *Heads*: is this token the head of a phrase that can refer (``HEADS``), and does
   nothing speak against it (``EXCLUSIONS``)?
2. *Bounds*: the phrase grows from the head over the subtrees of dependents that
   belong to it, to the left and to the right, and stops at the first that does not;
   quotation marks and brackets are then made symmetric.
3. *Variants*: shorter phrases of the same head that are mentions of their own: the
   first conjunct, what an apposition explains, what a quantifier counts.

Every rule has the first setting (``precision``, ``balanced``, ``recall``) in which it
adds candidates, every exclusion the last one in which it takes some away. The rules
look at relations of the Hebrew treebank (``compound:smixut``, ``nmod:poss``, ...) and
never need a correct tree: a relation that is missing or wrong costs a candidate, no
error. There is nothing learned and no order of chance in it: the same Doc gives the
same mentions.
"""

from typing import (
    Callable,
    Dict,
    FrozenSet,
    Iterator,
    List,
    NamedTuple,
    Optional,
    Set,
    Tuple,
)

from spacy.tokens import Doc

from ..segmenter.letters import describe_doc
from .lexicon import Lexicon
from .tree import CLOSING, OPENING, QUOTES, Tree

PRECISION = "precision"
BALANCED = "balanced"
RECALL = "recall"
# Each setting has all candidates of the one before it.
SETTINGS = (PRECISION, BALANCED, RECALL)

# Relations of what has a place in a clause or phrase of its own.
_ARGUMENTS = frozenset(
    ("nsubj", "nsubj:cop", "obj", "obl", "nmod", "nmod:poss", "compound:smixut")
)
# A head with one of these among its dependents is a predicate.
_CLAUSE = ("nsubj", "nsubj:cop", "cop")
_MARKERS = frozenset(("case", "case:acc", "case:gen", "mark"))
# Relations that say nothing about what is inside a phrase.
_BARE = _MARKERS | {"det:def", "cc", "punct", ""}
# Dependents after the head that belong to its phrase (Appendix A; guidelines, "Noun
# Phrase", "Adjectives", "Verbs", "Possessive Expressions").
_INSIDE = frozenset(
    (
        "compound:smixut",
        "compound:affix",
        "nmod:poss",
        "nmod",
        "amod",
        "acl",
        "acl:relcl",
        "det",
        "det:def",
        "nummod",
        "flat:name",
        "fixed",
        "goeswith",
        "obl",
        "obj",
    )
)
_NOMINAL = frozenset(("NOUN", "PROPN", "NUM", "X", "ADJ"))
_OUT_OF = frozenset(("מ", "מן", "מבין", "מתוך", "של"))
_HYPHENS = "-־"


class Settings(NamedTuple):
    """What ``find_mentions`` looks for.

    setting (str): ``recall``, ``balanced`` (best F1) or ``precision``.
    lexicon (Lexicon): The closed lists.
    """

    setting: str = BALANCED
    lexicon: Lexicon = Lexicon()


class Candidate(NamedTuple):
    """A mention candidate and how it was found.

    start (int), end (int): First token and token after the last one.
    head (int): Token of its head.
    rule (str): Name of the rule that found it.
    """

    start: int
    end: int
    head: int
    rule: str


DEFAULT = Settings()


def find_mentions(doc: Doc, settings: Settings = DEFAULT) -> List[Tuple[int, int]]:
    """Find the mention candidates of a document.

    doc (Doc): A document with segments, tags, features and trees. Lemmas help.
    settings (Settings): What to look for.
    RETURNS (List[Tuple[int, int]]): First token and token after the last one of each
        candidate, in the order of the text, without doubles. An article that is not
        written is inside its token (``tokens.tokens_to_morphemes``).
    RAISES (ValueError): If the document has no tags or no trees, or if there is no
        such setting.
    """
    return [(c.start, c.end) for c in find_candidates(doc, settings)]


def find_candidates(doc: Doc, settings: Settings = DEFAULT) -> List[Candidate]:
    """Find the mention candidates of a document, with the rules that found them.

    doc (Doc): A document with segments, tags, features and trees. Lemmas help.
    settings (Settings): What to look for.
    RETURNS (List[Candidate]): The candidates in the order of the text; of several
        rules that find one span, the first.
    RAISES (ValueError): If the document has no tags or no trees, or if there is no
        such setting.
    """
    if settings.setting not in SETTINGS:
        raise ValueError(
            f"There is no setting {settings.setting!r} of the mention detector. "
            f"Choose one of: {', '.join(SETTINGS)}."
        )
    if not any("א" <= letter <= "ת" for letter in doc.text):
        return []
    _check_annotation(doc)
    context = _Context(Tree(doc), settings.lexicon, SETTINGS.index(settings.setting))
    found: Dict[Tuple[int, int], Candidate] = {}
    for candidate in _candidates(context):
        start, end = make_symmetric(context.tree, candidate.start, candidate.end)
        if start < end:
            found.setdefault((start, end), candidate._replace(start=start, end=end))
    return [found[span] for span in sorted(found)]


def _check_annotation(doc: Doc) -> None:
    # spaCy takes a tree without any relation label for none, and hides its heads.
    for attribute, what, component in (
        ("POS", "part-of-speech tags", "morphologizer"),
        ("DEP", "dependency trees", "parser"),
    ):
        if not doc.has_annotation(attribute):
            raise ValueError(
                f"Document {describe_doc(doc)} has no {what}, which the mention "
                f"detector needs. Add a {component!r} to the pipeline before "
                "'he_mentions'."
            )


class _Context:
    """A tree with what the rules ask about the whole document."""

    def __init__(self, tree: Tree, lexicon: Lexicon, level: int) -> None:
        self.tree = tree
        self.lexicon = lexicon
        self.level = level
        self.idioms = _find_expressions(tree, lexicon.idioms)
        self.pairs = _find_expressions(tree, lexicon.fixed_pairs)
        # The last adjective or possessor of each head.
        self.last_modifier: List[int] = [-1] * len(tree)
        for i, dep in enumerate(tree.dep):
            if dep in ("amod", "nmod:poss"):
                self.last_modifier[tree.head[i]] = i
        # Nouns and names that stand by themselves somewhere in the document.
        self.alone: Set[str] = {
            tree.key(i)
            for i in range(len(tree))
            if tree.pos[i] in ("NOUN", "PROPN")
            and tree.dep[i] not in ("compound:smixut", "flat:name", "fixed")
        }

    def listed(self, i: int, words: FrozenSet[str]) -> bool:
        return self.tree.text[i] in words or self.tree.lemma[i] in words


def _find_expressions(tree: Tree, expressions: FrozenSet[str]) -> Set[int]:
    by_first: Dict[str, List[List[str]]] = {}
    for expression in sorted(expressions):
        words = expression.split()
        by_first.setdefault(words[0], []).append(words)
    inside: Set[int] = set()
    for i, text in enumerate(tree.text):
        for words in by_first.get(text, ()):
            if tree.text[i : i + len(words)] == words:
                inside.update(range(i, i + len(words)))
    return inside


# 1. Heads


def noun_head(context: _Context, i: int) -> bool:
    """A noun (guidelines, "Noun Phrase", "Action Nouns")."""
    return context.tree.pos[i] == "NOUN"


def name_head(context: _Context, i: int) -> bool:
    """A proper noun (guidelines, "Proper Nouns")."""
    return context.tree.pos[i] == "PROPN"


def pronoun_head(context: _Context, i: int) -> bool:
    """A pronoun, also one at the end of a word (guidelines, "Mentions resulting
    from tokenization": of ביתו the ו alone is a mention beside the whole).
    """
    return context.tree.pos[i] == "PRON"


def number_head(context: _Context, i: int) -> bool:
    """A numeral that stands for a noun: it has a place in the clause (שלושה נפצעו)
    or counts out of a set (שלושה מהם) (guidelines, "Quantified Expressions").
    """
    tree = context.tree
    if tree.pos[i] != "NUM" or tree.dep[i] == "compound:smixut":
        return False
    if tree.dep[i] == "conj":
        return tree.pos[tree.head[i]] == "NUM"
    return tree.dep[i] in _ARGUMENTS or any(
        tree.dep[child] in ("nmod", "dep") and tree.text[tree.start[child]] in _OUT_OF
        for child in tree.after[i]
    )


def time_or_place_head(context: _Context, i: int) -> bool:
    """An adverb of time or place on the closed list (guidelines, "Adverbs")."""
    tree = context.tree
    return tree.pos[i] == "ADV" and tree.text[i] in context.lexicon.time_and_place


def vague_time_or_place_head(context: _Context, i: int) -> bool:
    """An adverb of time or place that annotators often left out (guidelines,
    "Adverbs": those not on the closed list are marked by hand).
    """
    tree = context.tree
    return tree.pos[i] == "ADV" and tree.text[i] in context.lexicon.vague_time_and_place


def free_relative_head(context: _Context, i: int) -> bool:
    """מה and מי with a relative clause, which together refer (מי שבא)
    (guidelines, "Verbs": clauses that describe are part of the mention).
    """
    tree = context.tree
    return (
        tree.pos[i] in ("ADV", "PRON", "DET")
        and tree.text[i] in ("מה", "מי")
        and tree.has(i, "acl:relcl", "acl")
    )


def construct_verb_head(context: _Context, i: int) -> bool:
    """A participle or adjective in construct state in the place of a noun (מחפשי
    העבודה) (Appendix A).
    """
    tree = context.tree
    return (
        tree.pos[i] in ("VERB", "ADJ")
        and tree.has(i, "compound:smixut")
        and (tree.dep[i] in _ARGUMENTS or tree.dep[i] == "conj")
        and not tree.has(i, *_CLAUSE)
    )


def nominalized_head(context: _Context, i: int) -> bool:
    """A participle or adjective in the place of a noun: the subject or object of a
    clause, or definite after a preposition (guidelines, "Adjectives" and "Verbs":
    otherwise they are no mentions).
    """
    tree = context.tree
    if tree.pos[i] not in ("VERB", "ADJ") or tree.has(i, *_CLAUSE):
        return False
    if tree.dep[i] in ("nsubj", "obj"):
        return True
    definite = tree.definite[i] or tree.has(i, "det:def")
    if tree.dep[i] == "nmod":
        return definite and tree.pos[i] == "VERB"
    return definite and tree.dep[i] in ("obl", "nmod:poss")


def indefinite_nominalized_head(context: _Context, i: int) -> bool:
    """A participle or adjective after a preposition (לחוסכים), more often a part of
    an expression than a mention.
    """
    tree = context.tree
    return (
        tree.pos[i] in ("VERB", "ADJ")
        and tree.dep[i] in ("obl", "nmod", "nmod:poss", "nsubj:cop")
        and not tree.has(i, *_CLAUSE)
    )


# What speaks against a head


def is_function_word(context: _Context, i: int) -> bool:
    """A determiner, copula or part of a fixed expression is no mention (guidelines,
    "Nested Demonstrative Pronouns", "Copula vs. Pronoun", "Idiomatic Phrases"); a
    noun of a fixed expression with a preposition of its own is one (סמוך ל**בית**).
    """
    tree = context.tree
    if tree.dep[i] == "fixed":
        return not (tree.head[i] < i and tree.has(i, "case"))
    return tree.dep[i] in ("det", "cop", "compound:affix") or tree.dep[i] in _MARKERS


def is_inside_name(context: _Context, i: int) -> bool:
    """Names are not split (guidelines, "Proper Nouns", "Names")."""
    return context.tree.dep[i] == "flat:name"


def is_second_of_construct(context: _Context, i: int) -> bool:
    """The second noun of a construct state of two words is no mention, as long as
    nothing is added to it (guidelines, "Construct-State Structures"), unless it
    refers (``refers_in_construct``).
    """
    tree = context.tree
    return (
        tree.dep[i] == "compound:smixut"
        and tree.pos[i] in ("NOUN", "NUM", "PROPN")
        and all(_adds_nothing(tree, child) for child in tree.children(i))
        and not refers_in_construct(context, i)
    )


def _adds_nothing(tree: Tree, i: int) -> bool:
    return tree.dep[i] in _BARE or tree.is_mark(i)


def refers_in_construct(context: _Context, i: int) -> bool:
    """The second noun of a construct state refers by itself in "possessive-like
    structures that are valid mentions" (guidelines; ממשלת ישראל is ה ממשלה של ישראל):
    a name or definite noun that also stands alone in the document, or what an action
    is done to. Not after a head that only says what kind of thing it is, nor if the
    construct state as a whole has an adjective or possessor.
    """
    tree = context.tree
    head = tree.head[i]
    if context.listed(head, context.lexicon.classifiers):
        return False
    if context.last_modifier[head] > i:
        return False
    if tree.pos[i] == "PROPN":
        return tree.key(i) in context.alone
    if tree.pos[i] != "NOUN" or not tree.has(i, "det:def"):
        return False
    return (
        _is_action_noun(tree.text[head])
        or tree.key(i) in context.alone
        or context.listed(head, context.lexicon.relations)
    )


def _is_action_noun(text: str) -> bool:
    """The construct form of the noun of a causative verb: הקמת, הודעת."""
    return (
        len(text) > 3 and text[0] == "ה" and text[-1] == "ת" and not text.endswith("ות")
    )


def is_hyphenated(context: _Context, i: int) -> bool:
    """The part of a compound with a hyphen, without spaces, that is not its head
    (guidelines, "Proper Nouns": not split).
    """
    tree = context.tree
    head = tree.head[i]
    if head > i:
        # An article may be between: פס־הייצור.
        second = i + 3 if tree.dep[min(i + 2, head)] == "det:def" else i + 2
        return head == second and _is_hyphen(tree, i + 1)
    start = tree.start[i]
    return head < start and start - head == 2 and _is_hyphen(tree, start - 1)


def _is_hyphen(tree: Tree, i: int) -> bool:
    return tree.text[i] in _HYPHENS and not tree.space[i] and not tree.space[i - 1]


def is_attribute(context: _Context, i: int) -> bool:
    """A noun that adds an attribute to another one is like an adjective: בן 20, בעל
    ותק, and nouns in the place of an adjective (guidelines, "Adjective vs. Mention").
    """
    tree = context.tree
    if tree.pos[i] != "NOUN":
        return False
    if tree.dep[i] == "amod":
        return True
    if tree.dep[i] == "acl":
        return tree.start[i] > 0 and not tree.is_mark(tree.start[i] - 1)
    if not context.listed(i, context.lexicon.attributes):
        return False
    return tree.dep[i] in ("appos", "dep", "advmod") or (
        tree.dep[i] == "nmod" and not tree.has(i, "case")
    )


def is_fraction(context: _Context, i: int) -> bool:
    """The half that is added to a number (שנה וחצי) (guidelines, "Units of
    Measure").
    """
    tree = context.tree
    return tree.dep[i] == "conj" and tree.text[i] in ("חצי", "רבע")


def is_in_institution(context: _Context, i: int) -> bool:
    """The fields in the name of an institution (משרד התעשייה והמסחר) (guidelines,
    "Proper Nouns").
    """
    tree = context.tree
    first = tree.head[i] if tree.dep[i] == "conj" else i
    return (
        tree.dep[first] == "compound:smixut"
        and context.listed(tree.head[first], context.lexicon.institutions)
        and all(
            _adds_nothing(tree, child) or tree.dep[child] == "conj"
            for child in tree.children(i)
        )
        and (first != i or tree.has(i, "conj"))
    )


def is_reflexive(context: _Context, i: int) -> bool:
    """עצמו after the noun that it stresses, and pronouns of adverbial expressions
    (guidelines, "Expletive (non-referential) pronouns").
    """
    tree = context.tree
    if tree.pos[i] != "PRON" or tree.clitic[i]:
        return False
    if tree.dep[i] in ("advmod", "dep"):
        return tree.text[i] in ("זה", "זאת", "כן")
    return tree.dep[i] == "nmod" and tree.text[i] in ("עצמו", "עצמה", "עצמם", "עצמן")


def is_title_name(context: _Context, i: int) -> bool:
    """A name after a title or kind without a comma is one mention with it (השר
    כהן, המלון "הים") (guidelines, "Proper Nouns": "this includes titles").
    """
    tree = context.tree
    start = tree.start[i]
    return (
        tree.dep[i] == "appos"
        and tree.pos[i] == "PROPN"
        and tree.head[i] < i
        and not any(
            tree.is_mark(k) and tree.text[k] not in QUOTES
            for k in range(max(start - 1, 0), i)
        )
    )


def is_bracketed_number(context: _Context, i: int) -> bool:
    """A number in brackets after a name: age, minute (guidelines, "Results and
    Additional Details": part of the mention).
    """
    tree = context.tree
    start = tree.start[i]
    return (
        tree.pos[i] == "NUM"
        and tree.dep[i] == "appos"
        and start > 0
        and (tree.text[start] in OPENING or tree.text[start - 1] in OPENING)
    )


def is_negated(context: _Context, i: int) -> bool:
    """An indefinite noun right after a negation refers to nothing (ללא ספק, אין מקום)
    (guidelines, "Negation").
    """
    tree = context.tree
    if tree.pos[i] != "NOUN" or tree.definite[i] or tree.has(i, "det:def", "nmod:poss"):
        return False
    return i > 0 and tree.text[i - 1] in context.lexicon.negations


def is_idiom(context: _Context, i: int) -> bool:
    """Idioms and their parts are no mentions (guidelines, "Idiomatic Phrases That
    Are Not Mentions").
    """
    return i in context.idioms


def is_in_pair(context: _Context, i: int) -> bool:
    """The second part of a coordination that is one word in meaning (משא ומתן)."""
    return context.tree.dep[i] == "conj" and i in context.pairs


Rule = Callable[[_Context, int], bool]

# With the first setting in which it adds candidates.
HEADS: Tuple[Tuple[Rule, str], ...] = (
    (noun_head, PRECISION),
    (name_head, PRECISION),
    (pronoun_head, PRECISION),
    (time_or_place_head, PRECISION),
    (free_relative_head, PRECISION),
    (number_head, BALANCED),
    (construct_verb_head, BALANCED),
    (nominalized_head, BALANCED),
    (vague_time_or_place_head, RECALL),
    (indefinite_nominalized_head, RECALL),
)
# With the last setting in which it takes candidates away.
EXCLUSIONS: Tuple[Tuple[Rule, str], ...] = (
    (is_function_word, RECALL),
    (is_inside_name, RECALL),
    (is_hyphenated, RECALL),
    (is_fraction, RECALL),
    (is_in_pair, RECALL),
    (is_second_of_construct, BALANCED),
    (is_attribute, BALANCED),
    (is_in_institution, BALANCED),
    (is_reflexive, BALANCED),
    (is_title_name, BALANCED),
    (is_bracketed_number, BALANCED),
    (is_negated, BALANCED),
    (is_idiom, BALANCED),
)


# 2. Bounds


class Part(NamedTuple):
    """A dependent that was taken into a phrase.

    token (int): The dependent.
    rest (int): Where the phrase ends on that side without it and what is beyond.
    """

    token: int
    rest: int


class Phrase(NamedTuple):
    """A phrase as grown from its head.

    head (int): Token of the head.
    start (int), end (int): First token and token after the last one.
    before (List[Part]), after (List[Part]): Dependents in it to the left and to the
        right of the head, the nearest first.
    """

    head: int
    start: int
    end: int
    before: List[Part]
    after: List[Part]


def grow_left(context: _Context, head: int) -> Tuple[int, List[Part]]:
    """Grow a phrase to the left of its head: article, quantifiers, numerals,
    demonstratives, prefixes, and nouns without a preposition (Appendix A; guidelines,
    "Prepositions": never the preposition before it).

    head (int): Token of the head.
    RETURNS (Tuple[int, List[Part]]): The first token of the phrase, and what was
        taken into it.
    """
    tree = context.tree
    place = head
    parts: List[Part] = []
    dependents = tree.before[head]
    k = len(dependents) - 1
    while k >= 0:
        i = dependents[k]
        k -= 1
        if tree.is_mark(i):
            continue
        if not tree.marks_only(tree.end[i], place):
            break
        if tree.dep[i] == "case" and k >= 0 and is_partitive(context, dependents[k], i):
            i = dependents[k]
            k -= 1
        elif not (
            tree.dep[i] in ("det:def", "compound:affix")
            or is_quantifier(context, i)
            or is_joined_noun(context, i, place)
        ):
            break
        parts.append(Part(i, place))
        place = tree.start[i]
    return place, parts


def is_quantifier(context: _Context, i: int) -> bool:
    """A determiner that belongs to the phrase: a numeral, a demonstrative or a
    quantifier of the closed list; not גם, רק, כמעט (guidelines, "Quantified
    Expressions", "Nested Demonstrative Pronouns").
    """
    tree = context.tree
    if tree.dep[i] == "dep":
        return tree.pos[i] == "NUM"
    return tree.dep[i] in ("det", "nummod") and (
        tree.pos[i] in ("NUM", "PRON") or context.listed(i, context.lexicon.quantifiers)
    )


def is_partitive(context: _Context, i: int, case: int) -> bool:
    """A quantifier before a preposition that takes it out of a set belongs to the
    phrase, with the preposition (אחד מהילדים) (guidelines, "Quantified Expressions").
    """
    tree = context.tree
    return (
        tree.text[case] in _OUT_OF and tree.end[i] == case and is_quantifier(context, i)
    )


def is_joined_noun(context: _Context, i: int, place: int) -> bool:
    """A noun without a preposition before the head belongs to the phrase, as in names
    and compounds with a hyphen (guidelines, "Proper Nouns").
    """
    tree = context.tree
    if tree.pos[i] not in _NOMINAL or tree.pos[tree.start[i]] == "ADP":
        return False
    if tree.dep[i] == "dep":
        return tree.end[i] == place
    return tree.dep[i] in ("nmod", "flat:name", "compound:smixut", "fixed")


def grow_right(context: _Context, head: int) -> Tuple[int, List[Part]]:
    """Grow a phrase to the right of its head over all that modifies it, conjuncts and
    appositions (Appendix A), up to the first dependent that belongs to the clause.

    head (int): Token of the head.
    RETURNS (Tuple[int, List[Part]]): The token after the phrase, and what was taken
        into it.
    """
    tree = context.tree
    place = head + 1
    parts: List[Part] = []
    for i in tree.after[head]:
        if tree.end[i] <= place or tree.is_mark(i) or tree.dep[i] == "cc":
            continue
        if not _follows(tree, i, place) or not any(
            rule(context, head, i, place) for rule in DEPENDENTS
        ):
            break
        parts.append(Part(i, place))
        place = tree.end[i]
    return place, parts


def _follows(tree: Tree, i: int, place: int) -> bool:
    """Whether only marks and conjunctions lie between a place and a subtree."""
    for k in range(place, tree.start[i]):
        if not tree.is_mark(k) and tree.pos[k] != "CCONJ":
            return False
    return True


def _after_mark(tree: Tree, i: int, place: int) -> str:
    """The first mark between a place and a subtree, or at the begin of the subtree,
    other than quotation marks and hyphens; empty if there is none."""
    start = tree.start[i]
    for k in (*range(place, start), start):
        if tree.is_mark(k) and tree.text[k] not in QUOTES + _HYPHENS:
            return tree.text[k]
    return ""


def _has_marker(tree: Tree, i: int) -> bool:
    return any(tree.dep[child] in _MARKERS for child in tree.before[i])


def is_modifier(context: _Context, head: int, i: int, place: int) -> bool:
    """Adjectives, construct states, possessives, prepositional phrases and relative
    clauses belong to the phrase (guidelines, "Adjectives", "Construct-State
    Structures", "Possessive Expressions", "Verbs").
    """
    tree = context.tree
    dep = tree.dep[i]
    if dep not in _INSIDE:
        return False
    if dep == "nummod" and tree.pos[head] == "PROPN":
        return belongs_to_name(context, head, i)
    if dep == "nmod" and tree.pos[head] == "PRON":
        return False
    # What follows a comma in a sentence without a verb is another clause.
    if dep == "nmod" and tree.dep[head] == "ROOT" and _after_mark(tree, i, place):
        return False
    return dep != "acl:relcl" or is_relative(context, head, i)


def is_relative(context: _Context, head: int, i: int) -> bool:
    """A relative clause belongs to the phrase (guidelines, "Verbs") if it begins like
    one, with ש, ה, אשר, a preposition or a pronoun: a clause without is more likely
    an error of the parser. The one of כך is its content (על כך שבא).
    """
    tree = context.tree
    if tree.text[head] == "כך":
        return False
    first = tree.start[i]
    while first < i and (tree.is_mark(first) or tree.pos[first] == "CCONJ"):
        first += 1
    return tree.pos[first] in ("SCONJ", "DET", "ADP", "PRON")


def belongs_to_name(context: _Context, head: int, i: int) -> bool:
    """A year after a month, not the goals of a team (guidelines, "Results and
    Additional Details").
    """
    tree = context.tree
    return context.listed(head, context.lexicon.months) or len(tree.text[i]) >= 4


def is_adverb_of_phrase(context: _Context, head: int, i: int, place: int) -> bool:
    """ "If an adverb appears after the head of the mention, it will be included"
    (guidelines, "Adverbs"), unless it is on the list of those of the clause.
    """
    tree = context.tree
    return tree.dep[i] == "advmod" and not context.listed(
        i, context.lexicon.scalar_adverbs
    )


def is_conjunct(context: _Context, head: int, i: int, place: int) -> bool:
    """A coordination is a mention as a whole (guidelines, "Lists", "Nested Phrases"),
    unless the conjunct has a preposition of its own (לילדים ולהורים) or is a clause.
    """
    tree = context.tree
    if tree.dep[i] != "conj" or _has_marker(tree, i) or tree.has(i, *_CLAUSE):
        return False
    return tree.pos[i] != "VERB" or tree.has(i, "compound:smixut", "det:def")


def is_apposition(context: _Context, head: int, i: int, place: int) -> bool:
    """An apposition belongs to the phrase (guidelines, "Appositive vs. Anaphoric
    Relation", "Separated by Comma").
    """
    tree = context.tree
    return (
        tree.dep[i] == "appos" and tree.pos[i] != "VERB" and not tree.has(i, *_CLAUSE)
    )


def is_loose_part(context: _Context, head: int, i: int, place: int) -> bool:
    """A dependent without a clear relation belongs to the phrase if it is a nominal
    without a preposition; after a comma only a name, as in lists.
    """
    tree = context.tree
    if tree.dep[i] != "dep" or _has_marker(tree, i):
        return False
    if tree.pos[i] in ("VERB", "SCONJ", "CCONJ"):
        return False
    return tree.pos[i] == "PROPN" or not _after_mark(tree, i, place)


DEPENDENTS: Tuple[Callable[[_Context, int, int, int], bool], ...] = (
    is_modifier,
    is_adverb_of_phrase,
    is_conjunct,
    is_apposition,
    is_loose_part,
)


def make_symmetric(tree: Tree, start: int, end: int) -> Tuple[int, int]:
    """Leave out marks at the ends of a span, and make quotation marks and brackets
    symmetric (guidelines, "Punctuation").

    tree (Tree): The tree.
    start (int), end (int): First token and token after the last one.
    RETURNS (Tuple[int, int]): The same, corrected; may be empty.
    """
    while end > start and tree.is_mark(end - 1):
        mark = tree.text[end - 1]
        if mark in QUOTES and tree.quotes(start, end) % 2 == 0:
            break
        if mark in CLOSING and tree.open_brackets(start, end) == 0:
            break
        end -= 1
    while start < end and tree.is_mark(start):
        mark = tree.text[start]
        if mark in QUOTES and tree.quotes(start, end) % 2 == 0:
            break
        if mark in OPENING and tree.open_brackets(start, end) == 0:
            break
        start += 1
    if tree.quotes(start, end) % 2:
        if start > 0 and tree.is_mark(start - 1) and tree.text[start - 1] in QUOTES:
            start -= 1
        elif end < len(tree) and tree.is_mark(end) and tree.text[end] in QUOTES:
            end += 1
    if end < len(tree) and tree.open_brackets(start, end) > 0:
        if tree.text[end] in CLOSING:
            end += 1
    return start, end


# 3. Variants

_Span = Optional[Tuple[int, int]]


def whole_phrase(context: _Context, phrase: Phrase) -> _Span:
    """The phrase with all that belongs to it (guidelines, "Less Specific
    Expressions": "the most specific expression, usually the longest one").
    """
    return phrase.start, phrase.end


def first_conjunct(context: _Context, phrase: Phrase) -> _Span:
    """The first part of a coordination (guidelines, "Nested Phrases"; the other ones
    have heads of their own).
    """
    tree = context.tree
    for part in phrase.after:
        if tree.dep[part.token] == "conj" and part.token not in context.pairs:
            return phrase.start, part.rest
    return None


def first_of_list(context: _Context, phrase: Phrase) -> _Span:
    """The first name of a list without conjunctions (guidelines, "Lists")."""
    tree = context.tree
    for part in phrase.after:
        if tree.dep[part.token] == "dep" and _after_mark(tree, part.token, part.rest):
            return phrase.start, part.rest
    return None


def before_apposition(context: _Context, phrase: Phrase) -> _Span:
    """What an apposition after a comma explains (guidelines, "Appositive vs. Anaphoric
    Relation": "we annotate all components").
    """
    mark, rest = _first_apposition(context, phrase)
    return (phrase.start, rest) if mark and mark not in OPENING else None


def before_brackets(context: _Context, phrase: Phrase) -> _Span:
    """What an apposition in brackets explains; annotators mostly left it out."""
    mark, rest = _first_apposition(context, phrase)
    return (phrase.start, rest) if mark and mark in OPENING else None


def title_without_name(context: _Context, phrase: Phrase) -> _Span:
    """A title without the name that follows; mostly one mention with it."""
    mark, rest = _first_apposition(context, phrase)
    return (phrase.start, rest) if rest and not mark else None


def _first_apposition(context: _Context, phrase: Phrase) -> Tuple[str, int]:
    tree = context.tree
    for part in phrase.after:
        if tree.dep[part.token] == "appos":
            return _after_mark(tree, part.token, part.rest), part.rest
    return "", 0


def before_comma(context: _Context, phrase: Phrase) -> _Span:
    """The phrase without the clauses and phrases after a comma, which annotators
    sometimes left outside.
    """
    tree = context.tree
    for part in phrase.after:
        if tree.dep[part.token] in ("acl:relcl", "acl", "nmod", "conj"):
            if _after_mark(tree, part.token, part.rest) == ",":
                return phrase.start, part.rest
    return None


def whole_of_quantifier(context: _Context, phrase: Phrase) -> _Span:
    """What כל, רוב and the like count, if it is definite or longer than a word: both
    the whole and the inner phrase are mentions (guidelines, "Quantified Expressions").
    """
    tree = context.tree
    for part in phrase.before:
        if context.listed(part.token, context.lexicon.partitives):
            longer = tree.definite[phrase.head] or part.rest < phrase.head
            if (longer or phrase.after) and tree.pos[phrase.head] != "NUM":
                return part.rest, phrase.end
    return None


def counted_set(context: _Context, phrase: Phrase) -> _Span:
    """The set out of which something is taken: אחד מ**הילדים** (guidelines,
    "Quantified Expressions").
    """
    tree = context.tree
    for part in phrase.before:
        after = tree.end[part.token]
        if after < part.rest and tree.text[after] in _OUT_OF:
            return part.rest, phrase.end
    return None


def without_number(context: _Context, phrase: Phrase) -> _Span:
    """A phrase without its number or quantifier: שלושה **ילדים** (guidelines,
    "Quantified Expressions"); annotators mostly left it out.
    """
    tree = context.tree
    for part in phrase.before:
        if tree.dep[part.token] in ("det", "nummod") and tree.pos[part.token] != "PRON":
            return part.rest, phrase.end
    return None


def with_preposition_noun(context: _Context, phrase: Phrase) -> _Span:
    """A phrase with the noun of a long preposition that is its head in meaning:
    ב**מהלך הדיון** (guidelines, "Construct-State Structures").
    """
    tree = context.tree
    for i in tree.before[phrase.head]:
        if tree.dep[i] == "case":
            for k in tree.before[i] + tree.after[i]:
                if (
                    tree.dep[k] == "fixed"
                    and k < phrase.start
                    and context.listed(k, context.lexicon.preposition_nouns)
                ):
                    return k, phrase.end
    return None


def with_repeated_preposition(context: _Context, phrase: Phrase) -> _Span:
    """A coordination whose conjuncts have prepositions of their own: ל**ילדים
    ולהורים** (guidelines, "Lists"); annotators mostly left it out.
    """
    tree = context.tree
    conjuncts = [
        i
        for i in tree.after[phrase.head]
        if tree.dep[i] == "conj" and not tree.has(i, *_CLAUSE) and tree.pos[i] != "VERB"
    ]
    if not conjuncts or tree.end[conjuncts[-1]] <= phrase.end:
        return None
    return phrase.start, tree.end[conjuncts[-1]]


Variant = Callable[[_Context, Phrase], _Span]

# With the first setting in which it adds candidates.
VARIANTS: Tuple[Tuple[Variant, str], ...] = (
    (whole_phrase, PRECISION),
    (first_conjunct, PRECISION),
    (first_of_list, PRECISION),
    (with_preposition_noun, PRECISION),
    (before_apposition, BALANCED),
    (whole_of_quantifier, BALANCED),
    (counted_set, BALANCED),
    (before_brackets, RECALL),
    (title_without_name, RECALL),
    (before_comma, RECALL),
    (without_number, RECALL),
    (with_repeated_preposition, RECALL),
)


def _candidates(context: _Context) -> Iterator[Candidate]:
    level = context.level
    for i in range(len(context.tree)):
        name = next(
            (
                rule.__name__
                for rule, first in HEADS
                if SETTINGS.index(first) <= level and rule(context, i)
            ),
            None,
        )
        if name is None or any(
            SETTINGS.index(last) >= level and rule(context, i)
            for rule, last in EXCLUSIONS
        ):
            continue
        start, before = grow_left(context, i)
        end, after = grow_right(context, i)
        phrase = Phrase(i, start, end, before, after)
        for variant, first in VARIANTS:
            if SETTINGS.index(first) > level:
                continue
            span = variant(context, phrase)
            if span is not None:
                rule = name if variant is whole_phrase else variant.__name__
                yield Candidate(*span, i, rule)
